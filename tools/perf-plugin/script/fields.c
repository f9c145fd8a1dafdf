// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* -F: perf's names of output fields; and which addresses are wanted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "script/lines.h"

static const struct {
	const char *name;
	unsigned int field;
} names[] = {
	{ "comm", FIELD_COMM }, { "pid", FIELD_PID }, { "tid", FIELD_TID }, { "cpu", FIELD_CPU },
	{ "time", FIELD_TIME }, { "event", FIELD_EVENT }, { "flags", FIELD_FLAGS },
	{ "ip", FIELD_IP }, { "sym", FIELD_SYM }, { "symoff", FIELD_SYMOFF }, { "dso", FIELD_DSO },
	{ "addr", FIELD_ADDR }, { "insn", FIELD_INSN }, { "insnlen", FIELD_INSNLEN },
	{ "disasm", FIELD_DISASM }, { "period", FIELD_PERIOD }, { "srcline", FIELD_SRCLINE },
	{ "ipc", FIELD_IPC }, { "brstack", FIELD_BRSTACK }, { "brstacksym", FIELD_BRSTACKSYM },
	{ "brstackoff", FIELD_BRSTACKOFF }, { "callindent", FIELD_CALLINDENT },
	{ "data", FIELD_DATA },
};

/* perf names the kind of event first; all of ours are of one kind. */
static const char *const kinds[] = { "hw:", "sw:", "trace:", "raw:", "synth:" };

/* Fields of perf that samples made from a trace do not have. */
static const char *const absent[] = {
	"iregs", "uregs", "brstackinsn", "brstackinsnlen", "bpf-output", "metric",
	"misc", "srccode", "weight", "ins_lat", "retire_lat", "phys_addr", "data_src",
	"data_page_size", "code_page_size", "tod", "cgroup", "machine_pid", "vcpu", "synth",
	"retlat", "dsoff", "ustack", "brcntr",
};

static unsigned int find_field(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].field;
	return 0;
}

static int unknown_field(const char *name)
{
	if (!strcmp(name, "trace"))
		return cmd_error(-EINVAL, "'trace': the fields of tracepoints that were recorded "
				 "beside: perf script --no-itrace prints them");
	for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
		if (!strcmp(absent[i], name))
			return cmd_error(-EINVAL, "a trace has no field '%s'", name);
	return cmd_error(-EINVAL, "there is no field '%s'; fields: comm, pid, tid, cpu, time, "
			 "event, period, flags, callindent,\n  ip, sym, symoff, dso, addr, insn, "
			 "insnlen, disasm, srcline, ipc, brstack, brstacksym, brstackoff, data",
			 name);
}

int script_parse_fields(const char *text, unsigned int *fields)
{
	char *copy, *rest, *word;
	unsigned int result;
	bool change;
	int err;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(text, kinds[i], strlen(kinds[i])))
			text += strlen(kinds[i]);
	change = *text == '+' || *text == '-';
	result = change ? *fields : 0;
	copy = rest = strdup(text);
	err = copy ? 0 : -ENOMEM;
	while (!err && (word = strsep(&rest, ","))) {
		bool minus = *word == '-';
		unsigned int field = find_field(word + (minus || *word == '+'));

		if (!field)
			err = unknown_field(word + (minus || *word == '+'));
		else if (minus)
			result &= ~field;
		else
			result |= field;
	}
	free(copy);
	if (!err && result & FIELD_DISASM && !disasm_available())
		err = cmd_error(-EINVAL, "disasm: %s", disasm_missing());
	if (!err)
		*fields = result;
	return err;
}

bool script_in_names(const char *names, const struct place *place)
{
	return place->symbol && (view_in_names(names, place->symbol) ||
				 view_in_names(names, place->linkage));
}

bool script_wants(struct script *script, const struct rvt_hart_flow *hart, uint64_t addr)
{
	return (!script->symbols && !script->dsos) ||
		script_wants_place(script, places_find(script->places, hart->space, addr));
}

bool script_wants_place(const struct script *script, const struct place *place)
{
	if (script->symbols && !script_in_names(script->symbols, place))
		return false;
	return !script->dsos || view_in_files(script->dsos, place->dso);
}

bool script_skips(struct script *script)
{
	if (script->skipped >= script->itrace.skip)
		return false;
	script->skipped++;
	return true;
}
