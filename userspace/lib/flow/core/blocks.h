/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside librvtrace: the block cache. Blocks belong to a block table, which is one code object at
 * one bias, decoded for one kind of hart; all spaces that map the object there share it. A table
 * has an entry per half-word. Readers need no lock: entries are published whole.
 */
#ifndef RVT_LIB_FLOW_BLOCKS_H
#define RVT_LIB_FLOW_BLOCKS_H

#include <stdatomic.h>
#include <rvtrace/flow.h>
#include "image/image.h"

/*
 * Where programs have their own code (0), and where all of them have the same, the kernel's (1):
 * what is remembered of that holds in every space.
 */
static inline unsigned int rvt_va_half(uint64_t pc)
{
	return pc >> 63;
}

/* How a block goes on. */
enum rvt_block_end {
	RVT_END_FALL,		/* at its end: nothing there changed the pc */
	RVT_END_BRANCH,
	RVT_END_JUMP,		/* direct, whatever it links */
	RVT_END_CALL,
	RVT_END_INDIRECT,	/* any target; trap returns too */
	RVT_END_IND_CALL,
	RVT_END_COROUTINE,
	RVT_END_RETURN,
	RVT_END_TRAP_INSN,	/* ecall or ebreak, which never retires */
};

struct rvt_code_block {
	struct rvt_block pub;
	struct rvt_block_table *table;	/* NULL: made for one space only */
	uint64_t end_pc;		/* behind the last instruction */
	uint32_t insns;			/* that can retire */
	uint32_t halfwords;		/* of them */
	uint8_t end;			/* enum rvt_block_end */
	uint8_t last_halfwords;		/* of the last instruction, retiring or not */
	uint32_t number;		/* of all blocks of the image */
	bool sequential;		/* ends in lui/auipc + jalr: to .sequential_target */
	bool absolute;			/* ends in jalr with rs1 = x0: to .pub.target */
	uint64_t sequential_target;
};

static inline const struct rvt_code_block *rvt_block_of(const struct rvt_run *run)
{
	/* .pub is the first member */
	return (const struct rvt_code_block *)run->block;
}

/* What of a flow's configuration decides how code reads. */
struct rvt_code_config {
	unsigned int isa;
	rvt_insn_hook hook;
	void *hook_ctx;
	uint64_t jvt;
};

/* Small: a page has a pointer for each half-word, and few blocks of it are ever run. */
#define RVT_PAGE_BITS 9

struct rvt_block_page {
	_Atomic(struct rvt_code_block *) blocks[1 << (RVT_PAGE_BITS - 1)];
};

struct rvt_block_table {
	struct rvt_object *object;
	uint64_t bias;			/* address of offset 0 of the object */
	struct rvt_code_config config;
	uint64_t n_pages;
	_Atomic(struct rvt_block_page *) *pages;
	/*
	 * what all segments of all flows in this block table take up, high inclusive
	 * (flow/memo/segments.h)
	 */
	_Atomic(uint64_t) segments_low, segments_high;
};

/*
 * @size zeroed bytes that are real only where they are used, at a border of huge pages. NULL: no
 * memory.
 */
void *rvt_table_map(size_t size);
/*
 * A table from rvt_table_map() has @n entries now: once it seems that there will be many all of it
 * gets huge pages, at the same addresses. Page faults are dear, above all in virtual machines: a
 * page that is read first and written then costs two, 2 us each.
 */
void rvt_table_grows(void *table, size_t size, uint32_t n);

/*
 * A pool of an image: a stack of what flows left to others (flow/memo/table-pool.h). What nobody
 * takes is destroyed with the image.
 */
struct rvt_pooled {
	struct rvt_pooled *next;
	void (*destroy)(struct rvt_pooled *pooled);
};

void rvt_pool_put(struct rvt_image *image, struct rvt_pooled *pooled);
/* Takes the last put of those that @fits returns true for; NULL: there is none. */
struct rvt_pooled *rvt_pool_take(struct rvt_image *image,
				 bool (*fits)(const struct rvt_pooled *pooled, const void *ctx),
				 const void *ctx);

/* One instruction of a block that may go. */
struct rvt_kept_insn {
	struct rvt_code_block block;
	uint8_t halfwords;
};

/* Instruction @insn of @from, which may be in *@to, becomes a block that is in no image. */
void rvt_block_keep_insn(struct rvt_kept_insn *to, const struct rvt_code_block *from,
			 uint32_t insn);

static inline bool rvt_code_same_config(const struct rvt_code_config *a,
					const struct rvt_code_config *b)
{
	/* nearly always all of it */
	return !((a->isa ^ b->isa) | ((uintptr_t)a->hook ^ (uintptr_t)b->hook) |
		 ((uintptr_t)a->hook_ctx ^ (uintptr_t)b->hook_ctx) | (a->jvt ^ b->jvt));
}

/* The block table of @mapping (which has an object); NULL when out of memory. */
struct rvt_block_table *rvt_block_table_find(struct rvt_image *image, struct rvt_mapping *mapping,
					     const struct rvt_code_config *config);
/* The same; quick if @mapping was looked at like this the last time. */
static inline struct rvt_block_table *rvt_block_table_get(struct rvt_image *image,
							  struct rvt_mapping *mapping,
							  const struct rvt_code_config *config)
{
	struct rvt_block_table *table =
		atomic_load_explicit(&mapping->blocks, memory_order_acquire);

	if (table && rvt_code_same_config(&table->config, config))
		return table;
	return rvt_block_table_find(image, mapping, config);
}
/*
 * rvt_block_table_block - the block at @pc, which lies in @mapping of @space. Sets *block. Returns
 * 0, -ENOENT (no bytes there), -EAGAIN (the block there does not lie in @mapping as a whole, or its
 * first instruction does not: rvt_code_decode() makes one), -EILSEQ, -ENOMEM.
 */
int rvt_block_table_block(struct rvt_space *space, struct rvt_block_table *table,
			  struct rvt_mapping *mapping, uint64_t pc, struct rvt_code_block **block);

/*
 * rvt_code_decode - a new block of a single instruction at @pc, wherever its bytes lie. It lives as
 * long as the image. Returns 0, -ENOENT, -EILSEQ, -ENOMEM.
 */
int rvt_code_decode(struct rvt_space *space, const struct rvt_code_config *config, uint64_t pc,
		    struct rvt_code_block **block);
/* The instruction at @pc. Returns 0, -ENOENT, -EILSEQ. */
int rvt_code_insn(struct rvt_space *space, const struct rvt_code_config *config, uint64_t pc,
		  struct rvt_insn *insn);
/* The target of @insn at @pc when it needs no register; else 0. */
uint64_t rvt_code_target(struct rvt_space *space, const struct rvt_code_config *config,
			 uint64_t pc, const struct rvt_insn *insn);
/*
 * Where the indirect jump @jump goes when it follows @load at once, which is at @load_pc (N-Trace
 * 9.1, E-Trace "sequentially inferable jumps"). False: that cannot be inferred.
 */
bool rvt_code_sequential(const struct rvt_code_config *config, uint64_t load_pc,
			 const struct rvt_insn *load, const struct rvt_insn *jump,
			 uint64_t *target);
enum rvt_block_end rvt_code_end(const struct rvt_insn *insn);

static inline uint64_t rvt_code_addr(const struct rvt_code_config *config, uint64_t pc)
{
	return config->isa & RVT_ISA_RV32 ? (uint32_t)pc : pc;
}

#endif
