/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Keeps the cache of what recordings share within its size. */
#ifndef PERF_RVTRACE_RECORD_CACHE_H
#define PERF_RVTRACE_RECORD_CACHE_H

#include <stdint.h>

#define CACHE_BYTES (1ull << 30)	/* 50 copies of the kernel, or more */

/*
 * cache_touch - notes that the file at @path is used now.
 *
 * cache_prune - removes files FOLDER/BUILD-ID/NAME, the least recently used first, until they have
 * at most @most bytes. Keeps those that were used at @now (s) or later. Returns how many it
 * removed.
 */
void cache_touch(const char *path);
unsigned int cache_prune(const char *folder, uint64_t most, int64_t now);

#endif
