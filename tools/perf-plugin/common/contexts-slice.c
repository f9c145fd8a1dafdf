// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include "callstack/returns.h"
#include "common/contexts-slice.h"

/* A tree that is larger is written, and another one begins. */
#define MAX_NODES 2048
#define MAX_CALLS 512
#define MAX_RETURNS 2048
#define BASE 0		/* the node of who called the innermost frame of the stack before */

/* A function in one context. */
struct node {
	const struct label *label;
	uint32_t child, sibling;	/* 0: none */
	struct tape_ran ran;
};

/* A call that has not returned; .caller is the node of who made it. */
struct open_call {
	uint64_t from, to, back;
	uint32_t caller;
};

/* A call has returned, and left so many that have not. */
struct noted_return {
	uint64_t to;
	size_t depth;
};

struct contexts_slice {
	struct places *places;
	struct tape *tape;
	struct rvt_unwind *unwind;
	const struct rvt_callstack_code *code;
	bool count_calls;
	bool passed;			/* the last step is on the tape */
	const struct rvt_threaded *threaded;
	struct tape_hart hart;		/* whose all this is, if there is anything */
	bool shares;			/* its thread's process has others */
	uint32_t current;		/* node of the function that ran last; 0: not known */
	struct node nodes[MAX_NODES];
	uint32_t n_nodes;
	struct open_call calls[MAX_CALLS];
	uint32_t n_calls;
	uint32_t n_told;	/* so many calls are on the tape: the reader's stack has them */
	bool based;		/* the tape says above which stack the tree is */
	struct noted_return returns[MAX_RETURNS];
	uint32_t n_returns;
	uint32_t last_return[RVT_CALLSTACK_RETURN_SETS];	/* number of the last one + 1 */
};

struct contexts_slice *contexts_slice_create(struct view *view, struct places *places,
					     const struct rvt_threaded *threaded, struct tape *tape,
					     bool count_calls)
{
	struct contexts_slice *slice = calloc(1, sizeof(*slice));

	if (!slice)
		return NULL;
	slice->places = places;
	slice->threaded = threaded;
	slice->tape = tape;
	slice->count_calls = count_calls;
	slice->unwind = rvt_unwind_create(rvt_session_symbols(view_session(view)));
	if (!slice->unwind) {
		free(slice);
		return NULL;
	}
	slice->code = rvt_unwind_code(slice->unwind);
	contexts_slice_clear(slice);
	return slice;
}

void contexts_slice_destroy(struct contexts_slice *slice)
{
	if (!slice)
		return;
	rvt_unwind_destroy(slice->unwind);
	free(slice);
}

static void clear_returns(struct contexts_slice *slice)
{
	if (slice->n_returns)
		memset(slice->last_return, 0, sizeof(slice->last_return));
	slice->n_returns = 0;
}

void contexts_slice_clear(struct contexts_slice *slice)
{
	slice->nodes[BASE].child = 0;
	slice->n_nodes = BASE + 1;
	slice->n_calls = slice->n_told = 0;
	slice->based = false;
	slice->current = 0;
	clear_returns(slice);
}

/* ---- the tree ---- */

static uint32_t caller(const struct contexts_slice *slice)
{
	return slice->n_calls ? slice->calls[slice->n_calls - 1].caller : BASE;
}

static uint32_t add_node(struct contexts_slice *slice, uint32_t parent, const struct label *label,
			 uint64_t addr)
{
	uint32_t number = slice->n_nodes++;

	slice->nodes[number] = (struct node){
		.label = label, .ran = { .place = TAPE_GOES_ON, .parent = parent, .addr = addr },
	};
	return number;
}

/* What is not known may be the kernel's or the program's. */
static bool is_of(const struct node *node, const struct label *label, uint64_t addr)
{
	return node->label == label && (int64_t)(node->ran.addr ^ addr) >= 0;
}

/*
 * Finds or makes the node of the function at @addr below @parent, and moves it to the front of its
 * siblings.
 */
static uint32_t get_node(struct contexts_slice *slice, const struct rvt_hart_flow *hart,
			 uint32_t parent, uint64_t addr)
{
	const struct label *label = places_label(slice->places, hart->space, addr);
	uint32_t *first = &slice->nodes[parent].child, *link = first, number;

	while (*link && !is_of(&slice->nodes[*link], label, addr))
		link = &slice->nodes[*link].sibling;
	number = *link;
	if (number && link == first)
		return number;
	if (number)
		*link = slice->nodes[number].sibling;
	else
		number = add_node(slice, parent, label, addr);
	slice->nodes[number].sibling = *first;
	*first = number;
	return number;
}

/* ---- writing ---- */

static int write_tree(struct contexts_slice *slice)
{
	int err = 0;

	slice->nodes[BASE + 1].ran.place = slice->based ? TAPE_BEGINS_ABOVE : TAPE_BEGINS;
	for (uint32_t i = BASE + 1; i < slice->n_nodes && !err; i++)
		err = tape_ran(slice->tape, &slice->hart, &slice->nodes[i].ran);
	return err;
}

static int write_returns(struct contexts_slice *slice)
{
	int err = 0;

	for (uint32_t i = 0; i < slice->n_returns && !err; i++)
		err = tape_returned(slice->tape, &slice->hart, slice->returns[i].to,
				    (int64_t)slice->returns[i].depth - slice->n_told);
	clear_returns(slice);
	return err;
}

/* What is not on the tape yet. */
static int write_calls(struct contexts_slice *slice)
{
	int err = write_returns(slice);

	for (; slice->n_told < slice->n_calls && !err; slice->n_told++) {
		const struct open_call *call = &slice->calls[slice->n_told];
		const struct rvt_step step = {
			.kind = RVT_STEP_TRANSFER, .transfer = RVT_TRANSFER_CALL,
			.from = call->from, .to = call->to, .back = call->back,
		};

		err = tape_step(slice->tape, &slice->hart, &step);
	}
	return err;
}

int contexts_slice_write(struct contexts_slice *slice)
{
	int err = write_tree(slice);

	if (!err)
		err = write_calls(slice);
	contexts_slice_clear(slice);
	return err;
}

static bool is_full(const struct contexts_slice *slice)
{
	/* one line, step or jump makes at most two nodes, a call and a return */
	return slice->n_nodes > MAX_NODES - 2 || slice->n_calls == MAX_CALLS ||
		slice->n_returns == MAX_RETURNS;
}

/* Makes the reader's stack the same as the thread's. The tree goes on. */
static int tell_calls(struct contexts_slice *slice)
{
	int err = 0;

	if (!slice->based && slice->n_nodes > BASE + 1)
		err = tape_base(slice->tape, &slice->hart);
	slice->based |= slice->n_nodes > BASE + 1;
	return err ? err : write_calls(slice);
}

int contexts_slice_moment(struct contexts_slice *slice)
{
	int err = slice->shares ? contexts_slice_write(slice) : tell_calls(slice);

	return err ? err : tape_moment(slice->tape);
}

/* The caller adds something of @flow next. */
static int begin(struct contexts_slice *slice, const struct rvt_hart_flow *flow)
{
	const struct tape_hart hart = tape_hart(flow);
	int err = 0;

	if (!tape_same_hart(&hart, &slice->hart)) {
		err = contexts_slice_write(slice);
		slice->hart = hart;
		slice->shares = flow->task &&
				rvt_threaded_has(slice->threaded, flow->task->pid);
	} else if (is_full(slice)) {
		err = contexts_slice_write(slice);
	}
	return err;
}

/* ---- what happens ---- */

int contexts_slice_line(void *ctx, struct rvt_hart_flow *hart,
			const struct rvt_straight_line *line, struct rvt_callstack *stack)
{
	struct contexts_slice *slice = ctx;
	int err = begin(slice, hart);
	struct tape_ran *ran;

	(void)stack;
	if (err)
		return err;
	if (!slice->current ||
	    !is_of(&slice->nodes[slice->current],
		   places_label(slice->places, hart->space, line->first), line->first))
		slice->current = get_node(slice, hart, caller(slice), line->first);
	ran = &slice->nodes[slice->current].ran;
	ran->insns += line->insns;
	ran->lines++;
	if (hart->time > line->began)
		ran->ns += hart->time - line->began;
	return 0;
}

static void take_call(struct contexts_slice *slice, const struct rvt_hart_flow *hart,
		      const struct rvt_step *step)
{
	slice->calls[slice->n_calls] = (struct open_call){
		.from = step->from, .to = step->to, .back = step->back,
		.caller = get_node(slice, hart, caller(slice), step->from),
	};
	slice->n_calls++;
	slice->current = 0;
}

static void note_return(struct contexts_slice *slice, uint64_t to)
{
	uint32_t *last = &slice->last_return[rvt_callstack_return_set(to)];

	if (!*last || slice->returns[*last - 1].to != to) {
		slice->returns[slice->n_returns].to = to;
		*last = ++slice->n_returns;
	}
	slice->returns[*last - 1].depth = slice->n_calls;
}

/*
 * Returns whether that ends the innermost call here. An exception may go on where the call would
 * have returned to, and ends a call further out.
 */
static bool is_return(const struct contexts_slice *slice, uint64_t to)
{
	return slice->n_calls && slice->calls[slice->n_calls - 1].back == to &&
		((int64_t)to < 0 || !slice->code->is_landing_pad(slice->code->ctx, to));
}

/* The innermost call has returned, as @step says. One that was told has been counted. */
static int take_return(struct contexts_slice *slice, const struct rvt_hart_flow *hart,
		       const struct rvt_step *step)
{
	const struct open_call *call = &slice->calls[slice->n_calls - 1];
	bool told = slice->n_told == slice->n_calls;
	int err;

	if (slice->count_calls && !told)
		slice->nodes[get_node(slice, hart, call->caller, call->to)].ran.calls++;
	slice->current = call->caller;
	slice->n_calls--;
	if (!told) {
		note_return(slice, step->to);
		return 0;
	}
	err = write_returns(slice);
	slice->n_told--;
	return err ? err : tape_step(slice->tape, &slice->hart, step);
}

/* Returns whether the jump changes no stack (rvt_callstack_jump()). */
static bool stays(const struct contexts_slice *slice, uint64_t from, uint64_t to)
{
	uint64_t start, end;

	if ((int64_t)to < 0)
		return true;
	if (!slice->code->function(slice->code->ctx, to, &start, &end))
		return slice->n_calls;
	return (from >= start && from < end) || (slice->n_calls && to == start);
}

static int pass(struct contexts_slice *slice, const struct rvt_step *step)
{
	int err = contexts_slice_write(slice);

	slice->passed = true;
	return err ? err : tape_step(slice->tape, &slice->hart, step);
}

int contexts_slice_step(void *ctx, struct rvt_hart_flow *hart, const struct rvt_step *step)
{
	struct contexts_slice *slice = ctx;
	int err = begin(slice, hart);

	if (err)
		return err;
	slice->passed = false;
	rvt_unwind_set_space(slice->unwind, hart->space);
	if (step->kind != RVT_STEP_TRANSFER)
		return pass(slice, step);
	switch (step->transfer) {
	case RVT_TRANSFER_CALL:
		if (step->indirect)
			return pass(slice, step);
		take_call(slice, hart, step);
		return 0;
	case RVT_TRANSFER_RETURN:
		return is_return(slice, step->to) ? take_return(slice, hart, step) :
			pass(slice, step);
	case RVT_TRANSFER_JUMP:
		return stays(slice, step->from, step->to) ? 0 : pass(slice, step);
	default:
		return pass(slice, step);
	}
}

int contexts_slice_jump(void *ctx, struct rvt_hart_flow *hart,
			const struct rvt_transfer *transfer, struct rvt_callstack *stack,
			size_t ended)
{
	struct contexts_slice *slice = ctx;
	int err;

	(void)stack;
	(void)ended;
	/* the reader counts what is on the tape */
	if (transfer->kind != RVT_TRANSFER_JUMP || (transfer->indirect && slice->passed) ||
	    !places_enters(slice->places, hart->space, transfer->from, transfer->to))
		return 0;
	err = begin(slice, hart);
	if (!err)
		slice->nodes[get_node(slice, hart, caller(slice), transfer->to)].ran.calls++;
	return err;
}
