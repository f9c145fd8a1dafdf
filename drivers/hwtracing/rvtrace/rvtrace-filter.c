// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: filters of an encoder. Privilege modes, causes and values of traps, threads,
 * implementation-defined signals, and addresses.
 *
 * The encoder traces what one of its filters lets through, and a filter lets through what all of
 * its conditions hold for. So each address range is a filter of its own, with a comparator; all
 * else, and the one region that may be left out, are conditions of every filter.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/bitops.h>

#include "rvtrace-cpu.h"
#include "rvtrace-encoder.h"

/* Events that take comparators besides their address filters */
static LIST_HEAD(rvtrace_reserving_events);
static DEFINE_SPINLOCK(rvtrace_reserving_lock);

static u32 rvtrace_range_control(const struct rvtrace_range *range)
{
	u32 p = RVTRACE_COMP_NOT_BELOW, s = RVTRACE_COMP_NOT_ABOVE;

	if (range->mode == RVTRACE_MATCH_LATCH) {
		p = RVTRACE_COMP_EQUAL;
		s = RVTRACE_COMP_EQUAL;
	} else if (range->mode == RVTRACE_MATCH_P) {
		p = RVTRACE_COMP_NEVER;
	}
	return FIELD_PREP(RVTRACE_TE_COMP_P_FUNCTION, p) |
	       FIELD_PREP(RVTRACE_TE_COMP_S_FUNCTION, s) |
	       FIELD_PREP(RVTRACE_TE_COMP_MATCH_MODE, range->mode);
}

/* A filter has three comparators: which ones, and whether they count */
static const struct {
	u32 match;
	u32 select;
} rvtrace_filter_comparators[] = {
	{ RVTRACE_TE_FILTER_MATCH_COMP1, RVTRACE_TE_FILTER_COMP1 },
	{ RVTRACE_TE_FILTER_MATCH_COMP2, RVTRACE_TE_FILTER_COMP2 },
	{ RVTRACE_TE_FILTER_MATCH_COMP3, RVTRACE_TE_FILTER_COMP3 },
};

/* Returns whether comparator @j can be the @i-th of a filter. */
static bool rvtrace_can_select(struct rvtrace_component *comp, int j, int i)
{
	u32 mask = rvtrace_filter_comparators[i].select, select = j << __ffs(mask);

	return (rvtrace_try(comp, RVTRACE_TE_FILTER_CONTROL(0),
			    rvtrace_filter_comparators[i].match | select) & mask) == select;
}

/*
 * Returns whether there is this comparator: a filter can select it. One that does not exist must
 * not be touched. A field that is always 0 selects nothing where it does not count.
 */
static bool rvtrace_has_comparator(struct rvtrace_encoder *enc, int j)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rvtrace_filter_comparators); i++)
		if ((j || enc->filter_options & rvtrace_filter_comparators[i].match) &&
		    rvtrace_can_select(&enc->comp, j, i))
			return true;
	return false;
}

static bool rvtrace_probe_comparator(struct rvtrace_component *comp, int j)
{
	static const u32 modes[] = {
		RVTRACE_MATCH_BOTH, RVTRACE_MATCH_NOT_BOTH, RVTRACE_MATCH_LATCH, RVTRACE_MATCH_P,
	};
	u32 control;
	bool works = true;
	int i;

	for (i = 0; i < ARRAY_SIZE(modes) && works; i++) {
		control = rvtrace_range_control(&(struct rvtrace_range){ .mode = modes[i] });
		works = rvtrace_try(comp, RVTRACE_TE_COMP_CONTROL(j), control) == control;
	}
	works = works && rvtrace_try(comp, RVTRACE_TE_COMP_P_LOW(j), ~1u) == ~1u &&
		rvtrace_try(comp, RVTRACE_TE_COMP_S_LOW(j), ~1u) == ~1u;
	if (__riscv_xlen == 64)
		works = works && rvtrace_try(comp, RVTRACE_TE_COMP_P_HIGH(j), ~0u) &&
			rvtrace_try(comp, RVTRACE_TE_COMP_S_HIGH(j), ~0u);
	rvtrace_write(comp, RVTRACE_TE_COMP_CONTROL(j), 0);
	return works;
}

static u32 rvtrace_context_control(void)
{
	return FIELD_PREP(RVTRACE_TE_COMP_P_INPUT, RVTRACE_COMP_CONTEXT) |
	       FIELD_PREP(RVTRACE_TE_COMP_P_FUNCTION, RVTRACE_COMP_EQUAL) |
	       FIELD_PREP(RVTRACE_TE_COMP_S_FUNCTION, RVTRACE_COMP_ALWAYS) |
	       FIELD_PREP(RVTRACE_TE_COMP_MATCH_MODE, RVTRACE_MATCH_P);
}

/* Returns whether the last comparator can compare scontext, and filters have a third comparator. */
static bool rvtrace_probe_context(struct rvtrace_encoder *enc)
{
	u32 control = rvtrace_context_control(), reg;
	bool works;

	if (!enc->comparators || !(enc->filter_options & RVTRACE_TE_FILTER_MATCH_COMP3))
		return false;
	reg = RVTRACE_TE_COMP_CONTROL(enc->comparators - 1);
	works = rvtrace_try(&enc->comp, reg, control) == control;
	rvtrace_write(&enc->comp, reg, 0);
	return works;
}

/*
 * Returns the value of trTeCompControl for a filter by trap values. These are defined at the trap
 * only. A latch holds from a trap whose value matches to one whose value does not, whether the hart
 * keeps the value up between the two or not.
 */
static u32 rvtrace_tval_control(u32 function, bool latch)
{
	static const u8 opposite[RVTRACE_COMP_FUNCTIONS] = {
		[RVTRACE_COMP_EQUAL] = RVTRACE_COMP_UNEQUAL,
		[RVTRACE_COMP_UNEQUAL] = RVTRACE_COMP_EQUAL,
		[RVTRACE_COMP_BELOW] = RVTRACE_COMP_NOT_BELOW,
		[RVTRACE_COMP_NOT_BELOW] = RVTRACE_COMP_BELOW,
		[RVTRACE_COMP_ABOVE] = RVTRACE_COMP_NOT_ABOVE,
		[RVTRACE_COMP_NOT_ABOVE] = RVTRACE_COMP_ABOVE,
	};

	return FIELD_PREP(RVTRACE_TE_COMP_P_INPUT, RVTRACE_COMP_TVAL) |
	       FIELD_PREP(RVTRACE_TE_COMP_S_INPUT, RVTRACE_COMP_TVAL) |
	       FIELD_PREP(RVTRACE_TE_COMP_P_FUNCTION, function) |
	       FIELD_PREP(RVTRACE_TE_COMP_S_FUNCTION,
			  latch ? opposite[function] : RVTRACE_COMP_ALWAYS) |
	       FIELD_PREP(RVTRACE_TE_COMP_MATCH_MODE,
			  latch ? RVTRACE_MATCH_LATCH : RVTRACE_MATCH_P);
}

/*
 * Returns a bit for each function that a filter for trap values can have. Such a filter takes the
 * last comparator, or the one before it when the last one compares the thread.
 */
static u8 rvtrace_probe_tval(struct rvtrace_encoder *enc, bool latch)
{
	u8 functions = GENMASK(RVTRACE_COMP_FUNCTIONS - 1, 0);
	u32 control, reg, function;
	int j;

	if (!enc->comparators || !(enc->filter_options & RVTRACE_TE_FILTER_MATCH_COMP2))
		return 0;
	for (j = max(enc->comparators - 2, 0); j < enc->comparators; j++) {
		reg = RVTRACE_TE_COMP_CONTROL(j);
		for (function = 0; function < RVTRACE_COMP_FUNCTIONS; function++) {
			control = rvtrace_tval_control(function, latch);
			if (rvtrace_try(&enc->comp, reg, control) != control)
				functions &= ~BIT(function);
		}
		rvtrace_write(&enc->comp, reg, 0);
	}
	return functions;
}

/* Finds out what filters and comparators there are. The encoder is active and disabled. */
void rvtrace_filter_probe(struct rvtrace_encoder *enc)
{
	struct rvtrace_component *comp = &enc->comp;

	enc->filters = rvtrace_try(comp, RVTRACE_TE_INST_FILTERS, GENMASK(15, 0));
	rvtrace_write(comp, RVTRACE_TE_INST_FILTERS, 0);
	if (!(enc->filters & BIT(0)))
		return;
	enc->filter_options = rvtrace_try(comp, RVTRACE_TE_FILTER_CONTROL(0),
					  RVTRACE_TE_FILTER_ENABLE |
					  RVTRACE_TE_FILTER_MATCH_PRIVILEGE |
					  RVTRACE_TE_FILTER_MATCH_ECAUSE |
					  RVTRACE_TE_FILTER_MATCH_INTERRUPT |
					  RVTRACE_TE_FILTER_MATCH_COMP1 |
					  RVTRACE_TE_FILTER_MATCH_COMP2 |
					  RVTRACE_TE_FILTER_MATCH_COMP3 |
					  RVTRACE_TE_FILTER_MATCH_IMPDEF);
	/* A filter that cannot be enabled is none. */
	if (!(enc->filter_options & RVTRACE_TE_FILTER_ENABLE)) {
		enc->filter_options = 0;
		enc->filters = 0;
		return;
	}
	rvtrace_write(comp, RVTRACE_TE_FILTER_CONTROL(0), 0);
	if (enc->filter_options & RVTRACE_TE_FILTER_MATCH_PRIVILEGE) {
		enc->privilege_set = rvtrace_try(comp, RVTRACE_TE_FILTER_MATCH_INST(0),
						 RVTRACE_TE_FILTER_PRIVILEGE);
		enc->privilege_clear = ~rvtrace_try(comp, RVTRACE_TE_FILTER_MATCH_INST(0), 0);
	}
	if (enc->filter_options & RVTRACE_TE_FILTER_MATCH_IMPDEF)
		enc->impdef_mask = rvtrace_try(comp, RVTRACE_TE_FILTER_MASK_IMPDEF(0), ~0u) &
				   rvtrace_try(comp, RVTRACE_TE_FILTER_VALUE_IMPDEF(0), ~0u);
	while (enc->selectable < RVTRACE_TE_COMPARATORS &&
	       rvtrace_has_comparator(enc, enc->selectable)) {
		rvtrace_write(comp, RVTRACE_TE_COMP_CONTROL(enc->selectable), 0);
		enc->selectable++;
	}
	while (enc->filter_options & RVTRACE_TE_FILTER_MATCH_COMP1 &&
	       enc->comparators < enc->selectable &&
	       rvtrace_can_select(comp, enc->comparators, 0) &&
	       rvtrace_probe_comparator(comp, enc->comparators))
		enc->comparators++;
	rvtrace_write(comp, RVTRACE_TE_FILTER_CONTROL(0), 0);
	enc->context_filter = rvtrace_probe_context(enc);
	enc->tval_functions = rvtrace_probe_tval(enc, false);
	enc->tval_latches = rvtrace_probe_tval(enc, true);
}

/* Returns how many address filters an event can have. */
unsigned int rvtrace_filter_count(const struct rvtrace_encoder *enc)
{
	return min_t(unsigned int, enc->comparators, hweight16(enc->filters));
}

/*
 * Returns the privilege modes that the event wants to see. M-mode belongs to the owner of the
 * machine, so it is only in the trace when the event asks for it by name. It counts as the host's.
 */
static u8 rvtrace_privileges(const struct perf_event_attr *attr)
{
	u8 privileges = 0;

	if (!attr->exclude_user && !attr->exclude_host)
		privileges |= RVTRACE_PRIVILEGE_U;
	if (!attr->exclude_kernel && !attr->exclude_host)
		privileges |= RVTRACE_PRIVILEGE_S;
	if (!attr->exclude_user && !attr->exclude_guest)
		privileges |= RVTRACE_PRIVILEGE_VU;
	if (!attr->exclude_kernel && !attr->exclude_guest)
		privileges |= RVTRACE_PRIVILEGE_VS;
	if (attr->config & RVTRACE_CONFIG_MACHINE && !attr->exclude_hv && !attr->exclude_host)
		privileges |= RVTRACE_PRIVILEGE_M;
	return privileges;
}

/*
 * Returns whether the trace distinguishes guests from the host. Otherwise decoders would take the
 * flow of guests for the host's. In N-Trace, Ownership messages distinguish them.
 */
static bool rvtrace_tells_guests(const struct rvtrace_encoder *enc,
				 const struct rvtrace_program *program)
{
	if (FIELD_GET(RVTRACE_TE_CONTROL_FORMAT, program->control) == RVTRACE_FORMAT_ETRACE)
		return rvtrace_discovery_tells_guests(enc);
	return program->control & RVTRACE_TE_CONTROL_CONTEXT;
}

/*
 * Configures the filter for privilege modes. The event must want each mode that the hardware cannot
 * exclude. A mode that no filter can select is either missing from the hart (VU, VS), or it cannot
 * be traced with a filter; M, S and U are refused then. Guests are excluded where the trace would
 * not distinguish them, without a filter by rvtrace-guests.c; an event of guests only is refused
 * then.
 */
static int rvtrace_configure_privileges(const struct rvtrace_encoder *enc,
					const struct perf_event_attr *attr,
					struct rvtrace_program *program)
{
	const u8 known = RVTRACE_PRIVILEGE_U | RVTRACE_PRIVILEGE_S | RVTRACE_PRIVILEGE_M;
	const u8 guest = RVTRACE_PRIVILEGE_VU | RVTRACE_PRIVILEGE_VS;
	u8 wanted = rvtrace_privileges(attr);

	program->match = wanted;
	if (attr->exclude_host && guest & ~enc->privilege_set)
		return rvtrace_refuse(&enc->comp, "filter for guests");
	if (attr->exclude_host && !rvtrace_tells_guests(enc, program))
		return rvtrace_refuse(&enc->comp, "trace that tells guests, with these options");
	if (!rvtrace_tells_guests(enc, program))
		wanted &= ~guest;
	if (!enc->privilege_clear) {
		program->holds_guests = (wanted & guest) != guest;
		return (wanted & known) == known ? 0 :
			rvtrace_refuse(&enc->comp, "privilege filter to exclude anything");
	}
	program->match = wanted;
	if (wanted & known & ~enc->privilege_set)
		return rvtrace_refuse(&enc->comp, "trace of a privilege mode that was asked for");
	if (~wanted & ~enc->privilege_clear & RVTRACE_TE_FILTER_PRIVILEGE)
		return rvtrace_refuse(&enc->comp, "filter for a privilege mode to be excluded");
	program->match &= enc->privilege_set;
	program->filter |= RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_PRIVILEGE;
	return 0;
}

/*
 * Configures the filter for traps of one kind or with some causes. Such a filter begins with the
 * trap and ends with its return; it is of no use together with others.
 */
static int rvtrace_configure_causes(const struct rvtrace_encoder *enc,
				    const struct perf_event_attr *attr,
				    struct rvtrace_program *program)
{
	u32 kind = FIELD_GET(RVTRACE_CONFIG_CAUSES, attr->config);

	program->ecause = attr->config3;
	if (program->ecause)
		program->filter |= RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_ECAUSE;
	if (kind)
		program->filter |= RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_INTERRUPT;
	if (kind == RVTRACE_CAUSES_INTERRUPTS)
		program->match |= RVTRACE_TE_FILTER_INTERRUPT;
	if (program->filter & ~enc->filter_options)
		return rvtrace_refuse(&enc->comp, "filter for causes");
	return 0;
}

/*
 * Configures the filter for one thread. It holds for events of a task and of a hart: the last
 * comparator is a condition of every filter.
 */
static int rvtrace_configure_thread(const struct rvtrace_encoder *enc,
				    const struct perf_event_attr *attr,
				    struct rvtrace_program *program)
{
	program->thread = FIELD_GET(RVTRACE_CONFIG2_THREAD, attr->config2);
	if (!program->thread)
		return 0;
	if (!enc->context_filter)
		return rvtrace_refuse(&enc->comp, "filter for threads");
	program->filter |= RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_COMP3 |
			   FIELD_PREP(RVTRACE_TE_FILTER_COMP3, enc->comparators - 1);
	return 0;
}

/*
 * Configures the filter for trap values: a comparator is a condition of every filter. It is the
 * last one, or the one before it when the last one compares the thread.
 */
static int rvtrace_configure_tval(const struct rvtrace_encoder *enc,
				  const struct perf_event_attr *attr,
				  struct rvtrace_program *program)
{
	u32 match = FIELD_GET(RVTRACE_CONFIG_TVAL_MATCH, attr->config);
	bool latch = attr->config & RVTRACE_CONFIG_TVAL_LATCH;
	u8 functions = latch ? enc->tval_latches : enc->tval_functions;

	if (!match)
		return 0;
	if (!(functions & BIT(match - 1)) || enc->comparators <= !!program->thread)
		return rvtrace_refuse(&enc->comp, "such filter for trap values");
	program->tval_control = rvtrace_tval_control(match - 1, latch);
	program->tval = attr->config1;
	program->filter |= RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_COMP2 |
			   FIELD_PREP(RVTRACE_TE_FILTER_COMP2,
				      enc->comparators - 1 - !!program->thread);
	return 0;
}

static int rvtrace_configure_impdef(const struct rvtrace_encoder *enc,
				    const struct perf_event_attr *attr,
				    struct rvtrace_program *program)
{
	if (!(attr->config & RVTRACE_CONFIG_IMPDEF_MATCH))
		return 0;
	program->impdef = FIELD_GET(RVTRACE_CONFIG1_IMPDEF, attr->config1);
	program->impdef_mask = FIELD_GET(RVTRACE_CONFIG1_IMPDEF_MASK, attr->config1);
	if (!(enc->filter_options & RVTRACE_TE_FILTER_MATCH_IMPDEF) ||
	    program->impdef_mask & ~enc->impdef_mask)
		return rvtrace_refuse(&enc->comp, "filter for such impdef signals");
	program->filter |= RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_IMPDEF;
	return 0;
}

/*
 * rvtrace_filter_configure - filters of an event, without its address filters: @program->filter
 * etc.
 */
int rvtrace_filter_configure(const struct rvtrace_encoder *enc, const struct perf_event_attr *attr,
			     struct rvtrace_program *program)
{
	int ret;

	ret = rvtrace_configure_privileges(enc, attr, program);
	if (!ret)
		ret = rvtrace_configure_causes(enc, attr, program);
	if (!ret)
		ret = rvtrace_configure_thread(enc, attr, program);
	if (!ret)
		ret = rvtrace_configure_tval(enc, attr, program);
	return ret ?: rvtrace_configure_impdef(enc, attr, program);
}

static int rvtrace_program_comparator(struct rvtrace_component *comp, unsigned int j,
				      const struct rvtrace_range *range)
{
	u32 control = rvtrace_range_control(range);

	rvtrace_write(comp, RVTRACE_TE_COMP_P_LOW(j), lower_32_bits(range->first));
	rvtrace_write(comp, RVTRACE_TE_COMP_P_HIGH(j), upper_32_bits(range->first));
	rvtrace_write(comp, RVTRACE_TE_COMP_S_LOW(j), lower_32_bits(range->last));
	rvtrace_write(comp, RVTRACE_TE_COMP_S_HIGH(j), upper_32_bits(range->last));
	return rvtrace_try(comp, RVTRACE_TE_COMP_CONTROL(j), control) == control ? 0 : -EIO;
}

static int rvtrace_refuse_filters(unsigned int addresses, unsigned int others,
				  unsigned int comparators)
{
	pr_notice_ratelimited("event refused: %u address filters and %u of threads or trap values, the hardware has comparators for %u\n",
			      addresses, others, comparators);
	return -EOPNOTSUPP;
}

static int rvtrace_program_value(struct rvtrace_component *comp, unsigned int j, u64 value,
				 u32 control)
{
	rvtrace_write(comp, RVTRACE_TE_COMP_P_LOW(j), lower_32_bits(value));
	rvtrace_write(comp, RVTRACE_TE_COMP_P_HIGH(j), upper_32_bits(value));
	rvtrace_write(comp, RVTRACE_TE_COMP_S_LOW(j), lower_32_bits(value));
	rvtrace_write(comp, RVTRACE_TE_COMP_S_HIGH(j), upper_32_bits(value));
	return rvtrace_try(comp, RVTRACE_TE_COMP_CONTROL(j), control) == control ? 0 : -EIO;
}

/*
 * Programs the comparators for a thread and for trap values. Address filters may have taken them:
 * when the event is opened their number is not known, and when they are validated it is not known
 * whose they are.
 */
static int rvtrace_program_values(struct rvtrace_encoder *enc, const struct rvtrace_config *config)
{
	const struct rvtrace_program *program = &enc->program;
	bool excludes = config->exclude.mode == RVTRACE_MATCH_NOT_BOTH;
	unsigned int wanted = !!program->thread + !!program->tval_control;
	unsigned int used = config->nr_ranges + excludes;
	unsigned int last = enc->comparators - 1;
	int ret = 0;

	if (!wanted)
		return 0;
	if (used + wanted > enc->comparators || (excludes && program->tval_control))
		return rvtrace_refuse_filters(used, wanted, enc->comparators);
	if (program->thread)
		ret = rvtrace_program_value(&enc->comp, last, program->thread,
					    rvtrace_context_control());
	if (!ret && program->tval_control)
		ret = rvtrace_program_value(&enc->comp, last - !!program->thread, program->tval,
					    program->tval_control);
	return ret;
}

/* Programs a filter: match values first, then what uses them, and the filter's Enable last. */
static int rvtrace_program_filter(struct rvtrace_encoder *enc, unsigned int i, u32 comparators)
{
	const struct rvtrace_program *program = &enc->program;
	struct rvtrace_component *comp = &enc->comp;
	u32 control = program->filter | comparators | RVTRACE_TE_FILTER_ENABLE;

	rvtrace_write(comp, RVTRACE_TE_FILTER_CONTROL(i), 0);
	if (program->filter & RVTRACE_TE_FILTER_MATCH_ECAUSE) {
		rvtrace_write(comp, RVTRACE_TE_FILTER_ECAUSE_LOW(i),
			      lower_32_bits(program->ecause));
		rvtrace_write(comp, RVTRACE_TE_FILTER_ECAUSE_HIGH(i),
			      upper_32_bits(program->ecause));
	}
	if (program->filter & RVTRACE_TE_FILTER_MATCH_IMPDEF) {
		rvtrace_write(comp, RVTRACE_TE_FILTER_VALUE_IMPDEF(i), program->impdef);
		rvtrace_write(comp, RVTRACE_TE_FILTER_MASK_IMPDEF(i), program->impdef_mask);
	}
	/* What the caller may not see depends on these two. */
	if (rvtrace_try(comp, RVTRACE_TE_FILTER_MATCH_INST(i), program->match) != program->match)
		return -EIO;
	return rvtrace_try(comp, RVTRACE_TE_FILTER_CONTROL(i), control) == control ? 0 : -EIO;
}

/*
 * rvtrace_filter_program - put an event's filters into the registers of a disabled encoder
 *
 * The comparator of the region that is left out comes after those of the ranges. Returns 0;
 * -EOPNOTSUPP, and says so, when there are fewer comparators than filters; -EIO when a register
 * does not take what it should.
 */
int rvtrace_filter_program(struct rvtrace_encoder *enc, const struct rvtrace_config *config)
{
	unsigned int filters = config->filtered ? config->nr_ranges : !!enc->program.filter, i;
	struct rvtrace_component *comp = &enc->comp;
	u32 comparators, exclude = 0;
	int ret;

	ret = rvtrace_program_values(enc, config);
	if (ret)
		return ret;
	if (config->exclude.mode == RVTRACE_MATCH_NOT_BOTH) {
		if (rvtrace_program_comparator(comp, config->nr_ranges, &config->exclude))
			return -EIO;
		exclude = RVTRACE_TE_FILTER_MATCH_COMP2 |
			  FIELD_PREP(RVTRACE_TE_FILTER_COMP2, config->nr_ranges);
		filters = max(filters, 1u);
	}
	for (i = 0; i < filters; i++) {
		comparators = exclude;
		if (i < config->nr_ranges) {
			if (rvtrace_program_comparator(comp, i, &config->ranges[i]))
				return -EIO;
			comparators |= RVTRACE_TE_FILTER_MATCH_COMP1 |
				       FIELD_PREP(RVTRACE_TE_FILTER_COMP1, i);
		}
		if (rvtrace_program_filter(enc, i, comparators))
			return -EIO;
	}
	if (rvtrace_try(comp, RVTRACE_TE_INST_FILTERS, BIT(filters) - 1) != BIT(filters) - 1)
		return -EIO;
	return 0;
}

/*
 * perf does not say which event address filters are for. When a process has opened an event with a
 * filter for threads or trap values, the driver takes its address filters for those of this event.
 * Returns how many comparators the event takes. *@excludes_no_range: the event cannot leave a range
 * out, too.
 */
static unsigned int rvtrace_filter_reserved(bool *excludes_no_range)
{
	const struct rvtrace_opener opener = rvtrace_current_opener();
	const struct rvtrace_config *config;
	unsigned int reserved = 0;

	*excludes_no_range = false;
	spin_lock_irq(&rvtrace_reserving_lock);
	list_for_each_entry(config, &rvtrace_reserving_events, reserving) {
		if (!rvtrace_same_opener(&config->opener, &opener))
			continue;
		reserved = max(reserved, config->reserved);
		*excludes_no_range |= config->excludes_no_range;
	}
	spin_unlock_irq(&rvtrace_reserving_lock);
	return reserved;
}

/* rvtrace_filter_open - an event is opened; rvtrace_filter_close() when it is closed */
void rvtrace_filter_open(struct rvtrace_config *config, const struct perf_event *event)
{
	bool tval = FIELD_GET(RVTRACE_CONFIG_TVAL_MATCH, event->attr.config);
	unsigned long flags;

	INIT_LIST_HEAD(&config->reserving);
	config->reserved = tval + !!FIELD_GET(RVTRACE_CONFIG2_THREAD, event->attr.config2);
	config->excludes_no_range = tval;
	if (event->parent || !config->reserved)
		return;
	spin_lock_irqsave(&rvtrace_reserving_lock, flags);
	list_add(&config->reserving, &rvtrace_reserving_events);
	spin_unlock_irqrestore(&rvtrace_reserving_lock, flags);
}

void rvtrace_filter_close(struct rvtrace_config *config)
{
	unsigned long flags;

	spin_lock_irqsave(&rvtrace_reserving_lock, flags);
	list_del(&config->reserving);
	spin_unlock_irqrestore(&rvtrace_reserving_lock, flags);
}

/*
 * rvtrace_filter_validate - what perf_event_open()'s user wants of address filters
 *
 * "filter A/L" traces a range; "start A" and "stop B" in turn start and stop trace; one "stop A/L"
 * leaves a range out.
 */
int rvtrace_filter_validate(struct list_head *filters)
{
	unsigned int entries = 0, starts = 0, stops = 0, excludes = 0, available = ~0u, reserved;
	const struct rvtrace_encoder *enc;
	struct perf_addr_filter *filter;
	bool excludes_no_range;
	int cpu;

	guard(rcu)();
	list_for_each_entry(filter, filters, entry) {
		entries++;
		if (filter->action == PERF_ADDR_FILTER_ACTION_START)
			starts++;
		else if (filter->action == PERF_ADDR_FILTER_ACTION_STOP && filter->size)
			excludes++;
		else if (filter->action == PERF_ADDR_FILTER_ACTION_STOP)
			stops++;
	}
	if (stops > starts || excludes > 1)
		return -EOPNOTSUPP;
	for_each_possible_cpu(cpu) {
		enc = READ_ONCE(per_cpu(rvtrace_cpus, cpu).encoder);
		if (!enc)
			continue;
		available = min(available, rvtrace_filter_count(enc));
		if (excludes && !(enc->filter_options & RVTRACE_TE_FILTER_MATCH_COMP2))
			return rvtrace_refuse(&enc->comp, "filter that leaves a range out");
	}
	reserved = rvtrace_filter_reserved(&excludes_no_range);
	return entries + reserved > available || (excludes && excludes_no_range) ?
	       rvtrace_refuse_filters(entries, reserved, available) : 0;
}

/* Pairs of "start" and "stop" are in the order in which they were given. */
static void rvtrace_sync_stop(struct rvtrace_config *config, u64 address)
{
	unsigned int i;

	for (i = 0; i < config->nr_ranges; i++) {
		if (config->ranges[i].mode == RVTRACE_MATCH_LATCH &&
		    config->ranges[i].last == ~0ull) {
			config->ranges[i].last = address;
			return;
		}
	}
}

VISIBLE_IF_KUNIT void rvtrace_sync_one(struct rvtrace_config *config,
				       const struct perf_addr_filter *filter, u64 start, u64 size)
{
	struct rvtrace_range range = { RVTRACE_MATCH_BOTH, start, start + size - 1 };

	if (filter->action == PERF_ADDR_FILTER_ACTION_STOP && filter->size) {
		range.mode = RVTRACE_MATCH_NOT_BOTH;
		config->exclude = range;
		return;
	}
	if (filter->action == PERF_ADDR_FILTER_ACTION_STOP) {
		rvtrace_sync_stop(config, start);
		return;
	}
	if (filter->action == PERF_ADDR_FILTER_ACTION_START)
		range = (struct rvtrace_range){ RVTRACE_MATCH_LATCH, start, ~0ull };
	if (config->nr_ranges < ARRAY_SIZE(config->ranges))
		config->ranges[config->nr_ranges++] = range;
}

/*
 * rvtrace_filter_sync - the addresses of an event's filters have become known, or have changed
 *
 * Files that are not mapped have no address. When that is all there is, nothing must be traced.
 */
void rvtrace_filter_sync(struct perf_event *event)
{
	struct perf_addr_filters_head *head = perf_event_addr_filters(event);
	struct rvtrace_config *config = rvtrace_event_config(event);
	const struct perf_addr_filter_range *range = event->addr_filter_ranges;
	struct perf_addr_filter *filter;

	config->nr_ranges = 0;
	config->filtered = false;
	config->exclude.mode = RVTRACE_MATCH_P;
	list_for_each_entry(filter, &head->list, entry) {
		if (filter->action != PERF_ADDR_FILTER_ACTION_STOP)
			config->filtered = true;
		if (range->start || range->size || !filter->path.dentry)
			rvtrace_sync_one(config, filter, range->start, range->size);
		range++;
	}
	if (config->filtered && !config->nr_ranges)
		config->ranges[config->nr_ranges++] = (struct rvtrace_range){ RVTRACE_MATCH_P };
	config->serial = rvtrace_new_serial();
}
