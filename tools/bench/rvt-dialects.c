// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-dialects [ROUNDS]: how fast what chips write is decoded, beside the standard that it is
 * nearest to. A random program is executed and encoded by each; its trace is decoded so often,
 * counted, and the best time counts. Exit status 1: one takes more than twice the time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rvtrace/etrace.h>
#include <rvtrace/image.h>
#include <rvtrace/ntrace.h>
#include <rvtrace/stream.h>
#include "tests/tools/coresight-formatter.h"
#include "tests/unit/random-hart.h"
#include "util/array.h"

#define STEPS 100000
#define REPEATS 40
#define SEED 7
#define NAME_WIDTH 31

struct trace {
	const struct dialect *dialect;
	struct rvt_params params;
	struct hart *hart;
	struct rvt_ntrace_encoder *ntrace;
	struct rvt_etrace_encoder *etrace;
	uint8_t *bytes;
	size_t len, room;
	uint64_t now;
};

struct dialect {
	const char *name;
	enum rvt_protocol protocol;
	enum rvt_dialect dialect;
	enum rvt_framing framing;
	enum rvt_timestamp timestamp;
	unsigned int options;
	bool rv32;
	int beside;		/* this one; -1: it is a standard */
};

static const struct dialect dialects[] = {
	{ "N-Trace 1.0", RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0, RVT_FRAMING_NONE,
	  RVT_TIMESTAMP_DELTA, RVT_OPT_REPEATED_HISTORY, false, -1 },
	{ "N-Trace, sifive", RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_SIFIVE, RVT_FRAMING_NONE,
	  RVT_TIMESTAMP_XOR, RVT_OPT_REPEATED_HISTORY, false, 0 },
	{ "N-Trace 1.0, CoreSight frames", RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0,
	  RVT_FRAMING_CORESIGHT, RVT_TIMESTAMP_DELTA, RVT_OPT_REPEATED_HISTORY, false, 0 },
	{ "N-Trace, ctte: jump cache", RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_CTTE,
	  RVT_FRAMING_NONE, RVT_TIMESTAMP_DELTA,
	  RVT_OPT_REPEATED_HISTORY | RVT_OPT_JUMP_TARGET_CACHE, false, 0 },
	{ "N-Trace, ctte: both predictors", RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_CTTE,
	  RVT_FRAMING_NONE, RVT_TIMESTAMP_DELTA,
	  RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE, false, 0 },
	{ "E-Trace 2.0, full addresses", RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0,
	  RVT_FRAMING_NONE, RVT_TIMESTAMP_NONE, RVT_OPT_FULL_ADDRESS, true, -1 },
	{ "E-Trace 2.0, CoreSight frames", RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0,
	  RVT_FRAMING_CORESIGHT, RVT_TIMESTAMP_NONE, RVT_OPT_FULL_ADDRESS, true, 5 },
	{ "E-Trace, esp32", RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_ESP32, RVT_FRAMING_ESP32,
	  RVT_TIMESTAMP_NONE, RVT_OPT_FULL_ADDRESS, true, 5 },
};

#define N_DIALECTS (sizeof(dialects) / sizeof(*dialects))

static void check(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "rvt-dialects: %s: %s\n", what, strerror(ret < 0 ? -ret : ret));
	exit(2);
}

/* ---- encoding ---- */

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct trace *t = ctx;

	check(array_reserve(&t->bytes, &t->room, t->len, len), "trace");
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
	return 0;
}

static uint64_t now(void *ctx)
{
	return ((struct trace *)ctx)->now += 20;
}

static void on_retire(void *ctx, const struct rvt_retire *run)
{
	struct trace *t = ctx;

	if (t->ntrace)
		rvt_ntrace_encoder_retire(t->ntrace, run);
	else
		rvt_etrace_encoder_retire(t->etrace, run);
}

static void on_trap(void *ctx, const struct rvt_trap *trap)
{
	struct trace *t = ctx;

	if (t->ntrace)
		rvt_ntrace_encoder_trap(t->ntrace, trap);
	else
		rvt_etrace_encoder_trap(t->etrace, trap);
}

static void create_encoder(struct trace *t)
{
	const struct dialect *d = t->dialect;
	const bool repeats = d->dialect != RVT_DIALECT_NTRACE_SIFIVE &&
			     !(d->options & RVT_OPT_BRANCH_PREDICTION);
	const struct rvt_ntrace_encoder_config ntrace = {
		.dialect = d->dialect, .mode = RVT_MODE_HTM, .xlen = t->params.xlen,
		.options = d->options, .timestamp = d->timestamp, .sync_mode = 3, .sync_max = 12,
		.icnt_bits = 16, .hist_bits = 32, .hrepeat_bits = 12, .bcnt_bits = repeats ? 12 : 0,
		.emit = emit, .now = now, .ctx = t,
	};
	const struct rvt_etrace_encoder_config etrace = {
		.params = &t->params, .sync_mode = 3, .sync_max = 12, .emit = emit, .ctx = t,
	};

	if (d->protocol == RVT_PROTOCOL_NTRACE)
		check(rvt_ntrace_encoder_create(&ntrace, &t->ntrace), d->name);
	else
		check(rvt_etrace_encoder_create(&etrace, &t->etrace), d->name);
}

/* The same program again and again: what is decoded is not new, as in most programs. */
static void execute(struct trace *t)
{
	const struct hart_sink sink = { t, on_retire, on_trap };

	for (int i = 0; i < REPEATS; i++) {
		struct hart *hart = hart_create(SEED, t->dialect->rv32);

		if (t->ntrace)
			rvt_ntrace_encoder_start(t->ntrace, RVT_NTRACE_SYNC_TRACE_ENABLE);
		else
			rvt_etrace_encoder_start(t->etrace);
		hart_run(hart, &sink, STEPS);
		if (t->ntrace)
			rvt_ntrace_encoder_stop(t->ntrace, RVT_NTRACE_EV_TRACE_DISABLED,
						hart_pc(hart));
		else
			rvt_etrace_encoder_stop(t->etrace, true);
		if (t->hart)
			hart_destroy(t->hart);
		t->hart = hart;
	}
}

static void put_in_frames(struct trace *t)
{
	struct formatter f = { .id = -1 };
	uint8_t *ids = malloc(t->len);

	check(ids ? 0 : -ENOMEM, "frames");
	memset(ids, 0x10, t->len);
	formatter_write(&f, ids, t->bytes, t->len, NULL);
	free(ids);
	free(t->bytes);
	t->bytes = f.out;
	t->len = f.len;
}

static void make(struct trace *t, const struct dialect *d)
{
	*t = (struct trace){ .dialect = d };
	rvt_params_init(&t->params, d->protocol, d->dialect);
	t->params.xlen = d->rv32 ? 32 : 64;
	t->params.timestamp = d->timestamp;
	t->params.options = d->options;
	if (d->protocol == RVT_PROTOCOL_ETRACE)
		t->params.privilege_width_p = 2;
	create_encoder(t);
	execute(t);
	rvt_ntrace_encoder_destroy(t->ntrace);
	rvt_etrace_encoder_destroy(t->etrace);
	t->params.framing = d->framing;
	if (d->framing == RVT_FRAMING_CORESIGHT)
		put_in_frames(t);
}

/* ---- decoding ---- */

static struct rvt_flow *the_flow(void *ctx, unsigned int src)
{
	(void)src;
	return ctx;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Returns how many seconds of a processor it took. */
static double decode(const struct trace *t, struct rvt_flow_stats *stats)
{
	struct rvt_flow_config config = { .size = sizeof(config) };
	struct rvt_stream_ops ops = { .size = sizeof(ops), .flow = the_flow };
	struct rvt_stream *stream;
	struct rvt_image *image;
	struct rvt_space *space;
	struct rvt_flow *flow;
	double begin;

	check(rvt_image_create(&image), "code");
	check(rvt_space_create(image, NULL, &space), "code");
	check(rvt_space_map_bytes(space, HART_BASE, hart_code(t->hart), HART_BYTES, "code"),
	      "code");
	rvt_stream_flow_config(&t->params, &config);
	check(rvt_flow_create(&config, NULL, &flow), "flow");
	check(rvt_flow_count(flow), "flow");
	rvt_flow_set_space(flow, space);
	ops.ctx = flow;
	check(rvt_stream_create(&t->params, &ops, &stream), "stream");
	begin = seconds();
	check(rvt_stream_feed(stream, t->bytes, t->len, 0), "decoding");
	check(rvt_stream_finish(stream), "decoding");
	begin = seconds() - begin;
	rvt_flow_stats(flow, stats);
	rvt_stream_destroy(stream);
	rvt_flow_destroy(flow);
	rvt_image_destroy(image);
	return begin;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
	struct rvt_flow_stats stats[N_DIALECTS];
	struct trace traces[N_DIALECTS];
	double times[N_DIALECTS] = { 0 };
	int status = 0;

	for (size_t i = 0; i < N_DIALECTS; i++)
		make(&traces[i], &dialects[i]);
	/* In turn: what else the machine does hits all of them. */
	for (unsigned int round = 0; round < rounds; round++)
		for (size_t i = 0; i < N_DIALECTS; i++) {
			double time;

			stats[i].size = sizeof(stats[i]);
			time = decode(&traces[i], &stats[i]);
			if (!round || time < times[i])
				times[i] = time;
		}
	for (size_t i = 0; i < N_DIALECTS; i++) {
		const int beside = dialects[i].beside;

		if (stats[i].refuted || !stats[i].insns)
			check(-EIO, dialects[i].name);
		printf("%-*s %9zu bytes %9" PRIu64 " instructions %7.2f ns", NAME_WIDTH,
		       dialects[i].name, traces[i].len, stats[i].insns,
		       times[i] * 1e9 / stats[i].insns);
		if (beside >= 0) {
			printf("  %.2f of the speed of %s", times[beside] / times[i],
			       dialects[beside].name);
			status |= times[beside] < times[i] / 2;
		}
		putchar('\n');
		hart_destroy(traces[i].hart);
		free(traces[i].bytes);
	}
	return status;
}
