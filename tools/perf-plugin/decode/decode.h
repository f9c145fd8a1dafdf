/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* perf-rvtrace decode: between the command, the decoding of a dump, and the text of its flow. */
#ifndef PERF_RVTRACE_DECODE_H
#define PERF_RVTRACE_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <rvtrace/flow.h>
#include <rvtrace/stream.h>

enum decode_print { PRINT_PC, PRINT_INSN, PRINT_BLOCK, PRINT_EDGE, PRINT_PACKET, PRINT_NONE };

/* ---- text: decode-print.c ---- */

/* A buffer for text. */
struct decode_output {
	char *text;
	size_t used;
	int error;		/* -errno of a write that failed */
	void *ctx;
	/* Takes @len bytes; returns 0 or -errno. */
	int (*write)(void *ctx, const char *text, size_t len);
};

/* What prints the flow of one source. */
struct decode_printer;

/* Returns 0 or -ENOMEM. */
int decode_output_open(struct decode_output *output,
		       int (*write)(void *ctx, const char *text, size_t len), void *ctx);
/* Writes what is buffered; returns 0 or -errno of any write so far. */
int decode_output_flush(struct decode_output *output);
void decode_output_close(struct decode_output *output);
/* To standard output. */
int decode_write_stdout(void *ctx, const char *text, size_t len);

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
/* A slice of the flow ends, and goes on at *@next_pc elsewhere (NULL: that is not known). */
void decode_printer_end(struct decode_printer *printer, const uint64_t *next_pc);

/* ---- decoding: decode-run.c ---- */

#define DECODE_MAX_SOURCES (1 << 16)
#define DECODE_ALL_SOURCES -1

struct decode_job {
	const char *path;
	int fd;
	uint64_t size;			/* of the dump */
	uint64_t first;			/* where its oldest byte is */
	const struct rvt_params *params;
	struct rvt_space *space;
	enum decode_print print;
	long src;			/* or DECODE_ALL_SOURCES */
	unsigned int jobs;		/* threads */
	/* results */
	bool lost;			/* something was reported */
	unsigned int n_sources;
	struct rvt_stream_stats stream;
	struct rvt_flow_stats flow;
};

/* Decodes the dump to standard output, and reports to standard error. Returns 0 or -errno. */
int decode_run(struct decode_job *job);
/*
 * decode_read - gives bytes [@from, @to) of the dump to @take, in pieces. Positions count from
 * the oldest byte. Ends with the first non-zero value of @take, which it returns; or -errno.
 */
int decode_read(const struct decode_job *job, uint64_t from, uint64_t to, void *ctx,
		int (*take)(void *ctx, const void *bytes, size_t len, uint64_t position));
/* Where in the file the byte at @position lies. */
uint64_t decode_offset(const struct decode_job *job, uint64_t position);

#endif
