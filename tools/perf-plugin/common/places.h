/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Finds function and file of addresses, and caches them. */
#ifndef PERF_RVTRACE_PLACES_H
#define PERF_RVTRACE_PLACES_H

#include <rvtrace/session.h>
#include "session/index.h"

struct places;

struct place {
	const char *symbol;	/* as in the source; NULL: not known */
	const char *linkage;	/* in the symbol table; differs for C++ */
	uint64_t offset;	/* in the function */
	uint64_t start, end;	/* addresses of the function, within this mapping */
	const char *dso;	/* never NULL; as the recorded machine named it */
	const char *path;	/* where the file was found; NULL: no file */
	/*
	 * the address in the ELF file, also for a kernel that KASLR moved; without a file, the
	 * address itself
	 */
	uint64_t vaddr;
	struct rvt_bases bases;	/* of the file; with .path only */
};

/* Each thread needs its own. */
struct places *places_create(struct rvt_session *session);
void places_destroy(struct places *places);
/* Finds the place of an address. It is valid until the next call. */
const struct place *places_find(struct places *places, struct rvt_space *space, uint64_t addr);
/* How a function is named where functions are counted. Two are one if their labels are. */
struct label {
	const char *symbol;	/* as in struct place; NULL: not known */
	const char *dso;	/* its last component */
};

/* The label of the function at @addr: faster than places_find(). It lives as long as @places. */
const struct label *places_label(struct places *places, struct rvt_space *space, uint64_t addr);
/* Returns whether who goes from @from to @to enters another function, at its beginning. */
bool places_enters(struct places *places, struct rvt_space *space, uint64_t from, uint64_t to);
/* Finds the place of what is at @location. */
void places_at(struct places *places, const struct rvt_location *location, uint64_t addr,
	       struct place *place);
/* Returns whether @wants lets through anything in a granule of an index, of @size bytes. */
bool places_any(struct places *places, const struct rvt_index_granule *granule, uint64_t size,
		bool (*wants)(void *ctx, const struct place *place), void *ctx);
/*
 * Returns a copy of @name that lives as long as @places, as text_visible() makes it: a task's name
 * is freed with its cursor. "[unknown]" if memory is out. What places_find() returns is kept so,
 * too, but for .path.
 */
const char *places_keep(struct places *places, const char *name);
/* Returns the name of the task that runs on the hart, kept so. */
const char *places_comm(struct places *places, const struct rvt_hart_flow *hart);

/*
 * Returns the build id of the file that place.dso and .path name, in hexadecimal (malloc'd): of the
 * file at @path, or with @path NULL the recording's for @dso. NULL: not known, or out of memory.
 */
char *places_build_id(struct places *places, const char *dso, const char *path);

#endif
