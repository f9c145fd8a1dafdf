/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One debugger at a recording. The debugger sees one process: its threads, each at one of its
 * instructions, which is to be executed. server.c has what runs, packets.c what the debugger asks,
 * monitor.c its `monitor` command.
 */
#ifndef PERF_RVTRACE_GDB_SERVER_H
#define PERF_RVTRACE_GDB_SERVER_H

#include "gdb/rsp.h"
#include "gdb/target.h"

struct server_thread {
	size_t number;		/* in the timeline */
	int32_t id;		/* as the debugger knows it: > 0 */
	uint64_t at;		/* its next instruction; up to .last */
	uint64_t last;
	int signal;		/* that ended it when it was to execute .last; 0: none is known */
};

/* Why the program stopped. */
/* STOP_FIRST: it has not run yet. */
enum stop_kind { STOP_FIRST, STOP_STEP, STOP_BREAKPOINT, STOP_BEGIN, STOP_END, STOP_INTERRUPT,
		 STOP_SIGNAL };

#define SERVER_FILES 16

struct server {
	struct rsp rsp;
	int (*open)(struct server *server);	/* fills in what follows, and is NULL then */
	const void *options;	/* for .open */
	struct view *view;
	struct places *places;
	struct timeline *timeline;
	struct target *target;
	bool rv32;
	struct server_thread *threads;
	size_t n_threads;
	size_t current;		/* the thread that stopped last, ... */
	size_t asked;		/* ... that packets are about, ... */
	bool all;		/* ... and whether all run */
	size_t resumed;		/* ... or this one */
	uint64_t now;		/* ns: when .current is to execute its instruction */
	enum stop_kind stop;
	uint64_t *breakpoints;	/* addresses that rise */
	size_t n_breakpoints;
	bool is_lldb;
	bool guesses;		/* gdb, for a Linux program: see packets.c */
	bool warned;		/* of that */
	bool swbreak;		/* the debugger understands this reason */
	char *reply;		/* what FILE *out of packets.c has written, .len bytes */
	size_t len;
	char *opened[SERVER_FILES];	/* paths of what vFile opened; NULL: nothing */
	bool done;		/* it has detached */
	bool runs;		/* it waits for the program to stop, and may ask for that */
};

/* How the program is resumed. */
struct resumption {
	bool back;
	bool step;		/* one instruction, or while pc is in [.from, .to) */
	uint64_t from, to;
	bool all;		/* all threads run, until one stops; else .thread */
	size_t thread;
};

/*
 * server_resume - runs until something stops it, and sets .stop. What it meets on the way, like
 * losses, is told to the debugger's console. 0 or -errno.
 */
int server_resume(struct server *server, const struct resumption *how);
/* Where thread @n is when it is @server->now: it may have to be moved there. */
void server_set_position(struct server *server, size_t n);
/* Moves thread @n to instruction @number, and time with it. */
void server_go(struct server *server, size_t n, uint64_t number);
/* The time at which a thread is to execute an instruction; 0: not known. */
uint64_t server_time(struct server *server, size_t n, uint64_t number);
/* Text for the debugger's console, while it waits for the program or for `monitor`. */
__attribute__((format(printf, 2, 3)))
void server_tell(struct server *server, const char *format, ...);
/* Adds, removes a breakpoint. 0 or -ENOMEM. */
int server_set_breakpoint(struct server *server, uint64_t addr, bool set);

/*
 * packets.c: serves until the debugger has gone. .open is called for the first packet that is about
 * the program: to decode takes a while, and the debugger wants its first packet acknowledged at
 * once. 0 or -errno.
 */
int packets_serve(struct server *server);
/*
 * crash.c: whether a signal ended the program: sets .signal of the thread that it came to, and *@n
 * to its number, or leaves both. 0 or -errno.
 */
int crash_find(struct server *server, size_t *n);
/*
 * monitor.c: executes a line; what it prints goes to the console. False: there is no such command.
 */
bool monitor_execute(struct server *server, const char *line);

#endif
