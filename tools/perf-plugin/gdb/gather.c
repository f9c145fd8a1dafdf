// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/insn-code.h"
#include "common/progress.h"
#include "gdb/gather.h"
#include "util/array.h"

#define PART_BYTES (256u << 10)
/* The parts of a long recording are longer, so that there are at most so many. */
#define MAX_PARTS 4096
#define SEEN_BLOCKS 4096
/* Ends decoding: the page is full, or .take has what it wants. No errno has this value. */
#define FULL (-4097)

/* State of a hart flow. */
struct hart_state {
	size_t thread;		/* number + 1; 0: not known yet */
	int32_t pid, tid;
	uint32_t life;
	size_t stint;		/* number + 1; 0: the next instruction begins a new one */
	/* where tracing stopped, before the next instruction; 0: it did not, or not known */
	uint64_t next_pc;
	bool lost;
	uint8_t reason;
};

/* Runs that are passed on. Each is held until the next one is known. */
struct passing {
	uint32_t thread;
	gather_take take;
	void *ctx;
	struct run held;	/* .insns 0: none */
	uint64_t held_at;
	bool ended;		/* .take wants no more */
};

/* State while decoding a part, or all parts. */
struct gathering {
	struct timeline *timeline;
	uint64_t turn;
	uint32_t part;
	uint64_t latest;	/* of the buffer's times so far */
	bool again;		/* not the first decoding */
	struct page *page;	/* to fill; NULL: none */
	struct passing *passing;	/* NULL: nothing is passed on */
	uint64_t wanted;	/* instruction that .page must have */
	uint64_t order;
	const struct rvt_block **seen;	/* blocks of the part by a hash, which .code has already */
};

static const uint8_t trap_halfwords[] = { 2 };

/* ---- threads ---- */

struct thread_key {
	int32_t tid;
	uint32_t life;
	uint32_t number;
};

static int compare_keys(const void *a, const void *b)
{
	const struct thread_key *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->life < y->life ? -1 : x->life > y->life;
}

static size_t add_thread(struct timeline *timeline, const struct rvt_hart_flow *hart,
			 const struct thread_key *key)
{
	struct thread_key *copy;

	if (array_grow(&timeline->threads, timeline->n_threads))
		return 0;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return 0;
	*copy = *key;
	copy->number = timeline->n_threads;
	if (!tsearch(copy, &timeline->by_id, compare_keys)) {
		free(copy);
		return 0;
	}
	timeline->threads[timeline->n_threads] = (struct gathered_thread){
		.base = { .pid = hart->task ? hart->task->pid : -1, .tid = key->tid,
			  .life = key->life,
			  .comm = places_comm(timeline->places, hart) } };
	return ++timeline->n_threads;
}

/* Finds or adds the hart's thread. Returns its number + 1; 0: out of memory. */
static size_t get_thread(struct timeline *timeline, const struct rvt_hart_flow *hart)
{
	struct thread_key key = { .tid = hart->task ? hart->task->tid : -2 - hart->cpu,
				  .life = hart->task ? hart->task->life : 0 };
	struct thread_key **found = tfind(&key, &timeline->by_id, compare_keys);

	if (!found)
		return add_thread(timeline, hart, &key);
	/* the last name it has wins */
	timeline->threads[(*found)->number].base.comm = places_comm(timeline->places, hart);
	return (*found)->number + 1;
}

static int choose_thread(struct gathering *g, struct rvt_hart_flow *hart, struct hart_state *state)
{
	int32_t pid = hart->task ? hart->task->pid : -1, tid = hart->task ? hart->task->tid : 0;
	uint32_t life = hart->task ? hart->task->life : 0;

	if (state->thread && state->pid == pid && state->tid == tid && state->life == life)
		return 0;
	state->thread = get_thread(g->timeline, hart);
	state->stint = 0;
	state->next_pc = 0;
	state->pid = pid;
	state->tid = tid;
	state->life = life;
	return state->thread ? 0 : -ENOMEM;
}

/* ---- what is executed ---- */

/* The time of the hart; times of a buffer only fall if it is damaged. */
static uint64_t later(struct gathering *g, const struct rvt_hart_flow *hart)
{
	if (hart->time > g->latest)
		g->latest = hart->time;
	return g->latest;
}

static int begin_stint(struct gathering *g, const struct rvt_hart_flow *hart,
		       struct hart_state *state, uint64_t pc)
{
	struct timeline *timeline = g->timeline;
	struct gathered_thread *thread = &timeline->threads[state->thread - 1];

	if (g->again) {
		state->stint = 1;
		return 0;
	}
	if (array_grow(&timeline->stints, timeline->n_stints))
		return -ENOMEM;
	timeline->stints[timeline->n_stints++] = (struct stint){
		.time = later(g, hart), .order = g->order++, .thread = state->thread - 1,
		.part = g->part, .first = thread->told, .pc = pc,
		.lost_before = state->lost, .reason = state->reason };
	state->stint = timeline->n_stints;
	state->lost = false;
	return 0;
}

/* Makes room for a run. Returns false if the page is full. */
static bool makes_room(struct page *page, uint64_t wanted)
{
	if (page->n < PAGE_RUNS)
		return true;
	if (wanted < page->first + page->insns)
		return false;
	/* drops runs before the wanted one, which nobody has asked for */
	page->first += page->insns;
	page->insns = 0;
	page->n = page->n_times = 0;
	return true;
}

static int add_to_page(struct page *page, const struct rvt_hart_flow *hart, const struct run *run)
{
	if (array_reserve(&page->runs, &page->room, page->n, 1))
		return -ENOMEM;
	if (!page->n_times || page->times[page->n_times - 1].time != hart->time) {
		if (array_reserve(&page->times, &page->times_room, page->n_times, 1))
			return -ENOMEM;
		page->times[page->n_times++] = (struct run_time){ page->n, hart->time };
	}
	page->runs[page->n] = *run;
	page->runs[page->n++].at = page->insns;
	page->insns += run->insns;
	return 0;
}

static int pass_on(struct passing *passing, const struct run *run, uint64_t at)
{
	int err = 0;

	if (passing->held.insns)
		err = passing->take(passing->ctx, &passing->held, passing->held_at,
				    run ? run->pc : 0);
	if (run)
		passing->held = *run;
	passing->held_at = at;
	passing->ended = err == GATHERED;
	return passing->ended ? FULL : err;
}

static int add_run(struct gathering *g, struct rvt_hart_flow *hart, struct hart_state *state,
		   const struct run *run)
{
	struct gathered_thread *thread = &g->timeline->threads[state->thread - 1];
	int err = 0;

	if (thread->turn != g->turn) {
		thread->turn = g->turn;
		thread->told = 0;
	}
	if (state->next_pc && state->next_pc != run->pc)
		state->stint = 0;
	if (!state->stint)
		err = begin_stint(g, hart, state, run->pc);
	if (err)
		return err;
	state->next_pc = 0;
	thread->told += run->insns;
	if (!g->again) {
		struct stint *stint = &g->timeline->stints[state->stint - 1];

		stint->insns += run->insns;
		stint->last_time = later(g, hart);
		stint->next_pc = 0;
		return 0;
	}
	if (g->passing)
		return state->thread - 1 == g->passing->thread ?
		       pass_on(g->passing, run, thread->told - run->insns) : 0;
	if (state->thread - 1 != g->page->thread)
		return 0;
	return makes_room(g->page, g->wanted) ? add_to_page(g->page, hart, run) : FULL;
}

static bool is_seen(const struct gathering *g, uint64_t pc)
{
	return g->timeline->options.kernel || (int64_t)pc >= 0;
}

static void note_code(struct gathering *g, uint64_t pc, uint64_t bytes)
{
	struct part_code *code = &g->timeline->code[g->part];

	for (uint64_t at = pc & -(uint64_t)CODE_BYTES; at - pc < bytes || at <= pc;
	     at += CODE_BYTES) {
		unsigned int bits[2];

		code_bits(at, bits);
		code->bits[bits[0] / 64] |= UINT64_C(1) << bits[0] % 64;
		code->bits[bits[1] / 64] |= UINT64_C(1) << bits[1] % 64;
	}
}

static void note_block(struct gathering *g, const struct rvt_block *block)
{
	const struct rvt_block **seen = &g->seen[(uintptr_t)block / 32 % SEEN_BLOCKS];

	if (*seen == block)
		return;
	*seen = block;
	note_code(g, block->pc, block->bytes);
}

static struct hart_state *get_state(struct rvt_hart_flow *hart)
{
	if (!hart->user)
		hart->user = calloc(1, sizeof(struct hart_state));
	return hart->user;
}

/* Returns whether a guest runs, which a debugger of the host does not see. */
static bool in_guest(const struct rvt_hart_flow *hart)
{
	return hart->task && hart->task->guest;
}

/* Returns whether what runs now is told. What is not is a gap in the thread's flow. */
static bool is_told(const struct gathering *g, const struct rvt_hart_flow *hart,
		    struct hart_state *state)
{
	if (view_has_time(g->timeline->view, hart->time)) {
		view_wants(g->timeline->view, hart);
		return true;
	}
	state->stint = 0;
	state->next_pc = 0;
	state->lost = false;
	return false;
}

static int take_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct gathering *g = ctx;
	struct hart_state *state = get_state(hart);
	int err = state ? 0 : -ENOMEM;

	if (err || in_guest(hart) || !is_told(g, hart, state))
		return err;
	for (size_t i = 0; i < n && !err; i++) {
		const struct rvt_block *block = runs[i].block;
		bool whole = runs[i].first + runs[i].count == block->insns;
		const struct run run = {
			.pc = runs[i].first ? rvt_run_insn_address(&runs[i], 0) : block->pc,
			.halfwords = block->halfwords + runs[i].first, .insns = runs[i].count,
			.iclass = whole ? block->iclass : RVT_INSN_SEQUENTIAL };

		if (!is_seen(g, run.pc))
			continue;
		if (!g->again) {
			if (block->iclass == RVT_INSN_JUMP)
				view_note_run(g->timeline->view, hart, &runs[i], 1);
			note_block(g, block);
		}
		err = choose_thread(g, hart, state);
		if (!err)
			err = add_run(g, hart, state, &run);
	}
	return err;
}

/* ---- events ---- */

/* Makes a run of an ecall or ebreak at @pc, if there is one: as it traps, no run has it. */
static bool traps_by_itself(struct rvt_hart_flow *hart, uint64_t pc, struct run *run)
{
	uint8_t bytes[INSN_CODE_BYTES];
	struct rvt_insn insn;
	unsigned int len = insn_code(hart->space, pc, bytes);

	if (!len || rvt_insn_decode(bytes, len, 0, &insn) ||
	    (insn.iclass != RVT_INSN_ECALL && insn.iclass != RVT_INSN_EBREAK) ||
	    insn.len_bytes != 4)
		return false;
	*run = (struct run){ .pc = pc, .halfwords = trap_halfwords, .insns = 1,
			     .iclass = insn.iclass };
	return true;
}

static int take_end(struct gathering *g, struct rvt_hart_flow *hart, struct hart_state *state,
		    const struct rvt_event *event)
{
	struct run run;
	int err;

	if (!event->pc || !is_seen(g, event->pc))
		return 0;
	err = choose_thread(g, hart, state);
	if (err)
		return err;
	state->next_pc = 0;
	if (g->page && g->page->n && g->page->thread == state->thread - 1)
		g->page->runs[g->page->n - 1].trapped = true;
	if (g->passing && g->passing->thread == state->thread - 1)
		g->passing->held.trapped = true;
	if (!event->interrupt && traps_by_itself(hart, event->pc, &run)) {
		if (!g->again)
			note_code(g, run.pc, 2 * run.halfwords[0]);
		err = add_run(g, hart, state, &run);
		/* next is a signal handler, or the end of another system call */
		if (!err && event->type == RVT_EVENT_STOP)
			state->next_pc = event->pc + 4;
		return err;
	}
	if (event->type == RVT_EVENT_STOP)
		state->next_pc = event->pc;
	if (!g->again && state->stint)
		g->timeline->stints[state->stint - 1].next_pc = event->pc;
	return 0;
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct gathering *g = ctx;
	struct hart_state *state = get_state(hart);

	if (!state)
		return -ENOMEM;
	if (in_guest(hart))
		return 0;
	switch (event->type) {
	case RVT_EVENT_TRAP:
	case RVT_EVENT_STOP:
		return is_told(g, hart, state) ? take_end(g, hart, state, event) : 0;
	case RVT_EVENT_LOST:
		if (!g->again) {
			view_lost(g->timeline->view, hart, event);
			if (state->stint) {
				g->timeline->stints[state->stint - 1].lost_behind = true;
				g->timeline->stints[state->stint - 1].reason = event->reason;
			}
		}
		state->stint = 0;
		state->next_pc = 0;
		state->lost = true;
		state->reason = event->reason;
		return 0;
	default:
		return 0;
	}
}

static void end_hart(void *ctx, struct rvt_hart_flow *hart)
{
	(void)ctx;
	free(hart->user);
	hart->user = NULL;
}

static int keep_going(void *ctx)
{
	const struct timeline *timeline = ctx;

	return timeline->options.poll ? timeline->options.poll(timeline->options.ctx) : 0;
}

static struct rvt_session_sink make_sink(struct gathering *g)
{
	return (struct rvt_session_sink){
		.size = sizeof(struct rvt_session_sink), .ctx = g, .runs = take_runs,
		.event = take_event, .end = end_hart, .poll = keep_going,
		.poll_ctx = g->timeline, .warning = g->again ? NULL : view_warning };
}

/* ---- all parts ---- */

static int begin_part(void *ctx, size_t part, unsigned int buffer)
{
	struct gathering *g = ctx;
	struct timeline *timeline = g->timeline;

	(void)buffer;
	if (part < timeline->n_parts)
		view_go_back(timeline->view, &timeline->code[part].before);
	while (timeline->n_stints && timeline->stints[timeline->n_stints - 1].part >= part)
		timeline->n_stints--;
	g->part = part;
	g->turn++;
	g->latest = 0;
	memset(g->seen, 0, SEEN_BLOCKS * sizeof(*g->seen));
	timeline->n_parts = part;
	if (array_grow(&timeline->code, timeline->n_parts))
		return -ENOMEM;
	timeline->code[timeline->n_parts++] = (struct part_code){
		.before = view_mark(timeline->view),
	};
	return 0;
}

static int compare_stints(const void *a, const void *b)
{
	const struct stint *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void note_stint(struct gathered_thread *thread, struct stint *stint, size_t i)
{
	const struct stint *before = thread->n ? stint - 1 : NULL;

	if (!before) {
		thread->first = i;
		thread->base.from = stint->time;
		stint->lost_before = false;
	} else if (before->lost_behind) {
		stint->lost_before = true;
		stint->reason = before->reason;
	}
	thread->n++;
	stint->number = thread->base.insns;
	thread->base.insns += stint->insns;
	thread->base.to = stint->last_time > thread->base.to ? stint->last_time : thread->base.to;
	thread->base.next_pc = stint->next_pc;
	thread->base.losses += stint->lost_before;
}

int gather_all(struct timeline *timeline)
{
	struct rvt_session *session = view_session(timeline->view);
	uint64_t bytes = rvt_session_size(session) / MAX_PARTS;
	struct gathering g = { .timeline = timeline,
			       .seen = calloc(SEEN_BLOCKS, sizeof(*g.seen)) };
	const struct rvt_session_sink sink = make_sink(&g);
	const struct rvt_parts_ops ops = { .ctx = &g, .begin = begin_part };
	const bool chosen = view_use_index_of_stamps(timeline->view);
	int err = g.seen ? 0 : -ENOMEM;

	if (!err)
		err = rvt_parts_create(session, bytes > PART_BYTES ? bytes : PART_BYTES, &sink,
				       &ops, &timeline->parts);
	free(g.seen);
	if (err)
		return err;
	if (chosen)
		view_skipped_losses(timeline->view);
	if (timeline->n_stints)
		qsort(timeline->stints, timeline->n_stints, sizeof(*timeline->stints),
		      compare_stints);
	for (size_t i = 0; i < timeline->n_stints; i++)
		note_stint(&timeline->threads[timeline->stints[i].thread], &timeline->stints[i], i);
	return 0;
}

/* ---- one part ---- */

static int decode_again(struct gathering *g, uint32_t part)
{
	const struct rvt_session_sink sink = make_sink(g);
	int err;

	for (size_t i = 0; i < g->timeline->n_threads; i++)
		g->timeline->threads[i].turn = 0;
	err = rvt_parts_decode(g->timeline->parts, part, &sink);
	return err == FULL ? 0 : err;
}

int gather_page(struct timeline *timeline, struct page *page, uint64_t number)
{
	struct gathering g = { .timeline = timeline, .turn = UINT64_MAX, .again = true,
			       .page = page, .wanted = number };
	int err;

	page->first = page->insns = 0;
	page->n = page->n_times = 0;
	err = decode_again(&g, page->part);
	return err ? err : number < page->first + page->insns ? 0 : -ENOENT;
}

int gather_runs(struct timeline *timeline, uint32_t part, uint32_t thread, gather_take take,
		void *ctx)
{
	struct passing passing = { .thread = thread, .take = take, .ctx = ctx };
	struct gathering g = { .timeline = timeline, .turn = UINT64_MAX, .again = true,
			       .passing = &passing };
	int err = decode_again(&g, part);

	if (!err && !passing.ended)
		err = pass_on(&passing, NULL, 0);
	return err == FULL ? 0 : err;
}
