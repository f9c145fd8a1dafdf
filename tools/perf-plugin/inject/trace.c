// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Turns an encoder's trace into an ordinary perf.data with samples, which every tool that knows
 * perf.data reads.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/features.h"
#include "common/output.h"
#include "common/transfers.h"
#include "inject/state.h"

#define OFTEN_INSNS 100	/* a sample for so few instructions is one of many */

bool trace_in_slices(const struct itrace *itrace)
{
	return !itrace->add_callchain && !itrace->add_last_branches;
}

uint64_t trace_slice_bytes(const struct itrace *itrace)
{
	bool often = itrace->branches || itrace->calls || itrace->returns || itrace->interrupts ||
		(itrace->instructions && itrace->unit == ITRACE_INSNS &&
		 itrace->period < OFTEN_INSNS);

	return !often ? 128 << 10 : itrace->last_branches ? 8 << 10 : 64 << 10;
}

static int decode(struct inject *inject)
{
	struct rvt_session_sink sink = { .size = sizeof(sink) };
	struct transfers *transfers;
	int err;

	if (trace_in_slices(inject->itrace))
		return inject_slices(inject);
	transfers = inject_follow(inject, &sink);
	if (!transfers)
		return -ENOMEM;
	err = view_run(inject->view, &sink, false);
	transfers_destroy(transfers);
	return err || !inject->added ? err : added_finish(inject->added);
}

static int write_all(struct inject *inject, const char *output, bool arch)
{
	struct output_file file;
	int err = output_create(&file, output);

	if (err)
		return err;
	inject->fd = file.fd;
	err = inject_begin(inject);
	if (!err)
		err = decode(inject);
	if (!err)
		err = features_copy(rvt_session_file(view_session(inject->view)), inject->out,
				    arch);
	if (err)
		rvt_perfdata_abandon(inject->out);
	else
		err = rvt_perfdata_finish(inject->out);
	close(file.fd);
	if (!err)
		return 0;
	output_discard(&file);
	return cmd_error(err, "cannot write %s: %s", output, strerror(-err));
}

int trace_inject(struct view *view, const struct itrace *itrace, const char *output, bool arch)
{
	struct inject inject = { .itrace = itrace, .view = view };
	uint64_t samples;
	int err = inject_open(&inject) ? cmd_error(-ENOMEM, "out of memory") : 0;

	if (!err && (itrace->add_callchain || itrace->add_last_branches))
		err = added_create(rvt_session_file(view_session(view)), itrace, inject.branches,
				   &inject.added);
	if (!err)
		err = write_all(&inject, output, arch);
	samples = inject.samples + (inject.added ? added_samples(inject.added) : 0);
	added_destroy(inject.added);
	inject_close(&inject);
	if (err)
		return err;
	fprintf(stderr, "[ perf rvtrace inject: %llu samples in %s ]\n",
		(unsigned long long)samples, output);
	return view_summary(view, inject.errors);
}
