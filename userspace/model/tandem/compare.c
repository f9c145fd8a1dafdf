// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Step 4 of ch. 3.1: the shadow state and the golden model's, and what the trace tells besides. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "model/tandem/verify.h"

__attribute__((format(printf, 2, 3)))
void rvt_tandem_mismatch(struct rvt_tandem_verifier *v, const char *format, ...)
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

void rvt_tandem_mismatch_value(struct rvt_tandem_verifier *v, const char *what, uint64_t expected,
			       uint64_t seen)
{
	rvt_tandem_mismatch(v, "  %s: expected 0x%" PRIx64 ", seen 0x%" PRIx64 "\n", what, expected,
			    seen);
}

void rvt_tandem_list_register(struct rvt_tandem_verifier *v, unsigned int reg)
{
	uint64_t value;

	if (v->listed[reg] || v->unmodelled[reg] || !v->shadow.known[reg] ||
	    v->options->absent_regs[reg] || rvt_tandem_reg_unobserved(reg))
		return;
	if (rvt_tandem_model_read(v, RVT_TANDEM_SPACE_REGISTER, reg, &value, sizeof(value))) {
		v->unmodelled[reg] = true;
		return;
	}
	v->listed[reg] = true;
	v->list[v->list_len++] = reg;
}

static void compare_registers(struct rvt_tandem_verifier *v)
{
	const struct rvt_tandem_shadow *shadow = &v->shadow;
	unsigned int i, reg;
	uint64_t value;
	char buf[16];

	for (i = 0; i < v->list_len; i++) {
		reg = v->list[i];
		if (!shadow->known[reg] ||
		    rvt_tandem_model_read(v, RVT_TANDEM_SPACE_REGISTER, reg, &value,
					  sizeof(value)) ||
		    value == shadow->regs[reg])
			continue;
		rvt_tandem_mismatch_value(v, rvt_tandem_reg_name(reg, buf), value,
					  shadow->regs[reg]);
	}
}

/* x0 is told as what was written to it, which must be nothing. */
static void compare_x0(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group)
{
	size_t i;

	for (i = 0; i < group->updates_len; i++)
		if (group->updates[i].reg == RVT_TANDEM_GPR && group->updates[i].value)
			rvt_tandem_mismatch_value(v, "zero", 0, group->updates[i].value);
}

static void compare_pc(struct rvt_tandem_verifier *v)
{
	uint64_t value;

	if (!v->options->absent_pc && v->shadow.pc_known &&
	    !rvt_tandem_model_read(v, RVT_TANDEM_SPACE_PC, 0, &value, sizeof(value)) &&
	    value != v->shadow.pc)
		rvt_tandem_mismatch_value(v, "pc", value, v->shadow.pc);
	if (!v->options->absent_privilege && v->shadow.privilege_known &&
	    !rvt_tandem_model_read(v, RVT_TANDEM_SPACE_PRIVILEGE, 0, &value, sizeof(value)) &&
	    value != v->shadow.privilege)
		rvt_tandem_mismatch_value(v, "privilege", value, v->shadow.privilege);
}

static void compare_bytes(struct rvt_tandem_verifier *v, uint64_t addr, unsigned int len)
{
	uint64_t expected = 0, seen = 0;
	char what[48];

	if (len > 8 || rvt_tandem_model_read(v, RVT_TANDEM_SPACE_MEMORY, addr, &expected, len))
		return;
	rvt_tandem_memory_read(v->shadow.memory, addr, &seen, len);
	if (expected == seen)
		return;
	snprintf(what, sizeof(what), "memory %u @0x%" PRIx64, 8 * len, addr);
	rvt_tandem_mismatch_value(v, what, expected, seen);
}

/* Memory that either side wrote. */
static void compare_memory(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
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

/* The instruction's view of what it stores (identifiers 4 to 7). */
static void compare_store_data(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			       const struct rvt_tandem_outcome *outcome)
{
	unsigned int id, i, done = 0, bytes;
	uint64_t expected = 0;
	char what[32];

	for (i = 0; i < outcome->writes_len && done + outcome->writes[i].len <= 8; i++) {
		if (rvt_tandem_model_read(v, RVT_TANDEM_SPACE_MEMORY, outcome->writes[i].addr,
					  (uint8_t *)&expected + done, outcome->writes[i].len))
			return;
		done += outcome->writes[i].len;
	}
	for (id = RVT_TANDEM_STORE8; id <= RVT_TANDEM_STORE64; id++) {
		if (!HAS(group, id))
			continue;
		bytes = 1u << (id - RVT_TANDEM_STORE8);
		snprintf(what, sizeof(what), "store data %u", 8 * bytes);
		/* a store conditional that failed may tell what it would have stored */
		if (done && done != bytes)
			rvt_tandem_mismatch(v, "  %s: the instruction stores %u bits\n", what,
					    8 * done);
		else if (done && expected != group->state[id])
			rvt_tandem_mismatch_value(v, what, expected, group->state[id]);
		else if (!done && !outcome->store_failed)
			rvt_tandem_mismatch(v, "  %s: the instruction stores nothing\n", what);
	}
}

static void compare_address(struct rvt_tandem_verifier *v, const char *what, bool known,
			    uint64_t expected, const struct rvt_tandem_group *group,
			    enum rvt_tandem_state_id id)
{
	if (known && HAS(group, id) && expected != group->state[id])
		rvt_tandem_mismatch_value(v, what, expected, group->state[id]);
}

static void compare_outcome(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			    const struct rvt_tandem_outcome *outcome)
{
	char what[64];

	if (group->has_insn && outcome->insn != group->insn)
		rvt_tandem_mismatch_value(v, "instruction", outcome->insn, group->insn);
	if (outcome->bus_error && v->options->ram_len && rvt_tandem_is_ram(v, outcome->paddr))
		rvt_tandem_mismatch(v, "  access fault in RAM, at 0x%" PRIx64 "\n", outcome->paddr);
	if (v->wrong_load.len) {
		snprintf(what, sizeof(what), "memory response %u @0x%" PRIx64,
			 8 * v->wrong_load.len, v->wrong_load.addr);
		rvt_tandem_mismatch_value(v, what, v->wrong_load.expected, v->wrong_load.seen);
	}
	compare_address(v, "physical pc", outcome->has_pc_paddr, outcome->pc_paddr, group,
			RVT_TANDEM_PC_PADDR);
	compare_address(v, "physical address", outcome->has_paddr, outcome->paddr, group,
			RVT_TANDEM_PADDR);
	compare_address(v, "effective address", outcome->has_paddr, outcome->eaddr, group,
			RVT_TANDEM_EADDR);
	compare_store_data(v, group, outcome);
}

void rvt_tandem_compare_state(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			      const struct rvt_tandem_outcome *outcome)
{
	compare_outcome(v, group, outcome);
	compare_pc(v);
	compare_x0(v, group);
	compare_registers(v);
	compare_memory(v, group, outcome);
}
