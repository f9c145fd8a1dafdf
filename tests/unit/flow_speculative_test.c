// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Speculative walks: messages of all kinds, right and wrong, that come again, memo behind memo.
 * Whatever is taken must do what the reference walk does; of what is not taken nothing may have
 * happened.
 */
#include <stdlib.h>
#include "flow/memo/memos.h"
#include "flow-trio.h"
#include "memo-key.h"

/* ---- programs ---- */

#define CODE_BYTES 480		/* in slots of 4, where instructions begin */
#define SLOTS (CODE_BYTES / 4)
#define HALF (SLOTS / 2 * 4)	/* bytes of code that may be another mapping */

/* To another slot: behind this one, or any, where a branch is that may lead back. */
static int32_t distance(const struct rv_code *code, bool back)
{
	const uint32_t slot = (code->pc - code->base) / 4;

	if (back)
		return 4 * ((int32_t)rnd(SLOTS) - (int32_t)slot);
	return 4 * (1 + rnd(SLOTS - 1 - slot));
}

static void put_slot(struct rv_code *code, uint32_t insn)
{
	rv_put(code, insn);
	if ((code->pc - code->base) % 4)
		rv_put(code, RV_C_NOP);
}

/* What it jumps by is loaded just before; at the end of a long block, in another block. */
static void put_load(struct rv_code *code, bool at_end, bool is_return)
{
	const unsigned int reg = is_return ? RV_RA : RV_T1;

	if (at_end) {
		/* what is behind it begins a block */
		put_slot(code, rv_c_branch(8));
		for (int i = 1; i < LONG_BLOCK / 2; i++)
			put_slot(code, RV_C_NOP);
	}
	put_slot(code, rv_auipc(reg, 0));
	put_slot(code, rv_jalr(is_return ? 0 : rnd(2), reg, distance(code, false) + 4));
}

/*
 * All that goes back is branches, and what is behind them: the end leads to one. So whoever has no
 * more outcomes stops. Returns where a jump is that may be alone in a block; or the beginning.
 */
static uint64_t put_code(struct rv_code *code)
{
	const uint32_t long_block = rnd(3) ? SLOTS : 2 + rnd(SLOTS / 3);
	uint64_t alone = code->base;

	put_slot(code, rv_branch(4 + 4 * rnd(9)));
	while (code->pc - code->base < CODE_BYTES - 12) {
		if (code->pc - code->base == 4 * long_block) {
			put_load(code, true, rnd(3));
			alone = code->pc - 4;
			continue;
		}
		switch (rnd(18)) {
		case 0 ... 4: put_slot(code, rv_branch(distance(code, true))); break;
		case 5: put_slot(code, rv_c_branch(8)); break;
		case 6 ... 7: put_slot(code, rv_jal(RV_RA, distance(code, false))); break;
		case 8: put_slot(code, rv_jal(0, distance(code, false))); break;
		case 9 ... 10: put_slot(code, rv_c_jr(RV_RA)); break;
		case 11: put_slot(code, rv_c_jr(RV_A0)); break;
		case 12: put_slot(code, rv_c_jalr(RV_A0)); break;
		case 13: put_load(code, false, rnd(2)); break;
		case 14: put_slot(code, rv_jalr(rnd(2), 0, 0)); break;
		case 15: put_slot(code, RV_NOP); break;
		default: put_slot(code, RV_C_NOP); break;
		}
	}
	while (code->pc - code->base < CODE_BYTES - 4)
		put_slot(code, RV_C_NOP);
	rv_put(code, rv_jal(0, (int32_t)(code->base - code->pc)));
	return alone;
}

/* The second half is a mapping of its own. */
static void load_half(struct fixture *f)
{
	assert_int_equal(rvt_space_map_bytes(f->space, f->code.base + HALF, f->code.bytes + HALF,
					     CODE_BYTES - HALF, "half"), 0);
}

/* ---- messages ---- */

enum kind {
	USED,		/* ends with the last outcome */
	EXACT,		/* an indirect jump after so many half-words */
	FIRST,		/* the first indirect jump behind the last outcome */
	BRANCH,		/* the next branch behind the last outcome */
	KINDS,
};

struct message {
	enum kind kind;
	uint64_t from;			/* where it was made */
	unsigned int n;			/* outcomes */
	uint64_t outcomes, halfwords, target;
	uint8_t extra;
	unsigned int speculated;	/* in turn, lately */
};

#define RIGHT 20
#define MESSAGES (2 * RIGHT)
#define STARTS 4
#define MOST_OUTCOMES 40
#define MOST_INSNS 1000

struct play {
	struct trio *t;
	uint32_t flags;
	uint64_t alone;			/* see put_code() */
	uint64_t starts[STARTS];
	struct message messages[MESSAGES];
	/* of the flows that are not .plain: */
	bool in_row[2];
	struct rvt_memo_key key[2];
};

/*
 * How often, by kind: speculative walks, those that could have been for all that the message says,
 * and memos that were made of speculative walks.
 */
static unsigned int n_speculated[KINDS], n_refused[KINDS], n_memos[KINDS];

static bool jumps(const struct message *m)
{
	return m->kind == EXACT || m->kind == FIRST;
}

static struct rvt_order order_of(const struct play *p, const struct message *m)
{
	struct rvt_order o = unlimited();

	o.flags = p->flags;
	o.n_outcomes = m->n;
	o.outcomes = m->outcomes;
	if (m->kind == USED)
		o.flags |= RVT_RUN_STOP_USED;
	if (m->kind == EXACT)
		o.max_halfwords = m->halfwords;
	if (m->kind == FIRST) {
		o.flags |= RVT_RUN_STOP_PC;
		o.stop_pc = m->target;
	}
	return o;
}

/* Whether the message is true of what @f did for @done, which stopped there. */
static bool fits(const struct message *m, struct fixture *f, const struct rvt_order *done, int stop)
{
	enum rvt_insn_class iclass;
	uint64_t pc;

	if (done->used_outcomes != m->n || !rvt_flow_pc(f->flow, &pc) ||
	    !rvt_flow_last(f->flow, &(uint64_t){ 0 }, &iclass))
		return false;
	switch (m->kind) {
	case USED: return stop == RVT_STOP_USED || stop == RVT_STOP_OUTCOME;
	case EXACT:
		/* A return may have an idea where it leads. */
		return done->halfwords == m->halfwords &&
		       (stop == RVT_STOP_TARGET ||
			(stop == RVT_STOP_HALFWORDS && iclass == RVT_INSN_RETURN));
	case FIRST: return stop == RVT_STOP_TARGET;
	default: return stop == RVT_STOP_OUTCOME && rvt_flow_branch_at(f->flow, pc);
	}
}

/* ---- making them ---- */

/* Whether the message may end where @f has just executed an instruction. */
static bool may_end(const struct message *m, struct fixture *f, int stop, unsigned int used)
{
	enum rvt_insn_class iclass = RVT_INSN_SEQUENTIAL;
	uint64_t pc;

	rvt_flow_last(f->flow, &pc, &iclass);
	switch (m->kind) {
	case USED: return used == m->n && used;
	case EXACT: return stop == RVT_STOP_TARGET || (iclass == RVT_INSN_RETURN && !rnd(3));
	case FIRST: return stop == RVT_STOP_TARGET;
	default:
		return used == m->n && used && rvt_flow_pc(f->flow, &pc) &&
		       rvt_flow_branch_at(f->flow, pc);
	}
}

/* A message of @m's kind that is true from where @scout is, which goes its way. False: none. */
static bool find_message(const struct play *p, struct fixture *scout, struct message *m)
{
	unsigned int used = 0;
	bool again = false;

	m->outcomes = random_word(&numbers);
	m->n = rnd(rnd(3) ? 8 : MOST_OUTCOMES);
	m->halfwords = 0;
	for (unsigned int i = 0; i < MOST_INSNS; i++) {
		struct rvt_order o = unlimited();
		int stop;

		o.flags = p->flags;
		o.max_insns = 1;
		o.n_outcomes = 1;
		o.outcomes = m->outcomes >> used & 1;
		stop = rvt_flow_run(scout->flow, &o);
		if (stop == RVT_STOP_OUTCOME) {
			/* It is that of a jump. */
			m->outcomes ^= 1ull << used;
			assert_false(again);
			again = true;
			continue;
		}
		again = false;
		used += o.used_outcomes;
		m->halfwords += o.halfwords;
		if (used > MOST_OUTCOMES)
			return false;
		if (may_end(m, scout, stop, used)) {
			m->n = used;
			return true;
		}
		if (stop != RVT_STOP_INSNS)
			return false;
	}
	return false;
}

static uint64_t random_start(const struct play *p)
{
	return p->starts[rnd(STARTS)];
}

/* The same, but there is something wrong with it, most likely. */
static struct message wrong_message(const struct message *right)
{
	struct message m = *right;

	switch (rnd(jumps(right) ? 5 : 2)) {
	case 0: m.n++; break;
	case 1: m.n -= m.n > 1; break;
	case 2: m.halfwords += 1 + rnd(2); break;
	case 3: m.halfwords -= m.halfwords > 2 ? 1 + rnd(2) : 0; break;
	default: m.target = m.from + 4 * rnd(8); break;
	}
	return m;
}

static void make_messages(struct play *p, unsigned int depth)
{
	struct fixture *scout = malloc(sizeof(*scout));

	reference = true;
	set_up(scout, 0, depth);
	reference = false;
	scout->code = p->t->plain.code;
	load(scout);
	for (int i = 0; i < STARTS; i++)
		p->starts[i] = i ? scout->code.base + 4 * rnd(SLOTS) : p->alone;
	assert_int_equal(rvt_flow_start(scout->flow, p->starts[0], 0, true), 0);
	for (int i = 0; i < RIGHT; ) {
		struct message *m = &p->messages[i];

		*m = (struct message){
			/* those that jump lead to where others begin: they are played more often */
			.kind = rnd(3) ? (rnd(2) ? USED : BRANCH) : (rnd(2) ? EXACT : FIRST),
			.target = random_start(p), .extra = rnd(16),
		};
		assert_true(rvt_flow_pc(scout->flow, &m->from));
		if (!find_message(p, scout, m)) {
			rvt_flow_jump(scout->flow, random_start(p));
			continue;
		}
		if (jumps(m))
			rvt_flow_jump(scout->flow, m->target);
		p->messages[RIGHT + i++] = wrong_message(m);
	}
	tear_down(scout);
	free(scout);
}

/* ---- playing them ---- */

static struct fixture *tested(const struct play *p, int i)
{
	return i ? &p->t->counting : &p->t->fast;
}

static uint64_t pc_of(const struct fixture *f)
{
	uint64_t pc;

	assert_true(rvt_flow_pc(f->flow, &pc));
	return pc;
}

/* What can be seen of a flow that replays nothing. */
struct state {
	uint64_t pc;
	struct rvt_flow_stats stats;
	unsigned int depth;
	uint64_t returns[MOST_INSNS];
};

static struct state state_of(const struct fixture *f)
{
	struct state s = { .pc = pc_of(f), .depth = rvt_flow_return_depth(f->flow),
			   .stats.size = sizeof(s.stats) };

	rvt_flow_stats(f->flow, &s.stats);
	for (unsigned int i = 0; i < s.depth; i++)
		assert_true(rvt_flow_return_at(f->flow, i, &s.returns[i]));
	return s;
}

static void check_state(const struct fixture *f, const struct state *expected)
{
	const struct state s = state_of(f);

	assert_int_equal(s.pc, expected->pc);
	assert_memory_equal(&s.stats, &expected->stats, sizeof(s.stats));
	assert_int_equal(s.depth, expected->depth);
	assert_memory_equal(s.returns, expected->returns, s.depth * sizeof(s.returns[0]));
}

static void enter(struct play *p, int i)
{
	if (!p->in_row[i])
		assert_true(enter_memos(tested(p, i)->flow, &p->key[i]));
	p->in_row[i] = true;
}

static void leave(struct play *p, int i)
{
	if (p->in_row[i])
		rvt_memos_leave(tested(p, i)->flow);
	p->in_row[i] = false;
}

/* Replaying is over: all that was done in it is what the reference walk did. */
static void end_row(struct play *p)
{
	const struct fixture *plain = &p->t->plain, *fast = &p->t->fast;
	const struct state now = state_of(plain);

	for (int i = 0; i < 2; i++) {
		leave(p, i);
		check_state(tested(p, i), &now);
		rvt_flow_flush(tested(p, i)->flow);
	}
	rvt_flow_flush(plain->flow);
	assert_true(plain->out.n < MAX_PCS);
	assert_int_equal(fast->out.n, plain->out.n);
	assert_memory_equal(fast->out.pcs, plain->out.pcs,
			    plain->out.n * sizeof(plain->out.pcs[0]));
	tally(p->t);
	p->t->plain.out.n = p->t->fast.out.n = 0;
}

/* The message, as a speculative walk if it can be. NULL: nothing has happened. */
static struct rvt_memo *speculate(struct play *p, int i, const struct message *m)
{
	const struct rvt_speculation spec = {
		.flags = p->flags, .n_outcomes = m->n, .jumps = jumps(m),
		.outcomes = m->outcomes & ((1ull << m->n) - 1),
		.to_branch = m->kind == BRANCH, .halfwords = m->kind == EXACT ? m->halfwords : 0,
		.target = jumps(m) ? m->target : 0, .extra = m->extra,
	};
	bool whole;
	struct rvt_memo *memo = rvt_speculate(tested(p, i)->flow, &spec, &whole);

	if (memo)
		assert_true(whole);
	return memo;
}

/* As decoders do what is neither a memo nor a speculative walk. */
static void walk(struct play *p, int i, const struct message *m, bool fitting, int expected)
{
	struct rvt_flow *flow = tested(p, i)->flow;
	struct rvt_order o = order_of(p, m);

	rvt_memos_record_missed(flow);
	assert_int_equal(rvt_flow_run(flow, &o), expected);
	if (jumps(m))
		rvt_flow_jump(flow, m->target);
	if (!fitting)
		rvt_memos_drop(flow);
	else if (rvt_memos_recording(flow))
		rvt_memos_keep(flow, jumps(m) ? m->target : p->key[i].address, m->extra, 0);
}

/*
 * The message as a memo, a speculative walk, or what decoders do else. @before: of the reference
 * walk, which stopped for @stop.
 */
static void take(struct play *p, int i, struct message *m, bool fitting, int stop,
		 const struct state *before)
{
	struct rvt_flow *flow = tested(p, i)->flow;
	struct rvt_memo_key *key = &p->key[i];
	struct rvt_memo *memo;

	enter(p, i);
	key->bytes[0] = m - p->messages + 1;
	key->address = 0;
	/* what else decides where they lead */
	key->state = p->flags | flow->base.returns.depth << 16 |
		     (uint32_t)rvt_memos_consecutive(flow) << 31;
	memo = rvt_memos_take(flow, key, rvt_memo_hash(key), key->bytes[0], true);
	if (memo) {
		assert_true(rvt_memos_apply(flow, memo));
		n_memos[m->kind] += m->speculated >= 2;
	} else {
		memo = speculate(p, i, m);
		n_speculated[m->kind] += !!memo;
		n_refused[m->kind] += !memo && fitting && !flow->base.returns.recursions;
		if (i)
			m->speculated = memo ? m->speculated + 1 : 0;
	}
	if (memo) {
		assert_true(fitting);
		assert_int_equal(memo->extra, m->extra);
		set_cursor(key, rvt_memo_cursor_at(flow, memo->pc));
		key->address = rvt_memo_address(memo, key->address);
		assert_int_equal(key->address, jumps(m) ? m->target : 0);
		if (jumps(m))
			assert_false(rvt_memos_consecutive(flow));
		return;
	}
	leave(p, i);
	check_state(tested(p, i), before);
	walk(p, i, m, fitting, stop);
}

/* Returns whether it was true. */
static bool play(struct play *p, struct message *m)
{
	struct fixture *plain = &p->t->plain;
	const struct state before = state_of(plain);
	struct rvt_order o = order_of(p, m);
	const int stop = rvt_flow_run(plain->flow, &o);
	const bool fitting = fits(m, plain, &o, stop);

	if (jumps(m))
		rvt_flow_jump(plain->flow, m->target);
	rvt_flow_flush(plain->flow);
	for (int i = 0; i < 2; i++) {
		take(p, i, m, fitting, stop, &before);
		assert_int_equal(p->in_row[i] ? p->key[i].pc : pc_of(tested(p, i)), pc_of(plain));
		same_returns(tested(p, i), plain);
	}
	return fitting;
}

/* Another message that may come where the flows are; NULL: none. */
static struct message *next_message(struct play *p, const struct message *last)
{
	const uint64_t pc = pc_of(&p->t->plain);
	const unsigned int from = rnd(8) ? last - p->messages + 1 : rnd(MESSAGES);

	for (unsigned int i = 0; i < MESSAGES; i++) {
		struct message *m = &p->messages[(from + i) % MESSAGES];

		if (m->from == pc && (m < p->messages + RIGHT || rnd(8) == 0))
			return m;
	}
	return NULL;
}

static void jump_to(struct play *p, uint64_t pc)
{
	end_row(p);
	rvt_flow_jump(p->t->plain.flow, pc);
	for (int i = 0; i < 2; i++)
		rvt_flow_jump(tested(p, i)->flow, pc);
}

static struct fixture *member(const struct play *p, int i)
{
	return i < 2 ? tested(p, i) : &p->t->plain;
}

/* What a jump needs to know was executed just before it, which is in the next message. */
static void fall_to_jump(struct play *p)
{
	if (p->alone == p->t->plain.code.base)
		return;
	jump_to(p, p->alone - 4);
	for (int i = 0; i < 3; i++) {
		struct rvt_order o = unlimited();

		o.max_insns = 1;
		assert_int_equal(rvt_flow_run(member(p, i)->flow, &o), RVT_STOP_INSNS);
	}
	end_row(p);
}

/* One slot but the first is other code, or all is as it was. */
static void change_code(struct play *p)
{
	const uint32_t nops = RV_C_NOP << 16 | RV_C_NOP, nop = RV_NOP;
	const uint32_t at = 4 * (1 + rnd(SLOTS - 1));
	const bool back = rnd(2);

	for (int i = 0; i < 3; i++) {
		struct fixture *f = member(p, i);
		/* as long as what was there */
		const void *other = (f->code.bytes[at] & 3) == 3 ? &nop : &nops;

		if (back)
			load(f);
		else
			assert_int_equal(rvt_space_map_bytes(f->space, f->code.base + at, other, 4,
							     "other"), 0);
	}
}

static void start(struct play *p, uint64_t pc)
{
	for (int i = 0; i < 3; i++)
		rvt_flow_start(member(p, i)->flow, pc, 0, true);
}

/* What is known must be known to hold no more. */
static void change_something(struct play *p)
{
	end_row(p);
	switch (rnd(8)) {
	case 0: change_code(p); break;
	case 1: renew_flows(p->t); start(p, random_start(p)); break;
	case 2: change_depth(p->t, rnd(4) ? 0 : 3); break;
	case 3: p->flags ^= RVT_RUN_IMPLICIT_RETURN; break;
	default: change_owner(p->t); break;
	}
}

static void play_messages(struct play *p, unsigned int n)
{
	struct message *m = &p->messages[0];

	for (unsigned int i = 0; i < n; i++) {
		struct message *next = rnd(5) && i ? next_message(p, m) : NULL;

		if (!next) {
			next = &p->messages[rnd(4) ? rnd(RIGHT) : rnd(MESSAGES)];
			jump_to(p, next->from);
			if (next->from == p->alone && rnd(4) == 0)
				fall_to_jump(p);
		}
		m = next;
		if (!play(p, m))
			jump_to(p, random_start(p));
		if (p->t->plain.out.n > MAX_PCS / 4 || rnd(30) == 0)
			end_row(p);
		if (rnd(60) == 0)
			change_something(p);
	}
	end_row(p);
}

static void test_messages(void **state)
{
	static const unsigned int depths[] = { 0, 1, 2, 3, 5, 32 };
	static const uint32_t flags[] = {
		0, RVT_RUN_IMPLICIT_RETURN, RVT_RUN_IMPLICIT_RETURN | RVT_RUN_SEQUENTIAL_JUMP,
		RVT_RUN_IMPLICIT_RETURN | RVT_RUN_ALL_JUMPS,
		RVT_RUN_IMPLICIT_RETURN | RVT_RUN_SEQUENTIAL_JUMP | RVT_RUN_ABSOLUTE_JUMP,
	};
	const unsigned int programs = property_share(400);
	struct trio *t = malloc(sizeof(*t));

	(void)state;
	for (unsigned int program = 0; program < programs; program++) {
		const unsigned int depth = depths[program % 6];
		struct play p = { .t = t, .flags = flags[program % 5] };

		random_seed(&numbers, program + 1);
		trio_begin(t, depth);
		p.alone = put_code(&t->fast.code);
		trio_load(t);
		if (program % 4 == 3)
			for (int i = 0; i < 3; i++)
				load_half(member(&p, i));
		make_messages(&p, depth);
		start(&p, p.starts[0]);
		play_messages(&p, 300);
		trio_end(t);
	}
	for (int i = 0; i < KINDS; i++) {
		assert_true(n_speculated[i] > n_refused[i] / 2);
		assert_true(n_memos[i] > 5 * programs);
	}
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
