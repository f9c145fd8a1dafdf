// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace script`: chooses what of the flow becomes a line. */
#include <errno.h>
#include <stdlib.h>
#include "script/lines.h"
#include "common/transfers.h"


int script_open(struct script *script, const struct view_options *options)
{
	script->places = places_create(view_session(script->view));
	script->srclines = srclines_create(options->session.symfs,
					   options->session.vmlinux);
	script->clocks = calloc(SCRIPT_CPUS, sizeof(*script->clocks));
	if (!script->places || !script->srclines || !script->clocks)
		return -ENOMEM;
	if (script->fields & FIELD_IPC) {
		script->paces = calloc(SCRIPT_CPUS, sizeof(*script->paces));
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

void script_close(struct script *script)
{
	disasm_destroy(script->disasm);
	srclines_destroy(script->srclines);
	branches_destroy(script->branches);
	places_destroy(script->places);
	free(script->clocks);
	free(script->paces);
}

bool script_in_slices(const struct script *script)
{
	const struct itrace *itrace = &script->itrace;

	if (script->max_lines || script->times || itrace->skip ||
	    script->fields & (FIELD_IPC | FIELD_SRCLINE))
		return false;
	if (script->mode == MODE_INSNS || script->mode == MODE_DATA)
		return true;
	return script->mode == MODE_ITRACE && !itrace->callchain && !itrace->last_branches &&
		(!itrace->instructions || itrace_each(itrace)) &&
		!(script->fields & FIELD_CALLINDENT);
}

static int limit(const struct script *script)
{
	if (ferror(script->out))
		return script->slice ? -EIO : -EPIPE;
	return script->max_lines && script->lines >= script->max_lines ? -ECANCELED : 0;
}

static const char *event_of(const struct rvt_transfer *transfer)
{
	return transfer->kind == RVT_TRANSFER_TRAP || transfer->kind == RVT_TRANSFER_TRAP_RETURN ?
		"traps" : "branches";
}

/* Finds the instruction at @pc, if a field needs it and its code is at hand. */
static void fetch(const struct script *script, const struct rvt_hart_flow *hart, uint64_t pc,
		  struct script_sample *sample)
{
	if (!(script->fields & (FIELD_INSN | FIELD_INSNLEN | FIELD_DISASM)))
		return;
	sample->len = insn_code(hart->space, pc, sample->code);
	sample->has_code = sample->len;
}

/* Returns whether the filters let one of the two ends of a transfer through. */
static bool wants_transfer(struct script *script, const struct rvt_hart_flow *hart,
			   const struct rvt_transfer *transfer)
{
	return script_wants(script, hart, transfer->from) ||
		script_wants(script, hart, transfer->to);
}

static int take_branch(struct script *script, const struct rvt_hart_flow *hart,
		       const struct rvt_transfer *transfer)
{
	return script->branches ? branches_add(script->branches, hart, transfer) : 0;
}

static int show_branch(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		       struct rvt_callstack *stack)
{
	struct script *script = ctx;
	struct script_sample sample = { .hart = hart, .event = event_of(transfer),
		.flags = transfer->flags, .ip = transfer->from, .addr = transfer->to,
		.has_addr = true, .period = 1, .stack = stack,
		.depth = stack ? rvt_callstack_depth(stack) : 0 };
	int err = take_branch(script, hart, transfer);

	if (err || !itrace_wants(&script->itrace, transfer) ||
	    !wants_transfer(script, hart, transfer) || script_skips(script))
		return err;
	fetch(script, hart, transfer->from, &sample);
	print_sample(script, &sample);
	return limit(script);
}

static void show_indented(struct script *script, const struct rvt_hart_flow *hart,
			  const struct rvt_transfer *transfer, struct rvt_callstack *stack)
{
	struct script_sample sample = { .hart = hart, .event = event_of(transfer),
		.flags = transfer->flags, .ip = transfer->from, .addr = transfer->to,
		.has_addr = true, .has_depth = true, .depth = rvt_callstack_depth(stack) };

	if (!script->inside || !wants_transfer(script, hart, transfer))
		return;
	fetch(script, hart, transfer->from, &sample);
	print_call(script, &sample);
}

static bool is_call(const struct rvt_transfer *transfer)
{
	return transfer->kind == RVT_TRANSFER_CALL || transfer->kind == RVT_TRANSFER_TRAP;
}

/*
 * Returns whether the transfer is below a function of --graph-function: frames of those functions,
 * and all frames above these, are marked.
 */
static bool is_inside(struct script *script, const struct rvt_hart_flow *hart,
		      const struct rvt_transfer *transfer, struct rvt_callstack *stack)
{
	const struct rvt_frame *frame = rvt_callstack_frame(stack, 0);
	const struct place *place;

	if (!script->graph || (frame && frame->tag))
		return true;
	place = is_call(transfer) ? places_find(script->places, hart->space, transfer->to) : NULL;
	return place && script_in_names(script->graph, place);
}

static int show_call(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		     struct rvt_callstack *stack)
{
	struct script *script = ctx;
	int err = take_branch(script, hart, transfer);

	script->inside = is_inside(script, hart, transfer, stack);
	if (!err && is_call(transfer))
		show_indented(script, hart, transfer, stack);
	return err ? err : limit(script);
}

/* Marks the frame of a call, and shows a return as deep as the call that it ends. */
static int after_call_or_return(void *ctx, struct rvt_hart_flow *hart,
				const struct rvt_transfer *transfer,
				struct rvt_callstack *stack, size_t ended)
{
	struct script *script = ctx;

	(void)ended;
	if (is_call(transfer) && rvt_callstack_frame(stack, 0))
		rvt_callstack_frame(stack, 0)->tag = script->inside;
	if (script->mode != MODE_CALLS_RETURNS)
		return 0;
	if (transfer->kind == RVT_TRANSFER_RETURN || transfer->kind == RVT_TRANSFER_TRAP_RETURN)
		show_indented(ctx, hart, transfer, stack);
	return limit(ctx);
}

struct sample_context {
	struct script *script;
	const struct rvt_hart_flow *hart;
	struct rvt_callstack *stack;
};

static int show_insn(void *ctx, uint64_t ip, uint64_t period)
{
	const struct sample_context *context = ctx;
	struct script *script = context->script;
	struct script_sample sample = { .hart = context->hart, .event = "instructions",
		.flags = "", .ip = ip, .period = period, .stack = context->stack };

	if (!script_wants(script, context->hart, ip) || script_skips(script))
		return 0;
	fetch(script, context->hart, ip, &sample);
	print_sample(script, &sample);
	return limit(script);
}

static int show_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		     struct rvt_callstack *stack)
{
	struct script *script = ctx;
	struct sample_context context = { script, hart, stack };
	int cpu = hart->cpu >= 0 && hart->cpu < SCRIPT_CPUS ? hart->cpu : 0;

	script_note_pace(script, hart);
	return itrace_sample(&script->itrace, &script->clocks[cpu], hart, line, show_insn,
			     &context);
}

/* Returns perf's words for what the instruction can do to the flow, whether it did or not. */
static const char *insn_flags(const struct rvt_block *block, uint32_t insn)
{
	return insn + 1 == block->insns ? rvt_transfer_flags(block->iclass) : "";
}

static int insn_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct script *script = ctx;
	uint64_t told = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rvt_block *block = runs[i].block;
		uint64_t pc = block->pc;

		script_note_pace(script, hart);
		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			struct script_sample sample = { .hart = hart, .event = "instructions",
				.ip = pc, .period = 1, .len = 2 * block->halfwords[j],
				.flags = insn_flags(block, j) };

			pc += sample.len;
			if (j < runs[i].first)
				continue;
			hart->time = rvt_hart_time(hart, told++);
			if (!view_wants(script->view, hart) ||
			    !script_wants(script, hart, sample.ip) ||
			    script_skips(script))
				continue;
			if (script->fields & (FIELD_INSN | FIELD_DISASM))
				sample.has_code = insn_code(hart->space, sample.ip, sample.code) ==
						  sample.len;
			print_sample(script, &sample);
			if (limit(script))
				return limit(script);
		}
	}
	return 0;
}

/* Ignores the runs. The sink takes them, as accesses have their time by what runs around them. */
static int pass_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	(void)ctx, (void)hart, (void)runs, (void)n;
	return 0;
}

static int text_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct script *script = ctx;

	if (event->type == RVT_EVENT_MARK &&
	    (script->itrace.marks || event->mark == RVT_MARK_RECORDER ||
	     event->mark == RVT_MARK_SAMPLE) &&
	    view_wants(script->view, hart) && script_wants(script, hart, event->pc)) {
		print_mark(script, hart, event);
		return limit(script);
	}
	if (event->type == RVT_EVENT_ACCESS && view_wants(script->view, hart)) {
		print_access(script, hart, event->access);
		return limit(script);
	}
	if (event->type != RVT_EVENT_LOST)
		return 0;
	script->errors++;
	/* in the other modes the transfers report it to the view */
	if (script->mode == MODE_INSNS || script->mode == MODE_DATA)
		view_lost(script->view, hart, event);
	if (view_wants(script->view, hart) && itrace_wants_error(&script->itrace, event))
		print_error(script, hart, event);
	return limit(script);
}

int script_sink(struct script *script, struct transfers **transfers, struct rvt_session_sink *sink)
{
	struct rvt_transfers_ops ops = {
		.size = sizeof(ops), .ctx = script, .event = text_event, .line = show_line,
	};

	sink->ctx = script;
	ops.transfer = script->mode == MODE_ITRACE ? show_branch : show_call;
	if (script->mode == MODE_CALLS_RETURNS || script->graph)
		ops.after = after_call_or_return;
	if (script->mode == MODE_RAW_PC) {
		sink->runs = raw_runs;
		sink->event = raw_event;
		sink->aux = raw_aux;
	} else if (script->mode == MODE_INSNS || script->mode == MODE_DATA) {
		sink->runs = script->mode == MODE_INSNS ? insn_runs : pass_runs;
		sink->event = text_event;
	} else {
		*transfers = transfers_create(&ops, script->view,
					      script_in_slices(script) ? 0 : MAX_CALL_DEPTH);
		if (!*transfers)
			return -ENOMEM;
		transfers_sink(*transfers, sink);
	}
	return 0;
}
