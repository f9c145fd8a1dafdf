/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Control Transfer Records by draft 0.1.4. Chapters are those of the draft. */
#include <string.h>
#include "ctr.h"

/* Chapter 2. */
enum {
	CTL_S = 1, CTL_U = 2, CTL_CLR = 7, CTL_STE = 9, CTL_RASEMU = 10, CTL_BPFRZ = 11,
	CTL_LCOFIFRZ = 12, CTL_DEPTH = 16, CTL_EXCINH = 33, CTL_INTRINH = 34, CTL_TRETINH = 35,
	CTL_NTBREN = 36, CTL_TKBRINH = 37, CTL_ETEN = 38, CTL_JUMPS = 40,
};
#define STATUS_WRAP (1u << 14)
#define STATUS_FROZEN (1u << 15)
#define ENTRY_SELECT 0x200
#define DATA_CYCLES 0xffff8000ull
#define DATA_TYPE 0xfull
#define MISP 1u
#define CCV (1u << 15)
#define CAUSE_BREAKPOINT 3
#define CAUSE_OVERFLOW 13

static bool control_bit(const struct draft *d, unsigned int bit)
{
	return d->control >> bit & 1;
}

static unsigned int depth_of(const struct draft *d)
{
	return 16 * ((unsigned int)(d->control >> CTL_DEPTH & 15) + 1);
}

static bool is_enabled(const struct draft *d, uint8_t prv)
{
	return (prv == 0 && control_bit(d, CTL_U)) || (prv == 1 && control_bit(d, CTL_S));
}

/* ---- recording: chapter 5 ---- */

/* Encodes a count (5.3): an exponent of 4 bits, a mantissa of 12. */
static uint64_t count(uint64_t cycles)
{
	unsigned int exponent = 0;

	while (cycles >= (exponent ? 8192u : 4096u)) {
		if (exponent)
			cycles >>= 1;
		exponent++;
		if (exponent == 15 && cycles >= 8192)
			return 0xffff0000u;
	}
	return cycles % 4096 << 16 | (uint64_t)exponent << 28;
}

/* Adds a record. @target may have MISP. */
static void record(struct hart *h, unsigned int type, uint64_t source, uint64_t target)
{
	struct draft *d = &h->draft;
	struct draft_entry *entry = &d->entries[d->write_index];

	entry->source = source | 1;
	entry->target = target;
	entry->data = args.types ? type : 0;
	if (d->count_valid)
		entry->data |= CCV | count(h->insns - d->last_insns);
	d->last_insns = h->insns;
	d->count_valid = true;
	if (d->write_index + 1u >= depth_of(d)) {
		d->write_index = 0;
		d->wrap = true;
	} else {
		d->write_index++;
	}
}

/* Takes the youngest record back (5.4). */
static void unrecord(struct draft *d)
{
	if (!d->write_index)
		d->wrap = false;
	d->write_index = (uint8_t)((d->write_index ? d->write_index : depth_of(d)) - 1);
	d->entries[d->write_index].source &= ~1ull;
}

static void emulate_ras(struct hart *h, enum rvt_itype type, uint64_t pc, uint64_t next)
{
	switch (type) {
	case RVT_ITYPE_COROUTINE:
		unrecord(&h->draft);
		record(h, type, pc, next);
		break;
	case RVT_ITYPE_CALL: case RVT_ITYPE_IND_CALL:
		record(h, type, pc, next);
		break;
	case RVT_ITYPE_RETURN:
		unrecord(&h->draft);
		break;
	default:
		break;
	}
}

static bool is_inhibited(const struct draft *d, unsigned int type)
{
	switch (type) {
	case RVT_ITYPE_EXCEPTION: return control_bit(d, CTL_EXCINH);
	case RVT_ITYPE_INTERRUPT: return control_bit(d, CTL_INTRINH);
	case RVT_ITYPE_TRAP_RETURN: return control_bit(d, CTL_TRETINH);
	case RVT_ITYPE_BRANCH_NOT_TAKEN: return !control_bit(d, CTL_NTBREN);
	case RVT_ITYPE_BRANCH_TAKEN: return control_bit(d, CTL_TKBRINH);
	default: return control_bit(d, CTL_JUMPS + type - RVT_ITYPE_IND_CALL);
	}
}

/*
 * Returns whether the hart's predictor is wrong: it predicts branches back as taken, branches ahead
 * as not taken, and jumps correctly.
 */
static bool is_mispredicted(const struct insn_class *c, enum rvt_itype type)
{
	return (type == RVT_ITYPE_BRANCH_TAKEN && c->offset > 0) ||
		(type == RVT_ITYPE_BRANCH_NOT_TAKEN && c->offset < 0);
}

void draft_transfer(struct hart *h, const struct insn_class *c, uint64_t pc, uint64_t next,
		    uint8_t prv, uint8_t to_prv)
{
	struct draft *d = &h->draft;
	enum rvt_itype type = c->itype;

	if (d->frozen || !is_enabled(d, prv))
		return;
	if (type == RVT_ITYPE_BRANCH_TAKEN && next == pc + 2 * c->halfwords &&
	    c->offset != 2 * c->halfwords)
		type = RVT_ITYPE_BRANCH_NOT_TAKEN;
	if (control_bit(d, CTL_RASEMU))
		emulate_ras(h, type, pc, next);
	else if (!is_inhibited(d, type))
		record(h, type, pc, (is_enabled(d, to_prv) ? next : 0) |
		       (is_mispredicted(c, type) ? MISP : 0));
}

void draft_trap(struct hart *h, uint64_t epc, uint64_t handler, uint64_t cause, bool interrupt,
		uint8_t prv, uint8_t to_prv)
{
	struct draft *d = &h->draft;
	unsigned int type = interrupt ? RVT_ITYPE_INTERRUPT : RVT_ITYPE_EXCEPTION;

	if ((interrupt && cause == CAUSE_OVERFLOW && control_bit(d, CTL_LCOFIFRZ)) ||
	    (!interrupt && cause == CAUSE_BREAKPOINT && control_bit(d, CTL_BPFRZ))) {
		d->frozen = true;	/* 5.5: not recorded itself */
		return;
	}
	if (d->frozen || control_bit(d, CTL_RASEMU))
		return;
	/* table in 5.2.1 */
	if (is_enabled(d, to_prv)) {
		if (!is_inhibited(d, type))
			record(h, type, is_enabled(d, prv) ? epc : 0, handler);
	} else if (is_enabled(d, prv) && to_prv == 1 && control_bit(d, CTL_ETEN) &&
		   control_bit(d, CTL_STE)) {
		record(h, type, epc, 0);
	}
}

/* ---- registers: chapters 2 and 3 ---- */

bool draft_has_csr(int csr)
{
	return csr == CSR_DRAFT_CONTROL || csr == CSR_DRAFT_STATUS ||
		(csr >= CSR_SISELECT && csr <= CSR_SIREG3);
}

/* Returns the entry that siselect names; NULL: none, or beyond the depth. */
static struct draft_entry *selected(struct draft *d)
{
	unsigned int depth = depth_of(d);
	uint64_t n = d->select - ENTRY_SELECT;

	if (n >= depth)
		return NULL;
	return &d->entries[(d->write_index + 2 * depth - 1 - n) % depth];
}

static uint64_t read_csr(struct draft *d, int csr)
{
	const struct draft_entry *entry = selected(d);

	switch (csr) {
	case CSR_DRAFT_CONTROL:
		return d->control;
	case CSR_DRAFT_STATUS:
		return d->write_index | (d->wrap ? STATUS_WRAP : 0) |
		       (d->frozen ? STATUS_FROZEN : 0);
	case CSR_SISELECT:
		return d->select;
	case CSR_SIREG:
		return entry ? entry->source : 0;
	case CSR_SIREG2:
		return entry ? entry->target : 0;
	default:
		return entry ? entry->data : 0;
	}
}

static void write_control(unsigned int vcpu, uint64_t value)
{
	struct draft *d = &harts[vcpu].draft;
	uint64_t depth = value >> CTL_DEPTH & 15, most = args.max_depth / 16 - 1;

	/*
	 * codes are 0, 1, 3, 7 and 15; others, and those out of range, become the largest one below
	 */
	while (depth & (depth + 1))
		depth--;
	if (depth > most)
		depth = most;
	d->control = (value & args.options) | depth << CTL_DEPTH;
	d->count_valid = false;
	if (value >> CTL_CLR & 1) {
		memset(d->entries, 0, sizeof(d->entries));
		d->write_index = 0;
		d->wrap = d->frozen = false;
	}
	d->write_index %= depth_of(d);
	control_written(vcpu, d->control, 1u << CTL_S | 1u << CTL_U);
}

static void write_csr(unsigned int vcpu, int csr, uint64_t value)
{
	struct draft *d = &harts[vcpu].draft;
	struct draft_entry *entry = selected(d);

	switch (csr) {
	case CSR_DRAFT_CONTROL:
		write_control(vcpu, value);
		break;
	case CSR_DRAFT_STATUS:
		d->write_index = (uint8_t)(value % depth_of(d));
		d->wrap = value & STATUS_WRAP;
		d->frozen = value & STATUS_FROZEN;
		break;
	case CSR_SISELECT:
		d->select = value;
		break;
	case CSR_SIREG:
		if (entry)
			entry->source = value;
		break;
	case CSR_SIREG2:
		if (entry)
			entry->target = value;
		break;
	default:
		if (entry)
			entry->data = value & (DATA_CYCLES | (args.types ? DATA_TYPE : 0));
	}
}

void draft_csr(unsigned int vcpu, const struct watched *w)
{
	struct hart *h = &harts[vcpu];
	uint64_t old = read_csr(&h->draft, w->c.csr);
	uint64_t operand = w->c.funct3 & 4 ? w->c.rs1 : reg_get(w->c.rs1);

	log_put(h, &(struct ctr_log){ .kind = CTR_LOG_CSR, .next = operand, .insn = w->word });
	if ((w->c.funct3 & 3) == 1)
		write_csr(vcpu, w->c.csr, operand);
	else if (w->c.rs1)
		write_csr(vcpu, w->c.csr, (w->c.funct3 & 3) == 2 ? old | operand : old & ~operand);
	reg_set(w->c.rd, old);
}
