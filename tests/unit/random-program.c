// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "random-program.h"
#include "rv-asm.h"

static unsigned int below(struct random_program *p, unsigned int n)
{
	return random_below(p->random, n);
}

static bool one_in(struct random_program *p, unsigned int n)
{
	return random_one_in(p->random, n);
}

/* ---- the program ---- */

static unsigned int random_length(struct random_program *p, enum insn_kind kind)
{
	static const uint8_t linear[] = { 1, 1, 1, 2, 2, 2, 2, 3, 4 };

	if (p->rules.only_words)
		return 2;
	switch (kind) {
	case LINEAR:
		return linear[below(p, sizeof(linear))];
	case BRANCH:
	case JUMP:
	case RETURN:
	case IND_CALL:
	case IND_JUMP:
	case ENV:
		return 1 + below(p, 2);
	default:
		return 2;
	}
}

/* The end of a region must be left: jumps there are none that go forward. */
static enum insn_kind random_kind(struct random_program *p, int i, int last)
{
	static const enum insn_kind often[] = {
		LINEAR, LINEAR, LINEAR, LINEAR, LINEAR, BRANCH, BRANCH, BRANCH, CALL, RETURN, LOAD,
	};
	enum insn_kind kind = one_in(p, 4) ? below(p, SEQUENTIAL) : often[below(p, 11)];

	if (i > last - 4)
		kind = i % 2 ? IND_JUMP : LINEAR;
	if (kind == ABSOLUTE && (!p->rules.absolute || p->rules.bases[0] >= 0x800 - 2))
		kind = LINEAR;
	return kind;
}

static void choose_kinds(struct random_program *p, int first, uint64_t base)
{
	int last = first + p->rules.region_insns - 1;
	uint64_t pc = base;

	for (int i = first; i <= last; i++) {
		struct program_insn *insn = &p->insns[i];

		insn->kind = random_kind(p, i, last);
		if (i > first && p->insns[i - 1].kind == LOAD)
			insn->kind = SEQUENTIAL;
		insn->halfwords = random_length(p, insn->kind);
		insn->pc = pc;
		pc += 2 * insn->halfwords;
	}
}

/* An instruction of the same region at most @distance instructions away. */
static int choose_target(struct random_program *p, int i, int distance, bool forward)
{
	int first = i / p->rules.region_insns * p->rules.region_insns;
	int last = first + p->rules.region_insns - 1;
	int low = forward ? i + 2 : i - distance, high = i + distance;

	if (low < first)
		low = first;
	if (high > last)
		high = last;
	if (low > high)
		low = high;
	return low + below(p, high - low + 1);
}

static void put(struct program_insn *insn, uint64_t code)
{
	for (unsigned int i = 0; i < 2 * insn->halfwords; i++)
		insn->bytes[i] = code >> 8 * i;
}

/* lui or auipc of a5, and the jalr behind it */
static void encode_pair(struct random_program *p, struct program_insn *load,
			struct program_insn *jump)
{
	static const uint8_t links[] = { RV_ZERO, RV_RA, RV_T1 };
	uint64_t target = p->insns[jump->target].pc, page = target + 0x800;
	/* lui reaches the lowest and highest 2 GiB of 64-bit addresses */
	bool lui = ((int64_t)page == (int32_t)page || p->rules.xlen == 32) && one_in(p, 2);
	uint64_t base = lui ? 0 : load->pc;
	uint32_t imm20 = (target - base + 0x800) >> 12 & 0xfffff;

	jump->rd = links[below(p, 3)];
	put(load, lui ? rv_lui(15, imm20) : rv_auipc(15, imm20));
	put(jump, rv_jalr(jump->rd, 15, target - base - ((uint64_t)imm20 << 12)));
}

static void choose_targets(struct random_program *p, int i)
{
	struct program_insn *insn = &p->insns[i];
	bool forward = p->rules.forward && insn->kind != BRANCH;
	int distance = p->rules.region_insns / (p->rules.forward ? 4 : 1);

	if (insn->halfwords == 1)
		distance = insn->kind == BRANCH ? 14 : 120;
	insn->target = choose_target(p, i, distance, forward);
	insn->favourite = below(p, p->n_insns);
	insn->period = one_in(p, 2) ? 1 + below(p, 40) : 0;
}

static void encode(struct random_program *p, int i)
{
	struct program_insn *insn = &p->insns[i];
	bool compressed = insn->halfwords == 1;
	int64_t distance;

	choose_targets(p, i);
	distance = p->insns[insn->target].pc - insn->pc;
	switch (insn->kind) {
	case BRANCH:
		put(insn, compressed ? rv_c_branch(distance) : rv_branch(distance));
		break;
	case JUMP:
		put(insn, compressed ? rv_c_j(distance) : rv_jal(RV_ZERO, distance));
		break;
	case CALL:
		put(insn, rv_jal(one_in(p, 4) ? RV_T0 : RV_RA, distance));
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
		put(insn, one_in(p, 2) ? rv_jalr(RV_RA, RV_T0, 0) : rv_jalr(RV_T0, RV_RA, 0));
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
		put(insn, rv_jalr(RV_ZERO, RV_ZERO, p->insns[insn->target].pc));
		break;
	case LOAD:
		/* encoded with its jump */
		break;
	case SEQUENTIAL:
		encode_pair(p, &p->insns[i - 1], insn);
		break;
	default:
		put(insn, (const uint64_t[]){ RV_C_NOP, RV_NOP, 0x1f, 0x3f }[insn->halfwords - 1]);
		break;
	}
}

void program_make(struct random_program *p, struct rvt_space *space)
{
	p->n_insns = p->rules.n_regions * p->rules.region_insns;
	for (unsigned int r = 0; r < p->rules.n_regions; r++)
		choose_kinds(p, r * p->rules.region_insns, p->rules.bases[r]);
	for (int i = 0; i < p->n_insns; i++)
		encode(p, i);
	for (int i = 0; i < p->n_insns; i++)
		assert_int_equal(rvt_space_map_bytes(space, p->insns[i].pc, p->insns[i].bytes,
						     2 * p->insns[i].halfwords, "program"), 0);
	p->previous = NO_INSN;
}

int program_find(const struct random_program *p, uint64_t pc)
{
	for (int i = 0; i < p->n_insns; i++)
		if (p->insns[i].pc == pc)
			return i;
	fail_msg("no instruction at 0x%" PRIx64, pc);
	return 0;
}

/* ---- the walk ---- */

static enum rvt_itype itype_of(const struct program_insn *insn, bool taken)
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

void program_flush(struct random_program *p)
{
	if (p->in_run)
		p->retire(p->ctx, &p->run);
	p->in_run = false;
}

static void retire(struct random_program *p, const struct program_insn *insn, bool taken,
		   bool sijump)
{
	enum rvt_itype itype = itype_of(insn, taken);

	if (!p->in_run)
		p->run = (struct rvt_retire){ .first_pc = insn->pc, .prv = p->prv };
	p->in_run = true;
	p->run.last_pc = insn->pc;
	p->run.insns++;
	p->run.halfwords += insn->halfwords;
	p->run.last_halfwords = insn->halfwords;
	p->run.itype = itype;
	p->run.sijump = sijump;
	p->run.absolute = insn->kind == ABSOLUTE;
	p->executed->pcs[p->executed->n_pcs++] = insn->pc;
	if (itype != RVT_ITYPE_NONE || p->rules.single || one_in(p, 8))
		program_flush(p);
}

static void push(struct random_program *p, const struct program_insn *insn)
{
	if (p->depth == PROGRAM_MAX_STACK)
		p->depth = 0;
	p->stack[p->depth++] = insn->pc + 2 * insn->halfwords;
}

static int indirect_target(struct random_program *p, const struct program_insn *insn)
{
	return one_in(p, 4) ? (int)below(p, p->n_insns) : insn->favourite;
}

static int call_target(struct random_program *p, const struct program_insn *insn)
{
	int target = indirect_target(p, insn);

	return p->rules.forward && target == insn - p->insns + 1 ? target - 1 : target;
}

static int return_target(struct random_program *p, const struct program_insn *insn)
{
	uint64_t top;

	if (!p->depth)
		return indirect_target(p, insn);
	top = p->stack[--p->depth];
	if (!p->rules.well_behaved && one_in(p, 8))
		return indirect_target(p, insn);
	return program_find(p, top);
}

static int coroutine_target(struct random_program *p, const struct program_insn *insn)
{
	int target;

	if (!p->rules.coroutines_return)
		return indirect_target(p, insn);
	target = return_target(p, insn);
	push(p, insn);
	return target;
}

static bool branch_taken(struct random_program *p, struct program_insn *insn)
{
	if (!insn->period)
		return one_in(p, 2);
	/* loops are left now and then */
	return one_in(p, 300) ? one_in(p, 2) : ++insn->count % insn->period != 0;
}

int program_step(struct random_program *p, int i)
{
	struct program_insn *insn = &p->insns[i];
	bool taken = insn->kind == BRANCH && branch_taken(p, insn);
	bool sijump = insn->kind == SEQUENTIAL && p->previous == i - 1;

	retire(p, insn, taken, sijump);
	p->previous = i;
	switch (insn->kind) {
	case BRANCH:
		return taken ? insn->target : i + 1;
	case JUMP:
	case JUMP_LINKED:
	case ABSOLUTE:
		return insn->target;
	case CALL:
		push(p, insn);
		return insn->target;
	case IND_CALL:
		push(p, insn);
		return call_target(p, insn);
	case TRAP_RETURN:
		if (p->rules.privileges && one_in(p, 2))
			p->prv = below(p, 2);
		return indirect_target(p, insn);
	case IND_JUMP:
	case IND_JUMP_LINKED:
		return indirect_target(p, insn);
	case COROUTINE:
		return coroutine_target(p, insn);
	case RETURN:
		return return_target(p, insn);
	case SEQUENTIAL:
		if (insn->rd == RV_RA)
			push(p, insn);
		return sijump ? insn->target : call_target(p, insn);
	default:
		return i + 1;
	}
}

bool program_has(const struct random_program *p, const struct history *decoded)
{
	for (size_t i = 0; i < decoded->n_pcs; i++) {
		int k = 0;

		while (k < p->n_insns && decoded->pcs[i] - p->insns[k].pc >=
		       2 * p->insns[k].halfwords)
			k++;
		if (k == p->n_insns) {
			print_error("0x%" PRIx64 " is not in the program\n", decoded->pcs[i]);
			return false;
		}
	}
	return true;
}
