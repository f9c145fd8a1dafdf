// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V Control Transfer Records: registers of Smctr/Ssctr 1.0, as ratified.
 */
#include <linux/log2.h>

#include "riscv_ctr.h"

#define RISCV_CTR_DEPTH_CODE_MAX	4

/* SCTRCLR, which assemblers may not know */
static void riscv_ctr_v1_clear(void)
{
	asm volatile(".4byte 0x10400073" ::: "memory");
}

static bool riscv_ctr_v1_probe(void)
{
	return riscv_ctr_csr_readable(RISCV_CTR_CSR_SCTRCTL) &&
	       riscv_ctr_csr_readable(RISCV_CTR_CSR_SCTRDEPTH);
}

static unsigned int riscv_ctr_v1_try_depth(unsigned int code)
{
	csr_write(RISCV_CTR_CSR_SCTRDEPTH, code);
	return RISCV_CTR_MIN_DEPTH << (csr_read(RISCV_CTR_CSR_SCTRDEPTH) & 7);
}

static void riscv_ctr_v1_discover(struct riscv_ctr_caps *caps)
{
	/* U and S stay off: nothing of this is to be recorded. */
	csr_write(RISCV_CTR_CSR_SCTRCTL, RISCV_CTR_CTL_OPTIONS);
	caps->options = csr_read(RISCV_CTR_CSR_SCTRCTL) & RISCV_CTR_CTL_OPTIONS;
	csr_write(RISCV_CTR_CSR_SCTRCTL, 0);
	caps->min_depth = riscv_ctr_v1_try_depth(0);
	caps->max_depth = riscv_ctr_v1_try_depth(RISCV_CTR_DEPTH_CODE_MAX);
}

static void riscv_ctr_v1_stop(void)
{
	csr_write(RISCV_CTR_CSR_SCTRCTL, 0);
}

static void riscv_ctr_v1_resume(u64 control)
{
	csr_write(RISCV_CTR_CSR_SCTRCTL, control);
}

static void riscv_ctr_v1_start(u64 control, unsigned int depth)
{
	csr_write(RISCV_CTR_CSR_SCTRCTL, 0);
	csr_write(RISCV_CTR_CSR_SCTRDEPTH, ilog2(depth / RISCV_CTR_MIN_DEPTH));
	csr_write(RISCV_CTR_CSR_SCTRSTATUS, 0);
	riscv_ctr_v1_clear();
	riscv_ctr_v1_resume(control);
}

const struct riscv_ctr_backend riscv_ctr_v1 = {
	.name		= "1.0",
	.layout		= RVTRACE_CTR_LAYOUT_1_0,
	.probe		= riscv_ctr_v1_probe,
	.discover	= riscv_ctr_v1_discover,
	.start		= riscv_ctr_v1_start,
	.stop		= riscv_ctr_v1_stop,
	.resume		= riscv_ctr_v1_resume,
	.clear		= riscv_ctr_v1_clear,
};
