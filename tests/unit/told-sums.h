/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What decoding told, as sums for which the order is no matter: for tests of memos. */
#ifndef TESTS_TOLD_SUMS_H
#define TESTS_TOLD_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include <rvtrace/flow.h>
#include <rvtrace/stream.h>

/* .nodes, .edges and .times: of told_hash() of what was told. */
struct told_sums {
	uint64_t insns, nodes, edges, messages, errors, skipped_bytes, losses, times;
};

uint64_t told_hash(uint64_t number);
/* @run was executed @times. */
void told_run(struct told_sums *told, const struct rvt_run *run, uint64_t times);
/* What @stream counted: .messages, .errors, .skipped_bytes. */
void told_stream(struct told_sums *told, const struct rvt_stream *stream);
/* Fails unless they are the same; @format says what of. */
__attribute__((format(printf, 3, 4)))
void told_check(const struct told_sums *told, const struct told_sums *expected, const char *format,
		...);
/*
 * Feeds @bytes from @from to @to, in a copy that ends where it ends, so that reading beyond it is
 * seen.
 */
void feed_copy(struct rvt_stream *stream, const uint8_t *bytes, size_t from, size_t to);

#endif
