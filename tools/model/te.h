/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Private to the encoder component (its registers are trTe...). encoder.c answers the guest's
 * accesses, encode.c makes messages of retired instructions, filter.c decides what is traced; they
 * share this.
 */
#ifndef MODEL_TE_H
#define MODEL_TE_H

#include "model.h"

#define TE_IMPL		0x004
#define TE_FEATURES	0x008
#define TE_FILTERS	0x00c
#define TE_DATA_CONTROL	0x010
#define TE_DATA_FILTERS	0x01c
#define TE_TRIG_DBG	0x050
#define TE_TRIG_IN	0x054
#define TE_TRIG_OUT	0x058
#define TE_FILTER(i)	(0x400 + 0x20 * (i))
#define TE_COMP(i)	(0x600 + 0x20 * (i))

#define TE_TRACING	(1u << 2)
#define TE_MODE(ctl)	((ctl) >> 4 & 7)
#define TE_CONTEXT	(1u << 9)
#define TE_TRIG_ENABLE	(1u << 11)
#define TE_OVERFLOW	(1u << 12)
#define TE_STALL	(1u << 13)
#define TE_INHIBIT_SRC	(1u << 15)
#define TE_SYNC_MODE(ctl) ((ctl) >> 16 & 3)
#define TE_SYNC_MAX(ctl) ((ctl) >> 20 & 15)
#define TE_FORMAT(ctl)	((ctl) >> 24 & 7)
#define FORMAT_ETRACE	0
#define FORMAT_NTRACE	1

#define MAX_FILTERS	16
#define MAX_COMPS	8
#define DEBUG_TRIGGERS	4

struct encoder {
	struct reg_desc *descs;
	struct hart *hart;
	bool tracing;				/* InstTracing while enabled */
	bool by_insn;				/* filter_by_insn() */
	/* a debug trigger may change InstTracing, or notify */
	bool armed;
	/* from Enable to Enable one of these exists, if InstMode says so */
	struct rvt_ntrace_encoder *ntrace;
	unsigned int src_bits;
	struct rvt_etrace_encoder *etrace;
	/* for CLOCK_EVEN: when the trace last began, and instructions traced since */
	uint64_t began, traced_insns;
	uint64_t drained_insns;			/* the hart's count when the FIFO last drained */
	uint32_t fifo;				/* bytes in it */
	struct {
		uint32_t nest;			/* traps since and with the one that matched */
	} filter[MAX_FILTERS];
	struct {
		bool on, off_next;		/* of match mode 3 */
	} comp[MAX_COMPS];
};

/* encode.c; under the hart's lock. Returns what is wrong, or NULL. */
const char *encode_create(struct component *c);
void encode_destroy(struct component *c);
/* Ignores instructions that retired since the FIFO last drained. */
void encode_reset_fifo(struct component *c);

#endif
