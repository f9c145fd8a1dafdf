// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: memory of flight mode. The parameter "flight" switches it on and off. A header at a
 * page boundary, which begins with a magic number and holds its own physical address, is how a
 * reader of a dump finds all of it (include/uapi/linux/rvtrace.h).
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/panic_notifier.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <linux/workqueue.h>

#ifdef RVTRACE_COMPAT
#include "rvtrace-compat.h"
#endif
#include "rvtrace-encoder.h"
#include "rvtrace-flight.h"
#include "rvtrace-power.h"
#include "rvtrace-session.h"

static unsigned int rvtrace_flight_size = SZ_1M;
module_param_named(flight_buffer, rvtrace_flight_size, uint, 0644);
MODULE_PARM_DESC(flight_buffer, "buffer of each sink in flight mode, in bytes");

/* A larger memory of a sink's own is not copied (bytes). */
#define RVTRACE_FLIGHT_MAX_COPY	SZ_64M

/* Protects what is below, and the @sink of each hart. Nests outside of cpus_read_lock(). */
static DEFINE_MUTEX(rvtrace_flight_mutex);
/* What the parameter says */
static bool rvtrace_flight_wanted;
/* The module can do what it says. */
static bool rvtrace_flight_ready;
static struct rvtrace_flight_header *rvtrace_flight_header;
/* Harts whose sink others reach, too */
static struct cpumask rvtrace_flight_shared;
/* Number of events; while it is not 0, these harts are not in flight mode. */
static refcount_t rvtrace_flight_events = REFCOUNT_INIT(0);

static size_t rvtrace_flight_header_size(void)
{
	return PAGE_SIZE * (1 + (size_t)nr_cpu_ids);
}

static struct rvtrace_flight_hart *rvtrace_flight_record_of(int cpu)
{
	return (void *)rvtrace_flight_header + PAGE_SIZE * (1 + (size_t)cpu);
}

/* Frees the header. It must not look like one when the memory is used for something else. */
static void rvtrace_flight_free_header(void)
{
	memset(rvtrace_flight_header, 0, PAGE_SIZE);
	free_pages_exact(rvtrace_flight_header, rvtrace_flight_header_size());
	rvtrace_flight_header = NULL;
}

static int rvtrace_flight_make_header(void)
{
	struct rvtrace_flight_header *header;

	header = alloc_pages_exact(rvtrace_flight_header_size(), GFP_KERNEL | __GFP_ZERO);
	if (!header)
		return -ENOMEM;
	header->version = RVTRACE_FLIGHT_VERSION;
	header->header_bytes = PAGE_SIZE;
	header->hart_bytes = PAGE_SIZE;
	header->nr_harts = nr_cpu_ids;
	header->self = virt_to_phys(header);
	header->linear_virtual = PAGE_OFFSET;
	header->linear_physical = __pa(PAGE_OFFSET);
	header->timebase = riscv_timebase;
	strscpy(header->release, init_utsname()->release, sizeof(header->release));
	memcpy(header->magic, RVTRACE_FLIGHT_MAGIC, sizeof(header->magic));
	rvtrace_flight_header = header;
	return 0;
}

static int rvtrace_flight_note_encoder(struct rvtrace_encoder *enc,
				       struct rvtrace_flight_hart *record)
{
	char *params = (char *)__get_free_page(GFP_KERNEL | __GFP_ZERO);
	ssize_t len;

	if (!params)
		return -ENOMEM;
	rvtrace_encoder_params(enc, params);
	len = strscpy(record->params, params, PAGE_SIZE - sizeof(*record));
	free_page((unsigned long)params);
	return len < 0 ? -E2BIG : 0;
}

/*
 * Selects what is traced: only the kernel where the encoder can filter, else everything. The reader
 * of the dump has the code of this kernel, and takes all trace for the kernel's. So guests are
 * excluded.
 */
static int rvtrace_flight_choose(struct rvtrace_encoder *enc, struct rvtrace_flight *flight)
{
	struct rvtrace_program program;
	int ret;

	flight->attr = (struct perf_event_attr){ .exclude_user = 1, .exclude_guest = 1 };
	ret = rvtrace_encoder_configure(enc, &flight->attr, &program);
	if (ret != -EOPNOTSUPP)
		return ret;
	flight->attr = (struct perf_event_attr){ .config = RVTRACE_CONFIG_MACHINE };
	flight->flags |= RVTRACE_FLIGHT_F_ALL_MODES;
	return rvtrace_encoder_configure(enc, &flight->attr, &program);
}

/*
 * Allocates the buffer of the sink, or for a copy of its own memory. Returns NULL when memory is
 * short.
 */
static struct rvtrace_ramsink_buffer *rvtrace_flight_alloc(struct rvtrace_ramsink *ram)
{
	size_t wanted = clamp_t(size_t, READ_ONCE(rvtrace_flight_size), SZ_4K, SZ_1G);
	struct rvtrace_ramsink_buffer *buffer;

	if (ram->smem)
		return rvtrace_ramsink_alloc(ram, rounddown_pow_of_two(wanted));
	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	if (!buffer)
		return NULL;
	buffer->size = ram->alloc;
	if (buffer->size <= RVTRACE_FLIGHT_MAX_COPY)
		buffer->vaddr = kvzalloc(buffer->size, GFP_KERNEL | __GFP_NOWARN);
	if (buffer->vaddr)
		return buffer;
	kfree(buffer);
	return NULL;
}

static struct rvtrace_flight_sink *rvtrace_flight_make_sink(const struct rvtrace_path *path)
{
	struct rvtrace_flight_sink *sink = kzalloc(sizeof(*sink), GFP_KERNEL);

	if (!sink)
		return NULL;
	sink->ram = path->ram;
	sink->shared = !rvtrace_path_is_exclusive(path);
	INIT_LIST_HEAD(&sink->harts);
	sink->buffer = rvtrace_flight_alloc(path->ram);
	if (sink->buffer)
		return sink;
	kfree(sink);
	return NULL;
}

/* Frees a sink that no hart uses any more. */
static void rvtrace_flight_free_sink(struct rvtrace_flight_sink *sink)
{
	if (sink->ram->smem) {
		rvtrace_ramsink_free(sink->ram, sink->buffer);
	} else {
		kvfree(sink->buffer->vaddr);
		kfree(sink->buffer);
	}
	kfree(sink);
}

/*
 * Returns the sink of the harts that use the same RAM sink, else a new one. NULL: memory is short.
 */
static struct rvtrace_flight_sink *rvtrace_flight_get_sink(const struct rvtrace_path *path)
{
	struct rvtrace_flight_sink *sink;
	int cpu;

	lockdep_assert_held(&rvtrace_flight_mutex);
	for_each_possible_cpu(cpu) {
		sink = per_cpu(rvtrace_flights, cpu).sink;
		if (sink && sink->ram == path->ram)
			return sink;
	}
	return rvtrace_flight_make_sink(path);
}

/*
 * Prepares the hart for flight mode, and sets *@new_sink. Returns NULL, or why it is not possible.
 */
static const char *rvtrace_flight_prepare(struct rvtrace_encoder *enc,
					  struct rvtrace_flight *flight,
					  struct rvtrace_flight_sink **new_sink)
{
	struct rvtrace_flight_hart *record = flight->record;
	struct rvtrace_flight_sink *sink;
	void *memory;

	flight->path = &enc->paths[0];
	flight->flags = RVTRACE_FLIGHT_F_VALID;
	flight->failed = false;
	if (!flight->path->ram)
		return "its trace goes to no RAM sink";
	if (rvtrace_flight_choose(enc, flight) || rvtrace_flight_note_encoder(enc, record))
		return "its encoder cannot";
	sink = rvtrace_flight_get_sink(flight->path);
	if (!sink)
		return "no memory";
	if (!sink->ram->smem)
		flight->flags |= RVTRACE_FLIGHT_F_COPY;
	flight->config = (struct rvtrace_config){ .cpu = enc->cpu, .serial = rvtrace_new_serial() };
	memory = sink->buffer->vaddr;
	record->cpu = enc->cpu;
	record->src = enc->src_id;
	record->address = (unsigned long)memory;
	record->physical = virt_addr_valid(memory) ? virt_to_phys(memory) : 0;
	record->bytes = sink->buffer->size;
	*new_sink = sink;
	return NULL;
}

/* Sets the sink on the hart itself: an event may start or stop there at any time. */
static void rvtrace_flight_begin_ipi(void *sink)
{
	rvtrace_flight_join(this_cpu_ptr(&rvtrace_flights), sink);
	rvtrace_flight_begin(this_cpu_ptr(&rvtrace_cpus));
}

static void rvtrace_flight_end_ipi(void *unused)
{
	rvtrace_flight_end(this_cpu_ptr(&rvtrace_cpus));
	rvtrace_flight_part(this_cpu_ptr(&rvtrace_flights));
}

static void rvtrace_flight_give(struct rvtrace_encoder *enc)
{
	struct rvtrace_flight *flight = &per_cpu(rvtrace_flights, enc->cpu);
	struct rvtrace_flight_sink *sink;
	const char *why;

	lockdep_assert_held(&rvtrace_flight_mutex);
	/*
	 * Nothing is to be done for a hart that has a sink. A hart whose encoder has just come or
	 * is about to go will have another call.
	 */
	if (flight->sink || READ_ONCE(per_cpu(rvtrace_cpus, enc->cpu).encoder) != enc)
		return;
	flight->record = rvtrace_flight_record_of(enc->cpu);
	memset(flight->record, 0, PAGE_SIZE);
	why = rvtrace_flight_prepare(enc, flight, &sink);
	if (why) {
		dev_notice(&enc->comp.dev, "not in flight mode: %s\n", why);
		return;
	}
	if (sink->shared)
		cpumask_set_cpu(enc->cpu, &rvtrace_flight_shared);
	/* A hart that is down enters flight mode when it comes up. */
	if (smp_call_function_single(enc->cpu, rvtrace_flight_begin_ipi, sink, 1))
		rvtrace_flight_join(flight, sink);
}

static void rvtrace_flight_take(struct rvtrace_encoder *enc)
{
	struct rvtrace_flight *flight = &per_cpu(rvtrace_flights, enc->cpu);
	struct rvtrace_flight_sink *sink = flight->sink;

	lockdep_assert_held(&rvtrace_flight_mutex);
	if (!sink)
		return;
	cpumask_clear_cpu(enc->cpu, &rvtrace_flight_shared);
	/* A hart that is down has left flight mode before. */
	if (smp_call_function_single(enc->cpu, rvtrace_flight_end_ipi, NULL, 1))
		rvtrace_flight_part(flight);
	flight->record->flags = 0;
	if (list_empty(&sink->harts))
		rvtrace_flight_free_sink(sink);
}

static void rvtrace_flight_for_each(void (*fn)(struct rvtrace_encoder *enc))
{
	struct rvtrace_component *comp;

	cpus_read_lock();
	mutex_lock(&rvtrace_mutex);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (comp->type == RVTRACE_TYPE_ENCODER)
			fn(to_rvtrace_encoder(comp));
	mutex_unlock(&rvtrace_mutex);
	cpus_read_unlock();
}

static void rvtrace_flight_end_shared(void *unused)
{
	rvtrace_flight_end(this_cpu_ptr(&rvtrace_cpus));
}

static void rvtrace_flight_begin_shared(void *unused)
{
	rvtrace_flight_begin(this_cpu_ptr(&rvtrace_cpus));
}

/*
 * Ends or begins flight mode of the harts whose sink others reach, too. A hart that comes up
 * meanwhile reads the flag. One that is down has left flight mode before.
 */
static void rvtrace_flight_set_shared_off(bool off)
{
	lockdep_assert_held(&rvtrace_flight_mutex);
	WRITE_ONCE(rvtrace_flight_shared_off, off);
	on_each_cpu_mask(&rvtrace_flight_shared, off ? rvtrace_flight_end_shared :
			 rvtrace_flight_begin_shared, NULL, true);
}

static void rvtrace_flight_last_event_went(struct work_struct *work)
{
	guard(mutex)(&rvtrace_flight_mutex);
	if (!refcount_read(&rvtrace_flight_events))
		rvtrace_flight_set_shared_off(false);
}

static DECLARE_WORK(rvtrace_flight_work, rvtrace_flight_last_event_went);

/*
 * rvtrace_flight_add_event - a new event: sinks that harts share are free for it
 *
 * Until rvtrace_flight_remove_event(). As rvtrace_get(), it does not sleep where there are events
 * already, as when an inherited one is made.
 */
void rvtrace_flight_add_event(void)
{
	if (refcount_inc_not_zero(&rvtrace_flight_events))
		return;
	guard(mutex)(&rvtrace_flight_mutex);
	if (refcount_inc_not_zero(&rvtrace_flight_events))
		return;
	rvtrace_flight_set_shared_off(true);
	refcount_set(&rvtrace_flight_events, 1);
}

/* The last event may go away where sleeping locks cannot be taken, so a worker does the rest. */
void rvtrace_flight_remove_event(void)
{
	if (refcount_dec_and_test(&rvtrace_flight_events))
		schedule_work(&rvtrace_flight_work);
}

/* Stops all trace. The kernel has panicked, or is about to start another one after that. */
static void rvtrace_flight_stop(void)
{
	rvtrace_session_panic();
	if (rvtrace_flight_header)
		rvtrace_flight_panic(rvtrace_flight_header);
}

static int rvtrace_flight_notify(struct notifier_block *block, unsigned long action, void *data)
{
	rvtrace_flight_stop();
	return NOTIFY_OK;
}

/* The notifier comes first: what other notifiers execute is not worth tracing. */
static struct notifier_block rvtrace_flight_block = {
	.notifier_call = rvtrace_flight_notify,
	.priority = INT_MAX,
};

/* Stops the trace before a crash kernel is started, which comes before notifiers are called. */
static void rvtrace_flight_hook(bool on)
{
#ifdef RVTRACE_COMPAT
	if (on && rvtrace_compat_before_kexec(rvtrace_flight_stop))
		pr_notice("flight mode: kdump needs crash_kexec_post_notifiers=1, as there is no kprobe at machine_kexec\n");
	if (!on)
		rvtrace_compat_before_kexec(NULL);
#endif
}

static int rvtrace_flight_switch_on(void)
{
	int ret = rvtrace_flight_make_header();

	if (ret)
		return ret;
	rvtrace_get();
	static_branch_enable(&rvtrace_flight_on);
	rvtrace_flight_for_each(rvtrace_flight_give);
	rvtrace_flight_hook(true);
	return 0;
}

static void rvtrace_flight_switch_off(void)
{
	rvtrace_flight_hook(false);
	rvtrace_flight_for_each(rvtrace_flight_take);
	static_branch_disable(&rvtrace_flight_on);
	rvtrace_put();
	rvtrace_flight_free_header();
}

static int rvtrace_flight_update(void)
{
	lockdep_assert_held(&rvtrace_flight_mutex);
	if (!rvtrace_flight_ready || rvtrace_flight_wanted == !!rvtrace_flight_header)
		return 0;
	if (rvtrace_flight_wanted)
		return rvtrace_flight_switch_on();
	rvtrace_flight_switch_off();
	return 0;
}

static int rvtrace_flight_set(const char *text, const struct kernel_param *param)
{
	bool before;
	int ret;

	guard(mutex)(&rvtrace_flight_mutex);
	before = rvtrace_flight_wanted;
	ret = param_set_bool(text, param) ?: rvtrace_flight_update();
	if (ret)
		rvtrace_flight_wanted = before;
	return ret;
}

static const struct kernel_param_ops rvtrace_flight_ops = {
	.set = rvtrace_flight_set,
	.get = param_get_bool,
};

module_param_cb(flight, &rvtrace_flight_ops, &rvtrace_flight_wanted, 0644);
MODULE_PARM_DESC(flight, "trace the kernel all the time, for a dump of a crashed machine");

/* Gives flight mode to a hart that has an encoder now. */
void rvtrace_flight_add_encoder(struct rvtrace_encoder *enc)
{
	guard(mutex)(&rvtrace_flight_mutex);
	guard(cpus_read_lock)();
	if (rvtrace_flight_header)
		rvtrace_flight_give(enc);
}

/* Ends flight mode of a hart whose encoder goes away. The hart does not use it any more. */
void rvtrace_flight_remove_encoder(struct rvtrace_encoder *enc)
{
	guard(mutex)(&rvtrace_flight_mutex);
	guard(cpus_read_lock)();
	rvtrace_flight_take(enc);
}

void rvtrace_flight_init(void)
{
	int ret;

	atomic_notifier_chain_register(&panic_notifier_list, &rvtrace_flight_block);
	guard(mutex)(&rvtrace_flight_mutex);
	rvtrace_flight_ready = true;
	ret = rvtrace_flight_update();
	if (ret)
		pr_err("no flight mode: error %d\n", ret);
}

void rvtrace_flight_exit(void)
{
	scoped_guard(mutex, &rvtrace_flight_mutex) {
		rvtrace_flight_wanted = false;
		rvtrace_flight_update();
		rvtrace_flight_ready = false;
	}
	/* No event is left. */
	flush_work(&rvtrace_flight_work);
	atomic_notifier_chain_unregister(&panic_notifier_list, &rvtrace_flight_block);
}
