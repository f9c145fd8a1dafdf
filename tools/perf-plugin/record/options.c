// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Parses the options and the event of `perf rvtrace record`. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/ctr.h"
#include "record/missing.h"
#include "record/record.h"

#define MAX_LEVEL 19	/* higher levels need much memory */
#define COPY_BYTES (64ULL << 20)	/* of code of programs */
#define RECORD_EMBED "PERF_RVTRACE_EMBED"	/* environment variable: always --embed */
#define MAX_SIZE (1ULL << 33)	/* fits when shifted by any unit */

static const char help[] =
"usage: perf rvtrace record [OPTIONS] [--] [COMMAND [ARGS]]\n"
"Records control flow from the trace encoders of the harts into a perf.data file.\n\n"
"  -e, --event EVENT     rvtrace/TERM=VALUE,.../MODIFIERS; terms: perf rvtrace list, "
	"modifiers: u, k,\n"
"                        h; besides, with commas or more -e: cycles:u, sched:sched_switch, ...; "
	"in a\n"
"                        group {rvtrace/aux-action=start-paused/,EVENT/aux-action=resume/,...}\n"
"  -a, --all-cpus        all cpus; -C, --cpu LIST: some; with -G, --cgroup NAME: that group's "
	"tasks\n"
"  -p, --pid PID,...     running processes; -t, --tid TID,...: threads; -u, --uid USER: a user's\n"
"      --switches HOW    with -a or -C, if the trace does not say who runs: bpf (the default) or\n"
"                        perf tells it; command or PID,...: bpf, but of these processes only\n"
"      --per-thread      a buffer a thread; -i, --no-inherit: no children; --all-user, "
	"--all-kernel\n"
"  -c, --count N         a sample each N events; -F, --freq N: a second; --aux-sample[=N]: with "
	"trace\n"
"  -m, --mmap-pages D,T  sizes of the buffers for sideband and trace: pages, or 64K, 4M ...\n"
"  -S, --snapshot[=e]    the newest trace only: at each SIGUSR2; or, and (e) at the end\n"
"      --trigger WHEN    -S, and at sym:FUNCTION[:over=1ms], uprobe:FILE+OFFSET, signal:SEGV, "
	"exit!=0\n"
"  -D, --delay MS        trace after so long (-1: when --control says so); --max-size SIZE: so "
	"much\n"
"      --control fifo:COMMANDS[,ACKS]  enable, disable, snapshot, stop, ping: lines in a FIFO\n"
"      --switch-output[=signal|SIZE|TIME]  the next file at SIGUSR2, 100M, 10s; "
	"--index: index each\n"
"      --filter FILTER   only some code: 'filter FUNCTION @ FILE', 'filter FUNCTION' (kernel),\n"
"                        'filter FROM/TO @ FILE', 'filter * @ FILE', 'start F @ FILE, "
	"stop G @ FILE'\n"
"  -o, --output FILE     instead of perf.data; -q, --quiet; -v, --verbose: what was "
	"chosen and why\n"
"      --profile[=FORMAT]  write counts, not the trace (--keep FILE: that, too); of one --dso "
	"FILE\n"
"  -z, --compression-level[=N]  zstd, 1 to 19 (1); --force: any protocol; --auxtrace-info: for "
	"perf\n"
"      --no-code, --embed  no copy of kernel code, or one in the file; --copy-code "
	"auto|never|SIZE\n";

enum { OPT_PER_THREAD = 256, OPT_FILTER, OPT_NO_CODE, OPT_FORCE, OPT_PROFILE, OPT_DSO,
       OPT_KEEP, OPT_SWITCHES, OPT_CONTROL, OPT_SWITCH_OUTPUT, OPT_MAX_SIZE,
       OPT_AUXTRACE_INFO, OPT_COPY_CODE, OPT_TRIGGER, OPT_EMBED, OPT_AUX_SAMPLE,
       OPT_INDEX, OPT_ALL_USER, OPT_ALL_KERNEL };

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "all-user", no_argument, NULL, OPT_ALL_USER },
	{ "all-kernel", no_argument, NULL, OPT_ALL_KERNEL },
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "cgroup", required_argument, NULL, 'G' },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "switches", required_argument, NULL, OPT_SWITCHES },
	{ "per-thread", no_argument, NULL, OPT_PER_THREAD },
	{ "no-inherit", no_argument, NULL, 'i' },
	{ "count", required_argument, NULL, 'c' },
	{ "freq", required_argument, NULL, 'F' },
	{ "mmap-pages", required_argument, NULL, 'm' },
	{ "snapshot", optional_argument, NULL, 'S' },
	{ "trigger", required_argument, NULL, OPT_TRIGGER },
	{ "aux-sample", optional_argument, NULL, OPT_AUX_SAMPLE },
	{ "uid", required_argument, NULL, 'u' },
	{ "delay", required_argument, NULL, 'D' },
	{ "control", required_argument, NULL, OPT_CONTROL },
	{ "switch-output", optional_argument, NULL, OPT_SWITCH_OUTPUT },
	{ "max-size", required_argument, NULL, OPT_MAX_SIZE },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "output", required_argument, NULL, 'o' },
	{ "compression-level", optional_argument, NULL, 'z' },
	{ "profile", optional_argument, NULL, OPT_PROFILE },
	{ "dso", required_argument, NULL, OPT_DSO },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "embed", no_argument, NULL, OPT_EMBED },
	{ "no-code", no_argument, NULL, OPT_NO_CODE },
	{ "copy-code", required_argument, NULL, OPT_COPY_CODE },
	{ "auxtrace-info", no_argument, NULL, OPT_AUXTRACE_INFO },
	{ "index", no_argument, NULL, OPT_INDEX },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* Parses "64" pages or "4M". Returns 0 unless it is a power of two of at least a page. */
static uint64_t parse_size(const char *text, size_t len)
{
	const char *end = text;
	uint64_t value;

	if (read_number(&end, &value) || value > MAX_SIZE)
		return 0;
	if (end == text + len)
		value *= sysconf(_SC_PAGESIZE);
	else if (end + 1 == text + len && strchr("BKMG", *end))
		value <<= *end == 'B' ? 0 : *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
	else
		return 0;
	return value >= (uint64_t)sysconf(_SC_PAGESIZE) && !(value & (value - 1)) ? value : 0;
}

/* Parses the list of -C, -p, ...; @what is in the list. */
static int parse_list(struct number_list *list, const char *text, int lowest, const char *what)
{
	free(list->numbers);
	list->numbers = NULL;
	list->n = parse_numbers(text, &list->numbers);
	return list->n > 0 && list->numbers[0] >= lowest ? 0 :
		cmd_error(-EINVAL, "'%s' is no list of %s", text, what);
}

static int parse_switches(struct record_options *options, const char *text)
{
	static const char *const names[] = {
		[SWITCHES_PERF] = "perf", [SWITCHES_BPF] = "bpf", [SWITCHES_COMMAND] = "command",
	};

	for (size_t i = SWITCHES_PERF; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i])) {
			options->switches = i;
			return 0;
		}
	options->switches = SWITCHES_PIDS;
	return parse_list(&options->switch_pids, text, 1, "processes, nor perf, bpf or command");
}

static int parse_buffers(struct record_options *options, const char *text)
{
	size_t len = strcspn(text, ",");

	if (len) {
		options->data_bytes = parse_size(text, len);
		if (!options->data_bytes)
			goto invalid;
	}
	if (text[len] && text[len + 1]) {
		options->aux_bytes = parse_size(text + len + 1, strlen(text + len + 1));
		if (!options->aux_bytes)
			goto invalid;
	}
	return 0;
invalid:
	return cmd_error(-EINVAL, "'%s' is no pair of buffer sizes: give DATA,TRACE, each a power "
			 "of two of pages (64) or bytes (64K, 4M)", text);
}

/*
 * Returns whether @event is of the trace. "rvtrace:u" is, but the driver's tracepoints have such
 * names, too: "rvtrace:rvtrace_start".
 */
static bool is_trace_event(const char *event)
{
	size_t len = strlen(RECORD_PMU);

	if (record_is_ctr(event))
		return true;
	return !strncmp(event, RECORD_PMU, len) &&
		(event[len] != ':' || !event[len + 1 + strspn(event + len + 1, "ukhGH")]);
}

/* Takes @event, malloc'd, as the trace's event. @action is not in it any more. */
static int add_trace_event(struct record_options *options, char *event, uint32_t action)
{
	free(options->event);
	options->event = event;
	options->start_paused = action == EVENT_AUX_START_PAUSED;
	return !action || options->start_paused ? 0 :
		cmd_error(-EINVAL, "-e %s: aux-action of the trace itself is start-paused; pause "
			  "and resume are for the events of its group", event);
}

static int add_extra(struct record_options *options, const char *event, uint32_t action,
		     uint32_t sample, bool grouped)
{
	size_t n = options->extra.n;
	int err;

	if (action == EVENT_AUX_START_PAUSED)
		return cmd_error(-EINVAL, "-e %s: aux-action=start-paused is for the trace: %s",
				 event, RECORD_PMU "/aux-action=start-paused/");
	if (action && !grouped)
		return cmd_error(-EINVAL, "-e %s: aux-action needs a group that the trace leads: "
				 "'{" RECORD_PMU "//,%s/aux-action=.../}'", event, event);
	if (sample && !grouped)
		return cmd_error(-EINVAL, "-e %s: aux-sample-size needs a group that the trace "
				 "leads: '{" RECORD_PMU "//,%s/aux-sample-size=.../}'", event,
				 event);
	err = record_add_extra(options, event);
	for (; !err && n < options->extra.n; n++) {
		options->extra.events[n].grouped = grouped;
		options->extra.events[n].attr.aux_sample_size = sample;
		event_set_aux_action(&options->extra.events[n].attr, action);
	}
	return err;
}

/* Takes the terms about the group's trace out of @event. */
static int take_aux_terms(char *event, uint32_t *action, uint32_t *sample)
{
	char *error;
	int err = event_take_aux_action(event, action, &error);

	if (!err)
		err = event_take_aux_sample_size(event, sample, &error);
	if (err)
		cmd_error(0, "-e %s: %s", event, error ? error : "out of memory");
	free(error);
	return err;
}

/* Adds @event, malloc'd, and frees or keeps it. */
static int add_event(struct record_options *options, char *event, bool grouped)
{
	uint32_t action, sample;
	int err;

	if (!*event) {
		err = cmd_error(-EINVAL, "-e: '': no event");
	} else {
		err = take_aux_terms(event, &action, &sample);
		if (!err && sample && is_trace_event(event))
			err = cmd_error(-EINVAL, "-e %s: aux-sample-size is for the events of its "
					"group", event);
		else if (!err && is_trace_event(event))
			return add_trace_event(options, event, action);
		else if (!err)
			err = add_extra(options, event, action, sample, grouped);
	}
	free(event);
	return err;
}

/* Adds "{TRACE,A,B}": A and B are sampled in a group that the trace leads. */
static int add_group(struct record_options *options, const char *text, size_t len)
{
	const char *end = text + len - 1, *next = text + 1;
	bool first = true;
	int err = 0;

	if (len < 2 || *end != '}')
		return cmd_error(-EINVAL, "-e: '%.*s': a group ends with }; modifiers are given to "
				 "each event in it", (int)len, text);
	while (!err && next < end) {
		size_t length = event_length(next);
		char *event;

		if (length > (size_t)(end - next))
			length = end - next;
		event = strndup(next, length);
		if (event && first && !is_trace_event(event))
			err = cmd_error(-EINVAL, "-e: '%.*s': the trace leads the group: {"
					RECORD_PMU "//,...}", (int)len, text);
		if (err)
			free(event);
		else
			err = event ? add_event(options, event, true) : -ENOMEM;
		first = false;
		next += length + 1;
	}
	return err;
}

/* Adds the trace's event, and other events to sample: "A,B,...". */
static int add_events(struct record_options *options, const char *text)
{
	int err = 0;

	while (!err && text) {
		size_t len = event_length(text);
		char *event = *text == '{' ? NULL : strndup(text, len);

		if (*text == '{')
			err = add_group(options, text, len);
		else
			err = event ? add_event(options, event, false) : -ENOMEM;
		text = text[len] ? text + len + 1 : NULL;
	}
	return err;
}

void record_free_options(struct record_options *options)
{
	free(options->event);
	event_list_clear(&options->extra);
	free(options->cpus.numbers);
	free(options->pids.numbers);
	free(options->tids.numbers);
	free(options->switch_pids.numbers);
	trigger_list_clear(&options->triggers);
}

static int parse_level(const char *text, int *level)
{
	uint64_t number = 1;
	int err = text ? cmd_number("-z", text, 1, MAX_LEVEL, &number) : 0;

	*level = number;
	return err;
}

static int parse_aux_sample(struct record_options *options, const char *text)
{
	char *error = NULL;
	int err;

	options->aux_sample = EVENT_AUX_SAMPLE;
	if (!text)
		return 0;
	err = event_sample_size(text, &options->aux_sample, &error);
	if (err)
		cmd_error(0, "--aux-sample=%s: %s", text, error ? error : "out of memory");
	free(error);
	return err;
}

static int parse_snapshot(struct record_options *options, const char *text)
{
	options->snapshot = true;
	options->snapshot_at_end = text && !strcmp(text, "e");
	if (text && !options->snapshot_at_end)
		return cmd_error(-EINVAL, "'%s': --snapshot takes e or nothing", text);
	return 0;
}

/* Parses "100M": a number with one of the units B, K, M, G. Returns false if it is none. */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "BKMG";
	const char *unit;

	if (read_number(&text, bytes) || !*bytes || *bytes > MAX_SIZE)
		return false;
	unit = *text ? strchr(units, *text) : NULL;
	if (!unit || text[1])
		return false;
	*bytes <<= 10 * (unit - units);
	return true;
}

/* Parses "10s": a number with one of the units s, m, h, d. */
static bool parse_seconds(const char *text, uint64_t *seconds)
{
	static const struct {
		char name;
		unsigned int seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };

	if (read_number(&text, seconds) || !*seconds || *seconds > UINT32_MAX)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (text[0] == units[i].name && !text[1]) {
			*seconds *= units[i].seconds;
			return true;
		}
	return false;
}

static int parse_switch_output(struct record_options *options, const char *text)
{
	if (!text || !strcmp(text, "signal"))
		options->switch_output = OUTPUT_BY_SIGNAL;
	else if (parse_bytes(text, &options->switch_at))
		options->switch_output = OUTPUT_BY_SIZE;
	else if (parse_seconds(text, &options->switch_at))
		options->switch_output = OUTPUT_BY_TIME;
	else
		return cmd_error(-EINVAL, "--switch-output: '%s' is neither signal, nor a size "
				 "like 100M, nor a time like 10s, 5m", text);
	return 0;
}

static int parse_copy_code(struct record_options *options, const char *text)
{
	options->copy_code = strcmp(text, "never");
	if (options->copy_code && strcmp(text, "auto") && !parse_bytes(text, &options->copy_bytes))
		return cmd_error(-EINVAL, "--copy-code: '%s' is neither auto, nor never, nor a "
				 "size like 100M", text);
	return 0;
}

static int parse_delay(struct record_options *options, const char *text)
{
	uint64_t ms;

	if (!strcmp(text, "-1")) {
		options->delay_ms = -1;
		return 0;
	}
	if (strchr(text, '-') || strchr(text, ','))
		return cmd_error(-EINVAL, "-D: '%s': ranges of time are not supported: give "
				 "milliseconds, or -1 and --control", text);
	if (cmd_number("-D", text, 0, INT32_MAX, &ms))
		return -EINVAL;
	options->delay_ms = ms;
	return 0;
}

static int take_option(struct record_options *options, int c)
{
	switch (c) {
	case 'e': return add_events(options, optarg);
	case OPT_ALL_USER: options->all_user = true; return 0;
	case OPT_ALL_KERNEL: options->all_kernel = true; return 0;
	case 'a': options->system_wide = true; return 0;
	case 'C': return parse_list(&options->cpus, optarg, 0, "cpus, like 0-3,5");
	case 'G': options->cgroup = optarg; return 0;
	case 'p': return parse_list(&options->pids, optarg, 1, "processes");
	case 't': return parse_list(&options->tids, optarg, 1, "threads");
	case 'i': options->no_inherit = true; return 0;
	case 'c': return cmd_number("-c", optarg, 1, INT64_MAX, &options->period);
	case 'F': return cmd_number("-F", optarg, 1, INT64_MAX, &options->frequency);
	case 'm': return parse_buffers(options, optarg);
	case 'o': options->output = optarg; return 0;
	case 'q': options->quiet = true; return 0;
	case 'v': cmd_verbose = true; return 0;
	case 'u': options->user = optarg; return 0;
	case 'D': return parse_delay(options, optarg);
	case OPT_CONTROL: options->control = optarg; return 0;
	case OPT_SWITCH_OUTPUT: return parse_switch_output(options, optarg);
	case OPT_MAX_SIZE:
		return parse_bytes(optarg, &options->max_bytes) ? 0 :
			cmd_error(-EINVAL, "--max-size: '%s' is no size like 100M", optarg);
	case 'S': return parse_snapshot(options, optarg);
	case OPT_TRIGGER:
		options->snapshot = true;
		return trigger_parse(&options->triggers, optarg);
	case 'z': return parse_level(optarg, &options->level);
	case OPT_SWITCHES: return parse_switches(options, optarg);
	case OPT_PER_THREAD: options->per_thread = true; return 0;
	case OPT_FILTER: options->filter = optarg; return 0;
	case OPT_AUX_SAMPLE: return parse_aux_sample(options, optarg);
	case OPT_PROFILE: options->profile = optarg ? optarg : "counts"; return 0;
	case OPT_DSO: options->dso = optarg; return 0;
	case OPT_KEEP: options->keep = optarg; return 0;
	case OPT_COPY_CODE: return parse_copy_code(options, optarg);
	case OPT_NO_CODE: options->no_code = true; return 0;
	case OPT_EMBED: options->embed = true; return 0;
	case OPT_AUXTRACE_INFO: options->auxtrace_info = true; return 0;
	case OPT_INDEX: options->index = true; return 0;
	case OPT_FORCE: options->force = true; return 0;
	case 'h':
		fputs(help, stdout);
		exit(0);
	default:
		cmd_try_help(0);
		return -EINVAL;
	}
}

enum record_target record_target(const struct record_options *options)
{
	if (options->pids.n || options->tids.n || options->user)
		return TARGET_TASKS;
	if (options->system_wide || options->cpus.n || !options->command)
		return TARGET_SYSTEM;
	return TARGET_COMMAND;
}

static int check_switches(const struct record_options *options)
{
	if (options->switches <= SWITCHES_PERF)
		return 0;
	if (record_is_ctr(options->event) || record_target(options) != TARGET_SYSTEM)
		return cmd_error(-EINVAL, "--switches=bpf, command and PID,... are for the trace "
				 "of whole cpus (-a, -C); of a command, -p or -t, perf tells those "
				 "switches only");
	if (options->switches == SWITCHES_COMMAND && !options->command)
		return cmd_error(-EINVAL, "--switches=command: there is no command");
	return 0;
}

/* Chooses which events' samples have trace. --aux-sample is for those of the trace's group. */
static int choose_samples(struct record_options *options)
{
	for (size_t i = 0; i < options->extra.n; i++) {
		struct event *event = &options->extra.events[i];

		if (event->grouped && !event->attr.aux_sample_size && options->aux_sample)
			event->attr.aux_sample_size = options->aux_sample;
		options->in_samples |= event->attr.aux_sample_size;
	}
	if (options->aux_sample && !options->in_samples)
		return cmd_error(-EINVAL, "--aux-sample: the trace goes into the samples of its "
				 "group: -e '{" RECORD_PMU "//u,cycles:u}'");
	if (options->in_samples && (options->profile || options->snapshot || options->level ||
				    options->triggers.n || options->per_thread))
		return cmd_error(-EINVAL, "trace in samples (aux-sample-size, --aux-sample) does "
				 "not go together with --profile, -S, --trigger, -z and "
				 "--per-thread");
	return 0;
}

/* Rejects options that do not go together. */
static int check_options(const struct record_options *options)
{
	bool whole_cpus = options->system_wide || options->cpus.n;

	if (options->all_user && options->all_kernel)
		return cmd_error(-EINVAL, "--all-user and --all-kernel leave nothing to trace: "
				 "give one of them");
	if (record_target(options) == TARGET_TASKS && whole_cpus)
		return cmd_error(-EINVAL, "-p, -t and -u do not go together with -a and -C");
	if (options->cgroup && !whole_cpus)
		return cmd_error(-EINVAL, "-G goes together with -a or -C: the trace of whole "
				 "cpus, while they run what is in the control group");
	if (options->per_thread && whole_cpus)
		return cmd_error(-EINVAL, "--per-thread does not go together with -a and -C");
	if (options->per_thread && record_target(options) == TARGET_SYSTEM)
		return cmd_error(-EINVAL, "--per-thread needs a command, -p or -t");
	if (!options->profile && (options->dso || options->keep))
		return cmd_error(-EINVAL, "--dso and --keep go together with --profile");
	if (options->profile && options->snapshot)
		return cmd_error(-EINVAL, "--profile decodes all of the trace, --snapshot keeps "
				 "the newest: give one of them");
	if (options->user && (options->pids.n || options->tids.n))
		return cmd_error(-EINVAL, "-u does not go together with -p and -t");
	if (options->profile && (options->switch_output == OUTPUT_BY_SIZE || options->max_bytes))
		return cmd_error(-EINVAL, "--profile makes small files: --max-size, and a size of "
				 "--switch-output, are for recordings");
	if (options->profile && options->switch_output && options->keep)
		return cmd_error(-EINVAL, "--keep keeps one recording, and --switch-output makes "
				 "many profiles: give one of them");
	if (options->auxtrace_info && (options->profile || options->level))
		return cmd_error(-EINVAL, "--auxtrace-info is for perf, which reads no profiles "
				 "and not the compressed trace of -z");
	if (options->snapshot && options->switch_output > OUTPUT_BY_SIGNAL)
		return cmd_error(-EINVAL, "--snapshot keeps the newest trace, and a file for each "
				 "snapshot is --switch-output alone, without a size or time");
	if (options->index && options->profile && !options->keep)
		return cmd_error(-EINVAL, "--index is of a recording, and --profile keeps none: "
				 "give --keep FILE");
	if (options->index && record_is_ctr(options->event))
		return cmd_error(-EINVAL, "--index is for traces, not for %s", options->event);
	if (options->triggers.n && record_is_ctr(options->event))
		return cmd_error(-EINVAL, "--trigger is for traces, not for %s", options->event);
	if (options->delay_ms < 0 && !options->control)
		return cmd_error(-EINVAL, "-D -1 waits until somebody says 'enable': give "
				 "--control fifo:PATH");
	if (!strcmp(options->output, "-"))
		return cmd_error(-EINVAL, "the output must be a file: its header is written at the "
				 "end");
	return check_switches(options);
}

int record_parse_options(struct record_options *options, int argc, char **argv)
{
	int c, err = 0;

	*options = (struct record_options){
		.event = strdup(RECORD_PMU "//"), .copy_code = true, .copy_bytes = COPY_BYTES,
		.embed = getenv(RECORD_EMBED),
	};
	if (!options->event)
		return -ENOMEM;
	while (!err && (c = getopt_long(argc, argv, "+e:aC:G:p:t:u:D:ic:F:m:o:qvhS::z::",
					long_options, NULL)) >= 0)
		err = take_option(options, c);
	options->command = optind < argc ? argv + optind : NULL;
	if (!options->output)
		options->output = options->profile ? "perf.profile" : "perf.data";
	if (!err)
		err = choose_samples(options);
	return err ? err : check_options(options);
}

/*
 * Returns whether the harts have a context CSR. Without one, hardware with Ownership messages
 * cannot say who runs.
 */
static bool context_is_usable(bool ntrace)
{
	return record_has_scontext() || (ntrace && record_hcontext_bits());
}

/*
 * Returns whether this term is on unless the event says otherwise. Context and time stamps are, to
 * tell processes apart. So are options of N-Trace that make the trace smaller and lose nothing. Of
 * the implicit return modes only 3 compares whole addresses; with the others flow may be wrong
 * where a program does not return to its caller, so they must be asked for.
 */
static bool is_default(const char *name, bool ntrace)
{
	/* the driver refuses it in containers, which have other numbers of threads */
	if (!strcmp(name, "context") &&
	    !(context_is_usable(ntrace) && record_in_first_pid_namespace()))
		return false;
	if (strcmp(name, "context") && strcmp(name, "timestamp") && !ntrace)
		return false;
	if (!strcmp(name, "implicit_return") && !record_caps_have("implicit_return_modes", "3"))
		return false;
	return record_caps_have("features", name);
}

static void set_defaults(struct recorder *rec)
{
	static const char *const names[] = {
		"context", "timestamp", "implicit_return", "sequential_jump", "repeated_history",
	};
	bool ntrace = record_wants_ntrace(rec);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_default(names[i], ntrace))
			pmu_switch_on(&rec->pmu, names[i], &rec->trace_attr);
}

/* Takes --all-user and --all-kernel as a modifier of the event. */
static int only_one_mode(struct recorder *rec, bool *modified)
{
	struct perf_event_attr *attr = &rec->trace_attr;

	if (!rec->options.all_user && !rec->options.all_kernel)
		return 0;
	attr->exclude_kernel |= rec->options.all_user;
	attr->exclude_user |= rec->options.all_kernel;
	attr->exclude_hv = 1;
	*modified = true;
	return !attr->exclude_kernel || !attr->exclude_user ? 0 :
		cmd_error(-EINVAL, "'%s' with %s leaves nothing to trace", rec->options.event,
			  rec->options.all_user ? "--all-user" : "--all-kernel");
}

int record_parse_event(struct recorder *rec, bool *modified)
{
	char *error;

	rec->ctr = record_is_ctr(rec->options.event);
	rec->pmu_name = rec->ctr ? RECORD_CTR_PMU : RECORD_PMU;
	if (rec->ctr && rec->options.auxtrace_info)
		return cmd_error(-EINVAL, "--auxtrace-info is of trace, which " RECORD_CTR_PMU
				 " has not");
	if (pmu_read(&rec->pmu, "/sys", rec->pmu_name)) {
		if (rec->ctr)
			record_explain_missing_ctr();
		else
			record_explain_missing_pmu();
		return -ENODEV;
	}
	if (rec->ctr)
		record_ctr_defaults(rec);
	else
		set_defaults(rec);
	if (pmu_parse_event(&rec->pmu, rec->pmu_name, rec->options.event, &rec->trace_attr,
			    modified,
			    &error)) {
		cmd_error(0, "%s", error ? error : "out of memory");
		free(error);
		return -EINVAL;
	}
	if (only_one_mode(rec, modified))
		return -EINVAL;
	/* firmware's code cannot be read: trace it only if asked for */
	if (!*modified)
		rec->trace_attr.exclude_hv = 1;
	else if (!rec->trace_attr.exclude_hv)
		pmu_switch_on(&rec->pmu, "machine", &rec->trace_attr);
	return record_ctr_period(rec);
}
