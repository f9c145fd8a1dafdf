/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A loop of straight code that accesses memory and CSRs at random, its trace, and what of the
 * accesses a decoder can know.
 */
#ifndef TESTS_RANDOM_ACCESSES_H
#define TESTS_RANDOM_ACCESSES_H

#include <stddef.h>
#include <stdint.h>
#include <rvtrace/access.h>
#include <rvtrace/params.h>

#define ACCESSES_BASE 0x1000u	/* where its code is */
#define ACCESSES_CODE_BYTES 36

struct accesses_trace {
	uint8_t *bytes;
	size_t len, room;
	struct rvt_access *told;	/* in the order in which they were made */
	size_t n_told;
	uint64_t insns;
};

extern const uint8_t accesses_code[ACCESSES_CODE_BYTES];

/*
 * Makes @n accesses, and a trace of those of which @params has packets. Free .bytes and .told.
 * Fails the test when the encoder will not have @params.
 */
void accesses_make(const struct rvt_params *params, uint64_t seed, size_t n,
		   struct accesses_trace *trace);

#endif
