/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A PMU as sysfs describes it, and event strings in perf's syntax. */
#ifndef PERF_RVTRACE_PMU_H
#define PERF_RVTRACE_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>

#define PMU_MAX_TERMS 64

struct pmu_term {
	char name[40];
	unsigned int word;	/* 0: config, 1: config1, 2: config2, 3: config3 */
	uint64_t bits;		/* of that word, low bit of the value first */
};

struct pmu {
	uint32_t type;
	unsigned int n_terms;
	struct pmu_term terms[PMU_MAX_TERMS];
};

/* Reads @sysfs/bus/event_source/devices/@name. Returns 0; -ENOENT: no such PMU; -EINVAL. */
int pmu_read(struct pmu *pmu, const char *sysfs, const char *name);
/* What the term @name is in @attr; 0 where the PMU has no such term. */
uint64_t pmu_value(const struct pmu *pmu, const char *name, const struct perf_event_attr *attr);
/* Makes it 1; nothing where the PMU has no such term. */
void pmu_switch_on(const struct pmu *pmu, const char *name, struct perf_event_attr *attr);

/*
 * pmu_parse_event - "NAME/term=value,term/modifiers" into @attr: config words and exclude bits.
 * @modified: modifiers were given. On -EINVAL *error is a malloc'd sentence.
 */
int pmu_parse_event(const struct pmu *pmu, const char *name, const char *event,
		    struct perf_event_attr *attr, bool *modified, char **error);

/*
 * The letters behind an event: u, k and h choose privilege modes (*@modified: one of them is
 * there), G and H guests and host. Errors as above.
 */
int pmu_parse_modifiers(const char *text, struct perf_event_attr *attr, bool *modified,
			char **error);
/* Makes such a sentence. Returns -EINVAL. */
int pmu_invalid(char **error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
