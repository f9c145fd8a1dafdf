// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/json.h"
#include "fleet/sums.h"
#ifdef HAVE_JSON
#include <json-c/json.h>
#endif

#define FIRST_LINE "rvtrace fleet 1\n"
#define LAST_LINE "end\n"
#define FIRST_READ (64u << 10)	/* of a section */

static void keep(void *node)
{
	(void)node;
}

static void free_row(struct row *row)
{
	free(row->comm);
	free(row->dso);
	free(row->symbol);
	free(row);
}

static void free_recording(struct recording *recording)
{
	free(recording->path);
	free(recording->said);
	free(recording);
}

void sums_free(struct sums *sums)
{
	tdestroy(sums->row_tree, keep);
	tdestroy(sums->recording_tree, keep);
	for (size_t i = 0; i < sums->n_rows; i++)
		free_row(sums->rows[i]);
	for (size_t i = 0; i < sums->n_recordings; i++)
		free_recording(sums->recordings[i]);
	free(sums->rows);
	free(sums->recordings);
	free(sums->units);
	counters_free(&sums->counters);
	merge_destroy(sums->stacks);
	*sums = (struct sums){ .rows = NULL };
}

int sums_number(struct sums *sums, size_t n_units)
{
	sums->n_units = n_units;
	sums->units = calloc(n_units + 1, sizeof(*sums->units));
	return sums->units ? 0 : -ENOMEM;
}

/* ---- recordings ---- */

static int compare_recordings(const void *a, const void *b)
{
	const struct recording *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static struct recording *get_recording(struct sums *sums, const char *path)
{
	struct recording key = { .path = (char *)path }, **found, *recording;

	found = tfind(&key, &sums->recording_tree, compare_recordings);
	if (found)
		return *found;
	if (array_grow(&sums->recordings, sums->n_recordings))
		return NULL;
	recording = calloc(1, sizeof(*recording));
	if (!recording || !(recording->path = strdup(path)) ||
	    !tsearch(recording, &sums->recording_tree, compare_recordings)) {
		if (recording)
			free_recording(recording);
		return NULL;
	}
	return sums->recordings[sums->n_recordings++] = recording;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns whether the messages of @more replace those of @r. Those of the first share win, whatever
 * the order.
 */
static bool says_first(const struct recording *more, const struct recording *r)
{
	if (!r->said || more->said_share != r->said_share)
		return !r->said || more->said_share < r->said_share;
	return strcmp(more->said, r->said) < 0;
}

int sums_add_recording(struct sums *sums, const struct recording *more)
{
	struct recording *r = get_recording(sums, more->path);
	char *said = NULL;

	if (!r || (more->said && !(said = strdup(more->said))))
		return -ENOMEM;
	if (said && says_first(more, r)) {
		free(r->said);
		r->said = said;
		r->said_share = more->said_share;
	} else {
		free(said);
	}
	r->failed |= more->failed;
	r->lost |= more->lost;
	r->no_report |= more->no_report;
	r->insns += more->insns;
	r->gaps += more->gaps;
	r->gaps_no_code += more->gaps_no_code;
	r->bytes += more->bytes;
	r->bytes_lost += more->bytes_lost;
	r->overruns = max(r->overruns, more->overruns);
	r->records_lost = max(r->records_lost, more->records_lost);
	r->files_missing = max(r->files_missing, more->files_missing);
	return 0;
}

static void write_said(struct json *json, const struct recording *recording)
{
	char *lines = recording->said ? strdup(recording->said) : NULL, *rest = lines, *line;

	if (!lines)
		return;
	json_number(json, "said_share", recording->said_share);
	json_open_array(json, "said");
	while ((line = strsep(&rest, "\n")) && rest)
		json_text(json, NULL, line);
	json_close_array(json);
	free(lines);
}

void sums_write_recording(const struct recording *recording, FILE *out)
{
	struct json json = json_begin(out, "recording");

	json_text(&json, "path", recording->path);
	json_flag(&json, "failed", recording->failed);
	json_flag(&json, "lost", recording->lost);
	json_flag(&json, "counts_only", recording->no_report);
	json_number(&json, "insns", recording->insns);
	json_number(&json, "gaps", recording->gaps);
	json_number(&json, "gaps_no_code", recording->gaps_no_code);
	json_number(&json, "bytes", recording->bytes);
	json_number(&json, "bytes_lost", recording->bytes_lost);
	json_number(&json, "overruns", recording->overruns);
	json_number(&json, "records_lost", recording->records_lost);
	json_number(&json, "files_missing", recording->files_missing);
	write_said(&json, recording);
	json_end(&json);
}

/* ---- rows ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->symbol, y->symbol);

	if (!order)
		order = strcmp(x->comm, y->comm);
	if (!order)
		order = strcmp(x->dso, y->dso);
	return order ? order : x->kernel - y->kernel;
}

static int add_row(struct sums *sums, const struct row *more)
{
	struct row **found = tfind(more, &sums->row_tree, compare_rows), *row;

	if (found) {
		(*found)->insns += more->insns;
		(*found)->branches += more->branches;
		(*found)->entered += more->entered;
		return 0;
	}
	if (array_grow(&sums->rows, sums->n_rows))
		return -ENOMEM;
	row = malloc(sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = *more;
	row->comm = strdup(more->comm);
	row->dso = strdup(more->dso);
	row->symbol = strdup(more->symbol);
	if (!row->comm || !row->dso || !row->symbol ||
	    !tsearch(row, &sums->row_tree, compare_rows)) {
		free_row(row);
		return -ENOMEM;
	}
	sums->rows[sums->n_rows++] = row;
	return 0;
}

static void write_row(const struct row *row, FILE *out)
{
	struct json json = json_begin(out, "row");

	json_number(&json, "insns", row->insns);
	json_number(&json, "branches", row->branches);
	json_number(&json, "entered", row->entered);
	json_text(&json, "comm", row->comm);
	json_text(&json, "dso", row->dso);
	json_text(&json, "sym", row->symbol);
	json_flag(&json, "kernel", row->kernel);
	json_end(&json);
}

/* ---- JSON ---- */

#ifdef HAVE_JSON
static uint64_t number_in(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_int64(value) : 0;
}

static bool flag_in(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && json_object_get_boolean(value);
}

/* Returns a text in the object; NULL: there is none. */
static const char *text_in(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) :
		NULL;
}

static struct recording losses_in(struct json_object *object)
{
	return (struct recording){
		.lost = flag_in(object, "lost"), .insns = number_in(object, "insns"),
		.gaps = number_in(object, "gaps"),
		.gaps_no_code = number_in(object, "gaps_no_code"),
		.bytes = number_in(object, "bytes"),
		.bytes_lost = number_in(object, "bytes_lost"),
		.overruns = number_in(object, "overruns"),
		.records_lost = number_in(object, "records_lost"),
		.files_missing = number_in(object, "files_missing"),
	};
}

static void put_text(struct json_object *text, FILE *out)
{
	if (text)
		fprintf(out, "%s\n", json_object_get_string(text));
}

/* Returns the lines of the array @key (malloc'd); NULL: there is none, or no memory. */
static char *lines_in(struct json_object *object, const char *key)
{
	struct json_object *array;
	char *lines = NULL;
	size_t len;
	FILE *out;

	if (!json_object_object_get_ex(object, key, &array) ||
	    !json_object_is_type(array, json_type_array) || !(out = open_memstream(&lines, &len)))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(array); i++)
		put_text(json_object_array_get_idx(array, i), out);
	fclose(out);
	return lines;
}

static int add_recording_object(struct sums *sums, struct json_object *object)
{
	struct recording recording = losses_in(object);
	int err;

	recording.path = (char *)text_in(object, "path");
	recording.said = lines_in(object, "said");
	recording.said_share = number_in(object, "said_share");
	recording.failed = flag_in(object, "failed");
	recording.no_report = flag_in(object, "counts_only");
	err = recording.path ? sums_add_recording(sums, &recording) : -EILSEQ;
	free(recording.said);
	return err;
}

static int add_row_object(struct sums *sums, struct json_object *object)
{
	const struct row row = {
		.comm = (char *)text_in(object, "comm"), .dso = (char *)text_in(object, "dso"),
		.symbol = (char *)text_in(object, "sym"), .kernel = flag_in(object, "kernel"),
		.insns = number_in(object, "insns"), .branches = number_in(object, "branches"),
		.entered = number_in(object, "entered"),
	};

	return row.comm && row.dso && row.symbol ? add_row(sums, &row) : -EILSEQ;
}

/* Adds a line, which is an object. Puts an object "losses" into *@losses, unless that is NULL. */
static int add_object(struct sums *sums, const char *line, struct recording *losses, bool *told)
{
	struct json_object *object = json_tokener_parse(line);
	const char *type = object ? text_in(object, "type") : NULL;
	int err = 0;

	if (!type)
		err = -EILSEQ;
	else if (!strcmp(type, "row"))
		err = add_row_object(sums, object);
	else if (!strcmp(type, "recording") && !losses)
		err = add_recording_object(sums, object);
	else if (!strcmp(type, "losses") && losses) {
		*losses = losses_in(object);
		*told = true;
	} else {
		err = -EILSEQ;
	}
	json_object_put(object);
	return err;
}
#else
static int add_object(struct sums *sums, const char *line, struct recording *losses, bool *told)
{
	(void)sums, (void)line, (void)losses, (void)told;
	return -ENOTSUP;
}
#endif

int sums_add_report(struct sums *sums, FILE *in, const char *name, struct recording *losses,
		    bool *told)
{
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	*told = false;
	while (!err && getline(&line, &room, in) > 0)
		err = add_object(sums, line, losses, told);
	free(line);
	return err == -EILSEQ ? cmd_error(err, "%s: the report of it cannot be read", name) : err;
}

int sums_add_stacks(struct sums *sums, FILE *in, const char *name)
{
	if (!sums->stacks)
		sums->stacks = merge_create("folded");
	return sums->stacks ? merge_add(sums->stacks, in, name) : -ENOMEM;
}

/* ---- files ---- */

static int by_insns(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	return x->insns != y->insns ? x->insns < y->insns ? 1 : -1 : compare_rows(x, y);
}

static int by_path(const void *a, const void *b)
{
	return compare_recordings(*(struct recording *const *)a, *(struct recording *const *)b);
}

void sums_sort(struct sums *sums)
{
	if (sums->n_rows)
		qsort(sums->rows, sums->n_rows, sizeof(*sums->rows), by_insns);
	if (sums->n_recordings)
		qsort(sums->recordings, sums->n_recordings, sizeof(*sums->recordings), by_path);
	counters_sort(&sums->counters);
}

static int write_stacks(void *stacks, FILE *out)
{
	return merge_write(stacks, out);
}

static int write_counts(void *counters, FILE *out)
{
	return counts_write(counters, out);
}

/* Writes a section behind its length. */
static int write_section(const char *name, int (*write)(void *ctx, FILE *out), void *ctx, FILE *out)
{
	char *text = NULL;
	size_t len;
	FILE *section = open_memstream(&text, &len);
	int err = section ? write(ctx, section) : -ENOMEM;

	if (section && fclose(section) && !err)
		err = -ENOMEM;
	if (!err) {
		fprintf(out, "%s %zu\n", name, len);
		fwrite(text, len, 1, out);
	}
	free(text);
	return err;
}

int sums_write(struct sums *sums, FILE *out)
{
	int err;

	sums_sort(sums);
	fputs(FIRST_LINE, out);
	for (size_t i = 0; i < sums->n_units; i++)
		if (sums->units[i])
			fprintf(out, "unit %zu\n", i);
	if (sums->ms)
		fprintf(out, "time %" PRIu64 " %" PRIu64 "\n", sums->ms, sums->busiest_ms);
	for (size_t i = 0; i < sums->n_recordings; i++)
		sums_write_recording(sums->recordings[i], out);
	for (size_t i = 0; i < sums->n_rows; i++)
		write_row(sums->rows[i], out);
	err = write_section("counts", write_counts, &sums->counters, out);
	if (!err && sums->stacks)
		err = write_section("folded", write_stacks, sums->stacks, out);
	fputs(LAST_LINE, out);
	return err ? err : ferror(out) ? -EIO : 0;
}

/* Reads @len bytes (malloc'd). A damaged file may have fewer, so room is made as they are read. */
static int read_bytes(FILE *in, size_t len, char **bytes)
{
	size_t room = 0;

	*bytes = NULL;
	for (size_t n = 0, more; n < len; n += more) {
		more = n > FIRST_READ ? n : FIRST_READ;
		more = more < len - n ? more : len - n;
		if (array_reserve(bytes, &room, n, more))
			return -ENOMEM;
		if (fread(*bytes + n, more, 1, in) != 1)
			return -EILSEQ;
	}
	return 0;
}

/* Reads the next @len bytes as a file of their own. */
static int read_section(struct sums *sums, bool counts, size_t len, FILE *in, const char *name)
{
	char *text;
	FILE *section;
	int err = read_bytes(in, len, &text);

	if (!err && len) {
		section = fmemopen(text, len, "r");
		if (!section)
			err = -ENOMEM;
		else
			err = counts ? counts_read(&sums->counters, section, name, NULL) :
				sums_add_stacks(sums, section, name);
		if (section)
			fclose(section);
	}
	free(text);
	return err;
}

/* Takes a line. Returns 1 if it was the last one. */
static int read_line(struct sums *sums, char *line, FILE *in, const char *name)
{
	uint64_t ms, busiest_ms;
	size_t n;

	if (*line == '{')
		return add_object(sums, line, NULL, NULL);
	if (!strcmp(line, LAST_LINE))
		return 1;
	if (sscanf(line, "counts %zu", &n) == 1)
		return read_section(sums, true, n, in, name);
	if (sscanf(line, "folded %zu", &n) == 1)
		return read_section(sums, false, n, in, name);
	if (sscanf(line, "time %" SCNu64 " %" SCNu64, &ms, &busiest_ms) == 2) {
		sums->ms += ms;
		sums->busiest_ms = max(sums->busiest_ms, busiest_ms);
		return 0;
	}
	if (sscanf(line, "unit %zu", &n) != 1 || n >= sums->n_units)
		return -EILSEQ;
	sums->units[n] = true;
	return 0;
}

int sums_read(struct sums *sums, FILE *in, const char *name)
{
	char *line = NULL;
	size_t room = 0;
	int err = -EILSEQ;

	if (getline(&line, &room, in) > 0 && !strcmp(line, FIRST_LINE))
		err = 0;
	while (!err)
		err = getline(&line, &room, in) > 0 ? read_line(sums, line, in, name) : -EILSEQ;
	free(line);
	if (err == -EILSEQ)
		cmd_error(err, "%s: these are no sums of a fleet, or they are damaged", name);
	return err > 0 ? 0 : err;
}

int sums_read_recordings(struct sums *sums, FILE *in)
{
	static const char recording[] = "{\"type\":\"recording\"";
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	if (getline(&line, &room, in) <= 0 || strcmp(line, FIRST_LINE))
		err = -EILSEQ;
	while (!err && getline(&line, &room, in) > 0 &&
	       !strncmp(line, recording, strlen(recording)))
		err = add_object(sums, line, NULL, NULL);
	free(line);
	return err;
}

bool sums_are_whole(const char *path)
{
	char first[sizeof(FIRST_LINE)] = "", last[sizeof(LAST_LINE)] = "";
	FILE *in = fopen(path, "r");
	bool whole;

	if (!in)
		return false;
	whole = fgets(first, sizeof(first), in) && !strcmp(first, FIRST_LINE) &&
		!fseek(in, -(long)strlen(LAST_LINE), SEEK_END) && fgets(last, sizeof(last), in) &&
		!strcmp(last, LAST_LINE);
	fclose(in);
	return whole;
}
