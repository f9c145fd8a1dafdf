// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: starting and stopping what is on a path. From the sink to the encoder when
 * starting, from the encoder to the sink when stopping, so that no message is lost on the way.
 *
 * Harts may share a sink. One process has opened all events that run there then, so each of them
 * may receive all trace of the sink. An encoder that stops leaves its trace in the sink while
 * others run. The hart that drains the sink, because it fills up or because nobody else uses it,
 * gets all trace into its AUX buffer. Decoders distinguish encoders by SRC.
 *
 * To drain it, all encoders must stop. Where a hart cannot do that for another one, it asks the
 * others to stop theirs, stops its own, and goes on untraced. The last one to stop drains the sink,
 * and then each starts its encoder again. So nobody waits with interrupts off:
 *
 *	hart 0	timer: asks, stops ---------------------------- starts
 *	hart 1	------------------ interrupt: stops ----------------- starts
 *	hart 2	------------------ interrupt: stops, drains, starts
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include "rvtrace-encoder.h"
#include "rvtrace-flight.h"
#include "rvtrace-output.h"
#include "rvtrace-ramsink.h"
#include "rvtrace-session.h"
#include "trace.h"

/* Time for a sink that stopped itself to become empty (microseconds) */
#define RVTRACE_EMPTY_US	20
/* Time for a component to become empty when the kernel has panicked (microseconds) */
#define RVTRACE_PANIC_US	1000

/*
 * Returns whether the event is traced now, or the hart in flight mode: the event is not paused, its
 * window is open, and the hart does not run a guest that has to be held back.
 */
static bool rvtrace_path_traces(const struct rvtrace_cpu *rc)
{
	if (READ_ONCE(rc->in_guest) && rc->encoder->program.holds_guests)
		return false;
	return !rc->event || (!rc->window_closed && !rvtrace_event_paused(rc->event));
}

/* Tells the other harts that use the sink of @rc that trace is missing. */
static noinline void rvtrace_sink_lost(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rc->path->sink;
	int cpu;

	for_each_cpu(cpu, &sink->running)
		if (cpu != rc->encoder->cpu)
			per_cpu(rvtrace_cpus, cpu).lost = true;
}

/*
 * Drains the sink of @rc, which is stopped. When trace is missing, it may be any hart's that uses
 * the sink: each flags its own record, too.
 */
static void rvtrace_sink_drain(struct rvtrace_cpu *rc)
{
	if (rvtrace_ramsink_drain(rc->path->ram, rc))
		rvtrace_sink_lost(rc);
}

/* Returns whether another hart found that trace of @rc is missing. */
static bool rvtrace_take_lost(struct rvtrace_cpu *rc)
{
	bool lost = rc->lost;

	rc->lost = false;
	return lost;
}

/* Makes room in a full sink that has stopped: it blocks every component upstream. */
static int rvtrace_sink_unblock(struct rvtrace_cpu *rc, struct rvtrace_ramsink *sink)
{
	/*
	 * Enable is 0 already. The specification does not say that Empty follows when it was the
	 * hardware that disabled the sink, but what was accepted must be in memory before WP is
	 * read.
	 */
	rvtrace_wait_quietly(&sink->comp, RVTRACE_CONTROL_EMPTY, RVTRACE_CONTROL_EMPTY,
			     RVTRACE_EMPTY_US);
	rvtrace_sink_drain(rc);
	return rvtrace_ramsink_restart(sink, rc);
}

static bool rvtrace_flushed(u32 control)
{
	const u32 mask = RVTRACE_CONTROL_ENABLE | RVTRACE_CONTROL_EMPTY;

	return (control & mask) == RVTRACE_CONTROL_EMPTY;
}

/* Waits until a component is disabled and empty, and keeps the sink open meanwhile */
static int rvtrace_flush(struct rvtrace_cpu *rc, struct rvtrace_component *comp)
{
	struct rvtrace_ramsink *sink = rc->path->ram;
	u64 deadline = rvtrace_deadline(RVTRACE_TIMEOUT_US);
	u32 late = 0;

	while (!rvtrace_flushed(rvtrace_read(comp, RVTRACE_CONTROL))) {
		if (sink && rvtrace_ramsink_stopped_itself(sink)) {
			if (rvtrace_sink_unblock(rc, sink))
				return -ETIMEDOUT;
			deadline = rvtrace_deadline(RVTRACE_TIMEOUT_US);
			late = 0;
		}
		if (late == RVTRACE_LATE_LOOKS(RVTRACE_TIMEOUT_US)) {
			rvtrace_fail(comp, "flush");
			return -ETIMEDOUT;
		}
		if (rvtrace_expired(deadline))
			late++;
		cpu_relax();
	}
	return 0;
}

/* Waits for a component that was not empty at once. Returns what Control was when it was empty. */
static noinline u32 rvtrace_disable_slowly(struct rvtrace_cpu *rc, struct rvtrace_component *comp,
					   u32 control)
{
	/* A component that did not answer before is not waited for again. */
	if (!comp->broken && !rvtrace_flush(rc, comp))
		return rvtrace_read(comp, RVTRACE_CONTROL);
	/* Trace that the component has not delivered is missing. */
	rc->lost = true;
	return control;
}

static noinline u32 rvtrace_disable_other(struct rvtrace_cpu *rc, struct rvtrace_component *comp)
{
	u32 control = rvtrace_try(comp, RVTRACE_CONTROL, comp->control);

	return rvtrace_flushed(control) ? control : rvtrace_disable_slowly(rc, comp, control);
}

/*
 * Disables a component that is enabled. Returns what Control was when that was done. This is a part
 * of each context switch: what is rare is a tail call, so that no registers are saved for it.
 */
static u32 rvtrace_disable(struct rvtrace_cpu *rc, struct rvtrace_component *comp)
{
	u32 control;

	if (!(comp->control & RVTRACE_CONTROL_ENABLE))
		return 0;
	comp->control &= ~RVTRACE_CONTROL_ENABLE;
	if (static_branch_unlikely(&rvtrace_other_registers))
		return rvtrace_disable_other(rc, comp);
	writel_relaxed(comp->control, comp->base + RVTRACE_CONTROL);
	control = readl_relaxed(comp->base + RVTRACE_CONTROL);
	return rvtrace_flushed(control) ? control : rvtrace_disable_slowly(rc, comp, control);
}

/*
 * Stops the encoder of @user. When the sink is full meanwhile, @rc gets its trace. Returns whether
 * the encoder lost trace. Inline, as each context switch does it.
 */
static __always_inline bool rvtrace_stop_encoder(struct rvtrace_cpu *user, struct rvtrace_cpu *rc)
{
	struct rvtrace_component *comp = &user->encoder->comp;

	rvtrace_encoder_set_tracing(user->encoder, false);
	return rvtrace_encoder_lost(user->encoder, rvtrace_disable(rc, comp));
}

/* Returns the component of a path that is @distance away from its sink, or NULL. */
static struct rvtrace_component *rvtrace_hop(const struct rvtrace_path *path, unsigned int distance)
{
	return distance < path->nr_hops ? path->hops[path->nr_hops - 1 - distance] : NULL;
}

static bool rvtrace_is_usable(const struct rvtrace_component *comp)
{
	return comp->active && !comp->broken;
}

/*
 * Enables the components of a path that are not enabled yet, from the sink on. Returns -EIO when
 * one does not work.
 */
static int rvtrace_enable_hops(struct rvtrace_cpu *rc, struct rvtrace_path *path)
{
	struct rvtrace_component **hop;
	int ret = 0;

	for (hop = path->hops + path->nr_hops; hop-- > path->hops && !ret;) {
		if (!rvtrace_is_usable(*hop))
			ret = -EIO;
		else if (!((*hop)->control & RVTRACE_CONTROL_ENABLE))
			ret = (*hop)->ops->enable(*hop, rc);
	}
	return ret;
}

/* Gives the components of the path that nobody uses their registers again. */
static noinline void rvtrace_path_wake(struct rvtrace_path *path)
{
	struct rvtrace_component **hop;
	struct rvtrace_component *comp;

	path->slept = false;
	for (hop = path->hops + path->nr_hops; hop-- > path->hops;) {
		comp = *hop;
		if (comp->users || !rvtrace_is_usable(comp) ||
		    comp->control & RVTRACE_CONTROL_ENABLE)
			continue;
		/* Perhaps it was reset with a component that has its registers. */
		if (rvtrace_read(comp, RVTRACE_CONTROL) & RVTRACE_CONTROL_ACTIVE) {
			if (comp->ops->reset)
				comp->ops->reset(comp);
			continue;
		}
		comp->active = false;
		rvtrace_activate(comp);
	}
}

static void rvtrace_users(const struct rvtrace_path *path, int change)
{
	unsigned int i;

	for (i = 0; i < path->nr_hops; i++)
		path->hops[i]->users += change;
}

/*
 * Makes the hart a user of the sink. Returns -EBUSY when its users are another process's, when they
 * stall and this one does not or the reverse, or when inputs that they use must be closed for this
 * path.
 */
static int rvtrace_path_join(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rc->path->sink;
	const struct rvtrace_config *config = rvtrace_event_config(rc->event);

	if (sink->users && (!rvtrace_same_opener(&sink->opener, &config->opener) ||
			    sink->stall != config->stall))
		return -EBUSY;
	if (rvtrace_path_conflict(rc->encoder, rc->path))
		return -EBUSY;
	sink->opener = config->opener;
	sink->stall = config->stall;
	cpumask_set_cpu(rc->encoder->cpu, &sink->running);
	rvtrace_users(rc->path, 1);
	return 0;
}

static void rvtrace_path_set_held(struct rvtrace_cpu *rc, bool held)
{
	struct rvtrace_path *path = rc->path;
	unsigned int i;

	if (rc->held == held)
		return;
	rc->held = held;
	for (i = 0; i < path->nr_hops; i++)
		path->hops[i]->held += held ? 1 : -1;
}

static void rvtrace_path_leave(struct rvtrace_cpu *rc)
{
	cpumask_clear_cpu(rc->encoder->cpu, &rc->path->sink->running);
	rvtrace_users(rc->path, -1);
	rvtrace_path_set_held(rc, false);
}

/*
 * Disables the components of the path that no running encoder feeds. This hart may access them,
 * because its encoder is on the path.
 */
static void rvtrace_disable_unused(struct rvtrace_cpu *rc)
{
	struct rvtrace_path *path = rc->path;
	struct rvtrace_component **hop;

	for (hop = path->hops; hop < path->hops + path->nr_hops; hop++)
		if ((*hop)->users == (*hop)->held)
			rvtrace_disable(rc, *hop);
}

/* Makes the other harts that use the sink look at its state. */
static void rvtrace_sink_call_others(struct rvtrace_component *sink)
{
	int cpu;

	/*
	 * A hart that has been called and has not looked yet will do so later: -EBUSY is no error.
	 */
	for_each_cpu(cpu, &sink->running)
		if (cpu != smp_processor_id())
			smp_call_function_single_async(cpu, &per_cpu(rvtrace_cpus, cpu).attend_csd);
}

/* Enables the encoder for the event of @rc. Inline, as each context switch does it. */
static __always_inline int rvtrace_path_start_encoder(struct rvtrace_cpu *rc)
{
	return rvtrace_encoder_start(rc->encoder, &rc->event->attr, rvtrace_event_config(rc->event),
				     rvtrace_path_traces(rc));
}

static int rvtrace_path_start_locked(struct rvtrace_cpu *rc)
{
	bool exclusive = rvtrace_path_is_exclusive(rc->path);
	int ret;

	rvtrace_path_assert_held(rc->path);
	if (!rvtrace_is_usable(&rc->encoder->comp))
		return -EIO;
	if (rc->path->slept)
		rvtrace_path_wake(rc->path);
	ret = exclusive ? 0 : rvtrace_path_join(rc);
	if (ret)
		return ret;
	/* The hart that drains the sink starts this encoder with the others. */
	if (rc->path->sink->draining) {
		rvtrace_path_set_held(rc, true);
		return 0;
	}
	ret = rvtrace_enable_hops(rc, rc->path);
	if (!ret)
		ret = rvtrace_path_start_encoder(rc);
	if (!ret)
		return 0;
	rvtrace_disable(rc, &rc->encoder->comp);
	if (!exclusive)
		rvtrace_path_leave(rc);
	rvtrace_disable_unused(rc);
	return ret;
}

/*
 * rvtrace_path_start - start everything on rc->path that does not run yet, and the encoder last
 *
 * Returns 0; -EBUSY when another process uses the sink, or -EIO when a component does not work. On
 * failure what was started is stopped again.
 */
int rvtrace_path_start(struct rvtrace_cpu *rc)
{
	int ret;

	rvtrace_path_lock(rc->path);
	ret = rvtrace_path_start_locked(rc);
	rvtrace_path_unlock(rc->path);
	trace_rvtrace_start(rc->encoder->cpu, rc->path->sink->sink_id, ret);
	return ret;
}

/*
 * Drains the sink, which has been disabled, and lets the harts that wait for the drain go on.
 * Returns whether one of them lost trace.
 */
static bool rvtrace_sink_drain_held(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rc->path->sink;
	bool lost = sink->held_lost;

	rvtrace_sink_drain(rc);
	sink->held_lost = false;
	sink->draining = false;
	if (sink->held)
		rvtrace_sink_call_others(sink);
	return lost;
}

/*
 * Stops the encoder, and drains the sink if no other encoder runs. Returns whether the encoder lost
 * trace.
 */
static bool rvtrace_path_stop_locked(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rc->path->sink;
	bool lost;

	rvtrace_path_assert_held(rc->path);
	if (!rvtrace_path_is_exclusive(rc->path))
		rvtrace_path_leave(rc);
	lost = rvtrace_stop_encoder(rc, rc);
	rvtrace_disable_unused(rc);
	if (sink->users == sink->held && rc->path->ram)
		lost |= rvtrace_sink_drain_held(rc);
	return rvtrace_take_lost(rc) || lost;
}

/*
 * rvtrace_path_stop - stop tracing, and hand over all trace when nobody else uses the sink
 *
 * Each component is given the chance to flush even when one before it did not answer. Where others
 * use the sink, the record is closed.
 */
void rvtrace_path_stop(struct rvtrace_cpu *rc)
{
	bool lost;

	rvtrace_path_lock(rc->path);
	lost = rvtrace_path_stop_locked(rc);
	if (lost)
		rvtrace_output_flag(rc, PERF_AUX_FLAG_PARTIAL);
	/*
	 * The record may have trace of the sink, and then it is older than what the next hart
	 * drains.
	 */
	if (!rvtrace_path_is_exclusive(rc->path))
		rvtrace_output_end(rc);
	rvtrace_path_unlock(rc->path);
	trace_rvtrace_stop(rc->encoder->cpu, rc->path->sink->sink_id, lost);
}

static void rvtrace_stop_all(struct rvtrace_cpu *rc, struct rvtrace_component *sink)
{
	struct rvtrace_component *comp;
	struct rvtrace_cpu *user;
	bool lost = false;
	int cpu, d;

	for_each_cpu(cpu, &sink->running) {
		user = &per_cpu(rvtrace_cpus, cpu);
		if (!rvtrace_stop_encoder(user, rc))
			continue;
		/* @rc gets the trace with the gap in it; the event of @user must flag it, too. */
		lost = true;
		if (user != rc)
			user->lost = true;
	}
	for (d = RVTRACE_MAX_HOPS - 1; d >= 0; d--) {
		for_each_cpu(cpu, &sink->running) {
			user = &per_cpu(rvtrace_cpus, cpu);
			comp = rvtrace_hop(user->path, d);
			if (comp)
				rvtrace_disable(rc, comp);
		}
	}
	if (rvtrace_take_lost(rc) || lost)
		rvtrace_output_flag(rc, PERF_AUX_FLAG_PARTIAL);
}

static void rvtrace_start_all(struct rvtrace_component *sink)
{
	struct rvtrace_cpu *user;
	int cpu, ret;

	for_each_cpu(cpu, &sink->running) {
		user = &per_cpu(rvtrace_cpus, cpu);
		ret = rvtrace_enable_hops(user, user->path);
		if (!ret)
			ret = rvtrace_path_start_encoder(user);
		/* Trace of @user is missing from here until its hart starts the encoder again. */
		if (ret)
			user->lost = true;
	}
}

static bool rvtrace_path_drain_locked(struct rvtrace_cpu *rc, bool keep)
{
	struct rvtrace_component *sink = rc->path->sink;
	bool exclusive = rvtrace_path_is_exclusive(rc->path), again;

	rvtrace_path_assert_held(rc->path);
	rvtrace_stop_all(rc, sink);
	rvtrace_sink_drain(rc);
	again = (keep && rc->aux) || rvtrace_output_reopen(rc);
	if (!again && !exclusive)
		rvtrace_path_leave(rc);
	if (again || !exclusive)
		rvtrace_start_all(sink);
	return again;
}

/* Returns whether other harts use the sink, and this one cannot stop their encoders. */
static bool rvtrace_path_must_ask(const struct rvtrace_cpu *rc)
{
	return rc->encoder->comp.platform->own_hart && rc->path->sink->users > 1;
}

/* Starts the encoder again after a drain. */
static void rvtrace_path_release(struct rvtrace_cpu *rc)
{
	int ret;

	rvtrace_path_set_held(rc, false);
	ret = rvtrace_enable_hops(rc, rc->path);
	if (!ret)
		ret = rvtrace_path_start_encoder(rc);
	/* Trace is missing from here until the encoder is started again. */
	if (ret)
		rc->lost = true;
}

/*
 * Stops the encoder for a drain, and drains the sink if no other encoder runs any more. Returns
 * false when the event cannot go on.
 */
static bool rvtrace_path_hold(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rc->path->sink;
	bool lost;

	if (rvtrace_stop_encoder(rc, rc)) {
		/* Another hart gets the trace with the gap in it; this event must flag it, too. */
		rc->lost = true;
		sink->held_lost = true;
	}
	rvtrace_path_set_held(rc, true);
	rvtrace_disable_unused(rc);
	if (sink->users != sink->held)
		return true;
	lost = rvtrace_sink_drain_held(rc);
	if (rvtrace_take_lost(rc) || lost)
		rvtrace_output_flag(rc, PERF_AUX_FLAG_PARTIAL);
	if (!rvtrace_output_reopen(rc)) {
		rvtrace_path_leave(rc);
		return false;
	}
	rvtrace_path_release(rc);
	return true;
}

static bool rvtrace_path_ask(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rc->path->sink;

	rvtrace_path_assert_held(rc->path);
	if (rc->held)
		return true;
	if (!sink->draining) {
		sink->draining = true;
		rvtrace_sink_call_others(sink);
	}
	return rvtrace_path_hold(rc);
}

/*
 * rvtrace_path_drain - stop, hand over all trace, close the record, go on with the next
 * @keep: leave the record open. The AUX buffer is in overwrite mode, so that user space need not be
 *	told of each.
 *
 * Where other harts must be asked to stop this is done some time later, perhaps by one of them, and
 * the record is closed in any case.
 * Returns false when the event of @rc cannot go on because the AUX buffer is full. It is stopped
 * then, but others that use the sink are not.
 */
bool rvtrace_path_drain(struct rvtrace_cpu *rc, bool keep)
{
	bool again;

	rvtrace_path_lock(rc->path);
	again = rvtrace_path_must_ask(rc) ? rvtrace_path_ask(rc) :
					    rvtrace_path_drain_locked(rc, keep);
	rvtrace_path_unlock(rc->path);
	return again;
}

/*
 * rvtrace_path_attend - another hart has asked this one to stop, or says that it may go on
 *
 * Returns as rvtrace_path_drain()
 */
bool rvtrace_path_attend(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rc->path->sink;
	bool again = true;

	rvtrace_path_lock(rc->path);
	if (sink->draining && !rc->held)
		again = rvtrace_path_hold(rc);
	else if (!sink->draining && rc->held)
		rvtrace_path_release(rc);
	rvtrace_path_unlock(rc->path);
	return again;
}

static int rvtrace_path_start_hops(struct rvtrace_cpu *rc, const struct rvtrace_flight_sink *sink)
{
	struct rvtrace_path *path = rc->path;
	struct rvtrace_component **hop;
	int ret = 0;

	for (hop = path->hops + path->nr_hops; hop-- > path->hops && !ret;) {
		if (!rvtrace_is_usable(*hop))
			ret = -EIO;
		else if ((*hop)->control & RVTRACE_CONTROL_ENABLE)
			continue;
		else if (*hop == path->sink)
			ret = rvtrace_ramsink_start_flight(path->ram, sink->buffer, sink->offset);
		else
			ret = (*hop)->ops->enable(*hop, rc);
	}
	return ret;
}

/*
 * rvtrace_path_start_flight - start everything on rc->path that does not run yet, for flight mode
 *
 * No event uses it. Returns 0, or an error: nothing runs then but what other harts use.
 */
int rvtrace_path_start_flight(struct rvtrace_cpu *rc, const struct rvtrace_flight *flight)
{
	int ret;

	rvtrace_path_assert_held(rc->path);
	if (!rvtrace_is_usable(&rc->encoder->comp))
		return -EIO;
	if (rc->path->slept)
		rvtrace_path_wake(rc->path);
	if (!rvtrace_path_is_exclusive(rc->path)) {
		if (rvtrace_path_conflict(rc->encoder, rc->path))
			return -EBUSY;
		rvtrace_users(rc->path, 1);
	}
	ret = rvtrace_path_start_hops(rc, flight->sink);
	if (!ret)
		ret = rvtrace_encoder_start(rc->encoder, &flight->attr, &flight->config, true);
	if (ret)
		rvtrace_path_stop_flight(rc);
	return ret;
}

/*
 * Stops what rvtrace_path_start_flight() has started, but what other harts use. Returns whether
 * trace was lost.
 */
bool rvtrace_path_stop_flight(struct rvtrace_cpu *rc)
{
	bool lost;

	rvtrace_path_assert_held(rc->path);
	if (!rvtrace_path_is_exclusive(rc->path))
		rvtrace_users(rc->path, -1);
	lost = rvtrace_stop_encoder(rc, rc);
	rvtrace_disable_unused(rc);
	/* The sink updates Empty and WP after it has written. */
	rmb();
	return rvtrace_take_lost(rc) || lost;
}

/*
 * Returns whether the encoder of @rc goes on after rvtrace_session_panic(), as only its own hart
 * could stop it.
 */
bool rvtrace_panic_goes_on(const struct rvtrace_cpu *rc)
{
	return rc->encoder && rc->encoder->comp.control & RVTRACE_CONTROL_ENABLE;
}

/* Disables a component as rvtrace_disable() does, but nobody drains a full sink. */
static void rvtrace_panic_disable(struct rvtrace_component *comp)
{
	bool here = cpumask_empty(&comp->cpus) ||
		    cpumask_test_cpu(raw_smp_processor_id(), &comp->cpus);

	if (!(comp->control & RVTRACE_CONTROL_ENABLE) || comp->broken)
		return;
	if (!here && (comp->platform->own_hart || comp->type != RVTRACE_TYPE_ENCODER))
		return;
	if (comp->type == RVTRACE_TYPE_ENCODER)
		rvtrace_encoder_set_tracing(to_rvtrace_encoder(comp), false);
	comp->control &= ~RVTRACE_CONTROL_ENABLE;
	rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
	if (rvtrace_wait_quietly(comp, RVTRACE_CONTROL_ENABLE | RVTRACE_CONTROL_EMPTY,
				 RVTRACE_CONTROL_EMPTY, RVTRACE_PANIC_US))
		comp->broken = true;
}

/*
 * Returns whether an encoder that goes on sends to @comp, which is @distance hops before its sink.
 */
static bool rvtrace_panic_is_fed(const struct rvtrace_component *comp, int distance)
{
	const struct rvtrace_cpu *rc;
	int cpu;

	for_each_possible_cpu(cpu) {
		rc = &per_cpu(rvtrace_cpus, cpu);
		if (rc->path && rvtrace_hop(rc->path, distance) == comp &&
		    rvtrace_panic_goes_on(rc))
			return true;
	}
	return false;
}

/*
 * rvtrace_session_panic - the kernel has panicked: stop all trace, so that what led here stays
 *
 * The other harts stand still and may hold any lock, so none is taken. What a sink has is in memory
 * then, where it was written.
 */
void rvtrace_session_panic(void)
{
	struct rvtrace_component *comp;
	struct rvtrace_cpu *rc;
	int cpu, d;

	for_each_possible_cpu(cpu) {
		rc = &per_cpu(rvtrace_cpus, cpu);
		if (rc->encoder)
			rvtrace_panic_disable(&rc->encoder->comp);
	}
	for (d = RVTRACE_MAX_HOPS - 1; d >= 0; d--) {
		for_each_possible_cpu(cpu) {
			rc = &per_cpu(rvtrace_cpus, cpu);
			comp = rc->path ? rvtrace_hop(rc->path, d) : NULL;
			/* A sink is stopped in any case, so that its memory can be read. */
			if (comp && (!d || !rvtrace_panic_is_fed(comp, d)))
				rvtrace_panic_disable(comp);
		}
	}
}

static void rvtrace_path_collect_locked(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rc->path->sink;

	rvtrace_path_assert_held(rc->path);
	rvtrace_stop_all(rc, sink);
	rvtrace_sink_drain(rc);
	rvtrace_start_all(sink);
}

/*
 * rvtrace_path_update_tracing - AUX pause or resume, the window opens or closes, or a guest begins
 * or ends
 *
 * Another hart that drains a shared sink stops and starts the encoder meanwhile. It reads the same
 * conditions when it starts the encoder again.
 */
void rvtrace_path_update_tracing(struct rvtrace_cpu *rc)
{
	rvtrace_path_lock(rc->path);
	/* An encoder that could not be started again stays off. */
	if (rc->encoder->comp.control & RVTRACE_CONTROL_ENABLE)
		rvtrace_encoder_set_tracing(rc->encoder, rvtrace_path_traces(rc));
	rvtrace_path_unlock(rc->path);
}

/*
 * rvtrace_path_collect - stop, take what the sink has into the AUX buffer, go on
 *
 * The record stays open, so the AUX buffer must be in overwrite mode. When another hart holds the
 * lock, or has to be asked, nothing happens: it may take long, and this is a sample.
 */
void rvtrace_path_collect(struct rvtrace_cpu *rc)
{
	if (!rvtrace_path_trylock(rc->path))
		return;
	if (!rvtrace_path_must_ask(rc))
		rvtrace_path_collect_locked(rc);
	rvtrace_path_unlock(rc->path);
}
