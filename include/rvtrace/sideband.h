/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Who runs: the sideband of a recording (tasks, names, mappings, context switches) applied in
 * time, so that a thread id from a trace's context, or a cpu and a time, name a task and its
 * address space.
 *
 * struct rvt_sideband holds the sorted sideband and is read only once it is sorted; each decoder
 * has a cursor of its own that moves through time on its own.
 */
#ifndef RVTRACE_SIDEBAND_H
#define RVTRACE_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/image.h>
#include <rvtrace/linkage.h>
#include <rvtrace/perfdata.h>
#include <rvtrace/task.h>

RVT_BEGIN_DECLS

struct rvt_sideband;
struct rvt_cursor;

struct rvt_sideband_options {
	size_t size;		/* sizeof(struct rvt_sideband_options): the struct may grow */
	/*
	 * Where to look for the files that mappings name: directories, separated by ':'. In each
	 * the whole path is tried, then in each the bare file name. NULL: the paths as they are.
	 */
	const char *symfs;
	const char *vmlinux;	/* kernel code from this ELF file instead of the recording's copy */
	const char *kcore;	/* or from a copy of /proc/kcore */
	const char *firmware;	/* ELF file of what runs in machine mode, at its own addresses */
};

/* Strings of @options, which may be NULL, are copied. Returns 0, -EINVAL (no size) or -ENOMEM. */
int rvt_sideband_create(const struct rvt_sideband_options *options, struct rvt_sideband **sideband);
void rvt_sideband_destroy(struct rvt_sideband *sideband);
/*
 * Takes in one record; those that are no sideband are ignored. Returns 0; -ENOMEM; -EBADMSG: a
 * sample of the recorder's BPF programs is damaged, and was not taken: after a switch, nobody is
 * known to run on its cpu.
 */
int rvt_sideband_add(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record);
/* What else @file has: code of the kernel and vdso, build ids. @file must outlive the sideband. */
int rvt_sideband_add_file(struct rvt_sideband *sideband, struct rvt_perfdata *file);
/*
 * rvt_sideband_set_clock - before rvt_sideband_sort(), for the time stamps of jitdump files: how
 * the `time` CSR, and CLOCK_MONOTONIC (perf's clock minus that, ns), relate to perf's clock. NULL:
 * not known; code of such a file is there from when the program mapped it.
 */
void rvt_sideband_set_clock(struct rvt_sideband *sideband, const struct rvt_record_time_conv *conv,
			    const int64_t *monotonic_offset);
/* After the last add, before the first cursor; looks for the files. 0 or -ENOMEM. */
int rvt_sideband_sort(struct rvt_sideband *sideband);
/*
 * While sideband is still being recorded, after rvt_sideband_sort(): more is added, and cursors
 * move on.
 *
 * rvt_sideband_go_on - what was added and happened up to @until is there for cursors; what is added
 * later should not have happened before. jitdump files are not read. 0 or -ENOMEM.
 * rvt_sideband_forget - every cursor is at @position (rvt_cursor_position()) or past it: what lies
 * before may go. Cursors cannot be made afterwards.
 */
int rvt_sideband_go_on(struct rvt_sideband *sideband, uint64_t until);
void rvt_sideband_forget(struct rvt_sideband *sideband, size_t position);
/* The name that the recording has for the file that was found at @path; @path if none. */
const char *rvt_sideband_recorded_name(const struct rvt_sideband *sideband, const char *path);
/*
 * Where the @n-th file that mappings name was looked for, in the order of these places; NULL: none.
 */
const char *rvt_sideband_file(const struct rvt_sideband *sideband, size_t n);
/* True when code of the kernel is at hand. */
bool rvt_sideband_has_kernel(const struct rvt_sideband *sideband);
/* A vdso's bytes, for its symbols; NULL when there are none. */
const struct rvt_code *rvt_sideband_vdso(const struct rvt_sideband *sideband);

/*
 * rvt_sideband_kernel - a space with the code of the kernel (and firmware), made in @image. There
 * can be several, for threads that decode on their own; all before the first cursor. The code is
 * the sideband's: what is in the space is not read once that is destroyed. Returns 0, -ENOMEM, or
 * what opening vmlinux, kcore or firmware returned.
 */
int rvt_sideband_kernel(struct rvt_sideband *sideband, struct rvt_image *image,
			struct rvt_space **kernel);
/*
 * rvt_sideband_rewind - @kernel has the code as it was at the end of the recording, and gets that
 * of the beginning (PERF_RECORD_TEXT_POKE); rvt_sideband_kernel() does it. 0 or -ENOMEM.
 */
int rvt_sideband_rewind(struct rvt_sideband *sideband, struct rvt_space *kernel);
/*
 * rvt_cursor_create - a cursor before all events but those that describe the beginning. Its
 * spaces are made in @image, which must outlive it, with @kernel behind them. 0 or -ENOMEM.
 */
int rvt_cursor_create(const struct rvt_sideband *sideband, struct rvt_image *image,
		      struct rvt_space *kernel, struct rvt_cursor **cursor);
void rvt_cursor_destroy(struct rvt_cursor *cursor);
/*
 * rvt_cursor_forget_ended - from now on a task is forgotten a second after PERF_RECORD_EXIT told of
 * its end, but for one that rvt_cursor_task() returned last: its space may be another's then. For
 * sessions that go on for long.
 */
void rvt_cursor_forget_ended(struct rvt_cursor *cursor);
/*
 * rvt_cursor_clear_spaces - before it is destroyed: the spaces that it made forget their mappings,
 * so that many cursors, one after the other, take no more memory than one. Nobody looks into these
 * spaces any more.
 */
void rvt_cursor_clear_spaces(struct rvt_cursor *cursor);
/*
 * rvt_cursor_seek - applies what happened up to @time (perf's clock, ns), inclusive. Going back
 * does nothing. Returns 1 when anything was applied, 0 when not, -ENOMEM.
 */
int rvt_cursor_seek(struct rvt_cursor *cursor, uint64_t time);
/* Whether rvt_cursor_seek() would apply nothing. */
bool rvt_cursor_stays(const struct rvt_cursor *cursor, uint64_t time);
/* The time of what is applied next; UINT64_MAX: nothing is left. */
uint64_t rvt_cursor_next(const struct rvt_cursor *cursor);
/* How many events it is past. */
size_t rvt_cursor_position(const struct rvt_cursor *cursor);
/*
 * When @tid, or any thread if that is -1, next executes a program on @cpu, up to @until, in place
 * of another one that is known; UINT64_MAX: it does not.
 */
uint64_t rvt_cursor_next_exec(const struct rvt_cursor *cursor, int32_t tid, int32_t cpu,
			      uint64_t until);
/*
 * True if what happens up to @time changes what @task (NULL: not known) is called, or what code
 * that it may have run is: another name or program, a mapping over another, a change of the
 * kernel's code.
 */
bool rvt_cursor_replaces(const struct rvt_cursor *cursor, const struct rvt_task *task,
			 uint64_t time);
/* The task with thread id @tid now; one that is not known is made up. NULL: out of memory. */
const struct rvt_task *rvt_cursor_task(struct rvt_cursor *cursor, int32_t tid);
/*
 * The same for the guest of a virtual machine that @tid runs: a task of its own, with @space and
 * the name "[guest/PID]".
 */
const struct rvt_task *rvt_cursor_guest(struct rvt_cursor *cursor, int32_t tid,
					struct rvt_space *space);
/*
 * The thread id that runs on @cpu now by the context switches, or by where trace began; -1: not
 * known.
 */
int32_t rvt_cursor_running(const struct rvt_cursor *cursor, int32_t cpu);
/* The @n-th, or NULL. */
const struct rvt_missing *rvt_cursor_missing(const struct rvt_cursor *cursor, size_t n);

RVT_END_DECLS

#endif
