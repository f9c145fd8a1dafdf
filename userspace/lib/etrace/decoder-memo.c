// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace: packets by their bytes alone (flow/memo/memos.h), for decoders without predictor and jump
 * target cache: where the flow stands, the last address, the outcome that is carried over, and the
 * packet decide what it means. Packets are short, so several in a row that fit a key together are
 * one step as soon as they have come twice. Where no packet has an address, nor does the key.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <etrace/decoder-state.h>
#include <etrace/frame.h>
#include "flow/walk/speculative.h"

#define PAYLOAD_BYTES 16	/* of a key */
/* That can be read from the beginning of a frame: header, source, time, two words. */
#define WANTED_BYTES (1 + 2 + 8 + PAYLOAD_BYTES)
#define EXTEND 0x80		/* in a header: a time stamp follows */

/* In a key: the last address reported decides nothing, as no packet has one. No place has it. */
#define NO_ADDRESS UINT64_MAX

/* Nothing of earlier packets is left that the key has not. */
static bool is_clean(const struct rvt_etrace_decoder *dec)
{
	return dec->started && dec->pending && !dec->from_trap && !dec->inferred &&
	       !dec->has_repeat && !dec->trap.valid && !dec->predictor && !dec->cache &&
	       !dec->carried.predicted && dec->carried.map_bits <= 1 &&
	       dec->address != NO_ADDRESS &&
	       /* what was loaded just before may say where a jump goes that comes first */
	       (dec->carried.map_bits || !dec->flow->consecutive);
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
#define ROW_BITS 9		/* of both */
#define CARRIED_SHIFT ROW_BITS	/* bit 0: an outcome is carried over; bit 1: which */
#define HEADER_SHIFT 11
_Static_assert(PAYLOAD_BYTES <= LEN(~0u) && RVT_STEP_ROW <= FRAMES(~0u), "what a state holds");

static inline uint32_t row_state(unsigned int n_frames, unsigned int len)
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
	frame->state = (uint32_t)(p[0] & ~EXTEND) << HEADER_SHIFT | row_state(1, n);
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

/* The key of @frame at the place that @key has. @state: options_state() and carried_state(). */
static inline struct rvt_step_key make_key(struct rvt_step_key key, const struct frame *frame,
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
 * predictor or a cache there are no steps.
 */
static uint32_t options_state(const struct rvt_etrace_decoder *dec)
{
	const uint32_t options = dec->codec.params.options;

	return (uint32_t)!!dec->return_depth << 26 | (uint32_t)dec->codec.iret_ext << 27 |
	       (uint32_t)!!(options & RVT_OPT_SEQUENTIAL_JUMP) << 28 |
	       (uint32_t)!!(options & RVT_OPT_FULL_ADDRESS) << 29;
}

/* As a step has it in .extra. */
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
	struct frame row = { .keeps_address = first->keeps_address };

	while (n_frames < RVT_STEP_ROW) {
		unsigned int n = payload[len] & 31, with = len + heads + n;

		if (!n || payload[len] & EXTEND || with > PAYLOAD_BYTES)
			break;
		row.keeps_address &= keeps_address(params, payload[len + heads]);
		len = with;
		n_frames++;
	}
	row.len = heads + len;
	row.state = (uint32_t)p[0] << HEADER_SHIFT | row_state(n_frames, len);
	row.payload[0] = low_bytes(load(payload), len < 8 ? len : 8);
	row.payload[1] = len > 8 ? low_bytes(load(payload + 8), len - 8) : 0;
	return row;
}

/* ---- recording ---- */

static bool may_record(const struct rvt_step_key *key, const struct rvt_etrace_msg *msg)
{
	return msg->kind > RVT_ETRACE_SYNC_SUPPORT && !msg->notify && !msg->irreport &&
	       (key->address != NO_ADDRESS || msg->kind == RVT_ETRACE_BRANCH_MAP);
}

void rvt_etrace_step_begin(struct rvt_etrace_decoder *dec, const uint8_t *bytes,
			   const struct rvt_etrace_msg *msg)
{
	const bool missed = dec->missed && dec->missed_at == msg->offset;
	uint8_t copy[WANTED_BYTES + RVT_ETRACE_MAX_FRAME_BYTES] = {};
	struct rvt_step_key key = { .state = 0 };
	struct frame frame;

	dec->depth_matters = dec->missed = false;
	if (missed) {
		if (may_record(&dec->flow->steps->key, msg) && is_clean(dec))
			rvt_steps_record_missed(dec->flow);
		return;
	}
	memcpy(copy, bytes, msg->len_bytes);
	dec->src = source_at(copy, 1 + rvt_etrace_src_bytes(&dec->codec.params));
	if (!cut(dec, copy, &frame))
		return;
	if (!is_clean(dec) || !rvt_steps_enter(dec->flow, &key))
		return;
	key.address = dec->address;
	key = make_key(key, &frame,
		       options_state(dec) | carried_state(carried_bits(&dec->carried)));
	if (may_record(&key, msg))
		rvt_steps_record(dec->flow, &key);
}

bool rvt_etrace_step_end(struct rvt_etrace_decoder *dec)
{
	bool clean = is_clean(dec);
	uint64_t address;

	if (!rvt_steps_recording(dec->flow))
		return clean;
	if (!clean || dec->depth_matters) {
		rvt_steps_drop(dec->flow);
		return clean;
	}
	address = dec->flow->steps->key.address == NO_ADDRESS ? NO_ADDRESS : dec->address;
	rvt_steps_keep(dec->flow, address, carried_bits(&dec->carried));
	return true;
}

/* ---- replaying ---- */

/* Where replaying is. */
struct replay {
	const uint8_t *p;
	struct rvt_step_key key;	/* .pc, .address, .meaning */
	uint32_t options, carried;	/* parts of .state */
	struct rvt_step *last;		/* NULL: none was taken */
	uint64_t n;			/* frames */
	bool missed;			/* it has been found that there is no step at .p */
};

static void settle(struct rvt_etrace_decoder *dec, const struct rvt_step *last, uint64_t address)
{
	rvt_steps_leave(dec->flow);
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

/* @step, of so many frames and bytes, is taken. */
static inline void pass(struct rvt_etrace_decoder *dec, struct replay *r, struct rvt_step *step,
			unsigned int n_frames, unsigned int len)
{
	r->last = step;
	r->n += n_frames;
	r->p += len;
	rvt_steps_advance(dec->flow, step, &r->key);
	r->carried = carried_state(step->extra);
}

/* Takes the step of what has @len bytes. False: it must be the last for now. */
static inline bool take(struct rvt_etrace_decoder *dec, struct replay *r, struct rvt_step *step,
			unsigned int len)
{
	pass(dec, r, step, FRAMES(step->key.state), len);
	return rvt_steps_apply(dec->flow, step);
}

/* ---- guessing ---- */

/*
 * The bytes where a frame begins tell which step it was the last time, and that tells how many of
 * them it takes: frames need not be cut. Steps of a frame with a time stamp, and those that do
 * something to the return stack, are not guessed.
 */

/* The entry for what is at @p: the offset of a step, and below it of how many bytes that is. */
static inline uint32_t *guess_at(struct rvt_steps *steps, const uint8_t *p)
{
	const uint64_t mix = (load(p) + 8 * load(p + 8)) * 0x9e3779b97f4a7c15ull;

	return &steps->rows[mix >> 48 & (RVT_STEP_GUESSES - 1)];
}

#define GUESS_LEN (sizeof(struct rvt_step) - 1)
_Static_assert(1 + 2 + PAYLOAD_BYTES <= GUESS_LEN &&
	       RVT_STEP_ENTRIES * sizeof(struct rvt_step) <= UINT32_MAX, "what an entry holds");

static inline struct rvt_step *guessed_step(struct rvt_steps *steps, uint32_t entry)
{
	return (struct rvt_step *)((uint8_t *)steps->steps + (entry & ~(uint32_t)GUESS_LEN));
}

static void note_guess(struct rvt_steps *steps, const uint8_t *p, const struct rvt_step *s,
		       unsigned int heads)
{
	*guess_at(steps, p) = (uint32_t)((uint8_t *)s - (uint8_t *)steps->steps) |
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
static inline uint64_t compare(const struct rvt_step *s, const uint8_t *payload)
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
struct place {
	uint64_t pc, address;
	uint64_t state;		/* as state_of() has it */
	uint64_t states[2];	/* by rvt_half() of .pc: meaning and options */
};

/* .state and .meaning, without what LEN() and FRAMES() tell. */
static inline uint64_t state_of(uint32_t state, uint32_t meaning)
{
	return ((uint64_t)meaning << 32 | state) >> ROW_BITS;
}

static inline struct place place_of(const struct rvt_flow *flow, const struct replay *r)
{
	return (struct place){
		.pc = r->key.pc, .address = r->key.address,
		.state = state_of(r->options | r->carried, r->key.meaning),
		.states = { state_of(r->options, flow->meaning[0]),
			    state_of(r->options, flow->meaning[1]) },
	};
}

/* As rvt_steps_advance(). */
static inline void advance(struct place *place, const struct rvt_step *s)
{
	place->pc = s->pc;
	place->address = rvt_step_address(s, place->address);
	place->state = place->states[rvt_half(s->pc)] |
		       carried_state(s->extra) >> ROW_BITS;
}

/*
 * Whether @s is the step of the bytes at @p there, and one that is guessed. @heads: bytes of header
 * and source. One of a frame with a time stamp has the key of the frame without.
 */
static inline bool is_step(const struct rvt_etrace_decoder *dec, const struct rvt_step *s,
			   const uint8_t *p, unsigned int heads, const struct place *place)
{
	const uint64_t state = state_of(s->key.state, s->key.meaning);
	const uint64_t head = (uint64_t)p[0] << (HEADER_SHIFT - ROW_BITS);

	if (heads > 1 && source_at(p, heads) != dec->src)
		return false;
	if (compare(s, p + heads) | (s->key.pc ^ place->pc) | (state ^ (place->state | head)))
		return false;
	return (s->key.address == place->address || s->key.address == NO_ADDRESS) &&
	       !(s->flags & RVT_STEP_CALLS);
}

/* How far guesses are ahead: what they lead to is being fetched. */
#define AHEAD 4

/* The guess for what is at *p, up to @stop; *p: what comes behind that. */
static inline struct rvt_step *guess_ahead(struct rvt_steps *steps, const uint8_t **p,
					   const uint8_t *stop)
{
	const uint32_t entry = *p <= stop ? *guess_at(steps, *p) : 0;
	struct rvt_step *s = guessed_step(steps, entry);

	__builtin_prefetch(s);
	*p += entry & GUESS_LEN;
	return s;
}

/*
 * Takes all steps from r->p up to @stop that are guessed right, where none has to be delivered:
 * nothing but that, so that all is in registers.
 */
static inline __attribute__((always_inline)) void
take_guessed(struct rvt_etrace_decoder *dec, struct replay *r, const uint8_t *stop,
	     unsigned int heads, const uint32_t counted)
{
	struct rvt_steps *steps = dec->flow->steps;
	struct place place = place_of(dec->flow, r);
	struct rvt_step_sums sums = steps->sums;
	struct rvt_step *ahead[AHEAD];
	const uint8_t *p = r->p, *ahead_p = p;
	unsigned int n = 0;
	uint64_t rows = 0;

	for (unsigned int i = 0; i < AHEAD; i++)
		ahead[i] = guess_ahead(steps, &ahead_p, stop);
	for (; p < stop; n++) {
		struct rvt_step *s = ahead[n % AHEAD];
		uint32_t row;

		ahead[n % AHEAD] = guess_ahead(steps, &ahead_p, stop);
		if (!is_step(dec, s, p, heads, &place))
			break;
		/* as rvt_steps_count(), if it counts */
		if (__builtin_expect(s->times + 1 <= counted, 0))
			rvt_steps_begin_times(dec->flow, s);
		s->times += counted;
		if (__builtin_expect(!rvt_step_sums_add(&sums, s), 0)) {
			steps->sums = sums;
			rvt_steps_add_up(dec->flow);
			sums = steps->sums;
		}
		advance(&place, s);
		row = s->key.state & ((1u << ROW_BITS) - 1);
		rows += row;
		p += heads + LEN(row);
	}
	if (!n)
		return;
	steps->sums = sums;
	r->last = sums.last;
	/* FRAMES() of all: without what LEN() tells */
	r->n += rows - ((p - r->p - n * heads) << LEN_SHIFT);
	r->key.address = place.address;
	rvt_steps_advance(dec->flow, r->last, &r->key);
	r->carried = carried_state(r->last->extra);
	r->p = p;
}

/*
 * Takes them likewise where they are delivered, and fetches what they lead through. Returns whether
 * replaying can go on.
 */
static bool deliver_guessed(struct rvt_etrace_decoder *dec, struct replay *r, const uint8_t *stop,
			    unsigned int heads)
{
	struct rvt_steps *steps = dec->flow->steps;
	struct rvt_step *ahead[AHEAD];
	const uint8_t *ahead_p = r->p;

	for (unsigned int i = 0; i < AHEAD; i++)
		ahead[i] = guess_ahead(steps, &ahead_p, stop);
	for (unsigned int n = 0; r->p < stop; n++) {
		const struct place place = place_of(dec->flow, r);
		struct rvt_step *s = ahead[n % AHEAD];

		ahead[n % AHEAD] = guess_ahead(steps, &ahead_p, stop);
		/* It is there by now. */
		__builtin_prefetch(rvt_step_path(steps, ahead[(n + AHEAD / 2) % AHEAD]));
		if (!is_step(dec, s, r->p, heads, &place))
			return true;
		if (!take(dec, r, s, heads + LEN(s->key.state)))
			return false;
	}
	return true;
}

/* ---- what is no step yet ---- */

/* @carries: the last of @n is that of a branch to which they lead. Returns true. */
static bool set_outcomes(struct rvt_stride *stride, uint64_t map, unsigned int n, bool carries)
{
	stride->n_outcomes = n - carries;
	stride->outcomes = map & rvt_etrace_mask(n - carries);
	if (carries)
		stride->extra = 1 | (map >> (n - 1) & 1) << 1;
	return true;
}

/* What @frame says at the place that @r has. False: it must be looked at more closely. */
static bool read_stride(const struct rvt_etrace_decoder *dec, const struct replay *r,
			const struct frame *frame, struct rvt_stride *stride)
{
	const uint32_t carried = r->carried >> CARRIED_SHIFT;
	struct rvt_etrace_plain plain;
	unsigned int n = carried & 1;
	uint64_t map;

	if (!rvt_etrace_read_plain(&dec->codec, frame->payload, LEN(frame->state), &plain))
		return false;
	map = carried >> 1 | plain.taken << n;
	n += plain.n_outcomes;
	stride->flags = rvt_etrace_run_flags(dec);
	stride->to_branch = plain.kind == RVT_ETRACE_BRANCH_MAP;
	if (stride->to_branch)
		return set_outcomes(stride, map, n, true);
	stride->jumps = true;
	stride->target = rvt_etrace_reported_address(dec, plain.address, r->key.address);
	if (stride->target != rvt_code_addr(&dec->flow->code, stride->target & ~1ull))
		return false;
	return set_outcomes(stride, map, n, n && rvt_flow_branch_at(dec->flow, stride->target));
}

/*
 * @frame at r->p, of which there is no step yet, is taken. Returns what it did, or NULL: it must be
 * decoded the long way.
 */
static struct rvt_step *take_stride(struct rvt_etrace_decoder *dec, struct replay *r,
				    const struct frame *frame, bool *go_on)
{
	struct rvt_stride stride = {};
	struct rvt_step *step = NULL;

	if (read_stride(dec, r, frame, &stride))
		step = rvt_stride_take(dec->flow, &stride, go_on);
	if (step) {
		pass(dec, r, step, 1, frame->len);
	} else {
		r->missed = true;
		*go_on = false;
	}
	return step;
}

/*
 * Where it is noted which step such a frame was the last time. Not by what came before it, too:
 * that is new where frames are taken one by one.
 */
static inline uint32_t guess_of(const struct frame *frame)
{
	return rvt_step_guess(rvt_step_mix(frame->payload, frame->state));
}

static inline const struct rvt_step *guessed_of(const struct rvt_steps *steps,
						const struct frame *frame)
{
	return &steps->steps[steps->guesses[guess_of(frame)] & (RVT_STEP_ENTRIES - 1)];
}

/*
 * Takes @frame, which is at r->p. Returns its step, the draft of one, or NULL; *go_on: whether
 * replaying can.
 */
static struct rvt_step *take_frame(struct rvt_etrace_decoder *dec, struct replay *r,
				   const struct frame *frame, bool *go_on)
{
	const struct rvt_step_key key = make_key(r->key, frame, r->options | r->carried);
	struct rvt_step *step = rvt_steps_take(dec->flow, &key, rvt_step_hash(&key),
					       guess_of(frame));

	if (!step)
		return take_stride(dec, r, frame, go_on);
	*go_on = take(dec, r, step, frame->len);
	return step;
}

/* ---- one after the other ---- */

/* The frames of a group. */
struct row {
	unsigned int n;
	struct frame frames[RVT_STEP_ROW];
};

/*
 * Those of @group, which is at @p, up to one of another source. What their bytes alone lead to is
 * fetched for all of them at once.
 */
static inline __attribute__((always_inline)) void
cut_row(const struct rvt_etrace_decoder *dec, const uint8_t *p, const struct frame *group,
	struct row *row)
{
	const struct rvt_steps *steps = dec->flow->steps;

	for (row->n = 0; row->n < FRAMES(group->state); row->n++) {
		struct frame *frame = &row->frames[row->n];

		if (!cut(dec, p, frame))
			break;
		__builtin_prefetch(&steps->guesses[guess_of(frame)]);
		p += frame->len;
	}
	for (unsigned int i = 0; i < row->n; i++)
		__builtin_prefetch(guessed_of(steps, &row->frames[i]));
}

/* Takes the frames of @group one by one, and joins them. False: as far as that goes. */
static bool take_singly(struct rvt_etrace_decoder *dec, struct replay *r, const struct frame *group)
{
	struct rvt_steps *steps = dec->flow->steps;
	const uint8_t *p = r->p;
	struct rvt_step_row joined = {
		.key = make_key(r->key, group, r->options | r->carried), .hand = steps->hand,
	};
	struct rvt_step *step;
	struct row row;

	cut_row(dec, p, group, &row);
	while (joined.n < row.n) {
		bool go_on;

		step = take_frame(dec, r, &row.frames[joined.n], &go_on);
		if (!go_on)
			return false;
		joined.steps[joined.n++] = step == steps->steps ? steps->draft_kept : step;
	}
	if (row.n < FRAMES(group->state))
		return false;
	step = rvt_steps_join(dec->flow, &joined);
	if (step)
		note_guess(steps, p, step, 1 + rvt_etrace_src_bytes(&dec->codec.params));
	return true;
}

/*
 * After @frame, which has a time stamp and is at @offset. Returns 0 or what a callback returned;
 * *go_on: whether replaying can.
 */
static int tell_time(struct rvt_etrace_decoder *dec, struct replay *r, const struct frame *frame,
		     uint64_t offset, bool *go_on)
{
	int ret;

	pass_time(dec, frame->time);
	if (dec->time < dec->flow->quiet || dec->time == dec->reported_time)
		return 0;
	settle(dec, r->last, r->key.address);
	dec->offset = offset;
	ret = rvt_etrace_emit_time(dec);
	*go_on &= !ret && rvt_steps_enter(dec->flow, &r->key);
	return ret;
}

/* The frame at r->p, which is no part of a group. Returns likewise. */
static int take_alone(struct rvt_etrace_decoder *dec, struct replay *r, const struct frame *frame,
		      uint64_t offset, bool *go_on)
{
	const uint8_t *p = r->p;
	const struct rvt_step *step = take_frame(dec, r, frame, go_on);

	if (!step)
		return 0;
	if (frame->timed)
		return tell_time(dec, r, frame, offset, go_on);
	if (step != dec->flow->steps->steps && !(step->flags & RVT_STEP_CALLS))
		note_guess(dec->flow->steps, p, step,
			   1 + rvt_etrace_src_bytes(&dec->codec.params));
	return 0;
}

/* What take_frame() needs is fetched while the step is looked for that it is joined in. */
static inline void fetch_frame(struct rvt_steps *steps, const struct replay *r,
			       const struct frame *frame)
{
	const struct rvt_step_key key = make_key(r->key, frame, r->options | r->carried);

	__builtin_prefetch(guessed_of(steps, frame));
	rvt_steps_fetch_index(steps, rvt_step_hash(&key));
}

/* The step at r->p, and those that it could be joined of. Returns likewise. */
static int take_next(struct rvt_etrace_decoder *dec, struct replay *r, uint64_t offset, bool *go_on)
{
	struct rvt_steps *steps = dec->flow->steps;
	struct rvt_step_key key;
	struct rvt_step *step;
	struct frame frame;
	uint64_t hash;

	*go_on = cut(dec, r->p, &frame);
	if (!*go_on)
		return 0;
	fetch_frame(steps, r, &frame);
	if (!frame.timed)
		frame = gather(&dec->codec.params, r->p, &frame);
	if (FRAMES(frame.state) == 1)
		return take_alone(dec, r, &frame, offset, go_on);
	key = make_key(r->key, &frame, r->options | r->carried);
	hash = rvt_step_hash(&key);
	rvt_steps_fetch_index(steps, hash);
	step = rvt_steps_look_up(steps, &key, hash);
	if (step)
		note_guess(steps, r->p, step, 1 + rvt_etrace_src_bytes(&dec->codec.params));
	*go_on = step ? take(dec, r, step, frame.len) : take_singly(dec, r, &frame);
	return 0;
}

/* As many steps as are known. Returns likewise. */
static int replay(struct rvt_etrace_decoder *dec, const struct rvt_etrace_frames *frames,
		  struct replay *r)
{
	const unsigned int heads = 1 + rvt_etrace_src_bytes(&dec->codec.params);
	const uint8_t *stop = frames->end - WANTED_BYTES + 1;
	struct rvt_flow *flow = dec->flow;
	bool go_on = true;
	int ret = 0;

	while (go_on && r->p < stop) {
		if (!flow->counts && flow->collect) {
			go_on = deliver_guessed(dec, r, stop, heads);
		} else if (heads == 1) {
			flow->counts ? take_guessed(dec, r, stop, 1, 1) :
				       take_guessed(dec, r, stop, 1, 0);
		} else {
			take_guessed(dec, r, stop, heads, flow->counts ? 1 : 0);
		}
		if (go_on && r->p < stop)
			ret = take_next(dec, r, frames->pos_offset + (r->p - frames->pos), &go_on);
	}
	return ret;
}

int rvt_etrace_replay(struct rvt_etrace_decoder *dec, struct rvt_etrace_frames *frames)
{
	struct replay r = {
		.p = frames->pos, .options = options_state(dec),
		.carried = carried_state(carried_bits(&dec->carried)), .key = { .address = dec->address },
	};
	int ret;

	dec->missed = false;
	/* Where the source ends inside a byte, all behind it is shifted. */
	if (dec->codec.params.srcid_bits % 8 || frames->carry_len > frames->carry_used ||
	    frames->hunting || frames->end - r.p < WANTED_BYTES || !is_clean(dec) ||
	    !rvt_steps_enter(dec->flow, &r.key))
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
	return ret ? ret : dec->flow->result < 0 ? dec->flow->result :
	       dec->flow->result ? -ECANCELED : 0;
}
