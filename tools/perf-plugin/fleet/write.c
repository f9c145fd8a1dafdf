// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writes the result: a directory of files. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/json.h"
#include "common/output.h"
#include "common/text.h"
#include "fleet/fleet.h"

struct tally {
	uint64_t insns;
	size_t whole, lossy, failed, no_report;
};

static struct tally count_recordings(const struct sums *sums)
{
	struct tally tally = { .insns = 0 };

	for (size_t i = 0; i < sums->n_recordings; i++) {
		const struct recording *recording = sums->recordings[i];

		tally.insns += recording->insns;
		tally.failed += recording->failed;
		tally.lossy += recording->lost && !recording->failed;
		tally.whole += !recording->lost && !recording->failed;
		tally.no_report += recording->no_report && !recording->failed;
	}
	return tally;
}

/* ---- report ---- */

static void print_head(const struct sums *sums, const struct tally *tally, FILE *out)
{
	fprintf(out, "# %" PRIu64 " instructions executed, counted from %zu recordings\n",
		tally->insns, sums->n_recordings - tally->failed - tally->no_report);
	if (tally->no_report)
		fprintf(out, "# %zu more are counts, which have no functions: they are in the "
			"profiles only\n", tally->no_report);
	if (tally->failed || tally->lossy)
		fprintf(out, "# NOT ALL of the flow is here: some of it is lost in %zu recordings, "
			"and %zu failed; see the file losses\n", tally->lossy, tally->failed);
	else
		fputs("# all of the trace was decoded, nothing is lost\n", out);
	fprintf(out, "#\n# Overhead     Instructions      Branches       Entered  %-16s  %-24s  "
		"Symbol\n# ........ ................ ............. .............  ................"
		"  ........................  ........................\n#\n", "Command",
		"Shared Object");
}

static void print_row(const struct row *row, double percent, FILE *out)
{
	const char *base = strrchr(row->dso, '/');

	fprintf(out,
		"   %6.2f%% %16" PRIu64 " %13" PRIu64 " %13" PRIu64 "  %-16s  %-24s  [%c] %s\n",
		percent, row->insns, row->branches, row->entered, row->comm,
		base ? base + 1 : row->dso, row->kernel ? 'k' : '.', row->symbol);
}

static void json_row(const struct row *row, double percent, FILE *out)
{
	struct json json = json_begin(out, "row");

	json_real(&json, "percent", percent);
	json_number(&json, "insns", row->insns);
	json_number(&json, "branches", row->branches);
	json_number(&json, "entered", row->entered);
	json_text(&json, "comm", row->comm);
	json_text(&json, "dso", row->dso);
	json_text(&json, "sym", row->symbol);
	json_flag(&json, "kernel", row->kernel);
	json_end(&json);
}

static int write_report(const struct fleet_options *options, struct sums *sums, FILE *out)
{
	const struct tally tally = count_recordings(sums);

	if (!options->json)
		print_head(sums, &tally, out);
	for (size_t i = 0; i < sums->n_rows; i++) {
		const struct row *row = sums->rows[i];
		double percent = tally.insns ? 100.0 * row->insns / tally.insns : 0;

		if (options->json)
			json_row(row, percent, out);
		else
			print_row(row, percent, out);
	}
	return ferror(out) ? -EIO : 0;
}

/* ---- losses ---- */

static void print_said(const char *said, FILE *out)
{
	while (*said) {
		size_t len = strcspn(said, "\n");

		fprintf(out, "        %.*s\n", (int)len, said);
		said += len + !!said[len];
	}
}

static void print_recording(const struct recording *r, FILE *out)
{
	fprintf(out, "%-6s  ", r->failed ? "FAILED" : r->lost ? "losses" : "whole");
	put_visible(out, r->path);
	if (r->no_report && !r->failed)
		fputs(": counts", out);
	else if (!r->failed)
		fprintf(out, ": %" PRIu64 " instructions of %" PRIu64 " bytes of trace", r->insns,
			r->bytes);
	if (r->lost && !r->failed)
		fprintf(out, "; %" PRIu64 " gaps, %" PRIu64 " of them for want of code (%" PRIu64
			" files), %" PRIu64 " bytes damaged, %" PRIu64 " overruns", r->gaps,
			r->gaps_no_code, r->files_missing, r->bytes_lost, r->overruns);
	fputc('\n', out);
	if (r->said && (r->failed || r->lost))
		print_said(r->said, out);
}

static int write_losses(const struct fleet_options *options, struct sums *sums, FILE *out)
{
	const struct tally tally = count_recordings(sums);

	if (!options->json)
		fprintf(out, "# %zu recordings: %zu whole, %zu with losses, %zu failed\n",
			sums->n_recordings, tally.whole, tally.lossy, tally.failed);
	for (size_t i = 0; i < sums->n_recordings; i++) {
		if (options->json)
			sums_write_recording(sums->recordings[i], out);
		else
			print_recording(sums->recordings[i], out);
	}
	return ferror(out) ? -EIO : 0;
}

/* ---- profiles ---- */

static int write_counts(const struct fleet_options *options, struct sums *sums, FILE *out)
{
	(void)options;
	return counts_write(&sums->counters, out);
}

static int write_folded(const struct fleet_options *options, struct sums *sums, FILE *out)
{
	(void)options;
	return sums->stacks ? merge_write(sums->stacks, out) : 0;
}

typedef int (*writer)(const struct fleet_options *options, struct sums *sums, FILE *out);

/* Returns the output of @write as input for another format. */
static FILE *as_input(const struct fleet_options *options, struct sums *sums, writer write)
{
	FILE *file = tmpfile();

	if (file && write(options, sums, file)) {
		fclose(file);
		return NULL;
	}
	if (file)
		rewind(file);
	return file;
}

/* Writes a format: made from counts if possible (profile_format.add), else from stacks. */
static int write_format(const struct fleet_options *options, struct sums *sums,
			const struct profile_format *format, FILE *out)
{
	const struct rvt_session_options session = { .size = sizeof(session) };
	FILE *in = as_input(options, sums, format->add ? write_counts : write_folded);
	void *data = in ? format->create(NULL, &session, out) : NULL;
	int err = data ? 0 : -ENOMEM;

	if (!err)
		err = format->add ? flat_read(data, in, "counts") : tree_add_folded(data, in);
	if (!err)
		err = format->write(data, format->name, options->dso, out);
	if (data)
		format->destroy(data);
	if (in)
		fclose(in);
	return err;
}

/* ---- files ---- */

/* Opens the file @name of the result. The caller keeps *@path and *@file until close_result(). */
static FILE *open_result(const struct fleet_options *options, const char *name, char **path,
			 struct output_file *file)
{
	FILE *out;

	if (asprintf(path, "%s/%s", options->output, name) < 0)
		return NULL;
	out = output_open(file, *path);
	if (!out)
		free(*path);
	return out;
}

static int close_result(FILE *out, char *path, struct output_file *file, int err)
{
	err = output_close(file, out, err);
	free(path);
	return err;
}

static int write_file(const struct fleet_options *options, struct sums *sums, const char *name,
		      writer write)
{
	struct output_file file;
	char *path;
	FILE *out = open_result(options, name, &path, &file);

	return out ? close_result(out, path, &file, write(options, sums, out)) : -EIO;
}

static int write_profile(const struct fleet_options *options, struct sums *sums, const char *name)
{
	const struct profile_format *format = profile_format(name);
	struct output_file file;
	char *path;
	FILE *out = format ? open_result(options, name, &path, &file) : NULL;

	if (!out)
		return -EIO;
	return close_result(out, path, &file, write_format(options, sums, format, out));
}

static int write_profiles(const struct fleet_options *options, struct sums *sums)
{
	char *words = strdup(options->formats ? options->formats : ""), *rest = words, *word;
	int err = words ? 0 : -ENOMEM;

	while (!err && (word = strsep(&rest, ",")))
		if (*word && strcmp(word, "counts") && strcmp(word, "folded"))
			err = write_profile(options, sums, word);
	free(words);
	return err;
}

int fleet_write(const struct fleet_options *options, struct sums *sums)
{
	int err;

	sums_sort(sums);
	err = write_file(options, sums, "losses", write_losses);
	if (!err)
		err = write_file(options, sums, "report", write_report);
	if (!err)
		err = write_file(options, sums, "counts", write_counts);
	if (!err && options->stacks)
		err = write_file(options, sums, "folded", write_folded);
	return err ? err : write_profiles(options, sums);
}

int fleet_write_requeue(const struct fleet_options *options, const struct units *units,
			const struct sums *sums)
{
	FILE *out = fopen(options->requeue, "w");

	if (!out)
		return cmd_error(-errno, "%s: %s", options->requeue, strerror(errno));
	for (size_t i = 0; !sums && i < units->n; i++)
		if (!units->list[i].share)
			fprintf(out, "%s\n", units->list[i].path);
	for (size_t i = 0; sums && i < sums->n_recordings; i++)
		if (sums->recordings[i]->failed || sums->recordings[i]->files_missing)
			fprintf(out, "%s\n", sums->recordings[i]->path);
	return fclose(out) ? cmd_error(-errno, "%s: %s", options->requeue, strerror(errno)) : 0;
}
