// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V Control Transfer Records: registers of draft 0.1.4 (2023-09-15). Depth and clear are part
 * of the control register, and the mode bits stand in another order than in 1.0; the filters are
 * in the same places.
 */
#include <linux/bitfield.h>

#include "riscv_ctr.h"

#define RISCV_CTR_DRAFT_S		BIT_ULL(1)
#define RISCV_CTR_DRAFT_U		BIT_ULL(2)
#define RISCV_CTR_DRAFT_CLR		BIT_ULL(7)
#define RISCV_CTR_DRAFT_STE		BIT_ULL(9)
#define RISCV_CTR_DRAFT_RASEMU		BIT_ULL(10)
#define RISCV_CTR_DRAFT_DEPTH		GENMASK_ULL(19, 16)
#define RISCV_CTR_DRAFT_ETEN		BIT_ULL(38)
/* BPFRZ, LCOFIFRZ and the filters */
#define RISCV_CTR_DRAFT_SAME		(RISCV_CTR_CTL_BPFRZ | RISCV_CTR_CTL_LCOFIFRZ | \
					 RISCV_CTR_CTL_FILTERS)

/* External traps need both handshake bits here, and one in 1.0. */
static u64 riscv_ctr_draft_from_v1(u64 control)
{
	u64 draft = control & RISCV_CTR_DRAFT_SAME;

	if (control & RISCV_CTR_CTL_U)
		draft |= RISCV_CTR_DRAFT_U;
	if (control & RISCV_CTR_CTL_S)
		draft |= RISCV_CTR_DRAFT_S;
	if (control & RISCV_CTR_CTL_RASEMU)
		draft |= RISCV_CTR_DRAFT_RASEMU;
	if (control & RISCV_CTR_CTL_STE)
		draft |= RISCV_CTR_DRAFT_STE | RISCV_CTR_DRAFT_ETEN;
	return draft;
}

static u64 riscv_ctr_draft_to_v1(u64 draft)
{
	u64 control = draft & RISCV_CTR_DRAFT_SAME;

	if (draft & RISCV_CTR_DRAFT_RASEMU)
		control |= RISCV_CTR_CTL_RASEMU;
	if (draft & RISCV_CTR_DRAFT_STE && draft & RISCV_CTR_DRAFT_ETEN)
		control |= RISCV_CTR_CTL_STE;
	return control;
}

/* 0000, 0001, 0011, 0111, 1111 for 16, 32 ... 256 */
static u64 riscv_ctr_draft_depth_code(unsigned int depth)
{
	return FIELD_PREP(RISCV_CTR_DRAFT_DEPTH, depth / RISCV_CTR_MIN_DEPTH - 1);
}

static bool riscv_ctr_draft_probe(void)
{
	return riscv_ctr_csr_readable(RISCV_CTR_DRAFT_CSR_CONTROL) &&
	       riscv_ctr_csr_readable(RISCV_CTR_DRAFT_CSR_STATUS);
}

static unsigned int riscv_ctr_draft_try_depth(unsigned int depth)
{
	u64 control;

	csr_write(RISCV_CTR_DRAFT_CSR_CONTROL, riscv_ctr_draft_depth_code(depth));
	control = csr_read(RISCV_CTR_DRAFT_CSR_CONTROL);
	return RISCV_CTR_MIN_DEPTH * (FIELD_GET(RISCV_CTR_DRAFT_DEPTH, control) + 1);
}

static void riscv_ctr_draft_discover(struct riscv_ctr_caps *caps)
{
	csr_write(RISCV_CTR_DRAFT_CSR_CONTROL, riscv_ctr_draft_from_v1(RISCV_CTR_CTL_OPTIONS));
	caps->options = riscv_ctr_draft_to_v1(csr_read(RISCV_CTR_DRAFT_CSR_CONTROL));
	caps->min_depth = riscv_ctr_draft_try_depth(RISCV_CTR_MIN_DEPTH);
	caps->max_depth = riscv_ctr_draft_try_depth(RISCV_CTR_MAX_DEPTH);
}

static void riscv_ctr_draft_stop(void)
{
	csr_clear(RISCV_CTR_DRAFT_CSR_CONTROL, RISCV_CTR_DRAFT_S | RISCV_CTR_DRAFT_U);
}

static void riscv_ctr_draft_resume(u64 control)
{
	csr_set(RISCV_CTR_DRAFT_CSR_CONTROL, riscv_ctr_draft_from_v1(control) &
		(RISCV_CTR_DRAFT_S | RISCV_CTR_DRAFT_U));
}

static void riscv_ctr_draft_start(u64 control, unsigned int depth)
{
	u64 draft = riscv_ctr_draft_from_v1(control) | riscv_ctr_draft_depth_code(depth);

	riscv_ctr_draft_stop();
	/* Empty before recording begins, so that no transfer of this function is lost or kept. */
	csr_write(RISCV_CTR_DRAFT_CSR_CONTROL, riscv_ctr_draft_depth_code(depth) |
		  RISCV_CTR_DRAFT_CLR);
	csr_write(RISCV_CTR_DRAFT_CSR_STATUS, 0);
	csr_write(RISCV_CTR_DRAFT_CSR_CONTROL, draft);
}

static void riscv_ctr_draft_clear(void)
{
	csr_set(RISCV_CTR_DRAFT_CSR_CONTROL, RISCV_CTR_DRAFT_CLR);
}

const struct riscv_ctr_backend riscv_ctr_draft = {
	.name		= "0.1.4",
	.layout		= RVTRACE_CTR_LAYOUT_0_1_4,
	.probe		= riscv_ctr_draft_probe,
	.discover	= riscv_ctr_draft_discover,
	.start		= riscv_ctr_draft_start,
	.stop		= riscv_ctr_draft_stop,
	.resume		= riscv_ctr_draft_resume,
	.clear		= riscv_ctr_draft_clear,
};
