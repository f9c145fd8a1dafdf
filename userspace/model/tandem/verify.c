// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Tandem verification, ch. 3.1 and 3.2: step the shadow state and a golden model together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/tandem/verify.h"

#define PROGRESS_GROUPS 16384

/* What the trace newly knows is compared from now on; aliases of CSRs may have become known too. */
static void list_known(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	static const uint16_t views[] = { CSR_FFLAGS, CSR_FRM, CSR_SSTATUS, CSR_SIE };
	size_t i;

	for (i = 0; i < group->updates_len; i++)
		rvt_tandem_list_register(v, group->updates[i].reg);
	for (i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		rvt_tandem_list_register(v, views[i]);
}

static int copy_bytes(struct rvt_tandem_verifier *v, uint64_t addr, size_t len)
{
	uint8_t bytes[64];

	if (len > sizeof(bytes))
		return 0;
	rvt_tandem_memory_read(v->shadow.memory, addr, bytes, len);
	return rvt_tandem_model_write(v, RVT_TANDEM_SPACE_MEMORY, addr, bytes, len);
}

/* Step 5: the golden model becomes what the trace says; absent parts stay. */
static int copy_registers(struct rvt_tandem_verifier *v)
{
	const struct rvt_tandem_shadow *shadow = &v->shadow;
	unsigned int reg;
	int ret = 0;

	for (reg = 0; reg < RVT_TANDEM_REGS && !ret; reg++)
		if (shadow->known[reg] && !v->options->absent_regs[reg] &&
		    !rvt_tandem_reg_unobserved(reg))
			ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_REGISTER, reg,
						shadow->regs[reg]);
	if (!ret && shadow->pc_known && !v->options->absent_pc)
		ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_PC, 0, shadow->pc);
	if (!ret && shadow->privilege_known && !v->options->absent_privilege)
		ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_PRIVILEGE, 0,
						   shadow->privilege);
	return ret;
}

static int copy_memory(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
		       const struct rvt_tandem_outcome *outcome)
{
	const struct rvt_tandem_access *access;
	uint64_t bytes;
	size_t i, n;
	int ret = 0;

	for (i = 0; i < outcome->writes_len && !ret; i++)
		ret = copy_bytes(v, outcome->writes[i].addr, outcome->writes[i].len);
	for (i = 0; i < group->accesses_len && !ret; i++) {
		access = &group->accesses[i];
		n = rvt_tandem_access_stored(access, &bytes);
		/* what was loaded is what memory holds, whoever wrote it */
		if (!n && access->has_response && !access->result &&
		    access->mem_op != RVT_TANDEM_STORE) {
			n = 1u << access->mem_size;
			ret = rvt_tandem_memory_write(v->shadow.memory, access->addr,
						      &access->load_data, n);
		}
		if (n && !ret)
			ret = copy_bytes(v, access->addr, n);
	}
	if (!ret && !group->accesses_len && HAS(group, RVT_TANDEM_PADDR))
		ret = copy_bytes(v, group->state[RVT_TANDEM_PADDR], 8);
	return ret;
}

static int resynchronise(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			 const struct rvt_tandem_outcome *outcome)
{
	int ret = copy_registers(v);

	rvt_tandem_observed_forget(v, group);
	if (!ret && !v->options->absent_memory)
		ret = copy_memory(v, group, outcome);
	return ret;
}

/* With memory absent from the trace, the golden model's memory is the only one. */
static int adopt_memory(struct rvt_tandem_verifier *v, const struct rvt_tandem_outcome *outcome)
{
	uint64_t bytes;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < outcome->writes_len && !ret; i++) {
		if (outcome->writes[i].len > 8)
			continue;
		ret = rvt_tandem_model_read(v, RVT_TANDEM_SPACE_MEMORY, outcome->writes[i].addr,
					    &bytes, outcome->writes[i].len);
		if (!ret)
			ret = rvt_tandem_memory_write(v->shadow.memory, outcome->writes[i].addr,
						      &bytes, outcome->writes[i].len);
	}
	return ret;
}

static void count_incomparable(struct rvt_tandem_verifier *v,
			       const struct rvt_tandem_outcome *outcome)
{
	v->result->unknown_code += !!(outcome->flags & RVT_TANDEM_OUT_UNKNOWN_CODE);
	v->result->unknown_memory += !!(outcome->flags & RVT_TANDEM_OUT_UNKNOWN_MEMORY);
	if (outcome->flags & RVT_TANDEM_OUT_UNMODELLED) {
		v->result->unmodelled++;
		v->result->unmodelled_csr[outcome->what & 0xfff]++;
	}
	if (outcome->flags & RVT_TANDEM_OUT_DISPUTED) {
		v->result->disputed++;
		v->result->disputed_insn = outcome->what;
	}
}

/* CSRs of which an implementation chooses what of a written value it takes. */
static bool is_warl(unsigned int csr)
{
	switch (csr) {
	case CSR_STVEC: case CSR_SCOUNTEREN: case CSR_SEPC: case CSR_SCAUSE: case CSR_STVAL:
	case CSR_SATP: case CSR_SIE: case CSR_SSTATUS: case CSR_MSTATUS: case CSR_MISA:
	case CSR_MEDELEG: case CSR_MIDELEG: case CSR_MIE: case CSR_MTVEC: case CSR_MCOUNTEREN:
	case CSR_MEPC: case CSR_MCAUSE: case CSR_MTVAL:
		return true;
	default:
		return false;
	}
}

static int accept_warl(struct rvt_tandem_verifier *v)
{
	unsigned int csr = v->csr_written;

	if (!(v->options->choices & RVT_TANDEM_CHOICE_WARL) || csr >= RVT_TANDEM_GPR ||
	    !is_warl(csr) || !v->shadow.known[csr])
		return 0;
	return rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_REGISTER, csr,
					    v->shadow.regs[csr]);
}

/*
 * Store data without requests has one address: what crosses a page goes where the golden model
 * says.
 */
static int adopt_second_part(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			     const struct rvt_tandem_outcome *outcome)
{
	uint64_t bytes;
	int ret;

	if (group->accesses_len || outcome->writes_len != 2 || outcome->writes[1].len > 8)
		return 0;
	ret = rvt_tandem_model_read(v, RVT_TANDEM_SPACE_MEMORY, outcome->writes[1].addr, &bytes,
				    outcome->writes[1].len);
	return ret ? ret : rvt_tandem_memory_write(v->shadow.memory, outcome->writes[1].addr,
						   &bytes, outcome->writes[1].len);
}

/* Steps 4 and 5. @pc: before the group. */
static int compare(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
		   const struct rvt_tandem_outcome *outcome, uint64_t pc, bool executed)
{
	const struct rvt_tandem_verify_options *options = v->options;
	int ret = rvt_tandem_observed_compare(v, group, outcome);

	if (!ret)
		ret = accept_warl(v);
	if (!ret)
		ret = rvt_tandem_accept_load(v, group, outcome);
	if (!ret)
		ret = adopt_second_part(v, group, outcome);
	if (ret)
		return ret;
	rvt_tandem_compare_state(v, group, outcome);
	if (v->hidden && v->mismatches) {
		v->result->doubtful++;
		rvt_tandem_damage_learn(v, group);
		return resynchronise(v, group, outcome);
	}
	if (v->hidden)
		rvt_tandem_damage_confirm(v, group);
	v->result->compared += executed;
	if (!v->mismatches)
		return options->absent_memory ? adopt_memory(v, outcome) : 0;
	v->result->mismatched++;
	if (options->report && (!options->max_reports ||
				v->result->mismatched <= options->max_reports))
		options->report(options->report_ctx, &v->shadow, v->result->groups, pc, group,
				v->text);
	return resynchronise(v, group, outcome);
}

/* State that comes from outside, or cannot be checked: the golden model just follows. */
static int follow(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	int ret = copy_registers(v);
	size_t i, n;
	uint64_t bytes;

	for (i = 0; i < group->accesses_len && !ret; i++) {
		n = rvt_tandem_access_stored(&group->accesses[i], &bytes);
		ret = n ? copy_bytes(v, group->accesses[i].addr, n) : 0;
	}
	if (!ret && !group->accesses_len && HAS(group, RVT_TANDEM_PADDR))
		ret = copy_bytes(v, group->state[RVT_TANDEM_PADDR], 8);
	return ret ? ret : rvt_tandem_observed_follow(v, group);
}

/* Steps 2 and 3; again, once, when the trace shows what was missing. */
static int attempt(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group, uint64_t pc,
		   struct rvt_tandem_outcome *outcome)
{
	bool learned = true;
	unsigned int tries;
	int ret = 0;

	for (tries = 0; tries < 2 && learned && !ret; tries++) {
		v->text_len = v->mismatches = 0;
		v->text[0] = 0;
		memset(outcome, 0, sizeof(*outcome));
		ret = rvt_tandem_copy_inputs(v, group, pc);
		if (!ret)
			ret = v->options->ops->execute(v->options->ctx, outcome);
		learned = false;
		if (!ret && outcome->flags & RVT_TANDEM_OUT_UNKNOWN_MEMORY && !v->hidden)
			ret = rvt_tandem_learn_load(v, group, outcome, &learned);
	}
	return ret;
}

static int execute(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group, uint64_t pc)
{
	struct rvt_tandem_outcome outcome;
	int ret = attempt(v, group, pc, &outcome);

	if (ret)
		return ret;
	v->result->executed++;
	v->result->traps += !!(outcome.flags & RVT_TANDEM_OUT_TRAP);
	if (!(outcome.flags & RVT_TANDEM_OUT_INCOMPARABLE))
		return compare(v, group, &outcome, pc, true);
	count_incomparable(v, &outcome);
	ret = rvt_tandem_observed_compare(v, group, &outcome);
	return ret ? ret : resynchronise(v, group, &outcome);
}

/* A change without an instruction: right only for what is not observed. */
static int compare_only(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			uint64_t pc)
{
	static const struct rvt_tandem_outcome none;
	int ret = rvt_tandem_observed_inputs(v, group);

	v->text_len = v->mismatches = 0;
	v->text[0] = 0;
	return ret ? ret : compare(v, group, &none, pc, false);
}

static int step(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	bool pc_was_known, outside = group->init || group->reset;
	unsigned int csr;
	uint64_t pc;
	int ret = 0;

	v->result->groups++;
	v->wrong_load.len = 0;
	if (group->after_gap)
		ret = rvt_tandem_damage_begin(v);
	pc_was_known = v->shadow.pc_known || v->options->absent_pc;
	pc = v->shadow.pc;
	v->hidden = rvt_tandem_damage_hides(v, group);
	v->csr_known = !group->has_insn || !rvt_tandem_reads_csr(group->insn, &csr) ||
		v->shadow.known[csr];
	if (!ret && group->reset)
		ret = v->options->ops->reset(v->options->ctx);
	if (!ret && !outside && pc_was_known)
		ret = rvt_tandem_access_inputs(v, group);
	if (!ret)
		ret = rvt_tandem_shadow_apply(&v->shadow, group);
	if (ret)
		return ret;
	rvt_tandem_damage_clear(v, group);
	list_known(v, group);
	if (outside)
		return follow(v, group);
	if (!pc_was_known) {
		v->result->no_pc++;
		return follow(v, group);
	}
	if (group->has_insn || HAS(group, RVT_TANDEM_PC))
		return execute(v, group, pc);
	return compare_only(v, group, pc);
}

int rvt_tandem_verify(struct rvt_tandem_reader *reader, const struct rvt_tandem_params *params,
		      const struct rvt_tandem_verify_options *options,
		      struct rvt_tandem_verify_result *result)
{
	struct rvt_tandem_group group;
	struct rvt_tandem_verifier *v;
	int ret;

	memset(result, 0, sizeof(*result));
	if (!options->ops || options->ram_len > RVT_TANDEM_MAX_RANGES)
		return -EINVAL;
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->options = options;
	v->result = result;
	ret = rvt_tandem_shadow_init(&v->shadow, params);
	if (!ret)
		ret = rvt_tandem_model_write_value(v, RVT_TANDEM_SPACE_CHOICES, 0,
						   options->choices);
	while (!ret && !(options->stop && *options->stop) &&
	       !(options->max_insns && result->executed >= options->max_insns)) {
		ret = rvt_tandem_next_group(reader, &group);
		if (ret <= 0)
			break;
		ret = step(v, &group);
		if (options->progress && result->groups % PROGRESS_GROUPS == 0)
			options->progress(options->report_ctx, group.end);
	}
	rvt_tandem_memory_destroy(v->confirmed);
	rvt_tandem_shadow_fini(&v->shadow);
	free(v);
	return ret;
}
