// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: mapping ids and mapping epochs, which say what addresses mean.
 */
#include <string.h>
#include "flow/core/state.h"

/* More mappings than this are not compared. */
#define SAME_MAPPINGS 512

/* Returns the id that another flow's space with the same mappings has. NULL: there is none. */
static struct rvt_mapping_id *inherited_mapping_id(struct rvt_flow *flow,
						   const struct rvt_space *space)
{
	for (unsigned int i = 0; i < RVT_FLOW_MAPPING_IDS && space; i++) {
		struct rvt_mapping_id *m = &flow->mapping_ids[i];

		if (m->inherited && m->space && m->generation == rvt_space_generation(m->space) &&
		    rvt_space_same(m->space, space, SAME_MAPPINGS))
			return m;
	}
	return NULL;
}

/*
 * Begins mapping epochs anew, as all numbers are used. Nothing that was learned in an old epoch may
 * be found in a new one.
 */
static void restart_mapping_epochs(struct rvt_flow *flow)
{
	memset(flow->targets, 0, sizeof(flow->targets));
	flow->speculation_end.mapping_epoch = 0;
	for (unsigned int i = 0; i < RVT_FLOW_MAPPING_IDS; i++)
		flow->mapping_ids[i].mapping_epoch = 0;
	flow->n_mapping_epochs = 1;
}

/* Returns the entry for @space at @generation. When the flow comes back to it, blocks are known. */
static struct rvt_mapping_id *mapping_id_of(struct rvt_flow *flow, const struct rvt_space *space,
					    uint64_t generation)
{
	struct rvt_mapping_id *m = flow->mapping_ids, *end = m + RVT_FLOW_MAPPING_IDS;

	while (m < end && !(m->id && m->space == space && m->generation == generation))
		m++;
	if (m == end && flow->inherited) {
		m = inherited_mapping_id(flow, space);
		if (m)
			*m = (struct rvt_mapping_id){
				space, generation, m->id, m->mapping_epoch, false,
			};
		else
			m = end;
	}
	if (m == end) {
		/* The kernel's entry stays. */
		do
			m = &flow->mapping_ids[flow->n_mapping_ids++ % RVT_FLOW_MAPPING_IDS];
		while (m->id && m->id == flow->base.mapping_id[1]);
		*m = (struct rvt_mapping_id){ space, generation, flow->n_mapping_ids, 0, false };
	}
	if (!m->mapping_epoch) {
		if (!++flow->n_mapping_epochs)
			restart_mapping_epochs(flow);
		m->mapping_epoch = flow->n_mapping_epochs;
	}
	return m;
}

/* Returns whether all of the upper half of @space is its parent's, and nothing reaches into it. */
static bool has_parents_half(const struct rvt_space *space)
{
	const uint64_t border = 1ull << 63;

	return space && space->parent && !rvt_space_overlaps(space, border, border) &&
	       !rvt_space_overlaps(space->parent, border - 1, 1);
}

/* One id for each half, and one that is skipped with the kernel's entry. */
#define MOST_NEW_IDS 4

/* Makes all memos invalid, that being recorded, too. What they have counted stays. */
static void invalidate(struct rvt_memos *memos)
{
	for (uint32_t i = 1; i <= memos->n_memos; i++)
		memos->memos[i].key.mapping_id = 0;
	/* of what is being recorded */
	memos->key.mapping_id = 0;
	memset(memos->numbers, 0, sizeof(memos->numbers));
	memset(memos->tags, 0, sizeof(memos->tags));
}

/* Begins ids anew, as all are used. No memo of old mappings may be found for new ones. */
static void restart_mapping_ids(struct rvt_flow *flow)
{
	if (flow->base.memos)
		invalidate(flow->base.memos);
	memset(flow->mapping_ids, 0, sizeof(flow->mapping_ids));
	flow->n_mapping_ids = 0;
}

/* Finds the ids of both halves of the present space. */
void rvt_flow_find_mapping_ids(struct rvt_flow *flow)
{
	const struct rvt_space *space = flow->space;
	const struct rvt_mapping_id *m;

	if (flow->n_mapping_ids > UINT32_MAX - MOST_NEW_IDS)
		restart_mapping_ids(flow);
	m = mapping_id_of(flow, space, flow->generation);
	flow->base.mapping_id[0] = m->id;
	flow->mapping_epochs[0] = m->mapping_epoch;
	if (has_parents_half(space))
		m = mapping_id_of(flow, space->parent, rvt_space_generation(space->parent));
	flow->base.mapping_id[1] = m->id;
	flow->mapping_epochs[1] = m->mapping_epoch;
}

void rvt_flow_new_mapping_epoch(struct rvt_flow *flow)
{
	for (unsigned int i = 0; i < RVT_FLOW_MAPPING_IDS; i++)
		flow->mapping_ids[i].mapping_epoch = 0;
	rvt_flow_find_mapping_ids(flow);
	flow->block_epoch = flow->mapping_epochs[0];
}

void rvt_flow_set_space(struct rvt_flow *flow, struct rvt_space *space)
{
	if (flow->space == space)
		return;
	if (space) {
		flow->several_images |= flow->image && flow->image != space->image;
		flow->image = space->image;
	}
	flow->space = space;
	flow->generation = space ? rvt_space_generation(space) : 0;
	rvt_flow_find_mapping_ids(flow);
}

uint32_t rvt_flow_mapping_id(struct rvt_flow *flow, uint64_t pc)
{
	rvt_flow_mapping_changed(flow);
	return flow->base.mapping_id[rvt_va_half(pc)];
}
