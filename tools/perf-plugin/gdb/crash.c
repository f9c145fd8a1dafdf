// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Finds out whether a signal ended the program. A recording has no signals, but it has the exits of
 * threads, and a program exits by a system call. So a thread whose last instruction is no system
 * call was killed: by a signal of its own, or because another thread ended the program, which was
 * in its last system call at the same time.
 */
#include <errno.h>
#include "gdb/server.h"
#include "session/access.h"

#define SIGNAL_SEGV 11
/* It takes a moment to stop the other threads. */
#define SAME_TIME_NS 1000000

/* Returns the number of the thread whose exit the record reports; .n_threads: none of these. */
static size_t find_thread(const struct server *server, const struct rvt_perfdata_record *record)
{
	const struct {
		struct perf_event_header header;
		int32_t pid, ppid, tid, ptid;
	} *exit = (const void *)record->header;

	if (record->type != PERF_RECORD_EXIT || record->header->size < sizeof(*exit))
		return server->n_threads;
	for (size_t i = 0; i < server->n_threads; i++) {
		const struct timeline_thread *thread =
			timeline_thread(server->timeline, server->threads[i].number);

		if (thread->tid == exit->tid && thread->pid == exit->pid)
			return i;
	}
	return server->n_threads;
}

/* Finds out whether the thread's last instruction is a system call, and when it was executed. */
static int look_at_end(struct server *server, size_t n, bool *calls, uint64_t *time)
{
	const struct server_thread *thread = &server->threads[n];
	struct timeline_insn insn;
	uint64_t last = timeline_thread(server->timeline, thread->number)->insns - 1;
	int err = timeline_insn(server->timeline, thread->number, last, &insn);

	*calls = !err && insn.iclass == RVT_INSN_ECALL;
	return err ? err : timeline_time(server->timeline, thread->number, last, time);
}

/* Finds out whether a signal of its own killed thread @n, which did not call the system. */
static int was_first(struct server *server, size_t n, uint64_t time, bool *first)
{
	int err = 0;

	*first = true;
	for (size_t i = 0; i < server->n_threads && !err; i++) {
		bool calls;
		uint64_t when;

		err = i == n ? 0 : look_at_end(server, i, &calls, &when);
		if (i != n && !err && calls && when + SAME_TIME_NS >= time)
			*first = false;
	}
	return err;
}

int crash_find(struct server *server, size_t *result)
{
	struct rvt_perfdata *file = rvt_session_file(view_session(server->view));
	struct rvt_perfdata_record record;
	uint64_t pos = 0;
	int err = 0;

	while (!err && rvt_perfdata_next(file, &pos, &record) > 0) {
		size_t n = find_thread(server, &record);
		bool calls, first;
		uint64_t time;

		/* needs the pc at which it would have continued, where the signal came */
		if (n == server->n_threads ||
		    !timeline_thread(server->timeline, server->threads[n].number)->next_pc)
			continue;
		err = look_at_end(server, n, &calls, &time);
		if (!err && !calls)
			err = was_first(server, n, time, &first);
		if (err || calls || !first)
			continue;
		server->threads[n].signal = SIGNAL_SEGV;
		*result = n;
		break;
	}
	return err;
}
