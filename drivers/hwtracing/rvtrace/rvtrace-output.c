// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: from a sink into the AUX buffer, and what is flagged when.
 *
 *	PARTIAL		trace is missing after this record; recording goes on
 *	TRUNCATED	the AUX buffer is full; perf disables the event until user space has read
 *			and enables it again
 *
 * A record without either is continued by the next one without a missing byte.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

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
	struct rvtrace_aux *aux = perf_get_aux(&rc->handle);
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

/* Flags the open record, if there is one */
void rvtrace_output_flag(struct rvtrace_cpu *rc, u64 flag)
{
	if (perf_get_aux(&rc->handle))
		perf_aux_output_flag(&rc->handle, flag);
}

/*
 * rvtrace_output_begin - open a record
 *
 * Returns false when there is no AUX buffer or no room in it; in the latter case perf has been told
 * to disable the event until user space enables it again.
 */
bool rvtrace_output_begin(struct rvtrace_cpu *rc)
{
	rc->written = 0;
	return perf_aux_output_begin(&rc->handle, rc->event);
}

/* Closes the record. Returns false when the AUX buffer is full and perf is disabling the event. */
bool rvtrace_output_end(struct rvtrace_cpu *rc)
{
	bool room = !(rc->handle.aux_flags & PERF_AUX_FLAG_TRUNCATED);

	if (!perf_get_aux(&rc->handle))
		return false;
	perf_aux_output_end(&rc->handle, rc->written);
	return room;
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
	const struct rvtrace_aux *aux = perf_get_aux(&rc->handle);

	if (aux && aux->overwrite)
		rc->handle.head += aux->size;
	rvtrace_output_flag(rc, PERF_AUX_FLAG_PARTIAL);
	rvtrace_output_next(rc);
}
