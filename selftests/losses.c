// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Encoders that share a sink and lose trace, because they overflow. Whichever hart drains the sink
 * gets the trace of all. What a hart has lost, its own event must say, too.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>
#include "common.h"

/* Small, so that the harts often drain the sink */
#define AUX_SIZE (256u << 10)

/*
 * A record of @rec after @since has the flag PARTIAL: one that was written before @time, or the
 * first one at @time or later.
 */
static bool flagged(const struct recording *rec, uint64_t since, uint64_t time)
{
	for (unsigned int i = 0; i < rec->records; i++) {
		if (rec->spans[i].time <= since)
			continue;
		if (rec->spans[i].partial)
			return true;
		if (rec->spans[i].time >= time)
			return false;
	}
	return false;
}

/*
 * Records of @rec with trace that the hart of @other lost, and how many of these losses @other does
 * not flag. Its SRC is @src.
 */
static unsigned int losses(const struct recording *rec, const struct recording *other,
			   unsigned int src, unsigned int *silent)
{
	unsigned int n = 0;
	struct messages m;

	for (unsigned int i = 0; i < rec->records; i++) {
		messages_count_record(rec, i, &m);
		if (!(m.error_sources >> src & 1))
			continue;
		n++;
		if (!flagged(other, i ? rec->spans[i - 1].time : 0, rec->spans[i].time)) {
			++*silent;
			tap_note("lost at %llu, not flagged",
				 (unsigned long long)rec->spans[i].time);
		}
	}
	return n;
}

int main(void)
{
	unsigned int n = 0, silent = 0;
	struct perf_event_attr attr;
	struct recording rec[2];
	pid_t pid[2];
	int ret = 0;

	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || access(BUS_DIR "/funnel-0", F_OK))
		tap_skip_all("no two encoders that share a sink");
	tap_plan(1);
	attr_init(&attr, 0);
	for (int i = 0; i < 2; i++)
		pid[i] = busy_child(i, 0);
	for (int i = 0; i < 2 && !ret; i++)
		ret = recording_open(&rec[i], &attr, -1, i, AUX_SIZE);
	for (int i = 0; i < 2 && !ret; i++)
		ret = recording_enable(&rec[i]);
	for (int k = 0; k < 50 && !ret; k++) {
		usleep(5000);
		for (int i = 0; i < 2; i++)
			recording_read(&rec[i], true);
	}
	for (int i = 0; i < 2 && !ret; i++) {
		recording_disable(&rec[i]);
		recording_read(&rec[i], false);
	}
	for (int i = 0; i < 2; i++)
		end_child(pid[i]);
	if (!ret) {
		n = losses(&rec[0], &rec[1], 1, &silent) + losses(&rec[1], &rec[0], 0, &silent);
		for (int i = 0; i < 2; i++)
			tap_note("CPU %d: %u records, %u partial, %u truncated", i, rec[i].records,
				 rec[i].partial, rec[i].truncated);
	}
	if (!ret && !n)
		tap_skip("no encoder overflowed", "losses in a shared sink");
	else
		tap_check(!ret && !silent,
			  "losses in a shared sink: %u, %u of them are not flagged (%d)", n, silent,
			  ret);
	tap_end();
}
