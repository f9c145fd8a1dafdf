/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Sums of profiles of one format: of several recordings, of several machines. */
#ifndef PERF_RVTRACE_PROFILE_MERGE_H
#define PERF_RVTRACE_PROFILE_MERGE_H

#include <stdio.h>

struct merge;

/* @format: llvm, bolt, autofdo or folded. NULL: another format, or out of memory. */
struct merge *merge_create(const char *format);
void merge_destroy(struct merge *merge);
/* Adds a profile's counts. 0, or -errno after a message that has @name and the line. */
int merge_add(struct merge *merge, FILE *in, const char *name);
/* Writes the sums in the same format. 0 or -errno. */
int merge_write(struct merge *merge, FILE *out);

#endif
