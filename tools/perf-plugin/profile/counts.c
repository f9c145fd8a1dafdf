// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The format counts: a flat profile of all files, which every other flat format can be made from.
 * After the first line, for each file:
 *
 *	file NAME
 *	build-id ID			(if it has one, in hexadecimal)
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
#include "util/array.h"
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

/* Compares by file, and then as counters_sort() does. */
static int by_dso(const void *a, const void *b)
{
	const struct counter *x = *(struct counter *const *)a, *y = *(struct counter *const *)b;

	if (x->dso != y->dso)
		return x->dso < y->dso ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->branch - y->branch;
}

/* Copies .list and sorts it by file. NULL: out of memory. */
static struct counter **sort_by_dso(const struct counters *counters)
{
	struct counter **list = calloc(counters->n + 1, sizeof(*list));

	if (!list || !counters->n)
		return list;
	memcpy(list, counters->list, counters->n * sizeof(*list));
	qsort(list, counters->n, sizeof(*list), by_dso);
	return list;
}

/* Finds the first counter of @dso in @list, or where it would be. */
static size_t find_dso(struct counter *const *list, size_t n, const struct dso *dso)
{
	size_t from = 0;

	while (from < n) {
		size_t middle = from + (n - from) / 2;

		if (list[middle]->dso < dso)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

/* Writes what @list, all @n counters by file, has of @dso. */
static void write_dso(struct counter *const *list, size_t n, const struct dso *dso, FILE *out)
{
	put_line("file", dso->name, out);
	if (dso->build_id)
		put_line("build-id", dso->build_id, out);
	if (dso->path)
		put_line("path", dso->path, out);
	fprintf(out, "bases %" PRIx64 " %" PRIx64 "\nran %" PRIu64 "\n", dso->bases.text,
		dso->bases.load, dso->insns);
	for (size_t i = find_dso(list, n, dso); i < n && list[i]->dso == dso; i++) {
		const struct counter *counter = list[i];

		fprintf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
			counter->branch ? 'B' : 'F', counter->from, counter->to, counter->count);
	}
}

struct listing {
	const struct dso **list;
	size_t n;
	int err;
};

static void list_dso(const void *node, VISIT which, void *closure)
{
	struct listing *listing = closure;

	if (listing->err || (which != postorder && which != leaf))
		return;
	listing->err = array_grow(&listing->list, listing->n);
	if (!listing->err)
		listing->list[listing->n++] = *(struct dso *const *)node;
}

static int by_name(const void *a, const void *b)
{
	const struct dso *x = *(const struct dso *const *)a, *y = *(const struct dso *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->build_id ? x->build_id : "",
				      y->build_id ? y->build_id : "");
}

int counts_write(const struct counters *counters, FILE *out)
{
	struct listing listing = { .list = NULL };
	struct counter **list = sort_by_dso(counters);

	if (!list)
		return -ENOMEM;
	fputs(FIRST_LINE, out);
	twalk_r(counters->dsos, list_dso, &listing);
	if (listing.n)
		qsort(listing.list, listing.n, sizeof(*listing.list), by_name);
	for (size_t i = 0; i < listing.n && !listing.err; i++)
		write_dso(list, counters->n, listing.list[i], out);
	free(listing.list);
	free(list);
	return listing.err ? listing.err : ferror(out) ? -EIO : 0;
}

/* ---- reading ---- */

/* State while reading; .file is what the lines so far say of the file at hand. */
struct reading {
	struct counters *counters;
	const char *symfs;
	struct dso file;
	struct dso *dso;	/* .file, from the line "ran" on */
};

bool counts_recognize(FILE *in)
{
	char line[sizeof(FIRST_LINE)] = "";
	bool is = fgets(line, sizeof(line), in) && !strcmp(line, FIRST_LINE);

	rewind(in);
	return is;
}

static bool is_lower(const struct rvt_bases *a, const struct rvt_bases *b)
{
	return a->text != b->text ? a->text < b->text : a->load < b->load;
}

static int begin_dso(struct reading *r, uint64_t insns)
{
	struct dso file = r->file;

	if (!file.name)
		return -EILSEQ;
	if (r->symfs && *file.name == '/' && asprintf(&file.path, "%s%s", r->symfs, file.name) < 0)
		return -ENOMEM;
	r->dso = counters_dso(r->counters, &file);
	if (file.path != r->file.path)
		free(file.path);
	if (!r->dso)
		return -ENOMEM;
	r->dso->insns += insns;
	/* files of one name can differ: the lowest bases win, whatever the order */
	if (is_lower(&file.bases, &r->dso->bases))
		r->dso->bases = file.bases;
	return 0;
}

static int set_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
	return *text ? 0 : -ENOMEM;
}

static void forget_file(struct reading *r)
{
	free(r->file.name);
	free(r->file.build_id);
	free(r->file.path);
	r->file = (struct dso){ .name = NULL };
	r->dso = NULL;
}

static int read_line(struct reading *r, const char *line)
{
	struct counter key = { .branch = *line == 'B' }, *counter;
	uint64_t insns, times;
	char kind;

	if (!strncmp(line, "file ", 5)) {
		forget_file(r);
		return set_text(&r->file.name, line + 5);
	}
	if (!strncmp(line, "build-id ", 9))
		return set_text(&r->file.build_id, line + 9);
	if (!strncmp(line, "path ", 5))
		return set_text(&r->file.path, line + 5);
	if (sscanf(line, "bases %" SCNx64 " %" SCNx64, &r->file.bases.text,
		   &r->file.bases.load) == 2)
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
	forget_file(&r);
	return err == -EILSEQ ? cmd_error(err, "%s:%u: this is no line of the format counts", name,
					  number) : err;
}
