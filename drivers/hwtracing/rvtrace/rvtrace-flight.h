/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: flight mode. Each hart traces all the time, into a buffer that a dump of the
 * machine's memory has (rvtrace-flight.c: on the hart; rvtrace-flight-memory.c: the parameter, the
 * buffers, and what the dump says of them).
 */
#ifndef _RVTRACE_FLIGHT_H
#define _RVTRACE_FLIGHT_H

#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rvtrace.h>

#include "rvtrace-cpu.h"
#include "rvtrace-event.h"
#include "rvtrace-ramsink.h"

/**
 * struct rvtrace_flight_sink - a RAM sink in flight mode
 * @ram:	the sink
 * @buffer:	what it writes round and round. Of a memory of the sink's own: where that is, and at
 *		@vaddr a place for a copy.
 * @harts:	the harts that trace into it, when they may: entries @node of struct rvtrace_flight
 * @shared:	other harts' encoders reach it, too. What is below is protected by the locks of the
 *		paths that lead to it then, else it is its only hart's with interrupts off.
 * @nr_running:	number of harts that do now
 * @started:	it was started once
 * @restarted:	since then it had to begin anew, and has not gone round after that
 * @offset:	where it goes on
 * @flags:	what the records of all its harts have: RVTRACE_FLIGHT_F_*
 */
struct rvtrace_flight_sink {
	struct rvtrace_ramsink *ram;
	struct rvtrace_ramsink_buffer *buffer;
	struct list_head harts;
	bool shared;
	unsigned int nr_running;
	bool started;
	bool restarted;
	size_t offset;
	u32 flags;
};

/**
 * struct rvtrace_flight - flight mode of a hart
 * @sink:	where it traces to, or NULL: the hart has no flight mode. The hart itself changes it
 *		while it is not in flight mode, or another one while it is down.
 * @path:	the path to the sink
 * @node:	entry in @harts of the sink
 * @attr:	options of the trace
 * @config:	the same
 * @running:	the hart is in flight mode now
 * @failed:	it could not be started: it is not tried again until the mode is switched on anew
 * @flags:	what only its own record has
 * @record:	what a dump says of it
 */
struct rvtrace_flight {
	struct rvtrace_flight_sink *sink;
	struct rvtrace_path *path;
	struct list_head node;
	struct perf_event_attr attr;
	struct rvtrace_config config;
	bool running;
	bool failed;
	u32 flags;
	struct rvtrace_flight_hart *record;
};

/* Harts may be in flight mode. */
DECLARE_STATIC_KEY_FALSE(rvtrace_flight_on);
/* There are events, so no hart traces into a sink that others reach, too. */
extern bool rvtrace_flight_shared_off;
DECLARE_PER_CPU(struct rvtrace_flight, rvtrace_flights);

/* rvtrace-flight.c. On the hart, with interrupts off */
void rvtrace_flight_begin(struct rvtrace_cpu *rc);
void rvtrace_flight_end(struct rvtrace_cpu *rc);
/* The same, or on another hart while this one is down */
void rvtrace_flight_join(struct rvtrace_flight *flight, struct rvtrace_flight_sink *sink);
void rvtrace_flight_part(struct rvtrace_flight *flight);
/* On any hart, when the others stand still */
void rvtrace_flight_panic(struct rvtrace_flight_header *header);

/* Trace of an event begins on the hart, or the hart goes down or to sleep. */
static inline void rvtrace_flight_leave(struct rvtrace_cpu *rc)
{
	if (static_branch_unlikely(&rvtrace_flight_on))
		rvtrace_flight_end(rc);
}

/* No event uses the encoder any more, or the hart is up again. */
static inline void rvtrace_flight_enter(struct rvtrace_cpu *rc)
{
	if (static_branch_unlikely(&rvtrace_flight_on))
		rvtrace_flight_begin(rc);
}

/* Returns whether this hart is in flight mode now. Interrupts are off. */
static inline bool rvtrace_flight_runs(void)
{
	return static_branch_unlikely(&rvtrace_flight_on) &&
	       __this_cpu_read(rvtrace_flights.running);
}

struct rvtrace_encoder;

/* rvtrace-flight-memory.c */
void rvtrace_flight_add_encoder(struct rvtrace_encoder *enc);
void rvtrace_flight_remove_encoder(struct rvtrace_encoder *enc);
void rvtrace_flight_add_event(void);
void rvtrace_flight_remove_event(void);
void rvtrace_flight_init(void);
void rvtrace_flight_exit(void);

#endif
