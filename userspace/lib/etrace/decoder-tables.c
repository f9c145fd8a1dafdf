// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace decoder: what the optional modes remember, and looking ahead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <etrace/decoder-state.h>

#define NO_ADDRESS 1ull	/* odd: no instruction is there */
/* With more entries no packet is a memo. */
#define MEMO_PREDICTOR_BITS 14
#define MEMO_CACHE_BITS 14
#define MAX_WALK 16384
#define MAX_WALK_CALLS 64

static unsigned int address_shift(const struct rvt_etrace_decoder *dec)
{
	return dec->codec.params.iaddress_lsb_p > 1 ? 2 : 1;
}

static int resize_predictor(struct rvt_etrace_decoder *dec)
{
	const struct rvt_params *p = &dec->codec.params;
	unsigned int size = p->options & RVT_OPT_BRANCH_PREDICTION ? 1u << p->bpred_size_p : 0;
	int ret;

	if (size == dec->predictor_size)
		return 0;
	dec->predictor_size = 0;
	ret = rvt_flow_set_predictions(dec->flow, size ? (int)p->bpred_size_p : -1,
				       address_shift(dec));
	if (!ret)
		dec->predictor_size = size;
	return ret;
}

static int resize_cache(struct rvt_etrace_decoder *dec)
{
	const struct rvt_params *p = &dec->codec.params;
	unsigned int size = p->options & RVT_OPT_JUMP_TARGET_CACHE ? 1u << p->cache_size_p : 0;

	if (size == dec->cache_size)
		return 0;
	free(dec->cache);
	dec->cache_size = 0;
	dec->cache = NULL;
	if (!size)
		return 0;
	dec->cache = malloc(size * sizeof(*dec->cache));
	if (!dec->cache)
		return -ENOMEM;
	for (unsigned int i = 0; i < size; i++)
		dec->cache[i] = NO_ADDRESS;
	dec->cache_size = size;
	return 0;
}

static int resize_returns(struct rvt_etrace_decoder *dec)
{
	const struct rvt_params *p = &dec->codec.params;
	unsigned int depth = p->return_stack_depth, recursion = 0;

	if (!depth && p->return_stack_size_p)
		depth = 1u << p->return_stack_size_p;
	else if (!depth && p->call_counter_size_p)
		depth = 1u << p->call_counter_size_p;
	if (dec->codec.iret_ext && p->return_stack_size_p && p->call_counter_size_p)
		recursion = (1u << p->call_counter_size_p) - 1;
	if (!(p->options & RVT_OPT_IMPLICIT_RETURN))
		depth = 0;
	if (depth == dec->return_depth && recursion == dec->recursion)
		return 0;
	dec->return_depth = depth;
	dec->recursion = recursion;
	return rvt_flow_set_return_stack(dec->flow, depth, recursion);
}

int rvt_etrace_decoder_resize(struct rvt_etrace_decoder *dec)
{
	int ret = resize_predictor(dec);

	if (!ret)
		ret = resize_cache(dec);
	if (!ret)
		ret = resize_returns(dec);
	/* The first bits of packets with an index; or such as there are none. */
	dec->cached_shift = 2 + dec->codec.params.f0s_width_p;
	dec->cached_mask = (4u << dec->codec.params.f0s_width_p) - 1;
	dec->cached_head = !dec->cache || dec->codec.params.type_bits ||
			   dec->codec.cache_subformat < 0 ? UINT32_MAX :
			   (unsigned int)dec->codec.cache_subformat << 2;
	dec->no_memos = dec->predictor_size > 1u << MEMO_PREDICTOR_BITS ||
			dec->cache_size > 1u << MEMO_CACHE_BITS ||
			(dec->cache && dec->return_depth &&
			 dec->codec.params.jump_cache_returns == RVT_JUMP_CACHE_ALL_RETURNS);
	dec->options_state = 0;
	return ret;
}

void rvt_etrace_decoder_sync(struct rvt_etrace_decoder *dec, bool start)
{
	/*
	 * Cache entries stay: an encoder that invalidates its own does not refer to them before
	 * they are replaced here, too. Not so when updates were missed.
	 */
	if (start && dec->lost)
		for (unsigned int i = 0; i < dec->cache_size; i++)
			dec->cache[i] = NO_ADDRESS;
	if (!start && dec->codec.resync_disabled)
		return;
	rvt_flow_clear_returns(dec->flow);
	rvt_flow_reset_predictions(dec->flow);
}

/* ---- jumps ---- */

unsigned int rvt_etrace_cache_number(const struct rvt_etrace_decoder *dec, uint64_t jump_pc,
				     uint64_t target)
{
	uint64_t index;

	switch (dec->codec.params.jump_cache_index) {
	case RVT_JUMP_CACHE_SOURCE:
		index = jump_pc >> address_shift(dec);
		break;
	case RVT_JUMP_CACHE_HASH:
		index = target >> 2 ^ target >> 8 ^ target >> 14 ^ target >> 20;
		break;
	default:
		index = target >> address_shift(dec);
		break;
	}
	return index & (dec->cache_size - 1);
}

void rvt_etrace_cache_note(struct rvt_etrace_decoder *dec, uint64_t jump_pc, uint64_t target,
			   bool valid)
{
	unsigned int number;

	if (!dec->cache)
		return;
	number = rvt_etrace_cache_number(dec, jump_pc, target);
	dec->cache[number] = valid ? target : NO_ADDRESS;
	dec->noted = dec->noted || !valid ? RVT_ETRACE_NOTED_MORE : 1 + number;
}

/* ---- trap vectors ---- */

void rvt_etrace_vector_learn(struct rvt_etrace_decoder *dec, const struct rvt_event *trap)
{
	unsigned int prv = dec->privilege & 7;

	if (trap->cause >= RVT_MAX_CAUSES || trap->target == RVT_UNLIMITED)
		return;
	dec->learnt[trap->interrupt][trap->cause][prv] = trap->target;
	/* Exceptions go to the base address in every mode of a trap vector. */
	if (!trap->interrupt)
		for (unsigned int i = 0; i < RVT_MAX_CAUSES; i++)
			if (dec->learnt[0][i][prv] == NO_ADDRESS)
				dec->learnt[0][i][prv] = trap->target;
}

static bool find_given(const struct rvt_trap_vectors *v, const struct rvt_event *trap,
		       uint64_t *handler)
{
	uint64_t valid = trap->interrupt ? v->interrupt_valid : v->exception_valid;

	if (trap->cause < RVT_MAX_CAUSES && valid >> trap->cause & 1) {
		*handler = (trap->interrupt ? v->interrupt : v->exception)[trap->cause];
		return true;
	}
	*handler = v->base;
	return v->base_valid;
}

bool rvt_etrace_vector_find(const struct rvt_etrace_decoder *dec, const struct rvt_event *trap,
			    uint64_t *handler)
{
	if (find_given(&dec->codec.params.vectors, trap, handler))
		return true;
	if (trap->cause >= RVT_MAX_CAUSES)
		return false;
	*handler = dec->learnt[trap->interrupt][trap->cause][dec->privilege & 7];
	return *handler != NO_ADDRESS;
}

/* ---- looking ahead ---- */

struct walker {
	const struct rvt_etrace_decoder *dec;
	uint64_t pushed[MAX_WALK_CALLS];
	unsigned int n_pushed, n_popped;	/* popped: of the flow's own stack */
	bool has_load;
	uint64_t load_pc;
	struct rvt_insn load;
};

static bool walk_pop(struct walker *w, uint64_t *pc)
{
	if (w->n_pushed) {
		*pc = w->pushed[--w->n_pushed];
		return true;
	}
	if (!rvt_flow_return_at(w->dec->flow, w->n_popped, pc))
		return false;
	w->n_popped++;
	return true;
}

static bool walk_push(struct walker *w, uint64_t pc)
{
	if (w->n_pushed == MAX_WALK_CALLS)
		return false;
	w->pushed[w->n_pushed++] = pc;
	return true;
}

static bool walk_sequential_jump(const struct walker *w, const struct rvt_insn *insn,
				 uint64_t pc, uint64_t *next)
{
	if (!(w->dec->codec.params.options & RVT_OPT_SEQUENTIAL_JUMP) || !w->has_load ||
	    w->load.rd != insn->rs1 || w->load_pc + w->load.len_bytes != pc)
		return false;
	*next = w->load.offset + insn->offset;
	if (w->load.flags & RVT_INSN_F_PCREL)
		*next += w->load_pc;
	*next &= ~1ull;
	return true;
}

/* Walks an indirect jump. Returns whether it is known where that leads. */
static bool walk_indirect(struct walker *w, const struct rvt_insn *insn, uint64_t pc,
			  uint64_t *next)
{
	bool implicit = w->dec->codec.params.options & RVT_OPT_IMPLICIT_RETURN;
	uint64_t behind = *next, popped = 0;
	bool found = false;

	if (insn->iclass == RVT_INSN_RETURN)
		found = walk_pop(w, &popped);
	if (insn->flags & RVT_INSN_F_ABSOLUTE)
		*next = insn->offset;
	else if (found && implicit)
		*next = popped;
	if (!walk_sequential_jump(w, insn, pc, next) && !(found && implicit) &&
	    !(insn->flags & RVT_INSN_F_ABSOLUTE))
		return false;
	return insn->iclass != RVT_INSN_IND_CALL || walk_push(w, behind);
}

/* Moves *pc over @insn. Returns WALK_TARGET to go on, else how the walk ends. */
static enum rvt_etrace_walked step(struct walker *w, const struct rvt_insn *insn, uint64_t *pc,
				   int taken)
{
	uint64_t next = *pc + insn->len_bytes;

	switch (insn->iclass) {
	case RVT_INSN_SEQUENTIAL:
		break;
	case RVT_INSN_BRANCH:
		if (taken < 0)
			return RVT_ETRACE_WALK_BRANCH;
		if (taken)
			next = *pc + insn->offset;
		break;
	case RVT_INSN_CALL:
	case RVT_INSN_JUMP:
	case RVT_INSN_JUMP_LINKED:
		if (insn->flags & RVT_INSN_F_TABLE ||
		    (insn->iclass == RVT_INSN_CALL && !walk_push(w, next)))
			return RVT_ETRACE_WALK_END;
		next = *pc + insn->offset;
		break;
	case RVT_INSN_ECALL:
	case RVT_INSN_EBREAK:
		return RVT_ETRACE_WALK_END;
	default:
		if (!walk_indirect(w, insn, *pc, &next))
			return RVT_ETRACE_WALK_JUMP;
		break;
	}
	w->has_load = insn->flags & RVT_INSN_F_LOADS_IMM;
	w->load = *insn;
	w->load_pc = *pc;
	if (w->dec->codec.params.xlen == 32)
		next = (uint32_t)next;
	*pc = next;
	return RVT_ETRACE_WALK_TARGET;
}

/* Remembers the load that was executed last: the first instruction may jump to what it loaded. */
static void remember_load(struct walker *w)
{
	enum rvt_insn_class iclass;

	w->has_load = rvt_flow_last(w->dec->flow, &w->load_pc, &iclass) &&
		      !rvt_flow_peek_at(w->dec->flow, w->load_pc, &w->load) &&
		      w->load.flags & RVT_INSN_F_LOADS_IMM;
}

enum rvt_etrace_walked rvt_etrace_walk(const struct rvt_etrace_decoder *dec, uint64_t pc,
				       const struct walk_goal *goal)
{
	struct walker w = { .dec = dec };

	remember_load(&w);
	for (unsigned int i = 0; i < MAX_WALK; i++) {
		enum rvt_etrace_walked walked;
		struct rvt_insn insn;
		int taken = -1;

		if (i && goal->has_target && pc == goal->target)
			return RVT_ETRACE_WALK_TARGET;
		if (rvt_flow_peek_at(dec->flow, pc, &insn))
			return RVT_ETRACE_WALK_END;
		if (!i && goal->path && goal->path->map_bits)
			taken = goal->path->map & 1;
		walked = step(&w, &insn, &pc, taken);
		if (walked != RVT_ETRACE_WALK_TARGET)
			return walked;
	}
	return RVT_ETRACE_WALK_END;
}
