/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Function names by place in a file or by kernel address. Tables are read when first asked for and
 * looked up in logarithmic time.
 *
 * Threads: once all is added, any number may look things up.
 */
#ifndef RVTRACE_SYMBOL_H
#define RVTRACE_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/image.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

struct rvt_symbols;

struct rvt_symbol {
	const char *name;	/* lives as long as the tables */
	uint64_t offset;	/* of the address, from the start of the function */
	uint64_t size;		/* of the function; to the next one where the file does not say */
};

/*
 * @debug_roots: where /usr/lib/debug is looked for: directories separated by ':', as --symfs has
 * them; NULL: the root. Debug files of stripped files are found there and beside the file, by build
 * id or .gnu_debuglink, then asked from the debuginfod servers that the environment variable
 * DEBUGINFOD_URLS names. 0 or -ENOMEM.
 */
int rvt_symbols_create(const char *debug_roots, struct rvt_symbols **symbols);
/* @symbols may be NULL. */
void rvt_symbols_destroy(struct rvt_symbols *symbols);
/*
 * Text as in /proc/kallsyms, zero-terminated; names "[kernel.kallsyms]" and "[MODULE]". 0 or
 * -ENOMEM.
 */
int rvt_symbols_add_kallsyms(struct rvt_symbols *symbols, const char *text, size_t len);
/* Sets *text (malloc'd, as for rvt_symbols_add_kallsyms()) and *len. 0 or -errno. */
typedef int (*rvt_kallsyms_reader)(void *ctx, char **text, size_t *len);
/*
 * rvt_symbols_read_kallsyms - the same, but the text is what @read gives (which fails: there is
 * none), called once, when the first symbol of the kernel is looked for. For texts that are large
 * and often not needed.
 */
void rvt_symbols_read_kallsyms(struct rvt_symbols *symbols, rvt_kallsyms_reader read, void *ctx);
/* An ELF image in memory that mappings call @name ("[vdso]"). 0, -ENOEXEC, -ENOMEM. */
int rvt_symbols_add_image(struct rvt_symbols *symbols, const char *name, const void *bytes,
			  size_t len);
/*
 * The function that @addr, which lies at @location, belongs to. False when no table knows it. A
 * path "[MODULE]NAME" ("jit", or the module of kernel code that came and went) is one function; its
 * size is not known (0). A function of a stripped file that only .eh_frame knows is called by its
 * address in the file: "libc.so.6+0x3af68".
 */
bool rvt_symbols_find(struct rvt_symbols *symbols, const struct rvt_location *location,
		      uint64_t addr, struct rvt_symbol *symbol);
/* Where an ELF file's first segment, and its first executable one, begin (p_vaddr). */
struct rvt_bases {
	uint64_t load, text;
};

/*
 * The address in the ELF file (p_vaddr) of @addr, which lies at @location, and the file's bases.
 * False when the file has no segment there (or is none).
 */
bool rvt_symbols_address(struct rvt_symbols *symbols, const struct rvt_location *location,
			 uint64_t *vaddr, struct rvt_bases *bases);
/*
 * rvt_symbols_extent - the addresses of the function that @addr, which lies at @location, belongs
 * to: by the file's .eh_frame, which stripped files have, too, or else by its symbol.
 * rvt_symbols_landing_pad - where an exception that comes out of the call at @addr goes on (by
 * .gcc_except_table); 0: it leaves the function, or that is not known.
 * rvt_symbols_is_landing_pad - whether exceptions that come out of some call go on at @location.
 */
bool rvt_symbols_extent(struct rvt_symbols *symbols, const struct rvt_location *location,
			uint64_t addr, uint64_t *start, uint64_t *end);
uint64_t rvt_symbols_landing_pad(struct rvt_symbols *symbols, const struct rvt_location *location,
				 uint64_t addr);
bool rvt_symbols_is_landing_pad(struct rvt_symbols *symbols, const struct rvt_location *location);
/*
 * rvt_symbols_lookup - the reverse: the function @name of the file @path ("[kernel.kallsyms]" for
 * the kernel). Sets *addr (as in the file; for an ELF file *offset in it, too) and *size. False:
 * none.
 */
bool rvt_symbols_lookup(struct rvt_symbols *symbols, const char *path, const char *name,
			uint64_t *addr, uint64_t *offset, uint64_t *size);
/* A function found by its name. */
struct rvt_named {
	uint64_t addr, offset, size;	/* as rvt_symbols_lookup() sets them */
	bool global;		/* other files see it: bound global or weak */
};

/*
 * rvt_symbols_nth - the same for the @n-th (from 0, by address; those that have a better name last)
 * of several of that name.
 */
bool rvt_symbols_nth(struct rvt_symbols *symbols, const char *path, const char *name, size_t n,
		     struct rvt_named *result);

RVT_END_DECLS

#endif
