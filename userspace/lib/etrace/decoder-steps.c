// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace: packets by their bytes alone (flow/steps.h), for decoders without predictor and jump
 * target cache: where the flow stands, the last address, the outcome that is carried over, and the
 * packet decide what it means. Packets are short, so several in a row that fit a key together are
 * one step as soon as they have come twice.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <etrace/decoder-state.h>
#include <etrace/frame.h>
#include "flow/steps.h"

#define PAYLOAD_BYTES 16	/* of a key */
/* That are read of a frame: header, source, time, two words. */
#define FRAME_BYTES (1 + 2 + 8 + PAYLOAD_BYTES)
/* That can be read from the beginning of a group: what its last frame may take, too. */
#define WANTED_BYTES (PAYLOAD_BYTES + FRAME_BYTES)

/* Nothing of earlier packets is left that the key has not. */
static bool is_clean(const struct rvt_etrace_decoder *dec)
{
	return dec->started && dec->pending && !dec->from_trap && !dec->inferred &&
	       !dec->has_repeat && !dec->trap.valid && !dec->predictor && !dec->cache &&
	       !dec->carried.predicted && dec->carried.map_bits <= 1 &&
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

#define KEEP(n) ((n) <= 0 ? 0 : (n) >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * ((n) & 7)) - 1)
#define KEEPS(n) { KEEP(n), KEEP((n) - 8) }

/* What is left of two words of which so many bytes count. */
static const uint64_t kept_bytes[PAYLOAD_BYTES + 1][2] = {
	KEEPS(0), KEEPS(1), KEEPS(2), KEEPS(3), KEEPS(4), KEEPS(5), KEEPS(6), KEEPS(7), KEEPS(8),
	KEEPS(9), KEEPS(10), KEEPS(11), KEEPS(12), KEEPS(13), KEEPS(14), KEEPS(15), KEEPS(16),
};

/* A frame in pieces. */
struct frame {
	unsigned int len;
	bool timed;
	uint64_t time;
	uint32_t head;		/* header and source */
	uint64_t payload[2];
	uint64_t mix;		/* of these */
};

/* Of so many bytes, 1 to 3. */
static inline uint32_t head_of(const uint8_t *p, unsigned int heads)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return le32toh(word) & ((1u << 8 * heads) - 1);
}

/* False: no frame, or one that is too long for a key. At least FRAME_BYTES can be read. */
static inline bool cut(const struct rvt_params *params, const uint8_t *p, struct frame *frame)
{
	unsigned int n = p[0] & 31, pos = 1 + rvt_etrace_src_bytes(params);

	if (!n || n > PAYLOAD_BYTES)
		return false;
	frame->head = head_of(p, pos);
	frame->timed = p[0] & 0x80;
	frame->time = 0;
	if (frame->timed) {
		frame->time = low_bytes(load(p + pos), params->timestamp_bytes);
		pos += params->timestamp_bytes;
	}
	frame->payload[0] = load(p + pos) & kept_bytes[n][0];
	frame->payload[1] = load(p + pos + 8) & kept_bytes[n][1];
	frame->len = pos + n;
	frame->mix = rvt_step_mix(frame->payload, frame->head);
	return true;
}

/* @options: options_state(). */
static inline void set_key(struct rvt_step_key *key, const struct frame *frame, uint32_t options,
			   uint32_t carried)
{
	key->bytes[0] = frame->payload[0];
	key->bytes[1] = frame->payload[1];
	key->state = options | frame->head << 2 | carried;
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

/*
 * Frames without time stamps, as many as fit a key together: the first one's header and source, and
 * all that lies behind these.
 */
struct group {
	unsigned int n, len;	/* frames, and bytes of all of them */
	struct frame all;	/* .head of the first, .payload from there on, .mix */
};

/* Of a header: the length of the payload, and whether there is a time stamp: then it is too long. */
#define PLAIN_LENGTH(header) ((header) & 0x9f)

/* False: not even one. At least WANTED_BYTES can be read. */
static inline bool gather(unsigned int heads, const uint8_t *p, struct group *group)
{
	const uint8_t *payload = p + heads, *end = payload + PAYLOAD_BYTES, *next, *behind;
	unsigned int n, len, more = PLAIN_LENGTH(p[0]);

	if (!more || more > PAYLOAD_BYTES)
		return false;
	for (n = 1, next = payload + more;; n++, next = behind) {
		more = PLAIN_LENGTH(*next);
		behind = next + heads + more;
		if (!more || behind > end)
			break;
	}
	len = next - payload;
	group->n = n;
	group->len = next - p;
	group->all.head = head_of(p, heads);
	group->all.payload[0] = load(payload) & kept_bytes[len][0];
	group->all.payload[1] = load(payload + 8) & kept_bytes[len][1];
	group->all.mix = rvt_step_mix(group->all.payload, group->all.head);
	return true;
}

/* ---- recording ---- */

void rvt_etrace_step_begin(struct rvt_etrace_decoder *dec, const uint8_t *bytes,
			   const struct rvt_etrace_msg *msg)
{
	uint8_t copy[FRAME_BYTES] = {};
	struct rvt_step_key key = { .state = 0 };
	struct frame frame;

	dec->depth_matters = false;
	if (msg->len_bytes > FRAME_BYTES)
		return;
	memcpy(copy, bytes, msg->len_bytes);
	if (!cut(&dec->codec.params, copy, &frame))
		return;
	dec->mix = frame.mix;
	if (msg->kind <= RVT_ETRACE_SYNC_SUPPORT || msg->notify || msg->irreport ||
	    !is_clean(dec) || !rvt_steps_enter(dec->flow, &key))
		return;
	set_key(&key, &frame, options_state(dec), carried_state(&dec->carried));
	key.address = dec->address;
	rvt_steps_record(dec->flow, &key);
}

bool rvt_etrace_step_end(struct rvt_etrace_decoder *dec)
{
	bool clean = is_clean(dec);

	if (!rvt_steps_recording(dec->flow))
		return clean;
	if (!clean || dec->depth_matters) {
		rvt_steps_drop(dec->flow);
		return clean;
	}
	rvt_steps_keep(dec->flow, dec->address, carried_state(&dec->carried));
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

/* Takes the frames of @group one by one, and joins them. False: as far as that goes. */
static bool take_singly(struct rvt_etrace_decoder *dec, struct replay *r, const struct group *group)
{
	struct rvt_step_row row = { .key = r->key };

	set_key(&row.key, &group->all, r->options, r->carried);
	while (row.n < group->n) {
		struct rvt_step *step;
		struct frame frame;

		if (!cut(&dec->codec.params, r->p, &frame))
			return false;
		set_key(&r->key, &frame, r->options, r->carried);
		step = rvt_steps_take(dec->flow, &r->key, rvt_step_guess(r->mix, frame.mix));
		if (!step)
			return false;
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

/*
 * As many groups as are known. All of @at is in registers as long as only functions that are
 * inlined get a pointer to it. False: it must be the last for now, else *group is what comes next.
 */
static bool take_groups(struct rvt_etrace_decoder *dec, const uint8_t *end, struct replay *at,
			struct group *group)
{
	const unsigned int heads = 1 + rvt_etrace_src_bytes(&dec->codec.params);
	struct replay r = *at;
	bool go_on = true;
	struct group g;

	g.n = 0;
	while (go_on && end - r.p >= WANTED_BYTES) {
		struct rvt_step *step;

		if (!gather(heads, r.p, &g))
			break;
		set_key(&r.key, &g.all, r.options, r.carried);
		step = rvt_steps_take(dec->flow, &r.key, rvt_step_guess(r.mix, g.all.mix));
		if (!step)
			break;
		go_on = take(dec, &r, step, g.all.mix, g.n, g.len);
		g.n = 0;
	}
	*at = r;
	*group = g;
	return go_on;
}

/*
 * A frame that no group begins with: it has a time stamp, or the end of the bytes is near. If it is
 * known, that is. Returns as tell_time().
 */
static int take_alone(struct rvt_etrace_decoder *dec, const struct rvt_etrace_frames *frames,
		      struct replay *r, bool *go_on)
{
	const uint64_t offset = frames->pos_offset + (r->p - frames->pos);
	struct rvt_step *step;
	struct frame frame;

	*go_on = false;
	if (frames->end - r->p < FRAME_BYTES || !cut(&dec->codec.params, r->p, &frame))
		return 0;
	set_key(&r->key, &frame, r->options, r->carried);
	step = rvt_steps_take(dec->flow, &r->key, rvt_step_guess(r->mix, frame.mix));
	if (!step)
		return 0;
	*go_on = take(dec, r, step, frame.mix, 1, frame.len);
	return frame.timed ? tell_time(dec, r, &frame, offset, go_on) : 0;
}

/* As many steps as are known. Returns likewise. */
static int replay(struct rvt_etrace_decoder *dec, const struct rvt_etrace_frames *frames,
		  struct replay *r)
{
	struct group group;
	bool go_on = true;
	int ret = 0;

	while (go_on && take_groups(dec, frames->end, r, &group)) {
		if (!group.n)
			ret = take_alone(dec, frames, r, &go_on);
		else
			go_on = group.n > 1 && take_singly(dec, r, &group);
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

	/* Where the source ends inside a byte, all behind it is shifted. */
	if (dec->codec.params.srcid_bits % 8 || frames->carry_len > frames->carry_used ||
	    frames->hunting || frames->end - r.p < WANTED_BYTES || !is_clean(dec) ||
	    !rvt_steps_enter(dec->flow, &r.key))
		return 0;
	ret = replay(dec, frames, &r);
	if (!r.last)
		return 0;
	settle(dec, r.last, r.key.address);
	dec->mix = r.mix;
	dec->stats->messages += r.n;
	frames->pos_offset += r.p - frames->pos;
	frames->pos = r.p;
	return ret ? ret : dec->flow->result < 0 ? dec->flow->result :
	       dec->flow->result ? -ECANCELED : 0;
}
