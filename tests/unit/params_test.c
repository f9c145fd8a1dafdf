// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/insn.h>
#include <rvtrace/params.h>

static int parse(struct rvt_params *params, const char *text, char **error)
{
	*params = (struct rvt_params){ .size = sizeof(*params) };
	return rvt_params_parse(params, "FILE", text, strlen(text), error);
}

static void parse_good(struct rvt_params *params, const char *text)
{
	char *error;

	if (parse(params, text, &error))
		fail_msg("%s", error);
	assert_null(error);
}

static void parse_bad(const char *text, const char *message)
{
	struct rvt_params params;
	char *error;

	assert_int_equal(parse(&params, text, &error), -EINVAL);
	assert_string_equal(error, message);
	free(error);
}

static void test_ntrace(void **state)
{
	struct rvt_params params;

	(void)state;
	parse_good(&params, "# a board\n"
		   "mode = btm   # needs no order\n"
		   "protocol = ntrace\r\n"
		   "dialect=1.0.0_rc7\n\n"
		   "  xlen = 32\n"
		   "isa = zcmp, zcmt\n"
		   "src_bits = 12\n"
		   "timestamp = xor\n"
		   "jvt = 0x80001000\n"
		   "options = implicit_return,sequential_jump, repeated_history, all_jumps,"
		   " extend_address_msb\n"
		   "implicit_return_mode = 2");
	assert_int_equal(params.protocol, RVT_PROTOCOL_NTRACE);
	assert_int_equal(params.dialect, RVT_DIALECT_NTRACE_RC7);
	assert_int_equal(params.mode, RVT_MODE_BTM);
	assert_int_equal(params.xlen, 32);
	assert_int_equal(params.isa, RVT_ISA_RV32 | RVT_ISA_ZCMP | RVT_ISA_ZCMT);
	assert_int_equal(params.src_bits, 12);
	assert_int_equal(params.timestamp, RVT_TIMESTAMP_XOR);
	assert_int_equal(params.jvt, 0x80001000);
	assert_int_equal(params.options, RVT_OPT_IMPLICIT_RETURN | RVT_OPT_SEQUENTIAL_JUMP |
			 RVT_OPT_REPEATED_HISTORY | RVT_OPT_ALL_JUMPS |
			 RVT_OPT_EXTEND_ADDRESS_MSB);
	assert_int_equal(params.implicit_return_mode, 2);
}

static void test_framing(void **state)
{
	struct rvt_params params;

	(void)state;
	parse_good(&params, "protocol = ntrace\n");
	assert_int_equal(params.framing, RVT_FRAMING_NONE);
	assert_int_equal(params.atid, 0);
	parse_good(&params, "protocol = etrace\nframing = coresight\natid = 0x12\n");
	assert_int_equal(params.framing, RVT_FRAMING_CORESIGHT);
	assert_int_equal(params.atid, 0x12);
	parse_bad("protocol = ntrace\natid = 0x70\n",
		  "FILE:2: unknown value '0x70' for 'atid'; valid values: 0..111");
	parse_bad("protocol = ntrace\nframing = tmc\n",
		  "FILE:2: unknown value 'tmc' for 'framing'; valid values: none, coresight");
}

static void test_defaults(void **state)
{
	struct rvt_params params;

	(void)state;
	parse_good(&params, "protocol = ntrace\n");
	assert_int_equal(params.dialect, RVT_DIALECT_NTRACE_1_0);
	assert_int_equal(params.mode, RVT_MODE_AUTO);
	assert_int_equal(params.xlen, 64);
	assert_int_equal(params.options, 0);
	parse_good(&params, "timestamp = delta\ndialect = sifive\n");
	assert_int_equal(params.protocol, RVT_PROTOCOL_NTRACE);
	assert_int_equal(params.timestamp, RVT_TIMESTAMP_DELTA);
	assert_int_equal(params.implicit_return_mode, 1);
	assert_int_equal(params.return_stack_depth, 1023);
	/* the dialect alone is enough */
	parse_good(&params, "dialect = 2.0.5\n");
	assert_int_equal(params.protocol, RVT_PROTOCOL_ETRACE);
	assert_int_equal(params.dialect, RVT_DIALECT_ETRACE_2_0_5);
	/* chapter 7 of E-Trace: default attributes */
	parse_good(&params, "protocol = etrace\n");
	assert_int_equal(params.dialect, RVT_DIALECT_ETRACE_2_0);
	assert_int_equal(params.iaddress_width_p, 32);
	assert_int_equal(params.iaddress_lsb_p, 1);
	assert_int_equal(params.privilege_width_p, 2);
	assert_int_equal(params.ecause_width_p, 4);
	assert_int_equal(params.nocontext_p, 1);
	assert_int_equal(params.notime_p, 1);
	assert_int_equal(params.xlen, 32);
	parse_good(&params, "protocol = etrace\ndialect = 0.029\niaddress_width_p = 64\n");
	assert_int_equal(params.privilege_width_p, 3);
	assert_int_equal(params.nocontext_p, 0);
	assert_int_equal(params.xlen, 64);
}

static void test_etrace(void **state)
{
	struct rvt_params params;

	(void)state;
	parse_good(&params, "protocol = etrace\n"
		   "ioptions = sequential_jump, -, implicit_return, full_address\n"
		   "options =\n"
		   "trap_vector = 0x100\n"
		   "trap_vector.exception.13 = 0x80000200\n"
		   "trap_vector.interrupt.63 = 768\n");
	assert_int_equal(params.n_ioptions, 4);
	assert_int_equal(params.ioptions[0], RVT_OPT_SEQUENTIAL_JUMP);
	assert_int_equal(params.ioptions[1], 0);
	assert_int_equal(params.ioptions[2], RVT_OPT_IMPLICIT_RETURN);
	assert_int_equal(params.ioptions[3], RVT_OPT_FULL_ADDRESS);
	assert_true(params.vectors.base_valid);
	assert_int_equal(params.vectors.base, 0x100);
	assert_true(params.vectors.exception_valid == 1ull << 13);
	assert_int_equal(params.vectors.exception[13], 0x80000200);
	assert_true(params.vectors.interrupt_valid == 1ull << 63);
	assert_int_equal(params.vectors.interrupt[63], 768);
}

/* A section of a recording's metadata, as record-meta.c puts it together. */
static void test_recorded(void **state)
{
	struct rvt_params params;

	(void)state;
	parse_good(&params, "cpu = 1\nsrc = 2\ntimestamp_frequency = 10000000\n"
		   "protocol = ntrace\ndialect = 1.0\nsrc_bits = 4\n");
	assert_int_equal(params.src_bits, 4);
	parse_bad("protocol = ntrace\ntimestamp_frequencies = 10000000\n",
		  "FILE:2: unknown key 'timestamp_frequencies'; valid keys: protocol, dialect, "
		  "xlen, isa, jvt, options, framing, atid, mode, src_bits, address_bits, "
		  "timestamp, timestamp_clock, implicit_return_mode, "
		  "return_stack_depth, data_address");
}

static void test_errors(void **state)
{
	(void)state;
	parse_bad("xlen = 64\n", "FILE: no 'protocol'; add a line 'protocol = ntrace' or "
		  "'protocol = etrace'");
	parse_bad("protocol = ntrace\n\nx = 1\n",
		  "FILE:3: unknown key 'x'; valid keys: protocol, dialect, xlen, isa, jvt, "
		  "options, framing, atid, mode, src_bits, address_bits, timestamp, "
		  "timestamp_clock, implicit_return_mode, "
		  "return_stack_depth, data_address");
	parse_bad("protocol = ntrace\nnonsense\n",
		  "FILE:2: no '=' in 'nonsense'; valid keys: protocol, dialect, xlen, isa, jvt, "
		  "options, framing, atid, mode, src_bits, address_bits, timestamp, "
		  "timestamp_clock, implicit_return_mode, "
		  "return_stack_depth, data_address");
	parse_bad("protocol = nexus\n",
		  "FILE:1: unknown value 'nexus' for 'protocol'; valid values: ntrace, etrace");
	parse_bad("protocol = ntrace\ndialect = 2.0\n",
		  "FILE:2: unknown value '2.0' for 'dialect'; valid values: 1.0.0_rc7, 1.0, "
		  "sifive, ctte");
	parse_bad("protocol = ntrace\noptions = implicit_return, branch_prediction\n",
		  "FILE: branch_prediction and jump_target_cache are options of N-Trace in "
		  "'dialect = ctte' only");
	parse_bad("dialect = 3\n", "FILE:1: unknown value '3' for 'dialect'; valid values: "
		  "1.0.0_rc7, 1.0, sifive, ctte, 0.029, 2.0, 2.0.5, esp32");
	parse_bad("protocol = ntrace\nmode = HTM\n",
		  "FILE:2: unknown value 'HTM' for 'mode'; valid values: btm, htm, auto");
	parse_bad("protocol = ntrace\nsrc_bits = 13\n",
		  "FILE:2: unknown value '13' for 'src_bits'; valid values: 0..12");
	parse_bad("protocol = ntrace\nsrc_bits = -1\n",
		  "FILE:2: unknown value '-1' for 'src_bits'; valid values: 0..12");
	parse_bad("protocol = ntrace\noptions = all_jumps, turbo\n",
		  "FILE:2: unknown value 'turbo' for 'options'; valid values: implicit_return, "
		  "sequential_jump, repeated_history, all_jumps, extend_address_msb, "
		  "branch_prediction, jump_target_cache");
	parse_bad("protocol = etrace\noptions = all_jumps\n",
		  "FILE:2: unknown value 'all_jumps' for 'options'; valid values: "
		  "implicit_return, sequential_jump, implicit_exception, branch_prediction, "
		  "jump_target_cache, full_address, data_no_address, data_no_value, multi_access");
	parse_bad("protocol = etrace\ntrap_vector.exception.1 = here\n",
		  "FILE:2: unknown value 'here' for 'trap_vector.exception.N'; valid values: "
		  "an address, such as 0x80000000");
}

static void test_load_missing(void **state)
{
	struct rvt_params params = { .size = sizeof(params) };
	char *error;

	(void)state;
	assert_int_equal(rvt_params_load(&params, "/nonexistent", &error), -ENOENT);
	assert_string_equal(error, "/nonexistent: No such file or directory");
	free(error);
	assert_int_equal(rvt_params_load(&params, "/", &error), -EIO);
	assert_non_null(error);
	free(error);
}

static void round_trip(const char *source)
{
	struct rvt_params a, b;
	char *text, *again;

	parse_good(&a, source);
	assert_int_equal(rvt_params_print(&a, &text), 0);
	parse_good(&b, text);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(rvt_params_print(&b, &again), 0);
	assert_string_equal(text, again);
	free(text);
	free(again);
}

static void test_print(void **state)
{
	(void)state;
	round_trip("protocol = ntrace");
	round_trip("dialect = esp32\necause_width_p = 6");
	round_trip("protocol = etrace\nframing = esp32\nprivilege_width_p = 2");
	round_trip("dialect = ctte\noptions = branch_prediction, jump_target_cache");
	round_trip("dialect = sifive\nreturn_stack_depth = 32\ntimestamp = delta");
	round_trip("protocol = ntrace\nmode = htm\nxlen = 32\nisa = zcmt\nsrc_bits = 4\n"
		   "timestamp = delta\noptions = implicit_return, repeated_history\n"
		   "implicit_return_mode = 3\njvt = 64\n");
	round_trip("protocol = etrace\ndialect = 0.029\niaddress_width_p = 64\nbpred_size_p = 6\n"
		   "ioptions = -, implicit_exception, branch_prediction, jump_target_cache, -\n"
		   "options = full_address\ndoptions_bits = 4\ntrap_vector = 0x1000\n"
		   "trap_vector.exception.0 = 1\ntrap_vector.interrupt.5 = 0xffffffffffffffff\n"
		   "srcid_bits = 6\ntimestamp_bytes = 2\ntype_bits = 2\nxlen = 64\n");
	round_trip("protocol = etrace\ndata_width_p = 64\ndaddress_width_p = 56\nlrid_width_p = 3\n"
		   "dtype_width_p = 4\ndata_packets = all\ntype_bits = 2\ntype_data = 1\n"
		   "data_compression = xor\ndata_operands = full\n"
		   "doptions = -, data_no_value, data_no_address\noptions = multi_access\n");
	round_trip("protocol = ntrace\ndata_address = xor\n");
	round_trip("protocol = ntrace\ntimestamp = delta\ntimestamp_clock = own\n");
	round_trip("protocol = etrace\ntimestamp_clock = own\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ntrace),
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_etrace),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_load_missing),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
