/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Code and symbols of the kernel that recordings share, instead of each having a copy: files by
 * build id in the user's cache (userspace/lib/perfdata/shared.h). All zero: there are none.
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
	int64_t began;		/* s; files that are used since then stay */
	bool made;		/* a file, so that there may be too many */
	struct code_list refs;	/* what RVT_FEAT_RVTRACE_SHARED will have */
};

/* 0, or -errno when there is no cache that can be written: then recordings have copies. */
int shared_open(struct shared_list *shared);
void shared_close(struct shared_list *shared);

/*
 * Refers to a file that has the @code->len bytes at @code->bytes of kernel or module, but for
 * little; makes it if there is none. False: it could not; the recording must have them.
 */
bool shared_add_code(struct shared_list *shared, const struct rvt_code *code);

/*
 * shared_find_symbols - refers to the symbols of the kernel itself, the first of which is at @addr
 * now. False: there is no file with them yet.
 * shared_add_symbols - makes it, of the @len bytes at @text, and refers to it. False: it could not.
 */
bool shared_find_symbols(struct shared_list *shared, uint64_t addr);
bool shared_add_symbols(struct shared_list *shared, uint64_t addr, const char *text, size_t len);

#endif
