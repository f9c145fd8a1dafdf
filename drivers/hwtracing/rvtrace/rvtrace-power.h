/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: which components there are, and when they are active (rvtrace-power.c).
 */
#ifndef _RVTRACE_POWER_H
#define _RVTRACE_POWER_H

#include "rvtrace-component.h"

int rvtrace_register(struct rvtrace_component *comp);
void rvtrace_unregister(struct rvtrace_component *comp);
void rvtrace_get(void);
void rvtrace_put(void);
void rvtrace_suspend(const struct device *dev);
void rvtrace_resume(const struct device *dev);
void rvtrace_shutdown(void);
void rvtrace_probe_again(unsigned int cpu);
int rvtrace_power_init(void);
void rvtrace_power_exit(void);
void rvtrace_power_flush(void);

#endif
