/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What commands that decode a recording share: options, opening, and a summary at the end. */
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
	bool force;		/* ignore who owns the file */
	bool no_index;		/* decode all of it */
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
"  -i, --input FILE      recording (perf.data), or its directory (perf record --kcore)\n" \
"      --symfs DIR[:DIR] the recorded machine's files; --no-debuginfod: ask no server\n" \
"      --vmlinux FILE    kernel code, or --kcore FILE; --kallsyms FILE: its symbols\n" \
"      --firmware FILE   machine mode's ELF file; --guestvmlinux, --guestkallsyms FILE: guests'\n" \
"      --params FILE     decoder parameters for a recording without any\n" \
"  -C, --cpu LIST, -c, --comms NAME,..., --pid PID,..., --tid TID,..., --time FROM,TO (s): " \
	"only these\n" \
"      --max-memory SIZE end there (half of the machine's); --strict: any loss is an error\n"
/* Options of views that use an index (view_use_index()). */
#define VIEW_INDEX_OPTIONS \
	{ "no-index", no_argument, NULL, VIEW_NO_INDEX }, \
	{ "verbose", no_argument, NULL, VIEW_VERBOSE }
#define VIEW_INDEX_HELP \
"      --no-index        decode all, also if there is an index; --verbose: say how much is\n"

/* Takes one option. Returns false if it is none of these. */
bool view_option(struct view_options *options, int c, const char *argument);

/* The options of a command, with VIEW_SHORT_OPTIONS, "f" (force) and "h" (help) among them. */
struct view_command {
	const char *help;
	const char *letters;
	const struct option *options;
	/*
	 * Takes an option. Returns 0, -errno after a message, or VIEW_NOT_MINE. NULL: all are the
	 * view's.
	 */
	int (*take)(void *ctx, int c, const char *argument);
	void *ctx;
};

#define VIEW_NOT_MINE 1

/*
 * view_parse - parses @argv. Options that the command does not take are for @options; reports
 * unknown ones. Returns 0; -errno after a message; 1: only the help was asked for.
 */
int view_parse(const struct view_command *command, struct view_options *options, int argc,
	       char **argv);

/*
 * --jobs of commands that count, which have it in their own options: cmd_jobs() reads it into
 * .session.jobs.
 */
#define VIEW_JOBS_HELP \
"      --jobs N          threads that decode (as many as there are processors)\n"

struct view;

/* Opens the recording. Returns NULL after a message. */
struct view *view_open(const struct view_options *options);
void view_close(struct view *view);
/* The recording's file; valid until view_close(). */
const char *view_input(const struct view *view);
struct rvt_session *view_session(struct view *view);
/*
 * For a command that needs flow: rejects Control Transfer Records, "they are samples: " @why.
 * Returns 0, or -EINVAL after a message.
 */
int view_refuse_ctr(const struct view *view, const char *why);
/*
 * Returns whether it is an event of the trace or of the recorder itself, whose samples are not for
 * users.
 */
bool view_is_trace_event(const struct rvt_perfdata_event *event);
/* Returns whether the recording has marks of `record --trigger`, which view_run() then tells. */
bool view_has_triggers(const struct view *view);
/* Prints lines that say when; each begins with @prefix. */
void view_print_triggers(const struct view *view, FILE *out, const char *prefix);
/* Returns whether the filters let this through; @view NULL: there are no filters. */
bool view_wants(struct view *view, const struct rvt_hart_flow *hart);
/* The same of what is not flow: whether any passes is not noted for the summary. */
bool view_passes(const struct view *view, const struct rvt_hart_flow *hart);
bool view_wants_cpu(const struct view *view, int32_t cpu);
/* Returns whether @name is in the list "A,B,..."; it matches only itself. */
bool view_in_names(const char *names, const char *name);
/*
 * Returns whether the file @path is in the list. Of a path in one and a name without directories in
 * the other the last component counts.
 */
bool view_in_files(const char *files, const char *path);
/* Warns that --symbols and --dsos let nothing through, as they may be mistyped. */
void view_warn_no_function(void);
/*
 * view_run - calls rvt_session_run(), and shows progress on a terminal. Ctrl-C ends it early: it
 * returns 0, what was decoded so far is the result, and view_summary() says so. @prints: the caller
 * prints while it decodes, so there is no progress on the same terminal.
 */
int view_run(struct view *view, const struct rvt_session_sink *sink, bool prints);
/* Like view_run(), for rvt_session_run_slices(). */
int view_run_slices(struct view *view, const struct rvt_session_sink *sink,
		    const struct rvt_session_slices *slices, bool prints);
/*
 * view_use_index - if the recording has an index and there are filters, the next run with slices
 * decodes only segments with something that passes them, and, unless @wants_granule is NULL, with
 * code in a granule that it lets through, or with a loss. Returns true if that run must be with
 * slices, even on one thread. The sink gets the same with and without an index.
 */
bool view_use_index(struct view *view,
		    bool (*wants_granule)(void *ctx, const struct rvt_index_granule *granule,
					  uint64_t size), void *ctx);
/*
 * view_index - returns the recording's index, or NULL: there is none, or it may not be used. Warns
 * once if it is wrong.
 */
const struct rvt_index *view_index(struct view *view);
/* Returns whether --time wants what was at @time, ns; without it everything is wanted. */
bool view_has_time(const struct view *view, uint64_t time);
/* Reads the first and the last time that --time wants, ns. Returns false if it was not given. */
bool view_times(const struct view *view, uint64_t *from, uint64_t *to);
/*
 * view_run_station - calls rvt_stations_run(), as view_run() does; returns 0 also if it was ended
 * early.
 */
struct rvt_station_run;
int view_run_station(struct view *view, const struct rvt_session_sink *sink,
		     const struct rvt_station_run *run);
/*
 * view_use_index_of_stamps - the same by --time alone, for a run without options.clock, in slices
 * or parts: there the time of a run is that of the stamp before it.
 */
bool view_use_index_of_stamps(struct view *view);
/*
 * After that run: returns the number of LOST events in what was not decoded, and adds them to the
 * summary.
 */
uint64_t view_skipped_losses(struct view *view);
/* Returns whether any of --cpu, --pid, --tid, --comms and --time was given. */
bool view_has_filters(const struct view *view);
/* The same before there is a view. */
bool view_options_filter(const struct view_options *options);
/* Returns whether a part of what a cpu did may be wanted: any was given but --cpu. */
bool view_divides_cpus(const struct view *view);
/* A struct rvt_session_sink.warning; @ctx is not used. */
void view_warning(void *ctx, const char *text);
/* What the run did not get of the recorded flow; for the whole recording. */
struct view_losses {
	uint64_t insns;		/* instructions decoded */
	uint64_t gaps;		/* places where flow was lost */
	uint64_t no_code;	/* of .gaps: code that ran is missing */
	uint64_t messages;	/* of the trace, that could not be followed */
	uint64_t all_messages;
	size_t files;		/* missing, or of another version */
	uint64_t bytes;		/* of trace, damaged or not in the file */
	uint64_t all_bytes;	/* of trace, with .bytes */
	uint64_t overruns;	/* times that the recorder lost trace */
	uint64_t records;	/* sideband records that the recorder lost */
	bool damaged;		/* the file itself */
	uint64_t undecoded;	/* bytes of trace left when Ctrl-C or --max-memory ended it */
	uint64_t loops;		/* entered, that E-Trace does not count; one is at .loop */
	uint64_t loop;
};

/* Reads the losses after the run. Returns false if nothing was lost. */
bool view_losses(struct view *view, struct view_losses *losses);
/*
 * Prints, after the run and in front of the result, what was decoded and what was lost, in lines
 * that begin with @prefix.
 */
void view_print_losses(struct view *view, FILE *out, const char *prefix);
/* Prints the losses as an object, in a line (see json.h). */
void view_json_losses(struct view *view, FILE *out);
/*
 * After the run: prints losses, if not printed yet, damage and missing files on stderr. Returns
 * -EBADMSG for a damaged recording, -EINTR when Ctrl-C ended the run, -ENODATA when almost nothing
 * could be decoded, or with .strict when anything was lost.
 */
int view_summary(struct view *view, uint64_t trace_errors);

/* Returns whether Ctrl-C or --max-memory ended the last run: another one makes no sense. */
bool view_interrupted(const struct view *view);
/* Discards what was told so far (see .reset in rvtrace/session.h). */
void view_forget(struct view *view);
/* How much the view has been told that is lost; where code is missing is not in it. */
struct view_mark {
	uint64_t gaps, no_code, loops;
};

struct view_mark view_mark(const struct view *view);
/* What was told since @mark is void. */
void view_go_back(struct view *view, const struct view_mark *mark);
/* Notes a LOST event for the summary. Any thread may call it. */
void view_lost(struct view *view, const struct rvt_hart_flow *hart, const struct rvt_event *event);
/*
 * Notes a run that the view counts @times: the trace may not say how often it was executed
 * (rvt_hart_loop_uncounted()). Any thread may call it.
 */
void view_note_run(struct view *view, const struct rvt_hart_flow *hart, const struct rvt_run *run,
		   uint64_t times);
/* Adds @cuts to the number of call stacks that were cut off, for the summary. */
void view_cut(struct view *view, uint64_t cuts);
/* Returns a sentence for @event, perf's "instruction trace error". */
const char *view_reason(const struct rvt_event *event);

#endif
