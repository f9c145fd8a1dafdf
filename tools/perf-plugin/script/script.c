// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace script`: the recorded flow as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/json.h"
#include "ctr/ctr.h"
#include "common/text.h"
#include "common/triggers.h"
#include "script/lines.h"
#include "common/transfers.h"

#define OUTPUT_BUFFER (1u << 20)
#define DEFAULT_BRSTACK 64
#define MAX_MHZ 1000000

static const char help[] =
"usage: perf rvtrace script [OPTIONS]\n"
"Prints what ran: by default a line for each branch that was taken.\n"
"      --insn-trace[=raw|disasm]  a line for each instruction\n"
"      --branches        a line for each taken branch, call, return and trap (default)\n"
"      --call-trace      a line for each call, indented; --call-ret-trace: returns, too;\n"
"                        --graph-function LIST: only these functions and what they call\n"
ITRACE_HELP
"      --raw-pc          CPU TID PRIVILEGE PC for each instruction; --data: each load, store ...\n"
"  -F, --fields LIST     comm, pid, tid, cpu, time, event, period, flags, callindent, ip, sym,\n"
"                        symoff, dso, addr, insn, insnlen, disasm, srcline, brstack, brstacksym,\n"
"                        brstackoff, data, ipc (with --clock MHZ); +FIELD, -FIELD: more, less\n"
"  -S, --symbols LIST, --dsos LIST  only what begins or ends in these functions, files\n"
"      --by-cpu          buffer after buffer; --reltime, --deltatime; --max-lines N; --json; "
	"--jobs N\n"
VIEW_HELP
VIEW_INDEX_HELP;

/* Bytes of trace in a slice that one thread prints: a byte can be a dozen instructions. */
#define PART_BRANCHES (128u << 10)
#define PART_INSNS (16u << 10)

enum { OPT_INSNS = 256, OPT_BRANCHES, OPT_CALLS, OPT_CALLS_RETURNS, OPT_RAW, OPT_DATA, OPT_BY_CPU,
       OPT_MAX, OPT_ITRACE, OPT_JSON, OPT_DSOS, OPT_CLOCK, OPT_GRAPH, OPT_JOBS, OPT_RELATIVE,
       OPT_DELTA, OPT_NOTHING };

static const struct option long_options[] = {
	{ "insn-trace", optional_argument, NULL, OPT_INSNS },
	{ "branches", no_argument, NULL, OPT_BRANCHES },
	{ "call-trace", no_argument, NULL, OPT_CALLS },
	{ "call-ret-trace", no_argument, NULL, OPT_CALLS_RETURNS },
	{ "graph-function", required_argument, NULL, OPT_GRAPH },
	{ "itrace", optional_argument, NULL, OPT_ITRACE },
	{ "raw-pc", no_argument, NULL, OPT_RAW },
	{ "data", no_argument, NULL, OPT_DATA },
	{ "fields", required_argument, NULL, 'F' },
	{ "symbols", required_argument, NULL, 'S' },
	{ "dsos", required_argument, NULL, OPT_DSOS },
	{ "clock", required_argument, NULL, OPT_CLOCK },
	{ "reltime", no_argument, NULL, OPT_RELATIVE },
	{ "deltatime", no_argument, NULL, OPT_DELTA },
	{ "by-cpu", no_argument, NULL, OPT_BY_CPU },
	{ "max-lines", required_argument, NULL, OPT_MAX },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "json", no_argument, NULL, OPT_JSON },
	/* options of perf for what we do anyway */
	{ "ns", no_argument, NULL, OPT_NOTHING },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	VIEW_INDEX_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static bool wants(void *script, const struct place *place)
{
	return script_wants_place(script, place);
}

/*
 * A struct view's wants_granule: returns whether the filters let anything in the granule through.
 */
static bool wants_granule(void *ctx, const struct rvt_index_granule *granule, uint64_t size)
{
	struct script *script = ctx;

	return places_any(script->places, granule, size, wants, script);
}

/*
 * Lets an index choose what is decoded. The filters choose no granules where accesses are shown, as
 * accesses are not in granules.
 */
static bool use_index(struct script *script)
{
	bool granules = (script->symbols || script->dsos) && script->mode != MODE_DATA &&
		!(script->fields & FIELD_DATA);

	return view_use_index(script->view, granules ? wants_granule : NULL, script);
}

static int decode(struct script *script, const struct view_options *options)
{
	struct rvt_session_sink sink = { .size = sizeof(sink), .warning = view_warning };
	struct transfers *transfers = NULL;
	int err;

	/* slices do not tell what lies between the last line of one and the first of the next */
	if (script_in_slices(script) && !view_has_triggers(script->view) &&
	    (use_index(script) || options->session.jobs > 1))
		return script_run_slices(script, options);
	err = script_sink(script, &transfers, &sink);
	if (!err)
		err = view_run(script->view, &sink, true);
	transfers_destroy(transfers);
	return err;
}

/*
 * Mentions that stock perf prints samples of other events: whoever recorded them may expect them
 * here.
 */
static void mention_samples(struct rvt_session *session)
{
	const struct rvt_perfdata *file = rvt_session_file(session);

	for (size_t i = 0; i < rvt_perfdata_n_events(file); i++) {
		const struct rvt_perfdata_event *event = rvt_perfdata_event(file, i);

		if (view_is_trace_event(event) || trigger_is_event(event) ||
		    event->attr.sample_type & PERF_SAMPLE_AUX ||
		    (!event->attr.sample_period && !event->attr.sample_freq))
			continue;
		fputs("The samples of ", stderr);
		put_visible(stderr, event->name);
		fputs(" are not shown here: perf script --no-itrace prints them, or, among "
		      "branches,\n  perf rvtrace inject --itrace=b, then perf script -i "
		      "perf.data.injected\n", stderr);
		return;
	}
}

/* Warns of filters that may be mistyped. */
static void warn_nothing(const struct script *script)
{
	if (script->any || view_interrupted(script->view))
		return;
	if (script->symbols || script->dsos)
		view_warn_no_function();
	if (script->mode == MODE_DATA && !view_has_filters(script->view))
		cmd_warning("the trace tells no loads and stores: its encoder makes no data trace");
	if (script->graph)
		cmd_warning("no call of '%s' is in the recording", script->graph);
}

struct script_options {
	struct view_options view;
	const char *shown;	/* the option that chose what is printed; NULL: none */
	const char *insn_format, *fields, *jobs;
};

static int run_ctr(const struct script *script, const struct script_options *options)
{
	const bool raw = script->mode == MODE_RAW_PC;
	const char *refused = script->json ? "--json" : options->shown && !raw ? options->shown :
		options->fields ? "--fields" : script->symbols ? "--symbols" :
		script->dsos ? "--dsos" : script->graph ? "--graph-function" :
		script->times == TIMES_SINCE_FIRST ? "--reltime" :
		script->times ? "--deltatime" : NULL;

	return ctr_refuse(refused) ? -EINVAL : ctr_script(script->view, raw, script->max_lines);
}

static int run(struct script *script, const struct script_options *options)
{
	int err;

	script->view = view_open(&options->view);
	if (!script->view)
		return -EINVAL;
	if (rvt_session_is_ctr(view_session(script->view)))
		return run_ctr(script, options);
	err = script_open(script, &options->view);
	if (err)
		return err == -ENOMEM ? cmd_error(err, "out of memory") : err;
	err = decode(script, &options->view);
	if (err == -EPIPE)
		return err;	/* of standard output: told at exit */
	if (err && err != -ECANCELED)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	script->errors += view_skipped_losses(script->view);
	warn_nothing(script);
	if (script->json)
		view_json_losses(script->view, stdout);
	mention_samples(view_session(script->view));
	return view_summary(script->view, script->errors);
}

/* Chooses the fields by what is shown, and then by -F. */
static int choose_fields(struct script *script, const char *insn_format, const char *fields)
{
	if (script->mode == MODE_INSNS) {
		bool disasm = insn_format ? !strcmp(insn_format, "disasm") : disasm_available();

		if (insn_format && !disasm && strcmp(insn_format, "raw"))
			return cmd_error(-EINVAL, "--insn-trace takes raw or disasm, not '%s'",
					 insn_format);
		if (disasm && !disasm_available())
			return cmd_error(-EINVAL, "--insn-trace=disasm: %s", disasm_missing());
		script->fields &= ~FIELD_FLAGS;
		script->fields |= disasm ? FIELD_DISASM : FIELD_INSN;
	}
	if (fields && script_parse_fields(fields, &script->fields))
		return -EINVAL;
	if (script->fields & FIELD_IPC && !script->clock_hz)
		return cmd_error(-EINVAL, "a trace has time stamps and no cycle counts: for -F ipc "
				 "say with --clock MHZ how fast the harts ran");
	if (script->fields & FIELDS_BRSTACK && !script->itrace.last_branches)
		script->itrace.last_branches = DEFAULT_BRSTACK;
	if (script->itrace.last_branches && !(script->fields & FIELDS_BRSTACK))
		script->fields |= FIELD_BRSTACK;
	/* runs of instructions come without call stacks and branches, which samples have */
	if (script->mode == MODE_INSNS && script->fields & FIELDS_BRSTACK) {
		script->mode = MODE_ITRACE;
		script->itrace.branches = false;
		script->itrace.instructions = true;
		script->itrace.unit = ITRACE_INSNS;
		script->itrace.period = 1;
	}
	return 0;
}

/* Sets @mode; only one option may choose what is printed. */
static int choose_mode(struct script *script, struct script_options *options, const char *option,
		       enum script_mode mode)
{
	if (options->shown && strcmp(options->shown, option))
		return cmd_error(-EINVAL, "%s and %s are two views of the recording: give one of "
				 "them", options->shown, option);
	options->shown = option;
	script->mode = mode;
	return 0;
}

static int choose_times(struct script *script, enum script_times times)
{
	if (script->times && script->times != times)
		return cmd_error(-EINVAL, "--reltime and --deltatime are two forms of time: give "
				 "one of them");
	script->times = times;
	return 0;
}

/* Chooses the number of threads. One thread prints lines that depend on those before. */
static int choose_jobs(const struct script *script, struct script_options *options)
{
	if (cmd_jobs(options->jobs, &options->view.session.jobs))
		return -EINVAL;
	options->view.session.clock = script->mode != MODE_RAW_PC &&
		(script->fields & (FIELD_TIME | FIELD_IPC) ||
		 (script->itrace.instructions && script->itrace.unit != ITRACE_INSNS));
	options->view.session.accesses = script->mode == MODE_DATA || script->fields & FIELD_DATA;
	if (!script_in_slices(script))
		options->view.session.jobs = 1;
	options->view.session.slice_bytes = script->mode == MODE_INSNS ? PART_INSNS : PART_BRANCHES;
	return 0;
}

/* Returns 0, 1 after help was asked for, or -EINVAL after a message. */
static int parse_options(struct script *script, struct script_options *options, int argc,
			 char **argv)
{
	double number;
	int c, err = 0;

	while ((c = getopt_long(argc, argv, "hfF:S:" VIEW_SHORT_OPTIONS, long_options,
				NULL)) >= 0) {
		switch (c) {
		case OPT_INSNS:
			err = choose_mode(script, options, "--insn-trace", MODE_INSNS);
			options->insn_format = optarg;
			break;
		case OPT_BRANCHES:
			err = choose_mode(script, options, "--branches", MODE_ITRACE);
			break;
		case OPT_CALLS:
			err = choose_mode(script, options, "--call-trace", MODE_CALLS);
			break;
		case OPT_CALLS_RETURNS:
			err = choose_mode(script, options, "--call-ret-trace", MODE_CALLS_RETURNS);
			break;
		case OPT_ITRACE:
			err = choose_mode(script, options, "--itrace", MODE_ITRACE);
			script->fields |= FIELD_EVENT;
			if (itrace_parse(optarg, ITRACE_SCRIPT, &script->itrace))
				return -EINVAL;
			options->view.session.by_cpu |= script->itrace.ignore_time;
			break;
		case OPT_RAW:
			err = choose_mode(script, options, "--raw-pc", MODE_RAW_PC);
			options->view.session.by_cpu = true;
			break;
		case OPT_DATA:
			err = choose_mode(script, options, "--data", MODE_DATA);
			break;
		case OPT_BY_CPU: options->view.session.by_cpu = true; break;
		case OPT_MAX:
			if (cmd_number("--max-lines", optarg, 0, UINT64_MAX, &script->max_lines))
				return -EINVAL;
			break;
		case OPT_RELATIVE: err = choose_times(script, TIMES_SINCE_FIRST); break;
		case OPT_DELTA: err = choose_times(script, TIMES_SINCE_LAST); break;
		case OPT_JOBS: options->jobs = optarg; break;
		case OPT_JSON: script->json = true; break;
		case OPT_GRAPH: script->graph = optarg; break;
		case OPT_DSOS: script->dsos = optarg; break;
		case OPT_CLOCK:
			if (cmd_decimal("--clock", optarg, &number))
				return -EINVAL;
			if (number > MAX_MHZ)
				return cmd_error(-EINVAL, "--clock: '%s' is no number of MHz up to "
						 "%d", optarg, MAX_MHZ);
			script->clock_hz = number * 1e6;
			break;
		case OPT_NOTHING: break;
		case 'f': options->view.force = true; break;
		case 'S': script->symbols = optarg; break;
		case 'F': options->fields = optarg; break;
		case 'h':
			fputs(help, stdout);
			return 1;
		default:
			if (view_option(&options->view, c, optarg))
				break;
			cmd_try_help(0);
			return -EINVAL;
		}
		if (err)
			return err;
	}
	return 0;
}

int cmd_script(int argc, char **argv)
{
	struct script_options options = { 0 };
	struct script script = {
		.out = stdout,
		.fields = FIELD_COMM | FIELD_PID | FIELD_TID | FIELD_CPU | FIELD_TIME |
			FIELD_FLAGS | FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_ADDR,
	};
	int err;

	itrace_parse("bew", NULL, &script.itrace);
	err = parse_options(&script, &options, argc, argv);
	if (err)
		return err > 0 ? 0 : 1;
	if (script.itrace.add_callchain || script.itrace.add_last_branches)
		return cmd_error(1, "--itrace: G and L add to the samples of other events: "
				 "perf rvtrace inject --itrace=... does that, and perf script "
				 "reads its output");
	if (script.json && script.mode == MODE_RAW_PC)
		return cmd_error(1, "--raw-pc and --json are two forms of output: "
				 "give one of them");
	if ((script.symbols || script.dsos) &&
	    (script.mode == MODE_RAW_PC || script.mode == MODE_DATA))
		return cmd_error(1, "%s shows what all functions did: --symbols and --dsos choose "
				 "nothing here", options.shown);
	if (script.times && (script.json || script.mode == MODE_RAW_PC))
		return cmd_error(1, "%s has no times that --reltime and --deltatime change",
				 script.json ? "--json" : "--raw-pc");
	if (script.json && json_supported())
		return 1;
	if (choose_fields(&script, options.insn_format, options.fields) ||
	    choose_jobs(&script, &options))
		return 1;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	err = run(&script, &options);
	script_close(&script);
	view_close(script.view);
	return err ? 1 : 0;
}
