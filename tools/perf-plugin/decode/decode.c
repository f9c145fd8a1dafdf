// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * perf-rvtrace decode: makes the program's flow from a bare dump (of a board's memory, or of a
 * probe) and ELF files, without perf.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rvtrace/session.h>
#include "common/chips.h"
#include "common/cmd.h"
#include "common/memory.h"
#include "common/recording.h"
#include "common/text.h"
#include "decode/decode.h"

enum { STATUS_CLEAN, STATUS_LOST, STATUS_UNUSABLE };

#define MAX_IMAGES 64
#define ALL_SOURCES -1
#define MAX_ATID 0x6f

struct image_arg {
	const char *text;
	bool raw;
};

struct options {
	const char *path, *chip, *params_path, *guest_vmlinux;
	struct image_arg images[MAX_IMAGES];
	unsigned int n_images;
	enum decode_print print;
	long src;
	unsigned int atid;	/* 0: not given */
	unsigned int jobs;
	uint64_t wrapped_at, max_memory;
	bool guess;
};

struct command {
	struct options options;
	struct rvt_params params;
	struct decode_job job;
};

static const char usage_text[] =
	"usage: perf-rvtrace decode {--chip NAME|--params FILE} --image ELF[@BIAS] [OPTIONS] DUMP\n"
	"       perf-rvtrace decode --guess [--image ELF[@BIAS]] [--wrapped-at OFFSET] DUMP\n"
	"Decodes a bare dump of a trace sink to the flow of the program.\n"
	"  --chip NAME          parameters of the encoder by the chip; help: lists the chips\n"
	"  --params FILE        the same as `key = value` lines; with --chip: those that are not "
	"its\n"
	"  --guess              prints parameters that fit, and how sure that is; decodes nothing\n"
	"  --image ELF[@BIAS]   code: executable segments of ELF, moved by BIAS; may be repeated\n"
	"  --raw FILE@ADDRESS   code: a memory image that begins at ADDRESS; may be repeated\n"
	"  --guestvmlinux FILE  code of guests (V=1): an ELF file at its own addresses\n"
	"  --print WHAT         pc (default): an address a line for every retired instruction\n"
	"                       insn: address, code, class\n"
	"                       block: first address, address behind the last, instructions\n"
	"                       edge: from, to, kind; everything that was not the next address\n"
	"                       mark: time, place and value of what programs and triggers wrote\n"
	"                       data: loads, stores ...: time, kind, bytes, address, value\n"
	"                       packet: the messages themselves\n"
	"                       none: a summary on standard error\n"
	"  --src [ATID:]N       only this source; in frames of several ids that of this one\n"
	"  --jobs N             threads (as many as there are processors); with several sources "
	"in\n"
	"                       DUMP, what one prints may come earlier or later among the others\n"
	"  --wrapped-at OFFSET  DUMP is a ring: its oldest byte is at OFFSET\n"
	"  --max-memory SIZE    ends at so much memory, like 4G (half of the machine's)\n"
	"Exit status: 0 clean; 1 something was lost or wrong (see standard error); 2 unusable\n"
	"arguments or files.\n";

/* ---- options ---- */

static int parse_print(const char *text, enum decode_print *print)
{
	static const char *const names[] = { "pc", "insn", "block", "edge", "mark", "data",
					     "packet", "none" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*print = i;
			return 0;
		}
	return cmd_error(STATUS_UNUSABLE, "--print: '%s' is unknown; valid: pc, insn, block, edge, "
			 "mark, data, packet, none", text);
}

/* Parses [ATID:]N. */
static int parse_source(struct options *o, char *text)
{
	char *colon = strchr(text, ':');
	uint64_t atid = 0, src;

	if (colon)
		*colon = 0;
	if ((colon && cmd_number("--src", text, 1, MAX_ATID, &atid)) ||
	    cmd_number("--src", colon ? colon + 1 : text, 0, DECODE_MAX_SOURCES - 1, &src))
		return STATUS_UNUSABLE;
	o->atid = atid;
	o->src = src;
	return 0;
}

static int add_image(struct options *o, const char *text, bool raw)
{
	if (o->n_images == MAX_IMAGES)
		return cmd_error(STATUS_UNUSABLE, "more than %d images", MAX_IMAGES);
	o->images[o->n_images++] = (struct image_arg){ text, raw };
	return 0;
}

static int parse_option(struct options *o, int opt)
{
	int ret = 0;

	switch (opt) {
	case 'c':
		if (!strcmp(optarg, "help"))
			exit(chips_print(stdout) ? STATUS_UNUSABLE : STATUS_CLEAN);
		o->chip = optarg;
		break;
	case 'g':
		o->guess = true;
		break;
	case 'p':
		o->params_path = optarg;
		break;
	case 'i':
		ret = add_image(o, optarg, false);
		break;
	case 'r':
		ret = add_image(o, optarg, true);
		break;
	case 'G':
		o->guest_vmlinux = optarg;
		break;
	case 'P':
		ret = parse_print(optarg, &o->print);
		break;
	case 's':
		ret = parse_source(o, optarg);
		break;
	case 'j':
		ret = cmd_jobs(optarg, &o->jobs);
		break;
	case 'w':
		ret = cmd_number("--wrapped-at", optarg, 0, INT64_MAX, &o->wrapped_at);
		break;
	case 'm':
		ret = memory_parse(optarg, &o->max_memory) ? STATUS_UNUSABLE : 0;
		break;
	case 'h':
		fputs(usage_text, stdout);
		exit(STATUS_CLEAN);
	default:
		ret = cmd_try_help(STATUS_UNUSABLE);
		break;
	}
	return ret;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "chip", required_argument, NULL, 'c' },
		{ "guess", no_argument, NULL, 'g' },
		{ "params", required_argument, NULL, 'p' },
		{ "image", required_argument, NULL, 'i' },
		{ "raw", required_argument, NULL, 'r' },
		{ "guestvmlinux", required_argument, NULL, 'G' },
		{ "print", required_argument, NULL, 'P' },
		{ "src", required_argument, NULL, 's' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "wrapped-at", required_argument, NULL, 'w' },
		{ "max-memory", required_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "c:p:i:s:j:w:h", longs, NULL)) != -1) {
		if (parse_option(o, opt))
			return STATUS_UNUSABLE;
	}
	if (!o->jobs && cmd_jobs(NULL, &o->jobs))
		return STATUS_UNUSABLE;
	o->path = cmd_one_file(argc, argv, "a dump");
	if (!o->path)
		return STATUS_UNUSABLE;
	if (o->guess && (o->chip || o->params_path))
		return cmd_error(STATUS_UNUSABLE, "--guess finds parameters: leave --chip and "
				 "--params out");
	if (!o->n_images && !o->guess && o->print != PRINT_PACKET)
		return cmd_error(STATUS_UNUSABLE, "%s: flow needs the program's code: give --image "
				 "ELF", o->path);
	return 0;
}

/* ---- files ---- */

/*
 * Parses FILE@NUMBER. It is just FILE if a file has that very name, or if no digit follows. The
 * path is malloc'd. Returns 0 or STATUS_UNUSABLE.
 */
static int read_image(const struct image_arg *arg, struct rvt_dump_image *image)
{
	char *path = strdup(arg->text), *at = path ? strrchr(path, '@') : NULL;

	*image = (struct rvt_dump_image){ .size = sizeof(*image), .path = path, .raw = arg->raw };
	if (!path)
		return cmd_error(STATUS_UNUSABLE, "out of memory");
	if (!at || !isdigit((unsigned char)at[1]) || !access(path, F_OK))
		return 0;
	*at = 0;
	return cmd_number(arg->raw ? "--raw FILE@ADDRESS" : "--image ELF@BIAS", at + 1, 0,
			  UINT64_MAX, &image->address) ? STATUS_UNUSABLE : 0;
}

/* Checks --src, if given, and takes the id of its frames into the parameters. */
static int choose_source(struct command *c)
{
	const struct options *o = &c->options;
	bool framed = c->params.framing == RVT_FRAMING_CORESIGHT;
	unsigned int bits = rvt_stream_source_bits(&c->params);

	if (o->src < 0)
		return 0;
	if (o->atid && !framed)
		return cmd_error(STATUS_UNUSABLE, "--src: there are no ids without framing = "
				 "coresight");
	if (o->atid && c->params.atid && o->atid != c->params.atid)
		return cmd_error(STATUS_UNUSABLE, "--src: the parameters say atid = 0x%02x",
				 c->params.atid);
	if (o->atid)
		c->params.atid = o->atid;
	if (framed && !c->params.atid)
		return cmd_error(STATUS_UNUSABLE, "--src: frames have several ids: give ATID:N, or "
				 "atid in the parameters");
	if (o->src >= 1L << bits)
		return cmd_error(STATUS_UNUSABLE, "--src: there is no source %ld with %s = %u",
				 o->src, c->params.protocol == RVT_PROTOCOL_NTRACE ? "src_bits" :
				 "srcid_bits", bits);
	return 0;
}

static int load_params(struct command *c)
{
	if (chips_params(c->options.chip, c->options.params_path, c->options.path, &c->params))
		return STATUS_UNUSABLE;
	return choose_source(c);
}

static int look_at_dump(struct command *c)
{
	const struct options *o = &c->options;
	struct stat st;

	if (stat(o->path, &st))
		return cmd_error(STATUS_UNUSABLE, "%s: %s", o->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cmd_error(STATUS_UNUSABLE, "%s: not a regular file", o->path);
	if (o->wrapped_at > (uint64_t)st.st_size)
		return cmd_error(STATUS_UNUSABLE, "--wrapped-at: %s has only %" PRIu64 " bytes",
				 o->path, (uint64_t)st.st_size);
	c->job.size = st.st_size;
	return 0;
}

/* Guesses parameters. Returns the exit status. */
static int guess(struct command *c, const struct rvt_dump_image *images)
{
	const struct decode_guess job = {
		.path = c->options.path, .oldest = c->options.wrapped_at, .images = images,
		.n_images = c->options.n_images, .params = &c->params,
	};

	if (c->options.guess)
		return decode_guess(&job);
	decode_hint(&job);
	return 0;
}

/* Returns whether so much is wrong that the parameters are probably wrong. */
static bool contradicts(const struct decode_job *job)
{
	const uint64_t gaps = job->flow.gaps, reported = job->stream.lost_reports;
	const uint64_t errors = job->stream.errors + (gaps > reported ? gaps - reported : 0);

	return job->lost && errors && (!job->flow.insns || errors > job->stream.messages / 50 ||
				       2 * errors >= job->stream.syncs);
}

static int open_session(struct command *c, const struct rvt_dump_image *images)
{
	const struct options *o = &c->options;
	const struct rvt_session_options options = { .size = sizeof(options),
						     .jobs = o->jobs,
						     .accesses = o->print == PRINT_DATA,
						     .guest_vmlinux = o->guest_vmlinux };
	const struct rvt_session_dump dump = {
		.size = sizeof(dump), .path = o->path, .params = &c->params, .images = images,
		.n_images = o->n_images, .oldest = o->wrapped_at,
		.only_source = o->src >= 0, .source = o->src >= 0 ? o->src : 0,
	};
	char *error;
	int ret = rvt_session_open_dump(&dump, &options, &c->job.session, &error);

	if (!ret)
		return 0;
	cmd_error(STATUS_UNUSABLE, "%s", error ? error : strerror(-ret));
	free(error);
	return STATUS_UNUSABLE;
}

/* Calls @use with the files that the options name. */
static int with_images(struct command *c,
		       int (*use)(struct command *c, const struct rvt_dump_image *images))
{
	struct rvt_dump_image images[MAX_IMAGES] = { 0 };
	unsigned int n = c->options.n_images;
	int ret = 0;

	for (unsigned int i = 0; i < n && !ret; i++)
		ret = read_image(&c->options.images[i], &images[i]);
	if (!ret)
		ret = use(c, images);
	for (unsigned int i = 0; i < n; i++)
		free((char *)images[i].path);
	return ret;
}

/* ---- the command ---- */

static int print_packets(struct command *c)
{
	uint64_t damaged = 0;
	int ret = dump_messages(c->job.path, &c->params, c->job.oldest, &damaged);

	c->job.lost = damaged;
	return ret;
}

static void print_summary(const struct decode_job *job)
{
	fprintf(stderr, "%s: %" PRIu64 " instructions, %" PRIu64 " branches, %" PRIu64 " traps, "
		"%u sources, %" PRIu64 " bytes, %" PRIu64 " messages, %" PRIu64
		" synchronisations, %" PRIu64 " gaps, %" PRIu64 " errors\n", job->path,
		job->flow.insns, job->flow.branches, job->flow.traps, job->n_sources,
		job->stream.bytes, job->stream.messages, job->stream.syncs, job->flow.gaps,
		job->stream.errors);
}

static int decode(struct command *c)
{
	struct decode_job *job = &c->job;
	int ret = load_params(c);

	if (!ret)
		ret = look_at_dump(c);
	if (!ret && job->print != PRINT_PACKET)
		ret = with_images(c, open_session);
	if (ret)
		return ret;
	ret = job->print == PRINT_PACKET ? print_packets(c) : decode_run(job);
	if (ret == -EINTR && memory_exceeded()) {
		memory_error();
		job->lost = true;
		ret = 0;
	}
	if (ret == -EINVAL)
		return cmd_error(STATUS_UNUSABLE, "%s: these parameters fit no decoder",
				 c->options.params_path ?: c->options.chip);
	if (ret)
		return cmd_error(STATUS_UNUSABLE, "%s: %s", job->path, strerror(-ret));
	if (job->print == PRINT_NONE)
		print_summary(job);
	if (job->print != PRINT_PACKET && contradicts(job))
		with_images(c, guess);
	return job->lost || job->stream.errors ? STATUS_LOST : STATUS_CLEAN;
}

int cmd_decode(int argc, char **argv)
{
	struct command c = { .options = { .src = ALL_SOURCES } };
	const struct options *o = &c.options;
	int ret = parse_options(argc, argv, &c.options);

	if (ret)
		return ret;
	c.job = (struct decode_job){ .path = o->path, .oldest = o->wrapped_at, .print = o->print,
				     .all_sources = o->src < 0, .params = &c.params };
	if (recording_recognize(o->path))
		return cmd_error(STATUS_UNUSABLE, "%s: a recording, no bare dump: perf rvtrace "
				 "script -i %s", o->path, o->path);
	memory_watch(o->max_memory ? o->max_memory : memory_default());
	if (o->guess)
		return with_images(&c, guess);
	ret = decode(&c);
	rvt_session_close(c.job.session);
	return ret;
}
