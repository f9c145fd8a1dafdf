// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/annotate.h"
#include "common/text.h"
#include "util/array.h"

#define TAB 8

struct source {
	struct source *next;
	char *path;
	char **lines;
	size_t n;
};

struct sources {
	const char *symfs;
	struct source *list;
};

struct sources *sources_create(const char *symfs)
{
	struct sources *sources = calloc(1, sizeof(*sources));

	if (sources)
		sources->symfs = symfs;
	return sources;
}

void sources_destroy(struct sources *sources)
{
	while (sources && sources->list) {
		struct source *source = sources->list;

		sources->list = source->next;
		for (size_t i = 0; i < source->n; i++)
			free(source->lines[i]);
		free(source->lines);
		free(source->path);
		free(source);
	}
	free(sources);
}

static FILE *open_below(const char *directories, const char *path)
{
	for (const char *at = directories; at && *at; at += strspn(at, ":")) {
		size_t len = strcspn(at, ":");
		char *name = NULL;
		FILE *in;

		if (asprintf(&name, "%.*s/%s", (int)len, at, path) < 0)
			return NULL;
		in = fopen(name, "r");
		free(name);
		if (in)
			return in;
		at += len;
	}
	return fopen(path, "r");
}

/* Replaces tabs by spaces; malloc'd. NULL: out of memory. */
static char *expand_tabs(const char *line)
{
	char *text = NULL;
	size_t len, column = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (; *line; line++) {
		int width = *line == '\t' ? TAB - column % TAB : 1;

		fprintf(out, "%*c", width, *line == '\t' ? ' ' : *line);
		column += width;
	}
	fclose(out);
	return text;
}

static void read_lines(struct source *source, FILE *in)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	while ((len = getline(&line, &room, in)) >= 0) {
		char *expanded, *visible;

		if (len && line[len - 1] == '\n')
			line[len - 1] = 0;
		expanded = expand_tabs(line);
		visible = expanded ? text_visible(expanded) : NULL;
		free(expanded);
		if (!visible || array_grow(&source->lines, source->n)) {
			free(visible);
			break;
		}
		source->lines[source->n++] = visible;
	}
	free(line);
}

static struct source *get_source(struct sources *sources, const char *path)
{
	struct source *source = sources->list;
	FILE *in;

	while (source && strcmp(source->path, path))
		source = source->next;
	if (source)
		return source;
	source = calloc(1, sizeof(*source));
	if (source)
		source->path = strdup(path);
	if (!source || !source->path) {
		free(source);
		return NULL;
	}
	in = open_below(sources->symfs, path);
	if (in) {
		read_lines(source, in);
		fclose(in);
	}
	source->next = sources->list;
	return sources->list = source;
}

const char *sources_line(struct sources *sources, const char *file, int line)
{
	const struct source *source = get_source(sources, file);

	return source && line > 0 && (size_t)line <= source->n ? source->lines[line - 1] : NULL;
}
