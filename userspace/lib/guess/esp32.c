// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What an ESP32 wrote, as packets of the standard encapsulation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "esp32/packets.h"
#include "guess/guess.h"

int rvt_guess_unpack(const uint8_t *bytes, size_t len, uint8_t **out, size_t *out_len,
		     size_t *skipped)
{
	struct rvt_esp32_packets packets;
	enum rvt_esp32_read read;
	int ret;

	*out_len = *skipped = 0;
	*out = malloc(len + 1);
	if (!*out)
		return -ENOMEM;
	rvt_esp32_packets_init(&packets);
	ret = rvt_esp32_packets_feed(&packets, bytes, len, 0);
	while (!ret && (read = rvt_esp32_packets_next(&packets)) != RVT_ESP32_READ_MORE) {
		if (read != RVT_ESP32_READ_DATA)
			continue;
		memcpy(*out + *out_len, packets.bytes, packets.len);
		*out_len += packets.len;
	}
	*skipped = packets.skipped_bytes;
	rvt_esp32_packets_fini(&packets);
	return ret;
}
