/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tandem traces made record by record, and what the verifier says of them. */
#ifndef TESTS_TANDEM_TRACE_H
#define TESTS_TANDEM_TRACE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "model/tandem/privileged.h"
#include "../../tools/perf-plugin/tandem/tandem.h"

#define BASE UINT64_C(0x80000006)
#define HANDLER UINT64_C(0x80000100)
#define DATA UINT64_C(0x80001008)
#define DEVICE UINT64_C(0x10000000)
#define X(n) (RVT_TANDEM_GPR + (n))
#define F(n) (RVT_TANDEM_FPR + (n))

/* A trace under construction. */
struct trace {
	struct rvt_tandem_params params;
	uint8_t bytes[8192];
	size_t len;
	uint64_t step;		/* the group to be made wrong, 0: none */
	uint64_t groups;
	struct rvt_tandem_verify_options options;
	struct rvt_tandem_verify_result result;
	char text[4096];	/* all reports */
};

static inline void rec(struct trace *t, struct rvt_tandem_record record)
{
	int n;

	assert_true(t->len + RVT_TANDEM_MAX_RECORD <= sizeof(t->bytes));
	n = rvt_tandem_encode(&t->params, &record, t->bytes + t->len);
	assert_true(n > 0);
	t->len += n;
}

#define REC(t, ...) rec(t, (struct rvt_tandem_record){ __VA_ARGS__ })

static inline void reg(struct trace *t, unsigned int number, uint64_t value)
{
	REC(t, .op = RVT_TANDEM_REG_FULL, .reg = number, .value = value);
}

static inline void state(struct trace *t, unsigned int id, uint64_t value)
{
	REC(t, .op = RVT_TANDEM_STATE, .state_id = id, .value = value);
}

static inline void begin(struct trace *t)
{
	REC(t, .op = RVT_TANDEM_BEGIN_GROUP);
	t->groups++;
}

static inline void end(struct trace *t)
{
	REC(t, .op = RVT_TANDEM_END_GROUP);
}

/* A group with an instruction that falls through. */
static inline void insn(struct trace *t, uint32_t word)
{
	bool compressed = (word & 3) != 3;

	begin(t);
	REC(t, .op = RVT_TANDEM_INC_PC);
	REC(t, .op = compressed ? RVT_TANDEM_INSN16 : RVT_TANDEM_INSN32, .value = word);
}

static inline void load(struct trace *t, uint64_t addr, unsigned int size, uint64_t value)
{
	REC(t, .op = RVT_TANDEM_MEM_REQ, .mem_op = RVT_TANDEM_LOAD, .mem_size = size, .addr = addr);
	REC(t, .op = RVT_TANDEM_MEM_RSP, .mem_op = RVT_TANDEM_LOAD, .mem_size = size,
	    .value = value);
}

static inline void store(struct trace *t, uint64_t addr, unsigned int size, uint64_t value)
{
	REC(t, .op = RVT_TANDEM_MEM_REQ, .mem_op = RVT_TANDEM_STORE, .mem_size = size, .addr = addr,
	    .value = value);
}

static inline void new_trace(struct trace *t)
{
	static const unsigned int zeroed[] = {
		CSR_MSTATUS, CSR_MEPC, CSR_MCAUSE, CSR_MTVAL, CSR_MSCRATCH, CSR_FCSR, CSR_MIE,
		CSR_MIDELEG, CSR_MEDELEG,
	};
	unsigned int i;

	memset(t, 0, sizeof(*t));
	rvt_tandem_params_init(&t->params, 64);
	t->options.ram_len = 1;
	t->options.ram[0] = (struct rvt_tandem_range){ 0x80000000, 1 << 20 };
	begin(t);
	REC(t, .op = RVT_TANDEM_STATE_INIT);
	state(t, RVT_TANDEM_PC, BASE);
	state(t, RVT_TANDEM_PRIV, 3);
	for (i = 1; i < 32; i++)
		reg(t, X(i), 0);
	for (i = 0; i < 32; i++)
		reg(t, F(i), 0);
	for (i = 0; i < sizeof(zeroed) / sizeof(zeroed[0]); i++)
		reg(t, zeroed[i], 0);
	reg(t, CSR_MTVEC, HANDLER);
	end(t);
}

static inline void report(void *ctx, const struct rvt_tandem_shadow *shadow, uint64_t number,
			  uint64_t pc, const struct rvt_tandem_group *group, const char *text)
{
	struct trace *t = ctx;

	(void)shadow;
	(void)group;
	(void)number;
	(void)pc;
	strncat(t->text, text, sizeof(t->text) - strlen(t->text) - 1);
}

static inline void verify(struct trace *t)
{
	struct rvt_tandem_reader *reader;

	assert_int_equal(tandem_unicorn_create(&t->params, &t->options.ops, &t->options.ctx), 0);
	t->options.report = report;
	t->options.report_ctx = t;
	assert_int_equal(rvt_tandem_open_memory(t->bytes, t->len, &t->params, &reader), 0);
	assert_int_equal(rvt_tandem_verify(reader, &t->params, &t->options, &t->result), 0);
	rvt_tandem_close(reader);
	tandem_unicorn_destroy(t->options.ctx);
}

/* Whether this build can verify; if not, says so as TAP. */
static inline bool has_golden_model(void)
{
	const struct rvt_tandem_verifier_ops *ops;
	struct rvt_tandem_params params;
	void *ctx;

	rvt_tandem_params_init(&params, 64);
	if (tandem_unicorn_create(&params, &ops, &ctx) == -ENOTSUP) {
		puts("1..0 # SKIP this build has no golden model (libunicorn)");
		return false;
	}
	tandem_unicorn_destroy(ctx);
	return true;
}

#endif
