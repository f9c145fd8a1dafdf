// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/color.h"
#include "common/durations.h"
#include "latency/latency.h"

#define BAR 50			/* longest bar of a histogram, in characters */
#define MAX_BARS 20
#define TREE_LIMIT 0.005	/* the tree leaves out smaller parts of the slowest call */
#define DIFFERENCES 3

static const double percents[] = { 50, 90, 99, 99.9 };
static const char *const percent_names[] = { "p50", "p90", "p99", "p99.9" };
#define PERCENTS (sizeof(percents) / sizeof(*percents))

static const struct {
	const char *name;
	bool time;
} measures[LATENCY_MEASURES] = {
	[LATENCY_TIME] = { "time", true },
	[LATENCY_OWN] = { "own time", true },
	[LATENCY_AWAY] = { "own off-cpu", true },
	[LATENCY_INSNS] = { "instructions", false },
	[LATENCY_OWN_INSNS] = { "own insns", false },
};

/* Prints a value as wide as a column, with a space before it. */
static void print_value(uint64_t value, bool time)
{
	char text[DURATION_SIZE];

	if (time)
		printf(" %11s", duration_text(value, text));
	else
		printf(" %11" PRIu64, value);
}

static void print_head(struct latency *latency)
{
	uint64_t partial = 0, whole = 0;

	for (size_t i = 0; i < latency->n; i++) {
		partial += latency->list[i]->partial;
		whole += latency->list[i]->calls[LATENCY_INSNS].n;
	}
	printf("# %" PRIu64 " calls", whole);
	if (latency->options->symbol && latency->n)
		printf(" of %s (%s)", latency->list[0]->name, latency->list[0]->dso);
	puts(", from the trace");
	view_print_losses(latency->view, stdout, "# ");
	view_print_triggers(latency->view, stdout, "# ");
	if (partial)
		printf("# %" PRIu64 " more call%s left out: beginning or return was not seen, or "
		       "flow was lost within\n", partial, partial == 1 ? " is" : "s are");
	if (!latency->timed && latency->n)
		puts("# The trace has no time stamps: calls are measured in instructions, not in "
		     "time.");
	puts("#");
}

/* ---- one function ---- */

static void print_table(const struct latency *latency, const struct latency_function *function)
{
	printf("# %-13s", "");
	for (size_t i = 0; i < PERCENTS; i++)
		printf(" %11s", percent_names[i]);
	printf(" %11s %11s %11s\n", "max", "mean", "sum");
	for (int i = 0; i < LATENCY_MEASURES; i++) {
		const struct histogram *calls = &function->calls[i];

		if (measures[i].time && !latency->timed)
			continue;
		printf("  %-13s", measures[i].name);
		for (size_t j = 0; j < PERCENTS; j++)
			print_value(histogram_percentile(calls, percents[j], NULL),
				    measures[i].time);
		print_value(calls->max, measures[i].time);
		print_value(calls->n ? calls->sum / calls->n : 0, measures[i].time);
		print_value(calls->sum, measures[i].time);
		putchar('\n');
	}
}

/* Returns the lower end of bar number @bar, with @parts bars for a power of two. */
static uint64_t bar_from(unsigned int bar, unsigned int parts)
{
	unsigned int shift = bar / parts;

	return (UINT64_C(1) << shift) + (UINT64_C(1) << shift) / parts * (bar % parts);
}

static unsigned int bar_of(uint64_t value, unsigned int parts)
{
	unsigned int bar = 0;

	while (bar + 1 < 64 * parts && bar_from(bar + 1, parts) <= value)
		bar++;
	return bar;
}

static void print_bar(uint64_t count, uint64_t most)
{
	unsigned int length = most ? (count * BAR + most - 1) / most : 0;

	printf(" %10" PRIu64 " |", count);
	while (length--)
		putchar('#');
	putchar('\n');
}

static void print_histogram(const struct latency *latency, const struct histogram *calls)
{
	unsigned int parts = 16, first, last;
	bool time = latency->timed, gap = false;
	uint64_t most = 0;

	/* as fine as the lines allow */
	while (parts > 1 && bar_of(calls->max, parts) - bar_of(calls->min, parts) >= MAX_BARS)
		parts /= 2;
	first = bar_of(calls->min, parts);
	last = bar_of(calls->max, parts);
	for (unsigned int bar = first; bar <= last; bar++) {
		uint64_t count = histogram_between(calls, bar == first ? 0 : bar_from(bar, parts),
						   bar_from(bar + 1, parts));

		most = count > most ? count : most;
	}
	printf("#\n# How many calls took how %s\n", time ? "long" : "many instructions");
	for (unsigned int bar = first; bar <= last; bar++) {
		uint64_t from = bar == first ? 0 : bar_from(bar, parts);
		uint64_t count = histogram_between(calls, from, bar_from(bar + 1, parts));

		if (!count && gap)
			continue;
		gap = !count;
		if (gap) {
			puts("          ...");
			continue;
		}
		print_value(bar_from(bar, parts), time);
		fputs(" to", stdout);
		print_value(bar_from(bar + 1, parts), time);
		print_bar(count, most);
	}
}

/* ---- all functions ---- */

static void print_functions(const struct latency *latency)
{
	enum latency_measure rank = latency_rank(latency);
	uint64_t lines = 0;

	printf("# Calls %s what they called. Tail: %s beyond the median, all calls together\n",
	       latency->options->own ? "without" : "with",
	       latency->timed ? "time" : "instructions");
	printf("#       Tail       Calls");
	for (size_t i = 0; i < PERCENTS; i++)
		printf(" %11s", percent_names[i]);
	puts("         max  Function (Shared Object)");
	for (size_t i = 0; i < latency->n; i++) {
		const struct latency_function *function = latency->list[i];
		const struct histogram *calls = &function->calls[rank];

		if (!calls->n)
			continue;
		if (latency->options->max_lines && lines++ >= latency->options->max_lines)
			break;
		print_value(latency_tail(latency, function), latency->timed);
		printf(" %11" PRIu64, calls->n);
		for (size_t j = 0; j < PERCENTS; j++)
			print_value(histogram_percentile(calls, percents[j], NULL), latency->timed);
		print_value(calls->max, latency->timed);
		printf("  %s%s (%s)\n", function->kernel ? "[k] " : "", function->name,
		       function->dso);
	}
}

void latency_print(struct latency *latency)
{
	const struct latency_function *function = latency->n ? latency->list[0] : NULL;

	print_head(latency);
	if (!latency->options->symbol) {
		print_functions(latency);
	} else if (function && function->calls[LATENCY_INSNS].n) {
		print_table(latency, function);
		print_histogram(latency, &function->calls[latency_rank(latency)]);
	}
}

/* ---- calls ---- */

void latency_print_calls_head(struct latency *latency)
{
	char text[DURATION_SIZE];

	printf("#\n# Calls that took longer than %s\n",
	       duration_text(latency->options->over, text));
	printf("# %17s %11s %11s %11s %11s  CPU  Thread, caller\n", "Began (s)", "Time", "Own time",
	       "Own off-cpu", "Insns");
}

static void print_began(uint64_t ns)
{
	printf("%8" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

void latency_print_call(struct latency *latency, const struct latency_call *call,
			const struct call_function *caller)
{
	(void)latency;
	fputs("  ", stdout);
	print_began(call->call.began);
	print_value(call->call.time, true);
	print_value(latency_value(&call->call, LATENCY_OWN), true);
	print_value(latency_value(&call->call, LATENCY_AWAY), true);
	print_value(call->call.insns, false);
	printf("  [%03d]  %s %d/%d%s%s\n", call->call.cpu, call->comm, call->pid, call->tid,
	       caller ? ", from " : "", caller ? caller->name : "");
}

/* ---- trees ---- */

struct difference {
	const struct context *slow, *median;
	int64_t time, away, insns;
	uint64_t weight;
};

struct printing {
	const struct latency *latency;
	uint64_t limit;		/* of time, or instructions */
	struct difference most[DIFFERENCES + 1];
	size_t n_most;
};

static uint64_t all_time(const struct context *node)
{
	return node ? node->all.time + node->all.away : 0;
}

static void print_part(const struct printing *printing, const struct context *node)
{
	if (!node) {
		printf("%*s", printing->latency->timed ? 43 : 19, "");
		return;
	}
	if (printing->latency->timed) {
		print_value(all_time(node), true);
		print_value(node->all.away, true);
	}
	print_value(node->total, false);
	printf(" %6" PRIu64, node->calls);
}

static bool print_pair(void *ctx, const struct latency_pair *pair, unsigned int depth)
{
	struct printing *printing = ctx;
	const struct context *node = pair->slow ? pair->slow : pair->median;
	uint64_t weight = printing->latency->timed ? all_time(node) : node->total;

	if (weight < printing->limit)
		return false;
	print_part(printing, pair->slow);
	fputs(" |", stdout);
	print_part(printing, pair->median);
	printf(" | %*s%s%s (%s)\n", depth * 2, "", node->kernel ? "[k] " : "", node->name,
	       node->dso);
	return true;
}

/* Keeps the difference if it is one of the largest. */
static bool note_difference(void *ctx, const struct latency_pair *pair, unsigned int depth)
{
	static const struct context nothing;
	const struct context *slow = pair->slow ? pair->slow : &nothing;
	const struct context *median = pair->median ? pair->median : &nothing;
	struct printing *printing = ctx;
	struct difference difference = {
		.slow = pair->slow, .median = pair->median,
		.time = slow->own.time - median->own.time,
		.away = slow->own.away - median->own.away,
		.insns = slow->self - median->self };
	size_t i = printing->n_most;

	(void)depth;
	difference.weight = printing->latency->timed ?
		llabs(difference.time) + llabs(difference.away) : llabs(difference.insns);
	for (; i && printing->most[i - 1].weight < difference.weight; i--)
		printing->most[i] = printing->most[i - 1];
	printing->most[i] = difference;
	if (printing->n_most < DIFFERENCES)
		printing->n_most++;
	return true;
}

static void print_signed(int64_t value, bool time)
{
	char text[DURATION_SIZE];

	putchar(value < 0 ? '-' : '+');
	if (time)
		fputs(duration_text(llabs(value), text), stdout);
	else
		printf("%lld", llabs(value));
}

static void print_differences(struct printing *printing)
{
	bool timed = printing->latency->timed;

	for (size_t i = 0; i < printing->n_most; i++) {
		const struct difference *difference = &printing->most[i];
		const struct context *node = difference->slow ? difference->slow :
			difference->median;

		if (!difference->weight)
			break;
		printf("#   %s itself: ", node->name);
		if (timed) {
			print_signed(difference->time, true);
			fputs(", off-cpu ", stdout);
			print_signed(difference->away, true);
			fputs(", ", stdout);
		}
		print_signed(difference->insns, false);
		puts(" instructions");
	}
}

static void print_name(const struct latency *latency, const struct latency_tree *tree)
{
	const struct call *call = &tree->call.call;
	char text[DURATION_SIZE];

	printf("call %" PRIu64 ": ", tree->call.number);
	if (latency->timed)
		printf("%s, ", duration_text(call->time, text));
	printf("%" PRIu64 " instructions", call->insns);
	if (latency->timed) {
		fputs(", began at", stdout);
		print_began(call->began);
	}
	printf(" on cpu %d, %s %d/%d\n", call->cpu, tree->call.comm, tree->call.pid,
	       tree->call.tid);
}

static void print_tree(const struct latency *latency, size_t number,
		       const struct latency_tree *slow, const struct latency_tree *median)
{
	struct printing printing = { .latency = latency };
	uint64_t all = latency->timed ? slow->call.call.time : slow->call.call.insns;

	printing.limit = all * TREE_LIMIT;
	printf("#\n# Slowest %zu: ", number + 1);
	print_name(latency, slow);
	printf("# Median:    ");
	print_name(latency, median);
	puts("# What differs most:");
	latency_walk(slow, median, note_difference, &printing);
	print_differences(&printing);
	puts("#");
	printf("#%*s%*s\n", latency->timed ? 43 : 19, "-- slowest --", latency->timed ? 45 : 21,
	       "-- median --");
	fputs("#", stdout);
	for (int i = 0; i < 2; i++)
		printf("%s%11s %6s%s", latency->timed ? i ? "        Time     Off-cpu " :
		       "       Time     Off-cpu " : i ? " " : "", "Insns", "Calls", " |");
	puts(" Function (Shared Object)");
	latency_walk(slow, median, print_pair, &printing);
}

void latency_print_trees(struct latency *latency)
{
	for (size_t i = 0; i + 1 < latency->n_trees; i++)
		print_tree(latency, i, &latency->trees[i], &latency->trees[latency->n_trees - 1]);
}
