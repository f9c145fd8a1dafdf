/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many instructions a recording holds:
 *   cc -o count count.c $(pkg-config --cflags --libs librvtrace) && ./count perf.data
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <rvtrace/session.h>

static int count(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	(void)hart;	/* cpu, thread, time, address space */
	for (size_t i = 0; i < n; i++)
		*(uint64_t *)ctx += runs[i].count;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t insns = 0;
	struct rvt_session_options options = { .size = sizeof(options),
					       .symfs = argc > 2 ? argv[2] : NULL };
	struct rvt_session_sink sink = { .size = sizeof(sink), .ctx = &insns, .runs = count };
	struct rvt_session *session;
	char *error = NULL;
	int err = rvt_session_open(argc > 1 ? argv[1] : "perf.data", &options, &session, &error);

	if (err)
		return fprintf(stderr, "%s\n", error ? error : strerror(-err)), 1;
	err = rvt_session_run(session, &sink);
	rvt_session_close(session);
	return printf("%" PRIu64 " instructions\n", insns) < 0 || err;
}
