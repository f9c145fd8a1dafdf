/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of `perf rvtrace inject` for traces of encoders share. */
#ifndef PERF_RVTRACE_INJECT_H
#define PERF_RVTRACE_INJECT_H

#include "common/branches.h"
#include "common/itrace.h"
#include "common/view.h"
#include "session/access.h"

/*
 * ---- inject/trace.c: samples of the trace ----
 *
 * They are made in slices of the trace, the same ones for any number of threads. Sampling of
 * instructions begins anew in each slice, somewhere in a period; so do last branches. Call chains,
 * which go through all of the trace, are added where slices are joined. One thread adds to samples
 * of other events, in one go.
 */

/* Returns whether samples are made in slices. */
bool trace_in_slices(const struct itrace *itrace);
/* Bytes of trace in a slice: some MB of samples, of which several are kept for each thread. */
uint64_t trace_slice_bytes(const struct itrace *itrace);
/* Writes @output. Returns 0, or -errno after a message. */
int trace_inject(struct view *view, const struct itrace *itrace, const char *output, bool arch);

/* ---- inject/sample.c: a PERF_RECORD_SAMPLE in the making ---- */

#define INJECT_MAX_BRANCHES 1024

struct inject_sample {
	uint64_t words[8192];	/* a whole record; the first word is its header */
	size_t n;
};

void inject_add(struct inject_sample *sample, uint64_t word);
/*
 * Adds a call chain of at most @max addresses: @ip, @below (0: none) and the return addresses of
 * @stack (NULL: none) without its innermost @skip frames, innermost first, with a marker wherever
 * kernel and user change. Leaves out frames that are not known. @guest: the addresses are a
 * guest's.
 */
void inject_add_callchain(struct inject_sample *sample, uint64_t ip, uint64_t below,
			  struct rvt_callstack *stack, size_t skip, unsigned int max, bool guest);
/* Adds at most @max branches of the thread on the hart flow's cpu (NULL: none). */
void inject_add_branches(struct inject_sample *sample, const struct branches *branches,
			 const struct rvt_hart_flow *hart, size_t max);
/*
 * Adds at most @max branches of the thread @tid, if it was the last on the cpu: those before its
 * last trap or call at @from. @branches keep INJECT_MAX_BRANCHES.
 */
void inject_add_branches_before(struct inject_sample *sample, const struct branches *branches,
				int32_t cpu, int32_t tid, size_t max, uint64_t from);

/*
 * ---- inject/add.c: call chains and branches for the samples of other events ----
 *
 * A sample was taken in an interrupt. The trace has that trap (or, without the kernel, the stop)
 * with the sample's address as EPC; the sample gets the stack of that moment. A tracepoint's sample
 * was taken in a call, and has the address behind the call; if the trace is without the kernel, the
 * sample gets the place where the thread entered the kernel. Without either, the sample gets the
 * stack of the last run over its address; if there was none, nothing is added.
 */
struct added;

/* Reads the samples of @file. Returns 0 or -ENOMEM. */
int added_create(struct rvt_perfdata *file, const struct itrace *itrace,
		 const struct branches *branches, struct added **added);
void added_destroy(struct added *added);
void added_output(struct added *added, struct rvt_perfdata_writer *out);
/* Changes the attributes of an event to those of the samples with additions. */
void added_attr(const struct added *added, struct perf_event_attr *attr);
/* Returns whether @record is a sample that will be written with additions. */
bool added_takes(const struct added *added, const struct rvt_perfdata_record *record);
/* Follow the flow, and write samples on the way. Return 0 or -errno. */
int added_line(struct added *added, const struct rvt_hart_flow *hart, uint64_t first, uint64_t last,
	       struct rvt_callstack *stack);
int added_transfer(struct added *added, const struct rvt_hart_flow *hart,
		   const struct rvt_transfer *transfer, struct rvt_callstack *stack);
/* Writes the samples that the flow has not reached. */
int added_finish(struct added *added);
uint64_t added_samples(const struct added *added);

#endif
