// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * `perf rvtrace record --profile`: a thread decodes the trace while it is recorded, and keeps only
 * counts. A recording in memory, without trace, has what the decoder needs to begin.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <rvtrace/session.h>
#include "session/access.h"
#include "util/array.h"
#include "common/cmd.h"
#include "common/output.h"
#include "profile/profile.h"
#include "record/code.h"
#include "record/live.h"
#include "record/record.h"

#define MIN_WAITING (16u << 20)

/* What was read from all rings in one pass. */
struct round {
	struct round *next;
	uint8_t *bytes;
	size_t len, room;
};

struct live {
	const struct recorder *rec;
	struct rvt_session_options options;
	struct rvt_session *session;
	const struct profile_format *format;
	struct places *places;
	void *profile;
	struct rvt_transfers *transfers;
	struct rvt_session_sink sink;
	struct round *filling;
	pthread_t thread;
	bool started;
	uint64_t max_waiting;
	/* shared by the threads, under .lock */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct round *first, **last;
	uint64_t waiting;	/* bytes in those rounds */
	char *switch_to;	/* the file to write next; NULL: none */
	bool over;
	int err;		/* from decoding, or from writing a file */
};

/* ---- rounds ---- */

bool live_has_room(struct live *live)
{
	bool room;

	pthread_mutex_lock(&live->lock);
	room = live->waiting < live->max_waiting;
	pthread_mutex_unlock(&live->lock);
	return room;
}

int live_put(struct live *live, const void *bytes, size_t len)
{
	struct round *round = live->filling;

	if (!round)
		round = live->filling = calloc(1, sizeof(*round));
	if (!round)
		return -ENOMEM;
	if (array_reserve(&round->bytes, &round->room, round->len, len))
		return -ENOMEM;
	memcpy(round->bytes + round->len, bytes, len);
	round->len += len;
	return 0;
}

static void free_round(struct round *round)
{
	if (round)
		free(round->bytes);
	free(round);
}

int live_end_round(struct live *live)
{
	const struct perf_event_header end = { RVT_RECORD_FINISHED_ROUND, 0, sizeof(end) };
	int err = live_put(live, &end, sizeof(end));

	if (err)
		return err;
	pthread_mutex_lock(&live->lock);
	*live->last = live->filling;
	live->last = &live->filling->next;
	live->waiting += live->filling->len;
	err = live->err;
	pthread_cond_signal(&live->more);
	pthread_mutex_unlock(&live->lock);
	live->filling = NULL;
	return err;
}

/* Waits for the next round. NULL: there are no more. */
static struct round *next_round(struct live *live)
{
	struct round *round;

	pthread_mutex_lock(&live->lock);
	while (!live->first && !live->over)
		pthread_cond_wait(&live->more, &live->lock);
	round = live->first;
	if (round) {
		live->first = round->next;
		if (!live->first)
			live->last = &live->first;
	}
	pthread_mutex_unlock(&live->lock);
	return round;
}

/* Frees a round. Until here it counted as waiting, as it takes memory. */
static void end_round(struct live *live, struct round *round, int err)
{
	pthread_mutex_lock(&live->lock);
	live->waiting -= round->len;
	live->err = err;
	pthread_mutex_unlock(&live->lock);
	free_round(round);
}

static int write_profile(const struct live *live, const char *path)
{
	struct output_file file;
	FILE *out = output_open(&file, path);
	int err;

	if (!out)
		return -EIO;
	err = live->format->write(live->profile, live->format->name, live->rec->options.dso, out);
	return output_close(&file, out, err);
}

/* --switch-output: writes the file that is due, if any. */
static int write_due(struct live *live)
{
	char *name;
	int err;

	pthread_mutex_lock(&live->lock);
	name = live->switch_to;
	pthread_mutex_unlock(&live->lock);
	if (!name)
		return 0;
	err = write_profile(live, name);
	/* a file that did not run so far has no profile; it may run later */
	if (err == -ENOENT)
		err = 0;
	live->format->forget(live->profile);
	if (!err && !live->rec->options.quiet)
		fprintf(stderr, "[ perf rvtrace record: %s is complete ]\n", name);
	pthread_mutex_lock(&live->lock);
	live->switch_to = NULL;
	pthread_mutex_unlock(&live->lock);
	free(name);
	return err;
}

void live_switch(struct live *live, char *name)
{
	pthread_mutex_lock(&live->lock);
	if (!live->switch_to) {
		live->switch_to = name;
		name = NULL;
	}
	pthread_mutex_unlock(&live->lock);
	free(name);
}

static void *decode(void *ctx)
{
	struct live *live = ctx;
	struct round *round;
	int err = 0;

	while (!err && (round = next_round(live))) {
		err = rvt_session_feed(live->session, round->bytes, round->len);
		if (!err)
			err = write_due(live);
		end_round(live, round, err);
	}
	return NULL;
}

/* ---- beginning ---- */

/*
 * Writes an empty record for each AUX buffer, so that the session knows all buffers before it gets
 * trace.
 */
static int put_empty_buffers(const struct recorder *rec)
{
	int err = 0;

	for (size_t n = 0; n < rec->n_rings && !err; n++) {
		const struct rvt_record_auxtrace none = {
			.header = { RVT_RECORD_AUXTRACE, 0, sizeof(none) }, .idx = n,
			.tid = rec->rings[n].tid, .cpu = rec->rings[n].cpu,
		};

		if (rec->rings[n].aux)
			err = rvt_perfdata_write(rec->writer, &none, sizeof(none));
	}
	return err;
}

/* Makes a recording of what exists already, in memory, and opens a session of it. */
static int open_session(struct live *live, struct recorder *rec)
{
	int fd = memfd_create("rvtrace", MFD_CLOEXEC), err;
	char path[32], *error = NULL;

	if (fd < 0)
		return cmd_error(-errno, "no memory for a recording: %s", strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = record_begin_file(rec, path);
	if (!err)
		err = put_empty_buffers(rec);
	if (!err) {
		record_add_code(rec);
		err = record_end_file(rec);
	}
	if (!err) {
		live->options.size = sizeof(live->options);
		err = rvt_session_open(path, &live->options, &live->session, &error);
		if (err)
			cmd_error(0, "%s", error ? error : "out of memory");
		free(error);
	}
	close(fd);
	return err;
}

static int open_profile(struct live *live)
{
	struct rvt_transfers_ops ops = { .size = sizeof(ops) };

	live->places = places_create(live->session);
	live->profile = live->places ? live->format->create(live->places, &live->options, NULL) :
		NULL;
	if (!live->profile)
		return -ENOMEM;
	live->format->ops(&ops);
	ops.ctx = live->profile;
	live->transfers = rvt_transfers_create(&ops, NULL, 0);
	if (!live->transfers)
		return -ENOMEM;
	live->sink.size = sizeof(live->sink);
	rvt_transfers_sink(live->transfers, &live->sink);
	live->sink.warning = view_warning;
	return rvt_session_begin(live->session, &live->sink);
}

static int start(struct live *live)
{
	int err = open_profile(live);

	if (!err)
		err = -pthread_create(&live->thread, NULL, decode, live);
	live->started = !err;
	return err ? cmd_error(err, "cannot decode while recording: %s", strerror(-err)) : 0;
}

/* Chooses the format. Others need an order of events that is only known at the end. */
static const struct profile_format *choose_format(const struct recorder *rec)
{
	const struct profile_format *format = profile_format(rec->options.profile);

	if (format && !format->add) {
		cmd_error(0, "%s is made from a recording only: perf rvtrace profile",
			  format->name);
		return NULL;
	}
	if (format && rec->ctr) {
		cmd_error(0, "--profile: records of " RECORD_CTR_PMU " are recorded first, then "
			  "given to perf rvtrace profile");
		return NULL;
	}
	return format;
}

int live_open(struct recorder *rec)
{
	const struct profile_format *format = choose_format(rec);
	struct live *live;
	int err;

	if (!format)
		return -EINVAL;
	live = calloc(1, sizeof(*live));
	if (!live)
		return -ENOMEM;
	rec->live = live;
	live->rec = rec;
	live->format = format;
	live->last = &live->first;
	pthread_mutex_init(&live->lock, NULL);
	pthread_cond_init(&live->more, NULL);
	for (size_t n = 0; n < rec->n_rings; n++)
		live->max_waiting += rec->rings[n].aux_bytes;
	if (live->max_waiting < MIN_WAITING)
		live->max_waiting = MIN_WAITING;
	err = open_session(live, rec);
	return err ? err : start(live);
}

/* ---- the end ---- */

static void stop(struct live *live)
{
	if (!live->started)
		return;
	pthread_mutex_lock(&live->lock);
	live->over = true;
	pthread_cond_signal(&live->more);
	pthread_mutex_unlock(&live->lock);
	pthread_join(live->thread, NULL);
	live->started = false;
}

/* in the reserved word of 32 bits behind the size of AUX samples */
static const char *last_output(const struct live *live)
{
	return live->rec->output_name ? live->rec->output_name : live->rec->options.output;
}

static void summarize(const struct live *live, const struct rvt_session_totals *stats)
{
	struct rusage usage = { 0 };

	if (live->rec->options.quiet)
		return;
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "[ perf rvtrace record: %.3f MB of trace, %llu instructions counted, %llu "
		"gaps, %.1f MB of memory, in %s ]\n", stats->session.trace_bytes / 1e6,
		(unsigned long long)stats->flow.insns, (unsigned long long)stats->flow.gaps,
		usage.ru_maxrss / 1e3, last_output(live));
}

int live_finish(struct live *live, uint64_t *gaps, uint64_t *lost_records)
{
	struct rvt_session_totals stats;
	int err;

	stop(live);
	err = live->err ? live->err : rvt_session_end(live->session);
	if (err)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	rvt_session_totals(live->session, &stats);
	*gaps = stats.session.truncated + stats.session.partial + stats.session.collisions;
	*lost_records = stats.session.lost_records;
	err = write_profile(live, last_output(live));
	if (!err)
		summarize(live, &stats);
	return err;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	stop(live);
	while (live->first) {
		struct round *next = live->first->next;

		free_round(live->first);
		live->first = next;
	}
	free_round(live->filling);
	free(live->switch_to);
	rvt_session_close(live->session);
	rvt_transfers_destroy(live->transfers);
	if (live->profile)
		live->format->destroy(live->profile);
	places_destroy(live->places);
	pthread_cond_destroy(&live->more);
	pthread_mutex_destroy(&live->lock);
	free(live);
}
