// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "model/ntrace/assemble.h"
#include "ntrace-bench.h"

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct trace *t = ctx;

	if (t->len + len > t->limit)
		return -ENOSPC;
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
	return 0;
}

static bool room(void *ctx)
{
	return !((struct trace *)ctx)->no_room;
}

static uint64_t now(void *ctx)
{
	return ((struct trace *)ctx)->now;
}

struct trace *trace_new(enum rvt_mode mode)
{
	struct trace *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->limit = sizeof(t->bytes);
	t->config = (struct rvt_ntrace_encoder_config){
		.dialect = RVT_DIALECT_NTRACE_1_0, .mode = mode, .xlen = 64,
		.icnt_bits = 22, .hist_bits = 32, .emit = emit, .room = room, .now = now, .ctx = t,
	};
	return t;
}

void trace_start(struct trace *t, enum rvt_ntrace_sync sync)
{
	if (!t->enc)
		assert_int_equal(rvt_ntrace_encoder_create(&t->config, &t->enc), 0);
	rvt_ntrace_encoder_start(t->enc, sync);
}

void trace_expect(struct trace *t, const char *text)
{
	struct rvt_params params = { .size = sizeof(params),
		.xlen = 64, .dialect = t->config.dialect, .src_bits = t->config.src_bits,
	};
	uint8_t expected[4096];
	size_t len = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");
		char line[300], error[200];
		int ret;

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		ret = rvt_ntrace_assemble(&params, line, expected + len, sizeof(expected) - len,
					  error, sizeof(error));
		if (ret < 0)
			fail_msg("%s: %s", line, error);
		len += ret;
		text += n + (text[n] == '\n');
	}
	assert_int_equal(t->len, len);
	assert_memory_equal(t->bytes, expected, len);
	t->len = 0;
}

void trace_end(struct trace *t)
{
	rvt_ntrace_encoder_destroy(t->enc);
	free(t);
}

void trace_retire(struct trace *t, uint64_t pc, unsigned int n, unsigned int halfwords,
		  enum rvt_itype itype)
{
	struct rvt_retire run = {
		.first_pc = pc, .last_pc = pc + 2 * halfwords * (n - 1), .insns = n,
		.halfwords = n * halfwords, .last_halfwords = halfwords, .itype = itype, .prv = 3,
	};

	rvt_ntrace_encoder_retire(t->enc, &run);
}

void trace_retire_as(struct trace *t, uint64_t pc, enum rvt_itype itype, unsigned int prv,
		     unsigned int v)
{
	struct rvt_retire run = {
		.first_pc = pc, .last_pc = pc, .insns = 1, .halfwords = 2, .last_halfwords = 2,
		.itype = itype, .prv = prv, .v = v,
	};

	rvt_ntrace_encoder_retire(t->enc, &run);
}

void trace_trap(struct trace *t, bool interrupt, uint64_t epc, uint64_t handler, unsigned int prv)
{
	struct rvt_trap trap = {
		.interrupt = interrupt, .epc = epc, .handler = handler, .prv = prv,
	};

	rvt_ntrace_encoder_trap(t->enc, &trap);
}
