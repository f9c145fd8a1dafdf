// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdio.h>
#include "annotate/print.h"
#include "common/json.h"

static void json_callers(struct json *json, const char *key, const struct code_caller *caller,
			 uint64_t offset)
{
	bool any = false;

	for (; caller; caller = caller->next) {
		if (caller->offset != offset)
			continue;
		if (!any)
			json_open_array(json, key);
		any = true;
		json_open(json, NULL);
		json_text(json, "sym", caller->name);
		json_text(json, "dso", caller->dso);
		json_number(json, "count", caller->count);
		json_close(json);
	}
	if (any)
		json_close_array(json);
}

static void json_insn(const struct listing *listing, const struct code_function *function,
		      const struct code_insn *insn)
{
	const struct place place = code_place(function, insn);
	struct json json = json_begin(stdout, "insn");
	const char *file, *text;
	uint64_t target;
	int line;

	json_address(&json, "addr", place.vaddr);
	json_number(&json, "count", insn->count);
	if (insn->iclass == RVT_INSN_BRANCH)
		json_number(&json, "taken", insn->taken);
	if (listing->code->timed)
		json_number(&json, "time", insn->time);
	if (srclines_find(listing->srclines, &place, &file, &line)) {
		json_text(&json, "file", file);
		json_number(&json, "line", line);
	}
	if (listing->disasm) {
		disasm_text(listing->disasm, function->bytes + insn->offset, insn->len, place.vaddr,
			    &text, &target);
		json_text(&json, "disasm", text);
	}
	json_callers(&json, "callees", function->callees, insn->offset);
	json_end(&json);
}

void json_code_function(const struct listing *listing, const struct code_function *function)
{
	struct json json = json_begin(stdout, "code");

	json_text(&json, "sym", function->name);
	json_text(&json, "dso", function->dso);
	json_flag(&json, "kernel", function->kernel);
	json_number(&json, "insns", function->count);
	json_number(&json, "entered", function->entered);
	if (listing->code->timed)
		json_number(&json, "time", function->time);
	json_callers(&json, "callers", function->callers, 0);
	json_end(&json);
	for (size_t i = 0; i < function->n; i++)
		json_insn(listing, function, &function->insns[i]);
}
