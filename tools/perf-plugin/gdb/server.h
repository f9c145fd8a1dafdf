/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Serves a recording to one debugger, which sees one process: its threads, each before one of its
 * instructions. server.c runs the program, packets.c answers the debugger, monitor.c has its
 * `monitor` command.
 */
#ifndef PERF_RVTRACE_GDB_SERVER_H
#define PERF_RVTRACE_GDB_SERVER_H

#include "gdb/rsp.h"
#include "gdb/target.h"

struct server_thread {
	size_t number;		/* in the timeline */
	int32_t id;		/* the debugger's number of it: > 0 */
	uint64_t at;		/* its next instruction; up to .last */
	uint64_t last;
	int signal;		/* signal that ended it before it executed .last; 0: none known */
};

/* Why the program stopped. */
/* STOP_FIRST: it has not run yet. */
enum stop_kind { STOP_FIRST, STOP_STEP, STOP_BREAKPOINT, STOP_BEGIN, STOP_END, STOP_INTERRUPT,
		 STOP_SIGNAL };

#define SERVER_FILES 16

struct server {
	struct rsp rsp;
	int (*open)(struct server *server);	/* fills in what follows; NULL afterwards */
	const void *options;	/* for .open */
	struct view *view;
	struct places *places;
	struct timeline *timeline;
	struct target *target;
	bool rv32;
	struct server_thread *threads;
	size_t n_threads;
	size_t current;		/* thread that stopped last, ... */
	size_t asked;		/* ... thread that packets are about, ... */
	bool all;		/* ... whether all threads run */
	size_t resumed;		/* ... or only this one */
	uint64_t now;		/* ns: time at which .current executes its instruction */
	enum stop_kind stop;
	uint64_t *breakpoints;	/* addresses, ascending */
	size_t n_breakpoints;
	bool is_lldb;
	bool guesses;		/* gdb guesses, as for a Linux program: see packet-documents.c */
	bool warned;		/* the user was warned of .guesses */
	bool swbreak;		/* the debugger understands this reason */
	char *reply;		/* what was written to FILE *out of packets.c, .len bytes */
	size_t len;
	char *opened[SERVER_FILES];	/* paths of files that vFile opened; NULL: free */
	bool done;		/* the debugger has detached */
	bool runs;		/* it waits for the program to stop, and may ask it to */
};

/* How the program is resumed. */
struct resumption {
	bool back;
	bool step;		/* one instruction; or until pc is not in [.from, .to) */
	uint64_t from, to;
	bool all;		/* run all threads until one stops; else only .thread */
	size_t thread;
};

/*
 * server_resume - runs until something stops the program, and sets .stop. Prints what it passes,
 * like losses, on the debugger's console. Returns 0 or -errno.
 */
int server_resume(struct server *server, const struct resumption *how);
/* Moves thread @n to where it is at @server->now, if it is not there. */
void server_set_position(struct server *server, size_t n);
/* Moves thread @n to instruction @number, and time with it. */
void server_go(struct server *server, size_t n, uint64_t number);
/* Returns the time at which a thread executes an instruction; 0: not known. */
uint64_t server_time(struct server *server, size_t n, uint64_t number);
/* Prints text on the debugger's console, while it waits for the program or for `monitor`. */
__attribute__((format(printf, 2, 3)))
void server_tell(struct server *server, const char *format, ...);
/* Adds or removes a breakpoint. Returns 0 or -ENOMEM. */
int server_set_breakpoint(struct server *server, uint64_t addr, bool set);

/*
 * gdb/packets.c: serves until the debugger has closed the connection. Calls .open for the first
 * packet about the program: to decode takes a while, and the debugger wants its first packet
 * acknowledged at once. Returns 0 or -errno.
 */
int packets_serve(struct server *server);
/*
 * gdb/crash.c: finds out whether a signal ended the program. If so, sets .signal of the thread that
 * got it, and *@n to the thread's number. Returns 0 or -errno.
 */
int crash_find(struct server *server, size_t *n);
/*
 * gdb/monitor.c: executes a line, and prints on the console. Returns false if there is no such
 * command.
 */
bool monitor_execute(struct server *server, const char *line);

#endif
