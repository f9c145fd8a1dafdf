// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Block cache: block tables, their tables, and the making of blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "flow/control.h"
#include "flow/core/blocks.h"
#include "insn/insn.h"
#include "util/reserve.h"

#define SMALL_PAGE 4096ul
#define HUGE_PAGE (2ul << 20)
/* Longer straight lines are cut, so that it stays cheap to enter them anywhere. */
#define MAX_BLOCK_INSNS 128
/* The first arena of a cache, and all others. */
#define FIRST_ARENA_BYTES (256ul << 10)
#define ARENA_BYTES HUGE_PAGE

struct arena {
	struct arena *next;
	size_t used, size;	/* bytes, with this head */
};

#define ARENA_HEAD 64

struct rvt_block_cache {
	void *tables;		/* tsearch tree */
	struct arena *arena;
	size_t bytes;		/* of arenas and tables */
	uint32_t n_blocks;	/* made so far */
	struct rvt_pooled *pool;
};

/* ---- single instructions ---- */

int rvt_code_insn(struct rvt_space *space, const struct rvt_code_config *config, uint64_t pc,
		  struct rvt_insn *insn)
{
	const uint8_t *bytes;
	size_t avail = rvt_space_find(space, pc, &bytes);
	uint8_t copy[8];
	int ret;

	if (!avail)
		return -ENOENT;
	ret = rvt_insn_classify(bytes, avail, config->isa, config->hook, config->hook_ctx, insn);
	if (ret != -EAGAIN)
		return ret;
	/* The instruction goes on in another mapping. */
	for (avail = 0; avail < sizeof(copy); avail++) {
		if (!rvt_space_find(space, rvt_code_addr(config, pc + avail), &bytes))
			break;
		copy[avail] = *bytes;
	}
	ret = rvt_insn_classify(copy, avail, config->isa, config->hook, config->hook_ctx, insn);
	return ret == -EAGAIN ? -ENOENT : ret;
}

static uint64_t table_target(struct rvt_space *space, const struct rvt_code_config *config,
			     uint64_t index)
{
	unsigned int size = config->isa & RVT_ISA_RV32 ? 4 : 8;
	uint64_t entry = config->jvt + index * size, value = 0;
	const uint8_t *byte;

	if (!config->jvt)
		return 0;
	for (unsigned int i = 0; i < size; i++) {
		if (!rvt_space_find(space, entry + i, &byte))
			return 0;
		value |= (uint64_t)*byte << 8 * i;
	}
	return value & ~1ull;
}

uint64_t rvt_code_target(struct rvt_space *space, const struct rvt_code_config *config,
			 uint64_t pc, const struct rvt_insn *insn)
{
	if (insn->flags & RVT_INSN_F_TARGET)
		return rvt_code_addr(config, pc + insn->offset);
	if (insn->flags & RVT_INSN_F_ABSOLUTE)
		return rvt_code_addr(config, insn->offset & ~1ull);
	if (insn->flags & RVT_INSN_F_TABLE)
		return table_target(space, config, insn->offset);
	return 0;
}

bool rvt_code_sequential(const struct rvt_code_config *config, uint64_t load_pc,
			 const struct rvt_insn *load, const struct rvt_insn *jump,
			 uint64_t *target)
{
	uint64_t value = load->offset;

	if (!(load->flags & RVT_INSN_F_LOADS_IMM) || !load->rd || load->rd != jump->rs1)
		return false;
	if (load->flags & RVT_INSN_F_PCREL)
		value += load_pc;
	*target = rvt_code_addr(config, (value + jump->offset) & ~1ull);
	return true;
}

enum rvt_block_end rvt_code_end(const struct rvt_insn *insn)
{
	switch (insn->iclass) {
	case RVT_INSN_BRANCH:
		return RVT_END_BRANCH;
	case RVT_INSN_JUMP:
	case RVT_INSN_JUMP_LINKED:
		return RVT_END_JUMP;
	case RVT_INSN_CALL:
		return RVT_END_CALL;
	case RVT_INSN_IND_CALL:
		return RVT_END_IND_CALL;
	case RVT_INSN_COROUTINE:
		return RVT_END_COROUTINE;
	case RVT_INSN_RETURN:
		return RVT_END_RETURN;
	case RVT_INSN_IND_JUMP:
	case RVT_INSN_IND_JUMP_LINKED:
	case RVT_INSN_TRAP_RETURN:
		return RVT_END_INDIRECT;
	case RVT_INSN_ECALL:
	case RVT_INSN_EBREAK:
		return RVT_END_TRAP_INSN;
	default:
		return RVT_END_FALL;
	}
}

/* ---- making blocks ---- */

/* A block under construction. */
struct block_builder {
	struct rvt_code_block block;
	uint8_t halfwords[MAX_BLOCK_INSNS];
	struct rvt_insn last;		/* the instruction before the one that is added */
	uint64_t last_pc;
};

static void end_block(struct block_builder *d, struct rvt_space *space,
		      const struct rvt_code_config *config, const struct rvt_insn *insn,
		      uint64_t pc)
{
	struct rvt_code_block *b = &d->block;

	b->end = rvt_code_end(insn);
	b->pub.iclass = insn->iclass;
	b->pub.target = rvt_code_target(space, config, pc, insn);
	b->absolute = insn->flags & RVT_INSN_F_ABSOLUTE;
	/* Without the table a table jump is like an indirect one. */
	if (insn->flags & RVT_INSN_F_TABLE && !b->pub.target)
		b->end = b->end == RVT_END_CALL ? RVT_END_IND_CALL : RVT_END_INDIRECT;
	if (b->end >= RVT_END_INDIRECT && b->end <= RVT_END_RETURN && b->pub.insns > 1)
		b->sequential = rvt_code_sequential(config, d->last_pc, &d->last, insn,
						    &b->sequential_target);
	if (b->end == RVT_END_TRAP_INSN) {
		b->insns--;
		b->halfwords -= b->last_halfwords;
	}
}

/* Adds the instruction at @pc; returns true when it ends the block. */
static bool add_insn(struct block_builder *d, struct rvt_space *space,
		      const struct rvt_code_config *config, const struct rvt_insn *insn,
		     uint64_t pc)
{
	struct rvt_code_block *b = &d->block;

	d->halfwords[b->insns] = insn->len_bytes / 2;
	b->last_halfwords = insn->len_bytes / 2;
	b->insns++;
	b->halfwords += insn->len_bytes / 2;
	b->pub.insns++;
	b->pub.bytes += insn->len_bytes;
	b->end_pc = rvt_code_addr(config, pc + insn->len_bytes);
	if (rvt_code_end(insn) != RVT_END_FALL) {
		end_block(d, space, config, insn, pc);
		return true;
	}
	b->pub.iclass = RVT_INSN_SEQUENTIAL;
	d->last = *insn;
	d->last_pc = pc;
	return b->pub.insns == MAX_BLOCK_INSNS;
}

/* Fills @d from @avail bytes. Returns 0, -EAGAIN or -EILSEQ when not even one instruction fits. */
static int build_block(struct block_builder *d, struct rvt_space *space,
		       const struct rvt_code_config *config, uint64_t pc, const uint8_t *bytes,
		       uint64_t avail)
{
	memset(&d->block, 0, sizeof(d->block));
	d->block.pub.pc = pc;
	for (;;) {
		struct rvt_insn insn;
		int ret = rvt_insn_classify(bytes, avail, config->isa, config->hook,
					    config->hook_ctx, &insn);

		if (ret)
			return d->block.pub.insns ? 0 : ret;
		if (add_insn(d, space, config, &insn, pc))
			return 0;
		bytes += insn.len_bytes;
		avail -= insn.len_bytes;
		pc += insn.len_bytes;
	}
}

/* ---- block tables ---- */

static int compare_tables(const void *a, const void *b)
{
	const struct rvt_block_table *ta = a, *tb = b;

	if (ta->object != tb->object)
		return ta->object < tb->object ? -1 : 1;
	if (ta->bias != tb->bias)
		return ta->bias < tb->bias ? -1 : 1;
	return memcmp(&ta->config, &tb->config, sizeof(ta->config));
}

static void table_destroy(void *p)
{
	struct rvt_block_table *table = p;

	/* Most of a large table was never touched: reading it would allocate its pages. */
	munmap(table->pages, table->n_pages * sizeof(table->pages[0]));
	free(table);
}

static void cache_destroy(struct rvt_block_cache *cache)
{
	struct rvt_pooled *pooled;
	struct arena *arena;

	while ((pooled = cache->pool)) {
		cache->pool = pooled->next;
		pooled->destroy(pooled);
	}
	tdestroy(cache->tables, table_destroy);
	while ((arena = cache->arena)) {
		cache->arena = arena->next;
		munmap(arena, arena->size);
	}
	free(cache);
}

size_t rvt_image_block_bytes(struct rvt_image *image)
{
	size_t bytes;

	pthread_mutex_lock(&image->lock);
	bytes = image->blocks ? image->blocks->bytes : 0;
	pthread_mutex_unlock(&image->lock);
	return bytes;
}

static void forget_tables(struct rvt_mapping *mapping)
{
	if (!mapping)
		return;
	atomic_store_explicit(&mapping->blocks, NULL, memory_order_relaxed);
	forget_tables(mapping->left);
	forget_tables(mapping->right);
}

void rvt_image_forget_blocks(struct rvt_image *image)
{
	if (!image->blocks)
		return;
	cache_destroy(image->blocks);
	image->blocks = NULL;
	for (struct rvt_space *space = image->spaces; space; space = space->next)
		forget_tables(space->root);
}

void rvt_block_keep_insn(struct rvt_kept_insn *to, const struct rvt_code_block *from,
			 uint32_t insn)
{
	const bool last = insn + 1 == from->pub.insns;
	uint64_t pc = from->pub.pc;

	if (from == &to->block)
		return;
	for (uint32_t i = 0; i < insn; i++)
		pc += 2 * from->pub.halfwords[i];
	to->halfwords = from->pub.halfwords[insn];
	to->block = (struct rvt_code_block){
		.pub = {
			.pc = pc, .insns = 1, .bytes = 2 * to->halfwords,
			.halfwords = &to->halfwords, .iclass = RVT_INSN_SEQUENTIAL,
		},
		.end_pc = pc + 2 * to->halfwords, .insns = 1, .halfwords = to->halfwords,
		.end = RVT_END_FALL, .last_halfwords = to->halfwords, .number = UINT32_MAX,
	};
	if (last) {
		to->block.pub.iclass = from->pub.iclass;
		to->block.pub.target = from->pub.target;
		to->block.end = from->end;
	}
}

/* Allocates many pages at once: huge ones, unless the program has few blocks. */
static struct arena *add_arena(struct rvt_block_cache *cache)
{
	size_t size = cache->arena ? ARENA_BYTES : FIRST_ARENA_BYTES;
	struct arena *arena = rvt_table_map(size);

	if (!arena)
		return NULL;
	if (size == HUGE_PAGE)
		madvise(arena, size, MADV_HUGEPAGE);
	arena->used = ARENA_HEAD;
	arena->size = size;
	arena->next = cache->arena;
	cache->bytes += size;
	return cache->arena = arena;
}

/* Allocates zeroed memory that lives as long as the cache. The caller holds the image's lock. */
static void *cache_alloc(struct rvt_block_cache *cache, size_t size)
{
	struct arena *arena = cache->arena;
	void *p;

	size = (size + 15) & ~15ul;
	if (!arena || arena->size - arena->used < size)
		arena = add_arena(cache);
	if (!arena)
		return NULL;
	p = (uint8_t *)arena + arena->used;
	arena->used += size;
	return p;
}

/* in entries */
#define LARGE_TABLE 256	/* small ones take little memory: there is one for each hart */

void *rvt_table_map(size_t size)
{
	uint8_t *p = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;

	if (p == MAP_FAILED)
		return NULL;
	size = (size + SMALL_PAGE - 1) & ~(SMALL_PAGE - 1);
	before = -(uintptr_t)p & (HUGE_PAGE - 1);
	if (before)
		munmap(p, before);
	munmap(p + before + size, HUGE_PAGE - before);
	return p + before;
}

#define PAGEMAP_THERE (3ull << 62)	/* in memory, or swapped out */

/*
 * What /proc/self/pagemap says of each page of the @size bytes at @table; mincore() would not tell
 * what is swapped out from what never was. NULL: not known. The caller frees it.
 */
static uint64_t *pagemap_of(const void *table, size_t size)
{
	const size_t len = size / SMALL_PAGE * sizeof(uint64_t);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t *map = malloc(len);

	if (map && (fd < 0 || pread(fd, map, len, (uintptr_t)table / SMALL_PAGE *
				    sizeof(uint64_t)) != (ssize_t)len)) {
		free(map);
		map = NULL;
	}
	if (fd >= 0)
		close(fd);
	return map;
}

static bool is_there(const uint64_t *pagemap, size_t page)
{
	return pagemap[page] & PAGEMAP_THERE;
}

/* Returns whether the table begins with a huge page. To look at all of it would take long. */
static bool begins_huge(const void *table, size_t size)
{
	const size_t first = size < HUGE_PAGE ? size : HUGE_PAGE;
	uint64_t *pagemap = pagemap_of(table, first);
	bool huge = pagemap;

	for (size_t page = 0; page < first / SMALL_PAGE && huge; page++)
		huge = is_there(pagemap, page);
	free(pagemap);
	return huge;
}

/*
 * Makes huge pages of the table. They go only where nothing is yet, so what is there moves
 * elsewhere and is copied back. The table stays mapped all the time; if it cannot move it is as it
 * was.
 */
static void move_to_huge(uint8_t *table, size_t size, const uint64_t *pagemap)
{
	/* At such a border page tables move along. Where some stay there can be no huge pages. */
	uint8_t *old = rvt_table_map(size);

	if (!old)
		return;
	munmap(old, size);
	old = mremap(table, size, size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, old);
	if (old == MAP_FAILED)
		return;
	madvise(table, size, MADV_HUGEPAGE);
	for (size_t page = 0; page < size / SMALL_PAGE; page++)
		if (is_there(pagemap, page))
			memcpy(table + page * SMALL_PAGE, old + page * SMALL_PAGE, SMALL_PAGE);
	munmap(old, size);
}

void rvt_table_grows(void *table, size_t size, uint32_t n)
{
	uint64_t *pagemap;

	if (n != LARGE_TABLE || sysconf(_SC_PAGESIZE) != SMALL_PAGE)
		return;
	size = (size + SMALL_PAGE - 1) & ~(SMALL_PAGE - 1);
	if (begins_huge(table, size))
		return;
	pagemap = pagemap_of(table, size);
	if (pagemap)
		move_to_huge(table, size, pagemap);
	free(pagemap);
}

static struct rvt_block_table *table_create(const struct rvt_block_table *key)
{
	struct rvt_block_table *table = malloc(sizeof(*table));

	if (!table)
		return NULL;
	*table = *key;
	table->n_pages = (table->object->len >> RVT_PAGE_BITS) + 1;
	table->pages = reserve(table->n_pages * sizeof(table->pages[0]));
	if (!table->pages) {
		free(table);
		return NULL;
	}
	table->segments_low = UINT64_MAX;
	return table;
}

/* The caller holds the image's lock. */
static struct rvt_block_cache *cache_get(struct rvt_image *image)
{
	if (!image->blocks) {
		image->blocks = calloc(1, sizeof(*image->blocks));
		image->destroy_blocks = cache_destroy;
	}
	return image->blocks;
}

void rvt_pool_put(struct rvt_image *image, struct rvt_pooled *pooled)
{
	struct rvt_block_cache *cache;

	pthread_mutex_lock(&image->lock);
	cache = cache_get(image);
	if (cache) {
		pooled->next = cache->pool;
		cache->pool = pooled;
	}
	pthread_mutex_unlock(&image->lock);
	if (!cache)
		pooled->destroy(pooled);
}

struct rvt_pooled *rvt_pool_take(struct rvt_image *image,
				 bool (*fits)(const struct rvt_pooled *pooled, const void *ctx),
				 const void *ctx)
{
	struct rvt_pooled **link, *pooled = NULL;

	pthread_mutex_lock(&image->lock);
	link = image->blocks ? &image->blocks->pool : NULL;
	while (link && *link && !fits(*link, ctx))
		link = &(*link)->next;
	if (link && *link) {
		pooled = *link;
		*link = pooled->next;
	}
	pthread_mutex_unlock(&image->lock);
	return pooled;
}

static struct rvt_block_table *table_find(struct rvt_image *image,
					  const struct rvt_block_table *key)
{
	struct rvt_block_table **found, *table;

	if (!cache_get(image))
		return NULL;
	found = tfind(key, &image->blocks->tables, compare_tables);
	if (found)
		return *found;
	table = table_create(key);
	if (table && !tsearch(table, &image->blocks->tables, compare_tables)) {
		table_destroy(table);
		table = NULL;
	}
	if (table)
		image->blocks->bytes += table->n_pages * sizeof(table->pages[0]);
	return table;
}

struct rvt_block_table *rvt_block_table_find(struct rvt_image *image, struct rvt_mapping *mapping,
					     const struct rvt_code_config *config)
{
	struct rvt_block_table *table, key;

	memset(&key, 0, sizeof(key));
	key.object = mapping->object;
	key.bias = mapping->start - mapping->offset;
	memcpy(&key.config, config, sizeof(*config));
	pthread_mutex_lock(&image->lock);
	table = table_find(image, &key);
	if (table)
		atomic_store_explicit(&mapping->blocks, table, memory_order_release);
	pthread_mutex_unlock(&image->lock);
	return table;
}

static struct rvt_code_block *keep(struct rvt_block_cache *cache, const struct block_builder *d)
{
	struct rvt_code_block *b = cache_alloc(cache, sizeof(*b) + d->block.pub.insns);
	uint8_t *halfwords;

	if (!b)
		return NULL;
	halfwords = (uint8_t *)(b + 1);
	memcpy(b, &d->block, sizeof(*b));
	b->number = cache->n_blocks++;
	memcpy(halfwords, d->halfwords, d->block.pub.insns);
	b->pub.halfwords = halfwords;
	return b;
}

int rvt_code_decode(struct rvt_space *space, const struct rvt_code_config *config, uint64_t pc,
		    struct rvt_code_block **block)
{
	struct rvt_block_cache *cache;
	struct rvt_insn insn;
	struct block_builder d = {};
	int ret = rvt_code_insn(space, config, pc, &insn);

	if (ret)
		return ret;
	d.block.pub.pc = pc;
	add_insn(&d, space, config, &insn, pc);
	*block = NULL;
	pthread_mutex_lock(&space->image->lock);
	cache = cache_get(space->image);
	if (cache)
		*block = keep(cache, &d);
	pthread_mutex_unlock(&space->image->lock);
	return *block ? 0 : -ENOMEM;
}

static struct rvt_block_page *page_get(struct rvt_block_cache *cache, struct rvt_block_table *table,
				       uint64_t index)
{
	struct rvt_block_page *page = atomic_load_explicit(&table->pages[index],
							   memory_order_acquire);

	if (!page) {
		page = cache_alloc(cache, sizeof(*page));
		if (page)
			atomic_store_explicit(&table->pages[index], page, memory_order_release);
	}
	return page;
}

/* Called with the image's lock held. */
static int make_block(struct rvt_space *space, struct rvt_block_table *table,
		      struct rvt_mapping *mapping, uint64_t pc, struct rvt_code_block **block)
{
	uint64_t offset = pc - table->bias, avail, left = mapping->last - pc;
	struct rvt_block_cache *cache = space->image->blocks;
	_Atomic(struct rvt_code_block *) *entry;
	struct rvt_block_page *page;
	const uint8_t *bytes;
	struct block_builder d;
	int ret;

	avail = rvt_object_bytes(table->object, offset, &bytes);
	if (!avail)
		return -ENOENT;
	if (avail - 1 > left)
		avail = left + 1;
	ret = build_block(&d, space, &table->config, pc, bytes, avail);
	if (ret)
		return ret;
	page = page_get(cache, table, offset >> RVT_PAGE_BITS);
	if (!page)
		return -ENOMEM;
	entry = &page->blocks[offset >> 1 & ((1 << (RVT_PAGE_BITS - 1)) - 1)];
	*block = atomic_load_explicit(entry, memory_order_acquire);
	if (*block)
		return 0;
	*block = keep(cache, &d);
	if (!*block)
		return -ENOMEM;
	(*block)->table = table;
	atomic_store_explicit(entry, *block, memory_order_release);
	return 0;
}

int rvt_block_table_block(struct rvt_space *space, struct rvt_block_table *table,
			  struct rvt_mapping *mapping, uint64_t pc, struct rvt_code_block **block)
{
	uint64_t offset = pc - table->bias;
	struct rvt_block_page *page;
	struct rvt_code_block *b = NULL;
	int ret;

	if (offset >= table->object->len)
		return -ENOENT;
	page = atomic_load_explicit(&table->pages[offset >> RVT_PAGE_BITS], memory_order_acquire);
	if (page)
		b = atomic_load_explicit(
			&page->blocks[offset >> 1 & ((1 << (RVT_PAGE_BITS - 1)) - 1)],
			memory_order_acquire);
	if (!b) {
		pthread_mutex_lock(&space->image->lock);
		ret = make_block(space, table, mapping, pc, &b);
		pthread_mutex_unlock(&space->image->lock);
		if (ret)
			return ret;
	}
	if (b->pub.bytes - 1 > mapping->last - pc)
		return -EAGAIN;
	*block = b;
	return 0;
}
