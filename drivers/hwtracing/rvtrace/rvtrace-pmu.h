/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: the PMU (rvtrace-pmu*.c), AUX samples (rvtrace-sample.c), and the platform driver
 * (rvtrace-platform.c).
 */
#ifndef _RVTRACE_PMU_H
#define _RVTRACE_PMU_H

#include <linux/device.h>
#include <linux/perf_event.h>
#include <kunit/visibility.h>

struct rvtrace_encoder;

/* rvtrace-sample.c */
long rvtrace_event_snapshot_aux(struct perf_event *event, struct perf_output_handle *handle,
				unsigned long size);

/* rvtrace-pmu-sysfs.c */
extern const struct attribute_group *rvtrace_pmu_groups[];

/* rvtrace-pmu.c */
int rvtrace_pmu_add_encoder(struct rvtrace_encoder *enc);
void rvtrace_pmu_remove_encoder(struct rvtrace_encoder *enc);
void rvtrace_pmu_unregister(void);
int rvtrace_pmu_init(void);

/* rvtrace-platform.c */
int rvtrace_platform_register(void);
void rvtrace_platform_unregister(void);

/* For rvtrace-kunit.c; static without CONFIG_KUNIT */
#if IS_ENABLED(CONFIG_KUNIT)
int rvtrace_check_version(struct device *dev, u32 known, u32 impl);
#endif

#endif
