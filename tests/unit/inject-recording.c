// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "inject-recording.h"
#include "run-command.h"

struct rvt_perfdata *inject_recording(const struct fixture *f, const char *letters,
				      unsigned int bytes, unsigned int jobs)
{
	char *said = run_command("SMALL_SLICES=%u " SMALL_SLICES_PROGRAM " inject -i %s "
				 "-o %s.samples --jobs %u --itrace=%s 2>&1",
				 bytes, f->data, f->data, jobs, letters);
	struct rvt_perfdata *file;
	char path[60], *error;

	if (!strstr(said, "status 0"))
		fail_msg("%s", said);
	free(said);
	snprintf(path, sizeof(path), "%s.samples", f->data);
	assert_int_equal(rvt_perfdata_open(path, &file, &error), 0);
	unlink(path);
	return file;
}
