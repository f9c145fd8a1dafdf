// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A jitdump file, and code found in it. */
#include <rvtrace/image.h>
#include <rvtrace/sideband.h>
#include "sideband/events.h"
#include "fuzz.h"

#define PID 1

static void look(struct rvt_sideband *sideband, struct rvt_cursor *cursor)
{
	const struct rvt_task *task;

	rvt_cursor_seek(cursor, UINT64_MAX);
	task = rvt_cursor_task(cursor, PID);
	for (size_t i = sideband->first; task && i < sideband->n_events; i++) {
		const struct sideband_event *event = sideband_event(sideband, i);
		struct rvt_location place;
		const uint8_t *bytes;

		if (event->type != SIDEBAND_JIT || !event->jit.len)
			continue;
		if (rvt_space_find(task->space, event->jit.addr, &bytes))
			rvt_space_locate(task->space, event->jit.addr, &place);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rvt_sideband_options options = { .size = sizeof(options), .symfs = NULL };
	const char *path = fuzz_write("jit-1.dump", data, size);
	struct rvt_sideband *sideband;
	struct rvt_cursor *cursor;
	struct rvt_space *kernel;
	struct rvt_image *image;

	if (rvt_sideband_create(&options, &sideband))
		return 0;
	if (!rvt_image_create(&image)) {
		if (!rvt_sideband_read_jitdump(sideband, path, PID, 0) &&
		    !rvt_sideband_sort(sideband) &&
		    !rvt_sideband_kernel(sideband, image, &kernel) &&
		    !rvt_cursor_create(sideband, image, kernel, &cursor)) {
			look(sideband, cursor);
			rvt_cursor_destroy(cursor);
		}
		rvt_image_destroy(image);
	}
	rvt_sideband_destroy(sideband);
	return 0;
}
