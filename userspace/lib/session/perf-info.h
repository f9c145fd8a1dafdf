/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What perf with the series in upstream/perf says of a recording in PERF_RECORD_AUXTRACE_INFO:
 * words of 64 bits. Their layout: tools/perf/util/rvtrace.h of that series.
 */
#ifndef SESSION_PERF_INFO_H
#define SESSION_PERF_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/params.h>

/* PERF_AUXTRACE_RISCV_TRACE of the series */
#define RVT_PERF_AUXTRACE_TYPE 8

/* Whether these words of a PERF_RECORD_AUXTRACE_INFO are of that layout. */
bool rvt_perf_info_is(const uint64_t *words, size_t n);
/*
 * Makes the metadata text of these words, but for its first line; the caller frees it. Returns 0,
 * -ENOTSUP (another version, or a parameter that is not known), -EBADMSG (damaged), -ENOMEM.
 */
int rvt_perf_info_print(const uint64_t *words, size_t n, char **text);

/* A recording of which the words are to be made */
struct rvt_perfdata_info {
	uint32_t pmu_type;
	bool snapshot;
	bool system;		/* of whole cpus, not of chosen tasks */
	bool other_pids;	/* recorded outside of the first pid namespace */
	bool context;		/* the trace says which thread runs, in scontext */
	bool hcontext;		/* or in hcontext */
	unsigned int hcontext_bits;
	/* of rvt_perf_info_add(): zeros at first */
	uint64_t *sets, *cpus;
	size_t n_set_words, set_room, n_sets, n_cpus, cpu_room;
};

/* The encoder of @cpu. Returns 0, -EINVAL (@params do not say their size), -ENOMEM. */
int rvt_perf_info_add(struct rvt_perfdata_info *info, unsigned int cpu, unsigned int src,
		      const struct rvt_params *params);
/* All of it as *@n words, allocated for the caller. Returns 0 or -ENOMEM. */
int rvt_perf_info_words(const struct rvt_perfdata_info *info, uint64_t **words, size_t *n);
/* Frees what rvt_perf_info_add() has allocated. */
void rvt_perf_info_fini(struct rvt_perfdata_info *info);

#endif
