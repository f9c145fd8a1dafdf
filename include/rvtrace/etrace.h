/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * E-Trace 0.029 (draft), 2.0 and 2.0.5 (draft extensions): packets and encoder. Decoding to flow is
 * rvtrace/stream.h.
 */
#ifndef RVTRACE_ETRACE_H
#define RVTRACE_ETRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/access.h>
#include <rvtrace/linkage.h>
#include <rvtrace/params.h>
#include <rvtrace/retire.h>

RVT_BEGIN_DECLS

/* ---- packets ---- */

/* One per layout; the format and subformat values depend on the dialect. */
enum rvt_etrace_kind {
	RVT_ETRACE_SYNC_START,		/* format 3, subformat 0 */
	RVT_ETRACE_SYNC_TRAP,		/* format 3, subformat 1 */
	RVT_ETRACE_SYNC_CONTEXT,	/* format 3, subformat 2 */
	RVT_ETRACE_SYNC_SUPPORT,	/* format 3, subformat 3 */
	RVT_ETRACE_ADDRESS,		/* format 2 */
	RVT_ETRACE_BRANCH_ADDRESS,	/* format 1 with 1 to 31 branches */
	RVT_ETRACE_BRANCH_MAP,		/* format 1, full map, no address */
	RVT_ETRACE_COUNT,		/* correctly predicted branches, then a failed one */
	RVT_ETRACE_COUNT_ADDRESS,	/* correctly predicted branches and an address */
	RVT_ETRACE_CACHE_BRANCHES,	/* jump target cache index and branch map */
	RVT_ETRACE_CACHE,		/* jump target cache index */
	/* te_data, from here on */
	RVT_ETRACE_DATA_ACCESS,		/* load or store, unified */
	RVT_ETRACE_DATA_ATOMIC,		/* unified */
	RVT_ETRACE_DATA_CAS_FAILURE,	/* compare-and-swap that failed, with operand */
	RVT_ETRACE_DATA_CSR,
	RVT_ETRACE_DATA_SPLIT_LOAD,	/* requests */
	RVT_ETRACE_DATA_SPLIT_ATOMIC,
	RVT_ETRACE_DATA_RESPONSE,	/* to either; 2.0: to loads */
	RVT_ETRACE_DATA_ATOMIC_RESPONSE, /* 2.0 */
	RVT_ETRACE_KINDS
};

/* Fields by their names in the specifications (2.0's where a later one renamed them). */
enum rvt_etrace_field {
	RVT_ETRACE_F_FORMAT, RVT_ETRACE_F_SUBFORMAT,
	RVT_ETRACE_F_BRANCH, RVT_ETRACE_F_PRIVILEGE, RVT_ETRACE_F_TIME, RVT_ETRACE_F_CONTEXT,
	RVT_ETRACE_F_ECAUSE, RVT_ETRACE_F_INTERRUPT, RVT_ETRACE_F_THADDR,
	RVT_ETRACE_F_ADDRESS,
	RVT_ETRACE_F_TVAL,		/* 0.029: tvalepc */
	RVT_ETRACE_F_NOTIFY, RVT_ETRACE_F_UPDISCON,
	RVT_ETRACE_F_IRREPORT,		/* 0.029: irfail */
	RVT_ETRACE_F_IRDEPTH, RVT_ETRACE_F_IRETS,
	RVT_ETRACE_F_BRANCHES, RVT_ETRACE_F_BRANCH_MAP,
	RVT_ETRACE_F_BRANCH_COUNT, RVT_ETRACE_F_BRANCH_FMT, RVT_ETRACE_F_BPSUCCESS,
	RVT_ETRACE_F_INDEX,
	/* support */
	RVT_ETRACE_F_IENABLE,		/* 0.029: enable */
	RVT_ETRACE_F_ENCODER_MODE, RVT_ETRACE_F_QUAL_STATUS,
	RVT_ETRACE_F_IOPTIONS,		/* 0.029: options */
	RVT_ETRACE_F_DENABLE, RVT_ETRACE_F_DLOSS, RVT_ETRACE_F_DOPTIONS,
	/* standard support packet of 2.0.5 */
	RVT_ETRACE_F_SIJUMP, RVT_ETRACE_F_IMPLICIT_RETURN, RVT_ETRACE_F_BRANCH_PREDICTOR,
	RVT_ETRACE_F_JUMP_TARGET_CACHE, RVT_ETRACE_F_IMPLICIT_EXCEPT, RVT_ETRACE_F_FULL_IADDRESS,
	RVT_ETRACE_F_RESYNC_DISABLED, RVT_ETRACE_F_IRET_EXT, RVT_ETRACE_F_TIME_WIDTH,
	RVT_ETRACE_F_F0S_WIDTH, RVT_ETRACE_F_RETURN_STACK_SIZE, RVT_ETRACE_F_CALL_COUNTER_SIZE,
	RVT_ETRACE_F_BPRED_SIZE, RVT_ETRACE_F_CACHE_SIZE, RVT_ETRACE_F_MMACAS_EXT,
	RVT_ETRACE_F_NOADDR, RVT_ETRACE_F_NODATA, RVT_ETRACE_F_FULL_DADDRESS,
	RVT_ETRACE_F_FULL_DATA,
	/* te_data */
	RVT_ETRACE_F_SUBTYPE, RVT_ETRACE_F_SIZE, RVT_ETRACE_F_LRID, RVT_ETRACE_F_DIFF,
	RVT_ETRACE_F_RESP, RVT_ETRACE_F_OP_LEN, RVT_ETRACE_F_OPERAND, RVT_ETRACE_F_DATA_LEN,
	RVT_ETRACE_F_DATA, RVT_ETRACE_F_ADDR_MSBS, RVT_ETRACE_F_ADDR_LSBS,
	RVT_ETRACE_FIELDS
};

enum rvt_etrace_qual_status {
	RVT_ETRACE_NO_CHANGE = 0,
	RVT_ETRACE_ENDED_REP = 1,
	RVT_ETRACE_TRACE_LOST = 2,
	RVT_ETRACE_ENDED_NTR = 3,	/* 0.029: ended_upd */
};

/* One te_inst or te_data packet with its encapsulation. */
struct rvt_etrace_msg {
	uint64_t offset;	/* of its header in the stream */
	uint32_t len_bytes;	/* with encapsulation */
	uint8_t kind;		/* enum rvt_etrace_kind */
	uint8_t flow;		/* flow bits of the header */
	uint8_t type;		/* type field of the encapsulation */
	bool extend;		/* the encapsulation has a timestamp */
	uint16_t src;
	/*
	 * What fields say whose bit on the wire depends on the bit before it (msg->field[] has the
	 * bits as they are on the wire). not_taken: 0.029: the address is that of a branch which
	 * is not taken; else: of such a branch, or of no branch.
	 */
	bool notify, updiscon, irreport, not_taken;
	uint64_t timestamp;	/* timestamp_bytes wide */
	uint64_t present;	/* bit per enum rvt_etrace_field */
	uint64_t field[RVT_ETRACE_FIELDS]; /* values of absent fields are undefined */
};

/* ---- encoder (chapter "Reference Compressed Branch Trace Algorithm") ---- */

struct rvt_etrace_encoder;

struct rvt_etrace_encoder_config {
	/* Dialect, options, all widths and sizes, framing. Copied by create(). */
	const struct rvt_params *params;
	unsigned int src, flow;	/* of the encapsulation */
	bool context;		/* report context changes (needs nocontext_p = 0) */
	bool context_precise;	/* with a synchronisation packet instead of a context packet */
	unsigned int sync_mode;	/* trTeInstSyncMode: 0 off, 1 packets, 2 clocks, 3 half-words */
	unsigned int sync_max;	/* trTeInstSyncMax: period is 2^(n+4) units */
	/*
	 * Encapsulation timestamps (with now and timestamp_bytes) in every packet, not only in
	 * those of format 3, which are all that begin something.
	 */
	bool timestamp_all;
	/*
	 * Synchronisation packets leave the jump target cache as it is, of which 0.029 says
	 * nothing; else they empty it (2.0). Decoders understand both.
	 */
	bool cache_kept;
	/* Branch prediction count that is reported with an address (0: what the dialect says). */
	uint32_t max_branch_count;
	/* Data packets: no differences of addresses, no compressed values. */
	bool data_full_address, data_full_value;
	/*
	 * Takes one whole encapsulated packet. Returns 0, or -ENOSPC when there is no room: the
	 * encoder then drops packets until room() says there is some, and restarts with a
	 * support packet (trace_lost) and a synchronisation packet.
	 */
	int (*emit)(void *ctx, const uint8_t *bytes, size_t len);
	bool (*room)(void *ctx);	/* NULL: always */
	uint64_t (*now)(void *ctx);	/* time fields and timestamps; NULL without */
	void *ctx;
};

/*
 * Returns 0, -ENOMEM, -EINVAL: a value out of its range, or one that no support packet can say
 * (some of the options that a bit of ioptions stands for; 2.0.5: sizes above those of its fields, a
 * time width that is no multiple of 16). Options without a bit are as @config->params has them.
 */
int rvt_etrace_encoder_create(const struct rvt_etrace_encoder_config *config,
			      struct rvt_etrace_encoder **enc);
void rvt_etrace_encoder_destroy(struct rvt_etrace_encoder *enc);
/*
 * Tracing starts (or resumes after a filter or debug mode). Sends a support packet if the encoder
 * was disabled; a synchronisation packet follows with the first instruction.
 */
void rvt_etrace_encoder_start(struct rvt_etrace_encoder *enc);
void rvt_etrace_encoder_retire(struct rvt_etrace_encoder *enc, const struct rvt_retire *run);
/* One call for each trap, after the runs that retired before it. */
void rvt_etrace_encoder_trap(struct rvt_etrace_encoder *enc, const struct rvt_trap *trap);
/* The context is @value from the next instruction on. */
void rvt_etrace_encoder_context(struct rvt_etrace_encoder *enc, uint64_t value);
/*
 * An access to memory or a CSR, of an instruction that has retired or is about to (with
 * data_width_p); what the parameters say that the encoder has no packet for is left out. Not
 * .error.
 */
void rvt_etrace_encoder_access(struct rvt_etrace_encoder *enc, const struct rvt_access *access);
/* trigger[2]: the first instruction of the next run is reported with notify. */
void rvt_etrace_encoder_mark(struct rvt_etrace_encoder *enc);
/* Hart clocks passed, for trTeInstSyncMode 2. */
void rvt_etrace_encoder_clocks(struct rvt_etrace_encoder *enc, uint64_t clocks);
/*
 * Tracing stops after the last retired run: reports its last instruction and sends a support
 * packet. @disabled: the encoder is switched off (ienable = 0), not just the filters.
 */
void rvt_etrace_encoder_stop(struct rvt_etrace_encoder *enc, bool disabled);
/* True while packets are being dropped (between an -ENOSPC and the restart). */
bool rvt_etrace_encoder_lossy(const struct rvt_etrace_encoder *enc);

struct rvt_etrace_encoder_stats {
	uint64_t packets[RVT_ETRACE_KINDS];
	uint64_t payload_bytes;		/* without encapsulation */
	uint64_t bytes;
};
void rvt_etrace_encoder_stats(const struct rvt_etrace_encoder *enc,
			      struct rvt_etrace_encoder_stats *stats);

RVT_END_DECLS

#endif
