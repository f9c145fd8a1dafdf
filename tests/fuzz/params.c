// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decoder parameters as text: what was read and written again is read as the same. */
#include <rvtrace/params.h>
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rvt_params params, again;
	char *error = NULL, *text = NULL, *second = NULL;

	rvt_params_init(&params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	if (rvt_params_parse(&params, "input", (const char *)data, size, &error)) {
		if (!error)
			broken("no message");
		free(error);
		return 0;
	}
	rvt_params_init(&again, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	if (rvt_params_print(&params, &text))
		return 0;
	if (rvt_params_parse(&again, "again", text, strlen(text), &error))
		broken("what was printed is refused: %s", error);
	if (rvt_params_print(&again, &second) || strcmp(text, second))
		broken("printed again it is another text:\n%s\n%s", text, second);
	free(text);
	free(second);
	return 0;
}
