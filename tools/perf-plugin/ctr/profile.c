// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * `perf rvtrace profile` of Control Transfer Records: straight lines between records, and the
 * transfers.
 */
#include <errno.h>
#include <string.h>
#include "common/cmd.h"
#include "ctr/ctr.h"

/* No real line is longer. Two records that are not of one flow may look like one. */
#define LONGEST_LINE (64u << 10)

struct ctr_profile {
	struct view *view;
	const struct rvt_transfers_ops *ops;
	bool gaps;	/* some transfers are not recorded, so lines may not be straight */
};

static enum rvt_transfer_kind kind_of(unsigned int type)
{
	switch (type) {
	case RVT_CTR_TAKEN: return RVT_TRANSFER_BRANCH;
	case RVT_CTR_CALL: case RVT_CTR_IND_CALL: return RVT_TRANSFER_CALL;
	case RVT_CTR_RETURN: return RVT_TRANSFER_RETURN;
	case RVT_CTR_EXCEPTION: case RVT_CTR_INTERRUPT: return RVT_TRANSFER_TRAP;
	case RVT_CTR_TRAP_RETURN: return RVT_TRANSFER_TRAP_RETURN;
	default: return RVT_TRANSFER_JUMP;
	}
}

/* Tells the line from the target of one transfer to the source of the next one. */
static int give_line(struct ctr_profile *profile, struct rvt_hart_flow *hart, uint64_t first,
		     uint64_t last)
{
	const struct rvt_straight_line line = { .first = first, .last = last,
						.insns = (last - first) / 4 + 1,
						.began = hart->time };

	if (!first || last < first || last - first > LONGEST_LINE)
		return 0;
	return profile->ops->line(profile->ops->ctx, hart, &line, NULL);
}

static int on_sample(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task)
{
	struct ctr_profile *profile = ctx;
	struct rvt_hart_flow hart = { .cpu = sample->cpu, .task = task, .time = sample->time,
				 .space = task->space };
	struct rvt_ctr_entry entry;
	uint64_t before = 0;
	int err = 0;

	if (!ctr_wants(profile->view, sample, task))
		return 0;
	for (unsigned int i = sample->n; i && !err; i--) {
		struct rvt_transfer transfer = { 0 };

		rvt_ctr_get(sample, i - 1, &entry);
		/* A branch that was not taken does not end a line. */
		if (entry.type == RVT_CTR_NOT_TAKEN)
			continue;
		transfer.kind = kind_of(entry.type);
		transfer.from = entry.source;
		transfer.to = entry.target;
		transfer.flags = rvt_ctr_type_name(entry.type);
		/* a trap's source was not executed, but the line before it was */
		if (transfer.kind != RVT_TRANSFER_TRAP)
			err = give_line(profile, &hart, before, entry.source);
		if (!err && entry.source && entry.target)
			err = profile->ops->transfer(profile->ops->ctx, &hart, &transfer, NULL);
		before = entry.target;
	}
	return err;
}

/*
 * Notes from the first sample whether filters or RAS emulation left transfers out: then code
 * between two records is not a straight line.
 */
static int refuse_gaps(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task)
{
	struct ctr_profile *profile = ctx;

	(void)task;
	profile->gaps |= sample->control & RVT_CTR_CONTROL_GAPS;
	return -ECANCELED;
}

int ctr_profile(struct view *view, const struct rvt_transfers_ops *ops)
{
	struct ctr_profile profile = { .view = view, .ops = ops };
	const struct rvt_session_ctr_sink first = { sizeof(first), &profile, refuse_gaps, NULL };
	const struct rvt_session_ctr_sink sink = { sizeof(sink),
						   &profile, on_sample, view_warning };
	int err;

	if (!ops->line || !ops->transfer || ops->after)
		return cmd_error(-ENOTSUP, "Control Transfer Records make profiles of the formats "
				 "llvm, bolt and autofdo only");
	err = rvt_session_run_ctr(view_session(view), &first);
	if (profile.gaps)
		return cmd_error(-ENOTSUP, "recorded with RAS emulation or without some kinds of "
				 "transfers: the code between two records is not known");
	if (!err || err == -ECANCELED)
		err = rvt_session_run_ctr(view_session(view), &sink);
	return err ? cmd_error(err, "cannot make a profile: %s", strerror(-err)) : 0;
}
