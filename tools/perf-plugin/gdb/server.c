// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "gdb/server.h"
#include "util/array.h"

/* Losses that are told one by one when the program moves. */
#define MAX_SEAMS 4

void server_tell(struct server *server, const char *format, ...)
{
	static const char digits[] = "0123456789abcdef";
	char text[1024], packet[2 * sizeof(text) + 1];
	size_t n = 0;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	packet[n++] = 'O';
	for (const unsigned char *c = (unsigned char *)text; *c; c++) {
		packet[n++] = digits[*c >> 4];
		packet[n++] = digits[*c & 15];
	}
	rsp_send(&server->rsp, packet, n);
}

/* ---- positions of threads ---- */

uint64_t server_time(struct server *server, size_t n, uint64_t number)
{
	const struct server_thread *thread = &server->threads[n];
	uint64_t time = 0;

	if (timeline_time(server->timeline, thread->number, number, &time) == -ENOENT && number)
		timeline_time(server->timeline, thread->number, number - 1, &time);
	return time;
}

void server_set_position(struct server *server, size_t n)
{
	struct server_thread *thread = &server->threads[n];
	uint64_t at;

	if (n == server->current)
		return;
	/* keeps its position if it may be there at that time, as there can be several */
	if (server_time(server, n, thread->at) >= server->now &&
	    (!thread->at || server_time(server, n, thread->at - 1) <= server->now))
		return;
	if (!timeline_at(server->timeline, thread->number, server->now, &at))
		thread->at = at < thread->last ? at : thread->last;
}

void server_go(struct server *server, size_t n, uint64_t number)
{
	server->current = n;
	server->threads[n].at = number;
	server->now = server_time(server, n, number);
}

int server_set_breakpoint(struct server *server, uint64_t addr, bool set)
{
	size_t i = 0;

	while (i < server->n_breakpoints && server->breakpoints[i] < addr)
		i++;
	if ((i < server->n_breakpoints && server->breakpoints[i] == addr) == set)
		return 0;
	if (set && array_grow(&server->breakpoints, server->n_breakpoints))
		return -ENOMEM;
	if (set) {
		memmove(&server->breakpoints[i + 1], &server->breakpoints[i],
			(server->n_breakpoints++ - i) * sizeof(addr));
		server->breakpoints[i] = addr;
	} else {
		memmove(&server->breakpoints[i], &server->breakpoints[i + 1],
			(--server->n_breakpoints - i) * sizeof(addr));
	}
	return 0;
}

/* ---- running ---- */

/* Tells the losses between both instructions. */
static void tell_losses(struct server *server, size_t n, uint64_t from, uint64_t to)
{
	struct timeline_seam seams[MAX_SEAMS];
	uint64_t low = from < to ? from : to, high = from < to ? to : from;
	size_t count = timeline_losses(server->timeline, server->threads[n].number, low, high,
				       seams, MAX_SEAMS);

	for (size_t i = 0; i < count && i < MAX_SEAMS; i++) {
		const struct rvt_event lost = { .type = RVT_EVENT_LOST, .reason = seams[i].reason };

		server_tell(server, "[trace is lost before instruction %" PRIu64 ": %s]\n",
			    seams[i].insn, view_reason(&lost));
	}
	if (count > MAX_SEAMS)
		server_tell(server, "[and %zu more such places]\n", count - MAX_SEAMS);
}

static void stop_at(struct server *server, size_t n, uint64_t number, enum stop_kind stop)
{
	tell_losses(server, n, server->threads[n].at, number);
	server_go(server, n, number);
	server->stop = stop;
}

/* Stops because there is nothing more: moves the thread to its end, or its beginning. */
static void stop_at_end(struct server *server, size_t n, bool back)
{
	const struct server_thread *thread = &server->threads[n];
	bool arrives = thread->at != thread->last;

	if (back)
		stop_at(server, n, 0, STOP_BEGIN);
	else
		stop_at(server, n, thread->last,
			thread->signal && arrives ? STOP_SIGNAL : STOP_END);
}

static bool is_breakpoint(const struct server *server, uint64_t pc)
{
	for (size_t i = 0; i < server->n_breakpoints; i++)
		if (server->breakpoints[i] == pc)
			return true;
	return false;
}

static int pc_of(struct server *server, size_t n, uint64_t number, uint64_t *pc)
{
	const struct server_thread *thread = &server->threads[n];
	struct timeline_insn insn;
	int err = timeline_insn(server->timeline, thread->number, number, &insn);

	*pc = err ? timeline_thread(server->timeline, thread->number)->next_pc : insn.pc;
	return err == -ENOENT ? 0 : err;
}

static int step(struct server *server, const struct resumption *how)
{
	struct server_thread *thread = &server->threads[how->thread];
	uint64_t at = thread->at, end = how->back ? 0 : thread->last, pc;
	int err;

	if (at == end) {
		stop_at_end(server, how->thread, how->back);
		return 0;
	}
	for (;;) {
		at += how->back ? -1 : 1;
		err = pc_of(server, how->thread, at, &pc);
		if (err)
			return err;
		if (at == end || pc - how->from >= how->to - how->from ||
		    is_breakpoint(server, pc))
			break;
	}
	if (at == end && !how->back && thread->signal)
		stop_at(server, how->thread, at, STOP_SIGNAL);
	else
		stop_at(server, how->thread, at, is_breakpoint(server, pc) ? STOP_BREAKPOINT :
			STOP_STEP);
	return 0;
}

/* Finds where thread @n first meets a breakpoint, up to @limit. */
static int find_breakpoint(struct server *server, size_t n, const struct resumption *how,
			   uint64_t limit, uint64_t *number)
{
	const struct server_thread *thread = &server->threads[n];
	const struct timeline_wanted wanted = { server->breakpoints, server->n_breakpoints };
	uint64_t insns = timeline_thread(server->timeline, thread->number)->insns, pc;
	int err = timeline_find(server->timeline, thread->number, thread->at,
				limit < insns ? limit : insns - 1, how->back, &wanted, number);

	/* no run has the instruction that it would have executed next */
	if (err == -ENOENT && !how->back && limit == insns && thread->at < insns &&
	    thread->last == insns && !pc_of(server, n, insns, &pc) && is_breakpoint(server, pc)) {
		*number = insns;
		return 0;
	}
	return err;
}

/* Limits how far thread @n searches: not beyond @time, where another thread stops first. */
static int find_limit(struct server *server, size_t n, bool back, bool any, uint64_t time,
		      uint64_t *limit)
{
	const struct server_thread *thread = &server->threads[n];

	*limit = back ? 0 : thread->last;
	return any ? timeline_at(server->timeline, thread->number, time, limit) : 0;
}

static int run(struct server *server, const struct resumption *how)
{
	bool any = false;
	size_t first = 0;
	uint64_t at = 0, time = 0;

	for (size_t i = 0; i < server->n_threads; i++) {
		/* begins with the thread that runs, whose stop limits the search in the others */
		size_t n = (how->thread + i) % server->n_threads;
		uint64_t limit, number;
		int err;

		if (i && !how->all)
			break;
		server_set_position(server, n);
		err = find_limit(server, n, how->back, any, time, &limit);
		if (!err)
			err = find_breakpoint(server, n, how, limit, &number);
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		any = true;
		first = n;
		at = number;
		time = server_time(server, n, number);
	}
	if (any)
		stop_at(server, first, at, STOP_BREAKPOINT);
	else
		stop_at_end(server, how->thread, how->back);
	return 0;
}

int server_resume(struct server *server, const struct resumption *how)
{
	int err;

	if (server->guesses && !server->warned)
		server_tell(server, "[gdb steps through programs of Linux by guessing from "
			    "registers where branches go, and a trace has no registers:\n"
			    " give it `set osabi none` before `target remote`]\n");
	server->warned = true;
	server->runs = true;
	server_set_position(server, how->thread);
	err = how->step ? step(server, how) : run(server, how);
	server->runs = false;
	if (err == -EINTR) {
		server->stop = STOP_INTERRUPT;
		return 0;
	}
	return err;
}
