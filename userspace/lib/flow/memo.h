/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memos as protocol decoders use them: looking up, applying and recording. A decoder sees nothing
 * else of a flow but this, flow/order.h and rvtrace/flow.h; of what is in flow/core/memo.h it uses
 * struct rvt_memo_key, struct rvt_memo, and pointers to struct rvt_memos. The engine knows neither
 * frames nor messages: what bytes of the trace mean where the flow stands, and how many of them a
 * key has, is the decoder's.
 *
 * A decoder replays: from rvt_memos_enter() to rvt_memos_leave() it applies memos one after the
 * other (rvt_memos_replay() is the loop) and touches the flow only by the functions of this header.
 * What has no memo it decodes the long way, between rvt_memos_record() and rvt_memos_keep().
 */
#ifndef RVT_LIB_FLOW_MEMO_H
#define RVT_LIB_FLOW_MEMO_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "flow/order.h"
#include "flow/core/memo.h"

static inline struct rvt_flow_base *rvt_flow_base(const struct rvt_flow *flow)
{
	return (struct rvt_flow_base *)flow;
}

/* What the sink returned, once that is not 0. */
int rvt_flow_result(const struct rvt_flow *flow);
/* Whether the last instruction executed just went on to where the flow is. */
bool rvt_flow_is_consecutive(const struct rvt_flow *flow);

/* TIME events before this time are not delivered. */
static inline uint64_t rvt_flow_time_filter(const struct rvt_flow *flow)
{
	return rvt_flow_base(flow)->time_filter;
}

/* ---- replaying ---- */

/* Where the flow stands: parts of a key. */
struct rvt_memo_cursor {
	uint64_t pc;
	uint32_t mapping_id;
};

/*
 * rvt_memos_enter - starts replaying. Sets *at to where the flow stands. Returns false when the
 * flow cannot replay: it has no pc, the sink returned an error, the configuration asks for the
 * reference walk, or there is no memory.
 */
bool rvt_memos_enter(struct rvt_flow *flow, struct rvt_memo_cursor *at);
/* Ends replaying: the flow stands where the last memo led. */
void rvt_memos_leave(struct rvt_flow *flow);

/* The memos of a flow that has been entered; the same until it is destroyed. */
static inline struct rvt_memos *rvt_flow_memos(const struct rvt_flow *flow)
{
	return rvt_flow_base(flow)->memos;
}

static inline struct rvt_memo_cursor rvt_memo_cursor_at(const struct rvt_flow *flow, uint64_t pc)
{
	return (struct rvt_memo_cursor){ pc, rvt_flow_base(flow)->mapping_id[rvt_va_half(pc)] };
}

/* What becomes of the runs of a memo. */
enum rvt_replay_mode {
	RVT_REPLAY_COUNTS,	/* they are counted */
	RVT_REPLAY_RUNS,	/* they are delivered */
	RVT_REPLAY_SUMS,	/* neither: only statistics are kept */
};

static inline enum rvt_replay_mode rvt_replay_mode(const struct rvt_flow *flow)
{
	const struct rvt_flow_base *base = rvt_flow_base(flow);

	return base->counts ? RVT_REPLAY_COUNTS : base->collect ? RVT_REPLAY_RUNS :
								   RVT_REPLAY_SUMS;
}

/* ---- recording ---- */

/*
 * rvt_memos_record - starts recording: the caller is about to decode what has @key the long way.
 * The first time that a key comes it is only noted; nothing is recorded then.
 * rvt_memos_record_missed - the same for the key of which a look-up has just found no memo.
 * rvt_memos_recording - whether recording is in progress. rvt_memos_recorded_key - the key of
 * which it is, or of which a look-up has just found no memo. rvt_memos_keep - that was decoded:
 * makes a memo of it, unless it did something that a memo cannot hold. @address: the last address
 * that the trace has reported; @extra: the caller's, 0 to 15; @own: likewise, see rvt_memo_own().
 * rvt_memos_drop - ends recording without a memo.
 */
void rvt_memos_record(struct rvt_flow *flow, const struct rvt_memo_key *key);
void rvt_memos_record_missed(struct rvt_flow *flow);
bool rvt_memos_recording(const struct rvt_flow *flow);
static inline const struct rvt_memo_key *rvt_memos_recorded_key(const struct rvt_flow *flow)
{
	return &rvt_flow_memos(flow)->key;
}
void rvt_memos_keep(struct rvt_flow *flow, uint64_t address, uint8_t extra, uint16_t own);
void rvt_memos_drop(struct rvt_flow *flow);

/* ---- keys ---- */

/* What stands for the bytes of a key, and for its state. */
static inline uint64_t rvt_memo_mix(const uint64_t bytes[2], uint32_t state)
{
	const unsigned __int128 x = (unsigned __int128)(bytes[0] + state) *
				    (bytes[1] ^ 0x9e3779b97f4a7c15ull);

	return (uint64_t)x ^ (uint64_t)(x >> 64);
}

/* Of the result the upper bits are good. */
static inline uint64_t rvt_memo_hash(const struct rvt_memo_key *key)
{
	return ((key->pc + 8 * key->address + key->mapping_id) ^
		rvt_memo_mix(key->bytes, key->state)) * 0xff51afd7ed558ccdull;
}

static inline bool rvt_memo_is(const struct rvt_memo *s, const struct rvt_memo_key *key)
{
	/* Each half of a word by itself: else a word would be read that was just stored as two. */
	return s->key.pc == key->pc && s->key.bytes[0] == key->bytes[0] &&
	       s->key.bytes[1] == key->bytes[1] && s->key.address == key->address &&
	       !((s->key.state ^ key->state) | (s->key.mapping_id ^ key->mapping_id));
}

/* ---- looking up ---- */

static inline struct rvt_memo *rvt_memo_at(struct rvt_memos *memos, uint32_t number)
{
	/* What is told here is known; but so GCC computes the address only once. */
	return __builtin_assume_aligned(&memos->memos[number], _Alignof(struct rvt_memo));
}

static inline uint32_t rvt_memo_number(const struct rvt_memos *memos, const struct rvt_memo *s)
{
	return s - memos->memos;
}

/*
 * The memo that stays of @s, which was applied: itself, or, of a transient one, what was made of
 * it. NULL: nothing was.
 */
static inline struct rvt_memo *rvt_memos_kept(const struct rvt_flow *flow, struct rvt_memo *s)
{
	const struct rvt_memos *memos = rvt_flow_memos(flow);

	return s == memos->memos ? memos->transient_kept : s;
}

/* The value of the branch predictor's entry that @effects has at @i. */
static inline unsigned int rvt_memo_old_entry(const struct rvt_flow *flow,
					      const struct rvt_memo_effects *effects,
					      unsigned int i)
{
	return rvt_flow_base(flow)->predictions.entries[effects->entries[i] & RVT_EFFECT_NUMBER];
}

static inline bool rvt_memo_effects_hold(const struct rvt_flow *flow,
					 const struct rvt_memo_effects *effects)
{
	uint32_t holds = 1;

	for (unsigned int i = 0; i < effects->n; i++)
		holds &= effects->entries[i] >> RVT_EFFECT_HOLDS >>
			 rvt_memo_old_entry(flow, effects, i);
	return holds;
}

/* The same as rvt_memos_apply_all() for a memo with effects. */
static inline bool rvt_memos_apply_effects(struct rvt_flow *flow, const struct rvt_memo *s)
{
	uint8_t *predictions = rvt_flow_base(flow)->predictions.entries;
	struct rvt_memos *memos = rvt_flow_memos(flow);
	const struct rvt_memo_effects *effects = rvt_memo_effects_in(rvt_memo_path(memos, s));

	if (effects->conditional && !rvt_memo_effects_hold(flow, effects))
		return false;
	if (s->flags & RVT_MEMO_DELTA &&
	    !rvt_returns_apply(&rvt_flow_base(flow)->returns, rvt_memo_delta(memos, s)))
		return false;
	for (unsigned int i = 0; i < effects->n; i++) {
		const uint32_t effect = effects->entries[i];
		uint8_t *entry = &predictions[effect & RVT_EFFECT_NUMBER];

		*entry = rvt_prediction_after(effect >> RVT_EFFECT_MAP, *entry);
	}
	return true;
}

/* What the decoder gave to a memo that is to be kept; 0: nothing. */
static inline uint16_t rvt_memo_own(const struct rvt_flow *flow, const struct rvt_memo *s)
{
	return s->flags & RVT_MEMO_HAS_EFFECTS ?
	       rvt_memo_effects_in(rvt_memo_path(rvt_flow_memos(flow), s))->own : 0;
}

/* Whether @s can be applied here: what it does to the return stack is done. It has no effects. */
static inline bool rvt_memos_apply_delta(struct rvt_flow *flow, const struct rvt_memo *s)
{
	struct rvt_memos *memos = rvt_flow_memos(flow);

	return !(s->flags & RVT_MEMO_DELTA) ||
	       rvt_returns_apply(&rvt_flow_base(flow)->returns, rvt_memo_delta(memos, s));
}

/*
 * The same for any memo: what it does to the return stack and the branch predictor is done.
 */
static inline bool rvt_memos_apply_all(struct rvt_flow *flow, const struct rvt_memo *s)
{
	return __builtin_expect(s->flags & RVT_MEMO_HAS_EFFECTS, 0) ?
	       rvt_memos_apply_effects(flow, s) : rvt_memos_apply_delta(flow, s);
}

/* The first memo of @key, whose hash is @hash, or that of a group. NULL: there is none. */
struct rvt_memo *rvt_memos_look_up(struct rvt_memos *memos, const struct rvt_memo_key *key,
				   uint64_t hash);
/*
 * After a wrong prediction: the memo of @key that can be applied here; what it does to the return
 * stack is done. NULL: there is none, and nothing has happened. @hash: of the key.
 */
struct rvt_memo *rvt_memos_find(struct rvt_flow *flow, const struct rvt_memo_key *key,
				uint64_t hash);
/* The same where @tried, which has the key, cannot be applied. */
struct rvt_memo *rvt_memos_find_other(struct rvt_flow *flow, const struct rvt_memo *tried);
/* A memo of @hash will be looked up, and may well not be there. */
static inline void rvt_memos_fetch_index(struct rvt_memos *memos, uint64_t hash)
{
	__builtin_prefetch(memos->tags[rvt_memo_set(hash)]);
	__builtin_prefetch(memos->numbers[rvt_memo_set(hash)]);
	__builtin_prefetch(rvt_admission_slot(memos, hash));
}

/* What @s leads through will be delivered. */
static inline void rvt_memos_fetch_path(struct rvt_memos *memos, const struct rvt_memo *s)
{
	__builtin_prefetch(rvt_memo_path(memos, s));
}

/* ---- prediction: by slots ---- */

/*
 * A predictor by what bytes alone say, without where the flow stands. The slot of rvt_memo_mix()
 * of them has the memo that they were the last time.
 */
static inline uint32_t rvt_predictor_slot(uint64_t mix)
{
	return mix >> (64 - RVT_PREDICTOR_BITS);
}

/* Above the number in an entry. */
static inline uint32_t rvt_memo_tag(uint64_t hash)
{
	return hash >> 32 & ~(RVT_MEMO_ENTRIES - 1);
}

static inline struct rvt_memo *rvt_memo_of(struct rvt_memos *memos, uint32_t entry)
{
	return rvt_memo_at(memos, entry & (RVT_MEMO_ENTRIES - 1));
}

/* The slot will be needed; or what it says, once it is there. */
static inline void rvt_memos_fetch_slot(const struct rvt_memos *memos, uint32_t slot)
{
	__builtin_prefetch(&memos->predictor[slot]);
}

static inline void rvt_memos_fetch_predicted(struct rvt_memos *memos, uint32_t slot)
{
	__builtin_prefetch(rvt_memo_of(memos, memos->predictor[slot]));
}

/* As rvt_memos_find() and rvt_memos_find_other(); what is found is noted for @slot. */
struct rvt_memo *rvt_memos_take_missed(struct rvt_flow *flow, const struct rvt_memo_key *key,
				       uint64_t hash, uint32_t slot);
struct rvt_memo *rvt_memos_take_other(struct rvt_flow *flow, const struct rvt_memo *tried,
				      uint64_t hash, uint32_t slot);

/*
 * The memo of @key that can be applied here: what it does to the return stack is done. NULL: there
 * is none, and nothing has happened. @hash: of the key; @slot: of its bytes; @effects: it may have
 * effects.
 */
static inline struct rvt_memo *rvt_memos_take(struct rvt_flow *flow, const struct rvt_memo_key *key,
					      uint64_t hash, uint32_t slot, bool effects)
{
	struct rvt_memos *memos = rvt_flow_memos(flow);
	const uint32_t entry = memos->predictor[slot];
	struct rvt_memo *s = rvt_memo_of(memos, entry);

	/* Memory that is in no cache must not be touched in vain. */
	if ((entry & ~(RVT_MEMO_ENTRIES - 1)) == rvt_memo_tag(hash) && rvt_memo_is(s, key))
		return (effects ? rvt_memos_apply_all(flow, s) : rvt_memos_apply_delta(flow, s)) ?
		       s : rvt_memos_take_other(flow, s, hash, slot);
	/* One by one: so the caller's key need not be in memory before. */
	return rvt_memos_take_missed(flow, &(const struct rvt_memo_key){
		{ key->bytes[0], key->bytes[1] }, key->pc, key->address, key->state,
		key->mapping_id,
	}, hash, slot);
}

/* ---- prediction: ahead of the flow ---- */

/*
 * A decoder that scans messages ahead of the flow knows their bytes, but not yet their keys. So an
 * entry has bits of the bytes' mix above the number, instead of the key's hash. Bits 32 and up of
 * @mix must be good.
 */
static inline uint32_t rvt_predictor_tag(uint64_t mix)
{
	return mix >> 14 & ~(RVT_MEMO_ENTRIES - 1);
}

/* Returns the number of the memo that the bytes of @mix were the last time; 0: not known. */
static inline uint32_t rvt_memos_predict(const struct rvt_memos *memos, uint64_t mix)
{
	const uint32_t found = memos->predictor[rvt_predictor_slot(mix)] ^ rvt_predictor_tag(mix);

	return found & -(uint32_t)(found < RVT_MEMO_ENTRIES);
}

/* Notes that the bytes of @mix were @s. */
static inline void rvt_memos_train(struct rvt_memos *memos, uint64_t mix, const struct rvt_memo *s)
{
	memos->predictor[rvt_predictor_slot(mix)] =
		rvt_predictor_tag(mix) | rvt_memo_number(memos, s);
}

/* Returns the predictor's address, to prefetch from; 0: there is none. */
static inline uintptr_t rvt_memos_predictor(const struct rvt_memos *memos)
{
	return memos ? (uintptr_t)memos->predictor : 0;
}

/* Prefetches what rvt_memos_predict() reads. Prefetching never faults. */
static inline __attribute__((always_inline)) void rvt_predictor_fetch(uintptr_t predictor,
								      uint64_t mix)
{
	/* A number, not a pointer: there may be no table. */
	__builtin_prefetch((const void *)(predictor + rvt_predictor_slot(mix) * sizeof(uint32_t)));
}

/* Memo @number will be needed. */
static inline void rvt_memos_fetch(const struct rvt_memos *memos, uint32_t number)
{
	__builtin_prefetch(&memos->memos[number]);
	__builtin_prefetch(&memos->delta[number]);
}

/*
 * RVT_PREDICTOR_ENTRIES entries of whatever form, for a decoder that predicts by itself; zeros when
 * memos are forgotten.
 */
static inline uint32_t *rvt_memos_own_predictor(struct rvt_memos *memos)
{
	return memos->own_predictor;
}

/* ---- applying ---- */

/* The address reported last, after the memo from one where that was @address. */
static inline uint64_t rvt_memo_address(const struct rvt_memo *s, uint64_t address)
{
	return s->flags & RVT_MEMO_KEEPS_ADDRESS ? address : s->pc;
}

static inline unsigned int rvt_memo_halfwords(const struct rvt_memo *s)
{
	return s->sums >> RVT_MEMO_HALFWORDS & 0xffff;
}

/* The flow counts, and @s->times is about to leave 0, or full. (count/expand.c) */
void rvt_memos_begin_times(struct rvt_flow *flow, struct rvt_memo *s);

static inline void rvt_memos_count(struct rvt_flow *flow, struct rvt_memo *s)
{
	/* The first time, and before no more fits. */
	if (__builtin_expect((int32_t)s->times <= 0, 0))
		rvt_memos_begin_times(flow, s);
	s->times++;
}

/* What was added up is in the statistics, and adding up begins anew. */
void rvt_memos_add_up(struct rvt_flow *flow);

/* Returns whether there is room for more. */
static inline bool rvt_memo_sums_add(struct rvt_memo_sums *to, struct rvt_memo *s)
{
#ifdef __SSE2__
	__m128i *lanes = (__m128i *)to->lanes;
	const __m128i bytes = _mm_loadl_epi64((const __m128i *)&s->word);

	*lanes = _mm_add_epi16(*lanes, _mm_unpacklo_epi8(bytes, _mm_setzero_si128()));
#else
	const uint64_t mask = UINT64_C(0x00ff00ff00ff00ff);

	to->lanes[0] += s->word & mask;
	to->lanes[1] += s->word >> 8 & mask;
#endif
	to->last = s;
	return --to->left;
}

/* The sum of byte @i. */
static inline unsigned int rvt_memo_sums_of(const struct rvt_memo_sums *sums, unsigned int i)
{
#ifdef __SSE2__
	return sums->lanes[i / 4] >> i % 4 * 16 & UINT16_MAX;
#else
	return sums->lanes[i % 2] >> i / 2 * 16 & UINT16_MAX;
#endif
}

static inline void rvt_memos_add(struct rvt_flow *flow, struct rvt_memo *s)
{
	if (__builtin_expect(!rvt_memo_sums_add(&rvt_flow_memos(flow)->sums, s), 0))
		rvt_memos_add_up(flow);
}

/* The runs of @s are delivered. False: that went wrong, or mappings changed. */
bool rvt_memos_collect(struct rvt_flow *flow, const struct rvt_memo *s);

/* The memo is applied. False: delivering went wrong, or mappings changed: rvt_memos_leave() now. */
static inline bool rvt_memos_apply(struct rvt_flow *flow, struct rvt_memo *s)
{
	rvt_memos_add(flow, s);
	switch (rvt_replay_mode(flow)) {
	case RVT_REPLAY_COUNTS:
		rvt_memos_count(flow, s);
		return true;
	case RVT_REPLAY_RUNS:
		return rvt_memos_collect(flow, s);
	default:
		return true;
	}
}

/*
 * What a decoder does in rvt_memos_replay(). These are inlined there, so that what is in *ctx is in
 * registers, as far as there are enough: no function that is not inlined may get a pointer to it.
 */
struct rvt_memo_adapter {
	/*
	 * Sets *memo to that of what comes next, if there is one that can be applied where @at is:
	 * what it does to the return stack is done. False: there is none, or nothing is left.
	 */
	bool (*next)(void *ctx, struct rvt_memo_cursor at, struct rvt_memo **memo);
	/* It was applied. False: .otherwise has to look after it. */
	bool (*commit)(void *ctx, const struct rvt_memo *memo);
	/*
	 * What .next and .commit leave: speculative walks, time. *pc: where the flow
	 * stands, and then where it stands behind that. False: replaying ends.
	 */
	bool (*otherwise)(void *ctx, uint64_t *pc);
};

/*
 * rvt_memos_replay - applies memos from @pc on, where the flow stands, until adapter->otherwise
 * ends that, or delivering went wrong, or mappings changed. @mode: rvt_replay_mode(flow).
 */
static inline __attribute__((always_inline)) void
rvt_memos_replay(struct rvt_flow *flow, uint64_t pc, enum rvt_replay_mode mode,
		 const struct rvt_memo_adapter *adapter, void *ctx)
{
	struct rvt_memos *memos = rvt_flow_memos(flow);

	do {
		struct rvt_memo_sums sums = memos->sums;
		bool delivered = true, more = true;
		struct rvt_memo *memo;

		while (more && adapter->next(ctx, rvt_memo_cursor_at(flow, pc), &memo)) {
			if (mode == RVT_REPLAY_COUNTS)
				rvt_memos_count(flow, memo);
			if (__builtin_expect(!rvt_memo_sums_add(&sums, memo), 0)) {
				memos->sums = sums;
				rvt_memos_add_up(flow);
				sums = memos->sums;
			}
			if (mode == RVT_REPLAY_RUNS)
				delivered = rvt_memos_collect(flow, memo);
			pc = memo->pc;
			more = adapter->commit(ctx, memo) & delivered;
		}
		memos->sums = sums;
		if (!delivered)
			return;
	} while (adapter->otherwise(ctx, &pc));
}

/* ---- groups ---- */

/* Memos that were applied one after the other, and the key that stands for all of them. */
struct rvt_memo_group {
	struct rvt_memo_key key;
	uint32_t stack_hash;		/* of the memo that is to be made */
	uint32_t hand;			/* as it was before the first was applied */
	unsigned int n;
	const struct rvt_memo *memos[RVT_MEMO_GROUP];	/* NULL: a transient memo */
};

/* A group of @key, yet without memos. None of these will change the return stack. */
static inline struct rvt_memo_group rvt_memo_group_begin(const struct rvt_flow *flow,
							 struct rvt_memo_key key)
{
	return (struct rvt_memo_group){ .key = key, .hand = rvt_flow_memos(flow)->hand };
}

/* The same of any memos, for the key of which a look-up has just found no memo. */
static inline struct rvt_memo_group rvt_memo_group_begin_missed(const struct rvt_flow *flow)
{
	const struct rvt_memos *memos = rvt_flow_memos(flow);

	return (struct rvt_memo_group){
		.key = memos->key, .stack_hash = memos->stack_hash, .hand = memos->hand,
	};
}

/*
 * Makes one memo of @group the second time that it comes, if one can hold it all. Returns the memo,
 * or NULL.
 */
struct rvt_memo *rvt_memos_group(struct rvt_flow *flow, const struct rvt_memo_group *group);

/* ---- speculative walks (walk/speculative.c) ---- */

#define RVT_SPECULATION_OUTCOMES 63

/* An order (struct rvt_order), as far as a speculative walk can do it. */
struct rvt_speculation {
	uint32_t flags;			/* RVT_RUN_* of them that decide where segments lead */
	unsigned int n_outcomes;	/* no more than RVT_SPECULATION_OUTCOMES are taken */
	uint64_t outcomes;		/* the first in bit 0 */
	/*
	 * Behind the last outcome it goes on to an indirect jump, which leads to .target, after
	 * exactly .halfwords; else it ends there. 0: to the first jump that leads nowhere by
	 * itself, without coming to .target before that.
	 */
	bool jumps;
	bool to_branch;			/* or up to the next branch */
	uint64_t halfwords, target;
	uint8_t extra;			/* as in struct rvt_memo */
	uint16_t own;			/* as rvt_memos_keep() has it */
};

/*
 * rvt_speculate - does what was looked up last, and has no memo, in a flow that stands at the pc of
 * rvt_memos_recorded_key(). The second time that the key comes a memo is made of it. Returns what
 * it did as a memo that is good until the next call, already applied (*whole: as rvt_memos_apply()
 * returns). NULL: nothing happened, it must be walked.
 */
struct rvt_memo *rvt_speculate(struct rvt_flow *flow, const struct rvt_speculation *spec,
			       bool *whole);

#endif
