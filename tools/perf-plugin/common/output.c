// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/output.h"
#include "common/text.h"

#define STATUS_SIGPIPE 141	/* 128 + SIGPIPE */

/* ---- standard output ---- */

static bool reader_has_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP);
}

/*
 * Ends the process if standard output is the broken pipe. If it is another one, its writer gets an
 * error.
 */
static void on_broken_pipe(int signal)
{
	(void)signal;
	if (reader_has_gone())
		_exit(STATUS_SIGPIPE);
}

static void on_ignored_pipe(int signal)
{
	(void)signal;
}

static int stdout_error;	/* errno of a failed flush */

void output_flush(void)
{
	if (fflush(stdout))
		stdout_error = errno;
}

static void close_stdout(void)
{
	bool failed = ferror(stdout), gone = failed && reader_has_gone();

	output_flush();
	errno = 0;
	if (fclose(stdout) && !stdout_error)
		stdout_error = errno;
	if (!failed && !stdout_error)
		return;
	if (stdout_error == EPIPE || (!stdout_error && gone))
		_exit(STATUS_SIGPIPE);
	cmd_error(0, "cannot write to standard output%s%s", stdout_error ? ": " : "",
		  stdout_error ? strerror(stdout_error) : "");
	_exit(1);
}

void output_begin(bool prints)
{
	/* a handler, because children that the command runs inherit SIG_IGN */
	const struct sigaction action = { .sa_handler = prints ? on_broken_pipe : on_ignored_pipe,
					  .sa_flags = SA_RESTART };
	struct sigaction before;

	if (!sigaction(SIGPIPE, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGPIPE, &action, NULL);
	atexit(close_stdout);
}

/* ---- files ---- */

/* Returns the descriptor that @path names (like /dev/fd/1). -1: @path is no such name. */
static int descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t fd;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		const char *digits = path + strlen(folders[i]);

		if (!strncmp(path, folders[i], strlen(folders[i])) && !read_number(&digits, &fd) &&
		    !*digits && fd <= INT_MAX)
			return fd;
	}
	return -1;
}

static int open_special(struct output_file *file)
{
	int fd = descriptor(file->path);

	if (fd >= 0)
		file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	else
		file->fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	return file->fd < 0 ? cmd_error(-errno, "cannot open %s: %s", file->path, strerror(errno)) :
		0;
}

static char *old_name(const char *path)
{
	char *name;

	return asprintf(&name, "%s.old", path) < 0 ? NULL : name;
}

static int rename_old(struct output_file *file)
{
	char *old = old_name(file->path);
	int err = 0;

	if (!old)
		return cmd_error(-ENOMEM, "out of memory");
	if (rename(file->path, old))
		err = cmd_error(-errno, "cannot rename %s to %s, so as not to overwrite it: %s",
				file->path, old, strerror(errno));
	free(old);
	file->renamed = !err;
	return err;
}

int output_create(struct output_file *file, const char *path)
{
	struct stat st;
	int err;

	*file = (struct output_file){ .path = path, .fd = -1 };
	if (descriptor(path) >= 0)
		return open_special(file);
	if (!lstat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return cmd_error(-EISDIR, "%s is a directory: give the name of a file",
					 path);
		if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
			return open_special(file);
		err = rename_old(file);
		if (err)
			return err;
	}
	file->fd = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
	if (file->fd >= 0) {
		file->created = true;
		return 0;
	}
	err = cmd_error(-errno, "cannot create %s: %s", path, strerror(errno));
	output_discard(file);
	return err;
}

void output_discard(const struct output_file *file)
{
	char *old = file->renamed ? old_name(file->path) : NULL;

	if (file->created)
		unlink(file->path);
	if (old && rename(old, file->path))
		cmd_warning("cannot rename %s back to %s: %s", old, file->path, strerror(errno));
	free(old);
}

FILE *output_open(struct output_file *file, const char *path)
{
	FILE *out;

	if (output_create(file, path))
		return NULL;
	out = fdopen(file->fd, "w");
	if (out)
		return out;
	cmd_error(0, "cannot write %s: %s", path, strerror(errno));
	close(file->fd);
	output_discard(file);
	return NULL;
}

int output_close(struct output_file *file, FILE *out, int err)
{
	bool failed = ferror(out), empty = ftello(out) <= 0;

	/*
	 * errno of the failure is gone: one more byte, to be discarded, fails for the same reason
	 */
	if (failed)
		fputc('\n', out);
	errno = 0;
	failed |= fclose(out) != 0;
	if (failed)
		err = cmd_error(errno ? -errno : -EIO, "cannot write %s: %s", file->path,
				strerror(errno ? errno : EIO));
	if (failed || (err && empty))
		output_discard(file);
	return err;
}
