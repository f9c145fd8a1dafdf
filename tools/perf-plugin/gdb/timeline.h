/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What each thread of a recording executed, by number: instruction 0 of a thread is the first that
 * the trace has of it. Any can be asked for, in any order. All of the recording is decoded once,
 * and where each thread ran is kept; then parts of it (session/parts.h) are decoded again as they
 * are needed, and the last ones stay in memory, which does not grow with the recording.
 *
 * Threads of the caller: one at a time.
 */
#ifndef PERF_RVTRACE_GDB_TIMELINE_H
#define PERF_RVTRACE_GDB_TIMELINE_H

#include "common/places.h"
#include "common/view.h"

struct timeline;

struct timeline_options {
	bool kernel;		/* what the kernel executed is the thread's, too */
	/* Called now and then while it takes long; an error ends that. NULL: nothing is. */
	int (*poll)(void *ctx);
	void *ctx;
};

struct timeline_thread {
	int32_t pid, tid;	/* .tid is less than -1: of a cpu whose thread is not known */
	uint32_t life;		/* another one after each exec */
	const char *comm;
	uint64_t insns;		/* ecall and ebreak are among them */
	/* Of what would have been executed next, but trapped, or was not recorded; 0: not known. */
	uint64_t next_pc;
	uint64_t from, to;	/* ns: about when its first and its last part began */
	uint64_t losses;	/* places where some of its flow is lost */
};

/* Where a thread's flow is not all there: before an instruction. */
enum timeline_seam_kind { SEAM_LOST, SEAM_OFF };
struct timeline_seam {
	enum timeline_seam_kind kind;	/* _OFF: tracing was, and the thread went elsewhere */
	enum rvt_reason reason;		/* _LOST */
	uint64_t insn;			/* that comes behind it */
};

/* An instruction. */
struct timeline_insn {
	uint64_t pc;
	uint64_t behind;	/* the address behind it */
	uint8_t iclass;		/* enum rvt_insn_class */
	bool trapped;		/* a trap came behind it, or tracing stopped */
};

/* Decodes @view's recording. 0, -EINTR (Ctrl-C), or -errno. @places must live on. */
int timeline_create(struct view *view, struct places *places,
		    const struct timeline_options *options, struct timeline **timeline);
/* @timeline may be NULL. */
void timeline_destroy(struct timeline *timeline);
size_t timeline_n_threads(const struct timeline *timeline);
const struct timeline_thread *timeline_thread(const struct timeline *timeline, size_t n);
/*
 * timeline_insn - instruction @number of thread @thread. 0, -ENOENT (there are not that many), what
 * .poll returned, -errno.
 */
int timeline_insn(struct timeline *timeline, size_t thread, uint64_t number,
		  struct timeline_insn *insn);
/* About when it was executed: not before that. By perf's clock, ns. The same results. */
int timeline_time(struct timeline *timeline, size_t thread, uint64_t number, uint64_t *time);
/* The first instruction at @time or later, .insns if there is none. The same results. */
int timeline_at(struct timeline *timeline, size_t thread, uint64_t time, uint64_t *number);
/*
 * timeline_losses - how many seams of kind SEAM_LOST there are with @from < .insn <= @to; the first
 * of them, up to @max, in @seams.
 */
size_t timeline_losses(const struct timeline *timeline, size_t thread, uint64_t from, uint64_t to,
		       struct timeline_seam *seams, size_t max);

/* What is looked for; addresses rise. */
struct timeline_wanted {
	const uint64_t *pcs;
	size_t n;
};

/*
 * timeline_find - the first instruction behind @from (@back: before it) at one of the addresses,
 * up to @limit. Sets *@number; -ENOENT: there is none. Else as timeline_insn().
 */
int timeline_find(struct timeline *timeline, size_t thread, uint64_t from, uint64_t limit,
		  bool back, const struct timeline_wanted *wanted, uint64_t *number);

/* An instruction that is not followed by the one behind it, or has a seam behind it. */
struct timeline_step {
	uint64_t number;
	struct timeline_insn insn;
	uint64_t next_pc;	/* of the one that follows */
	const struct timeline_seam *seam;	/* NULL: there is none */
};

/*
 * timeline_walk - tells of such instructions with @from <= .number < @to, in order. It ends with
 * what @take returns if that is not 0. Else as timeline_insn().
 */
int timeline_walk(struct timeline *timeline, size_t thread, uint64_t from, uint64_t to,
		  int (*take)(void *ctx, const struct timeline_step *step), void *ctx);
/*
 * What addresses mean to the thread at that instruction. Valid until the next call. NULL: nothing.
 */
struct rvt_space *timeline_space(struct timeline *timeline, size_t thread, uint64_t number);

#endif
