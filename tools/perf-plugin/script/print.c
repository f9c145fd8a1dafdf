// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Lines in the layout of perf script. */
#include <inttypes.h>
#include <stdio.h>
#include <rvtrace/insn.h>
#include "common/accesses.h"
#include "common/marks.h"
#include "common/text.h"
#include "script/lines.h"

#define INDENT 4
#define MAX_INDENT 200
#define MAX_BRANCHES 1024

static struct pace *pace_of(struct script *script, const struct rvt_hart_flow *hart)
{
	return &script->paces[hart->cpu >= 0 && hart->cpu < SCRIPT_CPUS ? hart->cpu : 0];
}

void script_note_pace(struct script *script, const struct rvt_hart_flow *hart)
{
	const struct rvt_clock_span *span = &hart->span;
	struct pace *pace;

	if (!script->paces || !span->insns)
		return;
	pace = pace_of(script, hart);
	if (span->from == pace->from)
		return;
	pace->from = span->from;
	pace->shown_insns = span->insns;
	pace->shown_cycles = (__uint128_t)(span->to - span->from) * script->clock_hz / 1000000000;
}

static void print_time(struct script *script, uint64_t time)
{
	uint64_t base, ns;
	char seconds[24];

	if (!script->times) {
		fprintf(script->out, "%5" PRIu64 ".%09" PRIu64 ": ", time / 1000000000,
			time % 1000000000);
		return;
	}
	base = script->has_base ? script->base : time;
	/* time goes back where another buffer begins (--by-cpu) */
	ns = time < base ? base - time : time - base;
	if (script->times == TIMES_SINCE_LAST || !script->has_base)
		script->base = time;
	script->has_base = true;
	snprintf(seconds, sizeof(seconds), "%s%" PRIu64, time < base ? "-" : "", ns / 1000000000);
	fprintf(script->out, "%5s.%09" PRIu64 ": ", seconds, ns % 1000000000);
}

static void print_head(struct script *script, const struct rvt_hart_flow *hart)
{
	const struct rvt_task *task = hart->task;
	unsigned int fields = script->fields;

	if (fields & FIELD_COMM)
		fprintf(script->out, "%16s ", places_comm(script->places, hart));
	if (fields & FIELD_PID && fields & FIELD_TID)
		fprintf(script->out, "%7d/%-7d ", task ? task->pid : -1, task ? task->tid : -1);
	else if (fields & FIELD_PID)
		fprintf(script->out, "%7d ", task ? task->pid : -1);
	else if (fields & FIELD_TID)
		fprintf(script->out, "%7d ", task ? task->tid : -1);
	if (fields & FIELD_CPU)
		fprintf(script->out, "[%03d] ", hart->cpu);
	if (fields & FIELD_TIME)
		print_time(script, hart->time);
}

static void print_symbol(FILE *out, const struct place *place, bool offset)
{
	fputs(place->symbol ? place->symbol : "[unknown]", out);
	if (place->symbol && offset)
		fprintf(out, "+0x%" PRIx64, place->offset);
}

static void print_name(const struct script *script, const struct rvt_hart_flow *hart,
		       uint64_t addr)
{
	const struct place *place = places_find(script->places, hart->space, addr);

	if (script->fields & FIELD_SYM) {
		putc(' ', script->out);
		print_symbol(script->out, place, script->fields & FIELD_SYMOFF);
	}
	if (script->fields & FIELD_DSO)
		fprintf(script->out, " (%s)", place->dso);
}

static void print_place(const struct script *script, const struct rvt_hart_flow *hart,
			uint64_t addr)
{
	fprintf(script->out, "%16" PRIx64, addr);
	print_name(script, hart, addr);
}

static void print_indent(FILE *out, unsigned int depth)
{
	unsigned int indent = depth * INDENT < MAX_INDENT ? depth * INDENT : MAX_INDENT;

	fprintf(out, "%*s", indent, "");
}

/* Prints the disassembled instruction and, as objdump does, where it leads. */
static void print_disasm(struct script *script, const struct script_sample *sample)
{
	const struct place *place;
	const char *text;
	uint64_t target;
	bool goes = disasm_text(script->disasm, sample->code, sample->len, sample->ip, &text,
				&target);

	fprintf(script->out, "\t\t%s", text);
	place = goes ? places_find(script->places, sample->hart->space, target) : NULL;
	if (!place || !place->symbol)
		return;
	fputs(" <", script->out);
	print_symbol(script->out, place, place->offset);
	putc('>', script->out);
}

static void print_code(struct script *script, const struct script_sample *sample)
{
	if (script->fields & FIELD_INSNLEN)
		fprintf(script->out, " ilen: %u", sample->len);
	if (script->fields & FIELD_INSN && sample->has_code) {
		fputs(" insn:", script->out);
		for (unsigned int i = 0; i < sample->len; i++)
			fprintf(script->out, " %02x", sample->code[i]);
	}
	if (script->fields & FIELD_DISASM && sample->has_code)
		print_disasm(script, sample);
}

static void print_ipc(struct script *script, const struct rvt_hart_flow *hart)
{
	struct pace *pace = pace_of(script, hart);

	if (!pace->shown_cycles)
		return;
	fprintf(script->out, " \t IPC: %.2f (%" PRIu64 "/%" PRIu64 ") ",
	       (double)pace->shown_insns / pace->shown_cycles, pace->shown_insns,
	       pace->shown_cycles);
	pace->shown_cycles = 0;
}

static void print_branch_end(const struct script *script, const struct rvt_hart_flow *hart,
			     uint64_t addr)
{
	const struct place *place;

	if (script->fields & FIELD_BRSTACK) {
		fprintf(script->out, "0x%" PRIx64, addr);
		return;
	}
	place = places_find(script->places, hart->space, addr);
	if (script->fields & FIELD_BRSTACKOFF)
		fprintf(script->out, "0x%" PRIx64, place->vaddr);
	else
		print_symbol(script->out, place, true);
	if (script->fields & FIELD_DSO)
		fprintf(script->out, "(%s)", place->dso);
}

/*
 * Prints FROM/TO/mispredicted/in transaction/abort/cycles as perf does; a trace has none of the
 * latter four.
 */
static void print_branches(struct script *script, const struct rvt_hart_flow *hart)
{
	struct perf_branch_entry entries[MAX_BRANCHES];
	size_t n = branches_get(script->branches, hart, entries, script->itrace.last_branches);

	for (size_t i = 0; i < n; i++) {
		putc(' ', script->out);
		print_branch_end(script, hart, entries[i].from);
		putc('/', script->out);
		print_branch_end(script, hart, entries[i].to);
		fputs("/-/-/-/0", script->out);
	}
}

static void print_srcline(struct script *script, const struct rvt_hart_flow *hart, uint64_t addr)
{
	const char *file;
	int line;

	if (srclines_find(script->srclines, places_find(script->places, hart->space, addr), &file,
			  &line))
		fprintf(script->out, "\n  %s:%d", places_keep(script->places, file), line);
}

static void print_rest(struct script *script, const struct script_sample *sample)
{
	print_code(script, sample);
	if (script->fields & FIELD_IPC)
		print_ipc(script, sample->hart);
	if (script->fields & FIELDS_BRSTACK)
		print_branches(script, sample->hart);
	if (script->fields & FIELD_SRCLINE)
		print_srcline(script, sample->hart, sample->ip);
	putc('\n', script->out);
	script->lines++;
}

void print_sample(struct script *script, const struct script_sample *sample)
{
	const struct rvt_hart_flow *hart = sample->hart;

	script->any = true;
	if (script->json) {
		json_sample(script, sample, "sample");
		return;
	}
	print_head(script, hart);
	if (script->fields & FIELD_PERIOD)
		fprintf(script->out, "%10" PRIu64 " ", sample->period);
	if (script->fields & FIELD_EVENT)
		fprintf(script->out, "%s: ", sample->event);
	if (script->fields & FIELD_FLAGS)
		fprintf(script->out, "  %-9s", sample->flags);
	if (script->fields & FIELD_CALLINDENT && sample->has_addr) {
		print_indent(script->out, sample->depth);
		print_symbol(script->out, places_find(script->places, hart->space, sample->addr),
			     false);
		putc(' ', script->out);
	}
	if (script->fields & FIELD_IP)
		print_place(script, hart, sample->ip);
	else if (!(script->fields & (FIELD_ADDR | FIELD_CALLINDENT)))
		print_name(script, hart, sample->ip);
	if (script->fields & FIELD_ADDR && sample->has_addr) {
		fputs(" => ", script->out);
		print_place(script, hart, sample->addr);
	}
	print_rest(script, sample);
	if (script->itrace.callchain && sample->stack)
		print_callchain(script, hart, sample->ip, sample->stack);
}

void print_call(struct script *script, const struct script_sample *sample)
{
	const struct rvt_hart_flow *hart = sample->hart;
	const struct place *place;

	script->any = true;
	if (script->json) {
		json_sample(script, sample, "call");
		return;
	}
	print_head(script, hart);
	if (script->fields & FIELD_EVENT)
		fprintf(script->out, "%s: ", sample->event);
	if (script->fields & FIELD_FLAGS)
		fprintf(script->out, "  %-9s", sample->flags);
	print_indent(script->out, sample->depth);
	place = places_find(script->places, hart->space, sample->addr);
	print_symbol(script->out, place, place->offset);
	if (!place->symbol)
		fprintf(script->out, " %" PRIx64, sample->addr);
	if (script->fields & FIELD_DSO)
		fprintf(script->out, " (%s)", place->dso);
	if (script->fields & FIELD_IP)
		fprintf(script->out, "  from %" PRIx64, sample->ip);
	print_rest(script, sample);
}

void print_callchain(struct script *script, const struct rvt_hart_flow *hart, uint64_t ip,
		     struct rvt_callstack *stack)
{
	const struct rvt_frame *frame;

	putc('\t', script->out);
	print_place(script, hart, ip);
	putc('\n', script->out);
	for (size_t n = 0; n + 1 < script->itrace.callchain &&
	     (frame = rvt_callstack_frame(stack, n)); n++) {
		putc('\t', script->out);
		if (frame->cut)
			fprintf(script->out, "%16s " CALLERS_LOST, "");
		else
			print_place(script, hart, frame->back);
		putc('\n', script->out);
	}
	putc('\n', script->out);
}

void print_mark(struct script *script, const struct rvt_hart_flow *hart,
		const struct rvt_event *event)
{
	char text[MARK_TEXT_SIZE];

	if (script->json) {
		json_mark(script, hart, event);
		return;
	}
	mark_text(event, text);
	print_head(script, hart);
	fprintf(script->out, "%s:", mark_name(event->mark));
	if (script->fields & FIELD_IP && event->pc) {
		putc(' ', script->out);
		print_place(script, hart, event->pc);
	}
	put_visible(script->out, text);
	putc('\n', script->out);
	script->lines++;
}

void print_access(struct script *script, const struct rvt_hart_flow *hart,
		  const struct rvt_access *access)
{
	char text[ACCESS_TEXT_SIZE];

	script->any = true;
	if (script->json) {
		json_access(script, hart, access);
		return;
	}
	access_text(access, text);
	print_head(script, hart);
	fprintf(script->out, "data: %s\n", text);
	script->lines++;
}

void print_error(struct script *script, const struct rvt_hart_flow *hart,
		 const struct rvt_event *event)
{
	const struct rvt_task *task = hart->task;

	if (script->json) {
		json_error(script, hart, event);
		return;
	}
	fprintf(script->out, " instruction trace error type 1 time %" PRIu64 ".%09" PRIu64
		" cpu %d pid %d tid %d ip %#" PRIx64 " code %d: %s (offset %#" PRIx64 ")\n",
		hart->time / 1000000000, hart->time % 1000000000, hart->cpu,
		task ? task->pid : -1, task ? task->tid : -1, event->pc, event->reason,
		view_reason(event), event->offset);
	script->lines++;
}
