// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/calls-saved.h"
#include "common/calls-state.h"

/* Functions come first, as calls name them by number; then threads, by process and thread. */
#define FUNCTIONS CALLS_KEYS
#define GENERAL (CALLS_KEYS + (UINT64_C(1) << 32))
#define UNSEEN (GENERAL + 1)
#define THREADS (UINT64_C(1) << 61)
#define ID_BITS 30
/*
 * At most so many functions: an array has them by number, and a damaged file may have any number.
 */
#define MAX_FUNCTIONS (1u << 22)
#define ID_MASK ((1u << ID_BITS) - 1)

enum { TRAP = 1, TAIL = 2, WHOLE = 4 };

struct saving {
	int (*keep)(void *ctx, uint64_t key, const struct words *words);
	void *ctx;
	bool *kept;		/* functions, by number */
	struct words words, name;
	int err;
};

/* ---- texts ---- */

static void put_text(struct words *words, const char *text)
{
	size_t len = strlen(text);

	words_put(words, len);
	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, text + i, len - i < sizeof(word) ? len - i : sizeof(word));
		words_put(words, word);
	}
}

/* Reads a text, malloc'd. NULL: out of memory, or no text. */
static char *get_text(struct words *words)
{
	uint64_t len = words_get(words);
	char *text;

	if (words->failed || len / sizeof(uint64_t) > words->room - words->n) {
		words->failed = true;
		return NULL;
	}
	text = calloc(1, len + sizeof(uint64_t) + 1);
	words->failed |= !text;
	for (size_t i = 0; text && i < len; i += sizeof(uint64_t)) {
		uint64_t word = words_get(words);

		memcpy(text + i, &word, sizeof(word));
	}
	if (text)
		text[len] = 0;
	return text;
}

/* ---- saving ---- */

static void keep(struct saving *saving, uint64_t key, struct words *words)
{
	if (!saving->err)
		saving->err = words->failed ? -ENOMEM : saving->keep(saving->ctx, key, words);
	words->n = 0;
}

static void keep_function(struct saving *saving, const struct call_function *function)
{
	struct words *name = &saving->name;

	if (saving->kept[function->number])
		return;
	saving->kept[function->number] = true;
	words_put(name, function->kernel);
	put_text(name, function->name);
	put_text(name, function->linkage);
	put_text(name, function->dso);
	keep(saving, FUNCTIONS + function->number, name);
}

/*
 * Writes a call, in differences to the call around it, @outer, which is similar in many ways;
 * zeroed: none.
 */
static void put_call(struct words *words, const struct call *call, const struct call *outer)
{
	words_put(words, call->function->number);
	words_put(words, call->from - outer->addr);
	words_put(words, call->addr - call->from);
	words_put(words, call->back - call->from);
	words_put(words, (call->trap ? TRAP : 0) | (call->tail ? TAIL : 0) |
		  (call->whole ? WHOLE : 0));
	words_put(words, (uint32_t)call->cpu - (uint32_t)outer->cpu);
	words_put(words, call->began - outer->began);
	words_put(words, call->away - outer->away);
	words_put(words, call->insns - outer->insns);
	words_put(words, call->callee_time);
	words_put(words, call->callee_away);
	words_put(words, call->callee_insns);
}

static uint64_t thread_key(const struct call_thread *thread)
{
	return THREADS | (uint64_t)((uint32_t)thread->pid & ID_MASK) << ID_BITS |
		((uint32_t)thread->tid & ID_MASK);
}

static void save_thread(const void *node, VISIT which, void *closure)
{
	const struct call_thread *thread = *(const struct call_thread *const *)node;
	const struct call none = { .addr = 0 };
	struct saving *saving = closure;
	struct words *words = &saving->words;

	if (which != postorder && which != leaf)
		return;
	words_put(words, (uint32_t)thread->pid);
	words_put(words, (uint32_t)thread->tid);
	words_put(words, thread->life);
	words_put(words, thread->insns);
	words_put(words, thread->until);
	words_put(words, thread->away);
	words_put(words, thread->seen);
	words_put(words, thread->stopped);
	words_put(words, thread->stop);
	words_put(words, thread->n);
	for (size_t i = 0; i < thread->n; i++) {
		keep_function(saving, thread->calls[i].function);
		put_call(words, &thread->calls[i], i ? &thread->calls[i - 1] : &none);
	}
	put_text(words, thread->comm ? thread->comm : "");
	keep(saving, thread_key(thread), words);
}

static void save_general(struct saving *saving, const struct calls *calls)
{
	struct words *words = &saving->words;

	words_put(words, calls->timed);
	words_put(words, calls->n_lost);
	for (size_t i = 0; i < calls->n_lost; i++) {
		words_put(words, calls->lost[i]);
		words_put(words, calls->ever_lost[i]);
	}
	keep(saving, GENERAL, words);
}

int calls_note_unseen(struct calls_unseen *unseen, const struct call *call)
{
	size_t n = 0;

	if (call->whole)
		return 0;
	while (n < unseen->n && unseen->functions[n] != call->function->number)
		n++;
	if (n == unseen->n) {
		if (array_grow(&unseen->functions, n) || array_grow(&unseen->times, n))
			return -ENOMEM;
		unseen->functions[n] = call->function->number;
		unseen->times[n] = 0;
		unseen->n++;
	}
	unseen->times[n]++;
	return 0;
}

void calls_unseen_clear(struct calls_unseen *unseen)
{
	free(unseen->functions);
	free(unseen->times);
	*unseen = (struct calls_unseen){ .n = 0 };
}

static void find_function(const void *node, VISIT which, void *closure)
{
	const struct call_function *function = *(const struct call_function *const *)node;
	const struct call_function **list = closure;

	if (which == postorder || which == leaf)
		list[function->number] = function;
}

static void save_unseen(struct saving *saving, const struct calls *calls,
			const struct calls_unseen *unseen)
{
	const struct call_function **list = calloc(calls->n_functions + 1, sizeof(*list));

	saving->words.failed |= !list;
	if (list)
		twalk_r(calls->functions, find_function, list);
	for (size_t i = 0; list && i < unseen->n; i++) {
		keep_function(saving, list[unseen->functions[i]]);
		words_put(&saving->words, unseen->functions[i]);
		words_put(&saving->words, unseen->times[i]);
	}
	keep(saving, UNSEEN, &saving->words);
	free(list);
}

int calls_save(const struct calls *calls, const struct calls_unseen *unseen,
	       int (*keep_words)(void *ctx, uint64_t key, const struct words *words), void *ctx)
{
	struct saving saving = { .keep = keep_words, .ctx = ctx,
				 .kept = calloc(calls->n_functions + 1, sizeof(bool)) };

	if (!saving.kept)
		return -ENOMEM;
	if (calls->n_functions > MAX_FUNCTIONS) {
		free(saving.kept);
		return -ENOTSUP;
	}
	twalk_r(calls->threads, save_thread, &saving);
	save_general(&saving, calls);
	save_unseen(&saving, calls, unseen);
	free(saving.kept);
	free(saving.words.at);
	free(saving.name.at);
	return saving.err;
}

/* ---- loading ---- */

/* State of loading. Functions are by the index's number of them; others are NULL. */
struct loading {
	struct calls *calls;	/* NULL: the functions are only compared */
	struct call_function **functions;
	size_t n_functions;
	bool (*wants)(void *ctx, const struct call_function *function);
	void *wants_ctx;
	bool *wanted;		/* by number */
	uint64_t open;
};

static int add_function(struct loading *loading, uint64_t number, bool kernel,
			const char *const names[3])
{
	const struct call_function function = { .name = names[0], .linkage = names[1],
						.dso = names[2], .kernel = kernel };
	size_t n = loading->n_functions;
	struct calls *calls = loading->calls;

	if (number >= MAX_FUNCTIONS)
		return -EBADMSG;
	for (; n <= number; n++) {
		if (array_grow(&loading->functions, n) || array_grow(&loading->wanted, n))
			return -ENOMEM;
		loading->functions[n] = NULL;
		loading->wanted[n] = false;
		loading->n_functions = n + 1;
	}
	if (!calls) {
		loading->wanted[number] = loading->wants(loading->wants_ctx, &function);
		return 0;
	}
	loading->functions[number] = calls_function(calls, places_keep(calls->places, names[0]),
						    places_keep(calls->places, names[1]),
						    places_keep(calls->places, names[2]), kernel);
	return loading->functions[number] ? 0 : -ENOMEM;
}

static int take_function(void *ctx, uint64_t key, struct words *words)
{
	bool kernel = words_get(words);
	char *names[3];
	int err = 0;

	for (size_t i = 0; i < 3; i++)
		names[i] = get_text(words);
	if (words->failed)
		err = -EBADMSG;
	else
		err = add_function(ctx, key - FUNCTIONS, kernel, (const char *const *)names);
	for (size_t i = 0; i < 3; i++)
		free(names[i]);
	return err;
}

static struct call_function *function_of(const struct loading *loading, uint64_t number)
{
	return number < loading->n_functions ? loading->functions[number] : NULL;
}

static void get_call(struct words *words, struct call *call, const struct call *outer)
{
	uint64_t flags;

	call->from = outer->addr + words_get(words);
	call->addr = call->from + words_get(words);
	call->back = call->from + words_get(words);
	flags = words_get(words);
	call->trap = flags & TRAP;
	call->tail = flags & TAIL;
	call->whole = flags & WHOLE;
	call->cpu = (int32_t)((uint32_t)outer->cpu + (uint32_t)words_get(words));
	call->began = outer->began + words_get(words);
	call->away = outer->away + words_get(words);
	call->insns = outer->insns + words_get(words);
	call->callee_time = words_get(words);
	call->callee_away = words_get(words);
	call->callee_insns = words_get(words);
}

/* Returns whether the thread had this call as number @n before. */
static bool was_known(const struct call_thread *thread, size_t n, const struct call *call)
{
	const struct call *before = n < thread->n ? &thread->calls[n] : NULL;

	return before && before->function == call->function && before->addr == call->addr &&
		before->began == call->began && before->insns == call->insns;
}

static int load_calls(struct loading *loading, struct call_thread *thread, struct words *words)
{
	struct calls *calls = loading->calls;
	size_t n = words_get_count(words), known = 0, tails = 0;
	const struct call none = { .addr = 0 };
	int err = 0;

	if (n > thread->n && array_reserve(&thread->calls, &thread->room, thread->n, n - thread->n))
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		struct call call = { .function = function_of(loading, words_get(words)) };

		get_call(words, &call, i ? &thread->calls[i - 1] : &none);
		/* a tail call has a caller that is no tail call */
		if (!call.function || words->failed ||
		    (call.tail && (!i || thread->calls[i - 1].tail)))
			return -EBADMSG;
		tails += call.tail;
		/* calls are only the same below the same calls */
		if (known == i && was_known(thread, i, &call)) {
			call.user = thread->calls[i].user;
			known++;
		} else if (calls->ops.restore) {
			err = calls->ops.restore(calls->ops.ctx, thread, &call);
		}
		thread->calls[i] = call;
	}
	thread->n = n;
	thread->n_tails = tails;
	return err;
}

static int take_thread(void *ctx, uint64_t key, struct words *words)
{
	struct loading *loading = ctx;
	struct call_thread id = { .pid = (int32_t)words_get(words),
				  .tid = (int32_t)words_get(words) };
	struct call_thread *thread = calls_thread(loading->calls, &id);
	char *comm;
	int err;

	(void)key;
	if (!thread)
		return -ENOMEM;
	thread->life = words_get(words);
	thread->insns = words_get(words);
	thread->until = words_get(words);
	thread->away = words_get(words);
	thread->seen = words_get(words);
	thread->stopped = words_get(words);
	thread->stop = words_get(words);
	err = load_calls(loading, thread, words);
	comm = err ? NULL : get_text(words);
	if (comm && *comm)
		thread->comm = places_keep(loading->calls->places, comm);
	free(comm);
	return err ? err : words->failed ? -EBADMSG : 0;
}

static int take_general(void *ctx, uint64_t key, struct words *words)
{
	struct loading *loading = ctx;
	struct calls *calls = loading->calls;
	size_t n;

	(void)key;
	calls->timed = words_get(words);
	n = words_get_count(words);
	if (words->failed)
		return -EBADMSG;
	if (calls_lost_room(calls, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		calls->lost[i] = words_get(words);
		calls->ever_lost[i] = words_get(words);
	}
	return words->failed ? -EBADMSG : 0;
}

int calls_load(struct calls *calls, struct rvt_station_reader *reader)
{
	struct loading loading = { .calls = calls };
	int err = rvt_station_reader_walk(reader, FUNCTIONS, GENERAL, take_function, &loading);

	if (!err)
		err = rvt_station_reader_walk(reader, GENERAL, UNSEEN, take_general, &loading);
	if (!err)
		err = rvt_station_reader_walk(reader, THREADS, RVT_STATION_KEYS, take_thread,
					      &loading);
	free(loading.functions);
	free(loading.wanted);
	return err;
}

int calls_load_losses(struct calls *calls, struct rvt_station_reader *reader)
{
	struct loading loading = { .calls = calls };
	bool timed = calls->timed;
	int err = rvt_station_reader_walk(reader, GENERAL, UNSEEN, take_general, &loading);

	calls->timed = timed;
	for (size_t i = 0; i < calls->n_lost; i++)
		calls->lost[i] = calls->ever_lost[i];
	return err;
}

/* ---- looking ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

static int look_at_thread(void *ctx, uint64_t key, struct words *words)
{
	struct loading *loading = ctx;
	struct call outer = { .addr = 0 };
	size_t n;

	for (size_t i = 0; i < 9; i++)
		words_get(words);
	n = words_get_count(words);
	for (size_t i = 0; i < n && !words->failed; i++) {
		uint64_t number = words_get(words);
		struct call call;

		get_call(words, &call, &outer);
		outer = call;
		if (number >= loading->n_functions || !loading->wanted[number])
			continue;
		loading->open = mix(mix(mix(mix(loading->open, key), i), call.began), call.insns);
		loading->open = mix(loading->open, call.addr);
	}
	return words->failed ? -EBADMSG : 0;
}

static int look_at_unseen(void *ctx, uint64_t key, struct words *words)
{
	struct loading *loading = ctx;

	(void)key;
	while (words->n < words->room) {
		uint64_t number = words_get(words), times = words_get(words);

		if (number < loading->n_functions && loading->wanted[number])
			loading->open = mix(mix(loading->open, number), times);
	}
	return 0;
}

int calls_open(struct rvt_station_reader *reader,
	       bool (*wants)(void *ctx, const struct call_function *function), void *ctx,
	       uint64_t *open)
{
	struct loading loading = { .wants = wants, .wants_ctx = ctx };
	int err = rvt_station_reader_walk(reader, FUNCTIONS, GENERAL, take_function, &loading);

	if (!err)
		err = rvt_station_reader_walk(reader, UNSEEN, UNSEEN + 1, look_at_unseen,
					      &loading);
	if (!err)
		err = rvt_station_reader_walk(reader, THREADS, RVT_STATION_KEYS, look_at_thread,
					      &loading);
	*open = loading.open;
	free(loading.functions);
	free(loading.wanted);
	return err;
}
