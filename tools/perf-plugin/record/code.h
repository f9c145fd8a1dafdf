/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Code that is copied into the recording. */
#ifndef PERF_RVTRACE_RECORD_CODE_H
#define PERF_RVTRACE_RECORD_CODE_H

#include "record/record.h"

/*
 * watch.c: kernel code that comes, changes or goes from now on is told by samples of .code.
 * Without BPF none are. 0 or -errno after a message.
 */
int record_watch_open(struct recorder *rec);
/* The page at @addr, by BPF. False: that cannot be had. */
bool record_watch_read(const struct recorder *rec, uint64_t addr, uint8_t bytes[RVT_KERNEL_PAGE]);
/*
 * The lines of /proc/kallsyms that are not of the kernel itself (modules, BPF programs,
 * trampolines), by BPF; malloc'd. NULL: that cannot be had.
 */
char *record_watch_symbols(const struct recorder *rec);

/*
 * user-code.c: code of programs that is in no file is told by samples of .user_code from now on, as
 * options.copy_code says. 0, or -errno after a message. record_end_user_code(): before the events
 * go; says what there was no room for.
 */
int record_open_user_code(struct recorder *rec);
void record_end_user_code(struct recorder *rec);

/* bpf.c: what the BPF programs of the system were compiled to, as far as one may see it. */
void record_copy_bpf(struct code_list *list);

/* uprobes.c: what runs in place of probed instructions; warns when some of that cannot be known. */
void record_copy_uprobes(const struct recorder *rec, struct code_list *list);

/* code.c: kernel and vdso code, kallsyms. Warns when something cannot be had. */
void record_add_code(struct recorder *rec);
/* Where the kernel's code is; false when that is hidden from this user. */
bool kernel_text(uint64_t *start, uint64_t *end);

#endif
