/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Streams and dumps of what comes in CoreSight frames: between the sink and the decoders of the
 * sources, of which there is one for each id. Internal to librvtrace.
 */
#ifndef RVTRACE_CORESIGHT_H
#define RVTRACE_CORESIGHT_H

#include "dump-ops.h"
#include "stream-ops.h"

/*
 * rvt_coresight_stream_create - as rvt_stream_create(), with parameters that say
 * RVT_FRAMING_CORESIGHT. @create makes the stream of one id: as rvt_stream_create(), with
 * parameters that say RVT_FRAMING_NONE.
 *
 * Sources of different ids are told one after the other, for some frames at a time: offsets of
 * events are those in the recording. It is not cut into slices. rvt_stream_feed_part() ends behind
 * the frame in which rvt_stream_pause() was called.
 */
int rvt_coresight_stream_create(const struct rvt_params *params, const struct rvt_stream_ops *ops,
				int (*create)(const struct rvt_params *params,
					      const struct rvt_stream_ops *ops,
					      struct rvt_stream **stream),
				struct rvt_stream **stream);
/* As rvt_dump_create(). */
int rvt_coresight_dump_create(const struct rvt_params *params, unsigned int flags, FILE *out,
			      int (*create)(const struct rvt_params *params, unsigned int flags,
					    FILE *out, struct rvt_dump **dump),
			      struct rvt_dump **dump);

extern const struct rvt_protocol_ops rvt_coresight_protocol;	/* all but .create */
extern const struct rvt_dump_ops rvt_coresight_dump;		/* all but .create */

#endif
