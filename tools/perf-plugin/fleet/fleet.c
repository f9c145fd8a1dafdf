// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * `perf rvtrace fleet`: combines many recordings into one result. Ranks (ranks.h) take units of
 * work from a common list. Their results are added up; the sum does not depend on the number of
 * ranks.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/json.h"
#include "common/memory.h"
#include "fleet/fleet.h"
#include "fleet/ranks.h"

#define SHARE_BYTES (256ull << 20)

enum { OPT_LIST = 256, OPT_DSO, OPT_SPOOL, OPT_REQUEUE, OPT_PART, OPT_SHARE, OPT_JOBS, OPT_JSON,
       OPT_SYMFS, OPT_VMLINUX, OPT_KALLSYMS, OPT_FIRMWARE, OPT_PARAMS, OPT_NO_DEBUGINFOD,
       OPT_MAX_MEMORY, OPT_FORCE, OPT_STRICT };

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "format", required_argument, NULL, 'f' },
	{ "list", required_argument, NULL, OPT_LIST },
	{ "dso", required_argument, NULL, OPT_DSO },
	{ "spool", required_argument, NULL, OPT_SPOOL },
	{ "requeue", required_argument, NULL, OPT_REQUEUE },
	{ "part", required_argument, NULL, OPT_PART },
	{ "share-size", required_argument, NULL, OPT_SHARE },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "symfs", required_argument, NULL, OPT_SYMFS },
	{ "vmlinux", required_argument, NULL, OPT_VMLINUX },
	{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
	{ "firmware", required_argument, NULL, OPT_FIRMWARE },
	{ "params", required_argument, NULL, OPT_PARAMS },
	{ "comms", required_argument, NULL, 'c' },
	{ "no-debuginfod", no_argument, NULL, OPT_NO_DEBUGINFOD },
	{ "max-memory", required_argument, NULL, OPT_MAX_MEMORY },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"usage: perf rvtrace fleet -o DIR [OPTIONS] [RECORDING|DIRECTORY]...\n"
"       mpirun -np N perf-rvtrace-mpi fleet ...\n"
"Many recordings, and counts of record --profile, as one report and one profile.\n\n"
"  -o, --output DIR      report, losses by recording, counts (for profile -i), and of each format\n"
"                        a file\n"
"      --list FILE       the paths of recordings, one a line (-: standard input)\n"
"  -f, --format LIST     of profile: llvm, bolt, autofdo, clang, gcc, gcc15, lcov, folded, svg\n"
"      --dso NAME        of this file, or build id; else of the one that ran most\n"
"      --spool DIR       what is done already (DIR/spool); all ranks see it\n"
"      --requeue FILE    recordings that failed, or lack code: a --list for the next time\n"
"      --part I/N        only the I-th of N parts, into the spool: for job arrays\n"
"      --share-size SIZE cut bigger recordings into shares of their cpus (256M)\n"
"      --jobs N          recordings at a time (as many as processors; under MPI: 1 a rank)\n"
"      --json            report and losses as objects (see Documentation/json.rst)\n"
"      --symfs DIR[:DIR] files of the recorded machines, or a store of perf buildid-cache\n"
"      --vmlinux FILE, --kallsyms FILE, --firmware FILE, --params FILE, --no-debuginfod\n"
"  -c, --comms NAME,...  only threads of these names\n"
"      --max-memory SIZE of each decoder; --force: whoever owns the recordings\n"
"      --strict          a recording that failed is an error\n";

/* ---- options ---- */

static int add_word(struct fleet_options *options, size_t *n, const char *word)
{
	if (array_grow(&options->view, *n))
		return -ENOMEM;
	options->view[(*n)++] = (char *)word;
	return 0;
}

/* Keeps an option for the decoders. */
static int pass_on(struct fleet_options *options, size_t *n, int c, const char *value)
{
	const struct option *option = long_options;
	char *word;

	while (option->val != c)
		option++;
	if (asprintf(&word, "--%s%s%s", option->name, value ? "=" : "", value ? value : "") < 0)
		return -ENOMEM;
	return add_word(options, n, word);
}

/* Checks the formats: they must be made of counts or of stacks. */
static int check_formats(struct fleet_options *options)
{
	char *words = options->formats ? strdup(options->formats) : NULL, *rest = words, *word;
	int err = 0;

	while (!err && (word = strsep(&rest, ","))) {
		const struct profile_format *format = profile_format(word);

		if (!format)
			err = -EINVAL;
		else if (!format->add && strcmp(word, "folded") && strcmp(word, "svg"))
			err = cmd_error(-EINVAL, "%s cannot be made of several recordings' sums",
					word);
		else
			options->stacks |= !format->add;
	}
	free(words);
	return err;
}

/* Returns 0; -errno after a message; 1: only the help was asked for. */
static int parse_options(struct fleet_options *options, struct units *units, int argc, char **argv)
{
	const char *jobs = NULL;
	size_t n_view = 0;
	uint64_t bytes;
	int c, err = 0;

	while (!err && (c = getopt_long(argc, argv, "hf:o:c:", long_options, NULL)) >= 0) {
		switch (c) {
		case 'o': options->output = optarg; break;
		case 'f': options->formats = optarg; break;
		case OPT_LIST:
			/* only rank 0 plans the work, and reports errors */
			err = ranks_rank() ? 0 : units_add_list(units, optarg);
			break;
		case OPT_DSO: options->dso = optarg; break;
		case OPT_SPOOL: options->spool = optarg; break;
		case OPT_REQUEUE: options->requeue = optarg; break;
		case OPT_PART:
			err = cmd_part("--part", optarg, &options->part, &options->parts);
			break;
		case OPT_SHARE:
			err = memory_parse_as("--share-size", optarg, &options->share_bytes);
			break;
		case OPT_JOBS: jobs = optarg; break;
		case OPT_STRICT: options->strict = true; break;
		case OPT_JSON: options->json = true; break;
		case OPT_MAX_MEMORY:
			err = memory_parse(optarg, &bytes);
			/* fall through */
		case OPT_SYMFS: case OPT_VMLINUX: case OPT_KALLSYMS: case OPT_FIRMWARE:
		case OPT_PARAMS: case 'c': case OPT_NO_DEBUGINFOD: case OPT_FORCE:
			if (!err)
				err = pass_on(options, &n_view, c, optarg);
			break;
		case 'h':
			fputs(help, stdout);
			return 1;
		default:
			return cmd_try_help(-EINVAL);
		}
	}
	if (!err)
		err = add_word(options, &n_view, NULL);
	if (!err)
		err = check_formats(options);
	if (err)
		return err;
	options->jobs = 1;
	return jobs || ranks_size() == 1 ? cmd_jobs(jobs, &options->jobs) : 0;
}

static void free_options(struct fleet_options *options, char *spool)
{
	for (char **word = options->view; word && *word; word++)
		free(*word);
	free(options->view);
	free(spool);
}

static int make_directory(const char *path)
{
	if (!mkdir(path, 0777) || errno == EEXIST)
		return 0;
	return cmd_error(-errno, "%s: %s", path, strerror(errno));
}

static int make_directories(struct fleet_options *options, char **spool)
{
	int err = json_supported() ? -ENOTSUP : 0;

	if (!err && !options->output && !(options->parts && options->spool))
		err = cmd_error(-EINVAL,
				"where to? Give -o DIRECTORY (with --part, --spool DIRECTORY)");
	if (!err && options->output)
		err = make_directory(options->output);
	if (!err && !options->spool) {
		if (asprintf(spool, "%s/spool", options->output) < 0)
			return -ENOMEM;
		options->spool = *spool;
	}
	return err ? err : make_directory(options->spool);
}

/* ---- the work ---- */

/*
 * Shares the units, which rank 0 knows, with all ranks. Nothing is shared if it could not find
 * them.
 */
static int share_units(struct units *units, int err)
{
	char *bytes = NULL;
	size_t len = 0;

	if (!ranks_rank() && !err)
		err = units_pack(units, &bytes, &len);
	if (!err)
		err = ranks_share(&bytes, &len);
	else
		ranks_share(&bytes, &(size_t){ 0 });
	if (ranks_rank() && !err)
		err = len ? units_unpack(units, bytes, len) : -ENODATA;
	free(bytes);
	return err;
}

static int find_units(const struct fleet_options *options, struct units *units, char **paths)
{
	int err = 0;

	for (; *paths && !err; paths++)
		err = units_add(units, *paths);
	if (!err)
		err = units_plan(units, options->share_bytes);
	if (!err && !units->n)
		err = cmd_error(-EINVAL,
				"which recordings? Give files, directories, or --list FILE");
	return err;
}

/* The sums of this rank; not to be used after an error. */
struct collecting {
	struct sums *sums;
	int err;
};

static int put_sums(void *ctx, FILE *out)
{
	struct collecting *c = ctx;

	return c->err ? c->err : sums_write(c->sums, out);
}

static int take_sums(void *ctx, FILE *in)
{
	struct collecting *c = ctx;

	if (!c->err)
		c->err = sums_read(c->sums, in, "the sums of another rank");
	return c->err;
}

/* Adds units that are in the spool but not in the sums: each @step-th from @first on. */
static int add_spooled(const struct fleet_options *options, const struct units *units,
		       size_t first, size_t step, struct sums *sums)
{
	int err = 0;

	for (size_t i = first; i < units->n && !err; i += step) {
		if (sums->units[i])
			continue;
		err = spool_take(options, &units->list[i], sums);
		if (!err)
			sums->units[i] = true;
		err = err < 0 ? err : 0;
	}
	return err;
}

/* Adds units that were not done, as failed: the rank that took them has died. */
static int add_missing(const struct units *units, struct sums *sums)
{
	int err = 0;

	for (size_t i = 0; i < units->n && !err; i++) {
		const struct recording recording = {
			.path = units->list[i].path, .failed = true, .lost = true,
			.said_share = units->list[i].share,
			.said = "it was not decoded: who took it has not come to an end\n",
		};

		if (!sums->units[i])
			err = sums_add_recording(sums, &recording);
	}
	return err;
}

/* Returns the processor time of this rank's decoders. */
static uint64_t decoding_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * UINT64_C(1000) +
		(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

static int tell(const struct fleet_options *options, const struct units *units,
		const struct sums *sums, size_t n_done)
{
	size_t failed = 0, lossy = 0;

	for (size_t i = 0; i < sums->n_recordings; i++) {
		failed += sums->recordings[i]->failed;
		lossy += sums->recordings[i]->lost && !sums->recordings[i]->failed;
	}
	fprintf(stderr, "[ perf rvtrace fleet: %zu recordings, %zu with losses, %zu failed; "
		"this rank decoded %zu of %zu: see %s/losses ]\n",
		sums->n_recordings, lossy, failed,
		n_done, units->n, options->output);
	fprintf(stderr, "[ %.2f s of processor time, %.2f s of it for the busiest of %u ranks ]\n",
		sums->ms / 1e3, sums->busiest_ms / 1e3, ranks_size());
	return failed && (options->strict || failed == sums->n_recordings) ? -EBADMSG : 0;
}

/*
 * Adds up what is in the spool: each rank adds a part of it, then ranks add in pairs. Rank 0
 * writes.
 */
static int reduce(const struct fleet_options *options, const struct units *units, size_t n_done)
{
	struct sums sums = { .rows = NULL };
	struct collecting collecting = { &sums, sums_number(&sums, units->n) };
	int err;

	ranks_meet();
	if (!collecting.err)
		collecting.err = add_spooled(options, units, ranks_rank(), ranks_size(), &sums);
	sums.ms = sums.busiest_ms = decoding_ms();
	err = ranks_collect(put_sums, take_sums, &collecting);
	if (collecting.err)
		err = collecting.err;
	if (!ranks_rank() && !err)
		err = add_spooled(options, units, 0, 1, &sums);
	if (!ranks_rank() && !err)
		err = add_missing(units, &sums);
	if (!ranks_rank() && !err)
		err = fleet_write(options, &sums);
	if (!ranks_rank() && !err && options->requeue)
		err = fleet_write_requeue(options, units, &sums);
	if (!ranks_rank() && !err)
		err = tell(options, units, &sums, n_done);
	sums_free(&sums);
	return err;
}

static int run(const struct fleet_options *options, struct units *units, char **paths, int err)
{
	size_t n_done = 0;

	if (!err && !ranks_rank())
		err = find_units(options, units, paths);
	err = share_units(units, err);
	/* is right if this run does not finish */
	if (!err && !ranks_rank() && options->requeue)
		err = fleet_write_requeue(options, units, NULL);
	if (err)
		return err;
	err = fleet_work(options, units, &n_done);
	return options->parts ? err : reduce(options, units, n_done);
}

int cmd_fleet(int argc, char **argv)
{
	struct fleet_options options = { .jobs = 1, .share_bytes = SHARE_BYTES };
	struct units units = { .list = NULL };
	char *spool = NULL;
	int err;

	err = ranks_begin();
	if (err)
		return 1;
	err = parse_options(&options, &units, argc, argv);
	if (err <= 0) {
		char **paths = argv + optind;

		optind = argc;
		if (!err)
			err = make_directories(&options, &spool);
		err = run(&options, &units, paths, err);
	}
	units_free(&units);
	free_options(&options, spool);
	ranks_end();
	return err < 0;
}
