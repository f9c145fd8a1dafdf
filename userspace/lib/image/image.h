/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside librvtrace: spaces as the flow engine and the ELF loader see them.
 */
#ifndef RVT_LIB_IMAGE_H
#define RVT_LIB_IMAGE_H

#include <pthread.h>
#include <stdatomic.h>
#include <rvtrace/image.h>
#include "file/file.h"

/*
 * Another's bytes. @need, if not NULL, makes @len of them readable that are @from some of them on,
 * and returns how many are; threads may call it at the same time.
 */
typedef size_t (*rvt_bytes_need)(void *ctx, const uint8_t *from, size_t len);
struct rvt_lent {
	const uint8_t *bytes;
	size_t len;
	rvt_bytes_need need;
	void *ctx;
};

/* Bytes of code: a file, a segment of a file that cannot be mapped, a copy, or another's. */
struct rvt_object {
	struct rvt_object *next;	/* in the image */
	char *name;
	uint64_t file_offset;		/* of bytes[0] in the file */
	uint8_t *bytes;
	uint64_t len;
	struct rvt_mapped_file *mapped;	/* whose .bytes they are; NULL: none's */
	bool reserved;			/* munmap() instead of free() */
	bool lent;			/* whoever made it has .bytes */
	rvt_bytes_need need;		/* see struct rvt_lent */
	void *need_ctx;
	/* for files that must be read piece by piece (/proc/kcore): */
	int fd;				/* -1: all bytes are there */
	uint8_t *window_read;		/* per window: 1 read, 2 unreadable */
	pthread_mutex_t lock;
};

struct rvt_block_table;

/*
 * One mapping of a space. Ordered by address, without overlap, in a treap. Spaces that were cloned
 * share subtrees: what more than one refers to, itself or from above, is copied before it changes.
 */
struct rvt_mapping {
	struct rvt_mapping *left, *right;
	uint32_t refs;			/* of spaces and mappings right above */
	uint32_t priority;
	uint64_t start, last;		/* addresses; last is inclusive */
	struct rvt_object *object;	/* NULL: unreadable */
	uint64_t offset;		/* of start, in the object */
	uint64_t map_start;		/* start of what mmap() mapped: changes cut this */
	const char *name;		/* the image owns it */
	/* the flow engine's blocks of this object at this bias */
	_Atomic(struct rvt_block_table *) blocks;
};

struct rvt_space {
	struct rvt_image *image;
	struct rvt_space *parent, *next;
	struct rvt_mapping *root;
	uint64_t generation;
	rvt_space_fetch fetch;
	void *fetch_ctx;
};

/* Files and names by path, see object.c */
struct rvt_file;

struct rvt_image {
	struct rvt_object *objects;
	struct rvt_space *spaces;
	void *files;			/* tsearch tree of struct rvt_file */
	void *names;			/* tsearch tree of strings */
	uint32_t seed;			/* of treap priorities */
	struct rvt_mapping *unused;	/* mappings to be, a list by .left */
	size_t n_unused;
	/* the flow engine's block caches: see flow/core/blocks.h */
	struct rvt_block_cache *blocks;
	void (*destroy_blocks)(struct rvt_block_cache *blocks);
	pthread_mutex_t lock;		/* of blocks */
};

/* @into, of the same image, maps what @of maps, and nothing else. */
void rvt_space_copy(const struct rvt_space *of, struct rvt_space *into);
/* The mapping that covers @addr in @space or its parents; NULL if none does. */
struct rvt_mapping *rvt_space_mapping(struct rvt_space *space, uint64_t addr);
/* The first mapping of @space itself that ends at @addr or behind it; NULL: none. */
const struct rvt_mapping *rvt_space_next(const struct rvt_space *space, uint64_t addr);
/* Whether both have the same parent and mappings, of which there are at most @limit: else false. */
bool rvt_space_same(const struct rvt_space *a, const struct rvt_space *b, unsigned int limit);
/*
 * Readable bytes at @offset of @object; sets *bytes. At least 1 unless the object cannot be
 * read there; everything up to its end, or at least 4 KiB of it.
 */
uint64_t rvt_object_bytes(struct rvt_object *object, uint64_t offset, const uint8_t **bytes);

/* All objects, files and names go. */
void rvt_image_close_files(struct rvt_image *image);
/* @name as long as the image lives; NULL when out of memory. */
const char *rvt_image_name(struct rvt_image *image, const char *name);
/*
 * rvt_image_file - the object of all bytes of a regular file. Opened once per path.
 * Returns 0, -ENOENT, -EINVAL (no regular file), -ESTALE (build id differs), -ENOMEM, or
 * what open() said.
 */
int rvt_image_file(struct rvt_image *image, const char *path, const uint8_t *build_id,
		   size_t build_id_len, struct rvt_object **object);
/* An object of its own for [@offset, @offset + @len) of @fd, read when needed. */
int rvt_image_window_object(struct rvt_image *image, int fd, uint64_t offset, uint64_t len,
			    const char *name, struct rvt_object **object);
/*
 * An object with a copy of @bytes, which are at @file_offset of @name; it may be one that was made
 * of the same before.
 */
int rvt_image_copy_object(struct rvt_image *image, const void *bytes, size_t len,
			  uint64_t file_offset, const char *name, struct rvt_object **object);

/* An object of bytes that stay as long as the image is read; not made again of the same bytes. */
int rvt_image_lent_object(struct rvt_image *image, const struct rvt_lent *lent, const char *name,
			  struct rvt_object **object);

/*
 * rvt_space_map - @len bytes of @object from @offset on appear at @addr; @object NULL: unreadable.
 * Ranges that would wrap at 2^64 are cut there. Returns 0 or -ENOMEM.
 */
int rvt_space_map(struct rvt_space *space, uint64_t addr, uint64_t len, struct rvt_object *object,
		  uint64_t offset, const char *name);
/* The name of guests' code that is not at hand. */
#define RVT_GUEST_CODE "[guest]"
/*
 * @len bytes at @addr are those at @offset of the file @path, which cannot be read. 0 or -ENOMEM.
 */
int rvt_space_map_unreadable(struct rvt_space *space, uint64_t addr, uint64_t len, uint64_t offset,
			     const char *path);
/*
 * rvt_space_change_bytes - what is mapped at @addr has a copy of @bytes, and keeps its name and its
 * place in the mapping; where it has these bytes already nothing changes. Where nothing is mapped
 * it is @name. 0 or -ENOMEM.
 */
int rvt_space_change_bytes(struct rvt_space *space, uint64_t addr, const uint8_t *bytes,
			   size_t len, const char *name);
/* rvt_space_map_bytes() without the copy: the bytes stay as long as the image is read. */
int rvt_space_map_lent(struct rvt_space *space, uint64_t addr, const struct rvt_lent *lent,
		       const char *name);

#endif
