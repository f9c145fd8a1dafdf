// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Message memos: the memory of their table.
 */
#include <string.h>
#include <sys/mman.h>
#include "flow/memo/memos.h"

struct rvt_memos *rvt_memos_create(void)
{
	return rvt_table_map(sizeof(struct rvt_memos));
}

void rvt_memos_destroy(struct rvt_memos *memos)
{
	if (memos)
		munmap(memos, sizeof(*memos));
}

void rvt_memos_forget(struct rvt_memos *memos)
{
	/* These are cleared, too, as like() may take a free way for one that is not. */
	memset(memos->numbers, 0, sizeof(memos->numbers));
	memset(memos->tags, 0, sizeof(memos->tags));
	memset(memos->predictor, 0, sizeof(memos->predictor));
	memset(memos->own_predictor, 0, sizeof(memos->own_predictor));
	memset(memos->seen, 0, sizeof(memos->seen));
	memos->n_path = 0;
	memos->n_memos = memos->hand = memos->turn = 0;
	memos->sums.last = NULL;
}

void rvt_memos_drop(struct rvt_flow *flow)
{
	if (!flow->recording)
		return;
	flow->recording = false;
	rvt_returns_log_end(&flow->base.returns, NULL);
}

void rvt_memos_reset(struct rvt_flow *flow)
{
	if (!flow->base.memos)
		return;
	rvt_memos_drop(flow);
	if (flow->base.counts)
		flow->count_ops->expand(flow);
	madvise(flow->base.memos, sizeof(*flow->base.memos), MADV_DONTNEED);
}
