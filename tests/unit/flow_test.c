// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: every order and stop by hand, with both walks.
 */
#include <errno.h>
#include "flow-fixture.h"
#include "memo-key.h"
#include "flow/memo/memos.h"

static void check_pcs(struct fixture *f, size_t n, ...)
{
	va_list args;

	rvt_flow_flush(f->flow);
	assert_int_equal(f->out.n, n);
	va_start(args, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(f->out.pcs[i], va_arg(args, int));
	va_end(args);
	f->out.n = 0;
}

static void check_pc(struct fixture *f, uint64_t want)
{
	uint64_t pc;

	assert_true(rvt_flow_pc(f->flow, &pc));
	assert_int_equal(pc, want);
}

/*
 * 1000 nop; 1004 c.nop; 1006 beq 1000; 100a c.nop; 100c j 1010; 1010 c.beqz 100a; 1012 ecall
 */
static void load_branches(struct fixture *f)
{
	rv_put(&f->code, RV_NOP);
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_branch(-6));
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_jal(RV_ZERO, 4));
	rv_put(&f->code, rv_c_branch(-6));
	rv_put(&f->code, RV_ECALL);
	load(f);
}

static void test_outcomes(void **state)
{
	struct rvt_order o = unlimited();
	struct rvt_flow_stats stats = { .size = sizeof(stats) };
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	load_branches(&f);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_LOST);
	assert_int_equal(rvt_flow_start(f.flow, 0x1000, 0, true), 0);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_OUTCOME);
	check_pcs(&f, 2, 0x1000, 0x1004);
	check_pc(&f, 0x1006);
	o.n_outcomes = 3;
	o.outcomes = 1;		/* taken, not, not */
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	check_pcs(&f, 7, 0x1006, 0x1000, 0x1004, 0x1006, 0x100a, 0x100c, 0x1010);
	assert_int_equal(o.used_outcomes, 3);
	assert_int_equal(o.halfwords, 2 + 2 + 1 + 2 + 1 + 2 + 1);
	check_pc(&f, 0x1012);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	check_pcs(&f, 0);
	rvt_flow_stats(f.flow, &stats);
	assert_int_equal(stats.insns, 9);
	assert_int_equal(stats.branches, 3);
	assert_int_equal(stats.taken, 1);
	assert_string_equal(f.out.events, "[");
	tear_down(&f);
}

static void test_limits(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	load_branches(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.max_halfwords = 1;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_MID_INSN);
	assert_int_equal(o.halfwords, 0);
	o.max_halfwords = 0;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_HALFWORDS);
	check_pcs(&f, 0);
	o.max_halfwords = 3;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_HALFWORDS);
	check_pcs(&f, 2, 0x1000, 0x1004);
	/* the limit is reached before the branch asks for an outcome */
	o.max_halfwords = 0;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_HALFWORDS);
	o.max_halfwords = RVT_UNLIMITED;
	o.max_insns = 1;
	o.n_outcomes = 1;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
	check_pcs(&f, 1, 0x1006);
	assert_int_equal(o.used_outcomes, 1);
	check_pc(&f, 0x100a);
	tear_down(&f);
}

static void test_stop_pc(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	load_branches(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.flags = RVT_RUN_STOP_PC;
	o.stop_pc = 0x1000;
	o.n_outcomes = 2;
	o.outcomes = 3;
	/* reached with an outcome left: goes on; not tested before the first instruction */
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_PC);
	check_pcs(&f, 6, 0x1000, 0x1004, 0x1006, 0x1000, 0x1004, 0x1006);
	check_pc(&f, 0x1000);
	o.n_outcomes = 0;
	o.stop_pc = 0x1006;	/* before the question for an outcome */
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_PC);
	check_pcs(&f, 2, 0x1000, 0x1004);
	o.n_outcomes = 2;
	o.outcomes = 0;
	o.stop_pc = 0x1012;	/* before the ecall */
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_PC);
	check_pcs(&f, 4, 0x1006, 0x100a, 0x100c, 0x1010);
	/* the middle of an instruction is never reached */
	rvt_flow_jump(f.flow, 0x1000);
	o.n_outcomes = 0;
	o.stop_pc = 0x1002;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_OUTCOME);
	check_pcs(&f, 2, 0x1000, 0x1004);
	tear_down(&f);
}

static void test_used(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	load_branches(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.flags = RVT_RUN_STOP_USED;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_USED);
	check_pcs(&f, 0);
	o.n_outcomes = 1;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_USED);
	check_pcs(&f, 3, 0x1000, 0x1004, 0x1006);
	o.outcomes = 0;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);	/* has priority */
	check_pcs(&f, 3, 0x100a, 0x100c, 0x1010);
	tear_down(&f);
}

/* BTM: I-CNT to the taken branch, whatever lies between */
static void test_btm(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	load_branches(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.flags = RVT_RUN_NOT_TAKEN | RVT_RUN_LAST_TAKEN;
	o.max_halfwords = 2 + 1 + 2 + 1 + 2 + 1;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_HALFWORDS);
	check_pcs(&f, 6, 0x1000, 0x1004, 0x1006, 0x100a, 0x100c, 0x1010);
	check_pc(&f, 0x100a);	/* the last one taken, the first not */
	o.flags |= RVT_RUN_ALL_JUMPS;
	o.max_halfwords = 3;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_HALFWORDS);
	check_pcs(&f, 2, 0x100a, 0x100c);
	/* a jump in the middle would have been reported */
	rvt_flow_jump(f.flow, 0x100a);
	o.max_halfwords = 4;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_OUTCOME);
	check_pcs(&f, 1, 0x100a);
	tear_down(&f);
}

static void test_all_jumps(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	load_branches(&f);
	rvt_flow_start(f.flow, 0x100a, 0, true);
	o.flags = RVT_RUN_ALL_JUMPS;
	o.n_outcomes = 2;
	o.outcomes = 1;		/* the jump, branch not taken */
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	check_pcs(&f, 3, 0x100a, 0x100c, 0x1010);
	rvt_flow_jump(f.flow, 0x100a);
	o.outcomes = 2;		/* a jump cannot be "not taken" */
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_OUTCOME);
	assert_int_equal(o.used_outcomes, 0);
	check_pcs(&f, 1, 0x100a);
	tear_down(&f);
}

/*
 * 1000 jal ra,1010; 1004 c.nop; 1006 jalr ra,0(t1); 100a c.jr t1
 * 1010 c.nop; 1012 ret
 */
static void load_calls(struct fixture *f)
{
	rv_put(&f->code, rv_jal(RV_RA, 0x10));
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_jalr(RV_RA, RV_T1, 0));
	rv_put(&f->code, rv_c_jr(RV_T1));
	rv_put(&f->code, RV_NOP);
	rv_put(&f->code, RV_C_NOP);
	rv_put(&f->code, rv_c_jr(RV_RA));
	load(f);
}

static void test_returns(void **state)
{
	struct rvt_order o = unlimited();
	enum rvt_insn_class iclass;
	struct fixture f;
	uint64_t pc;

	(void)state;
	set_up(&f, 0, 4);
	load_calls(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_false(rvt_flow_last(f.flow, &pc, &iclass));
	/* explicit: stops, popped all the same */
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	check_pcs(&f, 3, 0x1000, 0x1010, 0x1012);
	assert_true(o.popped_valid);
	assert_int_equal(o.popped, 0x1004);
	assert_true(rvt_flow_last(f.flow, &pc, &iclass));
	assert_int_equal(pc, 0x1012);
	assert_int_equal(iclass, RVT_INSN_RETURN);
	/* implicit */
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.flags = RVT_RUN_IMPLICIT_RETURN;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	check_pcs(&f, 5, 0x1000, 0x1010, 0x1012, 0x1004, 0x1006);
	assert_int_equal(o.implicit_returns, 1);
	assert_int_equal(rvt_flow_return_depth(f.flow), 1);	/* of the indirect call */
	assert_true(rvt_flow_return_at(f.flow, 0, &pc));
	assert_int_equal(pc, 0x100a);
	assert_false(rvt_flow_return_at(f.flow, 1, &pc));
	rvt_flow_jump(f.flow, 0x1010);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	check_pcs(&f, 3, 0x1010, 0x1012, 0x100a);
	/* an empty stack does not infer */
	rvt_flow_jump(f.flow, 0x1012);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	assert_false(o.popped_valid);
	/* RVT_RUN_STOP_RETURN */
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.flags = RVT_RUN_STOP_RETURN;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_RETURN);
	assert_true(o.popped_valid);
	assert_int_equal(o.popped, 0x1004);
	assert_int_equal(rvt_flow_return_depth(f.flow), 0);
	tear_down(&f);
}

static void test_stack_overflow(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;
	uint64_t pc;

	(void)state;
	set_up(&f, 0, 2);
	rv_put(&f.code, rv_jal(RV_RA, 4));	/* 1000, 1004, 1008: calls of what follows */
	rv_put(&f.code, rv_jal(RV_RA, 4));
	rv_put(&f.code, rv_jal(RV_RA, 4));
	rv_put(&f.code, rv_c_jr(RV_RA));		/* 100c */
	load(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.flags = RVT_RUN_IMPLICIT_RETURN;
	/* returns to 100c, then to 1008 (which calls again), never to the forgotten 1004 */
	o.max_insns = 4;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
	check_pc(&f, 0x100c);
	assert_int_equal(rvt_flow_return_depth(f.flow), 1);
	assert_true(rvt_flow_return_at(f.flow, 0, &pc));
	assert_int_equal(pc, 0x1008);
	/* recursion counter: the same return address takes no further entry */
	assert_int_equal(rvt_flow_set_return_stack(f.flow, 1, 1), 0);
	rvt_flow_jump(f.flow, 0x1008);
	o.max_insns = 1;
	rvt_flow_run(f.flow, &o);
	rvt_flow_jump(f.flow, 0x1008);
	rvt_flow_run(f.flow, &o);
	assert_int_equal(rvt_flow_return_depth(f.flow), 1);
	rvt_flow_jump(f.flow, 0x100c);
	rvt_flow_run(f.flow, &o);
	assert_int_equal(rvt_flow_return_depth(f.flow), 1);
	rvt_flow_run(f.flow, &o);
	assert_int_equal(rvt_flow_return_depth(f.flow), 0);
	assert_int_equal(o.implicit_returns, 1);
	tear_down(&f);
}

static void test_coroutine(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;
	uint64_t pc;

	(void)state;
	set_up(&f, 0, 4);
	rv_put(&f.code, rv_jal(RV_T0, 8));		/* 1000: calls 1008 */
	rv_put(&f.code, rv_c_jr(RV_T1));		/* 1004 */
	rv_put(&f.code, RV_C_NOP);
	rv_put(&f.code, rv_jalr(RV_RA, RV_T0, 0));	/* 1008: back to 1004, pushes 100c */
	load(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.flags = RVT_RUN_COROUTINE | RVT_RUN_IMPLICIT_RETURN;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	check_pcs(&f, 3, 0x1000, 0x1008, 0x1004);
	assert_true(rvt_flow_return_at(f.flow, 0, &pc));
	assert_int_equal(pc, 0x100c);
	/* without the flag it is any indirect jump */
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.flags = RVT_RUN_IMPLICIT_RETURN;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	check_pcs(&f, 2, 0x1000, 0x1008);
	assert_true(rvt_flow_return_at(f.flow, 0, &pc));
	assert_int_equal(pc, 0x1004);
	tear_down(&f);
}

static void test_sequential(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;
	uint64_t pc;

	(void)state;
	set_up(&f, 0, 4);
	f.code.base = f.code.pc = 0x3000;
	rv_put(&f.code, rv_auipc(RV_T1, 0));		/* 3000 */
	rv_put(&f.code, rv_jalr(RV_RA, RV_T1, 0x10));		/* 3004: to 3010 */
	rv_put(&f.code, RV_NOP);
	rv_put(&f.code, RV_NOP);
	rv_put(&f.code, rv_lui(RV_T1, 3));		/* 3010 */
	rv_put(&f.code, rv_jalr(RV_ZERO, RV_T1, 0x1c));		/* 3014: to 301c */
	rv_put(&f.code, RV_NOP);
	rv_put(&f.code, rv_lui(RV_T1, 3));		/* 301c */
	rv_put(&f.code, RV_NOP);				/* 3020: in between */
	rv_put(&f.code, rv_c_jr(RV_T1));			/* 3024 */
	load(&f);
	rvt_flow_start(f.flow, 0x3000, 0, true);
	o.flags = RVT_RUN_SEQUENTIAL_JUMP;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	check_pcs(&f, 7, 0x3000, 0x3004, 0x3010, 0x3014, 0x301c, 0x3020, 0x3024);
	assert_true(rvt_flow_return_at(f.flow, 0, &pc));
	assert_int_equal(pc, 0x3008);
	/* two orders: still executed in a row */
	rvt_flow_jump(f.flow, 0x3010);
	o.max_insns = 1;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
	check_pc(&f, 0x301c);
	/* a jump to the jalr: nothing is known */
	rvt_flow_jump(f.flow, 0x3014);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	/* without the flag */
	rvt_flow_jump(f.flow, 0x3010);
	o.flags = 0;
	o.max_insns = RVT_UNLIMITED;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	tear_down(&f);
}

static void test_absolute(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	f.code.base = f.code.pc = 0x100;
	rv_put(&f.code, rv_jalr(RV_ZERO, RV_ZERO, 0x106));
	rv_put(&f.code, RV_C_NOP);
	rv_put(&f.code, RV_SRET);
	load(&f);
	rvt_flow_start(f.flow, 0x100, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	check_pcs(&f, 1, 0x100);
	rvt_flow_start(f.flow, 0x100, 0, true);
	o.flags = RVT_RUN_ABSOLUTE_JUMP;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	check_pcs(&f, 2, 0x100, 0x106);
	tear_down(&f);
}

static void test_code_ends(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;
	struct rvt_insn insn;

	(void)state;
	set_up(&f, 0, 0);
	rv_put(&f.code, RV_C_NOP);
	rv_put(&f.code, RV_NOP);		/* 1002 */
	load(&f);
	rvt_flow_start(f.flow, 0x2000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_NO_CODE);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_NO_CODE);
	check_pcs(&f, 2, 0x1000, 0x1002);
	check_pc(&f, 0x1006);
	/* the rest appears, then an illegal instruction */
	assert_int_equal(rvt_space_map_bytes(f.space, 0x1006, "\x01\0\0\0", 4, "more"), 0);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_BAD_INSN);
	check_pcs(&f, 1, 0x1006);
	check_pc(&f, 0x1008);
	assert_int_equal(rvt_flow_peek(f.flow, &insn), -EILSEQ);
	assert_int_equal(rvt_flow_peek_at(f.flow, 0x1002, &insn), 0);
	assert_int_equal(insn.len_bytes, 4);
	assert_int_equal(rvt_flow_peek_at(f.flow, 0x2000, &insn), -ENOENT);
	/* no space at all */
	rvt_flow_set_space(f.flow, NULL);
	rvt_flow_jump(f.flow, 0x1000);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_NO_CODE);
	tear_down(&f);
}

/* An instruction that lies in two mappings, and half of one. */
static void test_straddle(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	rvt_space_map_bytes(f.space, 0x1000, "\x01\0\x13\0", 4, "a");	/* c.nop; half of nop */
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_NO_CODE);
	check_pcs(&f, 1, 0x1000);
	rvt_space_map_bytes(f.space, 0x1004, "\0\0\x02\x90", 4, "b");	/* rest; c.ebreak */
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	check_pcs(&f, 1, 0x1002);
	check_pc(&f, 0x1006);
	tear_down(&f);
}

/* Code changes while blocks of it are cached and linked. */
static void test_invalidation(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	load_branches(&f);
	o.n_outcomes = 3;
	o.outcomes = 1;
	for (int i = 0; i < 2; i++) {
		rvt_flow_start(f.flow, 0x1000, 0, true);
		assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
		check_pcs(&f, 9, 0x1000, 0x1004, 0x1006, 0x1000, 0x1004, 0x1006, 0x100a, 0x100c,
			  0x1010);
	}
	/* text poke: the jump at 100c becomes a nop, what is around it stays */
	rvt_space_map_bytes(f.space, 0x100c, "\x13\0\0\0", 4, "poke");
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	check_pcs(&f, 9, 0x1000, 0x1004, 0x1006, 0x1000, 0x1004, 0x1006, 0x100a, 0x100c, 0x1010);
	rvt_space_map_bytes(f.space, 0x100c, "\x73\0\0\0", 4, "poke");	/* ecall */
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	check_pcs(&f, 7, 0x1000, 0x1004, 0x1006, 0x1000, 0x1004, 0x1006, 0x100a);
	/* stopped in mid-block, the rest of which goes away */
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.max_halfwords = 2;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_HALFWORDS);
	rvt_space_unmap(f.space, 0x1004, 0x100);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_NO_CODE);
	check_pc(&f, 0x1004);
	tear_down(&f);
}

/* Part of an object's mapping goes away: blocks and links that reach into it must not be used. */
static void test_partial_mapping(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;
	struct rvt_space *child;

	(void)state;
	set_up(&f, 0, 0);
	load_branches(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.n_outcomes = 2;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	assert_int_equal(rvt_space_clone(f.space, &child), 0);
	rvt_space_unmap(child, 0x100e, 2);	/* second half of the jump */
	rvt_flow_flush(f.flow);
	f.out.n = 0;
	rvt_flow_set_space(f.flow, child);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_NO_CODE);
	check_pcs(&f, 4, 0x1000, 0x1004, 0x1006, 0x100a);
	check_pc(&f, 0x100c);
	rvt_flow_set_space(f.flow, f.space);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	tear_down(&f);
}

static void test_ecall_counts(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	rv_put(&f.code, RV_C_NOP);
	rv_put(&f.code, RV_ECALL);
	load(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	o.flags = RVT_RUN_ECALL_COUNTS;
	o.max_halfwords = 3;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	assert_int_equal(o.halfwords, 3);
	check_pcs(&f, 1, 0x1000);
	check_pc(&f, 0x1002);
	o.max_halfwords = 1;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_MID_INSN);
	o.flags = 0;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TRAP_INSN);
	assert_int_equal(o.halfwords, 0);
	tear_down(&f);
}

static void test_rv32(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;
	uint64_t pc;

	(void)state;
	set_up(&f, RVT_ISA_RV32, 4);
	f.code.base = f.code.pc = 0xfffffffa;
	rv_put(&f.code, 0x2021);		/* c.jal .+8: wraps to 2 */
	rv_put(&f.code, rv_jal(RV_ZERO, 6));		/* fffffffc: to 2 as well */
	f.code.pc = f.code.base + 6;
	load(&f);
	rvt_space_map_bytes(f.space, 0, "\x01\0\x82\x80", 4, "low");
	rvt_flow_start(f.flow, 0xfffffffffffffffa, 0, true);
	check_pc(&f, 0xfffffffa);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	rvt_flow_flush(f.flow);
	assert_int_equal(f.out.n, 2);
	assert_int_equal(f.out.pcs[1], 2);
	assert_true(o.popped_valid);
	assert_int_equal(o.popped, 0xfffffffc);
	rvt_flow_jump(f.flow, 0xfffffffc);
	o.max_insns = 1;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
	assert_true(rvt_flow_pc(f.flow, &pc));
	assert_int_equal(pc, 2);
	tear_down(&f);
}

static void test_zcmt(void **state)
{
	const uint8_t table[16] = { [8] = 0x00, [9] = 0x20 };	/* entry 1: 2000 */
	struct rvt_flow_config config = {
		.size = sizeof(config), .isa = RVT_ISA_ZCMT, .return_stack_depth = 4, .jvt = 0x4000,
		.reference_walk = reference,
	};
	struct rvt_order o = unlimited();
	struct rvt_flow *flow;
	struct rvt_flow_sink sink;
	struct fixture f;

	(void)state;
	set_up(&f, RVT_ISA_ZCMT, 4);
	rv_put(&f.code, 0xa006);	/* cm.jt 1 */
	load(&f);
	rvt_space_map_bytes(f.space, 0x4000, table, sizeof(table), "jvt");
	rvt_space_map_bytes(f.space, 0x2000, "\x82\x80", 2, "ret");
	/* jvt not known: as any indirect jump */
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_TARGET);
	check_pcs(&f, 1, 0x1000);
	sink = (struct rvt_flow_sink){ sizeof(sink), &f.out, on_runs, on_event };
	assert_int_equal(rvt_flow_create(&config, &sink, &flow), 0);
	rvt_flow_set_space(flow, f.space);
	rvt_flow_start(flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(flow, &o), RVT_STOP_TARGET);
	rvt_flow_flush(flow);
	check_pcs(&f, 2, 0x1000, 0x2000);
	rvt_flow_destroy(flow);
	tear_down(&f);
}

static void test_events(void **state)
{
	struct rvt_event trap = { .type = RVT_EVENT_TRAP, .pc = 0x1004, .target = 0x1010,
				  .interrupt = true };
	struct rvt_event other = { .type = RVT_EVENT_CONTEXT };
	struct rvt_order o = unlimited();
	struct rvt_flow_stats stats = { .size = sizeof(stats) };
	struct fixture f;
	uint64_t pc;

	(void)state;
	set_up(&f, 0, 0);
	load_branches(&f);
	rvt_flow_start(f.flow, 0x1000, 0x55, true);
	assert_int_equal(f.out.last.offset, 0x55);
	assert_int_equal(f.out.last.pc, 0x1000);
	o.max_insns = 1;
	rvt_flow_run(f.flow, &o);
	assert_int_equal(f.out.n, 0);	/* batched */
	rvt_flow_trap(f.flow, &trap);
	assert_int_equal(f.out.n, 1);	/* delivered before the event */
	check_pc(&f, 0x1010);
	rvt_flow_event(f.flow, &other);
	assert_int_equal(f.out.last.pc, 0x1010);
	check_pc(&f, 0x1010);
	other.type = RVT_EVENT_STOP;
	rvt_flow_event(f.flow, &other);
	assert_false(rvt_flow_pc(f.flow, &pc));
	rvt_flow_start(f.flow, 0x1000, 0, true);
	other.type = RVT_EVENT_LOST;
	rvt_flow_event(f.flow, &other);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_LOST);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	trap.target = RVT_UNLIMITED;
	rvt_flow_trap(f.flow, &trap);
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_LOST);
	assert_string_equal(f.out.events, "[TC][L[T");
	rvt_flow_stats(f.flow, &stats);
	assert_int_equal(stats.traps, 2);
	assert_int_equal(stats.gaps, 1);
	tear_down(&f);
}

/* Times before something is to happen are not told; but of a new slice the first one is. */
static void test_time_filter(void **state)
{
	struct rvt_event time = { .type = RVT_EVENT_TIME, .time = 5 };
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	load(&f);
	rvt_flow_set_time_filter(f.flow, 1000);
	rvt_flow_event(f.flow, &time);
	assert_string_equal(f.out.events, "");
	rvt_flow_begin_slice(f.flow, false);
	rvt_flow_event(f.flow, &time);
	assert_string_equal(f.out.events, "t");
	tear_down(&f);
}

static void test_sink_error(void **state)
{
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	rv_put(&f.code, rv_c_j(0));	/* an endless loop fills batch after batch */
	load(&f);
	f.out.refuse_after = 3;
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_int_equal(rvt_flow_run(f.flow, &o), -ECANCELED);
	assert_int_equal(rvt_flow_flush(f.flow), 77);
	assert_int_equal(rvt_flow_run(f.flow, &o), -ECANCELED);
	assert_int_equal(rvt_flow_start(f.flow, 0x1000, 0, true), 77);
	tear_down(&f);
}

/*
 * A message of more runs than a memo holds, and than several batches do: they are delivered, and
 * that is all.
 */
static void test_long_memo(void **state)
{
	struct rvt_memo_key key = { .bytes = { 1 } };
	struct rvt_order o = unlimited();
	struct fixture f;

	(void)state;
	set_up(&f, 0, 0);
	rv_put(&f.code, rv_c_j(0));
	load(&f);
	rvt_flow_start(f.flow, 0x1000, 0, true);
	assert_true(enter_memos(f.flow, &key));
	/* the first time is only noted */
	rvt_memos_record(f.flow, &key);
	assert_false(rvt_memos_recording(f.flow));
	rvt_memos_record(f.flow, &key);
	assert_true(rvt_memos_recording(f.flow));
	o.max_insns = MAX_PCS;
	assert_int_equal(rvt_flow_run(f.flow, &o), RVT_STOP_INSNS);
	assert_true(f.flow->body.too_long);
	rvt_memos_keep(f.flow, 0x1000, 0, 0);
	assert_null(rvt_memos_look_up(f.flow->base.memos, &key, rvt_memo_hash(&key)));
	rvt_flow_flush(f.flow);
	assert_int_equal(f.out.n, MAX_PCS);
	tear_down(&f);
}

static int with_blocks(void **state)
{
	(void)state;
	reference = false;
	return 0;
}

static int with_reference(void **state)
{
	(void)state;
	reference = true;
	return 0;
}

#define BOTH(t) { #t " (blocks)", t, with_blocks, NULL, NULL }, \
		{ #t " (reference)", t, with_reference, NULL, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_outcomes),
		BOTH(test_limits),
		BOTH(test_stop_pc),
		BOTH(test_used),
		BOTH(test_btm),
		BOTH(test_all_jumps),
		BOTH(test_returns),
		BOTH(test_stack_overflow),
		BOTH(test_coroutine),
		BOTH(test_sequential),
		BOTH(test_absolute),
		BOTH(test_code_ends),
		BOTH(test_straddle),
		BOTH(test_invalidation),
		BOTH(test_partial_mapping),
		BOTH(test_ecall_counts),
		BOTH(test_rv32),
		BOTH(test_zcmt),
		BOTH(test_events),
		BOTH(test_time_filter),
		BOTH(test_sink_error),
		cmocka_unit_test_setup(test_long_memo, with_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
