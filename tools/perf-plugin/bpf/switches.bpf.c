// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes context switches, as samples with perf's time in the sideband of their cpu: see
 * rvtrace/switches.h. Either all switches, or only those to chosen processes and away from them.
 */
#include "bpf/types.h"
#include <bpf/bpf_helpers.h>
#include <rvtrace/switches.h>
#include "bpf/chosen.h"

/* The recorder's events, by cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} events SEC(".maps");

/*
 * By cpu: not 0 after a switch from a chosen process to another one, which tells a reader that it
 * does not know who runs. 0 at first, as the start of the trace tells that.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} silent SEC(".maps");

static long put(__u64 *ctx, unsigned short flags)
{
	const struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct rvt_switch out = {
		.prev_pid = prev->tgid, .prev_tid = prev->pid,
		.next_pid = next->tgid, .next_tid = next->pid,
		.prev_state = ctx[3], .flags = flags,
	};

	return bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &out, sizeof(out));
}

SEC("tp_btf/sched_switch")
int every_switch(__u64 *ctx)
{
	put(ctx, 0);
	return 0;
}

SEC("tp_btf/sched_switch")
int chosen_switch(__u64 *ctx)
{
	int comes = is_chosen((const struct task_struct *)ctx[2]);
	__u32 zero = 0, *is_silent = bpf_map_lookup_elem(&silent, &zero);

	/* if it could not be written, it must be written the next time */
	if (is_silent && (comes || !*is_silent) && !put(ctx, comes ? 0 : RVT_SWITCH_LAST))
		*is_silent = !comes;
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
