// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/directory.h"
#include "common/json.h"
#include "common/lost-code.h"
#include "common/memory.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/text.h"
#include "common/times.h"
#include "common/triggers.h"
#include "common/view.h"
#include "file/file.h"

#define SHOWN_FILES 10

struct view {
	struct view_options options;	/* .input: the file, in the directory if it is one */
	struct directory directory;
	struct rvt_session *session;
	struct lost_code *lost_code;
	struct trigger_marks *triggers;	/* NULL: there are none */
	int *cpus, *pids, *tids;
	int n_cpus, n_pids, n_tids;
	struct times times;
	struct rvt_index *index;	/* NULL: none is used */
	bool *granules;		/* by number: wanted; NULL: all are */
	uint64_t cuts;
	bool looked_for_index;
	bool interrupted;	/* by Ctrl-C, or at --max-memory */
	bool stopped;		/* before the end, as the caller has what it wants */
	bool told;		/* losses were told */
	/* any thread may set these */
	atomic_bool kernel_lost, guest_lost;
	/* the flow of the kernel, or of a guest's, contradicts its code */
	atomic_bool kernel_refuted, guest_refuted;
	atomic_uint_fast64_t gaps, no_code;	/* LOST events; those for lack of code */
	atomic_bool wanted;	/* something passed the filters */
	atomic_uint_fast64_t loops, loop;	/* see struct view_losses */
};

bool view_option(struct view_options *options, int c, const char *argument)
{
	switch (c) {
	case 'i': options->input = argument; break;
	case VIEW_SYMFS: options->session.symfs = argument; break;
	case VIEW_VMLINUX: options->session.vmlinux = argument; break;
	case VIEW_KCORE: options->session.kcore = argument; break;
	case VIEW_KALLSYMS: options->session.kallsyms = argument; break;
	case VIEW_FIRMWARE: options->session.firmware = argument; break;
	case VIEW_GUEST_VMLINUX: options->session.guest_vmlinux = argument; break;
	case VIEW_GUEST_KALLSYMS: options->session.guest_kallsyms = argument; break;
	case VIEW_PARAMS: options->session.params = argument; break;
	case 'C': options->cpus = argument; break;
	case VIEW_PID: options->pids = argument; break;
	case VIEW_TID: options->tids = argument; break;
	case 'c': options->comms = argument; break;
	case VIEW_TIME: options->time = argument; break;
	case VIEW_FORCE: options->force = true; break;
	case VIEW_NO_DEBUGINFOD: unsetenv("DEBUGINFOD_URLS"); break;
	case VIEW_STRICT: options->strict = true; break;
	case VIEW_NO_INDEX: options->no_index = true; break;
	case VIEW_VERBOSE: cmd_verbose = true; break;
	case VIEW_MAX_MEMORY: return !memory_parse(argument, &options->max_memory);
	case VIEW_SHARE: return !cmd_part("--share", argument, &options->share, &options->shares);
	case VIEW_REFERENCE: options->session.reference_walk = true; break;
	default:
		return false;
	}
	return true;
}

int view_parse(const struct view_command *command, struct view_options *options, int argc,
	       char **argv)
{
	int c, err = 0;

	while (!err &&
	       (c = getopt_long(argc, argv, command->letters, command->options, NULL)) >= 0) {
		err = command->take ? command->take(command->ctx, c, optarg) : VIEW_NOT_MINE;
		if (err != VIEW_NOT_MINE)
			continue;
		err = 0;
		if (c == 'h') {
			fputs(command->help, stdout);
			return 1;
		}
		if (c == 'f')
			options->force = true;
		else if (!view_option(options, c, optarg))
			err = cmd_try_help(-EINVAL);
	}
	return err;
}

static int parse_list(const char *text, const char *what, int **list, int *n)
{
	if (!text)
		return 0;
	*n = parse_numbers(text, list);
	return *n < 0 ? cmd_error(-EINVAL, "'%s' is no list of %s, like 1,3-5", text, what) : 0;
}

/* Reads when the recording began and ended. */
static bool read_span(const struct view *view, struct time_range *span)
{
	const void *data;
	size_t len;

	if (rvt_perfdata_feature(rvt_session_file(view->session), RVT_FEAT_SAMPLE_TIME, &data,
				 &len) || len < sizeof(*span))
		return false;
	memcpy(span, data, sizeof(*span));
	return span->from <= span->to && span->to <= INT64_MAX;
}

/* Parses --time: before there is a session if in seconds, with it if in parts of the recording. */
static int parse_time(struct view *view, const char *text)
{
	const bool parts = text && times_are_parts(text);
	struct time_range span;
	int err;

	if (!text || parts != !!view->session)
		return 0;
	if (parts && !read_span(view, &span))
		return cmd_error(-EINVAL, "--time: '%s' is a part of the recording, and this one "
				 "does not say when it began and ended: give FROM,TO in seconds",
				 text);
	err = times_parse(&view->times, text, parts ? &span : NULL);
	return err != -EINVAL ? err :
		cmd_error(err, "--time: '%s' is no time range; give FROM,TO in seconds, like "
			  "12.5,13, or a part of the recording, like 10%%-20%%; several: '1,2 5,6'",
			  text);
}

/*
 * Warns that files of this machine, of another architecture, would be read in place of the recorded
 * ones.
 */
static void check_machine(const struct view *view)
{
	const char *arch = rvt_perfdata_string(rvt_session_file(view->session), RVT_FEAT_ARCH);
	struct utsname uts;

	if (arch && !view->options.session.symfs && !uname(&uts) && strcmp(uts.machine,
										    arch))
		cmd_warning("recorded on a %s machine, and this is a %s: give --symfs DIR with a "
			    "copy of its files", arch, uts.machine);
}

/*
 * Finds the recording's file, and with it the kernel's code if nobody named that. Returns 0, or
 * something else after a message.
 */
static int find_input(struct view *view)
{
	struct view_options *options = &view->options;

	if (!options->input)
		options->input = "perf.data";
	if (directory_find(options->input, &view->directory))
		return -EINVAL;
	if (!view->directory.data)
		return 0;
	options->input = view->directory.data;
	if (!options->session.kcore && !options->session.vmlinux)
		options->session.kcore = view->directory.kcore;
	if (!options->session.kallsyms)
		options->session.kallsyms = view->directory.kallsyms;
	return (view->directory.kcore &&
		cmd_check_owner(view->directory.kcore, options->force)) ||
	       (view->directory.kallsyms &&
		cmd_check_owner(view->directory.kallsyms, options->force));
}

struct view *view_open(const struct view_options *options)
{
	struct view *view = calloc(1, sizeof(*view));
	const char *input, *word = cmd_first_word();
	char *error = NULL;

	if (word)
		cmd_surplus(0, word, "a recording is given with -i FILE");
	if (word || !view)
		goto fail;
	view->lost_code = lost_code_create();
	if (!view->lost_code)
		goto fail;
	view->options = *options;
	view->options.session.size = sizeof(view->options.session);
	/* a filter by time needs the time */
	view->options.session.clock |= !!options->time;
	if (parse_time(view, options->time) ||
	    parse_list(options->cpus, "cpus", &view->cpus, &view->n_cpus) ||
	    parse_list(options->pids, "process ids", &view->pids, &view->n_pids) ||
	    parse_list(options->tids, "thread ids", &view->tids, &view->n_tids))
		goto fail;
	memory_watch(options->max_memory ? options->max_memory : memory_default());
	if (find_input(view))
		goto fail;
	input = view->options.input;
	if (cmd_check_owner(input, options->force))
		goto fail;
	if (rvt_session_open(input, &view->options.session, &view->session, &error)) {
		cmd_error(0, "%s%s", error ? error : "out of memory", access(input, F_OK) &&
			  errno == ENOENT ? "\n  Record first: perf rvtrace record -- COMMAND; "
			  "or give a recording with -i FILE" : "");
		free(error);
		goto fail;
	}
	if (parse_time(view, options->time))
		goto fail;
	if (options->shares &&
	    rvt_session_take_share(view->session, options->share - 1, options->shares))
		goto fail;
	check_machine(view);
	view->triggers = trigger_marks_read(rvt_session_file(view->session));
	return view;
fail:
	view_close(view);
	return NULL;
}

void view_close(struct view *view)
{
	if (!view)
		return;
	trigger_marks_free(view->triggers);
	rvt_session_close(view->session);
	rvt_index_free(view->index);
	free(view->granules);
	lost_code_destroy(view->lost_code);
	directory_free(&view->directory);
	times_free(&view->times);
	free(view->cpus);
	free(view->pids);
	free(view->tids);
	free(view);
}

const char *view_input(const struct view *view)
{
	return view->options.input;
}

struct rvt_session *view_session(struct view *view)
{
	return view->session;
}

int view_refuse_ctr(const struct view *view, const char *why)
{
	if (!rvt_session_is_ctr(view->session))
		return 0;
	return cmd_error(-EINVAL, "%s has Control Transfer Records, which are samples: %s; look at "
			 "them with perf rvtrace report",
			 view->options.input, why);
}

static bool in_list(const int *list, int n, int value)
{
	for (int i = 0; i < n; i++)
		if (list[i] == value)
			return true;
	return !list;
}

bool view_in_names(const char *names, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = names; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncmp(p, name, len) && (p[len] == ',' || !p[len]))
			return true;
	return false;
}

bool view_wants_cpu(const struct view *view, int32_t cpu)
{
	return in_list(view->cpus, view->n_cpus, cpu);
}

bool view_passes(const struct view *view, const struct rvt_hart_flow *hart)
{
	if (!times_have(&view->times, hart->time))
		return false;
	if (view->cpus && !view_wants_cpu(view, hart->cpu))
		return false;
	if (!view->pids && !view->tids && !view->options.comms)
		return true;
	if (!hart->task)
		return false;
	return in_list(view->pids, view->n_pids, hart->task->pid) &&
		in_list(view->tids, view->n_tids, hart->task->tid) &&
		(!view->options.comms || view_in_names(view->options.comms, hart->task->comm));
}

/* Returns whether it is an event of the trace; the driver's tracepoints are not. */
bool view_is_trace_event(const struct rvt_perfdata_event *event)
{
	return !strncmp(event->name, "rvtrace", strlen("rvtrace")) &&
		event->attr.type != PERF_TYPE_TRACEPOINT;
}

bool view_wants(struct view *view, const struct rvt_hart_flow *hart)
{
	bool wanted = !view || view_passes(view, hart);

	if (view && wanted && !view->wanted)
		view->wanted = true;
	return wanted;
}

void view_warning(void *ctx, const char *text)
{
	(void)ctx;
	progress_hide();
	cmd_warning("%s", text);
}

static void print_missing(const struct rvt_missing *missing)
{
	fputs("  ", stderr);
	put_visible(stderr, missing->path);
	fprintf(stderr, ": %s\n", missing->error == -ESTALE ?
		"another version than was recorded (build id differs)" :
		missing->error == -EXDEV ? "outside of --symfs" : strerror(-missing->error));
}

static void summarize_files(struct view *view)
{
	const struct rvt_missing *missing;
	size_t n = 0;

	for (; (missing = rvt_session_missing(view->session, n)); n++) {
		if (n < SHOWN_FILES)
			print_missing(missing);
	}
	if (n > SHOWN_FILES)
		fprintf(stderr, "  ... and %zu more\n", n - SHOWN_FILES);
	if (n)
		fprintf(stderr, "  Code of %zu files is missing: flow through them is lost. Give "
			"--symfs DIR with the recorded machine's files.\n", n);
}

bool view_has_triggers(const struct view *view)
{
	return view->triggers;
}

void view_print_triggers(const struct view *view, FILE *out, const char *prefix)
{
	trigger_marks_print(view->triggers, out, prefix);
}

int view_run(struct view *view, const struct rvt_session_sink *sink, bool prints)
{
	struct rvt_session_sink marking = *sink;

	if (view->triggers && !view->options.session.count)
		trigger_marks_sink(view->triggers, sink, &marking);
	return view_run_slices(view, &marking, NULL, prints);
}

int view_run_slices(struct view *view, const struct rvt_session_sink *sink,
		    const struct rvt_session_slices *slices, bool prints)
{
	int err = progress_run(view->session, sink, slices, prints);

	view->interrupted = err == -EINTR;
	view->stopped = err == -ECANCELED;
	return view->interrupted ? 0 : err;
}

bool view_interrupted(const struct view *view)
{
	return view->interrupted || view->stopped;
}

bool view_in_files(const char *files, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name);

	if (view_in_names(files, path) || view_in_names(files, name))
		return true;
	for (const char *p = slash || !len ? NULL : strstr(files, name); p; p = strstr(p + 1, name))
		if (p > files && p[-1] == '/' && (p[len] == ',' || !p[len]))
			return true;
	return false;
}

void view_warn_no_function(void)
{
	cmd_warning("nothing that ran passes the filters --symbols and --dsos");
}

static bool divide_cpus(const struct view_options *options)
{
	return options->pids || options->tids || options->comms || options->time;
}

bool view_divides_cpus(const struct view *view)
{
	return divide_cpus(&view->options);
}

bool view_options_filter(const struct view_options *options)
{
	return options->cpus || divide_cpus(options);
}

bool view_has_filters(const struct view *view)
{
	return view_options_filter(&view->options);
}

/* ---- the index ---- */

static bool wants_tasks(const struct view *view, const struct rvt_index_segment *segment)
{
	for (size_t i = 0; i < segment->n_tasks; i++) {
		const struct rvt_index_task *task = rvt_index_task(view->index, segment->tasks[i]);

		if (in_list(view->pids, view->n_pids, task->pid) &&
		    in_list(view->tids, view->n_tids, task->tid) &&
		    (!view->options.comms || view_in_names(view->options.comms, task->comm)))
			return true;
	}
	return !view->pids && !view->tids && !view->options.comms;
}

static bool wants_granules(const struct view *view, const struct rvt_index_segment *segment)
{
	if (!view->granules || segment->lost)
		return true;
	for (size_t i = 0; i < segment->n_granules; i++)
		if (view->granules[segment->granules[i]])
			return true;
	return false;
}

static bool may_pass(const struct view *view, const struct rvt_index_segment *segment)
{
	if (!times_have_any(&view->times, segment->earliest, segment->latest))
		return false;
	if (!segment->any_cpu && !view_wants_cpu(view, segment->cpu))
		return false;
	return wants_tasks(view, segment);
}

static bool wants_segment(void *ctx, const struct rvt_index_segment *segment)
{
	return may_pass(ctx, segment) && wants_granules(ctx, segment);
}

/* Returns whether something in the segment passes the filters for certain. */
static bool must_pass(const struct view *view, const struct rvt_index_segment *segment)
{
	return segment->earliest <= segment->latest &&
		times_have_all(&view->times, segment->earliest, segment->latest) &&
		!(view->cpus && segment->any_cpu) && may_pass(view, segment);
}

/*
 * Returns whether it is certain, without granules, that something passes the filters. Only then may
 * granules choose segments: the summary reports if nothing passes.
 */
static bool is_sure(struct view *view)
{
	for (size_t i = 0; i < rvt_index_n_segments(view->index) && view_has_filters(view); i++)
		if (must_pass(view, rvt_index_segment(view->index, i))) {
			view->wanted = true;
			return true;
		}
	return !view_has_filters(view);
}

/* Unpacks an index, as rvt_index_unpack() does. Returns -ENOENT if there is no file. */
static int unpack_index(const struct view *view, const char *path, struct rvt_index **index,
			const char **why)
{
	struct rvt_mapped_file *mapped;
	struct stat st;
	int fd = rvt_file_open(path, O_CLOEXEC, &st), err;

	*why = strerror(fd < 0 ? -fd : EPERM);
	if (fd < 0)
		return fd;
	if (!view->options.force && !geteuid() && st.st_uid) {
		close(fd);
		return -EPERM;	/* as in cmd_check_owner() */
	}
	err = rvt_file_map(fd, st.st_size, path, &mapped);
	close(fd);
	if (!err) {
		err = rvt_index_unpack(view->session, mapped->bytes, mapped->len, index, why);
		rvt_file_unmap(mapped);
	}
	return err;
}

/* Reads the index. NULL: there is none, or, after a message, it does not fit. */
static struct rvt_index *read_index(const struct view *view, const char *path)
{
	struct rvt_index *index;
	const char *why;
	int err = unpack_index(view, path, &index, &why);

	if (!err)
		return index;
	if (err != -ENOENT)
		cmd_warning("%s is not used (%s): all of the trace is decoded; perf rvtrace index "
			    "makes a new one", path, why);
	return NULL;
}

static bool choose_granules(struct view *view,
			    bool (*wants)(void *ctx, const struct rvt_index_granule *granule,
					  uint64_t size), void *ctx)
{
	uint64_t size = rvt_index_granule_size(view->index);
	size_t n = rvt_index_n_granules(view->index);

	if (!wants || !size || !is_sure(view))
		return true;
	view->granules = calloc(n + 1, sizeof(*view->granules));
	for (size_t i = 0; view->granules && i < n; i++)
		view->granules[i] = wants(ctx, rvt_index_granule(view->index, i), size);
	return view->granules;
}

const struct rvt_index *view_index(struct view *view)
{
	char *path;

	if (view->looked_for_index || view->options.no_index || view->options.shares)
		return view->index;
	view->looked_for_index = true;
	path = rvt_index_path(view->options.input);
	if (path)
		view->index = read_index(view, path);
	free(path);
	return view->index;
}

bool view_times(const struct view *view, uint64_t *from, uint64_t *to)
{
	const struct time_range span = times_span(&view->times);

	*from = span.from;
	*to = span.to;
	return view->options.time;
}

bool view_has_time(const struct view *view, uint64_t time)
{
	return times_have(&view->times, time);
}

int view_run_station(struct view *view, const struct rvt_session_sink *sink,
		     const struct rvt_station_run *run)
{
	int err = progress_run_station(view->session, sink, run);

	view->interrupted = err == -EINTR;
	return view->interrupted ? 0 : err;
}

static void tell_chosen(struct view *view, uint64_t bytes)
{
	cmd_info("%" PRIu64 " of %" PRIu64 " bytes of trace are decoded: the index says where",
		 bytes, rvt_session_size(view->session));
}

bool view_use_index(struct view *view,
		    bool (*wants_granule)(void *ctx, const struct rvt_index_granule *granule,
					  uint64_t size), void *ctx)
{
	uint64_t chosen;
	bool used = false;

	if ((view_has_filters(view) || wants_granule) && view_index(view))
		used = choose_granules(view, wants_granule, ctx) &&
			!rvt_index_choose(view->session, view->index, wants_segment, view,
					  &chosen);
	if (used)
		tell_chosen(view, chosen);
	return used;
}

/* Segments by the times of stamps. */
struct stamps {
	const struct times *times;
	int32_t cpu;
	uint64_t latest;	/* told of .cpu so far */
};

/* What ran behind a stamp has its time: that can be in the segment before. */
static bool wants_stamps(void *ctx, const struct rvt_index_segment *segment)
{
	struct stamps *stamps = ctx;
	const uint64_t earliest = stamps->cpu == segment->cpu ? stamps->latest : 0;
	const bool told = segment->earliest <= segment->latest;

	if (told || stamps->cpu != segment->cpu)
		stamps->latest = segment->latest;
	stamps->cpu = segment->cpu;
	return told && times_have_any(stamps->times, earliest, segment->latest);
}

bool view_use_index_of_stamps(struct view *view)
{
	struct stamps stamps = { .times = &view->times, .cpu = -1 };
	uint64_t chosen;
	const bool used = view->options.time && view_index(view) &&
			  !rvt_index_choose(view->session, view->index, wants_stamps, &stamps,
					    &chosen);

	if (used)
		tell_chosen(view, chosen);
	return used;
}

uint64_t view_skipped_losses(struct view *view)
{
	struct rvt_index_losses losses;

	output_flush();
	if (!rvt_index_skipped(view->session, &losses) && view->index)
		cmd_info("the trace is not what the index says: all of it was decoded");
	view->gaps += losses.lost;
	view->no_code += losses.no_code;
	if (losses.kernel_lost && !rvt_session_has_kernel(view->session))
		view->kernel_lost = true;
	return losses.lost;
}

/* Returns whether there is trace, and code for it, but they do not match. */
static bool is_undecodable(const struct view *view, const struct rvt_session_totals *stats)
{
	return stats->session.trace_bytes && !stats->flow.insns && !view->interrupted &&
	       !view->kernel_lost && !rvt_session_missing(view->session, 0);
}

/*
 * With wrong parameters, flow is refuted behind most synchronisation points. A few times mean
 * nothing: if bytes are missing, flow is lost about once for each piece.
 */
#define MANY_GAPS 32

static bool is_doubtful(const struct rvt_session_totals *stats)
{
	return stats->flow.refuted >= MANY_GAPS && stats->flow.refuted > stats->stream.syncs / 2;
}

static void doubt_parameters(const struct view *view, const struct rvt_session_totals *stats)
{
	if (is_undecodable(view, stats))
		fprintf(stderr, "  Not one instruction could be decoded: the encoder may have "
			"other parameters. Give the right ones with --params FILE.\n");
	else if (is_doubtful(stats))
		fprintf(stderr, "  Behind most synchronisation points the trace contradicts the "
			"code or itself: the encoder may have other parameters (give the right "
			"ones with --params FILE), or other code was executed.\n");
}

bool view_losses(struct view *view, struct view_losses *losses)
{
	struct rvt_session_totals stats;

	rvt_session_totals(view->session, &stats);
	*losses = (struct view_losses){
		.insns = stats.flow.insns, .gaps = view->gaps, .no_code = view->no_code,
		.messages = stats.flow.gaps, .all_messages = stats.stream.messages,
		.bytes = stats.session.missing_bytes + stats.stream.skipped_bytes,
		.all_bytes = stats.session.trace_bytes + stats.session.missing_bytes,
		.overruns = stats.session.truncated + stats.session.partial +
			    stats.session.collisions,
		.records = stats.session.lost_records,
		.damaged = rvt_perfdata_warning(rvt_session_file(view->session)),
		.loops = view->loops, .loop = view->loop,
	};
	if (view->interrupted && rvt_session_size(view->session) > losses->all_bytes)
		losses->undecoded = rvt_session_size(view->session) - losses->all_bytes;
	while (rvt_session_missing(view->session, losses->files))
		losses->files++;
	return losses->undecoded || losses->gaps || losses->messages || losses->bytes ||
	       losses->overruns ||
		losses->records || losses->damaged || losses->loops || stats.stream.errors;
}

static double percent(uint64_t part, uint64_t whole)
{
	return part < whole ? 100.0 * part / whole : 100;
}

void view_print_losses(struct view *view, FILE *out, const char *prefix)
{
	struct view_losses losses;

	view->told = true;
	if (!view_losses(view, &losses)) {
		fprintf(out, "%sall of the trace was decoded, nothing is lost\n", prefix);
		return;
	}
	fprintf(out, "%sNOT ALL of the flow is here", prefix);
	/* statistics of a flow are complete when it has ended */
	if (!losses.undecoded)
		fprintf(out, ": %" PRIu64 " instructions decoded, %" PRIu64 " gap%s", losses.insns,
			losses.gaps, losses.gaps == 1 ? "" : "s");
	putc('\n', out);
	if (losses.undecoded)
		fprintf(out, "%s  %" PRIu64 " of %" PRIu64 " bytes of trace (%.3g%%) were not "
			"decoded: that ended before\n", prefix, losses.undecoded,
			losses.undecoded + losses.all_bytes,
			percent(losses.undecoded, losses.undecoded + losses.all_bytes));
	if (losses.no_code) {
		fprintf(out, "%s  %" PRIu64 " of %" PRIu64 " messages (%.3g%%) could not be "
			"followed: ", prefix, losses.messages, losses.all_messages,
			percent(losses.messages, losses.all_messages));
		if (losses.files)
			fprintf(out, "code is missing, %zu files of it\n", losses.files);
		else
			fputs("no code is known where they lead\n", out);
	}
	if (losses.loops)
		fprintf(out, "%s  %" PRIu64 " times a loop without a branch was entered, as at 0x%"
			PRIx64 ":\n%s  E-Trace does not tell how often it ran, and it counts "
			"once\n",
			prefix, losses.loops, losses.loop, prefix);
	if (losses.bytes)
		fprintf(out, "%s  %" PRIu64 " of %" PRIu64 " bytes of trace (%.3g%%) are damaged "
			"or not in the file\n", prefix, losses.bytes, losses.all_bytes,
			percent(losses.bytes, losses.all_bytes));
	if (losses.overruns || losses.records)
		fprintf(out, "%s  lost while recording: trace %" PRIu64 " times, %" PRIu64
			" records of processes and mappings\n", prefix, losses.overruns,
			losses.records);
}

void view_json_losses(struct view *view, FILE *out)
{
	struct json json = json_begin(out, "losses");
	struct view_losses losses;
	bool lost = view_losses(view, &losses);

	view->told = true;
	json_flag(&json, "lost", lost);
	json_number(&json, "insns", losses.insns);
	json_number(&json, "gaps", losses.gaps);
	json_number(&json, "gaps_no_code", losses.no_code);
	json_number(&json, "messages", losses.all_messages);
	json_number(&json, "messages_lost", losses.messages);
	json_number(&json, "bytes", losses.all_bytes);
	json_number(&json, "bytes_lost", losses.bytes);
	json_number(&json, "overruns", losses.overruns);
	json_number(&json, "records_lost", losses.records);
	json_number(&json, "files_missing", losses.files);
	json_flag(&json, "damaged", losses.damaged);
	json_number(&json, "bytes_undecoded", losses.undecoded);
	json_end(&json);
}

void view_forget(struct view *view)
{
	view->gaps = 0;
	view->no_code = 0;
	view->kernel_lost = view->guest_lost = false;
	view->kernel_refuted = view->guest_refuted = false;
	lost_code_clear(view->lost_code);
	view->loops = 0;
}

struct view_mark view_mark(const struct view *view)
{
	return (struct view_mark){
		.gaps = view->gaps, .no_code = view->no_code, .loops = view->loops,
	};
}

void view_go_back(struct view *view, const struct view_mark *mark)
{
	view->gaps = mark->gaps;
	view->no_code = mark->no_code;
	view->loops = mark->loops;
}

/*
 * The densest trace has one bit per instruction, the sparsest less than a hundred. If there are
 * more bits per decoded instruction than this, nearly all of the flow is lost.
 */
#define MAX_BITS_PER_INSN 512

static bool is_next_to_nothing(const struct view_losses *losses)
{
	return losses->gaps && losses->all_bytes * 8 / MAX_BITS_PER_INSN > losses->insns;
}

/* Returns -ENODATA after a message, if too little was decoded. */
static int judge_losses(struct view *view)
{
	struct view_losses losses;
	bool lost = view_losses(view, &losses);

	if (view->interrupted)
		return memory_exceeded() ? memory_error() : -EINTR;
	if (!view->stopped && is_next_to_nothing(&losses))
		return cmd_error(-ENODATA, "next to nothing was decoded: %" PRIu64 " instructions "
				 "of %" PRIu64 " bytes of trace; what is missing is said above",
				 losses.insns, losses.all_bytes);
	if (lost && view->options.strict)
		return cmd_error(-ENODATA, "--strict: some of the recorded flow is lost, as said "
				 "above");
	return 0;
}

int view_summary(struct view *view, uint64_t trace_errors)
{
	struct rvt_session_totals stats;
	int err;
	const char *warning = rvt_perfdata_warning(rvt_session_file(view->session));

	output_flush();
	rvt_session_totals(view->session, &stats);
	if (!view->told && !rvt_session_is_ctr(view->session) &&
	    view_losses(view, &(struct view_losses){ 0 }))
		view_print_losses(view, stderr, "");
	if (trace_errors)
		fprintf(stderr, "%" PRIu64 " instruction trace errors\n", trace_errors);
	if (stats.session.truncated || stats.session.partial || stats.session.collisions)
		fprintf(stderr, "  trace lost while recording: %" PRIu64 " times no room in the "
									 "buffer, "
			"%" PRIu64 " times the sink was overrun, %" PRIu64 " collisions\n",
			stats.session.truncated, stats.session.partial, stats.session.collisions);
	if (stats.session.missing_bytes)
		fprintf(stderr, "  %" PRIu64 " bytes of trace are not in the file\n",
			stats.session.missing_bytes);
	if (stats.session.lost_records)
		fprintf(stderr, "  %" PRIu64 " sideband records were lost: processes and mappings "
			"may be wrong\n", stats.session.lost_records);
	if (view->cuts)
		fprintf(stderr, "  %" PRIu64 " times call stacks were cut off: no call explains "
			"where the flow went, or calls were too deep\n", view->cuts);
	if (trace_errors) {
		summarize_files(view);
		lost_code_print(view->lost_code);
	}
	if (trace_errors && view->kernel_lost)
		fprintf(stderr, "  The recording has no copy of the kernel's code: kernel flow is "
			"lost. Record as root, or give --kcore or --vmlinux.\n");
	if (trace_errors && view->guest_lost)
		fputs(view->options.session.guest_vmlinux ?
		      "  --guestvmlinux has not all of the guests' code: other flow of theirs is "
		      "lost, as that of their programs.\n" :
		      "  Code of guests is not known: their flow is lost. Give --guestvmlinux.\n",
		      stderr);
	if (trace_errors && view->kernel_refuted && view->options.session.vmlinux)
		fputs("  The flow of the kernel contradicts --vmlinux. Linux changes its own code: "
		      "leave --vmlinux out where the recording has a copy, or give --kcore.\n",
		      stderr);
	if (trace_errors && view->guest_refuted && view->options.session.guest_vmlinux)
		fputs("  The flow of guests contradicts --guestvmlinux. Linux changes its own "
		      "code: give a copy of the guest's /proc/kcore, made while it runs.\n",
		      stderr);
	if (trace_errors || stats.stream.errors)
		doubt_parameters(view, &stats);
	if (view->interrupted)
		cmd_warning("interrupted after %" PRIu64
			    " bytes of trace: this is what was in them", stats.session.trace_bytes);
	if (!view->wanted && stats.session.trace_bytes && view_has_filters(view) &&
	    !view->interrupted)
		cmd_warning("nothing that ran passes the filters --cpu, --pid, --tid, --comms and "
			    "--time");
	if (warning)
		cmd_warning("%s", warning);
	err = judge_losses(view);
	return !err && warning ? -EBADMSG : err;
}

void view_note_run(struct view *view, const struct rvt_hart_flow *hart, const struct rvt_run *run,
		   uint64_t times)
{
	if (!rvt_hart_loop_uncounted(hart, run))
		return;
	view->loops += times;
	view->loop = run->block->target;
}

void view_cut(struct view *view, uint64_t cuts)
{
	view->cuts += cuts;
}

void view_lost(struct view *view, const struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	view->gaps++;
	if ((event->reason == RVT_REASON_BAD_FLOW || event->reason == RVT_REASON_BAD_INSN) &&
	    (int64_t)event->pc < 0) {
		if (rvt_hart_in_guest(hart))
			view->guest_refuted = true;
		else
			view->kernel_refuted = true;
	}
	if (event->reason != RVT_REASON_NO_CODE)
		return;
	view->no_code++;
	if (rvt_hart_in_guest(hart)) {
		view->guest_lost = true;
		return;
	}
	lost_code_add(view->lost_code, hart, event->pc);
	if ((int64_t)event->pc < 0 && !rvt_session_has_kernel(view->session))
		view->kernel_lost = true;
}

const char *view_reason(const struct rvt_event *event)
{
	static const char *const reasons[] = {
		[RVT_REASON_NONE] = "Unknown",
		[RVT_REASON_OVERFLOW] = "Overflow in the encoder",
		[RVT_REASON_TRUNCATED] = "Lost trace data",
		[RVT_REASON_BAD_PACKET] = "Bad packet",
		[RVT_REASON_BAD_FLOW] = "Trace doesn't match code",
		[RVT_REASON_NO_CODE] = "Failed to get instruction",
		[RVT_REASON_BAD_INSN] = "Illegal instruction",
		[RVT_REASON_NO_SYNC] = "No synchronisation point",
		[RVT_REASON_DEBUG] = "Debug mode",
		[RVT_REASON_LOW_POWER] = "Low power",
		[RVT_REASON_DISABLED] = "Tracing disabled",
	};

	if (event->detail)
		return event->detail;
	return event->reason <= RVT_REASON_DISABLED ? reasons[event->reason] : reasons[0];
}
