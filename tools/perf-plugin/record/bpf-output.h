/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* BPF programs of the recorder. */
#ifndef PERF_RVTRACE_RECORD_BPF_OUTPUT_H
#define PERF_RVTRACE_RECORD_BPF_OUTPUT_H

#include "record/record.h"

/*
 * record/bpf-output.c
 *
 * bpf_is_compiled - returns whether the kernel compiles BPF programs, instead of interpreting them.
 *
 * bpf_output_open - opens an event @name on each cpu, to which the loaded programs of @output write
 * through their map "events". Returns 0, or -errno after a message.
 *
 * bpf_output_choose - puts the processes of threads @tids, and what they fork, into the programs'
 * map "chosen" (bpf/chosen.h). Returns 0, or -errno after a message.
 *
 * bpf_output_attach - runs all programs from now on, but for those of functions that the kernel
 * does not have.
 *
 * bpf_output_add_link - keeps @link, which may be NULL, until the end.
 */
bool bpf_is_compiled(void);
int bpf_output_open(struct recorder *rec, struct bpf_output *output, const char *name);
int bpf_output_choose(const struct bpf_output *output, const pid_t *tids, size_t n);
void bpf_output_attach(struct bpf_output *output);
void bpf_output_add_link(struct bpf_output *output, struct bpf_link *link);
void bpf_output_close(struct bpf_output *output);

/*
 * record/switches.c: before events are opened, chooses whether BPF reports the context switches;
 * after that, has it report them. Return 0, or -errno after a message.
 */
int record_choose_switches(struct recorder *rec);
int record_open_switches(struct recorder *rec);

#endif
