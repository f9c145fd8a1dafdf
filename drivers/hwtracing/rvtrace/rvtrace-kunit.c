// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: KUnit tests of what needs no hardware. They run when a module that was built with
 * CONFIG_RVTRACE_KUNIT_TEST is loaded. Values of registers are put together from the tables of the
 * Trace Control Interface 1.0, not from the driver's own names for their fields.
 */
#include <kunit/device.h>
#include <kunit/test.h>

#include "rvtrace-aux.h"
#include "rvtrace-encoder.h"
#include "rvtrace-path.h"
#include "rvtrace-pmu.h"
#include "rvtrace-ramsink.h"
#include "rvtrace-session.h"

/* Registers of a component that accepts every value */
#define REGISTERS_SIZE		0x1000

#define ALL_PRIVILEGES							\
	(RVTRACE_PRIVILEGE_U | RVTRACE_PRIVILEGE_S | RVTRACE_PRIVILEGE_M | \
	 RVTRACE_PRIVILEGE_VU | RVTRACE_PRIVILEGE_VS)

/* Registers are where the specification has them. */
static const struct rvtrace_platform_ops rvtrace_kunit_platform = {
	.major	= 1,
};

/* An N-Trace encoder as of the specification's examples: two modes, sync by messages or clocks */
static struct rvtrace_encoder *rvtrace_kunit_encoder(struct kunit *test)
{
	struct rvtrace_encoder *enc = kunit_kzalloc(test, sizeof(*enc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, enc);
	enc->comp.base = (void __force __iomem *)kunit_kzalloc(test, REGISTERS_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)enc->comp.base);
	enc->comp.platform = &rvtrace_kunit_platform;
	enc->formats = BIT(RVTRACE_FORMAT_NTRACE);
	enc->format = RVTRACE_FORMAT_NTRACE;
	enc->caps[RVTRACE_FORMAT_NTRACE] = (struct rvtrace_caps){
		.modes = BIT(RVTRACE_MODE_BASELINE) | BIT(RVTRACE_MODE_OPTIMIZED),
		.sync_modes = BIT(1) | BIT(2),
		.sync_max = GENMASK(15, 0),
		.return_modes = BIT(1) | BIT(3),
		.control = RVTRACE_TE_CONTROL_CONTEXT,
		.features = RVTRACE_TE_FEATURES_IMPLICIT_RETURN,
	};
	enc->filters = GENMASK(3, 0);
	enc->comparators = 2;
	enc->privilege_set = ALL_PRIVILEGES;
	enc->privilege_clear = 0xff;
	enc->filter_options = RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_PRIVILEGE;
	return enc;
}

static int rvtrace_kunit_configure(const struct rvtrace_encoder *enc, u64 config,
				   struct rvtrace_program *program)
{
	struct perf_event_attr attr = { .config = config };

	return rvtrace_encoder_configure(enc, &attr, program);
}

static void rvtrace_test_modes(struct kunit *test)
{
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);
	struct rvtrace_program program;

	KUNIT_ASSERT_EQ(test, rvtrace_kunit_configure(enc, 0, &program), 0);
	KUNIT_EXPECT_EQ(test, FIELD_GET(RVTRACE_TE_CONTROL_FORMAT, program.control), 1);
	KUNIT_EXPECT_EQ(test, FIELD_GET(RVTRACE_TE_CONTROL_INST_MODE, program.control), 6);
	/* Handshake and InstTracing are not the program's. */
	KUNIT_EXPECT_EQ(test, program.control & 0xf, 0);

	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 3 << 12, &program), 0);
	KUNIT_EXPECT_EQ(test, FIELD_GET(RVTRACE_TE_CONTROL_INST_MODE, program.control), 3);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 5 << 12, &program), -EOPNOTSUPP);

	/* Without the optimized mode the baseline is the default. */
	enc->caps[RVTRACE_FORMAT_NTRACE].modes = BIT(3);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 0, &program), 0);
	KUNIT_EXPECT_EQ(test, FIELD_GET(RVTRACE_TE_CONTROL_INST_MODE, program.control), 3);

	/* format=1 is E-Trace, which this one has not; 3 nobody has. */
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 1 << 24, &program), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 3 << 24, &program), -EOPNOTSUPP);
	enc->comp.broken = true;
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 0, &program), -EIO);
}

static void rvtrace_test_options(struct kunit *test)
{
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);
	struct rvtrace_program program;

	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, BIT(1), &program), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, BIT(17), &program), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, BIT(16), &program), -EOPNOTSUPP);
	enc->comp.ts.mode = RVTRACE_TS_MODE_EXTERNAL;
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, BIT(16), &program), 0);
	KUNIT_EXPECT_TRUE(test, program.timestamp);

	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, BIT(15), &program), 0);
	KUNIT_EXPECT_EQ(test, program.control & BIT(9), BIT(9));

	/* implicit_return: the bit, and the best of the modes 1 and 3; mode 2 this one has not. */
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, BIT(3), &program), 0);
	KUNIT_EXPECT_EQ(test, program.features, BIT(3) | 3 << 6);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, BIT(3) | 1 << 10, &program), 0);
	KUNIT_EXPECT_EQ(test, program.features, BIT(3) | 1 << 6);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, BIT(3) | 2 << 10, &program),
			-EOPNOTSUPP);
}

static void rvtrace_test_sync(struct kunit *test)
{
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);
	struct rvtrace_caps *caps = &enc->caps[RVTRACE_FORMAT_NTRACE];
	struct rvtrace_program program;

	/* By messages, every 2^(6 + 4) */
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 0, &program), 0);
	KUNIT_EXPECT_EQ(test, program.control >> 16 & 0xff, 1 | 6 << 4);
	/* The nearest period */
	caps->sync_max = BIT(2) | BIT(7) | BIT(9);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 0, &program), 0);
	KUNIT_EXPECT_EQ(test, program.control >> 16 & 0xff, 1 | 7 << 4);
	caps->sync_max = BIT(2) | BIT(4) | BIT(9);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 0, &program), 0);
	KUNIT_EXPECT_EQ(test, program.control >> 16 & 0xff, 1 | 4 << 4);
	caps->sync_max = BIT(9) | BIT(12);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 0, &program), 0);
	KUNIT_EXPECT_EQ(test, program.control >> 16 & 0xff, 1 | 9 << 4);
	/* syncmode=2,syncmax=9; syncmode=3 and syncmax=10 are not there. */
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 2 << 18 | 9 << 20, &program), 0);
	KUNIT_EXPECT_EQ(test, program.control >> 16 & 0xff, 2 | 9 << 4);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 3 << 18 | 9 << 20, &program),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, rvtrace_kunit_configure(enc, 2 << 18 | 10 << 20, &program),
			-EOPNOTSUPP);
}

/* Guests only, the host only */
static void rvtrace_test_guests(struct kunit *test)
{
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);
	struct perf_event_attr attr = {
		.config = RVTRACE_CONFIG_CONTEXT | RVTRACE_CONFIG_MACHINE, .exclude_host = 1,
	};
	struct rvtrace_program program;

	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.match, BIT(5) | BIT(6));
	attr.exclude_kernel = 1;
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.match, BIT(5));
	attr = (struct perf_event_attr){ .config = RVTRACE_CONFIG_CONTEXT, .exclude_guest = 1 };
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.match, BIT(0) | BIT(1));

	/* Nothing says what is a guest's; then E-Trace, with 2 bits for the mode, and with 3 */
	attr = (struct perf_event_attr){ .exclude_host = 1 };
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), -EOPNOTSUPP);
	enc->formats |= BIT(RVTRACE_FORMAT_ETRACE);
	enc->caps[RVTRACE_FORMAT_ETRACE] = enc->caps[RVTRACE_FORMAT_NTRACE];
	attr.config = FIELD_PREP(RVTRACE_CONFIG_FORMAT, RVTRACE_FORMAT_ETRACE + 1);
	memset(enc->discovery.values, 0, sizeof(enc->discovery.values));
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), -EOPNOTSUPP);
	memset32(enc->discovery.values, 2, ARRAY_SIZE(enc->discovery.values));
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);

	/* Filters that know no guests: such harts may have none. */
	attr.config = RVTRACE_CONFIG_CONTEXT;
	enc->privilege_set &= ~RVTRACE_PRIVILEGE_VS;
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), -EOPNOTSUPP);
	attr.exclude_host = 0;
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_FALSE(test, program.holds_guests);

	/* No filter: guests that are not wanted, or would not be told, are held back otherwise. */
	enc->privilege_clear = 0;
	enc->privilege_set = 0;
	attr.config |= RVTRACE_CONFIG_MACHINE;
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_FALSE(test, program.holds_guests);
	attr.exclude_guest = 1;
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_TRUE(test, program.holds_guests);
	attr = (struct perf_event_attr){ .config = RVTRACE_CONFIG_MACHINE };
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_TRUE(test, program.holds_guests);
}

static void rvtrace_test_privileges(struct kunit *test)
{
	const u32 filter = RVTRACE_TE_FILTER_ENABLE | RVTRACE_TE_FILTER_MATCH_PRIVILEGE;
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);
	struct perf_event_attr attr = { };
	struct rvtrace_program program;

	/* Without Ownership messages nothing would tell guests apart: U, S */
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.filter, filter);
	KUNIT_EXPECT_EQ(test, program.match, BIT(0) | BIT(1));
	/* M-mode only by name: U, S, VU, VS */
	attr.config = RVTRACE_CONFIG_CONTEXT;
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.match, BIT(0) | BIT(1) | BIT(5) | BIT(6));
	attr.config |= RVTRACE_CONFIG_MACHINE;
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.match, BIT(0) | BIT(1) | BIT(3) | BIT(5) | BIT(6));
	attr.exclude_hv = 1;
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.match, BIT(0) | BIT(1) | BIT(5) | BIT(6));

	attr = (struct perf_event_attr){ .exclude_kernel = 1, .exclude_guest = 1 };
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.match, BIT(0));

	/* The hardware always lets S-mode through: user flow cannot be traced alone. */
	enc->privilege_clear &= ~RVTRACE_PRIVILEGE_S;
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), -EOPNOTSUPP);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);

	/* No filter at all: everything, M-mode included, must be wanted. */
	enc->privilege_clear = 0;
	enc->privilege_set = 0;
	attr = (struct perf_event_attr){ };
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), -EOPNOTSUPP);
	attr.config = RVTRACE_CONFIG_MACHINE;
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.filter, 0);
}

static void rvtrace_test_causes(struct kunit *test)
{
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);
	struct perf_event_attr attr = { .config = 2 << 28, .config3 = BIT_ULL(40) | BIT(3) };
	struct rvtrace_program program;

	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), -EOPNOTSUPP);
	enc->filter_options |= RVTRACE_TE_FILTER_MATCH_ECAUSE | RVTRACE_TE_FILTER_MATCH_INTERRUPT;
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.filter, BIT(0) | BIT(1) | BIT(2) | BIT(3));
	KUNIT_EXPECT_EQ(test, program.match & BIT(8), BIT(8));
	KUNIT_EXPECT_EQ(test, program.ecause, BIT_ULL(40) | BIT(3));
	/* As many address filters as there are comparators and filters for */
	KUNIT_EXPECT_EQ(test, rvtrace_filter_count(enc), 2);
	enc->filters = BIT(0);
	KUNIT_EXPECT_EQ(test, rvtrace_filter_count(enc), 1);
}

static void rvtrace_test_values(struct kunit *test)
{
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);
	struct perf_event_attr attr = {
		.config = FIELD_PREP(RVTRACE_CONFIG_TVAL_MATCH, RVTRACE_COMP_BELOW + 1),
		.config1 = 0x123456789abcdefULL,
	};
	struct rvtrace_program program;

	enc->filter_options |= RVTRACE_TE_FILTER_MATCH_IMPDEF;
	enc->impdef_mask = 0xff;
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), -EOPNOTSUPP);
	enc->tval_functions = BIT(RVTRACE_COMP_BELOW);
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.tval, attr.config1);
	/* Inputs 2 and 2, functions 2 and 7, mode 0; the last comparator is the filter's second */
	KUNIT_EXPECT_EQ(test, program.tval_control, 2 | 2 << 2 | 2 << 4 | 7 << 8);
	KUNIT_EXPECT_EQ(test, FIELD_GET(RVTRACE_TE_FILTER_COMP2, program.filter),
			enc->comparators - 1);
	attr.config |= RVTRACE_CONFIG_TVAL_LATCH;
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), -EOPNOTSUPP);
	enc->tval_latches = BIT(RVTRACE_COMP_BELOW);
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	/* On at <, off behind >=: function 5, mode 3 */
	KUNIT_EXPECT_EQ(test, program.tval_control, 2 | 2 << 2 | 2 << 4 | 5 << 8 | 3 << 12);

	attr.config = RVTRACE_CONFIG_IMPDEF_MATCH;
	attr.config1 = 0x100ULL << 32 | 1;
	KUNIT_EXPECT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), -EOPNOTSUPP);
	attr.config1 = 0x81ULL << 32 | 1;
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &program), 0);
	KUNIT_EXPECT_EQ(test, program.impdef, 1);
	KUNIT_EXPECT_EQ(test, program.impdef_mask, 0x81);
	KUNIT_EXPECT_TRUE(test, program.filter & RVTRACE_TE_FILTER_MATCH_IMPDEF);
}

static struct rvtrace_component *rvtrace_kunit_component(struct kunit *test, size_t size,
							 enum rvtrace_type type, u32 sink_id)
{
	struct rvtrace_component *comp = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, comp);
	comp->type = type;
	comp->sink_id = sink_id;
	return comp;
}

static void rvtrace_kunit_connect(struct rvtrace_component *from, struct rvtrace_component *to,
				  unsigned int port)
{
	from->outputs[from->nr_outputs++] = (struct rvtrace_output){ to, port };
}

/* encoder -> pins; encoder -> funnel -> memory */
static void rvtrace_test_paths(struct kunit *test)
{
	struct rvtrace_component *pib, *ram, *own;
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);
	struct rvtrace_encoder *single = rvtrace_kunit_encoder(test);
	struct rvtrace_funnel *funnel;
	struct rvtrace_path *path;

	pib = rvtrace_kunit_component(test, sizeof(*pib), RVTRACE_TYPE_PIBSINK, 1);
	ram = rvtrace_kunit_component(test, sizeof(struct rvtrace_ramsink), RVTRACE_TYPE_RAMSINK,
				      2);
	own = rvtrace_kunit_component(test, sizeof(struct rvtrace_ramsink), RVTRACE_TYPE_RAMSINK,
				      3);
	funnel = to_rvtrace_funnel(rvtrace_kunit_component(test, sizeof(*funnel),
							   RVTRACE_TYPE_FUNNEL, 0));
	rvtrace_kunit_connect(&enc->comp, pib, 0);
	rvtrace_kunit_connect(&enc->comp, &funnel->comp, 4);
	rvtrace_kunit_connect(&funnel->comp, ram, 0);
	rvtrace_kunit_connect(&single->comp, own, 0);

	/* What can be read comes first, however the connections are ordered. */
	KUNIT_ASSERT_EQ(test, rvtrace_paths_find(enc), 0);
	KUNIT_ASSERT_EQ(test, enc->nr_paths, 2);
	path = rvtrace_encoder_path(enc, 0);
	KUNIT_ASSERT_NOT_NULL(test, path);
	KUNIT_EXPECT_PTR_EQ(test, path->sink, ram);
	KUNIT_EXPECT_EQ(test, path->nr_hops, 2);
	KUNIT_EXPECT_EQ(test, path->ports[0], 4);
	KUNIT_EXPECT_PTR_EQ(test, rvtrace_encoder_path(enc, 1)->sink, pib);
	KUNIT_EXPECT_NULL(test, rvtrace_encoder_path(enc, 3));
	KUNIT_EXPECT_TRUE(test, enc->shares);
	KUNIT_EXPECT_FALSE(test, rvtrace_path_is_exclusive(path));
	/* Others feed what is behind a funnel. */
	KUNIT_EXPECT_TRUE(test, cpumask_test_cpu(enc->cpu, &pib->near));
	KUNIT_EXPECT_TRUE(test, cpumask_empty(&funnel->comp.near));
	KUNIT_EXPECT_TRUE(test, cpumask_empty(&ram->near));

	KUNIT_ASSERT_EQ(test, rvtrace_paths_find(single), 0);
	KUNIT_EXPECT_FALSE(test, single->shares);
	KUNIT_EXPECT_TRUE(test, rvtrace_path_is_exclusive(rvtrace_encoder_path(single, 0)));

	/* Somebody uses the funnel: what goes to the pins would come out there, too. */
	funnel->comp.users = 1;
	funnel->open = BIT(4);
	KUNIT_EXPECT_TRUE(test, rvtrace_path_conflict(enc, rvtrace_encoder_path(enc, 1)));
	KUNIT_EXPECT_FALSE(test, rvtrace_path_conflict(enc, path));
	funnel->open = 0;
	KUNIT_EXPECT_FALSE(test, rvtrace_path_conflict(enc, rvtrace_encoder_path(enc, 1)));
	KUNIT_EXPECT_TRUE(test, rvtrace_path_conflict(enc, path));
}

static struct rvtrace_encoder *rvtrace_kunit_connected(struct kunit *test, int cpu,
						       struct rvtrace_component *first,
						       struct rvtrace_component *second)
{
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);

	enc->cpu = cpu;
	rvtrace_kunit_connect(&enc->comp, first, cpu);
	if (second)
		rvtrace_kunit_connect(&enc->comp, second, cpu);
	KUNIT_ASSERT_EQ(test, rvtrace_paths_find(enc), 0);
	return enc;
}

static bool rvtrace_kunit_share_lock(const struct rvtrace_encoder *a,
				     const struct rvtrace_encoder *b)
{
	const struct rvtrace_path *p = &a->paths[0], *q = &b->paths[0];
	unsigned int i, j;

	for (i = 0; i < p->nr_locks; i++)
		for (j = 0; j < q->nr_locks; j++)
			if (p->locks[i] == q->locks[j])
				return true;
	return false;
}

/* Two clusters with a funnel and a sink each, and an encoder that reaches both of them */
static void rvtrace_test_locks(struct kunit *test)
{
	struct rvtrace_component *funnels[2], *sinks[2];
	struct rvtrace_encoder *a, *b, *c, *both;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		sinks[i] = rvtrace_kunit_component(test, sizeof(struct rvtrace_ramsink),
						   RVTRACE_TYPE_RAMSINK, i + 1);
		funnels[i] = rvtrace_kunit_component(test, sizeof(struct rvtrace_funnel),
						     RVTRACE_TYPE_FUNNEL, 0);
		rvtrace_kunit_connect(funnels[i], sinks[i], 0);
	}
	a = rvtrace_kunit_connected(test, 0, funnels[0], NULL);
	b = rvtrace_kunit_connected(test, 1, funnels[0], NULL);
	c = rvtrace_kunit_connected(test, 2, funnels[1], NULL);
	both = rvtrace_kunit_connected(test, 3, funnels[1], funnels[0]);
	KUNIT_EXPECT_TRUE(test, rvtrace_kunit_share_lock(a, b));
	KUNIT_EXPECT_FALSE(test, rvtrace_kunit_share_lock(a, c));
	KUNIT_EXPECT_TRUE(test, rvtrace_kunit_share_lock(a, both));
	KUNIT_EXPECT_TRUE(test, rvtrace_kunit_share_lock(c, both));
	/* Everybody takes them in the same order. */
	KUNIT_ASSERT_EQ(test, both->paths[0].nr_locks, 2);
	KUNIT_EXPECT_TRUE(test, both->paths[0].locks[0] < both->paths[0].locks[1]);
	KUNIT_EXPECT_PTR_EQ(test, both->paths[1].locks[0], both->paths[0].locks[0]);
}

/* Two pieces of memory, and one with a hole after each page */
static void rvtrace_test_segments(struct kunit *test)
{
	struct rvtrace_aux *aux = kunit_kzalloc(test, struct_size(aux, sinks, 0), GFP_KERNEL);
	void *pages[64];
	int i;

	KUNIT_ASSERT_NOT_NULL(test, aux);
	for (i = 0; i < 64; i++)
		pages[i] = (void *)(0x40000000ul + i * PAGE_SIZE + (i < 32 ? 0x1000000 : 0));
	aux->size = 64 * PAGE_SIZE;
	rvtrace_aux_find_segments(aux, pages, 64);
	KUNIT_ASSERT_EQ(test, aux->nr_segments, 2);
	KUNIT_EXPECT_EQ(test, aux->segments[0].end, 32 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, aux->segments[1].start, 32 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, aux->segments[1].end, 64 * PAGE_SIZE);
	KUNIT_EXPECT_PTR_EQ(test, aux->segments[1].addr, pages[32]);
	KUNIT_EXPECT_EQ(test, aux->reserve, 4 * PAGE_SIZE);

	for (i = 0; i < 64; i++)
		pages[i] = (void *)(0x40000000ul + 2 * i * PAGE_SIZE);
	aux->nr_segments = 0;
	rvtrace_aux_find_segments(aux, pages, 64);
	KUNIT_EXPECT_EQ(test, aux->nr_segments, 0);
}

static void rvtrace_test_version(struct kunit *test)
{
	struct device *dev = kunit_device_register(test, "rvtrace-kunit");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	/* Major is in bits 3:0, minor in 7:4: 1.0, newer 1.x, and 1.15 for experiments */
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 1, 0x01), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 1, 0x11), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 1, 0xf1), 0);
	/* From before ratification; another major version, whatever its minor */
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 1, 0x00), -ENODEV);
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 1, 0x10), -ENODEV);
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 1, 0x02), -ENODEV);
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 1, 0xf2), -ENODEV);
	/* Where the compatible says so, it is the one from before ratification that is known. */
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 0, 0xf0), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 0, 0x01), -ENODEV);
	/* What is above is not the version's. */
	KUNIT_EXPECT_EQ(test, rvtrace_check_version(dev, 1, 0xabcdef01), 0);
}

/*
 * Registers from before ratification: Control, impl at 4 with the source's id in 23:20 and its
 * width in 26:24, timestamp control at 0x40
 */
static void rvtrace_test_v0(struct kunit *test)
{
	const u32 wanted = RVTRACE_CONTROL_ACTIVE |
			   FIELD_PREP(RVTRACE_TE_CONTROL_INST_MODE, RVTRACE_MODE_OPTIMIZED) |
			   FIELD_PREP(RVTRACE_TE_CONTROL_FORMAT, RVTRACE_FORMAT_NTRACE) |
			   FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MODE, 1) |
			   FIELD_PREP(RVTRACE_TE_CONTROL_INST_SYNC_MAX, 6);
	const struct rvtrace_platform_ops *ops = &rvtrace_v0_encoder_ops;
	struct rvtrace_component *comp = &rvtrace_kunit_encoder(test)->comp;
	u32 *registers = (__force u32 *)comp->base;

	comp->type = RVTRACE_TYPE_ENCODER;
	comp->dev.parent = kunit_device_register(test, "rvtrace-kunit-v0");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, comp->dev.parent);
	KUNIT_ASSERT_EQ(test, ops->attach(comp), 0);

	/* 2^10 messages: 6 + 4 there, 5 + 5 here; no period of instructions; a funnel is fed. */
	ops->write(comp, RVTRACE_CONTROL, wanted);
	KUNIT_EXPECT_EQ(test, registers[0], 0x80f51061);
	/* The width of a slice is read-only. */
	registers[0] |= BIT(24);
	KUNIT_EXPECT_EQ(test, ops->read(comp, RVTRACE_CONTROL),
			wanted | RVTRACE_TE_CONTROL_INST_STALL_OR_OVERFLOW);
	/* Counted returns are another mode. */
	ops->write(comp, RVTRACE_TE_INST_FEATURES, RVTRACE_TE_FEATURES_IMPLICIT_RETURN);
	KUNIT_EXPECT_EQ(test, registers[0] & 0x70, 0x70);
	/* An overflow is forgotten by writing 0, a sink's error by writing 1, when trace starts. */
	ops->write(comp, RVTRACE_CONTROL, wanted | RVTRACE_CONTROL_ENABLE);
	KUNIT_EXPECT_EQ(test, registers[0] & (BIT(27) | BIT(12) | 0x73), BIT(27) | 0x73);
	ops->write(comp, RVTRACE_CONTROL,
		   wanted | RVTRACE_CONTROL_ENABLE | RVTRACE_TE_CONTROL_INST_TRACING);
	KUNIT_EXPECT_EQ(test, registers[0] & (BIT(27) | BIT(12) | 0x77), BIT(12) | 0x77);

	registers[1] = 3 << 20 | 2 << 24 | BIT(8);
	KUNIT_EXPECT_EQ(test, ops->read(comp, RVTRACE_TE_INST_FEATURES) >> 16, 0x2003);
	KUNIT_EXPECT_EQ(test, FIELD_GET(RVTRACE_IMPL_TYPE, ops->read(comp, RVTRACE_IMPL)),
			RVTRACE_TYPE_ENCODER);
	/* All messages are stamped. */
	ops->write(comp, RVTRACE_TS_CONTROL, RVTRACE_TS_CONTROL_ENABLE);
	KUNIT_EXPECT_EQ(test, registers[0x40 / 4], 0x38000);
	/* There are no filters. */
	ops->write(comp, RVTRACE_TE_FILTER_CONTROL(0), 1);
	KUNIT_EXPECT_EQ(test, ops->read(comp, RVTRACE_TE_FILTER_CONTROL(0)), 0);
	KUNIT_EXPECT_EQ(test, registers[0x400 / 4], 0);
}

/* trTeInstFeatures: SrcID in bits 27:16, SrcBits in 31:28 */
static void rvtrace_test_src(struct kunit *test)
{
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);
	u32 features;

	enc->shares = true;
	enc->cpu = 1;
	KUNIT_ASSERT_EQ(test, rvtrace_probe_src(enc), 0);
	features = rvtrace_read(&enc->comp, 0x008);
	KUNIT_EXPECT_EQ(test, features >> 16 & 0xfff, 1);
	KUNIT_EXPECT_EQ(test, enc->src_id, 1);
	KUNIT_EXPECT_EQ(test, features >> 28, enc->src_bits);
	/* Every hart has one of its own. */
	KUNIT_EXPECT_GE(test, 1u << enc->src_bits, nr_cpu_ids);

	/* One that does not fit would be somebody else's. */
	enc->cpu = 1 << enc->src_bits;
	KUNIT_EXPECT_EQ(test, rvtrace_probe_src(enc), -ENODEV);

	/* An encoder that shares no sink needs no SRC. */
	enc->shares = false;
	enc->cpu = 1;
	KUNIT_EXPECT_EQ(test, rvtrace_probe_src(enc), 0);
	KUNIT_EXPECT_EQ(test, enc->src_bits, 0);
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, 0x008), 0);
}

/* One "start" with its "stop", a range, and a region that is left out */
static void rvtrace_test_ranges(struct kunit *test)
{
	struct perf_addr_filter filter = { .action = PERF_ADDR_FILTER_ACTION_START };
	struct rvtrace_config *config = kunit_kzalloc(test, sizeof(*config), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, config);
	rvtrace_sync_one(config, &filter, 0x1000, 0);
	rvtrace_sync_one(config, &filter, 0x3000, 0);
	KUNIT_ASSERT_EQ(test, config->nr_ranges, 2);
	/* Until there is a "stop": all that follows */
	KUNIT_EXPECT_EQ(test, config->ranges[0].last, ~0ull);
	filter.action = PERF_ADDR_FILTER_ACTION_STOP;
	rvtrace_sync_one(config, &filter, 0x2000, 0);
	rvtrace_sync_one(config, &filter, 0x4000, 0);
	KUNIT_EXPECT_EQ(test, config->nr_ranges, 2);
	KUNIT_EXPECT_EQ(test, config->ranges[0].mode, 3);
	KUNIT_EXPECT_EQ(test, config->ranges[0].first, 0x1000);
	KUNIT_EXPECT_EQ(test, config->ranges[0].last, 0x2000);
	KUNIT_EXPECT_EQ(test, config->ranges[1].first, 0x3000);
	KUNIT_EXPECT_EQ(test, config->ranges[1].last, 0x4000);

	filter.action = PERF_ADDR_FILTER_ACTION_FILTER;
	filter.size = 0x100;
	rvtrace_sync_one(config, &filter, 0x5000, 0x100);
	KUNIT_ASSERT_EQ(test, config->nr_ranges, 3);
	KUNIT_EXPECT_EQ(test, config->ranges[2].mode, 1);
	KUNIT_EXPECT_EQ(test, config->ranges[2].first, 0x5000);
	KUNIT_EXPECT_EQ(test, config->ranges[2].last, 0x50ff);

	filter.action = PERF_ADDR_FILTER_ACTION_STOP;
	rvtrace_sync_one(config, &filter, 0x6000, 0x100);
	KUNIT_EXPECT_EQ(test, config->nr_ranges, 3);
	KUNIT_EXPECT_EQ(test, config->exclude.mode, 2);
	KUNIT_EXPECT_EQ(test, config->exclude.first, 0x6000);
	KUNIT_EXPECT_EQ(test, config->exclude.last, 0x60ff);
}

static void rvtrace_kunit_expect_comparator(struct kunit *test, struct rvtrace_encoder *enc,
					    unsigned int j, u32 control, u64 primary, u64 secondary)
{
	u32 base = 0x600 + 0x20 * j;

	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, base), control);
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, base + 0x10), lower_32_bits(primary));
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, base + 0x14), upper_32_bits(primary));
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, base + 0x18), lower_32_bits(secondary));
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, base + 0x1c), upper_32_bits(secondary));
}

/*
 * A range, a pair of start and stop, a region that is left out, and one thread. trTeFilterControl:
 * Enable 0, MatchPrivilege 1, MatchComp1 4, Comp1 7:5, MatchComp2 8, Comp2 11:9, MatchComp3 12,
 * Comp3 15:13. trTeCompControl: PInput 1:0, PFunction 6:4, SFunction 10:8, MatchMode 13:12.
 */
static void rvtrace_test_comparators(struct kunit *test)
{
	const u32 common = 1 << 0 | 1 << 1 | 1 << 8 | 2 << 9 | 1 << 12 | 3 << 13;
	struct perf_event_attr attr = {
		.exclude_kernel = 1, .exclude_guest = 1, .config2 = 1234ull << 32,
	};
	struct rvtrace_config *config = kunit_kzalloc(test, sizeof(*config), GFP_KERNEL);
	struct rvtrace_encoder *enc = rvtrace_kunit_encoder(test);

	KUNIT_ASSERT_NOT_NULL(test, config);
	enc->comparators = 4;
	enc->context_filter = true;
	enc->filter_options |= RVTRACE_TE_FILTER_MATCH_COMP1 | RVTRACE_TE_FILTER_MATCH_COMP2 |
			       RVTRACE_TE_FILTER_MATCH_COMP3;
	KUNIT_ASSERT_EQ(test, rvtrace_encoder_configure(enc, &attr, &enc->program), 0);
	config->filtered = true;
	config->nr_ranges = 2;
	config->ranges[0] = (struct rvtrace_range){ RVTRACE_MATCH_BOTH, 0x123456789a,
						    0x12345678ff };
	config->ranges[1] = (struct rvtrace_range){ RVTRACE_MATCH_LATCH, 0x1000, 0x2000 };
	config->exclude = (struct rvtrace_range){ RVTRACE_MATCH_NOT_BOTH, 0x3000, 0x3fff };
	KUNIT_ASSERT_EQ(test, rvtrace_filter_program(enc, config), 0);

	/* One filter for each of the first two; all must match the third and the fourth. */
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, 0x00c), 3);
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, 0x400), common | 1 << 4 | 0 << 5);
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, 0x420), common | 1 << 4 | 1 << 5);
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, 0x440), 0);
	/* User mode only */
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, 0x404), BIT(0));
	KUNIT_EXPECT_EQ(test, rvtrace_read(&enc->comp, 0x424), BIT(0));
	/* Not below and not above, both; equal and equal, latched; not both; scontext equal */
	rvtrace_kunit_expect_comparator(test, enc, 0, 5 << 4 | 3 << 8 | 1 << 12, 0x123456789a,
					0x12345678ff);
	rvtrace_kunit_expect_comparator(test, enc, 1, 3 << 12, 0x1000, 0x2000);
	rvtrace_kunit_expect_comparator(test, enc, 2, 5 << 4 | 3 << 8 | 2 << 12, 0x3000, 0x3fff);
	/* The secondary value of the thread is not looked at: SFunction 7 is "always". */
	rvtrace_kunit_expect_comparator(test, enc, 3, 1 << 0 | 7 << 8, 1234, 1234);

	/* No comparator is left for the thread. */
	config->nr_ranges = 3;
	config->ranges[2] = config->ranges[0];
	KUNIT_EXPECT_EQ(test, rvtrace_filter_program(enc, config), -EOPNOTSUPP);
}

/* What trRamLimit says of the unit in which the sink writes */
static void rvtrace_test_limit(struct kunit *test)
{
	const u64 start = 0x180000000, end = start + 0x10000;

	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_unit(start, end, end - 4, 4), 4);
	/* Low bits that are wired to 0 */
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_unit(start, end, end - 64, 4), 64);
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_unit(start, end, end - 16, 16), 16);
	/* No size that there is, a smaller one than firmware says, and one above the largest */
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_unit(start, end, end - 12, 4), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_unit(start, end, end - 8, 16), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_unit(start, end, end - 128, 4), 0);
	/* Not the range that was asked for at all: outside of it, or upper bits that are missing */
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_unit(start, end, end, 4), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_unit(start, end, lower_32_bits(end) - 4, 4), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_unit(start, end, start, 4), 0);
}

static void rvtrace_kunit_expect_position(struct kunit *test, struct rvtrace_ramsink *sink, u32 wp,
					  size_t expected, bool wrapped)
{
	size_t fill;
	bool wrap;

	KUNIT_ASSERT_TRUE(test, rvtrace_ramsink_position(sink, wp, &fill, &wrap));
	KUNIT_EXPECT_EQ(test, fill, expected);
	KUNIT_EXPECT_EQ(test, wrap, wrapped);
}

/*
 * trRamControl: Enable 1, Mode 4, StopOnWrap 8. A sink that stops when it is full would stall a
 * hart for ever whose encoder stalls.
 */
static void rvtrace_test_stall(struct kunit *test)
{
	struct rvtrace_ramsink *sink = kunit_kzalloc(test, sizeof(*sink), GFP_KERNEL);
	struct rvtrace_config *config = kunit_kzalloc(test, sizeof(*config), GFP_KERNEL);
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct rvtrace_cpu *rc = kunit_kzalloc(test, sizeof(*rc), GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, sink && config && event && rc);
	rc->aux = kunit_kzalloc(test, struct_size(rc->aux, sinks, 0), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rc->aux);
	sink->comp.base = rvtrace_kunit_encoder(test)->comp.base;
	sink->comp.platform = &rvtrace_kunit_platform;
	sink->smem = true;
	sink->stop_on_wrap = true;
	sink->vaddr = kunit_kzalloc(test, SZ_4K, GFP_KERNEL);
	sink->start = 0x80000000;
	sink->alloc = SZ_4K;
	event->pmu_private = config;
	rc->event = event;

	KUNIT_ASSERT_EQ(test, rvtrace_ramsink_ops.enable(&sink->comp, rc), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_read(&sink->comp, 0) & 0x112, 0x112);
	rvtrace_write(&sink->comp, 0, BIT(0));
	config->stall = true;
	KUNIT_ASSERT_EQ(test, rvtrace_ramsink_ops.enable(&sink->comp, rc), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_read(&sink->comp, 0) & 0x112, 0x012);
	rvtrace_write(&sink->comp, 0, BIT(0));
	config->stall = false;
	rc->aux->overwrite = true;
	KUNIT_ASSERT_EQ(test, rvtrace_ramsink_ops.enable(&sink->comp, rc), 0);
	KUNIT_EXPECT_EQ(test, rvtrace_read(&sink->comp, 0) & 0x112, 0x012);
}

/* What trRamWP says: Wrap is bit 0, and the buffer may lie above 4 GiB. */
static void rvtrace_test_position(struct kunit *test)
{
	struct rvtrace_ramsink *sink = kunit_kzalloc(test, sizeof(*sink), GFP_KERNEL);
	size_t fill;
	bool wrap;

	KUNIT_ASSERT_NOT_NULL(test, sink);
	sink->base = 0x1fffff000;
	sink->length = 0x4000;
	sink->from = 0x800;
	/* Nothing yet; behind the carry into the upper half */
	rvtrace_kunit_expect_position(test, sink, 0xfffff800, 0x800, false);
	rvtrace_kunit_expect_position(test, sink, 0x00001000, 0x2000, false);
	/* Full: at Start with Wrap, or behind Limit without it */
	rvtrace_kunit_expect_position(test, sink, 0xfffff001, 0, true);
	rvtrace_kunit_expect_position(test, sink, 0x00003000, 0, true);
	/* Round and on, to before where it began */
	rvtrace_kunit_expect_position(test, sink, 0xfffff401, 0x400, true);
	/* Before where it began without having gone round; outside */
	KUNIT_EXPECT_FALSE(test, rvtrace_ramsink_position(sink, 0xfffff400, &fill, &wrap));
	KUNIT_EXPECT_FALSE(test, rvtrace_ramsink_position(sink, 0x00003004, &fill, &wrap));
	KUNIT_EXPECT_FALSE(test, rvtrace_ramsink_position(sink, 0x7ffff001, &fill, &wrap));
}

/* How much trace is new: from is at 0x800 of 0x4000. */
static void rvtrace_test_written(struct kunit *test)
{
	struct rvtrace_ramsink *sink = kunit_kzalloc(test, sizeof(*sink), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sink);
	sink->length = 0x4000;
	sink->from = 0x800;
	sink->size = 0x3800;
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_written(sink, 0x2000, false, true, false), 0x1800);
	/* Stopped when it was full */
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_written(sink, 0, true, true, false), 0x3800);
	/* Round, and not back to where it began */
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_written(sink, 0x400, true, false, false), 0x3c00);
	/* Round at least once more, though it is at the same place */
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_written(sink, 0x400, true, false, true), 0x7c00);
	/* All of it, without that: so much that nothing older is left */
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_written(sink, 0x800, true, false, true), 0x4000);
	KUNIT_EXPECT_EQ(test, rvtrace_ramsink_written(sink, 0x2000, true, false, true), 0x5800);
}

/* Rates are in bytes per 2^20 ns. */
static void rvtrace_test_rate(struct kunit *test)
{
	const u64 ms = NSEC_PER_MSEC;
	u64 rate = 0;
	int looks;

	/* What is measured counts at once, and is forgotten by quarters. */
	KUNIT_EXPECT_EQ(test, rvtrace_rate_after(0, 4096, 1 << 20), 4096);
	KUNIT_EXPECT_EQ(test, rvtrace_rate_after(0, 4096, 1 << 21), 2048);
	KUNIT_EXPECT_EQ(test, rvtrace_rate_after(4096, 0, 1 << 20), 3072);
	KUNIT_EXPECT_EQ(test, rvtrace_rate_after(4096, 3500, 1 << 20), 3500);
	/* A clock that did not move is no division by 0. */
	KUNIT_EXPECT_EQ(test, rvtrace_rate_after(0, 1, 0), 1 << 20);

	/* The fastest trace needs no more than half of 256 KiB in a look of 500 us. */
	KUNIT_EXPECT_GE(test, rvtrace_rate_expected(~0ull / 16), 250 << 10);
	KUNIT_EXPECT_EQ(test, rvtrace_poll_delay(128 << 10, 256 << 10), 1 << 19);
	/* No room: as soon as may be; much of it: not for ever */
	KUNIT_EXPECT_EQ(test, rvtrace_poll_delay(0, 1), 100 * NSEC_PER_USEC);
	KUNIT_EXPECT_EQ(test, rvtrace_poll_delay(1 << 30, rvtrace_rate_expected(0)), 10 * ms);

	/* A trace that speeds up eightfold between two looks fits, at every speed. */
	for (looks = 0; looks < 12; looks++) {
		u64 expected = rvtrace_rate_expected(rate);
		u64 next = min(max(rate * 8, 2048), 256 << 10);
		u64 delay = rvtrace_poll_delay(32 << 10, expected);

		KUNIT_EXPECT_LE(test, next * delay >> 20, 32 << 10);
		rate = rvtrace_rate_after(rate, next * delay >> 20, delay);
	}
	/* By then it is known to be fast; the measurement is rounded down. */
	KUNIT_EXPECT_GE(test, rate, 255 << 10);
}

/* Copies are short, however large the buffer: at the fastest rate (256 MB/s) 50 us at 1.3 GB/s */
static void rvtrace_test_copies(struct kunit *test)
{
	struct rvtrace_ramsink *sink = kunit_kzalloc(test, sizeof(*sink), GFP_KERNEL);
	u64 delay;

	KUNIT_ASSERT_NOT_NULL(test, sink);
	sink->size = SZ_4M;
	sink->smem = true;
	delay = rvtrace_poll_delay(rvtrace_drain_size(sink) / 2, 256 << 10);
	KUNIT_EXPECT_LE(test, (256 << 10) * delay >> 20, 64 << 10);
	/* Nothing is copied: as seldom as may be. */
	sink->direct = true;
	KUNIT_EXPECT_EQ(test, rvtrace_drain_size(sink), SZ_4M);
	/* A small buffer */
	sink->direct = false;
	sink->size = SZ_1K;
	KUNIT_EXPECT_EQ(test, rvtrace_drain_size(sink), SZ_1K);
}

/* Microseconds that a wait of @timeout_us takes when no answer comes; the shortest of some */
static u64 rvtrace_kunit_wait(struct kunit *test, struct rvtrace_component *comp, u32 timeout_us)
{
	u64 best = U64_MAX, start;
	int i, ret;

	for (i = 0; i < 5; i++) {
		start = ktime_get_ns();
		ret = rvtrace_wait_quietly(comp, BIT(0), BIT(0), timeout_us);
		best = min(best, ktime_get_ns() - start);
		KUNIT_ASSERT_EQ(test, ret, -ETIMEDOUT);
	}
	return best / NSEC_PER_USEC;
}

/* A component of CoreSight with this DEVID */
static void rvtrace_kunit_coresight(struct kunit *test, struct rvtrace_component *comp,
				    const struct rvtrace_platform_ops *ops, u32 devid)
{
	comp->base = (void __force __iomem *)kunit_kzalloc(test, REGISTERS_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)comp->base);
	comp->platform = ops;
	comp->dev.parent = kunit_device_register(test, "rvtrace-kunit-coresight");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, comp->dev.parent);
	writel_relaxed(devid, comp->base + 0xfc8);
}

/* The last of equal keys counts, and a key is not the beginning of another. */
static void rvtrace_test_params(struct kunit *test)
{
	static const char text[] = "mode = btm\nsrc_bits = 12\nnonsense\nmode =htm\nmodes = x\n";
	char params[sizeof(text)];

	memcpy(params, text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, rvtrace_params_value(params, "mode"), "htm");
	memcpy(params, text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, rvtrace_params_value(params, "src_bits"), "12");
	memcpy(params, text, sizeof(text));
	KUNIT_EXPECT_NULL(test, rvtrace_params_value(params, "dialect"));
}

static void rvtrace_test_csfunnel(struct kunit *test)
{
	const struct rvtrace_platform_ops *ops = &rvtrace_csfunnel_ops;
	struct rvtrace_component *comp = &rvtrace_kunit_encoder(test)->comp;
	u32 *registers;

	rvtrace_kunit_coresight(test, comp, ops, 4);
	registers = (__force u32 *)comp->base;
	KUNIT_ASSERT_EQ(test, ops->attach(comp), 0);
	/* It has four inputs, and so many can be closed. */
	ops->write(comp, RVTRACE_CONTROL, 1);
	ops->write(comp, RVTRACE_FUNNEL_DIS_INPUT, 0xffff);
	KUNIT_EXPECT_EQ(test, ops->read(comp, RVTRACE_FUNNEL_DIS_INPUT), 0xf);
	ops->write(comp, RVTRACE_FUNNEL_DIS_INPUT, 0x2);
	KUNIT_EXPECT_EQ(test, ops->read(comp, RVTRACE_CONTROL), 0x9);
	ops->write(comp, RVTRACE_CONTROL, 3);
	KUNIT_EXPECT_EQ(test, registers[0] & 0xff, 0xd);
	KUNIT_EXPECT_EQ(test, ops->read(comp, RVTRACE_CONTROL), 0x3);
	KUNIT_EXPECT_EQ(test, registers[0xfb0 / 4], 0xc5acce55);
	ops->write(comp, RVTRACE_CONTROL, 1);
	KUNIT_EXPECT_EQ(test, registers[0] & 0xff, 0);
}

/* A TMC with a memory of 256 bits: 2^5 bytes */
static void rvtrace_test_etr(struct kunit *test)
{
	const struct rvtrace_platform_ops *ops = &rvtrace_etr_ops;
	struct rvtrace_ramsink *sink;
	u32 *registers;

	sink = kunit_kzalloc(test, sizeof(*sink), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sink);
	rvtrace_kunit_coresight(test, &sink->comp, ops, 2 << 6 | 5 << 8);
	registers = (__force u32 *)sink->comp.base;
	KUNIT_EXPECT_EQ(test, ops->attach(&sink->comp), -ENODEV);
	registers[0xfc8 / 4] = 1 << 6 | 5 << 8;
	KUNIT_ASSERT_EQ(test, ops->attach(&sink->comp), 0);
	KUNIT_EXPECT_EQ(test, sink->access, 32);
	KUNIT_EXPECT_TRUE(test, sink->no_direct);

	/* It is active when it is ready, and does not stop when it is full. */
	ops->write(&sink->comp, RVTRACE_CONTROL, 1);
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_CONTROL), 0);
	registers[0x0c / 4] = BIT(2);
	ops->write(&sink->comp, RVTRACE_CONTROL, 1 | BIT(4) | BIT(8));
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_CONTROL), 0x19);

	/* A buffer of 64 KiB at 4 GiB - 4 KiB, whose last unit is above 4 GiB */
	ops->write(&sink->comp, RVTRACE_RAM_START_HIGH, 0);
	ops->write(&sink->comp, RVTRACE_RAM_START_LOW, 0xfffff000);
	ops->write(&sink->comp, RVTRACE_RAM_LIMIT_HIGH, 1);
	ops->write(&sink->comp, RVTRACE_RAM_LIMIT_LOW, 0xefe0);
	KUNIT_EXPECT_EQ(test, registers[0x118 / 4], 0xfffff000);
	KUNIT_EXPECT_EQ(test, registers[0x04 / 4], SZ_64K / 4);
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_RAM_LIMIT_HIGH), 1);
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_RAM_LIMIT_LOW), 0xefe0);

	/* Circular, bursts of 16, pages in a row, the formatter on, pointers at the base */
	ops->write(&sink->comp, RVTRACE_CONTROL, 3 | BIT(4));
	KUNIT_EXPECT_EQ(test, registers[0x20 / 4], 1);
	KUNIT_EXPECT_EQ(test, registers[0x28 / 4], 0);
	KUNIT_EXPECT_EQ(test, registers[0x110 / 4] & 0xf83, 0xf02);
	KUNIT_EXPECT_EQ(test, registers[0x304 / 4], 3);
	KUNIT_EXPECT_EQ(test, registers[0x18 / 4], 0xfffff000);
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_CONTROL), 0x13);
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_RAM_WP_LOW), 0xfffff000);

	/* It is enabled until it has flushed and is ready, and can be read then. */
	ops->write(&sink->comp, RVTRACE_CONTROL, 1 | BIT(4));
	KUNIT_EXPECT_EQ(test, registers[0x304 / 4], 3 | BIT(6) | BIT(12));
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_CONTROL), 0x13);
	registers[0x304 / 4] = 3 | BIT(12);
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_CONTROL), 0x13);
	registers[0x0c / 4] = BIT(2) | BIT(0);
	registers[0x18 / 4] = 0xfffff400;
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_CONTROL), 0x19);
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_RAM_WP_LOW), 0xfffff401);
	/* After an error of the bus nobody knows what was written. */
	registers[0x0c / 4] |= BIT(5);
	KUNIT_EXPECT_EQ(test, ops->read(&sink->comp, RVTRACE_RAM_WP_LOW), 0xffffeff0);
	/* Settings are written while it is disabled. */
	ops->write(&sink->comp, RVTRACE_CONTROL, 1 | BIT(4));
	KUNIT_EXPECT_EQ(test, registers[0x20 / 4], 0);
}

/* A timeout is what it says, however long one read takes. */
static void rvtrace_test_timeout(struct kunit *test)
{
	struct rvtrace_component *comp = &rvtrace_kunit_encoder(test)->comp;
	u64 us;

	us = rvtrace_kunit_wait(test, comp, 100);
	KUNIT_EXPECT_GE(test, us, 100);
	KUNIT_EXPECT_LE(test, us, 1000);
	us = rvtrace_kunit_wait(test, comp, 5000);
	KUNIT_EXPECT_GE(test, us, 5000);
	KUNIT_EXPECT_LE(test, us, 10000);
	/* Active is there already. */
	rvtrace_write(comp, 0, BIT(0));
	KUNIT_EXPECT_EQ(test, rvtrace_wait_quietly(comp, BIT(0), BIT(0), 0), 0);
}

static struct kunit_case rvtrace_kunit_cases[] = {
	KUNIT_CASE(rvtrace_test_modes),
	KUNIT_CASE(rvtrace_test_options),
	KUNIT_CASE(rvtrace_test_sync),
	KUNIT_CASE(rvtrace_test_privileges),
	KUNIT_CASE(rvtrace_test_guests),
	KUNIT_CASE(rvtrace_test_causes),
	KUNIT_CASE(rvtrace_test_values),
	KUNIT_CASE(rvtrace_test_paths),
	KUNIT_CASE(rvtrace_test_segments),
	KUNIT_CASE(rvtrace_test_version),
	KUNIT_CASE(rvtrace_test_v0),
	KUNIT_CASE(rvtrace_test_src),
	KUNIT_CASE(rvtrace_test_ranges),
	KUNIT_CASE(rvtrace_test_comparators),
	KUNIT_CASE(rvtrace_test_limit),
	KUNIT_CASE(rvtrace_test_position),
	KUNIT_CASE(rvtrace_test_written),
	KUNIT_CASE(rvtrace_test_rate),
	KUNIT_CASE(rvtrace_test_params),
	KUNIT_CASE(rvtrace_test_csfunnel),
	KUNIT_CASE(rvtrace_test_etr),
	KUNIT_CASE(rvtrace_test_timeout),
	KUNIT_CASE(rvtrace_test_locks),
	KUNIT_CASE(rvtrace_test_stall),
	KUNIT_CASE(rvtrace_test_copies),
	{ }
};

static struct kunit_suite rvtrace_kunit_suite = {
	.name = "rvtrace",
	.test_cases = rvtrace_kunit_cases,
};

kunit_test_suite(rvtrace_kunit_suite);
