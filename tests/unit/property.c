// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "property.h"

#define CASES 300
#define DAY (24 * 60 * 60)
/* Of each day, far from the fixed ones. */
#define SEEDS_PER_DAY 100000

uint64_t property_setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 0) : otherwise;
}

uint64_t property_share(uint64_t n)
{
	const uint64_t percent = property_setting("RVT_CASES_PERCENT", 100);
	const uint64_t share = n * percent / 100 ?: 1;

	if (share != n)
		print_message("RVT_CASES_PERCENT=%" PRIu64 ": %" PRIu64 " cases, not %" PRIu64 "\n",
			      percent, share, n);
	return share;
}

/* What property_main() was called with: cmocka's tests have no argument of their own. */
static struct {
	property_check check;
	unsigned int steps, damage_share;
} property;

static size_t run_from(uint64_t first, uint64_t n, enum property_kind kind)
{
	size_t decoded = 0;

	for (uint64_t seed = first; seed < first + n; seed++)
		decoded += property.check(seed, kind);
	return decoded;
}

static void run_share(enum property_kind kind, unsigned int share)
{
	uint64_t n = property_setting("RVT_PROPERTY_CASES", CASES) / share, cases = n;
	uint64_t today = time(NULL) / DAY * SEEDS_PER_DAY;
	size_t decoded = run_from(property_setting("RVT_PROPERTY_SEED", 1), n, kind);

	if (getenv("RVT_LONG") && !getenv("RVT_PROPERTY_SEED")) {
		print_message("today: RVT_PROPERTY_SEED=%" PRIu64
			      ", RVT_PROPERTY_CASES=%" PRIu64 "\n",
			      today, n / 4 * share);
		cases += n / 4;
		decoded += run_from(today, n / 4, kind);
	}
	/* Too few say nothing: someone looks for the seed of a failure. */
	assert_true(cases < 10 || decoded > cases * property.steps / 10);
}

static void test_all(void **state)
{
	(void)state;
	run_share(CHECK_ALL, 1);
}

static void test_loss(void **state)
{
	(void)state;
	run_share(CHECK_LOSS, 3);
}

static void test_damage(void **state)
{
	(void)state;
	run_share(CHECK_DAMAGE, property.damage_share);
}

int property_main(const char *name, property_check check, unsigned int steps,
		  unsigned int damage_share)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_damage),
	};

	property.check = check;
	property.steps = steps;
	property.damage_share = damage_share;
	return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

/* ---- pausing at time stamps ---- */

int pauses_feed(struct pauses *p, struct random *random, const void *bytes, size_t len,
		uint64_t offset, size_t *taken)
{
	int ret;

	*taken = len;
	p->feeding = random_one_in(random, 2);
	if (!p->feeding)
		return rvt_stream_feed(p->stream, bytes, len, offset);
	ret = rvt_stream_feed_part(p->stream, bytes, len, offset, taken);
	assert_true(*taken <= len && (p->paused || *taken == len || ret));
	p->feeding = p->paused = false;
	p->late = 0;
	return ret;
}

void pauses_event(struct pauses *p, struct random *random, const struct rvt_event *event)
{
	assert_false(p->holds && p->paused &&
		     (event->type == RVT_EVENT_START || event->type == RVT_EVENT_CONTEXT));
	if (event->type != RVT_EVENT_TIME)
		return;
	/* E-Trace: a packet can end what one with another time began */
	assert_true(!p->paused || !p->late++);
	if (p->paused || !random_one_in(random, 8))
		return;
	rvt_stream_pause(p->stream);
	p->paused = p->feeding;
}

/* ---- history ---- */

void history_add_runs(struct history *h, const struct rvt_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t k = 0; k < runs[i].first + runs[i].count; k++) {
			if (k >= runs[i].first && h->n_pcs < HISTORY_MAX)
				h->pcs[h->n_pcs++] = pc;
			pc += 2 * runs[i].block->halfwords[k];
		}
	}
}

void history_add_event(struct history *h, const struct rvt_event *event)
{
	switch (event->type) {
	case RVT_EVENT_TRAP:
		if (h->n_traps < HISTORY_MAX)
			h->traps[h->n_traps++] = (struct trap_seen){
				h->n_pcs, event->pc, event->target, event->cause, event->tval,
				event->interrupt,
			};
		break;
	case RVT_EVENT_MARK:
		if (h->n_marks < HISTORY_MAX)
			h->marks[h->n_marks++] = h->n_pcs;
		break;
	case RVT_EVENT_START:
		if (h->n_starts < HISTORY_MAX)
			h->starts[h->n_starts++] = h->n_pcs;
		break;
	case RVT_EVENT_TIME:
		if (h->n_times < 8 * HISTORY_MAX)
			h->times[h->n_times++] = event->time;
		break;
	case RVT_EVENT_LOST:
		h->n_lost++;
		break;
	default:
		break;
	}
}

bool history_same_flow(const struct history *executed, const struct history *decoded)
{
	const struct history *e = executed, *d = decoded;

	for (size_t i = 0; i < e->n_pcs && i < d->n_pcs; i++) {
		if (e->pcs[i] != d->pcs[i]) {
			print_error("instruction %zu is 0x%" PRIx64 ", decoded 0x%" PRIx64 "\n", i,
				    e->pcs[i], d->pcs[i]);
			return false;
		}
	}
	if (e->n_pcs != d->n_pcs || e->n_traps != d->n_traps || d->n_lost) {
		print_error("%zu instructions and %zu traps, decoded %zu and %zu; lost %zu\n",
			    e->n_pcs, e->n_traps, d->n_pcs, d->n_traps, d->n_lost);
		return false;
	}
	return true;
}

bool history_is_part(const struct history *executed, const struct history *decoded)
{
	const struct history *e = executed, *d = decoded;
	size_t from = 0;

	for (size_t s = 0; s < d->n_starts; s++) {
		size_t first = d->starts[s];
		size_t len = (s + 1 < d->n_starts ? d->starts[s + 1] : d->n_pcs) - first;

		while (from + len <= e->n_pcs &&
		       memcmp(&e->pcs[from], &d->pcs[first], len * sizeof(e->pcs[0])))
			from++;
		if (from + len > e->n_pcs) {
			print_error("stretch %zu, %zu instructions from 0x%" PRIx64 " on, was not "
				    "executed\n", s, len, d->pcs[first]);
			return false;
		}
		from += len;
	}
	return true;
}
