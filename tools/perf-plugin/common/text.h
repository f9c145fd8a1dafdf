/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Small text files, lists of words, and numbers. */
#ifndef PERF_RVTRACE_TEXT_H
#define PERF_RVTRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Reads a small text file. Returns its content without trailing white space, which the caller
 * frees; NULL: the file cannot be read.
 */
char *read_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns whether @text, which may be NULL, has @word between commas, spaces or newlines. */
bool has_word(const char *text, const char *word);
/*
 * read_number - reads the digits that *@text begins with, decimal or, behind 0x, hexadecimal;
 * without a sign or white space before them. *@text then points behind them. Returns 0; -EINVAL:
 * there are none; -ERANGE: the number has more than 64 bits.
 */
int read_number(const char **text, uint64_t *value);
/*
 * read_decimal - like read_number(), for a number of at least 0 that may have a point and an
 * exponent, but is not hexadecimal, "nan" or "inf".
 */
int read_decimal(const char **text, double *value);
/*
 * Writes @value in hexadecimal, without 0x, to @out, which has room for 16 bytes. Returns the end.
 */
char *put_hex(char *out, uint64_t value);
/*
 * Names of processes, files and symbols can have any bytes, which could control a terminal or fake
 * a line. text_visible() returns a copy, which the caller frees, in which control characters and
 * bytes that are not UTF-8 are "\n", "\t" ... or "\ooo" as by ls -b; NULL: out of memory.
 * text_is_visible() returns whether it would be the same. put_visible() writes it.
 */
char *text_visible(const char *text);
bool text_is_visible(const char *text);
void put_visible(FILE *out, const char *text);
/*
 * Reads a list like "0-3,5" (of cpus, bits, processes) into *@numbers, a sorted array that the
 * caller frees. Returns the number of entries, -EINVAL or -ENOMEM.
 */
int parse_numbers(const char *text, int **numbers);

#endif
