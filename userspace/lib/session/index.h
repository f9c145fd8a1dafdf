/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside this project: an index beside a recording, so that a view decodes only the segments that
 * have what it wants. A segment is a slice of a buffer that was seen to fit to those before and
 * behind it (slice.h). The index knows when it was, who ran, in which pieces of code, and all that
 * is counted of it, so that what is told of losses is the same as if it had been decoded.
 * The file: index-file.c. One thread at a time calls for a session and its index.
 */
#ifndef SESSION_INDEX_H
#define SESSION_INDEX_H

#include <rvtrace/session.h>
#include "session/slices.h"

struct rvt_index;

struct rvt_index_task {
	int32_t pid, tid;
	const char *comm;
};

/* A range of code of one size: something of it was executed, or was the target of a transfer. */
struct rvt_index_granule {
	const char *path;	/* as rvt_location.path; NULL: nothing is mapped there */
	uint64_t file_offset, addr, map_start;	/* of its first byte; one of the addresses it had */
};

struct rvt_index_segment {
	int32_t cpu;
	bool any_cpu;		/* .cpu is one of several */
	/* of what is told, by options.clock; nothing: latest is less */
	uint64_t earliest, latest;
	const uint32_t *tasks, *granules;	/* numbers */
	size_t n_tasks, n_granules;
	uint64_t lost, no_code;	/* LOST events, and those with RVT_REASON_NO_CODE */
	bool kernel_lost;	/* one of these is in the kernel's half of addresses */
	bool always;		/* there is something in it that the index cannot tell */
};

/* What was lost in segments that were not decoded. */
struct rvt_index_losses {
	uint64_t lost, no_code;
	bool kernel_lost;
};

/* Bytes of trace in a segment, unless options.slice_bytes says otherwise. */
#define RVT_INDEX_SEGMENT (256u << 10)

/* PATH.rvtrace-index (malloc'd); NULL: out of memory. */
char *rvt_index_path(const char *recording);
/*
 * rvt_index_make - decodes all of a recording, by options.jobs threads. options.clock and .accesses
 * must be set, .count and .by_cpu not. @poll: as rvt_session_sink.poll, or NULL. Statistics of the
 * session are those of this run. 0, what @poll returned, -ENOTSUP (segments need time stamps),
 * -EAGAIN (damage: even a whole buffer is another when it is decoded as a segment), or -errno.
 */
int rvt_index_make(struct rvt_session *session, int (*poll)(void *ctx), void *ctx,
		   struct rvt_index **index);
/* Its bytes (malloc'd). What does not fit into its share of the trace is left out. 0 or -ENOMEM. */
int rvt_index_pack(const struct rvt_index *index, void **bytes, size_t *len);
/*
 * rvt_index_unpack - the reverse. @why: a constant that says why it is of no use. 0, -EBADMSG
 * (damaged), -EPROTO (the format is of another version), -ESTALE (of another recording, other files
 * with code, other options or another version of this library), -ENOMEM.
 */
int rvt_index_unpack(const struct rvt_session *session, const void *bytes, size_t len,
		     struct rvt_index **index, const char **why);
/* Not before the session's last run with it. @index may be NULL. */
void rvt_index_free(struct rvt_index *index);

size_t rvt_index_n_segments(const struct rvt_index *index);
/* Number @n of rvt_index_n_segments(); .tasks and .granules are numbers of what follows. */
const struct rvt_index_segment *rvt_index_segment(const struct rvt_index *index, size_t n);
size_t rvt_index_n_tasks(const struct rvt_index *index);
const struct rvt_index_task *rvt_index_task(const struct rvt_index *index, size_t n);
size_t rvt_index_n_granules(const struct rvt_index *index);
const struct rvt_index_granule *rvt_index_granule(const struct rvt_index *index, size_t n);
/* Bytes of a granule; 0: granules did not fit in, each segment may have any. */
uint64_t rvt_index_granule_size(const struct rvt_index *index);

/*
 * rvt_index_choose - from now on rvt_session_run_slices() with slices decodes only segments that
 * @wants lets through, and those that must be; also with one thread. If these prove to be others
 * than the index says, all is told again (struct rvt_session_slices.reset) and decoded. Statistics
 * are those of the whole recording. *@chosen: so many bytes of trace will be decoded. 0, -ENOMEM.
 */
int rvt_index_choose(struct rvt_session *session, const struct rvt_index *index,
		     bool (*wants)(void *ctx, const struct rvt_index_segment *segment), void *ctx,
		     uint64_t *chosen);
/* After a run with segments left out; all are 0 and false is returned if all was decoded. */
bool rvt_index_skipped(const struct rvt_session *session, struct rvt_index_losses *losses);

#endif
