// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: flight mode of a hart. While no event uses its encoder, the hart traces the kernel
 * into a buffer of its own, which the sink writes round and round:
 *
 *	Start             WP                          Limit + A
 *	+-----------------+---------------------------+
 *	|## newer ########|## oldest, amid a message #|
 *	+-----------------+---------------------------+
 *
 * An event takes the encoder and the sink away, and the trace goes on behind WP when it gives them
 * back. So does a hart that goes down or sleeps. When the kernel panics, everything stops, and WP
 * becomes part of what a dump says of the hart.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/kernel.h>

#include "rvtrace-encoder.h"
#include "rvtrace-flight.h"
#include "rvtrace-session.h"

DEFINE_STATIC_KEY_FALSE(rvtrace_flight_on);
DEFINE_PER_CPU(struct rvtrace_flight, rvtrace_flights);

/* What a dump says of where the trace is, when the sink does not write */
static void rvtrace_flight_note(struct rvtrace_flight *flight, struct rvtrace_ramsink *sink,
				bool lost)
{
	struct rvtrace_flight_hart *record = flight->record;
	size_t offset;
	bool wrap;

	if (lost)
		record->flags |= RVTRACE_FLIGHT_F_LOST;
	if (rvtrace_ramsink_flown(sink, flight->buffer, &offset, &wrap) &&
	    (wrap || offset >= flight->offset)) {
		if (wrap)
			record->flags |= RVTRACE_FLIGHT_F_WRAPPED;
	} else {
		offset = 0;
		record->flags &= ~RVTRACE_FLIGHT_F_WRAPPED;
		record->flags |= RVTRACE_FLIGHT_F_LOST;
	}
	flight->offset = offset;
	record->offset = offset;
	record->flags &= ~RVTRACE_FLIGHT_F_RUNNING;
}

/* A sink can begin at whole units of memory access only. What is before is dropped otherwise. */
static void rvtrace_flight_align(struct rvtrace_flight *flight, const struct rvtrace_ramsink *sink)
{
	if (IS_ALIGNED(flight->offset, sink->access ?: RVTRACE_RAM_MAX_ACCESS))
		return;
	flight->offset = 0;
	flight->record->flags &= ~RVTRACE_FLIGHT_F_WRAPPED;
}

void rvtrace_flight_begin(struct rvtrace_cpu *rc)
{
	struct rvtrace_flight *flight = this_cpu_ptr(&rvtrace_flights);
	struct rvtrace_encoder *enc = rc->encoder;

	if (!flight->buffer || flight->running || flight->failed || rc->event)
		return;
	if (!enc || !enc->online)
		return;
	rc->path = &enc->paths[0];
	rvtrace_flight_align(flight, rc->path->ram);
	flight->record->flags |= RVTRACE_FLIGHT_F_RUNNING;
	flight->running = !rvtrace_path_fly(rc, flight);
	if (flight->running)
		return;
	/* What did not answer is reset later, and then this is called again. */
	flight->failed = !enc->comp.broken && !rc->path->sink->broken;
	flight->record->flags &= ~RVTRACE_FLIGHT_F_RUNNING;
}

void rvtrace_flight_end(struct rvtrace_cpu *rc)
{
	struct rvtrace_flight *flight = this_cpu_ptr(&rvtrace_flights);
	struct rvtrace_path *path = rc->path;
	bool lost;

	if (!flight->running)
		return;
	flight->running = false;
	rc->path = &rc->encoder->paths[0];
	lost = rvtrace_path_land(rc);
	rvtrace_flight_note(flight, rc->path->ram, lost);
	rc->path = path;
}

/* The registers of @comp can be read here. */
static bool rvtrace_flight_reaches(const struct rvtrace_component *comp)
{
	return cpumask_empty(&comp->cpus) ||
	       cpumask_test_cpu(raw_smp_processor_id(), &comp->cpus);
}

/*
 * rvtrace_flight_panic - all trace has stopped: write down where it is
 *
 * Of a sink that only another hart can ask, that is not known.
 */
void rvtrace_flight_panic(struct rvtrace_flight_header *header)
{
	struct rvtrace_flight *flight;
	struct rvtrace_component *sink;
	struct rvtrace_cpu *rc;
	int cpu;

	for_each_possible_cpu(cpu) {
		flight = &per_cpu(rvtrace_flights, cpu);
		rc = &per_cpu(rvtrace_cpus, cpu);
		if (!flight->running || !rc->encoder)
			continue;
		sink = rc->encoder->paths[0].sink;
		if (!rvtrace_flight_reaches(sink) || sink->control & RVTRACE_CONTROL_ENABLE)
			continue;
		flight->running = false;
		/* The sink updates Empty and WP after it has written. */
		rmb();
		rvtrace_flight_note(flight, to_rvtrace_ramsink(sink), false);
	}
	if (header->panic_time)
		return;
	header->satp = csr_read(CSR_SATP);
	header->panic_cpu = raw_smp_processor_id();
	header->panic_time = get_cycles64();
}
