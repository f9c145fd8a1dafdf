/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Keeps the blocks of code that QEMU translated; equal blocks are kept once. */
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static void *blocks;

uint64_t block_pc(const struct block *b, uint32_t index)
{
	uint64_t pc = b->pc;

	for (uint32_t i = 0; i < index; i++)
		pc += 2 * b->halfwords[i];
	return pc;
}

static int compare_blocks(const void *pa, const void *pb)
{
	const struct block *a = pa, *b = pb;

	if (a->pc != b->pc)
		return a->pc < b->pc ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	if (a->prv != b->prv)
		return a->prv < b->prv ? -1 : 1;
	if (a->v != b->v)
		return a->v < b->v ? -1 : 1;
	return memcmp(a->code, b->code, a->bytes);
}

struct block *block_intern(const struct block *b)
{
	struct block **found, *copy;

	pthread_mutex_lock(&blocks_lock);
	found = tfind(b, &blocks, compare_blocks);
	if (found) {
		copy = *found;
	} else {
		size_t size = sizeof(*b) + b->n;

		copy = malloc(size + b->bytes);
		if (!copy)
			abort();
		memcpy(copy, b, size);
		copy->code = (uint8_t *)copy + size;
		memcpy(copy->code, b->code, b->bytes);
		for (unsigned int i = 0; i < MODEL_MAX_HARTS; i++) {
			copy->truth_id[i] = -1;
			copy->elsewhere[i] = NULL;
		}
		tsearch(copy, &blocks, compare_blocks);
	}
	pthread_mutex_unlock(&blocks_lock);
	return copy;
}

/*
 * Returns the block with the code of @b at @pc. QEMU translates a page of code once and runs the
 * result at every address where the page is mapped, so addresses at translation are those of the
 * first mapping.
 */
struct block *block_at(struct block *b, unsigned int hart, uint64_t pc)
{
	struct block *key, *found = b->pc == pc ? b : b->elsewhere[hart];

	if (found && found->pc == pc)
		return found;
	key = malloc(sizeof(*b) + b->n);
	if (!key)
		abort();
	memcpy(key, b, sizeof(*b) + b->n);
	key->pc = pc;
	found = block_intern(key);
	free(key);
	b->elsewhere[hart] = found;
	return found;
}
