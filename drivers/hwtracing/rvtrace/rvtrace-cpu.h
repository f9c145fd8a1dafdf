/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: the state of a hart.
 */
#ifndef _RVTRACE_CPU_H
#define _RVTRACE_CPU_H

#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "rvtrace-event.h"

struct rvtrace_aux;
struct rvtrace_aux_sink;
struct rvtrace_encoder;
struct rvtrace_path;

/**
 * struct rvtrace_late - the deferred record of a hart
 * @event:	event whose trace is in the AUX buffer without a record, or NULL; no record is open
 *		then
 * @lock:	held while the record is written, by this hart or the one that its event moved to
 * @aux:	serial number of the AUX buffer
 * @task:	thread that was traced, at least at its end. It has not exited yet: see
 *		rvtrace_late_flush_task()
 * @csd:	a call to this hart that makes it write the record
 */
struct rvtrace_late {
	struct perf_event *event;
	raw_spinlock_t lock;
	u64 aux;
	struct task_struct *task;
	call_single_data_t csd;
};

/**
 * struct rvtrace_cpu - what a hart is tracing
 * @handle:	the open AUX record
 * @aux:	the AUX buffer while a record is open in @handle, or NULL
 * @direct:	how the sink writes into it, or NULL
 * @written:	bytes put into it since the record was opened, or of the deferred record
 * @mixed:	that is trace of several threads, which the trace itself names
 * @late:	the deferred record
 * @prev:	the task that the hart switched from last. While it is current, a switch is going on
 * @next_has_events: the task that the hart switches to has events of perf
 * @context_task: the task whose id the last context switch put into a context CSR, or NULL
 * @context_csr: the last CSR that it put the id into
 * @changed:	perf has started or stopped an event since it last enabled the PMU
 * @event:	running event, or NULL
 * @running:	@event has been started, and is not being stopped or drained
 * @parked:	event to start again when the hart wakes up, or NULL
 * @sleeps:	the encoder has been prepared for a deep idle state of the hart
 * @encoder:	the hart's encoder, or NULL. It may go at any time but in an RCU critical section
 *		and while the hart's interrupts are off.
 * @path:	path to the sink while @event runs
 * @held:	the encoder is stopped until the sink has been drained. Protected by the locks of
 *		@path
 * @attend_csd:	a call to this hart that makes it stop its encoder, or start it again, as the state
 *		of the sink has it
 * @lost:	trace of this hart is missing, as another hart found when it stopped the encoder or
 *		drained the sink. Protected by the locks of @path
 * @timer:	drains the sink before it is full
 * @timer_room:	bytes that the sink must have room for, for @timer to be soon enough; 0: @timer is
 *		not pending
 * @window:	opens and closes the window of a duty cycle
 * @window_closed: the window is closed
 * @in_guest:	the hart runs a guest of KVM, or has come out of it just now
 * @started:	when @event was started, in cycles of the timebase
 * @cycles:	how long events have run before, in cycles of the timebase
 * @poll_cycles:	how long events had run when the sink was last polled
 * @poll_traced:	bytes that the sink had delivered then
 * @rate:	bytes per 2^20 ns, a decaying maximum
 */
struct rvtrace_cpu {
	struct perf_output_handle handle;
	struct rvtrace_aux *aux;
	const struct rvtrace_aux_sink *direct;
	size_t written;
	bool mixed;
#if IS_ENABLED(CONFIG_RVTRACE_LATE_RECORDS)
	struct rvtrace_late late;
#endif
	const struct task_struct *prev;
	bool next_has_events;
	const struct task_struct *context_task;
	enum rvtrace_context context_csr;
	bool changed;
	struct perf_event *event;
	bool running;
	struct perf_event *parked;
	bool sleeps;
	struct rvtrace_encoder *encoder;
	struct rvtrace_path *path;
	bool held;
	call_single_data_t attend_csd;
	bool lost;
	struct hrtimer timer;
	u64 timer_room;
	struct hrtimer window;
	bool window_closed;
	bool in_guest;
	u64 started;
	u64 cycles;
	u64 poll_cycles;
	u64 poll_traced;
	u64 rate;
};

DECLARE_PER_CPU(struct rvtrace_cpu, rvtrace_cpus);

/* Returns whether the hart leaves the running task. perf calls this in a context switch. */
static inline bool rvtrace_in_switch(const struct rvtrace_cpu *rc)
{
	return rc->prev == current;
}

#ifdef RVTRACE_NO_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#endif
