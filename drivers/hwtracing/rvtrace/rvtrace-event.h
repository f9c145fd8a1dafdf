/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: what an event of the PMU "rvtrace" asks for.
 */
#ifndef _RVTRACE_EVENT_H
#define _RVTRACE_EVENT_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include "rvtrace-component.h"

/* perf_event_attr.config */
#define RVTRACE_CONFIG_EVENT			BIT_ULL(0)
#define RVTRACE_CONFIG_BRANCH_PREDICTION	BIT_ULL(1)
#define RVTRACE_CONFIG_JUMP_TARGET_CACHE	BIT_ULL(2)
#define RVTRACE_CONFIG_IMPLICIT_RETURN		BIT_ULL(3)
#define RVTRACE_CONFIG_SEQUENTIAL_JUMP		BIT_ULL(4)
#define RVTRACE_CONFIG_REPEATED_HISTORY		BIT_ULL(5)
#define RVTRACE_CONFIG_ALL_JUMPS		BIT_ULL(6)
#define RVTRACE_CONFIG_EXTEND_ADDRESS_MSB	BIT_ULL(7)
#define RVTRACE_CONFIG_FULL_ADDRESS		BIT_ULL(8)
#define RVTRACE_CONFIG_IMPLICIT_EXCEPTION	BIT_ULL(9)
#define RVTRACE_CONFIG_IMPLICIT_RETURN_MODE	GENMASK_ULL(11, 10)
#define RVTRACE_CONFIG_MODE			GENMASK_ULL(14, 12)
#define RVTRACE_CONFIG_CONTEXT			BIT_ULL(15)
#define RVTRACE_CONFIG_TIMESTAMP		BIT_ULL(16)
#define RVTRACE_CONFIG_STALL			BIT_ULL(17)
#define RVTRACE_CONFIG_SYNCMODE			GENMASK_ULL(19, 18)
#define RVTRACE_CONFIG_SYNCMAX			GENMASK_ULL(23, 20)
#define RVTRACE_CONFIG_FORMAT			GENMASK_ULL(26, 24)
#define RVTRACE_CONFIG_MACHINE			BIT_ULL(27)
#define RVTRACE_CONFIG_CAUSES			GENMASK_ULL(29, 28)
#define   RVTRACE_CAUSES_EXCEPTIONS		1
#define   RVTRACE_CAUSES_INTERRUPTS		2
#define RVTRACE_CONFIG_TRIGGER			BIT_ULL(30)
#define RVTRACE_CONFIG_HCONTEXT			BIT_ULL(31)
/* The operator, RVTRACE_COMP_* + 1; 0: trap values do not matter */
#define RVTRACE_CONFIG_TVAL_MATCH		GENMASK_ULL(34, 32)
#define RVTRACE_CONFIG_TVAL_LATCH		BIT_ULL(35)
#define RVTRACE_CONFIG_IMPDEF_MATCH		BIT_ULL(36)
#define RVTRACE_CONFIG_ALL			GENMASK_ULL(36, 0)
/* perf_event_attr.config1: a trap value with TVAL_MATCH, a value and a mask with IMPDEF_MATCH */
#define RVTRACE_CONFIG1_IMPDEF			GENMASK_ULL(31, 0)
#define RVTRACE_CONFIG1_IMPDEF_MASK		GENMASK_ULL(63, 32)
/* else a duty cycle, in microseconds */
#define RVTRACE_CONFIG1_WINDOW			GENMASK_ULL(31, 0)
#define RVTRACE_CONFIG1_PERIOD			GENMASK_ULL(63, 32)
/* perf_event_attr.config2 */
#define RVTRACE_CONFIG2_SINK			GENMASK_ULL(31, 0)
#define RVTRACE_CONFIG2_THREAD			GENMASK_ULL(63, 32)

/**
 * enum rvtrace_context - the CSR that gives an encoder the id of the running thread
 * @RVTRACE_CONTEXT_NONE:	no CSR does
 * @RVTRACE_CONTEXT_SCONTEXT:	scontext
 * @RVTRACE_CONTEXT_HCONTEXT:	hcontext
 * @RVTRACE_CONTEXTS:		array size
 */
enum rvtrace_context {
	RVTRACE_CONTEXT_NONE,
	RVTRACE_CONTEXT_SCONTEXT,
	RVTRACE_CONTEXT_HCONTEXT,
	RVTRACE_CONTEXTS
};

/**
 * struct rvtrace_range - an address filter
 * @mode:	RVTRACE_MATCH_*
 * @first:	first address; of a latch, where trace starts
 * @last:	last address; of a latch, where trace stops
 */
struct rvtrace_range {
	u32 mode;
	u64 first;
	u64 last;
};

/**
 * struct rvtrace_config - what an event asks for
 * @serial:	changes with the contents; never the same for two openers, never 0
 * @opener:	the process that opened the event
 * @cpu:	hart that the event ran on last, -1 before the first
 * @sink:	number of the requested sink, or 0
 * @context:	the CSR that shall hold the thread's id
 * @deferrable:	its AUX records may be deferred when its task is switched out
 * @tagged:	its trace carries thread ids and times
 * @stall:	its encoder stalls the hart instead of losing trace
 * @window_ns:	how long to trace in each period; 0: always
 * @pause_ns:	how long not to trace
 * @reserving:	entry in the list of events that take comparators besides their address filters
 * @reserved:	how many comparators that are
 * @excludes_no_range:	no address range can be left out: a filter has no place for it
 * @filtered:	there are address filters
 * @nr_ranges:	number of entries in @ranges
 * @ranges:	address ranges to trace
 * @exclude:	address range not to trace, if its mode is RVTRACE_MATCH_NOT_BOTH
 */
struct rvtrace_config {
	u64 serial;
	struct rvtrace_opener opener;
	int cpu;
	u32 sink;
	enum rvtrace_context context;
	bool deferrable;
	bool tagged;
	bool stall;
	u64 window_ns;
	u64 pause_ns;
	struct list_head reserving;
	unsigned int reserved;
	bool excludes_no_range;
	bool filtered;
	unsigned int nr_ranges;
	struct rvtrace_range ranges[RVTRACE_TE_COMPARATORS];
	struct rvtrace_range exclude;
};

static inline struct rvtrace_config *rvtrace_event_config(const struct perf_event *event)
{
	return event->pmu_private;
}

/* AUX pause and resume came with Linux 6.13. */
static inline bool rvtrace_event_paused(const struct perf_event *event)
{
#ifdef PERF_PMU_CAP_AUX_PAUSE
	return event->hw.aux_paused;
#else
	return false;
#endif
}

#endif
