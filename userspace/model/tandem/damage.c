// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Bytes that could not be followed hide groups: the pc is unknown until the trace tells it, and
 * registers and memory may have changed. What depends on a register that is doubtful is no
 * mismatch, until the trace tells the register, or shows it whole (the address of a load or store).
 * The privilege mode, and CSRs that traps do not write, are believed to be as before.
 */
#include <errno.h>
#include <string.h>
#include "model/tandem/verify.h"

/* Written by traps. */
static const uint16_t trap_csrs[] = {
	CSR_MSTATUS, CSR_SSTATUS, CSR_MEPC, CSR_SEPC, CSR_MCAUSE, CSR_SCAUSE, CSR_MTVAL, CSR_STVAL,
};
#define TRAP_CSRS (sizeof(trap_csrs) / sizeof(trap_csrs[0]))

int rvt_tandem_damage_begin(struct rvt_tandem_verifier *v)
{
	unsigned int i;

	v->shadow.pc_known = false;
	for (i = RVT_TANDEM_GPR + 1; i < RVT_TANDEM_REGS; i++)
		v->doubtful[i] = true;
	for (i = 0; i < TRAP_CSRS; i++)
		v->doubtful[trap_csrs[i]] = true;
	for (i = 0; i < 3; i++)
		v->counters[i].exact = false;
	v->pending_known = 0;
	rvt_tandem_memory_destroy(v->confirmed);
	v->confirmed = rvt_tandem_memory_create();
	return v->confirmed ? 0 : -ENOMEM;
}

void rvt_tandem_damage_clear(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	unsigned int reg;
	size_t i;

	if (!v->confirmed)
		return;
	for (i = 0; i < group->updates_len; i++) {
		reg = group->updates[i].reg;
		if (group->updates[i].op != RVT_TANDEM_REG_FULL)
			continue;
		v->doubtful[reg] = false;
		if (reg == CSR_MSTATUS)
			v->doubtful[CSR_SSTATUS] = false;
	}
}

static bool is_float_source(uint32_t whole)
{
	unsigned int funct5 = whole >> 27;

	/* fcvt and fmv from an integer register */
	return (whole & 0x7f) != 0x53 || (funct5 != 0x1a && funct5 != 0x1e);
}

/* Which registers the instruction reads, as RVT_TANDEM_GPR and RVT_TANDEM_FPR addresses. */
static unsigned int sources(uint32_t whole, unsigned int *regs)
{
	unsigned int rs1 = whole >> 15 & 31, rs2 = whole >> 20 & 31, n = 0;

	switch (whole & 0x7f) {
	case 0x33: case 0x3b: case 0x63: case 0x23: case 0x2f:
		regs[n++] = RVT_TANDEM_GPR + rs2;
		/* fall through */
	case 0x03: case 0x07: case 0x13: case 0x1b: case 0x67:
		regs[n++] = RVT_TANDEM_GPR + rs1;
		break;
	case 0x27:
		regs[n++] = RVT_TANDEM_GPR + rs1;
		regs[n++] = RVT_TANDEM_FPR + rs2;
		break;
	case 0x43: case 0x47: case 0x4b: case 0x4f:
		regs[n++] = RVT_TANDEM_FPR + (whole >> 27);
		/* fall through */
	case 0x53:
		regs[n++] = (is_float_source(whole) ? RVT_TANDEM_FPR : RVT_TANDEM_GPR) + rs1;
		regs[n++] = RVT_TANDEM_FPR + rs2;
		break;
	case 0x73:
		if (whole >> 12 & 3 && !(whole >> 14 & 1))
			regs[n++] = RVT_TANDEM_GPR + rs1;
		break;
	}
	return n;
}

void rvt_tandem_damage_confirm(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	uint32_t whole = rvt_tandem_expand(group->insn, v->shadow.params.xlen);
	unsigned int rs1 = whole >> 15 & 31, rs2 = whole >> 20 & 31, opcode = whole & 0x7f, csr;
	unsigned int width = 8u << (whole >> 12 & 3);
	bool is_load = opcode == 0x03 || opcode == 0x07 || opcode == 0x2f;
	bool is_store = opcode == 0x23 || opcode == 0x27 || opcode == 0x2f;

	if (!group->has_insn)
		return;
	if ((is_load || is_store) && (group->accesses_len || HAS(group, RVT_TANDEM_PADDR) ||
				      HAS(group, RVT_TANDEM_EADDR)))
		v->doubtful[RVT_TANDEM_GPR + rs1] = false;
	if (is_store && group->accesses_len && width == v->shadow.params.xlen)
		v->doubtful[(opcode == 0x27 ? RVT_TANDEM_FPR : RVT_TANDEM_GPR) + rs2] = false;
	if (rvt_tandem_reads_csr(group->insn, &csr) && whole >> 7 & 31)
		v->doubtful[csr] = false;
}

void rvt_tandem_damage_learn(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	unsigned int csr, rd = group->insn >> 7 & 31;

	if (!group->has_insn || !rvt_tandem_reads_csr(group->insn, &csr) || !rd ||
	    !v->doubtful[csr] || rvt_tandem_writes_csr(group->insn, &csr))
		return;
	v->shadow.regs[csr] = v->shadow.regs[RVT_TANDEM_GPR + rd];
	v->doubtful[csr] = false;
}

static bool is_trap(const struct rvt_tandem_group *group)
{
	size_t i;

	for (i = 0; i < group->updates_len; i++)
		if (group->updates[i].reg == CSR_MCAUSE || group->updates[i].reg == CSR_SCAUSE)
			return true;
	return false;
}

/* CSRs: those that Zicsr instructions name, and mstatus and epc of traps and returns. */
static bool reads_doubtful_csr(const struct rvt_tandem_verifier *v,
			       const struct rvt_tandem_group *group)
{
	unsigned int csr;

	if (is_trap(group) && v->doubtful[CSR_MSTATUS])
		return true;
	if (!group->has_insn)
		return false;
	if (rvt_tandem_reads_csr(group->insn, &csr) && v->doubtful[csr])
		return true;
	if (group->insn == 0x30200073)
		return v->doubtful[CSR_MSTATUS] || v->doubtful[CSR_MEPC];
	return group->insn == 0x10200073 && (v->doubtful[CSR_MSTATUS] || v->doubtful[CSR_SEPC]);
}

bool rvt_tandem_damage_hides(const struct rvt_tandem_verifier *v,
			     const struct rvt_tandem_group *group)
{
	unsigned int regs[3], i, n = 0;

	if (!v->confirmed)
		return false;
	if (group->has_insn)
		n = sources(rvt_tandem_expand(group->insn, v->shadow.params.xlen), regs);
	for (i = 0; i < n; i++)
		if (v->doubtful[regs[i]])
			return true;
	return reads_doubtful_csr(v, group);
}
