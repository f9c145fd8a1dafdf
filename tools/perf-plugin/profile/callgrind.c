// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Who called whom how often, and what it cost, in callgrind's format (valgrind's manual, "Callgrind
 * Format Specification"): for KCachegrind and callgrind_annotate.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/contexts.h"
#include "common/text.h"
#include "profile/profile.h"

/* What a function cost, or another one's calls of it. .name and .dso come first, for tsearch(). */
struct cost {
	const char *name, *dso;
	uint64_t self;		/* instructions; of calls: with all that it called */
	uint64_t calls;
	void *callees;		/* tsearch tree */
};

struct callgrind {
	void *functions;	/* tsearch tree of struct cost */
	uint64_t total;
	FILE *out;
};

static int compare(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->dso, y->dso);
}

/* Finds or makes the cost of a function in @tree. NULL: out of memory. */
static struct cost *get_cost(void **tree, const char *name, const char *dso)
{
	struct cost key = { .name = name, .dso = dso }, *cost;
	struct cost **found = tfind(&key, tree, compare);

	if (found)
		return *found;
	cost = malloc(sizeof(*cost));
	if (!cost)
		return NULL;
	*cost = key;
	if (tsearch(cost, tree, compare))
		return cost;
	free(cost);
	return NULL;
}

static bool is_thread(const struct context *context)
{
	return !context->parent || !context->parent->parent;
}

static struct cost *cost_of(struct callgrind *callgrind, const struct context *context)
{
	return get_cost(&callgrind->functions, context_label(context), context->dso);
}

/* Adds the cost of @context to its function, and to the call by its caller. */
static int add_context(struct callgrind *callgrind, const struct context *context)
{
	struct cost *cost = cost_of(callgrind, context), *caller, *call;

	if (!cost)
		return -ENOMEM;
	cost->self += context->self;
	callgrind->total += context->self;
	if (is_thread(context->parent))
		return 0;
	caller = cost_of(callgrind, context->parent);
	call = caller ? get_cost(&caller->callees, cost->name, cost->dso) : NULL;
	if (!call)
		return -ENOMEM;
	call->self += context->total;
	call->calls += context->calls;
	return 0;
}

static void put_name(FILE *out, const char *key, const char *name)
{
	fprintf(out, "%s=", key);
	put_visible(out, *name ? name : "???");
	fputc('\n', out);
}

static void put_call(const void *node, VISIT which, void *closure)
{
	const struct cost *call = *(struct cost *const *)node;
	const struct callgrind *callgrind = closure;

	if (which != postorder && which != leaf)
		return;
	put_name(callgrind->out, "cob", call->dso);
	put_name(callgrind->out, "cfn", call->name);
	/* 0: the flow began amid the function, so its call was not traced */
	fprintf(callgrind->out, "calls=%" PRIu64 " 0\n0 %" PRIu64 "\n",
		call->calls ? call->calls : 1, call->self);
}

static void put_function(const void *node, VISIT which, void *closure)
{
	const struct cost *cost = *(struct cost *const *)node;
	const struct callgrind *callgrind = closure;

	if (which != postorder && which != leaf)
		return;
	fputc('\n', callgrind->out);
	put_name(callgrind->out, "ob", cost->dso);
	put_name(callgrind->out, "fl", "");
	put_name(callgrind->out, "fn", cost->name);
	fprintf(callgrind->out, "0 %" PRIu64 "\n", cost->self);
	twalk_r(cost->callees, put_call, closure);
}

static void free_cost(void *data)
{
	struct cost *cost = data;

	tdestroy(cost->callees, free);
	free(cost);
}

int callgrind_write(const struct context *root, FILE *out)
{
	struct callgrind callgrind = { .out = out };
	int err = 0;

	for (const struct context *node = root; node && !err; node = context_next(root, node))
		if (!is_thread(node))
			err = add_context(&callgrind, node);
	if (!err) {
		fprintf(out, "# callgrind format\nversion: 1\ncreator: perf rvtrace\n"
			"positions: line\nevents: Instructions\nsummary: %" PRIu64 "\n",
			callgrind.total);
		twalk_r(callgrind.functions, put_function, &callgrind);
	}
	tdestroy(callgrind.functions, free_cost);
	return err;
}
