// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The privileged part of golden models: loads and stores as an assembler encodes them, CSRs, traps,
 * address translation, by the rules of the privileged architecture.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "model/tandem/privileged.h"

static struct tandem_hart *new_hart(unsigned int xlen)
{
	struct tandem_hart *hart = calloc(1, sizeof(*hart));

	assert_non_null(hart);
	hart->xlen = xlen;
	hart->memory = rvt_tandem_memory_create();
	assert_non_null(hart->memory);
	rvt_tandem_hart_reset(hart);
	return hart;
}

static void free_hart(struct tandem_hart *hart)
{
	rvt_tandem_memory_destroy(hart->memory);
	free(hart);
}

/* Encodings from GNU as; each register x_n holds 0x1000 * n. */
static void loads_and_stores(void **state)
{
	static const struct {
		uint32_t insn;
		uint64_t address;
		unsigned int bytes, rd;
		bool store, fp, amo;
	} cases[] = {
		{ 0x0082a203, 0x5008, 4, 4, false, false, false },	/* lw tp,8(t0) */
		{ 0xff013503, 0x1ff0, 8, 10, false, false, false },	/* ld a0,-16(sp) */
		{ 0x0ff64583, 0xc0ff, 1, 11, false, false, false },	/* lbu a1,255(a2) */
		{ 0x800a1983, 0x13800, 2, 19, false, false, false },	/* lh s3,-2048(s4) */
		{ 0x0045a507, 0xb004, 4, 10, false, true, false },	/* flw fa0,4(a1) */
		{ 0x7ff43487, 0x87ff, 8, 9, false, true, false },	/* fld fs1,2047(s0) */
		{ 0xfea30fa3, 0x5fff, 1, 0, true, false, false },	/* sb a0,-1(t1) */
		{ 0x00a31123, 0x6002, 2, 0, true, false, false },	/* sh a0,2(t1) */
		{ 0x80a32023, 0x5800, 4, 0, true, false, false },	/* sw a0,-2048(t1) */
		{ 0x7ea33c23, 0x67f8, 8, 0, true, false, false },	/* sd a0,2040(t1) */
		{ 0x00a32627, 0x600c, 4, 0, true, true, false },	/* fsw fa0,12(t1) */
		{ 0xfea33c27, 0x5ff8, 8, 0, true, true, false },	/* fsd fa0,-8(t1) */
		{ 0x1005a52f, 0xb000, 4, 10, false, false, true },	/* lr.w a0,(a1) */
		{ 0x1005b52f, 0xb000, 8, 10, false, false, true },	/* lr.d a0,(a1) */
		{ 0x18c5b52f, 0xb000, 8, 10, true, false, true },	/* sc.d a0,a2,(a1) */
		{ 0x00c5a52f, 0xb000, 4, 10, true, false, true },	/* amoadd.w a0,a2,(a1) */
		{ 0xe0c5b52f, 0xb000, 8, 10, true, false, true },	/* amomaxu.d */
		{ 0x5ce8, 0x907c, 4, 10, false, false, false },		/* c.lw a0,124(s1) */
		{ 0x7c7c, 0x80f8, 8, 15, false, false, false },		/* c.ld a5,248(s0) */
		{ 0x260c, 0xc008, 8, 11, false, true, false },		/* c.fld fa1,8(a2) */
		{ 0xc0a8, 0x9040, 4, 0, true, false, false },		/* c.sw a0,64(s1) */
		{ 0xe03c, 0x8040, 8, 0, true, false, false },		/* c.sd a5,64(s0) */
		{ 0xa26c, 0xc0c0, 8, 0, true, true, false },		/* c.fsd fa1,192(a2) */
		{ 0x50fe, 0x20fc, 4, 1, false, false, false },		/* c.lwsp ra,252(sp) */
		{ 0x7dfe, 0x21f8, 8, 27, false, false, false },		/* c.ldsp s11,504(sp) */
		{ 0x2406, 0x2040, 8, 8, false, true, false },		/* c.fldsp fs0,64(sp) */
		{ 0xc206, 0x2004, 4, 0, true, false, false },		/* c.swsp ra,4(sp) */
		{ 0xe7ee, 0x21c8, 8, 0, true, false, false },		/* c.sdsp s11,456(sp) */
		{ 0xa422, 0x2008, 8, 0, true, true, false },		/* c.fsdsp fs0,8(sp) */
	};
	static const uint32_t others[] = {
		0x0505 /* c.addi */, 0xa001 /* c.j */, 0x852e /* c.mv */, 0x000000ef /* jal */,
		0x02c5f553 /* fadd.d */, 0x00000073 /* ecall */, 0x0000100f /* fence.i */,
	};
	struct rvt_tandem_data data;
	uint64_t x[32];
	size_t i;

	(void)state;
	for (i = 0; i < 32; i++)
		x[i] = 0x1000 * i;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rvt_tandem_data(cases[i].insn, 64, x, &data);
		assert_int_equal(data.address, cases[i].address);
		assert_int_equal(data.bytes, cases[i].bytes);
		assert_int_equal(data.store, cases[i].store);
		assert_int_equal(data.fp, cases[i].fp);
		assert_int_equal(data.amo, cases[i].amo);
		if (!cases[i].store || cases[i].amo)
			assert_int_equal(data.rd, cases[i].rd);
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		rvt_tandem_data(others[i], 64, x, &data);
		assert_int_equal(data.bytes, 0);
	}
	/* on RV32 the encoding of c.ld is c.flw */
	rvt_tandem_data(0x7c7c, 32, x, &data);
	assert_int_equal(data.bytes, 4);
	assert_true(data.fp);
}

#define CSRRW(csr, rs1) ((uint32_t)(csr) << 20 | (uint32_t)(rs1) << 15 | 1u << 12 | 0x73)
#define CSRRS(rd, csr) ((uint32_t)(csr) << 20 | 2u << 12 | (rd) << 7 | 0x73)

static enum rvt_tandem_system write_csr(struct tandem_hart *hart, unsigned int csr, uint64_t value)
{
	uint64_t x[32] = { [1] = value };
	unsigned int which;

	return rvt_tandem_system(hart, CSRRW(csr, 1), x, &which);
}

static void csr_fields(void **state)
{
	struct tandem_hart *hart = new_hart(64);
	uint64_t x[32] = { 0 };
	unsigned int csr;

	(void)state;
	assert_int_equal(write_csr(hart, CSR_MSTATUS, ~UINT64_C(0)), TANDEM_RETIRED);
	/* SD shows FS, sstatus is a view */
	assert_int_equal(rvt_tandem_csr_get(hart, CSR_MSTATUS), UINT64_C(0x80000000007e79aa));
	assert_int_equal(rvt_tandem_csr_get(hart, CSR_SSTATUS), UINT64_C(0x80000000000c6122));
	assert_int_equal(hart->pc, 4);
	/* MPP = 2 is no mode: stays */
	write_csr(hart, CSR_MSTATUS, 2u << 11);
	assert_int_equal(rvt_tandem_csr_get(hart, CSR_MSTATUS), 3u << 11);
	write_csr(hart, CSR_MEPC, 0x1003);
	assert_int_equal(hart->csr[CSR_MEPC], 0x1002);
	write_csr(hart, CSR_MTVEC, 0x1001);
	write_csr(hart, CSR_MTVEC, 0x2002);
	assert_int_equal(hart->csr[CSR_MTVEC], 0x1001);
	/* a mode that does not exist leaves all of satp */
	write_csr(hart, CSR_SATP, UINT64_C(0x8000000000012345));
	write_csr(hart, CSR_SATP, UINT64_C(0x7000000000000001));
	assert_int_equal(hart->csr[CSR_SATP], UINT64_C(0x8000000000012345));
	/* sie shows what is delegated */
	write_csr(hart, CSR_MIDELEG, 0x222);
	write_csr(hart, CSR_MIE, 0xaaa);
	assert_int_equal(rvt_tandem_csr_get(hart, CSR_SIE), 0x222);
	write_csr(hart, CSR_SIE, 0);
	assert_int_equal(hart->csr[CSR_MIE], 0x888);
	/* fflags and frm are in fcsr, and floating point must be on */
	assert_int_equal(write_csr(hart, CSR_FRM, 3), TANDEM_TRAPPED);
	write_csr(hart, CSR_MSTATUS, 1u << 13);
	write_csr(hart, CSR_FRM, 3);
	assert_int_equal(hart->csr[CSR_FCSR], 0x60);
	assert_int_equal(hart->csr[CSR_MSTATUS] & MSTATUS_FS, MSTATUS_FS);
	/* not modelled: nothing happens */
	hart->pc = 0x40;
	assert_int_equal(rvt_tandem_system(hart, CSRRS(5, 0x3a0), x, &csr), TANDEM_UNMODELLED);
	assert_int_equal(csr, 0x3a0);
	assert_int_equal(hart->pc, 0x40);
	free_hart(hart);
}

static void csr_access(void **state)
{
	struct tandem_hart *hart = new_hart(64);
	uint64_t x[32] = { 0 };
	unsigned int csr;

	(void)state;
	hart->privilege = PRIV_S;
	hart->pc = 0x80;
	hart->csr[CSR_MTVEC] = 0x400;
	assert_int_equal(write_csr(hart, CSR_MSCRATCH, 1), TANDEM_TRAPPED);
	assert_int_equal(hart->pc, 0x400);
	assert_int_equal(hart->privilege, PRIV_M);
	assert_int_equal(hart->csr[CSR_MEPC], 0x80);
	assert_int_equal(hart->csr[CSR_MCAUSE], CAUSE_ILLEGAL);
	assert_int_equal(hart->csr[CSR_MTVAL], CSRRW(CSR_MSCRATCH, 1));
	assert_int_equal(hart->csr[CSR_MSTATUS] & MSTATUS_MPP, 1u << 11);
	/* read-only even in M mode; reading it is fine */
	assert_int_equal(write_csr(hart, 0xf14, 1), TANDEM_TRAPPED);
	assert_int_equal(rvt_tandem_system(hart, CSRRS(5, 0xf14), x, &csr), TANDEM_RETIRED);
	/* counters: mcounteren for S, both for U */
	hart->csr[0xc01] = 99;
	hart->privilege = PRIV_S;
	assert_int_equal(rvt_tandem_system(hart, CSRRS(5, 0xc01), x, &csr), TANDEM_TRAPPED);
	hart->csr[CSR_MCOUNTEREN] = 2;
	hart->privilege = PRIV_S;
	assert_int_equal(rvt_tandem_system(hart, CSRRS(5, 0xc01), x, &csr), TANDEM_RETIRED);
	assert_int_equal(x[5], 99);
	hart->privilege = PRIV_U;
	assert_int_equal(rvt_tandem_system(hart, CSRRS(5, 0xc01), x, &csr), TANDEM_TRAPPED);
	hart->csr[CSR_SCOUNTEREN] = 2;
	hart->privilege = PRIV_U;
	assert_int_equal(rvt_tandem_system(hart, CSRRS(5, 0xc01), x, &csr), TANDEM_RETIRED);
	/* TVM, TSR, TW make S mode's satp, sret, wfi and sfence.vma illegal */
	hart->csr[CSR_MSTATUS] = MSTATUS_TVM | MSTATUS_TSR | MSTATUS_TW;
	hart->privilege = PRIV_S;
	assert_int_equal(rvt_tandem_system(hart, CSRRS(5, CSR_SATP), x, &csr), TANDEM_TRAPPED);
	hart->privilege = PRIV_S;
	assert_int_equal(rvt_tandem_system(hart, 0x10200073, x, &csr), TANDEM_TRAPPED);
	hart->privilege = PRIV_S;
	assert_int_equal(rvt_tandem_system(hart, 0x10500073, x, &csr), TANDEM_TRAPPED);
	hart->privilege = PRIV_S;
	assert_int_equal(rvt_tandem_system(hart, 0x12000073, x, &csr), TANDEM_TRAPPED);
	free_hart(hart);
}

static void traps_and_returns(void **state)
{
	struct tandem_hart *hart = new_hart(64);
	uint64_t x[32] = { 0 };
	unsigned int csr;

	(void)state;
	/* ecall of U, delegated: S mode takes it */
	hart->privilege = PRIV_U;
	hart->pc = 0x1234;
	hart->csr[CSR_MEDELEG] = 1u << CAUSE_ECALL_U;
	hart->csr[CSR_STVEC] = 0x8001;
	hart->csr[CSR_MSTATUS] = MSTATUS_SIE;
	assert_int_equal(rvt_tandem_system(hart, 0x00000073, x, &csr), TANDEM_TRAPPED);
	assert_int_equal(hart->privilege, PRIV_S);
	assert_int_equal(hart->pc, 0x8000);
	assert_int_equal(hart->csr[CSR_SEPC], 0x1234);
	assert_int_equal(hart->csr[CSR_SCAUSE], 8);
	assert_int_equal(hart->csr[CSR_MSTATUS], MSTATUS_SPIE);
	assert_int_equal(rvt_tandem_system(hart, 0x10200073, x, &csr), TANDEM_RETIRED);
	assert_int_equal(hart->privilege, PRIV_U);
	assert_int_equal(hart->pc, 0x1234);
	assert_int_equal(hart->csr[CSR_MSTATUS], MSTATUS_SIE | MSTATUS_SPIE);
	/* an interrupt goes to a vector; the cause has the top bit */
	hart->csr[CSR_MIE] = 1u << 5;
	assert_true(rvt_tandem_interrupt_enabled(hart, 5));
	assert_false(rvt_tandem_interrupt_enabled(hart, 7));
	hart->csr[CSR_MIDELEG] = 1u << 5;
	hart->privilege = PRIV_S;
	assert_true(rvt_tandem_interrupt_enabled(hart, 5));
	rvt_tandem_trap(hart, true, 5, 0);
	assert_int_equal(hart->pc, 0x8000 + 4 * 5);
	assert_int_equal(hart->csr[CSR_SCAUSE], UINT64_C(1) << 63 | 5);
	assert_int_equal(hart->csr[CSR_MSTATUS], MSTATUS_SPP | MSTATUS_SPIE);
	assert_false(rvt_tandem_interrupt_enabled(hart, 5));
	hart->privilege = PRIV_M;
	assert_false(rvt_tandem_interrupt_enabled(hart, 5));
	/* mret to U clears MPRV */
	hart->csr[CSR_MSTATUS] = MSTATUS_MPRV | MSTATUS_MPIE;
	hart->csr[CSR_MEPC] = 0x700;
	assert_int_equal(rvt_tandem_system(hart, 0x30200073, x, &csr), TANDEM_RETIRED);
	assert_int_equal(hart->privilege, PRIV_U);
	assert_int_equal(hart->csr[CSR_MSTATUS], MSTATUS_MIE | MSTATUS_MPIE);
	/* ebreak shows its own address; from U, mret is illegal */
	hart->pc = 0x700;
	assert_int_equal(rvt_tandem_system(hart, 0x9002, x, &csr), TANDEM_TRAPPED);
	assert_int_equal(hart->csr[CSR_MCAUSE], CAUSE_BREAKPOINT);
	assert_int_equal(hart->csr[CSR_MTVAL], 0x700);
	free_hart(hart);
}

static void put_pte(struct tandem_hart *hart, uint64_t at, uint64_t pte)
{
	assert_int_equal(rvt_tandem_memory_write(hart->memory, at, &pte, hart->xlen / 8), 0);
}

#define PTE(pa, flags) ((uint64_t)(pa) >> 12 << 10 | (flags))

static void sv39(void **state)
{
	struct tandem_hart *hart = new_hart(64);
	/* VPN 2, 1, 0 = 1, 2, 3 */
	uint64_t va = UINT64_C(1) << 30 | 2u << 21 | 3u << 12 | 0x123, pa = 0, pte = 0;

	(void)state;
	hart->csr[CSR_SATP] = UINT64_C(8) << 60 | 0x80000;
	hart->privilege = PRIV_U;
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_READ, &pa), TANDEM_WALK_UNKNOWN);
	put_pte(hart, 0x80000000 + 8, PTE(0x80001000, 1));
	put_pte(hart, 0x80001000 + 16, PTE(0x80002000, 1));
	put_pte(hart, 0x80002000 + 24, PTE(0x87654000, 0x17));	/* V R W U */
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_READ, &pa), TANDEM_WALK_OK);
	assert_int_equal(pa, 0x87654123);
	rvt_tandem_memory_read(hart->memory, 0x80002018, &pte, 8);
	assert_int_equal(pte & 0xff, 0x57);			/* A */
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_WRITE, &pa), TANDEM_WALK_OK);
	rvt_tandem_memory_read(hart->memory, 0x80002018, &pte, 8);
	assert_int_equal(pte & 0xff, 0xd7);			/* and D */
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_FETCH, &pa), TANDEM_WALK_FAULT);
	/* not canonical */
	assert_int_equal(rvt_tandem_translate(hart, va | UINT64_C(1) << 39, TANDEM_READ, &pa),
			 TANDEM_WALK_FAULT);
	/* S mode needs SUM for a user page, and never executes one */
	hart->privilege = PRIV_S;
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_READ, &pa), TANDEM_WALK_FAULT);
	hart->csr[CSR_MSTATUS] = MSTATUS_SUM;
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_READ, &pa), TANDEM_WALK_OK);
	/* M mode does not translate, but for data with MPRV */
	hart->privilege = PRIV_M;
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_READ, &pa), TANDEM_WALK_OK);
	assert_int_equal(pa, va);
	hart->csr[CSR_MSTATUS] = MSTATUS_SUM | MSTATUS_MPRV | 1u << 11;
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_READ, &pa), TANDEM_WALK_OK);
	assert_int_equal(pa, 0x87654123);
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_FETCH, &pa), TANDEM_WALK_OK);
	assert_int_equal(pa, va);
	/* a large page must be aligned; an executable one is readable with MXR */
	hart->privilege = PRIV_S;
	hart->csr[CSR_MSTATUS] = 0;
	put_pte(hart, 0x80000000 + 16, PTE(0xc0000000, 0x9));	/* V X, 1 GiB */
	va = UINT64_C(2) << 30 | 0x12345678;
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_READ, &pa), TANDEM_WALK_FAULT);
	hart->csr[CSR_MSTATUS] = MSTATUS_MXR;
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_READ, &pa), TANDEM_WALK_OK);
	assert_int_equal(pa, 0xc0000000 + 0x12345678);
	put_pte(hart, 0x80000000 + 16, PTE(0xc0001000, 0x9));
	assert_int_equal(rvt_tandem_translate(hart, va, TANDEM_READ, &pa), TANDEM_WALK_FAULT);
	free_hart(hart);
}

/* Physical addresses of 34 bits. */
static void sv32(void **state)
{
	struct tandem_hart *hart = new_hart(32);
	uint64_t pa = 0;

	(void)state;
	hart->csr[CSR_SATP] = 0x80000000u | 0x200000;	/* root at 2^21 pages: beyond 4 GiB */
	hart->privilege = PRIV_S;
	put_pte(hart, UINT64_C(0x200000000) + 4, PTE(UINT64_C(0x3fffff000), 1));
	put_pte(hart, UINT64_C(0x3fffff000) + 8, PTE(UINT64_C(0x312345000), 0xf));
	assert_int_equal(rvt_tandem_translate(hart, 1u << 22 | 2u << 12 | 0xabc, TANDEM_WRITE, &pa),
			 TANDEM_WALK_OK);
	assert_int_equal(pa, UINT64_C(0x312345abc));
	free_hart(hart);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_and_stores), cmocka_unit_test(csr_fields),
		cmocka_unit_test(csr_access), cmocka_unit_test(traps_and_returns),
		cmocka_unit_test(sv39), cmocka_unit_test(sv32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
