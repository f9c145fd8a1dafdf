// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "profile/counters.h"

static int compare_dsos(const void *a, const void *b)
{
	const struct dso *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void free_dso(void *data)
{
	struct dso *dso = data;

	free(dso->name);
	free(dso->path);
	free(dso);
}

struct dso *counters_dso(struct counters *counters, const char *name, const char *path,
			 const struct rvt_bases *bases)
{
	struct dso key = { .name = (char *)name }, **found, *dso;

	found = tfind(&key, &counters->dsos, compare_dsos);
	if (found)
		return *found;
	dso = calloc(1, sizeof(*dso));
	if (!dso)
		return NULL;
	dso->name = strdup(name);
	dso->path = path ? strdup(path) : NULL;
	dso->bases = *bases;
	if (!dso->name || (path && !dso->path) || !tsearch(dso, &counters->dsos, compare_dsos)) {
		free_dso(dso);
		return NULL;
	}
	return dso;
}

static int compare_counters(const void *a, const void *b)
{
	const struct counter *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->branch != y->branch)
		return x->branch - y->branch;
	return x->dso < y->dso ? -1 : x->dso > y->dso;
}

struct counter *counters_get(struct counters *counters, const struct counter *key)
{
	struct counter **found = tfind(key, &counters->tree, compare_counters), *counter;

	if (found)
		return *found;
	if (array_grow(&counters->list, counters->n))
		return NULL;
	counter = malloc(sizeof(*counter));
	if (!counter || !(*counter = *key, tsearch(counter, &counters->tree, compare_counters))) {
		free(counter);
		return NULL;
	}
	counter->count = 0;
	return counters->list[counters->n++] = counter;
}

struct adding {
	struct counters *counters;
	int err;
};

static void add_dso(const void *node, VISIT which, void *closure)
{
	const struct dso *more = *(struct dso *const *)node;
	struct adding *adding = closure;
	struct dso *dso;

	if (adding->err || (which != postorder && which != leaf))
		return;
	dso = counters_dso(adding->counters, more->name, more->path, &more->bases);
	if (dso)
		dso->insns += more->insns;
	else
		adding->err = -ENOMEM;
}

int counters_add(struct counters *counters, const struct counters *more)
{
	struct adding adding = { counters, 0 };

	twalk_r(more->dsos, add_dso, &adding);
	for (size_t i = 0; i < more->n && !adding.err; i++) {
		struct counter key = *more->list[i], *sum;

		key.dso = counters_dso(counters, key.dso->name, NULL, &key.dso->bases);
		sum = key.dso ? counters_get(counters, &key) : NULL;
		if (sum)
			sum->count += key.count;
		else
			adding.err = -ENOMEM;
	}
	return adding.err;
}

static int by_address(const void *a, const void *b)
{
	return compare_counters(*(struct counter *const *)a, *(struct counter *const *)b);
}

void counters_sort(struct counters *counters)
{
	if (counters->n)
		qsort(counters->list, counters->n, sizeof(*counters->list), by_address);
}

static void keep(void *node)
{
	(void)node;
}

void counters_free(struct counters *counters)
{
	tdestroy(counters->tree, keep);
	tdestroy(counters->dsos, free_dso);
	for (size_t i = 0; i < counters->n; i++)
		free(counters->list[i]);
	free(counters->list);
}
