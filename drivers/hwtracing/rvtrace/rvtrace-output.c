// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: from a sink into the AUX buffer, and what is flagged when.
 *
 *	PARTIAL		trace is missing after this record; recording goes on
 *	TRUNCATED	the AUX buffer is full; perf disables the event until user space has read
 *			and enables it again
 *
 * A record without either is continued by the next one without a missing byte.
 *
 * Most of what a context switch costs is the record that ends there, so it may wait: then the trace
 * is in the AUX buffer, but its head is where it was, and what the event traces next is appended.
 * Nothing of perf's is held meanwhile. The record is written when it has waited for long, when
 * another thread is to be traced, and when user space may want to see it. Mostly that is while
 * somebody else runs, whom perf then takes for the one who was traced: include/uapi/linux/rvtrace.h
 * has how such a record is told apart, and whose it is.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/rvtrace.h>

#include "rvtrace.h"

static void rvtrace_output_bytes(struct rvtrace_aux *aux, unsigned long head, const void *data,
				 size_t size)
{
	size_t offset = head % aux->size;
	size_t first = min(size, aux->size - offset);

	memcpy(aux->base + offset, data, first);
	memcpy(aux->base, data + first, size - first);
}

/* In overwrite mode the head runs on for ever, and what is older than the buffer's size is gone. */
static void rvtrace_output_overwrite(struct rvtrace_cpu *rc, struct rvtrace_aux *aux,
				     const void *data, size_t size)
{
	size_t skip = size > aux->size ? size - aux->size : 0;

	rvtrace_output_bytes(aux, rc->handle.head + skip, data + skip, size - skip);
	rc->handle.head += size;
	rc->written += size;
}

/*
 * rvtrace_output_copy - append trace to the AUX buffer
 *
 * Only the room that user space has left is used:
 *
 *	            tail                 head          head + written
 *	+-----------+--------------------+-------------+--------------+
 *	|  room     | not read by user   | this record | room         |
 *	+-----------+--------------------+-------------+--------------+
 */
void rvtrace_output_copy(struct rvtrace_cpu *rc, const void *data, size_t size)
{
	struct rvtrace_aux *aux = rc->aux;
	size_t fits;

	/* The buffer went away, or became full, when rvtrace_output_gap() closed the record. */
	if (!aux)
		return;
	if (aux->overwrite) {
		rvtrace_output_overwrite(rc, aux, data, size);
		return;
	}
	fits = min(size, rc->handle.size - rc->written);
	rvtrace_output_bytes(aux, rc->handle.head + rc->written, data, fits);
	rc->written += fits;
	if (fits < size)
		perf_aux_output_flag(&rc->handle, PERF_AUX_FLAG_TRUNCATED);
}

/* Offset in the AUX buffer of what comes next. In overwrite mode the head moves with the trace. */
static size_t rvtrace_output_offset(const struct rvtrace_cpu *rc, const struct rvtrace_aux *aux)
{
	return (rc->handle.head + (aux->overwrite ? 0 : rc->written)) % aux->size;
}

/*
 * What a sink fills its last word with: a decoder takes it for nothing, between any two messages.
 * N-Trace has all ones, E-Trace's encapsulation a header without payload.
 */
static u8 rvtrace_output_idle_byte(const struct rvtrace_cpu *rc)
{
	u32 format = FIELD_GET(RVTRACE_CONFIG_FORMAT, rc->event->attr.config);

	format = format ? format - 1 : rc->encoder->format;
	return format == RVTRACE_FORMAT_NTRACE ? 0xff : 0;
}

/* Appends what decoders skip */
static void rvtrace_output_idle(struct rvtrace_cpu *rc, struct rvtrace_aux *aux, size_t size)
{
	memset(aux->base + rvtrace_output_offset(rc, aux),
	       rvtrace_output_idle_byte(rc), size);
	rvtrace_output_written(rc, size);
}

/* What comes next begins at a multiple of @unit, a power of two */
static void rvtrace_output_align(struct rvtrace_cpu *rc, struct rvtrace_aux *aux, size_t unit)
{
	size_t offset = rvtrace_output_offset(rc, aux);

	rvtrace_output_idle(rc, aux, ALIGN(offset, unit) - offset);
}

static void *rvtrace_output_guard_place(const struct rvtrace_aux *aux)
{
	return aux->base + aux->guard_head % aux->size;
}

/*
 * In overwrite mode a sink that has gone round does not say how often. Once is no loss, where it
 * has not come back to where it began; so what is before that place is marked with what no trace
 * has, and rvtrace_output_unguard() tells whether it is still there.
 *
 *	+--------------------+-------+----------------------------+
 *	| newer trace, or    | guard | begins here                |
 *	| older, not touched |       |                            |
 *	+--------------------+-------+----------------------------+
 */
static void rvtrace_output_guard(struct rvtrace_cpu *rc, struct rvtrace_aux *aux, size_t access)
{
	size_t unit = max(access, sizeof(aux->guard));

	/* A unit of the sink's, so that it is overwritten whole, which does not go round itself */
	rvtrace_output_align(rc, aux, unit);
	aux->guard_head = rc->handle.head;
	rvtrace_output_idle(rc, aux, unit);
	memcpy(rvtrace_output_guard_place(aux), &aux->guard, sizeof(aux->guard));
	aux->guarded = true;
}

/*
 * rvtrace_output_unguard - whether a sink that is stopped has written all of the AUX buffer
 *
 * Decoders skip what was the guard.
 */
bool rvtrace_output_unguard(struct rvtrace_cpu *rc)
{
	struct rvtrace_aux *aux = rc->aux;
	void *at;

	if (!aux || !aux->guarded)
		return false;
	aux->guarded = false;
	at = rvtrace_output_guard_place(aux);
	if (memcmp(at, &aux->guard, sizeof(aux->guard)))
		return true;
	memset(at, rvtrace_output_idle_byte(rc), sizeof(aux->guard));
	return false;
}

/* Up to where what is in the AUX buffer in overwrite mode is trace, though a sink may be running */
unsigned long rvtrace_output_head(const struct rvtrace_cpu *rc)
{
	return rc->aux->guarded ? rc->aux->guard_head : rc->handle.head;
}

/*
 * rvtrace_output_stretch - where in the AUX buffer a sink can write next
 *
 * A sink writes into one piece of contiguous memory at a time, and stops at its end or where user
 * space has not read yet. What is left of a piece is filled with idle bytes when it is too small to
 * be drained in time.
 *
 *	 run                                    run
 *	+----------------------+--------------+------------------------------+
 *	| read by user         | this record  |  stretch               |tail  |
 *	+----------------------+--------------+------------------------------+
 *
 * In overwrite mode the memory is in one piece and the sink goes round in it, as the head does.
 *
 * Returns false when the sink must use its own buffer.
 */
bool rvtrace_output_stretch(struct rvtrace_cpu *rc, const struct rvtrace_ramsink *sink,
			    struct rvtrace_stretch *stretch)
{
	struct rvtrace_aux *aux = rc->aux;
	size_t access = sink->access ?: RVTRACE_RAM_MAX_ACCESS;
	size_t offset, end;
	unsigned int i = 0;

	if (!aux || !rc->direct)
		return false;
	/* Sinks begin where a unit of their memory access begins. */
	if (aux->overwrite)
		rvtrace_output_guard(rc, aux, access);
	else
		rvtrace_output_align(rc, aux, access);
	offset = rvtrace_output_offset(rc, aux);
	while (offset >= aux->runs[i].end)
		i++;
	if (!aux->overwrite && aux->runs[i].end - offset < aux->reserve) {
		rvtrace_output_idle(rc, aux, aux->runs[i].end - offset);
		offset = rvtrace_output_offset(rc, aux);
		i = (i + 1) % aux->nr_runs;
	}
	end = aux->runs[i].end;
	if (!aux->overwrite) {
		end = min(end, round_down(offset + rc->handle.size - rc->written,
					  RVTRACE_RAM_MAX_ACCESS));
		if (end < offset + RVTRACE_RAM_MAX_ACCESS)
			return false;
	}
	stretch->start = rc->direct->runs[i];
	stretch->from = offset - aux->runs[i].start;
	stretch->end = end - aux->runs[i].start;
	return true;
}

/* Flags the open record, if there is one */
void rvtrace_output_flag(struct rvtrace_cpu *rc, u64 flag)
{
	if (rc->aux)
		perf_aux_output_flag(&rc->handle, flag);
}

/* How @sink writes into the AUX buffer, or NULL when it does not */
static const struct rvtrace_aux_sink *rvtrace_output_direct(const struct rvtrace_aux *aux,
							    const struct rvtrace_ramsink *sink)
{
	unsigned int i;

	for (i = 0; i < aux->nr_sinks; i++)
		if (aux->sinks[i].sink == sink)
			return aux->sinks[i].direct && !READ_ONCE(sink->choosy) ? &aux->sinks[i] :
										 NULL;
	return NULL;
}

/*
 * Whether the running event goes on with what waits. A record is of one thread, unless its trace
 * says whose it is: then all threads that inherited the event may follow each other in it.
 */
static bool rvtrace_output_goes_on(const struct rvtrace_cpu *rc)
{
	const struct rvtrace_config *config = rvtrace_event_config(rc->event);

	if (config->explicit)
		return rvtrace_event_config(rc->waiting)->serial == config->serial;
	return rc->waiting == rc->event && rc->waiting_task == current;
}

/*
 * rvtrace_output_begin - open a record
 *
 * Returns false when there is no AUX buffer or no room in it; in the latter case perf has been told
 * to disable the event until user space enables it again.
 */
bool rvtrace_output_begin(struct rvtrace_cpu *rc)
{
	struct rvtrace_aux *aux;
	size_t room;

	if (rc->waiting && !rvtrace_output_goes_on(rc))
		rvtrace_output_tell(rc);
	aux = perf_aux_output_begin(&rc->handle, rc->event);
	if (!rc->waiting || !aux || aux->serial != rc->waiting_aux)
		rc->written = 0;
	WRITE_ONCE(rc->waiting, NULL);
	rc->aux = aux;
	if (!aux)
		return false;
	rc->direct = rvtrace_output_direct(aux, rc->path->ram);
	/* For what must be skipped and for what must be left: see rvtrace_output_stretch(). */
	room = rc->direct ? 2 * aux->reserve + RVTRACE_RAM_MAX_ACCESS : 0;
	if (aux->overwrite || rc->handle.size >= rc->written + room)
		return true;
	perf_aux_output_flag(&rc->handle, PERF_AUX_FLAG_TRUNCATED);
	rvtrace_output_end(rc);
	return false;
}

/* Closes the record. Returns false when the AUX buffer is full and perf is disabling the event. */
bool rvtrace_output_end(struct rvtrace_cpu *rc)
{
	bool room = !(rc->handle.aux_flags & PERF_AUX_FLAG_TRUNCATED);

	if (!rc->aux)
		return false;
	rc->aux = NULL;
	perf_aux_output_end(&rc->handle, rc->written);
	return room;
}

/* Whether the open record is one that nobody misses for some time */
static bool rvtrace_output_may_wait(const struct rvtrace_cpu *rc)
{
	return rc->aux && !rc->aux->overwrite && !rc->handle.aux_flags &&
	       rc->written < rc->aux->reserve;
}

/* Closes the record, or lets it wait for rvtrace_output_begin() or rvtrace_output_tell() */
void rvtrace_output_wait(struct rvtrace_cpu *rc)
{
	if (!rvtrace_output_may_wait(rc)) {
		rvtrace_output_end(rc);
		return;
	}
	WRITE_ONCE(rc->waiting, rc->event);
	rc->waiting_aux = rc->aux->serial;
	WRITE_ONCE(rc->waiting_task, current);
	rc->aux = NULL;
	/* Of nothing perf writes no record. */
	perf_aux_output_end(&rc->handle, 0);
}

/*
 * Says in the record that is open in @handle that it has the trace of @rc, from whomever and
 * wherever perf thinks it is; and in another record what the trace does not say.
 */
static void rvtrace_output_name(const struct rvtrace_cpu *rc, struct perf_output_handle *handle)
{
	struct perf_event *event = rc->waiting;
	bool here = rc == this_cpu_ptr(&rvtrace_cpus);
	u64 tid = task_pid_nr_ns(rc->waiting_task, event->ns);

	if (here && rc->waiting_task == current)
		return;
	perf_aux_output_flag(handle, RVTRACE_AUX_FLAG_LATE);
	if (!here || !rvtrace_event_config(event)->explicit)
		perf_report_aux_output_id(event, FIELD_PREP(RVTRACE_HW_ID_TID, tid) |
						 FIELD_PREP(RVTRACE_HW_ID_CPU, rc->encoder->cpu));
}

/* Writes the record that waits in @rc, by a handle that is not in use */
static void rvtrace_output_tell_by(struct rvtrace_cpu *rc, struct perf_output_handle *handle)
{
	struct rvtrace_aux *aux = perf_aux_output_begin(handle, rc->waiting);
	size_t written = 0;

	if (aux) {
		if (aux->serial == rc->waiting_aux)
			written = rc->written;
		if (written)
			rvtrace_output_name(rc, handle);
		perf_aux_output_end(handle, written);
	}
	/* Now the event may begin on another hart: see rvtrace_output_fetch(). */
	smp_store_release(&rc->waiting, NULL);
}

/* Writes the record that waits, if there is one and its AUX buffer is still there */
void rvtrace_output_tell(struct rvtrace_cpu *rc)
{
	if (!READ_ONCE(rc->waiting))
		return;
	raw_spin_lock(&rc->waiting_lock);
	/* The event may have begun on another hart meanwhile. */
	if (rc->waiting)
		rvtrace_output_tell_by(rc, &rc->handle);
	raw_spin_unlock(&rc->waiting_lock);
}

/*
 * rvtrace_output_fetch - @event begins on this hart, and may have a record that waits where it was
 * before, on @cpu: that is written, here
 */
void rvtrace_output_fetch(struct rvtrace_cpu *rc, const struct perf_event *event, int cpu)
{
	struct rvtrace_cpu *there = &per_cpu(rvtrace_cpus, cpu);

	/* Once it has been written there, what perf has of the buffer must be seen here. */
	if (smp_load_acquire(&there->waiting) != event)
		return;
	raw_spin_lock(&there->waiting_lock);
	if (there->waiting == event)
		rvtrace_output_tell_by(there, &rc->handle);
	raw_spin_unlock(&there->waiting_lock);
}

/* Closes the record and opens the next. Returns false when that is not possible. */
bool rvtrace_output_next(struct rvtrace_cpu *rc)
{
	return rvtrace_output_end(rc) && rvtrace_output_begin(rc);
}

/*
 * rvtrace_output_gap - trace is missing between what was copied so far and what is copied next
 *
 * Closes the record with PARTIAL and opens the next. In overwrite mode the head goes once round: so
 * much at least has been overwritten, if not here then in the sink.
 */
void rvtrace_output_gap(struct rvtrace_cpu *rc)
{
	if (rc->aux && rc->aux->overwrite)
		rc->handle.head += rc->aux->size;
	rvtrace_output_flag(rc, PERF_AUX_FLAG_PARTIAL);
	rvtrace_output_next(rc);
}
