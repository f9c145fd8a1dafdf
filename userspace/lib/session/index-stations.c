// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is kept at stations. Parts of it are found by keys. A station has those that are another
 * than at the station before: of each the numbers that are, as differences.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "index-bytes.h"
#include "index-stations.h"

/* Bytes of trace behind a segment, in which there is a time stamp. */
#define TOLD_LATER 4096

/* A part, in a tree by its key. */
struct part {
	uint64_t key;
	uint64_t *at;
	size_t n;
};

struct rvt_station_reader {
	const struct rvt_index *index;
	struct station_parts parts;
	size_t next;		/* .parts are those of the station before it */
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void free_part(void *part)
{
	free(((struct part *)part)->at);
	free(part);
}

void rvt_station_parts_free(struct station_parts *parts)
{
	tdestroy(parts->tree, free_part);
	parts->tree = NULL;
}

static struct part *find_part(const struct station_parts *parts, uint64_t key)
{
	const struct part wanted = { .key = key };
	struct part **found = tfind(&wanted, &parts->tree, compare_parts);

	return found ? *found : NULL;
}

/* NULL: out of memory. */
static struct part *get_part(struct station_parts *parts, uint64_t key)
{
	struct part *part = find_part(parts, key);

	if (part)
		return part;
	part = calloc(1, sizeof(*part));
	if (!part)
		return NULL;
	part->key = key;
	if (tsearch(part, &parts->tree, compare_parts))
		return part;
	free(part);
	return NULL;
}

static bool is_same(const struct part *part, const struct words *words)
{
	return part->n == words->n &&
		(!words->n || !memcmp(part->at, words->at, words->n * sizeof(*words->at)));
}

/* ---- changes ---- */

static uint64_t number_at(const struct part *part, size_t n)
{
	return n < part->n ? part->at[n] : 0;
}

/* Whether number @n stays, of which there are some before. */
static bool stays(const struct part *part, const struct words *words, size_t n)
{
	return n < part->n && part->at[n] == words->at[n];
}

static void put_change(struct index_buffer *out, const struct part *part, const struct words *words)
{
	size_t n = 0;

	put(out, part->key + 1);
	put(out, words->n);
	while (n < words->n) {
		size_t same = n, other;

		while (same < words->n && stays(part, words, same))
			same++;
		other = same;
		while (other < words->n && !stays(part, words, other))
			other++;
		put(out, same - n);
		put(out, other - same);
		for (n = same; n < other; n++)
			put(out, zigzag((int64_t)(words->at[n] - number_at(part, n))));
	}
}

/* 0 or -ENOMEM. */
static int set_part(struct part *part, const uint64_t *at, size_t n)
{
	uint64_t *copy = malloc((n + 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	if (n)
		memcpy(copy, at, n * sizeof(*at));
	free(part->at);
	part->at = copy;
	part->n = n;
	return 0;
}

int rvt_station_parts_keep(struct station_parts *parts, uint64_t key, const struct words *words,
			   struct index_buffer *changes)
{
	struct part *part = get_part(parts, key);

	if (!part)
		return -ENOMEM;
	if (part->at && is_same(part, words))
		return 0;
	put_change(changes, part, words);
	return changes->failed ? -ENOMEM : set_part(part, words->at, words->n);
}

/* Numbers of a part are at most so many: who lies must have as many bytes for some of them. */
#define MAX_NUMBERS (1u << 28)

static int apply_change(struct station_parts *parts, struct index_buffer *in, uint64_t key)
{
	struct part *part = get_part(parts, key);
	size_t n = 0, most = get(in);
	uint64_t *at;

	if (!part)
		return -ENOMEM;
	if (in->failed || most > MAX_NUMBERS || (most > part->n && most - part->n > in->room))
		return -EBADMSG;
	at = calloc(most + 1, sizeof(*at));
	if (!at)
		return -ENOMEM;
	while (n < most && !in->failed) {
		uint64_t same = get(in), other = get(in);

		if (same > most - n || other > most - n - same || (!same && !other) ||
		    n + same > part->n) {
			in->failed = true;
			break;
		}
		if (same)
			memcpy(at + n, part->at + n, same * sizeof(*at));
		n += same;
		for (; other; other--, n++)
			at[n] = number_at(part, n) + (uint64_t)get_signed(in);
	}
	free(part->at);
	part->at = at;
	part->n = most;
	return in->failed ? -EBADMSG : 0;
}

static int apply(struct station_parts *parts, const struct index_station *station)
{
	struct index_buffer in = { .at = station->changes, .room = station->len };
	int err = 0;

	while (in.n < in.room && !err) {
		uint64_t key = get(&in);

		err = in.failed || !key ? -EBADMSG : apply_change(parts, &in, key - 1);
	}
	return err;
}

/* ---- reading ---- */

struct rvt_station_reader *rvt_station_reader_create(const struct rvt_index *index)
{
	struct rvt_station_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->index = index;
	return reader;
}

void rvt_station_reader_destroy(struct rvt_station_reader *reader)
{
	if (!reader)
		return;
	rvt_station_parts_free(&reader->parts);
	free(reader);
}

int rvt_station_reader_seek(struct rvt_station_reader *reader, size_t n)
{
	int err = 0;

	if (n + 1 < reader->next) {
		rvt_station_parts_free(&reader->parts);
		reader->next = 0;
	}
	while (reader->next <= n && !err)
		err = apply(&reader->parts, &reader->index->stations[reader->next++]);
	return err;
}

struct walk {
	uint64_t from, to;
	int (*take)(void *ctx, uint64_t key, struct words *words);
	void *ctx;
	int err;
};

static void take_part(const void *node, VISIT which, void *closure)
{
	const struct part *part = *(const struct part *const *)node;
	struct walk *walk = closure;
	struct words words = words_of(part->at, part->n);

	if ((which != postorder && which != leaf) || walk->err || part->key < walk->from ||
	    part->key >= walk->to)
		return;
	walk->err = walk->take(walk->ctx, part->key, &words);
}

int rvt_station_reader_walk(struct rvt_station_reader *reader, uint64_t from, uint64_t to,
			    int (*take)(void *ctx, uint64_t key, struct words *words), void *ctx)
{
	struct walk walk = { from, to, take, ctx, 0 };

	twalk_r(reader->parts.tree, take_part, &walk);
	return walk.err;
}

bool rvt_station_reader_has(struct rvt_station_reader *reader, uint64_t key,
			    const struct words *words)
{
	const struct part *part = find_part(&reader->parts, key);

	return part && is_same(part, words);
}

/* ---- fewer ---- */

void rvt_index_free_stations(struct index_station *stations, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(stations[i].spots);
		free(stations[i].changes);
	}
	free(stations);
}

struct thinning {
	struct station_parts *parts;
	struct index_buffer *changes;
};

static int keep_again(void *ctx, uint64_t key, struct words *words)
{
	const struct thinning *thinning = ctx;
	const struct words whole = { .at = words->at, .n = words->room };

	return rvt_station_parts_keep(thinning->parts, key, &whole, thinning->changes);
}

static int copy_station(const struct rvt_index *index, struct rvt_station_reader *reader, size_t n,
			struct station_parts *parts, struct index_station *station)
{
	const struct index_station *from = &index->stations[n];
	struct index_buffer changes = { .at = NULL };
	struct thinning thinning = { parts, &changes };
	int err = rvt_station_reader_seek(reader, n);

	*station = *from;
	if (!err)
		err = rvt_station_reader_walk(reader, 0, UINT64_MAX, keep_again, &thinning);
	station->changes = changes.at;
	station->len = changes.n;
	station->spots = calloc(index->n_spots + 1, sizeof(*station->spots));
	if (!station->spots)
		return -ENOMEM;
	memcpy(station->spots, from->spots, index->n_spots * sizeof(*from->spots));
	return err;
}

int rvt_index_thin(const struct rvt_index *index, size_t step, struct index_station **stations,
		   size_t *n)
{
	struct rvt_station_reader *reader = rvt_station_reader_create(index);
	struct station_parts parts = { .tree = NULL };
	int err = reader ? 0 : -ENOMEM;

	*n = 0;
	*stations = calloc(index->n_stations / step + 3, sizeof(**stations));
	if (!*stations)
		err = -ENOMEM;
	for (size_t i = 0; i < index->n_stations && !err; i++)
		if (!(i % step) || i + 1 == index->n_stations)
			err = copy_station(index, reader, i, &parts, &(*stations)[(*n)++]);
	rvt_station_reader_destroy(reader);
	rvt_station_parts_free(&parts);
	if (err) {
		rvt_index_free_stations(*stations, *n);
		*stations = NULL;
		*n = 0;
	}
	return err;
}

/* ---- what is known of them ---- */

void rvt_stations_set_cuts(struct rvt_index *index, uint64_t cuts)
{
	index->cuts = cuts;
}

uint64_t rvt_stations_cuts(const struct rvt_index *index)
{
	return index->cuts;
}

void rvt_stations_drop(struct rvt_index *index)
{
	rvt_index_free_stations(index->stations, index->n_stations);
	index->stations = NULL;
	index->n_stations = 0;
}

size_t rvt_stations_n(const struct rvt_index *index)
{
	return index->n_stations ? index->n_stations - 1 : 0;
}

uint64_t rvt_station_latest_before(const struct rvt_index *index, size_t n)
{
	return index->stations[n].latest;
}

uint64_t rvt_station_earliest_after(const struct rvt_index *index, size_t n)
{
	return index->stations[n].earliest;
}

static uint64_t offset_of(const struct buffer *buffer, const struct rvt_index *index, size_t n)
{
	const struct index_spot *spot = n < index->n_stations ?
		&index->stations[n].spots[buffer->number] : NULL;
	uint64_t passed = 0;

	for (size_t i = 0; i < buffer->n_records && (!spot || i < spot->record); i++)
		passed += buffer->records[i].size;
	return passed + (spot && spot->begun ? spot->done : 0);
}

uint64_t rvt_stations_bytes(const struct rvt_session *session, const struct rvt_index *index,
			    size_t from, size_t to)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < session->n_buffers; i++)
		bytes += offset_of(&session->buffers[i], index, to) -
			offset_of(&session->buffers[i], index, from);
	return bytes;
}

/* In the AUX data of the buffer. */
static uint64_t position_of(const struct buffer *buffer, const struct rvt_index *index, size_t n)
{
	const struct index_spot *spot = &index->stations[n].spots[buffer->number];

	return spot->record < buffer->n_records ?
		buffer->records[spot->record].offset + (spot->begun ? spot->done : 0) : UINT64_MAX;
}

static uint64_t end_of(const struct rvt_index *index, size_t n)
{
	return index_is_last(index, n) ? UINT64_MAX : index->segments[n + 1].from;
}

/* Returns how far behind segment @n what was executed in it may be told, at most. */
static uint64_t told_until(const struct rvt_index *index, size_t n)
{
	uint64_t end = end_of(index, n), next;

	if (end == UINT64_MAX)
		return end;
	next = end_of(index, n + 1);
	return next - end < TOLD_LATER ? next : end + TOLD_LATER;
}

void rvt_stations_touch(const struct rvt_session *session, const struct rvt_index *index,
			bool (*wants)(void *ctx, const struct rvt_index_segment *segment),
			void *ctx, bool *touched)
{
	for (size_t i = 0; i < index->n_segments; i++) {
		const struct index_segment *segment = &index->segments[i];
		const struct buffer *buffer = &session->buffers[segment->buffer];
		uint64_t to = told_until(index, i);

		if (!wants(ctx, &segment->told))
			continue;
		for (size_t n = 0; n + 1 < index->n_stations; n++)
			touched[n] |= position_of(buffer, index, n) <= to &&
				position_of(buffer, index, n + 1) >= segment->from;
	}
}
