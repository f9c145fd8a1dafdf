/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: AUX records (rvtrace-output.c). All functions are called on the hart that @rc
 * belongs to, with interrupts off.
 */
#ifndef _RVTRACE_OUTPUT_H
#define _RVTRACE_OUTPUT_H

#include "rvtrace-aux.h"
#include "rvtrace-cpu.h"

/**
 * struct rvtrace_extent - the part of an AUX buffer that a sink may write next
 * @start:	bus address of the segment that it is in
 * @from:	offset in the segment at which it begins
 * @end:	offset in the segment behind its last byte
 */
struct rvtrace_extent {
	dma_addr_t start;
	size_t from;
	size_t end;
};

/* rvtrace_output_written - a sink has written @size bytes behind what the record holds so far */
static inline void rvtrace_output_written(struct rvtrace_cpu *rc, size_t size)
{
	if (rc->aux && rc->aux->overwrite)
		rc->handle.head += size;
	rc->written += size;
}

void rvtrace_output_ready(struct rvtrace_cpu *rc);
void rvtrace_output_copy(struct rvtrace_cpu *rc, const void *data, size_t size);
bool rvtrace_output_extent(struct rvtrace_cpu *rc, const struct rvtrace_ramsink *sink,
			   struct rvtrace_extent *extent);
bool rvtrace_output_unguard(struct rvtrace_cpu *rc);
unsigned long rvtrace_output_head(const struct rvtrace_cpu *rc);
void rvtrace_output_flag(struct rvtrace_cpu *rc, u64 flag);
void rvtrace_output_gap(struct rvtrace_cpu *rc);
bool rvtrace_output_begin(struct rvtrace_cpu *rc);
bool rvtrace_output_end(struct rvtrace_cpu *rc);
bool rvtrace_output_swap(struct rvtrace_cpu *rc);
bool rvtrace_output_reopen(struct rvtrace_cpu *rc);

#endif
