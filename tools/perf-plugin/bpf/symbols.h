/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the iterator "symbols" of kernel-code.bpf.c writes for each symbol. */
#ifndef PERF_RVTRACE_BPF_SYMBOLS_H
#define PERF_RVTRACE_BPF_SYMBOLS_H

#define SYMBOL_NAME 512
#define SYMBOL_MODULE 64

/* The name follows, then the module's (or "bpf", ...), both with a terminating zero. */
struct kernel_symbol {
	unsigned long long addr;
	unsigned short name_len, module_len;
	unsigned int type;	/* as in /proc/kallsyms */
};

#endif
