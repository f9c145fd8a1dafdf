// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace: branch messages by their bytes alone. A hart does the same things again and again, and
 * so its encoder sends the same messages: where the program stands and the bytes of a message
 * decide what it means, as long as no I-CNT is pending. Where history of ResourceFull was walked
 * before, what is left of I-CNT decides.
 */
#include <endian.h>
#include <string.h>
#include "flow/steps.h"
#include "ntrace/decoder-state.h"

#define ONES UINT64_C(0x0101010101010101)
#define WANTED_BYTES 24		/* that can be read from where a message begins: with the time */

/* Nothing of earlier messages but .ahead is left that would decide what the next one means. */
static bool is_clean(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s)
{
	return s->flow && s->progress == RVT_NTRACE_ACTIVE && s->flowing && s->synced &&
	       !s->stopped && !s->unanswered && !s->icnt && !s->resumed && s->mode_settled &&
	       !d->result;
}

/* The low @n bytes of @word. */
static inline uint64_t low_bytes(uint64_t word, unsigned int n)
{
	return n < 8 ? word & ~(~UINT64_C(0) << 8 * n) : word;
}

static inline uint64_t load(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

/* The 6 MDO bits of each byte in a row. */
static inline uint64_t pack(uint64_t word)
{
	word = word >> 2 & UINT64_C(0x3f3f3f3f3f3f3f3f);
	word = (word & UINT64_C(0x003f003f003f003f)) | (word & UINT64_C(0x3f003f003f003f00)) >> 2;
	word = (word & UINT64_C(0x00000fff00000fff)) | (word & UINT64_C(0x0fff00000fff0000)) >> 4;
	return (word & 0xffffff) | (word & UINT64_C(0x00ffffff00000000)) >> 8;
}

/* A message that is a step has so many fields before its time stamp; RCODE tells the second. */
static const uint8_t n_fields[64] = {
	[RVT_NTRACE_DIRECT_BRANCH] = 1, [RVT_NTRACE_RESOURCE_FULL] = 1,
	[RVT_NTRACE_INDIRECT_BRANCH] = 2, [RVT_NTRACE_INDIRECT_BRANCH_HIST] = 3,
};

/*
 * The bytes of the message at @p up to where its time stamp begins, if it has one. Returns how many,
 * 0: too many, or no message that is replayed. At least WANTED_BYTES are there.
 */
static inline unsigned int key_bytes(const struct rvt_ntrace_decoder *d, const uint8_t *p,
				     uint64_t bytes[2])
{
	uint64_t low = load(p), high = load(p + 8), ends, second;
	const unsigned int tcode = low >> 2 & 63;
	unsigned int n = n_fields[tcode], len;

	if (tcode == RVT_NTRACE_RESOURCE_FULL) {
		n = pack(low & UINT32_MAX) >> (6 + d->params.src_bits) & 15;
		if (n > 2)
			return 0;
	}
	if (!n)
		return 0;
	if (!d->reader.timestamps) {
		ends = low & low >> 1 & ONES;
		second = high & high >> 1 & ONES;
	} else {
		ends = low & ONES;
		second = high & ONES;
		/* Branches, which are foreseen, rather than data that all that follows waits for. */
		while (--n) {
			if (ends)
				ends &= ends - 1;
			else
				second &= second - 1;
		}
	}
	if (ends)
		len = __builtin_ctzll(ends) / 8 + 1;
	else if (second)
		len = __builtin_ctzll(second) / 8 + 9;
	else
		return 0;
	bytes[0] = low_bytes(low, len);
	bytes[1] = len > 8 ? low_bytes(high, len - 8) : 0;
	return len;
}

struct field {
	uint64_t value;
	unsigned int len_bytes;
	bool last;		/* of the message */
};

/* The field that ends in one of the 8 bytes at @p. False: none does, or not as it must. */
static inline bool read_field(const uint8_t *p, struct field *field)
{
	uint64_t word = load(p), end = word & ONES & -(word & ONES);

	if (!end)
		return false;
	/* MSEO 2 is reserved */
	word &= (end << 8) - 1;
	if (word >> 1 & ~word & ONES)
		return false;
	field->value = pack(word);
	field->len_bytes = __builtin_ctzll(end) / 8 + 1;
	field->last = word & end << 1;
	return true;
}

/* A time stamp of up to 8 bytes; returns how many, 0: more. */
static inline unsigned int read_time(const uint8_t *p, uint64_t *stamp)
{
	struct field field;

	if (!read_field(p, &field) || !field.last)
		return 0;
	*stamp = field.value;
	return field.len_bytes;
}

/* ---- keys ---- */

static inline unsigned int tcode_of(const uint64_t bytes[2])
{
	return bytes[0] >> 2 & 63;
}

static inline bool is_full(const uint64_t bytes[2])
{
	return tcode_of(bytes) == RVT_NTRACE_RESOURCE_FULL;
}

#define STATE_MIDST (1u << 4)	/* above the mode; above it the TCODE, and what is left of I-CNT */

/*
 * The key of a branch in the midst of what I-CNT counts, @ahead of which was walked: without its
 * first field, of which the rest of I-CNT is all that matters. False: that is negative, or the
 * message is none of @src.
 */
static inline bool key_in_midst(const struct rvt_ntrace_decoder *d, uint64_t ahead,
				struct rvt_step_key *key)
{
	const unsigned int tcode = tcode_of(key->bytes), src_bits = d->params.src_bits;
	const uint64_t end = key->bytes[0] & ONES & -(key->bytes[0] & ONES);
	const unsigned int len_bits = __builtin_ctzll(end | 1ull << 63) + 8;
	const uint64_t field = pack(key->bytes[0] & ((end << 8) - 1));
	const unsigned int shift = 6 + src_bits + (tcode == RVT_NTRACE_DIRECT_BRANCH ? 0 : 2);
	const uint64_t icnt = field >> shift, btype_src = field & ((1u << shift) - 1);

	if (len_bits > 40 || btype_src >> 6 != d->recent_src || icnt < ahead)
		return false;
	key->bytes[0] = key->bytes[0] >> len_bits | key->bytes[1] << (64 - len_bits);
	key->bytes[1] >>= len_bits;
	key->state |= STATE_MIDST | tcode << 5 | (uint32_t)(icnt - ahead) << 11;
	return !((icnt - ahead) >> 21);
}

/*
 * What of the key the message decides whose bytes are in key->bytes. @reference, @ahead: as in
 * struct rvt_ntrace_source.
 */
static inline bool make_key(const struct rvt_ntrace_decoder *d, unsigned int mode,
			    uint64_t reference, uint64_t ahead, struct rvt_step_key *key)
{
	const bool full = is_full(key->bytes);

	key->state = mode;
	key->address = full ? 0 : reference;
	return full || !ahead || key_in_midst(d, ahead, key);
}

/* ---- recording ---- */

void rvt_ntrace_step_begin(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	const unsigned int src = d->params.src_bits ? msg->field[RVT_NTRACE_F_SRC] : 0;
	struct rvt_ntrace_source *s = d->sources[src];
	const bool missed = d->missed && d->recent == s;
	uint8_t bytes[WANTED_BYTES + 8] = {};
	struct rvt_step_key key = {};

	d->recent = s;
	d->recent_src = src;
	d->missed = false;
	if (!s || !is_clean(d, s) || msg->len_bytes > WANTED_BYTES ||
	    (rvt_ntrace_has(msg, RVT_NTRACE_F_BTYPE) && msg->field[RVT_NTRACE_F_BTYPE]))
		return;
	if (missed) {
		rvt_steps_record_missed(s->flow);
		return;
	}
	memcpy(bytes, d->reader.bytes, msg->len_bytes);
	if (!key_bytes(d, bytes, key.bytes) || !rvt_steps_enter(s->flow, &key))
		return;
	d->mix = rvt_step_mix(key.bytes, s->mode);
	if (make_key(d, s->mode, s->reference, s->ahead, &key))
		rvt_steps_record(s->flow, &key);
}

void rvt_ntrace_step_end(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	struct rvt_ntrace_source *s = d->recent;
	bool clean;

	if (!s) {
		d->recent_src = d->params.src_bits ? msg->field[RVT_NTRACE_F_SRC] : 0;
		s = d->sources[d->recent_src];
		d->recent = s && is_clean(d, s) ? s : NULL;
		return;
	}
	clean = is_clean(d, s);
	if (!clean)
		d->recent = NULL;
	if (!s->flow || !rvt_steps_recording(s->flow))
		return;
	if (!clean)
		rvt_steps_drop(s->flow);
	else if (msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_RESOURCE_FULL)
		rvt_steps_keep(s->flow, 0, 0);
	else
		rvt_steps_keep(s->flow, s->reference, 0);
}

/* ---- replaying ---- */

/* Behind this a step, whose half-words are counted in 16 bits, may lead too far. */
#define LAST_AHEAD (RVT_NTRACE_MAX_AHEAD - UINT16_MAX)

/* A row of steps, up to where it is. */
struct replay {
	uint64_t reference, ahead;	/* as in struct rvt_ntrace_source */
	uint64_t n;			/* messages */
	const uint8_t *branch;		/* the last branch message; NULL: none yet */
	unsigned int branch_len;	/* without its time stamp, in bytes */
};

/* The decoder's state as the last step left it. */
static void settle(struct rvt_ntrace_source *s, const struct replay *r)
{
	rvt_steps_leave(s->flow);
	s->reference = r->reference;
	s->ahead = r->ahead;
	s->moved = r->ahead;
	if (!r->branch)
		return;
	s->repeat = (struct rvt_ntrace_repeat){
		.valid = true, .unread = true, .target = r->reference,
	};
	memcpy(s->repeat.bytes, r->branch, r->branch_len);
}

/* @step was taken, whose message of @len bytes is at @p. */
static inline void advance(struct replay *r, const struct rvt_step *step, const uint8_t *p,
			   unsigned int len, bool full)
{
	r->n++;
	if (full) {
		r->ahead += step->halfwords;
		return;
	}
	r->ahead = 0;
	r->reference = rvt_step_address(step, r->reference);
	r->branch = p;
	r->branch_len = len;
}

static inline uint64_t pass_time(const struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
				 uint64_t stamp)
{
	if (d->params.timestamp == RVT_TIMESTAMP_XOR)
		s->time ^= stamp;
	else
		s->time += stamp;
	return s->time;
}

static void tell_time(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s, uint64_t offset)
{
	struct rvt_event event = { .type = RVT_EVENT_TIME, .offset = offset, .time = s->time };

	rvt_ntrace_check(d, rvt_flow_event(s->flow, &event));
}

/* Up to where messages can be taken by their bytes; the reader's position if not even one can. */
static const uint8_t *replay_end(const struct rvt_ntrace_decoder *d)
{
	const struct rvt_ntrace_reader *reader = &d->reader;
	uint64_t left = d->part_to - reader->offset;

	if (reader->carry_len || reader->hunting || reader->tentative ||
	    !rvt_ntrace_in_part(d, reader->offset))
		return reader->pos;
	return left < (uint64_t)(reader->end - reader->pos) ? reader->pos + left : reader->end;
}

void rvt_ntrace_replay(struct rvt_ntrace_decoder *d)
{
	struct rvt_ntrace_source *s = d->recent;
	struct rvt_ntrace_reader *reader = &d->reader;
	const uint8_t *p = reader->pos, *end = replay_end(d);
	struct replay r = { .reference = s->reference, .ahead = s->ahead };
	struct rvt_step_key key = {};
	bool whole = true;

	if (end - p < WANTED_BYTES || !rvt_steps_enter(s->flow, &key))
		return;
	while (whole && end - p >= WANTED_BYTES && r.ahead < LAST_AHEAD) {
		unsigned int len, more = 0;
		struct rvt_step *step;
		uint64_t stamp = 0, mix;
		bool full;

		len = key_bytes(d, p, key.bytes);
		if (!len)
			break;
		full = is_full(key.bytes);
		mix = rvt_step_mix(key.bytes, s->mode);
		if (!make_key(d, s->mode, r.reference, r.ahead, &key))
			break;
		if (d->reader.timestamps && (p[len - 1] & 3) == 1) {
			more = read_time(p + len, &stamp);
			if (!more)
				break;
		}
		step = rvt_steps_take(s->flow, &key, rvt_step_guess(d->mix, mix));
		d->mix = mix;
		d->missed = !step;
		if (!step)
			break;
		whole = rvt_steps_apply(s->flow, step);
		advance(&r, step, p, len, full);
		rvt_steps_advance(s->flow, step, &key);
		if (more && pass_time(d, s, stamp) >= s->flow->quiet && s->time_valid) {
			settle(s, &r);
			tell_time(d, s, reader->offset + (p - reader->pos));
			whole &= !d->result && rvt_steps_enter(s->flow, &key);
		}
		p += len + more;
	}
	if (!r.n)
		return;
	settle(s, &r);
	rvt_ntrace_check(d, s->flow->result);
	d->stream.stats.messages += r.n;
	reader->offset += p - reader->pos;
	reader->pos = p;
}

/* What the repeated message is, once somebody asks. */
void rvt_ntrace_read_repeat(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s)
{
	struct rvt_ntrace_reader reader = d->reader;
	uint8_t *bytes = s->repeat.bytes;
	struct rvt_ntrace_msg msg;
	unsigned int len = sizeof(s->repeat.bytes);

	while (len && !bytes[len - 1])
		len--;
	/* without its time stamp */
	bytes[len - 1] |= 3;
	rvt_ntrace_reader_lost(&reader, true);
	rvt_ntrace_reader_feed(&reader, bytes, len, 0);
	s->repeat.unread = false;
	s->repeat.valid = rvt_ntrace_reader_next(&reader, &msg) == RVT_NTRACE_READ_MESSAGE;
	if (!s->repeat.valid)
		return;
	s->repeat.direct = msg.field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_DIRECT_BRANCH;
	s->repeat.btype = 0;
	s->repeat.icnt = msg.field[RVT_NTRACE_F_ICNT];
	s->repeat.hist = rvt_ntrace_has(&msg, RVT_NTRACE_F_HIST) ? msg.field[RVT_NTRACE_F_HIST] : 1;
}
