// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* te_data packets: bits to struct rvt_etrace_msg and back. */
#include <errno.h>
#include <etrace/bits.h>

/* ceiling of log2 */
static unsigned int clog2(unsigned int n)
{
	unsigned int bits = 0;

	while (1u << bits < n)
		bits++;
	return bits;
}

/* ---- which packets there are ---- */

static bool has_address(const struct rvt_params *p)
{
	return !(p->options & RVT_OPT_DATA_NO_ADDRESS);
}

static bool has_value(const struct rvt_params *p)
{
	return !(p->options & RVT_OPT_DATA_NO_VALUE);
}

/* Returns whether loads are split packets. They are unified where one of both is left out. */
static bool splits_loads(const struct rvt_params *p)
{
	return p->lrid_width_p && has_address(p) && has_value(p);
}

/* 2.0.5 has a request without an address. */
static bool splits_atomics(const struct rvt_params *p)
{
	return p->lrid_width_p && has_value(p) &&
	       (has_address(p) || p->dialect == RVT_DIALECT_ETRACE_2_0_5);
}

static bool is_multi_access(const struct rvt_params *p)
{
	return p->options & RVT_OPT_MULTI_ACCESS;
}

static unsigned int format_bits(const struct rvt_params *p)
{
	const unsigned int dtype_width = p->dtype_width_p ? p->dtype_width_p : 1;

	if (is_multi_access(p))
		return p->lrid_width_p ? 2 : clog2(dtype_width);
	return dtype_width > 1 || p->lrid_width_p ? 3 : 2;
}

static bool is_usable(const struct rvt_params *p, unsigned int kind)
{
	switch (kind) {
	case RVT_ETRACE_DATA_SPLIT_LOAD:
		return splits_loads(p);
	case RVT_ETRACE_DATA_RESPONSE:
		return splits_loads(p) || splits_atomics(p);
	case RVT_ETRACE_DATA_SPLIT_ATOMIC:
		return splits_atomics(p);
	case RVT_ETRACE_DATA_ATOMIC_RESPONSE:
		return splits_atomics(p) && p->dialect != RVT_DIALECT_ETRACE_2_0_5;
	case RVT_ETRACE_DATA_ATOMIC:
		return !splits_atomics(p);
	case RVT_ETRACE_DATA_CAS_FAILURE:
		return has_address(p) && has_value(p);
	default:
		return true;
	}
}

static bool is_dropped(const struct rvt_params *p, unsigned int when)
{
	switch (when) {
	case RVT_ETRACE_IF_ADDRESS:
		return !has_address(p);
	case RVT_ETRACE_IF_VALUE:
	case RVT_ETRACE_UNLESS_READ_ONLY:
		return !has_value(p);
	case RVT_ETRACE_IF_BOTH:
		return !has_address(p) || !has_value(p);
	default:
		return false;
	}
}

static unsigned int diff_value_bits(const struct rvt_params *p)
{
	return p->data_compression == RVT_DATA_COMPRESSION_BOTH ? 2 : 1;
}

/* Those that depend on the packet stay what they are. A length stands before what it is of. */
static unsigned int width_bits(const struct rvt_params *p, unsigned int width)
{
	unsigned int bits;

	switch (width) {
	case RVT_ETRACE_W_DATA_FORMAT:
		return format_bits(p);
	case RVT_ETRACE_W_SIZE:
		bits = clog2(clog2(p->data_width_p / 8 + 1));
		return bits ? bits : 1;
	case RVT_ETRACE_W_LRID:
		return p->lrid_width_p;
	case RVT_ETRACE_W_DIFF:
		return !has_value(p) ? 1 : has_address(p) ? 2 : diff_value_bits(p);
	case RVT_ETRACE_W_DIFF_VALUE:
		return diff_value_bits(p);
	case RVT_ETRACE_W_DIFF_REQUEST:
		return is_multi_access(p) ? 2 : diff_value_bits(p);
	case RVT_ETRACE_W_DIFF_CSR:
		return has_value(p) ? diff_value_bits(p) : 1;
	case RVT_ETRACE_W_CSR_LEN:
		return p->xlen == 32 ? 2 : 3;
	case RVT_ETRACE_W_DADDRESS:
		return rvt_etrace_daddress_width(p);
	default:
		return width;
	}
}

/* Failures are operations of their own only where no values are sent. */
static uint32_t legal(const struct rvt_params *p, unsigned int kind,
		      const struct rvt_etrace_use *use)
{
	if (kind != RVT_ETRACE_DATA_ATOMIC || !has_value(p))
		return use->match;
	if (use->field == RVT_ETRACE_F_SUBTYPE)
		return use->match & 0x7f;
	return use->field == RVT_ETRACE_F_SUBFORMAT ? use->match & 0x7f00 : use->match;
}

/* False: its format does not fit the field. */
static bool compile(const struct rvt_params *p, const struct rvt_etrace_format *format,
		    struct rvt_etrace_layout *layout)
{
	const unsigned int n_formats = 1u << format_bits(p);
	const struct rvt_etrace_use *use = format->uses;
	bool has_len = false;

	*layout = (struct rvt_etrace_layout){ .kind = format->kind };
	if (!(use->match & ((1u << n_formats) - 1)))
		return false;
	for (; use->field != RVT_ETRACE_FIELDS; use++) {
		struct rvt_etrace_use *out = &layout->uses[layout->n];
		const unsigned int bits = width_bits(p, use->width);

		if (!bits || is_dropped(p, use->when))
			continue;
		*out = *use;
		out->width = bits;
		/* As the last field it needs none. */
		if ((bits == RVT_ETRACE_W_DATA || bits == RVT_ETRACE_W_OPERAND) && !has_len)
			out->width = p->data_width_p;
		has_len = use->field == RVT_ETRACE_F_DATA_LEN || use->field == RVT_ETRACE_F_OP_LEN;
		out->match = legal(p, format->kind, use);
		layout->n++;
	}
	return true;
}

void rvt_etrace_data_compile(struct rvt_etrace_codec *codec)
{
	const struct rvt_params *p = &codec->params;
	const struct rvt_etrace_format *format = rvt_etrace_data_formats(is_multi_access(p));

	for (; format->uses[0].field != RVT_ETRACE_FIELDS; format++)
		if (is_usable(p, format->kind) &&
		    compile(p, format, &codec->layouts[codec->n_layouts + codec->n_data]))
			codec->n_data++;
}

/* ---- fields ---- */

/* Fields behind others whose width they need are in their order: *msg has these. */
static unsigned int bits_of(const struct rvt_etrace_use *use, const struct rvt_etrace_msg *msg)
{
	enum rvt_etrace_field len = RVT_ETRACE_F_DATA_LEN;

	switch (use->width) {
	case RVT_ETRACE_W_LEN:
		return msg->field[RVT_ETRACE_F_SIZE];
	case RVT_ETRACE_W_OPERAND:
		len = RVT_ETRACE_F_OP_LEN;
		/* fall through */
	case RVT_ETRACE_W_DATA:
		return rvt_etrace_has(msg, len) ? 8 * (msg->field[len] + 1) : 8;
	default:
		return use->width;
	}
}

static bool is_there(const struct rvt_etrace_use *use, const struct rvt_etrace_msg *msg)
{
	switch (use->when) {
	case RVT_ETRACE_UNLESS_ERROR:
		return msg->field[RVT_ETRACE_F_RESP];
	case RVT_ETRACE_UNLESS_READ_ONLY:
		return msg->field[RVT_ETRACE_F_ADDR_MSBS] >> 4 != 3;
	default:
		return true;
	}
}

static bool matches(const struct rvt_etrace_use *use, uint64_t value)
{
	return use->match == RVT_ETRACE_ANY || (value < 32 && use->match >> value & 1);
}

/* ---- reader ---- */

enum read { READ, OTHER, PARTLY };

/* PARTLY: how long the rest is nobody knows. */
static enum read read_layout(const struct rvt_etrace_codec *codec,
			     const struct rvt_etrace_layout *layout, const uint8_t *buffer,
			     unsigned int *pos, struct rvt_etrace_msg *msg)
{
	msg->present = 0;
	for (unsigned int i = 0; i < layout->n; i++) {
		const struct rvt_etrace_use *use = &layout->uses[i];
		unsigned int bits;
		uint64_t value;

		if (!is_there(use, msg))
			continue;
		bits = bits_of(use, msg);
		value = rvt_etrace_get_bits(buffer, *pos, bits);
		if (!matches(use, value))
			return OTHER;
		rvt_etrace_set(msg, use->field, value);
		*pos += bits;
		if (layout->kind != RVT_ETRACE_DATA_ATOMIC_RESPONSE)
			continue;
		if (use->field == RVT_ETRACE_F_RESP && value) {
			const uint8_t size = codec->request_size[msg->field[RVT_ETRACE_F_LRID]];

			msg->field[RVT_ETRACE_F_SIZE] = size ? size - 1 : 0;
			if (!size)
				return PARTLY;
		}
	}
	return READ;
}

/* A size that the bus has not, or more bytes than the access has. */
static bool is_impossible(const struct rvt_etrace_codec *codec, const struct rvt_etrace_msg *msg)
{
	return rvt_etrace_has(msg, RVT_ETRACE_F_SIZE) &&
	       8u << msg->field[RVT_ETRACE_F_SIZE] > codec->params.data_width_p;
}

const char *rvt_etrace_data_read(const struct rvt_etrace_codec *codec, const uint8_t *buffer,
				 unsigned int start, unsigned int end, struct rvt_etrace_msg *msg)
{
	const struct rvt_etrace_layout *layout = &codec->layouts[codec->n_layouts];

	for (unsigned int i = 0; i < codec->n_data; i++, layout++) {
		unsigned int pos = start;
		enum read read = read_layout(codec, layout, buffer, &pos, msg);

		if (read == OTHER)
			continue;
		msg->kind = layout->kind;
		if (is_impossible(codec, msg))
			return "access wider than data_width_p";
		return read == READ && rvt_etrace_has_excess(buffer, pos, end) ?
		       "packet is longer than its fields" : NULL;
	}
	return "no data packet of this dialect and options";
}

/* ---- writer ---- */

static uint64_t value_of(const struct rvt_etrace_use *use, const struct rvt_etrace_msg *msg)
{
	if (use->match != RVT_ETRACE_ANY && !(use->match & (use->match - 1)))
		return __builtin_ctz(use->match);
	return rvt_etrace_has(msg, use->field) ? msg->field[use->field] : 0;
}

int rvt_etrace_data_write(const struct rvt_etrace_layout *layout, const struct rvt_etrace_msg *msg,
			  struct rvt_etrace_bits *b)
{
	for (unsigned int i = 0; i < layout->n; i++) {
		const struct rvt_etrace_use *use = &layout->uses[i];
		unsigned int bits;
		uint64_t value;

		if (!is_there(use, msg))
			continue;
		bits = bits_of(use, msg);
		value = value_of(use, msg);
		if (value & ~rvt_etrace_mask(bits) || !matches(use, value))
			return -EINVAL;
		rvt_etrace_put_bits(b, value, bits);
	}
	return 0;
}
