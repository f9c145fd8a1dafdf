/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Files that a recording names may be anything: a FIFO would wait, a device may act when opened. */
#ifndef RVT_UTIL_REGULAR_H
#define RVT_UTIL_REGULAR_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Opens a regular file for reading; nothing else is opened at all, unless it takes the file's place
 * meanwhile: then it is closed again. Fills *@st. Returns the descriptor, -EINVAL (it is none), or
 * -errno.
 */
static inline int open_regular(const char *path, struct stat *st)
{
	int fd;

	if (stat(path, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

#endif
