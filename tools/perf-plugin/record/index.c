// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/cmd.h"
#include "record/index.h"
#include "util/array.h"

#define SELF "/proc/self/exe"
#define NICE 10			/* more, while something is recorded */

int index_queue_add(struct index_queue *queue, const char *path)
{
	char *copy = strdup(path);

	if (!copy || array_grow(&queue->paths, queue->n)) {
		free(copy);
		return -ENOMEM;
	}
	queue->paths[queue->n++] = copy;
	return 0;
}

/* Restores the signals' defaults, as a command has them. */
static void allow_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR2 };
	sigset_t none;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Runs `index`. @behind: beside the recorder, with a lower priority; Ctrl-C then goes to the
 * recorder, not to this process.
 */
static void run(const char *path, bool behind)
{
	allow_signals();
	if (behind) {
		setpgid(0, 0);
		nice(NICE);
	}
	execl(SELF, "perf-rvtrace", "index", "-i", path, NULL);
	cmd_warning("%s: no index is made: %s", path, strerror(errno));
	_exit(1);
}

static void begin(struct index_queue *queue, bool behind)
{
	char *path = queue->paths[0];

	queue->n--;
	memmove(queue->paths, queue->paths + 1, queue->n * sizeof(*queue->paths));
	queue->pid = fork();
	if (!queue->pid)
		run(path, behind);
	if (queue->pid < 0) {
		cmd_warning("%s: no index is made: %s", path, strerror(errno));
		queue->pid = 0;
	}
	free(path);
}

/* Looks whether the process has ended. It has printed its errors itself. */
static void look(struct index_queue *queue, int flags)
{
	pid_t pid;

	do
		pid = queue->pid ? waitpid(queue->pid, NULL, flags) : 0;
	while (pid < 0 && errno == EINTR);
	if (pid)
		queue->pid = 0;
}

void index_queue_go_on(struct index_queue *queue)
{
	look(queue, WNOHANG);
	if (!queue->pid && queue->n)
		begin(queue, true);
}

void index_queue_finish(struct index_queue *queue)
{
	if (!queue->pid && !queue->n)
		return;
	allow_signals();
	look(queue, 0);
	while (queue->n) {
		begin(queue, false);
		look(queue, 0);
	}
}

void index_queue_clear(struct index_queue *queue)
{
	while (queue->n)
		free(queue->paths[--queue->n]);
	free(queue->paths);
	queue->paths = NULL;
}
