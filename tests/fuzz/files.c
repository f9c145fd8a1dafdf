// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fuzz.h"

static char dir[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void remove_dir(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_dir(void)
{
	if (*dir)
		return dir;
	snprintf(dir, sizeof(dir), "%s/rvtrace-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		broken("no folder: %s", strerror(errno));
	atexit(remove_dir);
	return dir;
}

const char *fuzz_write(const char *name, const void *bytes, size_t len)
{
	static char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fuzz_dir(), name);
	for (char *slash = path + strlen(dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = 0;
		mkdir(path, 0700);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		broken("%s: %s", path, strerror(errno));
	close(fd);
	return path;
}

FILE *fuzz_null(void)
{
	static FILE *null;

	if (!null)
		null = fopen("/dev/null", "w");
	if (!null)
		broken("/dev/null: %s", strerror(errno));
	return null;
}
