// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Starts and stops all events of a recording. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysinfo.h>
#include "common/cmd.h"
#include "record/control.h"
#include "record/record.h"

#define MAX_CPUS 8192	/* Linux has at most so many, on any architecture */

static int enable(struct recorder *rec, bool trace)
{
	for (size_t i = 0; i < rec->n_fds; i++)
		if (rec->fds[i].trace == trace && !trigger_is_off(rec, i) &&
		    ioctl(rec->fds[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			return cmd_error(-errno, "cannot start tracing: %s", strerror(errno));
	return 0;
}

int record_enable_sideband(struct recorder *rec)
{
	return enable(rec, false);
}

/* Enables sideband first, so that the mappings of all that is traced are known. */
int record_enable(struct recorder *rec)
{
	int err = enable(rec, false);

	return err ? err : enable(rec, true);
}

int record_resume(struct recorder *rec)
{
	rec->paused = false;
	return enable(rec, true);
}

/*
 * Our BPF programs still report: the kernel's code is copied afterwards, and what changes until
 * then must be known.
 */
static void disable_ring(const struct recorder *rec, unsigned int ring, bool trace)
{
	for (size_t i = 0; i < rec->n_fds; i++)
		if (rec->fds[i].ring == ring && rec->fds[i].trace == trace && !rec->fds[i].bpf)
			ioctl(rec->fds[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* Moves to a cpu, if this thread may run there. @room: size of @set. */
static void move_to(int cpu, cpu_set_t *set, size_t room)
{
	CPU_ZERO_S(room, set);
	CPU_SET_S(cpu, room, set);
	sched_setaffinity(0, room, set);
}

/*
 * Moves to each cpu in turn. When we run there, what the kernel has sent to that cpu before is
 * done.
 */
static void visit_cpus(cpu_set_t *set, size_t room)
{
	int n = get_nprocs_conf();

	for (int cpu = 0; cpu < n && cpu < MAX_CPUS; cpu++)
		move_to(cpu, set, room);
}

/*
 * Disables each event on its own cpu, so that the driver hands over at once what it still has of a
 * task that does not run; else it does so only some time after we have read the rings. An event
 * that goes with its thread is on any cpu, which has got the request when we run there. @first: the
 * cpu to begin with; while the recorder runs there, nothing else does.
 */
static void disable_trace(const struct recorder *rec, int first)
{
	size_t room = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *before = CPU_ALLOC(MAX_CPUS), *set = CPU_ALLOC(MAX_CPUS);
	bool movable = before && set && !sched_getaffinity(0, room, before);
	bool moving = false;

	for (unsigned int turn = 0; turn < 2; turn++)
		for (unsigned int n = 0; n < rec->n_rings; n++) {
			int cpu = rec->rings[n].cpu;

			if ((turn == 0) != (cpu >= 0 && cpu == first))
				continue;
			moving |= cpu < 0;
			if (movable && cpu >= 0 && cpu < MAX_CPUS)
				move_to(cpu, set, room);
			disable_ring(rec, n, true);
		}
	if (movable && moving)
		visit_cpus(set, room);
	if (movable)
		sched_setaffinity(0, room, before);
	CPU_FREE(before);
	CPU_FREE(set);
}

void record_pause(struct recorder *rec)
{
	rec->paused = true;
	disable_trace(rec, -1);
}

void record_hold(const struct recorder *rec, int first)
{
	disable_trace(rec, first);
}

int record_release(struct recorder *rec)
{
	return rec->paused ? 0 : enable(rec, true);
}

void record_disable(struct recorder *rec)
{
	disable_trace(rec, -1);
	for (unsigned int n = 0; n < rec->n_rings; n++)
		disable_ring(rec, n, false);
}
