/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Control Transfer Records: the samples that the PMU riscv_ctr leaves in AUX buffers
 * (include/uapi/linux/rvtrace.h), and what the records mean (Smctr/Ssctr 1.0, and draft 0.1.4
 * chapters 3 and 5).
 */
#ifndef RVTRACE_CTR_H
#define RVTRACE_CTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

/* ctrdata.TYPE */
enum rvt_ctr_type {
	RVT_CTR_UNKNOWN = 0,	/* 0: not implemented; 6 and 7 are reserved */
	RVT_CTR_EXCEPTION = 1,
	RVT_CTR_INTERRUPT = 2,
	RVT_CTR_TRAP_RETURN = 3,
	RVT_CTR_NOT_TAKEN = 4,
	RVT_CTR_TAKEN = 5,
	RVT_CTR_IND_CALL = 8,
	RVT_CTR_CALL = 9,
	RVT_CTR_IND_JUMP = 10,
	RVT_CTR_JUMP = 11,
	RVT_CTR_SWAP = 12,
	RVT_CTR_RETURN = 13,
	RVT_CTR_IND_OTHER = 14,
	RVT_CTR_OTHER = 15,
	RVT_CTR_TYPES = 16,
};

/* No sample is longer, far from it: what says so is damaged. */
#define RVT_CTR_MAX_BYTES (16u << 10)

/* One transfer. */
struct rvt_ctr_entry {
	uint64_t source, target;	/* 0: in a mode that is not recorded */
	uint8_t type;			/* enum rvt_ctr_type, as recorded */
	bool mispredicted;
	bool cycles_valid;
	/* since the previous record, never too many; 0 if not valid */
	uint32_t cycles;
};

struct rvt_ctr_sample {
	uint64_t time, ip, period;
	uint32_t trigger_type;		/* of struct perf_event_attr, */
	uint64_t trigger_config;	/* like this */
	uint32_t flags;			/* RVTRACE_CTR_F_* */
	uint64_t control;		/* bits as in sctrctl of 1.0 */
	int32_t pid, tid, cpu;
	uint16_t privilege, layout, depth, write_index, skipped, limit;
	unsigned int n;			/* entries */
	/* for rvt_ctr_get() */
	const uint8_t *entries;
	size_t entry_bytes;
};

/*
 * Of .control: RAS emulation, and what leaves transfers within a recorded mode out (TKBRINH,
 * jumps).
 */
#define RVT_CTR_CONTROL_RASEMU (1u << 7)
#define RVT_CTR_CONTROL_GAPS (RVT_CTR_CONTROL_RASEMU | 1ull << 37 | 0xffull << 40)

/*
 * rvt_ctr_next - the sample at *@pos of @bytes, which stay in use. *@pos moves behind it (start
 * with 0). Returns 1; 0 at the end; -EBADMSG: damaged; *@pos is then where the next intact sample
 * begins, or @len.
 */
int rvt_ctr_next(const void *bytes, size_t len, size_t *pos, struct rvt_ctr_sample *sample);
/* Entry @n of the sample, 0 the youngest. Returns 0, or -ERANGE. */
int rvt_ctr_get(const struct rvt_ctr_sample *sample, unsigned int n, struct rvt_ctr_entry *entry);
/*
 * rvt_ctr_put - writes a sample of @sample->n @entries, youngest first, into @buffer.
 * Returns its length, -ENOSPC when that is more than @room, -ERANGE for more than 256 entries.
 */
long rvt_ctr_put(const struct rvt_ctr_sample *sample, const struct rvt_ctr_entry *entries,
		 void *buffer, size_t room);

/* Cycles that @data (ctrdata) counts; false when its CCV is 0 and the count means nothing. */
bool rvt_ctr_cycles(uint64_t data, uint32_t *cycles);
/* The reverse: CCV, CCE and CCM for @cycles, with @exponent_bits (0..4) of CCE; saturates. */
uint64_t rvt_ctr_count(uint32_t cycles, unsigned int exponent_bits);
/* "call", "return", ...; "unknown" for reserved types. Never NULL. */
const char *rvt_ctr_type_name(unsigned int type);
/* A call of any kind, a co-routine swap among them: what RAS emulation keeps. */
bool rvt_ctr_is_call(unsigned int type);
/*
 * rvt_ctr_branch - the transfer as an entry of PERF_SAMPLE_BRANCH_STACK, with type, privilege and
 * cycles (at most 65535 fit). @ecall: an exception is one of ecall, a system call; others have no
 * type there.
 */
void rvt_ctr_branch(const struct rvt_ctr_entry *entry, bool ecall,
		    struct perf_branch_entry *branch);

RVT_END_DECLS

#endif
