/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Lengths of time as people read and write them. */
#ifndef PERF_RVTRACE_DURATIONS_H
#define PERF_RVTRACE_DURATIONS_H

#include <stdint.h>

#define DURATION_SIZE 24

/* "312 ns", "8.120 us", "5.031 ms", "2.500 s". Returns @text. */
const char *duration_text(uint64_t ns, char text[DURATION_SIZE]);
/* The reverse: "50us", "0.5ms". 0, or -EINVAL after a message that names @what. */
int duration_parse(const char *what, const char *text, uint64_t *ns);

#endif
