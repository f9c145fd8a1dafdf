// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Lines in the layout of perf script. */
#include <inttypes.h>
#include <stdio.h>
#include "script.h"

#define INDENT 4
#define MAX_INDENT 200

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

static void print_place(const struct script *script, const struct rvt_lane *lane, uint64_t addr)
{
	const struct place *place = places_find(script->places, lane->space, addr);

	printf("%16" PRIx64, addr);
	if (script->fields & FIELD_SYM) {
		printf(" %s", place->symbol ? place->symbol : "[unknown]");
		if (place->symbol && script->fields & FIELD_SYMOFF)
			printf("+0x%" PRIx64, place->offset);
	}
	if (script->fields & FIELD_DSO)
		printf(" (%s)", place->dso);
}

void print_branch(struct script *script, const struct rvt_lane *lane, const char *flags,
		  uint64_t from, uint64_t to)
{
	print_head(script, lane);
	if (script->fields & FIELD_EVENT)
		fputs("branches: ", stdout);
	if (script->fields & FIELD_FLAGS)
		printf("  %-9s", flags);
	if (script->fields & FIELD_IP)
		print_place(script, lane, from);
	if (script->fields & FIELD_ADDR) {
		fputs(" => ", stdout);
		print_place(script, lane, to);
	}
	putchar('\n');
	script->lines++;
}

void print_insn(struct script *script, const struct rvt_lane *lane, uint64_t pc,
		const uint8_t *code, unsigned int len)
{
	print_head(script, lane);
	if (script->fields & FIELD_EVENT)
		fputs("instructions: ", stdout);
	if (script->fields & FIELD_IP)
		print_place(script, lane, pc);
	if (script->fields & FIELD_INSNLEN)
		printf(" ilen: %u", len);
	if (script->fields & FIELD_INSN && code) {
		fputs(" insn:", stdout);
		for (unsigned int i = 0; i < len; i++)
			printf(" %02x", code[i]);
	}
	putchar('\n');
	script->lines++;
}

void print_call(struct script *script, const struct rvt_lane *lane, const char *flags,
		uint64_t from,
		uint64_t to, unsigned int depth)
{
	const struct place *place;
	unsigned int indent = depth * INDENT < MAX_INDENT ? depth * INDENT : MAX_INDENT;

	print_head(script, lane);
	if (script->fields & FIELD_FLAGS)
		printf("  %-9s", flags);
	place = places_find(script->places, lane->space, to);
	printf("%*s%s", indent, "", place->symbol ? place->symbol : "[unknown]");
	if (place->symbol && place->offset)
		printf("+0x%" PRIx64, place->offset);
	if (!place->symbol)
		printf(" %" PRIx64, to);
	if (script->fields & FIELD_DSO)
		printf(" (%s)", place->dso);
	if (script->fields & FIELD_IP)
		printf("  from %" PRIx64, from);
	putchar('\n');
	script->lines++;
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
