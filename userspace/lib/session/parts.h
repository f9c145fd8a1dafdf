/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside this project: a recording in parts, to go back in it. Each part is decoded on its own,
 * from a synchronisation on, as often as it is asked for, and delivers what it delivers when all of
 * the recording is decoded. One thread at a time calls for a session and its parts.
 */
#ifndef SESSION_PARTS_H
#define SESSION_PARTS_H

#include <rvtrace/session.h>

struct rvt_parts;

struct rvt_parts_ops {
	void *ctx;
	/*
	 * What comes is of part @part, which is of @buffer; it is of no other part. What was told
	 * of this one and of those behind it is void: it was decoded together with the one before,
	 * because that carries more over its end than a synchronisation tells; or, if it is part 0,
	 * the recording is another one than its index says. Negative: ends it.
	 */
	int (*begin)(void *ctx, size_t part, unsigned int buffer);
};

/*
 * rvt_parts_create - cuts the recording into parts of about @bytes of trace (or
 * options.slice_bytes), and decodes all of them once, in order, to see that they fit together: all
 * of it, or what rvt_index_choose() chose. A buffer that several harts share is one part. @sink,
 * without .aux, gets what they deliver, and .end for each hart flow at the end of each part.
 * options.count and .clock must not be set, and options.jobs not be 0. Statistics of the session
 * are those of this run. 0, what a call-back returned, or -errno.
 */
int rvt_parts_create(struct rvt_session *session, uint64_t bytes,
		     const struct rvt_session_sink *sink, const struct rvt_parts_ops *ops,
		     struct rvt_parts **parts);
/* Before the session is closed. @parts may be NULL. */
void rvt_parts_destroy(struct rvt_parts *parts);
/*
 * rvt_parts_decode - decodes part @part again. Spaces that call-backs saw are empty afterwards, but
 * for the kernel's; blocks stay. 0, what a call-back returned, -EINVAL (there is no such part), or
 * -errno.
 */
int rvt_parts_decode(struct rvt_parts *parts, size_t part, const struct rvt_session_sink *sink);
/*
 * rvt_parts_space - what addresses mean to thread @tid at @time (perf's clock, ns). Valid until the
 * next call but one of this, and the next of rvt_parts_decode(). NULL: it is no recording, or out
 * of memory.
 */
struct rvt_space *rvt_parts_space(struct rvt_parts *parts, int32_t tid, uint64_t time);

#endif
