/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Message memos: what the bytes of one message do to a flow that stands at an address. A protocol
 * decoder that finds the memo of a message need neither parse it nor walk. Only for
 * messages that mean the same whenever the same bytes come in the same state: no predictor, no
 * event; of the return stack only what is noted here.
 *
 * What a message leads to may depend on the return stack: then there are several memos of its key,
 * each with the returns that it needs, which are compared when it is taken. All but the first have
 * a stack hash to what those are, to be found by.
 *
 * A memo holds for the code that it was recorded over: flow->mapping_id, part of the key, names a
 * space and its generation. The code of a memo lies in one half (flow/core/blocks.h).
 */
#ifndef RVT_LIB_FLOW_MEMOS_H
#define RVT_LIB_FLOW_MEMOS_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <rvtrace/flow.h>
#include "flow/core/state.h"

#define RVT_MEMO_ENTRIES 131072	/* a power of two */
#define RVT_MEMO_SETS 16384	/* a power of two */
#define RVT_MEMO_WAYS 8
#define RVT_PREDICTOR_BITS 16
#define RVT_PREDICTOR_ENTRIES (1u << RVT_PREDICTOR_BITS)
#define RVT_MEMO_OUTCOMES UINT8_MAX	/* of all branches, at most */
#define RVT_MEMO_GROUP 8	/* memos that are joined, at most */
#define RVT_MEMO_PATH_BYTES (16u << 20)

struct rvt_memo_key {
	uint64_t bytes[2];	/* of the message, zeros behind them */
	uint64_t pc;		/* where the flow stands */
	uint64_t address;	/* last address reported */
	uint32_t state;		/* what else the decoder's state is */
	uint32_t mapping_id;
};

/* What replaying needs: one cache line. */
struct rvt_memo {
	_Alignas(64) struct rvt_memo_key key;	/* .mapping_id 0: free */
	uint64_t pc;			/* where the flow stands then */
	uint32_t times;			/* not yet in the counts */
	uint32_t path : 20;		/* the rest: in 16 bytes from the beginning of .paths */
	uint32_t stack_hash : 12;	/* to the return stack; 0: of the first memo of its key */
	union {
		struct {
			uint64_t sums : 56;	/* what is executed: RVT_MEMO_INSNS, ... */
			uint64_t flags : 4;	/* RVT_MEMO_* */
			uint64_t extra : 4;	/* free for the decoder */
		};
		uint64_t word;
	};
};

/* Where numbers are in .sums: 16 bits of insns and halfwords, 8 of the others. */
enum {
	RVT_MEMO_INSNS = 0, RVT_MEMO_HALFWORDS = 16,
	RVT_MEMO_BRANCHES = 32, RVT_MEMO_TAKEN = 40, RVT_MEMO_INDIRECT = 48,
};

/*
 * Sums of memos: of each byte of rvt_memo.word, in 16 bits each; of so many memos that none
 * overflows.
 */
struct rvt_memo_sums {
	_Alignas(16) uint64_t lanes[2];	/* see rvt_memo_sums_of() */
	struct rvt_memo *last;		/* of the memos; NULL: none */
	uint32_t left;			/* more memos that can be added */
};
#define RVT_MEMO_SUMS 256	/* memos */
_Static_assert(RVT_MEMO_SUMS * UINT8_MAX <= UINT16_MAX, "fits");

enum {
	RVT_MEMO_KEEPS_ADDRESS = 1u << 0, /* else the last address reported is .pc */
	RVT_MEMO_DELTA = 1u << 1,	/* something happens to the return stack */
	RVT_MEMO_DEFERRED = 1u << 2,	/* flow/count/deferred.h */
};
_Static_assert(sizeof(struct rvt_memo) == 64 && RVT_MEMO_PATH_BYTES / 16 <= 1 << 20,
	       "one cache line");

/*
 * What happens to the return stack. In a cache line of its own, by the number of the memo: so it
 * can be fetched together with the memo.
 */
struct rvt_memo_delta {
	_Alignas(64) uint8_t kept[64];	/* a struct rvt_kept_delta, maybe of calls elsewhere */
};

/*
 * The rest. Behind it: what happens to the return stack, if that is too much for a line, and the
 * way: numbers of segments, and RVT_BODY_RUN with a struct rvt_run in the next 4 words where no
 * segment was known.
 */
struct rvt_memo_path {
	struct rvt_code_block *last_block;
	uint32_t last_insn;
	uint16_t room;			/* for all that lies behind it, in 16 bytes */
	uint8_t consecutive : 1;
	uint8_t delta : 7;		/* room for them, in 16 bytes */
	uint8_t n_words;		/* of the way */
};
_Static_assert(sizeof(struct rvt_memo_path) == 16 && sizeof(struct rvt_run) == 16,
	       "units of paths");

/*
 * Memos lie in the order in which they were first made, and are found by a small index: memory that
 * is not in a cache is so slow that as little as can be is touched to learn that something is not
 * there. A way of the index has 8 bits of the hash of a key, never 0, and the number of the memo.
 */
struct rvt_memos {
	struct rvt_memo memos[RVT_MEMO_ENTRIES];	/* number 0 is that of a draft */
	uint8_t tags[RVT_MEMO_SETS][RVT_MEMO_WAYS];	/* 0: free */
	uint32_t numbers[RVT_MEMO_SETS][RVT_MEMO_WAYS];
	struct rvt_memo_delta delta[RVT_MEMO_ENTRIES];	/* by number */
	_Alignas(16) uint8_t paths[RVT_MEMO_PATH_BYTES];
	size_t n_path;			/* used of it, in 16 bytes */
	/*
	 * Number of a memo, above it as many bits as fit of its hash or of what the message's bytes
	 * are. By a message's bytes, and by those of a row of frames (E-Trace) or messages
	 * (N-Trace).
	 */
	uint32_t predictor[RVT_PREDICTOR_ENTRIES];
	uint32_t pair_predictor[RVT_PREDICTOR_ENTRIES];
	uint16_t seen[RVT_PREDICTOR_ENTRIES];	/* what came once, by the hash of its key */
	uint32_t n_memos;		/* used of .memos; once all are, .hand is the next to go */
	uint32_t hand, turn;
	uint32_t n_counted;
	uint32_t counted[RVT_MEMO_ENTRIES];	/* with .times */

	/* being recorded */
	struct rvt_memo_key key;
	uint32_t stack_hash;
	struct rvt_flow_stats before;
	struct rvt_stack_delta returns;

	/* of memo number 0 */
	const struct rvt_segment_path *transient_end;
	bool transient_consecutive;
	struct rvt_memo *transient_kept;	/* that was made of it; NULL: none */

	/* counted since rvt_memos_enter() */
	struct rvt_memo_sums sums;
	uint64_t from_pc;
	uint32_t mapping_epoch;
};

/*
 * rvt_memos_enter - before memos are looked up: true if they can be. Sets key->pc and .mapping_id.
 * Between it and rvt_memos_leave() the flow must be touched by rvt_memos_apply() only.
 */
bool rvt_memos_enter(struct rvt_flow *flow, struct rvt_memo_key *key);
/* The flow stands where the last memo led. */
void rvt_memos_leave(struct rvt_flow *flow);
/*
 * The message of @key is about to be decoded the long way. If it then has led from one state
 * to another without anything that a memo cannot hold, rvt_memos_keep() notes it: @address was
 * reported last then, and @extra (0 to 15) is the caller's. A message that comes for the first time
 * is only remembered: most that are new do not come again.
 */
void rvt_memos_record(struct rvt_flow *flow, const struct rvt_memo_key *key);
void rvt_memos_keep(struct rvt_flow *flow, uint64_t address, uint8_t extra);
/*
 * The same as rvt_memos_record() for the message of which rvt_memos_take() has just found no memo.
 */
void rvt_memos_record_missed(struct rvt_flow *flow);
/* The same, but nothing is kept. */
void rvt_memos_drop(struct rvt_flow *flow);
/*
 * Of a message that was walked without rvt_memos_record_missed(), although rvt_memos_take() found
 * no memo: what it did. The second time that it comes a memo is made of it. rvt_memos_transient()
 * returns it as a memo that is good until the next call; it is not applied.
 */
struct rvt_transient_memo {
	uint64_t pc, sums;		/* as in struct rvt_memo */
	uint8_t flags, extra;		/* likewise */
	bool consecutive;
	struct rvt_segment *const *segments;	/* RVT_BODY_WORDS at most, in the half of the key */
	unsigned int n_segments;
};
struct rvt_memo *rvt_memos_transient(struct rvt_flow *flow,
				     const struct rvt_transient_memo *transient);
/* What was executed, for a memo. False: more than fits. */
bool rvt_memo_pack(const struct rvt_flow_stats *stats, uint64_t *sums);
/* All of them; none may be left to count. */
void rvt_memos_forget(struct rvt_memos *memos);
/* No memo is found any more, nor kept that is being recorded; what they have counted stays. */
void rvt_memos_invalidate(struct rvt_memos *memos);
/* Since rvt_memos_enter(): whether what was executed last just went on to where the flow is. */
bool rvt_memos_consecutive(const struct rvt_flow *flow);
/* Whether there is room for another memo: else rvt_memos_record() begins anew. */
bool rvt_memos_have_room(const struct rvt_memos *memos);
/* Memos that were taken in a row, and the key that stands for all of them. */
struct rvt_memo_group {
	struct rvt_memo_key key;
	uint32_t hand;			/* memos->hand before the first was taken */
	unsigned int n;
	const struct rvt_memo *memos[RVT_MEMO_GROUP];	/* NULL: of a draft none was made */
};
/*
 * The second time that @group comes a memo is made of it, if one can hold it all. Returns that, or
 * NULL.
 */
struct rvt_memo *rvt_memos_group(struct rvt_flow *flow, const struct rvt_memo_group *group);
/* .times is about to begin from 0. */
void rvt_memos_begin_times(struct rvt_flow *flow, struct rvt_memo *s);
static inline bool rvt_memos_recording(const struct rvt_flow *flow)
{
	return flow->recording;
}

/* What stands for the bytes of a message, and what decides how to read them. */
static inline uint64_t rvt_memo_mix(const uint64_t bytes[2], uint32_t head)
{
	const unsigned __int128 x = (unsigned __int128)(bytes[0] + head) *
				    (bytes[1] ^ 0x9e3779b97f4a7c15ull);

	return (uint64_t)x ^ (uint64_t)(x >> 64);
}

/* Where it is noted which memo such a message was the last time. */
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

/* Above the number in a guess. */
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

static inline struct rvt_memo_path *rvt_memo_path(struct rvt_memos *memos, const struct rvt_memo *s)
{
	return (struct rvt_memo_path *)(memos->paths + 16 * (size_t)s->path);
}

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

/* That was wrong: it was @s. What was right stays, so neither table has more than it needs. */
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

static inline uint32_t *rvt_memo_body(struct rvt_memo_path *path)
{
	return (uint32_t *)(path + 1 + path->delta);
}

/* Whether @s can be taken here: what it does to the return stack is done. */
static inline bool rvt_memos_apply_delta(struct rvt_flow *flow, const struct rvt_memo *s)
{
	return !(s->flags & RVT_MEMO_DELTA) ||
	       rvt_returns_apply(&flow->returns, rvt_memo_delta(flow->memos, s));
}

/*
 * Where a guess is wrong: the memo of @key that can be taken here; what it does to the return stack
 * is done. NULL: there is none, and nothing has happened. @hash: of the key.
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
	const uint32_t entry = flow->memos->predictor[slot];
	struct rvt_memo *s = rvt_memo_of(flow->memos, entry);

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
	key->mapping_id = flow->mapping_id[rvt_va_half(s->pc)];
}

/* The runs of a path go to the batch, which has room for them. */
static inline void rvt_memos_collect(struct rvt_flow *flow, struct rvt_memo_path *path)
{
	const uint32_t *word = rvt_memo_body(path), *end = word + path->n_words;

	while (word < end) {
		if (*word & RVT_BODY_RUN) {
			__builtin_memcpy(&flow->runs[flow->n_runs++], word + 1,
					 sizeof(struct rvt_run));
			word += RVT_BODY_RUN_WORDS;
		} else {
			rvt_flow_collect_segment(flow, rvt_segment_at(flow->segments, *word++));
		}
	}
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
	if (__builtin_expect(!rvt_memo_sums_add(&flow->memos->sums, s), 0))
		rvt_memos_add_up(flow);
}

static inline unsigned int rvt_memo_halfwords(const struct rvt_memo *s)
{
	return s->sums >> RVT_MEMO_HALFWORDS & 0xffff;
}

/* False: delivering went wrong, or mappings changed. */
static inline bool rvt_memos_deliver_full(struct rvt_flow *flow)
{
	return flow->n_runs < RVT_FLOW_BATCH ||
	       (!rvt_flow_deliver(flow) && flow->mapping_epochs[0] == flow->memos->mapping_epoch);
}

/* The memo is taken, and no runs are delivered. */
static inline void rvt_memos_apply_counting(struct rvt_flow *flow, struct rvt_memo *s)
{
	rvt_memos_add(flow, s);
	rvt_memos_count(flow, s);
}

/* The memo is taken. False: delivering went wrong, or mappings changed: rvt_memos_leave() now. */
static inline bool rvt_memos_apply(struct rvt_flow *flow, struct rvt_memo *s)
{
	if (flow->counts) {
		rvt_memos_apply_counting(flow, s);
		return true;
	}
	rvt_memos_add(flow, s);
	if (flow->collect) {
		rvt_memos_collect(flow, rvt_memo_path(flow->memos, s));
		return rvt_memos_deliver_full(flow);
	}
	return true;
}

#endif
