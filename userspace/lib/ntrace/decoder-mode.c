// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * N-Trace decoder: which mode (BTM or HTM) a source has, when no parameter says so (`mode = auto`).
 */
#include "ntrace/decoder-state.h"

/* So many messages are looked at to find out the mode. */
#define MODE_AHEAD 4096

/* Tracing begins: the encoder may have another mode than before. */
static bool may_change_mode(const struct rvt_ntrace_msg *msg)
{
	uint64_t sync = msg->field[RVT_NTRACE_F_SYNC];

	return rvt_ntrace_is_sync(msg) && (sync == RVT_NTRACE_SYNC_DEBUG_EXIT ||
					   sync == RVT_NTRACE_SYNC_TRACE_ENABLE);
}

/*
 * A message that only @mode has. Until one comes after tracing was enabled nothing is settled; what
 * can be in either mode is read as HTM.
 */
static bool mode_fits(struct rvt_ntrace_source *s, enum rvt_mode mode)
{
	if (!s->mode_settled)
		s->mode = mode;
	s->mode_settled = true;
	return s->mode == mode;
}

/* Which mode has @msg; AUTO: both. */
static enum rvt_mode mode_of(const struct rvt_ntrace_decoder *d, const struct rvt_ntrace_msg *msg)
{
	switch (msg->field[RVT_NTRACE_F_TCODE]) {
	case RVT_NTRACE_DIRECT_BRANCH:
		return RVT_MODE_BTM;
	case RVT_NTRACE_DIRECT_BRANCH_SYNC:
		return d->params.dialect == RVT_DIALECT_NTRACE_CTTE ? RVT_MODE_AUTO : RVT_MODE_BTM;
	case RVT_NTRACE_BRANCH_PREDICTION:
		return RVT_MODE_HTM;
	case RVT_NTRACE_RESOURCE_FULL:
		return msg->field[RVT_NTRACE_F_RCODE] ? RVT_MODE_HTM : RVT_MODE_AUTO;
	default:
		return rvt_ntrace_has(msg, RVT_NTRACE_F_HIST) ? RVT_MODE_HTM : RVT_MODE_AUTO;
	}
}

enum rvt_mode rvt_ntrace_mode_ahead(const struct rvt_ntrace_decoder *d,
				    const struct rvt_ntrace_source *s, unsigned int src)
{
	struct rvt_ntrace_reader ahead = d->reader;
	enum rvt_ntrace_read read = RVT_NTRACE_READ_MESSAGE;
	enum rvt_mode mode = RVT_MODE_AUTO;
	struct rvt_ntrace_msg msg;

	for (unsigned int n = 0; n < MODE_AHEAD && read != RVT_NTRACE_READ_MORE; n++) {
		read = rvt_ntrace_reader_next(&ahead, &msg);
		if (read != RVT_NTRACE_READ_MESSAGE ||
		    rvt_ntrace_kind(d->params.dialect, msg.field[RVT_NTRACE_F_TCODE]) !=
		    RVT_NTRACE_STANDARD ||
		    (d->params.src_bits && msg.field[RVT_NTRACE_F_SRC] != src))
			continue;
		if (may_change_mode(&msg))
			break;
		mode = mode_of(d, &msg);
		if (mode != RVT_MODE_AUTO)
			return mode;
	}
	return s->mode_before;
}

bool rvt_ntrace_sync_fits(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			  const struct rvt_ntrace_msg *msg)
{
	if (d->params.mode == RVT_MODE_AUTO && may_change_mode(msg)) {
		s->mode_settled = false;
		if (s->mode != RVT_MODE_AUTO)
			s->mode_before = s->mode;
		/* else what is reported here is of the time before */
		if (!s->flowing)
			s->mode = RVT_MODE_AUTO;
	}
	/* CTTE sends it in either mode. */
	if (msg->field[RVT_NTRACE_F_TCODE] == RVT_NTRACE_DIRECT_BRANCH_SYNC)
		return s->ctte || mode_fits(s, RVT_MODE_BTM);
	return !rvt_ntrace_has(msg, RVT_NTRACE_F_HIST) || mode_fits(s, RVT_MODE_HTM);
}

void rvt_ntrace_wrong_mode(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			   const struct rvt_ntrace_msg *msg)
{
	d->stream.stats.errors++;
	rvt_ntrace_lose(d, s, msg->offset, RVT_REASON_BAD_PACKET, true,
			"a message of %s in %s mode",
			s->mode == RVT_MODE_BTM ? "HTM" : "BTM",
			s->mode == RVT_MODE_BTM ? "BTM" : "HTM");
}

bool rvt_ntrace_settle_mode(struct rvt_ntrace_decoder *d, struct rvt_ntrace_source *s,
			    const struct rvt_ntrace_msg *msg, enum rvt_mode mode)
{
	if (mode_fits(s, mode))
		return true;
	rvt_ntrace_wrong_mode(d, s, msg);
	return false;
}
