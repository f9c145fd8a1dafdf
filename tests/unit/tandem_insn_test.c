// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The two sources of the golden model, Unicorn and the library's interpreter, execute every
 * unprivileged instruction of RV64GC with random operands. They must agree, but where
 * corrections.c says why not. RVT_LONG: a million steps a group.
 */
#include "rv-insns.h"
#include "tandem-trace.h"
#include "../../tools/perf-plugin/tandem/corrections.h"

#define CODE UINT64_C(0x80000000)
#define DATA_BYTES 0x4000u
#define OPERANDS 16u

struct machine {
	const struct rvt_tandem_verifier_ops *ops;
	void *ctx;
	struct random random;
	uint64_t x[32], f[32], fcsr, pc;
};

static void put(struct machine *m, enum rvt_tandem_space space, uint64_t address, uint64_t value)
{
	assert_int_equal(m->ops->write(m->ctx, space, address, &value, sizeof(value)), 0);
}

static uint64_t get(struct machine *m, enum rvt_tandem_space space, uint64_t address)
{
	uint64_t value = 0;

	assert_int_equal(m->ops->read(m->ctx, space, address, &value, sizeof(value)), 0);
	return value;
}

static void start(struct machine *m, uint64_t seed)
{
	struct rvt_tandem_params params;
	uint64_t at, word;

	memset(m, 0, sizeof(*m));
	random_seed(&m->random, seed);
	rvt_tandem_params_init(&params, 64);
	assert_int_equal(tandem_unicorn_create(&params, &m->ops, &m->ctx), 0);
	for (at = 0; at < DATA_BYTES; at += 8) {
		word = rv_random_integer(&m->random);
		m->ops->write(m->ctx, RVT_TANDEM_SPACE_MEMORY, DATA + at, &word, 8);
	}
	put(m, RVT_TANDEM_SPACE_REGISTER, CSR_MSTATUS, MSTATUS_FS);
}

static void finish(struct machine *m)
{
	tandem_unicorn_destroy(m->ctx);
}

static void load_registers(struct machine *m)
{
	unsigned int i;

	for (i = 1; i < 32; i++)
		put(m, RVT_TANDEM_SPACE_REGISTER, X(i), m->x[i]);
	for (i = 0; i < 32; i++)
		put(m, RVT_TANDEM_SPACE_REGISTER, F(i), m->f[i]);
	put(m, RVT_TANDEM_SPACE_REGISTER, CSR_FCSR, m->fcsr);
}

static void random_registers(struct machine *m)
{
	unsigned int i;

	for (i = 1; i < 32; i++)
		m->x[i] = rv_random_integer(&m->random);
	for (i = 0; i < 32; i++)
		m->f[i] = rv_random_float(&m->random);
	/* mostly a rounding mode that exists, and few flags set before */
	m->fcsr = (random_one_in(&m->random, 16) ? random_below(&m->random, 8) :
		   random_below(&m->random, 5)) << 5;
	if (random_one_in(&m->random, 4))
		m->fcsr |= random_below(&m->random, 32);
}

/* Points the base register of a load, store or atomic at the data; false: it has none. */
static bool aim(struct machine *m, uint32_t insn)
{
	uint32_t whole = rvt_tandem_expand(insn, 64);
	unsigned int base = whole >> 15 & 31, align;
	struct rvt_tandem_data data;
	uint64_t x[32] = { 0 };

	rvt_tandem_data(insn, 64, x, &data);
	if (!data.bytes)
		return true;
	if (!base)
		return false;
	align = data.amo || !random_one_in(&m->random, 4) ? data.bytes : 1;
	m->x[base] = DATA + 64 + random_below(&m->random, (DATA_BYTES - 128) / align) * align -
		data.address;
	return true;
}

static void execute(struct machine *m, uint32_t insn, struct rvt_tandem_outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	put(m, RVT_TANDEM_SPACE_PC, 0, m->pc);
	assert_int_equal(m->ops->write(m->ctx, RVT_TANDEM_SPACE_MEMORY, m->pc, &insn, 4), 0);
	assert_int_equal(m->ops->execute(m->ctx, outcome), 0);
}

static void show(const struct machine *m, const struct rv_form *form, uint32_t insn)
{
	uint32_t whole = rvt_tandem_expand(insn, 64);
	unsigned int regs[] = { whole >> 15 & 31, whole >> 20 & 31, whole >> 27 }, i;

	print_message("%s, %08x at 0x%jx, fcsr 0x%jx\n", form->name, insn, (uintmax_t)m->pc,
		      (uintmax_t)m->fcsr);
	for (i = 0; i < 3; i++)
		print_message("  rs%u: x%u 0x%016jx, f%u 0x%016jx\n", i + 1, regs[i],
			      (uintmax_t)m->x[regs[i]], regs[i], (uintmax_t)m->f[regs[i]]);
}

/* One instruction with several operands; returns how often the sources disagree unexplained. */
static unsigned int steps(struct machine *m, const struct rv_form *form, unsigned int shown)
{
	struct rvt_tandem_outcome outcome;
	unsigned int i, disputed = 0;
	uint32_t insn;

	do
		insn = rv_form_make(form, &m->random);
	while (!aim(m, insn));
	m->pc = CODE + 4 * random_below(&m->random, 256);
	for (i = 0; i < OPERANDS; i++) {
		random_registers(m);
		aim(m, insn);
		load_registers(m);
		execute(m, insn, &outcome);
		assert_false(outcome.flags &
			     (RVT_TANDEM_OUT_INCOMPARABLE & ~RVT_TANDEM_OUT_DISPUTED));
		if (!(outcome.flags & RVT_TANDEM_OUT_DISPUTED))
			continue;
		if (shown + disputed++ < 20)
			show(m, form, insn);
	}
	return disputed;
}

static void sources_agree(void **state)
{
	enum rv_group group = (uintptr_t)*state;
	unsigned int wanted = getenv("RVT_LONG") ? 1000000 : 4000, disputed = 0, done = 0;
	struct machine m;
	size_t i;

	start(&m, property_setting("RVT_PROPERTY_SEED", 1));
	while (done < wanted)
		for (i = 0; i < rv_forms_len; i++)
			if (rv_forms[i].group == group) {
				disputed += steps(&m, &rv_forms[i], disputed);
				done += OPERANDS;
			}
	if (disputed)
		print_message("%u of %u steps are disputed\n", disputed, done);
	finish(&m);
	assert_int_equal(disputed, 0);
}

/* What an instruction of the table of corrections must give, by the text that it cites. */
static const struct known {
	uint32_t insn;
	const char *name;		/* of the entry */
	uint64_t memory, x2, f1, f2;	/* operands: memory at x1, x2, f1, f2 */
	unsigned int result;		/* the register */
	uint64_t value, memory_after, fcsr;
} known[] = {
	/* A, "Atomic Memory Operations": rd is the sign-extended word; signed comparison */
	{ 0x8020a1af, "amomin.w", 0xfffffffe, 5, 0, 0, X(3), UINT64_C(0xfffffffffffffffe),
	  0xfffffffe, 0 },
	{ 0xa020a1af, "amomax.w", 0x80000000, 5, 0, 0, X(3), UINT64_C(0xffffffff80000000), 5, 0 },
	/* of rs2, the lower 32 bits count */
	{ 0xc020a1af, "amominu.w", 7, UINT64_C(0x100000003), 0, 0, X(3), 7, 3, 0 },
	{ 0xe020a1af, "amomaxu.w", 7, UINT64_C(0x100000003), 0, 0, X(3), 7, 7, 0 },
	/* F 2.2: a number and a signalling NaN give the number, and NV */
	{ 0x282081d3, "fmin, fmax", 7, 0, UINT64_C(0xffffffff7f800001),
	  UINT64_C(0xffffffff3f800000), F(3), UINT64_C(0xffffffff3f800000), 7, 0x10 },
	{ 0x2a2091d3, "fmin, fmax", 7, 0, UINT64_C(0x4000000000000000),
	  UINT64_C(0x7ff0000000000001), F(3), UINT64_C(0x4000000000000000), 7, 0x10 },
	/* infinity times zero is invalid, even when the addend (f4) is a quiet NaN */
	{ 0x2220f1c3, "fused multiply-add", 7, 0, UINT64_C(0x7ff0000000000000), 0, F(3),
	  UINT64_C(0x7ff8000000000000), 7, 0x10 },
};

/* But sc, whose case is reservations(). */
static void every_entry_has_a_case(void)
{
	size_t i, j;

	for (i = 0; i < tandem_corrections_len; i++) {
		for (j = 0; j < sizeof(known) / sizeof(known[0]); j++)
			if (!strcmp(known[j].name, tandem_corrections[i].name))
				break;
		assert_true(j < sizeof(known) / sizeof(known[0]) ||
			    !strcmp(tandem_corrections[i].name, "sc"));
	}
}

static void corrections(void **state)
{
	struct rvt_tandem_outcome outcome;
	struct machine m;
	uint64_t memory;
	size_t i;

	(void)state;
	start(&m, 1);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		random_registers(&m);
		m.x[1] = DATA;
		m.pc = CODE;
		m.x[2] = known[i].x2;
		m.f[1] = known[i].f1;
		m.f[2] = known[i].f2;
		m.f[4] = UINT64_C(0x7ff8000000000000);
		m.fcsr = 0;
		load_registers(&m);
		m.ops->write(m.ctx, RVT_TANDEM_SPACE_MEMORY, DATA, &known[i].memory, 8);
		execute(&m, known[i].insn, &outcome);
		assert_int_equal(outcome.flags, 0);
		assert_int_equal(get(&m, RVT_TANDEM_SPACE_REGISTER, known[i].result),
				 known[i].value);
		assert_int_equal(get(&m, RVT_TANDEM_SPACE_REGISTER, CSR_FCSR), known[i].fcsr);
		m.ops->read(m.ctx, RVT_TANDEM_SPACE_MEMORY, DATA, &memory, 8);
		assert_int_equal(memory, known[i].memory_after);
		if (tandem_unicorn_correction(m.ctx))
			assert_string_equal(tandem_unicorn_correction(m.ctx)->name, known[i].name);
	}
	finish(&m);
	every_entry_has_a_case();
}

/*
 * A store by the same hart between lr and sc may leave the reservation; sc must fail without one.
 */
static void reservations(void **state)
{
	static const uint32_t lr = 0x1000b1af;		/* lr.d x3,(x1) */
	static const uint32_t sc = 0x1820b1af;		/* sc.d x3,x2,(x1) */
	static const uint32_t sd = 0x0020b023;		/* sd x2,0(x1) */
	struct rvt_tandem_outcome outcome;
	uint64_t memory;
	struct machine m;

	(void)state;
	start(&m, 1);
	random_registers(&m);
	m.x[1] = DATA;
	m.x[2] = 99;
	load_registers(&m);
	m.pc = CODE;
	put(&m, RVT_TANDEM_SPACE_PC, 0, CODE);
	m.ops->write(m.ctx, RVT_TANDEM_SPACE_MEMORY, CODE, &lr, 4);
	m.ops->write(m.ctx, RVT_TANDEM_SPACE_MEMORY, CODE + 4, &sd, 4);
	m.ops->write(m.ctx, RVT_TANDEM_SPACE_MEMORY, CODE + 8, &sc, 4);
	m.ops->write(m.ctx, RVT_TANDEM_SPACE_MEMORY, CODE + 12, &sc, 4);
	for (m.pc = CODE; m.pc < CODE + 12; m.pc += 4) {
		memset(&outcome, 0, sizeof(outcome));
		m.ops->execute(m.ctx, &outcome);
		assert_int_equal(outcome.flags, 0);
	}
	assert_int_equal(get(&m, RVT_TANDEM_SPACE_REGISTER, X(3)), 0);
	m.ops->read(m.ctx, RVT_TANDEM_SPACE_MEMORY, DATA, &memory, 8);
	assert_int_equal(memory, 99);
	if (tandem_unicorn_correction(m.ctx))
		assert_string_equal(tandem_unicorn_correction(m.ctx)->name, "sc");
	m.ops->execute(m.ctx, &outcome);
	assert_int_equal(get(&m, RVT_TANDEM_SPACE_REGISTER, X(3)), 1);
	finish(&m);
}

int main(void)
{
	struct CMUnitTest tests[RV_GROUPS + 2] = {
		[RV_GROUPS] = cmocka_unit_test(corrections),
		[RV_GROUPS + 1] = cmocka_unit_test(reservations),
	};
	size_t i;

	if (!has_golden_model())
		return 0;
	for (i = 0; i < RV_GROUPS; i++)
		tests[i] = (struct CMUnitTest){
			rv_group_names[i], sources_agree, NULL, NULL, (void *)(uintptr_t)i,
		};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
