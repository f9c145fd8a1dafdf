// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Dump of N-Trace messages. Follows, per source, the reference address and the time, so that each
 * address and timestamp is shown as sent and as meant.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <dump-ops.h>
#include <ntrace/jump-cache.h>
#include <ntrace/message.h>

/* Bytes up to which the columns of the text form line up. */
#define TEXT_BYTES 12

struct source {
	uint64_t ref;
	uint64_t time;
	bool ref_valid, time_valid;
	struct rvt_ntrace_jump_cache *cache;	/* of CTTE, else NULL */
	struct rvt_ntrace_data data;
};

struct ntrace_dump {
	struct rvt_dump base;
	struct rvt_params params;
	FILE *out;
	bool json;
	uint64_t messages, damaged;
	struct rvt_ntrace_reader reader;
	struct rvt_ntrace_jump_cache *caches;	/* of CTTE: by SRC; else NULL */
	unsigned int n_sources;
	struct source sources[];	/* by SRC */
};

/* What the fields of a message mean, as far as that is known without code. */
struct resolved {
	bool address_valid, time_valid;
	uint64_t address, time;
};

static bool is_sifive(const struct ntrace_dump *dump)
{
	return dump->params.dialect == RVT_DIALECT_NTRACE_SIFIVE;
}

static const struct rvt_ntrace_use no_uses[] = { { RVT_NTRACE_FIELDS, 0, 0 } };

/* The entries that CTTE's decoder would know (decoder-ctte.c). False: @msg has no address. */
static bool follow_cache(const struct ntrace_dump *dump, struct source *source,
			 const struct rvt_ntrace_msg *msg)
{
	const uint64_t tcode = msg->field[RVT_NTRACE_F_TCODE];

	if (!source->cache)
		return false;
	if (tcode == RVT_NTRACE_PROG_TRACE_CORRELATION ||
	    (rvt_ntrace_is_sync(msg) && rvt_ntrace_resets(dump->params.dialect, msg)))
		rvt_ntrace_jump_cache_clear(source->cache);
	if (tcode != RVT_NTRACE_JUMP_TARGET_CACHE)
		return false;
	source->ref_valid = rvt_ntrace_jump_cache_find(source->cache,
						       msg->field[RVT_NTRACE_F_JIDX],
						       &source->ref);
	return true;
}

static void note_target(const struct ntrace_dump *dump, struct source *source,
			const struct rvt_ntrace_msg *msg)
{
	if (!source->cache || msg->field[RVT_NTRACE_F_TCODE] != RVT_NTRACE_INDIRECT_BRANCH_HIST ||
	    msg->field[RVT_NTRACE_F_BTYPE])
		return;
	if (source->ref_valid)
		rvt_ntrace_jump_cache_note(source->cache, dump->params.xlen, source->ref);
	else
		rvt_ntrace_jump_cache_clear(source->cache);
}

static void resolve_address(const struct ntrace_dump *dump, struct source *source,
			    const struct rvt_ntrace_msg *msg, struct resolved *resolved)
{
	uint64_t address;

	if (rvt_ntrace_is_data(msg)) {
		struct rvt_access access;

		rvt_ntrace_data_access(&source->data, &dump->params, msg, &access);
		resolved->address_valid = access.address_valid;
		resolved->address = access.address;
		return;
	}
	if (rvt_ntrace_is_sync(msg) || msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_ERROR)
		source->data.valid = false;
	if (msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_CONFIGURATION)
		source->data.xor = msg->field[RVT_NTRACE_F_ENAB] & RVT_NTRACE_ENAB_DATA_XOR;
	if (msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_ERROR &&
	    rvt_ntrace_may_lose_flow(dump->params.dialect, msg))
		source->ref_valid = false;
	if (follow_cache(dump, source, msg)) {
		/* .ref is what the cache has */
	} else if (rvt_ntrace_has(msg, RVT_NTRACE_F_FADDR)) {
		source->ref = rvt_ntrace_full_addr(&dump->params, msg);
		source->ref_valid = true;
	} else if (rvt_ntrace_has(msg, RVT_NTRACE_F_UADDR)) {
		source->ref = rvt_ntrace_next_addr(&dump->params, msg, RVT_NTRACE_F_UADDR,
						   source->ref);
		note_target(dump, source, msg);
	} else if (rvt_ntrace_circuit_address(&dump->params, msg, &source->ref, &address)) {
		source->ref_valid |= rvt_ntrace_has(msg, RVT_NTRACE_F_SYNC);
		resolved->address_valid = source->ref_valid;
		resolved->address = address;
		return;
	} else {
		return;
	}
	resolved->address_valid = source->ref_valid;
	resolved->address = source->ref;
}

static void resolve_time(const struct ntrace_dump *dump, struct source *source,
			 const struct rvt_ntrace_msg *msg, struct resolved *resolved)
{
	uint64_t stamp;

	if (!rvt_ntrace_has(msg, RVT_NTRACE_F_TSTAMP))
		return;
	stamp = msg->field[RVT_NTRACE_F_TSTAMP];
	if (rvt_ntrace_has_full_time(msg)) {
		source->time = stamp;
		source->time_valid = true;
	} else if (dump->params.timestamp == RVT_TIMESTAMP_XOR) {
		source->time ^= stamp;
	} else {
		source->time += stamp;
	}
	resolved->time_valid = source->time_valid;
	resolved->time = source->time;
	/* As the decoder: after it, only a sync tells the time. */
	if (msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_PROG_TRACE_CORRELATION)
		source->time_valid = false;
}

static bool is_hist(const struct rvt_ntrace_msg *msg, enum rvt_ntrace_field field)
{
	uint64_t rcode = msg->field[RVT_NTRACE_F_RCODE];

	return field == RVT_NTRACE_F_HIST ||
	       (field == RVT_NTRACE_F_RDATA && (rcode == 1 || rcode == 2));
}

static bool is_hex(enum rvt_ntrace_field field)
{
	return field == RVT_NTRACE_F_UADDR || field == RVT_NTRACE_F_FADDR ||
	       field == RVT_NTRACE_F_PROCESS || field == RVT_NTRACE_F_ECODE ||
	       (field >= RVT_NTRACE_F_CAPS && field <= RVT_NTRACE_F_PARAM3) ||
	       (field >= RVT_NTRACE_F_IDTAG && field <= RVT_NTRACE_F_CDATA3 &&
		field != RVT_NTRACE_F_CKSRC && field != RVT_NTRACE_F_CKDF);
}

/* The next field of a message in the order of transmission, without TCODE; false at the end. */
static bool next_field(enum rvt_dialect dialect, const struct rvt_ntrace_msg *msg,
		       unsigned int *pos, enum rvt_ntrace_field *field)
{
	const struct rvt_ntrace_format *format =
		rvt_ntrace_format_of(dialect, msg->field[RVT_NTRACE_F_TCODE]);
	const struct rvt_ntrace_use *uses = format ? format->uses : no_uses;
	unsigned int n = 0;

	while (uses[n].field != RVT_NTRACE_FIELDS)
		n++;
	for (; *pos < n + 2; ++*pos) {
		if (*pos == 0)
			*field = RVT_NTRACE_F_SRC;
		else
			*field = *pos <= n ? uses[*pos - 1].field : RVT_NTRACE_F_TSTAMP;
		if (!rvt_ntrace_has(msg, *field))
			continue;
		++*pos;
		return true;
	}
	return false;
}

/* ---- text ---- */

/* Stop bit first, then the oldest branch: 0b1_01, as the specification writes it. */
static void text_hist(FILE *out, uint64_t value)
{
	int bits = 63 - __builtin_clzll(value);

	fputs("0b1", out);
	if (bits)
		fputc('_', out);
	while (bits--)
		fputc('0' + (value >> bits & 1), out);
}

static void text_process(FILE *out, uint64_t process)
{
	unsigned int format = process & 3;

	fprintf(out, " FORMAT=%u PRV=%u V=%u", format, (unsigned int)(process >> 2 & 3),
		(unsigned int)(process >> 4 & 1));
	if (format)
		fprintf(out, " %s=0x%" PRIx64, format == 3 ? "hcontext" : format == 2 ? "scontext" :
			"CONTEXT", process >> 5);
}

static void text_field(const struct ntrace_dump *dump, const struct rvt_ntrace_msg *msg,
		       enum rvt_ntrace_field field)
{
	uint64_t value = msg->field[field];
	const char *name = rvt_ntrace_value_name(dump->params.dialect, field, value);
	FILE *out = dump->out;

	fprintf(out, " %s=", rvt_ntrace_fields[field].name);
	if (is_hist(msg, field))
		text_hist(out, value);
	else if (is_hex(field))
		fprintf(out, "0x%" PRIx64, value);
	else
		fprintf(out, "%" PRIu64, value);
	if (name)
		fprintf(out, "(%s)", name);
	if (field == RVT_NTRACE_F_PROCESS && !is_sifive(dump))
		text_process(out, value);
}

static void text_message(struct ntrace_dump *dump, const struct rvt_ntrace_msg *msg,
			 const struct resolved *resolved)
{
	FILE *out = dump->out;
	const enum rvt_dialect dialect = dump->params.dialect;
	const unsigned int tcode = msg->field[RVT_NTRACE_F_TCODE];
	enum rvt_ntrace_field field;
	unsigned int pos = 0;

	fprintf(out, "%08" PRIx64 ":", msg->offset);
	for (uint32_t i = 0; i < msg->len_bytes || i < TEXT_BYTES; i++) {
		if (i < msg->len_bytes)
			fprintf(out, " %02x", dump->reader.bytes[i]);
		else
			fputs("   ", out);
	}
	fprintf(out, "  %s", rvt_ntrace_name(dialect, tcode));
	if (dump->base.atid)
		fprintf(out, " atid=0x%02x", dump->base.atid);
	if (rvt_ntrace_kind(dialect, tcode) != RVT_NTRACE_STANDARD)
		fprintf(out, " TCODE=%u", tcode);
	while (next_field(dump->params.dialect, msg, &pos, &field))
		text_field(dump, msg, field);
	if (resolved->address_valid)
		fprintf(out, " address=0x%" PRIx64, resolved->address);
	if (resolved->time_valid)
		fprintf(out, " time=%" PRIu64, resolved->time);
	fputc('\n', out);
}

/* ---- JSON ---- */

_Static_assert(RVT_NTRACE_MAX_MESSAGE_BYTES <= RVT_DUMP_MAX_BYTES, "a message fits");

#ifdef HAVE_JSON
static void json_field(const struct ntrace_dump *dump, const struct rvt_ntrace_msg *msg,
		       enum rvt_ntrace_field field, struct json_object *line)
{
	uint64_t value = msg->field[field];

	json_add(line, rvt_ntrace_fields[field].name, is_hex(field) ?
		 json_new_hex(value) : json_object_new_uint64(value));
	if (field == RVT_NTRACE_F_PROCESS && !is_sifive(dump)) {
		json_add(line, "FORMAT", json_object_new_int(value & 3));
		json_add(line, "PRV", json_object_new_int(value >> 2 & 3));
		json_add(line, "V", json_object_new_int(value >> 4 & 1));
		if (value & 3)
			json_add(line, "CONTEXT", json_new_hex(value >> 5));
	}
}

static void json_message(struct ntrace_dump *dump, const struct rvt_ntrace_msg *msg,
			 const struct resolved *resolved)
{
	struct json_object *line = dump_json_begin(msg->offset, dump->reader.bytes, msg->len_bytes);
	const uint64_t tcode = msg->field[RVT_NTRACE_F_TCODE];
	enum rvt_ntrace_field field;
	unsigned int pos = 0;

	json_add(line, "message",
		 json_object_new_string(rvt_ntrace_name(dump->params.dialect, tcode)));
	json_add(line, "TCODE", json_object_new_uint64(tcode));
	if (dump->base.atid)
		json_add(line, "atid", json_object_new_int(dump->base.atid));
	while (next_field(dump->params.dialect, msg, &pos, &field))
		json_field(dump, msg, field, line);
	if (resolved->address_valid)
		json_add(line, "address", json_new_hex(resolved->address));
	if (resolved->time_valid)
		json_add(line, "time", json_object_new_uint64(resolved->time));
	json_put_line(dump->out, line);
}
#else
static void json_message(struct ntrace_dump *dump, const struct rvt_ntrace_msg *msg,
			 const struct resolved *resolved)
{
	(void)dump, (void)msg, (void)resolved;
}
#endif

/* ---- the dump ---- */

static void message(struct ntrace_dump *dump, const struct rvt_ntrace_msg *msg)
{
	struct source *source = &dump->sources[dump->params.src_bits ?
					       msg->field[RVT_NTRACE_F_SRC] : 0];
	struct resolved resolved = { 0 };

	resolve_address(dump, source, msg, &resolved);
	resolve_time(dump, source, msg, &resolved);
	dump->messages++;
	if (dump->json)
		json_message(dump, msg, &resolved);
	else
		text_message(dump, msg, &resolved);
}

/* Messages are missing. */
static void clear_caches(struct ntrace_dump *dump)
{
	for (unsigned int i = 0; i < dump->n_sources; i++)
		dump->sources[i].data.valid = false;
	for (unsigned int i = 0; dump->caches && i < dump->n_sources; i++)
		rvt_ntrace_jump_cache_clear(&dump->caches[i]);
}

static void damage(struct ntrace_dump *dump)
{
	const struct rvt_ntrace_damage *d = &dump->reader.damage;

	clear_caches(dump);
	dump->damaged++;
	dump_damage(dump->out, dump->json, d->offset, d->len_bytes, d->what);
}

static int create_caches(struct ntrace_dump *dump)
{
	if (dump->params.dialect != RVT_DIALECT_NTRACE_CTTE)
		return 0;
	dump->caches = malloc(dump->n_sources * sizeof(dump->caches[0]));
	if (!dump->caches)
		return -ENOMEM;
	for (unsigned int i = 0; i < dump->n_sources; i++) {
		dump->sources[i].cache = &dump->caches[i];
		dump->sources[i].data.xor =
			dump->params.data_address == RVT_DATA_ADDRESS_XOR;
	}
	clear_caches(dump);
	return 0;
}

static int dump_create(const struct rvt_params *params, unsigned int flags, FILE *out,
		       struct rvt_dump **result)
{
	size_t n = params->src_bits <= RVT_NTRACE_MAX_SRC_BITS ? 1u << params->src_bits : 0;
	struct ntrace_dump *dump;

	if (!n)
		return -EINVAL;
	dump = calloc(1, sizeof(*dump) + n * sizeof(dump->sources[0]));
	if (!dump)
		return -ENOMEM;
	dump->params = *params;
	dump->out = out;
	dump->json = flags & RVT_DUMP_JSON;
	dump->n_sources = n;
	rvt_ntrace_reader_init(&dump->reader, params);
	if (create_caches(dump)) {
		free(dump);
		return -ENOMEM;
	}
	*result = &dump->base;
	return 0;
}

static void dump_destroy(struct rvt_dump *base)
{
	free(((struct ntrace_dump *)base)->caches);
	free(base);
}

static void dump_feed(struct rvt_dump *base, const void *bytes, size_t len, uint64_t offset)
{
	struct ntrace_dump *dump = (struct ntrace_dump *)base;
	struct rvt_ntrace_msg msg;

	rvt_ntrace_reader_feed(&dump->reader, bytes, len, offset);
	for (;;) {
		switch (rvt_ntrace_reader_next(&dump->reader, &msg)) {
		case RVT_NTRACE_READ_MESSAGE:
			message(dump, &msg);
			break;
		case RVT_NTRACE_READ_DAMAGE:
			damage(dump);
			break;
		case RVT_NTRACE_READ_MORE:
			return;
		}
	}
}

static void dump_lost(struct rvt_dump *base, bool boundary)
{
	struct ntrace_dump *dump = (struct ntrace_dump *)base;

	clear_caches(dump);
	rvt_ntrace_reader_lost(&dump->reader, boundary);
}

static void dump_finish(struct rvt_dump *base)
{
	struct ntrace_dump *dump = (struct ntrace_dump *)base;

	if (rvt_ntrace_reader_finish(&dump->reader))
		damage(dump);
}

static void dump_stats(const struct rvt_dump *base, struct rvt_dump_stats *stats)
{
	const struct ntrace_dump *dump = (const struct ntrace_dump *)base;

	stats->messages = dump->messages;
	stats->damaged = dump->damaged;
	stats->idle_bytes = dump->reader.idle_bytes;
	stats->skipped_bytes = dump->reader.skipped_bytes;
}

const struct rvt_dump_ops rvt_ntrace_dump = {
	.create = dump_create,
	.destroy = dump_destroy,
	.feed = dump_feed,
	.lost = dump_lost,
	.finish = dump_finish,
	.stats = dump_stats,
};
