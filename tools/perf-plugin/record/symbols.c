// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/text.h"
#include "record/code.h"
#include "record/shared.h"
#include "record/symbols.h"

const char *symbols_of_others(const char *kallsyms)
{
	const char *others = strstr(kallsyms, "\t[");

	if (!others)
		return kallsyms + strlen(kallsyms);
	while (others > kallsyms && others[-1] != '\n')
		others--;
	return others;
}

/* Returns the address of the first symbol; 0: kernel.kptr_restrict hides it, or there is none. */
static uint64_t first_address(void)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	char line[64];
	uint64_t addr = 0;

	if (in && fgets(line, sizeof(line), in))
		addr = strtoull(line, NULL, 16);
	if (in)
		fclose(in);
	return addr;
}

/* Moves the kernel's own symbols from @text into a file that recordings share. */
static void share(struct shared_list *shared, uint64_t addr, char *text)
{
	const char *others = symbols_of_others(text);
	size_t len = others - text;

	if (len && text[len - 1] == '\n' && (shared_find_symbols(shared, addr) ||
					     shared_add_symbols(shared, addr, text, len)))
		memmove(text, others, strlen(others) + 1);
}

char *record_symbols(const struct recorder *rec, struct shared_list *shared)
{
	const uint64_t addr = shared->folder ? first_address() : 0;
	char *text = addr ? record_watch_symbols(rec) : NULL;

	/* the rest is known: this is all we need to read, as reading it takes long */
	if (text && shared_find_symbols(shared, addr))
		return text;
	free(text);
	text = read_text("/proc/kallsyms");
	if (text && addr)
		share(shared, addr, text);
	return text;
}
