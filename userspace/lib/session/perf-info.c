// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Metadata by native perf as the metadata text of recordings by perf rvtrace, and the other way. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "params/params.h"
#include "session/perf-info.h"
#include "util/array.h"

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
	FLAG_SNAPSHOT = 1u << 0,
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

/* Returns the number of the set that is the same, or @info->n_sets. */
static size_t same_set(const struct rvt_perfdata_info *info, const uint64_t *words, size_t n)
{
	size_t number = 0;

	for (size_t at = 0; at < info->n_set_words; at += 1 + 2 * info->sets[at], number++)
		if (info->sets[at] == n &&
		    !memcmp(&info->sets[at + 1], words, 2 * n * sizeof(*words)))
			break;
	return number;
}

static int add_set(struct rvt_perfdata_info *info, const uint64_t *words, size_t n)
{
	if (array_reserve(&info->sets, &info->set_room, info->n_set_words, 1 + 2 * n))
		return -ENOMEM;
	info->sets[info->n_set_words] = n;
	memcpy(&info->sets[info->n_set_words + 1], words, 2 * n * sizeof(*words));
	info->n_set_words += 1 + 2 * n;
	info->n_sets++;
	return 0;
}

int rvt_perf_info_add(struct rvt_perfdata_info *info, unsigned int cpu, unsigned int src,
		      const struct rvt_params *params)
{
	uint64_t *words, *encoder;
	size_t n, set;
	int err = rvt_params_words(params, &words, &n);

	if (err)
		return err;
	set = same_set(info, words, n);
	if (set == info->n_sets)
		err = add_set(info, words, n);
	free(words);
	if (err ||
	    array_reserve(&info->cpus, &info->cpu_room, CPU_WORDS * info->n_cpus, CPU_WORDS))
		return -ENOMEM;
	encoder = &info->cpus[CPU_WORDS * info->n_cpus++];
	encoder[CPU_NUMBER] = cpu;
	encoder[CPU_SRC] = src;
	encoder[CPU_SET] = set;
	return 0;
}

int rvt_perf_info_words(const struct rvt_perfdata_info *info, uint64_t **words, size_t *n)
{
	size_t n_cpu_words = CPU_WORDS * info->n_cpus;
	uint64_t *all;

	*n = INFO_WORDS + info->n_set_words + n_cpu_words;
	all = calloc(*n, sizeof(*all));
	if (!all)
		return -ENOMEM;
	all[INFO_PMU_TYPE] = info->pmu_type;
	all[INFO_VERSION] = (uint64_t)MAGIC << 32 | VERSION;
	all[INFO_FLAGS] = (info->snapshot ? FLAG_SNAPSHOT : 0) | (info->system ? FLAG_SYSTEM : 0) |
			  (info->context || info->hcontext ? FLAG_CONTEXT : 0) |
			  (info->hcontext ? FLAG_HCONTEXT : 0) |
			  (info->other_pids ? FLAG_OTHER_PIDS : 0);
	all[INFO_HCONTEXT_BITS] = info->hcontext_bits;
	all[INFO_SETS] = info->n_sets;
	all[INFO_CPUS] = info->n_cpus;
	if (info->n_set_words)
		memcpy(&all[INFO_WORDS], info->sets, info->n_set_words * sizeof(*all));
	if (n_cpu_words)
		memcpy(&all[INFO_WORDS + info->n_set_words], info->cpus,
		       n_cpu_words * sizeof(*all));
	*words = all;
	return 0;
}

void rvt_perf_info_fini(struct rvt_perfdata_info *info)
{
	free(info->sets);
	free(info->cpus);
}
