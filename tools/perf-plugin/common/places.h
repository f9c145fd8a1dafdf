/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Addresses as people read them: function and file, remembered for speed. */
#ifndef PERF_RVTRACE_PLACES_H
#define PERF_RVTRACE_PLACES_H

#include <rvtrace/session.h>
#include "session/index.h"

struct places;

struct place {
	const char *symbol;	/* as in the source; NULL: not known */
	const char *linkage;	/* as in the symbol table: it differs for C++ */
	uint64_t offset;	/* in the function */
	uint64_t start, end;	/* addresses of the function, as far as this mapping has it */
	const char *dso;	/* never NULL; as the recorded machine named it */
	const char *path;	/* where that was found; NULL: no file */
	/*
	 * the address in the ELF file, also of the kernel that KASLR moved; else the address itself
	 */
	uint64_t vaddr;
	struct rvt_bases bases;	/* of the file; with .path only */
};

/* Each thread needs its own. */
struct places *places_create(struct rvt_session *session);
void places_destroy(struct places *places);
/* Valid until the next call. */
const struct place *places_find(struct places *places, struct rvt_space *space, uint64_t addr);
/* The same for what lies at @location. */
void places_at(struct places *places, const struct rvt_location *location, uint64_t addr,
	       struct place *place);
/*
 * Whether @wants lets anything through that is in a granule of an index, @size bytes.
 */
bool places_any(struct places *places, const struct rvt_index_granule *granule, uint64_t size,
		bool (*wants)(void *ctx, const struct place *place), void *ctx);
/*
 * @name for as long as @places, as text_visible() has it: a task's name goes away with its cursor.
 * "[unknown]" without memory. What places_find() returns is like that as well, but for .path.
 */
const char *places_keep(struct places *places, const char *name);
/* The name of who runs on the hart, kept in that way. */
const char *places_comm(struct places *places, const struct rvt_hart_flow *hart);

/*
 * The build id of a file that place.dso and .path name, in hexadecimal (malloc'd): of the file at
 * @path, or (@path NULL) as the recording has it for @dso. NULL: not known, or out of memory.
 */
char *places_build_id(struct places *places, const char *dso, const char *path);

#endif
