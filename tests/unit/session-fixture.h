/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A whole recording, made here: random programs through the N-Trace or E-Trace encoder, with
 * sideband, in a perf.data. What the session says must be what the programs did, with the right cpu
 * and thread. Different programs lie at the same address in different processes, and before and
 * after an exec, so that a wrong address space cannot go unnoticed.
 */
#ifndef TESTS_SESSION_FIXTURE_H
#define TESTS_SESSION_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include <rvtrace/etrace.h>
#include <rvtrace/ntrace.h>
#include <rvtrace/perfdata.h>
#include <rvtrace/session.h>
#include "random-hart.h"
#include "session/access.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define PMU_TYPE 77
#define CPUS 2
#define PROGRAMS 3
#define STEPS 3000
#define STRANGER 0		/* who is not traced: an idle cpu */
#define TICK_NS 100
#define TRACE_ID 1
#define SIDE_ID 2
#define SWITCH_ID 3
#define SAMPLE_ID 4
#define FRAME_ID 0x10

struct step {
	int32_t tid;
	uint64_t pc;
};

struct steps {
	struct step *at;
	size_t n;
};

void push_step(struct steps *steps, int32_t tid, uint64_t pc);

/* One cpu: its encoder, the bytes of the segment it is in, and what ran. */
struct cpu {
	struct rvt_ntrace_encoder *encoder;
	struct rvt_etrace_encoder *etrace;	/* instead, with fixture.etrace */
	/* whose buffer gets what the encoder sends: its own, or a shared one */
	struct cpu *sink;
	uint8_t *bytes;
	size_t len, room;
	uint8_t *ids;		/* of .bytes, from .id of the encoders; without .in_frames */
	size_t ids_room;
	uint8_t id;
	bool in_frames;		/* .bytes are */
	uint64_t aux_offset;
	struct steps expected, found;
	struct steps starts, found_starts;	/* where tracing began, and whose it was */
	size_t lost;
	unsigned int to_mark;	/* runs until the next one; 0: never */
	uint64_t shift;		/* its programs lie so much higher; what is expected does not */
};

struct fixture {
	char data[40], programs[PROGRAMS][40];
	struct hart *harts[PROGRAMS];
	struct rvt_perfdata_writer *writer;
	struct cpu cpus[CPUS];
	uint64_t ticks;
	bool timed, context, packed, overwritten, etrace;
	bool guests;		/* E-Trace whose packets tell of guests */
	bool sifive;		/* N-Trace of that dialect, with a mark now and then */
	bool repeats;		/* N-Trace 1.0 with repeated history, and few synchronisations */
	bool ctte;		/* or of that, with its predictor and jump target cache */
	bool by_task;		/* only chosen tasks are traced */
	bool may_share;		/* random recordings of shared sinks are wanted, too */
	unsigned int src_bits;	/* not 0: all cpus share a sink, and messages name theirs */
	char encoder[1024];	/* parameters of the encoders */
	/* in CoreSight frames, with the id FRAME_ID + cpu: may share, too */
	bool framed;
	uint64_t claimed;	/* by AUX records, and not there */
	uint64_t misplaced;	/* bytes by which the next packed pieces lie over those before */
	unsigned int resets;	/* slices that did not fit together */
	const char *params;	/* file; NULL: none */
};

struct trailer {
	int32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

/* What was counted; one that is equal for any order of slices. */
struct sums {
	uint64_t insns, insns_n, edges, lost, traps, aux, resets;
};

/* ---- setting up (cmocka): a fixture in *state, its programs in files ---- */

int session_setup(void **state);
int session_teardown(void **state);

/* ---- making a recording; times are in ticks of TICK_NS but for @time, in ns ---- */

/* @timed: with time stamps; @context: with Ownership. */
void begin_recording(struct fixture *f, bool timed, bool context);
/* Empty buffers of all cpus: they are numbered as they come, in a live session by cpu. */
void put_buffers(struct fixture *f);
/* @head and the rest of its record, @len bytes, then @name if it ends in one, then @trailer. */
void put_record(struct fixture *f, struct perf_event_header *head, size_t len, const char *name,
		const struct trailer *trailer);
void put_comm(struct fixture *f, int32_t pid, uint64_t time, bool exec, const char *comm);
void put_mmap(struct fixture *f, int32_t pid, uint64_t time, const char *path);
/* @type: PERF_RECORD_FORK of @parent, or PERF_RECORD_EXIT. */
void put_life(struct fixture *f, uint32_t type, int32_t pid, int32_t parent, uint64_t time);
/* The event that traces @pid on @cpu begins. */
void put_start(struct fixture *f, int cpu, int32_t pid, uint64_t time);
void put_switch(struct fixture *f, int cpu, int32_t pid, uint64_t time);
void put_switch_out(struct fixture *f, int cpu, int32_t pid, uint64_t time);
void put_switch_sample(struct fixture *f, int cpu, int32_t prev, int32_t next, uint64_t time,
		       unsigned short flags, uint32_t lie);
/* @program of @pid runs on cpu @n, for STEPS steps: these are expected. */
void run_program(struct fixture *f, int n, int32_t pid, int program);
/* The same for @steps. */
void run_steps(struct fixture *f, int n, int32_t pid, int program, size_t steps);
/*
 * Something else runs as @tid on cpu @n: @run tells @sink what is executed, and returns where it
 * goes on.
 */
void run_other(struct fixture *f, int n, int32_t tid,
	       uint64_t (*run)(void *ctx, const struct hart_sink *sink), void *ctx);
/* Runs @hart as a guest's. */
void run_guest(struct hart *hart, const struct hart_sink *sink, size_t steps);
/* PERF_RECORD_AUX_OUTPUT_HW_ID of the event that traces cpu @n. */
void put_hw_id(struct fixture *f, int n, uint64_t hw_id);
/* What the encoder of cpu @n sent since the last time goes into frames, with .framed. */
void put_frames(struct fixture *f, int n);
/*
 * Of a shared sink: @program of pids[n] on each cpu n, @turn steps by turns, until each has done
 * @steps; the messages of all come to the buffer of cpu @sink.
 */
void run_together(struct fixture *f, int sink, const int32_t pids[CPUS], int program, size_t steps,
		  size_t turn);
/*
 * What the encoder of cpu @n sent since the last time becomes an AUX record and its data; @pid runs
 * when the record ends.
 */
void put_aux(struct fixture *f, int n, int32_t pid, uint64_t flags);
/*
 * A sample on cpu @n while @pid runs, with the @len bytes at @bytes as its trace, and @zeroes
 * before them.
 */
void put_sample(struct fixture *f, int n, int32_t pid, size_t zeroes, const uint8_t *bytes,
		size_t len);
/* The driver names whose trace the next record of cpu @n has, if that is late; 0: none. */
void put_thread(struct fixture *f, int n, int32_t tid);

/* ---- recordings of others ---- */

/* An AUXTRACE_INFO record as they write it. */
struct foreign_info {
	struct perf_event_header header;
	uint32_t type, reserved;
	uint64_t priv[1 + 7 * CPUS];
};

/* The proposed driver's says only which PMU it is: a file must tell the rest. */
extern const struct foreign_info upstream_info;
extern const struct foreign_info spacemit_info;

void begin_foreign(struct fixture *f, const struct foreign_info *info, bool timed, bool context);
/* Two threads on two cpus, as far as the trace or the AUX records tell them apart. */
void run_foreign(struct fixture *f);

/* ---- reading it (session-read.c) ---- */

/* Ends the recording and reads it: in one go, and counted by threads; fails if these differ. */
void read_stored(struct fixture *f, bool by_cpu, struct rvt_session_totals *stats);
/* The same, and live. */
void read_back(struct fixture *f, bool by_cpu, struct rvt_session_totals *stats);
/* What was found is what is expected. */
void check_steps(const struct cpu *cpu);
/* And nothing was lost. */
void check_equal(const struct cpu *cpu);
/* Each START is of the thread that ran from there on. */
void check_starts(const struct cpu *cpu);
/* count_run of a sink; @ctx: struct sums. */
int sum_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run, uint64_t times);
/* All of the recording that is there before anything has happened, into @path. */
void write_head(struct rvt_perfdata *file, const char *path);
/* Feeds what was written from @from on; returns up to where. */
uint64_t feed_from(struct rvt_session *session, struct rvt_perfdata *file, uint64_t from,
		   uint64_t to);

#endif
