/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace components: what the parts of the driver know of each other.
 */
#ifndef _RVTRACE_H
#define _RVTRACE_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/types.h>
#include <kunit/visibility.h>

#include "rvtrace-regs.h"

/* A handshake that takes longer means that the component is broken (microseconds) */
#define RVTRACE_TIMEOUT_US			10000
/* Pieces that the memory of an AUX buffer may consist of for sinks to write into it */
#define RVTRACE_AUX_RUNS			64

/* How long a sink that stopped itself is given to become empty (microseconds) */
#define RVTRACE_EMPTY_US			100

#define RVTRACE_MAX_OUTPUTS			8
#define RVTRACE_MAX_PATHS			8
#define RVTRACE_MAX_HOPS			8

/* perf_event_attr.config */
#define RVTRACE_CONFIG_EVENT			BIT_ULL(0)
#define RVTRACE_CONFIG_BRANCH_PREDICTION	BIT_ULL(1)
#define RVTRACE_CONFIG_JUMP_TARGET_CACHE	BIT_ULL(2)
#define RVTRACE_CONFIG_IMPLICIT_RETURN		BIT_ULL(3)
#define RVTRACE_CONFIG_SEQUENTIAL_JUMP		BIT_ULL(4)
#define RVTRACE_CONFIG_REPEATED_HISTORY		BIT_ULL(5)
#define RVTRACE_CONFIG_ALL_JUMPS		BIT_ULL(6)
#define RVTRACE_CONFIG_EXTEND_ADDRESS_MSB	BIT_ULL(7)
#define RVTRACE_CONFIG_FULL_ADDRESS		BIT_ULL(8)
#define RVTRACE_CONFIG_IMPLICIT_EXCEPTION	BIT_ULL(9)
#define RVTRACE_CONFIG_IMPLICIT_RETURN_MODE	GENMASK_ULL(11, 10)
#define RVTRACE_CONFIG_MODE			GENMASK_ULL(14, 12)
#define RVTRACE_CONFIG_CONTEXT			BIT_ULL(15)
#define RVTRACE_CONFIG_TIMESTAMP		BIT_ULL(16)
#define RVTRACE_CONFIG_STALL			BIT_ULL(17)
#define RVTRACE_CONFIG_SYNCMODE			GENMASK_ULL(19, 18)
#define RVTRACE_CONFIG_SYNCMAX			GENMASK_ULL(23, 20)
#define RVTRACE_CONFIG_FORMAT			GENMASK_ULL(26, 24)
#define RVTRACE_CONFIG_MACHINE			BIT_ULL(27)
#define RVTRACE_CONFIG_CAUSES			GENMASK_ULL(29, 28)
#define   RVTRACE_CAUSES_EXCEPTIONS		1
#define   RVTRACE_CAUSES_INTERRUPTS		2
#define RVTRACE_CONFIG_TRIGGER			BIT_ULL(30)
#define RVTRACE_CONFIG_HCONTEXT			BIT_ULL(31)
#define RVTRACE_CONFIG_ALL			GENMASK_ULL(31, 0)
/* perf_event_attr.config1: duty cycle, in microseconds */
#define RVTRACE_CONFIG1_WINDOW			GENMASK_ULL(31, 0)
#define RVTRACE_CONFIG1_PERIOD			GENMASK_ULL(63, 32)
/* perf_event_attr.config2 */
#define RVTRACE_CONFIG2_SINK			GENMASK_ULL(31, 0)
#define RVTRACE_CONFIG2_THREAD			GENMASK_ULL(63, 32)

enum rvtrace_type {
	RVTRACE_TYPE_ENCODER	= 0x1,
	RVTRACE_TYPE_FUNNEL	= 0x8,
	RVTRACE_TYPE_RAMSINK	= 0x9,
	RVTRACE_TYPE_PIBSINK	= 0xa,
	RVTRACE_TYPE_ATBBRIDGE	= 0xe,
	RVTRACE_TYPES
};

/* trTeInstMode */
#define RVTRACE_MODE_BASELINE			3
#define RVTRACE_MODE_OPTIMIZED			6

/* trTeFormat */
enum rvtrace_format {
	RVTRACE_FORMAT_ETRACE,
	RVTRACE_FORMAT_NTRACE,
	RVTRACE_FORMATS
};

/* CSRs that can tell an encoder which thread runs */
enum rvtrace_context {
	RVTRACE_CONTEXT_NONE,
	RVTRACE_CONTEXT_SCONTEXT,
	RVTRACE_CONTEXT_HCONTEXT,
	RVTRACE_CONTEXTS
};

/* What E-Trace is like on the wire; names are in rvtrace-discovery.c */
enum rvtrace_dialect {
	RVTRACE_DIALECT_0_029,
	RVTRACE_DIALECT_2_0,
	RVTRACE_DIALECT_2_0_5,
	RVTRACE_DIALECTS
};

/* Discovery attributes of all dialects */
#define RVTRACE_ATTRIBUTES			36

/**
 * struct rvtrace_discovery - what an E-Trace encoder says of itself
 * @dialect:	version of the specification
 * @values:	discovery attributes in the order of the sysfs group
 */
struct rvtrace_discovery {
	enum rvtrace_dialect dialect;
	u32 values[RVTRACE_ATTRIBUTES];
};

struct rvtrace_component;
struct rvtrace_cpu;
struct rvtrace_ramsink;

/**
 * struct rvtrace_ops - what differs between the types of component
 * @name:	device names are this and a number
 * @size:	size of the structure that begins with the struct rvtrace_component
 * @groups:	sysfs attributes
 * @probe:	find out what the hardware takes; the component is active and disabled
 * @reset:	give every register that is undefined at reset a value; the component has just
 *		been activated. Must not sleep.
 * @enable:	set up and enable a component that is on the path of a hart. Must not sleep.
 */
struct rvtrace_ops {
	const char *name;
	size_t size;
	const struct attribute_group **groups;
	int (*probe)(struct rvtrace_component *comp);
	int (*reset)(struct rvtrace_component *comp);
	int (*enable)(struct rvtrace_component *comp, struct rvtrace_cpu *rc);
};

/**
 * struct rvtrace_output - a connection
 * @to:		where trace goes to
 * @port:	at which of its inputs it arrives
 */
struct rvtrace_output {
	struct rvtrace_component *to;
	unsigned int port;
};

/**
 * struct rvtrace_ts - the timestamp unit of an encoder or of a funnel
 * @mode:	trTsMode in use, 0 without such a unit
 * @width:	bits of the counter
 */
struct rvtrace_ts {
	u8 mode;
	u8 width;
};

/**
 * struct rvtrace_component - one block of trace registers
 * @dev:	device on the rvtrace bus; its parent is the platform device
 * @ops:	functions of its type
 * @base:	registers
 * @list:	entry in the list of all components
 * @type:	trace component type
 * @impl:	value of tr??Impl
 * @number:	number among the components of its type
 * @sink_id:	what "sink" of an event names it by; 0 when it is not a sink
 * @active:	out of reset: registers other than Control may be touched
 * @broken:	a handshake timed out; not used any more
 * @control:	what Control was last written with
 * @outputs:	where its trace goes to
 * @nr_outputs:	number of entries in @outputs
 * @ts:		its timestamp unit
 * @users:	harts that trace through it, where others can, too
 * @lock:	of a sink that is no RAM sink and that only one encoder can reach: protects @users,
 *		@running, @opener and its settings
 * @running:	of a sink: harts that trace into it, or the only one that can
 * @opener:	of a sink: the process whose events they run
 */
struct rvtrace_component {
	struct device dev;
	const struct rvtrace_ops *ops;
	void __iomem *base;
	struct list_head list;
	enum rvtrace_type type;
	u32 impl;
	int number;
	u32 sink_id;
	bool active;
	bool broken;
	u32 control;
	struct rvtrace_output outputs[RVTRACE_MAX_OUTPUTS];
	unsigned int nr_outputs;
	struct rvtrace_ts ts;
	unsigned int users;
	raw_spinlock_t lock; /* nests inside locks of perf and of the scheduler */
	struct cpumask running;
	const struct pid *opener;
};

/**
 * struct rvtrace_path - the way from an encoder to a sink
 * @hops:	components after the encoder; the last is the sink
 * @ports:	input of each hop
 * @nr_hops:	number of entries in @hops
 * @sink:	the last of @hops
 * @ram:	the same when it is a sink whose trace can be read here, else NULL
 * @lock:	protects who uses the components and what runs; NULL: nobody else can come here
 */
struct rvtrace_path {
	struct rvtrace_component *hops[RVTRACE_MAX_HOPS];
	u8 ports[RVTRACE_MAX_HOPS];
	unsigned int nr_hops;
	struct rvtrace_component *sink;
	struct rvtrace_ramsink *ram;
	raw_spinlock_t *lock;
};

/**
 * struct rvtrace_caps - what an encoder takes in one trace format
 * @modes:		bit per value of trTeInstMode
 * @sync_modes:		bit per value of trTeInstSyncMode
 * @sync_max:		bit per value of trTeInstSyncMax
 * @return_modes:	bit per value of trTeInstImplicitReturnMode
 * @control:		single-bit options of trTeControl
 * @features:		single-bit options of trTeInstFeatures
 */
struct rvtrace_caps {
	u8 modes;
	u8 sync_modes;
	u16 sync_max;
	u8 return_modes;
	u32 control;
	u32 features;
};

/**
 * struct rvtrace_program - what an event's options are in registers
 * @control:	trTeControl, without Active, Enable and InstTracing
 * @features:	trTeInstFeatures, without SRC
 * @filter:	trTeFilterControl, without comparators; 0 when everything is traced
 * @match:	trTeFilterMatchInst
 * @ecause:	trTeFilterMatchEcause
 * @thread:	the only value of scontext that is traced; 0: all are
 * @timestamp:	trTsEnable
 */
struct rvtrace_program {
	u32 control;
	u32 features;
	u32 filter;
	u32 match;
	u64 ecause;
	u32 thread;
	bool timestamp;
};

/**
 * struct rvtrace_encoder - a trace encoder
 * @comp:		the component
 * @cpu:		the hart that it traces
 * @online:		the hart is up
 * @formats:		bit per value of trTeFormat
 * @format:		the format that is used when the user does not care
 * @caps:		what it takes, by format
 * @discovery:		what it says of itself, if it has E-Trace
 * @shares:		it can reach a funnel, so its trace must carry SRC
 * @src_id:		what trTeSrcID is set to
 * @src_bits:		width of SRC in the trace, 0 when there is none
 * @inhibit_src:	trTeInhibitSrc is what keeps SRC out of the trace
 * @filters:		trTeInstFilters: bit per filter
 * @privilege_set:	privilege modes that a filter can let through
 * @privilege_clear:	privilege modes that a filter can hold back
 * @filter_options:	match conditions that a filter has
 * @comparators:	number of address comparators
 * @context_filter:	the last of them can compare scontext, too
 * @trig_ext_in:	trTeTrigExtInControl for events with "trigger"
 * @trig_ext_out:	trTeTrigExtOutControl for events with "trigger"
 * @trig_dbg:		trTeTrigDbgControl for events with "trigger"
 * @config:		serial number of the configuration that it is programmed with, or 0
 * @program:		what it is programmed with
 * @paths:		ways to sinks; the first is the default
 * @nr_paths:		number of entries in @paths
 */
struct rvtrace_encoder {
	struct rvtrace_component comp;
	int cpu;
	bool online;
	u8 formats;
	enum rvtrace_format format;
	struct rvtrace_caps caps[RVTRACE_FORMATS];
	struct rvtrace_discovery discovery;
	bool shares;
	u16 src_id;
	u8 src_bits;
	bool inhibit_src;
	u16 filters;
	u8 privilege_set;
	u8 privilege_clear;
	u32 filter_options;
	u8 comparators;
	bool context_filter;
	u32 trig_ext_in;
	u32 trig_ext_out;
	u32 trig_dbg;
	u64 config;
	struct rvtrace_program program;
	struct rvtrace_path paths[RVTRACE_MAX_PATHS];
	unsigned int nr_paths;
};

/**
 * struct rvtrace_ramsink - a RAM sink
 * @comp:		the component
 * @smem:		it writes to system memory, else to a memory of its own
 * @stop_on_wrap:	the hardware can stop when it is full
 * @access:		memory access width in bytes (A in the specification); 0: not known yet
 * @high_bits:		address bits that Start, Limit and WP have above bit 31
 * @mutex:		protects @vaddr, @start, @alloc and @buffers
 * @vaddr:		buffer in system memory
 * @start:		its bus address; 0 for a memory of the sink's own
 * @alloc:		size of the buffer in bytes
 * @buffers:		AUX buffers for which the buffer is kept
 * @owner:		the process whose trace was last in the buffer
 * @dirty:		number of bytes that hold trace of @owner
 * @choosy:		the hardware does not take the address of an AUX buffer
 * @base:		what Start is programmed with
 * @length:		bytes from Start to Limit and its unit; 0: they are not programmed
 * @from:		offset from @base at which the sink was started
 * @size:		how many bytes it could take from there
 * @direct:		it writes into the AUX buffer
 * @traced:		bytes that it delivered since it was found
 * @copied:		how many of them had to be copied
 */
struct rvtrace_ramsink {
	struct rvtrace_component comp;
	bool smem;
	bool stop_on_wrap;
	u32 access;
	u32 high_bits;
	struct mutex mutex; /* of the buffer */
	void *vaddr;
	dma_addr_t start;
	size_t alloc;
	unsigned int buffers;
	const struct pid *owner;
	size_t dirty;
	bool choosy;
	dma_addr_t base;
	size_t length;
	size_t from;
	size_t size;
	bool direct;
	size_t stopped;
	u64 stopped_aux;
	unsigned long stopped_head;
	u64 traced;
	u64 copied;
};

/**
 * struct rvtrace_funnel - a funnel
 * @comp:	the component
 * @maskable:	inputs that can be closed
 * @forked:	inputs from components that feed others, too
 * @open:	inputs that are not closed while it is enabled
 */
struct rvtrace_funnel {
	struct rvtrace_component comp;
	u32 maskable;
	u32 forked;
	u32 open;
};

/**
 * struct rvtrace_pibsink - a PIB sink
 * @comp:	the component
 * @modes:	bit per value of trPibMode
 * @control:	settings in trPibControl
 */
struct rvtrace_pibsink {
	struct rvtrace_component comp;
	u32 modes;
	u32 control;
};

/**
 * struct rvtrace_atbbridge - an ATB bridge
 * @comp:	the component
 * @id:		trAtbBridgeID, 0 until user space sets one
 * @async_freq:	trAtbBridgeAsyncFreq
 */
struct rvtrace_atbbridge {
	struct rvtrace_component comp;
	u32 id;
	u32 async_freq;
};

/**
 * struct rvtrace_range - where an address filter lets trace through
 * @mode:	RVTRACE_MATCH_*
 * @first:	first address; of a latch, where trace starts
 * @last:	last address; of a latch, where trace stops
 */
struct rvtrace_range {
	u32 mode;
	u64 first;
	u64 last;
};

/**
 * struct rvtrace_config - what an event asks for
 * @serial:	changes with the contents; never the same for two openers, never 0
 * @opener:	the process that opened it
 * @cpu:	hart that it ran on last, -1 before the first
 * @sink:	number of the sink that was asked for, or 0
 * @context:	the CSR that is to have the thread's id
 * @patient:	its records may wait when its task is switched out
 * @explicit:	its trace says whose it is, and when it was
 * @window_ns:	how long to trace in each period; 0: always
 * @pause_ns:	how long not to trace
 * @thread_event:	entry in the list of events that were opened with a thread filter
 * @filtered:	there are address filters
 * @nr_ranges:	number of entries in @ranges
 * @ranges:	where to trace
 * @exclude:	where not to trace, if its mode is RVTRACE_MATCH_NOT_BOTH
 */
struct rvtrace_config {
	u64 serial;
	struct pid *opener;
	int cpu;
	u32 sink;
	enum rvtrace_context context;
	bool patient;
	bool explicit;
	u64 window_ns;
	u64 pause_ns;
	struct list_head thread_event;
	bool filtered;
	unsigned int nr_ranges;
	struct rvtrace_range ranges[RVTRACE_TE_COMPARATORS];
	struct rvtrace_range exclude;
};

/**
 * struct rvtrace_run - a piece of an AUX buffer that is contiguous in memory
 * @addr:	address of its first byte
 * @start:	its offset in the AUX buffer
 * @end:	offset of what is behind it
 */
struct rvtrace_run {
	void *addr;
	size_t start;
	size_t end;
};

/**
 * struct rvtrace_aux_sink - a RAM sink whose trace goes to an AUX buffer
 * @sink:	the sink; its own buffer is held
 * @direct:	it can write into the AUX buffer
 * @runs:	bus addresses of the AUX buffer's pieces, if so
 */
struct rvtrace_aux_sink {
	struct rvtrace_ramsink *sink;
	bool direct;
	dma_addr_t runs[RVTRACE_AUX_RUNS];
};

/**
 * struct rvtrace_aux - an AUX buffer
 * @serial:	no other AUX buffer has the same
 * @base:	its pages, mapped in one piece
 * @size:	size in bytes
 * @overwrite:	old data gives way to new
 * @guard:	in overwrite mode, what no trace has
 * @guarded:	that is in the buffer while a sink writes, to see whether it came so far
 * @guard_head:	where
 * @reserve:	a sink is not started where it could write less than this
 * @nr_runs:	number of entries in @runs; 0 when there would be too many
 * @runs:	its memory
 * @nr_sinks:	number of entries in @sinks
 * @sinks:	RAM sinks that the event may use
 */
struct rvtrace_aux {
	u64 serial;
	void *base;
	size_t size;
	bool overwrite;
	u64 guard;
	bool guarded;
	unsigned long guard_head;
	size_t reserve;
	unsigned int nr_runs;
	struct rvtrace_run runs[RVTRACE_AUX_RUNS];
	unsigned int nr_sinks;
	struct rvtrace_aux_sink sinks[] __counted_by(nr_sinks);
};

/**
 * struct rvtrace_stretch - the part of an AUX buffer that a sink may write next
 * @start:	bus address of the piece of memory that it is in
 * @from:	offset in the piece at which it begins
 * @end:	offset of what is behind it
 */
struct rvtrace_stretch {
	dma_addr_t start;
	size_t from;
	size_t end;
};

/**
 * struct rvtrace_cpu - what a hart is tracing
 * @handle:	where the trace goes to
 * @aux:	the AUX buffer while a record is open in @handle, or NULL
 * @direct:	how the sink writes into it, or NULL
 * @written:	bytes put into it since the record was opened, or that wait for one
 * @waiting:	event whose trace is in the AUX buffer without a record, or NULL; no record is open
 *		then
 * @waiting_lock: while that record is written, by this hart or the one that its event moved to
 * @waiting_aux:	serial number of that AUX buffer
 * @waiting_task: who was traced, at least at its end. He lives: see rvtrace_run_tell_task()
 * @tell:	a call to this hart, to write that record
 * @leaving:	the task that the hart left last; while it is @current, the hart is about to
 * @next_has_events: the task that it came to then has events of perf
 * @followed:	the task whose id was put into a context CSR when the hart came to it, or NULL
 * @followed_by: the last CSR in which that was done
 * @changed:	perf has started or stopped an event since it last enabled the PMU
 * @event:	running event, or NULL
 * @running:	it has been started, and is not being stopped or drained
 * @parked:	event that goes on when the hart has slept, or NULL
 * @encoder:	the hart's encoder, or NULL
 * @path:	way to the sink while @event runs
 * @timer:	drains the sink before it is full
 * @timer_room:	bytes that the sink must have room for, for @timer to be soon enough; 0: it is not
 *		pending
 * @window:	opens and closes the window of a duty cycle
 * @outside:	the window is closed
 * @started:	when @event was started, in cycles of the timebase
 * @cycles:	how long events have run before
 * @poll_cycles:	how long they had when the sink was last looked at
 * @poll_traced:	bytes that it had delivered then
 * @rate:	bytes per 2^20 ns, a decaying maximum
 */
struct rvtrace_cpu {
	struct perf_output_handle handle;
	struct rvtrace_aux *aux;
	const struct rvtrace_aux_sink *direct;
	size_t written;
	struct perf_event *waiting;
	raw_spinlock_t waiting_lock;
	u64 waiting_aux;
	struct task_struct *waiting_task;
	call_single_data_t tell;
	const struct task_struct *leaving;
	bool next_has_events;
	const struct task_struct *followed;
	enum rvtrace_context followed_by;
	bool changed;
	struct perf_event *event;
	bool running;
	struct perf_event *parked;
	struct rvtrace_encoder *encoder;
	struct rvtrace_path *path;
	struct hrtimer timer;
	u64 timer_room;
	struct hrtimer window;
	bool outside;
	u64 started;
	u64 cycles;
	u64 poll_cycles;
	u64 poll_traced;
	u64 rate;
};

DECLARE_PER_CPU(struct rvtrace_cpu, rvtrace_cpus);

#define to_rvtrace_component(d)	container_of(d, struct rvtrace_component, dev)
#define to_rvtrace_encoder(c)	container_of(c, struct rvtrace_encoder, comp)
#define to_rvtrace_ramsink(c)	container_of(c, struct rvtrace_ramsink, comp)
#define to_rvtrace_funnel(c)	container_of(c, struct rvtrace_funnel, comp)
#define to_rvtrace_pibsink(c)	container_of(c, struct rvtrace_pibsink, comp)
#define to_rvtrace_atbbridge(c)	container_of(c, struct rvtrace_atbbridge, comp)

/*
 * Accesses to one component come in order. What follows one to another component comes after it has
 * answered a poll. Only RAM sinks touch memory, so only they need barriers.
 */
static inline u32 rvtrace_read(struct rvtrace_component *comp, u32 reg)
{
	return readl_relaxed(comp->base + reg);
}

static inline void rvtrace_write(struct rvtrace_component *comp, u32 reg, u32 value)
{
	writel_relaxed(value, comp->base + reg);
}

/* Writes and says what the hardware made of it */
static inline u32 rvtrace_try(struct rvtrace_component *comp, u32 reg, u32 value)
{
	rvtrace_write(comp, reg, value);
	return rvtrace_read(comp, reg);
}

struct rvtrace_path *rvtrace_encoder_find_path(struct rvtrace_encoder *enc, u32 sink);

/* The way to the sink with the given number, or to the default sink for 0; NULL: there is none */
static inline struct rvtrace_path *rvtrace_encoder_path(struct rvtrace_encoder *enc, u32 sink)
{
	return sink ? rvtrace_encoder_find_path(enc, sink) : &enc->paths[0];
}

/* It leads to a RAM sink that only one encoder can reach. */
static inline bool rvtrace_path_is_own(const struct rvtrace_path *path)
{
	return !path->lock;
}

static inline struct rvtrace_config *rvtrace_event_config(const struct perf_event *event)
{
	return event->pmu_private;
}

/* Called in a switch of tasks, by perf: the hart leaves the running task. */
static inline bool rvtrace_is_leaving(const struct rvtrace_cpu *rc)
{
	return rc->leaving == current;
}

/* rvtrace_output_written - the sink itself has put trace behind what the record holds so far */
static inline void rvtrace_output_written(struct rvtrace_cpu *rc, size_t size)
{
	if (rc->aux && rc->aux->overwrite)
		rc->handle.head += size;
	rc->written += size;
}

/*
 * Starts or ends the trace. The message that it ends is flushed with the rest when the encoder is
 * disabled: Empty need not become 1 before.
 */
static inline void rvtrace_encoder_set_tracing(struct rvtrace_encoder *enc, bool tracing)
{
	struct rvtrace_component *comp = &enc->comp;

	if (tracing)
		comp->control |= RVTRACE_TE_CONTROL_INST_TRACING;
	else
		comp->control &= ~RVTRACE_TE_CONTROL_INST_TRACING;
	rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
}

/* Whether the encoder had to drop messages since it was enabled: says @control */
static inline bool rvtrace_encoder_lost(const struct rvtrace_encoder *enc, u32 control)
{
	return control & RVTRACE_TE_CONTROL_INST_STALL_OR_OVERFLOW &&
	       !(enc->comp.control & RVTRACE_TE_CONTROL_INST_STALL_ENA);
}

/* A file of sysfs that shows something of the component @comp */
#define RVTRACE_ATTR_RO(_name, _format, ...)						\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr, char *buf)	\
{											\
	const struct rvtrace_component *comp = to_rvtrace_component(dev);		\
											\
	return sysfs_emit(buf, _format "\n", __VA_ARGS__);				\
}											\
static DEVICE_ATTR_RO(_name)

/* AUX pause and resume came with Linux 6.13. */
static inline bool rvtrace_event_paused(const struct perf_event *event)
{
#ifdef PERF_PMU_CAP_AUX_PAUSE
	return event->hw.aux_paused;
#else
	return false;
#endif
}

/* From files that call nobody else of these to files that call all */

/* rvtrace-component.c */
extern struct mutex rvtrace_mutex;
extern struct list_head rvtrace_components;
extern const struct bus_type rvtrace_bus;
extern const struct attribute_group rvtrace_component_group;

u64 rvtrace_new_serial(void);
int rvtrace_refuse(const struct rvtrace_encoder *enc, const char *what);
struct rvtrace_encoder *rvtrace_encoder_of(unsigned int cpu);
void rvtrace_fail(struct rvtrace_component *comp, const char *what);
int rvtrace_wait_quietly(struct rvtrace_component *comp, u32 mask, u32 value, u32 timeout_us);
int rvtrace_wait(struct rvtrace_component *comp, u32 mask, u32 value, const char *what);
int rvtrace_activate(struct rvtrace_component *comp);
void rvtrace_deactivate(struct rvtrace_component *comp);
int rvtrace_enable(struct rvtrace_component *comp, u32 control);
void rvtrace_component_init(struct rvtrace_component *comp, struct device *parent);

/* rvtrace-timestamp.c */
extern const struct attribute_group rvtrace_ts_group;

void rvtrace_ts_probe(struct rvtrace_component *comp);
void rvtrace_ts_set(struct rvtrace_component *comp, bool on);

/* rvtrace-discovery.c */
extern const struct attribute_group rvtrace_discovery_group;

int rvtrace_discovery_probe(struct rvtrace_encoder *enc);
ssize_t rvtrace_discovery_emit(const struct rvtrace_encoder *enc, char *buf, ssize_t len);

/* rvtrace-filter.c */
void rvtrace_filter_probe(struct rvtrace_encoder *enc);
int rvtrace_filter_configure(const struct rvtrace_encoder *enc, const struct perf_event_attr *attr,
			     struct rvtrace_program *program);
int rvtrace_filter_program(struct rvtrace_encoder *enc, const struct rvtrace_config *config);
int rvtrace_filter_validate(struct list_head *filters);
void rvtrace_filter_sync(struct perf_event *event);
void rvtrace_filter_open(struct rvtrace_config *config, const struct perf_event *event);
void rvtrace_filter_close(struct rvtrace_config *config);
unsigned int rvtrace_filter_count(const struct rvtrace_encoder *enc);

/* rvtrace-encoder-probe.c */
int rvtrace_encoder_probe(struct rvtrace_component *comp);

/* rvtrace-encoder-sysfs.c */
extern const struct attribute_group *rvtrace_encoder_groups[];

const char *rvtrace_format_name(enum rvtrace_format format);
ssize_t rvtrace_features_emit(char *buf, u32 features, u32 control, bool timestamp);
ssize_t rvtrace_values_emit(char *buf, unsigned long values, unsigned int first);

/* rvtrace-encoder.c */
extern const struct rvtrace_ops rvtrace_encoder_ops;

int rvtrace_encoder_configure(const struct rvtrace_encoder *enc,
			      const struct perf_event_attr *attr, struct rvtrace_program *program);
int rvtrace_encoder_start(struct rvtrace_encoder *enc, struct perf_event *event, bool tracing);

/* rvtrace-output.c */
void rvtrace_output_copy(struct rvtrace_cpu *rc, const void *data, size_t size);
bool rvtrace_output_stretch(struct rvtrace_cpu *rc, const struct rvtrace_ramsink *sink,
			    struct rvtrace_stretch *stretch);
bool rvtrace_output_unguard(struct rvtrace_cpu *rc);
unsigned long rvtrace_output_head(const struct rvtrace_cpu *rc);
void rvtrace_output_flag(struct rvtrace_cpu *rc, u64 flag);
void rvtrace_output_gap(struct rvtrace_cpu *rc);
bool rvtrace_output_begin(struct rvtrace_cpu *rc);
bool rvtrace_output_end(struct rvtrace_cpu *rc);
void rvtrace_output_wait(struct rvtrace_cpu *rc);
void rvtrace_output_tell(struct rvtrace_cpu *rc);
void rvtrace_output_fetch(struct rvtrace_cpu *rc, const struct perf_event *event, int cpu);
bool rvtrace_output_next(struct rvtrace_cpu *rc);

/* rvtrace-ramsink.c */
extern const struct rvtrace_ops rvtrace_ramsink_ops;

int rvtrace_ramsink_get_buffer(struct rvtrace_ramsink *sink, size_t wanted);
void rvtrace_ramsink_put_buffer(struct rvtrace_ramsink *sink);
bool rvtrace_ramsink_stopped_itself(struct rvtrace_ramsink *sink);
int rvtrace_ramsink_restart(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc);
size_t rvtrace_ramsink_fill(struct rvtrace_ramsink *sink);
void rvtrace_ramsink_drain(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc);

/* rvtrace-funnel.c, rvtrace-atbbridge.c, rvtrace-pibsink.c */
extern const struct rvtrace_ops rvtrace_funnel_ops;
extern const struct rvtrace_ops rvtrace_atbbridge_ops;
extern const struct rvtrace_ops rvtrace_pibsink_ops;

bool rvtrace_funnel_open(struct rvtrace_component *comp, unsigned int port);

/* rvtrace-path.c */
unsigned long rvtrace_sink_lock(struct rvtrace_component *comp);
void rvtrace_sink_unlock(struct rvtrace_component *comp, unsigned long flags);
int rvtrace_paths_find(struct rvtrace_encoder *enc);
bool rvtrace_path_conflict(const struct rvtrace_encoder *enc, const struct rvtrace_path *path);

/* rvtrace-session.c */
int rvtrace_path_start(struct rvtrace_cpu *rc);
void rvtrace_path_stop(struct rvtrace_cpu *rc);
bool rvtrace_path_drain(struct rvtrace_cpu *rc);
void rvtrace_path_collect(struct rvtrace_cpu *rc);
bool rvtrace_path_traces(const struct rvtrace_cpu *rc);

/* rvtrace-run.c */
int rvtrace_session_start(struct rvtrace_cpu *rc, struct perf_event *event);
void rvtrace_session_stop(struct rvtrace_cpu *rc);
void rvtrace_run_drain(void);
void rvtrace_run_tell(void);
void rvtrace_run_tell_task(const struct task_struct *task);
void rvtrace_run_tell_event(const struct perf_event *event);
void rvtrace_run_halt(void);
void rvtrace_run_park(void);
void rvtrace_run_unpark(void);
void rvtrace_run_init(void);
void rvtrace_run_exit(void);

/* rvtrace-context.c */
int rvtrace_context_init(void);
void rvtrace_context_exit(void);
int rvtrace_context_get(enum rvtrace_context context);
void rvtrace_context_put(enum rvtrace_context context);
unsigned int rvtrace_context_bits(enum rvtrace_context context);
int rvtrace_context_of(const struct perf_event_attr *attr);
void rvtrace_context_write(struct rvtrace_cpu *rc, enum rvtrace_context context);

/* rvtrace-power.c */
int rvtrace_register(struct rvtrace_component *comp);
void rvtrace_unregister(struct rvtrace_component *comp);
void rvtrace_get(void);
void rvtrace_put(void);
int rvtrace_suspend(struct rvtrace_component *comp);
int rvtrace_resume(struct rvtrace_component *comp);
int rvtrace_power_init(void);
void rvtrace_power_exit(void);
void rvtrace_power_flush(void);

/* rvtrace-aux.c */
void *rvtrace_setup_aux(struct perf_event *event, void **pages, int nr_pages, bool overwrite);
void rvtrace_free_aux(void *data);

/* rvtrace-sample.c */
bool rvtrace_sample_init(void);
long rvtrace_event_snapshot_aux(struct perf_event *event, struct perf_output_handle *handle,
				unsigned long size);

/* rvtrace-pmu-sysfs.c */
extern const struct attribute_group *rvtrace_pmu_groups[];

/* rvtrace-pmu.c */
int rvtrace_pmu_add_encoder(struct rvtrace_encoder *enc);
void rvtrace_pmu_remove_encoder(struct rvtrace_encoder *enc);
void rvtrace_pmu_unregister(void);
void rvtrace_pmu_init(void);

/* rvtrace-platform.c */
int rvtrace_platform_register(void);
void rvtrace_platform_unregister(void);

/* For rvtrace-kunit.c; static without CONFIG_KUNIT */
#if IS_ENABLED(CONFIG_KUNIT)
int rvtrace_check_version(struct device *dev, u32 impl);
int rvtrace_probe_src(struct rvtrace_encoder *enc);
void rvtrace_sync_one(struct rvtrace_config *config, const struct perf_addr_filter *filter,
		      u64 start, u64 size);
u32 rvtrace_ramsink_unit(u64 start, u64 end, u64 limit, u32 access);
bool rvtrace_ramsink_position(const struct rvtrace_ramsink *sink, u32 wp, size_t *fill, bool *wrap);
size_t rvtrace_ramsink_written(const struct rvtrace_ramsink *sink, size_t fill, bool wrap,
			       bool stops, bool all);
void rvtrace_aux_find_runs(struct rvtrace_aux *aux, void **pages, int nr_pages);
u64 rvtrace_rate_expected(u64 rate);
u64 rvtrace_poll_delay(u64 room, u64 expected);
u64 rvtrace_rate_after(u64 rate, u64 bytes, u64 ns);
#endif

#ifdef RVTRACE_NO_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#endif
