// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>
#include "common/json.h"
#include "latency/latency.h"

static const char *const measure_keys[LATENCY_MEASURES] = {
	[LATENCY_TIME] = "time", [LATENCY_OWN] = "own_time", [LATENCY_AWAY] = "own_away",
	[LATENCY_INSNS] = "insns", [LATENCY_OWN_INSNS] = "own_insns",
};

static bool is_time(enum latency_measure measure)
{
	return measure <= LATENCY_AWAY;
}

static void json_values(struct json *json, const char *key, const struct histogram *calls)
{
	json_open(json, key);
	json_number(json, "p50", histogram_percentile(calls, 50, NULL));
	json_number(json, "p90", histogram_percentile(calls, 90, NULL));
	json_number(json, "p99", histogram_percentile(calls, 99, NULL));
	json_number(json, "p999", histogram_percentile(calls, 99.9, NULL));
	json_number(json, "min", calls->min);
	json_number(json, "max", calls->max);
	json_number(json, "sum", calls->sum);
	json_close(json);
}

static void json_function(const struct latency *latency, const struct latency_function *function)
{
	struct json json = json_begin(stdout, "latency");

	json_text(&json, "sym", function->name);
	json_text(&json, "dso", function->dso);
	json_flag(&json, "kernel", function->kernel);
	json_number(&json, "calls", function->calls[LATENCY_INSNS].n);
	json_number(&json, "partial", function->partial);
	json_flag(&json, "timed", latency->timed);
	json_number(&json, "tail", latency_tail(latency, function));
	for (int i = 0; i < LATENCY_MEASURES; i++)
		if (function->calls[i].n && (latency->timed || !is_time(i)))
			json_values(&json, measure_keys[i], &function->calls[i]);
	json_end(&json);
}

void latency_json(struct latency *latency)
{
	uint64_t lines = 0;

	view_json_losses(latency->view, stdout);
	for (size_t i = 0; i < latency->n; i++)
		if (!latency->options->max_lines || lines++ < latency->options->max_lines)
			json_function(latency, latency->list[i]);
}

static void json_call(const struct latency *latency, const char *type,
		      const struct latency_call *call, const char *caller)
{
	struct json json = json_begin(stdout, type);

	json_number(&json, "number", call->number);
	json_text(&json, "comm", call->comm);
	json_number(&json, "pid", call->pid);
	json_number(&json, "tid", call->tid);
	json_number(&json, "cpu", call->call.cpu);
	if (latency->timed)
		json_number(&json, "began", call->call.began);
	for (int i = 0; i < LATENCY_MEASURES; i++)
		if (latency->timed || !is_time(i))
			json_number(&json, measure_keys[i], latency_value(&call->call, i));
	if (caller)
		json_text(&json, "caller", caller);
	json_end(&json);
}

void latency_json_call(struct latency *latency, const struct latency_call *call,
		       const struct call_function *caller)
{
	json_call(latency, "over", call, caller ? caller->name : NULL);
}

static bool json_node(void *ctx, const struct latency_pair *pair, unsigned int depth)
{
	const struct latency *latency = ctx;
	const struct context *node = pair->slow;
	struct json json = json_begin(stdout, "callee");

	json_number(&json, "depth", depth);
	json_text(&json, "sym", node->name);
	json_text(&json, "dso", node->dso);
	json_flag(&json, "kernel", node->kernel);
	json_number(&json, "calls", node->calls);
	json_number(&json, "insns", node->total);
	json_number(&json, "own_insns", node->self);
	if (latency->timed) {
		json_number(&json, "time", node->all.time + node->all.away);
		json_number(&json, "away", node->all.away);
	}
	json_end(&json);
	return true;
}

void latency_json_trees(struct latency *latency)
{
	for (size_t i = 0; i < latency->n_trees; i++) {
		json_call(latency, i + 1 < latency->n_trees ? "slowest" : "median",
			  &latency->trees[i].call, NULL);
		latency_walk(&latency->trees[i], NULL, json_node, latency);
	}
}
