// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reads what the trace's PMU says of the hardware, and what the event asks of it. */
#include <stdlib.h>
#include <string.h>
#include "common/text.h"
#include "record/record.h"

#define FORMAT_ETRACE 1	/* trTeFormat + 1 */

uint64_t record_term(const struct recorder *rec, const char *name)
{
	return pmu_value(&rec->pmu, name, &rec->trace_attr);
}

bool record_is_feature(const char *term)
{
	return has_word("branch_prediction jump_target_cache implicit_return sequential_jump "
			"repeated_history all_jumps extend_address_msb full_address "
			"implicit_exception context timestamp stall trigger", term);
}

char *record_caps(const char *file)
{
	return read_text("/sys/bus/event_source/devices/" RECORD_PMU "/caps/%s", file);
}

bool record_caps_have(const char *file, const char *word)
{
	char *text = record_caps(file);
	bool has = has_word(text, word);

	free(text);
	return has;
}

bool record_has_scontext(void)
{
	return !record_caps_have("scontext", "0");
}

unsigned int record_hcontext_bits(void)
{
	char *bits = record_caps("hcontext_bits");
	unsigned int n = bits ? strtoul(bits, NULL, 10) : 0;

	free(bits);
	return n;
}

bool record_wants_ntrace(const struct recorder *rec)
{
	struct perf_event_attr attr = { 0 };
	bool modified;
	char *error;

	/* errors are reported later */
	if (pmu_parse_event(&rec->pmu, rec->pmu_name, rec->options.event, &attr, &modified, &error))
		free(error);
	/* if an encoder has both formats, the driver takes N-Trace by default */
	return record_caps_have("formats", "ntrace") &&
		pmu_value(&rec->pmu, "format", &attr) != FORMAT_ETRACE;
}
