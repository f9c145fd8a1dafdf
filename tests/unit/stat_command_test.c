// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * perf-rvtrace stat of a recording whose time stamps are damaged: those that cannot be true do not
 * make it longer. And of one with another encoder's parameters, all or some of them: it says what
 * can be done, and says nothing of that where bytes are missing. Uses the program that `make`
 * built; skipped where there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "session-fixture.h"

#define PROGRAM "build/host/perf-rvtrace"
#define SECOND (1000000000 / TICK_NS)	/* in ticks */
#define PID 10
#define BEGIN (100ul * SECOND)

static void put_first(struct fixture *f)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
	} head = { { PERF_RECORD_ITRACE_START, 0, 0 }, PID, PID };
	const struct trailer trailer = { PID, PID, f->ticks * TICK_NS, 0, 0, TRACE_ID };

	put_record(f, &head.header, sizeof(head), NULL, &trailer);
}

/*
 * Of three seconds; in the second one the time is @ticks for a while, if that is not 0. Another cpu
 * is traced after ten.
 */
static void make_recording(struct fixture *f, uint64_t ticks)
{
	uint64_t before;

	begin_recording(f, true, true);
	f->ticks = BEGIN;
	put_first(f);
	put_comm(f, PID, f->ticks * TICK_NS, false, "some");
	put_mmap(f, PID, f->ticks * TICK_NS + 1, f->programs[0]);
	f->ticks += 2;
	run_steps(f, 0, PID, 0, 1000);
	f->ticks += SECOND;
	before = f->ticks;
	f->ticks = ticks ? ticks : before;
	run_steps(f, 0, PID, 0, 1000);
	f->ticks = before + 2 * SECOND;
	run_steps(f, 0, PID, 0, 1000);
	put_aux(f, 0, PID, 0);
	f->ticks = BEGIN + 10 * SECOND;
	run_steps(f, 1, PID, 0, 1000);
	put_aux(f, 1, PID, 0);
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
}

/* The seconds that it prints for cpu 0; *@damaged: whether it says that time stamps are. */
static double seconds_by_stat(const struct fixture *f, unsigned int jobs, bool *damaged)
{
	double seconds = -1, rate;
	char command[200], line[200];
	FILE *out;

	if (access(PROGRAM, X_OK))
		skip();
	snprintf(command, sizeof(command), PROGRAM " stat --jobs %u -i %s", jobs, f->data);
	out = popen(command, "r");
	assert_non_null(out);
	*damaged = false;
	while (fgets(line, sizeof(line), out)) {
		sscanf(line, "0 %*u %*u %*f %*u %*u %*u %lf %lf", &seconds, &rate);
		*damaged |= !!strstr(line, "time stamps outside of the time");
	}
	assert_int_equal(pclose(out), 0);
	return seconds;
}

static void seconds(void **state)
{
	/* the end of the clock, just after it began, and when only the other cpu was traced */
	static const uint64_t cases[] = {
		0, UINT64_MAX / TICK_NS - SECOND, 5, BEGIN + 5 * SECOND,
	};

	(void)state;
	for (int etrace = 0; etrace < 2; etrace++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct fixture *f;
			bool damaged;

			assert_int_equal(session_setup((void **)&f), 0);
			f->etrace = etrace;
			make_recording(f, cases[i]);
			for (unsigned int jobs = 1; jobs <= 2; jobs++) {
				double found = seconds_by_stat(f, jobs, &damaged);

				/* steps take next to no time */
				if (found < 2.99 || found > 3.01 || damaged != !!cases[i])
					fail_msg("etrace %d, ticks %lu, jobs %u: %g seconds%s",
						 etrace, cases[i], jobs, found,
						 damaged ? ", damaged" : "");
			}
			session_teardown((void **)&f);
		}
}

/* Whether `stat` says that the parameters may be wrong. @params: a file of them, or NULL. */
static bool doubts_parameters(const struct fixture *f, const char *params)
{
	char command[300], line[200];
	bool doubts = false;
	int status;
	FILE *out;

	snprintf(command, sizeof(command), PROGRAM " stat -i %s%s%s 2>&1", f->data,
		 params ? " --params " : "", params ? params : "");
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out))
		doubts |= strstr(line, "parameters") && strstr(line, "--params");
	status = pclose(out);
	assert_true(WIFEXITED(status));
	/* it is an error when next to nothing could be decoded */
	assert_true(!WEXITSTATUS(status) || (params && WEXITSTATUS(status) == 1));
	return doubts;
}

/* @n bytes of trace are lost at each of so many places, all as far from each other. */
static void lose_bytes(struct cpu *cpu, unsigned int places, size_t n)
{
	for (unsigned int i = places; i; i--) {
		uint8_t *at = cpu->bytes + cpu->len / (places + 1) * i;

		memmove(at, at + n, cpu->bytes + cpu->len - (at + n));
		cpu->len -= n;
	}
}

/* Of so many steps, of which a few bytes are lost at so many places. */
static void record_steps(struct fixture *f, unsigned int steps, unsigned int places)
{
	begin_recording(f, true, true);
	put_first(f);
	put_comm(f, PID, f->ticks * TICK_NS, false, "some");
	put_mmap(f, PID, f->ticks * TICK_NS + 1, f->programs[0]);
	f->ticks += 2;
	run_steps(f, 0, PID, 0, steps);
	lose_bytes(&f->cpus[0], places, 3);
	put_aux(f, 0, PID, 0);
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
}

/* A recording that is right, and wrong with the parameters in @text. */
static void check_wrong(bool etrace, const char *text)
{
	char path[] = "/tmp/rvtrace-params-XXXXXX";
	struct fixture *f;
	int fd;

	assert_int_equal(session_setup((void **)&f), 0);
	f->etrace = etrace;
	record_steps(f, 30000, 0);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	if (!doubts_parameters(f, path))
		fail_msg("no doubts about these parameters:\n%s", text);
	assert_false(doubts_parameters(f, NULL));
	unlink(path);
	session_teardown((void **)&f);
}

static void wrong_parameters(void **state)
{
	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	/* frames do not have the source that this says they have */
	check_wrong(true, "protocol = etrace\niaddress_width_p = 64\nsrcid_bits = 8\n");
	/* and messages no time stamp: not one is as long as it seems */
	check_wrong(false, "protocol = ntrace\nmode = htm\n");
	/* all messages are what they seem to be, and some do not mean what they seem to mean */
	check_wrong(false, "protocol = ntrace\nmode = btm\ntimestamp = delta\n");
}

/*
 * What is merely lost is no reason to doubt parameters: nearly all of a little, or some of a lot.
 */
static void lost_bytes(void **state)
{
	static const struct {
		unsigned int steps, places;
	} cases[] = { { 2000, 15 }, { 30000, 60 } };

	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	for (int etrace = 0; etrace < 2; etrace++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct fixture *f;

			assert_int_equal(session_setup((void **)&f), 0);
			f->etrace = etrace;
			record_steps(f, cases[i].steps, cases[i].places);
			assert_false(doubts_parameters(f, NULL));
			session_teardown((void **)&f);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds),
		cmocka_unit_test(wrong_parameters),
		cmocka_unit_test(lost_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
