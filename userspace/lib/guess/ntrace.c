// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* N-Trace messages that make no sense, whatever the code is. */
#include <errno.h>
#include <stdlib.h>
#include "guess/guess.h"
#include "ntrace/message.h"

#define MAX_SOURCES (1u << RVT_NTRACE_MAX_SRC_BITS)

struct source {
	uint64_t messages, bytes;
	uint64_t time;
	bool synced, timed;
};

struct reading {
	const struct rvt_params *params;
	struct rvt_guess_reading *result;
	struct source *sources;		/* by SRC */
	uint64_t n_icnt, n_icnt_fourfold;
};

/* Messages of CTTE that nothing here decodes: device id, data acquisition, watchpoint, repeats. */
static bool is_of_ctte(const struct rvt_params *params, uint64_t tcode)
{
	return params->dialect == RVT_DIALECT_NTRACE_CTTE &&
	       (tcode == 1 || tcode == 7 || tcode == 15 || tcode == 31 || tcode == 32);
}

static bool is_reserved(const struct rvt_params *params, const struct rvt_ntrace_msg *msg)
{
	static const enum rvt_ntrace_field named[] = {
		RVT_NTRACE_F_SYNC, RVT_NTRACE_F_EVCODE, RVT_NTRACE_F_RCODE, RVT_NTRACE_F_ETYPE,
		RVT_NTRACE_F_CKSRC,
	};

	if (rvt_ntrace_kind(params->dialect, msg->field[RVT_NTRACE_F_TCODE]) ==
	    RVT_NTRACE_RESERVED)
		return !is_of_ctte(params, msg->field[RVT_NTRACE_F_TCODE]);
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (rvt_ntrace_has(msg, named[i]) &&
		    !rvt_ntrace_value_name(params->dialect, named[i], msg->field[named[i]]))
			return true;
	return false;
}

/* Where trace begins nothing was executed before it. */
static bool begins_with_icnt(const struct rvt_ntrace_msg *msg)
{
	if (msg->field[RVT_NTRACE_F_TCODE] != RVT_NTRACE_PROG_TRACE_SYNC ||
	    !msg->field[RVT_NTRACE_F_ICNT])
		return false;
	switch (msg->field[RVT_NTRACE_F_SYNC]) {
	case RVT_NTRACE_SYNC_DEBUG_EXIT:
	case RVT_NTRACE_SYNC_TRACE_ENABLE:
	case RVT_NTRACE_SYNC_FIFO_OVERRUN:
	case RVT_NTRACE_SYNC_POWER_DOWN_EXIT:
		return true;
	default:
		return false;
	}
}

/* Time does not go back. */
static bool time_goes_back(const struct rvt_params *params, struct source *source,
			   const struct rvt_ntrace_msg *msg)
{
	const uint64_t before = source->time, stamp = msg->field[RVT_NTRACE_F_TSTAMP];

	if (!rvt_ntrace_has(msg, RVT_NTRACE_F_TSTAMP))
		return false;
	if (rvt_ntrace_has_full_time(msg)) {
		const bool was_timed = source->timed;

		source->time = stamp;
		source->timed = true;
		return was_timed && stamp < before;
	}
	if (!source->timed)
		return false;
	if (params->timestamp == RVT_TIMESTAMP_XOR)
		source->time ^= stamp;
	else
		source->time += stamp;
	return source->time < before;
}

static void look_at(struct reading *r, const struct rvt_ntrace_msg *msg)
{
	const bool has_src = r->params->src_bits;
	struct source *source = &r->sources[has_src ? msg->field[RVT_NTRACE_F_SRC] : 0];
	bool wrong = is_reserved(r->params, msg);

	r->result->messages++;
	source->messages++;
	source->bytes += msg->len_bytes;
	if (rvt_ntrace_has(msg, RVT_NTRACE_F_TSTAMP))
		r->result->timestamps = true;
	source->synced |= rvt_ntrace_is_sync(msg);
	if (rvt_ntrace_has(msg, RVT_NTRACE_F_ICNT) && msg->field[RVT_NTRACE_F_ICNT]) {
		r->n_icnt++;
		r->n_icnt_fourfold += msg->field[RVT_NTRACE_F_ICNT] % 4 == 0;
	}
	wrong |= begins_with_icnt(msg);
	wrong |= time_goes_back(r->params, source, msg);
	r->result->wrong += wrong;
	r->result->wrong_bytes += wrong ? msg->len_bytes : 0;
}

static void sum_up(struct reading *r)
{
	enum { MANY = 16 };

	for (unsigned int i = 0; i < MAX_SOURCES; i++)
		if (!r->sources[i].synced) {
			r->result->wrong += r->sources[i].messages;
			r->result->wrong_bytes += r->sources[i].bytes;
		}
	/* The upper bits of a SRC that is 0 are in I-CNT, and its own above them. */
	if (r->n_icnt >= MANY && r->n_icnt_fourfold == r->n_icnt) {
		r->result->wrong = r->result->messages;
		r->result->wrong_bytes = r->result->bytes;
	}
	if (r->result->wrong > r->result->messages)
		r->result->wrong = r->result->messages;
	if (r->result->wrong_bytes > r->result->bytes)
		r->result->wrong_bytes = r->result->bytes;
}

int rvt_guess_read_ntrace(const struct rvt_params *params, const uint8_t *bytes, size_t len,
			  struct rvt_guess_reading *result)
{
	struct reading r = { .params = params, .result = result };
	struct rvt_ntrace_reader *reader = malloc(sizeof(*reader));
	enum rvt_ntrace_read read = RVT_NTRACE_READ_MORE;
	struct rvt_ntrace_msg msg;
	int ret = -ENOMEM;

	*result = (struct rvt_guess_reading){ 0 };
	r.sources = calloc(MAX_SOURCES, sizeof(*r.sources));
	if (reader && r.sources)
		ret = rvt_ntrace_reader_init(reader, params);
	if (!ret) {
		rvt_ntrace_reader_feed(reader, bytes, len, 0);
		while ((read = rvt_ntrace_reader_next(reader, &msg)) != RVT_NTRACE_READ_MORE) {
			if (read == RVT_NTRACE_READ_MESSAGE)
				look_at(&r, &msg);
			else
				result->wrong++;
		}
		result->bytes = len - reader->idle_bytes;
		result->wrong_bytes += reader->skipped_bytes;
		sum_up(&r);
	}
	free(r.sources);
	free(reader);
	return ret;
}
