// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The functions of one file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "table.h"

#define NAMES_BYTES (32u << 10)	/* at once */
#define COMPARED_BYTES 4096	/* of names, so that long ones at one address cost little */

int rvt_table_add(struct table *table, uint64_t start, uint64_t size, const char *name,
		  uint8_t rank)
{
	/* a size that reaches around the address space is damaged: it is not known */
	const uint64_t end = size <= UINT64_MAX - start ? start + size : start;

	if (array_grow(&table->functions, table->n))
		return -ENOMEM;
	table->functions[table->n++] = (struct function){ start, end, name, rank, false };
	return 0;
}

/* Names, one behind the other. */
struct table_names {
	struct table_names *next;
	size_t used, room;
	char text[];
};

static struct table_names *add_names(struct table *table, size_t room)
{
	struct table_names *names = malloc(sizeof(*names) + room);

	if (!names)
		return NULL;
	names->used = 0;
	names->room = room;
	names->next = table->owned;
	return table->owned = names;
}

const char *rvt_table_own(struct table *table, const void *text, size_t len)
{
	struct table_names *names = table->owned;
	char *copy;

	if (!names || names->room - names->used <= len)
		names = add_names(table, len < NAMES_BYTES ? NAMES_BYTES : len + 1);
	if (!names)
		return NULL;
	copy = names->text + names->used;
	memcpy(copy, text, len);
	copy[len] = 0;
	names->used += len + 1;
	return copy;
}

static size_t underscores(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && name[n] == '_')
		n++;
	return n;
}

/*
 * Of several names at one address the one with fewer leading underscores, then the longer one, is
 * kept: that is how people know it (perf chooses alike).
 */
static int compare_names(const char *x, const char *y)
{
	size_t len_x = strnlen(x, COMPARED_BYTES), len_y = strnlen(y, COMPARED_BYTES);
	size_t underscores_x = underscores(x, len_x), underscores_y = underscores(y, len_y);

	if (underscores_x != underscores_y)
		return underscores_x < underscores_y ? -1 : 1;
	if (len_x != len_y)
		return len_x > len_y ? -1 : 1;
	return memcmp(x, y, len_x);
}

/* Whether @x is kept, both being at one address. */
static bool is_better(const struct function *x, const struct function *y)
{
	return x->rank != y->rank ? x->rank > y->rank : compare_names(x->name, y->name) < 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Of kallsyms nearly all are in order, all but those of modules: only the rest need be sorted. */
static void sort_by_start(struct function *functions, size_t n)
{
	size_t sorted = 1, rest;
	struct function *moved;

	while (sorted < n && functions[sorted - 1].start <= functions[sorted].start)
		sorted++;
	rest = n - sorted;
	if (!rest)
		return;
	moved = malloc(rest * sizeof(*moved));
	if (!moved) {
		qsort(functions, n, sizeof(*functions), compare_starts);
		return;
	}
	memcpy(moved, functions + sorted, rest * sizeof(*moved));
	qsort(moved, rest, sizeof(*moved), compare_starts);
	while (rest) {
		bool first = sorted && functions[sorted - 1].start > moved[rest - 1].start;

		functions[--n] = first ? functions[--sorted] : moved[--rest];
	}
	free(moved);
}

/* By address, and there by name. */
static int compare_others(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int order = compare_starts(a, b);

	if (!order && x->name != y->name)
		order = strncmp(x->name, y->name, COMPARED_BYTES);
	return order;
}

/* @other is another name of @best, which is found by it. */
static void note_other(struct table *table, const struct function *other,
		       const struct function *best)
{
	if (compare_others(other, best) && !array_grow(&table->others, table->n_others))
		table->others[table->n_others++] = *other;
}

/* One of the two tables of symbols may have what the other one has, too. */
static void drop_doubles(struct table *table)
{
	size_t n = 0;

	if (table->n_others)
		qsort(table->others, table->n_others, sizeof(*table->others), compare_others);
	for (size_t i = 0; i < table->n_others; i++)
		if (!n || compare_others(&table->others[n - 1], &table->others[i]))
			table->others[n++] = table->others[i];
	table->n_others = n;
}

/* One function for each address, as large as the largest there. Returns how many; @n is not 0. */
static size_t keep_best(struct table *table)
{
	struct function *functions = table->functions;
	size_t kept = 0, n = table->n;

	for (size_t i = 0; i < n; i++) {
		const struct function *next = &functions[i];
		struct function *best = &functions[kept];
		uint64_t end = next->end;

		if (i && next->start == best->start) {
			if (best->end > end)
				end = best->end;
			note_other(table, is_better(next, best) ? best : next,
				   is_better(next, best) ? next : best);
			if (is_better(next, best))
				*best = *next;
			best->end = end;
		} else {
			functions[i ? ++kept : 0] = *next;
		}
	}
	return kept + 1;
}

void rvt_table_finish(struct table *table)
{
	struct function *functions = table->functions;

	if (!table->n)
		return;
	sort_by_start(functions, table->n);
	table->n = keep_best(table);
	drop_doubles(table);
	for (size_t i = 0; i < table->n; i++) {
		if (functions[i].end != functions[i].start)
			continue;
		functions[i].end = i + 1 < table->n ? functions[i + 1].start : UINT64_MAX;
		functions[i].open = true;
	}
}

const struct function *rvt_table_find(const struct table *table, uint64_t addr)
{
	const struct function *found = array_floor(table->functions, table->n, start, addr);

	return found && addr < found->end ? found : NULL;
}

void rvt_table_destroy(void *data)
{
	struct table *table = data;
	struct table_names *names;

	while ((names = table->owned)) {
		table->owned = names->next;
		free(names);
	}
	rvt_eh_free(table->eh);
	free(table->segments);
	free(table->functions);
	free(table->others);
	free(table->path);
	free(table);
}
