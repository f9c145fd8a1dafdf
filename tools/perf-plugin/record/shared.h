/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Code and symbols of the kernel that recordings share, instead of each having a copy: files by
 * build id in the user's cache (userspace/lib/perfdata/shared.h). All zero: nothing is shared.
 */
#ifndef PERF_RVTRACE_RECORD_SHARED_H
#define PERF_RVTRACE_RECORD_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/perfdata.h>
#include "record/code-list.h"

struct shared_list {
	char *folder;		/* of the cache; malloc'd */
	int64_t began;		/* s; files used since then are not pruned */
	bool made;		/* made a file, so prune */
	struct code_list refs;	/* for RVT_FEAT_RVTRACE_SHARED */
};

/* Returns 0, or -errno when the cache cannot be written: then recordings have copies. */
int shared_open(struct shared_list *shared);
void shared_close(struct shared_list *shared);

/*
 * Refers to a file with about the @code->len bytes of kernel or module at @code->bytes, and makes
 * it if there is none. Returns false if it could not, so that the recording must have them.
 */
bool shared_add_code(struct shared_list *shared, const struct rvt_code *code);

/*
 * shared_find_symbols - refers to the symbols of the kernel itself, whose first one is at @addr
 * now. Returns false if there is no file of them yet.
 *
 * shared_add_symbols - makes that file, of the @len bytes at @text, and refers to it. Returns false
 * if it could not.
 */
bool shared_find_symbols(struct shared_list *shared, uint64_t addr);
bool shared_add_symbols(struct shared_list *shared, uint64_t addr, const char *text, size_t len);

#endif
