// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace report` of Control Transfer Records. */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "common/cmd.h"
#include "ctr/ctr.h"
#include "common/places.h"

/* A line of the report: its text, and its counts. */
struct line {
	char *text;
	uint64_t count, mispredicted, cycles, with_cycles;
};

struct ctr_report {
	struct view *view;
	struct places *places;
	void *tree;
	struct line **lines;
	size_t n;
	uint64_t samples, total;
	bool stacks;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static int by_count(const void *a, const void *b)
{
	const struct line *x = *(struct line *const *)a, *y = *(struct line *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* Finds or makes the line with @text, and frees @text or keeps it. NULL: out of memory. */
static struct line *get_line(struct ctr_report *report, char *text)
{
	struct line key = { .text = text }, **found, *line;

	if (!text)
		return NULL;
	found = tfind(&key, &report->tree, by_text);
	if (found) {
		free(text);
		return *found;
	}
	if (array_grow(&report->lines, report->n)) {
		free(text);
		return NULL;
	}
	line = calloc(1, sizeof(*line));
	if (!line || (line->text = text, !tsearch(line, &report->tree, by_text))) {
		free(line);
		free(text);
		return NULL;
	}
	report->lines[report->n++] = line;
	return line;
}

static void put_symbol(FILE *out, struct ctr_report *report, const struct rvt_task *task,
		       uint64_t addr)
{
	const struct place *place;

	if (!addr) {
		fputs("[not recorded]", out);
		return;
	}
	place = places_find(report->places, task->space, addr);
	if (place->symbol)
		fputs(place->symbol, out);
	else
		fprintf(out, "%s", place->dso);
}

static char *describe_entry(struct ctr_report *report, const struct rvt_task *task,
			    const struct rvt_ctr_entry *entry)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fprintf(out, "%-14s ", rvt_ctr_type_name(entry->type));
	put_symbol(out, report, task, entry->source);
	fputs(" => ", out);
	put_symbol(out, report, task, entry->target);
	fclose(out);
	return text;
}

/* Describes the stack, the outermost call first, as in flame graphs. */
static char *describe_stack(struct ctr_report *report, const struct rvt_task *task,
			    const struct rvt_ctr_sample *sample)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct rvt_ctr_entry entry;

	if (!out)
		return NULL;
	for (unsigned int i = sample->n; i; i--) {
		rvt_ctr_get(sample, i - 1, &entry);
		put_symbol(out, report, task, entry.source);
		fputc(';', out);
	}
	put_symbol(out, report, task, sample->ip);
	fclose(out);
	return text;
}

static int on_sample(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task)
{
	struct ctr_report *report = ctx;
	struct rvt_ctr_entry entry;
	struct line *line;

	if (!ctr_wants(report->view, sample, task))
		return 0;
	report->samples++;
	if (sample->control & RVT_CTR_CONTROL_RASEMU) {
		report->stacks = true;
		report->total++;
		line = get_line(report, describe_stack(report, task, sample));
		if (line)
			line->count++;
		return line ? 0 : -ENOMEM;
	}
	for (unsigned int i = 0; !rvt_ctr_get(sample, i, &entry); i++) {
		line = get_line(report, describe_entry(report, task, &entry));
		if (!line)
			return -ENOMEM;
		report->total++;
		line->count++;
		line->mispredicted += entry.mispredicted;
		line->with_cycles += entry.cycles_valid;
		line->cycles += entry.cycles;
	}
	return 0;
}

static void print_lines(struct ctr_report *report, uint64_t max_lines)
{
	if (report->n)
		qsort(report->lines, report->n, sizeof(*report->lines), by_count);
	printf("# %" PRIu64 " samples, %" PRIu64 " %s\n", report->samples, report->total,
	       report->stacks ? "call stacks" : "transfers");
	if (report->stacks)
		printf("# %8s %8s  stack\n", "share", "count");
	else
		printf("# %8s %8s %9s %8s  transfer\n", "share", "count", "mispred.", "cycles");
	for (size_t i = 0; i < report->n && (!max_lines || i < max_lines); i++) {
		const struct line *line = report->lines[i];

		printf("%9.2f%% %8" PRIu64, 100.0 * line->count / report->total, line->count);
		if (!report->stacks)
			printf(" %8.2f%%", 100.0 * line->mispredicted / line->count);
		if (!report->stacks && line->with_cycles)
			printf(" %8.1f", (double)line->cycles / line->with_cycles);
		else if (!report->stacks)
			printf(" %8s", "-");
		printf("  %s\n", line->text);
	}
}

static void no_free(void *node)
{
	(void)node;
}

int ctr_report(struct view *view, uint64_t max_lines)
{
	struct rvt_session *session = view_session(view);
	struct ctr_report report = { .view = view, .places = places_create(session) };
	const struct rvt_session_ctr_sink sink = { sizeof(sink), &report, on_sample, view_warning };
	int err = report.places ? rvt_session_run_ctr(session, &sink) : -ENOMEM;

	if (err)
		cmd_error(0, "out of memory");
	else
		print_lines(&report, max_lines);
	tdestroy(report.tree, no_free);
	for (size_t i = 0; i < report.n; i++) {
		free(report.lines[i]->text);
		free(report.lines[i]);
	}
	free(report.lines);
	places_destroy(report.places);
	view_summary(view, 0);
	return err;
}
