/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Where separate debug files are looked for. */
#ifndef RVT_UTIL_DEBUGPATH_H
#define RVT_UTIL_DEBUGPATH_H

#include <stdio.h>
#include <string.h>

/*
 * libdwfl's debuginfo_path for @roots, directories separated by ':' (NULL: the root):
 * "+:.debug:ROOT/usr/lib/debug:...", malloc'd; NULL: out of memory. "+" has the CRC looked at.
 */
static inline char *debug_path(const char *roots)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (!roots)
		roots = "";
	fputs("+:.debug", out);
	do {
		size_t n = strcspn(roots, ":");

		fprintf(out, ":%.*s/usr/lib/debug", (int)n, roots);
		roots += n;
	} while (*roots++);
	fclose(out);
	return text;
}

#endif
