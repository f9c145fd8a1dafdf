/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Between user-code.bpf.c, which runs in the kernel, and the recorder. */
#ifndef PERF_RVTRACE_BPF_USER_CODE_H
#define PERF_RVTRACE_BPF_USER_CODE_H

/* The only element of the map "budget". */
struct user_code_budget {
	unsigned long long limit, used;	/* bytes of code */
	unsigned int chosen;		/* not 0: of chosen processes only */
	unsigned int refused;		/* not 0: there was more than .limit */
};

#endif
