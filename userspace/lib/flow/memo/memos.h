/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memo of steps: what the bytes of one message do to a flow that stands at an address. A protocol
 * decoder that finds the step of a message need neither parse it nor walk. Only for
 * messages that mean the same whenever the same bytes come in the same state: no predictor, no
 * event; of the return stack only what is noted here.
 *
 * What a message leads to may depend on the return stack: then there are several steps of its key,
 * each with the returns that it needs, which are compared when it is taken. All but the first have
 * a hint to what those are, to be found by.
 *
 * A step holds for the code that it was recorded over: flow->meaning, part of the key, names a
 * space and its generation. The code of a step lies in one half (flow/core/blocks.h).
 */
#ifndef RVT_LIB_FLOW_STEPS_H
#define RVT_LIB_FLOW_STEPS_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <rvtrace/flow.h>
#include "flow/core/state.h"

#define RVT_STEP_ENTRIES 131072	/* a power of two */
#define RVT_STEP_SETS 16384	/* a power of two */
#define RVT_STEP_WAYS 8
#define RVT_STEP_GUESS_BITS 16
#define RVT_STEP_GUESSES (1u << RVT_STEP_GUESS_BITS)
#define RVT_STEP_RUNS 255	/* of all it leads through, at most */
#define RVT_STEP_WORDS 252	/* of its way, at most */
#define RVT_STEP_OUTCOMES UINT8_MAX	/* of all branches, at most */
#define RVT_STEP_ROW 8		/* steps that are joined, at most */
#define RVT_STEP_PATH_BYTES (16u << 20)

struct rvt_step_key {
	uint64_t bytes[2];	/* of the message, zeros behind them */
	uint64_t pc;		/* where the flow stands */
	uint64_t address;	/* last address reported */
	uint32_t state;		/* what else the decoder's state is */
	uint32_t meaning;
};

/* What replaying needs: one cache line. */
struct rvt_step {
	_Alignas(64) struct rvt_step_key key;	/* .meaning 0: free */
	uint64_t pc;			/* where the flow stands then */
	uint32_t times;			/* not yet in the counts */
	uint32_t path : 20;		/* the rest: in 16 bytes from the beginning of .paths */
	uint32_t hint : 12;		/* to the return stack; 0: of the first step of its key */
	union {
		struct {
			uint64_t sums : 56;	/* what is executed: RVT_STEP_INSNS, ... */
			uint64_t flags : 4;	/* RVT_STEP_* */
			uint64_t extra : 4;	/* free for the decoder */
		};
		uint64_t word;
	};
};

/* Where numbers are in .sums: 16 bits of insns and halfwords, 8 of the others. */
enum {
	RVT_STEP_INSNS = 0, RVT_STEP_HALFWORDS = 16,
	RVT_STEP_BRANCHES = 32, RVT_STEP_TAKEN = 40, RVT_STEP_INDIRECT = 48,
};

/*
 * Sums of steps: of each byte of rvt_step.word, in 16 bits each; of so many steps that none
 * overflows.
 */
struct rvt_step_sums {
	_Alignas(16) uint64_t lanes[2];	/* see rvt_step_sums_of() */
	struct rvt_step *last;		/* of the steps; NULL: none */
	uint32_t left;			/* more steps that can be added */
};
#define RVT_STEP_SUMS 256	/* steps */
_Static_assert(RVT_STEP_SUMS * UINT8_MAX <= UINT16_MAX, "fits");

enum {
	RVT_STEP_KEEPS_ADDRESS = 1u << 0, /* else the last address reported is .pc */
	RVT_STEP_CALLS = 1u << 1,	/* something happens to the return stack */
	RVT_STEP_ASIDE = 1u << 2,	/* flow/aside.h */
};
_Static_assert(sizeof(struct rvt_step) == 64 && RVT_STEP_PATH_BYTES / 16 <= 1 << 20,
	       "one cache line");

/*
 * What happens to the return stack. In a cache line of its own, by the number of the step: so it
 * can be fetched together with the step.
 */
struct rvt_step_calls {
	_Alignas(64) uint8_t kept[64];	/* a struct rvt_kept_calls, maybe of calls elsewhere */
};

/*
 * The rest. Behind it: what happens to the return stack, if that is too much for a line, and the
 * way: numbers of hops, and RVT_STEP_RUN with a struct rvt_run in the next 4 words where no hop was
 * known.
 */
struct rvt_step_path {
	struct rvt_code_block *last_block;
	uint32_t last_insn;
	uint16_t room;			/* for all that lies behind it, in 16 bytes */
	uint8_t consecutive : 1;
	uint8_t calls : 7;		/* room for them, in 16 bytes */
	uint8_t n_words;		/* of the way */
};
_Static_assert(sizeof(struct rvt_step_path) == 16 && sizeof(struct rvt_run) == 16,
	       "units of paths");

#define RVT_STEP_RUN (1u << 31)		/* no number of a hop has it */
#define RVT_STEP_RUN_WORDS (1 + sizeof(struct rvt_run) / 4)

/*
 * Steps lie in the order in which they were first made, and are found by a small index: memory that
 * is not in a cache is so slow that as little as can be is touched to learn that something is not
 * there. A way of the index has 8 bits of the hash of a key, never 0, and the number of the step.
 */
struct rvt_steps {
	struct rvt_step steps[RVT_STEP_ENTRIES];	/* number 0 is that of a draft */
	uint8_t tags[RVT_STEP_SETS][RVT_STEP_WAYS];	/* 0: free */
	uint32_t numbers[RVT_STEP_SETS][RVT_STEP_WAYS];
	struct rvt_step_calls calls[RVT_STEP_ENTRIES];	/* by number */
	_Alignas(16) uint8_t paths[RVT_STEP_PATH_BYTES];
	size_t n_path;			/* used of it, in 16 bytes */
	/*
	 * Number of a step, above it as many bits as fit of its hash or of what the message's bytes
	 * are. By a message's bytes, and by those of a row of frames (E-Trace) or messages (N-Trace).
	 */
	uint32_t guesses[RVT_STEP_GUESSES];
	uint32_t rows[RVT_STEP_GUESSES];
	uint16_t seen[RVT_STEP_GUESSES];	/* what came once, by the hash of its key */
	uint32_t n_steps;		/* used of .steps; once all are, .hand is the next to go */
	uint32_t hand, turn;
	uint32_t n_counted;
	uint32_t counted[RVT_STEP_ENTRIES];	/* with .times */

	/* being recorded */
	struct rvt_step_key key;
	uint32_t hint;
	bool too_long;			/* more than fits */
	bool leaves_half;		/* what runs in both holds for neither meaning */
	unsigned int n_words, n_runs;
	uint32_t words[RVT_STEP_WORDS];
	struct rvt_flow_stats before;
	struct rvt_calls returns;

	/* of step number 0 */
	const struct rvt_hop_path *draft_end;
	bool draft_consecutive;
	struct rvt_step *draft_kept;	/* that was made of it; NULL: none */

	/* counted since rvt_steps_enter() */
	struct rvt_step_sums sums;
	uint64_t from_pc;
	uint32_t epoch;
};

/*
 * rvt_steps_enter - before steps are looked up: true if they can be. Sets key->pc and .meaning.
 * Between it and rvt_steps_leave() the flow must be touched by rvt_steps_apply() only.
 */
bool rvt_steps_enter(struct rvt_flow *flow, struct rvt_step_key *key);
/* The flow stands where the last step led. */
void rvt_steps_leave(struct rvt_flow *flow);
/*
 * The message of @key is about to be decoded the long way. If it then has led from one state
 * to another without anything that a step cannot hold, rvt_steps_keep() notes it: @address was
 * reported last then, and @extra (0 to 15) is the caller's. A message that comes for the first time
 * is only remembered: most that are new do not come again.
 */
void rvt_steps_record(struct rvt_flow *flow, const struct rvt_step_key *key);
void rvt_steps_keep(struct rvt_flow *flow, uint64_t address, uint8_t extra);
/* The same as rvt_steps_record() for the message of which rvt_steps_take() has just found no step. */
void rvt_steps_record_missed(struct rvt_flow *flow);
/* The same, but nothing is kept. */
void rvt_steps_drop(struct rvt_flow *flow);
/*
 * Of a message that was walked without rvt_steps_record_missed(), although rvt_steps_take() found
 * no step: what it did. The second time that it comes a step is made of it. rvt_steps_draft()
 * returns it as a step that is good until the next call; it is not applied.
 */
struct rvt_step_draft {
	uint64_t pc, sums;		/* as in struct rvt_step */
	uint8_t flags, extra;		/* likewise */
	bool consecutive;
	struct rvt_hop *const *hops;	/* RVT_STEP_WORDS at most, in the half of the key */
	unsigned int n_hops;
};
struct rvt_step *rvt_steps_draft(struct rvt_flow *flow, const struct rvt_step_draft *draft);
/* What was executed, for a step. False: more than fits. */
bool rvt_step_pack(const struct rvt_flow_stats *stats, uint64_t *sums);
/* All of them; none may be left to count. */
void rvt_steps_forget(struct rvt_steps *steps);
/* No step is found any more, nor kept that is being recorded; what they have counted stays. */
void rvt_steps_outdate(struct rvt_steps *steps);
/* Since rvt_steps_enter(): whether what was executed last just went on to where the flow is. */
bool rvt_steps_consecutive(const struct rvt_flow *flow);
/* Whether there is room for another step: else rvt_steps_record() begins anew. */
bool rvt_steps_have_room(const struct rvt_steps *steps);
/* Steps that were taken in a row, and the key that stands for all of them. */
struct rvt_step_row {
	struct rvt_step_key key;
	uint32_t hand;			/* steps->hand before the first was taken */
	unsigned int n;
	const struct rvt_step *steps[RVT_STEP_ROW];	/* NULL: of a draft none was made */
};
/*
 * The second time that @row comes a step is made of it, if one can hold it all. Returns that, or
 * NULL.
 */
struct rvt_step *rvt_steps_join(struct rvt_flow *flow, const struct rvt_step_row *row);
/* .times is about to begin from 0. */
void rvt_steps_begin_times(struct rvt_flow *flow, struct rvt_step *s);
static inline bool rvt_steps_recording(const struct rvt_flow *flow)
{
	return flow->recording;
}

/* What stands for the bytes of a message, and what decides how to read them. */
static inline uint64_t rvt_step_mix(const uint64_t bytes[2], uint32_t head)
{
	const unsigned __int128 x = (unsigned __int128)(bytes[0] + head) *
				    (bytes[1] ^ 0x9e3779b97f4a7c15ull);

	return (uint64_t)x ^ (uint64_t)(x >> 64);
}

/* Where it is noted which step such a message was the last time. */
static inline uint32_t rvt_step_guess(uint64_t mix)
{
	return mix >> (64 - RVT_STEP_GUESS_BITS);
}

/* @mix: rvt_step_mix() of the key's bytes and state. Of the result the upper bits are good. */
static inline uint64_t rvt_step_hash_of(const struct rvt_step_key *key, uint64_t mix)
{
	return ((key->pc + 8 * key->address + key->meaning) ^ mix) * 0xff51afd7ed558ccdull;
}

static inline uint64_t rvt_step_hash(const struct rvt_step_key *key)
{
	return rvt_step_hash_of(key, rvt_step_mix(key->bytes, key->state));
}

/* Above the number in a guess. */
static inline uint32_t rvt_step_tag(uint64_t hash)
{
	return hash >> 32 & ~(RVT_STEP_ENTRIES - 1);
}

static inline struct rvt_step *rvt_step_of(struct rvt_steps *steps, uint32_t entry)
{
	return &steps->steps[entry & (RVT_STEP_ENTRIES - 1)];
}

static inline bool rvt_step_is(const struct rvt_step *s, const struct rvt_step_key *key)
{
	/* Each half of a word by itself: else a word would be read that was just stored as two. */
	return s->key.pc == key->pc && s->key.bytes[0] == key->bytes[0] &&
	       s->key.bytes[1] == key->bytes[1] && s->key.address == key->address &&
	       !((s->key.state ^ key->state) | (s->key.meaning ^ key->meaning));
}

/* The first step of @key, whose hash is @hash, or the joined one. NULL: there is none. */
struct rvt_step *rvt_steps_look_up(struct rvt_steps *steps, const struct rvt_step_key *key,
				   uint64_t hash);

static inline struct rvt_step_path *rvt_step_path(struct rvt_steps *steps, const struct rvt_step *s)
{
	return (struct rvt_step_path *)(steps->paths + 16 * (size_t)s->path);
}

/*
 * Where two tables are asked, .rows first: by the bytes of a message and of the one before, and by
 * its own alone. Both follow from bytes: looking there does not wait for where the flow stands.
 * @mix: of the bytes, of which bits 32 and up are good.
 */
static inline uint32_t rvt_step_row(uint64_t before, uint64_t mix)
{
	return rvt_step_guess((before >> 5) + mix);
}

/* Above the number, and a bit that is clear. */
static inline uint32_t rvt_step_alone_tag(uint64_t mix)
{
	return mix >> 14 & ~(2 * RVT_STEP_ENTRIES - 1);
}

/* The number of the step that a message of @row and @mix was the last time; 0: not known. */
static inline uint32_t rvt_steps_likely(const struct rvt_steps *steps, uint32_t row, uint64_t mix)
{
	const uint32_t tag = rvt_step_alone_tag(mix);
	const uint32_t both = steps->rows[row] ^ tag;
	/* The less likely ones behind the others: which of them is known is hard to foresee. */
	const uint32_t alone = (steps->guesses[rvt_step_guess(mix)] ^ tag) + RVT_STEP_ENTRIES;
	const uint32_t found = both < alone ? both : alone;

	return found & (RVT_STEP_ENTRIES - 1) & -(uint32_t)(found < 2 * RVT_STEP_ENTRIES);
}

/* That was wrong: it was @s. What was right stays, so neither table has more than it needs. */
static inline void rvt_steps_note(struct rvt_steps *steps, uint32_t row, uint64_t mix,
				  const struct rvt_step *s)
{
	const uint32_t entry = rvt_step_alone_tag(mix) | (s - steps->steps);

	steps->rows[row] = entry;
	steps->guesses[rvt_step_guess(mix)] = entry;
}

/* Step @number will be needed. */
static inline void rvt_steps_fetch(const struct rvt_steps *steps, uint32_t number)
{
	__builtin_prefetch(&steps->steps[number]);
	__builtin_prefetch(&steps->calls[number]);
}

/* The set of the index that @hash is looked for in. */
static inline unsigned int rvt_step_set(uint64_t hash)
{
	return hash >> 32 & (RVT_STEP_SETS - 1);
}

/* What came once is noted by the hash of its key. */
static inline uint16_t *rvt_step_seen(struct rvt_steps *steps, uint64_t hash)
{
	return &steps->seen[hash >> 32 & (RVT_STEP_GUESSES - 1)];
}

/* A step of @hash will be looked up, and may well not be there. */
static inline void rvt_steps_fetch_index(struct rvt_steps *steps, uint64_t hash)
{
	__builtin_prefetch(steps->tags[rvt_step_set(hash)]);
	__builtin_prefetch(steps->numbers[rvt_step_set(hash)]);
	__builtin_prefetch(rvt_step_seen(steps, hash));
}

/* Of a step with RVT_STEP_CALLS. */
static inline const struct rvt_kept_calls *rvt_step_calls(struct rvt_steps *steps,
							  const struct rvt_step *s)
{
	return (const struct rvt_kept_calls *)steps->calls[s - steps->steps].kept;
}

static inline uint32_t *rvt_step_way(struct rvt_step_path *path)
{
	return (uint32_t *)(path + 1 + path->calls);
}

/* Whether @s can be taken here: what it does to the return stack is done. */
static inline bool rvt_steps_call(struct rvt_flow *flow, const struct rvt_step *s)
{
	return !(s->flags & RVT_STEP_CALLS) ||
	       rvt_returns_replay(&flow->returns, rvt_step_calls(flow->steps, s));
}

/*
 * Where a guess is wrong: the step of @key that can be taken here; what it does to the return stack
 * is done. NULL: there is none, and nothing has happened. @hash: of the key.
 */
struct rvt_step *rvt_steps_find(struct rvt_flow *flow, const struct rvt_step_key *key, uint64_t hash);
/* The same where @tried, which has the key, cannot be taken. */
struct rvt_step *rvt_steps_find_other(struct rvt_flow *flow, const struct rvt_step *tried);
/* The same with what is found noted for @guess. */
struct rvt_step *rvt_steps_take_missed(struct rvt_flow *flow, struct rvt_step_key key,
				       uint64_t hash, uint32_t guess);
struct rvt_step *rvt_steps_take_other(struct rvt_flow *flow, const struct rvt_step *tried,
				      uint64_t hash, uint32_t guess);

/*
 * The step of @key that can be taken here: what it does to the return stack is done. NULL: there is
 * none, and nothing has happened. @hash: of the key; @guess: of the message.
 */
static inline struct rvt_step *rvt_steps_take(struct rvt_flow *flow, const struct rvt_step_key *key,
					      uint64_t hash, uint32_t guess)
{
	const uint32_t entry = flow->steps->guesses[guess];
	struct rvt_step *s = rvt_step_of(flow->steps, entry);

	/* Memory that is in no cache must not be touched in vain. */
	if ((entry & ~(RVT_STEP_ENTRIES - 1)) == rvt_step_tag(hash) && rvt_step_is(s, key))
		return rvt_steps_call(flow, s) ? s : rvt_steps_take_other(flow, s, hash, guess);
	/* One by one: so the caller's key need not be in memory before. */
	return rvt_steps_take_missed(flow, (struct rvt_step_key){
		{ key->bytes[0], key->bytes[1] }, key->pc, key->address, key->state, key->meaning,
	}, hash, guess);
}

/* The address reported last, after the step from one where that was @address. */
static inline uint64_t rvt_step_address(const struct rvt_step *s, uint64_t address)
{
	return s->flags & RVT_STEP_KEEPS_ADDRESS ? address : s->pc;
}

/* @s was taken: the key of what comes next, as far as it does not depend on the bytes. */
static inline void rvt_steps_advance(const struct rvt_flow *flow, const struct rvt_step *s,
				     struct rvt_step_key *key)
{
	key->pc = s->pc;
	key->address = rvt_step_address(s, key->address);
	key->meaning = flow->meaning[rvt_half(s->pc)];
}

/* The runs of a path go to the batch, which has room for them. */
static inline void rvt_steps_collect(struct rvt_flow *flow, struct rvt_step_path *path)
{
	const uint32_t *word = rvt_step_way(path), *end = word + path->n_words;

	while (word < end) {
		if (*word & RVT_STEP_RUN) {
			__builtin_memcpy(&flow->runs[flow->n_runs++], word + 1,
					 sizeof(struct rvt_run));
			word += RVT_STEP_RUN_WORDS;
		} else {
			rvt_flow_collect_hop(flow, rvt_hop_at(flow->hops, *word++));
		}
	}
}

static inline void rvt_steps_count(struct rvt_flow *flow, struct rvt_step *s)
{
	/* The first time, and before no more fits. */
	if (__builtin_expect((int32_t)s->times <= 0, 0))
		rvt_steps_begin_times(flow, s);
	s->times++;
}

/* What was added up is in the statistics, and adding up begins anew. */
void rvt_steps_add_up(struct rvt_flow *flow);

/* Returns whether there is room for more. */
static inline bool rvt_step_sums_add(struct rvt_step_sums *to, struct rvt_step *s)
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
static inline unsigned int rvt_step_sums_of(const struct rvt_step_sums *sums, unsigned int i)
{
#ifdef __SSE2__
	return sums->lanes[i / 4] >> i % 4 * 16 & UINT16_MAX;
#else
	return sums->lanes[i % 2] >> i / 2 * 16 & UINT16_MAX;
#endif
}

static inline void rvt_steps_add(struct rvt_flow *flow, struct rvt_step *s)
{
	if (__builtin_expect(!rvt_step_sums_add(&flow->steps->sums, s), 0))
		rvt_steps_add_up(flow);
}

static inline unsigned int rvt_step_halfwords(const struct rvt_step *s)
{
	return s->sums >> RVT_STEP_HALFWORDS & 0xffff;
}

/* False: delivering went wrong, or mappings changed. */
static inline bool rvt_steps_deliver_full(struct rvt_flow *flow)
{
	return flow->n_runs < RVT_FLOW_BATCH ||
	       (!rvt_flow_deliver(flow) && flow->epochs[0] == flow->steps->epoch);
}

/* The step is taken, and no runs are delivered. */
static inline void rvt_steps_apply_counting(struct rvt_flow *flow, struct rvt_step *s)
{
	rvt_steps_add(flow, s);
	rvt_steps_count(flow, s);
}

/* The step is taken. False: delivering went wrong, or mappings changed: rvt_steps_leave() now. */
static inline bool rvt_steps_apply(struct rvt_flow *flow, struct rvt_step *s)
{
	if (flow->counts) {
		rvt_steps_apply_counting(flow, s);
		return true;
	}
	rvt_steps_add(flow, s);
	if (flow->collect) {
		rvt_steps_collect(flow, rvt_step_path(flow->steps, s));
		return rvt_steps_deliver_full(flow);
	}
	return true;
}

#endif
