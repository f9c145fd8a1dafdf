/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: paths from encoders to sinks (rvtrace-path.c), and the funnels on them
 * (rvtrace-funnel.c).
 */
#ifndef _RVTRACE_PATH_H
#define _RVTRACE_PATH_H

#include <linux/irqflags.h>
#include <linux/lockdep.h>

#include "rvtrace-component.h"

#define RVTRACE_MAX_HOPS			8
#define RVTRACE_MAX_PATHS			8

struct rvtrace_encoder;
struct rvtrace_ramsink;

/**
 * struct rvtrace_path - the path from an encoder to a sink
 * @hops:	components after the encoder; the last is the sink
 * @ports:	input of each hop
 * @nr_hops:	number of entries in @hops
 * @sink:	the last of @hops
 * @ram:	the same when it is a RAM sink, else NULL
 * @locks:	locks of all sinks that the encoder can reach, in the order in which they nest. They
 *		protect @users, @running, @opener and @control of the components on the path: who
 *		holds them excludes every path that shares a component with this one.
 * @nr_locks:	number of entries in @locks. 0: the path ends in a RAM sink and shares no component
 *		with another one. Then only its hart uses them, with interrupts off.
 * @slept:	the hart was in a deep idle state or down since the path was started last:
 *		components that nobody used may have lost their registers
 */
struct rvtrace_path {
	struct rvtrace_component *hops[RVTRACE_MAX_HOPS];
	u8 ports[RVTRACE_MAX_HOPS];
	unsigned int nr_hops;
	struct rvtrace_component *sink;
	struct rvtrace_ramsink *ram;
	raw_spinlock_t *locks[RVTRACE_MAX_PATHS];
	unsigned int nr_locks;
	bool slept;
};

/**
 * struct rvtrace_funnel - a funnel
 * @comp:	the component
 * @maskable:	inputs that can be closed
 * @forked:	inputs from components that feed others, too
 * @open:	inputs that are not closed while it is enabled
 */
struct rvtrace_funnel {
	struct rvtrace_component comp;
	u32 maskable;
	u32 forked;
	u32 open;
};

#define to_rvtrace_funnel(c)	container_of(c, struct rvtrace_funnel, comp)

/* Returns whether the path ends in a RAM sink that only one encoder can reach. */
static inline bool rvtrace_path_is_exclusive(const struct rvtrace_path *path)
{
	return !path->nr_locks;
}

/* Asserts that the caller may start, stop and drain what is on @path. */
static inline void rvtrace_path_assert_held(const struct rvtrace_path *path)
{
	unsigned int i;

	for (i = 0; i < path->nr_locks; i++)
		lockdep_assert_held(path->locks[i]);
	lockdep_assert_irqs_disabled();
}

/* rvtrace-path.c */
void rvtrace_path_lock_all(const struct rvtrace_path *path);
bool rvtrace_path_trylock(const struct rvtrace_path *path);
void rvtrace_path_unlock_all(const struct rvtrace_path *path);
int rvtrace_paths_find(struct rvtrace_encoder *enc);
struct rvtrace_path *rvtrace_encoder_find_path(struct rvtrace_encoder *enc, u32 sink);
bool rvtrace_path_conflict(const struct rvtrace_encoder *enc, const struct rvtrace_path *path);

/* A context switch locks and unlocks a path twice, and most paths have no locks. */
static inline void rvtrace_path_lock(const struct rvtrace_path *path)
{
	if (!rvtrace_path_is_exclusive(path))
		rvtrace_path_lock_all(path);
}

static inline void rvtrace_path_unlock(const struct rvtrace_path *path)
{
	if (!rvtrace_path_is_exclusive(path))
		rvtrace_path_unlock_all(path);
}

/* rvtrace-funnel.c */
extern const struct rvtrace_ops rvtrace_funnel_ops;

bool rvtrace_funnel_open(struct rvtrace_component *comp, unsigned int port);

#endif
