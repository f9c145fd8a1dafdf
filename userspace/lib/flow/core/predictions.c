// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: an encoder's branch predictor.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "flow/core/state.h"

#define FIRST 1		/* of each entry: not taken is predicted, and one more of that is needed */

int rvt_flow_set_predictions(struct rvt_flow *flow, int bits, unsigned int shift)
{
	struct rvt_predictions *p = &flow->base.predictions;

	free(p->entries);
	*p = (struct rvt_predictions){ .shift = shift };
	if (bits < 0)
		return 0;
	p->mask = (UINT32_C(1) << bits) - 1;
	p->entries = malloc((size_t)p->mask + 1);
	if (!p->entries)
		return -ENOMEM;
	rvt_flow_reset_predictions(flow);
	return 0;
}

void rvt_flow_reset_predictions(struct rvt_flow *flow)
{
	struct rvt_predictions *p = &flow->base.predictions;

	if (p->entries)
		memset(p->entries, FIRST, (size_t)p->mask + 1);
}

bool rvt_flow_predicts(struct rvt_flow *flow, uint64_t pc)
{
	struct rvt_predictions *p = &flow->base.predictions;
	const uint8_t *entry = rvt_prediction_at(p, pc);

	if (flow->recording) {
		flow->body.too_long |= flow->body.asks;
		flow->body.asks = true;
		flow->body.asked = entry - p->entries;
	}
	return *entry >> 1;
}
