/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the E-Trace encoder: its state, and what its files offer one another.
 *	encoder.c		the pipe: which instruction is reported, and why
 *	encoder-report.c	packets, their choice and their fields
 *	encoder-data.c		accesses
 *	encoder-tables.c	return stack, branch predictor, jump target cache, visited code
 */
#ifndef RVTRACE_ETRACE_ENCODER_STATE_H
#define RVTRACE_ETRACE_ENCODER_STATE_H

#include <rvtrace/access.h>
#include <etrace/packet.h>

/* How the hart came to an instruction. */
enum arrival {
	ARRIVED_INFERABLY,
	ARRIVED_BY_RETURN,	/* that went where the return stack said */
	/* from here on the address must be reported */
	ARRIVED_BY_JUMP,	/* uninferable */
	ARRIVED_BY_EMPTY_RETURN, /* nothing on the return stack */
	ARRIVED_BY_255TH_RETURN, /* as predicted, but irets can count no further */
	ARRIVED_BY_WRONG_RETURN, /* not where the return stack said */
};

/* An instruction in the pipe. */
struct stage {
	uint64_t pc;
	uint64_t jump_pc;	/* of the instruction before it, if that was an uninferable jump */
	unsigned int irdepth;	/* depth of the return stack before a wrong return */
	uint8_t itype, halfwords, prv;
	uint8_t arrival;
	bool first;		/* tracing begins with it */
	bool after_trap;	/* it is the first of a trap handler */
	bool precise;		/* privilege or context changed: a synchronisation packet is due */
	bool resync;		/* so it is because of the resynchronisation timer */
	bool notify;
	bool sijump;		/* its target is sequentially inferable */
	bool absolute;		/* a jalr whose target is a constant */
};

/* What follows an instruction. */
enum next {
	NEXT_PLAIN,
	NEXT_TRAP,
	NEXT_PRECISE,
	NEXT_RESYNC,
	NEXT_END,
};

struct return_entry {
	uint64_t pc;
	unsigned int recursions;
};

struct range {
	uint64_t first, last;
};

#define MAX_RANGES 16

#define DATA_BASES 5		/* by size; the last one is of CSRs */
#define MAX_REQUESTS 256

/* What the next access of a size can be sent as a difference from. */
struct base {
	bool address_valid, value_valid, operand_valid;
	uint64_t address, value, operand;
};

struct rvt_etrace_encoder {
	struct rvt_etrace_encoder_config config;
	struct rvt_etrace_codec codec;
	struct rvt_etrace_encoder_stats stats;
	uint32_t options;
	uint16_t index;			/* ESP32: of the next packet */
	bool draft, irets_mode;		/* dialect 0.029; 2.0.5 with its extension */

	/* pipe */
	bool enabled, tracing, lossy, has_held;
	struct stage held;		/* the last instruction that retired */
	bool first;			/* nothing was traced since start() */
	bool mark;			/* notify the next instruction */
	uint8_t prv;
	bool trap_valid, trap_reported;
	struct rvt_trap trap;		/* taken; its handler did not retire yet */
	uint64_t context;
	bool context_changed, context_pending;

	/* unreported branches: a map, or a count once 31 or more were predicted */
	uint32_t map;
	unsigned int branches;		/* in the map, at most 31 */
	uint64_t predicted;		/* correct predictions; 0 after the first wrong one */
	bool all_predicted;
	bool mispredicted;		/* the current branch, after 31 or more right ones */

	uint64_t last_address;
	bool unconfirmed;		/* the target of a jump was reported, and nothing since */
	uint64_t sync_count, sync_period;

	/* implicit returns */
	struct return_entry *returns;
	unsigned int depth, depth_max, oldest, recursion_max;
	bool counter_only;
	unsigned int irets;		/* followed implicitly since the last branch or address */
	bool return_since_call, branch_since_return;
	uint64_t returned_depths;	/* bit per depth (modulo 64) of those returns */
	unsigned int n_ranges;
	struct range ranges[MAX_RANGES]; /* code visited since the last branch or address */

	/* data trace */
	struct base bases[DATA_BASES];
	struct rvt_access requests[MAX_REQUESTS];	/* by lrid, whose data were not sent */
	unsigned int oldest_request, n_requests;

	uint8_t *predictor;
	uint64_t *cache;		/* jump target cache; 1 is no address */
};

/* ---- encoder-tables.c ---- */

int rvt_etrace_tables_create(struct rvt_etrace_encoder *enc);
void rvt_etrace_tables_destroy(struct rvt_etrace_encoder *enc);
/* A synchronisation packet was sent. @start: the first of this trace. */
void rvt_etrace_tables_sync(struct rvt_etrace_encoder *enc, bool start);
void rvt_etrace_returns_push(struct rvt_etrace_encoder *enc, uint64_t pc);
/* Pops; returns whether there was an entry. */
bool rvt_etrace_returns_pop(struct rvt_etrace_encoder *enc, uint64_t *pc);
/* Updates the branch predictor; returns whether it was right. */
bool rvt_etrace_predict(struct rvt_etrace_encoder *enc, uint64_t pc, bool taken);
/* The entry of the jump target cache for a jump. */
unsigned int rvt_etrace_cache_index(const struct rvt_etrace_encoder *enc, uint64_t jump_pc,
				    uint64_t target);
/* All code that was visited is known to the decoder, or told apart by a branch outcome. */
void rvt_etrace_visits_clear(struct rvt_etrace_encoder *enc);
/* Was any of @range visited since? */
bool rvt_etrace_visited(const struct rvt_etrace_encoder *enc, const struct range *range);
void rvt_etrace_visits_add(struct rvt_etrace_encoder *enc, const struct range *range);

/* ---- encoder-data.c ---- */

/* The data of all requests. */
void rvt_etrace_data_flush(struct rvt_etrace_encoder *enc);

/* ---- encoder-report.c ---- */

/* A packet with its encapsulation, and nothing in it. */
struct rvt_etrace_msg rvt_etrace_new_msg(const struct rvt_etrace_encoder *enc,
					 enum rvt_etrace_kind kind);
void rvt_etrace_send(struct rvt_etrace_encoder *enc, const struct rvt_etrace_msg *msg);
/* In bytes; UINT_MAX if there is no such packet. */
unsigned int rvt_etrace_payload_length(const struct rvt_etrace_encoder *enc,
				       const struct rvt_etrace_msg *msg);

void rvt_etrace_count_branch(struct rvt_etrace_encoder *enc, const struct stage *cur);
/* True when the branches must be reported (flow chart: rpt_br). */
bool rvt_etrace_branches_full(const struct rvt_etrace_encoder *enc);
/* The count of predicted branches can grow no further. */
bool rvt_etrace_count_full(const struct rvt_etrace_encoder *enc);
/* Format 0, 1 or 2 with the address of @cur. */
void rvt_etrace_report_address(struct rvt_etrace_encoder *enc, const struct stage *cur,
			       enum next next, bool notify);
/* Format 0 or 1 without address. */
void rvt_etrace_report_branches(struct rvt_etrace_encoder *enc);
/* Format 3: subformat 0; subformat 1 with thaddr = 1 (0.029: always) for enc->trap. */
void rvt_etrace_report_start(struct rvt_etrace_encoder *enc, const struct stage *cur);
void rvt_etrace_report_handler(struct rvt_etrace_encoder *enc, const struct stage *cur);
/* Subformat 1 with thaddr = 0 for enc->trap. */
void rvt_etrace_report_trap(struct rvt_etrace_encoder *enc, uint64_t address);
void rvt_etrace_report_context(struct rvt_etrace_encoder *enc);
void rvt_etrace_report_support(struct rvt_etrace_encoder *enc, enum rvt_etrace_qual_status qual);

static inline bool rvt_etrace_is_branch(const struct stage *cur)
{
	return cur->itype == RVT_ITYPE_BRANCH_TAKEN || cur->itype == RVT_ITYPE_BRANCH_NOT_TAKEN;
}

static inline bool rvt_etrace_has_option(const struct rvt_etrace_encoder *enc, uint32_t option)
{
	return enc->options & option;
}

#endif
