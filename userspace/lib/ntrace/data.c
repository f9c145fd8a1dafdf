// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Data messages, as CTTE has them from IEEE-ISTO 5001-2012. */
#include <ntrace/message.h>

static uint64_t low_bits(uint64_t value, unsigned int bits)
{
	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

void rvt_ntrace_data_access(struct rvt_ntrace_data *data, const struct rvt_params *params,
			    const struct rvt_ntrace_msg *msg, struct rvt_access *access)
{
	const uint64_t tcode = msg->field[RVT_NTRACE_F_TCODE], dsz = msg->field[RVT_NTRACE_F_DSZ];
	const bool full = !data->xor || tcode == RVT_NTRACE_DATA_WRITE_SYNC ||
			  tcode == RVT_NTRACE_DATA_READ_SYNC;
	const bool store = tcode == RVT_NTRACE_DATA_WRITE || tcode == RVT_NTRACE_DATA_WRITE_SYNC;

	data->valid |= full;
	data->address = low_bits((full ? 0 : data->address) ^ msg->field[RVT_NTRACE_F_ADDR],
				 params->xlen);
	*access = (struct rvt_access){
		.size = sizeof(*access), .kind = store ? RVT_ACCESS_STORE : RVT_ACCESS_LOAD,
		/* 3 is a string's; other numbers are reserved */
		.bytes = dsz <= 8 ? dsz : 0, .offset = msg->offset,
		.address_valid = data->valid, .address = data->address,
		.value_valid = dsz && dsz <= 8,
		.value = low_bits(msg->field[RVT_NTRACE_F_DATA], 8 * dsz),
	};
}
