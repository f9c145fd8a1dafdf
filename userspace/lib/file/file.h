/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the library: files that others have laid out. They may be anything (a FIFO would wait, a
 * device may act when it is opened), lie behind a link, and become shorter while they are read.
 */
#ifndef RVT_LIB_FILE_H
#define RVT_LIB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens a regular file for reading; nothing else is opened at all, unless it takes the file's place
 * meanwhile: then it is closed again. Fills *@st. @flags: more flags of open(), like O_NOFOLLOW.
 * Returns the descriptor, -EINVAL (it is no regular file), or -errno.
 */
int rvt_file_open(const char *path, int flags, struct stat *st);

/* Writes all of @bytes to @fd. 0 or -errno. */
int rvt_file_write(int fd, const void *bytes, size_t len);

/*
 * What @path, which may begin with a slash, is inside the directory @root, as after chroot(): links
 * and ".." do not lead out of it. *@found is malloc'd: where to open it. 0 or -errno.
 */
int rvt_file_find(const char *root, const char *path, char **found);

/*
 * A file in memory, for reading. Where the file becomes shorter meanwhile there are zeros, after
 * rvt_file_guard(), and .cut is set; without it reading there is SIGBUS.
 */
struct rvt_mapped_file {
	uint8_t *bytes;		/* NULL: an empty file */
	size_t len;
	bool cut;
	/* file/mapped.c */
	char *path;
	struct rvt_mapped_file *next, *next_unused;
};

/* The @len bytes of @fd, which is @path's and may be closed afterwards. 0 or -errno. */
int rvt_file_map(int fd, size_t len, const char *path, struct rvt_mapped_file **mapped);
/* NULL: nothing happens. */
void rvt_file_unmap(struct rvt_mapped_file *mapped);

/*
 * Handles SIGBUS from now on, in all threads. Where no file of rvt_file_map() is cut, it calls
 * @other, which may call what signal handlers may and does not return. Once in a process.
 */
void rvt_file_guard(void (*other)(void));
/* The first file that was cut, ever; NULL: none. */
const char *rvt_file_first_cut(void);

#endif
