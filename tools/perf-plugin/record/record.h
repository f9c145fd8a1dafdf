/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between the files of `perf rvtrace record`. */
#ifndef PERF_RVTRACE_RECORD_H
#define PERF_RVTRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <rvtrace/kernel-code.h>
#include <rvtrace/perfdata.h>
#include "record/code-list.h"
#include "record/event.h"
#include "common/output.h"
#include "common/pmu.h"
#include "record/ring.h"
#include "record/trigger.h"

#define RECORD_PMU "rvtrace"
#define RECORD_CTR_PMU "riscv_ctr"
#define RECORD_ENCODERS "/sys/bus/rvtrace/devices/encoder-*"
#define RECORD_SAMPLE_TYPE \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU)

#define BPF_OUTPUT_LINKS 16
/* Why there are no BPF programs. */
#define RECORD_WITHOUT_BPF "this was built without libbpf or clang"
#define RECORD_IN_CONTAINER "BPF has other numbers of threads than this container"

#define RECORD_CHILD_NAME "perf-exec"	/* of a command before its exec; as perf has it */

enum record_target { TARGET_SYSTEM, TARGET_COMMAND, TARGET_TASKS };

/* What --switches says; 0: as is best. */
enum record_switches { SWITCHES_PERF = 1, SWITCHES_BPF, SWITCHES_COMMAND, SWITCHES_PIDS };

/* --switch-output: when the next file begins. */
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
	const char *tracefs;	/* where it is; NULL: nowhere, or not looked for */
	struct number_list cpus, pids, tids;	/* -C, -p, -t; empty: not given */
	enum record_switches switches;
	struct number_list switch_pids;	/* SWITCHES_PIDS */
	bool system_wide, per_thread, no_inherit, no_code, force, quiet;
	bool auxtrace_info;	/* for perf with support for RISC-V trace, too */
	bool snapshot, snapshot_at_end;	/* -S: the newest trace only, at SIGUSR2; and at the end */
	struct trigger_list triggers;	/* --trigger: snapshots when these happen, too */
	enum record_switch_output switch_output;
	uint64_t switch_at;	/* bytes or seconds */
	uint64_t max_bytes;	/* --max-size; 0: no limit */
	int64_t delay_ms;	/* -D; 0: none, -1: until --control says so */
	const char *control;	/* --control; NULL: nobody says anything */
	const char *cgroup;	/* -G; NULL: not given */
	bool start_paused;	/* an event of the group resumes the trace */
	const char *user;	/* --uid: name or number; NULL: any */
	bool copy_code;		/* of programs, what is in no file */
	uint64_t copy_bytes;	/* at most so much of it */
	uint64_t period, frequency;	/* of CTR samples and extra events; 0: not given */
	uint64_t data_bytes, aux_bytes;	/* of each ring; 0: default */
	int level;		/* -z: of zstd; 0: trace is not compressed */
	const char *profile;	/* format: decoded at once, into .output; NULL: no profile */
	const char *dso;	/* of which file; NULL: of the one that ran most */
	const char *keep;	/* .profile: the trace, too, in this file; NULL: not kept */
	char **command;		/* NULL-terminated; NULL: none */
};

/* An event that is sampled beside the trace; .name belongs to another. */
struct extra_event {
	const char *name;
	struct perf_event_attr attr;
	bool grouped;		/* the trace leads its group */
	bool asked;		/* by -e: -G holds for it, not only for the trace */
	const char *filter;	/* as in struct event, whose it is */
	unsigned int trigger;	/* the trigger, from 1, that it tells of; 0: of none */
	bool counted;		/* and how often that happens */
	uint64_t *ids;
	size_t n_ids;
};

/*
 * BPF programs of the recorder, and the event that has what they write. All zero: there are none.
 */
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
	pid_t tid;
	unsigned int trigger;	/* as in struct extra_event */
};

/* --control: descriptors, -1: none, and a line in the making. */
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
	struct live *live;	/* --profile; NULL: none */
	char *filter;		/* resolved; NULL: none */
	uint64_t trace_bytes;	/* AUX data written */
	void *packed;		/* a piece of it, compressed */
	size_t packed_room;
	struct record_commands commands;
	bool delayed;		/* -D: tracing has not begun by itself */
	bool paused;		/* nothing is traced until record_resume() */
	bool stop;		/* the recording ends */
	char *output_name;	/* of --switch-output's file at hand; malloc'd */
	double output_began;	/* s */
	unsigned int files;	/* that were begun */
	unsigned int snapshots, file_snapshots;	/* in all, and in the file at hand */
	uint64_t gaps, lost_records;	/* flagged AUX records, PERF_RECORD_LOST */
};

/* record-options.c: each prints its own message and returns 0 or -errno. */
int record_parse_options(struct record_options *options, int argc, char **argv);
void record_free_options(struct record_options *options);
int record_parse_event(struct recorder *rec, bool *modified);
enum record_target record_target(const struct record_options *options);

/* record-target.c: each prints its own message and returns 0 or -errno. */
int record_choose_cpus(struct recorder *rec);
/* .target, and the threads of -p and -t. */
int record_choose_tasks(struct recorder *rec);
/* The command is the process @pid, which waits for its exec. */
int record_choose_command(struct recorder *rec, pid_t pid);

/* .cgroup, of options.cgroup. */
int record_choose_cgroup(struct recorder *rec);

/* record-pmu.c: what the event has for this term; 0 where there is no such term. */
uint64_t record_term(const struct recorder *rec, const char *name);
/* An option of one bit, which `features` of the PMU and of encoders lists where they have it. */
bool record_is_feature(const char *term);
/* A file of the PMU's caps/, malloc'd; NULL: there is none. And whether a word of it is @word. */
char *record_caps(const char *file);
bool record_caps_have(const char *file, const char *word);
/* False: a hart has no such CSR. */
bool record_has_scontext(void);
/* Width of the CSR hcontext; 0: not all harts have it. */
unsigned int record_hcontext_bits(void);
/* False: the event asks for E-Trace, or there is an encoder that has nothing else. */
bool record_wants_ntrace(const struct recorder *rec);

/*
 * .writer begins a file with what exists already, and ends it with the feature sections. Messages
 * are printed. @path stays the caller's.
 */
int record_begin_file(struct recorder *rec, const char *path);
int record_end_file(struct recorder *rec);

/*
 * record-live.c: --profile. What the rings give goes to a thread that decodes it, and whose memory
 * is bounded: while it is too far behind, the AUX buffers are not read, and the kernel counts what
 * is lost.
 *
 * live_open - after the events were opened. Sets rec->live. 0, or -errno after a message.
 * live_put - records, or pieces that make whole ones; live_end_round: all rings were read. 0 or
 * -errno.
 * live_switch - what has been decoded becomes the file @name (malloc'd, given away), when the decoder
 * comes to that; counting begins anew. Nothing if the one before is not written yet.
 * live_finish - decodes the rest and writes the profile; *@gaps, *@lost_records: what the kernel
 * lost. 0, or -errno after a message.
 */
int live_open(struct recorder *rec);
bool live_has_room(struct live *live);
int live_put(struct live *live, const void *bytes, size_t len);
int live_end_round(struct live *live);
void live_switch(struct live *live, char *name);
int live_finish(struct live *live, uint64_t *gaps, uint64_t *lost_records);
void live_close(struct live *live);

/*
 * record-filter.c: --filter as the user wrote it, into numbers that the kernel takes (malloc'd).
 * 0, or -errno after a message.
 */
int record_resolve_filter(const char *text, char **result);

/*
 * record-extra.c: what is sampled beside the trace. Each returns 0, or -errno after a message;
 * record_prepare_extra() after .trace_attr is complete.
 */
int record_add_extra(struct record_options *options, const char *event);
int record_prepare_extra(struct recorder *rec);
int record_explain_extra(const struct extra_event *extra, int err, pid_t tid, int cpu);

/* record-events.c: opens every event and maps every ring. 0, or -errno after a message. */
int record_open(struct recorder *rec);
/*
 * One more event into ring @n, which is mapped. A thread of many that has ended meanwhile is no
 * error.
 */
int record_open_extra(struct recorder *rec, unsigned int n, pid_t tid, struct extra_event *extra);
void record_close(struct recorder *rec);

/*
 * record-control.c: tracing and sideband on, or off. record_enable() returns 0, or -errno after a
 * message.
 */
int record_enable(struct recorder *rec);
int record_enable_sideband(struct recorder *rec);
void record_disable(struct recorder *rec);
/* Only tracing, while sideband goes on. */
void record_pause(struct recorder *rec);
int record_resume(struct recorder *rec);
/*
 * The same for a moment, as soon as possible on @first (-1: no cpu is first). record_release(): and
 * on, unless it is paused. 0, or -errno after a message.
 */
void record_hold(const struct recorder *rec, int first);
int record_release(struct recorder *rec);

/*
 * record-command.c: --control. record_open_commands() returns 0, or -errno after a message;
 * record_obey() carries out what was said meanwhile and returns 0, or -errno.
 */
int record_open_commands(struct recorder *rec);
void record_close_commands(struct recorder *rec);
int record_obey(struct recorder *rec);

/*
 * switch-output.c: whether the next file is due, and to it. record_note_output(): a file begins.
 * record_take_snapshot(): now, into a file of its own if options.switch_output says so. 0, or
 * -errno after a message.
 */
int record_take_snapshot(struct recorder *rec);
char *record_output_name(const struct recorder *rec);
bool record_is_switch_due(const struct recorder *rec, bool signalled);
void record_note_output(struct recorder *rec);
int record_switch_output(struct recorder *rec);

/*
 * record-refused.c: says which terms of the event the hardware does not take. False: it is none of
 * them.
 */
bool record_explain_refused(const struct recorder *rec, int cpu);

/* record-ring.c: writes what the rings hold. Returns -errno of the output file. */
int record_drain(struct recorder *rec, bool last);
/* What overwritten AUX buffers hold now, while they are held; @last: the file ends with it. */
int record_newest(struct recorder *rec, bool last);
/* Whether they have got anything since but idle bytes. */
bool record_has_newer(const struct recorder *rec);

/* record-proc.c: records for what exists already. */
int record_synthesize_kernel(struct recorder *rec);
int record_synthesize_tasks(struct recorder *rec);
/*
 * record-snapshot.c: all tasks and mappings by BPF. -ENOTSUP: that cannot be; nothing was written.
 */
int record_snapshot(struct recorder *rec);
/* record-put.c: one record of what existed before. */
struct snapshot_task;
struct snapshot_map;
int record_put_task(struct recorder *rec, const struct snapshot_task *task);
int record_put_map(struct recorder *rec, const struct snapshot_map *map);
int record_put_kernel_map(struct recorder *rec, uint64_t addr, uint64_t len, uint64_t pgoff,
			  const char *name);
/* The threads of @pid (malloc'd). Returns how many, or -errno. */
int list_threads(pid_t pid, pid_t **tids);
/* The process that thread @tid belongs to. */
pid_t thread_group(pid_t tid);

/*
 * record-meta.c: the metadata text, malloc'd, or NULL after a message. @info, which the caller has
 * zeroed and frees, gets the same in perf's form (of a PMU that has trace).
 */
struct rvt_perfdata_info;
char *record_metadata(struct recorder *rec, struct rvt_perfdata_info *info);
/* False: in a container, where the kernel numbers threads otherwise. */
bool record_in_first_pid_namespace(void);

/* missing.c: says why there is no PMU, of traces or of CTR, and what to do. */
void record_explain_missing_pmu(void);
void record_explain_missing_ctr(void);
/* Whether @path, the file `compatible` of a devicetree node, names what the driver binds to. */
bool record_is_component(const char *path);
/* There is no PMU of Control Transfer Records; tells what to do where the harts have them. */
void record_tell_unused_ctr(const char *sysfs);
/* Says how a dump of this machine's trace is decoded, if @sysfs names a chip that is known. */
void record_hint_at_dump(const char *sysfs);

/* record-ctr.c: Control Transfer Records: is that what @event names? */
bool record_is_ctr(const char *event);
/*
 * Defaults of the event, before it is parsed; and how often to sample. 0, or -errno after a
 * message.
 */
void record_ctr_defaults(struct recorder *rec);
int record_ctr_period(struct recorder *rec);
/* The metadata text, malloc'd, or NULL. */
char *record_ctr_metadata(const struct recorder *rec);

/*
 * bpf-output.c: opens an event @name on each cpu, which the programs of @output, loaded, write to
 * by their map "events". 0, or -errno after a message. @link may be NULL.
 * bpf_output_choose - the processes of threads @tids, and what they fork, are in its map "chosen"
 * (bpf/chosen.h). 0, or -errno after a message.
 * bpf_output_attach - all its programs run from now on; a kernel that has not one of the functions
 * that they look at has the others.
 * bpf_is_compiled - the kernel compiles them, and does not interpret them.
 */
bool bpf_is_compiled(void);
int bpf_output_open(struct recorder *rec, struct bpf_output *output, const char *name);
int bpf_output_choose(const struct bpf_output *output, const pid_t *tids, size_t n);
void bpf_output_attach(struct bpf_output *output);
void bpf_output_add_link(struct bpf_output *output, struct bpf_link *link);
void bpf_output_close(struct bpf_output *output);

/*
 * record-switches.c: whether BPF tells the context switches, before events are opened, and that it
 * does from now on, after that. 0, or -errno after a message.
 */
int record_choose_switches(struct recorder *rec);
int record_open_switches(struct recorder *rec);

/*
 * record-watch.c: kernel code that comes, changes or goes from now on is told by samples of .code.
 * Without BPF none are. 0 or -errno after a message.
 */
int record_watch_open(struct recorder *rec);
/* The page at @addr, by BPF. False: that cannot be had. */
bool record_watch_read(const struct recorder *rec, uint64_t addr, uint8_t bytes[RVT_KERNEL_PAGE]);

/*
 * user-code.c: code of programs that is in no file is told by samples of .user_code from now on, as
 * options.copy_code says. 0, or -errno after a message. record_end_user_code(): before the events
 * go; says what there was no room for.
 */
int record_open_user_code(struct recorder *rec);
void record_end_user_code(struct recorder *rec);

/* record-bpf.c: what the BPF programs of the system were compiled to, as far as one may see it. */
void record_copy_bpf(struct code_list *list);

/* uprobes.c: what runs in place of probed instructions; warns when some of that cannot be known. */
void record_copy_uprobes(const struct recorder *rec, struct code_list *list);

/* record-code.c: kernel and vdso code, kallsyms. Warns when something cannot be had. */
void record_add_code(struct recorder *rec);
/* Where the kernel's code is; false when that is hidden from this user. */
bool kernel_text(uint64_t *start, uint64_t *end);

/* record-features.c: feature sections; also counts what was lost. */
int record_add_features(struct recorder *rec);

#endif
