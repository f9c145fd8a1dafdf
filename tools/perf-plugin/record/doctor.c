// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * `perf rvtrace doctor`: finds out whether the trace hardware of this machine works, component by
 * component, and what to try where it does not.
 */
#include <ftw.h>
#include <getopt.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/json.h"
#include "common/text.h"
#include "record/doctor.h"
#include "record/missing.h"
#include "record/record.h"

#define PMU "bus/event_source/devices/" RECORD_PMU
#define DEVICES "bus/rvtrace/devices"
/* Above this, perf_event_paranoid forbids users without capability to record even programs. */
#define PARANOID_USER 2

/* ---- what there is ---- */

static unsigned int n_nodes;

/* Counts a node of the devicetree that the driver binds to. */
static int count_node(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	if (type == FTW_F && !strcmp(path + where->base, "compatible") && record_is_component(path))
		n_nodes++;
	return 0;
}

static void check_nodes(const char *sysfs, size_t n_components)
{
	char *tree;

	if (asprintf(&tree, "%s/firmware/devicetree/base", sysfs) < 0)
		return;
	nftw(tree, count_node, 8, FTW_PHYS);
	free(tree);
	if (n_nodes > n_components)
		doctor_tell(VERDICT_BAD, "devicetree", "'dmesg | grep rvtrace' says what is wrong "
			    "with them, /sys/kernel/debug/devices_deferred what they wait for",
			    "%u of %u trace components are not in use",
			    n_nodes - (unsigned int)n_components, n_nodes);
	else if (n_nodes)
		doctor_tell(VERDICT_GOOD, "devicetree", NULL, "%u trace components, all in use",
			    n_nodes);
}

/* Checks the driver. Returns false if there is nothing more to check. */
static bool check_driver(const char *sysfs)
{
	char *type = read_text("%s/" PMU "/type", sysfs);
	bool there = type;

	free(type);
	if (there)
		doctor_tell(VERDICT_GOOD, "driver", NULL, "loaded, with the event " RECORD_PMU);
	else
		doctor_tell(VERDICT_BAD, "driver", "'perf rvtrace list' says what is missing",
			    "there is no event " RECORD_PMU);
	return there;
}

static void check_cpus(const char *sysfs)
{
	char *online = read_text("%s/devices/system/cpu/online", sysfs);
	char *covered = read_text("%s/" PMU "/cpumask", sysfs);
	int *cpus = NULL, *with = NULL, n, n_with;

	n = online ? parse_numbers(online, &cpus) : 0;
	n_with = covered ? parse_numbers(covered, &with) : 0;
	for (int i = 0; i < n; i++) {
		int k = 0;

		while (k < n_with && with[k] != cpus[i])
			k++;
		if (k < n_with)
			continue;
		doctor_tell(VERDICT_NOTE, "cpus", "what runs there is not recorded; if it has an "
			    "encoder, its devicetree node says which cpu it belongs to (\"cpus\")",
			    "cpu %d has no encoder", cpus[i]);
	}
	free(cpus);
	free(with);
	free(online);
	free(covered);
}

/* ---- components ---- */

static void check_encoder(const char *dir, const char *name)
{
	char *protocol = read_text("%s/protocol", dir), *cpu = read_text("%s/cpu", dir);
	char *version = read_text("%s/protocol_version", dir);
	char *mode = read_text("%s/timestamp_mode", dir);
	char *frequency = read_text("%s/timestamp_frequency", dir);
	char *clock = read_text("%s/decoder/timestamp_clock", dir);
	char *features = read_text("%s/features", dir);

	doctor_tell(VERDICT_GOOD, name, NULL, "%s %s of cpu %s", protocol ? protocol : "?",
		    version ? version : "?", cpu ? cpu : "?");
	if (!mode || !strcmp(mode, "none"))
		doctor_tell(VERDICT_NOTE, name, "order among cpus, and times, are those of AUX "
			    "records only", "no time stamps");
	else if (clock && !strcmp(clock, "own"))
		doctor_tell(VERDICT_NOTE, name, "times are those of AUX records", "time stamps "
			    "(%s) are not the platform's time counter", mode);
	else if (!frequency || !strcmp(frequency, "0"))
		doctor_tell(VERDICT_NOTE, name,
			    "rvtrace,timestamp-frequency in the devicetree says it",
			    "time stamps (%s) at a rate that is not known", mode);
	if (!has_word(features, "context"))
		doctor_tell(VERDICT_NOTE, name, "threads are told by context switches, to about a "
			    "message; in containers not at all", "no thread ids in the trace");
	free(protocol);
	free(cpu);
	free(version);
	free(mode);
	free(frequency);
	free(clock);
	free(features);
}

static void check_ramsink(const char *dir, const char *name)
{
	char *memory = read_text("%s/memory", dir), *access = read_text("%s/access_bytes", dir);
	char *stops = read_text("%s/stop_on_wrap", dir);

	doctor_tell(VERDICT_GOOD, name, NULL, "writes to %s, %s bytes at a time",
		    memory && !strcmp(memory, "sram") ? "a memory of its own" : "system memory",
		    access ? access : "?");
	if (stops && !strcmp(stops, "0"))
		doctor_tell(VERDICT_NOTE, name, "what it overwrites is flagged as lost; larger "
			    "buffers (-m) make that rarer", "it cannot stop when it is full");
	free(memory);
	free(access);
	free(stops);
}

static void check_component(const char *dir)
{
	const char *name = strrchr(dir, '/') + 1;
	char *type = read_text("%s/type", dir), *state = read_text("%s/state", dir);

	if (state && !strcmp(state, "broken"))
		doctor_tell(VERDICT_BAD, name, "its clock, reset or power domain may be off; "
			    "'dmesg | grep rvtrace' names what it did not answer",
			    "it does not answer");
	else if (!type)
		doctor_tell(VERDICT_NOTE, name, NULL, "the driver does not say what it is");
	else if (!strcmp(type, "encoder"))
		check_encoder(dir, name);
	else if (!strcmp(type, "ramsink"))
		check_ramsink(dir, name);
	else if (!strcmp(type, "funnel"))
		doctor_tell(VERDICT_GOOD, name, NULL, "merges the trace of several encoders");
	else
		doctor_tell(VERDICT_NOTE, name, "what a probe or another driver takes there is "
			    "decoded by 'perf rvtrace decode'", "trace leaves the chip here");
	free(type);
	free(state);
}

static void check_components(const char *sysfs)
{
	char *pattern;
	glob_t found = { 0 };

	if (asprintf(&pattern, "%s/" DEVICES "/*", sysfs) < 0)
		return;
	if (glob(pattern, 0, NULL, &found))
		found.gl_pathc = 0;
	check_nodes(sysfs, found.gl_pathc);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check_component(found.gl_pathv[i]);
	globfree(&found);
	free(pattern);
}

/* ---- recording ---- */

static void check_rights(void)
{
	char *text = read_text("/proc/sys/kernel/perf_event_paranoid");

	if (text && geteuid() && atoi(text) > PARANOID_USER)
		doctor_tell(VERDICT_NOTE, "rights", "kernel.perf_event_paranoid is above 2: root, "
			    "or CAP_PERFMON, records", "this user may not record");
	free(text);
}

static void record_cpus(const char *sysfs)
{
	char *text = read_text("%s/" PMU "/cpumask", sysfs), *encoder;
	int *cpus = NULL, n;

	n = text ? parse_numbers(text, &cpus) : 0;
	for (int i = 0; i < n; i++) {
		if (asprintf(&encoder, "%s/" DEVICES "/encoder-%d", sysfs, cpus[i]) < 0)
			break;
		doctor_record((unsigned int)cpus[i], encoder);
		free(encoder);
	}
	free(cpus);
	free(text);
}

static const char help[] =
"usage: perf rvtrace doctor [OPTIONS]\n"
"Says whether the trace hardware of this machine works: looks at each component, then records a\n"
"known loop on each cpu, decodes it and compares. What is not right has the next thing to try.\n\n"
"      --no-record       only look\n"
"      --sysfs DIR       only look at a copy of another machine's /sys\n"
"      --json            an object a line (see Documentation/json.rst)\n"
"      --loop CPU        run the known loop: what is recorded\n";

enum { OPT_SYSFS = 256, OPT_JSON, OPT_NO_RECORD, OPT_LOOP };

int cmd_doctor(int argc, char **argv)
{
	static const struct option options[] = {
		{ "sysfs", required_argument, NULL, OPT_SYSFS },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "no-record", no_argument, NULL, OPT_NO_RECORD },
		{ "loop", required_argument, NULL, OPT_LOOP },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *sysfs = "/sys";
	bool record = true;
	uint64_t cpu;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (c) {
		case 'h':
			fputs(help, stdout);
			return 0;
		case OPT_SYSFS:
			sysfs = optarg;
			record = false;
			break;
		case OPT_JSON:
			doctor_json = true;
			break;
		case OPT_NO_RECORD:
			record = false;
			break;
		case OPT_LOOP:
			if (cmd_number("--loop", optarg, 0, CPU_SETSIZE - 1, &cpu))
				return 1;
			return doctor_loop((unsigned int)cpu);
		default:
			return cmd_try_help(1);
		}
	}
	if (cmd_first_word())
		return cmd_surplus(1, cmd_first_word(), "");
	if (doctor_json && json_supported())
		return 1;
	check_components(sysfs);
	if (check_driver(sysfs)) {
		check_cpus(sysfs);
		if (record) {
			check_rights();
			record_cpus(sysfs);
		}
	}
	return doctor_conclude();
}
