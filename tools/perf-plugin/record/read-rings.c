// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writes what the rings hold into the file. */
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "record/live.h"
#include "record/record.h"

/*
 * How often to enable events after a full buffer. That has no effect before the kernel has disabled
 * them, so once is not enough.
 */
#define ENABLE_ROUNDS 5
/* perf.data wants records of a multiple of so many bytes. */
#define AUXTRACE_UNIT 8

static int put(struct recorder *rec, const void *bytes, size_t len)
{
	int err = rec->writer ? rvt_perfdata_write(rec->writer, bytes, len) : 0;

	return !err && rec->live ? live_put(rec->live, bytes, len) : err;
}

static int end_round(struct recorder *rec)
{
	int err = rec->writer ? rvt_perfdata_flush(rec->writer) : 0;

	return !err && rec->live ? live_end_round(rec->live) : err;
}

/* Writes the bytes [@tail, @head) of a ring of @size bytes: one piece, or two if it wraps. */
static int write_ring(struct recorder *rec, const uint8_t *ring, uint64_t size, uint64_t tail,
		      uint64_t head)
{
	uint64_t begin = tail & (size - 1), len = head - tail;
	uint64_t first = len < size - begin ? len : size - begin;
	int err = put(rec, ring + begin, first);

	if (!err && len > first)
		err = put(rec, ring, len - first);
	return err;
}

static int drain_data(struct recorder *rec, unsigned int n)
{
	struct ring *ring = &rec->rings[n];
	/* Pairs with the barrier before data_head is set, perf_output_put_handle() in
	 * kernel/events/ring_buffer.c: what lies before the head is complete. */
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	int err;

	if (head == tail)
		return 0;
	triggers_see(rec, n, head);
	err = write_ring(rec, (uint8_t *)ring->page + ring->page->data_offset, ring->data_bytes,
			 tail, head);
	/* Pairs with the control dependency on data_tail in __perf_output_begin() there: our reads
	 * are over before the kernel writes into the space. */
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	return err;
}

static int write_plain(struct recorder *rec, const struct ring *ring,
		       struct rvt_record_auxtrace *record, uint64_t head, bool last)
{
	static const uint8_t zeros[AUXTRACE_UNIT];
	uint64_t tail = record->offset;
	unsigned int padding = last ? (tail - head) % AUXTRACE_UNIT : 0;
	int err;

	record->size = head - tail + padding;
	record->unpacked = 0;
	err = put(rec, record, sizeof(*record));
	if (!err)
		err = write_ring(rec, ring->aux, ring->aux_bytes, tail, head);
	return !err && padding ? put(rec, zeros, padding) : err;
}

static uint64_t aux_head(const struct ring *ring)
{
	/*
	 * Pairs with the store of aux_head in perf_aux_output_end(), kernel/events/ring_buffer.c.
	 */
	return __atomic_load_n(&ring->page->aux_head, __ATOMIC_ACQUIRE);
}

/* Gives the space up to @tail back to the kernel. */
static void release_aux(struct ring *ring, uint64_t tail)
{
	ring->aux_tail = tail;
	/* Pairs with the control dependency on aux_tail in perf_aux_output_begin() there. */
	__atomic_store_n(&ring->page->aux_tail, tail, __ATOMIC_RELEASE);
}

/*
 * Returns whether there is no time to compress: a buffer is fuller than where the kernel wakes the
 * recorder, so reading does not keep up, and it takes a while to write all buffers, too.
 */
static bool in_hurry(const struct recorder *rec)
{
	for (size_t n = 0; n < rec->n_rings; n++) {
		const struct ring *ring = &rec->rings[n];

		if (ring->aux && aux_head(ring) - ring->aux_tail > ring->aux_bytes / 4)
			return true;
	}
	return false;
}

/*
 * Compresses and writes the trace piece by piece. Each piece is padded, has at most
 * RVT_AUX_MAX_UNPACKED bytes, and does not wrap.
 */
static int write_packed(struct recorder *rec, struct ring *ring,
			struct rvt_record_auxtrace *record, uint64_t head, bool last)
{
	bool still = last || rec->options.snapshot;	/* nothing is traced at the moment */
	int err = 0;

	while (record->offset < head && !err) {
		uint64_t begin = record->offset & (ring->aux_bytes - 1), n = head - record->offset;
		size_t len;

		if (!still && in_hurry(rec))
			return write_plain(rec, ring, record, head, last);
		if (n > ring->aux_bytes - begin)
			n = ring->aux_bytes - begin;
		if (n > RVT_AUX_MAX_UNPACKED)
			n = RVT_AUX_MAX_UNPACKED;
		err = rvt_aux_pack(ring->aux + begin, n, rec->options.level, &rec->packed,
				   &rec->packed_room, &len);
		if (err)
			break;
		record->unpacked = n;
		record->size = len;
		err = put(rec, record, sizeof(*record));
		if (!err)
			err = put(rec, rec->packed, len);
		record->offset += n;
		/* makes room while the next piece is compressed */
		release_aux(ring, record->offset);
	}
	return err;
}

/*
 * Writes a buffer's new bytes. Those beyond a multiple of AUXTRACE_UNIT wait for the next time;
 * only the last piece of a buffer is padded (PERF_RECORD_AUX says how much of it is trace).
 */
static int drain_aux(struct recorder *rec, unsigned int n, bool last, bool *got)
{
	struct ring *ring = &rec->rings[n];
	uint64_t head = aux_head(ring);
	struct rvt_record_auxtrace record = {
		.header = { RVT_RECORD_AUXTRACE, 0, sizeof(record) },
		.offset = ring->aux_tail, .idx = n, .tid = ring->tid, .cpu = ring->cpu,
	};
	int err;

	if (!last)
		head -= (head - ring->aux_tail) % AUXTRACE_UNIT;
	*got = head != ring->aux_tail;
	if (!*got)
		return 0;
	rec->trace_bytes += head - ring->aux_tail;
	if (rec->options.level && !rec->ctr)
		err = write_packed(rec, ring, &record, head, last);
	else
		err = write_plain(rec, ring, &record, head, last);
	release_aux(ring, head);
	return err;
}

int record_drain(struct recorder *rec, bool last)
{
	bool room = last || !rec->live || live_has_room(rec->live);
	int err = 0;

	for (size_t n = 0; n < rec->n_rings && !err; n++) {
		bool got = false;

		err = drain_data(rec, n);
		if (!err && rec->rings[n].aux && !rec->options.snapshot &&
		    !rec->options.in_samples && room)
			err = drain_aux(rec, n, last, &got);
		/*
		 * The kernel disables the event of a full buffer (TRUNCATED), or is about to: its
		 * record can be visible before. Now there is room again.
		 */
		if (got)
			rec->rings[n].enable_rounds = ENABLE_ROUNDS;
		if (last || rec->paused || !rec->rings[n].enable_rounds)
			continue;
		rec->rings[n].enable_rounds--;
		for (size_t i = 0; i < rec->n_fds; i++)
			if (rec->fds[i].ring == n && rec->fds[i].trace)
				ioctl(rec->fds[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	return err ? err : end_round(rec);
}

/*
 * Writes a buffer's bytes for a snapshot, to the newest one. Those that drain_aux() leaves for the
 * next time could be overwritten by then, so they are written now, behind some that the file has
 * already.
 */
static int drain_newest(struct recorder *rec, unsigned int n, bool last)
{
	struct ring *ring = &rec->rings[n];
	uint64_t head = aux_head(ring);
	uint64_t oldest = head > ring->aux_bytes ? head - ring->aux_bytes : 0;
	bool got;
	int err;

	if (ring->aux_tail < oldest)
		ring->aux_tail = oldest;
	err = drain_aux(rec, n, last, &got);
	if (err || ring->aux_tail == head || head < AUXTRACE_UNIT)
		return err;
	ring->aux_tail = head - AUXTRACE_UNIT;
	return drain_aux(rec, n, last, &got);
}

/* Returns whether @byte fills a sink's last word: the idle byte of E-Trace or N-Trace. */
static bool is_idle(uint8_t byte)
{
	return byte == 0 || byte == 0xff;
}

bool record_has_newer(const struct recorder *rec)
{
	for (size_t n = 0; n < rec->n_rings; n++) {
		const struct ring *ring = &rec->rings[n];
		uint64_t head = ring->aux ? aux_head(ring) : 0, at = ring->aux_tail;

		while (at < head && head - at <= ring->aux_bytes &&
		       is_idle(ring->aux[at & (ring->aux_bytes - 1)]))
			at++;
		if (at < head)
			return true;
	}
	return false;
}

/*
 * Writes what the buffers hold, while nothing is traced and so they do not change. Skips what a
 * buffer lost since the last snapshot: the session finds records of it without bytes.
 */
int record_newest(struct recorder *rec, bool last)
{
	int err = 0;

	for (size_t n = 0; n < rec->n_rings && !err; n++) {
		struct ring *ring = &rec->rings[n];

		err = drain_data(rec, n);
		if (!err && ring->aux)
			err = drain_newest(rec, n, last);
	}
	rec->snapshots++;
	rec->file_snapshots++;
	return err ? err : end_round(rec);
}
