// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * `perf rvtrace gdb`: shows a recording to a debugger as a program that runs, forwards and
 * backwards.
 */
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/view.h"
#include "gdb/server.h"
#include "util/array.h"

static const char help[] =
"usage: perf rvtrace gdb [OPTIONS]\n"
"Lets gdb or LLDB go through a recording, forwards and backwards. In gdb:\n"
"  target remote | perf rvtrace gdb -i perf.data\n\n"
"      --listen ADDRESS  wait for a debugger at PORT, HOST:PORT or a socket's PATH\n"
"      --start POSITION  begin or end of the recording (end, if the program crashed there)\n"
"      --kernel          what the kernel executed for the thread, too\n"
"      --no-stack        no made-up stack pointer: debuggers cannot unwind then\n"
"  -i, --input FILE      recording (perf.data)\n"
"      --pid PID, --tid TID  whose flow: else that of the process that executed most\n"
"      --time FROM,TO    only what ran then (s); if there is an index, only that is decoded\n"
"      --symfs DIR[:DIR] the recorded machine's files; --no-debuginfod: ask no server\n"
"      --vmlinux FILE    kernel code, or --kcore FILE; --kallsyms FILE: its symbols\n"
"      --firmware FILE   ELF file of what runs in machine mode; --guestvmlinux FILE: in guests\n"
"      --params FILE     decoder parameters for a recording without any\n"
"      --max-memory SIZE end there (half of the machine's); --strict: any loss is an error\n"
VIEW_INDEX_HELP;

enum { OPT_LISTEN = 256, OPT_START, OPT_KERNEL, OPT_NO_STACK };

static const struct option long_options[] = {
	{ "listen", required_argument, NULL, OPT_LISTEN },
	{ "start", required_argument, NULL, OPT_START },
	{ "kernel", no_argument, NULL, OPT_KERNEL },
	{ "no-stack", no_argument, NULL, OPT_NO_STACK },
	{ "force", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	VIEW_INDEX_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

struct gdb_options {
	struct view_options view;
	const char *listen;
	const char *start;	/* NULL: not given */
	bool kernel, no_stack;
};

/* ---- whose flow ---- */

static bool is_wanted(const struct gdb_options *options, const struct timeline_thread *thread)
{
	char id[16];

	if (!thread->insns)
		return false;
	snprintf(id, sizeof(id), "%d", thread->pid);
	if (options->view.pids && !view_in_names(options->view.pids, id))
		return false;
	snprintf(id, sizeof(id), "%d", thread->tid);
	return !options->view.tids || view_in_names(options->view.tids, id);
}

/* Chooses the process whose wanted threads executed most. Returns false if there is none. */
static bool choose_process(const struct server *server, const struct gdb_options *options,
			   int32_t *pid)
{
	size_t n = timeline_n_threads(server->timeline);
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++) {
		const struct timeline_thread *thread = timeline_thread(server->timeline, i);
		uint64_t insns = 0;

		for (size_t j = 0; j < n; j++) {
			const struct timeline_thread *other = timeline_thread(server->timeline, j);

			if (other->pid == thread->pid && is_wanted(options, other))
				insns += other->insns;
		}
		if (insns > most) {
			most = insns;
			*pid = thread->pid;
		}
	}
	return most;
}

/*
 * Returns whether the thread ran this program longest of those that it executed: a debugger's
 * thread has only one.
 */
static bool is_longest(const struct server *server, size_t n)
{
	const struct timeline_thread *thread = timeline_thread(server->timeline, n);

	for (size_t i = 0; i < timeline_n_threads(server->timeline); i++) {
		const struct timeline_thread *other = timeline_thread(server->timeline, i);

		if (i != n && other->tid == thread->tid &&
		    (other->insns > thread->insns || (other->insns == thread->insns && i < n)))
			return false;
	}
	return true;
}

static int add_thread(struct server *server, size_t n)
{
	const struct timeline_thread *thread = timeline_thread(server->timeline, n);

	if (array_grow(&server->threads, server->n_threads))
		return -ENOMEM;
	server->threads[server->n_threads++] = (struct server_thread){
		.number = n, .id = thread->tid > 0 ? thread->tid : 0x40000000 - thread->tid,
		.last = thread->next_pc ? thread->insns : thread->insns - 1 };
	return 0;
}

/* Chooses all threads of the process. The ones that were asked for come first. */
static int choose_threads(struct server *server, const struct gdb_options *options)
{
	const struct timeline_thread *thread;
	int32_t pid;
	int err = 0;

	if (!choose_process(server, options, &pid))
		return cmd_error(-ENODATA, "no flow of %s is in %s",
				 options->view.pids || options->view.tids ? "such a thread" :
				 options->kernel ? "any thread" :
				 "any program (of the kernel: --kernel)",
				 options->view.time ? "these times of the recording" :
				 "the recording");
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < timeline_n_threads(server->timeline) && !err; i++) {
			thread = timeline_thread(server->timeline, i);
			if (thread->pid != pid || !thread->insns || !is_longest(server, i))
				continue;
			if (is_wanted(options, thread) == !pass)
				err = add_thread(server, i);
		}
	return err;
}

static int position_threads(struct server *server, const struct gdb_options *options)
{
	size_t crashed = server->n_threads, first;
	int err = crash_find(server, &crashed);
	bool at_end = options->start ? !strcmp(options->start, "end") :
		      crashed < server->n_threads;

	if (err)
		return err;
	first = at_end && crashed < server->n_threads ? crashed : 0;
	server->resumed = server->asked = first;
	server->all = true;
	server_go(server, first, at_end ? server->threads[first].last : 0);
	server->stop = at_end && server->threads[first].signal ? STOP_SIGNAL : STOP_FIRST;
	return 0;
}

/* ---- the debugger ---- */

static int listen_at_path(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path)) {
		close(fd);
		return -ENAMETOOLONG;
	}
	strcpy(address.sun_path, path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

/* Listens at PORT, for this machine only, or at HOST:PORT. */
static int listen_at_port(const char *text)
{
	const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':');
	struct addrinfo *found = NULL;
	char host[256] = "127.0.0.1";
	int fd, one = 1, err = 0;

	if (colon && (size_t)(colon - text) >= sizeof(host))
		return -EINVAL;
	if (colon && colon > text)
		snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	if (getaddrinfo(host, colon ? colon + 1 : text, &wanted, &found))
		return -EINVAL;
	fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, found->ai_protocol);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 1))
		err = -errno;
	freeaddrinfo(found);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Waits for a debugger. Returns a descriptor, or -errno after a message. */
static int wait_for_debugger(const char *address)
{
	bool is_path = strchr(address, '/');
	int fd = is_path ? listen_at_path(address) : listen_at_port(address), connection;

	if (fd < 0)
		return cmd_error(fd, "--listen %s: %s", address, fd == -EINVAL ?
				 "give PORT, HOST:PORT or a PATH with a slash" : strerror(-fd));
	fprintf(stderr, "waiting for a debugger at %s\n", address);
	connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (connection < 0)
		connection = cmd_error(-errno, "--listen %s: %s", address, strerror(errno));
	close(fd);
	if (is_path)
		unlink(address);
	return connection;
}

static int keep_waiting(void *ctx)
{
	struct server *server = ctx;

	rsp_keep_waiting(&server->rsp);
	return server->runs && rsp_interrupted(&server->rsp) ? -EINTR : 0;
}

/* The function for struct server.open. */
static int open_recording(struct server *server)
{
	const struct gdb_options *options = server->options;
	const struct timeline_options wanted = { .kernel = options->kernel, .poll = keep_waiting,
						 .ctx = server };
	int err = timeline_create(server->view, server->places, &wanted, &server->timeline);

	if (err)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	view_print_losses(server->view, stderr, "");
	err = choose_threads(server, options);
	if (!err)
		err = position_threads(server, options);
	if (err)
		return err;
	server->target = target_create(server->view, server->places, server->timeline,
				       server->threads[0].number, options->no_stack);
	if (!server->target)
		return -ENOMEM;
	server->rv32 = target_is_rv32(server->target);
	return 0;
}

static int serve(struct server *server, const struct gdb_options *options)
{
	int err;

	server->open = open_recording;
	server->options = options;
	if (options->listen) {
		/* decodes while no debugger waits for an answer */
		err = open_recording(server);
		if (err)
			return err;
		server->open = NULL;
		server->rsp.in = server->rsp.out = wait_for_debugger(options->listen);
		if (server->rsp.in < 0)
			return server->rsp.in;
	}
	err = packets_serve(server);
	if (options->listen)
		close(server->rsp.in);
	return err;
}

static int run(struct server *server, const struct gdb_options *options)
{
	int err;

	server->view = view_open(&options->view);
	if (!server->view)
		return -EINVAL;
	if (view_refuse_ctr(server->view, "there is nothing to step through"))
		return -EINVAL;
	server->places = places_create(view_session(server->view));
	if (!server->places)
		return -ENOMEM;
	err = serve(server, options);
	return err || server->open ? err : view_summary(server->view, 0);
}

static int take_option(void *ctx, int c, const char *argument)
{
	struct gdb_options *options = ctx;

	switch (c) {
	case OPT_LISTEN: options->listen = argument; return 0;
	case OPT_START: options->start = argument; return 0;
	case OPT_KERNEL: options->kernel = true; return 0;
	case OPT_NO_STACK: options->no_stack = true; return 0;
	default: return VIEW_NOT_MINE;
	}
}

/* Returns 0; -errno after a message; 1: only the help was asked for. */
static int parse_options(struct gdb_options *options, int argc, char **argv)
{
	const struct view_command command = { help, "hf" VIEW_SHORT_OPTIONS, long_options,
					      take_option, options };
	int err = view_parse(&command, &options->view, argc, argv);

	if (err)
		return err;
	if (options->start && strcmp(options->start, "begin") && strcmp(options->start, "end"))
		return cmd_error(-EINVAL, "--start: '%s' is neither begin nor end", options->start);
	if (options->view.cpus || options->view.comms)
		return cmd_error(-EINVAL, "--cpu and --comms choose nothing here; --pid, --tid "
				 "and --time do, and `monitor goto` goes to a time");
	if (!options->listen && isatty(STDIN_FILENO))
		return cmd_error(-EINVAL, "standard input is a terminal: type in gdb `target "
				 "remote | perf rvtrace gdb ...`, or give --listen");
	return 0;
}

int cmd_gdb(int argc, char **argv)
{
	struct gdb_options options = { .view.session.jobs = 1 };
	struct server *server;
	int err = parse_options(&options, argc, argv);

	if (err)
		return err > 0 ? 0 : 1;
	server = calloc(1, sizeof(*server));
	if (!server)
		return cmd_error(1, "out of memory");
	server->rsp.in = STDIN_FILENO;
	server->rsp.out = options.listen ? -1 : STDOUT_FILENO;
	signal(SIGPIPE, SIG_IGN);
	err = run(server, &options);
	rsp_close(&server->rsp);
	target_destroy(server->target);
	timeline_destroy(server->timeline);
	places_destroy(server->places);
	view_close(server->view);
	free(server->breakpoints);
	free(server->threads);
	for (size_t i = 0; i < SERVER_FILES; i++)
		free(server->opened[i]);
	free(server->reply);
	free(server);
	return err ? 1 : 0;
}
