// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* E-Trace decoder: accesses that te_data packets tell, as events of the flow. */
#include <etrace/decoder-state.h>

static int emit_access(void *ctx, const struct rvt_access *access)
{
	struct rvt_etrace_decoder *dec = ctx;
	struct rvt_event event = { .type = RVT_EVENT_ACCESS, .access = access };

	return rvt_etrace_emit(dec, &event);
}

/* Takes over what was counted. */
static int counted(struct rvt_etrace_decoder *dec, int ret)
{
	dec->stats->accesses += dec->data.n_accesses;
	dec->stats->lost_accesses += dec->data.n_lost;
	dec->data.n_accesses = dec->data.n_lost = 0;
	return ret;
}

int rvt_etrace_decoder_data(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	const char *wrong;
	int ret;

	dec->offset = msg->offset;
	ret = rvt_etrace_note_stamp(dec, msg);
	if (ret)
		return ret;
	ret = rvt_etrace_data_packet(&dec->data, &dec->codec, msg, emit_access, dec, &wrong);
	if (!wrong)
		return counted(dec, ret);
	/* A bad data packet is no more than a missing one: the flow goes on. */
	dec->stats->errors++;
	dec->stats->lost_accesses++;
	return rvt_etrace_decoder_data_lost(dec);
}

int rvt_etrace_decoder_data_lost(struct rvt_etrace_decoder *dec)
{
	if (!dec->wants_accesses)
		return 0;
	return counted(dec, rvt_etrace_data_lose(&dec->data, &dec->codec, emit_access, dec));
}
