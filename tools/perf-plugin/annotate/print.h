/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Prints code with its counts, as text and as JSON. */
#ifndef PERF_RVTRACE_ANNOTATE_PRINT_H
#define PERF_RVTRACE_ANNOTATE_PRINT_H

#include "annotate/annotate.h"
#include "common/disasm.h"
#include "common/srcline.h"

struct listing {
	const struct code *code;
	struct disasm *disasm;		/* NULL: code is shown in hexadecimal */
	struct srclines *srclines;
	struct sources *sources;
};

void print_code_head(const struct code *code);
void print_code_function(const struct listing *listing, const struct code_function *function);
void json_code_function(const struct listing *listing, const struct code_function *function);

#endif
