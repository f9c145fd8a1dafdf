/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/session/: what an index is, for the files that make, store and use it. */
#ifndef SESSION_INDEX_STATE_H
#define SESSION_INDEX_STATE_H

#include "session/index.h"
#include "slice.h"
#include "state.h"

#define RVT_INDEX_SHIFT 8	/* log2 of the bytes of a granule, at least */

/* What an index must fit to. */
struct index_key {
	uint64_t size, mtime;	/* of the recording, bytes and ns */
	uint64_t head;		/* hash of its first bytes, */
	/* and of the files with code, the options that choose them, versions */
	uint64_t code;
};

struct index_segment {
	struct rvt_index_segment told;	/* .tasks and .granules are malloc'd */
	unsigned int buffer;
	uint64_t from;		/* it ends where the next one of its buffer begins */
	size_t record;
	struct rvt_session_totals stats;
	struct joint_point exit;	/* behind it */
};

struct index_missing {
	char *path;
	int error;
};

/* Where a buffer was between two messages. */
struct index_spot {
	size_t record;		/* all of them: it had ended */
	uint64_t done;		/* bytes of it, if .begun */
	bool begun;
	uint64_t time;
};

struct index_station {
	struct index_spot *spots;	/* of each buffer; malloc'd */
	/* what was told before it; from it on */
	uint64_t latest, earliest;
	uint8_t *changes;	/* of what is kept, since the one before (stations.c); malloc'd */
	size_t len;
};

struct rvt_index {
	struct index_key key;
	unsigned int shift;	/* of granules; 0: there are none */
	uint64_t trace;		/* bytes of it in the recording */
	struct rvt_index_task *tasks;	/* .comm, .path, .missing[].path: malloc'd */
	struct rvt_index_granule *granules;
	char **paths;
	struct index_missing *missing;
	struct index_segment *segments;		/* by buffer, in order */
	size_t n_tasks, n_granules, n_paths, n_missing, n_segments;
	struct index_station *stations;
	size_t n_stations, n_spots;	/* .n_spots: of each */
	uint64_t cuts;		/* of call stacks */
};

/* What a session decodes of its recording (rvt_session.choice). */
struct index_choice {
	const struct rvt_index *index;
	struct span *spans;
	size_t n_spans;
	struct rvt_session_totals *expected;	/* of each span */
	struct rvt_session_totals skipped;
	struct rvt_index_losses losses;
};

/* index.c: 0 or -errno. */
int rvt_index_key(const struct rvt_session *session, struct index_key *key);
/*
 * index-file.c: the index in a file's bytes, or in what is packed in them. @key: what it must have;
 * NULL: any. 0, -EBADMSG, -EPROTO, -ESTALE (another key), -ENOMEM.
 */
int rvt_index_read(const void *payload, size_t len, const struct index_key *key,
		   struct rvt_index **index);
int rvt_index_parse(const void *bytes, size_t len, const struct index_key *key,
		    struct rvt_index **index);
/* index-stations.c: the same with only each @step-th. 0 or -ENOMEM; what is made is freed so. */
int rvt_index_thin(const struct rvt_index *index, size_t step, struct index_station **stations,
		   size_t *n);
void rvt_index_free_stations(struct index_station *stations, size_t n);
/* index-choose.c: @choice may be NULL. */
void rvt_index_choice_free(struct index_choice *choice);
/* Whether segment @n + 1 is of another buffer, or there is none. */
static inline bool index_is_last(const struct rvt_index *index, size_t n)
{
	return n + 1 == index->n_segments ||
	       index->segments[n + 1].buffer != index->segments[n].buffer;
}

#endif
