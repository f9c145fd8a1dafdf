/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace components: registers of the Trace Control Interface 1.0, and what the parts of
 * the driver know of each other.
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
#include <linux/spinlock.h>
#include <linux/types.h>

/* Every component: tr??Control, tr??Impl */
#define RVTRACE_CONTROL			0x000
#define   RVTRACE_CONTROL_ACTIVE	BIT(0)
#define   RVTRACE_CONTROL_ENABLE	BIT(1)
#define   RVTRACE_CONTROL_EMPTY		BIT(3)
#define RVTRACE_IMPL			0x004
#define   RVTRACE_IMPL_MAJOR		GENMASK(3, 0)
#define   RVTRACE_IMPL_MINOR		GENMASK(7, 4)
#define   RVTRACE_IMPL_TYPE		GENMASK(11, 8)

/* Trace encoder */
#define RVTRACE_TE_CONTROL_INST_TRACING		BIT(2)
#define RVTRACE_TE_CONTROL_INST_MODE		GENMASK(6, 4)
#define RVTRACE_TE_CONTROL_CONTEXT		BIT(9)
#define RVTRACE_TE_CONTROL_INST_STALL_OR_OVERFLOW BIT(12)	/* write 1 to clear */
#define RVTRACE_TE_CONTROL_INST_STALL_ENA	BIT(13)
#define RVTRACE_TE_CONTROL_INHIBIT_SRC		BIT(15)
#define RVTRACE_TE_CONTROL_INST_SYNC_MODE	GENMASK(17, 16)
#define RVTRACE_TE_CONTROL_INST_SYNC_MAX	GENMASK(23, 20)
#define RVTRACE_TE_CONTROL_FORMAT		GENMASK(26, 24)

#define RVTRACE_TE_IMPL_PROTOCOL_MAJOR		GENMASK(19, 16)
#define RVTRACE_TE_IMPL_PROTOCOL_MINOR		GENMASK(23, 20)

#define RVTRACE_TE_INST_FEATURES		0x008
#define   RVTRACE_TE_FEATURES_NO_ADDR_DIFF	BIT(0)
#define   RVTRACE_TE_FEATURES_NO_TRAP_ADDR	BIT(1)
#define   RVTRACE_TE_FEATURES_SEQUENTIAL_JUMP	BIT(2)
#define   RVTRACE_TE_FEATURES_IMPLICIT_RETURN	BIT(3)
#define   RVTRACE_TE_FEATURES_BRANCH_PREDICTION	BIT(4)
#define   RVTRACE_TE_FEATURES_JUMP_TARGET_CACHE	BIT(5)
#define   RVTRACE_TE_FEATURES_RETURN_MODE	GENMASK(7, 6)
#define   RVTRACE_TE_FEATURES_REPEATED_HISTORY	BIT(8)
#define   RVTRACE_TE_FEATURES_ALL_JUMPS		BIT(9)
#define   RVTRACE_TE_FEATURES_EXTEND_ADDR_MSB	BIT(10)
#define   RVTRACE_TE_FEATURES_SRC_ID		GENMASK(27, 16)
#define   RVTRACE_TE_FEATURES_SRC_BITS		GENMASK(31, 28)
#define RVTRACE_TE_INST_FILTERS			0x00c
#define RVTRACE_TE_DATA_CONTROL			0x010
#define RVTRACE_TE_DATA_FILTERS			0x01c
#define RVTRACE_TE_TRIG_DBG_CONTROL		0x050
#define RVTRACE_TE_TRIG_EXT_IN_CONTROL		0x054
#define RVTRACE_TE_TRIG_EXT_OUT_CONTROL		0x058

#define RVTRACE_TE_FILTERS			16
#define RVTRACE_TE_FILTER_CONTROL(i)		(0x400 + 0x20 * (i))
#define   RVTRACE_TE_FILTER_ENABLE		BIT(0)
#define   RVTRACE_TE_FILTER_MATCH_PRIVILEGE	BIT(1)
#define   RVTRACE_TE_FILTER_MATCH_COMP1		BIT(4)
#define   RVTRACE_TE_FILTER_COMP1		GENMASK(7, 5)
#define RVTRACE_TE_FILTER_MATCH_INST(i)		(0x404 + 0x20 * (i))
#define   RVTRACE_TE_FILTER_PRIVILEGE		GENMASK(7, 0)
#define     RVTRACE_PRIVILEGE_U			BIT(0)
#define     RVTRACE_PRIVILEGE_S			BIT(1)
#define     RVTRACE_PRIVILEGE_M			BIT(3)
#define     RVTRACE_PRIVILEGE_VU		BIT(5)
#define     RVTRACE_PRIVILEGE_VS		BIT(6)

#define RVTRACE_TE_COMPARATORS			8
#define RVTRACE_TE_COMP_CONTROL(j)		(0x600 + 0x20 * (j))

/* Timestamp unit, in an encoder or a funnel */
#define RVTRACE_TS_CONTROL			0x040
#define   RVTRACE_TS_CONTROL_ACTIVE		BIT(0)
#define   RVTRACE_TS_CONTROL_COUNT		BIT(1)
#define   RVTRACE_TS_CONTROL_MODE		GENMASK(6, 4)
#define     RVTRACE_TS_MODE_EXTERNAL		1
#define     RVTRACE_TS_MODE_INTERNAL_SYSTEM	2
#define     RVTRACE_TS_MODE_INTERNAL_CORE	3
#define     RVTRACE_TS_MODE_SHARED		4
#define   RVTRACE_TS_CONTROL_ENABLE		BIT(15)
#define   RVTRACE_TS_CONTROL_WIDTH		GENMASK(29, 24)

/* RAM sink */
#define RVTRACE_RAM_CONTROL_MODE_SMEM		BIT(4)
#define RVTRACE_RAM_CONTROL_STOP_ON_WRAP	BIT(8)
#define RVTRACE_RAM_IMPL_HAS_SRAM		BIT(12)
#define RVTRACE_RAM_IMPL_HAS_SMEM		BIT(13)
#define RVTRACE_RAM_START_LOW			0x010
#define RVTRACE_RAM_START_HIGH			0x014
#define RVTRACE_RAM_LIMIT_LOW			0x018
#define RVTRACE_RAM_LIMIT_HIGH			0x01c
#define RVTRACE_RAM_WP_LOW			0x020
#define   RVTRACE_RAM_WP_WRAP			BIT(0)
#define   RVTRACE_RAM_WP_ADDR			GENMASK(31, 2)
#define RVTRACE_RAM_WP_HIGH			0x024

/* Widths of the memory access unit that Limit is expressed in, in bytes */
#define RVTRACE_RAM_MIN_ACCESS			4
#define RVTRACE_RAM_MAX_ACCESS			64

/* A handshake that takes longer means that the component is broken (microseconds) */
#define RVTRACE_TIMEOUT_US			10000
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
#define RVTRACE_CONFIG_ALL			GENMASK_ULL(27, 0)
/* perf_event_attr.config2 */
#define RVTRACE_CONFIG2_SINK			GENMASK_ULL(31, 0)

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

struct rvtrace_component;

/**
 * struct rvtrace_ops - what differs between the types of component
 * @name:	device names are this and a number
 * @size:	size of the structure that begins with the struct rvtrace_component
 * @groups:	sysfs attributes
 * @probe:	find out what the hardware takes; the component is active and disabled
 * @reset:	give every register that is undefined at reset a value; the component has just
 *		been activated. Must not sleep.
 */
struct rvtrace_ops {
	const char *name;
	size_t size;
	const struct attribute_group **groups;
	int (*probe)(struct rvtrace_component *comp);
	int (*reset)(struct rvtrace_component *comp);
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
	struct rvtrace_component *outputs[RVTRACE_MAX_OUTPUTS];
	unsigned int nr_outputs;
};

/**
 * struct rvtrace_path - the way from an encoder to a sink
 * @hops:	components after the encoder; the last is the sink
 * @nr_hops:	number of entries in @hops
 */
struct rvtrace_path {
	struct rvtrace_component *hops[RVTRACE_MAX_HOPS];
	unsigned int nr_hops;
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
 * struct rvtrace_encoder - a trace encoder
 * @comp:		the component
 * @cpu:		the hart that it traces
 * @online:		the hart is up
 * @formats:		bit per value of trTeFormat
 * @format:		the format that is used when the user does not care
 * @caps:		what it takes, by format
 * @src_id:		what trTeSrcID is set to
 * @src_bits:		width of SRC in the trace, 0 when there is none
 * @max_src_bits:	widest SRC that it can be told to use
 * @inhibit_src:	trTeInhibitSrc is what keeps SRC out of the trace
 * @filters:		trTeInstFilters: bit per filter
 * @privilege_set:	privilege modes that a filter can let through
 * @privilege_clear:	privilege modes that a filter can hold back
 * @ts_mode:		trTsMode in use, 0 without timestamp unit
 * @ts_width:		bits of the counter
 * @config:		serial number of the configuration that it is programmed with, or 0
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
	u16 src_id;
	u8 src_bits;
	u8 max_src_bits;
	bool inhibit_src;
	u16 filters;
	u8 privilege_set;
	u8 privilege_clear;
	u8 ts_mode;
	u8 ts_width;
	u64 config;
	struct rvtrace_path paths[RVTRACE_MAX_PATHS];
	unsigned int nr_paths;
};

/**
 * struct rvtrace_ramsink - a RAM sink
 * @comp:		the component
 * @stop_on_wrap:	the hardware can stop when it is full
 * @access:		memory access width in bytes (A in the specification)
 * @high_bits:		address bits that Start, Limit and WP have above bit 31
 * @lock:		protects @vaddr, @dma, @alloc and @users
 * @vaddr:		buffer
 * @dma:		bus address of @vaddr
 * @alloc:		size of the allocation in bytes
 * @size:		how much of it the hardware uses
 * @users:		AUX buffers for which the buffer is kept
 * @programmed:		Start and Limit hold the buffer
 * @owner:		serial number of the configuration whose trace was last in the buffer
 * @dirty:		number of bytes that hold trace of @owner
 */
struct rvtrace_ramsink {
	struct rvtrace_component comp;
	bool stop_on_wrap;
	u32 access;
	u32 high_bits;
	struct mutex lock; /* of the buffer */
	void *vaddr;
	dma_addr_t dma;
	size_t alloc;
	size_t size;
	unsigned int users;
	bool programmed;
	u64 owner;
	size_t dirty;
};

/**
 * struct rvtrace_config - an event's options, as an encoder wants them
 * @serial:	never the same twice, never 0
 * @control:	trTeControl, without Active, Enable and InstTracing
 * @features:	trTeInstFeatures, without SRC
 * @privileges:	modes that are traced: bitmap for a filter
 * @timestamp:	trTsEnable
 * @sink:	number of the sink that was asked for, or 0
 */
struct rvtrace_config {
	u64 serial;
	u32 control;
	u32 features;
	u8 privileges;
	bool timestamp;
	u32 sink;
};

/**
 * struct rvtrace_aux - an AUX buffer
 * @base:	its pages, mapped in one piece
 * @size:	size in bytes
 * @overwrite:	old data gives way to new
 * @nr_sinks:	number of entries in @sinks
 * @sinks:	RAM sinks whose buffer is held
 */
struct rvtrace_aux {
	void *base;
	size_t size;
	bool overwrite;
	unsigned int nr_sinks;
	struct rvtrace_ramsink *sinks[] __counted_by(nr_sinks);
};

/**
 * struct rvtrace_cpu - what a hart is tracing
 * @handle:	where the trace goes to
 * @event:	running event, or NULL
 * @encoder:	the hart's encoder, or NULL
 * @path:	way to the sink while @event runs
 * @written:	bytes put into the AUX buffer since @handle was opened
 * @timer:	drains the sink before it is full
 * @poll_ns:	time of the last look at the sink
 * @poll_fill:	how full it was then, in bytes
 * @rate:	bytes per 2^20 ns, a decaying maximum
 */
struct rvtrace_cpu {
	struct perf_output_handle handle;
	struct perf_event *event;
	struct rvtrace_encoder *encoder;
	struct rvtrace_path *path;
	size_t written;
	struct hrtimer timer;
	u64 poll_ns;
	size_t poll_fill;
	u64 rate;
};

DECLARE_PER_CPU(struct rvtrace_cpu, rvtrace_cpus);

#define to_rvtrace_component(d)	container_of(d, struct rvtrace_component, dev)
#define to_rvtrace_encoder(c)	container_of(c, struct rvtrace_encoder, comp)
#define to_rvtrace_ramsink(c)	container_of(c, struct rvtrace_ramsink, comp)

static inline u32 rvtrace_read(struct rvtrace_component *comp, u32 reg)
{
	return readl(comp->base + reg);
}

static inline void rvtrace_write(struct rvtrace_component *comp, u32 reg, u32 value)
{
	writel(value, comp->base + reg);
}

/* Writes and says what the hardware made of it */
static inline u32 rvtrace_try(struct rvtrace_component *comp, u32 reg, u32 value)
{
	rvtrace_write(comp, reg, value);
	return rvtrace_read(comp, reg);
}

static inline struct rvtrace_component *rvtrace_path_sink(const struct rvtrace_path *path)
{
	return path->hops[path->nr_hops - 1];
}

/* rvtrace-core.c */
extern struct mutex rvtrace_mutex;
extern struct list_head rvtrace_components;
extern const struct bus_type rvtrace_bus;
extern const struct attribute_group rvtrace_component_group;

const struct rvtrace_ops *rvtrace_ops_of(u32 type);
int rvtrace_activate(struct rvtrace_component *comp);
void rvtrace_deactivate(struct rvtrace_component *comp);
int rvtrace_enable(struct rvtrace_component *comp, u32 control);
int rvtrace_wait_quietly(struct rvtrace_component *comp, u32 mask, u32 value, u32 timeout_us);
int rvtrace_wait(struct rvtrace_component *comp, u32 mask, u32 value, const char *what);
void rvtrace_fail(struct rvtrace_component *comp, const char *what);
void rvtrace_component_init(struct rvtrace_component *comp, struct device *parent);
int rvtrace_register(struct rvtrace_component *comp);
void rvtrace_unregister(struct rvtrace_component *comp);
void rvtrace_get(void);
void rvtrace_put(void);

/* rvtrace-platform.c */
int rvtrace_platform_register(void);
void rvtrace_platform_unregister(void);

/* rvtrace-encoder.c */
extern const struct rvtrace_ops rvtrace_encoder_ops;
int rvtrace_encoder_configure(struct rvtrace_encoder *enc, const struct perf_event_attr *attr,
			      struct rvtrace_config *config);
int rvtrace_encoder_start(struct rvtrace_encoder *enc, const struct rvtrace_config *config);
void rvtrace_encoder_stop_tracing(struct rvtrace_encoder *enc);
bool rvtrace_encoder_lost(struct rvtrace_encoder *enc);
struct rvtrace_path *rvtrace_encoder_path(struct rvtrace_encoder *enc, u32 sink);

/* rvtrace-encoder-sysfs.c */
extern const struct attribute_group *rvtrace_encoder_groups[];
const char *rvtrace_format_name(enum rvtrace_format format);
ssize_t rvtrace_features_emit(char *buf, u32 features, u32 control, bool timestamp);

/* rvtrace-ramsink.c */
extern const struct rvtrace_ops rvtrace_ramsink_ops;
int rvtrace_ramsink_get_buffer(struct rvtrace_ramsink *sink, size_t aux_size);
void rvtrace_ramsink_put_buffer(struct rvtrace_ramsink *sink);
int rvtrace_ramsink_start(struct rvtrace_ramsink *sink, const struct rvtrace_config *config,
			  bool overwrite);
bool rvtrace_ramsink_stopped_itself(struct rvtrace_ramsink *sink);
int rvtrace_ramsink_restart(struct rvtrace_ramsink *sink);
size_t rvtrace_ramsink_fill(struct rvtrace_ramsink *sink);
void rvtrace_ramsink_drain(struct rvtrace_ramsink *sink, struct rvtrace_cpu *rc);

/* rvtrace-path.c */
int rvtrace_paths_find(struct rvtrace_encoder *enc);
int rvtrace_path_start(struct rvtrace_cpu *rc, const struct rvtrace_config *config);
void rvtrace_path_stop(struct rvtrace_cpu *rc);

/* rvtrace-output.c */
void rvtrace_output_copy(struct rvtrace_cpu *rc, const void *data, size_t size);
void rvtrace_output_gap(struct rvtrace_cpu *rc);

/* rvtrace-pmu.c */
int rvtrace_pmu_add_encoder(struct rvtrace_encoder *enc);
void rvtrace_pmu_remove_encoder(struct rvtrace_encoder *enc);
void rvtrace_pmu_unregister(void);
void rvtrace_pmu_drain(void);
void rvtrace_pmu_halt(void);
void rvtrace_pmu_init(void);

/* rvtrace-pmu-sysfs.c */
extern const struct attribute_group *rvtrace_pmu_groups[];

/* rvtrace-context.c */
int rvtrace_context_init(void);
void rvtrace_context_exit(void);
int rvtrace_context_get(bool scontext);
void rvtrace_context_put(bool scontext);
bool rvtrace_context_usable(void);
void rvtrace_context_write(void);

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
