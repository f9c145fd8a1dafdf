/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many instructions a recording holds; what is missing is said, with exit status 1:
 *   cc -o count count.c $(pkg-config --cflags --libs librvtrace) && ./count perf.data [SYMFS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rvtrace/session.h>

struct result {
	uint64_t insns, gaps;
};

static int count(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct result *result = ctx;

	(void)hart;	/* cpu, thread, time, address space */
	for (size_t i = 0; i < n; i++)
		result->insns += runs[i].count;
	return 0;
}

static int event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct result *result = ctx;

	(void)hart;
	result->gaps += event->type == RVT_EVENT_LOST;
	return 0;
}

int main(int argc, char **argv)
{
	struct result result = { 0, 0 };
	struct rvt_session_options options = { .size = sizeof(options),
					       .symfs = argc > 2 ? argv[2] : NULL };
	struct rvt_session_sink sink = { .size = sizeof(sink), .ctx = &result, .runs = count,
					 .event = event };
	const struct rvt_missing *missing;
	struct rvt_session *session;
	char *error = NULL;
	int err = rvt_session_open(argc > 1 ? argv[1] : "perf.data", &options, &session, &error);

	if (err)
		return fprintf(stderr, "%s\n", error ? error : strerror(-err)), 1;
	err = rvt_session_run(session, &sink);
	for (size_t n = 0; (missing = rvt_session_missing(session, n)); n++)
		fprintf(stderr, "%s: %s\n", missing->path, strerror(-missing->error));
	rvt_session_close(session);
	if (result.gaps)
		fprintf(stderr, "%" PRIu64 " gaps: what ran there is not counted\n", result.gaps);
	return printf("%" PRIu64 " instructions\n", result.insns) < 0 || err || result.gaps;
}
