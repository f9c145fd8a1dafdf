// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/recording.h"
#include "fleet/units.h"
#include "profile/profile.h"

#define MAX_SHARES 1024

void units_free(struct units *units)
{
	for (size_t i = 0; i < units->n; i++)
		free(units->list[i].path);
	free(units->list);
	*units = (struct units){ .list = NULL };
}

/* Adds a copy of @unit. Returns 0 or -ENOMEM. */
static int add(struct units *units, const struct unit *unit)
{
	char *path = strdup(unit->path);

	if (!path || array_grow(&units->list, units->n)) {
		free(path);
		return -ENOMEM;
	}
	units->list[units->n] = *unit;
	units->list[units->n++].path = path;
	return 0;
}

static int add_file(struct units *units, const char *path, const struct stat *st)
{
	const struct unit unit = {
		.path = (char *)path, .size = st->st_size, .shares = 1,
		.mtime = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
	};

	return add(units, &unit);
}

/*
 * Returns whether it is a recording or counts, by its first bytes or by its name, as the first
 * bytes of a recording may be damaged.
 */
static bool looks_like_one(const char *path, const char *name)
{
	FILE *in = fopen(path, "r");
	bool looks;

	if (!in)
		return true;
	looks = recording_recognize(path) || counts_recognize(in);
	fclose(in);
	return looks || !fnmatch("*.data", name, 0);
}

static int add_directory(struct units *units, const char *path)
{
	char *const paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int err = tree ? 0 : -errno;

	while (!err && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F && looks_like_one(entry->fts_accpath, entry->fts_name))
			err = add_file(units, entry->fts_path, entry->fts_statp);
		else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			cmd_warning("%s: %s", entry->fts_path, strerror(entry->fts_errno));
	}
	if (tree)
		fts_close(tree);
	return err;
}

int units_add(struct units *units, const char *path)
{
	struct stat st = { .st_size = 0 };
	int err;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		err = add_directory(units, path);
	else
		err = add_file(units, path, &st);
	return err ? cmd_error(err, "%s: %s", path, strerror(-err)) : 0;
}

int units_add_list(struct units *units, const char *file)
{
	bool is_stdin = !strcmp(file, "-");
	FILE *in = is_stdin ? stdin : fopen(file, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int err = 0;

	if (!in)
		return cmd_error(-errno, "%s: %s", file, strerror(errno));
	while (!err && (len = getline(&line, &room, in)) > 0) {
		if (line[len - 1] == '\n')
			line[--len] = 0;
		if (len)
			err = units_add(units, line);
	}
	if (!err && ferror(in))
		err = cmd_error(-EIO, "cannot read %s", file);
	free(line);
	if (!is_stdin)
		fclose(in);
	return err;
}

/* ---- the plan ---- */

static int by_path(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int by_size(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;
	int order;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	order = strcmp(x->path, y->path);
	return order ? order : (x->share > y->share) - (x->share < y->share);
}

static void drop_doubles(struct units *units)
{
	size_t n = 0;

	for (size_t i = 0; i < units->n; i++) {
		if (n && !strcmp(units->list[n - 1].path, units->list[i].path))
			free(units->list[i].path);
		else
			units->list[n++] = units->list[i];
	}
	units->n = n;
}

/* Makes the unit the first of its shares, and adds the others at the end. */
static int cut(struct units *units, size_t n, uint64_t bytes)
{
	struct unit *unit = &units->list[n], share;
	uint64_t shares = (unit->size + bytes - 1) / bytes;
	int err = 0;

	unit->shares = shares < MAX_SHARES ? shares : MAX_SHARES;
	unit->size /= unit->shares;
	share = *unit;
	while (!err && ++share.share < share.shares)
		err = add(units, &share);
	return err;
}

int units_plan(struct units *units, uint64_t bytes)
{
	size_t n;
	int err = 0;

	if (!units->n)
		return 0;
	qsort(units->list, units->n, sizeof(*units->list), by_path);
	drop_doubles(units);
	n = units->n;
	for (size_t i = 0; i < n && bytes && !err; i++)
		if (units->list[i].size > bytes)
			err = cut(units, i, bytes);
	qsort(units->list, units->n, sizeof(*units->list), by_size);
	return err;
}

/* ---- for other ranks ---- */

int units_pack(const struct units *units, char **bytes, size_t *len)
{
	FILE *out = open_memstream(bytes, len);
	bool failed;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < units->n; i++) {
		const struct unit *unit = &units->list[i];

		fprintf(out, "%" PRIu64 " %" PRId64 " %u %u %s%c", unit->size, unit->mtime,
			unit->share, unit->shares, unit->path, 0);
	}
	failed = ferror(out);
	return fclose(out) || failed ? -ENOMEM : 0;
}

int units_unpack(struct units *units, const char *bytes, size_t len)
{
	int err = 0, used;

	for (size_t at = 0; at < len && !err; at += strlen(bytes + at) + 1) {
		struct unit unit;

		if (!memchr(bytes + at, 0, len - at) ||
		    sscanf(bytes + at, "%" SCNu64 " %" SCNd64 " %u %u%n", &unit.size, &unit.mtime,
			   &unit.share, &unit.shares, &used) != 4 || bytes[at + used] != ' ')
			return -EILSEQ;
		unit.path = (char *)bytes + at + used + 1;
		err = add(units, &unit);
	}
	return err;
}
