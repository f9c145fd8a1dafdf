/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The flow engine: follows one hart's program through its code on the orders of a protocol
 * decoder. It is the only code that follows a program. It knows code, not packets.
 *
 * Threads: one at a time calls for a flow, and call-backs come in that thread. Flows may be used in
 * several threads at once, even over the same spaces, as long as no thread changes an image, a
 * space or a mapping (rvtrace/image.h).
 */
#ifndef RVTRACE_FLOW_H
#define RVTRACE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/insn.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

struct rvt_access;
struct rvt_space;
struct rvt_flow;

/* A basic block as the engine caches it: instructions up to and including the first that can
 * change the pc (or as far as code is readable, or up to a limit of the engine: then .iclass is
 * RVT_INSN_SEQUENTIAL). Runs may cover only part of a block; ecall and ebreak end a block but
 * are in no run. Valid as long as the image. */
struct rvt_block {
	uint64_t pc;
	uint32_t insns;
	uint32_t bytes;
	const uint8_t *halfwords;	/* length of each instruction, in 16-bit units */
	uint8_t iclass;			/* of the last instruction, enum rvt_insn_class */
	uint64_t target;		/* of the last instruction, when it is known; else 0 */
};

/* @count retired instructions of a block, from its instruction number @first on. */
struct rvt_run {
	const struct rvt_block *block;
	uint32_t first;
	uint32_t count;
};

/* The address of instruction @n of a run: 0 to @run->count - 1, or what lies behind the last. */
static inline uint64_t rvt_run_insn_address(const struct rvt_run *run, uint32_t n)
{
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + n; i++)
		pc += 2 * run->block->halfwords[i];
	return pc;
}

enum rvt_event_type {
	RVT_EVENT_START,	/* flow begins or resumes at .pc after a gap or a stop */
	RVT_EVENT_STOP,		/* tracing was switched off, filtered out, or debug was entered */
	RVT_EVENT_TRAP,		/* exception or interrupt; .pc is the EPC, .target the handler */
	RVT_EVENT_CONTEXT,	/* .context is what holds from here on */
	RVT_EVENT_TIME,		/* .time, in units of the trace timestamp */
	RVT_EVENT_LOST,		/* flow is unknown from here to the next START */
	RVT_EVENT_MARK,		/* .mark happened at .pc; it changes nothing of the flow */
	/*
	 * .access was traced; it changes nothing of the flow. .pc is where the flow is, not that of
	 * its instruction. Only to those who ask for accesses (rvtrace/access.h).
	 */
	RVT_EVENT_ACCESS,
};

/* What a MARK is. */
enum rvt_mark {
	RVT_MARK_EVENT,		/* trace event: a trigger of the hart, which a debugger has set */
	RVT_MARK_TRIGGER,	/* external trigger */
	/*
	 * The program wrote .value, of .value_bytes, to .tag: number of a stimulus register, or
	 * what else the encoder has for it. .pc: what was executed before it was sent, at least
	 */
	RVT_MARK_USER,
	/*
	 * Of encoders that report events apart from the flow (SiFive): with flow, what it is has
	 * messages of its own. .value of a WATCHPOINT and a TRIGGER: which, if that was told; of
	 * EXCEPTION and INTERRUPT: the cause; of CONTROL: SiFive's event code.
	 */
	RVT_MARK_WATCHPOINT,
	RVT_MARK_CALL,		/* a call or return, to .target if that was told (else 0) */
	RVT_MARK_EXCEPTION,
	RVT_MARK_INTERRUPT,
	RVT_MARK_PC_SAMPLE,
	RVT_MARK_CONTROL,
	/*
	 * The encoder dropped messages, none of them of the flow. .value: which, as N-Trace's ECODE
	 * has it. With RVT_MARK_LOST_OWNERSHIP in it the context is not known until it is told
	 * again.
	 */
	RVT_MARK_LOST,
	/*
	 * None of the trace: a view of a recording puts it where the recorder saw something happen.
	 * .detail: what.
	 */
	RVT_MARK_RECORDER,
	/* The same, of a sample that has the trace before it. .detail: of which event */
	RVT_MARK_SAMPLE,
};

#define RVT_MARK_LOST_DATA 0x02u
#define RVT_MARK_LOST_OWNERSHIP 0x08u
#define RVT_MARK_LOST_VENDOR 0x80u

/* Why flow was lost or stopped. */
enum rvt_reason {
	RVT_REASON_NONE,
	RVT_REASON_OVERFLOW,	/* the encoder reported that it dropped messages */
	RVT_REASON_TRUNCATED,	/* the sink or the AUX buffer was full */
	RVT_REASON_BAD_PACKET,	/* bytes that are no message of this protocol and dialect */
	RVT_REASON_BAD_FLOW,	/* message and program contradict each other */
	RVT_REASON_NO_CODE,	/* no code is known for .pc */
	RVT_REASON_BAD_INSN,	/* the bytes at .pc are no instruction */
	RVT_REASON_NO_SYNC,	/* data ended or began without a synchronisation point */
	RVT_REASON_DEBUG,	/* debug mode entered */
	RVT_REASON_LOW_POWER,
	RVT_REASON_DISABLED,	/* tracing disabled, or the filters no longer match */
};

struct rvt_context {
	uint8_t prv;		/* 0 U, 1 S, 3 M */
	uint8_t v;		/* 1 in a virtual machine */
	bool prv_valid;
	bool scontext_valid, hcontext_valid;
	uint64_t scontext, hcontext;
};

struct rvt_event {
	enum rvt_event_type type;
	enum rvt_reason reason;
	uint64_t offset;	/* of the message, in the byte stream */
	uint64_t pc;
	uint64_t target;
	bool interrupt;		/* TRAP */
	bool cause_valid;
	uint64_t cause, tval;
	uint64_t time;
	struct rvt_context context;
	const char *detail;	/* LOST: a sentence for people; valid during the call */
	enum rvt_mark mark;	/* MARK */
	bool has_value;		/* of a MARK: .value */
	bool own_pc;		/* .pc is what the message says, not where the flow is */
	uint8_t value_bytes;	/* USER: 1, 2, 4, 8; 0: not known */
	bool held_back;		/* TIME: when the next message's flow had run, too (N-Trace 9.3) */
	/* STOP, START of a session: between a guest and its host, which go on where they were */
	bool crossing;
	uint64_t tag, value;
	const struct rvt_access *access; /* ACCESS; valid during the call */
};

/*
 * Output, in program order; every member but .size may be NULL. Runs come in batches; all runs that
 * precede an event are delivered before it. A callback may call rvt_flow_set_space().
 * A non-zero return value ends decoding: it is handed through to the caller of the decoder.
 */
struct rvt_flow_sink {
	size_t size;		/* sizeof(struct rvt_flow_sink): the struct may grow */
	void *ctx;
	int (*runs)(void *ctx, const struct rvt_run *runs, size_t n);
	int (*event)(void *ctx, const struct rvt_event *event);
};

struct rvt_flow_config {
	size_t size;		/* sizeof(struct rvt_flow_config): the struct may grow */
	unsigned int isa;	/* RVT_ISA_* */
	unsigned int return_stack_depth; /* entries; oldest is dropped on overflow; 0: none */
	rvt_insn_hook hook;
	void *hook_ctx;
	uint64_t jvt;		/* Zcmt jump table base */
	bool reference_walk;	/* one instruction at a time: the slow path that tests trust */
};

/*
 * rvt_flow_create - @config may be NULL: RV64 without options or return stack. @sink may be NULL:
 * nothing is delivered. Both are copied. Returns 0; -EINVAL: one does not say its size; -ENOMEM.
 */
int rvt_flow_create(const struct rvt_flow_config *config, const struct rvt_flow_sink *sink,
		    struct rvt_flow **flow);
/* Before the image of its spaces is. @flow may be NULL. */
void rvt_flow_destroy(struct rvt_flow *flow);
/* What addresses mean from now on. May be NULL: then every address is unmapped. */
void rvt_flow_set_space(struct rvt_flow *flow, struct rvt_space *space);
/* TIME events with a time before @until are not delivered from now on: nobody asks for them. */
void rvt_flow_set_time_filter(struct rvt_flow *flow, uint64_t until);
/* Delivers what is batched. Returns what the sink returned. */
int rvt_flow_flush(struct rvt_flow *flow);
/* The address of the next instruction; false if unknown. */
bool rvt_flow_pc(const struct rvt_flow *flow, uint64_t *pc);

/* ---- counting ---- */

/*
 * Every member but .size may be NULL. A non-zero return value of a call-back ends
 * rvt_flow_counts().
 */
struct rvt_count_sink {
	size_t size;		/* sizeof(struct rvt_count_sink): the struct may grow */
	void *ctx;
	int (*run)(void *ctx, const struct rvt_run *run, uint64_t times);
	/*
	 * The instruction at @from was followed by that at @to, which is not what lies behind it.
	 */
	int (*edge)(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
		    int64_t times);
};

/*
 * rvt_flow_count - from now on runs are counted, and not delivered: many times faster, without
 * their order. Before anything was executed. Events still come. Traps are no edges. Returns 0 or
 * -ENOMEM.
 */
int rvt_flow_count(struct rvt_flow *flow);
/*
 * rvt_flow_counts - passes to @sink what was counted since the last call, in no order; the sums are
 * those of all runs and edges. The same instructions can be in several runs. @sink may be NULL: the
 * counts are dropped. Returns 0, what a call-back returned, -EINVAL (the flow does not count, or
 * @sink does not say its size), -ENOMEM (the counts are not complete).
 */
int rvt_flow_counts(struct rvt_flow *flow, const struct rvt_count_sink *sink);

struct rvt_flow_stats {
	size_t size;		/* sizeof(struct rvt_flow_stats): the struct may grow */
	uint64_t insns, halfwords, branches, taken, indirect, traps, gaps;
	uint64_t refuted;	/* of the gaps: with a reason RVT_REASON_BAD_* */
};
/*
 * The caller sets @stats->size; no more is written. Returns 0, or -EINVAL: it does not say its
 * size.
 */
int rvt_flow_stats(const struct rvt_flow *flow, struct rvt_flow_stats *stats);

RVT_END_DECLS

#endif
