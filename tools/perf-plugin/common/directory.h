/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A recording that is a directory, as `perf record --kcore` makes it. */
#ifndef RVT_CMD_DIRECTORY_H
#define RVT_CMD_DIRECTORY_H

/* Files of a directory; NULL: there is none. All are malloc'd. */
struct directory {
	char *data;			/* what else is perf.data */
	char *kcore, *kallsyms;		/* the kernel's code and symbols when it was recorded */
};

/*
 * directory_find - looks for the files of a recording
 * @path: a file or directory
 *
 * Fills *@directory; of a file, or where nothing is, with NULLs. Returns 0 or a negative error,
 * which has been reported.
 */
int directory_find(const char *path, struct directory *directory);

void directory_free(struct directory *directory);

#endif
