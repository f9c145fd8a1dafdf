// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* CSRs, traps and translation of a golden model; see privileged.h. */
#include <errno.h>
#include <string.h>
#include "model/tandem/privileged.h"

#define S_INTERRUPTS 0x222u
#define LOCAL_INTERRUPTS (~UINT64_C(0xffff))

/* What software can change, by CSR. WARL choices are those of QEMU's virt machine. */
static const struct csr_def {
	uint16_t csr;
	uint64_t writable;
} csr_defs[] = {
	{ CSR_FFLAGS, 0x1f },
	{ CSR_FRM, 7 },
	{ CSR_FCSR, 0xff },
	{ CSR_SSTATUS, MSTATUS_SIE | MSTATUS_SPIE | MSTATUS_SPP | MSTATUS_FS | MSTATUS_SUM |
		MSTATUS_MXR },
	{ CSR_SIE, S_INTERRUPTS },
	{ CSR_STVEC, ~UINT64_C(0) },
	{ CSR_SCOUNTEREN, 0x7ffff },
	{ CSR_SSCRATCH, ~UINT64_C(0) },
	{ CSR_SEPC, ~UINT64_C(1) },
	{ CSR_SCAUSE, ~UINT64_C(0) },
	{ CSR_STVAL, ~UINT64_C(0) },
	{ CSR_SIP, 1u << 1 },
	{ CSR_SATP, ~UINT64_C(0) },
	{ CSR_MSTATUS, MSTATUS_SIE | MSTATUS_MIE | MSTATUS_SPIE | MSTATUS_MPIE | MSTATUS_SPP |
		MSTATUS_MPP | MSTATUS_FS | MSTATUS_MPRV | MSTATUS_SUM | MSTATUS_MXR | MSTATUS_TVM |
		MSTATUS_TW | MSTATUS_TSR },
	{ CSR_MISA, 0 },
	{ CSR_MEDELEG, 0xf4b7ff },
	{ CSR_MIDELEG, 0x2666 },
	{ CSR_MIE, LOCAL_INTERRUPTS | 0xaaa },
	{ CSR_MTVEC, ~UINT64_C(0) },
	{ CSR_MCOUNTEREN, 0x7ffff },
	{ CSR_MSCRATCH, ~UINT64_C(0) },
	{ CSR_MEPC, ~UINT64_C(1) },
	{ CSR_MCAUSE, ~UINT64_C(0) },
	{ CSR_MTVAL, ~UINT64_C(0) },
	{ CSR_MIP, S_INTERRUPTS },
	/* counters: inputs of the verifier, but for what software writes */
	{ 0xb00, ~UINT64_C(0) }, { 0xb02, ~UINT64_C(0) }, { 0xb80, ~UINT64_C(0) },
	{ 0xb82, ~UINT64_C(0) },
	{ 0xc00, 0 }, { 0xc01, 0 }, { 0xc02, 0 },
	{ 0xc80, 0 }, { 0xc81, 0 }, { 0xc82, 0 },
	/* identity */
	{ 0xf11, 0 }, { 0xf12, 0 }, { 0xf13, 0 }, { 0xf14, 0 }, { 0xf15, 0 },
};

static const struct csr_def *find(unsigned int csr)
{
	size_t i;

	for (i = 0; i < sizeof(csr_defs) / sizeof(csr_defs[0]); i++)
		if (csr_defs[i].csr == csr)
			return &csr_defs[i];
	return NULL;
}

bool rvt_tandem_csr_modelled(unsigned int csr)
{
	return find(csr);
}

void rvt_tandem_hart_reset(struct tandem_hart *hart)
{
	memset(hart->csr, 0, sizeof(hart->csr));
	hart->external = 0;
	hart->privilege = PRIV_M;
	hart->pc = 0;
}

static uint64_t top_bit(const struct tandem_hart *hart)
{
	return UINT64_C(1) << (hart->xlen - 1);
}

static uint64_t status(const struct tandem_hart *hart)
{
	uint64_t value = hart->csr[CSR_MSTATUS] & ~top_bit(hart);

	if ((value & MSTATUS_FS) == MSTATUS_FS || (value & MSTATUS_XS) == MSTATUS_XS)
		value |= top_bit(hart);
	return value;
}

uint64_t rvt_tandem_csr_get(const struct tandem_hart *hart, unsigned int csr)
{
	switch (csr) {
	case CSR_FFLAGS: return hart->csr[CSR_FCSR] & 0x1f;
	case CSR_FRM: return hart->csr[CSR_FCSR] >> 5 & 7;
	case CSR_MSTATUS: return status(hart);
	case CSR_SSTATUS: return status(hart) & (SSTATUS_FIELDS | top_bit(hart));
	case CSR_SIE: return hart->csr[CSR_MIE] & hart->csr[CSR_MIDELEG];
	case CSR_MIP: return hart->csr[CSR_MIP] | hart->external;
	case CSR_SIP: return (hart->csr[CSR_MIP] | hart->external) & hart->csr[CSR_MIDELEG];
	default: return hart->csr[csr];
	}
}

static void merge(uint64_t *reg, uint64_t value, uint64_t mask)
{
	*reg = (*reg & ~mask) | (value & mask);
}

void rvt_tandem_csr_set(struct tandem_hart *hart, unsigned int csr, uint64_t value)
{
	switch (csr) {
	case CSR_FFLAGS:
		merge(&hart->csr[CSR_FCSR], value, 0x1f);
		break;
	case CSR_FRM:
		merge(&hart->csr[CSR_FCSR], value << 5, 0xe0);
		break;
	case CSR_SSTATUS:
		merge(&hart->csr[CSR_MSTATUS], value, SSTATUS_FIELDS);
		break;
	case CSR_SIE:
		merge(&hart->csr[CSR_MIE], value, hart->csr[CSR_MIDELEG]);
		break;
	case CSR_SIP:
		merge(&hart->csr[CSR_MIP], value, hart->csr[CSR_MIDELEG]);
		break;
	default:
		hart->csr[csr] = value;
	}
}

static bool satp_mode_exists(const struct tandem_hart *hart, uint64_t value)
{
	unsigned int mode = value >> 60;

	return hart->xlen == 32 || !mode || (mode >= 8 && mode <= 10);
}

/* What csrrs and csrrc modify: of SEIP, the bit that software wrote (3.1.9). */
static uint64_t csr_of_software(const struct tandem_hart *hart, unsigned int csr)
{
	uint64_t value = rvt_tandem_csr_get(hart, csr);

	if (csr == CSR_MIP || csr == CSR_SIP)
		value &= hart->csr[CSR_MIP];
	return value;
}

/* Software writes: read-only bits stay, illegal values of WARL fields leave the field as it was. */
static void write_by_software(struct tandem_hart *hart, unsigned int csr, uint64_t value)
{
	uint64_t mask = find(csr)->writable;

	switch (csr) {
	case CSR_MSTATUS:
		if ((value & MSTATUS_MPP) == 2u << 11)
			mask &= ~(uint64_t)MSTATUS_MPP;
		break;
	case CSR_MTVEC:
	case CSR_STVEC:
		if ((value & 3) > 1)
			return;
		break;
	case CSR_SATP:
		if (!satp_mode_exists(hart, value))
			return;
		break;
	case CSR_SIP:
	case CSR_SIE:
		mask &= hart->csr[CSR_MIDELEG];
		break;
	}
	rvt_tandem_csr_set(hart, csr, (csr_of_software(hart, csr) & ~mask) | (value & mask));
	if (csr >= CSR_FFLAGS && csr <= CSR_FCSR)
		rvt_tandem_fs_dirty(hart);
}

void rvt_tandem_fs_dirty(struct tandem_hart *hart)
{
	hart->csr[CSR_MSTATUS] |= MSTATUS_FS;
}

/* Where the trap goes. */
static bool delegated(const struct tandem_hart *hart, bool interrupt, uint64_t cause)
{
	uint64_t mask = hart->csr[interrupt ? CSR_MIDELEG : CSR_MEDELEG];

	return hart->privilege <= PRIV_S && cause < 64 && mask >> cause & 1;
}

static bool tval_is_zero(const struct tandem_hart *hart, uint64_t cause)
{
	return (cause == CAUSE_ILLEGAL && hart->choices & RVT_TANDEM_CHOICE_ILLEGAL_TVAL_0) ||
		(cause == CAUSE_BREAKPOINT && hart->choices & RVT_TANDEM_CHOICE_EBREAK_TVAL_0);
}

void rvt_tandem_trap(struct tandem_hart *hart, bool interrupt, uint64_t cause, uint64_t tval)
{
	bool to_s = delegated(hart, interrupt, cause);
	uint64_t *mstatus = &hart->csr[CSR_MSTATUS];
	uint64_t tvec = hart->csr[to_s ? CSR_STVEC : CSR_MTVEC];

	if (!interrupt && tval_is_zero(hart, cause))
		tval = 0;
	hart->csr[to_s ? CSR_SEPC : CSR_MEPC] = hart->pc;
	hart->csr[to_s ? CSR_SCAUSE : CSR_MCAUSE] = cause | (interrupt ? top_bit(hart) : 0);
	hart->csr[to_s ? CSR_STVAL : CSR_MTVAL] = tval;
	if (to_s) {
		merge(mstatus, *mstatus & MSTATUS_SIE ? MSTATUS_SPIE : 0, MSTATUS_SPIE);
		merge(mstatus, hart->privilege == PRIV_S ? MSTATUS_SPP : 0, MSTATUS_SPP);
		*mstatus &= ~(uint64_t)MSTATUS_SIE;
	} else {
		merge(mstatus, *mstatus & MSTATUS_MIE ? MSTATUS_MPIE : 0, MSTATUS_MPIE);
		merge(mstatus, (uint64_t)hart->privilege << 11, MSTATUS_MPP);
		*mstatus &= ~(uint64_t)MSTATUS_MIE;
	}
	hart->privilege = to_s ? PRIV_S : PRIV_M;
	hart->pc = (tvec & ~UINT64_C(3)) + (interrupt && (tvec & 3) == 1 ? 4 * cause : 0);
}

bool rvt_tandem_interrupt_enabled(const struct tandem_hart *hart, uint64_t cause)
{
	uint64_t mstatus = hart->csr[CSR_MSTATUS];

	if (cause >= 64 || !(hart->csr[CSR_MIE] >> cause & 1))
		return false;
	if (hart->csr[CSR_MIDELEG] >> cause & 1)
		return hart->privilege < PRIV_S ||
			(hart->privilege == PRIV_S && mstatus & MSTATUS_SIE);
	return hart->privilege < PRIV_M || mstatus & MSTATUS_MIE;
}

/* Counters are gated by mcounteren for S and U, and by scounteren for U. */
static bool counter_allowed(const struct tandem_hart *hart, unsigned int csr)
{
	unsigned int bit = csr & 31;

	if (hart->privilege < PRIV_M && !(hart->csr[CSR_MCOUNTEREN] >> bit & 1))
		return false;
	return hart->privilege != PRIV_U || hart->csr[CSR_SCOUNTEREN] >> bit & 1;
}

static bool access_allowed(const struct tandem_hart *hart, unsigned int csr, bool write)
{
	uint64_t mstatus = hart->csr[CSR_MSTATUS];

	if (hart->privilege < (csr >> 8 & 3) || (write && csr >> 10 == 3))
		return false;
	if (csr >= CSR_FFLAGS && csr <= CSR_FCSR)
		return mstatus & MSTATUS_FS;
	/* upper halves exist on RV32 */
	if (hart->xlen == 64 && ((csr & 0xfe0) == 0xb80 || (csr & 0xfe0) == 0xc80))
		return false;
	if ((csr & 0xf60) == 0xc00)
		return counter_allowed(hart, csr);
	return csr != CSR_SATP || hart->privilege != PRIV_S || !(mstatus & MSTATUS_TVM);
}

static enum rvt_tandem_system illegal(struct tandem_hart *hart, uint32_t insn)
{
	rvt_tandem_trap(hart, false, CAUSE_ILLEGAL, insn);
	return TANDEM_TRAPPED;
}

static enum rvt_tandem_system retire(struct tandem_hart *hart)
{
	hart->pc += 4;
	if (hart->xlen == 32)
		hart->pc = (uint32_t)hart->pc;
	return TANDEM_RETIRED;
}

static enum rvt_tandem_system zicsr(struct tandem_hart *hart, uint32_t insn, uint64_t *x,
				    unsigned int *which)
{
	unsigned int csr = insn >> 20, op = insn >> 12 & 3, rs1 = insn >> 15 & 31;
	uint64_t arg = insn >> 14 & 1 ? rs1 : x[rs1], old, modified;
	bool write = op == 1 || rs1;

	*which = csr;
	if (!access_allowed(hart, csr, write))
		return illegal(hart, insn);
	if (!rvt_tandem_csr_modelled(csr))
		return TANDEM_UNMODELLED;
	old = rvt_tandem_csr_get(hart, csr);
	modified = csr_of_software(hart, csr);
	if (write)
		write_by_software(hart, csr, op == 1 ? arg : op == 2 ? modified | arg :
				  modified & ~arg);
	if (insn >> 7 & 31)
		x[insn >> 7 & 31] = hart->xlen == 32 ? (uint64_t)(uint32_t)old : old;
	return retire(hart);
}

static enum rvt_tandem_system mret(struct tandem_hart *hart, uint32_t insn)
{
	uint64_t *mstatus = &hart->csr[CSR_MSTATUS];

	if (hart->privilege != PRIV_M)
		return illegal(hart, insn);
	hart->privilege = *mstatus >> 11 & 3;
	merge(mstatus, *mstatus & MSTATUS_MPIE ? MSTATUS_MIE : 0, MSTATUS_MIE);
	*mstatus |= MSTATUS_MPIE;
	*mstatus &= ~(uint64_t)MSTATUS_MPP;
	if (hart->privilege != PRIV_M)
		*mstatus &= ~(uint64_t)MSTATUS_MPRV;
	hart->pc = hart->csr[CSR_MEPC];
	return TANDEM_RETIRED;
}

static enum rvt_tandem_system sret(struct tandem_hart *hart, uint32_t insn)
{
	uint64_t *mstatus = &hart->csr[CSR_MSTATUS];

	if (hart->privilege < PRIV_S || (hart->privilege == PRIV_S && *mstatus & MSTATUS_TSR))
		return illegal(hart, insn);
	hart->privilege = *mstatus & MSTATUS_SPP ? PRIV_S : PRIV_U;
	merge(mstatus, *mstatus & MSTATUS_SPIE ? MSTATUS_SIE : 0, MSTATUS_SIE);
	*mstatus |= MSTATUS_SPIE;
	*mstatus &= ~(uint64_t)(MSTATUS_SPP | MSTATUS_MPRV);
	hart->pc = hart->csr[CSR_SEPC];
	return TANDEM_RETIRED;
}

static enum rvt_tandem_system wait_or_fence(struct tandem_hart *hart, uint32_t insn,
					    uint64_t forbidding)
{
	if (hart->privilege == PRIV_U ||
	    (hart->privilege == PRIV_S && hart->csr[CSR_MSTATUS] & forbidding))
		return illegal(hart, insn);
	return retire(hart);
}

enum rvt_tandem_system rvt_tandem_system(struct tandem_hart *hart, uint32_t insn, uint64_t *x,
					 unsigned int *csr)
{
	if ((insn & 0xffff) == 0x9002 && (insn & 3) != 3) {		/* c.ebreak */
		rvt_tandem_trap(hart, false, CAUSE_BREAKPOINT, hart->pc);
		return TANDEM_TRAPPED;
	}
	if ((insn & 0x7f) != 0x73)
		return TANDEM_NOT_SYSTEM;
	if (insn >> 12 & 3)
		return zicsr(hart, insn, x, csr);
	switch (insn) {
	case 0x00000073:	/* ecall */
		rvt_tandem_trap(hart, false, CAUSE_ECALL_U + hart->privilege, 0);
		return TANDEM_TRAPPED;
	case 0x00100073:	/* ebreak */
		rvt_tandem_trap(hart, false, CAUSE_BREAKPOINT, hart->pc);
		return TANDEM_TRAPPED;
	case 0x30200073:
		return mret(hart, insn);
	case 0x10200073:
		return sret(hart, insn);
	case 0x10500073:	/* wfi */
		return wait_or_fence(hart, insn, MSTATUS_TW);
	}
	if ((insn & 0xfe007fff) == 0x12000073)	/* sfence.vma */
		return wait_or_fence(hart, insn, MSTATUS_TVM);
	return illegal(hart, insn);
}

#define PTE_V 1u
#define PTE_R 2u
#define PTE_W 4u
#define PTE_X 8u
#define PTE_U 16u
#define PTE_A 64u
#define PTE_D 128u
#define PTE_RESERVED (UINT64_C(0x3ff) << 54)

static bool leaf_allows(const struct tandem_hart *hart, uint64_t pte, unsigned int privilege,
			enum tandem_access_type type)
{
	uint64_t mstatus = hart->csr[CSR_MSTATUS];

	if ((pte & (PTE_R | PTE_W)) == PTE_W)
		return false;
	if (privilege == PRIV_U && !(pte & PTE_U))
		return false;
	if (privilege == PRIV_S && pte & PTE_U &&
	    (type == TANDEM_FETCH || !(mstatus & MSTATUS_SUM)))
		return false;
	if (type == TANDEM_FETCH)
		return pte & PTE_X;
	if (type == TANDEM_WRITE)
		return pte & PTE_W;
	return pte & PTE_R || (mstatus & MSTATUS_MXR && pte & PTE_X);
}

static void set_accessed(struct tandem_hart *hart, uint64_t at, uint64_t pte, unsigned int size,
			 enum tandem_access_type type)
{
	uint64_t updated = pte | PTE_A | (type == TANDEM_WRITE ? PTE_D : 0);

	if (updated != pte)
		rvt_tandem_memory_write(hart->memory, at, &updated, size);
}

static enum tandem_walk walk(struct tandem_hart *hart, uint64_t va, unsigned int privilege,
			     enum tandem_access_type type, uint64_t *pa)
{
	uint64_t satp = hart->csr[CSR_SATP], pte, at, base;
	bool sv32 = hart->xlen == 32;
	unsigned int size = sv32 ? 4 : 8, index_bits = sv32 ? 10 : 9, shift;
	int level = sv32 ? 2 : (int)(satp >> 60) - 5;
	unsigned int va_bits = 12 + level * index_bits;

	if (!sv32 && (uint64_t)((int64_t)(va << (64 - va_bits)) >> (64 - va_bits)) != va)
		return TANDEM_WALK_FAULT;
	base = (satp & (sv32 ? 0x3fffff : (UINT64_C(1) << 44) - 1)) << 12;
	while (level--) {
		shift = 12 + level * index_bits;
		at = base + (va >> shift & ((1u << index_bits) - 1)) * size;
		pte = 0;
		if (rvt_tandem_memory_read(hart->memory, at, &pte, size) < size)
			return TANDEM_WALK_UNKNOWN;
		if (!(pte & PTE_V) || (!sv32 && pte & PTE_RESERVED))
			return TANDEM_WALK_FAULT;
		base = (sv32 ? pte >> 10 : pte >> 10 & ((UINT64_C(1) << 44) - 1)) << 12;
		if (!(pte & (PTE_R | PTE_W | PTE_X)))
			continue;
		if (!leaf_allows(hart, pte, privilege, type) ||
		    base & ((UINT64_C(1) << shift) - 1))
			return TANDEM_WALK_FAULT;
		if (hart->choices & RVT_TANDEM_CHOICE_AD_FAULT &&
		    (!(pte & PTE_A) || (type == TANDEM_WRITE && !(pte & PTE_D))))
			return TANDEM_WALK_FAULT;
		set_accessed(hart, at, pte, size, type);
		*pa = base | (va & ((UINT64_C(1) << shift) - 1));
		return TANDEM_WALK_OK;
	}
	return TANDEM_WALK_FAULT;
}

enum tandem_walk rvt_tandem_translate(struct tandem_hart *hart, uint64_t va,
				      enum tandem_access_type type, uint64_t *pa)
{
	unsigned int privilege = hart->privilege;
	uint64_t mstatus = hart->csr[CSR_MSTATUS], satp = hart->csr[CSR_SATP];

	if (type != TANDEM_FETCH && privilege == PRIV_M && mstatus & MSTATUS_MPRV)
		privilege = mstatus >> 11 & 3;
	if (privilege == PRIV_M || !(satp >> (hart->xlen == 32 ? 31 : 60))) {
		*pa = va;
		return TANDEM_WALK_OK;
	}
	return walk(hart, va, privilege, type, pa);
}
