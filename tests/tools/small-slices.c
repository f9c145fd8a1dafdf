// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Linked to perf-rvtrace as build/host/perf-rvtrace-small-slices, with --wrap of what opens
 * sessions: recordings and dumps of tests are small, and so that several threads have something to
 * do, slices of them are as large as SMALL_SLICES says.
 */
#include <stdlib.h>
#include <rvtrace/session.h>

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
