// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * perf-rvtrace decode as a person runs it: output, messages and exit status. Uses the program that
 * `make` built; skipped where there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <elf.h>
#include "../tools/coresight-formatter.h"
#include "model/ntrace/assemble.h"
#include "rv-asm.h"

#define PROGRAM "build/host/perf-rvtrace"

static char dir[] = "/tmp/rvt-decode-XXXXXX";
static char out[1 << 20], err[1 << 16];

static void write_file(const char *name, const void *bytes, size_t len)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

static void read_file(const char *name, char *text, size_t size)
{
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = 0;
	fclose(f);
}

/* Runs `decode ARGS` in the directory of the files; fills out and err; returns the exit status. */
__attribute__((format(printf, 1, 2)))
static int decode(const char *format, ...)
{
	char args[512], command[1024], *top = realpath(PROGRAM, NULL);
	va_list list;
	int status;

	if (!top)
		skip();
	va_start(list, format);
	vsnprintf(args, sizeof(args), format, list);
	va_end(list);
	snprintf(command, sizeof(command), "cd %s && %s decode %s > out 2> err", dir, top, args);
	free(top);
	status = system(command);
	read_file("out", out, sizeof(out));
	read_file("err", err, sizeof(err));
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Directives, separated by ';', appended at @len; returns the new length. */
static size_t assemble(const char *params_text, const char *text, uint8_t *bytes, size_t len)
{
	struct rvt_params params = { .size = sizeof(params) };
	char *error = NULL;

	assert_int_equal(rvt_params_parse(&params, "test", params_text, strlen(params_text),
					  &error), 0);
	while (*text) {
		size_t n = strcspn(text, ";");
		char line[200], why[200];
		int ret;

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		ret = rvt_ntrace_assemble(&params, line, bytes + len, 64, why, sizeof(why));
		if (ret < 0)
			fail_msg("%s: %s", line, why);
		len += ret;
		text += n + (text[n] == ';');
	}
	return len;
}

#define HTM "protocol = ntrace\nmode = htm\n"
#define ONE "ProgTraceSync SYNC=5 F-ADDR=0x80;" \
	    "IndirectBranchHist B-TYPE=0 I-CNT=6 U-ADDR=0 HIST=0b1_1;" \
	    "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=2 HIST=1;"

/* 100: nop; 104: b 108; 108: jalr x0,0(t1) */
static int set_up(void **state)
{
	static const char *const program[] = { "nop", "b 108", "jalr x0 t1" };
	uint8_t code[12], bytes[8], dump[1000];
	size_t len;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(rv_assemble(0x100 + 4 * i, program[i], bytes), 4);
		memcpy(code + 4 * i, bytes, 4);
	}
	write_file("code", code, sizeof(code));
	write_file("params", HTM, strlen(HTM));
	len = assemble(HTM, ONE, dump, 0);
	write_file("dump", dump, len);
	write_file("cut", dump, len - 1);
	/* the same, turned so that it begins in the middle of a message */
	memmove(dump + len, dump, 6);
	write_file("ring", dump + 6, len);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

#define COMMON "--params params --raw code@0x100 "

static void test_pc(void **state)
{
	(void)state;
	assert_int_equal(decode(COMMON "dump"), 0);
	assert_string_equal(out, "100\n104\n108\n100\n");
	assert_string_equal(err, "");
	assert_int_equal(decode(COMMON "--print=pc --jobs 2 dump"), 0);
	assert_string_equal(out, "100\n104\n108\n100\n");
}

/*
 * Lines of a loop of @insns c.nop and a jump back, at addresses that need more digits within it:
 * each time the same, and ending amid it.
 */
static void check_loop(uint64_t begin, unsigned int insns)
{
	const uint64_t back = begin + 2 * insns;
	char text[2000] = "", directives[200], loop[12], *end = text;
	uint8_t code[256], dump[100];
	size_t len;

	for (unsigned int i = 0; i < insns; i++)
		assert_int_equal(rv_assemble(begin + 2 * i, "c.nop", code + 2 * i), 2);
	snprintf(loop, sizeof(loop), "c.j %x", (unsigned int)begin);
	assert_int_equal(rv_assemble(back, loop, code + 2 * insns), 2);
	write_file("loop", code, 2 * insns + 2);
	/* two and a half times: so many instructions are so many half-words */
	snprintf(directives, sizeof(directives), "ProgTraceSync SYNC=5 F-ADDR=0x%x;"
		 "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=%u HIST=1;", (unsigned int)begin / 2,
		 2 * (insns + 1) + insns / 2);
	len = assemble(HTM, directives, dump, 0);
	write_file("looped", dump, len);
	for (unsigned int i = 0; i < 2 * (insns + 1) + insns / 2; i++)
		end += sprintf(end, "%x\n", (unsigned int)begin + i % (insns + 1) * 2);
	assert_int_equal(decode("--params params --raw loop@%u looped", (unsigned int)begin), 0);
	assert_string_equal(out, text);
	assert_string_equal(err, "");
}

static void test_blocks(void **state)
{
	(void)state;
	check_loop(0x100, 1);
	check_loop(0x100, 40);
	check_loop(0x100, 63);
	check_loop(0x100, 64);
	check_loop(0x100, 100);
	check_loop(0xff0, 40);
	check_loop(0xe, 4);
	check_loop(0xffe, 1);
	check_loop(0xfc, 4);
}

static void test_other_prints(void **state)
{
	(void)state;
	assert_int_equal(decode(COMMON "--print=insn dump"), 0);
	assert_string_equal(out, "100 00000013 sequential\n104 00000263 branch\n"
			    "108 00030067 indirect-jump\n100 00000013 sequential\n");
	assert_int_equal(decode(COMMON "--print=block dump"), 0);
	assert_string_equal(out, "100 108 2\n108 10c 1\n100 104 1\n");
	assert_int_equal(decode(COMMON "--print=edge dump"), 0);
	assert_string_equal(out, "108 100 indirect-jump\n");
	assert_int_equal(decode(COMMON "--print=none dump"), 0);
	assert_string_equal(out, "");
	assert_non_null(strstr(err, "dump: 4 instructions, 1 branches"));
	assert_int_equal(decode("--params params --print=packet dump"), 0);
	assert_non_null(strstr(out, "ProgTraceSync"));
	assert_non_null(strstr(out, "ProgTraceCorrelation"));
}

static void test_ring(void **state)
{
	size_t len = assemble(HTM, ONE, (uint8_t[200]){}, 0);

	(void)state;
	assert_int_equal(decode(COMMON "--wrapped-at %zu ring", len - 6), 0);
	assert_string_equal(out, "100\n104\n108\n100\n");
	assert_string_equal(err, "");
	assert_int_equal(decode(COMMON "--wrapped-at 1000 ring"), 2);
}

static void test_damage(void **state)
{
	(void)state;
	assert_int_equal(decode(COMMON "cut"), 1);
	assert_string_equal(out, "100\n104\n108\n");
	assert_memory_equal(err, "cut: offset 0x", 14);
	/* no code for the second half */
	assert_int_equal(decode("--params params --raw code@0x102 dump"), 1);
	assert_string_equal(out, "");
	assert_non_null(strstr(err, "dump: offset 0x4: no code at 0x100\n"));
}

static void test_sources(void **state)
{
	const char *params = HTM "src_bits = 4\n";
	uint8_t dump[400];
	size_t len;

	(void)state;
	write_file("params4", params, strlen(params));
	len = assemble(params, "ProgTraceSync SRC=3 SYNC=5 F-ADDR=0x80;"
		       "ProgTraceCorrelation SRC=3 EVCODE=4 CDF=1 I-CNT=2 HIST=1;", dump, 0);
	write_file("one", dump, len);
	len = assemble(params, "ProgTraceSync SRC=11 SYNC=5 F-ADDR=0x82;"
		       "ProgTraceCorrelation SRC=11 EVCODE=4 CDF=1 I-CNT=2 HIST=0b1_0;", dump, len);
	write_file("two", dump, len);
	assert_int_equal(decode("--params params4 --raw code@0x100 one"), 0);
	assert_string_equal(out, "100\n");	/* a single source has no number */
	assert_int_equal(decode("--params params4 --raw code@0x100 two"), 0);
	assert_string_equal(out, "3 100\n11 104\n");
	assert_int_equal(decode("--params params4 --raw code@0x100 --src 11 two"), 0);
	assert_string_equal(out, "104\n");
}

/* ---- CoreSight frames ---- */

#define FRAMED HTM "framing = coresight\n"
#define AT(n) "ProgTraceSync SYNC=5 F-ADDR=" n ";"
#define STOP "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=2 HIST=1;"

/* Of two ids, whose bytes take turns: 0x10 executes what is at 100, 0x25 what is at 104. */
static struct formatter two_ids(void)
{
	struct formatter frames = { .id = -1 };
	uint8_t bytes[400], other[400], mixed[800], ids[800];
	size_t len = assemble(HTM, AT("0x80") STOP, bytes, 0);
	size_t other_len = assemble(HTM, AT("0x82") "ProgTraceCorrelation EVCODE=4 CDF=1 I-CNT=2 "
				    "HIST=0b1_0;", other, 0), n = 0;

	for (size_t i = 0; i < len || i < other_len; i++) {
		if (i < len) {
			ids[n] = 0x10;
			mixed[n++] = bytes[i];
		}
		if (i < other_len) {
			ids[n] = 0x25;
			mixed[n++] = other[i];
		}
	}
	formatter_write(&frames, ids, mixed, n, NULL);
	return frames;
}

static void test_frames(void **state)
{
	struct formatter frames = two_ids();

	(void)state;
	write_file("framed", FRAMED, strlen(FRAMED));
	write_file("framed25", FRAMED "atid = 0x25\n", strlen(FRAMED "atid = 0x25\n"));
	write_file("frames", frames.out, frames.len);
	assert_int_equal(decode("--params framed --raw code@0x100 frames"), 0);
	assert_string_equal(out, "0x10:0 100\n0x25:0 104\n");
	assert_string_equal(err, "");
	assert_int_equal(decode("--params framed --raw code@0x100 --jobs 3 frames"), 0);
	assert_string_equal(out, "0x10:0 100\n0x25:0 104\n");
	/* one of them has no name */
	assert_int_equal(decode("--params framed25 --raw code@0x100 frames"), 0);
	assert_string_equal(out, "104\n");
	assert_int_equal(decode("--params framed --raw code@0x100 --src 0x10:0 frames"), 0);
	assert_string_equal(out, "100\n");
	assert_int_equal(decode("--params framed25 --raw code@0x100 --src 0 frames"), 0);
	assert_string_equal(out, "104\n");
	assert_int_equal(decode("--params framed --print packet frames"), 0);
	assert_non_null(strstr(out, "ProgTraceSync atid=0x10 "));
	assert_non_null(strstr(out, "ProgTraceCorrelation atid=0x25 "));
	assert_int_equal(decode("--params framed25 --print packet frames"), 0);
	assert_null(strstr(out, "atid=0x10"));
	free(frames.out);
}

/* An id that does not exist, in the first frame; and a frame that is cut short. */
static void test_damaged_frames(void **state)
{
	struct formatter frames = two_ids();

	(void)state;
	frames.out[2] = 0xe1;
	write_file("frames", frames.out, frames.len - 3);
	assert_int_equal(decode("--params framed --raw code@0x100 --print none frames"), 1);
	assert_non_null(strstr(err, "frames: offset 0x2: a frame with a source id that is "
			       "reserved\n"));
	/* nobody's flow suffers from the other: it is counted only, as without frames */
	assert_non_null(strstr(err, " 2 errors\n"));
	assert_int_equal(decode("--params framed --print packet frames"), 1);
	assert_non_null(strstr(out, "00000002: damaged, 1 bytes: a frame with a source id"));
	assert_non_null(strstr(out, "00000020: damaged, 13 bytes: data ends inside a frame\n"));
	free(frames.out);
}

static void expect_error(int status, const char *text)
{
	assert_int_equal(status, 2);
	assert_string_equal(out, "");
	if (!strstr(err, text))
		fail_msg("'%s' is not in: %s", text, err);
}

/* An ELF file with @len bytes of code at @addr, and data behind it that is no code. */
static void write_elf(const char *name, uint64_t addr, const uint8_t *code, size_t len)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segments[2];
		uint8_t bytes[64];
	} file = {
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_DYN, .e_machine = EM_RISCV, .e_version = EV_CURRENT,
			.e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
		},
	};

	for (unsigned int i = 0; i < 2; i++)
		file.segments[i] = (Elf64_Phdr){
			.p_type = PT_LOAD, .p_flags = i ? PF_R | PF_W : PF_R | PF_X,
			.p_offset = offsetof(typeof(file), bytes), .p_vaddr = addr + i * 0x1000,
			.p_paddr = addr + i * 0x1000, .p_filesz = len, .p_memsz = len, .p_align = 1,
		};
	memcpy(file.bytes, code, len);
	write_file(name, &file, sizeof(file));
}

/* --image: at its own addresses, moved, several; only what is executable is code. */
static void test_images(void **state)
{
	uint8_t code[12];
	char path[64];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/code", dir);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(code, 1, sizeof(code), f), sizeof(code));
	fclose(f);
	write_elf("elf", 0x100, code, 12);
	write_elf("low", 0x10, code, 12);
	write_elf("data", 0x100 - 0x1000, code, 12);
	write_elf("first", 0x100, code, 8);
	write_elf("last", 0x8, code + 8, 4);
	assert_int_equal(decode("--params params --image elf dump"), 0);
	assert_string_equal(out, "100\n104\n108\n100\n");
	assert_int_equal(decode("--params=params --image=low@0xf0 dump"), 0);
	assert_string_equal(out, "100\n104\n108\n100\n");
	assert_int_equal(decode("--params params --image first --image last@256 dump"), 0);
	assert_string_equal(out, "100\n104\n108\n100\n");
	assert_int_equal(decode("--params params --image data dump"), 1);
	assert_string_equal(out, "");
	assert_non_null(strstr(err, "dump: offset 0x4: no code at 0x100\n"));
	expect_error(decode("--params params --image low@f0x dump"), "low@f0x: No such file");
}

/*
 * A dump that was cut anywhere: what it begins with inside a message is skipped, what it ends with
 * inside one is reported, and nothing is printed that is not in what is left.
 */
static void test_cuts(void **state)
{
	const char *whole = "100\n104\n108\n100\n100\n104\n108\n100\n";
	size_t one = assemble(HTM, ONE, (uint8_t[200]){}, 0), len;
	uint8_t dump[400];

	(void)state;
	len = assemble(HTM, ONE ONE, dump, 0);
	for (size_t at = 1; at < len; at++) {
		bool inside = (dump[at - 1] & 3) != 3;
		int status;

		write_file("tail", dump + at, len - at);
		status = decode(COMMON "tail");
		/* nothing but the second half, which is whole as long as its sync is */
		assert_string_equal(out, at <= one ? whole + strlen(whole) / 2 : "");
		/* a stop that nothing came before is no loss; behind it nothing is either */
		if (inside || (at < len && at > one && (dump[at] >> 2) != 33))
			assert_int_equal(status, 1);
		write_file("head", dump, at);
		status = decode(COMMON "head");
		assert_memory_equal(out, whole, strlen(out));
		assert_int_equal(status, inside);
		if (inside)
			assert_memory_equal(err, "head: offset 0x", 15);
		else
			assert_string_equal(err, "");
	}
}

/* A ring whose oldest message was overwritten in part, and one that was never full. */
static void test_overwritten_ring(void **state)
{
	uint8_t dump[400], ring[400];
	size_t one = assemble(HTM, ONE, dump, 0), len;

	(void)state;
	len = assemble(HTM, ONE, dump, one);
	/* the first 5 bytes are gone; the seam is in the second half */
	memcpy(ring, dump + one + 4, len - one - 4);
	memcpy(ring + len - one - 4, dump + 5, one - 1);
	write_file("ring2", ring, len - 5);
	assert_int_equal(decode(COMMON "--wrapped-at %zu ring2", len - one - 4), 1);
	assert_string_equal(out, "100\n104\n108\n100\n");
	assert_memory_equal(err, "ring2: offset 0x", 16);
	/* idle bytes before the oldest message, as a probe's memory is before it is full */
	memset(ring, 0xff, 50);
	memcpy(ring + 50, dump, one);
	write_file("ring3", ring, 50 + one);
	assert_int_equal(decode(COMMON "--wrapped-at 20 ring3"), 0);
	assert_string_equal(out, "100\n104\n108\n100\n");
}

static void test_arguments(void **state)
{
	(void)state;
	expect_error(decode("--raw code@0x100 dump"), "or --params FILE");
	expect_error(decode("--params params dump"), "give --image ELF");
	expect_error(decode(COMMON), "which file?");
	expect_error(decode(COMMON "--print=all dump"),
		     "'all' is unknown; valid: pc, insn, block, edge, mark, data, packet, none");
	expect_error(decode(COMMON "--src x dump"), "--src: 'x' is no number");
	expect_error(decode(COMMON "nothing"), "nothing: No such file");
	expect_error(decode(COMMON "."), "not a regular file");
	expect_error(decode("--params params --image nothing dump"), "nothing: No such file");
	expect_error(decode("--params params --image code dump"), "code: not a RISC-V ELF file");
	expect_error(decode("--params nothing --raw code@0x100 dump"), "nothing: No such file");
	write_file("bad", "protocol = ntrace\nspeed = 3\n", 28);
	expect_error(decode("--params bad --raw code@0x100 dump"),
		     "bad:2: unknown key 'speed'; valid keys: protocol, dialect");
	expect_error(decode(COMMON "--src 65536 dump"),
		     "--src: '65536' is no number from 0 to 65535");
	expect_error(decode(COMMON "--src 1 dump"),
		     "--src: there is no source 1 with src_bits = 0");
	expect_error(decode(COMMON "--src 0x10:0 dump"),
		     "--src: there are no ids without framing = coresight");
	expect_error(decode("--params framed --raw code@0x100 --src 0 dump"),
		     "--src: frames have several ids: give ATID:N, or atid in the parameters");
	expect_error(decode("--params framed25 --raw code@0x100 --src 0x10:0 dump"),
		     "--src: the parameters say atid = 0x25");
	expect_error(decode("--params framed --raw code@0x100 --src 0x70:0 dump"),
		     "--src: '0x70' is no number from 1 to 111");
	expect_error(decode(COMMON "--jobs many dump"), "--jobs: 'many' is no number");
	expect_error(decode(COMMON "--jobs -1 dump"), "--jobs: '-1' is no number");
	expect_error(decode(COMMON "--wrapped-at x dump"), "--wrapped-at: 'x' is no number");
	expect_error(decode(COMMON "--wrapped-at 1000 dump"), "--wrapped-at: dump has only");
	expect_error(decode(COMMON "--sideways dump"), "sideways");
	expect_error(decode(COMMON "dump dump"), "dump");
	assert_int_equal(decode("--help"), 0);
	assert_memory_equal(out, "usage:", 6);
}

/* Every key of N-Trace: a value that it cannot have is refused, and the valid ones are named. */
static void test_parameter_values(void **state)
{
	static const struct {
		const char *line, *valid;
	} bad[] = {
		{ "protocol = nexus", "ntrace, etrace" },
		{ "dialect = 2.1", "1.0.0_rc7, 1.0" },
		{ "mode = fast", "btm, htm, auto" },
		{ "xlen = 48", "32, 64" },
		{ "src_bits = 13", "0..12" },
		{ "src_bits = few", "0..12" },
		{ "timestamp = yes", "none, delta, xor" },
		{ "options = implicit_return, everything",
		  "implicit_return, sequential_jump, repeated_history, all_jumps, "
		  "extend_address_msb" },
		{ "srcbits = 1", "unknown key 'srcbits'; valid keys: " },
		{ "mode", "no '=' in 'mode'; valid keys" },
	};
	static const char *const keys[] = {
		" protocol,", " dialect,", " mode,", " xlen,", " src_bits,", " timestamp,",
		" options,",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[200], where[16] = "bad:3: ";
		int len = snprintf(text, sizeof(text), "%s# comment\n%s\n",
				   i ? "protocol = ntrace\n" : "# none\n", bad[i].line);

		write_file("bad", text, len);
		expect_error(decode("--params bad --raw code@0x100 dump"), where);
		expect_error(2, bad[i].valid);
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		write_file("bad", "protocol = ntrace\nsrcbits = 1\n", 30);
		expect_error(decode("--params bad --raw code@0x100 dump"), keys[i]);
	}
	write_file("bad", "mode = btm\n", 11);
	expect_error(decode("--params bad --raw code@0x100 dump"), "no 'protocol'");
}

/* A dump that is worth several parts: every number of threads prints the same. */
static void test_jobs(void **state)
{
	uint8_t *dump = malloc(1 << 20);
	char *alone;
	size_t len = 0;

	(void)state;
	while (len < 600000) {
		len = assemble(HTM, ONE, dump, len);
		if (len % 7 == 0)
			dump[len - 20] ^= 0x10;	/* some damage, too */
	}
	write_file("long", dump, len);
	free(dump);
	decode(COMMON "long 2> err2 | tail -c 500000");
	alone = strdup(out);
	assert_true(strlen(alone) > 100000);
	for (int jobs = 2; jobs <= 4; jobs++) {
		decode(COMMON "--jobs %d long 2> err2 | tail -c 500000", jobs);
		assert_string_equal(out, alone);
	}
	free(alone);
	decode(COMMON "--print=none long");
	alone = strdup(err);
	decode(COMMON "--print=none --jobs 4 long");
	assert_string_equal(err, alone);
	free(alone);
}

/* Seconds that the processor spent on children so far. */
static double spent(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6;
}

/*
 * Decodes messages and @len idle bytes behind them, where flow goes on: no synchronisation follows.
 * Returns the seconds that takes.
 */
static double decode_idle(size_t len)
{
	uint8_t *dump = malloc(len + 4096);
	size_t used = assemble(HTM, ONE, dump, 0) - 6;
	double before;

	memset(dump + used, 0xff, len);
	write_file("idle", dump, used + len);
	free(dump);
	before = spent();
	decode(COMMON "--jobs 2 idle");
	return spent() - before;
}

/* Idle trace behind flow takes as long as any: ten times as much of it ten times as long. */
static void test_idle(void **state)
{
	double one, ten;

	(void)state;
	one = decode_idle(1 << 20);
	ten = decode_idle(10 << 20);
	if (ten > 12 * one + 0.2 || ten > 2)
		fail_msg("1 MiB takes %.2f s, 10 MiB %.2f s", one, ten);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pc),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_other_prints),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_damaged_frames),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_overwritten_ring),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_parameter_values),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_idle),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
