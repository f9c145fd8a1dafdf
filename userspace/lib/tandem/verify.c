// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Tandem verification, ch. 3.1 and 3.2: step the shadow state and a golden model together. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "tandem/privileged.h"

#define PROGRESS_GROUPS 16384
#define HAS(group, id) ((group)->states >> (id) & 1)

struct verifier {
	const struct rvt_tandem_verify_options *options;
	struct rvt_tandem_verify_result *result;
	struct rvt_tandem_shadow shadow;
	bool unmodelled[RVT_TANDEM_REGS];
	/* registers that are compared: known, observed, not absent, modelled */
	bool listed[RVT_TANDEM_REGS];
	uint16_t list[RVT_TANDEM_REGS];
	unsigned int list_len;
	/* unobserved registers that the trace changed and the golden model has not seen */
	uint16_t pending[RVT_TANDEM_REGS];
	bool is_pending[RVT_TANDEM_REGS];
	unsigned int pending_len;
	char text[2048];
	size_t text_len;
	unsigned int mismatches;
};

static int model_write(struct verifier *v, enum rvt_tandem_space space, uint64_t address,
		       const void *data, size_t len)
{
	int ret = v->options->ops->write(v->options->ctx, space, address, data, len);

	return ret == -ENOENT ? 0 : ret;
}

static int model_write_value(struct verifier *v, enum rvt_tandem_space space, uint64_t address,
			     uint64_t value)
{
	return model_write(v, space, address, &value, sizeof(value));
}

static int model_read(struct verifier *v, enum rvt_tandem_space space, uint64_t address, void *data,
		      size_t len)
{
	return v->options->ops->read(v->options->ctx, space, address, data, len);
}

__attribute__((format(printf, 2, 3)))
static void mismatch(struct verifier *v, const char *format, ...)
{
	va_list args;
	int n;

	v->mismatches++;
	va_start(args, format);
	n = vsnprintf(v->text + v->text_len, sizeof(v->text) - v->text_len, format, args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof(v->text) - v->text_len)
		v->text_len += n;
	else
		v->text[v->text_len] = 0;
}

static void mismatch_value(struct verifier *v, const char *what, uint64_t expected, uint64_t seen)
{
	mismatch(v, "  %s: expected 0x%" PRIx64 ", seen 0x%" PRIx64 "\n", what, expected, seen);
}

static bool is_ram(const struct verifier *v, uint64_t addr)
{
	const struct rvt_tandem_verify_options *o = v->options;
	unsigned int i;

	for (i = 0; i < o->ram_len; i++)
		if (addr - o->ram[i].base < o->ram[i].size)
			return true;
	return !o->ram_len;
}

/* The trace knows what memory held: an input where others write, or where it was not known yet. */
static int memory_input(struct verifier *v, uint64_t addr, uint64_t value, unsigned int bytes)
{
	bool always = v->options->shared_memory || !is_ram(v, addr);
	uint8_t byte, old;
	int ret = 0;

	for (; bytes && !ret; bytes--, addr++, value >>= 8) {
		byte = value;
		if (rvt_tandem_memory_read(v->shadow.memory, addr, &old, 1) &&
		    (!always || old == byte))
			continue;
		v->result->inputs++;
		ret = rvt_tandem_memory_write(v->shadow.memory, addr, &byte, 1);
		if (!ret)
			ret = model_write(v, RVT_TANDEM_SPACE_MEMORY, addr, &byte, 1);
	}
	return ret;
}

static int access_inputs(struct verifier *v, const struct rvt_tandem_group *group)
{
	const struct rvt_tandem_access *access;
	size_t i;
	int ret = 0;

	for (i = 0; i < group->accesses_len && !ret; i++) {
		access = &group->accesses[i];
		if (access->has_response && access->mem_op != RVT_TANDEM_STORE &&
		    access->mem_op != RVT_TANDEM_SC)
			ret = memory_input(v, access->addr, access->load_data,
					   1u << access->mem_size);
	}
	return ret;
}

/* Without memory requests, a loaded register still says what was in memory. */
static int loaded_register_input(struct verifier *v, const struct rvt_tandem_group *group,
				 const struct rvt_tandem_data *data)
{
	unsigned int reg = (data->fp ? RVT_TANDEM_FPR : RVT_TANDEM_GPR) + data->rd;

	if (group->accesses_len || !HAS(group, RVT_TANDEM_PADDR) || !data->bytes || data->sc ||
	    (data->store && !data->amo) || reg == RVT_TANDEM_GPR || !v->shadow.known[reg])
		return 0;
	return memory_input(v, group->state[RVT_TANDEM_PADDR], v->shadow.regs[reg], data->bytes);
}

/* Whether the group has store data, the instruction's view. */
static bool stores(const struct rvt_tandem_group *group)
{
	return group->states >> RVT_TANDEM_STORE8 & 0xf;
}

/* Whether the trace says that this store conditional failed, or that it stored nothing. */
static bool sc_failed(const struct verifier *v, const struct rvt_tandem_group *group,
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

/* A counter or a pending bit that the instruction reads: the value is the trace's. */
static int csr_read_input(struct verifier *v, uint32_t insn)
{
	unsigned int csr = insn >> 20, rd = insn >> 7 & 31;

	if ((insn & 0x7f) != 0x73 || !(insn >> 12 & 3) || !rd || !rvt_tandem_reg_unobserved(csr))
		return 0;
	v->result->inputs++;
	return model_write_value(v, RVT_TANDEM_SPACE_REGISTER, csr,
				 v->shadow.regs[RVT_TANDEM_GPR + rd]);
}

static int pending_inputs(struct verifier *v)
{
	unsigned int reg;
	int ret = 0;

	while (v->pending_len && !ret) {
		reg = v->pending[--v->pending_len];
		v->is_pending[reg] = false;
		v->result->inputs++;
		ret = model_write_value(v, RVT_TANDEM_SPACE_REGISTER, reg, v->shadow.regs[reg]);
	}
	return ret;
}

/* A group without an instruction that moves the pc is an interrupt, or a trap of a fetch. */
static int interrupt_input(struct verifier *v)
{
	unsigned int reg = v->shadow.privilege == PRIV_M ? CSR_MCAUSE : CSR_SCAUSE;
	uint64_t cause = v->shadow.regs[reg], top = UINT64_C(1) << (v->shadow.params.xlen - 1);

	if (!v->shadow.known[reg] || !(cause & top))
		return 0;
	v->result->inputs++;
	v->result->interrupts++;
	return model_write_value(v, RVT_TANDEM_SPACE_INTERRUPT, 0, cause & ~top);
}

/* That nothing answers at an address is a property of the machine around the hart. */
static int bus_error_input(struct verifier *v, const struct rvt_tandem_group *group)
{
	uint64_t cause;
	size_t i;

	for (i = 0; i < group->updates_len; i++) {
		cause = group->updates[i].value;
		if ((group->updates[i].reg != CSR_MCAUSE && group->updates[i].reg != CSR_SCAUSE) ||
		    (cause != CAUSE_FETCH_ACCESS && cause != CAUSE_LOAD_ACCESS &&
		     cause != CAUSE_STORE_ACCESS))
			continue;
		v->result->inputs++;
		return model_write_value(v, RVT_TANDEM_SPACE_BUS_ERROR, 0, cause);
	}
	return 0;
}

static int insn_inputs(struct verifier *v, const struct rvt_tandem_group *group)
{
	struct rvt_tandem_data data;
	uint64_t x[32];
	unsigned int i;
	int ret;

	for (i = 0; i < 32; i++)
		x[i] = 0;	/* the address does not matter here */
	rvt_tandem_data(group->insn, v->shadow.params.xlen, x, &data);
	ret = model_write_value(v, RVT_TANDEM_SPACE_INSN, 0, group->insn);
	if (!ret)
		ret = csr_read_input(v, group->insn);
	if (!ret)
		ret = loaded_register_input(v, group, &data);
	if (!ret && data.sc && sc_failed(v, group, &data)) {
		v->result->inputs++;
		ret = model_write_value(v, RVT_TANDEM_SPACE_SC_FAILS, 0, 1);
	}
	return ret;
}

/* Step 2. */
static int copy_inputs(struct verifier *v, const struct rvt_tandem_group *group, uint64_t pc)
{
	int ret = pending_inputs(v);

	if (!ret && HAS(group, RVT_TANDEM_PC_PADDR))
		ret = model_write_value(v, RVT_TANDEM_SPACE_TRANSLATION, pc,
					group->state[RVT_TANDEM_PC_PADDR]);
	if (!ret && HAS(group, RVT_TANDEM_PADDR) && HAS(group, RVT_TANDEM_EADDR))
		ret = model_write_value(v, RVT_TANDEM_SPACE_TRANSLATION,
					group->state[RVT_TANDEM_EADDR],
					group->state[RVT_TANDEM_PADDR]);
	if (!ret && HAS(group, RVT_TANDEM_PC))
		ret = bus_error_input(v, group);
	if (ret)
		return ret;
	return group->has_insn ? insn_inputs(v, group) : interrupt_input(v);
}

static void list_register(struct verifier *v, unsigned int reg)
{
	uint64_t value;

	if (v->listed[reg] || v->unmodelled[reg] || !v->shadow.known[reg] ||
	    v->options->absent_regs[reg] || rvt_tandem_reg_unobserved(reg))
		return;
	if (model_read(v, RVT_TANDEM_SPACE_REGISTER, reg, &value, sizeof(value))) {
		v->unmodelled[reg] = true;
		return;
	}
	v->listed[reg] = true;
	v->list[v->list_len++] = reg;
}

/* What the trace newly knows is compared from now on; aliases of CSRs may have become known too. */
static void list_known(struct verifier *v, const struct rvt_tandem_group *group)
{
	static const uint16_t views[] = { CSR_FFLAGS, CSR_FRM, CSR_SSTATUS, CSR_SIE };
	unsigned int reg;
	size_t i;

	for (i = 0; i < group->updates_len; i++) {
		reg = group->updates[i].reg;
		list_register(v, reg);
		if (rvt_tandem_reg_unobserved(reg) && !v->is_pending[reg]) {
			v->is_pending[reg] = true;
			v->pending[v->pending_len++] = reg;
		}
	}
	for (i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		list_register(v, views[i]);
}

static void compare_registers(struct verifier *v)
{
	const struct rvt_tandem_shadow *shadow = &v->shadow;
	unsigned int i, reg;
	uint64_t value;
	char buf[16];

	for (i = 0; i < v->list_len; i++) {
		reg = v->list[i];
		if (!shadow->known[reg] ||
		    model_read(v, RVT_TANDEM_SPACE_REGISTER, reg, &value, sizeof(value)) ||
		    value == shadow->regs[reg])
			continue;
		mismatch_value(v, rvt_tandem_reg_name(reg, buf), value, shadow->regs[reg]);
	}
}

static void compare_pc(struct verifier *v)
{
	uint64_t value;

	if (!v->options->absent_pc && v->shadow.pc_known &&
	    !model_read(v, RVT_TANDEM_SPACE_PC, 0, &value, sizeof(value)) && value != v->shadow.pc)
		mismatch_value(v, "pc", value, v->shadow.pc);
	if (!v->options->absent_privilege && v->shadow.privilege_known &&
	    !model_read(v, RVT_TANDEM_SPACE_PRIVILEGE, 0, &value, sizeof(value)) &&
	    value != v->shadow.privilege)
		mismatch_value(v, "privilege", value, v->shadow.privilege);
}

static void compare_bytes(struct verifier *v, uint64_t addr, unsigned int len)
{
	uint64_t expected = 0, seen = 0;
	char what[48];

	if (len > 8 || model_read(v, RVT_TANDEM_SPACE_MEMORY, addr, &expected, len))
		return;
	rvt_tandem_memory_read(v->shadow.memory, addr, &seen, len);
	if (expected == seen)
		return;
	snprintf(what, sizeof(what), "memory %u @0x%" PRIx64, 8 * len, addr);
	mismatch_value(v, what, expected, seen);
}

/* Memory that either side wrote. */
static void compare_memory(struct verifier *v, const struct rvt_tandem_group *group,
			   const struct rvt_tandem_outcome *outcome)
{
	uint64_t bytes;
	size_t i, n;

	if (v->options->absent_memory)
		return;
	for (i = 0; i < outcome->writes_len; i++)
		compare_bytes(v, outcome->writes[i].addr, outcome->writes[i].len);
	for (i = 0; i < group->accesses_len; i++) {
		n = rvt_tandem_access_stored(&group->accesses[i], &bytes);
		/* the same place twice gives the same report: leave it to the first loop */
		if (n && (!outcome->writes_len ||
			  outcome->writes[0].addr != group->accesses[i].addr))
			compare_bytes(v, group->accesses[i].addr, n);
	}
}

static void compare_outcome(struct verifier *v, const struct rvt_tandem_group *group,
			    const struct rvt_tandem_outcome *outcome)
{
	if (group->has_insn && outcome->insn != group->insn)
		mismatch_value(v, "instruction", outcome->insn, group->insn);
	if (outcome->bus_error && v->options->ram_len && is_ram(v, outcome->paddr))
		mismatch(v, "  access fault in RAM, at 0x%" PRIx64 "\n", outcome->paddr);
	if (outcome->has_paddr && HAS(group, RVT_TANDEM_PADDR) &&
	    outcome->paddr != group->state[RVT_TANDEM_PADDR])
		mismatch_value(v, "physical address", outcome->paddr,
			       group->state[RVT_TANDEM_PADDR]);
	if (outcome->has_paddr && HAS(group, RVT_TANDEM_EADDR) &&
	    outcome->eaddr != group->state[RVT_TANDEM_EADDR])
		mismatch_value(v, "effective address", outcome->eaddr,
			       group->state[RVT_TANDEM_EADDR]);
}

static int copy_bytes(struct verifier *v, uint64_t addr, size_t len)
{
	uint8_t bytes[64];

	if (len > sizeof(bytes))
		return 0;
	rvt_tandem_memory_read(v->shadow.memory, addr, bytes, len);
	return model_write(v, RVT_TANDEM_SPACE_MEMORY, addr, bytes, len);
}

/* Step 5: the golden model becomes what the trace says; absent parts stay. */
static int copy_registers(struct verifier *v)
{
	const struct rvt_tandem_shadow *shadow = &v->shadow;
	unsigned int reg;
	int ret = 0;

	for (reg = 0; reg < RVT_TANDEM_REGS && !ret; reg++)
		if (shadow->known[reg] && !v->options->absent_regs[reg] &&
		    !rvt_tandem_reg_unobserved(reg))
			ret = model_write_value(v, RVT_TANDEM_SPACE_REGISTER, reg,
						shadow->regs[reg]);
	if (!ret && shadow->pc_known && !v->options->absent_pc)
		ret = model_write_value(v, RVT_TANDEM_SPACE_PC, 0, shadow->pc);
	if (!ret && shadow->privilege_known && !v->options->absent_privilege)
		ret = model_write_value(v, RVT_TANDEM_SPACE_PRIVILEGE, 0, shadow->privilege);
	return ret;
}

static int copy_memory(struct verifier *v, const struct rvt_tandem_group *group,
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

static int resynchronise(struct verifier *v, const struct rvt_tandem_group *group,
			 const struct rvt_tandem_outcome *outcome)
{
	int ret = copy_registers(v);

	if (!ret && !v->options->absent_memory)
		ret = copy_memory(v, group, outcome);
	return ret;
}

/* With memory absent from the trace, the golden model's memory is the only one. */
static int adopt_memory(struct verifier *v, const struct rvt_tandem_outcome *outcome)
{
	uint64_t bytes;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < outcome->writes_len && !ret; i++) {
		if (outcome->writes[i].len > 8)
			continue;
		ret = model_read(v, RVT_TANDEM_SPACE_MEMORY, outcome->writes[i].addr, &bytes,
				 outcome->writes[i].len);
		if (!ret)
			ret = rvt_tandem_memory_write(v->shadow.memory, outcome->writes[i].addr,
						      &bytes, outcome->writes[i].len);
	}
	return ret;
}

static void count_incomparable(struct verifier *v, const struct rvt_tandem_outcome *outcome)
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

/* Steps 4 and 5. @pc: before the group. */
static int compare(struct verifier *v, const struct rvt_tandem_group *group,
		   const struct rvt_tandem_outcome *outcome, uint64_t pc)
{
	const struct rvt_tandem_verify_options *options = v->options;

	v->text_len = 0;
	v->text[0] = 0;
	v->mismatches = 0;
	compare_outcome(v, group, outcome);
	compare_pc(v);
	compare_registers(v);
	compare_memory(v, group, outcome);
	v->result->compared++;
	if (!v->mismatches)
		return options->absent_memory ? adopt_memory(v, outcome) : 0;
	v->result->mismatched++;
	if (options->report && (!options->max_reports ||
				v->result->mismatched <= options->max_reports))
		options->report(options->report_ctx, &v->shadow, v->result->groups, pc, group,
				v->text);
	return resynchronise(v, group, outcome);
}

/* Reset and state initialization come from outside: the golden model just follows. */
static int follow(struct verifier *v, const struct rvt_tandem_group *group)
{
	int ret = copy_registers(v);
	size_t i, n;
	uint64_t bytes;

	for (i = 0; i < group->accesses_len && !ret; i++) {
		n = rvt_tandem_access_stored(&group->accesses[i], &bytes);
		ret = n ? copy_bytes(v, group->accesses[i].addr, n) : 0;
	}
	return ret;
}

static int execute(struct verifier *v, const struct rvt_tandem_group *group, uint64_t pc)
{
	struct rvt_tandem_outcome outcome;
	int ret;

	ret = copy_inputs(v, group, pc);
	if (ret)
		return ret;
	memset(&outcome, 0, sizeof(outcome));
	ret = v->options->ops->execute(v->options->ctx, &outcome);
	if (ret)
		return ret;
	v->result->executed++;
	v->result->traps += !!(outcome.flags & RVT_TANDEM_OUT_TRAP);
	if (!(outcome.flags & RVT_TANDEM_OUT_INCOMPARABLE))
		return compare(v, group, &outcome, pc);
	count_incomparable(v, &outcome);
	return resynchronise(v, group, &outcome);
}

static int step(struct verifier *v, const struct rvt_tandem_group *group)
{
	static const struct rvt_tandem_outcome none;
	bool pc_was_known = v->shadow.pc_known || v->options->absent_pc;
	uint64_t pc = v->shadow.pc;
	int ret = 0;

	v->result->groups++;
	if (group->reset)
		ret = v->options->ops->reset(v->options->ctx);
	if (!ret && !group->init && !group->reset && pc_was_known)
		ret = access_inputs(v, group);
	if (!ret)
		ret = rvt_tandem_shadow_apply(&v->shadow, group);
	if (ret)
		return ret;
	list_known(v, group);
	if (group->init || group->reset)
		return follow(v, group);
	if (!pc_was_known) {
		v->result->no_pc++;
		return follow(v, group);
	}
	if (group->has_insn || HAS(group, RVT_TANDEM_PC))
		return execute(v, group, pc);
	/* a change without an instruction: right only for what is not observed */
	return compare(v, group, &none, pc);
}

int rvt_tandem_verify(struct rvt_tandem_reader *reader, const struct rvt_tandem_params *params,
		      const struct rvt_tandem_verify_options *options,
		      struct rvt_tandem_verify_result *result)
{
	struct rvt_tandem_group group;
	struct verifier *v;
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
	while (!ret && !(options->stop && *options->stop) &&
	       !(options->max_insns && result->executed >= options->max_insns)) {
		ret = rvt_tandem_next_group(reader, &group);
		if (ret <= 0)
			break;
		ret = step(v, &group);
		if (options->progress && result->groups % PROGRESS_GROUPS == 0)
			options->progress(options->report_ctx, group.end);
	}
	rvt_tandem_shadow_fini(&v->shadow);
	free(v);
	return ret;
}
