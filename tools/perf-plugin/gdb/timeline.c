// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "gdb/gather.h"
#include "util/array.h"

/*
 * Walks of more instructions than a few pages have do not use pages, as a part is decoded for each
 * page.
 */
#define STREAMED (4 * PAGE_RUNS)

int timeline_create(struct view *view, struct places *places,
		    const struct timeline_options *options, struct timeline **result)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));
	int err;

	if (!timeline)
		return -ENOMEM;
	timeline->view = view;
	timeline->places = places;
	timeline->options = *options;
	err = gather_all(timeline);
	if (err) {
		timeline_destroy(timeline);
		return err;
	}
	*result = timeline;
	return 0;
}

void timeline_destroy(struct timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < MAX_PAGES; i++) {
		free(timeline->pages[i].runs);
		free(timeline->pages[i].times);
	}
	rvt_parts_destroy(timeline->parts);
	tdestroy(timeline->by_id, free);
	free(timeline->threads);
	free(timeline->stints);
	free(timeline->code);
	free(timeline);
}

size_t timeline_n_threads(const struct timeline *timeline)
{
	return timeline->n_threads;
}

const struct timeline_thread *timeline_thread(const struct timeline *timeline, size_t n)
{
	return &timeline->threads[n].base;
}

/* ---- from a number to its page ---- */

static const struct stint *stints_of(const struct timeline *timeline, size_t thread)
{
	return &timeline->stints[timeline->threads[thread].first];
}

/* Returns the stint with instruction @number; NULL: there are not that many. */
static const struct stint *find_stint(const struct timeline *timeline, size_t thread,
				      uint64_t number)
{
	if (number >= timeline->threads[thread].base.insns)
		return NULL;
	return array_floor(stints_of(timeline, thread), timeline->threads[thread].n, number,
			   number);
}

static bool has(const struct page *page, const struct stint *stint, uint64_t at)
{
	return page->insns && page->thread == stint->thread && page->part == stint->part &&
	       at >= page->first && at - page->first < page->insns;
}

/*
 * Returns the page in memory with instruction @at of the stint's part and thread; NULL: there is
 * none.
 */
static struct page *kept_page(struct timeline *timeline, const struct stint *stint, uint64_t at)
{
	for (struct page *page = timeline->pages; page < timeline->pages + MAX_PAGES; page++)
		if (has(page, stint, at))
			return page;
	return NULL;
}

/* Returns that page, and decodes it if it is not in memory. */
static int find_page(struct timeline *timeline, const struct stint *stint, uint64_t at,
		     struct page **result)
{
	struct page *oldest = timeline->pages;
	int err;

	timeline->used++;
	*result = kept_page(timeline, stint, at);
	if (*result) {
		(*result)->used = timeline->used;
		return 0;
	}
	for (struct page *page = timeline->pages; page < timeline->pages + MAX_PAGES; page++)
		if (page->used < oldest->used)
			oldest = page;
	oldest->thread = stint->thread;
	oldest->part = stint->part;
	oldest->used = timeline->used;
	err = gather_page(timeline, oldest, at);
	if (err)
		oldest->insns = 0;
	*result = oldest;
	return err;
}

/* Returns the last run of the page that begins at or before instruction @at of the part. */
static struct run *find_run(const struct page *page, uint64_t at)
{
	size_t low = 0, high = page->n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (page->runs[middle].at <= at - page->first)
			low = middle;
		else
			high = middle;
	}
	return &page->runs[low];
}

/* A position in a page. */
struct position {
	const struct stint *stint;
	struct page *page;
	struct run *run;
	uint32_t n;		/* number of the instruction in .run */
};

static int find(struct timeline *timeline, size_t thread, uint64_t number,
		struct position *position)
{
	const struct stint *stint = find_stint(timeline, thread, number);
	uint64_t at;
	int err;

	if (!stint)
		return -ENOENT;
	at = stint->first + (number - stint->number);
	position->stint = stint;
	err = find_page(timeline, stint, at, &position->page);
	if (err)
		return err;
	position->run = find_run(position->page, at);
	position->n = at - position->page->first - position->run->at;
	return 0;
}

/* Returns the number of the run's first instruction in the thread; it may be before the stint. */
static int64_t number_of(const struct position *position, const struct run *run)
{
	return position->stint->number + (position->page->first + run->at - position->stint->first);
}

static uint64_t address_of(const struct run *run, uint32_t n)
{
	uint64_t pc = run->pc;

	for (uint32_t i = 0; i < n; i++)
		pc += 2 * run->halfwords[i];
	return pc;
}

static struct timeline_insn insn_of(const struct run *run, uint32_t n)
{
	struct timeline_insn insn = { .pc = address_of(run, n), .iclass = RVT_INSN_SEQUENTIAL };

	insn.behind = insn.pc + 2 * run->halfwords[n];
	if (n + 1 == run->insns) {
		insn.iclass = run->iclass;
		insn.trapped = run->trapped;
	}
	return insn;
}

int timeline_insn(struct timeline *timeline, size_t thread, uint64_t number,
		  struct timeline_insn *insn)
{
	struct position position;
	int err = find(timeline, thread, number, &position);

	if (!err)
		*insn = insn_of(position.run, position.n);
	return err;
}

/* ---- time ---- */

static uint64_t time_of_run(const struct page *page, size_t run)
{
	return array_floor(page->times, page->n_times, at, run)->time;
}

int timeline_time(struct timeline *timeline, size_t thread, uint64_t number, uint64_t *time)
{
	struct position position;
	int err = find(timeline, thread, number, &position);

	if (!err)
		*time = time_of_run(position.page, position.run - position.page->runs);
	return err;
}

int timeline_at(struct timeline *timeline, size_t thread, uint64_t time, uint64_t *number)
{
	const struct gathered_thread *of = &timeline->threads[thread];
	const struct stint *stints = stints_of(timeline, thread);
	size_t low = 0, high = of->n;
	uint64_t first, last;

	/*
	 * the first stint that begins at @time or later; the instruction may be in the one before
	 */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stints[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	last = low < of->n ? stints[low].number : of->base.insns;
	first = low ? stints[low - 1].number : 0;
	while (first < last) {
		uint64_t middle = first + (last - first) / 2, then;
		int err = timeline_time(timeline, thread, middle, &then);

		if (err)
			return err;
		if (then < time)
			first = middle + 1;
		else
			last = middle;
	}
	*number = first;
	return 0;
}

/* ---- seams ---- */

static bool is_seam(const struct stint *stints, size_t i, struct timeline_seam *seam)
{
	const struct stint *stint = &stints[i], *before = stint - 1;

	if (!i || (!stint->lost_before && (!before->next_pc || before->next_pc == stint->pc)))
		return false;
	*seam = (struct timeline_seam){ .kind = stint->lost_before ? SEAM_LOST : SEAM_OFF,
					.reason = stint->reason, .insn = stint->number };
	return true;
}

size_t timeline_losses(const struct timeline *timeline, size_t thread, uint64_t from, uint64_t to,
		      struct timeline_seam *seams, size_t max)
{
	const struct gathered_thread *of = &timeline->threads[thread];
	const struct stint *stints = stints_of(timeline, thread);
	const struct stint *first = of->n ? array_floor(stints, of->n, number, from) : NULL;
	size_t n = 0;

	for (size_t i = first ? first - stints + 1 : 0; i < of->n && stints[i].number <= to; i++) {
		struct timeline_seam seam;

		if (is_seam(stints, i, &seam) && seam.kind == SEAM_LOST && n++ < max)
			seams[n - 1] = seam;
	}
	return n;
}

/* ---- searching addresses ---- */

/* Returns how many instructions of @run are before address @pc; -1: @pc is not in it. */
static int64_t index_in(const struct run *run, uint64_t pc)
{
	uint64_t at = run->pc;

	for (uint32_t i = 0; i < run->insns; i++) {
		if (at == pc)
			return i;
		at += 2 * run->halfwords[i];
	}
	return -1;
}

/*
 * Returns the first (@back: last) wanted instruction of @run from @low to @high, inclusive. -1:
 * none.
 */
static int64_t look_in(const struct run *run, int64_t low, int64_t high, bool back,
		       const struct timeline_wanted *wanted)
{
	int64_t found = -1;

	for (size_t i = 0; i < wanted->n; i++) {
		int64_t n;

		/* no instruction is longer than 8 bytes */
		if (wanted->pcs[i] - run->pc >= 8ull * run->insns)
			continue;
		n = index_in(run, wanted->pcs[i]);
		if (n >= low && n <= high && (found < 0 || (back ? n > found : n < found)))
			found = n;
	}
	return found;
}

/*
 * Searches from @position up to @limit, within its page and stint. Returns 0, or -ENOENT: continue
 * at *@next.
 */
static int look_in_page(const struct position *position, uint64_t limit, bool back,
			const struct timeline_wanted *wanted, uint64_t *number, uint64_t *next)
{
	const struct page *page = position->page;
	int64_t first = position->stint->number, last = first + position->stint->insns - 1;
	int64_t low = 0, high = position->run->insns - 1, found;
	const struct run *run = position->run;

	if (back && (int64_t)limit > first)
		first = limit;
	if (!back && (int64_t)limit < last)
		last = limit;
	if (back)
		high = position->n;
	else
		low = position->n;
	for (;;) {
		int64_t begin = number_of(position, run);

		if (begin + low < first)
			low = first - begin;
		if (begin + high > last)
			high = last - begin;
		found = look_in(run, low, high, back, wanted);
		if (found >= 0) {
			*number = begin + found;
			return 0;
		}
		*next = back ? begin + low - 1 : begin + high + 1;
		if (back ? begin <= first || run == page->runs :
			   begin + run->insns > last || run + 1 == page->runs + page->n)
			return -ENOENT;
		run += back ? -1 : 1;
		low = 0;
		high = run->insns - 1;
	}
}

/* Returns whether the part may have a wanted address. */
static bool may_have(const struct part_code *code, const struct timeline_wanted *wanted)
{
	for (size_t i = 0; i < wanted->n; i++) {
		unsigned int bits[2];

		code_bits(wanted->pcs[i], bits);
		if (code->bits[bits[0] / 64] >> bits[0] % 64 & 1 &&
		    code->bits[bits[1] / 64] >> bits[1] % 64 & 1)
			return true;
	}
	return false;
}

/* A search through the parts of a thread. Each is decoded at most once. */
struct search {
	const struct timeline_wanted *wanted;
	bool back;
	bool *looked;		/* parts that were searched */
	/*
	 * By part: the wanted instruction nearest to where the search entered the part, by number
	 * in the part and thread; UINT64_MAX: none.
	 */
	uint64_t *nearest;
};

struct look {
	const struct search *search;
	uint64_t from;		/* by number in the part */
	uint64_t found;		/* UINT64_MAX: none */
};

static int look_at_run(void *ctx, const struct run *run, uint64_t at, uint64_t next_pc)
{
	struct look *look = ctx;
	bool back = look->search->back;
	int64_t low = !back && look->from > at ? look->from - at : 0, high = run->insns - 1;
	int64_t found;

	(void)next_pc;
	if (back && at > look->from)
		return GATHERED;
	if (back && at + high > look->from)
		high = look->from - at;
	found = look_in(run, low, high, back, look->search->wanted);
	if (found < 0)
		return 0;
	look->found = at + found;
	return back ? 0 : GATHERED;
}

/*
 * Searches the part: sets *@number to the nearest wanted instruction of the stint from *@number on.
 * Else returns -ENOENT, and sets it to where to continue.
 */
static int look_in_part(struct timeline *timeline, struct search *search,
			const struct stint *stint, uint64_t *number)
{
	struct look look = { .search = search, .found = UINT64_MAX,
			     .from = stint->first + (*number - stint->number) };
	uint64_t *nearest = &search->nearest[stint->part];
	int err = 0;

	if (!search->looked[stint->part]) {
		err = gather_runs(timeline, stint->part, stint->thread, look_at_run, &look);
		search->looked[stint->part] = true;
		*nearest = look.found;
	}
	if (err)
		return err;
	if (*nearest >= stint->first && *nearest - stint->first < stint->insns) {
		*number = stint->number + (*nearest - stint->first);
		return 0;
	}
	*number = search->back ? stint->number - 1 : stint->number + stint->insns;
	return -ENOENT;
}

static int search(struct timeline *timeline, struct search *search, size_t thread, uint64_t at,
		  uint64_t limit, uint64_t *number)
{
	bool back = search->back;
	int err = -ENOENT;

	while (err == -ENOENT) {
		const struct stint *stint = find_stint(timeline, thread, at);
		struct position position;

		if (!stint || (back ? at + 1 <= limit : at > limit))
			return -ENOENT;
		if (!may_have(&timeline->code[stint->part], search->wanted)) {
			at = back ? stint->number - 1 : stint->number + stint->insns;
			continue;
		}
		if (timeline->options.poll)
			err = timeline->options.poll(timeline->options.ctx);
		if (err && err != -ENOENT)
			return err;
		if (!search->looked[stint->part] &&
		    kept_page(timeline, stint, stint->first + (at - stint->number))) {
			err = find(timeline, thread, at, &position);
			if (!err)
				err = look_in_page(&position, limit, back, search->wanted, number,
						   &at);
		} else {
			err = look_in_part(timeline, search, stint, &at);
			*number = at;
		}
	}
	return err ? err : (back ? *number < limit : *number > limit) ? -ENOENT : 0;
}

int timeline_find(struct timeline *timeline, size_t thread, uint64_t from, uint64_t limit,
		  bool back, const struct timeline_wanted *wanted, uint64_t *number)
{
	struct search way = { .wanted = wanted, .back = back };
	int err = -ENOMEM;

	if (limit == from || (back ? limit > from : limit < from))
		return -ENOENT;
	way.looked = calloc(timeline->n_parts + 1, sizeof(*way.looked));
	way.nearest = calloc(timeline->n_parts + 1, sizeof(*way.nearest));
	if (way.looked && way.nearest)
		err = search(timeline, &way, thread, back ? from - 1 : from + 1, limit, number);
	free(way.looked);
	free(way.nearest);
	return err;
}

/* ---- walking ---- */

static bool goes_on(const struct timeline_step *step)
{
	return !step->seam && !step->insn.trapped && step->next_pc == step->insn.behind;
}

/* Finds what follows the stint's last run in the page. */
static int next_of(struct timeline *timeline, size_t thread, uint64_t number,
		   struct timeline_step *step, struct timeline_seam *seam)
{
	const struct gathered_thread *of = &timeline->threads[thread];
	const struct stint *stint = find_stint(timeline, thread, number + 1);
	struct timeline_insn next;
	int err;

	if (!stint) {
		step->next_pc = of->base.next_pc ? of->base.next_pc : step->insn.behind;
		return 0;
	}
	if (stint->number == number + 1) {
		step->next_pc = stint->pc;
		if (is_seam(stints_of(timeline, thread), stint - stints_of(timeline, thread), seam))
			step->seam = seam;
		return 0;
	}
	err = timeline_insn(timeline, thread, number + 1, &next);
	step->next_pc = next.pc;
	return err;
}

struct walk {
	struct timeline *timeline;
	const struct stint *stint;
	uint64_t from, to;	/* by number in the part and thread */
	int (*take)(void *ctx, const struct timeline_step *step);
	void *ctx;
};

/*
 * Tells the last instruction of @run, which is number @at in the part. @next_pc: see struct
 * timeline_step.
 */
static int tell_step(const struct walk *walk, const struct run *run, uint64_t at, uint64_t next_pc)
{
	const struct stint *stint = walk->stint;
	struct timeline_step step = { .number = stint->number + (at - stint->first),
				      .insn = insn_of(run, run->insns - 1), .next_pc = next_pc };
	struct timeline_seam seam;
	int err = 0;

	if (!next_pc || at + 1 == stint->first + stint->insns)
		err = next_of(walk->timeline, stint->thread, step.number, &step, &seam);
	if (err || goes_on(&step))
		return err;
	return walk->take(walk->ctx, &step);
}

static int walk_run(void *ctx, const struct run *run, uint64_t at, uint64_t next_pc)
{
	const struct walk *walk = ctx;
	uint64_t last = at + run->insns - 1;

	if (last >= walk->to)
		return GATHERED;
	return last >= walk->from ? tell_step(walk, run, last, next_pc) : 0;
}

/* Walks from .from to .to, or to the end of the page; sets *@next to that. */
static int walk_page(const struct walk *walk, const struct page *page, uint64_t *next)
{
	const struct run *end = page->runs + page->n;
	int err = 0;

	for (const struct run *run = find_run(page, walk->from); run < end && !err; run++) {
		*next = page->first + run->at + run->insns;
		err = walk_run((void *)walk, run, page->first + run->at,
			       run + 1 < end ? run[1].pc : 0);
	}
	if (err == GATHERED || *next > walk->to)
		*next = walk->to;
	return err == GATHERED ? 0 : err;
}

/* Walks from .from to .to of the stint, or less; sets *@next to where to continue. */
static int walk_stint(const struct walk *walk, uint64_t *next)
{
	struct timeline *timeline = walk->timeline;
	struct page *page;
	int err;

	*next = walk->to;
	if (walk->to - walk->from >= STREAMED && !kept_page(timeline, walk->stint, walk->from))
		return gather_runs(timeline, walk->stint->part, walk->stint->thread, walk_run,
				   (void *)walk);
	err = find_page(timeline, walk->stint, walk->from, &page);
	return err ? err : walk_page(walk, page, next);
}

int timeline_walk(struct timeline *timeline, size_t thread, uint64_t from, uint64_t to,
		  int (*take)(void *ctx, const struct timeline_step *step), void *ctx)
{
	while (from < to) {
		const struct stint *stint = find_stint(timeline, thread, from);
		struct walk walk = { timeline, stint, .take = take, .ctx = ctx };
		uint64_t next;
		int err;

		if (!stint)
			return -ENOENT;
		walk.from = stint->first + (from - stint->number);
		walk.to = stint->first + (to < stint->number + stint->insns ?
					  to - stint->number : stint->insns);
		err = walk_stint(&walk, &next);
		if (err)
			return err;
		from = stint->number + (next - stint->first);
	}
	return 0;
}

struct rvt_space *timeline_space(struct timeline *timeline, size_t thread, uint64_t number)
{
	const struct gathered_thread *of = &timeline->threads[thread];
	uint64_t time = of->base.to;

	if (of->base.insns && number >= of->base.insns)
		number = of->base.insns - 1;
	if (timeline_time(timeline, thread, number, &time) && !of->base.insns)
		return NULL;
	return rvt_parts_space(timeline->parts, of->base.tid, time);
}
