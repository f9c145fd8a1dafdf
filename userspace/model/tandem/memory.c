// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sparse physical memory of the shadow state and of golden models. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/tandem.h>

#define PAGE 4096u
#define CACHE 256u

struct page {
	uint64_t number;
	uint8_t *bytes;
	uint8_t known[PAGE / 8];	/* one bit per byte */
};

struct rvt_tandem_memory {
	void *tree;			/* of struct page by number */
	struct page *cache[CACHE];
};

static int compare(const void *a, const void *b)
{
	const struct page *p = a, *q = b;

	return p->number < q->number ? -1 : p->number > q->number;
}

static void free_page(void *node)
{
	struct page *page = node;

	free(page->bytes);
	free(page);
}

struct rvt_tandem_memory *rvt_tandem_memory_create(void)
{
	return calloc(1, sizeof(struct rvt_tandem_memory));
}

void rvt_tandem_memory_destroy(struct rvt_tandem_memory *memory)
{
	if (!memory)
		return;
	tdestroy(memory->tree, free_page);
	free(memory);
}

static struct page *new_page(struct rvt_tandem_memory *memory, uint64_t number)
{
	struct page *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->number = number;
	page->bytes = aligned_alloc(PAGE, PAGE);
	if (page->bytes) {
		memset(page->bytes, 0, PAGE);
		if (tsearch(page, &memory->tree, compare))
			return page;
	}
	free_page(page);
	return NULL;
}

static struct page *find(struct rvt_tandem_memory *memory, uint64_t addr, bool create)
{
	struct page key = { .number = addr / PAGE }, **found, **slot, *page;

	slot = &memory->cache[key.number % CACHE];
	if (*slot && (*slot)->number == key.number)
		return *slot;
	found = tfind(&key, &memory->tree, compare);
	page = found ? *found : create ? new_page(memory, key.number) : NULL;
	if (page)
		*slot = page;
	return page;
}

uint8_t *rvt_tandem_memory_page(struct rvt_tandem_memory *memory, uint64_t addr)
{
	struct page *page = find(memory, addr, true);

	return page ? page->bytes : NULL;
}

static void mark(struct page *page, size_t at, size_t len)
{
	for (; len; at++, len--)
		page->known[at / 8] |= 1u << at % 8;
}

void rvt_tandem_memory_mark(struct rvt_tandem_memory *memory, uint64_t addr, size_t len)
{
	struct page *page;
	size_t n;

	for (; len; addr += n, len -= n) {
		n = PAGE - addr % PAGE < len ? PAGE - addr % PAGE : len;
		page = find(memory, addr, false);
		if (page)
			mark(page, addr % PAGE, n);
	}
}

int rvt_tandem_memory_write(struct rvt_tandem_memory *memory, uint64_t addr, const void *bytes,
			    size_t len)
{
	const uint8_t *from = bytes;
	struct page *page;
	size_t n;

	for (; len; addr += n, from += n, len -= n) {
		n = PAGE - addr % PAGE < len ? PAGE - addr % PAGE : len;
		page = find(memory, addr, true);
		if (!page)
			return -ENOMEM;
		memcpy(page->bytes + addr % PAGE, from, n);
		mark(page, addr % PAGE, n);
	}
	return 0;
}

size_t rvt_tandem_memory_read(struct rvt_tandem_memory *memory, uint64_t addr, void *bytes,
			      size_t len)
{
	struct page *page = NULL;
	uint8_t *to = bytes;
	size_t known = 0, at;

	for (; len; addr++, to++, len--) {
		at = addr % PAGE;
		if (!page || page->number != addr / PAGE)
			page = find(memory, addr, false);
		*to = page ? page->bytes[at] : 0;
		known += page && page->known[at / 8] >> at % 8 & 1;
	}
	return known;
}
