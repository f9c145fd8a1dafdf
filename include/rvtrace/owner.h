/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The owner of a hart's flow: which thread it is of, by the trace itself, by AUX records, and by
 * context switches. These functions read no files. Who reads a recording says how it was made
 * (struct rvt_owner_rules), keeps a struct rvt_context for each hart flow, and asks when something
 * has changed. A context of zeros says nothing.
 *
 * Threads: any may call; a context belongs to one at a time.
 */
#ifndef RVTRACE_OWNER_H
#define RVTRACE_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/flow.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

/* How a recording was made. */
struct rvt_owner_rules {
	size_t size;		/* sizeof(struct rvt_owner_rules): the struct may grow */
	bool ntrace;		/* an Ownership message follows each synchronisation (1.0, 7.1) */
	bool timed;		/* there are time stamps in the trace */
	bool contexts;		/* the trace names the thread, and has room for any thread's id */
	bool foreign_ids;	/* what it names are no thread ids of the sideband, or nothing */
	bool by_task;		/* only chosen tasks were traced */
	bool switches;		/* there are context switches in the recording */
	uint64_t hcontext_max;	/* hcontext has the id, or this: no room. 0: scontext has it */
	int32_t thread;		/* the only one whose trace is in the buffer; -1: any */
};

/* Whether the trace has told the thread since the last gap or stop. */
bool rvt_owner_told(const struct rvt_owner_rules *rules, const struct rvt_context *context);
/*
 * Whether the thread of a START comes in a message behind it: keep the START until the next CONTEXT
 * event, or until there is flow.
 */
bool rvt_owner_waits(const struct rvt_owner_rules *rules, const struct rvt_context *context);
/*
 * Updates @context by an event of the flow. True if the thread may be another one now, or a guest
 * begins or ends to run.
 */
bool rvt_owner_event(const struct rvt_owner_rules *rules, struct rvt_context *context,
		     const struct rvt_event *event);
/* An AUX record begins. */
void rvt_owner_record(const struct rvt_owner_rules *rules, struct rvt_context *context);
/*
 * rvt_owner_thread - the thread from here on; -1: not known.
 *
 * @record: the thread of the AUX record that is decoded, or -1; of a late record the thread that
 * the driver has named before it (include/uapi/linux/rvtrace.h); NULL: there is no record.
 * @running: the thread that runs on the hart by the context switches, or -1.
 */
int32_t rvt_owner_thread(const struct rvt_owner_rules *rules, const struct rvt_context *context,
			 const int32_t *record, int32_t running);

RVT_END_DECLS

#endif
