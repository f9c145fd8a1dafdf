// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Samples of Control Transfer Records in AUX data; entries that are written again stay the same. */
#include <rvtrace/ctr.h>
#include "fuzz.h"

#define MAX_ENTRIES 1024

static void read_sample(const struct rvt_ctr_sample *sample)
{
	static struct rvt_ctr_entry entries[MAX_ENTRIES];
	static uint8_t bytes[1 << 16];
	unsigned int n = 0;

	for (; n < sample->n && n < MAX_ENTRIES; n++) {
		struct perf_branch_entry branch;

		if (rvt_ctr_get(sample, n, &entries[n]))
			broken("entry %u of %u cannot be read", n, sample->n);
		rvt_ctr_branch(&entries[n], n & 1, &branch);
		rvt_ctr_type_name(entries[n].type);
	}
	if (n == sample->n)
		rvt_ctr_put(sample, entries, bytes, sizeof(bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rvt_ctr_sample sample;
	size_t pos = 0, before = 0;
	int ret;

	while ((ret = rvt_ctr_next(data, size, &pos, &sample))) {
		if (pos <= before || pos > size)
			broken("from %zu to %zu of %zu", before, pos, size);
		before = pos;
		if (ret > 0)
			read_sample(&sample);
	}
	return 0;
}
