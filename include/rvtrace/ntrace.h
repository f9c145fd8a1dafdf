/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * N-Trace 1.0.0_rc7, 1.0, and dialects of chips: messages, encoder. Decoding to flow is
 * rvtrace/stream.h.
 */
#ifndef RVTRACE_NTRACE_H
#define RVTRACE_NTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/linkage.h>
#include <rvtrace/params.h>
#include <rvtrace/retire.h>

RVT_BEGIN_DECLS

/* ---- messages ---- */

enum rvt_ntrace_tcode {
	RVT_NTRACE_OWNERSHIP = 2,
	RVT_NTRACE_DIRECT_BRANCH = 3,
	RVT_NTRACE_INDIRECT_BRANCH = 4,
	RVT_NTRACE_ERROR = 8,
	RVT_NTRACE_PROG_TRACE_SYNC = 9,
	RVT_NTRACE_DIRECT_BRANCH_SYNC = 11,
	RVT_NTRACE_INDIRECT_BRANCH_SYNC = 12,
	RVT_NTRACE_RESOURCE_FULL = 27,
	RVT_NTRACE_INDIRECT_BRANCH_HIST = 28,
	RVT_NTRACE_INDIRECT_BRANCH_HIST_SYNC = 29,
	RVT_NTRACE_REPEAT_BRANCH = 30,
	RVT_NTRACE_PROG_TRACE_CORRELATION = 33,
	/* SiFive before 1.0 */
	RVT_NTRACE_DATA_ACQUISITION = 7,
	RVT_NTRACE_AUX_ACCESS_WRITE = 23,
	RVT_NTRACE_IN_CIRCUIT_TRACE = 34,
	RVT_NTRACE_IN_CIRCUIT_TRACE_SYNC = 35,
	/* CTTE */
	RVT_NTRACE_DATA_WRITE = 5,
	RVT_NTRACE_DATA_READ = 6,
	RVT_NTRACE_DATA_WRITE_SYNC = 13,
	RVT_NTRACE_DATA_READ_SYNC = 14,
	RVT_NTRACE_BRANCH_PREDICTION = 56,
	RVT_NTRACE_JUMP_TARGET_CACHE = 57,
	RVT_NTRACE_CONFIGURATION = 58,
};

enum rvt_ntrace_sync {
	RVT_NTRACE_SYNC_EXT_TRIGGER = 0,
	RVT_NTRACE_SYNC_RESET_EXIT = 1,
	RVT_NTRACE_SYNC_PERIODIC = 2,
	RVT_NTRACE_SYNC_DEBUG_EXIT = 3,
	RVT_NTRACE_SYNC_ICNT_FULL = 4,
	RVT_NTRACE_SYNC_TRACE_ENABLE = 5,
	RVT_NTRACE_SYNC_TRACE_EVENT = 6,
	RVT_NTRACE_SYNC_FIFO_OVERRUN = 7,
	RVT_NTRACE_SYNC_POWER_DOWN_EXIT = 9,
	RVT_NTRACE_SYNC_REQUEST = 14,		/* CTTE: on request */
};

/* What an in-circuit trace message of SiFive reports (CKSRC). */
enum rvt_ntrace_cksrc {
	RVT_NTRACE_CK_CONTROL = 0,
	RVT_NTRACE_CK_TRIGGER = 8,
	RVT_NTRACE_CK_CALL = 9,
	RVT_NTRACE_CK_EXCEPTION = 10,
	RVT_NTRACE_CK_INTERRUPT = 11,
	RVT_NTRACE_CK_CONTEXT = 13,
	RVT_NTRACE_CK_WATCHPOINT = 14,
	RVT_NTRACE_CK_PC_SAMPLE = 15,
};

enum rvt_ntrace_evcode {
	RVT_NTRACE_EV_DEBUG = 0,
	RVT_NTRACE_EV_LOW_POWER = 1,
	RVT_NTRACE_EV_TRACE_DISABLED = 4,
	RVT_NTRACE_EV_RESET = 8,		/* SiFive: the hart goes into reset */
};

/* Fields by their specification names; `present` says which a message has. */
enum rvt_ntrace_field {
	RVT_NTRACE_F_TCODE, RVT_NTRACE_F_SRC, RVT_NTRACE_F_SYNC, RVT_NTRACE_F_BTYPE,
	RVT_NTRACE_F_ICNT, RVT_NTRACE_F_UADDR, RVT_NTRACE_F_FADDR, RVT_NTRACE_F_HIST,
	RVT_NTRACE_F_ETYPE, RVT_NTRACE_F_ECODE, RVT_NTRACE_F_RCODE, RVT_NTRACE_F_RDATA,
	RVT_NTRACE_F_HREPEAT, RVT_NTRACE_F_BCNT, RVT_NTRACE_F_EVCODE, RVT_NTRACE_F_CDF,
	RVT_NTRACE_F_PROCESS, RVT_NTRACE_F_TSTAMP,
	RVT_NTRACE_F_IDTAG, RVT_NTRACE_F_DQDATA, RVT_NTRACE_F_ADDR, RVT_NTRACE_F_DATA,
	RVT_NTRACE_F_CKSRC, RVT_NTRACE_F_CKDF, RVT_NTRACE_F_CKDATA0, RVT_NTRACE_F_CKDATA1,
	/* ProgTraceCorrelation with CDF 2 or 3, in place of HIST */
	RVT_NTRACE_F_CDATA1, RVT_NTRACE_F_CDATA2, RVT_NTRACE_F_CDATA3,
	/* CTTE */
	RVT_NTRACE_F_JIDX, RVT_NTRACE_F_CFGVER, RVT_NTRACE_F_CAPS, RVT_NTRACE_F_ENAB,
	RVT_NTRACE_F_PARAM0, RVT_NTRACE_F_PARAM1, RVT_NTRACE_F_PARAM2, RVT_NTRACE_F_PARAM3,
	RVT_NTRACE_F_DSZ, RVT_NTRACE_F_ELSZ,
	RVT_NTRACE_FIELDS
};

struct rvt_ntrace_msg {
	uint64_t offset;	/* of its first byte in the stream */
	uint32_t len_bytes;
	uint64_t present;	/* bit per enum rvt_ntrace_field */
	uint8_t bits[RVT_NTRACE_FIELDS]; /* variable fields: payload bits (MSB extension) */
	uint64_t field[RVT_NTRACE_FIELDS];
};

/* ---- encoder (chapter 10) ---- */

struct rvt_ntrace_encoder;

struct rvt_ntrace_encoder_config {
	enum rvt_dialect dialect;	/* RVT_DIALECT_NTRACE_* */
	enum rvt_mode mode;		/* BTM or HTM */
	unsigned int xlen;
	unsigned int options;		/* RVT_OPT_* that N-Trace has */
	/* With RVT_OPT_IMPLICIT_RETURN: 1..3 and 1..32; SiFive: 1 and 1..1023. */
	unsigned int implicit_return_mode;
	unsigned int return_stack_depth;
	unsigned int src_bits, src;
	bool context;			/* emit Ownership */
	enum rvt_timestamp timestamp;
	unsigned int sync_mode;		/* trTeInstSyncMode 0..3 */
	unsigned int sync_max;		/* trTeInstSyncMax: period is 2^(n+4) units */
	/*
	 * Width of the I-CNT counter, 4..22. I-CNT is sent between two runs: a single run that is
	 * longer than the counter makes a larger I-CNT, and must be shorter than 2^22.
	 */
	unsigned int icnt_bits;
	unsigned int hist_bits;		/* HTM: width of HIST with stop bit, 2..32 */
	/* With RVT_OPT_REPEATED_HISTORY, 2..18; SiFive: of its counts of branches. */
	unsigned int hrepeat_bits;
	/* <= 18; 0: no RepeatBranch messages; SiFive, and CTTE with branch prediction: 0 */
	unsigned int bcnt_bits;
	/* CTTE: a Configuration message precedes the first synchronisation (trTeSendConfig) */
	bool configuration;
	/* CTTE: a synchronisation has history that is pending, else ResourceFull (InstEnIbhs) */
	bool hist_sync;
	/*
	 * Takes one whole message. Returns 0, or -ENOSPC when there is no room: the encoder then
	 * drops messages until room() says there is some, and restarts with Error and SYNC=7.
	 */
	int (*emit)(void *ctx, const uint8_t *bytes, size_t len);
	bool (*room)(void *ctx);	/* NULL: always */
	uint64_t (*now)(void *ctx);	/* timestamp; NULL without timestamps */
	void *ctx;
};

/* Returns 0, -EINVAL (a value out of its range), -ENOMEM. */
int rvt_ntrace_encoder_create(const struct rvt_ntrace_encoder_config *config,
			      struct rvt_ntrace_encoder **enc);
void rvt_ntrace_encoder_destroy(struct rvt_ntrace_encoder *enc);
/*
 * Tracing starts (or resumes after a filter or debug mode): a ProgTraceSync with @sync is sent
 * when the first instruction retires (or traps), with its address. Without a stop before, as at a
 * reset, that message also reports what retired up to here.
 */
void rvt_ntrace_encoder_start(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync);
void rvt_ntrace_encoder_retire(struct rvt_ntrace_encoder *enc, const struct rvt_retire *run);
void rvt_ntrace_encoder_trap(struct rvt_ntrace_encoder *enc, const struct rvt_trap *trap);
/* scontext or hcontext was written: an Ownership message precedes the next run's messages. */
void rvt_ntrace_encoder_context(struct rvt_ntrace_encoder *enc, bool hcontext, uint64_t value);
/* Trace event / external trigger at the next instruction: a sync with SYNC=6 or 0; CTTE: or 14. */
void rvt_ntrace_encoder_mark(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_sync sync);
/* Hart clocks passed, for trTeInstSyncMode 2. */
void rvt_ntrace_encoder_clocks(struct rvt_ntrace_encoder *enc, uint64_t clocks);
/*
 * Tracing stops: everything pending is sent with a ProgTraceCorrelation. @next_pc is where the hart
 * goes on (a pending indirect jump, branch or trap is completed with it).
 */
void rvt_ntrace_encoder_stop(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_evcode evcode,
			     uint64_t next_pc);
/*
 * SiFive only, between the first and the last message: -EINVAL otherwise, else 0. An in-circuit
 * trace message of what happened at @pc, with *@value if that is not NULL (of a CALL: its target);
 * and a DataAcquisition.
 */
int rvt_ntrace_encoder_circuit(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_cksrc cksrc,
			       uint64_t pc, const uint64_t *value);
int rvt_ntrace_encoder_data(struct rvt_ntrace_encoder *enc, uint64_t idtag, uint64_t data);
/* CTTE only, as above: an Error message says that data was lost, but no flow. */
int rvt_ntrace_encoder_drop_data(struct rvt_ntrace_encoder *enc);
/* True between an -ENOSPC and the Error message that reports it. */
bool rvt_ntrace_encoder_lossy(const struct rvt_ntrace_encoder *enc);

RVT_END_DECLS

#endif
