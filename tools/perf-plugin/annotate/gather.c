// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts straight lines of code by function. When all is decoded, it adds the counts to their
 * instructions. So memory grows with the code that ran.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/annotate.h"
#include "util/array.h"

#define CACHE_BITS 16
#define LAST_INSN 4	/* bytes of a line's last instruction, at most */

/* A piece of straight code in one function. */
struct code_line {
	struct code_line *next;
	uint64_t from, last;	/* offsets of its first and last instruction */
	uint64_t count, taken;	/* .taken: how often it ended in a taken branch */
	uint64_t time;
};

/* A slot of the cache: a line, or (.edge) a transfer to the beginning of a function. */
struct slot {
	const struct rvt_space *space;
	uint64_t generation, from, to;
	bool edge, used;
	struct code_function *function;	/* NULL: not wanted */
	struct code_line *line;
	struct code_caller *caller, *callee;	/* NULL: the other's code is not wanted */
};

struct code_state {
	void *functions;	/* tsearch tree */
	struct code_line *last;	/* the line that has just ended; NULL: not wanted */
	struct slot cache[1 << CACHE_BITS];
};

static int compare_functions(const void *a, const void *b)
{
	const struct code_function *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->dso, y->dso);
	return order ? order : (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static const char *base_name(const char *path)
{
	const char *base = strrchr(path, '/');

	return base ? base + 1 : path;
}

static bool wants(const struct code *code, const struct code_function *function)
{
	if (code->dsos && !view_in_files(code->dsos, function->dso))
		return false;
	return !code->symbol || !strcmp(code->symbol, function->name) ||
		!strcmp(code->symbol, function->linkage);
}

/* Copies code from @addr on to the function, up to @size. Returns 0 or -ENOMEM. */
static int copy_code(struct code_function *function, struct rvt_space *space, uint64_t addr,
		     uint64_t size)
{
	uint8_t *bytes = size <= function->size ? function->bytes :
		realloc(function->bytes, size);
	const uint8_t *found;

	if (!bytes)
		return -ENOMEM;
	function->bytes = bytes;
	while (function->size < size) {
		uint64_t rest = size - function->size;
		size_t len = space ? rvt_space_find(space, addr + function->size, &found) : 0;

		if (len > rest)
			len = rest;
		if (len)
			memcpy(bytes + function->size, found, len);
		else
			memset(bytes + function->size, 0, len = rest);
		function->size += len;
	}
	return 0;
}

/*
 * Finds or adds the function with @addr. Sets *@function; NULL: not wanted. Returns 0 or -ENOMEM.
 */
static int get_function(struct code *code, struct rvt_space *space, uint64_t addr,
			struct code_function **function)
{
	const struct place *place = places_find(code->places, space, addr);
	struct code_function key = {
		.name = place->symbol, .linkage = place->linkage, .dso = base_name(place->dso),
		.vaddr = place->vaddr - (addr - place->start), .path = place->path,
		.kernel = (int64_t)addr < 0 };
	struct code_function **found;
	uint64_t start = place->start, size = place->end - place->start;

	*function = NULL;
	if (!place->symbol || !wants(code, &key))
		return 0;
	found = tfind(&key, &code->state->functions, compare_functions);
	*function = found ? *found : malloc(sizeof(**function));
	if (!*function || (!found && array_grow(&code->list, code->n)))
		goto fail;
	if (!found) {
		**function = key;
		if (!tsearch(*function, &code->state->functions, compare_functions))
			goto fail;
		code->list[code->n++] = *function;
	}
	/* code of JIT compilers, and some assembly, has no size */
	return copy_code(*function, space, start, size ? size : addr - start + LAST_INSN);
fail:
	if (!found)
		free(*function);
	*function = NULL;
	return -ENOMEM;
}

static struct slot *find_slot(struct code_state *state, const struct rvt_space *space,
			      uint64_t from, uint64_t to, bool edge)
{
	const struct slot wanted = { .space = space, .from = from, .to = to, .edge = edge,
				     .generation = space ? rvt_space_generation(space) : 0 };
	uint64_t hash = ((from >> 1) * 0x9e3779b97f4a7c15ULL ^ to ^ (uintptr_t)space << 8 ^ edge) *
		0x9e3779b97f4a7c15ULL;
	struct slot *slot = &state->cache[hash >> (64 - CACHE_BITS)];

	if (!slot->used || slot->space != space || slot->generation != wanted.generation ||
	    slot->from != from || slot->to != to || slot->edge != edge)
		*slot = wanted;
	return slot;
}

static struct code_line *get_line(struct code_function *function, uint64_t from, uint64_t last)
{
	struct code_line **link = &function->lines, *line;

	while (*link && ((*link)->from != from || (*link)->last != last))
		link = &(*link)->next;
	line = *link;
	if (line) {
		/* moves it to the front, as the next look-up is likely the same */
		*link = line->next;
	} else {
		line = calloc(1, sizeof(*line));
		if (!line)
			return NULL;
		line->from = from;
		line->last = last;
	}
	line->next = function->lines;
	function->lines = line;
	return line;
}

/*
 * Sets .line of the slot to the part of the line that is in the function at @from; *@end: where
 * that part ends.
 */
static int attribute_line(struct code *code, struct slot *slot, struct rvt_space *space,
			  uint64_t from, uint64_t last, uint64_t *end)
{
	const struct place *place = places_find(code->places, space, from);
	uint64_t start = place->start;
	bool sized = place->end > start;
	int err;

	*end = place->symbol && place->end > from && place->end <= last ? place->end : last + 1;
	err = get_function(code, space, from, &slot->function);
	if (err || !slot->function)
		return err;
	if (!sized)
		err = copy_code(slot->function, space, start, last - start + LAST_INSN);
	slot->line = err ? NULL : get_line(slot->function, from - start, *end - 1 - start);
	return slot->line ? 0 : -ENOMEM;
}

/* Counts a line that runs through several functions, which is rare: each gets its part. */
static int split_line(struct code *code, struct rvt_space *space, uint64_t from, uint64_t last,
		      uint64_t time)
{
	uint64_t whole = last + 1 - from;
	int err = 0;

	while (from <= last && !err) {
		struct slot slot = { 0 };
		uint64_t end = last + 1;

		err = attribute_line(code, &slot, space, from, last, &end);
		code->state->last = slot.line;
		if (slot.line) {
			slot.line->count++;
			slot.line->time += (double)time * (end - from) / whole;
		}
		from = end;
	}
	return err;
}

int code_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
	      struct rvt_callstack *stack)
{
	struct code *code = ctx;
	uint64_t time = hart->time > line->began ? hart->time - line->began : 0, end;
	struct slot *slot = find_slot(code->state, hart->space, line->first, line->last, false);
	int err;

	(void)stack;
	code->timed |= hart->time_exact;
	code->count += line->insns;
	if (!slot->used) {
		err = attribute_line(code, slot, hart->space, line->first, line->last, &end);
		if (err)
			return err;
		if (end <= line->last)
			return split_line(code, hart->space, line->first, line->last, time);
		slot->used = true;
	}
	code->state->last = slot->line;
	if (slot->line) {
		slot->line->count++;
		slot->line->time += time;
	}
	return 0;
}

/* Finds or adds an entry in the list at @first. NULL: out of memory. */
static struct code_caller *get_caller(struct code_caller **first, const struct place *place,
				      uint64_t offset)
{
	const char *name = place->symbol ? place->symbol : "[unknown]";
	const char *dso = base_name(place->dso);
	struct code_caller *caller = *first;

	while (caller && (caller->offset != offset || strcmp(caller->name, name) ||
			  strcmp(caller->dso, dso)))
		caller = caller->next;
	if (caller)
		return caller;
	caller = calloc(1, sizeof(*caller));
	if (!caller)
		return NULL;
	*caller = (struct code_caller){ .next = *first, .name = name, .dso = dso,
					.offset = offset };
	return *first = caller;
}

/*
 * Sets .function, .caller and .callee for a transfer from elsewhere to the beginning of a function.
 */
static int attribute_edge(struct code *code, struct slot *slot, struct rvt_hart_flow *hart,
			  const struct rvt_transfer *transfer)
{
	const struct place to = *places_find(code->places, hart->space, transfer->to);
	const struct place from = *places_find(code->places, hart->space, transfer->from);
	bool enters = to.symbol && to.start == transfer->to &&
		(transfer->kind == RVT_TRANSFER_CALL || transfer->from < to.start ||
		 transfer->from >= to.end);
	struct code_function *caller = NULL;
	int err = enters ? get_function(code, hart->space, transfer->to, &slot->function) : 0;

	if (!err && enters && transfer->kind != RVT_TRANSFER_TRAP)
		err = get_function(code, hart->space, transfer->from, &caller);
	if (!err && slot->function) {
		slot->caller = get_caller(&slot->function->callers, &from, 0);
		err = slot->caller ? 0 : -ENOMEM;
	}
	if (!err && caller) {
		slot->callee = get_caller(&caller->callees, &to, transfer->from - from.start);
		err = slot->callee ? 0 : -ENOMEM;
	}
	return err;
}

int code_transfer(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		  struct rvt_callstack *stack)
{
	struct code *code = ctx;
	struct slot *slot;
	int err;

	(void)stack;
	if (transfer->kind == RVT_TRANSFER_BRANCH) {
		if (code->state->last)
			code->state->last->taken++;
		return 0;
	}
	if (transfer->kind == RVT_TRANSFER_RETURN || transfer->kind >= RVT_TRANSFER_TRAP_RETURN)
		return 0;
	slot = find_slot(code->state, hart->space, transfer->from, transfer->to, true);
	if (!slot->used) {
		err = attribute_edge(code, slot, hart, transfer);
		if (err)
			return err;
		slot->used = true;
	}
	if (slot->function) {
		slot->function->entered++;
		slot->caller->count++;
	}
	if (slot->callee)
		slot->callee->count++;
	return 0;
}

/* ---- when all is decoded ---- */

static int list_insns(struct code_function *function)
{
	size_t room = 0;

	for (uint64_t at = 0; at + 2 <= function->size; at += function->insns[function->n++].len) {
		struct code_insn *insn;
		struct rvt_insn decoded;

		if (array_reserve(&function->insns, &room, function->n, 1))
			return -ENOMEM;
		insn = &function->insns[function->n];
		*insn = (struct code_insn){ .offset = at, .len = 2 };
		if (!rvt_insn_decode(function->bytes + at, function->size - at, 0, &decoded)) {
			insn->len = decoded.len_bytes;
			insn->iclass = decoded.iclass;
		}
	}
	return 0;
}

/* Finds the instruction at an offset, or the last one before it. */
static struct code_insn *find_insn(const struct code_function *function, uint64_t offset)
{
	size_t low = 0, high = function->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (function->insns[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &function->insns[low - 1] : NULL;
}

static void spread_line(struct code_function *function, const struct code_line *line)
{
	struct code_insn *first = find_insn(function, line->from);
	struct code_insn *last = find_insn(function, line->last);
	uint64_t n = last - first + 1;

	if (!first || last < first)
		return;
	for (struct code_insn *insn = first; insn <= last; insn++) {
		insn->count += line->count;
		/* the last one gets the remainder, too */
		insn->time += insn < last ? line->time / n : line->time - line->time / n * (n - 1);
	}
	last->taken += line->taken;
	function->count += n * line->count;
	function->time += line->time;
}

/* Compares by frequency, the most frequent first, then by name. */
static bool comes_before(const struct code_caller *x, const struct code_caller *y)
{
	int order;

	if (x->count != y->count)
		return x->count > y->count;
	order = strcmp(x->name, y->name);
	if (!order)
		order = strcmp(x->dso, y->dso);
	return order ? order < 0 : x->offset < y->offset;
}

static struct code_caller *sort_callers(struct code_caller *caller)
{
	struct code_caller *sorted = NULL, *next;

	for (; caller; caller = next) {
		struct code_caller **link = &sorted;

		next = caller->next;
		while (*link && comes_before(*link, caller))
			link = &(*link)->next;
		caller->next = *link;
		*link = caller;
	}
	return sorted;
}

static int finish_function(struct code_function *function)
{
	int err = list_insns(function);

	for (struct code_line *line = function->lines; line && !err; line = line->next)
		spread_line(function, line);
	function->callers = sort_callers(function->callers);
	function->callees = sort_callers(function->callees);
	return err;
}

static int compare_counts(const void *a, const void *b)
{
	const struct code_function *const *x = a, *const *y = b;

	if ((*x)->count != (*y)->count)
		return (*x)->count < (*y)->count ? 1 : -1;
	return compare_functions(*x, *y);
}

static void free_nothing(void *function)
{
	(void)function;
}

int code_begin(struct code *code)
{
	code->state = calloc(1, sizeof(*code->state));
	return code->state ? 0 : -ENOMEM;
}

int code_end(struct code *code)
{
	int err = 0;

	for (size_t i = 0; i < code->n && !err; i++)
		err = finish_function(code->list[i]);
	if (code->n)
		qsort(code->list, code->n, sizeof(*code->list), compare_counts);
	if (code->state)
		tdestroy(code->state->functions, free_nothing);
	free(code->state);
	code->state = NULL;
	return err;
}

static void free_callers(struct code_caller *caller)
{
	while (caller) {
		struct code_caller *next = caller->next;

		free(caller);
		caller = next;
	}
}

static void free_function(struct code_function *function)
{
	while (function->lines) {
		struct code_line *line = function->lines;

		function->lines = line->next;
		free(line);
	}
	free_callers(function->callers);
	free_callers(function->callees);
	free(function->bytes);
	free(function->insns);
	free(function);
}

void code_free(struct code *code)
{
	for (size_t i = 0; i < code->n; i++)
		free_function(code->list[i]);
	free(code->list);
}

struct gathering {
	struct code *code;
	struct transfers *transfers;
};

static bool wants_place(void *ctx, const struct place *place)
{
	const struct code_function function = {
		.name = place->symbol, .linkage = place->linkage, .dso = base_name(place->dso) };

	return place->symbol && wants(ctx, &function);
}

static bool wants_granule(void *ctx, const struct rvt_index_granule *granule, uint64_t size)
{
	struct code *code = ctx;

	return places_any(code->places, granule, size, wants_place, code);
}

/*
 * Has the index choose what is decoded. The number of all instructions is known without decoding;
 * but with filters, those that pass must be counted, so granules do not choose then.
 */
static bool use_index(struct code *code)
{
	bool granules = (code->symbol || code->dsos) && !view_has_filters(code->view);

	return code->uses_index &&
		view_use_index(code->view, granules ? wants_granule : NULL, code);
}

static void *get_context(void *ctx)
{
	const struct gathering *gathering = ctx;

	return gathering->transfers;
}

static void forget(void *ctx)
{
	const struct gathering *gathering = ctx;

	transfers_forget(gathering->transfers);
	code_forget(gathering->code);
}

void code_forget(struct code *code)
{
	tdestroy(code->state->functions, free_nothing);
	memset(code->state, 0, sizeof(*code->state));
	code_free(code);
	code->list = NULL;
	code->n = 0;
	code->count = 0;
	code->timed = false;
}

/* Decodes on one thread only what the index says. */
static int run_chosen(struct code *code, struct transfers *transfers,
		      const struct rvt_session_sink *sink)
{
	struct gathering gathering = { code, transfers };
	const struct rvt_session_slices slices = { .ctx = &gathering, .overlap = true,
						   .open = get_context, .reset = forget };
	int err = view_run_slices(code->view, sink, &slices, false);
	struct view_losses losses;

	code->errors += view_skipped_losses(code->view);
	if (view_has_filters(code->view))
		return err;
	view_losses(code->view, &losses);
	code->count = losses.insns;
	/* only recordings with time stamps have an index */
	code->timed |= code->count != 0;
	return err;
}

int code_gather(struct code *code)
{
	const struct rvt_transfers_ops ops = { .size = sizeof(ops), .ctx = code, .line = code_line,
					       .transfer = code_transfer };
	struct rvt_session_sink sink = { .size = sizeof(sink), .warning = view_warning };
	struct transfers *transfers = transfers_create(&ops, code->view, 0);
	int err = transfers ? code_begin(code) : -ENOMEM, ended;

	if (!err) {
		transfers_sink(transfers, &sink);
		err = use_index(code) ? run_chosen(code, transfers, &sink) :
					view_run(code->view, &sink, false);
		code->errors += transfers_lost(transfers);
	}
	ended = code_end(code);
	transfers_destroy(transfers);
	return err ? err : ended;
}

struct place code_place(const struct code_function *function, const struct code_insn *insn)
{
	return (struct place){ .dso = function->kernel ? "[kernel.kallsyms]" : function->dso,
			       .path = function->path, .vaddr = function->vaddr + insn->offset };
}

const char *code_taken(const struct code_insn *insn, char text[16])
{
	if (insn->iclass != RVT_INSN_BRANCH || !insn->count)
		return "";
	if (!insn->taken || insn->taken >= insn->count)
		return insn->taken ? "always" : "never";
	snprintf(text, 16, "%.2f%%", 100.0 * insn->taken / insn->count);
	return text;
}
