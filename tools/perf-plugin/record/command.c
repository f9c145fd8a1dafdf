// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * --control: another program says when to trace, by lines in a FIFO as in perf: enable, disable,
 * snapshot, stop, ping. After each line that was carried out, "ack" is written to a second FIFO.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/control.h"
#include "record/record.h"

/* Opens a FIFO for reading and writing, so that it stays open while it has no writer. */
static int open_fifo(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return cmd_error(-errno, "--control: cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode)) {
		close(fd);
		return cmd_error(-EINVAL, "--control: %s is no FIFO; make one with mkfifo", path);
	}
	return fd;
}

static int take_fd(const char *text)
{
	uint64_t number;

	if (cmd_number("--control fd:", text, 0, INT32_MAX, &number))
		return -EINVAL;
	if (fcntl(number, F_GETFD) < 0)
		return cmd_error(-EBADF, "--control: file descriptor %s is not open", text);
	return number;
}

int record_open_commands(struct recorder *rec)
{
	const char *text = rec->options.control;
	bool fifo = !strncmp(text, "fifo:", 5);
	int (*get)(const char *text) = fifo ? open_fifo : take_fd;
	char *copy, *comma;
	int err = 0;

	if (!fifo && strncmp(text, "fd:", 3))
		return cmd_error(-EINVAL, "--control: '%s' is neither fifo:PATH[,ACK_PATH] nor "
				 "fd:NUMBER[,ACK_NUMBER]", text);
	copy = strdup(strchr(text, ':') + 1);
	if (!copy)
		return -ENOMEM;
	comma = strchr(copy, ',');
	if (comma)
		*comma++ = 0;
	rec->commands.in = get(copy);
	if (rec->commands.in < 0)
		err = rec->commands.in;
	else if (fcntl(rec->commands.in, F_SETFL, O_NONBLOCK))
		err = cmd_error(-errno, "--control: %s: %s", text, strerror(errno));
	if (!err && comma) {
		rec->commands.ack = get(comma);
		err = rec->commands.ack < 0 ? rec->commands.ack : 0;
	}
	free(copy);
	return err;
}

void record_close_commands(struct recorder *rec)
{
	if (rec->commands.in >= 0)
		close(rec->commands.in);
	if (rec->commands.ack >= 0)
		close(rec->commands.ack);
	rec->commands.in = rec->commands.ack = -1;
}

/* Carries out one line. Returns 0, or -errno when the recording cannot continue. */
static int obey(struct recorder *rec, const char *command)
{
	int err = 0;

	if (!strcmp(command, "enable")) {
		err = record_resume(rec);
	} else if (!strcmp(command, "disable")) {
		record_pause(rec);
	} else if (!strcmp(command, "snapshot")) {
		if (!rec->options.snapshot) {
			cmd_warning("--control: 'snapshot' needs -S");
			return 0;
		}
		err = record_take_snapshot(rec);
	} else if (!strcmp(command, "stop")) {
		rec->stop = true;
	} else if (strcmp(command, "ping")) {
		cmd_warning("--control: '%s' is unknown; commands: enable, disable, snapshot, "
			    "stop, ping", command);
		return 0;
	}
	/* does not wait for a reader */
	if (!err && rec->commands.ack >= 0 && write(rec->commands.ack, "ack\n", 4) < 0)
		cmd_warning("--control: cannot answer: %s", strerror(errno));
	return err;
}

int record_obey(struct recorder *rec)
{
	struct record_commands *commands = &rec->commands;
	int err = 0;
	ssize_t n;

	if (commands->in < 0)
		return 0;
	n = read(commands->in, commands->text + commands->len,
		 sizeof(commands->text) - commands->len - 1);
	if (n > 0)
		commands->len += n;
	commands->text[commands->len] = 0;
	for (char *end; !err && (end = strpbrk(commands->text, "\n")); ) {
		*end++ = 0;
		err = obey(rec, commands->text);
		commands->len -= end - commands->text;
		memmove(commands->text, end, commands->len + 1);
	}
	if (commands->len + 1 == sizeof(commands->text))
		commands->len = 0;	/* no command is that long */
	return err;
}
