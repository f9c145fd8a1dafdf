/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * record --trigger: events that make a snapshot. trigger.c parses it, trigger-find.c finds the
 * code, trigger-probe.c has the kernel watch it, trigger-over.c measures calls there,
 * trigger-take.c handles the samples.
 */
#ifndef PERF_RVTRACE_TRIGGER_H
#define PERF_RVTRACE_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIGGER_EVERY_NS 100000000ull	/* by default */

enum trigger_kind {
	TRIGGER_CODE,		/* an instruction is executed, or a call of a function takes long */
	TRIGGER_SIGNAL,		/* a signal is delivered, or ends a task */
	TRIGGER_EXIT,		/* a task ends with a status that is not 0 */
};

/* Where and when a trigger happened, as its sample says. */
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
	/* CODE: at the end of calls that took so long; 0: at the beginning of calls */
	uint64_t over_ns;
	uint64_t every_ns;	/* how long it is off after a snapshot */
	int signal;		/* SIGNAL */
	/* during the recording */
	bool pending;		/* it has happened, and is in no snapshot yet */
	struct trigger_sample sample;	/* of the last pending one */
	double off_until_ms;	/* CLOCK_MONOTONIC; 0: it is on */
	uint64_t snapshots;
	uint64_t left_out;	/* times that came before tracing had resumed after a snapshot */
	int *counters;		/* events that count it */
	size_t n_counters;
	char *entries;		/* SYSTEM/NAME of the probe where measured calls begin; or NULL */
	struct bpf_object *over;
};

struct trigger_list {
	struct trigger *triggers;
	size_t n;
};

/*
 * Adds the trigger that @spec, which stays the caller's, describes. Returns 0, or -errno after a
 * message.
 */
int trigger_parse(struct trigger_list *list, const char *spec);
void trigger_list_clear(struct trigger_list *list);
/* Closes the trigger's events and BPF program. */
void trigger_close(struct trigger *trigger);

struct recorder;
struct extra_event;

/*
 * record/trigger-find.c: finds the file of a CODE trigger and the offset in it. Returns 0, or
 * -errno after a message.
 */
int trigger_find(const struct recorder *rec, const struct trigger *trigger, char **path,
		 uint64_t *offset);

/*
 * record/trigger-probe.c
 *
 * triggers_place - adds the events of each trigger to options.extra, before events are opened.
 * Returns 0, or -errno after a message.
 *
 * triggers_close - undoes all that was begun for triggers, after their events were closed.
 */
int triggers_place(struct recorder *rec);
void triggers_close(struct recorder *rec);

/*
 * record/trigger-over.c: @entry and @ends are events of the probes where the trigger's calls begin
 * and end. From now on an end is only reported when the call took long enough. Returns 0, or -errno
 * after a message.
 */
int trigger_measure(struct trigger *trigger, int entry, int ends);
void trigger_stop_measuring(struct trigger *trigger);

/*
 * record/trigger-take.c
 *
 * triggers_open_counters - opens what counts @extra, an event of a trigger, for @tid on @cpu.
 * Returns 0, or -errno after a message.
 *
 * triggers_measure - begins to measure calls, after all events were opened. Returns 0, or -errno
 * after a message.
 *
 * triggers_see - notes what the records up to @head in the data of ring @n say.
 *
 * triggers_due - looks into all rings. Returns a trigger that wants a snapshot, or NULL.
 *
 * triggers_taken - notes that there is a snapshot.
 *
 * triggers_leave_out - notes that there is none, as nothing was traced since the last one.
 *
 * triggers_rearm - turns triggers on whose time has come. Returns in how many ms it is the next
 * one's time, at most @most.
 *
 * trigger_is_off - returns whether event number @n of the recorder must not be enabled now.
 *
 * triggers_summarize - prints how often each made no snapshot; called while the events are open.
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
