/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside bpf/: what the programs know of the kernel's types; only with libbpf. */
#ifndef PERF_RVTRACE_BPF_KERNEL_TYPES_H
#define PERF_RVTRACE_BPF_KERNEL_TYPES_H

/*
 * The file with their BTF, which exists as long as this process, for
 * bpf_object_open_opts.btf_custom_path. NULL: there is none, libbpf takes all that the kernel has.
 * One thread at a time.
 */
const char *bpf_kernel_types(void);

#endif
