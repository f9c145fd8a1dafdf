/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A tar file in POSIX format (pax), written sequentially. */
#ifndef PERF_RVTRACE_TAR_H
#define PERF_RVTRACE_TAR_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * A member is a header, then .st_size bytes, then padding. tar_header() begins it; @st has its
 * mode, time and size. Headers of the same short name are equally long. tar_pad() comes after @size
 * bytes; tar_end() ends the file. Each returns 0 or -errno.
 */
int tar_header(int fd, const char *name, const struct stat *st);
int tar_pad(int fd, uint64_t size);
int tar_end(int fd);

#endif
