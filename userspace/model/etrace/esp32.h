/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Packets as the encoder of ESP32-C6 writes them: lib/esp32/packets.h. */
#ifndef RVTRACE_MODEL_ETRACE_ESP32_H
#define RVTRACE_MODEL_ETRACE_ESP32_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include "esp32/packets.h"

/*
 * @bytes, a packet of the standard encapsulation without srcID, of @len, becomes packet number
 * @index. There is room for two bytes more. Returns its length, or -E2BIG.
 */
static inline int rvt_esp32_wrap(uint8_t *bytes, unsigned int len, uint16_t index)
{
	const unsigned int whole = len + RVT_ESP32_HEADER_BYTES - 1;

	if (whole > RVT_ESP32_MAX_BYTES)
		return -E2BIG;
	memmove(bytes + RVT_ESP32_HEADER_BYTES, bytes + 1, len - 1);
	bytes[0] = whole;
	bytes[1] = index;
	bytes[2] = index >> 8;
	return whole;
}

#endif
