// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The only program of the Linux guest that `vmm linux` boots: says that it begins, and has
 * the guest's kernel do work until the guest is killed. The kernel's log is where it can write to.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *text)
{
	int fd = open("/dev/kmsg", O_WRONLY);

	if (fd >= 0) {
		write(fd, text, strlen(text));
		close(fd);
	}
}

static void work(void)
{
	char bytes[4096];
	int pipes[2];
	pid_t child;
	ssize_t n;
	int fd;

	if (pipe(pipes))
		return;
	child = fork();
	if (!child) {
		fd = open("/proc/self/maps", O_RDONLY);
		while ((n = read(fd, bytes, sizeof(bytes))) > 0)
			write(pipes[1], bytes, (size_t)n);
		_exit(0);
	}
	close(pipes[1]);
	while (read(pipes[0], bytes, sizeof(bytes)) > 0)
		;
	close(pipes[0]);
	waitpid(child, NULL, 0);
}

int main(void)
{
	mkdir("/dev", 0755);
	mkdir("/proc", 0755);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	say("guest: begins");
	for (;;)
		work();
}
