/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: the layout of memos. A memo says what some bytes of trace do to a flow
 * that stands at an address, so that they need neither be parsed nor walked. Only what follows from
 * the key, the return stack and the encoder's branch predictor becomes a memo: no event.
 *
 * What bytes lead to may depend on the return stack. Then several memos have their key; each stores
 * the return addresses that it pops, and applies only where these are on the stack. Alternatives
 * after the first store a hash of these addresses; lookup uses it.
 *
 * A memo holds for the code that it was recorded over: the mapping id in its key names a space and
 * its generation. The code of a memo lies in one VA half (flow/core/blocks.h).
 */
#ifndef RVT_LIB_FLOW_CORE_MEMO_H
#define RVT_LIB_FLOW_CORE_MEMO_H

#include "flow/core/body.h"
#include "flow/core/predictions.h"
#include "flow/core/return-stack.h"

#define RVT_MEMO_ENTRIES 131072	/* a power of two */
#define RVT_MEMO_SETS 16384	/* a power of two */
#define RVT_MEMO_WAYS 8
#define RVT_PREDICTOR_BITS 16
#define RVT_PREDICTOR_ENTRIES (1u << RVT_PREDICTOR_BITS)
#define RVT_MEMO_OUTCOMES UINT8_MAX	/* of all branches, at most */
#define RVT_MEMO_GROUP 8	/* memos of a group, at most */
#define RVT_MEMO_PATH_BYTES (16u << 20)
#define RVT_MEMO_EFFECTS 64	/* entries of the branch predictor, at most */

/* What decides what bytes of trace do: all but the return stack. */
struct rvt_memo_key {
	uint64_t bytes[2];	/* of the trace, zeros behind them */
	uint64_t pc;		/* where the flow stands */
	uint64_t address;	/* last address that the trace reported */
	uint32_t state;		/* what else of the decoder's state decides */
	uint32_t mapping_id;
};

/* What applying a memo needs: one cache line. */
struct rvt_memo {
	_Alignas(64) struct rvt_memo_key key;	/* .mapping_id 0: free */
	uint64_t pc;			/* where the flow stands then */
	uint32_t times;			/* applied so often, not yet in the counts */
	uint32_t path : 20;		/* index of its path in .paths, in units of 16 bytes */
	uint32_t stack_hash : 12;	/* 0: the first memo of its key */
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
	RVT_MEMO_HAS_EFFECTS = 1u << 3,	/* struct rvt_memo_effects */
};
_Static_assert(sizeof(struct rvt_memo) == 64 && RVT_MEMO_PATH_BYTES / 16 <= 1 << 20,
	       "one cache line");

/*
 * What a memo does to the return stack. A cache line of its own at the number of the memo, so that
 * it can be prefetched together with the memo.
 */
struct rvt_memo_delta {
	_Alignas(64) uint8_t kept[64];	/* a struct rvt_kept_delta, maybe of calls elsewhere */
};

/*
 * What a memo does to the encoder's branch predictor, and where that lets it apply. Each entry of
 * the predictor that branches of the memo have is there once: its number, what becomes of it
 * (flow/core/predictions.h), and a bit for each old value from which the memo applies.
 */
struct rvt_memo_effects {
	uint8_t n;
	bool conditional;		/* some entry has not all bits */
	uint16_t own;			/* the decoder's; 0: nothing */
	uint32_t entries[];		/* RVT_EFFECT_* */
};

enum { RVT_EFFECT_MAP = 16, RVT_EFFECT_HOLDS = 24 };
#define RVT_EFFECT_NUMBER 0xffffu

/*
 * The rest. Behind it: what happens to the return stack, if that is too much for a line, the body
 * (flow/core/body.h), and the effects of RVT_MEMO_HAS_EFFECTS.
 */
struct rvt_memo_path {
	struct rvt_code_block *last_block;
	uint32_t last_insn;
	uint16_t room;			/* for all that lies behind it, in 16 bytes */
	uint8_t consecutive : 1;
	uint8_t delta : 7;		/* room for them, in 16 bytes */
	uint8_t n_words;		/* of the body */
};
_Static_assert(sizeof(struct rvt_memo_path) == 16 && sizeof(struct rvt_run) == 16,
	       "units of paths");

/*
 * Memos lie in the order in which they were made. A small index finds them: a look-up that fails
 * should touch as little memory as possible. A way of the index has 8 bits of the hash of a key,
 * never 0, and the number of the memo.
 */
struct rvt_memos {
	struct rvt_memo memos[RVT_MEMO_ENTRIES];	/* number 0: the transient memo */
	uint8_t tags[RVT_MEMO_SETS][RVT_MEMO_WAYS];	/* 0: free */
	uint32_t numbers[RVT_MEMO_SETS][RVT_MEMO_WAYS];
	struct rvt_memo_delta delta[RVT_MEMO_ENTRIES];	/* by number */
	_Alignas(16) uint8_t paths[RVT_MEMO_PATH_BYTES];
	size_t n_path;			/* used of it, in 16 bytes */
	/*
	 * The predictor is indexed by a key's bytes. An entry has the number of a memo, and above
	 * it as many bits as fit of the key's hash, or of a hash of its bytes.
	 */
	uint32_t predictor[RVT_PREDICTOR_ENTRIES];
	uint32_t own_predictor[RVT_PREDICTOR_ENTRIES];	/* the decoder's; see flow/memo.h */
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
	/* a struct rvt_memo_effects: rvt_memo_recorded_effects() */
	_Alignas(struct rvt_memo_effects) uint8_t effects[4 * (1 + RVT_MEMO_EFFECTS)];

	/* of memo number 0 */
	const struct rvt_segment_path *transient_end;
	bool transient_consecutive;
	struct rvt_memo *transient_kept;	/* that was made of it; NULL: none */

	/* counted since rvt_memos_enter() */
	struct rvt_memo_sums sums;
	uint64_t from_pc;
	uint32_t mapping_epoch;
};

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

/* Of a memo with RVT_MEMO_DELTA. */
static inline const struct rvt_kept_delta *rvt_memo_delta(const struct rvt_memos *memos,
							  const struct rvt_memo *s)
{
	return (const struct rvt_kept_delta *)memos->delta[s - memos->memos].kept;
}

static inline struct rvt_memo_path *rvt_memo_path(struct rvt_memos *memos, const struct rvt_memo *s)
{
	return (struct rvt_memo_path *)(memos->paths + 16 * (size_t)s->path);
}

static inline uint32_t *rvt_memo_body(struct rvt_memo_path *path)
{
	return (uint32_t *)(path + 1 + path->delta);
}

static inline struct rvt_memo_effects *rvt_memo_effects_in(struct rvt_memo_path *path)
{
	return (struct rvt_memo_effects *)(rvt_memo_body(path) + path->n_words);
}

/* Of the memo that is being recorded. */
static inline struct rvt_memo_effects *rvt_memo_recorded_effects(struct rvt_memos *memos)
{
	return (struct rvt_memo_effects *)memos->effects;
}

/*
 * The first member of struct rvt_flow: what replaying reads and writes inline. Only flow/memo.h and
 * the engine use it.
 */
struct rvt_flow_base {
	struct rvt_memos *memos;	/* NULL: none was made yet */
	struct rvt_counts *counts;	/* NULL: nothing is counted */
	bool collect;			/* runs go to the batch */
	uint32_t mapping_id[2];		/* by rvt_va_half(): what addresses mean now */
	uint64_t time_filter;		/* TIME events before are not delivered */
	struct rvt_return_stack returns;
	struct rvt_predictions predictions;
};

#endif
