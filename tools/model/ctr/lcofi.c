/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Delivers local counter overflow interrupts. QEMU's masks of local interrupts lack bit 13, so that
 * the interrupt of Sscofpmf stays pending forever; here the model executes it as in the privileged
 * specification.
 */
#include "ctr.h"

#define CAUSE_OVERFLOW 13
#define INTERRUPT (1ull << 63)
#define SSTATUS_SIE (1ull << 1)
#define SSTATUS_SPIE (1ull << 5)
#define SSTATUS_SPP (1ull << 8)
#define EVENT_OF (1ull << 63)
#define EVENT_SELECTOR 0xffffffffffffffull
#define STATUS_FROZEN (1ull << 31)
#define LCOFIFRZ (1ull << 12)
#define FIRST_COUNTER 3

/*
 * Sets OF of each counter that counts something, as if all had overflowed. QEMU may have set it
 * already, without the interrupt. Returns whether there is such a counter.
 */
static bool overflow_counters(void)
{
	bool any = false;

	for (unsigned int reg = REG_MHPMEVENT + FIRST_COUNTER; reg < CTR_REGS; reg++) {
		uint64_t event = reg_exists(reg) ? reg_get(reg) : 0;

		if (!(event & EVENT_SELECTOR))
			continue;
		reg_set(reg, event | EVENT_OF);
		any = true;
	}
	return any;
}

void lcofi_due(unsigned int vcpu, void *userdata)
{
	struct hart *h = &harts[vcpu];
	uint64_t status = reg_get(REG_MSTATUS), pc = h->base, handler;
	uint8_t prv = h->prv;

	(void)userdata;
	if (prv > 1 || (prv == 1 && !(status & SSTATUS_SIE)))
		return;		/* it stays pending */
	attention_of(vcpu)->due = 0;
	h->next_overflow = h->insns + args.overflow;
	if (!overflow_counters())
		return;
	handler = reg_get(REG_STVEC) & ~3ull;
	log_put(h, &(struct ctr_log){ .kind = CTR_LOG_INTERRUPT, .pc = pc, .next = handler,
				      .insn = CAUSE_OVERFLOW, .prv = prv, .to_prv = 1 });
	if (args.draft)
		draft_trap(h, pc, handler, CAUSE_OVERFLOW, true, prv, 1);
	else if (reg_exists(REG_SCTRSTATUS) && h->control & LCOFIFRZ)
		reg_set(REG_SCTRSTATUS, reg_get(REG_SCTRSTATUS) | STATUS_FROZEN);
	reg_set(REG_SEPC, pc);
	reg_set(REG_SCAUSE, INTERRUPT | CAUSE_OVERFLOW);
	reg_set(REG_STVAL, 0);
	reg_set(REG_MSTATUS, (status & ~(SSTATUS_SPP | SSTATUS_SPIE | SSTATUS_SIE)) |
		(prv ? SSTATUS_SPP : 0) | (status & SSTATUS_SIE ? SSTATUS_SPIE : 0));
	if (!prv)
		reg_set(REG_PRIV, 1);
	h->prv = 1;
	qemu_plugin_set_pc(handler);
}
