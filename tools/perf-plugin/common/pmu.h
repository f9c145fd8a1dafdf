/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A PMU as sysfs describes it; parses event strings in perf's syntax. */
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

/* Reads @sysfs/bus/event_source/devices/@name. Returns 0; -ENOENT: no such PMU; or -EINVAL. */
int pmu_read(struct pmu *pmu, const char *sysfs, const char *name);
/* Returns the value of the term @name in @attr; 0 if the PMU has no such term. */
uint64_t pmu_value(const struct pmu *pmu, const char *name, const struct perf_event_attr *attr);
/* Sets the term to 1, if the PMU has it. */
void pmu_switch_on(const struct pmu *pmu, const char *name, struct perf_event_attr *attr);

/*
 * pmu_parse_event - parses "NAME/term=value,term/modifiers" into @attr: config words and exclude
 * bits. *@modified: there were modifiers. On -EINVAL *@error is a malloc'd sentence.
 */
int pmu_parse_event(const struct pmu *pmu, const char *name, const char *event,
		    struct perf_event_attr *attr, bool *modified, char **error);

/*
 * Parses the letters behind an event: u, k and h choose privilege modes (*@modified: there is one
 * of these), G and H guests and host. Errors as in pmu_parse_event().
 */
int pmu_parse_modifiers(const char *text, struct perf_event_attr *attr, bool *modified,
			char **error);
/* Makes such a sentence, and returns -EINVAL. */
int pmu_invalid(char **error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
