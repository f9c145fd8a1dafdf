// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names of perf for events of every machine, as in perf-list(1). */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "record/event.h"

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} names[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
	{ "bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT },
	/* PERF_COUNT_SW_CGROUP_SWITCHES, since 5.13 */
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, 11 },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
};

/* The parts of CACHE[-OPERATION][-RESULT]: the words for each value, up to NULL. */
#define MAX_WORDS 6

static const char *const caches[][MAX_WORDS] = {
	[PERF_COUNT_HW_CACHE_L1D] = { "L1-dcache", "l1-d", "l1d", "L1-data" },
	[PERF_COUNT_HW_CACHE_L1I] = { "L1-icache", "l1-i", "l1i", "L1-instruction" },
	[PERF_COUNT_HW_CACHE_LL] = { "LLC", "L2" },
	[PERF_COUNT_HW_CACHE_DTLB] = { "dTLB", "d-tlb", "Data-TLB" },
	[PERF_COUNT_HW_CACHE_ITLB] = { "iTLB", "i-tlb", "Instruction-TLB" },
	[PERF_COUNT_HW_CACHE_BPU] = { "branch", "branches", "bpu", "btb", "bpc" },
	[PERF_COUNT_HW_CACHE_NODE] = { "node" },
};

static const char *const operations[][MAX_WORDS] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "load", "loads", "read" },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "store", "stores", "write" },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetch", "prefetches", "speculative-read",
					      "speculative-load" },
};

static const char *const results[][MAX_WORDS] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = { "refs", "Reference", "ops", "access" },
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = { "misses", "miss" },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/*
 * Takes the longest word that *@text begins with, and that ends at a '-' or @end ("L1-d..." is not
 * "l1-d"), and the '-'. Returns the word's value, or -1.
 */
static int take_word(const char **text, const char *end, const char *const (*words)[MAX_WORDS],
		     size_t n)
{
	size_t longest = 0;
	int value = -1;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < MAX_WORDS && words[i][j]; j++) {
			size_t len = strlen(words[i][j]);

			if (len > (size_t)(end - *text) || strncmp(*text, words[i][j], len) ||
			    (*text + len < end && (*text)[len] != '-') || len <= longest)
				continue;
			longest = len;
			value = i;
		}
	*text += longest;
	if (longest && *text < end)
		(*text)++;
	return value;
}

static bool find_cache(const char *name, size_t len, struct perf_event_attr *attr)
{
	const char *end = name + len;
	int cache = take_word(&name, end, caches, COUNT(caches));
	int operation = take_word(&name, end, operations, COUNT(operations));
	int result = take_word(&name, end, results, COUNT(results));

	if (cache < 0 || name < end || end[-1] == '-' || (operation < 0 && result < 0))
		return false;
	if (operation < 0)
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	attr->type = PERF_TYPE_HW_CACHE;
	attr->config = cache | operation << 8 | result << 16;
	return true;
}

static bool find_raw(const char *name, size_t len, struct perf_event_attr *attr)
{
	char *end;

	if (*name != 'r' || len < 2 || !isxdigit((unsigned char)name[1]))
		return false;
	attr->type = PERF_TYPE_RAW;
	errno = 0;
	attr->config = strtoull(name + 1, &end, 16);
	return end == name + len && !errno;
}

bool event_find_name(const char *name, size_t len, struct perf_event_attr *attr)
{
	for (size_t i = 0; i < COUNT(names); i++) {
		if (strlen(names[i].name) != len || strncmp(names[i].name, name, len))
			continue;
		attr->type = names[i].type;
		attr->config = names[i].config;
		return true;
	}
	return len && (find_cache(name, len, attr) || find_raw(name, len, attr));
}
