/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the library: the orders by which a protocol decoder drives a flow (rvtrace/flow.h).
 */
#ifndef FLOW_ORDER_H
#define FLOW_ORDER_H

#include <rvtrace/flow.h>

/* Where the last run() or order left off. */
enum rvt_stop {
	RVT_STOP_HALFWORDS,	/* max_halfwords executed */
	RVT_STOP_PC,		/* about to execute stop_pc, all outcomes used (RVT_RUN_STOP_PC) */
	RVT_STOP_OUTCOME,	/* about to execute a branch (or direct jump under ALL_JUMPS)
				 * for which no outcome is left; or a direct jump under
				 * ALL_JUMPS whose outcome is 0 (then outcomes are left) */
	RVT_STOP_TARGET,	/* executed an indirect jump or trap return whose target must be
				 * given with rvt_flow_jump() */
	RVT_STOP_RETURN,	/* executed a return (RVT_RUN_STOP_RETURN); the stack is popped and
				 * .popped is the address on top, or not valid */
	RVT_STOP_TRAP_INSN,	/* about to execute ecall/ebreak, which never retire */
	RVT_STOP_NO_CODE,	/* pc is unmapped */
	RVT_STOP_BAD_INSN,	/* illegal encoding at pc */
	RVT_STOP_MID_INSN,	/* max_halfwords ends inside an instruction (not executed) */
	RVT_STOP_INSNS,		/* max_insns executed */
	RVT_STOP_LOST,		/* there is no current pc: rvt_flow_start() first */
	RVT_STOP_USED,		/* all outcomes are used, the branch of the last one was executed;
				 * at once when there are none (RVT_RUN_STOP_USED) */
};

enum {
	RVT_RUN_IMPLICIT_RETURN = 1u << 0, /* returns go to the popped address if there is one */
	RVT_RUN_SEQUENTIAL_JUMP = 1u << 1, /* lui/auipc + jalr on the same register is inferable */
	RVT_RUN_ALL_JUMPS = 1u << 2,	   /* direct jumps and calls use up an outcome, 1 */
	RVT_RUN_STOP_PC = 1u << 3,
	RVT_RUN_STOP_RETURN = 1u << 4,
	RVT_RUN_NOT_TAKEN = 1u << 5,	   /* branches without outcome fall through (BTM) */
	/* rc7: ecall/ebreak use up half-words; still not output */
	RVT_RUN_ECALL_COUNTS = 1u << 6,
	RVT_RUN_STOP_USED = 1u << 7,	   /* not together with NOT_TAKEN */
	RVT_RUN_LAST_TAKEN = 1u << 8,	   /* BTM: with NOT_TAKEN, the branch (with ALL_JUMPS also
					    * the direct jump) that uses up the last half-word
					    * is taken; it needs no outcome */
	RVT_RUN_COROUTINE = 1u << 9,	   /* a co-routine swap pops and is a return, then pushes;
					    * else it leaves the return stack alone */
	RVT_RUN_ABSOLUTE_JUMP = 1u << 10,  /* jalr with rs1 = x0 is inferable */
	/*
	 * Not with .period, .refill, ALL_JUMPS or NOT_TAKEN. The outcomes behind the first .n_known
	 * are as the flow's branch predictor predicts them; all of them are noted there.
	 */
	RVT_RUN_PREDICTED = 1u << 11,
};

#define RVT_UNLIMITED UINT64_MAX

struct rvt_order {
	uint32_t flags;		/* RVT_RUN_* */
	uint64_t n_outcomes;	/* 0..64; any number with PREDICTED, .outcome or .refill */
	uint64_t outcomes;	/* bit 0 first; 1 = taken */
	/* If not NULL it gives the outcomes behind the first 64: puts up to 64 into *outcomes and
	 * returns how many, at least 1. May be asked for more than are used in the end. */
	uint32_t (*refill)(void *ctx, uint64_t *outcomes);
	void *refill_ctx;
	/* Outcomes come again after so many, at most 64; 0: they do not (repeated history). */
	uint32_t period;
	uint32_t n_known;	/* PREDICTED: of .n_outcomes, in .outcomes; 0..64 */
	/* If not NULL it is asked once for each of the n_outcomes branches, in order, when that is
	 * executed, and .outcomes is ignored (CTTE's branch prediction). Returns true: taken. */
	bool (*outcome)(void *ctx, uint64_t pc);
	void *outcome_ctx;
	uint64_t max_halfwords;	/* RVT_UNLIMITED or a count of 16-bit units */
	uint64_t max_insns;	/* RVT_UNLIMITED or a count of instructions */
	uint64_t stop_pc;	/* not tested before the first instruction was executed */
	/* results */
	uint64_t used_outcomes;
	uint32_t implicit_returns;
	uint64_t halfwords;	/* executed (and counted) */
	uint64_t popped;	/* by the return at which the order stopped (RETURN, TARGET) */
	bool popped_valid;
};

/* Begins flow at @pc (a synchronisation point). Clears the return stack if @clear_stack. */
int rvt_flow_start(struct rvt_flow *flow, uint64_t pc, uint64_t offset, bool clear_stack);
/*
 * rvt_flow_run - execute as far as the order allows. Returns an enum rvt_stop (>= 0), or a
 * negative error: from the sink (as given, or -ECANCELED if that was positive; rvt_flow_flush()
 * then returns the value itself), -ENOMEM. When several stops hold before the next instruction
 * the first of this list counts: TARGET, RETURN, INSNS, HALFWORDS, PC, NO_CODE, BAD_INSN,
 * MID_INSN, TRAP_INSN, OUTCOME, USED.
 * Calls push and returns pop the return stack in every mode.
 * An unbounded order over an infinite inferable loop stops with RVT_STOP_INSNS after 2^32.
 */
int rvt_flow_run(struct rvt_flow *flow, struct rvt_order *order);
/* The next instruction is at @pc (answer to RVT_STOP_TARGET, or an override after HALFWORDS). */
int rvt_flow_jump(struct rvt_flow *flow, uint64_t pc);
/* Trap: the next instruction is at @handler (RVT_UNLIMITED: not known yet, flow is lost). */
int rvt_flow_trap(struct rvt_flow *flow, const struct rvt_event *trap);
/* Any other event. LOST and STOP forget the pc. Fills .pc when the flow has one, unless .own_pc. */
int rvt_flow_event(struct rvt_flow *flow, struct rvt_event *event);
/* The last instruction executed: class, for decoders that must know; false if none. */
bool rvt_flow_last(const struct rvt_flow *flow, uint64_t *pc, enum rvt_insn_class *iclass);
/* The instruction that would be executed next. Returns 0, -ENOENT no code, -EILSEQ. */
int rvt_flow_peek(struct rvt_flow *flow, struct rvt_insn *insn);
/* The instruction at any @pc of the current space. Moves nothing. As rvt_flow_peek(). */
int rvt_flow_peek_at(struct rvt_flow *flow, uint64_t pc, struct rvt_insn *insn);
/* Whether there is a conditional branch at @pc. Cheap when the flow goes there next. */
bool rvt_flow_branch_at(struct rvt_flow *flow, uint64_t pc);
void rvt_flow_clear_returns(struct rvt_flow *flow);
unsigned int rvt_flow_return_depth(const struct rvt_flow *flow);
/* The return address @index entries below the top of the stack; false if there are not so many. */
bool rvt_flow_return_at(const struct rvt_flow *flow, unsigned int index, uint64_t *pc);
/*
 * Clears the stack and sets its depth (overrides the configuration). @recursion_max: a call whose
 * return address equals the one on top counts up that entry instead, up to this many times
 * (E-Trace 2.0.5 recursion counters; 0: every call takes an entry). Returns 0 or -ENOMEM.
 */
int rvt_flow_set_return_stack(struct rvt_flow *flow, unsigned int depth,
			      unsigned int recursion_max);

/*
 * The branch predictor of E-Trace encoders, for orders with RVT_RUN_PREDICTED.
 *
 * rvt_flow_set_predictions - one of 2^@bits entries, by bits of addresses from bit @shift (1 or 2)
 * up; all predict not taken. @bits 0 to 31; negative: there is none. Returns 0 or -ENOMEM.
 * rvt_flow_reset_predictions - all predict not taken again.
 * rvt_flow_predicts - whether the branch at @pc would be predicted as taken.
 */
int rvt_flow_set_predictions(struct rvt_flow *flow, int bits, unsigned int shift);
void rvt_flow_reset_predictions(struct rvt_flow *flow);
bool rvt_flow_predicts(struct rvt_flow *flow, uint64_t pc);

#endif
