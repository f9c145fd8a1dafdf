// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace: branch messages by their bytes alone. A hart does the same things again and again, and
 * so its encoder sends the same messages: where the program stands and the bytes of a message
 * decide what it means, as long as nothing is collected from messages before it.
 */
#include <endian.h>
#include <string.h>
#include "flow/steps.h"
#include "ntrace/decoder-state.h"

#define ONES UINT64_C(0x0101010101010101)
#define MESSAGE_BYTES 16	/* of a key */
#define WANTED_BYTES 24		/* that can be read from where a message begins: with the time */

/* Nothing of earlier messages is left that would decide what the next one means. */
static bool is_clean(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s)
{
	return s->flow && s->progress == RVT_NTRACE_ACTIVE && s->flowing && s->synced &&
	       !s->stopped && !s->unanswered && !s->icnt && !s->hist.bits && !s->moved &&
	       !s->resumed && s->mode_settled && !d->result;
}

static unsigned int n_fields(unsigned int tcode)
{
	switch (tcode) {
	case RVT_NTRACE_DIRECT_BRANCH:
		return 1;
	case RVT_NTRACE_INDIRECT_BRANCH:
		return 2;
	case RVT_NTRACE_INDIRECT_BRANCH_HIST:
		return 3;
	default:
		return 0;
	}
}

/* The low @n bytes of @word, n from 0 to 8. */
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

/*
 * The bytes of the message at @p up to where its time stamp begins, if it has one (*timed). Returns
 * how many, 0: too many, or no message that is replayed. At least WANTED_BYTES are there.
 */
static inline unsigned int key_bytes(const uint8_t *p, bool timestamps, uint64_t bytes[2],
				     bool *timed)
{
	uint64_t low = load(p), high = load(p + 8), ends, second;
	unsigned int len;

	*timed = false;
	if (!timestamps) {
		ends = low & low >> 1 & ONES;
		second = high & high >> 1 & ONES;
	} else {
		unsigned int n = n_fields(p[0] >> 2);

		ends = low & ONES;
		second = high & ONES;
		if (!n)
			return 0;
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
	bytes[0] = low_bytes(low, len < 8 ? len : 8);
	bytes[1] = len > 8 ? low_bytes(high, len - 8) : 0;
	if (timestamps)
		*timed = (p[len - 1] & 3) == 1;
	return len;
}

/* The 6 MDO bits of each byte in a row. */
static inline uint64_t pack(uint64_t word)
{
	word = word >> 2 & UINT64_C(0x3f3f3f3f3f3f3f3f);
	word = (word & UINT64_C(0x003f003f003f003f)) | (word & UINT64_C(0x3f003f003f003f00)) >> 2;
	word = (word & UINT64_C(0x00000fff00000fff)) | (word & UINT64_C(0x0fff00000fff0000)) >> 4;
	return (word & 0xffffff) | (word & UINT64_C(0x00ffffff00000000)) >> 8;
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

/* ---- recording ---- */

void rvt_ntrace_step_begin(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	unsigned int src = d->params.src_bits ? msg->field[RVT_NTRACE_F_SRC] : 0;
	struct rvt_ntrace_source *s = d->sources[src];
	uint8_t bytes[WANTED_BYTES + 8] = {};
	struct rvt_step_key key = { .state = s ? s->mode : 0 };
	bool timed;

	d->recent = s;
	if (!s || !n_fields(msg->field[RVT_NTRACE_F_TCODE]) || !is_clean(d, s) ||
	    (rvt_ntrace_has(msg, RVT_NTRACE_F_BTYPE) && msg->field[RVT_NTRACE_F_BTYPE]) ||
	    msg->len_bytes > WANTED_BYTES || !rvt_steps_enter(s->flow, &key))
		return;
	memcpy(bytes, d->reader.bytes, msg->len_bytes);
	if (!key_bytes(bytes, d->reader.timestamps, key.bytes, &timed))
		return;
	key.address = s->reference;
	d->mix = rvt_step_mix(key.bytes, key.state);
	rvt_steps_record(s->flow, &key);
}

/* @s only collects history, until another message than ResourceFull comes. */
static bool is_filling(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s,
		       const struct rvt_ntrace_msg *msg)
{
	return msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_RESOURCE_FULL && s && s->flow &&
	       s->progress == RVT_NTRACE_ACTIVE && s->flowing && !s->stopped &&
	       s->mode_settled && s->mode == RVT_MODE_HTM && !d->result;
}

void rvt_ntrace_step_end(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	unsigned int src = d->params.src_bits ? msg->field[RVT_NTRACE_F_SRC] : 0;
	struct rvt_ntrace_source *s = d->recent;
	bool clean;

	d->filling = is_filling(d, d->sources[src], msg) ? d->sources[src] : NULL;
	d->filling_src = src;
	if (!s) {
		s = d->sources[src];
		d->recent = s && is_clean(d, s) ? s : NULL;
		return;
	}
	clean = is_clean(d, s);
	if (!clean)
		d->recent = NULL;
	if (!s->flow || !rvt_steps_recording(s->flow))
		return;
	if (!clean) {
		rvt_steps_drop(s->flow);
		return;
	}
	rvt_steps_keep(s->flow, s->reference, 0);
}

/* ---- replaying ---- */

/* The decoder's state as the last step left it. */
static void settle(struct rvt_ntrace_source *s, const struct rvt_step_key *key,
		   const struct rvt_step *last)
{
	rvt_steps_leave(s->flow);
	s->reference = key->address;
	s->repeat = (struct rvt_ntrace_repeat){
		.valid = true, .unread = true, .target = key->address,
		.bytes = { last->key.bytes[0], last->key.bytes[1] },
	};
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
	struct rvt_step_key key = { .state = s->mode };
	const struct rvt_step *last = NULL;
	const bool timestamps = reader->timestamps;
	uint64_t n = 0;

	if (end - p < WANTED_BYTES || !rvt_steps_enter(s->flow, &key))
		return;
	key.address = s->reference;
	while (end - p >= WANTED_BYTES) {
		unsigned int len, more = 0;
		struct rvt_step *step;
		uint64_t stamp = 0;
		bool timed, whole;
		uint64_t mix;

		len = key_bytes(p, timestamps, key.bytes, &timed);
		if (!len)
			break;
		mix = rvt_step_mix(key.bytes, key.state);
		step = rvt_steps_find(s->flow, &key, rvt_step_guess(d->mix, mix));
		if (!step)
			break;
		if (timed) {
			more = read_time(p + len, &stamp);
			if (!more)
				break;
		}
		if (!rvt_steps_call(s->flow, step))
			break;
		whole = rvt_steps_apply(s->flow, step);
		last = step;
		d->mix = mix;
		n++;
		p += len + more;
		rvt_steps_advance(s->flow, step, &key);
		if (timed && pass_time(d, s, stamp) >= s->flow->quiet && s->time_valid) {
			settle(s, &key, step);
			tell_time(d, s, reader->offset + (p - reader->pos) - len - more);
			if (d->result || !rvt_steps_enter(s->flow, &key))
				break;
		}
		if (!whole)
			break;
	}
	if (!n)
		return;
	settle(s, &key, last);
	rvt_ntrace_check(d, s->flow->result);
	d->stream.stats.messages += n;
	reader->offset += p - reader->pos;
	reader->pos = p;
}

/* ---- history ---- */

/* What ResourceFull with RCODE 1 or 2 has before its time stamp; as far as 8 bytes hold a field. */
struct full_hist {
	unsigned int len_bytes;
	bool timed;
	uint32_t hist;
	uint64_t repeat;
};

/* False: it is another message, or needs a closer look. */
static inline bool read_full_hist(const struct rvt_ntrace_decoder *d, const uint8_t *p,
				  struct full_hist *full)
{
	const unsigned int src_bits = d->params.src_bits;
	const uint64_t head = RVT_NTRACE_RESOURCE_FULL | (uint64_t)d->filling_src << 6;
	struct field field;
	uint64_t rcode;

	if (!read_field(p, &field) || (field.value & ((UINT64_C(1) << (6 + src_bits)) - 1)) != head)
		return false;
	field.value >>= 6 + src_bits;
	rcode = field.value & 15;
	full->hist = field.value >> 4;
	if (field.value >> 4 > UINT32_MAX || !full->hist)
		return false;
	full->len_bytes = field.len_bytes;
	full->repeat = 1;
	if (rcode == 2) {
		if (field.last || !read_field(p + field.len_bytes, &field) || !field.value)
			return false;
		full->len_bytes += field.len_bytes;
		full->repeat = field.value;
	} else if (rcode != 1) {
		return false;
	}
	full->timed = !field.last;
	return full->timed <= d->reader.timestamps;
}

void rvt_ntrace_fill(struct rvt_ntrace_decoder *d)
{
	struct rvt_ntrace_source *s = d->filling;
	struct rvt_ntrace_reader *reader = &d->reader;
	const uint8_t *p = reader->pos, *end = replay_end(d);
	uint64_t n = 0;

	while (end - p >= WANTED_BYTES && !d->result &&
	       rvt_hist_runs(&s->hist) < RVT_NTRACE_MAX_HIST_RUNS) {
		struct full_hist full;
		unsigned int more = 0;
		uint64_t stamp;

		if (!read_full_hist(d, p, &full))
			break;
		if (full.timed) {
			more = read_time(p + full.len_bytes, &stamp);
			if (!more)
				break;
		}
		if (!rvt_ntrace_check(d, rvt_hist_push(&s->hist, full.hist, full.repeat)))
			break;
		if (full.timed && pass_time(d, s, stamp) >= s->flow->quiet && s->time_valid)
			tell_time(d, s, reader->offset + (p - reader->pos));
		p += full.len_bytes + more;
		n++;
	}
	d->stream.stats.messages += n;
	reader->offset += p - reader->pos;
	reader->pos = p;
}

void rvt_ntrace_read_repeat(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s)
{
	struct rvt_ntrace_reader reader = d->reader;
	uint8_t bytes[MESSAGE_BYTES];
	struct rvt_ntrace_msg msg;
	unsigned int len = MESSAGE_BYTES;

	for (unsigned int i = 0; i < MESSAGE_BYTES; i++)
		bytes[i] = s->repeat.bytes[i / 8] >> 8 * (i % 8);
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
