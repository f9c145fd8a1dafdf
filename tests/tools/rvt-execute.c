// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-execute: a recording of a real program for tests of the command that need no guest. Unicorn
 * executes PROGRAM, a static ELF file without system calls but for its last, and OUT is an N-Trace
 * recording of that: thread 10 of process 10 on cpu 0, and with `threads` then thread 11 on cpu 1.
 * OUT.insns has the executed instructions, a line "TID ADDRESS" each. lost: half of the way some
 * of the trace is not recorded, and these instructions are not listed. The recording says that the
 * process has exited.
 */
#include <stdio.h>

#ifndef HAVE_UNICORN
int main(void)
{
	fputs("rvt-execute: built without Unicorn\n", stderr);
	return 3;
}
#else
#include <gelf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unicorn/unicorn.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/insn.h>
#include "../unit/session-fixture.h"

#define PID 10
#define MS (1000000 / TICK_NS)	/* in ticks */
#define STACK 0x70000000u
#define STACK_BYTES 0x10000u
#define MAX_INSNS 4000000
#define INSNS_PER_TICK 4
#define PAGE 4096u
#define UNSEEN 20		/* instructions that are lost */

struct executed {
	uint64_t *pcs;		/* with where it went behind the last */
	size_t n;
	uint8_t *code;		/* a segment */
	uint64_t start, len, offset;
	uint64_t entry;
	bool fault;		/* the last one is not executed: it faults; else it is an ecall */
};

struct part {
	struct fixture *f;
	const struct executed *executed;
	size_t from, to;
};

static void give_up(const char *what)
{
	fprintf(stderr, "rvt-execute: %s\n", what);
	exit(2);
}

/* ---- executing ---- */

static void load(struct executed *e, const char *path)
{
	int fd = open(path, O_RDONLY);
	Elf *elf;
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;
	size_t n;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || !gelf_getehdr(elf, &ehdr) || elf_getphdrnum(elf, &n))
		give_up("it is no ELF file");
	e->entry = ehdr.e_entry;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X))
			continue;
		e->start = phdr.p_vaddr & -(uint64_t)PAGE;
		e->offset = phdr.p_offset & -(uint64_t)PAGE;
		e->len = phdr.p_vaddr + phdr.p_filesz - e->start;
		e->code = calloc(1, e->len);
		if (!e->code || pread(fd, e->code, e->len, e->offset) != (ssize_t)e->len)
			give_up("its code cannot be read");
	}
	elf_end(elf);
	close(fd);
	if (!e->code)
		give_up("it has no code");
}

static void note(uc_engine *uc, uint64_t address, uint32_t size, void *ctx)
{
	struct executed *e = ctx;

	(void)size;
	if (e->n + 1 == MAX_INSNS)
		uc_emu_stop(uc);
	else
		e->pcs[e->n++] = address;
}

static void stop(uc_engine *uc, uint32_t number, void *ctx)
{
	(void)number;
	(void)ctx;
	uc_emu_stop(uc);
}

static void execute(struct executed *e)
{
	uint64_t sp = STACK + STACK_BYTES - 64;
	uc_hook insns, traps;
	uc_engine *uc;

	e->pcs = calloc(MAX_INSNS, sizeof(*e->pcs));
	if (!e->pcs || uc_open(UC_ARCH_RISCV, UC_MODE_RISCV64, &uc) ||
	    uc_mem_map(uc, e->start, (e->len + PAGE - 1) & -(uint64_t)PAGE, UC_PROT_ALL) ||
	    uc_mem_map(uc, STACK, STACK_BYTES, UC_PROT_ALL) ||
	    uc_mem_write(uc, e->start, e->code, e->len) ||
	    uc_reg_write(uc, UC_RISCV_REG_SP, &sp) ||
	    uc_hook_add(uc, &insns, UC_HOOK_CODE, note, e, 1, 0) ||
	    uc_hook_add(uc, &traps, UC_HOOK_INTR, stop, e, 1, 0))
		give_up("Unicorn");
	e->fault = uc_emu_start(uc, e->entry, 0, 0, 0) != UC_ERR_OK;
	uc_close(uc);
	if (e->n < 2)
		give_up("nothing was executed");
}

/* ---- recording ---- */

static uint8_t itype_of(const struct rvt_insn *insn, uint64_t pc, uint64_t next)
{
	switch (insn->iclass) {
	case RVT_INSN_BRANCH:
		return next == pc + insn->len_bytes ? RVT_ITYPE_BRANCH_NOT_TAKEN :
			RVT_ITYPE_BRANCH_TAKEN;
	case RVT_INSN_CALL: return RVT_ITYPE_CALL;
	case RVT_INSN_JUMP: return RVT_ITYPE_JUMP;
	case RVT_INSN_IND_CALL: return RVT_ITYPE_IND_CALL;
	case RVT_INSN_IND_JUMP: return RVT_ITYPE_IND_JUMP;
	case RVT_INSN_RETURN: return RVT_ITYPE_RETURN;
	default: return RVT_ITYPE_NONE;
	}
}

/* Each instruction on its own: encoders do not care. */
static uint64_t retire(void *ctx, const struct hart_sink *sink)
{
	const struct part *part = ctx;
	const struct executed *e = part->executed;

	for (size_t i = part->from; i < part->to; i++) {
		uint64_t pc = e->pcs[i];
		struct rvt_insn insn;
		struct rvt_retire run;

		if (rvt_insn_decode(e->code + (pc - e->start), e->start + e->len - pc, 0, &insn))
			give_up("an instruction is none");
		run = (struct rvt_retire){ .first_pc = pc, .last_pc = pc, .insns = 1,
					   .halfwords = insn.len_bytes / 2,
					   .last_halfwords = insn.len_bytes / 2,
					   .itype = itype_of(&insn, pc, e->pcs[i + 1]) };
		sink->retire(sink->ctx, &run);
		part->f->ticks += !(i % INSNS_PER_TICK);
	}
	return e->pcs[part->to];
}

static void put_task(struct fixture *f, uint32_t type, int32_t tid)
{
	struct {
		struct perf_event_header header;
		int32_t pid, ppid, tid, ptid;
		uint64_t time;
	} head = { { type, 0, 0 }, PID, PID, tid, PID, f->ticks * TICK_NS };
	const struct trailer trailer = { PID, tid, f->ticks * TICK_NS, 0, 0, SIDE_ID };

	put_record(f, &head.header, sizeof(head), NULL, &trailer);
}

static void put_program(struct fixture *f, const struct executed *e, const char *path)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
		uint64_t addr, len, pgoff, inode[3];
		uint32_t prot, flags;
	} head = { { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0 }, PID, PID, e->start,
		   (e->len + PAGE - 1) & -(uint64_t)PAGE, e->offset, { 0 }, PROT_READ | PROT_EXEC,
		   MAP_PRIVATE };
	const struct trailer trailer = { PID, PID, f->ticks * TICK_NS + 1, 0, 0, SIDE_ID };

	put_record(f, &head.header, sizeof(head), path, &trailer);
}

static void record(struct fixture *f, const struct executed *e, int cpu, size_t from, size_t to,
		   uint64_t flags, FILE *insns)
{
	struct part part = { f, e, from, to };
	int32_t tid = PID + cpu;

	run_other(f, cpu, tid, retire, &part);
	f->ticks += MS;
	put_aux(f, cpu, tid, flags);
	for (size_t i = from; i < to; i++)
		fprintf(insns, "%d %llx\n", tid, (unsigned long long)e->pcs[i]);
}

int main(int argc, char **argv)
{
	bool threads = argc > 3 && !strcmp(argv[3], "threads");
	bool lost = argc > 3 && !strcmp(argv[3], "lost");
	struct executed e = { 0 };
	struct fixture *f;
	char path[4096];
	void *state;
	size_t half;
	FILE *insns;

	if (argc < 3 || argc > 4 || (argc == 4 && !threads && !lost)) {
		fputs("usage: rvt-execute OUT PROGRAM [threads|lost]\n", stderr);
		return 2;
	}
	load(&e, argv[2]);
	execute(&e);
	snprintf(path, sizeof(path), "%s.insns", argv[1]);
	insns = fopen(path, "w");
	if (!insns)
		give_up(path);
	session_setup(&state);
	f = state;
	begin_recording(f, true, true);
	put_comm(f, PID, f->ticks * TICK_NS, false, "program");
	put_program(f, &e, argv[2]);
	f->ticks += 2;
	/* the last one of all does not retire */
	half = e.n / 2;
	record(f, &e, 0, 0, half, lost ? PERF_AUX_FLAG_TRUNCATED : 0, insns);
	record(f, &e, 0, lost ? half + UNSEEN : half, e.n - 1, 0, insns);
	if (threads) {
		put_task(f, PERF_RECORD_FORK, PID + 1);
		record(f, &e, 1, 0, e.n - 1, 0, insns);
		put_task(f, PERF_RECORD_EXIT, PID + 1);
	}
	put_task(f, PERF_RECORD_EXIT, PID);
	if (fclose(insns) || rvt_perfdata_finish(f->writer) || rename(f->data, argv[1]))
		give_up(argv[1]);
	f->writer = NULL;
	session_teardown(&state);
	free(e.pcs);
	free(e.code);
	return 0;
}
#endif
