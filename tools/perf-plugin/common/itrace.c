// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/insn-code.h"
#include "common/itrace.h"
#include "common/text.h"

#define DEFAULT_PERIOD_NS 100000
#define DEFAULT_CALLCHAIN 16
#define DEFAULT_LAST_BRANCHES 64
#define MAX_ENTRIES 1024
#define ALL_LETTERS "ibIe"

/* Letters of perf for what RISC-V traces do not have, and the reason or what to use instead. */
static const struct {
	char letter;
	const char *why;
} refused[] = {
	{ 'y', "the trace has no cycle counts; script -F ipc and --clock estimate them from time" },
	{ 'x', "RISC-V has no transactions" },
	{ 'p', "the trace has no power events" },
	{ 'o', "the trace is not output of another event" },
	{ 'd', "there is no debug log; `perf rvtrace dump` prints the messages" },
	{ 'A', "instructions per cycle are an estimate anyway: script -F ipc" },
	{ 'f', "first-level cache events are no part of the trace" },
	{ 'm', "last-level cache events are no part of the trace" },
	{ 'M', "memory events are no part of the trace" },
	{ 't', "TLB events are no part of the trace" },
	{ 'a', "remote accesses are no part of the trace" },
};

static int take_number(const char **text, uint64_t *value)
{
	const char *from = *text;

	return read_number(text, value) ?
		cmd_error(-EINVAL, "--itrace: the number in '%s' has more than 64 bits", from) : 0;
}

/* Parses a number and a unit; without a number it is the default. */
static int parse_period(const char **text, struct itrace *itrace)
{
	static const struct {
		const char *name;
		enum itrace_unit unit;
		uint64_t factor;
	} units[] = {
		{ "ms", ITRACE_NS, 1000000 }, { "us", ITRACE_NS, 1000 }, { "ns", ITRACE_NS, 1 },
		{ "i", ITRACE_INSNS, 1 }, { "t", ITRACE_TICKS, 1 },
	};
	itrace->period = DEFAULT_PERIOD_NS;
	itrace->unit = ITRACE_NS;
	if (!isdigit((unsigned char)**text))
		return 0;
	if (take_number(text, &itrace->period))
		return -EINVAL;
	itrace->unit = ITRACE_INSNS;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(*text, units[i].name, len))
			continue;
		if (itrace->period > INT64_MAX / units[i].factor)
			return cmd_error(-EINVAL, "--itrace: a period of %" PRIu64 "%s is too long",
					 itrace->period, units[i].name);
		*text += len;
		itrace->unit = units[i].unit;
		itrace->period *= units[i].factor;
		return 0;
	}
	return 0;
}

static int parse_count(const char **text, unsigned int usual, unsigned int *count)
{
	uint64_t value = usual;

	if (isdigit((unsigned char)**text) && take_number(text, &value))
		return -EINVAL;
	*count = value > MAX_ENTRIES ? MAX_ENTRIES : value;
	return 0;
}

/*
 * Parses what follows e: -o, -l leave out overflows and lost data; +o, +l keep them (the default).
 */
static int parse_error_flags(const char **text, struct itrace *itrace)
{
	while (**text == '-' || **text == '+') {
		bool without = *(*text)++ == '-';

		for (; **text == 'o' || **text == 'l'; ++*text) {
			if (**text == 'o')
				itrace->no_overflow_errors = without;
			else
				itrace->no_lost_errors = without;
		}
		if (isalpha((unsigned char)**text) && !strchr("ibcrIwgGlLsZTq", **text))
			return cmd_error(-EINVAL, "--itrace: e takes the flags o and l, not '%c'",
					 **text);
	}
	return 0;
}

static int refuse(char letter)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (refused[i].letter == letter)
			return cmd_error(-EINVAL, "--itrace: '%c' is not supported: %s", letter,
					 refused[i].why);
	return cmd_error(-EINVAL, "--itrace: there is no letter '%c'; letters: i, b, c, r, I, e, "
			 "w, g, G, l, L, s, Z, T, q", letter);
}

static int parse_letter(const char **text, struct itrace *itrace)
{
	char letter = *(*text)++;

	switch (letter) {
	case 'i':
		itrace->instructions = true;
		return parse_period(text, itrace);
	case 'b': itrace->branches = true; return 0;
	case 'c': itrace->calls = true; return 0;
	case 'r': itrace->returns = true; return 0;
	case 'I': itrace->interrupts = true; return 0;
	case 'w': itrace->marks = true; return 0;
	case 'e':
		itrace->errors = true;
		return parse_error_flags(text, itrace);
	case 'g': return parse_count(text, DEFAULT_CALLCHAIN, &itrace->callchain);
	case 'G': return parse_count(text, DEFAULT_CALLCHAIN, &itrace->add_callchain);
	case 'l': return parse_count(text, DEFAULT_LAST_BRANCHES, &itrace->last_branches);
	case 'L': return parse_count(text, DEFAULT_LAST_BRANCHES, &itrace->add_last_branches);
	case 's':
		return isdigit((unsigned char)**text) ? take_number(text, &itrace->skip) : 0;
	case 'Z': itrace->ignore_time = true; return 0;
	case 'T': case 'q': case ',': case ' ':
		return 0;
	default:
		return refuse(letter);
	}
}

int itrace_parse(const char *text, const char *usual, struct itrace *itrace)
{
	int err = 0;

	*itrace = (struct itrace){ .period = DEFAULT_PERIOD_NS, .unit = ITRACE_NS };
	if (!text)
		text = usual;
	if (!*text)
		text = ALL_LETTERS;
	while (*text && !err)
		err = parse_letter(&text, itrace);
	return err;
}

int itrace_resolve(struct itrace *itrace, const struct rvt_session *session)
{
	const struct rvt_record_time_conv *conv = rvt_session_time_conv(session);

	if (conv)
		itrace->tick_ns = rvt_time_to_perf(conv, 1) - rvt_time_to_perf(conv, 0);
	if (itrace->unit != ITRACE_TICKS)
		return 0;
	if (!conv)
		return cmd_error(-EINVAL, "--itrace: the recording does not say how long a tick "
				 "of the trace's time is; use ns, us, ms or i (instructions)");
	itrace->period = rvt_time_to_perf(conv, itrace->period) - rvt_time_to_perf(conv, 0);
	itrace->unit = ITRACE_NS;
	return 0;
}

/* Returns the address of instruction number @n of the straight line that begins at @pc. */
static uint64_t walk(struct rvt_space *space, uint64_t pc, uint64_t n)
{
	uint8_t bytes[INSN_CODE_BYTES];
	unsigned int len;

	while (n-- && (len = insn_code(space, pc, bytes)))
		pc += len;
	return pc;
}

struct sampling {
	const struct itrace *itrace;
	struct itrace_clock *clock;
	struct rvt_hart_flow *hart;
	const struct rvt_straight_line *line;
	uint64_t pc;		/* of instruction number .at of the line */
	uint64_t at;
	uint64_t done;		/* instructions of the line that are in samples */
	int (*sample)(void *ctx, uint64_t ip, uint64_t period);
	void *ctx;
};

/*
 * Makes a sample of instruction number @n of the line. It stands for all instructions since the
 * last sample.
 */
static int put_sample(struct sampling *s, uint64_t n, uint64_t time)
{
	uint64_t period = s->clock->insns + n + 1 - s->done, ended = s->hart->time;
	int err;

	s->pc = walk(s->hart->space, s->pc, n - s->at);
	s->at = n;
	s->done = n + 1;
	s->clock->insns = 0;
	s->hart->time = time;
	err = s->sample(s->ctx, s->pc, period);
	s->hart->time = ended;
	return err;
}

/* Returns the next random number of 31 bits (Knuth's MMIX generator). */
static uint64_t draw(struct itrace_clock *clock)
{
	clock->random = clock->random * 6364136223846793005 + 1442695040888963407;
	return clock->random >> 33;
}

/* Seeds that are alike become numbers that are not (the end of Steele's SplitMix64). */
static uint64_t mix(uint64_t seed)
{
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
	return seed ^ seed >> 31;
}

void itrace_begin(const struct itrace *itrace, struct itrace_clock *clock, uint64_t seed)
{
	uint64_t period = itrace->period ? itrace->period : 1, done;

	*clock = (struct itrace_clock){ .random = mix(seed) };
	done = draw(clock) << 31;
	done = (done | draw(clock)) % period;
	if (itrace_by_time(itrace))
		clock->ns = done;
	else
		clock->insns = done;
}

/* Chooses how long after the end of its period the next sample is. */
static uint64_t choose_late(struct sampling *s)
{
	uint64_t most = s->itrace->tick_ns < s->itrace->period ? s->itrace->tick_ns :
			s->itrace->period;

	return most ? draw(s->clock) % most : 0;
}

/* Takes samples by the time that passed while code ran. */
static int sample_by_time(struct sampling *s)
{
	uint64_t insns = s->line->insns, began = s->line->began, period = s->itrace->period;
	uint64_t ns = s->hart->time > began ? s->hart->time - began : 0;
	uint64_t due = period + s->clock->late - s->clock->ns, late;
	int err = 0;

	while (!err && due <= ns) {
		uint64_t n = (__uint128_t)due * insns / (ns ? ns : 1), end;

		if (n >= insns)
			n = insns - 1;
		if (n >= s->done)
			err = put_sample(s, n, began + due);
		/* one sample is enough for an instruction that takes several periods */
		end = (__uint128_t)ns * (n + 1) / insns;
		late = choose_late(s);
		due += period + late - s->clock->late;
		s->clock->late = late;
		if (due < end)
			due += (end - due + period - 1) / period * period;
	}
	s->clock->ns = period + s->clock->late - (due - ns);
	s->clock->insns += insns - s->done;
	return err;
}

static int sample_by_insns(struct sampling *s)
{
	uint64_t insns = s->line->insns, began = s->line->began, ended = s->hart->time;
	uint64_t period = s->itrace->period ? s->itrace->period : 1;
	const struct rvt_clock_span span = { .from = began, .to = ended, .insns = insns };
	int err = 0;

	while (!err && s->clock->insns + insns - s->done >= period) {
		uint64_t n = s->done + period - s->clock->insns - 1;

		err = put_sample(s, n, rvt_clock_span_time(&span, n));
	}
	s->clock->insns += insns - s->done;
	return err;
}

int itrace_sample(const struct itrace *itrace, struct itrace_clock *clock,
		  struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		  int (*sample)(void *ctx, uint64_t ip, uint64_t period), void *ctx)
{
	struct sampling sampling = { .itrace = itrace, .clock = clock, .hart = hart, .line = line,
				     .pc = line->first, .sample = sample, .ctx = ctx };

	if (!itrace->instructions)
		return 0;
	return itrace_by_time(itrace) ? sample_by_time(&sampling) : sample_by_insns(&sampling);
}

bool itrace_wants(const struct itrace *itrace, const struct rvt_transfer *transfer)
{
	if (itrace->branches)
		return true;
	switch (transfer->kind) {
	case RVT_TRANSFER_CALL:
		return itrace->calls;
	case RVT_TRANSFER_TRAP:
		return itrace->calls || itrace->interrupts;
	case RVT_TRANSFER_RETURN:
		return itrace->returns;
	case RVT_TRANSFER_TRAP_RETURN:
		return itrace->returns || itrace->interrupts;
	default:
		return false;
	}
}

bool itrace_wants_error(const struct itrace *itrace, const struct rvt_event *event)
{
	if (itrace->no_overflow_errors && event->reason == RVT_REASON_OVERFLOW)
		return false;
	if (itrace->no_lost_errors && event->reason == RVT_REASON_TRUNCATED)
		return false;
	return itrace->errors;
}
