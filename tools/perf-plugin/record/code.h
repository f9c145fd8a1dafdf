/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Code that is copied into the recording. */
#ifndef PERF_RVTRACE_RECORD_CODE_H
#define PERF_RVTRACE_RECORD_CODE_H

#include "record/record.h"

/*
 * record/watch.c: from now on samples of .code report kernel code that is added, changed or
 * removed. Without BPF there are none. Returns 0, or -errno after a message.
 */
int record_watch_open(struct recorder *rec);
/* Reads the page at @addr, by BPF. Returns false if it cannot be read. */
bool record_watch_read(const struct recorder *rec, uint64_t addr, uint8_t bytes[RVT_KERNEL_PAGE]);
/*
 * Reads the lines of /proc/kallsyms that are not the kernel's own (modules, BPF programs,
 * trampolines), by BPF; malloc'd. NULL: they cannot be read.
 */
char *record_watch_symbols(const struct recorder *rec);

/*
 * record/user-code.c: from now on samples of .user_code report code of programs that is in no file,
 * as options.copy_code says. Returns 0, or -errno after a message. record_end_user_code(), before
 * the events are closed, reports how much there was no room for.
 */
int record_open_user_code(struct recorder *rec);
void record_end_user_code(struct recorder *rec);

/* record/bpf.c: copies the code of the system's BPF programs, as far as this user may see it. */
void record_copy_bpf(struct code_list *list);

/*
 * record/uprobes.c: copies what runs in place of probed instructions; warns if some of that cannot
 * be known.
 */
void record_copy_uprobes(const struct recorder *rec, struct code_list *list);

/* record/code.c: adds kernel and vdso code, and kallsyms. Warns when something is not available. */
void record_add_code(struct recorder *rec);
/* Finds the kernel's code. Returns false when that is hidden from this user. */
bool kernel_text(uint64_t *start, uint64_t *end);

#endif
