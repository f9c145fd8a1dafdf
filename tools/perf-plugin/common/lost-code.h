/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Counts how often flow was lost for lack of code that is in no file. */
#ifndef PERF_RVTRACE_LOST_CODE_H
#define PERF_RVTRACE_LOST_CODE_H

#include <rvtrace/session.h>

struct lost_code;

/* Returns NULL if memory is out. */
struct lost_code *lost_code_create(void);
void lost_code_destroy(struct lost_code *lost);
/*
 * Counts flow of @hart that is lost at @pc, for lack of code. Any thread may call it. Ignores code
 * that is in a file, of the kernel, or not known to be mapped, and code for which there is no
 * memory.
 */
void lost_code_add(struct lost_code *lost, const struct rvt_hart_flow *hart, uint64_t pc);
/* Prints to stderr what lost most, and what can be done. Prints nothing if nothing was lost. */
void lost_code_print(const struct lost_code *lost);
void lost_code_clear(struct lost_code *lost);

#endif
