/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the commands that decode a recording share: options, opening, what they say at the end. */
#ifndef PERF_RVTRACE_VIEW_H
#define PERF_RVTRACE_VIEW_H

#include <getopt.h>
#include <stdio.h>
#include <rvtrace/session.h>
#include "session/access.h"
#include "session/index.h"

struct view_options {
	const char *input;
	struct rvt_session_options session;
	/* filters; NULL: everything */
	const char *cpus, *pids, *tids, *comms, *time;
	bool strict;		/* any loss is an error */
	bool force;		/* whoever owns the file */
	bool no_index;		/* all of it is decoded */
	uint64_t max_memory;	/* bytes; 0: half of the machine's */
	unsigned int share, shares;	/* rvt_session_take_share(), but .share from 1 on; 0: all */
};

/* Long options of every such command, and their help text. */
#define VIEW_SHORT_OPTIONS "i:C:c:"
enum { VIEW_OPTIONS = 512, VIEW_SYMFS, VIEW_VMLINUX, VIEW_KCORE, VIEW_KALLSYMS, VIEW_FIRMWARE,
       VIEW_GUEST_VMLINUX, VIEW_GUEST_KALLSYMS,
       VIEW_PARAMS, VIEW_PID, VIEW_TID, VIEW_TIME, VIEW_REFERENCE, VIEW_STRICT, VIEW_FORCE,
       VIEW_NO_DEBUGINFOD, VIEW_MAX_MEMORY, VIEW_SHARE, VIEW_NO_INDEX, VIEW_VERBOSE };
#define VIEW_LONG_OPTIONS \
	{ "input", required_argument, NULL, 'i' }, \
	{ "symfs", required_argument, NULL, VIEW_SYMFS }, \
	{ "vmlinux", required_argument, NULL, VIEW_VMLINUX }, \
	{ "kcore", required_argument, NULL, VIEW_KCORE }, \
	{ "kallsyms", required_argument, NULL, VIEW_KALLSYMS }, \
	{ "firmware", required_argument, NULL, VIEW_FIRMWARE }, \
	{ "guestvmlinux", required_argument, NULL, VIEW_GUEST_VMLINUX }, \
	{ "guestkallsyms", required_argument, NULL, VIEW_GUEST_KALLSYMS }, \
	{ "params", required_argument, NULL, VIEW_PARAMS }, \
	{ "cpu", required_argument, NULL, 'C' }, \
	{ "pid", required_argument, NULL, VIEW_PID }, \
	{ "tid", required_argument, NULL, VIEW_TID }, \
	{ "comms", required_argument, NULL, 'c' }, \
	{ "time", required_argument, NULL, VIEW_TIME }, \
	{ "strict", no_argument, NULL, VIEW_STRICT }, \
	{ "no-debuginfod", no_argument, NULL, VIEW_NO_DEBUGINFOD }, \
	{ "max-memory", required_argument, NULL, VIEW_MAX_MEMORY }, \
	{ "share", required_argument, NULL, VIEW_SHARE }, \
	{ "reference-walk", no_argument, NULL, VIEW_REFERENCE }
#define VIEW_HELP \
"  -i, --input FILE      recording (perf.data)\n" \
"      --symfs DIR[:DIR] the recorded machine's files; --no-debuginfod: ask no server\n" \
"      --vmlinux FILE    kernel code, or --kcore FILE; --kallsyms FILE: its symbols\n" \
"      --firmware FILE   machine mode's ELF file; --guestvmlinux, --guestkallsyms FILE: guests'\n" \
"      --params FILE     decoder parameters for a recording without any\n" \
"  -C, --cpu LIST, -c, --comms NAME,..., --pid PID,..., --tid TID,..., --time FROM,TO (s): " \
	"only these\n" \
"      --max-memory SIZE end there (half of the machine's); --strict: any loss is an error\n"
/* Of those that use an index (view_use_index()). */
#define VIEW_INDEX_OPTIONS \
	{ "no-index", no_argument, NULL, VIEW_NO_INDEX }, \
	{ "verbose", no_argument, NULL, VIEW_VERBOSE }
#define VIEW_INDEX_HELP \
"      --no-index        decode all, also if there is an index; --verbose: say how much is\n"

/* Takes in one option; false: it is none of these. */
bool view_option(struct view_options *options, int c, const char *argument);

/* What a command's options are; VIEW_SHORT_OPTIONS, "f" (force) and "h" (help) among them. */
struct view_command {
	const char *help;
	const char *letters;
	const struct option *options;
	/*
	 * Takes in an option: 0, -errno after a message, or VIEW_NOT_MINE. NULL: all are the
	 * view's.
	 */
	int (*take)(void *ctx, int c, const char *argument);
	void *ctx;
};

#define VIEW_NOT_MINE 1

/*
 * view_parse - takes in all options in @argv: those that the command does not want are for
 * @options; what is none is told. 0; -errno after a message; 1: the help was all that was asked
 * for.
 */
int view_parse(const struct view_command *command, struct view_options *options, int argc,
	       char **argv);

/*
 * --jobs of the commands that count, in their own options: cmd_jobs() reads it into
 * .session.jobs.
 */
#define VIEW_JOBS_HELP \
"      --jobs N          threads that decode (as many as there are processors)\n"

struct view;

/* Opens; prints what went wrong and returns NULL. */
struct view *view_open(const struct view_options *options);
void view_close(struct view *view);
struct rvt_session *view_session(struct view *view);
/*
 * For a command that needs flow: refuses Control Transfer Records, "they are samples: " @why. 0, or
 * -EINVAL after a message.
 */
int view_refuse_ctr(const struct view *view, const char *why);
/*
 * Whether it is an event of the trace or of the recorder itself, whose samples are nobody's to see.
 */
bool view_is_trace_event(const struct rvt_perfdata_event *event);
/* Whether `record --trigger` has seen something happen: view_run() has marks of that. */
bool view_has_triggers(const struct view *view);
/* Lines that say when; each begins with @prefix. */
void view_print_triggers(const struct view *view, FILE *out, const char *prefix);
/* Whether the filters let this through; @view NULL: there are none. */
bool view_wants(struct view *view, const struct rvt_hart_flow *hart);
/* Whether @name is in the list "A,B,..."; it matches nothing but itself. */
bool view_in_names(const char *names, const char *name);
/*
 * view_run - rvt_session_run() that Ctrl-C ends early (0 is returned then, and what was decoded so
 * far is the result; view_summary() tells), and that shows on a terminal how far it is. @prints:
 * the caller prints while it decodes, so nothing is shown where its output is.
 */
int view_run(struct view *view, const struct rvt_session_sink *sink, bool prints);
/* The same with rvt_session_run_slices(). */
int view_run_slices(struct view *view, const struct rvt_session_sink *sink,
		    const struct rvt_session_slices *slices, bool prints);
/*
 * view_use_index - if the recording has an index and there are filters, the next run with slices
 * decodes only segments that have something which passes them, and, unless @wants_granule is NULL,
 * code in a granule that it lets through, or a loss. True: that run must be with slices, also where
 * there is one thread. The sink gets the same with and without an index.
 */
bool view_use_index(struct view *view,
		    bool (*wants_granule)(void *ctx, const struct rvt_index_granule *granule,
					  uint64_t size), void *ctx);
/*
 * view_index - the recording's index, if it has one and it may be used; NULL: not. What is wrong
 * with it is told once.
 */
const struct rvt_index *view_index(struct view *view);
/* What --time says, ns; false: nothing. */
bool view_times(const struct view *view, uint64_t *from, uint64_t *to);
/*
 * view_run_station - rvt_stations_run() as view_run(): 0 also when it was ended early.
 */
struct rvt_station_run;
int view_run_station(struct view *view, const struct rvt_session_sink *sink,
		     const struct rvt_station_run *run);
/* After that run: LOST events in what was not decoded, which the summary gets to know. */
uint64_t view_skipped_losses(struct view *view);
/* Whether any of --cpu, --pid, --tid, --comms and --time was given. */
bool view_has_filters(const struct view *view);
/* A struct rvt_session_sink.warning; @ctx is not used. */
void view_warning(void *ctx, const char *text);
/* What of the recorded flow the run did not get, of the whole recording. */
struct view_losses {
	uint64_t insns;		/* that were decoded */
	uint64_t gaps;		/* places where flow was lost */
	uint64_t no_code;	/* of these: the code that ran is not at hand */
	uint64_t messages;	/* of the trace that could not be followed */
	uint64_t all_messages;
	size_t files;		/* that are missing or of another version */
	uint64_t bytes;		/* of trace that is damaged, or not in the file */
	uint64_t all_bytes;	/* of trace, these included */
	uint64_t overruns;	/* times that the recorder lost trace */
	uint64_t records;	/* of sideband that the recorder lost */
	bool damaged;		/* the file itself */
	uint64_t undecoded;	/* bytes of trace, when Ctrl-C or --max-memory ended it */
	uint64_t loops;		/* entered, that E-Trace does not count; one is at .loop */
	uint64_t loop;
};

/* After the run. False: nothing is lost. */
bool view_losses(struct view *view, struct view_losses *losses);
/*
 * After the run, in front of the result: what was decoded and what was lost, in lines that begin
 * with @prefix.
 */
void view_print_losses(struct view *view, FILE *out, const char *prefix);
/* The same as an object, in a line (see json.h). */
void view_json_losses(struct view *view, FILE *out);
/*
 * After the run: losses, if they were not printed, damage and missing files on stderr. -EBADMSG
 * for a damaged recording,
 * -EINTR when Ctrl-C ended the run, -ENODATA when next to nothing could be decoded, or with
 * .strict anything is lost.
 */
int view_summary(struct view *view, uint64_t trace_errors);

/* Ctrl-C, or --max-memory, ended the last run: there is no sense in another one. */
bool view_interrupted(const struct view *view);
/* What was told so far is void (see .reset in rvtrace/session.h). */
void view_forget(struct view *view);
/* Takes note of a LOST event, for the summary. Any thread may call it. */
void view_lost(struct view *view, const struct rvt_hart_flow *hart, const struct rvt_event *event);
/*
 * Takes note of a run that the view counts @times: the trace may not tell how often it was executed
 * (rvt_hart_loop_uncounted()). Any thread may call it.
 */
void view_note_run(struct view *view, const struct rvt_hart_flow *hart, const struct rvt_run *run,
		   uint64_t times);
/* Call stacks were cut off @cuts more times: for the summary, too. */
void view_cut(struct view *view, uint64_t cuts);
/* What perf calls "instruction trace error": a sentence for @event. */
const char *view_reason(const struct rvt_event *event);

#endif
