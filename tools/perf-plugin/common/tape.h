/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a slice of a trace has to say in the order of time, as bytes: records of the view, and steps
 * of call stacks (transfers/steps.h), with which who takes the bytes of all slices knows the stack
 * at each record.
 */
#ifndef PERF_RVTRACE_TAPE_H
#define PERF_RVTRACE_TAPE_H

#include <stdio.h>
#include <linux/perf_event.h>
#include "common/transfers.h"
#include "transfers/steps.h"

/* ---- one slice after the other writes ---- */

/*
 * A hart flow, and what runs on it: of struct rvt_hart_flow what stacks need. .guest does not lie
 * beside .tid: compilers would compare both by one load, and a processor that has just stored them
 * one by one waits for that.
 */
struct tape_hart {
	int32_t tid;		/* -1: not known */
	uint64_t number, moved;
	bool guest;
};

/*
 * What a function did in one context of a tree, in which each comes behind its parent. .calls: of
 * the function there, by calls that have returned, or by jumps.
 */
struct tape_ran {
	enum { TAPE_BEGINS, TAPE_BEGINS_ABOVE, TAPE_GOES_ON } place;	/* see tape_base() */
	uint32_t parent;	/* number in the tree, from 1 on; 0: caller of what runs */
	uint64_t addr;		/* in the function */
	uint64_t insns, lines, ns, calls;
};

struct tape {
	FILE *out;
	bool moved_on;		/* what comes may be behind what other buffers have */
	bool has_hart;
	struct tape_hart hart;	/* whose the last item was */
	uint64_t last;		/* address */
	uint8_t bytes[4096];	/* that are not written yet */
	size_t n;
};

struct tape_hart tape_hart(const struct rvt_hart_flow *hart);
bool tape_same_hart(const struct tape_hart *a, const struct tape_hart *b);

/* A slice begins, and writes to @out. */
void tape_begin(struct tape *tape, FILE *out);
/* What other buffers have may come here, in the bytes of all slices. 0 or -EIO. */
int tape_moment(struct tape *tape);
/* The slice has ended. 0 or -EIO. */
int tape_end(struct tape *tape);
/* Has @transfers, which keeps no stacks (max_depth 0), write what changes them to @tape. */
void tape_steps(struct tape *tape, struct transfers *transfers);
/* Each returns 0 or -EIO. */
int tape_step(struct tape *tape, const struct tape_hart *hart, const struct rvt_step *step);
int tape_ran(struct tape *tape, const struct tape_hart *hart, const struct tape_ran *ran);
/*
 * A tree that comes later (TAPE_BEGINS_ABOVE) is above the stack that there is now; of one with
 * TAPE_BEGINS it is the stack that there is then. A hart has one such base, the last.
 */
int tape_base(struct tape *tape, const struct tape_hart *hart);
/*
 * A call that no step tells of has returned to @to, and left @above frames more than there are now,
 * or fewer.
 */
int tape_returned(struct tape *tape, const struct tape_hart *hart, uint64_t to, int64_t above);
/*
 * A record, all of it; @hart: at whose stack it is to be, or NULL: it needs none. 0 or -EIO.
 */
int tape_record(struct tape *tape, const struct rvt_hart_flow *hart,
		const struct perf_event_header *record);

/* ---- one takes the bytes ---- */

struct tape_reader;

/* What is read, in order. Each returns 0, or -errno to end it; those of no use may be NULL. */
struct tape_reads {
	void *ctx;
	/* Aligned, and may be changed. @stack: NULL if it needs none, or (.ran) none is begun. */
	int (*record)(void *ctx, struct perf_event_header *record, struct rvt_callstack *stack);
	int (*ran)(void *ctx, struct rvt_hart_flow *hart, const struct tape_ran *ran,
		   struct rvt_callstack *stack);
	int (*base)(void *ctx, struct rvt_hart_flow *hart, struct rvt_callstack *stack);
	/* A step: as in struct rvt_transfers_ops, but without .flags and .event. */
	int (*after)(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		     struct rvt_callstack *stack, size_t ended);
};

/*
 * tape_reader_create - before the view's session is decoded. @stacks: tapes have more than records.
 * @reads is copied. NULL: out of memory.
 */
struct tape_reader *tape_reader_create(struct view *view, bool stacks,
				       const struct tape_reads *reads);
/* @reader may be NULL. Adds the number of stacks that were cut off to the view's summary. */
void tape_reader_destroy(struct tape_reader *reader);
/*
 * Has pages_run() make tapes, and reads them. Returns what that does, -ENOMEM, -EINVAL (no tape has
 * such bytes) or what a call-back returned.
 */
struct pages_ops;
int tape_run(struct tape_reader *reader, const struct pages_ops *ops);
/* In pages_ops.again: all will come again, from the beginning. @err: of something else, or 0. */
void tape_reader_restart(struct tape_reader *reader, int err);

#endif
