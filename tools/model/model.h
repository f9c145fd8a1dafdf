/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The hardware model: what its parts know of each other.
 *
 *	translate.c	translation: where a block can be left early, and what is to be called then
 *	csr.c		scontext and hcontext, which QEMU lacks
 *	hart.c		execution: retired runs and traps of a hart, to its encoder and to the truth
 *	data.c		loads and stores, to the encoder and beside it
 *	blocks.c	which instructions a block has
 *	cpu.c		registers of the emulated hart
 *	topology.c	which components there are
 *	encoder.c sink.c ...	what each type of component does
 *	coresight.c formatter.c	the same of what is behind ATB bridges
 *	path.c		messages from one to the next
 *	regs.c		a component's register page: junk, WARL, handshakes, violations
 *
 * Locks, outermost first: model.lock (register pages, handshakes), hart.lock (cursor, encoder,
 * truth), component.path_lock (data on its way to memory).
 */
#ifndef MODEL_H
#define MODEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <rvtrace/access.h>
#include <rvtrace/ntrace.h>
#include <rvtrace/params.h>
#include <rvtrace/truth.h>
#include "itype.h"
#include "qemu-plugin.h"

#define MODEL_MAX_HARTS 8
#define MODEL_MAX_PARTS (3 * MODEL_MAX_HARTS + 8)
#define MODEL_MAX_OUTS 2
/* Disabling and deactivating at once takes three answers. */
#define MODEL_MAX_PENDING 4
#define MODEL_PAGE 0x1000u

/* ---- arguments: args.c, documented in README.md ---- */

/* The lab adds so much memory for the registers by default. */
#define MODEL_DEFAULT_EXTRA (16u << 20)
/* Carve-outs are so far behind the beginning of the registers, and not larger than this. */
#define MODEL_CARVEOUTS (8u << 20)

enum model_clock { CLOCK_OF_TIME_CSR, CLOCK_OF_INSNS, CLOCK_EVEN };
enum model_topology {
	TOPOLOGY_DIRECT, TOPOLOGY_FUNNEL, TOPOLOGY_TREE, TOPOLOGY_BOTH, TOPOLOGY_PIB, TOPOLOGY_ATB,
	TOPOLOGY_K3, TOPOLOGY_K3_ETR,
};

enum model_registers { REGISTERS_1_0, REGISTERS_V0 };

struct model_args {
	const char *ram_path;
	uint64_t ram_base, ram_size, window;
	const char *truth_dir, *violations_path;
	bool truth_all, truth_after, user_io;
	const char *etrace_path, *capture_dir;
	uint32_t topology;		/* enum model_topology */
	uint64_t seed, delay_ns;
	uint32_t late_reads;		/* answers come after so many reads, not after a time */
	uint32_t wp_lag;		/* how many bytes a running sink's WP may lag */
	bool idle_loss;			/* what is a hart's own has no power while it sleeps */
	bool coherent;			/* caches see what sinks write */
	bool late_data;			/* what sinks write reaches memory behind a fence only */
	uint32_t funnel_drops;		/* funnels lose one of so many messages; 0: none */
	bool holes;			/* registers that do not exist must not be accessed */
	uint32_t carveout;		/* memory of each sink in bytes, at a place of its own */
	bool power;			/* components have no power until the guest turns it on */
	bool clock_gate;			/* the same of a clock */
	uint32_t registers;		/* enum model_registers */
	uint32_t version, protocol_version;
	uint32_t modes, sync_modes, formats;	/* a bit per supported value */
	uint32_t filters, comparators, ts_modes;
	uint32_t warl_control, warl_features, warl_filter, warl_comparator, warl_triggers;
	uint32_t warl_funnel, pib_modes;
	uint32_t access_width;
	uint32_t sram;			/* bytes; 0: the sink has none */
	bool smem, live_read;
	uint32_t stuck; /* a bit per component type whose handshakes are never answered */
	bool own_hart;			/* encoders only answer their own hart */
	uint32_t stuck_after;	/* answers before that; a reset helps then */
	uint32_t fifo, drain;
	bool stall;			/* a stalled hart waits */
	enum rvt_dialect dialect;
	uint32_t icnt_bits, hist_bits, hrepeat_bits, bcnt_bits, stack_depth;
	enum rvt_timestamp timestamp;
	uint32_t clock;			/* enum model_clock */
	bool zcm;
	uint32_t ts_width;
	uint32_t scontext_bits, hcontext_bits, impdef_bits;
	bool guest_scontext;		/* guests (V=1) may access scontext */
	uint64_t discovery[2];		/* replace those made by other arguments; 0: no */
};

/* Parses the arguments. Returns 0, or -EINVAL after a message on stderr. */
int args_parse(struct model_args *args, int argc, char **argv);

/* ---- blocks.c ---- */

/*
 * A block as translated; equal blocks are kept once. Never freed, as harts and truth files refer to
 * it.
 */
struct block {
	uint64_t pc;
	uint32_t n, bytes;
	uint8_t prv, v;
	struct insn_class last;		/* of the last instruction */
	uint8_t upper_rd;		/* register that the one before it loaded, else 0 */
	int64_t truth_id[MODEL_MAX_HARTS];
	struct block *elsewhere[MODEL_MAX_HARTS]; /* where each hart last met the same code */
	uint8_t *code;
	uint8_t halfwords[];
};

/*
 * A hart's position in its current block, which inline code writes at the few places that matter.
 */
struct cursor {
	uint64_t attention;	/* nonzero: call hart_block() */
	uint64_t at; /* number of the instruction at which the block may be left, or ... */
};
#define CURSOR_THROUGH UINT64_MAX /* ... none: the block runs to its end */

/* Returns the known block that equals @b, or makes @b known. */
struct block *block_intern(const struct block *b);
uint64_t block_pc(const struct block *b, uint32_t index);
/* Returns the block like @b at @pc. */
struct block *block_at(struct block *b, unsigned int hart, uint64_t pc);

/* ---- translate.c ---- */

void translate_init(void);
void translate_block(struct qemu_plugin_tb *tb, void *userdata);

/* ---- cpu.c ---- */

struct trap_csrs {
	uint64_t cause, epc, tval;
};

/*
 * To be called once per hart, in its context. All other functions are about the hart in whose
 * context they run, too.
 */
void cpu_init(void);
uint64_t cpu_pc(void);
/* Sets the privilege, and whether it is a guest's (V=1). */
void cpu_mode(uint8_t *prv, uint8_t *v);
uint64_t cpu_time(void);
void cpu_trap_csrs(unsigned int prv, struct trap_csrs *csrs);
uint64_t cpu_x(unsigned int reg);
/* Reads CSR @number. Returns false if the model does not know it by name. */
bool cpu_csr(unsigned int number, uint64_t *value);
void cpu_set_x(unsigned int reg, uint64_t value);

/* ---- hart.c ---- */

struct component;

struct hart {
	unsigned int id;
	pthread_mutex_t lock;
	struct component *encoder;
	/* position */
	const struct block *block;
	uint32_t first; /* instructions of the block before this one are accounted for */
	uint64_t last_end;		/* end of the last retired instruction, 0 after a trap */
	uint64_t next_pc;		/* where it continued then */
	uint8_t upper_rd;		/* register that it loaded (lui ...), else 0 */
	uint8_t prv, v;
	uint64_t scontext, hcontext;
	uint64_t tval;			/* of the last trap */
	uint32_t impdef;		/* sideband signals, set by software of the model */
	uint64_t insns;			/* retired while the hart was followed */
	uint64_t last_stamp;
	/* state of tracing */
	bool following;			/* hart_block() is being called */
	bool begun;			/* it was wanted at least once */
	bool wanted;			/* InstTracing, with all that it needs */
	bool started;			/* and the filters pass: the encoder gets the flow */
	bool lossy;
	bool emitted;
	/* an access whose outcome QEMU does not report; .size 0: none */
	struct {
		struct rvt_access access;
		uint64_t pc;
		uint8_t rd;		/* register that will have the outcome */
	} unsettled;
	struct rvt_truth_writer *truth;
	bool truth_state;		/* the truth has had a STATE since it began */
	uint64_t truth_flushed;		/* of insns */
};

extern struct hart harts[MODEL_MAX_HARTS];
extern unsigned int n_harts;
/* The hart in whose context a call-back runs; NULL elsewhere. */
extern _Thread_local struct hart *this_hart;
/* Whether the call-back is one of execution: the hart can wait, as it holds only its own lock. */
extern _Thread_local bool can_wait;

void harts_init(unsigned int n);
void harts_exit(void);
void hart_block(unsigned int vcpu, void *userdata);
void hart_discontinuity(unsigned int vcpu, enum qemu_plugin_discon_type type, uint64_t from_pc,
			uint64_t to_pc, void *userdata);
/*
 * Takes a change of InstTracing or of what it depends on. The caller does not hold the hart's lock.
 */
void hart_want(struct hart *hart, bool wanted);
/* Ends the current instruction of this_hart, which continues at @next_pc in another block. */
void hart_leave(struct hart *hart, uint64_t next_pc);
/*
 * Takes a context CSR that the current instruction of this_hart wrote. The hart continues at
 * @next_pc.
 */
void hart_context(struct hart *hart, bool hcontext, uint64_t value, uint64_t next_pc);
/*
 * Puts a notification into the trace; @external: of an external trigger. The caller does not hold
 * the lock.
 */
void hart_mark(struct hart *hart, bool external);
/* Changes the sideband signals of the hart. The caller does not hold the lock. */
void hart_set_impdef(struct hart *hart, uint32_t impdef);

/* ---- data.c ---- */

/* Returns whether encoders have data trace. */
bool data_enabled(void);
/*
 * Has the accesses of instruction @index of a block told to the encoder. @after: the next
 * instruction, or NULL at the end of the block.
 */
void data_instrument(struct qemu_plugin_insn *insn, struct qemu_plugin_insn *after,
		     const struct insn_class *c, uint32_t word, size_t index);
/*
 * Tells an access to a CSR that the model executed itself. The caller does not hold the hart's
 * lock.
 */
void data_csr(struct hart *hart, const struct insn_class *c, uint64_t value, uint64_t operand);
/*
 * Tells an access whose outcome is known now: the hart continues at @pc, or trapped there. The
 * caller holds the hart's lock, and registers can be read.
 */
void data_settle(struct hart *hart, uint64_t pc);
void data_exit(void);

/* ---- coherence.c ---- */

/* Returns 0, or -1 after a message. */
int coherence_init(void);
/* A sink has written @len bytes of memory at bus address @addr. */
void coherence_sink_wrote(const struct component *c, uint64_t addr, uint32_t len);
/* Follows what the instruction does to cache blocks. */
void coherence_instrument(struct qemu_plugin_insn *insn, uint32_t word);

/* ---- memory.c ---- */

/* Sink @c writes @len bytes, at most 64, at bus address @addr, which is memory. */
void memory_write(const struct component *c, uint64_t addr, const uint8_t *bytes, uint32_t len);
/* A hart has read a register of a component. */
void memory_register_was_read(unsigned int vcpu);
/* Follows what the instruction orders. */
void memory_instrument(struct qemu_plugin_insn *insn, uint32_t word);

/* ---- csr.c ---- */

void csr_instrument(struct qemu_plugin_insn *insn, const struct insn_class *c, uint64_t pc);
/* Returns whether the model has the CSR, because QEMU does not. */
bool csr_is_modelled(int csr);

/* ---- regs.c ---- */

enum part_type {
	PART_ENCODER = 0x1, PART_FUNNEL = 0x8, PART_RAM_SINK = 0x9, PART_PIB = 0xa,
	PART_ATB_BRIDGE = 0xe,
	/* of CoreSight, which has no such numbers */
	PART_CORESIGHT = 0x10,
};

#define CTL_ACTIVE	(1u << 0)
#define CTL_ENABLE	(1u << 1)
#define CTL_EMPTY	(1u << 3)
#define CTL_HANDSHAKE	(CTL_ACTIVE | CTL_ENABLE | CTL_EMPTY)

/* A register: which bits can be written, and its value after activation. */
struct reg_desc {
	uint32_t offset;
	uint32_t known;		/* bits that the specification defines */
	uint32_t warl;		/* bits that this component keeps */
	uint32_t undefined;	/* bits that hold junk until written */
	uint32_t value;		/* of the other bits after activation */
	bool live;		/* may be written while the component is enabled */
	bool must_init;		/* must not hold junk once the component is enabled */
};

struct part_ops {
	const char *name;
	/*
	 * Returns a legal value for a write of @value (already masked by warl) to the register at
	 * @offset.
	 */
	uint32_t (*legal)(struct component *c, uint32_t offset, uint32_t value);
	/* Takes effects of a register write that is done; not called for Active and Enable. */
	void (*wrote)(struct component *c, uint32_t offset, uint32_t value);
	/* The component came out of reset. */
	void (*reset)(struct component *c);
	/* The guest read the register. */
	void (*was_read)(struct component *c, uint32_t offset);
	/* Enable was set. Returns what is wrong with that, or NULL. */
	const char *(*enable)(struct component *c);
	/*
	 * .disable: Enable was cleared. .flush comes later, before Empty is shown: the last data
	 * leaves.
	 */
	void (*disable)(struct component *c);
	void (*flush)(struct component *c);
	/* bits of Control that may be written while the component is enabled */
	uint32_t live_control;
	uint32_t write_1_clears;
	/*
	 * Writes a register of a block that is always active, and has nothing of the Trace Control
	 * Interface but its place before a sink.
	 */
	void (*foreign_write)(struct component *c, uint32_t offset, uint32_t value);
	/*
	 * Takes a whole message. Returns 0 or -ENOSPC. The caller holds the path locks of the
	 * components before.
	 */
	int (*accept)(struct component *c, const struct component *from, const uint8_t *bytes,
		      size_t len);
};

/* The answer of a handshake, to be given later. */
struct handshake {
	uint64_t when;			/* by the clock of the component's answers */
	uint32_t set, clear;
	bool activate, flush;
};

struct component {
	enum part_type type;
	const struct part_ops *ops;
	/* the block that shows its registers, if that is another component */
	struct component *front;
	const struct reg_desc *descs;
	unsigned int n_descs;
	unsigned int index;
	uint32_t offset;		/* offset in the window */
	volatile uint32_t *page;	/* what the guest reads */
	uint32_t reg[MODEL_PAGE / 4];
	uint8_t written[MODEL_PAGE / 4];
	uint32_t shown;			/* Active, Enable and Empty as the guest sees them */
	bool enabled;			/* Enable as last written */
	uint32_t sticky;		/* atomic: bits of Control that hardware sets */
	bool stopped;			/* atomic: the component cleared its Enable itself */
	uint32_t answers;
	uint64_t reads;			/* of Control */
	bool mute;			/* answers nothing until reset */
	struct handshake pending[MODEL_MAX_PENDING];
	unsigned int n_pending;
	struct component *out[MODEL_MAX_OUTS];
	unsigned int n_outs;
	struct component *in[MODEL_MAX_HARTS];
	unsigned int n_ins;
	pthread_mutex_t path_lock;
	struct timestamp {
		/*
		 * .base: its clock when the counter was 0; .held: the counter while it is stopped
		 */
		uint64_t base, held;
	} timestamp;
	void *own;			/* state of encoder.c, sink.c ... */
	FILE *capture;
	uint64_t random;
	uint64_t taken;			/* of a funnel: messages that arrived */
};

extern struct component parts[MODEL_MAX_PARTS];
extern unsigned int n_parts;
extern struct model {
	struct model_args args;
	pthread_mutex_t lock;
	uint8_t *ram;			/* guest memory from args.ram_base */
	bool off;			/* the components have no power */
	struct rvt_params etrace;	/* parameters of this hardware's E-Trace encoders */
	struct qemu_plugin_scoreboard *cursors;
} model;

int regs_init(void);
/* Turns the machine off: nothing may be enabled any more. */
void regs_exit(void);
struct component *part_new(enum part_type type, const struct part_ops *ops,
			   const struct reg_desc *descs, unsigned int n_descs, unsigned int index,
			   uint32_t offset);
/* Memory call-backs. */
void regs_stored(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);
void regs_loaded(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata);
/* Instruction call-back: the firmware lets a hart sleep. */
void regs_hart_sleeps(unsigned int vcpu, void *userdata);
/* Writes a register as if the guest did. The caller holds model.lock. */
void part_write(struct component *c, uint32_t offset, uint32_t value);
/* Sets a register and shows it. */
void reg_set(struct component *c, uint32_t offset, uint32_t value);
static inline uint32_t reg_get(const struct component *c, uint32_t offset)
{
	return c->reg[offset / 4];
}
/*
 * For the data path, without model.lock: part_stopped() turns the component off; part_sticky() sets
 * a bit of Control.
 */
void part_stopped(struct component *c);
void part_sticky(struct component *c, uint32_t bit);
/* Shows the current Control. */
void part_show(struct component *c);
uint32_t part_random(struct component *c);
__attribute__((format(printf, 2, 3))) void violation(const struct component *c, const char *fmt,
						     ...);

/* ---- topology.c ---- */

/* Makes the components that args.topology names, for @n harts. Returns 0 or -errno. */
int topology_build(unsigned int n);
/*
 * Makes the discovery registers of E-Trace encoders, by model.etrace: plain memory, with a block
 * for each hart. Returns 0, or -EINVAL after a message on stderr.
 */
#define DISCOVERY(hart)	(0x30000u + 0x80u * (hart))
#define MODEL_FORMAT_ETRACE (1u << 0)
int discovery_build(unsigned int n);

/* ---- path.c ---- */

/* Passes a message on to what @c feeds. Returns 0, or -ENOSPC when nothing enabled took it. */
int part_pass(struct component *c, const uint8_t *bytes, size_t len);
bool part_has_room(const struct component *c);
/* Writes what leaves the chip through @c to a file, if the model was given a directory. */
void capture(struct component *c, const uint8_t *bytes, size_t len);

/* ---- timestamp.c: the timestamp unit of encoders and funnels ---- */

#define TS_CONTROL	0x040
#define TS_LOW		0x048
#define TS_HIGH		0x04c
#define TS_DESCS	3

/* Writes TS_DESCS descriptions. */
void timestamp_describe(struct reg_desc *descs, bool encoder);
uint32_t timestamp_legal(const struct component *c, uint32_t value);
void timestamp_wrote(struct component *c, uint32_t value);
/* Updates the counter registers. */
void timestamp_show(struct component *c);
bool timestamp_enabled(const struct component *c);
uint64_t timestamp_now(const struct component *c);
/* Returns the guest's time CSR; also works outside of a hart's context. */
uint64_t model_time(void);

/* ---- components ---- */

struct component *encoder_new(unsigned int index, uint32_t offset);
struct component *sink_new(unsigned int index, uint32_t offset);
struct component *funnel_new(unsigned int index, uint32_t offset);
struct component *pib_new(unsigned int index, uint32_t offset);
struct component *atb_new(unsigned int index, uint32_t offset);
/* ATB id of the bridge from which the components behind it are accepting data. */
extern _Thread_local unsigned int atb_id;
/*
 * Make CoreSight components: a funnel, and a Trace Memory Controller as FIFO or as sink in memory.
 */
struct component *csfunnel_new(unsigned int index, uint32_t offset);
struct component *etf_new(unsigned int index, uint32_t offset);
struct component *etr_new(unsigned int index, uint32_t offset);
/*
 * Makes the registers from before ratification of an encoder or a funnel, and of a sink that it
 * feeds, or NULL. The guest finds them at @offset, and not at the places of those two.
 */
struct component *v0_new(struct component *host, struct component *sink, unsigned int src_bits,
			 uint32_t offset);
/* Notes that a register of a component behind the block has changed. */
void v0_changed(struct component *c, const struct component *inner, uint32_t offset);

/* An encoder as its hart sees it; under the hart's lock. */
void encoder_begin(struct component *c);
void encoder_retire(struct component *c, const struct rvt_retire *run);
/* Returns whether the encoder has data trace. */
bool encoder_access(struct component *c, const struct rvt_access *access);
void encoder_trap(struct component *c, const struct rvt_trap *trap);
void encoder_context(struct component *c, bool hcontext, uint64_t value);
/* Makes a notification at the next instruction; @external: of an external trigger. */
void encoder_mark(struct component *c, bool external);
/* Actions of triggers, external ones and those of the Debug Module. */
enum { TRIG_ON = 2, TRIG_OFF = 3, TRIG_NOTIFY = 4 };
/* Returns the action of a debug trigger at @pc: TRIG_* or 0. */
unsigned int encoder_debug_action(const struct component *c, uint64_t pc);
bool encoder_is_armed(const struct component *c);
/*
 * Sets InstTracing for a debug trigger. Returns false if it has this value already. The caller
 * stops or starts the hart.
 */
bool encoder_debug_trace(struct component *c, bool on);
void encoder_end(struct component *c, uint64_t next_pc);
bool encoder_lossy(const struct component *c);

/* ---- filter.c: what an encoder traces; under the hart's lock ---- */

/* Returns whether comparators or triggers need to see each instruction by itself. */
bool filter_by_insn(const struct component *c);
/*
 * Returns whether the filters pass the instruction at @pc, which the hart is about to execute with
 * @prv and V=@v.
 */
bool filter_qualifies(struct component *c, unsigned int prv, unsigned int v, uint64_t pc);
/* Shows a retired instruction to comparators with side effects. */
void filter_retired(struct component *c, uint64_t pc);
/* Returns whether a comparator sends a notification when the instruction at @pc retires. */
bool filter_notifies(const struct component *c, uint64_t pc);
/* Take a trap, and a retired xRET. */
void filter_trap(struct component *c, const struct rvt_trap *trap);
void filter_trap_return(struct component *c);
void filter_reset(struct component *c);

#endif
