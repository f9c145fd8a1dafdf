/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* For tools/perf-plugin/gdb/ only: what a timeline keeps, and how it is filled from the flow. */
#ifndef PERF_RVTRACE_GDB_GATHER_H
#define PERF_RVTRACE_GDB_GATHER_H

#include "gdb/timeline.h"
#include "session/parts.h"

/* Consecutive instructions. The last one may be a jump, by .iclass. */
struct run {
	uint64_t pc;
	const uint8_t *halfwords;	/* length of each instruction in 16-bit units */
	uint32_t at;			/* number of its first instruction in the page */
	uint32_t insns;
	uint8_t iclass;
	bool trapped;			/* a trap follows, or tracing stops */
};

/* A stretch of a thread's flow in a part, without a seam. */
struct stint {
	uint64_t time;
	uint64_t last_time;		/* of its last run */
	uint64_t order;			/* in which they were told; sorts stints of the same time */
	uint32_t thread;		/* number */
	uint32_t part;
	uint64_t first;			/* number of its first instruction in part and thread */
	uint64_t insns;
	uint64_t number;		/* of .first in the thread */
	/* where it begins, and what would be executed next; 0: not known */
	uint64_t pc, next_pc;
	uint8_t reason;			/* of the loss (enum rvt_reason) before or behind it */
	bool lost_before, lost_behind;
};

struct gathered_thread {
	struct timeline_thread base;	/* first: handed out */
	size_t first, n;		/* its stints */
	/* used while gathering */
	uint64_t told;			/* instructions of the part so far */
	uint64_t turn;			/* .told is valid if this is the current turn */
};

/* The time at which the run of that number, and the runs behind it, were executed. */
struct run_time {
	uint64_t at, time;
};

/* Some of the instructions that a thread executed in a part. */
struct page {
	uint32_t thread, part;
	uint64_t first, insns;		/* numbers of instructions, as in struct stint */
	struct run *runs;
	size_t n, room;
	struct run_time *times;
	size_t n_times, times_room;
	uint64_t used;			/* when it was last used */
};

/*
 * A Bloom filter of the code that any thread executed in a part: two bits for 16 bytes of code,
 * which other code may share. If one of the bits is not set, an address cannot be in the part.
 */
#define CODE_SHIFT 17
#define CODE_BITS (1u << CODE_SHIFT)
#define CODE_BYTES 16
struct part_code {
	uint64_t bits[CODE_BITS / 64];
	struct view_mark before;	/* what was lost before the part */
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
	struct stint *stints;		/* of all threads, one thread after the other */
	size_t n_stints;
	struct part_code *code;		/* by part */
	size_t n_parts;
	struct page pages[MAX_PAGES];
	uint64_t used;
};

/* Finds the bits of the 16 bytes with @pc. */
static inline void code_bits(uint64_t pc, unsigned int bits[2])
{
	uint64_t hash = pc / CODE_BYTES * 0x9e3779b97f4a7c15ULL;

	bits[0] = hash >> (64 - CODE_SHIFT);
	bits[1] = hash >> (64 - 2 * CODE_SHIFT) & (CODE_BITS - 1);
}

/* gdb/gather.c: decodes all parts, and fills .threads, .stints and .code. Returns 0 or -errno. */
int gather_all(struct timeline *timeline);
/*
 * gather_page - decodes @page->part until @page has instruction @number of the thread in the part,
 * and is full or at its end. Returns 0, -ENOENT (there are not that many), or -errno.
 */
int gather_page(struct timeline *timeline, struct page *page, uint64_t number);
/* A gather_take returns this when it needs no more. */
#define GATHERED 1
/*
 * Takes a run. @at: number of its first instruction, in the part and thread. @next_pc: where the
 * next run begins; 0: the part has none. Returns 0, GATHERED, or an error.
 */
typedef int (*gather_take)(void *ctx, const struct run *run, uint64_t at, uint64_t next_pc);
/*
 * gather_runs - decodes @part, and calls @take with all runs of @thread in it, in order, without
 * keeping them. Returns 0, or an error.
 */
int gather_runs(struct timeline *timeline, uint32_t part, uint32_t thread, gather_take take,
		void *ctx);

#endif
