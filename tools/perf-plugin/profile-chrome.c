// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Calls over time, as chrome://tracing and Perfetto read them (JSON trace events). */
#include <inttypes.h>
#include <stdlib.h>
#include "profile.h"

struct chrome {
	struct places *places;
	FILE *out;
	bool any;
};

void *chrome_create(struct places *places, const struct rvt_session_options *options, FILE *out)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	(void)options;
	if (!chrome)
		return NULL;
	chrome->places = places;
	chrome->out = out;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	return chrome;
}

static void write_name(const char *name, FILE *out)
{
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			fputc('\\', out);
		if ((unsigned char)*name < ' ')
			fprintf(out, "\\u%04x", *name);
		else
			fputc(*name, out);
	}
}

static void write_event(struct chrome *chrome, char phase, const struct rvt_lane *lane)
{
	fprintf(chrome->out,
		"%s{\"ph\":\"%c\",\"ts\":%" PRIu64 ".%03" PRIu64 ",\"pid\":%d,\"tid\":%d",
		chrome->any ? ",\n" : "", phase, lane->time / 1000, lane->time % 1000,
		lane->task ? lane->task->pid : -1, lane->task ? lane->task->tid : -2 - lane->cpu);
	chrome->any = true;
}

static int chrome_after(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
			struct rvt_callstack *stack, size_t ended)
{
	struct chrome *chrome = ctx;
	const struct place *place;

	(void)stack;
	for (; ended; ended--) {
		write_event(chrome, 'E', lane);
		fputc('}', chrome->out);
	}
	if (transfer->kind != TRANSFER_CALL && transfer->kind != TRANSFER_TRAP)
		return 0;
	place = places_find(chrome->places, lane->space, transfer->to);
	write_event(chrome, 'B', lane);
	fputs(",\"name\":\"", chrome->out);
	if (place->symbol)
		write_name(place->symbol, chrome->out);
	else
		fprintf(chrome->out, "0x%" PRIx64, transfer->to);
	fputs("\",\"args\":{\"dso\":\"", chrome->out);
	write_name(place->dso, chrome->out);
	fprintf(chrome->out, "\",\"cpu\":%d}}", lane->cpu);
	return ferror(chrome->out) ? -1 : 0;
}

void chrome_ops(struct transfers_ops *ops)
{
	ops->after = chrome_after;
}

/* Viewers close what is still open at the end of the trace. */
int chrome_write(void *data, const char *name, const char *dso, FILE *out)
{
	(void)data;
	(void)name;
	(void)dso;
	fputs("\n]}\n", out);
	return 0;
}

void chrome_destroy(void *data)
{
	free(data);
}
