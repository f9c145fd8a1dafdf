/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* For bpf/ only: the kernel's types that the programs use; only with libbpf. */
#ifndef PERF_RVTRACE_BPF_KERNEL_TYPES_H
#define PERF_RVTRACE_BPF_KERNEL_TYPES_H

/*
 * Returns the path of a file with their BTF, which exists as long as this process, for
 * bpf_object_open_opts.btf_custom_path. NULL: there is none; libbpf reads all types of the kernel.
 * Only one thread at a time may call it.
 */
const char *bpf_kernel_types(void);

#endif
