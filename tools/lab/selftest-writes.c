// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Writes files as a recorder does, and has another process look at them meanwhile; then compares.
 *
 *	selftest-writes FILE ROUNDS
 *
 * Data is appended in pieces of many sizes, and the first bytes are overwritten at the end. Prints
 * where a file does not hold what was written. Exit status: 0 if all do.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEADER_BYTES 104
#define MAX_BYTES 1600000

static unsigned char want[MAX_BYTES], got[MAX_BYTES + 1];

/* Asks for the size of @path all the time, in a process of its own. */
static pid_t look_at(const char *path)
{
	pid_t pid = fork();

	while (!pid) {
		struct stat st;

		if (!stat(path, &st) && st.st_size > MAX_BYTES)
			_exit(1);
		usleep(rand() % 3000);
	}
	return pid;
}

static bool put(int fd, size_t begin, size_t end)
{
	return write(fd, want + begin, end - begin) == (ssize_t)(end - begin);
}

static bool write_file(const char *path, size_t len)
{
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	bool ok = fd >= 0 && put(fd, 0, HEADER_BYTES);

	for (size_t at = HEADER_BYTES, size = 900 + rand() % 3000; at < len && ok; at += size) {
		if (at > HEADER_BYTES)
			size = rand() % (rand() % 3 ? 9000 : 300000) + 1;
		if (size > len - at)
			size = len - at;
		ok = put(fd, at, at + size);
		if (rand() % 4 == 0)
			usleep(rand() % 4000);
	}
	ok = ok && !lseek(fd, 0, SEEK_SET) && put(fd, 0, HEADER_BYTES);
	return !close(fd) && ok;
}

static bool is_right(const char *path, size_t len)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = 0, part;

	if (fd < 0)
		return false;
	while ((part = read(fd, got + n, sizeof(got) - n)) > 0)
		n += part;
	close(fd);
	if (n != (ssize_t)len) {
		printf("%zd bytes instead of %zu\n", n, len);
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		if (got[i] != want[i]) {
			printf("byte %zu of %zu is wrong\n", i, len);
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0, bad = rounds < 1;

	for (int round = 0; round < rounds; round++) {
		size_t len = 100000 + rand() % (MAX_BYTES - 100000);
		pid_t looker;

		for (size_t i = 0; i < len; i++)
			want[i] = (i * 7 + round * 13) % 251 + 1;
		looker = look_at(argv[1]);
		if (!write_file(argv[1], len)) {
			perror(argv[1]);
			bad++;
		}
		kill(looker, SIGKILL);
		waitpid(looker, NULL, 0);
		bad += !is_right(argv[1], len);
	}
	return bad != 0;
}
