/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* BPF programs of the recorder. */
#ifndef PERF_RVTRACE_RECORD_BPF_OUTPUT_H
#define PERF_RVTRACE_RECORD_BPF_OUTPUT_H

#include "record/record.h"

/*
 * bpf-output.c: opens an event @name on each cpu, which the programs of @output, loaded, write to
 * by their map "events". 0, or -errno after a message. @link may be NULL.
 * bpf_output_choose - the processes of threads @tids, and what they fork, are in its map "chosen"
 * (bpf/chosen.h). 0, or -errno after a message.
 * bpf_output_attach - all its programs run from now on; a kernel that has not one of the functions
 * that they look at has the others.
 * bpf_is_compiled - the kernel compiles them, and does not interpret them.
 */
bool bpf_is_compiled(void);
int bpf_output_open(struct recorder *rec, struct bpf_output *output, const char *name);
int bpf_output_choose(const struct bpf_output *output, const pid_t *tids, size_t n);
void bpf_output_attach(struct bpf_output *output);
void bpf_output_add_link(struct bpf_output *output, struct bpf_link *link);
void bpf_output_close(struct bpf_output *output);

/*
 * switches.c: whether BPF tells the context switches, before events are opened, and that it
 * does from now on, after that. 0, or -errno after a message.
 */
int record_choose_switches(struct recorder *rec);
int record_open_switches(struct recorder *rec);

#endif
