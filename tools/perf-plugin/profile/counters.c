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

	if (!x->build_id != !y->build_id)
		return x->build_id ? 1 : -1;
	return x->build_id ? strcmp(x->build_id, y->build_id) : strcmp(x->name, y->name);
}

static void free_dso(void *data)
{
	struct dso *dso = data;

	free(dso->name);
	free(dso->build_id);
	free(dso->found_id);
	free(dso->path);
	free(dso);
}

/* Makes *@text the lesser of the two by strcmp(). Returns 0 or -ENOMEM. */
static int take_first(char **text, const char *other)
{
	char *copy;

	if (!other || (*text && strcmp(other, *text) >= 0))
		return 0;
	copy = strdup(other);
	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

/*
 * Gives @dso one of the names under which the same build is known, whatever the order in which
 * files are added. NULL: out of memory.
 */
static struct dso *name_again(struct dso *dso, const struct dso *key)
{
	return take_first(&dso->name, key->name) || take_first(&dso->path, key->path) ? NULL : dso;
}

struct dso *counters_dso(struct counters *counters, const struct dso *key)
{
	struct dso **found = tfind(key, &counters->dsos, compare_dsos), *dso;

	if (found)
		return name_again(*found, key);
	dso = calloc(1, sizeof(*dso));
	if (!dso)
		return NULL;
	dso->name = strdup(key->name);
	dso->build_id = key->build_id ? strdup(key->build_id) : NULL;
	dso->path = key->path ? strdup(key->path) : NULL;
	dso->bases = key->bases;
	if (!dso->name || (key->build_id && !dso->build_id) || (key->path && !dso->path) ||
	    !tsearch(dso, &counters->dsos, compare_dsos)) {
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

static struct dso *add_as_found(struct counters *counters, const struct dso *dso)
{
	struct dso key = *dso;

	if (key.found_id)
		key.build_id = key.found_id;
	return counters_dso(counters, &key);
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
	dso = add_as_found(adding->counters, more);
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

		key.dso = add_as_found(counters, key.dso);
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
