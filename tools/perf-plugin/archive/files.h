/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The files whose code a recording runs, in a tar file with it. */
#ifndef PERF_RVTRACE_ARCHIVE_FILES_H
#define PERF_RVTRACE_ARCHIVE_FILES_H

#include <rvtrace/perfdata.h>

/*
 * Writes to @fd, an empty file: perf.data, which is what rvt_perfdata_archive() makes of @file, and
 * below files/ this machine's files that its mappings name, with their debug files. What is not
 * there is warned of. 0, what rvt_perfdata_archive() returns, or -errno.
 */
int archive_with_files(struct rvt_perfdata *file, int fd);

#endif
