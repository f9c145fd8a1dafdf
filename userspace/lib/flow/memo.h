/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Message memos as protocol decoders use them: looking up, applying and recording. What a memo is
 * is in flow/core/memo.h. Decoders see nothing else of a flow but this and rvtrace/flow.h.
 */
#ifndef RVT_LIB_FLOW_MEMO_H
#define RVT_LIB_FLOW_MEMO_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <rvtrace/flow.h>
#include "flow/core/memo.h"

static inline struct rvt_flow_base *rvt_flow_base(const struct rvt_flow *flow)
{
	return (struct rvt_flow_base *)flow;
}

/* What the sink returned, once that is not 0. */
int rvt_flow_result(const struct rvt_flow *flow);
/* Whether the last instruction executed just went on to where the flow is. */
bool rvt_flow_is_consecutive(const struct rvt_flow *flow);

/*
 * rvt_memos_enter - starts replaying. Sets key->pc and key->mapping_id to where the flow stands.
 * Returns false when the flow cannot replay: it has no pc, the sink returned an error, the
 * configuration asks for the reference walk, or there is no memory. Until rvt_memos_leave() the
 * caller touches the flow only by the functions of this header.
 */
bool rvt_memos_enter(struct rvt_flow *flow, struct rvt_memo_key *key);
/* Ends replaying: the flow stands where the last memo led. */
void rvt_memos_leave(struct rvt_flow *flow);
/*
 * rvt_memos_record - starts recording: the caller is about to decode the message of @key the long
 * way. The first time that a key comes it is only noted; nothing is recorded then.
 * rvt_memos_record_missed - the same for the message of which a look-up has just found no memo.
 * rvt_memos_recording - whether recording is in progress. rvt_memos_keep - the message was decoded:
 * makes a memo of it, unless it did something that a memo cannot hold. @address: the last address
 * that the trace has reported; @extra: the caller's, 0 to 15. rvt_memos_drop - ends recording
 * without a memo.
 */
void rvt_memos_record(struct rvt_flow *flow, const struct rvt_memo_key *key);
void rvt_memos_record_missed(struct rvt_flow *flow);
bool rvt_memos_recording(const struct rvt_flow *flow);
void rvt_memos_keep(struct rvt_flow *flow, uint64_t address, uint8_t extra);
void rvt_memos_drop(struct rvt_flow *flow);
/* Memos that were applied one after the other, and the key that stands for all of them. */
struct rvt_memo_group {
	struct rvt_memo_key key;
	uint32_t hand;			/* memos->hand before the first was applied */
	unsigned int n;
	const struct rvt_memo *memos[RVT_MEMO_GROUP];	/* NULL: a transient memo */
};
/*
 * Makes one memo of @group the second time that it comes, if one can hold it all. Returns the memo,
 * or NULL.
 */
struct rvt_memo *rvt_memos_group(struct rvt_flow *flow, const struct rvt_memo_group *group);
/* The flow counts, and @s->times is about to leave 0, or full. (count/expand.c) */
void rvt_memos_begin_times(struct rvt_flow *flow, struct rvt_memo *s);

/* What stands for the bytes of a message, and what decides how to read them. */
static inline uint64_t rvt_memo_mix(const uint64_t bytes[2], uint32_t head)
{
	const unsigned __int128 x = (unsigned __int128)(bytes[0] + head) *
				    (bytes[1] ^ 0x9e3779b97f4a7c15ull);

	return (uint64_t)x ^ (uint64_t)(x >> 64);
}

/* The entry of the predictor for such a message. */
static inline uint32_t rvt_predictor_slot(uint64_t mix)
{
	return mix >> (64 - RVT_PREDICTOR_BITS);
}

/* @mix: rvt_memo_mix() of the key's bytes and state. Of the result the upper bits are good. */
static inline uint64_t rvt_memo_hash_of(const struct rvt_memo_key *key, uint64_t mix)
{
	return ((key->pc + 8 * key->address + key->mapping_id) ^ mix) * 0xff51afd7ed558ccdull;
}

static inline uint64_t rvt_memo_hash(const struct rvt_memo_key *key)
{
	return rvt_memo_hash_of(key, rvt_memo_mix(key->bytes, key->state));
}

/* Above the number in an entry of the predictor. */
static inline uint32_t rvt_memo_tag(uint64_t hash)
{
	return hash >> 32 & ~(RVT_MEMO_ENTRIES - 1);
}

static inline struct rvt_memo *rvt_memo_of(struct rvt_memos *memos, uint32_t entry)
{
	return &memos->memos[entry & (RVT_MEMO_ENTRIES - 1)];
}

static inline bool rvt_memo_is(const struct rvt_memo *s, const struct rvt_memo_key *key)
{
	/* Each half of a word by itself: else a word would be read that was just stored as two. */
	return s->key.pc == key->pc && s->key.bytes[0] == key->bytes[0] &&
	       s->key.bytes[1] == key->bytes[1] && s->key.address == key->address &&
	       !((s->key.state ^ key->state) | (s->key.mapping_id ^ key->mapping_id));
}

/* The first memo of @key, whose hash is @hash, or the joined one. NULL: there is none. */
struct rvt_memo *rvt_memos_look_up(struct rvt_memos *memos, const struct rvt_memo_key *key,
				   uint64_t hash);

/*
 * Where two tables are asked, .pair_predictor first: by the bytes of a message and of the one
 * before, and by its own alone. Both follow from bytes: looking there does not wait for where the
 * flow stands. @mix: of the bytes, of which bits 32 and up are good.
 */
static inline uint32_t rvt_pair_predictor_slot(uint64_t before, uint64_t mix)
{
	return rvt_predictor_slot((before >> 5) + mix);
}

/* Above the number, and a bit that is clear. */
static inline uint32_t rvt_predictor_tag(uint64_t mix)
{
	return mix >> 14 & ~(2 * RVT_MEMO_ENTRIES - 1);
}

/* The number of the memo that a message of @row and @mix was the last time; 0: not known. */
static inline uint32_t rvt_memos_predict(const struct rvt_memos *memos, uint32_t row, uint64_t mix)
{
	const uint32_t tag = rvt_predictor_tag(mix);
	const uint32_t both = memos->pair_predictor[row] ^ tag;
	/* The less likely ones behind the others: which of them is known is hard to foresee. */
	const uint32_t alone = (memos->predictor[rvt_predictor_slot(mix)] ^ tag) + RVT_MEMO_ENTRIES;
	const uint32_t found = both < alone ? both : alone;

	return found & (RVT_MEMO_ENTRIES - 1) & -(uint32_t)(found < 2 * RVT_MEMO_ENTRIES);
}

/*
 * The prediction was wrong, the memo is @s. Only then predictors are written: so none has an entry
 * that another one predicts as well.
 */
static inline void rvt_memos_train(struct rvt_memos *memos, uint32_t row, uint64_t mix,
				   const struct rvt_memo *s)
{
	const uint32_t entry = rvt_predictor_tag(mix) | (s - memos->memos);

	memos->pair_predictor[row] = entry;
	memos->predictor[rvt_predictor_slot(mix)] = entry;
}

/* Memo @number will be needed. */
static inline void rvt_memos_fetch(const struct rvt_memos *memos, uint32_t number)
{
	__builtin_prefetch(&memos->memos[number]);
	__builtin_prefetch(&memos->delta[number]);
}

/* The set of the index that @hash is looked for in. */
static inline unsigned int rvt_memo_set(uint64_t hash)
{
	return hash >> 32 & (RVT_MEMO_SETS - 1);
}

/* What came once is noted by the hash of its key. */
static inline uint16_t *rvt_admission_slot(struct rvt_memos *memos, uint64_t hash)
{
	return &memos->seen[hash >> 32 & (RVT_PREDICTOR_ENTRIES - 1)];
}

/* A memo of @hash will be looked up, and may well not be there. */
static inline void rvt_memos_fetch_index(struct rvt_memos *memos, uint64_t hash)
{
	__builtin_prefetch(memos->tags[rvt_memo_set(hash)]);
	__builtin_prefetch(memos->numbers[rvt_memo_set(hash)]);
	__builtin_prefetch(rvt_admission_slot(memos, hash));
}

/* Of a memo with RVT_MEMO_DELTA. */
static inline const struct rvt_kept_delta *rvt_memo_delta(struct rvt_memos *memos,
							  const struct rvt_memo *s)
{
	return (const struct rvt_kept_delta *)memos->delta[s - memos->memos].kept;
}

/* Whether @s can be taken here: what it does to the return stack is done. */
static inline bool rvt_memos_apply_delta(struct rvt_flow *flow, const struct rvt_memo *s)
{
	return !(s->flags & RVT_MEMO_DELTA) ||
	       rvt_returns_apply(&rvt_flow_base(flow)->returns,
				 rvt_memo_delta(rvt_flow_base(flow)->memos, s));
}

/*
 * After a wrong prediction: the memo of @key that can be applied here; what it does to the return
 * stack is done. NULL: there is none, and nothing has happened. @hash: of the key.
 */
struct rvt_memo *rvt_memos_find(struct rvt_flow *flow, const struct rvt_memo_key *key,
				uint64_t hash);
/* The same where @tried, which has the key, cannot be taken. */
struct rvt_memo *rvt_memos_find_other(struct rvt_flow *flow, const struct rvt_memo *tried);
/* The same with what is found noted for @slot. */
struct rvt_memo *rvt_memos_take_missed(struct rvt_flow *flow, struct rvt_memo_key key,
				       uint64_t hash, uint32_t slot);
struct rvt_memo *rvt_memos_take_other(struct rvt_flow *flow, const struct rvt_memo *tried,
				      uint64_t hash, uint32_t slot);

/*
 * The memo of @key that can be taken here: what it does to the return stack is done. NULL: there is
 * none, and nothing has happened. @hash: of the key; @slot: of the message.
 */
static inline struct rvt_memo *rvt_memos_take(struct rvt_flow *flow, const struct rvt_memo_key *key,
					      uint64_t hash, uint32_t slot)
{
	const uint32_t entry = rvt_flow_base(flow)->memos->predictor[slot];
	struct rvt_memo *s = rvt_memo_of(rvt_flow_base(flow)->memos, entry);

	/* Memory that is in no cache must not be touched in vain. */
	if ((entry & ~(RVT_MEMO_ENTRIES - 1)) == rvt_memo_tag(hash) && rvt_memo_is(s, key))
		return rvt_memos_apply_delta(flow, s) ? s :
							rvt_memos_take_other(flow, s, hash, slot);
	/* One by one: so the caller's key need not be in memory before. */
	return rvt_memos_take_missed(flow,
				     (struct rvt_memo_key){
					     { key->bytes[0], key->bytes[1] },
					     key->pc,
					     key->address,
					     key->state,
				     key->mapping_id,
				     },
				     hash, slot);
}

/* The address reported last, after the memo from one where that was @address. */
static inline uint64_t rvt_memo_address(const struct rvt_memo *s, uint64_t address)
{
	return s->flags & RVT_MEMO_KEEPS_ADDRESS ? address : s->pc;
}

/* @s was taken: the key of what comes next, as far as it does not depend on the bytes. */
static inline void rvt_memos_advance(const struct rvt_flow *flow, const struct rvt_memo *s,
				     struct rvt_memo_key *key)
{
	key->pc = s->pc;
	key->address = rvt_memo_address(s, key->address);
	key->mapping_id = rvt_flow_base(flow)->mapping_id[rvt_va_half(s->pc)];
}

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
	if (__builtin_expect(!rvt_memo_sums_add(&rvt_flow_base(flow)->memos->sums, s), 0))
		rvt_memos_add_up(flow);
}

static inline unsigned int rvt_memo_halfwords(const struct rvt_memo *s)
{
	return s->sums >> RVT_MEMO_HALFWORDS & 0xffff;
}

/* The runs of @s are delivered. False: that went wrong, or mappings changed. */
bool rvt_memos_collect(struct rvt_flow *flow, const struct rvt_memo *s);

/* The memo is taken, and no runs are delivered. */
static inline void rvt_memos_apply_counting(struct rvt_flow *flow, struct rvt_memo *s)
{
	rvt_memos_add(flow, s);
	rvt_memos_count(flow, s);
}

/* The memo is taken. False: delivering went wrong, or mappings changed: rvt_memos_leave() now. */
static inline bool rvt_memos_apply(struct rvt_flow *flow, struct rvt_memo *s)
{
	if (rvt_flow_base(flow)->counts) {
		rvt_memos_apply_counting(flow, s);
		return true;
	}
	rvt_memos_add(flow, s);
	return !rvt_flow_base(flow)->collect || rvt_memos_collect(flow, s);
}

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
};

/*
 * rvt_speculate - does what the message says of which rvt_memos_take() has just found no memo, in
 * a flow that stands at flow->memos->key.pc. The second time that it comes a memo is made of it.
 * Returns what it did as a memo that is good until the next call, already applied (*whole: as
 * rvt_memos_apply() returns). NULL: nothing happened, the message must be walked.
 */
struct rvt_memo *rvt_speculate(struct rvt_flow *flow, const struct rvt_speculation *spec,
			       bool *whole);

#endif
