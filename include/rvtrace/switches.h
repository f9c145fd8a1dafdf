/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a recording says about context switches where neither the trace nor perf's sideband does:
 * the raw data of the samples of its event "rvtrace:switch", taken on the cpu that switches, just
 * before it does. Written by tools/perf-plugin/bpf/switches.bpf.c inside the kernel, hence without
 * other headers; read by userspace/lib/sideband/.
 */
#ifndef RVTRACE_SWITCHES_H
#define RVTRACE_SWITCHES_H

#define RVT_SWITCH_EVENT "rvtrace:switch"

/*
 * Further switches of this cpu are not told: who runs after this one is not known until the next
 * sample.
 */
#define RVT_SWITCH_LAST 1

/* Processes and threads by their numbers in the initial namespace; idle is 0. */
struct rvt_switch {
	int prev_pid, prev_tid;		/* who goes */
	int next_pid, next_tid;		/* who comes */
	unsigned short prev_state;	/* as sched:sched_switch has it; 0: it could go on */
	unsigned short flags;
};

#endif
