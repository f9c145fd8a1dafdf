/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Prints accesses of data trace (RVT_EVENT_ACCESS) as text. */
#ifndef PERF_RVTRACE_ACCESSES_H
#define PERF_RVTRACE_ACCESSES_H

#include <rvtrace/access.h>

#define ACCESS_TEXT_SIZE 160

/*
 * Writes "KIND BYTES ADDRESS VALUE [OPERATION OPERAND] [error] [multiple]". Numbers are
 * hexadecimal, but BYTES is decimal; "-" if not known. Atomic operations and CSRs have an
 * OPERATION.
 */
void access_text(const struct rvt_access *access, char text[ACCESS_TEXT_SIZE]);

#endif
