// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace: packets by their bytes alone (flow/memo.h): where the flow stands, the last address, the
 * outcome that is carried over, and the packet decide what it means. Packets are short, so several
 * in a row that fit a key together are one memo as soon as they have come twice. Where no packet
 * has an address, nor does the key. That of a packet with an index of the jump target cache has
 * what the cache has there as its address. What a packet notes in the cache is the decoder's own of
 * its memo, and what it does to the branch predictor is among the effects of the memo: such memos
 * are of one packet.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <etrace/decoder-state.h>
#include <etrace/frame.h>
#include "flow/memo.h"
#include "stream-ops.h"

#define INLINE inline __attribute__((always_inline))
#define PAYLOAD_BYTES 16	/* of a key */
/* So many bytes can be read from the beginning of a frame: header, source, time, two words. */
#define WANTED_BYTES (1 + 2 + 8 + PAYLOAD_BYTES)
#define EXTEND 0x80		/* in a header: a time stamp follows */

/*
 * In a key: the last address reported decides nothing, as no packet has one. No address is like
 * that.
 */
#define NO_ADDRESS UINT64_MAX

/* Returns whether nothing of earlier packets is left that the key has not. */
static bool is_clean(const struct rvt_etrace_decoder *dec)
{
	return dec->started && dec->pending && !dec->from_trap && !dec->inferred &&
	       !dec->has_repeat && !dec->trap.valid && !dec->no_memos &&
	       !dec->carried.predicted && dec->carried.map_bits <= 1 &&
	       dec->address != NO_ADDRESS &&
	       /* what was loaded just before may say where a jump goes that comes first */
	       (dec->carried.map_bits || !rvt_flow_is_consecutive(dec->flow));
}

/* Memos do something to the branch predictor or the jump target cache. */
static inline bool has_tables(const struct rvt_etrace_decoder *dec)
{
	return dec->predictor_size || dec->cache_size;
}

/* Or to the return stack. */
static inline bool has_extras(const struct rvt_etrace_decoder *dec)
{
	return has_tables(dec) || dec->return_depth;
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
#define CACHED (1u << 18)	/* the address is what the jump target cache has */
#define CACHE_BITS_SHIFT 19	/* 1 + the bits of an index, or 0 */
#define PREDICTOR_BITS_SHIFT 23	/* likewise; the fourth bit of it is bit 30 */
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

/* Whether a payload that begins with @word names an entry of the jump target cache; what it has. */
static inline bool is_cached(const struct rvt_etrace_decoder *dec, uint64_t word)
{
	return __builtin_expect((word & dec->cached_mask) == dec->cached_head, 0);
}

static inline uint64_t cached_by(const struct rvt_etrace_decoder *dec, uint64_t word)
{
	return dec->cache[word >> dec->cached_shift & (dec->cache_size - 1)];
}

/* The source of the frame at @p, whose header and source have @heads bytes. */
static inline unsigned int source_at(const uint8_t *p, unsigned int heads)
{
	return heads == 1 ? 0 : heads == 2 ? p[1] : p[1] | p[2] << 8;
}

/*
 * Cuts off the next frame. Returns false if it is none of this source, is too long for a key, or
 * has a time stamp where there are none. At least WANTED_BYTES can be read.
 */
static INLINE bool cut(const struct rvt_etrace_decoder *dec, const uint8_t *p, struct frame *frame,
		       bool tables)
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
	if (tables && is_cached(dec, frame->payload[0]))
		frame->state |= CACHED;
	frame->len = pos + n;
	return true;
}

/*
 * The key of @frame where the flow is @at and @address was reported last. @state: options_state()
 * and carried_state().
 */
static INLINE struct rvt_memo_key make_key(const struct rvt_etrace_decoder *dec,
					   struct rvt_memo_cursor at, uint64_t address,
					   const struct frame *frame, uint32_t state, bool tables)
{
	return (struct rvt_memo_key){
		.bytes = { frame->payload[0], frame->payload[1] }, .pc = at.pc,
		.address = tables && frame->state & CACHED ?
			   cached_by(dec, frame->payload[0]) :
			   frame->keeps_address ? NO_ADDRESS : address,
		.state = state | frame->state, .mapping_id = at.mapping_id,
	};
}

/* 1 + the logarithm of @size, a power of two; or 0. */
static uint32_t bits_of(unsigned int size)
{
	return size ? 1 + __builtin_ctz(size) : 0;
}

/* Packs what support packets change of how these packets are read, and of where they lead. */
static uint32_t make_options_state(const struct rvt_etrace_decoder *dec)
{
	const uint32_t options = dec->codec.params.options;
	const uint32_t predictor = bits_of(dec->predictor_size), cache = bits_of(dec->cache_size);

	return (uint32_t)!!dec->return_depth << 26 | (uint32_t)dec->codec.iret_ext << 27 |
	       (uint32_t)!!(options & RVT_OPT_SEQUENTIAL_JUMP) << 28 |
	       (uint32_t)!!(options & RVT_OPT_FULL_ADDRESS) << 29 | cache << CACHE_BITS_SHIFT |
	       (predictor & 7) << PREDICTOR_BITS_SHIFT | predictor >> 3 << 30;
}

static inline uint32_t options_state(struct rvt_etrace_decoder *dec)
{
	/* 0 may come again and again: none of the options is in force. */
	if (!dec->options_state)
		dec->options_state = make_options_state(dec);
	return dec->options_state;
}

/* Returns @carried as a memo has it in .extra. */
static uint32_t carried_bits(const struct path *carried)
{
	return carried->map_bits | (carried->map_bits ? (carried->map & 1) << 1 : 0);
}

static inline uint32_t carried_state(uint32_t bits)
{
	return bits << CARRIED_SHIFT;
}

/*
 * @first, which has no time stamp, at @p, and those behind it, as far as they fit a key with it,
 * RVT_MEMO_GROUP in all.
 */
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
	const bool cached = msg->kind == RVT_ETRACE_CACHE || msg->kind == RVT_ETRACE_CACHE_BRANCHES;

	return msg->kind > RVT_ETRACE_SYNC_SUPPORT && !msg->notify && !msg->irreport &&
	       cached == !!(key->state & CACHED) &&
	       /* of 0.029 a count with an address looks like a map */
	       (key->address != NO_ADDRESS || msg->kind == RVT_ETRACE_BRANCH_MAP);
}

void rvt_etrace_memo_begin(struct rvt_etrace_decoder *dec, const uint8_t *bytes,
			   const struct rvt_etrace_msg *msg)
{
	const bool missed = dec->missed && dec->missed_at == msg->offset;
	uint8_t copy[WANTED_BYTES + RVT_ETRACE_MAX_FRAME_BYTES];
	struct rvt_memo_cursor at;
	struct rvt_memo_key key;
	struct frame frame;

	dec->depth_matters = dec->missed = false;
	dec->noted = 0;
	if (missed) {
		if (may_record(rvt_memos_recorded_key(dec->flow), msg) && is_clean(dec))
			rvt_memos_record_missed(dec->flow);
		return;
	}
	dec->src = source_at(bytes, 1 + rvt_etrace_src_bytes(&dec->codec.params));
	if (!is_clean(dec))
		return;
	memset(copy, 0, sizeof(copy));
	memcpy(copy, bytes, msg->len_bytes);
	if (!cut(dec, copy, &frame, has_tables(dec)) || !rvt_memos_enter(dec->flow, &at))
		return;
	key = make_key(dec, at, dec->address, &frame,
		       options_state(dec) | carried_state(carried_bits(&dec->carried)),
		       has_tables(dec));
	if (may_record(&key, msg))
		rvt_memos_record(dec->flow, &key);
}

bool rvt_etrace_memo_end(struct rvt_etrace_decoder *dec)
{
	bool clean = is_clean(dec);
	uint64_t address;

	if (!rvt_memos_recording(dec->flow))
		return clean;
	if (!clean || dec->depth_matters || dec->noted == RVT_ETRACE_NOTED_MORE) {
		rvt_memos_drop(dec->flow);
		return clean;
	}
	address = rvt_memos_recorded_key(dec->flow)->address == NO_ADDRESS ? NO_ADDRESS :
									     dec->address;
	rvt_memos_keep(dec->flow, address, carried_bits(&dec->carried), dec->noted);
	return true;
}

/* ---- replaying ---- */

/* The position of replaying. */
struct etrace_cursor {
	const uint8_t *p;
	struct rvt_memo_cursor at;
	uint64_t address;		/* reported last */
	uint32_t options, carried;	/* parts of the state in a key */
	uint64_t n;			/* frames */
	bool missed;			/* it has been found that there is no memo at .p */
};

/* The decoder's state as memos left it that led to @r. */
static void settle(struct rvt_etrace_decoder *dec, const struct etrace_cursor *r)
{
	const uint32_t carried = r->carried >> CARRIED_SHIFT;

	rvt_memos_leave(dec->flow);
	dec->address = r->address;
	dec->carried = (struct path){ .map = carried >> 1, .map_bits = carried & 1 };
	dec->goal.irreport = false;
}

/* Notes the time of a packet, as the decoder does. */
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

/* Of the last packet of @memo; @own: of the memo. */
static inline void note_in_cache(struct rvt_etrace_decoder *dec, const struct rvt_memo *memo,
				 uint16_t own)
{
	if (own)
		dec->cache[own - 1] = memo->pc;
}

/* @memo, of so many frames and bytes, is taken. */
static inline void pass(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
			struct rvt_memo *memo, unsigned int n_frames, unsigned int len,
			bool tables)
{
	if (tables)
		note_in_cache(dec, memo, rvt_memo_own(dec->flow, memo));
	r->n += n_frames;
	r->p += len;
	r->at = rvt_memo_cursor_at(dec->flow, memo->pc);
	r->address = rvt_memo_address(memo, r->address);
	r->carried = carried_state(memo->extra);
}

/* Takes the memo of what has @len bytes. False: it must be the last for now. */
static inline bool take(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
			struct rvt_memo *memo, unsigned int len, bool tables)
{
	pass(dec, r, memo, FRAMES(memo->key.state), len, tables);
	return rvt_memos_apply(dec->flow, memo);
}

/* ---- prediction ---- */

/*
 * The bytes where a frame begins tell which memo it was the last time, and that tells how many of
 * them it takes: frames need not be cut. Memos of a frame with a time stamp are not predicted.
 */

/* The entry for what is at @p: the number of a memo, and below it of how many bytes that is. */
static inline uint32_t *predictor_at(struct rvt_memos *memos, const uint8_t *p)
{
	const uint64_t mix = (load(p) + 8 * load(p + 8)) * 0x9e3779b97f4a7c15ull;

	return &rvt_memos_own_predictor(memos)[mix >> (64 - RVT_PREDICTOR_BITS)];
}

#define PREDICTED_BYTES 64u
#define PREDICTED_LEN(entry) ((entry) % PREDICTED_BYTES)
_Static_assert(1 + 2 + PAYLOAD_BYTES < PREDICTED_BYTES &&
	       sizeof(struct rvt_memo) == PREDICTED_BYTES &&
	       RVT_MEMO_ENTRIES <= UINT32_MAX / PREDICTED_BYTES, "what an entry holds");

static inline struct rvt_memo *predicted_memo(struct rvt_memos *memos, uint32_t entry)
{
	const struct rvt_memo *first = rvt_memo_at(memos, 0);

	return (struct rvt_memo *)((uint8_t *)first + (entry & ~(PREDICTED_BYTES - 1)));
}

static void train_predictor(struct rvt_memos *memos, const uint8_t *p, const struct rvt_memo *s,
			    unsigned int heads)
{
	*predictor_at(memos, p) = rvt_memo_number(memos, s) * PREDICTED_BYTES + heads +
				  LEN(s->key.state);
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

/* .state and .mapping_id of a key, without what LEN() and FRAMES() tell. */
static inline uint64_t state_of(uint32_t state, uint32_t mapping_id)
{
	return ((uint64_t)mapping_id << 32 | state) >> GROUP_BITS;
}

/* Predictions are so far ahead, and what they lead to is prefetched meanwhile. */
#define AHEAD 4

/*
 * Replaying what is predicted. In registers, as far as there are enough (struct rvt_memo_adapter).
 */
struct replay {
	/* these do not change */
	struct rvt_etrace_decoder *dec;
	const struct rvt_etrace_frames *frames;
	struct rvt_memos *memos;
	struct etrace_cursor *slow;	/* as of the last time that nothing was predicted */
	const uint8_t *stop;		/* up to here frames can begin */
	unsigned int heads;		/* bytes of header and source */
	enum rvt_replay_mode mode;
	bool extras;			/* memos may do more than segments say: has_extras() */

	const uint8_t *p;
	uint64_t address;		/* reported last */
	uint64_t state;			/* as state_of() has it */
	uint64_t states[2];	/* by rvt_va_half() of the pc: mapping id and options */
	uint64_t groups;		/* sum of GROUP_BITS of memos */
	unsigned int n;			/* memos */
	struct rvt_memo *ahead[AHEAD];
	const uint8_t *ahead_p;
	int ret;
};

/* The prediction for what is at r->ahead_p, which then is what comes behind that. */
static INLINE struct rvt_memo *predict_ahead(struct replay *r)
{
	const bool inside = __builtin_expect(r->ahead_p <= r->stop, 1);
	const uint32_t entry = inside ? *predictor_at(r->memos, r->ahead_p) : 0;
	struct rvt_memo *s = predicted_memo(r->memos, entry);

	__builtin_prefetch(s);
	r->ahead_p += PREDICTED_LEN(entry);
	return s;
}

/* Begins at r->slow. */
static INLINE void begin_predicted(struct replay *r)
{
	const struct etrace_cursor *slow = r->slow;

	r->p = r->ahead_p = slow->p;
	r->address = slow->address;
	r->state = state_of(slow->options | slow->carried, slow->at.mapping_id);
	for (unsigned int half = 0; half < 2; half++)
		r->states[half] = state_of(slow->options,
					   rvt_memo_cursor_at(r->dec->flow,
							      (uint64_t)half << 63).mapping_id);
	r->n = r->groups = 0;
	for (unsigned int i = 0; i < AHEAD; i++)
		r->ahead[i] = predict_ahead(r);
}

/* r->slow is where that has led, with the flow at @pc. */
static INLINE void end_predicted(struct replay *r, uint64_t pc)
{
	struct etrace_cursor *slow = r->slow;

	if (!r->n)
		return;
	/* FRAMES() of all: without what LEN() tells */
	slow->n += r->groups - ((r->p - slow->p - r->n * r->heads) << LEN_SHIFT);
	slow->at = rvt_memo_cursor_at(r->dec->flow, pc);
	slow->address = r->address;
	slow->carried = r->state << GROUP_BITS & carried_state(3);
	slow->p = r->p;
	r->n = 0;
}

/*
 * Whether @s is the memo of the bytes at r->p, and one that is predicted; with extras: it can be
 * applied, and what it does to the return stack and the branch predictor is done. One of a frame
 * with a time stamp has the key of the frame without.
 *
 * Nearly all predictions are right. A compiler that is not told so expects few turns of the loop:
 * its registers then have what is needed behind the loop, and memory has what is needed in it.
 */
static INLINE bool is_memo(const struct replay *r, const struct rvt_memo *s, uint64_t pc)
{
	const uint64_t state = state_of(s->key.state, s->key.mapping_id);
	const uint64_t head = (uint64_t)r->p[0] << (HEADER_SHIFT - GROUP_BITS);
	const uint64_t cached = r->extras ? state & CACHED >> GROUP_BITS : 0;
	uint64_t address = r->address, differ;

	if (r->heads > 1 && source_at(r->p, r->heads) != r->dec->src)
		return false;
	differ = compare(s, r->p + r->heads) | (s->key.pc ^ pc) |
		 (state ^ (r->state | head | cached));
	if (__builtin_expect(!!differ, 0))
		return false;
	if (r->extras) {
		if (cached)
			address = cached_by(r->dec, s->key.bytes[0]);
		return (s->key.address == address || s->key.address == NO_ADDRESS) &&
		       rvt_memos_apply_all(r->dec->flow, s);
	}
	return __builtin_expect(!(s->flags & RVT_MEMO_DELTA) &&
				(s->key.address == address || s->key.address == NO_ADDRESS), 1);
}

/* The functions of struct rvt_memo_adapter. */

static INLINE bool next(void *ctx, struct rvt_memo_cursor at, struct rvt_memo **memo)
{
	struct replay *r = ctx;

	if (r->p >= r->stop)
		return false;
	*memo = r->ahead[r->n % AHEAD];
	r->ahead[r->n % AHEAD] = predict_ahead(r);
	/* It is there by now. */
	if (r->mode == RVT_REPLAY_RUNS)
		rvt_memos_fetch_path(r->memos, r->ahead[(r->n + AHEAD / 2) % AHEAD]);
	return is_memo(r, *memo, at.pc);
}

static INLINE bool commit(void *ctx, const struct rvt_memo *memo)
{
	struct replay *r = ctx;
	const uint32_t group = memo->key.state & ((1u << GROUP_BITS) - 1);

	if (r->extras)
		note_in_cache(r->dec, memo, rvt_memo_own(r->dec->flow, memo));
	r->address = rvt_memo_address(memo, r->address);
	r->state = r->states[rvt_va_half(memo->pc)] | carried_state(memo->extra) >> GROUP_BITS;
	r->groups += group;
	r->p += r->heads + LEN(group);
	r->n++;
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

/* Reads what @frame says where @r stands. Returns false if that takes a closer look. */
static bool read_spec(const struct rvt_etrace_decoder *dec, const struct etrace_cursor *r,
		      const struct frame *frame, struct rvt_speculation *spec)
{
	const uint32_t carried = r->carried >> CARRIED_SHIFT;
	struct rvt_etrace_plain plain;
	const bool cached = frame->state & CACHED;
	unsigned int n = carried & 1;
	uint64_t map;
	bool branch;

	if (!rvt_etrace_read_plain(&dec->codec, frame->payload, LEN(frame->state), &plain))
		return false;
	map = carried >> 1 | plain.taken << n;
	n += plain.n_outcomes;
	spec->flags = rvt_etrace_run_flags(dec);
	spec->to_branch = plain.kind == RVT_ETRACE_BRANCH_MAP;
	if (spec->to_branch)
		return set_outcomes(spec, map, n, true);
	spec->jumps = true;
	spec->target = cached ? cached_by(dec, frame->payload[0]) :
		       rvt_etrace_reported_address(dec, plain.address, r->address);
	if (dec->cache) {
		/* The address of the jump itself is not known yet. */
		if (dec->codec.params.jump_cache_index == RVT_JUMP_CACHE_SOURCE || spec->target & 1)
			return false;
		spec->own = 1 + rvt_etrace_cache_number(dec, 0, spec->target);
	}
	branch = rvt_flow_branch_at(dec->flow, spec->target);
	return (!cached || n >= branch) && set_outcomes(spec, map, n, n && branch);
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
		pass(dec, r, memo, 1, frame->len, false);
		note_in_cache(dec, memo, spec.own);
	} else {
		r->missed = true;
		*go_on = false;
	}
	return memo;
}

/*
 * Returns the slot that says which memo such a frame was the last time. What came before it does
 * not choose the slot: that is new where frames are taken one by one.
 */
static inline uint32_t predictor_slot_of(const struct frame *frame)
{
	return rvt_predictor_slot(rvt_memo_mix(frame->payload, frame->state));
}

/*
 * Takes @frame, which is at r->p. Returns its memo, maybe a transient one, or NULL; *go_on: whether
 * replaying can.
 */
static INLINE struct rvt_memo *take_frame(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
					  const struct frame *frame, bool *go_on, bool tables)
{
	const struct rvt_memo_key key = make_key(dec, r->at, r->address, frame,
						 r->options | r->carried, tables);
	struct rvt_memo *memo = rvt_memos_take(dec->flow, &key, rvt_memo_hash(&key),
					       predictor_slot_of(frame), tables);

	if (!memo)
		return speculate(dec, r, frame, go_on);
	*go_on = take(dec, r, memo, frame->len, tables);
	return memo;
}

/* ---- one after the other ---- */

/* The frames of a group. */
struct frame_group {
	unsigned int n;
	struct frame frames[RVT_MEMO_GROUP];
};

/*
 * Prefetches what the bytes of the frames of @group, which is at @p, lead to: for all of them at
 * once, up to one of another source.
 */
static inline __attribute__((always_inline)) void
cut_group(const struct rvt_etrace_decoder *dec, const uint8_t *p, const struct frame *group,
	  struct frame_group *singles)
{
	struct rvt_memos *memos = rvt_flow_memos(dec->flow);

	for (singles->n = 0; singles->n < FRAMES(group->state); singles->n++) {
		struct frame *frame = &singles->frames[singles->n];

		if (!cut(dec, p, frame, false))
			break;
		rvt_memos_fetch_slot(memos, predictor_slot_of(frame));
		p += frame->len;
	}
	for (unsigned int i = 0; i < singles->n; i++)
		rvt_memos_fetch_predicted(memos, predictor_slot_of(&singles->frames[i]));
}

/* Takes the frames one by one, and notes their memos in @memos. False: as far as that goes. */
static bool take_each(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
		      const struct frame_group *singles, struct rvt_memo_group *memos)
{
	for (unsigned int i = 0; i < singles->n; i++) {
		struct rvt_memo *memo;
		bool go_on;

		memo = take_frame(dec, r, &singles->frames[i], &go_on, false);
		if (!go_on)
			return false;
		memos->memos[memos->n++] = rvt_memos_kept(dec->flow, memo);
	}
	return true;
}

/*
 * Takes the frames of @group one by one, and makes one memo of theirs. False: as far as that goes.
 */
static bool take_singly(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
			const struct frame *group)
{
	const uint8_t *from = r->p;
	struct rvt_memo_group memos = has_extras(dec) ? rvt_memo_group_begin_missed(dec->flow) :
		rvt_memo_group_begin(dec->flow, make_key(dec, r->at, r->address, group,
							 r->options | r->carried, false));
	const struct rvt_memo *memo;
	struct frame_group singles;

	cut_group(dec, r->p, group, &singles);
	if (!take_each(dec, r, &singles, &memos) || singles.n < FRAMES(group->state))
		return false;
	memo = rvt_memos_group(dec->flow, &memos);
	if (memo)
		train_predictor(rvt_flow_memos(dec->flow), from, memo,
				1 + rvt_etrace_src_bytes(&dec->codec.params));
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
	if (dec->time < rvt_flow_time_filter(dec->flow) || dec->time == dec->reported_time)
		return 0;
	settle(dec, r);
	dec->offset = offset;
	ret = rvt_etrace_emit_time(dec);
	rvt_stream_tell_behind(dec->stream);
	*go_on &= !ret && !dec->stream->paused && rvt_memos_enter(dec->flow, &r->at);
	return ret;
}

/* The frame at r->p, which is no part of a group. Returns likewise. */
static INLINE int take_alone(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
			     const struct frame *frame, uint64_t offset, bool *go_on, bool tables)
{
	const uint8_t *p = r->p;
	struct rvt_memo *memo = take_frame(dec, r, frame, go_on, tables);

	if (!memo)
		return 0;
	if (frame->timed)
		return tell_time(dec, r, frame, offset, go_on);
	if (rvt_memos_kept(dec->flow, memo) == memo &&
	    (!(memo->flags & RVT_MEMO_DELTA) || has_extras(dec)))
		train_predictor(rvt_flow_memos(dec->flow), p, memo,
				1 + rvt_etrace_src_bytes(&dec->codec.params));
	return 0;
}

/* Prefetches what take_frame() needs, while the memo of its group is looked for. */
static inline void fetch_frame(const struct rvt_etrace_decoder *dec, struct rvt_memos *memos,
			       const struct etrace_cursor *r, const struct frame *frame,
			       bool tables)
{
	const struct rvt_memo_key key = make_key(dec, r->at, r->address, frame,
						 r->options | r->carried, tables);

	rvt_memos_fetch_predicted(memos, predictor_slot_of(frame));
	rvt_memos_fetch_index(memos, rvt_memo_hash(&key));
}

/* The memo at r->p: of a group of frames, or of each of them. Returns likewise. */
static int take_plain(struct rvt_etrace_decoder *dec, struct etrace_cursor *r, uint64_t offset,
		      bool *go_on)
{
	struct rvt_memos *memos = rvt_flow_memos(dec->flow);
	struct rvt_memo_key key;
	struct rvt_memo *memo;
	struct frame frame;
	uint64_t hash;

	*go_on = cut(dec, r->p, &frame, false);
	if (!*go_on)
		return 0;
	fetch_frame(dec, memos, r, &frame, false);
	if (!frame.timed)
		frame = gather(&dec->codec.params, r->p, &frame);
	if (FRAMES(frame.state) == 1)
		return take_alone(dec, r, &frame, offset, go_on, false);
	key = make_key(dec, r->at, r->address, &frame, r->options | r->carried, false);
	hash = rvt_memo_hash(&key);
	rvt_memos_fetch_index(memos, hash);
	memo = has_extras(dec) ? rvt_memos_find(dec->flow, &key, hash) :
				 rvt_memos_look_up(memos, &key, hash);
	if (memo)
		train_predictor(memos, r->p, memo, 1 + rvt_etrace_src_bytes(&dec->codec.params));
	*go_on = memo ? take(dec, r, memo, frame.len, false) : take_singly(dec, r, &frame);
	return 0;
}

/* The same where what one of several frames does must be done by a memo of its own. */
static int take_with_tables(struct rvt_etrace_decoder *dec, struct etrace_cursor *r,
			    uint64_t offset, bool *go_on)
{
	struct frame frame;

	*go_on = cut(dec, r->p, &frame, true);
	if (!*go_on)
		return 0;
	fetch_frame(dec, rvt_flow_memos(dec->flow), r, &frame, true);
	return take_alone(dec, r, &frame, offset, go_on, true);
}

static INLINE bool otherwise(void *ctx, uint64_t *pc)
{
	struct replay *r = ctx;
	struct etrace_cursor *slow = r->slow;
	uint64_t offset;
	bool go_on;

	end_predicted(r, *pc);
	if (slow->p >= r->stop)
		return false;
	offset = r->frames->pos_offset + (slow->p - r->frames->pos);
	r->ret = r->extras && has_tables(r->dec) ? take_with_tables(r->dec, slow, offset, &go_on) :
						   take_plain(r->dec, slow, offset, &go_on);
	if (!go_on)
		return false;
	begin_predicted(r);
	*pc = slow->at.pc;
	return true;
}

/*
 * As many memos as are known. @heads, @mode: of the source and the flow. Returns 0 or what a
 * callback returned.
 */
static INLINE int replay(struct rvt_etrace_decoder *dec, const struct rvt_etrace_frames *frames,
			 struct etrace_cursor *cursor, unsigned int heads,
			 enum rvt_replay_mode mode, bool extras)
{
	static const struct rvt_memo_adapter adapter = { next, commit, otherwise };
	struct replay r = {
		.dec = dec, .frames = frames, .memos = rvt_flow_memos(dec->flow), .slow = cursor,
		.stop = frames->end - WANTED_BYTES + 1, .heads = heads, .mode = mode,
		.extras = extras,
	};

	begin_predicted(&r);
	rvt_memos_replay(dec->flow, cursor->at.pc, mode, &adapter, &r);
	/* This is how far it went when delivering failed. */
	end_predicted(&r, cursor->at.pc);
	return r.ret;
}

/* The usual ones by themselves: so that what they need is in registers. */
static int replay_all(struct rvt_etrace_decoder *dec, const struct rvt_etrace_frames *frames,
		      struct etrace_cursor *r)
{
	const unsigned int heads = 1 + rvt_etrace_src_bytes(&dec->codec.params);

	const enum rvt_replay_mode mode = rvt_replay_mode(dec->flow);

	if (has_extras(dec))
		return mode == RVT_REPLAY_COUNTS ?
		       replay(dec, frames, r, heads, RVT_REPLAY_COUNTS, true) :
		       replay(dec, frames, r, heads, mode, true);
	switch (mode) {
	case RVT_REPLAY_COUNTS:
		return heads == 1 ? replay(dec, frames, r, 1, RVT_REPLAY_COUNTS, false) :
				    replay(dec, frames, r, heads, RVT_REPLAY_COUNTS, false);
	case RVT_REPLAY_RUNS:
		return replay(dec, frames, r, heads, RVT_REPLAY_RUNS, false);
	default:
		return replay(dec, frames, r, heads, RVT_REPLAY_SUMS, false);
	}
}

int rvt_etrace_replay(struct rvt_etrace_decoder *dec, struct rvt_etrace_frames *frames)
{
	struct etrace_cursor r = {
		.p = frames->pos,
		.options = options_state(dec),
		.carried = carried_state(carried_bits(&dec->carried)),
		.address = dec->address,
	};
	int ret;

	dec->missed = false;
	/* Where the source ends inside a byte, all behind it is shifted. */
	if (dec->codec.params.srcid_bits % 8 || frames->carry_len > frames->carry_used ||
	    frames->hunting || frames->end - r.p < WANTED_BYTES || !is_clean(dec) ||
	    !rvt_memos_enter(dec->flow, &r.at))
		return 0;
	ret = replay_all(dec, frames, &r);
	dec->missed = r.missed;
	dec->missed_at = frames->pos_offset + (r.p - frames->pos);
	if (r.p == frames->pos)
		return 0;
	settle(dec, &r);
	dec->stats->messages += r.n;
	frames->pos_offset += r.p - frames->pos;
	frames->pos = r.p;
	if (ret)
		return ret;
	ret = rvt_flow_result(dec->flow);
	return ret > 0 ? -ECANCELED : ret;
}
