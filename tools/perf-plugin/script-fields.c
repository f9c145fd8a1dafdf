// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* -F: perf's names of output fields. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "script.h"

static const struct {
	const char *name;
	unsigned int field;
} names[] = {
	{ "comm", FIELD_COMM }, { "pid", FIELD_PID }, { "tid", FIELD_TID }, { "cpu", FIELD_CPU },
	{ "time", FIELD_TIME }, { "event", FIELD_EVENT }, { "flags", FIELD_FLAGS },
	{ "ip", FIELD_IP }, { "sym", FIELD_SYM }, { "symoff", FIELD_SYMOFF }, { "dso", FIELD_DSO },
	{ "addr", FIELD_ADDR }, { "insn", FIELD_INSN }, { "insnlen", FIELD_INSNLEN },
};

static unsigned int find_field(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].field;
	return 0;
}

int script_parse_fields(const char *text, unsigned int *fields)
{
	char *copy = strdup(text), *rest = copy, *word;
	bool change = *text == '+' || *text == '-';
	unsigned int result = change ? *fields : 0;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (word = strsep(&rest, ","))) {
		bool minus = *word == '-';
		unsigned int field = find_field(word + (minus || *word == '+'));

		if (!field)
			err = cmd_error(-EINVAL, "there is no field '%s'; fields: comm, pid, tid, "
						 "cpu, time, "
					"event, flags, ip, sym, symoff, dso, addr, insn, insnlen",
						word);
		else if (minus)
			result &= ~field;
		else
			result |= field;
	}
	free(copy);
	if (!err)
		*fields = result;
	return err;
}
