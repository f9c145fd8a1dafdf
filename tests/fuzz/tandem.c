// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A tandem trace, read by records and by groups; the first byte chooses XLEN. */
#include <rvtrace/tandem.h>
#include "fuzz.h"

static void read_records(const struct rvt_tandem_params *params, const struct input *in)
{
	struct rvt_tandem_reader *reader;
	struct rvt_tandem_record record;

	if (rvt_tandem_open_memory(in->bytes, in->len, params, &reader))
		return;
	while (rvt_tandem_next(reader, &record) > 0) {
		uint8_t bytes[RVT_TANDEM_MAX_RECORD];

		rvt_tandem_print(fuzz_null(), params, &record);
		if (record.offset + record.len_bytes > in->len)
			broken("a record ends behind the trace");
		rvt_tandem_encode(params, &record, bytes);
	}
	rvt_tandem_close(reader);
}

static void read_groups(const struct rvt_tandem_params *params, const struct input *in)
{
	struct rvt_tandem_reader *reader;
	struct rvt_tandem_shadow *shadow = malloc(sizeof(*shadow));
	struct rvt_tandem_group group;

	if (!shadow || rvt_tandem_shadow_init(shadow, params))
		return;
	if (!rvt_tandem_open_memory(in->bytes, in->len, params, &reader)) {
		while (rvt_tandem_next_group(reader, &group) > 0)
			rvt_tandem_shadow_apply(shadow, &group);
		rvt_tandem_close(reader);
	}
	rvt_tandem_shadow_fini(shadow);
	free(shadow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct rvt_tandem_params params;

	rvt_tandem_params_init(&params, take_number(&in, 1) & 1 ? 32 : 64);
	read_records(&params, &in);
	read_groups(&params, &in);
	return 0;
}
