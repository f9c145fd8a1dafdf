// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace: decoding a slice of a stream. A synchronisation packet (format 3, subformat 0) resets
 * the return stack and the predictor, and says the address, privilege and context. So a source is
 * decoded by one slice up to and including such a packet, and from behind it by the next slice,
 * which takes nothing but these from it. Where more is carried over a slice goes on to the end of
 * the stream.
 */
#include <string.h>
#include <etrace/decoder-state.h>
#include "flow/control.h"

void rvt_etrace_slice_source(struct rvt_etrace_slice *slice, struct rvt_etrace_decoder *dec,
			    uint64_t offset)
{
	dec->progress = RVT_ETRACE_WAITING;
	if (offset >= slice->to || !dec->flow)
		return;
	rvt_flow_note_source(dec->flow, !slice->from);
	if (slice->from)
		return;
	dec->progress = RVT_ETRACE_ACTIVE;
	slice->n_active++;
	slice->began = true;
}

/*
 * Returns whether a slice may begin here. It may not where what was executed before decides what
 * comes: a jump to what was loaded just before, and ecall or ebreak, which do not retire.
 */
static bool divides(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct rvt_insn insn;

	if (msg->kind != RVT_ETRACE_SYNC_START ||
	    rvt_flow_peek_at(dec->flow, rvt_etrace_full_address(dec, msg), &insn))
		return false;
	if (insn.iclass == RVT_INSN_ECALL || insn.iclass == RVT_INSN_EBREAK)
		return false;
	return !(dec->codec.params.options & RVT_OPT_SEQUENTIAL_JUMP) ||
	       insn.iclass <= RVT_INSN_JUMP_LINKED;
}

/* The slice before this one has decoded @msg: only its result counts here. */
static int take_over(struct rvt_etrace_slice *slice, struct rvt_etrace_decoder *dec,
		     const struct rvt_etrace_msg *msg)
{
	uint64_t syncs = dec->stats->syncs, address = rvt_etrace_full_address(dec, msg);
	int ret = rvt_flow_resume(dec->flow, address, msg->offset);

	dec->progress = RVT_ETRACE_ACTIVE;
	slice->n_active++;
	slice->began = true;
	dec->started = true;
	dec->lost = false;
	rvt_etrace_decoder_sync(dec, true);
	rvt_etrace_stand_at_sync(dec, msg, address);
	dec->stats->syncs = syncs;
	return ret;
}

int rvt_etrace_slice_skip(struct rvt_etrace_slice *slice, struct rvt_etrace_decoder *dec,
			 const struct rvt_etrace_msg *msg, bool *skip)
{
	int ret = 0;

	*skip = dec->progress != RVT_ETRACE_ACTIVE;
	if (dec->progress != RVT_ETRACE_WAITING)
		return 0;
	if (msg->kind == RVT_ETRACE_SYNC_SUPPORT) {
		rvt_etrace_codec_support(&dec->codec, msg);
		return rvt_etrace_decoder_resize(dec);
	}
	if (msg->kind != RVT_ETRACE_SYNC_START)
		return 0;
	/* what the address means may depend on both */
	dec->offset = msg->offset;
	ret = rvt_etrace_note_stamp(dec, msg);
	if (!ret)
		ret = rvt_etrace_note_context(dec, msg);
	if (ret || !divides(dec, msg))
		return ret;
	if (msg->offset < slice->to)
		return take_over(slice, dec, msg);
	dec->progress = RVT_ETRACE_DONE;
	return 0;
}

void rvt_etrace_slice_advance(struct rvt_etrace_slice *slice, struct rvt_etrace_decoder *dec,
			     const struct rvt_etrace_msg *msg)
{
	if (msg->offset < slice->to || !dec->started || !divides(dec, msg))
		return;
	slice->ended = true;
	dec->left = !rvt_flow_leave(dec->flow, msg->offset);
	if (dec->left)
		return;
	dec->progress = RVT_ETRACE_DONE;
	slice->n_active--;
	rvt_etrace_decoder_abandon(dec);
}

bool rvt_etrace_slice_carries(const struct rvt_etrace_codec *codec,
			     const struct rvt_etrace_codec *initial)
{
	const struct rvt_params *p = &codec->params;
	unsigned int time_bits = p->timestamp_bytes ? 8 * p->timestamp_bytes : p->time_width_p;

	return memcmp(p, &initial->params, sizeof(*p)) || codec->resync_disabled ||
	       codec->iret_ext != initial->iret_ext ||
	       p->options & RVT_OPT_JUMP_TARGET_CACHE ||
	       (p->options & RVT_OPT_IMPLICIT_EXCEPTION && !p->vectors.base_valid) ||
	       (time_bits < 64 && (p->timestamp_bytes || !p->notime_p));
}
