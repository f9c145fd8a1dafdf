/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * record --trigger: what makes a snapshot. trigger.c parses it, trigger-find.c finds the code,
 * trigger-probe.c has the kernel watch it, trigger-over.c measures calls there, trigger-take.c sees
 * it happen.
 */
#ifndef PERF_RVTRACE_TRIGGER_H
#define PERF_RVTRACE_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIGGER_EVERY_NS 100000000ull	/* unless the trigger says otherwise */

enum trigger_kind {
	TRIGGER_CODE,		/* an instruction is executed, or a call of a function is long */
	TRIGGER_SIGNAL,		/* a signal is delivered, or ends a task */
	TRIGGER_EXIT,		/* a task ends with a status that is not 0 */
};

/* Where and when one happened, as a sample says. */
struct trigger_sample {
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

struct trigger {
	const char *spec;	/* as the user wrote it */
	enum trigger_kind kind;
	char *file;		/* CODE: malloc'd; NULL: the program */
	char *function;		/* CODE: malloc'd; NULL: .offset is in the file */
	uint64_t offset;	/* from the beginning of the function or file */
	/* CODE: at the end of calls that took so long; 0: at the beginning */
	uint64_t over_ns;
	uint64_t every_ns;	/* after a snapshot it is not looked for so long */
	int signal;		/* SIGNAL */
	/* while it records */
	bool pending;		/* it has happened, and no snapshot has it */
	struct trigger_sample sample;	/* of the last time that was pending */
	double off_until_ms;	/* CLOCK_MONOTONIC; 0: it is looked for */
	uint64_t snapshots;
	uint64_t left_out;	/* times that came before tracing had gone on behind a snapshot */
	int *counters;		/* events that count how often it happens */
	size_t n_counters;
	char *entries;		/* SYSTEM/NAME of the probe where measured calls begin; or NULL */
	struct bpf_object *over;
};

struct trigger_list {
	struct trigger *triggers;
	size_t n;
};

/*
 * Adds the trigger that @spec, which stays the caller's, describes. 0, or -errno after a message.
 */
int trigger_parse(struct trigger_list *list, const char *spec);
void trigger_list_clear(struct trigger_list *list);
/* Closes its events and its BPF program. */
void trigger_close(struct trigger *trigger);

struct recorder;
struct extra_event;

/*
 * trigger-find.c: the file of a CODE trigger and the offset in it. 0, or -errno after a message.
 */
int trigger_find(const struct recorder *rec, const struct trigger *trigger, char **path,
		 uint64_t *offset);

/*
 * trigger-probe.c
 *
 * triggers_place - before events are opened: adds the events that tell of each trigger to
 * options.extra. triggers_close - after those were closed: ends all that was begun for triggers. 0,
 * or -errno after a message.
 */
int triggers_place(struct recorder *rec);
void triggers_close(struct recorder *rec);

/*
 * trigger-over.c: @entry and @ends are events of the probes where the trigger's calls begin and
 * end; from now on an end is told only when the call took long enough. 0, or -errno after a
 * message.
 */
int trigger_measure(struct trigger *trigger, int entry, int ends);
void trigger_stop_measuring(struct trigger *trigger);

/*
 * trigger-take.c
 *
 * triggers_open_counters - what counts @extra, an event of a trigger, for @tid on @cpu. 0, or
 * -errno after a message.
 * triggers_measure - after all events were opened: calls that must take long are measured. 0, or
 * -errno after a message.
 * triggers_see - records up to @head lie in the data of ring @n: notes what they tell.
 * triggers_due - looks into all rings. NULL, or a trigger that wants a snapshot.
 * triggers_taken - there is one. triggers_leave_out - there is none, for nothing was traced since
 * the last one. triggers_rearm - those whose time has come are looked for again. Returns in how
 * many ms the next one's comes, at most @most. trigger_is_off - event number @n of the recorder
 * must not be enabled now. triggers_summarize - tells how often each made no snapshot; while the
 * events are open.
 */
int triggers_open_counters(struct recorder *rec, const struct extra_event *extra, int tid, int cpu);
int triggers_measure(struct recorder *rec);
void triggers_see(struct recorder *rec, unsigned int n, uint64_t head);
const struct trigger *triggers_due(struct recorder *rec);
void triggers_taken(struct recorder *rec);
void triggers_leave_out(struct recorder *rec);
double triggers_rearm(struct recorder *rec, double most);
bool trigger_is_off(const struct recorder *rec, size_t n);
void triggers_summarize(const struct recorder *rec);

#endif
