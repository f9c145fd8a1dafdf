// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/etrace.h>
#include "property.h"
#include "random-accesses.h"

#define LOOP_INSNS 9

/* Eight nops, then beq x0, x0 back to the first. */
#define NOP 0x13, 0, 0, 0
const uint8_t accesses_code[ACCESSES_CODE_BYTES] = {
	NOP, NOP, NOP, NOP, NOP, NOP, NOP, NOP, 0xe3, 0x00, 0x00, 0xfe,
};

struct maker {
	const struct rvt_params *params;
	struct random random;
	struct accesses_trace *trace;
	uint64_t address, value;
};

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct accesses_trace *trace = ctx;

	if (trace->len + len > trace->room) {
		trace->room = 2 * (trace->len + len);
		trace->bytes = realloc(trace->bytes, trace->room);
		assert_non_null(trace->bytes);
	}
	memcpy(trace->bytes + trace->len, bytes, len);
	trace->len += len;
	return 0;
}

static uint64_t low_bytes(uint64_t value, unsigned int bytes)
{
	return bytes < 8 ? value & ((1ull << 8 * bytes) - 1) : value;
}

/* As a hart has it: sign-extended where it is virtual. */
static uint64_t an_address(const struct maker *m, uint64_t address)
{
	unsigned int width = m->params->daddress_width_p ? m->params->daddress_width_p :
							   m->params->iaddress_width_p;

	if (width == 64)
		return address;
	address &= (1ull << width) - 1;
	if (m->params->xlen == 64 && width > 32 && address >> (width - 1))
		address |= UINT64_MAX << width;
	return address;
}

/* Numbers that are near the last one, or alike, or anything. */
static uint64_t a_number(struct random *r, uint64_t last)
{
	switch (random_below(r, 4)) {
	case 0:
		return last + random_below(r, 64) - 32;
	case 1:
		return last ^ 1ull << random_below(r, 64);
	case 2:
		return random_word(r) >> random_below(r, 64);
	default:
		return ~(random_word(r) >> random_below(r, 64));
	}
}

static struct rvt_access an_access(struct maker *m)
{
	static const uint8_t kinds[] = {
		RVT_ACCESS_LOAD, RVT_ACCESS_LOAD, RVT_ACCESS_STORE, RVT_ACCESS_ATOMIC,
		RVT_ACCESS_CSR,
	};
	struct random *r = &m->random;
	struct rvt_access a = { .size = sizeof(a), .kind = kinds[random_below(r, 5)] };

	a.bytes = 1u << random_below(r, 4);
	m->address = an_address(m, a_number(r, m->address));
	m->value = a_number(r, m->value);
	if (random_below(r, 4))
		m->address &= ~(uint64_t)(a.bytes - 1);
	a.address = m->address;
	a.value = m->value;
	a.address_valid = a.value_valid = true;
	if (a.kind == RVT_ACCESS_ATOMIC) {
		a.operation = RVT_ACCESS_SWAP + random_below(r, 9);
		a.address &= ~(uint64_t)(a.bytes - 1);
	} else if (a.kind == RVT_ACCESS_CSR) {
		a.operation = RVT_ACCESS_CSR_WRITE + random_below(r, 3);
		a.address &= 0xfff;
		a.bytes = m->params->xlen / 8;
	} else {
		a.multiple = m->params->options & RVT_OPT_MULTI_ACCESS &&
			     (m->params->dtype_width_p > 1 || m->params->lrid_width_p) &&
			     random_one_in(r, 4);
	}
	/* CSRs that are read-only have no operand; an operation that failed has no value. */
	a.operand_valid = a.operation != RVT_ACCESS_PLAIN &&
			  !(a.kind == RVT_ACCESS_CSR && a.address >> 10 == 3);
	a.operand = a.operand_valid ? low_bytes(a_number(r, m->value), a.bytes) : 0;
	if (a.operation == RVT_ACCESS_CAS_FAILURE || a.operation == RVT_ACCESS_SC_FAILURE)
		a.value_valid = false;
	a.value = low_bytes(a.value, a.bytes);
	return a;
}

/* Which accesses there are packets for. */
static bool is_told(const struct rvt_params *p, const struct rvt_access *a)
{
	const bool multi = p->options & RVT_OPT_MULTI_ACCESS;
	const bool values = !(p->options & RVT_OPT_DATA_NO_VALUE);
	const bool addresses = !(p->options & RVT_OPT_DATA_NO_ADDRESS);
	/* formats of 2 bits (of the extension: of 1 or none) are loads and stores */
	const bool others = p->lrid_width_p || p->dtype_width_p > (multi ? 2 : 1);

	if (a->kind != RVT_ACCESS_CSR && 8u * a->bytes > p->data_width_p)
		return false;
	if (a->kind == RVT_ACCESS_LOAD || a->kind == RVT_ACCESS_STORE)
		return true;
	if (a->operation == RVT_ACCESS_CAS_FAILURE)
		return others && multi && addresses;
	return others && (a->operation != RVT_ACCESS_SC_FAILURE || !values);
}

/* What is known of it. */
static void tell(const struct rvt_params *p, struct rvt_access *a)
{
	if (p->options & RVT_OPT_DATA_NO_VALUE)
		a->value_valid = a->operand_valid = false;
	if (p->options & RVT_OPT_DATA_NO_ADDRESS && a->kind != RVT_ACCESS_CSR)
		a->address_valid = false;
}

void accesses_make(const struct rvt_params *params, uint64_t seed, size_t n,
		   struct accesses_trace *trace)
{
	struct maker m = { .params = params, .trace = trace };
	struct rvt_etrace_encoder_config config = {
		.params = params, .sync_mode = 1, .emit = emit, .ctx = trace,
	};
	const struct rvt_retire loop = {
		.first_pc = ACCESSES_BASE, .last_pc = ACCESSES_BASE + ACCESSES_CODE_BYTES - 4,
		.insns = LOOP_INSNS, .halfwords = ACCESSES_CODE_BYTES / 2, .last_halfwords = 2,
		.itype = RVT_ITYPE_BRANCH_TAKEN,
	};
	struct rvt_etrace_encoder *enc;

	random_seed(&m.random, seed);
	*trace = (struct accesses_trace){ .told = calloc(n + 1, sizeof(*trace->told)) };
	assert_non_null(trace->told);
	config.sync_max = random_below(&m.random, 6);
	config.data_full_address = random_one_in(&m.random, 8);
	config.data_full_value = random_one_in(&m.random, 8);
	assert_int_equal(rvt_etrace_encoder_create(&config, &enc), 0);
	rvt_etrace_encoder_start(enc);
	for (size_t i = 0; i < n; i++) {
		struct rvt_access a = an_access(&m);

		rvt_etrace_encoder_retire(enc, &loop);
		trace->insns += LOOP_INSNS;
		rvt_etrace_encoder_access(enc, &a);
		if (!is_told(params, &a))
			continue;
		tell(params, &a);
		trace->told[trace->n_told++] = a;
	}
	rvt_etrace_encoder_stop(enc, true);
	rvt_etrace_encoder_destroy(enc);
}
