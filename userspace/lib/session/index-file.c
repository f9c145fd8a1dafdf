// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The file of an index: eight bytes that say so, the last of them which version of the format it
 * is, and one zstd frame with a check sum. In it are numbers (index-bytes.h), and texts, each
 * behind its length. Places are in the order of their files
 * and addresses, so that those of a segment are near to each other: lists are of differences.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "index-bytes.h"
#include "index-state.h"

#define MAGIC "RVTINDX2"
#define LEVEL 3
#define SHARE 200		/* the index has at most this part of the trace, ... */
#define LEAST (64u << 10)	/* ... or so many bytes */
#define MAX_SHIFT 14		/* of granules: less is worth nothing */
#define MAX_RATIO 1000		/* of frames; others lie */

enum { ANY_CPU = 1, KERNEL_LOST = 2, ALWAYS = 4, HAS_BEFORE = 8, EXECUTED = 16, OWNED_AT_END = 32,
       LOST_AT_END = 64, TIMED_AT_END = 128, HELD_AT_END = 256, SOURCE_KNOWN = 512,
       SOURCE_LEFT = 1024, KNOWN = 2048, GIVEN_UP = 4096, PASSED_EXEC = 8192 };

/* ---- what both directions go through ---- */

static void put_text(struct index_buffer *out, const char *text)
{
	size_t len = strlen(text);

	put(out, len);
	if (array_reserve(&out->at, &out->room, out->n, len)) {
		out->failed = true;
		return;
	}
	memcpy(out->at + out->n, text, len);
	out->n += len;
}

/* NULL: no memory, or it is none. */
static char *get_text(struct index_buffer *in)
{
	uint64_t len = get(in);
	char *text;

	if (in->failed || len > in->room - in->n) {
		in->failed = true;
		return NULL;
	}
	text = strndup((const char *)in->at + in->n, len);
	in->n += len;
	in->failed |= !text;
	return text;
}

/* Reads a number of things that take at least a byte each. */
static size_t get_count(struct index_buffer *in)
{
	uint64_t n = get(in);

	if (n > in->room - in->n)
		in->failed = true;
	return in->failed ? 0 : n;
}

/* All members that are counted. */
static uint64_t *const *list_stats(struct rvt_session_totals *stats, size_t *n)
{
	static _Thread_local uint64_t *list[32];
	uint64_t *const members[] = {
		&stats->session.trace_bytes, &stats->session.missing_bytes,
		&stats->stream.bytes, &stats->stream.messages, &stats->stream.syncs,
		&stats->stream.idle_bytes, &stats->stream.skipped_bytes,
		&stats->stream.vendor_messages, &stats->stream.reserved_messages,
		&stats->stream.errors, &stats->stream.lost_reports, &stats->stream.accesses,
		&stats->stream.lost_accesses,
		&stats->flow.insns, &stats->flow.halfwords, &stats->flow.branches,
		&stats->flow.taken, &stats->flow.indirect, &stats->flow.traps, &stats->flow.gaps,
		&stats->flow.refuted,
	};

	_Static_assert(sizeof(members) <= sizeof(list), "room");
	memcpy(list, members, sizeof(members));
	*n = sizeof(members) / sizeof(*members);
	return list;
}

/* ---- granules as they are stored ---- */

struct stored_granules {
	unsigned int shift;
	struct rvt_index_granule *list;
	uint32_t *numbers;	/* of those of the index */
	size_t n, n_paths;	/* NULL is none */
};

static bool is_of_file(const struct rvt_index_granule *granule)
{
	return granule->path && granule->path[0] == '/';
}

static struct rvt_index_granule coarsen(const struct rvt_index_granule *granule, unsigned int shift)
{
	struct rvt_index_granule coarse = *granule;
	uint64_t into = (is_of_file(granule) ? granule->file_offset : granule->addr) &
		((1ull << shift) - 1);

	coarse.file_offset -= into;
	coarse.addr -= into;
	return coarse;
}

static int compare_granules(const void *a, const void *b)
{
	const struct rvt_index_granule *x = *(struct rvt_index_granule *const *)a;
	const struct rvt_index_granule *y = *(struct rvt_index_granule *const *)b;
	uint64_t from = is_of_file(x) ? x->file_offset : x->addr;
	uint64_t other = is_of_file(y) ? y->file_offset : y->addr;

	int order = x->path == y->path ? 0 : !x->path ? -1 : !y->path ? 1 :
		strcmp(x->path, y->path);

	return order ? order : (from > other) - (from < other);
}

/* Behind other granules: whether it is of another path than the one before it (NULL: none). */
static bool has_new_path(const struct rvt_index_granule *granule,
			 const struct rvt_index_granule *before)
{
	return granule->path && (!before || !before->path || strcmp(granule->path, before->path));
}

static bool is_same(const struct rvt_index_granule *a, const struct rvt_index_granule *b)
{
	return !compare_granules(&a, &b);
}

/* Writes the granules of @shift that are in a segment. Returns 0 or -ENOMEM. */
static int store_granules(const struct rvt_index *index, unsigned int shift,
			  struct stored_granules *stored)
{
	const struct rvt_index_granule **order = calloc(index->n_granules + 1, sizeof(*order));
	size_t n = 0;

	*stored = (struct stored_granules){ .shift = shift,
		.list = calloc(index->n_granules + 1, sizeof(*stored->list)),
		.numbers = calloc(index->n_granules + 1, sizeof(*stored->numbers)) };
	if (!order || !stored->list || !stored->numbers) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < index->n_segments; i++)
		for (size_t k = 0; k < index->segments[i].told.n_granules; k++)
			stored->numbers[index->segments[i].told.granules[k]] = 1;
	for (size_t i = 0; i < index->n_granules; i++)
		if (stored->numbers[i])
			order[n++] = &index->granules[i];
	if (n)
		qsort(order, n, sizeof(*order), compare_granules);
	for (size_t i = 0; i < n; i++) {
		struct rvt_index_granule coarse = coarsen(order[i], shift);
		struct rvt_index_granule *last = stored->n ? &stored->list[stored->n - 1] : NULL;

		if (!last || !is_same(last, &coarse)) {
			stored->n_paths += has_new_path(&coarse, last);
			stored->list[stored->n++] = coarse;
		}
		stored->numbers[order[i] - index->granules] = stored->n - 1;
	}
	free(order);
	return 0;
}

/* Number 0 is no path. */
static void put_granules(struct index_buffer *out, const struct stored_granules *stored)
{
	const struct rvt_index_granule none = { .path = NULL }, *before = NULL;
	uint64_t path = 0;

	put(out, stored->shift);
	if (!stored->shift)
		return;
	put(out, stored->n_paths);
	for (size_t i = 0; i < stored->n; i++)
		if (has_new_path(&stored->list[i], i ? &stored->list[i - 1] : NULL))
			put_text(out, stored->list[i].path);
	put(out, stored->n);
	for (size_t i = 0; i < stored->n; i++) {
		const struct rvt_index_granule *granule = &stored->list[i];

		path += has_new_path(granule, before);
		before = before ? before : &none;
		put(out, path);
		put(out, zigzag((int64_t)(granule->file_offset - before->file_offset)));
		put(out, zigzag((int64_t)(granule->addr - before->addr)));
		put(out, zigzag((int64_t)(granule->map_start - before->map_start)));
		before = granule;
	}
}

static int compare_ids(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* @numbers: what ids become; NULL: they stay. Sorted, each once. */
static void put_ids(struct index_buffer *out, const uint32_t *ids, size_t n,
		    const uint32_t *numbers)
{
	uint32_t *list = calloc(n + 1, sizeof(*list)), before = 0;
	size_t kept = 0;

	if (!list) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		list[i] = numbers ? numbers[ids[i]] : ids[i];
	qsort(list, n, sizeof(*list), compare_ids);
	for (size_t i = 0; i < n; i++)
		if (!i || list[i] != list[kept - 1])
			list[kept++] = list[i];
	put(out, kept);
	for (size_t i = 0; i < kept; i++) {
		put(out, list[i] - before);
		before = list[i];
	}
	free(list);
}

/* ---- stations ---- */

/* Those that are written. */
struct chosen_stations {
	struct index_station *list;
	size_t n;
};

static void put_station(struct index_buffer *out, const struct index_station *station,
			size_t n_spots)
{
	for (size_t i = 0; i < n_spots; i++) {
		const struct index_spot *spot = &station->spots[i];

		put(out, spot->record);
		put(out, spot->begun);
		put(out, spot->done);
		put_time(out, spot->time);
	}
	put_time(out, station->latest);
	put_time(out, station->earliest);
	put(out, station->len);
	if (array_reserve(&out->at, &out->room, out->n, station->len)) {
		out->failed = true;
		return;
	}
	if (station->len)
		memcpy(out->at + out->n, station->changes, station->len);
	out->n += station->len;
}

static void put_stations(struct index_buffer *out, const struct rvt_index *index,
			 const struct index_station *stations, size_t n)
{
	put(out, index->cuts);
	put(out, n);
	put(out, n ? index->n_spots : 0);
	for (size_t i = 0; i < n; i++)
		put_station(out, &stations[i], index->n_spots);
}

static void get_station(struct index_buffer *in, struct index_station *station, size_t n_spots)
{
	uint64_t len;

	station->spots = calloc(n_spots + 1, sizeof(*station->spots));
	in->failed |= !station->spots;
	for (size_t i = 0; i < n_spots && !in->failed; i++) {
		struct index_spot *spot = &station->spots[i];

		spot->record = get(in);
		spot->begun = get(in);
		spot->done = get(in);
		spot->time = get_time(in);
	}
	station->latest = get_time(in);
	station->earliest = get_time(in);
	len = get(in);
	if (in->failed || len > in->room - in->n) {
		in->failed = true;
		return;
	}
	station->changes = malloc(len + 1);
	in->failed |= !station->changes;
	if (station->changes)
		memcpy(station->changes, in->at + in->n, len);
	station->len = len;
	in->n += len;
}

static void get_stations(struct index_buffer *in, struct rvt_index *index)
{
	size_t n;

	index->cuts = get(in);
	n = get_count(in);
	index->n_spots = n ? get_count(in) : get(in);
	for (size_t i = 0; i < n && !in->failed; i++) {
		if (array_grow(&index->stations, index->n_stations)) {
			in->failed = true;
			return;
		}
		index->stations[index->n_stations] = (struct index_station){ .spots = NULL };
		get_station(in, &index->stations[index->n_stations++], index->n_spots);
	}
}

/* ---- writing ---- */

static void put_exit(struct index_buffer *out, const struct joint_point *exit)
{
	put(out, exit->before.n_edges);
	put(out, exit->source.left_at);
	put_time(out, exit->latest);
	put_time(out, exit->moment);
}

static unsigned int flags_of(const struct index_segment *segment)
{
	const struct rvt_index_segment *told = &segment->told;
	const struct joint_point *exit = &segment->exit;
	const struct slice *before = &exit->before;

	return (told->any_cpu ? ANY_CPU : 0) | (told->kernel_lost ? KERNEL_LOST : 0) |
		(told->always ? ALWAYS : 0) | (exit->has_before ? HAS_BEFORE : 0) |
		(before->executed ? EXECUTED : 0) | (before->owned_at_end ? OWNED_AT_END : 0) |
		(before->lost_at_end ? LOST_AT_END : 0) |
		(before->timed_at_end ? TIMED_AT_END : 0) |
		(before->held_at_end ? HELD_AT_END : 0) | (exit->source.known ? SOURCE_KNOWN : 0) |
		(exit->source.left ? SOURCE_LEFT : 0) | (exit->known ? KNOWN : 0) |
		(exit->given_up ? GIVEN_UP : 0) | (exit->passed_exec ? PASSED_EXEC : 0);
}

static void put_segment(struct index_buffer *out, const struct index_segment *segment,
			const struct stored_granules *granules)
{
	const struct rvt_index_segment *told = &segment->told;
	struct rvt_session_totals stats = segment->stats;
	size_t n;
	uint64_t *const *list = list_stats(&stats, &n);

	put(out, segment->buffer);
	put(out, segment->from);
	put(out, segment->record);
	put(out, flags_of(segment));
	put(out, zigzag(told->cpu));
	put_time(out, told->earliest);
	put_time(out, told->latest);
	put(out, told->lost);
	put(out, told->no_code);
	for (size_t i = 0; i < n; i++)
		put(out, *list[i]);
	put_exit(out, &segment->exit);
	put_ids(out, told->tasks, told->n_tasks, NULL);
	put_ids(out, told->granules, granules->shift ? told->n_granules : 0, granules->numbers);
}

static void put_all(struct index_buffer *out, const struct rvt_index *index,
		    const struct stored_granules *granules, const struct chosen_stations *stations)
{
	put(out, index->key.size);
	put(out, index->key.mtime);
	put(out, index->key.head);
	put(out, index->key.code);
	put(out, index->trace);
	put(out, index->n_missing);
	for (size_t i = 0; i < index->n_missing; i++) {
		put_text(out, index->missing[i].path);
		put(out, zigzag(index->missing[i].error));
	}
	put(out, index->n_tasks);
	for (size_t i = 0; i < index->n_tasks; i++) {
		put(out, zigzag(index->tasks[i].pid));
		put(out, zigzag(index->tasks[i].tid));
		put_text(out, index->tasks[i].comm);
	}
	put_granules(out, granules);
	put(out, index->n_segments);
	for (size_t i = 0; i < index->n_segments; i++)
		put_segment(out, &index->segments[i], granules);
	put_stations(out, index, stations->list, stations->n);
}

/* 0 or -ENOMEM. */
static int compress(const struct index_buffer *payload, void **bytes, size_t *len)
{
	size_t room = ZSTD_compressBound(payload->n), n;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	char *out = malloc(sizeof(MAGIC) - 1 + room);

	if (!zstd || !out) {
		ZSTD_freeCCtx(zstd);
		free(out);
		return -ENOMEM;
	}
	memcpy(out, MAGIC, sizeof(MAGIC) - 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(zstd, out + sizeof(MAGIC) - 1, room, payload->at, payload->n);
	ZSTD_freeCCtx(zstd);
	if (ZSTD_isError(n)) {
		free(out);
		return -ENOMEM;
	}
	*bytes = out;
	*len = sizeof(MAGIC) - 1 + n;
	return 0;
}

static int pack(const struct rvt_index *index, unsigned int shift,
		const struct chosen_stations *stations, void **bytes, size_t *len)
{
	struct stored_granules granules = { .shift = 0 };
	struct index_buffer payload = { .at = NULL };
	int err = shift ? store_granules(index, shift, &granules) : 0;

	if (!err) {
		put_all(&payload, index, &granules, stations);
		err = payload.failed ? -ENOMEM : compress(&payload, bytes, len);
	}
	free(payload.at);
	free(granules.list);
	free(granules.numbers);
	return err;
}

/* Measures how many bytes the stations take. Returns 0 or -ENOMEM. */
static int measure(const struct rvt_index *index, const struct chosen_stations *stations,
		   size_t *len)
{
	struct index_buffer payload = { .at = NULL };
	void *bytes;
	int err;

	put_stations(&payload, index, stations->list, stations->n);
	err = payload.failed ? -ENOMEM : compress(&payload, &bytes, len);
	if (!err)
		free(bytes);
	free(payload.at);
	return err;
}

static void free_chosen(const struct rvt_index *index, struct chosen_stations *stations)
{
	if (stations->list != index->stations)
		rvt_index_free_stations(stations->list, stations->n);
	*stations = (struct chosen_stations){ .list = NULL };
}

/* Every one, every second, fourth ...: so many that all of them take at most @most bytes. */
static int choose_stations(const struct rvt_index *index, uint64_t most,
			   struct chosen_stations *stations)
{
	size_t len;
	int err;

	*stations = (struct chosen_stations){ index->stations, index->n_stations };
	for (size_t step = 2;; step *= 2) {
		err = measure(index, stations, &len);
		if (!err && len <= most)
			return 0;
		free_chosen(index, stations);
		if (err || step > index->n_stations)
			return err;
		err = rvt_index_thin(index, step, &stations->list, &stations->n);
		if (err)
			return err;
	}
}

/* With granules as fine as fit into @most bytes, or without. */
static int pack_within(const struct rvt_index *index, const struct chosen_stations *stations,
		       uint64_t most, void **bytes, size_t *len)
{
	for (unsigned int shift = index->shift;; shift += 2) {
		int err = pack(index, shift <= MAX_SHIFT ? shift : 0, stations, bytes, len);

		if (err || *len <= most || !shift || shift > MAX_SHIFT)
			return err;
		free(*bytes);
	}
}

/* Stations get what is left, or half of it: then granules are less fine. */
int rvt_index_pack(const struct rvt_index *index, void **bytes, size_t *len)
{
	uint64_t most = index->trace / SHARE > LEAST ? index->trace / SHARE : LEAST;
	struct chosen_stations stations = { .list = NULL };
	int err = pack_within(index, &stations, most, bytes, len);

	if (err || !index->n_stations)
		return err;
	err = choose_stations(index, *len < most / 2 ? most - *len : most / 2, &stations);
	if (!err && !stations.n)
		return 0;
	free(*bytes);
	if (!err)
		err = pack_within(index, &stations, most, bytes, len);
	free_chosen(index, &stations);
	return err;
}

/* ---- reading ---- */

static void get_missing(struct index_buffer *in, struct rvt_index *index)
{
	size_t n = get_count(in);

	for (size_t i = 0; i < n && !in->failed; i++) {
		char *path = get_text(in);

		if (!path)
			return;
		if (array_grow(&index->missing, index->n_missing)) {
			in->failed = true;
			free(path);
			return;
		}
		index->missing[index->n_missing++] = (struct index_missing){ path, get_signed(in) };
	}
}

static void get_tasks(struct index_buffer *in, struct rvt_index *index)
{
	size_t n = get_count(in);

	for (size_t i = 0; i < n && !in->failed; i++) {
		struct rvt_index_task task = { .pid = get_signed(in) };

		task.tid = get_signed(in);
		task.comm = get_text(in);
		if (!task.comm)
			return;
		if (array_grow(&index->tasks, index->n_tasks)) {
			in->failed = true;
			free((void *)task.comm);
			return;
		}
		index->tasks[index->n_tasks++] = task;
	}
}

static void get_paths(struct index_buffer *in, struct rvt_index *index)
{
	size_t n = get_count(in);

	for (size_t i = 0; i < n && !in->failed; i++) {
		char *path = get_text(in);

		if (path && !array_grow(&index->paths, index->n_paths)) {
			index->paths[index->n_paths++] = path;
			continue;
		}
		free(path);
		in->failed = true;
	}
}

static void get_granules(struct index_buffer *in, struct rvt_index *index)
{
	struct rvt_index_granule granule = { .path = NULL };
	uint64_t shift = get(in);
	size_t n;

	if (shift && (shift < RVT_INDEX_SHIFT || shift > MAX_SHIFT))
		in->failed = true;
	index->shift = shift;
	if (!shift || in->failed)
		return;
	get_paths(in, index);
	n = get_count(in);
	for (size_t i = 0; i < n && !in->failed; i++) {
		uint64_t path = get(in);

		in->failed |= path > index->n_paths ||
			array_grow(&index->granules, index->n_granules);
		if (in->failed)
			return;
		granule.path = path ? index->paths[path - 1] : NULL;
		granule.file_offset += (uint64_t)get_signed(in);
		granule.addr += (uint64_t)get_signed(in);
		granule.map_start += (uint64_t)get_signed(in);
		index->granules[index->n_granules++] = granule;
	}
}

/* Numbers less than @most, which rise. */
static const uint32_t *get_ids(struct index_buffer *in, size_t most, size_t *n)
{
	size_t count = get_count(in);
	uint32_t *ids = calloc(count + 1, sizeof(*ids));
	uint64_t id = 0;

	in->failed |= !ids;
	for (*n = 0; *n < count && !in->failed; ++*n) {
		uint64_t more = get(in);

		if (more >= most - id) {
			in->failed = true;
			break;
		}
		id += more;
		ids[*n] = id;
	}
	return ids;
}

static void get_exit(struct index_buffer *in, struct joint_point *exit, uint64_t flags)
{
	exit->has_before = flags & HAS_BEFORE;
	exit->before = (struct slice){
		.executed = flags & EXECUTED, .owned_at_end = flags & OWNED_AT_END,
		.lost_at_end = flags & LOST_AT_END, .timed_at_end = flags & TIMED_AT_END,
		.held_at_end = flags & HELD_AT_END, .n_edges = get(in) };
	exit->source = (struct joint_source){ .known = flags & SOURCE_KNOWN,
					      .left = flags & SOURCE_LEFT, .left_at = get(in) };
	exit->known = flags & KNOWN;
	exit->given_up = flags & GIVEN_UP;
	exit->passed_exec = flags & PASSED_EXEC;
	exit->latest = get_time(in);
	exit->moment = get_time(in);
}

static void get_segment(struct index_buffer *in, const struct rvt_index *index,
			struct index_segment *segment)
{
	struct rvt_index_segment *told = &segment->told;
	uint64_t flags, *const *list;
	size_t n;

	segment->buffer = get(in);
	segment->from = get(in);
	segment->record = get(in);
	flags = get(in);
	told->any_cpu = flags & ANY_CPU;
	told->kernel_lost = flags & KERNEL_LOST;
	told->always = flags & ALWAYS;
	told->cpu = get_signed(in);
	told->earliest = get_time(in);
	told->latest = get_time(in);
	told->lost = get(in);
	told->no_code = get(in);
	list = list_stats(&segment->stats, &n);
	for (size_t i = 0; i < n; i++)
		*list[i] = get(in);
	get_exit(in, &segment->exit, flags);
	told->tasks = get_ids(in, index->n_tasks, &told->n_tasks);
	told->granules = get_ids(in, index->n_granules, &told->n_granules);
}

static void get_segments(struct index_buffer *in, struct rvt_index *index)
{
	size_t n = get_count(in);

	for (size_t i = 0; i < n && !in->failed; i++) {
		if (array_grow(&index->segments, index->n_segments)) {
			in->failed = true;
			return;
		}
		index->segments[index->n_segments] = (struct index_segment){ .buffer = 0 };
		get_segment(in, index, &index->segments[index->n_segments++]);
	}
}

static void get_key(struct index_buffer *in, struct index_key *key)
{
	key->size = get(in);
	key->mtime = get(in);
	key->head = get(in);
	key->code = get(in);
}

/* 0, -EBADMSG, -EPROTO (of another version), -ENOMEM. */
static int decompress(const void *bytes, size_t len, struct index_buffer *payload)
{
	const char *frame = (const char *)bytes + sizeof(MAGIC) - 1;
	size_t packed = len - (sizeof(MAGIC) - 1), n;
	unsigned long long size;

	if (len < sizeof(MAGIC) || memcmp(bytes, MAGIC, sizeof(MAGIC) - 2))
		return -EBADMSG;
	if (((const char *)bytes)[sizeof(MAGIC) - 2] != MAGIC[sizeof(MAGIC) - 2])
		return -EPROTO;
	size = ZSTD_getFrameContentSize(frame, packed);
	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    size > (uint64_t)packed * MAX_RATIO)
		return -EBADMSG;
	payload->at = malloc(size + 1);
	if (!payload->at)
		return -ENOMEM;
	n = ZSTD_decompress(payload->at, size, frame, packed);
	payload->room = n;
	return ZSTD_isError(n) || n != size ? -EBADMSG : 0;
}

int rvt_index_read(const void *payload, size_t len, const struct index_key *key,
		   struct rvt_index **result)
{
	struct rvt_index *index = calloc(1, sizeof(*index));
	struct index_buffer in = { .at = (uint8_t *)payload, .room = len };
	int err = index ? 0 : -ENOMEM;

	if (!err) {
		get_key(&in, &index->key);
		if (in.failed)
			err = -EBADMSG;
		else if (key && memcmp(key, &index->key, sizeof(*key)))
			err = -ESTALE;
	}
	if (!err) {
		index->trace = get(&in);
		get_missing(&in, index);
		get_tasks(&in, index);
		get_granules(&in, index);
		get_segments(&in, index);
		get_stations(&in, index);
		if (in.failed || in.n != in.room)
			err = -EBADMSG;
	}
	if (err)
		rvt_index_free(index);
	else
		*result = index;
	return err;
}

int rvt_index_parse(const void *bytes, size_t len, const struct index_key *key,
		    struct rvt_index **result)
{
	struct index_buffer payload = { .at = NULL };
	int err = decompress(bytes, len, &payload);

	if (!err)
		err = rvt_index_read(payload.at, payload.room, key, result);
	free(payload.at);
	return err;
}

/* ---- whether it fits ---- */

/* A segment begins in a record, or with the buffer; the next one of the buffer is behind it. */
static bool is_in_order(const struct rvt_session *session, const struct rvt_index *index, size_t n)
{
	const struct index_segment *segment = &index->segments[n];
	const struct buffer *buffer;
	const struct rvt_aux *aux;

	if (segment->buffer >= session->n_buffers)
		return false;
	buffer = &session->buffers[segment->buffer];
	if (!n || segment[-1].buffer != segment->buffer)
		return !segment->from && !segment->record && buffer->n_records &&
			(!n || segment[-1].buffer < segment->buffer);
	if (segment->from <= segment[-1].from || segment->record < segment[-1].record ||
	    segment->record >= buffer->n_records)
		return false;
	aux = &buffer->records[segment->record];
	return segment->from >= aux->offset && segment->from - aux->offset <= aux->size;
}

static bool is_spot_whole(const struct buffer *buffer, const struct index_spot *spot)
{
	return spot->record < buffer->n_records ?
		!spot->begun || spot->done <= buffer->records[spot->record].size :
		spot->record == buffer->n_records && !spot->begun;
}

static bool are_stations_whole(const struct rvt_session *session, const struct rvt_index *index)
{
	if (index->n_stations && index->n_spots != session->n_buffers)
		return false;
	for (size_t i = 0; i < index->n_stations; i++)
		for (size_t k = 0; k < index->n_spots; k++)
			if (!is_spot_whole(&session->buffers[k], &index->stations[i].spots[k]))
				return false;
	return true;
}

static bool is_whole(const struct rvt_session *session, const struct rvt_index *index)
{
	size_t buffers = 0, found = 0;

	for (size_t i = 0; i < session->n_buffers; i++)
		buffers += session->buffers[i].n_records != 0;
	for (size_t i = 0; i < index->n_segments; i++) {
		if (!is_in_order(session, index, i))
			return false;
		found += index_is_last(index, i);
	}
	return buffers == found && are_stations_whole(session, index);
}

int rvt_index_unpack(const struct rvt_session *session, const void *bytes, size_t len,
		     struct rvt_index **index, const char **why)
{
	struct index_key key = { .size = 0 };
	int err = session->file ? rvt_index_key(session, &key) : -ESTALE;

	if (!err)
		err = rvt_index_parse(bytes, len, &key, index);
	if (!err && !is_whole(session, *index)) {
		rvt_index_free(*index);
		err = -EBADMSG;
	}
	*why = err == -EPROTO ? "another version of this program made it" :
	       err == -ESTALE ? "the recording, a file with code or an option that chooses it is "
				"another than when it was made" :
	       err == -EBADMSG ? "it is damaged" : err ? strerror(-err) : NULL;
	return err;
}
