// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Instruction classes. Encodings by hand from the unprivileged ISA manual; then a broad set of
 * generated encodings against the disassembler of the GNU binutils, an independent source.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "insn/insn.h"

static int decode(uint64_t code, unsigned int isa, struct rvt_insn *insn)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = code >> 8 * i;
	return rvt_insn_decode(bytes, sizeof(bytes), isa, insn);
}

struct expected {
	uint64_t code;
	unsigned int isa;
	unsigned int len_bytes;
	enum rvt_insn_class iclass;
	unsigned int flags;
	int64_t offset;
};

static void check(const struct expected *e)
{
	struct rvt_insn insn;

	assert_int_equal(decode(e->code, e->isa, &insn), 0);
	assert_int_equal(insn.len_bytes, e->len_bytes);
	assert_int_equal(insn.iclass, e->iclass);
	assert_int_equal(insn.flags, e->flags);
	assert_true(insn.offset == e->offset);
}

#define CHECK(...) check(&(struct expected){ __VA_ARGS__ })
#define T RVT_INSN_F_TARGET
#define IMM RVT_INSN_F_LOADS_IMM

static void test_direct(void **state)
{
	(void)state;
	CHECK(0x00000463, 0, 4, RVT_INSN_BRANCH, T, 8);		/* beq x0,x0,.+8 */
	CHECK(0xfe529ee3, 0, 4, RVT_INSN_BRANCH, T, -4);	/* bne t0,t0... -4 */
	CHECK(0x000000ef, 0, 4, RVT_INSN_CALL, T, 0);		/* jal ra,. */
	CHECK(0x000002ef, 0, 4, RVT_INSN_CALL, T, 0);		/* jal t0,. */
	CHECK(0x0000006f, 0, 4, RVT_INSN_JUMP, T, 0);		/* j . */
	CHECK(0x0000036f, 0, 4, RVT_INSN_JUMP_LINKED, T, 0);	/* jal t1,. */
	CHECK(0x8000006f, 0, 4, RVT_INSN_JUMP, T, -0x100000);
	CHECK(0x7ffff06f, 0, 4, RVT_INSN_JUMP, T, 0xffffe);
	CHECK(0xa001, 0, 2, RVT_INSN_JUMP, T, 0);		/* c.j . */
	CHECK(0xbffd, 0, 2, RVT_INSN_JUMP, T, -2);		/* c.j .-2 */
	CHECK(0xc111, 0, 2, RVT_INSN_BRANCH, T, 4);		/* c.beqz a0,.+4 */
	CHECK(0xfd75, 0, 2, RVT_INSN_BRANCH, T, -4);		/* c.bnez a0,.-4 */
	CHECK(0x2001, RVT_ISA_RV32, 2, RVT_INSN_CALL, T, 0);	/* c.jal . */
	CHECK(0x2001, 0, 2, RVT_INSN_SEQUENTIAL, 0, 0);		/* c.addiw zero,0 */
}

static void test_indirect(void **state)
{
	(void)state;
	CHECK(0x00008067, 0, 4, RVT_INSN_RETURN, 0, 0);		/* ret */
	CHECK(0x00028067, 0, 4, RVT_INSN_RETURN, 0, 0);		/* jr t0 */
	CHECK(0x00030067, 0, 4, RVT_INSN_IND_JUMP, 0, 0);	/* jr t1 */
	CHECK(0x00008367, 0, 4, RVT_INSN_RETURN, 0, 0);		/* jalr t1,ra */
	CHECK(0x00030367, 0, 4, RVT_INSN_IND_JUMP_LINKED, 0, 0);/* jalr t1,t1 */
	CHECK(0x000300e7, 0, 4, RVT_INSN_IND_CALL, 0, 0);	/* jalr ra,t1 */
	CHECK(0x000080e7, 0, 4, RVT_INSN_IND_CALL, 0, 0);	/* jalr ra,ra */
	CHECK(0x000280e7, 0, 4, RVT_INSN_COROUTINE, 0, 0);	/* jalr ra,t0 */
	CHECK(0x000082e7, 0, 4, RVT_INSN_COROUTINE, 0, 0);	/* jalr t0,ra */
	CHECK(0xffc300e7, 0, 4, RVT_INSN_IND_CALL, 0, -4);	/* jalr ra,-4(t1) */
	CHECK(0x01000067, 0, 4, RVT_INSN_IND_JUMP, RVT_INSN_F_ABSOLUTE, 16);
	CHECK(0x8082, 0, 2, RVT_INSN_RETURN, 0, 0);		/* c.jr ra */
	CHECK(0x8282, 0, 2, RVT_INSN_RETURN, 0, 0);		/* c.jr t0 */
	CHECK(0x8302, 0, 2, RVT_INSN_IND_JUMP, 0, 0);		/* c.jr t1 */
	CHECK(0x9082, 0, 2, RVT_INSN_IND_CALL, 0, 0);		/* c.jalr ra */
	CHECK(0x9282, 0, 2, RVT_INSN_COROUTINE, 0, 0);		/* c.jalr t0 */
	CHECK(0x808a, 0, 2, RVT_INSN_SEQUENTIAL, 0, 0);		/* c.mv ra,sp */
	CHECK(0x908a, 0, 2, RVT_INSN_SEQUENTIAL, 0, 0);		/* c.add ra,sp */
}

static void test_system(void **state)
{
	static const uint32_t returns[] = {
		0x00200073, 0x10200073, 0x30200073, 0x70200073, 0x7b200073
	};

	(void)state;
	for (size_t i = 0; i < sizeof(returns) / sizeof(returns[0]); i++)
		CHECK(returns[i], 0, 4, RVT_INSN_TRAP_RETURN, 0, 0);
	CHECK(0x00000073, 0, 4, RVT_INSN_ECALL, 0, 0);
	CHECK(0x00100073, 0, 4, RVT_INSN_EBREAK, 0, 0);
	CHECK(0x9002, 0, 2, RVT_INSN_EBREAK, 0, 0);
	CHECK(0x10500073, 0, 4, RVT_INSN_SEQUENTIAL, 0, 0);	/* wfi */
	CHECK(0x12000073, 0, 4, RVT_INSN_SEQUENTIAL, 0, 0);	/* sfence.vma */
	CHECK(0x30001073, 0, 4, RVT_INSN_SEQUENTIAL, 0, 0);	/* csrw mstatus,x0 */
}

static void test_upper(void **state)
{
	struct rvt_insn insn;

	(void)state;
	CHECK(0x12345337, 0, 4, RVT_INSN_SEQUENTIAL, IMM, 0x12345000);
	CHECK(0x80000337, 0, 4, RVT_INSN_SEQUENTIAL, IMM, -0x80000000ll);
	CHECK(0xfffff317, 0, 4, RVT_INSN_SEQUENTIAL, IMM | RVT_INSN_F_PCREL, -0x1000);
	CHECK(0x6305, 0, 2, RVT_INSN_SEQUENTIAL, IMM, 0x1000);	/* c.lui t1,1 */
	CHECK(0x737d, 0, 2, RVT_INSN_SEQUENTIAL, IMM, -0x1000);	/* c.lui t1,-1 */
	CHECK(0x6101, 0, 2, RVT_INSN_SEQUENTIAL, 0, 0);		/* c.addi16sp */
	CHECK(0x6081, 0, 2, RVT_INSN_SEQUENTIAL, 0, 0);		/* c.mop.1 = c.sspush ra */
	assert_int_equal(decode(0x12345337, 0, &insn), 0);
	assert_int_equal(insn.rd, 6);
	assert_int_equal(decode(0x6305, 0, &insn), 0);
	assert_int_equal(insn.rd, 6);
	assert_int_equal(decode(0x000300e7, 0, &insn), 0);
	assert_int_equal(insn.rd, 1);
	assert_int_equal(insn.rs1, 6);
}

/* Zc specification, chapter "Zcmp" and "Zcmt". */
static void test_zcm(void **state)
{
	const unsigned int zc = RVT_ISA_ZCMP | RVT_ISA_ZCMT;

	(void)state;
	CHECK(0xbe42, zc, 2, RVT_INSN_RETURN, 0, 0);		/* cm.popret {ra},16 */
	CHECK(0xbc42, zc, 2, RVT_INSN_RETURN, 0, 0);		/* cm.popretz {ra},16 */
	CHECK(0xba42, zc, 2, RVT_INSN_SEQUENTIAL, 0, 0);	/* cm.pop */
	CHECK(0xb842, zc, 2, RVT_INSN_SEQUENTIAL, 0, 0);	/* cm.push */
	CHECK(0xbe32, zc, 2, RVT_INSN_SEQUENTIAL, 0, 0);	/* reserved list 3 */
	CHECK(0xac62, zc, 2, RVT_INSN_SEQUENTIAL, 0, 0);	/* cm.mva01s */
	CHECK(0xa006, zc, 2, RVT_INSN_JUMP, RVT_INSN_F_TABLE, 1);
	CHECK(0xa07e, zc, 2, RVT_INSN_JUMP, RVT_INSN_F_TABLE, 31);
	CHECK(0xa082, zc, 2, RVT_INSN_CALL, RVT_INSN_F_TABLE, 32);
	CHECK(0xa3fe, zc, 2, RVT_INSN_CALL, RVT_INSN_F_TABLE, 255);
	/* the same bits are c.fsdsp without Zcmp and Zcmt */
	CHECK(0xbe42, 0, 2, RVT_INSN_SEQUENTIAL, 0, 0);
	CHECK(0xa006, RVT_ISA_ZCMP, 2, RVT_INSN_SEQUENTIAL, 0, 0);
	CHECK(0xbe42, RVT_ISA_ZCMT, 2, RVT_INSN_SEQUENTIAL, 0, 0);
}

static void test_lengths(void **state)
{
	static const uint8_t code[] = { 0x1f, 0, 0, 0, 0, 0, 0, 0 };
	struct rvt_insn insn;

	(void)state;
	CHECK(0x1f, 0, 6, RVT_INSN_SEQUENTIAL, RVT_INSN_F_CUSTOM, 0);
	CHECK(0x3f, 0, 8, RVT_INSN_SEQUENTIAL, RVT_INSN_F_CUSTOM, 0);
	assert_int_equal(decode(0x7f, 0, &insn), -EILSEQ);
	assert_int_equal(decode(0, 0, &insn), -EILSEQ);
	assert_int_equal(decode(UINT64_MAX, 0, &insn), -EILSEQ);
	assert_int_equal(rvt_insn_decode(code, 0, 0, &insn), -EAGAIN);
	assert_int_equal(rvt_insn_decode(code, 1, 0, &insn), -EAGAIN);
	assert_int_equal(rvt_insn_decode(code, 5, 0, &insn), -EAGAIN);
	assert_int_equal(rvt_insn_decode(code, 6, 0, &insn), 0);
}

/* XYZ of N-Trace 10.1.1 as a direct branch in custom-0; everything else is left alone. */
static int xyz(void *ctx, const uint8_t *code, size_t avail, struct rvt_insn *insn)
{
	(*(int *)ctx)++;
	if (avail < 4 || code[0] != 0x0b)
		return -ENOENT;
	insn->len_bytes = 4;
	insn->iclass = RVT_INSN_BRANCH;
	insn->flags = RVT_INSN_F_TARGET;
	insn->offset = 0xfc;
	return 0;
}

static void test_hook(void **state)
{
	static const uint8_t custom0[] = { 0x0b, 0, 0, 0 }, custom1[] = { 0x2b, 0, 0, 0 };
	static const uint8_t nop[] = { 0x13, 0, 0, 0 };
	struct rvt_insn insn;
	int calls = 0;

	(void)state;
	assert_int_equal(rvt_insn_classify(custom0, 4, 0, xyz, &calls, &insn), 0);
	assert_int_equal(insn.iclass, RVT_INSN_BRANCH);
	assert_int_equal(insn.flags, RVT_INSN_F_CUSTOM | RVT_INSN_F_TARGET);
	assert_int_equal(insn.offset, 0xfc);
	assert_int_equal(rvt_insn_classify(custom1, 4, 0, xyz, &calls, &insn), 0);
	assert_int_equal(insn.iclass, RVT_INSN_SEQUENTIAL);
	assert_int_equal(insn.flags, RVT_INSN_F_CUSTOM);
	assert_int_equal(calls, 2);
	assert_int_equal(rvt_insn_classify(nop, 4, 0, xyz, &calls, &insn), 0);
	assert_int_equal(calls, 2);	/* standard encodings are not its business */
	assert_int_equal(rvt_insn_classify(custom0, 4, 0, NULL, NULL, &insn), 0);
	assert_int_equal(insn.iclass, RVT_INSN_SEQUENTIAL);
}

/* ---- against objdump ---- */

#define BINUTILS "riscv64-linux-gnu-"
#define OBJDUMP BINUTILS "objdump"
#define N_WORDS 60000

static bool is_link_name(const char *reg)
{
	return !strcmp(reg, "ra") || !strcmp(reg, "t0");
}

static enum rvt_insn_class jalr_by_text(const char *rd, const char *rs1)
{
	if (is_link_name(rd))
		return is_link_name(rs1) && strcmp(rd, rs1) ? RVT_INSN_COROUTINE :
							       RVT_INSN_IND_CALL;
	if (is_link_name(rs1))
		return RVT_INSN_RETURN;
	return strcmp(rd, "zero") ? RVT_INSN_IND_JUMP_LINKED : RVT_INSN_IND_JUMP;
}

/* The class that objdump's text (-M no-aliases) stands for, with target if it is direct. */
static enum rvt_insn_class class_by_text(char *mnemonic, char *args, uint64_t *target)
{
	static const char *const branches[] = { "beq", "bne", "blt", "bge", "bltu", "bgeu",
						"c.beqz", "c.bnez" };
	static const char *const returns[] = { "mret", "sret", "uret", "mnret", "dret" };
	char *last = strrchr(args, ','), rd[16] = "", rs1[16] = "", *paren;

	*target = strtoull(last ? last + 1 : args, NULL, 16);
	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if (!strcmp(mnemonic, branches[i]))
			return RVT_INSN_BRANCH;
	for (size_t i = 0; i < sizeof(returns) / sizeof(returns[0]); i++)
		if (!strcmp(mnemonic, returns[i]))
			return RVT_INSN_TRAP_RETURN;
	if (!strcmp(mnemonic, "c.j"))
		return RVT_INSN_JUMP;
	if (!strcmp(mnemonic, "c.jal"))
		return RVT_INSN_CALL;
	if (!strcmp(mnemonic, "ecall"))
		return RVT_INSN_ECALL;
	if (!strcmp(mnemonic, "ebreak") || !strcmp(mnemonic, "c.ebreak"))
		return RVT_INSN_EBREAK;
	if (!strcmp(mnemonic, "jal")) {
		sscanf(args, "%15[^,]", rd);
		if (is_link_name(rd))
			return RVT_INSN_CALL;
		return strcmp(rd, "zero") ? RVT_INSN_JUMP_LINKED : RVT_INSN_JUMP;
	}
	if (!strcmp(mnemonic, "c.jr") || !strcmp(mnemonic, "c.jalr")) {
		sscanf(args, "%15s", rs1);
		return jalr_by_text(mnemonic[4] == 'l' ? "ra" : "zero", rs1);
	}
	if (!strcmp(mnemonic, "jalr")) {
		sscanf(args, "%15[^,]", rd);
		paren = strchr(args, '(');	/* jalr rd,imm(rs1) or jalr rd,rs1,imm */
		if (paren)
			sscanf(paren + 1, "%15[^)]", rs1);
		else
			sscanf(strchr(args, ',') + 1, "%15[^,]", rs1);
		return jalr_by_text(rd, rs1);
	}
	return RVT_INSN_SEQUENTIAL;
}

static bool has_target(enum rvt_insn_class iclass)
{
	return iclass == RVT_INSN_BRANCH || iclass == RVT_INSN_CALL || iclass == RVT_INSN_JUMP ||
	       iclass == RVT_INSN_JUMP_LINKED;
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* Random words, two thirds of them with a major opcode that matters here. */
static void write_words(FILE *f, uint64_t seed)
{
	static const uint8_t majors[] = { 0x63, 0x67, 0x6f, 0x73, 0x17, 0x37 };

	for (int i = 0; i < N_WORDS; i++) {
		uint32_t word = next_random(&seed) << 1 ^ next_random(&seed);
		uint32_t kind = next_random(&seed) % 12;

		if (kind < 6)
			word = (word & ~0x7fu) | majors[kind];
		else if (kind < 8)	/* jalr with few registers: link registers often */
			word = (word & 0xfff10280) | 0x67;
		/* keep to lengths that objdump knows; either half may begin an instruction */
		if ((word & 0x1f) == 0x1f)
			word &= ~0x4u;
		if ((word >> 16 & 0x1f) == 0x1f)
			word &= ~0x40000u;
		fwrite(&word, 4, 1, f);
	}
	/* every 16-bit encoding of quadrants 1 and 2 that can jump */
	for (uint32_t half = 0x8000; half < 0x10000; half++)
		if ((half & 3) == 1 || ((half & 3) == 2 && (half & 0xe000) == 0x8000))
			fwrite(&half, 2, 1, f);
}

static void check_line(char *line, unsigned int isa, size_t *checked)
{
	char *colon = strchr(line, ':'), mnemonic[32], args[128] = "";
	uint64_t pc, code, target;
	enum rvt_insn_class want;
	struct rvt_insn insn;
	int digits = 0;

	if (!colon || sscanf(line, " %lx:\t%lx%n", &pc, &code, &digits) < 2)
		return;
	if (sscanf(line + digits, " %31s %127[^\n]", mnemonic, args) < 1 || mnemonic[0] == '.')
		return;
	if (!strcmp(mnemonic, "c.unimp"))
		return;
	if (strstr(args, "#"))
		*strstr(args, "#") = 0;
	want = class_by_text(mnemonic, args, &target);
	if (decode(code, isa, &insn))
		fail_msg("%s: not decoded", line);
	if (insn.iclass != want)
		fail_msg("%s: class %u, expected %u", line, insn.iclass, want);
	if (has_target(want)) {
		uint64_t got = pc + insn.offset;

		if (isa & RVT_ISA_RV32)
			got = (uint32_t)got, target = (uint32_t)target;
		if (got != target)
			fail_msg("%s: target 0x%lx", line, got);
	}
	(*checked)++;
}

/*
 * Newer ones disassemble RV32 only by the attributes of an object file, and code only where no
 * symbol calls it data.
 */
static void compare_with_objdump(unsigned int isa, uint64_t seed)
{
	char path[] = "/tmp/rvt-insn-XXXXXX", object[64], command[512], *line = NULL;
	int fd = mkstemp(path);
	size_t size = 0, checked = 0;
	FILE *f;

	if (system("command -v " OBJDUMP " > /dev/null 2>&1")) {
		close(fd);
		unlink(path);
		print_message("skipped: " OBJDUMP " is not installed\n");
		skip();
	}
	f = fdopen(fd, "w");
	assert_non_null(f);
	write_words(f, seed);
	fclose(f);
	snprintf(object, sizeof(object), "%s.o", path);
	snprintf(command, sizeof(command),
		 "echo '.incbin \"%s\"' | " BINUTILS "as -march=%s -o %s - && "
		 BINUTILS "strip -s %s && " OBJDUMP " -D -z -j .text -M no-aliases %s",
		 path, isa & RVT_ISA_RV32 ? "rv32gc -mabi=ilp32" : "rv64gc -mabi=lp64", object,
		 object, object);
	f = popen(command, "r");
	assert_non_null(f);
	while (getline(&line, &size, f) > 0)
		check_line(line, isa, &checked);
	assert_int_equal(pclose(f), 0);
	free(line);
	unlink(path);
	unlink(object);
	assert_true(checked > N_WORDS / 2);
}

static void test_objdump_rv64(void **state)
{
	(void)state;
	compare_with_objdump(0, 1);
}

static void test_objdump_rv32(void **state)
{
	(void)state;
	compare_with_objdump(RVT_ISA_RV32, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_system),
		cmocka_unit_test(test_upper),
		cmocka_unit_test(test_zcm),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_hook),
		cmocka_unit_test(test_objdump_rv64),
		cmocka_unit_test(test_objdump_rv32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
