// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Lines in the layout of perf script. */
#include <inttypes.h>
#include <stdio.h>
#include <rvtrace/insn.h>
#include "script.h"

#define INDENT 4
#define MAX_INDENT 200
#define MAX_CPUS 4096
#define MAX_BRANCHES 1024

static struct pace *pace_of(struct script *script, const struct rvt_lane *lane)
{
	return &script->paces[lane->cpu >= 0 && lane->cpu < MAX_CPUS ? lane->cpu : 0];
}

void script_count(struct script *script, const struct rvt_lane *lane, uint64_t insns)
{
	struct pace *pace;

	if (!script->paces)
		return;
	pace = pace_of(script, lane);
	if (lane->time_exact && lane->time > pace->time) {
		if (pace->time) {
			pace->shown_insns = pace->insns;
			pace->shown_cycles = (__uint128_t)(lane->time - pace->time) *
				script->clock_hz / 1000000000;
		}
		pace->time = lane->time;
		pace->insns = 0;
	}
	pace->insns += insns;
}

static void print_head(const struct script *script, const struct rvt_lane *lane)
{
	const struct rvt_task *task = lane->task;
	unsigned int fields = script->fields;

	if (fields & FIELD_COMM)
		printf("%16s ", task ? task->comm : "[unknown]");
	if (fields & FIELD_PID && fields & FIELD_TID)
		printf("%7d/%-7d ", task ? task->pid : -1, task ? task->tid : -1);
	else if (fields & FIELD_PID)
		printf("%7d ", task ? task->pid : -1);
	else if (fields & FIELD_TID)
		printf("%7d ", task ? task->tid : -1);
	if (fields & FIELD_CPU)
		printf("[%03d] ", lane->cpu);
	if (fields & FIELD_TIME)
		printf("%5" PRIu64 ".%09" PRIu64 ": ", lane->time / 1000000000,
		       lane->time % 1000000000);
}

static void print_symbol(const struct place *place, bool offset)
{
	fputs(place->symbol ? place->symbol : "[unknown]", stdout);
	if (place->symbol && offset)
		printf("+0x%" PRIx64, place->offset);
}

static void print_place(const struct script *script, const struct rvt_lane *lane, uint64_t addr)
{
	const struct place *place = places_find(script->places, lane->space, addr);

	printf("%16" PRIx64, addr);
	if (script->fields & FIELD_SYM) {
		putchar(' ');
		print_symbol(place, script->fields & FIELD_SYMOFF);
	}
	if (script->fields & FIELD_DSO)
		printf(" (%s)", place->dso);
}

static void print_indent(unsigned int depth)
{
	unsigned int indent = depth * INDENT < MAX_INDENT ? depth * INDENT : MAX_INDENT;

	printf("%*s", indent, "");
}

static void print_code(struct script *script, const struct script_sample *sample)
{
	if (script->fields & FIELD_INSNLEN)
		printf(" ilen: %u", sample->len);
	if (script->fields & FIELD_INSN && sample->code) {
		fputs(" insn:", stdout);
		for (unsigned int i = 0; i < sample->len; i++)
			printf(" %02x", sample->code[i]);
	}
	if (script->fields & FIELD_DISASM && sample->code)
		printf("\t\t%s", disasm_text(script->disasm, sample->code, sample->len,
					     sample->ip));
}

static void print_ipc(struct script *script, const struct rvt_lane *lane)
{
	struct pace *pace = pace_of(script, lane);

	if (!pace->shown_cycles)
		return;
	printf(" \t IPC: %.2f (%" PRIu64 "/%" PRIu64 ") ",
	       (double)pace->shown_insns / pace->shown_cycles, pace->shown_insns,
	       pace->shown_cycles);
	pace->shown_cycles = 0;
}

static void print_branch_end(const struct script *script, const struct rvt_lane *lane,
			     uint64_t addr)
{
	const struct place *place;

	if (script->fields & FIELD_BRSTACK) {
		printf("0x%" PRIx64, addr);
		return;
	}
	place = places_find(script->places, lane->space, addr);
	if (script->fields & FIELD_BRSTACKOFF)
		printf("0x%" PRIx64, place->vaddr);
	else
		print_symbol(place, true);
	if (script->fields & FIELD_DSO)
		printf("(%s)", place->dso);
}

/*
 * FROM/TO/mispredicted/in transaction/abort/cycles, as perf has it: none of these are in a trace.
 */
static void print_branches(struct script *script, const struct rvt_lane *lane)
{
	struct perf_branch_entry entries[MAX_BRANCHES];
	size_t n = branches_get(script->branches, lane, entries, script->itrace.last_branches);

	for (size_t i = 0; i < n; i++) {
		putchar(' ');
		print_branch_end(script, lane, entries[i].from);
		putchar('/');
		print_branch_end(script, lane, entries[i].to);
		fputs("/-/-/-/0", stdout);
	}
}

static void print_srcline(struct script *script, const struct rvt_lane *lane, uint64_t addr)
{
	const char *file;
	int line;

	if (srclines_find(script->srclines, places_find(script->places, lane->space, addr), &file,
			  &line))
		printf("\n  %s:%d", file, line);
}

static void print_rest(struct script *script, const struct script_sample *sample)
{
	print_code(script, sample);
	if (script->fields & FIELD_IPC)
		print_ipc(script, sample->lane);
	if (script->fields & FIELDS_BRSTACK)
		print_branches(script, sample->lane);
	if (script->fields & FIELD_SRCLINE)
		print_srcline(script, sample->lane, sample->ip);
	putchar('\n');
	script->lines++;
}

void print_sample(struct script *script, const struct script_sample *sample)
{
	const struct rvt_lane *lane = sample->lane;

	print_head(script, lane);
	if (script->fields & FIELD_PERIOD)
		printf("%10" PRIu64 " ", sample->period);
	if (script->fields & FIELD_EVENT)
		printf("%s: ", sample->event);
	if (script->fields & FIELD_FLAGS)
		printf("  %-9s", sample->flags);
	if (script->fields & FIELD_CALLINDENT && sample->has_addr) {
		print_indent(sample->depth);
		print_symbol(places_find(script->places, lane->space, sample->addr), false);
		putchar(' ');
	}
	if (script->fields & FIELD_IP)
		print_place(script, lane, sample->ip);
	if (script->fields & FIELD_ADDR && sample->has_addr) {
		fputs(" => ", stdout);
		print_place(script, lane, sample->addr);
	}
	print_rest(script, sample);
	if (script->itrace.callchain && sample->stack)
		print_callchain(script, lane, sample->ip, sample->stack);
}

void print_call(struct script *script, const struct script_sample *sample)
{
	const struct rvt_lane *lane = sample->lane;
	const struct place *place;

	print_head(script, lane);
	if (script->fields & FIELD_EVENT)
		printf("%s: ", sample->event);
	if (script->fields & FIELD_FLAGS)
		printf("  %-9s", sample->flags);
	print_indent(sample->depth);
	place = places_find(script->places, lane->space, sample->addr);
	print_symbol(place, place->offset);
	if (!place->symbol)
		printf(" %" PRIx64, sample->addr);
	if (script->fields & FIELD_DSO)
		printf(" (%s)", place->dso);
	if (script->fields & FIELD_IP)
		printf("  from %" PRIx64, sample->ip);
	print_rest(script, sample);
}

void print_callchain(struct script *script, const struct rvt_lane *lane, uint64_t ip,
		     struct rvt_callstack *stack)
{
	const struct rvt_frame *frame;

	putchar('\t');
	print_place(script, lane, ip);
	putchar('\n');
	for (size_t n = 0; n + 1 < script->itrace.callchain &&
	     (frame = rvt_callstack_frame(stack, n)); n++) {
		putchar('\t');
		print_place(script, lane, frame->back);
		putchar('\n');
	}
	putchar('\n');
}

void print_error(struct script *script, const struct rvt_lane *lane, const struct rvt_event *event)
{
	const struct rvt_task *task = lane->task;

	printf(" instruction trace error type 1 time %" PRIu64 ".%09" PRIu64 " cpu %d pid %d tid "
									     "%d ip "
	       "%#" PRIx64 " code %d: %s (offset %#" PRIx64 ")\n", lane->time / 1000000000,
	       lane->time % 1000000000, lane->cpu, task ? task->pid : -1, task ? task->tid : -1,
	       event->pc, event->reason, view_reason(event), event->offset);
	script->lines++;
}
