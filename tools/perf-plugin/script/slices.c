// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace script` on several threads: what each needs to print its slices. */
#include <stdlib.h>
#include "common/pages.h"
#include "script/lines.h"

struct printer {
	struct script script, *total;
	struct transfers *transfers;
};

struct printing {
	struct script *script;
	const struct view_options *options;
};

static void close_printer(void *ctx, bool valid)
{
	struct printer *printer = ctx;

	if (valid) {
		printer->total->errors += printer->script.errors;
		printer->total->any |= printer->script.any;
	}
	transfers_destroy(printer->transfers);
	script_close(&printer->script);
	free(printer);
}

static void *open_printer(void *ctx, struct rvt_session_sink *sink)
{
	struct printing *printing = ctx;
	struct printer *printer = calloc(1, sizeof(*printer));
	struct script *script;

	if (!printer)
		return NULL;
	printer->total = printing->script;
	script = &printer->script;
	*script = *printing->script;
	script->slice = true;
	script->errors = 0;
	script->any = false;
	script->places = NULL;
	script->srclines = NULL;
	script->disasm = NULL;
	script->clocks = NULL;
	sink->warning = view_warning;
	if (script_open(script, printing->options) ||
	    script_sink(script, &printer->transfers, sink)) {
		close_printer(printer, false);
		return NULL;
	}
	return printer;
}

static void begin(void *ctx, const struct pages_slice *slice)
{
	struct printer *printer = ctx;

	printer->script.out = slice->out;
}

static void again(void *ctx)
{
	const struct printing *printing = ctx;

	view_forget(printing->script->view);
}

static int run(void *ctx, const struct rvt_session_sink *sink,
	       const struct rvt_session_slices *slices)
{
	const struct printing *printing = ctx;

	return view_run_slices(printing->script->view, sink, slices, true);
}

int script_run_slices(struct script *script, const struct view_options *options)
{
	struct printing printing = { script, options };
	const struct pages_ops ops = {
		.ctx = &printing, .overlap = script->mode == MODE_ITRACE, .open = open_printer,
		.close = close_printer, .begin = begin, .again = again,
		.run = run,
	};

	return pages_run(&ops, script->out);
}
