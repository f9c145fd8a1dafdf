// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "itrace.h"

#define DEFAULT_PERIOD_NS 100000
#define DEFAULT_CALLCHAIN 16
#define DEFAULT_LAST_BRANCHES 64
#define MAX_ENTRIES 1024

/* A number and a unit; without either the default. */
static int parse_period(const char **text, struct itrace *itrace)
{
	static const struct {
		const char *name;
		uint64_t ns;	/* 0: instructions */
	} units[] = { { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }, { "i", 0 } };
	char *end;
	uint64_t value;

	itrace->period = DEFAULT_PERIOD_NS;
	itrace->period_is_time = true;
	if (!isdigit((unsigned char)**text))
		return 0;
	value = strtoull(*text, &end, 10);
	*text = end;
	itrace->period = value;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(end, units[i].name, len))
			continue;
		*text += len;
		itrace->period_is_time = units[i].ns;
		itrace->period = units[i].ns ? value * units[i].ns : value;
		return 0;
	}
	if (*end == 't')
		return cmd_error(-EINVAL, "a period in ticks of the trace is not supported; use "
					  "ns, us, ms "
				 "or i (instructions)");
	itrace->period_is_time = false;
	return 0;
}

static unsigned int parse_count(const char **text, unsigned int usual)
{
	char *end;
	unsigned long value;

	if (!isdigit((unsigned char)**text))
		return usual;
	value = strtoul(*text, &end, 10);
	*text = end;
	return value > MAX_ENTRIES ? MAX_ENTRIES : value;
}

int itrace_parse(const char *text, struct itrace *itrace)
{
	int err = 0;

	*itrace = (struct itrace){ .errors = true, .period = DEFAULT_PERIOD_NS,
				   .period_is_time = true };
	if (!text || !*text) {
		itrace->instructions = itrace->branches = true;
		return 0;
	}
	itrace->errors = false;
	while (*text && !err) {
		switch (*text++) {
		case 'i':
			itrace->instructions = true;
			err = parse_period(&text, itrace);
			break;
		case 'b': itrace->branches = true; break;
		case 'c': itrace->calls = true; break;
		case 'r': itrace->returns = true; break;
		case 'e': itrace->errors = true; break;
		case 'g': itrace->callchain = parse_count(&text, DEFAULT_CALLCHAIN); break;
		case 'l': itrace->last_branches = parse_count(&text, DEFAULT_LAST_BRANCHES); break;
		case ',': case ' ': break;
		default:
			err = cmd_error(-EINVAL, "--itrace: '%c' is not supported for this trace; "
						 "letters: i, b, "
					"c, r, e, g, l", text[-1]);
		}
	}
	return err;
}

/* The address of instruction number @n of the straight line that begins at @pc. */
static uint64_t walk(struct rvt_space *space, uint64_t pc, uint64_t n)
{
	const uint8_t *code;

	while (n-- && space && rvt_space_find(space, pc, &code) >= 2)
		pc += (code[0] & 3) == 3 ? 4 : 2;
	return pc;
}

static int sample_by_time(const struct itrace *itrace, struct itrace_clock *clock,
			  const struct rvt_lane *lane, uint64_t first, uint64_t insns,
			  int (*sample)(void *ctx, uint64_t ip, uint64_t period), void *ctx)
{
	uint64_t period;

	clock->insns += insns;
	if (lane->time < clock->last_time + itrace->period)
		return 0;
	period = clock->insns;
	clock->insns = 0;
	clock->last_time = lane->time;
	return sample(ctx, walk(lane->space, first, insns - 1), period);
}

int itrace_sample(const struct itrace *itrace, struct itrace_clock *clock,
		  const struct rvt_lane *lane,
		  uint64_t first, uint64_t insns,
		  int (*sample)(void *ctx, uint64_t ip, uint64_t period), void *ctx)
{
	uint64_t period = itrace->period ? itrace->period : 1, done = 0, pc = first;
	int err = 0;

	if (!itrace->instructions)
		return 0;
	if (itrace->period_is_time && itrace->period)
		return sample_by_time(itrace, clock, lane, first, insns, sample, ctx);
	while (!err && clock->insns + insns - done >= period) {
		uint64_t step = period - clock->insns;

		/* to the last one of these */
		pc = walk(lane->space, pc, done ? step : step - 1);
		done += step;
		clock->insns = 0;
		err = sample(ctx, pc, period);
	}
	clock->insns += insns - done;
	return err;
}

bool itrace_wants(const struct itrace *itrace, const struct transfer *transfer)
{
	switch (transfer->kind) {
	case TRANSFER_CALL:
	case TRANSFER_TRAP:
		return itrace->branches || itrace->calls;
	case TRANSFER_RETURN:
	case TRANSFER_TRAP_RETURN:
		return itrace->branches || itrace->returns;
	default:
		return itrace->branches;
	}
}
