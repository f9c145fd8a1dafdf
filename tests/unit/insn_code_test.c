// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Single instructions by the lengths of the Unprivileged ISA, whole or in several mappings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "common/insn-code.h"

#define PC 0x1000

static struct rvt_image *image;

/* A space with the instruction at PC: its bytes up to @cut in one mapping, the rest in another. */
static struct rvt_space *map(const uint8_t *insn, size_t len, size_t cut)
{
	struct rvt_space *space;

	assert_int_equal(rvt_space_create(image, NULL, &space), 0);
	if (cut)
		assert_int_equal(rvt_space_map_bytes(space, PC, insn, cut, "first"), 0);
	if (cut < len)
		assert_int_equal(rvt_space_map_bytes(space, PC + cut, insn + cut, len - cut,
						     "rest"), 0);
	return space;
}

static void lengths(void **state)
{
	static const struct {
		uint8_t insn[INSN_CODE_BYTES];
		unsigned int len;
	} insns[] = {
		{ { 0x01, 0x00 }, 2 },				/* c.nop */
		{ { 0x13, 0x05, 0x10, 0x00 }, 4 },		/* li a0, 1 */
		{ { 0x73, 0x00, 0x00, 0x00 }, 4 },		/* ecall */
		{ { 0x1f, 1, 2, 3, 4, 5 }, 6 },
		{ { 0x3f, 1, 2, 3, 4, 5, 6, 7 }, 8 },
		{ { 0x7f, 1, 2, 3, 4, 5, 6, 7 }, 0 },		/* 80 bits or more */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(insns) / sizeof(*insns); i++) {
		for (size_t cut = 1; cut <= sizeof(insns[i].insn); cut++) {
			struct rvt_space *space = map(insns[i].insn, sizeof(insns[i].insn), cut);
			uint8_t bytes[INSN_CODE_BYTES];

			assert_int_equal(insn_code(space, PC, bytes), insns[i].len);
			assert_memory_equal(bytes, insns[i].insn, insns[i].len);
			assert_int_equal(insn_is_ecall(space, PC), insns[i].insn[0] == 0x73);
		}
	}
}

static void missing(void **state)
{
	static const uint8_t insn[] = { 0x73, 0x00, 0x00, 0x00 };
	uint8_t bytes[INSN_CODE_BYTES];

	(void)state;
	assert_int_equal(insn_code(NULL, PC, bytes), 0);
	for (size_t len = 0; len < sizeof(insn); len++) {
		struct rvt_space *space = map(insn, len, len);

		assert_int_equal(insn_code(space, PC, bytes), 0);
		assert_false(insn_is_ecall(space, PC));
	}
}

static int set_up(void **state)
{
	(void)state;
	return rvt_image_create(&image);
}

static int tear_down(void **state)
{
	(void)state;
	rvt_image_destroy(image);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lengths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(missing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
