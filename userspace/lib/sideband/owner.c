// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Whose the flow of a hart is. */
#include <string.h>
#include <rvtrace/owner.h>

static bool tells_thread(const struct rvt_owner_rules *rules, const struct rvt_context *context)
{
	return rules->hcontext_max ? context->hcontext_valid : context->scontext_valid;
}

bool rvt_owner_told(const struct rvt_owner_rules *rules, const struct rvt_context *context)
{
	return tells_thread(rules, context);
}

static bool ownership_follows(const struct rvt_owner_rules *rules)
{
	return rules->contexts && rules->ntrace;
}

bool rvt_owner_waits(const struct rvt_owner_rules *rules, const struct rvt_context *context)
{
	return ownership_follows(rules) && !tells_thread(rules, context);
}

static void forget_thread(struct rvt_context *context)
{
	context->scontext_valid = context->hcontext_valid = false;
}

/* Returns whether a guest begins or ends to run. */
static bool take_context(struct rvt_context *now, const struct rvt_context *context)
{
	bool crosses = context->prv_valid && context->v != now->v;

	if (context->prv_valid) {
		now->prv = context->prv;
		now->v = context->v;
		now->prv_valid = true;
	}
	if (context->hcontext_valid) {
		now->hcontext = context->hcontext;
		now->hcontext_valid = true;
	}
	if (context->scontext_valid) {
		now->scontext = context->scontext;
		now->scontext_valid = true;
	}
	return crosses;
}

bool rvt_owner_event(const struct rvt_owner_rules *rules, struct rvt_context *context,
		     const struct rvt_event *event)
{
	bool crosses;

	switch (event->type) {
	case RVT_EVENT_CONTEXT:
		crosses = take_context(context, &event->context);
		return crosses || tells_thread(rules, &event->context);
	case RVT_EVENT_LOST:
		/* It may have changed unseen, but not by what is only unreadable. */
		if (event->reason == RVT_REASON_NO_CODE)
			return false;
		memset(context, 0, sizeof(*context));
		return true;
	case RVT_EVENT_MARK:
		if (event->mark != RVT_MARK_LOST || !(event->value & RVT_MARK_LOST_OWNERSHIP))
			return false;
		memset(context, 0, sizeof(*context));
		return true;
	case RVT_EVENT_STOP:
		/* Somebody else may run when tracing goes on. */
		if (!ownership_follows(rules))
			return false;
		forget_thread(context);
		return true;
	default:
		return false;
	}
}

void rvt_owner_record(const struct rvt_owner_rules *rules, struct rvt_context *context)
{
	/* A trace that says whose it is says so again only when it changes. */
	if (rules->by_task && !rules->contexts)
		forget_thread(context);
}

/* -1: the trace has not told the thread id, or says that it has no room for it. */
static int32_t told_thread(const struct rvt_owner_rules *rules, const struct rvt_context *context)
{
	if (!tells_thread(rules, context) || rules->foreign_ids)
		return -1;
	if (!rules->hcontext_max)
		return context->scontext;
	return context->hcontext < rules->hcontext_max ? (int32_t)context->hcontext : -1;
}

/*
 * Where the trace itself says whose it is and when it was, a driver need not end the AUX record
 * when the task stops running: it may have several turns of the task in it, and ends when somebody
 * else runs, whom it names.
 */
static bool may_end_late(const struct rvt_owner_rules *rules)
{
	return rules->timed && rules->contexts;
}

/*
 * Only some tasks were traced: an AUX record that ends with its task's turn names its thread. But
 * tasks that inherit the same events follow each other in one record: perf hands the running events
 * from one to the other. With time stamps the context switches are more exact.
 */
static int32_t thread_by_task(const struct rvt_owner_rules *rules, int32_t record, int32_t running)
{
	if (!rules->timed || !rules->switches)
		running = -1;
	return running >= 0 || may_end_late(rules) ? running : record;
}

int32_t rvt_owner_thread(const struct rvt_owner_rules *rules, const struct rvt_context *context,
			 const int32_t *record, int32_t running)
{
	int32_t told = told_thread(rules, context);

	if (told >= 0)
		return told;
	if (rules->thread >= 0)
		return rules->thread;
	if (rules->by_task && record)
		return thread_by_task(rules, *record, running);
	return running;
}
