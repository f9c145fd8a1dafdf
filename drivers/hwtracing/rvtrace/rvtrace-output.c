// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: AUX records. They carry trace from a sink to user space, with these flags:
 *
 *	PARTIAL		trace is missing after this record; recording continues
 *	TRUNCATED	the AUX buffer is full; perf disables the event until user space has read
 *			and enables it again
 *
 * After a record with neither flag the next record continues without a missing byte.
 *
 * rvtrace-late.c defers records.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/rvtrace.h>

#include "rvtrace-encoder.h"
#include "rvtrace-late.h"
#include "rvtrace-output.h"
#include "rvtrace-ramsink.h"

static void rvtrace_output_bytes(struct rvtrace_aux *aux, unsigned long head, const void *data,
				 size_t size)
{
	size_t offset = head % aux->size;
	size_t first = min(size, aux->size - offset);

	memcpy(aux->base + offset, data, first);
	memcpy(aux->base, data + first, size - first);
}

/* In overwrite mode the head only grows, and new trace overwrites the oldest. */
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

	/* rvtrace_output_gap() closed the record and could not open the next. */
	if (!aux)
		return;
	if (aux->overwrite) {
		rvtrace_output_overwrite(rc, aux, data, size);
		return;
	}
	fits = min(size, rc->handle.size - rc->written);
	/* Copies whole units: what comes next must lie as it did in the sink. */
	if (fits < size)
		fits = round_down(fits, rc->path->ram->access ?: RVTRACE_RAM_MIN_ACCESS);
	rvtrace_output_bytes(aux, rc->handle.head + rc->written, data, fits);
	rc->written += fits;
	if (fits < size)
		perf_aux_output_flag(&rc->handle, PERF_AUX_FLAG_TRUNCATED);
}

/*
 * Returns the offset of the next byte in the AUX buffer. In overwrite mode the head moves with the
 * trace.
 */
static size_t rvtrace_output_offset(const struct rvtrace_cpu *rc, const struct rvtrace_aux *aux)
{
	return (rc->handle.head + (aux->overwrite ? 0 : rc->written)) % aux->size;
}

/*
 * Returns the idle byte that a sink fills its last word with. Decoders skip it between any two
 * messages. In N-Trace it is all ones, in E-Trace's encapsulation a header without payload.
 */
static u8 rvtrace_output_idle_byte(const struct rvtrace_cpu *rc)
{
	u32 format = FIELD_GET(RVTRACE_CONFIG_FORMAT, rc->event->attr.config);

	format = format ? format - 1 : rc->encoder->format;
	return format == RVTRACE_FORMAT_NTRACE ? 0xff : 0;
}

/* Appends @size idle bytes */
static void rvtrace_output_idle(struct rvtrace_cpu *rc, struct rvtrace_aux *aux, size_t size)
{
	memset(aux->base + rvtrace_output_offset(rc, aux),
	       rvtrace_output_idle_byte(rc), size);
	rvtrace_output_written(rc, size);
}

/* Appends idle bytes up to a multiple of @unit, a power of two */
static void rvtrace_output_align(struct rvtrace_cpu *rc, struct rvtrace_aux *aux, size_t unit)
{
	size_t offset = rvtrace_output_offset(rc, aux);

	rvtrace_output_idle(rc, aux, ALIGN(offset, unit) - offset);
}

/*
 * rvtrace_output_ready - append idle bytes up to a multiple of 8
 *
 * Called before trace is copied from an address that is a multiple of 8. memcpy() takes four times
 * as long when only one of both addresses is (arch/riscv/lib/memcpy.S).
 */
void rvtrace_output_ready(struct rvtrace_cpu *rc)
{
	struct rvtrace_aux *aux = rc->aux;

	if (aux && (aux->overwrite || rc->handle.size - rc->written >= sizeof(u64)))
		rvtrace_output_align(rc, aux, sizeof(u64));
}

static void *rvtrace_output_guard_at(const struct rvtrace_aux *aux)
{
	return aux->base + aux->guard_head % aux->size;
}

/*
 * In overwrite mode the Wrap bit does not count how often the sink has wrapped. One wrap is no loss
 * as long as the sink has not come back to where it began. So a pattern that does not occur in
 * trace guards that place, and rvtrace_output_unguard() looks whether it is still there.
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
	memcpy(rvtrace_output_guard_at(aux), &aux->guard, sizeof(aux->guard));
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
	at = rvtrace_output_guard_at(aux);
	if (memcmp(at, &aux->guard, sizeof(aux->guard)))
		return true;
	memset(at, rvtrace_output_idle_byte(rc), sizeof(aux->guard));
	return false;
}

/*
 * Returns the end of the trace in the AUX buffer in overwrite mode. A sink may be running behind
 * it.
 */
unsigned long rvtrace_output_head(const struct rvtrace_cpu *rc)
{
	return rc->aux->guarded ? rc->aux->guard_head : rc->handle.head;
}

/*
 * rvtrace_output_extent - where in the AUX buffer a sink can write next
 *
 * A sink writes into one segment of contiguous memory at a time, and stops at its end or where user
 * space has not read yet. The rest of a segment is filled with idle bytes when it is too small to
 * be drained in time.
 *
 *	 segment                                segment
 *	+----------------------+--------------+------------------------------+
 *	| read by user         | this record  |  stretch               |tail  |
 *	+----------------------+--------------+------------------------------+
 *
 * In overwrite mode the memory is in one piece and the sink goes round in it, as the head does.
 *
 * Returns false when the sink must use its own buffer.
 */
bool rvtrace_output_extent(struct rvtrace_cpu *rc, const struct rvtrace_ramsink *sink,
			   struct rvtrace_extent *extent)
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
	while (offset >= aux->segments[i].end)
		i++;
	if (!aux->overwrite && aux->segments[i].end - offset < aux->reserve) {
		rvtrace_output_idle(rc, aux, aux->segments[i].end - offset);
		offset = rvtrace_output_offset(rc, aux);
		i = (i + 1) % aux->nr_segments;
	}
	end = aux->segments[i].end;
	if (!aux->overwrite) {
		end = min(end, round_down(offset + rc->handle.size - rc->written,
					  RVTRACE_RAM_MAX_ACCESS));
		if (end < offset + RVTRACE_RAM_MAX_ACCESS)
			return false;
	}
	extent->start = rc->direct->segments[i];
	extent->from = offset - aux->segments[i].start;
	extent->end = end - aux->segments[i].start;
	return true;
}

/* Flags the open record, if there is one */
void rvtrace_output_flag(struct rvtrace_cpu *rc, u64 flag)
{
	if (rc->aux)
		perf_aux_output_flag(&rc->handle, flag);
}

/* Returns how @sink writes into the AUX buffer, or NULL when it does not. */
static const struct rvtrace_aux_sink *rvtrace_output_direct(const struct rvtrace_aux *aux,
							    const struct rvtrace_ramsink *sink)
{
	unsigned int i;

	for (i = 0; i < aux->nr_sinks; i++)
		if (aux->sinks[i].sink == sink)
			return aux->sinks[i].direct && !READ_ONCE(sink->no_direct) ?
			       &aux->sinks[i] : NULL;
	return NULL;
}

/*
 * rvtrace_output_begin - open a record
 *
 * Returns false when there is no AUX buffer or no room in it; in the latter case perf disables the
 * event until user space enables it again.
 */
bool rvtrace_output_begin(struct rvtrace_cpu *rc)
{
	struct rvtrace_aux *aux = rvtrace_late_begin(rc);
	size_t room;

	rc->aux = aux;
	if (!aux)
		return false;
	/* A sink that does not stop would overwrite what user space has not read yet. */
	if (!aux->overwrite && rvtrace_event_config(rc->event)->stall)
		rc->direct = NULL;
	else
		rc->direct = rvtrace_output_direct(aux, rc->path->ram);
	/* Room for the bytes that rvtrace_output_extent() skips and for those that it keeps free */
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
	if (rc->mixed)
		perf_aux_output_flag(&rc->handle, RVTRACE_AUX_FLAG_LATE);
	perf_aux_output_end(&rc->handle, rc->written);
	return room;
}

/*
 * rvtrace_output_swap - perf gives the running event, with its context, to the next task
 *
 * The record must not have trace of both, unless the trace is tagged. Returns whether it must be
 * closed.
 */
bool rvtrace_output_swap(struct rvtrace_cpu *rc)
{
	if (!rvtrace_event_config(rc->event)->tagged)
		return true;
	rc->mixed = true;
	return false;
}

/* Closes the record and opens the next. Returns false when that is not possible. */
bool rvtrace_output_reopen(struct rvtrace_cpu *rc)
{
	return rvtrace_output_end(rc) && rvtrace_output_begin(rc);
}

/*
 * rvtrace_output_gap - trace is missing between the bytes copied so far and the next ones
 *
 * Closes the record with PARTIAL and opens the next. In overwrite mode the head advances by the
 * size of the buffer: at least that much has been overwritten, in the buffer or in the sink.
 */
void rvtrace_output_gap(struct rvtrace_cpu *rc)
{
	if (rc->aux && rc->aux->overwrite)
		rc->handle.head += rc->aux->size;
	rvtrace_output_flag(rc, PERF_AUX_FLAG_PARTIAL);
	rvtrace_output_reopen(rc);
}
