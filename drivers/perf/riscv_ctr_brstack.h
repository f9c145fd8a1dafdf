/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V Control Transfer Records as branch stacks of the harts' own PMU. For a kernel's tree only,
 * where that PMU calls this. But for riscv_ctr_brstack_setup() and _init(), everything is called on
 * the hart, with interrupts off.
 */
#ifndef _RISCV_CTR_BRSTACK_H
#define _RISCV_CTR_BRSTACK_H

#include <linux/errno.h>
#include <linux/perf_event.h>

#ifdef CONFIG_RISCV_CTR_BRSTACK
void riscv_ctr_brstack_setup(struct pmu *pmu);
int riscv_ctr_brstack_init(struct perf_event *event);
int riscv_ctr_brstack_add(struct perf_event *event);
void riscv_ctr_brstack_del(struct perf_event *event);
void riscv_ctr_brstack_sample(struct perf_event *event, struct perf_sample_data *data);
void riscv_ctr_brstack_thaw(void);
void riscv_ctr_brstack_power_lost(void);
#else
static inline void riscv_ctr_brstack_setup(struct pmu *pmu) { }
static inline int riscv_ctr_brstack_init(struct perf_event *event) { return -EOPNOTSUPP; }
static inline int riscv_ctr_brstack_add(struct perf_event *event) { return -EOPNOTSUPP; }
static inline void riscv_ctr_brstack_del(struct perf_event *event) { }
static inline void riscv_ctr_brstack_sample(struct perf_event *event,
					    struct perf_sample_data *data) { }
static inline void riscv_ctr_brstack_thaw(void) { }
static inline void riscv_ctr_brstack_power_lost(void) { }
#endif

#endif
