// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The functions of one file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "array.h"
#include "table.h"

int table_add(struct table *table, uint64_t start, uint64_t size, const char *name, uint8_t rank)
{
	if (array_grow(&table->functions, table->n))
		return -ENOMEM;
	table->functions[table->n++] = (struct function){ start, start + size, name, rank };
	return 0;
}

const char *table_own(struct table *table, const char *name, size_t len)
{
	char *copy;

	if (array_grow(&table->owned, table->n_owned))
		return NULL;
	copy = strndup(name, len);
	if (copy)
		table->owned[table->n_owned++] = copy;
	return copy;
}

/*
 * Of several names at one address the one with fewer leading underscores, then the longer one, is
 * kept: that is how people know it (perf chooses alike).
 */
static int compare_names(const char *x, const char *y)
{
	size_t underscores_x = strspn(x, "_"), underscores_y = strspn(y, "_");

	if (underscores_x != underscores_y)
		return underscores_x < underscores_y ? -1 : 1;
	if (strlen(x) != strlen(y))
		return strlen(x) > strlen(y) ? -1 : 1;
	return strcmp(x, y);
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return y->rank - x->rank;
	return compare_names(x->name, y->name);
}

void table_finish(struct table *table)
{
	size_t kept = 0;

	if (!table->n)
		return;
	qsort(table->functions, table->n, sizeof(*table->functions), compare_functions);
	for (size_t i = 0; i < table->n; i++) {
		struct function *function = &table->functions[i];

		if (kept && table->functions[kept - 1].start == function->start) {
			if (function->end > table->functions[kept - 1].end)
				table->functions[kept - 1].end = function->end;
			continue;
		}
		table->functions[kept++] = *function;
	}
	table->n = kept;
	for (size_t i = 0; i < kept; i++)
		if (table->functions[i].end == table->functions[i].start)
			table->functions[i].end = i + 1 < kept ? table->functions[i + 1].start :
								 UINT64_MAX;
}

const struct function *table_find(const struct table *table, uint64_t addr)
{
	const struct function *found = array_floor(table->functions, table->n, start, addr);

	return found && addr < found->end ? found : NULL;
}

void table_destroy(void *data)
{
	struct table *table = data;

	for (size_t i = 0; i < table->n_owned; i++)
		free(table->owned[i]);
	free(table->owned);
	free(table->segments);
	free(table->functions);
	free(table->path);
	free(table);
}
