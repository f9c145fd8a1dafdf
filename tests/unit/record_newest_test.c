// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Snapshots: whatever the kernel had put into the buffer when a snapshot was taken, the file has
 * the newest of it, up to the last byte.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <cmocka.h>
#include "../../tools/perf-plugin/record/live.h"
#include "../../tools/perf-plugin/record/record.h"

#define AUX_BYTES 64u
#define TRACE_BYTES (1u << 12)
#define SNAPSHOTS 3

/* What the file has of the trace: each byte, or 0 where it has none. */
static uint8_t got[TRACE_BYTES + 8];
/* The AUXTRACE record whose bytes come next, and how many came. */
static struct rvt_record_auxtrace record;
static uint64_t come;

/* The trace: its byte at @offset, never 0. */
static uint8_t trace(uint64_t offset)
{
	return 1 + offset % 251;
}

int live_put(struct live *live, const void *bytes, size_t len)
{
	(void)live;
	if (come == record.size) {
		assert_int_equal(len, sizeof(record));
		memcpy(&record, bytes, len);
		assert_int_equal(record.size % 8, 0);
		assert_true(record.offset + record.size <= sizeof(got));
		come = 0;
		return 0;
	}
	assert_true(len <= record.size - come);
	memcpy(got + record.offset + come, bytes, len);
	come += len;
	return 0;
}

bool live_has_room(struct live *live)
{
	(void)live;
	return true;
}

int live_end_round(struct live *live)
{
	(void)live;
	return 0;
}

void triggers_see(struct recorder *rec, unsigned int n, uint64_t head)
{
	(void)rec, (void)n, (void)head;
}

/* The kernel overwrites the oldest trace. */
static void grow(struct ring *ring, uint64_t head)
{
	for (uint64_t offset = ring->page->aux_head; offset < head; offset++)
		ring->aux[offset % AUX_BYTES] = trace(offset);
	ring->page->aux_head = head;
}

static void check(const unsigned int *grown)
{
	struct perf_event_mmap_page page = { 0 };
	uint8_t aux[AUX_BYTES] = { 0 };
	struct ring ring = { .page = &page, .aux = aux, .aux_bytes = AUX_BYTES };
	struct recorder rec = { .rings = &ring, .n_rings = 1, .live = (struct live *)&ring,
				.options.snapshot = true };
	uint64_t head = 0, oldest, before = 0;

	memset(got, 0, sizeof(got));
	record.size = come = 0;
	for (int i = 0; i < SNAPSHOTS; i++) {
		head += grown[i];
		grow(&ring, head);
		assert_int_equal(record_newest(&rec, i == SNAPSHOTS - 1), 0);
		assert_int_equal(come, record.size);
		/* trace of less than a record's unit waits */
		if (head < 8 && i < SNAPSHOTS - 1)
			continue;
		oldest = head > AUX_BYTES ? head - AUX_BYTES : 0;
		for (uint64_t offset = before > oldest ? before : oldest; offset < head; offset++)
			if (got[offset] != trace(offset))
				fail_msg("snapshot %d of trace that grew by %u, %u, %u: "
					 "byte %lu is %u",
					 i, grown[0], grown[1], grown[2], (unsigned long)offset,
					 got[offset]);
		before = head;
	}
	/* and nothing else */
	for (uint64_t offset = 0; offset < sizeof(got); offset++)
		assert_true(!got[offset] || (offset < head && got[offset] == trace(offset)));
}

static void test_newest(void **state)
{
	unsigned int grown[SNAPSHOTS];

	(void)state;
	for (grown[0] = 0; grown[0] < 2 * AUX_BYTES; grown[0]++)
		for (grown[1] = 0; grown[1] < 2 * AUX_BYTES + 20; grown[1]++)
			for (grown[2] = 0; grown[2] < AUX_BYTES; grown[2] += 13)
				check(grown);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_newest) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
