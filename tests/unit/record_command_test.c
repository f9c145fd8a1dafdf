// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * --control: lines in a FIFO, whole, in pieces and several at once; what is answered, and to what.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <sys/stat.h>
#include "../../tools/perf-plugin/record/control.h"
#include "../../tools/perf-plugin/record/record.h"

static char done[256], warned[256];

int cmd_error(int err, const char *format, ...)
{
	(void)format;
	return err;
}

void cmd_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(warned, sizeof(warned), format, args);
	va_end(args);
}

int cmd_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	(void)what, (void)min, (void)max;
	*value = strtoull(text, NULL, 10);
	return 0;
}

int record_resume(struct recorder *rec)
{
	(void)rec;
	strcat(done, "enable ");
	return 0;
}

void record_pause(struct recorder *rec)
{
	(void)rec;
	strcat(done, "disable ");
}

int record_take_snapshot(struct recorder *rec)
{
	(void)rec;
	strcat(done, "snapshot ");
	return 0;
}

/* What @text does, and how often it is answered. */
static void check(struct recorder *rec, int in, int acks, const char *text, const char *expected,
		  int n_acks)
{
	char answer[256];
	ssize_t n;

	*done = *warned = 0;
	assert_int_equal(write(in, text, strlen(text)), strlen(text));
	assert_int_equal(record_obey(rec), 0);
	assert_string_equal(done, expected);
	n = read(acks, answer, sizeof(answer));
	assert_int_equal(n < 0 ? 0 : n, 4 * n_acks);
	for (int i = 0; i < n_acks; i++)
		assert_memory_equal(answer + 4 * i, "ack\n", 4);
}

static void test_commands(void **state)
{
	struct recorder rec = { .commands = { .in = -1, .ack = -1 } };
	char dir[] = "/tmp/rvtrace-control-XXXXXX", in[64], acks[64], option[160], longest[400];
	int in_fd, ack_fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(in, sizeof(in), "%s/in", dir);
	snprintf(acks, sizeof(acks), "%s/acks", dir);
	assert_int_equal(mkfifo(in, 0600), 0);
	assert_int_equal(mkfifo(acks, 0600), 0);
	snprintf(option, sizeof(option), "fifo:%s,%s", in, acks);
	rec.options.control = option;
	assert_int_equal(record_open_commands(&rec), 0);
	in_fd = open(in, O_WRONLY);
	ack_fd = open(acks, O_RDONLY | O_NONBLOCK);

	assert_int_equal(record_obey(&rec), 0);	/* nothing was said */
	check(&rec, in_fd, ack_fd, "ping\n", "", 1);
	check(&rec, in_fd, ack_fd, "enable\n", "enable ", 1);
	check(&rec, in_fd, ack_fd, "disable\nenable\nping\n", "disable enable ", 3);
	check(&rec, in_fd, ack_fd, "dis", "", 0);
	check(&rec, in_fd, ack_fd, "able\nen", "disable ", 1);
	check(&rec, in_fd, ack_fd, "able\n", "enable ", 1);
	check(&rec, in_fd, ack_fd, "frobnicate\n", "", 0);
	assert_non_null(strstr(warned, "'frobnicate' is unknown"));
	check(&rec, in_fd, ack_fd, "snapshot\n", "", 0);
	assert_non_null(strstr(warned, "needs -S"));
	rec.options.snapshot = true;
	check(&rec, in_fd, ack_fd, "snapshot\n", "snapshot ", 1);
	/* what is no command does not take room for ever */
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	check(&rec, in_fd, ack_fd, longest, "", 0);
	assert_int_equal(record_obey(&rec), 0);
	check(&rec, in_fd, ack_fd, "\nenable\n", "enable ", 1);
	assert_false(rec.stop);
	check(&rec, in_fd, ack_fd, "stop\n", "", 1);
	assert_true(rec.stop);

	record_close_commands(&rec);
	assert_int_equal(rec.commands.in, -1);
	close(in_fd);
	close(ack_fd);
	unlink(in);
	unlink(acks);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_commands) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
