// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "annotate/print.h"
#include "common/color.h"
#include "common/durations.h"

#define MAX_CALLERS 5

void print_code_head(const struct code *code)
{
	printf("# %" PRIu64 " instructions executed, counted from the trace\n", code->count);
	view_print_losses(code->view, stdout, "# ");
	if (!code->timed && code->count)
		puts("# The trace has no time stamps: there are counts, and no times.");
}

static void print_callers(const struct code_function *function)
{
	const struct code_caller *caller = function->callers;

	printf("# entered %" PRIu64 " times", function->entered);
	for (int i = 0; caller && i < MAX_CALLERS; i++, caller = caller->next)
		printf("%s%" PRIu64 " from %s (%s)", i ? ", " : ": ", caller->count, caller->name,
		       caller->dso);
	puts(caller ? ", ..." : "");
}

static void print_title(const struct code *code, const struct code_function *function)
{
	char text[DURATION_SIZE];

	printf("\n Percent        Count    Taken%s |  Source code & Disassembly of %s for "
	       "rvtrace (%" PRIu64 " instructions, %.2f%% of all%s%s)\n",
	       code->timed ? "        Time" : "",
	       function->dso, function->count,
	       code->count ? 100.0 * function->count / code->count : 0, code->timed ? ", " : "",
	       code->timed ? duration_text(function->time, text) : "");
	print_callers(function);
	puts("--------------------------------------------------------------------------------");
	printf("%*s : 0x%" PRIx64 " <%s>:\n", code->timed ? 42 : 30, "", function->vaddr,
	       function->name);
}

static void print_source(const struct listing *listing, const struct code_function *function,
			 const struct code_insn *insn, const char **file, int *line)
{
	const struct place place = code_place(function, insn);
	const char *here, *text;
	int number;

	if (!srclines_find(listing->srclines, &place, &here, &number) ||
	    (here == *file && number == *line))
		return;
	text = sources_line(listing->sources, here, number);
	if (here != *file && !text)
		printf("%*s : %s:%d\n", listing->code->timed ? 42 : 30, "", here, number);
	else
		printf("%*s : %-5d %s\n", listing->code->timed ? 42 : 30, "", number,
		       text ? text : "");
	*file = here;
	*line = number;
}

static void print_numbers(const struct code *code, const struct code_function *function,
			  const struct code_insn *insn)
{
	double percent = function->count ? 100.0 * insn->count / function->count : 0;
	enum color color = color_of_percent(percent);
	char text[DURATION_SIZE], taken[16];

	if (insn->count)
		printf("%s%8.2f%s %12" PRIu64 " %8s", color_begin(color), percent,
		       color_end(color), insn->count, code_taken(insn, taken));
	else
		printf("%8s %12s %8s", "", "-", "");
	if (code->timed)
		printf(" %11s", insn->count ? duration_text(insn->time, text) : "");
}

/*
 * Prints the function that a direct call calls; an indirect call may have several, with their
 * counts.
 */
static void print_callees(const struct code_function *function, const struct code_insn *insn)
{
	const struct code_caller *callee = function->callees;
	int n = 0;

	for (; callee; callee = callee->next) {
		if (callee->offset != insn->offset)
			continue;
		if (n++ == MAX_CALLERS) {
			fputs(", ...", stdout);
			break;
		}
		printf("%s%s", n > 1 ? ", " : "  -> ", callee->name);
		if (callee->count != insn->count)
			printf(" %" PRIu64, callee->count);
	}
}

/* Prints the instruction, with the function at the target of a jump. */
static void print_insn(const struct listing *listing, const struct code_function *function,
		       const struct code_insn *insn)
{
	uint64_t vaddr = function->vaddr + insn->offset, target;
	const char *text;
	bool goes = false;

	if (listing->disasm)
		goes = disasm_text(listing->disasm, function->bytes + insn->offset, insn->len,
				   vaddr, &text, &target);
	printf(" : %8" PRIx64 ":  ", vaddr);
	if (listing->disasm)
		fputs(text, stdout);
	else
		for (unsigned int i = insn->len; i; i--)
			printf("%02x", function->bytes[insn->offset + i - 1]);
	if (goes && target >= function->vaddr && target < function->vaddr + function->size)
		printf(" <%s+0x%" PRIx64 ">", function->name, target - function->vaddr);
	print_callees(function, insn);
	putchar('\n');
}

void print_code_function(const struct listing *listing, const struct code_function *function)
{
	const char *file = NULL;
	int line = 0;

	print_title(listing->code, function);
	for (size_t i = 0; i < function->n; i++) {
		const struct code_insn *insn = &function->insns[i];

		print_source(listing, function, insn, &file, &line);
		print_numbers(listing->code, function, insn);
		print_insn(listing, function, insn);
	}
}
