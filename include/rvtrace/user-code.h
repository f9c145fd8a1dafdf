/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a recording says about code of programs that is in no file which a decoder could read:
 * anonymous memory, memfd, deleted files, text that was changed in memory. It is the raw data of
 * the samples of its event "rvtrace:user". Written by tools/perf-plugin/bpf/user-code.bpf.c inside
 * the kernel, hence without other headers; read by userspace/lib/sideband/.
 */
#ifndef RVTRACE_USER_CODE_H
#define RVTRACE_USER_CODE_H

#define RVT_USER_CODE_EVENT "rvtrace:user"
#define RVT_USER_CODE_MAX 4096u		/* bytes of code in one sample */

enum rvt_user_code_kind {
	RVT_USER_CODE_COMES = 1,	/* the bytes are there from now on */
	/* those of the last whole page that came at .addr; none follow */
	RVT_USER_CODE_SAME,
	/*
	 * the bytes are there now, and since the memory was mapped, or since what another sample
	 * tells of it
	 */
	RVT_USER_CODE_STAYED,
};

/* .flags: the mapping that this is in is told next, and the bytes are those of that. */
#define RVT_USER_CODE_MAPS 1u

/* The bytes follow. */
struct rvt_user_code {
	unsigned int kind;		/* enum rvt_user_code_kind */
	unsigned int len;
	unsigned long long addr;
	int pid;			/* the process, as the sideband numbers it */
	unsigned int flags;
};

#endif
