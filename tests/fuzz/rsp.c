// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Packets from a debugger: whatever comes, what is taken for a packet fits, and what the server
 * puts into a packet it would read from one.
 */
#include "fuzz.h"
#include "gdb/rsp.c"

static void check_frame(const struct rsp_reader *taken)
{
	static struct rsp_reader again;
	static char frame[2 * RSP_MAX + 4];
	size_t n = rsp_frame(taken->data, taken->len, frame);
	enum rsp_result result = RSP_NOTHING;

	again.in_packet = false;
	for (size_t i = 0; i < n; i++)
		result = rsp_take(&again, frame[i]);
	if (result != RSP_PACKET || again.len != taken->len ||
	    memcmp(again.data, taken->data, taken->len))
		broken("a packet of %zu bytes is read as another", taken->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rsp_reader reader;

	memset(&reader, 0, sizeof(reader));
	for (size_t i = 0; i < size; i++) {
		enum rsp_result result = rsp_take(&reader, data[i]);

		if (reader.len > RSP_MAX)
			broken("%zu bytes", reader.len);
		if (result == RSP_PACKET)
			check_frame(&reader);
	}
	return 0;
}
