// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* --json: a line for each sample, with the fields that -F chooses. */
#include "common/json.h"
#include "common/marks.h"
#include "script/lines.h"

#define MAX_BRANCHES 1024

static void put_place(struct json *json, const struct script *script,
		      const struct rvt_hart_flow *hart, uint64_t addr)
{
	const struct place *place = places_find(script->places, hart->space, addr);

	json_address(json, "addr", addr);
	if (script->fields & FIELD_SYM && place->symbol)
		json_text(json, "sym", place->symbol);
	if (script->fields & FIELD_SYMOFF && place->symbol)
		json_number(json, "symoff", place->offset);
	if (script->fields & FIELD_DSO)
		json_text(json, "dso", place->dso);
}

/* Writes the place of @addr as object @key. */
static void put_end(struct json *json, const char *key, const struct script *script,
		    const struct rvt_hart_flow *hart, uint64_t addr)
{
	json_open(json, key);
	put_place(json, script, hart, addr);
	json_close(json);
}

static void put_head(struct json *json, const struct script *script,
		     const struct rvt_hart_flow *hart)
{
	const struct rvt_task *task = hart->task;

	if (script->fields & FIELD_COMM)
		json_text(json, "comm", places_comm(script->places, hart));
	if (script->fields & FIELD_PID)
		json_number(json, "pid", task ? task->pid : -1);
	if (script->fields & FIELD_TID)
		json_number(json, "tid", task ? task->tid : -1);
	if (script->fields & FIELD_CPU)
		json_number(json, "cpu", hart->cpu);
	if (script->fields & FIELD_TIME)
		json_number(json, "time", hart->time);
}

static void put_code(struct json *json, struct script *script, const struct script_sample *sample)
{
	char bytes[2 * INSN_CODE_BYTES + 1];
	const char *text;
	uint64_t target;

	if (script->fields & FIELD_INSNLEN)
		json_number(json, "insnlen", sample->len);
	if (!sample->has_code)
		return;
	if (script->fields & FIELD_INSN) {
		for (unsigned int i = 0; i < sample->len; i++)
			snprintf(bytes + 2 * i, 3, "%02x", sample->code[i]);
		json_text(json, "insn", bytes);
	}
	if (!(script->fields & FIELD_DISASM))
		return;
	if (disasm_text(script->disasm, sample->code, sample->len, sample->ip, &text, &target)) {
		json_text(json, "disasm", text);
		put_end(json, "target", script, sample->hart, target);
	} else {
		json_text(json, "disasm", text);
	}
}

static void put_branches(struct json *json, struct script *script,
			 const struct rvt_hart_flow *hart)
{
	struct perf_branch_entry entries[MAX_BRANCHES];
	size_t n = branches_get(script->branches, hart, entries, script->itrace.last_branches);

	json_open_array(json, "branches");
	for (size_t i = 0; i < n; i++) {
		json_open(json, NULL);
		put_end(json, "from", script, hart, entries[i].from);
		put_end(json, "to", script, hart, entries[i].to);
		json_close(json);
	}
	json_close_array(json);
}

static void put_callchain(struct json *json, const struct script *script,
			  const struct script_sample *sample)
{
	const struct rvt_frame *frame;

	json_open_array(json, "callchain");
	put_end(json, NULL, script, sample->hart, sample->ip);
	for (size_t n = 0; n + 1 < script->itrace.callchain &&
	     (frame = rvt_callstack_frame(sample->stack, n)); n++)
		put_end(json, NULL, script, sample->hart, frame->back);
	json_close_array(json);
}

static void put_srcline(struct json *json, struct script *script,
			const struct script_sample *sample)
{
	const struct place *place = places_find(script->places, sample->hart->space, sample->ip);
	const char *file;
	int line;

	if (!srclines_find(script->srclines, place, &file, &line))
		return;
	json_text(json, "file", file);
	json_number(json, "line", line);
}

void json_sample(struct script *script, const struct script_sample *sample, const char *type)
{
	struct json json = json_begin(script->out, type);

	put_head(&json, script, sample->hart);
	if (script->fields & FIELD_EVENT)
		json_text(&json, "event", sample->event);
	if (script->fields & FIELD_PERIOD)
		json_number(&json, "period", sample->period);
	if (script->fields & FIELD_FLAGS)
		json_text(&json, "flags", sample->flags);
	if (script->fields & FIELD_IP)
		put_end(&json, "ip", script, sample->hart, sample->ip);
	if (script->fields & FIELD_ADDR && sample->has_addr)
		put_end(&json, "to", script, sample->hart, sample->addr);
	if (sample->has_depth)
		json_number(&json, "depth", sample->depth);
	put_code(&json, script, sample);
	if (script->fields & FIELDS_BRSTACK)
		put_branches(&json, script, sample->hart);
	if (script->itrace.callchain && sample->stack)
		put_callchain(&json, script, sample);
	if (script->fields & FIELD_SRCLINE)
		put_srcline(&json, script, sample);
	json_end(&json);
	script->lines++;
}

void json_mark(struct script *script, const struct rvt_hart_flow *hart,
	       const struct rvt_event *event)
{
	struct json json = json_begin(script->out, "mark");

	put_head(&json, script, hart);
	json_text(&json, "mark", mark_name(event->mark));
	if (event->mark == RVT_MARK_RECORDER)
		json_text(&json, "trigger", event->detail);
	if (event->mark == RVT_MARK_SAMPLE)
		json_text(&json, "event", event->detail);
	if (script->fields & FIELD_IP && event->pc)
		put_end(&json, "ip", script, hart, event->pc);
	if (event->mark == RVT_MARK_USER)
		json_address(&json, "tag", event->tag);
	if (event->has_value)
		json_address(&json, "value", event->value);
	if (event->value_bytes)
		json_number(&json, "bytes", event->value_bytes);
	if (event->target)
		put_end(&json, "to", script, hart, event->target);
	json_end(&json);
	script->lines++;
}

void json_access(struct script *script, const struct rvt_hart_flow *hart,
		 const struct rvt_access *access)
{
	struct json json = json_begin(script->out, "access");

	put_head(&json, script, hart);
	json_text(&json, "kind", rvt_access_kind_name(access->kind));
	if (access->operation != RVT_ACCESS_PLAIN)
		json_text(&json, "operation", rvt_access_operation_name(access->operation));
	if (access->bytes)
		json_number(&json, "bytes", access->bytes);
	if (access->address_valid)
		json_address(&json, "addr", access->address);
	if (access->value_valid)
		json_address(&json, "value", access->value);
	if (access->operand_valid)
		json_address(&json, "operand", access->operand);
	json_flag(&json, "error", access->error);
	json_flag(&json, "multiple", access->multiple);
	json_end(&json);
	script->lines++;
}

void json_error(struct script *script, const struct rvt_hart_flow *hart,
		const struct rvt_event *event)
{
	struct json json = json_begin(script->out, "gap");

	json_number(&json, "pid", hart->task ? hart->task->pid : -1);
	json_number(&json, "tid", hart->task ? hart->task->tid : -1);
	json_number(&json, "cpu", hart->cpu);
	json_number(&json, "time", hart->time);
	json_address(&json, "addr", event->pc);
	json_number(&json, "offset", event->offset);
	json_text(&json, "reason", view_reason(event));
	json_end(&json);
	script->lines++;
}
