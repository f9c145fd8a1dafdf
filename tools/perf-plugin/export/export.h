/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* `perf rvtrace export`: calls, call paths, threads, switches and branches for other programs. */
#ifndef PERF_RVTRACE_EXPORT_H
#define PERF_RVTRACE_EXPORT_H

#include <stdbool.h>
#include "common/view.h"

/*
 * export/sqlite.c: writes all of @view to the new database @path; @branches: with each taken
 * branch. Adds gaps to *@errors. Returns 0, or -errno after a message, and removes the database
 * then.
 */
int export_sqlite(struct view *view, const char *path, bool branches, uint64_t *errors);

#endif
