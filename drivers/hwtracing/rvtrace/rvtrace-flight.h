/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: flight mode. Each hart traces all the time, into a buffer that a dump of the
 * machine's memory has (rvtrace-flight.c: on the hart; rvtrace-flight-memory.c: the parameter, the
 * buffers, and what the dump says of them).
 */
#ifndef _RVTRACE_FLIGHT_H
#define _RVTRACE_FLIGHT_H

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rvtrace.h>

#include "rvtrace-cpu.h"
#include "rvtrace-event.h"
#include "rvtrace-ramsink.h"

/**
 * struct rvtrace_flight - flight mode of a hart
 * @buffer:	what the sink writes round and round, or NULL: the hart has no flight mode. The hart
 *		itself changes it while it is not in flight mode, or another one while it is down.
 * @attr:	options of the trace
 * @config:	the same
 * @offset:	where the sink goes on in @buffer
 * @running:	the hart is in flight mode now
 * @failed:	it could not be started: it is not tried again until the mode is switched on anew
 * @record:	what a dump says of it
 */
struct rvtrace_flight {
	struct rvtrace_ramsink_buffer *buffer;
	struct perf_event_attr attr;
	struct rvtrace_config config;
	size_t offset;
	bool running;
	bool failed;
	struct rvtrace_flight_hart *record;
};

/* There are harts with a buffer. */
DECLARE_STATIC_KEY_FALSE(rvtrace_flight_on);
DECLARE_PER_CPU(struct rvtrace_flight, rvtrace_flights);

/* rvtrace-flight.c. On the hart, with interrupts off */
void rvtrace_flight_begin(struct rvtrace_cpu *rc);
void rvtrace_flight_end(struct rvtrace_cpu *rc);
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

struct rvtrace_encoder;

/* rvtrace-flight-memory.c */
void rvtrace_flight_add_encoder(struct rvtrace_encoder *enc);
void rvtrace_flight_remove_encoder(struct rvtrace_encoder *enc);
void rvtrace_flight_init(void);
void rvtrace_flight_exit(void);

#endif
