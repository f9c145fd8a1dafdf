// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Who runs on a cpu: perf's context switches, those of the recorder's BPF program, and where trace
 * begins.
 */
#include <errno.h>
#include <string.h>
#include <rvtrace/switches.h>
#include "events.h"

int rvt_sideband_add_switch(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record)
{
	const uint32_t *next = (const void *)(record->header + 1);
	struct sideband_event event = { .type = SIDEBAND_SWITCH };

	if (!record->cpu_valid || !record->tid_valid)
		return 0;
	event.pid = record->pid;
	event.tid = record->tid;
	event.on.cpu = record->cpu;
	event.on.next = record->tid;
	if (record->misc & PERF_RECORD_MISC_SWITCH_OUT) {
		event.on.next = -1;
		/* SWITCH_CPU_WIDE says who comes: pid, tid */
		if (record->type == PERF_RECORD_SWITCH_CPU_WIDE && record->body_len >= 8)
			event.on.next = next[1];
	}
	return rvt_sideband_add_record_event(sideband, record, &event, NULL);
}

int rvt_sideband_add_itrace_start(struct rvt_sideband *sideband,
				  const struct rvt_perfdata_record *record)
{
	const int32_t *body = (const void *)(record->header + 1);
	struct sideband_event event = { .type = SIDEBAND_SWITCH };

	if (!record->cpu_valid || record->body_len < 8 || body[1] < 0)
		return 0;
	event.pid = body[0];
	event.tid = body[1];
	event.on.cpu = record->cpu;
	event.on.next = body[1];
	return rvt_sideband_add_record_event(sideband, record, &event, NULL);
}

/* Numbers of tasks are not negative; the kernel has no cpu, and so no idle thread, without them. */
static bool is_sane(const struct rvt_switch *body)
{
	return body->prev_pid >= 0 && body->prev_tid >= 0 && body->next_pid >= 0 &&
		body->next_tid >= 0 && !(body->flags & ~RVT_SWITCH_LAST);
}

int rvt_sideband_add_switch_sample(struct rvt_sideband *sideband,
				   const struct rvt_perfdata_record *record)
{
	struct sideband_event event = { .type = SIDEBAND_SWITCH, .pid = -1, .tid = -1,
					.on.next = -1 };
	struct rvt_switch body;
	bool sane = false;
	int err;

	if (!record->cpu_valid)
		return -EBADMSG;
	if (record->raw && record->raw_len >= sizeof(body)) {
		memcpy(&body, record->raw, sizeof(body));
		sane = is_sane(&body);
	}
	event.on.cpu = record->cpu;
	if (sane) {
		event.pid = body.next_pid;
		event.tid = body.next_tid;
		event.on.next = body.flags & RVT_SWITCH_LAST ? -1 : body.next_tid;
	}
	err = rvt_sideband_add_record_event(sideband, record, &event, NULL);
	return err || sane ? err : -EBADMSG;
}
