// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/branches.h"

#define MAX_CPUS 4096

struct cpu_branches {
	struct perf_branch_entry *entries;	/* ring */
	size_t next, filled;
	int32_t tid;
};

struct branches {
	size_t size;
	struct cpu_branches cpus[MAX_CPUS];
};

struct branches *branches_create(unsigned int size)
{
	struct branches *branches = calloc(1, sizeof(*branches));

	if (branches)
		branches->size = size ? size : 1;
	return branches;
}

void branches_destroy(struct branches *branches)
{
	for (size_t i = 0; branches && i < MAX_CPUS; i++)
		free(branches->cpus[i].entries);
	free(branches);
}

void branches_clear(struct branches *branches)
{
	for (size_t i = 0; i < MAX_CPUS; i++)
		branches->cpus[i].filled = 0;
}

static size_t slot_of(const struct rvt_hart_flow *hart)
{
	return hart->cpu >= 0 && hart->cpu < MAX_CPUS ? hart->cpu : 0;
}

static int32_t tid_of(const struct rvt_hart_flow *hart)
{
	return hart->task ? rvt_task_key(hart->task) : -1;
}

static unsigned int branch_type(const struct rvt_transfer *transfer)
{
	switch (transfer->kind) {
	case RVT_TRANSFER_BRANCH: return PERF_BR_COND;
	case RVT_TRANSFER_JUMP: return PERF_BR_UNCOND;
	case RVT_TRANSFER_CALL: return PERF_BR_CALL;
	case RVT_TRANSFER_RETURN: return PERF_BR_RET;
	case RVT_TRANSFER_TRAP:
		return !strcmp(transfer->flags, "hw int") ? PERF_BR_IRQ : PERF_BR_SYSCALL;
	case RVT_TRANSFER_TRAP_RETURN: return PERF_BR_ERET;
	default: return PERF_BR_UNKNOWN;
	}
}

int branches_add(struct branches *branches, const struct rvt_hart_flow *hart,
		 const struct rvt_transfer *transfer)
{
	struct cpu_branches *cpu = &branches->cpus[slot_of(hart)];

	if (cpu->tid != tid_of(hart) || transfer->kind == RVT_TRANSFER_START)
		cpu->filled = 0;
	cpu->tid = tid_of(hart);
	if (transfer->kind == RVT_TRANSFER_START || transfer->kind == RVT_TRANSFER_STOP)
		return 0;
	if (!cpu->entries)
		cpu->entries = calloc(branches->size, sizeof(*cpu->entries));
	if (!cpu->entries)
		return -ENOMEM;
	cpu->entries[cpu->next] = (struct perf_branch_entry){ .from = transfer->from,
		.to = transfer->to, .type = branch_type(transfer) };
	cpu->next = (cpu->next + 1) % branches->size;
	cpu->filled += cpu->filled < branches->size;
	return 0;
}

size_t branches_get_of(const struct branches *branches, int32_t number, int32_t tid,
		       struct perf_branch_entry *entries, size_t max)
{
	const struct cpu_branches *cpu =
		&branches->cpus[number >= 0 && number < MAX_CPUS ? number : 0];
	size_t n = cpu->tid == tid ? cpu->filled : 0;

	if (n > max)
		n = max;
	for (size_t i = 0; i < n; i++)
		entries[i] = cpu->entries[(cpu->next + branches->size - 1 - i) % branches->size];
	return n;
}

size_t branches_get(const struct branches *branches, const struct rvt_hart_flow *hart,
		    struct perf_branch_entry *entries, size_t max)
{
	return branches_get_of(branches, hart->cpu, tid_of(hart), entries, max);
}
