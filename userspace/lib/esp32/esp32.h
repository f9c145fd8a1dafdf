/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Streams and dumps of E-Trace as ESP32-C6 and H2 write it. Internal to librvtrace. */
#ifndef RVTRACE_ESP32_H
#define RVTRACE_ESP32_H

#include "dump-ops.h"
#include "stream-ops.h"

/* What a loss that the index tells is called. */
#define RVT_ESP32_MISSING "packets are missing, says their index"
#define RVT_ESP32_NO_PACKET "no packet begins here"

/*
 * rvt_esp32_stream_create - as rvt_stream_create(), with parameters that say RVT_FRAMING_ESP32.
 * @create makes the stream of the packets: as rvt_stream_create(), with RVT_FRAMING_NONE. It is not
 * cut into slices, and does not pause: no packet has a time.
 */
int rvt_esp32_stream_create(const struct rvt_params *params, const struct rvt_stream_ops *ops,
			    int (*create)(const struct rvt_params *params,
					  const struct rvt_stream_ops *ops,
					  struct rvt_stream **stream),
			    struct rvt_stream **stream);
/* As rvt_dump_create(). */
int rvt_esp32_dump_create(const struct rvt_params *params, unsigned int flags, FILE *out,
			  int (*create)(const struct rvt_params *params, unsigned int flags,
					FILE *out, struct rvt_dump **dump),
			  struct rvt_dump **dump);

extern const struct rvt_protocol_ops rvt_esp32_protocol;	/* all but .create */
extern const struct rvt_dump_ops rvt_esp32_dump;		/* all but .create */

#endif
