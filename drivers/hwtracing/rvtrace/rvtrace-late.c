// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: late records. Most of the cost of a context switch is the AUX record that ends
 * there, so it may be deferred. Then the trace is in the AUX buffer, but perf's head stays where
 * it was, and the next trace of the event is appended. The driver holds no handle of perf
 * meanwhile. It writes the deferred record when the timer expires, when another thread is to be
 * traced, and when user space may want to see it. Another thread runs then as a rule, and perf
 * puts that thread's id into the record. include/uapi/linux/rvtrace.h says how to recognise such a
 * record and how to find the thread that was traced.
 *
 * Without CONFIG_RVTRACE_LATE_RECORDS each record is written when its event stops.
 */
#include <linux/rvtrace.h>

#include "rvtrace-aux.h"
#include "rvtrace-encoder.h"
#include "rvtrace-late.h"

/*
 * Flags the record that is open in @handle as late: it has the deferred trace of @rc, not trace of
 * the running thread and hart. Another record names thread and hart where the trace is not tagged.
 */
static void rvtrace_late_identify(const struct rvtrace_cpu *rc, struct perf_output_handle *handle)
{
	struct perf_event *event = rc->late.event;
	bool here = rc == this_cpu_ptr(&rvtrace_cpus);
	u64 tid = task_pid_nr_ns(rc->late.task, event->ns);

	if (here && rc->late.task == current && !rc->mixed)
		return;
	perf_aux_output_flag(handle, RVTRACE_AUX_FLAG_LATE);
	if (!here || !rvtrace_event_config(event)->tagged)
		perf_report_aux_output_id(event, FIELD_PREP(RVTRACE_HW_ID_TID, tid) |
						 FIELD_PREP(RVTRACE_HW_ID_CPU, rc->encoder->cpu));
}

/* Writes the deferred record of @rc through @handle, which is not in use */
static void rvtrace_late_flush_by(struct rvtrace_cpu *rc, struct perf_output_handle *handle)
{
	struct rvtrace_aux *aux = perf_aux_output_begin(handle, rc->late.event);
	size_t written = 0;

	if (aux) {
		if (aux->serial == rc->late.aux)
			written = rc->written;
		if (written)
			rvtrace_late_identify(rc, handle);
		perf_aux_output_end(handle, written);
	}
	/* Pairs with smp_load_acquire() in rvtrace_late_flush_from(), on another hart. */
	smp_store_release(&rc->late.event, NULL);
}

/* Writes the deferred record, if there is one and its AUX buffer still exists. */
void rvtrace_late_flush(struct rvtrace_cpu *rc)
{
	if (!READ_ONCE(rc->late.event))
		return;
	raw_spin_lock(&rc->late.lock);
	/* The event may have begun on another hart meanwhile. */
	if (rc->late.event)
		rvtrace_late_flush_by(rc, &rc->handle);
	raw_spin_unlock(&rc->late.lock);
}

/*
 * Returns whether the running event continues the deferred record; then no other hart can write it
 * any more. A record has trace of one thread, unless the trace is tagged: then all threads that
 * inherited the event may follow each other in it.
 */
static bool rvtrace_late_continues(struct rvtrace_cpu *rc)
{
	const struct rvtrace_config *config = rvtrace_event_config(rc->event);
	struct perf_event *deferred = READ_ONCE(rc->late.event);
	bool ret;

	if (!deferred || (deferred != rc->event && !config->tagged))
		return false;
	/* No other hart begins an event that runs here: see rvtrace_late_flush_from(). */
	if (deferred == rc->event) {
		ret = config->tagged || rc->late.task == current;
		if (ret)
			WRITE_ONCE(rc->late.event, NULL);
		return ret;
	}
	raw_spin_lock(&rc->late.lock);
	ret = rc->late.event && rvtrace_event_config(rc->late.event)->serial == config->serial;
	if (ret)
		WRITE_ONCE(rc->late.event, NULL);
	raw_spin_unlock(&rc->late.lock);
	return ret;
}

/*
 * rvtrace_late_begin - begin the record of an event that starts here
 *
 * The record continues the deferred one. If it cannot, this writes the deferred one first.
 */
struct rvtrace_aux *rvtrace_late_begin(struct rvtrace_cpu *rc)
{
	bool continues = rvtrace_late_continues(rc);
	struct rvtrace_aux *aux;

	if (!continues)
		rvtrace_late_flush(rc);
	aux = perf_aux_output_begin(&rc->handle, rc->event);
	if (!continues || !aux || aux->serial != rc->late.aux) {
		rc->written = 0;
		rc->mixed = false;
	} else if (rc->late.task != current) {
		rc->mixed = true;
	}
	return aux;
}

/*
 * rvtrace_late_defer - close the open record without a record of perf's
 *
 * Returns false when that is not possible: only a short one without flags is deferred.
 */
bool rvtrace_late_defer(struct rvtrace_cpu *rc)
{
	if (!rc->aux || rc->aux->overwrite || rc->handle.aux_flags ||
	    rc->written >= rc->aux->reserve)
		return false;
	WRITE_ONCE(rc->late.event, rc->event);
	rc->late.aux = rc->aux->serial;
	WRITE_ONCE(rc->late.task, current);
	rc->aux = NULL;
	/* perf writes no record for 0 bytes. */
	perf_aux_output_end(&rc->handle, 0);
	return true;
}

/*
 * rvtrace_late_flush_from - write the deferred record of @event that @cpu has
 *
 * @event moves from @cpu to this hart, which writes the record.
 */
void rvtrace_late_flush_from(struct rvtrace_cpu *rc, const struct perf_event *event, int cpu)
{
	struct rvtrace_cpu *there = &per_cpu(rvtrace_cpus, cpu);

	/*
	 * Pairs with smp_store_release() in rvtrace_late_flush_by(): when @cpu has written the
	 * record, perf's state of the buffer is visible here.
	 */
	if (smp_load_acquire(&there->late.event) != event)
		return;
	raw_spin_lock(&there->late.lock);
	if (there->late.event == event)
		rvtrace_late_flush_by(there, &rc->handle);
	raw_spin_unlock(&there->late.lock);
}

static void rvtrace_late_flush_here(void *unused)
{
	rvtrace_late_flush(this_cpu_ptr(&rvtrace_cpus));
}

/*
 * Makes each hart write its deferred record. Somebody disables an event whose task sleeps, and may
 * want to see its trace. This hart writes its record at once. The others do so soon: the caller
 * holds locks of perf and cannot wait for them.
 */
void rvtrace_late_flush_all(void)
{
	int cpu;

	guard(irqsave)();
	for_each_online_cpu(cpu) {
		if (!READ_ONCE(per_cpu(rvtrace_cpus, cpu).late.event))
			continue;
		if (cpu == smp_processor_id())
			rvtrace_late_flush_here(NULL);
		else
			smp_call_function_single_async(cpu, &per_cpu(rvtrace_cpus, cpu).late.csd);
	}
}

/*
 * Makes the harts that deferred records of @task write them, and waits for that. The task begins to
 * exit.
 */
void rvtrace_late_flush_task(const struct task_struct *task)
{
	const struct rvtrace_cpu *rc;
	int cpu;

	for_each_online_cpu(cpu) {
		rc = &per_cpu(rvtrace_cpus, cpu);
		if (READ_ONCE(rc->late.event) && READ_ONCE(rc->late.task) == task)
			smp_call_function_single(cpu, rvtrace_late_flush_here, NULL, 1);
	}
}

/*
 * Makes the hart that deferred the record of @event write it, and waits for that. The event does
 * not run and is being freed. The AUX buffer of an inherited event still exists when its task has
 * ended, perhaps on another hart.
 */
void rvtrace_late_flush_event(const struct perf_event *event)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu(rvtrace_cpus, cpu).late.event) == event)
			smp_call_function_single(cpu, rvtrace_late_flush_here, NULL, 1);
}

void rvtrace_late_init(struct rvtrace_cpu *rc)
{
	raw_spin_lock_init(&rc->late.lock);
	INIT_CSD(&rc->late.csd, rvtrace_late_flush_here, NULL);
}
