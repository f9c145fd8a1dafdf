/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* perf-rvtrace decode: between the command, the decoding of a dump, and the text of its flow. */
#ifndef PERF_RVTRACE_DECODE_H
#define PERF_RVTRACE_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <rvtrace/session.h>

enum decode_print { PRINT_PC, PRINT_INSN, PRINT_BLOCK, PRINT_EDGE, PRINT_MARK, PRINT_DATA,
		    PRINT_PACKET, PRINT_NONE };

/* ---- text: print.c ---- */

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

/* ---- decoding: run.c ---- */

#define DECODE_MAX_SOURCES (1 << 16)	/* that messages name */

struct decode_job {
	struct rvt_session *session;	/* of the dump */
	const char *path;
	uint64_t size;			/* of the dump */
	uint64_t oldest;		/* where its oldest byte is */
	bool all_sources;
	enum decode_print print;
	bool tagged;			/* lines begin with the source */
	const struct rvt_params *params;	/* of the dump */
	bool *seen;			/* by source */
	/* results */
	bool lost;			/* something was reported */
	unsigned int n_sources;
	struct rvt_stream_stats stream;
	struct rvt_flow_stats flow;
};

/* Decodes the dump to standard output, and reports to standard error. Returns 0 or -errno. */
int decode_run(struct decode_job *job);

/* ---- guess.c ---- */

struct decode_guess {
	const char *path;
	uint64_t oldest;		/* where its oldest byte is */
	const struct rvt_dump_image *images;
	unsigned int n_images;
	const struct rvt_params *params;	/* decode_hint(): that it was decoded by */
};

/*
 * Prints what the parameters of the dump may be, as a parameter file with comments. Returns the
 * exit status: 0, 1 (it is not sure, or there are none), 2 (files cannot be used; a message was
 * printed).
 */
int decode_guess(const struct decode_guess *job);
/*
 * A dump that contradicts job->params: says on standard error which parameters are likely to be
 * others, if some are known by which its beginning decodes without an error.
 */
void decode_hint(const struct decode_guess *job);

/* ---- dump.c ---- */

/*
 * Prints the messages of a dump to standard output; *@damaged: so many were. Returns 0 or -errno.
 */
int dump_messages(const char *path, const struct rvt_params *params, uint64_t oldest,
		  uint64_t *damaged);

#endif
