// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A golden model on Unicorn. Unicorn executes the unprivileged instructions, one at a time, in M
 * mode: its releases take no RISC-V traps, and 2.0 neither translates addresses (it checks virtual
 * ones) nor shows the privilege mode. So pages are mapped at their effective addresses when an
 * instruction needs them, and CSRs, traps and translation are those of userspace/model/tandem/.
 *
 * Unicorn's answer counts only if the library's interpreter, the second source, agrees. Where it
 * does not, and Unicorn is known to be wrong (corrections.c), the interpreter's answer counts; else
 * the instruction is called disputed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tandem/corrections.h"
#include "model/tandem/interpret.h"
#include "model/tandem/privileged.h"
#include "tandem/tandem.h"

#ifndef HAVE_UNICORN

int tandem_unicorn_create(const struct rvt_tandem_params *params,
			  const struct rvt_tandem_verifier_ops **ops, void **ctx)
{
	(void)params;
	(void)ops;
	(void)ctx;
	return -ENOTSUP;
}

void tandem_unicorn_destroy(void *ctx)
{
	(void)ctx;
}

const struct tandem_correction *tandem_unicorn_correction(const void *ctx)
{
	(void)ctx;
	return NULL;
}

#else

#include <unicorn/unicorn.h>

#define PAGE 4096u
/*
 * Mapping takes Unicorn longer the more is mapped. An instruction needs at most four pages: two of
 * code and two of data.
 */
#define SETS 32u
#define WAYS 4u
#define REGS 65			/* x, f, fcsr */
#define CODE_CACHE 65536u
#define ADDRESSES 4u
/*
 * Unicorn 2.0.1 crashes once its buffer of translated code, 1 GiB, is full, so it is started anew
 * before that. It translates up to 512 instructions ahead, which take up to 40 KiB.
 */
#define MAX_TRANSLATIONS (1u << 14)
/* An address without physical memory. */
#define NOWHERE (~(uint64_t)(PAGE - 1))

struct model {
	uc_engine *uc;
	struct tandem_hart hart;
	struct rvt_tandem_params params;
	/* x0-x31, f0-f31, fcsr, as Unicorn has them unless dirty */
	int ids[REGS];
	uint64_t regs[REGS];
	void *pointers[REGS];
	bool dirty, fprs_usable;
	unsigned int release;		/* of Unicorn: 0xMMmm */
	struct mapping {
		bool used;
		uint64_t va, pa, last_use;
	} mappings[SETS][WAYS];
	uint64_t uses;
	unsigned int translations;	/* since the engine was started */
	/* what was executed last at a pc: Unicorn does not see writes through another mapping */
	struct {
		uint64_t pc;
		uint32_t insn;
	} code[CODE_CACHE];
	/* inputs of the next execute */
	bool has_insn, has_interrupt, sc_fails;
	uint32_t insn;
	uint64_t interrupt, bus_error;		/* cause */
	unsigned int n_addresses;
	struct {
		uint64_t va, pa;
	} addresses[ADDRESSES];
	/* of lr; RESERVED_UNKNOWN: the model has not seen what came before */
	enum { NOT_RESERVED, RESERVED, RESERVED_UNKNOWN } reserved;
	uint64_t reservation;		/* physical */
	/* during execution */
	struct rvt_tandem_outcome *outcome;
	int exception;
	const struct tandem_correction *correction;	/* for the last instruction */
	/* where the instruction's data is; in two parts if it crosses a page */
	struct {
		uint64_t pa;
		unsigned int len;
	} parts[2];
	unsigned int parts_len;
};

/* The reservation set is at most so large (Za64rs). */
#define RESERVATION_SET 64u

static uint64_t *x_regs(struct model *m)
{
	return m->regs;
}

static void on_write(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value,
		     void *ctx)
{
	struct model *m = ctx;
	struct mapping *map;
	unsigned int way, n, room;
	uint64_t va;

	(void)uc;
	(void)type;
	(void)value;
	/* page by page, as physical addresses */
	for (; size > 0; address += n, size -= n) {
		room = PAGE - address % PAGE;
		n = room < (unsigned int)size ? room : (unsigned int)size;
		va = address & ~(uint64_t)(PAGE - 1);
		for (way = 0; way < WAYS; way++) {
			map = &m->mappings[va / PAGE % SETS][way];
			if (!map->used || map->va != va ||
			    m->outcome->writes_len == RVT_TANDEM_MAX_WRITES)
				continue;
			m->outcome->writes[m->outcome->writes_len].addr = map->pa + address % PAGE;
			m->outcome->writes[m->outcome->writes_len++].len = n;
			rvt_tandem_memory_mark(m->hart.memory, map->pa + address % PAGE, n);
		}
	}
}

static void on_exception(uc_engine *uc, uint32_t number, void *ctx)
{
	struct model *m = ctx;

	m->exception = number;
	uc_emu_stop(uc);
}

void tandem_unicorn_destroy(void *ctx)
{
	struct model *m = ctx;

	if (!m)
		return;
	if (m->uc)
		uc_close(m->uc);
	rvt_tandem_memory_destroy(m->hart.memory);
	free(m);
}

const struct tandem_correction *tandem_unicorn_correction(const void *ctx)
{
	return ((const struct model *)ctx)->correction;
}

/* Without an enabled FPU, Unicorn would call every floating-point instruction illegal. */
static void enable_fpu(struct model *m)
{
	uint64_t mstatus = MSTATUS_FS;

	uc_reg_write(m->uc, UC_RISCV_REG_MSTATUS, &mstatus);
}

static int reset(void *ctx)
{
	struct model *m = ctx;

	rvt_tandem_hart_reset(&m->hart);
	m->reserved = NOT_RESERVED;
	memset(m->regs, 0, sizeof(m->regs));
	m->dirty = true;
	return 0;
}

static bool create_engine(struct model *m)
{
	uc_hook write_hook, exception_hook;
	unsigned int major, minor;
	int i;

	if (uc_open(UC_ARCH_RISCV, m->params.xlen == 32 ? UC_MODE_RISCV32 : UC_MODE_RISCV64,
		    &m->uc) ||
	    uc_hook_add(m->uc, &write_hook, UC_HOOK_MEM_WRITE, (void *)on_write, m, 1, 0) ||
	    uc_hook_add(m->uc, &exception_hook, UC_HOOK_INTR, (void *)on_exception, m, 1, 0))
		return false;
	for (i = 0; i < 32; i++) {
		m->ids[i] = UC_RISCV_REG_X0 + i;
		m->ids[32 + i] = UC_RISCV_REG_F0 + i;
	}
	m->ids[64] = UC_RISCV_REG_FCSR;
	for (i = 0; i < REGS; i++)
		m->pointers[i] = &m->regs[i];
	/* before 2.1, RV32 shows only half of each floating-point register */
	uc_version(&major, &minor);
	m->release = major << 8 | minor;
	m->fprs_usable = m->params.xlen == 64 || m->release >= 0x0201;
	enable_fpu(m);
	return true;
}

/* Starts the engine anew: pages are mapped again when needed, registers are written back. */
static bool restart_engine(struct model *m)
{
	uc_close(m->uc);
	m->uc = NULL;
	m->translations = 0;
	m->dirty = true;
	memset(m->mappings, 0, sizeof(m->mappings));
	memset(m->code, 0, sizeof(m->code));
	return create_engine(m);
}

/* Finds the mapping of @va, or the least recently used one of its set. */
static struct mapping *find_mapping(struct model *m, uint64_t va)
{
	struct mapping *set = m->mappings[va / PAGE % SETS], *oldest = set;
	unsigned int way;

	for (way = 0; way < WAYS; way++) {
		if (set[way].used && set[way].va == va)
			return &set[way];
		if (set[way].last_use < oldest->last_use)
			oldest = &set[way];
	}
	return oldest;
}

/* Maps the physical page at the effective address in Unicorn. */
static int map_page(struct model *m, uint64_t va, uint64_t pa)
{
	struct mapping *map;
	uint8_t *bytes;

	va &= ~(uint64_t)(PAGE - 1);
	pa &= ~(uint64_t)(PAGE - 1);
	map = find_mapping(m, va);
	map->last_use = ++m->uses;
	if (map->used && map->va == va && map->pa == pa)
		return 0;
	if (map->used && uc_mem_unmap(m->uc, map->va, PAGE))
		return -EIO;
	map->used = false;
	bytes = rvt_tandem_memory_page(m->hart.memory, pa);
	if (!bytes || uc_mem_map_ptr(m->uc, va, PAGE, UC_PROT_ALL, bytes))
		return -ENOMEM;
	/* Unicorn may still hold translated code of another page at this address */
	uc_ctl_remove_cache(m->uc, va, va + PAGE - 1);
	map->used = true;
	map->va = va;
	map->pa = pa;
	return 0;
}

static bool is_address_given(const struct model *m, uint64_t va, uint64_t *pa)
{
	unsigned int i;

	for (i = 0; i < m->n_addresses; i++)
		if (!((m->addresses[i].va ^ va) & ~(uint64_t)(PAGE - 1))) {
			*pa = (m->addresses[i].pa & ~(uint64_t)(PAGE - 1)) | (va & (PAGE - 1));
			return true;
		}
	return false;
}

static enum tandem_walk translate(struct model *m, uint64_t va, enum tandem_access_type type,
				  uint64_t *pa)
{
	enum tandem_walk walk = rvt_tandem_translate(&m->hart, va, type, pa);

	if (walk == TANDEM_WALK_UNKNOWN && is_address_given(m, va, pa))
		return TANDEM_WALK_OK;
	return walk;
}

static void trap(struct model *m, uint64_t cause, uint64_t tval)
{
	if (m->params.xlen == 32)
		tval = (uint32_t)tval;
	rvt_tandem_trap(&m->hart, false, cause, tval);
	m->outcome->flags |= RVT_TANDEM_OUT_TRAP;
}

/* Returns whether the machine around the hart refuses this access. */
static bool refused(struct model *m, uint64_t cause, uint64_t va, uint64_t pa)
{
	if (m->bus_error != cause)
		return false;
	m->outcome->bus_error = m->outcome->has_paddr = true;
	m->outcome->paddr = pa;
	m->outcome->eaddr = va;
	trap(m, cause, va);
	return true;
}

/* Fetches one 16-bit unit of code. Returns false after a trap, or if memory is not known. */
static bool fetch_unit(struct model *m, uint64_t va, uint32_t from_trace, uint16_t *unit)
{
	uint16_t traced = from_trace;
	uint64_t pa;

	switch (translate(m, va, TANDEM_FETCH, &pa)) {
	case TANDEM_WALK_FAULT:
		trap(m, CAUSE_FETCH_PAGE, va);
		return false;
	case TANDEM_WALK_UNKNOWN:
		m->outcome->flags |= RVT_TANDEM_OUT_UNKNOWN_CODE;
		return false;
	case TANDEM_WALK_OK:
		break;
	}
	if (va == m->hart.pc) {
		m->outcome->has_pc_paddr = true;
		m->outcome->pc_paddr = pa;
	}
	if (refused(m, CAUSE_FETCH_ACCESS, va, pa))
		return false;
	if (rvt_tandem_memory_read(m->hart.memory, pa, unit, 2) < 2) {
		if (!m->has_insn) {
			m->outcome->flags |= RVT_TANDEM_OUT_UNKNOWN_CODE;
			return false;
		}
		rvt_tandem_memory_write(m->hart.memory, pa, &traced, 2);
		*unit = traced;
	}
	return !map_page(m, va, pa);
}

static bool fetch(struct model *m, uint32_t *insn)
{
	uint16_t low, high = 0;

	if (!fetch_unit(m, m->hart.pc, m->insn, &low))
		return false;
	if ((low & 3) == 3 && !fetch_unit(m, m->hart.pc + 2, m->insn >> 16, &high))
		return false;
	*insn = low | (uint32_t)high << 16;
	m->outcome->insn = *insn;
	return true;
}

/* Finds the pages that a load or store reaches. Returns false as fetch_unit() does. */
static bool reach_page(struct model *m, const struct rvt_tandem_data *data, uint64_t va,
		       unsigned int len, uint64_t *pa)
{
	uint64_t bytes;

	switch (translate(m, va, data->store ? TANDEM_WRITE : TANDEM_READ, pa)) {
	case TANDEM_WALK_FAULT:
		trap(m, data->store ? CAUSE_STORE_PAGE : CAUSE_LOAD_PAGE, va);
		return false;
	case TANDEM_WALK_UNKNOWN:
		m->outcome->flags |= RVT_TANDEM_OUT_UNKNOWN_MEMORY;
		return false;
	case TANDEM_WALK_OK:
		break;
	}
	if (refused(m, data->store ? CAUSE_STORE_ACCESS : CAUSE_LOAD_ACCESS, va, *pa))
		return false;
	if (va == data->address) {
		m->outcome->has_paddr = true;
		m->outcome->paddr = *pa;
		m->outcome->eaddr = va;
	}
	if ((!data->store || (data->amo && !data->sc)) &&
	    rvt_tandem_memory_read(m->hart.memory, *pa, &bytes, len) < len) {
		m->outcome->flags |= RVT_TANDEM_OUT_UNKNOWN_MEMORY;
		return false;
	}
	m->parts[m->parts_len].pa = *pa;
	m->parts[m->parts_len++].len = len;
	return !map_page(m, va, *pa);
}

static bool reach_data(struct model *m, const struct rvt_tandem_data *data)
{
	unsigned int first = PAGE - data->address % PAGE;
	uint64_t pa;

	m->parts_len = 0;
	if (!data->bytes)
		return true;
	if (data->amo && data->address & (data->bytes - 1)) {
		trap(m, data->store ? CAUSE_STORE_MISALIGNED : CAUSE_LOAD_MISALIGNED,
		     data->address);
		return false;
	}
	/* an implementation may do so (RVT_TANDEM_CHOICE_MISALIGNED) */
	if (data->address & (data->bytes - 1) &&
	    m->bus_error == (data->store ? CAUSE_STORE_MISALIGNED : CAUSE_LOAD_MISALIGNED)) {
		trap(m, m->bus_error, data->address);
		return false;
	}
	if (first > data->bytes)
		first = data->bytes;
	if (!reach_page(m, data, data->address, first, &pa))
		return false;
	return first == data->bytes ||
		reach_page(m, data, data->address + first, data->bytes - first, &pa);
}

/* Makes Unicorn translate anew if the instruction at this pc is not the last one's. */
static void refresh_code(struct model *m, uint32_t insn)
{
	unsigned int slot = m->hart.pc / 2 % CODE_CACHE;

	if (m->code[slot].pc == m->hart.pc && m->code[slot].insn == insn)
		return;
	uc_ctl_remove_cache(m->uc, m->hart.pc, m->hart.pc + 4);
	m->code[slot].pc = m->hart.pc;
	m->code[slot].insn = insn;
	m->translations++;
}

/*
 * Singles in wider registers are NaN-boxed. Unicorn, which is QEMU 5.0 inside, neither boxes what
 * it computes nor looks at whether its operands are boxed (Documentation/tandem.rst).
 */
#define BOX (UINT64_C(0xffffffff) << 32)
#define SINGLE_NAN (BOX | 0x7fc00000)

static bool is_fused(uint32_t insn)
{
	return (insn & 0x73) == 0x43;		/* fmadd, fmsub, fnmsub, fnmadd */
}

/* Returns which of rs1, rs2, rs3 (bits 0 to 2) the instruction reads as a single. */
static unsigned int single_operands(uint32_t insn)
{
	bool single = !(insn >> 25 & 3);

	if (is_fused(insn))
		return single ? 7 : 0;
	if ((insn & 0x7f) != 0x53)
		return 0;
	switch (insn >> 27) {
	case 0x00: case 0x01: case 0x02: case 0x03:	/* fadd, fsub, fmul, fdiv */
	case 0x04: case 0x05: case 0x14:		/* fsgnj, fmin and fmax, comparisons */
		return single ? 3 : 0;
	case 0x0b: case 0x18:				/* fsqrt, fcvt.w.s */
		return single ? 1 : 0;
	case 0x08:					/* fcvt.s.d, fcvt.d.s */
		return single ? 0 : 1;
	case 0x1c:					/* fclass, but fmv.x.w moves bits */
		return single && (insn >> 12 & 7) ? 1 : 0;
	default:
		return 0;
	}
}

static bool result_is_single(uint32_t insn)
{
	unsigned int funct5 = insn >> 27;

	if (is_fused(insn))
		return !(insn >> 25 & 3);
	return (insn & 0x7f) == 0x53 && !(insn >> 25 & 3) &&
		funct5 != 0x14 && funct5 != 0x18 && funct5 != 0x1c;
}

/* Operands that Unicorn gets in place of the real ones. */
struct shown {
	unsigned int len;
	struct {
		unsigned int reg;
		uint64_t real;
	} at[3];
};

static void show_boxed(struct model *m, uint32_t insn, struct shown *shown)
{
	static const unsigned int shifts[] = { 15, 20, 27 };
	unsigned int i, reg, operands = m->params.flen == 64 ? single_operands(insn) : 0;

	shown->len = 0;
	for (i = 0; i < 3; i++) {
		reg = 32 + (insn >> shifts[i] & 31);
		if (!(operands >> i & 1) || m->regs[reg] >= BOX)
			continue;
		shown->at[shown->len].reg = reg;
		shown->at[shown->len++].real = m->regs[reg];
		m->regs[reg] = SINGLE_NAN;
		m->dirty = true;
	}
}

/* Restores the operands, and boxes the result. */
static void correct(struct model *m, uint32_t insn, const struct shown *shown, bool fpr_written)
{
	unsigned int i, rd = 32 + (insn >> 7 & 31);

	for (i = 0; i < shown->len; i++) {
		if (fpr_written && shown->at[i].reg == rd)
			continue;
		m->regs[shown->at[i].reg] = shown->at[i].real;
		m->dirty = true;
	}
	if (m->params.flen == 64 && result_is_single(insn) && m->regs[rd] < BOX) {
		m->regs[rd] |= BOX;
		m->dirty = true;
	}
}

/*
 * Executes one instruction. Unicorn translates ahead of it, and gives up before it executes any if
 * a page ahead is not mapped. Any page will do there.
 */
static uc_err emulate(struct model *m, uint64_t pc)
{
	uint64_t now = 0;
	uc_err err = uc_emu_start(m->uc, pc, 0, 0, 1);

	if (err != UC_ERR_FETCH_UNMAPPED)
		return err;
	uc_reg_read(m->uc, UC_RISCV_REG_PC, &now);
	/* the instruction was executed; only its jump's target is not mapped */
	if (now != pc)
		return UC_ERR_OK;
	if (map_page(m, pc + PAGE, NOWHERE))
		return UC_ERR_NOMEM;
	uc_ctl_remove_cache(m->uc, pc, pc + 4);
	err = uc_emu_start(m->uc, pc, 0, 0, 1);
	return err == UC_ERR_FETCH_UNMAPPED ? UC_ERR_OK : err;
}

/* How the engine ended. */
enum engine { ENGINE_RETIRED, ENGINE_ILLEGAL, ENGINE_LOST };

/* Runs one instruction in Unicorn, with all that it needs mapped. *@pc: the next pc. */
static enum engine run(struct model *m, uint32_t insn, bool fpr_written, uint64_t *pc)
{
	struct shown shown;
	uint64_t flags = m->hart.csr[CSR_FCSR];
	uc_err err;

	if (m->regs[64] != flags) {
		m->regs[64] = flags;
		m->dirty = true;
	}
	show_boxed(m, insn, &shown);
	if (m->dirty)
		uc_reg_write_batch(m->uc, m->ids, m->pointers, REGS);
	m->dirty = false;
	refresh_code(m, insn);
	m->exception = -1;
	err = emulate(m, m->hart.pc);
	if (m->exception >= 0 || err) {
		correct(m, 0, &shown, false);
		m->dirty = true;
		/* no exception: it accessed what is not mapped */
		return m->exception == CAUSE_ILLEGAL || m->exception >= 24 ? ENGINE_ILLEGAL :
			ENGINE_LOST;
	}
	uc_reg_read_batch(m->uc, m->ids, m->pointers, REGS);
	correct(m, insn, &shown, fpr_written);
	*pc = 0;
	uc_reg_read(m->uc, UC_RISCV_REG_PC, pc);
	return ENGINE_RETIRED;
}

static uint64_t read_parts(struct model *m)
{
	uint64_t value = 0;
	uint8_t *to = (uint8_t *)&value;
	unsigned int i;

	for (i = 0; i < m->parts_len; to += m->parts[i++].len)
		rvt_tandem_memory_read(m->hart.memory, m->parts[i].pa, to, m->parts[i].len);
	return value;
}

static void write_parts(struct model *m, uint64_t value)
{
	const uint8_t *from = (const uint8_t *)&value;
	unsigned int i;

	for (i = 0; i < m->parts_len; from += m->parts[i++].len)
		rvt_tandem_memory_write(m->hart.memory, m->parts[i].pa, from, m->parts[i].len);
}

/* Returns whether the engine wrote where the instruction writes, and nowhere else. */
static bool writes_agree(struct model *m, const struct rvt_tandem_data *data, uint64_t stored)
{
	const struct rvt_tandem_outcome *outcome = m->outcome;
	unsigned int i, j;

	if (!data->store)
		return !outcome->writes_len;
	for (i = 0; i < outcome->writes_len; i++) {
		for (j = 0; j < m->parts_len; j++)
			if (outcome->writes[i].addr >= m->parts[j].pa &&
			    outcome->writes[i].addr + outcome->writes[i].len <=
			    m->parts[j].pa + m->parts[j].len)
				break;
		if (j == m->parts_len)
			return false;
	}
	return read_parts(m) == stored;
}

static bool registers_agree(const struct model *m, const struct tandem_unprivileged *own)
{
	return !memcmp(m->regs, own->x, sizeof(own->x)) &&
		(!m->fprs_usable || (!memcmp(m->regs + 32, own->f, sizeof(own->f)) &&
				     m->regs[64] == own->fcsr));
}

/* Takes the interpreter's answer as the state. */
static void take(struct model *m, const struct tandem_unprivileged *own,
		 const struct rvt_tandem_data *data)
{
	memcpy(m->regs, own->x, sizeof(own->x));
	memcpy(m->regs + 32, own->f, sizeof(own->f));
	m->regs[64] = own->fcsr;
	m->dirty = true;
	if (data->store)
		write_parts(m, own->stored);
}

static void finish(struct model *m, const struct tandem_unprivileged *own,
		   const struct rvt_tandem_data *data)
{
	unsigned int i;

	if (own->f_written || own->fcsr != m->hart.csr[CSR_FCSR])
		rvt_tandem_fs_dirty(&m->hart);
	m->hart.csr[CSR_FCSR] = m->regs[64];
	m->hart.pc = own->pc;
	m->outcome->writes_len = data->store ? m->parts_len : 0;
	for (i = 0; i < m->outcome->writes_len; i++) {
		m->outcome->writes[i].addr = m->parts[i].pa;
		m->outcome->writes[i].len = m->parts[i].len;
	}
}

/* Executes the instruction in both sources, and compares their answers. */
static void execute_twice(struct model *m, uint32_t insn, const struct rvt_tandem_data *data)
{
	struct tandem_unprivileged own = {
		.xlen = m->params.xlen, .flen = m->params.flen, .pc = m->hart.pc,
		.fcsr = m->hart.csr[CSR_FCSR],
	};
	uint64_t old = read_parts(m), pc;
	enum tandem_interpreted interpreted;
	enum engine engine;
	bool agreed;

	memcpy(own.x, m->regs, sizeof(own.x));
	memcpy(own.f, m->regs + 32, sizeof(own.f));
	own.loaded = old;
	interpreted = rvt_tandem_interpret(&own, insn);
	engine = run(m, insn, own.f_written, &pc);
	if (interpreted == TANDEM_DONE)
		agreed = engine == ENGINE_RETIRED && pc == own.pc && registers_agree(m, &own) &&
			writes_agree(m, data, own.stored);
	else
		agreed = engine == ENGINE_ILLEGAL;
	if (!agreed) {
		/* undo what the engine may have written */
		if (data->store)
			write_parts(m, old);
		m->outcome->writes_len = 0;
		m->correction = tandem_correction_find(rvt_tandem_expand(insn, m->params.xlen),
						       m->release);
		if (!m->correction) {
			take(m, &own, &(struct rvt_tandem_data){ 0 });
			m->outcome->flags |= RVT_TANDEM_OUT_DISPUTED;
			m->outcome->what = insn;
			return;
		}
		take(m, &own, data);
	}
	if (interpreted == TANDEM_DONE)
		finish(m, &own, data);
	else
		trap(m, CAUSE_ILLEGAL, insn);
}

/* Returns whether a store conditional must fail, as nothing is reserved there. */
static bool not_reserved(const struct model *m)
{
	return m->reserved == NOT_RESERVED ||
		(m->reserved == RESERVED &&
		 m->reservation / RESERVATION_SET != m->outcome->paddr / RESERVATION_SET);
}

/* Executes a store conditional that fails: writes no memory, and 1 into rd. */
static void fail_sc(struct model *m, const struct rvt_tandem_data *data)
{
	m->outcome->store_failed = true;
	m->hart.pc += 4;
	if (data->rd)
		x_regs(m)[data->rd] = 1;
	m->dirty = true;
}

static void execute_unprivileged(struct model *m, uint32_t insn)
{
	struct rvt_tandem_data data;

	rvt_tandem_data(insn, m->params.xlen, x_regs(m), &data);
	if (!reach_data(m, &data))
		return;
	if (data.sc && (m->sc_fails || not_reserved(m)))
		fail_sc(m, &data);
	else
		execute_twice(m, insn, &data);
	if (data.lr || data.sc) {
		m->reserved = data.lr ? RESERVED : NOT_RESERVED;
		m->reservation = m->outcome->paddr;
	}
}

static int execute_insn(struct model *m)
{
	unsigned int csr = 0;
	uint32_t insn;

	if (!fetch(m, &insn))
		return 0;
	switch (rvt_tandem_system(&m->hart, insn, x_regs(m), &csr)) {
	case TANDEM_TRAPPED:
		m->outcome->flags |= RVT_TANDEM_OUT_TRAP;
		return 0;
	case TANDEM_UNMODELLED:
		m->outcome->flags |= RVT_TANDEM_OUT_UNMODELLED;
		m->outcome->what = csr;
		return 0;
	case TANDEM_RETIRED:
		m->dirty = true;
		return 0;
	case TANDEM_NOT_SYSTEM:
		break;
	}
	if (rvt_tandem_is_fp(insn, m->params.xlen) && !(m->hart.csr[CSR_MSTATUS] & MSTATUS_FS)) {
		trap(m, CAUSE_ILLEGAL, insn);
		return 0;
	}
	execute_unprivileged(m, insn);
	return 0;
}

static int execute(void *ctx, struct rvt_tandem_outcome *outcome)
{
	struct model *m = ctx;
	int ret = 0;

	if (m->translations >= MAX_TRANSLATIONS && !restart_engine(m))
		return -ENOMEM;
	m->outcome = outcome;
	m->correction = NULL;
	if (!m->has_interrupt) {
		ret = execute_insn(m);
	} else if (rvt_tandem_interrupt_enabled(&m->hart, m->interrupt)) {
		rvt_tandem_trap(&m->hart, true, m->interrupt, 0);
		outcome->flags |= RVT_TANDEM_OUT_TRAP;
	}
	m->outcome = NULL;
	m->has_insn = m->has_interrupt = m->sc_fails = false;
	m->n_addresses = 0;
	m->bus_error = 0;
	return ret;
}

/* Finds a register of the debug address space, or NULL. */
static uint64_t *general_register(struct model *m, uint64_t address)
{
	if (address >= RVT_TANDEM_GPR && address < RVT_TANDEM_FPR)
		return &m->regs[address - RVT_TANDEM_GPR];
	if (address >= RVT_TANDEM_FPR && address < RVT_TANDEM_REGS && m->fprs_usable)
		return &m->regs[32 + address - RVT_TANDEM_FPR];
	return NULL;
}

static int read_register(struct model *m, uint64_t address, uint64_t *value)
{
	uint64_t *reg = general_register(m, address);

	if (!reg && (address >= 4096 || !rvt_tandem_csr_modelled(address)))
		return -ENOENT;
	*value = reg ? *reg : rvt_tandem_csr_get(&m->hart, address);
	return 0;
}

static int read_state(void *ctx, enum rvt_tandem_space space, uint64_t address, void *data,
		      size_t len)
{
	struct model *m = ctx;
	uint64_t value;
	int ret = 0;

	if (space == RVT_TANDEM_SPACE_MEMORY) {
		rvt_tandem_memory_read(m->hart.memory, address, data, len);
		return 0;
	}
	if (len != sizeof(value))
		return -EINVAL;
	if (space == RVT_TANDEM_SPACE_REGISTER)
		ret = read_register(m, address, &value);
	else if (space == RVT_TANDEM_SPACE_PC)
		value = m->hart.pc;
	else if (space == RVT_TANDEM_SPACE_PRIVILEGE)
		value = m->hart.privilege;
	else if (space == RVT_TANDEM_SPACE_SOFT_PENDING)
		value = m->hart.csr[CSR_MIP];
	else
		return -ENOENT;
	if (!ret)
		memcpy(data, &value, sizeof(value));
	return ret;
}

static int write_register(struct model *m, uint64_t address, uint64_t value)
{
	uint64_t *reg = general_register(m, address);

	if (reg) {
		m->dirty |= *reg != value;
		*reg = value;
		return 0;
	}
	if (address >= 4096 || !rvt_tandem_csr_modelled(address))
		return -ENOENT;
	rvt_tandem_csr_set(&m->hart, address, value);
	return 0;
}

static int write_input(struct model *m, enum rvt_tandem_space space, uint64_t address,
		       uint64_t value)
{
	switch (space) {
	case RVT_TANDEM_SPACE_REGISTER:
		return write_register(m, address, value);
	case RVT_TANDEM_SPACE_PC:
		m->hart.pc = value;
		m->reserved = RESERVED_UNKNOWN;
		return 0;
	case RVT_TANDEM_SPACE_PRIVILEGE:
		m->hart.privilege = value & 3;
		return 0;
	case RVT_TANDEM_SPACE_INSN:
		m->has_insn = true;
		m->insn = value;
		return 0;
	case RVT_TANDEM_SPACE_TRANSLATION:
		if (m->n_addresses == ADDRESSES)
			return 0;
		m->addresses[m->n_addresses].va = address;
		m->addresses[m->n_addresses++].pa = value;
		return 0;
	case RVT_TANDEM_SPACE_INTERRUPT:
		m->has_interrupt = true;
		m->interrupt = value;
		return 0;
	case RVT_TANDEM_SPACE_SC_FAILS:
		m->sc_fails = value;
		return 0;
	case RVT_TANDEM_SPACE_BUS_ERROR:
		m->bus_error = value;
		return 0;
	case RVT_TANDEM_SPACE_PENDING:
		m->hart.external = (m->hart.external & ~address) | (value & address);
		return 0;
	case RVT_TANDEM_SPACE_SOFT_PENDING:
		m->hart.csr[CSR_MIP] = value;
		return 0;
	case RVT_TANDEM_SPACE_CHOICES:
		m->hart.choices = value;
		return 0;
	default:
		return -ENOENT;
	}
}

static int write_state(void *ctx, enum rvt_tandem_space space, uint64_t address, const void *data,
		       size_t len)
{
	struct model *m = ctx;
	uint64_t value;

	if (space == RVT_TANDEM_SPACE_MEMORY)
		return rvt_tandem_memory_write(m->hart.memory, address, data, len);
	if (len != sizeof(value))
		return -EINVAL;
	memcpy(&value, data, sizeof(value));
	return write_input(m, space, address, value);
}

int tandem_unicorn_create(const struct rvt_tandem_params *params,
			  const struct rvt_tandem_verifier_ops **ops, void **ctx)
{
	static const struct rvt_tandem_verifier_ops unicorn_ops = {
		.read = read_state, .write = write_state, .execute = execute, .reset = reset,
	};
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->params = *params;
	m->hart.xlen = params->xlen;
	m->hart.memory = rvt_tandem_memory_create();
	if (!m->hart.memory || !create_engine(m)) {
		tandem_unicorn_destroy(m);
		return -ENOMEM;
	}
	reset(m);
	*ops = &unicorn_ops;
	*ctx = m;
	return 0;
}

#endif
