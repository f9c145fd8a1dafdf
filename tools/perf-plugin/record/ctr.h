/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Recording Control Transfer Records. */
#ifndef PERF_RVTRACE_RECORD_CTR_H
#define PERF_RVTRACE_RECORD_CTR_H

#include "record/record.h"

/* ctr.c: Control Transfer Records: is that what @event names? */
bool record_is_ctr(const char *event);
/*
 * Defaults of the event, before it is parsed; and how often to sample. 0, or -errno after a
 * message.
 */
void record_ctr_defaults(struct recorder *rec);
int record_ctr_period(struct recorder *rec);
/* The metadata text, malloc'd, or NULL. */
char *record_ctr_metadata(const struct recorder *rec);

#endif
