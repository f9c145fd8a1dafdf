// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Who may record whom, and what becomes of a recording when the traced program gains privileges:
 * the rows of the table in Documentation/admin-guide/rvtrace.rst, word by word. What each level of
 * perf_event_paranoid allows is in safety.c; here it is 2. The last rows lock the kernel down,
 * which lasts until it boots again: they are for a machine in a lab (RVTRACE_LOCKDOWN=1).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define LOCKDOWN "/sys/kernel/security/lockdown"
#define NOBODY 65534
#define OTHER 65533
#define AUX_SIZE (256u << 10)
#define BRANCHES 300000
#define FEW 2000		/* bytes of trace: what is executed before and within exec */

enum rights { NONE = 0, PERFMON = 1u << CAP_PERFMON % 32 };

/* The calling process is user @uid's, and has these capabilities of those above 31. */
static int become(uid_t uid, unsigned int rights)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	data[CAP_PERFMON / 32].permitted = rights;
	data[CAP_PERFMON / 32].effective = rights;
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/* @try in a process of its own. Returns its exit status: 0, or an errno. */
static int in_child(int (*try)(const void *arg), const void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(try(arg));
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 255;
	return WEXITSTATUS(status);
}

static int open_flow(pid_t pid, int cpu, bool kernel, uint64_t config)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, config);
	attr.exclude_kernel = !kernel;
	attr.exclude_hv = !(config & CONFIG_MACHINE);
	fd = event_open(&attr, pid, cpu);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -fd : 0;
}

static void row(const char *who, bool allowed, int error)
{
	bool refused = error == EACCES || error == EPERM;

	tap_check(allowed ? !error : refused, "%s: %s (%s)", who, allowed ? "allowed" : "refused",
		  error ? strerror(error) : "opened");
}

/* ---- other tasks ---- */

struct other {
	uid_t uid;		/* who traces */
	unsigned int rights;
	pid_t pid;		/* whom */
};

static int try_other(const void *arg)
{
	const struct other *other = arg;

	return become(other->uid, other->rights) ? 255 : open_flow(other->pid, -1, false, 0);
}

/* A process of @uid's that waits. */
static pid_t waiting(uid_t uid, bool dumpable)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (become(uid, NONE) || prctl(PR_SET_DUMPABLE, dumpable) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		tap_note("the process to be traced does not start");
	close(ready[0]);
	return pid;
}

static void test_others(void)
{
	pid_t theirs = waiting(OTHER, true), own = waiting(NOBODY, true);
	pid_t hidden = waiting(NOBODY, false);

	row("a user, another process of the same user", true,
	    in_child(try_other, &(struct other){ NOBODY, NONE, own }));
	row("a user, a process of the same user that no debugger may attach to", false,
	    in_child(try_other, &(struct other){ NOBODY, NONE, hidden }));
	row("a user, another user's process", false,
	    in_child(try_other, &(struct other){ NOBODY, NONE, theirs }));
	row("a user with CAP_PERFMON, another user's process", true,
	    in_child(try_other, &(struct other){ NOBODY, PERFMON, theirs }));
	end_child(theirs);
	end_child(own);
	end_child(hidden);
}

/* ---- root that is not ---- */

struct attempt {
	bool new_user, new_pid;	/* namespaces */
	int cpu;
	bool kernel;
	uint64_t config;
};

static int try_attempt(const void *arg)
{
	const struct attempt *attempt = arg;

	return open_flow(attempt->cpu < 0 ? 0 : -1, attempt->cpu, attempt->kernel, attempt->config);
}

static int try_in_namespace(const void *arg)
{
	const struct attempt *attempt = arg;
	int flags = CLONE_NEWUSER | (attempt->new_pid ? CLONE_NEWPID | CLONE_NEWNS : 0);

	if (!attempt->new_user)
		return become(0, NONE) ? 255 : try_attempt(arg);
	if (become(NOBODY, NONE) || prctl(PR_SET_DUMPABLE, 1) || unshare(flags) ||
	    write_line("/proc/self/setgroups", "deny") ||
	    write_line("/proc/self/uid_map", "0 65534 1"))
		return 254;
	/* the child is process 1 of the new namespace */
	return in_child(try_attempt, arg);
}

static void test_root(void)
{
	static const struct {
		const char *who;
		struct attempt attempt;
		bool allowed;
	} rows[] = {
		{ "root without capabilities, user flow of its own thread",
		  { false, false, -1, false, 0 }, true },
		{ "root without capabilities, kernel flow of its own thread",
		  { false, false, -1, true, 0 }, false },
		{ "root without capabilities, a CPU",
		  { false, false, 0, false, 0 }, false },
		{ "root of a user namespace, user flow of its own thread",
		  { true, false, -1, false, 0 }, true },
		{ "root of a user namespace, kernel flow of its own thread",
		  { true, false, -1, true, 0 }, false },
		{ "root of a user namespace, a CPU",
		  { true, false, 0, false, 0 }, false },
		{ "root of a user namespace, machine mode",
		  { true, false, -1, false, CONFIG_MACHINE }, false },
		{ "root of a container, user flow of its own thread",
		  { true, true, -1, false, 0 }, true },
		{ "root of a container, kernel flow of its own thread",
		  { true, true, -1, true, 0 }, false },
		{ "root of a container, a CPU",
		  { true, true, 0, false, 0 }, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		row(rows[i].who, rows[i].allowed, in_child(try_in_namespace, &rows[i].attempt));
}

/* ---- privileges gained by exec ---- */

/* A copy of this program, root's, with @mode. */
static void copy_self(const char *to, mode_t mode)
{
	char command[256];

	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), to);
	if (system(command) || chown(to, 0, 0) || chmod(to, mode))
		tap_note("%s: %s", to, strerror(errno));
}

struct execution {
	const char *program;
	uid_t uid, tracer;
	unsigned int rights;	/* of the tracer */
};

/* Bytes of trace, of a child that executes the program; in units of FEW, up to 200. */
static int trace_execution(const void *arg)
{
	const struct execution *execution = arg;
	struct perf_event_attr attr;
	struct recording rec;
	int go[2];
	pid_t pid;
	char c;

	if (pipe(go))
		return 255;
	pid = fork();
	if (!pid) {
		close(go[1]);
		/* root keeps what it may: else it would gain that by exec */
		if ((execution->uid && become(execution->uid, NONE)) ||
		    prctl(PR_SET_DUMPABLE, 1) || read(go[0], &c, 1) != 1)
			_exit(1);
		execl(execution->program, execution->program, "--work", NULL);
		_exit(1);
	}
	/* it has changed who it is by then */
	usleep(200000);
	if (execution->tracer && become(execution->tracer, execution->rights))
		return 255;
	attr_init(&attr, 0);
	if (recording_open(&rec, &attr, pid, -1, AUX_SIZE))
		return 254;
	recording_enable(&rec);
	if (write(go[1], "", 1) != 1 || waitpid(pid, NULL, 0) != pid)
		return 253;
	recording_read(&rec, false);
	return rec.n_bytes / FEW < 200 ? (int)(rec.n_bytes / FEW) : 200;
}

static void traced(const char *who, bool all, const struct execution *execution)
{
	int few = in_child(trace_execution, execution);

	tap_check(all ? few > 5 && few <= 200 : !few, "%s: %s (%d * %d bytes)", who,
		  all ? "recorded" : "not recorded", few, FEW);
}

static void test_exec(void)
{
	static const char plain[] = "/tmp/who-plain", privileged[] = "/tmp/who-setuid";

	copy_self(plain, 0755);
	copy_self(privileged, 04755);
	traced("a user, what runs behind the exec of an ordinary program", true,
	       &(struct execution){ plain, NOBODY, NOBODY, NONE });
	traced("a user, what runs behind the exec of a setuid program", false,
	       &(struct execution){ privileged, NOBODY, NOBODY, NONE });
	traced("a user with CAP_PERFMON, what runs behind the exec of a setuid program", false,
	       &(struct execution){ privileged, NOBODY, NOBODY, PERFMON });
	traced("root, what runs behind the exec of a setuid program that gains rights", false,
	       &(struct execution){ privileged, NOBODY, 0, 0 });
	traced("root, what runs behind the exec of a setuid program that gains none", true,
	       &(struct execution){ privileged, 0, 0, 0 });
	unlink(plain);
	unlink(privileged);
}

/* ---- lockdown ---- */

static const char *const lockdown_rows[] = {
	"root under lockdown=integrity, user flow", "root under lockdown=integrity, kernel flow",
	"root under lockdown=confidentiality, kernel flow",
};

static void test_lockdown(void)
{
	mount("none", "/sys/kernel/security", "securityfs", 0, NULL);
	if (!getenv("RVTRACE_LOCKDOWN") || access(LOCKDOWN, W_OK)) {
		for (size_t i = 0; i < ARRAY_SIZE(lockdown_rows); i++)
			tap_skip("RVTRACE_LOCKDOWN is not set, or the kernel has no lockdown", "%s",
				 lockdown_rows[i]);
		return;
	}
	write_line(LOCKDOWN, "integrity");
	row(lockdown_rows[0], true, open_flow(0, -1, false, 0));
	row(lockdown_rows[1], true, open_flow(0, -1, true, 0));
	write_line(LOCKDOWN, "confidentiality");
	row(lockdown_rows[2], true, open_flow(0, -1, true, 0));
}

int main(int argc, char **argv)
{
	char *old;

	if (argc > 1 && !strcmp(argv[1], "--work")) {
		work(BRANCHES);
		return 0;
	}
	require_pmu();
	if (geteuid())
		tap_skip_all("needs root");
	old = strdup(read_line(PARANOID));
	write_line(PARANOID, "2");
	tap_plan(4 + 10 + 5 + ARRAY_SIZE(lockdown_rows));
	test_others();
	test_root();
	test_exec();
	test_lockdown();
	write_line(PARANOID, old);
	free(old);
	tap_end();
}
