/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the E-Trace decoder: its state, and what its files offer one another.
 *	decoder.c		one packet: what it means
 *	decoder-trap.c		trap packets
 *	decoder-state.c		what is known of the hart, and losing it
 *	decoder-follow.c	from one reported instruction to the next
 *	decoder-memo.c		packets that came before, by their bytes
 *	decoder-slice.c		slices of a stream
 *	decoder-tables.c	branch predictor, jump target cache, trap vectors, look-ahead
 *	demux.c			streams: framing, sources
 *	data.c			te_data packets to accesses
 *
 * The specification's decoder stands on the last reported instruction, which has retired; the
 * flow engine stands before the next one. So the last reported instruction is kept pending: the
 * engine stands before it, and executes it when it is known how it ended (its branch outcome
 * is carried over) or when tracing ends.
 */
#ifndef RVTRACE_ETRACE_DECODER_STATE_H
#define RVTRACE_ETRACE_DECODER_STATE_H

#include <rvtrace/stream.h>
#include <etrace/data.h>
#include <etrace/packet.h>
#include "flow/order.h"

/* Branch outcomes on the way to the next reported instruction. */
struct path {
	uint64_t map;		/* bit 0 first; 1 = taken */
	unsigned int map_bits;
	uint64_t predicted;	/* outcomes after those of the map: as predicted */
};

/* What to look for on the way. */
struct goal {
	uint64_t target;
	bool by_jump_only;	/* it is the target of an uninferable jump */
	bool notify, updiscon, sync;
	bool irreport;
	uint64_t ir;		/* irdepth or irets */
};

struct rvt_etrace_failure {
	enum rvt_reason reason;
	const char *detail;
};

struct held_trap {
	bool valid;
	bool has_address;	/* .address is that of the handler, if nothing of it retired */
	uint64_t address;
	struct rvt_event event;
};

/*
 * What a synchronisation packet says of the time that it carries and of what comes behind. Code is
 * looked at for it: when decoding pauses at that time it waits until decoding goes on.
 */
enum rvt_etrace_held {
	RVT_ETRACE_HELD_NOTHING,
	RVT_ETRACE_HELD_CONTEXT,
	RVT_ETRACE_HELD_SYNC,	/* and flow came to the address */
	RVT_ETRACE_HELD_BEGIN,	/* or begins there */
};

struct held_sync {
	enum rvt_etrace_held what;
	struct rvt_etrace_msg msg;
	uint64_t address;
};

/* Of a source in a slice of a stream (rvt_stream_slice()). */
enum rvt_etrace_progress {
	RVT_ETRACE_WAITING,	/* for its first synchronisation in the slice */
	RVT_ETRACE_ACTIVE,
	RVT_ETRACE_DONE,	/* had its first one behind the slice */
};

#define RVT_ETRACE_NOTED_MORE UINT16_MAX

struct rvt_etrace_decoder {
	enum rvt_etrace_progress progress;
	bool left;		/* and goes on behind the slice; the next one has it, too */
	struct rvt_flow *flow;
	struct rvt_stream_stats *stats;
	const struct rvt_stream *stream;	/* .paused: see struct held_sync */
	struct rvt_etrace_codec codec;
	bool draft;		/* traps as dialect 0.029 has them: that, and ESP32 */
	bool started;		/* flow is known */
	bool lost;		/* it was not because tracing had ended */

	uint64_t offset;	/* of the packet at hand */
	uint64_t address;	/* last reported */
	bool pending;		/* the engine stands before the instruction there */
	bool from_trap;		/* that was reported as the first of a trap handler */
	struct path carried;	/* its outcome: at most one */
	bool inferred;		/* it may have been executed once more since (6.6.2) */
	struct goal goal;	/* with which it was reached then */
	bool has_repeat;	/* a packet that may be a repeated report of it */
	struct rvt_etrace_msg repeat;
	struct held_trap trap;	/* its handler is not known yet */
	struct held_sync held;

	bool context_valid;
	uint8_t privilege;	/* as in packets */
	struct rvt_context context;
	unsigned int src;	/* of its packets */
	bool missed;		/* the packet at .missed_at has no memo */
	uint64_t missed_at;
	bool depth_matters;	/* how full the return stack is has decided something */
	uint64_t time, reported_time;
	bool time_valid;

	bool wants_accesses;
	struct rvt_etrace_data data;

	unsigned int predictor_size;	/* of the flow's branch predictor; 0: none */
	uint64_t *cache;	/* jump target cache; 1: no address */
	unsigned int cache_size;
	/* what packets with an index begin with, and where the index is */
	uint32_t cached_mask, cached_head, cached_shift;
	uint16_t noted;		/* of the cache since a packet began: 1 + number, or NOTED_MORE */
	bool no_memos;		/* these parameters bar them */
	uint32_t options_state;	/* what keys of memos have of the parameters; 0: not known yet */
	unsigned int return_depth, recursion; /* of the return stack */

	/* trap vectors seen, by interrupt, cause, privilege; 1: not seen */
	uint64_t learnt[2][RVT_MAX_CAUSES][8];
};

/* ---- decoder-state.c ---- */

int rvt_etrace_decoder_init(struct rvt_etrace_decoder *dec, const struct rvt_params *params,
			    struct rvt_flow *flow, struct rvt_stream_stats *stats);
void rvt_etrace_decoder_fini(struct rvt_etrace_decoder *dec);

/* From here on all that return int return 0, or what a callback returned, or -ENOMEM. */

/* @event, at the packet at hand. */
int rvt_etrace_emit(struct rvt_etrace_decoder *dec, struct rvt_event *event);
/* The time of @msg. One of few bytes counts on from the time before; time never goes back. */
void rvt_etrace_note_time(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg);
/* The time, if it was not told yet. */
int rvt_etrace_emit_time(struct rvt_etrace_decoder *dec);
/* Both. */
int rvt_etrace_note_stamp(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg);
/* Takes over privilege and context; an event if they changed. */
int rvt_etrace_note_context(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg);
/* The flow is not known from here to the next synchronisation packet. */
int rvt_etrace_decoder_lose(struct rvt_etrace_decoder *dec, enum rvt_reason reason,
			    const char *detail);
/* Likewise, by a contradiction, which is counted. */
int rvt_etrace_decoder_fail(struct rvt_etrace_decoder *dec,
			    const struct rvt_etrace_failure *failure);
/*
 * Forgets where the flow is: tracing has ended, or another slice of the stream goes on from there.
 */
void rvt_etrace_decoder_abandon(struct rvt_etrace_decoder *dec);
/* The event for a trap whose handler never came. */
int rvt_etrace_drop_trap(struct rvt_etrace_decoder *dec);
uint64_t rvt_etrace_extend_address(const struct rvt_etrace_decoder *dec, uint64_t address);
/* What a packet with @field as its address reports where @last was reported before. */
uint64_t rvt_etrace_reported_address(const struct rvt_etrace_decoder *dec, uint64_t field,
				     uint64_t last);
uint64_t rvt_etrace_full_address(const struct rvt_etrace_decoder *dec,
				 const struct rvt_etrace_msg *msg);
/* The engine stands before the reported instruction. */
void rvt_etrace_stand(struct rvt_etrace_decoder *dec, uint64_t address, struct path carried);
/* It is one that a synchronisation packet reports. */
void rvt_etrace_stand_at_sync(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
			      uint64_t address);
/*
 * A synchronisation packet whose time was told, now or when decoding goes on: its context; and flow
 * came to @address, which it reports.
 */
int rvt_etrace_change_context(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg);
int rvt_etrace_sync(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
		    uint64_t address);
/* Flow begins at @address, which a synchronisation packet reports. */
int rvt_etrace_begin(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
		     uint64_t address);
/* Decoding goes on: takes what dec->held has. */
int rvt_etrace_take_held(struct rvt_etrace_decoder *dec);

/* ---- decoder.c ---- */

int rvt_etrace_decoder_packet(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg);
/* As lose(), for a reason that is no contradiction: what is known to have retired is told first. */
int rvt_etrace_decoder_gap(struct rvt_etrace_decoder *dec, enum rvt_reason reason,
			   const char *detail);
int rvt_etrace_decoder_finish(struct rvt_etrace_decoder *dec);

/* ---- decoder-data.c ---- */

/* A te_data packet, for those who want accesses. */
int rvt_etrace_decoder_data(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg);
/* Some were lost: what is left of accesses is told. */
int rvt_etrace_decoder_data_lost(struct rvt_etrace_decoder *dec);

/* ---- decoder-trap.c ---- */

/* A trap whose handler is at @handler. */
int rvt_etrace_deliver_trap(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
			    struct rvt_event *trap, uint64_t handler);
int rvt_etrace_on_trap_draft(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg);
int rvt_etrace_on_trap(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg);

/* ---- decoder-follow.c ---- */

/* RVT_RUN_* of all orders. */
uint32_t rvt_etrace_run_flags(const struct rvt_etrace_decoder *dec);

enum rvt_etrace_followed {
	RVT_ETRACE_BY_PATH,	/* stands before the target, having come inferably */
	RVT_ETRACE_BY_JUMP,	/* or by an uninferable jump */
	RVT_ETRACE_AT_BRANCH,	/* stands before a branch and all outcomes are used */
	RVT_ETRACE_AT_TRAP_INSN,
	RVT_ETRACE_NOWHERE,	/* see *detail and *reason */
};

/* rvt_etrace_follow - execute to @goal. Returns enum rvt_etrace_followed or a negative error. */
int rvt_etrace_follow(struct rvt_etrace_decoder *dec, const struct path *path,
		      const struct goal *goal, struct rvt_etrace_failure *failure);
/*
 * Executes to an uninferable jump, and that to the target in entry @index of the jump target cache.
 * Sets *target, and *last to the outcome of a branch there. Returns likewise.
 */
int rvt_etrace_follow_cached(struct rvt_etrace_decoder *dec, const struct path *path,
			     unsigned int index, uint64_t *target, struct path *last,
			     struct rvt_etrace_failure *failure);
/* Executes to the branch that comes when all outcomes are used. Likewise. */
int rvt_etrace_follow_to_branch(struct rvt_etrace_decoder *dec, const struct path *path,
				struct rvt_etrace_failure *failure);
/*
 * 6.6.2: executes on from an instruction that was reached inferably, to the same one after an
 * uninferable jump. Does nothing (and returns BY_PATH) if the code has no such jump there.
 */
int rvt_etrace_look_again(struct rvt_etrace_decoder *dec, struct rvt_etrace_failure *failure);
/*
 * Executes the pending instruction. Sets *pc to the next one's address; *known is false if that
 * was an uninferable jump, or there is no code: then flow is lost. Returns 0 or a negative error.
 */
int rvt_etrace_finish_pending(struct rvt_etrace_decoder *dec, uint64_t *pc, bool *known);

/* ---- decoder-slice.c ---- */

/* A whole stream is a slice from 0 to UINT64_MAX. */
struct rvt_etrace_slice {
	uint64_t from, to;
	unsigned int n_active;	/* sources in progress */
	bool began, ended;	/* one was, or is no more */
	bool done;
};

/* Whether what lies at @offset is counted by this slice. */
static inline bool rvt_etrace_in_slice(const struct rvt_etrace_slice *slice, uint64_t offset)
{
	return offset >= slice->from && offset < slice->to;
}

/* A new source, whose first packet is at @offset. */
void rvt_etrace_slice_source(struct rvt_etrace_slice *slice, struct rvt_etrace_decoder *dec,
			    uint64_t offset);
/* Sets *skip if @msg is none of this slice's business, or has been dealt with. Returns as above. */
int rvt_etrace_slice_skip(struct rvt_etrace_slice *slice, struct rvt_etrace_decoder *dec,
			 const struct rvt_etrace_msg *msg, bool *skip);
/* After @msg was decoded: it may have been the last of its source. */
void rvt_etrace_slice_advance(struct rvt_etrace_slice *slice, struct rvt_etrace_decoder *dec,
			     const struct rvt_etrace_msg *msg);
/*
 * True if what comes behind a slice that ends with @codec depends on more than a synchronisation
 * packet tells and @initial, the parameters as given.
 */
bool rvt_etrace_slice_carries(const struct rvt_etrace_codec *codec,
			     const struct rvt_etrace_codec *initial);

/* ---- decoder-memo.c ---- */

struct rvt_etrace_frames;

/* @msg, whose frame is @bytes, is about to be decoded. */
void rvt_etrace_memo_begin(struct rvt_etrace_decoder *dec, const uint8_t *bytes,
			   const struct rvt_etrace_msg *msg);
/* It has been. True if what follows may be replayed. */
bool rvt_etrace_memo_end(struct rvt_etrace_decoder *dec);
/* Decodes as many frames as are known. Returns 0 or an error. */
int rvt_etrace_replay(struct rvt_etrace_decoder *dec, struct rvt_etrace_frames *frames);

/* ---- decoder-tables.c ---- */

/* Sets up tables of the sizes that the codec says. Returns 0 or -ENOMEM. */
int rvt_etrace_decoder_resize(struct rvt_etrace_decoder *dec);
/* A synchronisation packet was reached. @start: it begins a trace. */
void rvt_etrace_decoder_sync(struct rvt_etrace_decoder *dec, bool start);
/*
 * Where the jump target cache has an uninferable jump at @jump_pc to @target; and notes it there.
 */
unsigned int rvt_etrace_cache_number(const struct rvt_etrace_decoder *dec, uint64_t jump_pc,
				     uint64_t target);
void rvt_etrace_cache_note(struct rvt_etrace_decoder *dec, uint64_t jump_pc, uint64_t target,
			   bool valid);
void rvt_etrace_vector_learn(struct rvt_etrace_decoder *dec, const struct rvt_event *trap);
bool rvt_etrace_vector_find(const struct rvt_etrace_decoder *dec, const struct rvt_event *trap,
			    uint64_t *handler);

/* Where the inferable path from an address ends. */
enum rvt_etrace_walked {
	RVT_ETRACE_WALK_TARGET,
	RVT_ETRACE_WALK_JUMP,	/* an uninferable jump */
	RVT_ETRACE_WALK_BRANCH,	/* for which no outcome is there */
	RVT_ETRACE_WALK_END,	/* no code, a trap instruction, or too far */
};

struct walk_goal {
	uint64_t target;
	bool has_target;
	const struct path *path; /* outcome of the first instruction; may be NULL */
};

/* Looks from @pc without moving the flow. */
enum rvt_etrace_walked rvt_etrace_walk(const struct rvt_etrace_decoder *dec, uint64_t pc,
				       const struct walk_goal *goal);

#endif
