/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What an encoder traces (Trace Control Interface 1.0, "Filters" and "Comparators"). */
#include <string.h>
#include "te.h"

#define FILTER_ENABLE	(1u << 0)
#define FILTER_PRIVILEGE (1u << 1)
#define FILTER_ECAUSE	(1u << 2)
#define FILTER_INTERRUPT (1u << 3)
#define FILTER_IMPDEF	(1u << 16)
/* Three comparators: bits 4, 8 and 12 use them, and the bits above each select one. */
#define FILTER_COMP(ctl, i)	((ctl) >> (4 + 4 * (i)) & 1)
#define FILTER_SELECT(ctl, i)	((ctl) >> (5 + 4 * (i)) & 7)

#define COMP_P_NOTIFY	(1u << 14)
#define COMP_S_NOTIFY	(1u << 15)
#define COMP_MODE(ctl)	((ctl) >> 12 & 3)

enum { INPUT_IADDR, INPUT_CONTEXT, INPUT_TVAL };
enum { MODE_P, MODE_BOTH, MODE_NOT_BOTH, MODE_LATCH };
enum { FUNCTION_EQUAL, FUNCTION_UNEQUAL, FUNCTION_LESS, FUNCTION_LESS_EQUAL, FUNCTION_GREATER,
       FUNCTION_GREATER_EQUAL, FUNCTION_NEVER, FUNCTION_ALWAYS };

/* ---- comparators ---- */

static uint64_t match_value(const struct component *c, unsigned int comp, uint32_t low)
{
	return (uint64_t)reg_get(c, TE_COMP(comp) + low + 4) << 32 |
	       reg_get(c, TE_COMP(comp) + low);
}

static uint64_t input(const struct component *c, unsigned int select, uint64_t pc)
{
	const struct encoder *e = c->own;

	switch (select) {
	case INPUT_IADDR:
		return pc;
	case INPUT_CONTEXT:
		return e->hart->scontext;
	case INPUT_TVAL:
		return e->hart->tval;
	default:
		return 0;
	}
}

static bool compare(unsigned int function, uint64_t value, uint64_t match)
{
	switch (function) {
	case FUNCTION_EQUAL:
		return value == match;
	case FUNCTION_UNEQUAL:
		return value != match;
	case FUNCTION_LESS:
		return value < match;
	case FUNCTION_LESS_EQUAL:
		return value <= match;
	case FUNCTION_GREATER:
		return value > match;
	case FUNCTION_GREATER_EQUAL:
		return value >= match;
	default:
		return function == FUNCTION_ALWAYS;
	}
}

static bool primary(const struct component *c, unsigned int comp, uint64_t pc)
{
	uint32_t ctl = reg_get(c, TE_COMP(comp));
	uint64_t value = input(c, ctl & 3, pc), match = match_value(c, comp, 0x10);

	/* with secondary function 6, its value is the mask of the primary comparison */
	if ((ctl >> 8 & 7) == FUNCTION_NEVER) {
		value &= match_value(c, comp, 0x18);
		match &= match_value(c, comp, 0x18);
	}
	return compare(ctl >> 4 & 7, value, match);
}

static bool secondary(const struct component *c, unsigned int comp, uint64_t pc)
{
	uint32_t ctl = reg_get(c, TE_COMP(comp));
	unsigned int function = ctl >> 8 & 7;

	return function == FUNCTION_NEVER ||
	       compare(function, input(c, ctl >> 2 & 3, pc), match_value(c, comp, 0x18));
}

static bool comparator_matches(const struct component *c, unsigned int comp, uint64_t pc)
{
	const struct encoder *e = c->own;

	switch (COMP_MODE(reg_get(c, TE_COMP(comp)))) {
	case MODE_P:
		return primary(c, comp, pc);
	case MODE_BOTH:
		return primary(c, comp, pc) && secondary(c, comp, pc);
	case MODE_NOT_BOTH:
		return !(primary(c, comp, pc) && secondary(c, comp, pc));
	default:
		return (e->comp[comp].on && !e->comp[comp].off_next) || primary(c, comp, pc);
	}
}

void filter_retired(struct component *c, uint64_t pc)
{
	struct encoder *e = c->own;

	for (unsigned int i = 0; i < model.args.comparators; i++) {
		if (COMP_MODE(reg_get(c, TE_COMP(i))) != MODE_LATCH)
			continue;
		e->comp[i].on = comparator_matches(c, i, pc);
		/* turns off at the instruction after the one that matches */
		e->comp[i].off_next = e->comp[i].on && secondary(c, i, pc);
	}
}

bool filter_notifies(const struct component *c, uint64_t pc)
{
	for (unsigned int i = 0; i < model.args.comparators; i++) {
		uint32_t ctl = reg_get(c, TE_COMP(i));

		if ((ctl & COMP_P_NOTIFY && !(ctl & 3) && primary(c, i, pc)) ||
		    (ctl & COMP_S_NOTIFY && !(ctl >> 2 & 3) && secondary(c, i, pc)))
			return true;
	}
	return false;
}

/* ---- filters ---- */

static bool impdef_matches(const struct component *c, unsigned int i)
{
	const struct encoder *e = c->own;

	return !((e->hart->impdef ^ reg_get(c, TE_FILTER(i) + 0x10)) &
		 reg_get(c, TE_FILTER(i) + 0x14));
}

/* Returns the bit in trTeFilterMatchPrivilege: U, S (HS), -, M, -, VU, VS. */
static unsigned int privilege_bit(unsigned int prv, unsigned int v)
{
	return v ? 5 + prv : prv;
}

static bool filter_matches(const struct component *c, unsigned int i, unsigned int privilege,
			   uint64_t pc)
{
	uint32_t ctl = reg_get(c, TE_FILTER(i));
	const struct encoder *e = c->own;

	if (!(ctl & FILTER_ENABLE))
		return false;
	if (ctl & FILTER_PRIVILEGE && !(reg_get(c, TE_FILTER(i) + 4) >> privilege & 1))
		return false;
	if (ctl & (FILTER_ECAUSE | FILTER_INTERRUPT) && !e->filter[i].nest)
		return false;
	if (ctl & FILTER_IMPDEF && !impdef_matches(c, i))
		return false;
	for (unsigned int n = 0; n < 3; n++)
		if (FILTER_COMP(ctl, n) && !comparator_matches(c, FILTER_SELECT(ctl, n), pc))
			return false;
	return true;
}

bool filter_qualifies(struct component *c, unsigned int prv, unsigned int v, uint64_t pc)
{
	uint32_t used = reg_get(c, TE_FILTERS);

	for (unsigned int i = 0; i < model.args.filters; i++)
		if (used >> i & 1 && filter_matches(c, i, privilege_bit(prv, v), pc))
			return true;
	return !used;
}

bool filter_by_insn(const struct component *c)
{
	const struct encoder *e = c->own;

	return e->by_insn || e->armed;
}

static bool trap_matches(const struct component *c, unsigned int i, const struct rvt_trap *trap)
{
	uint32_t ctl = reg_get(c, TE_FILTER(i));
	uint64_t causes = (uint64_t)reg_get(c, TE_FILTER(i) + 0xc) << 32 |
			  reg_get(c, TE_FILTER(i) + 8);

	if (ctl & FILTER_ECAUSE && (trap->cause > 63 || !(causes >> trap->cause & 1)))
		return false;
	return !(ctl & FILTER_INTERRUPT) ||
	       (reg_get(c, TE_FILTER(i) + 4) >> 8 & 1) == trap->interrupt;
}

void filter_trap(struct component *c, const struct rvt_trap *trap)
{
	struct encoder *e = c->own;

	for (unsigned int i = 0; i < model.args.filters; i++) {
		if (!(reg_get(c, TE_FILTER(i)) & (FILTER_ECAUSE | FILTER_INTERRUPT)))
			continue;
		if (e->filter[i].nest || trap_matches(c, i, trap))
			e->filter[i].nest++;
	}
}

void filter_trap_return(struct component *c)
{
	struct encoder *e = c->own;

	for (unsigned int i = 0; i < model.args.filters; i++)
		if (e->filter[i].nest)
			e->filter[i].nest--;
}

void filter_reset(struct component *c)
{
	struct encoder *e = c->own;
	uint32_t used = reg_get(c, TE_FILTERS);

	memset(e->filter, 0, sizeof(e->filter));
	memset(e->comp, 0, sizeof(e->comp));
	e->by_insn = false;
	for (unsigned int i = 0; i < model.args.filters; i++)
		if (used >> i & 1 && reg_get(c, TE_FILTER(i)) & (FILTER_IMPDEF | 0x1110))
			e->by_insn = true;
	for (unsigned int i = 0; i < model.args.comparators; i++) {
		uint32_t ctl = reg_get(c, TE_COMP(i));

		if (ctl & (COMP_P_NOTIFY | COMP_S_NOTIFY))
			e->by_insn = true;
		/* a latch that can never be set is on from the beginning */
		if (COMP_MODE(ctl) == MODE_LATCH && (ctl >> 4 & 7) == FUNCTION_NEVER)
			e->comp[i].on = true;
	}
}
