/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* perf-rvtrace decode: from flow to text. */
#ifndef PERF_RVTRACE_DECODE_H
#define PERF_RVTRACE_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <rvtrace/flow.h>

enum decode_print { PRINT_PC, PRINT_INSN, PRINT_BLOCK, PRINT_EDGE, PRINT_PACKET, PRINT_NONE };

/* A buffer in front of standard output. */
struct decode_output {
	char *text;
	size_t used;
	int error;		/* -errno of a write that failed */
};

/* What prints the flow of one source. */
struct decode_printer;

/* Returns 0 or -ENOMEM. */
int decode_output_open(struct decode_output *output);
/* Writes what is buffered, frees the buffer; returns 0 or -errno of any write. */
int decode_output_close(struct decode_output *output);

/*
 * decode_printer_create - @prefix, which is copied, goes before every line. @space is where
 * `insn` reads the code. Returns NULL when out of memory.
 */
struct decode_printer *decode_printer_create(enum decode_print print, const char *prefix,
					     struct rvt_space *space,
					     struct decode_output *output);
void decode_printer_destroy(struct decode_printer *printer);
/* Flow, as for struct rvt_flow_sink; both return non-zero once the output has failed. */
int decode_printer_runs(struct decode_printer *printer, const struct rvt_run *runs, size_t n);
int decode_printer_event(struct decode_printer *printer, const struct rvt_event *event);

#endif
