// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* --raw-pc: "CPU TID PRV PC" for every instruction, for programs that compare. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "common/text.h"
#include "script/lines.h"

#define LINE_ROOM 64

/* Returns the privilege mode; if the trace does not have it, by the half of the address space. */
static const char *privilege(const struct rvt_hart_flow *hart, uint64_t pc)
{
	static const char *const names[2][4] = { { "U", "S", "H", "M" }, { "VU", "VS", "H", "M" } };

	if (hart->context.prv_valid)
		return names[hart->context.v & 1][hart->context.prv & 3];
	return (int64_t)pc < 0 ? "S" : "U";
}

int raw_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct script *script = ctx;
	char buffer[64 * LINE_ROOM], *out = buffer, head[32];
	uint64_t told = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rvt_block *block = runs[i].block;
		uint64_t pc = block->pc;
		int len;

		hart->time = rvt_hart_time(hart, told);
		told += runs[i].count;
		if (!view_wants(script->view, hart))
			continue;
		for (uint32_t j = 0; j < runs[i].first; j++)
			pc += 2 * block->halfwords[j];
		len = snprintf(head, sizeof(head), "%d %d %s ", hart->cpu,
			       hart->task ? hart->task->tid : -1, privilege(hart, pc));
		for (uint32_t j = 0; j < runs[i].count; j++) {
			memcpy(out, head, len);
			out = put_hex(out + len, pc);
			*out++ = '\n';
			pc += 2 * block->halfwords[runs[i].first + j];
			if (out > buffer + sizeof(buffer) - LINE_ROOM) {
				fwrite_unlocked(buffer, 1, out - buffer, script->out);
				out = buffer;
			}
		}
	}
	if (fwrite_unlocked(buffer, 1, out - buffer, script->out) != (size_t)(out - buffer))
		return -EPIPE;
	return 0;
}

int raw_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct script *script = ctx;
	const char *what;

	switch (event->type) {
	case RVT_EVENT_START: what = "start"; break;
	case RVT_EVENT_STOP: what = "stop"; break;
	case RVT_EVENT_LOST:
		what = "lost";
		script->errors++;
		view_lost(script->view, hart, event);
		break;
	default:
		return 0;
	}
	if (view_wants(script->view, hart))
		fprintf(script->out, "# %s cpu %d pc %" PRIx64 " time %" PRIu64 " offset %" PRIu64
			"%s%s\n", what, hart->cpu, event->pc, hart->time, event->offset,
			event->reason ? ": " : "", event->reason ? view_reason(event) : "");
	return 0;
}

int raw_aux(void *ctx, unsigned int buffer, const struct rvt_aux *aux)
{
	struct script *script = ctx;

	if (aux->flags)
		fprintf(script->out, "# aux buffer %u cpu %d offset %" PRIu64 " size %" PRIu64
			" flags %#" PRIx64 "\n", buffer, aux->cpu, aux->offset, aux->size,
			aux->flags);
	return 0;
}
