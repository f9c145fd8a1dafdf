// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* replay FILE...: a fuzz target without a fuzzer is given each of these inputs. */
#include "fuzz.h"

#pragma weak LLVMFuzzerInitialize

static void replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	size_t len = 0, room = 0, n;

	if (!file)
		broken("%s: cannot be opened", path);
	do {
		room += 65536;
		bytes = realloc(bytes, room);
		if (!bytes)
			broken("no memory");
		n = fread(bytes + len, 1, room - len, file);
		len += n;
	} while (n);
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, len);
	free(bytes);
}

int main(int argc, char **argv)
{
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	return 0;
}
