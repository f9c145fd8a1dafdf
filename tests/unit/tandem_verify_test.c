// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Tandem verification with the golden model on Unicorn: a small program whose every effect is known
 * by hand passes; each wrong effect is found, alone, and checking goes on behind it.
 */
#include "tandem-trace.h"

/*
 * The program, encoded by GNU as. In step t->step one effect is wrong: 1 for each group.
 */
static void program(struct trace *t)
{
	uint64_t step = 0;

#define WRONG (++step == t->step)
	insn(t, 0x4295);				/* c.li t0,5 */
	reg(t, X(5), 5 + WRONG);
	end(t);
	insn(t, 0x00001317);				/* auipc t1,1 at 0x80000008 */
	reg(t, X(6), DATA + 4 * WRONG);
	end(t);
	insn(t, 0x00533823);				/* sd t0,16(t1) */
	store(t, DATA + 16, 3, 5 + WRONG);
	end(t);
	insn(t, 0x01033383);				/* ld t2,16(t1) */
	load(t, DATA + 16, 3, 5);
	reg(t, X(7), 5 + WRONG);
	end(t);
	insn(t, 0x0385);				/* c.addi t2,1 */
	reg(t, X(7), 6);
	if (WRONG)
		reg(t, X(8), 1);			/* a register that it does not write */
	end(t);
	insn(t, 0x0073352f);				/* amoadd.d a0,t2,(t1) */
	REC(t, .op = RVT_TANDEM_MEM_REQ, .mem_op = RVT_TANDEM_AMO_ADD, .mem_size = 3, .addr = DATA,
	    .value = 6 + WRONG);
	REC(t, .op = RVT_TANDEM_MEM_RSP, .mem_op = RVT_TANDEM_AMO_ADD, .mem_size = 3, .value = 7);
	reg(t, X(10), 7);
	end(t);
	begin(t);					/* jal ra,+6 at 0x8000001a */
	state(t, RVT_TANDEM_PC, 0x80000020 + 2 * WRONG);
	REC(t, .op = RVT_TANDEM_INSN32, .value = 0x006000ef);
	reg(t, X(1), 0x8000001e);
	end(t);
	if (t->step == 7)				/* back to where the program goes on */
		return;
	insn(t, 0x34039073);				/* csrrw zero,mscratch,t2 */
	reg(t, CSR_MSCRATCH, 6 + WRONG);
	end(t);
	insn(t, 0xc01025f3);				/* csrrs a1,time,zero: an input */
	reg(t, X(11), 0x1234);
	end(t);
	insn(t, 0x1003352f);				/* lr.d a0,(t1): 7 + 6 */
	REC(t, .op = RVT_TANDEM_MEM_REQ, .mem_op = RVT_TANDEM_LR, .mem_size = 3, .addr = DATA);
	REC(t, .op = RVT_TANDEM_MEM_RSP, .mem_op = RVT_TANDEM_LR, .mem_size = 3, .value = 13);
	reg(t, X(10), 13 + WRONG);
	end(t);
	insn(t, 0x1873362f);				/* sc.d a2,t2,(t1) */
	REC(t, .op = RVT_TANDEM_MEM_REQ, .mem_op = RVT_TANDEM_SC, .mem_size = 3, .addr = DATA,
	    .value = 6);
	REC(t, .op = RVT_TANDEM_MEM_RSP, .mem_op = RVT_TANDEM_SC, .mem_size = 3);
	if (WRONG)
		reg(t, X(12), 2);
	end(t);
	begin(t);					/* ecall at 0x80000030 */
	state(t, RVT_TANDEM_PC, HANDLER);
	REC(t, .op = RVT_TANDEM_INSN32, .value = 0x00000073);
	reg(t, CSR_MEPC, 0x80000030);
	reg(t, CSR_MCAUSE, 11 + WRONG);
	reg(t, CSR_MSTATUS, UINT64_C(0x1800));
	reg(t, CSR_MTVAL, 0);
	state(t, RVT_TANDEM_PRIV, 3);
	end(t);
	insn(t, 0x4295);				/* c.li t0,5 in the handler */
	reg(t, X(5), 5);
	end(t);
#undef WRONG
}

static void right_program(void **unused)
{
	struct trace *t = malloc(sizeof(*t));

	(void)unused;
	new_trace(t);
	program(t);
	verify(t);
	assert_string_equal(t->text, "");
	assert_int_equal(t->result.mismatched, 0);
	assert_int_equal(t->result.executed, t->groups - 1);
	assert_int_equal(t->result.compared, t->groups - 1);
	assert_int_equal(t->result.traps, 1);
	assert_int_equal(t->result.unmodelled, 0);
	free(t);
}

/*
 * What each wrong step must be reported as (expected, seen), and how many groups disagree: the
 * wrong value is the state from then on, so what the program does with it differs too.
 */
static void wrong_programs(void **unused)
{
	static const struct {
		const char *text;
		uint64_t mismatched;
	} wrong[] = {
		/* then sd stores 6 */
		{ "  t0: expected 0x5, seen 0x6\n", 2 },
		/* then sd and ld go elsewhere, and all three atomics are misaligned */
		{ "  t1: expected 0x80001008, seen 0x8000100c\n", 6 },
		/* then ld loads 6 */
		{ "  memory 64 @0x80001018: expected 0x5, seen 0x6\n", 2 },
		/* then c.addi makes 7 */
		{ "  t2: expected 0x5, seen 0x6\n", 2 },
		{ "  s0: expected 0x0, seen 0x1\n", 1 },
		/* then lr loads 14 */
		{ "  memory 64 @0x80001008: expected 0xd, seen 0xe\n", 2 },
		{ "  pc: expected 0x80000020, seen 0x80000022\n", 1 },
		{ "  mscratch: expected 0x6, seen 0x7\n", 1 },
		{ "  a0: expected 0xd, seen 0xe\n", 1 },
		/* sc that failed is believed, but stores nothing: the trace says that it did */
		{ "  a2: expected 0x1, seen 0x2\n"
		  "  memory 64 @0x80001008: expected 0xd, seen 0x6\n", 1 },
		{ "  mcause: expected 0xb, seen 0xc\n", 1 },
	};
	struct trace *t = malloc(sizeof(*t));
	unsigned int i;

	(void)unused;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		new_trace(t);
		t->step = i + 1;
		program(t);
		verify(t);
		assert_memory_equal(t->text, wrong[i].text, strlen(wrong[i].text));
		assert_int_equal(t->result.mismatched, wrong[i].mismatched);
	}
	free(t);
}

/* Unobserved state is not compared; other state that changes on its own is a mismatch. */
static void unobserved(void **unused)
{
	struct trace *t = malloc(sizeof(*t));

	(void)unused;
	new_trace(t);
	reg(t, CSR_MIP, 0x80);
	reg(t, 0xb02, 55);
	state(t, RVT_TANDEM_MTIME, 77);
	insn(t, 0x4295);
	reg(t, X(5), 5);
	reg(t, CSR_MIP, 0);
	end(t);
	verify(t);
	assert_int_equal(t->result.mismatched, 0);
	new_trace(t);
	reg(t, CSR_MSCRATCH, 1);
	verify(t);
	assert_string_equal(t->text, "  mscratch: expected 0x0, seen 0x1\n");
	free(t);
}

/* Loads of a device are inputs each time; those of RAM only the first time. */
static void device_reads(void **unused)
{
	static const uint64_t bases[] = { DEVICE, DATA };
	struct trace *t = malloc(sizeof(*t));
	unsigned int i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		new_trace(t);
		begin(t);
		REC(t, .op = RVT_TANDEM_STATE_INIT);
		reg(t, X(6), bases[i]);
		end(t);
		insn(t, 0x01033383);			/* ld t2,16(t1) */
		load(t, bases[i] + 16, 3, 1);
		reg(t, X(7), 1);
		end(t);
		insn(t, 0x01033383);
		load(t, bases[i] + 16, 3, 2);
		reg(t, X(7), 2);
		end(t);
		insn(t, 0x01033383);
		load(t, bases[i] + 16, 3, 2);
		end(t);
		if (i)
			t->options.max_reports = 1;
		verify(t);
		assert_int_equal(t->result.mismatched, i);
		assert_string_equal(t->text, !i ? "" :
				    "  memory response 64 @0x80001018: expected 0x1, seen 0x2\n"
				    "  t2: expected 0x1, seen 0x2\n");
		/* with shared memory, RAM is no different */
		t->options.shared_memory = true;
		t->text[0] = 0;
		verify(t);
		assert_int_equal(t->result.mismatched, 0);
	}
	free(t);
}

/* Ch. 3.2: what is absent is neither compared nor copied. */
static void partial_trace(void **unused)
{
	struct trace *t = malloc(sizeof(*t));

	(void)unused;
	new_trace(t);
	t->options.absent_memory = true;
	insn(t, 0x4295);
	reg(t, X(5), 5);
	end(t);
	insn(t, 0x00001317);
	reg(t, X(6), 0x80001008);
	end(t);
	insn(t, 0x00533823);				/* sd without the store */
	end(t);
	insn(t, 0x01033383);				/* ld of it */
	reg(t, X(7), 5);
	end(t);
	verify(t);
	assert_string_equal(t->text, "");
	/* not absent: the store is missed */
	t->options.absent_memory = false;
	verify(t);
	assert_string_equal(t->text, "  memory 64 @0x80001018: expected 0x5, seen 0x0\n"
			    "  t2: expected 0x0, seen 0x5\n");
	/* registers left out */
	new_trace(t);
	t->options.absent_regs[X(5)] = true;
	insn(t, 0x4295);
	end(t);
	insn(t, 0x0385);				/* c.addi t2,1 */
	reg(t, X(7), 1);
	end(t);
	verify(t);
	assert_int_equal(t->result.mismatched, 0);
	free(t);
}

static void interrupts(void **unused)
{
	struct trace *t = malloc(sizeof(*t));
	uint64_t enabled;

	(void)unused;
	for (enabled = 0; enabled < 2; enabled++) {
		new_trace(t);
		begin(t);
		REC(t, .op = RVT_TANDEM_STATE_INIT);
		reg(t, CSR_MIE, enabled << 7);
		reg(t, CSR_MSTATUS, MSTATUS_MIE);
		end(t);
		begin(t);
		state(t, RVT_TANDEM_PC, HANDLER);
		reg(t, CSR_MEPC, BASE);
		reg(t, CSR_MCAUSE, UINT64_C(1) << 63 | 7);
		reg(t, CSR_MSTATUS, MSTATUS_MPIE | MSTATUS_MPP);
		reg(t, CSR_MTVAL, 0);
		state(t, RVT_TANDEM_PRIV, 3);
		end(t);
		insn(t, 0x4295);
		reg(t, X(5), 5);
		end(t);
		verify(t);
		assert_int_equal(t->result.interrupts, 1);
		/* one that is not enabled cannot be taken */
		assert_int_equal(t->result.mismatched, !enabled);
		if (!enabled)
			assert_non_null(strstr(t->text,
					       "  pc: expected 0x80000006, seen 0x80000100\n"));
	}
	free(t);
}

/* That nothing answers is the machine's affair, but RAM always answers. */
static void access_faults(void **unused)
{
	static const uint64_t bases[] = { DEVICE, DATA };
	struct trace *t = malloc(sizeof(*t));
	unsigned int i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		new_trace(t);
		begin(t);
		REC(t, .op = RVT_TANDEM_STATE_INIT);
		reg(t, X(6), bases[i]);
		end(t);
		begin(t);
		state(t, RVT_TANDEM_PC, HANDLER);
		REC(t, .op = RVT_TANDEM_INSN32, .value = 0x01033383);	/* ld t2,16(t1) */
		reg(t, CSR_MEPC, BASE);
		reg(t, CSR_MCAUSE, CAUSE_LOAD_ACCESS);
		reg(t, CSR_MTVAL, bases[i] + 16);
		reg(t, CSR_MSTATUS, MSTATUS_MPP);
		state(t, RVT_TANDEM_PRIV, 3);
		end(t);
		verify(t);
		assert_string_equal(t->text, i ? "  access fault in RAM, at 0x80001018\n" : "");
		assert_int_equal(t->result.traps, 1);
	}
	free(t);
}

/* What the golden model does not know is counted, followed, and not compared. */
static void incomparable(void **unused)
{
	struct trace *t = malloc(sizeof(*t));

	(void)unused;
	new_trace(t);
	insn(t, 0x3a0022f3);				/* csrrs t0,pmpcfg0,zero */
	reg(t, X(5), 0x1f);
	end(t);
	insn(t, 0x01833003);				/* ld zero,24(t1) of nobody knows what */
	end(t);
	insn(t, 0x01033383);				/* ld t2,16(t1): that was in memory */
	reg(t, X(7), 9);
	end(t);
	insn(t, 0x0385);
	reg(t, X(7), 10);
	end(t);
	verify(t);
	assert_int_equal(t->result.mismatched, 0);
	assert_int_equal(t->result.unmodelled, 1);
	assert_int_equal(t->result.unmodelled_csr[0x3a0], 1);
	assert_int_equal(t->result.unknown_memory, 1);
	assert_int_equal(t->result.compared, 2);
	free(t);
}

/* NaN-boxing, which Unicorn's engine forgets; floating-point flags; FS becomes Dirty. */
static void floating_point(void **unused)
{
	uint64_t dirty = UINT64_C(1) << 63 | MSTATUS_FS;
	struct trace *t = malloc(sizeof(*t));

	(void)unused;
	new_trace(t);
	begin(t);
	REC(t, .op = RVT_TANDEM_STATE_INIT);
	reg(t, CSR_MSTATUS, 1u << 13);
	reg(t, X(5), 0x3f800000);
	reg(t, F(0), UINT64_C(0x3ff0000000000000));	/* 1.0 */
	reg(t, F(1), UINT64_C(0xffffffff3f800000));	/* 1.0f */
	end(t);
	insn(t, 0xf0028653);				/* fmv.w.x fa2,t0 */
	reg(t, F(12), UINT64_C(0xffffffff3f800000));
	reg(t, CSR_MSTATUS, dirty);
	end(t);
	insn(t, 0x02007553);				/* fadd.d fa0,ft0,ft0 */
	reg(t, F(10), UINT64_C(0x4000000000000000));
	end(t);
	insn(t, 0x1af57553);				/* fdiv.d fa0,fa0,fa5: by zero */
	reg(t, F(10), UINT64_C(0x7ff0000000000000));
	REC(t, .op = RVT_TANDEM_REG_OR, .reg = CSR_FCSR, .value = 8);
	end(t);
	insn(t, 0x00c60153);				/* fadd.s ft2,fa2,fa2: 2.0, boxed */
	reg(t, F(2), UINT64_C(0xffffffff40000000));
	end(t);
	insn(t, 0x00008153);				/* fadd.s ft2,ft1,ft0: ft0 is no single */
	reg(t, F(2), UINT64_C(0xffffffff7fc00000));
	end(t);
	insn(t, 0xe00500d3);				/* fmv.x.w ra,fa0: bits as they are */
	reg(t, X(1), 0);
	end(t);
	verify(t);
	assert_string_equal(t->text, "");
	assert_int_equal(t->result.compared, 6);
	free(t);
}

/* Code and data at effective addresses, by page tables that the trace loaded. */
static void translated(void **unused)
{
	struct trace *t = malloc(sizeof(*t));

	(void)unused;
	new_trace(t);
	begin(t);
	REC(t, .op = RVT_TANDEM_STATE_INIT);
	state(t, RVT_TANDEM_PC, 0xffffffff80000008);
	state(t, RVT_TANDEM_PRIV, 1);
	reg(t, CSR_SATP, UINT64_C(8) << 60 | 0x80010);
	reg(t, X(5), 0x55);
	/* the last gigabyte but one: V R W X A D, to physical 0x80000000 */
	store(t, 0x80010000 + 8 * 510, 3, (UINT64_C(0x80000000) >> 2) | 0xcf);
	store(t, 0x80010000 + 8 * 509, 3, 0);
	end(t);
	insn(t, 0x00001317);				/* auipc t1,1 */
	reg(t, X(6), 0xffffffff80001008);
	end(t);
	insn(t, 0x00533823);				/* sd t0,16(t1) */
	state(t, RVT_TANDEM_EADDR, 0xffffffff80001018);
	state(t, RVT_TANDEM_PADDR, 0x80001018);
	store(t, 0x80001018, 3, 0x55);
	end(t);
	insn(t, 0x01033383);				/* ld t2,16(t1), said to be elsewhere */
	state(t, RVT_TANDEM_PADDR, 0x80002018);
	reg(t, X(7), 0x55);
	end(t);
	begin(t);					/* jalr t0 to where no page is */
	REC(t, .op = RVT_TANDEM_STATE_INIT);
	reg(t, X(5), 0xffffffff40000000);
	end(t);
	begin(t);
	state(t, RVT_TANDEM_PC, 0xffffffff40000000);
	REC(t, .op = RVT_TANDEM_INSN32, .value = 0x00028067);
	end(t);
	begin(t);
	state(t, RVT_TANDEM_PC, HANDLER);
	reg(t, CSR_MEPC, 0xffffffff40000000);
	reg(t, CSR_MCAUSE, CAUSE_FETCH_PAGE);
	reg(t, CSR_MTVAL, 0xffffffff40000000);
	reg(t, CSR_MSTATUS, 1u << 11);
	state(t, RVT_TANDEM_PRIV, 3);
	end(t);
	verify(t);
	assert_string_equal(t->text, "  physical address: expected 0x80001018, seen 0x80002018\n");
	assert_int_equal(t->result.compared, 5);
	free(t);
}

static void rv32(void **unused)
{
	struct trace *t = calloc(1, sizeof(*t));

	(void)unused;
	rvt_tandem_params_init(&t->params, 32);
	t->options.ram_len = 1;
	t->options.ram[0] = (struct rvt_tandem_range){ 0x80000000, 1 << 20 };
	begin(t);
	REC(t, .op = RVT_TANDEM_STATE_INIT);
	state(t, RVT_TANDEM_PC, 0x80000000);
	state(t, RVT_TANDEM_PRIV, 3);
	reg(t, X(5), 0xffffffff);
	reg(t, X(6), 0x80001000);
	reg(t, CSR_MSCRATCH, 0x80000000);
	end(t);
	insn(t, 0x00128293);				/* addi t0,t0,1: wraps */
	reg(t, X(5), 0);
	end(t);
	insn(t, 0x0062a333);				/* slt t1,t0,t1: 0 < negative */
	reg(t, X(6), 0);
	end(t);
	insn(t, 0x34002373);				/* csrrs t1,mscratch,zero */
	reg(t, X(6), 0x80000000);
	end(t);
	insn(t, 0x00532823);				/* sw t0,16(t1) */
	store(t, 0x80000010, 2, 1);
	end(t);
	verify(t);
	assert_string_equal(t->text, "  memory 32 @0x80000010: expected 0x0, seen 0x1\n");
	assert_int_equal(t->result.compared, 4);
	free(t);
}

/* Nothing before the pc is known can be checked; then it can. */
static void without_initial_state(void **unused)
{
	struct trace *t = calloc(1, sizeof(*t));

	(void)unused;
	rvt_tandem_params_init(&t->params, 64);
	insn(t, 0x4295);
	reg(t, X(5), 5);
	end(t);
	begin(t);
	state(t, RVT_TANDEM_PC, BASE);
	REC(t, .op = RVT_TANDEM_INSN32, .value = 0x00028067);
	end(t);
	insn(t, 0x4295);
	reg(t, X(5), 6);
	end(t);
	verify(t);
	assert_int_equal(t->result.no_pc, 2);
	assert_string_equal(t->text, "  t0: expected 0x5, seen 0x6\n");
	free(t);
}

/* Damaged traces: the verifier ends and says so, whatever it is told to execute. */
static void hostile(void **unused)
{
	struct trace *t = malloc(sizeof(*t)), *damaged = malloc(sizeof(*t));
	struct rvt_tandem_reader *reader;
	unsigned int round, i;
	int ret;

	(void)unused;
	srand(8);
	new_trace(t);
	program(t);
	for (round = 0; round < 400; round++) {
		*damaged = *t;
		for (i = 0; i <= round % 12; i++)
			damaged->bytes[rand() % t->len] = rand();
		damaged->params.xlen = round % 7 == 6 ? 32 : 64;
		assert_int_equal(tandem_unicorn_create(&damaged->params, &damaged->options.ops,
						       &damaged->options.ctx), 0);
		assert_int_equal(rvt_tandem_open_memory(damaged->bytes, t->len, &damaged->params,
							&reader), 0);
		ret = rvt_tandem_verify(reader, &damaged->params, &damaged->options,
					&damaged->result);
		assert_int_equal(ret, 0);
		rvt_tandem_close(reader);
		tandem_unicorn_destroy(damaged->options.ctx);
	}
	free(damaged);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_program), cmocka_unit_test(wrong_programs),
		cmocka_unit_test(unobserved), cmocka_unit_test(device_reads),
		cmocka_unit_test(partial_trace), cmocka_unit_test(interrupts),
		cmocka_unit_test(incomparable), cmocka_unit_test(access_faults),
		cmocka_unit_test(floating_point),
		cmocka_unit_test(translated), cmocka_unit_test(without_initial_state),
		cmocka_unit_test(rv32),
		cmocka_unit_test(hostile),
	};

	if (!has_golden_model())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
