/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the recorder and --profile share. */
#ifndef PERF_RVTRACE_RECORD_LIVE_H
#define PERF_RVTRACE_RECORD_LIVE_H

#include "record/record.h"

/*
 * record/live.c: --profile. A thread with bounded memory decodes what is read from the rings. When
 * it is too far behind, AUX buffers are not read, and the kernel counts what is lost.
 *
 * live_open - opens it after the events, and sets rec->live. Returns 0, or -errno after a message.
 *
 * live_put - takes records, or pieces that make whole ones. live_end_round() says that all rings
 * were read. Return 0 or -errno.
 *
 * live_switch - has the counts so far written as the file @name (malloc'd, given away) when the
 * decoder gets there; counting begins anew. Does nothing if the file before is not written yet.
 *
 * live_finish - decodes the rest and writes the profile. Sets *@gaps and *@lost_records to what the
 * kernel lost. Returns 0, or -errno after a message.
 */
int live_open(struct recorder *rec);
bool live_has_room(struct live *live);
int live_put(struct live *live, const void *bytes, size_t len);
int live_end_round(struct live *live);
void live_switch(struct live *live, char *name);
int live_finish(struct live *live, uint64_t *gaps, uint64_t *lost_records);
void live_close(struct live *live);

#endif
