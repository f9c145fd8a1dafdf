// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Frames of the CoreSight formatter: hand-made ones, and those of a formatter at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/dump.h>
#include "../tools/coresight-formatter.h"
#include "coresight/frames.h"
#include "property.h"
#include "util/array.h"

#define MAX_BYTES 5000
#define START 4096	/* offset of the first byte: a multiple of 16 */

/* What came out: bytes of sources with their offsets, and what was told between them. */
struct found {
	struct rvt_coresight_frames frames;
	uint8_t ids[4 * MAX_BYTES], bytes[4 * MAX_BYTES];
	uint64_t offsets[4 * MAX_BYTES];
	size_t n;
	size_t barriers, damages;
	uint64_t damage_at;
	size_t told_at;		/* bytes before the last of these */
};

static struct found *open_found(void)
{
	struct found *found = calloc(1, sizeof(*found));

	assert_non_null(found);
	rvt_coresight_frames_init(&found->frames);
	return found;
}

static void take_chunk(struct found *found)
{
	const struct rvt_coresight_frames *frames = &found->frames;

	assert_in_range(frames->id, 1, RVT_CORESIGHT_MAX_ID);
	assert_in_range(frames->len, 1, RVT_CORESIGHT_CHUNK_BYTES);
	assert_int_equal(frames->segments[0].index, 0);
	for (uint32_t i = 0, s = 0; i < frames->len; i++) {
		if (s + 1 < frames->n_segments && frames->segments[s + 1].index == i)
			s++;
		assert_true(found->n < sizeof(found->bytes));
		found->ids[found->n] = frames->id;
		found->bytes[found->n] = frames->bytes[i];
		found->offsets[found->n++] = rvt_coresight_offset(frames->segments[s].offset,
			frames->segments[s].layout, i - frames->segments[s].index);
	}
}

static void drain(struct found *found)
{
	for (;;) {
		switch (rvt_coresight_frames_next(&found->frames)) {
		case RVT_CORESIGHT_READ_DATA:
			take_chunk(found);
			break;
		case RVT_CORESIGHT_READ_BARRIER:
			found->barriers++;
			found->told_at = found->n;
			break;
		case RVT_CORESIGHT_READ_DAMAGE:
			found->damages++;
			found->damage_at = found->frames.damage.offset;
			found->told_at = found->n;
			break;
		case RVT_CORESIGHT_READ_MORE:
			return;
		}
	}
}

static void feed(struct found *found, const void *bytes, size_t len, uint64_t offset)
{
	rvt_coresight_frames_feed(&found->frames, bytes, len, offset);
	drain(found);
}

static void check(const struct found *found, size_t n, const char *ids, const char *bytes)
{
	assert_int_equal(found->n, n);
	assert_memory_equal(found->ids, ids, n);
	assert_memory_equal(found->bytes, bytes, n);
}

/* ---- by hand, from the description of the format ---- */

#define FRAMES(...) .frames = (const uint8_t[]){ __VA_ARGS__ }, \
	.len = sizeof((const uint8_t[]){ __VA_ARGS__ })
#define MAX_OFFSETS 4

static const struct by_hand {
	const char *name;
	const uint8_t *frames;
	size_t len;
	/* what comes out of them: ids, bytes, and where some of these are, behind START */
	size_t n;
	const char *ids, *bytes;
	struct { size_t index, offset; } offsets[MAX_OFFSETS];
	unsigned int skipped, idle;
	/* of the damage, if there is any: how many bytes came before it */
	unsigned int damages;
	size_t damage_at, told_at;
} by_hand[] = { {
	"an id at once at byte 0, data with its lowest bit in the last byte, the same in frame 2",
	/* bits 1 and 7 */
	FRAMES(0x21, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
	       0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0x82,
	       0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7,
	       0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0x01),
	29, "\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10"
	"\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10",
	"\xa1\xa3\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab\xac\xad\xaf"
	"\xb1\xb1\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xbb\xbc\xbd\xbe",
	.offsets = { { 0, 1 }, { 13, 14 }, { 14, 16 } },
}, {
	/* at byte 2 an id at once, at byte 6 one whose odd byte is still of the source before, */
	/* at byte 10 padding, at byte 14 one for the next frame; bits 3 and 7 */
	"data before the first id is nobody's",
	FRAMES(0x10, 0x11, 0x21, 0xa1, 0xa2, 0xa3, 0x23, 0xa4,
	       0xb0, 0xb1, 0x01, 0x00, 0x00, 0x00, 0x25, 0x88,
	       0xc0, 0xc1, 0xc2, 0xc3, 0x01, 0x00, 0x00, 0x00,
	       0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00),
	10, "\x10\x10\x10\x10\x11\x11\x12\x12\x12\x12",
	"\xa1\xa2\xa3\xa4\xb0\xb1\xc0\xc1\xc2\xc3",
	.offsets = { { 3, 7 } }, .skipped = 2, .idle = 3 + 10,
}, {
	"an id that stays: the bit says nothing",
	FRAMES(0x21, 0xa1, 0x21, 0xa2, 0x21, 0xa3, 0xa4, 0xa5,
	       0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02),
	5, "\x10\x10\x10\x10\x10", "\xa1\xa2\xa3\xa4\xa5", .idle = 6,
}, {
	"0x7d is a trigger, 0x7b answers a flush: their bytes are no trace, nothing is damaged",
	FRAMES(0x21, 0xa1, 0xfb, 0x10, 0x21, 0xa2, 0xf7, 0x00,
	       0x21, 0xa3, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00),
	3, "\x10\x10\x10", "\xa1\xa2\xa3", .skipped = 2, .idle = 4,
}, {
	"an id that no source may have is damage; up to the next id, what follows is nobody's",
	FRAMES(0x21, 0xa1, 0xe1, 0xa2, 0xa4, 0xa5, 0x21, 0xa6,
	       0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00),
	2, "\x10\x10", "\xa1\xa6", .skipped = 3, .idle = 6, .damages = 1, .damage_at = 2,
	.told_at = 2,
}, {
	"the id 0x7f does not occur: its frame is dropped, up to the next id nothing is known",
	FRAMES(0x21, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
	       0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0x00,
	       0xb0, 0xb1, 0xff, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7,
	       0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0x00,
	       0xc0, 0xc1, 0x21, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
	       0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00),
	19, "\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10\x10",
	"\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab\xac\xad\xae\xc3\xc4\xc5\xc6\xc7",
	.skipped = 16 + 2, .idle = 6, .damages = 1, .damage_at = 16, .told_at = 14,
} };

static void hand_made(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(by_hand) / sizeof(*by_hand); i++) {
		const struct by_hand *row = &by_hand[i];
		struct found *found = open_found();

		print_message("%s\n", row->name);
		feed(found, row->frames, row->len, START);
		check(found, row->n, row->ids, row->bytes);
		for (size_t k = 0; k < MAX_OFFSETS && row->offsets[k].offset; k++)
			assert_int_equal(found->offsets[row->offsets[k].index],
					 START + row->offsets[k].offset);
		assert_int_equal(found->frames.skipped_bytes, row->skipped);
		assert_int_equal(found->frames.idle_bytes, row->idle);
		assert_int_equal(found->damages, row->damages);
		if (row->damages) {
			assert_int_equal(found->damage_at, START + row->damage_at);
			assert_int_equal(found->told_at, row->told_at);
		}
		free(found);
	}
}

/* However the bytes come. */
static void pieces(void **state)
{
	/* an FSYNC begins in a frame that is none, and ends in the next 16 bytes */
	static const uint8_t bytes[] = {
		0x21, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
		0xa8, 0xa9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x7f, 0x21, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7,
		0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	};

	(void)state;
	for (size_t piece = 1; piece <= sizeof(bytes); piece++) {
		struct found *found = open_found();

		for (size_t at = 0; at < sizeof(bytes); at += piece)
			feed(found, bytes + at, piece < sizeof(bytes) - at ? piece :
							sizeof(bytes) - at, START + at);
		check(found, 7, "\x10\x10\x10\x10\x10\x10\x10",
		      "\xb1\xb2\xb3\xb4\xb5\xb6\xb7");
		assert_int_equal(found->damages, 1);
		assert_int_equal(found->frames.skipped_bytes, 16);
		free(found);
	}
}

/* What more than one feed takes. */
#define HAND(name) static void name(void **state)

/* Behind a barrier the id is not known; what comes before it was delivered. */
HAND(barrier)
{
	static const uint8_t frames[] = {
		0x21, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
		0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0x00,
		0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
		0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
		0xb0, 0xb1, 0x23, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7,
		0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	};
	struct found *found = open_found();

	(void)state;
	for (size_t i = 0; i < sizeof(frames); i++)
		feed(found, frames + i, 1, START + i);
	assert_int_equal(found->n, 14 + 5);
	assert_int_equal(found->ids[14], 0x11);
	assert_int_equal(found->barriers, 1);
	assert_int_equal(found->told_at, 14);
	assert_int_equal(found->damages, 0);
	assert_int_equal(found->frames.skipped_bytes, 2);
	/* memory, not a TPIU: frames are found again by their offsets */
	rvt_coresight_frames_lost(&found->frames, false);
	feed(found, frames + 5, sizeof(frames) - 5, START + sizeof(frames) + 5);
	assert_int_equal(found->n, 14 + 5 + 5);
	assert_int_equal(found->damages, 0);
	free(found);
}

/* A TPIU's stream: what is lost costs no more than up to the next FSYNC, wherever that is. */
HAND(synchronisation)
{
	static const uint8_t frames[] = {
		0xff, 0xff, 0xff, 0x7f,
		0x21, 0xa1, 0xff, 0x7f, 0xa2, 0xa3, 0xff, 0x7f, 0xff, 0x7f, 0xa4, 0xa5, 0xa6, 0xa7,
		0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xff, 0x7f, 0xae, 0x00,
		/* two bytes of this one are missing */
		0xb0, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0x00,
		0xff, 0xff, 0xff, 0x7f,
		0x21, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
		0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	};
	struct found *found = open_found();

	(void)state;
	feed(found, frames, sizeof(frames), START);
	assert_int_equal(found->n, 14 + 7);
	assert_memory_equal(found->bytes,
			    "\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab\xac\xad\xae"
			    "\xc1\xc2\xc3\xc4\xc5\xc6\xc7", 21);
	assert_int_equal(found->barriers, 0);
	assert_int_equal(found->damages, 1);
	assert_int_equal(found->damage_at, START + 28);
	/* where bytes are missing nobody knows where a frame begins until the next FSYNC */
	rvt_coresight_frames_lost(&found->frames, false);
	feed(found, frames + 5, sizeof(frames) - 5, START + sizeof(frames) + 5);
	assert_int_equal(found->n, 14 + 7 + 7);
	free(found);
}

HAND(partial)
{
	struct found *found = open_found();

	(void)state;
	feed(found, "\x21\xa1\xa2", 3, START);
	assert_int_equal(found->n, 0);
	rvt_coresight_frames_finish(&found->frames);
	drain(found);
	assert_int_equal(found->damages, 1);
	assert_int_equal(found->damage_at, START);
	assert_int_equal(found->frames.skipped_bytes, 3);
	free(found);
}

/* ---- SpacemiT's K3 ---- */

/*
 * The first messages of the recording that SpacemiT's guide to trace shows, as bytes of the widths
 * that it gives (docs-tool, en/user_guide/trace_user_guide.md, 3.3.4), in frames of an ETR. What is
 * expected is what the guide says of them.
 */
static void k3_guide(void **state)
{
	static const uint8_t messages[] = {
		0x24, 0x14, 0x00, 0x15, 0x68, 0xf0, 0xc4, 0x58, 0x00, 0xfc, 0xfc, 0xfc, 0xfc, 0xfc,
		0xfd, 0xc0, 0x84, 0x7c, 0xb0, 0xbc, 0x33,
		0x08, 0x14, 0x00, 0x1d, 0x03,
		0x08, 0x14, 0x00, 0x98, 0x68, 0x35, 0x03,
		0xff,
		0x10, 0x14, 0x00, 0x60, 0x05, 0x14, 0x5c, 0x0d, 0x0f,
		0x10, 0x14, 0x00, 0x70, 0x05, 0x1c, 0x4d, 0x03,
		0x10, 0x14, 0x00, 0xe1, 0x3c, 0x78, 0x79, 0x03,
		0x0c, 0x14, 0x00, 0x41, 0x07,
		0x10, 0x14, 0x00, 0x70, 0x09, 0x78, 0x05, 0x03,
	};
	static const char *const expected[] = {
		("ProgTraceSync atid=0x12 SRC=5 SYNC=5(trace enable) I-CNT=0 "
		 "F-ADDR=0x7fffffffc05b1f1a"), "address=0xffffffff80b63e34", "time=13685094512",
		"Ownership atid=0x12 SRC=5", "FORMAT=3 PRV=1 V=0 hcontext=0x0",
		"Ownership atid=0x12 SRC=5", "FORMAT=2 PRV=1 V=0 scontext=0x6b5",
		"time=13685094512",
		"IndirectBranch atid=0x12", "I-CNT=22 U-ADDR=0x35c5", "address=0xffffffff80b655be",
		"time=13685094515",
		"I-CNT=23 U-ADDR=0x4c7", "address=0xffffffff80b65c30",
		"I-CNT=14 U-ADDR=0x1e78f", "address=0xffffffff80b5932e",
		"DirectBranch atid=0x12 SRC=5 I-CNT=16", "time=13685094516",
		"I-CNT=39 U-ADDR=0x5e", "address=0xffffffff80b59392",
	};
	static const char params_text[] = "protocol = ntrace\nmode = btm\nsrc_bits = 12\n"
		"timestamp = delta\nframing = coresight\n";
	struct rvt_params params = { .size = sizeof(params) };
	struct rvt_dump_stats stats = { .size = sizeof(stats) };
	struct formatter f = { .id = -1 };
	uint8_t ids[sizeof(messages)];
	struct rvt_dump *dump;
	char *error, *text = NULL;
	const char *at;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	memset(ids, 0x12, sizeof(ids));
	formatter_barrier(&f);
	formatter_write(&f, ids, messages, sizeof(messages), NULL);
	assert_int_equal(rvt_params_parse(&params, "k3", params_text, strlen(params_text), &error),
			 0);
	assert_int_equal(rvt_dump_create(&params, 0, out, &dump), 0);
	rvt_dump_feed(dump, f.out, f.len, 0);
	rvt_dump_finish(dump);
	rvt_dump_stats(dump, &stats);
	assert_int_equal(stats.messages, 8);
	assert_int_equal(stats.damaged, 0);
	rvt_dump_destroy(dump);
	fclose(out);
	at = text;
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		at = strstr(at, expected[i]);
		if (!at)
			fail_msg("'%s' is not in, or not there in: %s", expected[i], text);
		at += strlen(expected[i]);
	}
	free(text);
	free(f.out);
}

/* ---- at random ---- */

static unsigned int choose(void *ctx, unsigned int below)
{
	return random_below(ctx, below);
}

static void random_bytes(struct random *r, uint8_t *ids, uint8_t *bytes, size_t n)
{
	unsigned int id = 1, sources = 1 + random_below(r, 5), stay = 1 + random_below(r, 300);

	for (size_t i = 0; i < n; i++) {
		if (!random_below(r, stay))
			id = 1 + random_below(r, sources) * (RVT_CORESIGHT_MAX_ID - 1) / 4;
		ids[i] = id;
		bytes[i] = random_one_in(r, 3) ? 0xff : random_word(r);
	}
}

static void feed_pieces(struct found *found, struct random *r, const struct formatter *f)
{
	size_t piece = 1 + random_below(r, random_one_in(r, 2) ? 20 : 3000);

	for (size_t at = 0, n; at < f->len; at += n) {
		n = 1 + random_below(r, piece);
		n = n < f->len - at ? n : f->len - at;
		feed(found, f->out + at, n, START + at);
	}
	rvt_coresight_frames_finish(&found->frames);
	drain(found);
}

/* Each byte comes out once, in order, of its source, and is where the formatter put it. */
static void one_stream(struct random *r)
{
	static uint8_t ids[MAX_BYTES], bytes[MAX_BYTES];
	static size_t where[MAX_BYTES];
	struct formatter f = { .choose = random_one_in(r, 4) ? NULL : choose, .ctx = r, .id = -1 };
	struct found *found = open_found();
	size_t n = 1 + random_below(r, MAX_BYTES - 1);

	f.tpiu = f.choose && random_one_in(r, 3);
	found->frames.v3 &= random_one_in(r, 2);
	random_bytes(r, ids, bytes, n);
	formatter_write(&f, ids, bytes, n, where);
	feed_pieces(found, r, &f);
	check(found, n, (const char *)ids, (const char *)bytes);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(found->offsets[i], START + where[i]);
	assert_int_equal(found->damages, 0);
	assert_int_equal(found->frames.skipped_bytes, 0);
	free(found);
	free(f.out);
}

static void test_round_trip(void **state)
{
	uint64_t cases = property_setting("RVT_PROPERTY_CASES", 500);
	uint64_t first = property_setting("RVT_PROPERTY_SEED", 1);
	struct random r;

	(void)state;
	for (uint64_t seed = first; seed < first + cases; seed++) {
		print_message("seed %lu\n", (long)seed);
		random_seed(&r, seed);
		one_stream(&r);
	}
}

/*
 * One frame of memory is damaged: what lies before it, and what lies behind the next id of each
 * source, comes out as it was. The formatter repeats an id after eight frames at the latest.
 */
static void test_damage(void **state)
{
	static uint8_t ids[MAX_BYTES], bytes[MAX_BYTES];
	static size_t where[MAX_BYTES];
	uint64_t cases = property_setting("RVT_PROPERTY_CASES", 500);
	struct random r;

	(void)state;
	for (uint64_t seed = 1; seed <= cases; seed++) {
		struct formatter f = { .id = -1 };
		struct found *found = open_found();
		size_t n = 3000, at, before = 0, behind = 0;

		print_message("seed %lu\n", (long)seed);
		random_seed(&r, seed);
		random_bytes(&r, ids, bytes, n);
		formatter_write(&f, ids, bytes, n, where);
		at = random_below(&r, f.len / 16) * 16;
		for (int i = 0; i < 16; i++)
			if (random_one_in(&r, 2))
				f.out[at + i] = random_word(&r);
		/* what looks as a synchronisation shifts all frames behind it */
		if (memmem(f.out + at, 16, "\xff\x7f", 2)) {
			free(found);
			free(f.out);
			continue;
		}
		feed_pieces(found, &r, &f);
		while (before < n && where[before] < at)
			before++;
		while (behind < n && where[n - 1 - behind] >= at + 16 * 10)
			behind++;
		assert_true(found->n >= before + behind);
		assert_memory_equal(found->bytes, bytes, before);
		assert_memory_equal(found->ids, ids, before);
		assert_memory_equal(found->bytes + found->n - behind, bytes + n - behind, behind);
		assert_memory_equal(found->ids + found->n - behind, ids + n - behind, behind);
		free(found);
		free(f.out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hand_made),
		cmocka_unit_test(pieces),
		cmocka_unit_test(barrier),
		cmocka_unit_test(synchronisation),
		cmocka_unit_test(partial),
		cmocka_unit_test(k3_guide),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
