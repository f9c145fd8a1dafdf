/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Keys of memos that follow a flow: for the tests of memos. */
#ifndef TESTS_MEMO_KEY_H
#define TESTS_MEMO_KEY_H

#include "flow/memo.h"

static inline void set_cursor(struct rvt_memo_key *key, struct rvt_memo_cursor at)
{
	key->pc = at.pc;
	key->mapping_id = at.mapping_id;
}

/* rvt_memos_enter(); *key is where the flow stands. */
static inline bool enter_memos(struct rvt_flow *flow, struct rvt_memo_key *key)
{
	struct rvt_memo_cursor at;

	if (!rvt_memos_enter(flow, &at))
		return false;
	set_cursor(key, at);
	return true;
}

#endif
