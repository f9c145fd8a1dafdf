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

struct tape {
	FILE *out;
	bool moved_on;		/* what comes may be behind what other buffers have */
	uint64_t number, moved;	/* of the hart flow whose steps were the last */
	int32_t key;
	uint64_t last;		/* address */
	bool has_hart, guest;
};

/* A slice begins, and writes to @out. */
void tape_begin(struct tape *tape, FILE *out);
/* What other buffers have may come here, in the bytes of all slices. */
void tape_moment(struct tape *tape);
/* Has @transfers, which keeps no stacks (max_depth 0), write what changes them to @tape. */
void tape_steps(struct tape *tape, struct transfers *transfers);
/*
 * A record, all of it; @hart: at whose stack it is to be, or NULL: it needs none. 0 or -EIO.
 */
int tape_record(struct tape *tape, const struct rvt_hart_flow *hart,
		const struct perf_event_header *record);

/* ---- one takes the bytes ---- */

struct tape_reader;

/*
 * tape_reader_create - before the view's session is decoded. @record gets each record, aligned,
 * with its stack, which is NULL if it needs none; it may change both until it returns, 0 or
 * -errno. @stacks: tapes have steps. NULL: out of memory.
 */
struct tape_reader *tape_reader_create(struct view *view, bool stacks,
				       int (*record)(void *ctx, struct perf_event_header *record,
						     struct rvt_callstack *stack), void *ctx);
/* @reader may be NULL. Adds the number of stacks that were cut off to the view's summary. */
void tape_reader_destroy(struct tape_reader *reader);
/* The next bytes. 0, -ENOMEM, -EINVAL (no tape has these) or what @record returned. */
int tape_read(struct tape_reader *reader, const char *bytes, size_t len);
/* All will come again, from the beginning. 0 or -ENOMEM. */
int tape_reader_restart(struct tape_reader *reader);

#endif
