/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * When the instructions of a hart's flow were executed. A trace tells the time now and then: a time
 * stamp says when all that is before it had been executed. The clock holds flow back until the next
 * stamp, and spreads the time between two stamps evenly over the instructions between them.
 *
 * Where tracing was stopped or flow was lost between two stamps, what ran before that is as fast as
 * what was between the last two stamps without such a pause, and so is what ran after it; the rest
 * is the pause. So is flow that no stamp follows. Where no such rate is known, time is spread over
 * all, pause or not.
 *
 * Time never goes back: a stamp before the last one counts as that.
 */
#ifndef RVTRACE_CLOCK_H
#define RVTRACE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/flow.h>
#include <rvtrace/linkage.h>
#include <rvtrace/span.h>

RVT_BEGIN_DECLS

struct rvt_clock;

/* So many instructions take so many ns; .insns 0: not known. */
struct rvt_clock_speed {
	uint64_t insns, ns;
};

/*
 * Flow in the order in which it was held. @state is a copy of what came with it, and may be
 * changed. A non-zero return value ends the telling: the rest of what is held is forgotten, and the
 * function that told it returns that value.
 */
struct rvt_clock_sink {
	void *ctx;
	int (*runs)(void *ctx, void *state, const struct rvt_clock_span *span,
		    const struct rvt_run *runs, size_t n);
	int (*event)(void *ctx, void *state, const struct rvt_clock_span *span,
		     const struct rvt_event *event);
	/* How fast flow ran so far, where the clock needs that and does not know. May be NULL. */
	struct rvt_clock_speed (*speed)(void *ctx);
};

/*
 * rvt_clock_create - @state_size: bytes of what is kept with flow, of the caller's own; their
 * padding should not change. Returns 0 or -ENOMEM.
 */
int rvt_clock_create(const struct rvt_clock_sink *sink, size_t state_size,
		     struct rvt_clock **clock);
/* What is held is forgotten. */
void rvt_clock_destroy(struct rvt_clock *clock);
/*
 * Flow, with what belongs to it now. Blocks and what @state points to must stay until it is told.
 * When too much is held (a million instructions), it is told as if no stamp followed. Return 0,
 * -ENOMEM, or what the sink returned.
 */
int rvt_clock_runs(struct rvt_clock *clock, const void *state, const struct rvt_run *runs,
		   size_t n);
/*
 * rvt_event.detail and .access are copied. TIME is an event like others here. One before which
 * nothing waits is told at once.
 */
int rvt_clock_event(struct rvt_clock *clock, const void *state, const struct rvt_event *event);
/* @insns instructions that need not be told take their share of time. */
int rvt_clock_pass(struct rvt_clock *clock, uint64_t insns);
/* All that is held was executed by @time, ns: it is told. Returns 0 or what the sink returned. */
int rvt_clock_stamp(struct rvt_clock *clock, uint64_t time);
/*
 * No stamp follows what is held: it is told. It was executed by @limit (UINT64_MAX: not known).
 * Returns 0 or what the sink returned.
 */
int rvt_clock_flush(struct rvt_clock *clock, uint64_t limit);
bool rvt_clock_holds(const struct rvt_clock *clock);
/* Whether a speed was wanted when none was known, since the last rvt_clock_reset(). */
bool rvt_clock_guessed(const struct rvt_clock *clock);

/* That of what was between the last two stamps without a pause. */
struct rvt_clock_speed rvt_clock_speed(const struct rvt_clock *clock);
/* The caller knows from elsewhere how fast flow runs; it counts until two stamps tell another. */
void rvt_clock_set_speed(struct rvt_clock *clock, const struct rvt_clock_speed *speed);
/* Forgets all: another trace begins. */
void rvt_clock_reset(struct rvt_clock *clock);

RVT_END_DECLS

#endif
