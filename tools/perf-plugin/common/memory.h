/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* --max-memory: a recording can make a reader want more memory than the machine has. */
#ifndef PERF_RVTRACE_MEMORY_H
#define PERF_RVTRACE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Half of the machine's, in bytes. */
uint64_t memory_default(void);
/*
 * "4G", "512M", "64K" or bytes, for --max-memory. 0, or -EINVAL after a message.
 */
int memory_parse(const char *text, uint64_t *bytes);
/* The same of the option @what. */
int memory_parse_as(const char *what, const char *text, uint64_t *bytes);
/*
 * memory_watch - a thread looks at the memory of this process from now on: more than @bytes of it,
 * without what files can be read from again, and memory_exceeded() is true. A quarter more, as
 * where nobody asks, and the process ends with an error. Once in a process.
 */
void memory_watch(uint64_t bytes);
bool memory_exceeded(void);
/* An error on stderr that says so. Returns -ENOMEM. */
int memory_error(void);

#endif
