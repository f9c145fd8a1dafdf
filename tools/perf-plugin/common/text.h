/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Small text files and lists of words and numbers. */
#ifndef PERF_RVTRACE_TEXT_H
#define PERF_RVTRACE_TEXT_H

#include <stdbool.h>

/*
 * Reads a small text file. Returns its content without trailing white space, which the caller
 * frees; NULL: the file cannot be read.
 */
char *read_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether @text, which may be NULL, has @word between commas, spaces or newlines. */
bool has_word(const char *text, const char *word);
/*
 * Reads a list like "0-3,5" (of cpus, bits, processes) into *@numbers, a sorted array that the
 * caller frees. Returns the number of entries, -EINVAL or -ENOMEM.
 */
int parse_numbers(const char *text, int **numbers);

#endif
