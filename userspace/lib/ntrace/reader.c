// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Bytes to messages (N-Trace chapter 3). Hot: a message is read field by field with one 64-bit
 * load each; the end of a field is the first byte whose MSEO bit 0 is set.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <ntrace/message.h>

#define MSEO_END 3
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Payload bits up to and including the byte that ends a field. */
struct segment {
	uint64_t lo, hi;	/* 128 bits; what is beyond is in .excess */
	uint32_t len_bytes;
	bool excess;		/* a bit beyond 128 is set */
	bool last;		/* ends the message, too */
};

static void add_use(struct rvt_ntrace_layout *layout, const struct rvt_ntrace_use *use,
		    unsigned int revision)
{
	layout->present |= UINT64_C(1) << use->field;
	if (use->field == RVT_NTRACE_F_HIST)
		layout->hist = use->field;
	if (use->bits) {
		layout->fixed[layout->n_fixed].field = use->field;
		layout->fixed[layout->n_fixed].shift = layout->fixed_bits;
		layout->fixed[layout->n_fixed].mask = (1u << use->bits) - 1;
		layout->n_fixed++;
		layout->fixed_bits += use->bits;
	} else {
		layout->var[layout->n_var].field = use->field;
		layout->var[layout->n_var].max_bits =
			rvt_ntrace_fields[use->field].max_bits[revision];
		layout->n_var++;
	}
}

/* The fields that are always there, and those of @when. */
static void build(struct rvt_ntrace_layout *layout, const struct rvt_ntrace_format *format,
		  unsigned int src_bits, unsigned int revision, enum rvt_ntrace_when when)
{
	memset(layout, 0, sizeof(*layout));
	layout->known = 1;
	layout->fixed_bits = 6 + src_bits;
	layout->present = 1u << RVT_NTRACE_F_TCODE | (src_bits ? 1u << RVT_NTRACE_F_SRC : 0);
	for (const struct rvt_ntrace_use *use = format->uses; use->field != RVT_NTRACE_FIELDS;
	     use++)
		if (use->when == RVT_NTRACE_ALWAYS || use->when == when)
			add_use(layout, use, revision);
}

/* CDF is the number of CDATA fields; that the only one is HIST is said of 1 alone (7.12). */
static void build_correlation(struct rvt_ntrace_layout *layouts, unsigned int src_bits,
			      unsigned int revision)
{
	const struct rvt_ntrace_format *format =
		rvt_ntrace_format(RVT_NTRACE_PROG_TRACE_CORRELATION);

	build(&layouts[RVT_NTRACE_LAYOUT_CDF_1], format, src_bits, revision,
	      RVT_NTRACE_WHEN_CDF_1);
	build(&layouts[RVT_NTRACE_LAYOUT_CDF_2], format, src_bits, revision,
	      RVT_NTRACE_WHEN_CDF_2_3);
	layouts[RVT_NTRACE_LAYOUT_CDF_3] = layouts[RVT_NTRACE_LAYOUT_CDF_2];
	for (const struct rvt_ntrace_use *use = format->uses; use->field != RVT_NTRACE_FIELDS;
	     use++)
		if (use->when == RVT_NTRACE_WHEN_CDF_3)
			add_use(&layouts[RVT_NTRACE_LAYOUT_CDF_3], use, revision);
	layouts[RVT_NTRACE_PROG_TRACE_CORRELATION].depends = true;
}

/* Beside the tables of TCODEs: counts of branches, and in-circuit trace with a second value. */
static void build_sifive(struct rvt_ntrace_layout *layouts, unsigned int src_bits,
			 unsigned int revision)
{
	build(&layouts[RVT_NTRACE_LAYOUT_RCODE_8], rvt_ntrace_format(RVT_NTRACE_RESOURCE_FULL),
	      src_bits, revision, RVT_NTRACE_ALWAYS);
	layouts[RVT_NTRACE_LAYOUT_RCODE_8].var[0].max_bits = RVT_NTRACE_MAX_COUNT_BITS;
	build(&layouts[RVT_NTRACE_LAYOUT_CKDF_1], rvt_ntrace_format(RVT_NTRACE_IN_CIRCUIT_TRACE),
	      src_bits, revision, RVT_NTRACE_WHEN_CKDF_1);
	build(&layouts[RVT_NTRACE_LAYOUT_SYNC_CKDF_1],
	      rvt_ntrace_format(RVT_NTRACE_IN_CIRCUIT_TRACE_SYNC), src_bits, revision,
	      RVT_NTRACE_WHEN_CKDF_1);
	layouts[RVT_NTRACE_IN_CIRCUIT_TRACE].depends = true;
	layouts[RVT_NTRACE_IN_CIRCUIT_TRACE_SYNC].depends = true;
}

/* Its counters of repetitions have 32 bits. */
static void build_ctte(struct rvt_ntrace_layout *layouts)
{
	layouts[RVT_NTRACE_BRANCH_PREDICTION].var[0].max_bits = RVT_NTRACE_MAX_COUNT_BITS;
	layouts[RVT_NTRACE_REPEAT_BRANCH].var[0].max_bits = RVT_NTRACE_MAX_COUNT_BITS;
	layouts[RVT_NTRACE_LAYOUT_RCODE_2].var[1].max_bits = RVT_NTRACE_MAX_COUNT_BITS;
}

int rvt_ntrace_reader_init(struct rvt_ntrace_reader *reader, const struct rvt_params *params)
{
	unsigned int revision = params->dialect == RVT_DIALECT_NTRACE_RC7 ? 0 : 1;
	unsigned int src_bits = params->src_bits;
	const struct rvt_ntrace_format *full = rvt_ntrace_format(RVT_NTRACE_RESOURCE_FULL);
	struct rvt_ntrace_layout *layouts = reader->layouts;

	if (src_bits > RVT_NTRACE_MAX_SRC_BITS)
		return -EINVAL;
	memset(reader, 0, sizeof(*reader));
	reader->src_bits = src_bits;
	reader->src_mask = (1u << src_bits) - 1;
	reader->timestamps = params->timestamp != RVT_TIMESTAMP_NONE;
	reader->sifive = params->dialect == RVT_DIALECT_NTRACE_SIFIVE;
	reader->ctte = params->dialect == RVT_DIALECT_NTRACE_CTTE;
	for (unsigned int tcode = 0; tcode < RVT_NTRACE_LAYOUT_RCODE_0; tcode++) {
		const struct rvt_ntrace_format *format =
			rvt_ntrace_format_of(params->dialect, tcode);

		if (format)
			build(&layouts[tcode], format, src_bits, revision, RVT_NTRACE_ALWAYS);
	}
	build(&layouts[RVT_NTRACE_LAYOUT_RCODE_0], full, src_bits, revision, RVT_NTRACE_ALWAYS);
	layouts[RVT_NTRACE_LAYOUT_RCODE_0].var[0].max_bits = RVT_NTRACE_MAX_ICNT_BITS;
	build(&layouts[RVT_NTRACE_LAYOUT_RCODE_1], full, src_bits, revision, RVT_NTRACE_ALWAYS);
	layouts[RVT_NTRACE_LAYOUT_RCODE_1].var[0].max_bits = RVT_NTRACE_MAX_HIST_BITS;
	build(&layouts[RVT_NTRACE_LAYOUT_RCODE_2], full, src_bits, revision,
	      RVT_NTRACE_WHEN_RCODE_2);
	layouts[RVT_NTRACE_LAYOUT_RCODE_2].var[0].max_bits = RVT_NTRACE_MAX_HIST_BITS;
	build_correlation(layouts, src_bits, revision);
	layouts[RVT_NTRACE_LAYOUT_RCODE_1].hist = RVT_NTRACE_F_RDATA;
	layouts[RVT_NTRACE_LAYOUT_RCODE_2].hist = RVT_NTRACE_F_RDATA;
	layouts[RVT_NTRACE_RESOURCE_FULL].depends = true;
	if (reader->sifive)
		build_sifive(layouts, src_bits, revision);
	if (reader->ctte)
		build_ctte(layouts);
	reader->tentative = true;
	return 0;
}

void rvt_ntrace_reader_feed(struct rvt_ntrace_reader *reader, const void *bytes, size_t len,
			    uint64_t offset)
{
	reader->pos = bytes;
	reader->end = len ? reader->pos + len : reader->pos;	/* @bytes may be NULL */
	reader->offset = offset;
}

unsigned int rvt_ntrace_reader_lost(struct rvt_ntrace_reader *reader, bool boundary)
{
	unsigned int partial = reader->carry_len;

	reader->skipped_bytes += partial;
	reader->carry_len = 0;
	reader->pos = reader->end = NULL;
	reader->tentative = !boundary;
	reader->hunting = false;
	reader->report = false;
	return partial;
}

/* Up to 8 bytes, zeros behind the end: those neither end a field nor are they illegal. */
static inline uint64_t load(const uint8_t *p, size_t avail)
{
	uint64_t word = 0;

	if (likely(avail >= 8))
		memcpy(&word, p, 8);
	else
		memcpy(&word, p, avail);
	return le64toh(word);
}

static inline bool illegal(uint64_t word)
{
	return word >> 1 & ~word & RVT_NTRACE_ONES;
}

/*
 * More than 8 bytes. Returns as take().
 */
static __attribute__((noinline)) enum rvt_ntrace_read take_long(const uint8_t *p, size_t avail,
								struct segment *seg)
{
	seg->lo = seg->hi = 0;
	seg->excess = false;
	for (uint32_t i = 0, shift = 0; i < avail; i++, shift += 6) {
		uint64_t mdo = p[i] >> 2;

		seg->len_bytes = i + 1;
		if ((p[i] & MSEO_END) == 2)
			return RVT_NTRACE_READ_DAMAGE;
		if (shift < 64)
			seg->lo |= mdo << shift;
		if (shift > 58 && shift < 64)
			seg->hi |= mdo >> (64 - shift);
		else if (shift >= 64 && shift < 128)
			seg->hi |= mdo << (shift - 64);
		if (shift > 122 && (shift < 128 ? mdo >> (128 - shift) : mdo))
			seg->excess = true;
		if (p[i] & 1) {
			seg->last = (p[i] & MSEO_END) == MSEO_END;
			return RVT_NTRACE_READ_MESSAGE;
		}
	}
	return RVT_NTRACE_READ_MORE;
}

/*
 * The next field. MESSAGE: *seg; MORE: no end in @avail bytes; DAMAGE: reserved MSEO in byte
 * seg->len_bytes - 1.
 */
static inline enum rvt_ntrace_read take(const uint8_t *p, size_t avail, struct segment *seg)
{
	uint64_t word = load(p, avail);
	uint64_t ends = word & RVT_NTRACE_ONES;
	uint64_t first = ends & -ends;
	uint64_t mask = (first << 8) - 1;

	if (unlikely(!ends || illegal(word & mask)))
		return take_long(p, avail, seg);
	seg->len_bytes = __builtin_ctzll(first) / 8 + 1;
	seg->last = word & first << 1;
	seg->lo = rvt_ntrace_pack(word & mask);
	seg->hi = 0;
	seg->excess = false;
	return RVT_NTRACE_READ_MESSAGE;
}

static inline void drop_bits(struct segment *seg, unsigned int bits)
{
	/* bits is 6..24, never 0 or 64 */
	seg->lo = seg->lo >> bits | seg->hi << (64 - bits);
	seg->hi >>= bits;
}

/* An address may carry copies of its top bit beyond bit 62. */
static bool addr_fits(struct segment *seg, unsigned int bits)
{
	uint64_t ones = bits > 64 ? UINT64_MAX >> (bits < 128 ? 128 - bits : 0) : 0;
	bool top = seg->lo >> 63;

	if (seg->excess || seg->hi != (top ? ones : 0))
		return false;
	if (top && !(seg->lo >> 62 & 1))
		return false;
	seg->lo &= UINT64_MAX >> 1;
	return true;
}

/* Stores a variable field; NULL or what is wrong with it. */
static inline const char *store(struct rvt_ntrace_msg *msg, struct segment *seg, int bits,
				enum rvt_ntrace_field field, unsigned int max_bits)
{
	if (unlikely(bits <= 0))
		return "a variable-length field has no bits";
	if (unlikely(seg->hi || seg->excess || (max_bits < 64 && seg->lo >> max_bits)) &&
	    !(max_bits == RVT_NTRACE_MAX_ADDR_BITS && addr_fits(seg, bits)))
		return "a field is larger than its maximum";
	msg->field[field] = seg->lo;
	msg->bits[field] = bits < 255 ? bits : 255;
	return NULL;
}

/* Where the parser stands, so that its steps can be functions. */
struct parse {
	const uint8_t *bytes;
	size_t avail;
	uint32_t used;			/* bytes of complete fields */
	const char *what;
};

/* Too long, incomplete, or a reserved MSEO: the outcome of a take() that found no field. */
static __attribute__((noinline)) enum rvt_ntrace_read
no_field(struct parse *parse, enum rvt_ntrace_read read, const struct segment *seg)
{
	if (read == RVT_NTRACE_READ_DAMAGE) {
		parse->used += seg->len_bytes;
		parse->what = "reserved MSEO value 2";
		return read;
	}
	if (parse->avail < RVT_NTRACE_MAX_MESSAGE_BYTES)
		return RVT_NTRACE_READ_MORE;
	parse->used = RVT_NTRACE_MAX_MESSAGE_BYTES;
	parse->what = "message does not end";
	return RVT_NTRACE_READ_DAMAGE;
}

static enum rvt_ntrace_read damaged(struct parse *parse, const char *what)
{
	parse->what = what;
	return RVT_NTRACE_READ_DAMAGE;
}

/* A message that has no table: TCODE, SRC, and whatever; CTTE stamps it as any other. */
static __attribute__((noinline)) enum rvt_ntrace_read
parse_opaque(const struct rvt_ntrace_reader *reader, struct parse *parse, struct segment *seg,
	     struct rvt_ntrace_msg *msg)
{
	msg->present = UINT64_C(1) << RVT_NTRACE_F_TCODE;
	if (reader->src_bits) {
		if (seg->len_bytes * 6 < 6u + reader->src_bits)
			return damaged(parse, "message ends inside SRC");
		msg->present |= UINT64_C(1) << RVT_NTRACE_F_SRC;
	}
	while (!seg->last) {
		enum rvt_ntrace_read read = take(parse->bytes + parse->used,
						 parse->avail - parse->used, seg);

		if (read != RVT_NTRACE_READ_MESSAGE)
			return no_field(parse, read, seg);
		parse->used += seg->len_bytes;
		if (seg->last && reader->ctte && reader->timestamps && !seg->hi && !seg->excess) {
			msg->present |= UINT64_C(1) << RVT_NTRACE_F_TSTAMP;
			msg->field[RVT_NTRACE_F_TSTAMP] = seg->lo;
			msg->bits[RVT_NTRACE_F_TSTAMP] = seg->len_bytes * 6;
		}
	}
	return RVT_NTRACE_READ_MESSAGE;
}

/* Layouts that depend on a fixed field; NULL if its value is reserved. */
static const struct rvt_ntrace_layout *variant(const struct rvt_ntrace_reader *reader,
					       const struct rvt_ntrace_layout *layout,
					       const struct rvt_ntrace_msg *msg)
{
	const struct rvt_ntrace_layout *layouts = reader->layouts;
	uint64_t rcode, cdf;

	switch (msg->field[RVT_NTRACE_F_TCODE]) {
	case RVT_NTRACE_RESOURCE_FULL:
		rcode = msg->field[RVT_NTRACE_F_RCODE];
		if (rcode <= 2)
			return &layouts[RVT_NTRACE_LAYOUT_RCODE_0 + rcode];
		return reader->sifive && rcode >> 1 == 4 ? &layouts[RVT_NTRACE_LAYOUT_RCODE_8] :
							   layout;
	case RVT_NTRACE_PROG_TRACE_CORRELATION:
		cdf = msg->field[RVT_NTRACE_F_CDF];
		return cdf ? &layouts[RVT_NTRACE_LAYOUT_CDF_1 + cdf - 1] : layout;
	case RVT_NTRACE_IN_CIRCUIT_TRACE:
	case RVT_NTRACE_IN_CIRCUIT_TRACE_SYNC:
		if (msg->field[RVT_NTRACE_F_CKDF] > 1)
			return NULL;
		if (!msg->field[RVT_NTRACE_F_CKDF])
			return layout;
		return &layouts[msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_IN_CIRCUIT_TRACE ?
				RVT_NTRACE_LAYOUT_CKDF_1 : RVT_NTRACE_LAYOUT_SYNC_CKDF_1];
	default:
		return layout;
	}
}

/* The message at parse->bytes, which is not idle. On MESSAGE parse->used is its length, on
 * DAMAGE the bytes that were looked at. */
static inline enum rvt_ntrace_read parse_message(const struct rvt_ntrace_reader *reader,
						 struct parse *parse, struct rvt_ntrace_msg *msg)
{
	const uint8_t *bytes = parse->bytes;
	size_t avail = parse->avail < RVT_NTRACE_MAX_MESSAGE_BYTES ? parse->avail :
								    RVT_NTRACE_MAX_MESSAGE_BYTES;
	const struct rvt_ntrace_layout *layout;
	enum rvt_ntrace_read read;
	struct segment seg;
	const char *what = NULL;
	unsigned int tcode, used;
	uint64_t present;
	int bits;

	parse->avail = avail;
	parse->used = 1;
	if (unlikely(bytes[0] & MSEO_END))
		return damaged(parse, "first byte of a message with MSEO not 0");
	parse->used = 0;
	read = take(bytes, avail, &seg);
	if (unlikely(read != RVT_NTRACE_READ_MESSAGE))
		return no_field(parse, read, &seg);
	used = seg.len_bytes;
	tcode = seg.lo & 63;
	msg->field[RVT_NTRACE_F_TCODE] = tcode;
	msg->field[RVT_NTRACE_F_SRC] = seg.lo >> 6 & reader->src_mask;
	layout = &reader->layouts[tcode];
	if (unlikely(!layout->known)) {
		parse->used = used;
		return parse_opaque(reader, parse, &seg, msg);
	}

	bits = (int)used * 6 - layout->fixed_bits;
	for (unsigned int i = 0; i < layout->n_fixed; i++)
		msg->field[layout->fixed[i].field] =
			seg.lo >> layout->fixed[i].shift & layout->fixed[i].mask;
	drop_bits(&seg, layout->fixed_bits);
	if (layout->depends) {
		layout = variant(reader, layout, msg);
		if (unlikely(!layout)) {
			parse->used = used;
			return damaged(parse, "reserved CKDF value");
		}
	}
	present = layout->present;
	for (unsigned int i = 0;; ) {
		what = store(msg, &seg, bits, layout->var[i].field, layout->var[i].max_bits);
		if (unlikely(what) || ++i == layout->n_var)
			break;
		if (unlikely(seg.last)) {
			what = "message ends before its last field";
			break;
		}
		read = take(bytes + used, avail - used, &seg);
		if (unlikely(read != RVT_NTRACE_READ_MESSAGE)) {
			parse->used = used;
			return no_field(parse, read, &seg);
		}
		used += seg.len_bytes;
		bits = seg.len_bytes * 6;
	}
	if (!seg.last && likely(!what)) {
		what = "message has more fields than its table";
		if (reader->timestamps) {
			read = take(bytes + used, avail - used, &seg);
			if (unlikely(read != RVT_NTRACE_READ_MESSAGE)) {
				parse->used = used;
				return no_field(parse, read, &seg);
			}
			used += seg.len_bytes;
			if (likely(seg.last))
				what = store(msg, &seg, seg.len_bytes * 6, RVT_NTRACE_F_TSTAMP, 64);
			present |= UINT64_C(1) << RVT_NTRACE_F_TSTAMP;
		}
	}
	parse->used = used;
	msg->present = present;
	if (likely(!what) && layout->hist && unlikely(!msg->field[layout->hist]))
		what = "HIST without stop bit";
	return unlikely(what) ? damaged(parse, what) : RVT_NTRACE_READ_MESSAGE;
}

static void advance(struct rvt_ntrace_reader *reader, size_t len)
{
	reader->pos += len;
	reader->offset += len;
}

static void skip_idle(struct rvt_ntrace_reader *reader)
{
	const uint8_t *pos = reader->pos, *end = reader->end;

	while (end - pos >= 8 && load(pos, 8) == UINT64_MAX)
		pos += 8;
	while (pos < end && *pos == RVT_NTRACE_IDLE)
		pos++;
	reader->idle_bytes += pos - reader->pos;
	advance(reader, pos - reader->pos);
}

/* Passes the end of a message; false if there is none in the input. */
static bool hunt(struct rvt_ntrace_reader *reader)
{
	const uint8_t *pos = reader->pos, *end = reader->end;
	bool found = false;

	while (pos < end && !found)
		found = (*pos++ & MSEO_END) == MSEO_END;
	reader->skipped_bytes += pos - reader->pos;
	reader->damage.len_bytes += pos - reader->pos;
	advance(reader, pos - reader->pos);
	reader->hunting = !found;
	return found;
}

/* A trace begins with one of these, whatever its options are. */
static bool begins_trace(const struct rvt_ntrace_msg *msg)
{
	switch (msg->field[RVT_NTRACE_F_TCODE]) {
	case RVT_NTRACE_PROG_TRACE_SYNC:
		return !msg->field[RVT_NTRACE_F_ICNT];
	case RVT_NTRACE_PROG_TRACE_CORRELATION:
	case RVT_NTRACE_ERROR:
		return true;
	case RVT_NTRACE_CONFIGURATION:
		return rvt_ntrace_has(msg, RVT_NTRACE_F_CFGVER);
	case RVT_NTRACE_IN_CIRCUIT_TRACE_SYNC:
		return rvt_ntrace_has(msg, RVT_NTRACE_F_CKSRC);
	default:
		return false;
	}
}

/*
 * The bytes looked at are no message. Hunting starts at the last of them (it may end a message).
 */
static void start_hunt(struct rvt_ntrace_reader *reader, uint64_t offset, uint32_t used,
		       const char *what)
{
	reader->report = !reader->tentative;
	reader->tentative = false;
	reader->hunting = true;
	reader->damage.offset = offset;
	reader->damage.len_bytes = used - 1;
	reader->damage.what = what;
	reader->skipped_bytes += used - 1;
}

static enum rvt_ntrace_read accept(struct rvt_ntrace_reader *reader, struct rvt_ntrace_msg *msg,
				   uint64_t offset, const struct parse *parse)
{
	msg->offset = offset;
	msg->len_bytes = parse->used;
	reader->bytes = parse->bytes;
	reader->tentative = false;
	return RVT_NTRACE_READ_MESSAGE;
}

/* Completes the message in the carry with bytes of the input. */
static enum rvt_ntrace_read read_carry(struct rvt_ntrace_reader *reader,
				       struct rvt_ntrace_msg *msg)
{
	uint32_t len = reader->carry_len;
	size_t avail = reader->end - reader->pos;
	size_t add = avail < sizeof(reader->carry) - len ? avail : sizeof(reader->carry) - len;
	struct parse parse = { .bytes = reader->carry, .avail = len + add };
	enum rvt_ntrace_read read;

	if (!add)
		return RVT_NTRACE_READ_MORE;
	memcpy(reader->carry + len, reader->pos, add);
	read = parse_message(reader, &parse, msg);
	if (read == RVT_NTRACE_READ_MORE) {
		reader->carry_len += add;
		advance(reader, add);
		return read;
	}
	if (read == RVT_NTRACE_READ_MESSAGE && reader->tentative && !begins_trace(msg))
		read = damaged(&parse, "");
	reader->carry_len = 0;
	if (read == RVT_NTRACE_READ_MESSAGE) {
		advance(reader, parse.used - len);
		return accept(reader, msg, reader->carry_offset, &parse);
	}
	/* what was carried was legal so far: the last byte looked at is one of the input */
	advance(reader, parse.used - 1 - len);
	start_hunt(reader, reader->carry_offset, parse.used, parse.what);
	return read;
}

static inline enum rvt_ntrace_read read_input(struct rvt_ntrace_reader *reader,
					      struct rvt_ntrace_msg *msg)
{
	struct parse parse = { .bytes = reader->pos, .avail = reader->end - reader->pos };
	enum rvt_ntrace_read read = parse_message(reader, &parse, msg);
	uint64_t offset = reader->offset;

	if (read == RVT_NTRACE_READ_MORE) {
		reader->carry_offset = offset;
		reader->carry_len = parse.avail;
		memcpy(reader->carry, reader->pos, parse.avail);
		advance(reader, parse.avail);
		return read;
	}
	if (read == RVT_NTRACE_READ_MESSAGE && unlikely(reader->tentative) && !begins_trace(msg))
		read = damaged(&parse, "");
	if (likely(read == RVT_NTRACE_READ_MESSAGE)) {
		advance(reader, parse.used);
		return accept(reader, msg, offset, &parse);
	}
	advance(reader, parse.used - 1);
	start_hunt(reader, offset, parse.used, parse.what);
	return read;
}

enum rvt_ntrace_read rvt_ntrace_reader_next(struct rvt_ntrace_reader *reader,
					    struct rvt_ntrace_msg *msg)
{
	enum rvt_ntrace_read read;

	for (;;) {
		if (unlikely(reader->hunting)) {
			if (!hunt(reader))
				return RVT_NTRACE_READ_MORE;
			if (reader->report) {
				reader->report = false;
				return RVT_NTRACE_READ_DAMAGE;
			}
		}
		if (unlikely(reader->carry_len)) {
			read = read_carry(reader, msg);
		} else {
			if (reader->pos < reader->end && *reader->pos == RVT_NTRACE_IDLE) {
				skip_idle(reader);
				/* idle or the last byte of a message: one begins behind it */
				reader->tentative = false;
			}
			if (reader->pos == reader->end)
				return RVT_NTRACE_READ_MORE;
			read = read_input(reader, msg);
		}
		if (likely(read != RVT_NTRACE_READ_DAMAGE))
			return read;
	}
}

bool rvt_ntrace_reader_finish(struct rvt_ntrace_reader *reader)
{
	bool damage = false;

	if (reader->hunting) {
		damage = reader->report;
	} else if (reader->carry_len && !reader->tentative) {
		reader->damage.offset = reader->carry_offset;
		reader->damage.len_bytes = reader->carry_len;
		reader->damage.what = "data ends inside a message";
		damage = true;
	}
	rvt_ntrace_reader_lost(reader, false);
	return damage;
}
