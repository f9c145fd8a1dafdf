// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * `perf rvtrace index`: makes an index beside a recording, so that views need not decode all of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/memory.h"
#include "common/progress.h"
#include "common/view.h"
#include "index/stations.h"

static const char help[] =
"usage: perf rvtrace index [OPTIONS]\n"
"Decodes a recording once and writes FILE.rvtrace-index, with which script, report and annotate\n"
"decode only the parts of it that have what they are asked for (--time, --symbols ...).\n\n"
"  -i, --input FILE      recording (perf.data)\n"
"      --symfs DIR[:DIR] the recorded machine's files, as for the views\n"
"      --vmlinux FILE    kernel code, or --kcore FILE\n"
"      --firmware FILE   ELF file of what runs in machine mode; --guestvmlinux FILE: in guests\n"
"      --params FILE     decoder parameters for a recording without any\n"
"      --calls           also what latency and report -g need; by one thread\n"
"      --max-memory SIZE end there (half of the machine's)\n"
VIEW_JOBS_HELP;

enum { OPT_JOBS = 256, OPT_CALLS };

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "symfs", required_argument, NULL, VIEW_SYMFS },
	{ "vmlinux", required_argument, NULL, VIEW_VMLINUX },
	{ "kcore", required_argument, NULL, VIEW_KCORE },
	{ "firmware", required_argument, NULL, VIEW_FIRMWARE },
	{ "guestvmlinux", required_argument, NULL, VIEW_GUEST_VMLINUX },
	{ "params", required_argument, NULL, VIEW_PARAMS },
	{ "max-memory", required_argument, NULL, VIEW_MAX_MEMORY },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "calls", no_argument, NULL, OPT_CALLS },
	{ "verbose", no_argument, NULL, 'v' },
	{ "force", no_argument, NULL, VIEW_FORCE },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int write_bytes(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			bytes += n;
			len -= n;
		}
	}
	return 0;
}

/* Writes the file completely or not at all, and replaces an older one. */
static int write_file(const char *path, const void *bytes, size_t len)
{
	char *name;
	int fd, err;

	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return cmd_error(-ENOMEM, "out of memory");
	fd = mkostemp(name, O_CLOEXEC);
	err = fd < 0 ? -errno : write_bytes(fd, bytes, len);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && rename(name, path))
		err = -errno;
	if (err && fd >= 0)
		unlink(name);
	free(name);
	return err ? cmd_error(err, "cannot write %s: %s", path, strerror(-err)) : 0;
}

static int write_index(const struct rvt_index *index, const char *path, uint64_t trace)
{
	void *bytes;
	size_t len;
	int err = rvt_index_pack(index, &bytes, &len);

	if (err)
		return cmd_error(err, "out of memory");
	err = write_file(path, bytes, len);
	free(bytes);
	if (!err)
		cmd_info("%s: %zu bytes for %" PRIu64 " bytes of trace in %zu segments, %zu tasks "
			 "and %zu granules", path, len, trace, rvt_index_n_segments(index),
			 rvt_index_n_tasks(index), rvt_index_n_granules(index));
	return err;
}

static int make_index(struct rvt_session *session, const char *path, bool calls)
{
	struct rvt_index *index;
	int err;

	if (rvt_session_is_ctr(session))
		return cmd_error(-ENOTSUP,
				 "the recording has Control Transfer Records: views of it "
				 "decode nothing, and need no index");
	err = progress_index(session, &index);
	if (!err && calls) {
		err = index_add_stations(session, index);
		if (err)
			rvt_index_free(index);
	}
	if (err == -EINTR)
		return memory_exceeded() ? memory_error() : err;
	if (err == -ENOTSUP)
		return cmd_error(err, "the trace has no time stamps: views must decode all of it, "
				 "and can use no index");
	if (err == -EAGAIN)
		return cmd_error(err,
				 "the trace is so damaged that parts of it mean something else "
				 "than all of it: views must decode all of it, and can use no "
				 "index");
	if (err)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	err = write_index(index, path, rvt_session_size(session));
	rvt_index_free(index);
	return err;
}

static int run(const struct view_options *options, bool calls)
{
	struct view *view = view_open(options);
	char *path = view ? rvt_index_path(view_input(view)) : NULL;
	int err = view ? -ENOMEM : -EINVAL;

	if (path)
		err = make_index(view_session(view), path, calls);
	free(path);
	view_close(view);
	return err;
}

int cmd_index(int argc, char **argv)
{
	struct view_options options = {
		.input = "perf.data",
		.session = { .clock = true, .accesses = true, .slice_bytes = RVT_INDEX_SEGMENT },
	};
	const char *jobs = NULL;
	bool calls = false;
	int c;

	while ((c = getopt_long(argc, argv, "hi:v", long_options, NULL)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c == 'v')
			cmd_verbose = true;
		else if (c == OPT_CALLS)
			calls = true;
		else if (c == OPT_JOBS)
			jobs = optarg;
		else if (!view_option(&options, c, optarg))
			return cmd_try_help(1);
	}
	if (cmd_jobs(jobs, &options.session.jobs))
		return 1;
	return run(&options, calls) ? 1 : 0;
}
