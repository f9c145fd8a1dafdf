// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Call chains of samples that `inject` makes in small slices, by any number of threads, compared
 * with the stacks of one thread that decodes all. Uses build/host/perf-rvtrace-small-slices
 * (tests/tools/small-slices.c); skipped where there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/transfers.h>
#include "inject-recording.h"
#include "property.h"
#include "random-recording.h"
#include "run-command.h"
#include "util/array.h"

#define MAX_DEPTH 1000
#define CHAIN 20	/* addresses */

/* Who called an instruction at one of these addresses, the innermost first. */
struct chain {
	uint64_t first, last, callers[CHAIN];
	size_t n;
};

struct chains {
	struct chain *at;
	size_t n;
};

struct expected {
	struct chains cpus[CPUS];
	size_t calls;		/* all .n */
};

static void add_chain(struct chains *chains, const struct chain *chain)
{
	assert_int_equal(array_grow(&chains->at, chains->n), 0);
	chains->at[chains->n++] = *chain;
}

/* ---- by one thread ---- */

static struct chain chain_of(struct rvt_callstack *stack)
{
	struct chain chain = { .n = 0 };
	const struct rvt_frame *frame;

	for (size_t i = 0; chain.n < CHAIN - 1 && (frame = rvt_callstack_frame(stack, i)); i++)
		if (!frame->cut)
			chain.callers[chain.n++] = frame->back;
	return chain;
}

static int take_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	struct expected *expected = ctx;
	struct chain chain = chain_of(stack);

	expected->calls += chain.n;
	chain.first = line->first;
	chain.last = line->last;
	for (uint64_t n = 0; n < line->insns; n++)
		add_chain(&expected->cpus[hart->cpu], &chain);
	return 0;
}

static void expect(const struct fixture *f, struct expected *expected)
{
	const struct rvt_session_options options = { .size = sizeof(options), .clock = true };
	const struct rvt_transfers_ops ops = { .size = sizeof(ops), .ctx = expected,
					       .line = take_line };
	struct rvt_session_sink sink = { .size = sizeof(sink) };
	struct rvt_transfers *transfers;
	struct rvt_session *session;
	char *error;

	memset(expected, 0, sizeof(*expected));
	assert_int_equal(rvt_session_open(f->data, &options, &session, &error), 0);
	transfers = rvt_transfers_create(&ops, rvt_session_symbols(session), MAX_DEPTH);
	assert_non_null(transfers);
	rvt_transfers_sink(transfers, &sink);
	assert_int_equal(rvt_session_run(session, &sink), 0);
	rvt_transfers_destroy(transfers);
	rvt_session_close(session);
}

/* ---- by inject ---- */

/* The fixed words of a sample, behind its header. */
enum { AT_ID, AT_IP, AT_TASK, AT_TIME, AT_ADDR, AT_CPU, AT_PERIOD, AT_CHAIN };

static void read_chain(const uint64_t *words, struct chains chains[CPUS])
{
	struct chain chain = { .first = words[AT_IP], .last = words[AT_IP] };
	uint64_t n = words[AT_CHAIN];
	bool self = true;

	for (uint64_t i = 1; i <= n; i++) {
		uint64_t address = words[AT_CHAIN + i];

		if (address >= (uint64_t)PERF_CONTEXT_MAX)
			continue;
		if (self)
			assert_int_equal(address, chain.first);
		else
			chain.callers[chain.n++] = address;
		self = false;
		assert_in_range(chain.n, 0, CHAIN - 1);
	}
	assert_in_range(words[AT_CPU], 0, CPUS - 1);
	add_chain(&chains[words[AT_CPU]], &chain);
}

static void inject(const struct fixture *f, uint64_t seed, struct chains chains[CPUS])
{
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	uint64_t pos = 0;
	char letters[16];

	snprintf(letters, sizeof(letters), "i1ig%d", CHAIN);
	file = inject_recording(f, letters, 150 << seed % 4, 1 + seed % 3);
	while (rvt_perfdata_next(file, &pos, &record) > 0)
		if (record.type == PERF_RECORD_SAMPLE)
			read_chain((const uint64_t *)(record.header + 1), chains);
	rvt_perfdata_close(file);
}

/* ---- both ---- */

static void compare(const struct chains *expected, const struct chains *found, uint64_t seed,
		    bool damage)
{
	assert_int_equal(found->n, expected->n);
	for (size_t i = 0; i < found->n; i++) {
		const struct chain *want = &expected->at[i], *got = &found->at[i];

		/* by a damaged time another program may be there when a line ends */
		bool there = damage || (got->first >= want->first && got->first <= want->last);

		if (!there || got->n != want->n ||
		    memcmp(got->callers, want->callers, sizeof(got->callers)))
			fail_msg("seed %llu: %llx, number %zu, has another chain", (long long)seed,
				 (long long)got->first, i);
	}
}

static size_t check_chains(struct fixture *f, uint64_t seed, bool damage)
{
	struct chains found[CPUS] = { 0 };
	struct expected expected;

	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	expect(f, &expected);
	inject(f, seed, found);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		compare(&expected.cpus[cpu], &found[cpu], seed, damage);
		free(found[cpu].at);
		free(expected.cpus[cpu].at);
	}
	return expected.calls;
}

static size_t check_whole(struct fixture *f, uint64_t seed)
{
	return check_chains(f, seed, false);
}

static size_t check_damaged(struct fixture *f, uint64_t seed)
{
	return check_chains(f, seed, true);
}

int main(void)
{
	struct random_recordings whole = {
		.check = check_whole, .least = 1000, .share = 20, .needs = SMALL_SLICES_PROGRAM };
	struct random_recordings damaged = {
		.check = check_damaged, .least = 1000, .share = 20, .damage = true,
		.needs = SMALL_SLICES_PROGRAM };
	const struct CMUnitTest tests[] = {
		{ "whole recordings", random_recordings_test, NULL, NULL, &whole },
		{ "damaged recordings", random_recordings_test, NULL, NULL, &damaged },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
