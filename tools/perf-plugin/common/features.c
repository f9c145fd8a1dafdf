// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "common/features.h"

static const struct {
	unsigned int bit;
	const char *missing;	/* what to write if a text is missing; NULL: nothing */
} features[] = {
	{ RVT_FEAT_TRACING_DATA, NULL },
	{ RVT_FEAT_BUILD_ID, NULL },
	{ RVT_FEAT_HOSTNAME, "unknown" },
	{ RVT_FEAT_OSRELEASE, "unknown" },
	{ RVT_FEAT_VERSION, "unknown" },
	{ RVT_FEAT_ARCH, "riscv64" },
	{ RVT_FEAT_NRCPUS, NULL },
	{ RVT_FEAT_CPUDESC, "unknown" },
	{ RVT_FEAT_CPUID, "unknown" },
	{ RVT_FEAT_TOTAL_MEM, NULL },
	{ RVT_FEAT_CMDLINE, NULL },
	{ RVT_FEAT_SAMPLE_TIME, NULL },
};

int features_copy(const struct rvt_perfdata *in, struct rvt_perfdata_writer *out, bool arch)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(features) / sizeof(*features) && !err; i++) {
		const void *data;
		size_t len;

		if (features[i].bit == RVT_FEAT_ARCH && !arch)
			continue;
		if (!rvt_perfdata_feature(in, features[i].bit, &data, &len))
			err = rvt_perfdata_add_feature(out, features[i].bit, data, len);
		else if (features[i].missing)
			err = rvt_perfdata_add_string(out, features[i].bit, features[i].missing);
	}
	return err;
}
