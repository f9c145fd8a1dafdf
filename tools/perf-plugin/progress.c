// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "progress.h"

#define INTERVAL_US 250000

static volatile sig_atomic_t interrupted, due;
static bool shown;

struct progress {
	struct rvt_session *session;
	const struct rvt_session_sink *sink;
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

void progress_hide(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}

static void show(const struct progress *progress)
{
	struct rvt_session_stats stats;
	double seconds = now() - progress->began, rate, done;

	due = 0;
	rvt_session_stats(progress->session, &stats);
	done = stats.trace_bytes + stats.missing_bytes;
	rate = done / seconds;
	if (!progress->size || rate <= 0)
		return;
	fprintf(stderr, "\r[ %3.0f%%  %.1f of %.1f MB, %.1f MB/s, %.0f s left ]\033[K",
		100 * done / progress->size, done / 1e6, progress->size / 1e6, rate / 1e6,
		(progress->size - done) / rate);
	shown = true;
}

static int look(const struct progress *progress)
{
	if (due)
		show(progress);
	return interrupted ? -EINTR : 0;
}

static int take_aux(void *ctx, unsigned int buffer, const struct rvt_aux *aux)
{
	const struct progress *progress = ctx;
	int err = look(progress);

	if (err || !progress->sink->aux)
		return err;
	return progress->sink->aux(progress->sink->ctx, buffer, aux);
}

static int take_runs(void *ctx, struct rvt_lane *lane, const struct rvt_run *runs, size_t n)
{
	const struct progress *progress = ctx;
	int err = look(progress);

	return err ? err : progress->sink->runs(progress->sink->ctx, lane, runs, n);
}

static int take_event(void *ctx, struct rvt_lane *lane, const struct rvt_event *event)
{
	const struct progress *progress = ctx;
	int err = look(progress);

	if (err || !progress->sink->event)
		return err;
	return progress->sink->event(progress->sink->ctx, lane, event);
}

static int take_count_run(void *ctx, struct rvt_lane *lane, const struct rvt_run *run, uint64_t times)
{
	const struct progress *progress = ctx;
	int err = look(progress);

	return err ? err : progress->sink->count_run(progress->sink->ctx, lane, run, times);
}

static int take_count_edge(void *ctx, struct rvt_lane *lane, uint64_t from, uint64_t to,
			   enum rvt_insn_class iclass, int64_t times)
{
	const struct progress *progress = ctx;
	int err = look(progress);

	return err ? err : progress->sink->count_edge(progress->sink->ctx, lane, from, to, iclass,
						      times);
}

static void take_reset(void *ctx)
{
	const struct progress *progress = ctx;

	progress->sink->reset(progress->sink->ctx);
}

static void take_warning(void *ctx, const char *text)
{
	const struct progress *progress = ctx;

	progress_hide();
	if (progress->sink->warning)
		progress->sink->warning(progress->sink->ctx, text);
}

static void take_end(void *ctx, struct rvt_lane *lane)
{
	const struct progress *progress = ctx;

	if (progress->sink->end)
		progress->sink->end(progress->sink->ctx, lane);
}

int progress_run(struct rvt_session *session, const struct rvt_session_sink *sink, bool prints)
{
	struct progress progress = { session, sink, rvt_session_size(session), now() };
	const struct rvt_session_sink own = {
		.ctx = &progress, .aux = take_aux, .runs = sink->runs ? take_runs : NULL,
		.event = take_event, .count_run = sink->count_run ? take_count_run : NULL,
		.count_edge = sink->count_edge ? take_count_edge : NULL,
		.reset = sink->reset ? take_reset : NULL,
		.warning = take_warning, .end = take_end,
	};
	struct itimerval timer = { { 0, INTERVAL_US }, { 0, INTERVAL_US } };
	/* the second Ctrl-C is the default: it kills */
	struct sigaction stop = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_RESETHAND };
	struct sigaction tick = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int err;

	sigaction(SIGINT, &stop, NULL);
	if (isatty(STDERR_FILENO) && !(prints && isatty(STDOUT_FILENO))) {
		sigaction(SIGALRM, &tick, NULL);
		setitimer(ITIMER_REAL, &timer, NULL);
	}
	err = rvt_session_run(session, &own);
	timer = (struct itimerval){ 0 };
	setitimer(ITIMER_REAL, &timer, NULL);
	progress_hide();
	return err;
}
