/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Messages of protobuf-c into a file. */
#ifndef PERF_RVTRACE_PROFILE_PROTOBUF_H
#define PERF_RVTRACE_PROFILE_PROTOBUF_H

#include <errno.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

struct protobuf_file {
	ProtobufCBuffer base;	/* first */
	FILE *out;
};

static inline void protobuf_append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	fwrite(data, len, 1, ((struct protobuf_file *)buffer)->out);
}

/*
 * Writes a message. Concatenated messages of one type are one message, which has the repeated
 * fields of all. Returns 0 or -EIO.
 */
static inline int protobuf_put(const ProtobufCMessage *message, FILE *out)
{
	struct protobuf_file file = { { protobuf_append }, out };

	protobuf_c_message_pack_to_buffer(message, &file.base);
	return ferror(out) ? -EIO : 0;
}

#endif
