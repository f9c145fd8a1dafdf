/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From te_data packets to accesses: differences from the accesses before, requests and the data
 * that follow them. Of one source. Internal to librvtrace.
 *
 * Where the specification leaves something open:
 *  - An operand is a difference from the last operand of the same size, not from the last value.
 *  - CSRs have a base of their own for value, operand and number.
 *  - In aligned formats an address is a difference in units of the size from the last address of
 *    that size, whose low bits count as 0.
 */
#ifndef RVTRACE_ETRACE_DATA_H
#define RVTRACE_ETRACE_DATA_H

#include <rvtrace/access.h>
#include <etrace/packet.h>

#define RVT_ETRACE_DATA_SIZES 4		/* 1 to 8 bytes; the base behind them is that of CSRs */

/* What the next access of a size may be a difference from. */
struct rvt_etrace_data_base {
	bool address_valid, value_valid, operand_valid;
	uint64_t address, value, operand;
};

struct rvt_etrace_data {
	uint64_t n_accesses, n_lost;	/* as in struct rvt_stream_stats */
	/* private */
	struct rvt_etrace_data_base bases[RVT_ETRACE_DATA_SIZES + 1];
	struct rvt_access *requests;	/* by lrid, waiting for their data; .size 0: none */
	unsigned int n_requests;
};

/* Takes an access, which is valid during the call. A non-zero return value ends decoding. */
typedef int (*rvt_etrace_access)(void *ctx, const struct rvt_access *access);

/* @data is all zeros at first. */
void rvt_etrace_data_fini(struct rvt_etrace_data *data);
/*
 * rvt_etrace_data_packet - a te_data packet. Calls @access for each access that it completes.
 * Notes in @codec what later packets look like. *@wrong: what is wrong with it (a sentence,
 * static), or NULL. Returns 0, -ENOMEM, or what @access returned.
 */
int rvt_etrace_data_packet(struct rvt_etrace_data *data, struct rvt_etrace_codec *codec,
			   const struct rvt_etrace_msg *msg, rvt_etrace_access access, void *ctx,
			   const char **wrong);
/* A synchronisation packet came: what follows first for each size is whole. */
void rvt_etrace_data_sync(struct rvt_etrace_data *data);
/*
 * Packets were lost, or none follow. Requests are told without their values. Returns 0 or what
 * @access returned.
 */
int rvt_etrace_data_lose(struct rvt_etrace_data *data, struct rvt_etrace_codec *codec,
			 rvt_etrace_access access, void *ctx);

#endif
