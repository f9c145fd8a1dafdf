/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the files of `perf rvtrace crash` share: the memory of a machine whose kernel has panicked,
 * what the driver's flight mode left there, and the kernel's symbols.
 */
#ifndef PERF_RVTRACE_CRASH_H
#define PERF_RVTRACE_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/flow.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "../../../include/uapi/linux/rvtrace.h"

/* ---- vmcore.c: an ELF core file of physical memory ---- */

#define VMCORE_PAGE 4096

struct vmcore;

/* Opens a dump. Returns NULL after a message. */
struct vmcore *vmcore_open(const char *path);
void vmcore_close(struct vmcore *core);
/*
 * Returns the bytes at a physical address; *@len: how many there are. NULL: the dump does not have
 * them.
 */
const uint8_t *vmcore_physical(const struct vmcore *core, uint64_t addr, size_t *len);
/*
 * Reads the number of @key, like "SYMBOL(_stext)", in the kernel's VMCOREINFO. Returns false if
 * there is none.
 */
bool vmcore_number(const struct vmcore *core, const char *key, int base, uint64_t *value);
/* Reads the text of a key into a buffer of @size bytes. */
bool vmcore_text(const struct vmcore *core, const char *key, char *text, size_t size);
/*
 * Sets the root of the page tables, in the format of the CSR satp. 0: virtual addresses have no
 * bytes.
 */
void vmcore_set_satp(struct vmcore *core, uint64_t satp);
/*
 * Returns the page of a virtual address; *@code: it is executable. NULL: the dump does not have it.
 */
const uint8_t *vmcore_page(const struct vmcore *core, uint64_t addr, bool *code);
/* Copies @len bytes at a virtual address. */
bool vmcore_read(const struct vmcore *core, uint64_t addr, void *bytes, size_t len);
/* Calls @use with each page-aligned physical address that the dump has, until it returns true. */
bool vmcore_pages(const struct vmcore *core,
		  bool (*use)(void *ctx, uint64_t addr, const uint8_t *page), void *ctx);

/* A struct rvt_space_fetch, with a struct crash_code as @ctx. */
struct crash_code {
	const struct vmcore *core;
	void **copies;
	size_t n_copies;
};

bool crash_code_fetch(void *ctx, uint64_t addr, struct rvt_fetched *code);
void crash_code_free(struct crash_code *code);

/* ---- symbols.c ---- */

struct crash_symbol {
	uint64_t addr;
	const char *name, *owner;	/* .owner: the module; NULL: the kernel itself */
};

struct crash_symbols {
	struct crash_symbol *symbols;	/* by address */
	size_t n;
	char *text;			/* has the names */
};

/*
 * crash_symbols_file - reads a copy of /proc/kallsyms. Returns 0, or -1 after a message.
 * crash_symbols_core - reads the kernel's own tables in its memory, without those of modules.
 * Returns false if there are none.
 */
int crash_symbols_file(struct crash_symbols *symbols, const char *path);
bool crash_symbols_core(struct crash_symbols *symbols, const struct vmcore *core);
void crash_symbols_free(struct crash_symbols *symbols);
/* Returns the nearest symbol at or below @addr; NULL: none. */
const struct crash_symbol *crash_symbols_find(const struct crash_symbols *symbols, uint64_t addr);

/* ---- flight.c: what flight mode left ---- */

struct crash_flight {
	struct rvtrace_flight_header header;
	unsigned int headers;		/* in the dump, with those of earlier kernels */
};

/* Finds the header. Returns false if there is none. */
bool crash_flight_find(const struct vmcore *core, struct crash_flight *flight);

/* What flight mode left of a hart. .params is malloc'd text. */
struct crash_hart {
	struct rvtrace_flight_hart record;
	char *params;
	uint8_t *trace;			/* malloc'd, oldest byte first */
	size_t len;
};

/* Reads hart number @n. Returns 0: it was not in flight mode; 1; or -errno after a message. */
int crash_hart_read(const struct vmcore *core, const struct crash_flight *flight, unsigned int n,
		    struct crash_hart *hart);
void crash_hart_free(struct crash_hart *hart);

/* ---- tail.c: the end of a hart's flow ---- */

/* A run, or (.block NULL) an event. */
struct crash_entry {
	const struct rvt_block *block;
	uint32_t first, count;
	enum rvt_event_type type;
	enum rvt_reason reason;
	uint64_t pc, target, offset;
	bool interrupt;
};

struct crash_loss {
	uint64_t n;
	char *why;			/* reason of the first; malloc'd or NULL */
};

struct crash_tail {
	struct crash_entry *entries;	/* a ring buffer */
	size_t room, begin, n;
	uint64_t insns, wanted;		/* in the ring; wanted 0: all */
	uint64_t total;			/* in the whole trace */
	struct crash_loss before, loss;	/* before the first instruction, and after it */
};

/* Decodes all of the trace and keeps the end. Returns 0 or -errno. */
int crash_tail_decode(struct crash_tail *tail, const struct crash_hart *hart,
		      const struct rvt_params *params, struct rvt_space *space);
void crash_tail_free(struct crash_tail *tail);

static inline const struct crash_entry *crash_tail_entry(const struct crash_tail *tail, size_t i)
{
	return &tail->entries[(tail->begin + i) % tail->room];
}

#endif
