/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/session/: what is kept at stations, while they are made. */
#ifndef SESSION_INDEX_STATIONS_H
#define SESSION_INDEX_STATIONS_H

#include "index-state.h"
#include "session/stations.h"

struct index_buffer;

/* As it was at the last station. Zeroed at first. */
struct station_parts {
	void *tree;	/* tsearch() */
};

/* @key is @words now: if that is another than before, it is in @changes. 0 or -ENOMEM. */
int rvt_station_parts_keep(struct station_parts *parts, uint64_t key, const struct words *words,
			   struct index_buffer *changes);
void rvt_station_parts_free(struct station_parts *parts);

#endif
