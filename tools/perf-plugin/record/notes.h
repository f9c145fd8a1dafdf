/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Build ids of the kernel and its modules, as sysfs has them. */
#ifndef PERF_RVTRACE_RECORD_NOTES_H
#define PERF_RVTRACE_RECORD_NOTES_H

#include <stddef.h>
#include <stdint.h>

#define NOTES_ID_BYTES 20
#define NOTES_OF_KERNEL "/sys/kernel/notes"
#define NOTES_OF_MODULE "/sys/module/%.64s/notes/.note.gnu.build-id"	/* its name */

/* Reads the build id in the notes in file @path. Returns its length; 0: there is none that fits. */
size_t notes_build_id(const char *path, uint8_t id[NOTES_ID_BYTES]);

#endif
