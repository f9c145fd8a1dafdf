// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include "random-hart.h"
#include "rv-asm.h"

#define N_SLOTS (HART_BYTES / 2)
#define STACK 64

enum kind {
	NOT_AN_INSN,	/* the second half of one */
	PLAIN, BRANCH, DIRECT, INDIRECT, LOAD, TRAP_RETURN, ECALL,
};

struct slot {
	enum kind kind;
	uint8_t halfwords;
	uint8_t rd, rs1;
	uint8_t bias;		/* branches: taken how often of 256 */
	int64_t value;		/* branch, direct: target; load: register; indirect: offset */
};

struct hart {
	uint64_t seed;
	bool rv32;
	uint8_t code[HART_BYTES];
	struct slot slots[N_SLOTS];
	uint64_t pc, epc;
	uint64_t stack[STACK];	/* where calls return to: mostly they do */
	unsigned int depth;
	bool after_load;	/* the last instruction was slots[].kind LOAD */
	struct slot load;
	/* the run that has not been reported yet */
	struct rvt_retire run;
	struct hart_truth *truth;
	size_t n_truth;
};

uint32_t hart_random(struct hart *h, uint32_t n)
{
	h->seed = h->seed * 6364136223846793005u + 1442695040888963407u;
	return (h->seed >> 33) % n;
}

/* ---- the program ---- */

static unsigned int put(struct hart *h, unsigned int i, const struct slot *slot, uint32_t code)
{
	h->slots[i] = *slot;
	h->slots[i].halfwords = (code & 3) == 3 ? 2 : 1;
	for (unsigned int b = 0; b < 2u * h->slots[i].halfwords; b++)
		h->code[2 * i + b] = code >> 8 * b;
	return i + h->slots[i].halfwords;
}

static unsigned int random_reg(struct hart *h)
{
	static const uint8_t regs[] = { 0, 0, RV_RA, RV_RA, RV_T0, RV_T1, 7 };

	return regs[hart_random(h, sizeof(regs))];
}

/* Targets are fixed up once it is known where instructions begin. */
static unsigned int make_flow(struct hart *h, unsigned int i)
{
	struct slot s = { .kind = PLAIN };
	unsigned int rd = random_reg(h), rs1 = 1 + random_reg(h) % 7;

	switch (hart_random(h, 8)) {
	case 0 ... 3:
		s.kind = BRANCH;
		s.bias = hart_random(h, 3) ? hart_random(h, 256) : (hart_random(h, 2) ? 250 : 6);
		return put(h, i, &s, rv_branch(0));
	case 4:
		s.kind = DIRECT;
		s.rd = rd;
		return put(h, i, &s, rv_jal(rd, 0));
	case 5:
		s.kind = INDIRECT;
		s.rd = rd;
		s.rs1 = rs1;
		return put(h, i, &s, rv_jalr(rd, rs1, 0));
	case 6:
		s.kind = INDIRECT;
		s.rs1 = RV_RA;
		return put(h, i, &s, rv_c_jr(RV_RA));
	default:
		s.kind = hart_random(h, 2) ? TRAP_RETURN : ECALL;
		return put(h, i, &s, s.kind == ECALL ? RV_ECALL : RV_SRET);
	}
}

static unsigned int make_insn(struct hart *h, unsigned int i)
{
	struct slot s = { .kind = PLAIN }, jump = { .kind = INDIRECT };

	switch (hart_random(h, 10)) {
	case 0 ... 3:
		return put(h, i, &s, RV_NOP);
	case 4 ... 5:
		return put(h, i, &s, RV_C_NOP);
	case 6:
		if (hart_random(h, 3))
			return put(h, i, &s, RV_C_NOP);
		s.kind = LOAD;
		s.rd = jump.rs1 = hart_random(h, 2) ? RV_T1 : RV_RA;
		jump.rd = random_reg(h);
		s.value = HART_BASE + 2 * i;
		i = put(h, i, &s, rv_auipc(s.rd, 0));
		return put(h, i, &jump, rv_jalr(jump.rd, jump.rs1, 0));
	default:
		return make_flow(h, i);
	}
}

static uint64_t insn_near(struct hart *h, unsigned int i, unsigned int distance)
{
	unsigned int from = i > distance ? i - distance : 0;
	unsigned int to = i + distance < N_SLOTS ? i + distance : N_SLOTS;
	unsigned int j;

	do
		j = from + hart_random(h, to - from);
	while (h->slots[j].kind == NOT_AN_INSN);
	return HART_BASE + 2 * j;
}

static void set_code(struct hart *h, unsigned int i, uint32_t code)
{
	for (unsigned int b = 0; b < 4; b++)
		h->code[2 * i + b] = code >> 8 * b;
}

static void fix_targets(struct hart *h)
{
	for (unsigned int i = 0; i < N_SLOTS; i++) {
		struct slot *s = &h->slots[i];
		uint64_t pc = HART_BASE + 2 * i;

		if (s->kind == BRANCH) {
			s->value = insn_near(h, i, 60);
			set_code(h, i, rv_branch(s->value - pc));
		} else if (s->kind == DIRECT) {
			s->value = insn_near(h, i, N_SLOTS);
			set_code(h, i, rv_jal(s->rd, s->value - pc));
		} else if (s->kind == INDIRECT && i >= 2 && h->slots[i - 2].kind == LOAD) {
			s->value = (int64_t)(insn_near(h, i, 500) - h->slots[i - 2].value);
			set_code(h, i, rv_jalr(s->rd, s->rs1, s->value));
		}
	}
}

struct hart *hart_create(uint64_t seed, bool rv32)
{
	struct hart *h = calloc(1, sizeof(*h));
	struct slot nop = { .kind = PLAIN };
	unsigned int i = 0;

	h->seed = seed * 2654435761u + 1;
	h->rv32 = rv32;
	h->truth = calloc(HART_MAX_TRUTH, sizeof(h->truth[0]));
	while (i < N_SLOTS - 8)
		i = make_insn(h, i);
	while (i < N_SLOTS - 2)
		i = put(h, i, &nop, RV_C_NOP);
	nop.kind = DIRECT;
	put(h, i, &nop, rv_jal(0, 0));
	fix_targets(h);
	h->pc = HART_BASE;
	h->epc = HART_BASE;
	return h;
}

void hart_destroy(struct hart *h)
{
	free(h->truth);
	free(h);
}

const uint8_t *hart_code(const struct hart *h)
{
	return h->code;
}

uint64_t hart_pc(const struct hart *h)
{
	return h->pc;
}

const struct hart_truth *hart_truth(const struct hart *h, size_t *n)
{
	*n = h->n_truth;
	return h->truth;
}

/* ---- the hart ---- */

static void note(struct hart *h, enum hart_record type, uint64_t target, bool interrupt)
{
	if (h->n_truth == HART_MAX_TRUTH)
		abort();
	h->truth[h->n_truth++] = (struct hart_truth){ type, interrupt, h->pc, target };
}

static void report_run(struct hart *h, const struct hart_sink *sink)
{
	if (h->run.insns)
		sink->retire(sink->ctx, &h->run);
	memset(&h->run, 0, sizeof(h->run));
}

static bool is_link(unsigned int reg)
{
	return reg == RV_RA || reg == RV_T0;
}

/* The table "itype" of the specification. */
static enum rvt_itype itype_of(const struct slot *s, bool taken)
{
	switch (s->kind) {
	case BRANCH:
		return taken ? RVT_ITYPE_BRANCH_TAKEN : RVT_ITYPE_BRANCH_NOT_TAKEN;
	case DIRECT:
		if (is_link(s->rd))
			return RVT_ITYPE_CALL;
		return s->rd ? RVT_ITYPE_JUMP_LINKED : RVT_ITYPE_JUMP;
	case INDIRECT:
		if (is_link(s->rd))
			return is_link(s->rs1) && s->rs1 != s->rd ? RVT_ITYPE_COROUTINE :
								    RVT_ITYPE_IND_CALL;
		if (is_link(s->rs1))
			return RVT_ITYPE_RETURN;
		return s->rd ? RVT_ITYPE_IND_JUMP_LINKED : RVT_ITYPE_IND_JUMP;
	case TRAP_RETURN:
		return RVT_ITYPE_TRAP_RETURN;
	default:
		return RVT_ITYPE_NONE;
	}
}

static void push(struct hart *h, uint64_t pc)
{
	if (h->depth == STACK)
		memmove(h->stack, h->stack + 1, --h->depth * sizeof(h->stack[0]));
	h->stack[h->depth++] = pc;
}

/* Mostly to where the call came from; sometimes, as longjmp() does, elsewhere. */
static uint64_t return_target(struct hart *h)
{
	uint64_t pc = h->depth ? h->stack[--h->depth] : 0;

	if (pc && pc < HART_BASE + HART_BYTES && hart_random(h, 10) &&
	    h->slots[(pc - HART_BASE) / 2].kind != NOT_AN_INSN)
		return pc;
	return insn_near(h, hart_random(h, N_SLOTS), 200);
}

static uint64_t indirect_target(struct hart *h, const struct slot *s, enum rvt_itype itype,
				bool sijump)
{
	uint64_t popped = itype == RVT_ITYPE_RETURN || itype == RVT_ITYPE_COROUTINE ?
			  return_target(h) : 0;

	if (sijump)
		return h->load.value + s->value;
	return popped ? popped : insn_near(h, hart_random(h, N_SLOTS), 100);
}

static void take_trap(struct hart *h, const struct hart_sink *sink, const struct slot *ecall)
{
	struct rvt_trap trap = { .epc = h->pc, .interrupt = !ecall, .cause = ecall ? 8 : 5 };

	report_run(h, sink);
	trap.handler = insn_near(h, hart_random(h, 40), 20);
	trap.ecall_halfwords = ecall ? ecall->halfwords : 0;
	note(h, HART_TRAP, trap.handler, trap.interrupt);
	sink->trap(sink->ctx, &trap);
	h->epc = h->pc;
	h->pc = trap.handler;
	h->after_load = false;
}

static void add_to_run(struct hart *h, const struct slot *s)
{
	struct rvt_retire *run = &h->run;

	if (!run->insns)
		run->first_pc = h->pc;
	run->last_pc = h->pc;
	run->insns++;
	run->halfwords += s->halfwords;
	run->last_halfwords = s->halfwords;
}

static void execute(struct hart *h, const struct hart_sink *sink, const struct slot *s)
{
	uint64_t next = h->pc + 2 * s->halfwords;
	bool taken = s->kind == BRANCH && hart_random(h, 256) < s->bias;
	bool sijump = s->kind == INDIRECT && h->after_load && h->load.rd == s->rs1;
	enum rvt_itype itype = itype_of(s, taken);
	uint64_t link = next;

	note(h, HART_INSN, 0, false);
	add_to_run(h, s);
	h->run.itype = itype;
	h->run.sijump = sijump;
	if (taken || s->kind == DIRECT)
		next = s->value;
	else if (s->kind == INDIRECT)
		next = indirect_target(h, s, itype, sijump);
	else if (s->kind == TRAP_RETURN)
		next = hart_random(h, 4) ? h->epc : insn_near(h, hart_random(h, N_SLOTS), 100);
	if (itype == RVT_ITYPE_CALL || itype == RVT_ITYPE_IND_CALL || itype == RVT_ITYPE_COROUTINE)
		push(h, link);
	h->after_load = s->kind == LOAD;
	h->load = *s;
	h->pc = next;
	if (itype != RVT_ITYPE_NONE || hart_random(h, 50) == 0)
		report_run(h, sink);
}

void hart_run(struct hart *h, const struct hart_sink *sink, size_t steps)
{
	while (steps--) {
		const struct slot *s = &h->slots[(h->pc - HART_BASE) / 2];

		if (s->kind == ECALL && hart_random(h, 8))
			take_trap(h, sink, s);
		else if (s->kind == ECALL || hart_random(h, 60) == 0)
			take_trap(h, sink, NULL);
		else
			execute(h, sink, s);
	}
	report_run(h, sink);
}
