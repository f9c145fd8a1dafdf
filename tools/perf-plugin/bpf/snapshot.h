/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What snapshot.bpf.c, in the kernel, writes for record/snapshot.c. */
#ifndef PERF_RVTRACE_SNAPSHOT_H
#define PERF_RVTRACE_SNAPSHOT_H

#define SNAPSHOT_COMM 16
#define SNAPSHOT_PATH 4096	/* a power of two */

/* One for each thread. */
struct snapshot_task {
	unsigned int pid, tid;
	char comm[SNAPSHOT_COMM];
};

/*
 * One for each executable mapping of each process. .name is cut to .name_len bytes, including its
 * zero.
 */
struct snapshot_map {
	unsigned long long start, end, offset, inode;
	unsigned int pid, device;	/* .device: 12 and 20 bits, as in the kernel */
	unsigned int readable, writable, shared, name_len;
	char name[SNAPSHOT_PATH];
};

#endif
