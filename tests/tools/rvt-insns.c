// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-insns: writes a program for the bare `virt` machine (an image for 0x80000000) that executes
 * random instructions of one group with random operands, and then switches the machine off.
 * Blocks begin with all registers loaded from a table. The blocks are executed several times, each
 * time with other operands, for it takes emulators longer to translate code than to execute it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../unit/rv-insns.h"
#include "model/tandem/privileged.h"

#define BASE UINT64_C(0x80000000)
#define SCRATCH UINT64_C(0x83000000)
#define TABLE UINT64_C(0x84000000)
#define TABLE_BYTES 512u		/* of a block: fcsr, x1 to x30, then f0 to f31 */
#define BLOCK_STEPS 64u
#define MAX_STEPS 2000000u
#define ROUNDS 16u
#define FEW_STEPS 100000u		/* fewer: two rounds, for more instructions */
#define POINTER 31u			/* the table; no other instruction writes it */
#define TARGET 29u			/* of indirect jumps */
#define NOP 0x13u
#define C_NOP 0x0001u

/* Base registers of loads and stores: any, of the three bits of c.lw, sp. */
static const unsigned int bases[] = { 30, 8, 2 };
#define BASES (sizeof(bases) / sizeof(bases[0]))

static const uint16_t csrs[] = {
	CSR_FFLAGS, CSR_FRM, CSR_FCSR, CSR_SSCRATCH, CSR_SEPC, CSR_SCAUSE, CSR_STVAL, CSR_STVEC,
	CSR_SATP, CSR_SIE, CSR_SIP, CSR_SCOUNTEREN, CSR_MSCRATCH, CSR_MEPC, CSR_MCAUSE, CSR_MTVAL,
	CSR_MEDELEG, CSR_MIDELEG, CSR_MIE, CSR_MIP, CSR_MCOUNTEREN,
};

struct program {
	struct random random;
	enum rv_group group;	/* RV_GROUPS: Zicsr */
	FILE *out;
	size_t code_bytes;
	uint64_t *table;
	size_t blocks, rows;
};

static void put16(struct program *p, uint32_t half)
{
	uint8_t bytes[2] = { half, half >> 8 };

	fwrite(bytes, 1, 2, p->out);
	p->code_bytes += 2;
}

static void put(struct program *p, uint32_t insn)
{
	put16(p, insn & 0xffff);
	if (tandem_insn_bytes(insn) == 4)
		put16(p, insn >> 16);
}

static uint32_t type_i(uint32_t match, unsigned int rd, unsigned int rs1, int imm)
{
	return match | (uint32_t)imm << 20 | rs1 << 15 | rd << 7;
}

static void put_constant(struct program *p, unsigned int rd, unsigned int value, unsigned int shift)
{
	put(p, type_i(0x13, rd, 0, value));
	put(p, type_i(0x1013, rd, rd, shift));
}

/* What traps is skipped. */
static void put_start(struct program *p)
{
	put(p, 0x0200006f);				/* j 32 bytes on */
	put(p, 0x34029073);				/* handler: csrw mscratch,t0 */
	put(p, 0x341022f3);				/* csrr t0,mepc */
	put(p, type_i(0x13, 5, 5, 4));
	put(p, 0x34129073);				/* csrw mepc,t0 */
	put(p, 0x340022f3);				/* csrr t0,mscratch */
	put(p, 0x30200073);				/* mret */
	put(p, NOP);
	put(p, 0x00000297);				/* auipc t0,0 */
	put(p, type_i(0x13, 5, 5, 4 - 32));
	put(p, 0x30529073);				/* csrw mtvec,t0 */
	put_constant(p, 5, 3, 13);
	put(p, 0x3002a073);				/* csrs mstatus,t0: FS */
	put_constant(p, POINTER, 0x21, 26);		/* TABLE */
}

/* Back to @start until the table is at its end. */
static void put_next_round(struct program *p, size_t start)
{
	uint64_t back;

	put_constant(p, 1, 0x21, 26);			/* TABLE */
	put(p, ((uint32_t)(p->rows * TABLE_BYTES + 0x800) & 0xfffff000u) | 2u << 7 | 0x37);
	put(p, type_i(0x13, 2, 2, p->rows * TABLE_BYTES & 0xfff));
	put(p, 0x002080b3);				/* add ra,ra,sp */
	put(p, 0x001ff663);				/* bgeu t6,ra,12 bytes on */
	back = start - p->code_bytes;
	put(p, (((uint32_t)back + 0x800) & 0xfffff000u) | 2u << 7 | 0x17);
	put(p, type_i(0x67, 0, 2, back & 0xfff));
}

static void put_end(struct program *p)
{
	put_constant(p, 5, 1, 20);			/* the test device, 0x100000 */
	put(p, 0x00005337);				/* lui t1,5 */
	put(p, type_i(0x13, 6, 6, 0x555));
	put(p, 0x0062a023);				/* sw t1,0(t0) */
	put(p, 0x10500073);				/* wfi, until that is done */
	put(p, 0x0000006f);				/* j . */
}

static uint64_t random_base(struct program *p)
{
	return SCRATCH + 4096 + 8 * random_below(&p->random, 64);
}

static void fill_row(struct program *p, uint64_t *row)
{
	unsigned int i;

	row[0] = random_below(&p->random, random_one_in(&p->random, 16) ? 8 : 5) << 5;
	for (i = 1; i < POINTER; i++)
		row[i] = rv_random_integer(&p->random);
	for (i = 0; i < BASES; i++)
		row[bases[i]] = random_base(p);
	for (i = 0; i < 32; i++)
		row[32 + i] = rv_random_float(&p->random);
}

static void begin_block(struct program *p)
{
	unsigned int i;

	put(p, type_i(0x3003, 1, POINTER, 0));
	put(p, 0x00309073);				/* csrw fcsr,x1 */
	for (i = 1; i < POINTER; i++)
		put(p, type_i(0x3003, i, POINTER, 8 * i));
	for (i = 0; i < 32; i++)
		put(p, type_i(0x3007, i, POINTER, 256 + 8 * i));
	put(p, type_i(0x13, POINTER, POINTER, TABLE_BYTES));
}

static bool writes_f(uint32_t whole)
{
	unsigned int opcode = whole & 0x7f, funct5 = whole >> 27;

	return opcode == 0x07 || (opcode >= 0x43 && opcode <= 0x4f) ||
		(opcode == 0x53 && funct5 != 0x14 && funct5 != 0x18 && funct5 != 0x1c);
}

/* The integer register that it writes; 0: none. */
static unsigned int destination(uint32_t whole)
{
	unsigned int opcode = whole & 0x7f;

	return opcode == 0x23 || opcode == 0x27 || opcode == 0x63 || writes_f(whole) ? 0 :
		whole >> 7 & 31;
}

static bool is_base(unsigned int reg)
{
	size_t i;

	for (i = 0; i < BASES; i++)
		if (bases[i] == reg)
			return true;
	return false;
}

/* Of loads and stores: a base register in place of a random one. Returns 0 where there is none. */
static uint32_t aim(struct program *p, uint32_t insn)
{
	uint64_t x[32] = { 0 };
	struct rvt_tandem_data data;

	if ((insn & 3) == 0)
		insn = insn & ~(7u << 7);		/* c.lw and the like: x8 */
	else if ((insn & 3) == 3)
		insn = (insn & ~(31u << 15)) | 30u << 15;
	rvt_tandem_data(insn, 64, x, &data);
	if (data.sc)
		/*
		 * Behind an lr, or another sc, of its width: QEMU's sc.w stores and says that it
		 * failed behind an lr.d (Documentation/tandem.rst).
		 */
		put(p, random_one_in(&p->random, 3) ? insn & ~(31u << 7) :
		    0x1000002f | (insn & (7u << 12 | 31u << 15)));
	else if (data.amo && random_one_in(&p->random, 2))
		/* sd of something else to where it goes */
		put(p, 0x00003023 | 30u << 15 | random_below(&p->random, 30) << 20);
	return insn;
}

static void put_jump(struct program *p, uint32_t insn)
{
	unsigned int skipped = random_below(&p->random, 4), i;
	unsigned int unit = tandem_insn_bytes(insn), to = unit * (1 + skipped);

	switch (insn & 0x7f) {
	case 0x63:
		put(p, (insn & 0x01fff07f) | (to >> 1 & 15) << 8 | (to >> 5 & 63) << 25);
		break;
	case 0x6f:
		put(p, (insn & 0xfff) | to << 20);
		break;
	case 0x67:
		put(p, 0x17 | TARGET << 7);		/* auipc */
		put(p, type_i(0x67, insn >> 7 & 31, TARGET, 4 + to + random_below(&p->random, 2)));
		break;
	default:
		if ((insn & 3) == 2) {			/* c.jr, c.jalr */
			put(p, 0x17 | TARGET << 7);
			put(p, type_i(0x13, TARGET, TARGET, 8 + to));
			put(p, (insn & 0xf07f) | TARGET << 7);
		} else if (insn >> 13 == 5) {		/* c.j */
			put(p, 0xa001 | (to >> 1 & 7) << 3);
		} else {
			put(p, (insn & 0xe383) | (to >> 1 & 3) << 3 | (to >> 3 & 3) << 10);
		}
	}
	for (i = 0; i < 3; i++)
		put(p, unit == 4 ? NOP : C_NOP);
}

static bool is_memory(enum rv_group group)
{
	return group == RV_I_MEMORY || group == RV_A || group == RV_FD_MEMORY ||
		group == RV_C_MEMORY;
}

static void put_csr_step(struct program *p)
{
	static const unsigned int ops[] = { 1, 2, 3, 5, 6, 7 };
	unsigned int csr = csrs[random_below(&p->random, sizeof(csrs) / sizeof(csrs[0]))];

	put(p, csr << 20 | random_below(&p->random, 31) << 15 |
	    ops[random_below(&p->random, 6)] << 12 | random_below(&p->random, POINTER) << 7 | 0x73);
}

static void put_step(struct program *p)
{
	const struct rv_form *form;
	uint32_t insn, whole;
	unsigned int rd;

	if (p->group == RV_GROUPS) {
		put_csr_step(p);
		return;
	}
	do
		form = &rv_forms[random_below(&p->random, rv_forms_len)];
	while (form->group != p->group);
	do {
		insn = rv_form_make(form, &p->random);
		whole = rvt_tandem_expand(insn, 64);
		rd = destination(whole);
	} while (rd == POINTER || (is_memory(p->group) && is_base(rd)));
	if (p->group == RV_I_JUMP || p->group == RV_C_JUMP)
		put_jump(p, insn);
	else
		put(p, is_memory(p->group) ? aim(p, insn) : insn);
}

static int parse_group(const char *name)
{
	int i;

	for (i = 0; i < RV_GROUPS; i++)
		if (!strcmp(name, rv_group_names[i]))
			return i;
	return strcmp(name, "Zicsr") ? -1 : RV_GROUPS;
}

static int list_groups(void)
{
	int i;

	for (i = 0; i < RV_GROUPS; i++)
		puts(rv_group_names[i]);
	puts("Zicsr");
	return 0;
}

static int write_program(struct program *p, unsigned int steps)
{
	unsigned int rounds = steps < FEW_STEPS ? 2 : ROUNDS;
	size_t i, start;

	p->blocks = (steps + rounds * BLOCK_STEPS - 1) / (rounds * BLOCK_STEPS);
	p->rows = p->blocks * rounds;
	p->table = calloc(p->rows, TABLE_BYTES);
	if (!p->table)
		return -1;
	for (i = 0; i < p->rows; i++)
		fill_row(p, p->table + i * (TABLE_BYTES / 8));
	put_start(p);
	start = p->code_bytes;
	for (i = 0; i < p->blocks * BLOCK_STEPS; i++) {
		if (i % BLOCK_STEPS == 0)
			begin_block(p);
		put_step(p);
	}
	put_next_round(p, start);
	put_end(p);
	if (p->code_bytes > SCRATCH - BASE || fseek(p->out, TABLE - BASE, SEEK_SET))
		return -1;
	fwrite(p->table, TABLE_BYTES, p->rows, p->out);
	free(p->table);
	return ferror(p->out) ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct program p = { 0 };
	unsigned int steps;
	int group, ret;

	if (argc == 2 && !strcmp(argv[1], "--groups"))
		return list_groups();
	group = argc == 5 ? parse_group(argv[1]) : -1;
	steps = argc == 5 ? strtoul(argv[2], NULL, 0) : 0;
	if (group < 0 || !steps || steps > MAX_STEPS) {
		fputs("usage: rvt-insns GROUP STEPS SEED FILE\n       rvt-insns --groups\n",
		      stderr);
		return 2;
	}
	p.group = group;
	random_seed(&p.random, strtoull(argv[3], NULL, 0));
	p.out = fopen(argv[4], "wbe");
	if (!p.out) {
		perror(argv[4]);
		return 1;
	}
	ret = write_program(&p, steps);
	if (fclose(p.out) || ret) {
		fprintf(stderr, "rvt-insns: %s: cannot be written\n", argv[4]);
		return 1;
	}
	return 0;
}
