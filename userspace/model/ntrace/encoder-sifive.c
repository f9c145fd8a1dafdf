// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What SiFive's encoders before 1.0 send beside the flow. */
#include <errno.h>

#include "model/ntrace/encoder.h"

/* Before the first sync an address would be relative to nothing. */
static bool can_send(const struct rvt_ntrace_encoder *enc)
{
	return rvt_ntrace_encoder_is_sifive(enc) && enc->state == RVT_NTRACE_RUNNING;
}

int rvt_ntrace_encoder_circuit(struct rvt_ntrace_encoder *enc, enum rvt_ntrace_cksrc cksrc,
			       uint64_t pc, const uint64_t *value)
{
	struct rvt_ntrace_msg msg;

	if (!can_send(enc) || (cksrc == RVT_NTRACE_CK_CONTROL && !value))
		return -EINVAL;
	pc &= enc->addr_mask;
	rvt_ntrace_begin(&msg, RVT_NTRACE_IN_CIRCUIT_TRACE);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_CKSRC, cksrc);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_CKDF, !!value);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_CKDATA0, (pc ^ enc->ref) >> 1);
	if (value)
		rvt_ntrace_set(&msg, RVT_NTRACE_F_CKDATA1, cksrc == RVT_NTRACE_CK_CALL ?
			       ((*value & enc->addr_mask) ^ pc) >> 1 : *value);
	if (!rvt_ntrace_send(enc, &msg))
		return 0;
	enc->ref = cksrc == RVT_NTRACE_CK_CALL && value ? *value & enc->addr_mask : pc;
	return 0;
}

int rvt_ntrace_encoder_data(struct rvt_ntrace_encoder *enc, uint64_t idtag, uint64_t data)
{
	struct rvt_ntrace_msg msg;

	if (!can_send(enc))
		return -EINVAL;
	rvt_ntrace_begin(&msg, RVT_NTRACE_DATA_ACQUISITION);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_IDTAG, idtag);
	rvt_ntrace_set(&msg, RVT_NTRACE_F_DQDATA, data);
	rvt_ntrace_send(enc, &msg);
	return 0;
}
