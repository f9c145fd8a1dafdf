// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Message memos: recording, and in and out of replaying.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "flow/memo/effects.h"
#include "flow/memo/memos.h"
#include "flow/memo/table-pool.h"

#define DELTA_UNITS(bytes) (((bytes) + 15) / 16)
#define WORD_UNITS(words) (((words) + 3) / 4)
/* a path with what lies behind it, in units of 16 bytes */
#define MAX_PATH (1 + DELTA_UNITS(sizeof(struct rvt_stack_delta)) + \
		  WORD_UNITS(RVT_BODY_WORDS + 1 + RVT_MEMO_EFFECTS))

bool rvt_memos_enter(struct rvt_flow *flow, struct rvt_memo_cursor *at)
{
	struct rvt_memos *memos;

	if (flow->reference || flow->result || !flow->has_pc || !rvt_tables_have_memos(flow))
		return false;
	memos = flow->base.memos;
	at->pc = rvt_flow_current(flow);
	at->mapping_id = rvt_flow_mapping_id(flow, at->pc);
	memos->mapping_epoch = flow->mapping_epochs[0];
	memos->sums = (struct rvt_memo_sums){ .left = RVT_MEMO_SUMS };
	/* Edges between memos are counted with them. The one from what was before is not. */
	memos->from_pc = at->pc;
	return true;
}

/* Returns the sum in the byte that begins at bit @shift. */
static uint64_t sum_at(const struct rvt_memo_sums *sums, unsigned int shift)
{
	return rvt_memo_sums_of(sums, shift / 8);
}

void rvt_memos_add_up(struct rvt_flow *flow)
{
	struct rvt_memo_sums *sums = &flow->base.memos->sums;

	flow->stats.insns += sum_at(sums, RVT_MEMO_INSNS) +
			     (sum_at(sums, RVT_MEMO_INSNS + 8) << 8);
	flow->stats.halfwords += sum_at(sums, RVT_MEMO_HALFWORDS) +
				 (sum_at(sums, RVT_MEMO_HALFWORDS + 8) << 8);
	flow->stats.branches += sum_at(sums, RVT_MEMO_BRANCHES);
	flow->stats.taken += sum_at(sums, RVT_MEMO_TAKEN);
	flow->stats.indirect += sum_at(sums, RVT_MEMO_INDIRECT);
	*sums = (struct rvt_memo_sums){ .left = RVT_MEMO_SUMS, .last = sums->last };
}

/* Returns the end of the transient memo, which is that of its last segment. */
static struct rvt_memo_path end_of_transient(const struct rvt_memos *memos)
{
	return (struct rvt_memo_path){
		.last_block = memos->transient_end->last,
		.last_insn = memos->transient_end->last_insn,
		.consecutive = memos->transient_consecutive,
	};
}

static struct rvt_memo_path end_of(struct rvt_memos *memos, const struct rvt_memo *s)
{
	return s == memos->memos ? end_of_transient(memos) : *rvt_memo_path(memos, s);
}

bool rvt_memos_consecutive(const struct rvt_flow *flow)
{
	const struct rvt_memo *last = flow->base.memos->sums.last;

	return last ? end_of(flow->base.memos, last).consecutive : flow->consecutive;
}

void rvt_memos_leave(struct rvt_flow *flow)
{
	struct rvt_memos *memos = flow->base.memos;
	const struct rvt_memo *s = memos->sums.last;
	struct rvt_memo_path end;

	if (!s)
		return;
	rvt_memos_add_up(flow);
	memos->sums.last = NULL;
	end = end_of(memos, s);
	flow->has_last = true;
	flow->consecutive = end.consecutive;
	flow->last_block = end.last_block;
	flow->last_insn = end.last_insn;
	flow->pc = s->pc;
	flow->block = NULL;
	flow->insn = flow->halfword = 0;
	if (flow->base.counts)
		flow->count_ops->leave_memos(flow, memos->from_pc, end.last_block, end.last_insn,
					     s->pc);
}

/* ---- the index ---- */

#define ONES UINT64_C(0x0101010101010101)
_Static_assert(RVT_MEMO_WAYS == sizeof(uint64_t), "tags of a set are a word");

static unsigned int set_of(uint64_t hash, uint32_t stack_hash)
{
	return (rvt_memo_set(hash) + stack_hash * 0x9e3779b1u) & (RVT_MEMO_SETS - 1);
}

static uint8_t tag_of(uint64_t hash)
{
	const uint8_t tag = hash >> 56;

	return tag ? tag : 1;
}

/* Returns bit 7 of each byte of @tags that is @tag, and perhaps that of others. */
static uint64_t like(const uint8_t *tags, uint8_t tag)
{
	uint64_t word;

	memcpy(&word, tags, sizeof(word));
	word = le64toh(word) ^ ONES * tag;
	return (word - ONES) & ~word & ONES << 7;
}

static struct rvt_memo *look_up(struct rvt_memos *memos, const struct rvt_memo_key *key,
				uint64_t hash, uint32_t stack_hash)
{
	const unsigned int set = set_of(hash, stack_hash);
	uint64_t ways = like(memos->tags[set], tag_of(hash));

	for (; ways; ways &= ways - 1) {
		uint32_t number = memos->numbers[set][__builtin_ctzll(ways) / 8];
		struct rvt_memo *s = &memos->memos[number];

		__builtin_prefetch(&memos->delta[number]);
		if (rvt_memo_is(s, key) && s->stack_hash == stack_hash)
			return s;
	}
	return NULL;
}

struct rvt_memo *rvt_memos_look_up(struct rvt_memos *memos, const struct rvt_memo_key *key,
				   uint64_t hash)
{
	return look_up(memos, key, hash, 0);
}

/* Looks up a key that was not predicted. */
static struct rvt_memo *look_up_missed(struct rvt_flow *flow, const struct rvt_memo_key *key,
				       uint64_t hash)
{
	struct rvt_memos *memos = flow->base.memos;

	/* If there is no memo the flow goes on by itself, and needs these. */
	__builtin_prefetch(memos->numbers[rvt_memo_set(hash)]);
	__builtin_prefetch(rvt_admission_slot(memos, hash));
	__builtin_prefetch(rvt_flow_target(flow, key->pc));
	if (memos->sums.last)
		__builtin_prefetch(rvt_memo_path(memos, memos->sums.last));
	return look_up(memos, key, hash, 0);
}

/*
 * Returns the hash that an alternative to @first has: of the addresses on the return stack where
 * @first pops, and of the predictions where @first demands some.
 */
static __attribute__((noinline)) uint32_t stack_hash_beside(struct rvt_flow *flow,
							    const struct rvt_memo *first)
{
	const struct rvt_memo_effects *effects;
	const struct rvt_kept_delta *delta;
	unsigned int n = 0;
	uint64_t x = 0, pc;

	if (first->flags & RVT_MEMO_DELTA) {
		delta = rvt_kept_delta_of(rvt_memo_delta(flow->base.memos, first));
		n = delta->pop_bytes / sizeof(pc) + !!(delta->flags & RVT_DELTA_EMPTY);
	}
	for (unsigned int i = 0; i < n && rvt_flow_return_at(flow, i, &pc); i++)
		x = (x ^ pc) * 0x9e3779b97f4a7c15ull;
	effects = first->flags & RVT_MEMO_HAS_EFFECTS ?
		  rvt_memo_effects_in(rvt_memo_path(flow->base.memos, first)) : NULL;
	for (unsigned int i = 0; effects && effects->conditional && i < effects->n; i++, n++)
		x = (x ^ (rvt_memo_old_entry(flow, effects, i) >> 1)) * 0x9e3779b97f4a7c15ull;
	return n ? x >> 52 | 1 : 0;
}

/* Takes the memo of memos->key for the addresses on the return stack where @tried pops. */
static struct rvt_memo *take_beside(struct rvt_flow *flow, const struct rvt_memo *tried,
				    uint64_t hash)
{
	struct rvt_memos *memos = flow->base.memos;
	struct rvt_memo *s;

	memos->stack_hash = stack_hash_beside(flow, tried);
	s = look_up(memos, &memos->key, hash, memos->stack_hash);
	return s && s->flags & (RVT_MEMO_DELTA | RVT_MEMO_HAS_EFFECTS) &&
	       rvt_memos_apply_all(flow, s) ? s : NULL;
}

struct rvt_memo *rvt_memos_find_other(struct rvt_flow *flow, const struct rvt_memo *tried)
{
	const uint64_t hash = rvt_memo_hash(&tried->key);
	struct rvt_memos *memos = flow->base.memos;
	struct rvt_memo *s;

	memos->key = tried->key;
	s = tried->stack_hash ? look_up(memos, &tried->key, hash, 0) : NULL;
	if (s && rvt_memos_apply_all(flow, s))
		return s;
	return take_beside(flow, s ? s : tried, hash);
}

static inline __attribute__((always_inline)) struct rvt_memo *
find(struct rvt_flow *flow, const struct rvt_memo_key *key, uint64_t hash)
{
	struct rvt_memos *memos = flow->base.memos;
	struct rvt_memo *s = look_up_missed(flow, key, hash);

	if (s && rvt_memos_apply_all(flow, s))
		return s;
	memos->key = *key;
	memos->stack_hash = 0;
	return s ? take_beside(flow, s, hash) : NULL;
}

struct rvt_memo *rvt_memos_find(struct rvt_flow *flow, const struct rvt_memo_key *key,
				uint64_t hash)
{
	return find(flow, key, hash);
}

static struct rvt_memo *train_predictor(struct rvt_memos *memos, struct rvt_memo *s, uint64_t hash,
					uint32_t slot)
{
	if (s)
		memos->predictor[slot] = rvt_memo_tag(hash) | (s - memos->memos);
	return s;
}

struct rvt_memo *rvt_memos_take_other(struct rvt_flow *flow, const struct rvt_memo *tried,
				      uint64_t hash, uint32_t slot)
{
	return train_predictor(flow->base.memos, rvt_memos_find_other(flow, tried), hash, slot);
}

struct rvt_memo *rvt_memos_take_missed(struct rvt_flow *flow, const struct rvt_memo_key *key,
				       uint64_t hash, uint32_t slot)
{
	return train_predictor(flow->base.memos, find(flow, key, hash), hash, slot);
}

/* Returns the hash of the memo that is to be made of @key here. */
static uint32_t stack_hash_of(struct rvt_flow *flow, const struct rvt_memo_key *key)
{
	const struct rvt_memo *s = look_up(flow->base.memos, key, rvt_memo_hash(key), 0);

	return s ? stack_hash_beside(flow, s) : 0;
}

/* ---- recording ---- */

/* Forgets all memos, unless some counts are deferred. */
static void reset(struct rvt_flow *flow)
{
	if (flow->deferred.left)
		flow->deferred.full = true;
	else
		rvt_memos_reset(flow);
}

bool rvt_memos_have_room(const struct rvt_memos *memos)
{
	return RVT_MEMO_PATH_BYTES / 16 - memos->n_path >= MAX_PATH;
}

/* Returns whether the key comes for the second time, or may do so. */
static bool is_known(struct rvt_memos *memos, const struct rvt_memo_key *key, uint32_t stack_hash)
{
	uint64_t hash = rvt_memo_hash(key) + stack_hash * 0x9e3779b97f4a7c15ull;
	uint16_t *seen = rvt_admission_slot(memos, hash);
	uint16_t tag = hash >> 48 | 1;

	if (*seen == tag)
		return true;
	*seen = tag;
	return false;
}

void rvt_memos_record_missed(struct rvt_flow *flow)
{
	struct rvt_memos *memos = flow->base.memos;

	/* Making room would forget this key, too: the memo is made the next time. */
	if (!rvt_memos_have_room(memos)) {
		reset(flow);
		return;
	}
	if (!is_known(memos, &memos->key, memos->stack_hash))
		return;
	rvt_body_begin(&flow->body);
	memos->before = flow->stats;
	rvt_returns_log(&flow->base.returns, &memos->returns);
	flow->recording = true;
}

void rvt_memos_record(struct rvt_flow *flow, const struct rvt_memo_key *key)
{
	flow->base.memos->key = *key;
	flow->base.memos->stack_hash = stack_hash_of(flow, key);
	rvt_memos_record_missed(flow);
}

bool rvt_memo_pack(const struct rvt_flow_stats *stats, uint64_t *sums)
{
	*sums = stats->insns << RVT_MEMO_INSNS | stats->halfwords << RVT_MEMO_HALFWORDS |
		stats->branches << RVT_MEMO_BRANCHES | stats->taken << RVT_MEMO_TAKEN |
		stats->indirect << RVT_MEMO_INDIRECT;
	/* No more are taken than there are. */
	return stats->insns <= UINT16_MAX && stats->halfwords <= UINT16_MAX &&
	       stats->branches <= RVT_MEMO_OUTCOMES && stats->indirect <= UINT8_MAX;
}

static void unpack(const struct rvt_memo *s, struct rvt_flow_stats *sum)
{
	sum->insns += s->sums >> RVT_MEMO_INSNS & UINT16_MAX;
	sum->halfwords += rvt_memo_halfwords(s);
	sum->branches += s->sums >> RVT_MEMO_BRANCHES & UINT8_MAX;
	sum->taken += s->sums >> RVT_MEMO_TAKEN & UINT8_MAX;
	sum->indirect += s->sums >> RVT_MEMO_INDIRECT & UINT8_MAX;
}

/* Fills @s with what applying it needs of what was recorded. Returns false if that is too much. */
static bool fill(const struct rvt_flow *flow, struct rvt_memo *s)
{
	const struct rvt_flow_stats *now = &flow->stats, *before = &flow->base.memos->before;
	const struct rvt_flow_stats stats = {
		.insns = now->insns - before->insns,
		.halfwords = now->halfwords - before->halfwords,
		.branches = now->branches - before->branches,
		.taken = now->taken - before->taken,
		.indirect = now->indirect - before->indirect,
	};

	uint64_t sums;
	const bool fits = rvt_memo_pack(&stats, &sums);

	*s = (struct rvt_memo){
		.key = flow->base.memos->key,
		.stack_hash = flow->base.memos->stack_hash,
		.pc = rvt_flow_current(flow),
		.sums = sums,
	};
	return fits;
}

/* Returns whether more was recorded than a memo holds. */
static bool is_more(struct rvt_flow *flow)
{
	const struct rvt_memos *memos = flow->base.memos;
	const struct rvt_body *body = &flow->body;

	return flow->result || memos->returns.invalid || flow->base.returns.recursion_max ||
	       !body->n_words || body->too_long ||
	       body->halves != 1u << rvt_va_half(memos->key.pc) ||
	       !flow->has_pc || !flow->has_last ||
	       memos->key.mapping_id != rvt_flow_mapping_id(flow, memos->key.pc) ||
	       flow->stats.traps != memos->before.traps || flow->stats.gaps != memos->before.gaps;
}

/* Takes memo @s out of the index. */
static void unlink_memo(struct rvt_memos *memos, const struct rvt_memo *s)
{
	const unsigned int set = set_of(rvt_memo_hash(&s->key), s->stack_hash);
	const uint32_t number = s - memos->memos;

	for (unsigned int i = 0; i < RVT_MEMO_WAYS; i++)
		if (memos->numbers[set][i] == number)
			memos->tags[set][i] = memos->numbers[set][i] = 0;
}

/* Puts @s into the index. Where no way is free, ways are evicted in turn. */
static void link_memo(struct rvt_memos *memos, const struct rvt_memo *s, uint64_t hash,
		      uint32_t stack_hash)
{
	const unsigned int set = set_of(hash, stack_hash);
	unsigned int way = 0;

	while (way < RVT_MEMO_WAYS && memos->tags[set][way])
		way++;
	if (way == RVT_MEMO_WAYS)
		way = memos->turn++ % RVT_MEMO_WAYS;
	memos->tags[set][way] = tag_of(hash);
	memos->numbers[set][way] = s - memos->memos;
}

static void expand(struct rvt_flow *flow, struct rvt_memo *s)
{
	if (s->times && flow->base.counts)
		flow->count_ops->expand_memo(flow, s);
}

/*
 * Evicts a memo for another one. The clock hand passes over those that were counted since it came
 * by the last time. Returns NULL if all must stay.
 */
static struct rvt_memo *take_used(struct rvt_flow *flow)
{
	struct rvt_memos *memos = flow->base.memos;

	for (uint32_t i = 0; i < 2 * RVT_MEMO_ENTRIES; i++) {
		struct rvt_memo *s;
		bool stays;

		memos->hand = memos->hand % (RVT_MEMO_ENTRIES - 1) + 1;
		s = &memos->memos[memos->hand];
		stays = s->times || s->flags & RVT_MEMO_DEFERRED;
		expand(flow, s);
		if (stays)
			continue;
		unlink_memo(memos, s);
		return s;
	}
	flow->deferred.full = true;
	return NULL;
}

/*
 * Returns an entry for the memo of @key and @stack_hash: that of its last version, a free one, or
 * an evicted one. NULL: there is none.
 */
static struct rvt_memo *make_room(struct rvt_flow *flow, const struct rvt_memo_key *key,
				  uint32_t stack_hash)
{
	struct rvt_memos *memos = flow->base.memos;
	uint64_t hash = rvt_memo_hash(key);
	struct rvt_memo *s = look_up(memos, key, hash, stack_hash);

	if (s) {
		expand(flow, s);
		return s->flags & RVT_MEMO_DEFERRED ? NULL : s;
	}
	if (memos->n_memos < RVT_MEMO_ENTRIES - 1) {
		s = &memos->memos[++memos->n_memos];
		/* of what was forgotten */
		s->key.mapping_id = 0;
		rvt_table_grows(memos, sizeof(*memos), memos->n_memos);
	} else {
		s = take_used(flow);
	}
	if (s)
		link_memo(memos, s, hash, stack_hash);
	return s;
}

/*
 * Returns a path for @filled, with @room units of 16 bytes behind it: that of @old, whose entry it
 * takes over, if there is room in it.
 */
static struct rvt_memo_path *take_path(struct rvt_memos *memos, const struct rvt_memo *old,
				       struct rvt_memo *filled, size_t room)
{
	const struct rvt_memo_path *path = rvt_memo_path(memos, old);

	filled->path = old->path;
	if (!old->key.mapping_id || path->room < room) {
		filled->path = memos->n_path;
		rvt_memo_path(memos, filled)->room = room;
		memos->n_path += 1 + room;
	}
	return rvt_memo_path(memos, filled);
}

static void keep_delta(struct rvt_memos *memos, const struct rvt_memo *s,
		       struct rvt_memo_path *path)
{
	struct rvt_kept_delta *kept =
		(struct rvt_kept_delta *)memos->delta[s - memos->memos].kept;

	if (path->delta) {
		rvt_stack_delta_keep_elsewhere((struct rvt_kept_delta *)(path + 1), kept);
		kept = (struct rvt_kept_delta *)(path + 1);
	}
	rvt_stack_delta_keep(&memos->returns, kept);
}

/*
 * Makes a memo of flow->body, memos->returns and @filled, which ends as @end says. Returns NULL if
 * there is no room for it.
 */
static struct rvt_memo *keep(struct rvt_flow *flow, struct rvt_memo *filled,
			     const struct rvt_memo_path *end, uint16_t own)
{
	const struct rvt_body *body = &flow->body;
	struct rvt_memos *memos = flow->base.memos;
	struct rvt_memo_path *path;
	struct rvt_memo *s;
	size_t delta, room, effects = 0;

	if (flow->base.predictions.entries || own) {
		if (!rvt_memos_find_effects(flow, filled->pc, own))
			return NULL;
		effects = rvt_memo_recorded_effects(memos)->n;
		effects += effects || own;
		if (effects)
			filled->flags |= RVT_MEMO_HAS_EFFECTS;
	}
	delta = rvt_stack_delta_bytes(&memos->returns);
	if (delta)
		filled->flags |= RVT_MEMO_DELTA;
	delta = delta > sizeof(struct rvt_memo_delta) ? DELTA_UNITS(delta) : 0;
	room = delta + WORD_UNITS(body->n_words + effects);
	s = make_room(flow, &memos->key, memos->stack_hash);
	if (!s)
		return NULL;
	path = take_path(memos, s, filled, room);
	*s = *filled;
	path->last_block = end->last_block;
	path->last_insn = end->last_insn;
	path->consecutive = end->consecutive;
	path->n_words = body->n_words;
	path->delta = delta;
	if (filled->flags & RVT_MEMO_DELTA)
		keep_delta(memos, s, path);
	memcpy(rvt_memo_body(path), body->words, body->n_words * sizeof(body->words[0]));
	if (effects)
		memcpy(rvt_memo_effects_in(path), memos->effects, 4 * effects);
	return s;
}

void rvt_memos_keep(struct rvt_flow *flow, uint64_t address, uint8_t extra, uint16_t own)
{
	const struct rvt_memo_path end = {
		.last_block = flow->last_block, .last_insn = flow->last_insn,
		.consecutive = flow->consecutive,
	};
	struct rvt_memo filled;

	rvt_memos_drop(flow);
	if (is_more(flow) || !fill(flow, &filled))
		return;
	if (address != filled.pc) {
		if (address != flow->base.memos->key.address)
			return;
		filled.flags |= RVT_MEMO_KEEPS_ADDRESS;
	}
	filled.extra = extra;
	keep(flow, &filled, &end, own);
}

/* ---- transient memos ---- */

/* Makes a memo of what was walked without being recorded. */
static struct rvt_memo *keep_transient(struct rvt_flow *flow,
				       const struct rvt_transient_memo *transient)
{
	struct rvt_memos *memos = flow->base.memos;
	const struct rvt_memo_path end = end_of_transient(memos);
	struct rvt_memo filled = memos->memos[0];
	struct rvt_body *body = &flow->body;

	filled.key = memos->key;
	filled.stack_hash = memos->stack_hash;
	rvt_body_begin(body);
	body->n_words = transient->n_segments;
	body->n_known = transient->n_known;
	body->asks = transient->asks;
	body->asked = transient->asked;
	for (unsigned int i = 0; i < transient->n_segments; i++)
		body->words[i] = rvt_segment_number(flow->segments, transient->segments[i]);
	return keep(flow, &filled, &end, transient->own);
}

struct rvt_memo *rvt_memos_transient(struct rvt_flow *flow,
				     const struct rvt_transient_memo *transient)
{
	struct rvt_memos *memos = flow->base.memos;
	struct rvt_memo *s = &memos->memos[0];

	s->pc = transient->pc;
	s->sums = transient->sums;
	s->flags = transient->flags;
	s->extra = transient->extra;
	memos->transient_end =
		rvt_segment_path(flow->segments, transient->segments[transient->n_segments - 1]);
	memos->transient_consecutive = transient->consecutive;
	memos->transient_kept = is_known(memos, &memos->key, memos->stack_hash) ?
					keep_transient(flow, transient) :
					NULL;
	return s;
}

/* ---- groups ---- */

/* Returns how many runs flow->body has. */
static unsigned int runs_of_body(struct rvt_flow *flow)
{
	const uint32_t *word = flow->body.words, *end = word + flow->body.n_words;
	unsigned int n = 0;
	struct rvt_body_item item;

	while (word < end) {
		word = rvt_body_next(flow->segments, word, &item);
		n += item.seg ? item.seg->n_runs : 1;
	}
	return n;
}

/* Joins the bodies of the memos of @group. Returns false if they do not fit. */
static bool join_bodies(struct rvt_flow *flow, const struct rvt_memo_group *group)
{
	struct rvt_body *body = &flow->body;

	body->n_words = 0;
	for (unsigned int i = 0; i < group->n; i++) {
		struct rvt_memo_path *path = rvt_memo_path(flow->base.memos, group->memos[i]);

		if (body->n_words + path->n_words > RVT_BODY_WORDS)
			return false;
		memcpy(body->words + body->n_words, rvt_memo_body(path),
		       path->n_words * sizeof(body->words[0]));
		body->n_words += path->n_words;
	}
	return true;
}

/*
 * Adds up what the memos of @group do, and in *returns what they do to the return stack. Returns
 * false if it does not fit.
 */
static bool add_group(const struct rvt_memos *memos, const struct rvt_memo_group *group,
		      struct rvt_memo *sum, struct rvt_stack_delta *returns)
{
	uint64_t address = group->key.address, pc = group->key.pc;
	struct rvt_flow_stats stats = {};
	uint64_t sums;
	bool fits;

	*returns = (struct rvt_stack_delta){ .n_pops = 0 };
	*sum = (struct rvt_memo){ .key = group->key, .stack_hash = group->stack_hash };
	for (unsigned int i = 0; i < group->n; i++) {
		const struct rvt_memo *s = group->memos[i];

		if (!s || s->flags & RVT_MEMO_HAS_EFFECTS || s->key.pc != pc ||
		    s->key.mapping_id != group->key.mapping_id)
			return false;
		if (s->flags & RVT_MEMO_DELTA)
			rvt_stack_delta_add(returns, rvt_memo_delta(memos, s));
		address = rvt_memo_address(s, address);
		pc = s->pc;
		unpack(s, &stats);
	}
	if (address != pc) {
		if (address != group->key.address)
			return false;
		sum->flags |= RVT_MEMO_KEEPS_ADDRESS;
	}
	sum->pc = pc;
	sum->extra = group->memos[group->n - 1]->extra;
	fits = rvt_memo_pack(&stats, &sums);
	sum->sums = sums;
	return fits && !returns->invalid;
}

struct rvt_memo *rvt_memos_group(struct rvt_flow *flow, const struct rvt_memo_group *group)
{
	struct rvt_memos *memos = flow->base.memos;
	struct rvt_memo_path end;
	struct rvt_memo sum;

	if (!rvt_memos_have_room(memos) || !is_known(memos, &group->key, group->stack_hash) ||
	    memos->hand != group->hand || !add_group(memos, group, &sum, &memos->returns) ||
	    !join_bodies(flow, group))
		return NULL;
	/* There are no more runs than instructions. */
	if ((uint16_t)(sum.sums >> RVT_MEMO_INSNS) > RVT_BODY_RUNS &&
	    runs_of_body(flow) > RVT_BODY_RUNS)
		return NULL;
	/* Copied, as the new memo may take the entry of one that it is made of. */
	end = *rvt_memo_path(memos, group->memos[group->n - 1]);
	memos->key = group->key;
	memos->stack_hash = group->stack_hash;
	return keep(flow, &sum, &end, 0);
}

/* ---- delivering ---- */

bool rvt_memos_collect(struct rvt_flow *flow, const struct rvt_memo *s)
{
	struct rvt_memo_path *path = rvt_memo_path(flow->base.memos, s);
	const uint32_t *word = rvt_memo_body(path), *end = word + path->n_words;

	while (word < end) {
		if (*word & RVT_BODY_RUN) {
			memcpy(&flow->runs[flow->n_runs++], word + 1, sizeof(struct rvt_run));
			word += RVT_BODY_RUN_WORDS;
		} else {
			rvt_flow_collect_segment(flow, rvt_segment_at(flow->segments, *word++));
		}
	}
	return rvt_memos_deliver_full(flow);
}
