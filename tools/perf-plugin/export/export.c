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

static int run(const struct view_options *options, const char *path, bool branches)
{
	struct view *view = view_open(options);
	uint64_t errors = 0;
	int err;

	if (!view)
		return -EINVAL;
	if (rvt_session_is_ctr(view_session(view)))
		err = cmd_error(-EINVAL, "Control Transfer Records are samples, which have no "
				"calls to export");
	else
		err = export_sqlite(view, path, branches, &errors);
	if (!err)
		err = view_summary(view, errors);
	view_close(view);
	return err;
}

int cmd_export(int argc, char **argv)
{
	struct view_options options = { .session.clock = true };
	const char *path = NULL;
	bool branches = false;
	int c;

	while ((c = getopt_long(argc, argv, "hf" VIEW_SHORT_OPTIONS, long_options, NULL)) >= 0) {
		switch (c) {
		case OPT_SQLITE: path = optarg; break;
		case OPT_BRANCHES: branches = true; break;
		case 'f': options.force = true; break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			if (view_option(&options, c, optarg))
				break;
			return cmd_try_help(1);
		}
	}
	if (optind < argc)
		return cmd_surplus(1, argv[optind], "the recording is given with -i");
	if (!path)
		return cmd_error(1, "export to what? Give --sqlite FILE");
	return run(&options, path, branches) ? 1 : 0;
}
