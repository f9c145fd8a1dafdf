// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The model's Control Transfer Records by draft 0.1.4, which the driver is tested against:
 * expectations are from the draft's text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "../../tools/model/ctr/draft.c"

struct ctr_args args = { .max_depth = 256, .options = 0xff7e00001e06ull, .types = true };
struct hart harts[CTR_MAX_HARTS];
static uint64_t x[32];

void log_put(struct hart *h, const struct ctr_log *log)
{
	(void)h;
	(void)log;
}

void control_written(unsigned int vcpu, uint64_t control, uint64_t modes)
{
	(void)vcpu;
	(void)control;
	(void)modes;
}

uint64_t reg_get(unsigned int reg)
{
	return x[reg];
}

void reg_set(unsigned int reg, uint64_t value)
{
	x[reg] = value;
}

#define BIT(n) (1ull << (n))
#define S BIT(1)
#define U BIT(2)
#define CLR BIT(7)
#define STE BIT(9)
#define RASEMU BIT(10)
#define BPFRZ BIT(11)
#define LCOFIFRZ BIT(12)
#define ETEN BIT(38)

/* csrrw x10, csr, x11 */
static uint64_t swap_csr(int csr, uint64_t value)
{
	const struct watched w = { .c = { .csr = csr, .funct3 = 1, .rd = 10, .rs1 = 11 } };

	x[11] = value;
	draft_csr(0, &w);
	return x[10];
}

/* csrrs x10, csr, x0 */
static uint64_t read_reg(int csr)
{
	const struct watched w = { .c = { .csr = csr, .funct3 = 2, .rd = 10 } };

	draft_csr(0, &w);
	return x[10];
}

static uint64_t entry(unsigned int n, int csr)
{
	swap_csr(CSR_SISELECT, 0x200 + n);
	return read_reg(csr);
}

static void begin(uint64_t control)
{
	swap_csr(CSR_DRAFT_CONTROL, control | CLR);
}

static void jump(enum rvt_itype type, uint64_t pc, uint64_t to)
{
	const struct insn_class c = { .itype = type, .halfwords = 2, .offset = 64 };

	draft_transfer(&harts[0], &c, pc, to, 0, 0);
}

static void assert_entry(unsigned int n, unsigned int type, uint64_t source, uint64_t target)
{
	assert_int_equal(entry(n, CSR_SIREG), source | 1);
	assert_int_equal(entry(n, CSR_SIREG2), target);
	assert_int_equal(entry(n, CSR_SIREG3) & 15, type);
}

static void assert_empty(unsigned int n)
{
	assert_int_equal(entry(n, CSR_SIREG) & 1, 0);
}

/* The table of 5.2.1: trap and trap return, source and target mode enabled or inhibited. */
static void test_privilege_table(void **state)
{
	const struct insn_class sret = { .itype = RVT_ITYPE_TRAP_RETURN, .halfwords = 2 };

	(void)state;
	begin(S | U);
	draft_trap(&harts[0], 0x100, 0x900, 8, false, 0, 1);
	assert_entry(0, 1, 0x100, 0x900);
	draft_transfer(&harts[0], &sret, 0x904, 0x104, 1, 0);
	assert_entry(0, 3, 0x904, 0x104);

	begin(U);		/* enabled -> inhibited */
	draft_trap(&harts[0], 0x100, 0x900, 8, false, 0, 1);
	assert_empty(0);
	draft_transfer(&harts[0], &sret, 0x904, 0x104, 1, 0);
	assert_empty(0);	/* return from an inhibited mode */
	begin(U | STE);		/* one handshake bit is not enough */
	draft_trap(&harts[0], 0x100, 0x900, 8, false, 0, 1);
	assert_empty(0);
	begin(U | ETEN);
	draft_trap(&harts[0], 0x100, 0x900, 8, false, 0, 1);
	assert_empty(0);
	begin(U | STE | ETEN | BIT(33) | BIT(34));	/* EXCINH and INTRINH do not matter */
	draft_trap(&harts[0], 0x100, 0x900, 8, false, 0, 1);
	assert_entry(0, 1, 0x100, 0);

	begin(S);		/* inhibited -> enabled, and back */
	draft_trap(&harts[0], 0x100, 0x900, 5, true, 0, 1);
	assert_entry(0, 2, 0, 0x900);
	draft_transfer(&harts[0], &sret, 0x904, 0x104, 1, 0);
	assert_entry(0, 3, 0x904, 0);

	begin(S);		/* inhibited -> inhibited */
	draft_trap(&harts[0], 0x100, 0x900, 7, true, 0, 3);
	assert_empty(0);
}

/* 2.4: WRPTR wraps at depth - 1, which sets WRAP; the oldest entry gives way. */
static void test_wrap(void **state)
{
	(void)state;
	begin(U);
	for (unsigned int i = 0; i < 15; i++)
		jump(RVT_ITYPE_JUMP, 0x1000 + 16 * i, 0x2000);
	assert_int_equal(read_reg(CSR_DRAFT_STATUS), 15);
	assert_empty(15);
	jump(RVT_ITYPE_JUMP, 0x10f0, 0x2000);
	assert_int_equal(read_reg(CSR_DRAFT_STATUS), BIT(14));
	assert_entry(15, 11, 0x1000, 0x2000);
	jump(RVT_ITYPE_JUMP, 0x1100, 0x2000);
	assert_entry(0, 11, 0x1100, 0x2000);
	assert_entry(15, 11, 0x1010, 0x2000);
	swap_csr(CSR_DRAFT_CONTROL, U | CLR);
	assert_int_equal(read_reg(CSR_DRAFT_STATUS), 0);
	assert_int_equal(read_reg(CSR_DRAFT_CONTROL) & CLR, 0);
	assert_empty(0);
}

/* Codes of 2.1; discovery of chapter 6; entries above the depth read 0. */
static void test_depth(void **state)
{
	static const unsigned int codes[] = { 0, 1, 3, 7, 15 };

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		unsigned int depth = 16u << i;

		begin(U | (uint64_t)codes[i] << 16);
		assert_int_equal(read_reg(CSR_DRAFT_CONTROL) >> 16 & 15, codes[i]);
		for (unsigned int n = 0; n < depth + 3; n++)
			jump(RVT_ITYPE_JUMP, 0x1000 + 2 * n, 0x2000);
		assert_entry(depth - 1, 11, 0x1000 + 2 * 3, 0x2000);
		if (depth < 256)
			assert_int_equal(entry(depth, CSR_SIREG), 0);
	}
	args.max_depth = 64;
	begin(15u << 16);
	assert_int_equal(read_reg(CSR_DRAFT_CONTROL) >> 16 & 15, 3);
	args.max_depth = 256;
}

/* 5.4, with the limits that it names: longjmp leaves stale calls. */
static void test_ras(void **state)
{
	(void)state;
	begin(U | RASEMU | BIT(41));	/* filters are ignored */
	jump(RVT_ITYPE_CALL, 0x100, 0x1000);
	jump(RVT_ITYPE_BRANCH_TAKEN, 0x1000, 0x1040);
	jump(RVT_ITYPE_IND_CALL, 0x1040, 0x2000);
	assert_entry(0, 8, 0x1040, 0x2000);
	assert_entry(1, 9, 0x100, 0x1000);
	jump(RVT_ITYPE_RETURN, 0x2004, 0x1044);
	assert_entry(0, 9, 0x100, 0x1000);
	assert_empty(1);
	assert_int_equal(entry(15, CSR_SIREG) & 1, 0);	/* where the popped entry went */
	jump(RVT_ITYPE_COROUTINE, 0x1050, 0x3000);	/* return, call: entry 0 is overwritten */
	assert_entry(0, 12, 0x1050, 0x3000);
	assert_empty(1);
	jump(RVT_ITYPE_CALL, 0x3000, 0x4000);
	jump(RVT_ITYPE_IND_JUMP, 0x4000, 0x104);	/* longjmp to the outermost frame */
	jump(RVT_ITYPE_CALL, 0x108, 0x5000);
	assert_entry(0, 9, 0x108, 0x5000);
	assert_entry(1, 9, 0x3000, 0x4000);
	assert_entry(2, 12, 0x1050, 0x3000);
}

/* 5.3: invalid after a write to the control register; then the time since the record before. */
static void test_cycles(void **state)
{
	(void)state;
	begin(U);
	harts[0].insns = 1000;
	jump(RVT_ITYPE_JUMP, 0x100, 0x200);
	assert_int_equal(entry(0, CSR_SIREG3), 11);
	harts[0].insns = 1100;
	jump(RVT_ITYPE_JUMP, 0x100, 0x200);
	assert_int_equal(entry(0, CSR_SIREG3), 100 << 16 | 1 << 15 | 11);
	harts[0].insns += 8194;
	jump(RVT_ITYPE_JUMP, 0x100, 0x200);
	assert_int_equal(entry(0, CSR_SIREG3), 2u << 28 | 1 << 16 | 1 << 15 | 11);
	harts[0].insns += 1ull << 40;
	jump(RVT_ITYPE_JUMP, 0x100, 0x200);
	assert_int_equal(entry(0, CSR_SIREG3), 0xffffu << 16 | 1 << 15 | 11);
	swap_csr(CSR_DRAFT_CONTROL, U);
	jump(RVT_ITYPE_JUMP, 0x100, 0x200);
	assert_int_equal(entry(0, CSR_SIREG3), 11);
}

/* 3.2: MISP. The model's predictor expects branches back to be taken, and no others. */
static void test_mispredicted(void **state)
{
	static const struct {
		enum rvt_itype type;
		int64_t offset;
		bool mispredicted;
	} table[] = {
		{ RVT_ITYPE_BRANCH_TAKEN, 64, true }, { RVT_ITYPE_BRANCH_TAKEN, -64, false },
		{ RVT_ITYPE_BRANCH_NOT_TAKEN, 64, false },
		{ RVT_ITYPE_BRANCH_NOT_TAKEN, -64, true },
		{ RVT_ITYPE_CALL, 64, false }, { RVT_ITYPE_RETURN, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct insn_class c = { .itype = table[i].type, .halfwords = 2,
					      .offset = table[i].offset };

		begin(U | BIT(36));
		draft_transfer(&harts[0], &c, 0x1000, 0x2000, 0, 0);
		assert_int_equal(entry(0, CSR_SIREG2), 0x2000 | table[i].mispredicted);
	}
}

/* 2.1: fields that a hart does not have are read-only 0, also when all bits are written. */
static void test_few_fields(void **state)
{
	const uint64_t all = args.options;

	(void)state;
	args.options = S | U | BPFRZ;
	begin(S | U | RASEMU | LCOFIFRZ | ETEN);
	assert_int_equal(read_reg(CSR_DRAFT_CONTROL) & ~(0xfull << 16), S | U);
	swap_csr(CSR_DRAFT_CONTROL, ~0ull & ~CLR);
	assert_int_equal(read_reg(CSR_DRAFT_CONTROL) & ~(0xfull << 16), S | U | BPFRZ);
	args.options = all;
}

/* 3.3: TYPE may be missing. */
static void test_no_types(void **state)
{
	(void)state;
	args.types = false;
	begin(U);
	jump(RVT_ITYPE_CALL, 0x100, 0x200);
	assert_entry(0, 0, 0x100, 0x200);
	swap_csr(CSR_SIREG3, 0xffffffffull);
	assert_int_equal(read_reg(CSR_SIREG3) & 0x7fff, 0);
	args.types = true;
}

/* 5.5 */
static void test_freeze(void **state)
{
	(void)state;
	begin(S | U | LCOFIFRZ | BPFRZ);
	jump(RVT_ITYPE_JUMP, 0x100, 0x200);
	draft_trap(&harts[0], 0x200, 0x900, 13, true, 0, 1);
	assert_int_equal(read_reg(CSR_DRAFT_STATUS), BIT(15) | 1);
	jump(RVT_ITYPE_JUMP, 0x300, 0x400);
	assert_entry(0, 11, 0x100, 0x200);
	swap_csr(CSR_DRAFT_STATUS, 1);
	draft_trap(&harts[0], 0x210, 0x900, 3, false, 0, 1);
	assert_true(read_reg(CSR_DRAFT_STATUS) & BIT(15));
	assert_entry(0, 11, 0x100, 0x200);
	begin(S | U);		/* not asked for: recorded */
	draft_trap(&harts[0], 0x200, 0x900, 13, true, 0, 1);
	assert_entry(0, 2, 0x200, 0x900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_privilege_table),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_ras),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_mispredicted),
		cmocka_unit_test(test_few_fields),
		cmocka_unit_test(test_no_types),
		cmocka_unit_test(test_freeze),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
