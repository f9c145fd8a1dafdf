// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-frames [--k3] RECORDING OUT: the same recording with its trace in CoreSight frames.
 *
 * Each hart's trace has a trace id of its own. Without --k3 every AUX record stays, and the
 * metadata says what the frames are. With --k3 the recording is as the kernel and the perf of
 * SpacemiT's K3 make it: all harts have one sink, what is in it belongs to the event that stopped
 * last, a barrier stands before it, and PERF_RECORD_AUXTRACE_INFO and PERF_RECORD_AUX_OUTPUT_HW_ID
 * say what is known of the encoders instead of metadata. The kernel's code stays in it, as if it
 * came from --kcore.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/perfdata.h>
#include "coresight-formatter.h"

#define FIRST_ID 0x10
#define SINK_ID 0x1234
#define MAX_CPUS 64
#define MAX_RECORD 4096
#define MAX_META (1 << 20)
#define CHUNK 60	/* at most so many bytes of a hart come in a row */

/* A buffer of the recording. */
struct buffer {
	struct rvt_record_auxtrace aux;	/* as its records say; .size 0: there is none */
	uint8_t *bytes;
	size_t len;
	struct formatter formatter;
	/* --k3 */
	uint8_t record[MAX_RECORD];	/* the last AUX record of it; its header.size 0: none */
	size_t body_len;		/* of that, without the trailer */
	uint64_t time;
	size_t done, end;		/* bytes of trace */
};

static struct buffer buffers[MAX_CPUS];	/* by idx */
static struct rvt_perfdata_writer *out;

static void die(const char *what)
{
	fprintf(stderr, "rvt-frames: %s\n", what);
	exit(1);
}

static void put(const void *bytes, size_t len)
{
	if (rvt_perfdata_write(out, bytes, len))
		die("cannot write");
}

static struct buffer *buffer_of(uint32_t idx, int32_t cpu)
{
	for (unsigned int i = 0; i < MAX_CPUS; i++)
		if (buffers[i].aux.header.type &&
		    (cpu >= 0 ? buffers[i].aux.cpu == cpu : buffers[i].aux.idx == idx))
			return &buffers[i];
	return NULL;
}

/* AUX data, unpacked, of all buffers. */
static void take_trace(const struct rvt_perfdata_record *record)
{
	const struct rvt_record_auxtrace *aux = (const void *)record->header;
	size_t n = aux->unpacked ? aux->unpacked : record->aux_len;
	struct buffer *b;

	if (aux->idx >= MAX_CPUS || aux->cpu < 0)
		die("more buffers than expected, or a buffer of a thread");
	b = &buffers[aux->idx];
	if (!b->aux.header.type)
		b->formatter.id = -1;
	b->aux = *aux;
	if (aux->offset + n > b->len) {
		b->bytes = realloc(b->bytes, aux->offset + n);
		if (!b->bytes)
			die("out of memory");
		memset(b->bytes + b->len, 0xff, aux->offset + n - b->len);
		b->len = aux->offset + n;
	}
	if (!aux->unpacked)
		memcpy(b->bytes + aux->offset, record->aux, n);
	else if (rvt_aux_unpack(record->aux, record->aux_len, b->bytes + aux->offset, n))
		die("damaged AUX data");
}

/* @n bytes of @b from @from on, as those of its id. */
static void put_frames(struct formatter *formatter, const struct buffer *b, uint64_t from, size_t n)
{
	uint8_t *ids = malloc(n + 1);

	if (!ids || from + n > b->len)
		die("AUX data is missing");
	memset(ids, FIRST_ID + b->aux.cpu, n);
	formatter_write(formatter, ids, b->bytes + from, n, NULL);
	free(ids);
}

static void reframe_record(const struct rvt_perfdata_record *record)
{
	struct buffer *b = record->cpu_valid ? buffer_of(0, record->cpu) : NULL;
	uint64_t copy[MAX_RECORD / 8], *body = copy + 1;
	uint64_t before;

	if (!b || record->header->size > sizeof(copy))
		die("an AUX record of no buffer");
	memcpy(copy, record->header, record->header->size);
	before = b->formatter.len;
	put_frames(&b->formatter, b, body[0], body[1]);
	body[0] = before;
	body[1] = b->formatter.len - before;
	put(copy, record->header->size);
}

static void put_trace(const struct buffer *b, const struct formatter *formatter)
{
	struct rvt_record_auxtrace aux = b->aux;

	aux.offset = 0;
	aux.unpacked = 0;
	aux.size = formatter->len;	/* of whole frames: a multiple of 8 */
	put(&aux, sizeof(aux));
	put(formatter->out, formatter->len);
}

/* ---- K3 ---- */

static void keep_record(const struct rvt_perfdata_record *record)
{
	struct buffer *b = record->cpu_valid ? buffer_of(0, record->cpu) : NULL;
	const uint64_t *body = (const uint64_t *)(record->header + 1);

	if (!b || record->header->size > sizeof(b->record))
		die("an AUX record of no buffer");
	if (body[2] & ~(uint64_t)PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK)
		die("an AUX record with flags: trace is missing");
	memcpy(b->record, record->header, record->header->size);
	b->body_len = record->body_len;
	b->time = record->time;
	/* data in the file is padded */
	b->end = body[0] + body[1];
	if (b->end > b->len)
		die("AUX data is missing");
}

/* A record with @body of @n words, told by the event whose AUX record @b has. */
static void put_record(const struct buffer *b, uint32_t type, const uint64_t *body, size_t n)
{
	struct perf_event_header head;
	size_t trailer = sizeof(head) + b->body_len;

	memcpy(&head, b->record, sizeof(head));
	trailer = head.size - trailer;
	head.type = type;
	head.misc = 0;
	head.size = sizeof(head) + n * sizeof(*body) + trailer;
	put(&head, sizeof(head));
	put(body, n * sizeof(*body));
	memcpy(&head, b->record, sizeof(head));
	put(b->record + head.size - trailer, trailer);
}

static unsigned long meta_number(const char *meta, const char *key)
{
	const char *at = strstr(meta, key);

	return at ? strtoul(at + strlen(key), NULL, 0) : 0;
}

/* For each cpu: number, count of parameters, format, context, inhibit, bits of SRC, SRC. */
static void put_info(const char *meta)
{
	uint64_t words[2 + 7 * MAX_CPUS];
	struct perf_event_header head = { .type = RVT_RECORD_AUXTRACE_INFO };
	size_t n = 2, cpus = 0;
	unsigned long bits = meta_number(meta, "\nsrc_bits = ");

	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		if (!buffers[i].aux.header.type)
			continue;
		words[n++] = buffers[i].aux.cpu;
		words[n++] = 5;
		words[n++] = 1;
		words[n++] = 1;
		words[n++] = !bits;
		words[n++] = bits;
		words[n++] = buffers[i].aux.cpu;
		cpus++;
	}
	words[0] = 10;	/* perf's number of the format */
	words[1] = (uint64_t)meta_number(meta, "\npmu_type = ") << 32 | cpus;
	head.size = sizeof(head) + n * sizeof(*words);
	put(&head, sizeof(head));
	put(words, n * sizeof(*words));
	for (unsigned int i = 0; i < MAX_CPUS; i++)
		if (buffers[i].body_len)
			put_record(&buffers[i], PERF_RECORD_AUX_OUTPUT_HW_ID, (uint64_t[]){
				   (uint64_t)SINK_ID << 8 | (FIRST_ID + buffers[i].aux.cpu) }, 1);
}

/* The hart of whose trace least has gone through the sink. */
static struct buffer *most_behind(void)
{
	struct buffer *found = NULL;

	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		struct buffer *b = &buffers[i];

		if (b->done < b->end &&
		    (!found || (double)b->done / b->end < (double)found->done / found->end))
			found = b;
	}
	return found;
}

/* One sink, as if all harts sent evenly. */
static void put_sink(void)
{
	struct formatter sink = { .id = -1 };
	struct buffer *b, *last = NULL;
	uint8_t *ids, *bytes;
	size_t n = 0, room = 1;

	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		room += buffers[i].end;
		if (buffers[i].body_len && (!last || buffers[i].time > last->time))
			last = &buffers[i];
	}
	ids = malloc(room);
	bytes = malloc(room);
	if (!ids || !bytes || !last)
		die("out of memory, or no trace");
	while ((b = most_behind())) {
		size_t chunk = 1 + (n * 7 + b->done) % CHUNK;

		if (chunk > b->end - b->done)
			chunk = b->end - b->done;
		memcpy(bytes + n, b->bytes + b->done, chunk);
		memset(ids + n, FIRST_ID + b->aux.cpu, chunk);
		b->done += chunk;
		n += chunk;
	}
	formatter_barrier(&sink);
	formatter_write(&sink, ids, bytes, n, NULL);
	put_record(last, PERF_RECORD_AUX, (uint64_t[]){ 0, sink.len, 0 }, 3);
	put_trace(last, &sink);
	free(ids);
	free(bytes);
	free(sink.out);
}

/* ---- the file ---- */

static void each_record(struct rvt_perfdata *in, void (*take)(const struct rvt_perfdata_record *))
{
	struct rvt_perfdata_record record;
	uint64_t pos = 0;

	while (rvt_perfdata_next(in, &pos, &record) > 0)
		take(&record);
}

static void take_traces(const struct rvt_perfdata_record *record)
{
	if (record->type == RVT_RECORD_AUXTRACE && record->aux_len)
		take_trace(record);
}

static void take_records(const struct rvt_perfdata_record *record)
{
	if (record->type == PERF_RECORD_AUX)
		keep_record(record);
}

static void rewrite(const struct rvt_perfdata_record *record)
{
	if (record->type == PERF_RECORD_AUX)
		reframe_record(record);
	else if (record->type != RVT_RECORD_AUXTRACE)
		put(record->header, record->header->size);
}

static void rewrite_k3(const struct rvt_perfdata_record *record)
{
	if (record->type != PERF_RECORD_AUX && record->type != RVT_RECORD_AUXTRACE &&
	    record->type != PERF_RECORD_AUX_OUTPUT_HW_ID)
		put(record->header, record->header->size);
}

/* Each encoder's section gets what its frames are. */
static void frame_meta(const char *meta, char *framed)
{
	const char *rest = meta;
	char *end = framed;

	while (*rest) {
		size_t n = strcspn(rest, "\n");

		n += rest[n] == '\n';
		if (strncmp(rest, "framing =", 9) && strncmp(rest, "atid =", 6)) {
			memcpy(end, rest, n);
			end += n;
		}
		if (!strncmp(rest, "cpu = ", 6))
			end += sprintf(end, "framing = coresight\natid = %lu\n",
				       FIRST_ID + strtoul(rest + 6, NULL, 0));
		rest += n;
	}
	*end = 0;
}

static void copy_events(const struct rvt_perfdata *in)
{
	for (size_t i = 0; i < rvt_perfdata_n_events(in); i++) {
		const struct rvt_perfdata_event *event = rvt_perfdata_event(in, i);

		if (rvt_perfdata_add_event(out, &event->attr, event->name, event->ids,
					   event->n_ids))
			die("out of memory");
	}
}

/* But the metadata, and what the writer makes itself. */
static void copy_features(const struct rvt_perfdata *in)
{
	for (unsigned int bit = RVT_FEAT_TRACING_DATA; bit < RVT_FEAT_BITS; bit++) {
		const void *bytes;
		size_t len;

		if (bit != RVT_FEAT_RVTRACE_META && bit != RVT_FEAT_EVENT_DESC &&
		    !rvt_perfdata_feature(in, bit, &bytes, &len) &&
		    rvt_perfdata_add_feature(out, bit, bytes, len))
			die("out of memory");
	}
}

int main(int argc, char **argv)
{
	static char meta[MAX_META], framed[2 * MAX_META];
	bool k3 = argc == 4 && !strcmp(argv[1], "--k3");
	struct rvt_perfdata *in;
	const void *text;
	char *error = NULL;
	size_t len;

	if (argc != 3 && !k3) {
		fputs("usage: rvt-frames [--k3] RECORDING OUT\n", stderr);
		return 2;
	}
	if (rvt_perfdata_open(argv[argc - 2], &in, &error))
		die(error ? error : argv[argc - 2]);
	if (rvt_perfdata_feature(in, RVT_FEAT_RVTRACE_META, &text, &len) || len >= MAX_META)
		die("it is no recording of perf rvtrace");
	memcpy(meta, text, len);
	each_record(in, take_traces);
	if (k3)
		each_record(in, take_records);
	if (rvt_perfdata_create(argv[argc - 1], &out))
		die(argv[argc - 1]);
	copy_events(in);
	frame_meta(meta, framed);
	if (rvt_perfdata_begin(out, k3 ? NULL : framed))
		die("cannot write");
	if (k3)
		put_info(meta);
	each_record(in, k3 ? rewrite_k3 : rewrite);
	if (k3)
		put_sink();
	for (unsigned int i = 0; i < MAX_CPUS && !k3; i++)
		if (buffers[i].formatter.len)
			put_trace(&buffers[i], &buffers[i].formatter);
	copy_features(in);
	if (rvt_perfdata_finish(out))
		die("cannot write");
	rvt_perfdata_close(in);
	return 0;
}
