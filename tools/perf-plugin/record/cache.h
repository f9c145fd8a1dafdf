/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How large the cache of what recordings share may grow. */
#ifndef PERF_RVTRACE_RECORD_CACHE_H
#define PERF_RVTRACE_RECORD_CACHE_H

#include <stdint.h>

#define CACHE_BYTES (1ull << 30)	/* copies of 50 kernels, or more */

/*
 * cache_touch - the file at @path is used now.
 * cache_prune - while the files FOLDER/BUILD-ID/NAME have more than @most bytes, the one goes that
 * was used longest ago, but none that was used at @now (s) or later. Returns how many went.
 */
void cache_touch(const char *path);
unsigned int cache_prune(const char *folder, uint64_t most, int64_t now);

#endif
