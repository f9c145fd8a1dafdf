// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Runs tests/ntrace/.
 */
#include "model/ntrace/assemble.h"
#include "trace-files.h"

static int assemble(struct rvt_params *params, const char *line, uint8_t *bytes, size_t size,
		    char *error, size_t error_size)
{
	return rvt_ntrace_assemble(params, line, bytes, size, error, error_size);
}

int main(int argc, char **argv)
{
	static const struct trace_files files = {
		.directory = "tests/ntrace", .suffix = ".nta",
		.protocol = RVT_PROTOCOL_NTRACE, .dialect = RVT_DIALECT_NTRACE_1_0,
		.assemble = assemble,
	};

	return run_trace_files(&files, argc > 1 ? argv[1] : NULL);
}
