/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Samples that `perf rvtrace inject` makes of a recording, in small slices. */
#ifndef TESTS_INJECT_RECORDING_H
#define TESTS_INJECT_RECORDING_H

#include "session-fixture.h"

/*
 * What `inject --itrace=@letters` makes of f->data with @jobs, in slices of @bytes, for
 * rvt_perfdata_close(). The test fails where it makes nothing.
 */
struct rvt_perfdata *inject_recording(const struct fixture *f, const char *letters,
				      unsigned int bytes, unsigned int jobs);

#endif
