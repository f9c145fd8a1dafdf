// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>
#include "inject/inject.h"

void inject_add(struct inject_sample *sample, uint64_t word)
{
	if (sample->n < sizeof(sample->words) / sizeof(*sample->words))
		sample->words[sample->n++] = word;
}

/* Adds a marker: whose the addresses are that follow. */
static void add_context(struct inject_sample *sample, bool kernel, bool guest)
{
	if (guest)
		inject_add(sample, kernel ? PERF_CONTEXT_GUEST_KERNEL : PERF_CONTEXT_GUEST_USER);
	else
		inject_add(sample, kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
}

/* Adds an address to a call chain; *@kernel: whether the one before is the kernel's. */
static void add_address(struct inject_sample *sample, uint64_t addr, bool *kernel, bool guest)
{
	if (*kernel && (int64_t)addr >= 0) {
		*kernel = false;
		add_context(sample, false, guest);
	}
	inject_add(sample, addr);
}

void inject_add_callchain(struct inject_sample *sample, uint64_t ip, uint64_t below,
			  struct rvt_callstack *stack, size_t skip, unsigned int max, bool guest)
{
	size_t length_at = sample->n, n = 1 + !!below;
	bool kernel = (int64_t)ip < 0;

	inject_add(sample, 0);
	add_context(sample, kernel, guest);
	inject_add(sample, ip);
	if (below)
		add_address(sample, below, &kernel, guest);
	for (struct rvt_frame *frame; stack && n < max &&
	     (frame = rvt_callstack_frame(stack, skip)); skip++) {
		if (frame->cut)
			continue;
		add_address(sample, frame->back, &kernel, guest);
		n++;
	}
	sample->words[length_at] = sample->n - length_at - 1;
}

void inject_add_branches(struct inject_sample *sample, const struct branches *branches,
			 const struct rvt_hart_flow *hart, size_t max)
{
	struct perf_branch_entry *entries = (void *)&sample->words[sample->n + 1];
	size_t n = hart ? branches_get(branches, hart, entries, max) : 0;

	inject_add(sample, n);
	sample->n += n * (sizeof(*entries) / sizeof(uint64_t));
}

void inject_add_branches_before(struct inject_sample *sample, const struct branches *branches,
				int32_t cpu, int32_t tid, size_t max, uint64_t from)
{
	struct perf_branch_entry *entries = (void *)&sample->words[sample->n + 1];
	size_t n = branches_get_of(branches, cpu, tid, entries, INJECT_MAX_BRANCHES), first = 0;

	while (first < n && !(entries[first].from == from &&
			      (entries[first].type == PERF_BR_IRQ ||
			       entries[first].type == PERF_BR_SYSCALL ||
			       entries[first].type == PERF_BR_CALL)))
		first++;
	/* if so many branches followed that @from is gone, so are the branches before it */
	n = first < n ? n - first - 1 : 0;
	if (n > max)
		n = max;
	memmove(entries, entries + first + 1, n * sizeof(*entries));
	inject_add(sample, n);
	sample->n += n * (sizeof(*entries) / sizeof(uint64_t));
}
