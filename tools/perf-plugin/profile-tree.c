// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Instructions by calling context: folded stacks for flame graphs, and a flame graph as SVG. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "profile.h"

#define UNKNOWN "[unknown]"
#define MAX_DEPTH 1000

struct node {
	const char *name;
	struct node *parent, *child, *sibling;
	bool kernel;
	unsigned int depth;
	uint64_t insns, total;
};

struct tree {
	struct places *places;
	struct node root;
};

void *tree_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	(void)out;
	(void)options;
	if (tree)
		tree->places = places;
	return tree;
}

/* The child of @parent called @name, moved to the front: the next look-up is likely the same. */
static struct node *get_child(struct node *parent, const char *name, bool kernel)
{
	struct node **link = &parent->child, *node;

	if (parent->depth >= MAX_DEPTH)
		return parent;	/* deep recursion is one place from here on */
	while (*link && ((*link)->kernel != kernel ||
			 ((*link)->name != name && strcmp((*link)->name, name))))
		link = &(*link)->sibling;
	node = *link;
	if (node) {
		*link = node->sibling;
	} else {
		node = calloc(1, sizeof(*node));
		if (!node)
			return NULL;
		node->name = name;
		node->parent = parent;
		node->kernel = kernel;
		node->depth = parent->depth + 1;
	}
	node->sibling = parent->child;
	parent->child = node;
	return node;
}

/* The context below @stack's frame @n: of whoever made the call, or the thread itself. */
static struct node *get_context(struct tree *tree, const struct rvt_lane *lane,
				struct rvt_callstack *stack, size_t n)
{
	const struct rvt_frame *frame = rvt_callstack_frame(stack, n);

	if (frame && frame->tag)
		return (struct node *)(uintptr_t)frame->tag;
	return get_child(&tree->root, places_keep(tree->places, lane->task ? lane->task->comm :
						  UNKNOWN), false);
}

static struct node *get_function(struct tree *tree, const struct rvt_lane *lane,
				 struct node *context, uint64_t addr)
{
	const struct place *place = places_find(tree->places, lane->space, addr);
	const char *dso = strrchr(place->dso, '/');

	/* without a name at least the file */
	return context ? get_child(context,
				   place->symbol ? place->symbol : dso ? dso + 1 : place->dso,
				   (int64_t)addr < 0) : NULL;
}

static int tree_line(void *ctx, struct rvt_lane *lane, uint64_t first, uint64_t last,
		     uint64_t insns,
		     struct rvt_callstack *stack)
{
	struct tree *tree = ctx;
	struct node *node = get_function(tree, lane, get_context(tree, lane, stack, 0), first);

	(void)last;
	if (!node)
		return -ENOMEM;
	node->insns += insns;
	return 0;
}

/* A new frame remembers the context of the function that it came from. */
static int tree_after(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
		      struct rvt_callstack *stack, size_t ended)
{
	struct tree *tree = ctx;
	struct node *node;

	(void)ended;
	if (transfer->kind != TRANSFER_CALL && transfer->kind != TRANSFER_TRAP)
		return 0;
	node = get_function(tree, lane, get_context(tree, lane, stack, 1), transfer->from);
	if (!node)
		return -ENOMEM;
	rvt_callstack_frame(stack, 0)->tag = (uintptr_t)node;
	return 0;
}

void tree_ops(struct transfers_ops *ops)
{
	ops->line = tree_line;
	ops->after = tree_after;
}

/* The node after @node in a walk that visits parents first; NULL at the end. */
static struct node *next_node(struct node *root, struct node *node)
{
	if (node->child)
		return node->child;
	while (node != root && !node->sibling)
		node = node->parent;
	return node == root ? NULL : node->sibling;
}

static void write_path(const struct node *node, const struct node *root, FILE *out)
{
	if (node->parent != root) {
		write_path(node->parent, root, out);
		fputc(';', out);
	}
	fprintf(out, "%s%s", node->name, node->kernel ? "_[k]" : "");
}

static void write_folded(struct tree *tree, FILE *out)
{
	for (struct node *node = &tree->root; node; node = next_node(&tree->root, node)) {
		if (!node->insns)
			continue;
		write_path(node, &tree->root, out);
		fprintf(out, " %" PRIu64 "\n", node->insns);
	}
}

/* ---- SVG ---- */

#define SVG_WIDTH 1200.0
#define SVG_ROW 16
#define SVG_MIN_WIDTH 0.3
#define SVG_CHAR_WIDTH 6.6

/* Sums children into parents: leaves first is the walk backwards, done by adding along the path. */
static unsigned int sum_up(struct tree *tree)
{
	unsigned int deepest = 0;

	for (struct node *node = &tree->root; node; node = next_node(&tree->root, node)) {
		unsigned int depth = 0;

		for (struct node *up = node; up; up = up->parent, depth++)
			up->total += node->insns;
		if (depth > deepest)
			deepest = depth;
	}
	return deepest;
}

static void write_escaped(const char *text, int max, FILE *out)
{
	for (int i = 0; text[i] && i < max; i++) {
		switch (text[i]) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc(text[i], out);
		}
	}
}

static void write_box(const struct node *node, double x, unsigned int row, unsigned int rows,
		      uint64_t all, FILE *out)
{
	double width = SVG_WIDTH * node->total / all;
	unsigned int hue = node->kernel ? 200 : 20;
	double y = (rows - row) * SVG_ROW;

	for (const char *p = node->name; *p; p++)
		hue += (unsigned char)*p % 7;
	if (width < SVG_MIN_WIDTH)
		return;
	fprintf(out, "<g><title>");
	write_escaped(node->name, 400, out);
	fprintf(out, ": %" PRIu64 " instructions, %.2f%%</title><rect x=\"%.2f\" y=\"%.0f\" "
				  "width=\"%.2f\" "
		"height=\"%d\" fill=\"hsl(%u,70%%,65%%)\"/>", node->total,
			100.0 * node->total / all, x, y,
		width, SVG_ROW - 1, hue % (node->kernel ? 260 : 60));
	if (width > 3 * SVG_CHAR_WIDTH) {
		fprintf(out, "<text x=\"%.2f\" y=\"%.0f\">", x + 2, y + SVG_ROW - 4);
		write_escaped(node->name, width / SVG_CHAR_WIDTH, out);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

static void write_boxes(const struct node *parent, double x, unsigned int row, unsigned int rows,
			uint64_t all, FILE *out)
{
	for (const struct node *node = parent->child; node; node = node->sibling) {
		write_box(node, x, row, rows, all, out);
		if (SVG_WIDTH * node->total / all >= SVG_MIN_WIDTH)
			write_boxes(node, x, row + 1, rows, all, out);
		x += SVG_WIDTH * node->total / all;
	}
}

static void write_svg(struct tree *tree, FILE *out)
{
	unsigned int rows = sum_up(tree);

	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%u\" "
		"font-family=\"monospace\" font-size=\"11\">\n", SVG_WIDTH, (rows + 1) * SVG_ROW);
	if (tree->root.total)
		write_boxes(&tree->root, 0, 1, rows, tree->root.total, out);
	fputs("</svg>\n", out);
}

int tree_write(void *data, const char *name, const char *dso, FILE *out)
{
	(void)dso;
	if (!strcmp(name, "svg"))
		write_svg(data, out);
	else
		write_folded(data, out);
	return 0;
}

void tree_destroy(void *data)
{
	struct tree *tree = data;
	struct node *node = tree->root.child;

	/* Children first: the first child gets its parent as sibling, and the parent the rest. */
	while (node) {
		struct node *next = node->child;

		if (next) {
			node->child = next->sibling;
			next->sibling = node;
		} else {
			next = node->sibling;
			free(node);
		}
		node = next;
	}
	free(tree);
}
