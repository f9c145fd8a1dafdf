/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that the recorder has chosen, and those that they fork, for *.bpf.c that only write of
 * these.
 */
#ifndef PERF_RVTRACE_CHOSEN_H
#define PERF_RVTRACE_CHOSEN_H

#include "bpf/types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define MAX_PROCESSES 16384

struct task_struct {
	int pid, tgid;
	__u64 start_time;
	struct task_struct *group_leader;
} KERNEL_STRUCT;

/*
 * Chosen processes: when their leader started, by process number, as numbers are reused; 0: not
 * seen yet. (Task storage would need neither, but a 7.x kernel for RISC-V refuses it: ENOMEM.)
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__type(key, int);
	__type(value, __u64);
} chosen SEC(".maps");

static __always_inline int is_chosen(const struct task_struct *task)
{
	int pid = BPF_CORE_READ(task, tgid);
	__u64 *start = bpf_map_lookup_elem(&chosen, &pid), now;

	if (!start)
		return 0;
	now = BPF_CORE_READ(task, group_leader, start_time);
	if (!*start)
		*start = now;
	return *start == now;
}

/* Raw: to know the types of the arguments, libbpf would read all types of the kernel. */
SEC("raw_tp/sched_process_fork")
int chosen_fork(__u64 *ctx)
{
	const struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	__u64 start = BPF_CORE_READ(child, start_time);
	int pid = BPF_CORE_READ(child, tgid);

	if (pid == BPF_CORE_READ(child, pid) && is_chosen(parent))
		bpf_map_update_elem(&chosen, &pid, &start, 0);
	return 0;
}

SEC("raw_tp/sched_process_free")
int chosen_free(__u64 *ctx)
{
	const struct task_struct *task = (void *)ctx[0];
	int pid = BPF_CORE_READ(task, tgid);

	if (pid == BPF_CORE_READ(task, pid) && is_chosen(task))
		bpf_map_delete_elem(&chosen, &pid);
	return 0;
}

#endif
