// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Pending bits and counters, where an instruction reads them (ch. 1.1, 3.1): software's part is
 * checked; the rest comes from the trace, never goes back, and is as it was told.
 */
#include "tandem-trace.h"

#define SSIP 0x2u
#define STIP 0x20u
#define SEIP 0x200u
#define MTIP 0x80u

#define CSRRS(rd, csr, rs1) (0x2073u | (csr) << 20 | (rs1) << 15 | (rd) << 7)
#define CSRRC(rd, csr, rs1) (0x3073u | (csr) << 20 | (rs1) << 15 | (rd) << 7)
#define CSRRW(rd, csr, rs1) (0x1073u | (csr) << 20 | (rs1) << 15 | (rd) << 7)
#define MCYCLE 0xb00u
#define MINSTRET 0xb02u
#define TIME 0xc01u
#define INSTRET 0xc02u

static struct trace *new_hart(void)
{
	struct trace *t = malloc(sizeof(*t));

	assert_non_null(t);
	new_trace(t);
	return t;
}

/* By an instruction, li, for state initialization would be a new beginning. */
static void set(struct trace *t, unsigned int number, uint64_t value)
{
	assert_true(value < 0x800);
	insn(t, 0x13 | (uint32_t)value << 20 | (number - X(0)) << 7);
	reg(t, number, value);
	end(t);
}

static void csr(struct trace *t, uint32_t word, uint64_t rd_value)
{
	insn(t, word);
	reg(t, X(word >> 7 & 31), rd_value);
	end(t);
}

static void only(struct trace *t, uint32_t word)
{
	insn(t, word);
	end(t);
}

static void expect(struct trace *t, const char *text)
{
	verify(t);
	assert_string_equal(t->text, text);
	assert_int_equal(t->result.mismatched, *text != 0);
	free(t);
}

/* What csrs and csrc left in SSIP, STIP and SEIP is what a later read must show. */
static void software_pending(void **unused)
{
	static const struct {
		uint64_t after_set, after_clear;
		const char *text;
	} cases[] = {
		{ SSIP | STIP | SEIP, 0, "" },
		/* MTIP is the timer's, SEIP the interrupt controller's, too */
		{ SSIP | STIP | SEIP | MTIP, MTIP | SEIP, "" },
		{ STIP | SEIP, 0, "  t1: expected 0x222, seen 0x220\n" },
		{ SSIP | SEIP | MTIP, 0, "  t1: expected 0x2a2, seen 0x282\n" },
		{ SSIP | STIP, 0, "  t1: expected 0x222, seen 0x22\n" },
		{ SSIP | STIP | SEIP, SSIP, "  t1: expected 0x0, seen 0x2\n" },
		{ SSIP | STIP | SEIP, STIP | MTIP, "  t1: expected 0x80, seen 0xa0\n" },
	};
	struct trace *t;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t = new_hart();
		set(t, X(5), SSIP | STIP | SEIP);
		only(t, CSRRS(0, CSR_MIP, 5));
		csr(t, CSRRS(6, CSR_MIP, 0), cases[i].after_set);
		only(t, CSRRC(0, CSR_MIP, 5));
		csr(t, CSRRS(6, CSR_MIP, 0), cases[i].after_clear);
		expect(t, cases[i].text);
	}
}

/* Of a hart whose past is not known, the first read is believed, and then checked. */
static void pending_from_the_middle(void **unused)
{
	struct trace *t = new_hart();

	(void)unused;
	csr(t, CSRRS(6, CSR_MIP, 0), STIP);
	csr(t, CSRRS(7, CSR_MIP, 0), STIP | MTIP);
	expect(t, "");
	t = new_hart();
	csr(t, CSRRS(6, CSR_MIP, 0), STIP);
	csr(t, CSRRS(7, CSR_MIP, 0), SSIP);
	expect(t, "  t2: expected 0x20, seen 0x2\n");
	/* the state that it began with may say what it was */
	t = new_hart();
	begin(t);
	REC(t, .op = RVT_TANDEM_STATE_INIT);
	reg(t, CSR_MIP, STIP | MTIP);
	end(t);
	csr(t, CSRRS(6, CSR_MIP, 0), MTIP);
	expect(t, "  t1: expected 0xa0, seen 0x80\n");
}

/* csrrs reads SEIP as either's, and writes back software's only (3.1.9). */
static void seip_of_the_controller(void **unused)
{
	struct trace *t = new_hart();

	(void)unused;
	set(t, X(5), SSIP);
	only(t, CSRRW(0, CSR_MIP, 0));
	csr(t, CSRRS(6, CSR_MIP, 5), SEIP);	/* the controller's, then gone */
	csr(t, CSRRS(6, CSR_MIP, 0), SSIP);
	expect(t, "");
	t = new_hart();
	set(t, X(5), SEIP);
	only(t, CSRRW(0, CSR_MIP, 5));
	csr(t, CSRRS(6, CSR_MIP, 0), 0);
	expect(t, "  t1: expected 0x200, seen 0x0\n");
}

/* A trace that tells mip must show what it told. */
static void told_pending(void **unused)
{
	struct trace *t = new_hart();

	(void)unused;
	reg(t, CSR_MIP, MTIP);
	csr(t, CSRRS(6, CSR_MIP, 0), MTIP);
	reg(t, CSR_MIP, 0);
	csr(t, CSRRS(6, CSR_MIP, 0), 0);
	expect(t, "");
	t = new_hart();
	reg(t, CSR_MIP, MTIP);
	csr(t, CSRRS(6, CSR_MIP, 0), 0);
	expect(t, "  t1: expected 0x80, seen 0x0\n");
	/* nor may it tell another SSIP than software wrote */
	t = new_hart();
	only(t, CSRRW(0, CSR_MIP, 0));
	reg(t, CSR_MIP, SSIP);
	expect(t, "  mip: expected 0x0, seen 0x2\n");
}

static void interrupt(struct trace *t, unsigned int cause)
{
	begin(t);
	state(t, RVT_TANDEM_PC, HANDLER);
	reg(t, CSR_MEPC, BASE + 4 + 4 + 4);
	reg(t, CSR_MCAUSE, UINT64_C(1) << 63 | cause);
	reg(t, CSR_MSTATUS, MSTATUS_MPIE | MSTATUS_MPP);
	reg(t, CSR_MTVAL, 0);
	state(t, RVT_TANDEM_PRIV, 3);
	end(t);
}

/* A software interrupt that software did not make pending cannot be taken. */
static void interrupt_of_software(void **unused)
{
	struct trace *t;
	unsigned int set_bits;

	(void)unused;
	for (set_bits = 0; set_bits < 2; set_bits++) {
		t = new_hart();
		begin(t);
		REC(t, .op = RVT_TANDEM_STATE_INIT);
		reg(t, CSR_MIE, STIP);
		reg(t, CSR_MSTATUS, MSTATUS_MIE);
		end(t);
		only(t, CSRRW(0, CSR_MIP, 0));
		set(t, X(5), STIP);
		only(t, set_bits ? CSRRS(0, CSR_MIP, 5) : CSRRC(0, CSR_MIP, 5));
		interrupt(t, 5);
		expect(t, set_bits ? "" : "  interrupt 5 was taken, but is not pending\n");
	}
}

/* Time passes, but never backwards. */
static void time_is_monotonic(void **unused)
{
	struct trace *t = new_hart();

	(void)unused;
	csr(t, CSRRS(6, TIME, 0), 1000);
	csr(t, CSRRS(7, TIME, 0), 1000);
	csr(t, CSRRS(7, TIME, 0), 5000000);
	expect(t, "");
	t = new_hart();
	csr(t, CSRRS(6, TIME, 0), 1000);
	csr(t, CSRRS(7, TIME, 0), 999);
	expect(t, "  t2: expected 0x3e8, seen 0x3e7\n");
	/* what was told counts as what was read */
	t = new_hart();
	state(t, RVT_TANDEM_MTIME, 2000);
	csr(t, CSRRS(7, TIME, 0), 1999);
	expect(t, "  t2: expected 0x7d0, seen 0x7cf\n");
	t = new_hart();
	csr(t, CSRRS(7, TIME, 0), 2000);
	state(t, RVT_TANDEM_MTIME, 1500);
	expect(t, "  time: went back from 0x7d0 to 0x5dc\n");
	t = new_hart();
	reg(t, MCYCLE, 70);
	reg(t, MCYCLE, 60);
	expect(t, "  mcycle: went back from 0x46 to 0x3c\n");
}

/* After a write, mcycle counts on from there, and is what was written where the trace tells it. */
static void written_cycle(void **unused)
{
	static const struct {
		uint64_t told, read;
		const char *text;
	} cases[] = {
		{ 100, 100, "" }, { 100, 130, "" },
		{ 100, 99, "  t2: expected 0x64, seen 0x63\n" },
		{ 101, 110, "  mcycle: expected 0x64, seen 0x65\n" },
	};
	struct trace *t;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t = new_hart();
		csr(t, CSRRS(6, MCYCLE, 0), 1000);
		set(t, X(5), 100);
		insn(t, CSRRW(0, MCYCLE, 5));
		reg(t, MCYCLE, cases[i].told);
		end(t);
		csr(t, CSRRS(7, MCYCLE, 0), cases[i].read);
		expect(t, cases[i].text);
	}
}

/* instret counts instructions: those between two reads, and not those that trap. */
static void instret(void **unused)
{
	static const struct {
		uint64_t second;
		const char *text;
	} cases[] = {
		{ 53, "" },		/* the first read, and two instructions */
		{ 52, "  t2: expected 0x35, seen 0x34\n" },
		{ 54, "  t2: expected 0x35, seen 0x36\n" },
	};
	struct trace *t;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t = new_hart();
		csr(t, CSRRS(6, INSTRET, 0), 50);
		only(t, 0x13);
		only(t, 0x13);
		csr(t, CSRRS(7, MINSTRET, 0), cases[i].second);
		expect(t, cases[i].text);
	}
	/* something else may be counted, if it is said */
	t = new_hart();
	t->options.choices = RVT_TANDEM_CHOICE_MINSTRET;
	csr(t, CSRRS(6, INSTRET, 0), 50);
	csr(t, CSRRS(7, MINSTRET, 0), 5000);
	expect(t, "");
	/* what was written, and QEMU's one more */
	for (i = 0; i < 3; i++) {
		t = new_hart();
		set(t, X(5), 7);
		only(t, CSRRW(0, MINSTRET, 5));
		csr(t, CSRRS(7, MINSTRET, 0), 7 + i);
		expect(t, i < 2 ? "" : "  t2: expected 0x7, seen 0x9\n");
	}
}

/* A CSR that the trace never named holds what reset left there, and is then checked. */
static void csrs_of_reset(void **unused)
{
	struct trace *t = new_hart();

	(void)unused;
	csr(t, CSRRS(6, CSR_MISA, 0), UINT64_C(0x800000000014112d));
	csr(t, CSRRS(6, CSR_MISA, 0), UINT64_C(0x800000000014112d));
	csr(t, CSRRS(7, CSR_MCOUNTEREN, 0), 7);
	csr(t, CSRRS(7, CSR_MCOUNTEREN, 0), 7);
	expect(t, "");
	t = new_hart();
	csr(t, CSRRS(7, CSR_MCOUNTEREN, 0), 7);
	csr(t, CSRRS(7, CSR_MCOUNTEREN, 0), 3);
	expect(t, "  t2: expected 0x7, seen 0x3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(software_pending), cmocka_unit_test(pending_from_the_middle),
		cmocka_unit_test(seip_of_the_controller), cmocka_unit_test(told_pending),
		cmocka_unit_test(interrupt_of_software), cmocka_unit_test(time_is_monotonic),
		cmocka_unit_test(written_cycle), cmocka_unit_test(instret),
		cmocka_unit_test(csrs_of_reset),
	};

	return has_golden_model() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
