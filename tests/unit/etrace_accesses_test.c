// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Data trace of random accesses, through encoder and decoder: what is told is what was made,
 * whatever the parameters; where trace is missing, what is told is so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "property.h"
#include "random-accesses.h"

#define CASES 400
#define ACCESSES 300

struct told {
	struct rvt_flow *flow;
	struct rvt_access accesses[4 * ACCESSES];
	size_t n, lost_events;
};

static struct rvt_image *image;
static struct rvt_space *space;

static int on_event(void *ctx, const struct rvt_event *event)
{
	struct told *told = ctx;

	told->lost_events += event->type == RVT_EVENT_LOST;
	if (event->type != RVT_EVENT_ACCESS)
		return 0;
	assert_int_equal(event->access->size, sizeof(*event->access));
	assert_true(told->n < sizeof(told->accesses) / sizeof(told->accesses[0]));
	told->accesses[told->n++] = *event->access;
	return 0;
}

static struct rvt_flow *get_flow(void *ctx, unsigned int src)
{
	(void)src;
	return ((struct told *)ctx)->flow;
}

/* @gap: so many bytes from @at on are missing. */
static void decode(const struct rvt_params *params, const struct accesses_trace *trace, size_t at,
		   size_t gap, bool wanted, struct told *told, struct rvt_stream_stats *stats,
		   struct rvt_flow_stats *flow_stats)
{
	struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = told, .flow = get_flow,
				      .accesses = wanted };
	struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = told, .event = on_event };
	struct rvt_flow_config config = { .size = sizeof(config) };
	struct rvt_stream *stream;
	int ret;

	memset(told, 0, sizeof(*told));
	rvt_stream_flow_config(params, &config);
	assert_int_equal(rvt_flow_create(&config, &sink, &told->flow), 0);
	rvt_flow_set_space(told->flow, space);
	assert_int_equal(rvt_stream_create(params, &ops, &stream), 0);
	ret = rvt_stream_feed(stream, trace->bytes, at, 0);
	if (!ret && gap)
		ret = rvt_stream_lost(stream, at, RVT_REASON_TRUNCATED, true);
	if (!ret)
		ret = rvt_stream_feed(stream, trace->bytes + at + gap, trace->len - at - gap,
				      at + gap);
	assert_int_equal(ret, 0);
	assert_int_equal(rvt_stream_finish(stream), 0);
	*stats = (struct rvt_stream_stats){ .size = sizeof(*stats) };
	*flow_stats = (struct rvt_flow_stats){ .size = sizeof(*flow_stats) };
	assert_int_equal(rvt_stream_stats(stream, stats), 0);
	assert_int_equal(rvt_flow_stats(told->flow, flow_stats), 0);
	rvt_stream_destroy(stream);
	rvt_flow_destroy(told->flow);
}

static void random_params(struct random *r, struct rvt_params *p)
{
	static const unsigned int left_out[] = {
		0, 0, 0, RVT_OPT_DATA_NO_ADDRESS, RVT_OPT_DATA_NO_VALUE,
	};

	rvt_params_init(p, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0 + random_below(r, 2));
	p->xlen = random_below(r, 2) ? 32 : 64;
	p->iaddress_width_p = p->xlen;
	p->data_width_p = 8u << random_below(r, 4);
	p->daddress_width_p = random_below(r, 2) ? 0 : 16 + random_below(r, p->xlen - 15);
	p->lrid_width_p = random_below(r, 2) ? 0 : random_below(r, 5);
	p->dtype_width_p = 1 + random_below(r, 4);
	p->srcid_bits = random_below(r, 10);
	p->type_bits = 1 + random_below(r, 3);
	p->type_data = 1;
	p->data_compression = random_below(r, 3);
	p->data_operands = random_below(r, 2);
	p->options = left_out[random_below(r, 5)];
	if (p->dialect == RVT_DIALECT_ETRACE_2_0_5 && random_below(r, 2))
		p->options |= RVT_OPT_MULTI_ACCESS;
}

static bool is_same(const struct rvt_access *a, const struct rvt_access *b)
{
	return a->kind == b->kind && a->operation == b->operation && a->bytes == b->bytes &&
	       a->address_valid == b->address_valid && a->value_valid == b->value_valid &&
	       a->operand_valid == b->operand_valid && a->multiple == b->multiple &&
	       a->error == b->error && (!a->address_valid || a->address == b->address) &&
	       (!a->value_valid || a->value == b->value) &&
	       (!a->operand_valid || a->operand == b->operand);
}

/* What is split waits for its data, others do not wait for it. */
static bool waits(const struct rvt_params *p, const struct rvt_access *a)
{
	const bool no_address = p->options & RVT_OPT_DATA_NO_ADDRESS;

	if (!p->lrid_width_p || p->options & RVT_OPT_DATA_NO_VALUE)
		return false;
	if (a->kind == RVT_ACCESS_LOAD)
		return !no_address;
	return a->kind == RVT_ACCESS_ATOMIC && a->operation < RVT_ACCESS_SC_FAILURE &&
	       (!no_address || p->dialect == RVT_DIALECT_ETRACE_2_0_5);
}

/* The next of those that wait, or that do not. */
static const struct rvt_access *next(const struct rvt_params *p, const struct rvt_access *at,
				     const struct rvt_access *end, bool waiting)
{
	while (at < end && waits(p, at) != waiting)
		at++;
	return at < end ? at : NULL;
}

static void compare(uint64_t seed, const struct rvt_params *p, const struct accesses_trace *trace,
		    const struct told *told)
{
	assert_int_equal(told->n, trace->n_told);
	for (int waiting = 0; waiting < 2; waiting++) {
		const struct rvt_access *got = told->accesses, *made = trace->told;
		const struct rvt_access *got_end = got + told->n, *end = made + trace->n_told;

		while ((made = next(p, made, end, waiting))) {
			got = next(p, got, got_end, waiting);
			if (!got || !is_same(got, made))
				fail_msg("seed %llu: access %zu is another",
					 (unsigned long long)seed, made - trace->told);
			got++;
			made++;
		}
		assert_null(next(p, got, got_end, waiting));
	}
}

static void test_round_trip(void **state)
{
	const uint64_t first = property_setting("RVT_PROPERTY_SEED", 1);
	const uint64_t cases = property_setting("RVT_PROPERTY_CASES", CASES);
	struct told *told = malloc(sizeof(*told));

	(void)state;
	for (uint64_t seed = first; seed < first + cases; seed++) {
		struct rvt_flow_stats flow_stats;
		struct rvt_stream_stats stats;
		struct accesses_trace trace;
		struct rvt_params params;
		struct random random;

		random_seed(&random, seed);
		random_params(&random, &params);
		accesses_make(&params, seed, ACCESSES, &trace);
		decode(&params, &trace, 0, 0, true, told, &stats, &flow_stats);
		compare(seed, &params, &trace, told);
		assert_int_equal(stats.errors, 0);
		assert_int_equal(stats.accesses, trace.n_told);
		assert_int_equal(stats.lost_accesses, 0);
		assert_int_equal(told->lost_events, 0);
		assert_int_equal(flow_stats.insns, trace.insns);
		/* to those who do not ask nothing is told, and the flow is the same */
		decode(&params, &trace, 0, 0, false, told, &stats, &flow_stats);
		assert_int_equal(told->n, 0);
		assert_int_equal(stats.accesses, 0);
		assert_int_equal(flow_stats.insns, trace.insns);
		free(trace.bytes);
		free(trace.told);
	}
	free(told);
}

/* What of an access that was told is known fits one that was made behind @from. */
static const struct rvt_access *find(const struct rvt_access *got, const struct rvt_access *from,
				     const struct rvt_access *end)
{
	for (; from < end; from++) {
		struct rvt_access made = *from;

		if (!got->address_valid)
			made.address_valid = false;
		if (!got->value_valid)
			made.value_valid = false;
		if (!got->operand_valid)
			made.operand_valid = false;
		if (is_same(got, &made))
			return from + 1;
	}
	return NULL;
}

static unsigned int frame_bytes(const struct rvt_params *p, const uint8_t *bytes)
{
	return 1 + p->srcid_bits / 8 + (bytes[0] & 31);
}

/* Whole packets are missing, and that is said: what is told was made, in that order. */
static void test_loss(void **state)
{
	const uint64_t cases = property_setting("RVT_PROPERTY_CASES", CASES);
	struct told *told = malloc(sizeof(*told));
	uint64_t lost = 0, known = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= cases; seed++) {
		struct rvt_flow_stats flow_stats;
		struct rvt_stream_stats stats;
		struct accesses_trace trace;
		const struct rvt_access *from;
		struct rvt_params params;
		struct random random;
		size_t at = 0, gap = 0, to;

		random_seed(&random, seed);
		random_params(&random, &params);
		params.lrid_width_p = 0;
		accesses_make(&params, seed, ACCESSES, &trace);
		to = trace.len / 4 + random_below(&random, trace.len / 2);
		while (at < to)
			at += frame_bytes(&params, trace.bytes + at);
		for (unsigned int n = 1 + random_below(&random, 20); n && at + gap < trace.len; n--)
			gap += frame_bytes(&params, trace.bytes + at + gap);
		decode(&params, &trace, at, gap, true, told, &stats, &flow_stats);
		from = trace.told;
		for (size_t i = 0; i < told->n; i++) {
			from = find(&told->accesses[i], from, trace.told + trace.n_told);
			if (!from)
				fail_msg("seed %llu: access %zu was never made",
					 (unsigned long long)seed, i);
			known += told->accesses[i].address_valid || told->accesses[i].value_valid;
		}
		assert_true(told->n + 20 >= trace.n_told);
		lost += stats.lost_accesses;
		free(trace.bytes);
		free(trace.told);
	}
	free(told);
	/* A few cases may have no loss that is counted. */
	assert_true(cases < 10 || lost > cases / 10);
	assert_true(known > 100 * cases);
}

/* Any bytes are altered: nothing is read beyond its end, and decoding comes to its own. */
static void test_damage(void **state)
{
	const uint64_t cases = property_setting("RVT_PROPERTY_CASES", CASES);
	struct told *told = malloc(sizeof(*told));

	(void)state;
	for (uint64_t seed = 1; seed <= cases; seed++) {
		struct rvt_flow_stats flow_stats;
		struct rvt_stream_stats stats;
		struct accesses_trace trace;
		struct rvt_params params;
		struct random random;

		random_seed(&random, seed);
		random_params(&random, &params);
		accesses_make(&params, seed, ACCESSES, &trace);
		for (unsigned int n = 1 + random_below(&random, 10); n; n--)
			trace.bytes[random_below(&random, trace.len)] = random_word(&random);
		decode(&params, &trace, 0, 0, true, told, &stats, &flow_stats);
		assert_int_equal(told->n, stats.accesses);
		free(trace.bytes);
		free(trace.told);
	}
	free(told);
}

static int begin(void **state)
{
	(void)state;
	assert_int_equal(rvt_image_create(&image), 0);
	assert_int_equal(rvt_space_create(image, NULL, &space), 0);
	return rvt_space_map_bytes(space, ACCESSES_BASE, accesses_code, ACCESSES_CODE_BYTES,
				   "code");
}

static int end(void **state)
{
	(void)state;
	rvt_image_destroy(image);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests_name("etrace accesses", tests, begin, end);
}
