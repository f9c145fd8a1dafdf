// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The commands as a person runs them: --jobs changes nothing of what they print, whole or damaged
 * the recording. Uses build/host/perf-rvtrace-small-slices (tests/tools/small-slices.c); skipped
 * where there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "random-recording.h"
#include "run-command.h"

#define PROGRAM SMALL_SLICES_PROGRAM
/* How long each test of random recordings goes on at least. */
#define SECONDS "RVT_JOBS_SECONDS"

static const char *const views[] = {
	"stat", "report", "report -s comm,dso,sym", "report -g", "script", "script --by-cpu",
	"script --insn-trace", "profile -f counts", "profile -f folded",
	"profile -f callgrind",
};

/* ---- what commands print ---- */

#define MESSAGE (1l << 32)	/* those of messages come behind others */

/* The number that begins @line, or follows ": source " in a message; -1: neither. */
static long source_of(const char *line)
{
	static const char named[] = ": source ";
	const char *end = strchr(line, '\n'), *at = memmem(line, end - line, named, strlen(named));
	size_t len = strcspn(line, " \n");

	if (at)
		return MESSAGE + strtol(at + strlen(named), NULL, 10);
	/* an address is longer */
	return line[len] == ' ' && len <= 4 && strspn(line, "0123456789") == len ?
		strtol(line, NULL, 10) : -1;
}

static int compare_lines(const void *x, const void *y)
{
	const char *a = *(const char *const *)x, *b = *(const char *const *)y;
	long source = source_of(a), other = source_of(b);

	return source != other ? (source > other) - (source < other) : (a > b) - (a < b);
}

/* The same lines by source: of several in a dump it is not said how they mix. */
static char *sort_lines(const char *text)
{
	size_t n = 0, room = 1, len = 0;
	const char **lines;
	char *sorted = malloc(strlen(text) + 1);

	for (const char *c = text; *c; c++)
		room += *c == '\n';
	lines = calloc(room, sizeof(*lines));
	for (const char *c = text; *c; c = strchr(c, '\n') + 1)
		lines[n++] = c;
	qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; i++)
		len += sprintf(sorted + len, "%.*s", (int)(strchr(lines[i], '\n') + 1 - lines[i]),
			       lines[i]);
	sorted[len] = 0;
	free(lines);
	return sorted;
}

/* For a shell: standard error, and behind all output. */
#define TOGETHER "2>&1"
#define BEHIND "2>/tmp/rvtrace-jobs.$$; s=$?; cat /tmp/rvtrace-jobs.$$; " \
	       "rm /tmp/rvtrace-jobs.$$; exit $s"

/*
 * What @view prints, messages and status included (malloc'd), by @jobs in slices of @bytes. @rest:
 * of the command; BEHIND: its lines are sorted by source.
 */
static char *print(const char *view, const char *rest, unsigned int bytes, unsigned int jobs)
{
	char *text = run_command("SMALL_SLICES=%u " PROGRAM " %s --jobs %u %s", bytes, view, jobs,
				 rest), *sorted;

	if (strcmp(rest, BEHIND))
		return text;
	sorted = sort_lines(text);
	free(text);
	return sorted;
}

/* @format says what printed @more. */
__attribute__((format(printf, 3, 4)))
static void fail_differing(const char *one, const char *more, const char *format, ...)
{
	size_t line = 0, from = 0;
	va_list args;

	va_start(args, format);
	vprint_error(format, args);
	va_end(args);
	for (size_t i = 0; one[i] && one[i] == more[i]; i++) {
		if (one[i] != '\n')
			continue;
		line++;
		from = i + 1;
	}
	fail_msg("\nline %zu is '%.*s', not '%.*s'", line + 1,
		 (int)strcspn(more + from, "\n"), more + from, (int)strcspn(one + from, "\n"),
		 one + from);
}

/*
 * Prints @view by several numbers of jobs, which must not differ, or only in how lines of several
 * sources mix. Returns how many bytes that is.
 */
static size_t check_view(const char *view, const char *rest, unsigned int bytes, uint64_t seed)
{
	static const unsigned int jobs[] = { 2, 3, 8 };
	char *one = print(view, rest, bytes, 1);
	size_t printed = strlen(one);

	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		char *more = print(view, rest, bytes, jobs[i]);

		if (strcmp(one, more))
			fail_differing(one, more, "seed %lu: SMALL_SLICES=%u %s --jobs %u",
				       (long)seed, bytes, view, jobs[i]);
		free(more);
	}
	free(one);
	return printed;
}

static size_t check_views(const struct fixture *f, uint64_t seed)
{
	size_t printed = 0;
	char view[256];

	for (size_t v = 0; v < sizeof(views) / sizeof(*views); v++) {
		snprintf(view, sizeof(view), "%s -i %s", views[v], f->data);
		printed += check_view(view, TOGETHER, 150 << (seed + v) % 4, seed);
	}
	return printed;
}

/* The samples that inject makes: their file has the same bytes. */
static void check_samples(const struct fixture *f, uint64_t seed)
{
	static const char *const letters[] = { "bIl4", "i100i", "i2usl8", "i1is50", "i50ig",
					       "crg8l4" };
	char view[256], rest[256];

	snprintf(view, sizeof(view), "inject -i %s -o %s.samples --itrace=%s", f->data, f->data,
		 letters[seed % 6]);
	snprintf(rest, sizeof(rest), "2>&1; s=$?; cksum <%s.samples; rm %s.samples; exit $s",
		 f->data, f->data);
	check_view(view, rest, 150 << seed / 6 % 4, seed);
}

static size_t check_recording(struct fixture *f, uint64_t seed)
{
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	check_samples(f, seed);
	return check_views(f, seed);
}

/* Of those in which harts share a sink. */
static size_t check_shared(struct fixture *f, uint64_t seed)
{
	return f->src_bits || f->framed ? check_recording(f, seed) : 0;
}

/* ---- dumps ---- */

static const char *const prints[] = { "pc", "insn", "edge", "none" };

static size_t check_dump(struct fixture *f, uint64_t seed)
{
	char params[60], view[256];
	size_t printed = 0;

	snprintf(params, sizeof(params), "%s.params", f->data);
	for (size_t v = 0; v < sizeof(prints) / sizeof(*prints); v++) {
		snprintf(view, sizeof(view), "decode --params %s --raw %s@%#llx --print %s %s",
			 params, f->programs[0], HART_BASE, prints[v], f->data);
		printed += check_view(view, BEHIND, 150 << (seed + v) % 4, seed);
	}
	unlink(params);
	return printed;
}

/* A recording in which both cpus have messages of the same times; one of them runs for longer. */
static void record_same_times(struct fixture *f, int longer, size_t cut_off)
{
	begin_recording(f, true, true);
	for (int n = 0; n < CPUS; n++) {
		put_comm(f, n + 1, 0, false, "process");
		put_mmap(f, n + 1, 0, f->programs[2 * n]);
		f->ticks = 1000;
		run_steps(f, n, n + 1, 2 * n, n == longer ? STEPS : STEPS - 500);
		f->cpus[n].len -= cut_off;
		put_aux(f, n, n + 1, 0);
	}
}

/*
 * Whose turn it is does not depend on where slices end; what all end with, here a message that is
 * cut off, has its order, too.
 */
static void same_times(void **state)
{
	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct fixture *f;

		session_setup((void **)&f);
		f->etrace = seed & 1;
		f->sifive = seed % 4 == 2;
		f->ctte = seed >= 8 && !f->etrace && !f->sifive;
		record_same_times(f, seed >> 1 & 1, seed & 4 ? 3 : 0);
		assert_true(check_recording(f, seed) > 10000);
		session_teardown((void **)&f);
	}
}

/*
 * Behind damage it is not sure where messages begin, until the loss at the end of the record. What
 * was waiting for that then comes in one go, whatever the time of the other cpu: also where a
 * damaged time stamp, at some of these offsets, is later than all others.
 */
static void loss_behind_damage(void **state)
{
	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	for (size_t at = 20; at < 80; at += 7) {
		struct fixture *f;
		char view[100];

		session_setup((void **)&f);
		f->etrace = true;
		begin_recording(f, true, true);
		for (int n = 0; n < CPUS; n++) {
			struct cpu *cpu = &f->cpus[n];

			put_comm(f, n + 1, 0, false, "process");
			put_mmap(f, n + 1, 0, f->programs[2 * n]);
			f->ticks = 1000;
			run_steps(f, n, n + 1, 2 * n, STEPS);
			if (!n) {
				cpu->bytes[cpu->len - at] ^= 0x1f;
				cpu->bytes[cpu->len - at / 2] ^= 0x7f;
			}
			put_aux(f, n, n + 1, PERF_AUX_FLAG_TRUNCATED);
			run_steps(f, n, n + 1, 2 * n, STEPS);
			put_aux(f, n, n + 1, 0);
		}
		assert_int_equal(rvt_perfdata_finish(f->writer), 0);
		f->writer = NULL;
		snprintf(view, sizeof(view), "script -i %s", f->data);
		assert_true(check_view(view, TOGETHER, 1200, at) > 10000);
		session_teardown((void **)&f);
	}
}

#define GUESTS 40

static uint64_t run_neighbour(void *ctx, const struct hart_sink *sink)
{
	struct fixture *f = ctx;

	for (int i = 0; i < 4; i++) {
		f->ticks++;
		hart_run(f->harts[2], sink, 100);
	}
	return hart_pc(f->harts[2]);
}

static uint64_t run_hosts_and_guests(void *ctx, const struct hart_sink *sink)
{
	struct fixture *f = ctx;

	for (int i = 0; i < GUESTS; i++) {
		hart_run(f->harts[0], sink, 60);
		f->ticks++;
		run_other(f, 1, 2, run_neighbour, f);
		f->ticks++;
		run_guest(f->harts[0], sink, 20);
		f->ticks++;
	}
	return hart_pc(f->harts[0]);
}

/*
 * The message with which a guest begins or ends also tells the time. What the other cpu did before
 * that time comes first.
 */
static void guest_takes_turns(void **state)
{
	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct fixture *f;

		session_setup((void **)&f);
		f->etrace = f->guests = true;
		begin_recording(f, true, true);
		for (int n = 0; n < CPUS; n++) {
			put_comm(f, n + 1, 0, false, "process");
			put_mmap(f, n + 1, 0, f->programs[2 * n]);
		}
		run_other(f, 0, 1, run_hosts_and_guests, f);
		put_aux(f, 0, 1, 0);
		put_aux(f, 1, 2, 0);
		assert_true(check_recording(f, seed) > 10000);
		session_teardown((void **)&f);
	}
}

/*
 * A trace that begins with long idle, and then has messages without a synchronisation: what of it
 * is lost is told though nothing of it lies in the first slice.
 */
static void late_source(void **state)
{
	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	for (int etrace = 0; etrace < 2; etrace++) {
		struct fixture *f;
		struct cpu *cpu;

		session_setup((void **)&f);
		cpu = &f->cpus[0];
		f->etrace = etrace;
		begin_recording(f, true, true);
		put_mmap(f, 1, 0, f->programs[0]);
		run_steps(f, 0, 1, 0, STEPS);
		/* behind the first synchronisation and before the second one */
		memmove(cpu->bytes + 1000, cpu->bytes + 40, 40);
		memset(cpu->bytes, etrace ? 0 : 0xff, 1000);
		cpu->len = 1040;
		put_aux(f, 0, 1, 0);
		assert_true(check_recording(f, 0) > 1000);
		session_teardown((void **)&f);
	}
}

/* A time stamp of 0 is a time: the clock of a guest can begin there. */
static void time_of_zero(void **state)
{
	struct fixture *f;
	char view[256], *text;

	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	session_setup((void **)&f);
	begin_recording(f, true, true);
	put_mmap(f, 1, 0, f->programs[0]);
	f->ticks = 1000;
	run_steps(f, 0, 1, 0, STEPS);
	/* what is before that is of a clock that was set back */
	f->ticks = 0;
	run_steps(f, 0, 1, 0, STEPS);
	put_aux(f, 0, 1, 0);
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	snprintf(view, sizeof(view), "stat --json -i %s", f->data);
	text = print(view, TOGETHER, 600, 1);
	assert_non_null(strstr(text, "\"from\":0,"));
	free(text);
	session_teardown((void **)&f);
}

static void check_one(uint64_t seed, bool damage, bool dump)
{
	struct fixture *f;

	session_setup((void **)&f);
	f->may_share = !dump;
	if (dump)
		random_dump(f, seed, damage);
	else
		random_recording(f, seed, damage);
	assert_true((dump ? check_dump(f, seed) : check_recording(f, seed)) > 10000);
	session_teardown((void **)&f);
}

/* Seeds for which several threads once printed something else than one thread. */
static void found_before(void **state)
{
	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	/* some messages are printed already when slices do not fit together */
	check_one(5082, true, true);
	/* a slice ends with an edge into code that is missing */
	check_one(50006, true, true);
	/* with one behind which flow is lost at once, in another slice */
	check_one(60087, true, true);
	/* with a START that comes after an exec if it is another's */
	check_one(50004, true, false);
	/* with flow whose time only the next stamp tells, which is behind damage */
	check_one(60021, true, false);
	/* one thread goes back to code that its counts are not of */
	check_one(60011, false, false);
	/* slices that do not fit say that the kernel's code is missing */
	check_one(60006, true, false);
	/* a loss ends the search for a boundary: many messages, and times, come in one step */
	check_one(100047, true, false);
}

int main(void)
{
	struct random_recordings whole = {
		.check = check_recording, .least = 100000, .share = 100, .needs = PROGRAM,
		.seconds = SECONDS, .shared = true };
	struct random_recordings dumps = {
		.check = check_dump, .least = 10000, .share = 25, .needs = PROGRAM,
		.seconds = SECONDS, .dump = true };
	struct random_recordings shared = {
		.check = check_shared, .least = 50000, .share = 50, .needs = PROGRAM,
		.seconds = SECONDS, .shared = true, .damage = true };
	struct random_recordings damaged = whole, damaged_dumps = dumps;
	const struct CMUnitTest tests[] = {
		{ "whole recordings", random_recordings_test, NULL, NULL, &whole },
		{ "damaged recordings", random_recordings_test, NULL, NULL, &damaged },
		{ "damaged shared sinks", random_recordings_test, NULL, NULL, &shared },
		{ "dumps", random_recordings_test, NULL, NULL, &dumps },
		{ "damaged dumps", random_recordings_test, NULL, NULL, &damaged_dumps },
		cmocka_unit_test(same_times),
		cmocka_unit_test(loss_behind_damage),
		cmocka_unit_test(guest_takes_turns),
		cmocka_unit_test(late_source),
		cmocka_unit_test(found_before),
		cmocka_unit_test(time_of_zero),
	};

	damaged.damage = damaged_dumps.damage = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
