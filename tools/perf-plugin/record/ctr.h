/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Recording Control Transfer Records. */
#ifndef PERF_RVTRACE_RECORD_CTR_H
#define PERF_RVTRACE_RECORD_CTR_H

#include "record/record.h"

/* record/ctr.c: returns whether @event names Control Transfer Records. */
bool record_is_ctr(const char *event);
/*
 * Set the defaults of the event, before it is parsed, and how often to sample. Return 0, or -errno
 * after a message.
 */
void record_ctr_defaults(struct recorder *rec);
int record_ctr_period(struct recorder *rec);
/* Returns the metadata text, malloc'd, or NULL. */
char *record_ctr_metadata(const struct recorder *rec);

#endif
