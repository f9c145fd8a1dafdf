// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the way from an encoder to a sink. Started from the sink to the encoder, stopped
 * from the encoder to the sink, so that what is under way arrives.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "rvtrace.h"

static void rvtrace_paths_walk(struct rvtrace_encoder *enc, struct rvtrace_path *path,
			       struct rvtrace_component *from)
{
	unsigned int i;

	for (i = 0; i < from->nr_outputs; i++) {
		if (path->nr_hops == RVTRACE_MAX_HOPS || enc->nr_paths == RVTRACE_MAX_PATHS)
			return;
		path->hops[path->nr_hops++] = from->outputs[i];
		if (from->outputs[i]->type == RVTRACE_TYPE_RAMSINK)
			enc->paths[enc->nr_paths++] = *path;
		else
			rvtrace_paths_walk(enc, path, from->outputs[i]);
		path->nr_hops--;
	}
}

/*
 * Finds the ways to all sinks that the encoder can reach. The depth is bounded by RVTRACE_MAX_HOPS.
 */
int rvtrace_paths_find(struct rvtrace_encoder *enc)
{
	struct rvtrace_path path = { };

	rvtrace_paths_walk(enc, &path, &enc->comp);
	if (!enc->nr_paths)
		return dev_err_probe(enc->comp.dev.parent, -ENODEV,
				     "no connection to a sink that this driver can read\n");
	return 0;
}

/* A full sink that has stopped holds up everything before it: make room. */
static int rvtrace_path_unblock(struct rvtrace_cpu *rc, struct rvtrace_ramsink *sink)
{
	/*
	 * Enable is 0 already. The specification does not say that Empty follows when it was the
	 * hardware that disabled the sink, but what was accepted must be in memory before WP is read.
	 */
	rvtrace_wait_quietly(&sink->comp, RVTRACE_CONTROL_EMPTY, RVTRACE_CONTROL_EMPTY,
			     RVTRACE_EMPTY_US);
	rvtrace_ramsink_drain(sink, rc);
	return rvtrace_ramsink_restart(sink);
}

/* Waits until (Control & @mask) == @value, and keeps the sink open meanwhile */
static int rvtrace_path_wait(struct rvtrace_cpu *rc, struct rvtrace_component *comp, u32 mask,
			     u32 value, const char *what)
{
	struct rvtrace_ramsink *sink = to_rvtrace_ramsink(rvtrace_path_sink(rc->path));
	u64 end = ktime_get_mono_fast_ns() + RVTRACE_TIMEOUT_US * NSEC_PER_USEC;
	bool late = false;

	while ((rvtrace_read(comp, RVTRACE_CONTROL) & mask) != value) {
		if (rvtrace_ramsink_stopped_itself(sink)) {
			if (rvtrace_path_unblock(rc, sink))
				return -ETIMEDOUT;
			end = ktime_get_mono_fast_ns() + RVTRACE_TIMEOUT_US * NSEC_PER_USEC;
		}
		if (late) {
			rvtrace_fail(comp, what);
			return -ETIMEDOUT;
		}
		/* One more look after the time is over: this hart itself may have been held up. */
		late = ktime_get_mono_fast_ns() > end;
		cpu_relax();
	}
	return 0;
}

static int rvtrace_path_disable(struct rvtrace_cpu *rc, struct rvtrace_component *comp)
{
	comp->control &= ~RVTRACE_CONTROL_ENABLE;
	rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
	return rvtrace_path_wait(rc, comp, RVTRACE_CONTROL_ENABLE | RVTRACE_CONTROL_EMPTY,
				 RVTRACE_CONTROL_EMPTY, "flush");
}

/*
 * rvtrace_path_stop - stop tracing and hand over all trace
 *
 * Each component is given the chance to flush even when one before it did not answer.
 */
void rvtrace_path_stop(struct rvtrace_cpu *rc)
{
	struct rvtrace_ramsink *sink = to_rvtrace_ramsink(rvtrace_path_sink(rc->path));
	bool stopped = rvtrace_ramsink_stopped_itself(sink), lost;
	unsigned int i;

	rvtrace_encoder_stop_tracing(rc->encoder);
	/* A sink that stopped was full before: the encoder has been dropping messages. */
	if (stopped)
		rvtrace_path_unblock(rc, sink);
	lost = rvtrace_encoder_lost(rc->encoder);
	rvtrace_path_disable(rc, &rc->encoder->comp);
	for (i = 0; i < rc->path->nr_hops; i++)
		rvtrace_path_disable(rc, rc->path->hops[i]);
	rvtrace_ramsink_drain(sink, rc);
	if (lost)
		perf_aux_output_flag(&rc->handle, PERF_AUX_FLAG_PARTIAL);
}

/*
 * Starts everything on rc->path, and the encoder last. On failure what was started is stopped
 * again.
 */
int rvtrace_path_start(struct rvtrace_cpu *rc, const struct rvtrace_config *config)
{
	struct rvtrace_aux *aux = perf_get_aux(&rc->handle);
	struct rvtrace_component *comp;
	int i, ret;

	for (i = 0; i < rc->path->nr_hops; i++)
		if (!rc->path->hops[i]->active || rc->path->hops[i]->broken)
			return -EIO;
	if (rc->encoder->comp.broken)
		return -EIO;
	for (i = rc->path->nr_hops - 1; i >= 0; i--) {
		comp = rc->path->hops[i];
		if (comp->type == RVTRACE_TYPE_RAMSINK)
			ret = rvtrace_ramsink_start(to_rvtrace_ramsink(comp), config,
						    aux->overwrite);
		else
			ret = rvtrace_enable(comp, 0);
		if (ret)
			goto err_disable;
	}
	ret = rvtrace_encoder_start(rc->encoder, config);
	if (!ret)
		return 0;
	rvtrace_path_disable(rc, &rc->encoder->comp);
err_disable:
	for (i = max(i, 0); i < rc->path->nr_hops; i++)
		rvtrace_path_disable(rc, rc->path->hops[i]);
	return ret;
}
