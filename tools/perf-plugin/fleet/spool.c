// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The spool: a directory that all ranks see, with the sums of each decoded unit. A file has its
 * final name only when it is complete.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "fleet/fleet.h"

/* Hashes by FNV-1a, with the zero at the end of @text. */
static uint64_t hash(uint64_t seed, const char *text)
{
	do
		seed = (seed ^ (uint8_t)*text) * 0x100000001b3;
	while (*text++);
	return seed;
}

char *spool_name(const struct fleet_options *options, const struct unit *unit)
{
	const char *base = strrchr(unit->path, '/');
	uint64_t key = hash(0xcbf29ce484222325, unit->path);
	char numbers[128], *name;

	snprintf(numbers, sizeof(numbers), "%" PRIu64 " %" PRId64 " %u/%u %d", unit->size,
		 unit->mtime, unit->share, unit->shares, options->stacks);
	key = hash(key, numbers);
	for (char **word = options->view; *word; word++)
		key = hash(key, *word);
	if (asprintf(&name, "%s/%016" PRIx64 "-%u-%.100s", options->spool, key, unit->share,
		     base ? base + 1 : unit->path) < 0)
		return NULL;
	return name;
}

char *spool_temporary(const struct fleet_options *options, size_t number, const char *what)
{
	char host[256] = "", *name;

	gethostname(host, sizeof(host) - 1);
	if (asprintf(&name, "%s/.%.64s-%d-%zu.%s", options->spool, host, (int)getpid(), number,
		     what) < 0)
		return NULL;
	return name;
}

static int put(const char *temporary, const char *name, struct sums *sums)
{
	FILE *out = fopen(temporary, "w");
	int err;

	if (!out)
		return cmd_error(-errno, "%s: %s", temporary, strerror(errno));
	err = sums_write(sums, out);
	if (fclose(out) && !err)
		err = -errno;
	if (!err && rename(temporary, name))
		err = -errno;
	if (!err)
		return 0;
	unlink(temporary);
	return cmd_error(err, "%s: %s", name, strerror(-err));
}

int spool_put(const struct fleet_options *options, const struct unit *unit, struct sums *sums)
{
	char *name = spool_name(options, unit), *temporary = spool_temporary(options, 0, "sums");
	int err = name && temporary ? put(temporary, name, sums) : -ENOMEM;

	free(name);
	free(temporary);
	return err;
}

/* Adds the sums in a file of the spool; without @all, only which recordings they are of. */
static int take(const char *name, bool all, struct sums *sums)
{
	FILE *in = sums_are_whole(name) ? fopen(name, "r") : NULL;
	int err;

	if (!in)
		return 1;
	err = all ? sums_read(sums, in, name) : sums_read_recordings(sums, in);
	fclose(in);
	return err;
}

static int take_unit(const struct fleet_options *options, const struct unit *unit, bool all,
		     struct sums *sums)
{
	char *name = spool_name(options, unit);
	int err = name ? take(name, all, sums) : -ENOMEM;

	free(name);
	return err;
}

int spool_take(const struct fleet_options *options, const struct unit *unit, struct sums *sums)
{
	return take_unit(options, unit, true, sums);
}

bool spool_has(const struct fleet_options *options, const struct unit *unit)
{
	struct sums sums = { .rows = NULL };
	bool has = !take_unit(options, unit, false, &sums) && sums.n_recordings == 1 &&
		!sums.recordings[0]->failed && !sums.recordings[0]->files_missing;

	sums_free(&sums);
	return has;
}
