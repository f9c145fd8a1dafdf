/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: AUX buffers (rvtrace-aux.c).
 */
#ifndef _RVTRACE_AUX_H
#define _RVTRACE_AUX_H

#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <kunit/visibility.h>

/* Most segments that an AUX buffer may have for sinks to write into it */
#define RVTRACE_AUX_SEGMENTS			64

struct rvtrace_aux;
struct rvtrace_ramsink;

/**
 * struct rvtrace_segment - a part of an AUX buffer that is contiguous in memory
 * @addr:	address of its first byte
 * @start:	its offset in the AUX buffer
 * @end:	offset behind its last byte
 */
struct rvtrace_segment {
	void *addr;
	size_t start;
	size_t end;
};

/**
 * struct rvtrace_aux_sink - a RAM sink whose trace goes to an AUX buffer
 * @sink:	the sink; a reference to it and its own buffer are held
 * @aux:	the AUX buffer
 * @entry:	entry in the sink's list @aux_sinks
 * @direct:	it can write into the AUX buffer
 * @segments:	bus addresses of the AUX buffer's segments, if @direct
 */
struct rvtrace_aux_sink {
	struct rvtrace_ramsink *sink;
	struct rvtrace_aux *aux;
	struct list_head entry;
	bool direct;
	dma_addr_t segments[RVTRACE_AUX_SEGMENTS];
};

/**
 * struct rvtrace_aux - an AUX buffer
 * @serial:	number of this AUX buffer, different from that of every other
 * @base:	its pages, mapped contiguously
 * @size:	size in bytes
 * @overwrite:	new data overwrites old data (perf's overwrite mode)
 * @guard:	in overwrite mode, a pattern that does not occur in trace
 * @guarded:	@guard is in the buffer; a sink that gets there overwrites it
 * @guard_head:	the position of @guard in the buffer
 * @reserve:	a sink is not started where it could write less than this, in bytes
 * @nr_segments:	number of entries in @segments; 0 when there would be too many
 * @segments:	its memory
 * @nr_sinks:	number of entries in @sinks
 * @sinks:	RAM sinks that the event may use
 */
struct rvtrace_aux {
	u64 serial;
	void *base;
	size_t size;
	bool overwrite;
	u64 guard;
	bool guarded;
	unsigned long guard_head;
	size_t reserve;
	unsigned int nr_segments;
	struct rvtrace_segment segments[RVTRACE_AUX_SEGMENTS];
	unsigned int nr_sinks;
	struct rvtrace_aux_sink sinks[] __counted_by(nr_sinks);
};

void *rvtrace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite);
void rvtrace_free_aux(void *data);
void rvtrace_aux_remove_sink(struct rvtrace_ramsink *sink);

/* For rvtrace-kunit.c; static without CONFIG_KUNIT */
#if IS_ENABLED(CONFIG_KUNIT)
void rvtrace_aux_find_segments(struct rvtrace_aux *aux, void **pages, int nr_pages);
#endif

#endif
