// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace: packets by their bytes alone (flow/steps.h), for decoders without predictor and jump
 * target cache: where the flow stands, the last address, the outcome that is carried over,
 * and the packet decide what it means.
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

static inline void set_key(struct rvt_step_key *key, const struct frame *frame, uint32_t carried)
{
	key->bytes[0] = frame->payload[0];
	key->bytes[1] = frame->payload[1];
	key->state = frame->head << 2 | carried;
}

/* Bit 0: an outcome is carried over; bit 1: which. */
static uint32_t carried_state(const struct path *carried)
{
	return carried->map_bits | (carried->map_bits ? (carried->map & 1) << 1 : 0);
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
	set_key(&key, &frame, carried_state(&dec->carried));
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

int rvt_etrace_replay(struct rvt_etrace_decoder *dec, struct rvt_etrace_frames *frames)
{
	const uint8_t *p = frames->pos, *end = frames->end;
	struct rvt_step_key key = { .state = 0 };
	struct rvt_step *step = NULL, *last = NULL;
	uint32_t carried = carried_state(&dec->carried);
	uint64_t n = 0, mix;
	int ret = 0;

	/* Where the source ends inside a byte, all behind it is shifted. */
	if (dec->codec.params.srcid_bits % 8 || frames->carry_len > frames->carry_used ||
	    frames->hunting || end - p < WANTED_BYTES || !is_clean(dec) ||
	    !rvt_steps_enter(dec->flow, &key))
		return 0;
	key.address = dec->address;
	mix = dec->mix;
	while (end - p >= WANTED_BYTES) {
		struct frame frame;
		bool whole;

		if (!cut(&dec->codec.params, p, &frame))
			break;
		set_key(&key, &frame, carried);
		step = rvt_steps_find(dec->flow, &key, rvt_step_guess(mix, frame.mix));
		if (!step || !rvt_steps_call(dec->flow, step))
			break;
		whole = rvt_steps_apply(dec->flow, step);
		last = step;
		n++;
		p += frame.len;
		mix = frame.mix;
		key.pc = step->pc;
		key.address = rvt_step_address(step, key.address);
		carried = step->extra;
		if (frame.timed) {
			pass_time(dec, frame.time);
			if (dec->time >= dec->flow->quiet && dec->time != dec->reported_time) {
				settle(dec, step, key.address);
				dec->offset = frames->pos_offset + (p - frames->pos) - frame.len;
				ret = rvt_etrace_emit_time(dec);
				if (ret || !rvt_steps_enter(dec->flow, &key))
					break;
			}
		}
		if (!whole)
			break;
	}
	if (!n)
		return 0;
	settle(dec, last, key.address);
	dec->mix = mix;
	dec->stats->messages += n;
	frames->pos_offset += p - frames->pos;
	frames->pos = p;
	return ret ? ret : dec->flow->result < 0 ? dec->flow->result :
	       dec->flow->result ? -ECANCELED : 0;
}
