/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What user-code.bpf.c, in the kernel, shares with the recorder. */
#ifndef PERF_RVTRACE_BPF_USER_CODE_H
#define PERF_RVTRACE_BPF_USER_CODE_H

/* Bits for why something was not copied: */
#define USER_CODE_LIMIT 1u	/* more than .limit */
#define USER_CODE_LARGE 2u	/* a mapping had more than is copied at once */
#define USER_CODE_FULL 4u	/* there was no room in the buffers */

/* The only element of the map "budget". */
struct user_code_budget {
	unsigned long long limit, used;	/* bytes of code */
	unsigned int chosen;		/* not 0: only chosen processes */
	unsigned int refused;		/* USER_CODE_*; 0: all was copied */
};

#endif
