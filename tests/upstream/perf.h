/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * As much of perf as the metadata of RISC-V trace needs, so that it can be tested without the
 * kernel's tree.
 */
#ifndef TESTS_UPSTREAM_PERF_H
#define TESTS_UPSTREAM_PERF_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* perf has them as long long; printf's checks of formats want what inttypes.h has. */
typedef uint64_t u64;
typedef uint32_t u32;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define __maybe_unused __attribute__((unused))
#define pr_err(...) fprintf(stderr, __VA_ARGS__)
#define pr_debug(...) do { } while (0)

struct perf_event_header {
	uint16_t size;
};

struct perf_record_auxtrace_info {
	struct perf_event_header header;
	u64 priv[];
};

union perf_event {
	struct perf_record_auxtrace_info auxtrace_info;
};

struct itrace_synth_opts {
	bool dont_decode;
};

struct perf_session {
	struct itrace_synth_opts *itrace_synth_opts;
};

extern bool dump_trace;

static inline bool strstarts(const char *string, const char *prefix)
{
	return !strncmp(string, prefix, strlen(prefix));
}

static inline char *strim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = 0;
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

#endif
