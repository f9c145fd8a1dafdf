// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Files that others have laid out: what is none, links that lead away, and files that are cut. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "file/file.h"

#define PAGES 64
#define THREADS 4

static char dir[] = "/tmp/rvtrace-file-XXXXXX";

/* A name in the test's directory. */
static const char *in_dir(const char *name)
{
	static char names[4][128];
	static unsigned int n;
	char *path = names[n++ % 4];

	snprintf(path, sizeof(names[0]), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, size_t len)
{
	FILE *out = fopen(in_dir(name), "w");

	assert_non_null(out);
	for (size_t i = 0; i < len; i++)
		fputc('x', out);
	assert_int_equal(fclose(out), 0);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	write_file("file", 100);
	return mkfifo(in_dir("fifo"), 0600) || symlink("file", in_dir("link"));
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void test_regular_only(void **state)
{
	struct stat st;
	int fd = rvt_file_open(in_dir("file"), 0, &st);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(st.st_size, 100);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	/* would wait for a writer */
	assert_int_equal(rvt_file_open(in_dir("fifo"), 0, &st), -EINVAL);
	assert_int_equal(rvt_file_open("/dev/null", 0, &st), -EINVAL);
	assert_int_equal(rvt_file_open(dir, 0, &st), -EINVAL);
	assert_int_equal(rvt_file_open(in_dir("none"), 0, &st), -ENOENT);
	fd = rvt_file_open(in_dir("link"), 0, &st);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(rvt_file_open(in_dir("link"), O_NOFOLLOW, &st), -EINVAL);
}

/* What is at @path in the root "root" is the file @name of the test's directory; NULL: nothing. */
static void check_found(const char *path, const char *name)
{
	char *found, *real;
	int err = rvt_file_find(in_dir("root"), path, &found);

	if (!name) {
		assert_int_equal(err, -ENOENT);
		assert_null(found);
		return;
	}
	assert_int_equal(err, 0);
	real = realpath(found, NULL);
	assert_string_equal(real, in_dir(name));
	free(real);
	free(found);
}

static void test_root(void **state)
{
	(void)state;
	assert_int_equal(mkdir(in_dir("root"), 0700), 0);
	assert_int_equal(mkdir(in_dir("root/lib"), 0700), 0);
	write_file("root/lib/libc.so", 10);
	assert_int_equal(symlink("lib/libc.so", in_dir("root/inside")), 0);
	assert_int_equal(symlink("/lib/libc.so", in_dir("root/absolute")), 0);
	assert_int_equal(symlink("../file", in_dir("root/above")), 0);
	assert_int_equal(symlink(in_dir("file"), in_dir("root/away")), 0);
	assert_int_equal(symlink("/", in_dir("root/top")), 0);
	check_found("/lib/libc.so", "root/lib/libc.so");
	check_found("lib/libc.so", "root/lib/libc.so");
	check_found("/inside", "root/lib/libc.so");
	/* the root is the other system's */
	check_found("/absolute", "root/lib/libc.so");
	check_found("/top/lib/libc.so", "root/lib/libc.so");
	check_found("/../../lib/../lib/libc.so", "root/lib/libc.so");
	check_found("/../file", NULL);
	check_found("/lib/../../file", NULL);
	check_found("/above", NULL);
	check_found("/away", NULL);
	check_found("/top/../file", NULL);
	check_found("/none", NULL);
}

/* ---- files that are cut ---- */

static void not_ours(void)
{
	_exit(42);
}

static void *sum_up(void *ctx)
{
	const struct rvt_mapped_file *mapped = ctx;
	uintptr_t sum = 0;

	for (size_t i = 0; i < mapped->len; i++)
		sum += ((volatile uint8_t *)mapped->bytes)[i];
	return (void *)sum;
}

/* The child's exit status is 0 when all is right. */
static int read_while_cut(void)
{
	long page = sysconf(_SC_PAGESIZE);
	struct rvt_mapped_file *whole, *cut;
	pthread_t threads[THREADS];
	struct stat st;
	void *sum;
	int fd;

	rvt_file_guard(not_ours);
	fd = rvt_file_open(in_dir("file"), 0, &st);
	if (rvt_file_map(fd, st.st_size, "whole", &whole))
		return 1;
	close(fd);
	fd = rvt_file_open(in_dir("long"), 0, &st);
	if (st.st_size != PAGES * page || rvt_file_map(fd, st.st_size, "long", &cut))
		return 2;
	close(fd);
	if (rvt_file_first_cut() || truncate(in_dir("long"), 3 * page + 5))
		return 3;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, sum_up, cut))
			return 4;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &sum);
		/* the rest of the last page is zeros anyhow */
		if ((uintptr_t)sum != 'x' * (3 * page + 5ul))
			return 5;
	}
	if (!cut->cut || whole->cut || strcmp(rvt_file_first_cut(), "long"))
		return 6;
	rvt_file_unmap(cut);
	if ((uintptr_t)sum_up(whole) != 'x' * 100ul || strcmp(rvt_file_first_cut(), "long"))
		return 7;
	rvt_file_unmap(whole);
	return 0;
}

static int status_of(int (*run)(void))
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(run());
	assert_int_equal(waitpid(child, &status, 0), child);
	/* no signal */
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_cut(void **state)
{
	(void)state;
	write_file("long", PAGES * sysconf(_SC_PAGESIZE));
	assert_int_equal(status_of(read_while_cut), 0);
}

/* A mapping that is nobody's. */
static int read_other(void)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = open(in_dir("other"), O_RDONLY);
	volatile uint8_t *bytes = mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE, fd, 0);

	rvt_file_guard(not_ours);
	return truncate(in_dir("other"), 0) ? 1 : bytes[page];
}

static void test_other(void **state)
{
	(void)state;
	write_file("other", 2 * sysconf(_SC_PAGESIZE));
	assert_int_equal(status_of(read_other), 42);
}

static void test_empty(void **state)
{
	struct rvt_mapped_file *mapped;
	struct stat st;
	int fd = rvt_file_open(in_dir("file"), 0, &st);

	(void)state;
	assert_int_equal(rvt_file_map(fd, st.st_size, "file", &mapped), 0);
	close(fd);
	rvt_file_unmap(mapped);
	/* what held another file before */
	assert_int_equal(rvt_file_map(-1, 0, "empty", &mapped), 0);
	assert_null(mapped->bytes);
	assert_int_equal(mapped->len, 0);
	rvt_file_unmap(mapped);
	assert_int_equal(rvt_file_map(-1, 10, "none", &mapped), -EBADF);
	rvt_file_unmap(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regular_only),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
