/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: the return stack, and what some walk did to it, so that it can be done
 * again without the walk.
 */
#ifndef RVT_LIB_FLOW_RETURNS_H
#define RVT_LIB_FLOW_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RVT_CALLS 16
#define RVT_FEW_CALLS 4		/* that are looked at as if there were always so many */

/* What calls and returns did to the stack since some time, in all. */
struct rvt_calls {
	uint8_t n_pops;			/* entries that were there before, the top one first */
	uint8_t n_pushes;		/* entries that are there now instead */
	uint8_t nesting;		/* how far above its height before the stack has been */
	bool empty;			/* a return found nothing on it */
	bool invalid;			/* more than fits */
	uint64_t pcs[RVT_CALLS];	/* pops, then pushes from the end downwards */
};

/* The same for keeping, as long as it must be. */
struct rvt_kept_calls {
	uint8_t n_pops, n_pushes, nesting, empty;
	uint64_t pcs[];			/* pops, the top one first; pushes in their order */
};

/*
 * The entries lie in a row somewhere in their memory, with room for RVT_FEW_CALLS below and
 * RVT_CALLS above them; once they come to its end they move to its beginning.
 */
struct rvt_return_stack {
	uint64_t *pcs;			/* return addresses */
	uint32_t *recursions;		/* further calls with the same one; NULL: never any */
	unsigned int depth, recursion_max;
	unsigned int room;		/* in .pcs, without what is above */
	unsigned int top;		/* where the next entry goes */
	unsigned int used;		/* so many are below that */
	struct rvt_calls *log;		/* while something is recorded */
};

/* Its memory; afterwards there is no stack. */
void rvt_returns_free(struct rvt_return_stack *stack);
void rvt_returns_push(struct rvt_return_stack *stack, uint64_t pc);
/* So many calls on top of one another have been and returned from. */
void rvt_returns_nest(struct rvt_return_stack *stack, unsigned int nesting);
bool rvt_returns_pop(struct rvt_return_stack *stack, uint64_t *pc);
/* The address on top of a stack that is not empty. */
static inline uint64_t rvt_returns_top(const struct rvt_return_stack *stack)
{
	return stack->pcs[stack->top - 1];
}

/* What is done from now on goes to @log. Returns the log before, for rvt_returns_log_end(). */
struct rvt_calls *rvt_returns_log(struct rvt_return_stack *stack, struct rvt_calls *log);
/* What went to the log is noted in @outer, too, which is the log again (or NULL). */
void rvt_returns_log_end(struct rvt_return_stack *stack, struct rvt_calls *outer);

/* Bytes that are needed to keep @calls; 0: they do nothing. */
size_t rvt_calls_bytes(const struct rvt_calls *calls);
void rvt_calls_keep(const struct rvt_calls *calls, struct rvt_kept_calls *kept);
/*
 * Does @calls to the stack. False, and nothing has happened, if that cannot be. Behind @calls there
 * are RVT_FEW_CALLS addresses more that can be read, whatever they are.
 */
bool rvt_returns_replay(struct rvt_return_stack *stack, const struct rvt_kept_calls *calls);

#endif
