// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Linked to perf-rvtrace as build/host/perf-rvtrace-small-slices, with --wrap=rvt_session_open:
 * recordings of tests are small, and so that several threads have something to do, slices of them
 * are as large as SMALL_SLICES says.
 */
#include <stdlib.h>
#include <rvtrace/session.h>

int __real_rvt_session_open(const char *path, const struct rvt_session_options *options,
			    struct rvt_session **session, char **error);
int __wrap_rvt_session_open(const char *path, const struct rvt_session_options *options,
			    struct rvt_session **session, char **error);

int __wrap_rvt_session_open(const char *path, const struct rvt_session_options *options,
			    struct rvt_session **session, char **error)
{
	const char *bytes = getenv("SMALL_SLICES");
	struct rvt_session_options small = *options;

	if (bytes)
		small.slice_bytes = strtoul(bytes, NULL, 0);
	return __real_rvt_session_open(path, &small, session, error);
}
