/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside this project: a session that delivers flow on several threads. What the library exports
 * delivers it on one, or counts on several.
 */
#ifndef SESSION_SLICES_H
#define SESSION_SLICES_H

#include <rvtrace/session.h>

struct joint;
struct slice;

/* What no errno is. */
#define RVT_SLICE_DONE (-4096)

/*
 * Slices of a recording, several at a time (options.jobs): .aux is not called, and .runs, .event
 * and .end of the sink get what .begin returned as their context, each slice in one thread. The
 * sink's .end comes for each hart flow at the end of each slice. What the slices of a buffer
 * deliver, in their order, is what one thread delivers of it; except that TIME and CONTEXT events
 * may come twice, and TIME events do not come with options.clock. Of a dump with several sources
 * that holds for each source. Members but .reset and one of .open and .begin may be NULL; but for
 * .moment there is one call at a time, in any thread. Functions return 0 or an error, which ends
 * the run.
 *
 * With options.count, .open is all that is called. Each thread calls the sink with the context that
 * .open returned for it, several at a time. The sink's .reset voids what all of them counted. Where
 * one thread decodes all, it does so with the sink's context.
 */
struct rvt_session_slices {
	void *ctx;
	/*
	 * Cuts lie amid straight lines of code. If so, the flow behind a slice's end is delivered,
	 * too (rvt_hart_flow.left), until a call-back returns RVT_SLICE_DONE. The next slice, which
	 * begins with the same (rvt_hart_flow.resumed), is to leave out what was told so.
	 */
	bool overlap;
	/*
	 * Slices know less of each other: where no stamp tells how fast flow ran (options.clock),
	 * it is taken for as fast as in the first slice of its buffer, not as in the slice before.
	 * What is delivered is the same for any number of jobs, one among them, but its times may
	 * be others than what rvt_session_run() delivers. And .moment is told now and then, so that
	 * what buffers deliver is roughly in the order of time; with .in_turns at each message.
	 */
	bool apart, in_turns;
	/* First: how many slices each of the buffers has. */
	int (*plan)(void *ctx, const size_t *n_slices, unsigned int n_buffers);
	/*
	 * Once for each thread: what it needs for one slice after another, which stays the
	 * caller's. NULL: out of memory. Without .begin it is the context of the call-backs.
	 */
	void *(*open)(void *ctx);
	/* @thread: by .open. Slices of one buffer begin in order. NULL: out of memory. */
	void *(*begin)(void *ctx, void *thread, unsigned int buffer);
	/*
	 * Where buffers take turns (not .by_cpu): the buffer has got to @time. One that has come
	 * less far comes first, of several the one with the lower number. UINT64_MAX: what follows
	 * comes when all have ended, by number. @left: the next slice will say so, too; so it
	 * counts only if anything of this slice follows.
	 */
	void (*moment)(void *slice, uint64_t time, bool left);
	/*
	 * Nothing more comes of the slice. Not called for one that is void: an earlier one goes on.
	 */
	int (*end)(void *ctx, void *slice);
	/*
	 * The slices of @buffer so far fit together, and this is the next of them. Before that, it
	 * may prove void.
	 */
	int (*join)(void *ctx, void *slice, unsigned int buffer);
	/* The same for who makes an index: how the slice was, and what is joined so far. */
	int (*note)(void *ctx, const struct slice *slice, const struct joint *joint);
	/*
	 * For the same, before .reset: @slice does not fit to what was joined, or (@behind) what
	 * comes behind it does not fit to it.
	 */
	void (*misfit)(void *ctx, const struct slice *slice, bool behind);
	/*
	 * How many of the slices that were joined are kept until the next slice of *@buffer is,
	 * too. Of slices that take room, these and those that are not joined, there are only some
	 * for each job: *@buffer is decoded first then.
	 */
	size_t (*waiting)(void *ctx, unsigned int *buffer);
	/*
	 * Slices do not fit together: all will be told again, by one thread and with the sink's own
	 * context. What was joined will be the same then, unless .apart.
	 */
	void (*reset)(void *ctx);
};

/*
 * As rvt_session_run(), in slices if @slices is not NULL and options.jobs is more than 1, or
 * .apart.
 */
int rvt_session_run_slices(struct rvt_session *session, const struct rvt_session_sink *sink,
			   const struct rvt_session_slices *slices);

#endif
