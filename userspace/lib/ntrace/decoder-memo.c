// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace: branch messages by their bytes alone. A hart does the same things again and again, and
 * so its encoder sends the same messages: where the program stands and the bytes of a message
 * decide what it means, as long as no I-CNT is pending. Where history of ResourceFull was walked
 * before, what is left of I-CNT decides.
 */
#include <string.h>
#include "flow/memo.h"
#include "ntrace/decoder-state.h"
#include "ntrace/scan.h"

#define INLINE inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Returns whether nothing of earlier messages but .ahead is left that would decide what the next
 * one means.
 */
static bool is_clean(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s)
{
	return !rvt_ntrace_predicts(s) && s->flow && s->progress == RVT_NTRACE_ACTIVE &&
	       s->flowing && s->synced && !s->stopped && !s->unanswered && !s->icnt &&
	       !s->resumed && s->mode_settled && !d->result;
}

/* ---- keys ---- */

/*
 * Above the mode; above it the TCODE, and what is left of I-CNT. Without it: what does not fit
 * .bytes.
 */
#define STATE_MIDST (1u << 4)

/*
 * The key of a branch in the midst of what I-CNT counts, @ahead of which was walked: without its
 * first field, of which the rest of I-CNT is all that matters. False: that is negative, or the
 * message is none of @src.
 */
static inline bool key_in_midst(const struct rvt_ntrace_decoder *d,
				const struct rvt_ntrace_scanned *m, uint64_t ahead,
				struct rvt_memo_key *key)
{
	const unsigned int tcode = rvt_ntrace_scanned_tcode(m), src_bits = d->params.src_bits;
	const uint64_t end = key->bytes[0] & RVT_NTRACE_ONES & -(key->bytes[0] & RVT_NTRACE_ONES);
	const unsigned int len_bits = __builtin_ctzll(end | 1ull << 63) + 8;
	const uint64_t field = rvt_ntrace_pack(key->bytes[0] & ((end << 8) - 1));
	const unsigned int shift = 6 + src_bits + (tcode == RVT_NTRACE_DIRECT_BRANCH ? 0 : 2);
	const uint64_t rest = m->rest >> RVT_NTRACE_REST_SHIFT;
	const uint64_t icnt = field >> shift, btype_src = field & ((1u << shift) - 1);

	if (len_bits > 40 || btype_src >> 6 != d->recent_src || icnt < ahead)
		return false;
	key->bytes[0] = key->bytes[0] >> len_bits | key->bytes[1] << (64 - len_bits);
	key->bytes[1] = key->bytes[1] >> len_bits | rest << (64 - len_bits);
	key->state |= STATE_MIDST | tcode << 5 | (uint32_t)(icnt - ahead) << 11;
	return !((icnt - ahead) >> 21);
}

/*
 * The target of JumpTargetCache message @m, which stands for the reference that it has not. False:
 * it is not known.
 */
static bool cached_target(const struct rvt_ntrace_source *s, const struct rvt_ntrace_scanned *m,
			  uint64_t *target)
{
	const uint64_t ends = m->bytes[0] & RVT_NTRACE_ONES;
	const unsigned int at = __builtin_ctzll(ends | 1ull << 63) + 8;
	const uint8_t index = at < 64 ? m->bytes[0] >> at : 0;

	return index & 1 && rvt_ntrace_jump_cache_find(&s->ctte->cache, index >> 2, target);
}

/* In the key of what says no address, and so needs none. No address is odd. */
#define NO_ADDRESS 1

/* What replaying changes of a source: as in struct rvt_ntrace_source. */
struct state {
	uint64_t reference, ahead, time;
};

/*
 * The key of message @m where the flow is @at and @state holds, of source @s in @mode. @caches: the
 * source has a jump target cache. False: it has none.
 */
static INLINE bool make_key(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s,
			    uint32_t mode, const struct rvt_ntrace_scanned *m,
			    struct rvt_memo_cursor at, const struct state *state, bool caches,
			    struct rvt_memo_key *key)
{
	const bool full = rvt_ntrace_scanned_is(m, RVT_NTRACE_RESOURCE_FULL);

	key->pc = at.pc;
	key->mapping_id = at.mapping_id;
	key->state = mode;
	key->bytes[0] = m->bytes[0];
	key->bytes[1] = m->bytes[1];
	key->address = full || rvt_ntrace_scanned_is(m, RVT_NTRACE_DIRECT_BRANCH) ?
			       NO_ADDRESS : state->reference;
	if (caches && rvt_ntrace_scanned_is(m, RVT_NTRACE_JUMP_TARGET_CACHE) &&
	    !cached_target(s, m, &key->address))
		return false;
	if (full || !state->ahead) {
		key->state |= m->rest;
		return true;
	}
	return key_in_midst(d, m, state->ahead, key);
}

/* The same for @m of several messages. */
static INLINE void make_group_key(uint32_t mode, const struct rvt_ntrace_scanned *m,
				  struct rvt_memo_cursor at, uint64_t reference,
				  struct rvt_memo_key *key)
{
	key->pc = at.pc;
	key->mapping_id = at.mapping_id;
	key->state = mode;
	key->bytes[0] = m->bytes[0];
	key->bytes[1] = m->bytes[1];
	key->address = m->direct ? NO_ADDRESS : reference;
}

/* ---- recording ---- */

/* Returns whether the message has more outcomes than fit a memo. */
static bool is_too_long(const struct rvt_ntrace_msg *msg, enum rvt_dialect dialect)
{
	struct rvt_ntrace_full full;
	uint32_t bits;

	if (msg->field[RVT_NTRACE_F_TCODE] != RVT_NTRACE_RESOURCE_FULL ||
	    msg->field[RVT_NTRACE_F_RCODE] <= 1)
		return false;
	if (!rvt_ntrace_full_of(msg, dialect, &full) || !full.hist)
		return true;
	rvt_hist_outcomes(full.hist, &bits);
	return full.repeat > RVT_MEMO_OUTCOMES || bits * full.repeat > RVT_MEMO_OUTCOMES;
}

/* @missed: replaying ended at @msg, of which there is no memo. */
static __attribute__((noinline)) void begin_recording(struct rvt_ntrace_decoder *d,
						      struct rvt_ntrace_source *s,
						      const struct rvt_ntrace_msg *msg, bool missed)
{
	const bool traps = rvt_ntrace_has(msg, RVT_NTRACE_F_BTYPE) &&
			   msg->field[RVT_NTRACE_F_BTYPE];
	const uint8_t *bytes = d->reader.bytes;
	struct rvt_ntrace_scan scan;
	struct rvt_memo_cursor at;
	struct rvt_memo_key key;

	/* Replaying leaves a clean state. */
	if (is_too_long(msg, d->params.dialect))
		return;
	if (missed && !traps)
		rvt_memos_record_missed(s->flow);
	if (missed || traps || !is_clean(d, s))
		return;
	rvt_ntrace_scan_init(&scan, &d->reader);
	rvt_ntrace_scan_begin(&scan, bytes);
	rvt_ntrace_scan(&scan, &d->reader, bytes + msg->len_bytes, NULL);
	if (scan.n && rvt_memos_enter(s->flow, &at) &&
	    make_key(d, s, s->mode, &scan.msgs[0], at,
		     &(struct state){ .reference = s->reference, .ahead = s->ahead }, s->ctte,
		     &key))
		rvt_memos_record(s->flow, &key);
}

void rvt_ntrace_memo_begin(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	const unsigned int src = d->params.src_bits ? msg->field[RVT_NTRACE_F_SRC] : 0;
	struct rvt_ntrace_source *s = d->sources[src];
	const bool missed = d->missed && d->recent == s;

	/* The message does not say what predicted branches did. */
	d->recent = s && rvt_ntrace_predicts(s) ? NULL : s;
	d->recent_src = src;
	d->missed = false;
	if (d->recent)
		begin_recording(d, s, msg, missed);
}

void rvt_ntrace_memo_end(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
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
	if (!s->flow || !rvt_memos_recording(s->flow))
		return;
	if (!clean)
		rvt_memos_drop(s->flow);
	else if (msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_RESOURCE_FULL ||
		 msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_DIRECT_BRANCH)
		rvt_memos_keep(s->flow, NO_ADDRESS, 0, 0);
	else
		rvt_memos_keep(s->flow, s->reference, 0, 0);
}

/* ---- replaying ---- */

#define SCAN_AHEAD 16		/* messages, at least: what they need is being fetched */

/* Behind this a memo, whose half-words are counted in 16 bits, may lead too far. */
#define LAST_AHEAD (RVT_NTRACE_MAX_AHEAD - UINT16_MAX)

/* Where replaying is. In registers, as far as there are enough (struct rvt_memo_adapter). */
struct replay {
	/* these do not change */
	struct rvt_ntrace_decoder *d;
	struct rvt_ntrace_source *s;
	struct rvt_flow *flow;
	uint32_t ntrace_mode;		/* of the source */
	const uint8_t *end;		/* of what may be scanned */
	enum rvt_replay_mode mode;
	bool xors;			/* time stamps are XORed */
	bool caches;			/* targets of jumps (CTTE) */
	bool groups;			/* messages are grouped */

	struct state state;
	const struct rvt_ntrace_scanned *m;	/* the next message */
	bool stop;			/* it cannot have a memo */
	const struct rvt_ntrace_scanned *low;	/* from here on more must be scanned */
	const struct rvt_ntrace_scanned *from;	/* the first that note_taken() has not seen */
	const uint8_t *branch;		/* the last branch message; NULL: none yet */
	unsigned int branch_len;	/* without its time stamp, in bytes */
	uint64_t n;			/* messages */
};

/* The decoder's state as the last memo left it. */
static void settle(struct rvt_ntrace_source *s, struct replay r)
{
	rvt_memos_leave(s->flow);
	s->reference = r.state.reference;
	s->ahead = r.state.ahead;
	s->moved = r.state.ahead;
	s->time = r.state.time;
	if (!r.branch)
		return;
	s->repeat = (struct rvt_ntrace_repeat){
		.valid = true, .unread = true, .target = r.state.reference,
	};
	memcpy(s->repeat.bytes, r.branch, r.branch_len);
}

/* ---- what is no memo yet ---- */

#define KEY_FIELDS 3

/*
 * The variable fields of message @m, the first with what is before it; a field has 8 bytes at the
 * most. Returns how many; 0: it is larger.
 */
static unsigned int split(const struct rvt_ntrace_scanned *m, uint64_t field[KEY_FIELDS],
			  unsigned int bits[KEY_FIELDS])
{
	const uint64_t words[4] = {
		htole64(m->bytes[0]), htole64(m->bytes[1]),
		htole64(m->rest >> RVT_NTRACE_REST_SHIFT),
	};
	const uint8_t *p = (const uint8_t *)words, *end = p + m->key_len;
	unsigned int n = 0;

	for (; p < end && n < KEY_FIELDS; n++) {
		uint64_t word, last;

		memcpy(&word, p, sizeof(word));
		word = le64toh(word);
		last = word & RVT_NTRACE_ONES & -(word & RVT_NTRACE_ONES);
		if (!last)
			return 0;
		field[n] = rvt_ntrace_pack(word & ((last << 8) - 1));
		bits[n] = ((unsigned int)__builtin_ctzll(last) / 8 + 1) * 6;
		p += bits[n] / 6;
	}
	return p == end ? n : 0;
}

/* The outcomes of @hist, a field with its stop bit. False: it has none, or they are too many. */
static bool set_outcomes(struct rvt_speculation *spec, uint64_t hist, uint64_t repeat)
{
	struct rvt_hist h;

	if (!hist || hist >> RVT_NTRACE_MAX_HIST_BITS)
		return false;
	if (repeat == 1) {
		spec->outcomes = rvt_hist_outcomes(hist, &spec->n_outcomes);
		return true;
	}
	rvt_hist_set(&h, hist, repeat);
	spec->n_outcomes = h.bits;
	spec->outcomes = h.pattern;
	return h.bits == h.n_bits;
}

/* Reads a ResourceFull with @n fields from RCODE on. */
static bool read_full(struct rvt_speculation *spec, enum rvt_dialect dialect,
		      const uint64_t *field, unsigned int n)
{
	const unsigned int rcode = field[0] & 15;
	struct rvt_ntrace_full full;

	if (n != (rcode == 2 ? 2 : 1) || (rcode <= 2 && field[0] >> 36) ||
	    !rvt_ntrace_full_read(dialect, rcode, field[0] >> 4, n == 2 ? field[1] : 1, &full))
		return false;
	return full.repeat <= RVT_MEMO_OUTCOMES && set_outcomes(spec, full.hist, full.repeat) &&
	       spec->n_outcomes;
}

/*
 * Reads what message @m says; @reference, @ahead: as in struct state. Returns false if that takes a
 * closer look.
 */
static bool read_spec(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s,
		      uint64_t reference, uint64_t ahead, const struct rvt_ntrace_scanned *m,
		      struct rvt_speculation *spec)
{
	const unsigned int tcode = rvt_ntrace_scanned_tcode(m), shift = 6 + d->params.src_bits;
	unsigned int bits[KEY_FIELDS], n;
	const bool cached = tcode == RVT_NTRACE_JUMP_TARGET_CACHE;
	uint64_t field[KEY_FIELDS], icnt;
	struct rvt_ntrace_msg msg;

	n = split(m, field, bits);
	if (!n || (field[0] & ((1u << shift) - 1)) >> 6 != d->recent_src)
		return false;
	field[0] >>= shift;
	if (tcode == RVT_NTRACE_RESOURCE_FULL)
		return read_full(spec, d->params.dialect, field, n);
	icnt = field[0] >> 2;
	if (n != (tcode == RVT_NTRACE_INDIRECT_BRANCH_HIST || cached ? 3 : 2) || field[0] & 3 ||
	    icnt >> RVT_NTRACE_MAX_ICNT_BITS || icnt <= ahead ||
	    (n == 3 && !set_outcomes(spec, field[2], 1)))
		return false;
	msg.field[RVT_NTRACE_F_UADDR] = field[1];
	msg.bits[RVT_NTRACE_F_UADDR] = bits[1];
	spec->jumps = true;
	spec->halfwords = icnt - ahead;
	if (cached)
		return rvt_ntrace_jump_cache_find(&s->ctte->cache, field[1], &spec->target);
	spec->target = rvt_ntrace_next_addr(&d->params, &msg, RVT_NTRACE_F_UADDR, reference);
	return true;
}

/*
 * Message @m is walked, of which there is no memo yet. Returns what it did, as a memo; *whole: as
 * rvt_speculate(). NULL: it must be decoded the long way.
 */
static __attribute__((noinline)) struct rvt_memo *
speculate(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s, uint64_t reference,
	  uint64_t ahead, const struct rvt_ntrace_scanned *m, bool *whole)
{
	struct rvt_speculation spec = { .flags = d->run_flags };
	struct rvt_memo *memo, *kept;

	if (s->mode != RVT_MODE_HTM || !read_spec(d, s, reference, ahead, m, &spec))
		return NULL;
	memo = rvt_speculate(s->flow, &spec, whole);
	kept = memo ? rvt_memos_kept(s->flow, memo) : NULL;
	if (kept)
		rvt_memos_train(rvt_flow_memos(s->flow), m->mix, kept);
	return memo;
}

/* ---- time ---- */

/* Notes the last of the messages in the @len bytes at @p, which have no time stamps. */
static INLINE void note_last(struct replay *r, const uint8_t *p, unsigned int len)
{
	unsigned int n = 1;

	while (n < len && (p[len - n - 1] & 3) != 3)
		n++;
	r->branch = p + len - n;
	r->branch_len = n;
}

/* Messages were taken, up to r->m. */
static INLINE void note_taken(struct replay *r)
{
	const struct rvt_ntrace_scanned *last = r->m;

	if (!r->groups)
		r->n += r->m - r->from;
	while (last > r->from && rvt_ntrace_scanned_is(last - 1, RVT_NTRACE_RESOURCE_FULL))
		last--;
	if (last > r->from && r->groups) {
		note_last(r, last[-1].pos, last[-1].key_len);
	} else if (last > r->from) {
		r->branch = last[-1].pos;
		r->branch_len = last[-1].key_len;
	}
	r->from = r->m;
}

/* Whether somebody asks for the time of the message taken last. */
static INLINE bool has_time(const struct replay *r)
{
	return unlikely(r->state.time >= rvt_flow_time_filter(r->flow)) &&
	       r->m[-1].len != r->m[-1].key_len && r->s->time_valid;
}

/*
 * The time of message @m, which was taken last, is delivered. False: replaying must end. Sets *at.
 */
static __attribute__((noinline)) bool deliver_time(const struct rvt_ntrace_scanned *m,
						   struct replay r, struct rvt_memo_cursor *at)
{
	const uint64_t rcode = rvt_ntrace_pack(m->bytes[0]) >> (6 + r.d->params.src_bits) & 15;
	struct rvt_event event = {
		.type = RVT_EVENT_TIME, .time = r.state.time,
		.offset = r.d->reader.offset + (m->pos - r.d->reader.pos),
		.held_back = rvt_ntrace_scanned_is(m, RVT_NTRACE_RESOURCE_FULL) &&
			     rvt_ntrace_holds_back(r.d, rcode),
	};

	settle(r.s, r);
	if (!rvt_ntrace_check(r.d, rvt_flow_event(r.s->flow, &event)))
		return false;
	rvt_stream_tell_behind(&r.d->stream);
	return !r.d->stream.paused && rvt_memos_enter(r.s->flow, at);
}

/* The same, if somebody asks for it and it was not. */
static INLINE bool pass_time(struct replay *r, uint64_t *pc)
{
	struct rvt_memo_cursor at = { .pc = *pc };
	bool whole;

	if (r->m == r->from || !has_time(r))
		return true;
	note_taken(r);
	whole = deliver_time(r->m - 1, *r, &at);
	*pc = at.pc;
	return whole;
}

/* ---- scanning ---- */

/* Up to where messages can be taken by their bytes; the reader's position if not even one can. */
static const uint8_t *replay_end(const struct rvt_ntrace_decoder *d)
{
	const struct rvt_ntrace_reader *reader = &d->reader;
	uint64_t left = d->slice_to - reader->offset;

	if (reader->carry_len || reader->hunting || reader->tentative ||
	    !rvt_ntrace_in_slice(d, reader->offset))
		return reader->pos;
	return left < (uint64_t)(reader->end - reader->pos) ? reader->pos + left : reader->end;
}

/* The first messages of @m, of @len bytes, were taken, and not the last. */
static void shorten(struct rvt_ntrace_scanned *m, unsigned int len)
{
	const unsigned __int128 bytes =
		((unsigned __int128)m->bytes[1] << 64 | m->bytes[0]) >> 8 * len;

	for (unsigned int i = 0; i < len; i++)
		m->n -= (m->pos[i] & 3) == 3;
	m->pos += len;
	m->key_len -= len;
	m->len -= len;
	m->bytes[0] = bytes;
	m->bytes[1] = bytes >> 64;
	m->mix = rvt_ntrace_mix(m->bytes);
	m->memo = 0;
}

/* Scanning goes on at @pos. */
static void skip_scanned(struct rvt_ntrace_scan *scan, const uint8_t *pos)
{
	while (scan->at < scan->n && scan->msgs[scan->at].pos + scan->msgs[scan->at].len <= pos)
		scan->at++;
	if (scan->at < scan->n && scan->msgs[scan->at].pos < pos && scan->groups)
		shorten(&scan->msgs[scan->at], pos - scan->msgs[scan->at].pos);
	if (scan->at == scan->n ? scan->pos != pos || scan->ended :
				  scan->msgs[scan->at].pos != pos)
		rvt_ntrace_scan_begin(scan, pos);
}

/* From here on more must be scanned: what messages need is fetched while others are taken. */
static const struct rvt_ntrace_scanned *scan_low(const struct rvt_ntrace_scan *scan)
{
	const unsigned int ahead = scan->ended ? 0 : SCAN_AHEAD;

	return scan->msgs + (scan->n > ahead ? scan->n - ahead : 0);
}

/*
 * More are scanned. Returns where @m is then: it cannot be a memo, or is not there as a whole, if
 * that is behind all of them.
 */
static const struct rvt_ntrace_scanned *
scan_more(struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s, const uint8_t *end,
	  const struct rvt_ntrace_scanned *m)
{
	struct rvt_ntrace_scan *scan = &d->scan;

	scan->at = m - scan->msgs;
	rvt_ntrace_scan(scan, &d->reader, end, rvt_flow_memos(s->flow));
	return scan->msgs + scan->at;
}

/* ---- from message to message ---- */

#define PATHS_AHEAD 3

/*
 * Behind @m: the memo was fetched when the message was scanned; what it leads through is delivered.
 */
static INLINE void fetch_path(const struct rvt_ntrace_scan *scan, struct rvt_memos *memos,
			      const struct rvt_ntrace_scanned *m)
{
	m += PATHS_AHEAD;
	if (m < scan->msgs + scan->n)
		rvt_memos_fetch_path(memos, rvt_memo_at(memos, m->memo));
}

/* Finds the memo of @key, as the one that was likely for @m is another. */
static __attribute__((noinline)) struct rvt_memo *
take_missed(struct rvt_flow *flow, const struct rvt_memo_key *key,
	    const struct rvt_ntrace_scanned *m)
{
	struct rvt_memos *memos = rvt_flow_memos(flow);
	struct rvt_memo *s = rvt_memo_at(memos, rvt_memos_predict(memos, m->mix));

	/* Since it was scanned that may have become known. */
	if (rvt_memo_is(s, key) && rvt_memos_apply_delta(flow, s))
		return s;
	s = rvt_memos_find(flow, key, rvt_memo_hash(key));
	if (s)
		rvt_memos_train(memos, m->mix, s);
	return s;
}

/* @tried, which is that of @m, cannot be taken. */
static __attribute__((noinline)) struct rvt_memo *
take_other(struct rvt_flow *flow, const struct rvt_memo *tried, const struct rvt_ntrace_scanned *m)
{
	struct rvt_memo *s = rvt_memos_find_other(flow, tried);

	if (s)
		rvt_memos_train(rvt_flow_memos(flow), m->mix, s);
	return s;
}

/* The functions of struct rvt_memo_adapter. */

static INLINE bool next(void *ctx, struct rvt_memo_cursor at, struct rvt_memo **memo)
{
	struct replay *r = ctx;
	struct rvt_memo_key key;

	if (r->m >= r->low)
		return false;
	if (r->groups && r->m->n > 1)
		make_group_key(r->ntrace_mode, r->m, at, r->state.reference, &key);
	else
		r->stop = !make_key(r->d, r->s, r->ntrace_mode, r->m, at, &r->state, r->caches,
				    &key);
	if (r->stop)
		return false;
	*memo = rvt_memo_at(rvt_flow_memos(r->flow), r->m->memo);
	if (r->mode == RVT_REPLAY_RUNS)
		fetch_path(&r->d->scan, rvt_flow_memos(r->flow), r->m);
	/* Copies, one by one: so what is in registers need not be in memory before. */
	if (unlikely(!rvt_memo_is(*memo, &key)))
		*memo = take_missed(r->flow, &(struct rvt_memo_key){
			{ key.bytes[0], key.bytes[1] }, key.pc, key.address, key.state,
			key.mapping_id,
		}, r->m);
	else if (unlikely(!rvt_memos_apply_delta(r->flow, *memo)))
		*memo = take_other(r->flow, *memo, r->m);
	return *memo;
}

static INLINE bool commit(void *ctx, const struct rvt_memo *memo)
{
	struct replay *r = ctx;
	const struct rvt_ntrace_scanned *m = r->m++;

	if (r->groups)
		r->n += m->n;
	if (rvt_ntrace_scanned_is(m, RVT_NTRACE_RESOURCE_FULL)) {
		r->state.ahead += rvt_memo_halfwords(memo);
		/* So it is where the next one may lead too far, too. */
		if (r->state.ahead >= LAST_AHEAD)
			r->low = r->m;
	} else {
		r->state.ahead = 0;
		r->state.reference = rvt_memo_address(memo, r->state.reference);
		if (r->caches && rvt_ntrace_scanned_is(m, RVT_NTRACE_INDIRECT_BRANCH_HIST))
			rvt_ntrace_jump_cache_note(&r->s->ctte->cache, r->d->params.xlen,
						   r->state.reference);
	}
	r->state.time = r->xors ? r->state.time ^ m->stamp : r->state.time + m->stamp;
	return !has_time(r);
}

/* What messages of a group did that were taken one by one. */
struct singles {
	uint64_t pc, reference;
	unsigned int n, len;		/* messages, and their bytes */
	bool whole;			/* replaying can go on */
	bool missed;			/* the next one could have a memo, and has none */
};

/*
 * The messages of @group, of which there is no memo, are taken one by one, up to one that has no
 * memo. What they do is kept as one memo, if all have. @pc, @reference: where the flow is.
 */
static __attribute__((noinline)) struct singles
take_singly(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_source *s,
	    const struct rvt_ntrace_scanned *group, uint64_t pc, uint64_t reference)
{
	struct singles singles = { .pc = pc, .reference = reference, .whole = true };
	struct rvt_memo_group memos = rvt_memo_group_begin_missed(s->flow);
	struct rvt_memo *memo = NULL;
	struct rvt_ntrace_scan scan;

	rvt_ntrace_scan_init(&scan, &d->reader);
	rvt_ntrace_scan_begin(&scan, group->pos);
	rvt_ntrace_scan(&scan, &d->reader, group->pos + group->len, NULL);
	while (singles.whole && singles.n < scan.n) {
		const struct rvt_ntrace_scanned *m = &scan.msgs[singles.n];
		const struct state state = { .reference = singles.reference };
		struct rvt_memo_key key;

		make_key(d, s, s->mode, m, rvt_memo_cursor_at(s->flow, singles.pc), &state, false,
			 &key);
		memo = take_missed(s->flow, &key, m);
		singles.missed = !memo;
		if (!memo)
			return singles;
		memos.memos[memos.n++] = memo;
		singles.whole = rvt_memos_apply(s->flow, memo);
		singles.pc = memo->pc;
		singles.reference = rvt_memo_address(memo, singles.reference);
		singles.n++;
		singles.len += m->len;
	}
	memo = singles.n == group->n ? rvt_memos_group(s->flow, &memos) : NULL;
	if (memo)
		rvt_memos_train(rvt_flow_memos(s->flow), group->mix, memo);
	return singles;
}

/* The same for the group r->m, as far as its messages have memos. False: replaying must end. */
static INLINE bool walk_group(struct replay *r, uint64_t *pc)
{
	struct rvt_ntrace_scanned *m = &r->d->scan.msgs[r->m - r->d->scan.msgs];
	const struct singles singles = take_singly(r->d, r->s, m, *pc, r->state.reference);

	if (!singles.n) {
		r->d->missed = singles.missed;
		return false;
	}
	note_taken(r);
	note_last(r, m->pos, singles.len);
	r->n += singles.n;
	r->state.reference = singles.reference;
	*pc = singles.pc;
	if (singles.n == m->n)
		r->from = ++r->m;
	else
		shorten(m, singles.len);
	return singles.whole;
}

/* Message r->m, of which there is no memo, is walked. False: replaying must end. */
static INLINE bool walk(struct replay *r, uint64_t *pc)
{
	bool whole;
	const struct rvt_memo *memo = speculate(r->d, r->s, r->state.reference, r->state.ahead,
						r->m, &whole);

	r->d->missed = !memo;
	if (!memo)
		return false;
	*pc = memo->pc;
	commit(r, memo);
	return whole;
}

/* More messages are scanned. False: none can be a memo, or is there as a whole. */
static INLINE bool scan(struct replay *r)
{
	if (r->state.ahead >= LAST_AHEAD)
		return false;
	note_taken(r);
	r->m = r->from = scan_more(r->d, r->s, r->end, r->m);
	r->low = scan_low(&r->d->scan);
	return r->m < r->d->scan.msgs + r->d->scan.n;
}

static INLINE bool otherwise(void *ctx, uint64_t *pc)
{
	struct replay *r = ctx;
	bool whole;

	if (r->m > r->from && has_time(r))
		return pass_time(r, pc);
	if (r->m >= r->low)
		return scan(r);
	if (r->stop)
		return false;
	if (r->groups && r->m->n > 1)
		return walk_group(r, pc);
	whole = walk(r, pc);
	return pass_time(r, pc) && whole;
}

/*
 * Replays messages from where the reader is up to @end. @mode, @xors, @caches: of the flow, the
 * time stamps and the source. @groups: messages are grouped.
 */
static INLINE void replay(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const uint8_t *end, enum rvt_replay_mode mode, bool xors, bool caches,
			  bool groups)
{
	static const struct rvt_memo_adapter adapter = { next, commit, otherwise };
	struct rvt_ntrace_reader *reader = &d->reader;
	struct rvt_ntrace_scan *scan = &d->scan;
	struct replay r = {
		.d = d, .s = s, .flow = s->flow, .ntrace_mode = s->mode, .end = end, .mode = mode,
		.xors = xors, .caches = caches, .groups = groups,
		.state = { .reference = s->reference, .ahead = s->ahead, .time = s->time },
	};
	struct rvt_memo_cursor at;
	const uint8_t *behind;

	if (!rvt_memos_enter(s->flow, &at))
		return;
	d->missed = false;
	if (scan->groups != groups)
		rvt_ntrace_scan_begin(scan, reader->pos);
	scan->groups = groups;
	skip_scanned(scan, reader->pos);
	r.m = r.from = scan->msgs + scan->at;
	r.low = r.state.ahead < LAST_AHEAD ? scan_low(scan) : r.m;
	rvt_memos_replay(r.flow, at.pc, mode, &adapter, &r);
	pass_time(&r, &at.pc);
	note_taken(&r);
	scan->at = r.m - scan->msgs;
	if (!r.n)
		return;
	settle(s, r);
	rvt_ntrace_check(d, rvt_flow_result(s->flow));
	d->stream.stats.messages += r.n;
	behind = r.m < scan->msgs + scan->n ? r.m->pos : scan->pos;
	reader->offset += behind - reader->pos;
	reader->pos = behind;
}

void rvt_ntrace_replay(struct rvt_ntrace_decoder *d)
{
	const bool xors = d->params.timestamp == RVT_TIMESTAMP_XOR;
	struct rvt_ntrace_source *s = d->recent;
	const enum rvt_replay_mode mode = rvt_replay_mode(s->flow);
	const uint8_t *end = replay_end(d);

	if (end == d->reader.pos)
		return;
	/* The usual one by itself. */
	if (s->ctte)
		replay(d, s, end, mode, xors, true, false);
	else if (s->mode == RVT_MODE_BTM && !d->reader.timestamps && !d->params.src_bits)
		replay(d, s, end, mode, false, false, true);
	else if (mode == RVT_REPLAY_COUNTS && !xors)
		replay(d, s, end, RVT_REPLAY_COUNTS, false, false, false);
	else
		replay(d, s, end, mode, xors, false, false);
}

/* Reads what the repeated message is, once somebody asks. */
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
