/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between the files of `perf rvtrace inject` for the flow of trace encoders. */
#ifndef PERF_RVTRACE_INJECT_H
#define PERF_RVTRACE_INJECT_H

#include "common/branches.h"
#include "common/itrace.h"
#include "common/view.h"
#include "session/access.h"

/* inject-trace.c: writes @output. Returns 0 or -errno after a message. */
int trace_inject(struct view *view, const struct itrace *itrace, const char *output, bool arch);

/* ---- inject-sample.c: a PERF_RECORD_SAMPLE in the making ---- */

#define INJECT_MAX_BRANCHES 1024

struct inject_sample {
	uint64_t words[8192];	/* a whole record; the first word is its header */
	size_t n;
};

void inject_add(struct inject_sample *sample, uint64_t word);
/*
 * At most @max addresses: @ip, @below (0: none) and the return addresses of @stack (NULL: none)
 * without its innermost @skip frames, innermost first, with a marker wherever kernel and user
 * change. Frames that are not known are left out. @guest: they are addresses of a guest.
 */
void inject_add_callchain(struct inject_sample *sample, uint64_t ip, uint64_t below,
			  struct rvt_callstack *stack, size_t skip, unsigned int max, bool guest);
/* At most @max branches of the thread on the hart flow's cpu (NULL: none). */
void inject_add_branches(struct inject_sample *sample, const struct branches *branches,
			 const struct rvt_hart_flow *hart, size_t max);
/*
 * Of those of the thread @tid, if it was the last on the cpu, only what is before its last trap or
 * call at @from; @branches keep INJECT_MAX_BRANCHES.
 */
void inject_add_branches_before(struct inject_sample *sample, const struct branches *branches,
				int32_t cpu, int32_t tid, size_t max, uint64_t from);

/*
 * ---- inject-add.c: call chains and branches for the samples of other events ----
 *
 * A sample was taken in an interrupt. The trace has that trap (or, without the kernel, the stop)
 * with the sample's address as EPC; what was on the stack there belongs to the sample. That of a
 * tracepoint was taken in what is called there, and has the address behind the call; of a trace
 * without the kernel it gets where the thread went into the kernel. Where there is none, and the
 * code at the address was not seen either, the sample gets no more than it had.
 */
struct added;

/* Reads which samples there are. 0 or -ENOMEM. */
int added_create(struct rvt_perfdata *file, const struct itrace *itrace,
		 const struct branches *branches, struct added **added);
void added_destroy(struct added *added);
void added_output(struct added *added, struct rvt_perfdata_writer *out);
/* The attributes of an event as its samples are written. */
void added_attr(const struct added *added, struct perf_event_attr *attr);
/* Whether @record is a sample that will be written with additions. */
bool added_takes(const struct added *added, const struct rvt_perfdata_record *record);
/* What the flow does: samples are written on the way. 0 or -errno. */
int added_line(struct added *added, const struct rvt_hart_flow *hart, uint64_t first, uint64_t last,
	       struct rvt_callstack *stack);
int added_transfer(struct added *added, const struct rvt_hart_flow *hart,
		   const struct rvt_transfer *transfer, struct rvt_callstack *stack);
/* Writes what no flow came to. */
int added_finish(struct added *added);
uint64_t added_samples(const struct added *added);

#endif
