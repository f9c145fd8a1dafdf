// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control Transfer Records: what the machine has, and its entries as they stand.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/smp.h>

#include "riscv_ctr.h"

const struct riscv_ctr_backend *riscv_ctr;
struct riscv_ctr_caps riscv_ctr_caps = {
	.options = ~0ULL, .min_depth = 0, .max_depth = RISCV_CTR_MAX_DEPTH,
	.cycle_exponent_bits = 4, .cycles = true, .mispredict = true, .types = true,
};

struct cpumask riscv_ctr_cpus;

/*
 * Finds out which optional fields the entries have: writes all ones into entry 0, and looks which
 * of them stay.
 */
static void riscv_ctr_discover_entries(struct riscv_ctr_caps *caps)
{
	unsigned long select = csr_read(RISCV_CTR_CSR_SISELECT);
	u64 data;

	csr_write(RISCV_CTR_CSR_SISELECT, RISCV_CTR_ENTRY_SELECT);
	csr_write(RISCV_CTR_CSR_SIREG2, ~0UL);
	caps->mispredict = csr_read(RISCV_CTR_CSR_SIREG2) & RISCV_CTR_TARGET_MISP;
	csr_write(RISCV_CTR_CSR_SIREG3, RISCV_CTR_DATA_TYPE | RISCV_CTR_DATA_CYCLES);
	data = csr_read(RISCV_CTR_CSR_SIREG3);
	caps->types = data & RISCV_CTR_DATA_TYPE;
	caps->cycles = data & BIT_ULL(15);
	caps->cycle_exponent_bits = hweight64(data & GENMASK_ULL(31, 28));
	csr_write(RISCV_CTR_CSR_SISELECT, select);
	riscv_ctr->clear();
}

/* Reduces riscv_ctr_caps to what all harts have, for harts may differ. */
static void riscv_ctr_merge_caps(const struct riscv_ctr_caps *caps)
{
	struct riscv_ctr_caps *all = &riscv_ctr_caps;

	all->options &= caps->options;
	all->min_depth = max(all->min_depth, caps->min_depth);
	all->max_depth = min(all->max_depth, caps->max_depth);
	all->cycle_exponent_bits = min(all->cycle_exponent_bits, caps->cycle_exponent_bits);
	all->cycles &= caps->cycles;
	all->mispredict &= caps->mispredict;
	all->types &= caps->types;
}

/**
 * riscv_ctr_discover_hart - what the hart that calls has goes into riscv_ctr_caps
 *
 * Return: whether it has the registers, and firmware lets the kernel use them.
 */
bool riscv_ctr_discover_hart(void)
{
	struct riscv_ctr_caps caps;

	if (!riscv_ctr->probe())
		return false;
	riscv_ctr->discover(&caps);
	riscv_ctr_discover_entries(&caps);
	riscv_ctr_merge_caps(&caps);
	cpumask_set_cpu(smp_processor_id(), &riscv_ctr_cpus);
	return true;
}

/**
 * riscv_ctr_read_entries - copies the valid entries
 * @entries:	room for @depth of them, youngest first
 * @depth:	so many are looked at: at most as many as are set on this hart
 * @holes:	an invalid one does not end the history: with RAS emulation pops leave holes that a
 *		later call fills from the young end
 *
 * Return: how many there are.
 */
unsigned int riscv_ctr_read_entries(struct rvtrace_ctr_entry *entries, unsigned int depth,
				    bool holes)
{
	/* Others who use the indirect registers may have been interrupted between two accesses. */
	unsigned long select = csr_read(RISCV_CTR_CSR_SISELECT);
	unsigned int i, nr = 0;
	u64 source;

	for (i = 0; i < depth; i++) {
		csr_write(RISCV_CTR_CSR_SISELECT, RISCV_CTR_ENTRY_SELECT + i);
		source = csr_read(RISCV_CTR_CSR_SIREG);
		if (!(source & RISCV_CTR_SOURCE_V)) {
			if (!holes)
				break;
			continue;
		}
		entries[nr].source = source;
		entries[nr].target = csr_read(RISCV_CTR_CSR_SIREG2);
		entries[nr].data = csr_read(RISCV_CTR_CSR_SIREG3);
		nr++;
	}
	csr_write(RISCV_CTR_CSR_SISELECT, select);
	return nr;
}

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
