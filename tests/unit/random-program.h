/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program of random instructions and a hart that walks it at random, for property tests. It knows
 * every instruction because it made it.
 */
#ifndef TESTS_RANDOM_PROGRAM_H
#define TESTS_RANDOM_PROGRAM_H

#include <rvtrace/image.h>
#include <rvtrace/retire.h>
#include "property.h"

#define PROGRAM_MAX_INSNS 500
#define PROGRAM_MAX_STACK 4000
#define NO_INSN -1

enum insn_kind {
	LINEAR, BRANCH, JUMP, CALL, JUMP_LINKED, IND_CALL, IND_JUMP, IND_JUMP_LINKED, COROUTINE,
	RETURN, TRAP_RETURN, ENV, ABSOLUTE, LOAD, SEQUENTIAL, KINDS
};

struct program_insn {
	enum insn_kind kind;
	uint64_t pc;
	unsigned int halfwords;
	int target;		/* index; BRANCH and jumps, SEQUENTIAL if its LOAD precedes */
	int favourite;		/* of indirect jumps */
	unsigned int period;	/* of branches; 0: random */
	unsigned int count;
	uint8_t rd;
	uint8_t bytes[8];
};

/* What the program may consist of, and what the hart may do. */
struct program_rules {
	unsigned int xlen;
	unsigned int n_regions;		/* 1 or 2 pieces of code */
	int region_insns;		/* an even number */
	uint64_t bases[2];		/* where they begin */
	bool only_words;		/* instructions of four bytes */
	bool absolute;			/* jalr with rs1 = x0, if its target is low enough */
	/*
	 * Direct jumps and calls go forward: an endless loop without branches cannot be told from
	 * its first round. And no call goes to where it returns to.
	 */
	bool forward;
	bool well_behaved;		/* every return goes back */
	bool coroutines_return;		/* co-routine swaps go where the stack says */
	bool privileges;		/* trap returns change the privilege */
	bool single;			/* runs of one instruction */
};

struct random_program {
	struct program_rules rules;
	struct random *random;
	struct history *executed;
	void (*retire)(void *ctx, const struct rvt_retire *run);	/* a run */
	void *ctx;

	struct program_insn insns[PROGRAM_MAX_INSNS];
	int n_insns;
	uint64_t stack[PROGRAM_MAX_STACK];
	int depth;
	int previous;		/* index of the instruction retired just before, or NO_INSN */
	uint8_t prv;
	struct rvt_retire run;	/* not yet told */
	bool in_run;
};

/* Makes a program by p->rules and maps it. */
void program_make(struct random_program *p, struct rvt_space *space);
/* The index of the instruction at @pc; fails the test if there is none. */
int program_find(const struct random_program *p, uint64_t pc);
/* Executes instruction @i and returns the index of the next. */
int program_step(struct random_program *p, int i);
/* All that retired has been told. */
void program_flush(struct random_program *p);
/* Whether every instruction of @decoded is one of the program's; else says which is not. */
bool program_has(const struct random_program *p, const struct history *decoded);

#endif
