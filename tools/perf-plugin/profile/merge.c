// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "common/cmd.h"
#include "profile/merge.h"

/* A line of a profile: its text before the count identifies what is counted. */
struct merged {
	unsigned int section;
	char *key;
	uint64_t count, mispredicted;
};

/* How the lines of a format look. */
struct layout {
	const char *name;
	unsigned int sections;	/* each begins with its number of lines; 0: no sections */
	char separator;		/* between what is counted and the count */
	bool bolt;		/* lines B, with mispredictions at the end, and F */
};

struct merge {
	const struct layout *layout;
	void *tree;
	struct merged **list;
	size_t n;
};

static const struct layout layouts[] = {
	{ "llvm", 2, ':', false },
	{ "autofdo", 3, ':', false },
	{ "bolt", 0, ' ', true },
	{ "folded", 0, ' ', false },
};

struct merge *merge_create(const char *format)
{
	struct merge *merge = NULL;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (strcmp(layouts[i].name, format))
			continue;
		merge = calloc(1, sizeof(*merge));
		if (merge)
			merge->layout = &layouts[i];
	}
	return merge;
}

static void keep(void *node)
{
	(void)node;
}

void merge_destroy(struct merge *merge)
{
	if (!merge)
		return;
	tdestroy(merge->tree, keep);
	for (size_t i = 0; i < merge->n; i++) {
		free(merge->list[i]->key);
		free(merge->list[i]);
	}
	free(merge->list);
	free(merge);
}

static int compare(const void *a, const void *b)
{
	const struct merged *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return strcmp(x->key, y->key);
}

static int by_key(const void *a, const void *b)
{
	return compare(*(struct merged *const *)a, *(struct merged *const *)b);
}

static int add(struct merge *merge, const struct merged *what)
{
	struct merged **found = tfind(what, &merge->tree, compare), *entry;

	if (found) {
		(*found)->count += what->count;
		(*found)->mispredicted += what->mispredicted;
		return 0;
	}
	if (array_grow(&merge->list, merge->n))
		return -ENOMEM;
	entry = malloc(sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	*entry = *what;
	entry->key = strdup(what->key);
	if (!entry->key || !tsearch(entry, &merge->tree, compare)) {
		free(entry->key);
		free(entry);
		return -ENOMEM;
	}
	merge->list[merge->n++] = entry;
	return 0;
}

/* Cuts the last number off @line, and sets *@number to it. */
static bool cut_number(char *line, char separator, uint64_t *number)
{
	char *at = strrchr(line, separator), *end;

	if (!at || at == line || at[1] < '0' || at[1] > '9')
		return false;
	errno = 0;
	*number = strtoull(at + 1, &end, 10);
	*at = '\0';
	return !*end && !errno;
}

static bool parse_line(const struct layout *layout, char *line, struct merged *entry)
{
	if (layout->bolt && *line != 'B' && *line != 'F')
		return false;
	if (layout->bolt && *line == 'B' && !cut_number(line, ' ', &entry->mispredicted))
		return false;
	entry->key = line;
	return cut_number(line, layout->separator, &entry->count);
}

/* Parses the head of a section: the number of lines that follow. */
static bool parse_number(const char *line, uint64_t *number)
{
	char *end;

	*number = strtoull(line, &end, 10);
	return *line >= '0' && *line <= '9' && !*end;
}

int merge_add(struct merge *merge, FILE *in, const char *name)
{
	const struct layout *layout = merge->layout;
	unsigned int section = 0, number = 0;
	uint64_t left = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int err = 0;

	while (!err && (len = getline(&line, &room, in)) >= 0) {
		struct merged entry = { 0 };

		number++;
		if (len && line[len - 1] == '\n')
			line[--len] = '\0';
		if (layout->sections && !left) {
			if (section == layout->sections || !parse_number(line, &left))
				err = -EILSEQ;
			section++;
			continue;
		}
		entry.section = section;
		left -= !!left;
		err = parse_line(layout, line, &entry) ? add(merge, &entry) : -EILSEQ;
	}
	free(line);
	if (err == -EILSEQ)
		return cmd_error(err, "%s:%u: this is no line of the format %s", name, number,
				 layout->name);
	if (!err && ferror(in))
		return cmd_error(-EIO, "cannot read %s", name);
	if (!err && (left || section != layout->sections))
		return cmd_error(-EILSEQ, "%s: ends after line %u, in the middle of a profile of "
				 "the format %s", name, number, layout->name);
	return err ? cmd_error(err, "out of memory") : 0;
}

static void write_entry(const struct merge *merge, const struct merged *entry, FILE *out)
{
	fprintf(out, "%s%c%" PRIu64, entry->key, merge->layout->separator, entry->count);
	if (merge->layout->bolt && *entry->key == 'B')
		fprintf(out, " %" PRIu64, entry->mispredicted);
	fputc('\n', out);
}

int merge_write(struct merge *merge, FILE *out)
{
	unsigned int sections = merge->layout->sections;
	size_t next = 0;

	if (merge->n)
		qsort(merge->list, merge->n, sizeof(*merge->list), by_key);
	for (unsigned int section = !!sections; section <= sections; section++) {
		size_t end = next;

		while (end < merge->n && merge->list[end]->section == section)
			end++;
		if (sections)
			fprintf(out, "%zu\n", end - next);
		for (; next < end; next++)
			write_entry(merge, merge->list[next], out);
	}
	return ferror(out) ? -EIO : 0;
}
