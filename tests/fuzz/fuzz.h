/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the fuzz targets share. Each target is one file with LLVMFuzzerTestOneInput(). */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that are taken from the front. */
struct input {
	const uint8_t *bytes;
	size_t len;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* @n bytes, or NULL when there are not so many. */
static inline const uint8_t *take(struct input *in, size_t n)
{
	const uint8_t *bytes = in->bytes;

	if (n > in->len)
		return NULL;
	in->bytes += n;
	in->len -= n;
	return bytes;
}

/* A little-endian number of @n bytes; 0 when there are not so many. */
static inline uint64_t take_number(struct input *in, size_t n)
{
	const uint8_t *bytes = take(in, n);
	uint64_t value = 0;

	for (size_t i = 0; bytes && i < n; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

/* Up to a zero, as a string; NULL when there is none. */
static inline const char *take_string(struct input *in)
{
	size_t len = strnlen((const char *)in->bytes, in->len);

	return len == in->len ? NULL : (const char *)take(in, len + 1);
}

/* A bug that no sanitizer sees: results that should be equal are not. */
static inline void __attribute__((noreturn, format(printf, 1, 2))) broken(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

/*
 * files.c: the folder of this process, which goes with it; made at the first call. Files in it are
 * written anew for each input.
 */
const char *fuzz_dir(void);
/* Writes $fuzz_dir/@name, which may have folders in it; returns its path, valid until the next. */
const char *fuzz_write(const char *name, const void *bytes, size_t len);
/* Where output goes that nobody reads. */
FILE *fuzz_null(void);

#endif
