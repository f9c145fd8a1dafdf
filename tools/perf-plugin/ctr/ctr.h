/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Views of Control Transfer Records, which script, report, inject and profile call for such
 * recordings.
 */
#ifndef PERF_RVTRACE_CTR_H
#define PERF_RVTRACE_CTR_H

#include <rvtrace/ctr.h>
#include "common/transfers.h"
#include "common/view.h"

/*
 * ctr/script.c: prints samples; @raw: as numbers only, for programs. Each ctr_ view returns 0, or
 * -errno after a message.
 */
int ctr_script(struct view *view, bool raw, uint64_t max_lines);
/*
 * Refuses @option of a view, which changes nothing of what is shown of these recordings. Returns 0
 * if it is NULL, or -EINVAL after a message.
 */
int ctr_refuse(const char *option);
/* ctr/report.c: prints transfers, or call stacks of RAS emulation, by their number. */
int ctr_report(struct view *view, uint64_t max_lines);
/*
 * ctr/inject.c: writes ordinary samples with branch stacks (call chains if RAS emulation was on).
 */
int ctr_inject(struct view *view, const char *output, bool arch);

/* ctr/profile.c: calls @ops with lines and transfers, without call stacks. */
int ctr_profile(struct view *view, const struct rvt_transfers_ops *ops);

/* ctr/script.c: returns whether the filters of @view let the sample through. */
bool ctr_wants(struct view *view, const struct rvt_ctr_sample *sample,
	       const struct rvt_task *task);
/* Returns perf's name of the trigger: "cpu-clock", "cycles", ... */
const char *ctr_trigger_name(uint32_t type, uint64_t config);
/* Returns the address behind the call at @addr; without its code, at least one within the call. */
uint64_t ctr_return_address(struct rvt_space *space, uint64_t addr);

#endif
