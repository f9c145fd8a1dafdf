// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What perf with the series in upstream/perf says of a recording in PERF_RECORD_AUXTRACE_INFO, as the
 * metadata text of recordings by perf rvtrace. Its layout: tools/perf/util/rvtrace.h of that series.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "params/params.h"
#include "state.h"

#define MAGIC 0x52565452u	/* upper half of INFO_VERSION */
#define VERSION 1

enum info_word {
	INFO_PMU_TYPE,
	INFO_VERSION,
	INFO_FLAGS,
	INFO_HCONTEXT_BITS,
	INFO_SETS,
	INFO_CPUS,
	INFO_WORDS,
};

enum cpu_word { CPU_NUMBER, CPU_SRC, CPU_SET, CPU_WORDS };

enum {
	FLAG_CONTEXT = 1u << 1,
	FLAG_HCONTEXT = 1u << 2,
	FLAG_OTHER_PIDS = 1u << 3,
	FLAG_SYSTEM = 1u << 4,
};

bool rvt_perf_info_is(const uint64_t *words, size_t n)
{
	return n >= INFO_WORDS && words[INFO_VERSION] >> 32 == MAGIC;
}

/* The first word of set @number, all of it inside of @n words, or NULL. *end: behind the set */
static const uint64_t *find_set(const uint64_t *words, size_t n, uint64_t number, size_t *end)
{
	size_t at = INFO_WORDS;

	for (uint64_t i = 0; at < n && words[at] <= (n - at - 1) / 2; i++) {
		*end = at + 1 + 2 * words[at];
		if (i == number)
			return &words[at];
		at = *end;
	}
	return NULL;
}

static void print_head(const uint64_t *words, FILE *f)
{
	uint64_t flags = words[INFO_FLAGS];

	fprintf(f, "pmu_type = %" PRIu64 "\ntarget = %s\n", words[INFO_PMU_TYPE],
		flags & FLAG_SYSTEM ? "cpu" : "task");
	if (flags & FLAG_HCONTEXT)
		fprintf(f, "hcontext_bits = %" PRIu64 "\n", words[INFO_HCONTEXT_BITS]);
	if (!(flags & FLAG_CONTEXT))
		fputs("context = none\n", f);
	if (flags & FLAG_OTHER_PIDS)
		fputs("pid_namespace = other\n", f);
}

static int print_cpu(const uint64_t *words, size_t n, const uint64_t *cpu, FILE *f)
{
	size_t end;
	const uint64_t *set = cpu[CPU_SET] < words[INFO_SETS] ?
			      find_set(words, n, cpu[CPU_SET], &end) : NULL;

	if (!set)
		return -EBADMSG;
	fprintf(f, "[encoder %" PRIu64 "]\ncpu = %" PRIu64 "\nsrc = %" PRIu64 "\n", cpu[CPU_NUMBER],
		cpu[CPU_NUMBER], cpu[CPU_SRC]);
	return rvt_params_words_print(set + 1, *set, f);
}

static int print_cpus(const uint64_t *words, size_t n, FILE *f)
{
	size_t at = INFO_WORDS;
	int err = 0;

	if (words[INFO_SETS] > n ||
	    (words[INFO_SETS] && !find_set(words, n, words[INFO_SETS] - 1, &at)) ||
	    words[INFO_CPUS] > (n - at) / CPU_WORDS)
		return -EBADMSG;
	for (uint64_t i = 0; i < words[INFO_CPUS] && !err; i++)
		err = print_cpu(words, n, &words[at + i * CPU_WORDS], f);
	return err;
}

int rvt_perf_info_print(const uint64_t *words, size_t n, char **text)
{
	size_t len;
	FILE *f;
	int err;

	*text = NULL;
	if ((uint32_t)words[INFO_VERSION] != VERSION)
		return -ENOTSUP;
	f = open_memstream(text, &len);
	if (!f)
		return -ENOMEM;
	print_head(words, f);
	err = print_cpus(words, n, f);
	if (fclose(f))
		err = -ENOMEM;
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}
