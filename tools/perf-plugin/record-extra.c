// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Ordinary events that are sampled while the trace is recorded. Their samples lie in the same file,
 * and `inject --itrace=GL` gives them the call chain and the branches that the trace has for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "record.h"

#define DEFAULT_FREQUENCY 4000	/* as perf record */

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
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
};

/* "NAME" or, for the number of a hardware event, "rHEX". */
static int find_event(const char *text, size_t len, struct perf_event_attr *attr)
{
	char *end;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strlen(names[i].name) != len || strncmp(names[i].name, text, len))
			continue;
		attr->type = names[i].type;
		attr->config = names[i].config;
		return 0;
	}
	if (*text != 'r' || len < 2)
		return -ENOENT;
	attr->type = PERF_TYPE_RAW;
	attr->config = strtoull(text + 1, &end, 16);
	return end == text + len ? 0 : -ENOENT;
}

static int parse_modifiers(const char *text, struct perf_event_attr *attr)
{
	bool user = strchr(text, 'u'), kernel = strchr(text, 'k');

	if (text[strspn(text, "uk")])
		return -EINVAL;
	attr->exclude_user = kernel && !user;
	attr->exclude_kernel = user && !kernel;
	return 0;
}

static int parse_extra(struct recorder *rec, struct extra_event *extra)
{
	const struct record_options *options = &rec->options;
	struct perf_event_attr *attr = &extra->attr;
	size_t len = strcspn(extra->name, ":");

	if (find_event(extra->name, len, attr) ||
	    (extra->name[len] && parse_modifiers(extra->name + len + 1, attr)))
		return cmd_error(-EINVAL, "'%s' is neither a trace event (%s//) nor one that is "
				 "known beside it: cpu-clock,\n  task-clock, page-faults, "
				 "context-switches, cpu-migrations, cycles, instructions, branches, "
				 "branch-misses,\n  cache-misses, cache-references, rHEX; each "
				 "with :u or :k", extra->name, rec->pmu_name);
	if (options->period) {
		attr->sample_period = options->period;
	} else {
		attr->freq = 1;
		attr->sample_freq = options->frequency ? options->frequency : DEFAULT_FREQUENCY;
	}
	return 0;
}

int record_parse_extra(struct recorder *rec)
{
	int err = 0;

	for (size_t i = 0; i < rec->options.n_extra && !err; i++) {
		rec->extra[i].name = rec->options.extra[i];
		err = parse_extra(rec, &rec->extra[i]);
	}
	rec->n_extra = err ? 0 : rec->options.n_extra;
	return err;
}

void record_prepare_extra(struct recorder *rec)
{
	const struct perf_event_attr *trace = &rec->trace_attr;

	for (size_t i = 0; i < rec->n_extra; i++) {
		struct perf_event_attr *attr = &rec->extra[i].attr;

		attr->size = sizeof(*attr);
		attr->sample_type = RECORD_SAMPLE_TYPE | PERF_SAMPLE_PERIOD;
		attr->sample_id_all = 1;
		attr->exclude_hv = 1;
		attr->exclude_kernel |= trace->exclude_kernel;
		attr->inherit = trace->inherit;
		attr->disabled = trace->disabled;
		attr->enable_on_exec = trace->enable_on_exec;
		attr->watermark = 1;
		attr->wakeup_watermark = trace->wakeup_watermark;
	}
}
