/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside this project: stations of an index (index.h), for views that need what was before: call
 * stacks. A station is a place between two messages of a recording that is decoded in the order of
 * time by one thread. It has where each buffer was, and what the caller kept of his own then, so
 * that decoding can go on from there: each buffer is decoded from a segment before it on, in
 * silence up to its place. One thread at a time calls for a session and its index.
 */
#ifndef SESSION_STATIONS_H
#define SESSION_STATIONS_H

#include "session/index.h"
#include "util/words.h"

/* Keys of what callers keep are less. */
#define RVT_STATION_KEYS (UINT64_C(1) << 62)

/* What is kept at a station. */
struct rvt_station_ops {
	void *ctx;
	/* What the caller has: calls @keep for each part of it. 0, or an error that ends it. */
	int (*save)(void *ctx, int (*keep)(void *keep_ctx, uint64_t key, const struct words *words),
		    void *keep_ctx);
	/* What he has of a hart flow. */
	void (*save_hart)(void *ctx, const struct rvt_hart_flow *hart, struct words *words);
};

/*
 * rvt_stations_make - decodes all of the recording once more, by one thread, for @sink, and adds
 * stations to @index, some segments apart. options.clock must be set, .count and .by_cpu
 * not. *@told: the caller sets it to the time of what @sink is told, each time. 0; -ENOTSUP: harts
 * share a buffer; what a call-back returned; or -errno.
 */
struct rvt_station_span {
	uint64_t earliest, latest;	/* .latest less: nothing was */
};

int rvt_stations_make(struct rvt_session *session, struct rvt_index *index,
		      const struct rvt_session_sink *sink, const struct rvt_station_ops *ops,
		      struct rvt_station_span *told);
/* How often call stacks were cut off in all of it. */
void rvt_stations_set_cuts(struct rvt_index *index, uint64_t cuts);
uint64_t rvt_stations_cuts(const struct rvt_index *index);
/* None are of use: the index has none any more. */
void rvt_stations_drop(struct rvt_index *index);

/*
 * How many stations there are: the first one is where the recording begins. One more is its end,
 * where nothing is left to decode.
 */
size_t rvt_stations_n(const struct rvt_index *index);
/* What is told before it, and from it on. Of .earliest and .latest one means something each. */
uint64_t rvt_station_latest_before(const struct rvt_index *index, size_t n);
uint64_t rvt_station_earliest_after(const struct rvt_index *index, size_t n);
/* Bytes of trace from station @from to @to. */
uint64_t rvt_stations_bytes(const struct rvt_session *session, const struct rvt_index *index,
			    size_t from, size_t to);

/* Sets @touched[n] where a segment that @wants lets through reaches behind station @n. */
void rvt_stations_touch(const struct rvt_session *session, const struct rvt_index *index,
			bool (*wants)(void *ctx, const struct rvt_index_segment *segment),
			void *ctx, bool *touched);

/* What was kept at one station after the other. NULL: out of memory. */
struct rvt_station_reader;
struct rvt_station_reader *rvt_station_reader_create(const struct rvt_index *index);
void rvt_station_reader_destroy(struct rvt_station_reader *reader);
/* To station @n. 0, -EBADMSG, -ENOMEM. */
int rvt_station_reader_seek(struct rvt_station_reader *reader, size_t n);
/* All parts whose keys are in [@from, @to), by rising keys. 0, or what @take returned. */
int rvt_station_reader_walk(struct rvt_station_reader *reader, uint64_t from, uint64_t to,
			    int (*take)(void *ctx, uint64_t key, struct words *words), void *ctx);
/* Whether @words are what was kept. */
bool rvt_station_reader_has(struct rvt_station_reader *reader, uint64_t key,
			    const struct words *words);

/* A part of a recording, from one station to another or to its end. */
struct rvt_station_run {
	const struct rvt_index *index;
	struct rvt_station_reader *reader;	/* it is at .from when that is reached */
	size_t from;
	void *ctx;
	/* All is where it was; from now on call-backs count. 0 or an error. */
	int (*arrive)(void *ctx);
	/* Of each hart flow that there was, behind .arrive. 0 or an error. */
	int (*load_hart)(void *ctx, struct rvt_hart_flow *hart, struct words *words);
	/* It is at @station, which is behind .from: whether it goes further, to the next. */
	bool (*further)(void *ctx, size_t station);
	/* It is at @station, and ends there. What comes does not count. 0 or an error. */
	int (*leave)(void *ctx, size_t station);
};

/*
 * rvt_stations_run - decodes it, for @sink, which gets what it would get of all of it; and before
 * .arrive and behind .leave something that does not count. Statistics of the session stay as they
 * are. 0; -EAGAIN: it is not what was there when the index was made; what a call-back returned; or
 * -errno.
 */
int rvt_stations_run(struct rvt_session *session, const struct rvt_session_sink *sink,
		     const struct rvt_station_run *run);

#endif
