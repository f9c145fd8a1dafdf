/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the command line of `perf rvtrace record` says. */
#ifndef PERF_RVTRACE_RECORD_OPTIONS_H
#define PERF_RVTRACE_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record/event.h"
#include "record/trigger.h"

enum record_target { TARGET_SYSTEM, TARGET_COMMAND, TARGET_TASKS };

/* Values of --switches; 0: whatever is best. */
enum record_switches { SWITCHES_PERF = 1, SWITCHES_BPF, SWITCHES_COMMAND, SWITCHES_PIDS };

/* --switch-output: when to begin the next file. */
enum record_switch_output { OUTPUT_ONE, OUTPUT_BY_SIGNAL, OUTPUT_BY_SIZE, OUTPUT_BY_TIME };

/* Sorted; malloc'd. */
struct number_list {
	int *numbers, n;
};

struct record_options {
	const char *output;
	char *event;		/* of the trace; malloc'd */
	const char *filter;
	struct event_list extra;	/* -e of other than trace events */
	const char *tracefs;	/* where it is mounted; NULL: nowhere, or not looked for */
	struct number_list cpus, pids, tids;	/* -C, -p, -t; empty: not given */
	enum record_switches switches;
	struct number_list switch_pids;	/* SWITCHES_PIDS */
	bool system_wide, per_thread, no_inherit, no_code, force, quiet;
	bool all_user, all_kernel;
	bool embed;		/* the kernel's code and symbols, not references to the cache */
	bool index;		/* make an index of each complete file */
	bool auxtrace_info;	/* also for a perf that supports RISC-V trace */
	bool snapshot, snapshot_at_end;	/* -S: newest trace only, until SIGUSR2; or the end */
	struct trigger_list triggers;	/* --trigger: events that make snapshots, too */
	enum record_switch_output switch_output;
	uint64_t switch_at;	/* bytes or seconds */
	uint64_t max_bytes;	/* --max-size; 0: no limit */
	int64_t delay_ms;	/* -D; 0: none, -1: until --control says so */
	const char *control;	/* --control; NULL: not given */
	const char *cgroup;	/* -G; NULL: not given */
	bool start_paused;	/* an event of the group resumes the trace */
	uint32_t aux_sample;	/* --aux-sample: bytes; 0: only where an event says so */
	bool in_samples;	/* only the samples of the group's events have trace */
	const char *user;	/* --uid: name or number; NULL: any */
	bool copy_code;		/* copy code of programs that is in no file */
	uint64_t copy_bytes;	/* at most so many bytes of it */
	uint64_t period, frequency;	/* of CTR samples and extra events; 0: not given */
	uint64_t data_bytes, aux_bytes;	/* of each ring; 0: default */
	int level;		/* -z: of zstd; 0: trace is not compressed */
	const char *profile;	/* format to decode into at once, as .output; NULL: none */
	const char *dso;	/* the file to profile; NULL: the one that ran most */
	const char *keep;	/* with .profile: file for the trace; NULL: not kept */
	char **command;		/* NULL-terminated; NULL: none */
};

/* record/options.c: parses the command line, and prints a message on error. Returns 0 or -errno. */
int record_parse_options(struct record_options *options, int argc, char **argv);
void record_free_options(struct record_options *options);

#endif
