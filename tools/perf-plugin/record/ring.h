/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The rings that the recorder and the kernel share. */
#ifndef PERF_RVTRACE_RING_H
#define PERF_RVTRACE_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <rvtrace/perfdata.h>

/* One mmapped ring, with the AUX area of its trace events if there are any. */
struct ring {
	int fd;			/* the event that owns the ring */
	int cpu;		/* -1 in per-thread mode */
	pid_t tid;		/* -1 in per-cpu mode */
	struct perf_event_mmap_page *page;
	uint64_t data_bytes;
	uint8_t *aux;
	uint64_t aux_bytes;
	uint64_t aux_tail;
	uint64_t seen;		/* data up to here was searched for triggers ... */
	uint64_t flushed;	/* ... and has the last AUX record of this time */
	unsigned int enable_rounds;	/* how often its trace events are still to be enabled */
};

/* Maps the buffers of .fd. @overwrite: keep the newest trace only. Returns 0 or -errno. */
int ring_map(struct ring *ring, uint64_t data_bytes, uint64_t aux_bytes, bool overwrite);
void ring_unmap(struct ring *ring);
/* Reads how the `time` CSR relates to perf's clock. Returns false if the kernel does not say. */
bool ring_time_conv(const struct ring *ring, struct rvt_record_time_conv *conv);

#endif
