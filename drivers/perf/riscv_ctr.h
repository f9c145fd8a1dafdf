/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V Control Transfer Records: between the files of riscv_ctr.ko.
 *
 *	riscv_ctr_core.c	the PMU: what happens on a hart, with interrupts off
 *	riscv_ctr_session.c	what an open event asks for, and its trigger
 *	riscv_ctr_entries.c	what the machine has; its entries as they stand
 *	riscv_ctr_stack.c	what a task's call stack was when it left a hart
 *	riscv_ctr_sysfs.c	format/, caps/, cpumask
 *	riscv_ctr_v1.c		registers as ratified (version 1.0)
 *	riscv_ctr_draft.c	registers of draft 0.1.4
 *
 * The control register is handled in the layout of 1.0 everywhere but in the draft's backend.
 */
#ifndef _RISCV_CTR_H
#define _RISCV_CTR_H

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/refcount.h>
#include <linux/rvtrace.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <asm/asm-extable.h>
#include <asm/csr.h>

/* Registers common to both versions */
#define RISCV_CTR_CSR_SISELECT		0x150
#define RISCV_CTR_CSR_SIREG		0x151
#define RISCV_CTR_CSR_SIREG2		0x152
#define RISCV_CTR_CSR_SIREG3		0x153
#define RISCV_CTR_ENTRY_SELECT		0x200

/* Registers of 1.0 */
#define RISCV_CTR_CSR_SCTRCTL		0x14e
#define RISCV_CTR_CSR_SCTRSTATUS	0x14f
#define RISCV_CTR_CSR_SCTRDEPTH		0x15f
#define RISCV_CTR_STATUS_FROZEN		BIT(31)

/* Registers of draft 0.1.4 */
#define RISCV_CTR_DRAFT_CSR_CONTROL	0x181
#define RISCV_CTR_DRAFT_CSR_STATUS	0x183
#define RISCV_CTR_DRAFT_STATUS_FROZEN	BIT(15)

#define RISCV_CTR_STATUS_WRPTR		GENMASK(7, 0)

/* sctrctl of 1.0 */
#define RISCV_CTR_CTL_U			BIT_ULL(0)
#define RISCV_CTR_CTL_S			BIT_ULL(1)
#define RISCV_CTR_CTL_RASEMU		BIT_ULL(7)
#define RISCV_CTR_CTL_STE		BIT_ULL(8)
#define RISCV_CTR_CTL_BPFRZ		BIT_ULL(11)
#define RISCV_CTR_CTL_LCOFIFRZ		BIT_ULL(12)
#define RISCV_CTR_CTL_EXCINH		BIT_ULL(33)
#define RISCV_CTR_CTL_INTRINH		BIT_ULL(34)
#define RISCV_CTR_CTL_TRETINH		BIT_ULL(35)
#define RISCV_CTR_CTL_NTBREN		BIT_ULL(36)
#define RISCV_CTR_CTL_TKBRINH		BIT_ULL(37)
#define RISCV_CTR_CTL_FILTERS		(GENMASK_ULL(37, 33) | GENMASK_ULL(47, 40))
#define RISCV_CTR_CTL_OPTIONS		(RISCV_CTR_CTL_RASEMU | RISCV_CTR_CTL_STE | \
					 RISCV_CTR_CTL_BPFRZ | RISCV_CTR_CTL_LCOFIFRZ | \
					 RISCV_CTR_CTL_FILTERS)

/* ctrsource, ctrtarget, ctrdata */
#define RISCV_CTR_SOURCE_V		BIT_ULL(0)
#define RISCV_CTR_TARGET_MISP		BIT_ULL(0)
#define RISCV_CTR_DATA_TYPE		GENMASK_ULL(3, 0)
#define RISCV_CTR_DATA_CYCLES		(BIT_ULL(15) | GENMASK_ULL(31, 16))

/**
 * enum riscv_ctr_type - TYPE of ctrdata
 * @RISCV_CTR_TYPE_EXCEPTION:		system calls, too
 * @RISCV_CTR_TYPE_INTERRUPT:		traps that are no exceptions
 * @RISCV_CTR_TYPE_TRAP_RETURN:		sret, mret
 * @RISCV_CTR_TYPE_NOT_TAKEN:		branch; recorded when asked for only
 * @RISCV_CTR_TYPE_TAKEN:		branch
 * @RISCV_CTR_TYPE_INDIRECT_CALL:	jalr with a link register
 * @RISCV_CTR_TYPE_CALL:		jal with a link register
 * @RISCV_CTR_TYPE_INDIRECT_JUMP:	jalr without link
 * @RISCV_CTR_TYPE_JUMP:		jal without link
 * @RISCV_CTR_TYPE_SWAP:		jalr from one link register with the other: a co-routine's
 * @RISCV_CTR_TYPE_RETURN:		jalr from a link register
 * @RISCV_CTR_TYPE_INDIRECT_OTHER:	jalr that links elsewhere
 * @RISCV_CTR_TYPE_OTHER:		jal that links elsewhere
 */
enum riscv_ctr_type {
	RISCV_CTR_TYPE_EXCEPTION	= 1,
	RISCV_CTR_TYPE_INTERRUPT	= 2,
	RISCV_CTR_TYPE_TRAP_RETURN	= 3,
	RISCV_CTR_TYPE_NOT_TAKEN	= 4,
	RISCV_CTR_TYPE_TAKEN		= 5,
	RISCV_CTR_TYPE_INDIRECT_CALL	= 8,
	RISCV_CTR_TYPE_CALL		= 9,
	RISCV_CTR_TYPE_INDIRECT_JUMP	= 10,
	RISCV_CTR_TYPE_JUMP		= 11,
	RISCV_CTR_TYPE_SWAP		= 12,
	RISCV_CTR_TYPE_RETURN		= 13,
	RISCV_CTR_TYPE_INDIRECT_OTHER	= 14,
	RISCV_CTR_TYPE_OTHER		= 15,
};

/* struct perf_event_attr.config: options are where the control register has them */
#define RISCV_CTR_CONFIG_OPTIONS	(RISCV_CTR_CTL_RASEMU | RISCV_CTR_CTL_STE | \
					 RISCV_CTR_CTL_BPFRZ | RISCV_CTR_CTL_FILTERS)
#define RISCV_CTR_CONFIG_DEPTH		GENMASK_ULL(24, 16)
#define RISCV_CTR_CONFIG_CYCLES		BIT_ULL(48)
#define RISCV_CTR_CONFIG_MISPREDICT	BIT_ULL(49)
#define RISCV_CTR_CONFIG_FORGET_STACK	BIT_ULL(50)
#define RISCV_CTR_CONFIG_ALL		(RISCV_CTR_CONFIG_OPTIONS | RISCV_CTR_CONFIG_DEPTH | \
					 RISCV_CTR_CONFIG_CYCLES | RISCV_CTR_CONFIG_MISPREDICT | \
					 RISCV_CTR_CONFIG_FORGET_STACK)
/* .config1: the trigger; .config2: its config when the type is given, too */
#define RISCV_CTR_CONFIG1_TRIGGER	GENMASK_ULL(3, 0)
#define RISCV_CTR_CONFIG1_TYPE		GENMASK_ULL(63, 32)
#define RISCV_CTR_CONFIG1_ALL		(RISCV_CTR_CONFIG1_TRIGGER | RISCV_CTR_CONFIG1_TYPE)

/**
 * enum riscv_ctr_trigger - what makes the event take a sample
 * @RISCV_CTR_TRIGGER_CPU_CLOCK:	perf's software event cpu-clock
 * @RISCV_CTR_TRIGGER_CYCLES:		the hardware's counter of cycles
 * @RISCV_CTR_TRIGGER_INSTRUCTIONS:	the hardware's counter of instructions
 * @RISCV_CTR_TRIGGER_OTHER:		an event of the type and config that the caller names
 * @RISCV_CTR_TRIGGERS:			array size
 */
enum riscv_ctr_trigger {
	RISCV_CTR_TRIGGER_CPU_CLOCK,
	RISCV_CTR_TRIGGER_CYCLES,
	RISCV_CTR_TRIGGER_INSTRUCTIONS,
	RISCV_CTR_TRIGGER_OTHER,
	RISCV_CTR_TRIGGERS
};

#define RISCV_CTR_MIN_DEPTH		16
#define RISCV_CTR_MAX_DEPTH		256
#define RISCV_CTR_DEFAULT_DEPTH		32

/**
 * struct riscv_ctr_caps - what the harts have, found by writing and reading back
 * @options:	bits of the control register that can be set
 * @min_depth:	fewest entries that can be selected
 * @max_depth:	most; every power of two between is possible, too
 * @cycles:	ctrdata counts cycles
 * @cycle_exponent_bits: implemented bits of CCE
 * @mispredict:	ctrtarget marks mispredicted transfers
 * @types:	ctrdata has the type of a transfer
 */
struct riscv_ctr_caps {
	u64 options;
	unsigned int min_depth;
	unsigned int max_depth;
	unsigned int cycle_exponent_bits;
	bool cycles;
	bool mispredict;
	bool types;
};

/**
 * struct riscv_ctr_backend - one version of the registers; all concern the hart that calls
 * @name:	version, as caps/version shows it
 * @layout:	RVTRACE_CTR_LAYOUT_*
 * @probe:	are the registers there? Firmware may withhold them.
 * @discover:	fills options and depths of @caps; leaves recording off
 * @start:	empties the records and lets recording begin, with @depth entries
 * @stop:	ends recording; records stay
 * @resume:	lets recording go on after @stop, with the same control
 * @clear:	empties the records
 */
struct riscv_ctr_backend {
	const char *name;
	u16 layout;
	bool (*probe)(void);
	void (*discover)(struct riscv_ctr_caps *caps);
	void (*start)(u64 control, unsigned int depth);
	void (*stop)(void);
	void (*resume)(u64 control);
	void (*clear)(void);
};

extern const struct riscv_ctr_backend riscv_ctr_v1;
extern const struct riscv_ctr_backend riscv_ctr_draft;

/**
 * struct riscv_ctr_hart - a hart and what runs on it; touched there only, with interrupts off
 * @event:	running event, or NULL
 * @usable:	the hart has CTR of the version in use
 */
struct riscv_ctr_hart {
	struct perf_event *event;
	bool usable;
};

DECLARE_PER_CPU(struct riscv_ctr_hart, riscv_ctr_harts);

/**
 * struct riscv_ctr_session - what an event and all that its task's children inherit share
 * @users:	events
 * @release:	the trigger is given back in process context
 * @control:	what the event asked for, as the control register has it
 * @written:	what is written to the control register
 * @depth:	entries of the hardware in use
 * @limit:	entries that go into a sample
 * @strip:	the handler runs before recording is frozen, and in a mode that is recorded
 * @keep_stack:	a task's records are saved when it leaves a hart
 * @keep_target: bits of ctrtarget that the event asked for
 * @keep_data:	bits of ctrdata that the event asked for
 * @attr:	of the trigger
 * @trigger:	the counter or clock whose overflows take samples
 */
struct riscv_ctr_session {
	refcount_t users;
	struct work_struct release;
	u64 control;
	u64 written;
	unsigned int depth;
	unsigned int limit;
	bool strip;
	bool keep_stack;
	u64 keep_target;
	u64 keep_data;
	struct perf_event_attr attr;
	struct perf_event *trigger;
};

/**
 * struct riscv_ctr_event - what belongs to one perf event; its pmu_private
 * @session:	shared with the events that it was inherited from
 * @stack:	shared with other events of its task, or NULL
 */
struct riscv_ctr_event {
	struct riscv_ctr_session *session;
	struct riscv_ctr_stack *stack;
};

static inline struct riscv_ctr_session *riscv_ctr_session_of(const struct perf_event *event)
{
	const struct riscv_ctr_event *own = event->pmu_private;

	return own->session;
}

static inline struct riscv_ctr_stack *riscv_ctr_stack_of(const struct perf_event *event)
{
	const struct riscv_ctr_event *own = event->pmu_private;

	return own->stack;
}

extern const struct riscv_ctr_backend *riscv_ctr;
extern struct riscv_ctr_caps riscv_ctr_caps;
extern struct cpumask riscv_ctr_cpus;
extern const struct attribute_group *riscv_ctr_groups[];

struct riscv_ctr_session *riscv_ctr_session_get(struct perf_event *event);
void riscv_ctr_session_put(struct riscv_ctr_session *session);
int riscv_ctr_session_init(perf_overflow_handler_t handler);
void riscv_ctr_session_exit(void);

struct riscv_ctr_stack *riscv_ctr_stack_get(const struct perf_event *event,
					    const struct riscv_ctr_session *session);
void riscv_ctr_stack_put(struct riscv_ctr_stack *stack);
void riscv_ctr_stack_save(struct riscv_ctr_stack *stack);
void riscv_ctr_stack_restore(struct riscv_ctr_stack *stack);

bool riscv_ctr_discover_hart(void);
unsigned int riscv_ctr_read_entries(struct rvtrace_ctr_entry *entries, unsigned int depth,
				    bool holes);
void riscv_ctr_read_array(struct rvtrace_ctr_entry *entries, unsigned int depth);
void riscv_ctr_write_array(const struct rvtrace_ctr_entry *entries, unsigned int depth);

/* True when the access does not trap. */
#define riscv_ctr_csr_readable(csr)					\
({									\
	unsigned long __ok = 0, __value;				\
									\
	asm volatile("1:	csrr	%1, %2\n"			\
		     "	li	%0, 1\n"				\
		     "2:\n"						\
		     _ASM_EXTABLE(1b, 2b)				\
		     : "+r" (__ok), "=&r" (__value) : "i" (csr) : "memory"); \
	__ok;								\
})

#endif
