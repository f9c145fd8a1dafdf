// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: flight mode of a hart. While no event uses its encoder, the hart traces the kernel
 * into a buffer, which the sink writes round and round:
 *
 *	Start             WP                          Limit + A
 *	+-----------------+---------------------------+
 *	|## newer ########|## oldest, amid a message #|
 *	+-----------------+---------------------------+
 *
 * An event takes the encoder and the sink away, and the trace goes on behind WP when it gives them
 * back. So does a hart that goes down or sleeps. When the kernel panics, everything stops, and WP
 * becomes part of what a dump says of the hart.
 *
 * Harts that share a sink write one buffer; SRC says whose a message is. They do so while there is
 * no event at all, not only while none runs: an event that starts would have to stop the other
 * harts, in a context switch. What there is between the first event and the last:
 *
 *	events	-------------+==================+--------------
 *	hart 0	## flight ###|   ## event ##    |## flight ###
 *	hart 1	## flight ###|                  |## flight ###
 *		     opening it: IPIs       a worker: IPIs
 *
 * A memory of the sink's own is written in the same way, and read out when the kernel has panicked.
 * What an event traced into it has taken the place of what was there: then it begins anew.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>

#include "rvtrace-encoder.h"
#include "rvtrace-flight.h"
#include "rvtrace-session.h"

DEFINE_STATIC_KEY_FALSE(rvtrace_flight_on);
DEFINE_PER_CPU(struct rvtrace_flight, rvtrace_flights);
bool rvtrace_flight_shared_off;

/* Writes the state of the sink into the records of its harts, for the reader of a dump. */
static void rvtrace_flight_record(struct rvtrace_flight_sink *sink)
{
	struct rvtrace_flight *flight;

	list_for_each_entry(flight, &sink->harts, node) {
		flight->record->offset = sink->offset;
		flight->record->flags = flight->flags | sink->flags;
	}
}

/* Notes that all of the trace is gone. */
static void rvtrace_flight_empty(struct rvtrace_flight_sink *sink)
{
	sink->offset = 0;
	sink->flags &= ~RVTRACE_FLIGHT_F_WRAPPED;
	sink->flags |= RVTRACE_FLIGHT_F_LOST;
}

/* Notes where the trace is, when the sink does not write. */
static void rvtrace_flight_note(struct rvtrace_flight_sink *sink)
{
	size_t offset;
	bool wrap;

	if (rvtrace_ramsink_flight_offset(sink->ram, sink->buffer, &offset, &wrap) &&
	    (wrap || offset >= sink->offset)) {
		sink->offset = offset;
		if (wrap)
			sink->flags |= RVTRACE_FLIGHT_F_WRAPPED;
		/* The lost trace is older than what the sink has. */
		if (wrap && sink->restarted)
			sink->flags &= ~RVTRACE_FLIGHT_F_LOST;
		if (wrap)
			sink->restarted = false;
	} else {
		rvtrace_flight_empty(sink);
	}
	/* The trace in the sink's own memory has not been read out. */
	if (sink->ram->smem)
		sink->flags &= ~RVTRACE_FLIGHT_F_RUNNING;
	rvtrace_flight_record(sink);
}

/*
 * Notes where the sink will begin, before it is started. A sink can begin at whole units of memory
 * access only, and in its own memory only where it stopped. When it cannot begin behind the trace
 * that it has, that trace is dropped.
 */
static void rvtrace_flight_ready(struct rvtrace_flight_sink *sink)
{
	struct rvtrace_ramsink *ram = sink->ram;

	if (!ram->smem && !(sink->started && rvtrace_ramsink_kept(ram, sink->offset))) {
		sink->restarted = sink->started;
		sink->offset = 0;
		sink->flags &= ~(RVTRACE_FLIGHT_F_WRAPPED | RVTRACE_FLIGHT_F_LOST);
		if (sink->restarted)
			sink->flags |= RVTRACE_FLIGHT_F_LOST;
		rvtrace_ramsink_forget(ram);
	} else if (ram->smem && !IS_ALIGNED(sink->offset, ram->access ?: RVTRACE_RAM_MAX_ACCESS)) {
		sink->offset = 0;
		sink->flags &= ~RVTRACE_FLIGHT_F_WRAPPED;
	}
	sink->started = true;
	sink->flags |= RVTRACE_FLIGHT_F_RUNNING;
	rvtrace_flight_record(sink);
}

static void rvtrace_flight_begin_locked(struct rvtrace_cpu *rc, struct rvtrace_flight *flight)
{
	struct rvtrace_flight_sink *sink = flight->sink;

	if (!sink->nr_running)
		rvtrace_flight_ready(sink);
	flight->running = !rvtrace_path_start_flight(rc, flight);
	if (flight->running) {
		sink->nr_running++;
		return;
	}
	/*
	 * A component that did not answer is reset later, and then this function is called again.
	 */
	flight->failed = !rc->encoder->comp.broken && !rc->path->sink->broken;
	if (!sink->nr_running && sink->ram->smem)
		sink->flags &= ~RVTRACE_FLIGHT_F_RUNNING;
	rvtrace_flight_record(sink);
}

void rvtrace_flight_begin(struct rvtrace_cpu *rc)
{
	struct rvtrace_flight *flight = this_cpu_ptr(&rvtrace_flights);
	struct rvtrace_encoder *enc = rc->encoder;

	if (!flight->sink || flight->running || flight->failed || rc->event)
		return;
	/* rvtrace_flight_set_shared_off() interrupts each hart after it has changed this. */
	if (flight->sink->shared && READ_ONCE(rvtrace_flight_shared_off))
		return;
	if (!enc || !enc->online)
		return;
	rc->path = flight->path;
	rvtrace_path_lock(rc->path);
	rvtrace_flight_begin_locked(rc, flight);
	rvtrace_path_unlock(rc->path);
}

/*
 * Returns whether all components of the path work. What one of them does not deliver may be any
 * hart's trace.
 */
static bool rvtrace_flight_path_works(const struct rvtrace_path *path)
{
	unsigned int i;

	for (i = 0; i < path->nr_hops; i++)
		if (path->hops[i]->broken)
			return false;
	return true;
}

static void rvtrace_flight_end_locked(struct rvtrace_cpu *rc, struct rvtrace_flight *flight)
{
	struct rvtrace_flight_sink *sink = flight->sink;

	if (rvtrace_path_stop_flight(rc)) {
		flight->flags |= RVTRACE_FLIGHT_F_LOST;
		if (!rvtrace_flight_path_works(rc->path))
			sink->flags |= RVTRACE_FLIGHT_F_LOST;
		rvtrace_flight_record(sink);
	}
	if (!--sink->nr_running)
		rvtrace_flight_note(sink);
}

void rvtrace_flight_end(struct rvtrace_cpu *rc)
{
	struct rvtrace_flight *flight = this_cpu_ptr(&rvtrace_flights);
	struct rvtrace_path *path = rc->path;

	if (!flight->running)
		return;
	flight->running = false;
	rc->path = flight->path;
	rvtrace_path_lock(rc->path);
	rvtrace_flight_end_locked(rc, flight);
	rvtrace_path_unlock(rc->path);
	rc->path = path;
}

/* Makes the hart of @flight trace into @sink from now on. */
void rvtrace_flight_join(struct rvtrace_flight *flight, struct rvtrace_flight_sink *sink)
{
	guard(irqsave)();
	rvtrace_path_lock(flight->path);
	list_add_tail(&flight->node, &sink->harts);
	rvtrace_flight_record(sink);
	flight->sink = sink;
	rvtrace_path_unlock(flight->path);
}

/* Takes flight mode from the hart of @flight. The hart is not in flight mode now. */
void rvtrace_flight_part(struct rvtrace_flight *flight)
{
	guard(irqsave)();
	rvtrace_path_lock(flight->path);
	list_del(&flight->node);
	flight->sink = NULL;
	rvtrace_path_unlock(flight->path);
}

/* Returns whether this hart can read the registers of @comp. */
static bool rvtrace_flight_reaches(const struct rvtrace_component *comp)
{
	return cpumask_empty(&comp->cpus) ||
	       cpumask_test_cpu(raw_smp_processor_id(), &comp->cpus);
}

/* Copies the sink's own memory into the buffer, which has the trace from now on. */
static void rvtrace_flight_read_out(struct rvtrace_flight_sink *sink)
{
	bool wrapped = sink->flags & RVTRACE_FLIGHT_F_WRAPPED;

	if (rvtrace_ramsink_kept(sink->ram, sink->offset))
		rvtrace_ramsink_read_out(sink->ram, sink->buffer->vaddr,
					 wrapped ? sink->buffer->size : sink->offset);
	else
		rvtrace_flight_empty(sink);
	sink->flags &= ~RVTRACE_FLIGHT_F_RUNNING;
	rvtrace_flight_record(sink);
}

static void rvtrace_flight_panic_sink(struct rvtrace_flight_sink *sink)
{
	struct rvtrace_component *comp = &sink->ram->comp;

	if (!(sink->flags & RVTRACE_FLIGHT_F_RUNNING) || !rvtrace_flight_reaches(comp) ||
	    comp->broken || comp->control & RVTRACE_CONTROL_ENABLE)
		return;
	if (sink->nr_running) {
		sink->nr_running = 0;
		/* The sink updates Empty and WP after it has written. */
		rmb();
		rvtrace_flight_note(sink);
	}
	if (!sink->ram->smem)
		rvtrace_flight_read_out(sink);
}

/* Returns whether all that the hart executed has left its encoder, and reached the sink. */
static bool rvtrace_flight_has_end(const struct rvtrace_cpu *rc)
{
	return rc->encoder && !rc->encoder->comp.broken && !rvtrace_panic_goes_on(rc) &&
	       rvtrace_flight_path_works(rc->path);
}

/*
 * rvtrace_flight_panic - all trace has stopped: write down where it is
 *
 * This is not known for a sink that only another hart can access.
 */
void rvtrace_flight_panic(struct rvtrace_flight_header *header)
{
	struct rvtrace_flight_sink *sink;
	struct rvtrace_flight *flight;
	int cpu;

	for_each_possible_cpu(cpu) {
		flight = &per_cpu(rvtrace_flights, cpu);
		if (flight->running && !rvtrace_flight_has_end(&per_cpu(rvtrace_cpus, cpu)))
			flight->flags |= RVTRACE_FLIGHT_F_NO_END;
	}
	for_each_possible_cpu(cpu) {
		sink = per_cpu(rvtrace_flights, cpu).sink;
		if (!sink)
			continue;
		rvtrace_flight_panic_sink(sink);
		/* The kernel that dumps the memory reads it through the same caches. */
		if (sink->ram->smem)
			rvtrace_ramsink_show(sink->ram, sink->buffer->start, sink->buffer->size);
	}
	if (header->panic_time)
		return;
	header->satp = csr_read(CSR_SATP);
	header->panic_cpu = raw_smp_processor_id();
	header->panic_time = get_cycles64();
}
