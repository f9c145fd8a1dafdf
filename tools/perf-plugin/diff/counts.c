// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "diff/diff.h"
#include "util/array.h"

/* ---- functions ---- */

static int compare_names(const void *a, const void *b)
{
	const struct code_function *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	if (!order)
		order = strcmp((*x)->dso, (*y)->dso);
	return order ? order : ((*x)->vaddr > (*y)->vaddr) - ((*x)->vaddr < (*y)->vaddr);
}

/*
 * Compares by name: functions of the same name are the same, wherever they are in their file, as
 * the program may have been changed.
 */
static int same_name(const struct code_function *a, const struct code_function *b)
{
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->dso, b->dso);
}

static int add_function(struct diff *diff, const struct code_function *a,
			const struct code_function *b)
{
	const struct diff_function function = { .side = { a, b } };

	if (array_grow(&diff->functions, diff->n_functions))
		return -ENOMEM;
	diff->functions[diff->n_functions++] = function;
	diff->n_changed += diff_count(&function, DIFF_A) != diff_count(&function, DIFF_B);
	return 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct diff_function *x = a, *y = b;
	uint64_t change_x = diff_change(diff_count(x, DIFF_A), diff_count(x, DIFF_B));
	uint64_t change_y = diff_change(diff_count(y, DIFF_A), diff_count(y, DIFF_B));

	if (change_x != change_y)
		return change_x < change_y ? 1 : -1;
	return compare_names(x->side[DIFF_A] ? &x->side[DIFF_A] : &x->side[DIFF_B],
			     y->side[DIFF_A] ? &y->side[DIFF_A] : &y->side[DIFF_B]);
}

static int pair_functions(struct diff *diff)
{
	struct code *a = &diff->side[DIFF_A].code, *b = &diff->side[DIFF_B].code;
	size_t i = 0, j = 0;
	int err = 0;

	if (a->n)
		qsort(a->list, a->n, sizeof(*a->list), compare_names);
	if (b->n)
		qsort(b->list, b->n, sizeof(*b->list), compare_names);
	while ((i < a->n || j < b->n) && !err) {
		int order = i == a->n ? 1 : j == b->n ? -1 : same_name(a->list[i], b->list[j]);

		err = add_function(diff, order <= 0 ? a->list[i] : NULL,
				   order >= 0 ? b->list[j] : NULL);
		i += order <= 0;
		j += order >= 0;
	}
	if (diff->n_functions)
		qsort(diff->functions, diff->n_functions, sizeof(*diff->functions),
		      compare_functions);
	return err;
}

/* ---- blocks ---- */

static int compare_blocks(const void *a, const void *b)
{
	const struct diff_block *x = a, *y = b;
	uint64_t change_x = diff_change(x->count[DIFF_A], x->count[DIFF_B]);
	uint64_t change_y = diff_change(y->count[DIFF_A], y->count[DIFF_B]);

	if (change_x != change_y)
		return change_x < change_y ? 1 : -1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Adds the blocks of a function whose code is the same in both. */
static int add_blocks(struct diff *diff, const struct diff_function *function)
{
	const struct code_function *a = function->side[DIFF_A], *b = function->side[DIFF_B];
	struct diff_block *block = NULL;

	if (!a || !b || a->size != b->size || memcmp(a->bytes, b->bytes, a->size))
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		if (a->insns[i].count == b->insns[i].count) {
			block = NULL;
			continue;
		}
		if (block && block->count[DIFF_A] == a->insns[i].count &&
		    block->count[DIFF_B] == b->insns[i].count) {
			block->last = i;
			continue;
		}
		if (array_grow(&diff->blocks, diff->n_blocks))
			return -ENOMEM;
		block = &diff->blocks[diff->n_blocks++];
		*block = (struct diff_block){ .function = function, .first = i, .last = i,
			.count = { a->insns[i].count, b->insns[i].count } };
	}
	return 0;
}

/* ---- call paths ---- */

static const struct context *find_child(const struct context *node, const struct context *like)
{
	const struct context *child = node ? node->child : NULL;

	while (child && (child->kernel != like->kernel || strcmp(child->name, like->name) ||
			 strcmp(child->dso, like->dso)))
		child = child->sibling;
	return child;
}

static int add_paths(struct diff *diff, const struct context *a, const struct context *b);

static int add_path(struct diff *diff, const struct context *a, const struct context *b)
{
	const struct diff_path path = { .side = { a, b } };

	if (diff_self(&path, DIFF_A) != diff_self(&path, DIFF_B)) {
		if (array_grow(&diff->paths, diff->n_paths))
			return -ENOMEM;
		diff->paths[diff->n_paths++] = path;
	}
	return add_paths(diff, a, b);
}

static int add_paths(struct diff *diff, const struct context *a, const struct context *b)
{
	const struct context *child;
	int err = 0;

	for (child = a ? a->child : NULL; child && !err; child = child->sibling)
		err = add_path(diff, child, find_child(b, child));
	for (child = b ? b->child : NULL; child && !err; child = child->sibling)
		if (!find_child(a, child))
			err = add_path(diff, NULL, child);
	return err;
}

static int compare_paths(const void *a, const void *b)
{
	const struct diff_path *x = a, *y = b;
	uint64_t change_x = diff_change(diff_self(x, DIFF_A), diff_self(x, DIFF_B));
	uint64_t change_y = diff_change(diff_self(y, DIFF_A), diff_self(y, DIFF_B));

	return change_x < change_y ? 1 : change_x > change_y ? -1 : 0;
}

int diff_counts(struct diff *diff)
{
	int err = pair_functions(diff);

	for (size_t i = 0; i < diff->n_functions && !err; i++)
		err = add_blocks(diff, &diff->functions[i]);
	if (diff->n_blocks)
		qsort(diff->blocks, diff->n_blocks, sizeof(*diff->blocks), compare_blocks);
	for (int side = 0; side < DIFF_SIDES; side++)
		context_add_up(&diff->side[side].contexts.root);
	if (!err)
		err = add_paths(diff, &diff->side[DIFF_A].contexts.root,
				&diff->side[DIFF_B].contexts.root);
	if (diff->n_paths)
		qsort(diff->paths, diff->n_paths, sizeof(*diff->paths), compare_paths);
	return err;
}
