// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The tandem protocol: the tables of its appendix C byte by byte, every opcode, rules of groups. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/tandem.h>

#define BYTES(...) (const uint8_t []){ __VA_ARGS__ }, sizeof((const uint8_t []){ __VA_ARGS__ })
#define HAS(group, id) ((group).states >> (id) & 1)

/* The bytes of the tables, as appendix C prints them. */
/* Table C.8 is C.7 without an instruction and with other values. */
#define TRAP_REGS(epc, cause, top) \
	0x04, 0x41, 0x03, epc, 0x12, 0x08, 0, 0, 0, 0, 0, \
	0x04, 0x42, 0x03, cause, 0, 0, 0, 0, 0, 0, top, \
	0x04, 0x00, 0x03, 0xb0, 0x18, 0, 0, 0x0a, 0, 0, 0, \
	0x04, 0x43, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, \
	0x07, 0x01, 0x03
#define TRAP_PC 0x01, 0x07, 0x10, 0, 0, 0x01, 0, 0, 0, 0, 0
#define C1_ADD \
	0x01, 0x03, 0x11, 0xb3, 0x81, 0x62, 0x00, 0x04, 0x03, 0x10, 0x34, 0x12, \
	0, 0, 0, 0, 0, 0, 0x02
#define C2_JR \
	0x01, 0x07, 0x10, 0x00, 0x01, 0x00, 0x0c, 0, 0, 0, 0, 0x11, 0x67, 0x00, \
	0x01, 0x10, 0x02
#define C3_FADD \
	0x01, 0x03, 0x11, 0xd3, 0xf3, 0x16, 0x01, 0x04, 0x27, 0x10, 0xf9, 0xf4, \
	0xfe, 0x66, 0xff, 0xff, 0xff, 0xff, 0x06, 0x03, 0x00, 0x01, 0x02
#define C4_C_SUB \
	0x01, 0x03, 0x10, 0x0d, 0x8d, 0x04, 0x10, 0x10, 0x78, 0x56, 0x34, 0x12, \
	0xff, 0xff, 0xff, 0xff, 0x02
#define C5_LW \
	0x01, 0x03, 0x10, 0x03, 0xa2, 0x82, 0x00, 0x04, 0x04, 0x10, 0xaa, 0x55, \
	0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0x07, 0x02, 0x08, 0x00, 0x00, 0x01, \
	0, 0, 0, 0, 0x02
#define C6_CSRRC \
	0x01, 0x03, 0x11, 0xf3, 0xb4, 0x45, 0x30, 0x04, 0x09, 0x10, 0x88, 0x08, \
	0, 0, 0, 0, 0, 0, 0x04, 0x04, 0x03, 0x80, 0x08, 0, 0, 0, 0, 0, 0, \
	0x02
#define C7_ILLEGAL \
	TRAP_PC, 0x11, 0, 0, 0, 0, TRAP_REGS(0x34, 2, 0), 0x02
#define C8_INTERRUPT \
	TRAP_PC, TRAP_REGS(0x56, 3, 0x80), 0x02

struct trace {
	struct rvt_tandem_reader *reader;
	struct rvt_tandem_group group;
	unsigned int problems[RVT_TANDEM_PROBLEMS];
	uint64_t last_offset;
};

static void note(void *ctx, uint64_t offset, enum rvt_tandem_problem problem)
{
	struct trace *trace = ctx;

	trace->problems[problem]++;
	trace->last_offset = offset;
}

static void open_with(struct trace *trace, const struct rvt_tandem_params *params,
		      const uint8_t *bytes, size_t len)
{
	memset(trace, 0, sizeof(*trace));
	assert_int_equal(rvt_tandem_open_memory(bytes, len, params, &trace->reader), 0);
	rvt_tandem_on_problem(trace->reader, note, trace);
}

static void open_trace(struct trace *trace, const uint8_t *bytes, size_t len)
{
	struct rvt_tandem_params params;

	rvt_tandem_params_init(&params, 64);
	open_with(trace, &params, bytes, len);
}

static int next(struct trace *trace)
{
	return rvt_tandem_next_group(trace->reader, &trace->group);
}

static void one_group(struct trace *trace, const uint8_t *bytes, size_t len)
{
	open_trace(trace, bytes, len);
	assert_int_equal(next(trace), 1);
	assert_true(trace->group.in_group);
	assert_int_equal(trace->group.end, len);
}

static void done(struct trace *trace)
{
	assert_int_equal(next(trace), 0);
	rvt_tandem_close(trace->reader);
}

static void insn_is(const struct trace *trace, uint32_t insn, unsigned int bytes)
{
	assert_true(trace->group.has_insn);
	assert_int_equal(trace->group.insn, insn);
	assert_int_equal(trace->group.insn_bytes, bytes);
}

static void reg_is(const struct trace *trace, size_t i, unsigned int reg, uint64_t value)
{
	assert_true(i < trace->group.updates_len);
	assert_int_equal(trace->group.updates[i].op, RVT_TANDEM_REG_FULL);
	assert_int_equal(trace->group.updates[i].reg, reg);
	assert_int_equal(trace->group.updates[i].value, value);
}

static void clean(const struct trace *trace)
{
	unsigned int i;

	for (i = 1; i < RVT_TANDEM_PROBLEMS; i++)
		assert_int_equal(trace->problems[i], 0);
}

static void c1_add(void **state)
{
	struct trace t;

	(void)state;
	one_group(&t, BYTES(C1_ADD));
	assert_true(t.group.inc_pc);
	insn_is(&t, 0x006281b3, 4);
	assert_int_equal(t.group.updates_len, 1);
	reg_is(&t, 0, 0x1003, 0x1234);
	clean(&t);
	done(&t);
}

/* The pc's identifier, 10, is printed as the byte 10 (16). */
static void c2_jr(void **state)
{
	struct trace t;

	(void)state;
	one_group(&t, BYTES(C2_JR));
	assert_false(t.group.inc_pc);
	assert_true(HAS(t.group, RVT_TANDEM_PC));
	assert_int_equal(t.group.state[RVT_TANDEM_PC], 0x0c000100);
	insn_is(&t, 0x10010067, 4);
	assert_int_equal(t.problems[RVT_TANDEM_QUIRK], 1);
	assert_int_equal(t.last_offset, 1);
	done(&t);
	/* and as the text has it */
	one_group(&t, BYTES(0x01, 0x07, 0x0a, 0x00, 0x01, 0x00, 0x0c, 0, 0, 0, 0, 0x11, 0x67, 0x00,
			    0x01, 0x10, 0x02));
	assert_int_equal(t.group.state[RVT_TANDEM_PC], 0x0c000100);
	clean(&t);
	done(&t);
}

static void c3_fadd(void **state)
{
	struct trace t;

	(void)state;
	one_group(&t, BYTES(C3_FADD));
	insn_is(&t, 0x0116f3d3, 4);
	assert_int_equal(t.group.updates_len, 2);
	reg_is(&t, 0, RVT_TANDEM_FPR + 7, UINT64_C(0xffffffff66fef4f9));
	assert_int_equal(t.group.updates[1].op, RVT_TANDEM_REG_OR);
	assert_int_equal(t.group.updates[1].reg, 3);
	assert_int_equal(t.group.updates[1].value, 1);
	clean(&t);
	done(&t);
}

/* The table calls 10 10 "a0 (x10)"; x10 is 0a 10, and the bytes say x16. */
static void c4_c_sub(void **state)
{
	struct trace t;

	(void)state;
	one_group(&t, BYTES(C4_C_SUB));
	insn_is(&t, 0x8d0d, 2);
	reg_is(&t, 0, RVT_TANDEM_GPR + 16, UINT64_C(0xffffffff12345678));
	clean(&t);
	done(&t);
}

/* A 32-bit instruction after opcode 16: its low bits say that it is one. */
static void c5_lw(void **state)
{
	struct trace t;

	(void)state;
	one_group(&t, BYTES(C5_LW));
	insn_is(&t, 0x0082a203, 4);
	assert_true(t.group.inc_pc);
	reg_is(&t, 0, RVT_TANDEM_GPR + 4, UINT64_C(0x55aa55aa55aa55aa));
	assert_int_equal(t.group.state[RVT_TANDEM_PADDR], 0x01000008);
	assert_int_equal(t.problems[RVT_TANDEM_QUIRK], 1);
	assert_int_equal(t.last_offset, 2);
	done(&t);
}

static void c6_csrrc(void **state)
{
	struct trace t;

	(void)state;
	one_group(&t, BYTES(C6_CSRRC));
	insn_is(&t, 0x3045b4f3, 4);
	reg_is(&t, 0, RVT_TANDEM_GPR + 9, 0x888);
	reg_is(&t, 1, 0x304, 0x880);
	clean(&t);
	done(&t);
}

static void trap_is(const struct trace *t, uint64_t epc, uint64_t cause)
{
	assert_int_equal(t->group.state[RVT_TANDEM_PC], 0x10000);
	assert_int_equal(t->group.updates_len, 4);
	reg_is(t, 0, 0x341, epc);
	reg_is(t, 1, 0x342, cause);
	reg_is(t, 2, 0x300, UINT64_C(0xa000018b0));
	reg_is(t, 3, 0x343, 0);
	assert_int_equal(t->group.state[RVT_TANDEM_PRIV], 3);
}

static void c7_illegal(void **state)
{
	struct trace t;

	(void)state;
	one_group(&t, BYTES(C7_ILLEGAL));
	insn_is(&t, 0, 4);
	trap_is(&t, 0x81234, 2);
	assert_int_equal(t.problems[RVT_TANDEM_QUIRK], 1);
	done(&t);
}

static void c8_interrupt(void **state)
{
	struct trace t;

	(void)state;
	one_group(&t, BYTES(C8_INTERRUPT));
	assert_false(t.group.has_insn);
	trap_is(&t, 0x81256, UINT64_C(0x8000000000000003));
	done(&t);
}

/* Decodes and encodes again, with the bytes that @text has; returns the length. */
static size_t again(enum rvt_tandem_text text, const uint8_t *bytes, size_t len, uint8_t *out)
{
	struct rvt_tandem_reader *reader;
	struct rvt_tandem_record record;
	struct rvt_tandem_params params;
	size_t n = 0;

	rvt_tandem_params_init(&params, 64);
	assert_int_equal(rvt_tandem_open_memory(bytes, len, &params, &reader), 0);
	params.text = text;
	while (rvt_tandem_next(reader, &record))
		n += rvt_tandem_encode(&params, &record, out + n);
	rvt_tandem_close(reader);
	return n;
}

/* All eight tables come back byte for byte, or as the text of chapter 2 has them. */
static void appendix_c_round_trip(void **state)
{
	const struct {
		const uint8_t *bytes;
		size_t len;
		int differs_at;		/* from chapter 2; -1: nowhere */
		uint8_t chapter_2;
	} tables[] = {
		{ BYTES(C1_ADD), -1, 0 }, { BYTES(C2_JR), 2, 0x0a }, { BYTES(C3_FADD), -1, 0 },
		{ BYTES(C4_C_SUB), -1, 0 }, { BYTES(C5_LW), 2, 0x11 },
		{ BYTES(C6_CSRRC), -1, 0 }, { BYTES(C7_ILLEGAL), 2, 0x0a },
		{ BYTES(C8_INTERRUPT), 2, 0x0a },
	};
	uint8_t out[128], expected[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		assert_int_equal(again(RVT_TANDEM_APPENDIX_C, tables[i].bytes, tables[i].len, out),
				 tables[i].len);
		assert_memory_equal(out, tables[i].bytes, tables[i].len);
		memcpy(expected, tables[i].bytes, tables[i].len);
		if (tables[i].differs_at >= 0)
			expected[tables[i].differs_at] = tables[i].chapter_2;
		assert_int_equal(again(RVT_TANDEM_CHAPTER_2, tables[i].bytes, tables[i].len, out),
				 tables[i].len);
		assert_memory_equal(out, expected, tables[i].len);
	}
}

/* Without the byte of its end: implied by the next begin, or by the end of the trace. */
static void c8_without_end(void **state)
{
	struct trace t;

	(void)state;
	open_trace(&t, BYTES(TRAP_PC, TRAP_REGS(0x56, 3, 0x80),
			     0x01, 0x03, 0x10, 0x01, 0x00, 0x02));
	assert_int_equal(next(&t), 1);
	trap_is(&t, 0x81256, UINT64_C(0x8000000000000003));
	assert_int_equal(t.problems[RVT_TANDEM_NESTED_BEGIN], 1);
	assert_int_equal(t.problems[RVT_TANDEM_OPEN_AT_END], 0);
	assert_int_equal(next(&t), 1);
	insn_is(&t, 1, 2);
	assert_int_equal(t.group.updates_len, 0);
	done(&t);

	open_trace(&t, BYTES(TRAP_PC, TRAP_REGS(0x56, 3, 0x80)));
	assert_int_equal(next(&t), 1);
	trap_is(&t, 0x81256, UINT64_C(0x8000000000000003));
	assert_int_equal(t.problems[RVT_TANDEM_OPEN_AT_END], 1);
	done(&t);
}

static void encodes(const struct rvt_tandem_params *params, const struct rvt_tandem_record *record,
		    const uint8_t *expected, size_t len)
{
	struct rvt_tandem_record back, request = {
		.op = RVT_TANDEM_MEM_REQ, .mem_op = record->mem_op,
	};
	enum rvt_tandem_problem problem;
	uint8_t out[RVT_TANDEM_MAX_RECORD];

	assert_int_equal(rvt_tandem_encode(params, record, out), len);
	assert_memory_equal(out, expected, len);
	assert_int_equal(rvt_tandem_decode(params, out, len, &request, &back, &problem), len);
	assert_int_equal(back.op, record->op);
	assert_int_equal(back.reg, record->reg);
	assert_int_equal(back.state_id, record->state_id);
	assert_int_equal(back.mem_op, record->mem_op);
	assert_int_equal(back.mem_size, record->mem_size);
	assert_int_equal(back.mem_result, record->mem_result);
	assert_int_equal(back.addr, record->addr);
	assert_int_equal(back.value, record->value);
}

#define REC(...) (&(struct rvt_tandem_record){ __VA_ARGS__ })

static void opcodes_rv64(void **state)
{
	struct rvt_tandem_params p;

	(void)state;
	rvt_tandem_params_init(&p, 64);
	encodes(&p, REC(.op = 1), BYTES(1));
	encodes(&p, REC(.op = 2), BYTES(2));
	encodes(&p, REC(.op = 3), BYTES(3));
	encodes(&p, REC(.op = 10), BYTES(10));
	encodes(&p, REC(.op = 11), BYTES(11));
	encodes(&p, REC(.op = 4, .reg = 0x300, .value = 0x1122334455667788),
		BYTES(4, 0x00, 0x03, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11));
	encodes(&p, REC(.op = 5, .reg = 0xb00, .value = (uint64_t)-3), BYTES(5, 0x00, 0x0b, 0xfd));
	encodes(&p, REC(.op = 5, .reg = 0xb00, .value = 127), BYTES(5, 0x00, 0x0b, 0x7f));
	encodes(&p, REC(.op = 6, .reg = 3, .value = 0x81), BYTES(6, 3, 0, 0x81));
	encodes(&p, REC(.op = 7, .state_id = 1, .value = 3), BYTES(7, 1, 3));
	encodes(&p, REC(.op = 7, .state_id = 2, .value = 0x80000000),
		BYTES(7, 2, 0, 0, 0, 0x80, 0, 0, 0, 0));
	encodes(&p, REC(.op = 7, .state_id = 4, .value = 0xff), BYTES(7, 4, 0xff));
	encodes(&p, REC(.op = 7, .state_id = 5, .value = 0xff01), BYTES(7, 5, 1, 0xff));
	encodes(&p, REC(.op = 7, .state_id = 6, .value = 0xff010203), BYTES(7, 6, 3, 2, 1, 0xff));
	encodes(&p, REC(.op = 7, .state_id = 7, .value = 1), BYTES(7, 7, 1, 0, 0, 0, 0, 0, 0, 0));
	encodes(&p, REC(.op = 7, .state_id = 8, .value = 2), BYTES(7, 8, 2, 0, 0, 0, 0, 0, 0, 0));
	encodes(&p, REC(.op = 7, .state_id = 9, .value = 3), BYTES(7, 9, 3, 0, 0, 0, 0, 0, 0, 0));
	encodes(&p, REC(.op = 7, .state_id = 10, .value = 4), BYTES(7, 10, 4, 0, 0, 0, 0, 0, 0, 0));
	encodes(&p, REC(.op = 16, .value = 0x8d0d), BYTES(16, 0x0d, 0x8d));
	encodes(&p, REC(.op = 17, .value = 0x0082a203), BYTES(17, 0x03, 0xa2, 0x82, 0x00));
}

/* "packed with the first field starting at the least significant bit": op before size in a request,
 * size before result in a response. */
static void memory_packing(void **state)
{
	struct rvt_tandem_params p;

	(void)state;
	rvt_tandem_params_init(&p, 64);
	encodes(&p, REC(.op = 8, .addr = 0x1000, .mem_op = RVT_TANDEM_LOAD, .mem_size = 3),
		BYTES(8, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x30));
	encodes(&p, REC(.op = 8, .addr = 0x1000, .mem_op = RVT_TANDEM_FETCH, .mem_size = 2),
		BYTES(8, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x2d));
	encodes(&p, REC(.op = 8, .addr = 1, .mem_op = RVT_TANDEM_STORE, .mem_size = 1,
		    .value = 0xbeef),
		BYTES(8, 1, 0, 0, 0, 0, 0, 0, 0, 0x11, 0xef, 0xbe));
	encodes(&p, REC(.op = 8, .addr = 1, .mem_op = RVT_TANDEM_AMO_MAXU, .mem_size = 2,
		    .value = 5),
		BYTES(8, 1, 0, 0, 0, 0, 0, 0, 0, 0x2c, 5, 0, 0, 0));
	encodes(&p, REC(.op = 8, .addr = 1, .mem_op = RVT_TANDEM_LR, .mem_size = 2),
		BYTES(8, 1, 0, 0, 0, 0, 0, 0, 0, 0x22));
	encodes(&p, REC(.op = 8, .addr = 1, .mem_op = RVT_TANDEM_SC, .mem_size = 0, .value = 9),
		BYTES(8, 1, 0, 0, 0, 0, 0, 0, 0, 0x03, 9));
	encodes(&p, REC(.op = 9, .mem_op = RVT_TANDEM_LOAD, .mem_size = 0, .value = 0x7f),
		BYTES(9, 0x00, 0x7f));
	encodes(&p, REC(.op = 9, .mem_op = RVT_TANDEM_AMO_ADD, .mem_size = 3, .mem_result = 1,
		    .value = 1),
		BYTES(9, 0x13, 1, 0, 0, 0, 0, 0, 0, 0));
	encodes(&p, REC(.op = 9, .mem_op = RVT_TANDEM_STORE, .mem_size = 2), BYTES(9, 0x02));
	encodes(&p, REC(.op = 9, .mem_op = RVT_TANDEM_SC, .mem_size = 2, .mem_result = 1),
		BYTES(9, 0x12));
}

/* RV32 with Sv32: MLEN 34, fields of 40 bits; FLEN may be wider than XLEN. */
static void parameters_rv32(void **state)
{
	struct rvt_tandem_params p;

	(void)state;
	rvt_tandem_params_init(&p, 32);
	assert_int_equal(p.mlen, 34);
	encodes(&p, REC(.op = 8, .addr = UINT64_C(0x3ffffff00), .mem_op = RVT_TANDEM_LOAD,
		    .mem_size = 2),
		BYTES(8, 0x00, 0xff, 0xff, 0xff, 0x03, 0x20));
	encodes(&p, REC(.op = 7, .state_id = 9, .value = UINT64_C(0x280000000)),
		BYTES(7, 9, 0, 0, 0, 0x80, 2));
	encodes(&p, REC(.op = 7, .state_id = 10, .value = 0x80000004), BYTES(7, 10, 4, 0, 0, 0x80));
	encodes(&p, REC(.op = 4, .reg = 0x1001, .value = 0x80000004),
		BYTES(4, 1, 0x10, 4, 0, 0, 0x80));
	encodes(&p, REC(.op = 4, .reg = 0x1020, .value = 1),
		BYTES(4, 0x20, 0x10, 1, 0, 0, 0, 0, 0, 0, 0));
	p.flen = 32;
	encodes(&p, REC(.op = 4, .reg = 0x103f, .value = 1), BYTES(4, 0x3f, 0x10, 1, 0, 0, 0));
	p.mlen = 32;
	encodes(&p, REC(.op = 7, .state_id = 3, .value = 1), BYTES(7, 3, 1, 0, 0, 0));
}

static void wrong_parameters(void **state)
{
	struct rvt_tandem_params p;
	struct rvt_tandem_reader *reader;

	(void)state;
	rvt_tandem_params_init(&p, 64);
	assert_int_equal(rvt_tandem_params_check(&p), 0);
	p.xlen = 48;
	assert_int_equal(rvt_tandem_params_check(&p), -EINVAL);
	assert_int_equal(rvt_tandem_open_memory("", 0, &p, &reader), -EINVAL);
	rvt_tandem_params_init(&p, 64);
	p.mlen = 40;
	assert_int_equal(rvt_tandem_params_check(&p), -EINVAL);
}

static void undecodable(void **state)
{
	static const struct {
		uint8_t bytes[12];
		size_t len;
		enum rvt_tandem_problem problem;
	} cases[] = {
		{ { 0 }, 1, RVT_TANDEM_BAD_OPCODE },
		{ { 12 }, 1, RVT_TANDEM_BAD_OPCODE },
		{ { 15 }, 1, RVT_TANDEM_BAD_OPCODE },
		{ { 18 }, 1, RVT_TANDEM_BAD_OPCODE },
		{ { 255 }, 1, RVT_TANDEM_BAD_OPCODE },
		{ { 4, 0x40, 0x10, 0, 0, 0, 0, 0, 0, 0, 0 }, 11, RVT_TANDEM_BAD_REGISTER },
		{ { 6, 0xff, 0xff, 0 }, 4, RVT_TANDEM_BAD_REGISTER },
		{ { 7, 0, 0 }, 3, RVT_TANDEM_BAD_STATE_ID },
		{ { 7, 11, 0 }, 3, RVT_TANDEM_BAD_STATE_ID },
		{ { 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x40 }, 10, RVT_TANDEM_BAD_MEM },
		{ { 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x0e }, 10, RVT_TANDEM_BAD_MEM },
		{ { 9, 0x20, 0 }, 3, RVT_TANDEM_BAD_MEM },
		{ { 9, 0x04, 0 }, 3, RVT_TANDEM_BAD_MEM },
		{ { 4, 0x40 }, 2, RVT_TANDEM_TRUNCATED },
		{ { 4, 0x01, 0x10, 0, 0, 0, 0, 0, 0, 0 }, 10, RVT_TANDEM_TRUNCATED },
		{ { 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0 }, 11, RVT_TANDEM_TRUNCATED },
		{ { 9, 0x01, 0 }, 3, RVT_TANDEM_TRUNCATED },
		{ { 16, 0 }, 2, RVT_TANDEM_TRUNCATED },
		{ { 17, 0, 0, 0 }, 4, RVT_TANDEM_TRUNCATED },
		{ { 0 }, 0, RVT_TANDEM_TRUNCATED },
	};
	struct rvt_tandem_record record;
	struct rvt_tandem_params p;
	enum rvt_tandem_problem problem;
	size_t i;

	(void)state;
	rvt_tandem_params_init(&p, 64);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(rvt_tandem_decode(&p, cases[i].bytes, cases[i].len, NULL, &record,
						   &problem), -EBADMSG);
		assert_int_equal(problem, cases[i].problem);
	}
	p.ilen = 16;
	assert_int_equal(rvt_tandem_decode(&p, BYTES(17, 3, 0, 0, 0), NULL, &record, &problem),
			 -EBADMSG);
	assert_int_equal(problem, RVT_TANDEM_BAD_OPCODE);
}

static void unencodable(void **state)
{
	uint8_t out[RVT_TANDEM_MAX_RECORD];
	struct rvt_tandem_params p;

	(void)state;
	rvt_tandem_params_init(&p, 64);
	assert_int_equal(rvt_tandem_encode(&p, REC(.op = 0), out), -EINVAL);
	assert_int_equal(rvt_tandem_encode(&p, REC(.op = 18), out), -EINVAL);
	assert_int_equal(rvt_tandem_encode(&p, REC(.op = 4, .reg = 0x1040), out), -EINVAL);
	assert_int_equal(rvt_tandem_encode(&p, REC(.op = 7, .state_id = 0x10), out), -EINVAL);
	assert_int_equal(rvt_tandem_encode(&p, REC(.op = 8, .mem_op = 14), out), -EINVAL);
	assert_int_equal(rvt_tandem_encode(&p, REC(.op = 8, .mem_size = 4), out), -EINVAL);
	assert_int_equal(rvt_tandem_encode(&p, REC(.op = 9, .mem_result = 2), out), -EINVAL);
}

static void group_rules(void **state)
{
	struct trace t;

	(void)state;
	/* increment pc outside of a group, and in a group without an instruction */
	open_trace(&t, BYTES(3, 1, 3, 2));
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_INC_PC_ALONE], 1);
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_INC_PC_ALONE], 2);
	assert_false(t.group.inc_pc);
	done(&t);
	/* order is free: increment pc before or after the instruction */
	open_trace(&t, BYTES(1, 16, 1, 0, 3, 2));
	assert_int_equal(next(&t), 1);
	assert_true(t.group.inc_pc);
	clean(&t);
	done(&t);
	/* orphan end groups are forgiven, with their offsets */
	open_trace(&t, BYTES(1, 16, 1, 0, 2, 2, 1, 16, 1, 0, 2));
	assert_int_equal(next(&t), 1);
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_ORPHAN_END], 1);
	assert_int_equal(t.last_offset, 5);
	insn_is(&t, 1, 2);
	done(&t);
	/* state initialization must not go with an instruction or a reset, and needs a group */
	open_trace(&t, BYTES(1, 11, 16, 1, 0, 2, 1, 11, 10, 2, 11));
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_INIT_MIXED], 1);
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_INIT_MIXED], 2);
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_INIT_ALONE], 1);
	done(&t);
	/* "Only unambiguous state changes are allowed" */
	open_trace(&t, BYTES(1, 16, 1, 0, 16, 1, 0, 2, 1, 7, 1, 3, 7, 1, 0, 2));
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_AMBIGUOUS], 1);
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_AMBIGUOUS], 2);
	done(&t);
	/* a register's full value beside another update of it; two masks are no contradiction */
	open_trace(&t, BYTES(1, 16, 1, 0, 6, 3, 0, 1, 6, 3, 0, 2,
			     4, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
			     1, 16, 1, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2));
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_AMBIGUOUS], 1);
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_AMBIGUOUS], 1);
	done(&t);
}

static void responses(void **state)
{
	struct trace t;

	(void)state;
	/* an absent response is fine; a response belongs to the request immediately before it */
	open_trace(&t, BYTES(1,
			     8, 0, 1, 0, 0, 0, 0, 0, 0, 0x00,
			     8, 8, 1, 0, 0, 0, 0, 0, 0, 0x10, 9, 0x01, 0x34, 0x12,
			     8, 9, 1, 0, 0, 0, 0, 0, 0, 0x11, 0xcd, 0xab, 9, 0x11, 2));
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.group.accesses_len, 3);
	assert_false(t.group.accesses[0].has_response);
	assert_true(t.group.accesses[1].has_response);
	assert_int_equal(t.group.accesses[1].load_data, 0x1234);
	assert_int_equal(t.group.accesses[1].result, 0);
	assert_int_equal(t.group.accesses[2].store_data, 0xabcd);
	assert_int_equal(t.group.accesses[2].result, 1);
	clean(&t);
	done(&t);
	/* something between request and response; size that differs */
	open_trace(&t, BYTES(1, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0x00, 16, 1, 0, 9, 0x00, 0x7f, 2));
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_ORPHAN_RSP], 1);
	assert_int_equal(t.last_offset, 14);
	assert_false(t.group.accesses[0].has_response);
	done(&t);
	open_trace(&t, BYTES(8, 0, 1, 0, 0, 0, 0, 0, 0, 0x00, 9, 0x01, 0x7f, 0x7f));
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.problems[RVT_TANDEM_RSP_SIZE], 1);
	done(&t);
	/* outside of groups a request takes its response along */
	open_trace(&t, BYTES(8, 0, 1, 0, 0, 0, 0, 0, 0, 0x00, 9, 0x00, 0x7f, 7, 1, 1));
	assert_int_equal(next(&t), 1);
	assert_true(t.group.accesses[0].has_response);
	assert_false(t.group.in_group);
	assert_int_equal(next(&t), 1);
	assert_int_equal(t.group.state[RVT_TANDEM_PRIV], 1);
	done(&t);
}

/* Damage is located, and reading goes on at the next pair of end and begin. */
static void resync_after_damage(void **state)
{
	struct trace t;

	(void)state;
	open_trace(&t, BYTES(1, 16, 1, 0, 2,
			     1, 3, 0xee, 16, 1, 0, 2,
			     1, 16, 5, 0, 2));
	assert_int_equal(next(&t), 1);
	insn_is(&t, 1, 2);
	assert_int_equal(next(&t), 1);
	insn_is(&t, 5, 2);
	assert_false(t.group.inc_pc);
	assert_int_equal(t.group.offset, 12);
	assert_int_equal(t.problems[RVT_TANDEM_BAD_OPCODE], 1);
	assert_int_equal(t.last_offset, 7);
	assert_int_equal(rvt_tandem_stats(t.reader)->skipped_bytes, 5);
	done(&t);
}

static void shadow_state(void **state)
{
	struct rvt_tandem_shadow shadow;
	struct rvt_tandem_params p;
	uint64_t word = 0;
	struct trace t;

	(void)state;
	rvt_tandem_params_init(&p, 64);
	assert_int_equal(rvt_tandem_shadow_init(&shadow, &p), 0);
	open_trace(&t, BYTES(1, 11, 4, 5, 0x10, 0xfe, 0, 0, 0, 0, 0, 0, 0,
			     7, 10, 0, 1, 0, 0, 0, 0, 0, 0, 2,
			     1, 16, 1, 0, 3, 5, 5, 0x10, 0xff, 6, 5, 0x10, 0x02, 2,
			     1, 5, 6, 0x10, 1, 4, 0, 0x10, 9, 0, 0, 0, 0, 0, 0, 0, 2,
			     /* amoadd.w of 2 at an address that held -1 */
			     1, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0x25, 2, 0, 0, 0,
			     9, 0x02, 0xff, 0xff, 0xff, 0xff, 2,
			     /* a failed sc stores nothing */
			     1, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0x23, 7, 0, 0, 0, 9, 0x12, 2,
			     /* store data with its physical address */
			     1, 7, 5, 0x22, 0x11, 7, 2, 4, 1, 0, 0, 0, 0, 0, 0, 2));
	while (next(&t))
		assert_int_equal(rvt_tandem_shadow_apply(&shadow, &t.group), 0);
	clean(&t);
	rvt_tandem_close(t.reader);
	assert_int_equal(shadow.regs[RVT_TANDEM_GPR + 5], 0xff);
	assert_int_equal(shadow.pc, 0x102);
	assert_false(shadow.known[RVT_TANDEM_GPR + 6]);
	assert_int_equal(shadow.regs[RVT_TANDEM_GPR], 0);
	assert_int_equal(rvt_tandem_memory_read(shadow.memory, 0x100, &word, 8), 6);
	assert_int_equal(word, UINT64_C(0x112200000001));
	rvt_tandem_shadow_fini(&shadow);
}

static void amo_results(void **state)
{
	static const struct {
		uint8_t op, size;
		uint64_t old, arg, result;
	} cases[] = {
		{ RVT_TANDEM_AMO_SWAP, 2, 1, 2, 2 },
		{ RVT_TANDEM_AMO_ADD, 2, 0xffffffff, 3, 2 },
		{ RVT_TANDEM_AMO_XOR, 3, 0xf0f0, 0xffff, 0x0f0f },
		{ RVT_TANDEM_AMO_AND, 3, 0xf0f0, 0xff00, 0xf000 },
		{ RVT_TANDEM_AMO_OR, 3, 0xf0f0, 0x000f, 0xf0ff },
		{ RVT_TANDEM_AMO_MIN, 2, 0xffffffff, 1, 0xffffffff },
		{ RVT_TANDEM_AMO_MAX, 2, 0xffffffff, 1, 1 },
		{ RVT_TANDEM_AMO_MINU, 2, 0xffffffff, 1, 1 },
		{ RVT_TANDEM_AMO_MAXU, 2, 0xffffffff, 1, 0xffffffff },
		{ RVT_TANDEM_AMO_MIN, 3, INT64_MIN, 1, INT64_MIN },
	};
	uint64_t bytes;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rvt_tandem_access access = {
			.mem_op = cases[i].op, .mem_size = cases[i].size, .has_response = true,
			.load_data = cases[i].old, .store_data = cases[i].arg,
		};

		assert_int_equal(rvt_tandem_access_stored(&access, &bytes), 1u << cases[i].size);
		assert_int_equal(bytes, cases[i].result);
	}
}

static void names(void **state)
{
	char buf[16];

	(void)state;
	assert_string_equal(rvt_tandem_reg_name(0x300, buf), "mstatus");
	assert_string_equal(rvt_tandem_reg_name(0x100a, buf), "a0");
	assert_string_equal(rvt_tandem_reg_name(0x1027, buf), "ft7");
	assert_string_equal(rvt_tandem_reg_name(0x3b3, buf), "pmpaddr3");
	assert_string_equal(rvt_tandem_reg_name(0xb83, buf), "mhpmcounter3h");
	assert_string_equal(rvt_tandem_reg_name(0x5a8, buf), "scontext");
	assert_string_equal(rvt_tandem_reg_name(0x7c0, buf), "0x07c0");
	assert_int_equal(rvt_tandem_reg_find("satp"), 0x180);
	assert_int_equal(rvt_tandem_reg_find("0x7c0"), 0x7c0);
	assert_int_equal(rvt_tandem_reg_find("hpmcounter31"), 0xc1f);
	assert_int_equal(rvt_tandem_reg_find("x99"), -EINVAL);
}

/* Random and damaged bytes: whatever comes, it ends, and every byte is accounted for. */
static void hostile(void **state)
{
	static const uint8_t seed_bytes[] = {
		TRAP_PC, 0x11, 0, 0, 0, 0, TRAP_REGS(0x34, 2, 0), 0x02,
		1, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0x25, 2, 0, 0, 0, 9, 0x02, 0xff, 0xff, 0xff, 0xff, 2,
	};
	struct rvt_tandem_shadow shadow;
	struct rvt_tandem_params p;
	unsigned int round, i;
	uint8_t *bytes;
	struct trace t;
	size_t len;

	(void)state;
	srand(20181120);
	rvt_tandem_params_init(&p, 64);
	for (round = 0; round < 3000; round++) {
		len = rand() % 600;
		/* exactly sized, so that the sanitiser sees a read too far */
		bytes = malloc(len ? len : 1);
		assert_non_null(bytes);
		for (i = 0; i < len; i++)
			bytes[i] = round & 1 ? rand() : seed_bytes[i % sizeof(seed_bytes)];
		for (i = 0; i < len / 40; i++)
			bytes[rand() % len] = rand() % 20;
		p.xlen = round & 2 ? 32 : 64;
		p.mlen = round & 4 ? 34 : 64;
		assert_int_equal(rvt_tandem_shadow_init(&shadow, &p), 0);
		open_with(&t, &p, bytes, len);
		for (i = 0; next(&t) == 1; i++) {
			assert_true(t.group.offset < t.group.end && t.group.end <= len);
			assert_int_equal(rvt_tandem_shadow_apply(&shadow, &t.group), 0);
		}
		assert_true(i <= len);
		assert_true(rvt_tandem_stats(t.reader)->skipped_bytes <= len);
		rvt_tandem_close(t.reader);
		rvt_tandem_shadow_fini(&shadow);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c1_add), cmocka_unit_test(c2_jr), cmocka_unit_test(c3_fadd),
		cmocka_unit_test(c4_c_sub), cmocka_unit_test(c5_lw), cmocka_unit_test(c6_csrrc),
		cmocka_unit_test(c7_illegal), cmocka_unit_test(c8_interrupt),
		cmocka_unit_test(c8_without_end), cmocka_unit_test(appendix_c_round_trip),
		cmocka_unit_test(opcodes_rv64),
		cmocka_unit_test(memory_packing), cmocka_unit_test(parameters_rv32),
		cmocka_unit_test(wrong_parameters), cmocka_unit_test(undecodable),
		cmocka_unit_test(unencodable), cmocka_unit_test(group_rules),
		cmocka_unit_test(responses), cmocka_unit_test(resync_after_damage),
		cmocka_unit_test(shadow_state), cmocka_unit_test(amo_results),
		cmocka_unit_test(names), cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
