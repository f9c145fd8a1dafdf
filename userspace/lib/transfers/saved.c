// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include "callstack/share.h"
#include "saved.h"
#include "state.h"

/* What belongs to no thread has the last key: threads come in the order of theirs. */
#define GENERAL (RVT_TRANSFERS_KEYS - 1)

struct saving {
	int (*keep)(void *ctx, uint64_t key, const struct words *words);
	void *ctx;
	struct words words;
	int err;
};

static void keep(struct saving *saving, uint64_t key)
{
	saving->err = saving->words.failed ? -ENOMEM :
		      saving->keep(saving->ctx, key, &saving->words);
	saving->words.n = 0;
}

static void save_thread(const void *node, VISIT which, void *closure)
{
	const struct thread_stack *thread = *(const struct thread_stack *const *)node;
	struct saving *saving = closure;
	struct words *words = &saving->words;
	bool left = rvt_callstack_has_left(thread->stack) && rvt_callstack_is_first(thread->stack);

	if (saving->err || (which != postorder && which != leaf))
		return;
	words_put(words, (uint32_t)thread->tid);
	words_put(words, (uint32_t)thread->pid);
	words_put(words, thread->life);
	words_put(words, thread->stopped_at);
	words_put(words, left);
	rvt_callstack_save(thread->stack, words);
	if (left)
		rvt_callstack_save_left(thread->stack, words);
	keep(saving, thread->serial);
}

int rvt_transfers_save(const struct rvt_transfers *transfers,
		       int (*keep_words)(void *ctx, uint64_t key, const struct words *words),
		       void *ctx)
{
	struct saving saving = { .keep = keep_words, .ctx = ctx };

	twalk_r(transfers->threads, save_thread, &saving);
	words_put(&saving.words, transfers->handler);
	if (!saving.err)
		keep(&saving, GENERAL);
	free(saving.words.at);
	return saving.err;
}

static int load_thread(struct rvt_transfers *transfers, uint64_t key, struct words *words)
{
	int32_t tid = (uint32_t)words_get(words), pid = (uint32_t)words_get(words);
	uint32_t life = words_get(words);
	struct thread_stack *thread;
	bool left;
	int err;

	if (words->failed || key != transfers->n_threads)
		return -EBADMSG;
	thread = rvt_transfers_thread(transfers, tid, pid, life);
	if (!thread)
		return -ENOMEM;
	/* each has one */
	if (thread->serial != key)
		return -EBADMSG;
	thread->stopped_at = words_get(words);
	left = words_get(words);
	err = rvt_callstack_load(thread->stack, words);
	if (!err && left)
		err = rvt_callstack_load_left(thread->stack, words);
	return err || rvt_callstack_is_sound(thread->stack) ? err : -EBADMSG;
}

int rvt_transfers_load(struct rvt_transfers *transfers, uint64_t key, struct words *words)
{
	int err = 0;

	if (key == GENERAL)
		transfers->handler = words_get(words);
	else
		err = load_thread(transfers, key, words);
	return err ? err : words->failed || words->n != words->room ? -EBADMSG : 0;
}

/* ---- hart flows ---- */

static void put_line(struct words *words, const struct hart_state *state)
{
	words_put(words, state->in_line);
	words_put(words, state->in_line ? state->line.first : 0);
	words_put(words, state->in_line ? state->line.insns : 0);
	words_put(words, state->in_line ? state->line.began : 0);
	words_put(words, state->has_last);
	words_put(words, state->has_last ? state->last_class : 0);
	words_put(words, state->has_last ? state->last : 0);
	words_put(words, state->has_last ? state->next : 0);
}

void rvt_transfers_save_hart(const struct rvt_hart_flow *hart, struct words *words)
{
	static const struct hart_state none;
	const struct hart_state *state = hart->user ? hart->user : &none;

	put_line(words, state);
	words_put(words, state->lost);
	words_put(words, state->stopped);
	words_put(words, state->stopped_at);
	words_put(words, !!state->thread);
	words_put(words, state->thread ? (uint32_t)state->thread->tid : 0);
}

/* Whether the line at hand is as @words have it, and belongs to nobody else. */
static bool is_same_line(const struct hart_state *state, struct words *words)
{
	struct words own = { .at = NULL };
	bool same = !state->others;

	put_line(&own, state);
	for (size_t i = 0; i < own.n; i++)
		same &= words_get(words) == own.at[i];
	same &= !own.failed;
	free(own.at);
	return same;
}

int rvt_transfers_load_hart(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
			    struct words *words)
{
	struct hart_state *state = rvt_transfers_hart(hart);
	struct thread_stack **found;
	bool has_thread;
	int32_t tid;

	if (!state)
		return -ENOMEM;
	if (!is_same_line(state, words))
		return -EAGAIN;
	state->lost = words_get(words);
	state->stopped = words_get(words);
	state->stopped_at = words_get(words);
	has_thread = words_get(words);
	tid = (uint32_t)words_get(words);
	found = has_thread ? tfind(&tid, &transfers->threads, rvt_transfers_compare) : NULL;
	state->thread = found ? *found : NULL;
	return words->failed || (has_thread && !found) ? -EAGAIN : 0;
}
