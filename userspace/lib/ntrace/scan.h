/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the N-Trace decoder: what the bytes of the next messages say, wherever the flow stands. It
 * is read for many messages at once, so that nothing there waits for anything else, and memory that
 * will be needed for them is fetched meanwhile.
 */
#ifndef RVT_LIB_NTRACE_SCAN_H
#define RVT_LIB_NTRACE_SCAN_H

#include <endian.h>
#include <string.h>
#include "ntrace/message.h"

/* messages at once, and what more is near the last of them */
#define RVT_NTRACE_SCANNED 64
#define RVT_NTRACE_SCAN_CHUNK 64	/* bytes that are looked at together: messages, at most */
#define RVT_NTRACE_KEY_BYTES 17		/* of what can be a memo, without its time stamp */

/*
 * What can be a memo: a message; or, without time stamps, several: DirectBranch up to the last,
 * which may be IndirectBranch. Of BTM one says little, and nearly the same all over a program.
 */
struct rvt_ntrace_scanned {
	uint64_t bytes[2];	/* up to the time stamp, zeros behind them */
	uint64_t mix;		/* rvt_ntrace_mix() */
	uint64_t stamp;		/* 0: it has none */
	const uint8_t *pos;
	uint32_t memo;		/* rvt_memos_predict() */
	uint8_t key_len;	/* without the time stamp, in bytes */
	uint8_t len;		/* with it */
	uint16_t rest;		/* the 17th byte << RVT_NTRACE_REST_SHIFT; 0: there is none */
	uint8_t n;		/* messages; not set where none are grouped */
	bool direct;		/* all are DirectBranch; likewise */
};

/* In the state of a key, above the mode. */
#define RVT_NTRACE_REST_SHIFT 5

/* What stands for the bytes of a message, to predict which memo it is. */
static inline uint64_t rvt_ntrace_mix(const uint64_t bytes[2])
{
	return bytes[0] * 0xff51afd7ed558ccdull + bytes[1] * 0x9e3779b97f4a7c15ull;
}

struct rvt_memos;

struct rvt_ntrace_scan {
	const uint8_t *pos;	/* behind the last message */
	uint64_t rcode_mask, rcode_2;	/* of the first bytes of a ResourceFull with RCODE 2 */
	unsigned int at;	/* the next one to take */
	unsigned int n;		/* of .msgs */
	bool ctte;		/* its messages, too */
	bool v3;		/* with instructions that not every processor has */
	bool ended;		/* what comes cannot be a memo, or is not there as a whole */
	bool groups;		/* of several messages */
	struct rvt_ntrace_scanned msgs[RVT_NTRACE_SCANNED - 1 + RVT_NTRACE_SCAN_CHUNK];
};

/* For messages as @reader reads them. */
void rvt_ntrace_scan_init(struct rvt_ntrace_scan *scan, const struct rvt_ntrace_reader *reader);
/*
 * Scans as many messages more as fit, from scan->pos on, where one begins, to @end at the most.
 * Those that were taken are forgotten, but not the last one. @memos: will be looked up; NULL: none.
 */
void rvt_ntrace_scan(struct rvt_ntrace_scan *scan, const struct rvt_ntrace_reader *reader,
		     const uint8_t *end, const struct rvt_memos *memos);

/* Nothing is scanned; the next message is at @pos. */
static inline void rvt_ntrace_scan_begin(struct rvt_ntrace_scan *scan, const uint8_t *pos)
{
	scan->pos = pos;
	scan->at = scan->n = 0;
	scan->ended = false;
}

static inline unsigned int rvt_ntrace_scanned_tcode(const struct rvt_ntrace_scanned *m)
{
	return (uint8_t)m->bytes[0] >> 2;
}

static inline bool rvt_ntrace_scanned_is(const struct rvt_ntrace_scanned *m,
					 enum rvt_ntrace_tcode tcode)
{
	/* Its MSEO is 0. */
	return (uint8_t)m->bytes[0] == tcode << 2;
}

#endif
