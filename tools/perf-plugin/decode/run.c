// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Prints the flow of a dump as text, and what was lost as lines on standard error. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/session.h>
#include "common/insn-code.h"
#include "common/pages.h"
#include "common/progress.h"
#include "common/view.h"
#include "decode/decode.h"
#include "session/access.h"

#define SOURCE "source "	/* in messages */
#define SOURCE_NAME 24

/* The output of one thread. */
struct text {
	struct decode_job *job;
	FILE *out, *errors;
	struct decode_output output;
	struct decode_printer **printers;	/* by source; NULL: nothing to print yet */
	bool *seen;				/* by source: decoded, even if not printed */
};

/* ---- the dump ---- */

static unsigned int n_sources(const struct decode_job *job)
{
	return rvt_stream_n_sources(job->params);
}

/* Writes the name of a source: its SRC, behind the id of its frames if it has one. */
static void name_source(const struct decode_job *job, unsigned int source,
			char (*name)[SOURCE_NAME])
{
	unsigned int atid = rvt_stream_source_atid(job->params, source);
	unsigned int src = source & ((1u << rvt_stream_source_bits(job->params)) - 1);

	if (atid)
		snprintf(*name, sizeof(*name), "0x%02x:%u", atid, src);
	else
		snprintf(*name, sizeof(*name), "%u", src);
}

static uint64_t offset_of(const struct decode_job *job, uint64_t position)
{
	uint64_t behind = job->size - job->oldest;

	return position < behind ? job->oldest + position : position - behind;
}

/* ---- output of the decoder ---- */

/* Reports a loss or damage. @source: NULL if it is not known. */
static void report(struct text *text, const struct rvt_event *event, const unsigned int *source)
{
	const struct decode_job *job = text->job;
	char name[SOURCE_NAME];

	fprintf(text->errors, "%s: offset 0x%" PRIx64 ": ", job->path,
		offset_of(job, event->offset));
	if (source && job->tagged) {
		name_source(job, *source, &name);
		fprintf(text->errors, SOURCE "%s: ", name);
	}
	fprintf(text->errors, "%s\n", event->detail ? event->detail : "flow is lost");
}

/* Finds or makes the printer of the hart's source. NULL: out of memory. */
static struct decode_printer *get_printer(struct text *text, const struct rvt_hart_flow *hart)
{
	struct decode_printer **printer = &text->printers[hart->source];
	char prefix[SOURCE_NAME + 1] = "", name[SOURCE_NAME];

	if (*printer)
		return *printer;
	if (text->job->tagged) {
		name_source(text->job, hart->source, &name);
		snprintf(prefix, sizeof(prefix), "%s ", name);
	}
	*printer = decode_printer_create(text->job->print, prefix, hart->space, &text->output);
	return *printer;
}

static int on_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct decode_printer *printer = get_printer(ctx, hart);

	return printer ? decode_printer_runs(printer, runs, n) : -ENOMEM;
}

/* Whether flow can go on at @pc. */
static bool has_code(const struct rvt_hart_flow *hart, uint64_t pc)
{
	uint8_t bytes[INSN_CODE_BYTES];

	return insn_code(hart->space, pc, bytes);
}

static int on_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct decode_printer *printer = get_printer(ctx, hart);

	if (!printer)
		return -ENOMEM;
	if (event->type == RVT_EVENT_LOST) {
		report(ctx, event, &hart->source);
		/* where a jump went is known, even if nothing is of what ran there */
		decode_printer_end(printer, event->pc && has_code(hart, event->pc) ? &event->pc :
										 NULL);
	}
	return decode_printer_event(printer, event);
}

static int on_damage(void *ctx, unsigned int buffer, const struct rvt_event *event)
{
	(void)buffer;
	report(ctx, event, NULL);
	return 0;
}

/* Ends the flow of a source, or a slice of it which the next one continues. */
static void on_end(void *ctx, struct rvt_hart_flow *hart)
{
	struct text *text = ctx;
	struct decode_printer *printer = text->printers[hart->source];
	uint64_t pc;

	text->seen[hart->source] = true;
	if (printer)
		decode_printer_end(printer, hart->left && rvt_flow_pc(hart->flow, &pc) &&
					    has_code(hart, pc) ? &pc : NULL);
}

/* ---- printing ---- */

static int write_text(void *ctx, const char *bytes, size_t len)
{
	const struct text *text = ctx;

	return fwrite(bytes, 1, len, text->out) == len ? 0 : -errno;
}

/*
 * Adds the results of a thread. Sources count even if its slice proves void, as the dump has them.
 */
static void close_text(void *ctx, bool valid)
{
	struct text *text = ctx;
	struct decode_job *job = text->job;

	for (unsigned int i = 0; text->printers && text->seen && i < n_sources(job); i++) {
		decode_printer_destroy(text->printers[i]);
		if (!text->seen[i] || job->seen[i])
			continue;
		job->seen[i] = true;
		job->n_sources++;
	}
	(void)valid;
	decode_output_close(&text->output);
	free(text->printers);
	free(text->seen);
	free(text);
}

static void *open_text(void *ctx, struct rvt_session_sink *sink)
{
	struct decode_job *job = ctx;
	struct text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->job = job;
	text->printers = calloc(n_sources(job), sizeof(text->printers[0]));
	text->seen = calloc(n_sources(job), sizeof(text->seen[0]));
	if (!text->printers || !text->seen || decode_output_open(&text->output, write_text, text)) {
		close_text(text, false);
		return NULL;
	}
	*sink = (struct rvt_session_sink){
		.size = sizeof(struct rvt_session_sink),
		.ctx = text, .runs = job->print < PRINT_MARK ? on_runs : NULL, .event = on_event,
		.damage = on_damage, .end = on_end, .warning = view_warning,
	};
	return text;
}

static void begin_text(void *ctx, const struct pages_slice *slice)
{
	struct text *text = ctx;

	text->out = slice->out;
	text->errors = slice->errors;
	text->output.error = 0;
}

static int end_text(void *ctx)
{
	struct text *text = ctx;

	return decode_output_flush(&text->output);
}

static int run(void *ctx, const struct rvt_session_sink *sink,
	       const struct rvt_session_slices *slices)
{
	const struct decode_job *job = ctx;

	return progress_run(job->session, sink, slices, true);
}

/* Parses a name that name_source() wrote. */
static unsigned int read_source(const struct decode_job *job, const char *name)
{
	char *end;
	unsigned int number = strtoul(name, &end, 0);

	/* in a message a colon and a space follow the name */
	return *end == ':' && end[1] != ' ' ?
		rvt_stream_source(job->params, number, strtoul(end + 1, NULL, 10)) : number;
}

/*
 * Returns the source with which get_printer() or report() tagged the line; n_sources() if there is
 * no tag.
 */
static unsigned int source_of(void *ctx, bool error, const char *line, size_t len)
{
	const struct decode_job *job = ctx;
	size_t path = strlen(job->path);
	const char *tag = error ? memmem(line + path, len - path, SOURCE, strlen(SOURCE)) : line;

	if (!tag)
		return n_sources(job);
	return read_source(job, tag == line ? line : tag + strlen(SOURCE));
}

int decode_run(struct decode_job *job)
{
	struct pages_ops ops = {
		.ctx = job, .errors = true, .told_errors = &job->lost, .open = open_text,
		.close = close_text, .begin = begin_text, .end = end_text, .run = run,
	};
	struct rvt_session_totals stats;
	unsigned int n = 1;
	int err = job->all_sources ? rvt_session_count_sources(job->session, &n) : 0;

	if (err)
		return err;
	job->tagged = n > 1;
	ops.n_sources = job->tagged ? n_sources(job) + 1 : 0;
	ops.source = job->tagged ? source_of : NULL;
	job->seen = calloc(n_sources(job), sizeof(job->seen[0]));
	err = job->seen ? pages_run(&ops, stdout) : -ENOMEM;
	free(job->seen);
	rvt_session_totals(job->session, &stats);
	job->stream = stats.stream;
	job->stream.bytes = job->size;
	job->flow = stats.flow;
	return err;
}
