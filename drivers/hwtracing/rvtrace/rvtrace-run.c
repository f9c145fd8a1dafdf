// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the event that a hart traces. Starts it, stops it, and drains its sink in time.
 *
 * All of this happens on the hart itself with interrupts off: in perf's callbacks, in timers, and
 * in the hooks of the scheduler. Starting and stopping are parts of a context switch, so they avoid
 * whatever is expensive: a timer that is pending stays pending, and the time is read from a CSR.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/smp.h>
#include <linux/timex.h>

#include "rvtrace-aux.h"
#include "rvtrace-encoder.h"
#include "rvtrace-flight.h"
#include "rvtrace-late.h"
#include "rvtrace-output.h"
#include "rvtrace-ramsink.h"
#include "rvtrace-session.h"

/*
 * Polling a running sink costs one register read. The period is short enough for the fastest trace
 * to be expected. The sink is drained when it is a quarter full, so it is at most half full at the
 * next poll.
 */
#define RVTRACE_POLL_MIN_NS	(100 * NSEC_PER_USEC)
#define RVTRACE_POLL_MAX_NS	(10 * NSEC_PER_MSEC)
/* Bytes per 2^20 ns: about 256 MB/s, one hart at 2 GHz with one bit an instruction */
#define RVTRACE_RATE_MAX	(256 << 10)
#define RVTRACE_RATE_SHIFT	20

/*
 * Trace is copied with interrupts off. So a sink whose trace is copied is drained when it has a
 * quarter of this, in bytes, however large its buffer; the rest of the buffer is for timers that
 * come late. Half of this takes 50 us at 1.3 GB/s, and the sink is polled before it can have more:
 * nobody knows when a hart that was idle becomes busy.
 */
#define RVTRACE_COPY_MAX	SZ_128K

/* Whether the trace of @sink is copied from system memory */
static bool rvtrace_is_copied(const struct rvtrace_ramsink *sink)
{
	return sink->smem && !sink->direct;
}

/*
 * The size of the buffer of @sink as far as polling is concerned. A memory of the sink's own is
 * small, and reading it in smaller parts would cost a timer every 100 us.
 */
VISIBLE_IF_KUNIT size_t rvtrace_drain_size(const struct rvtrace_ramsink *sink)
{
	return rvtrace_is_copied(sink) ? min_t(size_t, sink->size, RVTRACE_COPY_MAX) : sink->size;
}

/* The rate to expect until the next poll, when the measured rate is @rate */
VISIBLE_IF_KUNIT u64 rvtrace_rate_expected(u64 rate)
{
	return clamp_t(u64, rate * 8, RVTRACE_RATE_MAX / 16, RVTRACE_RATE_MAX);
}

/* Time until the next poll in ns: when @room bytes are full at the @expected rate, within bounds */
VISIBLE_IF_KUNIT u64 rvtrace_poll_delay(u64 room, u64 expected)
{
	return clamp_t(u64, div64_u64(room << RVTRACE_RATE_SHIFT, expected), RVTRACE_POLL_MIN_NS,
		       RVTRACE_POLL_MAX_NS);
}

/*
 * Arms the timer for the next poll. A timer that is pending, and expires soon enough, stays:
 * starting a timer is expensive. The room gets smaller from start to start; a quarter of it is kept
 * back for that, or each start would have to start the timer again.
 */
static void rvtrace_timer_arm(struct rvtrace_cpu *rc, size_t fill)
{
	struct rvtrace_ramsink *sink = rc->path->ram;
	size_t half = rvtrace_drain_size(sink) / 2;
	u64 room = half > fill ? half - fill : 0;
	u64 rate, ns;

	if (rc->timer_room && room >= rc->timer_room)
		return;
	room -= room / 4;
	rate = rvtrace_is_copied(sink) ? RVTRACE_RATE_MAX : rvtrace_rate_expected(rc->rate);
	ns = rvtrace_poll_delay(room, rate);
	rc->timer_room = max_t(u64, min((ns * rate) >> RVTRACE_RATE_SHIFT, room), 1);
	hrtimer_start(&rc->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_PINNED_HARD);
}

/*
 * The new measured rate, after @bytes in @ns. The old one decays by a quarter with each poll, so
 * that one idle period does not make the next poll too late.
 */
VISIBLE_IF_KUNIT u64 rvtrace_rate_after(u64 rate, u64 bytes, u64 ns)
{
	return max(rate - rate / 4, div64_u64(bytes << RVTRACE_RATE_SHIFT, max_t(u64, ns, 1)));
}

/* Measures the rate. Only the time in which events ran counts. */
static void rvtrace_rate_update(struct rvtrace_cpu *rc, u64 traced)
{
	u64 cycles = rc->cycles + get_cycles64() - rc->started;
	u64 ns = mul_u64_u32_div(cycles - rc->poll_cycles, NSEC_PER_SEC, riscv_timebase);
	u64 bytes = traced > rc->poll_traced ? traced - rc->poll_traced : 0;

	rc->rate = rvtrace_rate_after(rc->rate, bytes, ns);
	rc->poll_cycles = cycles;
	rc->poll_traced = traced;
}

/*
 * Returns whether the sink has to be drained in time. In overwrite mode it may wrap. But where its
 * trace is copied, all of a large buffer would take too long.
 */
static bool rvtrace_session_polls(const struct rvtrace_cpu *rc)
{
	return !rc->aux->overwrite || rvtrace_is_copied(rc->path->ram);
}

/* Inline, as each context switch does it */
static __always_inline void rvtrace_session_end(struct rvtrace_cpu *rc)
{
	rc->cycles += get_cycles64() - rc->started;
	if (rvtrace_event_config(rc->event)->window_ns)
		hrtimer_try_to_cancel(&rc->window);
	rc->event->hw.state |= PERF_HES_STOPPED;
	rc->event = NULL;
	rvtrace_flight_enter(rc);
}

static int rvtrace_session_begin(struct rvtrace_cpu *rc, struct perf_event *event)
{
	const struct rvtrace_config *config = rvtrace_event_config(event);
	bool ram = rc->path->ram;
	int ret;

	rc->event = event;
	rc->window_closed = false;
	if (ram && !rvtrace_output_begin(rc)) {
		rc->event = NULL;
		return -ENOSPC;
	}
	ret = rvtrace_path_start(rc);
	if (ret) {
		if (ram)
			rvtrace_output_end(rc);
		rc->event = NULL;
		return ret;
	}
	rc->started = get_cycles64();
	if (ram && rvtrace_session_polls(rc))
		rvtrace_timer_arm(rc, 0);
	if (config->window_ns)
		hrtimer_start(&rc->window, ns_to_ktime(config->window_ns),
			      HRTIMER_MODE_REL_PINNED_HARD);
	rc->running = true;
	return 0;
}

/* Opens a record, if the trace goes to memory, and starts the hardware */
int rvtrace_session_start(struct rvtrace_cpu *rc, struct perf_event *event)
{
	int ret;

	rvtrace_flight_leave(rc);
	ret = rvtrace_session_begin(rc, event);
	if (ret)
		rvtrace_flight_enter(rc);
	return ret;
}

/*
 * Returns whether the hart switches to another task now and the event's record may be deferred. It
 * may not
 * - when the task exits, see rvtrace_late_flush_task();
 * - when other harts share the sink: they may get the trace that is still in it, so their records
 *   must come after this one;
 * - when the next task seems to be traced, too, and cannot continue the record.
 */
static bool rvtrace_session_may_defer(const struct rvtrace_cpu *rc)
{
	const struct rvtrace_config *config = rvtrace_event_config(rc->event);

	return rvtrace_in_switch(rc) && !(current->flags & PF_EXITING) && config->deferrable &&
	       (config->tagged || !rc->next_has_events) && rvtrace_path_is_exclusive(rc->path);
}

void rvtrace_session_stop(struct rvtrace_cpu *rc)
{
	rc->running = false;
	rvtrace_path_stop(rc);
	if (rc->path->ram) {
		if (!rvtrace_session_may_defer(rc) || !rvtrace_late_defer(rc))
			rvtrace_output_end(rc);
	}
	rvtrace_session_end(rc);
}

/* Goes on after a drain, unless the event cannot. */
static void rvtrace_session_continue(struct rvtrace_cpu *rc, bool again)
{
	if (!again) {
		rvtrace_session_end(rc);
		return;
	}
	rc->running = true;
	if (rvtrace_session_polls(rc))
		rvtrace_timer_arm(rc, 0);
}

static void rvtrace_session_drain(struct rvtrace_cpu *rc, bool keep)
{
	if (!rc->path->ram)
		return;
	rc->running = false;
	rvtrace_session_continue(rc, rvtrace_path_drain(rc, keep));
}

static enum hrtimer_restart rvtrace_timer(struct hrtimer *timer)
{
	struct rvtrace_cpu *rc = container_of(timer, struct rvtrace_cpu, timer);
	struct rvtrace_ramsink *sink;
	size_t fill;

	guard(irqsave)();
	rc->timer_room = 0;
	if (rc != this_cpu_ptr(&rvtrace_cpus))
		return HRTIMER_NORESTART;
	rvtrace_late_flush(rc);
	/* Nothing runs any more, or the event's sink is not polled. */
	if (!rc->running || !rc->aux || !rvtrace_session_polls(rc))
		return HRTIMER_NORESTART;
	sink = rc->path->ram;
	fill = rvtrace_ramsink_fill(sink);
	rvtrace_rate_update(rc, sink->traced + fill);
	if (fill >= rvtrace_drain_size(sink) / 4)
		rvtrace_session_drain(rc, rc->aux->overwrite);
	else
		rvtrace_timer_arm(rc, fill);
	return HRTIMER_NORESTART;
}

/*
 * Opens and closes the window of a duty cycle. The trace itself shows where the encoder stopped and
 * started.
 */
static enum hrtimer_restart rvtrace_window(struct hrtimer *timer)
{
	struct rvtrace_cpu *rc = container_of(timer, struct rvtrace_cpu, window);
	const struct rvtrace_config *config;

	guard(irqsave)();
	if (rc != this_cpu_ptr(&rvtrace_cpus) || !rc->event)
		return HRTIMER_NORESTART;
	config = rvtrace_event_config(rc->event);
	rc->window_closed = !rc->window_closed;
	rvtrace_path_update_tracing(rc);
	hrtimer_forward_now(timer, ns_to_ktime(rc->window_closed ? config->pause_ns :
								   config->window_ns));
	return HRTIMER_RESTART;
}

/* Hands over what the running event has recorded so far, so that an AUX record ends here. */
void rvtrace_run_drain(void)
{
	struct rvtrace_cpu *rc;

	guard(irqsave)();
	rc = this_cpu_ptr(&rvtrace_cpus);
	if (rc->running)
		rvtrace_session_drain(rc, false);
}

/*
 * Ends the record if it must not have trace of both tasks. The next task inherited the same events
 * as this one: perf lets the event run, and swaps the contexts of the two tasks. Called in a
 * context switch, on the hart.
 */
void rvtrace_run_swap(void)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);

	if (rc->running && rc->path->ram && rvtrace_output_swap(rc))
		rvtrace_session_drain(rc, false);
}

/*
 * Does what another hart has asked for: it wants to drain the sink that both use, or has done so.
 * Interrupts are off.
 */
static void rvtrace_run_attend(void *unused)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);

	if (!rc->running || !rc->path->ram)
		return;
	rc->running = false;
	rvtrace_session_continue(rc, rvtrace_path_attend(rc));
}

/* Stops the running event, because the hart goes down. perf takes the event off the hart later. */
void rvtrace_run_halt(void)
{
	struct rvtrace_cpu *rc;

	guard(irqsave)();
	rc = this_cpu_ptr(&rvtrace_cpus);
	if (rc->event)
		rvtrace_session_stop(rc);
	rvtrace_flight_leave(rc);
	rvtrace_late_flush(rc);
	/* The hotplug core would migrate the timer to another hart. */
	hrtimer_try_to_cancel(&rc->timer);
	rc->timer_room = 0;
}

/*
 * Stops the event as rvtrace_run_halt() does, but for good: the hart's encoder goes away, and with
 * it the paths.
 */
void rvtrace_run_detach(void)
{
	struct rvtrace_cpu *rc;

	guard(irqsave)();
	rc = this_cpu_ptr(&rvtrace_cpus);
	rvtrace_run_halt();
	rc->parked = NULL;
	rc->path = NULL;
	WRITE_ONCE(rc->encoder, NULL);
}

/*
 * Stops the running event, because the hart or the whole system goes to sleep. rvtrace_run_unpark()
 * starts it again, unless perf stops it meanwhile. Interrupts are off.
 */
void rvtrace_run_park(void)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);
	struct perf_event *event = rc->event;

	rvtrace_late_flush(rc);
	/* CSRs may be lost, too. */
	rc->context_task = NULL;
	if (event) {
		rvtrace_session_stop(rc);
		rc->parked = event;
	}
	rvtrace_flight_leave(rc);
}

void rvtrace_run_unpark(void)
{
	struct rvtrace_cpu *rc = this_cpu_ptr(&rvtrace_cpus);
	struct perf_event *event = rc->parked;

	rc->parked = NULL;
	if (event && !rvtrace_session_start(rc, event))
		event->hw.state = 0;
	rvtrace_flight_enter(rc);
}

void rvtrace_run_init(void)
{
	struct rvtrace_cpu *rc;
	int cpu;

	for_each_possible_cpu(cpu) {
		rc = &per_cpu(rvtrace_cpus, cpu);
		hrtimer_setup(&rc->timer, rvtrace_timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_HARD);
		hrtimer_setup(&rc->window, rvtrace_window, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_HARD);
		rvtrace_late_init(rc);
		INIT_CSD(&rc->attend_csd, rvtrace_run_attend, NULL);
	}
}

/* Cancels timers that are still pending when nothing runs any more. */
void rvtrace_run_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu(rvtrace_cpus, cpu).timer);
	/* A call may be under way to a hart. */
	kick_all_cpus_sync();
}
