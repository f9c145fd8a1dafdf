// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The format counts: a flat profile of all files, which every other flat format can be made from.
 * After the first line, for each file:
 *
 *	file NAME
 *	path WHERE IT WAS FOUND		(if it was)
 *	bases TEXT LOAD			(struct rvt_bases)
 *	ran INSTRUCTIONS
 *	F FIRST LAST TIMES		a straight line of code, from instruction to instruction
 *	B FROM TO TIMES			a branch
 *
 * Addresses are those of the file, in hexadecimal.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/text.h"
#include "profile/profile.h"

#define FIRST_LINE "rvtrace counts 1\n"

/* ---- writing ---- */

static void put_line(const char *key, const char *name, FILE *out)
{
	fprintf(out, "%s ", key);
	put_visible(out, name);
	fputc('\n', out);
}

static void write_dso(const struct counters *counters, const struct dso *dso, FILE *out)
{
	put_line("file", dso->name, out);
	if (dso->path)
		put_line("path", dso->path, out);
	fprintf(out, "bases %" PRIx64 " %" PRIx64 "\nran %" PRIu64 "\n", dso->bases.text,
		dso->bases.load, dso->insns);
	for (size_t i = 0; i < counters->n; i++) {
		const struct counter *counter = counters->list[i];

		if (counter->dso == dso)
			fprintf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
				counter->branch ? 'B' : 'F', counter->from, counter->to,
				counter->count);
	}
}

struct writing {
	const struct counters *counters;
	FILE *out;
};

/* The tree is sorted by name. */
static void visit(const void *node, VISIT which, void *closure)
{
	const struct writing *writing = closure;

	if (which == postorder || which == leaf)
		write_dso(writing->counters, *(struct dso *const *)node, writing->out);
}

int counts_write(const struct counters *counters, FILE *out)
{
	struct writing writing = { counters, out };

	fputs(FIRST_LINE, out);
	twalk_r(counters->dsos, visit, &writing);
	return ferror(out) ? -EIO : 0;
}

/* ---- reading ---- */

/* The file that lines are about, as far as it was told. */
struct reading {
	struct counters *counters;
	const char *symfs;
	char *name, *path;
	struct rvt_bases bases;
	struct dso *dso;	/* from the line "ran" on */
};

bool counts_recognize(FILE *in)
{
	char line[sizeof(FIRST_LINE)] = "";
	bool is = fgets(line, sizeof(line), in) && !strcmp(line, FIRST_LINE);

	rewind(in);
	return is;
}

static int begin_dso(struct reading *r, uint64_t insns)
{
	char *path = r->path;

	if (!r->name)
		return -EILSEQ;
	if (r->symfs && *r->name == '/' && asprintf(&path, "%s%s", r->symfs, r->name) < 0)
		return -ENOMEM;
	r->dso = counters_dso(r->counters, r->name, path, &r->bases);
	if (path != r->path)
		free(path);
	if (!r->dso)
		return -ENOMEM;
	r->dso->insns += insns;
	return 0;
}

static int set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
	return *text ? 0 : -ENOMEM;
}

static int read_line(struct reading *r, const char *line)
{
	struct counter key = { .branch = *line == 'B' }, *counter;
	uint64_t insns, times;
	char kind;

	if (!strncmp(line, "file ", 5)) {
		free(r->path);
		r->path = NULL;
		r->dso = NULL;
		return set_text(&r->name, line + 5);
	}
	if (!strncmp(line, "path ", 5))
		return set_text(&r->path, line + 5);
	if (sscanf(line, "bases %" SCNx64 " %" SCNx64, &r->bases.text, &r->bases.load) == 2)
		return 0;
	if (sscanf(line, "ran %" SCNu64, &insns) == 1)
		return begin_dso(r, insns);
	if (!r->dso || sscanf(line, "%c %" SCNx64 " %" SCNx64 " %" SCNu64, &kind, &key.from,
			      &key.to, &times) != 4 || (kind != 'F' && kind != 'B'))
		return -EILSEQ;
	key.dso = r->dso;
	counter = counters_get(r->counters, &key);
	if (counter)
		counter->count += times;
	return counter ? 0 : -ENOMEM;
}

int counts_read(struct counters *counters, FILE *in, const char *name, const char *symfs)
{
	struct reading r = { .counters = counters, .symfs = symfs };
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int err = 0;

	while (!err && (len = getline(&line, &room, in)) > 0) {
		if (number++ == 0 && !strcmp(line, FIRST_LINE))
			continue;
		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		err = read_line(&r, line);
	}
	free(line);
	free(r.name);
	free(r.path);
	return err == -EILSEQ ? cmd_error(err, "%s:%u: this is no line of the format counts", name,
					  number) : err;
}
