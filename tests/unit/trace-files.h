/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tests that are text files: see tests/ntrace/README.rst and tests/etrace/README.rst.
 */
#ifndef TESTS_TRACE_FILES_H
#define TESTS_TRACE_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <rvtrace/params.h>

struct trace_files {
	const char *directory;
	const char *suffix;		/* four characters, as ".nta" */
	enum rvt_protocol protocol;	/* of files that do not say */
	enum rvt_dialect dialect;
	/* One directive to bytes; as rvt_ntrace_assemble(). May change *params: the trace did. */
	int (*assemble)(struct rvt_params *params, const char *line, uint8_t *bytes, size_t size,
			char *error, size_t error_size);
};

/* Runs all files, or those that match @filter. Returns the number of failures. */
int run_trace_files(const struct trace_files *files, const char *filter);
/*
 * Writes of each file what tests/fuzz/stream.c takes into @directory: parameters, code and the
 * trace's bytes.
 */
void write_trace_seeds(const struct trace_files *files, const char *directory);

#endif
