/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Turns tracing on and off, by itself or by --control. */
#ifndef PERF_RVTRACE_RECORD_CONTROL_H
#define PERF_RVTRACE_RECORD_CONTROL_H

#include "record/record.h"

/*
 * record/control.c: turn tracing and sideband on or off. record_enable() returns 0, or -errno after
 * a message.
 */
int record_enable(struct recorder *rec);
int record_enable_sideband(struct recorder *rec);
/* All but the events that our BPF programs write to. */
void record_disable(struct recorder *rec);
/* Turn only tracing off and on, while sideband continues. */
void record_pause(struct recorder *rec);
int record_resume(struct recorder *rec);
/*
 * record_hold() turns tracing off for a moment, as soon as possible on @first (-1: on no cpu in
 * particular). record_release() turns it on again, unless it is paused; returns 0, or -errno after
 * a message.
 */
void record_hold(const struct recorder *rec, int first);
int record_release(struct recorder *rec);

/*
 * record/command.c: --control. record_open_commands() returns 0, or -errno after a message.
 * record_obey() carries out the commands since the last call, and returns 0 or -errno.
 */
int record_open_commands(struct recorder *rec);
void record_close_commands(struct recorder *rec);
int record_obey(struct recorder *rec);

#endif
