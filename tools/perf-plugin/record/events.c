// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Opens the events of a recording: one trace event and one for sideband per cpu and task. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/text.h"
#include "record/record.h"

#define PRIVILEGED_DATA_BYTES (512u << 10)
#define PRIVILEGED_AUX_BYTES (4u << 20)
#define USER_DATA_BYTES (128u << 10)
#define USER_AUX_BYTES (256u << 10)
#define FEW_USER_AUX_BYTES (128u << 10)

/*
 * Opens an event. @tid: a thread, or the descriptor of a control group. @leader: the leader of the
 * event's group; -1: none.
 */
static int perf_event_open(const struct perf_event_attr *attr, pid_t tid, int cpu, int leader,
			   unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, tid, cpu, leader, PERF_FLAG_FD_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

static bool contains(const int *cpus, int n, int cpu)
{
	for (int i = 0; i < n; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

static int explain_permission(const struct recorder *rec)
{
	char *paranoid = read_text("/proc/sys/kernel/perf_event_paranoid");
	int level = paranoid ? atoi(paranoid) : 2;
	int needed = rec->target == TARGET_SYSTEM ? 0 : rec->trace_attr.exclude_kernel ? 2 : 1;

	free(paranoid);
	if (level > needed)
		cmd_error(0, "not permitted: kernel.perf_event_paranoid is %d, and %s needs %d or "
			     "less.\n"
			  "  Run as root, give the command CAP_PERFMON, or: sysctl -w "
			  "kernel.perf_event_paranoid=%d%s", level,
			  rec->target == TARGET_SYSTEM ? "tracing whole cpus" :
			  rec->trace_attr.exclude_kernel ? "tracing your own programs" :
			  "tracing the kernel", needed, needed,
			  level == 2 && rec->target != TARGET_SYSTEM ?
			  "\n  Or record user code only: -e PMU//u" : "");
	else
		cmd_error(0, "not permitted (kernel.perf_event_paranoid is %d). The process may "
			  "belong to someone else,\n  or the encoder cannot leave out what you may "
			  "not see; run as root", level);
	return -EACCES;
}

static int explain_open(const struct recorder *rec, int err, pid_t tid, int cpu)
{
	switch (-err) {
	case EACCES:
	case EPERM:
		return explain_permission(rec);
	case EOPNOTSUPP:
		if (rec->options.start_paused) {
			cmd_error(0, "this kernel cannot pause a trace by events (aux-action): "
				     "that needs Linux 6.13");
			break;
		}
		if (!rec->ctr && record_explain_refused(rec, cpu))
			break;
		cmd_error(0, "the trace hardware of cpu %d does not take the event '%s': see "
			  "/sys/bus/event_source/devices/%s/caps\n  %sfor what it can do, and the "
			  "kernel log for the option", cpu, rec->options.event, rec->pmu_name,
			  rec->ctr ? "" : "and /sys/bus/rvtrace/devices/encoder-*/features ");
		break;
	case EBUSY:
		cmd_error(0, "the trace hardware is in use by another recording; wait until it "
			     "ends");
		break;
	case ENODEV:
	case ENXIO:
		cmd_error(0, "cpu %d has no usable trace hardware; cpus that have it: see "
			  "/sys/bus/event_source/devices/%s/cpumask", cpu, rec->pmu_name);
		break;
	case ESRCH:
		cmd_error(0, "thread %d does not exist (any more)", tid);
		break;
	case EMFILE:
	case ENFILE:
		cmd_error(0, "too many open files: raise the limit (ulimit -n), or trace fewer "
			     "threads");
		break;
	case ENOENT:
		if (rec->cgroup >= 0) {
			cmd_error(0, "-G: '%s' is no control group of the controller perf_event: "
				     "mount -t cgroup -o perf_event none DIRECTORY, and make it "
				     "there", rec->options.cgroup);
			break;
		}
		/* fall through */
	default:
		cmd_error(0, "cannot open the event '%s' (thread %d, cpu %d): %s",
			  rec->options.event,
			  tid, cpu, strerror(-err));
	}
	return err;
}

/*
 * Opens sideband. Leaves out what this kernel or this user cannot have, the newest and least needed
 * first.
 */
static int open_sideband(struct recorder *rec, pid_t tid, int cpu)
{
	struct perf_event_attr *attr = &rec->side_attr;

	for (;;) {
		int fd = perf_event_open(attr, tid, cpu, -1, 0);

		if (fd >= 0 || (fd != -EINVAL && fd != -EACCES && fd != -EPERM))
			return fd;
		if (attr->text_poke)
			attr->text_poke = 0;
		else if (attr->build_id)
			attr->build_id = 0;
		else if (attr->ksymbol)
			attr->ksymbol = attr->bpf_event = 0;
		else
			return fd;
	}
}

static int add_fd(struct recorder *rec, const struct event_fd *event, uint64_t **ids, size_t *n_ids)
{
	if (array_grow(&rec->fds, rec->n_fds)) {
		close(event->fd);
		return -ENOMEM;
	}
	rec->fds[rec->n_fds++] = *event;
	if (array_grow(ids, *n_ids))
		return -ENOMEM;
	if (ioctl(event->fd, PERF_EVENT_IOC_ID, &(*ids)[*n_ids]))
		return -errno;
	(*n_ids)++;
	return 0;
}

static int explain_map(const struct recorder *rec, const struct ring *ring, int err)
{
	if (err == -EPERM) {
		char *kib = read_text("/proc/sys/kernel/perf_event_mlock_kb");

		cmd_error(0, "the buffers (%llu KiB data, %llu KiB trace for each cpu) are more "
			  "than kernel.perf_event_mlock_kb (%s) allows;\n  choose smaller ones "
			  "with -m DATA,TRACE, for example -m 64K,128K",
			  (unsigned long long)rec->options.data_bytes >> 10,
			  (unsigned long long)rec->options.aux_bytes >> 10, kib ? kib : "?");
		free(kib);
	} else {
		cmd_error(0, "cannot map the buffers of cpu %d (%llu KiB data, %llu KiB trace): "
			     "%s%s",
			  ring->cpu, (unsigned long long)rec->options.data_bytes >> 10,
			  (unsigned long long)rec->options.aux_bytes >> 10, strerror(-err),
			  err == -ENOMEM ? "; choose smaller ones with -m DATA,TRACE" : "");
	}
	return err;
}

/*
 * Opens an event that counts for tasks, or with -G for all that runs in the control group.
 * (Sideband is for all tasks.)
 */
static int open_counted(const struct recorder *rec, const struct perf_event_attr *attr, pid_t tid,
			int cpu, int leader)
{
	if (rec->cgroup >= 0)
		return perf_event_open(attr, rec->cgroup, cpu, leader, PERF_FLAG_PID_CGROUP);
	return perf_event_open(attr, tid, cpu, leader, 0);
}

/* Returns the trace event of @tid in ring @n; -1: there is none. */
static int find_leader(const struct recorder *rec, unsigned int n, pid_t tid)
{
	for (size_t i = 0; i < rec->n_fds; i++)
		if (rec->fds[i].trace && rec->fds[i].ring == n && rec->fds[i].tid == tid)
			return rec->fds[i].fd;
	return -1;
}

/* Opens one event into ring @n. The first event of a ring is the one that is mapped. */
static int open_into_ring(struct recorder *rec, unsigned int n, pid_t tid, bool trace)
{
	struct ring *ring = &rec->rings[n];
	int err, fd;

	fd = trace ? open_counted(rec, &rec->trace_attr, tid, ring->cpu, -1) :
		     open_sideband(rec, tid, ring->cpu);
	if (fd == -ESRCH && rec->n_tids > 1)
		return 0;	/* one of several threads ended meanwhile */
	if (fd < 0)
		return explain_open(rec, fd, tid, ring->cpu);
	err = add_fd(rec, &(struct event_fd){ .fd = fd, .ring = n, .trace = trace, .tid = tid },
		     trace ? &rec->trace_ids : &rec->side_ids,
		     trace ? &rec->n_trace_ids : &rec->n_side_ids);
	if (err)
		return err;
	if (ring->fd >= 0)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ?
			explain_open(rec, -errno, tid, ring->cpu) : 0;
	ring->fd = fd;
	err = ring_map(ring, rec->options.data_bytes, trace ? rec->options.aux_bytes : 0,
		       rec->options.snapshot || rec->options.in_samples);
	return err ? explain_map(rec, ring, err) : 0;
}

int record_open_extra(struct recorder *rec, unsigned int n, pid_t tid, struct extra_event *extra)
{
	int leader = extra->grouped ? find_leader(rec, n, tid) : -1, fd, err;

	if (extra->grouped && leader < 0)
		return 0;
	fd = extra->asked ? open_counted(rec, &extra->attr, tid, rec->rings[n].cpu, leader) :
		perf_event_open(&extra->attr, tid, rec->rings[n].cpu, -1, 0);
	if (fd == -ESRCH && rec->n_tids > 1)
		return 0;
	if (fd < 0)
		return record_explain_extra(extra, fd, tid, rec->rings[n].cpu);
	err = add_fd(rec, &(struct event_fd){ .fd = fd, .ring = n, .tid = tid,
					      .trigger = extra->trigger },
		     &extra->ids, &extra->n_ids);
	if (!err && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rec->rings[n].fd))
		err = cmd_error(-errno, "cannot sample '%s' into the buffer of cpu %d: %s",
				extra->name, rec->rings[n].cpu, strerror(errno));
	if (!err && extra->filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, extra->filter))
		err = cmd_error(-errno, "'%s': the kernel does not take the filter '%s': %s",
				extra->name, extra->filter, strerror(errno));
	if (!err && extra->counted)
		err = triggers_open_counters(rec, extra, tid, rec->rings[n].cpu);
	return err;
}

static int open_extras(struct recorder *rec, unsigned int n, pid_t tid)
{
	int err = 0;

	for (size_t i = 0; i < rec->n_extra && !err; i++)
		err = record_open_extra(rec, n, tid, &rec->extra[i]);
	return err;
}

static int set_filter(const struct recorder *rec, unsigned int n)
{
	const char *hint = "";

	for (size_t i = 0; i < rec->n_fds; i++) {
		if (rec->fds[i].ring != n || !rec->fds[i].trace ||
		    !ioctl(rec->fds[i].fd, PERF_EVENT_IOC_SET_FILTER, rec->filter))
			continue;
		if (errno == EOPNOTSUPP)
			hint = "; the encoder has no address filter: see nr_addr_filters in sysfs";
		return cmd_error(-errno, "cannot set the filter '%s' (%s): %s%s",
				 rec->options.filter, rec->filter, strerror(errno), hint);
	}
	return 0;
}

/* Opens a ring, its trace events first: the AUX area belongs to the event that owns the ring. */
static int open_ring(struct recorder *rec, int cpu, const pid_t *tids, size_t n_tids, bool trace)
{
	unsigned int n = rec->n_rings;
	struct ring *rings;
	int err = 0;

	if (array_grow(&rec->rings, n))
		return -ENOMEM;
	rings = rec->rings;
	rec->n_rings++;
	rings[n] = (struct ring){ .fd = -1, .cpu = cpu, .tid = cpu < 0 ? tids[0] : -1 };
	for (size_t i = 0; trace && i < n_tids && !err; i++)
		err = open_into_ring(rec, n, tids[i], true);
	for (size_t i = 0; i < n_tids && !err; i++)
		err = open_into_ring(rec, n, tids[i], false);
	for (size_t i = 0; i < n_tids && !err && rings[n].fd >= 0; i++)
		err = open_extras(rec, n, tids[i]);
	if (!err && rings[n].fd < 0)
		rec->n_rings--;	/* all its threads have ended */
	return !err && rec->filter ? set_filter(rec, n) : err;
}

static int open_all(struct recorder *rec)
{
	static const pid_t everyone = -1;
	const pid_t *tids = rec->target == TARGET_SYSTEM ? &everyone : rec->tids;
	size_t n_tids = rec->target == TARGET_SYSTEM ? 1 : rec->n_tids;
	int err = 0;

	if (rec->options.per_thread) {
		for (size_t i = 0; i < n_tids && !err; i++)
			err = open_ring(rec, -1, &tids[i], 1, true);
		return err;
	}
	/* sideband of every cpu: a program maps and forks on untraced ones, too */
	for (int i = 0; i < rec->n_online_cpus && !err; i++)
		err = open_ring(rec, rec->online_cpus[i], tids, n_tids,
				contains(rec->trace_cpus, rec->n_trace_cpus, rec->online_cpus[i]));
	return err;
}

static int prepare_attrs(struct recorder *rec)
{
	bool command = rec->target == TARGET_COMMAND;
	struct perf_event_attr *side = &rec->side_attr, *trace = &rec->trace_attr;
	bool inherit = rec->target != TARGET_SYSTEM && !rec->options.per_thread &&
		       !rec->options.no_inherit;

	trace->size = side->size = sizeof(*trace);
	trace->type = rec->pmu.type;
	side->type = PERF_TYPE_SOFTWARE;
	side->config = PERF_COUNT_SW_DUMMY;
	trace->sample_type = side->sample_type = RECORD_SAMPLE_TYPE;
	trace->sample_id_all = side->sample_id_all = 1;
	trace->inherit = side->inherit = inherit;
	trace->disabled = 1;
	side->disabled = command;
	side->enable_on_exec = command;
	trace->enable_on_exec = command && !rec->paused;
	if (rec->options.start_paused)
		event_set_aux_action(trace, EVENT_AUX_START_PAUSED);
	trace->watermark = side->watermark = 1;
	trace->wakeup_watermark = side->wakeup_watermark = rec->options.data_bytes / 2;
	/* compressing takes longer */
	trace->aux_watermark = rec->options.aux_bytes / (rec->options.level ? 8 : 4);
	side->exclude_kernel = side->exclude_hv = 1;
	side->mmap = side->mmap2 = side->comm = side->comm_exec = side->task = 1;
	side->context_switch = !rec->switches.object;
	side->build_id = 1;
	side->ksymbol = side->bpf_event = 1;
	side->text_poke = !trace->exclude_kernel;
	return record_prepare_extra(rec);
}

/*
 * Returns a size of AUX buffers that a user may lock. kernel.perf_event_mlock_kb is for each cpu:
 * its default of 516 KiB is enough for one ring per cpu, but not for the rings of many threads.
 */
static uint64_t user_aux_bytes(const struct recorder *rec)
{
	char *kib = read_text("/proc/sys/kernel/perf_event_mlock_kb");
	uint64_t room = (kib ? strtoull(kib, NULL, 10) << 10 : 0) * rec->n_online_cpus;
	uint64_t rings = rec->options.per_thread ? rec->n_tids : (size_t)rec->n_online_cpus;
	uint64_t ring = rec->options.data_bytes + sysconf(_SC_PAGESIZE) + USER_AUX_BYTES;

	free(kib);
	return rings * ring <= room ? USER_AUX_BYTES : FEW_USER_AUX_BYTES;
}

int record_open(struct recorder *rec)
{
	bool privileged = !geteuid();
	struct rlimit files;
	int err;

	if (!rec->options.data_bytes)
		rec->options.data_bytes = privileged ? PRIVILEGED_DATA_BYTES : USER_DATA_BYTES;
	if (!rec->options.aux_bytes)
		rec->options.aux_bytes = privileged ? PRIVILEGED_AUX_BYTES : user_aux_bytes(rec);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	err = prepare_attrs(rec);
	if (!err)
		err = open_all(rec);
	return err;
}

void record_close(struct recorder *rec)
{
	for (size_t i = 0; i < rec->n_rings; i++)
		ring_unmap(&rec->rings[i]);
	for (size_t i = 0; i < rec->n_fds; i++)
		close(rec->fds[i].fd);
	free(rec->rings);
	free(rec->fds);
	free(rec->trace_ids);
	free(rec->side_ids);
	for (size_t i = 0; i < rec->n_extra; i++)
		free(rec->extra[i].ids);
	free(rec->extra);
	rec->extra = NULL;
	rec->n_extra = 0;
	rec->rings = NULL;
	rec->fds = NULL;
	rec->trace_ids = rec->side_ids = NULL;
	rec->n_rings = rec->n_fds = 0;
}
