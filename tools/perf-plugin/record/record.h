/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of `perf rvtrace record` share. */
#ifndef PERF_RVTRACE_RECORD_H
#define PERF_RVTRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <rvtrace/kernel-code.h>
#include <rvtrace/perfdata.h>
#include "record/code-list.h"
#include "common/output.h"
#include "common/pmu.h"
#include "record/index.h"
#include "record/options.h"
#include "record/ring.h"

#define RECORD_PMU "rvtrace"
#define RECORD_CTR_PMU "riscv_ctr"
#define RECORD_ENCODERS "/sys/bus/rvtrace/devices/encoder-*"
#define RECORD_SAMPLE_TYPE \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU)

#define BPF_OUTPUT_LINKS 16
/* Reasons not to use BPF programs. */
#define RECORD_WITHOUT_BPF "this was built without libbpf or clang"
#define RECORD_IN_CONTAINER "BPF has other numbers of threads than this container"

#define RECORD_CHILD_NAME "perf-exec"	/* comm of a command before its exec; as in perf */

/* An event that is sampled beside the trace. The struct event owns .name. */
struct extra_event {
	const char *name;
	struct perf_event_attr attr;
	bool grouped;		/* the trace leads its group */
	bool asked;		/* by -e, so -G holds for it */
	const char *filter;	/* of the struct event, which owns it */
	unsigned int trigger;	/* number of its trigger, from 1; 0: none */
	bool counted;		/* count how often it happens, too */
	uint64_t *ids;
	size_t n_ids;
};

/* BPF programs of the recorder, and the event that they write to. All zero: none. */
struct bpf_output {
	struct bpf_object *object;
	struct bpf_link *links[BPF_OUTPUT_LINKS];
	size_t n_links;
	struct extra_event event;
};

struct event_fd {
	int fd;
	unsigned int ring;
	bool trace;
	bool bpf;		/* BPF programs of ours write to it */
	pid_t tid;
	unsigned int trigger;	/* as in struct extra_event */
};

/* --control: descriptors (-1: none), and an incomplete line. */
struct record_commands {
	int in, ack;
	char text[256];
	size_t len;
};

struct recorder {
	int argc;		/* the command line, for the file */
	char **argv;
	struct record_options options;
	enum record_target target;
	bool ctr;		/* Control Transfer Records instead of a trace */
	const char *pmu_name;
	struct pmu pmu;
	struct perf_event_attr trace_attr, side_attr;
	struct extra_event *extra;	/* one for each of options.extra */
	size_t n_extra;
	struct bpf_output code, switches, user_code;
	int *encoder_cpus, *online_cpus;
	const int *trace_cpus;	/* .encoder_cpus or .options.cpus */
	int n_encoder_cpus, n_online_cpus, n_trace_cpus;
	pid_t command_pid;	/* 0: none */
	pid_t *tids;		/* TARGET_TASKS, TARGET_COMMAND */
	size_t n_tids;
	int cgroup;		/* -G: its directory; -1: none */
	struct ring *rings;
	size_t n_rings;
	struct event_fd *fds;
	size_t n_fds;
	uint64_t *trace_ids, *side_ids;
	size_t n_trace_ids, n_side_ids;
	struct rvt_perfdata_writer *writer;	/* of the trace; NULL: there is no file of it */
	const char *path;	/* of that file */
	struct output_file output;
	struct live *live;	/* --profile; NULL: no profile */
	char *filter;		/* resolved; NULL: none */
	uint64_t user_pages_bytes;	/* copied of programs' code from before */
	uint64_t trace_bytes;	/* AUX data written */
	uint64_t trace_before;	/* and before the current file */
	void *packed;		/* buffer for a compressed piece of it */
	size_t packed_room;
	struct record_commands commands;
	bool delayed;		/* -D: tracing has not begun yet */
	bool paused;		/* tracing is off until record_resume() */
	bool stop;		/* the recording is to end */
	char *output_name;	/* current file of --switch-output; malloc'd */
	double output_began;	/* s */
	unsigned int files;	/* begun so far */
	unsigned int snapshots, file_snapshots;	/* in all, and in the current file */
	struct index_queue indexes;	/* --index */
	uint64_t gaps, lost_records;	/* flagged AUX records, PERF_RECORD_LOST */
};

/* record/options.c: prints its own message and returns 0 or -errno. */
int record_parse_event(struct recorder *rec, bool *modified);
enum record_target record_target(const struct record_options *options);

/* record/target.c: each prints its own message and returns 0 or -errno. */
int record_choose_cpus(struct recorder *rec);
/* Sets .target, and the threads of -p and -t. */
int record_choose_tasks(struct recorder *rec);
/* Sets the command: the process @pid, which waits for its exec. */
int record_choose_command(struct recorder *rec, pid_t pid);

/* Opens .cgroup by options.cgroup. */
int record_choose_cgroup(struct recorder *rec);

/* record/pmu.c: returns the event's value of this term; 0 if there is no such term. */
uint64_t record_term(const struct recorder *rec, const char *name);
/*
 * Returns whether @term is an option of one bit. The files `features` of the PMU and of encoders
 * list the ones that they have.
 */
bool record_is_feature(const char *term);
/*
 * Read a file of the PMU's caps/, malloc'd, NULL: there is none; and return whether it has @word.
 */
char *record_caps(const char *file);
bool record_caps_have(const char *file, const char *word);
/* Returns false if a hart has no such CSR. */
bool record_has_scontext(void);
/* Returns the width of the CSR hcontext; 0: not all harts have it. */
unsigned int record_hcontext_bits(void);
/* Returns false if the event asks for E-Trace, or an encoder has nothing else. */
bool record_wants_ntrace(const struct recorder *rec);

/*
 * record/file.c: begin a file with what exists already, and end it with the feature sections of
 * .writer. Print messages. @path stays the caller's.
 */
int record_begin_file(struct recorder *rec, const char *path);
int record_end_file(struct recorder *rec);

/*
 * record/filter.c: changes --filter to numbers that the kernel takes (malloc'd). Returns 0, or
 * -errno after a message.
 */
int record_resolve_filter(const char *text, char **result);

/*
 * record/extra.c: events that are sampled beside the trace. Each returns 0, or -errno after a
 * message. record_prepare_extra() comes when .trace_attr is complete.
 */
int record_add_extra(struct record_options *options, const char *event);
int record_prepare_extra(struct recorder *rec);
int record_explain_extra(const struct extra_event *extra, int err, pid_t tid, int cpu);

/* record/events.c: opens every event and maps every ring. Returns 0, or -errno after a message. */
int record_open(struct recorder *rec);
/*
 * Opens one more event into ring @n, which is mapped. It is no error if one of several threads has
 * ended meanwhile.
 */
int record_open_extra(struct recorder *rec, unsigned int n, pid_t tid, struct extra_event *extra);
void record_close(struct recorder *rec);

/*
 * record/switch-output.c: tells whether the next file is due, and changes to it.
 * record_note_output() notes that a file begins. record_take_snapshot() takes a snapshot now, in a
 * file of its own if options.switch_output says so. Return 0, or -errno after a message.
 */
int record_take_snapshot(struct recorder *rec);
char *record_output_name(const struct recorder *rec);
bool record_is_switch_due(const struct recorder *rec, bool signalled);
void record_note_output(struct recorder *rec);
int record_switch_output(struct recorder *rec);

/*
 * record/refused.c: tells which terms of the event the hardware refuses. Returns false if it finds
 * none.
 */
bool record_explain_refused(const struct recorder *rec, int cpu);

/* record/read-rings.c: writes what the rings hold. Returns an -errno of the output file. */
int record_drain(struct recorder *rec, bool last);
/* Writes what overwritten AUX buffers hold, while tracing is held; @last: the file ends with it. */
int record_newest(struct recorder *rec, bool last);
/* Returns whether these buffers have got anything since then but idle bytes. */
bool record_has_newer(const struct recorder *rec);

/*
 * record/meta.c: makes the metadata text, malloc'd, or NULL after a message. @info, which the
 * caller has zeroed and frees, gets the same in perf's form (for a PMU that has trace).
 */
struct rvt_perfdata_info;
char *record_metadata(struct recorder *rec, struct rvt_perfdata_info *info);
/* Returns false in a container, where the kernel numbers threads differently. */
bool record_in_first_pid_namespace(void);

/* record/features.c: adds feature sections, and counts what was lost. */
int record_add_features(struct recorder *rec);

#endif
