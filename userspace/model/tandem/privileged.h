/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a golden model needs around an engine that knows the unprivileged instructions only: CSRs,
 * traps and trap returns, address translation (RISC-V privileged architecture 1.12; M, S and U
 * mode, Sv32 to Sv57, no hypervisor), and what an instruction does to memory.
 */
#ifndef RVTRACE_TANDEM_PRIVILEGED_H
#define RVTRACE_TANDEM_PRIVILEGED_H

#include <rvtrace/tandem.h>

enum { PRIV_U = 0, PRIV_S = 1, PRIV_M = 3 };

enum {
	CSR_FFLAGS = 0x001, CSR_FRM = 0x002, CSR_FCSR = 0x003,
	CSR_SSTATUS = 0x100, CSR_SIE = 0x104, CSR_STVEC = 0x105, CSR_SCOUNTEREN = 0x106,
	CSR_SSCRATCH = 0x140, CSR_SEPC = 0x141, CSR_SCAUSE = 0x142, CSR_STVAL = 0x143,
	CSR_SIP = 0x144, CSR_SATP = 0x180,
	CSR_MSTATUS = 0x300, CSR_MISA = 0x301, CSR_MEDELEG = 0x302, CSR_MIDELEG = 0x303,
	CSR_MIE = 0x304, CSR_MTVEC = 0x305, CSR_MCOUNTEREN = 0x306,
	CSR_MSCRATCH = 0x340, CSR_MEPC = 0x341, CSR_MCAUSE = 0x342, CSR_MTVAL = 0x343,
	CSR_MIP = 0x344,
};

enum {
	CAUSE_FETCH_ACCESS = 1, CAUSE_ILLEGAL = 2, CAUSE_BREAKPOINT = 3,
	CAUSE_LOAD_MISALIGNED = 4, CAUSE_LOAD_ACCESS = 5,
	CAUSE_STORE_MISALIGNED = 6, CAUSE_STORE_ACCESS = 7, CAUSE_ECALL_U = 8,
	CAUSE_FETCH_PAGE = 12, CAUSE_LOAD_PAGE = 13, CAUSE_STORE_PAGE = 15,
};

#define MSTATUS_SIE (1u << 1)
#define MSTATUS_MIE (1u << 3)
#define MSTATUS_SPIE (1u << 5)
#define MSTATUS_MPIE (1u << 7)
#define MSTATUS_SPP (1u << 8)
#define MSTATUS_MPP (3u << 11)
#define MSTATUS_FS (3u << 13)
#define MSTATUS_XS (3u << 15)
#define MSTATUS_MPRV (1u << 17)
#define MSTATUS_SUM (1u << 18)
#define MSTATUS_MXR (1u << 19)
#define MSTATUS_TVM (1u << 20)
#define MSTATUS_TW (1u << 21)
#define MSTATUS_TSR (1u << 22)
#define MSTATUS_UXL (UINT64_C(3) << 32)

/* The part of mstatus that is sstatus, without SD, which is its top bit. */
#define SSTATUS_FIELDS (MSTATUS_UXL | 0xde762u)

struct tandem_hart {
	unsigned int xlen;
	uint64_t pc;
	uint8_t privilege;
	unsigned int choices;		/* RVT_TANDEM_CHOICE_* */
	uint64_t external;		/* interrupts pending from outside, as in mip */
	/* those that rvt_tandem_csr_modelled() knows; of mip, what software wrote */
	uint64_t csr[4096];
	struct rvt_tandem_memory *memory;
};

/* Powered up: M mode, everything zero. */
void rvt_tandem_hart_reset(struct tandem_hart *hart);
bool rvt_tandem_csr_modelled(unsigned int csr);
/* As hardware sees them: aliases resolved, no access check, nothing masked when writing. */
uint64_t rvt_tandem_csr_get(const struct tandem_hart *hart, unsigned int csr);
void rvt_tandem_csr_set(struct tandem_hart *hart, unsigned int csr, uint64_t value);

/* Takes a trap: epc is the pc. */
void rvt_tandem_trap(struct tandem_hart *hart, bool interrupt, uint64_t cause, uint64_t tval);
/* Whether the interrupt may be taken now (mie, mideleg, mstatus, privilege). */
bool rvt_tandem_interrupt_enabled(const struct tandem_hart *hart, uint64_t cause);
/* An instruction sets floating-point state: mstatus.FS becomes Dirty. */
void rvt_tandem_fs_dirty(struct tandem_hart *hart);

enum rvt_tandem_system {
	TANDEM_NOT_SYSTEM,	/* leave it to the engine */
	TANDEM_RETIRED,
	TANDEM_TRAPPED,
	TANDEM_UNMODELLED,	/* @csr: which CSR is not modelled; nothing was done */
};
/*
 * Executes the SYSTEM instructions: Zicsr, ecall, ebreak, mret, sret, wfi, sfence.vma. @x: the
 * integer registers, of which rd is written.
 */
enum rvt_tandem_system rvt_tandem_system(struct tandem_hart *hart, uint32_t insn, uint64_t *x,
					 unsigned int *csr);

/* The lower @width bits as a signed number. */
static inline int64_t tandem_sign_extend(uint64_t value, unsigned int width)
{
	return (int64_t)(value << (64 - width)) >> (64 - width);
}

enum tandem_access_type { TANDEM_FETCH, TANDEM_READ, TANDEM_WRITE };

enum tandem_walk { TANDEM_WALK_OK, TANDEM_WALK_FAULT, TANDEM_WALK_UNKNOWN };
/*
 * The physical address of @va. Sets A and D in the page table as needed. UNKNOWN: a page table
 * entry is not known to hart->memory.
 */
enum tandem_walk rvt_tandem_translate(struct tandem_hart *hart, uint64_t va,
				      enum tandem_access_type type, uint64_t *pa);

struct rvt_tandem_data {
	uint64_t address;	/* effective */
	unsigned int bytes;	/* 0: the instruction does not access memory */
	bool store, amo, sc, lr;	/* amo: includes sc and lr; store: not lr */
	bool fp;
	uint8_t rd;		/* of a load */
};
/* What the load, store or atomic @insn accesses, given the integer registers @x. */
void rvt_tandem_data(uint32_t insn, unsigned int xlen, const uint64_t *x,
		     struct rvt_tandem_data *data);
/* Whether it is a floating-point instruction (needs mstatus.FS). */
bool rvt_tandem_is_fp(uint32_t insn, unsigned int xlen);
/* The 32-bit instruction that a 16-bit one stands for; 0: none. Longer ones are as they are. */
uint32_t rvt_tandem_expand(uint32_t insn, unsigned int xlen);
/* The number of bytes of the instruction that starts with these. */
static inline unsigned int tandem_insn_bytes(uint32_t insn)
{
	return (insn & 3) == 3 ? 4 : 2;
}

#endif
