// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Events in perf's syntax: by the numbers of uapi/linux/perf_event.h, and on trees like /sys. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "../../tools/perf-plugin/record/event.h"
#include "../../tools/perf-plugin/common/pmu.h"
#include "../../tools/perf-plugin/common/text.h"

static char root[] = "/tmp/rvt-event-XXXXXX", sysfs[64], tracefs[64];
static struct event_roots roots;

/* @path below the root, with its folders. */
static void make_file(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		snprintf(full, sizeof(full), "%s/%.*s", root, (int)(slash - path), path);
		mkdir(full, 0700);
	}
	snprintf(full, sizeof(full), "%s/%s", root, path);
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
	snprintf(tracefs, sizeof(tracefs), "%s/tracing", root);
	roots = (struct event_roots){ sysfs, tracefs };
	make_file("sys/bus/event_source/devices/cpu/type", "4\n");
	make_file("sys/bus/event_source/devices/cpu/format/event", "config:0-47\n");
	make_file("sys/bus/event_source/devices/cpu/format/firmware", "config:63\n");
	make_file("sys/bus/event_source/devices/cpu/events/stalls", "event=0x21,firmware=1\n");
	make_file("sys/bus/event_source/devices/gaps/type", "5\n");
	make_file("sys/bus/event_source/devices/gaps/format/mode", "config:4-5,63\n");
	make_file("sys/bus/event_source/devices/gaps/format/trigger", "config1:40\n");
	make_file("tracing/events/header_page", "page\n");
	make_file("tracing/events/header_event", "compressed\n");
	make_file("tracing/events/sched/sched_switch/id", "317\n");
	make_file("tracing/events/sched/sched_switch/format", "name: sched_switch\nID: 317\n");
	make_file("tracing/events/sched/sched_wakeup/id", "320\n");
	make_file("tracing/events/sched/sched_wakeup/format", "name: sched_wakeup\n");
	make_file("tracing/events/syscalls/sys_enter_read/id", "901\n");
	make_file("tracing/events/syscalls/sys_enter_read/format", "F");
	make_file("tracing/printk_formats", "0x1 : \"x\"\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

/* Of one event; the caller clears it. */
static struct event *parse(const char *text, struct event_list *list)
{
	char *error = NULL;

	*list = (struct event_list){ 0 };
	if (event_parse(&roots, text, list, &error))
		fail_msg("%s: %s", text, error);
	assert_int_equal(list->n, 1);
	return &list->events[0];
}

static void is_event(const char *text, uint32_t type, uint64_t config)
{
	struct event_list list;
	struct event *event = parse(text, &list);

	if (event->attr.type != type || event->attr.config != config)
		fail_msg("%s: type %u config %llx", text, event->attr.type,
			 (unsigned long long)event->attr.config);
	assert_string_equal(event->name, text);
	event_list_clear(&list);
}

/* Refused, with a message that holds @words. */
static void is_refused(const char *text, const char *words)
{
	struct event_list list = { 0 };
	char *error = NULL;

	assert_int_equal(event_parse(&roots, text, &list, &error), -EINVAL);
	if (!strstr(error, words))
		fail_msg("%s: %s", text, error);
	free(error);
	event_list_clear(&list);
}

static void test_names(void **state)
{
	(void)state;
	is_event("cycles", 0, 0);
	is_event("instructions", 0, 1);
	is_event("branch-misses", 0, 5);
	is_event("bus-cycles", 0, 6);
	is_event("stalled-cycles-frontend", 0, 7);
	is_event("stalled-cycles-backend", 0, 8);
	is_event("ref-cycles", 0, 9);
	is_event("cpu-clock", 1, 0);
	is_event("page-faults", 1, 2);
	is_event("emulation-faults", 1, 8);
	is_event("dummy", 1, 9);
	is_event("r1a8", 4, 0x1a8);
	is_refused("cycle", "there is no event 'cycle'");
	is_refused("r", "there is no event");
	is_refused("rxyz", "there is no event");
	is_refused("", "there is no event");
}

/* cache | operation << 8 | result << 16, as perf_event_open(2) has it. */
static void test_caches(void **state)
{
	(void)state;
	is_event("L1-dcache-loads", 3, 0x000000);
	is_event("L1-dcache-load-misses", 3, 0x010000);
	is_event("L1-dcache-stores", 3, 0x000100);
	is_event("L1-icache-load-misses", 3, 0x010001);
	is_event("LLC-prefetch-misses", 3, 0x010202);
	is_event("LLC-loads", 3, 0x000002);
	is_event("dTLB-store-misses", 3, 0x010103);
	is_event("iTLB-loads", 3, 0x000004);
	is_event("branch-loads", 3, 0x000005);
	is_event("branch-load-misses", 3, 0x010005);
	is_event("node-loads", 3, 0x000006);
	is_event("l1d-write-miss", 3, 0x010100);
	is_event("dTLB-misses", 3, 0x010003);
	is_refused("L1-dcache", "there is no event");
	is_refused("L1-dcache-", "there is no event");
	is_refused("L1-dcache-loads-", "there is no event");
	is_refused("L1-dcache-loads-loads", "there is no event");
	is_refused("L3-loads", "there is no event");
}

static void test_modifiers(void **state)
{
	struct event_list list;
	struct event *event;

	(void)state;
	event = parse("cycles:u", &list);
	assert_int_equal(event->attr.exclude_user, 0);
	assert_int_equal(event->attr.exclude_kernel, 1);
	event_list_clear(&list);
	event = parse("L1-dcache-loads:k", &list);
	assert_int_equal(event->attr.exclude_user, 1);
	assert_int_equal(event->attr.exclude_kernel, 0);
	event_list_clear(&list);
	event = parse("sched:sched_switch:k", &list);
	assert_int_equal(event->attr.exclude_user, 1);
	event_list_clear(&list);
	event = parse("cycles:uk", &list);
	assert_int_equal(event->attr.exclude_user | event->attr.exclude_kernel, 0);
	event_list_clear(&list);
	is_refused("cycles:p", "unknown modifier 'p'");
}

static void test_terms(void **state)
{
	struct event_list list;
	struct event *event;

	(void)state;
	is_event("cpu/event=0x1c2/", 4, 0x1c2);
	is_event("cpu/event=5,firmware/u", 4, 1ULL << 63 | 5);
	is_event("cpu/stalls/", 4, 1ULL << 63 | 0x21);
	is_event("cpu/config=0x10/", 4, 0x10);
	event = parse("cpu/stalls,period=1000,name=waits/k", &list);
	assert_string_equal(event->name, "waits");
	assert_true(event->rate);
	assert_int_equal(event->attr.freq, 0);
	assert_int_equal(event->attr.sample_period, 1000);
	assert_int_equal(event->attr.exclude_user, 1);
	event_list_clear(&list);
	event = parse("cpu-clock/freq=99/u", &list);
	assert_int_equal(event->attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(event->attr.freq, 1);
	assert_int_equal(event->attr.sample_freq, 99);
	assert_int_equal(event->attr.exclude_kernel, 1);
	event_list_clear(&list);
	is_refused("cpu/event=1", "lacks its closing '/'");
	is_refused("cpu/umask=1/", "unknown term 'umask'; valid terms:");
	is_refused("cpu/event=0x1000000000000/", "too large for term 'event', which has 48 bits");
	is_refused("cycles/event=1/", "valid terms: period, freq, name");
	is_refused("cycles/period=0/", "no number of events");
	is_refused("gpu/event=1/", "neither an event nor a PMU 'gpu'");
}

static void test_tracepoints(void **state)
{
	struct event_list list;
	struct event *event;
	char *error = NULL;

	(void)state;
	event = parse("sched:sched_switch", &list);
	assert_string_equal(event->name, "sched:sched_switch");
	assert_string_equal(event->tracepoint, "sched/sched_switch");
	assert_int_equal(event->attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(event->attr.config, 317);
	assert_int_equal(event_parse(&roots, "s*:*", &list, &error), 0);
	assert_int_equal(list.n, 4);
	assert_int_equal(list.events[1].attr.config, 317);
	assert_int_equal(list.events[2].attr.config, 320);
	assert_int_equal(list.events[3].attr.config, 901);
	event_list_clear(&list);
	is_refused("sched:sched_swich", "no tracepoint 'sched:sched_swich'; ls");
	is_refused("scheds:*", "no tracepoint");
	is_refused("..:y", "is no name of a tracepoint");
	roots.tracefs = NULL;
	is_refused("sched:sched_switch", "mount -t tracefs");
	roots.tracefs = tracefs;
}

/*
 * What perf's own reader expects, tools/perf/util/trace-event-read.c in the Linux tree, written
 * out.
 */
static void test_data(void **state)
{
	static const char expected[] = "\027\010\104tracing" "0.6\0" "\0" "\010" "\0\020\0\0"
		"header_page\0" "\005\0\0\0\0\0\0\0" "page\n"
		"header_event\0" "\013\0\0\0\0\0\0\0" "compressed\n"
		"\0\0\0\0"
		"\002\0\0\0"
		"sched\0" "\001\0\0\0" "\033\0\0\0\0\0\0\0" "name: sched_switch\nID: 317\n"
		"syscalls\0" "\001\0\0\0" "\001\0\0\0\0\0\0\0" "F"
		"\0\0\0\0"
		"\012\0\0\0" "0x1 : \"x\"\n"
		"\0\0\0\0\0\0\0";	/* and the 0 that ends the string */
	struct event_list list = { 0 };
	char *error;
	void *data;
	size_t len;

	(void)state;
	assert_int_equal(event_parse(&roots, "cycles", &list, &error), 0);
	assert_int_equal(tracepoint_data(tracefs, &list, &data, &len), -ENOENT);
	assert_int_equal(event_parse(&roots, "sched:sched_switch", &list, &error), 0);
	assert_int_equal(event_parse(&roots, "syscalls:*", &list, &error), 0);
	assert_int_equal(tracepoint_data(tracefs, &list, &data, &len), 0);
	assert_int_equal(len, sizeof(expected));
	assert_memory_equal(data, expected, len);
	free(data);
	event_list_clear(&list);
}

static void test_lists(void **state)
{
	(void)state;
	assert_int_equal(event_length("cycles:u,faults"), 8);
	assert_int_equal(event_length("cpu/event=1,firmware/u,faults"), 22);
	assert_int_equal(event_length("cpu/event=1,firmware"), 20);
	assert_int_equal(event_length(""), 0);
	assert_int_equal(event_length("a"), 1);
}

static void test_values(void **state)
{
	struct perf_event_attr attr = { .config = 0x8000000000001234 };
	struct pmu pmu;

	(void)state;
	assert_int_equal(pmu_read(&pmu, sysfs, "gaps"), 0);
	/* bits 4, 5 and 63 of 0x8000000000001234, low first: 1 1 1 */
	assert_int_equal(pmu_value(&pmu, "mode", &attr), 7);
	assert_int_equal(pmu_value(&pmu, "trigger", &attr), 0);
	pmu_switch_on(&pmu, "mode", &attr);
	assert_int_equal(attr.config, 0x1214);
	pmu_switch_on(&pmu, "trigger", &attr);
	assert_int_equal(attr.config1, 1ULL << 40);
	assert_int_equal(pmu_value(&pmu, "trigger", &attr), 1);
	pmu_switch_on(&pmu, "no_such_term", &attr);
	assert_int_equal(attr.config, 0x1214);
	assert_int_equal(pmu_value(&pmu, "no_such_term", &attr), 0);
}

static void test_words(void **state)
{
	(void)state;
	assert_true(has_word("1 etrace\n2 ntrace", "ntrace"));
	assert_true(has_word("3, 6", "3"));
	assert_false(has_word("13, 6", "3"));
	assert_false(has_word("implicit_return", "implicit"));
	assert_false(has_word("all_jumps", "all_jumps_too"));
	assert_false(has_word("", "a"));
	assert_false(has_word(NULL, "a"));
}

static void action_is(const char *given, const char *left, uint32_t expected)
{
	char *text = strdup(given), *error;
	uint32_t action;

	assert_int_equal(event_take_aux_action(text, &action, &error), 0);
	assert_string_equal(text, left);
	assert_int_equal(action, expected);
	free(text);
}

static void test_aux_actions(void **state)
{
	char wrong[] = "cycles/aux-action=restart,period=5/";
	struct perf_event_attr attr = { 0 };
	uint32_t action;
	char *error;

	(void)state;
	action_is("cycles", "cycles", 0);
	action_is("cycles/period=5/u", "cycles/period=5/u", 0);
	action_is("cycles/aux-action=pause/u", "cycles//u", EVENT_AUX_PAUSE);
	action_is("cycles/aux-action=resume,period=5/u", "cycles/period=5/u", EVENT_AUX_RESUME);
	action_is("cycles/period=5,aux-action=resume/", "cycles/period=5/", EVENT_AUX_RESUME);
	action_is("cpu/a=1,aux-action=pause,b=2/", "cpu/a=1,b=2/", EVENT_AUX_PAUSE);
	action_is("rvtrace/aux-action=start-paused/k", "rvtrace//k", EVENT_AUX_START_PAUSED);
	/* tracepoints have no terms */
	action_is("sched:sched_switch/aux-action=pause/", "sched:sched_switch", EVENT_AUX_PAUSE);
	action_is("sched:sched_switch/aux-action=pause/u", "sched:sched_switch:u",
		  EVENT_AUX_PAUSE);
	assert_int_equal(event_take_aux_action(wrong, &action, &error), -EINVAL);
	assert_non_null(strstr(error, "not 'restart'"));
	free(error);
	event_set_aux_action(&attr, EVENT_AUX_RESUME);
	assert_int_equal(((uint32_t *)&attr)[29], EVENT_AUX_RESUME);	/* at byte 116 of the ABI */
	assert_int_equal(event_length("{rvtrace//,cycles/period=5/u},faults"),
			 strlen("{rvtrace//,cycles/period=5/u}"));
	assert_int_equal(event_length("{rvtrace//,cycles}"), 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_caches),
		cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_tracepoints),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_aux_actions),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
