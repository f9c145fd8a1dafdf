/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside this project: what the commands want of a session, and the library does not export. One
 * thread at a time calls for a session.
 */
#ifndef SESSION_ACCESS_H
#define SESSION_ACCESS_H

#include <rvtrace/perfdata.h>
#include <rvtrace/session.h>
#include <rvtrace/sideband.h>
#include "session/slices.h"
#include "sideband/threads.h"

/* NULL: it is no recording. */
struct rvt_perfdata *rvt_session_file(const struct rvt_session *session);

/* All statistics of a session. */
struct rvt_session_totals {
	struct rvt_session_stats session;
	struct rvt_stream_stats stream;
	struct rvt_flow_stats flow;
};

void rvt_session_totals(const struct rvt_session *session, struct rvt_session_totals *totals);
/*
 * rvt_session_take_share - from now on only the @share-th of @shares (from 0 on) is decoded: of the
 * buffers those that belong to it, so that all shares are about the same size. With options.by_cpu
 * or .count all shares together deliver what the whole delivers. 0 or -ENOMEM.
 */
int rvt_session_take_share(struct rvt_session *session, unsigned int share, unsigned int shares);
/* Conversion of time stamps; NULL when the recording has none. */
const struct rvt_record_time_conv *rvt_session_time_conv(const struct rvt_session *session);

/*
 * rvt_session_threaded - which processes of a recording have several threads, as
 * rvt_sideband_threaded() says.
 */
int rvt_session_threaded(const struct rvt_session *session, struct rvt_threaded *threaded);

/*
 * A recording that is still being made. The file has all of it but AUX data and what happens from
 * now on (an empty PERF_RECORD_AUXTRACE for each AUX buffer), and the kernel's code is that of now.
 * options.by_cpu and .jobs mean nothing: hart flows are independent of each other, as with .by_cpu.
 * Code that JIT compilers make is not known.
 *
 * rvt_session_begin - @sink is called by what follows, until the end. 0 or -errno.
 * rvt_session_feed - more of the data section, whole records: sideband as the kernel writes it,
 * AUXTRACE records with their bytes (of each buffer in order), and after each time that all rings
 * were looked at PERF_RECORD_FINISHED_ROUND. Trace is decoded when sideband is complete up to its
 * AUX record's time, at the end of a later round. What was decoded is not kept, nor sideband that
 * no hart flow needs any more: memory grows with the code that runs, not with the trace. Returns 0,
 * what a call-back returned, -EBADMSG (these are no records), -ENOMEM.
 * rvt_session_end - the rest. As rvt_session_run() returns; statistics are final then.
 */
int rvt_session_begin(struct rvt_session *session, const struct rvt_session_sink *sink);
int rvt_session_feed(struct rvt_session *session, const void *bytes, size_t len);
int rvt_session_end(struct rvt_session *session);

/* ---- Control Transfer Records (rvtrace/ctr.h) instead of a trace ---- */

struct rvt_ctr_sample;

struct rvt_session_ctr_sink {
	size_t size;		/* sizeof(struct rvt_session_ctr_sink): the struct may grow */
	void *ctx;
	/* @task was running; its .space is what addresses meant. Negative: ends the run. */
	int (*sample)(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task);
	/* What is damaged: a sentence. May be NULL. */
	void (*warning)(void *ctx, const char *text);
};

/*
 * Every sample, in the order of time; one that a buffer has more than 64 KiB behind younger ones
 * comes late. Memory does not grow with the samples. Returns 0, what a call-back returned, or
 * -ENOMEM.
 */
int rvt_session_run_ctr(struct rvt_session *session, const struct rvt_session_ctr_sink *sink);

#endif
