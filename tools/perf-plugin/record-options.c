// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What `perf rvtrace record` is asked to do: options, event, cpus and tasks. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmd.h"
#include "record.h"

#define MAX_LEVEL 19	/* more needs much memory */

static const char help[] =
"usage: perf rvtrace record [OPTIONS] [--] [COMMAND [ARGS]]\n"
"Records control flow from the trace encoders of the harts into a perf.data file.\n\n"
"  -e, --event EVENT     rvtrace/TERM=VALUE,.../MODIFIERS; terms: see\n"
"                        /sys/bus/event_source/devices/rvtrace/format, modifiers: u, k, h;\n"
"                        and, with commas or more -e, what is sampled besides: cycles:u,\n"
"                        cpu/event=0x10/u, sched:sched_switch, 'syscalls:*', ... (perf list)\n"
"  -a, --all-cpus        the whole system (until Ctrl-C, or while COMMAND runs)\n"
"  -C, --cpu LIST        the same on some cpus: 0-3,5\n"
"  -p, --pid PID,...     running processes with all their threads; -t, --tid TID,...: threads\n"
"      --switches HOW    with -a or -C, if the trace does not say who runs: bpf (the default) or\n"
"                        perf tells it; command or PID,...: bpf, but of these processes only\n"
"      --per-thread      a buffer for each thread, not cpu; -i, --no-inherit: no children or threads\n"
"  -c, --count N         riscv_ctr and -e besides: a sample every N events; -F, --freq N:\n"
"                        N a second\n"
"  -m, --mmap-pages D,T  sizes of the buffers for sideband and trace: pages, or 64K, 4M ...\n"
"  -S, --snapshot[=e]    the newest trace only: at each SIGUSR2; or, and (e) at the end\n"
"      --filter FILTER   only some code: 'filter FUNCTION @ FILE', 'filter FUNCTION' (kernel),\n"
"                        'filter FROM/TO @ FILE', 'filter * @ FILE', 'start F @ FILE, stop G @ FILE'\n"
"  -o, --output FILE     instead of perf.data; -q, --quiet: no summary\n"
"      --profile[=FORMAT]  decode at once, write counts (perf.profile) in place of the trace; of\n"
"                        one file with --dso FILE; the trace, too: --keep FILE\n"
"  -z, --compression-level[=N]  compress the trace (zstd, level 1 to 19; 1)\n"
"      --no-code         no copy of the kernel's code; --force: whatever the encoder's protocol\n";

enum { OPT_PER_THREAD = 256, OPT_FILTER, OPT_NO_CODE, OPT_FORCE, OPT_PROFILE, OPT_DSO,
       OPT_KEEP, OPT_SWITCHES };

static const struct option long_options[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "switches", required_argument, NULL, OPT_SWITCHES },
	{ "per-thread", no_argument, NULL, OPT_PER_THREAD },
	{ "no-inherit", no_argument, NULL, 'i' },
	{ "count", required_argument, NULL, 'c' },
	{ "freq", required_argument, NULL, 'F' },
	{ "mmap-pages", required_argument, NULL, 'm' },
	{ "snapshot", optional_argument, NULL, 'S' },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "output", required_argument, NULL, 'o' },
	{ "compression-level", optional_argument, NULL, 'z' },
	{ "profile", optional_argument, NULL, OPT_PROFILE },
	{ "dso", required_argument, NULL, OPT_DSO },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "no-code", no_argument, NULL, OPT_NO_CODE },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* "64" pages or "4M". Returns 0 for what is no power of two of at least a page. */
static uint64_t parse_size(const char *text, size_t len)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (end == text + len)
		value *= sysconf(_SC_PAGESIZE);
	else if (end + 1 == text + len && strchr("BKMG", *end))
		value <<= *end == 'B' ? 0 : *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
	else
		return 0;
	return value >= (uint64_t)sysconf(_SC_PAGESIZE) && !(value & (value - 1)) ? value : 0;
}

static int parse_rate(const char *text, uint64_t *value)
{
	char *end;

	*value = strtoull(text, &end, 10);
	return *value && !*end ? 0 : cmd_error(-EINVAL, "'%s' is no number of events or samples",
					       text);
}

static int parse_buffers(struct record_options *options, const char *text)
{
	size_t len = strcspn(text, ",");

	if (len) {
		options->data_bytes = parse_size(text, len);
		if (!options->data_bytes)
			goto invalid;
	}
	if (text[len]) {
		options->aux_bytes = parse_size(text + len + 1, strlen(text + len + 1));
		if (!options->aux_bytes)
			goto invalid;
	}
	return 0;
invalid:
	return cmd_error(-EINVAL, "'%s' is no pair of buffer sizes: give DATA,TRACE, each a power "
				  "of two "
			 "of pages (64) or bytes (64K, 4M)", text);
}

/* Also "rvtrace:u", but the driver has tracepoints, too: "rvtrace:rvtrace_start". */
static bool is_trace_event(const char *event)
{
	size_t len = strlen(RECORD_PMU);

	if (record_is_ctr(event))
		return true;
	return !strncmp(event, RECORD_PMU, len) &&
		(event[len] != ':' || !event[len + 1 + strspn(event + len + 1, "ukhGH")]);
}

/* @event is malloc'd and taken over. */
static int add_event(struct record_options *options, char *event)
{
	int err;

	if (is_trace_event(event)) {
		free(options->event);
		options->event = event;
		return 0;
	}
	if (*event && *event != '{')
		err = record_add_extra(options, event);
	else
		err = cmd_error(-EINVAL, "-e: '%s': %s", event, *event ? "there are no groups of events "
				"beside a trace; leave out { and }" : "no event");
	free(event);
	return err;
}

/* The event of the trace, and what is sampled besides: "A,B,...". */
static int add_events(struct record_options *options, const char *text)
{
	int err = 0;

	while (!err && text) {
		size_t len = event_length(text);
		char *event = strndup(text, len);

		err = event ? add_event(options, event) : -ENOMEM;
		text = text[len] ? text + len + 1 : NULL;
	}
	return err;
}

void record_free_options(struct record_options *options)
{
	free(options->event);
	event_list_clear(&options->extra);
}

static int parse_level(const char *text, int *level)
{
	char *end;

	*level = text ? strtol(text, &end, 10) : 1;
	if (text && (*end || *level < 1 || *level > MAX_LEVEL))
		return cmd_error(-EINVAL, "-z: '%s' is no level from 1 to %d", text, MAX_LEVEL);
	return 0;
}

static int parse_snapshot(struct record_options *options, const char *text)
{
	options->snapshot = true;
	options->snapshot_at_end = text && !strcmp(text, "e");
	if (text && !options->snapshot_at_end)
		return cmd_error(-EINVAL, "'%s': --snapshot takes e or nothing", text);
	return 0;
}

static int take_option(struct record_options *options, int c)
{
	switch (c) {
	case 'e': return add_events(options, optarg);
	case 'a': options->system_wide = true; return 0;
	case 'C': options->cpu_list = optarg; return 0;
	case 'p': options->pids = optarg; return 0;
	case 't': options->tids = optarg; return 0;
	case 'i': options->no_inherit = true; return 0;
	case 'c': return parse_rate(optarg, &options->period);
	case 'F': return parse_rate(optarg, &options->frequency);
	case 'm': return parse_buffers(options, optarg);
	case 'o': options->output = optarg; return 0;
	case 'q': options->quiet = true; return 0;
	case 'S': return parse_snapshot(options, optarg);
	case 'z': return parse_level(optarg, &options->level);
	case OPT_SWITCHES: options->switches = optarg; return 0;
	case OPT_PER_THREAD: options->per_thread = true; return 0;
	case OPT_FILTER: options->filter = optarg; return 0;
	case OPT_PROFILE: options->profile = optarg ? optarg : "counts"; return 0;
	case OPT_DSO: options->dso = optarg; return 0;
	case OPT_KEEP: options->keep = optarg; return 0;
	case OPT_NO_CODE: options->no_code = true; return 0;
	case OPT_FORCE: options->force = true; return 0;
	case 'h':
		fputs(help, stdout);
		exit(0);
	default:
		cmd_try_help(0);
		return -EINVAL;
	}
}

/* What does not go together. */
static int check_options(const struct record_options *options)
{
	bool whole_cpus = options->system_wide || options->cpu_list;

	if ((options->pids || options->tids) && whole_cpus)
		return cmd_error(-EINVAL, "-p and -t do not go together with -a and -C");
	if (options->per_thread && whole_cpus)
		return cmd_error(-EINVAL, "--per-thread does not go together with -a and -C");
	if (!options->profile && (options->dso || options->keep))
		return cmd_error(-EINVAL, "--dso and --keep go together with --profile");
	if (options->profile && options->snapshot)
		return cmd_error(-EINVAL, "--profile decodes all of the trace, --snapshot keeps the "
				 "newest: give one of them");
	if (!strcmp(options->output, "-"))
		return cmd_error(-EINVAL, "the output must be a file: its header is written at the "
				 "end");
	return 0;
}

int record_parse_options(struct record_options *options, int argc, char **argv)
{
	int c, err = 0;

	*options = (struct record_options){ .event = strdup(RECORD_PMU "//") };
	if (!options->event)
		return -ENOMEM;
	while (!err && (c = getopt_long(argc, argv, "+e:aC:p:t:ic:F:m:o:qhS::z::", long_options,
					NULL)) >= 0)
		err = take_option(options, c);
	options->command = optind < argc ? argv + optind : NULL;
	if (!options->output)
		options->output = options->profile ? "perf.profile" : "perf.data";
	return err ? err : check_options(options);
}

/* Hardware that has Ownership messages is of use only when the harts have a context CSR, too. */
static bool context_is_usable(bool ntrace)
{
	return record_has_scontext() || (ntrace && record_hcontext_bits());
}

/*
 * Is this term on unless the event says otherwise? Processes are told apart by context and time
 * stamps.
 * Options of N-Trace that make the trace smaller and lose nothing are on as well. Of the implicit
 * return modes only 3 compares whole addresses: with the others flow may be wrong where a program
 * does not return to its caller, so they must be asked for.
 */
static bool is_default(const char *name, bool ntrace)
{
	/* the driver refuses it in containers, for the numbers of threads are not theirs */
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

int record_parse_event(struct recorder *rec, bool *modified)
{
	char *error;

	rec->ctr = record_is_ctr(rec->options.event);
	rec->pmu_name = rec->ctr ? RECORD_CTR_PMU : RECORD_PMU;
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
	/* The code of firmware is nowhere to be read: only those who ask get it. */
	if (!*modified)
		rec->trace_attr.exclude_hv = 1;
	else if (!rec->trace_attr.exclude_hv)
		pmu_switch_on(&rec->pmu, "machine", &rec->trace_attr);
	return record_ctr_period(rec);
}

static int read_cpus(const char *path, int **cpus)
{
	char *text = read_text("%s", path);
	int n = text ? parse_cpu_list(text, cpus) : -ENOENT;

	free(text);
	return n;
}

int record_choose_cpus(struct recorder *rec)
{
	int n, *wanted = NULL;
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpumask", rec->pmu_name);
	rec->n_online_cpus = read_cpus("/sys/devices/system/cpu/online", &rec->online_cpus);
	if (rec->n_online_cpus <= 0)
		return cmd_error(-EIO, "cannot read /sys/devices/system/cpu/online");
	rec->n_encoder_cpus = read_cpus(path, &rec->encoder_cpus);
	if (rec->n_encoder_cpus <= 0)
		return cmd_error(-ENODEV, "no hart has a trace encoder (the PMU's cpumask is "
					  "empty)");
	n = rec->n_encoder_cpus;
	if (rec->options.cpu_list) {
		n = parse_cpu_list(rec->options.cpu_list, &wanted);
		if (n <= 0)
			return cmd_error(-EINVAL, "'%s' is no list of cpus, like 0-3,5",
					 rec->options.cpu_list);
	} else {
		wanted = rec->encoder_cpus;
	}
	for (int i = 0; i < n; i++) {
		bool has = false;

		for (int j = 0; j < rec->n_encoder_cpus; j++)
			has |= wanted[i] == rec->encoder_cpus[j];
		if (!has)
			return cmd_error(-ENODEV, "cpu %d has no trace encoder; cpus that have "
						  "one: see %s",
					 wanted[i], path);
	}
	rec->trace_cpus = wanted;
	rec->n_trace_cpus = n;
	return 0;
}

static int add_tids(struct recorder *rec, const pid_t *tids, int n)
{
	pid_t *grown = reallocarray(rec->tids, rec->n_tids + n, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	rec->tids = grown;
	memcpy(grown + rec->n_tids, tids, n * sizeof(*tids));
	rec->n_tids += n;
	return 0;
}

static int add_task_list(struct recorder *rec, const char *list, bool processes)
{
	while (list && *list) {
		char *end;
		pid_t tid = strtol(list, &end, 10), *tids;
		int n, err;

		if (end == list || tid <= 0 || (*end && *end != ','))
			return cmd_error(-EINVAL, "'%s' is no list of process or thread ids", list);
		list = *end ? end + 1 : end;
		if (!processes) {
			err = add_tids(rec, &tid, 1);
			if (err)
				return err;
			continue;
		}
		n = list_threads(tid, &tids);
		if (n <= 0)
			return cmd_error(-ESRCH, "process %d does not exist", tid);
		err = add_tids(rec, tids, n);
		free(tids);
		if (err)
			return err;
	}
	return 0;
}

int record_choose_tasks(struct recorder *rec)
{
	int err = add_task_list(rec, rec->options.pids, true);

	return err ? err : add_task_list(rec, rec->options.tids, false);
}
