/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Code bytes by (address space, address).
 *
 * A space is what one address means to one process (or the kernel, or firmware). A user space
 * has the kernel's space as its parent: addresses it does not map itself are looked up there.
 * Code lives in reference-counted objects (an ELF file's segment, a kcore range, a vdso, a JIT
 * dump) so that a thousand processes running the same binary share one copy of the bytes.
 *
 * Threads: several may look up code in the spaces of one image, and decode with them, as long as
 * none changes an image, a space or a mapping. Images know nothing of each other.
 */
#ifndef RVTRACE_IMAGE_H
#define RVTRACE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

struct rvt_image;	/* the cache of code objects and of open ELF files */
struct rvt_space;

/* Returns 0 or -ENOMEM. */
int rvt_image_create(struct rvt_image **image);
/* Its spaces, too. @image may be NULL. */
void rvt_image_destroy(struct rvt_image *image);

/*
 * rvt_space_create - @parent may be NULL. The space belongs to @image and dies with it.
 */
int rvt_space_create(struct rvt_image *image, struct rvt_space *parent, struct rvt_space **space);
/* fork: @child starts with the mappings that @of has now. */
int rvt_space_clone(struct rvt_space *of, struct rvt_space **child);
/* exec: forgets every mapping. */
void rvt_space_clear(struct rvt_space *space);

/*
 * rvt_space_map_file - the bytes [@offset, @offset + @len) of @path appear at @addr, as mmap
 * does; what was mapped there before is replaced. @build_id may be NULL; when given, a file
 * whose build id differs is refused. Content is read lazily.
 * Returns 0; -ENOENT no such file; -ESTALE build id differs; -EINVAL not a regular file; -ENOMEM.
 * On error the range is remembered as unreadable under the name @path (so that messages can
 * say what is missing), and the flow reports a gap there.
 */
int rvt_space_map_file(struct rvt_space *space, uint64_t addr, uint64_t len, uint64_t offset,
		       const char *path, const uint8_t *build_id, size_t build_id_len);
/* Maps a copy of @len bytes at @addr; @name is for symbolisation and messages. */
int rvt_space_map_bytes(struct rvt_space *space, uint64_t addr, const void *bytes, size_t len,
			const char *name);
/*
 * Maps every executable PT_LOAD of an ELF file at p_vaddr + @bias (core files such as
 * /proc/kcore are read when needed; the code sections of ET_REL follow each other from @bias on).
 * Returns 0, -ENOENT, -ENOEXEC (no RISC-V ELF file, or no code in it), -ENOMEM.
 */
int rvt_space_map_elf(struct rvt_space *space, const char *path, uint64_t bias);
void rvt_space_unmap(struct rvt_space *space, uint64_t addr, uint64_t len);

/*
 * Code on demand, for callers that know mappings of their own.
 *
 * rvt_space_set_fetch - @fetch is asked for the code at an address that @space does not map, before
 * its parents are. It returns true with *@code: bytes around @addr, which stay where they are and
 * as they are as long as the image does. The same bytes in several spaces are decoded once. They
 * count as mapped from then on (only where nothing else is), until rvt_space_unmap() or
 * rvt_space_clear() makes the space forget them, which the caller must do when code comes, goes or
 * changes there. False: nothing is known there; it is asked again the next time. NULL: nobody is
 * asked. A clone asks nobody. Looking up code changes such a space: one thread at a time uses its
 * image.
 */
struct rvt_fetched {
	uint64_t addr;		/* of the first byte */
	size_t len;
	const void *bytes;
	const char *name;	/* for symbolisation and messages; copied */
};

typedef bool (*rvt_space_fetch)(void *ctx, uint64_t addr, struct rvt_fetched *code);
void rvt_space_set_fetch(struct rvt_space *space, rvt_space_fetch fetch, void *ctx);

/*
 * rvt_space_find - the longest readable piece of code at @addr.
 * Sets *bytes (valid until the mapping changes) and returns the number of bytes that follow,
 * at least 1; 0 when nothing is mapped there.
 */
size_t rvt_space_find(struct rvt_space *space, uint64_t addr, const uint8_t **bytes);

/* Where an address comes from: for dso names and symbol look-up. */
struct rvt_location {
	const char *path;	/* file or given name; NULL if unmapped */
	uint64_t file_offset;	/* in that file; for map_bytes, from the start of the bytes */
	uint64_t map_start;	/* start of the mapping */
	bool readable;
};
int rvt_space_locate(struct rvt_space *space, uint64_t addr, struct rvt_location *loc);
/*
 * The space that has @addr's mapping, @space or one of its parents, so that what is known of the
 * kernel's code in one program's space is known in all. The last parent: nothing is mapped there.
 */
struct rvt_space *rvt_space_holder(struct rvt_space *space, uint64_t addr);
/* Whether anything is mapped in the range; parents do not count. */
bool rvt_space_overlaps(const struct rvt_space *space, uint64_t addr, uint64_t len);

/* Changes whenever any mapping of this space or of its parents changes. */
uint64_t rvt_space_generation(const struct rvt_space *space);

RVT_END_DECLS

#endif
