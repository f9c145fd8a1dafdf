// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace script`: the recorded flow as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cmd.h"
#include "ctr.h"
#include "script.h"
#include "transfers.h"

#define OUTPUT_BUFFER (1u << 20)
#define MAX_CALL_DEPTH 1024
#define MAX_CPUS 4096

static const char help[] =
"usage: perf rvtrace script [OPTIONS]\n"
"Prints what ran: by default a line for each branch that was taken.\n\n"
"      --insn-trace      a line for each instruction\n"
"      --branches        a line for each taken branch, call, return and trap (default)\n"
"      --call-trace      a line for each call, indented; --call-ret-trace: returns, too\n"
ITRACE_HELP
"      --raw-pc          CPU TID PRIVILEGE PC for each instruction, for programs\n"
"  -F, --fields LIST     comm, pid, tid, cpu, time, event, flags, ip, sym, symoff, dso, addr,\n"
"                        insn, insnlen; +FIELD and -FIELD change the default\n"
"      --by-cpu          one trace buffer after another instead of in the order of time\n"
"      --max-lines N     stop after N lines\n"
VIEW_HELP;

enum { OPT_INSNS = 256, OPT_BRANCHES, OPT_CALLS, OPT_CALLS_RETURNS, OPT_RAW, OPT_BY_CPU, OPT_MAX,
       OPT_ITRACE };

static const struct option long_options[] = {
	{ "insn-trace", optional_argument, NULL, OPT_INSNS },
	{ "branches", no_argument, NULL, OPT_BRANCHES },
	{ "call-trace", no_argument, NULL, OPT_CALLS },
	{ "call-ret-trace", no_argument, NULL, OPT_CALLS_RETURNS },
	{ "itrace", required_argument, NULL, OPT_ITRACE },
	{ "raw-pc", no_argument, NULL, OPT_RAW },
	{ "fields", required_argument, NULL, 'F' },
	{ "by-cpu", no_argument, NULL, OPT_BY_CPU },
	{ "max-lines", required_argument, NULL, OPT_MAX },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static int limit(const struct script *script)
{
	return script->max_lines && script->lines >= script->max_lines ? -ECANCELED : 0;
}

static int show_branch(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
		       struct rvt_callstack *stack)
{
	struct script *script = ctx;

	(void)stack;
	print_branch(script, lane, transfer->flags, transfer->from, transfer->to);
	return ferror(stdout) ? -EPIPE : limit(script);
}

static int show_call(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
		     struct rvt_callstack *stack)
{
	struct script *script = ctx;

	if (transfer->kind == TRANSFER_CALL || transfer->kind == TRANSFER_TRAP)
		print_call(script, lane, transfer->flags, transfer->from, transfer->to,
			   rvt_callstack_depth(stack));
	return ferror(stdout) ? -EPIPE : limit(script);
}

/* A return is shown as deep as the call that it ends. */
static int show_return(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
		       struct rvt_callstack *stack, size_t ended)
{
	struct script *script = ctx;

	(void)ended;
	if (transfer->kind == TRANSFER_RETURN || transfer->kind == TRANSFER_TRAP_RETURN)
		print_call(script, lane, transfer->flags, transfer->from, transfer->to,
			   rvt_callstack_depth(stack));
	return limit(script);
}

struct sample_context {
	struct script *script;
	const struct rvt_lane *lane;
	struct rvt_callstack *stack;
};

static int show_sample(void *ctx, uint64_t ip, uint64_t period)
{
	const struct sample_context *context = ctx;
	struct script *script = context->script;
	const uint8_t *code = NULL;

	(void)period;
	if (context->lane->space && !rvt_space_find(context->lane->space, ip, &code))
		code = NULL;
	print_insn(script, context->lane, ip, code, code && (code[0] & 3) != 3 ? 2 : 4);
	if (script->itrace.callchain)
		print_callchain(script, context->lane, ip, context->stack);
	return ferror(stdout) ? -EPIPE : limit(script);
}

static int show_line(void *ctx, struct rvt_lane *lane, uint64_t first, uint64_t last,
		     uint64_t insns,
		     struct rvt_callstack *stack)
{
	struct script *script = ctx;
	struct sample_context context = { script, lane, stack };
	int cpu = lane->cpu >= 0 && lane->cpu < MAX_CPUS ? lane->cpu : 0;

	(void)last;
	return itrace_sample(&script->itrace, &script->clocks[cpu], lane, first, insns, show_sample,
			     &context);
}

static int show_wanted(void *ctx, struct rvt_lane *lane, const struct transfer *transfer,
		       struct rvt_callstack *stack)
{
	struct script *script = ctx;

	return itrace_wants(&script->itrace, transfer) ? show_branch(ctx, lane, transfer,
								     stack) : 0;
}

static int insn_runs(void *ctx, struct rvt_lane *lane, const struct rvt_run *runs, size_t n)
{
	struct script *script = ctx;

	if (!view_wants(script->view, lane))
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct rvt_block *block = runs[i].block;
		uint64_t pc = block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			unsigned int len = 2 * block->halfwords[j];
			const uint8_t *code = NULL;

			if (j >= runs[i].first) {
				if (script->fields & FIELD_INSN && lane->space &&
				    rvt_space_find(lane->space, pc, &code) < len)
					code = NULL;
				print_insn(script, lane, pc, code, len);
				if (limit(script))
					return -ECANCELED;
			}
			pc += len;
		}
	}
	return ferror(stdout) ? -EPIPE : 0;
}

static int text_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	struct script *script = ctx;

	if (event->type != RVT_EVENT_LOST)
		return 0;
	script->errors++;
	view_lost(script->view, event);
	if (view_wants(script->view,
		       lane) && (script->mode != MODE_ITRACE || script->itrace.errors))
		print_error(script, lane, event);
	return limit(script);
}

static int decode(struct script *script)
{
	struct transfers_ops ops = { .ctx = script, .event = text_event,
		.transfer = script->mode == MODE_BRANCHES ? show_branch : show_call,
		.after = script->mode == MODE_CALLS_RETURNS ? show_return : NULL };
	struct rvt_session_sink sink = { .ctx = script, .warning = view_warning };
	struct transfers *transfers = NULL;
	int err;

	if (script->mode == MODE_ITRACE) {
		ops.line = show_line;
		ops.transfer = show_wanted;
	}
	if (script->mode == MODE_RAW_PC) {
		sink.runs = raw_runs;
		sink.event = raw_event;
		sink.aux = raw_aux;
	} else if (script->mode == MODE_INSNS) {
		sink.runs = insn_runs;
		sink.event = text_event;
	} else {
		transfers = transfers_create(&ops, script->view, MAX_CALL_DEPTH);
		if (!transfers)
			return -ENOMEM;
		transfers_sink(transfers, &sink);
	}
	err = rvt_session_run(view_session(script->view), &sink);
	transfers_destroy(transfers);
	return err;
}

static int run(struct script *script, const struct view_options *options)
{
	int err;

	script->view = view_open(options);
	if (!script->view)
		return -EINVAL;
	if (rvt_session_is_ctr(view_session(script->view)))
		return ctr_script(script->view, script->mode == MODE_RAW_PC, script->max_lines);
	script->places = places_create(view_session(script->view));
	if (!script->places)
		return -ENOMEM;
	err = decode(script);
	if (fflush(stdout) || err == -EPIPE)
		return 0;	/* whoever reads has seen enough */
	if (err && err != -ECANCELED)
		return cmd_error(err, "decoding ended: error %d", -err);
	return view_summary(script->view, script->errors);
}

int cmd_script(int argc, char **argv)
{
	struct view_options options = { 0 };
	struct script script = { .fields = FIELD_COMM | FIELD_PID | FIELD_TID | FIELD_CPU |
		FIELD_TIME | FIELD_FLAGS | FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO |
		FIELD_ADDR };
	const char *fields = NULL;
	int c, err;

	while ((c = getopt_long(argc, argv, "hF:" VIEW_SHORT_OPTIONS, long_options, NULL)) >= 0) {
		switch (c) {
		case OPT_INSNS: script.mode = MODE_INSNS; break;
		case OPT_BRANCHES: script.mode = MODE_BRANCHES; break;
		case OPT_CALLS: script.mode = MODE_CALLS; break;
		case OPT_CALLS_RETURNS: script.mode = MODE_CALLS_RETURNS; break;
		case OPT_ITRACE:
			script.mode = MODE_ITRACE;
			if (itrace_parse(optarg, &script.itrace))
				return 1;
			break;
		case OPT_RAW:
			script.mode = MODE_RAW_PC;
			options.session.by_cpu = true;
			break;
		case OPT_BY_CPU: options.session.by_cpu = true; break;
		case OPT_MAX: script.max_lines = strtoull(optarg, NULL, 10); break;
		case 'F': fields = optarg; break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			if (view_option(&options, c, optarg))
				break;
			fputs("Try 'perf rvtrace script --help'.\n", stderr);
			return 1;
		}
	}
	if (script.mode == MODE_INSNS)
		script.fields |= FIELD_INSN;
	if (script.mode == MODE_ITRACE) {
		script.fields |= FIELD_EVENT;
		script.clocks = calloc(MAX_CPUS, sizeof(*script.clocks));
		if (!script.clocks)
			return cmd_error(1, "out of memory");
	}
	if (fields && script_parse_fields(fields, &script.fields))
		return 1;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	err = run(&script, &options);
	places_destroy(script.places);
	view_close(script.view);
	free(script.clocks);
	return err ? 1 : 0;
}
