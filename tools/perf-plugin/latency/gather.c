// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The first pass over the recording: measures how long calls took, of one function or of each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "latency/latency.h"
#include "util/array.h"

enum latency_measure latency_rank(const struct latency *latency)
{
	return latency->timed ? LATENCY_TIME : LATENCY_INSNS;
}

uint64_t latency_value(const struct call *call, enum latency_measure measure)
{
	switch (measure) {
	case LATENCY_TIME: return call->time;
	case LATENCY_OWN: return call_own_time(call);
	case LATENCY_AWAY: return call->away - call->callee_away;
	case LATENCY_INSNS: return call->insns;
	default: return call_own_insns(call);
	}
}

bool latency_wants(const struct latency_options *options, const struct call_function *function)
{
	if (options->dsos && !view_in_files(options->dsos, function->dso))
		return false;
	return !options->symbol || !strcmp(options->symbol, function->name) ||
		!strcmp(options->symbol, function->linkage);
}

/*
 * Finds or makes the entry of a function. Sets *@entry, to NULL if the function is not wanted.
 * Returns 0 or -ENOMEM.
 */
static int get_entry(struct latency *latency, struct call_function *function,
		     struct latency_function **entry)
{
	*entry = function->user;
	if (*entry || !latency_wants(latency->options, function))
		return 0;
	if (latency->options->symbol && latency->n) {
		/* one entry for all functions of the name, whatever their files */
		*entry = latency->list[0];
	} else {
		if (array_grow(&latency->list, latency->n))
			return -ENOMEM;
		*entry = calloc(1, sizeof(**entry));
		if (!*entry)
			return -ENOMEM;
		**entry = (struct latency_function){
			.name = function->name, .linkage = function->linkage,
			.dso = function->dso, .kernel = function->kernel };
		latency->list[latency->n++] = *entry;
	}
	function->user = *entry;
	return 0;
}

/* Keeps the call if it is one of the slowest. */
static void rank_call(struct latency *latency, struct latency_slowest *slowest,
		      const struct latency_call *call)
{
	size_t i = slowest->n;

	if (i == latency->options->slowest) {
		if (!i || call->value <= slowest->calls[i - 1].value)
			return;
		i--;
	} else {
		slowest->n++;
	}
	for (; i && slowest->calls[i - 1].value < call->value; i--)
		slowest->calls[i] = slowest->calls[i - 1];
	slowest->calls[i] = *call;
}

static void rank_both(struct latency *latency, const struct call_thread *thread,
		      const struct call *call, uint64_t number)
{
	static const enum latency_measure measures[] = { LATENCY_TIME, LATENCY_INSNS };

	for (size_t i = 0; i < 2; i++) {
		const struct latency_call ranked = {
			.number = number, .value = latency_value(call, measures[i]), .call = *call,
			.comm = thread->comm, .pid = thread->pid,
			.tid = rvt_task_key_tid(thread->tid) };

		rank_call(latency, &latency->by[i], &ranked);
	}
}

static int begin_call(void *ctx, struct call_thread *thread, struct call *call)
{
	struct latency *latency = ctx;

	(void)thread;
	if (latency->options->symbol && latency_wants(latency->options, call->function))
		call->user = (void *)(uintptr_t)++latency->number;
	return 0;
}

int latency_take(struct latency *latency, const struct call_thread *thread,
		 const struct call *call)
{
	uint64_t number = (uintptr_t)call->user;
	struct latency_function *entry;
	int err = get_entry(latency, call->function, &entry);

	if (err || !entry)
		return err;
	if (!call->whole) {
		entry->partial++;
		return 0;
	}
	if (!number) {
		bool own = latency->options->own;

		err = histogram_add(&entry->calls[LATENCY_TIME],
				    call->time - (own ? call->callee_time : 0), 0);
		return err ? err : histogram_add(&entry->calls[LATENCY_INSNS], call->insns -
						 (own ? call->callee_insns : 0), 0);
	}
	for (int i = 0; i < LATENCY_MEASURES && !err; i++)
		err = histogram_add(&entry->calls[i], latency_value(call, i), number);
	rank_both(latency, thread, call, number);
	return err;
}

static int end_call(void *ctx, struct call_thread *thread, const struct call *call)
{
	return latency_take(ctx, thread, call);
}

uint64_t latency_tail(const struct latency *latency, const struct latency_function *function)
{
	const struct histogram *calls = &function->calls[latency_rank(latency)];

	return histogram_above(calls, histogram_percentile(calls, 50, NULL));
}

static int compare_tails(const void *a, const void *b, void *latency)
{
	const struct latency_function *const *x = a, *const *y = b;
	uint64_t tail_x = latency_tail(latency, *x), tail_y = latency_tail(latency, *y);
	int order;

	if (tail_x != tail_y)
		return tail_x < tail_y ? 1 : -1;
	order = strcmp((*x)->name, (*y)->name);
	return order ? order : strcmp((*x)->dso, (*y)->dso);
}

void latency_sort(struct latency *latency)
{
	if (latency->n)
		qsort_r(latency->list, latency->n, sizeof(*latency->list), compare_tails, latency);
}

/* ---- which parts matter ---- */

static bool wants_function(void *ctx, const struct call_function *function)
{
	const struct latency *latency = ctx;

	return latency_wants(latency->options, function);
}

static bool is_place_of(void *ctx, const struct place *place)
{
	const char *symbol = ctx;

	return (place->symbol && !strcmp(place->symbol, symbol)) ||
		(place->linkage && !strcmp(place->linkage, symbol));
}

bool latency_wants_granule(struct latency *latency, const struct rvt_index_granule *granule,
			   uint64_t size)
{
	return places_any(latency->places, granule, size, is_place_of,
			  (void *)latency->options->symbol);
}

/*
 * Returns whether parts may be left out: not if the symbol stands for no place in code, like
 * "[system call]" or "0x1000".
 */
bool latency_can_leave_out(const struct latency *latency)
{
	const char *symbol = latency->options->symbol;

	return symbol && symbol[0] != '[' && strncmp(symbol, "0x", 2) != 0;
}

static bool wants_granule(void *ctx, const struct rvt_index_granule *granule, uint64_t size)
{
	return latency_wants_granule(ctx, granule, size);
}

/* Refuses a wanted call that has begun before the part: calls are numbered as they begin. */
static int restore_call(void *ctx, struct call_thread *thread, struct call *call)
{
	(void)thread;
	return wants_function(ctx, call->function) ? -EAGAIN : 0;
}

/* ---- all functions ---- */

static void free_functions(struct latency *latency)
{
	for (size_t i = 0; i < latency->n; i++) {
		for (int j = 0; j < LATENCY_MEASURES; j++)
			histogram_clear(&latency->list[i]->calls[j]);
		free(latency->list[i]);
	}
	free(latency->list);
	latency->list = NULL;
	latency->n = 0;
}

static void forget(void *ctx)
{
	struct latency *latency = ctx;

	free_functions(latency);
	latency->number = 0;
	memset(latency->by, 0, sizeof(latency->by));
}

int latency_gather(struct latency *latency)
{
	struct calls_ops ops = { .ctx = latency, .begin = begin_call, .end = end_call,
				 .forget = forget };
	int err;

	if (latency_can_leave_out(latency)) {
		ops.wants = wants_function;
		ops.wants_granule = wants_granule;
		ops.restore = restore_call;
	}
	err = calls_run(latency->view, latency->places, &ops, &latency->timed, &latency->errors);
	if (!err)
		latency_sort(latency);
	return err;
}

void latency_free(struct latency *latency)
{
	free_functions(latency);
	for (size_t i = 0; i < latency->n_trees; i++)
		context_free(&latency->trees[i].root);
	free(latency->trees);
}
