// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "common/memory.h"
#include "common/pager.h"
#include "common/progress.h"
#include "session/access.h"

#define INTERVAL_US 250000

static volatile sig_atomic_t interrupted, due;
static bool shown;

struct progress {
	struct rvt_session *session;
	uint64_t size;
	double began;	/* s */
};

static void on_signal(int number)
{
	if (number == SIGINT)
		interrupted = 1;
	else
		due = 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

bool progress_interrupted(void)
{
	return interrupted;
}

void progress_hide(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}

static void show(const struct progress *progress)
{
	struct rvt_session_totals stats;
	double seconds = now() - progress->began, rate, done;

	due = 0;
	rvt_session_totals(progress->session, &stats);
	done = stats.session.trace_bytes + stats.session.missing_bytes;
	rate = done / seconds;
	if (!progress->size || rate <= 0)
		return;
	fprintf(stderr, "\r[ %3.0f%%  %.1f of %.1f MB, %.1f MB/s, %.0f s left ]\033[K",
		100 * done / progress->size, done / 1e6, progress->size / 1e6, rate / 1e6,
		(progress->size - done) / rate);
	shown = true;
}

static int look(void *ctx)
{
	if (due)
		show(ctx);
	return interrupted || memory_exceeded() ? -EINTR : 0;
}

/* Begins to show progress. @prints: the caller prints to standard output. */
static void begin(struct progress *progress, struct rvt_session *session, bool prints)
{
	struct itimerval timer = { { 0, INTERVAL_US }, { 0, INTERVAL_US } };
	/* only the first Ctrl-C: a second one kills */
	struct sigaction stop = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND };
	struct sigaction tick = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	*progress = (struct progress){ session, rvt_session_size(session), now() };
	sigaction(SIGINT, &stop, NULL);
	if (isatty(STDERR_FILENO) && !(prints && isatty(STDOUT_FILENO)) && !pager_runs()) {
		sigaction(SIGALRM, &tick, NULL);
		setitimer(ITIMER_REAL, &timer, NULL);
	}
}

static void end(void)
{
	struct itimerval timer = { 0 };

	setitimer(ITIMER_REAL, &timer, NULL);
	progress_hide();
}

/* Returns @sink as it is needed to show progress, and begins that. */
static struct rvt_session_sink begin_sink(struct progress *progress, struct rvt_session *session,
					  const struct rvt_session_sink *sink, bool prints)
{
	struct rvt_session_sink own = *sink;

	own.poll = look;
	own.poll_ctx = progress;
	begin(progress, session, prints);
	return own;
}

int progress_run(struct rvt_session *session, const struct rvt_session_sink *sink,
		 const struct rvt_session_slices *slices, bool prints)
{
	struct progress progress;
	struct rvt_session_sink own = begin_sink(&progress, session, sink, prints);
	int err;

	err = rvt_session_run_slices(session, &own, slices);
	end();
	return err;
}

int progress_index(struct rvt_session *session, struct rvt_index **index)
{
	struct progress progress;
	int err;

	begin(&progress, session, false);
	err = rvt_index_make(session, look, &progress, index);
	end();
	return err;
}

int progress_stations(struct rvt_session *session, struct rvt_index *index,
		      const struct rvt_session_sink *sink, const struct rvt_station_ops *ops,
		      struct rvt_station_span *told)
{
	struct progress progress;
	struct rvt_session_sink own = begin_sink(&progress, session, sink, false);
	int err;

	err = rvt_stations_make(session, index, &own, ops, told);
	end();
	return err;
}

int progress_run_station(struct rvt_session *session, const struct rvt_session_sink *sink,
			 const struct rvt_station_run *run)
{
	struct progress progress;
	struct rvt_session_sink own = begin_sink(&progress, session, sink, false);
	int err;

	err = rvt_stations_run(session, &own, run);
	end();
	return err;
}
