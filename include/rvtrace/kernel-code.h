/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a recording says about kernel code that came, changed or went while it was made: the raw
 * data of the samples of its event "rvtrace:code". Written by
 * tools/perf-plugin/bpf/kernel-code.bpf.c inside the kernel, hence without other headers; read by
 * userspace/lib/sideband/.
 */
#ifndef RVTRACE_KERNEL_CODE_H
#define RVTRACE_KERNEL_CODE_H

#define RVT_KERNEL_CODE_EVENT "rvtrace:code"
#define RVT_KERNEL_CODE_NAME 64		/* room for a name; its last byte is zero */
#define RVT_KERNEL_PAGE 4096
#define RVT_KERNEL_CODE_MAX (16u << 10)	/* bytes of code in one sample; there may be more samples */

enum rvt_kernel_code_kind {
	RVT_KERNEL_CODE_COMES = 1,	/* the bytes are there from now on */
	RVT_KERNEL_CODE_GOES,		/* the bytes are there until now */
	RVT_KERNEL_CODE_FUNCTION,	/* .function has the .len bytes at .addr; no bytes follow */
	RVT_KERNEL_CODE_CHANGES,	/* the .len old ones, then as many new ones; just written */
};

/* The bytes follow. */
struct rvt_kernel_code {
	unsigned int kind;		/* enum rvt_kernel_code_kind */
	unsigned int len;
	unsigned long long addr;
	char module[RVT_KERNEL_CODE_NAME];	/* the module, or "bpf"; CHANGES: empty */
	char function[RVT_KERNEL_CODE_NAME];	/* FUNCTION, and of "bpf"; else empty */
};

#endif
