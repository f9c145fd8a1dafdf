// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Opens regular files, writes to files, and finds files in the root of another system. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "file/file.h"

int rvt_file_open(const char *path, int flags, struct stat *st)
{
	int fd;

	if (flags & O_NOFOLLOW ? lstat(path, st) : stat(path, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static bool is_same_file(const char *path, const struct stat *st)
{
	struct stat other;

	return !stat(path, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* Where the file of @fd is; it was found for @plain, which is taken if it leads there, too. */
static int name_of(int fd, const char *plain, char **found)
{
	char link[64], path[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (is_same_file(plain, &st)) {
		*found = strdup(plain);
		return *found ? 0 : -ENOMEM;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = 0;
	if (!is_same_file(path, &st))
		return -ENOENT;
	*found = strdup(path);
	return *found ? 0 : -ENOMEM;
}

/* Without openat2() (before Linux 5.6, or forbidden): links may lead to files of @root only. */
static int find_by_prefix(const char *root, const char *plain, char **found)
{
	char *real = realpath(plain, NULL), *real_root = realpath(root, NULL);
	size_t len = real_root ? strlen(real_root) : 0;
	int err = 0;

	*found = NULL;
	if (!real || !real_root)
		err = -errno;
	else if (len > 1 && (strncmp(real, real_root, len) || real[len] != '/'))
		err = -ENOENT;
	else if (!(*found = strdup(plain)))
		err = -ENOMEM;
	free(real);
	free(real_root);
	return err;
}

int rvt_file_find(const char *root, const char *path, char **found)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, err;
	char *plain;

	*found = NULL;
	if (dir < 0)
		return -errno;
	if (asprintf(&plain, "%s%s%s", root, path[0] == '/' ? "" : "/", path) < 0) {
		close(dir);
		return -ENOMEM;
	}
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd >= 0)
		err = name_of(fd, plain, found);
	else if (errno == ENOSYS || errno == EPERM)
		err = find_by_prefix(root, plain, found);
	else
		err = -errno;
	if (fd >= 0)
		close(fd);
	close(dir);
	free(plain);
	return err;
}

int rvt_file_write(int fd, const void *bytes, size_t len)
{
	for (const uint8_t *pos = bytes; len; ) {
		ssize_t n = write(fd, pos, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		pos += n;
		len -= n;
	}
	return 0;
}
