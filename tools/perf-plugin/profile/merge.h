/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Adds up profiles of one format: of several recordings, or of several machines. */
#ifndef PERF_RVTRACE_PROFILE_MERGE_H
#define PERF_RVTRACE_PROFILE_MERGE_H

#include <stdio.h>

struct merge;

/* @format: llvm, bolt, autofdo or folded. Returns NULL for another format, or if memory is out. */
struct merge *merge_create(const char *format);
void merge_destroy(struct merge *merge);
/* Adds a profile's counts. Returns 0, or -errno after a message with @name and the line. */
int merge_add(struct merge *merge, FILE *in, const char *name);
/* Writes the sums in the same format. Returns 0 or -errno. */
int merge_write(struct merge *merge, FILE *out);

#endif
