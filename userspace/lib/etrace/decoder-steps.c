// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace: packets by their bytes alone (flow/steps.h), for decoders without predictor and jump
 * target cache: where the flow stands, the last address, the outcome that is carried over, and the
 * packet decide what it means. Packets are short, so several in a row that fit a key together are
 * one step as soon as they have come twice. Where no packet has an address, nor does the key.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <etrace/decoder-state.h>
#include <etrace/frame.h>
#include "flow/steps.h"

#define PAYLOAD_BYTES 16	/* of a key */
/* That can be read from the beginning of a frame: header, source, time, two words. */
#define WANTED_BYTES (1 + 2 + 8 + PAYLOAD_BYTES)

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

/* A frame in pieces. */
struct frame {
	unsigned int len;
	bool timed;
	bool keeps_address;	/* see keeps_address() */
	uint64_t time;
	uint32_t head;		/* header and source */
	uint64_t payload[2];
	uint64_t mix;		/* of these */
};

/* Whether a payload that begins with @byte is a map of 31 outcomes, without an address. */
static inline bool keeps_address(const struct rvt_params *params, uint8_t byte)
{
	return (byte & 0x7f) == 1 && !params->type_bits;
}

/* False: no frame, or one that is too long for a key. At least WANTED_BYTES can be read. */
static inline bool cut(const struct rvt_params *params, const uint8_t *p, struct frame *frame)
{
	unsigned int src = rvt_etrace_src_bytes(params), n = p[0] & 31, pos = 1;

	if (!n || n > PAYLOAD_BYTES)
		return false;
	frame->head = p[0];
	for (; pos <= src; pos++)
		frame->head |= (uint32_t)p[pos] << 8 * pos;
	frame->timed = p[0] & 0x80;
	frame->time = 0;
	if (frame->timed) {
		frame->time = low_bytes(load(p + pos), params->timestamp_bytes);
		pos += params->timestamp_bytes;
	}
	frame->payload[0] = low_bytes(load(p + pos), n < 8 ? n : 8);
	frame->payload[1] = n > 8 ? low_bytes(load(p + pos + 8), n - 8) : 0;
	frame->keeps_address = keeps_address(params, frame->payload[0]);
	frame->len = pos + n;
	frame->mix = rvt_step_mix(frame->payload, frame->head);
	return true;
}

/* The key of @frame at the place that @key has. @state: options_state() and carried_state(). */
static inline struct rvt_step_key make_key(struct rvt_step_key key, const struct frame *frame,
					   uint32_t state)
{
	key.bytes[0] = frame->payload[0];
	key.bytes[1] = frame->payload[1];
	key.state = state | frame->head << 2;
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

/* Bit 0: an outcome is carried over; bit 1: which. */
static uint32_t carried_state(const struct path *carried)
{
	return carried->map_bits | (carried->map_bits ? (carried->map & 1) << 1 : 0);
}

/* A frame without a time stamp, and those behind it, as far as they fit a key with it. */
struct group {
	unsigned int n, len;	/* frames, and bytes of all of them */
	struct frame all;	/* .head of the first, .payload from there on, .mix */
};

/* False: there is only @first. */
static inline bool gather(const struct rvt_params *params, const uint8_t *p,
			  const struct frame *first, struct group *group)
{
	const unsigned int heads = 1 + rvt_etrace_src_bytes(params);
	const uint8_t *payload = p + heads;
	unsigned int len = first->len - heads;

	group->n = 1;
	group->all.keeps_address = first->keeps_address;
	while (group->n < RVT_STEP_ROW) {
		unsigned int n = payload[len] & 31, with = len + heads + n;

		if (!n || payload[len] & 0x80 || with > PAYLOAD_BYTES)
			break;
		group->all.keeps_address &= keeps_address(params, payload[len + heads]);
		len = with;
		group->n++;
	}
	if (group->n == 1)
		return false;
	group->len = heads + len;
	group->all.head = first->head;
	group->all.payload[0] = low_bytes(load(payload), len < 8 ? len : 8);
	group->all.payload[1] = len > 8 ? low_bytes(load(payload + 8), len - 8) : 0;
	group->all.mix = rvt_step_mix(group->all.payload, first->head);
	return true;
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
	if (!cut(&dec->codec.params, copy, &frame))
		return;
	dec->mix = frame.mix;
	if (!is_clean(dec) || !rvt_steps_enter(dec->flow, &key))
		return;
	key.address = dec->address;
	key = make_key(key, &frame, options_state(dec) | carried_state(&dec->carried));
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
	rvt_steps_keep(dec->flow, address, carried_state(&dec->carried));
	return true;
}

/* ---- replaying ---- */

/* Where replaying is. */
struct replay {
	const uint8_t *p;
	struct rvt_step_key key;	/* .pc, .address, .meaning */
	uint32_t options, carried;
	uint64_t mix;			/* of the bytes before */
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

/* Takes the step of @n frames with @len bytes. False: it must be the last for now. */
static inline bool take(struct rvt_etrace_decoder *dec, struct replay *r, struct rvt_step *step,
			uint64_t mix, unsigned int n, unsigned int len)
{
	r->last = step;
	r->n += n;
	r->p += len;
	r->mix = mix;
	rvt_steps_advance(dec->flow, step, &r->key);
	r->carried = step->extra;
	return rvt_steps_apply(dec->flow, step);
}

/* There is no step of @frame, which is to be decoded the long way. Returns false. */
static bool miss(struct replay *r, const struct frame *frame)
{
	r->missed = true;
	r->mix = frame->mix;
	return false;
}

/* ---- guessing ---- */

/*
 * The bytes where a frame begins tell which step it was the last time, and that tells how many of
 * them it takes: frames need not be cut. A joined step has this as its hint. Its key, which begins
 * with a whole frame and has zeros behind the last one, is of no other number of bytes or frames.
 */
#define HINT_LEN_BITS 5
#define HINT_LEN ((1u << HINT_LEN_BITS) - 1)
#define EXTEND 0x80
#define HEAD_STATE (0xffffffu << 2)	/* what make_key() makes of .head */

static inline uint32_t hint_of(unsigned int n_frames, unsigned int len)
{
	return n_frames << HINT_LEN_BITS | len;
}

/* The entry for what is at @p: a number, and above it a hint. */
static inline uint32_t *guess_at(struct rvt_steps *steps, const uint8_t *p)
{
	uint64_t mix = load(p) * 0x9e3779b97f4a7c15ull + load(p + 8) * 0xd6e8feb86659fd93ull;

	return &steps->guesses[mix >> 48 & (RVT_STEP_GUESSES - 1)];
}

static void note_guess(struct rvt_steps *steps, const uint8_t *p, const struct rvt_step *s,
		       uint32_t hint)
{
	*guess_at(steps, p) = (uint32_t)(s - steps->steps) | hint * RVT_STEP_ENTRIES;
}

/* Bytes of a payload of so many bytes. */
#define UP_TO(n) ((n) < 8 ? ~(~UINT64_C(0) << 8 * ((n) & 7)) : ~UINT64_C(0))
#define MASK(n) { UP_TO(n), (n) > 8 ? UP_TO((n) - 8) : 0 }
#define MASKS(n) MASK(n), MASK(n + 1), MASK(n + 2), MASK(n + 3)
static const uint64_t masks[HINT_LEN + 1][2] = {
	MASKS(0), MASKS(4), MASKS(8), MASKS(12), MASKS(16), MASKS(20), MASKS(24), MASKS(28),
};

/*
 * At @p are the bytes of @s, whose hint is @hint, but it leads from elsewhere. The one that leads
 * from where @key says, or NULL.
 */
static __attribute__((noinline)) struct rvt_step *find_beside(struct rvt_steps *steps,
							      const uint8_t *p, uint32_t hint,
							      struct rvt_step_key key)
{
	struct rvt_step *s = rvt_steps_look_up_joined(steps, &key, rvt_step_hash(&key), hint);

	if (s)
		note_guess(steps, p, s, hint);
	return s;
}

/*
 * The step at @p where @key has .pc, .address and .meaning, if @entry, which was guessed, tells its
 * length. Sets *hint. @heads: bytes of header and source.
 */
static inline struct rvt_step *guessed(struct rvt_steps *steps, const uint8_t *p,
				       unsigned int heads, uint32_t entry, uint32_t state,
				       struct rvt_step_key key, uint32_t *hint)
{
	struct rvt_step *s = rvt_step_of(steps, entry);
	const uint64_t *mask = masks[((*hint = entry / RVT_STEP_ENTRIES) - heads) & HINT_LEN];
	uint32_t head = p[0];

	for (unsigned int i = 1; i < heads; i++)
		head |= (uint32_t)p[i] << 8 * i;
	key.bytes[0] = load(p + heads) & mask[0];
	key.bytes[1] = load(p + heads + 8) & mask[1];
	key.state = state | head << 2;
	key.address = s->key.address == NO_ADDRESS ? NO_ADDRESS : key.address;
	if (s->hint == *hint && s->flags & RVT_STEP_JOINED) {
		if (rvt_step_is(s, &key))
			return s;
		if ((s->key.bytes[0] ^ key.bytes[0]) | (s->key.bytes[1] ^ key.bytes[1]) |
		    ((s->key.state ^ key.state) & HEAD_STATE))
			return NULL;
		return find_beside(steps, p, *hint, key);
	}
	/* or a frame for itself, without time; behind that of a joined step are no zeros */
	if (!rvt_step_is(s, &key) || s->flags & RVT_STEP_CALLS || head & EXTEND ||
	    *hint != hint_of(1, heads + (head & 31)))
		return NULL;
	return s;
}

/* How far guesses are ahead: what they lead to is being fetched. */
#define AHEAD 8

struct ahead {
	const uint8_t *p;
	unsigned int n;			/* guessed so far */
	uint32_t entries[AHEAD];
};

/* One more, up to @stop. A wrong one is found out before those behind it are looked at. */
static inline void guess_ahead(struct rvt_steps *steps, struct ahead *ahead, const uint8_t *stop)
{
	const uint32_t entry = ahead->p <= stop ? *guess_at(steps, ahead->p) : 0;

	__builtin_prefetch(rvt_step_of(steps, entry));
	ahead->entries[ahead->n++ % AHEAD] = entry;
	ahead->p += entry / RVT_STEP_ENTRIES & HINT_LEN;
}

/*
 * Takes all steps from r->p up to @stop that are guessed right, as long as none has to be delivered
 * or is counted for the first time: nothing but that, so that all is in registers.
 */
static inline void take_guessed(struct rvt_flow *flow, struct replay *r, const uint8_t *stop,
				unsigned int heads)
{
	struct rvt_steps *steps = flow->steps;
	struct ahead ahead = { .p = r->p };
	struct replay now = *r;
	struct rvt_step_sums sums = steps->sums;
	const bool counted = flow->counts;
	uint64_t hints = 0;

	now.last = NULL;
	for (unsigned int n = 0; now.p <= stop && sums.left > 1; n++) {
		struct rvt_step *s;
		uint32_t hint;

		/* two each time, until they are ahead */
		for (int i = 0; i < 2 && ahead.n - n < AHEAD; i++)
			guess_ahead(steps, &ahead, stop);
		s = guessed(steps, now.p, heads, ahead.entries[n % AHEAD],
			    now.options | now.carried, now.key, &hint);
		/* as rvt_steps_count() */
		if (!s || (counted && s->times + 1 <= 1))
			break;
		s->times += counted;
		rvt_step_sums_add(&sums, s);
		rvt_steps_advance(flow, s, &now.key);
		now.carried = s->extra;
		now.last = s;
		now.p += hint & HINT_LEN;
		hints += hint;
	}
	if (!now.last)
		return;
	steps->sums = sums;
	now.mix = rvt_step_mix(now.last->key.bytes, now.last->key.state);
	now.n += (hints - (now.p - r->p)) >> HINT_LEN_BITS;
	*r = now;
}

/* Takes the frames of @group one by one, and joins them. False: as far as that goes. */
static bool take_singly(struct rvt_etrace_decoder *dec, struct replay *r, const struct group *group)
{
	struct rvt_step_row row = {
		.key = make_key(r->key, &group->all, r->options | r->carried),
		.hint = hint_of(group->n, group->len),
	};

	while (row.n < group->n) {
		struct rvt_step_key key;
		struct rvt_step *step;
		struct frame frame;

		if (!cut(&dec->codec.params, r->p, &frame))
			return false;
		key = make_key(r->key, &frame, r->options | r->carried);
		step = rvt_steps_take(dec->flow, &key, rvt_step_hash(&key),
				      rvt_step_guess(r->mix, frame.mix));
		if (!step)
			return miss(r, &frame);
		row.steps[row.n++] = step;
		if (!take(dec, r, step, frame.mix, 1, frame.len))
			return false;
	}
	r->mix = group->all.mix;
	rvt_steps_join(dec->flow, &row);
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
	const struct rvt_step_key key = make_key(r->key, frame, r->options | r->carried);
	const uint8_t *p = r->p;
	struct rvt_step *step;

	step = rvt_steps_take(dec->flow, &key, rvt_step_hash(&key),
			      rvt_step_guess(r->mix, frame->mix));
	*go_on = step ? take(dec, r, step, frame->mix, 1, frame->len) : miss(r, frame);
	if (!step)
		return 0;
	if (frame->timed)
		return tell_time(dec, r, frame, offset, go_on);
	if (!(step->flags & RVT_STEP_CALLS))
		note_guess(dec->flow->steps, p, step, hint_of(1, frame->len));
	return 0;
}

/* The step at r->p, and those that it could be joined of. Returns likewise. */
static int take_next(struct rvt_etrace_decoder *dec, struct replay *r, uint64_t offset, bool *go_on)
{
	struct rvt_steps *steps = dec->flow->steps;
	struct rvt_step_key key = r->key;
	struct rvt_step *step;
	struct frame frame;
	struct group group;
	uint32_t hint;

	step = guessed(steps, r->p, 1 + rvt_etrace_src_bytes(&dec->codec.params),
		       *guess_at(steps, r->p), r->options | r->carried, key, &hint);
	if (step) {
		*go_on = take(dec, r, step, rvt_step_mix(step->key.bytes, step->key.state),
			      hint >> HINT_LEN_BITS, hint & HINT_LEN);
		return 0;
	}
	*go_on = cut(&dec->codec.params, r->p, &frame);
	if (!*go_on)
		return 0;
	if (frame.timed || !gather(&dec->codec.params, r->p, &frame, &group))
		return take_alone(dec, r, &frame, offset, go_on);
	hint = hint_of(group.n, group.len);
	key = make_key(r->key, &group.all, r->options | r->carried);
	step = rvt_steps_look_up_joined(steps, &key, rvt_step_hash(&key), hint);
	if (step)
		note_guess(steps, r->p, step, hint);
	*go_on = step ? take(dec, r, step, group.all.mix, group.n, group.len) :
			take_singly(dec, r, &group);
	return 0;
}

/* As many steps as are known. Returns likewise. */
static int replay(struct rvt_etrace_decoder *dec, const struct rvt_etrace_frames *frames,
		  struct replay *r)
{
	const unsigned int heads = 1 + rvt_etrace_src_bytes(&dec->codec.params);
	const uint8_t *stop = frames->end - WANTED_BYTES;
	struct rvt_flow *flow = dec->flow;
	bool go_on = true;
	int ret = 0;

	while (go_on && r->p <= stop) {
		if (flow->counts || !flow->collect)
			heads == 1 ? take_guessed(flow, r, stop, 1) :
				     take_guessed(flow, r, stop, heads);
		if (r->p <= stop)
			ret = take_next(dec, r, frames->pos_offset + (r->p - frames->pos), &go_on);
	}
	return ret;
}

int rvt_etrace_replay(struct rvt_etrace_decoder *dec, struct rvt_etrace_frames *frames)
{
	struct replay r = {
		.p = frames->pos, .mix = dec->mix, .options = options_state(dec),
		.carried = carried_state(&dec->carried), .key = { .address = dec->address },
	};
	int ret;

	dec->missed = false;
	/* Where the source ends inside a byte, all behind it is shifted. */
	if (dec->codec.params.srcid_bits % 8 || frames->carry_len > frames->carry_used ||
	    frames->hunting || frames->end - r.p < WANTED_BYTES || !is_clean(dec) ||
	    !rvt_steps_enter(dec->flow, &r.key))
		return 0;
	ret = replay(dec, frames, &r);
	dec->mix = r.mix;
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
