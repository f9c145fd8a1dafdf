/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* `perf rvtrace export`: calls, call paths, threads, switches and branches for other programs. */
#ifndef PERF_RVTRACE_EXPORT_H
#define PERF_RVTRACE_EXPORT_H

#include <stdbool.h>
#include "common/view.h"

/*
 * sqlite.c: all of @view to the database @path, which is made. @branches: each taken branch, too.
 * Adds gaps to *@errors. 0, or -errno after a message; what was made is gone then.
 */
int export_sqlite(struct view *view, const char *path, bool branches, uint64_t *errors);

#endif
