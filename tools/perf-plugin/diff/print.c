// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "common/json.h"
#include "diff/diff.h"

#define MAX_STACK 20	/* at most */

static const char *base_name(const char *path)
{
	const char *base = strrchr(path, '/');

	return base ? base + 1 : path;
}

static const struct code_function *any_side(const struct diff_function *function)
{
	return function->side[DIFF_B] ? function->side[DIFF_B] : function->side[DIFF_A];
}

static bool is_end(const struct diff *diff, size_t line)
{
	return diff->options->max_lines && line >= diff->options->max_lines;
}

static void print_counts(uint64_t a, uint64_t b)
{
	double change = a ? 100.0 * ((double)b - a) / a : 0;

	printf("  %15" PRIu64 " %15" PRIu64 " %+16" PRId64, a, b, (int64_t)(b - a));
	if (a)
		printf(" %+9.2f%%  ", change);
	else
		printf(" %10s  ", "new");
}

static void print_title(const char *what, size_t n, size_t shown)
{
	printf("#\n# %s", what);
	if (shown && n > shown)
		printf(" (the first %zu of %zu)", shown, n);
	puts(n ? "" : ": none");
	if (n)
		puts("#               A               B       Difference           ");
}

static void print_functions(const struct diff *diff)
{
	print_title("Functions that executed more or less, in instructions", diff->n_changed,
		    diff->options->max_lines);
	for (size_t i = 0; i < diff->n_changed && !is_end(diff, i); i++) {
		const struct code_function *function = any_side(&diff->functions[i]);

		print_counts(diff_count(&diff->functions[i], DIFF_A),
			     diff_count(&diff->functions[i], DIFF_B));
		printf("%s%s (%s)\n", function->kernel ? "[k] " : "", function->name,
		       function->dso);
	}
}

/* Prints " (FILE:LINE)", if known. */
static void print_source(const struct diff *diff, const struct place *place)
{
	const char *file;
	int line;

	if (srclines_find(diff->side[DIFF_B].srclines, place, &file, &line))
		printf(" (%s:%d)", base_name(file), line);
}

static void print_blocks(const struct diff *diff)
{
	print_title("Code that was executed more or less often, in times", diff->n_blocks,
		    diff->options->max_lines);
	for (size_t i = 0; i < diff->n_blocks && !is_end(diff, i); i++) {
		const struct diff_block *block = &diff->blocks[i];
		const struct code_function *function = block->function->side[DIFF_B];
		const struct code_insn *first = &function->insns[block->first];
		const struct place place = code_place(function, first);

		print_counts(block->count[DIFF_A], block->count[DIFF_B]);
		printf("%s+0x%x to 0x%x", function->name, first->offset,
		       function->insns[block->last].offset);
		print_source(diff, &place);
		putchar('\n');
	}
}

static void print_path(const struct context *node)
{
	if (node->parent && node->parent->parent) {
		print_path(node->parent);
		fputs(" > ", stdout);
	}
	fputs(context_label(node), stdout);
}

static void print_paths(const struct diff *diff)
{
	print_title("Call paths that executed more or less, in instructions of the last function",
		    diff->n_paths, diff->options->max_lines);
	for (size_t i = 0; i < diff->n_paths && !is_end(diff, i); i++) {
		const struct diff_path *path = &diff->paths[i];

		print_counts(diff_self(path, DIFF_A), diff_self(path, DIFF_B));
		print_path(path->side[DIFF_B] ? path->side[DIFF_B] : path->side[DIFF_A]);
		putchar('\n');
	}
}

/* ---- where threads part ---- */

static void print_place(const struct diff *diff, const struct place *place)
{
	if (place->symbol)
		printf("%s+0x%" PRIx64, place->symbol, place->offset);
	else
		printf("0x%" PRIx64, place->vaddr);
	printf(" (%s)", base_name(place->dso));
	print_source(diff, place);
}

static void print_side(const struct diff *diff, const struct diff_parting *parting, int side)
{
	printf("#   %c: ", "AB"[side]);
	if (parting->ended[side]) {
		puts("ends, or is not recorded any more");
		return;
	}
	fputs("goes from ", stdout);
	print_place(diff, &parting->after[side].from);
	fputs(" to ", stdout);
	print_place(diff, &parting->after[side].to);
	putchar('\n');
}

/*
 * Returns the side that took a branch: from the same place, the one that leaves the straight line
 * first. -1: both left it at the same place, or one has ended.
 */
static int side_that_branched(const struct diff_parting *parting)
{
	uint64_t a = parting->after[DIFF_A].from.vaddr, b = parting->after[DIFF_B].from.vaddr;

	if (parting->ended[DIFF_A] || parting->ended[DIFF_B] || a == b)
		return -1;
	return a < b ? DIFF_A : DIFF_B;
}

static void print_verdict(const struct diff *diff, const struct diff_parting *parting)
{
	int side = side_that_branched(parting);

	if (side >= 0) {
		fputs("#   The branch at ", stdout);
		print_place(diff, &parting->after[side].from);
		printf(" was taken in %c, not in %c.\n", "AB"[side], "BA"[side]);
	} else if (!parting->ended[DIFF_A] && !parting->ended[DIFF_B]) {
		fputs("#   ", stdout);
		print_place(diff, &parting->after[DIFF_A].from);
		puts(" went elsewhere.");
	}
}

static void print_parting(const struct diff *diff, const struct diff_parting *parting)
{
	printf("#\n# %s, thread %u of this name: the first %" PRIu64
	       " transfers are the same, then\n", parting->comm, parting->number, parting->same);
	print_verdict(diff, parting);
	print_side(diff, parting, DIFF_A);
	print_side(diff, parting, DIFF_B);
	if (parting->n_stack) {
		fputs("#   called by: ", stdout);
		for (size_t i = 0; i < parting->n_stack && i < MAX_STACK; i++)
			printf("%s%s", i ? " < " : "", parting->stack[i]);
		puts(parting->n_stack > MAX_STACK ? " < ..." : "");
	}
}

void diff_print(struct diff *diff)
{
	static const char *const prefixes[] = { "# A: ", "# B: " };

	for (int side = 0; side < DIFF_SIDES; side++) {
		printf("# %c is %s: %" PRIu64 " instructions\n", "AB"[side],
		       diff->options->files[side], diff->side[side].code.count);
		view_print_losses(diff->side[side].view, stdout, prefixes[side]);
	}
	printf("#\n# Of %" PRIu64 " thread%s that both have, %zu go%s another way\n",
	       diff->threads, diff->threads == 1 ? "" : "s", diff->n_partings,
	       diff->n_partings == 1 ? "es" : "");
	for (size_t i = 0; i < diff->n_partings; i++)
		print_parting(diff, &diff->partings[i]);
	print_functions(diff);
	print_blocks(diff);
	print_paths(diff);
}

/* ---- JSON ---- */

static void json_place(struct json *json, const char *key, const struct diff *diff,
		       const struct place *place)
{
	const char *file;
	int line;

	json_open(json, key);
	json_address(json, "addr", place->vaddr);
	if (place->symbol) {
		json_text(json, "sym", place->symbol);
		json_number(json, "symoff", place->offset);
	}
	json_text(json, "dso", base_name(place->dso));
	if (srclines_find(diff->side[DIFF_B].srclines, place, &file, &line)) {
		json_text(json, "file", file);
		json_number(json, "line", line);
	}
	json_close(json);
}

static void json_parting(const struct diff *diff, const struct diff_parting *parting)
{
	static const char *const keys[][2] = { { "a_from", "a_to" }, { "b_from", "b_to" } };
	struct json json = json_begin(stdout, "parting");
	int branched = side_that_branched(parting);

	json_text(&json, "comm", parting->comm);
	json_number(&json, "number", parting->number);
	json_number(&json, "same", parting->same);
	if (branched >= 0)
		json_text(&json, "branched", branched == DIFF_A ? "a" : "b");
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (parting->ended[side])
			continue;
		json_place(&json, keys[side][0], diff, &parting->after[side].from);
		json_place(&json, keys[side][1], diff, &parting->after[side].to);
	}
	json_open_array(&json, "stack");
	for (size_t i = 0; i < parting->n_stack; i++)
		json_text(&json, NULL, parting->stack[i]);
	json_close_array(&json);
	json_end(&json);
}

static void json_counts(struct json *json, uint64_t a, uint64_t b)
{
	json_number(json, "a", a);
	json_number(json, "b", b);
}

static void json_block(const struct diff *diff, const struct diff_block *block)
{
	const struct code_function *function = block->function->side[DIFF_B];
	const struct place place = code_place(function, &function->insns[block->first]);
	struct json json = json_begin(stdout, "changed_block");

	json_text(&json, "sym", function->name);
	json_counts(&json, block->count[DIFF_A], block->count[DIFF_B]);
	json_number(&json, "insns", block->last - block->first + 1);
	json_place(&json, "first", diff, &place);
	json_end(&json);
}

static void json_path(const struct context *node, struct json *json)
{
	if (node->parent && node->parent->parent)
		json_path(node->parent, json);
	json_text(json, NULL, context_label(node));
}

void diff_json(struct diff *diff)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		view_json_losses(diff->side[side].view, stdout);
	for (size_t i = 0; i < diff->n_partings; i++)
		json_parting(diff, &diff->partings[i]);
	for (size_t i = 0; i < diff->n_changed && !is_end(diff, i); i++) {
		const struct code_function *function = any_side(&diff->functions[i]);
		struct json json = json_begin(stdout, "changed_function");

		json_text(&json, "sym", function->name);
		json_text(&json, "dso", function->dso);
		json_flag(&json, "kernel", function->kernel);
		json_counts(&json, diff_count(&diff->functions[i], DIFF_A),
			    diff_count(&diff->functions[i], DIFF_B));
		json_end(&json);
	}
	for (size_t i = 0; i < diff->n_blocks && !is_end(diff, i); i++)
		json_block(diff, &diff->blocks[i]);
	for (size_t i = 0; i < diff->n_paths && !is_end(diff, i); i++) {
		const struct diff_path *path = &diff->paths[i];
		struct json json = json_begin(stdout, "changed_path");

		json_counts(&json, diff_self(path, DIFF_A), diff_self(path, DIFF_B));
		json_open_array(&json, "path");
		json_path(path->side[DIFF_B] ? path->side[DIFF_B] : path->side[DIFF_A], &json);
		json_close_array(&json);
		json_end(&json);
	}
}
