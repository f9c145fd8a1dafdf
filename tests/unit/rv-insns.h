/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Every unprivileged instruction of RV64GC but Zicsr, to be made with random operands. */
#ifndef TESTS_RV_INSNS_H
#define TESTS_RV_INSNS_H

#include <stddef.h>
#include <stdint.h>
#include "property.h"

enum rv_group {
	RV_I, RV_I_JUMP, RV_I_MEMORY, RV_M, RV_A, RV_F, RV_D, RV_FUSED, RV_FD_MEMORY, RV_C,
	RV_C_JUMP, RV_C_MEMORY, RV_GROUPS
};

struct rv_form {
	const char *name;
	enum rv_group group;
	uint32_t mask, match;
};

extern const struct rv_form rv_forms[];
extern const size_t rv_forms_len;
extern const char *const rv_group_names[RV_GROUPS];

/* An instruction of the form with random other bits; never one that is reserved. */
uint32_t rv_form_make(const struct rv_form *form, struct random *r);
/* A register's content, with corner cases among random ones. */
uint64_t rv_random_integer(struct random *r);
/* A single, mostly NaN-boxed, or a double. */
uint64_t rv_random_float(struct random *r);

#endif
