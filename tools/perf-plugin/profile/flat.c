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
#include "common/cmd.h"
#include "profile/profile.h"
#include "profile/samples.h"

#define CACHE_BITS 17

/* A slot of the cache that finds counters by addresses of a space. */
struct slot {
	const struct rvt_space *space;
	uint64_t generation, from, to;
	bool branch;
	struct counter *counter;	/* NULL: they are not counted */
};

struct flat {
	struct places *places;
	const struct rvt_session_options *options;
	struct counters counters;
	struct slot *cache;
};

void *flat_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	struct flat *flat = calloc(1, sizeof(*flat));

	(void)out;
	if (!flat)
		return NULL;
	flat->places = places;
	flat->options = options;
	flat->cache = calloc(1u << CACHE_BITS, sizeof(*flat->cache));
	if (!flat->cache) {
		free(flat);
		return NULL;
	}
	return flat;
}

static struct dso *get_dso(struct flat *flat, const struct place *place)
{
	const struct dso key = { .name = (char *)place->dso, .path = (char *)place->path,
				 .bases = place->bases };

	return counters_dso(&flat->counters, &key);
}

/*
 * Finds the slot for the counter of a line or a branch. Sets *@known if its addresses were looked
 * up already.
 */
static struct slot *find_slot(struct flat *flat, const struct rvt_space *space, uint64_t from,
			      uint64_t to, bool branch, bool *known)
{
	const struct slot wanted = { space, space ? rvt_space_generation(space) : 0, from, to,
				     branch, NULL };
	uint64_t hash = (from * 0x9e3779b97f4a7c15ULL ^ to ^ branch ^ (uintptr_t)space) *
			0x9e3779b97f4a7c15ULL;
	struct slot *slot = &flat->cache[hash >> (64 - CACHE_BITS)];

	*known = slot->space == space && slot->generation == wanted.generation &&
		 slot->from == from && slot->to == to && slot->branch == branch && (from || to);
	if (!*known)
		*slot = wanted;
	return slot;
}

static int flat_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	uint64_t first = line->first, last = line->last, insns = line->insns;
	struct flat *flat = ctx;
	bool known;
	struct slot *slot = find_slot(flat, hart->space, first, last, false, &known);
	struct counter key = { .branch = false };
	const struct place *place;

	(void)stack;
	if (!known) {
		place = places_find(flat->places, hart->space, first);
		if (!place->path && (int64_t)first >= 0)
			return 0;
		key.from = place->vaddr;
		key.to = place->vaddr + (last - first);
		key.dso = get_dso(flat, place);
		slot->counter = key.dso ? counters_get(&flat->counters, &key) : NULL;
		if (!slot->counter) {
			slot->from = slot->to = 0;
			return -ENOMEM;
		}
	}
	if (slot->counter) {
		slot->counter->count++;
		slot->counter->dso->insns += insns;
	}
	return 0;
}

/*
 * Finds the counter of a branch, and caches it. .counter stays NULL for a branch into another file,
 * as its target has no address in this file.
 */
static int attribute_branch(struct flat *flat, struct rvt_space *space, struct slot *slot)
{
	const struct place *place = places_find(flat->places, space, slot->from);
	struct counter key = { .branch = true };

	if (!place->path && (int64_t)slot->from >= 0)
		return 0;
	key.from = place->vaddr;
	key.dso = get_dso(flat, place);
	if (!key.dso)
		return -ENOMEM;
	place = places_find(flat->places, space, slot->to);
	if (strcmp(place->dso, key.dso->name))
		return 0;
	key.to = place->vaddr;
	slot->counter = counters_get(&flat->counters, &key);
	return slot->counter ? 0 : -ENOMEM;
}

static int flat_transfer(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
			 struct rvt_callstack *stack)
{
	struct flat *flat = ctx;
	struct slot *slot;
	bool known;
	int err;

	(void)stack;
	if (transfer->kind > RVT_TRANSFER_RETURN)
		return 0;
	slot = find_slot(flat, hart->space, transfer->from, transfer->to, true, &known);
	err = known ? 0 : attribute_branch(flat, hart->space, slot);
	if (!err && slot->counter)
		slot->counter->count++;
	return err;
}

void flat_ops(struct rvt_transfers_ops *ops)
{
	ops->line = flat_line;
	ops->transfer = flat_transfer;
}

/*
 * A search for the file that ran most, of those that .name is the name or the build id of; NULL: of
 * all files.
 */
struct search {
	const char *name;
	struct dso *found;
	unsigned int n;		/* number of files that match */
};

static bool is_called(const struct dso *dso, const char *name)
{
	const char *base = strrchr(dso->name, '/');

	return !name || !strcmp(dso->name, name) || (base && !strcmp(base + 1, name)) ||
		(dso->build_id && !strcmp(dso->build_id, name));
}

/*
 * Returns whether @dso ran more than @found. Names, and then build ids, decide where both ran as
 * much.
 */
static bool is_hotter(const struct dso *dso, const struct dso *found)
{
	int order;

	if (!found || dso->insns != found->insns)
		return !found || dso->insns > found->insns;
	order = strcmp(dso->name, found->name);
	return order < 0 || (!order && dso->build_id && found->build_id &&
			     strcmp(dso->build_id, found->build_id) < 0);
}

static void find_dso(const void *node, VISIT which, void *closure)
{
	struct dso *dso = *(struct dso *const *)node;
	struct search *search = closure;

	if ((which != postorder && which != leaf) || !is_called(dso, search->name))
		return;
	search->n++;
	if (is_hotter(dso, search->found))
		search->found = dso;
}

static bool is_of(const struct counter *counter, const struct dso *dso, bool branch)
{
	return counter->dso == dso && counter->branch == branch;
}

static uint64_t how_many(const struct flat *flat, const struct dso *dso, bool branches)
{
	uint64_t n = 0;

	for (size_t i = 0; i < flat->counters.n; i++)
		n += is_of(flat->counters.list[i], dso, branches);
	return n;
}

/*
 * Writes the text format of llvm-profgen --unsymbolized-profile, or of the AutoFDO tools: each
 * number of entries, then the entries.
 */
static void write_ranges(const struct flat *flat, const struct dso *dso, uint64_t base,
			 bool addresses, FILE *out)
{
	for (int branches = 0; branches < 2; branches++) {
		if (branches && addresses)
			fprintf(out, "0\n");	/* no counts of single addresses */
		fprintf(out, "%" PRIu64 "\n", how_many(flat, dso, branches));
		for (size_t i = 0; i < flat->counters.n; i++) {
			const struct counter *counter = flat->counters.list[i];

			if (is_of(counter, dso, branches))
				fprintf(out, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n",
					counter->from - base, branches ? "->" : "-",
					counter->to - base, counter->count);
		}
	}
}

/* Writes BOLT's pre-aggregated format: B from to count mispredictions, F start end count. */
static void write_bolt(const struct flat *flat, const struct dso *dso, FILE *out)
{
	for (size_t i = 0; i < flat->counters.n; i++) {
		const struct counter *counter = flat->counters.list[i];

		if (counter->dso != dso)
			continue;
		fprintf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "%s\n",
			counter->branch ? 'B' : 'F', counter->from, counter->to, counter->count,
			counter->branch ? " 0" : "");
	}
}

static int write_samples(const struct code_counts *counts, const char *name, const char *path,
			 const struct rvt_session_options *options, FILE *out)
{
	bool gcc = !strncmp(name, "gcc", 3);
	struct samples samples;
	int err = samples_read(&samples, gcc ? SAMPLES_GCC : SAMPLES_CLANG, counts, path, options);

	if (!err)
		err = gcc ? gcc_write(&samples, !strcmp(name, "gcc15") ? 2 : 3, out) :
			clang_write(&samples, out);
	samples_free(&samples);
	return err;
}

/* Writes a format that needs the file's source lines. */
static int write_source(const struct flat *flat, const struct dso *dso, const char *name, FILE *out)
{
	const char *path = dso->path ? dso->path : flat->options->vmlinux;
	struct code_counts counts = { 0 };
	int err = -ENOMEM;

	if (!path)
		return cmd_error(-ENOENT, "there is no file with the source lines of %s; for the "
				 "kernel give --vmlinux FILE", dso->name);
	counts.lines = calloc(flat->counters.n + 1, sizeof(*counts.lines));
	counts.branches = calloc(flat->counters.n + 1, sizeof(*counts.branches));
	for (size_t i = 0; counts.lines && counts.branches && i < flat->counters.n; i++) {
		const struct counter *counter = flat->counters.list[i];
		const struct code_line line = { counter->from, counter->to, counter->count };

		if (counter->dso == dso && counter->branch)
			counts.branches[counts.n_branches++] = line;
		else if (counter->dso == dso)
			counts.lines[counts.n_lines++] = line;
	}
	if (counts.lines && counts.branches)
		err = !strcmp(name, "lcov") ? lcov_write(&counts, path, flat->options, out) :
			write_samples(&counts, name, path, flat->options, out);
	free(counts.lines);
	free(counts.branches);
	return err;
}

static void identify(const void *node, VISIT which, void *places)
{
	struct dso *dso = *(struct dso *const *)node;

	if ((which == postorder || which == leaf) && !dso->build_id && !dso->found_id)
		dso->found_id = places_build_id(places, dso->name, dso->path);
}

/* Writes counts, with build ids: a recording knows its files by name only. */
static int write_counts(const struct flat *flat, FILE *out)
{
	struct counters sum = { .dsos = NULL };
	int err;

	if (!flat->places)
		return counts_write(&flat->counters, out);
	twalk_r(flat->counters.dsos, identify, flat->places);
	err = counters_add(&sum, &flat->counters);
	counters_sort(&sum);
	if (!err)
		err = counts_write(&sum, out);
	counters_free(&sum);
	return err;
}

int flat_write(void *data, const char *name, const char *wanted, FILE *out)
{
	struct search search = { .name = wanted };
	struct flat *flat = data;

	counters_sort(&flat->counters);
	if (!strcmp(name, "counts"))
		return write_counts(flat, out);
	twalk_r(flat->counters.dsos, find_dso, &search);
	if (!search.found)
		return cmd_error(-ENOENT, "no code of %s ran", wanted ? wanted : "any file");
	if (!wanted)
		cmd_warning("profile of %s, which ran most; choose with --dso", search.found->name);
	else if (search.n > 1)
		cmd_warning("%u builds are called %s: this is the profile of %s, which ran most; "
			    "choose with --dso BUILD-ID", search.n, wanted, search.found->build_id ?
			    search.found->build_id : "the one without a build id");
	if (!strcmp(name, "bolt"))
		write_bolt(flat, search.found, out);
	else if (!strcmp(name, "llvm"))
		write_ranges(flat, search.found, search.found->bases.text & ~0xfffULL, false, out);
	else if (!strcmp(name, "autofdo"))
		/* the tools add the address at which the file's first segment begins */
		write_ranges(flat, search.found, search.found->bases.load, true, out);
	else
		return write_source(flat, search.found, name, out);
	return 0;
}

int flat_add(void *data, const void *more)
{
	const struct flat *other = more;
	struct flat *flat = data;

	return counters_add(&flat->counters, &other->counters);
}

void flat_forget(void *data)
{
	struct flat *flat = data;

	counters_free(&flat->counters);
	flat->counters = (struct counters){ .dsos = NULL };
	memset(flat->cache, 0, sizeof(*flat->cache) << CACHE_BITS);
}

int flat_read(void *data, FILE *in, const char *name)
{
	struct flat *flat = data;

	return counts_read(&flat->counters, in, name, flat->options->symfs);
}

void flat_destroy(void *data)
{
	struct flat *flat = data;

	counters_free(&flat->counters);
	free(flat->cache);
	free(flat);
}
