/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside tools/perf-plugin/gdb/: what the timeline keeps, and how the flow comes into it. */
#ifndef PERF_RVTRACE_GDB_GATHER_H
#define PERF_RVTRACE_GDB_GATHER_H

#include "gdb/timeline.h"
#include "session/parts.h"

/* Instructions one behind the other. The last may lead elsewhere, by .iclass. */
struct run {
	uint64_t pc;
	const uint8_t *halfwords;	/* of each, in 16-bit units */
	uint32_t at;			/* of its first in the page: those before it */
	uint32_t insns;
	uint8_t iclass;
	bool trapped;			/* a trap came behind it, or tracing stopped */
};

/* A stretch of a thread's flow in a part, without a seam in it. */
struct stint {
	uint64_t time;
	uint64_t order;			/* in which they were told: those of one time come so */
	uint32_t thread;		/* number */
	uint32_t part;
	uint64_t first;			/* of its instructions, by number in the part and thread */
	uint64_t insns;
	uint64_t number;		/* of .first in the thread */
	/* where it begins, and what is executed next; 0: not known */
	uint64_t pc, next_pc;
	uint8_t reason;			/* of the loss (enum rvt_reason) before or behind it */
	bool lost_before, lost_behind;
};

struct gathered_thread {
	struct timeline_thread base;	/* first: handed out */
	size_t first, n;		/* of its stints */
	/* while it is gathered */
	uint64_t told;			/* instructions of the part */
	uint64_t turn;			/* in which .told counts */
};

/* When the run with that number, and those behind it, were executed. */
struct run_time {
	uint64_t at, time;
};

/* Part of what a thread executed in a part. */
struct page {
	uint32_t thread, part;
	uint64_t first, insns;		/* instructions, as in struct stint */
	struct run *runs;
	size_t n, room;
	struct run_time *times;
	size_t n_times, times_room;
	uint64_t used;			/* the last time */
};

/*
 * What of the code was executed in a part, by whatever thread: two bits for 16 bytes of it, which
 * other code may share. Where one of them is not set, nobody need look for an address in the part.
 */
#define CODE_SHIFT 17
#define CODE_BITS (1u << CODE_SHIFT)
#define CODE_BYTES 16
struct part_code {
	uint64_t bits[CODE_BITS / 64];
};

#define PAGE_RUNS (256u << 10)
#define MAX_PAGES 8

struct timeline {
	struct view *view;
	struct places *places;
	struct timeline_options options;
	struct rvt_parts *parts;
	struct gathered_thread *threads;
	size_t n_threads;
	void *by_id;			/* tsearch tree of numbers */
	struct stint *stints;		/* of each thread, one after the other */
	size_t n_stints;
	struct part_code *code;		/* of each part */
	size_t n_parts;
	struct page pages[MAX_PAGES];
	uint64_t used;
};

/* Of the 16 bytes that have @pc. */
static inline void code_bits(uint64_t pc, unsigned int bits[2])
{
	uint64_t hash = pc / CODE_BYTES * 0x9e3779b97f4a7c15ULL;

	bits[0] = hash >> (64 - CODE_SHIFT);
	bits[1] = hash >> (64 - 2 * CODE_SHIFT) & (CODE_BITS - 1);
}

/* gather.c: decodes all of it, and fills .threads, .stints and .code. 0 or -errno. */
int gather_all(struct timeline *timeline);
/*
 * gather_page - decodes @page->part until @page has instruction @number of the thread in it, and is
 * full or all that there is. 0, -ENOENT (there are not that many), or -errno.
 */
int gather_page(struct timeline *timeline, struct page *page, uint64_t number);
/* What a gather_take returns when it needs nothing more. */
#define GATHERED 1
/*
 * @at: number of the run's first instruction in the part and thread. @next_pc: where the run behind
 * it begins; 0: the part has none. 0, GATHERED, or an error.
 */
typedef int (*gather_take)(void *ctx, const struct run *run, uint64_t at, uint64_t next_pc);
/*
 * gather_runs - decodes @part, and tells @take of all runs of @thread in it, in order. Nothing of
 * them is kept. 0, or an error.
 */
int gather_runs(struct timeline *timeline, uint32_t part, uint32_t thread, gather_take take,
		void *ctx);

#endif
