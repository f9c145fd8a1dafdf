// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report-graph.h"
#include "transfers.h"

#define MAX_CALL_DEPTH 1024
#define MAX_DEPTH 500	/* of the tree: deeper recursion is one place */
#define UNKNOWN "[unknown]"

struct node {
	const char *name, *dso;
	struct node *parent, *child, *sibling;
	bool kernel;
	unsigned int depth;
	uint64_t self, total;
};

struct graph {
	struct view *view;
	struct places *places;
	const struct graph_options *options;
	struct node root;
	uint64_t errors, lines;
};

/* The child of @parent called @name, moved to the front: the next look-up is likely the same. */
static struct node *get_child(struct node *parent, const char *name, const char *dso, bool kernel)
{
	struct node **link = &parent->child, *node;

	if (parent->depth >= MAX_DEPTH)
		return parent;
	while (*link && ((*link)->kernel != kernel || strcmp((*link)->name, name) ||
			 strcmp((*link)->dso, dso)))
		link = &(*link)->sibling;
	node = *link;
	if (node) {
		*link = node->sibling;
	} else {
		node = calloc(1, sizeof(*node));
		if (!node)
			return NULL;
		*node = (struct node){ .name = name, .dso = dso, .parent = parent,
				       .kernel = kernel, .depth = parent->depth + 1 };
	}
	node->sibling = parent->child;
	parent->child = node;
	return node;
}

static void free_children(struct node *node)
{
	while (node->child) {
		struct node *child = node->child;

		node->child = child->sibling;
		free_children(child);
		free(child);
	}
}

/* Who made frame @n of the stack; the thread where that is not known. */
static struct node *get_context(struct graph *graph, const struct rvt_lane *lane,
				struct rvt_callstack *stack, size_t n)
{
	const struct rvt_frame *frame = rvt_callstack_frame(stack, n);

	if (frame && frame->tag)
		return (struct node *)(uintptr_t)frame->tag;
	return get_child(&graph->root, places_keep(graph->places, lane->task ? lane->task->comm :
						   UNKNOWN), "", false);
}

static struct node *get_function(struct graph *graph, const struct rvt_lane *lane,
				 struct node *context, uint64_t addr)
{
	const struct place *place = places_find(graph->places, lane->space, addr);
	const char *base = strrchr(place->dso, '/');

	return context ? get_child(context, place->symbol ? place->symbol : UNKNOWN,
				   base ? base + 1 : place->dso, (int64_t)addr < 0) : NULL;
}

static int count_line(void *ctx, struct rvt_lane *lane, uint64_t first, uint64_t last,
		      uint64_t insns, struct rvt_callstack *stack)
{
	struct graph *graph = ctx;
	struct node *node = get_function(graph, lane, get_context(graph, lane, stack, 0), first);

	(void)last;
	if (!node)
		return -ENOMEM;
	node->self += insns;
	return 0;
}

/* A new frame remembers the function that it came from, with all its callers. */
static int note_call(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
		     struct rvt_callstack *stack, size_t ended)
{
	struct graph *graph = ctx;
	struct node *node;

	(void)ended;
	if (transfer->kind != TRANSFER_CALL && transfer->kind != TRANSFER_TRAP)
		return 0;
	node = get_function(graph, lane, get_context(graph, lane, stack, 1), transfer->from);
	if (!node)
		return -ENOMEM;
	rvt_callstack_frame(stack, 0)->tag = (uintptr_t)node;
	return 0;
}

static int count_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	struct graph *graph = ctx;

	if (event->type != RVT_EVENT_LOST)
		return 0;
	view_lost(graph->view, event);
	graph->errors += view_wants(graph->view, lane);
	return 0;
}

/* Sums up and sorts children, the heaviest first. */
static void add_up(struct node *node)
{
	struct node *sorted = NULL, *child, *next;

	node->total = node->self;
	for (child = node->child; child; child = next) {
		struct node **link = &sorted;

		next = child->sibling;
		add_up(child);
		node->total += child->total;
		while (*link && ((*link)->total > child->total ||
				 ((*link)->total == child->total &&
				  strcmp((*link)->name, child->name) < 0)))
			link = &(*link)->sibling;
		child->sibling = *link;
		*link = child;
	}
	node->child = sorted;
}

static int invert_node(const struct node *node, struct node *inverted)
{
	struct node *at = inverted;

	for (const struct node *up = node; up->parent; up = up->parent) {
		at = get_child(at, up->name, up->dso, up->kernel);
		if (!at)
			return -ENOMEM;
	}
	at->self += node->self;
	return 0;
}

/* Each function with its callers as children. */
static int invert(const struct node *node, struct node *inverted)
{
	int err = node->self ? invert_node(node, inverted) : 0;

	for (const struct node *child = node->child; child && !err; child = child->sibling)
		err = invert(child, inverted);
	return err;
}

static bool wanted(const struct graph_options *options, const struct node *node)
{
	return (!options->symbols || view_in_names(options->symbols, node->name)) &&
		(!options->dsos || view_in_names(options->dsos, node->dso));
}

static void print_node(struct graph *graph, const struct node *node, uint64_t all, unsigned int depth)
{
	const struct graph_options *options = graph->options;

	if (options->max_lines && graph->lines >= options->max_lines)
		return;
	graph->lines++;
	printf("   %6.2f%% %16" PRIu64, 100.0 * node->total / all, node->total);
	if (options->order == GRAPH_CALLER)
		printf(" %16" PRIu64, node->self);
	printf("  %*s%s%s", depth * 2, "", node->kernel ? "[k] " : "", node->name);
	if (*node->dso)
		printf(" (%s)", node->dso);
	putchar('\n');
	for (const struct node *child = node->child; child; child = child->sibling)
		if (100.0 * child->total >= options->percent_limit * all)
			print_node(graph, child, all, depth + 1);
}

static void print_graph(struct graph *graph, const struct node *root)
{
	const struct graph_options *options = graph->options;
	uint64_t all = root->total ? root->total : 1;

	printf("# %" PRIu64 " instructions executed, counted from the trace\n#\n", root->total);
	printf("# %s\n#\n", options->order == GRAPH_CALLER ?
	       "Each function below the one that called it; Total is with all that it called" :
	       "Each function, and below it what called it; Total is what it ran for that caller");
	printf("# Overhead            Total%s  Function (Shared Object)\n"
	       "# ........ ................%s  ........................\n#\n",
	       options->order == GRAPH_CALLER ? "             Self" : "",
	       options->order == GRAPH_CALLER ? " ................" : "");
	for (const struct node *node = root->child; node; node = node->sibling)
		if (100.0 * node->total >= options->percent_limit * all &&
		    (options->order == GRAPH_CALLER || wanted(options, node)))
			print_node(graph, node, all, 0);
}

static int count(struct graph *graph)
{
	const struct transfers_ops ops = { .ctx = graph, .line = count_line, .after = note_call,
					   .event = count_event };
	struct rvt_session_sink sink = { .warning = view_warning };
	struct transfers *transfers = transfers_create(&ops, graph->view, MAX_CALL_DEPTH);
	int err;

	if (!transfers)
		return -ENOMEM;
	transfers_sink(transfers, &sink);
	err = view_run(graph->view, &sink, false);
	transfers_destroy(transfers);
	return err;
}

int report_graph(struct view *view, struct places *places, const struct graph_options *options,
		 uint64_t *errors)
{
	struct graph graph = { .view = view, .places = places, .options = options };
	struct node inverted = { 0 }, *root = &graph.root;
	int err = count(&graph);

	if (!err && options->order == GRAPH_CALLEE) {
		err = invert(&graph.root, &inverted);
		root = &inverted;
	}
	if (!err) {
		add_up(root);
		print_graph(&graph, root);
	}
	*errors = graph.errors;
	free_children(&graph.root);
	free_children(&inverted);
	return err;
}
