// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-etrace-size [-n MAX] [-f FLOW] ELF...: how many bits of E-Trace payload an instruction takes, in
 * each mode. Runs bare-metal programs (those that end by writing to `tohost`, as the RISC-V tests and
 * most small benchmarks do) in Unicorn and feeds an encoder of each mode with the same flow.
 *
 * -n: at most so many instructions of each program. -f: the flow as a table of retired instructions,
 * for other encoders.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rvtrace/etrace.h>
#include "../../tools/model/itype.h"

#ifdef HAVE_UNICORN
#include <unicorn/unicorn.h>

#define PAGE 4096ull
#define CACHE (1u << 16)

static const struct mode {
	const char *name;
	unsigned int options, bpred, cache, stack, sync_max;
} modes[] = {
	{ "base", 0, 0, 0, 0, 10 },
	{ "full", RVT_OPT_FULL_ADDRESS, 0, 0, 0, 10 },
	{ "bpred 6", RVT_OPT_BRANCH_PREDICTION, 6, 0, 0, 10 },
	{ "cache 5", RVT_OPT_JUMP_TARGET_CACHE, 0, 5, 0, 10 },
	{ "bpred 8+cache 7", RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE, 8, 7, 0, 10 },
	{ "return 5", RVT_OPT_IMPLICIT_RETURN, 0, 0, 5, 10 },
	{ "all", RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE | RVT_OPT_IMPLICIT_RETURN |
	  RVT_OPT_SEQUENTIAL_JUMP, 8, 7, 5, 10 },
	{ "base, sync 16", 0, 0, 0, 0, 0 },
};

#define MODES (sizeof(modes) / sizeof(*modes))

struct program {
	uc_engine *uc;
	bool rv32, done;
	uint64_t entry, tohost, fromhost, insns, max;
	struct rvt_etrace_encoder *encoders[MODES];
	struct { uint64_t pc; struct insn_class class; bool valid; } cache[CACHE];
	/* The instruction that was begun last. */
	const struct insn_class *last;
	uint64_t last_pc;
	uint8_t upper_rd;	/* what the one before it loaded */
	struct rvt_retire run;
	FILE *flow;
};

static int drop(void *ctx, const uint8_t *bytes, size_t len)
{
	(void)ctx, (void)bytes, (void)len;
	return 0;
}

static void classify(struct program *p, uint64_t pc, struct insn_class *class)
{
	uint8_t bytes[4] = { 0 };
	uint32_t insn;

	if (uc_mem_read(p->uc, pc, bytes, 4))
		uc_mem_read(p->uc, pc, bytes, 2);
	insn = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	itype_classify(insn, false, class);
	/* c.jal, which is c.addiw in RV64 */
	if (p->rv32 && (insn & 0xe003) == 0x2001) {
		class->itype = RVT_ITYPE_CALL;
		class->offset = 0;
		class->upper_rd = 0;
	}
}

static const struct insn_class *class_at(struct program *p, uint64_t pc)
{
	unsigned int slot = pc >> 1 & (CACHE - 1);

	if (!p->cache[slot].valid || p->cache[slot].pc != pc) {
		classify(p, pc, &p->cache[slot].class);
		p->cache[slot].pc = pc;
		p->cache[slot].valid = true;
	}
	return &p->cache[slot].class;
}

static void put_flow(struct program *p, enum rvt_itype itype)
{
	/* itype of three bits: returns and all other uninferable jumps are 6 */
	static const uint8_t narrow[16] = { [3] = 3, [4] = 4, [5] = 5, [8] = 6, [10] = 6, [12] = 6,
					    [13] = 6, [14] = 6 };

	fprintf(p->flow, "%u,0,0,3,%" PRIx64 ",0,0,%u,%u\n", narrow[itype], p->last_pc,
		p->last->halfwords, p->last->halfwords / 2);
}

/* The last instruction retired, and the next is at @pc. */
static void retired(struct program *p, uint64_t pc)
{
	const struct insn_class *class = p->last;
	enum rvt_itype itype = class->itype;

	p->insns++;
	if (!p->run.insns)
		p->run.first_pc = p->last_pc;
	p->run.insns++;
	p->run.halfwords += class->halfwords;
	p->run.last_pc = p->last_pc;
	p->run.last_halfwords = class->halfwords;
	p->run.prv = 3;
	if (itype == RVT_ITYPE_BRANCH_TAKEN && pc == p->last_pc + 2 * class->halfwords)
		itype = RVT_ITYPE_BRANCH_NOT_TAKEN;
	p->run.itype = itype;
	p->run.sijump = class->jump_rs && class->jump_rs == p->upper_rd;
	p->run.absolute = class->absolute;
	p->upper_rd = class->upper_rd;
	if (p->flow)
		put_flow(p, itype);
	if (itype == RVT_ITYPE_NONE)
		return;
	for (size_t i = 0; i < MODES; i++)
		rvt_etrace_encoder_retire(p->encoders[i], &p->run);
	p->run.insns = p->run.halfwords = 0;
}

static void on_insn(uc_engine *uc, uint64_t pc, uint32_t size, void *ctx)
{
	struct program *p = ctx;

	(void)size;
	if (p->last && !p->done)
		retired(p, pc);
	if (p->done || p->insns >= p->max) {
		p->last = NULL;
		uc_emu_stop(uc);
		return;
	}
	p->last = class_at(p, pc);
	p->last_pc = pc;
}

/* Bit 0: the end. Else a system call, which is answered and not done. */
static void on_write(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value,
		     void *ctx)
{
	static const uint64_t one = 1;
	struct program *p = ctx;

	(void)type, (void)size;
	if (address != p->tohost || !value)
		return;
	if (value & 1) {
		p->done = true;
		uc_emu_stop(uc);
	} else if (p->fromhost) {
		uc_mem_write(uc, p->fromhost, &one, p->rv32 ? 4 : 8);
	}
}

static bool on_unmapped(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value,
			void *ctx)
{
	(void)type, (void)size, (void)value, (void)ctx;
	return address >= PAGE && !uc_mem_map(uc, address & ~(PAGE - 1), PAGE, UC_PROT_ALL);
}

static void map(struct program *p, uint64_t from, uint64_t to)
{
	for (from &= ~(PAGE - 1); from < to; from += PAGE)
		uc_mem_map(p->uc, from, PAGE, UC_PROT_ALL);
}

static void find_symbols(struct program *p, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Sym sym;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(elf_getdata(scn, NULL), i, &sym); i++) {
			const char *name = elf_strptr(elf, shdr.sh_link, sym.st_name);

			if (name && !strcmp(name, "tohost"))
				p->tohost = sym.st_value;
			else if (name && !strcmp(name, "fromhost"))
				p->fromhost = sym.st_value;
		}
	}
}

static int load(struct program *p, const char *path)
{
	int fd = open(path, O_RDONLY);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;
	size_t n, size;
	char *file;

	if (!elf || !gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_RISCV ||
	    elf_getphdrnum(elf, &n)) {
		fprintf(stderr, "%s: not a RISC-V program\n", path);
		return -1;
	}
	p->rv32 = ehdr.e_ident[EI_CLASS] == ELFCLASS32;
	p->entry = ehdr.e_entry;
	if (uc_open(UC_ARCH_RISCV, p->rv32 ? UC_MODE_RISCV32 : UC_MODE_RISCV64, &p->uc))
		return -1;
	file = elf_rawfile(elf, &size);
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD ||
		    phdr.p_offset + phdr.p_filesz > size)
			continue;
		map(p, phdr.p_vaddr, phdr.p_vaddr + phdr.p_memsz);
		uc_mem_write(p->uc, phdr.p_vaddr, file + phdr.p_offset, phdr.p_filesz);
	}
	find_symbols(p, elf);
	elf_end(elf);
	close(fd);
	return 0;
}

static int create_encoder(struct program *p, const struct mode *mode, struct rvt_etrace_encoder **enc)
{
	struct rvt_etrace_encoder_config config = { .emit = drop, .sync_mode = 1,
						    .sync_max = mode->sync_max };
	struct rvt_params params;

	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0);
	params.xlen = p->rv32 ? 32 : 64;
	params.iaddress_width_p = params.xlen;
	params.options = mode->options;
	params.bpred_size_p = mode->bpred;
	params.cache_size_p = mode->cache;
	params.return_stack_size_p = mode->stack;
	params.sijump_p = 1;
	params.f0s_width_p = mode->bpred && mode->cache;
	config.params = &params;
	return rvt_etrace_encoder_create(&config, enc);
}

static int run(struct program *p)
{
	uc_hook insn, write, unmapped;
	uc_err err;

	if (uc_hook_add(p->uc, &insn, UC_HOOK_CODE, (void *)on_insn, p, 1, 0) ||
	    uc_hook_add(p->uc, &write, UC_HOOK_MEM_WRITE, (void *)on_write, p, 1, 0) ||
	    uc_hook_add(p->uc, &unmapped, UC_HOOK_MEM_UNMAPPED, (void *)on_unmapped, p, 1, 0))
		return -1;
	for (size_t i = 0; i < MODES; i++) {
		if (create_encoder(p, &modes[i], &p->encoders[i]))
			return -1;
		rvt_etrace_encoder_start(p->encoders[i]);
	}
	err = uc_emu_start(p->uc, p->entry, ~0ull, 0, 0);
	if (err || !p->done)
		fprintf(stderr, "  stopped at 0x%" PRIx64 ": %s\n", p->last_pc,
			err ? uc_strerror(err) : "enough instructions");
	return 0;
}

static void measure(const char *path, uint64_t max, FILE *flow, uint64_t *insns, uint64_t *bytes)
{
	struct program *p = calloc(1, sizeof(*p));

	if (!p || load(p, path)) {
		free(p);
		return;
	}
	p->max = max;
	p->flow = flow;
	if (!run(p)) {
		const char *name = strrchr(path, '/');

		printf("%-32s %10" PRIu64, name ? name + 1 : path, p->insns);
		*insns += p->insns;
		for (size_t i = 0; i < MODES; i++) {
			struct rvt_etrace_encoder_stats stats;

			rvt_etrace_encoder_stop(p->encoders[i], true);
			rvt_etrace_encoder_stats(p->encoders[i], &stats);
			bytes[i] += stats.payload_bytes;
			printf(" %15.4f", 8.0 * stats.payload_bytes / p->insns);
		}
		printf("\n");
	}
	for (size_t i = 0; i < MODES; i++)
		rvt_etrace_encoder_destroy(p->encoders[i]);
	uc_close(p->uc);
	free(p);
}

int main(int argc, char **argv)
{
	uint64_t max = 20000000, insns = 0, bytes[MODES] = { 0 };
	FILE *flow = NULL;
	int option;

	while ((option = getopt(argc, argv, "n:f:")) != -1) {
		if (option == 'n')
			max = strtoull(optarg, NULL, 0);
		else if (option == 'f')
			flow = fopen(optarg, "w");
		else
			return 2;
	}
	elf_version(EV_CURRENT);
	if (flow)
		fputs("itype_0,cause,tval,priv,iaddr_0,context,ctype,iretire_0,ilastsize_0\n", flow);
	printf("%-32s %10s", "payload bits per instruction", "insns");
	for (size_t i = 0; i < MODES; i++)
		printf(" %15s", modes[i].name);
	printf("\n");
	for (; optind < argc; optind++)
		measure(argv[optind], max, flow, &insns, bytes);
	printf("%-32s %10" PRIu64, "all", insns);
	for (size_t i = 0; i < MODES && insns; i++)
		printf(" %15.4f", 8.0 * bytes[i] / insns);
	printf("\n");
	return flow && fclose(flow) ? 1 : 0;
}
#else
int main(void)
{
	fputs("rvt-etrace-size: built without Unicorn (libunicorn-dev)\n", stderr);
	return 77;
}
#endif
