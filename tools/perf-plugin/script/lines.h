/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of `perf rvtrace script` share. */
#ifndef PERF_RVTRACE_SCRIPT_LINES_H
#define PERF_RVTRACE_SCRIPT_LINES_H

#include <stdio.h>
#include <rvtrace/access.h>
#include "common/branches.h"
#include "common/disasm.h"
#include "common/insn-code.h"
#include "common/itrace.h"
#include "common/places.h"
#include "common/srcline.h"
#include "common/view.h"

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
	FIELD_DISASM = 1u << 14,
	FIELD_PERIOD = 1u << 15,
	FIELD_SRCLINE = 1u << 16,
	FIELD_IPC = 1u << 17,
	FIELD_BRSTACK = 1u << 18,
	FIELD_BRSTACKSYM = 1u << 19,
	FIELD_BRSTACKOFF = 1u << 20,
	FIELD_CALLINDENT = 1u << 21,
	FIELD_DATA = 1u << 22,
};

#define FIELDS_BRSTACK (FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF)

#define SCRIPT_CPUS 4096	/* those beyond count as the first */

enum script_mode { MODE_ITRACE, MODE_INSNS, MODE_CALLS, MODE_CALLS_RETURNS, MODE_RAW_PC,
		   MODE_DATA };

/* What times are counted from: nothing, the first line or the line before. */
enum script_times { TIMES_WHOLE, TIMES_SINCE_FIRST, TIMES_SINCE_LAST };

/* Instructions and cycles between two time stamps of one cpu, for -F ipc. */
struct pace {
	uint64_t from;		/* the first of them, ns */
	uint64_t shown_insns, shown_cycles;	/* not printed yet */
};

struct script {
	FILE *out;
	bool slice;	/* .out is a file of our own */
	bool json;	/* lines are objects */
	enum script_mode mode;
	unsigned int fields;
	struct view *view;
	struct places *places;
	struct srclines *srclines;
	struct disasm *disasm;
	struct branches *branches;
	const char *symbols, *dsos;	/* filters; NULL: all */
	const char *graph;	/* the call trace below these functions; NULL: all of it */
	bool inside;		/* the transfer at hand is below them */
	bool any;		/* something passed the filters */
	struct itrace itrace;
	struct itrace_clock *clocks;	/* by cpu */
	struct pace *paces;		/* by cpu */
	enum script_times times;
	bool has_base;
	uint64_t base;			/* what the next line's time is counted from, ns */
	uint64_t clock_hz;		/* of the harts, for -F ipc; 0: not known */
	uint64_t errors, skipped;
	uint64_t lines, max_lines;
};

/* One line of output. */
struct script_sample {
	const struct rvt_hart_flow *hart;
	const char *event;
	const char *flags;
	uint64_t ip;
	uint64_t addr;		/* of a branch: where it goes */
	bool has_addr;
	uint64_t period;
	uint8_t code[INSN_CODE_BYTES];	/* of the instruction */
	unsigned int len;		/* of it, bytes; 0: not known */
	bool has_code;
	struct rvt_callstack *stack;	/* may be NULL */
	unsigned int depth;	/* for callindent */
	bool has_depth;		/* of a call trace: it is known */
};

/*
 * script/lines.c: opens what the fields need, for one thread. Returns 0, -ENOMEM, or -EINVAL after
 * a message; call script_close() in each case.
 */
int script_open(struct script *script, const struct view_options *options);
void script_close(struct script *script);
/*
 * Fills the call-backs of @sink but .warning. The caller destroys *@transfers, which may be NULL,
 * by transfers_destroy(). Returns 0 or -ENOMEM.
 */
int script_sink(struct script *script, struct transfers **transfers, struct rvt_session_sink *sink);
/* Returns whether no line depends on those before, so that several threads can print them. */
bool script_in_slices(const struct script *script);

/*
 * script/slices.c: prints all lines on several threads, into script->out. Returns 0 or what
 * rvt_session_run() returned.
 */
int script_run_slices(struct script *script, const struct view_options *options);

/* script/fields.c: parses "comm,ip" or "+insn,-dso". Returns 0, or -EINVAL after a message. */
int script_parse_fields(const char *text, unsigned int *fields);
/*
 * Returns whether the list "A,B,..." has the function's name, as in the source or for the linker.
 */
bool script_in_names(const char *names, const struct place *place);
/* Returns whether --symbols and --dsos let @addr through. */
bool script_wants(struct script *script, const struct rvt_hart_flow *hart, uint64_t addr);
bool script_wants_place(const struct script *script, const struct place *place);
/* Returns true, and counts, while --itrace=s has events to leave out. */
bool script_skips(struct script *script);

/* script/print.c: each prints one sample. */
void print_sample(struct script *script, const struct script_sample *sample);
/* Prints a call or return, its callee indented. */
void print_call(struct script *script, const struct script_sample *sample);
/* Prints the rest of a sample: return addresses, one a line. */
void print_callchain(struct script *script, const struct rvt_hart_flow *hart, uint64_t ip,
		     struct rvt_callstack *stack);
void print_error(struct script *script, const struct rvt_hart_flow *hart,
		 const struct rvt_event *event);
/* Prints a MARK event. */
void print_mark(struct script *script, const struct rvt_hart_flow *hart,
		const struct rvt_event *event);
/* Prints an ACCESS event. */
void print_access(struct script *script, const struct rvt_hart_flow *hart,
		  const struct rvt_access *access);
/* For -F ipc: notes the span of time that the flow is in, if it is a new one, for the next line. */
void script_note_pace(struct script *script, const struct rvt_hart_flow *hart);

/* script/json.c: each prints the same as an object of this type. */
void json_sample(struct script *script, const struct script_sample *sample, const char *type);
void json_error(struct script *script, const struct rvt_hart_flow *hart,
		const struct rvt_event *event);
void json_mark(struct script *script, const struct rvt_hart_flow *hart,
	       const struct rvt_event *event);
void json_access(struct script *script, const struct rvt_hart_flow *hart,
		 const struct rvt_access *access);

/* script/raw.c: print CPU TID PRV PC of each instruction, as fast as possible. */
int raw_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n);
int raw_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event);
int raw_aux(void *ctx, unsigned int buffer, const struct rvt_aux *aux);

#endif
