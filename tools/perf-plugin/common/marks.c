// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include "common/marks.h"

const char *mark_name(enum rvt_mark mark)
{
	switch (mark) {
	case RVT_MARK_EVENT: return "trace-event";
	case RVT_MARK_TRIGGER: return "trigger";
	case RVT_MARK_USER: return "user";
	case RVT_MARK_WATCHPOINT: return "watchpoint";
	case RVT_MARK_CALL: return "call";
	case RVT_MARK_EXCEPTION: return "exception";
	case RVT_MARK_INTERRUPT: return "interrupt";
	case RVT_MARK_PC_SAMPLE: return "pc-sample";
	case RVT_MARK_CONTROL: return "control";
	case RVT_MARK_LOST: return "lost";
	case RVT_MARK_RECORDER: return "record-trigger";
	case RVT_MARK_SAMPLE: return "sample";
	}
	return "mark";
}

void mark_text(const struct rvt_event *event, char text[MARK_TEXT_SIZE])
{
	size_t len = 0;

	text[0] = 0;
	if (event->mark == RVT_MARK_RECORDER || event->mark == RVT_MARK_SAMPLE)
		snprintf(text, MARK_TEXT_SIZE, " %s", event->detail);
	if (event->mark == RVT_MARK_USER)
		len = snprintf(text, MARK_TEXT_SIZE, " tag 0x%" PRIx64, event->tag);
	if (event->has_value)
		len += snprintf(text + len, MARK_TEXT_SIZE - len, " value 0x%0*" PRIx64,
				2 * event->value_bytes, event->value);
	if (event->target)
		snprintf(text + len, MARK_TEXT_SIZE - len, " to 0x%" PRIx64, event->target);
}
