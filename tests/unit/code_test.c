// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code that a recording carries: packed, and unpacked piece by piece.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zstd.h>
#include <rvtrace/perfdata.h>

#define N_CODE 40
#define LARGE (300u << 10)

/* What was packed: entries of all lengths, one of them large, so that heads lie everywhere. */
struct fixture {
	struct rvt_code code[N_CODE];
	char names[N_CODE][32];
	uint8_t *bytes;
	void *blob;
	size_t len;
};

static size_t length_of(unsigned int i)
{
	return i == N_CODE / 2 ? LARGE : i * i * i % 9001;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint64_t random = 1;
	size_t pos = 0;

	assert_non_null(f);
	f->bytes = malloc(N_CODE * 9001 + LARGE);
	assert_non_null(f->bytes);
	for (unsigned int i = 0; i < N_CODE; i++) {
		snprintf(f->names[i], sizeof(f->names[i]), "[module %.*s]", (int)(i % 11),
			 "0123456789");
		f->code[i] = (struct rvt_code){
			.addr = 0xffffffff80000000 + ((uint64_t)i << 24), .len = length_of(i),
			.kind = i ? RVT_CODE_MODULE : RVT_CODE_KERNEL, .name = f->names[i],
			.bytes = f->bytes + pos,
		};
		/* never 0, and as much of it can be packed as of code */
		for (size_t k = 0; k < f->code[i].len; k++) {
			random = random * 6364136223846793005 + 1442695040888963407;
			f->bytes[pos++] = (random >> 60) + 1;
		}
	}
	assert_int_equal(rvt_code_pack(f->code, N_CODE, &f->blob, &f->len), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->blob);
	free(f->bytes);
	free(f);
	return 0;
}

static void check_heads(const struct fixture *f, struct rvt_code_store *store)
{
	size_t n;
	const struct rvt_code *code = rvt_code_list(store, &n);

	assert_int_equal(n, N_CODE);
	for (unsigned int i = 0; i < N_CODE; i++) {
		assert_int_equal(code[i].addr, f->code[i].addr);
		assert_int_equal(code[i].len, f->code[i].len);
		assert_int_equal(code[i].kind, f->code[i].kind);
		assert_string_equal(code[i].name, f->code[i].name);
	}
}

static void check_bytes(const struct fixture *f, struct rvt_code_store *store)
{
	size_t n;
	const struct rvt_code *code = rvt_code_list(store, &n);

	for (unsigned int i = 0; i < N_CODE; i++) {
		assert_int_equal(rvt_code_need(store, code[i].bytes, code[i].len), code[i].len);
		assert_memory_equal(code[i].bytes, f->code[i].bytes, code[i].len);
	}
}

/* Opening reads heads; of the rest only what is asked for is unpacked. */
static void unpacked_when_needed(void **state)
{
	const struct fixture *f = *state;
	struct rvt_code_store *store;
	const uint8_t *large, *packed;
	size_t n;

	assert_int_equal(rvt_code_open(f->blob, f->len, &store), 0);
	check_heads(f, store);
	large = rvt_code_list(store, &n)[N_CODE / 2].bytes;
	packed = f->code[N_CODE / 2].bytes;
	assert_int_equal(large[LARGE / 2], 0);
	/* over a border of frames, wherever they are: most of it is still not there */
	assert_int_equal(rvt_code_need(store, large + LARGE / 2, 20000), 20000);
	assert_memory_equal(large + LARGE / 2, packed + LARGE / 2, 20000);
	assert_int_equal(large[LARGE / 4], 0);
	assert_int_equal(large[LARGE * 3 / 4], 0);
	assert_int_equal(rvt_code_need(store, large, 0), 0);
	check_bytes(f, store);
	rvt_code_close(store);
}

/* As recorders wrote it first. */
static void one_frame(void **state)
{
	struct fixture *f = *state;
	const size_t room = 4 << 20;
	char *plain = malloc(room), *blob = malloc(room);
	struct rvt_code_store *store;
	size_t len = 0, n;

	assert_non_null(plain);
	assert_non_null(blob);
	for (size_t pos = 0; pos < f->len; ) {
		size_t frame = ZSTD_findFrameCompressedSize((char *)f->blob + pos, f->len - pos);
		size_t got = ZSTD_decompress(plain + len, room - len, (char *)f->blob + pos, frame);

		assert_false(ZSTD_isError(got));
		len += got;
		pos += frame;
	}
	n = ZSTD_compress(blob, room, plain, len, 1);
	assert_false(ZSTD_isError(n));
	assert_int_equal(rvt_code_open(blob, n, &store), 0);
	check_heads(f, store);
	check_bytes(f, store);
	rvt_code_close(store);
	free(plain);
	free(blob);
}

/* What is cut off is missed when it is opened, wherever that is. */
static void truncated(void **state)
{
	const struct fixture *f = *state;
	struct rvt_code_store *store;
	uint8_t *copy;
	size_t n;

	for (size_t len = 1; len < f->len; len += 97) {
		/* of its own, so that reading behind it is seen */
		copy = malloc(len);
		assert_non_null(copy);
		memcpy(copy, f->blob, len);
		assert_int_equal(rvt_code_open(copy, len, &store), -EBADMSG);
		free(copy);
	}
	assert_int_equal(rvt_code_open(f->blob, 0, &store), 0);
	rvt_code_list(store, &n);
	assert_int_equal(n, 0);
	rvt_code_close(store);
}

/*
 * One wrong bit: it is not opened, or what can be had is right. Of a few of them nothing follows,
 * like the bit of a frame's head that is unused.
 */
static void damaged(void **state)
{
	struct fixture *f = *state;
	struct rvt_code_store *store;
	const struct rvt_code *code;
	uint8_t *blob = f->blob;
	unsigned int noticed = 0;
	size_t n, missing;

	for (size_t at = 0; at < f->len; at += 101) {
		blob[at] ^= 1 << at % 8;
		if (!rvt_code_open(blob, f->len, &store)) {
			code = rvt_code_list(store, &n);
			assert_int_equal(n, N_CODE);
			missing = 0;
			for (size_t i = 0; i < n; i++) {
				size_t got = rvt_code_need(store, code[i].bytes, code[i].len);

				assert_memory_equal(code[i].bytes, f->code[i].bytes, got);
				missing += code[i].len - got;
			}
			noticed += missing > 0;
			rvt_code_close(store);
		}
		blob[at] ^= 1 << at % 8;
	}
	/* most frames of the large one have no head */
	assert_true(noticed > f->len / 101 / 4);
}

/* What @blob holds of the one entry @code is right, or missing. */
static void check_what_is_there(const void *blob, size_t len, const struct rvt_code *code)
{
	struct rvt_code_store *store;
	const struct rvt_code *found;
	size_t n;

	if (rvt_code_open(blob, len, &store))
		return;
	found = rvt_code_list(store, &n);
	assert_int_equal(n, 1);
	assert_int_equal(found->len, code->len);
	for (size_t at = 0; at < code->len; at += 1000) {
		size_t got = rvt_code_need(store, found->bytes + at,
					   code->len - at < 1000 ? code->len - at : 1000);

		assert_memory_equal(found->bytes + at, code->bytes + at, got);
	}
	rvt_code_close(store);
}

/* Of a frame in the last code there is, behind which no head is: what follows has not moved. */
static void sizes_that_lie(void **state)
{
	const struct fixture *f = *state;
	const struct rvt_code *code = &f->code[N_CODE / 2];
	unsigned int n_lies = 0;
	uint8_t *blob;
	void *packed;
	size_t len;

	assert_int_equal(rvt_code_pack(code, 1, &packed, &len), 0);
	blob = packed;
	for (size_t pos = 0; pos < len;
	     pos += ZSTD_findFrameCompressedSize(blob + pos, len - pos)) {
		const unsigned long long size = ZSTD_getFrameContentSize(blob + pos, len - pos);

		/* the bits of its head, in which the size is */
		for (unsigned int bit = 0; bit < 8 * 8; bit++) {
			uint8_t *byte = blob + pos + 4 + bit / 8;

			*byte ^= 1 << bit % 8;
			n_lies += ZSTD_getFrameContentSize(blob + pos, len - pos) != size;
			check_what_is_there(blob, len, code);
			*byte ^= 1 << bit % 8;
		}
	}
	assert_true(n_lies >= 8);
	free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(unpacked_when_needed, setup, teardown),
		cmocka_unit_test_setup_teardown(one_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(sizes_that_lie, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
