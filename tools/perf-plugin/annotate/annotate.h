/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * `perf rvtrace annotate`: how often each instruction was executed, and when branches were taken.
 */
#ifndef PERF_RVTRACE_ANNOTATE_H
#define PERF_RVTRACE_ANNOTATE_H

#include <rvtrace/insn.h>
#include "common/places.h"
#include "common/transfers.h"
#include "common/view.h"

struct code_insn {
	uint32_t offset;	/* in its function, bytes */
	uint8_t len;		/* bytes; 2 if it is no instruction */
	uint8_t iclass;		/* enum rvt_insn_class */
	uint64_t count, taken;	/* .taken: of branches */
	uint64_t time;		/* ns: its share of the time of its straight lines */
};

/* A function that called this one, or that an instruction of this one called or jumped to. */
struct code_caller {
	struct code_caller *next;
	const char *name, *dso;
	uint64_t offset;	/* of the instruction that calls; 0 of a caller */
	uint64_t count;
};

struct code_function {
	/* .dso: without directories; the tree's key are .name, .dso and .vaddr */
	const char *name, *linkage, *dso;
	uint64_t vaddr;		/* address of its beginning in the ELF file (see struct place) */
	const char *path;	/* of the ELF file; NULL: none */
	bool kernel;
	uint64_t size;		/* bytes */
	uint8_t *bytes;		/* its code, as it first ran */
	struct code_line *lines;
	struct code_caller *callers;	/* the most frequent first, once all is gathered */
	struct code_caller *callees;	/* in the same order */
	uint64_t entered;
	uint64_t count, time;	/* of all instructions */
	struct code_insn *insns;
	size_t n;
};

/* Functions of a recording, with their code. */
struct code {
	struct view *view;
	struct places *places;
	const char *symbol, *dsos;	/* only these functions; NULL: all */
	bool uses_index;	/* decode only what an index, if any, says */
	struct code_function **list;	/* the function that executed most comes first */
	size_t n;
	uint64_t count;		/* instructions of all functions, wanted or not */
	bool timed;
	uint64_t errors;
	struct code_state *state;	/* while gathering */
};

/* annotate/gather.c: discards what was gathered. */
void code_forget(struct code *code);
/*
 * annotate/gather.c: decodes the recording, and fills in .list and what follows. Returns 0 or
 * -errno.
 */
int code_gather(struct code *code);
/*
 * For callers that decode for other purposes, too: code_line() and code_transfer() are .line and
 * .transfer of a struct rvt_transfers_ops whose .ctx is @code. code_begin() comes before and
 * code_end() after, in any case. They return 0 or -ENOMEM.
 */
int code_begin(struct code *code);
int code_line(void *ctx, struct rvt_hart_flow *hart, const struct rvt_straight_line *line,
	      struct rvt_callstack *stack);
int code_transfer(void *ctx, struct rvt_hart_flow *hart, const struct rvt_transfer *transfer,
		  struct rvt_callstack *stack);
int code_end(struct code *code);
/* Frees what was gathered. */
void code_free(struct code *code);
/* Returns the place of an instruction, for srclines_find(). */
struct place code_place(const struct code_function *function, const struct code_insn *insn);
/*
 * Returns what the branch did: "never", "always", or in @text the share in percent; "" if it is no
 * branch.
 */
const char *code_taken(const struct code_insn *insn, char text[16]);

struct sources;

/*
 * annotate/source.c: returns the text of line @line (from 1 on) of @file, which it looks for below
 * @symfs (directories, separated by ':'; may be NULL) and at its own path. NULL: not found. Valid
 * as long as @sources.
 */
struct sources *sources_create(const char *symfs);
void sources_destroy(struct sources *sources);
const char *sources_line(struct sources *sources, const char *file, int line);

#endif
