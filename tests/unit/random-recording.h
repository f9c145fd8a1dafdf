/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Recordings (session-fixture.h) that a seed decides: either protocol, with time stamps and
 * Ownership or without, compressed or not, of chosen tasks or of whole cpus; processes that take
 * turns on both cpus, which may share a sink, execute other programs, or have one that is in no
 * file.
 */
#ifndef TESTS_RANDOM_RECORDING_H
#define TESTS_RANDOM_RECORDING_H

#include "session-fixture.h"

/*
 * Makes all of one, but for its end (read_back()). @damage: bytes of the trace are altered, missing
 * or there twice, and AUX records are flagged or claim what is not theirs.
 */
void random_recording(struct fixture *f, uint64_t seed, bool damage);

/*
 * A dump of a sink that all cpus share, of which all run f->programs[0], in place of the recording;
 * its parameters are in a file with ".params" behind the name, which the caller unlinks. @damage:
 * bytes of it are altered, missing or there twice.
 */
void random_dump(struct fixture *f, uint64_t seed, bool damage);

/* A test of them. */
struct random_recordings {
	/* Fails the test, or returns how much it has looked at. */
	size_t (*check)(struct fixture *f, uint64_t seed);
	size_t least;		/* of that, for each recording on average */
	unsigned int share;	/* one recording for so many of RVT_PROPERTY_CASES (property.h) */
	/* it goes on for as long as this variable says; NULL: there is none */
	const char *seconds;
	bool damage, dump;
	bool shared;		/* cpus share a sink in some recordings */
	const char *needs;	/* a program, or the test is skipped; NULL: none */
};

/* For cmocka; the initial state is a struct random_recordings. */
void random_recordings_test(void **state);

#endif
