// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The known loop of `perf rvtrace doctor`: this program's own `record` records it, the library
 * decodes it, and each instruction is compared with what the loop must have executed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <rvtrace/session.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/doctor.h"
#include "util/array.h"

#define ROUNDS 3000u
/* How long the process of the loop lives on, to watch time stamps, and how often they are read. */
#define STAY_US 200000
#define WATCH_US 5000
/* The measured rate may differ from the reported one by one part in so many. */
#define RATE_PARTS 10
/* Fewer changes of the counter do not give a rate. */
#define MIN_CHANGES 4
#define NS_PER_S 1e9

/* Addresses of the loop. */
struct loop {
	uint64_t start, end;
};

#ifdef __riscv
/*
 * Runs the loop: five instructions of four bytes. The third is skipped when the counter is a
 * multiple of 4.
 */
static struct loop run_loop(void)
{
	uint64_t counter = ROUNDS, sum = 0, low, start, end;

	__asm__ volatile(".option push\n"
			 ".option norvc\n"
			 ".option norelax\n"
			 "	lla	%[start], 1f\n"
			 "	lla	%[end], 3f\n"
			 "1:	andi	%[low], %[counter], 3\n"
			 "	beqz	%[low], 2f\n"
			 "	addi	%[sum], %[sum], 1\n"
			 "2:	addi	%[counter], %[counter], -1\n"
			 "	bnez	%[counter], 1b\n"
			 "3:\n"
			 ".option pop\n"
			 : [start] "=&r"(start), [end] "=&r"(end), [counter] "+&r"(counter),
			   [sum] "+&r"(sum), [low] "=&r"(low));
	return (struct loop){ start, end };
}

int doctor_loop(unsigned int cpu)
{
	struct loop loop;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return cmd_error(1, "cannot run on cpu %u: %s", cpu, strerror(errno));
	loop = run_loop();
	printf("%" PRIx64 " %" PRIx64 "\n", loop.start, loop.end);
	fflush(stdout);
	usleep(STAY_US);
	return 0;
}
#else
int doctor_loop(unsigned int cpu)
{
	(void)cpu;
	return cmd_error(1, "--loop is for RISC-V machines");
}
#endif

/*
 * Lists what the loop executed, as numbers of instructions from its start. @counter goes down to 1.
 */
static size_t expect(uint8_t *order)
{
	size_t n = 0;

	for (uint32_t counter = ROUNDS; counter; counter--) {
		order[n++] = 0;
		order[n++] = 1;
		if (counter % 4)
			order[n++] = 2;
		order[n++] = 3;
		order[n++] = 4;
	}
	return n;
}

/* What was decoded of the loop. */
struct decoded {
	struct loop loop;
	int32_t cpu;
	uint64_t *at;
	size_t n;
	unsigned int overflows;		/* how often the encoder reported lost messages */
};

static int take_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct decoded *decoded = ctx;

	for (size_t i = 0; i < n && hart->cpu == decoded->cpu; i++)
		for (uint32_t k = 0; k < runs[i].count; k++) {
			uint64_t pc = rvt_run_insn_address(&runs[i], k);

			if (pc < decoded->loop.start || pc >= decoded->loop.end)
				continue;
			if (array_grow(&decoded->at, decoded->n))
				return -ENOMEM;
			decoded->at[decoded->n++] = pc;
		}
	return 0;
}

static int take_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct decoded *decoded = ctx;

	if (hart->cpu == decoded->cpu && event->type == RVT_EVENT_LOST &&
	    event->reason == RVT_REASON_OVERFLOW)
		decoded->overflows++;
	return 0;
}

/* Decodes the recording. Returns 0, or -errno with *error a malloc'd sentence or NULL. */
static int decode(const char *path, struct decoded *decoded, char **error)
{
	const struct rvt_session_options options = { .size = sizeof(options) };
	const struct rvt_session_sink sink = { .size = sizeof(sink), .ctx = decoded,
					       .runs = take_runs, .event = take_event };
	struct rvt_session *session;
	int err = rvt_session_open(path, &options, &session, error);

	if (err)
		return err;
	err = rvt_session_run(session, &sink);
	rvt_session_close(session);
	return err;
}

static const char keep_next[] = "the decoder's parameters may not be this encoder's: 'perf rvtrace "
	"list' shows them, 'dump' prints the messages of the recording";
static const char empty_next[] = "look whether the sink's traced_bytes grow; if they do, its "
	"memory may not be coherent with the harts (dma-noncoherent in the devicetree)";

static const char slow_next[] = "what the encoder feeds is slower than the hart: ask for less (-e "
	"rvtrace/window=.../, --filter), or for 'stall' where the encoder has it";

static bool compare(const char *name, const struct decoded *decoded)
{
	static uint8_t order[5 * ROUNDS];
	size_t n = expect(order), i = 0;

	while (i < n && i < decoded->n && decoded->at[i] == decoded->loop.start + 4 * order[i])
		i++;
	if (i == n && i == decoded->n)
		doctor_tell(VERDICT_GOOD, name, NULL, "%zu instructions of a known loop were "
			    "recorded and decoded as they were executed", n);
	else if (decoded->overflows)
		doctor_tell(VERDICT_BAD, name, slow_next, "the encoder lost trace %u times: %zu of "
			    "%zu instructions of a known loop were decoded", decoded->overflows,
			    decoded->n, n);
	else if (!decoded->n)
		doctor_tell(VERDICT_BAD, name, empty_next,
			    "nothing of a known loop is in the trace");
	else
		doctor_tell(VERDICT_BAD, name, keep_next, "a known loop of %zu instructions was "
			    "decoded as %zu, and the first difference is at instruction %zu", n,
			    decoded->n, i);
	return i == n && i == decoded->n;
}

/* ---- time stamps ---- */

/* A value of the counter, read between two times (in s). */
struct stamp {
	uint64_t value;
	double asked, answered;
};

static double clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

/*
 * The counter stands still before the encoder is started, when it jumps to the time, and after it
 * was stopped. So the rate is measured from the first change to the last but one.
 */
struct watch {
	struct stamp first, before, last;
	unsigned int reads, changes;
};

static void watch(struct watch *watch, const char *encoder)
{
	struct stamp now = { .asked = clock_now() };
	char *text = read_text("%s/timestamp_counter", encoder);

	now.answered = clock_now();
	if (text && *text) {
		now.value = strtoull(text, NULL, 10);
		if (watch->reads++ && now.value != watch->last.value) {
			if (!watch->changes++)
				watch->first = now;
			watch->before = watch->last;
		}
		if (watch->reads == 1 || now.value != watch->last.value)
			watch->last = now;
	}
	free(text);
}

static void tell_watch(const struct watch *watch, const char *name, const char *encoder)
{
	char *text = read_text("%s/timestamp_frequency", encoder);
	double told = text ? strtod(text, NULL) : 0, ticks, longest, shortest, rate;

	free(text);
	ticks = (double)(watch->before.value - watch->first.value);
	longest = watch->before.answered - watch->first.asked;
	shortest = watch->before.asked - watch->first.answered;
	if (!told || watch->reads < MIN_CHANGES)
		return;
	if (!watch->changes) {
		doctor_tell(VERDICT_BAD, name,
			    "the clock of the encoder's timestamp unit may be off",
			    "time stamps stand still");
		return;
	}
	if (watch->changes < MIN_CHANGES || shortest <= 0)
		return;
	rate = 2 * ticks / (longest + shortest);
	/* reads take long on a busy machine, and the rate is only known so well */
	if (ticks / longest > told + told / RATE_PARTS ||
	    ticks / shortest < told - told / RATE_PARTS)
		doctor_tell(VERDICT_BAD, name, "rvtrace,timestamp-frequency in the devicetree says "
			    "the rate", "time stamps run at %.3f MHz instead of %.3f MHz",
			    rate / 1e6, told / 1e6);
	else
		doctor_tell(VERDICT_GOOD, name, NULL, "time stamps run at %.3f MHz", rate / 1e6);
}

/* ---- recording ---- */

/* Records this program itself. Runs in the child; does not return. */
static void exec_record(unsigned int cpu, const char *path, int out, int errors)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", cpu);
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
		execl("/proc/self/exe", "perf-rvtrace", "record", "-q", "-e", "rvtrace//u", "-o",
		      path, "--", "/proc/self/exe", "doctor", "--loop", number, NULL);
	_exit(127);
}

/* Reads the loop's output until its writers are gone, and watches time stamps meanwhile. */
static bool read_loop(int fd, struct loop *loop, struct watch *times, const char *encoder)
{
	char text[128] = { 0 };
	size_t len = 0;
	ssize_t n;

	for (;;) {
		n = read(fd, text + len, sizeof(text) - 1 - len);
		if (n > 0)
			len += (size_t)n;
		else if (!n || (errno != EAGAIN && errno != EINTR))
			break;
		if (encoder)
			watch(times, encoder);
		usleep(WATCH_US);
	}
	return sscanf(text, "%" SCNx64 " %" SCNx64, &loop->start, &loop->end) == 2;
}

/* Returns the last line of @file, which the caller frees. */
static char *last_line(const char *file)
{
	char *text = read_text("%s", file), *line = text ? strrchr(text, '\n') : NULL;
	char *copy = text ? strdup(line ? line + 1 : text) : NULL;

	free(text);
	return copy;
}

/*
 * Records, decodes and compares in @dir. Returns false if the recording is wrong, and worth a look.
 */
static bool record_in(const char *dir, unsigned int cpu, const char *name, const char *encoder)
{
	char path[64], errors[64], *why = NULL;
	struct decoded decoded = { .cpu = (int32_t)cpu };
	struct watch times = { 0 };
	int pipe_fds[2], err, status = 0;
	bool printed = false, good = false;
	pid_t pid = -1;
	FILE *log;

	snprintf(path, sizeof(path), "%s/data", dir);
	snprintf(errors, sizeof(errors), "%s/errors", dir);
	log = fopen(errors, "w");
	if (log && !pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK)) {
		pid = fork();
		if (!pid)
			exec_record(cpu, path, pipe_fds[1], fileno(log));
		close(pipe_fds[1]);
		printed = pid > 0 && read_loop(pipe_fds[0], &decoded.loop, &times, encoder);
		close(pipe_fds[0]);
	}
	if (log)
		fclose(log);
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (!printed || status) {
		why = last_line(errors);
		doctor_tell(VERDICT_BAD, name,
			    "'perf rvtrace record -v -e rvtrace//u -- true' says more",
			    "it cannot be recorded%s%s", why && *why ? ": " : "", why ? why : "");
		free(why);
		return true;
	}
	err = decode(path, &decoded, &why);
	if (err)
		doctor_tell(VERDICT_BAD, name, keep_next, "the recording cannot be decoded: %s",
			    why ? why : strerror(-err));
	else
		good = compare(name, &decoded);
	if (good && encoder)
		tell_watch(&times, name, encoder);
	free(why);
	free(decoded.at);
	return good;
}

static void remove_in(const char *dir, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	unlink(path);
}

void doctor_record(unsigned int cpu, const char *encoder)
{
	char dir[] = "/tmp/rvtrace-doctor.XXXXXX", name[32];

	snprintf(name, sizeof(name), "cpu %u", cpu);
	if (!mkdtemp(dir)) {
		doctor_tell(VERDICT_BAD, name, NULL, "there is no room in /tmp for a recording: %s",
			    strerror(errno));
		return;
	}
	if (!record_in(dir, cpu, name, encoder)) {
		doctor_tell(VERDICT_NOTE, name, NULL, "the recording is kept: %s/data", dir);
		return;
	}
	remove_in(dir, "data");
	remove_in(dir, "errors");
	rmdir(dir);
}
