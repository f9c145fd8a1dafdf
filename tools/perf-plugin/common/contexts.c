// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/contexts.h"
#include "common/tape.h"

/* Compares addresses first, as equal texts mostly have one, and most others begin differently. */
static bool is_same(const char *a, const char *b)
{
	return a == b || (*a == *b && !strcmp(a, b));
}

struct context *context_child(struct context *parent, const char *name, const char *dso,
			      bool kernel)
{
	struct context **link, *child;

	/*
	 * takes a sibling at the largest depth, so that the innermost one has instructions of its
	 * own
	 */
	if (parent->depth >= CONTEXT_MAX_DEPTH)
		parent = parent->parent;
	link = &parent->child;
	while (*link && ((*link)->kernel != kernel || !is_same((*link)->name, name) ||
			 !is_same((*link)->dso, dso)))
		link = &(*link)->sibling;
	child = *link;
	if (child == parent->child && child)
		return child;
	if (child) {
		/* moves it to the front, as the next look-up is likely the same */
		*link = child->sibling;
	} else {
		child = calloc(1, sizeof(*child));
		if (!child)
			return NULL;
		*child = (struct context){ .name = name, .dso = dso, .parent = parent,
					   .kernel = kernel, .depth = parent->depth + 1,
					   .thread = parent->depth ? parent->thread : name };
	}
	child->sibling = parent->child;
	parent->child = child;
	return child;
}

static struct context *get_context(struct contexts *contexts, const struct rvt_hart_flow *hart,
				   struct rvt_callstack *stack, size_t n, uint64_t addr);

static const char *thread_name(struct contexts *contexts, const struct rvt_hart_flow *hart)
{
	const char *comm = places_comm(contexts->places, hart);
	int32_t tid = hart->task ? hart->task->tid : -1;
	char text[128];

	if (!contexts->by_thread)
		return comm;
	if (tid != contexts->last_tid || comm != contexts->last_comm) {
		snprintf(text, sizeof(text), "%s %d", comm, tid);
		contexts->last_name = places_keep(contexts->places, text);
		contexts->last_tid = tid;
		contexts->last_comm = comm;
	}
	return contexts->last_name;
}

/*
 * Returns the context that a frame remembers. A goroutine may remember one of another thread, which
 * it ran in before: that does not count.
 */
static struct context *remembered(struct contexts *contexts, const struct rvt_hart_flow *hart,
				  const struct rvt_frame *frame)
{
	struct context *context = (struct context *)(uintptr_t)frame->tag;

	return context && contexts->by_thread &&
		!is_same(context->thread, thread_name(contexts, hart)) ? NULL : context;
}

/*
 * Returns the context of the caller of frame @n of the stack; the thread if that is not known.
 * Frames that no call has made remember it from the first time on.
 */
static struct context *name_caller(struct contexts *contexts, const struct rvt_hart_flow *hart,
				   struct rvt_callstack *stack, size_t n)
{
	struct rvt_frame *frame = rvt_callstack_frame(stack, n);
	struct context *caller;

	if (!frame)
		return context_child(&contexts->root, thread_name(contexts, hart), "", false);
	caller = remembered(contexts, hart, frame);
	if (caller)
		return caller;
	if (frame->cut) {
		caller = name_caller(contexts, hart, stack, n + 1);
		if (caller)
			caller = context_child(caller, CALLERS_LOST, "", false);
	} else {
		caller = get_context(contexts, hart, stack, n + 1, frame->from);
	}
	frame->tag = (uintptr_t)caller;
	return caller;
}

/*
 * Like name_caller(), but begins with the outermost frame, as stacks may be deep and name_caller()
 * is recursive.
 */
static struct context *get_caller(struct contexts *contexts, const struct rvt_hart_flow *hart,
				  struct rvt_callstack *stack, size_t n)
{
	const struct rvt_frame *frame;
	struct context *caller;
	size_t outer = n;

	while ((frame = rvt_callstack_frame(stack, outer)) && !remembered(contexts, hart, frame))
		outer++;
	do {
		caller = name_caller(contexts, hart, stack, outer);
	} while (caller && outer-- > n);
	return caller;
}

/* Returns the context of the function at @addr below @parent, which may be NULL. */
static struct context *get_below(struct contexts *contexts, const struct rvt_hart_flow *hart,
				 struct context *parent, uint64_t addr)
{
	const struct label *label = places_label(contexts->places, hart->space, addr);

	return parent ? context_child(parent, label->symbol ? label->symbol : CONTEXT_UNKNOWN,
				      label->dso, (int64_t)addr < 0) : NULL;
}

/* Returns the context of the function at @addr, called by frame @n of the stack. */
static struct context *get_context(struct contexts *contexts, const struct rvt_hart_flow *hart,
				   struct rvt_callstack *stack, size_t n, uint64_t addr)
{
	return get_below(contexts, hart, get_caller(contexts, hart, stack, n), addr);
}

int contexts_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
		  struct rvt_callstack *stack)
{
	struct context *context = get_context(ctx, hart, stack, 0, line->first);

	if (!context)
		return -ENOMEM;
	context->self += line->insns;
	context->own.branches++;
	if (hart->time > line->began)
		context->own.time += hart->time - line->began;
	return 0;
}

struct context *contexts_caller(struct contexts *contexts, const struct rvt_hart_flow *hart,
				struct rvt_callstack *stack)
{
	return get_caller(contexts, hart, stack, 0);
}

struct context *contexts_below(struct contexts *contexts, const struct rvt_hart_flow *hart,
			       struct context *parent, const struct tape_ran *ran)
{
	struct context *context = get_below(contexts, hart, parent, ran->addr);

	if (!context)
		return NULL;
	context->self += ran->insns;
	context->own.branches += ran->lines;
	context->own.time += ran->ns;
	context->calls += ran->calls;
	return context;
}

/*
 * Returns whether it is a call. A tail call, as from the PLT, is a jump to the beginning of a
 * function.
 */
static bool is_call(struct contexts *contexts, const struct rvt_hart_flow *hart,
		    const struct rvt_transfer *transfer)
{
	if (transfer->kind != RVT_TRANSFER_JUMP)
		return transfer->kind == RVT_TRANSFER_CALL || transfer->kind == RVT_TRANSFER_TRAP;
	return places_enters(contexts->places, hart->space, transfer->from, transfer->to);
}

static int count_call(struct contexts *contexts, struct rvt_hart_flow *hart,
		      const struct rvt_transfer *transfer, struct rvt_callstack *stack)
{
	struct context *context;

	if (!contexts->count_calls || !is_call(contexts, hart, transfer))
		return 0;
	context = get_context(contexts, hart, stack, 0, transfer->to);
	if (!context)
		return -ENOMEM;
	context->calls++;
	return 0;
}

/* Lets a new frame remember the function that it came from, with all its callers. */
int contexts_after(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		   struct rvt_callstack *stack, size_t ended)
{
	struct context *context;

	(void)ended;
	if (transfer->kind != RVT_TRANSFER_CALL && transfer->kind != RVT_TRANSFER_TRAP)
		return count_call(ctx, hart, transfer, stack);
	context = get_context(ctx, hart, stack, 1, transfer->from);
	if (!context)
		return -ENOMEM;
	rvt_callstack_frame(stack, 0)->tag = (uintptr_t)context;
	return count_call(ctx, hart, transfer, stack);
}

/* Returns the name, or at least the file. */
const char *context_label(const struct context *context)
{
	return strcmp(context->name, CONTEXT_UNKNOWN) || !*context->dso ? context->name :
		context->dso;
}

const struct context *context_next(const struct context *root, const struct context *node)
{
	if (node->child)
		return node->child;
	while (node != root && !node->sibling)
		node = node->parent;
	return node == root ? NULL : node->sibling;
}

/* Whether @a comes first among siblings, whatever the order was in which they came up. */
static bool is_before(const struct context *a, const struct context *b)
{
	int order = strcmp(a->name, b->name);

	if (a->total != b->total)
		return a->total > b->total;
	if (!order)
		order = strcmp(a->dso, b->dso);
	return order ? order < 0 : a->kernel < b->kernel;
}

void context_add_up(struct context *root)
{
	struct context *sorted = NULL, *child, *next;

	root->total = root->self;
	root->all = root->own;
	for (child = root->child; child; child = next) {
		struct context **link = &sorted;

		next = child->sibling;
		context_add_up(child);
		root->total += child->total;
		root->all.time += child->all.time;
		root->all.away += child->all.away;
		root->all.branches += child->all.branches;
		while (*link && is_before(*link, child))
			link = &(*link)->sibling;
		child->sibling = *link;
		*link = child;
	}
	root->child = sorted;
}

void contexts_forget(struct contexts *contexts)
{
	context_free(&contexts->root);
	contexts->root = (struct context){ .self = 0 };
}

void context_free(struct context *root)
{
	while (root->child) {
		struct context *child = root->child;

		root->child = child->sibling;
		context_free(child);
		free(child);
	}
}
