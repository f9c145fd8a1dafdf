// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <etrace/bits.h>

/* ---- codec ---- */

static unsigned int irdepth_bits(const struct rvt_params *p)
{
	return p->return_stack_size_p + (p->return_stack_size_p ? 1 : 0) + p->call_counter_size_p;
}

static unsigned int width_bits(const struct rvt_etrace_codec *codec, unsigned int width)
{
	const struct rvt_params *p = &codec->params;

	switch (width) {
	case RVT_ETRACE_W_CONTEXT:
		return p->nocontext_p ? 0 : p->context_width_p;
	case RVT_ETRACE_W_CONTEXT_029:
		return p->nocontext_p && p->context_packet_context == RVT_CONTEXT_PACKET_AS_OTHERS ?
		       0 : p->context_width_p;
	case RVT_ETRACE_W_PRIVILEGE:
		return p->privilege_width_p;
	case RVT_ETRACE_W_TIME:
		return p->notime_p ? 0 : p->time_width_p;
	case RVT_ETRACE_W_ADDRESS:
		return p->iaddress_width_p - p->iaddress_lsb_p;
	case RVT_ETRACE_W_TVAL:
		return p->iaddress_width_p;
	case RVT_ETRACE_W_ECAUSE:
		return p->ecause_width_p;
	case RVT_ETRACE_W_F0S:
		return p->f0s_width_p;
	case RVT_ETRACE_W_INDEX:
		return p->cache_size_p;
	case RVT_ETRACE_W_IRDEPTH_STACK:
		return p->return_stack_size_p;
	case RVT_ETRACE_W_IRDEPTH:
		return codec->iret_ext ? 0 : irdepth_bits(p);
	case RVT_ETRACE_W_IRETS:
		return codec->iret_ext ? 8 : 0;
	case RVT_ETRACE_W_ENCODER_MODE:
		return p->encoder_mode_bits;
	case RVT_ETRACE_W_IOPTIONS:
		return p->n_ioptions;
	case RVT_ETRACE_W_DOPTIONS:
		return p->n_doptions ? p->n_doptions : p->doptions_bits;
	case RVT_ETRACE_W_SUPPORT_TIME:
		return p->support_time_bits;
	default:
		return width;
	}
}

/* Format 0 packets without subformat field: which of the two it is follows from the options. */
static bool is_cache_only(const struct rvt_params *p)
{
	if (p->dialect == RVT_DIALECT_ETRACE_0_029)
		return true;
	if (p->options & RVT_OPT_BRANCH_PREDICTION && p->options & RVT_OPT_JUMP_TARGET_CACHE)
		return !p->bpred_size_p;
	return p->options & RVT_OPT_JUMP_TARGET_CACHE;
}

static bool is_usable(const struct rvt_etrace_codec *codec, unsigned int kind)
{
	const struct rvt_params *p = &codec->params;
	bool cache = kind == RVT_ETRACE_CACHE || kind == RVT_ETRACE_CACHE_BRANCHES;
	bool count = kind == RVT_ETRACE_COUNT || kind == RVT_ETRACE_COUNT_ADDRESS;

	if (cache && !p->cache_size_p)
		return false;
	/* 2.0.5 numbers the kinds that there are. */
	if (count && p->f0s_width_p && p->dialect == RVT_DIALECT_ETRACE_2_0_5)
		return p->bpred_size_p || !p->cache_size_p;
	if ((!cache && !count) || p->f0s_width_p || p->dialect == RVT_DIALECT_ETRACE_0_029)
		return true;
	return cache == is_cache_only(p);
}

/* As struct rvt_etrace_codec has it. */
static int cache_subformat(const struct rvt_params *p)
{
	if (!p->cache_size_p || (!p->f0s_width_p && !is_cache_only(p)))
		return -1;
	if (!p->f0s_width_p || p->dialect == RVT_DIALECT_ETRACE_0_029)
		return 0;
	return p->dialect != RVT_DIALECT_ETRACE_2_0_5 || p->bpred_size_p;
}

static bool drops_field(const struct rvt_params *p, const struct rvt_etrace_use *use)
{
	return use->when == RVT_ETRACE_UNLESS_IMPLICIT &&
	       p->options & RVT_OPT_IMPLICIT_EXCEPTION;
}

static void compile(struct rvt_etrace_codec *codec, const struct rvt_etrace_format *format,
		    struct rvt_etrace_layout *layout)
{
	const struct rvt_params *p = &codec->params;
	const struct rvt_etrace_use *use = format->uses;
	struct rvt_etrace_use *out = layout->uses;

	layout->kind = format->kind;
	layout->open = format->kind == RVT_ETRACE_SYNC_SUPPORT;
	for (; use->field != RVT_ETRACE_FIELDS; use++) {
		unsigned int bits = width_bits(codec, use->width);

		if (!bits || drops_field(p, use))
			continue;
		*out = *use;
		out->width = bits;
		if (use->when == RVT_ETRACE_UNLESS_IMPLICIT_THADDR &&
		    !(p->options & RVT_OPT_IMPLICIT_EXCEPTION))
			out->when = RVT_ETRACE_ALWAYS;
		/* With a subformat field but no branch predictor, 2.0.5 calls the cache 0. */
		if (use->width == RVT_ETRACE_W_F0S && p->dialect == RVT_DIALECT_ETRACE_2_0_5 &&
		    !p->bpred_size_p && use->match == 2)
			out->match = 1;
		out++;
	}
	layout->n = out - layout->uses;
}

int rvt_etrace_codec_update(struct rvt_etrace_codec *codec)
{
	const struct rvt_etrace_format *format = rvt_etrace_formats(codec->params.dialect);

	codec->n_layouts = 0;
	codec->n_data = 0;
	codec->cache_subformat = cache_subformat(&codec->params);
	memset(codec->n, 0, sizeof(codec->n));
	for (; format->uses[0].field != RVT_ETRACE_FIELDS; format++) {
		unsigned int value = format->uses[0].match;

		if (!is_usable(codec, format->kind))
			continue;
		value = __builtin_ctz(value);
		if (!codec->n[value]++)
			codec->first[value] = codec->n_layouts;
		compile(codec, format, &codec->layouts[codec->n_layouts++]);
	}
	if (codec->params.data_width_p)
		rvt_etrace_data_compile(codec);
	return 0;
}

static bool data_in_range(const struct rvt_params *p)
{
	const unsigned int width = p->data_width_p;
	const unsigned int neither = RVT_OPT_DATA_NO_ADDRESS | RVT_OPT_DATA_NO_VALUE;

	if (p->n_doptions > RVT_MAX_IOPTIONS)
		return false;
	if (!width)
		return true;
	return (width == 8 || width == 16 || width == 32 || width == 64) &&
	       (!p->daddress_width_p || p->daddress_width_p >= 8) && p->daddress_width_p <= 64 &&
	       p->lrid_width_p <= 8 && p->dtype_width_p <= 4 && (p->options & neither) != neither &&
	       !(p->data_packets == RVT_DATA_PACKETS_TYPE && p->type_bits &&
		 p->type_data == p->type_instruction);
}

static bool in_range(const struct rvt_params *p)
{
	return p->iaddress_lsb_p <= 2 && p->iaddress_width_p > p->iaddress_lsb_p + 1 &&
	       p->iaddress_width_p <= 64 && p->context_width_p <= 64 && p->time_width_p <= 64 &&
	       p->privilege_width_p >= 1 && p->privilege_width_p <= 8 && p->ecause_width_p >= 1 &&
	       p->ecause_width_p <= 64 && p->f0s_width_p <= 8 && p->bpred_size_p <= 20 &&
	       p->cache_size_p <= 20 && irdepth_bits(p) <= 64 && p->return_stack_size_p <= 16 &&
	       p->call_counter_size_p <= 16 && p->encoder_mode_bits <= 64 &&
	       p->doptions_bits <= 64 && p->n_ioptions <= RVT_MAX_IOPTIONS &&
	       p->srcid_bits <= 16 && p->timestamp_bytes <= 8 && p->type_bits <= 8 &&
	       p->support_time_bits >= 2 && p->support_time_bits <= 3 && data_in_range(p);
}

int rvt_etrace_codec_init(struct rvt_etrace_codec *codec, const struct rvt_params *params)
{
	if (params->protocol != RVT_PROTOCOL_ETRACE || !rvt_etrace_formats(params->dialect) ||
	    !in_range(params))
		return -EINVAL;
	memset(codec, 0, sizeof(*codec));
	codec->params = *params;
	codec->iret_ext = params->dialect == RVT_DIALECT_ETRACE_2_0_5;
	return rvt_etrace_codec_update(codec);
}

/* Option bits of the 2.0.5 support packet. */
static const struct {
	uint8_t field;
	uint16_t option;
} standard_options[] = {
	{ RVT_ETRACE_F_SIJUMP, RVT_OPT_SEQUENTIAL_JUMP },
	{ RVT_ETRACE_F_IMPLICIT_RETURN, RVT_OPT_IMPLICIT_RETURN },
	{ RVT_ETRACE_F_BRANCH_PREDICTOR, RVT_OPT_BRANCH_PREDICTION },
	{ RVT_ETRACE_F_JUMP_TARGET_CACHE, RVT_OPT_JUMP_TARGET_CACHE },
	{ RVT_ETRACE_F_IMPLICIT_EXCEPT, RVT_OPT_IMPLICIT_EXCEPTION },
	{ RVT_ETRACE_F_FULL_IADDRESS, RVT_OPT_FULL_ADDRESS },
	{ RVT_ETRACE_F_MMACAS_EXT, RVT_OPT_MULTI_ACCESS },
	{ RVT_ETRACE_F_NOADDR, RVT_OPT_DATA_NO_ADDRESS },
	{ RVT_ETRACE_F_NODATA, RVT_OPT_DATA_NO_VALUE },
};

#define N_STANDARD_OPTIONS (sizeof(standard_options) / sizeof(standard_options[0]))

static void standard_support(struct rvt_etrace_codec *codec, const struct rvt_etrace_msg *msg)
{
	struct rvt_params *p = &codec->params;
	unsigned int units = msg->field[RVT_ETRACE_F_TIME_WIDTH];

	p->options = 0;
	for (size_t i = 0; i < N_STANDARD_OPTIONS; i++)
		if (msg->field[standard_options[i].field])
			p->options |= standard_options[i].option;
	codec->resync_disabled = msg->field[RVT_ETRACE_F_RESYNC_DISABLED];
	codec->iret_ext = msg->field[RVT_ETRACE_F_IRET_EXT];
	/* The two-bit form cannot say that there is no time field: notime_p must. */
	if (p->support_time_bits == 2)
		p->time_width_p = 16 * (units + 1);
	else
		p->time_width_p = units > 4 ? 64 : 16 * units;
	p->f0s_width_p = msg->field[RVT_ETRACE_F_F0S_WIDTH];
	p->return_stack_size_p = msg->field[RVT_ETRACE_F_RETURN_STACK_SIZE];
	p->call_counter_size_p = msg->field[RVT_ETRACE_F_CALL_COUNTER_SIZE];
	p->bpred_size_p = msg->field[RVT_ETRACE_F_BPRED_SIZE];
	p->cache_size_p = msg->field[RVT_ETRACE_F_CACHE_SIZE];
}

/* Sets options by the bits of @field. An option without a bit stays as it was. */
static void listed_options(struct rvt_params *p, const unsigned int *listed, unsigned int n,
			   uint64_t field)
{
	for (unsigned int i = 0; i < n; i++)
		p->options &= ~listed[i];
	for (unsigned int i = 0; i < n; i++)
		if (field >> i & 1)
			p->options |= listed[i];
}

static uint64_t option_bits(const struct rvt_params *p, const unsigned int *listed, unsigned int n)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < n; i++)
		if (listed[i] && (p->options & listed[i]) == listed[i])
			bits |= 1ull << i;
	return bits;
}

int rvt_etrace_codec_support(struct rvt_etrace_codec *codec, const struct rvt_etrace_msg *msg)
{
	struct rvt_params *p = &codec->params, before;
	bool iret_ext = codec->iret_ext;

	memcpy(&before, p, sizeof(before));
	if (p->dialect == RVT_DIALECT_ETRACE_2_0_5) {
		standard_support(codec, msg);
	} else {
		listed_options(p, p->ioptions, p->n_ioptions, msg->field[RVT_ETRACE_F_IOPTIONS]);
		listed_options(p, p->doptions, p->n_doptions, msg->field[RVT_ETRACE_F_DOPTIONS]);
	}
	if (!in_range(p))
		return -EINVAL;
	/* There is one whenever a task goes on, and nearly all say the same. */
	if (iret_ext == codec->iret_ext && !memcmp(&before, p, sizeof(before)))
		return 0;
	return rvt_etrace_codec_update(codec);
}

void rvt_etrace_codec_describe(const struct rvt_etrace_codec *codec, struct rvt_etrace_msg *msg)
{
	const struct rvt_params *p = &codec->params;

	rvt_etrace_set(msg, RVT_ETRACE_F_IOPTIONS,
		       option_bits(p, p->ioptions, p->n_ioptions));
	rvt_etrace_set(msg, RVT_ETRACE_F_DOPTIONS,
		       option_bits(p, p->doptions, p->n_doptions));
	for (size_t i = 0; i < N_STANDARD_OPTIONS; i++)
		rvt_etrace_set(msg, standard_options[i].field,
			       !!(p->options & standard_options[i].option));
	rvt_etrace_set(msg, RVT_ETRACE_F_RESYNC_DISABLED, codec->resync_disabled);
	rvt_etrace_set(msg, RVT_ETRACE_F_IRET_EXT, codec->iret_ext);
	rvt_etrace_set(msg, RVT_ETRACE_F_TIME_WIDTH,
		       p->support_time_bits == 3 ? (p->notime_p ? 0 : p->time_width_p / 16) :
		       p->time_width_p >= 16 ? p->time_width_p / 16 - 1 : 0);
	rvt_etrace_set(msg, RVT_ETRACE_F_F0S_WIDTH, p->f0s_width_p);
	rvt_etrace_set(msg, RVT_ETRACE_F_RETURN_STACK_SIZE, p->return_stack_size_p);
	rvt_etrace_set(msg, RVT_ETRACE_F_CALL_COUNTER_SIZE, p->call_counter_size_p);
	rvt_etrace_set(msg, RVT_ETRACE_F_BPRED_SIZE, p->bpred_size_p);
	rvt_etrace_set(msg, RVT_ETRACE_F_CACHE_SIZE, p->cache_size_p);
}

/* ---- reader ---- */

static bool is_there(const struct rvt_etrace_use *use, const struct rvt_etrace_msg *msg)
{
	switch (use->when) {
	case RVT_ETRACE_UNLESS_IMPLICIT_THADDR:
		return !msg->field[RVT_ETRACE_F_THADDR];
	case RVT_ETRACE_UNLESS_INTERRUPT:
		return !msg->field[RVT_ETRACE_F_INTERRUPT];
	default:
		return true;
	}
}

static bool matches(const struct rvt_etrace_use *use, uint64_t value, bool preceding)
{
	if (use->match == RVT_ETRACE_ANY)
		return true;
	if (use->match == RVT_ETRACE_COPIES)
		return value == (preceding ? rvt_etrace_mask(use->width) : 0);
	return value < 32 && use->match >> value & 1;
}

static void note_coded(const struct rvt_etrace_use *use, struct rvt_etrace_msg *msg, bool differs)
{
	switch (use->field) {
	case RVT_ETRACE_F_NOTIFY:
		msg->notify = differs;
		break;
	case RVT_ETRACE_F_UPDISCON:
		msg->updiscon = differs;
		break;
	case RVT_ETRACE_F_IRREPORT:
		msg->irreport = differs;
		break;
	default:
		msg->not_taken = differs;
		break;
	}
}

static bool preceding_bit(const uint8_t *buffer, unsigned int pos)
{
	return pos && buffer[(pos - 1) / 8] >> (pos - 1) % 8 & 1;
}

/* Returns the number of bits, or 0 if the packet has not this layout. */
static unsigned int read_layout(const struct rvt_etrace_layout *layout, const uint8_t *buffer,
				unsigned int start, struct rvt_etrace_msg *msg)
{
	const struct rvt_etrace_use *use = layout->uses, *end = use + layout->n;
	unsigned int pos = start;
	uint64_t present = 0;

	for (; use < end; use++) {
		unsigned int bits = use->width;
		uint64_t value;

		if (use->when && !is_there(use, msg))
			continue;
		if (bits == RVT_ETRACE_W_MAP)
			bits = rvt_etrace_map_bits(msg->field[RVT_ETRACE_F_BRANCHES]);
		value = rvt_etrace_get_bits(buffer, pos, bits);
		if (use->match && !matches(use, value, preceding_bit(buffer, pos)))
			return 0;
		if (use->coding == RVT_ETRACE_DIFFERS)
			note_coded(use, msg, value != preceding_bit(buffer, pos));
		msg->field[use->field] = value;
		present |= 1ull << use->field;
		pos += bits;
	}
	msg->present = present;
	return pos - start;
}

static const char *parse_payload(const struct rvt_etrace_codec *codec, const uint8_t *buffer,
				 unsigned int start, unsigned int end, struct rvt_etrace_msg *msg)
{
	unsigned int format = rvt_etrace_get_bits(buffer, start, 2);
	unsigned int i = codec->first[format], stop = i + codec->n[format];

	for (; i < stop; i++) {
		const struct rvt_etrace_layout *layout = &codec->layouts[i];
		unsigned int bits = read_layout(layout, buffer, start, msg);

		if (!bits)
			continue;
		msg->kind = layout->kind;
		if (!layout->open && rvt_etrace_has_excess(buffer, start + bits, end))
			return "packet is longer than its fields";
		if (rvt_etrace_has(msg, RVT_ETRACE_F_BRANCH) &&
		    codec->params.dialect != RVT_DIALECT_ETRACE_0_029)
			msg->not_taken = msg->field[RVT_ETRACE_F_BRANCH];
		return NULL;
	}
	return "no packet of this dialect and options";
}

const char *rvt_etrace_parse(const struct rvt_etrace_codec *codec, const uint8_t *bytes,
			     unsigned int len_bytes, struct rvt_etrace_msg *msg)
{
	const struct rvt_params *p = &codec->params;
	unsigned int pos = p->srcid_bits, end = (len_bytes - 1) * 8;
	uint8_t buffer[RVT_ETRACE_BUFFER_BYTES];

	if (len_bytes < 2 || len_bytes > RVT_ETRACE_MAX_FRAME_BYTES)
		return "packet of impossible length";
	memset(buffer, bytes[len_bytes - 1] & 0x80 ? 0xff : 0, sizeof(buffer));
	memcpy(buffer, bytes + 1, len_bytes - 1);
	msg->len_bytes = len_bytes;
	msg->flow = bytes[0] >> 5 & 3;
	msg->extend = bytes[0] >> 7;
	msg->src = rvt_etrace_get_bits(buffer, 0, pos);
	msg->timestamp = 0;
	msg->notify = msg->updiscon = msg->irreport = msg->not_taken = false;
	if (msg->extend) {
		msg->timestamp = rvt_etrace_get_bits(buffer, pos, 8 * p->timestamp_bytes);
		pos += 8 * p->timestamp_bytes;
	}
	msg->type = rvt_etrace_get_bits(buffer, pos, p->type_bits);
	pos += p->type_bits;
	if (pos >= end)
		return "packet without payload";
	if (rvt_etrace_is_data_type(p, msg->type))
		return rvt_etrace_data_read(codec, buffer, pos, end, msg);
	if (p->type_bits && msg->type != rvt_etrace_type(p)) {
		msg->present = 0;
		return NULL;
	}
	return parse_payload(codec, buffer, pos, end, msg);
}

/* Whether all bits of @payload from number @pos on are the same. */
static bool is_sign(__int128 payload, unsigned int pos)
{
	const __int128 sign = payload >> pos;

	return !sign || sign == -1;
}

/* The same for format 0. */
static bool read_plain_cache(const struct rvt_etrace_codec *codec, __int128 bits,
			     struct rvt_etrace_plain *plain)
{
	const struct rvt_params *p = &codec->params;
	const unsigned int map_at = 2 + p->f0s_width_p + p->cache_size_p + 5;
	const unsigned int branches = (uint64_t)(bits >> (map_at - 5)) & 31;
	const unsigned int map_bits = branches ? rvt_etrace_map_bits(branches) : 0;

	if ((int)((uint64_t)bits >> 2 & rvt_etrace_mask(p->f0s_width_p)) != codec->cache_subformat)
		return false;
	*plain = (struct rvt_etrace_plain){
		.kind = branches ? RVT_ETRACE_CACHE_BRANCHES : RVT_ETRACE_CACHE,
		.n_outcomes = branches,
		.taken = ~(uint64_t)(bits >> map_at) & rvt_etrace_mask(branches),
		.address = (uint64_t)bits >> (2 + p->f0s_width_p) &
			   rvt_etrace_mask(p->cache_size_p),
	};
	/* What comes behind the map is coded as differences. */
	return is_sign(bits, map_at + map_bits - 1);
}

bool rvt_etrace_read_plain(const struct rvt_etrace_codec *codec, const uint64_t payload[2],
			   unsigned int len_bytes, struct rvt_etrace_plain *plain)
{
	const struct rvt_params *p = &codec->params;
	const unsigned int width = p->iaddress_width_p - p->iaddress_lsb_p;
	const unsigned int unused = 8 * (16 - len_bytes), format = payload[0] & 3;
	const unsigned int branches = payload[0] >> 2 & 31;
	const __int128 bits = (__int128)(((unsigned __int128)payload[1] << 64 | payload[0]) <<
					 unused) >> unused;
	unsigned int pos = 2;

	if (p->type_bits || format == 3)
		return false;
	if (!format)
		return read_plain_cache(codec, bits, plain);
	*plain = (struct rvt_etrace_plain){ .kind = RVT_ETRACE_ADDRESS };
	if (format == 1) {
		const unsigned int map_bits = rvt_etrace_map_bits(branches);

		plain->kind = branches ? RVT_ETRACE_BRANCH_ADDRESS : RVT_ETRACE_BRANCH_MAP;
		plain->n_outcomes = branches ? branches : map_bits;
		plain->taken = ~(uint64_t)(bits >> 7) & rvt_etrace_mask(plain->n_outcomes);
		pos = 7 + map_bits;
	}
	if (plain->kind == RVT_ETRACE_BRANCH_MAP)
		return is_sign(bits, pos - 1);
	plain->address = (uint64_t)(bits >> pos) & rvt_etrace_mask(width);
	/* What comes behind the address is coded as differences. */
	return is_sign(bits, pos + width - 1);
}

/* ---- writer ---- */

static bool last_bit(const struct rvt_etrace_bits *b)
{
	return b->bytes[(b->pos - 1) / 8] >> (b->pos - 1) % 8 & 1;
}

static bool coded_bit(const struct rvt_etrace_use *use, const struct rvt_etrace_msg *msg)
{
	switch (use->field) {
	case RVT_ETRACE_F_NOTIFY:
		return msg->notify;
	case RVT_ETRACE_F_UPDISCON:
		return msg->updiscon;
	case RVT_ETRACE_F_IRREPORT:
		return msg->irreport;
	default:
		return msg->not_taken;
	}
}

static bool is_constant(const struct rvt_etrace_use *use)
{
	return use->match != RVT_ETRACE_ANY && !(use->match & (use->match - 1));
}

static uint64_t value_of(const struct rvt_etrace_use *use, const struct rvt_etrace_msg *msg,
			 const struct rvt_etrace_bits *b)
{
	if (use->coding == RVT_ETRACE_DIFFERS)
		return coded_bit(use, msg) != last_bit(b);
	if (use->match == RVT_ETRACE_COPIES ||
	    (use->coding == RVT_ETRACE_FILLS && !msg->irreport))
		return last_bit(b) ? rvt_etrace_mask(use->width) : 0;
	if (is_constant(use))
		return __builtin_ctz(use->match);
	if (use->field == RVT_ETRACE_F_BRANCH)
		return msg->not_taken;
	return rvt_etrace_has(msg, use->field) ? msg->field[use->field] : 0;
}

static int write_layout(const struct rvt_etrace_layout *layout, const struct rvt_etrace_msg *msg,
			struct rvt_etrace_bits *b)
{
	for (unsigned int i = 0; i < layout->n; i++) {
		const struct rvt_etrace_use *use = &layout->uses[i];
		unsigned int bits = use->width;
		uint64_t value;

		if (use->when && !is_there(use, msg))
			continue;
		if (bits == RVT_ETRACE_W_MAP)
			bits = rvt_etrace_map_bits(msg->field[RVT_ETRACE_F_BRANCHES]);
		value = value_of(use, msg, b);
		if (value & ~rvt_etrace_mask(bits) || !matches(use, value, b->pos && last_bit(b)))
			return -EINVAL;
		rvt_etrace_put_bits(b, value, bits);
	}
	return 0;
}

/*
 * Cuts bytes off the end that repeat the bit below them, and fills up to whole bytes.
 * @start: first bit of the payload. Returns the length in bytes.
 */
static unsigned int compress(struct rvt_etrace_bits *b, unsigned int start)
{
	bool sign = last_bit(b);
	uint8_t fill = sign ? 0xff : 0;
	unsigned int len = (b->pos + 7) / 8;

	if (b->pos % 8 && sign)
		b->bytes[len - 1] |= 0xff << b->pos % 8;
	while ((len - 1) * 8 > start && b->bytes[len - 1] == fill &&
	       b->bytes[len - 2] >> 7 == sign)
		len--;
	return len;
}

const struct rvt_etrace_layout *rvt_etrace_layout(const struct rvt_etrace_codec *codec,
						  enum rvt_etrace_kind kind)
{
	for (unsigned int i = 0; i < codec->n_layouts + codec->n_data; i++)
		if (codec->layouts[i].kind == kind)
			return &codec->layouts[i];
	return NULL;
}

int rvt_etrace_write(const struct rvt_etrace_codec *codec, const struct rvt_etrace_msg *msg,
		     uint8_t bytes[RVT_ETRACE_MAX_FRAME_BYTES], unsigned int *payload_bytes)
{
	const struct rvt_etrace_layout *layout = rvt_etrace_layout(codec, msg->kind);
	const struct rvt_params *p = &codec->params;
	unsigned int start, len, fixed;
	struct rvt_etrace_bits b = { .pos = 0 };

	if (!layout)
		return -EINVAL;
	rvt_etrace_put_bits(&b, msg->src, p->srcid_bits);
	if (msg->extend)
		rvt_etrace_put_bits(&b, msg->timestamp, 8 * p->timestamp_bytes);
	rvt_etrace_put_bits(&b, rvt_etrace_is_data(msg) ? p->type_data : rvt_etrace_type(p),
			    p->type_bits);
	start = b.pos;
	if (rvt_etrace_is_data(msg) ? rvt_etrace_data_write(layout, msg, &b) :
				      write_layout(layout, msg, &b))
		return -EINVAL;
	len = compress(&b, start);
	fixed = rvt_etrace_src_bytes(p) + (msg->extend ? p->timestamp_bytes : 0);
	if (len - fixed > RVT_ETRACE_MAX_LENGTH)
		return -E2BIG;
	bytes[0] = (len - fixed) | msg->flow << 5 | msg->extend << 7;
	memcpy(bytes + 1, b.bytes, len);
	if (payload_bytes)
		*payload_bytes = len - start / 8;
	return len + 1;
}
