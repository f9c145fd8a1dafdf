/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace components: what every component has. Register access, handshakes, reset, the
 * timestamp unit, and the rvtrace bus (rvtrace-component.c, rvtrace-timestamp.c).
 */
#ifndef _RVTRACE_COMPONENT_H
#define _RVTRACE_COMPONENT_H

#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>
#include <linux/time64.h>
#include <linux/timex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <kunit/visibility.h>

#include "rvtrace-regs.h"

/* A component that takes longer for a handshake does not work (microseconds). */
#define RVTRACE_TIMEOUT_US			10000
/*
 * Reads of the register after a timeout of so many microseconds: this hart itself may have been
 * held up, for example by a hypervisor.
 */
#define RVTRACE_LATE_LOOKS(us)			max_t(u32, 16, (us) / 64)
/*
 * Time until a component that does not work is reset. It doubles with each failure, up to ... (ms)
 */
#define RVTRACE_RECOVERY_MS			100
#define RVTRACE_RECOVERY_MAX_MS			(RVTRACE_RECOVERY_MS << 7)

#define RVTRACE_MAX_OUTPUTS			8

/**
 * enum rvtrace_type - component type, as in tr??Impl
 * @RVTRACE_TYPE_ENCODER:	trace encoder
 * @RVTRACE_TYPE_FUNNEL:	trace funnel
 * @RVTRACE_TYPE_RAMSINK:	RAM sink, in SRAM or SMEM mode
 * @RVTRACE_TYPE_PIBSINK:	PIB sink
 * @RVTRACE_TYPE_ATBBRIDGE:	ATB bridge
 * @RVTRACE_TYPES:		array size
 */
enum rvtrace_type {
	RVTRACE_TYPE_ENCODER	= 0x1,
	RVTRACE_TYPE_FUNNEL	= 0x8,
	RVTRACE_TYPE_RAMSINK	= 0x9,
	RVTRACE_TYPE_PIBSINK	= 0xa,
	RVTRACE_TYPE_ATBBRIDGE	= 0xe,
	RVTRACE_TYPES
};

/**
 * struct rvtrace_opener - the process that opened an event, and the program that it executed then
 * @tgid:	process id in the initial namespace; 0: nobody
 * @start:	when the process started, by CLOCK_BOOTTIME: later processes may have the same id
 * @exec_id:	how often it had called exec(): a setuid program must not share with whoever
 *		executed it
 *
 * Its events may share a sink, and see each other's trace.
 */
struct rvtrace_opener {
	pid_t tgid;
	u64 start;
	u64 exec_id;
};

struct rvtrace_component;
struct rvtrace_cpu;

/**
 * struct rvtrace_ops - what differs between the types of component
 * @name:	device names are this and a number
 * @size:	size of the structure that begins with the struct rvtrace_component
 * @groups:	sysfs attributes
 * @probe:	finds out what the hardware supports; the component is active and disabled
 * @reset:	gives every register that is undefined at reset a value. The component has just
 *		been activated. Must not sleep.
 * @enable:	sets up and enables a component that is on the path of a hart. Must not sleep.
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
 * struct rvtrace_platform_ops - what differs between chips
 * @major:	major version of the interface that tr??Impl must have
 * @type:	type of component that the compatible names; 0: tr??Impl says it
 * @read:	reads the register that the Trace Control Interface 1.0 has at this offset; NULL:
 *		it is there, and memory mapped
 * @write:	writes it
 * @attach:	called before the registers are accessed, may sleep; NULL: there is nothing to do
 * @attach_sink: the same for a RAM sink whose registers are in the block of @host, which is
 *		active. Returns whether there is one. NULL: there never is
 * @src_bits:	width of SRC, which the trace always has then; 0: as wide as need be, where encoders
 *		share a sink
 * @atb_id:	ATB id of the bridge of hart 0, which those of the others follow; 0: ids are by the
 *		bridges' own numbers
 * @sink_boundary: RAM sinks write to no memory that crosses a multiple of this, a power of two; 0:
 *		to any
 * @own_hart:	of an encoder: no other hart may access it, or what only it feeds, not even for a
 *		moment. Harts that share a sink ask each other to stop then
 * @ntrace_params: what decoders of N-Trace must know, as lines "key = value"; NULL: nothing
 * @sink_params: of a sink: what decoders must know of trace of any protocol that comes from it;
 *		NULL: nothing
 *
 * A compatible of the driver's match table names one. It is the same for all components of a kind,
 * and never written to.
 */
struct rvtrace_platform_ops {
	u32 major;
	enum rvtrace_type type;
	u32 (*read)(struct rvtrace_component *comp, u32 reg);
	void (*write)(struct rvtrace_component *comp, u32 reg, u32 value);
	int (*attach)(struct rvtrace_component *comp);
	bool (*attach_sink)(struct rvtrace_component *host, struct rvtrace_component *sink);
	u32 src_bits;
	u32 atb_id;
	u64 sink_boundary;
	bool own_hart;
	const char *ntrace_params;
	const char *sink_params;
};

/**
 * struct rvtrace_output - a connection to a component downstream
 * @to:		the component that receives the trace
 * @port:	its input at which the trace arrives
 */
struct rvtrace_output {
	struct rvtrace_component *to;
	unsigned int port;
};

/**
 * struct rvtrace_ts - the timestamp unit of an encoder or of a funnel
 * @mode:	trTsMode in use, 0 without such a unit
 * @width:	width of the counter in bits
 * @platform:	what it puts into the trace is the platform's time counter
 */
struct rvtrace_ts {
	u8 mode;
	u8 width;
	bool platform;
};

/**
 * struct rvtrace_component - one block of trace registers
 * @dev:	device on the rvtrace bus; its parent is the platform device
 * @ops:	functions of its type
 * @platform:	functions of its chip
 * @platform_data: what belongs to them
 * @inner:	a sink whose registers are in the block of another component
 * @base:	registers
 * @list:	entry in rvtrace_components
 * @type:	trace component type
 * @impl:	value of tr??Impl
 * @cpus:	the harts that may access the registers: an encoder may answer its own hart only.
 *		None: every hart may
 * @near:	the hart whose encoder alone feeds it, if any: what it holds may be lost when
 *		that hart sleeps, so no other accesses it unless that hart is down
 * @number:	number among the components of its type
 * @sink_id:	the number that config2:sink of an event selects it by; 0 when it is not a sink
 * @powered:	its device is kept on, with its clocks. Protected by rvtrace_mutex.
 * @asleep:	the system sleeps: it may be off although it is @powered
 * @active:	out of reset: registers other than Control may be accessed
 * @broken:	a handshake timed out; the component is not used until it has been reset
 * @failures:	how often that happened while it was active
 * @failed:	takes @recovery out of the context in which the handshake timed out
 * @recovery:	resets the component later. Set up by rvtrace_register().
 * @control:	value last written to Control. Protected as @users is.
 * @outputs:	components downstream; it holds a reference to each
 * @nr_outputs:	number of entries in @outputs
 * @leads_out:	it has a connection to a trace system of another kind, which has drivers of its own
 * @ts:		its timestamp unit
 * @users:	harts that trace through it. Protected by the locks of the paths that lead here, see
 *		struct rvtrace_path.
 * @held:	those of @users that have stopped until the sink has been drained. Protected as
 *		@users.
 * @draining:	of a sink: a hart has asked the others to stop. Protected as @users.
 * @held_lost:	of a sink: a hart lost trace when it stopped for that. Protected as @users.
 * @lock:	of a sink: protects its settings, and what struct rvtrace_path says. Nests inside
 *		locks of perf and of the scheduler.
 * @running:	of a sink: harts that trace into it, or the only one that can. Protected as @users.
 * @stall:	of a sink: the encoders of @running stall their harts. Protected as @users.
 * @opener:	of a sink: the process that opened the events of @running. Protected as @users.
 */
struct rvtrace_component {
	struct device dev;
	const struct rvtrace_ops *ops;
	const struct rvtrace_platform_ops *platform;
	void *platform_data;
	bool inner;
	void __iomem *base;
	struct list_head list;
	enum rvtrace_type type;
	u32 impl;
	struct cpumask cpus;
	struct cpumask near;
	int number;
	u32 sink_id;
	bool powered;
	bool asleep;
	bool active;
	bool broken;
	unsigned int failures;
	struct irq_work failed;
	struct delayed_work recovery;
	u32 control;
	struct rvtrace_output outputs[RVTRACE_MAX_OUTPUTS];
	unsigned int nr_outputs;
	bool leads_out;
	struct rvtrace_ts ts;
	unsigned int users;
	unsigned int held;
	bool draining;
	bool held_lost;
	raw_spinlock_t lock; /* of a sink: see above */
	struct cpumask running;
	bool stall;
	struct rvtrace_opener opener;
};

#define to_rvtrace_component(d)	container_of(d, struct rvtrace_component, dev)

/* Some component has its registers elsewhere than the specification says. */
DECLARE_STATIC_KEY_FALSE(rvtrace_other_registers);

u32 rvtrace_read_other(struct rvtrace_component *comp, u32 reg);
void rvtrace_write_other(struct rvtrace_component *comp, u32 reg, u32 value);

/*
 * Accesses to one component stay in order. An access to another component follows only after the
 * first one has answered a poll. Only RAM sinks access memory, so only they need barriers.
 *
 * They are a part of each context switch: where all registers are where they belong, the others
 * cost one instruction, which does nothing.
 */
static __always_inline u32 rvtrace_read(struct rvtrace_component *comp, u32 reg)
{
	if (static_branch_unlikely(&rvtrace_other_registers))
		return rvtrace_read_other(comp, reg);
	return readl_relaxed(comp->base + reg);
}

static __always_inline void rvtrace_write(struct rvtrace_component *comp, u32 reg, u32 value)
{
	if (static_branch_unlikely(&rvtrace_other_registers))
		rvtrace_write_other(comp, reg, value);
	else
		writel_relaxed(value, comp->base + reg);
}

/* Writes a register, and returns what the hardware made of the value */
static __always_inline u32 rvtrace_try(struct rvtrace_component *comp, u32 reg, u32 value)
{
	if (static_branch_unlikely(&rvtrace_other_registers)) {
		rvtrace_write_other(comp, reg, value);
		return rvtrace_read_other(comp, reg);
	}
	writel_relaxed(value, comp->base + reg);
	return readl_relaxed(comp->base + reg);
}

/*
 * The time in @us microseconds, for rvtrace_expired(). In cycles of the time CSR: that counts in
 * suspend, too, when the kernel's clocks do not.
 */
static inline u64 rvtrace_deadline(u32 us)
{
	return get_cycles64() + mul_u64_u32_div(us, riscv_timebase, USEC_PER_SEC) + 1;
}

static inline bool rvtrace_expired(u64 deadline)
{
	return (s64)(get_cycles64() - deadline) > 0;
}

/* Defines a sysfs attribute that shows a property of the component @comp */
#define RVTRACE_ATTR_RO(_name, _format, ...)						\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr, char *buf)	\
{											\
	const struct rvtrace_component *comp = to_rvtrace_component(dev);		\
											\
	return sysfs_emit(buf, _format "\n", __VA_ARGS__);				\
}											\
static DEVICE_ATTR_RO(_name)

static inline bool rvtrace_same_opener(const struct rvtrace_opener *a,
				       const struct rvtrace_opener *b)
{
	return a->tgid == b->tgid && a->start == b->start && a->exec_id == b->exec_id;
}

/* rvtrace-component.c */
extern struct mutex rvtrace_mutex;
extern struct list_head rvtrace_components;
extern const struct bus_type rvtrace_bus;
extern const struct attribute_group rvtrace_component_group;

u64 rvtrace_new_serial(void);
struct rvtrace_opener rvtrace_current_opener(void);
int rvtrace_refuse(const struct rvtrace_component *comp, const char *what);
void rvtrace_fail(struct rvtrace_component *comp, const char *what);
int rvtrace_wait_quietly(struct rvtrace_component *comp, u32 mask, u32 value, u32 timeout_us);
int rvtrace_wait(struct rvtrace_component *comp, u32 mask, u32 value, const char *what);
int rvtrace_call(struct rvtrace_component *comp, smp_call_func_t fn, void *data);
int rvtrace_read_on_cpu(struct rvtrace_component *comp, u32 reg, u32 *value);
int rvtrace_reset(struct rvtrace_component *comp);
int rvtrace_activate(struct rvtrace_component *comp);
void rvtrace_deactivate(struct rvtrace_component *comp);
int rvtrace_enable_other(struct rvtrace_component *comp);
int rvtrace_enable_slowly(struct rvtrace_component *comp);
void rvtrace_component_init(struct rvtrace_component *comp, struct device *parent);
ssize_t rvtrace_values_emit(char *buf, unsigned long values, unsigned int first);

/*
 * rvtrace_enable - enable a component, with the given mode bits in Control
 *
 * This is a part of each context switch, and most components answer at once.
 */
static __always_inline int rvtrace_enable(struct rvtrace_component *comp, u32 control)
{
	comp->control = control | RVTRACE_CONTROL_ACTIVE | RVTRACE_CONTROL_ENABLE;
	if (static_branch_unlikely(&rvtrace_other_registers))
		return rvtrace_enable_other(comp);
	writel_relaxed(comp->control, comp->base + RVTRACE_CONTROL);
	if (readl_relaxed(comp->base + RVTRACE_CONTROL) & RVTRACE_CONTROL_ENABLE)
		return 0;
	return rvtrace_enable_slowly(comp);
}

/* rvtrace-timestamp.c */
extern const struct attribute_group rvtrace_ts_group;

void rvtrace_ts_probe(struct rvtrace_component *comp);
void rvtrace_ts_set(struct rvtrace_component *comp, bool on);

/* rvtrace-atbbridge.c, rvtrace-pibsink.c */
extern const struct rvtrace_ops rvtrace_atbbridge_ops;
extern const struct rvtrace_ops rvtrace_pibsink_ops;

/* rvtrace-coresight.c */
extern const struct rvtrace_platform_ops rvtrace_csfunnel_ops;
extern const struct rvtrace_platform_ops rvtrace_etf_ops;
extern const struct rvtrace_platform_ops rvtrace_etr_ops;

/* rvtrace-k3.c */
extern const struct rvtrace_platform_ops rvtrace_k3_ops;

/* rvtrace-v0.c */
extern const struct rvtrace_platform_ops rvtrace_v0_encoder_ops;
extern const struct rvtrace_platform_ops rvtrace_v0_funnel_ops;

#endif
