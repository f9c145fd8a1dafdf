/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* An N-Trace encoder on a bench: what goes in, and what came out. For encoder tests. */
#ifndef TESTS_NTRACE_BENCH_H
#define TESTS_NTRACE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/ntrace.h>

struct trace {
	struct rvt_ntrace_encoder_config config;
	struct rvt_ntrace_encoder *enc;
	uint8_t bytes[4096];
	size_t len;
	size_t limit;		/* emit refuses beyond */
	bool no_room;
	uint64_t now;
};

/* 1.0, XLEN 64, no options. The encoder is not created yet: a test can change .config first. */
struct trace *trace_new(enum rvt_mode mode);
void trace_start(struct trace *t, enum rvt_ntrace_sync sync);
/* What was sent since the last call is exactly @text: one directive a line. */
void trace_expect(struct trace *t, const char *text);
void trace_end(struct trace *t);
/* @n instructions of @halfwords each from @pc on, in M-mode; the last is an @itype. */
void trace_retire(struct trace *t, uint64_t pc, unsigned int n, unsigned int halfwords,
		  enum rvt_itype itype);
/* One instruction of 32 bits with this privilege mode. */
void trace_retire_as(struct trace *t, uint64_t pc, enum rvt_itype itype, unsigned int prv,
		     unsigned int v);
void trace_trap(struct trace *t, bool interrupt, uint64_t epc, uint64_t handler, unsigned int prv);

#define NONE RVT_ITYPE_NONE
#define TAKEN RVT_ITYPE_BRANCH_TAKEN
#define NOT_TAKEN RVT_ITYPE_BRANCH_NOT_TAKEN

#endif
