// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * `perf rvtrace index` as a person uses it: views print the same with an index and without one,
 * whatever the filters, the jobs and the segments; and an index that does not fit is not used. Uses
 * build/host/perf-rvtrace-small-slices (tests/tools/small-slices.c); skipped where there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "property.h"
#include "random-recording.h"
#include "run-command.h"

#define PROGRAM SMALL_SLICES_PROGRAM
#define SECONDS "RVT_JOBS_SECONDS"
#define DECODED "bytes of trace are decoded"
#define REFUTED "is not what the index says"

static const char *const views[] = {
	"script", "script --by-cpu", "script --insn-trace=raw", "script --itrace=cre",
	"report --sort comm,tid,sym", "profile --format counts",
};

/* Those that keep call stacks. */
static const char *const stack_views[] = {
	"report --no-pager -g", "report --no-pager -g callee --json",
	"latency --no-pager", "latency --no-pager --json", "profile --format folded",
	"profile --format callgrind", "report --html /dev/stdout",
};

#define STACK_VIEWS (sizeof(stack_views) / sizeof(*stack_views))

/* ---- what commands print ---- */

/* Takes away the line that has @what; true: there was one. */
static bool take_line(char *text, const char *what)
{
	char *at = strstr(text, what), *end;

	if (!at)
		return false;
	end = strchr(at, '\n') + 1;
	while (at > text && at[-1] != '\n')
		at--;
	memmove(at, end, strlen(end) + 1);
	return true;
}

/* Of how many bytes the line says that they are decoded, of how many. */
static void decoded(const char *text, unsigned long *part, unsigned long *all)
{
	const char *at = strstr(text, DECODED);

	assert_non_null(at);
	while (at > text && at[-1] != '\n')
		at--;
	at = strstr(at, ": ") + 2;
	assert_int_equal(sscanf(at, "%lu of %lu", part, all), 2);
}

struct seen {
	size_t printed, compared, used, refuted;
	unsigned long decoded, all;
};

/* @chosen and @whole, which are freed, are what @command printed with the index and without it. */
static void check_printed(const char *data, const char *command, char *whole, char *chosen,
			  struct seen *seen)
{
	unsigned long part, all;

	if (strstr(chosen, DECODED)) {
		decoded(chosen, &part, &all);
		seen->used++;
		seen->decoded += part;
		seen->all += all;
	}
	/* what is decoded twice says so twice */
	while (take_line(chosen, DECODED))
		;
	while (take_line(chosen, REFUTED))
		seen->refuted++;
	if (strcmp(whole, chosen))
		fail_msg("%s: %s: with the index\n%.400s\nwithout it\n%.400s", data, command,
			 chosen, whole);
	seen->compared++;
	seen->printed += strlen(whole);
	free(whole);
	free(chosen);
}

/* @jobs: as an option, or "". */
static void check_view(const char *data, const char *view, const char *filter, unsigned int bytes,
		       const char *jobs, struct seen *seen)
{
	char *whole = run_command("SMALL_SLICES=%u " PROGRAM " %s -i %s %s %s --no-index 2>&1",
				  bytes, view, data, filter, jobs);
	char *chosen = run_command("SMALL_SLICES=%u " PROGRAM " %s -i %s %s %s --verbose 2>&1",
				   bytes, view, data, filter, jobs);
	char command[512];

	snprintf(command, sizeof(command), "SMALL_SLICES=%u %s %s %s", bytes, view, filter, jobs);
	check_printed(data, command, whole, chosen, seen);
}

/* ---- the server of debuggers ---- */

#define STEPS_EACH 40

/* Packets that step forwards from the beginning, and backwards from the end. */
static char *make_packets(void)
{
	static const char *const ends[] = {
		"qfThreadInfo", "qsThreadInfo",
		"qRcmd,74687265616473" /* threads */, "qRcmd,6c6f73736573" /* losses */,
		"c", "p20",
	};
	char *packets = NULL;
	size_t len;
	FILE *out = open_memstream(&packets, &len);

	assert_non_null(out);
	for (unsigned int i = 0; i < 4 * STEPS_EACH + 6; i++) {
		const unsigned int n = i % (2 * STEPS_EACH + 6);
		const char *data = i >= 2 * STEPS_EACH + 6 ? i % 2 ? "p20" : "bs" :
				   n < 2 * STEPS_EACH ? n % 2 ? "p20" : "s" :
				   ends[n - 2 * STEPS_EACH];
		unsigned int sum = 0;

		for (const char *c = data; *c; c++)
			sum += (uint8_t)*c;
		fprintf(out, "$%s#%02x", data, sum & 255);
	}
	fclose(out);
	return packets;
}

static char *run_server(const char *data, const char *packets, const char *filter,
			unsigned int bytes, const char *option)
{
	return run_command("d=$(mktemp -d); printf %%s '%s' | SMALL_SLICES=%u " PROGRAM
			   " gdb -i %s %s %s 2>$d/errors >$d/out; s=$?; cat $d/errors; "
			   "tr '$' '\\n' <$d/out; rm -r $d; exit $s", packets, bytes, data,
			   filter, option);
}

static void check_server(const char *data, const double *times, size_t n, struct random *random,
			 struct seen *seen)
{
	const size_t from = random_below(random, n), to = from + random_below(random, n / 8 + 1);
	const unsigned int bytes = 150 << random_below(random, 4);
	char *packets = make_packets(), filter[128];

	snprintf(filter, sizeof(filter), "--time %.9f,%.9f", times[from],
		 times[to < n ? to : n - 1]);
	check_printed(data, filter, run_server(data, packets, filter, bytes, "--no-index"),
		      run_server(data, packets, filter, bytes, "--verbose"), seen);
	free(packets);
}

/* ---- recordings ---- */

static int compare_times(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The times that the lines of all of it have, in order. */
static double *list_times(const char *data, size_t *n)
{
	char *text = run_command(PROGRAM " script -i %s --no-index -F time,ip 2>/dev/null",
				 data), *line;
	char *rest = text;
	double *times = NULL;

	*n = 0;
	while ((line = strsep(&rest, "\n"))) {
		char *end;
		double time = strtod(line, &end);

		if (*end != ':')
			continue;
		times = realloc(times, (*n + 1) * sizeof(*times));
		times[(*n)++] = time;
	}
	if (*n)
		qsort(times, *n, sizeof(*times), compare_times);
	free(text);
	return times;
}

static void choose_filter(char *filter, size_t size, const double *times, size_t n, uint64_t kind,
			  struct random *random)
{
	static const char *const others[] = {
		"--tid 1", "--tid 2,3", "--comms process", "--cpu 1", "--comms none",
		"--pid 1 --cpu 0",
	};
	size_t from = random_below(random, n), to = from + random_below(random, n / 8 + 1);

	if (kind % 3 == 2) {
		snprintf(filter, size, "%s",
			 others[random_below(random, sizeof(others) / sizeof(*others))]);
		return;
	}
	to = to < n ? to : n - 1;
	if (!random_below(random, 4))
		snprintf(filter, size, "--time '%.9f,%.9f %.9f,'", times[from / 2],
			 times[to / 2], times[from]);
	else if (random_below(random, 4))
		snprintf(filter, size, "--time %.9f,%.9f %s", times[from], times[to],
			 kind & 1 ? "" : others[random_below(random, 4)]);
	else
		snprintf(filter, size, random_below(random, 2) ? "--time %.9f," : "--time ,%.9f",
			 times[from]);
}

/* The name of a function that `latency` has measured, or any. */
static void choose_function(const char *data, char *name, size_t size, struct random *random)
{
	char *text = run_command(PROGRAM " latency --no-pager --json -i %s --no-index 2>/dev/null",
				 data), *line, *rest = text;
	size_t n = 0;

	snprintf(name, size, "none");
	while ((line = strsep(&rest, "\n"))) {
		char *found = strstr(line, "\"sym\":\""), *end;

		if (!found)
			continue;
		found += strlen("\"sym\":\"");
		end = strchr(found, '"');
		if (random_below(random, ++n))
			continue;
		snprintf(name, size, "'%.*s'", (int)(end - found), found);
	}
	free(text);
}

static void check_stacks(const char *data, const double *times, size_t n, struct random *random,
			 struct seen *seen)
{
	static const char *const more[] = { "", "--slowest 2", "--over 1us", "--json --slowest 1" };
	const char *view = stack_views[random_below(random, STACK_VIEWS)];
	char filter[128], function[256], latency[300];

	choose_filter(filter, sizeof(filter), times, n, random_below(random, 2), random);
	check_view(data, view, filter, 150 << random_below(random, 4), "", seen);
	choose_function(data, function, sizeof(function), random);
	snprintf(latency, sizeof(latency), "latency --no-pager %s %s",
		 more[random_below(random, 4)], function);
	check_view(data, latency, "", 150 << random_below(random, 4), "", seen);
	check_view(data, latency, filter, 150 << random_below(random, 4), "", seen);
}

static struct seen all_seen, all_stacks, all_servers;

/* Segments that do not fit are put together, and all of them are decoded if they must be. */
static void check_filters(const char *data, uint64_t seed, struct seen *seen,
			  struct seen *stacks_seen)
{
	static const unsigned int jobs[] = { 1, 2, 3, 8 };
	size_t n;
	double *times = list_times(data, &n);
	unsigned int segment = 150 << seed % 4;
	char *made = run_command("SMALL_SLICES=%u " PROGRAM " index --calls -i %s --jobs %u 2>&1",
				 segment, data, jobs[seed / 2 % 4]);
	struct random random[1];
	char filter[128], wanted[32];

	random_seed(random, seed);
	/* without time stamps there are no segments, nor where damage confuses several harts */
	if (strcmp(made, "status 0\n") && !strstr(made, "no time stamps") &&
	    !strstr(made, "so damaged"))
		fail_msg("%s", made);
	for (size_t v = 0; v < sizeof(views) / sizeof(*views) && n; v++) {
		choose_filter(filter, sizeof(filter), times, n, seed + v, random);
		snprintf(wanted, sizeof(wanted), "--jobs %u", jobs[random_below(random, 4)]);
		check_view(data, views[v], filter, 150 << random_below(random, 4), wanted, seen);
	}
	if (n) {
		check_stacks(data, times, n, random, stacks_seen);
		check_server(data, times, n, random, &all_servers);
	}
	free(made);
	free(times);
}

static size_t check_recording(struct fixture *f, uint64_t seed)
{
	char path[256];

	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	check_filters(f->data, seed, &all_seen, &all_stacks);
	snprintf(path, sizeof(path), "%s.rvtrace-index", f->data);
	unlink(path);
	return 1;
}

static void print_seen(const char *what, const struct seen *seen)
{
	print_message("%zu %s compared, %zu with the index; %lu of %lu bytes decoded, %zu times "
		      "all again\n", seen->compared, what, seen->used, seen->decoded, seen->all,
		      seen->refuted);
}

static void random_indexes(void **state)
{
	struct random_recordings *test = *state;
	bool damage = test->damage;

	all_seen = all_stacks = all_servers = (struct seen){ 0 };
	random_recordings_test(state);
	print_seen("views", &all_seen);
	print_seen("views of calls", &all_stacks);
	print_seen("servers of debuggers", &all_servers);
	assert_true(all_seen.printed > 1000 * all_seen.compared / 4);
	assert_true(all_seen.used > all_seen.compared / 4);
	assert_true(all_stacks.used >= all_stacks.compared / 20);
	assert_true(all_servers.used >= all_servers.compared / 20);
	assert_true(damage || all_seen.decoded < all_seen.all / 10 * 9);
	/* which of two segments tells what is lost between them depends on the overlap */
	assert_true(all_seen.refuted <= all_seen.used / 4);
}

/* ---- an index that does not fit ---- */

static void put_processes(struct fixture *f)
{
	begin_recording(f, true, true);
	for (int n = 0; n < CPUS; n++) {
		put_comm(f, n + 1, 0, false, "process");
		put_mmap(f, n + 1, 0, f->programs[2 * n]);
		f->ticks = 1000;
		run_steps(f, n, n + 1, 2 * n, STEPS);
		put_aux(f, n, n + 1, 0);
	}
	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
}

static void make_index(const struct fixture *f)
{
	char *made = run_command("SMALL_SLICES=300 " PROGRAM " index -i %s 2>&1", f->data);

	assert_string_equal(made, "status 0\n");
	free(made);
}

/* @why: it is not used, and that is said; NULL: it is. */
static void check_used(const struct fixture *f, const char *why)
{
	char *whole = run_command(PROGRAM " script -i %s --tid 2 --no-index 2>&1", f->data);
	char *chosen = run_command(PROGRAM " script -i %s --tid 2 --verbose 2>&1", f->data);

	assert_int_equal(take_line(chosen, DECODED), !why);
	if (why) {
		assert_non_null(strstr(chosen, why));
		assert_true(take_line(chosen, "is not used"));
	}
	assert_string_equal(chosen, whole);
	free(whole);
	free(chosen);
}

/* Changes a byte of the file, or (@at < 0) cuts off its end. */
static void spoil(const char *path, long at)
{
	FILE *file = fopen(path, "r+");
	int c;

	assert_non_null(file);
	if (at < 0) {
		fseek(file, 0, SEEK_END);
		assert_int_equal(ftruncate(fileno(file), ftell(file) + at), 0);
	} else {
		fseek(file, at, SEEK_SET);
		c = getc(file);
		fseek(file, at, SEEK_SET);
		putc(c ^ 0x10, file);
	}
	fclose(file);
}

static void unfit(void **state)
{
	static const long damages[] = { 0, 8, 13, 50, 200, -1, -100 };
	struct fixture *f;
	char path[256], command[512];

	(void)state;
	if (access(PROGRAM, X_OK))
		skip();
	session_setup((void **)&f);
	put_processes(f);
	snprintf(path, sizeof(path), "%s.rvtrace-index", f->data);
	make_index(f);
	check_used(f, NULL);
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		spoil(path, damages[i]);
		check_used(f, "it is damaged");
		make_index(f);
		check_used(f, NULL);
	}
	spoil(path, 7);
	check_used(f, "another version of this program made it");
	make_index(f);
	snprintf(command, sizeof(command), ": >%s", path);
	assert_int_equal(system(command), 0);
	check_used(f, "it is damaged");
	make_index(f);
	snprintf(command, sizeof(command), "touch %s", f->programs[2]);
	assert_int_equal(system(command), 0);
	check_used(f, "is another");
	make_index(f);
	snprintf(command, sizeof(command), "touch %s", f->data);
	assert_int_equal(system(command), 0);
	check_used(f, "is another");
	make_index(f);
	check_used(f, NULL);
	unlink(path);
	session_teardown((void **)&f);
}

int main(void)
{
	struct random_recordings whole = {
		.check = check_recording, .least = 1, .share = 50, .needs = PROGRAM,
		.seconds = SECONDS, .shared = true };
	struct random_recordings damaged = whole;
	const struct CMUnitTest tests[] = {
		{ "whole recordings", random_indexes, NULL, NULL, &whole },
		{ "damaged recordings", random_indexes, NULL, NULL, &damaged },
		cmocka_unit_test(unfit),
	};

	damaged.damage = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
