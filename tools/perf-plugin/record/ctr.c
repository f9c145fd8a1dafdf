// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What `perf rvtrace record` does differently for Control Transfer Records. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/ctr.h"
#include "record/record.h"

#define CAPS "/sys/bus/event_source/devices/" RECORD_CTR_PMU "/caps/"
#define DEFAULT_FREQUENCY 1000

bool record_is_ctr(const char *event)
{
	size_t len = strlen(RECORD_CTR_PMU);

	return !strncmp(event, RECORD_CTR_PMU, len) && (!event[len] || strchr("/:", event[len]));
}

/* Switches on terms that cost nothing, unless the event says otherwise. */
void record_ctr_defaults(struct recorder *rec)
{
	static const char *const defaults[] = { "cycles", "mispredict" };

	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++) {
		char *has = read_text(CAPS "%s", defaults[i]);

		if (has && atoi(has))
			pmu_switch_on(&rec->pmu, defaults[i], &rec->trace_attr);
		free(has);
	}
}

/*
 * Returns a frequency that the kernel takes. It lowers its limit when its handlers take long, and
 * refuses what is above.
 */
static uint64_t allowed_frequency(uint64_t wanted)
{
	char *text = read_text("/proc/sys/kernel/perf_event_max_sample_rate");
	uint64_t limit = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	if (!limit || wanted <= limit)
		return wanted;
	cmd_warning("%llu samples a second: kernel.perf_event_max_sample_rate allows no more",
		    (unsigned long long)limit);
	return limit;
}

int record_ctr_period(struct recorder *rec)
{
	const struct record_options *options = &rec->options;

	if (!rec->ctr && !rec->options.extra.n && (options->period || options->frequency))
		return cmd_error(-EINVAL, "-c and -F are for samples of " RECORD_CTR_PMU
				 " and of other events (-e): a trace is not sampled, it has every "
				 "branch");
	if (options->period && options->frequency)
		return cmd_error(-EINVAL, "-c and -F do not go together");
	if (!rec->ctr)
		return 0;
	if (options->period) {
		rec->trace_attr.sample_period = options->period;
	} else {
		rec->trace_attr.freq = 1;
		rec->trace_attr.sample_freq = allowed_frequency(options->frequency ?
								options->frequency :
								DEFAULT_FREQUENCY);
	}
	return 0;
}

char *record_ctr_metadata(const struct recorder *rec)
{
	static const char *const caps[] = { "version", "depths", "options", "cycles",
					    "cycle_exponent_bits", "mispredict", "types" };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fprintf(out, "rvtrace 1\npmu_type = %u\nevent = %s\ntarget = %s\n\n[ctr]\n", rec->pmu.type,
		rec->options.event, rec->target == TARGET_SYSTEM ? "system" : "task");
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++) {
		char *value = read_text(CAPS "%s", caps[i]);

		if (value)
			fprintf(out, "%s = %s\n", caps[i], value);
		free(value);
	}
	fclose(out);
	return text;
}
