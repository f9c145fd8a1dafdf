/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between the recorder and --profile. */
#ifndef PERF_RVTRACE_RECORD_LIVE_H
#define PERF_RVTRACE_RECORD_LIVE_H

#include "record/record.h"

/*
 * live.c: --profile. What the rings give goes to a thread that decodes it, and whose memory
 * is bounded: while it is too far behind, the AUX buffers are not read, and the kernel counts what
 * is lost.
 *
 * live_open - after the events were opened. Sets rec->live. 0, or -errno after a message.
 * live_put - records, or pieces that make whole ones; live_end_round: all rings were read. 0 or
 * -errno.
 * live_switch - what has been decoded becomes the file @name (malloc'd, given away), when the
 * decoder comes to that; counting begins anew. Nothing if the one before is not written yet.
 * live_finish - decodes the rest and writes the profile; *@gaps, *@lost_records: what the kernel
 * lost. 0, or -errno after a message.
 */
int live_open(struct recorder *rec);
bool live_has_room(struct live *live);
int live_put(struct live *live, const void *bytes, size_t len);
int live_end_round(struct live *live);
void live_switch(struct live *live, char *name);
int live_finish(struct live *live, uint64_t *gaps, uint64_t *lost_records);
void live_close(struct live *live);

#endif
