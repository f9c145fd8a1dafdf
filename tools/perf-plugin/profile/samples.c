// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/srcline.h"
#include "profile/executed.h"
#include "profile/functions.h"
#include "profile/samples.h"
#include "util/array.h"

struct reading {
	struct samples *samples;
	enum samples_compiler compiler;
	struct executed *executed;
	struct code_line *branches;	/* by .from */
	size_t n_branches;
	struct source_file *file;
};

/* ---- trees ---- */

static int compare_locations(struct line_location x, struct line_location y)
{
	if (x.line != y.line)
		return x.line < y.line ? -1 : 1;
	return (x.discriminator > y.discriminator) - (x.discriminator < y.discriminator);
}

static int by_function(const void *a, const void *b)
{
	const struct sample_function *x = a, *y = b;
	int order = compare_locations(x->call, y->call);

	return order ? order : strcmp(x->name, y->name);
}

static int by_location(const void *a, const void *b)
{
	const struct sample_line *x = a, *y = b;

	return compare_locations(x->location, y->location);
}

static int by_target(const void *a, const void *b)
{
	const struct sample_target *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/*
 * Finds @key in @tree, or adds a copy of its @size bytes and counts that in *@n. NULL: out of
 * memory.
 */
static void *get(void **tree, size_t *n, const void *key, size_t size,
		 int (*compare)(const void *, const void *))
{
	void *copy, **found = tfind(key, tree, compare);

	if (found)
		return *found;
	copy = malloc(size);
	if (!copy)
		return NULL;
	memcpy(copy, key, size);
	if (!tsearch(copy, tree, compare)) {
		free(copy);
		return NULL;
	}
	++*n;
	return copy;
}

static void free_line(void *data)
{
	struct sample_line *line = data;

	tdestroy(line->targets, free);
	free(line);
}

static void free_function(void *data)
{
	struct sample_function *function = data;

	tdestroy(function->lines, free_line);
	tdestroy(function->inlined, free_function);
	free(function);
}

/* ---- discriminators ---- */

/*
 * Takes the next number of a discriminator. LLVM packs three into one
 * (DILocation::encodeDiscriminator, LLVM 7 and later): the block of the line, how many copies of it
 * run as one, the number of the copy. Each is one bit if it is 0, else 7 bits, or 14 when bit 6 is
 * set.
 */
static unsigned int llvm_number(unsigned int *rest)
{
	unsigned int value = *rest;

	if (value & 1) {
		*rest >>= 1;
		return 0;
	}
	*rest >>= value & 0x40 ? 14 : 7;
	value >>= 1;
	return value & 0x20 ? (value >> 1 & 0xfe0) | (value & 0x1f) : value & 0x1f;
}

/* Sets *@copies to how often the source ran when the instruction ran once. */
static struct line_location make_location(enum samples_compiler compiler, int line, int first,
					  unsigned int discriminator, unsigned int *copies)
{
	struct line_location location = { (line - first) & 0xffff, discriminator };

	*copies = 1;
	if (compiler == SAMPLES_CLANG) {
		location.discriminator = llvm_number(&discriminator);
		*copies = llvm_number(&discriminator);
		if (!*copies)
			*copies = 1;
	} else {
		location.discriminator &= 0xffff;
	}
	return location;
}

/* ---- counting ---- */

/* Finds or makes the function of a scope. NULL: out of memory. */
static struct sample_function *get_function(struct reading *reading, struct scope *scope)
{
	struct sample_function key = { .name = scope->name }, *caller;
	unsigned int copies;

	if (scope->user)
		return scope->user;
	if (!scope->caller)
		return scope->user = get(&reading->samples->functions,
					 &reading->samples->n_functions, &key, sizeof(key),
					 by_function);
	caller = get_function(reading, scope->caller);
	if (!caller)
		return NULL;
	key.call = make_location(reading->compiler, scope->call_line, scope->caller->line,
				 scope->call_discriminator, &copies);
	return scope->user = get(&caller->inlined, &caller->n_inlined, &key, sizeof(key),
				 by_function);
}

static bool is_call(const struct rvt_insn *insn)
{
	return insn->iclass == RVT_INSN_CALL || insn->iclass == RVT_INSN_IND_CALL ||
		insn->iclass == RVT_INSN_COROUTINE;
}

/*
 * Adds where the branch at @addr went, if to functions: by calls, or by jumps to other functions
 * (tail calls). A jump of a function to its own beginning is no entry: takes it off .calls.
 */
static int add_targets(struct reading *reading, uint64_t addr, const struct rvt_insn *insn,
		       const struct scope *outermost, struct sample_line *line)
{
	bool indirect = insn->iclass >= RVT_INSN_IND_CALL && insn->iclass <= RVT_INSN_COROUTINE;
	const struct code_line *branch = array_floor(reading->branches, reading->n_branches, from,
						     addr);

	for (; branch && branch >= reading->branches && branch->from == addr; branch--) {
		struct scope *entered = functions_entered(reading->samples->scopes, branch->to);
		struct sample_target *target, key = { .count = 0 };

		if (!entered)
			continue;
		if (entered == outermost && !is_call(insn)) {
			struct sample_function *self = get_function(reading, entered);

			if (!self)
				return -ENOMEM;
			self->calls -= branch->count;
			continue;
		}
		if (reading->compiler == SAMPLES_GCC && !indirect)
			continue;
		key.name = entered->name;
		target = line ? get(&line->targets, &line->n_targets, &key, sizeof(key),
				    by_target) : NULL;
		if (line && !target)
			return -ENOMEM;
		if (target)
			target->count += branch->count;
	}
	return 0;
}

/* Counts an instruction. A line with several instructions ran as often as the one that ran most. */
static int take_insn(void *ctx, uint64_t addr, const struct rvt_insn *insn)
{
	struct reading *reading = ctx;
	struct scope *scope = functions_at(reading->samples->scopes, addr);
	uint64_t count = executed_count(reading->executed, addr);
	struct sample_line *line = NULL, key = { .count = 0 };
	unsigned int discriminator = 0, copies = 1;
	struct sample_function *function;
	Dwarf_Line *row;
	int number;

	if (!scope)
		return 0;
	function = get_function(reading, scope);
	if (!function)
		return -ENOMEM;
	row = source_file_line(reading->file, addr);
	if (row && !dwarf_lineno(row, &number) && number) {
		dwarf_linediscriminator(row, &discriminator);
		key.location = make_location(reading->compiler, number, scope->line, discriminator,
					     &copies);
		line = get(&function->lines, &function->n_lines, &key, sizeof(key), by_location);
		if (!line)
			return -ENOMEM;
		if (count * copies > line->count)
			line->count = count * copies;
	}
	function->total += count * copies;
	while (scope->caller) {
		scope = scope->caller;
		function = scope->user;
		function->total += count * copies;
	}
	/* a function may begin with inlined code, so this is about the outermost scope */
	if (addr == scope->entry)
		function->calls += count;
	return add_targets(reading, addr, insn, scope, line);
}

/* Counts the functions that ran, and in each the inlined ones that ran. */
static void count_functions(const void *node, VISIT which, void *closure)
{
	struct sample_function *function = *(struct sample_function *const *)node;
	size_t *n = closure;

	if (!samples_in_order(which) || !function->total)
		return;
	++*n;
	function->n_inlined = 0;
	twalk_r(function->inlined, count_functions, &function->n_inlined);
}

static int by_from(const void *a, const void *b)
{
	const struct code_line *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

int samples_read(struct samples *samples, enum samples_compiler compiler,
		 const struct code_counts *counts, const char *path,
		 const struct rvt_session_options *options)
{
	struct reading reading = { .samples = samples, .compiler = compiler,
				   .executed = executed_create(counts),
				   .n_branches = counts->n_branches };
	int err = -ENOMEM;

	*samples = (struct samples){ .srclines = srclines_create(options->symfs, NULL) };
	reading.branches = calloc(counts->n_branches + 1, sizeof(*reading.branches));
	if (samples->srclines && reading.executed && reading.branches) {
		memcpy(reading.branches, counts->branches,
		       counts->n_branches * sizeof(*reading.branches));
		if (reading.n_branches)
			qsort(reading.branches, reading.n_branches, sizeof(*reading.branches),
			      by_from);
		reading.file = srclines_file(samples->srclines, path);
		err = -ENOENT;
		if (reading.file)
			samples->scopes = functions_read(reading.file, &err);
		if (err == -ENOENT)
			cmd_error(0, "%s has no source lines: compile it with -g, or install its "
				  "debug file below --symfs", path);
		if (!err)
			err = executed_each(source_file_module(reading.file), take_insn, &reading);
	}
	samples->n_functions = 0;
	twalk_r(samples->functions, count_functions, &samples->n_functions);
	executed_destroy(reading.executed);
	free(reading.branches);
	return err;
}

void samples_free(struct samples *samples)
{
	tdestroy(samples->functions, free_function);
	functions_destroy(samples->scopes);
	srclines_destroy(samples->srclines);
}
