// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace encoder: data trace. Of the forms that a packet may have, the shortest is sent.
 */
#include <errno.h>
#include "model/etrace/encoder-state.h"

#define CSR_BASE 4
#define ALL_DIFFS 4

/* What there is to say of an access. */
struct said {
	bool value;
	struct base *base;
	const struct rvt_access *access;
};

static bool has_option(const struct rvt_etrace_encoder *enc, uint32_t option)
{
	return enc->codec.params.options & option;
}

static bool is_multi_access(const struct rvt_etrace_encoder *enc)
{
	return has_option(enc, RVT_OPT_MULTI_ACCESS);
}

/* ---- fields ---- */

static uint64_t sign_extend(uint64_t value, unsigned int bytes)
{
	const unsigned int unused = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

/* Bytes from whose top bit the others follow. */
static unsigned int length(uint64_t value)
{
	unsigned int n = 1;

	while (sign_extend(value, n) != value)
		n++;
	return n;
}

/* @value is sign-extended. @len: the field with its length, where the packet has one. */
static void set_value(const struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg,
		      enum rvt_etrace_field field, enum rvt_etrace_field len, uint64_t value)
{
	const struct rvt_etrace_layout *layout = rvt_etrace_layout(&enc->codec, msg->kind);
	unsigned int bytes = enc->codec.params.data_width_p / 8;

	for (unsigned int i = 0; i < layout->n; i++)
		if (layout->uses[i].field == len) {
			bytes = length(value);
			rvt_etrace_set(msg, len, bytes - 1);
		}
	rvt_etrace_set(msg, field, value & rvt_etrace_mask(8 * bytes));
}

/* By the code of diff or resp where it has two bits: 1 XOR, 3 difference, else in full. */
static uint64_t compress(uint64_t value, uint64_t last, unsigned int code, unsigned int bytes)
{
	if (code == 1)
		value ^= last;
	else if (code == 3)
		value -= last;
	return sign_extend(value, bytes);
}

static bool is_aligned(const struct rvt_access *access)
{
	return !(access->address & (access->bytes - 1));
}

static unsigned int size_of(const struct rvt_access *access)
{
	return __builtin_ctz(access->bytes);
}

static void set_address(const struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg,
			const struct said *said, bool differs)
{
	const unsigned int width = rvt_etrace_daddress_width(&enc->codec.params);
	uint64_t address = said->access->address - (differs ? said->base->address : 0);

	address = rvt_etrace_sign(address & rvt_etrace_mask(width), width);
	if (is_aligned(said->access))
		address = (uint64_t)((int64_t)address >> size_of(said->access));
	rvt_etrace_set(msg, RVT_ETRACE_F_ADDRESS, address & rvt_etrace_mask(width));
}

static bool compresses_operand(const struct rvt_etrace_encoder *enc,
			       const struct rvt_etrace_msg *msg)
{
	const struct rvt_params *p = &enc->codec.params;

	return p->data_operands == RVT_DATA_OPERANDS_TABLES &&
	       (p->dialect == RVT_DIALECT_ETRACE_2_0_5 ||
		msg->kind == RVT_ETRACE_DATA_SPLIT_ATOMIC);
}

/* ---- the shortest form ---- */

/* What a code of diff says with one bit, where that stands for compression of either kind. */
static unsigned int wide_code(const struct rvt_params *p, unsigned int diff)
{
	if (p->data_compression == RVT_DATA_COMPRESSION_BOTH)
		return diff;
	return !diff ? 0 : p->data_compression == RVT_DATA_COMPRESSION_XOR ? 1 : 3;
}

static unsigned int width_of(const struct rvt_etrace_layout *layout, enum rvt_etrace_field field)
{
	for (unsigned int i = 0; i < layout->n; i++)
		if (layout->uses[i].field == field)
			return layout->uses[i].width;
	return 0;
}

/* The kinds of compression that are on and for which there is something to be a difference from. */
static bool may_send(const struct rvt_etrace_encoder *enc, const struct said *said,
		     const struct rvt_etrace_msg *msg, unsigned int code)
{
	const struct rvt_etrace_encoder_config *config = &enc->config;
	const struct rvt_etrace_layout *layout = rvt_etrace_layout(&enc->codec, msg->kind);
	const bool value = width_of(layout, RVT_ETRACE_F_DATA);
	const bool operand = width_of(layout, RVT_ETRACE_F_OPERAND) && compresses_operand(enc, msg);

	if (!code)
		return true;
	if (width_of(layout, RVT_ETRACE_F_ADDRESS) &&
	    (config->data_full_address || !said->base->address_valid ||
	     /* readers may understand that in two ways */
	     (is_aligned(said->access) && said->base->address & (said->access->bytes - 1))))
		return false;
	if (code == 2)
		return true;
	return !((value || operand) && config->data_full_value) &&
	       (!value || said->base->value_valid) && (!operand || said->base->operand_valid);
}

/* @diff as in the field. False: that form cannot be, or not now. */
static bool fill(struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg,
		 const struct said *said, unsigned int diff)
{
	const struct rvt_params *p = &enc->codec.params;
	const struct rvt_access *access = said->access;
	const struct rvt_etrace_layout *layout = rvt_etrace_layout(&enc->codec, msg->kind);
	const unsigned int bits = width_of(layout, RVT_ETRACE_F_DIFF);
	const bool has_address = width_of(layout, RVT_ETRACE_F_ADDRESS);
	const bool choice = msg->kind == RVT_ETRACE_DATA_SPLIT_ATOMIC ? !is_multi_access(enc) :
								       !has_address;
	const unsigned int code = bits == 1 && said->value && choice ? wide_code(p, diff) : diff;

	/* 2 is reserved where there is no address; numbers of CSRs are sent in full */
	if (diff >> bits || (diff == 2 && !has_address) || !may_send(enc, said, msg, code) ||
	    (diff && access->kind == RVT_ACCESS_CSR && !said->value))
		return false;
	rvt_etrace_set(msg, RVT_ETRACE_F_DIFF, diff);
	if (has_address)
		set_address(enc, msg, said, diff);
	if (access->operand_valid && said->value)
		set_value(enc, msg, RVT_ETRACE_F_OPERAND, RVT_ETRACE_F_OP_LEN,
			  compress(access->operand, said->base->operand,
				   compresses_operand(enc, msg) ? code : 0, access->bytes));
	if (width_of(layout, RVT_ETRACE_F_DATA))
		set_value(enc, msg, RVT_ETRACE_F_DATA, RVT_ETRACE_F_DATA_LEN,
			  compress(access->value, said->base->value, code, access->bytes));
	return true;
}

static void send_shortest(struct rvt_etrace_encoder *enc, const struct rvt_etrace_msg *msg,
			  const struct said *said)
{
	unsigned int best_length = UINT32_MAX;
	struct rvt_etrace_msg best = *msg;

	for (unsigned int diff = 0; diff < ALL_DIFFS; diff++) {
		struct rvt_etrace_msg form = *msg;
		unsigned int payload;

		if (!fill(enc, &form, said, diff))
			continue;
		payload = rvt_etrace_payload_length(enc, &form);
		if (payload < best_length) {
			best = form;
			best_length = payload;
		}
	}
	rvt_etrace_send(enc, &best);
}

/* ---- accesses ---- */

static void note(const struct said *said)
{
	const struct rvt_access *access = said->access;

	said->base->address_valid = true;
	said->base->address = access->address;
	if (said->value && access->value_valid) {
		said->base->value_valid = true;
		said->base->value = access->value;
	}
	if (said->value && access->operand_valid) {
		said->base->operand_valid = true;
		said->base->operand = access->operand;
	}
}

static void set_transaction(const struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg,
			    const struct rvt_access *access)
{
	const unsigned int transaction = (access->kind == RVT_ACCESS_STORE) << 1 |
					 !is_aligned(access);

	rvt_etrace_set(msg, is_multi_access(enc) ? RVT_ETRACE_F_SUBFORMAT : RVT_ETRACE_F_FORMAT,
		       transaction);
	if (is_multi_access(enc))
		rvt_etrace_set(msg, RVT_ETRACE_F_FORMAT, access->multiple);
}

static void set_operation(const struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg,
			  const struct rvt_access *access)
{
	const bool failed_cas = access->operation == RVT_ACCESS_CAS_FAILURE;
	const unsigned int atomic = access->operation - RVT_ACCESS_SWAP;
	const unsigned int csr = access->operation - RVT_ACCESS_CSR_WRITE;

	if (access->kind == RVT_ACCESS_CSR)
		rvt_etrace_set(msg, is_multi_access(enc) ? RVT_ETRACE_F_SUBFORMAT :
			       RVT_ETRACE_F_SUBTYPE, is_multi_access(enc) ? 4 + csr : csr);
	else if (is_multi_access(enc))
		rvt_etrace_set(msg, RVT_ETRACE_F_SUBFORMAT, failed_cas ? 7 : 8 + atomic);
	else
		rvt_etrace_set(msg, RVT_ETRACE_F_SUBTYPE, atomic);
	if (is_multi_access(enc))
		rvt_etrace_set(msg, RVT_ETRACE_F_FORMAT, 2);
	else if (access->kind == RVT_ACCESS_ATOMIC)
		rvt_etrace_set(msg, RVT_ETRACE_F_FORMAT, 6);
}

static enum rvt_etrace_kind kind_of(const struct rvt_etrace_encoder *enc,
				    const struct rvt_access *access)
{
	const bool split = rvt_etrace_layout(&enc->codec, RVT_ETRACE_DATA_SPLIT_LOAD);

	switch (access->kind) {
	case RVT_ACCESS_LOAD:
		return split ? RVT_ETRACE_DATA_SPLIT_LOAD : RVT_ETRACE_DATA_ACCESS;
	case RVT_ACCESS_STORE:
		return RVT_ETRACE_DATA_ACCESS;
	case RVT_ACCESS_CSR:
		return RVT_ETRACE_DATA_CSR;
	default:
		break;
	}
	if (access->operation == RVT_ACCESS_CAS_FAILURE &&
	    rvt_etrace_layout(&enc->codec, RVT_ETRACE_DATA_CAS_FAILURE))
		return RVT_ETRACE_DATA_CAS_FAILURE;
	return rvt_etrace_layout(&enc->codec, RVT_ETRACE_DATA_SPLIT_ATOMIC) ?
	       RVT_ETRACE_DATA_SPLIT_ATOMIC : RVT_ETRACE_DATA_ATOMIC;
}

/* Failures are told where no values are sent, and of compare-and-swap with an operand. */
static bool can_tell(const struct rvt_etrace_encoder *enc, const struct rvt_access *access,
		     enum rvt_etrace_kind kind)
{
	const bool failed = access->operation == RVT_ACCESS_SC_FAILURE ||
			    access->operation == RVT_ACCESS_CAS_FAILURE;

	if (!rvt_etrace_layout(&enc->codec, kind) ||
	    (access->kind != RVT_ACCESS_CSR && 8u * access->bytes > enc->codec.params.data_width_p))
		return false;
	if (access->operation == RVT_ACCESS_CAS_FAILURE && !is_multi_access(enc))
		return false;
	return !failed || kind == RVT_ETRACE_DATA_CAS_FAILURE ||
	       (kind == RVT_ETRACE_DATA_ATOMIC && has_option(enc, RVT_OPT_DATA_NO_VALUE));
}

static void send_response(struct rvt_etrace_encoder *enc)
{
	const struct rvt_access *access = &enc->requests[enc->oldest_request];
	struct base *base = &enc->bases[size_of(access)];
	const bool atomic = access->kind == RVT_ACCESS_ATOMIC &&
			    rvt_etrace_layout(&enc->codec, RVT_ETRACE_DATA_ATOMIC_RESPONSE);
	struct rvt_etrace_msg best = { 0 };
	unsigned int best_length = UINT32_MAX;

	for (unsigned int resp = access->error ? 0 : 1; resp < (access->error ? 1 : 4); resp++) {
		struct rvt_etrace_msg msg = rvt_etrace_new_msg(enc, atomic ?
			RVT_ETRACE_DATA_ATOMIC_RESPONSE : RVT_ETRACE_DATA_RESPONSE);
		unsigned int payload;

		if (resp != 2 && resp && (enc->config.data_full_value || !base->value_valid))
			continue;
		msg.field[RVT_ETRACE_F_SIZE] = size_of(access);
		if (!atomic)
			rvt_etrace_set(&msg, RVT_ETRACE_F_SIZE, size_of(access));
		rvt_etrace_set(&msg, RVT_ETRACE_F_LRID, enc->oldest_request);
		rvt_etrace_set(&msg, RVT_ETRACE_F_RESP, resp);
		if (resp)
			set_value(enc, &msg, RVT_ETRACE_F_DATA, RVT_ETRACE_F_DATA_LEN,
				  compress(access->value, base->value, resp, access->bytes));
		payload = rvt_etrace_payload_length(enc, &msg);
		if (payload < best_length) {
			best = msg;
			best_length = payload;
		}
	}
	rvt_etrace_send(enc, &best);
	if (!access->error) {
		base->value_valid = true;
		base->value = access->value;
	}
	enc->n_requests--;
	enc->oldest_request = (enc->oldest_request + 1) &
			      rvt_etrace_mask(enc->codec.params.lrid_width_p);
}

/* Data come when there is no number left, behind the requests that follow. */
static void send_request(struct rvt_etrace_encoder *enc, struct rvt_etrace_msg *msg,
			 const struct said *said)
{
	const unsigned int max = 1u << enc->codec.params.lrid_width_p;
	unsigned int lrid;

	if (enc->n_requests == max)
		send_response(enc);
	lrid = (enc->oldest_request + enc->n_requests) & (max - 1);
	enc->n_requests++;
	rvt_etrace_set(msg, RVT_ETRACE_F_LRID, lrid);
	send_shortest(enc, msg, said);
}

void rvt_etrace_data_flush(struct rvt_etrace_encoder *enc)
{
	while (enc->n_requests)
		send_response(enc);
}

void rvt_etrace_encoder_access(struct rvt_etrace_encoder *enc, const struct rvt_access *access)
{
	const enum rvt_etrace_kind kind = kind_of(enc, access);
	const bool csr = access->kind == RVT_ACCESS_CSR;
	const bool request = kind == RVT_ETRACE_DATA_SPLIT_LOAD ||
			     kind == RVT_ETRACE_DATA_SPLIT_ATOMIC;
	struct rvt_access known = *access;
	struct said said = {
		.value = !has_option(enc, RVT_OPT_DATA_NO_VALUE), .access = &known,
	};
	struct rvt_etrace_msg msg;

	if (!enc->tracing || enc->lossy || !can_tell(enc, access, kind))
		return;
	known.bytes = csr ? enc->codec.params.xlen / 8 : access->bytes;
	/* The data of a request comes later. */
	known.value_valid &= !request;
	said.base = &enc->bases[csr ? CSR_BASE : size_of(access)];
	msg = rvt_etrace_new_msg(enc, kind);
	if (access->kind == RVT_ACCESS_LOAD || access->kind == RVT_ACCESS_STORE)
		set_transaction(enc, &msg, access);
	else
		set_operation(enc, &msg, access);
	if (csr) {
		rvt_etrace_set(&msg, RVT_ETRACE_F_ADDR_MSBS, access->address >> 6);
		rvt_etrace_set(&msg, RVT_ETRACE_F_ADDR_LSBS, access->address & 0x3f);
	} else {
		rvt_etrace_set(&msg, RVT_ETRACE_F_SIZE, size_of(access));
	}
	if (request)
		send_request(enc, &msg, &said);
	else
		send_shortest(enc, &msg, &said);
	note(&said);
	if (request)
		enc->requests[msg.field[RVT_ETRACE_F_LRID]] = *access;
}
