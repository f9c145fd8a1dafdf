/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * scontext and hcontext (Sdtrig), which QEMU does not have. The model executes a CSR instruction on
 * one of them, and QEMU continues behind it. An access traps, as it does in QEMU, from U-mode; or
 * if the CSR is configured with no bits, as on harts without it; or if it is a guest's access to
 * hcontext, or to scontext unless hstateen0 is modelled as allowing it (guest-scontext=on).
 */
#include <stdlib.h>
#include "model.h"

#define CSR_SCONTEXT 0x5a8
#define CSR_HCONTEXT 0x6a8

struct csr_insn {
	uint64_t next_pc;
	struct insn_class c;
};

static uint64_t csr_operate(unsigned int funct3, uint64_t old, uint64_t operand)
{
	switch (funct3 & 3) {
	case 1:
		return operand;
	case 2:
		return old | operand;
	default:
		return old & ~operand;
	}
}

static uint64_t mask(unsigned int bits)
{
	return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

static unsigned int bits_of(unsigned int csr)
{
	return csr == CSR_SCONTEXT ? model.args.scontext_bits :
	       csr == CSR_HCONTEXT ? model.args.hcontext_bits : 0;
}

static void csr_execute(unsigned int vcpu, void *userdata)
{
	const struct csr_insn *insn = userdata;
	const struct insn_class *c = &insn->c;
	struct hart *h = &harts[vcpu];
	bool hcontext = c->csr == CSR_HCONTEXT;
	uint64_t *csr = hcontext ? &h->hcontext : &h->scontext;
	uint64_t old, operand;
	uint8_t prv, v;

	cpu_mode(&prv, &v);
	if (!prv || (v && (hcontext || !model.args.guest_scontext)))
		return;
	old = *csr;
	operand = c->funct3 & 4 ? c->rs1 : cpu_x(c->rs1);
	data_csr(h, c, old, operand);
	cpu_set_x(c->rd, old);
	this_hart = h;
	/* csrrs and csrrc with x0 or 0 only read */
	if ((c->funct3 & 3) == 1 || c->rs1)
		hart_context(h, hcontext,
			     csr_operate(c->funct3, old, operand) &
				     mask(bits_of(c->csr)),
			     insn->next_pc);
	else
		hart_leave(h, insn->next_pc);
	this_hart = NULL;
	qemu_plugin_set_pc(insn->next_pc);
}

bool csr_is_modelled(int csr)
{
	return csr >= 0 && bits_of((unsigned int)csr);
}

void csr_instrument(struct qemu_plugin_insn *insn, const struct insn_class *c, uint64_t pc)
{
	struct csr_insn *copy;

	if (!csr_is_modelled(c->csr))
		return;
	/* never freed: one for each such instruction in the guest's code */
	copy = malloc(sizeof(*copy));
	if (!copy)
		abort();
	copy->c = *c;
	copy->next_pc = pc + 4;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, csr_execute, QEMU_PLUGIN_CB_RW_REGS_PC, copy);
}
