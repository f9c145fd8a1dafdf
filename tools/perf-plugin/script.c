// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace script`: the recorded flow as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "ctr.h"
#include "script.h"
#include "transfers.h"

#define OUTPUT_BUFFER (1u << 20)
#define MAX_CALL_DEPTH 1024
#define MAX_CPUS 4096
#define DEFAULT_BRSTACK 64

static const char help[] =
"usage: perf rvtrace script [OPTIONS]\n"
"Prints what ran: by default a line for each branch that was taken.\n"
"      --insn-trace[=raw|disasm]  a line for each instruction\n"
"      --branches        a line for each taken branch, call, return and trap (default)\n"
"      --call-trace      a line for each call, indented; --call-ret-trace: returns, too\n"
"      --graph-function LIST  of the call trace only these functions and what they call\n"
ITRACE_HELP
"      --raw-pc          CPU TID PRIVILEGE PC for each instruction, for programs\n"
"  -F, --fields LIST     comm, pid, tid, cpu, time, event, period, flags, callindent, ip, sym,\n"
"                        symoff, dso, addr, insn, insnlen, disasm, srcline, brstack, brstacksym,\n"
"                        brstackoff, ipc (with --clock MHZ); +FIELD and -FIELD change the default\n"
"  -S, --symbols LIST, --dsos LIST  only what begins or ends in these functions, files\n"
"      --by-cpu          one trace buffer after another; --max-lines N: stop after N lines\n"
"      --jobs N          threads that print (as many as processors), where lines stand "
	"for themselves\n"
VIEW_HELP;

/* Bytes of trace that a thread prints in one go: a byte can be a dozen instructions. */
#define PART_BRANCHES (64u << 10)
#define PART_INSNS (16u << 10)

enum { OPT_INSNS = 256, OPT_BRANCHES, OPT_CALLS, OPT_CALLS_RETURNS, OPT_RAW, OPT_BY_CPU, OPT_MAX,
       OPT_ITRACE, OPT_DSOS, OPT_CLOCK, OPT_GRAPH, OPT_JOBS, OPT_NOTHING };

static const struct option long_options[] = {
	{ "insn-trace", optional_argument, NULL, OPT_INSNS },
	{ "branches", no_argument, NULL, OPT_BRANCHES },
	{ "call-trace", no_argument, NULL, OPT_CALLS },
	{ "call-ret-trace", no_argument, NULL, OPT_CALLS_RETURNS },
	{ "graph-function", required_argument, NULL, OPT_GRAPH },
	{ "itrace", optional_argument, NULL, OPT_ITRACE },
	{ "raw-pc", no_argument, NULL, OPT_RAW },
	{ "fields", required_argument, NULL, 'F' },
	{ "symbols", required_argument, NULL, 'S' },
	{ "dsos", required_argument, NULL, OPT_DSOS },
	{ "clock", required_argument, NULL, OPT_CLOCK },
	{ "by-cpu", no_argument, NULL, OPT_BY_CPU },
	{ "max-lines", required_argument, NULL, OPT_MAX },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	/* perf's, and as we are anyway */
	{ "ns", no_argument, NULL, OPT_NOTHING },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static int limit(const struct script *script)
{
	if (ferror(script->out))
		return script->part ? -EIO : -EPIPE;
	return script->max_lines && script->lines >= script->max_lines ? -ECANCELED : 0;
}

static const char *event_of(const struct transfer *transfer)
{
	return transfer->kind == TRANSFER_TRAP || transfer->kind == TRANSFER_TRAP_RETURN ?
		"traps" : "branches";
}

/* The instruction at @pc, if its code is at hand. */
static void fetch(const struct rvt_lane *lane, uint64_t pc, struct script_sample *sample)
{
	size_t available = lane->space ? rvt_space_find(lane->space, pc, &sample->code) : 0;

	sample->len = available && (sample->code[0] & 3) == 3 ? 4 : 2;
	if (available < sample->len)
		sample->code = NULL;
}

/* Both ends of a transfer can be what the filters ask for. */
static bool wants_transfer(struct script *script, const struct rvt_lane *lane,
			   const struct transfer *transfer)
{
	return script_wants(script, lane, transfer->from) ||
		script_wants(script, lane, transfer->to);
}

static int take_branch(struct script *script, const struct rvt_lane *lane,
		       const struct transfer *transfer)
{
	return script->branches ? branches_add(script->branches, lane, transfer) : 0;
}

static int show_branch(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
		       struct rvt_callstack *stack)
{
	struct script *script = ctx;
	struct script_sample sample = { .lane = lane, .event = event_of(transfer),
		.flags = transfer->flags, .ip = transfer->from, .addr = transfer->to,
		.has_addr = true, .period = 1, .stack = stack,
		.depth = stack ? rvt_callstack_depth(stack) : 0 };
	int err = take_branch(script, lane, transfer);

	if (err || !itrace_wants(&script->itrace, transfer) ||
	    !wants_transfer(script, lane, transfer) || script_skips(script))
		return err;
	fetch(lane, transfer->from, &sample);
	print_sample(script, &sample);
	return limit(script);
}

static void show_indented(struct script *script, const struct rvt_lane *lane,
			  const struct transfer *transfer, struct rvt_callstack *stack)
{
	struct script_sample sample = { .lane = lane, .event = event_of(transfer),
		.flags = transfer->flags, .ip = transfer->from, .addr = transfer->to,
		.depth = rvt_callstack_depth(stack) };

	if (!script->inside || !wants_transfer(script, lane, transfer))
		return;
	fetch(lane, transfer->from, &sample);
	print_call(script, &sample);
}

static bool is_call(const struct transfer *transfer)
{
	return transfer->kind == TRANSFER_CALL || transfer->kind == TRANSFER_TRAP;
}

/* Below the functions of --graph-function: their frames, and all above these, are marked. */
static bool is_inside(struct script *script, const struct rvt_lane *lane,
		      const struct transfer *transfer, struct rvt_callstack *stack)
{
	const struct rvt_frame *frame = rvt_callstack_frame(stack, 0);
	const struct place *place;

	if (!script->graph || (frame && frame->tag))
		return true;
	place = is_call(transfer) ? places_find(script->places, lane->space, transfer->to) : NULL;
	return place && script_in_names(script->graph, place);
}

static int show_call(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
		     struct rvt_callstack *stack)
{
	struct script *script = ctx;
	int err = take_branch(script, lane, transfer);

	script->inside = is_inside(script, lane, transfer, stack);
	if (!err && is_call(transfer))
		show_indented(script, lane, transfer, stack);
	return err ? err : limit(script);
}

/* A return is shown as deep as the call that it ends; a call's frame is marked. */
static int after_call_or_return(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
				struct rvt_callstack *stack, size_t ended)
{
	struct script *script = ctx;

	(void)ended;
	if (is_call(transfer) && rvt_callstack_frame(stack, 0))
		rvt_callstack_frame(stack, 0)->tag = script->inside;
	if (script->mode != MODE_CALLS_RETURNS)
		return 0;
	if (transfer->kind == TRANSFER_RETURN || transfer->kind == TRANSFER_TRAP_RETURN)
		show_indented(ctx, lane, transfer, stack);
	return limit(ctx);
}

struct sample_context {
	struct script *script;
	const struct rvt_lane *lane;
	struct rvt_callstack *stack;
};

static int show_insn(void *ctx, uint64_t ip, uint64_t period)
{
	const struct sample_context *context = ctx;
	struct script *script = context->script;
	struct script_sample sample = { .lane = context->lane, .event = "instructions",
		.flags = "", .ip = ip, .period = period, .stack = context->stack };

	if (!script_wants(script, context->lane, ip) || script_skips(script))
		return 0;
	fetch(context->lane, ip, &sample);
	print_sample(script, &sample);
	return limit(script);
}

static int show_line(void *ctx, struct rvt_lane *lane, uint64_t first, uint64_t last,
		     uint64_t insns,
		     struct rvt_callstack *stack)
{
	struct script *script = ctx;
	struct sample_context context = { script, lane, stack };
	int cpu = lane->cpu >= 0 && lane->cpu < MAX_CPUS ? lane->cpu : 0;

	(void)last;
	script_count(script, lane, insns);
	return itrace_sample(&script->itrace, &script->clocks[cpu], lane, first, insns, show_insn,
			     &context);
}

/* perf's words for what the instruction does to the flow, taken or not. */
static const char *insn_flags(const struct rvt_block *block, uint32_t insn)
{
	return insn + 1 == block->insns ? transfer_flags(block->iclass) : "";
}

static int insn_runs(void *ctx, struct rvt_lane *lane, const struct rvt_run *runs, size_t n)
{
	struct script *script = ctx;

	if (!view_wants(script->view, lane))
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct rvt_block *block = runs[i].block;
		uint64_t pc = block->pc;

		script_count(script, lane, runs[i].count);
		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			struct script_sample sample = { .lane = lane, .event = "instructions",
				.ip = pc, .period = 1, .len = 2 * block->halfwords[j],
				.flags = insn_flags(block, j) };

			pc += sample.len;
			if (j < runs[i].first || !script_wants(script, lane, sample.ip) ||
			    script_skips(script))
				continue;
			if (script->fields & (FIELD_INSN | FIELD_DISASM) && lane->space &&
			    rvt_space_find(lane->space, sample.ip, &sample.code) < sample.len)
				sample.code = NULL;
			print_sample(script, &sample);
			if (limit(script))
				return limit(script);
		}
	}
	return 0;
}

static int text_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	struct script *script = ctx;

	if (event->type != RVT_EVENT_LOST)
		return 0;
	script->errors++;
	view_lost(script->view, event);
	if (view_wants(script->view, lane) && itrace_wants_error(&script->itrace, event))
		print_error(script, lane, event);
	return limit(script);
}

int script_sink(struct script *script, struct transfers **transfers, struct rvt_session_sink *sink)
{
	struct transfers_ops ops = { .ctx = script, .event = text_event, .line = show_line };

	sink->ctx = script;
	ops.transfer = script->mode == MODE_ITRACE ? show_branch : show_call;
	if (script->mode == MODE_CALLS_RETURNS || script->graph)
		ops.after = after_call_or_return;
	if (script->mode == MODE_RAW_PC) {
		sink->runs = raw_runs;
		sink->event = raw_event;
		sink->aux = raw_aux;
	} else if (script->mode == MODE_INSNS) {
		sink->runs = insn_runs;
		sink->event = text_event;
	} else {
		*transfers = transfers_create(&ops, script->view,
					      script_in_parts(script) ? 0 : MAX_CALL_DEPTH);
		if (!*transfers)
			return -ENOMEM;
		transfers_sink(*transfers, sink);
	}
	return 0;
}

static int decode(struct script *script, const struct view_options *options)
{
	struct rvt_session_sink sink = { .warning = view_warning };
	struct transfers *transfers = NULL;
	int err;

	if (options->session.jobs > 1)
		return script_run_parts(script, options);
	err = script_sink(script, &transfers, &sink);
	if (!err)
		err = view_run(script->view, &sink, true);
	transfers_destroy(transfers);
	return err;
}

int script_open(struct script *script, const struct view_options *options)
{
	script->places = places_create(view_session(script->view));
	script->srclines = srclines_create(options->session.owner.symfs,
					   options->session.owner.vmlinux);
	script->clocks = calloc(MAX_CPUS, sizeof(*script->clocks));
	if (!script->places || !script->srclines || !script->clocks)
		return -ENOMEM;
	if (script->fields & FIELD_IPC) {
		script->paces = calloc(MAX_CPUS, sizeof(*script->paces));
		if (!script->paces)
			return -ENOMEM;
	}
	if (script->itrace.last_branches) {
		script->branches = branches_create(script->itrace.last_branches);
		if (!script->branches)
			return -ENOMEM;
	}
	if (script->fields & FIELD_DISASM) {
		script->disasm = disasm_create();
		if (!script->disasm)
			return -ENOMEM;
	}
	return itrace_resolve(&script->itrace, view_session(script->view));
}

/*
 * Samples of other events are stock perf's to print; whoever has recorded them may wait for them
 * here.
 */
static void mention_samples(struct rvt_session *session)
{
	const struct rvt_perfdata *file = rvt_session_file(session);

	for (size_t i = 0; i < rvt_perfdata_n_events(file); i++) {
		const struct rvt_perfdata_event *event = rvt_perfdata_event(file, i);

		if (view_is_trace_event(event) ||
		    (!event->attr.sample_period && !event->attr.sample_freq))
			continue;
		fprintf(stderr, "The samples of %s are not shown here: perf script --no-itrace "
			"prints them, or, among branches,\n  perf rvtrace inject --itrace=b, then "
			"perf script -i perf.data.injected\n", event->name);
		return;
	}
}

static int run(struct script *script, const struct view_options *options)
{
	int err;

	script->view = view_open(options);
	if (!script->view)
		return -EINVAL;
	if (rvt_session_is_ctr(view_session(script->view)))
		return ctr_script(script->view, script->mode == MODE_RAW_PC, script->max_lines);
	err = script_open(script, options);
	if (err)
		return err == -ENOMEM ? cmd_error(err, "out of memory") : err;
	err = decode(script, options);
	if (fflush(stdout) || err == -EPIPE)
		return 0;	/* whoever reads has seen enough */
	if (err && err != -ECANCELED)
		return cmd_error(err, "decoding ended: error %d", -err);
	mention_samples(view_session(script->view));
	return view_summary(script->view, script->errors);
}

/* Fields follow from what is shown; -F changes that. */
static int choose_fields(struct script *script, const char *insn_format, const char *fields)
{
	if (script->mode == MODE_INSNS) {
		bool disasm = insn_format ? !strcmp(insn_format, "disasm") : disasm_available();

		if (insn_format && !disasm && strcmp(insn_format, "raw"))
			return cmd_error(-EINVAL, "--insn-trace takes raw or disasm, not '%s'",
					 insn_format);
		if (disasm && !disasm_available())
			return cmd_error(-EINVAL, "--insn-trace=disasm: %s", disasm_missing);
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
	/* the short way has no call stack and no branches */
	if (script->mode == MODE_INSNS && script->fields & FIELDS_BRSTACK) {
		script->mode = MODE_ITRACE;
		script->itrace.branches = false;
		script->itrace.instructions = true;
		script->itrace.unit = ITRACE_INSNS;
		script->itrace.period = 1;
	}
	return 0;
}

void script_close(struct script *script)
{
	disasm_destroy(script->disasm);
	srclines_destroy(script->srclines);
	branches_destroy(script->branches);
	places_destroy(script->places);
	free(script->clocks);
	free(script->paces);
}

struct script_options {
	struct view_options view;
	const char *insn_format, *fields, *jobs;
};

/* Lines that depend on those before are printed by one thread. */
static int choose_jobs(const struct script *script, struct script_options *options)
{
	if (view_jobs(&options->view, options->jobs))
		return -EINVAL;
	if (!script_in_parts(script))
		options->view.session.jobs = 1;
	options->view.session.part_bytes = script->mode == MODE_INSNS ? PART_INSNS : PART_BRANCHES;
	return 0;
}

/* Returns 0, 1 after help was asked for, or -EINVAL after a message. */
static int parse_options(struct script *script, struct script_options *options, int argc,
			 char **argv)
{
	double number;
	int c;

	while ((c = getopt_long(argc, argv, "hfF:S:" VIEW_SHORT_OPTIONS, long_options,
				NULL)) >= 0) {
		switch (c) {
		case OPT_INSNS:
			script->mode = MODE_INSNS;
			options->insn_format = optarg;
			break;
		case OPT_BRANCHES: script->mode = MODE_ITRACE; break;
		case OPT_CALLS: script->mode = MODE_CALLS; break;
		case OPT_CALLS_RETURNS: script->mode = MODE_CALLS_RETURNS; break;
		case OPT_ITRACE:
			script->mode = MODE_ITRACE;
			script->fields |= FIELD_EVENT;
			if (itrace_parse(optarg, ITRACE_SCRIPT, &script->itrace))
				return -EINVAL;
			options->view.session.by_cpu |= script->itrace.ignore_time;
			break;
		case OPT_RAW:
			script->mode = MODE_RAW_PC;
			options->view.session.by_cpu = true;
			break;
		case OPT_BY_CPU: options->view.session.by_cpu = true; break;
		case OPT_MAX:
			if (view_number("--max-lines", optarg, &number))
				return -EINVAL;
			script->max_lines = number;
			break;
		case OPT_JOBS: options->jobs = optarg; break;
		case OPT_GRAPH: script->graph = optarg; break;
		case OPT_DSOS: script->dsos = optarg; break;
		case OPT_CLOCK:
			if (view_number("--clock", optarg, &number))
				return -EINVAL;
			script->clock_hz = number * 1e6;
			break;
		case OPT_NOTHING: case 'f': break;
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

	itrace_parse("be", NULL, &script.itrace);
	err = parse_options(&script, &options, argc, argv);
	if (err)
		return err > 0 ? 0 : 1;
	if (script.itrace.add_callchain || script.itrace.add_last_branches)
		return cmd_error(1, "--itrace: G and L add to the samples of other events: "
				 "perf rvtrace inject --itrace=... does that, and perf script "
				 "reads its output");
	if (choose_fields(&script, options.insn_format, options.fields) ||
	    choose_jobs(&script, &options))
		return 1;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	err = run(&script, &options.view);
	script_close(&script);
	view_close(script.view);
	return err ? 1 : 0;
}
