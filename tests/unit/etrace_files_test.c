// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Runs tests/etrace/.
 */
#include "model/etrace/assemble.h"
#include "trace-files.h"

int main(int argc, char **argv)
{
	static const struct trace_files files = {
		.directory = "tests/etrace", .suffix = ".eta",
		.protocol = RVT_PROTOCOL_ETRACE, .dialect = RVT_DIALECT_ETRACE_2_0,
		.assemble = rvt_etrace_assemble,
	};

	return run_trace_files(&files, argc > 1 ? argv[1] : NULL);
}
