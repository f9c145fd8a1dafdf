// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "profile/functions.h"
#include "util/array.h"

#define AT_GNU_DISCRIMINATOR 0x2136	/* older libdw does not name it */
#define MAX_DEPTH 256	/* levels of nested entries; a damaged file can have any number */

/* A range of a scope's code. */
struct range {
	uint64_t from, to;	/* .to: behind the range */
	unsigned int depth;	/* of the scope, among inlined ones; 0: not inlined */
	struct scope *scope;
};

/* A function that was not inlined, by where it begins. */
struct entry {
	uint64_t addr;
	struct scope *scope;
};

struct functions {
	struct scope **scopes;
	size_t n_scopes;
	struct range *ranges;	/* by .from; the larger and the less deep ones first */
	size_t n_ranges, ranges_room;
	struct entry *entries;
	size_t n_entries, entries_room;
	uint64_t bias;		/* address in the DWARF = address in the ELF file + bias */
	/* where functions_at() stands: ranges before .next that may have .last */
	struct range **open;
	size_t n_open, open_room, next;
	uint64_t last;
};

static struct scope *new_scope(struct functions *functions)
{
	struct scope *scope = calloc(1, sizeof(*scope));

	if (!scope || array_grow(&functions->scopes, functions->n_scopes)) {
		free(scope);
		return NULL;
	}
	return functions->scopes[functions->n_scopes++] = scope;
}

static const char *linkage_name(Dwarf_Die *die)
{
	static const unsigned int names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					      DW_AT_name };
	Dwarf_Attribute attr;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (dwarf_attr_integrate(die, names[i], &attr))
			return dwarf_formstring(&attr);
	return NULL;
}

static unsigned int number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &value) ? value : 0;
}

/* Makes the scope of @die. Returns NULL if it has no code; sets *@err when memory is out. */
static struct scope *add_scope(struct functions *functions, Dwarf_Die *die, struct scope *caller,
			       unsigned int depth, int *err)
{
	const char *name = linkage_name(die);
	struct scope *scope = NULL;
	Dwarf_Addr base, from, to;
	ptrdiff_t offset = 0;

	while (name && (offset = dwarf_ranges(die, offset, &base, &from, &to)) > 0) {
		if (from >= to)
			continue;
		if (!scope && !(scope = new_scope(functions))) {
			*err = -ENOMEM;
			return NULL;
		}
		if (array_reserve(&functions->ranges, &functions->ranges_room,
				  functions->n_ranges, 1)) {
			*err = -ENOMEM;
			return NULL;
		}
		functions->ranges[functions->n_ranges++] = (struct range){
			from - functions->bias, to - functions->bias, depth, scope };
	}
	if (!scope)
		return NULL;
	scope->name = name;
	scope->caller = caller;
	dwarf_decl_line(die, &scope->line);
	scope->call_line = number(die, DW_AT_call_line);
	scope->call_discriminator = number(die, AT_GNU_DISCRIMINATOR);
	scope->entry = UINT64_MAX;
	if (!caller && !dwarf_entrypc(die, &from)) {
		scope->entry = from - functions->bias;
		if (array_reserve(&functions->entries, &functions->entries_room,
				  functions->n_entries, 1))
			*err = -ENOMEM;
		else
			functions->entries[functions->n_entries++] =
				(struct entry){ scope->entry, scope };
	}
	return scope;
}

/* Adds the scopes below @parent, which is in @caller's code (NULL: in no function). */
static int walk(struct functions *functions, Dwarf_Die *parent, struct scope *caller,
		unsigned int depth, unsigned int level)
{
	struct scope *scope;
	Dwarf_Die die;
	int err = 0;

	if (level > MAX_DEPTH || dwarf_child(parent, &die))
		return 0;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			/* an abstract entry has no code; its inlined copies have */
			if (dwarf_hasattr(&die, DW_AT_inline))
				break;
			scope = add_scope(functions, &die, NULL, 0, &err);
			if (!err)
				err = walk(functions, &die, scope, 1, level + 1);
			break;
		case DW_TAG_inlined_subroutine:
			scope = caller ? add_scope(functions, &die, caller, depth, &err) : NULL;
			if (!err && scope)
				err = walk(functions, &die, scope, depth + 1, level + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_module:
			err = walk(functions, &die, caller, depth, level + 1);
			break;
		}
	} while (!err && !dwarf_siblingof(&die, &die));
	return err;
}

static int by_from(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to > y->to ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static int by_entry(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

struct functions *functions_read(struct source_file *file, int *err)
{
	struct functions *functions = calloc(1, sizeof(*functions));
	Dwarf_Off off = 0, next;
	uint64_t bias;
	Dwarf *dwarf = source_file_dwarf(file, &bias);
	size_t header;
	Dwarf_Die die;

	*err = functions ? 0 : -ENOMEM;
	if (!*err && !dwarf)
		*err = -ENOENT;
	if (!*err)
		functions->bias = bias;
	while (!*err && !dwarf_nextcu(dwarf, off, &next, &header, NULL, NULL, NULL)) {
		if (dwarf_offdie(dwarf, off + header, &die))
			*err = walk(functions, &die, NULL, 0, 0);
		off = next;
	}
	if (!*err && !functions->n_ranges)
		*err = -ENOENT;
	if (*err) {
		functions_destroy(functions);
		return NULL;
	}
	qsort(functions->ranges, functions->n_ranges, sizeof(*functions->ranges), by_from);
	if (functions->n_entries)
		qsort(functions->entries, functions->n_entries, sizeof(*functions->entries),
		      by_entry);
	return functions;
}

void functions_destroy(struct functions *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->n_scopes; i++)
		free(functions->scopes[i]);
	free(functions->scopes);
	free(functions->ranges);
	free(functions->entries);
	free(functions->open);
	free(functions);
}

struct scope *functions_at(struct functions *functions, uint64_t addr)
{
	struct range *found = NULL;
	size_t kept = 0;

	if (addr < functions->last)
		functions->next = functions->n_open = 0;
	functions->last = addr;
	while (functions->next < functions->n_ranges &&
	       functions->ranges[functions->next].from <= addr) {
		if (array_reserve(&functions->open, &functions->open_room, functions->n_open, 1))
			break;
		functions->open[functions->n_open++] = &functions->ranges[functions->next++];
	}
	for (size_t i = 0; i < functions->n_open; i++) {
		struct range *range = functions->open[i];

		if (range->to <= addr)
			continue;
		functions->open[kept++] = range;
		if (!found || range->depth >= found->depth)
			found = range;
	}
	functions->n_open = kept;
	return found ? found->scope : NULL;
}

struct scope *functions_entered(struct functions *functions, uint64_t addr)
{
	const struct entry *found = array_floor(functions->entries, functions->n_entries, addr,
						addr);

	return found && found->addr == addr ? found->scope : NULL;
}
