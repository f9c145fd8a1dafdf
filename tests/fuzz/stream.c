// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A trace of one dialect (FUZZ_DIALECT) and code: dumped, and followed in four ways that must tell
 * the same: by the fast walk, whole and in pieces of 7 bytes; one instruction at a time; counted.
 *
 * The input: parameters as text and a zero; a byte that says how many pieces of code follow, each
 * an address (8 bytes), a length (1 byte) and its bytes; the trace.
 */
#include <rvtrace/access.h>
#include <rvtrace/dump.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "fuzz.h"

#define MAX_SOURCES 4
#define MAX_INSNS 100000	/* that are looked at, for each way */

struct source {
	struct rvt_flow *flow;
	struct walk *walk;
	uint64_t order;		/* of what was delivered */
	uint64_t sum, edges;	/* of what was executed, in any order */
	uint64_t last, next;	/* instruction, and what lies behind it */
	bool has_last;
};

struct walk {
	const char *name;
	size_t piece;
	bool reference, count;
	/* results */
	struct source sources[MAX_SOURCES];
	uint64_t insns;
	struct rvt_stream_stats stats;
	bool over;		/* not all was looked at */
};

static struct rvt_params params;
static struct rvt_space *space;

static uint64_t mix(uint64_t a, uint64_t b)
{
	return (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd) + (a >> 29);
}

static int got_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct source *source = ctx;

	for (size_t i = 0; i < n; i++) {
		const struct rvt_block *block = runs[i].block;
		uint64_t pc = block->pc;

		for (uint32_t k = 0; k < runs[i].first + runs[i].count; k++) {
			uint64_t next = pc + 2 * block->halfwords[k];

			if (k >= runs[i].first) {
				if (source->has_last && pc != source->next)
					source->edges += mix(source->last, pc);
				source->has_last = true;
				source->last = pc;
				source->next = next;
				source->order = mix(source->order, pc);
				source->sum += mix(0, pc);
			}
			pc = next;
		}
		source->walk->insns += runs[i].count;
	}
	source->walk->over |= source->walk->insns > MAX_INSNS;
	return source->walk->over;
}

static int got_event(void *ctx, const struct rvt_event *event)
{
	struct source *source = ctx;
	const struct rvt_context *c = &event->context;

	if (event->type == RVT_EVENT_START || event->type == RVT_EVENT_STOP ||
	    event->type == RVT_EVENT_TRAP || event->type == RVT_EVENT_LOST)
		source->has_last = false;
	source->order = mix(source->order, event->type);
	source->order = mix(source->order, event->reason);
	if (event->type == RVT_EVENT_TRAP)
		source->order = mix(mix(source->order, event->pc), event->target);
	if (event->type == RVT_EVENT_TIME)
		source->order = mix(source->order, event->time);
	if (event->type == RVT_EVENT_ACCESS)
		source->order = mix(mix(source->order, event->access->address),
				    event->access->value ^ event->access->kind);
	if (event->type == RVT_EVENT_CONTEXT)
		source->order = mix(source->order, c->scontext ^ c->hcontext << 1 ^ c->prv << 2);
	return 0;
}

static struct rvt_flow *get_flow(void *ctx, unsigned int src)
{
	struct walk *walk = ctx;
	struct source *source = &walk->sources[src % MAX_SOURCES];
	const struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = source, .runs = got_runs,
		.event = got_event };
	struct rvt_flow_config config = { .size = sizeof(config) };

	if (src >= MAX_SOURCES)
		return NULL;
	rvt_stream_flow_config(&params, &config);
	config.reference_walk = walk->reference;
	source->walk = walk;
	if (rvt_flow_create(&config, &sink, &source->flow))
		return NULL;
	if (walk->count && rvt_flow_count(source->flow))
		broken("counting fails");
	rvt_flow_set_space(source->flow, space);
	return source->flow;
}

static int count_run(void *ctx, const struct rvt_run *run, uint64_t times)
{
	struct source *source = ctx;
	uint64_t pc = run->block->pc;

	for (uint32_t k = 0; k < run->first + run->count; k++) {
		if (k >= run->first)
			source->sum += times * mix(0, pc);
		pc += 2 * run->block->halfwords[k];
	}
	source->walk->insns += times * run->count;
	return 0;
}

static int count_edge(void *ctx, uint64_t from, uint64_t to, enum rvt_insn_class iclass,
		      int64_t times)
{
	struct source *source = ctx;

	(void)iclass;
	source->edges += times * mix(from, to);
	return 0;
}

static void follow(struct walk *walk, const struct input *trace)
{
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = walk, .flow = get_flow,
					    .accesses = true };
	struct rvt_stream *stream;
	int err = 0;

	if (rvt_stream_create(&params, &ops, &stream))
		return;
	for (size_t pos = 0; pos < trace->len && !err; pos += walk->piece) {
		size_t left = trace->len - pos, len = left < walk->piece ? left : walk->piece;
		uint8_t *copy = malloc(len);	/* so that reading beyond it is noticed */

		memcpy(copy, trace->bytes + pos, len);
		err = rvt_stream_feed(stream, copy, len, pos);
		free(copy);
	}
	if (!err)
		rvt_stream_finish(stream);
	walk->stats.size = sizeof(walk->stats);
	rvt_stream_stats(stream, &walk->stats);
	rvt_stream_destroy(stream);
	for (size_t i = 0; i < MAX_SOURCES; i++) {
		struct source *source = &walk->sources[i];
		const struct rvt_count_sink counts = {
			.size = sizeof(counts), .ctx = source, .run = count_run, .edge = count_edge,
		};

		if (source->flow && walk->count)
			rvt_flow_counts(source->flow, &counts);
		rvt_flow_destroy(source->flow);
	}
}

static void compare(const struct walk *a, const struct walk *b)
{
	if (a->over || b->over)
		return;
	if (a->insns != b->insns)
		broken("%s: %llu instructions, %s: %llu", a->name, (unsigned long long)a->insns,
		       b->name, (unsigned long long)b->insns);
	for (size_t i = 0; i < MAX_SOURCES; i++) {
		const struct source *x = &a->sources[i], *y = &b->sources[i];

		if (x->sum != y->sum)
			broken("%s and %s: source %zu: other instructions", a->name, b->name, i);
		if (!b->count && x->order != y->order)
			broken("%s and %s: source %zu: another order", a->name, b->name, i);
		if (x->edges != y->edges)
			broken("%s and %s: source %zu: other edges", a->name, b->name, i);
	}
	if (memcmp(&a->stats, &b->stats, sizeof(a->stats)))
		broken("%s and %s: other statistics", a->name, b->name);
}

static void dump(const struct input *trace)
{
	for (unsigned int json = 0; json < 2; json++) {
		struct rvt_dump *out;

		if (rvt_dump_create(&params, json ? RVT_DUMP_JSON : 0, fuzz_null(), &out))
			return;
		rvt_dump_feed(out, trace->bytes, trace->len, 0);
		rvt_dump_finish(out);
		rvt_dump_destroy(out);
	}
}

static bool read_params(struct input *in)
{
	const char *text = take_string(in);
	char *error = NULL;
	int err;

	rvt_params_init(&params, FUZZ_PROTOCOL, FUZZ_DIALECT);
	err = !text || rvt_params_parse(&params, "input", text, strlen(text), &error);
	free(error);
	/* Without this limit few bytes make hours of flow; that is what the file asks for. */
	return !err && params.protocol == FUZZ_PROTOCOL && params.dialect == FUZZ_DIALECT &&
		(params.protocol != RVT_PROTOCOL_ETRACE || params.branch_count_limit);
}

static bool read_code(struct input *in)
{
	for (uint64_t n = take_number(in, 1); n; n--) {
		uint64_t addr = take_number(in, 8), len = take_number(in, 1);
		const uint8_t *bytes = take(in, len);

		if (!bytes)
			return false;
		rvt_space_map_bytes(space, addr, bytes, len, "code");
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk fast = { .name = "fast", .piece = SIZE_MAX / 2 };
	struct walk pieces = { .name = "pieces", .piece = 7 };
	struct walk reference = { .name = "reference", .piece = SIZE_MAX / 2, .reference = true };
	struct walk counted = { .name = "counted", .piece = SIZE_MAX / 2, .count = true };
	struct input in = { data, size };
	struct rvt_image *image;

	if (rvt_image_create(&image))
		return 0;
	if (!rvt_space_create(image, NULL, &space) && read_params(&in) && read_code(&in)) {
		dump(&in);
		follow(&fast, &in);
		/* which mode `mode = auto` has, is looked for as far as there are bytes */
		if (params.mode != RVT_MODE_AUTO || params.protocol != RVT_PROTOCOL_NTRACE) {
			follow(&pieces, &in);
			compare(&fast, &pieces);
		}
		follow(&reference, &in);
		compare(&fast, &reference);
		if (!fast.over && !reference.over) {
			follow(&counted, &in);
			compare(&fast, &counted);
		}
	}
	rvt_image_destroy(image);
	return 0;
}
