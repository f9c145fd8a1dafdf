// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memo of steps: recording, and in and out of replaying.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "flow/memo/table-pool.h"
#include "flow/memo/memos.h"

#define CALLS_UNITS(bytes) (((bytes) + 15) / 16)
#define WAY_UNITS(words) (((words) + 3) / 4)
/* Of a path with what lies behind it, in 16 bytes. */
#define MAX_PATH (1 + CALLS_UNITS(sizeof(struct rvt_calls)) + WAY_UNITS(RVT_STEP_WORDS))

static bool make_table(struct rvt_flow *flow)
{
	if (flow->steps)
		return true;
	if (flow->teacher)
		rvt_flow_learn(flow);
	rvt_flow_inherit(flow);
	if (flow->steps)
		return true;
	if (flow->no_steps)
		return false;
	flow->steps = rvt_table_map(sizeof(*flow->steps));
	flow->no_steps = !flow->steps;
	return flow->steps;
}

void rvt_steps_destroy(struct rvt_steps *steps)
{
	if (steps)
		munmap(steps, sizeof(*steps));
}

void rvt_steps_forget(struct rvt_steps *steps)
{
	/* These as well: like() may take a way that is free for one that is not. */
	memset(steps->numbers, 0, sizeof(steps->numbers));
	memset(steps->tags, 0, sizeof(steps->tags));
	memset(steps->guesses, 0, sizeof(steps->guesses));
	memset(steps->rows, 0, sizeof(steps->rows));
	memset(steps->seen, 0, sizeof(steps->seen));
	steps->n_path = 0;
	steps->n_steps = steps->hand = steps->turn = 0;
	steps->sums.last = NULL;
}

void rvt_steps_outdate(struct rvt_steps *steps)
{
	for (uint32_t i = 1; i <= steps->n_steps; i++)
		steps->steps[i].key.meaning = 0;
	/* of what is being recorded */
	steps->key.meaning = 0;
	memset(steps->numbers, 0, sizeof(steps->numbers));
	memset(steps->tags, 0, sizeof(steps->tags));
}

bool rvt_steps_enter(struct rvt_flow *flow, struct rvt_step_key *key)
{
	struct rvt_steps *steps;

	if (flow->reference || flow->result || !flow->has_pc || !make_table(flow))
		return false;
	steps = flow->steps;
	key->pc = rvt_flow_current(flow);
	key->meaning = rvt_flow_meaning(flow, key->pc);
	steps->epoch = flow->epochs[0];
	steps->sums = (struct rvt_step_sums){ .left = RVT_STEP_SUMS };
	/* From step to step edges are counted with the steps; not so from what was before. */
	steps->from_pc = key->pc;
	return true;
}

/* Of the byte that begins at bit @shift. */
static uint64_t sum_at(const struct rvt_step_sums *sums, unsigned int shift)
{
	return rvt_step_sums_of(sums, shift / 8);
}

void rvt_steps_add_up(struct rvt_flow *flow)
{
	struct rvt_step_sums *sums = &flow->steps->sums;

	flow->stats.insns += sum_at(sums, RVT_STEP_INSNS) +
			     (sum_at(sums, RVT_STEP_INSNS + 8) << 8);
	flow->stats.halfwords += sum_at(sums, RVT_STEP_HALFWORDS) +
				 (sum_at(sums, RVT_STEP_HALFWORDS + 8) << 8);
	flow->stats.branches += sum_at(sums, RVT_STEP_BRANCHES);
	flow->stats.taken += sum_at(sums, RVT_STEP_TAKEN);
	flow->stats.indirect += sum_at(sums, RVT_STEP_INDIRECT);
	*sums = (struct rvt_step_sums){ .left = RVT_STEP_SUMS, .last = sums->last };
}

/* Where a draft ends: where the last of its hops does. */
static struct rvt_step_path end_of_draft(const struct rvt_steps *steps)
{
	return (struct rvt_step_path){
		.last_block = steps->draft_end->last, .last_insn = steps->draft_end->last_insn,
		.consecutive = steps->draft_consecutive,
	};
}

static struct rvt_step_path end_of(struct rvt_steps *steps, const struct rvt_step *s)
{
	return s == steps->steps ? end_of_draft(steps) : *rvt_step_path(steps, s);
}

bool rvt_steps_consecutive(const struct rvt_flow *flow)
{
	const struct rvt_step *last = flow->steps->sums.last;

	return last ? end_of(flow->steps, last).consecutive : flow->consecutive;
}

void rvt_steps_leave(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;
	const struct rvt_step *s = steps->sums.last;
	struct rvt_step_path end;

	if (!s)
		return;
	rvt_steps_add_up(flow);
	steps->sums.last = NULL;
	end = end_of(steps, s);
	flow->has_last = true;
	flow->consecutive = end.consecutive;
	flow->last_block = end.last_block;
	flow->last_insn = end.last_insn;
	flow->pc = s->pc;
	flow->block = NULL;
	flow->insn = flow->halfword = 0;
	if (flow->counts) {
		rvt_counts_begin(flow->counts, steps->from_pc);
		rvt_counts_ahead(flow->counts, end.last_block, end.last_insn, s->pc);
	}
}

/* ---- the index ---- */

#define ONES UINT64_C(0x0101010101010101)
_Static_assert(RVT_STEP_WAYS == sizeof(uint64_t), "tags of a set are a word");

static unsigned int set_of(uint64_t hash, uint32_t hint)
{
	return (rvt_step_set(hash) + hint * 0x9e3779b1u) & (RVT_STEP_SETS - 1);
}

static uint8_t tag_of(uint64_t hash)
{
	const uint8_t tag = hash >> 56;

	return tag ? tag : 1;
}

/* Bit 7 of each byte of @tags that is @tag; maybe of others, too. */
static uint64_t like(const uint8_t *tags, uint8_t tag)
{
	uint64_t word;

	memcpy(&word, tags, sizeof(word));
	word = le64toh(word) ^ ONES * tag;
	return (word - ONES) & ~word & ONES << 7;
}

static struct rvt_step *look_up(struct rvt_steps *steps, const struct rvt_step_key *key,
				uint64_t hash, uint32_t hint)
{
	const unsigned int set = set_of(hash, hint);
	uint64_t ways = like(steps->tags[set], tag_of(hash));

	for (; ways; ways &= ways - 1) {
		uint32_t number = steps->numbers[set][__builtin_ctzll(ways) / 8];
		struct rvt_step *s = &steps->steps[number];

		__builtin_prefetch(&steps->calls[number]);
		if (rvt_step_is(s, key) && s->hint == hint)
			return s;
	}
	return NULL;
}

struct rvt_step *rvt_steps_look_up(struct rvt_steps *steps, const struct rvt_step_key *key,
				   uint64_t hash)
{
	return look_up(steps, key, hash, 0);
}

/* The same in replaying. */
static struct rvt_step *look_up_missed(struct rvt_flow *flow, const struct rvt_step_key *key,
				       uint64_t hash)
{
	struct rvt_steps *steps = flow->steps;

	/* If there is none the flow goes on by itself: that needs these. */
	__builtin_prefetch(steps->numbers[rvt_step_set(hash)]);
	__builtin_prefetch(rvt_step_seen(steps, hash));
	__builtin_prefetch(rvt_flow_target(flow, key->pc));
	if (steps->sums.last)
		__builtin_prefetch(rvt_step_path(steps, steps->sums.last));
	return look_up(steps, key, hash, 0);
}

/* Another step than @first is for what is on the return stack where @first has its returns. */
static uint32_t hint_beside(struct rvt_flow *flow, const struct rvt_step *first)
{
	const struct rvt_kept_calls *calls;
	unsigned int n = 0;
	uint64_t x = 0, pc;

	if (first->flags & RVT_STEP_CALLS) {
		calls = rvt_calls_found(rvt_step_calls(flow->steps, first));
		n = calls->pop_bytes / sizeof(pc) + !!(calls->flags & RVT_CALLS_EMPTY);
	}
	for (unsigned int i = 0; i < n && rvt_flow_return_at(flow, i, &pc); i++)
		x = (x ^ pc) * 0x9e3779b97f4a7c15ull;
	return n ? x >> 52 | 1 : 0;
}

/* Of steps->key: one for what is on the return stack where @tried has its returns. */
static struct rvt_step *take_beside(struct rvt_flow *flow, const struct rvt_step *tried,
				    uint64_t hash)
{
	struct rvt_steps *steps = flow->steps;
	struct rvt_step *s;

	steps->hint = hint_beside(flow, tried);
	s = look_up(steps, &steps->key, hash, steps->hint);
	return s && s->flags & RVT_STEP_CALLS && rvt_steps_call(flow, s) ? s : NULL;
}

struct rvt_step *rvt_steps_find_other(struct rvt_flow *flow, const struct rvt_step *tried)
{
	const uint64_t hash = rvt_step_hash(&tried->key);
	struct rvt_steps *steps = flow->steps;
	struct rvt_step *s;

	steps->key = tried->key;
	s = tried->hint ? look_up(steps, &tried->key, hash, 0) : NULL;
	if (s && rvt_steps_call(flow, s))
		return s;
	return take_beside(flow, s ? s : tried, hash);
}

struct rvt_step *rvt_steps_find(struct rvt_flow *flow, const struct rvt_step_key *key, uint64_t hash)
{
	struct rvt_steps *steps = flow->steps;
	struct rvt_step *s = look_up_missed(flow, key, hash);

	if (s && rvt_steps_call(flow, s))
		return s;
	steps->key = *key;
	steps->hint = 0;
	return s ? take_beside(flow, s, hash) : NULL;
}

static struct rvt_step *note_guess(struct rvt_steps *steps, struct rvt_step *s, uint64_t hash,
				   uint32_t guess)
{
	if (s)
		steps->guesses[guess] = rvt_step_tag(hash) | (s - steps->steps);
	return s;
}

struct rvt_step *rvt_steps_take_other(struct rvt_flow *flow, const struct rvt_step *tried,
				      uint64_t hash, uint32_t guess)
{
	return note_guess(flow->steps, rvt_steps_find_other(flow, tried), hash, guess);
}

struct rvt_step *rvt_steps_take_missed(struct rvt_flow *flow, struct rvt_step_key key,
				       uint64_t hash, uint32_t guess)
{
	return note_guess(flow->steps, rvt_steps_find(flow, &key, hash), hash, guess);
}

/* That of the step that is to be made of @key here. */
static uint32_t hint_of(struct rvt_flow *flow, const struct rvt_step_key *key)
{
	const struct rvt_step *s = look_up(flow->steps, key, rvt_step_hash(key), 0);

	return s ? hint_beside(flow, s) : 0;
}

/* ---- recording ---- */

void rvt_steps_reset(struct rvt_flow *flow)
{
	if (!flow->steps)
		return;
	rvt_steps_drop(flow);
	rvt_steps_expand(flow);
	madvise(flow->steps, sizeof(*flow->steps), MADV_DONTNEED);
}

/* Forgets all steps, unless some counts are set aside. */
static void reset(struct rvt_flow *flow)
{
	if (flow->aside.left)
		flow->aside.full = true;
	else
		rvt_steps_reset(flow);
}

bool rvt_steps_have_room(const struct rvt_steps *steps)
{
	return RVT_STEP_PATH_BYTES / 16 - steps->n_path >= MAX_PATH;
}

/* True if it comes for the second time, or may. */
static bool is_known(struct rvt_steps *steps, const struct rvt_step_key *key, uint32_t hint)
{
	uint64_t hash = rvt_step_hash(key) + hint * 0x9e3779b97f4a7c15ull;
	uint16_t *seen = rvt_step_seen(steps, hash);
	uint16_t tag = hash >> 48 | 1;

	if (*seen == tag)
		return true;
	*seen = tag;
	return false;
}

void rvt_steps_record_missed(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;

	/* What is forgotten then takes the key with it: the next time. */
	if (!rvt_steps_have_room(steps)) {
		reset(flow);
		return;
	}
	if (!is_known(steps, &steps->key, steps->hint))
		return;
	steps->too_long = steps->leaves_half = false;
	steps->n_words = steps->n_runs = 0;
	steps->before = flow->stats;
	rvt_returns_log(&flow->returns, &steps->returns);
	flow->recording = true;
}

void rvt_steps_record(struct rvt_flow *flow, const struct rvt_step_key *key)
{
	flow->steps->key = *key;
	flow->steps->hint = hint_of(flow, key);
	rvt_steps_record_missed(flow);
}

/* @n more words, with @runs in them, all in @half. NULL: there is no room. */
static uint32_t *add_words(struct rvt_steps *steps, unsigned int n, unsigned int runs,
			   unsigned int half)
{
	uint32_t *words = steps->words + steps->n_words;

	steps->leaves_half |= half != rvt_half(steps->key.pc);
	steps->too_long |= steps->n_words + n > RVT_STEP_WORDS ||
			   steps->n_runs + runs > RVT_STEP_RUNS;
	if (steps->too_long)
		return NULL;
	steps->n_words += n;
	steps->n_runs += runs;
	return words;
}

void rvt_steps_add_run(struct rvt_flow *flow, const struct rvt_run *run)
{
	uint32_t *words = add_words(flow->steps, RVT_STEP_RUN_WORDS, 1,
				    rvt_half(run->block->pc));

	if (!words)
		return;
	words[0] = RVT_STEP_RUN;
	memcpy(words + 1, run, sizeof(*run));
}

void rvt_steps_add_hops(struct rvt_flow *flow, const uint32_t *numbers, unsigned int n,
			unsigned int half)
{
	for (unsigned int i = 0; i < n && !flow->steps->too_long; i++) {
		uint32_t *words = add_words(flow->steps, 1, rvt_hop_at(flow->hops, numbers[i])->n_runs,
					    half);

		if (words)
			*words = numbers[i];
	}
}

bool rvt_step_pack(const struct rvt_flow_stats *stats, uint64_t *sums)
{
	*sums = stats->insns << RVT_STEP_INSNS | stats->halfwords << RVT_STEP_HALFWORDS |
		stats->branches << RVT_STEP_BRANCHES | stats->taken << RVT_STEP_TAKEN |
		stats->indirect << RVT_STEP_INDIRECT;
	/* No more can be taken than there are. */
	return stats->insns <= UINT16_MAX && stats->halfwords <= UINT16_MAX &&
	       stats->branches <= RVT_STEP_OUTCOMES && stats->indirect <= UINT8_MAX;
}

static void unpack(const struct rvt_step *s, struct rvt_flow_stats *sum)
{
	sum->insns += s->sums >> RVT_STEP_INSNS & UINT16_MAX;
	sum->halfwords += rvt_step_halfwords(s);
	sum->branches += s->sums >> RVT_STEP_BRANCHES & UINT8_MAX;
	sum->taken += s->sums >> RVT_STEP_TAKEN & UINT8_MAX;
	sum->indirect += s->sums >> RVT_STEP_INDIRECT & UINT8_MAX;
}

/* What was recorded, as far as replaying needs it. False: more than fits. */
static bool fill(const struct rvt_flow *flow, struct rvt_step *s)
{
	const struct rvt_flow_stats *now = &flow->stats, *before = &flow->steps->before;
	const struct rvt_flow_stats stats = {
		.insns = now->insns - before->insns,
		.halfwords = now->halfwords - before->halfwords,
		.branches = now->branches - before->branches,
		.taken = now->taken - before->taken,
		.indirect = now->indirect - before->indirect,
	};

	uint64_t sums;
	const bool fits = rvt_step_pack(&stats, &sums);

	*s = (struct rvt_step){
		.key = flow->steps->key,
		.hint = flow->steps->hint,
		.pc = rvt_flow_current(flow),
		.sums = sums,
	};
	return fits;
}

/* A part of a path: a hop, or a run. */
struct part {
	struct rvt_hop *hop;		/* NULL: it is .run */
	struct rvt_run run;
};

static const uint32_t *next_part(struct rvt_hops *hops, const uint32_t *word, struct part *part)
{
	part->hop = NULL;
	if (!(*word & RVT_STEP_RUN)) {
		part->hop = rvt_hop_at(hops, *word);
		return word + 1;
	}
	memcpy(&part->run, word + 1, sizeof(part->run));
	return word + RVT_STEP_RUN_WORDS;
}

static uint64_t address_of(const struct rvt_hops *hops, const struct part *part)
{
	if (!part->hop)
		return rvt_run_address(&part->run);
	return hops->pcs[rvt_hop_number(hops, part->hop) / RVT_LINE_HOPS];
}

/* Whether what follows a part is counted with it. */
static bool counts_next(const struct part *part)
{
	return part->hop && part->hop->next;
}

/* Counts what follows the last part, which is not counted with that. */
static void expand_edge(struct rvt_flow *flow, const struct part *last, uint64_t to, uint64_t times)
{
	if (!last->hop) {
		rvt_counts_edge(flow->counts, rvt_block_of(&last->run),
				last->run.first + last->run.count - 1, to, times);
		return;
	}
	if (last->hop->leaves)
		rvt_counts_jump(flow->counts, rvt_hop_path(flow->hops, last->hop)->last, to, times);
}

/* A path that was gone @times times, and from it to @to. */
static void expand_path(struct rvt_flow *flow, struct rvt_step_path *path, uint64_t to,
			uint64_t times)
{
	const uint32_t *word = rvt_step_way(path), *end = word + path->n_words;
	struct part part, last = {};

	for (bool first = true; word < end; first = false, last = part) {
		word = next_part(flow->hops, word, &part);
		if (!first && !counts_next(&last))
			expand_edge(flow, &last, address_of(flow->hops, &part), times);
		if (part.hop)
			rvt_flow_count_hop(flow, part.hop, times);
		else
			rvt_counts_run(flow->counts, rvt_block_of(&part.run), part.run.first,
				       part.run.count, times);
	}
	if (!counts_next(&last))
		expand_edge(flow, &last, to, times);
}

/* The counts of a step: before it goes, or when somebody asks. */
static void expand(struct rvt_flow *flow, struct rvt_step *s)
{
	if (!s->times || !flow->counts)
		return;
	expand_path(flow, rvt_step_path(flow->steps, s), s->pc, s->times);
	s->times = 0;
}

void rvt_steps_drop(struct rvt_flow *flow)
{
	if (!flow->recording)
		return;
	flow->recording = false;
	rvt_returns_log_end(&flow->returns, NULL);
}

/* What a step cannot hold. */
static bool is_more(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;

	return flow->result || steps->returns.invalid || flow->returns.recursion_max ||
	       !steps->n_words || steps->too_long || steps->leaves_half ||
	       !flow->has_pc || !flow->has_last ||
	       steps->key.meaning != rvt_flow_meaning(flow, steps->key.pc) ||
	       flow->stats.traps != steps->before.traps || flow->stats.gaps != steps->before.gaps;
}

/* Step @s cannot be found any more. */
static void unlink_step(struct rvt_steps *steps, const struct rvt_step *s)
{
	const unsigned int set = set_of(rvt_step_hash(&s->key), s->hint);
	const uint32_t number = s - steps->steps;

	for (unsigned int i = 0; i < RVT_STEP_WAYS; i++)
		if (steps->numbers[set][i] == number)
			steps->tags[set][i] = steps->numbers[set][i] = 0;
}

/* Where there is no way free it is the turn of each to go. */
static void link_step(struct rvt_steps *steps, const struct rvt_step *s, uint64_t hash,
		      uint32_t hint)
{
	const unsigned int set = set_of(hash, hint);
	unsigned int way = 0;

	while (way < RVT_STEP_WAYS && steps->tags[set][way])
		way++;
	if (way == RVT_STEP_WAYS)
		way = steps->turn++ % RVT_STEP_WAYS;
	steps->tags[set][way] = tag_of(hash);
	steps->numbers[set][way] = s - steps->steps;
}

/*
 * A step that goes for another. What was counted since the hand came here the last time stays once
 * more. NULL: all of them must stay.
 */
static struct rvt_step *take_used(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;

	for (uint32_t i = 0; i < 2 * RVT_STEP_ENTRIES; i++) {
		struct rvt_step *s;
		bool stays;

		steps->hand = steps->hand % (RVT_STEP_ENTRIES - 1) + 1;
		s = &steps->steps[steps->hand];
		stays = s->times || s->flags & RVT_STEP_ASIDE;
		expand(flow, s);
		if (stays)
			continue;
		unlink_step(steps, s);
		return s;
	}
	flow->aside.full = true;
	return NULL;
}

/*
 * The step of @key and @hint: its last version, a free one, or one that goes for it. NULL: there is
 * none.
 */
static struct rvt_step *make_room(struct rvt_flow *flow, const struct rvt_step_key *key,
				  uint32_t hint)
{
	struct rvt_steps *steps = flow->steps;
	uint64_t hash = rvt_step_hash(key);
	struct rvt_step *s = look_up(steps, key, hash, hint);

	if (s) {
		expand(flow, s);
		return s->flags & RVT_STEP_ASIDE ? NULL : s;
	}
	if (steps->n_steps < RVT_STEP_ENTRIES - 1) {
		s = &steps->steps[++steps->n_steps];
		/* of what was forgotten */
		s->key.meaning = 0;
		rvt_table_grows(steps, sizeof(*steps), steps->n_steps);
	} else {
		s = take_used(flow);
	}
	if (s)
		link_step(steps, s, hash, hint);
	return s;
}

/*
 * A path for @filled, with @room behind it in 16 bytes: that of @old, whose place it takes, if
 * there is room in it.
 */
static struct rvt_step_path *take_path(struct rvt_steps *steps, const struct rvt_step *old,
				       struct rvt_step *filled, size_t room)
{
	const struct rvt_step_path *path = rvt_step_path(steps, old);

	filled->path = old->path;
	if (!old->key.meaning || path->room < room) {
		filled->path = steps->n_path;
		rvt_step_path(steps, filled)->room = room;
		steps->n_path += 1 + room;
	}
	return rvt_step_path(steps, filled);
}

static void keep_calls(struct rvt_steps *steps, const struct rvt_step *s,
		       struct rvt_step_path *path)
{
	struct rvt_kept_calls *kept =
		(struct rvt_kept_calls *)steps->calls[s - steps->steps].kept;

	if (path->calls) {
		rvt_calls_keep_elsewhere((struct rvt_kept_calls *)(path + 1), kept);
		kept = (struct rvt_kept_calls *)(path + 1);
	}
	rvt_calls_keep(&steps->returns, kept);
}

/*
 * A step of what steps->words, .returns and @filled say, which ends as @end says. NULL: there is no
 * room for it.
 */
static struct rvt_step *keep(struct rvt_flow *flow, struct rvt_step *filled,
			     const struct rvt_step_path *end)
{
	struct rvt_steps *steps = flow->steps;
	struct rvt_step_path *path;
	struct rvt_step *s;
	size_t calls, room;

	calls = rvt_calls_bytes(&steps->returns);
	if (calls)
		filled->flags |= RVT_STEP_CALLS;
	calls = calls > sizeof(struct rvt_step_calls) ? CALLS_UNITS(calls) : 0;
	room = calls + WAY_UNITS(steps->n_words);
	s = make_room(flow, &steps->key, steps->hint);
	if (!s)
		return NULL;
	path = take_path(steps, s, filled, room);
	*s = *filled;
	path->last_block = end->last_block;
	path->last_insn = end->last_insn;
	path->consecutive = end->consecutive;
	path->n_words = steps->n_words;
	path->calls = calls;
	if (filled->flags & RVT_STEP_CALLS)
		keep_calls(steps, s, path);
	memcpy(rvt_step_way(path), steps->words, steps->n_words * sizeof(steps->words[0]));
	return s;
}

void rvt_steps_keep(struct rvt_flow *flow, uint64_t address, uint8_t extra)
{
	const struct rvt_step_path end = {
		.last_block = flow->last_block, .last_insn = flow->last_insn,
		.consecutive = flow->consecutive,
	};
	struct rvt_step filled;

	rvt_steps_drop(flow);
	if (is_more(flow) || !fill(flow, &filled))
		return;
	if (address != filled.pc) {
		if (address != flow->steps->key.address)
			return;
		filled.flags |= RVT_STEP_KEEPS_ADDRESS;
	}
	filled.extra = extra;
	keep(flow, &filled, &end);
}

/* ---- drafts ---- */

/* A step of what was walked without being recorded. */
static struct rvt_step *keep_draft(struct rvt_flow *flow, const struct rvt_step_draft *draft)
{
	struct rvt_steps *steps = flow->steps;
	const struct rvt_step_path end = end_of_draft(steps);
	struct rvt_step filled = steps->steps[0];

	filled.key = steps->key;
	filled.hint = steps->hint;
	steps->n_words = draft->n_hops;
	for (unsigned int i = 0; i < draft->n_hops; i++)
		steps->words[i] = rvt_hop_number(flow->hops, draft->hops[i]);
	return keep(flow, &filled, &end);
}

struct rvt_step *rvt_steps_draft(struct rvt_flow *flow, const struct rvt_step_draft *draft)
{
	struct rvt_steps *steps = flow->steps;
	struct rvt_step *s = &steps->steps[0];

	s->pc = draft->pc;
	s->sums = draft->sums;
	s->flags = draft->flags;
	s->extra = draft->extra;
	steps->draft_end = rvt_hop_path(flow->hops, draft->hops[draft->n_hops - 1]);
	steps->draft_consecutive = draft->consecutive;
	steps->draft_kept = is_known(steps, &steps->key, steps->hint) ? keep_draft(flow, draft) :
			    NULL;
	return s;
}

/* ---- joining ---- */

/* How many runs the way that was recorded has. */
static unsigned int runs_of_words(struct rvt_flow *flow)
{
	const struct rvt_steps *steps = flow->steps;
	const uint32_t *word = steps->words, *end = word + steps->n_words;
	unsigned int n = 0;
	struct part part;

	while (word < end) {
		word = next_part(flow->hops, word, &part);
		n += part.hop ? part.hop->n_runs : 1;
	}
	return n;
}

/* The ways of the steps of @row, one after the other. False: more than fits. */
static bool join_ways(struct rvt_steps *steps, const struct rvt_step_row *row)
{
	steps->n_words = 0;
	for (unsigned int i = 0; i < row->n; i++) {
		struct rvt_step_path *path = rvt_step_path(steps, row->steps[i]);

		if (steps->n_words + path->n_words > RVT_STEP_WORDS)
			return false;
		memcpy(steps->words + steps->n_words, rvt_step_way(path),
		       path->n_words * sizeof(steps->words[0]));
		steps->n_words += path->n_words;
	}
	return true;
}

/* What the steps of @row do together. False: more than fits. */
static bool add_row(const struct rvt_step_row *row, struct rvt_step *sum)
{
	uint64_t address = row->key.address, pc = row->key.pc;
	struct rvt_flow_stats stats = {};
	uint64_t sums;
	bool fits;

	*sum = (struct rvt_step){ .key = row->key };
	for (unsigned int i = 0; i < row->n; i++) {
		const struct rvt_step *s = row->steps[i];

		if (!s || s->flags & RVT_STEP_CALLS || s->key.pc != pc ||
		    s->key.meaning != row->key.meaning)
			return false;
		address = rvt_step_address(s, address);
		pc = s->pc;
		unpack(s, &stats);
	}
	if (address != pc) {
		if (address != row->key.address)
			return false;
		sum->flags |= RVT_STEP_KEEPS_ADDRESS;
	}
	sum->pc = pc;
	sum->extra = row->steps[row->n - 1]->extra;
	fits = rvt_step_pack(&stats, &sums);
	sum->sums = sums;
	return fits;
}

struct rvt_step *rvt_steps_join(struct rvt_flow *flow, const struct rvt_step_row *row)
{
	struct rvt_steps *steps = flow->steps;
	struct rvt_step_path end;
	struct rvt_step sum;

	if (!rvt_steps_have_room(steps) || !is_known(steps, &row->key, 0) ||
	    steps->hand != row->hand || !add_row(row, &sum) || !join_ways(steps, row))
		return NULL;
	/* There are no more runs than instructions. */
	if ((uint16_t)(sum.sums >> RVT_STEP_INSNS) > RVT_STEP_RUNS &&
	    runs_of_words(flow) > RVT_STEP_RUNS)
		return NULL;
	/* A copy: it may take the place of one of those that it is made of. */
	end = *rvt_step_path(steps, row->steps[row->n - 1]);
	steps->key = row->key;
	steps->hint = 0;
	steps->returns = (struct rvt_calls){ .n_pops = 0 };
	return keep(flow, &sum, &end);
}

/* ---- counts ---- */

/*
 * They lie all over their tables: first the step is fetched, then, when that is there, its path,
 * and then what that leads through. What only fetches must be inlined: else it has no effect for
 * the compiler.
 */
#define AHEAD 8

/* What is counted @ahead of @i; NULL: nothing. */
static struct rvt_step *counted_ahead(struct rvt_steps *steps, uint32_t i, uint32_t ahead)
{
	return i + ahead < steps->n_counted ? &steps->steps[steps->counted[i + ahead]] : NULL;
}

/* What the way of @path leads through: hops, and the blocks of runs. */
static inline __attribute__((always_inline)) void
fetch_way(struct rvt_flow *flow, struct rvt_step_path *path)
{
	const uint32_t *word = rvt_step_way(path), *end = word + path->n_words;
	struct part part;

	while (word < end) {
		word = next_part(flow->hops, word, &part);
		if (part.hop)
			__builtin_prefetch(part.hop, 1);
		else
			rvt_block_fetch(rvt_block_of(&part.run));
	}
}

static inline __attribute__((always_inline)) void
fetch_ahead(struct rvt_flow *flow, uint32_t i)
{
	struct rvt_steps *steps = flow->steps;
	const struct rvt_step *s = counted_ahead(steps, i, 3 * AHEAD);

	if (s)
		__builtin_prefetch(s);
	s = counted_ahead(steps, i, 2 * AHEAD);
	if (s)
		__builtin_prefetch(rvt_step_path(steps, s));
	s = counted_ahead(steps, i, AHEAD);
	if (s)
		fetch_way(flow, rvt_step_path(steps, s));
}

void rvt_steps_expand(struct rvt_flow *flow)
{
	struct rvt_steps *steps = flow->steps;

	if (!steps)
		return;
	for (uint32_t i = 0; i < steps->n_counted; i++) {
		fetch_ahead(flow, i);
		expand(flow, &steps->steps[steps->counted[i]]);
	}
	steps->n_counted = 0;
}

void rvt_steps_begin_times(struct rvt_flow *flow, struct rvt_step *s)
{
	struct rvt_steps *steps = flow->steps;

	expand(flow, s);
	/* A step that took the place of another is in the list a second time. */
	if (steps->n_counted == RVT_STEP_ENTRIES)
		rvt_steps_expand(flow);
	steps->counted[steps->n_counted++] = s - steps->steps;
}
