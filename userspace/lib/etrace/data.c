// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <etrace/data.h>

#define CSR_BITS 12
#define CSR_LOW_BITS 6
#define CSR_BASE RVT_ETRACE_DATA_SIZES

/* How a value or an operand was sent. */
enum coding { FULL, XOR, DIFFERENCE };

/* ---- fields ---- */

static bool is_atomic(enum rvt_etrace_kind kind)
{
	return kind == RVT_ETRACE_DATA_ATOMIC || kind == RVT_ETRACE_DATA_SPLIT_ATOMIC ||
	       kind == RVT_ETRACE_DATA_CAS_FAILURE;
}

static bool is_response(enum rvt_etrace_kind kind)
{
	return kind == RVT_ETRACE_DATA_RESPONSE || kind == RVT_ETRACE_DATA_ATOMIC_RESPONSE;
}

/* Load or store, aligned or not: two bits, of the format or of the subformat. */
static unsigned int transaction(const struct rvt_etrace_msg *msg)
{
	return msg->field[rvt_etrace_has(msg, RVT_ETRACE_F_SUBFORMAT) ? RVT_ETRACE_F_SUBFORMAT :
									RVT_ETRACE_F_FORMAT] & 3;
}

static enum rvt_access_operation operation(const struct rvt_etrace_msg *msg)
{
	static const uint8_t atomics[] = {
		RVT_ACCESS_SWAP, RVT_ACCESS_ADD, RVT_ACCESS_AND, RVT_ACCESS_OR, RVT_ACCESS_XOR,
		RVT_ACCESS_MAX, RVT_ACCESS_MIN, RVT_ACCESS_SC_FAILURE,
	};
	const bool multi = rvt_etrace_has(msg, RVT_ETRACE_F_SUBFORMAT);
	const unsigned int value = msg->field[multi ? RVT_ETRACE_F_SUBFORMAT :
						      RVT_ETRACE_F_SUBTYPE];

	if (msg->kind == RVT_ETRACE_DATA_CSR)
		return RVT_ACCESS_CSR_WRITE + (value & 3);
	if (!is_atomic(msg->kind))
		return RVT_ACCESS_PLAIN;
	return multi && value == 7 ? RVT_ACCESS_CAS_FAILURE : atomics[value & 7];
}

static enum rvt_access_kind kind_of(const struct rvt_etrace_msg *msg)
{
	if (msg->kind == RVT_ETRACE_DATA_CSR)
		return RVT_ACCESS_CSR;
	if (is_atomic(msg->kind))
		return RVT_ACCESS_ATOMIC;
	return msg->kind == RVT_ETRACE_DATA_ACCESS && transaction(msg) & 2 ? RVT_ACCESS_STORE :
									     RVT_ACCESS_LOAD;
}

static bool is_aligned(const struct rvt_etrace_msg *msg)
{
	return is_atomic(msg->kind) || !(transaction(msg) & 1);
}

/* A bit of diff that stands for either kind of compression. */
static enum coding only_coding(const struct rvt_params *p)
{
	return p->data_compression == RVT_DATA_COMPRESSION_DIFFERENCE ? DIFFERENCE : XOR;
}

/* Both kinds, of a diff of two bits; 2 is reserved where there is no address. */
static bool diff_coding(const struct rvt_etrace_codec *codec, const struct rvt_etrace_msg *msg,
			enum coding *coding, bool *address_differs)
{
	static const enum coding codings[] = { FULL, XOR, FULL, DIFFERENCE };
	const struct rvt_params *p = &codec->params;
	const unsigned int diff = msg->field[RVT_ETRACE_F_DIFF];
	const bool one_bit = p->data_compression != RVT_DATA_COMPRESSION_BOTH;
	/* one bit or two, as the encoder is made */
	const bool choice = msg->kind == RVT_ETRACE_DATA_SPLIT_ATOMIC ?
			    !(p->options & RVT_OPT_MULTI_ACCESS) :
			    !rvt_etrace_has(msg, RVT_ETRACE_F_ADDRESS);

	*address_differs = diff;
	*coding = one_bit && choice && diff ? only_coding(p) : codings[diff & 3];
	return diff != 2 || rvt_etrace_has(msg, RVT_ETRACE_F_ADDRESS) ||
	       msg->kind == RVT_ETRACE_DATA_SPLIT_ATOMIC;
}

/* The tables of 2.0 compress operands of requests only; the text below them none at all. */
static enum coding operand_coding(const struct rvt_params *p, const struct rvt_etrace_msg *msg,
				  enum coding coding)
{
	const bool compressed = p->dialect == RVT_DIALECT_ETRACE_2_0_5 ||
				msg->kind == RVT_ETRACE_DATA_SPLIT_ATOMIC;

	return compressed && p->data_operands == RVT_DATA_OPERANDS_TABLES ? coding : FULL;
}

/* A value, sign-extended from the bits that were sent. */
static uint64_t field_value(const struct rvt_etrace_codec *codec, const struct rvt_etrace_msg *msg,
			    enum rvt_etrace_field field, enum rvt_etrace_field len)
{
	const unsigned int bits = rvt_etrace_has(msg, len) ? 8 * (msg->field[len] + 1) :
							     codec->params.data_width_p;

	return rvt_etrace_sign(msg->field[field], bits);
}

/* ---- differences ---- */

/* *@valid and *@last are those of the base, and become those of this access. */
static bool decode_value(enum coding coding, uint64_t field, unsigned int bytes, bool *valid,
			 uint64_t *last)
{
	*valid |= coding == FULL;
	if (coding == FULL)
		*last = field;
	else
		*last = coding == XOR ? *last ^ field : *last + field;
	*last &= rvt_etrace_mask(8 * bytes);
	return *valid;
}

static bool decode_address(const struct rvt_params *p, const struct rvt_etrace_msg *msg,
			   bool differs, struct rvt_etrace_data_base *base)
{
	const unsigned int bits = rvt_etrace_daddress_width(p);
	const unsigned int low = is_aligned(msg) ? msg->field[RVT_ETRACE_F_SIZE] : 0;
	uint64_t address = msg->field[RVT_ETRACE_F_ADDRESS] << low;

	if (differs)
		address += base->address & ~rvt_etrace_mask(low);
	base->address_valid |= !differs;
	base->address = address & rvt_etrace_mask(bits);
	if (p->xlen == 64 && bits > 32)
		base->address = rvt_etrace_sign(base->address, bits);
	return base->address_valid;
}

static bool decode_csr_number(const struct rvt_params *p, const struct rvt_etrace_msg *msg,
			      struct rvt_etrace_data_base *base)
{
	const bool differs = p->options & RVT_OPT_DATA_NO_VALUE && msg->field[RVT_ETRACE_F_DIFF];
	uint64_t number = msg->field[RVT_ETRACE_F_ADDR_MSBS] << CSR_LOW_BITS |
			  msg->field[RVT_ETRACE_F_ADDR_LSBS];

	if (differs)
		number += base->address;
	base->address_valid |= !differs;
	base->address = number & rvt_etrace_mask(CSR_BITS);
	return base->address_valid;
}

/* ---- packets ---- */

static int deliver(struct rvt_etrace_data *data, const struct rvt_access *access, bool lost,
		   rvt_etrace_access callback, void *ctx)
{
	data->n_accesses++;
	data->n_lost += lost;
	return callback(ctx, access);
}

/*
 * What the packet says of the access, but for a response: *@lost: some of that is a difference from
 * what is not known.
 */
static const char *decode(struct rvt_etrace_data *data, const struct rvt_etrace_codec *codec,
			  const struct rvt_etrace_msg *msg, struct rvt_access *a, bool *lost)
{
	const struct rvt_params *p = &codec->params;
	const bool csr = msg->kind == RVT_ETRACE_DATA_CSR;
	struct rvt_etrace_data_base *base =
		&data->bases[csr ? CSR_BASE : msg->field[RVT_ETRACE_F_SIZE]];
	enum coding coding;
	bool address_differs;

	if (!diff_coding(codec, msg, &coding, &address_differs))
		return "reserved value of diff";
	a->bytes = csr ? p->xlen / 8 : 1u << msg->field[RVT_ETRACE_F_SIZE];
	if (csr)
		a->address_valid = decode_csr_number(p, msg, base);
	else if (rvt_etrace_has(msg, RVT_ETRACE_F_ADDRESS))
		a->address_valid = decode_address(p, msg, address_differs, base);
	*lost |= !a->address_valid && (csr || rvt_etrace_has(msg, RVT_ETRACE_F_ADDRESS));
	a->address = base->address;
	if (rvt_etrace_has(msg, RVT_ETRACE_F_OPERAND)) {
		uint64_t field = field_value(codec, msg, RVT_ETRACE_F_OPERAND,
					     RVT_ETRACE_F_OP_LEN);

		a->operand_valid = decode_value(operand_coding(p, msg, coding), field, a->bytes,
						&base->operand_valid, &base->operand);
		a->operand = base->operand;
		*lost |= !a->operand_valid;
	}
	if (rvt_etrace_has(msg, RVT_ETRACE_F_DATA)) {
		uint64_t field = field_value(codec, msg, RVT_ETRACE_F_DATA, RVT_ETRACE_F_DATA_LEN);

		a->value_valid = decode_value(coding, field, a->bytes, &base->value_valid,
					      &base->value);
		a->value = base->value;
		*lost |= !a->value_valid;
	}
	return NULL;
}

static struct rvt_access *request_of(struct rvt_etrace_data *data,
				     const struct rvt_etrace_codec *codec,
				     const struct rvt_etrace_msg *msg)
{
	const unsigned int lrid = msg->field[RVT_ETRACE_F_LRID];

	if (!data->requests) {
		data->n_requests = 1u << codec->params.lrid_width_p;
		data->requests = calloc(data->n_requests, sizeof(*data->requests));
	}
	return data->requests && lrid < data->n_requests ? &data->requests[lrid] : NULL;
}

/* One that still waits under the same number never got its data. */
static int take_request(struct rvt_etrace_data *data, struct rvt_etrace_codec *codec,
			const struct rvt_etrace_msg *msg, const struct rvt_access *a,
			rvt_etrace_access callback, void *ctx)
{
	struct rvt_access *request = request_of(data, codec, msg);
	int ret = 0;

	if (!request)
		return -ENOMEM;
	if (request->size)
		ret = deliver(data, request, true, callback, ctx);
	*request = *a;
	codec->request_size[msg->field[RVT_ETRACE_F_LRID]] = msg->field[RVT_ETRACE_F_SIZE] + 1;
	return ret;
}

static int take_response(struct rvt_etrace_data *data, struct rvt_etrace_codec *codec,
			 const struct rvt_etrace_msg *msg, rvt_etrace_access callback, void *ctx)
{
	static const enum coding codings[] = { FULL, XOR, FULL, DIFFERENCE };
	const unsigned int resp = msg->field[RVT_ETRACE_F_RESP];
	struct rvt_access *request = request_of(data, codec, msg), a;
	bool lost;

	if (!request)
		return -ENOMEM;
	a = *request;
	lost = !a.size ||
	       (!a.address_valid && !(codec->params.options & RVT_OPT_DATA_NO_ADDRESS)) ||
	       (a.kind == RVT_ACCESS_ATOMIC && !a.operand_valid);
	request->size = 0;
	codec->request_size[msg->field[RVT_ETRACE_F_LRID]] = 0;
	/* Data without a request: what of is not known. */
	if (!a.size)
		a = (struct rvt_access){ .size = sizeof(a), .kind = RVT_ACCESS_LOAD };
	a.offset = msg->offset;
	a.error = !resp;
	if (rvt_etrace_has(msg, RVT_ETRACE_F_SIZE))
		a.bytes = 1u << msg->field[RVT_ETRACE_F_SIZE];
	if (resp && a.bytes && rvt_etrace_has(msg, RVT_ETRACE_F_DATA)) {
		const unsigned int size = __builtin_ctz(a.bytes);
		struct rvt_etrace_data_base *base = &data->bases[size];
		uint64_t field = field_value(codec, msg, RVT_ETRACE_F_DATA, RVT_ETRACE_F_DATA_LEN);

		a.value_valid = decode_value(codings[resp], field, a.bytes, &base->value_valid,
					     &base->value);
		a.value = base->value;
	}
	return deliver(data, &a, lost || (resp && !a.value_valid), callback, ctx);
}

int rvt_etrace_data_packet(struct rvt_etrace_data *data, struct rvt_etrace_codec *codec,
			   const struct rvt_etrace_msg *msg, rvt_etrace_access access, void *ctx,
			   const char **wrong)
{
	struct rvt_access a = {
		.size = sizeof(a), .offset = msg->offset, .kind = kind_of(msg),
		.operation = is_response(msg->kind) ? RVT_ACCESS_PLAIN : operation(msg),
		.multiple = codec->params.options & RVT_OPT_MULTI_ACCESS &&
			    msg->kind != RVT_ETRACE_DATA_RESPONSE &&
			    rvt_etrace_has(msg, RVT_ETRACE_F_FORMAT) &&
			    msg->field[RVT_ETRACE_F_FORMAT] == 1,
	};
	bool lost = false;

	*wrong = NULL;
	if (is_response(msg->kind))
		return take_response(data, codec, msg, access, ctx);
	*wrong = decode(data, codec, msg, &a, &lost);
	if (*wrong)
		return 0;
	if (msg->kind == RVT_ETRACE_DATA_SPLIT_LOAD || msg->kind == RVT_ETRACE_DATA_SPLIT_ATOMIC)
		return take_request(data, codec, msg, &a, access, ctx);
	return deliver(data, &a, lost, access, ctx);
}

/* ---- synchronisation and loss ---- */

void rvt_etrace_data_fini(struct rvt_etrace_data *data)
{
	free(data->requests);
}

void rvt_etrace_data_sync(struct rvt_etrace_data *data)
{
	memset(data->bases, 0, sizeof(data->bases));
}

int rvt_etrace_data_lose(struct rvt_etrace_data *data, struct rvt_etrace_codec *codec,
			 rvt_etrace_access access, void *ctx)
{
	int ret = 0;

	rvt_etrace_data_sync(data);
	for (unsigned int i = 0; data->requests && i < data->n_requests; i++) {
		struct rvt_access request = data->requests[i];

		data->requests[i].size = 0;
		codec->request_size[i] = 0;
		if (request.size && !ret)
			ret = deliver(data, &request, true, access, ctx);
	}
	return ret;
}
