// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Loads, stores and atomics: where they reach. */
#include <string.h>
#include "tandem/privileged.h"

static uint64_t bits(uint32_t insn, unsigned int high, unsigned int low, unsigned int to)
{
	return ((uint64_t)(insn >> low) & ((UINT64_C(1) << (high - low + 1)) - 1)) << to;
}

static int64_t sign_extend(uint64_t value, unsigned int width)
{
	return (int64_t)(value << (64 - width)) >> (64 - width);
}

/* Offsets of the compressed forms, by access size (RVC, "Load and Store Instructions"). */
static uint64_t offset_word(uint32_t i)
{
	return bits(i, 12, 10, 3) | bits(i, 6, 6, 2) | bits(i, 5, 5, 6);
}

static uint64_t offset_double(uint32_t i)
{
	return bits(i, 12, 10, 3) | bits(i, 6, 5, 6);
}

static uint64_t offset_load_sp(uint32_t i, unsigned int bytes)
{
	if (bytes == 4)
		return bits(i, 12, 12, 5) | bits(i, 6, 4, 2) | bits(i, 3, 2, 6);
	return bits(i, 12, 12, 5) | bits(i, 6, 5, 3) | bits(i, 4, 2, 6);
}

static uint64_t offset_store_sp(uint32_t i, unsigned int bytes)
{
	if (bytes == 4)
		return bits(i, 12, 9, 2) | bits(i, 8, 7, 6);
	return bits(i, 12, 10, 3) | bits(i, 9, 7, 6);
}

/* funct3 of quadrants 0 and 2: bits 1:0 say which kind, bit 2 that it stores. */
static void compressed(uint32_t insn, unsigned int xlen, const uint64_t *x,
		       struct rvt_tandem_data *data)
{
	unsigned int funct3 = bits(insn, 15, 13, 0), kind = funct3 & 3;
	bool sp = (insn & 3) == 2;

	if ((insn & 3) == 1 || !kind)
		return;
	data->store = funct3 & 4;
	data->fp = kind == 1 || (kind == 3 && xlen == 32);
	data->bytes = kind == 2 || (kind == 3 && xlen == 32) ? 4 : 8;
	if (sp) {
		data->address = x[2] + (data->store ? offset_store_sp(insn, data->bytes) :
					offset_load_sp(insn, data->bytes));
		data->rd = bits(insn, 11, 7, 0);
	} else {
		data->address = x[8 + bits(insn, 9, 7, 0)] +
			(data->bytes == 4 ? offset_word(insn) : offset_double(insn));
		data->rd = 8 + bits(insn, 4, 2, 0);
	}
}

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

void rvt_tandem_data(uint32_t insn, unsigned int xlen, const uint64_t *x,
		     struct rvt_tandem_data *data)
{
	uint64_t base = x[insn >> 15 & 31];
	unsigned int width = insn >> 12 & 7;

	memset(data, 0, sizeof(*data));
	if ((insn & 3) != 3) {
		compressed(insn & 0xffff, xlen, x, data);
	} else {
		data->rd = insn >> 7 & 31;
		switch (insn & 0x7f) {
		case 0x03:
		case 0x07:
			data->fp = (insn & 0x7f) == 0x07;
			data->bytes = 1u << (width & 3);
			data->address = base + sign_extend(insn >> 20, 12);
			break;
		case 0x23:
		case 0x27:
			data->fp = (insn & 0x7f) == 0x27;
			data->store = true;
			data->bytes = 1u << (width & 3);
			data->address = base +
				sign_extend(bits(insn, 31, 25, 5) | bits(insn, 11, 7, 0), 12);
			break;
		case 0x2f:
			if (width == 2 || width == 3)
				atomic(insn, x, data);
			break;
		}
	}
	if (xlen == 32)
		data->address = (uint32_t)data->address;
}

bool rvt_tandem_is_fp(uint32_t insn, unsigned int xlen)
{
	unsigned int funct3 = insn >> 13 & 3;

	if ((insn & 3) == 0 || (insn & 3) == 2)
		return funct3 == 1 || (funct3 == 3 && xlen == 32);
	if ((insn & 3) == 1)
		return false;
	switch (insn & 0x7f) {
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
