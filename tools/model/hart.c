/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Follows what a hart executes, and counts instructions once, when they retire.
 *
 * QEMU reports when a block begins, not when it ends. So a block is accounted for at the next
 * event: the next block, or a trap. It has run through by then, unless the cursor says at which
 * instruction the hart was last: loads, stores and the like can leave a block early (device access,
 * wfi), are executed again in a block of their own, and another block follows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

#define ECALL "\x73\x00\x00\x00"
#define EBREAK "\x73\x00\x10\x00"
#define C_EBREAK "\x02\x90"

struct hart harts[MODEL_MAX_HARTS];
unsigned int n_harts;
_Thread_local struct hart *this_hart;
_Thread_local bool can_wait;
static uint64_t sequence;

static struct cursor *cursor_of(const struct hart *h)
{
	return qemu_plugin_scoreboard_find(model.cursors, h->id);
}

static void truth_check(int ret)
{
	static bool told;

	if (ret >= 0 || told)
		return;
	told = true;
	fprintf(stderr, "rvtrace-model: cannot write the truth: error %d\n", -ret);
}

/* ---- the truth beside the encoder ---- */

static bool wants_truth(const struct hart *h)
{
	return h->truth && h->following;
}

static void truth_state(struct hart *h)
{
	struct rvt_truth_record rec = {
		.type = RVT_TRUTH_STATE, .prv = h->prv, .v = h->v,
		.scontext = h->scontext, .hcontext = h->hcontext,
	};

	if (!wants_truth(h))
		return;
	truth_check(rvt_truth_write(h->truth, &rec));
	h->truth_state = true;
}

static void truth_moment(struct hart *h, enum rvt_truth_type type)
{
	struct rvt_truth_record rec = {
		.type = type,
		.sequence = __atomic_fetch_add(&sequence, 1, __ATOMIC_RELAXED),
		.time = model.args.clock == CLOCK_OF_INSNS ? h->insns : model_time(),
	};

	if (wants_truth(h))
		truth_check(rvt_truth_write(h->truth, &rec));
}

static void truth_insns(struct hart *h, struct block *b, uint32_t first, uint32_t count)
{
	int64_t *id = &b->truth_id[h->id];

	if (!wants_truth(h))
		return;
	if (*id < 0)
		*id = rvt_truth_block(h->truth, b->pc, b->halfwords, b->n);
	if (*id < 0)
		truth_check((int)*id);
	else if (count == b->n)
		truth_check(rvt_truth_run(h->truth, (uint64_t)*id));
	else
		truth_check(rvt_truth_part(h->truth, (uint64_t)*id, first, count));
}

/*
 * Writes into the truth what the encoder passed on or lost; comes after each call of the encoder.
 */
static void truth_follow(struct hart *h)
{
	struct rvt_truth_record rec = { 0 };
	bool lossy = encoder_lossy(h->encoder);

	if (wants_truth(h)) {
		if (lossy != h->lossy) {
			rec.type = lossy ? RVT_TRUTH_LOST : RVT_TRUTH_FOUND;
			truth_check(rvt_truth_write(h->truth, &rec));
		}
		if (!lossy && h->emitted)
			truth_check(rvt_truth_mark(h->truth));
	}
	h->lossy = lossy;
	h->emitted = false;
}

/* ---- start and stop ---- */

static void start(struct hart *h)
{
	h->started = true;
	truth_moment(h, RVT_TRUTH_ON);
	encoder_begin(h->encoder);
	truth_follow(h);
}

static void stop(struct hart *h, uint64_t next_pc)
{
	encoder_end(h->encoder, next_pc);
	truth_follow(h);
	h->started = false;
	h->lossy = false;
	truth_moment(h, RVT_TRUTH_OFF);
}

/* Starts or stops tracing, as the filters say for @pc in block @b. */
static void qualify(struct hart *h, const struct block *b, uint64_t pc)
{
	bool on = h->wanted && filter_qualifies(h->encoder, b->prv, b->v, pc);

	if (h->started && !on)
		stop(h, pc);
	else if (!h->started && on)
		start(h);
}

/* ---- retiring ---- */

static bool after_upper(const struct hart *h, const struct block *b, uint32_t first, uint32_t last)
{
	uint8_t rs = b->last.jump_rs;

	if (!rs)
		return false;
	if (last > first)
		return b->upper_rd == rs;
	return h->upper_rd == rs && h->last_end == block_pc(b, last);
}

static void encode_run(struct hart *h, const struct rvt_retire *run)
{
	h->insns += run->insns;
	if (h->started) {
		encoder_retire(h->encoder, run);
		truth_follow(h);
	}
	if (run->itype == RVT_ITYPE_TRAP_RETURN)
		filter_trap_return(h->encoder);
}

static void retire(struct hart *h, struct block *b, uint32_t first, uint32_t count,
		   uint64_t next_pc);

/* Like retire(), one instruction at a time, for comparators and triggers. */
static void retire_each(struct hart *h, struct block *b, uint32_t first, uint32_t count,
			uint64_t next_pc)
{
	uint64_t pc = block_pc(b, first);

	for (uint32_t i = first; i < first + count; i++) {
		uint64_t end = pc + 2 * b->halfwords[i], next = i + 1 < b->n ? end : next_pc;
		unsigned int action = encoder_debug_action(h->encoder, pc);

		/* traces the instruction that starts the trace, and the one that stops it */
		if (action == TRIG_ON)
			h->wanted |= encoder_debug_trace(h->encoder, true);
		qualify(h, b, pc);
		if (h->started && (action == TRIG_NOTIFY || filter_notifies(h->encoder, pc)))
			encoder_mark(h->encoder, false);
		retire(h, b, i, 1, next);
		filter_retired(h->encoder, pc);
		if (action == TRIG_OFF && encoder_debug_trace(h->encoder, false)) {
			h->wanted = false;
			if (h->started)
				stop(h, next);
		}
		pc = end;
	}
}

/* Retires instructions @first..@first+@count-1 of the block. The hart continues at @next_pc. */
static void retire(struct hart *h, struct block *b, uint32_t first, uint32_t count,
		   uint64_t next_pc)
{
	uint32_t last = first + count - 1;
	uint64_t end = last == b->n - 1 ? b->pc + b->bytes : block_pc(b, last + 1);
	struct rvt_retire run = {
		.first_pc = first ? block_pc(b, first) : b->pc, .insns = count, .prv = b->prv,
		.v = b->v,
		.last_halfwords = b->halfwords[last],
	};

	run.last_pc = end - 2 * run.last_halfwords;
	run.halfwords = (uint32_t)(end - run.first_pc) / 2;
	if (last == b->n - 1) {
		run.itype = b->last.itype;
		if (run.itype == RVT_ITYPE_BRANCH_TAKEN && next_pc == end)
			run.itype = RVT_ITYPE_BRANCH_NOT_TAKEN;
		run.sijump = after_upper(h, b, first, last);
		run.absolute = b->last.absolute;
	}
	encode_run(h, &run);
	truth_insns(h, b, first, count);
	h->last_end = end;
	h->next_pc = next_pc;
	h->upper_rd = 0;
	if (last == b->n - 1)
		h->upper_rd = b->last.upper_rd;
	else if (last == b->n - 2)
		h->upper_rd = b->upper_rd;
}

static void retire_until(struct hart *h, uint32_t end, uint64_t next_pc)
{
	/* the block is shared: only its truth ids change, each under its hart's lock */
	struct block *b = (struct block *)h->block;

	if (end > h->first && filter_by_insn(h->encoder) &&
	    (h->wanted || encoder_is_armed(h->encoder)))
		retire_each(h, b, h->first, end - h->first, next_pc);
	else if (end > h->first)
		retire(h, b, h->first, end - h->first, next_pc);
	h->first = end;
}

static uint32_t index_of(const struct block *b, uint64_t pc)
{
	uint64_t at = b->pc;
	uint32_t i;

	for (i = 0; i < b->n && at != pc; i++)
		at += 2 * b->halfwords[i];
	return i;
}

/* Returns whether the hart can continue at @pc after the whole block retired. */
static bool is_successor(const struct block *b, uint64_t pc)
{
	uint64_t end = b->pc + b->bytes;
	uint64_t target = end - 2 * b->last.halfwords + (uint64_t)b->last.offset;

	switch (b->last.itype) {
	case RVT_ITYPE_NONE:
		return pc == end;
	case RVT_ITYPE_BRANCH_TAKEN:
		return pc == end || pc == target;
	case RVT_ITYPE_CALL: case RVT_ITYPE_JUMP: case RVT_ITYPE_JUMP_LINKED:
		/* Zcmt's table jumps are direct, too, but not by an offset */
		return pc == target || !b->last.offset;
	default:
		return true;
	}
}

/*
 * Accounts for the block that the hart has left for @next_pc, without a trap by an instruction of
 * the block.
 */
static void leave_block(struct hart *h, uint64_t next_pc)
{
	const struct block *b = h->block;
	uint64_t at = cursor_of(h)->at;
	uint32_t end;

	if (!b)
		return;
	end = at == CURSOR_THROUGH ? b->n : (uint32_t)at;
	if (end == b->n && !is_successor(b, next_pc)) {
		/* a device access that does not look like one */
		end = index_of(b, next_pc);
	} else if (end < b->n) {
		/*
		 * it is executed again if the hart continues there, unless it is a jump to itself
		 */
		bool again = next_pc == block_pc(b, end) && !(end == b->n - 1 && b->last.itype);

		if (!again)
			end++;
	}
	retire_until(h, end, next_pc);
	h->block = NULL;
}

static void set_mode(struct hart *h, uint8_t prv, uint8_t v)
{
	if (h->prv == prv && h->v == v && h->truth_state)
		return;
	h->prv = prv;
	h->v = v;
	truth_state(h);
}

void hart_block(unsigned int vcpu, void *userdata)
{
	struct block *b = userdata;
	struct hart *h = &harts[vcpu];

	pthread_mutex_lock(&h->lock);
	if (h->following) {
		this_hart = h;
		can_wait = true;
		b = block_at(b, vcpu, cpu_pc());
		data_settle(h, b->pc);
		leave_block(h, b->pc);
		set_mode(h, b->prv, b->v);
		if (!filter_by_insn(h->encoder))
			qualify(h, b, b->pc);
		h->block = b;
		h->first = 0;
		cursor_of(h)->at = CURSOR_THROUGH;
		can_wait = false;
		this_hart = NULL;
	}
	pthread_mutex_unlock(&h->lock);
}

/* ---- traps ---- */

/* Returns whether the cause comes from fetching an instruction, before a block with it begins. */
static bool is_fetch_fault(uint64_t cause)
{
	return cause == 0 || cause == 1 || cause == 12 || cause == 20;
}

static void leave_block_trapped(struct hart *h, bool interrupt, uint64_t cause, uint64_t from_pc)
{
	uint32_t i;

	if (!h->block)
		return;
	if (interrupt || is_fetch_fault(cause)) {
		leave_block(h, from_pc);
		return;
	}
	i = index_of(h->block, from_pc);
	if (i == h->block->n)
		leave_block(h, from_pc);
	else
		retire_until(h, i, from_pc);
	h->block = NULL;
}

static void take_trap(struct hart *h, const struct rvt_trap *trap)
{
	struct rvt_truth_record rec = {
		.type = RVT_TRUTH_TRAP, .interrupt = trap->interrupt, .cause = trap->cause,
		.epc = trap->epc, .tval = trap->tval, .handler = trap->handler,
	};

	h->tval = trap->tval;
	filter_trap(h->encoder, trap);
	/*
	 * A trap out of what is traced ends the trace at the trapped instruction, and the handler's
	 * address is not told.
	 */
	if (h->started && !filter_qualifies(h->encoder, trap->prv, trap->v, trap->handler))
		stop(h, trap->epc);
	if (h->started) {
		encoder_trap(h->encoder, trap);
		truth_follow(h);
	}
	if (wants_truth(h))
		truth_check(rvt_truth_write(h->truth, &rec));
	h->last_end = 0;
	h->next_pc = trap->handler;
	h->upper_rd = 0;
	set_mode(h, trap->prv, trap->v);
}

/* Returns the size of the ecall or ebreak that raised the exception, else 0. */
static uint8_t ecall_halfwords(const struct block *b, const struct rvt_trap *trap, uint64_t from_pc)
{
	bool ecall = trap->cause >= 8 && trap->cause <= 11;
	uint64_t offset;

	if (!b || trap->interrupt || !(ecall || trap->cause == 3))
		return 0;
	offset = from_pc - b->pc;
	if (offset >= b->bytes)
		return 0;
	if (offset + 4 <= b->bytes && !memcmp(b->code + offset, ecall ? ECALL : EBREAK, 4))
		return 2;
	return memcmp(b->code + offset, C_EBREAK, 2) ? 0 : 1;
}

void hart_discontinuity(unsigned int vcpu, enum qemu_plugin_discon_type type, uint64_t from_pc,
			uint64_t to_pc, void *userdata)
{
	struct hart *h = &harts[vcpu];
	struct trap_csrs csrs;
	struct rvt_trap trap = { .handler = to_pc,
				 .interrupt = type == QEMU_PLUGIN_DISCON_INTERRUPT };

	(void)userdata;
	if (type == QEMU_PLUGIN_DISCON_HOSTCALL)
		return;
	pthread_mutex_lock(&h->lock);
	if (h->following) {
		this_hart = h;
		cpu_mode(&trap.prv, &trap.v);
		cpu_trap_csrs(trap.prv, &csrs);
		trap.cause = csrs.cause & ~(1ull << 63);
		trap.epc = csrs.epc;
		trap.tval = csrs.tval;
		trap.ecall_halfwords = ecall_halfwords(h->block, &trap, from_pc);
		can_wait = true;
		data_settle(h, from_pc);
		leave_block_trapped(h, trap.interrupt, trap.cause, from_pc);
		take_trap(h, &trap);
		can_wait = false;
		this_hart = NULL;
	}
	pthread_mutex_unlock(&h->lock);
}

/* ---- changes from outside of the flow ---- */

/*
 * Accounts for the current block up to and including the current instruction. Returns the next pc.
 */
static uint64_t catch_up(struct hart *h)
{
	uint64_t i = cursor_of(h)->at;
	uint64_t next_pc;

	if (i >= h->block->n)
		return block_pc(h->block, h->first);
	next_pc = block_pc(h->block, i + 1);
	retire_until(h, i + 1, next_pc);
	return next_pc;
}

void hart_want(struct hart *h, bool wanted)
{
	pthread_mutex_lock(&h->lock);
	h->wanted = wanted;
	if (!wanted && h->started) {
		/*
		 * if another hart stops this one, its current block is not accounted for yet, and
		 * counts as executed after the stop
		 */
		if (this_hart == h && h->block)
			stop(h, catch_up(h));
		else
			stop(h, h->block ? block_pc(h->block, h->first) : h->next_pc);
	}
	h->begun |= wanted;
	if (!wanted && !model.args.truth_all && !(model.args.truth_after && h->begun) &&
	    !encoder_is_armed(h->encoder)) {
		h->following = false;
		h->block = NULL;
	} else if (!h->following) {
		h->following = true;
		h->truth_state = false;
		h->block = NULL;
		h->last_end = 0;
	}
	cursor_of(h)->attention = h->following;
	if (!wanted && h->truth && h->insns - h->truth_flushed > 1000000) {
		h->truth_flushed = h->insns;
		truth_check(rvt_truth_flush(h->truth));
	}
	pthread_mutex_unlock(&h->lock);
}

void hart_set_impdef(struct hart *h, uint32_t impdef)
{
	pthread_mutex_lock(&h->lock);
	/* instructions before this one are filtered by the old value */
	if (this_hart == h && h->block)
		catch_up(h);
	h->impdef = impdef;
	pthread_mutex_unlock(&h->lock);
}

void hart_mark(struct hart *h, bool external)
{
	pthread_mutex_lock(&h->lock);
	if (h->started)
		encoder_mark(h->encoder, external);
	pthread_mutex_unlock(&h->lock);
}

void hart_leave(struct hart *h, uint64_t next_pc)
{
	pthread_mutex_lock(&h->lock);
	if (h->block)
		leave_block(h, next_pc);
	pthread_mutex_unlock(&h->lock);
}

void hart_context(struct hart *h, bool hcontext, uint64_t value, uint64_t next_pc)
{
	hart_leave(h, next_pc);
	pthread_mutex_lock(&h->lock);
	if (hcontext)
		h->hcontext = value;
	else
		h->scontext = value;
	encoder_context(h->encoder, hcontext, value);
	if (h->started)
		truth_follow(h);
	truth_state(h);
	pthread_mutex_unlock(&h->lock);
}

void harts_init(unsigned int n)
{
	char path[4096];

	n_harts = n;
	for (unsigned int i = 0; i < n; i++) {
		struct hart *h = &harts[i];

		h->id = i;
		h->prv = 3;
		pthread_mutex_init(&h->lock, NULL);
		if (!model.args.truth_dir)
			continue;
		snprintf(path, sizeof(path), "%s/truth.%u", model.args.truth_dir, i);
		truth_check(rvt_truth_create(path, i, &h->truth));
	}
}

void harts_exit(void)
{
	data_exit();
	for (unsigned int i = 0; i < n_harts; i++) {
		struct hart *h = &harts[i];

		pthread_mutex_lock(&h->lock);
		/* the hart that turned the machine off had no next block */
		if (h->block)
			leave_block(h, 0);
		h->following = false;
		truth_check(rvt_truth_close(h->truth));
		h->truth = NULL;
		pthread_mutex_unlock(&h->lock);
	}
}
