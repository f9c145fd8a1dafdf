// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What stacks ask of the code, by the symbols and .eh_frame of the files that are mapped. */
#include <stdlib.h>
#include <string.h>
#include <rvtrace/callstack.h>
#include <rvtrace/symbol.h>

#define SLOTS 16384

/* What was found for an address; good as long as the mappings are. */
struct slot {
	const struct rvt_space *space;	/* NULL: free */
	uint64_t generation, pc;
	uint64_t start, end;	/* 0: no function is known */
	bool has_pad;		/* .pad was looked for */
	uint64_t pad;
	bool has_is_pad, is_pad;	/* .is_pad is known, and whether this is one */
};

struct rvt_unwind {
	struct rvt_symbols *symbols;
	struct rvt_space *space;
	struct rvt_callstack_code code;
	struct slot slots[SLOTS];
};

/* NULL: nothing is mapped there. */
static struct slot *find_slot(struct rvt_unwind *unwind, uint64_t pc, struct rvt_location *location)
{
	struct rvt_space *space = unwind->space ? rvt_space_holder(unwind->space, pc) : NULL;
	struct slot *slot = &unwind->slots[(pc >> 1) % SLOTS];
	uint64_t generation;

	if (!space)
		return NULL;
	generation = rvt_space_generation(space);
	if (slot->space == space && slot->pc == pc && slot->generation == generation)
		return slot;
	if (rvt_space_locate(space, pc, location) || !location->path)
		return NULL;
	*slot = (struct slot){ .space = space, .generation = generation, .pc = pc };
	if (!rvt_symbols_extent(unwind->symbols, location, pc, &slot->start, &slot->end))
		slot->start = slot->end = 0;
	return slot;
}

static bool find_function(void *ctx, uint64_t pc, uint64_t *start, uint64_t *end)
{
	struct rvt_location location;
	const struct slot *slot = find_slot(ctx, pc, &location);

	if (!slot || !slot->end)
		return false;
	*start = slot->start;
	*end = slot->end;
	return true;
}

static uint64_t find_landing_pad(void *ctx, uint64_t from)
{
	struct rvt_unwind *unwind = ctx;
	struct rvt_location location;
	struct slot *slot = find_slot(unwind, from, &location);

	if (!slot)
		return 0;
	if (!slot->has_pad && !rvt_space_locate(unwind->space, from, &location))
		slot->pad = rvt_symbols_landing_pad(unwind->symbols, &location, from);
	slot->has_pad = true;
	return slot->pad;
}

static bool is_landing_pad(void *ctx, uint64_t pc)
{
	struct rvt_unwind *unwind = ctx;
	struct rvt_location location;
	struct slot *slot = find_slot(unwind, pc, &location);

	if (!slot)
		return false;
	if (!slot->has_is_pad && !rvt_space_locate(unwind->space, pc, &location))
		slot->is_pad = rvt_symbols_is_landing_pad(unwind->symbols, &location);
	slot->has_is_pad = true;
	return slot->is_pad;
}

static bool is_diverted(void *ctx, uint64_t pc)
{
	const struct rvt_unwind *unwind = ctx;
	struct rvt_location location;

	return unwind->space && !rvt_space_locate(unwind->space, pc, &location) && location.path &&
		!strcmp(location.path, "[uprobes]");
}

struct rvt_unwind *rvt_unwind_create(struct rvt_symbols *symbols)
{
	struct rvt_unwind *unwind = calloc(1, sizeof(*unwind));

	if (!unwind)
		return NULL;
	unwind->symbols = symbols;
	unwind->code = (struct rvt_callstack_code){
		.size = sizeof(unwind->code), .ctx = unwind,
		.function = find_function, .landing_pad = find_landing_pad,
		.diverted = is_diverted, .is_landing_pad = is_landing_pad,
	};
	return unwind;
}

void rvt_unwind_destroy(struct rvt_unwind *unwind)
{
	free(unwind);
}

void rvt_unwind_set_space(struct rvt_unwind *unwind, struct rvt_space *space)
{
	unwind->space = space;
}

const struct rvt_callstack_code *rvt_unwind_code(const struct rvt_unwind *unwind)
{
	return &unwind->code;
}
