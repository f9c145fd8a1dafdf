/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Code that is in no file, by how often flow was lost for want of it. */
#ifndef PERF_RVTRACE_LOST_CODE_H
#define PERF_RVTRACE_LOST_CODE_H

#include <rvtrace/session.h>

struct lost_code;

/* NULL: no memory. */
struct lost_code *lost_code_create(void);
void lost_code_destroy(struct lost_code *lost);
/*
 * Flow of @hart is lost at @pc, where there is no code. Any thread may call it. What is in a file,
 * of the kernel, or not known to be mapped is left out, and so is what there is no memory for.
 */
void lost_code_add(struct lost_code *lost, const struct rvt_hart_flow *hart, uint64_t pc);
/* What lost most, to stderr, and what can be done. Nothing when there is none. */
void lost_code_print(const struct lost_code *lost);
void lost_code_clear(struct lost_code *lost);

#endif
