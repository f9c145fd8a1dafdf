// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Samples and records of Control Transfer Records. Values are worked out from the specification by
 * hand.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/ctr.h>
#include "../../include/uapi/linux/rvtrace.h"

#define CCV (1u << 15)

static uint64_t data_of(unsigned int exponent, unsigned int mantissa)
{
	return CCV | (uint64_t)mantissa << 16 | (uint64_t)exponent << 28;
}

/* 5.3: CCE 0: CCM; else (2^12 + CCM) << (CCE - 1) */
static void test_cycles(void **state)
{
	static const struct {
		unsigned int exponent, mantissa;
		uint32_t cycles;
	} table[] = {
		{ 0, 0, 0 }, { 0, 1, 1 }, { 0, 4095, 4095 },
		{ 1, 0, 4096 }, { 1, 4095, 8191 },
		{ 2, 0, 8192 }, { 2, 1, 8194 }, { 3, 0, 16384 }, { 3, 5, 16404 },
		{ 15, 0, 67108864 }, { 15, 4095, 134201344 },
	};
	uint32_t cycles;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		assert_true(rvt_ctr_cycles(data_of(table[i].exponent, table[i].mantissa), &cycles));
		assert_int_equal(cycles, table[i].cycles);
	}
}

/* A mistake others make: CCV = 1 is what makes the count valid. */
static void test_cycles_valid(void **state)
{
	uint32_t cycles = 7;

	(void)state;
	assert_false(rvt_ctr_cycles(data_of(2, 100) & ~(uint64_t)CCV, &cycles));
	assert_int_equal(cycles, 0);
	assert_true(rvt_ctr_cycles(CCV, &cycles));
	assert_int_equal(cycles, 0);
	assert_true(rvt_ctr_cycles(data_of(0, 12), &cycles));
	assert_int_equal(cycles, 12);
}

/* It saturates when all implemented bits are 1, and never counts too much. */
static void test_count(void **state)
{
	uint32_t cycles;

	(void)state;
	assert_int_equal(rvt_ctr_count(4095, 0), data_of(0, 4095));
	assert_int_equal(rvt_ctr_count(4096, 0), data_of(0, 4095));
	assert_int_equal(rvt_ctr_count(UINT32_MAX, 0), data_of(0, 4095));
	assert_int_equal(rvt_ctr_count(4096, 1), data_of(1, 0));
	assert_int_equal(rvt_ctr_count(8191, 1), data_of(1, 4095));
	assert_int_equal(rvt_ctr_count(8192, 1), data_of(1, 4095));
	assert_int_equal(rvt_ctr_count(8193, 4), data_of(2, 0));
	assert_int_equal(rvt_ctr_count(16407, 4), data_of(3, 5));
	assert_int_equal(rvt_ctr_count(134201344, 4), data_of(15, 4095));
	assert_int_equal(rvt_ctr_count(134217728, 4), data_of(15, 4095));
	assert_int_equal(rvt_ctr_count(UINT32_MAX, 4), data_of(15, 4095));
	/* Bits that an exponent cuts off: at most 2^(CCE-1) - 1 are missing. */
	for (uint32_t n = 1; n < 100000000; n += n / 3 + 1) {
		assert_true(rvt_ctr_cycles(rvt_ctr_count(n, 4), &cycles));
		assert_true(cycles <= n && n - cycles <= n / 4096);
	}
}

static const struct rvt_ctr_sample head = {
	.time = 0x123456789abcULL, .ip = 0xffffffff80001234ULL, .period = 4000, .trigger_type = 1,
	.trigger_config = 0, .flags = 5, .control = 0x1000000083ULL, .pid = 77, .tid = 78, .cpu = 3,
	.privilege = 1, .layout = 2, .depth = 64, .write_index = 9, .skipped = 4, .limit = 32,
	.n = 3,
};
static const struct rvt_ctr_entry entries[] = {
	{ 0x10000, 0x10abc, RVT_CTR_CALL, true, true, 100 },
	{ 0x10040, 0x10044, RVT_CTR_NOT_TAKEN, false, true, 4096 },
	{ 0, 0xffffffff80000100ULL, RVT_CTR_INTERRUPT, false, false, 0 },
};

static void check_sample(const struct rvt_ctr_sample *sample)
{
	struct rvt_ctr_entry entry;

	assert_int_equal(sample->time, head.time);
	assert_int_equal(sample->ip, head.ip);
	assert_int_equal(sample->period, head.period);
	assert_int_equal(sample->control, head.control);
	assert_int_equal(sample->pid, head.pid);
	assert_int_equal(sample->tid, head.tid);
	assert_int_equal(sample->cpu, head.cpu);
	assert_int_equal(sample->depth, head.depth);
	assert_int_equal(sample->skipped, head.skipped);
	assert_int_equal(sample->limit, head.limit);
	assert_int_equal(sample->n, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(rvt_ctr_get(sample, i, &entry), 0);
		assert_int_equal(entry.source, entries[i].source);
		assert_int_equal(entry.target, entries[i].target);
		assert_int_equal(entry.type, entries[i].type);
		assert_int_equal(entry.mispredicted, entries[i].mispredicted);
		assert_int_equal(entry.cycles_valid, entries[i].cycles_valid);
		assert_int_equal(entry.cycles, entries[i].cycles);
	}
	assert_int_equal(rvt_ctr_get(sample, 3, &entry), -ERANGE);
}

static void test_round_trip(void **state)
{
	uint8_t buffer[1024];
	struct rvt_ctr_sample sample;
	size_t pos = 0;
	long len = rvt_ctr_put(&head, entries, buffer, sizeof(buffer)), second;

	(void)state;
	assert_int_equal(len, sizeof(struct rvtrace_ctr_sample) +
			 3 * sizeof(struct rvtrace_ctr_entry));
	assert_int_equal(len % 8, 0);
	second = rvt_ctr_put(&head, entries, buffer + len, sizeof(buffer) - len);
	assert_int_equal(second, len);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rvt_ctr_next(buffer, 2 * len, &pos, &sample), 1);
		check_sample(&sample);
	}
	assert_int_equal(rvt_ctr_next(buffer, 2 * len, &pos, &sample), 0);
	assert_int_equal(rvt_ctr_put(&head, entries, buffer, len - 1), -ENOSPC);
}

static void test_many_entries(void **state)
{
	struct rvt_ctr_sample sample = head;

	(void)state;
	sample.n = 257;
	assert_int_equal(rvt_ctr_put(&sample, entries, NULL, 0), -ERANGE);
}

/* The bits of the structures in memory, for the kernel's side of the contract. */
static void test_layout(void **state)
{
	uint8_t buffer[1024];
	uint64_t word;

	(void)state;
	rvt_ctr_put(&head, entries, buffer, sizeof(buffer));
	assert_memory_equal(buffer, "CTRS\1\0", 6);
	assert_int_equal(offsetof(struct rvtrace_ctr_sample, time), 16);
	assert_int_equal(offsetof(struct rvtrace_ctr_sample, control), 56);
	assert_int_equal(sizeof(struct rvtrace_ctr_sample), 88);
	memcpy(&word, buffer + 88, 8);
	assert_int_equal(word, 0x10001);		/* V */
	memcpy(&word, buffer + 96, 8);
	assert_int_equal(word, 0x10abd);		/* MISP */
	memcpy(&word, buffer + 104, 8);
	assert_int_equal(word, 0x00648009);		/* CCM 100, CCV, direct call */
}

/* A later version has more in its header and entries: readers pass over it. */
static void test_grown(void **state)
{
	struct {
		struct rvtrace_ctr_sample head;
		uint64_t more[2];
		struct {
			struct rvtrace_ctr_entry entry;
			uint64_t more;
		} entries[2];
	} grown = {
		.head = { .magic = RVTRACE_CTR_MAGIC, .version = 9,
			  .header_bytes = sizeof(grown.head) + 16, .bytes = sizeof(grown),
			  .entry_bytes = sizeof(grown.entries[0]), .nr = 2, .ip = 42 },
		.more = { ~0ULL, ~0ULL },
		.entries = { { { 0x101, 0x200, 5 }, ~0ULL }, { { 0x301, 0x401, 13 }, ~0ULL } },
	};
	struct rvt_ctr_sample sample;
	struct rvt_ctr_entry entry;
	size_t pos = 0;

	(void)state;
	assert_int_equal(rvt_ctr_next(&grown, sizeof(grown), &pos, &sample), 1);
	assert_int_equal(pos, sizeof(grown));
	assert_int_equal(sample.ip, 42);
	assert_int_equal(rvt_ctr_get(&sample, 1, &entry), 0);
	assert_int_equal(entry.source, 0x300);
	assert_int_equal(entry.target, 0x400);
	assert_true(entry.mispredicted);
	assert_int_equal(entry.type, RVT_CTR_RETURN);
}

/* After damage, reading goes on at the next intact sample; nothing is made up. */
static void test_damage(void **state)
{
	uint8_t buffer[1024] = { 0 };
	struct rvt_ctr_sample sample;
	long len = rvt_ctr_put(&head, entries, buffer + 24, sizeof(buffer) - 24);
	size_t pos = 0, end = 24 + (size_t)len;

	(void)state;
	assert_int_equal(rvt_ctr_next(buffer, end, &pos, &sample), -EBADMSG);
	assert_int_equal(pos, 24);
	assert_int_equal(rvt_ctr_next(buffer, end, &pos, &sample), 1);
	check_sample(&sample);
	/* cut short anywhere */
	for (size_t cut = 1; cut < (size_t)len; cut++) {
		pos = 24;
		assert_int_equal(rvt_ctr_next(buffer, end - cut, &pos, &sample), -EBADMSG);
		assert_int_equal(pos, end - cut);
	}
	/* every byte of the header turned over: an error or a sample, never out of bounds */
	for (size_t i = 0; i < sizeof(struct rvtrace_ctr_sample); i++) {
		uint8_t *copy = malloc(len);
		struct rvt_ctr_entry entry;

		assert_non_null(copy);
		memcpy(copy, buffer + 24, len);
		copy[i] ^= 0xff;
		pos = 0;
		if (rvt_ctr_next(copy, len, &pos, &sample) == 1)
			for (unsigned int n = 0; !rvt_ctr_get(&sample, n, &entry); n++)
				;
		assert_true(pos <= (size_t)len);
		free(copy);
	}
}

static uint64_t flags_of(const struct perf_branch_entry *branch)
{
	uint64_t word;

	memcpy(&word, (const char *)branch + 16, sizeof(word));
	return word;
}

static void test_branch_types(void **state)
{
	static const struct {
		unsigned int type, perf;
	} table[] = {
		{ 0, PERF_BR_UNKNOWN }, { 2, PERF_BR_IRQ }, { 3, PERF_BR_ERET },
		{ 4, PERF_BR_COND },
		{ 5, PERF_BR_COND }, { 6, PERF_BR_UNKNOWN }, { 7, PERF_BR_UNKNOWN },
		{ 8, PERF_BR_IND_CALL }, { 9, PERF_BR_CALL }, { 10, PERF_BR_IND },
		{ 11, PERF_BR_UNCOND },
		{ 13, PERF_BR_RET }, { 14, PERF_BR_IND }, { 15, PERF_BR_UNCOND },
	};
	struct perf_branch_entry branch;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct rvt_ctr_entry entry = { .source = 0x1000, .target = 0x2000,
					       .type = (uint8_t)table[i].type };

		rvt_ctr_branch(&entry, false, &branch);
		assert_int_equal(branch.type, table[i].perf);
		assert_int_equal(branch.from, 0x1000);
		assert_int_equal(branch.to, 0x2000);
		assert_int_equal(branch.priv, PERF_BR_PRIV_USER);
		/* a branch that was not taken can be told from one that was */
		assert_int_equal(flags_of(&branch) >> 33 & 1, table[i].type == 4);
	}
}

/* Others call every exception a system call. */
static void test_branch_exception(void **state)
{
	struct rvt_ctr_entry entry = { .source = 0x1000, .target = 0xffffffff80000000ULL,
				       .type = RVT_CTR_EXCEPTION };
	struct perf_branch_entry branch;

	(void)state;
	rvt_ctr_branch(&entry, false, &branch);
	assert_int_equal(branch.type, PERF_BR_UNKNOWN);
	rvt_ctr_branch(&entry, true, &branch);
	assert_int_equal(branch.type, PERF_BR_SYSCALL);
	entry.type = RVT_CTR_INTERRUPT;
	rvt_ctr_branch(&entry, true, &branch);
	assert_int_equal(branch.type, PERF_BR_IRQ);
	/* from a mode that is not recorded: where it went tells the privilege */
	entry.source = 0;
	rvt_ctr_branch(&entry, false, &branch);
	assert_int_equal(branch.priv, PERF_BR_PRIV_KERNEL);
}

static void test_branch_flags(void **state)
{
	struct rvt_ctr_entry entry = { .source = 0x1000, .target = 0x2000, .type = RVT_CTR_TAKEN,
				       .mispredicted = true, .cycles_valid = true,
				       .cycles = 65535 };
	struct perf_branch_entry branch;

	(void)state;
	rvt_ctr_branch(&entry, false, &branch);
	assert_true(branch.mispred && !branch.predicted);
	assert_int_equal(branch.cycles, 65535);
	entry.cycles = 65536;	/* does not wrap to 0 */
	entry.mispredicted = false;
	rvt_ctr_branch(&entry, false, &branch);
	assert_true(!branch.mispred && branch.predicted);
	assert_int_equal(branch.cycles, 65535);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(rvt_ctr_type_name(1), "exception");
	assert_string_equal(rvt_ctr_type_name(12), "swap");
	assert_string_equal(rvt_ctr_type_name(6), "unknown");
	assert_string_equal(rvt_ctr_type_name(1000), "unknown");
	assert_true(rvt_ctr_is_call(8) && rvt_ctr_is_call(9) && rvt_ctr_is_call(12));
	assert_false(rvt_ctr_is_call(13) || rvt_ctr_is_call(10) || rvt_ctr_is_call(5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_cycles_valid),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_many_entries),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_grown),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_branch_types),
		cmocka_unit_test(test_branch_exception),
		cmocka_unit_test(test_branch_flags),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
