/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the N-Trace decoder: a source (one encoder) and the steps of decoding its messages.
 *
 * Messages tell the past: what a message reports is walked when it arrives, never before.
 * HIST of ResourceFull is walked to its last branch, whatever I-CNT will say of that; I-CNT of
 * ResourceFull is only added up until a message comes that ends a stretch of flow.
 */
#ifndef RVT_LIB_NTRACE_DECODER_STATE_H
#define RVT_LIB_NTRACE_DECODER_STATE_H

#include "flow/order.h"
#include "ntrace/hist.h"
#include "ntrace/jump-cache.h"
#include "ntrace/message.h"
#include "ntrace/scan.h"
#include "stream-ops.h"

/*
 * So many half-words can have been executed and not yet be in any I-CNT, whose counter has 22 bits:
 * twice that, as both counters can be full at once.
 */
#define RVT_NTRACE_MAX_AHEAD (UINT64_C(2) << RVT_NTRACE_MAX_ICNT_BITS)

/* What a RepeatBranch repeats. */
struct rvt_ntrace_repeat {
	bool valid, direct;
	uint32_t btype;
	uint32_t hist;		/* with stop bit */
	uint64_t icnt;
	uint64_t target;
	bool unread;		/* only .bytes and .target are given */
	/* of the message, without its time stamp, zeros behind them */
	uint8_t bytes[RVT_NTRACE_KEY_BYTES];
};

/* Of a source in a slice of a stream (rvt_stream_slice()). */
enum rvt_ntrace_progress {
	RVT_NTRACE_WAITING,		/* for its first sync in the slice */
	RVT_NTRACE_ACTIVE,
	RVT_NTRACE_DONE,		/* had its first sync behind the slice */
};

#define RVT_NTRACE_PREDICTOR_ENTRIES 512

/* The outcome of the branch at which CTTE's encoder synchronised. */
enum rvt_ntrace_sync_outcome {
	RVT_NTRACE_NO_SYNC_OUTCOME,
	RVT_NTRACE_SYNC_OUTCOME_DUE,		/* the first in the next HIST */
	RVT_NTRACE_SYNC_OUTCOME_WALKED,		/* that, too, but the branch was walked */
};

/* What CTTE's encoder has on both sides (predictor.c). */
struct rvt_ntrace_ctte {
	bool predicts;			/* branches have no history */
	bool predictor_known;		/* what .counters hold is what the encoder's do */
	enum rvt_ntrace_sync_outcome sync_outcome;
	bool jumped;			/* at the end of the last sync's walk, which reports it */
	uint64_t n_left;		/* of a BranchPrediction; the last is not as predicted */
	uint8_t counters[RVT_NTRACE_PREDICTOR_ENTRIES];
	struct rvt_ntrace_jump_cache cache;
};

struct rvt_ntrace_source {
	struct rvt_flow *flow;		/* NULL: nobody wants this source */
	enum rvt_ntrace_progress progress;
	bool left;			/* and goes on behind the slice; the next one has it, too */
	bool asked;
	bool synced;			/* .reference holds */
	bool flowing;			/* the flow has a pc */
	bool stopped;			/* by a Correlation; only a sync may follow */
	/* what the last Error told is lost is not of the flow; until the next sync */
	bool flow_kept;
	bool complained;		/* messages before the first sync were reported */
	enum rvt_mode mode;		/* AUTO until a message tells */
	bool mode_settled;		/* by a message since tracing was enabled, or a parameter */
	enum rvt_mode mode_before;	/* when it was enabled the last time; AUTO: not known */
	uint64_t reference;		/* last address received, for U-ADDR */

	uint64_t icnt;			/* half-words reported, not yet walked */
	uint64_t ahead;			/* walked, not yet reported; one of both is 0 */
	struct rvt_hist hist;		/* of the message that is being walked */

	bool unanswered;		/* the walk ended in an indirect jump: target not known */
	bool moved;			/* instructions were executed since the last address */
	bool resumed;			/* in mid-stream, behind code that is not known: calls that
					 * were made there are missing on the return stack */
	struct rvt_ntrace_repeat repeat;

	bool time_valid;
	uint64_t time;
	struct rvt_context context;
	struct rvt_ntrace_data data;
	struct rvt_ntrace_ctte *ctte;	/* NULL: another dialect */
};

/* Branches of @s are predicted: only in HTM. */
static inline bool rvt_ntrace_predicts(const struct rvt_ntrace_source *s)
{
	return s->ctte && s->ctte->predicts && s->mode != RVT_MODE_BTM;
}

/* What a stream of CTTE says itself, in a Configuration message. */
struct rvt_ntrace_ctte_config {
	bool predicts;			/* branches */
	bool xor;			/* addresses of data messages */
};

struct rvt_ntrace_decoder {
	struct rvt_stream stream;
	struct rvt_params params;
	struct rvt_stream_ops ops;
	struct rvt_ntrace_reader reader;
	uint32_t run_flags;		/* RVT_RUN_* of every walk */
	bool told_start;		/* bytes before the first message boundary were reported */
	bool told_damage;		/* since the last sync, and no source has flow to lose */
	bool fed;
	uint64_t first_offset;		/* of the data */
	int result;			/* what a callback returned, once it is not 0 */
	unsigned int n_sources;
	struct rvt_ntrace_source **sources;

	/* A whole stream is a slice from 0 to UINT64_MAX. */
	uint64_t slice_from, slice_to;
	/* how slices do; the first as .params say */
	struct rvt_ntrace_ctte_config begins, ends;
	unsigned int n_active;		/* sources in progress */
	bool done;
	struct rvt_ntrace_source *recent; /* whose message may be replayed next; or NULL */
	unsigned int recent_src;	/* its SRC */
	struct rvt_ntrace_scan scan;	/* of what was fed last */
	bool missed;			/* the next message could have a memo, and has none */
};

/*
 * Whether an encoder keeps the HIST of such a ResourceFull until it has the next one, to see if it
 * is the same (repeated history, 9.3). The time of the message is that of the end of the next one
 * then.
 */
static inline bool rvt_ntrace_holds_back(const struct rvt_ntrace_decoder *d, uint64_t rcode)
{
	return d->params.options & RVT_OPT_REPEATED_HISTORY && rcode == 1;
}

/* ---- the state of a source (decoder-state.c) ---- */

/* Keeps what a callback returned; false if decoding must end. */
bool rvt_ntrace_check(struct rvt_ntrace_decoder *d, int ret);
/*
 * rvt_ntrace_lose - reports LOST and forgets what was collected. @resync: U-ADDR cannot be trusted
 * either, only a sync can go on; else the next address does.
 */
__attribute__((format(printf, 6, 7)))
void rvt_ntrace_lose(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s, uint64_t offset,
		     enum rvt_reason reason, bool resync, const char *format, ...);
/* A message that needs flow. False: tracing is off, which has been reported. */
bool rvt_ntrace_is_running(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			   const struct rvt_ntrace_msg *msg);
/* Forgets what was reported and not yet walked, or walked and not yet reported. */
void rvt_ntrace_forget(struct rvt_ntrace_source *s);
/* The state that any sync leaves behind. */
void rvt_ntrace_set_reference(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			      const struct rvt_ntrace_msg *msg);
/* TIME, if @msg has a time stamp. (decoder.c) */
void rvt_ntrace_emit_time(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg);

/* ---- what CTTE has besides: on both sides (predictor.c) ---- */

/* Of a new source: 0 or -ENOMEM. Sets s->ctte where the dialect is CTTE's. */
int rvt_ntrace_ctte_create(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s);
/* The encoder reset its predictor and cache. */
void rvt_ntrace_ctte_reset(struct rvt_ntrace_ctte *ctte);
/* Messages are missing. */
void rvt_ntrace_ctte_forget(struct rvt_ntrace_ctte *ctte);
/* What @msg tells of the encoder's configuration: of any source, whether it is decoded or not. */
void rvt_ntrace_ctte_note(struct rvt_ntrace_ctte *ctte, const struct rvt_ntrace_msg *msg);
/* The outcomes of @order, complete but for them, are predicted, behind those of s->hist. */
void rvt_ntrace_predict(struct rvt_ntrace_source *s, struct rvt_order *order);
/* A branch must be predicted, and cannot be. */
#define RVT_NTRACE_NOT_PREDICTABLE \
	"what the branch predictor holds is not known until tracing begins"

/* What parameters say. */
struct rvt_ntrace_ctte_config rvt_ntrace_ctte_config(const struct rvt_params *params);
/* As struct rvt_protocol_ops has it. */
void rvt_ntrace_ctte_head(struct rvt_params *params, const void *bytes, size_t len);

/* ---- its messages and synchronisation (decoder-ctte.c) ---- */

/* False: @msg must be looked at by others. @s->ctte is set; it need not be synchronised. */
bool rvt_ntrace_on_ctte(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			const struct rvt_ntrace_msg *msg);
/*
 * rvt_ntrace_walk() of a DirectBranchSync or IndirectBranchHistSync in HTM. A branch that is the
 * last instruction has no history then: the message says where it went.
 */
bool rvt_ntrace_walk_synced(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			    const struct rvt_ntrace_msg *msg);
/* The flow is at the address of @msg, a sync. */
void rvt_ntrace_ctte_synced(struct rvt_ntrace_source *s, const struct rvt_ntrace_msg *msg);

/* ---- messages that only SiFive has (decoder-sifive.c) ---- */

/* False: @msg is none of them. Its source need not be synchronised. */
bool rvt_ntrace_on_sifive(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg);
/* Software says who runs: scontext, and nothing of the privilege mode. */
void rvt_ntrace_set_scontext(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			     const struct rvt_ntrace_msg *msg, uint64_t value);

/* ---- BTM or HTM (decoder-mode.c) ---- */

/* Whether the sync fits the mode of the source, which it may settle. */
bool rvt_ntrace_sync_fits(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg);
/*
 * rvt_ntrace_mode_ahead - `mode = auto`: what the next messages of source @src tell about its mode,
 * as far as they are there; else the mode that it had before. AUTO: not known.
 */
enum rvt_mode rvt_ntrace_mode_ahead(const struct rvt_ntrace_decoder *d,
				    const struct rvt_ntrace_source *s, unsigned int src);
/*
 * A message that only @mode has. False: @s has the other one, so the message is damage, and that
 * has been reported.
 */
bool rvt_ntrace_settle_mode(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			    const struct rvt_ntrace_msg *msg, enum rvt_mode mode);
/* Reports that the message cannot be in the mode of @s. */
void rvt_ntrace_wrong_mode(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			   const struct rvt_ntrace_msg *msg);

/* ---- walking (decoder-flow.c) ---- */

/* I-CNT of a message: @halfwords more have been executed. */
static inline void rvt_ntrace_report(struct rvt_ntrace_source *s, uint64_t halfwords)
{
	uint64_t walked = halfwords < s->ahead ? halfwords : s->ahead;

	s->ahead -= walked;
	s->icnt += halfwords - walked;
}

/* Whether the last branch of a stretch is given by the message itself (BTM). */
enum rvt_ntrace_last { RVT_NTRACE_LAST_NOT_TAKEN, RVT_NTRACE_LAST_TAKEN };

/*
 * rvt_ntrace_walk - executes all that is reported, with s->hist. Returns true when all of it fits
 * the program: then the flow has a pc, or source->unanswered is set. Otherwise flow is lost, and
 * that has been reported.
 */
bool rvt_ntrace_walk(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		     const struct rvt_ntrace_msg *msg, enum rvt_ntrace_last last);
/* Runs so many half-words of what is reported. Reports nothing. An enum rvt_stop, or negative. */
int rvt_ntrace_walk_part(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			 uint64_t halfwords);
/*
 * rvt_ntrace_walk_hist - executes up to and including the last branch of s->hist, which
 * ResourceFull or BranchPrediction brought. Where these do not fit the program flow is lost, and
 * that is reported.
 */
void rvt_ntrace_walk_hist(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg);
/* Executes what is reported as far as it is certain, and forgets the rest. */
void rvt_ntrace_drain(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s);
/*
 * The stretch just walked ends at @target: by an indirect jump, or by a trap when @btype is not 0.
 */
void rvt_ntrace_arrive(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
		       const struct rvt_ntrace_msg *msg, uint32_t btype, uint64_t target);
/* The same for a message with SYNC: @faddr is right, whatever the walk came to. */
void rvt_ntrace_arrive_sync(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			    const struct rvt_ntrace_msg *msg, bool walked, uint64_t faddr);
/* True if the last instruction executed was a branch (with ALL_JUMPS: or a direct jump). */
bool rvt_ntrace_last_was_branch(const struct rvt_ntrace_decoder *d,
				const struct rvt_ntrace_source *s);

/* ---- slices of a stream (decoder-slice.c) ---- */

/* A new source; @msg is its first message. */
void rvt_ntrace_slice_source(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s);
/* True if @msg is none of this slice's business, or has been dealt with. */
bool rvt_ntrace_slice_skips(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			   const struct rvt_ntrace_msg *msg);
/* After @msg was decoded: it may have been the last of the source, or of all. */
void rvt_ntrace_slice_advance(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			     const struct rvt_ntrace_msg *msg);
/*
 * Whether what goes wrong for all sources is this slice's to tell: before a source has begun in it
 * the slice before tells, and when all have ended the one behind.
 */
bool rvt_ntrace_slice_begun(struct rvt_ntrace_decoder *d);
/*
 * It went wrong at @offset, and no source of this slice had flow to lose: if there are several, one
 * may have had in another slice.
 */
void rvt_ntrace_slice_untold(struct rvt_ntrace_decoder *d, uint64_t offset);
/* All that was fed is decoded: nothing may be left for this slice to wait for. */
void rvt_ntrace_slice_end(struct rvt_ntrace_decoder *d);
/* Data is missing before @offset: no slice needs anything from before it. */
void rvt_ntrace_slice_lost(struct rvt_ntrace_decoder *d, uint64_t offset);
/* Whether what lies at @offset is counted by this slice. */
static inline bool rvt_ntrace_in_slice(const struct rvt_ntrace_decoder *d, uint64_t offset)
{
	return offset >= d->slice_from && offset < d->slice_to;
}

/* ---- replaying whole messages (decoder-memo.c) ---- */

/* Decodes as many messages of d->recent as are known. Afterwards the reader is at another one. */
void rvt_ntrace_replay(struct rvt_ntrace_decoder *d);
/* @msg is about to be decoded, or has been. */
void rvt_ntrace_memo_begin(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg);
void rvt_ntrace_memo_end(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg);
/* Reads a repeat.unread. */
void rvt_ntrace_read_repeat(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s);
#endif
