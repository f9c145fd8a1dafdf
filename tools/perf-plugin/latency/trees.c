// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The second pass: finds what the slowest calls and a median one called, and which part took too
 * long.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "latency/latency.h"

struct recording {
	struct latency *latency;
	uint64_t number;	/* of the last call of the function that began */
	void (*over)(struct latency *latency, const struct latency_call *call,
		     const struct call_function *caller);
};

/* Beyond the depth of contexts it is a sibling of .at. NULL: out of memory. */
static struct context *context_of(const struct latency_tree *tree, const struct call *call)
{
	const struct call_function *function = call->function;

	return context_child(tree->at, function->name, function->dso, function->kernel);
}

static int descend(struct latency_tree *tree, const struct call *call)
{
	struct context *child = context_of(tree, call);

	if (!child)
		return -ENOMEM;
	tree->deeper += child->parent != tree->at;
	tree->at = child;
	return 0;
}

static void ascend(struct latency_tree *tree, const struct call *call)
{
	/* the siblings at the largest depth have called each other */
	if (tree->at->depth >= CONTEXT_MAX_DEPTH)
		tree->at = context_of(tree, call);
	tree->at->self += call_own_insns(call);
	tree->at->calls++;
	tree->at->own.time += call_own_time(call);
	tree->at->own.away += call->away - call->callee_away;
	if (tree->deeper)
		tree->deeper--;
	else
		tree->at = tree->at->parent;
	if (tree->at == &tree->root)
		tree->thread = NULL;
}

static int begin_call(void *ctx, struct call_thread *thread, struct call *call)
{
	struct recording *recording = ctx;
	struct latency *latency = recording->latency;
	bool chosen = latency_wants(latency->options, call->function);
	int err = 0;

	if (chosen)
		call->user = (void *)(uintptr_t)++recording->number;
	for (size_t i = 0; i < latency->n_trees && !err; i++) {
		struct latency_tree *tree = &latency->trees[i];

		if (chosen && tree->call.number == recording->number) {
			tree->thread = thread;
			tree->at = &tree->root;
		}
		if (tree->thread == thread)
			err = descend(tree, call);
	}
	return err;
}

static int end_call(void *ctx, struct call_thread *thread, const struct call *call)
{
	struct recording *recording = ctx;
	struct latency *latency = recording->latency;
	const struct latency_call told = {
		.number = (uintptr_t)call->user, .value = call->time, .call = *call,
		.comm = thread->comm, .pid = thread->pid, .tid = rvt_task_key_tid(thread->tid) };

	for (size_t i = 0; i < latency->n_trees; i++) {
		struct latency_tree *tree = &latency->trees[i];

		if (tree->thread != thread)
			continue;
		ascend(tree, call);
		if (!tree->thread)
			tree->call = told;
	}
	if (recording->over && call->user && call->whole && call->time > latency->options->over)
		recording->over(latency, &told,
				thread->n ? thread->calls[thread->n - 1].function : NULL);
	return 0;
}

/* ---- which parts matter ---- */

static bool wants_function(void *ctx, const struct call_function *function)
{
	const struct recording *recording = ctx;

	return latency_wants(recording->latency->options, function);
}

static bool wants_granule(void *ctx, const struct rvt_index_granule *granule, uint64_t size)
{
	const struct recording *recording = ctx;

	return latency_wants_granule(recording->latency, granule, size);
}

/* Returns whether a call is being recorded, which needs all that it calls. */
static bool is_busy(void *ctx)
{
	const struct recording *recording = ctx;
	const struct latency *latency = recording->latency;

	for (size_t i = 0; i < latency->n_trees; i++)
		if (latency->trees[i].thread)
			return true;
	return false;
}

/* Refuses a wanted call that has begun before the part: calls are numbered as they begin. */
static int restore_call(void *ctx, struct call_thread *thread, struct call *call)
{
	(void)thread;
	return wants_function(ctx, call->function) ? -EAGAIN : 0;
}

static void forget(void *ctx)
{
	struct recording *recording = ctx;
	struct latency *latency = recording->latency;

	recording->number = 0;
	for (size_t i = 0; i < latency->n_trees; i++) {
		struct latency_tree *tree = &latency->trees[i];

		context_free(&tree->root);
		*tree = (struct latency_tree){ .call = tree->call };
	}
}

/*
 * Chooses parts, but not with .over: calls that took too long are printed as they are found, and
 * that cannot be undone.
 */
static void choose_parts(const struct recording *recording, struct calls_ops *ops)
{
	if (recording->over)
		return;
	ops->forget = forget;
	if (!latency_can_leave_out(recording->latency))
		return;
	ops->wants = wants_function;
	ops->wants_granule = wants_granule;
	ops->restore = restore_call;
	ops->is_busy = is_busy;
}

/* ---- decoding ---- */

/* Chooses the slowest calls, and the example of the median. */
static int choose_trees(struct latency *latency)
{
	enum latency_measure rank = latency_rank(latency);
	const struct latency_slowest *slowest = &latency->by[rank == LATENCY_INSNS];
	uint64_t median = 0;

	if (!slowest->n)
		return 0;
	latency->trees = calloc(slowest->n + 1, sizeof(*latency->trees));
	if (!latency->trees)
		return -ENOMEM;
	for (size_t i = 0; i < slowest->n; i++)
		latency->trees[i].call = slowest->calls[i];
	histogram_percentile(&latency->list[0]->calls[rank], 50, &median);
	latency->trees[slowest->n].call.number = median;
	latency->n_trees = slowest->n + 1;
	return 0;
}

int latency_trees(struct latency *latency,
		  void (*over)(struct latency *latency, const struct latency_call *call,
			       const struct call_function *caller))
{
	struct recording recording = { .latency = latency, .over = over };
	struct calls_ops ops = { .ctx = &recording, .begin = begin_call, .end = end_call };
	int err = choose_trees(latency);

	if (err)
		return err;
	choose_parts(&recording, &ops);
	view_forget(latency->view);
	err = calls_run(latency->view, latency->places, &ops, NULL, NULL);
	for (size_t i = 0; i < latency->n_trees; i++)
		context_add_up(&latency->trees[i].root);
	return err;
}

/* ---- comparison ---- */

static struct context *find_child(const struct context *node, const struct context *like)
{
	struct context *child = node ? node->child : NULL;

	while (child && (child->kernel != like->kernel || strcmp(child->name, like->name) ||
			 strcmp(child->dso, like->dso)))
		child = child->sibling;
	return child;
}

static void walk(const struct context *slow, const struct context *median, unsigned int depth,
		 bool (*show)(void *ctx, const struct latency_pair *pair, unsigned int depth),
		 void *ctx)
{
	struct latency_pair pair;

	for (pair.slow = slow ? slow->child : NULL; pair.slow; pair.slow = pair.slow->sibling) {
		pair.median = find_child(median, pair.slow);
		if (show(ctx, &pair, depth))
			walk(pair.slow, pair.median, depth + 1, show, ctx);
	}
	/* functions that only the median call called */
	for (pair.median = median ? median->child : NULL; pair.median;
	     pair.median = pair.median->sibling)
		if (!find_child(slow, pair.median) && show(ctx, &pair, depth))
			walk(NULL, pair.median, depth + 1, show, ctx);
}

void latency_walk(const struct latency_tree *slow, const struct latency_tree *median,
		  bool (*show)(void *ctx, const struct latency_pair *pair, unsigned int depth),
		  void *ctx)
{
	walk(&slow->root, median ? &median->root : NULL, 0, show, ctx);
}
