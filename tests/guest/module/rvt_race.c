// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has a race of data: two threads count in one variable for a second. A kernel that looks for races
 * must report it, or it would not report those of the driver.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static unsigned long raced;

static int race(void *unused)
{
	while (!kthread_should_stop()) {
		raced++;
		cond_resched();
	}
	return 0;
}

static int __init begin(void)
{
	struct task_struct *threads[2];
	int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = kthread_run(race, NULL, "rvt_race");
	msleep(1000);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (!IS_ERR(threads[i]))
			kthread_stop(threads[i]);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Has a race of data, for tests of rvtrace");
MODULE_LICENSE("GPL");
