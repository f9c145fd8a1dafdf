// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the paths from encoders to sinks in the graph of components.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include "rvtrace-encoder.h"
#include "rvtrace-ramsink.h"

/*
 * Every encoder that can reach a component can reach each sink that the component can reach. So two
 * paths that share a component have locks in common, while sinks that no encoder shares have none.
 *
 * Sparse counts locks per function; __release() and __acquire() balance its count.
 */
void rvtrace_path_lock_all(const struct rvtrace_path *path)
{
	unsigned int i;

	for (i = 0; i < path->nr_locks; i++) {
		raw_spin_lock_nested(path->locks[i], i);
		__release(path->locks[i]);
	}
}

static void rvtrace_path_unlock_first(const struct rvtrace_path *path, unsigned int nr)
{
	while (nr--) {
		__acquire(path->locks[nr]);
		raw_spin_unlock(path->locks[nr]);
	}
}

/* Takes the locks if all are free. Returns whether it did. */
bool rvtrace_path_trylock(const struct rvtrace_path *path)
{
	unsigned int i;

	for (i = 0; i < path->nr_locks; i++) {
		if (!raw_spin_trylock(path->locks[i])) {
			rvtrace_path_unlock_first(path, i);
			return false;
		}
		__release(path->locks[i]);
	}
	return true;
}

void rvtrace_path_unlock_all(const struct rvtrace_path *path)
{
	rvtrace_path_unlock_first(path, path->nr_locks);
}

static bool rvtrace_path_needs_locks(const struct rvtrace_encoder *enc,
				     const struct rvtrace_path *path)
{
	unsigned int i;

	/* User space can change settings of other sinks at any time. */
	if (!path->ram || enc->comp.nr_outputs > 1)
		return true;
	for (i = 0; i < path->nr_hops; i++)
		if (path->hops[i]->type == RVTRACE_TYPE_FUNNEL)
			return true;
	return false;
}

/* Puts a lock into the list of a path, in the order of addresses, once */
static void rvtrace_path_add_lock(struct rvtrace_path *path, raw_spinlock_t *lock)
{
	unsigned int i = path->nr_locks;

	while (i && path->locks[i - 1] > lock)
		i--;
	if (i && path->locks[i - 1] == lock)
		return;
	memmove(path->locks + i + 1, path->locks + i,
		(path->nr_locks - i) * sizeof(path->locks[0]));
	path->locks[i] = lock;
	path->nr_locks++;
}

/* What only this encoder feeds, all before a funnel, is accessed by its hart. */
static void rvtrace_path_take(const struct rvtrace_encoder *enc, struct rvtrace_path *path)
{
	unsigned int i;

	for (i = 0; i < path->nr_hops && path->hops[i]->type != RVTRACE_TYPE_FUNNEL; i++)
		cpumask_set_cpu(enc->cpu, &path->hops[i]->near);
	if (rvtrace_path_is_exclusive(path))
		cpumask_set_cpu(enc->cpu, &path->sink->running);
}

static void rvtrace_paths_find_locks(struct rvtrace_encoder *enc)
{
	struct rvtrace_path *path;
	unsigned int i;

	for (path = enc->paths; path < enc->paths + enc->nr_paths; path++) {
		if (rvtrace_path_needs_locks(enc, path))
			for (i = 0; i < enc->nr_paths; i++)
				rvtrace_path_add_lock(path, &enc->paths[i].sink->lock);
		rvtrace_path_take(enc, path);
	}
}

static void rvtrace_path_add(struct rvtrace_encoder *enc, const struct rvtrace_path *path)
{
	struct rvtrace_path *added = &enc->paths[enc->nr_paths++];
	unsigned int i;

	*added = *path;
	added->sink = path->hops[path->nr_hops - 1];
	if (added->sink->type == RVTRACE_TYPE_RAMSINK)
		added->ram = to_rvtrace_ramsink(added->sink);
	for (i = 0; i < path->nr_hops; i++)
		if (path->hops[i]->type == RVTRACE_TYPE_FUNNEL)
			enc->shares = true;
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

/*
 * Puts RAM sinks first: unless an event asks for another sink, the trace must end where it can be
 * read.
 */
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
	rvtrace_paths_find_locks(enc);
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
