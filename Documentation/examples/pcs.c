// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The addresses of the instructions in a bare dump of a trace sink:
 *   cc -o pcs pcs.c $(pkg-config --cflags --libs librvtrace) && ./pcs PARAMS ELF DUMP
 */
#include <inttypes.h>
#include <stdio.h>
#include <rvtrace/session.h>

static int print(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < runs[i].count; k++)
			printf("%" PRIx64 "\n", rvt_run_insn_address(&runs[i], k));
	return (void)ctx, (void)hart, 0;
}

int main(int argc, char **argv)
{
	struct rvt_dump_image elf = { sizeof(elf), .path = argc == 4 ? argv[2] : "" };
	struct rvt_session_dump dump = {
		.size = sizeof(dump), .path = argv[argc - 1], .images = &elf, .n_images = 1 };
	struct rvt_session_options options = { .size = sizeof(options), .params = argv[1] };
	struct rvt_session_sink sink = { .size = sizeof(sink), .runs = print };
	struct rvt_session *session;
	char *error;

	if (rvt_session_open_dump(&dump, &options, &session, &error))
		return fprintf(stderr, "%s\n", error), 2;
	return rvt_session_run(session, &sink) != 0;
}
