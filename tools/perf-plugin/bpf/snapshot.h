/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Between snapshot.bpf.c, which runs in the kernel, and record/snapshot.c, which reads what it
 * writes.
 */
#ifndef PERF_RVTRACE_SNAPSHOT_H
#define PERF_RVTRACE_SNAPSHOT_H

#define SNAPSHOT_COMM 16
#define SNAPSHOT_PATH 4096	/* a power of two */

/* Each thread. */
struct snapshot_task {
	unsigned int pid, tid;
	char comm[SNAPSHOT_COMM];
};

/* Each executable mapping of each process; .name is cut to .name_len bytes, its zero among them. */
struct snapshot_map {
	unsigned long long start, end, offset, inode;
	unsigned int pid, device;	/* .device: as the kernel keeps it, 12 bits and 20 bits */
	unsigned int readable, writable, shared, name_len;
	char name[SNAPSHOT_PATH];
};

#endif
