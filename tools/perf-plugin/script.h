/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between the files of `perf rvtrace script`. */
#ifndef PERF_RVTRACE_SCRIPT_H
#define PERF_RVTRACE_SCRIPT_H

#include "itrace.h"
#include "places.h"
#include "view.h"

enum {
	FIELD_COMM = 1u << 0,
	FIELD_PID = 1u << 1,
	FIELD_TID = 1u << 2,
	FIELD_CPU = 1u << 3,
	FIELD_TIME = 1u << 4,
	FIELD_EVENT = 1u << 5,
	FIELD_FLAGS = 1u << 6,
	FIELD_IP = 1u << 7,
	FIELD_SYM = 1u << 8,
	FIELD_SYMOFF = 1u << 9,
	FIELD_DSO = 1u << 10,
	FIELD_ADDR = 1u << 11,
	FIELD_INSN = 1u << 12,
	FIELD_INSNLEN = 1u << 13,
};

enum script_mode { MODE_BRANCHES, MODE_INSNS, MODE_CALLS, MODE_CALLS_RETURNS, MODE_RAW_PC,
		   MODE_ITRACE };

struct script {
	enum script_mode mode;
	unsigned int fields;
	struct view *view;
	struct places *places;
	struct itrace itrace;
	struct itrace_clock *clocks;	/* by cpu */
	uint64_t errors;
	uint64_t lines, max_lines;
};

/* script-fields.c: parses "comm,ip" or "+insn,-dso". 0 or -EINVAL after a message. */
int script_parse_fields(const char *text, unsigned int *fields);

/* script-print.c: each prints one line. */
void print_branch(struct script *script, const struct rvt_lane *lane, const char *flags,
		  uint64_t from, uint64_t to);
void print_insn(struct script *script, const struct rvt_lane *lane, uint64_t pc,
		const uint8_t *code, unsigned int len);
void print_call(struct script *script, const struct rvt_lane *lane, const char *flags,
		uint64_t from,
		uint64_t to, unsigned int depth);
/* The rest of a sample: return addresses, one a line. */
void print_callchain(struct script *script, const struct rvt_lane *lane, uint64_t ip,
		     struct rvt_callstack *stack);
void print_error(struct script *script, const struct rvt_lane *lane, const struct rvt_event *event);

/* script-raw.c: CPU TID PRV PC, as fast as it goes. */
int raw_runs(void *ctx, struct rvt_lane *lane, const struct rvt_run *runs, size_t n);
int raw_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event);
int raw_aux(void *ctx, unsigned int buffer, const struct rvt_aux *aux);

#endif
