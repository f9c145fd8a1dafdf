// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reads the kernel's symbols: from a copy of /proc/kallsyms, which also has those of modules, or
 * from the tables in the kernel's memory (kernel/kallsyms.c), where VMCOREINFO says they are.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "crash/crash.h"
#include "util/array.h"

#define MAX_SYMBOLS 10000000u
#define MAX_NAME 1024
#define TOKENS 256
#define MAX_TOKENS (64 << 10)	/* bytes of the token table */

static int by_address(const void *a, const void *b)
{
	const struct crash_symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int add(struct crash_symbols *symbols, size_t *room, uint64_t addr, const char *name,
	       const char *owner)
{
	if (symbols->n == *room) {
		struct crash_symbol *more;

		*room = *room ? 2 * *room : 1024;
		more = reallocarray(symbols->symbols, *room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		symbols->symbols = more;
	}
	symbols->symbols[symbols->n++] = (struct crash_symbol){ addr, name, owner };
	return 0;
}

static void sort(struct crash_symbols *symbols)
{
	if (symbols->n)
		qsort(symbols->symbols, symbols->n, sizeof(*symbols->symbols), by_address);
}

/* ---- /proc/kallsyms ---- */

/* Adds a line "ADDRESS TYPE NAME", perhaps with "[MODULE]", if it is code. */
static int add_line(struct crash_symbols *symbols, size_t *room, char *line)
{
	char *end, *name, *owner;
	uint64_t addr = strtoull(line, &end, 16);

	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return 0;
	if (!strchr("tTwW", end[1]))
		return 0;
	name = end + 3;
	owner = strpbrk(name, " \t");
	if (owner) {
		*owner++ = 0;
		owner += strspn(owner, " \t[");
		owner[strcspn(owner, "]")] = 0;
	}
	/* mapping symbols and compilers' labels are no functions */
	return *name == '$' || !strncmp(name, ".L", 2) ? 0 : add(symbols, room, addr, name, owner);
}

static int read_file(const char *path, char **text)
{
	FILE *in = fopen(path, "re");
	size_t size = 0;
	ssize_t len;

	*text = NULL;
	if (!in)
		return -errno;
	len = getdelim(text, &size, 0, in);
	fclose(in);
	return len < 0 ? -ENODATA : 0;
}

int crash_symbols_file(struct crash_symbols *symbols, const char *path)
{
	char *next, *line;
	size_t room = 0;
	int err;

	*symbols = (struct crash_symbols){ 0 };
	err = read_file(path, &symbols->text);
	next = symbols->text;
	while (!err && (line = strsep(&next, "\n")))
		err = add_line(symbols, &room, line);
	if (!err && (!symbols->n || !symbols->symbols[symbols->n - 1].addr))
		err = -EINVAL;
	if (err) {
		crash_symbols_free(symbols);
		return cmd_error(-1, "%s: %s", path, err == -EINVAL ?
				 "no copy of /proc/kallsyms with addresses, as root has it" :
				 strerror(-err));
	}
	sort(symbols);
	return 0;
}

/* ---- the kernel's tables ---- */

struct tables {
	const struct vmcore *core;
	uint64_t names, offsets, base;
	bool has_base;
	char tokens[MAX_TOKENS];
	uint16_t index[TOKENS];
};

static bool find_table(const struct vmcore *core, const char *name, uint64_t *addr)
{
	char key[64];

	snprintf(key, sizeof(key), "SYMBOL(kallsyms_%s)", name);
	return vmcore_number(core, key, 16, addr);
}

static bool open_tables(struct tables *tables, uint32_t *n)
{
	const struct vmcore *core = tables->core;
	uint64_t num, token_table, token_index, base;

	if (!find_table(core, "names", &tables->names) || !find_table(core, "num_syms", &num) ||
	    !find_table(core, "token_table", &token_table) ||
	    !find_table(core, "token_index", &token_index) ||
	    !find_table(core, "offsets", &tables->offsets))
		return false;
	/* in newer kernels offsets count from the table's entry itself */
	tables->has_base = find_table(core, "relative_base", &base);
	if (tables->has_base && !vmcore_read(core, base, &tables->base, sizeof(tables->base)))
		return false;
	if (!vmcore_read(core, num, n, sizeof(*n)) || *n > MAX_SYMBOLS ||
	    !vmcore_read(core, token_index, tables->index, sizeof(tables->index)))
		return false;
	/* up to the last token, and then to its end */
	for (size_t at = 0; at < sizeof(tables->tokens); at++)
		if (!vmcore_read(core, token_table + at, &tables->tokens[at], 1) ||
		    (at > tables->index[TOKENS - 1] && !tables->tokens[at]))
			return tables->tokens[at] == 0;
	return false;
}

/*
 * Reads the name at @at, which begins with its type. Returns the address behind it; 0: it is
 * damaged.
 */
static uint64_t read_name(const struct tables *tables, uint64_t at, char (*name)[MAX_NAME])
{
	uint8_t head, more, token;
	size_t len, out = 0;

	if (!vmcore_read(tables->core, at++, &head, 1))
		return 0;
	len = head;
	if (head & 0x80) {
		if (!vmcore_read(tables->core, at++, &more, 1))
			return 0;
		len = (head & 0x7f) | (size_t)more << 7;
	}
	while (len--) {
		if (!vmcore_read(tables->core, at++, &token, 1))
			return 0;
		for (const char *text = tables->tokens + tables->index[token]; *text; text++) {
			if (out == MAX_NAME - 1)
				return 0;
			(*name)[out++] = *text;
		}
	}
	(*name)[out] = 0;
	return at;
}

static bool read_address(const struct tables *tables, uint32_t i, uint64_t *addr)
{
	const uint64_t entry = tables->offsets + (uint64_t)i * sizeof(int32_t);
	int32_t offset;

	if (!vmcore_read(tables->core, entry, &offset, sizeof(offset)))
		return false;
	*addr = tables->has_base ? tables->base + (uint32_t)offset : entry + offset;
	return true;
}

/*
 * Reads all symbols. Names go to @text one behind the other, as offsets; the caller makes pointers
 * of them.
 */
static int read_symbols(const struct tables *tables, uint32_t n, struct crash_symbols *symbols,
			FILE *text)
{
	uint64_t at = tables->names, addr;
	size_t room = 0, used = 0;
	char name[MAX_NAME];

	for (uint32_t i = 0; i < n; i++) {
		at = read_name(tables, at, &name);
		if (!at || !name[0] || !read_address(tables, i, &addr))
			return -EINVAL;
		if (!strchr("tTwW", name[0]))
			continue;
		if (add(symbols, &room, addr, (const char *)used, NULL))
			return -ENOMEM;
		used += strlen(name + 1) + 1;
		fwrite(name + 1, 1, strlen(name + 1) + 1, text);
	}
	return symbols->n ? 0 : -EINVAL;
}

/* Checks that we understand the tables: they must agree with VMCOREINFO about one symbol. */
static bool is_right(const struct crash_symbols *symbols, const struct vmcore *core)
{
	uint64_t addr;

	if (!vmcore_number(core, "SYMBOL(_stext)", 16, &addr))
		return false;
	for (size_t i = 0; i < symbols->n; i++)
		if (!strcmp(symbols->symbols[i].name, "_stext"))
			return symbols->symbols[i].addr == addr;
	return false;
}

bool crash_symbols_core(struct crash_symbols *symbols, const struct vmcore *core)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	size_t len = 0;
	FILE *text;
	uint32_t n;
	int err = -EINVAL;

	*symbols = (struct crash_symbols){ 0 };
	text = open_memstream(&symbols->text, &len);
	if (tables && text) {
		tables->core = core;
		if (open_tables(tables, &n))
			err = read_symbols(tables, n, symbols, text);
	}
	free(tables);
	if (text && fclose(text))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < symbols->n; i++)
		symbols->symbols[i].name = symbols->text + (size_t)symbols->symbols[i].name;
	if (err || !is_right(symbols, core)) {
		crash_symbols_free(symbols);
		return false;
	}
	sort(symbols);
	return true;
}

void crash_symbols_free(struct crash_symbols *symbols)
{
	free(symbols->symbols);
	free(symbols->text);
	*symbols = (struct crash_symbols){ 0 };
}

const struct crash_symbol *crash_symbols_find(const struct crash_symbols *symbols, uint64_t addr)
{
	return array_floor(symbols->symbols, symbols->n, addr, addr);
}
