// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * State that is observed only where an instruction reads it (ch. 1.1): interrupt pending bits and
 * counters. Of these the least is taken from the trace: external pending bits, and counts that went
 * by, which must not go backwards.
 */
#include "model/tandem/verify.h"

#define SOFT_BITS 0x222u	/* SSIP, STIP, SEIP: software writes them, and they stay */
#define SEIP 0x200u		/* reads as software's bit or the interrupt controller's */

enum { CYCLE, TIME, INSTRET };

bool rvt_tandem_reads_csr(uint32_t insn, unsigned int *csr)
{
	unsigned int op = insn >> 12 & 3, rd = insn >> 7 & 31;

	*csr = insn >> 20;
	return (insn & 0x7f) == 0x73 && op && (rd || op != 1);
}

bool rvt_tandem_writes_csr(uint32_t insn, unsigned int *csr)
{
	unsigned int op = insn >> 12 & 3;

	*csr = insn >> 20;
	return (insn & 0x7f) == 0x73 && op && (op == 1 || insn >> 15 & 31);
}

int rvt_tandem_counter_index(unsigned int csr)
{
	switch (csr) {
	case 0xb00: case 0xc00:
		return CYCLE;
	case 0xc01:
		return TIME;
	case 0xb02: case 0xc02:
		return INSTRET;
	default:
		return -1;
	}
}

/* What the counter may be now. It wraps at 2^64; on RV32 a half of it says nothing. */
static uint64_t least(const struct rvt_tandem_verifier *v, unsigned int index)
{
	const struct rvt_tandem_counter *counter = &v->counters[index];

	return counter->value + (counter->exact ? v->retired - counter->retired : 0);
}

static bool possible(const struct rvt_tandem_verifier *v, unsigned int index, uint64_t value)
{
	const struct rvt_tandem_counter *counter = &v->counters[index];
	uint64_t went_by = value - least(v, index);

	if (!counter->known || v->shadow.params.xlen == 32)
		return true;
	if (counter->exact)
		return went_by <= v->maybe - counter->maybe;
	return (int64_t)went_by >= 0;
}

static void set_counter(struct rvt_tandem_verifier *v, unsigned int index, uint64_t value)
{
	bool any = v->options->choices & RVT_TANDEM_CHOICE_MINSTRET;

	v->counters[index] = (struct rvt_tandem_counter){
		.known = true, .exact = index == INSTRET && !any, .value = value,
		.retired = v->retired, .maybe = v->maybe,
	};
}

/* The value that the instruction read, if it is possible; else the nearest that is. */
static int read_counter(struct rvt_tandem_verifier *v, unsigned int csr, uint64_t value)
{
	int index = rvt_tandem_counter_index(csr);
	bool good = index < 0 || possible(v, index, value);

	v->result->inputs += good;
	if (!good)
		value = least(v, index);
	else if (index >= 0)
		set_counter(v, index, value);
	return rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_REGISTER, csr, value);
}

static int model_pending(struct rvt_tandem_verifier *v, uint64_t *soft)
{
	*soft = 0;
	return rvt_tandem_model_read(v, RVT_TANDEM_SPACE_SOFT_PENDING, 0, soft, sizeof(*soft));
}

/*
 * The trace says what mip is, in the bits of @visible: the external ones are inputs, and software's
 * where nobody knows yet what software wrote.
 */
static int pending_input(struct rvt_tandem_verifier *v, uint64_t mip, uint64_t visible)
{
	uint64_t soft, external, unknown = SOFT_BITS & visible & ~v->pending_known;
	int ret = model_pending(v, &soft);

	if (ret)
		return ret;
	/* SEIP that nobody knows could be either's: it is the controller's */
	unknown &= ~(uint64_t)SEIP;
	if (unknown)
		ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_SOFT_PENDING, 0,
						   (soft & ~unknown) | (mip & unknown));
	v->pending_known |= visible & SOFT_BITS;
	external = mip & visible & ~(uint64_t)SOFT_BITS;
	if (mip & visible & SEIP && !(soft & SEIP))
		external |= SEIP;
	v->result->inputs++;
	return ret ? ret : rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_PENDING, visible,
							external);
}

static bool is_mip(unsigned int csr)
{
	return csr == CSR_MIP || csr == CSR_SIP;
}

static uint64_t visible_bits(const struct rvt_tandem_verifier *v, unsigned int csr)
{
	return csr == CSR_MIP ? ~UINT64_C(0) : v->shadow.regs[CSR_MIDELEG];
}

/* The last value of @reg in the group; false: it does not name it. */
static bool tells(const struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
		  unsigned int reg, uint64_t *value)
{
	size_t i;

	for (i = 0; i < group->updates_len; i++)
		if (group->updates[i].reg == reg && v->shadow.known[reg]) {
			*value = v->shadow.regs[reg];
			return true;
		}
	return false;
}

static int told_pending(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	uint64_t value;
	int ret = 0;

	if (tells(v, group, CSR_MIP, &value)) {
		ret = pending_input(v, value, ~UINT64_C(0));
		v->pending_told = true;
	} else if (tells(v, group, CSR_SIP, &value)) {
		ret = pending_input(v, value, visible_bits(v, CSR_SIP));
	}
	return ret;
}

int rvt_tandem_observed_inputs(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	unsigned int csr, rd = group->insn >> 7 & 31;
	uint64_t value, visible;
	int ret = told_pending(v, group);

	if (ret || !group->has_insn || !rvt_tandem_reads_csr(group->insn, &csr) || !rd ||
	    !rvt_tandem_reg_unobserved(csr))
		return ret;
	value = v->shadow.regs[RVT_TANDEM_GPR + rd];
	if (!is_mip(csr))
		return read_counter(v, csr, value);
	visible = visible_bits(v, csr);
	/* what the trace has told is how it is */
	if (v->pending_told)
		value = (value & SOFT_BITS) | (v->shadow.regs[CSR_MIP] & ~(uint64_t)SOFT_BITS);
	return pending_input(v, value, visible);
}

/* Software's bits that the trace tells are those that software wrote. */
static int compare_pending(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	uint64_t value, soft, wrong;
	int ret = model_pending(v, &soft);

	if (ret || !tells(v, group, CSR_MIP, &value))
		return ret;
	wrong = (value ^ soft) & SOFT_BITS & v->pending_known;
	/* SEIP may be the controller's */
	if (!(soft & SEIP))
		wrong &= ~(uint64_t)SEIP;
	if (!wrong)
		return 0;
	rvt_tandem_mismatch_value(v, "mip", value ^ wrong, value);
	return rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_SOFT_PENDING, 0, soft ^ wrong);
}

static void compare_counter(struct rvt_tandem_verifier *v, unsigned int csr, uint64_t value)
{
	int index = rvt_tandem_counter_index(csr);
	uint64_t written;
	char buf[16];

	if (index < 0)
		return;
	if (v->csr_written == csr &&
	    !rvt_tandem_model_read(v, RVT_TANDEM_SPACE_REGISTER, csr, &written, sizeof(written))) {
		if (written != value)
			rvt_tandem_mismatch_value(v, rvt_tandem_reg_name(csr, buf), written,
						  value);
	} else if (v->shadow.params.xlen == 64 && v->counters[index].known &&
		   (int64_t)(value - v->counters[index].value) < 0) {
		rvt_tandem_mismatch(v, "  %s: went back from 0x%jx to 0x%jx\n",
				    rvt_tandem_reg_name(csr, buf),
				    (uintmax_t)v->counters[index].value, (uintmax_t)value);
	}
	set_counter(v, index, value);
	/* when it was sampled is not known */
	v->counters[index].exact = false;
}

/* The bits of mip that the group's instruction made what software wants. */
static uint64_t pending_written(const struct rvt_tandem_verifier *v, uint32_t insn)
{
	unsigned int rs1 = insn >> 15 & 31;

	if (!is_mip(v->csr_written))
		return 0;
	/* csrrs and csrrc: those of the mask; rs1 is as it was unless rd is read, too */
	if ((insn >> 12 & 3) == 1 || insn >> 7 & 31)
		return SOFT_BITS & visible_bits(v, v->csr_written);
	return SOFT_BITS & visible_bits(v, v->csr_written) &
		(insn >> 14 & 1 ? rs1 : v->shadow.regs[RVT_TANDEM_GPR + rs1]);
}

/* A write counts from when its instruction has completed; QEMU counts that instruction, too. */
static void written_counter(struct rvt_tandem_verifier *v)
{
	int index = rvt_tandem_counter_index(v->csr_written);
	uint64_t value;

	/* mcountinhibit, mcyclecfg, minstretcfg: counters may stop */
	if (v->csr_written >= 0x320 && v->csr_written <= 0x322)
		v->counters[INSTRET].exact = false;
	if (index < 0 || rvt_tandem_model_read(v, RVT_TANDEM_SPACE_REGISTER, v->csr_written, &value,
					       sizeof(value)))
		return;
	set_counter(v, index, value);
	v->maybe++;
}

int rvt_tandem_observed_compare(struct rvt_tandem_verifier *v,
				const struct rvt_tandem_group *group,
				const struct rvt_tandem_outcome *outcome)
{
	unsigned int csr;
	size_t i;

	if (!group->has_insn || outcome->flags & RVT_TANDEM_OUT_TRAP ||
	    !rvt_tandem_writes_csr(group->insn, &v->csr_written))
		v->csr_written = 4096;
	if (group->has_insn && outcome->flags & (RVT_TANDEM_OUT_TRAP | RVT_TANDEM_OUT_INCOMPARABLE))
		v->maybe++;
	else if (group->has_insn)
		v->retired++;
	v->pending_known |= pending_written(v, group->insn);
	written_counter(v);
	for (i = 0; i < group->updates_len; i++) {
		csr = group->updates[i].reg;
		if (csr < RVT_TANDEM_GPR && v->shadow.known[csr])
			compare_counter(v, csr, v->shadow.regs[csr]);
	}
	if (HAS(group, RVT_TANDEM_MTIME))
		compare_counter(v, 0xc01, group->state[RVT_TANDEM_MTIME]);
	return compare_pending(v, group);
}

void rvt_tandem_observed_forget(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	unsigned int csr;
	int index;

	if (!group->has_insn || !rvt_tandem_reads_csr(group->insn, &csr))
		return;
	index = rvt_tandem_counter_index(csr);
	if (index >= 0)
		v->counters[index].known = false;
	if (is_mip(csr))
		v->pending_known = 0;
}

bool rvt_tandem_may_be_pending(struct rvt_tandem_verifier *v, uint64_t cause)
{
	uint64_t bit = cause < 64 ? UINT64_C(1) << cause : 0, soft;

	if (bit & SOFT_BITS & v->pending_known && !model_pending(v, &soft) && !(soft & bit) &&
	    bit != SEIP)
		return false;
	return !v->pending_told || v->shadow.regs[CSR_MIP] & bit;
}

int rvt_tandem_observed_follow(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	uint64_t value;
	int i, ret;

	v->maybe += group->has_insn;
	/* memory alone changes nothing of this */
	if (!group->updates_len && !group->reset && !HAS(group, RVT_TANDEM_PC))
		return 0;
	for (i = 0; i < 3; i++)
		v->counters[i].known = false;
	v->pending_known = 0;
	ret = tells(v, group, CSR_MIP, &value) ? pending_input(v, value, ~UINT64_C(0)) : 0;
	/* at reset, no interrupt is pending by software */
	if (!ret && group->reset) {
		v->pending_known = SOFT_BITS;
		ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_SOFT_PENDING, 0, 0);
	}
	return ret;
}
