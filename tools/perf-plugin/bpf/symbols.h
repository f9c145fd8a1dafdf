/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the iterator "symbols" of kernel-code.bpf.c writes for each symbol. */
#ifndef PERF_RVTRACE_BPF_SYMBOLS_H
#define PERF_RVTRACE_BPF_SYMBOLS_H

#define SYMBOL_NAME 512
#define SYMBOL_OWNER 64

/* The name follows, then that of the owner (a module, "bpf", ...), both with their zero. */
struct kernel_symbol {
	unsigned long long addr;
	unsigned short name_len, owner_len;
	unsigned int type;	/* as /proc/kallsyms has it */
};

#endif
