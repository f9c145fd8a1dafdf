// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Instructions by calling context: folded stacks for flame graphs, and a flame graph as SVG. */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/contexts.h"
#include "common/names.h"
#include "common/text.h"
#include "profile/profile.h"
#include "util/array.h"

struct tree {
	struct contexts contexts;
	void *names;	/* tsearch tree of strings */
};

void *tree_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	(void)out;
	(void)options;
	if (tree)
		tree->contexts.places = places;
	return tree;
}

void *callgrind_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	struct tree *tree = tree_create(places, options, out);

	if (tree)
		tree->contexts.count_calls = true;
	return tree;
}

void tree_ops(struct rvt_transfers_ops *ops)
{
	/* these call-backs take .ctx as its first member, the contexts */
	ops->line = contexts_line;
	ops->after = contexts_after;
}

void tree_forget(void *data)
{
	struct tree *tree = data;

	contexts_forget(&tree->contexts);
}

int tree_run(void *data, struct view *view, uint64_t *errors)
{
	struct tree *tree = data;

	return contexts_run(&tree->contexts, view, errors);
}

/* The names from the thread on, each with a semicolon behind it. */
struct path {
	char *text;
	size_t room;
	size_t ends[CONTEXT_MAX_DEPTH + 1];	/* by depth of the last name */
};

/*
 * As FlameGraph's scripts have it: a semicolon begins another frame, so none is in a name. 0 or
 * -ENOMEM.
 */
static int add_name(struct path *path, const struct context *node)
{
	const char *name = context_label(node), *kernel = node->kernel ? "_[k]" : "";
	size_t end = path->ends[node->depth - 1], len = strlen(name), more = strlen(kernel);
	int err = array_reserve(&path->text, &path->room, end, len + more + 1);
	char *text = path->text + end;

	if (err)
		return err;
	memcpy(text, name, len);
	for (char *at = text; (at = memchr(at, ';', text + len - at)); at++)
		*at = ':';
	memcpy(text + len, kernel, more);
	text[len + more] = ';';
	path->ends[node->depth] = end + len + more + 1;
	return 0;
}

static int write_folded(struct tree *tree, FILE *out)
{
	struct context *root = &tree->contexts.root;
	struct path path = { .text = NULL };
	int err = 0;

	for (const struct context *node = context_next(root, root); node && !err;
	     node = context_next(root, node)) {
		err = add_name(&path, node);
		if (err || !node->self)
			continue;
		fwrite(path.text, 1, path.ends[node->depth] - 1, out);
		fprintf(out, " %" PRIu64 "\n", node->self);
	}
	free(path.text);
	return err;
}

/* Reads a line that write_folded() wrote: "THREAD;FUNCTION;KERNEL_FUNCTION_[k] COUNT". */
static int read_folded(struct tree *tree, char *line)
{
	struct context *context = &tree->contexts.root;
	char *count = strrchr(line, ' '), *word;

	if (!count)
		return -EILSEQ;
	*count++ = 0;
	while (context && (word = strsep(&line, ";"))) {
		size_t len = strlen(word);
		bool kernel = len > 4 && !strcmp(word + len - 4, "_[k]");
		const char *name;

		if (kernel)
			word[len - 4] = 0;
		name = names_keep(&tree->names, word);
		context = name ? context_child(context, name, "", kernel) : NULL;
	}
	if (!context)
		return -ENOMEM;
	context->self += strtoull(count, NULL, 10);
	return 0;
}

int tree_add_folded(void *data, FILE *in)
{
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, in) > 0)
		err = read_folded(data, line);
	free(line);
	return err;
}

/* ---- SVG ---- */

#define SVG_WIDTH 1200.0
#define SVG_ROW 16
#define SVG_MIN_WIDTH 0.3
#define SVG_CHAR_WIDTH 6.6

static unsigned int deepest(const struct context *root)
{
	unsigned int depth = root->depth;

	for (const struct context *child = root->child; child; child = child->sibling) {
		unsigned int below = deepest(child);

		depth = below > depth ? below : depth;
	}
	return depth;
}

/*
 * Writes at most @max bytes of @name, and whole characters only. Names may come from a file, so
 * they are made visible.
 */
static void write_escaped(const char *name, int max, FILE *out)
{
	char *text = text_visible(name);

	if (text && max < (int)strlen(text)) {
		while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
			max--;
		text[max] = 0;
	}
	for (int i = 0; text && text[i]; i++) {
		switch (text[i]) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc(text[i], out);
		}
	}
	free(text);
}

static void write_box(const struct context *node, double x, unsigned int row, unsigned int rows,
		      uint64_t all, FILE *out)
{
	double width = SVG_WIDTH * node->total / all;
	unsigned int hue = node->kernel ? 200 : 20;
	double y = (rows - row) * SVG_ROW;

	for (const char *p = context_label(node); *p; p++)
		hue += (unsigned char)*p % 7;
	if (width < SVG_MIN_WIDTH)
		return;
	fprintf(out, "<g><title>");
	write_escaped(context_label(node), 400, out);
	fprintf(out, ": %" PRIu64 " instructions, %.2f%%</title><rect x=\"%.2f\" y=\"%.0f\" "
				  "width=\"%.2f\" "
		"height=\"%d\" fill=\"hsl(%u,70%%,65%%)\"/>", node->total,
			100.0 * node->total / all, x, y,
		width, SVG_ROW - 1, hue % (node->kernel ? 260 : 60));
	if (width > 3 * SVG_CHAR_WIDTH) {
		fprintf(out, "<text x=\"%.2f\" y=\"%.0f\">", x + 2, y + SVG_ROW - 4);
		write_escaped(context_label(node), width / SVG_CHAR_WIDTH, out);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

static void write_boxes(const struct context *parent, double x, unsigned int row, unsigned int rows,
			uint64_t all, FILE *out)
{
	for (const struct context *node = parent->child; node; node = node->sibling) {
		write_box(node, x, row, rows, all, out);
		if (SVG_WIDTH * node->total / all >= SVG_MIN_WIDTH)
			write_boxes(node, x, row + 1, rows, all, out);
		x += SVG_WIDTH * node->total / all;
	}
}

static void write_svg(struct tree *tree, FILE *out)
{
	unsigned int rows = deepest(&tree->contexts.root);

	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%u\" "
		"font-family=\"monospace\" font-size=\"11\">\n", SVG_WIDTH, (rows + 1) * SVG_ROW);
	if (tree->contexts.root.total)
		write_boxes(&tree->contexts.root, 0, 1, rows, tree->contexts.root.total, out);
	fputs("</svg>\n", out);
}

int tree_write(void *data, const char *name, const char *dso, FILE *out)
{
	struct tree *tree = data;

	(void)dso;
	context_add_up(&tree->contexts.root);
	if (!strcmp(name, "pprof"))
		return pprof_write(&tree->contexts.root, out);
	if (!strcmp(name, "callgrind"))
		return callgrind_write(&tree->contexts.root, out);
	if (!strcmp(name, "svg"))
		write_svg(data, out);
	else
		return write_folded(tree, out);
	return 0;
}

void tree_destroy(void *data)
{
	struct tree *tree = data;

	context_free(&tree->contexts.root);
	tdestroy(tree->names, free);
	free(tree);
}
