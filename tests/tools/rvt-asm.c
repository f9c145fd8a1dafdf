// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-asm: message or packet directives on standard input to bytes on standard output. The
 * directives are those of userspace/model/ntrace/assemble.h or userspace/model/etrace/assemble.h,
 * as the protocol of the parameters (those of a decoder) says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/etrace/assemble.h"
#include "model/ntrace/assemble.h"

#define MAX_BYTES 65536

/* As rvt_ntrace_assemble(). */
static int assemble_line(struct rvt_params *params, const char *line, uint8_t *bytes, char *error,
			 size_t error_size)
{
	if (params->protocol == RVT_PROTOCOL_ETRACE)
		return rvt_etrace_assemble(params, line, bytes, MAX_BYTES, error, error_size);
	return rvt_ntrace_assemble(params, line, bytes, MAX_BYTES, error, error_size);
}

static int assemble(struct rvt_params *params)
{
	static uint8_t bytes[MAX_BYTES];
	char error[200], *line = NULL;
	unsigned int line_no = 0;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		int len;

		line_no++;
		snprintf(error, sizeof(error), "more than %d bytes", MAX_BYTES);
		len = assemble_line(params, line, bytes, error, sizeof(error));
		if (len < 0) {
			fprintf(stderr, "rvt-asm: line %u: %s\n", line_no, error);
			free(line);
			return 2;
		}
		fwrite(bytes, 1, len, stdout);
	}
	free(line);
	return fflush(stdout) ? 2 : 0;
}

int main(int argc, char **argv)
{
	struct rvt_params params;
	char *error = NULL;

	if (argc != 2 || *argv[1] == '-') {
		fputs("usage: rvt-asm PARAMS < DIRECTIVES > BYTES\n", stderr);
		return 2;
	}
	rvt_params_init(&params, RVT_PROTOCOL_NTRACE, RVT_DIALECT_NTRACE_1_0);
	if (rvt_params_load(&params, argv[1], &error)) {
		fprintf(stderr, "rvt-asm: %s\n", error ? error : argv[1]);
		free(error);
		return 2;
	}
	return assemble(&params);
}
