// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace record`: the life of a recording. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/bpf-output.h"
#include "record/code.h"
#include "record/control.h"
#include "record/live.h"
#include "record/record.h"

#define POLL_MS 250
#define STATUS_NOT_FOUND 127
#define STATUS_SIGNAL 128

struct child {
	pid_t pid;
	int go;			/* write end; one byte lets the child exec */
	int failed;		/* read end; errno of a failed exec */
	int status;		/* exit status, as $? of a shell */
};

static volatile sig_atomic_t stop_signal;

static void on_signal(int signal)
{
	stop_signal = signal;
}

static volatile sig_atomic_t snapshot_signal;

static void on_snapshot(int signal)
{
	snapshot_signal = signal;
}

/* Only interrupts ppoll(). */
static void on_child(int signal)
{
	(void)signal;
}

/* Blocks the signals that end a recording; ppoll() with *@unblocked lets them through. */
static void catch_signals(sigset_t *unblocked)
{
	struct sigaction stop = { .sa_handler = on_signal }, child = { .sa_handler = on_child };
	struct sigaction snapshot = { .sa_handler = on_snapshot };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGHUP);
	sigaddset(&blocked, SIGCHLD);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &blocked, unblocked);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGCHLD, &child, NULL);
	sigaction(SIGUSR2, &snapshot, NULL);
}

/* Forks the command, which waits until its events are open. */
static int prepare_child(struct child *child, char **command, const sigset_t *mask)
{
	int go[2], failed[2], err;
	char byte;

	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return cmd_error(-errno, "cannot make a pipe: %s", strerror(errno));
	child->pid = fork();
	if (child->pid < 0)
		return cmd_error(-errno, "cannot fork: %s", strerror(errno));
	if (!child->pid) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(STATUS_NOT_FOUND);
		prctl(PR_SET_NAME, RECORD_CHILD_NAME);
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(command[0], command);
		err = errno;
		if (write(failed[1], &err, sizeof(err)) != sizeof(err))
			abort();
		_exit(STATUS_NOT_FOUND);
	}
	close(go[0]);
	close(failed[1]);
	child->go = go[1];
	child->failed = failed[0];
	return 0;
}

static int start_child(struct child *child, char **command)
{
	int err = 0;

	if (write(child->go, "", 1) != 1)
		err = errno;
	else if (read(child->failed, &err, sizeof(err)) != sizeof(err))
		err = 0;	/* closed by a successful exec */
	close(child->go);
	close(child->failed);
	if (err)
		return cmd_error(-err, "cannot run '%s': %s", command[0], strerror(err));
	return 0;
}

/* Returns whether the child has ended, and keeps its status. */
static bool reap_child(struct child *child, int flags)
{
	int status;

	if (child->pid <= 0)
		return true;
	if (waitpid(child->pid, &status, flags) != child->pid)
		return false;
	child->status = WIFSIGNALED(status) ? STATUS_SIGNAL +
		WTERMSIG(status) : WEXITSTATUS(status);
	child->pid = 0;
	return true;
}

static bool tasks_alive(const struct recorder *rec)
{
	for (size_t i = 0; i < rec->n_tids; i++)
		if (!kill(rec->tids[i], 0) || errno == EPERM)
			return true;
	return false;
}

static void show_progress(const struct recorder *rec, bool last)
{
	if (rec->options.quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r[ %.1f MB of trace ]%s", rec->trace_bytes / 1e6, last ? "\r\033[K" : "");
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

/* -D: begins to trace when it is time, and waits for that if it is sooner than the next poll. */
static int end_delay(struct recorder *rec, double began)
{
	double left = began + rec->options.delay_ms - now_ms();

	if (rec->options.delay_ms <= 0 || !rec->delayed || left > POLL_MS)
		return 0;
	if (left > 0)
		usleep(left * 1000);
	rec->delayed = false;
	return rec->paused ? record_resume(rec) : 0;
}

static bool is_too_large(const struct recorder *rec)
{
	return rec->options.max_bytes && rec->writer &&
		rvt_perfdata_written(rec->writer) >= rec->options.max_bytes;
}

/* Reads the rings, or takes a snapshot, or begins the next file. */
static int take_rings(struct recorder *rec)
{
	bool signalled = snapshot_signal;
	int err;

	snapshot_signal = 0;
	if (rec->options.snapshot && (signalled || triggers_due(rec)))
		return record_take_snapshot(rec);
	err = record_drain(rec, false);
	if (!err && record_is_switch_due(rec, signalled))
		err = record_switch_output(rec);
	return err;
}

/* Records until the command ends, all traced tasks have ended, or a signal or command stops it. */
static int run_loop(struct recorder *rec, struct child *child, const sigset_t *unblocked)
{
	struct pollfd *fds = calloc(rec->n_rings + 1, sizeof(*fds));
	double began = now_ms(), wait_ms;
	int err = 0;

	if (!fds)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_rings; i++)
		fds[i] = (struct pollfd){ rec->rings[i].fd, POLLIN, 0 };
	fds[rec->n_rings] = (struct pollfd){ rec->commands.in, POLLIN, 0 };
	while (!err && !stop_signal && !rec->stop && !is_too_large(rec)) {
		if (rec->options.command ? reap_child(child, WNOHANG) :
		    rec->n_tids && !tasks_alive(rec))
			break;
		wait_ms = triggers_rearm(rec, POLL_MS);
		ppoll(fds, rec->n_rings + 1, &(struct timespec){ .tv_nsec = wait_ms * 1e6 },
		      unblocked);
		for (size_t i = 0; i < rec->n_rings; i++)
			if (fds[i].revents & (POLLHUP | POLLERR))
				fds[i].fd = -1;	/* its task has ended; do not spin */
		err = record_obey(rec);
		if (!err)
			err = end_delay(rec, began);
		if (!err)
			err = take_rings(rec);
		index_queue_go_on(&rec->indexes);
		show_progress(rec, false);
	}
	show_progress(rec, true);
	free(fds);
	return err;
}

static void close_programs(struct recorder *rec)
{
	bpf_output_close(&rec->code);
	bpf_output_close(&rec->switches);
	bpf_output_close(&rec->user_code);
}

/*
 * Returns whether to take a snapshot at the end: if asked for, if a trigger has just happened, or
 * if there was none before.
 */
static bool wants_last_snapshot(struct recorder *rec)
{
	bool due = rec->options.snapshot && triggers_due(rec);

	if (due && rec->snapshots && !record_has_newer(rec)) {
		triggers_leave_out(rec);
		due = false;
	}
	return rec->options.snapshot && (rec->options.snapshot_at_end || due || !rec->snapshots);
}

/* Reads the rings a last time, and closes the events. */
static int end_recording(struct recorder *rec)
{
	int err;

	record_disable(rec);
	err = record_drain(rec, true);
	if (!err && wants_last_snapshot(rec)) {
		err = record_newest(rec, true);
		triggers_taken(rec);
	}
	triggers_summarize(rec);
	/*
	 * While events are open, as closing them changes the kernel's code (static keys). Records
	 * that come behind those read above report what changes before it is copied.
	 */
	if (!err && rec->writer) {
		record_add_code(rec);
		err = record_drain(rec, true);
	}
	record_end_user_code(rec);
	close_programs(rec);
	record_close(rec);
	return err ? cmd_error(err, "cannot write %s: %s", rec->path, strerror(-err)) : 0;
}

static void summarize(const struct recorder *rec, uint64_t bytes)
{
	struct stat st;

	if (!rec->options.quiet && bytes && !stat(rec->path, &st))
		fprintf(stderr, "[ perf rvtrace record: %.3f MB of trace, %.3f MB with sideband; "
				"%s has %.3f MB with copies of code and symbols ]\n",
			rec->trace_bytes / 1e6, bytes / 1e6, rec->path, st.st_size / 1e6);
	if (rec->gaps)
		cmd_warning("trace was lost at %llu places (buffers too slow or too small: try -m "
			    ",16M or fewer cpus)", (unsigned long long)rec->gaps);
	if (rec->lost_records)
		cmd_warning("%llu sideband records were lost: try -m 2M,",
			    (unsigned long long)rec->lost_records);
	if (!rec->trace_bytes)
		cmd_warning("the encoders delivered no trace at all");
}

static int finish(struct recorder *rec)
{
	uint64_t bytes = 0;
	int err = end_recording(rec);

	if (!err && rec->writer && rec->options.snapshot && rec->snapshots &&
	    !rec->file_snapshots) {
		/* discards the file that was begun after the last snapshot */
		rvt_perfdata_abandon(rec->writer);
		rec->writer = NULL;
		output_discard(&rec->output);
	}
	if (!err && rec->writer) {
		bytes = rvt_perfdata_written(rec->writer);
		err = record_end_file(rec);
	}
	if (!err && rec->live)
		err = live_finish(rec->live, &rec->gaps, &rec->lost_records);
	if (!err)
		summarize(rec, bytes);
	return err;
}

/* Opens the output: a file of the trace, a profile, or both. */
static int begin_output(struct recorder *rec)
{
	const struct record_options *options = &rec->options;
	const char *path = options->profile ? options->keep : options->output;
	int err;

	if (options->switch_output) {
		rec->output_name = record_output_name(rec);
		if (!rec->output_name)
			return -ENOMEM;
		if (!options->profile)
			path = rec->output_name;
		record_note_output(rec);
	}
	err = options->profile ? live_open(rec) : 0;

	if (!err && path)
		err = record_begin_file(rec, path);
	return err;
}

/* Opens the events; without rights for kernel flow only for user flow, as perf does. */
static int open_events(struct recorder *rec, bool modified)
{
	char *paranoid = read_text("/proc/sys/kernel/perf_event_paranoid");
	bool user_only = !modified && geteuid() && paranoid && atoi(paranoid) > 1;
	int err;

	free(paranoid);
	if (user_only && rec->target != TARGET_SYSTEM) {
		rec->trace_attr.exclude_kernel = 1;
		if (!rec->options.quiet)
			cmd_warning("tracing user code only: kernel.perf_event_paranoid forbids "
				    "the rest");
	}
	err = record_choose_switches(rec);
	if (!err)
		err = record_open(rec);
	if (!err)
		err = record_open_switches(rec);
	if (!err)
		err = record_open_user_code(rec);
	if (!err)
		err = triggers_measure(rec);
	return err ? err : record_watch_open(rec);
}

/*
 * Ends the recording when stock perf dies, to release the hardware. It runs us as a child, and dies
 * by signals that are meant for us, like SIGUSR2.
 */
static void end_with_perf(void)
{
	pid_t parent = getppid();
	char *comm = read_text("/proc/%d/comm", parent);

	if (comm && !strcmp(comm, "perf")) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			raise(SIGTERM);
	}
	free(comm);
}

/*
 * Lets the recorder run as soon as a trigger wakes it, if the user may do so. Children do not
 * inherit that.
 */
static void hurry(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		cmd_info("the recorder has no realtime priority (%s): more is traced behind a "
			 "trigger", strerror(errno));
}

static int record(struct recorder *rec, struct child *child)
{
	sigset_t unblocked;
	bool modified;
	int err = 0;

	end_with_perf();
	if (rec->options.control)
		err = record_open_commands(rec);
	rec->paused = rec->delayed = rec->options.delay_ms;
	if (!err)
		err = record_parse_event(rec, &modified);
	if (!err)
		err = record_choose_cpus(rec);
	if (!err && rec->options.filter)
		err = record_resolve_filter(rec->options.filter, &rec->filter);
	if (!err)
		err = record_choose_tasks(rec);
	if (!err)
		err = record_choose_cgroup(rec);
	if (!err)
		err = triggers_place(rec);
	if (err)
		return err;
	if (rec->options.triggers.n)
		hurry();
	catch_signals(&unblocked);
	if (rec->options.command) {
		err = prepare_child(child, rec->options.command, &unblocked);
		if (!err)
			err = record_choose_command(rec, child->pid);
	}
	if (!err)
		err = open_events(rec, modified);
	if (!err)
		err = begin_output(rec);
	if (!err && rec->target != TARGET_COMMAND)
		err = rec->paused ? record_enable_sideband(rec) : record_enable(rec);
	if (!err && rec->options.command)
		err = start_child(child, rec->options.command);
	if (err) {
		if (rec->writer)
			output_discard(&rec->output);	/* discards the empty file */
		return err;
	}
	err = run_loop(rec, child, &unblocked);
	if (err)
		cmd_error(err, "recording ended: %s", strerror(-err));
	if (child->pid > 0) {
		kill(child->pid, SIGTERM);
		reap_child(child, 0);
	}
	return err ? err : finish(rec);
}

int cmd_record(int argc, char **argv)
{
	struct recorder rec = { .argc = argc, .argv = argv, .cgroup = -1,
				.commands = { .in = -1, .ack = -1 } };
	struct child child = { 0 };
	int err;

	if (record_parse_options(&rec.options, argc, argv)) {
		record_free_options(&rec.options);
		return 1;
	}
	err = record(&rec, &child);
	if (child.pid > 0) {
		kill(child.pid, SIGKILL);
		reap_child(&child, 0);
	}
	close_programs(&rec);
	record_close(&rec);
	index_queue_finish(&rec.indexes);
	index_queue_clear(&rec.indexes);
	triggers_close(&rec);
	live_close(rec.live);
	rvt_perfdata_abandon(rec.writer);
	record_close_commands(&rec);
	if (rec.cgroup >= 0)
		close(rec.cgroup);
	free(rec.output_name);
	free(rec.encoder_cpus);
	free(rec.online_cpus);
	free(rec.tids);
	free(rec.packed);
	free(rec.filter);
	record_free_options(&rec.options);
	return err ? 1 : child.status;
}
