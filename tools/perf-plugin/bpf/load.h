/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The BPF programs that this command carries; only with libbpf (HAVE_LIBBPF). */
#ifndef PERF_RVTRACE_BPF_LOAD_H
#define PERF_RVTRACE_BPF_LOAD_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* Each is what the compiler made of NAME.bpf.c, not loaded yet. NULL, and errno. */
struct bpf_object *bpf_open_snapshot(void);
struct bpf_object *bpf_open_kernel_code(void);
struct bpf_object *bpf_open_switches(void);
struct bpf_object *bpf_open_user_code(void);
struct bpf_object *bpf_open_calls(void);
/*
 * All that the iterator @name of @object, which is loaded, writes: malloc'd, with a terminating
 * zero. 0 or -ENOTSUP; *@bytes is to be freed in any case.
 */
int bpf_read_iterator(const struct bpf_object *object, const char *name, char **bytes, size_t *len);
/* Why it cannot be loaded: @err is what bpf_object__load() says. A phrase. */
const char *bpf_refusal(int err);

#endif
