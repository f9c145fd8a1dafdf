// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Linked to perf-rvtrace as build/host/perf-rvtrace-small-slices, with --wrap of what opens
 * sessions: recordings and dumps of tests are small, and so that several threads have something to
 * do, slices of them are as large as SMALL_SLICES says. Some of what they print waits in files.
 */
#include <stdlib.h>
#include <rvtrace/session.h>
#include "common/pages.h"

#define TEXT_PER_BYTE 5	/* of a slice; most have more */

int __real_rvt_session_open(const char *path, const struct rvt_session_options *options,
			    struct rvt_session **session, char **error);
int __wrap_rvt_session_open(const char *path, const struct rvt_session_options *options,
			    struct rvt_session **session, char **error);
int __real_rvt_session_open_dump(const struct rvt_session_dump *dump,
				 const struct rvt_session_options *options,
				 struct rvt_session **session, char **error);
int __wrap_rvt_session_open_dump(const struct rvt_session_dump *dump,
				 const struct rvt_session_options *options,
				 struct rvt_session **session, char **error);

int __real_pages_run(const struct pages_ops *ops, FILE *out);
int __wrap_pages_run(const struct pages_ops *ops, FILE *out);

static struct rvt_session_options small(const struct rvt_session_options *options)
{
	const char *bytes = getenv("SMALL_SLICES");
	struct rvt_session_options small = *options;

	if (bytes)
		small.slice_bytes = strtoul(bytes, NULL, 0);
	return small;
}

int __wrap_rvt_session_open(const char *path, const struct rvt_session_options *options,
			    struct rvt_session **session, char **error)
{
	const struct rvt_session_options own = small(options);

	return __real_rvt_session_open(path, &own, session, error);
}

int __wrap_rvt_session_open_dump(const struct rvt_session_dump *dump,
				 const struct rvt_session_options *options,
				 struct rvt_session **session, char **error)
{
	const struct rvt_session_options own = small(options);

	return __real_rvt_session_open_dump(dump, &own, session, error);
}

int __wrap_pages_run(const struct pages_ops *ops, FILE *out)
{
	struct pages_ops own = *ops;
	const char *bytes = getenv("SMALL_SLICES");

	if (bytes)
		own.memory = TEXT_PER_BYTE * strtoul(bytes, NULL, 0);
	return __real_pages_run(&own, out);
}
