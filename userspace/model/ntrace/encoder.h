/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Private to the encoder: encoder.c has the rules of chapter 10, encoder-send.c the messages,
 * encoder-hist.c the HIST register, encoder-sifive.c what is beside the flow,
 * encoder-ctte.c what CTTE adds, and encoder-emit.c, below all of them, how messages get out.
 */
#ifndef RVTRACE_NTRACE_ENCODER_H
#define RVTRACE_NTRACE_ENCODER_H

#include <rvtrace/ntrace.h>
#include <ntrace/message.h>

#define RVT_NTRACE_MAX_STACK 1023

/* HIST register. Bits are kept oldest first: the newest is bit 0. */
struct rvt_ntrace_hist {
	uint64_t bits;
	unsigned int n;
	/* With repeated history: .pattern (of .period bits) was seen .count times, and the first
	 * .matched bits of it once more. Then .n is 0. */
	uint64_t pattern;
	unsigned int period;		/* 0: no repetition going on */
	unsigned int matched;
	uint64_t count;
};

/* What the last instruction still owes, until its successor is known. */
enum rvt_ntrace_owed {
	RVT_NTRACE_OWED_NOTHING,
	RVT_NTRACE_OWED_DIRECT,		/* DirectBranch */
	RVT_NTRACE_OWED_INDIRECT,	/* IndirectBranch[Hist] */
	RVT_NTRACE_OWED_RETURN,		/* the same unless it goes to .predicted */
};

enum rvt_ntrace_state {
	RVT_NTRACE_OFF,
	RVT_NTRACE_STARTING,		/* the first ProgTraceSync waits for an address */
	RVT_NTRACE_RUNNING,
	RVT_NTRACE_LOSSY,		/* a message was dropped */
};

/* The last branch message, if nothing was sent since: RepeatBranch counts copies of it. */
struct rvt_ntrace_last_branch {
	bool valid;
	uint8_t tcode, btype;
	uint64_t icnt, hist, target;
	uint64_t index;			/* of CTTE's cache */
	uint64_t repeats;		/* not yet sent */
};

#define RVT_NTRACE_CTTE_COUNTERS 512
#define RVT_NTRACE_CTTE_NOT_TAKEN 1	/* of a counter, at first */
#define RVT_NTRACE_CTTE_TARGETS 64

/* CTTE: what its decoder has, too, and what it has not told yet. */
struct rvt_ntrace_ctte_encoder {
	uint8_t counters[RVT_NTRACE_CTTE_COUNTERS];	/* of branches: 0..3, from 2 on taken */
	uint64_t targets[RVT_NTRACE_CTTE_TARGETS];
	bool valid[RVT_NTRACE_CTTE_TARGETS];
	uint64_t predicted;		/* branches since the last message */
	bool at_sync;			/* a sync has the address of the next instruction */
};

struct rvt_ntrace_encoder {
	struct rvt_ntrace_encoder_config config;
	enum rvt_ntrace_state state;
	enum rvt_ntrace_sync start_reason;
	uint64_t addr_mask;
	uint64_t ref;			/* reference address of U-ADDR */
	uint64_t icnt_halfwords;
	struct rvt_ntrace_hist hist;
	struct rvt_ntrace_last_branch last;

	enum rvt_ntrace_owed owed;
	bool predicted_valid;
	uint64_t predicted;
	bool icnt_sent;			/* since the end of the last run */

	uint64_t stack[RVT_NTRACE_MAX_STACK];
	unsigned int stack_top, stack_depth;

	uint32_t sync_due;		/* bit per enum rvt_ntrace_sync */
	uint64_t sync_period, sync_units;
	uint64_t time;			/* of the last TSTAMP */
	uint32_t ecode;			/* what was lost, until Error is sent */

	bool prv_known;
	uint8_t prv, v;
	bool hcontext_known;
	bool scontext_due, hcontext_due, privilege_due;
	uint64_t scontext, hcontext;
	struct rvt_ntrace_ctte_encoder ctte;
};

/*
 * encoder-emit.c. All are quiet when the encoder is lossy; a message that does not get out makes
 * it so.
 *
 * rvt_ntrace_send - any message but RepeatBranch and Error; SRC and TSTAMP are added. False: it did
 * not get out.
 */
bool rvt_ntrace_send(struct rvt_ntrace_encoder *enc, struct rvt_ntrace_msg *msg);
/* ResourceFull. */
void rvt_ntrace_send_full(struct rvt_ntrace_encoder *enc, unsigned int rcode, uint64_t rdata,
			  uint64_t hrepeat);
/* RepeatBranch, if one is due. */
void rvt_ntrace_send_repeats(struct rvt_ntrace_encoder *enc);
/* Error, if messages were lost and there is room: true if the encoder may go on. */
bool rvt_ntrace_send_error(struct rvt_ntrace_encoder *enc);
/* Forgets everything that a decoder could not know after a synchronisation. */
void rvt_ntrace_encoder_forget(struct rvt_ntrace_encoder *enc);

/* encoder-hist.c. May send ResourceFull. */
void rvt_ntrace_hist_add(struct rvt_ntrace_encoder *enc, bool taken);
/* What the HIST field of the next message is; older bits are sent and the register is cleared. */
uint64_t rvt_ntrace_hist_take(struct rvt_ntrace_encoder *enc);

/* encoder-send.c */
void rvt_ntrace_send_direct(struct rvt_ntrace_encoder *enc, uint64_t target);
void rvt_ntrace_send_indirect(struct rvt_ntrace_encoder *enc, unsigned int btype, uint64_t target);
/* As the two above, but as sync messages; and one between two instructions. */
void rvt_ntrace_send_direct_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync,
				 uint64_t target);
void rvt_ntrace_send_indirect_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync,
				   unsigned int btype, uint64_t target);
void rvt_ntrace_send_sync(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync, uint64_t pc);
void rvt_ntrace_send_correlation(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_evcode evcode);
/* Ownership messages that are due. */
void rvt_ntrace_send_ownership(struct rvt_ntrace_encoder *enc);

/*
 * encoder-ctte.c. rvt_ntrace_ctte_branch - a branch at @pc retired in HTM. @due: a synchronisation
 * is. Returns true when that has to report the branch.
 * rvt_ntrace_ctte_cached - whether a JumpTargetCache message with *index can report a jump to
 * @target; if not, the next one can. rvt_ntrace_send_configuration - Configuration.
 */
bool rvt_ntrace_ctte_branch(struct rvt_ntrace_encoder *enc, uint64_t pc, bool taken, bool due);
bool rvt_ntrace_ctte_cached(struct rvt_ntrace_encoder *enc, uint64_t target, uint64_t *index);
void rvt_ntrace_send_configuration(struct rvt_ntrace_encoder *enc);

static inline bool rvt_ntrace_encoder_is_ctte(const struct rvt_ntrace_encoder *enc)
{
	return enc->config.dialect == RVT_DIALECT_NTRACE_CTTE;
}

static inline bool rvt_ntrace_encoder_is_sifive(const struct rvt_ntrace_encoder *enc)
{
	return enc->config.dialect == RVT_DIALECT_NTRACE_SIFIVE;
}

#endif
