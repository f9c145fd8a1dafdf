/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What data trace says: loads, stores, atomic operations and accesses to CSRs. They come as events
 * of a flow (RVT_EVENT_ACCESS) to those who ask for them: struct rvt_stream_ops, struct
 * rvt_session_options.
 *
 * An access has no place in the flow of its own. It is told between the runs that were known when
 * its message came. An encoder may send it before or after the message with its instruction, so the
 * instruction may be told earlier or later. Accesses are told in the order of their messages.
 *
 * Threads: as those of the events (rvtrace/flow.h).
 */
#ifndef RVTRACE_ACCESS_H
#define RVTRACE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

enum rvt_access_kind {
	RVT_ACCESS_LOAD,
	RVT_ACCESS_STORE,
	RVT_ACCESS_ATOMIC,
	RVT_ACCESS_CSR,
};

/* What an atomic operation or an access to a CSR does. */
enum rvt_access_operation {
	RVT_ACCESS_PLAIN,	/* loads and stores: nothing else */
	RVT_ACCESS_SWAP, RVT_ACCESS_ADD, RVT_ACCESS_AND, RVT_ACCESS_OR, RVT_ACCESS_XOR,
	RVT_ACCESS_MAX, RVT_ACCESS_MIN,
	RVT_ACCESS_SC_FAILURE,	/* a store-conditional that stored nothing */
	RVT_ACCESS_CAS_FAILURE,	/* a compare-and-swap that stored nothing */
	RVT_ACCESS_CSR_WRITE, RVT_ACCESS_CSR_SET, RVT_ACCESS_CSR_CLEAR,
	RVT_ACCESS_OPERATIONS
};

/*
 * An encoder may be told to leave out addresses or values. What it sends as a difference from an
 * access before is not known where that one was lost: then the member is not valid, and the access
 * is counted in rvt_stream_stats.lost_accesses.
 */
struct rvt_access {
	size_t size;		/* sizeof(struct rvt_access): the struct may grow */
	enum rvt_access_kind kind;
	enum rvt_access_operation operation;
	uint8_t bytes;		/* 1, 2, 4 or 8; 0: not known */
	bool address_valid, value_valid, operand_valid;
	bool error;		/* the memory answered with an error: nothing was loaded */
	bool multiple;		/* one of several of the same instruction, as of Zcmp and vectors */
	uint64_t offset;	/* of the message that completed it, in the byte stream */
	uint64_t address;	/* CSR: its number */
	/* Loaded, stored, or what was there before an atomic operation or in the CSR. */
	uint64_t value;
	uint64_t operand;	/* register that an atomic operation or an access to a CSR used */
};

/* "load", "store", "atomic", "csr". */
const char *rvt_access_kind_name(enum rvt_access_kind kind);
/* "" for RVT_ACCESS_PLAIN; "swap", "add", ..., "sc-failure", "cas-failure", "write", ... */
const char *rvt_access_operation_name(enum rvt_access_operation operation);

RVT_END_DECLS

#endif
