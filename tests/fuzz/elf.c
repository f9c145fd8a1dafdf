// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * An ELF file as code and as a table of symbols, and another as its separate debug file, if its
 * build id is DEBUG_ID (that of the seeds). The input: the length of the first (4 bytes), and both.
 */
#include <rvtrace/image.h>
#include <rvtrace/symbol.h>
#include "fuzz.h"

#define DEBUG_ID "usr/lib/debug/.build-id/ab/cdef0123456789.debug"
#define MAX_CHUNKS 64

static void look_at_code(struct rvt_space *space, struct rvt_symbols *symbols, uint64_t addr)
{
	for (unsigned int i = 0; i < MAX_CHUNKS; i++) {
		struct rvt_location place;
		struct rvt_symbol symbol;
		struct rvt_bases bases;
		const uint8_t *bytes;
		uint64_t vaddr;
		size_t n = rvt_space_find(space, addr, &bytes);
		uint8_t sum = 0;

		for (size_t k = 0; k < n; k += k + 64 < n ? 64 : 1)
			sum ^= bytes[k];
		if (rvt_space_locate(space, addr, &place)) {
			rvt_symbols_find(symbols, &place, addr, &symbol);
			rvt_symbols_address(symbols, &place, &vaddr, &bases);
		}
		addr += n ? n : (size_t)4096 + sum;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint64_t len = take_number(&in, 4), addr, offset, bytes;
	const uint8_t *elf = take(&in, len <= in.len ? len : in.len);
	struct rvt_symbols *symbols;
	struct rvt_space *space;
	struct rvt_image *image;
	struct rvt_named named;
	char path[512];

	fuzz_write(DEBUG_ID, in.bytes, in.len);
	strcpy(path, fuzz_write("program", elf, in.bytes - elf));
	if (rvt_image_create(&image))
		return 0;
	if (!rvt_space_create(image, NULL, &space) && !rvt_symbols_create(fuzz_dir(), &symbols)) {
		if (!rvt_space_map_elf(space, path, 0))
			look_at_code(space, symbols, 0);
		rvt_space_map_file(space, 0x40000000, 1 << 20, 0, path, NULL, 0);
		look_at_code(space, symbols, 0x40000000);
		rvt_symbols_lookup(symbols, path, "main", &addr, &offset, &bytes);
		rvt_symbols_nth(symbols, path, "leaf", 1, &named);
		rvt_symbols_destroy(symbols);
	}
	rvt_image_destroy(image);
	return 0;
}
