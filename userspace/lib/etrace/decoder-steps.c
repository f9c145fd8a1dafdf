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
/* That can be read from the beginning of a frame: header, source, time, two words. */
#define WANTED_BYTES (1 + 2 + 8 + PAYLOAD_BYTES)

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

/* A frame in pieces. */
struct frame {
	unsigned int len;
	bool timed;
	uint64_t time;
	uint32_t head;		/* header and source */
	uint64_t payload[2];
	uint64_t mix;		/* of these */
};

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
	while (group->n < RVT_STEP_ROW) {
		unsigned int n = payload[len] & 31, with = len + heads + n;

		if (!n || payload[len] & 0x80 || with > PAYLOAD_BYTES)
			break;
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

void rvt_etrace_step_begin(struct rvt_etrace_decoder *dec, const uint8_t *bytes,
			   const struct rvt_etrace_msg *msg)
{
	uint8_t copy[WANTED_BYTES + RVT_ETRACE_MAX_FRAME_BYTES] = {};
	struct rvt_step_key key = { .state = 0 };
	struct frame frame;

	dec->depth_matters = false;
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
		step = rvt_steps_take(dec->flow, &r->key, rvt_step_hash(&r->key),
				      rvt_step_guess(r->mix, frame.mix));
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

/* As many steps as are known. Returns likewise. */
static int replay(struct rvt_etrace_decoder *dec, const struct rvt_etrace_frames *frames,
		  struct replay *r)
{
	bool go_on = true;
	int ret = 0;

	while (go_on && frames->end - r->p >= WANTED_BYTES) {
		const uint64_t offset = frames->pos_offset + (r->p - frames->pos);
		struct rvt_step *step;
		struct frame frame;
		struct group group;

		if (!cut(&dec->codec.params, r->p, &frame))
			break;
		if (!frame.timed && gather(&dec->codec.params, r->p, &frame, &group)) {
			set_key(&r->key, &group.all, r->options, r->carried);
			step = rvt_steps_find(dec->flow, &r->key, rvt_step_hash(&r->key),
					      rvt_step_guess(r->mix, group.all.mix));
			go_on = step ? take(dec, r, step, group.all.mix, group.n, group.len) :
				       take_singly(dec, r, &group);
			continue;
		}
		set_key(&r->key, &frame, r->options, r->carried);
		step = rvt_steps_take(dec->flow, &r->key, rvt_step_hash(&r->key),
				      rvt_step_guess(r->mix, frame.mix));
		if (!step)
			break;
		go_on = take(dec, r, step, frame.mix, 1, frame.len);
		if (frame.timed)
			ret = tell_time(dec, r, &frame, offset, &go_on);
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
