// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The records of a task that is switched out and in. Such a record may wait while its task sleeps:
 * it may be late, but nothing may be missing, and it must be known whose it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

/* The trace says whose it is, and when it was. */
#define CONFIG_EXPLICIT (CONFIG_CONTEXT | CONFIG_TIMESTAMP)
#define AUX_SIZE (1u << 20)
#define ROUNDS 200u
#define TRIES 10u
/* Fewer than CONTEXTS */
#define CHILDREN 12u
/* Longer than any record waits, and than another hart needs to answer */
#define LONG_US 200000

/*
 * A child on CPU 0 that has taken its turns, traced by one event of its own, which goes with it if
 * @cpu is -1. Returns false after a failed test when that cannot be opened.
 */
static bool begin_on(int cpu, const char *name, struct partner *partner, struct recording *rec,
		     uint64_t config)
{
	struct perf_event_attr attr;
	int ret;

	*partner = partner_start(0);
	attr_init(&attr, config);
	ret = recording_open(rec, &attr, partner->pid, cpu, AUX_SIZE);
	if (ret) {
		tap_check(false, "%s: opened (%d)", name, ret);
		partner_end(partner);
		return false;
	}
	recording_enable(rec);
	partner_rounds(partner, ROUNDS);
	return true;
}

static bool begin(const char *name, struct partner *partner, struct recording *rec, uint64_t config)
{
	return begin_on(0, name, partner, rec, config);
}

/* Who stops last gets what is in the sink. */
static bool may_share_sink(void)
{
	return !access(BUS_DIR "/funnel-0", F_OK);
}

static void end(struct partner *partner, struct recording *rec)
{
	recording_close(rec);
	partner_end(partner);
}

/* In each turn but the first the child comes back from two system calls, each time with a sync. */
static bool is_complete(const struct recording *rec, unsigned int rounds, struct messages *m)
{
	messages_count(rec, m);
	return m->whole && m->syncs >= 2 * (rounds - 1) && !rec->partial && !rec->truncated &&
	       !rec->collision;
}

/* A record for each turn would cost too much. */
static void test_records(const char *name, int cpu, uint64_t config)
{
	struct partner partner;
	unsigned int records;
	struct recording rec;
	struct messages m;
	bool complete;

	if (may_share_sink()) {
		tap_skip("the sink may be shared", "%s: records wait", name);
		return;
	}
	/* A machine with much else to do is slow, and no record waits for long. */
	for (unsigned int i = 0; i < TRIES; i++) {
		if (!begin_on(cpu, name, &partner, &rec, config))
			return;
		recording_disable(&rec);
		recording_read(&rec, false);
		complete = is_complete(&rec, ROUNDS, &m);
		records = rec.records;
		end(&partner, &rec);
		if (!complete || records <= ROUNDS / 2)
			break;
	}
	tap_check(complete && records >= 1 && records <= ROUNDS / 2,
		  "%s: records wait: %u of %u turns, %u syncs", name, records, ROUNDS, m.syncs);
}

static void move(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(pid, sizeof(set), &set);
}

/* Returns whether all of the thread's turns are in the recording. */
static bool goes_to_and_fro(unsigned int *late, unsigned int *records, unsigned int *syncs)
{
	struct partner partner = partner_start(0);
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	bool whole;

	*late = *records = *syncs = 0;
	attr_init(&attr, CONFIG_EXPLICIT);
	if (recording_open(&rec, &attr, partner.pid, -1, AUX_SIZE)) {
		partner_end(&partner);
		return false;
	}
	recording_enable(&rec);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		move(partner.pid, i / 4 % 2);
		partner_rounds(&partner, 1);
		recording_read(&rec, false);
	}
	recording_disable(&rec);
	usleep(LONG_US);
	recording_read(&rec, false);
	for (unsigned int i = 0; i < rec.records; i++)
		*late += rec.spans[i].late && rec.spans[i].tid == (uint32_t)partner.pid;
	whole = is_complete(&rec, ROUNDS, &m) && m.n_contexts == 1;
	*records = rec.records;
	*syncs = m.syncs;
	end(&partner, &rec);
	return whole;
}

/*
 * The event goes with its thread from hart to hart, faster than the driver hands anything over:
 * what waits on one hart comes before what is traced on the other.
 */
static void test_moves(void)
{
	const char *name = "goes to and fro";
	unsigned int late, records, syncs;
	bool whole;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || may_share_sink()) {
		tap_skip("one CPU, or one buffer may get both CPUs' trace", "%s", name);
		return;
	}
	/* A hart that falls asleep hands over what waits: on some days, all of it. */
	for (unsigned int i = 0; i < TRIES; i++) {
		whole = goes_to_and_fro(&late, &records, &syncs);
		if (!whole || late)
			break;
	}
	tap_check(whole && late, "%s: %u syncs, %u records, %u late ones that it is named in",
		  name, syncs, records, late);
}

/* The child sleeps, so that the driver is not told when its event is disabled. */
static void test_disable(const char *name, int cpu, unsigned int wait_us)
{
	struct partner partner;
	struct recording rec;
	struct messages m;

	if (!begin(name, &partner, &rec, CONFIG_EXPLICIT))
		return;
	if (sysconf(_SC_NPROCESSORS_ONLN) <= cpu) {
		tap_skip("not so many CPUs", "%s", name);
	} else {
		pin(cpu);
		ioctl(rec.fd, PERF_EVENT_IOC_DISABLE, 0);
		usleep(wait_us);
		recording_read(&rec, false);
		tap_check(is_complete(&rec, ROUNDS, &m), "%s: %u syncs, %u records", name, m.syncs,
			  rec.records);
		pin(0);
	}
	end(&partner, &rec);
}

/* Nobody does anything, but who reads all the time sees it in the end. */
static void test_time(void)
{
	struct partner partner;
	struct recording rec;
	struct messages m;

	if (!begin("time", &partner, &rec, CONFIG_EXPLICIT))
		return;
	usleep(LONG_US);
	recording_read(&rec, false);
	tap_check(is_complete(&rec, ROUNDS, &m), "time: %u syncs, %u records", m.syncs,
		  rec.records);
	end(&partner, &rec);
}

/* A child that ends has no event any more that could be disabled. */
static void test_exit(void)
{
	struct partner partner;
	struct recording rec;
	struct messages m;

	if (!begin("exit", &partner, &rec, CONFIG_EXPLICIT))
		return;
	partner_end(&partner);
	recording_read(&rec, false);
	tap_check(is_complete(&rec, ROUNDS, &m), "exit: %u syncs, %u records", m.syncs,
		  rec.records);
	recording_close(&rec);
}

/* Comes to CPU 0 for a moment and ends on another. */
static _Noreturn void visit(void)
{
	pin(0);
	work(100);
	pin(1);
	_exit(0);
}

struct visitor {
	int go;		/* waits until there is something to read */
	bool children;	/* lets some children do it */
};

static int visit_when_told(void *arg)
{
	const struct visitor *visitor = arg;
	char c;

	if (read(visitor->go, &c, 1) != 1)
		_exit(1);
	if (!visitor->children)
		visit();
	for (unsigned int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid)
			visit();
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

/* How many threads are in what was recorded of CPU 0; -1 when it cannot be recorded. */
static int visitors(bool children)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	struct visitor visitor = { .children = children };
	struct perf_event_attr attr;
	struct recording rec, other;
	struct messages m;
	int go[2], n = -1;
	pid_t pid;

	fflush(stdout);
	if (pipe(go))
		return -1;
	visitor.go = go[0];
	/* No memory of its own: it is gone before a record's time is over. */
	pid = clone(visit_when_told, stack + sizeof(stack), CLONE_VM | SIGCHLD, &visitor);
	/* From here, or on a busy machine it would still visit CPU 0 when that is recorded. */
	pin_thread(pid, 1);
	attr_init(&attr, CONFIG_EXPLICIT);
	attr.inherit = children;
	/* One event per CPU, as recorders have it. */
	if (recording_open(&other, &attr, pid, 1, AUX_SIZE)) {
		end_child(pid);
	} else if (recording_open(&rec, &attr, pid, 0, AUX_SIZE)) {
		end_child(pid);
		recording_close(&other);
	} else {
		recording_enable(&rec);
		recording_enable(&other);
		start_child(go[1]);
		waitpid(pid, NULL, 0);
		recording_read(&rec, false);
		messages_count(&rec, &m);
		n = m.whole ? (int)m.n_contexts : -1;
		recording_close(&rec);
		recording_close(&other);
	}
	close(go[0]);
	return n;
}

/* Who ends on another CPU has no event there to be stopped. */
static void test_visits(void)
{
	int n, seen = 0;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || may_share_sink()) {
		tap_skip("one CPU, or one buffer may get both CPUs' trace", "visits");
		tap_skip("one CPU, or one buffer may get both CPUs' trace", "visits of children");
		return;
	}
	for (unsigned int i = 0; i < CHILDREN; i++)
		seen += visitors(false) == 1;
	tap_check(seen == CHILDREN, "visits: %d of %u", seen, CHILDREN);
	/* What they have inherited goes away with them. */
	n = visitors(true);
	tap_check(n == CHILDREN, "visits of children: %d of %u", n, CHILDREN);
}

/* Two children take turns on the hart, each with an event and a buffer of its own. */
static void test_two(void)
{
	struct partner partners[2];
	struct recording recs[2];
	struct messages m[2];
	bool ok = true;

	if (!begin("two", &partners[0], &recs[0], CONFIG_EXPLICIT))
		return;
	if (!begin("two", &partners[1], &recs[1], CONFIG_EXPLICIT)) {
		end(&partners[0], &recs[0]);
		return;
	}
	for (unsigned int i = 0; i < ROUNDS; i++)
		partner_rounds(&partners[i % 2], 1);
	for (unsigned int i = 0; i < 2; i++) {
		recording_disable(&recs[i]);
		recording_read(&recs[i], false);
		ok = is_complete(&recs[i], ROUNDS + ROUNDS / 2, &m[i]) && m[i].n_contexts == 1 &&
		     m[i].contexts[0] == (uint64_t)partners[i].pid && ok;
	}
	tap_check(ok, "two: %u and %u syncs, %u and %u records, %u and %u contexts", m[0].syncs,
		  m[1].syncs, recs[0].records, recs[1].records, m[0].n_contexts, m[1].n_contexts);
	end(&partners[1], &recs[1]);
	end(&partners[0], &recs[0]);
}

/* How many records have trace of another thread than the kernel says; -1: none says whose it is */
static int wrong_names(const struct recording *rec, unsigned int *late)
{
	int wrong = 0, named = 0;

	*late = 0;
	for (unsigned int i = 0; i < rec->records; i++) {
		const struct aux_span *span = &rec->spans[i];
		struct messages m;

		messages_count_record(rec, i, &m);
		*late += span->late;
		named += m.n_contexts;
		wrong += m.n_contexts > 1 || (m.n_contexts && m.contexts[0] != span->tid);
	}
	return named ? wrong : -1;
}

/*
 * The same with one buffer, as a recorder has it that follows the children of a program. Where the
 * trace does not say both whose it is and when it was, its records do.
 */
static void test_shared_buffer(const char *name, uint64_t config, bool names)
{
	struct partner partners[2];
	struct perf_event_attr attr;
	struct recording rec;
	struct messages m;
	unsigned int late;
	int fd, wrong;

	if (!begin(name, &partners[0], &rec, config))
		return;
	partners[1] = partner_start(0);
	attr_init(&attr, config);
	fd = event_open(&attr, partners[1].pid, 0);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rec.fd) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		tap_check(false, "%s: opened (%d)", name, errno);
	} else {
		for (unsigned int i = 0; i < ROUNDS; i++)
			partner_rounds(&partners[i / 2 % 2], 1);
		recording_disable(&rec);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		recording_read(&rec, false);
		wrong = wrong_names(&rec, &late);
		tap_check(is_complete(&rec, 2 * ROUNDS, &m) && m.n_contexts == 2 &&
			  (!names || (!wrong && (late || may_share_sink()))),
			  "%s: %u syncs, %u records, %u late, %d names are wrong", name, m.syncs,
			  rec.records, late, wrong);
	}
	if (fd >= 0)
		close(fd);
	partner_end(&partners[1]);
	end(&partners[0], &rec);
}

/* Passes the turn on: of two such threads one runs while the other waits. */
static _Noreturn void take_turns(int from, int to)
{
	char c;

	pin(0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		work(20);
		if (read(from, &c, 1) != 1 || write(to, &c, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/*
 * Two children of a program switch to each other. They have inherited the same event, so perf may
 * let it run and only swap the tasks' contexts: then it does not say that it stops and starts.
 */
static void test_inherited(const char *name, uint64_t config)
{
	struct perf_event_attr attr;
	struct recording rec;
	int go[2], to[2], from[2], ret, wrong, status = -1;
	unsigned int late;
	struct messages m;
	pid_t pid;
	char c = 0;

	if (pipe(go) || pipe(to) || pipe(from))
		exit(1);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		pin(0);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		if (!fork())
			take_turns(to[0], from[1]);
		if (!fork())
			take_turns(from[0], to[1]);
		if (write(to[1], &c, 1) != 1)
			_exit(1);
		while (wait(NULL) > 0)
			;
		_exit(0);
	}
	attr_init(&attr, config);
	attr.inherit = 1;
	ret = recording_open(&rec, &attr, pid, 0, AUX_SIZE);
	if (!ret)
		ret = recording_enable(&rec);
	start_child(go[1]);
	while (!waitpid(pid, &status, WNOHANG)) {
		if (!ret)
			recording_read(&rec, true);
		usleep(1000);
	}
	close(go[0]);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
	if (ret) {
		tap_check(false, "%s: opened (%d)", name, ret);
		return;
	}
	recording_disable(&rec);
	recording_read(&rec, false);
	messages_count(&rec, &m);
	wrong = wrong_names(&rec, &late);
	tap_check(!status && m.whole && m.n_contexts >= 2 && !wrong,
		  "%s: %u contexts, %u records, %u late, %d names are wrong", name, m.n_contexts,
		  rec.records, late, wrong);
	recording_close(&rec);
}

/* The buffer goes away, or the event, while a record waits: the next recording knows nothing. */
static void test_gone(bool unmap)
{
	const char *name = unmap ? "unmapped" : "closed";
	struct partner partner;
	struct recording rec;
	struct messages m;

	if (!begin(name, &partner, &rec, CONFIG_EXPLICIT))
		return;
	if (unmap) {
		munmap(rec.aux, rec.aux_size);
		rec.aux_size = 0;
		/* Nothing can be traced now. */
		partner_rounds(&partner, ROUNDS);
	}
	end(&partner, &rec);
	if (!begin(name, &partner, &rec, CONFIG_EXPLICIT))
		return;
	recording_disable(&rec);
	recording_read(&rec, false);
	tap_check(is_complete(&rec, ROUNDS, &m) && m.n_contexts == 1 &&
		  m.contexts[0] == (uint64_t)partner.pid,
		  "%s: the next has %u syncs, %u contexts", name, m.syncs, m.n_contexts);
	end(&partner, &rec);
}

/*
 * While no event is open nobody notes who leaves a CPU and comes back: who is stopped then is not
 * about to leave it.
 */
static void test_again(void)
{
	struct perf_event_attr attr;
	struct recording rec;
	unsigned int n = 0;
	struct messages m;

	attr_init(&attr, 0);
	for (unsigned int i = 0; i < TRIES; i++) {
		if (recording_open(&rec, &attr, 0, 0, AUX_SIZE))
			break;
		recording_enable(&rec);
		work(1000);
		recording_disable(&rec);
		recording_read(&rec, false);
		messages_count(&rec, &m);
		n += m.whole && m.syncs;
		recording_close(&rec);
		usleep(LONG_US / 10);
	}
	tap_check(n == TRIES, "again and again: %u of %u", n, TRIES);
}

int main(void)
{
	struct perf_event_attr attr;
	int fd;

	require_pmu();
	attr_init(&attr, CONFIG_EXPLICIT);
	fd = event_open(&attr, 0, 0);
	if (fd == -EOPNOTSUPP)
		tap_skip_all("no context or no timestamps in the trace");
	if (fd >= 0)
		close(fd);
	pin(0);
	tap_plan(17);
	test_records("plain", 0, 0);
	test_records("explicit", 0, CONFIG_EXPLICIT);
	test_records("goes with its thread", -1, 0);
	test_moves();
	test_disable("disabled on its CPU", 0, 0);
	test_disable("disabled on another CPU", 1, LONG_US);
	test_time();
	test_exit();
	test_visits();
	test_two();
	test_shared_buffer("one buffer", CONFIG_EXPLICIT, false);
	test_shared_buffer("one buffer, no time", CONFIG_CONTEXT, true);
	test_inherited("inherited", CONFIG_CONTEXT);
	test_gone(true);
	test_gone(false);
	test_again();
	tap_end();
}
