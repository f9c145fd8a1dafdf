/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Slices of a recording, which several threads decode: cut.c cuts, parallel.c decodes, join.c looks
 * whether what they told fits together.
 */
#ifndef SESSION_SLICE_H
#define SESSION_SLICE_H

#include <rvtrace/clock.h>
#include "session/access.h"

/* How the flow of the slice before goes on. */
enum slice_begin { SLICE_UNKNOWN, SLICE_EXECUTES, SLICE_BREAKS };

struct joint_point;
struct span;

/* What of a buffer is decoded in one go; .from to .to are offsets in its AUX data. */
struct slice {
	unsigned int buffer;
	uint64_t from, to;		/* 0, UINT64_MAX: there is none before, behind it */
	size_t record, end_record;	/* in which it begins, the next one begins */
	uint64_t done;			/* bytes of the first record that are before it */
	/* how it went */
	bool executed;			/* anything */
	bool extended;			/* the next one cannot be decoded on its own */
	bool owned_at_end;		/* the context was known */
	bool unowned_at_begin;		/* flow, or its loss, came before any context */
	bool lost_at_end;		/* in code that cannot be read */
	bool lost_at_begin;		/* took for granted that the slice before was */
	bool given_up;			/* of the record in which it ends, bytes are missing */
	bool broken_at_begin;		/* nothing was executed before flow broke off otherwise */
	/* of the record in which it begins, something was taken for what ran before an exec */
	bool before_exec;
	bool passed_exec;		/* in the record in which it ends: see pass_exec() */
	uint64_t earliest, latest;	/* by time stamps in it; .latest 0: there were none */
	uint64_t moment;		/* the latest that the buffer got to in it */
	unsigned int n_edges;		/* that lead into the next slice */
	enum slice_begin begin;		/* others read it with the session's lock held */
	/* delivered in order: */
	void *ctx;
	uint64_t time;			/* about when it begins */
	bool taken, ended;
	/* of what is delivered in order: they count when it is joined */
	struct rvt_session_totals stats;
	bool untimed_at_begin, timed_at_end;	/* as for contexts */
	bool held_at_end;	/* the next one's first time stamp is that of what this one ran */
	bool unsure;		/* see struct rvt_stream; or whose START ends it is not known */
	bool silent, missed;	/* see struct rvt_stream */
	struct rvt_clock_speed speed;	/* the last one that was known */
	struct slice_source *sources;	/* that had messages in it (malloc'd) */
	size_t n_sources;
	const struct span *span;	/* it is part of; NULL: of all */
};

/* A flow in a slice: of a dump that of a source, else that of the one hart that a buffer has. */
struct slice_source {
	unsigned int source;
	bool begun, waited;		/* see rvt_flow_note_source() */
	bool resumed, left;		/* see rvt_flow_resume(), rvt_flow_leave() */
	uint64_t resumed_at, left_at;
};

/* How far the slices have decoded a source. */
struct joint_source {
	bool known;		/* any has */
	bool left;		/* a later one must resume it, ... */
	uint64_t left_at;	/* ... at the synchronisation there */
};

/*
 * How far slices are joined where one ends, to go on behind it some other time: of a buffer that
 * has the trace of one hart.
 */
struct joint_point {
	bool has_before;
	struct slice before;	/* the last one in which anything was: how it ended */
	struct joint_source source;
	bool known, given_up, passed_exec;
	uint64_t latest;
	uint64_t moment;	/* the latest that was told (struct rvt_session_slices) */
};

/* What is to be decoded of a buffer, in slices. */
struct span {
	unsigned int buffer;
	uint64_t from, to;		/* as those of slices */
	size_t record, end_record;
	uint64_t done;
	bool whole;			/* it is one slice */
	bool goes_on;			/* the span before it ends where it begins */
	const struct joint_point *entry, *exit;	/* before, behind it; NULL: nothing, not known */
	const struct rvt_session_totals *expected;	/* of it; NULL: not known */
};

/* How far the slices of a buffer are joined. Zeroed but for .next and .end at first. */
struct joint {
	struct slice *next, *end;
	const struct slice *before;	/* the last one in which anything was; NULL: none */
	struct joint_source *sources;	/* by number (malloc'd) */
	size_t n_sources, room;
	bool known;		/* a source is */
	bool given_up;		/* the last one has */
	bool passed_exec;	/* so has what comes behind in the same record */
	uint64_t latest;	/* time stamp so far */
	struct rvt_session_totals stats;	/* of the span so far */
};

/*
 * The slices of all buffers, or of the session's spans, one after the other. The caller frees them,
 * also after an error (rvt_session_free_slices()).
 */
int rvt_session_cut(struct rvt_session *session, struct slice **slices, size_t *n);

void rvt_session_free_slices(struct slice *slices, size_t n);

/*
 * Joins the next slice of a buffer: what goes from the one before into it is told. 0, what a
 * call-back returned, or -EAGAIN: it does not fit.
 */
int rvt_session_join(struct rvt_session *session, struct joint *joint);

#endif
