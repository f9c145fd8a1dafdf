// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace: packets by their bytes alone (flow/memo/memos.h), for decoders without predictor and
 * jump target cache: where the flow stands, the last address, the outcome that is carried over, and
 * the packet decide what it means. Packets are short, so several in a row that fit a key together
 * are one memo as soon as they have come twice. Where no packet has an address, nor does the key.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <etrace/decoder-state.h>
#include <etrace/frame.h>
#include "flow/memo.h"

#define PAYLOAD_BYTES 16	/* of a key */
/* That can be read from the beginning of a frame: header, source, time, two words. */
#define WANTED_BYTES (1 + 2 + 8 + PAYLOAD_BYTES)
#define EXTEND 0x80		/* in a header: a time stamp follows */

/*
 * In a key: the last address reported decides nothing, as no packet has one. No address is like
 * that.
 */
#define NO_ADDRESS UINT64_MAX

/* Nothing of earlier packets is left that the key has not. */
static bool is_clean(const struct rvt_etrace_decoder *dec)
{
	return dec->started && dec->pending && !dec->from_trap && !dec->inferred &&
	       !dec->has_repeat && !dec->trap.valid && !dec->predictor && !dec->cache &&
	       !dec->carried.predicted && dec->carried.map_bits <= 1 &&
	       dec->address != NO_ADDRESS &&
	       /* what was loaded just before may say where a jump goes that comes first */
	       (dec->carried.map_bits || !rvt_flow_is_consecutive(dec->flow));
}

static inline uint64_t load(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

static inline uint64_t low_bytes(uint64_t word, unsigned int n)
{
	return n < 8 ? word & ~(~UINT64_C(0) << 8 * n) : word;
}

/*
 * The state in a key: what the decoder's is, the header of the first frame, and how many frames and
 * bytes of payload there are (with the headers between them), so that keys tell that of what they
 * are of. Above bits of support packets.
 */
#define FRAMES(state) ((state) & 15)
#define LEN_SHIFT 4
#define LEN(state) ((state) >> LEN_SHIFT & 31)
#define GROUP_BITS 9		/* of both */
#define CARRIED_SHIFT GROUP_BITS	/* bit 0: an outcome is carried over; bit 1: which */
#define HEADER_SHIFT 11
_Static_assert(PAYLOAD_BYTES <= LEN(~0u) && RVT_MEMO_GROUP <= FRAMES(~0u), "what a state holds");

static inline uint32_t group_state(unsigned int n_frames, unsigned int len)
{
	return len << LEN_SHIFT | n_frames;
}

/* A frame in pieces. */
struct frame {
	unsigned int len;
	bool timed;
	bool keeps_address;	/* see keeps_address() */
	uint64_t time;
	uint32_t state;		/* its part of the key's */
	uint64_t payload[2];
};

/* Whether a payload that begins with @byte is a map of 31 outcomes, without an address. */
static inline bool keeps_address(const struct rvt_params *params, uint8_t byte)
{
	return (byte & 0x7f) == 1 && !params->type_bits;
}

/* The source of the frame at @p, whose header and source have @heads bytes. */
static inline unsigned int source_at(const uint8_t *p, unsigned int heads)
{
	return heads == 1 ? 0 : heads == 2 ? p[1] : p[1] | p[2] << 8;
}

/*
 * False: no frame of this source, or one that is too long for a key, or that has a time stamp where
 * there are none. At least WANTED_BYTES can be read.
 */
static inline bool cut(const struct rvt_etrace_decoder *dec, const uint8_t *p, struct frame *frame)
{
	const struct rvt_params *params = &dec->codec.params;
	unsigned int n = p[0] & 31, pos = 1 + rvt_etrace_src_bytes(params);

	if (!n || n > PAYLOAD_BYTES || source_at(p, pos) != dec->src)
		return false;
	frame->state = (uint32_t)(p[0] & ~EXTEND) << HEADER_SHIFT | group_state(1, n);
	frame->timed = p[0] & EXTEND;
	frame->time = 0;
	if (frame->timed) {
		if (!params->timestamp_bytes)
			return false;
		frame->time = low_bytes(load(p + pos), params->timestamp_bytes);
		pos += params->timestamp_bytes;
	}
	frame->payload[0] = low_bytes(load(p + pos), n < 8 ? n : 8);
	frame->payload[1] = n > 8 ? low_bytes(load(p + pos + 8), n - 8) : 0;
	frame->keeps_address = keeps_address(params, frame->payload[0]);
	frame->len = pos + n;
	return true;
}

/* The key of @frame where @key stands. @state: options_state() and carried_state(). */
static inline struct rvt_memo_key make_key(struct rvt_memo_key key, const struct frame *frame,
					   uint32_t state)
{
	key.bytes[0] = frame->payload[0];
	key.bytes[1] = frame->payload[1];
	key.state = state | frame->state;
	if (frame->keeps_address)
		key.address = NO_ADDRESS;
	return key;
}

/*
 * What support packets change of how these packets are read, and of where they lead. With a
 * predictor or a cache there are no memos.
 */
static uint32_t options_state(const struct rvt_etrace_decoder *dec)
{
	const uint32_t options = dec->codec.params.options;

	return (uint32_t)!!dec->return_depth << 26 | (uint32_t)dec->codec.iret_ext << 27 |
	       (uint32_t)!!(options & RVT_OPT_SEQUENTIAL_JUMP) << 28 |
	       (uint32_t)!!(options & RVT_OPT_FULL_ADDRESS) << 29;
}

/* As a memo has it in .extra. */
static uint32_t carried_bits(const struct path *carried)
{
	return carried->map_bits | (carried->map_bits ? (carried->map & 1) << 1 : 0);
}

static inline uint32_t carried_state(uint32_t bits)
{
	return bits << CARRIED_SHIFT;
}

/* @first, which has no time stamp, at @p, and those behind it, as far as they fit a key with it. */
static inline struct frame gather(const struct rvt_params *params, const uint8_t *p,
				  const struct frame *first)
{
	const unsigned int heads = 1 + rvt_etrace_src_bytes(params);
	const uint8_t *payload = p + heads;
	unsigned int len = first->len - heads, n_frames = 1;
	struct frame group = { .keeps_address = first->keeps_address };

	while (n_frames < RVT_MEMO_GROUP) {
		unsigned int n = payload[len] & 31, with = len + heads + n;

		if (!n || payload[len] & EXTEND || with > PAYLOAD_BYTES)
			break;
		group.keeps_address &= keeps_address(params, payload[len + heads]);
		len = with;
		n_frames++;
	}
	group.len = heads + len;
	group.state = (uint32_t)p[0] << HEADER_SHIFT | group_state(n_frames, len);
	group.payload[0] = low_bytes(load(payload), len < 8 ? len : 8);
	group.payload[1] = len > 8 ? low_bytes(load(payload + 8), len - 8) : 0;
	return group;
}

/* ---- recording ---- */

static bool may_record(const struct rvt_memo_key *key, const struct rvt_etrace_msg *msg)
{
	return msg->kind > RVT_ETRACE_SYNC_SUPPORT && !msg->notify && !msg->irreport &&
	       (key->address != NO_ADDRESS || msg->kind == RVT_ETRACE_BRANCH_MAP);
}

void rvt_etrace_memo_begin(struct rvt_etrace_decoder *dec, const uint8_t *bytes,
			   const struct rvt_etrace_msg *msg)
{
	const bool missed = dec->missed && dec->missed_at == msg->offset;
	uint8_t copy[WANTED_BYTES + RVT_ETRACE_MAX_FRAME_BYTES] = {};
	struct rvt_memo_key key = { .state = 0 };
	struct frame frame;

	dec->depth_matters = dec->missed = false;
	if (missed) {
		if (may_record(&rvt_flow_base(dec->flow)->memos->key, msg) && is_clean(dec))
			rvt_memos_record_missed(dec->flow);
		return;
	}
	memcpy(copy, bytes, msg->len_bytes);
	dec->src = source_at(copy, 1 + rvt_etrace_src_bytes(&dec->codec.params));
	if (!cut(dec, copy, &frame))
		return;
	if (!is_clean(dec) || !rvt_memos_enter(dec->flow, &key))
		return;
	key.address = dec->address;
	key = make_key(key, &frame,
		       options_state(dec) | carried_state(carried_bits(&dec->carried)));
	if (may_record(&key, msg))
		rvt_memos_record(dec->flow, &key);
}

bool rvt_etrace_memo_end(struct rvt_etrace_decoder *dec)
{
	bool clean = is_clean(dec);
	uint64_t address;

	if (!rvt_memos_recording(dec->flow))
		return clean;
	if (!clean || dec->depth_matters) {
		rvt_memos_drop(dec->flow);
		return clean;
	}
	address = rvt_flow_base(dec->flow)->memos->key.address == NO_ADDRESS ? NO_ADDRESS :
									       dec->address;
	rvt_memos_keep(dec->flow, address, carried_bits(&dec->carried));
	return true;
}

/* ---- replaying ---- */

/* Where replaying is. */
struct etrace_cursor {
	const uint8_t *p;
	struct rvt_memo_key key;	/* .pc, .address, .mapping_id */
	uint32_t options, carried;	/* parts of .state */
	struct rvt_memo *last;		/* NULL: none was taken */
	uint64_t n;			/* frames */
	bool missed;			/* it has been found that there is no memo at .p */
};

static void settle(struct rvt_etrace_decoder *dec, const struct rvt_memo *last, uint64_t address)
{
	rvt_memos_leave(dec->flow);
	dec->address = address;
	dec->carried = (struct path){ .map = last->extra >> 1, .map_bits = last->extra & 1 };
	dec->goal.irreport = false;
}

/* As the decoder notes the time of a packet. */
static void pass_time(struct rvt_etrace_decoder *dec, uint64_t stamp)
{
	unsigned int bits = 8 * dec->codec.params.timestamp_bytes;

	if (bits < 64) {
		uint64_t before = dec->time & rvt_etrace_mask(bits);

		if (dec->time_valid && stamp < before)
			stamp += 1ull << bits;
		stamp += dec->time & ~rvt_etrace_mask(bits);
	}
	dec->time = stamp;
	dec->time_valid = true;
}

/* @memo, of so many frames and bytes, is taken. */
static inline void pass(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
			struct rvt_memo *memo, unsigned int n_frames, unsigned int len)
{
	r->last = memo;
	r->n += n_frames;
	r->p += len;
	rvt_memos_advance(dec->flow, memo, &r->key);
	r->carried = carried_state(memo->extra);
}

/* Takes the memo of what has @len bytes. False: it must be the last for now. */
static inline bool take(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
			struct rvt_memo *memo, unsigned int len)
{
	pass(dec, r, memo, FRAMES(memo->key.state), len);
	return rvt_memos_apply(dec->flow, memo);
}

/* ---- prediction ---- */

/*
 * The bytes where a frame begins tell which memo it was the last time, and that tells how many of
 * them it takes: frames need not be cut. Memos of a frame with a time stamp, and those that do
 * something to the return stack, are not predicted.
 */

/* The entry for what is at @p: the offset of a memo, and below it of how many bytes that is. */
static inline uint32_t *predictor_at(struct rvt_memos *memos, const uint8_t *p)
{
	const uint64_t mix = (load(p) + 8 * load(p + 8)) * 0x9e3779b97f4a7c15ull;

	return &memos->pair_predictor[mix >> 48 & (RVT_PREDICTOR_ENTRIES - 1)];
}

#define PREDICTED_LEN (sizeof(struct rvt_memo) - 1)
_Static_assert(1 + 2 + PAYLOAD_BYTES <= PREDICTED_LEN &&
	       RVT_MEMO_ENTRIES * sizeof(struct rvt_memo) <= UINT32_MAX, "what an entry holds");

static inline struct rvt_memo *predicted_memo(struct rvt_memos *memos, uint32_t entry)
{
	return (struct rvt_memo *)((uint8_t *)memos->memos + (entry & ~(uint32_t)PREDICTED_LEN));
}

static void train_predictor(struct rvt_memos *memos, const uint8_t *p, const struct rvt_memo *s,
			    unsigned int heads)
{
	*predictor_at(memos, p) = (uint32_t)((uint8_t *)s - (uint8_t *)memos->memos) |
			      (heads + LEN(s->key.state));
}

/* Bytes of a payload of so many bytes. */
#define UP_TO(n) ((n) < 8 ? ~(~UINT64_C(0) << 8 * ((n) & 7)) : ~UINT64_C(0))
#define MASK(n) { UP_TO(n), (n) > 8 ? UP_TO((n) - 8) : 0 }
#define MASKS(n) MASK(n), MASK(n + 1), MASK(n + 2), MASK(n + 3)
_Alignas(16) static const uint64_t masks[LEN(~0u) + 1][2] = {
	MASKS(0), MASKS(4), MASKS(8), MASKS(12), MASKS(16), MASKS(20), MASKS(24), MASKS(28),
};

/* 0 if the payload of @s is that at @payload. */
static inline uint64_t compare(const struct rvt_memo *s, const uint8_t *payload)
{
	const uint64_t *mask = masks[LEN(s->key.state)];
#ifdef __SSE2__
	const __m128i bytes = _mm_and_si128(_mm_loadu_si128((const __m128i *)payload),
					    *(const __m128i *)mask);

	return _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, *(const __m128i *)s->key.bytes)) ^ 0xffff;
#else
	return ((load(payload) & mask[0]) ^ s->key.bytes[0]) |
	       ((load(payload + 8) & mask[1]) ^ s->key.bytes[1]);
#endif
}

/* What of a key does not depend on the bytes. */
struct key_state {
	uint64_t pc, address;
	uint64_t state;		/* as state_of() has it */
	uint64_t states[2];	/* by rvt_va_half() of .pc: mapping id and options */
};

/* .state and .mapping_id, without what LEN() and FRAMES() tell. */
static inline uint64_t state_of(uint32_t state, uint32_t mapping_id)
{
	return ((uint64_t)mapping_id << 32 | state) >> GROUP_BITS;
}

static inline struct key_state key_state_of(const struct rvt_flow *flow,
					    const struct etrace_cursor *r)
{
	return (struct key_state){
		.pc = r->key.pc, .address = r->key.address,
		.state = state_of(r->options | r->carried, r->key.mapping_id),
		.states = { state_of(r->options, rvt_flow_base(flow)->mapping_id[0]),
			    state_of(r->options, rvt_flow_base(flow)->mapping_id[1]) },
	};
}

/* As rvt_memos_advance(). */
static inline void advance(struct key_state *at, const struct rvt_memo *s)
{
	at->pc = s->pc;
	at->address = rvt_memo_address(s, at->address);
	at->state = at->states[rvt_va_half(s->pc)] |
		      carried_state(s->extra) >> GROUP_BITS;
}

/*
 * Whether @s is the memo of the bytes at @p there, and one that is predicted. @heads: bytes of
 * header and source. One of a frame with a time stamp has the key of the frame without.
 */
static inline bool is_memo(const struct rvt_etrace_decoder *dec, const struct rvt_memo *s,
			   const uint8_t *p, unsigned int heads, const struct key_state *at)
{
	const uint64_t state = state_of(s->key.state, s->key.mapping_id);
	const uint64_t head = (uint64_t)p[0] << (HEADER_SHIFT - GROUP_BITS);

	if (heads > 1 && source_at(p, heads) != dec->src)
		return false;
	if (compare(s, p + heads) | (s->key.pc ^ at->pc) | (state ^ (at->state | head)))
		return false;
	return (s->key.address == at->address || s->key.address == NO_ADDRESS) &&
	       !(s->flags & RVT_MEMO_DELTA);
}

/* How far predictions are ahead: what they lead to is being fetched. */
#define AHEAD 4

/* The prediction for what is at *p, up to @stop; *p: what comes behind that. */
static inline struct rvt_memo *predict_ahead(struct rvt_memos *memos, const uint8_t **p,
					     const uint8_t *stop)
{
	const uint32_t entry = *p <= stop ? *predictor_at(memos, *p) : 0;
	struct rvt_memo *s = predicted_memo(memos, entry);

	__builtin_prefetch(s);
	*p += entry & PREDICTED_LEN;
	return s;
}

/*
 * Takes all memos from r->p up to @stop that are predicted right, where none has to be delivered:
 * nothing but that, so that all is in registers.
 */
static inline __attribute__((always_inline)) void
apply_predicted(struct rvt_etrace_decoder *dec, struct etrace_cursor *r, const uint8_t *stop,
		unsigned int heads, const uint32_t counted)
{
	struct rvt_memos *memos = rvt_flow_base(dec->flow)->memos;
	struct key_state at = key_state_of(dec->flow, r);
	struct rvt_memo_sums sums = memos->sums;
	struct rvt_memo *ahead[AHEAD];
	const uint8_t *p = r->p, *ahead_p = p;
	unsigned int n = 0;
	uint64_t pair_predictor = 0;

	for (unsigned int i = 0; i < AHEAD; i++)
		ahead[i] = predict_ahead(memos, &ahead_p, stop);
	for (; p < stop; n++) {
		struct rvt_memo *s = ahead[n % AHEAD];
		uint32_t group;

		ahead[n % AHEAD] = predict_ahead(memos, &ahead_p, stop);
		if (!is_memo(dec, s, p, heads, &at))
			break;
		/* as rvt_memos_count(), if it counts */
		if (__builtin_expect(s->times + 1 <= counted, 0))
			rvt_memos_begin_times(dec->flow, s);
		s->times += counted;
		if (__builtin_expect(!rvt_memo_sums_add(&sums, s), 0)) {
			memos->sums = sums;
			rvt_memos_add_up(dec->flow);
			sums = memos->sums;
		}
		advance(&at, s);
		group = s->key.state & ((1u << GROUP_BITS) - 1);
		pair_predictor += group;
		p += heads + LEN(group);
	}
	if (!n)
		return;
	memos->sums = sums;
	r->last = sums.last;
	/* FRAMES() of all: without what LEN() tells */
	r->n += pair_predictor - ((p - r->p - n * heads) << LEN_SHIFT);
	r->key.address = at.address;
	rvt_memos_advance(dec->flow, r->last, &r->key);
	r->carried = carried_state(r->last->extra);
	r->p = p;
}

/*
 * Takes them likewise where they are delivered, and fetches what they lead through. Returns whether
 * replaying can go on.
 */
static bool deliver_predicted(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
			      const uint8_t *stop, unsigned int heads)
{
	struct rvt_memos *memos = rvt_flow_base(dec->flow)->memos;
	struct rvt_memo *ahead[AHEAD];
	const uint8_t *ahead_p = r->p;

	for (unsigned int i = 0; i < AHEAD; i++)
		ahead[i] = predict_ahead(memos, &ahead_p, stop);
	for (unsigned int n = 0; r->p < stop; n++) {
		const struct key_state at = key_state_of(dec->flow, r);
		struct rvt_memo *s = ahead[n % AHEAD];

		ahead[n % AHEAD] = predict_ahead(memos, &ahead_p, stop);
		/* It is there by now. */
		__builtin_prefetch(rvt_memo_path(memos, ahead[(n + AHEAD / 2) % AHEAD]));
		if (!is_memo(dec, s, r->p, heads, &at))
			return true;
		if (!take(dec, r, s, heads + LEN(s->key.state)))
			return false;
	}
	return true;
}

/* ---- what is no memo yet ---- */

/* @carries: the last of @n is that of a branch to which they lead. Returns true. */
static bool set_outcomes(struct rvt_speculation *spec, uint64_t map, unsigned int n, bool carries)
{
	spec->n_outcomes = n - carries;
	spec->outcomes = map & rvt_etrace_mask(n - carries);
	if (carries)
		spec->extra = 1 | (map >> (n - 1) & 1) << 1;
	return true;
}

/* What @frame says where @r stands. False: it must be looked at more closely. */
static bool read_spec(const struct rvt_etrace_decoder *dec, const struct etrace_cursor *r,
		      const struct frame *frame, struct rvt_speculation *spec)
{
	const uint32_t carried = r->carried >> CARRIED_SHIFT;
	struct rvt_etrace_plain plain;
	unsigned int n = carried & 1;
	uint64_t map;

	if (!rvt_etrace_read_plain(&dec->codec, frame->payload, LEN(frame->state), &plain))
		return false;
	map = carried >> 1 | plain.taken << n;
	n += plain.n_outcomes;
	spec->flags = rvt_etrace_run_flags(dec);
	spec->to_branch = plain.kind == RVT_ETRACE_BRANCH_MAP;
	if (spec->to_branch)
		return set_outcomes(spec, map, n, true);
	spec->jumps = true;
	spec->target = rvt_etrace_reported_address(dec, plain.address, r->key.address);
	return set_outcomes(spec, map, n, n && rvt_flow_branch_at(dec->flow, spec->target));
}

/*
 * @frame at r->p, of which there is no memo yet, is taken. Returns what it did, or NULL: it must be
 * decoded the long way.
 */
static struct rvt_memo *speculate(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
				  const struct frame *frame, bool *go_on)
{
	struct rvt_speculation spec = {};
	struct rvt_memo *memo = NULL;

	if (read_spec(dec, r, frame, &spec))
		memo = rvt_speculate(dec->flow, &spec, go_on);
	if (memo) {
		pass(dec, r, memo, 1, frame->len);
	} else {
		r->missed = true;
		*go_on = false;
	}
	return memo;
}

/*
 * Where it is noted which memo such a frame was the last time. Not by what came before it, too:
 * that is new where frames are taken one by one.
 */
static inline uint32_t predictor_slot_of(const struct frame *frame)
{
	return rvt_predictor_slot(rvt_memo_mix(frame->payload, frame->state));
}

static inline const struct rvt_memo *predicted_of(const struct rvt_memos *memos,
						  const struct frame *frame)
{
	return &memos->memos[memos->predictor[predictor_slot_of(frame)] & (RVT_MEMO_ENTRIES - 1)];
}

/*
 * Takes @frame, which is at r->p. Returns its memo, maybe a transient one, or NULL; *go_on: whether
 * replaying can.
 */
static struct rvt_memo *take_frame(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
				   const struct frame *frame, bool *go_on)
{
	const struct rvt_memo_key key = make_key(r->key, frame, r->options | r->carried);
	struct rvt_memo *memo = rvt_memos_take(dec->flow, &key, rvt_memo_hash(&key),
					       predictor_slot_of(frame));

	if (!memo)
		return speculate(dec, r, frame, go_on);
	*go_on = take(dec, r, memo, frame->len);
	return memo;
}

/* ---- one after the other ---- */

/* The frames of a group. */
struct frame_group {
	unsigned int n;
	struct frame frames[RVT_MEMO_GROUP];
};

/*
 * Those of @group, which is at @p, up to one of another source. What their bytes alone lead to is
 * fetched for all of them at once.
 */
static inline __attribute__((always_inline)) void
cut_group(const struct rvt_etrace_decoder *dec, const uint8_t *p, const struct frame *group,
	  struct frame_group *singles)
{
	const struct rvt_memos *memos = rvt_flow_base(dec->flow)->memos;

	for (singles->n = 0; singles->n < FRAMES(group->state); singles->n++) {
		struct frame *frame = &singles->frames[singles->n];

		if (!cut(dec, p, frame))
			break;
		__builtin_prefetch(&memos->predictor[predictor_slot_of(frame)]);
		p += frame->len;
	}
	for (unsigned int i = 0; i < singles->n; i++)
		__builtin_prefetch(predicted_of(memos, &singles->frames[i]));
}

/* Takes the frames of @group one by one, and joins them. False: as far as that goes. */
static bool take_singly(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
			const struct frame *group)
{
	struct rvt_memos *memos = rvt_flow_base(dec->flow)->memos;
	const uint8_t *p = r->p;
	struct rvt_memo_group joined = {
		.key = make_key(r->key, group, r->options | r->carried), .hand = memos->hand,
	};
	struct rvt_memo *memo;
	struct frame_group singles;

	cut_group(dec, p, group, &singles);
	while (joined.n < singles.n) {
		bool go_on;

		memo = take_frame(dec, r, &singles.frames[joined.n], &go_on);
		if (!go_on)
			return false;
		joined.memos[joined.n++] = memo == memos->memos ? memos->transient_kept : memo;
	}
	if (singles.n < FRAMES(group->state))
		return false;
	memo = rvt_memos_group(dec->flow, &joined);
	if (memo)
		train_predictor(memos, p, memo, 1 + rvt_etrace_src_bytes(&dec->codec.params));
	return true;
}

/*
 * After @frame, which has a time stamp and is at @offset. Returns 0 or what a callback returned;
 * *go_on: whether replaying can.
 */
static int tell_time(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
		     const struct frame *frame, uint64_t offset, bool *go_on)
{
	int ret;

	pass_time(dec, frame->time);
	if (dec->time < rvt_flow_base(dec->flow)->time_filter || dec->time == dec->reported_time)
		return 0;
	settle(dec, r->last, r->key.address);
	dec->offset = offset;
	ret = rvt_etrace_emit_time(dec);
	*go_on &= !ret && !*dec->paused && rvt_memos_enter(dec->flow, &r->key);
	return ret;
}

/* The frame at r->p, which is no part of a group. Returns likewise. */
static int take_alone(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
		      const struct frame *frame, uint64_t offset, bool *go_on)
{
	const uint8_t *p = r->p;
	const struct rvt_memo *memo = take_frame(dec, r, frame, go_on);

	if (!memo)
		return 0;
	if (frame->timed)
		return tell_time(dec, r, frame, offset, go_on);
	if (memo != rvt_flow_base(dec->flow)->memos->memos && !(memo->flags & RVT_MEMO_DELTA))
		train_predictor(rvt_flow_base(dec->flow)->memos, p, memo,
				1 + rvt_etrace_src_bytes(&dec->codec.params));
	return 0;
}

/* What take_frame() needs is fetched while the memo is looked for that it is joined in. */
static inline void fetch_frame(struct rvt_memos *memos, const struct etrace_cursor *r,
			       const struct frame *frame)
{
	const struct rvt_memo_key key = make_key(r->key, frame, r->options | r->carried);

	__builtin_prefetch(predicted_of(memos, frame));
	rvt_memos_fetch_index(memos, rvt_memo_hash(&key));
}

/* The memo at r->p, and those that it could be joined of. Returns likewise. */
static int take_next(struct rvt_etrace_decoder *dec, struct etrace_cursor *r, uint64_t offset,
		     bool *go_on)
{
	struct rvt_memos *memos = rvt_flow_base(dec->flow)->memos;
	struct rvt_memo_key key;
	struct rvt_memo *memo;
	struct frame frame;
	uint64_t hash;

	*go_on = cut(dec, r->p, &frame);
	if (!*go_on)
		return 0;
	fetch_frame(memos, r, &frame);
	if (!frame.timed)
		frame = gather(&dec->codec.params, r->p, &frame);
	if (FRAMES(frame.state) == 1)
		return take_alone(dec, r, &frame, offset, go_on);
	key = make_key(r->key, &frame, r->options | r->carried);
	hash = rvt_memo_hash(&key);
	rvt_memos_fetch_index(memos, hash);
	memo = rvt_memos_look_up(memos, &key, hash);
	if (memo)
		train_predictor(memos, r->p, memo, 1 + rvt_etrace_src_bytes(&dec->codec.params));
	*go_on = memo ? take(dec, r, memo, frame.len) : take_singly(dec, r, &frame);
	return 0;
}

/* As many memos as are known. Returns likewise. */
static int replay(struct rvt_etrace_decoder *dec, const struct rvt_etrace_frames *frames,
		  struct etrace_cursor *r)
{
	const unsigned int heads = 1 + rvt_etrace_src_bytes(&dec->codec.params);
	const uint8_t *stop = frames->end - WANTED_BYTES + 1;
	struct rvt_flow *flow = dec->flow;
	bool go_on = true;
	int ret = 0;

	while (go_on && r->p < stop) {
		if (!rvt_flow_base(flow)->counts && rvt_flow_base(flow)->collect) {
			go_on = deliver_predicted(dec, r, stop, heads);
		} else if (heads == 1) {
			rvt_flow_base(flow)->counts ? apply_predicted(dec, r, stop, 1, 1) :
				       apply_predicted(dec, r, stop, 1, 0);
		} else {
			apply_predicted(dec, r, stop, heads, rvt_flow_base(flow)->counts ? 1 : 0);
		}
		if (go_on && r->p < stop)
			ret = take_next(dec, r, frames->pos_offset + (r->p - frames->pos), &go_on);
	}
	return ret;
}

int rvt_etrace_replay(struct rvt_etrace_decoder *dec, struct rvt_etrace_frames *frames)
{
	struct etrace_cursor r = {
		.p = frames->pos,
		.options = options_state(dec),
		.carried = carried_state(carried_bits(&dec->carried)),
		.key = { .address = dec->address },
	};
	int ret;

	dec->missed = false;
	/* Where the source ends inside a byte, all behind it is shifted. */
	if (dec->codec.params.srcid_bits % 8 || frames->carry_len > frames->carry_used ||
	    frames->hunting || frames->end - r.p < WANTED_BYTES || !is_clean(dec) ||
	    !rvt_memos_enter(dec->flow, &r.key))
		return 0;
	ret = replay(dec, frames, &r);
	dec->missed = r.missed;
	dec->missed_at = frames->pos_offset + (r.p - frames->pos);
	if (!r.last)
		return 0;
	settle(dec, r.last, r.key.address);
	dec->stats->messages += r.n;
	frames->pos_offset += r.p - frames->pos;
	frames->pos = r.p;
	if (ret)
		return ret;
	ret = rvt_flow_result(dec->flow);
	return ret > 0 ? -ECANCELED : ret;
}
