/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The registers discovery_info_0 and discovery_info_1 of E-Trace encoders, as the example in
 * chapter "Parameters and Discovery" describes them: fields side by side from bit 0. The second
 * register is at offset 8, as offset 4 is in the middle of the first one (see
 * Documentation/e-trace.rst).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "model.h"

#define INFO_FIELDS 20

struct field {
	const char *name;
	unsigned int bits;
	uint64_t value;
};

/* Joins the fields of a register, lowest first; fields of 0 bits do not exist. */
static int join(const struct field *fields, uint64_t *value)
{
	unsigned int shift = 0;

	*value = 0;
	for (; fields->name; fields++) {
		if (!fields->bits)
			continue;
		if (fields->value >> fields->bits) {
			fprintf(stderr, "rvtrace-model: discovery registers have %u bits for %s, "
				"which is %llu\n", fields->bits, fields->name,
				(unsigned long long)fields->value);
			return -EINVAL;
		}
		*value |= fields->value << shift;
		shift += fields->bits;
	}
	return 0;
}

static uint64_t less_one(uint32_t n)
{
	return n ? n - 1 : 0;
}

static int make(uint64_t info[2])
{
	const struct rvt_params *p = &model.etrace;
	const struct model_args *a = &model.args;
	bool draft = p->dialect == RVT_DIALECT_ETRACE_0_029;
	const struct field info_0[] = {
		{ "version", 4, 0 },
		{ "minor_revision", 4, 0 },
		{ "arch", 4, 0 },
		{ "bpred_size", 4, p->bpred_size_p },
		{ "cache_size", 4, p->cache_size_p },
		{ "call_counter_size", 3, p->call_counter_size_p },
		{ "comparators", 3, less_one(a->comparators) },
		{ "ctype_width", 5, 1 },
		{ "context_width", 5, less_one(p->context_width_p) },
		{ "ecause_choice", 3, 6 },
		{ "ecause_width", 4, less_one(p->ecause_width_p) },
		{ "filters", 4, less_one(a->filters) },
		{ "filter_context", 1, a->comparators > 0 },
		/* called filter_excint in 2.0 */
		{ "filter_ecause", 4, a->warl_filter >> 2 & 1 },
		{ "filter_interrupt", draft ? 1 : 0, a->warl_filter >> 3 & 1 },
		{ "filter_privilege", 1, a->warl_filter >> 1 & 1 },
		{ "filter_tval", 1, a->comparators > 0 },
		{ "filter_impdef", 1, a->impdef_bits > 0 },
		{ "f0s_width", 2, p->f0s_width_p },
		{ "iaddress_lsb", 2, less_one(p->iaddress_lsb_p) },
		{},
	};
	const struct field info_1[] = {
		{ "iaddress_width", 7, less_one(p->iaddress_width_p) },
		{ "ilastsize_width", 7, 0 },
		{ "itype_width", 7, 3 },
		{ "iretire_width", 7, 6 },
		{ "nocontext", 1, p->nocontext_p },
		{ "ntkn_width", draft ? 2 : 0, 0 },
		{ "privilege_width", 2, less_one(p->privilege_width_p) },
		{ "retires", 3, 0 },
		{ "return_stack_size", 4, p->return_stack_size_p },
		{ "sijump", 1, p->sijump_p },
		{ "taken_branches", 4, 0 },
		{ "impdef_width", 5, less_one(a->impdef_bits) },
		{},
	};

	int ret = join(info_0, &info[0]) ?: join(info_1, &info[1]);

	for (int i = 0; i < 2; i++)
		if (a->discovery[i])
			info[i] = a->discovery[i];
	return ret;
}

int discovery_build(unsigned int n)
{
	uint64_t info[2];
	int ret;

	if (!(model.args.formats & MODEL_FORMAT_ETRACE))
		return 0;
	ret = make(info);
	for (unsigned int i = 0; i < n && !ret; i++)
		memcpy(model.ram + (model.args.window - model.args.ram_base) + DISCOVERY(i), info,
		       sizeof(info));
	return ret;
}
