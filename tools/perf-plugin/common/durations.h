/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Reads and prints lengths of time. */
#ifndef PERF_RVTRACE_DURATIONS_H
#define PERF_RVTRACE_DURATIONS_H

#include <stdint.h>

#define DURATION_SIZE 24

/* Writes "312 ns", "8.120 us", "5.031 ms", "2.500 s". Returns @text. */
const char *duration_text(uint64_t ns, char text[DURATION_SIZE]);
/* Reads "50us", "0.5ms". Returns 0, or -EINVAL after a message that names @what. */
int duration_parse(const char *what, const char *text, uint64_t *ns);

#endif
