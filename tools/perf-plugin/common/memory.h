/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* --max-memory: a limit, as a recording can make a reader want more memory than the machine has. */
#ifndef PERF_RVTRACE_MEMORY_H
#define PERF_RVTRACE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Returns half of the machine's memory, in bytes. */
uint64_t memory_default(void);
/* Parses "4G", "512M", "64K" or bytes, for --max-memory. Returns 0, or -EINVAL after a message. */
int memory_parse(const char *text, uint64_t *bytes);
/* Like memory_parse(), for the option @what. */
int memory_parse_as(const char *what, const char *text, uint64_t *bytes);
/*
 * memory_watch - starts a thread that measures the memory of this process, without what can be read
 * from files again. Above @bytes, memory_exceeded() returns true. If nobody asks and it is a
 * quarter more, the process ends with an error. Call it once in a process.
 */
void memory_watch(uint64_t bytes);
bool memory_exceeded(void);
/* Prints an error on stderr that says so. Returns -ENOMEM. */
int memory_error(void);

#endif
