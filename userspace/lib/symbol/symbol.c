// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "image/image.h"
#include "kallsyms.h"
#include "table.h"

#define KERNEL "[kernel.kallsyms]"

struct rvt_symbols {
	char *debug_roots;
	void *tables;		/* tsearch tree of struct table by path */
	struct table *kernel;	/* with all modules */
	rvt_kallsyms_reader read_kernel;	/* NULL: not left to be read */
	void *read_ctx;
	struct table *last;
	pthread_mutex_t lock;	/* a look-up holds it, for it may read tables */
};

static int compare_tables(const void *a, const void *b)
{
	const struct table *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static struct table *new_table(struct rvt_symbols *symbols, const char *path)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->path = strdup(path);
	if (!table->path || !tsearch(table, &symbols->tables, compare_tables)) {
		rvt_table_destroy(table);
		return NULL;
	}
	return table;
}

/* Calls @read with the ELF file @path, if there is one. */
static void with_elf(struct rvt_symbols *symbols, struct table *table,
		     void (*read)(struct rvt_symbols *symbols, struct table *table, Elf *elf))
{
	struct rvt_mapped_file *mapped;
	Elf *elf;

	if (table->path[0] == '[')
		return;
	elf = rvt_table_open_elf(table->path, &mapped);
	if (elf)
		read(symbols, table, elf);
	elf_end(elf);
	rvt_file_unmap(mapped);
}

static void read_functions(struct rvt_symbols *symbols, struct table *table, Elf *elf)
{
	rvt_table_read_elf(table, elf, symbols->debug_roots);
}

static void read_eh(struct rvt_symbols *symbols, struct table *table, Elf *elf)
{
	(void)symbols;
	if (elf_kind(elf) == ELF_K_ELF)
		table->eh = rvt_eh_read(elf);
}

/* The table of a file; read when it is first asked for. An empty one when it cannot be read. */
static struct table *get_table(struct rvt_symbols *symbols, const char *path)
{
	struct table key = { .path = (char *)path }, **found, *table;

	if (symbols->last && !strcmp(symbols->last->path, path))
		return symbols->last;
	found = tfind(&key, &symbols->tables, compare_tables);
	if (found)
		return symbols->last = *found;
	table = new_table(symbols, path);
	if (!table)
		return NULL;
	with_elf(symbols, table, read_functions);
	return symbols->last = table;
}

/* ---- interface ---- */

int rvt_symbols_create(const char *debug_roots, struct rvt_symbols **result)
{
	struct rvt_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	pthread_mutex_init(&symbols->lock, NULL);
	symbols->debug_roots = strdup(debug_roots ? debug_roots : "");
	if (!symbols->debug_roots) {
		free(symbols);
		return -ENOMEM;
	}
	*result = symbols;
	return 0;
}

void rvt_symbols_destroy(struct rvt_symbols *symbols)
{
	if (!symbols)
		return;
	tdestroy(symbols->tables, rvt_table_destroy);
	pthread_mutex_destroy(&symbols->lock);
	free(symbols->debug_roots);
	free(symbols);
}

/* A hexadecimal number. Returns where it ends. */
static const char *parse_hex(const char *text, const char *end, uint64_t *value)
{
	for (*value = 0; text < end; text++) {
		unsigned int digit = (unsigned char)*text - '0';

		if (digit > 9) {
			digit = ((unsigned char)*text | 0x20) - 'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		*value = *value << 4 | digit;
	}
	return text;
}

/*
 * Reads "ffffffff80002000 T _text", of a module "ffffffff02000000 t f\t[mod]". Returns where the
 * type is, two characters before the name; NULL: the line names no code.
 */
static const char *parse_kallsyms_line(const char *line, const char *end, uint64_t *addr)
{
	const char *type;

	if (end - line < 20)
		return NULL;
	type = parse_hex(line, end, addr) + 1;
	if (!*addr || type + 2 >= end || type[-1] != ' ' || !strchr("tTwW", *type))
		return NULL;
	return type[2] == '$' || !strncmp(type + 2, ".L", 2) ? NULL : type;
}

static int add_kallsyms_line(struct table *table, const char *line, const char *end)
{
	const char *type, *name;
	uint64_t addr;
	size_t len = 0;

	type = parse_kallsyms_line(line, end, &addr);
	if (!type)
		return 0;
	name = type + 2;
	while (name + len < end && name[len] != ' ' && name[len] != '\t')
		len++;
	name = rvt_table_own(table, name, len);
	return name ? rvt_table_add(table, addr, 0, name,
				    *type == 'T' ? RANK_GLOBAL : *type == 't' ? RANK_LOCAL :
				    RANK_WEAK) : -ENOMEM;
}

bool rvt_kallsyms_names_code(const char *text, size_t len)
{
	const char *end = text + len, *line_end;
	uint64_t addr;

	for (; text < end; text = line_end + 1) {
		line_end = memchr(text, '\n', end - text);
		if (!line_end)
			line_end = end;
		if (parse_kallsyms_line(text, line_end, &addr))
			return true;
	}
	return false;
}

static int add_kallsyms(struct table *table, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *line_end = memchr(text, '\n', end - text);
		int err;

		if (!line_end)
			line_end = end;
		err = add_kallsyms_line(table, text, line_end);
		if (err)
			return err;
		text = line_end + 1;
	}
	rvt_table_finish(table);
	return 0;
}

int rvt_symbols_add_kallsyms(struct rvt_symbols *symbols, const char *text, size_t len)
{
	if (!symbols->kernel)
		symbols->kernel = new_table(symbols, KERNEL);
	return symbols->kernel ? add_kallsyms(symbols->kernel, text, len) : -ENOMEM;
}

int rvt_symbols_add_guest(struct rvt_symbols *symbols, const char *path, const char *text,
			  size_t len)
{
	struct table *table = get_table(symbols, path);

	if (!table)
		return -ENOMEM;
	return table->n ? 0 : add_kallsyms(table, text, len);
}

void rvt_symbols_read_kallsyms(struct rvt_symbols *symbols, rvt_kallsyms_reader read, void *ctx)
{
	symbols->read_kernel = read;
	symbols->read_ctx = ctx;
}

/* NULL: no kernel symbols are known. */
static struct table *kernel_table(struct rvt_symbols *symbols)
{
	rvt_kallsyms_reader read = symbols->read_kernel;
	char *text = NULL;
	size_t len;

	symbols->read_kernel = NULL;
	if (read && !read(symbols->read_ctx, &text, &len))
		rvt_symbols_add_kallsyms(symbols, text, len);
	free(text);
	return symbols->kernel;
}

int rvt_symbols_add_image(struct rvt_symbols *symbols, const char *name, const void *bytes,
			  size_t len)
{
	struct table *table = new_table(symbols, name);
	Elf *elf = elf_memory((char *)bytes, len);
	int err = table && elf ? rvt_table_read_elf(table, elf, symbols->debug_roots) : -ENOMEM;

	elf_end(elf);
	return err;
}

static bool address_in_file(struct rvt_symbols *symbols, const struct rvt_location *location,
			    uint64_t *vaddr, struct rvt_bases *bases)
{
	struct rvt_bases found_bases = { UINT64_MAX, UINT64_MAX };
	const struct load_segment *segment;
	struct table *table;
	bool found = false;

	if (!location->path || location->path[0] == '[')
		return false;
	table = get_table(symbols, location->path);
	for (size_t i = 0; table && i < table->n_segments; i++) {
		segment = &table->segments[i];
		if (segment->vaddr < found_bases.load)
			found_bases.load = segment->vaddr;
		if (segment->executable && segment->vaddr < found_bases.text)
			found_bases.text = segment->vaddr;
		if (location->file_offset >= segment->offset &&
		    location->file_offset - segment->offset < segment->size) {
			*vaddr = location->file_offset - segment->offset + segment->vaddr;
			found = true;
		}
	}
	if (found)
		*bases = found_bases;
	return found;
}

/* What .eh_frame of @location's file says; *@vaddr is the address in it. NULL: nothing. */
static const struct eh *find_eh(struct rvt_symbols *symbols, const struct rvt_location *location,
				uint64_t *vaddr)
{
	struct rvt_bases bases;
	struct table *table;

	if (!address_in_file(symbols, location, vaddr, &bases))
		return NULL;
	table = get_table(symbols, location->path);
	if (!table->eh_read)
		with_elf(symbols, table, read_eh);
	table->eh_read = true;
	return table->eh;
}

/*
 * The function of the stripped file @table at @location by .eh_frame, if it begins above @after,
 * which is where the last one that has a name begins: "libc.so.6+0x3af68", as in the file.
 */
static bool find_unnamed(struct rvt_symbols *symbols, struct table *table,
			 const struct rvt_location *location, uint64_t after,
			 struct rvt_symbol *symbol)
{
	struct eh_function *function;
	const struct eh *eh;
	uint64_t vaddr;
	char name[300];
	int len;

	eh = find_eh(symbols, location, &vaddr);
	function = eh ? rvt_eh_find(eh, vaddr) : NULL;
	if (!function || function->start <= after)
		return false;
	if (!function->name) {
		len = snprintf(name, sizeof(name), "%.255s+0x%" PRIx64, basename(table->path),
			       function->start);
		function->name = rvt_table_own(table, name, len);
	}
	if (!function->name)
		return false;
	symbol->name = function->name;
	symbol->offset = vaddr - function->start;
	symbol->size = function->end - function->start;
	return true;
}

static bool find_symbol(struct rvt_symbols *symbols, const struct rvt_location *location,
			uint64_t addr, struct rvt_symbol *symbol)
{
	const struct function *function;
	struct table *table = NULL;
	const char *end;

	if (!location->path)
		return false;
	if (location->path[0] == '[' && (end = strchr(location->path, ']')) && end[1]) {
		*symbol = (struct rvt_symbol){ end + 1, location->file_offset, 0 };
		return true;
	}
	if (!strcmp(location->path, RVT_GUEST_CODE))
		return false;
	if (location->path[0] == '[' && strcmp(location->path, "[vdso]"))
		table = kernel_table(symbols);
	else
		table = get_table(symbols, location->path);
	if (!table)
		return false;
	for (size_t i = 0; i < table->n_segments && table != symbols->kernel; i++) {
		const struct load_segment *segment = &table->segments[i];

		if (location->file_offset >= segment->offset &&
		    location->file_offset - segment->offset < segment->size) {
			addr = location->file_offset - segment->offset + segment->vaddr;
			break;
		}
	}
	function = rvt_table_find(table, addr);
	if (table->stripped && (!function || function->open) &&
	    find_unnamed(symbols, table, location, function ? function->start : 0, symbol))
		return true;
	if (!function)
		return false;
	symbol->name = function->name;
	symbol->offset = addr - function->start;
	symbol->size = function->end - function->start;
	return true;
}

static bool find_extent(struct rvt_symbols *symbols, const struct rvt_location *location,
			uint64_t addr, uint64_t *start, uint64_t *end)
{
	const struct eh_function *function;
	const struct eh *eh;
	struct rvt_symbol symbol;
	uint64_t vaddr;

	eh = find_eh(symbols, location, &vaddr);
	function = eh ? rvt_eh_find(eh, vaddr) : NULL;
	if (function) {
		*start = addr - (vaddr - function->start);
		*end = *start + (function->end - function->start);
		return true;
	}
	if (!find_symbol(symbols, location, addr, &symbol) || symbol.offset >= symbol.size)
		return false;
	*start = addr - symbol.offset;
	*end = *start + symbol.size;
	return true;
}

static uint64_t find_landing_pad(struct rvt_symbols *symbols, const struct rvt_location *location,
				 uint64_t addr)
{
	uint64_t vaddr, pad;
	const struct eh *eh = find_eh(symbols, location, &vaddr);

	pad = eh ? rvt_eh_landing_pad(eh, vaddr) : 0;
	return pad ? addr + (pad - vaddr) : 0;
}

static bool is_landing_pad(struct rvt_symbols *symbols, const struct rvt_location *location)
{
	uint64_t vaddr;
	const struct eh *eh = find_eh(symbols, location, &vaddr);

	return eh && rvt_eh_is_landing_pad(eh, vaddr);
}

static uint64_t file_offset(const struct table *table, uint64_t addr)
{
	for (size_t i = 0; i < table->n_segments; i++)
		if (addr >= table->segments[i].vaddr &&
		    addr - table->segments[i].vaddr < table->segments[i].size)
			return addr - table->segments[i].vaddr + table->segments[i].offset;
	return addr;
}

/* @function may be another name of one. */
static bool name_function(const struct table *table, const struct function *function,
			  struct rvt_named *result)
{
	const struct function *found = rvt_table_find(table, function->start);

	/* the last address that there is has no function */
	if (!found)
		return false;
	*result = (struct rvt_named){
		.addr = function->start, .offset = file_offset(table, function->start),
		.size = found->end - function->start,
		.global = function->rank >= RANK_WEAK };
	return true;
}

static bool find_nth(struct rvt_symbols *symbols, const char *path, const char *name, size_t n,
		     struct rvt_named *result)
{
	struct table *table = strcmp(path, KERNEL) ? get_table(symbols,
							       path) : kernel_table(symbols);

	for (size_t i = 0; table && i < table->n; i++)
		if (!strcmp(table->functions[i].name, name) && !n--)
			return name_function(table, &table->functions[i], result);
	for (size_t i = 0; table && i < table->n_others; i++)
		if (!strcmp(table->others[i].name, name) && !n--)
			return name_function(table, &table->others[i], result);
	return false;
}

/* ---- for any thread ---- */

bool rvt_symbols_address(struct rvt_symbols *symbols, const struct rvt_location *location,
			 uint64_t *vaddr, struct rvt_bases *bases)
{
	bool found;

	pthread_mutex_lock(&symbols->lock);
	found = address_in_file(symbols, location, vaddr, bases);
	pthread_mutex_unlock(&symbols->lock);
	return found;
}

bool rvt_symbols_find(struct rvt_symbols *symbols, const struct rvt_location *location,
		      uint64_t addr, struct rvt_symbol *symbol)
{
	bool found;

	pthread_mutex_lock(&symbols->lock);
	found = find_symbol(symbols, location, addr, symbol);
	pthread_mutex_unlock(&symbols->lock);
	return found;
}

bool rvt_symbols_extent(struct rvt_symbols *symbols, const struct rvt_location *location,
			uint64_t addr, uint64_t *start, uint64_t *end)
{
	bool found;

	pthread_mutex_lock(&symbols->lock);
	found = find_extent(symbols, location, addr, start, end);
	pthread_mutex_unlock(&symbols->lock);
	return found;
}

uint64_t rvt_symbols_landing_pad(struct rvt_symbols *symbols, const struct rvt_location *location,
				 uint64_t addr)
{
	uint64_t found;

	pthread_mutex_lock(&symbols->lock);
	found = find_landing_pad(symbols, location, addr);
	pthread_mutex_unlock(&symbols->lock);
	return found;
}

bool rvt_symbols_is_landing_pad(struct rvt_symbols *symbols, const struct rvt_location *location)
{
	bool found;

	pthread_mutex_lock(&symbols->lock);
	found = is_landing_pad(symbols, location);
	pthread_mutex_unlock(&symbols->lock);
	return found;
}

bool rvt_symbols_nth(struct rvt_symbols *symbols, const char *path, const char *name, size_t n,
		     struct rvt_named *result)
{
	bool found;

	pthread_mutex_lock(&symbols->lock);
	found = find_nth(symbols, path, name, n, result);
	pthread_mutex_unlock(&symbols->lock);
	return found;
}

bool rvt_symbols_lookup(struct rvt_symbols *symbols, const char *path, const char *name,
			uint64_t *addr, uint64_t *offset, uint64_t *size)
{
	struct rvt_named found;

	if (!rvt_symbols_nth(symbols, path, name, 0, &found))
		return false;
	*addr = found.addr;
	*offset = found.offset;
	*size = found.size;
	return true;
}
