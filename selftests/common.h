/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the selftests of rvtrace.ko share: TAP output, an open event with its buffers, and just
 * enough N-Trace to see that what came out is whole messages from the right modes.
 */
#ifndef RVTRACE_SELFTEST_COMMON_H
#define RVTRACE_SELFTEST_COMMON_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXIT_SKIP 4		/* as all kselftests say it */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* ---- TAP ---- */

void tap_plan(unsigned int n);
/* Reports one test, and returns @ok. */
bool tap_check(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tap_skip(const char *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void tap_skip_all(const char *reason);
_Noreturn void tap_end(void);

/* ---- the PMU ---- */

#define CONFIG_CONTEXT		(1ull << 15)
#define CONFIG_TIMESTAMP	(1ull << 16)
#define CONFIG_STALL		(1ull << 17)
#define CONFIG_MACHINE		(1ull << 27)
#define CONFIG_TRIGGER		(1ull << 30)
#define CONFIG_HCONTEXT		(1ull << 31)

#define PMU_DIR "/sys/bus/event_source/devices/rvtrace"
#define BUS_DIR "/sys/bus/rvtrace/devices"

/* Skips the whole program when there is no PMU. */
void require_pmu(void);
/* First line of a file, without its end, in a static buffer; NULL when it cannot be read. */
const char *read_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
int write_line(const char *path, const char *text);
/* Whether encoders tell which thread runs. */
bool has_context(void);
/*
 * Takes @cpu away or brings it back. The kernel may refuse for a moment (the hart that went has not
 * stopped yet, or somebody else has hotplug disabled), so a refusal is noted and tried again for a
 * second. Returns 0 or -errno.
 */
int set_online(int cpu, bool online);

/*
 * All encoders are "inactive", as they are when there is no event; "idle" when none runs, else
 * "tracing".
 */
bool all_encoders(const char *state);
/* The same; what the kernel leaves to a worker is waited for. */
bool soon_all_encoders(const char *state);

/* An attribute for the PMU: disabled, user flow only, AUX records with sample ids. */
void attr_init(struct perf_event_attr *attr, uint64_t config);
/*
 * What to add to config for a sync every 16 messages, so that each place has some; where messages
 * are not counted, every 4096 half-words or cycles; 0 where that is not possible.
 */
uint64_t often_synced(void);
/* perf_event_open(2); returns the descriptor or -errno. */
int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu);

/* ---- an event with its buffers ---- */

/* An AUX record: whose it is by what the kernel says of it */
struct aux_span {
	size_t start;			/* in what was read */
	uint32_t tid;
	bool late;			/* RVTRACE_AUX_FLAG_LATE */
	bool partial;
	uint64_t time;			/* when the record was written */
};

struct recording {
	int fd, cpu;
	struct perf_event_mmap_page *page;
	uint8_t *data, *aux;
	size_t data_size, aux_size;
	uint8_t *bytes;			/* what was read of the AUX buffer, in order */
	size_t n_bytes;
	size_t *starts;			/* offsets in it at which a record after a gap begins */
	unsigned int n_starts;
	struct aux_span *spans;		/* as many as .records */
	uint32_t named;			/* thread of the last PERF_RECORD_AUX_OUTPUT_HW_ID */
	unsigned int records, partial, truncated, collision, lost;
	bool gap;			/* the last record was flagged */
};

/* Opens and maps. Returns 0 or -errno. */
int recording_open(struct recording *rec, const struct perf_event_attr *attr, pid_t pid, int cpu,
		   size_t aux_size);
/* The same in overwrite mode: of a recording, recording_snapshot() takes what the buffer holds. */
int recording_open_overwrite(struct recording *rec, const struct perf_event_attr *attr, pid_t pid,
			     int cpu, size_t aux_size);
/* Maps the buffers of an event that is open already, at @fd. */
int recording_map_fd(struct recording *rec, int fd, int cpu, size_t aux_size);
void recording_snapshot(struct recording *rec);
int recording_enable(struct recording *rec);
/* On the event's CPU, where the driver hands over at once what it has still kept. */
int recording_disable(struct recording *rec);
/* There is a record in the buffer, not yet taken, that says that the AUX buffer was full. */
bool recording_full(const struct recording *rec);
/* Takes what is in the buffers. @again: enable the event again after a full AUX buffer. */
void recording_read(struct recording *rec, bool again);
void recording_close(struct recording *rec);

/* ---- N-Trace ---- */

/* So many different thread ids are told apart. */
#define CONTEXTS 16

struct messages {
	unsigned int n, syncs, ownerships, correlations, errors;
	unsigned int user_syncs, kernel_syncs;	/* by the top bit of F-ADDR */
	unsigned int src_bits;
	bool whole;		/* each stretch begins and ends with a message */
	uint64_t context;	/* of the last Ownership with scontext */
	uint64_t hcontext;	/* of the last one with hcontext */
	uint64_t contexts[CONTEXTS];	/* all that occurred */
	unsigned int n_contexts;
	uint64_t sources;	/* bit per SRC, 1 when there is no SRC */
	uint64_t error_sources;	/* the same of Error messages */
	uint64_t low, high;	/* lowest and highest F-ADDR, as addresses */
	uint64_t from, to;	/* where to count */
	unsigned int within;	/* syncs at @from or above, and below @to */
};

/* Splits the recorded bytes. The width of SRC is what sysfs says. */
void messages_count(const struct recording *rec, struct messages *messages);
/* The same, with messages->within */
void messages_count_within(const struct recording *rec, struct messages *messages, const char *from,
			   const char *to);

/* The same of AUX record number @i only */
void messages_count_record(const struct recording *rec, unsigned int i, struct messages *messages);

/* ---- things to trace ---- */

/* Executes about @n branches. */
unsigned long work(unsigned long n);
/* Keeps the calling thread on one CPU. */
void pin(int cpu);
/* Keeps @tid there, and when this returns it executes nowhere else any more. */
void pin_thread(pid_t tid, int cpu);
/* Forks a child that waits for start_child() and then calls work(@n). */
pid_t fork_child(unsigned long n, int *go);
void start_child(int go);
/*
 * Forks a child that works until end_child(): on one CPU unless @cpu is -1, now and then asleep for
 * @pause_us.
 */
pid_t busy_child(int cpu, unsigned int pause_us);
void end_child(pid_t pid);

/* A child that answers: each round switches it in and out. */
struct partner {
	pid_t pid;
	int to, from;
};

struct partner partner_start(int cpu);
/* Afterwards it sleeps, or is about to. */
void partner_rounds(const struct partner *partner, unsigned int n);
/* It exits by itself, and is waited for. */
void partner_end(struct partner *partner);

#endif
