// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elfutils/libdwelf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/demangle.h"
#include "common/names.h"
#include "common/places.h"
#include "common/text.h"
#include "file/file.h"
#include "session/access.h"

#define SLOT_BITS 14
#define SLOTS (1 << SLOT_BITS)
#define LABEL_SLOT_BITS 16
#define LABEL_SLOTS (1 << LABEL_SLOT_BITS)
#define SMALLEST_INSN 2
#define UNKNOWN "[unknown]"
#define KERNEL "[kernel.kallsyms]"
/* The address to which Linux for RV64 is linked: its symbol _start (KERNEL_LINK_ADDR). */
#define KERNEL_LINKED UINT64_C(0xffffffff80000000)

struct slot {
	struct rvt_space *space;
	uint64_t generation, addr;
	struct place place;
};

/* Few bytes, so that the slots of what runs most stay in a processor's cache. */
struct label_slot {
	struct rvt_space *space;
	uint64_t generation, addr;
	const struct label *label;	/* NULL: the slot is free */
};

struct places {
	struct rvt_session *session;
	void *labels;	/* tsearch tree of struct label */
	void *names;	/* tsearch tree of strings */
	const char *last_kept;	/* one of them, or NULL */
	uint64_t kernel_moved;	/* how much higher it runs than linked to; with .knows_kernel */
	bool knows_kernel;
	struct slot slots[SLOTS];
	struct label_slot label_slots[LABEL_SLOTS];
};

struct places *places_create(struct rvt_session *session)
{
	struct places *places = calloc(1, sizeof(*places));

	if (places)
		places->session = session;
	return places;
}

void places_destroy(struct places *places)
{
	if (!places)
		return;
	tdestroy(places->names, free);
	tdestroy(places->labels, free);
	free(places);
}

static const char *keep_visible(struct places *places, const char *name)
{
	char *visible = text_visible(name);
	const char *kept = visible ? names_keep(&places->names, visible) : NULL;

	free(visible);
	return kept ? kept : UNKNOWN;
}

const char *places_keep(struct places *places, const char *name)
{
	const char *last = places->last_kept;

	if (last && !strcmp(last, name))
		return last;
	if (!text_is_visible(name))
		return keep_visible(places, name);
	last = places->last_kept = names_keep(&places->names, name);
	return last ? last : UNKNOWN;
}

const char *places_comm(struct places *places, const struct rvt_hart_flow *hart)
{
	return places_keep(places, hart->task ? hart->task->comm : UNKNOWN);
}

/* Returns @name, which lives as long as the session, or a visible copy if necessary. */
static const char *visible_name(struct places *places, const char *name)
{
	return text_is_visible(name) ? name : keep_visible(places, name);
}

/*
 * Returns the name of the file; for "[MODULE]FUNCTION" (see rvt_symbols_find()) the part in
 * brackets.
 */
static const char *dso_name(struct places *places, const char *path)
{
	const char *end = path[0] == '[' ? strchr(path, ']') : NULL;
	char module[96];

	/* each mapping has its own copy of such a name, but users compare names by address */
	if (end && !end[1])
		return places_keep(places, path);
	if (!end || (size_t)(end + 1 - path) >= sizeof(module))
		return visible_name(places, rvt_session_dso_name(places->session, path));
	snprintf(module, sizeof(module), "%.*s", (int)(end + 1 - path), path);
	return places_keep(places, module);
}

/* Returns the name as in the source. */
static const char *written_name(struct places *places, const char *name)
{
	char *written = demangle(name);
	const char *kept = written ? places_keep(places, written) : visible_name(places, name);

	free(written);
	return kept;
}

/*
 * Returns by how much KASLR moved the kernel, so that addresses of kernels of one build are the
 * same.
 */
static uint64_t kernel_moved(struct places *places)
{
	uint64_t start, offset, size;

	if (places->knows_kernel)
		return places->kernel_moved;
	places->knows_kernel = true;
	if (rvt_symbols_lookup(rvt_session_symbols(places->session), KERNEL, "_start", &start,
			       &offset, &size) && start >= KERNEL_LINKED)
		places->kernel_moved = start - KERNEL_LINKED;
	return places->kernel_moved;
}

/* Finds all about @addr. @location.path NULL: nothing is mapped there. */
static void name_place(struct places *places, struct rvt_location location, uint64_t addr,
		       struct place *place)
{
	struct rvt_symbol symbol;

	*place = (struct place){ .start = addr, .end = addr, .dso = UNKNOWN, .vaddr = addr };
	if (!location.path) {
		/* the kernel's symbols may be there without its code */
		if ((int64_t)addr >= 0)
			return;
		location.path = KERNEL;
	}
	place->dso = dso_name(places, location.path);
	if (!strcmp(location.path, KERNEL))
		place->vaddr = addr - kernel_moved(places);
	if (rvt_symbols_address(rvt_session_symbols(places->session), &location, &place->vaddr,
				&place->bases))
		place->path = location.path;
	if (!rvt_symbols_find(rvt_session_symbols(places->session), &location, addr, &symbol))
		return;
	/* a mapping's name is freed with the mapping */
	place->symbol = written_name(places, symbol.name);
	place->linkage = location.path[0] == '[' ? places_keep(places, symbol.name) :
		visible_name(places, symbol.name);
	place->offset = symbol.offset;
	place->start = addr - symbol.offset;
	place->end = place->start + symbol.size;
}

void places_at(struct places *places, const struct rvt_location *location, uint64_t addr,
	       struct place *place)
{
	name_place(places, *location, addr, place);
}

bool places_any(struct places *places, const struct rvt_index_granule *granule, uint64_t size,
		bool (*wants)(void *ctx, const struct place *place), void *ctx)
{
	struct rvt_location location = { .path = granule->path, .map_start = granule->map_start,
					 .readable = true };
	uint64_t done = 0;

	while (done < size) {
		uint64_t addr = granule->addr + done;
		struct place found;

		location.file_offset = granule->file_offset + done;
		places_at(places, &location, addr, &found);
		if (wants(ctx, &found))
			return true;
		done += found.symbol && found.end > addr ? found.end - addr : SMALLEST_INSN;
	}
	return false;
}

static void look_up(struct places *places, struct rvt_space *space, uint64_t addr,
		    struct place *place)
{
	struct rvt_location location = { 0 };

	if (!space || rvt_space_locate(space, addr, &location))
		location = (struct rvt_location){ .path = NULL };
	name_place(places, location, addr, place);
}

static size_t slot_of(const struct rvt_space *space, uint64_t addr, unsigned int bits)
{
	uint64_t hash = (addr >> 1 ^ (uintptr_t)space >> 4) * 0x9e3779b97f4a7c15ULL;

	return hash >> (64 - bits);
}

const struct place *places_find(struct places *places, struct rvt_space *space, uint64_t addr)
{
	uint64_t generation;
	struct slot *slot;

	if (space)
		space = rvt_space_holder(space, addr);
	generation = space ? rvt_space_generation(space) : 0;
	slot = &places->slots[slot_of(space, addr, SLOT_BITS)];
	if (slot->place.dso && slot->space == space && slot->addr == addr &&
	    slot->generation == generation)
		return &slot->place;
	slot->space = space;
	slot->generation = generation;
	slot->addr = addr;
	look_up(places, space, addr, &slot->place);
	return &slot->place;
}

static int compare_labels(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct label));
}

/* Returns the one label with what @label has. */
static const struct label *keep_label(struct places *places, const struct label *label)
{
	static const struct label none = { .dso = UNKNOWN };
	struct label **found = tfind(label, &places->labels, compare_labels), *copy;

	if (found)
		return *found;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return &none;
	*copy = *label;
	if (tsearch(copy, &places->labels, compare_labels))
		return copy;
	free(copy);
	return &none;
}

static const struct label *look_up_label(struct places *places, struct rvt_space *space,
					 uint64_t addr)
{
	const struct place *place = places_find(places, space, addr);
	const char *base = strrchr(place->dso, '/');
	const struct label label = { place->symbol, base ? base + 1 : place->dso };

	return keep_label(places, &label);
}

const struct label *places_label(struct places *places, struct rvt_space *space, uint64_t addr)
{
	struct rvt_space *holder = space ? rvt_space_holder(space, addr) : NULL;
	uint64_t generation = holder ? rvt_space_generation(holder) : 0;
	size_t number = slot_of(holder, addr, LABEL_SLOT_BITS);
	struct label_slot *slot = &places->label_slots[number];

	if (!slot->label || slot->space != holder || slot->addr != addr ||
	    slot->generation != generation)
		*slot = (struct label_slot){ holder, generation, addr,
					     look_up_label(places, holder, addr) };
	return slot->label;
}

bool places_enters(struct places *places, struct rvt_space *space, uint64_t from, uint64_t to)
{
	const struct place *place = places_find(places, space, to);

	return place->start == to && place->end > place->start &&
		(from < place->start || from >= place->end);
}

static char *in_hex(const uint8_t *id, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *text = malloc(2 * len + 1), *end = text;

	for (size_t i = 0; text && i < len; i++) {
		*end++ = digits[id[i] >> 4];
		*end++ = digits[id[i] & 15];
	}
	if (text)
		*end = 0;
	return text;
}

static char *id_of_file(const char *path)
{
	struct stat st;
	int fd = rvt_file_open(path, 0, &st);
	const void *id;
	char *text = NULL;
	ssize_t len;
	Elf *elf;

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	len = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
	if (len > 0)
		text = in_hex(id, len);
	elf_end(elf);
	close(fd);
	return text;
}

char *places_build_id(struct places *places, const char *dso, const char *path)
{
	struct rvt_perfdata *file = rvt_session_file(places->session);
	const uint8_t *id;
	size_t len;

	if (path && path[0] != '[')
		return id_of_file(path);
	len = file ? rvt_perfdata_build_id(file, dso, &id) : 0;
	return len ? in_hex(id, len) : NULL;
}
