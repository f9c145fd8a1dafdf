// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Coverage of a file's source, from how often each straight line of its code ran: lcov's tracefile.
 */
#include <elfutils/libdw.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/text.h"
#include "profile/profile.h"
#include "common/srcline.h"

struct source_line {
	const char *file;
	int line;
	uint64_t count;
};

struct function {
	const char *file, *name;
	int line;
	uint64_t count;
};

/* Of sorted addresses: how often those up to this one were counted. */
struct sum {
	uint64_t addr, count;
};

struct lcov {
	struct sum *begins, *ends;	/* of straight lines; .ends: behind them */
	size_t n;
	struct source_line *lines;
	size_t n_lines;
	struct function *functions;
	size_t n_functions;
};

static int by_addr(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void sum_up(struct sum *sums, size_t n)
{
	if (n)
		qsort(sums, n, sizeof(*sums), by_addr);
	for (size_t i = 1; i < n; i++)
		sums[i].count += sums[i - 1].count;
}

static int read_counts(struct lcov *lcov, const struct code_line *lines, size_t n)
{
	lcov->begins = calloc(n + 1, sizeof(*lcov->begins));
	lcov->ends = calloc(n + 1, sizeof(*lcov->ends));
	if (!lcov->begins || !lcov->ends)
		return -ENOMEM;
	lcov->n = n;
	for (size_t i = 0; i < n; i++) {
		lcov->begins[i] = (struct sum){ lines[i].from, lines[i].count };
		lcov->ends[i] = (struct sum){ lines[i].to + 1, lines[i].count };
	}
	sum_up(lcov->begins, n);
	sum_up(lcov->ends, n);
	return 0;
}

static uint64_t sum_to(const struct sum *sums, size_t n, uint64_t addr)
{
	const struct sum *last = array_floor(sums, n, addr, addr);

	return last ? last->count : 0;
}

/* How often the instruction at @addr ran. */
static uint64_t count_at(const struct lcov *lcov, uint64_t addr)
{
	return sum_to(lcov->begins, lcov->n, addr) - sum_to(lcov->ends, lcov->n, addr);
}

/* One row of the line table: from @addr on, code of a source line. */
static int add_line(struct lcov *lcov, Dwarf_Line *row)
{
	Dwarf_Addr addr;
	bool statement, end;
	int line, err;

	if (dwarf_lineendsequence(row, &end) || end || dwarf_linebeginstatement(row, &statement) ||
	    !statement || dwarf_lineno(row, &line) || !line || dwarf_lineaddr(row, &addr))
		return 0;
	err = array_grow(&lcov->lines, lcov->n_lines);
	if (err)
		return err;
	lcov->lines[lcov->n_lines++] = (struct source_line){ dwarf_linesrc(row, NULL, NULL), line,
							     count_at(lcov, addr) };
	return 0;
}

static int add_function(struct lcov *lcov, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *file = dwarf_decl_file(die);
	Dwarf_Addr addr;
	int line;

	/* inlined everywhere, or only declared: no code of its own */
	if (!name || !file || dwarf_decl_line(die, &line) || dwarf_entrypc(die, &addr))
		return 0;
	if (array_grow(&lcov->functions, lcov->n_functions))
		return -ENOMEM;
	lcov->functions[lcov->n_functions++] = (struct function){ file, name, line,
								  count_at(lcov, addr) };
	return 0;
}

struct function_walk {
	struct lcov *lcov;
	int err;
};

static int take_function(Dwarf_Die *die, void *ctx)
{
	struct function_walk *walk = ctx;

	walk->err = add_function(walk->lcov, die);
	return walk->err ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int read_source(struct lcov *lcov, Dwarf *dwarf)
{
	Dwarf_Off off = 0, next;
	size_t header;
	int err = 0;

	while (!err && !dwarf_nextcu(dwarf, off, &next, &header, NULL, NULL, NULL)) {
		struct function_walk walk = { .lcov = lcov };
		Dwarf_Lines *rows;
		Dwarf_Die die;
		size_t n;

		if (dwarf_offdie(dwarf, off + header, &die)) {
			if (dwarf_getsrclines(&die, &rows, &n))
				n = 0;
			for (size_t i = 0; i < n && !err; i++)
				err = add_line(lcov, dwarf_onesrcline(rows, i));
			dwarf_getfuncs(&die, take_function, &walk, 0);
			if (!err)
				err = walk.err;
		}
		off = next;
	}
	return err;
}

static int by_line(const void *a, const void *b)
{
	const struct source_line *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : x->line - y->line;
}

static int by_function(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : x->line - y->line;
}

/* A line has several pieces of code: it ran as often as the one that ran most. */
static size_t write_lines(const struct lcov *lcov, size_t i, FILE *out)
{
	const char *file = lcov->lines[i].file;
	unsigned int found = 0, hit = 0;

	while (i < lcov->n_lines && !strcmp(lcov->lines[i].file, file)) {
		int line = lcov->lines[i].line;
		uint64_t count = 0;

		for (; i < lcov->n_lines && lcov->lines[i].line == line &&
		       !strcmp(lcov->lines[i].file, file); i++)
			if (lcov->lines[i].count > count)
				count = lcov->lines[i].count;
		fprintf(out, "DA:%d,%" PRIu64 "\n", line, count);
		found++;
		hit += !!count;
	}
	fprintf(out, "LF:%u\nLH:%u\n", found, hit);
	return i;
}

static void write_functions(const struct lcov *lcov, const char *file, FILE *out)
{
	unsigned int found = 0, hit = 0;

	for (size_t i = 0; i < lcov->n_functions; i++) {
		struct function *function = &lcov->functions[i];

		if (strcmp(function->file, file))
			continue;
		/* a copy in each of several compiled files */
		for (; i + 1 < lcov->n_functions && !by_function(function, function + 1);
		     function++, i++)
			function[1].count += function->count;
		fprintf(out, "FN:%d,", function->line);
		put_visible(out, function->name);
		fprintf(out, "\nFNDA:%" PRIu64 ",", function->count);
		put_visible(out, function->name);
		fputc('\n', out);
		found++;
		hit += !!function->count;
	}
	fprintf(out, "FNF:%u\nFNH:%u\n", found, hit);
}

static void write_all(struct lcov *lcov, FILE *out)
{
	if (lcov->n_lines)
		qsort(lcov->lines, lcov->n_lines, sizeof(*lcov->lines), by_line);
	if (lcov->n_functions)
		qsort(lcov->functions, lcov->n_functions, sizeof(*lcov->functions), by_function);
	fputs("TN:\n", out);
	for (size_t i = 0; i < lcov->n_lines; ) {
		fputs("SF:", out);
		put_visible(out, lcov->lines[i].file);
		fputc('\n', out);
		write_functions(lcov, lcov->lines[i].file, out);
		i = write_lines(lcov, i, out);
		fputs("end_of_record\n", out);
	}
}

int lcov_write(const struct code_line *lines, size_t n, const char *path,
	       const struct rvt_session_options *options, FILE *out)
{
	struct srclines *srclines = srclines_create(options->symfs, NULL);
	Dwfl_Module *module;
	struct lcov lcov = { 0 };
	uint64_t bias;
	Dwarf_Addr dwarf_bias;
	Dwarf *dwarf;
	int err = srclines ? read_counts(&lcov, lines, n) : -ENOMEM;

	if (!err) {
		module = srclines_module(srclines, path, &bias);
		dwarf = module ? dwfl_module_getdwarf(module, &dwarf_bias) : NULL;
		err = dwarf ? read_source(&lcov, dwarf) : 0;
		if (!err && !lcov.n_lines)
			err = cmd_error(-ENOENT, "%s has no source lines: compile it with -g, or "
					"install its debug file below --symfs", path);
		if (!err)
			write_all(&lcov, out);
	}
	srclines_destroy(srclines);
	free(lcov.begins);
	free(lcov.ends);
	free(lcov.lines);
	free(lcov.functions);
	return err;
}
