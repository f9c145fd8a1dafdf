// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The shadow state (ch. 3.1). */
#include <errno.h>
#include <string.h>
#include "model/tandem/privileged.h"

int rvt_tandem_shadow_init(struct rvt_tandem_shadow *shadow,
			   const struct rvt_tandem_params *params)
{
	memset(shadow, 0, sizeof(*shadow));
	shadow->params = *params;
	shadow->known[RVT_TANDEM_GPR] = true;
	shadow->memory = rvt_tandem_memory_create();
	return shadow->memory ? 0 : -ENOMEM;
}

void rvt_tandem_shadow_fini(struct rvt_tandem_shadow *shadow)
{
	rvt_tandem_memory_destroy(shadow->memory);
	shadow->memory = NULL;
}

static uint64_t truncate_to(uint64_t value, unsigned int bits)
{
	return bits == 32 ? (uint32_t)value : value;
}

/* Which registers a group names, of those that others are views of. */
enum { TOLD_FCSR = 1, TOLD_FFLAGS = 2, TOLD_FRM = 4, TOLD_MSTATUS = 8, TOLD_SSTATUS = 16,
	TOLD_MIDELEG = 32, TOLD_MIE = 64, TOLD_SIE = 128 };

static unsigned int told(unsigned int reg)
{
	switch (reg) {
	case CSR_FCSR: return TOLD_FCSR;
	case CSR_FFLAGS: return TOLD_FFLAGS;
	case CSR_FRM: return TOLD_FRM;
	case CSR_MSTATUS: return TOLD_MSTATUS;
	case CSR_SSTATUS: return TOLD_SSTATUS;
	case CSR_MIDELEG: return TOLD_MIDELEG;
	case CSR_MIE: return TOLD_MIE;
	case CSR_SIE: return TOLD_SIE;
	default: return 0;
	}
}

/* @view shows the bits of @mask of @whole, shifted down by @shift. */
static void alias(struct rvt_tandem_shadow *shadow, bool whole_told, bool view_told,
		  unsigned int whole, unsigned int view, uint64_t mask, unsigned int shift)
{
	uint64_t *regs = shadow->regs;

	if (!whole_told && view_told && shadow->known[whole])
		regs[whole] = (regs[whole] & ~mask) | (regs[view] << shift & mask);
	if (!view_told && whole_told) {
		regs[view] = (regs[whole] & mask) >> shift;
		shadow->known[view] = true;
	}
}

/*
 * Some CSRs are views of others, and a trace needs to tell a change only once. A group is atomic:
 * what counts is how mideleg is after it.
 */
static void apply_aliases(struct rvt_tandem_shadow *shadow, unsigned int told)
{
	uint64_t sd = UINT64_C(1) << (shadow->params.xlen - 1);

	if (!told)
		return;
	alias(shadow, told & TOLD_FCSR, told & TOLD_FFLAGS, CSR_FCSR, CSR_FFLAGS, 0x1f, 0);
	alias(shadow, told & TOLD_FCSR, told & TOLD_FRM, CSR_FCSR, CSR_FRM, 0xe0, 5);
	alias(shadow, told & TOLD_MSTATUS, told & TOLD_SSTATUS, CSR_MSTATUS, CSR_SSTATUS,
	      SSTATUS_FIELDS | sd, 0);
	if (shadow->known[CSR_MIDELEG] && shadow->known[CSR_MIE])
		alias(shadow, told & (TOLD_MIDELEG | TOLD_MIE) && !(told & TOLD_SIE),
		      told & TOLD_SIE && !(told & TOLD_MIE), CSR_MIE, CSR_SIE,
		      shadow->regs[CSR_MIDELEG], 0);
}

static void apply_update(struct rvt_tandem_shadow *shadow, const struct rvt_tandem_update *update)
{
	const struct rvt_tandem_params *params = &shadow->params;
	unsigned int bits = update->reg >= RVT_TANDEM_FPR ? params->flen : params->xlen;
	uint64_t *reg = &shadow->regs[update->reg];

	if (update->op == RVT_TANDEM_REG_FULL)
		*reg = update->value;
	else if (!shadow->known[update->reg])
		return;		/* an increment of nobody knows what */
	else if (update->op == RVT_TANDEM_REG_ADD)
		*reg = truncate_to(*reg + update->value, bits);
	else
		*reg |= update->value;
	shadow->known[update->reg] = true;
	if (update->reg == RVT_TANDEM_GPR)
		*reg = 0;
}

static int apply_memory(struct rvt_tandem_shadow *shadow, const struct rvt_tandem_group *group)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8 };
	uint64_t bytes;
	unsigned int id;
	size_t i, n;
	int ret;

	for (i = 0; i < group->accesses_len; i++) {
		n = rvt_tandem_access_stored(&group->accesses[i], &bytes);
		ret = rvt_tandem_memory_write(shadow->memory, group->accesses[i].addr, &bytes, n);
		if (ret)
			return ret;
	}
	/*
	 * Store data, the instruction's view, needs its address; requests say it better. Where the
	 * rest lies that crosses into another page is not told.
	 */
	if (group->accesses_len || !(group->states >> RVT_TANDEM_PADDR & 1))
		return 0;
	for (id = RVT_TANDEM_STORE8; id <= RVT_TANDEM_STORE64; id++) {
		if (!(group->states >> id & 1))
			continue;
		n = 4096 - group->state[RVT_TANDEM_PADDR] % 4096;
		if (n > sizes[id - RVT_TANDEM_STORE8])
			n = sizes[id - RVT_TANDEM_STORE8];
		ret = rvt_tandem_memory_write(shadow->memory, group->state[RVT_TANDEM_PADDR],
					      &group->state[id], n);
		if (ret)
			return ret;
	}
	return 0;
}

int rvt_tandem_shadow_apply(struct rvt_tandem_shadow *shadow, const struct rvt_tandem_group *group)
{
	unsigned int named = 0;
	size_t i;

	if (group->reset) {
		memset(shadow->known, 0, sizeof(shadow->known));
		shadow->known[RVT_TANDEM_GPR] = true;
		shadow->pc_known = false;
		/* ch. 3.4 of the privileged architecture: reset enters M mode */
		shadow->privilege = 3;
		shadow->privilege_known = true;
	}
	for (i = 0; i < group->updates_len; i++) {
		apply_update(shadow, &group->updates[i]);
		named |= told(group->updates[i].reg);
	}
	apply_aliases(shadow, named);
	if (group->states >> RVT_TANDEM_PRIV & 1) {
		shadow->privilege = group->state[RVT_TANDEM_PRIV] & 3;
		shadow->privilege_known = true;
	}
	if (group->states >> RVT_TANDEM_MTIME & 1)
		shadow->mtime = group->state[RVT_TANDEM_MTIME];
	if (group->states >> RVT_TANDEM_PC & 1) {
		shadow->pc = group->state[RVT_TANDEM_PC];
		shadow->pc_known = true;
	} else if (group->inc_pc && shadow->pc_known) {
		shadow->pc = truncate_to(shadow->pc + group->insn_bytes, shadow->params.xlen);
	}
	return apply_memory(shadow, group);
}
