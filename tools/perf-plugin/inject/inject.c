// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace inject`: a recording as ordinary samples that stock tools read. */
#include <stdio.h>
#include <string.h>
#include "common/cmd.h"
#include "ctr/ctr.h"
#include "inject/inject.h"

static const char help[] =
"usage: perf rvtrace inject [OPTIONS]\n"
"Writes an ordinary perf.data with samples, for perf script, perf report, llvm-profgen ...\n"
"From an encoder's trace as --itrace says; from Control Transfer Records with their branch stacks\n"
"(with call chains where they were made with ras=1).\n\n"
ITRACE_HELP
"  -o, --output FILE     instead of perf.data.injected\n"
"  --no-arch             do not say that the program is RISC-V's: hotspot refuses that\n"
"  --jobs N              threads; samples with G or L are made by one\n"
VIEW_HELP;

enum { OPT_ITRACE = 256, OPT_NO_ARCH, OPT_JOBS, OPT_NOTHING };

static const struct option long_options[] = {
	{ "itrace", optional_argument, NULL, OPT_ITRACE },
	{ "output", required_argument, NULL, 'o' },
	{ "no-arch", no_argument, NULL, OPT_NO_ARCH },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	/* options of perf for what we do anyway */
	{ "strip", no_argument, NULL, OPT_NOTHING },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

/* @letters: of --itrace, or NULL. */
static int run(const struct view_options *options, const char *letters,
	       const struct itrace *itrace, const char *output, bool arch)
{
	struct view *view = view_open(options);
	int err;

	if (!view)
		return 1;
	if (!rvt_session_is_ctr(view_session(view)))
		err = trace_inject(view, itrace, output, arch);
	else if (letters)
		err = ctr_refuse("--itrace");
	else
		err = ctr_inject(view, output, arch);
	view_close(view);
	return err ? 1 : 0;
}

int cmd_inject(int argc, char **argv)
{
	struct view_options options = { .session.clock = true };
	const char *output = "perf.data.injected", *letters = NULL, *jobs = NULL;
	struct itrace itrace;
	bool arch = true;
	int c;

	while ((c = getopt_long(argc, argv, "hfo:" VIEW_SHORT_OPTIONS, long_options, NULL)) >= 0) {
		if (c == 'o') {
			output = optarg;
		} else if (c == OPT_ITRACE) {
			letters = optarg;
		} else if (c == OPT_NO_ARCH) {
			arch = false;
		} else if (c == OPT_JOBS) {
			jobs = optarg;
		} else if (c == 'h') {
			fputs(help, stdout);
			return 0;
		} else if (c == 'f') {
			options.force = true;
		} else if (c != OPT_NOTHING && !view_option(&options, c, optarg)) {
			return cmd_try_help(1);
		}
	}
	if (!strcmp(output, options.input ? options.input : "perf.data"))
		return cmd_error(1, "the output would overwrite the recording: give -o another "
				    "name");
	if (!strcmp(output, "-"))
		return cmd_error(1, "the output must be a file: its header is written at the end");
	if (itrace_parse(letters, "", &itrace) || cmd_jobs(jobs, &options.session.jobs))
		return 1;
	options.session.by_cpu = itrace.ignore_time;
	options.session.slice_bytes = trace_slice_bytes(&itrace);
	if (!trace_in_slices(&itrace))
		options.session.jobs = 1;
	return run(&options, letters, &itrace, output, arch);
}
