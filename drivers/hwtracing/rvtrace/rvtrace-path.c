// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the paths from encoders to sinks in the graph of components.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include "rvtrace-encoder.h"
#include "rvtrace-ramsink.h"

/*
 * One lock protects all paths that share components. A path that shares none has the lock of its
 * sink, against settings that user space makes, or no lock if the sink is a RAM sink: those have no
 * settings.
 */
static DEFINE_RAW_SPINLOCK(rvtrace_shared_lock);

/*
 * rvtrace_sink_lock - keep everybody from starting and stopping a sink
 *
 * Returns what rvtrace_sink_unlock() wants.
 */
unsigned long rvtrace_sink_lock(struct rvtrace_component *comp)
	__acquires(&rvtrace_shared_lock) __acquires(&comp->lock)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rvtrace_shared_lock, flags);
	raw_spin_lock(&comp->lock);
	return flags;
}

void rvtrace_sink_unlock(struct rvtrace_component *comp, unsigned long flags)
	__releases(&comp->lock) __releases(&rvtrace_shared_lock)
{
	raw_spin_unlock(&comp->lock);
	raw_spin_unlock_irqrestore(&rvtrace_shared_lock, flags);
}

static void rvtrace_path_add(struct rvtrace_encoder *enc, const struct rvtrace_path *path)
{
	struct rvtrace_path *added = &enc->paths[enc->nr_paths++];
	unsigned int i;

	*added = *path;
	added->sink = path->hops[path->nr_hops - 1];
	if (added->sink->type == RVTRACE_TYPE_RAMSINK)
		added->ram = to_rvtrace_ramsink(added->sink);
	else
		added->lock = &added->sink->lock;
	if (enc->comp.nr_outputs > 1)
		added->lock = &rvtrace_shared_lock;
	for (i = 0; i < path->nr_hops; i++) {
		if (path->hops[i]->type != RVTRACE_TYPE_FUNNEL)
			continue;
		added->lock = &rvtrace_shared_lock;
		enc->shares = true;
	}
	if (rvtrace_path_is_exclusive(added))
		cpumask_set_cpu(enc->cpu, &added->sink->running);
}

static void rvtrace_paths_walk(struct rvtrace_encoder *enc, struct rvtrace_path *path,
			       struct rvtrace_component *from)
{
	unsigned int i;

	for (i = 0; i < from->nr_outputs; i++) {
		if (path->nr_hops == RVTRACE_MAX_HOPS || enc->nr_paths == RVTRACE_MAX_PATHS)
			return;
		path->hops[path->nr_hops] = from->outputs[i].to;
		path->ports[path->nr_hops++] = from->outputs[i].port;
		if (from->outputs[i].to->sink_id)
			rvtrace_path_add(enc, path);
		else
			rvtrace_paths_walk(enc, path, from->outputs[i].to);
		path->nr_hops--;
	}
}

/* RAM sinks come first: what is recorded must end where it can be read, unless asked otherwise. */
static void rvtrace_paths_sort(struct rvtrace_encoder *enc)
{
	unsigned int i, first = 0;

	for (i = 0; i < enc->nr_paths; i++) {
		if (!enc->paths[i].ram)
			continue;
		/* swap() is a macro that evaluates its arguments twice. */
		swap(enc->paths[i], enc->paths[first]);
		first++;
	}
}

/* Finds the ways to all sinks that the encoder can reach, no longer than RVTRACE_MAX_HOPS */
int rvtrace_paths_find(struct rvtrace_encoder *enc)
{
	struct rvtrace_path path = { };

	rvtrace_paths_walk(enc, &path, &enc->comp);
	if (!enc->nr_paths)
		return dev_err_probe(enc->comp.dev.parent, -ENODEV, "no connection to a sink\n");
	rvtrace_paths_sort(enc);
	return 0;
}

struct rvtrace_path *rvtrace_encoder_find_path(struct rvtrace_encoder *enc, u32 sink)
{
	unsigned int i;

	for (i = 0; i < enc->nr_paths; i++)
		if (enc->paths[i].sink->sink_id == sink)
			return &enc->paths[i];
	return NULL;
}

/*
 * rvtrace_path_conflict - whether starting @path would bring trace where it must not go
 *
 * A component that feeds more than one other feeds them all, so what is not on the path must be cut
 * off at a funnel (trFunnelDisInput, which cannot be changed while the funnel runs) or be disabled.
 */
bool rvtrace_path_conflict(const struct rvtrace_encoder *enc, const struct rvtrace_path *path)
{
	const struct rvtrace_component *from = &enc->comp;
	const struct rvtrace_output *out;
	unsigned int i, o;

	for (i = 0; i < path->nr_hops; i++) {
		for (o = 0; o < from->nr_outputs; o++) {
			out = &from->outputs[o];
			if (!out->to->users)
				continue;
			if (out->to == path->hops[i] ? !rvtrace_funnel_open(out->to, out->port) :
						       rvtrace_funnel_open(out->to, out->port))
				return true;
		}
		from = path->hops[i];
	}
	return false;
}
