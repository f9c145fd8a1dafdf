/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The tandem-verification trace protocol, version 2018-11-20: a complete architectural trace of one
 * hart (pc, instruction, registers, memory, traps), and its check against a golden model.
 * "ch." and "app." below refer to that document; Documentation/tandem.rst says how its
 * contradictions are read.
 */
#ifndef RVTRACE_TANDEM_H
#define RVTRACE_TANDEM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

/* Which text the encoder follows where they contradict each other; the decoder reads both. */
enum rvt_tandem_text {
	RVT_TANDEM_CHAPTER_2,
	/*
	 * the pc's identifier is the byte 0x10; a record with RVT_TANDEM_QUIRK_INSN16 has opcode 16
	 */
	RVT_TANDEM_APPENDIX_C,
};

/* What encoder and decoder must agree on (ch. 3), in bits. */
struct rvt_tandem_params {
	unsigned int xlen;	/* 32 or 64 */
	unsigned int flen;	/* 32 or 64 */
	unsigned int ilen;	/* longest instruction: 16 or 32 */
	unsigned int mlen;	/* 32, 34 or 64; fields are rounded up to whole bytes */
	enum rvt_tandem_text text;
};

/* Opcodes, ch. 2. */
enum rvt_tandem_op {
	RVT_TANDEM_BEGIN_GROUP = 1,
	RVT_TANDEM_END_GROUP = 2,
	RVT_TANDEM_INC_PC = 3,
	RVT_TANDEM_REG_FULL = 4,
	RVT_TANDEM_REG_ADD = 5,
	RVT_TANDEM_REG_OR = 6,
	RVT_TANDEM_STATE = 7,
	RVT_TANDEM_MEM_REQ = 8,
	RVT_TANDEM_MEM_RSP = 9,
	RVT_TANDEM_RESET = 10,
	RVT_TANDEM_STATE_INIT = 11,
	RVT_TANDEM_INSN16 = 16,
	RVT_TANDEM_INSN32 = 17,
	RVT_TANDEM_OPS
};

enum rvt_tandem_mem_op {
	RVT_TANDEM_LOAD = 0,
	RVT_TANDEM_STORE = 1,
	RVT_TANDEM_LR = 2,
	RVT_TANDEM_SC = 3,
	RVT_TANDEM_AMO_SWAP = 4,
	RVT_TANDEM_AMO_ADD,
	RVT_TANDEM_AMO_XOR,
	RVT_TANDEM_AMO_AND,
	RVT_TANDEM_AMO_OR,
	RVT_TANDEM_AMO_MIN,
	RVT_TANDEM_AMO_MAX,
	RVT_TANDEM_AMO_MINU,
	RVT_TANDEM_AMO_MAXU = 12,
	RVT_TANDEM_FETCH = 13,
	RVT_TANDEM_MEM_OPS
};

/* Identifiers of additional state. */
enum rvt_tandem_state_id {
	RVT_TANDEM_PRIV = 1,
	RVT_TANDEM_PADDR = 2,
	RVT_TANDEM_EADDR = 3,
	RVT_TANDEM_STORE8 = 4,
	RVT_TANDEM_STORE16 = 5,
	RVT_TANDEM_STORE32 = 6,
	RVT_TANDEM_STORE64 = 7,
	RVT_TANDEM_MTIME = 8,
	RVT_TANDEM_PC_PADDR = 9,
	RVT_TANDEM_PC = 10,
	RVT_TANDEM_STATE_IDS
};

/* Register addresses of the RISC-V Debug Specification; CSRs are 0x000-0xfff. */
#define RVT_TANDEM_GPR 0x1000
#define RVT_TANDEM_FPR 0x1020
#define RVT_TANDEM_REGS 0x1040

/* Readings of bytes that contradict the text (app. C); written as RVT_TANDEM_APPENDIX_C only. */
enum {
	RVT_TANDEM_QUIRK_PC_ID = 1u << 0,	/* the pc's identifier written as 0x10 */
	RVT_TANDEM_QUIRK_INSN16 = 1u << 1,	/* opcode 16 before a 32-bit instruction */
};

/* What is wrong; the first five are forgiven (the trace can still be read). */
enum rvt_tandem_problem {
	RVT_TANDEM_OK,
	RVT_TANDEM_ORPHAN_END,		/* end group without begin */
	RVT_TANDEM_NESTED_BEGIN,	/* begin group in a group, but for the implied end */
	RVT_TANDEM_OPEN_AT_END,		/* the trace ends in a group */
	RVT_TANDEM_QUIRK,		/* see RVT_TANDEM_QUIRK_* */
	RVT_TANDEM_FORGIVEN = RVT_TANDEM_QUIRK,
	RVT_TANDEM_INC_PC_ALONE,	/* increment pc not in a group with an instruction */
	RVT_TANDEM_ORPHAN_RSP,		/* response not immediately after a request */
	RVT_TANDEM_RSP_SIZE,		/* response of another size than its request */
	RVT_TANDEM_INIT_MIXED,		/* state initialization with instruction or reset */
	RVT_TANDEM_INIT_ALONE,		/* state initialization outside a group */
	RVT_TANDEM_AMBIGUOUS,		/* two instructions, or values of a state or register, in a
					 * group */
	/* from here on the byte stream itself cannot be followed */
	RVT_TANDEM_BAD_OPCODE,
	RVT_TANDEM_BAD_REGISTER,
	RVT_TANDEM_BAD_STATE_ID,
	RVT_TANDEM_BAD_MEM,		/* size, operation or result that is not defined */
	RVT_TANDEM_TRUNCATED,
	RVT_TANDEM_PROBLEMS
};

/* One opcode with its fields. */
struct rvt_tandem_record {
	uint64_t offset;	/* of the opcode byte in the trace */
	uint32_t len_bytes;
	uint8_t op;		/* enum rvt_tandem_op */
	uint8_t quirks;		/* RVT_TANDEM_QUIRK_* */
	uint8_t state_id;	/* STATE */
	uint8_t mem_op;		/* MEM_REQ; MEM_RSP: that of its request */
	uint8_t mem_size;	/* MEM_*: log2 of the bytes */
	uint8_t mem_result;	/* MEM_RSP: 0 success, 1 failure */
	uint16_t reg;		/* REG_* */
	uint64_t addr;		/* MEM_REQ */
	/* REG_*: data, signed offset or mask; STATE; MEM_*: data; INSN*: the instruction */
	uint64_t value;
};

#define RVT_TANDEM_MAX_RECORD 24	/* bytes */

/* xlen 64: flen 64, mlen 64; xlen 32: flen 64, mlen 34 (with Sv32); ilen 32; ch. 2. */
void rvt_tandem_params_init(struct rvt_tandem_params *params, unsigned int xlen);
/* Returns 0 or -EINVAL. */
int rvt_tandem_params_check(const struct rvt_tandem_params *params);

/*
 * rvt_tandem_encode - write one record (all but offset and len_bytes) to @out, which has
 * RVT_TANDEM_MAX_RECORD bytes. A response needs .mem_op of its request.
 * Returns the bytes written, or -EINVAL for a record that the protocol cannot express.
 */
int rvt_tandem_encode(const struct rvt_tandem_params *params,
		      const struct rvt_tandem_record *record, uint8_t *out);
/*
 * rvt_tandem_decode - read one record from @len bytes. @request: the record immediately before, or
 * NULL; it tells whether a response has data (after no request: it has). record->offset is not set.
 * Returns the bytes read, or -EBADMSG with *@problem one of BAD_*, TRUNCATED.
 */
int rvt_tandem_decode(const struct rvt_tandem_params *params, const uint8_t *bytes, size_t len,
		      const struct rvt_tandem_record *request, struct rvt_tandem_record *record,
		      enum rvt_tandem_problem *problem);

/* A memory request of a group with the response that followed it, if one did. */
struct rvt_tandem_access {
	uint64_t addr, store_data, load_data;
	uint8_t mem_op, mem_size, result;
	bool has_response;
};

/* A register update; values of incremental forms are not yet applied. */
struct rvt_tandem_update {
	uint16_t reg;
	uint8_t op;		/* RVT_TANDEM_REG_* */
	uint64_t value;
};

/* All that changes in one step: a group, or one state change outside of groups. */
struct rvt_tandem_group {
	uint64_t offset, end;		/* bytes of the trace: [offset, end) */
	bool in_group;
	bool has_insn, inc_pc, reset, init;
	bool after_gap;			/* bytes before it were skipped: groups may be missing */
	uint8_t insn_bytes;		/* 2 or 4 */
	uint32_t insn;
	uint16_t states;		/* bit n: state identifier n is in .state[n] */
	uint64_t state[RVT_TANDEM_STATE_IDS];
	size_t updates_len, accesses_len;
	const struct rvt_tandem_update *updates;
	const struct rvt_tandem_access *accesses;
};

/* Called for every problem; @offset: where. */
typedef void (*rvt_tandem_problem_fn)(void *ctx, uint64_t offset, enum rvt_tandem_problem problem);

struct rvt_tandem_reader;

/*
 * Open a file (or "-"); the reader owns the mapping.
 * Returns 0, -errno of open/mmap, -EINVAL, -ENOMEM.
 */
int rvt_tandem_open(const char *path, const struct rvt_tandem_params *params,
		    struct rvt_tandem_reader **reader);
/* The same for @len bytes in memory, which must stay until close. */
int rvt_tandem_open_memory(const void *bytes, size_t len, const struct rvt_tandem_params *params,
			   struct rvt_tandem_reader **reader);
void rvt_tandem_close(struct rvt_tandem_reader *reader);
void rvt_tandem_on_problem(struct rvt_tandem_reader *reader, rvt_tandem_problem_fn fn, void *ctx);
/*
 * The next record. Where the stream cannot be followed the problem is reported and reading goes on
 * at the next end group - begin group pair that is followed by whole records.
 * Returns 1 with a record, 0 at the end.
 */
int rvt_tandem_next(struct rvt_tandem_reader *reader, struct rvt_tandem_record *record);
/* The next group; valid until the next call. Not to be mixed with rvt_tandem_next(). */
int rvt_tandem_next_group(struct rvt_tandem_reader *reader,
			  struct rvt_tandem_group *group);	/* 1, 0 at the end, -ENOMEM */

struct rvt_tandem_stats {
	uint64_t bytes, skipped_bytes, groups;
	uint64_t ops[RVT_TANDEM_OPS];
	uint64_t problems[RVT_TANDEM_PROBLEMS];
};
const struct rvt_tandem_stats *rvt_tandem_stats(const struct rvt_tandem_reader *reader);

/* Names for people. Static strings. */
const char *rvt_tandem_op_name(unsigned int op);
const char *rvt_tandem_mem_op_name(unsigned int op);
const char *rvt_tandem_state_name(unsigned int id);
const char *rvt_tandem_problem_name(enum rvt_tandem_problem problem);
/* "a0", "fa0", "mstatus", "csr 0x7c0"; @buf (16 bytes) is used where there is no name. */
const char *rvt_tandem_reg_name(unsigned int reg, char *buf);
/* The register with this name or number (0x...), or -EINVAL. */
int rvt_tandem_reg_find(const char *name);
/* One line for a record, without a newline. */
void rvt_tandem_print(FILE *out, const struct rvt_tandem_params *params,
		      const struct rvt_tandem_record *record);

/*
 * Sparse physical memory; every byte is known or not yet known (zero).
 */
struct rvt_tandem_memory;
struct rvt_tandem_memory *rvt_tandem_memory_create(void);
void rvt_tandem_memory_destroy(struct rvt_tandem_memory *memory);
/* Returns 0, or -ENOMEM. Marks the bytes as known. */
int rvt_tandem_memory_write(struct rvt_tandem_memory *memory, uint64_t addr, const void *bytes,
			    size_t len);
/* Returns how many of the bytes are known; unknown ones are zero. */
size_t rvt_tandem_memory_read(struct rvt_tandem_memory *memory, uint64_t addr, void *bytes,
			      size_t len);
/* The 4096 bytes of the page at @addr (page-aligned host memory that never moves), or NULL. */
uint8_t *rvt_tandem_memory_page(struct rvt_tandem_memory *memory, uint64_t addr);
/* Marks bytes as known that were written by way of rvt_tandem_memory_page(). */
void rvt_tandem_memory_mark(struct rvt_tandem_memory *memory, uint64_t addr, size_t len);

/*
 * Shadow state (ch. 3.1): what the trace says the hart's state is.
 */
struct rvt_tandem_shadow {
	struct rvt_tandem_params params;
	uint64_t regs[RVT_TANDEM_REGS];
	uint8_t known[RVT_TANDEM_REGS];
	uint64_t pc, privilege, mtime;
	bool pc_known, privilege_known;
	struct rvt_tandem_memory *memory;
};
/* Returns 0 or -ENOMEM; free with rvt_tandem_shadow_fini(). */
int rvt_tandem_shadow_init(struct rvt_tandem_shadow *shadow,
			   const struct rvt_tandem_params *params);
void rvt_tandem_shadow_fini(struct rvt_tandem_shadow *shadow);
/* Applies a whole group (step 1). Returns 0 or -ENOMEM. */
int rvt_tandem_shadow_apply(struct rvt_tandem_shadow *shadow,
			    const struct rvt_tandem_group *group);
/* The bytes that a store, sc or amo left in memory. Returns their count, 0 for none. */
size_t rvt_tandem_access_stored(const struct rvt_tandem_access *access, uint64_t *bytes);

/*
 * The golden model (ch. 3.4, app. A): read state, write state, execute one instruction, reset.
 */
enum rvt_tandem_space {
	RVT_TANDEM_SPACE_REGISTER,	/* address: that of the debug specification; 8 bytes */
	RVT_TANDEM_SPACE_PC,		/* 8 bytes */
	RVT_TANDEM_SPACE_PRIVILEGE,	/* 8 bytes: 0, 1, 3 */
	RVT_TANDEM_SPACE_MEMORY,	/* address: physical */
	/* Inputs of the next execute (write only, 8 bytes), forgotten after it: */
	RVT_TANDEM_SPACE_INSN,		/* what was fetched, for code bytes that are not known */
	RVT_TANDEM_SPACE_TRANSLATION,	/* physical address of the effective address .address, for
					 * page tables that are not known */
	RVT_TANDEM_SPACE_INTERRUPT,	/* take the interrupt with this cause */
	RVT_TANDEM_SPACE_SC_FAILS,	/* a store conditional fails, as it may for any reason */
	/* an access fault, or a misaligned access, with this cause */
	RVT_TANDEM_SPACE_BUS_ERROR,
	/* These stay: */
	RVT_TANDEM_SPACE_PENDING,	/* external interrupts pending, in the bits of .address (as
					 * mip; SEIP: that of the interrupt controller) */
	/* SSIP, STIP, SEIP as software wrote them; read and write */
	RVT_TANDEM_SPACE_SOFT_PENDING,
	RVT_TANDEM_SPACE_CHOICES,	/* RVT_TANDEM_CHOICE_* */
};

/* What implementations may choose; without them, the golden model's choices are expected. */
enum {
	RVT_TANDEM_CHOICE_EBREAK_TVAL_0 = 1u << 0,	/* xtval of ebreak is 0, not the pc */
	/* of illegal instructions: 0, not the bits */
	RVT_TANDEM_CHOICE_ILLEGAL_TVAL_0 = 1u << 1,
	RVT_TANDEM_CHOICE_MISALIGNED = 1u << 2,		/* misaligned loads and stores may trap */
	RVT_TANDEM_CHOICE_AD_FAULT = 1u << 3,	/* page faults instead of updating A and D */
	RVT_TANDEM_CHOICE_WARL = 1u << 4,	/* a written WARL CSR is what the trace tells */
	/* minstret counts something else than instructions that retired; it is only monotonic */
	RVT_TANDEM_CHOICE_MINSTRET = 1u << 5,
};

enum {
	RVT_TANDEM_OUT_TRAP = 1u << 0,		/* a trap was taken instead of retiring */
	/* The rest: the outcome cannot be compared; see .what */
	RVT_TANDEM_OUT_UNKNOWN_CODE = 1u << 1,	/* code bytes not known */
	RVT_TANDEM_OUT_UNKNOWN_MEMORY = 1u << 2, /* data or page tables not known */
	RVT_TANDEM_OUT_UNMODELLED = 1u << 3,	/* the golden model lacks this (.what: the CSR) */
	/* two sources of the golden model disagree about it (.what: the instruction) */
	RVT_TANDEM_OUT_DISPUTED = 1u << 4,
	RVT_TANDEM_OUT_INCOMPARABLE = RVT_TANDEM_OUT_UNKNOWN_CODE |
				      RVT_TANDEM_OUT_UNKNOWN_MEMORY | RVT_TANDEM_OUT_UNMODELLED |
				      RVT_TANDEM_OUT_DISPUTED,
};

#define RVT_TANDEM_MAX_WRITES 8

struct rvt_tandem_outcome {
	unsigned int flags;		/* RVT_TANDEM_OUT_* */
	unsigned int what;
	uint32_t insn;			/* as fetched by the golden model */
	unsigned int writes_len;	/* memory that it wrote, physical */
	struct {
		uint64_t addr;
		uint32_t len;
	} writes[RVT_TANDEM_MAX_WRITES];
	bool has_paddr;			/* it accessed data, or tried to; where */
	bool bus_error;			/* in vain */
	bool store_failed;		/* a store conditional that stored nothing */
	bool has_pc_paddr;		/* the golden model's translation of the pc */
	uint64_t pc_paddr;
	uint64_t paddr, eaddr;
};

struct rvt_tandem_verifier_ops {
	/* All return 0 or -errno; -ENOENT: this state is not modelled. */
	int (*read)(void *ctx, enum rvt_tandem_space space, uint64_t address, void *data,
		    size_t len);
	int (*write)(void *ctx, enum rvt_tandem_space space, uint64_t address, const void *data,
		     size_t len);
	int (*execute)(void *ctx, struct rvt_tandem_outcome *outcome);
	int (*reset)(void *ctx);
};

#define RVT_TANDEM_MAX_RANGES 16

struct rvt_tandem_range {
	uint64_t base, size;
};

struct rvt_tandem_verify_options {
	const struct rvt_tandem_verifier_ops *ops;
	void *ctx;			/* of the verifier */
	/* RAM; accesses elsewhere are device accesses, whose loads are inputs. None: all is RAM. */
	unsigned int ram_len;
	struct rvt_tandem_range ram[RVT_TANDEM_MAX_RANGES];
	unsigned int choices;		/* RVT_TANDEM_CHOICE_* */
	bool shared_memory;		/* loads are inputs: other harts or DMA write to RAM */
	/* Absent from the trace (ch. 3.2): not compared, not copied. */
	bool absent_pc, absent_privilege, absent_memory;
	bool absent_regs[RVT_TANDEM_REGS];
	uint64_t max_reports;		/* mismatches given to .report; 0: all */
	uint64_t max_insns;		/* stop after so many; 0: never */
	void *report_ctx;
	void (*report)(void *ctx, const struct rvt_tandem_shadow *shadow, uint64_t number,
		       uint64_t pc, const struct rvt_tandem_group *group, const char *text);
	/* May be NULL; called now and then with the offset reached. */
	void (*progress)(void *ctx, uint64_t offset);
	volatile const sig_atomic_t *stop; /* not NULL: ends with the result so far when non-zero */
};

struct rvt_tandem_verify_result {
	uint64_t groups, executed, traps, interrupts;
	uint64_t compared;		/* executed and compared; 0: nothing was verified */
	uint64_t mismatched;		/* groups with at least one mismatch */
	uint64_t inputs;		/* values copied before execution */
	uint64_t unknown_code, unknown_memory;	/* groups that could not be compared */
	uint64_t unmodelled;
	uint64_t disputed;		/* the golden model does not know the right answer */
	uint32_t disputed_insn;		/* the last one */
	uint64_t no_pc;			/* groups before the pc was known, or after damage */
	uint64_t doubtful;		/* not compared: they read registers that damage hid */
	uint32_t unmodelled_csr[4096];	/* groups by CSR */
};

/*
 * rvt_tandem_verify - the six steps of ch. 3.1 for each group of @reader.
 * Returns 0 (see @result for mismatches), -EINVAL, -ENOMEM, or the error of the verifier.
 */
int rvt_tandem_verify(struct rvt_tandem_reader *reader, const struct rvt_tandem_params *params,
		      const struct rvt_tandem_verify_options *options,
		      struct rvt_tandem_verify_result *result);
/* Counters, timers and pending bits: inputs of the hart, compared only where read (ch. 1.1). */
bool rvt_tandem_reg_unobserved(unsigned int reg);

RVT_END_DECLS

#endif
