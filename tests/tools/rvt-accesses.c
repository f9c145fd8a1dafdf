// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-accesses: data trace for tests of the command. Writes OUT.code, a loop from 0x1000 on, and
 * OUT, the E-Trace of its N accesses with the parameters of the file PARAMS. Prints what of the
 * accesses can be known, as `decode --print data` does, without the time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../unit/random-accesses.h"

static int write_file(const char *path, const void *bytes, size_t len)
{
	FILE *out = fopen(path, "w");
	int ret = !out || fwrite(bytes, 1, len, out) != len;

	if (out && fclose(out))
		ret = 1;
	if (ret)
		perror(path);
	return ret;
}

static void print_number(bool valid, uint64_t number)
{
	if (valid)
		printf(" %" PRIx64, number);
	else
		fputs(" -", stdout);
}

static void print(const struct rvt_access *a)
{
	static const char *const kinds[] = { "load", "store", "atomic", "csr" };
	static const char *const operations[] = {
		"", "swap", "add", "and", "or", "xor", "max", "min", "sc-failure", "cas-failure",
		"write", "set", "clear",
	};

	printf("%s %u", kinds[a->kind], a->bytes);
	print_number(a->address_valid, a->address);
	print_number(a->value_valid, a->value);
	if (a->operation) {
		printf(" %s", operations[a->operation]);
		print_number(a->operand_valid, a->operand);
	}
	puts(a->multiple ? " multiple" : "");
}

int main(int argc, char **argv)
{
	struct rvt_params params = { .size = sizeof(params) };
	struct accesses_trace trace;
	char *error, path[4096];

	if (argc != 5) {
		fputs("usage: rvt-accesses PARAMS OUT N SEED\n", stderr);
		return 2;
	}
	if (rvt_params_load(&params, argv[1], &error)) {
		fprintf(stderr, "%s\n", error);
		return 2;
	}
	accesses_make(&params, strtoull(argv[4], NULL, 0), strtoull(argv[3], NULL, 0), &trace);
	snprintf(path, sizeof(path), "%s.code", argv[2]);
	if (write_file(argv[2], trace.bytes, trace.len) ||
	    write_file(path, accesses_code, sizeof(accesses_code)))
		return 2;
	for (size_t i = 0; i < trace.n_told; i++)
		print(&trace.told[i]);
	free(trace.bytes);
	free(trace.told);
	return 0;
}
