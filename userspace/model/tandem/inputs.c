// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Step 2 of ch. 3.1: what the hart could not decide by itself is copied from the trace. */
#include "model/tandem/verify.h"

/*
 * After damage, memory may be what a group that is lost stored; it is known again when the trace
 * has shown it once.
 */
static bool confirmed(struct rvt_tandem_verifier *v, uint64_t addr)
{
	uint8_t byte;

	if (!v->confirmed || rvt_tandem_memory_read(v->confirmed, addr, &byte, 1))
		return true;
	rvt_tandem_memory_write(v->confirmed, addr, &byte, 1);
	return false;
}

/* The trace knows what memory held: an input where others write, or where it was not known yet. */
static int memory_input(struct rvt_tandem_verifier *v, uint64_t addr, uint64_t value,
			unsigned int bytes)
{
	bool always = rvt_tandem_is_input(v, addr);
	uint8_t byte, old;
	int ret = 0;

	for (; bytes && !ret; bytes--, addr++, value >>= 8) {
		byte = value;
		if (rvt_tandem_memory_read(v->shadow.memory, addr, &old, 1) &&
		    (old == byte || (!always && confirmed(v, addr))))
			continue;
		v->result->inputs++;
		ret = rvt_tandem_memory_write(v->shadow.memory, addr, &byte, 1);
		if (!ret)
			ret = rvt_tandem_model_write(v, RVT_TANDEM_SPACE_MEMORY, addr, &byte, 1);
	}
	return ret;
}

/* Where nobody else writes, a response has what the golden model's memory holds. */
static int compare_response(struct rvt_tandem_verifier *v, const struct rvt_tandem_access *access)
{
	unsigned int len = 1u << access->mem_size;
	uint64_t expected = 0;
	int ret;

	if (rvt_tandem_is_input(v, access->addr) || v->wrong_load.len || access->result ||
	    v->options->absent_memory)
		return 0;
	ret = rvt_tandem_model_read(v, RVT_TANDEM_SPACE_MEMORY, access->addr, &expected, len);
	if (ret || expected == access->load_data)
		return ret;
	v->wrong_load.addr = access->addr;
	v->wrong_load.expected = expected;
	v->wrong_load.seen = access->load_data;
	v->wrong_load.len = len;
	return 0;
}

int rvt_tandem_access_inputs(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	const struct rvt_tandem_access *access;
	size_t i;
	int ret = 0;

	for (i = 0; i < group->accesses_len && !ret; i++) {
		access = &group->accesses[i];
		if (!access->has_response || access->mem_op == RVT_TANDEM_STORE ||
		    access->mem_op == RVT_TANDEM_SC)
			continue;
		ret = memory_input(v, access->addr, access->load_data, 1u << access->mem_size);
		if (!ret)
			ret = compare_response(v, access);
	}
	return ret;
}

/* What a load of this group left in its register, or false: nothing of memory can be seen there. */
static bool loaded_value(const struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			 const struct rvt_tandem_data *data, uint64_t *value)
{
	unsigned int reg = (data->fp ? RVT_TANDEM_FPR : RVT_TANDEM_GPR) + data->rd;

	if (group->accesses_len || !data->bytes || data->sc || (data->store && !data->amo) ||
	    reg == RVT_TANDEM_GPR || !v->shadow.known[reg] || v->doubtful[reg] ||
	    v->options->absent_regs[reg])
		return false;
	*value = v->shadow.regs[reg];
	return true;
}

/* Without memory requests, a loaded register still says what was in memory. */
static int loaded_register_input(struct rvt_tandem_verifier *v,
				 const struct rvt_tandem_group *group,
				 const struct rvt_tandem_data *data)
{
	uint64_t value;

	if (!HAS(group, RVT_TANDEM_PADDR) || !loaded_value(v, group, data, &value))
		return 0;
	return memory_input(v, group->state[RVT_TANDEM_PADDR], value, data->bytes);
}

static void decode_data(const struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			struct rvt_tandem_data *data)
{
	static const uint64_t x[32];	/* the address does not matter */

	rvt_tandem_data(group->insn, v->shadow.params.xlen, x, data);
}

int rvt_tandem_learn_load(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			  const struct rvt_tandem_outcome *outcome, bool *learned)
{
	struct rvt_tandem_data data;
	uint64_t value;

	*learned = false;
	if (!group->has_insn || !outcome->has_paddr)
		return 0;
	decode_data(v, group, &data);
	/* where the rest of it lies is not known */
	if (outcome->paddr % 4096 + data.bytes > 4096 || !loaded_value(v, group, &data, &value))
		return 0;
	*learned = true;
	return memory_input(v, outcome->paddr, value, data.bytes);
}

int rvt_tandem_accept_load(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			   const struct rvt_tandem_outcome *outcome)
{
	struct rvt_tandem_data data;
	uint64_t value;

	if (!group->has_insn || !outcome->has_paddr || outcome->flags & RVT_TANDEM_OUT_TRAP ||
	    !rvt_tandem_is_input(v, outcome->paddr))
		return 0;
	decode_data(v, group, &data);
	if (!loaded_value(v, group, &data, &value))
		return 0;
	return rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_REGISTER,
					    (data.fp ? RVT_TANDEM_FPR : RVT_TANDEM_GPR) + data.rd,
					    value);
}

/* Whether the group has store data, the instruction's view. */
static bool stores(const struct rvt_tandem_group *group)
{
	return group->states >> RVT_TANDEM_STORE8 & 0xf;
}

/* Whether the trace says that this store conditional failed, or that it stored nothing. */
static bool sc_failed(const struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
		      const struct rvt_tandem_data *data)
{
	size_t i;

	for (i = 0; i < group->accesses_len; i++)
		if (group->accesses[i].mem_op == RVT_TANDEM_SC && group->accesses[i].result)
			return true;
	if (data->rd)
		return v->shadow.regs[RVT_TANDEM_GPR + data->rd];
	return !v->options->absent_memory && !group->accesses_len && !stores(group);
}

/* A CSR that the trace never named holds what reset, or WARL, made of it. */
static int csr_first_read(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	unsigned int csr, rd = group->insn >> 7 & 31;
	uint64_t value = v->shadow.regs[RVT_TANDEM_GPR + rd];

	if (v->csr_known || !rvt_tandem_reads_csr(group->insn, &csr) || !rd ||
	    rvt_tandem_reg_unobserved(csr) || v->doubtful[RVT_TANDEM_GPR + rd])
		return 0;
	v->result->inputs++;
	if (!v->shadow.known[csr]) {
		v->shadow.known[csr] = true;
		v->shadow.regs[csr] = value;
		rvt_tandem_list_register(v, csr);
	}
	return rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_REGISTER, csr, value);
}

/* A group without an instruction that moves the pc is an interrupt, or a trap of a fetch. */
static int interrupt_input(struct rvt_tandem_verifier *v)
{
	unsigned int reg = v->shadow.privilege == PRIV_M ? CSR_MCAUSE : CSR_SCAUSE;
	uint64_t cause = v->shadow.regs[reg], top = UINT64_C(1) << (v->shadow.params.xlen - 1);

	if (!v->shadow.known[reg] || !(cause & top))
		return 0;
	v->result->inputs++;
	v->result->interrupts++;
	cause &= ~top;
	if (!rvt_tandem_may_be_pending(v, cause))
		rvt_tandem_mismatch(v, "  interrupt %ju was taken, but is not pending\n",
				    (uintmax_t)cause);
	return rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_INTERRUPT, 0, cause);
}

/*
 * That nothing answers at an address is a property of the machine around the hart; that a
 * misaligned access traps may be one of the implementation.
 */
static int fault_input(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	bool may_misalign = v->options->choices & RVT_TANDEM_CHOICE_MISALIGNED;
	uint64_t cause;
	size_t i;

	for (i = 0; i < group->updates_len; i++) {
		cause = group->updates[i].value;
		if (group->updates[i].reg != CSR_MCAUSE && group->updates[i].reg != CSR_SCAUSE)
			continue;
		if (cause == CAUSE_FETCH_ACCESS || cause == CAUSE_LOAD_ACCESS ||
		    cause == CAUSE_STORE_ACCESS ||
		    (may_misalign && (cause == CAUSE_LOAD_MISALIGNED ||
				      cause == CAUSE_STORE_MISALIGNED))) {
			v->result->inputs++;
			return rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_BUS_ERROR, 0,
							    cause);
		}
	}
	return 0;
}

static int insn_inputs(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	struct rvt_tandem_data data;
	int ret;

	decode_data(v, group, &data);
	ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_INSN, 0, group->insn);
	if (!ret)
		ret = csr_first_read(v, group);
	if (!ret)
		ret = loaded_register_input(v, group, &data);
	if (!ret && data.sc && sc_failed(v, group, &data)) {
		v->result->inputs++;
		ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_SC_FAILS, 0, 1);
	}
	return ret;
}

int rvt_tandem_copy_inputs(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			   uint64_t pc)
{
	int ret = rvt_tandem_observed_inputs(v, group);

	if (!ret && HAS(group, RVT_TANDEM_PC_PADDR))
		ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_TRANSLATION, pc,
						   group->state[RVT_TANDEM_PC_PADDR]);
	if (!ret && HAS(group, RVT_TANDEM_PADDR) && HAS(group, RVT_TANDEM_EADDR))
		ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_TRANSLATION,
						   group->state[RVT_TANDEM_EADDR],
						   group->state[RVT_TANDEM_PADDR]);
	if (!ret && HAS(group, RVT_TANDEM_PC))
		ret = fault_input(v, group);
	if (ret)
		return ret;
	return group->has_insn ? insn_inputs(v, group) : interrupt_input(v);
}
