// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * For LD_PRELOAD in a recorder: when it opens /proc/kcore, "1" is written to the file $LATE_KEY
 * before. So code of the kernel changes between the end of tracing and the copy of that code.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_file(const char *path, int flags, int mode)
{
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	const char *key = getenv("LATE_KEY");
	va_list args;
	int mode, fd;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (key && !strcmp(path, "/proc/kcore")) {
		fd = open_file(key, O_WRONLY, 0);
		if (fd < 0 || write(fd, "1", 1) != 1)
			abort();
		close(fd);
	}
	return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
