/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The BPF programs in this command; only with libbpf (HAVE_LIBBPF). */
#ifndef PERF_RVTRACE_BPF_LOAD_H
#define PERF_RVTRACE_BPF_LOAD_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* Each opens the object file of NAME.bpf.c, without loading it. NULL: see errno. */
struct bpf_object *bpf_open_snapshot(void);
struct bpf_object *bpf_open_kernel_code(void);
struct bpf_object *bpf_open_switches(void);
struct bpf_object *bpf_open_user_code(void);
struct bpf_object *bpf_open_calls(void);
/*
 * Reads all that the iterator @name of @object, which is loaded, writes: malloc'd, with a
 * terminating zero. Returns 0 or -ENOTSUP; the caller frees *@bytes in any case.
 */
int bpf_read_iterator(const struct bpf_object *object, const char *name, char **bytes, size_t *len);
/* Returns a phrase: why it cannot be loaded, by @err of bpf_object__load(). */
const char *bpf_refusal(int err);

#endif
