/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What each thread of a recording executed, by number: instruction 0 of a thread is its first one
 * in the trace. Instructions can be read in any order. The whole recording is decoded once, to find
 * out where each thread ran; then parts of it (session/parts.h) are decoded again as needed. Only
 * the last ones stay in memory, which does not grow with the recording.
 *
 * Only one thread of the caller may use it at a time.
 */
#ifndef PERF_RVTRACE_GDB_TIMELINE_H
#define PERF_RVTRACE_GDB_TIMELINE_H

#include "common/places.h"
#include "common/view.h"

struct timeline;

struct timeline_options {
	bool kernel;		/* the kernel's instructions belong to the thread, too */
	/* Called from time to time in what takes long; an error ends that. May be NULL. */
	int (*poll)(void *ctx);
	void *ctx;
};

struct timeline_thread {
	int32_t pid, tid;	/* .tid less than -1: of a cpu whose thread is not known */
	uint32_t life;		/* changes with each exec */
	const char *comm;
	uint64_t insns;		/* including ecall and ebreak */
	/* What would have been executed next, but trapped or was not recorded; 0: not known. */
	uint64_t next_pc;
	uint64_t from, to;	/* ns: when its first and its last stint began, roughly */
	uint64_t losses;	/* places where some of its flow is lost */
};

/* A place, before an instruction, where a thread's flow is incomplete. */
enum timeline_seam_kind { SEAM_LOST, SEAM_OFF };
struct timeline_seam {
	enum timeline_seam_kind kind;	/* _OFF: tracing was off; the thread went elsewhere */
	enum rvt_reason reason;		/* _LOST */
	uint64_t insn;			/* behind the seam */
};

/* An instruction. */
struct timeline_insn {
	uint64_t pc;
	uint64_t behind;	/* the address behind it */
	uint8_t iclass;		/* enum rvt_insn_class */
	bool trapped;		/* a trap follows, or tracing stops */
};

/* Decodes @view's recording. Returns 0, -EINTR (Ctrl-C), or -errno. @places must outlive it. */
int timeline_create(struct view *view, struct places *places,
		    const struct timeline_options *options, struct timeline **timeline);
/* @timeline may be NULL. */
void timeline_destroy(struct timeline *timeline);
size_t timeline_n_threads(const struct timeline *timeline);
const struct timeline_thread *timeline_thread(const struct timeline *timeline, size_t n);
/*
 * timeline_insn - reads instruction @number of thread @thread. Returns 0, -ENOENT (there are not
 * that many), what .poll returned, or -errno.
 */
int timeline_insn(struct timeline *timeline, size_t thread, uint64_t number,
		  struct timeline_insn *insn);
/*
 * Finds roughly when it was executed: not before this time of perf's clock, ns. Returns what
 * timeline_insn() does.
 */
int timeline_time(struct timeline *timeline, size_t thread, uint64_t number, uint64_t *time);
/*
 * Finds the first instruction at @time or later; .insns if there is none. Returns what
 * timeline_insn() does.
 */
int timeline_at(struct timeline *timeline, size_t thread, uint64_t time, uint64_t *number);
/*
 * timeline_losses - returns how many seams of kind SEAM_LOST have @from < .insn <= @to, and puts
 * the first ones, up to @max, into @seams.
 */
size_t timeline_losses(const struct timeline *timeline, size_t thread, uint64_t from, uint64_t to,
		       struct timeline_seam *seams, size_t max);

/* Addresses to search, ascending. */
struct timeline_wanted {
	const uint64_t *pcs;
	size_t n;
};

/*
 * timeline_find - finds the first instruction behind @from (@back: before it) at one of the
 * addresses, up to @limit. Sets *@number; -ENOENT: there is none. Else returns what timeline_insn()
 * does.
 */
int timeline_find(struct timeline *timeline, size_t thread, uint64_t from, uint64_t limit,
		  bool back, const struct timeline_wanted *wanted, uint64_t *number);

/* An instruction whose successor is not the next one in memory, or that has a seam behind it. */
struct timeline_step {
	uint64_t number;
	struct timeline_insn insn;
	uint64_t next_pc;	/* of its successor */
	const struct timeline_seam *seam;	/* NULL: there is none */
};

/*
 * timeline_walk - calls @take with these instructions of @from <= .number < @to, in order, until it
 * returns something other than 0, and returns that. Else returns what timeline_insn() does.
 */
int timeline_walk(struct timeline *timeline, size_t thread, uint64_t from, uint64_t to,
		  int (*take)(void *ctx, const struct timeline_step *step), void *ctx);
/* Returns the thread's address space at that instruction. Valid until the next call. NULL: none. */
struct rvt_space *timeline_space(struct timeline *timeline, size_t thread, uint64_t number);

#endif
