/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: the return stack, and what some walk did to it, so that it can be done
 * again without the walk.
 */
#ifndef RVT_LIB_FLOW_RETURN_STACK_H
#define RVT_LIB_FLOW_RETURN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define RVT_DELTA_PCS 16
#define RVT_DELTA_FEW 4		/* that are looked at as if there were always so many */

/* What calls and returns did to the stack since some time, in all. */
struct rvt_stack_delta {
	uint8_t n_pops;			/* entries that were there before, the top one first */
	uint8_t n_pushes;		/* entries that are there now instead */
	uint8_t nesting;		/* how far above its height before the stack has been */
	bool empty;			/* a return found nothing on it */
	bool invalid;			/* more than fits */
	uint64_t pcs[RVT_DELTA_PCS];	/* pops, then pushes from the end downwards */
};

/*
 * The same for keeping, as long as it must be. Numbers of addresses are in bytes, as that is what
 * rvt_returns_apply() needs.
 */
struct rvt_kept_delta {
	uint8_t pop_bytes, push_bytes;	/* of .pcs */
	uint8_t nesting;
	uint8_t flags;			/* RVT_DELTA_* */
	uint32_t reach;			/* .nesting in bytes, or RVT_DELTA_CAREFUL */
	uint64_t pcs[];			/* pushes in their order; pops, the top one last */
};

enum {
	RVT_DELTA_EMPTY = 1u << 0,
	RVT_DELTA_ELSEWHERE = 1u << 1,	/* .pcs[0] is the address of what counts instead */
};

/* More to it than rvt_returns_apply() does itself: it reaches above any stack. */
#define RVT_DELTA_CAREFUL UINT32_MAX

/*
 * The entries lie in a row somewhere in their memory, with room for RVT_DELTA_PCS below and
 * RVT_DELTA_PCS above as many as there can be; when the oldest one comes to the middle they move to
 * the beginning.
 */
struct rvt_return_stack {
	uint64_t *top;			/* where the next entry goes */
	uint64_t *bottom;		/* the oldest one */
	/* an address: up to where rvt_returns_apply() can push; 0: not at all */
	uint64_t ceiling;
	uint64_t *pcs;			/* return addresses: the memory */
	uint32_t *recursions;		/* further calls with the same one; NULL: never any */
	unsigned int depth, recursion_max;
	struct rvt_stack_delta *log;	/* while something is recorded */
};

/* Its memory; afterwards there is no stack. */
void rvt_returns_free(struct rvt_return_stack *stack);
void rvt_returns_push(struct rvt_return_stack *stack, uint64_t pc);
/* So many calls on top of one another, no more than fit, have been and returned from. */
void rvt_returns_nest(struct rvt_return_stack *stack, unsigned int nesting);
bool rvt_returns_pop(struct rvt_return_stack *stack, uint64_t *pc);
/* The address on top of a stack that is not empty. */
static inline uint64_t rvt_returns_top(const struct rvt_return_stack *stack)
{
	return stack->top[-1];
}

static inline unsigned int rvt_returns_used(const struct rvt_return_stack *stack)
{
	return stack->top - stack->bottom;
}

/* What is done from now on goes to @log. Returns the log before, for rvt_returns_log_end(). */
struct rvt_stack_delta *rvt_returns_log(struct rvt_return_stack *stack,
					struct rvt_stack_delta *log);
/* What went to the log is noted in @outer, too, which is the log again (or NULL). */
void rvt_returns_log_end(struct rvt_return_stack *stack, struct rvt_stack_delta *outer);

/* Whether the stack is as it was before: what was popped was pushed again. */
static inline bool rvt_stack_delta_is_none(const struct rvt_stack_delta *delta)
{
	const unsigned int n = delta->n_pops;

	return !delta->invalid && delta->n_pushes == n &&
	       !__builtin_memcmp(delta->pcs, delta->pcs + RVT_DELTA_PCS - n,
				 n * sizeof(delta->pcs[0]));
}

/* What @kept did was done after what is in @delta. */
void rvt_stack_delta_add(struct rvt_stack_delta *delta, const struct rvt_kept_delta *kept);
/* Bytes that are needed to keep @delta; 0: it does nothing. */
size_t rvt_stack_delta_bytes(const struct rvt_stack_delta *delta);
void rvt_stack_delta_keep(const struct rvt_stack_delta *delta, struct rvt_kept_delta *kept);
/* Makes @kept, which has room for one address, stand for @elsewhere. */
void rvt_stack_delta_keep_elsewhere(const struct rvt_kept_delta *elsewhere,
				    struct rvt_kept_delta *kept);

/* What @delta stands for. */
static inline const struct rvt_kept_delta *rvt_kept_delta_of(const struct rvt_kept_delta *delta)
{
	if (delta->flags & RVT_DELTA_ELSEWHERE)
		return (const struct rvt_kept_delta *)(uintptr_t)delta->pcs[0];
	return delta;
}

/* What rvt_returns_apply() leaves. */
bool rvt_returns_apply_rest(struct rvt_return_stack *stack, const struct rvt_kept_delta *delta);

/*
 * Whether the first @bytes, a multiple of 8, of RVT_DELTA_FEW addresses are the same. How many
 * there are is hard to foresee: no branch for each.
 */
static inline bool rvt_returns_match_plain(const uint64_t *a, const uint64_t *b, unsigned int bytes)
{
	uint64_t differ = 0;

	for (unsigned int i = 0; i < RVT_DELTA_FEW; i++)
		differ |= (a[i] ^ b[i]) & -(uint64_t)(8 * i < bytes);
	return !differ;
}

#ifdef __SSE2__
/* Entries of the stack that was just stored to are not in one mapping there yet. */
static inline __m128i rvt_returns_two(const uint64_t *pcs)
{
	const __m128i low = _mm_loadl_epi64((const __m128i *)pcs);

	return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(low), (const __m64 *)(pcs + 1)));
}

/* The same; @a is the stack. */
static inline bool rvt_returns_match_sse2(const uint64_t *a, const uint64_t *b, unsigned int bytes)
{
	/* Half a byte for each address. */
	static const uint64_t masks[RVT_DELTA_FEW + 1] = { 0, 0xf, 0xff, 0xfff, 0xffff };
	const __m128i low = _mm_cmpeq_epi32(rvt_returns_two(a),
					    _mm_loadu_si128((const __m128i *)b));
	const __m128i high = _mm_cmpeq_epi32(rvt_returns_two(a + 2),
					     _mm_loadu_si128((const __m128i *)(b + 2)));
	const unsigned int same = _mm_movemask_epi8(_mm_packs_epi32(low, high));

	return !(~same & (uint32_t)*(const uint64_t *)((const uint8_t *)masks + bytes));
}
#endif

static inline bool rvt_returns_match(const uint64_t *a, const uint64_t *b, unsigned int bytes)
{
#ifdef __SSE2__
	return rvt_returns_match_sse2(a, b, bytes);
#else
	return rvt_returns_match_plain(a, b, bytes);
#endif
}

/* Whether rvt_returns_apply() would do by itself what goes up by @nesting entries. */
static inline bool rvt_returns_have_room(const struct rvt_return_stack *stack, unsigned int nesting)
{
	return (uintptr_t)(stack->top + nesting) <= stack->ceiling;
}

/*
 * Does @delta to the stack. False, and nothing has happened, if that cannot be. Behind @delta there
 * are RVT_DELTA_FEW addresses more that can be read, whatever they are.
 */
static inline bool rvt_returns_apply(struct rvt_return_stack *stack,
				     const struct rvt_kept_delta *delta)
{
	uint64_t *from = (uint64_t *)((uint8_t *)stack->top - delta->pop_bytes);
	const uint64_t *pops = (const uint64_t *)((const uint8_t *)delta->pcs + delta->push_bytes);

	if (__builtin_expect(from < stack->bottom ||
			     (uintptr_t)stack->top + (uint64_t)delta->reach > stack->ceiling, 0))
		return rvt_returns_apply_rest(stack, delta);
	if (!rvt_returns_match(from, pops, delta->pop_bytes))
		return false;
	__builtin_memcpy(from, delta->pcs, RVT_DELTA_FEW * sizeof(*from));
	stack->top = (uint64_t *)((uint8_t *)from + delta->push_bytes);
	return true;
}

#endif
