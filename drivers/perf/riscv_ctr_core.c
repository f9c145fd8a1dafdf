// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V Control Transfer Records: the PMU "riscv_ctr". At every overflow of its trigger, the
 * records of the hart go to the AUX buffer of the event that runs there (layout:
 * include/uapi/linux/rvtrace.h).
 *
 * The hart's records never outlive the task whose flow they are. The driver empties them when an
 * event is put on a hart, when it is taken off, and, where an event follows a CPU, at every task
 * switch. Call stacks are saved and written back with their task (riscv_ctr_stack.c).
 *
 * Guests are not recorded: while V=1 vsctrctl is in force, which this driver never writes.
 */
#define pr_fmt(fmt) "riscv_ctr: " fmt

#include <linux/bitfield.h>
#include <linux/binfmts.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>

#include "riscv_ctr.h"

/*
 * The kernel's trap entry: code within this distance of stvec calls the interrupt handler. It is
 * looked for where no record shows the interrupt: with RAS emulation, or without types.
 */
#define RISCV_CTR_TRAP_ENTRY_BYTES	1024

DEFINE_PER_CPU(struct riscv_ctr_hart, riscv_ctr_harts);

static bool riscv_ctr_is_draft;
static enum cpuhp_state riscv_ctr_hp_state;

/**
 * struct riscv_ctr_aux - an AUX buffer
 * @base:	its pages, mapped in a row
 * @size:	bytes
 */
struct riscv_ctr_aux {
	void *base;
	size_t size;
};

/**
 * struct riscv_ctr_frame - where a hart's sample is put together
 * @head:	what precedes the entries
 * @entries:	youngest first
 */
struct riscv_ctr_frame {
	struct rvtrace_ctr_sample head;
	struct rvtrace_ctr_entry entries[RISCV_CTR_MAX_DEPTH];
};

static DEFINE_PER_CPU(struct riscv_ctr_frame, riscv_ctr_frames);

/* ------------------------------------------------------------------ reading the records */

/*
 * Stops recording. This is the first thing that the handler does, and it makes no calls: each
 * transfer before it costs a record. Returns the status as it was. The instructions contain the CSR
 * numbers, hence the branch.
 */
static __always_inline unsigned long riscv_ctr_freeze(bool *frozen)
{
	unsigned long status;

	if (riscv_ctr_is_draft) {
		status = csr_read_set(RISCV_CTR_DRAFT_CSR_STATUS, RISCV_CTR_DRAFT_STATUS_FROZEN);
		*frozen = status & RISCV_CTR_DRAFT_STATUS_FROZEN;
	} else {
		status = csr_read_set(RISCV_CTR_CSR_SCTRSTATUS, RISCV_CTR_STATUS_FROZEN);
		*frozen = status & RISCV_CTR_STATUS_FROZEN;
	}
	return status;
}

static __always_inline void riscv_ctr_thaw(void)
{
	if (riscv_ctr_is_draft)
		csr_clear(RISCV_CTR_DRAFT_CSR_STATUS, RISCV_CTR_DRAFT_STATUS_FROZEN);
	else
		csr_clear(RISCV_CTR_CSR_SCTRSTATUS, RISCV_CTR_STATUS_FROZEN);
}

static bool riscv_ctr_in_trap_entry(u64 addr)
{
	u64 entry = csr_read(CSR_STVEC) & ~3UL;

	return addr >= entry && addr - entry < RISCV_CTR_TRAP_ENTRY_BYTES;
}

/*
 * Finds the record of the interrupt: the youngest one that enters the kernel's trap entry. Returns
 * the number of entries up to it, or -1.
 */
static int riscv_ctr_find_interrupt(const struct rvtrace_ctr_entry *entries, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (FIELD_GET(RISCV_CTR_DATA_TYPE, entries[i].data) == RISCV_CTR_TYPE_INTERRUPT &&
		    (entries[i].target & ~1ULL) == (csr_read(CSR_STVEC) & ~3UL))
			return i + 1;
	return -1;
}

/*
 * Finds the call that the trap entry made, where there is no record of the interrupt. Returns the
 * number of entries up to it, or -1. Routines beside the trap entry (the switch to the interrupt
 * stack) make calls, too, but a call led to them.
 */
static int riscv_ctr_find_entry_call(const struct rvtrace_ctr_entry *entries, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (riscv_ctr_in_trap_entry(entries[i].source) &&
		    (i + 1 == nr || !riscv_ctr_in_trap_entry(entries[i + 1].target)))
			return i + 1;
	return -1;
}

/* Returns how many of the youngest entries are the handler's own; -1: not known. */
static int riscv_ctr_own_entries(const struct riscv_ctr_session *session,
				 const struct rvtrace_ctr_entry *entries, unsigned int nr)
{
	if (!session->strip)
		return 0;
	if (session->control & RISCV_CTR_CTL_RASEMU || !riscv_ctr_caps.types)
		return riscv_ctr_find_entry_call(entries, nr);
	return riscv_ctr_find_interrupt(entries, nr);
}

/* Returns whether the entry is only there for riscv_ctr_find_interrupt(). */
static bool riscv_ctr_is_extra(const struct riscv_ctr_session *session,
			       const struct rvtrace_ctr_entry *entry)
{
	return session->written != session->control &&
	       FIELD_GET(RISCV_CTR_DATA_TYPE, entry->data) == RISCV_CTR_TYPE_INTERRUPT;
}

/* Moves the entries that count to the front of the frame. Returns how many there are. */
static unsigned int riscv_ctr_trim(struct riscv_ctr_frame *frame,
				   const struct riscv_ctr_session *session, unsigned int nr)
{
	int own = riscv_ctr_own_entries(session, frame->entries, nr);
	const struct rvtrace_ctr_entry *entry;
	unsigned int i, kept = 0;

	if (own < 0) {
		/* The entries have nothing but the way to the handler. */
		frame->head.flags |= RVTRACE_CTR_F_DISPLACED;
		own = nr;
	}
	frame->head.skipped = own;
	for (i = own; i < nr && kept < session->limit; i++) {
		entry = &frame->entries[i];
		if (riscv_ctr_is_extra(session, entry))
			continue;
		frame->entries[kept].source = entry->source;
		frame->entries[kept].target = entry->target & session->keep_target;
		frame->entries[kept].data = entry->data & session->keep_data;
		kept++;
	}
	return kept;
}

/*
 * Recording resumes after the hart has executed code that it would have recorded. New entries do
 * not follow the old ones, and one sample must not have both. RAS emulation may continue: all that
 * was called meanwhile has returned.
 */
static void riscv_ctr_part(const struct riscv_ctr_session *session, bool frozen)
{
	if ((frozen && session->control & RISCV_CTR_CTL_BPFRZ) ||
	    (session->control & RISCV_CTR_CTL_S && !(session->control & RISCV_CTR_CTL_RASEMU)))
		riscv_ctr->clear();
}

/* ------------------------------------------------------------------ output */

static void riscv_ctr_copy_out(const struct riscv_ctr_aux *aux, unsigned long head,
			       const void *from, size_t bytes)
{
	size_t begin = head % aux->size;
	size_t first = min(bytes, aux->size - begin);

	memcpy(aux->base + begin, from, first);
	memcpy(aux->base, from + first, bytes - first);
}

static void riscv_ctr_output(struct perf_event *event, const struct riscv_ctr_frame *frame)
{
	struct perf_output_handle handle;
	struct riscv_ctr_aux *aux;

	aux = perf_aux_output_begin(&handle, event);
	if (!aux)
		return;
	if (handle.size < frame->head.bytes) {
		/* No room: the event is disabled until user space has read and enables it again. */
		perf_aux_output_flag(&handle, PERF_AUX_FLAG_TRUNCATED);
		perf_aux_output_end(&handle, 0);
		return;
	}
	riscv_ctr_copy_out(aux, handle.head, frame, frame->head.bytes);
	perf_aux_output_end(&handle, frame->head.bytes);
}

static void riscv_ctr_fill_head(struct riscv_ctr_frame *frame, struct perf_event *event,
				const struct riscv_ctr_session *session,
				const struct perf_sample_data *data, const struct pt_regs *regs)
{
	struct rvtrace_ctr_sample *head = &frame->head;

	head->magic = RVTRACE_CTR_MAGIC;
	head->version = RVTRACE_CTR_VERSION;
	head->header_bytes = sizeof(*head);
	head->entry_bytes = sizeof(struct rvtrace_ctr_entry);
	head->time = event->clock();
	head->ip = instruction_pointer((struct pt_regs *)regs);
	head->period = data->period;
	head->trigger_type = session->attr.type;
	head->trigger_config = session->attr.config;
	head->control = session->control;
	head->pid = task_tgid_nr_ns(current, event->ns);
	head->tid = task_pid_nr_ns(current, event->ns);
	head->cpu = smp_processor_id();
	head->privilege = user_mode(regs) ? RVTRACE_CTR_PRIV_U : RVTRACE_CTR_PRIV_S;
	head->layout = riscv_ctr->layout;
	head->depth = session->depth;
	head->limit = session->limit;
	if (session->attr.type == PERF_TYPE_SOFTWARE)
		head->flags |= RVTRACE_CTR_F_SOFTWARE;
}

/**
 * riscv_ctr_overflow - overflow handler of the triggers; on the hart, with interrupts off
 * @trigger:	the counter or clock
 * @data:	its sample
 * @regs:	what was interrupted
 */
static void riscv_ctr_overflow(struct perf_event *trigger, struct perf_sample_data *data,
			       struct pt_regs *regs)
{
	bool frozen;
	unsigned long status = riscv_ctr_freeze(&frozen);
	const struct riscv_ctr_session *session = trigger->overflow_handler_context;
	struct perf_event *event = this_cpu_ptr(&riscv_ctr_harts)->event;
	struct riscv_ctr_frame *frame = this_cpu_ptr(&riscv_ctr_frames);
	unsigned int nr;

	if (!event || riscv_ctr_session_of(event) != session)
		goto thaw;
	frame->head.flags = frozen ? RVTRACE_CTR_F_FROZEN : 0;
	frame->head.write_index = status & RISCV_CTR_STATUS_WRPTR;
	nr = riscv_ctr_read_entries(frame->entries, session->depth,
				    session->control & RISCV_CTR_CTL_RASEMU);
	nr = riscv_ctr_trim(frame, session, nr);
	riscv_ctr_fill_head(frame, event, session, data, regs);
	frame->head.nr = nr;
	frame->head.bytes = sizeof(frame->head) + nr * sizeof(frame->entries[0]);
	riscv_ctr_output(event, frame);
thaw:
	if (event)
		riscv_ctr_part(riscv_ctr_session_of(event), frozen);
	riscv_ctr_thaw();
}

/* ------------------------------------------------------------------ perf's callbacks */

static void riscv_ctr_event_start(struct perf_event *event, int flags)
{
	const struct riscv_ctr_session *session = riscv_ctr_session_of(event);
	struct riscv_ctr_hart *hart = this_cpu_ptr(&riscv_ctr_harts);

	if (!hart->usable || (hart->event && hart->event != event))
		return;
	event->hw.state = 0;
	if (hart->event == event) {
		/* perf stops and starts events at the tick: the records are still the task's. */
		riscv_ctr_part(session, false);
		riscv_ctr->resume(session->written);
		return;
	}
	WRITE_ONCE(hart->event, event);
	riscv_ctr->start(session->written, session->depth);
	riscv_ctr_stack_restore(riscv_ctr_stack_of(event));
}

static void riscv_ctr_event_stop(struct perf_event *event, int flags)
{
	struct riscv_ctr_hart *hart = this_cpu_ptr(&riscv_ctr_harts);

	if (hart->event != event)
		return;
	riscv_ctr->stop();
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int riscv_ctr_event_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START) {
		riscv_ctr_event_start(event, PERF_EF_RELOAD);
		if (event->hw.state & PERF_HES_STOPPED)
			return -EBUSY;
	}
	/*
	 * When two tasks have inherited the same events, perf may swap their contexts instead of
	 * taking events off and on: then no call informs the driver that the task is another one.
	 * This count, which is 0 again after riscv_ctr_event_del(), keeps perf from it.
	 */
	local_inc(&event->ctx->nr_no_switch_fast);
	return 0;
}

static void riscv_ctr_event_del(struct perf_event *event, int flags)
{
	struct riscv_ctr_hart *hart = this_cpu_ptr(&riscv_ctr_harts);

	local_dec(&event->ctx->nr_no_switch_fast);
	riscv_ctr_event_stop(event, PERF_EF_UPDATE);
	if (hart->event != event)
		return;
	riscv_ctr_stack_save(riscv_ctr_stack_of(event));
	riscv_ctr->clear();
	WRITE_ONCE(hart->event, NULL);
}

static void riscv_ctr_event_read(struct perf_event *event)
{
}

static void riscv_ctr_event_destroy(struct perf_event *event)
{
	struct riscv_ctr_event *own = event->pmu_private;

	riscv_ctr_stack_put(own->stack);
	riscv_ctr_session_put(own->session);
	kfree(own);
	event->pmu_private = NULL;
}

static int riscv_ctr_event_init(struct perf_event *event)
{
	struct riscv_ctr_event *own;
	int ret;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	/* Branch stacks in samples are for user space to make of what is in the AUX buffer. */
	if (has_branch_stack(event))
		return -EOPNOTSUPP;
	if (event->cpu >= 0 && !cpumask_test_cpu(event->cpu, &riscv_ctr_cpus))
		return -ENODEV;
	own = kzalloc(sizeof(*own), GFP_KERNEL);
	if (!own)
		return -ENOMEM;
	own->session = riscv_ctr_session_get(event);
	if (IS_ERR(own->session)) {
		ret = PTR_ERR(own->session);
		goto err_free;
	}
	own->stack = riscv_ctr_stack_get(event, own->session);
	if (IS_ERR(own->stack)) {
		ret = PTR_ERR(own->stack);
		goto err_session;
	}
	event->pmu_private = own;
	event->destroy = riscv_ctr_event_destroy;
	return 0;

err_session:
	riscv_ctr_session_put(own->session);
err_free:
	kfree(own);
	return ret;
}

static void *riscv_ctr_setup_aux(struct perf_event *event, void **pages, int nr_pages,
				 bool overwrite)
{
	struct riscv_ctr_aux *aux;
	struct page **list;
	int i;

	aux = kzalloc_node(sizeof(*aux), GFP_KERNEL,
			   event->cpu == -1 ? NUMA_NO_NODE : cpu_to_node(event->cpu));
	list = kvmalloc_array(nr_pages, sizeof(*list), GFP_KERNEL);
	if (aux && list) {
		for (i = 0; i < nr_pages; i++)
			list[i] = virt_to_page(pages[i]);
		aux->size = (size_t)nr_pages << PAGE_SHIFT;
		aux->base = vmap(list, nr_pages, VM_MAP, PAGE_KERNEL);
	}
	kvfree(list);
	if (aux && !aux->base) {
		kfree(aux);
		aux = NULL;
	}
	return aux;
}

static void riscv_ctr_free_aux(void *data)
{
	struct riscv_ctr_aux *aux = data;

	vunmap(aux->base);
	kfree(aux);
}

static struct pmu riscv_ctr_pmu = {
	.module		= THIS_MODULE,
	.capabilities	= PERF_PMU_CAP_EXCLUSIVE,
	/* Software events are scheduled with their task and never fail for want of a counter. */
	.task_ctx_nr	= perf_sw_context,
	.attr_groups	= riscv_ctr_groups,
	.event_init	= riscv_ctr_event_init,
	.add		= riscv_ctr_event_add,
	.del		= riscv_ctr_event_del,
	.start		= riscv_ctr_event_start,
	.stop		= riscv_ctr_event_stop,
	.read		= riscv_ctr_event_read,
	.setup_aux	= riscv_ctr_setup_aux,
	.free_aux	= riscv_ctr_free_aux,
};

/* ------------------------------------------------------------------ harts */

static void riscv_ctr_sched_switch(void *data, bool preempt, struct task_struct *prev,
				   struct task_struct *next, unsigned int prev_state)
{
	const struct perf_event *event = this_cpu_ptr(&riscv_ctr_harts)->event;

	/* perf takes an event of a task off the hart a little later. */
	if (event && !(event->attach_state & PERF_ATTACH_TASK))
		riscv_ctr->clear();
}

/* Drops the records: they are calls and jumps of the program that the task executed before. */
static void riscv_ctr_sched_exec(void *data, struct task_struct *task, pid_t old_pid,
				 struct linux_binprm *bprm)
{
	unsigned long flags;

	local_irq_save(flags);
	if (this_cpu_ptr(&riscv_ctr_harts)->event)
		riscv_ctr->clear();
	local_irq_restore(flags);
}

/**
 * struct riscv_ctr_hook - a tracepoint of the scheduler that the driver listens to
 * @name:	of the tracepoint
 * @probe:	called there
 * @tp:		found by name, because the kernel does not export it
 */
struct riscv_ctr_hook {
	const char *name;
	void *probe;
	struct tracepoint *tp;
};

static struct riscv_ctr_hook riscv_ctr_hooks[] = {
	{ "sched_switch", riscv_ctr_sched_switch },
	{ "sched_process_exec", riscv_ctr_sched_exec },
};

static void riscv_ctr_find_tracepoint(struct tracepoint *tp, void *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(riscv_ctr_hooks); i++)
		if (!strcmp(tp->name, riscv_ctr_hooks[i].name))
			riscv_ctr_hooks[i].tp = tp;
}

static void riscv_ctr_probe_hart(void *data)
{
	this_cpu_ptr(&riscv_ctr_harts)->usable = riscv_ctr_discover_hart();
}

static int riscv_ctr_cpu_online(unsigned int cpu)
{
	unsigned long flags;
	bool usable;

	local_irq_save(flags);
	usable = riscv_ctr->probe();
	if (usable)
		riscv_ctr->stop();
	per_cpu(riscv_ctr_harts, cpu).usable = usable;
	local_irq_restore(flags);
	if (usable)
		cpumask_set_cpu(cpu, &riscv_ctr_cpus);
	return 0;
}

static int riscv_ctr_cpu_offline(unsigned int cpu)
{
	struct riscv_ctr_hart *hart = &per_cpu(riscv_ctr_harts, cpu);
	unsigned long flags;

	cpumask_clear_cpu(cpu, &riscv_ctr_cpus);
	local_irq_save(flags);
	if (hart->usable) {
		riscv_ctr->stop();
		riscv_ctr->clear();
	}
	/* perf takes the event off the hart later. */
	hart->usable = false;
	local_irq_restore(flags);
	return 0;
}

/* ------------------------------------------------------------------ which version */

/*
 * Returns whether @name is an extension of the ISA string, as in "rv64imac_..._ssctr1p0_...". Sets
 * *@rest to what is behind it.
 */
static bool riscv_ctr_in_isa(const char *isa, const char *name, const char **rest)
{
	size_t len = strlen(name);

	for (isa = strchr(isa, '_'); isa; isa = strchr(isa, '_')) {
		isa++;
		if (strncasecmp(isa, name, len))
			continue;
		*rest = isa + len;
		if (!**rest || **rest == '_' || isdigit(**rest))
			return true;
	}
	return false;
}

/*
 * Firmware must name the draft: by "rvtrace,ctr-version", or with its version in the ISA string. A
 * mere "ssctr" is the ratified version.
 */
static const struct riscv_ctr_backend *riscv_ctr_describe(const struct device_node *cpu)
{
	const char *text, *rest;

	if (!of_property_read_string(cpu, "rvtrace,ctr-version", &text)) {
		if (!strcmp(text, riscv_ctr_draft.name))
			return &riscv_ctr_draft;
		if (!strcmp(text, riscv_ctr_v1.name))
			return &riscv_ctr_v1;
		pr_err("version '%s' of Control Transfer Records is not known; there are %s and %s\n",
		       text, riscv_ctr_v1.name, riscv_ctr_draft.name);
		return NULL;
	}
	if (of_property_match_string(cpu, "riscv,isa-extensions", "ssctr") >= 0)
		return &riscv_ctr_v1;
	if (of_property_read_string(cpu, "riscv,isa", &text) ||
	    !riscv_ctr_in_isa(text, "ssctr", &rest))
		return NULL;
	return str_has_prefix(rest, "0p1p4") ? &riscv_ctr_draft : &riscv_ctr_v1;
}

static const struct riscv_ctr_backend *riscv_ctr_choose(void)
{
	const struct riscv_ctr_backend *backend = NULL, *other;
	struct device_node *cpu;

	for_each_of_cpu_node(cpu) {
		other = riscv_ctr_describe(cpu);
		if (backend && other && other != backend) {
			pr_err("harts with different versions of Control Transfer Records\n");
			of_node_put(cpu);
			return NULL;
		}
		if (other)
			backend = other;
	}
	return backend;
}

/* ------------------------------------------------------------------ module */

/*
 * Returns whether the kernel's own PMU of the harts takes samples with branch stacks; then that PMU
 * uses the records. Only opening an event shows it: a PMU without branch stacks refuses this event.
 */
static bool __init riscv_ctr_is_taken(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = LONG_MAX,
		.sample_type = PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpumask_first(cpu_online_mask), NULL, NULL,
						 NULL);
	if (IS_ERR(event))
		return false;
	perf_event_release_kernel(event);
	return true;
}

static int __init riscv_ctr_discover(void)
{
	int cpu;

	/* One after the other, for they change the same structure. */
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, riscv_ctr_probe_hart, NULL, 1);
	if (!cpumask_empty(&riscv_ctr_cpus) &&
	    riscv_ctr_caps.min_depth <= riscv_ctr_caps.max_depth)
		return 0;
	pr_err("the devicetree promises Control Transfer Records %s, but no hart lets the kernel use them; firmware has to set mstateen0\n",
	       riscv_ctr->name);
	return -ENODEV;
}

static void riscv_ctr_unhook(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(riscv_ctr_hooks); i++)
		if (riscv_ctr_hooks[i].tp)
			tracepoint_probe_unregister(riscv_ctr_hooks[i].tp,
						    riscv_ctr_hooks[i].probe, NULL);
	tracepoint_synchronize_unregister();
}

static int __init riscv_ctr_hook_all(void)
{
	unsigned int i;
	int ret;

	for_each_kernel_tracepoint(riscv_ctr_find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(riscv_ctr_hooks); i++) {
		if (!riscv_ctr_hooks[i].tp) {
			pr_err("this kernel has no tracepoint %s (CONFIG_TRACEPOINTS)\n",
			       riscv_ctr_hooks[i].name);
			riscv_ctr_unhook();
			return -EOPNOTSUPP;
		}
		ret = tracepoint_probe_register(riscv_ctr_hooks[i].tp, riscv_ctr_hooks[i].probe,
						NULL);
		if (ret) {
			riscv_ctr_unhook();
			return ret;
		}
	}
	return 0;
}

static int __init riscv_ctr_init(void)
{
	int ret;

	riscv_ctr = riscv_ctr_choose();
	if (!riscv_ctr)
		return -ENODEV;
	riscv_ctr_is_draft = riscv_ctr == &riscv_ctr_draft;
	if (riscv_ctr_is_taken()) {
		pr_info("the kernel's own PMU has branch stacks (perf record -b): it keeps the Control Transfer Records\n");
		return -ENODEV;
	}
	ret = riscv_ctr_discover();
	if (ret)
		return ret;
	ret = riscv_ctr_session_init(riscv_ctr_overflow);
	if (ret)
		return ret;
	ret = riscv_ctr_hook_all();
	if (ret)
		goto err_session;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "perf/riscv/ctr:online",
					riscv_ctr_cpu_online, riscv_ctr_cpu_offline);
	if (ret < 0)
		goto err_unhook;
	riscv_ctr_hp_state = ret;
	ret = perf_pmu_register(&riscv_ctr_pmu, "riscv_ctr", -1);
	if (ret)
		goto err_hotplug;
	pr_info("Control Transfer Records %s, up to %u entries\n", riscv_ctr->name,
		riscv_ctr_caps.max_depth);
	return 0;

err_hotplug:
	cpuhp_remove_state_nocalls(riscv_ctr_hp_state);
err_unhook:
	riscv_ctr_unhook();
err_session:
	riscv_ctr_session_exit();
	return ret;
}

static void __exit riscv_ctr_exit(void)
{
	perf_pmu_unregister(&riscv_ctr_pmu);
	cpuhp_remove_state_nocalls(riscv_ctr_hp_state);
	riscv_ctr_unhook();
	riscv_ctr_session_exit();
}

module_init(riscv_ctr_init);
module_exit(riscv_ctr_exit);

MODULE_DESCRIPTION("RISC-V Control Transfer Records PMU");
MODULE_LICENSE("GPL");
