// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: starting and stopping what is on a path. From the sink to the encoder when
 * starting, from the encoder to the sink when stopping, so that what is under way arrives.
 *
 * A sink may be shared. Its users then have been opened by one process, so all of them may see what
 * is in it. An encoder that stops leaves its trace in the sink while others run; who drains the
 * sink, because it is filling up or because nobody is left, gets all trace into his AUX buffer.
 * Decoders tell encoders apart by SRC.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "rvtrace.h"
#include "rvtrace-trace.h"

/* The event is neither paused nor outside of its window. */
bool rvtrace_path_traces(const struct rvtrace_cpu *rc)
{
	return !rc->outside && !rvtrace_event_paused(rc->event);
}

/* A full sink that has stopped holds up everything before it: make room. */
static int rvtrace_unblock(struct rvtrace_cpu *rc, struct rvtrace_ramsink *sink)
{
	/*
	 * Enable is 0 already. The specification does not say that Empty follows when it was the
	 * hardware that disabled the sink, but what was accepted must be in memory before WP is
	 * read.
	 */
	rvtrace_wait_quietly(&sink->comp, RVTRACE_CONTROL_EMPTY, RVTRACE_CONTROL_EMPTY,
			     RVTRACE_EMPTY_US);
	rvtrace_ramsink_drain(sink, rc);
	return rvtrace_ramsink_restart(sink, rc);
}

/* Waits until a component is disabled and empty, and keeps the sink open meanwhile */
static int rvtrace_flush(struct rvtrace_cpu *rc, struct rvtrace_component *comp)
{
	const u32 mask = RVTRACE_CONTROL_ENABLE | RVTRACE_CONTROL_EMPTY;
	struct rvtrace_ramsink *sink = rvtrace_path_ram(rc->path);
	u64 end = ktime_get_mono_fast_ns() + RVTRACE_TIMEOUT_US * NSEC_PER_USEC;
	bool late = false;

	while ((rvtrace_read(comp, RVTRACE_CONTROL) & mask) != RVTRACE_CONTROL_EMPTY) {
		if (sink && rvtrace_ramsink_stopped_itself(sink)) {
			if (rvtrace_unblock(rc, sink))
				return -ETIMEDOUT;
			end = ktime_get_mono_fast_ns() + RVTRACE_TIMEOUT_US * NSEC_PER_USEC;
		}
		if (late) {
			rvtrace_fail(comp, "flush");
			return -ETIMEDOUT;
		}
		/* One more look after the time is over: this hart itself may have been held up. */
		late = ktime_get_mono_fast_ns() > end;
		cpu_relax();
	}
	return 0;
}

static void rvtrace_disable(struct rvtrace_cpu *rc, struct rvtrace_component *comp)
{
	if (!(comp->control & RVTRACE_CONTROL_ENABLE))
		return;
	comp->control &= ~RVTRACE_CONTROL_ENABLE;
	rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
	rvtrace_flush(rc, comp);
}

/*
 * Stops the encoder of @user; what it cannot deliver otherwise @rc gets. Returns whether it lost
 * any.
 */
static bool rvtrace_stop_encoder(struct rvtrace_cpu *user, struct rvtrace_cpu *rc)
{
	struct rvtrace_ramsink *sink = rvtrace_path_ram(rc->path);
	bool lost;

	rvtrace_encoder_set_tracing(user->encoder, false);
	if (sink && rvtrace_ramsink_stopped_itself(sink))
		rvtrace_unblock(rc, sink);
	lost = rvtrace_encoder_lost(user->encoder);
	rvtrace_disable(rc, &user->encoder->comp);
	return lost;
}

/* The component of a path that is @distance away from its sink, or NULL */
static struct rvtrace_component *rvtrace_hop(const struct rvtrace_path *path, unsigned int distance)
{
	return distance < path->nr_hops ? path->hops[path->nr_hops - 1 - distance] : NULL;
}

static int rvtrace_enable_hops(struct rvtrace_cpu *rc, const struct rvtrace_path *path)
{
	struct rvtrace_component *comp;
	unsigned int d;
	int ret = 0;

	for (d = 0; d < path->nr_hops && !ret; d++) {
		comp = rvtrace_hop(path, d);
		if (!(comp->control & RVTRACE_CONTROL_ENABLE))
			ret = comp->ops->enable(comp, rc);
	}
	return ret;
}

static void rvtrace_users(const struct rvtrace_path *path, int change)
{
	unsigned int i;

	for (i = 0; i < path->nr_hops; i++)
		path->hops[i]->users += change;
}

static void rvtrace_disable_unused(struct rvtrace_cpu *rc)
{
	unsigned int i;

	for (i = 0; i < rc->path->nr_hops; i++)
		if (!rc->path->hops[i]->users)
			rvtrace_disable(rc, rc->path->hops[i]);
}

static bool rvtrace_path_works(const struct rvtrace_cpu *rc)
{
	unsigned int i;

	for (i = 0; i < rc->path->nr_hops; i++)
		if (!rc->path->hops[i]->active || rc->path->hops[i]->broken)
			return false;
	return rc->encoder->comp.active && !rc->encoder->comp.broken;
}

static int rvtrace_start_locked(struct rvtrace_cpu *rc, const struct rvtrace_config *config)
{
	struct rvtrace_component *sink = rvtrace_path_sink(rc->path);
	int ret;

	if (!rvtrace_path_works(rc))
		return -EIO;
	if (!list_empty(&sink->running) && sink->opener != config->opener)
		return -EBUSY;
	if (rvtrace_path_conflict(rc->encoder, rc->path))
		return -EBUSY;
	ret = rvtrace_enable_hops(rc, rc->path);
	rvtrace_users(rc->path, 1);
	if (!ret)
		ret = rvtrace_encoder_start(rc->encoder, rc->event, rvtrace_path_traces(rc));
	if (!ret) {
		sink->opener = config->opener;
		list_add_tail(&rc->node, &sink->running);
		return 0;
	}
	rvtrace_disable(rc, &rc->encoder->comp);
	rvtrace_users(rc->path, -1);
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

	raw_spin_lock(rc->path->lock);
	ret = rvtrace_start_locked(rc, rvtrace_event_config(rc->event));
	raw_spin_unlock(rc->path->lock);
	trace_rvtrace_start(rc->encoder->cpu, rvtrace_path_sink(rc->path)->sink_id, ret);
	return ret;
}

/*
 * rvtrace_path_stop - stop tracing, and hand over all trace when nobody else uses the sink
 *
 * Each component is given the chance to flush even when one before it did not answer.
 */
void rvtrace_path_stop(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rvtrace_path_sink(rc->path);
	bool lost;

	raw_spin_lock(rc->path->lock);
	list_del(&rc->node);
	lost = rvtrace_stop_encoder(rc, rc);
	rvtrace_users(rc->path, -1);
	rvtrace_disable_unused(rc);
	if (!sink->users && rvtrace_path_ram(rc->path))
		rvtrace_ramsink_drain(rvtrace_path_ram(rc->path), rc);
	raw_spin_unlock(rc->path->lock);
	trace_rvtrace_stop(rc->encoder->cpu, sink->sink_id, lost);
	if (lost)
		rvtrace_output_flag(rc, PERF_AUX_FLAG_PARTIAL);
}

static void rvtrace_stop_all(struct rvtrace_cpu *rc, struct rvtrace_component *sink)
{
	struct rvtrace_component *comp;
	struct rvtrace_cpu *user;
	bool lost = false;
	int d;

	list_for_each_entry(user, &sink->running, node)
		lost |= rvtrace_stop_encoder(user, rc);
	for (d = RVTRACE_MAX_HOPS - 1; d >= 0; d--) {
		list_for_each_entry(user, &sink->running, node) {
			comp = rvtrace_hop(user->path, d);
			if (comp)
				rvtrace_disable(rc, comp);
		}
	}
	if (lost)
		rvtrace_output_flag(rc, PERF_AUX_FLAG_PARTIAL);
}

static void rvtrace_start_all(struct rvtrace_component *sink)
{
	struct rvtrace_cpu *user;

	list_for_each_entry(user, &sink->running, node)
		if (!rvtrace_enable_hops(user, user->path))
			rvtrace_encoder_start(user->encoder, user->event,
					      rvtrace_path_traces(user));
}

/*
 * rvtrace_path_drain - stop, hand over all trace, close the record, go on with the next
 *
 * Returns false when the event of @rc cannot go on because the AUX buffer is full. It is stopped
 * then, but others that use the sink are not.
 */
bool rvtrace_path_drain(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rvtrace_path_sink(rc->path);
	bool again;

	raw_spin_lock(rc->path->lock);
	rvtrace_stop_all(rc, sink);
	rvtrace_ramsink_drain(rvtrace_path_ram(rc->path), rc);
	again = rvtrace_output_next(rc);
	if (!again) {
		list_del(&rc->node);
		rvtrace_users(rc->path, -1);
	}
	rvtrace_start_all(sink);
	raw_spin_unlock(rc->path->lock);
	return again;
}

/*
 * rvtrace_path_collect - stop, take what the sink has into the AUX buffer, go on
 *
 * The record stays open, so the AUX buffer must be in overwrite mode. Somebody who holds the lock
 * may have been interrupted, by a sample of what he does: then nothing happens.
 */
void rvtrace_path_collect(struct rvtrace_cpu *rc)
{
	struct rvtrace_component *sink = rvtrace_path_sink(rc->path);

	if (!raw_spin_trylock(rc->path->lock))
		return;
	rvtrace_stop_all(rc, sink);
	rvtrace_ramsink_drain(rvtrace_path_ram(rc->path), rc);
	rvtrace_start_all(sink);
	raw_spin_unlock(rc->path->lock);
}
