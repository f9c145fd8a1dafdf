// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace diff`: compares two recordings of one program. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/json.h"
#include "common/pager.h"
#include "diff/diff.h"

#define LINES 30	/* of each table */

static const char help[] =
"usage: perf rvtrace diff [OPTIONS] A B\n"
"What recording B executed more or less often than A, by exact counts: functions, code, call\n"
"paths; and for each thread the first branch that went another way.\n\n"
"  -d, --dsos LIST       only functions of these files, and only the ways these go\n"
"      --exit-code P     status 2 if a function executes more than P percent more in B\n"
"      --max-lines N     of each table (30; 0: all)\n"
"      --json            an object a line (see Documentation/json.rst)\n"
"      --no-pager        print to the terminal itself\n"
VIEW_HELP;

enum { OPT_EXIT = 256, OPT_MAX, OPT_JSON, OPT_NO_PAGER };

static const struct option long_options[] = {
	{ "dsos", required_argument, NULL, 'd' },
	{ "exit-code", required_argument, NULL, OPT_EXIT },
	{ "max-lines", required_argument, NULL, OPT_MAX },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static int open_side(struct diff *diff, int number, const struct view_options *options)
{
	struct diff_side *side = &diff->side[number];
	struct view_options wanted = *options;

	wanted.input = diff->options->files[number];
	side->view = view_open(&wanted);
	if (!side->view)
		return -EINVAL;
	if (view_refuse_ctr(side->view, "there is nothing to compare one by one"))
		return -EINVAL;
	side->places = places_create(view_session(side->view));
	side->srclines = srclines_create(options->session.symfs, options->session.vmlinux);
	if (!side->places || !side->srclines)
		return -ENOMEM;
	side->contexts.places = side->places;
	side->code = (struct code){ .view = side->view, .places = side->places,
				    .dsos = diff->options->dsos };
	return code_gather(&side->code);
}

static int compare(struct diff *diff, const struct view_options *options)
{
	int err = 0;

	for (int side = 0; side < DIFF_SIDES && !err; side++)
		err = open_side(diff, side, options);
	if (!err)
		err = diff_partings(diff);
	return err ? err : diff_counts(diff);
}

/* Returns, after a message, whether a function executes more in B than the options allow. */
static bool grew(const struct diff *diff)
{
	double percent = diff->options->exit_percent;

	for (size_t i = 0; i < diff->n_functions && percent >= 0; i++) {
		const struct diff_function *function = &diff->functions[i];
		uint64_t a = diff_count(function, DIFF_A), b = diff_count(function, DIFF_B);

		if (b <= a + a * percent / 100)
			continue;
		cmd_error(0, "--exit-code: %s executed %.2f%% more", function->side[DIFF_B]->name,
			  a ? 100.0 * (b - a) / a : 100);
		return true;
	}
	return false;
}

static int run(struct diff *diff, const struct view_options *options)
{
	int err = compare(diff, options), ended = 0;

	if (err)
		return err == -EINVAL ? err : cmd_error(err, "decoding ended: %s", strerror(-err));
	if (!diff->options->no_pager)
		pager_begin();
	if (diff->options->json)
		diff_json(diff);
	else
		diff_print(diff);
	for (int side = 0; side < DIFF_SIDES; side++) {
		err = view_summary(diff->side[side].view, diff->side[side].errors);
		ended = ended ? ended : err;
	}
	return ended;
}

void diff_free(struct diff *diff)
{
	for (size_t i = 0; i < diff->n_partings; i++)
		free(diff->partings[i].stack);
	free(diff->partings);
	free(diff->functions);
	free(diff->blocks);
	free(diff->paths);
	for (int i = 0; i < DIFF_SIDES; i++) {
		struct diff_side *side = &diff->side[i];

		code_free(&side->code);
		context_free(&side->contexts.root);
		srclines_destroy(side->srclines);
		places_destroy(side->places);
		view_close(side->view);
	}
}

/* Takes the two recordings. Returns 0, or -EINVAL after a message. */
static int take_files(struct diff_options *wanted, int argc, char **argv)
{
	if (argc - optind != DIFF_SIDES)
		return cmd_error(-EINVAL, "which recordings? Give two of them: "
				 "perf rvtrace diff A B");
	for (int side = 0; side < DIFF_SIDES; side++)
		wanted->files[side] = argv[optind++];
	return 0;
}

static int take_option(void *ctx, int c, const char *argument)
{
	struct diff_options *wanted = ctx;

	switch (c) {
	case 'd': wanted->dsos = argument; return 0;
	case OPT_EXIT: return cmd_decimal("--exit-code", argument, &wanted->exit_percent);
	case OPT_MAX: return cmd_number("--max-lines", argument, 0, UINT64_MAX, &wanted->max_lines);
	case OPT_JSON: wanted->json = true; return json_supported();
	case OPT_NO_PAGER: wanted->no_pager = true; return 0;
	default: return VIEW_NOT_MINE;
	}
}

int cmd_diff(int argc, char **argv)
{
	struct diff_options wanted = { .exit_percent = -1, .max_lines = LINES };
	const struct view_command command = { help, "hfd:" VIEW_SHORT_OPTIONS, long_options,
					      take_option, &wanted };
	struct diff diff = { .options = &wanted };
	struct view_options options = { 0 };
	int err = view_parse(&command, &options, argc, argv), status;

	if (!err && options.input)
		err = cmd_error(-EINVAL, "-i: two recordings are compared, give them as A and B");
	if (!err)
		err = take_files(&wanted, argc, argv);
	if (err)
		return err > 0 ? 0 : 1;
	status = run(&diff, &options) ? 1 : grew(&diff) ? 2 : 0;
	diff_free(&diff);
	return status;
}
