// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/color.h"
#include "common/contexts.h"
#include "common/json.h"
#include "common/pager.h"
#include "common/stacks.h"
#include "report/graph.h"


struct graph {
	struct view *view;
	struct contexts contexts;
	const struct graph_options *options;
	uint64_t errors, lines;
};

static int count_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		      struct rvt_callstack *stack)
{
	struct graph *graph = ctx;

	return contexts_line(&graph->contexts, hart, line, stack);
}

static int note_call(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		     struct rvt_callstack *stack, size_t ended)
{
	struct graph *graph = ctx;

	return contexts_after(&graph->contexts, hart, transfer, stack, ended);
}

static int count_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct graph *graph = ctx;

	if (event->type != RVT_EVENT_LOST)
		return 0;
	graph->errors += view_wants(graph->view, hart);
	return 0;
}

static int invert_node(const struct context *node, struct context *inverted)
{
	struct context *at = inverted;

	for (const struct context *up = node; up->parent; up = up->parent) {
		at = context_child(at, up->name, up->dso, up->kernel);
		if (!at)
			return -ENOMEM;
	}
	at->self += node->self;
	return 0;
}

/* Adds all functions to @inverted, each with its callers as children. */
static int invert(const struct context *node, struct context *inverted)
{
	int err = node->self ? invert_node(node, inverted) : 0;

	for (const struct context *child = node->child; child && !err; child = child->sibling)
		err = invert(child, inverted);
	return err;
}

/* Threads, and what stands for callers that are not known, are no functions. */
static bool wanted(const struct graph_options *options, const struct context *node)
{
	if (!options->symbols && !options->dsos)
		return true;
	return *node->dso &&
		(!options->symbols || view_in_names(options->symbols, node->name)) &&
		(!options->dsos || view_in_files(options->dsos, node->dso));
}

/* Adds @node to the children of @parent, with all that it called. */
static int add_tree(const struct context *node, struct context *parent)
{
	struct context *copy = context_child(parent, node->name, node->dso, node->kernel);
	int err = copy ? 0 : -ENOMEM;

	if (copy)
		copy->self += node->self;
	for (const struct context *child = node->child; child && !err; child = child->sibling)
		err = add_tree(child, copy);
	return err;
}

/*
 * Adds all functions that are wanted to @chosen, with what they called. What is wanted among that
 * is there already.
 */
static int choose(const struct graph_options *options, const struct context *node,
		  struct context *chosen)
{
	int err = 0;

	if (node->parent && wanted(options, node))
		return add_tree(node, chosen);
	for (const struct context *child = node->child; child && !err; child = child->sibling)
		err = choose(options, child, chosen);
	return err;
}

static void json_node(const struct graph_options *options, const struct context *node,
		      double percent, unsigned int depth)
{
	struct json json = json_begin(stdout, "node");

	json_number(&json, "depth", depth);
	json_real(&json, "percent", percent);
	json_number(&json, "total", node->total);
	if (options->order == GRAPH_CALLER)
		json_number(&json, "self", node->self);
	json_text(&json, *node->dso ? "sym" : "comm", node->name);
	if (*node->dso) {
		json_flag(&json, "kernel", node->kernel);
		json_text(&json, "dso", node->dso);
	}
	json_end(&json);
}

static void print_line(const struct graph_options *options, const struct context *node,
		       double percent, unsigned int depth)
{
	enum color color = color_of_percent(percent);
	const bool file = *node->dso;

	printf("   %s%6.2f%%%s %16" PRIu64, color_begin(color), percent, color_end(color),
	       node->total);
	if (options->order == GRAPH_CALLER)
		printf(" %16" PRIu64, node->self);
	printf("  %*s%s%s%s%s%s\n", depth * 2, "", node->kernel ? "[k] " : "", node->name,
	       file ? " (" : "", node->dso, file ? ")" : "");
}

static void print_node(struct graph *graph, const struct context *node, uint64_t all,
		       unsigned int depth)
{
	const struct graph_options *options = graph->options;
	double percent = 100.0 * node->total / all;

	if (options->max_lines && graph->lines >= options->max_lines)
		return;
	graph->lines++;
	if (options->json)
		json_node(options, node, percent, depth);
	else
		print_line(options, node, percent, depth);
	for (const struct context *child = node->child; child; child = child->sibling)
		if (100.0 * child->total >= options->percent_limit * all)
			print_node(graph, child, all, depth + 1);
}

static void print_head(struct graph *graph, uint64_t all)
{
	const struct graph_options *options = graph->options;

	printf("# %" PRIu64 " instructions executed, counted from the trace\n", all);
	view_print_losses(graph->view, stdout, "# ");
	puts("#");
	printf("# %s\n#\n", options->order == GRAPH_CALLER ?
	       "Each function below the one that called it; Total is with all that it called" :
	       "Each function, and below it what called it; Total is what it ran for that caller");
	printf("# Overhead            Total%s  Function (Shared Object)\n"
	       "# ........ ................%s  ........................\n#\n",
	       options->order == GRAPH_CALLER ? "             Self" : "",
	       options->order == GRAPH_CALLER ? " ................" : "");
}

/* @all: instructions of all functions, wanted or not. */
static void print_graph(struct graph *graph, const struct context *root, uint64_t all)
{
	const struct graph_options *options = graph->options;
	bool any = false;

	if (options->json)
		view_json_losses(graph->view, stdout);
	else
		print_head(graph, all);
	for (const struct context *node = root->child; node; node = node->sibling) {
		if (options->order == GRAPH_CALLEE && !wanted(options, node))
			continue;
		any = true;
		if (100.0 * node->total >= options->percent_limit * all)
			print_node(graph, node, all ? all : 1, 0);
	}
	if ((options->symbols || options->dsos) && !any)
		view_warn_no_function();
}

/* On one thread, what filters let through. */
static int count_once(struct graph *graph, struct stacks *stacks)
{
	const struct rvt_transfers_ops ops = {
		.size = sizeof(ops), .ctx = graph, .line = count_line, .after = note_call,
		.event = count_event,
	};
	struct rvt_session_sink sink = { .size = sizeof(sink), .warning = view_warning };
	struct transfers *transfers = transfers_create(&ops, graph->view, MAX_CALL_DEPTH);
	int err;

	if (!transfers)
		return -ENOMEM;
	transfers_sink(transfers, &sink);
	err = stacks ? stacks_run(stacks, transfers, &sink) :
		       view_run(graph->view, &sink, false);
	transfers_destroy(transfers);
	return err;
}

static int count(struct graph *graph)
{
	const struct stacks_ops ops = { .ctx = graph };
	uint64_t lost;
	struct stacks *stacks = stacks_open(graph->view, &ops, &lost);
	int err;

	if (!stacks && graph->options->jobs > 1 && contexts_whole(graph->view))
		return contexts_run(&graph->contexts, graph->view, &graph->errors);
	err = count_once(graph, stacks);
	if (err == -EAGAIN && stacks) {
		contexts_forget(&graph->contexts);
		graph->errors = 0;
		err = count_once(graph, NULL);
	}
	stacks_close(stacks);
	return err;
}

int report_graph(struct view *view, struct places *places, const struct graph_options *options,
		 uint64_t *errors)
{
	struct graph graph = { .view = view, .contexts.places = places, .options = options };
	struct context other = { 0 }, *counted = &graph.contexts.root, *root = &other;
	int err = count(&graph);

	if (!err && options->order == GRAPH_CALLEE)
		err = invert(counted, &other);
	else if (!err && (options->symbols || options->dsos))
		err = choose(options, counted, &other);
	else
		root = counted;
	if (!err) {
		context_add_up(counted);
		if (root != counted)
			context_add_up(root);
		if (!options->no_pager)
			pager_begin();
		color_fix();
		print_graph(&graph, root, counted->total);
	}
	*errors = graph.errors;
	context_free(counted);
	context_free(&other);
	return err;
}
