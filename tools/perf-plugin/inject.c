// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace inject`: a recording as ordinary samples that stock tools read. */
#include <stdio.h>
#include <string.h>
#include "cmd.h"
#include "ctr.h"

static const char help[] =
"usage: perf rvtrace inject [OPTIONS]\n"
"Turns a recording of Control Transfer Records into a perf.data of ordinary samples with branch stacks\n"
"(with call chains where it was made with ras=1), for perf script, perf report -b, llvm-profgen ...\n\n"
"  -o, --output FILE     instead of perf.data.injected\n"
VIEW_HELP;

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static int run(const struct view_options *options, const char *output)
{
	struct view *view = view_open(options);
	int err;

	if (!view)
		return 1;
	if (rvt_session_is_ctr(view_session(view)))
		err = ctr_inject(view, output);
	else
		err = cmd_error(1, "only recordings of riscv_ctr can be injected");
	view_close(view);
	return err ? 1 : 0;
}

int cmd_inject(int argc, char **argv)
{
	struct view_options options = { 0 };
	const char *output = "perf.data.injected";
	int c;

	while ((c = getopt_long(argc, argv, "ho:" VIEW_SHORT_OPTIONS, long_options, NULL)) >= 0) {
		if (c == 'o') {
			output = optarg;
		} else if (c == 'h') {
			fputs(help, stdout);
			return 0;
		} else if (!view_option(&options, c, optarg)) {
			fputs("Try 'perf rvtrace inject --help'.\n", stderr);
			return 1;
		}
	}
	if (!strcmp(output, options.input ? options.input : "perf.data"))
		return cmd_error(1, "the output would overwrite the recording: give -o another name");
	return run(&options, output);
}
