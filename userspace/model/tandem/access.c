// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Loads, stores and atomics: where they reach. */
#include <string.h>
#include "model/tandem/privileged.h"

static void atomic(uint32_t insn, const uint64_t *x, struct rvt_tandem_data *data)
{
	unsigned int funct5 = insn >> 27;

	data->bytes = 1u << (insn >> 12 & 7);
	data->address = x[insn >> 15 & 31];
	data->amo = true;
	data->lr = funct5 == 2;
	data->sc = funct5 == 3;
	data->store = !data->lr;
}

void rvt_tandem_data(uint32_t word, unsigned int xlen, const uint64_t *x,
		     struct rvt_tandem_data *data)
{
	uint32_t insn = rvt_tandem_expand(word, xlen);
	uint64_t base = x[insn >> 15 & 31];
	unsigned int width = insn >> 12 & 7;

	memset(data, 0, sizeof(*data));
	data->rd = insn >> 7 & 31;
	switch (insn & 0x7f) {
	case 0x03:
	case 0x07:
		data->fp = (insn & 0x7f) == 0x07;
		data->bytes = 1u << (width & 3);
		data->address = base + tandem_sign_extend(insn >> 20, 12);
		break;
	case 0x23:
	case 0x27:
		data->fp = (insn & 0x7f) == 0x27;
		data->store = true;
		data->bytes = 1u << (width & 3);
		data->address = base +
			tandem_sign_extend((insn >> 25) << 5 | (insn >> 7 & 31), 12);
		break;
	case 0x2f:
		if (width == 2 || width == 3)
			atomic(insn, x, data);
		break;
	}
	if (xlen == 32)
		data->address = (uint32_t)data->address;
}

bool rvt_tandem_is_fp(uint32_t insn, unsigned int xlen)
{
	switch (rvt_tandem_expand(insn, xlen) & 0x7f) {
	case 0x07:
	case 0x27:
	case 0x43:
	case 0x47:
	case 0x4b:
	case 0x4f:
	case 0x53:
		return true;
	default:
		return false;
	}
}
