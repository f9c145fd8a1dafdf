/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* common/contexts.c: instructions by calling context, for views that show them as a tree. */
#ifndef PERF_RVTRACE_CONTEXTS_H
#define PERF_RVTRACE_CONTEXTS_H

#include "common/places.h"
#include "common/transfers.h"

#define CONTEXT_MAX_DEPTH 500	/* deeper callers are left out, but not who runs */
#define CONTEXT_UNKNOWN "[unknown]"	/* name of a function without one */

/* Further costs of a context. */
struct context_cost {
	uint64_t time, away;	/* ns that it ran, and ns in which nothing of its thread was seen */
	uint64_t branches;	/* taken branches, with jumps, calls and returns */
};

/* A function in one context: that of its parents, up to the thread, whose parent is the root. */
struct context {
	const char *name, *dso;	/* .dso: file name without directories; "" for a thread */
	const char *thread;	/* the name below the root */
	struct context *parent, *child, *sibling;
	bool kernel;
	unsigned int depth;	/* the root's is 0 */
	uint64_t self, total;	/* instructions; .total is set by context_add_up() */
	uint64_t calls;		/* of the function in this context; with contexts.count_calls */
	struct context_cost own, all;	/* .all is set by context_add_up() */
};

struct contexts {
	struct places *places;
	bool count_calls;
	bool by_thread;		/* threads are below the root, as "sh 140", not only their names */
	struct context root;
	int32_t last_tid;	/* the last thread, with its name */
	const char *last_comm, *last_name;
};

/*
 * For struct rvt_transfers_ops .line and .after, with a struct contexts as .ctx: count instructions
 * in the context that they ran in. Return 0 or -ENOMEM.
 */
int contexts_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		  struct rvt_callstack *stack);
int contexts_after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		   struct rvt_callstack *stack, size_t ended);

/*
 * For tapes (common/tape.h): the context of who called the innermost frame of @stack, and what
 * @ran, counted below a context. NULL: out of memory.
 */
struct tape_ran;
struct context *contexts_caller(struct contexts *contexts, const struct rvt_hart_flow *hart,
				struct rvt_callstack *stack);
struct context *contexts_below(struct contexts *contexts, const struct rvt_hart_flow *hart,
			       struct context *parent, const struct tape_ran *ran);
/* Discards what was counted. */
void contexts_forget(struct contexts *contexts);
/* options.slice_bytes for contexts_run(): a slice has some MB of tape. */
#define CONTEXTS_SLICE_BYTES (256u << 10)
/*
 * contexts-run.c: counts all of the view's recording, on as many threads as options.jobs says. Adds
 * LOST events to *@errors. Returns 0 or -errno. Only if contexts_whole(): there are no filters, nor
 * anything that is told in the order of time.
 */
bool contexts_whole(const struct view *view);
int contexts_run(struct contexts *contexts, struct view *view, uint64_t *errors);

/*
 * Finds or makes the child of @parent with this name; @name and @dso must live on. At
 * CONTEXT_MAX_DEPTH it is @parent or a sibling of it. NULL: out of memory.
 */
struct context *context_child(struct context *parent, const char *name, const char *dso,
			      bool kernel);
/* Returns a name for people. */
const char *context_label(const struct context *context);
/* Returns the context after @node below @root, parents first. NULL: that was the last one. */
const struct context *context_next(const struct context *root, const struct context *node);
/* Sums up all below @root and sorts children, the largest first. */
void context_add_up(struct context *root);
/* Frees all below @root. */
void context_free(struct context *root);

#endif
