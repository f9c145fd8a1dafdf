// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Whole stacks that wait, as those of Go's goroutines do, until some thread of the process goes on
 * with them. The stack pointer is not traced: which of them it is, the places say that the flow
 * returns to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "share.h"
#include "stack.h"
#include "util/array.h"

/* Those that have waited longest are forgotten. */
#define MAX_LEFT 4096

/* What waits to go on behind a call: the frames of its callers are the first .depth. */
struct found {
	struct kept_stack *left;	/* NULL: */
	struct rvt_callstack *other;	/* the thread that is on another stack, meanwhile */
	size_t depth;
	size_t called;			/* of .other: how many frames are taken from it */
	bool doubt;			/* some wait, with different callers */
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

static uint64_t back_bit(uint64_t back)
{
	return 1ull << (back * 0x9e3779b97f4a7c15ULL >> 58);
}

struct kept_stacks *rvt_callstack_stacks(struct rvt_callstack *stack)
{
	if (!stack->stacks) {
		stack->stacks = calloc(1, sizeof(*stack->stacks));
		if (stack->stacks)
			stack->stacks->first = stack;
	}
	return stack->stacks;
}

void rvt_callstack_share(struct rvt_callstack *stack, struct rvt_callstack *with)
{
	struct kept_stacks *stacks = rvt_callstack_stacks(with);

	if (!stacks || stack->stacks)
		return;
	stack->stacks = stacks;
	stack->next = stacks->first;
	stacks->first = stack;
}

static void count_backs(struct kept_stacks *stacks, const struct kept_stack *left, int by)
{
	for (size_t i = 0; i < left->depth; i++)
		stacks->backs[(left->frames[i].back >> 1) % BACK_SLOTS] += by;
}

static void remove_left(struct kept_stacks *stacks, struct kept_stack *left)
{
	count_backs(stacks, left, -1);
	free(left->frames);
	*left = stacks->left[--stacks->n];
}

void rvt_callstack_forget_left(struct rvt_callstack *stack)
{
	struct kept_stacks *stacks = stack->stacks;

	while (stacks && stacks->n)
		remove_left(stacks, &stacks->left[stacks->n - 1]);
}

void rvt_callstack_unshare(struct rvt_callstack *stack)
{
	struct kept_stacks *stacks = stack->stacks;
	struct rvt_callstack **link;

	if (!stacks)
		return;
	for (link = &stacks->first; *link != stack; )
		link = &(*link)->next;
	*link = stack->next;
	if (!stacks->first) {
		rvt_callstack_forget_left(stack);
		free(stacks->left);
		free(stacks);
	}
	stack->stacks = NULL;
}

bool rvt_callstack_copy_left(struct rvt_callstack *clone, const struct rvt_callstack *stack)
{
	const struct kept_stacks *from = stack->stacks;
	struct kept_stacks *to;

	clone->stacks = NULL;
	clone->next = NULL;
	if (!from)
		return true;
	to = rvt_callstack_stacks(clone);
	if (!to || array_reserve(&to->left, &to->room, 0, from->n))
		return false;
	to->now = from->now;
	to->lives = from->lives;
	while (to->n < from->n) {
		struct kept_stack *left = &to->left[to->n];

		*left = from->left[to->n];
		left->frames = rvt_callstack_copy_frames(left->frames, left->depth);
		left->room = left->depth;
		if (!left->frames)
			return false;
		to->n++;
		count_backs(to, left, 1);
	}
	return true;
}

/* ---- who waits ---- */

/*
 * Whether @returns are what a stack of @depth frames does next, of which the outermost @taken are
 * not its own. Sets how many frames are up to the call that the first of them returns from, and how
 * many are left after the last of them.
 */
static bool fits(const struct rvt_frame *frames, size_t depth, size_t taken,
		 const struct seen_returns *returns, size_t *called, size_t *left)
{
	size_t n = depth;

	while (n > taken && (frames[n - 1].back != returns->to[0] || frames[n - 1].trap ||
			     frames[n - 1].signal))
		n--;
	*called = n;
	for (size_t i = 0; i < returns->n; i++, n--)
		if (n <= taken || frames[n - 1].back != returns->to[i])
			return false;
	*left = n;
	return true;
}

static bool are_alike(const struct rvt_frame *a, const struct rvt_frame *b, size_t n)
{
	while (n && a[n - 1].back == b[n - 1].back)
		n--;
	return !n;
}

static const struct rvt_frame *found_frames(const struct found *found)
{
	return found->left ? found->left->frames : found->other ? found->other->frames : NULL;
}

/* One more that may be it. Of some alike the first one is it, of those that wait the oldest. */
static void add_found(struct found *found, const struct found *more)
{
	const struct rvt_frame *frames = found_frames(found);

	if (!frames)
		*found = *more;
	else if (found->depth != more->depth ||
		 !are_alike(frames, found_frames(more), more->depth))
		found->doubt = true;
	else if (found->left && more->left && more->left->since < found->left->since)
		*found = (struct found){ .left = more->left, .depth = more->depth,
					 .doubt = found->doubt };
}

static bool has_back(const uint32_t *backs, uint64_t back)
{
	return backs[(back >> 1) % BACK_SLOTS];
}

static struct found find(const struct rvt_callstack *stack, const struct seen_returns *returns)
{
	struct kept_stacks *stacks = stack->stacks;
	struct found found = { .left = NULL }, more;
	uint64_t to = returns->to[0];
	size_t called;

	for (size_t i = 0; has_back(stacks->backs, to) && i < stacks->n; i++) {
		struct kept_stack *left = &stacks->left[i];

		more = (struct found){ .left = left };
		if ((left->backs & back_bit(to)) &&
		    fits(left->frames, left->depth, 0, returns, &called, &more.depth))
			add_found(&found, &more);
	}
	for (struct rvt_callstack *other = stacks->first; other; other = other->next) {
		more = (struct found){ .other = other };
		/* what is innermost has not called anything that may have changed stacks */
		if (other != stack && has_back(other->backs, to) &&
		    fits(other->frames, other->depth, other->taken, returns, &more.called,
			 &more.depth) && more.called < other->depth)
			add_found(&found, &more);
	}
	return found;
}

bool rvt_callstack_waits(const struct rvt_callstack *stack, const struct seen_returns *returns)
{
	struct found found = find(stack, returns);

	return found_frames(&found);
}

bool rvt_callstack_others_wait(const struct rvt_callstack *stack, size_t n, uint64_t to)
{
	const struct seen_returns returns = { .to = { to }, .n = 1 };
	struct found found;

	if (!stack->stacks)
		return false;
	found = find(stack, &returns);
	return found.doubt || (found_frames(&found) &&
			       (!n || found.depth != n - 1 ||
				!are_alike(found_frames(&found), stack->frames, found.depth)));
}

/* ---- leaving, and coming back ---- */

/* Frames that another thread has gone on with. */
static void drop_taken(struct rvt_callstack *stack)
{
	for (size_t i = 0; i < stack->taken; i++)
		--*rvt_callstack_backs(stack, stack->frames[i].back);
	stack->depth -= stack->taken;
	memmove(stack->frames, stack->frames + stack->taken,
		stack->depth * sizeof(*stack->frames));
	stack->taken = 0;
}

static bool is_same(const struct kept_stack *a, const struct kept_stack *b)
{
	return a->hash == b->hash && a->depth == b->depth && a->returns.n == b->returns.n &&
		!memcmp(a->returns.to, b->returns.to, a->returns.n * sizeof(*a->returns.to)) &&
		are_alike(a->frames, b->frames, a->depth);
}

static struct kept_stack *find_same(struct kept_stacks *stacks, const struct kept_stack *left)
{
	for (size_t i = 0; i < stacks->n; i++)
		if (is_same(&stacks->left[i], left))
			return &stacks->left[i];
	return NULL;
}

static void forget_oldest(struct kept_stacks *stacks)
{
	struct kept_stack *oldest = stacks->left;

	for (size_t i = 1; i < stacks->n; i++)
		if (stacks->left[i].since < oldest->since)
			oldest = &stacks->left[i];
	remove_left(stacks, oldest);
}

void rvt_callstack_describe(struct kept_stack *left)
{
	left->hash = left->depth;
	left->backs = 0;
	for (size_t i = 0; i < left->depth; i++) {
		left->hash = mix(left->hash, left->frames[i].back);
		left->backs |= back_bit(left->frames[i].back);
	}
}

static struct kept_stack describe(struct rvt_callstack *stack)
{
	struct kept_stack left = { .frames = stack->frames, .depth = stack->depth,
				   .room = stack->room, .times = 1, .life = stack->life };

	if (stack->depth && stack->frames[0].cut)
		left.returns = stack->returns;
	rvt_callstack_describe(&left);
	for (size_t i = 0; i < left.depth; i++)
		--*rvt_callstack_backs(stack, left.frames[i].back);
	return left;
}

int rvt_callstack_add_left(struct kept_stacks *stacks, const struct kept_stack *left)
{
	if (array_reserve(&stacks->left, &stacks->room, stacks->n, 1))
		return -ENOMEM;
	stacks->left[stacks->n++] = *left;
	count_backs(stacks, left, 1);
	return 0;
}

bool rvt_callstack_has_left(const struct rvt_callstack *stack)
{
	return stack->stacks;
}

bool rvt_callstack_is_first(const struct rvt_callstack *stack)
{
	return !stack->next;
}

size_t rvt_callstack_leave(struct rvt_callstack *stack)
{
	struct kept_stacks *stacks = rvt_callstack_stacks(stack);
	size_t ended = stack->depth;
	struct kept_stack left, *same;

	drop_taken(stack);
	left = describe(stack);
	stack->depth = 0;
	stack->returns.n = 0;
	if (!stacks)
		return ended;
	stack->life = ++stacks->lives;
	left.since = stacks->now++;
	same = left.depth ? find_same(stacks, &left) : NULL;
	if (same)
		same->times++;
	if (same || !left.depth)
		return ended;
	if (stacks->n == MAX_LEFT)
		forget_oldest(stacks);
	if (rvt_callstack_add_left(stacks, &left))
		return ended;
	stack->frames = NULL;
	stack->room = 0;
	return ended;
}

/* @stack, which has no frames, gets the first @depth of these. */
static void take_frames(struct rvt_callstack *stack, const struct rvt_frame *frames, size_t depth)
{
	if (array_reserve(&stack->frames, &stack->room, 0, depth))
		return;
	if (depth)
		memcpy(stack->frames, frames, depth * sizeof(*frames));
	stack->depth = depth;
	for (size_t i = 0; i < depth; i++)
		++*rvt_callstack_backs(stack, frames[i].back);
}

static void come_back(struct rvt_callstack *stack, const struct found *found)
{
	struct kept_stack *left = found->left;

	take_frames(stack, found_frames(found), found->depth);
	if (!left) {
		found->other->taken = found->called;
		stack->life = found->other->life;
		return;
	}
	stack->life = left->life;
	if (found->depth && left->frames[0].cut)
		stack->returns = left->returns;
	if (!--left->times)
		remove_left(stack->stacks, left);
}

bool rvt_callstack_go_on(struct rvt_callstack *stack, const struct seen_returns *returns)
{
	struct found found = find(stack, returns);

	if (!found_frames(&found) || found.doubt)
		return false;
	come_back(stack, &found);
	return true;
}
