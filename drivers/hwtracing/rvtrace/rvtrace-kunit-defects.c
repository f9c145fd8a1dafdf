// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: KUnit tests of defects that a review found, and that no program can show. Each has
 * the number that Documentation/testing.rst lists it by. See rvtrace-kunit.c.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#include "rvtrace-aux.h"
#include "rvtrace-event.h"
#include "rvtrace-late.h"
#include "rvtrace-ramsink.h"

/* Registers of a component that accepts every value */
#define REGISTERS_SIZE		0x1000

/* Registers are where the specification has them. */
static const struct rvtrace_platform_ops rvtrace_kunit_platform = {
	.major	= 1,
};

/**
 * struct rvtrace_kunit_run - an event on a hart whose path ends in a RAM sink
 * @sink:	the sink, with a page of its own
 * @config:	what the event asks for
 * @event:	the event
 * @rc:		the hart
 */
struct rvtrace_kunit_run {
	struct rvtrace_ramsink sink;
	struct rvtrace_config config;
	struct perf_event event;
	struct rvtrace_cpu rc;
};

static struct rvtrace_kunit_run *rvtrace_kunit_run(struct kunit *test)
{
	struct rvtrace_kunit_run *run = kunit_kzalloc(test, sizeof(*run), GFP_KERNEL);
	void *registers = kunit_kzalloc(test, REGISTERS_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, run && registers);
	run->rc.aux = kunit_kzalloc(test, struct_size(run->rc.aux, sinks, 0), GFP_KERNEL);
	run->sink.vaddr = kunit_kzalloc(test, SZ_4K, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, run->rc.aux && run->sink.vaddr);
	run->sink.comp.base = (void __force __iomem *)registers;
	run->sink.comp.platform = &rvtrace_kunit_platform;
	run->sink.smem = true;
	run->sink.start = 0x80000000;
	run->sink.alloc = SZ_4K;
	run->event.pmu_private = &run->config;
	run->rc.event = &run->event;
	return run;
}

static void rvtrace_kunit_start(struct kunit *test, struct rvtrace_kunit_run *run)
{
	rvtrace_write(&run->sink.comp, RVTRACE_CONTROL, RVTRACE_CONTROL_ACTIVE);
	KUNIT_ASSERT_EQ(test, rvtrace_ramsink_ops.enable(&run->sink.comp, &run->rc), 0);
}

/*
 * Defect 15: whose trace a sink's buffer holds. A later process with the same id is somebody else,
 * wherever the kernel keeps it; so is a program that the process executes.
 */
static void rvtrace_test_defect_15(struct kunit *test)
{
	struct rvtrace_kunit_run *run = rvtrace_kunit_run(test);
	u8 *trace = run->sink.vaddr;

	run->config.opener = (struct rvtrace_opener){ .tgid = 42, .start = 1000, .exec_id = 1 };
	rvtrace_kunit_start(test, run);
	trace[0] = 0xaa;
	run->sink.dirty = 1;
	rvtrace_kunit_start(test, run);
	KUNIT_EXPECT_EQ(test, trace[0], 0xaa);

	run->config.opener.start = 2000;
	rvtrace_kunit_start(test, run);
	KUNIT_EXPECT_EQ(test, trace[0], 0);

	trace[0] = 0xaa;
	run->sink.dirty = 1;
	run->config.opener.exec_id = 2;
	rvtrace_kunit_start(test, run);
	KUNIT_EXPECT_EQ(test, trace[0], 0);
}

#if IS_ENABLED(CONFIG_RVTRACE_LATE_RECORDS)
/**
 * struct rvtrace_kunit_beginner - a hart that begins a record, on a CPU of its own
 * @rc:		the hart
 * @ready:	it waits for @go
 * @go:		it is to begin
 * @begun:	it has
 */
struct rvtrace_kunit_beginner {
	struct rvtrace_cpu *rc;
	bool ready;
	bool go;
	bool begun;
};

static int rvtrace_kunit_begin(void *data)
{
	struct rvtrace_kunit_beginner *beginner = data;
	unsigned long flags;

	local_irq_save(flags);
	WRITE_ONCE(beginner->ready, true);
	while (!READ_ONCE(beginner->go))
		cpu_relax();
	rvtrace_late_begin(beginner->rc);
	WRITE_ONCE(beginner->begun, true);
	local_irq_restore(flags);
	/* kthread_stop() waits for it. */
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

/*
 * Defect 17: a hart begins a record that would continue the deferred one, while the hart to which
 * the deferred event moved writes that. It must wait, and must not continue what is written then.
 */
static void rvtrace_test_defect_17(struct kunit *test)
{
	struct rvtrace_kunit_run *run = rvtrace_kunit_run(test);
	struct rvtrace_kunit_beginner beginner = { .rc = &run->rc };
	struct perf_event *moved = kunit_kzalloc(test, sizeof(*moved), GFP_KERNEL);
	struct task_struct *task;
	unsigned int other;
	unsigned long flags;
	bool early;

	KUNIT_ASSERT_NOT_NULL(test, moved);
	run->config.tagged = true;
	run->config.serial = 1;
	moved->pmu_private = &run->config;
	rvtrace_late_init(&run->rc);
	run->rc.late.event = moved;

	migrate_disable();
	other = cpumask_any_but(cpu_online_mask, smp_processor_id());
	task = other < nr_cpu_ids ? kthread_create_on_cpu(rvtrace_kunit_begin, &beginner, other,
							  "rvtrace-kunit/%u") : NULL;
	if (IS_ERR_OR_NULL(task)) {
		migrate_enable();
		kunit_skip(test, "there is one CPU only");
	}
	wake_up_process(task);
	while (!READ_ONCE(beginner.ready))
		cond_resched();
	raw_spin_lock_irqsave(&run->rc.late.lock, flags);
	WRITE_ONCE(beginner.go, true);
	mdelay(20);
	early = READ_ONCE(beginner.begun);
	run->rc.late.event = NULL;
	raw_spin_unlock_irqrestore(&run->rc.late.lock, flags);
	migrate_enable();
	kthread_stop(task);

	KUNIT_EXPECT_FALSE(test, early);
	KUNIT_EXPECT_TRUE(test, beginner.begun);
	KUNIT_EXPECT_FALSE(test, run->rc.mixed);
}
#endif

static struct kunit_case rvtrace_defects_cases[] = {
	KUNIT_CASE(rvtrace_test_defect_15),
#if IS_ENABLED(CONFIG_RVTRACE_LATE_RECORDS)
	KUNIT_CASE(rvtrace_test_defect_17),
#endif
	{ }
};

static struct kunit_suite rvtrace_defects_suite = {
	.name = "rvtrace_defects",
	.test_cases = rvtrace_defects_cases,
};

kunit_test_suite(rvtrace_defects_suite);
