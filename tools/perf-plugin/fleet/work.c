// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decodes units: each by `report` and `profile` of this program, in processes of their own without
 * MPI. So a recording that crashes the decoder, or takes all the memory it may have, only fails
 * itself; and posix_spawn() does not copy, as fork() would, what a rank's network needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/cmd.h"
#include "fleet/fleet.h"
#include "fleet/ranks.h"

#define SAID_LINES 12	/* lines that are kept of a decoder's messages */

extern char **environ;

enum step { REPORT, COUNTS, STACKS, STEPS };

static const struct {
	const char *name;	/* of its file in the spool */
	const char *words[4];
} steps[STEPS] = {
	[REPORT] = { "report", { "report", "--json" } },
	[COUNTS] = { "counts", { "profile", "--format", "counts" } },
	[STACKS] = { "folded", { "profile", "--format", "folded" } },
};

/* A unit in work. */
struct slot {
	const struct fleet_options *options;
	const struct unit *unit;	/* NULL: none */
	bool is_counts;			/* counts, without their recording */
	size_t number;			/* of the slot */
	int step;
	pid_t pid;
	int status[STEPS];		/* of waitpid(); -1: did not run */
};

static bool is_counts(const char *path)
{
	FILE *in = fopen(path, "r");
	bool is = in && counts_recognize(in);

	if (in)
		fclose(in);
	return is;
}

/* Returns the name of the file with the step's output, or (@said) with its messages. */
static char *file_of(const struct slot *slot, int step, bool said)
{
	char what[32];

	snprintf(what, sizeof(what), "%s%s", steps[step].name, said ? ".said" : "");
	return spool_temporary(slot->options, slot->number, what);
}

static FILE *open_file(const struct slot *slot, int step, bool said)
{
	char *name = file_of(slot, step, said);
	FILE *in = name ? fopen(name, "r") : NULL;

	free(name);
	return in;
}

static void remove_files(const struct slot *slot)
{
	for (int i = 0; i < 2 * STEPS; i++) {
		char *name = file_of(slot, i / 2, i % 2);

		if (name)
			unlink(name);
		free(name);
	}
}

/* ---- processes ---- */

static int spawn(struct slot *slot, char *const *argv, const char *out, const char *said)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC;
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	err = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out, flags, 0600);
	if (!err)
		err = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, said, flags, 0600);
	if (!err)
		err = posix_spawn(&slot->pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

static int spawn_step(struct slot *slot)
{
	const struct fleet_options *options = slot->options;
	size_t n_view = 0, n = 0;
	char **argv, share[32], *out = file_of(slot, slot->step, false);
	char *said = file_of(slot, slot->step, true);
	int err = -ENOMEM;

	while (options->view[n_view])
		n_view++;
	argv = calloc(n_view + 16, sizeof(*argv));
	if (argv && out && said) {
		argv[n++] = "perf-rvtrace";
		for (int i = 0; steps[slot->step].words[i]; i++)
			argv[n++] = (char *)steps[slot->step].words[i];
		argv[n++] = "--jobs";
		argv[n++] = "1";
		argv[n++] = "--input";
		argv[n++] = slot->unit->path;
		if (slot->unit->shares > 1 && slot->step != STACKS) {
			snprintf(share, sizeof(share), "%u/%u", slot->unit->share + 1,
				 slot->unit->shares);
			argv[n++] = "--share";
			argv[n++] = share;
		}
		memcpy(argv + n, options->view, n_view * sizeof(*argv));
		err = spawn(slot, argv, out, said);
	}
	free(argv);
	free(out);
	free(said);
	return err;
}

static bool is_wanted(const struct slot *slot, int step)
{
	if (step == COUNTS || slot->is_counts)
		return step == COUNTS;
	/* threads go from cpu to cpu, so stacks need all shares together */
	return step == REPORT || (slot->options->stacks && !slot->unit->share);
}

/* Starts the next step that is wanted. Returns 1 if there is none. */
static int go_on(struct slot *slot)
{
	while (++slot->step < STEPS)
		if (is_wanted(slot, slot->step))
			return spawn_step(slot);
	return 1;
}

static int begin(struct slot *slot, const struct unit *unit)
{
	slot->unit = unit;
	slot->is_counts = is_counts(unit->path);
	slot->step = -1;
	for (int i = 0; i < STEPS; i++)
		slot->status[i] = -1;
	return go_on(slot);
}

/* ---- results of a unit ---- */

static bool was_killed(const struct slot *slot, int step)
{
	return slot->status[step] != -1 && WIFSIGNALED(slot->status[step]);
}

/* Copies the step's messages, without the program's name, at most @lines lines. */
static void copy_said(const struct slot *slot, int step, unsigned int lines, FILE *out)
{
	FILE *in = open_file(slot, step, true);
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	while (in && lines && (len = getline(&line, &room, in)) > 0) {
		const char *end = !strncmp(line, "perf-rvtrace ", 13) ? strstr(line, ": ") : NULL;

		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		fprintf(out, "%s\n", --lines ? end ? end + 2 : line : "...");
	}
	if (was_killed(slot, step))
		fprintf(out, "signal %d ended the decoder (%s)\n", WTERMSIG(slot->status[step]),
			steps[step].name);
	free(line);
	if (in)
		fclose(in);
}

/* Adds the output of a step. Returns 0; -ENODATA: it did not get so far; -ENOMEM or -EILSEQ. */
static int add_step(const struct slot *slot, int step, struct sums *sums,
		    struct recording *recording)
{
	FILE *in = was_killed(slot, step) ? NULL : open_file(slot, step, false);
	const char *path = slot->unit->path;
	bool told = false;
	int err;

	if (!in)
		return -ENODATA;
	if (step == REPORT)
		err = sums_add_report(sums, in, path, recording, &told);
	else if (step == STACKS)
		err = sums_add_stacks(sums, in, path);
	else
		err = counts_recognize(in) ? counts_read(&sums->counters, in, path, NULL) :
			-ENODATA;
	fclose(in);
	return !err && step == REPORT && !told ? -ENODATA : err;
}

/* Fills @sums with the unit's results, or only with its failure. Returns 0 or -ENOMEM. */
static int gather(const struct slot *slot, struct sums *sums)
{
	struct recording recording = { .path = NULL };
	int err = 0, failed = 0;
	size_t len;
	FILE *said;

	for (int i = 0; i < STEPS && !err; i++) {
		err = is_wanted(slot, i) ? add_step(slot, i, sums, &recording) : 0;
		failed = i;
	}
	if (err == -ENOMEM)
		return err;
	if (err) {
		sums_free(sums);
		recording = (struct recording){ .failed = true, .lost = true };
	}
	recording.path = slot->unit->path;
	recording.no_report = slot->is_counts;
	recording.said_share = slot->unit->share;
	said = open_memstream(&recording.said, &len);
	if (!said)
		return -ENOMEM;
	if (err || !slot->is_counts)
		copy_said(slot, err ? failed : REPORT, SAID_LINES, said);
	fclose(said);
	if (recording.said && !*recording.said) {
		free(recording.said);
		recording.said = NULL;
	}
	err = sums_add_recording(sums, &recording);
	free(recording.said);
	return err;
}

static int end(struct slot *slot)
{
	struct sums sums = { .rows = NULL };
	int err = gather(slot, &sums);

	if (!err)
		err = spool_put(slot->options, slot->unit, &sums);
	else
		cmd_error(err, "%s: %s", slot->unit->path, strerror(-err));
	sums_free(&sums);
	remove_files(slot);
	slot->unit = NULL;
	return err;
}

/* ---- all units ---- */

struct work {
	const struct fleet_options *options;
	const struct units *units;
	struct slot *slots;
	size_t n_taken;		/* number of the next unit, with .parts */
	bool is_over;		/* there are no more units */
};

/* Takes a unit that is still to be done; NULL: there is none. */
static const struct unit *take_unit(struct work *work)
{
	const struct fleet_options *options = work->options;

	while (!work->is_over) {
		size_t n = options->parts ? work->n_taken++ : ranks_next();

		work->is_over = n >= work->units->n;
		if (work->is_over || (options->parts && n % options->parts != options->part - 1))
			continue;
		if (!spool_has(options, &work->units->list[n]))
			return &work->units->list[n];
	}
	return NULL;
}

/* Starts or ends work in a slot. Returns 1 if something has changed. */
static int look_at(struct work *work, struct slot *slot, size_t *n_done)
{
	int err = 0;

	if (!slot->unit) {
		const struct unit *unit = take_unit(work);

		if (!unit)
			return 0;
		err = begin(slot, unit);
		*n_done += 1;
	} else if (waitpid(slot->pid, &slot->status[slot->step], WNOHANG) == slot->pid) {
		err = go_on(slot);
	} else {
		return 0;
	}
	if (err < 0) {
		remove_files(slot);
		slot->unit = NULL;
		return cmd_error(err, "cannot start a decoder: %s", strerror(-err));
	}
	if (err)
		err = end(slot);
	return err ? err : 1;
}

static bool is_busy(const struct work *work)
{
	for (unsigned int i = 0; i < work->options->jobs; i++)
		if (work->slots[i].unit)
			return true;
	return false;
}

/* Ends the decoders that still run: nobody will use their results. */
static void abandon(struct work *work)
{
	for (unsigned int i = 0; i < work->options->jobs; i++) {
		struct slot *slot = &work->slots[i];

		if (!slot->unit)
			continue;
		kill(slot->pid, SIGTERM);
		waitpid(slot->pid, NULL, 0);
		remove_files(slot);
	}
}

int fleet_work(const struct fleet_options *options, const struct units *units, size_t *n_done)
{
	struct work work = { .options = options, .units = units };
	int err = 0;

	work.slots = calloc(options->jobs, sizeof(*work.slots));
	if (!work.slots)
		return -ENOMEM;
	for (unsigned int i = 0; i < options->jobs; i++)
		work.slots[i] = (struct slot){ .options = options, .number = i };
	*n_done = 0;
	do {
		bool changed = false;

		for (unsigned int i = 0; i < options->jobs && err >= 0; i++) {
			err = look_at(&work, &work.slots[i], n_done);
			changed |= err > 0;
		}
		if (!changed)
			ranks_wait();
	} while (err >= 0 && (!work.is_over || is_busy(&work)));
	if (err < 0)
		abandon(&work);
	free(work.slots);
	return err < 0 ? err : 0;
}
