// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/access.h>
#include <rvtrace/clock.h>
#include "util/array.h"

/* Held at a time: by instructions, so that it does not matter how many come at once. */
#define MAX_INSNS (1u << 20)
#define MAX_EVENTS (1u << 14)
#define RATE_INSNS 64		/* between two stamps, so that their ratio is a rate */

enum item_kind { ITEM_RUNS, ITEM_EVENT, ITEM_PASSED };

struct item {
	enum item_kind kind;
	uint32_t state;
	size_t first, n;	/* of .runs; .first: of .events */
	uint64_t insns;
};

struct rvt_clock {
	struct rvt_clock_sink sink;
	size_t state_size;
	struct item *items;
	size_t n_items, items_room;
	struct rvt_run *runs;
	size_t n_runs, runs_room;
	struct rvt_event *events;
	size_t n_events, events_room;
	uint8_t *states;	/* of .state_size bytes each; one more is the copy that is told */
	size_t n_states, states_room;
	uint64_t insns;		/* that are held */
	bool paused;
	size_t pause;		/* items before the last pause */
	uint64_t insns_before;	/* that are held of these */
	bool timed;		/* .time is known */
	uint64_t time;		/* until which time was told */
	struct rvt_clock_speed speed;
	bool guessed;
};

int rvt_clock_create(const struct rvt_clock_sink *sink, size_t state_size,
		     struct rvt_clock **result)
{
	struct rvt_clock *clock = calloc(1, sizeof(*clock));

	if (!clock)
		return -ENOMEM;
	clock->sink = *sink;
	clock->state_size = state_size;
	*result = clock;
	return 0;
}

/* What it points to is its own. */
static void free_event(const struct rvt_event *event)
{
	free((void *)event->detail);
	free((void *)event->access);
}

static int copy_event(struct rvt_event *copy, const struct rvt_event *event)
{
	struct rvt_access *access = event->access ? malloc(sizeof(*access)) : NULL;

	*copy = *event;
	copy->detail = event->detail ? strdup(event->detail) : NULL;
	copy->access = access;
	if (access)
		*access = *event->access;
	if ((!event->detail || copy->detail) && (!event->access || access))
		return 0;
	free_event(copy);
	return -ENOMEM;
}

static void forget(struct rvt_clock *clock)
{
	for (size_t i = 0; i < clock->n_events; i++)
		free_event(&clock->events[i]);
	clock->n_items = clock->n_runs = clock->n_events = clock->n_states = 0;
	clock->insns = clock->insns_before = 0;
	clock->paused = false;
}

void rvt_clock_destroy(struct rvt_clock *clock)
{
	if (!clock)
		return;
	forget(clock);
	free(clock->items);
	free(clock->runs);
	free(clock->events);
	free(clock->states);
	free(clock);
}

void rvt_clock_reset(struct rvt_clock *clock)
{
	forget(clock);
	clock->timed = clock->guessed = false;
	clock->time = 0;
	clock->speed = (struct rvt_clock_speed){ 0 };
}

/* ---- what is held ---- */

static uint8_t *state_at(const struct rvt_clock *clock, size_t n)
{
	return clock->states + n * clock->state_size;
}

static int add_state(struct rvt_clock *clock, const void *state)
{
	size_t size = clock->state_size;

	if (clock->n_states && !memcmp(state_at(clock, clock->n_states - 1), state, size))
		return 0;
	if (array_reserve_bytes(&clock->states, &clock->states_room, clock->n_states, 2, size))
		return -ENOMEM;
	memcpy(state_at(clock, clock->n_states++), state, size);
	return 0;
}

/* NULL: out of memory. */
static struct item *add_item(struct rvt_clock *clock, enum item_kind kind)
{
	struct item *item;

	if (array_reserve(&clock->items, &clock->items_room, clock->n_items, 1))
		return NULL;
	item = &clock->items[clock->n_items++];
	*item = (struct item){ .kind = kind,
			       .state = clock->n_states ? clock->n_states - 1 : 0,
			       .first = kind == ITEM_EVENT ? clock->n_events : clock->n_runs };
	return item;
}

static struct item *last_item(struct rvt_clock *clock, enum item_kind kind)
{
	struct item *item = clock->n_items ? &clock->items[clock->n_items - 1] : NULL;

	if (item && item->kind == kind &&
	    (kind == ITEM_PASSED || item->state == clock->n_states - 1))
		return item;
	return add_item(clock, kind);
}

static int make_room(struct rvt_clock *clock)
{
	return clock->insns >= MAX_INSNS || clock->n_events >= MAX_EVENTS ?
		rvt_clock_flush(clock, UINT64_MAX) : 0;
}

/* Holds runs for which there is room. */
static int add_runs(struct rvt_clock *clock, const void *state, const struct rvt_run *runs,
		    size_t n)
{
	struct item *item;

	if (array_reserve(&clock->runs, &clock->runs_room, clock->n_runs, n) ||
	    add_state(clock, state))
		return -ENOMEM;
	item = last_item(clock, ITEM_RUNS);
	if (!item)
		return -ENOMEM;
	memcpy(clock->runs + clock->n_runs, runs, n * sizeof(*runs));
	clock->n_runs += n;
	item->n += n;
	for (size_t i = 0; i < n; i++) {
		item->insns += runs[i].count;
		clock->insns += runs[i].count;
	}
	return 0;
}

/* Holds @run in parts, of which each but the last fills up what room there is. */
static int add_in_parts(struct rvt_clock *clock, const void *state, struct rvt_run run)
{
	int err = 0;

	while (!err && clock->insns + run.count > MAX_INSNS) {
		struct rvt_run part = run;

		part.count = MAX_INSNS - clock->insns;
		run.first += part.count;
		run.count -= part.count;
		if (part.count)
			err = add_runs(clock, state, &part, 1);
		if (!err)
			err = make_room(clock);
	}
	return err ? err : add_runs(clock, state, &run, 1);
}

int rvt_clock_runs(struct rvt_clock *clock, const void *state, const struct rvt_run *runs, size_t n)
{
	uint64_t insns = 0;
	size_t first = 0;
	int err = make_room(clock);

	for (size_t i = 0; i < n && !err; i++) {
		insns += runs[i].count;
		if (clock->insns + insns <= MAX_INSNS)
			continue;
		if (i > first)
			err = add_runs(clock, state, runs + first, i - first);
		if (!err)
			err = add_in_parts(clock, state, runs[i]);
		first = i + 1;
		insns = 0;
	}
	return err || first == n ? err : add_runs(clock, state, runs + first, n - first);
}

int rvt_clock_pass(struct rvt_clock *clock, uint64_t insns)
{
	struct item *item = last_item(clock, ITEM_PASSED);

	if (!item)
		return -ENOMEM;
	item->insns += insns;
	clock->insns += insns;
	return 0;
}

static int tell_all(struct rvt_clock *clock, uint64_t to);

static bool is_pause(const struct rvt_event *event)
{
	return event->type == RVT_EVENT_STOP || event->type == RVT_EVENT_START ||
		event->type == RVT_EVENT_LOST;
}

int rvt_clock_event(struct rvt_clock *clock, const void *state, const struct rvt_event *event)
{
	int err = make_room(clock);
	struct rvt_event copy;

	if (err)
		return err;
	if (copy_event(&copy, event))
		return -ENOMEM;
	if (array_reserve(&clock->events, &clock->events_room, clock->n_events, 1) ||
	    add_state(clock, state) || !add_item(clock, ITEM_EVENT)) {
		free_event(&copy);
		return -ENOMEM;
	}
	clock->events[clock->n_events++] = copy;
	/* what comes first was told of at the stamp before */
	if (is_pause(event) && clock->insns) {
		clock->paused = true;
		clock->pause = clock->n_items - (event->type == RVT_EVENT_START);
		clock->insns_before = clock->insns;
	}
	/* nothing waits before it, so its time is known */
	return clock->timed && !clock->insns ? tell_all(clock, clock->time) : 0;
}

bool rvt_clock_holds(const struct rvt_clock *clock)
{
	return clock->n_items;
}

bool rvt_clock_guessed(const struct rvt_clock *clock)
{
	return clock->guessed;
}

struct rvt_clock_speed rvt_clock_speed(const struct rvt_clock *clock)
{
	return clock->speed;
}

void rvt_clock_set_speed(struct rvt_clock *clock, const struct rvt_clock_speed *speed)
{
	clock->speed = *speed;
}

/* ---- what is told ---- */

static int tell_item(struct rvt_clock *clock, const struct item *item,
		     const struct rvt_clock_span *span)
{
	const struct rvt_clock_sink *sink = &clock->sink;
	/* the last place of .states, which is kept free for it */
	void *state = state_at(clock, clock->n_states);

	if (item->kind == ITEM_PASSED)
		return 0;
	memcpy(state, state_at(clock, item->state), clock->state_size);
	if (item->kind == ITEM_RUNS)
		return sink->runs(sink->ctx, state, span, clock->runs + item->first, item->n);
	return sink->event(sink->ctx, state, span, &clock->events[item->first]);
}

/* The items from @first to before @end, which took the time from @from to @to. */
static int tell_items(struct rvt_clock *clock, size_t first, size_t end, uint64_t insns,
		      uint64_t from, uint64_t to)
{
	struct rvt_clock_span span = { .from = from, .to = to, .insns = insns };
	int err = 0;

	for (size_t i = first; i < end && !err; i++) {
		err = tell_item(clock, &clock->items[i], &span);
		span.first += clock->items[i].insns;
	}
	return err;
}

/* How long @insns instructions take; 0 where no speed is known. */
static uint64_t duration(struct rvt_clock *clock, uint64_t insns)
{
	struct rvt_clock_speed *speed = &clock->speed;

	if (insns && !speed->insns && clock->sink.speed)
		*speed = clock->sink.speed(clock->sink.ctx);
	if (insns && !speed->insns)
		clock->guessed = true;
	return speed->insns ? (uint64_t)((__uint128_t)insns * speed->ns / speed->insns) : 0;
}

/* All that is held, which was executed until @to at the latest. */
static int tell_all(struct rvt_clock *clock, uint64_t to)
{
	uint64_t from = clock->time, insns_after = clock->insns - clock->insns_before;
	uint64_t before = clock->paused ? duration(clock, clock->insns_before) : 0;
	uint64_t after = clock->paused ? duration(clock, insns_after) : 0;
	int err;

	if (!clock->paused || !clock->speed.insns || before + after >= to - from) {
		err = tell_items(clock, 0, clock->n_items, clock->insns, from, to);
	} else {
		err = tell_items(clock, 0, clock->pause, clock->insns_before, from, from + before);
		if (!err)
			err = tell_items(clock, clock->pause, clock->n_items, insns_after,
					 to - after, to);
	}
	clock->time = to;
	forget(clock);
	return err;
}

int rvt_clock_stamp(struct rvt_clock *clock, uint64_t time)
{
	uint64_t insns = clock->insns;
	bool known = clock->timed && !clock->paused && insns >= RATE_INSNS;
	uint64_t from;

	if (!clock->timed)
		clock->time = time;
	from = clock->time;
	clock->timed = true;
	if (time < from)
		time = from;
	if (known)
		clock->speed = (struct rvt_clock_speed){ .insns = insns, .ns = time - from };
	return tell_all(clock, time);
}

int rvt_clock_flush(struct rvt_clock *clock, uint64_t limit)
{
	uint64_t to;

	if (!clock->n_items)
		return 0;
	if (!clock->timed) {
		/* nothing tells the time of any of it but that it was not later */
		clock->time = limit == UINT64_MAX ? 0 : limit;
		return tell_all(clock, clock->time);
	}
	to = clock->time + duration(clock, clock->insns);
	if (to > limit)
		to = limit > clock->time ? limit : clock->time;
	clock->paused = false;
	return tell_all(clock, to);
}
