/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tracing on and off, and who says so. */
#ifndef PERF_RVTRACE_RECORD_CONTROL_H
#define PERF_RVTRACE_RECORD_CONTROL_H

#include "record/record.h"

/*
 * control.c: tracing and sideband on, or off. record_enable() returns 0, or -errno after a
 * message.
 */
int record_enable(struct recorder *rec);
int record_enable_sideband(struct recorder *rec);
void record_disable(struct recorder *rec);
/* Only tracing, while sideband goes on. */
void record_pause(struct recorder *rec);
int record_resume(struct recorder *rec);
/*
 * The same for a moment, as soon as possible on @first (-1: no cpu is first). record_release(): and
 * on, unless it is paused. 0, or -errno after a message.
 */
void record_hold(const struct recorder *rec, int first);
int record_release(struct recorder *rec);

/*
 * command.c: --control. record_open_commands() returns 0, or -errno after a message;
 * record_obey() carries out what was said meanwhile and returns 0, or -errno.
 */
int record_open_commands(struct recorder *rec);
void record_close_commands(struct recorder *rec);
int record_obey(struct recorder *rec);

#endif
