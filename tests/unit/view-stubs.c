// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What parts of the command that are tested alone want of tools/perf-plugin/common/view.c: no
 * filters.
 */
#include "../../tools/perf-plugin/common/view.h"

bool view_wants(struct view *view, const struct rvt_hart_flow *hart)
{
	(void)view;
	(void)hart;
	return true;
}

void view_lost(struct view *view, const struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	(void)hart;
	(void)view;
	(void)event;
}

void view_cut(struct view *view, uint64_t cuts)
{
	(void)view;
	(void)cuts;
}

struct rvt_session *view_session(struct view *view)
{
	(void)view;
	return NULL;
}

void view_note_run(struct view *view, const struct rvt_hart_flow *hart, const struct rvt_run *run,
		   uint64_t times)
{
	(void)view;
	(void)hart;
	(void)run;
	(void)times;
}
