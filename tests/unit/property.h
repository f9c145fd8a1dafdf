/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Property tests: seeds and random numbers, and what was executed compared with what was decoded.
 *
 * RVT_PROPERTY_CASES sets the number of cases, RVT_PROPERTY_SEED the first one. Without a seed
 * RVT_LONG adds others each day, of which the first is printed; a commit's short check is the same
 * every day.
 */
#ifndef TESTS_PROPERTY_H
#define TESTS_PROPERTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "flow/order.h"
#include <rvtrace/stream.h>

/* ---- seeds and random numbers ---- */

uint64_t property_setting(const char *name, uint64_t otherwise);
/*
 * Of the @n cases of a test that takes long: RVT_CASES_PERCENT (100) per cent of them, at least
 * one. If these are not all, prints how many they are.
 */
uint64_t property_share(uint64_t n);

enum property_kind {
	CHECK_ALL,	/* what is decoded is what was executed */
	CHECK_LOSS,	/* messages are dropped: a part of it */
	CHECK_DAMAGE,	/* bytes are altered */
};

/* Fails the test, or returns how many instructions it decoded. */
typedef size_t (*property_check)(uint64_t seed, enum property_kind kind);

/*
 * A program of these tests: @check for all the cases, a third of them with loss, and one
 * @damage_share-th with damage. A case has @steps instructions, of which a tenth must be decoded,
 * whatever is lost or damaged.
 */
int property_main(const char *name, property_check check, unsigned int steps,
		  unsigned int damage_share);

struct random {
	uint64_t state;
};

void random_seed(struct random *r, uint64_t seed);
uint64_t random_word(struct random *r);
unsigned int random_below(struct random *r, unsigned int n);
bool random_one_in(struct random *r, unsigned int n);

/* ---- pausing at time stamps ---- */

struct pauses {
	struct rvt_stream *stream;
	bool feeding;		/* by rvt_stream_feed_part() */
	bool holds;		/* what comes behind the time waits: E-Trace */
	bool paused;		/* only the same message may tell more */
	unsigned int late;	/* times that it has told */
};

/* Feeds all, or up to a pause, @random decides; *@taken as of rvt_stream_feed_part(). */
int pauses_feed(struct pauses *p, struct random *random, const void *bytes, size_t len,
		uint64_t offset, size_t *taken);
/* In the call-back: at some of the time stamps decoding pauses. */
void pauses_event(struct pauses *p, struct random *random, const struct rvt_event *event);

/* ---- what was executed, or what was decoded ---- */

#define HISTORY_MAX 4008

struct trap_seen {
	size_t at;		/* number of pcs before */
	uint64_t epc, handler, cause, tval;
	bool interrupt;
};

struct history {
	uint64_t pcs[HISTORY_MAX];
	size_t n_pcs;
	struct trap_seen traps[HISTORY_MAX];
	size_t n_traps;
	size_t marks[HISTORY_MAX];	/* number of pcs before each */
	size_t n_marks;
	size_t starts[HISTORY_MAX];	/* likewise */
	size_t n_starts;
	uint64_t times[8 * HISTORY_MAX];
	size_t n_times;
	size_t n_lost;
};

/* What does not fit is left out. */
void history_add_runs(struct history *h, const struct rvt_run *runs, size_t n);
/* Traps, marks, starts, times and losses. */
void history_add_event(struct history *h, const struct rvt_event *event);
/* The same instructions, as many traps, nothing lost; else says what is not so. */
bool history_same_flow(const struct history *executed, const struct history *decoded);
/* Each stretch from a start to the next was executed, in order. */
bool history_is_part(const struct history *executed, const struct history *decoded);

#endif
