// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include "profile/executed.h"
#include "util/array.h"

/* How often addresses up to .addr, of sorted ones, were counted. */
struct sum {
	uint64_t addr, count;
};

struct executed {
	struct sum *begins, *ends;	/* of lines; .ends: behind their last instruction */
	size_t n;
	struct sum *taken;		/* branches, by their own addresses */
	size_t n_taken;
};

static int by_addr(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void sum_up(struct sum *sums, size_t n)
{
	if (n)
		qsort(sums, n, sizeof(*sums), by_addr);
	for (size_t i = 1; i < n; i++)
		sums[i].count += sums[i - 1].count;
}

struct executed *executed_create(const struct code_counts *counts)
{
	const struct code_line *lines = counts->lines, *branches = counts->branches;
	struct executed *executed = calloc(1, sizeof(*executed));
	size_t n = counts->n_lines;

	if (!executed)
		return NULL;
	executed->begins = calloc(n + 1, sizeof(*executed->begins));
	executed->ends = calloc(n + 1, sizeof(*executed->ends));
	executed->taken = calloc(counts->n_branches + 1, sizeof(*executed->taken));
	if (!executed->begins || !executed->ends || !executed->taken) {
		executed_destroy(executed);
		return NULL;
	}
	executed->n_taken = counts->n_branches;
	for (size_t i = 0; i < counts->n_branches; i++)
		executed->taken[i] = (struct sum){ branches[i].from, branches[i].count };
	sum_up(executed->taken, executed->n_taken);
	executed->n = n;
	for (size_t i = 0; i < n; i++) {
		executed->begins[i] = (struct sum){ lines[i].from, lines[i].count };
		executed->ends[i] = (struct sum){ lines[i].to + 1, lines[i].count };
	}
	sum_up(executed->begins, n);
	sum_up(executed->ends, n);
	return executed;
}

void executed_destroy(struct executed *executed)
{
	if (!executed)
		return;
	free(executed->begins);
	free(executed->ends);
	free(executed->taken);
	free(executed);
}

static uint64_t sum_to(const struct sum *sums, size_t n, uint64_t addr)
{
	const struct sum *last = array_floor(sums, n, addr, addr);

	return last ? last->count : 0;
}

uint64_t executed_count(const struct executed *executed, uint64_t addr)
{
	return sum_to(executed->begins, executed->n, addr) -
		sum_to(executed->ends, executed->n, addr);
}

uint64_t executed_taken(const struct executed *executed, uint64_t addr)
{
	return sum_to(executed->taken, executed->n_taken, addr) -
		(addr ? sum_to(executed->taken, executed->n_taken, addr - 1) : 0);
}

static int each_of_section(const Elf_Data *data, uint64_t addr, executed_insn tell, void *ctx)
{
	const uint8_t *code = data->d_buf;
	int err = 0;

	for (size_t at = 0; at + 2 <= data->d_size && !err; ) {
		struct rvt_insn insn;

		if (rvt_insn_decode(code + at, data->d_size - at, 0, &insn)) {
			at += 2;
			continue;
		}
		err = tell(ctx, addr + at, &insn);
		at += insn.len_bytes;
	}
	return err;
}

int executed_each(Dwfl_Module *module, executed_insn tell, void *ctx)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *scn = NULL;
	int err = 0;

	while (elf && (scn = elf_nextscn(elf, scn)) && !err) {
		GElf_Shdr shdr;
		const Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_PROGBITS ||
		    !(shdr.sh_flags & SHF_EXECINSTR))
			continue;
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf)
			err = each_of_section(data, shdr.sh_addr, tell, ctx);
	}
	return err;
}
