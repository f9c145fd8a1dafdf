// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Random programs, walked at random, through an encoder with random parameters and options, in
 * every dialect: the decoder must give back every instruction, trap, mark and timestamp. Once
 * more with packets that do not get out: what is decoded must be pieces of what was executed,
 * in order.
 *
 * RVT_PROPERTY_CASES sets the number of cases, RVT_PROPERTY_SEED the first one,
 * RVT_PROPERTY_OPTIONS a mask of the options to try, RVT_PROPERTY_DIALECT the only dialect (0,
 * 1, 2); RVT_PROPERTY_VERBOSE=1 prints everything.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/dump.h>
#include <rvtrace/etrace.h>
#include <rvtrace/image.h>
#include <rvtrace/insn.h>
#include <rvtrace/stream.h>
#include "rv-asm.h"

#define INSNS 400
#define STEPS 4000
#define MAX_PCS (STEPS + 8)
#define MAX_STACK 4000
#define NO_INSN -1
#define ENOUGH 7	/* ends decoding */

enum kind {
	LINEAR, BRANCH, JUMP, CALL, JUMP_LINKED, IND_CALL, IND_JUMP, IND_JUMP_LINKED, COROUTINE,
	RETURN, TRAP_RETURN, ENV, ABSOLUTE, LOAD, SEQUENTIAL, KINDS
};

struct insn {
	enum kind kind;
	uint64_t pc;
	unsigned int halfwords;
	int target;		/* index; BRANCH and jumps, SEQUENTIAL if its LOAD precedes */
	int favourite;		/* of indirect jumps */
	unsigned int period;	/* of branches; 0: random */
	unsigned int count;
	uint8_t rd;
	uint8_t bytes[8];
};

struct trap_seen {
	size_t at;		/* number of pcs before */
	uint64_t epc, handler, cause, tval;
	bool interrupt;
};

/* What was executed, or what was decoded. */
struct history {
	uint64_t pcs[MAX_PCS];
	size_t n_pcs;
	struct trap_seen traps[MAX_PCS];
	size_t n_traps;
	size_t marks[MAX_PCS];
	size_t n_marks;
	size_t starts[MAX_PCS];	/* number of pcs before each START */
	size_t n_starts, n_stops, n_lost;
	struct { size_t at; uint8_t prv; } prvs[MAX_PCS];
	size_t n_prvs;
	uint64_t context, time;
};

struct world {
	uint64_t state;		/* of the random numbers */
	struct rvt_etrace_encoder_config config;
	struct rvt_params params;
	struct rvt_etrace_encoder *enc;
	bool lossy, single;	/* single: runs of one instruction */
	bool damaged;
	bool draft;

	struct insn insns[INSNS];
	uint8_t code[INSNS * 8];
	uint64_t stack[MAX_STACK];
	int depth;
	int previous;		/* index of the instruction retired just before, or NO_INSN */
	uint8_t prv;
	bool nothing_retired;	/* since the last trap or start */
	bool after_trap;

	struct rvt_retire run;	/* not yet given to the encoder */
	bool in_run;
	uint64_t time;
	uint8_t *trace;
	size_t len, size;
	unsigned int refuse;	/* packets that are still dropped */

	struct history executed, decoded;
	uint64_t n_decoded;
	struct rvt_flow *flow;
	struct rvt_space *space;
};

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 0) : otherwise;
}

static uint64_t random64(struct world *w)
{
	w->state ^= w->state >> 12;
	w->state ^= w->state << 25;
	w->state ^= w->state >> 27;
	return w->state * UINT64_C(0x2545f4914f6cdd1d);
}

static unsigned int below(struct world *w, unsigned int n)
{
	return (random64(w) >> 32) % n;
}

static bool one_in(struct world *w, unsigned int n)
{
	return !below(w, n);
}

/* ---- the program ---- */

static unsigned int random_length(struct world *w, enum kind kind)
{
	static const uint8_t linear[] = { 1, 1, 1, 2, 2, 2, 2, 3, 4 };

	if (w->params.iaddress_lsb_p == 2)
		return 2;
	switch (kind) {
	case LINEAR:
		return linear[below(w, sizeof(linear))];
	case BRANCH:
	case JUMP:
	case RETURN:
	case IND_CALL:
	case IND_JUMP:
	case ENV:
		return 1 + below(w, 2);
	default:
		return 2;
	}
}

static void choose_kinds(struct world *w, uint64_t base)
{
	static const enum kind often[] = {
		LINEAR, LINEAR, LINEAR, LINEAR, LINEAR, BRANCH, BRANCH, BRANCH, CALL, RETURN, LOAD,
	};
	uint64_t pc = base;

	for (int i = 0; i < INSNS; i++) {
		struct insn *insn = &w->insns[i];

		insn->kind = one_in(w, 4) ? below(w, SEQUENTIAL) : often[below(w, 11)];
		/* Forward jumps and calls only (see encode()): they need somewhere to go. */
		if (i >= INSNS - 4)
			insn->kind = i % 2 ? IND_JUMP : LINEAR;
		if (i && w->insns[i - 1].kind == LOAD)
			insn->kind = SEQUENTIAL;
		if (insn->kind == ABSOLUTE && base >= 0x800 - 2)
			insn->kind = LINEAR;
		insn->halfwords = random_length(w, insn->kind);
		insn->pc = pc;
		pc += 2 * insn->halfwords;
	}
}

/*
 * Branches go anywhere near. Direct jumps and calls go forward: an endless loop without
 * branches cannot be told from its first round. No call goes to where it returns to: 2.0.5
 * cannot tell whether it did return.
 */
static int choose_target(struct world *w, int i, int distance, bool forward)
{
	int low = forward ? i + 2 : i - distance, high = i + distance;

	if (low < 0)
		low = 0;
	if (high >= INSNS)
		high = INSNS - 1;
	if (low > high)
		low = high;
	return low + below(w, high - low + 1);
}

static void put(struct insn *insn, uint64_t code)
{
	for (unsigned int i = 0; i < 2 * insn->halfwords; i++)
		insn->bytes[i] = code >> 8 * i;
}

/* lui or auipc of a5, and the jalr behind it */
static void encode_pair(struct world *w, struct insn *load, struct insn *jump)
{
	static const uint8_t links[] = { RV_ZERO, RV_RA, RV_T1 };
	uint64_t target = w->insns[jump->target].pc, page = target + 0x800;
	bool lui = ((int64_t)page == (int32_t)page || w->params.xlen == 32) && one_in(w, 2);
	uint64_t base = lui ? 0 : load->pc;
	uint32_t imm20 = (target - base + 0x800) >> 12 & 0xfffff;

	jump->rd = links[below(w, 3)];
	put(load, lui ? rv_lui(15, imm20) : rv_auipc(15, imm20));
	put(jump, rv_jalr(jump->rd, 15, target - base - ((uint64_t)imm20 << 12)));
}

static void encode(struct world *w, int i)
{
	struct insn *insn = &w->insns[i];
	bool compressed = insn->halfwords == 1;
	int64_t distance;

	insn->target = choose_target(w, i, compressed ? insn->kind == BRANCH ? 14 : 120 : INSNS / 4,
				     insn->kind != BRANCH);
	insn->favourite = below(w, INSNS);
	insn->period = one_in(w, 2) ? 1 + below(w, 40) : 0;
	distance = w->insns[insn->target].pc - insn->pc;
	switch (insn->kind) {
	case BRANCH:
		put(insn, compressed ? rv_c_branch(distance) : rv_branch(distance));
		break;
	case JUMP:
		put(insn, compressed ? rv_c_j(distance) : rv_jal(RV_ZERO, distance));
		break;
	case CALL:
		put(insn, rv_jal(one_in(w, 4) ? RV_T0 : RV_RA, distance));
		break;
	case JUMP_LINKED:
		put(insn, rv_jal(RV_T1, distance));
		break;
	case IND_CALL:
		put(insn, compressed ? rv_c_jalr(RV_A0) : rv_jalr(RV_RA, RV_RA, 4));
		break;
	case IND_JUMP:
		put(insn, compressed ? rv_c_jr(RV_A0) : rv_jalr(RV_ZERO, RV_T1, 0));
		break;
	case IND_JUMP_LINKED:
		put(insn, rv_jalr(RV_T1, RV_A0, 0));
		break;
	case COROUTINE:
		put(insn, one_in(w, 2) ? rv_jalr(RV_RA, RV_T0, 0) : rv_jalr(RV_T0, RV_RA, 0));
		break;
	case RETURN:
		put(insn, compressed ? rv_c_jr(RV_RA) : rv_jalr(RV_ZERO, RV_T0, 0));
		break;
	case TRAP_RETURN:
		put(insn, RV_MRET);
		break;
	case ENV:
		put(insn, compressed ? RV_C_EBREAK : RV_ECALL);
		break;
	case ABSOLUTE:
		put(insn, rv_jalr(RV_ZERO, RV_ZERO, w->insns[insn->target].pc));
		break;
	case LOAD:
		/* encoded with its jump */
		break;
	case SEQUENTIAL:
		encode_pair(w, &w->insns[i - 1], insn);
		break;
	default:
		put(insn, (const uint64_t[]){ RV_C_NOP, RV_NOP, 0x1f, 0x3f }[insn->halfwords - 1]);
		break;
	}
}

static void make_program(struct world *w)
{
	static const uint64_t bases64[] = {
		0x100, 0x80000000, 0x7ffff123f000, 0x3fc0000000, 0xffffffff80000000,
	};
	static const uint64_t bases32[] = { 0x100, 0x7ffffc00, 0x80201000, 0xfff00000 };
	uint64_t base = w->params.xlen == 32 ? bases32[below(w, 4)] : bases64[below(w, 5)];
	size_t len = 0;

	if (w->params.xlen == 64 && w->params.iaddress_width_p < 40)
		base = bases64[below(w, 2)];
	choose_kinds(w, base);
	for (int i = 0; i < INSNS; i++)
		encode(w, i);
	for (int i = 0; i < INSNS; i++) {
		memcpy(w->code + len, w->insns[i].bytes, 2 * w->insns[i].halfwords);
		len += 2 * w->insns[i].halfwords;
	}
	assert_int_equal(rvt_space_map_bytes(w->space, base, w->code, len, "program"), 0);
}

static int find(const struct world *w, uint64_t pc)
{
	for (int i = 0; i < INSNS; i++)
		if (w->insns[i].pc == pc)
			return i;
	fail_msg("no instruction at 0x%" PRIx64, pc);
	return 0;
}

/* ---- the walk ---- */

static enum rvt_itype itype_of(const struct insn *insn, bool taken)
{
	static const enum rvt_itype itypes[KINDS] = {
		[JUMP] = RVT_ITYPE_JUMP, [CALL] = RVT_ITYPE_CALL,
		[JUMP_LINKED] = RVT_ITYPE_JUMP_LINKED, [IND_CALL] = RVT_ITYPE_IND_CALL,
		[IND_JUMP] = RVT_ITYPE_IND_JUMP, [IND_JUMP_LINKED] = RVT_ITYPE_IND_JUMP_LINKED,
		[COROUTINE] = RVT_ITYPE_COROUTINE, [RETURN] = RVT_ITYPE_RETURN,
		[TRAP_RETURN] = RVT_ITYPE_TRAP_RETURN, [ABSOLUTE] = RVT_ITYPE_IND_JUMP,
	};

	if (insn->kind == BRANCH)
		return taken ? RVT_ITYPE_BRANCH_TAKEN : RVT_ITYPE_BRANCH_NOT_TAKEN;
	if (insn->kind == SEQUENTIAL)
		return insn->rd == RV_RA ? RVT_ITYPE_IND_CALL : insn->rd == RV_T1 ?
		       RVT_ITYPE_IND_JUMP_LINKED : RVT_ITYPE_IND_JUMP;
	return itypes[insn->kind];
}

static void flush_run(struct world *w)
{
	if (w->in_run)
		rvt_etrace_encoder_retire(w->enc, &w->run);
	w->in_run = false;
}

static void retire(struct world *w, const struct insn *insn, bool taken, bool sijump)
{
	enum rvt_itype itype = itype_of(insn, taken);

	if (!w->in_run)
		w->run = (struct rvt_retire){ .first_pc = insn->pc, .prv = w->prv };
	w->in_run = true;
	w->run.last_pc = insn->pc;
	w->run.insns++;
	w->run.halfwords += insn->halfwords;
	w->run.last_halfwords = insn->halfwords;
	w->run.itype = itype;
	w->run.sijump = sijump;
	w->run.absolute = insn->kind == ABSOLUTE;
	w->executed.pcs[w->executed.n_pcs++] = insn->pc;
	w->nothing_retired = w->after_trap = false;
	if (itype != RVT_ITYPE_NONE || w->single || one_in(w, 8))
		flush_run(w);
}

static void push(struct world *w, const struct insn *insn)
{
	if (w->depth == MAX_STACK)
		w->depth = 0;
	w->stack[w->depth++] = insn->pc + 2 * insn->halfwords;
}

static int indirect_target(struct world *w, const struct insn *insn)
{
	return one_in(w, 4) ? (int)below(w, INSNS) : insn->favourite;
}

static int call_target(struct world *w, const struct insn *insn)
{
	int target = indirect_target(w, insn);

	return target == insn - w->insns + 1 ? target - 1 : target;
}

static int return_target(struct world *w, const struct insn *insn)
{
	bool counter_only = !w->params.return_stack_size_p;

	if (!w->depth)
		return indirect_target(w, insn);
	w->depth--;
	/* only a full comparison notices a return that does not go back */
	if (!counter_only && one_in(w, 8))
		return indirect_target(w, insn);
	return find(w, w->stack[w->depth]);
}

static bool branch_taken(struct world *w, struct insn *insn)
{
	if (!insn->period)
		return one_in(w, 2);
	/* loops are left now and then */
	return one_in(w, 300) ? one_in(w, 2) : ++insn->count % insn->period != 0;
}

static int trap_return(struct world *w, const struct insn *insn)
{
	if (one_in(w, 2))
		w->prv = below(w, 2);
	return indirect_target(w, insn);
}

/* Executes instruction @i and returns the index of the next. */
static int step(struct world *w, int i)
{
	struct insn *insn = &w->insns[i];
	bool taken = insn->kind == BRANCH && branch_taken(w, insn);
	bool sijump = insn->kind == SEQUENTIAL && w->previous == i - 1;

	retire(w, insn, taken, sijump);
	w->previous = i;
	switch (insn->kind) {
	case BRANCH:
		return taken ? insn->target : i + 1;
	case JUMP:
	case JUMP_LINKED:
	case ABSOLUTE:
		return insn->target;
	case CALL:
		push(w, insn);
		return insn->target;
	case IND_CALL:
		push(w, insn);
		return call_target(w, insn);
	case IND_JUMP:
	case IND_JUMP_LINKED:
	case COROUTINE:
		return indirect_target(w, insn);
	case TRAP_RETURN:
		return trap_return(w, insn);
	case RETURN:
		return return_target(w, insn);
	case SEQUENTIAL:
		if (insn->rd == RV_RA)
			push(w, insn);
		return sijump ? insn->target : call_target(w, insn);
	default:
		return i + 1;
	}
}

/* One handler for each cause: implicit exception mode needs it. */
static int handler_of(const struct world *w, bool interrupt, uint64_t cause)
{
	return (cause * 37 + interrupt * 11 + w->insns[3].favourite) % INSNS;
}

static int enter_handler(struct world *w, int i, bool interrupt, uint64_t cause)
{
	int handler = handler_of(w, interrupt, cause);
	struct rvt_trap trap = {
		.interrupt = interrupt, .cause = cause, .epc = w->insns[i].pc,
		.tval = interrupt ? 0 : cause == 2 ? 0x1f : w->insns[i].pc,
		.handler = w->insns[handler].pc, .prv = w->prv > 1 || one_in(w, 2) ? 3 : 1,
	};

	flush_run(w);
	w->prv = trap.prv;
	rvt_etrace_encoder_trap(w->enc, &trap);
	/* 0.029 cannot report a trap whose handler was not entered. */
	if (w->draft && w->after_trap)
		w->executed.n_traps--;
	w->executed.traps[w->executed.n_traps++] = (struct trap_seen){
		w->executed.n_pcs, trap.epc, trap.handler, cause, trap.tval, interrupt,
	};
	w->previous = NO_INSN;
	w->nothing_retired = w->after_trap = true;
	return handler;
}

static int take_trap(struct world *w, int i, bool interrupt)
{
	static const uint8_t causes[] = { 0, 2, 3, 5, 8, 12, 13, 15 };
	const struct history *e = &w->executed;

	/*
	 * 0.029: a handler's first instruction that retired cannot be told from one that trapped
	 * when the hart comes there again and that time it traps.
	 */
	if (w->draft && e->n_pcs && e->pcs[e->n_pcs - 1] == w->insns[i].pc)
		interrupt = true;
	return enter_handler(w, i, interrupt, interrupt ? 1 + below(w, 12) : causes[below(w, 8)]);
}

static void start(struct world *w)
{
	rvt_etrace_encoder_start(w->enc);
	w->nothing_retired = true;
	w->after_trap = false;
	w->previous = NO_INSN;
}

/* Tracing stops; it goes on here or elsewhere. */
static int interrupt_tracing(struct world *w, int i)
{
	flush_run(w);
	if (w->draft && w->after_trap)
		w->executed.n_traps--;
	if (!w->nothing_retired || (w->after_trap && !w->draft))
		w->executed.n_stops++;
	rvt_etrace_encoder_stop(w->enc, one_in(w, 2));
	start(w);
	return one_in(w, 2) ? (int)below(w, INSNS) : i;
}

/* Whether the next instruction is reported anyway is the encoder's business: count upper bounds. */
static void event_between(struct world *w)
{
	switch (below(w, 3)) {
	case 0:
		rvt_etrace_encoder_mark(w->enc);
		w->executed.marks[w->executed.n_marks++] = w->executed.n_pcs;
		break;
	case 1:
		w->executed.context = below(w, 1000) & ((1u << w->params.context_width_p) - 1);
		rvt_etrace_encoder_context(w->enc, w->executed.context);
		break;
	default:
		rvt_etrace_encoder_clocks(w->enc, below(w, 100));
		break;
	}
}

static void walk(struct world *w)
{
	int i = below(w, INSNS);

	w->prv = below(w, 2) ? 3 : 1;
	start(w);
	for (int steps = 0; steps < STEPS; steps++) {
		if (w->lossy && one_in(w, 150))
			w->refuse = 1 + below(w, 3);
		if (one_in(w, 40)) {
			flush_run(w);
			event_between(w);
		}
		if (one_in(w, 400))
			i = interrupt_tracing(w, i);
		if (w->insns[i].kind == ENV || one_in(w, 60) || (w->after_trap && one_in(w, 10)))
			i = take_trap(w, i, w->insns[i].kind == ENV ? one_in(w, 6) : one_in(w, 2));
		else
			i = step(w, i);
	}
	flush_run(w);
	if (w->draft && w->after_trap)
		w->executed.n_traps--;
	rvt_etrace_encoder_stop(w->enc, true);
}

/* ---- the encoder ---- */

static uint64_t now(void *ctx)
{
	struct world *w = ctx;

	return w->time += below(w, 50);
}

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct world *w = ctx;

	if (w->refuse) {
		w->refuse--;
		return -ENOSPC;
	}
	if (w->len + len + 3 > w->size) {
		w->size = 2 * (w->len + len + 3);
		w->trace = realloc(w->trace, w->size);
		assert_non_null(w->trace);
	}
	if (one_in(w, 20))
		w->trace[w->len++] = one_in(w, 2) ? 0x80 : 0;
	if (setting("RVT_PROPERTY_VERBOSE", 0))
		fprintf(stderr, "%08zx: sent after instruction %zu\n", w->len, w->executed.n_pcs);
	memcpy(w->trace + w->len, bytes, len);
	w->len += len;
	w->executed.time = w->time;
	return 0;
}

static unsigned int random_options(struct world *w)
{
	static const unsigned int all[] = {
		RVT_OPT_SEQUENTIAL_JUMP, RVT_OPT_IMPLICIT_RETURN, RVT_OPT_IMPLICIT_EXCEPTION,
		RVT_OPT_BRANCH_PREDICTION, RVT_OPT_JUMP_TARGET_CACHE, RVT_OPT_FULL_ADDRESS,
	};
	unsigned int options = 0, odds = 1 + below(w, 4);

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		w->params.ioptions[i] = all[i];
		if (one_in(w, odds))
			options |= all[i];
	}
	w->params.n_ioptions = 6;
	return options & setting("RVT_PROPERTY_OPTIONS", ~0u);
}

static void random_params(struct world *w)
{
	struct rvt_params *p = &w->params;

	rvt_params_init(p, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_0_029 +
			setting("RVT_PROPERTY_DIALECT", below(w, 3)));
	w->draft = p->dialect == RVT_DIALECT_ETRACE_0_029;
	p->xlen = one_in(w, 3) ? 32 : 64;
	p->isa = p->xlen == 32 ? RVT_ISA_RV32 : 0;
	p->iaddress_width_p = p->xlen == 32 || one_in(w, 5) ? 32 : one_in(w, 2) ? 64 : 48;
	p->iaddress_lsb_p = one_in(w, 8) ? 0 : 1 + one_in(w, 5);
	p->nocontext_p = one_in(w, 2);
	p->context_width_p = 4 + below(w, 8);
	p->notime_p = !one_in(w, 3);
	p->time_width_p = p->dialect == RVT_DIALECT_ETRACE_2_0_5 ? 16 * (1 + below(w, 4)) :
			  8 + below(w, 50);
	p->privilege_width_p = 2 + below(w, 2);
	p->ecause_width_p = 4 + below(w, 3);
	p->bpred_size_p = 1 + below(w, 7);
	p->cache_size_p = 1 + below(w, 7);
	p->f0s_width_p = 1;
	p->return_stack_size_p = one_in(w, 3) ? 0 : 1 + below(w, 6);
	p->call_counter_size_p = one_in(w, 3) ? 0 : 1 + below(w, 6);
	p->encoder_mode_bits = 1 + below(w, 3);
	p->doptions_bits = below(w, 5);
	p->srcid_bits = one_in(w, 2) ? below(w, 17) : 0;
	p->timestamp_bytes = one_in(w, 3) ? 1 + below(w, 8) : 0;
	p->type_bits = below(w, 3);
	p->type_instruction = p->type_bits == 2 ? 2 : 0;
	p->jump_cache_index = below(w, 3);
	p->jump_cache_returns = below(w, 3);
	p->trap_address = below(w, 2);
	if (w->draft) {
		p->context_packet_context = below(w, 2);
		p->context_packet_returns = below(w, 2);
	}
	p->options = random_options(w);
}

static void make_config(struct world *w)
{
	struct rvt_etrace_encoder_config *c = &w->config;

	random_params(w);
	c->params = &w->params;
	c->src = below(w, 1u << w->params.srcid_bits);
	c->flow = below(w, 4);
	c->context = !w->params.nocontext_p && one_in(w, 2);
	c->context_precise = one_in(w, 2);
	c->timestamp_all = one_in(w, 2);
	c->sync_mode = below(w, 4);
	c->sync_max = below(w, 6);
	/* Return targets that are in the cache and followed by a synchronisation are too much. */
	c->cache_kept = w->draft && w->params.jump_cache_returns != RVT_JUMP_CACHE_ALL_RETURNS;
	c->max_branch_count = one_in(w, 2) ? below(w, 100) : 0;
	c->emit = emit;
	c->now = now;
	c->ctx = w;
	w->single = one_in(w, 4);
}

/* ---- the decoder ---- */

static int got_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct world *w = ctx;

	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t k = 0; k < runs[i].first + runs[i].count; k++) {
			if (k >= runs[i].first && w->decoded.n_pcs < MAX_PCS)
				w->decoded.pcs[w->decoded.n_pcs++] = pc;
			pc += 2 * runs[i].block->halfwords[k];
		}
		w->n_decoded += runs[i].count;
	}
	/* Damaged branch counts can be huge. */
	return w->n_decoded > 100 * STEPS ? ENOUGH : 0;
}

static int got_event(void *ctx, const struct rvt_event *event)
{
	struct world *w = ctx;
	struct history *d = &w->decoded;

	switch (event->type) {
	case RVT_EVENT_TRAP:
		assert_true(d->n_traps < MAX_PCS);
		d->traps[d->n_traps++] = (struct trap_seen){
			d->n_pcs, event->pc, event->target, event->cause, event->tval,
			event->interrupt,
		};
		break;
	case RVT_EVENT_TIME:
		assert_true(w->damaged || event->time > d->time || !d->time);
		d->time = event->time;
		break;
	case RVT_EVENT_CONTEXT:
		d->context = event->context.scontext;
		break;
	case RVT_EVENT_MARK:
		assert_true(d->n_marks < MAX_PCS);
		d->marks[d->n_marks++] = d->n_pcs;
		break;
	case RVT_EVENT_START:
		assert_true(d->n_starts < MAX_PCS);
		d->starts[d->n_starts++] = d->n_pcs;
		break;
	case RVT_EVENT_STOP:
		d->n_stops++;
		break;
	case RVT_EVENT_LOST:
		if (!w->lossy && !w->damaged)
			print_error("lost after %zu pcs: %s\n", d->n_pcs, event->detail);
		d->n_lost++;
		break;
	}
	return 0;
}

static struct rvt_flow *get_flow(void *ctx, unsigned int src)
{
	struct world *w = ctx;

	if (w->damaged && src != w->config.src)
		return NULL;
	assert_int_equal(src, w->config.src);
	return w->flow;
}

static void set_vectors(struct world *w)
{
	struct rvt_trap_vectors *v = &w->params.vectors;

	v->exception_valid = v->interrupt_valid = UINT64_MAX;
	for (int i = 0; i < RVT_MAX_CAUSES; i++) {
		v->exception[i] = w->insns[handler_of(w, false, i)].pc;
		v->interrupt[i] = w->insns[handler_of(w, true, i)].pc;
	}
}

static void decode(struct world *w)
{
	struct rvt_flow_sink sink = { .ctx = w, .runs = got_runs, .event = got_event };
	struct rvt_stream_ops ops = { .ctx = w, .flow = get_flow };
	struct rvt_flow_config config;
	struct rvt_stream_stats stats;
	struct rvt_stream *stream;
	int ret = 0;

	/* the support packet says so */
	w->params.options = 0;
	set_vectors(w);
	rvt_stream_flow_config(&w->params, &config);
	config.reference_walk = one_in(w, 4);
	assert_int_equal(rvt_flow_create(&config, &sink, &w->flow), 0);
	rvt_flow_set_space(w->flow, w->space);
	assert_int_equal(rvt_stream_create(&w->params, &ops, &stream), 0);
	for (size_t pos = 0; pos < w->len; ) {
		size_t piece = 1 + below(w, 2000);

		if (piece > w->len - pos)
			piece = w->len - pos;
		ret = rvt_stream_feed(stream, w->trace + pos, piece, pos);
		if (ret)
			break;
		pos += piece;
	}
	if (!ret)
		ret = rvt_stream_finish(stream);
	rvt_stream_stats(stream, &stats);
	if (!w->damaged || ret != ENOUGH) {
		assert_int_equal(ret, 0);
		assert_int_equal(stats.bytes, w->len);
	}
	rvt_stream_destroy(stream);
	rvt_flow_destroy(w->flow);
}

/* ---- comparison ---- */

static void describe(const struct world *w, uint64_t seed)
{
	const struct rvt_etrace_encoder_config *c = &w->config;
	char *text = NULL;

	print_error("RVT_PROPERTY_SEED=%" PRIu64 ": src %u sync %u/%u context %u/%u max count %u"
		    "%s%s\n", seed, c->src, c->sync_mode, c->sync_max, c->context,
		    c->context_precise,
		    c->max_branch_count, w->single ? " single" : "", w->lossy ? " lossy" : "");
	if (!rvt_params_print(&w->params, &text))
		print_error("%.900s\n", text);
	free(text);
}

static bool same_trap(const struct world *w, const struct trap_seen *a, const struct trap_seen *b)
{
	uint64_t causes = (1ull << w->params.ecause_width_p) - 1;

	if (a->at != b->at || (a->cause & causes) != b->cause || a->interrupt != b->interrupt)
		return false;
	/* A handler that was not entered need not be told. */
	if (a->handler != b->handler && b->handler != RVT_UNLIMITED)
		return false;
	/* Nor is the EPC always: 0.029, after a jump; 2.0, in the second of two traps. */
	if (a->epc != b->epc && b->epc)
		return w->draft;
	return w->draft || a->tval == b->tval;
}

static bool same(const struct world *w)
{
	const struct history *e = &w->executed, *d = &w->decoded;
	size_t mark = 0;

	for (size_t i = 0; i < e->n_pcs && i < d->n_pcs; i++) {
		if (e->pcs[i] != d->pcs[i]) {
			print_error("instruction %zu is 0x%" PRIx64 ", decoded 0x%" PRIx64 "\n", i,
				    e->pcs[i], d->pcs[i]);
			return false;
		}
	}
	if (e->n_pcs != d->n_pcs || e->n_traps != d->n_traps || d->n_lost) {
		print_error("%zu instructions and %zu traps, decoded %zu and %zu; lost %zu\n",
			    e->n_pcs, e->n_traps, d->n_pcs, d->n_traps, d->n_lost);
		return false;
	}
	for (size_t i = 0; i < e->n_traps; i++) {
		if (!same_trap(w, &e->traps[i], &d->traps[i])) {
			const struct trap_seen *a = &e->traps[i], *b = &d->traps[i];

			print_error("trap %zu: after %zu epc %" PRIx64 " handler %" PRIx64
				    " cause %" PRIu64 " tval %" PRIx64 ", decoded: %zu %" PRIx64
				    " %" PRIx64 " %" PRIu64 " %" PRIx64 "\n", i, a->at, a->epc,
				    a->handler, a->cause, a->tval, b->at, b->epc, b->handler,
				    b->cause, b->tval);
			return false;
		}
	}
	/* With irets, which need no marks of our own, each mark was asked for. */
	for (size_t i = 0; i < d->n_marks && w->params.dialect == RVT_DIALECT_ETRACE_2_0_5; i++) {
		while (mark < e->n_marks && e->marks[mark] < d->marks[i])
			mark++;
		if (mark == e->n_marks || e->marks[mark] != d->marks[i]) {
			print_error("mark %zu, before instruction %zu, was not asked for\n", i,
				    d->marks[i]);
			return false;
		}
	}
	return true;
}

/* Each stretch from a START to the next was executed, in order. */
static bool is_part(const struct world *w)
{
	const struct history *e = &w->executed, *d = &w->decoded;
	size_t from = 0;

	for (size_t s = 0; s < d->n_starts; s++) {
		size_t first = d->starts[s];
		size_t len = (s + 1 < d->n_starts ? d->starts[s + 1] : d->n_pcs) - first;

		while (from + len <= e->n_pcs &&
		       memcmp(&e->pcs[from], &d->pcs[first], len * sizeof(e->pcs[0])))
			from++;
		if (from + len > e->n_pcs) {
			print_error("stretch %zu, %zu instructions from 0x%" PRIx64 " on, was not "
				    "executed\n", s, len, d->pcs[first]);
			return false;
		}
		from += len;
	}
	return true;
}

/* The packets, and every instruction and trap that they should tell. */
static void print_case(const struct world *w)
{
	const struct history *e = &w->executed;
	struct rvt_dump *dump;
	size_t trap = 0;

	assert_int_equal(rvt_dump_create(&w->params, 0, stderr, &dump), 0);
	rvt_dump_feed(dump, w->trace, w->len, 0);
	rvt_dump_finish(dump);
	rvt_dump_destroy(dump);
	for (size_t i = 0; i < e->n_pcs; i++) {
		const struct insn *insn = &w->insns[find(w, e->pcs[i])];

		for (; trap < e->n_traps && e->traps[trap].at == i; trap++)
			fprintf(stderr, "trap epc %" PRIx64 " handler %" PRIx64 "\n",
				e->traps[trap].epc, e->traps[trap].handler);
		fprintf(stderr, "%zu: %" PRIx64 " kind %u target %" PRIx64 "\n", i, insn->pc,
			insn->kind, w->insns[insn->target].pc);
	}
}

/* Flips a bit, or takes away or doubles some bytes, every 300 bytes or so. */
static void damage(struct world *w)
{
	for (size_t pos = below(w, 300); pos + 20 < w->len; pos += 1 + below(w, 600)) {
		unsigned int n = 1 + below(w, 8);

		switch (below(w, 3)) {
		case 0:
			w->trace[pos] ^= 1u << below(w, 8);
			break;
		case 1:
			memmove(w->trace + pos, w->trace + pos + n, w->len - pos - n);
			w->len -= n;
			break;
		default:
			w->trace = realloc(w->trace, w->len + n);
			assert_non_null(w->trace);
			memmove(w->trace + pos + n, w->trace + pos, w->len - pos);
			w->len += n;
			break;
		}
	}
}

static size_t check_case(uint64_t seed, bool lossy, bool damaged)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rvt_image *image;
	unsigned int options;
	size_t decoded;

	assert_non_null(w);
	w->state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	w->lossy = lossy;
	w->damaged = damaged;
	assert_int_equal(rvt_image_create(&image), 0);
	assert_int_equal(rvt_space_create(image, NULL, &w->space), 0);
	make_config(w);
	make_program(w);
	assert_int_equal(rvt_etrace_encoder_create(&w->config, &w->enc), 0);
	walk(w);
	rvt_etrace_encoder_destroy(w->enc);
	options = w->params.options;
	if (setting("RVT_PROPERTY_VERBOSE", 0))
		print_case(w);
	if (damaged)
		damage(w);
	decode(w);
	if (!damaged && !(lossy ? is_part(w) : same(w))) {
		w->params.options = options;
		describe(w, seed);
		fail();
	}
	decoded = w->decoded.n_pcs;
	rvt_image_destroy(image);
	free(w->trace);
	free(w);
	return decoded;
}

static void test_all(void **state)
{
	uint64_t first = setting("RVT_PROPERTY_SEED", 1), n = setting("RVT_PROPERTY_CASES", 300);

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++)
		check_case(seed, false, false);
}

static void test_loss(void **state)
{
	uint64_t first = setting("RVT_PROPERTY_SEED", 1);
	uint64_t n = setting("RVT_PROPERTY_CASES", 300) / 3;
	size_t decoded = 0;

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++)
		decoded += check_case(seed, true, false);
	/* dropping one to three packets every 150 instructions must not lose everything */
	assert_true(n < 10 || decoded > n * STEPS / 10);
}

/* No crash, and decoding goes on. Wrong bits may be valid ones: flow is not checked. */
static void test_damage(void **state)
{
	uint64_t first = setting("RVT_PROPERTY_SEED", 1), n = setting("RVT_PROPERTY_CASES", 300);
	size_t decoded = 0;

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++)
		decoded += check_case(seed, false, true);
	assert_true(n < 10 || decoded > n * STEPS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests_name("etrace round trip", tests, NULL, NULL);
}
