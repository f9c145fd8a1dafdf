// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/color.h"
#include "common/pager.h"

static pid_t pager;

static void wait_for_pager(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	/* ends the pager's input */
	dup2(null, STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		continue;
}

static void run_pager(const char *command, const int pipes[2])
{
	dup2(pipes[0], STDIN_FILENO);
	close(pipes[0]);
	close(pipes[1]);
	setenv("LESS", "FRSX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

bool pager_runs(void)
{
	return pager > 0;
}

void pager_begin(void)
{
	const char *command = getenv("PERF_PAGER");
	int pipes[2];

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	if (!isatty(STDOUT_FILENO) || !*command || !strcmp(command, "cat") || pipe(pipes))
		return;
	color_fix();
	pager = fork();
	if (!pager)
		run_pager(command, pipes);
	if (pager > 0) {
		dup2(pipes[1], STDOUT_FILENO);
		atexit(wait_for_pager);
	}
	close(pipes[0]);
	close(pipes[1]);
}
