// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a group tells besides registers is compared, too: physical addresses, store data, x0, and
 * what memory held, from the second time that it is seen. What implementations choose.
 */
#include "tandem-trace.h"

#define RAM_SATP (UINT64_C(8) << 60 | 0x80010)
#define HIGH UINT64_C(0xffffffff80000000)

static struct trace *new_hart(void)
{
	struct trace *t = malloc(sizeof(*t));

	assert_non_null(t);
	new_trace(t);
	return t;
}

static void init(struct trace *t)
{
	begin(t);
	REC(t, .op = RVT_TANDEM_STATE_INIT);
}

static void expect(struct trace *t, const char *text)
{
	verify(t);
	assert_string_equal(t->text, text);
	assert_int_equal(t->result.mismatched, *text != 0);
	free(t);
}

/* S mode under Sv39: the last gigabyte but one is physical 0x80000000, V R W X A D. */
static struct trace *translated_hart(uint64_t pte_bits)
{
	struct trace *t = new_hart();

	init(t);
	state(t, RVT_TANDEM_PC, HIGH + 8);
	state(t, RVT_TANDEM_PRIV, 1);
	reg(t, CSR_SATP, RAM_SATP);
	reg(t, X(6), HIGH + 0x1000);
	reg(t, X(5), 0x55);
	store(t, 0x80010000 + 8 * 510, 3, UINT64_C(0x80000000) >> 2 | pte_bits);
	end(t);
	return t;
}

/* Identifier 9. */
static void physical_pc(void **unused)
{
	static const struct {
		uint64_t paddr;
		const char *text;
	} cases[] = {
		{ 0x80000008, "" },
		{ 0x8000000a, "  physical pc: expected 0x80000008, seen 0x8000000a\n" },
		{ HIGH + 8, "  physical pc: expected 0x80000008, seen 0xffffffff80000008\n" },
	};
	struct trace *t;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t = translated_hart(0xcf);
		insn(t, 0x4295);				/* c.li t0,5 */
		reg(t, X(5), 5);
		state(t, RVT_TANDEM_PC_PADDR, cases[i].paddr);
		end(t);
		expect(t, cases[i].text);
	}
	/* without translation, it is the pc */
	t = new_hart();
	insn(t, 0x4295);
	reg(t, X(5), 5);
	state(t, RVT_TANDEM_PC_PADDR, BASE + 4);
	end(t);
	expect(t, "  physical pc: expected 0x80000006, seen 0x8000000a\n");
}

/* Identifiers 4 to 7 beside a memory request, and without one. */
static void store_data(void **unused)
{
	static const struct {
		unsigned int id;
		uint64_t data;
		const char *text;
	} cases[] = {
		{ RVT_TANDEM_STORE32, 0x1234, "" },
		{ RVT_TANDEM_STORE32, 0x1235, "  store data 32: expected 0x1234, seen 0x1235\n" },
		{ RVT_TANDEM_STORE64, 0x1234,
		  "  store data 64: the instruction stores 32 bits\n" },
	};
	struct trace *t;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t = new_hart();
		init(t);
		reg(t, X(6), DATA);
		reg(t, X(5), 0x1234);
		end(t);
		insn(t, 0x00532823);			/* sw t0,16(t1) */
		store(t, DATA + 16, 2, 0x1234);
		state(t, cases[i].id, cases[i].data);
		end(t);
		expect(t, cases[i].text);
	}
	t = new_hart();
	insn(t, 0x4295);
	reg(t, X(5), 5);
	state(t, RVT_TANDEM_STORE32, 5);
	end(t);
	expect(t, "  store data 32: the instruction stores nothing\n");
}

static void writes_to_x0(void **unused)
{
	struct trace *t = new_hart();

	(void)unused;
	insn(t, 0x00000013);
	reg(t, X(0), 0);
	end(t);
	expect(t, "");
	t = new_hart();
	insn(t, 0x00100013);				/* addi zero,zero,1 */
	reg(t, X(0), 1);
	end(t);
	expect(t, "  zero: expected 0x0, seen 0x1\n");
}

/*
 * Transactions are the implementation's affair (ch. 3): an AMO as a load and a store, an access in
 * parts. What counts is what memory holds.
 */
static void transactions(void **unused)
{
	unsigned int wrong, i;
	struct trace *t;

	(void)unused;
	for (wrong = 0; wrong < 2; wrong++) {
		t = new_hart();
		init(t);
		reg(t, X(6), DATA);
		reg(t, X(5), 2);
		store(t, DATA, 3, 40);
		store(t, DATA + 8, 3, 0);
		end(t);
		insn(t, 0x0053352f);			/* amoadd.d a0,t0,(t1) */
		load(t, DATA, 3, 40);
		store(t, DATA, 3, 42);
		reg(t, X(10), 40);
		end(t);
		insn(t, 0x005330a3);			/* sd t0,1(t1), byte by byte */
		for (i = 0; i < 8; i++)
			store(t, DATA + 1 + i, 0, i ? 0 : 2 + wrong);
		end(t);
		expect(t, wrong ? "  memory 64 @0x80001009: expected 0x2, seen 0x3\n" : "");
	}
}

/* A response that is not what memory holds, though the register is right. */
static void memory_responses(void **unused)
{
	struct trace *t;
	unsigned int wrong;

	(void)unused;
	for (wrong = 0; wrong < 2; wrong++) {
		t = new_hart();
		init(t);
		reg(t, X(6), DATA);
		store(t, DATA + 16, 3, 7);
		end(t);
		insn(t, 0x01033383);			/* ld t2,16(t1) */
		load(t, DATA + 16, 3, 7 + wrong);
		reg(t, X(7), 7);
		end(t);
		expect(t, wrong ?
		       "  memory response 64 @0x80001018: expected 0x7, seen 0x8\n" : "");
	}
}

/* The first load of unknown memory says what it is; the next must find it. */
static void memory_learned(void **unused)
{
	static const struct {
		uint32_t word;
		unsigned int rd;
		uint64_t value;
		const char *text;
	} second[] = {
		{ 0x01033383, X(7), UINT64_C(0x8877665544332211), "" },
		{ 0x01033383, X(7), UINT64_C(0x8877665544332210),
		  "  t2: expected 0x8877665544332211, seen 0x8877665544332210\n" },
		/* lw a0,16(t1); lbu a0,23(t1) */
		{ 0x01032503, X(10), 0x44332211, "" },
		{ 0x01734503, X(10), 0x88, "" },
		{ 0x01734503, X(10), 0x87, "  a0: expected 0x88, seen 0x87\n" },
	};
	struct trace *t;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(second) / sizeof(second[0]); i++) {
		t = new_hart();
		init(t);
		reg(t, X(6), DATA);
		end(t);
		insn(t, 0x01033383);			/* ld t2,16(t1) */
		reg(t, X(7), UINT64_C(0x8877665544332211));
		end(t);
		insn(t, second[i].word);
		reg(t, second[i].rd, second[i].value);
		end(t);
		verify(t);
		assert_string_equal(t->text, second[i].text);
		assert_int_equal(t->result.unknown_memory, 0);
		assert_int_equal(t->result.compared, 2);
		free(t);
	}
}

/* A device may show something else each time, requests or not. */
static void device_without_requests(void **unused)
{
	struct trace *t = new_hart();
	unsigned int i;

	(void)unused;
	init(t);
	reg(t, X(6), DEVICE);
	end(t);
	for (i = 0; i < 3; i++) {
		insn(t, 0x01033383);
		reg(t, X(7), i);
		end(t);
	}
	expect(t, "");
}

static void trap(struct trace *t, uint32_t word, unsigned int cause, uint64_t tval)
{
	begin(t);
	state(t, RVT_TANDEM_PC, HANDLER);
	REC(t, .op = (word & 3) == 3 ? RVT_TANDEM_INSN32 : RVT_TANDEM_INSN16, .value = word);
	reg(t, CSR_MEPC, BASE);
	reg(t, CSR_MCAUSE, cause);
	reg(t, CSR_MTVAL, tval);
	reg(t, CSR_MSTATUS, MSTATUS_MPP);
	state(t, RVT_TANDEM_PRIV, 3);
	end(t);
}

/* What an option allows is a mismatch without it; the rest of the trap is checked either way. */
static void choices_of_traps(void **unused)
{
	static const struct {
		uint32_t word;
		unsigned int choice, cause;
		uint64_t tval;
		const char *text;
	} cases[] = {
		{ 0x00100073, RVT_TANDEM_CHOICE_EBREAK_TVAL_0, CAUSE_BREAKPOINT, 0,
		  "  mtval: expected 0x80000006, seen 0x0\n" },
		{ 0x0000, RVT_TANDEM_CHOICE_ILLEGAL_TVAL_0, CAUSE_ILLEGAL, 0, "" },
		{ 0x30200077, RVT_TANDEM_CHOICE_ILLEGAL_TVAL_0, CAUSE_ILLEGAL, 0,
		  "  mtval: expected 0x30200077, seen 0x0\n" },
		{ 0xc0001073, RVT_TANDEM_CHOICE_ILLEGAL_TVAL_0, CAUSE_ILLEGAL, 0,
		  "  mtval: expected 0xc0001073, seen 0x0\n" },
		/* ld t2,17(t1) */
		{ 0x01133383, RVT_TANDEM_CHOICE_MISALIGNED, CAUSE_LOAD_MISALIGNED, DATA + 17,
		  "  pc: expected 0x8000000a, seen 0x80000100\n" },
		/* sd t0,17(t1) */
		{ 0x005338a3, RVT_TANDEM_CHOICE_MISALIGNED, CAUSE_STORE_MISALIGNED, DATA + 17,
		  "  pc: expected 0x8000000a, seen 0x80000100\n" },
	};
	unsigned int allowed;
	struct trace *t;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (allowed = 0; allowed < 2; allowed++) {
			t = new_hart();
			init(t);
			reg(t, X(6), DATA);
			store(t, DATA + 16, 3, 0);
			store(t, DATA + 24, 3, 0);
			end(t);
			t->options.choices = allowed ? cases[i].choice : 0;
			trap(t, cases[i].word, cases[i].cause, cases[i].tval);
			verify(t);
			if (allowed)
				assert_string_equal(t->text, "");
			else
				assert_memory_equal(t->text, cases[i].text, strlen(cases[i].text));
			free(t);
		}
	/* another cause, or another address, is wrong all the same */
	t = new_hart();
	init(t);
	reg(t, X(6), DATA);
	store(t, DATA + 16, 3, 0);
	store(t, DATA + 24, 3, 0);
	end(t);
	t->options.choices = RVT_TANDEM_CHOICE_MISALIGNED;
	trap(t, 0x01133383, CAUSE_LOAD_MISALIGNED, DATA + 16);
	expect(t, "  mtval: expected 0x80001019, seen 0x80001018\n");
	/* an aligned access never may */
	t = new_hart();
	init(t);
	reg(t, X(6), DATA);
	store(t, DATA + 16, 3, 0);
	end(t);
	t->options.choices = RVT_TANDEM_CHOICE_MISALIGNED;
	trap(t, 0x01033383, CAUSE_LOAD_MISALIGNED, DATA + 16);
	verify(t);
	assert_int_equal(t->result.mismatched, 1);
	free(t);
}

/* A page without D: the store faults, or sets it. */
static void accessed_and_dirty(void **unused)
{
	unsigned int allowed;
	struct trace *t;

	(void)unused;
	for (allowed = 0; allowed < 2; allowed++) {
		t = translated_hart(0x4f);
		t->options.choices = allowed ? RVT_TANDEM_CHOICE_AD_FAULT : 0;
		begin(t);
		state(t, RVT_TANDEM_PC, HANDLER);
		REC(t, .op = RVT_TANDEM_INSN32, .value = 0x00533823);	/* sd t0,16(t1) */
		reg(t, CSR_MEPC, HIGH + 8);
		reg(t, CSR_MCAUSE, CAUSE_STORE_PAGE);
		reg(t, CSR_MTVAL, HIGH + 0x1010);
		reg(t, CSR_MSTATUS, 1u << 11);
		state(t, RVT_TANDEM_PRIV, 3);
		end(t);
		verify(t);
		assert_int_equal(t->result.mismatched, !allowed);
		free(t);
	}
}

/* A field that takes less than was written. */
static void warl_fields(void **unused)
{
	unsigned int allowed;
	struct trace *t;

	(void)unused;
	for (allowed = 0; allowed < 2; allowed++) {
		t = new_hart();
		init(t);
		reg(t, X(5), 0xffff);
		reg(t, CSR_MCOUNTEREN, 0);
		end(t);
		t->options.choices = allowed ? RVT_TANDEM_CHOICE_WARL : 0;
		insn(t, 0x30629073);			/* csrw mcounteren,t0 */
		reg(t, CSR_MCOUNTEREN, 7);
		end(t);
		/* but a register that is not WARL has what was written */
		insn(t, 0x34029073);			/* csrw mscratch,t0 */
		reg(t, CSR_MSCRATCH, 0xffff);
		end(t);
		expect(t, allowed ? "" : "  mcounteren: expected 0xffff, seen 0x7\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(physical_pc), cmocka_unit_test(store_data),
		cmocka_unit_test(writes_to_x0), cmocka_unit_test(transactions),
		cmocka_unit_test(memory_responses),
		cmocka_unit_test(memory_learned),
		cmocka_unit_test(device_without_requests), cmocka_unit_test(choices_of_traps),
		cmocka_unit_test(accessed_and_dirty), cmocka_unit_test(warl_fields),
	};

	return has_golden_model() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
