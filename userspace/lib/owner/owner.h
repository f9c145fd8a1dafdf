/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/owner/: sideband as it is stored. */
#ifndef OWNER_OWNER_H
#define OWNER_OWNER_H

#include <rvtrace/owner.h>

enum owner_event_type { OWNER_COMM, OWNER_EXEC, OWNER_FORK, OWNER_MMAP, OWNER_SWITCH };

struct owner_event {
	uint64_t time;
	uint64_t order;		/* in the file: breaks ties of time */
	enum owner_event_type type;
	int32_t pid, tid;
	const char *name;	/* COMM, EXEC: comm; MMAP: file; interned */
	union {
		struct {
			int32_t pid, tid;
		} parent;	/* FORK */
		struct {
			int32_t cpu;
			int32_t next;	/* tid that runs from now on; -1: not known */
		} on;		/* SWITCH */
		struct {
			uint64_t addr, len, offset;
			const char *path;	/* of the file; NULL when it is no file */
			uint8_t build_id[20];
			uint8_t build_id_len;
		} map;		/* MMAP */
	};
};

/* A file that mappings name, and where it was found. */
struct owner_path {
	const char *name;	/* interned */
	char *path;
};

struct rvt_owner {
	char *symfs, *vmlinux, *kcore, *firmware;
	struct rvt_perfdata *file;
	struct owner_event *events;
	size_t n_events, room;
	void *names;		/* tsearch tree of strings */
	struct owner_path **paths;	/* sorted by .path */
	size_t n_paths;
	struct rvt_code *code;
	size_t n_code;
	void *code_buffer;
};

#endif
