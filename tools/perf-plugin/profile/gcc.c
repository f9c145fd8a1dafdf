// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * GCC's profile for -fauto-profile (gcc/auto-profile.cc says how it is read). Numbers are little
 * endian, of 4 bytes, or of 8 where they count:
 *
 *	"gcda", version, 0
 *	version 3: summary: total, largest count, largest number of calls, counts, functions,
 *		and how many of the largest counts make which share of the total
 *	names: version 3: files (none); each function's name and file (none)
 *	functions: calls, version 3: when it first ran (not known), name, body
 *	groups of modules: none
 *
 *	body: how many lines, how many inlined functions, then them:
 *		line << 16 | discriminator, how many targets, count; targets: kind, name, count
 *		line << 16 | discriminator, name, body
 */
#include <endian.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "profile/samples.h"
#include "util/array.h"

#define MAGIC 0x67636461
#define TAG_SUMMARY 0xa8000000
#define TAG_NAMES 0xaa000000
#define TAG_FUNCTIONS 0xac000000
#define TAG_MODULES 0xae000000
#define INDIRECT_CALL_TARGETS 7	/* HIST_TYPE_INDIR_CALL_TOPN */
#define NO_FILE 0xffffffff

/* A name. The order of all names numbers them, from 1; 0 is the empty one. */
struct name {
	const char *text;
	unsigned int number;
};

struct writing {
	FILE *out;
	unsigned int version, n_names;
	void *names;			/* tsearch tree of struct name */
	int err;
	/* of the summary */
	uint64_t *counts, total, max_calls;
	size_t n_counts, counts_room;
};

static void put32(FILE *out, uint32_t value)
{
	value = htole32(value);
	fwrite(&value, sizeof(value), 1, out);
}

static void put64(FILE *out, uint64_t value)
{
	put32(out, value);
	put32(out, value >> 32);
}

static void put_text(FILE *out, const char *text)
{
	put32(out, strlen(text) + 1);
	fwrite(text, strlen(text) + 1, 1, out);
}

static int by_text(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* ---- first pass: names and the summary ---- */

static void add_name(struct writing *writing, const char *text)
{
	struct name key = { .text = text }, *name;

	if (tfind(&key, &writing->names, by_text))
		return;
	name = malloc(sizeof(*name));
	if (!name || (*name = key, !tsearch(name, &writing->names, by_text))) {
		free(name);
		writing->err = -ENOMEM;
	}
}

static void collect_target(const void *node, VISIT which, void *closure)
{
	if (samples_in_order(which))
		add_name(closure, (*(struct sample_target *const *)node)->name);
}

static void collect_line(const void *node, VISIT which, void *closure)
{
	const struct sample_line *line = *(struct sample_line *const *)node;
	struct writing *writing = closure;

	if (!samples_in_order(which))
		return;
	twalk_r(line->targets, collect_target, writing);
	if (array_reserve(&writing->counts, &writing->counts_room, writing->n_counts, 1)) {
		writing->err = -ENOMEM;
		return;
	}
	writing->counts[writing->n_counts++] = line->count;
	writing->total += line->count;
}

static void collect_function(const void *node, VISIT which, void *closure)
{
	const struct sample_function *function = *(struct sample_function *const *)node;
	struct writing *writing = closure;

	if (!samples_in_order(which) || !function->total)
		return;
	add_name(writing, function->name);
	if (function->calls > writing->max_calls)
		writing->max_calls = function->calls;
	twalk_r(function->lines, collect_line, writing);
	twalk_r(function->inlined, collect_function, writing);
}

static void number_name(const void *node, VISIT which, void *closure)
{
	struct writing *writing = closure;

	if (samples_in_order(which))
		(*(struct name *const *)node)->number = ++writing->n_names;
}

static int larger_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

static void put_summary(struct writing *writing, size_t n_functions)
{
	/* in millionths of the total; the shares that LLVM and GCC look at */
	static const uint32_t shares[] = { 10000, 100000, 200000, 300000, 400000, 500000, 600000,
					   700000, 800000, 900000, 950000, 990000, 999000, 999900,
					   999990, 999999 };
	const size_t n = sizeof(shares) / sizeof(*shares);
	uint64_t sum = 0;
	size_t used = 0;

	if (writing->n_counts)
		qsort(writing->counts, writing->n_counts, sizeof(*writing->counts), larger_first);
	put32(writing->out, TAG_SUMMARY);
	put64(writing->out, writing->total);
	put64(writing->out, writing->n_counts ? writing->counts[0] : 0);
	put64(writing->out, writing->max_calls);
	put64(writing->out, writing->n_counts);
	put64(writing->out, n_functions);
	put64(writing->out, n);
	for (size_t i = 0; i < n; i++) {
		while (used < writing->n_counts &&
		       (double)sum < (double)writing->total * shares[i] / 1e6)
			sum += writing->counts[used++];
		put32(writing->out, shares[i]);
		put64(writing->out, used ? writing->counts[used - 1] : 0);
		put64(writing->out, used);
	}
}

/* ---- second pass ---- */

static uint32_t number_of(const struct writing *writing, const char *text)
{
	struct name key = { .text = text }, **found = tfind(&key, &writing->names, by_text);

	return found ? (*found)->number : 0;
}

static void put_name(const void *node, VISIT which, void *closure)
{
	const struct writing *writing = closure;

	if (!samples_in_order(which))
		return;
	put_text(writing->out, (*(struct name *const *)node)->text);
	if (writing->version >= 3)
		put32(writing->out, NO_FILE);
}

static void put_location(const struct writing *writing, struct line_location location)
{
	put32(writing->out, location.line << 16 | location.discriminator);
}

static void put_target(const void *node, VISIT which, void *closure)
{
	const struct sample_target *target = *(struct sample_target *const *)node;
	const struct writing *writing = closure;

	if (!samples_in_order(which))
		return;
	put32(writing->out, INDIRECT_CALL_TARGETS);
	put64(writing->out, number_of(writing, target->name));
	put64(writing->out, target->count);
}

static void put_line(const void *node, VISIT which, void *closure)
{
	const struct sample_line *line = *(struct sample_line *const *)node;
	const struct writing *writing = closure;

	if (!samples_in_order(which))
		return;
	put_location(writing, line->location);
	put32(writing->out, line->n_targets);
	put64(writing->out, line->count);
	twalk_r(line->targets, put_target, closure);
}

static void put_inlined(const void *node, VISIT which, void *closure);

static void put_body(const struct sample_function *function, struct writing *writing)
{
	put32(writing->out, number_of(writing, function->name));
	put32(writing->out, function->n_lines);
	put32(writing->out, function->n_inlined);
	twalk_r(function->lines, put_line, writing);
	twalk_r(function->inlined, put_inlined, writing);
}

static void put_inlined(const void *node, VISIT which, void *closure)
{
	const struct sample_function *function = *(struct sample_function *const *)node;

	if (!samples_in_order(which) || !function->total)
		return;
	put_location(closure, function->call);
	put_body(function, closure);
}

static void put_function(const void *node, VISIT which, void *closure)
{
	const struct sample_function *function = *(struct sample_function *const *)node;
	const struct writing *writing = closure;

	if (!samples_in_order(which) || !function->total)
		return;
	put64(writing->out, function->calls);
	if (writing->version >= 3)
		put64(writing->out, 0);
	put_body(function, closure);
}

/* Writes the head of a section. Lengths are 0, as readers skip them. */
static void put_head(const struct writing *writing, uint32_t tag, size_t n)
{
	put32(writing->out, tag);
	put32(writing->out, 0);
	if (tag == TAG_NAMES && writing->version >= 3)
		put32(writing->out, 0);
	put32(writing->out, n);
}

int gcc_write(const struct samples *samples, unsigned int version, FILE *out)
{
	struct writing writing = { .out = out, .version = version };

	twalk_r(samples->functions, collect_function, &writing);
	if (!writing.err) {
		twalk_r(writing.names, number_name, &writing);
		put32(out, MAGIC);
		put32(out, version);
		put32(out, 0);
		if (version >= 3)
			put_summary(&writing, samples->n_functions);
		put_head(&writing, TAG_NAMES, writing.n_names + 1);
		put_text(out, "");
		if (version >= 3)
			put32(out, NO_FILE);
		twalk_r(writing.names, put_name, &writing);
		put_head(&writing, TAG_FUNCTIONS, samples->n_functions);
		twalk_r(samples->functions, put_function, &writing);
		put_head(&writing, TAG_MODULES, 0);
	}
	tdestroy(writing.names, free);
	free(writing.counts);
	return writing.err;
}
