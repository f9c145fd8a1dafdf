/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: what a memo will do to the branch predictor, found out when it is made.
 */
#ifndef RVT_LIB_FLOW_EFFECTS_H
#define RVT_LIB_FLOW_EFFECTS_H

#include "flow/core/state.h"

/*
 * What flow->body, which led to @to, did to the branch predictor, which is as it was left; with
 * @own: to rvt_memo_recorded_effects(). False: more than a memo holds. Without predictor: @own
 * only.
 */
bool rvt_memos_find_effects(struct rvt_flow *flow, uint64_t to, uint16_t own);

#endif
