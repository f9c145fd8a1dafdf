// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* When the trace of each buffer began: what is in its first record was not executed before. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include "perfdata/reader.h"
#include "state.h"

/* Of a cpu, or (.cpu -1) of a thread; 0: not said. */
struct rvt_start {
	int32_t cpu, tid;
	uint64_t started;	/* its first event, ns */
	uint64_t switched;	/* the first task came there that is traced */
};

static int compare(const void *a, const void *b)
{
	const struct rvt_start *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int note_first(struct rvt_session *session, int32_t cpu, int32_t tid, bool start,
		      uint64_t time)
{
	const struct rvt_start key = { .cpu = cpu, .tid = tid };
	struct rvt_start *const *found = tfind(&key, &session->starts, compare), *entry;
	uint64_t *first;

	entry = found ? *found : calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	if (!found) {
		*entry = key;
		if (!tsearch(entry, &session->starts, compare)) {
			free(entry);
			return -ENOMEM;
		}
	}
	first = start ? &entry->started : &entry->switched;
	if (!*first || time < *first)
		*first = time;
	return 0;
}

int rvt_session_note_start(struct rvt_session *session, const struct rvt_perfdata_record *record)
{
	bool start = record->type == PERF_RECORD_ITRACE_START;
	int err = 0;

	if (!record->time_valid || (!start && record->misc & PERF_RECORD_MISC_SWITCH_OUT))
		return 0;
	if (record->cpu_valid)
		err = note_first(session, record->cpu, 0, start, record->time);
	if (!err && record->tid_valid)
		err = note_first(session, -1, record->tid, start, record->time);
	return err;
}

uint64_t rvt_session_started(const struct rvt_session *session, int32_t cpu, int32_t tid)
{
	const struct rvt_start key = { .cpu = cpu < 0 ? -1 : cpu, .tid = cpu < 0 ? tid : 0 };
	struct rvt_start *const *found = tfind(&key, &session->starts, compare);
	uint64_t first = found ? (*found)->started ? (*found)->started : (*found)->switched : 0;

	return first > session->started ? first : session->started;
}

void rvt_session_forget_starts(struct rvt_session *session)
{
	tdestroy(session->starts, free);
	session->starts = NULL;
}
