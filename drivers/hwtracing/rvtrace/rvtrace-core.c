// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the module.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/module.h>

#include "rvtrace-component.h"
#include "rvtrace-context.h"
#include "rvtrace-flight.h"
#include "rvtrace-pmu.h"
#include "rvtrace-power.h"
#include "rvtrace-session.h"

static int __init rvtrace_init(void)
{
	int ret;

#ifdef RVTRACE_COMPAT
	ret = rvtrace_pmu_init();
	if (ret)
		return ret;
#endif
	rvtrace_context_init();
	rvtrace_run_init();
	ret = bus_register(&rvtrace_bus);
	if (ret)
		return ret;
	ret = rvtrace_guests_init();
	if (ret)
		goto err_bus;
	ret = rvtrace_power_init();
	if (ret)
		goto err_guests;
	rvtrace_flight_init();
	ret = rvtrace_platform_register();
	if (ret)
		goto err_flight;
	return 0;

err_flight:
	rvtrace_flight_exit();
	rvtrace_power_exit();
err_guests:
	rvtrace_guests_exit();
err_bus:
	bus_unregister(&rvtrace_bus);
	return ret;
}
module_init(rvtrace_init);

/* Open events hold the module, so there are none here. */
static void __exit rvtrace_exit(void)
{
	rvtrace_flight_exit();
	rvtrace_pmu_unregister();
	rvtrace_context_exit();
	rvtrace_power_flush();
	rvtrace_platform_unregister();
	rvtrace_power_exit();
	rvtrace_guests_exit();
	rvtrace_run_exit();
	bus_unregister(&rvtrace_bus);
}
module_exit(rvtrace_exit);

MODULE_DESCRIPTION("RISC-V trace (E-Trace and N-Trace) driver");
MODULE_LICENSE("GPL");
