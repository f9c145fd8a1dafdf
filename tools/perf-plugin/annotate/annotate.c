// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace annotate`: source and code with exact counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/print.h"
#include "common/cmd.h"
#include "common/color.h"
#include "common/json.h"
#include "common/pager.h"

#define PERCENT_LIMIT 0.5

struct options {
	struct code *code;	/* .symbol and .dsos */
	double percent_limit;
	uint64_t max;
	bool json, pager;
};

static const char help[] =
"usage: perf rvtrace annotate [OPTIONS] [SYMBOL]\n"
"Source and disassembly of a function, with how often each instruction was executed, how\n"
"often each branch was taken, and time. Without SYMBOL: the functions that executed most.\n\n"
"  -s, --symbol NAME     as SYMBOL\n"
"  -d, --dsos LIST       only functions of these files\n"
"      --percent-limit P leave out functions below P percent (0.5)\n"
"      --max-functions N only the first N\n"
"      --json            an object a line (see Documentation/json.rst)\n"
"      --stdio           accepted for perf's sake; --no-pager: print to the terminal itself\n"
COLOR_HELP
VIEW_INDEX_HELP
VIEW_HELP;

enum { OPT_STDIO = 256, OPT_LIMIT, OPT_MAX, OPT_JSON, OPT_COLOR, OPT_NO_PAGER };

static const struct option long_options[] = {
	{ "symbol", required_argument, NULL, 's' },
	{ "dsos", required_argument, NULL, 'd' },
	{ "percent-limit", required_argument, NULL, OPT_LIMIT },
	{ "max-functions", required_argument, NULL, OPT_MAX },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "stdio", no_argument, NULL, OPT_STDIO },
	{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
	{ "color", required_argument, NULL, OPT_COLOR },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	VIEW_INDEX_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static int show(const struct options *options, const struct listing *listing)
{
	const struct code *code = listing->code;

	if (options->pager)
		pager_begin();
	if (options->json)
		view_json_losses(code->view, stdout);
	else
		print_code_head(code);
	for (size_t i = 0; i < code->n && (!options->max || i < options->max); i++) {
		const struct code_function *function = code->list[i];

		if (!code->symbol && 100.0 * function->count < options->percent_limit * code->count)
			break;
		if (options->json)
			json_code_function(listing, function);
		else
			print_code_function(listing, function);
	}
	return 0;
}

static int look(struct code *code, const struct options *options,
		const struct rvt_session_options *session)
{
	struct listing listing = {
		.code = code, .disasm = disasm_create(),
		.srclines = srclines_create(session->symfs, session->vmlinux),
		.sources = sources_create(session->symfs),
	};
	int err = -ENOMEM;

	if (!disasm_available())
		cmd_warning("code is shown in hexadecimal: %s", disasm_missing());
	if (listing.srclines && listing.sources && (listing.disasm || !disasm_available()))
		err = show(options, &listing);
	disasm_destroy(listing.disasm);
	srclines_destroy(listing.srclines);
	sources_destroy(listing.sources);
	return err;
}

static int run(struct code *code, const struct options *options,
	       const struct view_options *view_options)
{
	int err;

	code->view = view_open(view_options);
	if (!code->view)
		return -EINVAL;
	if (view_refuse_ctr(code->view, "instructions are not counted"))
		return -EINVAL;
	code->places = places_create(view_session(code->view));
	err = code->places ? code_gather(code) : -ENOMEM;
	if (err)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	if (code->symbol && !code->n && !view_interrupted(code->view))
		return cmd_error(-ENOENT, "'%s' did not run; functions that did: "
				 "perf rvtrace report", code->symbol);
	if (code->dsos && !code->n && !view_interrupted(code->view))
		view_warn_no_function();
	err = look(code, options, &view_options->session);
	return err ? err : view_summary(code->view, code->errors);
}

static int take_option(void *ctx, int c, const char *argument)
{
	struct options *options = ctx;

	switch (c) {
	case 's': options->code->symbol = argument; return 0;
	case 'd': options->code->dsos = argument; return 0;
	case OPT_LIMIT:
		return cmd_decimal("--percent-limit", argument, &options->percent_limit);
	case OPT_MAX: return cmd_number("--max-functions", argument, 1, UINT64_MAX, &options->max);
	case OPT_JSON: options->json = true; return json_supported();
	case OPT_STDIO: return 0;
	case OPT_NO_PAGER: options->pager = false; return 0;
	case OPT_COLOR: return color_set(argument);
	default: return VIEW_NOT_MINE;
	}
}

int cmd_annotate(int argc, char **argv)
{
	struct view_options view_options = { .session.clock = true };
	struct code code = { .uses_index = true };
	struct options options = { &code, .percent_limit = PERCENT_LIMIT, .pager = true };
	const struct view_command command = { help, "hfd:s:" VIEW_SHORT_OPTIONS, long_options,
					      take_option, &options };
	int err = view_parse(&command, &view_options, argc, argv);

	if (err)
		return err > 0 ? 0 : 1;
	if (!code.symbol && argv[optind])
		code.symbol = argv[optind++];
	err = run(&code, &options, &view_options);
	code_free(&code);
	places_destroy(code.places);
	view_close(code.view);
	return err ? 1 : 0;
}
