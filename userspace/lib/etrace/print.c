// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Dump of E-Trace packets. Follows, per source, options, the last reported address and the time, so
 * that addresses and timestamps are shown as sent and, as far as that needs no code, as meant.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <dump-ops.h>
#include <etrace/data.h>
#include <etrace/frame.h>
#include <etrace/packet.h>

/* Bytes up to which the columns of the text form line up. */
#define TEXT_BYTES 12

struct source {
	struct rvt_etrace_codec codec;
	uint64_t base;			/* last reported address */
	bool base_valid;
	struct rvt_etrace_data data;
};

struct etrace_dump {
	struct rvt_dump base;
	struct rvt_etrace_codec codec;	/* parameters as given */
	FILE *out;
	bool json;
	uint64_t messages, damaged;
	struct rvt_etrace_frames frames;
	unsigned int n_sources;
	struct source **sources;	/* by srcID; NULL: not seen */
};

/* What the address field means, or the access that a data packet completes. */
struct resolved {
	bool valid;
	uint64_t address;
	struct rvt_access access;	/* .size 0: none */
};

static uint64_t extend(const struct rvt_params *p, uint64_t address)
{
	address &= rvt_etrace_mask(p->iaddress_width_p);
	if (p->xlen == 64 && p->iaddress_width_p > 32)
		address = rvt_etrace_sign(address, p->iaddress_width_p);
	return address;
}

static struct resolved resolve(struct source *source, const struct rvt_etrace_msg *msg)
{
	const struct rvt_params *p = &source->codec.params;
	struct resolved resolved = { .valid = true, .access.size = 0 };

	switch (msg->kind) {
	case RVT_ETRACE_SYNC_TRAP:
		if (!rvt_etrace_has(msg, RVT_ETRACE_F_ADDRESS)) {
			source->base_valid = false;
			return (struct resolved){ .valid = false };
		}
		/* fall through */
	case RVT_ETRACE_SYNC_START:
		resolved.address = msg->field[RVT_ETRACE_F_ADDRESS] << p->iaddress_lsb_p;
		break;
	case RVT_ETRACE_CACHE:
	case RVT_ETRACE_CACHE_BRANCHES:
		source->base_valid = false;
		return (struct resolved){ .valid = false };
	default:
		if (!rvt_etrace_has(msg, RVT_ETRACE_F_ADDRESS))
			return (struct resolved){ .valid = false };
		resolved.address = msg->field[RVT_ETRACE_F_ADDRESS] << p->iaddress_lsb_p;
		if (p->options & RVT_OPT_FULL_ADDRESS)
			break;
		resolved.valid = source->base_valid;
		resolved.address += source->base;
		break;
	}
	resolved.address = extend(p, resolved.address);
	/* With thaddr = 0 nothing retired; the next packet has a full address. */
	source->base = resolved.address;
	source->base_valid = resolved.valid;
	return resolved;
}

static int keep_access(void *ctx, const struct rvt_access *access)
{
	struct resolved *resolved = ctx;

	resolved->access = *access;
	return 0;
}

static void forget_data(struct source *source)
{
	struct resolved ignored;

	rvt_etrace_data_lose(&source->data, &source->codec, keep_access, &ignored);
}

/* Nothing that comes may be a difference from what came. */
static void forget(struct source *source)
{
	source->base_valid = false;
	forget_data(source);
}

/* NULL, or what is wrong with the packet. */
static const char *resolve_data(struct source *source, const struct rvt_etrace_msg *msg,
				struct resolved *resolved)
{
	const char *wrong = NULL;

	if (msg->kind == RVT_ETRACE_SYNC_START || msg->kind == RVT_ETRACE_SYNC_TRAP)
		rvt_etrace_data_sync(&source->data);
	if (msg->kind == RVT_ETRACE_SYNC_SUPPORT && rvt_etrace_has(msg, RVT_ETRACE_F_DLOSS) &&
	    msg->field[RVT_ETRACE_F_DLOSS])
		forget_data(source);
	if (rvt_etrace_is_data(msg))
		rvt_etrace_data_packet(&source->data, &source->codec, msg, keep_access, resolved,
				       &wrong);
	return wrong;
}

static bool is_hex(enum rvt_etrace_field field)
{
	switch (field) {
	case RVT_ETRACE_F_DATA:
	case RVT_ETRACE_F_OPERAND:
	case RVT_ETRACE_F_ADDRESS:
	case RVT_ETRACE_F_TVAL:
	case RVT_ETRACE_F_CONTEXT:
	case RVT_ETRACE_F_BRANCH_MAP:
	case RVT_ETRACE_F_IOPTIONS:
	case RVT_ETRACE_F_DOPTIONS:
		return true;
	default:
		return false;
	}
}

/* The next field of a message in the order of transmission; NULL at the end. */
static const struct rvt_etrace_use *next_field(const struct source *source,
					       const struct rvt_etrace_msg *msg, unsigned int *pos)
{
	const struct rvt_params *p = &source->codec.params;
	const struct rvt_etrace_format *format = rvt_etrace_is_data(msg) ?
		rvt_etrace_data_formats(p->options & RVT_OPT_MULTI_ACCESS) :
		rvt_etrace_formats(p->dialect);

	while (format->kind != msg->kind || format->uses[0].field == RVT_ETRACE_FIELDS)
		format++;
	while (format->uses[*pos].field != RVT_ETRACE_FIELDS) {
		const struct rvt_etrace_use *use = &format->uses[(*pos)++];

		if (rvt_etrace_has(msg, use->field))
			return use;
	}
	return NULL;
}

static const char *name_of(const struct source *source, enum rvt_etrace_field field)
{
	return rvt_etrace_field_name(source->codec.params.dialect, field);
}

/* ---- text ---- */

static void text_field(FILE *out, const struct source *source, const struct rvt_etrace_msg *msg,
		       enum rvt_etrace_field field)
{
	uint64_t value = msg->field[field];

	fprintf(out, is_hex(field) ? " %s=0x%" PRIx64 : " %s=%" PRIu64,
		name_of(source, field), value);
	if (field == RVT_ETRACE_F_QUAL_STATUS)
		fprintf(out, "(%s)", rvt_etrace_qual_name(source->codec.params.dialect, value));
}

/* As "(load 8 at 0x1000 = 0x5)"; "?" is not known. */
static void text_access(FILE *out, const struct rvt_access *access)
{
	const char *operation = rvt_access_operation_name(access->operation);

	fprintf(out, " (%s", rvt_access_kind_name(access->kind));
	if (*operation)
		fprintf(out, " %s", operation);
	if (access->bytes)
		fprintf(out, " %u", access->bytes);
	if (access->address_valid)
		fprintf(out, " at 0x%" PRIx64, access->address);
	if (access->operand_valid)
		fprintf(out, " with 0x%" PRIx64, access->operand);
	if (access->value_valid)
		fprintf(out, " = 0x%" PRIx64, access->value);
	fprintf(out, "%s%s)", access->error ? " error" : "", access->multiple ? " multiple" : "");
}

static void text_packet(struct etrace_dump *dump, const struct source *source,
			const struct rvt_etrace_msg *msg, const struct resolved *resolved)
{
	FILE *out = dump->out;
	const struct rvt_etrace_use *use;
	unsigned int pos = 0;

	fprintf(out, "%08" PRIx64 ":", msg->offset);
	for (uint32_t i = 0; i < msg->len_bytes || i < TEXT_BYTES; i++) {
		if (i < msg->len_bytes)
			fprintf(out, " %02x", dump->frames.bytes[i]);
		else
			fputs("   ", out);
	}
	fprintf(out, "  %s", msg->present ? rvt_etrace_kind_name(msg->kind) : "other");
	if (dump->base.atid)
		fprintf(out, " atid=0x%02x", dump->base.atid);
	if (msg->flow)
		fprintf(out, " flow=%u", msg->flow);
	if (dump->n_sources > 1)
		fprintf(out, " srcID=%u", msg->src);
	if (msg->extend)
		fprintf(out, " timestamp=%" PRIu64, msg->timestamp);
	if (source->codec.params.type_bits)
		fprintf(out, " type=%u", msg->type);
	while (msg->present && (use = next_field(source, msg, &pos)))
		text_field(out, source, msg, use->field);
	fprintf(out, "%s%s%s%s", msg->notify ? " [notify]" : "", msg->updiscon ? " [updiscon]" : "",
		msg->irreport && rvt_etrace_has(msg, RVT_ETRACE_F_IRREPORT) ? " [irreport]" : "",
		source->codec.params.dialect == RVT_DIALECT_ETRACE_0_029 && msg->not_taken ?
		" [not taken]" : "");
	if (resolved->valid)
		fprintf(out, " pc=0x%" PRIx64, resolved->address);
	if (resolved->access.size)
		text_access(out, &resolved->access);
	fputc('\n', out);
}

/* ---- JSON ---- */

_Static_assert(RVT_ETRACE_MAX_FRAME_BYTES <= RVT_DUMP_MAX_BYTES, "a message fits");

#ifdef HAVE_JSON
static void json_flag(struct json_object *line, const struct rvt_etrace_msg *msg,
		      enum rvt_etrace_field field, const char *name, bool flag)
{
	if (rvt_etrace_has(msg, field))
		json_add(line, name, json_object_new_boolean(flag));
}

static void json_access(struct json_object *line, const struct rvt_access *access)
{
	struct json_object *object = json_object_new_object();

	json_add(object, "kind", json_object_new_string(rvt_access_kind_name(access->kind)));
	if (access->operation)
		json_add(object, "operation",
			 json_object_new_string(rvt_access_operation_name(access->operation)));
	if (access->bytes)
		json_add(object, "bytes", json_object_new_int(access->bytes));
	if (access->address_valid)
		json_add(object, "address", json_new_hex(access->address));
	if (access->operand_valid)
		json_add(object, "operand", json_new_hex(access->operand));
	if (access->value_valid)
		json_add(object, "value", json_new_hex(access->value));
	json_add(object, "error", json_object_new_boolean(access->error));
	json_add(object, "multiple", json_object_new_boolean(access->multiple));
	json_add(line, "access", object);
}

static void json_packet(struct etrace_dump *dump, const struct source *source,
			const struct rvt_etrace_msg *msg, const struct resolved *resolved)
{
	struct json_object *line = dump_json_begin(msg->offset, dump->frames.bytes, msg->len_bytes);
	const struct rvt_etrace_use *use;
	unsigned int pos = 0;

	json_add(line, "message",
		 json_object_new_string(msg->present ? rvt_etrace_kind_name(msg->kind) : "other"));
	json_add(line, "flow", json_object_new_int(msg->flow));
	if (dump->base.atid)
		json_add(line, "atid", json_object_new_int(dump->base.atid));
	if (dump->n_sources > 1)
		json_add(line, "srcID", json_object_new_int(msg->src));
	if (msg->extend)
		json_add(line, "timestamp", json_object_new_uint64(msg->timestamp));
	if (source->codec.params.type_bits)
		json_add(line, "type", json_object_new_int(msg->type));
	while (msg->present && (use = next_field(source, msg, &pos))) {
		uint64_t value = msg->field[use->field];

		json_add(line, name_of(source, use->field), is_hex(use->field) ?
			 json_new_hex(value) : json_object_new_uint64(value));
	}
	if (msg->present) {
		json_flag(line, msg, RVT_ETRACE_F_NOTIFY, "notified", msg->notify);
		json_flag(line, msg, RVT_ETRACE_F_UPDISCON, "before_sync", msg->updiscon);
		json_flag(line, msg, RVT_ETRACE_F_IRREPORT, "returns_reported", msg->irreport);
	}
	if (resolved->valid)
		json_add(line, "pc", json_new_hex(resolved->address));
	if (resolved->access.size)
		json_access(line, &resolved->access);
	json_put_line(dump->out, line);
}
#else
static void json_packet(struct etrace_dump *dump, const struct source *source,
			const struct rvt_etrace_msg *msg, const struct resolved *resolved)
{
	(void)dump, (void)source, (void)msg, (void)resolved;
}
#endif

/* ---- the dump ---- */

static unsigned int frame_src(const struct etrace_dump *dump, const uint8_t *bytes)
{
	unsigned int src = 0;

	if (dump->n_sources > 1)
		src = bytes[1];
	if (dump->n_sources > 256)
		src |= bytes[2] << 8;
	return src & (dump->n_sources - 1);
}

static bool frame_valid(void *ctx, const uint8_t *bytes, unsigned int len)
{
	const struct etrace_dump *dump = ctx;
	const struct source *source = dump->sources[frame_src(dump, bytes)];
	struct rvt_etrace_msg msg;

	return !rvt_etrace_parse(source ? &source->codec : &dump->codec, bytes, len, &msg);
}

static void damage(struct etrace_dump *dump, uint64_t offset, uint64_t len, const char *what)
{
	dump->damaged++;
	dump_damage(dump->out, dump->json, offset, len, what);
}

static struct source *find_source(struct etrace_dump *dump, unsigned int src)
{
	struct source **source = &dump->sources[src];

	if (!*source) {
		*source = calloc(1, sizeof(**source));
		if (*source)
			(*source)->codec = dump->codec;
	}
	return *source;
}

static void frame(struct etrace_dump *dump)
{
	struct rvt_etrace_frames *frames = &dump->frames;
	struct source *source = find_source(dump, frame_src(dump, frames->bytes));
	struct resolved resolved = { .valid = false, .access.size = 0 };
	struct rvt_etrace_msg msg;
	const char *what;

	if (!source)
		return;
	what = rvt_etrace_parse(&source->codec, frames->bytes, frames->len_bytes, &msg);
	if (what) {
		damage(dump, frames->offset, frames->len_bytes, what);
		rvt_etrace_frames_bad(frames);
		forget(source);
		return;
	}
	msg.offset = frames->offset;
	dump->messages++;
	if (msg.present && !rvt_etrace_is_data(&msg))
		resolved = resolve(source, &msg);
	what = msg.present ? resolve_data(source, &msg, &resolved) : NULL;
	if (dump->json)
		json_packet(dump, source, &msg, &resolved);
	else
		text_packet(dump, source, &msg, &resolved);
	if (what) {
		damage(dump, frames->offset, frames->len_bytes, what);
		forget(source);
	}
	if (msg.present && msg.kind == RVT_ETRACE_SYNC_SUPPORT)
		rvt_etrace_codec_support(&source->codec, &msg);
}

static void drain(struct etrace_dump *dump)
{
	const struct rvt_etrace_damage *d = &dump->frames.damage;

	for (;;) {
		switch (rvt_etrace_frames_next(&dump->frames)) {
		case RVT_ETRACE_READ_FRAME:
			frame(dump);
			break;
		case RVT_ETRACE_READ_DAMAGE:
			damage(dump, d->offset, d->len_bytes, d->what);
			break;
		case RVT_ETRACE_READ_MORE:
			return;
		}
	}
}

static int dump_create(const struct rvt_params *params, unsigned int flags, FILE *out,
		       struct rvt_dump **result)
{
	struct etrace_dump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return -ENOMEM;
	if (rvt_etrace_codec_init(&dump->codec, params)) {
		free(dump);
		return -EINVAL;
	}
	dump->n_sources = 1u << params->srcid_bits;
	dump->sources = calloc(dump->n_sources, sizeof(*dump->sources));
	if (!dump->sources) {
		free(dump);
		return -ENOMEM;
	}
	dump->out = out;
	dump->json = flags & RVT_DUMP_JSON;
	rvt_etrace_frames_init(&dump->frames, params, frame_valid, dump);
	*result = &dump->base;
	return 0;
}

static void dump_destroy(struct rvt_dump *base)
{
	struct etrace_dump *dump = (struct etrace_dump *)base;

	for (unsigned int i = 0; i < dump->n_sources; i++) {
		if (dump->sources[i])
			rvt_etrace_data_fini(&dump->sources[i]->data);
		free(dump->sources[i]);
	}
	free(dump->sources);
	free(dump);
}

static void dump_feed(struct rvt_dump *base, const void *bytes, size_t len, uint64_t offset)
{
	struct etrace_dump *dump = (struct etrace_dump *)base;

	rvt_etrace_frames_feed(&dump->frames, bytes, len, offset);
	drain(dump);
}

static void dump_lost(struct rvt_dump *base, bool boundary)
{
	struct etrace_dump *dump = (struct etrace_dump *)base;

	rvt_etrace_frames_lost(&dump->frames, boundary);
	for (unsigned int i = 0; i < dump->n_sources; i++)
		if (dump->sources[i])
			forget(dump->sources[i]);
}

static void dump_finish(struct rvt_dump *base)
{
	struct etrace_dump *dump = (struct etrace_dump *)base;

	rvt_etrace_frames_finish(&dump->frames);
	drain(dump);
}

static void dump_stats(const struct rvt_dump *base, struct rvt_dump_stats *stats)
{
	const struct etrace_dump *dump = (const struct etrace_dump *)base;

	stats->messages = dump->messages;
	stats->damaged = dump->damaged;
	stats->idle_bytes = dump->frames.idle_bytes;
	stats->skipped_bytes = dump->frames.skipped_bytes;
}

const struct rvt_dump_ops rvt_etrace_dump = {
	.create = dump_create,
	.destroy = dump_destroy,
	.feed = dump_feed,
	.lost = dump_lost,
	.finish = dump_finish,
	.stats = dump_stats,
};
