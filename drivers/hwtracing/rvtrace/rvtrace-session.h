/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: starting and stopping what is on a path (rvtrace-session.c), and what a hart traces
 * (rvtrace-run.c). Unless it says otherwise, a function is called on the hart that @rc belongs to,
 * with interrupts off.
 */
#ifndef _RVTRACE_SESSION_H
#define _RVTRACE_SESSION_H

#include "rvtrace-cpu.h"

struct rvtrace_flight;
struct rvtrace_ramsink;

/* rvtrace-session.c */
int rvtrace_path_start(struct rvtrace_cpu *rc);
void rvtrace_path_stop(struct rvtrace_cpu *rc);
bool rvtrace_path_drain(struct rvtrace_cpu *rc, bool keep);
bool rvtrace_path_attend(struct rvtrace_cpu *rc);
int rvtrace_path_start_flight(struct rvtrace_cpu *rc, const struct rvtrace_flight *flight);
bool rvtrace_path_stop_flight(struct rvtrace_cpu *rc);
bool rvtrace_panic_goes_on(const struct rvtrace_cpu *rc);
/* On any hart, when the others stand still */
void rvtrace_session_panic(void);
void rvtrace_path_collect(struct rvtrace_cpu *rc);
void rvtrace_path_update_tracing(struct rvtrace_cpu *rc);

/* rvtrace-guests.c; on any hart, with interrupts on */
int rvtrace_guests_init(void);
void rvtrace_guests_exit(void);

/* rvtrace-run.c */
int rvtrace_session_start(struct rvtrace_cpu *rc, struct perf_event *event);
void rvtrace_session_stop(struct rvtrace_cpu *rc);
void rvtrace_run_swap(void);
void rvtrace_run_halt(void);
void rvtrace_run_detach(void);
void rvtrace_run_park(void);
void rvtrace_run_unpark(void);
/* On any hart */
void rvtrace_run_drain(void);
/* On any hart, with interrupts on */
void rvtrace_run_init(void);
void rvtrace_run_exit(void);

/* For rvtrace-kunit.c; static without CONFIG_KUNIT */
#if IS_ENABLED(CONFIG_KUNIT)
size_t rvtrace_drain_size(const struct rvtrace_ramsink *sink);
u64 rvtrace_rate_expected(u64 rate);
u64 rvtrace_poll_delay(u64 room, u64 expected);
u64 rvtrace_rate_after(u64 rate, u64 bytes, u64 ns);
#endif

#endif
