// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Recordings in parts: all of them in order tell what the session tells, and each tells the same
 * again, in any order; what addresses meant to a thread can be asked for afterwards. Of whole
 * recordings and of damaged ones.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "util/array.h"
#include "random-recording.h"
#include "session/parts.h"

#define LOST_PC 1	/* of a loss: no instruction is there */
#define STOPS (-77)	/* what a call-back returns */

struct told {
	uint64_t pc, time;	/* no padding: compared as bytes */
	int32_t cpu, tid;
	uint64_t code;		/* the first halfword of the instruction; 0: not to be read */
};

struct part {
	struct told *list;
	size_t n;
	unsigned int buffer;
	bool began;
};

struct telling {
	struct part *parts;
	size_t n;
	struct part *now;
	size_t ends, flows;	/* hart flows that have ended, and that have begun */
	size_t stop_at;		/* part that is not to be told; SIZE_MAX: none */
};

/* ---- what is told ---- */

static uint64_t halfword_at(struct rvt_space *space, uint64_t pc)
{
	const uint8_t *bytes;

	return space && rvt_space_find(space, pc, &bytes) >= 2 ? bytes[0] | bytes[1] << 8 : 0;
}

static void tell(struct telling *telling, struct rvt_hart_flow *hart, uint64_t pc)
{
	struct part *part = telling->now;

	if (!hart->user) {
		hart->user = part;
		telling->flows++;
	}
	assert_ptr_equal(hart->user, part);
	assert_int_equal(array_grow(&part->list, part->n), 0);
	part->list[part->n++] = (struct told){
		.pc = pc, .time = hart->time, .cpu = hart->cpu,
		.tid = hart->task ? hart->task->tid : -1,
		.code = pc == LOST_PC ? 0 : halfword_at(hart->space, pc) };
}

static int take_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first)
				tell(ctx, hart, pc);
			pc += 2 * runs[i].block->halfwords[j];
		}
	}
	return 0;
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	if (event->type == RVT_EVENT_LOST)
		tell(ctx, hart, LOST_PC);
	return 0;
}

static void take_end(void *ctx, struct rvt_hart_flow *hart)
{
	struct telling *telling = ctx;

	telling->ends += !!hart->user;
	hart->user = NULL;
}

static int stop_at_once(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	(void)ctx, (void)hart, (void)runs, (void)n;
	return STOPS;
}

/* What was told of it, and of those behind it, is void. */
static int begin(void *ctx, size_t n, unsigned int buffer)
{
	struct telling *telling = ctx;

	assert_true(n <= telling->n);
	while (telling->n > n)
		free(telling->parts[--telling->n].list);
	if (n == telling->stop_at)
		return STOPS;
	assert_int_equal(array_grow(&telling->parts, telling->n), 0);
	telling->now = &telling->parts[telling->n++];
	*telling->now = (struct part){ .buffer = buffer, .began = true };
	return 0;
}

static struct rvt_session_sink make_sink(struct telling *telling)
{
	return (struct rvt_session_sink){ .size = sizeof(struct rvt_session_sink), .ctx = telling,
					  .runs = take_runs, .event = take_event, .end = take_end };
}

static void forget(struct telling *telling)
{
	while (telling->n)
		free(telling->parts[--telling->n].list);
	free(telling->parts);
}

/* ---- checks ---- */

static struct rvt_session *open_recording(const struct fixture *f)
{
	const struct rvt_session_options options = { .size = sizeof(options), .params = f->params,
						     .jobs = 1 };
	struct rvt_session *session;
	char *error;

	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	return session;
}

/* In order, as one thread has found it; a cpu that sends to several sinks has no order. */
static void check_order(const struct fixture *f, const struct telling *telling)
{
	bool ordered = !f->src_bits && !f->framed;
	size_t at[CPUS] = { 0 };

	for (size_t i = 0; i < telling->n; i++) {
		const struct part *part = &telling->parts[i];

		assert_true(!i || part->buffer >= part[-1].buffer);
		for (size_t j = 0; j < part->n; j++) {
			const struct told *told = &part->list[j];
			const struct steps *found = &f->cpus[told->cpu].found;

			if (told->pc == LOST_PC)
				continue;
			assert_true(at[told->cpu] < found->n);
			if (ordered) {
				assert_int_equal(told->pc, found->at[at[told->cpu]].pc);
				assert_int_equal(told->tid, found->at[at[told->cpu]].tid);
			}
			at[told->cpu]++;
		}
	}
	for (int cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(at[cpu], f->cpus[cpu].found.n);
}

/* Each part again, from the last to the first: the same, and counted once. */
static void check_again(struct rvt_session *session, struct rvt_parts *parts,
			const struct telling *first)
{
	struct rvt_session_totals before, after;

	rvt_session_totals(session, &before);
	for (size_t n = first->n; n--;) {
		struct part part = { .buffer = first->parts[n].buffer };
		struct telling again = { .now = &part };
		const struct rvt_session_sink sink = make_sink(&again);

		assert_int_equal(rvt_parts_decode(parts, n, &sink), 0);
		assert_int_equal(again.ends, again.flows);
		assert_int_equal(part.n, first->parts[n].n);
		if (part.n)
			assert_memory_equal(part.list, first->parts[n].list,
					    part.n * sizeof(*part.list));
		free(part.list);
	}
	rvt_session_totals(session, &after);
	assert_memory_equal(&after, &before, sizeof(after));
}

/* What was at an address when a thread executed it. */
static size_t check_spaces(struct rvt_parts *parts, const struct telling *telling)
{
	size_t n = 0;

	for (size_t i = telling->n; i--;) {
		const struct part *part = &telling->parts[i];

		for (size_t j = 0; j < part->n; j += 1 + part->n / 8) {
			const struct told *told = &part->list[j];

			if (!told->code || told->tid <= 0)
				continue;
			assert_int_equal(halfword_at(rvt_parts_space(parts, told->tid, told->time),
						     told->pc), told->code);
			n++;
		}
	}
	return n;
}

/* An error of a call-back ends it, and is returned. */
static void check_errors(const struct fixture *f, uint64_t bytes, size_t n)
{
	struct telling telling = { .stop_at = n / 2 };
	struct rvt_session_sink sink = make_sink(&telling);
	const struct rvt_parts_ops ops = { .ctx = &telling, .begin = begin };
	struct rvt_session *session = open_recording(f);
	struct rvt_parts *parts = NULL;

	assert_int_equal(rvt_parts_create(session, bytes, &sink, &ops, &parts), STOPS);
	assert_null(parts);
	telling.stop_at = SIZE_MAX;
	/* the session is as good as new */
	assert_int_equal(rvt_parts_create(session, bytes, &sink, &ops, &parts), 0);
	assert_int_equal(telling.n, n);
	assert_int_equal(rvt_parts_decode(parts, n, &sink), -EINVAL);
	sink.runs = stop_at_once;
	for (size_t i = 0; i < n; i++) {
		const struct part *part = &telling.parts[i];
		bool runs = false;

		for (size_t j = 0; j < part->n; j++)
			runs |= part->list[j].pc != LOST_PC;
		telling.now = &telling.parts[i];
		if (runs)
			assert_int_equal(rvt_parts_decode(parts, i, &sink), STOPS);
	}
	rvt_parts_destroy(parts);
	rvt_session_close(session);
	forget(&telling);
}

/* Returns how many parts there are. */
static size_t check_parts(const struct fixture *f, const struct rvt_session_totals *stats,
			  bool damaged, uint64_t bytes)
{
	struct telling telling = { .stop_at = SIZE_MAX };
	const struct rvt_session_sink sink = make_sink(&telling);
	const struct rvt_parts_ops ops = { .ctx = &telling, .begin = begin };
	struct rvt_session *session = open_recording(f);
	struct rvt_session_totals totals;
	struct rvt_parts *parts;
	size_t n;

	assert_int_equal(rvt_parts_create(session, bytes, &sink, &ops, &parts), 0);
	rvt_session_totals(session, &totals);
	assert_int_equal(totals.flow.insns, stats->flow.insns);
	assert_int_equal(totals.session.trace_bytes, stats->session.trace_bytes);
	check_order(f, &telling);
	check_again(session, parts, &telling);
	if (f->timed && !damaged)
		assert_true(check_spaces(parts, &telling) > 0);
	check_again(session, parts, &telling);
	rvt_parts_destroy(parts);
	rvt_session_close(session);
	check_errors(f, bytes, telling.n);
	n = telling.n;
	forget(&telling);
	return n;
}

static size_t check_recording(struct fixture *f, bool damaged)
{
	struct rvt_session_totals stats;
	size_t n = 0;

	read_stored(f, true, &stats);
	for (uint64_t bytes = 150; bytes < 3000; bytes *= 4)
		n += check_parts(f, &stats, damaged, bytes);
	return n;
}

static size_t check_whole(struct fixture *f, uint64_t seed)
{
	(void)seed;
	return check_recording(f, false);
}

static size_t check_damaged(struct fixture *f, uint64_t seed)
{
	(void)seed;
	return check_recording(f, true);
}

int main(void)
{
	/* 3 sizes: some 30 parts of the smallest */
	struct random_recordings whole = { .check = check_whole, .least = 20, .share = 100 };
	struct random_recordings damaged = { .check = check_damaged, .least = 10, .share = 100,
					     .damage = true };
	struct random_recordings shared = { .check = check_whole, .least = 6, .share = 250,
					    .shared = true };
	const struct CMUnitTest tests[] = {
		{ "recordings in parts", random_recordings_test, NULL, NULL, &whole },
		{ "damaged recordings in parts", random_recordings_test, NULL, NULL, &damaged },
		{ "recordings of shared sinks in parts", random_recordings_test, NULL, NULL,
		  &shared },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
