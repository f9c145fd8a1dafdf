// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Flow engine: from an address to its block and its instruction, and where the flow is.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "flow/core/state.h"
#include "insn/insn.h"

/* An instruction of a space. It is valid until the generation of the space changes. */
struct single {
	const struct rvt_space *space;
	uint64_t generation, pc;
	struct rvt_code_block *block;
};

static int compare_singles(const void *a, const void *b)
{
	const struct single *sa = a, *sb = b;

	return memcmp(sa, sb, offsetof(struct single, block));
}

int rvt_flow_single(struct rvt_flow *flow, uint64_t pc, struct rvt_code_block **block)
{
	struct single key = { flow->space, flow->generation, pc, NULL }, **found, *s;
	int ret;

	found = tfind(&key, &flow->single, compare_singles);
	if (found) {
		*block = (*found)->block;
		return 0;
	}
	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = key;
	ret = rvt_code_decode(flow->space, &flow->code, pc, &s->block);
	if (!ret && !tsearch(s, &flow->single, compare_singles))
		ret = -ENOMEM;
	if (ret) {
		free(s);
		return ret;
	}
	*block = s->block;
	return 0;
}

static int find_block(struct rvt_flow *flow, uint64_t pc, struct rvt_code_block **block)
{
	struct rvt_mapping *mapping = rvt_space_mapping(flow->space, pc);
	struct rvt_block_table *table;
	int ret;

	if (!mapping || !mapping->object)
		return -ENOENT;
	table = rvt_block_table_get(flow->space->image, mapping, &flow->code);
	if (!table)
		return -ENOMEM;
	ret = rvt_block_table_block(flow->space, table, mapping, pc, block);
	if (ret == -EAGAIN)
		ret = rvt_flow_single(flow, pc, block);
	if (!ret)
		flow->mapping = mapping;
	return ret;
}

int rvt_flow_enter(struct rvt_flow *flow, uint64_t pc, struct rvt_code_block **block)
{
	struct rvt_target *target = rvt_flow_target(flow, pc);
	int ret;

	if (rvt_flow_knows(flow, target, pc)) {
		*block = target->block;
		flow->mapping = target->mapping;
		return 0;
	}
	if (!flow->space)
		return -ENOENT;
	ret = find_block(flow, pc, block);
	if (!ret)
		*target = (struct rvt_target){
			pc, flow->mapping_epochs[rvt_va_half(pc)], 0, *block, flow->mapping,
		};
	return ret;
}

int rvt_flow_peek_at(struct rvt_flow *flow, uint64_t pc, struct rvt_insn *insn)
{
	return flow->space ? rvt_code_insn(flow->space, &flow->code, pc, insn) : -ENOENT;
}

int rvt_flow_peek(struct rvt_flow *flow, struct rvt_insn *insn)
{
	return flow->has_pc ? rvt_flow_peek_at(flow, rvt_flow_current(flow), insn) : -ENOENT;
}

bool rvt_flow_branch_at(struct rvt_flow *flow, uint64_t pc)
{
	struct rvt_mapping *mapping = flow->mapping;	/* belongs to flow->block */
	struct rvt_code_block *block;
	int ret;

	pc = rvt_code_addr(&flow->code, pc & ~1ull);
	rvt_flow_mapping_changed(flow);
	ret = rvt_flow_enter(flow, pc, &block);
	flow->mapping = mapping;
	return !ret && block->insns == 1 && block->end == RVT_END_BRANCH;
}

bool rvt_flow_pc(const struct rvt_flow *flow, uint64_t *pc)
{
	if (flow->has_pc)
		*pc = rvt_flow_current(flow);
	return flow->has_pc;
}

bool rvt_flow_last(const struct rvt_flow *flow, uint64_t *pc, enum rvt_insn_class *iclass)
{
	const struct rvt_block *b;

	if (!flow->has_last)
		return false;
	b = &flow->last_block->pub;
	*pc = b->pc;
	for (uint32_t i = 0; i < flow->last_insn; i++)
		*pc += 2 * b->halfwords[i];
	*iclass = flow->last_insn + 1 == b->insns ? b->iclass : RVT_INSN_SEQUENTIAL;
	return true;
}
