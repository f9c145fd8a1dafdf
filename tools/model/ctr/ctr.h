/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The model of Control Transfer Records, a plugin of QEMU: between its files.
 *
 *	plugin.c	translation and execution; what retired goes to the log
 *	draft.c		registers and recording of draft 0.1.4, which QEMU does not have
 *	hart.c		whether a hart is watched, and its log
 *	registers.c	registers of the emulated hart
 *	lcofi.c		local counter overflow interrupts, which QEMU cannot deliver
 *
 * QEMU itself records by 1.0; there the plugin only watches.
 */
#ifndef MODEL_CTR_H
#define MODEL_CTR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "../itype.h"
#include "../qemu-plugin.h"
#include "log.h"

#define CTR_MAX_HARTS 8
#define CTR_MAX_DEPTH 256

enum {
	CSR_SCTRCTL = 0x14e, CSR_SCTRSTATUS = 0x14f, CSR_SCTRDEPTH = 0x15f,
	CSR_SISELECT = 0x150, CSR_SIREG = 0x151, CSR_SIREG2 = 0x152, CSR_SIREG3 = 0x153,
	CSR_DRAFT_CONTROL = 0x181, CSR_DRAFT_STATUS = 0x183,
};
#define SCTRCLR_WORD 0x10400073u
/* Bits of the draft's control register that S-mode may set, without depth and CLR. */
#define DRAFT_OPTIONS 0x0000ff7e00001e06ull

/* An instruction that matters: it may transfer control, or touches CTR's registers. */
struct watched {
	struct insn_class c;
	uint32_t word;
	uint32_t offset;	/* from the start of its block */
	uint64_t pc;		/* of a CSR instruction: kernels run at one address each */
};

struct draft_entry {
	uint64_t source, target, data;
};

/* Registers of a hart in the draft. */
struct draft {
	uint64_t control, select;
	uint8_t write_index;
	bool frozen, wrap;
	bool count_valid;	/* .last_insns is valid */
	uint64_t last_insns;	/* .insns at the youngest record */
	struct draft_entry entries[CTR_MAX_DEPTH];
};

struct hart {
	FILE *log;
	uint64_t base;			/* of the block in execution */
	uint8_t prv;
	/* may have transferred control; its target is not known yet */
	const struct watched *pending;
	uint64_t pending_pc;
	uint8_t pending_prv;
	uint64_t insns;
	uint64_t control;		/* as last written, in the layout of the version in use */
	uint64_t next_overflow;		/* .insns at which the next counter overflows */
	struct draft draft;
};

/* Conditions of call-backs, one per hart. */
struct attention {
	uint64_t on;	/* recording is enabled: log */
	uint64_t due;	/* a counter has overflowed */
};

struct ctr_args {
	const char *log_dir;
	bool draft;
	uint64_t overflow;	/* instructions between counter overflows; 0: none */
	uint32_t max_depth;	/* of the draft's array */
	uint64_t options;	/* bits of the draft's control register that can be set */
	bool types;		/* the draft's ctrdata has TYPE */
};

extern struct ctr_args args;
extern struct hart harts[CTR_MAX_HARTS];
extern struct qemu_plugin_scoreboard *attentions;

static inline struct attention *attention_of(unsigned int vcpu)
{
	return qemu_plugin_scoreboard_find(attentions, vcpu);
}

/* registers.c: x0..x31 are 0..31 */
enum {
	REG_PC = 32, REG_PRIV, REG_MSTATUS, REG_STVEC, REG_SEPC, REG_SCAUSE, REG_STVAL, REG_MEPC,
	REG_MCAUSE, REG_SCTRSTATUS, REG_MHPMEVENT, CTR_REGS = REG_MHPMEVENT + 32
};

void registers_init(void);
bool reg_exists(unsigned int reg);
uint64_t reg_get(unsigned int reg);
void reg_set(unsigned int reg, uint64_t value);
/* Returns the privilege from which the last trap, to privilege @prv, came. */
uint8_t previous_privilege(uint8_t prv);

/* Also of QEMU's plugin interface; only this plugin uses it. */
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn,
						 qemu_plugin_vcpu_udata_cb_t cb,
						 enum qemu_plugin_cb_flags flags,
						 enum qemu_plugin_cond cond, qemu_plugin_u64 entry,
						 uint64_t imm, void *userdata);

/* hart.c */
/* Opens the hart's log, if asked for. Ends the machine if it cannot be written. */
void log_open(unsigned int vcpu);
void log_close(void);
void log_put(struct hart *h, const struct ctr_log *record);
/* Takes a write of the control register: watches as long as any mode is recorded. */
void control_written(unsigned int vcpu, uint64_t control, uint64_t modes);

/* draft.c */
bool draft_has_csr(int csr);
/* Executes the CSR instruction. The caller continues behind it. */
void draft_csr(unsigned int vcpu, const struct watched *w);
void draft_transfer(struct hart *h, const struct insn_class *c, uint64_t pc, uint64_t next,
		    uint8_t prv, uint8_t to_prv);
void draft_trap(struct hart *h, uint64_t epc, uint64_t handler, uint64_t cause, bool interrupt,
		uint8_t prv, uint8_t to_prv);

/* lcofi.c */
/*
 * At the first instruction of a block, when a counter has overflowed: traps if the hart takes
 * interrupts.
 */
void lcofi_due(unsigned int vcpu, void *userdata);

#endif
