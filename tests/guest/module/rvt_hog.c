// SPDX-License-Identifier: GPL-2.0-only
/*
 * While this is loaded the workers of a CPU have something to do: each piece of work that is queued
 * there waits for up to "ms" milliseconds. (A kernel that detects such work lets others pass it:
 * boot with workqueue.cpu_intensive_thresh_us=0.)
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

static unsigned int cpu = 1;
static unsigned int ms = 1500;
static bool stop;
module_param(cpu, uint, 0444);
module_param(ms, uint, 0444);

static void hog(struct work_struct *work)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);

	while (time_before(jiffies, end) && !READ_ONCE(stop)) {
		cpu_relax();
		cond_resched();
	}
	if (!READ_ONCE(stop))
		schedule_work_on(cpu, work);
}

static DECLARE_WORK(hog_work, hog);

static int __init begin(void)
{
	schedule_work_on(cpu, &hog_work);
	return 0;
}

static void __exit end(void)
{
	WRITE_ONCE(stop, true);
	cancel_work_sync(&hog_work);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Lets work of a CPU wait, for tests of rvtrace");
MODULE_LICENSE("GPL");
