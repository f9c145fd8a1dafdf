// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace export`: the recording as a database. */
#include <errno.h>
#include "common/cmd.h"
#include "export/export.h"

static const char help[] =
"usage: perf rvtrace export --sqlite FILE [OPTIONS]\n"
"Calls, call paths, threads and context switches as a database, with the tables that perf's\n"
"own export has.\n\n"
"      --sqlite FILE     the database; it must not be there yet\n"
"      --branches        every taken branch, too, in the table samples\n"
VIEW_HELP;

enum { OPT_SQLITE = 256, OPT_BRANCHES };

static const struct option long_options[] = {
	{ "sqlite", required_argument, NULL, OPT_SQLITE },
	{ "branches", no_argument, NULL, OPT_BRANCHES },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

struct export_options {
	const char *path;
	bool branches;
};

static int run(const struct view_options *options, const struct export_options *wanted)
{
	struct view *view = view_open(options);
	uint64_t errors = 0;
	int err;

	if (!view)
		return -EINVAL;
	err = view_refuse_ctr(view, "there are no calls to export");
	if (!err)
		err = export_sqlite(view, wanted->path, wanted->branches, &errors);
	if (!err)
		err = view_summary(view, errors);
	view_close(view);
	return err;
}

static int take_option(void *ctx, int c, const char *argument)
{
	struct export_options *wanted = ctx;

	switch (c) {
	case OPT_SQLITE: wanted->path = argument; return 0;
	case OPT_BRANCHES: wanted->branches = true; return 0;
	default: return VIEW_NOT_MINE;
	}
}

int cmd_export(int argc, char **argv)
{
	struct view_options options = { .session.clock = true };
	struct export_options wanted = { 0 };
	const struct view_command command = { help, "hf" VIEW_SHORT_OPTIONS, long_options,
					      take_option, &wanted };
	int err = view_parse(&command, &options, argc, argv);

	if (err)
		return err > 0 ? 0 : 1;
	if (optind < argc)
		return cmd_surplus(1, argv[optind], "the recording is given with -i");
	if (!wanted.path)
		return cmd_error(1, "export to what? Give --sqlite FILE");
	return run(&options, &wanted) ? 1 : 0;
}
