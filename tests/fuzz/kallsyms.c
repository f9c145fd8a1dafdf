// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Symbols of a kernel, as text; then look-ups by address and by name. */
#include <rvtrace/symbol.h>
#include "fuzz.h"

static const struct rvt_location kernel = { .path = "[kernel.kallsyms]", .readable = true };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rvt_symbols *symbols;
	struct rvt_symbol symbol;
	char *text = malloc(size + 1);
	uint64_t addr, offset, len;

	if (!text || rvt_symbols_create(fuzz_dir(), &symbols)) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = 0;
	if (!rvt_symbols_add_kallsyms(symbols, text, size))
		for (unsigned int i = 0; i < 64; i++) {
			uint64_t at = (uint64_t)i << 58 | i * UINT64_C(0x1000);

			if (rvt_symbols_find(symbols, &kernel, at, &symbol) && !symbol.name)
				broken("a symbol without a name");
		}
	if (rvt_symbols_lookup(symbols, kernel.path, "start", &addr, &offset, &len) &&
	    rvt_symbols_find(symbols, &kernel, addr, &symbol) && symbol.offset)
		broken("start is at %llx, where another one is", (unsigned long long)addr);
	rvt_symbols_destroy(symbols);
	free(text);
	return 0;
}
