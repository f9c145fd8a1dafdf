// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace script`: the recorded flow as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "cmd.h"
#include "script.h"

#define OUTPUT_BUFFER (1u << 20)
#define CAUSE_ECALL_FIRST 8	/* from U-mode */
#define CAUSE_ECALL_LAST 11	/* from M-mode */

static const char help[] =
"usage: perf rvtrace script [OPTIONS]\n"
"Prints what ran: by default a line for each branch that was taken.\n\n"
"      --insn-trace      a line for each instruction\n"
"      --branches        a line for each taken branch, call, return and trap (default)\n"
"      --call-trace      a line for each call, indented; --call-ret-trace: returns, too\n"
"      --raw-pc          CPU TID PRIVILEGE PC for each instruction, for programs\n"
"  -F, --fields LIST     comm, pid, tid, cpu, time, event, flags, ip, sym, symoff, dso, addr,\n"
"                        insn, insnlen; +FIELD and -FIELD change the default\n"
"      --by-cpu          one trace buffer after another instead of in the order of time\n"
"      --max-lines N     stop after N lines\n"
VIEW_HELP;

enum { OPT_INSNS = 256, OPT_BRANCHES, OPT_CALLS, OPT_CALLS_RETURNS, OPT_RAW, OPT_BY_CPU, OPT_MAX };

static const struct option long_options[] = {
	{ "insn-trace", optional_argument, NULL, OPT_INSNS },
	{ "branches", no_argument, NULL, OPT_BRANCHES },
	{ "call-trace", no_argument, NULL, OPT_CALLS },
	{ "call-ret-trace", no_argument, NULL, OPT_CALLS_RETURNS },
	{ "raw-pc", no_argument, NULL, OPT_RAW },
	{ "fields", required_argument, NULL, 'F' },
	{ "by-cpu", no_argument, NULL, OPT_BY_CPU },
	{ "max-lines", required_argument, NULL, OPT_MAX },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

/* perf's words for kinds of branches. */
static const char *const class_flags[RVT_INSN_CLASSES] = {
	[RVT_INSN_SEQUENTIAL] = "",
	[RVT_INSN_BRANCH] = "jcc",
	[RVT_INSN_CALL] = "call",
	[RVT_INSN_JUMP] = "jmp",
	[RVT_INSN_JUMP_LINKED] = "jmp",
	[RVT_INSN_IND_CALL] = "call",
	[RVT_INSN_IND_JUMP] = "jmp",
	[RVT_INSN_IND_JUMP_LINKED] = "jmp",
	[RVT_INSN_COROUTINE] = "jmp",
	[RVT_INSN_RETURN] = "return",
	[RVT_INSN_TRAP_RETURN] = "iret",
	[RVT_INSN_ECALL] = "syscall",
	[RVT_INSN_EBREAK] = "int",
};

static struct script_lane *get_lane(struct rvt_lane *lane)
{
	if (!lane->user)
		lane->user = calloc(1, sizeof(struct script_lane));
	return lane->user;
}

static int limit(const struct script *script)
{
	return script->max_lines && script->lines >= script->max_lines ? -ECANCELED : 0;
}

static void show_transfer(struct script *script, struct rvt_lane *lane, const char *flags,
			  uint8_t iclass, uint64_t from, uint64_t to)
{
	struct script_lane *state = lane->user;
	bool call = iclass == RVT_INSN_CALL || iclass == RVT_INSN_IND_CALL;
	bool ret = iclass == RVT_INSN_RETURN;

	if (script->mode == MODE_BRANCHES) {
		print_branch(script, lane, flags, from, to);
		return;
	}
	if (ret && state->depth)
		state->depth--;
	if (call || (ret && script->mode == MODE_CALLS_RETURNS))
		print_call(script, lane, flags, from, to, state->depth);
	if (call)
		state->depth++;
}

/* The flow went on at @pc: a transfer unless that is where the last instruction falls through to. */
static void arrive(struct script *script, struct rvt_lane *lane, uint64_t pc)
{
	struct script_lane *state = lane->user;

	if (state->has_last && pc != state->next && view_wants(script->view, lane))
		show_transfer(script, lane, class_flags[state->last_class], state->last_class,
			      state->last, pc);
}

static int branch_runs(void *ctx, struct rvt_lane *lane, const struct rvt_run *runs, size_t n)
{
	struct script *script = ctx;
	struct script_lane *state = get_lane(lane);

	if (!state)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct rvt_block *block = runs[i].block;
		uint32_t last = runs[i].first + runs[i].count - 1, j = 0;
		uint64_t pc = block->pc;

		for (; j < runs[i].first; j++)
			pc += 2 * block->halfwords[j];
		arrive(script, lane, pc);
		for (; j < last; j++)
			pc += 2 * block->halfwords[j];
		state->has_last = true;
		state->last = pc;
		state->next = pc + 2 * block->halfwords[last];
		state->last_class = last + 1 == block->insns ? block->iclass : RVT_INSN_SEQUENTIAL;
		if (limit(script))
			return -ECANCELED;
	}
	return ferror(stdout) ? -EPIPE : 0;
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

static void show_trap(struct script *script, struct rvt_lane *lane, const struct rvt_event *event)
{
	struct script_lane *state = lane->user;
	const char *flags = event->interrupt ? "hw int" : "int";

	arrive(script, lane, event->pc);
	state->has_last = false;
	if (!event->interrupt && event->cause_valid && event->cause >= CAUSE_ECALL_FIRST &&
	    event->cause <= CAUSE_ECALL_LAST)
		flags = "syscall";
	if (!view_wants(script->view, lane))
		return;
	if (script->mode == MODE_BRANCHES)
		print_branch(script, lane, flags, event->pc, event->target);
	else if (script->mode == MODE_CALLS || script->mode == MODE_CALLS_RETURNS)
		print_call(script, lane, flags, event->pc, event->target, state->depth);
}

static int text_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	struct script *script = ctx;
	struct script_lane *state = get_lane(lane);

	if (!state)
		return -ENOMEM;
	switch (event->type) {
	case RVT_EVENT_START:
		state->has_last = false;
		if (script->mode == MODE_BRANCHES && view_wants(script->view, lane))
			print_branch(script, lane, "tr strt", 0, event->pc);
		break;
	case RVT_EVENT_STOP:
		if (script->mode == MODE_BRANCHES && state->has_last &&
		    view_wants(script->view, lane))
			print_branch(script, lane, "tr end", state->last, event->pc);
		state->has_last = false;
		break;
	case RVT_EVENT_TRAP:
		if (script->mode != MODE_INSNS)
			show_trap(script, lane, event);
		break;
	case RVT_EVENT_LOST:
		state->has_last = false;
		script->errors++;
		view_lost(script->view, event);
		if (view_wants(script->view, lane))
			print_error(script, lane, event);
		break;
	default:
		break;
	}
	return limit(script);
}

static void end_lane(void *ctx, struct rvt_lane *lane)
{
	(void)ctx;
	free(lane->user);
}

static int run(struct script *script, const struct view_options *options)
{
	struct rvt_session_sink sink = { .ctx = script, .runs = branch_runs, .event = text_event,
					 .warning = view_warning, .end = end_lane };
	int err;

	if (script->mode == MODE_INSNS)
		sink.runs = insn_runs;
	if (script->mode == MODE_RAW_PC) {
		sink.runs = raw_runs;
		sink.event = raw_event;
		sink.aux = raw_aux;
	}
	script->view = view_open(options);
	if (!script->view)
		return -EINVAL;
	script->places = places_create(view_session(script->view));
	if (!script->places)
		return -ENOMEM;
	err = rvt_session_run(view_session(script->view), &sink);
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
	if (fields && script_parse_fields(fields, &script.fields))
		return 1;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	err = run(&script, &options);
	places_destroy(script.places);
	view_close(script.view);
	return err ? 1 : 0;
}
