/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside userspace/lib/sideband/: sideband as it is stored. */
#ifndef SIDEBAND_EVENTS_H
#define SIDEBAND_EVENTS_H

#include <rvtrace/sideband.h>

enum sideband_event_type {
	SIDEBAND_COMM, SIDEBAND_EXEC, SIDEBAND_FORK, SIDEBAND_MMAP, SIDEBAND_SWITCH, SIDEBAND_JIT,
	SIDEBAND_CHANGE, SIDEBAND_COPY, SIDEBAND_EXIT,
};

struct sideband_event {
	uint64_t time;
	uint64_t order;		/* in the file: breaks ties of time */
	enum sideband_event_type type;
	int32_t pid, tid;
	/* COMM, EXEC: comm; MMAP: file; JIT, CHANGE: what is there; interned */
	const char *name;
	union {
		struct {
			int32_t pid, tid;
		} parent;	/* FORK */
		struct {
			int32_t cpu;
			int32_t next;	/* tid that runs from now on; -1: not known */
		} on;		/* SWITCH; EXEC: .cpu, -1: not known */
		struct {
			uint64_t addr, len, offset;
			struct sideband_path *file;	/* NULL when it is no file */
			uint8_t build_id[20];
			uint8_t build_id_len;
		} map;		/* MMAP */
		struct {
			uint64_t addr, len;
			const uint8_t *bytes;	/* in a mapping of the dump */
		} jit;		/* JIT */
		struct {
			uint64_t addr, len;
			const uint8_t *bytes;	/* see copy.c; NULL: not known */
			bool stayed;	/* .time was that of its end at first */
			bool maps;	/* .time was before its mapping at first */
		} copy;		/* COPY */
		struct {
			uint64_t addr;
			uint32_t old_len, new_len;
			uint32_t named_len;	/* bytes that get .name, and stay */
			bool made;	/* its bytes are another's */
			size_t listed;	/* changes up to here, this one among them */
			const uint8_t *bytes;	/* malloc'd: old ones, then new ones */
		} change;	/* CHANGE: of kernel code; .name NULL: it keeps its name */
	};
};

/* A file that mappings name, of one build, and where it was found. */
struct sideband_path {
	const char *name;	/* interned */
	uint8_t build_id[20];
	size_t build_id_len;	/* 0: not known */
	char *path;
	bool outside;		/* of symfs: it is not opened */
	bool was_read;		/* as a jitdump */
};

/* A space with the kernel's code. */
struct sideband_kernel {
	struct sideband_kernel *next;
	const struct rvt_space *space;
	size_t changed;		/* so many changes are in it now */
};

struct rvt_sideband {
	char *symfs, *vmlinux, *kcore, *firmware;
	struct rvt_perfdata *file;
	/*
	 * Events are numbered as they happened. Those before .first are forgotten; those before
	 * .ready are in order, and cursors may see them; the rest, up to .n_events, may still get
	 * company.
	 */
	struct sideband_event *events;	/* from number .first on */
	size_t first, ready, n_events;
	void *names;		/* tsearch tree of strings */
	void *files;		/* tsearch tree of what is in .paths, by .name and build id */
	struct sideband_path **paths;	/* sorted by .path, then .name */
	size_t n_paths;
	struct rvt_code_store *code;	/* NULL: none */
	struct rvt_mapped_file **jitdumps;
	size_t n_jitdumps;
	void *pages;		/* tsearch tree of copy.c */
	const struct sideband_event **changes;	/* of kernel code, in the order of time; malloc'd */
	size_t n_changes;
	const struct sideband_event **live;	/* those whose code has come and not gone */
	size_t n_live;
	struct sideband_kernel *kernels;
	struct rvt_record_time_conv time_conv;
	bool has_time_conv, monotonic_valid;
	int64_t monotonic_offset;
};

/* Event number @n, which is not forgotten. */
static inline struct sideband_event *sideband_event(const struct rvt_sideband *sideband, size_t n)
{
	return &sideband->events[n - sideband->first];
}

/* sideband.c: takes a copy; @name is interned; .order is set. 0 or -ENOMEM. */
int rvt_sideband_add_event(struct rvt_sideband *sideband, const struct sideband_event *event,
			   const char *name);

/* The same; of @event, the time is that of @record. */
int rvt_sideband_add_record_event(struct rvt_sideband *sideband,
				  const struct rvt_perfdata_record *record,
				  struct sideband_event *event, const char *name);

/* sideband.c: the recording's code of @kind, all of it can be read. NULL: there is none. */
const struct rvt_code *rvt_sideband_mapped(const struct rvt_sideband *sideband,
					   enum rvt_code_kind kind);

/* jit.c */
bool rvt_sideband_is_jitdump(const char *name);
/* Adds an event for each piece of code in the file. A file that cannot be read has none. */
int rvt_sideband_read_jitdump(struct rvt_sideband *sideband, const char *path, int32_t pid,
			      uint64_t mapped);

/*
 * copy.c: code of programs that was copied; each returns 0 or -ENOMEM. rvt_sideband_add_copy()
 * takes a sample of RVT_USER_CODE_EVENT; -EBADMSG: it is damaged. rvt_sideband_time_copies(): of
 * the events from number @from on, those that tell of code at its end, or just before it is mapped,
 * get the time of its mapping. rvt_sideband_share_copies(): events [@from, @to) are in order; those
 * that name bytes of others get them. rvt_sideband_forget_copies(): those events go.
 */
int rvt_sideband_add_copy(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record);
int rvt_sideband_time_copies(struct rvt_sideband *sideband, size_t from);
int rvt_sideband_share_copies(struct rvt_sideband *sideband, size_t from, size_t to);
void rvt_sideband_forget_copies(struct rvt_sideband *sideband, size_t from, size_t to);
void rvt_sideband_free_copies(struct rvt_sideband *sideband);

/*
 * switch.c: each returns 0 or -ENOMEM; of a damaged sample of RVT_SWITCH_EVENT, after which nobody
 * is known to run on its cpu, -EBADMSG.
 */
int rvt_sideband_add_switch(struct rvt_sideband *sideband,
			    const struct rvt_perfdata_record *record);
int rvt_sideband_add_switch_sample(struct rvt_sideband *sideband,
				   const struct rvt_perfdata_record *record);
/* Trace begins on a cpu: it says who is running, which no switch has told yet. */
int rvt_sideband_add_itrace_start(struct rvt_sideband *sideband,
				  const struct rvt_perfdata_record *record);

/* kernel.c: changes of the kernel's code; each returns 0 or -ENOMEM. */
int rvt_sideband_add_poke(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record);
/* A sample of RVT_KERNEL_CODE_EVENT. -EBADMSG: it is damaged. */
int rvt_sideband_add_code(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record);
/* Lists the changes among the events [@from, @to). */
int rvt_sideband_list_changes(struct rvt_sideband *sideband, size_t from, size_t to);
void rvt_sideband_free_changes(struct rvt_sideband *sideband);
/* Changes @kernel so that the first @n changes have happened in it; *@done have until now. */
int rvt_sideband_change_to(const struct rvt_sideband *sideband, struct rvt_space *kernel,
			   size_t *done,
			   size_t n);
/* NULL: that is none of the kernel's spaces. */
struct sideband_kernel *rvt_sideband_find_kernel(const struct rvt_sideband *sideband,
						 const struct rvt_space *space);

#endif
