// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace latency`: shows how long the calls of a function took, and why some took longer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/durations.h"
#include "common/json.h"
#include "common/pager.h"
#include "latency/latency.h"

static const char help[] =
"usage: perf rvtrace latency [OPTIONS] [SYMBOL]\n"
"How long the calls of a function took: time, instructions, time off the cpu. Without SYMBOL:\n"
"all functions, those with the longest tail first. System calls and interrupts are functions.\n\n"
"      --slowest N       call trees of the N slowest calls, beside that of a median one\n"
"      --over TIME       every call that took longer, like 50us, 1.5ms, 2s\n"
"      --own             of all functions: without what they called\n"
"  -d, --dsos LIST       only functions of these files\n"
"      --max-lines N     only the first N functions\n"
"      --json            an object a line (see Documentation/json.rst)\n"
"      --no-pager        print to the terminal itself\n"
VIEW_HELP
VIEW_INDEX_HELP;

enum { OPT_SLOWEST = 256, OPT_OVER, OPT_OWN, OPT_MAX, OPT_JSON,
       OPT_NO_PAGER };

static const struct option long_options[] = {
	{ "slowest", required_argument, NULL, OPT_SLOWEST },
	{ "over", required_argument, NULL, OPT_OVER },
	{ "own", no_argument, NULL, OPT_OWN },
	{ "dsos", required_argument, NULL, 'd' },
	{ "max-lines", required_argument, NULL, OPT_MAX },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	VIEW_INDEX_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

/* Decodes once more, for what needs a second pass. */
static int look_again(struct latency *latency)
{
	const struct latency_options *options = latency->options;
	bool json = options->json;
	int err;

	if (options->over && !latency->timed)
		return cmd_error(-EINVAL, "--over: the trace has no time stamps; record with "
				 "-e rvtrace/timestamp/");
	if (!options->slowest && !options->over)
		return 0;
	if (options->over && !json)
		latency_print_calls_head(latency);
	err = latency_trees(latency, !options->over ? NULL : json ? latency_json_call :
			    latency_print_call);
	if (!err && json)
		latency_json_trees(latency);
	else if (!err)
		latency_print_trees(latency);
	return err;
}

static int show(struct latency *latency)
{
	if (latency->options->symbol && !latency->n && !view_interrupted(latency->view))
		return cmd_error(-ENOENT, "no call of '%s' is in the recording; functions that "
				 "are: perf rvtrace latency", latency->options->symbol);
	if (latency->options->dsos && !latency->n && !view_interrupted(latency->view))
		view_warn_no_function();
	if (!latency->options->no_pager)
		pager_begin();
	if (latency->options->json)
		latency_json(latency);
	else
		latency_print(latency);
	return view_interrupted(latency->view) ? 0 : look_again(latency);
}

static int run(struct latency *latency, const struct view_options *options)
{
	int err;

	latency->view = view_open(options);
	if (!latency->view)
		return -EINVAL;
	if (view_refuse_ctr(latency->view, "there are no calls to measure"))
		return -EINVAL;
	latency->places = places_create(view_session(latency->view));
	if (!latency->places)
		return -ENOMEM;
	err = latency_gather(latency);
	if (err)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	err = show(latency);
	return err ? err : view_summary(latency->view, latency->errors);
}

static int take_option(void *ctx, int c, const char *argument)
{
	struct latency_options *wanted = ctx;

	switch (c) {
	case OPT_SLOWEST:
		return cmd_number("--slowest", argument, 1, LATENCY_MAX_SLOWEST, &wanted->slowest);
	case OPT_OVER: return duration_parse("--over", argument, &wanted->over);
	case OPT_OWN: wanted->own = true; return 0;
	case OPT_MAX: return cmd_number("--max-lines", argument, 0, UINT64_MAX, &wanted->max_lines);
	case OPT_JSON: wanted->json = true; return json_supported();
	case OPT_NO_PAGER: wanted->no_pager = true; return 0;
	case 'd': wanted->dsos = argument; return 0;
	default: return VIEW_NOT_MINE;
	}
}

/* Returns 0; -errno after a message; 1: only the help was asked for. */
static int parse_options(struct latency_options *wanted, struct view_options *options, int argc,
			 char **argv)
{
	const struct view_command command = { help, "hfd:" VIEW_SHORT_OPTIONS, long_options,
					      take_option, wanted };
	int err = view_parse(&command, options, argc, argv);

	if (err)
		return err;
	wanted->symbol = argv[optind];
	if (wanted->symbol)
		optind++;
	if (!wanted->symbol && (wanted->slowest || wanted->over))
		return cmd_error(-EINVAL, "%s: of which function? Give its name",
				 wanted->slowest ? "--slowest" : "--over");
	if (wanted->symbol && wanted->own)
		return cmd_error(-EINVAL,
				 "--own: for all functions; of one, own time and instructions "
				 "are shown anyway");
	return 0;
}

int cmd_latency(int argc, char **argv)
{
	struct view_options options = { .session.clock = true };
	struct latency_options wanted = { 0 };
	struct latency *latency;
	int err = parse_options(&wanted, &options, argc, argv);

	if (err)
		return err > 0 ? 0 : 1;
	latency = calloc(1, sizeof(*latency));
	if (!latency)
		return cmd_error(1, "out of memory");
	latency->options = &wanted;
	err = run(latency, &options);
	latency_free(latency);
	places_destroy(latency->places);
	view_close(latency->view);
	free(latency);
	return err ? 1 : 0;
}
