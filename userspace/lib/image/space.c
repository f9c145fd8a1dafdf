// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Spaces: mappings in a treap by address. Mapping cuts what was there. A change costs the height of
 * the tree in time and, where subtrees are shared, in memory; a clone costs nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "image/image.h"

int rvt_space_create(struct rvt_image *image, struct rvt_space *parent, struct rvt_space **space)
{
	*space = calloc(1, sizeof(**space));
	if (!*space)
		return -ENOMEM;
	(*space)->image = image;
	(*space)->parent = parent;
	(*space)->next = image->spaces;
	image->spaces = *space;
	return 0;
}

static void tree_put(struct rvt_mapping *mapping)
{
	if (!mapping || --mapping->refs)
		return;
	tree_put(mapping->left);
	tree_put(mapping->right);
	free(mapping);
}

static struct rvt_mapping *tree_get(struct rvt_mapping *mapping)
{
	if (mapping)
		mapping->refs++;
	return mapping;
}

static uint32_t next_priority(struct rvt_image *image)
{
	/* xorshift32: the shape of the tree need only look random */
	image->seed ^= image->seed << 13;
	image->seed ^= image->seed >> 17;
	image->seed ^= image->seed << 5;
	return image->seed;
}

/* Mappings that a split at @addr goes through. */
static size_t path_length(const struct rvt_mapping *tree, uint64_t addr)
{
	size_t n = 0;

	for (; tree; n++)
		tree = tree->start < addr ? tree->right : tree->left;
	return n;
}

/* Memory for @n mappings, so that no change of a tree stops halfway for want of it. */
static int reserve_mappings(struct rvt_image *image, size_t n)
{
	while (image->n_unused < n) {
		struct rvt_mapping *unused = calloc(1, sizeof(*unused));

		if (!unused)
			return -ENOMEM;
		unused->left = image->unused;
		image->unused = unused;
		image->n_unused++;
	}
	return 0;
}

/* A mapping like @like without children; one is unused (reserve_mappings()). */
static struct rvt_mapping *mapping_create(struct rvt_space *space, const struct rvt_mapping *like)
{
	struct rvt_image *image = space->image;
	struct rvt_mapping *mapping = image->unused;

	image->unused = mapping->left;
	image->n_unused--;
	mapping->left = NULL;
	mapping->refs = 1;
	mapping->start = like->start;
	mapping->last = like->last;
	mapping->object = like->object;
	mapping->offset = like->offset;
	mapping->map_start = like->map_start;
	mapping->name = like->name;
	mapping->priority = next_priority(image);
	return mapping;
}

/* @mapping, or a copy in its place if it is shared. The caller's reference goes to the result. */
static struct rvt_mapping *own(struct rvt_space *space, struct rvt_mapping *mapping)
{
	struct rvt_mapping *copy;

	if (mapping->refs == 1)
		return mapping;
	copy = mapping_create(space, mapping);
	copy->priority = mapping->priority;
	copy->left = tree_get(mapping->left);
	copy->right = tree_get(mapping->right);
	atomic_store_explicit(&copy->blocks, atomic_load_explicit(&mapping->blocks,
								  memory_order_acquire),
			      memory_order_relaxed);
	mapping->refs--;
	return copy;
}

int rvt_space_clone(struct rvt_space *of, struct rvt_space **child)
{
	int ret = rvt_space_create(of->image, of->parent, child);

	if (!ret)
		(*child)->root = tree_get(of->root);
	return ret;
}

void rvt_space_copy(const struct rvt_space *of, struct rvt_space *into)
{
	struct rvt_mapping *before = into->root;

	into->root = tree_get(of->root);
	tree_put(before);
	into->generation++;
}

void rvt_space_clear(struct rvt_space *space)
{
	tree_put(space->root);
	space->root = NULL;
	space->generation++;
}

/*
 * Pieces that start below @addr go to *below, the others to *rest. What it goes through, which is
 * the border of both, is nobody else's afterwards.
 */
static void split(struct rvt_space *space, struct rvt_mapping *tree, uint64_t addr,
		  struct rvt_mapping **below, struct rvt_mapping **rest)
{
	if (!tree) {
		*below = *rest = NULL;
		return;
	}
	tree = own(space, tree);
	if (tree->start < addr) {
		split(space, tree->right, addr, &tree->right, rest);
		*below = tree;
	} else {
		split(space, tree->left, addr, below, &tree->left);
		*rest = tree;
	}
}

/* Both have borders that split() went through. */
static struct rvt_mapping *merge(struct rvt_mapping *a, struct rvt_mapping *b)
{
	if (!a || !b)
		return a ? a : b;
	if (a->priority > b->priority) {
		a->right = merge(a->right, b);
		return a;
	}
	b->left = merge(a, b->left);
	return b;
}

static struct rvt_mapping *rightmost(struct rvt_mapping *tree)
{
	while (tree && tree->right)
		tree = tree->right;
	return tree;
}

/* The last part of @mapping, from @addr on, becomes a mapping of its own. */
static struct rvt_mapping *cut_tail(struct rvt_space *space, struct rvt_mapping *mapping,
				    uint64_t addr)
{
	struct rvt_mapping *tail = mapping_create(space, mapping);

	tail->start = addr;
	tail->offset += addr - mapping->start;
	return tail;
}

/*
 * Takes [start, last] out of the tree: *below and *above are what is left, and an unused mapping is
 * there. Nothing has changed when there is no memory.
 */
static int take_out(struct rvt_space *space, uint64_t start, uint64_t last,
		    struct rvt_mapping **below, struct rvt_mapping **above)
{
	struct rvt_mapping *middle, *rest, *mapping, *tail = NULL;
	size_t n = path_length(space->root, start);

	if (last != UINT64_MAX)
		n += path_length(space->root, last + 1);
	/* the tail, and one for the caller */
	if (reserve_mappings(space->image, n + 2))
		return -ENOMEM;
	split(space, space->root, start, below, &rest);
	if (last == UINT64_MAX) {
		middle = rest;
		*above = NULL;
	} else {
		split(space, rest, last + 1, &middle, above);
	}
	/* Whoever covers `last` reaches out of the range at its end. */
	mapping = middle ? rightmost(middle) : rightmost(*below);
	if (mapping && mapping->last > last)
		tail = cut_tail(space, mapping, last + 1);
	mapping = rightmost(*below);
	if (mapping && mapping->last >= start)
		mapping->last = start - 1;
	tree_put(middle);
	*above = merge(tail, *above);
	space->generation++;
	return 0;
}

/* @like is the only mapping of its addresses. */
static int put_mapping(struct rvt_space *space, const struct rvt_mapping *like)
{
	struct rvt_mapping *below, *above;

	if (take_out(space, like->start, like->last, &below, &above))
		return -ENOMEM;
	space->root = merge(merge(below, mapping_create(space, like)), above);
	return 0;
}

int rvt_space_map(struct rvt_space *space, uint64_t addr, uint64_t len, struct rvt_object *object,
		  uint64_t offset, const char *name)
{
	struct rvt_mapping like = { .start = addr, .last = addr + len - 1, .object = object,
				  .offset = offset, .map_start = addr, .name = name };

	if (!len)
		return 0;
	if (like.last < addr)
		like.last = UINT64_MAX;
	return put_mapping(space, &like);
}

void rvt_space_unmap(struct rvt_space *space, uint64_t addr, uint64_t len)
{
	uint64_t last = addr + len - 1;
	struct rvt_mapping *below, *above;

	if (!len)
		return;
	if (last < addr)
		last = UINT64_MAX;
	if (!take_out(space, addr, last, &below, &above))
		space->root = merge(below, above);
}

/* The last mapping that begins at or before @addr. */
static struct rvt_mapping *floor_mapping(const struct rvt_space *space, uint64_t addr)
{
	struct rvt_mapping *mapping = space->root, *best = NULL;

	while (mapping) {
		if (mapping->start <= addr) {
			best = mapping;
			mapping = mapping->right;
		} else {
			mapping = mapping->left;
		}
	}
	return best;
}

/* The mapping of @space itself that covers @addr. */
static struct rvt_mapping *own_mapping(const struct rvt_space *space, uint64_t addr)
{
	struct rvt_mapping *mapping = floor_mapping(space, addr);

	return mapping && mapping->last >= addr ? mapping : NULL;
}

/* The first mapping that begins behind @addr, where @space has none. */
static const struct rvt_mapping *next_mapping(const struct rvt_space *space, uint64_t addr)
{
	const struct rvt_mapping *mapping = space->root, *best = NULL;

	while (mapping) {
		if (mapping->start > addr) {
			best = mapping;
			mapping = mapping->left;
		} else {
			mapping = mapping->right;
		}
	}
	return best;
}

/*
 * What is fetched was there before anybody asked: nothing that is known of the space changes, so
 * its generation does not.
 */
static struct rvt_mapping *fetch(struct rvt_space *space, uint64_t addr)
{
	const struct rvt_mapping *below = floor_mapping(space, addr);
	const struct rvt_mapping *above = next_mapping(space, addr);
	const uint64_t generation = space->generation;
	struct rvt_fetched code = { 0 };
	struct rvt_object *object;
	uint64_t start, last;
	const char *name;

	if (!space->fetch(space->fetch_ctx, addr, &code) || addr < code.addr ||
	    addr - code.addr >= code.len)
		return NULL;
	name = rvt_image_name(space->image, code.name ? code.name : "");
	if (!name || rvt_image_lent_object(space->image,
					   &(struct rvt_lent){ code.bytes, code.len, NULL, NULL },
					   name, &object))
		return NULL;
	start = below && below->last >= code.addr ? below->last + 1 : code.addr;
	last = code.addr + code.len - 1;
	if (above && above->start <= last)
		last = above->start - 1;
	if (rvt_space_map(space, start, last - start + 1, object, start - code.addr, name))
		return NULL;
	space->generation = generation;
	return own_mapping(space, addr);
}

void rvt_space_set_fetch(struct rvt_space *space, rvt_space_fetch fetch, void *ctx)
{
	space->fetch = fetch;
	space->fetch_ctx = ctx;
}

struct rvt_mapping *rvt_space_mapping(struct rvt_space *space, uint64_t addr)
{
	struct rvt_mapping *mapping = NULL;

	for (; space && !mapping; space = space->parent) {
		mapping = own_mapping(space, addr);
		if (!mapping && space->fetch)
			mapping = fetch(space, addr);
	}
	return mapping;
}

const struct rvt_mapping *rvt_space_next(const struct rvt_space *space, uint64_t addr)
{
	const struct rvt_mapping *mapping = space->root, *found = NULL;

	while (mapping) {
		if (mapping->last >= addr)
			found = mapping;
		mapping = mapping->last >= addr ? mapping->left : mapping->right;
	}
	return found;
}

struct rvt_space *rvt_space_holder(struct rvt_space *space, uint64_t addr)
{
	while (space->parent && !own_mapping(space, addr))
		space = space->parent;
	return space;
}

bool rvt_space_overlaps(const struct rvt_space *space, uint64_t addr, uint64_t len)
{
	const struct rvt_mapping *mapping = len ? floor_mapping(space, addr + len - 1) : NULL;

	return mapping && mapping->last >= addr;
}

bool rvt_space_same(const struct rvt_space *a, const struct rvt_space *b, unsigned int limit)
{
	uint64_t at = UINT64_MAX;

	if (a->parent != b->parent)
		return false;
	while (limit--) {
		const struct rvt_mapping *pa = floor_mapping(a, at), *pb = floor_mapping(b, at);

		if (!pa || !pb)
			return !pa && !pb;
		if (pa->start != pb->start || pa->last != pb->last || pa->object != pb->object ||
		    pa->offset != pb->offset)
			return false;
		if (!pa->start)
			return true;
		at = pa->start - 1;
	}
	return false;
}

size_t rvt_space_find(struct rvt_space *space, uint64_t addr, const uint8_t **bytes)
{
	struct rvt_mapping *mapping = rvt_space_mapping(space, addr);
	uint64_t len, left;

	if (!mapping || !mapping->object)
		return 0;
	left = mapping->last - addr;
	len = rvt_object_bytes(mapping->object, mapping->offset + (addr - mapping->start), bytes);
	return len && len - 1 > left ? left + 1 : len;
}

int rvt_space_locate(struct rvt_space *space, uint64_t addr, struct rvt_location *loc)
{
	struct rvt_mapping *mapping = rvt_space_mapping(space, addr);

	memset(loc, 0, sizeof(*loc));
	if (!mapping)
		return -ENOENT;
	loc->path = mapping->name;
	loc->map_start = mapping->map_start;
	loc->readable = mapping->object;
	loc->file_offset = mapping->offset + (addr - mapping->start);
	if (mapping->object)
		loc->file_offset += mapping->object->file_offset;
	return 0;
}

uint64_t rvt_space_generation(const struct rvt_space *space)
{
	uint64_t generation = 0;

	for (; space; space = space->parent)
		generation += space->generation;
	return generation;
}

/* ---- what to map ---- */

/* Maps an object of the bytes that @lent tells of, or of a copy of them. */
static int map_object(struct rvt_space *space, uint64_t addr, const struct rvt_lent *lent,
		      const char *name, bool copy)
{
	const char *kept = rvt_image_name(space->image, name ? name : "");
	struct rvt_object *object;
	int ret;

	if (!lent->len)
		return 0;
	if (!kept)
		return -ENOMEM;
	if (copy)
		ret = rvt_image_copy_object(space->image, lent->bytes, lent->len, 0, kept,
					    &object);
	else
		ret = rvt_image_lent_object(space->image, lent, kept, &object);
	return ret ? ret : rvt_space_map(space, addr, lent->len, object, 0, kept);
}

int rvt_space_map_bytes(struct rvt_space *space, uint64_t addr, const void *bytes, size_t len,
			const char *name)
{
	return map_object(space, addr, &(struct rvt_lent){ bytes, len, NULL, NULL }, name, true);
}

/* Whether @mapping has these bytes at @addr. */
static bool has_bytes(const struct rvt_mapping *mapping, uint64_t addr, const uint8_t *bytes,
		      size_t len)
{
	for (size_t done = 0; done < len; ) {
		const uint8_t *there;
		uint64_t got = mapping->object ?
			rvt_object_bytes(mapping->object,
					 mapping->offset + (addr + done - mapping->start),
					 &there) : 0;

		if (got > len - done)
			got = len - done;
		if (!got || memcmp(there, bytes + done, got))
			return false;
		done += got;
	}
	return true;
}

/* The part of rvt_space_change_bytes() that is in @mapping, or in none. */
static int change_part(struct rvt_space *space, const struct rvt_mapping *mapping, uint64_t addr,
		       const uint8_t *bytes, size_t len, const char *name)
{
	struct rvt_mapping like = { .start = addr, .last = addr + len - 1, .map_start = addr,
				    .name = name };
	uint64_t offset = addr;

	if (mapping) {
		if (has_bytes(mapping, addr, bytes, len))
			return 0;
		like.map_start = mapping->map_start;
		like.name = mapping->name;
		offset = mapping->offset + (addr - mapping->start);
		if (mapping->object)
			offset += mapping->object->file_offset;
	}
	return rvt_image_copy_object(space->image, bytes, len, offset, like.name, &like.object) ||
	       put_mapping(space, &like) ? -ENOMEM : 0;
}

int rvt_space_change_bytes(struct rvt_space *space, uint64_t addr, const uint8_t *bytes, size_t len,
			   const char *name)
{
	const char *kept = rvt_image_name(space->image, name);
	int err = kept ? 0 : -ENOMEM;

	while (len && !err) {
		const struct rvt_mapping *mapping = own_mapping(space, addr);
		const struct rvt_mapping *next = mapping ? NULL : next_mapping(space, addr);
		uint64_t some = mapping ? mapping->last - addr + 1 :
				next ? next->start - addr : len;

		if (!some || some > len)
			some = len;
		err = change_part(space, mapping, addr, bytes, some, kept);
		addr += some;
		bytes += some;
		len -= some;
	}
	return err;
}

int rvt_space_map_lent(struct rvt_space *space, uint64_t addr, const struct rvt_lent *lent,
		       const char *name)
{
	return map_object(space, addr, lent, name, false);
}

int rvt_space_map_unreadable(struct rvt_space *space, uint64_t addr, uint64_t len, uint64_t offset,
			     const char *path)
{
	const char *name = rvt_image_name(space->image, path);

	return name ? rvt_space_map(space, addr, len, NULL, offset, name) : -ENOMEM;
}

int rvt_space_map_file(struct rvt_space *space, uint64_t addr, uint64_t len, uint64_t offset,
		       const char *path, const uint8_t *build_id, size_t build_id_len)
{
	const char *name = rvt_image_name(space->image, path);
	struct rvt_object *object = NULL;
	uint64_t readable = 0;
	int ret, ret2;

	if (!name)
		return -ENOMEM;
	ret = rvt_image_file(space->image, path, build_id, build_id_len, &object);
	if (!ret && offset < object->len)
		readable = object->len - offset < len ? object->len - offset : len;
	/* What lies behind the end of the file is known by name, but has no bytes. */
	ret2 = rvt_space_map(space, addr, len, NULL, offset, name);
	if (!ret2 && readable)
		ret2 = rvt_space_map(space, addr, readable, object, offset, name);
	return ret ? ret : ret2;
}
