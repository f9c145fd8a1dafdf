/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: runs in half the memory, for all that is kept of them.
 */
#ifndef RVT_LIB_FLOW_PACKED_H
#define RVT_LIB_FLOW_PACKED_H

#include <stdbool.h>
#include <rvtrace/flow.h>

#define RVT_PACKED_POINTER_BITS 48
#define RVT_PACKED_MAX UINT8_MAX	/* instructions, and the number of the first */

struct rvt_packed_run {
	uint64_t word;		/* the block, .first and .count, from the lowest bit on */
};

/* False: it does not fit. */
static inline bool rvt_run_pack(const struct rvt_run *run, struct rvt_packed_run *packed)
{
	const uint64_t block = (uintptr_t)run->block;

	packed->word = block | (uint64_t)run->first << RVT_PACKED_POINTER_BITS |
		       (uint64_t)run->count << (RVT_PACKED_POINTER_BITS + 8);
	return !(block >> RVT_PACKED_POINTER_BITS) && run->first <= RVT_PACKED_MAX &&
	       run->count <= RVT_PACKED_MAX;
}

static inline struct rvt_run rvt_run_unpack(struct rvt_packed_run packed)
{
	const uint64_t block = packed.word & ((UINT64_C(1) << RVT_PACKED_POINTER_BITS) - 1);

	return (struct rvt_run){
		.block = (const struct rvt_block *)(uintptr_t)block,
		.first = packed.word >> RVT_PACKED_POINTER_BITS & RVT_PACKED_MAX,
		.count = packed.word >> (RVT_PACKED_POINTER_BITS + 8),
	};
}

#endif
