/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* perf-rvtrace decode: what the command, the decoding of a dump and the text of its flow share. */
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

/* Prints the flow of one source. */
struct decode_printer;

/* Returns 0 or -ENOMEM. */
int decode_output_open(struct decode_output *output,
		       int (*write)(void *ctx, const char *text, size_t len), void *ctx);
/* Writes the buffered text. Returns 0, or -errno of any write so far. */
int decode_output_flush(struct decode_output *output);
void decode_output_close(struct decode_output *output);

/*
 * decode_printer_create - @prefix, which is copied, goes before every line. `insn` reads the code
 * in @space. Returns NULL when out of memory.
 */
struct decode_printer *decode_printer_create(enum decode_print print, const char *prefix,
					     struct rvt_space *space,
					     struct decode_output *output);
void decode_printer_destroy(struct decode_printer *printer);
/* Print the flow, as in struct rvt_flow_sink. Both return non-zero once the output has failed. */
int decode_printer_runs(struct decode_printer *printer, const struct rvt_run *runs, size_t n);
int decode_printer_event(struct decode_printer *printer, const struct rvt_event *event);
/* Ends a slice of the flow. The flow continues at *@next_pc (NULL: that is not known). */
void decode_printer_end(struct decode_printer *printer, const uint64_t *next_pc);

/* ---- decoding: run.c ---- */

#define DECODE_MAX_SOURCES (1 << 16)	/* at most, in messages */

struct decode_job {
	struct rvt_session *session;	/* of the dump */
	const char *path;
	uint64_t size;			/* of the dump */
	uint64_t oldest;		/* offset of its oldest byte */
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
	uint64_t oldest;		/* offset of the oldest byte of the dump */
	const struct rvt_dump_image *images;
	unsigned int n_images;
	const struct rvt_params *params;	/* of the dump; decode_hint(): contradicts them */
};

/*
 * Prints the parameters that the dump may have, as a parameter file with comments. Returns the exit
 * status: 0; 1: the guess is not certain, or there is none; 2: files cannot be used, after a
 * message.
 */
int decode_guess(const struct decode_guess *job);
/*
 * For a dump that contradicts job->params: tells on standard error which parameters are likely to
 * be different, if the beginning of the dump decodes with some without an error.
 */
void decode_hint(const struct decode_guess *job);

/* ---- dump.c ---- */

/*
 * Prints the messages of a dump to standard output, and sets *@damaged to the number of damaged
 * ones. Returns 0 or -errno.
 */
int dump_messages(const char *path, const struct rvt_params *params, uint64_t oldest,
		  uint64_t *damaged);

#endif
