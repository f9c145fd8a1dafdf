// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace profile`: the flow as a profile for compilers, and as pictures for people. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/contexts.h"
#include "common/output.h"
#include "common/recording.h"
#include "profile/profile.h"
#include "profile/merge.h"

#define FLAT flat_create, flat_ops, flat_add, flat_forget, flat_write, flat_destroy, false, NULL
#define TREE tree_create, tree_ops, NULL, tree_forget, tree_write, tree_destroy, false, tree_run
#define CHROME chrome_create, chrome_ops, NULL, NULL, chrome_write, chrome_destroy, true, NULL

#define CALLGRIND callgrind_create, tree_ops, NULL, tree_forget, tree_write, tree_destroy, false, \
	tree_run
#define PERFETTO perfetto_create, perfetto_ops, NULL, NULL, perfetto_write, perfetto_destroy, \
	true, NULL

static const struct profile_format formats[] = {
	{ "llvm", "for llvm-profgen", FLAT },
	{ "bolt", "for perf2bolt -pa", FLAT },
	{ "autofdo", "for create_llvm_prof, create_gcov", FLAT },
	{ "clang", "for -fprofile-sample-use", FLAT },
	{ "gcc", "for -fauto-profile of GCC 16", FLAT },
	{ "gcc15", "the same up to GCC 15", FLAT },
	{ "lcov", "coverage, for genhtml", FLAT },
	{ "counts", "all files, for -i and --merge", FLAT },
	{ "folded", "call stacks, for flamegraph.pl", TREE },
	{ "svg", "a flame graph", TREE },
	{ "pprof", "call stacks, for pprof", TREE },
	{ "callgrind", "calls, for KCachegrind", CALLGRIND },
	{ "chrome", "timeline: speedscope, Perfetto", CHROME },
	{ "perfetto", "timeline, and what cpus ran", PERFETTO },
};

#define N_FORMATS (sizeof(formats) / sizeof(*formats))

enum { OPT_DSO = 256, OPT_MERGE, OPT_JOBS };

static const struct option long_options[] = {
	{ "format", required_argument, NULL, 'f' },
	{ "dso", required_argument, NULL, OPT_DSO },
	{ "merge", no_argument, NULL, OPT_MERGE },
	{ "output", required_argument, NULL, 'o' },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "help", no_argument, NULL, 'h' },
	{ "force", no_argument, NULL, VIEW_FORCE },
	VIEW_LONG_OPTIONS,
	VIEW_INDEX_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static void usage(void)
{
	fputs("usage: perf rvtrace profile --format FORMAT [OPTIONS]\n"
	      "       perf rvtrace profile --format FORMAT --merge [OPTIONS] FILE...\n"
	      "Exact counts from the trace, in the form that other tools read.\n\n"
	      "  -f, --format FORMAT   one of\n", stdout);
	for (size_t i = 0; i < N_FORMATS; i++)
		printf("%s    %-9s %s%*s", i && i % 2 == 0 ? "\n" : "", formats[i].name,
		       formats[i].help, i % 2 || i + 1 == N_FORMATS ? 0 :
		       34 - (int)strlen(formats[i].help), "");
	putchar('\n');
	fputs("      --dso NAME        of this file (formats up to lcov); else of the one that "
	      "ran most\n"
	      "      --merge           the sum of recordings and profiles; chrome: recordings "
	      "beside each other\n"
	      "  -o, --output FILE     instead of standard output\n"
	      "      --jobs N          threads that decode (as many as processors)\n"
	      VIEW_HELP VIEW_INDEX_HELP, stdout);
}

const struct profile_format *profile_format(const char *name)
{
	for (size_t i = 0; i < N_FORMATS && name; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	if (name)
		cmd_error(0, "there is no format '%s'; formats: llvm, bolt, autofdo, clang, gcc, "
			     "gcc15, lcov, counts, folded, svg, pprof, callgrind, chrome, perfetto",
			  name);
	else
		cmd_error(0, "which format? Give --format llvm, bolt, autofdo, clang, gcc, gcc15, "
			     "lcov, counts, folded, svg, pprof, callgrind, chrome or perfetto");
	return NULL;
}

static int run(const struct profile_format *format, const struct view_options *options,
	       const char *dso, FILE *out)
{
	struct view_options wanted = *options;
	struct places *places;
	struct view *view;
	uint64_t errors = 0;
	void *data;
	int err = -EINVAL;

	/* counts need no order between cpus, and decoding is faster without */
	wanted.session.by_cpu = format->add;
	wanted.session.clock = format->timed;
	if (format->run)
		wanted.session.slice_bytes = CONTEXTS_SLICE_BYTES;
	view = view_open(&wanted);
	places = view ? places_create(view_session(view)) : NULL;
	data = places ? format->create(places, &options->session, out) : NULL;

	if (data) {
		err = profile_decode(view, format, &options->session, data, &errors);
		if (!err)
			err = format->write(data, format->name, dso, out);
		format->destroy(data);
	}
	if (!err)
		err = view_summary(view, errors);
	places_destroy(places);
	view_close(view);
	return err;
}

/* Refuses filters for @path, a profile: what they would let through is not known any more. */
static int refuse_filters(const struct view_options *options, const char *path)
{
	if (!view_options_filter(options))
		return 0;
	return cmd_error(-EINVAL, "%s is a profile: --cpu, --pid, --tid, --comms and --time choose "
			 "from recordings only", path);
}

/* Makes @format from counts in @in, an earlier profile of a recording. */
static int convert(const struct profile_format *format, const struct view_options *options,
		   const char *dso, FILE *in, FILE *out)
{
	void *flat;
	int err;

	if (!format->add)
		return cmd_error(-EINVAL, "%s: %s cannot be made from counts", options->input,
				 format->name);
	if (refuse_filters(options, options->input))
		return -EINVAL;
	flat = format->create(NULL, &options->session, out);
	if (!flat)
		return -ENOMEM;
	err = flat_read(flat, in, options->input);
	if (!err)
		err = format->write(flat, format->name, dso, out);
	format->destroy(flat);
	return err;
}

static FILE *open_counts(const char *path)
{
	FILE *in = path ? fopen(path, "r") : NULL;

	if (in && !counts_recognize(in)) {
		fclose(in);
		in = NULL;
	}
	return in;
}

/* Makes a profile from a recording, or from counts. */
static int make(const struct profile_format *format, const struct view_options *options,
		const char *dso, FILE *out)
{
	FILE *in = open_counts(options->input);
	int err = in ? convert(format, options, dso, in, out) : run(format, options, dso, out);

	if (in)
		fclose(in);
	return err;
}

/* Writes the timelines of several recordings side by side: they cannot be added up. */
static int merge_timelines(const struct profile_format *format, struct view_options *options,
			   char **files, FILE *out)
{
	void *data = format->create(NULL, &options->session, out);
	int err = data ? 0 : -EINVAL;

	for (; *files && !err; files++) {
		struct places *places;
		struct view *view;
		uint64_t errors = 0;

		options->input = *files;
		options->session.clock = true;
		view = view_open(options);
		places = view ? places_create(view_session(view)) : NULL;
		err = places ? 0 : -EINVAL;
		if (!err) {
			chrome_next(data, places, *files);
			err = profile_decode(view, format, &options->session, data, &errors);
		}
		if (!err)
			err = chrome_close(data);
		if (!err)
			err = view_summary(view, errors);
		places_destroy(places);
		view_close(view);
	}
	if (data) {
		format->write(data, format->name, NULL, out);
		format->destroy(data);
	}
	return err;
}

/* Makes a profile in memory and gives it to @add as a file. */
static int add_made(const struct profile_format *format, const struct view_options *options,
		    const char *dso, int (*add)(void *ctx, FILE *in, const char *name), void *ctx)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len), *in;
	int err;

	if (!out)
		return -ENOMEM;
	err = make(format, options, dso, out);
	if (fclose(out) && !err)
		err = -ENOMEM;
	if (!err && len) {
		in = fmemopen(text, len, "r");
		err = in ? add(ctx, in, options->input) : -ENOMEM;
		if (in)
			fclose(in);
	}
	free(text);
	return err;
}

static int add_to_merge(void *merge, FILE *in, const char *name)
{
	return merge_add(merge, in, name);
}

/* Adds up the counts of all files as they are read. */
static int merge_counts(const struct profile_format *format, struct view_options *options,
			char **files, FILE *out)
{
	void *flat = format->create(NULL, &options->session, out);
	int err = flat ? 0 : -ENOMEM;

	for (; *files && !err; files++) {
		options->input = *files;
		err = add_made(format, options, NULL, flat_read, flat);
	}
	if (!err)
		err = format->write(flat, format->name, NULL, out);
	if (flat)
		format->destroy(flat);
	return err;
}

static int merge_file(struct merge *merge, const struct profile_format *format,
		      struct view_options *options, const char *dso)
{
	FILE *in = fopen(options->input, "r");
	int err;

	if (!in)
		return cmd_error(-errno, "%s: %s", options->input, strerror(errno));
	if (!recording_recognize(options->input) && !counts_recognize(in))
		err = refuse_filters(options, options->input) ? -EINVAL :
			merge_add(merge, in, options->input);
	else if (!dso && strcmp(format->name, "folded"))
		err = cmd_error(-EINVAL, "the profile of which file? Give --dso NAME");
	else
		err = add_made(format, options, dso, add_to_merge, merge);
	fclose(in);
	return err;
}

static int merge_profiles(const struct profile_format *format, struct view_options *options,
			  const char *dso, char **files, FILE *out)
{
	struct merge *merge = merge_create(format->name);
	int err = 0;

	if (!merge)
		return cmd_error(-EINVAL, "%s: lcov itself does that: lcov -a FILE -a FILE -o SUM",
				 format->name);
	for (; *files && !err; files++) {
		options->input = *files;
		err = merge_file(merge, format, options, dso);
	}
	if (!err)
		err = merge_write(merge, out);
	merge_destroy(merge);
	return err;
}

/* Draws the sum of folded stacks. */
static int merge_pictures(const struct profile_format *format, struct view_options *options,
			  char **files, FILE *out)
{
	void *tree = tree_create(NULL, &options->session, out);
	FILE *stacks = tmpfile();
	int err = tree && stacks ? 0 : -ENOMEM;

	if (!err)
		err = merge_profiles(profile_format("folded"), options, NULL, files, stacks);
	if (!err) {
		rewind(stacks);
		err = tree_add_folded(tree, stacks);
	}
	if (!err)
		err = tree_write(tree, format->name, NULL, out);
	if (stacks)
		fclose(stacks);
	if (tree)
		tree_destroy(tree);
	return err;
}

static int merge(const struct profile_format *format, struct view_options *options,
		 const char *dso, char **files, FILE *out)
{
	if (!*files)
		return cmd_error(-EINVAL, "which files? Give recordings, or profiles of the format "
				 "%s", format->name);
	if (format->create == chrome_create)
		return merge_timelines(format, options, files, out);
	if (!strcmp(format->name, "counts"))
		return merge_counts(format, options, files, out);
	if (!strcmp(format->name, "svg"))
		return merge_pictures(format, options, files, out);
	return merge_profiles(format, options, dso, files, out);
}

int cmd_profile(int argc, char **argv)
{
	const char *name = NULL, *dso = NULL, *output = NULL, *jobs = NULL;
	const struct profile_format *format;
	struct view_options options = { 0 };
	struct output_file file;
	bool merging = false;
	char **files = NULL;
	FILE *out = stdout;
	int c, err;

	while ((c = getopt_long(argc, argv, "hf:o:" VIEW_SHORT_OPTIONS, long_options, NULL)) >= 0) {
		switch (c) {
		case 'f': name = optarg; break;
		case 'o': output = optarg; break;
		case OPT_DSO: dso = optarg; break;
		case OPT_MERGE: merging = true; break;
		case OPT_JOBS: jobs = optarg; break;
		case 'h':
			usage();
			return 0;
		default:
			if (view_option(&options, c, optarg))
				break;
			return cmd_try_help(1);
		}
	}
	if (merging) {
		files = argv + optind;
		optind = argc;
	}
	if (cmd_first_word())
		return cmd_surplus(1, cmd_first_word(), "a recording is given with -i FILE");
	if (cmd_jobs(jobs, &options.session.jobs))
		return 1;
	format = profile_format(name);
	if (!format)
		return cmd_try_help(1);
	if (dso && (!format->add || !strcmp(format->name, "counts")))
		return cmd_error(1, "--dso: a profile of the format %s has what ran in all files",
				 format->name);
	if (output) {
		out = output_open(&file, output);
		if (!out)
			return 1;
	}
	err = merging ? merge(format, &options, dso, files, out) :
		make(format, &options, dso, out);
	if (output)
		err = output_close(&file, out, err);
	return err ? 1 : 0;
}
