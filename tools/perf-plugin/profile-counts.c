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
#include "cmd.h"
#include "names.h"
#include "profile-flat.h"

#define FIRST_LINE "rvtrace counts 1\n"

/* ---- writing ---- */

struct dsos {
	const struct dso **list;
	size_t n, room;
};

static void collect(const void *node, VISIT which, void *closure)
{
	struct dsos *dsos = closure;

	if (which == postorder || which == leaf) {
		if (dsos->list)
			dsos->list[dsos->n] = *(struct dso *const *)node;
		dsos->n++;
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct dso *const *)a)->name, (*(const struct dso *const *)b)->name);
}

static void write_dso(const struct flat *flat, const struct dso *dso, FILE *out)
{
	fprintf(out, "file %s\n", dso->name);
	if (dso->path)
		fprintf(out, "path %s\n", dso->path);
	fprintf(out, "bases %" PRIx64 " %" PRIx64 "\nran %" PRIu64 "\n", dso->bases.text,
		dso->bases.load, dso->insns);
	for (size_t i = 0; i < flat->n; i++) {
		const struct counter *counter = flat->list[i];

		if (counter->dso == dso)
			fprintf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
				counter->branch ? 'B' : 'F', counter->from, counter->to,
				counter->count);
	}
}

int counts_write(const struct flat *flat, FILE *out)
{
	struct dsos dsos = { 0 };

	twalk_r(flat->dsos, collect, &dsos);
	dsos.list = calloc(dsos.n + 1, sizeof(*dsos.list));
	if (!dsos.list)
		return -ENOMEM;
	dsos.n = 0;
	twalk_r(flat->dsos, collect, &dsos);
	qsort(dsos.list, dsos.n, sizeof(*dsos.list), by_name);
	fputs(FIRST_LINE, out);
	for (size_t i = 0; i < dsos.n; i++)
		write_dso(flat, dsos.list[i], out);
	free(dsos.list);
	return ferror(out) ? -EIO : 0;
}

/* ---- reading ---- */

/* The file that lines are about, as far as it was told. */
struct reading {
	struct flat *flat;
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
	const char *symfs = r->flat->options->owner.symfs;
	const char *name = r->name ? names_keep(&r->flat->names, r->name) : NULL;
	char *path = r->path;

	if (!r->name)
		return -EILSEQ;
	if (name && symfs && *name == '/' && asprintf(&path, "%s%s", symfs, name) < 0)
		return -ENOMEM;
	r->dso = name ? flat_dso(r->flat, name, path, &r->bases) : NULL;
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
	counter = flat_counter(r->flat, &key);
	if (counter)
		counter->count += times;
	return counter ? 0 : -ENOMEM;
}

int counts_read(void *data, FILE *in, const char *name)
{
	struct reading r = { .flat = data };
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
