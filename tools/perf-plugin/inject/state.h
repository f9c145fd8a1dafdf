/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside inject/: samples of a trace (make.c), made in slices (slices.c) or in one go (trace.c). */
#ifndef PERF_RVTRACE_INJECT_STATE_H
#define PERF_RVTRACE_INJECT_STATE_H

#include "common/tape.h"
#include "inject/inject.h"

#define INJECT_MAX_CPUS 4096

struct inject {
	const struct itrace *itrace;
	struct view *view;
	int fd;		/* of the output */
	struct rvt_perfdata_writer *out;
	/* of a slice: gets the records for inject_sample(); NULL: they go there at once */
	struct tape *tape;
	struct branches *branches;	/* NULL: not asked for */
	struct added *added;	/* samples of other events; NULL: copied as they are */
	struct itrace_clock *clocks;	/* by cpu */
	/*
	 * By cpu: instructions behind the last sample of a slice, which the next sample stands for.
	 */
	uint64_t *carried;
	uint64_t skipped;
	uint64_t errors, samples;
};

/* What is kept between samples, by .itrace. 0 or -ENOMEM. inject_close() also after an error. */
int inject_open(struct inject *inject);
void inject_close(struct inject *inject);
/* Begins .out with all but samples of the trace. 0 or -errno. */
int inject_begin(struct inject *inject);
/* Fills the call-backs of @sink, which make samples. NULL: out of memory. */
struct transfers *inject_follow(struct inject *inject, struct rvt_session_sink *sink);
/*
 * Writes the record of a sample, which may change, unless it is to be skipped. Adds the call chain
 * of @stack, if there are to be any; @guest: it is a guest's. 0 or -errno.
 */
int inject_sample(struct inject *inject, uint64_t *words, struct rvt_callstack *stack, bool guest);
/* Has several threads make all samples, in slices of the trace. 0 or -errno. */
int inject_slices(struct inject *inject);

#endif
