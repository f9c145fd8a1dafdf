// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * --switch-output: writes one complete file after another. Tracing pauses while files change, so
 * that each begins and ends with whole messages; what ran meanwhile is in none of them. With
 * --profile it does not pause: the counts so far are written, and counting begins anew.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include "common/cmd.h"
#include "record/code.h"
#include "record/control.h"
#include "record/live.h"
#include "record/record.h"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Returns a name as perf makes it: NAME.YYYYMMDDhhmmss and hundredths. Malloc'd. */
char *record_output_name(const struct recorder *rec)
{
	char *name, date[32];
	struct timeval tv;
	struct tm tm;

	gettimeofday(&tv, NULL);
	localtime_r(&tv.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y%m%d%H%M%S", &tm);
	if (asprintf(&name, "%s.%s%02u", rec->options.output, date,
		     (unsigned int)tv.tv_usec / 10000) < 0)
		return NULL;
	return name;
}

bool record_is_switch_due(const struct recorder *rec, bool signalled)
{
	const struct record_options *options = &rec->options;

	if (!rec->writer && !rec->live)
		return false;
	switch (options->switch_output) {
	case OUTPUT_BY_SIGNAL: return signalled;
	case OUTPUT_BY_SIZE:
		return rvt_perfdata_written(rec->writer) >= options->switch_at;
	case OUTPUT_BY_TIME: return now() - rec->output_began >= options->switch_at;
	default: return false;
	}
}

void record_note_output(struct recorder *rec)
{
	rec->output_began = now();
}

static int switch_file(struct recorder *rec)
{
	char *name = record_output_name(rec), *before = rec->output_name;
	bool paused = rec->paused;
	int err;

	if (!name)
		return -ENOMEM;
	record_disable(rec);
	err = record_drain(rec, true);
	if (!err) {
		record_add_code(rec);
		err = record_drain(rec, true);	/* changes to the code before it was copied */
	}
	if (!err)
		err = record_end_file(rec);
	if (!err && !rec->options.quiet)
		fprintf(stderr, "[ perf rvtrace record: %s is complete ]\n", before);
	if (!err) {
		rec->output_name = name;
		err = record_begin_file(rec, name);
		free(before);
	} else {
		free(name);
	}
	record_note_output(rec);
	if (err)
		return err;
	return paused ? record_enable_sideband(rec) : record_enable(rec);
}

/* Has the profile of this file end where the next one begins. */
static int switch_profile(struct recorder *rec)
{
	char *name = record_output_name(rec), *before = rec->output_name;

	if (!name)
		return -ENOMEM;
	rec->output_name = name;
	live_switch(rec->live, before);
	record_note_output(rec);
	return 0;
}

int record_switch_output(struct recorder *rec)
{
	return rec->live ? switch_profile(rec) : switch_file(rec);
}

int record_take_snapshot(struct recorder *rec)
{
	const struct trigger *trigger = triggers_due(rec);
	bool own_file = rec->options.switch_output;
	int err;

	record_hold(rec, trigger ? (int)trigger->sample.cpu : -1);
	if (trigger && rec->snapshots && !record_has_newer(rec)) {
		triggers_leave_out(rec);
		return record_release(rec);
	}
	err = record_newest(rec, own_file);
	triggers_taken(rec);
	if (err)
		return err;
	return own_file ? record_switch_output(rec) : record_release(rec);
}
