// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control Transfer Records: what the machine has, and its entries as they stand.
 */

#include <asm/csr.h>

#include "riscv_ctr.h"

const struct riscv_ctr_backend *riscv_ctr;
struct riscv_ctr_caps riscv_ctr_caps;
struct cpumask riscv_ctr_cpus;

/**
 * riscv_ctr_read_array - reads all entries as they stand, invalid ones without target and data
 * @entries:	@depth of them, youngest first
 * @depth:	as it is set on this hart
 */
void riscv_ctr_read_array(struct rvtrace_ctr_entry *entries, unsigned int depth)
{
	unsigned long select = csr_read(RISCV_CTR_CSR_SISELECT);
	unsigned int i;

	for (i = 0; i < depth; i++) {
		csr_write(RISCV_CTR_CSR_SISELECT, RISCV_CTR_ENTRY_SELECT + i);
		entries[i].source = csr_read(RISCV_CTR_CSR_SIREG);
		if (!(entries[i].source & RISCV_CTR_SOURCE_V))
			continue;
		entries[i].target = csr_read(RISCV_CTR_CSR_SIREG2);
		entries[i].data = csr_read(RISCV_CTR_CSR_SIREG3);
	}
	csr_write(RISCV_CTR_CSR_SISELECT, select);
}

/**
 * riscv_ctr_write_array - writes what riscv_ctr_read_array() has read; the records are empty
 * @entries:	@depth of them, youngest first
 * @depth:	as it is set on this hart
 */
void riscv_ctr_write_array(const struct rvtrace_ctr_entry *entries, unsigned int depth)
{
	unsigned long select = csr_read(RISCV_CTR_CSR_SISELECT);
	unsigned int i;

	for (i = 0; i < depth; i++) {
		if (!(entries[i].source & RISCV_CTR_SOURCE_V))
			continue;
		csr_write(RISCV_CTR_CSR_SISELECT, RISCV_CTR_ENTRY_SELECT + i);
		csr_write(RISCV_CTR_CSR_SIREG, entries[i].source);
		csr_write(RISCV_CTR_CSR_SIREG2, entries[i].target);
		csr_write(RISCV_CTR_CSR_SIREG3, entries[i].data);
	}
	csr_write(RISCV_CTR_CSR_SISELECT, select);
}
