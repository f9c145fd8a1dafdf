// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Random programs, walked at random, through an encoder with random options: the decoder must give
 * back every instruction, trap and timestamp. Once more with messages that do not get out: what is
 * decoded must be pieces of what was executed, in order. And with damaged bytes: decoding ends by
 * itself, and every instruction is where the program is (a wrong address may well lie inside one).
 *
 * RVT_PROPERTY_CASES sets the number of cases, RVT_PROPERTY_SEED the first one.
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
#include <rvtrace/image.h>
#include <rvtrace/ntrace.h>
#include <rvtrace/stream.h>
#include "rv-asm.h"

#define REGION_INSNS 250
#define MAX_REGIONS 2
#define MAX_INSNS (REGION_INSNS * MAX_REGIONS)
#define STEPS 3000
#define MAX_PCS (STEPS + 8)
#define MAX_STACK 4000
#define NO_INSN -1

enum kind {
	LINEAR, BRANCH, JUMP, CALL, JUMP_LINKED, IND_CALL, IND_JUMP, IND_JUMP_LINKED, COROUTINE,
	RETURN, TRAP_RETURN, ENV, LOAD, SEQUENTIAL, KINDS
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
	uint64_t epc, handler;
	bool interrupt;
};

/* What was executed, or what was decoded. */
struct history {
	uint64_t pcs[MAX_PCS];
	size_t n_pcs;
	struct trap_seen traps[MAX_PCS];
	size_t n_traps;
	uint64_t times[8 * MAX_PCS];
	size_t n_times;
	size_t starts[MAX_PCS];	/* decoded: number of pcs before each START */
	size_t n_starts, n_lost;
};

struct world {
	uint64_t state;		/* of the random numbers */
	struct rvt_ntrace_encoder_config config;
	struct rvt_params params;
	struct rvt_ntrace_encoder *enc;
	unsigned int isa;
	bool lossy;		/* messages are dropped, */
	bool damaged;		/* or bytes changed */
	bool single;		/* runs of one instruction */
	bool well_behaved;	/* every return goes back */

	struct insn insns[MAX_INSNS];
	int n_insns;
	uint64_t stack[MAX_STACK];
	int depth;
	int previous;		/* index of the instruction retired just before, or NO_INSN */

	struct rvt_retire run;	/* not yet given to the encoder */
	bool in_run;
	uint64_t time;
	uint8_t *trace;
	size_t len, size;
	unsigned int refuse;	/* messages that are still dropped */
	bool synced;		/* a ProgTraceSync was sent */

	struct history executed, decoded;
	struct rvt_flow *flow;
	struct rvt_space *space;
};

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

static void choose_kinds(struct world *w, int first, uint64_t base)
{
	static const enum kind often[] = {
		LINEAR, LINEAR, LINEAR, LINEAR, LINEAR, BRANCH, BRANCH, BRANCH, CALL, RETURN, LOAD,
	};
	int last = first + REGION_INSNS - 1;
	uint64_t pc = base;

	for (int i = first; i < first + REGION_INSNS; i++) {
		struct insn *insn = &w->insns[i];

		insn->kind = one_in(w, 3) ? below(w, SEQUENTIAL) : often[below(w, 11)];
		if (i == last || (insn->kind == LOAD && i == last - 1))
			insn->kind = JUMP;
		if (i > first && w->insns[i - 1].kind == LOAD)
			insn->kind = SEQUENTIAL;
		insn->halfwords = random_length(w, insn->kind);
		insn->pc = pc;
		pc += 2 * insn->halfwords;
	}
}

/* An instruction of the same region at most @distance instructions away. */
static int near(struct world *w, int i, int distance)
{
	int first = i / REGION_INSNS * REGION_INSNS, low = i - distance, high = i + distance;

	if (low < first)
		low = first;
	if (high >= first + REGION_INSNS)
		high = first + REGION_INSNS - 1;
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
	/* lui reaches the lowest and highest 2 GiB of 64-bit addresses */
	bool lui = (int64_t)page == (int32_t)page && one_in(w, 2);
	uint64_t base = lui ? 0 : load->pc;
	uint32_t imm20;

	if (w->config.xlen == 32)
		lui = one_in(w, 2), base = lui ? 0 : load->pc;
	imm20 = (target - base + 0x800) >> 12;
	jump->rd = links[below(w, 3)];
	put(load, lui ? rv_lui(15, imm20) : rv_auipc(15, imm20 & 0xfffff));
	put(jump, rv_jalr(jump->rd, 15, target - base - ((uint64_t)imm20 << 12)));
}

static void encode(struct world *w, int i)
{
	struct insn *insn = &w->insns[i];
	bool compressed = insn->halfwords == 1;
	int64_t distance;

	insn->target = near(w, i, compressed ? insn->kind == BRANCH ? 14 : 120 : REGION_INSNS);
	insn->favourite = below(w, w->n_insns);
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
		0x1000, 0x80000000, 0x7ffff123f000, 0x3fc0000000, 0xffffffff80000000,
		0xffffffffffff0000,
	};
	static const uint64_t bases32[] = { 0x1000, 0x7ffffc00, 0x80201000, 0xffff0000 };
	int regions = 1 + below(w, MAX_REGIONS), k = below(w, 4);

	w->n_insns = regions * REGION_INSNS;
	for (int r = 0; r < regions; r++, k++)
		choose_kinds(w, r * REGION_INSNS,
			     w->config.xlen == 32 ? bases32[k % 4] :
						    bases64[(k + below(w, 2)) % 6]);
	/* regions must not lie on each other */
	if (regions == 2 && w->insns[0].pc == w->insns[REGION_INSNS].pc)
		w->n_insns = REGION_INSNS;
	for (int i = 0; i < w->n_insns; i++)
		encode(w, i);
	for (int i = 0; i < w->n_insns; i++)
		assert_int_equal(rvt_space_map_bytes(w->space, w->insns[i].pc, w->insns[i].bytes,
						     2 * w->insns[i].halfwords, "program"), 0);
}

static int find(const struct world *w, uint64_t pc)
{
	for (int i = 0; i < w->n_insns; i++)
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
		[TRAP_RETURN] = RVT_ITYPE_TRAP_RETURN,
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
		rvt_ntrace_encoder_retire(w->enc, &w->run);
	w->in_run = false;
}

static void retire(struct world *w, const struct insn *insn, bool taken, bool sijump)
{
	enum rvt_itype itype = itype_of(insn, taken);

	if (!w->in_run)
		w->run = (struct rvt_retire){ .first_pc = insn->pc, .prv = 1 };
	w->in_run = true;
	w->run.last_pc = insn->pc;
	w->run.insns++;
	w->run.halfwords += insn->halfwords;
	w->run.last_halfwords = insn->halfwords;
	w->run.itype = itype;
	w->run.sijump = sijump;
	w->executed.pcs[w->executed.n_pcs++] = insn->pc;
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
	return one_in(w, 4) ? (int)below(w, w->n_insns) : insn->favourite;
}

static int return_target(struct world *w, const struct insn *insn)
{
	uint64_t top;

	if (!w->depth)
		return indirect_target(w, insn);
	top = w->stack[--w->depth];
	if (!w->well_behaved && one_in(w, 8))
		return indirect_target(w, insn);
	return find(w, top);
}

static bool branch_taken(struct world *w, struct insn *insn)
{
	if (!insn->period)
		return one_in(w, 2);
	/* loops are left now and then */
	return one_in(w, 300) ? one_in(w, 2) : ++insn->count % insn->period != 0;
}

/* Executes instruction @i and returns the index of the next. */
static int step(struct world *w, int i)
{
	struct insn *insn = &w->insns[i];
	bool taken = insn->kind == BRANCH && branch_taken(w, insn);
	bool sijump = insn->kind == SEQUENTIAL && w->previous == i - 1;
	int next = i + 1;

	retire(w, insn, taken, sijump);
	w->previous = i;
	switch (insn->kind) {
	case BRANCH:
		return taken ? insn->target : next;
	case JUMP:
	case JUMP_LINKED:
		return insn->target;
	case CALL:
		push(w, insn);
		return insn->target;
	case IND_CALL:
		push(w, insn);
		return indirect_target(w, insn);
	case IND_JUMP:
	case IND_JUMP_LINKED:
	case TRAP_RETURN:
		return indirect_target(w, insn);
	case COROUTINE:
		next = return_target(w, insn);
		push(w, insn);
		return next;
	case RETURN:
		return return_target(w, insn);
	case SEQUENTIAL:
		if (insn->rd == RV_RA)
			push(w, insn);
		return sijump ? insn->target : indirect_target(w, insn);
	default:
		return next;
	}
}

static int take_trap(struct world *w, int i, bool interrupt)
{
	struct insn *insn = &w->insns[i];
	int handler = below(w, w->n_insns);
	struct rvt_trap trap = {
		.interrupt = interrupt, .epc = insn->pc, .handler = w->insns[handler].pc, .prv = 1,
	};

	if (insn->kind == ENV && !interrupt)
		trap.ecall_halfwords = insn->halfwords;
	flush_run(w);
	rvt_ntrace_encoder_trap(w->enc, &trap);
	w->executed.traps[w->executed.n_traps++] = (struct trap_seen){
		w->executed.n_pcs, trap.epc, trap.handler, interrupt,
	};
	w->previous = NO_INSN;
	return handler;
}

/* Tracing stops; it goes on here or elsewhere. */
static int interrupt_tracing(struct world *w, int i)
{
	static const struct {
		enum rvt_ntrace_evcode evcode;
		enum rvt_ntrace_sync sync;
	} kinds[] = {
		{ RVT_NTRACE_EV_DEBUG, RVT_NTRACE_SYNC_DEBUG_EXIT },
		{ RVT_NTRACE_EV_LOW_POWER, RVT_NTRACE_SYNC_POWER_DOWN_EXIT },
		{ RVT_NTRACE_EV_TRACE_DISABLED, RVT_NTRACE_SYNC_TRACE_ENABLE },
	};
	int k = below(w, 4);

	flush_run(w);
	if (k == 3) {
		rvt_ntrace_encoder_start(w->enc, RVT_NTRACE_SYNC_RESET_EXIT);
		i = below(w, w->n_insns);
	} else {
		rvt_ntrace_encoder_stop(w->enc, kinds[k].evcode, w->insns[i].pc);
		rvt_ntrace_encoder_start(w->enc, kinds[k].sync);
		if (one_in(w, 2))
			i = below(w, w->n_insns);
	}
	w->previous = NO_INSN;
	return i;
}

static void event_between(struct world *w)
{
	switch (below(w, 4)) {
	case 0:
		rvt_ntrace_encoder_mark(w->enc, one_in(w, 2) ? RVT_NTRACE_SYNC_TRACE_EVENT :
							      RVT_NTRACE_SYNC_EXT_TRIGGER);
		break;
	case 1:
		rvt_ntrace_encoder_context(w->enc, one_in(w, 2), below(w, 1000));
		break;
	default:
		rvt_ntrace_encoder_clocks(w->enc, below(w, 100));
		break;
	}
}

static void walk(struct world *w)
{
	int i = below(w, w->n_insns);

	w->previous = NO_INSN;
	rvt_ntrace_encoder_start(w->enc, RVT_NTRACE_SYNC_TRACE_ENABLE);
	for (int steps = 0; steps < STEPS; steps++) {
		if (w->lossy && !w->damaged && one_in(w, 150))
			w->refuse = 1 + below(w, 3);
		if (one_in(w, 40)) {
			flush_run(w);
			event_between(w);
		}
		if (one_in(w, 400))
			i = interrupt_tracing(w, i);
		if (w->insns[i].kind == ENV || one_in(w, 60))
			i = take_trap(w, i, w->insns[i].kind == ENV ? one_in(w, 6) : one_in(w, 2));
		else
			i = step(w, i);
	}
	flush_run(w);
	rvt_ntrace_encoder_stop(w->enc, RVT_NTRACE_EV_TRACE_DISABLED, w->insns[i].pc);
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
		w->trace[w->len++] = 0xff;
	memcpy(w->trace + w->len, bytes, len);
	w->len += len;
	/* a difference before the first sync (tracing that starts disabled) means nothing */
	w->synced |= bytes[0] >> 2 == RVT_NTRACE_PROG_TRACE_SYNC;
	if (w->config.timestamp != RVT_TIMESTAMP_NONE && w->synced)
		w->executed.times[w->executed.n_times++] = w->time;
	return 0;
}

static unsigned int random_options(struct world *w)
{
	static const unsigned int all[] = {
		RVT_OPT_SEQUENTIAL_JUMP, RVT_OPT_IMPLICIT_RETURN, RVT_OPT_REPEATED_HISTORY,
		RVT_OPT_ALL_JUMPS, RVT_OPT_EXTEND_ADDRESS_MSB,
	};
	unsigned int options = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (one_in(w, 2))
			options |= all[i];
	return options;
}

static void make_config(struct world *w)
{
	struct rvt_ntrace_encoder_config *c = &w->config;

	c->dialect = one_in(w, 2) ? RVT_DIALECT_NTRACE_RC7 : RVT_DIALECT_NTRACE_1_0;
	c->mode = one_in(w, 3) ? RVT_MODE_BTM : RVT_MODE_HTM;
	c->xlen = one_in(w, 3) ? 32 : 64;
	c->options = random_options(w);
	c->implicit_return_mode = 1 + below(w, 3);
	c->return_stack_depth = 1 + below(w, 32);
	c->src_bits = one_in(w, 2) ? below(w, 13) : 0;
	c->src = below(w, 1u << c->src_bits);
	c->context = one_in(w, 2);
	c->timestamp = below(w, 3);
	c->sync_mode = below(w, 4);
	c->sync_max = below(w, 6);
	c->icnt_bits = 4 + below(w, 19);
	c->hist_bits = 2 + below(w, 31);
	c->hrepeat_bits = 2 + below(w, 17);
	c->bcnt_bits = below(w, 19);
	c->emit = emit;
	c->now = now;
	c->ctx = w;
	/* only a full comparison notices a return that does not go back */
	w->well_behaved = c->options & RVT_OPT_IMPLICIT_RETURN && c->implicit_return_mode < 3;
	w->single = c->icnt_bits < 12 || one_in(w, 4);
	rvt_params_init(&w->params, RVT_PROTOCOL_NTRACE, c->dialect);
	w->params.xlen = c->xlen;
	w->params.options = c->options;
	w->params.mode = one_in(w, 4) ? RVT_MODE_AUTO : c->mode;
	w->params.src_bits = c->src_bits;
	w->params.timestamp = c->timestamp;
	w->params.implicit_return_mode = c->options & RVT_OPT_IMPLICIT_RETURN ?
					 c->implicit_return_mode : 0;
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
	}
	return 0;
}

static int got_event(void *ctx, const struct rvt_event *event)
{
	struct world *w = ctx;
	struct history *d = &w->decoded;

	switch (event->type) {
	case RVT_EVENT_TRAP:
		if (d->n_traps == MAX_PCS)
			break;
		d->traps[d->n_traps++] = (struct trap_seen){
			d->n_pcs, event->pc, event->target, event->interrupt,
		};
		break;
	case RVT_EVENT_TIME:
		if (d->n_times == 8 * MAX_PCS)
			break;
		d->times[d->n_times++] = event->time;
		break;
	case RVT_EVENT_START:
		if (d->n_starts == MAX_PCS)
			break;
		d->starts[d->n_starts++] = d->n_pcs;
		break;
	case RVT_EVENT_LOST:
		if (!w->lossy)
			print_error("lost after %zu pcs: %s\n", d->n_pcs, event->detail);
		d->n_lost++;
		break;
	default:
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

static void decode(struct world *w)
{
	struct rvt_flow_sink sink = { .ctx = w, .runs = got_runs, .event = got_event };
	struct rvt_stream_ops ops = { .ctx = w, .flow = get_flow };
	struct rvt_flow_config config;
	struct rvt_stream *stream;

	rvt_stream_flow_config(&w->params, &config);
	config.reference_walk = one_in(w, 4);
	assert_int_equal(rvt_flow_create(&config, &sink, &w->flow), 0);
	rvt_flow_set_space(w->flow, w->space);
	assert_int_equal(rvt_stream_create(&w->params, &ops, &stream), 0);
	for (size_t pos = 0; pos < w->len; ) {
		size_t piece = 1 + below(w, 2000);

		if (piece > w->len - pos)
			piece = w->len - pos;
		assert_int_equal(rvt_stream_feed(stream, w->trace + pos, piece, pos), 0);
		pos += piece;
	}
	assert_int_equal(rvt_stream_finish(stream), 0);
	rvt_stream_destroy(stream);
	rvt_flow_destroy(w->flow);
}

/* ---- comparison ---- */

static void describe(const struct world *w, uint64_t seed)
{
	const struct rvt_ntrace_encoder_config *c = &w->config;

	print_error("RVT_PROPERTY_SEED=%" PRIu64 ": %s %s xlen %u options 0x%x implicit return "
		    "%u/%u src %u/%u timestamp %u sync %u/%u icnt %u hist %u hrepeat %u bcnt %u"
		    "%s\n", seed,
		    c->dialect == RVT_DIALECT_NTRACE_RC7 ? "rc7" : "1.0",
		    c->mode == RVT_MODE_BTM ? "btm" : "htm", c->xlen, c->options,
		    c->implicit_return_mode, c->return_stack_depth, c->src, c->src_bits,
		    c->timestamp, c->sync_mode, c->sync_max, c->icnt_bits, c->hist_bits,
		    c->hrepeat_bits, c->bcnt_bits,
		    w->damaged ? " damaged" : w->lossy ? " lossy" : "");
}

static bool same(const struct world *w)
{
	const struct history *e = &w->executed, *d = &w->decoded;

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
		const struct trap_seen *a = &e->traps[i], *b = &d->traps[i];

		if (a->at != b->at || a->epc != b->epc || a->handler != b->handler ||
		    a->interrupt != b->interrupt) {
			print_error("trap %zu differs\n", i);
			return false;
		}
	}
	if (e->n_times != d->n_times ||
	    memcmp(e->times, d->times, e->n_times * sizeof(e->times[0]))) {
		print_error("timestamps differ: %zu, decoded %zu\n", e->n_times, d->n_times);
		return false;
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

/* Cuts, flipped bits, zeros and noise. */
static void damage(struct world *w)
{
	size_t at = below(w, w->len), n = 1 + below(w, 40);

	if (n > w->len - at)
		n = w->len - at;
	switch (below(w, 4)) {
	case 0:
		memmove(w->trace + at, w->trace + at + n, w->len - at - n);
		w->len -= n;
		break;
	case 1:
		w->trace[at] ^= 1 << below(w, 8);
		break;
	case 2:
		memset(w->trace + at, 0, n);
		break;
	default:
		while (n--)
			w->trace[at + n] = random64(w) >> 32;
		break;
	}
}

static bool is_of_program(const struct world *w)
{
	for (size_t i = 0; i < w->decoded.n_pcs; i++) {
		int k = 0;

		while (k < w->n_insns && w->decoded.pcs[i] - w->insns[k].pc >=
		       2 * w->insns[k].halfwords)
			k++;
		if (k == w->n_insns) {
			print_error("0x%" PRIx64 " is not in the program\n", w->decoded.pcs[i]);
			return false;
		}
	}
	return true;
}

enum check { CHECK_ALL, CHECK_LOSS, CHECK_DAMAGE };

static size_t check_case(uint64_t seed, enum check kind)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rvt_image *image;
	size_t decoded;

	assert_non_null(w);
	w->state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	w->lossy = kind != CHECK_ALL;
	w->damaged = kind == CHECK_DAMAGE;
	assert_int_equal(rvt_image_create(&image), 0);
	assert_int_equal(rvt_space_create(image, NULL, &w->space), 0);
	make_config(w);
	make_program(w);
	assert_int_equal(rvt_ntrace_encoder_create(&w->config, &w->enc), 0);
	walk(w);
	rvt_ntrace_encoder_destroy(w->enc);
	if (w->damaged)
		for (unsigned int n = 1 + below(w, 5); n; n--)
			damage(w);
	decode(w);
	if (!(w->damaged ? is_of_program(w) : w->lossy ? is_part(w) : same(w))) {
		describe(w, seed);
		fail();
	}
	decoded = w->decoded.n_pcs;
	rvt_image_destroy(image);
	free(w->trace);
	free(w);
	return decoded;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 0) : otherwise;
}

static void test_all(void **state)
{
	uint64_t first = setting("RVT_PROPERTY_SEED", 1), n = setting("RVT_PROPERTY_CASES", 300);

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++)
		check_case(seed, CHECK_ALL);
}

static void test_loss(void **state)
{
	uint64_t first = setting("RVT_PROPERTY_SEED", 1);
	uint64_t n = setting("RVT_PROPERTY_CASES", 300) / 3;
	size_t decoded = 0;

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++)
		decoded += check_case(seed, CHECK_LOSS);
	/* dropping one to three messages every 150 instructions must not lose everything */
	assert_true(n < 10 || decoded > n * STEPS / 10);
}

static void test_damage(void **state)
{
	uint64_t first = setting("RVT_PROPERTY_SEED", 1);
	uint64_t n = setting("RVT_PROPERTY_CASES", 300) / 2;
	size_t decoded = 0;

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++)
		decoded += check_case(seed, CHECK_DAMAGE);
	/* most of a trace is whole */
	assert_true(n < 10 || decoded > n * STEPS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
