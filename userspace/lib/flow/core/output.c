// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: what the sink gets.
 */
#include "flow/core/state.h"
#include "flow/memo.h"

int rvt_flow_deliver(struct rvt_flow *flow)
{
	size_t n = flow->n_runs;

	flow->n_runs = 0;
	if (!flow->result && n && flow->delivers)
		flow->result = flow->sink.runs(flow->sink.ctx, flow->runs, n);
	/* A walk is going on: it finishes its block, and looks up the next one anew. */
	if (rvt_flow_mapping_changed(flow))
		flow->mapping = NULL;
	return flow->result;
}

int rvt_flow_flush(struct rvt_flow *flow)
{
	return rvt_flow_deliver(flow);
}

int rvt_flow_deliver_event(struct rvt_flow *flow, const struct rvt_event *event)
{
	struct rvt_event translated;

	if (rvt_flow_deliver(flow) || !flow->sink.event)
		return flow->result;
	if (flow->offsets) {
		translated = *event;
		translated.offset = flow->offsets->find(flow->offsets->ctx, event->offset);
		event = &translated;
	}
	flow->result = flow->sink.event(flow->sink.ctx, event);
	return flow->result;
}

int rvt_flow_result(const struct rvt_flow *flow)
{
	return flow->result;
}

bool rvt_flow_is_consecutive(const struct rvt_flow *flow)
{
	return flow->consecutive;
}

bool rvt_memos_recording(const struct rvt_flow *flow)
{
	return flow->recording;
}
