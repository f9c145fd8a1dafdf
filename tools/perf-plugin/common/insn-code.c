// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>
#include "common/insn-code.h"

/* By "Expanded Instruction-Length Encoding" of the Unprivileged ISA. 0: longer than 64 bits. */
static unsigned int length(uint8_t first)
{
	if ((first & 0x03) != 0x03)
		return 2;
	if ((first & 0x1f) != 0x1f)
		return 4;
	if ((first & 0x3f) != 0x3f)
		return 6;
	return (first & 0x7f) != 0x7f ? 8 : 0;
}

unsigned int insn_code(struct rvt_space *space, uint64_t pc, uint8_t bytes[INSN_CODE_BYTES])
{
	const uint8_t *found;
	size_t n = space ? rvt_space_find(space, pc, &found) : 0;
	unsigned int len = n ? length(*found) : 0;

	for (unsigned int done = 0; done < len; done += n) {
		if (done)
			n = rvt_space_find(space, pc + done, &found);
		if (!n)
			return 0;
		if (n > len - done)
			n = len - done;
		memcpy(bytes + done, found, n);
	}
	return len;
}

bool insn_is_ecall(struct rvt_space *space, uint64_t pc)
{
	static const uint8_t ecall[] = { 0x73, 0, 0, 0 };
	uint8_t bytes[INSN_CODE_BYTES];

	return insn_code(space, pc, bytes) == sizeof(ecall) && !memcmp(bytes, ecall, sizeof(ecall));
}
