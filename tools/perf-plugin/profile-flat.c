// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * How often each straight line of code ran and each branch was taken, by addresses in the ELF file:
 * what llvm-profgen, BOLT and the AutoFDO tools make profiles from, and what coverage is made of.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "profile-flat.h"

#define CACHE_SLOTS 65536

void *flat_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	struct flat *flat = calloc(1, sizeof(*flat));

	(void)out;
	if (!flat)
		return NULL;
	flat->places = places;
	flat->options = options;
	flat->cache = calloc(CACHE_SLOTS, sizeof(*flat->cache));
	if (!flat->cache) {
		free(flat);
		return NULL;
	}
	return flat;
}

static int compare_dsos(const void *a, const void *b)
{
	const struct dso *x = a, *y = b;

	return x->name < y->name ? -1 : x->name > y->name;
}

static void free_dso(void *data)
{
	struct dso *dso = data;

	free(dso->path);
	free(dso);
}

struct dso *flat_dso(struct flat *flat, const char *name, const char *path,
		     const struct rvt_bases *bases)
{
	struct dso key = { .name = name }, **found, *dso;

	found = tfind(&key, &flat->dsos, compare_dsos);
	if (found)
		return *found;
	dso = calloc(1, sizeof(*dso));
	if (!dso)
		return NULL;
	dso->name = name;
	dso->bases = *bases;
	if (path)
		dso->path = strdup(path);
	if ((path && !dso->path) || !tsearch(dso, &flat->dsos, compare_dsos)) {
		free_dso(dso);
		return NULL;
	}
	return dso;
}

static struct dso *get_dso(struct flat *flat, const struct place *place)
{
	return flat_dso(flat, place->dso, place->path, &place->bases);
}

void flat_ran(struct flat *flat, struct dso *dso, uint64_t insns)
{
	dso->insns += insns;
	if (!flat->hottest || dso->insns > flat->hottest->insns)
		flat->hottest = dso;
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

int flat_count(struct flat *flat, const struct counter *key)
{
	uint64_t hash = (key->from * 0x9e3779b97f4a7c15ULL ^ key->to ^ key->branch) *
			0x9e3779b97f4a7c15ULL;
	struct counter **slot = &flat->cache[hash >> 48], **found, *counter;

	if (*slot && !compare_counters(*slot, key)) {
		(*slot)->count += key->count;
		return 0;
	}
	found = tfind(key, &flat->counters, compare_counters);
	if (found) {
		*slot = *found;
		(*slot)->count += key->count;
		return 0;
	}
	if (flat->n == flat->room) {
		size_t room = flat->room * 2 + 1024;
		struct counter **grown = reallocarray(flat->list, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		flat->list = grown;
		flat->room = room;
	}
	counter = malloc(sizeof(*counter));
	if (!counter || !(*counter = *key, tsearch(counter, &flat->counters, compare_counters))) {
		free(counter);
		return -ENOMEM;
	}
	*slot = flat->list[flat->n++] = counter;
	return 0;
}

static int flat_line(void *ctx, struct rvt_lane *lane, uint64_t first, uint64_t last,
		     uint64_t insns,
		     struct rvt_callstack *stack)
{
	struct flat *flat = ctx;
	const struct place *place = places_find(flat->places, lane->space, first);
	struct counter key = { .count = 1 };

	(void)stack;
	if (!place->path && (int64_t)first >= 0)
		return 0;
	key.from = place->vaddr;
	key.to = place->vaddr + (last - first);
	key.dso = get_dso(flat, place);
	if (!key.dso)
		return -ENOMEM;
	flat_ran(flat, key.dso, insns);
	return flat_count(flat, &key);
}

static int flat_transfer(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
			 struct rvt_callstack *stack)
{
	struct flat *flat = ctx;
	struct counter key = { .branch = true, .count = 1 };
	const struct place *place;

	(void)stack;
	if (transfer->kind > TRANSFER_RETURN)
		return 0;
	place = places_find(flat->places, lane->space, transfer->from);
	if (!place->path && (int64_t)transfer->from >= 0)
		return 0;
	key.from = place->vaddr;
	key.dso = get_dso(flat, place);
	if (!key.dso)
		return -ENOMEM;
	place = places_find(flat->places, lane->space, transfer->to);
	/* a branch into another file has no address in this one */
	if (place->dso != key.dso->name)
		return 0;
	key.to = place->vaddr;
	return flat_count(flat, &key);
}

void flat_ops(struct transfers_ops *ops)
{
	ops->line = flat_line;
	ops->transfer = flat_transfer;
}

static int by_address(const void *a, const void *b)
{
	return compare_counters(*(struct counter *const *)a, *(struct counter *const *)b);
}

static void find_named(const void *node, VISIT which, void *closure)
{
	struct { const char *name; struct dso *found; } *search = closure;
	struct dso *dso = *(struct dso *const *)node;
	const char *base = strrchr(dso->name, '/');

	if ((which == postorder || which == leaf) &&
	    (!strcmp(dso->name, search->name) || (base && !strcmp(base + 1, search->name))))
		search->found = dso;
}

static uint64_t how_many(const struct flat *flat, const struct dso *dso, bool branches)
{
	uint64_t n = 0;

	for (size_t i = 0; i < flat->n; i++)
		n += flat->list[i]->dso == dso && flat->list[i]->branch == branches;
	return n;
}

/* llvm-profgen --unsymbolized-profile and the text of the AutoFDO tools: counts, then lines. */
static void write_ranges(const struct flat *flat, const struct dso *dso, uint64_t base,
			 bool addresses,
			 FILE *out)
{
	for (int branches = 0; branches < 2; branches++) {
		if (branches && addresses)
			fprintf(out, "0\n");	/* no counts of single addresses */
		fprintf(out, "%" PRIu64 "\n", how_many(flat, dso, branches));
		for (size_t i = 0; i < flat->n; i++)
			if (flat->list[i]->dso == dso && flat->list[i]->branch == branches)
				fprintf(out, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n",
					flat->list[i]->from - base, branches ? "->" : "-",
					flat->list[i]->to - base, flat->list[i]->count);
	}
}

/* BOLT's pre-aggregated form: B from to count mispredictions, F start end count. */
static void write_bolt(const struct flat *flat, const struct dso *dso, FILE *out)
{
	for (size_t i = 0; i < flat->n; i++) {
		const struct counter *counter = flat->list[i];

		if (counter->dso != dso)
			continue;
		fprintf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "%s\n",
			counter->branch ? 'B' : 'F', counter->from, counter->to, counter->count,
			counter->branch ? " 0" : "");
	}
}

static int write_lcov(const struct flat *flat, const struct dso *dso, FILE *out)
{
	const char *path = dso->path ? dso->path : flat->options->owner.vmlinux;
	struct code_line *lines;
	size_t n = 0;
	int err;

	if (!path)
		return cmd_error(-ENOENT, "there is no file with the source lines of %s; for the "
				 "kernel give --vmlinux FILE", dso->name);
	lines = calloc(flat->n + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < flat->n; i++) {
		const struct counter *counter = flat->list[i];

		if (counter->dso == dso && !counter->branch)
			lines[n++] = (struct code_line){ counter->from, counter->to,
							 counter->count };
	}
	err = lcov_write(lines, n, path, flat->options, out);
	free(lines);
	return err;
}

int flat_write(void *data, const char *name, const char *wanted, FILE *out)
{
	struct flat *flat = data;
	struct { const char *name; struct dso *found; } search = { wanted, flat->hottest };

	if (flat->n)
		qsort(flat->list, flat->n, sizeof(*flat->list), by_address);
	if (!strcmp(name, "counts"))
		return counts_write(flat, out);
	if (wanted) {
		search.found = NULL;
		twalk_r(flat->dsos, find_named, &search);
	}
	if (!search.found)
		return cmd_error(-ENOENT, "no code of %s ran", wanted ? wanted : "any file");
	if (!wanted)
		cmd_warning("profile of %s, which ran most; choose with --dso", search.found->name);
	if (!strcmp(name, "lcov"))
		return write_lcov(flat, search.found, out);
	if (!strcmp(name, "bolt"))
		write_bolt(flat, search.found, out);
	else if (!strcmp(name, "llvm"))
		write_ranges(flat, search.found, search.found->bases.text & ~0xfffULL, false, out);
	else
		/* they add what the file's first segment begins at */
		write_ranges(flat, search.found, search.found->bases.load, true, out);
	return 0;
}

static void keep(void *node)
{
	(void)node;
}

void flat_destroy(void *data)
{
	struct flat *flat = data;

	tdestroy(flat->counters, keep);
	tdestroy(flat->dsos, free_dso);
	tdestroy(flat->names, free);
	for (size_t i = 0; i < flat->n; i++)
		free(flat->list[i]);
	free(flat->list);
	free(flat->cache);
	free(flat);
}
