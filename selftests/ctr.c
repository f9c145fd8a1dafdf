// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Triggers of riscv_ctr.ko: an ordinary user's run with the task only, other triggers than cycles,
 * instructions and cpu-clock need CAP_PERFMON, and harts may come and go whatever the trigger is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

#define CTR_DIR "/sys/bus/event_source/devices/riscv_ctr"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define NOBODY 65534
#define TRIGGER_OTHER 3
/* So often a clock of 10 kHz interrupts each CPU in this time, in which nothing else happens. */
#define ASLEEP_S 2
/* Far longer than that takes: a deadlock is for ever. */
#define HOTPLUG_LIMIT_S 120

/* The kernel begins to count each of these when the first event of its kind is opened. */
static const uint64_t software_events[] = {
	PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
	PERF_COUNT_SW_ALIGNMENT_FAULTS, PERF_COUNT_SW_EMULATION_FAULTS,
};

static int ctr_open(uint64_t software_event, bool other, pid_t pid, int cpu)
{
	const char *type = read_line(CTR_DIR "/type");
	struct perf_event_attr attr = {
		.type = type ? (uint32_t)atoi(type) : 0,
		.size = sizeof(attr),
		.sample_period = 100000,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	if (other) {
		attr.config1 = TRIGGER_OTHER | (uint64_t)PERF_TYPE_SOFTWARE << 32;
		attr.config2 = software_event;
		attr.sample_period = 1;
	}
	return event_open(&attr, pid, cpu);
}

/* All interrupts since the machine booted */
static unsigned long long interrupts(void)
{
	unsigned long long n = 0;
	char word[64];
	FILE *in = fopen("/proc/stat", "r");

	while (in && fscanf(in, "%63s", word) == 1)
		if (!strcmp(word, "intr") && fscanf(in, "%llu", &n) == 1)
			break;
	if (in)
		fclose(in);
	return n;
}

/* Opens events of itself as an ordinary user, and sleeps. Exit status: what went wrong. */
static _Noreturn void ordinary_user(void)
{
	unsigned long long before, in_vain, asleep;
	long clocks = sysconf(_SC_NPROCESSORS_ONLN) * 10000l * ASLEEP_S;
	int fd;

	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		_exit(10);
	if (ctr_open(PERF_COUNT_SW_PAGE_FAULTS, true, 0, -1) != -EACCES)
		_exit(1);
	before = interrupts();
	sleep(ASLEEP_S);
	in_vain = interrupts() - before;
	fd = ctr_open(0, false, 0, -1);
	if (fd < 0)
		_exit(2);
	before = interrupts();
	sleep(ASLEEP_S);
	asleep = interrupts() - before;
	tap_note("%llu interrupts while its task sleeps, %llu without it, %ld if its clock ran",
		 asleep, in_vain, clocks);
	_exit(asleep < in_vain + (unsigned long long)clocks / 4 ? 0 : 3);
}

/* What review defect 4 was: any user could have counters on all CPUs, with any period. */
static void test_ordinary_user(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		ordinary_user();
	waitpid(pid, &status, 0);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
	tap_check(status != 1 && status != 10,
		  "defect 4: a trigger of any type is refused without CAP_PERFMON");
	tap_check(!status, "defect 4: an ordinary user's trigger runs with its task only (%d)",
		  status);
}

/* Opens and closes events of CPUs or of itself for ever. */
static _Noreturn void open_and_close(bool of_cpus)
{
	for (unsigned int n = 0;; n++) {
		int fd = ctr_open(software_events[n % ARRAY_SIZE(software_events)], true,
				  of_cpus ? -1 : 0, of_cpus ? (int)(n & 1) : -1);

		usleep(1000);
		if (fd >= 0)
			close(fd);
	}
}

/*
 * CPU 1 goes and comes while an event is open, of another kind each time. There may be only one of
 * a task or CPU.
 */
static _Noreturn void go_and_come(bool of_cpus)
{
	for (size_t i = 0; i < ARRAY_SIZE(software_events); i++) {
		int fd = of_cpus ? -1 : ctr_open(software_events[i], true, 0, -1);

		if (!of_cpus && fd < 0)
			_exit(1);
		if (set_online(1, false) || set_online(1, true))
			_exit(2);
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/*
 * What review defect 7 was: the trigger of a CPU that came was opened in the call-back of that,
 * where a software event waits for the end of what it is a part of.
 */
static void test_hotplug(bool of_cpus)
{
	pid_t opener, pid, done = 0;
	int status = -1;

	fflush(stdout);
	opener = fork();
	if (!opener)
		open_and_close(of_cpus);
	pid = fork();
	if (!pid)
		go_and_come(of_cpus);
	for (int i = 0; i < HOTPLUG_LIMIT_S * 10 && !done; i++) {
		usleep(100000);
		done = waitpid(pid, &status, WNOHANG);
	}
	/* Who waits for a CPU for ever cannot be killed, nor be waited for. */
	kill(opener, SIGKILL);
	tap_check(done == pid && !status,
		  "defect 7: CPU 1 goes and comes, software triggers of %s are open%s (%d)",
		  of_cpus ? "CPUs" : "tasks", done ? "" : ": it never ends", status);
	if (done)
		waitpid(opener, NULL, 0);
}

int main(void)
{
	char paranoid[16];

	if (access(CTR_DIR "/type", R_OK))
		tap_skip_all("no PMU riscv_ctr: no Ssctr, or riscv_ctr.ko is not loaded");
	if (geteuid())
		tap_skip_all("needs root");
	tap_plan(4);
	snprintf(paranoid, sizeof(paranoid), "%s", read_line(PARANOID) ?: "2");
	write_line(PARANOID, "2");
	test_ordinary_user();
	write_line(PARANOID, paranoid);
	for (int of_cpus = 0; of_cpus < 2; of_cpus++) {
		if (access("/sys/devices/system/cpu/cpu1/online", W_OK))
			tap_skip("there is no CPU 1 that may go", "defect 7");
		else
			test_hotplug(of_cpus);
	}
	tap_end();
}
