// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Coverage of a file's source, from how often each straight line of its code ran and each branch
 * was taken: lcov's tracefile.
 */
#include <elfutils/libdw.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/text.h"
#include "common/srcline.h"
#include "profile/executed.h"

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

/* A conditional branch in the code, of a source line. */
struct source_branch {
	const char *file;
	int line;
	uint64_t addr, executed, taken;
};

struct lcov {
	struct executed *executed;
	struct source_file *file;
	struct source_branch *branches;
	size_t n_branches, branches_room;
	bool some_here;			/* some source is on this machine */
	struct source_line *lines;
	size_t n_lines;
	struct function *functions;
	size_t n_functions;
};

/* ---- branches ---- */

static int add_branch(void *ctx, uint64_t addr, const struct rvt_insn *insn)
{
	struct source_branch branch = { .addr = addr };
	struct lcov *lcov = ctx;
	Dwarf_Line *row;

	if (insn->iclass != RVT_INSN_BRANCH)
		return 0;
	row = source_file_line(lcov->file, addr);
	branch.executed = executed_count(lcov->executed, addr);
	branch.taken = executed_taken(lcov->executed, addr);
	branch.file = row && !dwarf_lineno(row, &branch.line) ? dwarf_linesrc(row, NULL, NULL) :
		      NULL;
	if (!branch.file || !branch.line)
		return 0;
	if (array_reserve(&lcov->branches, &lcov->branches_room, lcov->n_branches, 1))
		return -ENOMEM;
	lcov->branches[lcov->n_branches++] = branch;
	return 0;
}

/* ---- lines and functions ---- */

/* Adds one row of the line table: code of a source line begins at @addr. */
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
							     executed_count(lcov->executed, addr) };
	return 0;
}

static int add_function(struct lcov *lcov, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *file = dwarf_decl_file(die);
	Dwarf_Addr addr;
	int line;

	/* has no code of its own: inlined everywhere, or only declared */
	if (!name || !file || dwarf_decl_line(die, &line) || dwarf_entrypc(die, &addr))
		return 0;
	if (array_grow(&lcov->functions, lcov->n_functions))
		return -ENOMEM;
	lcov->functions[lcov->n_functions++] = (struct function){
		file, name, line, executed_count(lcov->executed, addr)
	};
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

static int by_branch(const void *a, const void *b)
{
	const struct source_branch *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (!order)
		order = x->line - y->line;
	return order ? order : x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Writes one way of a branch; "-" if the branch was never reached. */
static void write_way(int line, unsigned int block, unsigned int way, uint64_t executed,
		      uint64_t count, FILE *out)
{
	fprintf(out, "BRDA:%d,%u,%u,", line, block, way);
	if (executed)
		fprintf(out, "%" PRIu64 "\n", count);
	else
		fputs("-\n", out);
}

/* Writes two ways of each branch: it was taken, and it fell through. */
static void write_branches(const struct lcov *lcov, const char *file, FILE *out)
{
	unsigned int found = 0, hit = 0, block = 0;

	for (size_t i = 0; i < lcov->n_branches; i++) {
		const struct source_branch *branch = &lcov->branches[i];
		uint64_t executed = branch->executed, taken = branch->taken, through;

		if (strcmp(branch->file, file))
			continue;
		block = found && branch->line == branch[-1].line ? block + 1 : 0;
		if (executed < taken)
			executed = taken;
		through = executed - taken;
		write_way(branch->line, block, 0, executed, taken, out);
		write_way(branch->line, block, 1, executed, through, out);
		found += 2;
		hit += !!taken + !!through;
	}
	if (found)
		fprintf(out, "BRF:%u\nBRH:%u\n", found, hit);
}

/*
 * Writes the lines of a file. A line with several pieces of code ran as often as the one that ran
 * most.
 */
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
		/* adds up the copies that several compilation units have */
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
	if (lcov->n_branches)
		qsort(lcov->branches, lcov->n_branches, sizeof(*lcov->branches), by_branch);
	fputs("TN:\n", out);
	for (size_t i = 0; i < lcov->n_lines; ) {
		const char *file = lcov->lines[i].file;

		if (lcov->some_here && access(file, R_OK)) {
			while (i < lcov->n_lines && !strcmp(lcov->lines[i].file, file))
				i++;
			continue;
		}
		fputs("SF:", out);
		put_visible(out, file);
		fputc('\n', out);
		write_functions(lcov, file, out);
		write_branches(lcov, file, out);
		i = write_lines(lcov, i, out);
		fputs("end_of_record\n", out);
	}
}

/*
 * Finds out whether this machine has any of the sources. If so, only these are written, as a report
 * fails on a missing one; if not, all are, as another machine may have them.
 */
static void look_for_sources(struct lcov *lcov)
{
	const char *last = "";

	for (size_t i = 0; i < lcov->n_lines && !lcov->some_here; i++) {
		if (!strcmp(lcov->lines[i].file, last))
			continue;
		last = lcov->lines[i].file;
		lcov->some_here = !access(last, R_OK);
	}
}

int lcov_write(const struct code_counts *counts, const char *path,
	       const struct rvt_session_options *options, FILE *out)
{
	struct srclines *srclines = srclines_create(options->symfs, NULL);
	struct lcov lcov = { .executed = executed_create(counts) };
	uint64_t bias;
	Dwarf *dwarf;
	int err = srclines && lcov.executed ? 0 : -ENOMEM;

	if (!err) {
		lcov.file = srclines_file(srclines, path);
		dwarf = lcov.file ? source_file_dwarf(lcov.file, &bias) : NULL;
		err = dwarf ? read_source(&lcov, dwarf) : 0;
		if (!err && !lcov.n_lines)
			err = cmd_error(-ENOENT, "%s has no source lines: compile it with -g, or "
					"install its debug file below --symfs", path);
		if (!err)
			err = executed_each(source_file_module(lcov.file), add_branch, &lcov);
		if (!err) {
			look_for_sources(&lcov);
			write_all(&lcov, out);
		}
	}
	srclines_destroy(srclines);
	executed_destroy(lcov.executed);
	free(lcov.branches);
	free(lcov.lines);
	free(lcov.functions);
	return err;
}
