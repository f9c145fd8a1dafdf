// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * perf-rvtrace decode: a bare dump (a board's memory, a probe's capture) and ELF files to the
 * program's flow. No perf involved.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rvtrace/dump.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "cmd.h"
#include "decode.h"

enum { STATUS_CLEAN, STATUS_LOST, STATUS_UNUSABLE };

#define CHUNK (1 << 20)
#define MAX_IMAGES 64
#define MAX_SOURCES (1 << 16)
#define ALL_SOURCES -1

struct image_arg {
	const char *text;
	bool raw;
};

struct options {
	const char *path, *params_path;
	struct image_arg images[MAX_IMAGES];
	unsigned int n_images;
	enum decode_print print;
	long src;
	unsigned int jobs;
	bool wrapped;
	uint64_t wrapped_at;
};

/* One source of the dump. */
struct source {
	struct command *command;
	unsigned int src;
	struct rvt_flow *flow;
	struct decode_printer *printer;
};

struct command {
	struct options options;
	struct rvt_params params;
	struct rvt_image *image;
	struct rvt_space *space;
	struct decode_output output;
	int fd;
	uint64_t size;
	bool tagged;			/* lines begin with the source */
	bool lost;
	unsigned int n_sources;
	struct source **sources;	/* by number; NULL: not seen */
	struct rvt_stream_stats stats;
};

static const char usage_text[] =
	"usage: perf-rvtrace decode --params FILE --image ELF[@BIAS] [OPTIONS] DUMP\n"
	"\n"
	"Decodes a bare dump of a trace sink to the flow of the program.\n"
	"  --params FILE        parameters of the encoder (`key = value` lines)\n"
	"  --image ELF[@BIAS]   code: executable segments of ELF, moved by BIAS; may be repeated\n"
	"  --raw FILE@ADDRESS   code: a memory image that begins at ADDRESS; may be repeated\n"
	"  --print WHAT         pc (default): an address a line for every retired instruction\n"
	"                       insn: address, code, class\n"
	"                       block: first address, address behind the last, instructions\n"
	"                       edge: from, to, kind; everything that was not the next address\n"
	"                       packet: the messages themselves\n"
	"                       none: a summary on standard error\n"
	"  --src N              only this source\n"
	"  --jobs N             threads\n"
	"  --wrapped-at OFFSET  DUMP is a ring: its oldest byte is at OFFSET\n"
	"\n"
	"Exit status: 0 clean; 1 something was lost or wrong (see standard error); 2 unusable\n"
	"arguments or files.\n";

/* ---- options ---- */

static int parse_print(const char *text, enum decode_print *print)
{
	static const char *const names[] = { "pc", "insn", "block", "edge", "packet", "none" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*print = i;
			return 0;
		}
	return cmd_error(STATUS_UNUSABLE, "--print: '%s' is unknown; valid: pc, insn, block, edge, "
			 "packet, none", text);
}

static int parse_number(const char *option, const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (!*text || *text == '-' || *end || errno || *value > max)
		return cmd_error(STATUS_UNUSABLE, "%s: '%s' is no number up to %" PRIu64, option,
				 text, max);
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
	uint64_t number;
	int ret = 0;

	switch (opt) {
	case 'p':
		o->params_path = optarg;
		break;
	case 'i':
		ret = add_image(o, optarg, false);
		break;
	case 'r':
		ret = add_image(o, optarg, true);
		break;
	case 'P':
		ret = parse_print(optarg, &o->print);
		break;
	case 's':
		ret = parse_number("--src", optarg, MAX_SOURCES - 1, &number);
		o->src = number;
		break;
	case 'j':
		ret = parse_number("--jobs", optarg, 1024, &number);
		o->jobs = number;
		break;
	case 'w':
		ret = parse_number("--wrapped-at", optarg, INT64_MAX, &o->wrapped_at);
		o->wrapped = true;
		break;
	case 'h':
		fputs(usage_text, stdout);
		exit(STATUS_CLEAN);
	default:
		fputs(usage_text, stderr);
		ret = STATUS_UNUSABLE;
		break;
	}
	return ret;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "params", required_argument, NULL, 'p' },
		{ "image", required_argument, NULL, 'i' },
		{ "raw", required_argument, NULL, 'r' },
		{ "print", required_argument, NULL, 'P' },
		{ "src", required_argument, NULL, 's' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "wrapped-at", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "p:i:s:j:w:h", longs, NULL)) != -1) {
		ret = parse_option(o, opt);
		if (ret)
			return ret;
	}
	if (argc - optind != 1) {
		fputs(usage_text, stderr);
		return STATUS_UNUSABLE;
	}
	o->path = argv[optind];
	if (!o->params_path)
		return cmd_error(STATUS_UNUSABLE, "%s: a bare dump does not say what it is: "
				 "give --params FILE", o->path);
	if (!o->n_images && o->print != PRINT_PACKET)
		return cmd_error(STATUS_UNUSABLE, "%s: flow needs the program's code: "
				 "give --image ELF", o->path);
	return 0;
}

/* ---- files ---- */

static int load_raw(struct command *c, const char *path, uint64_t addr)
{
	struct stat st;
	int ret;

	if (stat(path, &st))
		return -errno;
	ret = rvt_space_map_file(c->space, addr, st.st_size, 0, path, NULL, 0);
	return ret;
}

/* FILE@NUMBER, unless a file has that very name. */
static int load_image(struct command *c, const struct image_arg *arg)
{
	char *path = strdup(arg->text), *at = path ? strrchr(path, '@') : NULL, *end;
	uint64_t addr = 0;
	int ret;

	if (!path)
		return cmd_error(STATUS_UNUSABLE, "out of memory");
	if (at && at[1] && access(path, F_OK)) {
		addr = strtoull(at + 1, &end, 0);
		if (!*end)
			*at = 0;
	}
	ret = arg->raw ? load_raw(c, path, addr) : rvt_space_map_elf(c->space, path, addr);
	if (ret == -ENOEXEC)
		ret = cmd_error(STATUS_UNUSABLE, "%s: not a RISC-V ELF file with code in it", path);
	else if (ret)
		ret = cmd_error(STATUS_UNUSABLE, "%s: %s", path, strerror(-ret));
	free(path);
	return ret;
}

static int open_dump(struct command *c)
{
	const struct options *o = &c->options;
	struct stat st;

	c->fd = open(o->path, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0 || fstat(c->fd, &st))
		return cmd_error(STATUS_UNUSABLE, "%s: %s", o->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cmd_error(STATUS_UNUSABLE, "%s: not a regular file", o->path);
	c->size = st.st_size;
	if (o->wrapped && o->wrapped_at > c->size)
		return cmd_error(STATUS_UNUSABLE, "--wrapped-at: %s has only %" PRIu64 " bytes",
				 o->path, c->size);
	return 0;
}

static int load_files(struct command *c)
{
	char *error = NULL;
	int ret = rvt_params_load(&c->params, c->options.params_path, &error);

	if (ret) {
		ret = cmd_error(STATUS_UNUSABLE, "%s", error ? error : strerror(-ret));
		free(error);
		return ret;
	}
	if (rvt_image_create(&c->image) || rvt_space_create(c->image, NULL, &c->space))
		return cmd_error(STATUS_UNUSABLE, "out of memory");
	for (unsigned int i = 0; i < c->options.n_images; i++) {
		ret = load_image(c, &c->options.images[i]);
		if (ret)
			return ret;
	}
	return open_dump(c);
}

/* ---- what the decoder tells ---- */

static void report(struct command *c, const struct rvt_event *event, const struct source *source)
{
	c->lost = true;
	fprintf(stderr, "%s: offset 0x%" PRIx64 ": ", c->options.path, event->offset);
	if (source && c->tagged)
		fprintf(stderr, "source %u: ", source->src);
	fprintf(stderr, "%s\n", event->detail ? event->detail : "flow is lost");
}

static int on_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct source *source = ctx;

	return decode_printer_runs(source->printer, runs, n);
}

static int on_event(void *ctx, const struct rvt_event *event)
{
	struct source *source = ctx;

	if (event->type == RVT_EVENT_LOST)
		report(source->command, event, source);
	return decode_printer_event(source->printer, event);
}

static int on_stream_event(void *ctx, const struct rvt_event *event)
{
	if (event->type == RVT_EVENT_LOST)
		report(ctx, event, NULL);
	return 0;
}

static void source_destroy(struct source *source)
{
	if (!source)
		return;
	rvt_flow_destroy(source->flow);
	decode_printer_destroy(source->printer);
	free(source);
}

static struct source *source_create(struct command *c, unsigned int src)
{
	struct source *source = calloc(1, sizeof(*source));
	struct rvt_flow_sink sink = { source, NULL, on_event };
	struct rvt_flow_config config;
	char prefix[16] = "";

	if (!source)
		return NULL;
	source->command = c;
	source->src = src;
	if (c->tagged)
		snprintf(prefix, sizeof(prefix), "%u ", src);
	if (c->options.print <= PRINT_EDGE)
		sink.runs = on_runs;
	rvt_stream_flow_config(&c->params, &config);
	source->printer = decode_printer_create(c->options.print, prefix, c->space, &c->output);
	if (!source->printer || rvt_flow_create(&config, &sink, &source->flow)) {
		source_destroy(source);
		return NULL;
	}
	rvt_flow_set_space(source->flow, c->space);
	return source;
}

static struct rvt_flow *on_source(void *ctx, unsigned int src)
{
	struct command *c = ctx;

	if (src >= MAX_SOURCES || (c->options.src != ALL_SOURCES && c->options.src != src))
		return NULL;
	if (!c->sources[src]) {
		c->sources[src] = source_create(c, src);
		c->n_sources++;
	}
	return c->sources[src] ? c->sources[src]->flow : NULL;
}

/* ---- passes over the dump ---- */

/* Reads [from, to) of the dump in pieces. @take: its non-zero return value ends that. */
static int read_range(struct command *c, uint64_t from, uint64_t to, void *ctx,
		      int (*take)(void *ctx, const void *bytes, size_t len, uint64_t offset))
{
	char *buffer = malloc(CHUNK);
	int ret = buffer ? 0 : -ENOMEM;

	while (!ret && from < to) {
		size_t want = to - from < CHUNK ? to - from : CHUNK;
		ssize_t n = pread(c->fd, buffer, want, from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n ? -errno : -EIO;
			break;
		}
		ret = take(ctx, buffer, n, from);
		from += n;
	}
	free(buffer);
	return ret;
}

/* The whole dump, the oldest byte first. */
static int read_dump(struct command *c, void *ctx,
		     int (*take)(void *ctx, const void *bytes, size_t len, uint64_t offset))
{
	uint64_t first = c->options.wrapped ? c->options.wrapped_at : 0;
	int ret = read_range(c, first, c->size, ctx, take);

	return ret ? ret : read_range(c, 0, first, ctx, take);
}

static int feed_stream(void *ctx, const void *bytes, size_t len, uint64_t offset)
{
	return rvt_stream_feed(ctx, bytes, len, offset);
}

static int feed_dump(void *ctx, const void *bytes, size_t len, uint64_t offset)
{
	rvt_dump_feed(ctx, bytes, len, offset);
	return 0;
}

static struct rvt_flow *count_source(void *ctx, unsigned int src)
{
	(void)src;
	(*(unsigned int *)ctx)++;
	return NULL;
}

/* How many sources there are: lines are tagged only when there are several. */
static int count_sources(struct command *c, unsigned int *n)
{
	struct rvt_stream_ops ops = { .ctx = n, .flow = count_source };
	struct rvt_stream *stream;
	int ret = rvt_stream_create(&c->params, &ops, &stream);

	*n = 0;
	if (ret)
		return ret;
	ret = read_dump(c, stream, feed_stream);
	if (!ret)
		ret = rvt_stream_finish(stream);
	rvt_stream_destroy(stream);
	return ret;
}

static int print_packets(struct command *c)
{
	struct rvt_dump_stats stats;
	struct rvt_dump *dump;
	int ret = rvt_dump_create(&c->params, 0, stdout, &dump);

	if (ret)
		return ret;
	ret = read_dump(c, dump, feed_dump);
	if (!ret)
		rvt_dump_finish(dump);
	rvt_dump_stats(dump, &stats);
	c->lost = stats.damaged;
	rvt_dump_destroy(dump);
	if (!ret && (fflush(stdout) || ferror(stdout)))
		ret = -EIO;
	return ret;
}

static int decode(struct command *c)
{
	struct rvt_stream_ops ops = { c, on_source, on_stream_event };
	struct rvt_stream *stream;
	unsigned int n = 1;
	int ret = 0;

	if (c->options.src == ALL_SOURCES && (c->params.src_bits || c->params.srcid_bits))
		ret = count_sources(c, &n);
	if (ret)
		return ret;
	c->tagged = n > 1;
	c->sources = calloc(MAX_SOURCES, sizeof(c->sources[0]));
	if (!c->sources)
		return -ENOMEM;
	ret = rvt_stream_create(&c->params, &ops, &stream);
	if (ret)
		return ret;
	ret = read_dump(c, stream, feed_stream);
	if (!ret)
		ret = rvt_stream_finish(stream);
	rvt_stream_stats(stream, &c->stats);
	rvt_stream_destroy(stream);
	return ret;
}

static void print_summary(const struct command *c)
{
	struct rvt_flow_stats sum = {};

	for (unsigned int i = 0; i < MAX_SOURCES; i++) {
		struct rvt_flow_stats stats;

		if (!c->sources[i])
			continue;
		rvt_flow_stats(c->sources[i]->flow, &stats);
		sum.insns += stats.insns;
		sum.branches += stats.branches;
		sum.traps += stats.traps;
		sum.gaps += stats.gaps;
	}
	fprintf(stderr, "%s: %" PRIu64 " instructions, %" PRIu64 " branches, %" PRIu64 " traps, "
		"%u sources, %" PRIu64 " bytes, %" PRIu64 " messages, %" PRIu64
		" synchronisations, %" PRIu64 " gaps, %" PRIu64 " errors\n",
		c->options.path, sum.insns, sum.branches, sum.traps, c->n_sources, c->stats.bytes,
		c->stats.messages, c->stats.syncs, sum.gaps, c->stats.errors);
}

static int run_command(struct command *c)
{
	int ret = load_files(c);

	if (ret)
		return ret;
	ret = decode_output_open(&c->output);
	if (!ret)
		ret = c->options.print == PRINT_PACKET ? print_packets(c) : decode(c);
	if (c->output.error)
		ret = c->output.error;
	if (ret == -EINVAL)
		return cmd_error(STATUS_UNUSABLE, "%s: these parameters fit no decoder",
				 c->options.params_path);
	if (!ret)
		ret = decode_output_close(&c->output);
	if (ret)
		return cmd_error(STATUS_UNUSABLE, "%s: %s", c->options.path, strerror(-ret));
	if (c->options.print == PRINT_NONE)
		print_summary(c);
	return c->lost || c->stats.errors ? STATUS_LOST : STATUS_CLEAN;
}

int cmd_decode(int argc, char **argv)
{
	struct command c = { .options = { .src = ALL_SOURCES, .jobs = 1 }, .fd = -1 };
	int ret = parse_options(argc, argv, &c.options);

	if (!ret)
		ret = run_command(&c);
	for (unsigned int i = 0; c.sources && i < MAX_SOURCES; i++)
		source_destroy(c.sources[i]);
	free(c.sources);
	free(c.output.text);
	rvt_image_destroy(c.image);
	if (c.fd >= 0)
		close(c.fd);
	return ret;
}
