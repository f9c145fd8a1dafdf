/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Makes a tar file of a recording and the files whose code it runs. */
#ifndef PERF_RVTRACE_ARCHIVE_FILES_H
#define PERF_RVTRACE_ARCHIVE_FILES_H

#include <rvtrace/perfdata.h>

/*
 * Writes to @fd, an empty file: perf.data, made by rvt_perfdata_archive() from @file, and below
 * files/ this machine's files that its mappings name, with their debug files. Warns of missing
 * ones. Returns 0, what rvt_perfdata_archive() returns, or -errno.
 */
int archive_with_files(struct rvt_perfdata *file, int fd);

#endif
