// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Measures how long calls of a probed function take. The kernel reports a probe's event when its
 * program returns 1: never at the beginning of a call, and at the end when the call took long
 * enough.
 */
#include "bpf/types.h"
#include <bpf/bpf_helpers.h>

#define MAX_CALLS 16384		/* the map drops calls that longjmp() left first */

struct pt_regs {
	unsigned long sp;
} KERNEL_STRUCT;

/* Identifies a call: a function returns with the stack pointer that it was called with. */
struct call {
	__u64 thread, sp;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_CALLS);
	__type(key, struct call);
	__type(value, __u64);
} calls SEC(".maps");

const volatile __u64 limit_ns;

SEC("uprobe")
int call_begins(struct pt_regs *ctx)
{
	struct call call = { .thread = bpf_get_current_pid_tgid(), .sp = ctx->sp };
	__u64 now = bpf_ktime_get_ns();

	bpf_map_update_elem(&calls, &call, &now, 0);
	return 0;
}

SEC("uretprobe")
int call_ends(struct pt_regs *ctx)
{
	struct call call = { .thread = bpf_get_current_pid_tgid(), .sp = ctx->sp };
	__u64 *began = bpf_map_lookup_elem(&calls, &call);
	__u64 limit = limit_ns, took;

	if (!began)
		return 0;
	took = bpf_ktime_get_ns() - *began;
	bpf_map_delete_elem(&calls, &call);
	return took >= limit;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
