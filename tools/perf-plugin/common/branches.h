/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The last branches before a sample, as hardware with a branch stack has them. */
#ifndef PERF_RVTRACE_BRANCHES_H
#define PERF_RVTRACE_BRANCHES_H

#include <linux/perf_event.h>
#include "common/transfers.h"

struct branches;

/* Makes one stack of @size entries for each cpu. NULL: out of memory. */
struct branches *branches_create(unsigned int size);
void branches_destroy(struct branches *branches);
/* Forgets all. */
void branches_clear(struct branches *branches);
/*
 * branches_add - adds @transfer. Forgets branches from before a gap or of another thread, as
 * readers take it that the code between two neighbours was executed. Returns 0 or -ENOMEM.
 */
int branches_add(struct branches *branches, const struct rvt_hart_flow *hart,
		 const struct rvt_transfer *transfer);
/*
 * Copies the branches of the thread on the hart's cpu, newest first, at most @max. Returns how
 * many.
 */
size_t branches_get(const struct branches *branches, const struct rvt_hart_flow *hart,
		    struct perf_branch_entry *entries, size_t max);
/* Like branches_get(), of the thread @tid, if it was the last to run on the cpu. */
size_t branches_get_of(const struct branches *branches, int32_t cpu, int32_t tid,
		       struct perf_branch_entry *entries, size_t max);

#endif
