// SPDX-License-Identifier: GPL-2.0-only
/*
 * WRPTR, WRAP, FROZEN and CLR of Control Transfer Records, as a hart in S mode sees them: the array
 * has 16 entries, only direct jumps, or calls and returns, are recorded. Prints lines
 * "ctr-status NAME: wrptr N wrap N frozen N valid N" and never stays loaded.
 */
#define pr_fmt(fmt) "ctr-status " fmt

#include <linux/bits.h>
#include <linux/module.h>
#include <asm/csr.h>

static bool draft;
module_param(draft, bool, 0);

#define DEPTH 16
#define CSR_SELECT 0x150
#define CSR_SOURCE 0x151
#define ENTRY_SELECT 0x200
/* 1.0 */
#define CSR_STATUS_1_0 0x14f
#define CSR_DEPTH 0x15f
#define SCTRCLR ".4byte 0x10400073"
/* Draft 0.1.4: DEPTH 0000 is 16, CLR is bit 7 */
#define CSR_DRAFT_CONTROL 0x181
#define CSR_DRAFT_STATUS 0x183
#define DRAFT_CLR BIT(7)
/* All filters but that of direct jumps (bit 43): bits 33, 34, 35, 37, 40 to 42, 44 to 47 */
#define ONLY_JUMPS (0xf72eULL << 32)

#define JUMP "j 1f\n1:\n"
#define JUMPS_5 JUMP JUMP JUMP JUMP JUMP

/* Records what @code transfers, and nothing else: the compiler adds no jump between. */
#define RECORD(control, code) do {						\
	if (draft)								\
		asm volatile("csrw 0x181, %0\n" code "csrw 0x181, zero\n"	\
			     : : "r" (control) : "ra", "memory");		\
	else									\
		asm volatile("csrw 0x14e, %0\n" code "csrw 0x14e, zero\n"	\
			     : : "r" (control) : "ra", "memory");		\
} while (0)

static void clear_records(void)
{
	if (draft)
		csr_write(CSR_DRAFT_CONTROL, DRAFT_CLR);
	else
		asm volatile(SCTRCLR ::: "memory");
}

static unsigned long status(void)
{
	return draft ? csr_read(CSR_DRAFT_STATUS) : csr_read(CSR_STATUS_1_0);
}

static unsigned int valid_entries(void)
{
	unsigned int i, valid = 0;

	for (i = 0; i < DEPTH; i++) {
		csr_write(CSR_SELECT, ENTRY_SELECT + i);
		valid += csr_read(CSR_SOURCE) & 1;
	}
	return valid;
}

static void print(const char *name)
{
	unsigned long value = status();

	pr_info("%s: wrptr %lu wrap %lu frozen %lu valid %u\n", name, value & 0xff,
		draft ? value >> 14 & 1 : 0, draft ? value >> 15 & 1 : value >> 31 & 1,
		valid_entries());
}

static int __init ctr_status_init(void)
{
	/* S: bit 1 in both; RASEMU is bit 10 of the draft and 7 of 1.0 */
	const u64 jumps = BIT(1) | ONLY_JUMPS, calls = BIT(1) | (draft ? BIT(10) : BIT(7));
	unsigned long flags, frozen = draft ? BIT(15) : BIT(31);

	local_irq_save(flags);
	RECORD(0UL, "");
	if (!draft) {
		csr_write(CSR_DEPTH, 0);
		csr_write(CSR_STATUS_1_0, 0);
	}
	clear_records();
	print("cleared");
	RECORD(jumps, JUMPS_5);
	print("5 jumps");
	RECORD(jumps, JUMPS_5 JUMPS_5 JUMP);
	print("16 jumps");
	RECORD(jumps, JUMPS_5);
	print("21 jumps");
	if (draft)
		csr_write(CSR_DRAFT_STATUS, frozen | 5);
	else
		csr_write(CSR_STATUS_1_0, frozen | 5);
	RECORD(jumps, JUMPS_5);
	print("5 while frozen");
	clear_records();
	if (!draft)
		csr_write(CSR_STATUS_1_0, 0);
	print("cleared again");
	RECORD(calls, "call 2f\n call 2f\n j 3f\n 2: ret\n 3:\n");
	print("calls that return");
	RECORD(calls, "jal ra, 4f\n 4: jal ra, 5f\n 5:\n");
	print("two calls");
	clear_records();
	local_irq_restore(flags);
	return -ECANCELED;
}

module_init(ctr_status_init);

MODULE_DESCRIPTION("Registers of Control Transfer Records, for a test");
MODULE_LICENSE("GPL");
