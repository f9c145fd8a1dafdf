// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace archive`: makes a recording that needs nothing from this machine's cache. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rvtrace/perfdata.h>
#include "archive/files.h"
#include "common/cmd.h"
#include "common/output.h"

static const char help[] =
"usage: perf rvtrace archive [OPTIONS]\n"
"Writes a recording that has all kernel code and symbols in it, so that it can be decoded on\n"
"another machine. perf rvtrace record --embed makes such a recording at once.\n\n"
"  -F, --files         a tar file of the recording and the files of programs and libraries\n"
"  -i, --input FILE    recording (perf.data)\n"
"  -o, --output FILE   what to write (perf.archive; with --files perf.archive.tar)\n"
"  -f, --force         read the recording of another user, as root\n";

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "files", no_argument, NULL, 'F' },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct archive_options {
	const char *input, *output;
	bool files, force;
};

/* Returns 0; 1: help was asked for; -EINVAL after a message. */
static int parse(struct archive_options *options, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "i:o:Ffh", long_options, NULL)) >= 0)
		switch (c) {
		case 'i': options->input = optarg; break;
		case 'o': options->output = optarg; break;
		case 'F': options->files = true; break;
		case 'f': options->force = true; break;
		case 'h': fputs(help, stdout); return 1;
		default: return cmd_try_help(-EINVAL);
		}
	if (optind < argc)
		return cmd_surplus(-EINVAL, argv[optind], "-i names the recording");
	if (!options->output)
		options->output = options->files ? "perf.archive.tar" : "perf.archive";
	return 0;
}

static int write_archive(struct rvt_perfdata *file, const struct archive_options *options)
{
	struct output_file output = { 0 };
	int err = output_create(&output, options->output);

	if (err)
		return err;
	err = options->files ? archive_with_files(file, output.fd) :
		rvt_perfdata_archive(file, output.fd);
	if (close(output.fd) && !err)
		err = -errno;
	if (!err)
		return 0;
	output_discard(&output);
	if (err == -ENOENT)
		return cmd_error(err, "%s", rvt_perfdata_warning(file));
	if (err == -EBADMSG)
		return cmd_error(err, "%s: damaged: its kernel code or symbols cannot be read",
				 options->input);
	return cmd_error(err, "cannot write %s: %s", options->output, strerror(-err));
}

int cmd_archive(int argc, char **argv)
{
	struct archive_options options = { .input = "perf.data" };
	struct rvt_perfdata *file;
	char *error = NULL;
	int err = parse(&options, argc, argv);

	if (err)
		return err < 0;
	if (cmd_check_owner(options.input, options.force))
		return 1;
	err = rvt_perfdata_open(options.input, &file, &error);
	if (err) {
		cmd_error(err, "%s", error ? error : "out of memory");
		free(error);
		return 1;
	}
	err = write_archive(file, &options);
	rvt_perfdata_close(file);
	return err ? 1 : 0;
}
