/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * CTTE: targets of jumps, as its encoder keeps them. A JumpTargetCache message has the number of an
 * entry in place of U-ADDR; each IndirectBranchHist of a jump (B-TYPE 0) replaces one.
 */
#ifndef RVT_LIB_NTRACE_JUMP_CACHE_H
#define RVT_LIB_NTRACE_JUMP_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define RVT_NTRACE_JUMP_CACHE_BITS 6
#define RVT_NTRACE_JUMP_CACHE_ENTRIES (1u << RVT_NTRACE_JUMP_CACHE_BITS)

struct rvt_ntrace_jump_cache {
	uint64_t targets[RVT_NTRACE_JUMP_CACHE_ENTRIES];	/* odd: not known */
};

static inline void rvt_ntrace_jump_cache_clear(struct rvt_ntrace_jump_cache *cache)
{
	for (unsigned int i = 0; i < RVT_NTRACE_JUMP_CACHE_ENTRIES; i++)
		cache->targets[i] = 1;
}

/* Slices of 6 bits from bit 2 on, XORed: up to bit 25 of 32-bit addresses, else all. */
static inline unsigned int rvt_ntrace_jump_cache_index(unsigned int xlen, uint64_t target)
{
	uint64_t x = target >> 2;

	if (xlen == 32)
		x &= (1u << 24) - 1;
	x ^= x >> 48;
	x ^= x >> 24;
	x ^= x >> 12;
	x ^= x >> 6;
	return x % RVT_NTRACE_JUMP_CACHE_ENTRIES;
}

static inline void rvt_ntrace_jump_cache_note(struct rvt_ntrace_jump_cache *cache,
					      unsigned int xlen, uint64_t target)
{
	cache->targets[rvt_ntrace_jump_cache_index(xlen, target)] = target;
}

/* False: entry @index is not known, or there is none. */
static inline bool rvt_ntrace_jump_cache_find(const struct rvt_ntrace_jump_cache *cache,
					      uint64_t index, uint64_t *target)
{
	if (index >= RVT_NTRACE_JUMP_CACHE_ENTRIES || cache->targets[index] & 1)
		return false;
	*target = cache->targets[index];
	return true;
}

#endif
