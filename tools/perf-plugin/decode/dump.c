// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* perf-rvtrace dump: prints a trace message by message. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rvtrace/dump.h>
#include <rvtrace/session.h>
#include "common/chips.h"
#include "common/cmd.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/recording.h"
#include "file/file.h"
#include "decode/decode.h"

enum { STATUS_CLEAN, STATUS_DAMAGED, STATUS_UNUSABLE };

struct dump_options {
	const char *path;
	const char *chip, *params;
	uint64_t wrapped_at, max_memory;
	bool wrapped;
	bool json, force;
};

static const char usage_text[] =
	"usage: perf rvtrace dump [OPTIONS] PERF.DATA\n"
	"       perf rvtrace dump {--chip NAME|--params FILE} [OPTIONS] DUMP\n"
	"\n"
	"Prints each message of a trace with its offset, bytes, fields and resolved addresses.\n"
	"  --chip NAME          parameters of the encoder by the chip; help: lists the chips\n"
	"  --params FILE        the same as `key = value` lines; with --chip: those that are not "
	"its;\n"
	"                       a recording has its own\n"
	"  --json               one JSON object a line\n"
	"  --wrapped-at OFFSET  DUMP is a ring: its oldest byte is at OFFSET\n"
	"  --max-memory SIZE    ends at so much memory, like 4G (half of the machine's)\n"
	"  -f, --force          as root, read another user's file\n";

static int parse_options(int argc, char **argv, struct dump_options *options)
{
	static const struct option longs[] = {
		{ "chip", required_argument, NULL, 'c' },
		{ "params", required_argument, NULL, 'p' },
		{ "json", no_argument, NULL, 'j' },
		{ "wrapped-at", required_argument, NULL, 'w' },
		{ "max-memory", required_argument, NULL, 'm' },
		{ "force", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "c:p:jw:fh", longs, NULL)) != -1) {
		switch (opt) {
		case 'c':
			if (!strcmp(optarg, "help"))
				exit(chips_print(stdout) ? STATUS_UNUSABLE : STATUS_CLEAN);
			options->chip = optarg;
			break;
		case 'p':
			options->params = optarg;
			break;
		case 'j':
			options->json = true;
			if (json_supported())
				return STATUS_UNUSABLE;
			break;
		case 'w':
			options->wrapped = true;
			if (cmd_number("--wrapped-at", optarg, 0, INT64_MAX, &options->wrapped_at))
				return STATUS_UNUSABLE;
			break;
		case 'm':
			if (memory_parse(optarg, &options->max_memory))
				return STATUS_UNUSABLE;
			break;
		case 'f':
			options->force = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(STATUS_CLEAN);
		default:
			return cmd_try_help(STATUS_UNUSABLE);
		}
	}
	options->path = cmd_one_file(argc, argv, "a recording or a dump");
	return options->path ? STATUS_CLEAN : STATUS_UNUSABLE;
}

static int map_input(const char *path, struct rvt_mapped_file **input)
{
	struct stat st;
	int fd = rvt_file_open(path, 0, &st), ret;

	if (fd < 0)
		return fd;
	ret = rvt_file_map(fd, st.st_size, path, input);
	close(fd);
	return ret;
}

/*
 * Feeds the dump. Offsets of messages are those in the file; with @positions, they count from the
 * oldest byte.
 */
static void dump_input(struct rvt_dump *dump, const struct rvt_mapped_file *input, uint64_t first,
		       bool positions)
{
	rvt_dump_feed(dump, input->bytes + first, input->len - first, positions ? 0 : first);
	if (first)
		rvt_dump_feed(dump, input->bytes, first, positions ? input->len - first : 0);
	rvt_dump_finish(dump);
}

int dump_messages(const char *path, const struct rvt_params *params, uint64_t oldest,
		  uint64_t *damaged)
{
	struct rvt_dump_stats stats = { .size = sizeof(stats) };
	struct rvt_mapped_file *input = NULL;
	struct rvt_dump *dump;
	int ret = map_input(path, &input);

	if (!ret)
		ret = rvt_dump_create(params, 0, stdout, &dump);
	if (!ret) {
		dump_input(dump, input, oldest, true);
		rvt_dump_stats(dump, &stats);
		*damaged = stats.damaged;
		rvt_dump_destroy(dump);
		if (fflush(stdout) || ferror(stdout))
			ret = -EIO;
	}
	rvt_file_unmap(input);
	return ret;
}

/* Prints the summary. Returns the exit status. */
static int summary(const struct dump_options *options, const struct rvt_dump_stats *stats)
{
	/* puts the summary behind the last line if both go to one place; output.c finds errors */
	fflush(stdout);
	fprintf(stderr, "%s: %llu messages, %llu idle bytes, %llu bytes skipped, %llu damaged\n",
		options->path, (unsigned long long)stats->messages,
		(unsigned long long)stats->idle_bytes, (unsigned long long)stats->skipped_bytes,
		(unsigned long long)stats->damaged);
	return stats->damaged ? STATUS_DAMAGED : STATUS_CLEAN;
}

static int dump_bare(const struct dump_options *options, const struct rvt_mapped_file *input)
{
	struct rvt_dump_stats stats = { .size = sizeof(stats) };
	struct rvt_params params;
	struct rvt_dump *dump;
	int ret;

	if (chips_params(options->chip, options->params, options->path, &params))
		return STATUS_UNUSABLE;
	if (options->wrapped && options->wrapped_at >= input->len)
		return cmd_error(STATUS_UNUSABLE, "--wrapped-at %#llx: %s has only %zu bytes",
				 (unsigned long long)options->wrapped_at, options->path,
				 input->len);
	ret = rvt_dump_create(&params, options->json ? RVT_DUMP_JSON : 0, stdout, &dump);
	if (ret)
		return cmd_error(STATUS_UNUSABLE, "%s: %s", options->params ?: options->chip,
				 strerror(-ret));
	dump_input(dump, input, options->wrapped ? options->wrapped_at : 0, false);
	rvt_dump_stats(dump, &stats);
	rvt_dump_destroy(dump);
	return summary(options, &stats);
}

static int dump_session(const struct dump_options *options, const char *params)
{
	struct rvt_session_options session_options = { .size = sizeof(session_options),
						       .params = params };
	struct rvt_session *session;
	struct rvt_dump_stats stats = { .size = sizeof(stats) };
	char *error = NULL;
	int ret;

	ret = rvt_session_open(options->path, &session_options, &session, &error);
	if (ret) {
		cmd_error(STATUS_UNUSABLE, "%s", error ? error : strerror(-ret));
		free(error);
		return STATUS_UNUSABLE;
	}
	ret = rvt_session_dump(session, options->json ? RVT_DUMP_JSON : 0, stdout, &stats);
	rvt_session_close(session);
	if (ret)
		return cmd_error(STATUS_UNUSABLE, "%s: %s", options->path, strerror(-ret));
	return summary(options, &stats);
}

static int dump_recording(const struct dump_options *options)
{
	char *chip = NULL;
	int ret;

	if (options->wrapped)
		return cmd_error(STATUS_UNUSABLE, "%s: --wrapped-at is for bare dumps",
				 options->path);
	if (options->chip && options->params)
		return cmd_error(STATUS_UNUSABLE, "%s: a recording takes --chip or --params, not "
				 "both", options->path);
	if (options->chip && !(chip = chips_path(options->chip)))
		return STATUS_UNUSABLE;
	ret = dump_session(options, chip ? chip : options->params);
	free(chip);
	return ret;
}

int cmd_dump(int argc, char **argv)
{
	struct dump_options options = { 0 };
	struct rvt_mapped_file *input;
	int ret = parse_options(argc, argv, &options);

	if (ret)
		return ret;
	memory_watch(options.max_memory ? options.max_memory : memory_default());
	if (cmd_check_owner(options.path, options.force))
		return STATUS_UNUSABLE;
	ret = map_input(options.path, &input);
	if (ret)
		return cmd_error(STATUS_UNUSABLE, "%s: %s", options.path,
				 ret == -EINVAL ? "not a regular file" : strerror(-ret));
	ret = recording_recognize(options.path) ? dump_recording(&options) :
		dump_bare(&options, input);
	rvt_file_unmap(input);
	return ret;
}
