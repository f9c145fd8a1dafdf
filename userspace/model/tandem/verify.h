/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The parts of tandem verification (ch. 3.1): inputs.c is step 2, compare.c step 4. */
#ifndef RVTRACE_TANDEM_VERIFY_H
#define RVTRACE_TANDEM_VERIFY_H

#include "model/tandem/privileged.h"

#define HAS(group, id) ((group)->states >> (id) & 1)

/* What is known of a counter: cycle, time or instret with their machine views. */
struct rvt_tandem_counter {
	bool known, exact;	/* exact: nothing but what .retired and .maybe count was counted */
	uint64_t value;		/* at least this */
	uint64_t retired, maybe; /* the verifier's, when it was that */
};

struct rvt_tandem_verifier {
	const struct rvt_tandem_verify_options *options;
	struct rvt_tandem_verify_result *result;
	struct rvt_tandem_shadow shadow;
	bool unmodelled[RVT_TANDEM_REGS];
	/* registers that are compared: known, observed, not absent, modelled */
	bool listed[RVT_TANDEM_REGS];
	uint16_t list[RVT_TANDEM_REGS];
	unsigned int list_len;
	/*
	 * Of the CSR that the instruction reads: whether the trace had ever told it before this
	 * group.
	 */
	bool csr_known;
	/* pending bits that software writes (SSIP, STIP, SEIP) and that the model knows */
	uint64_t pending_known;
	bool pending_told;	/* the trace tells changes of mip */
	struct rvt_tandem_counter counters[3];
	uint64_t retired, maybe;	/* instructions that retired, that may have */
	/* what the group's instruction wrote with a Zicsr instruction, or 4096 */
	unsigned int csr_written;
	/* a memory response of this group that is not what memory held; .len 0: none */
	struct {
		uint64_t addr, expected, seen;
		unsigned int len;
	} wrong_load;
	/*
	 * registers that damage may have changed, and memory confirmed since; NULL: no damage yet
	 */
	bool doubtful[RVT_TANDEM_REGS];
	bool hidden;			/* the group's step depends on one */
	struct rvt_tandem_memory *confirmed;
	char text[2048];
	size_t text_len;
	unsigned int mismatches;
};

/* Of a CSR number, its index in .counters, or -1. */
int rvt_tandem_counter_index(unsigned int csr);
/* Whether @insn is a Zicsr instruction that reads (or writes) @csr. */
bool rvt_tandem_reads_csr(uint32_t insn, unsigned int *csr);
bool rvt_tandem_writes_csr(uint32_t insn, unsigned int *csr);

/* model.c: the golden model's state. All return 0 or -errno. */
/* State that is not modelled is passed over. */
int rvt_tandem_model_write(struct rvt_tandem_verifier *v, enum rvt_tandem_space space,
			   uint64_t address, const void *data, size_t len);
int rvt_tandem_model_write_value(struct rvt_tandem_verifier *v, enum rvt_tandem_space space,
				 uint64_t address, uint64_t value);
int rvt_tandem_model_read(struct rvt_tandem_verifier *v, enum rvt_tandem_space space,
			  uint64_t address, void *data, size_t len);
bool rvt_tandem_is_ram(const struct rvt_tandem_verifier *v, uint64_t addr);
/* Whether loads from there are inputs each time: devices, memory that others write. */
bool rvt_tandem_is_input(const struct rvt_tandem_verifier *v, uint64_t addr);

/* inputs.c. All return 0 or -errno. */
/* Before the shadow takes the group over: what memory held. */
int rvt_tandem_access_inputs(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group);
/* Step 2, after it. @pc: that of the group's instruction. */
int rvt_tandem_copy_inputs(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			   uint64_t pc);
/*
 * The instruction loaded what the model does not know, and the register says what it was.
 * *@learned: it is known now, and the instruction can be executed again.
 */
int rvt_tandem_learn_load(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			  const struct rvt_tandem_outcome *outcome, bool *learned);

/* The instruction loaded from where loads are inputs: its register is one. Returns 0 or -errno. */
int rvt_tandem_accept_load(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			   const struct rvt_tandem_outcome *outcome);

/* observed.c: mip and counters. */
/* What the group tells of them, or reads, as far as it is an input. Returns 0 or -errno. */
int rvt_tandem_observed_inputs(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group);
/* After the instruction: what the group tells is compared with what it did. */
int rvt_tandem_observed_compare(struct rvt_tandem_verifier *v,
				const struct rvt_tandem_group *group,
				const struct rvt_tandem_outcome *outcome);
/* After a mismatch: what the group's instruction read is not relied on. */
void rvt_tandem_observed_forget(struct rvt_tandem_verifier *v,
				const struct rvt_tandem_group *group);
/* Whether the interrupt with this cause can be pending, by what was told and written. */
bool rvt_tandem_may_be_pending(struct rvt_tandem_verifier *v, uint64_t cause);
/* State comes from outside: nothing of before counts, but what @group tells. */
int rvt_tandem_observed_follow(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group);

/* compare.c */
__attribute__((format(printf, 2, 3)))
void rvt_tandem_mismatch(struct rvt_tandem_verifier *v, const char *format, ...);
void rvt_tandem_mismatch_value(struct rvt_tandem_verifier *v, const char *what, uint64_t expected,
			       uint64_t seen);
/* Has the register compared from now on, if it can be. */
void rvt_tandem_list_register(struct rvt_tandem_verifier *v, unsigned int reg);
/* Step 4; counts v->mismatches and writes v->text, which the caller has cleared. */
void rvt_tandem_compare_state(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group,
			      const struct rvt_tandem_outcome *outcome);

/* damage.c: after bytes that could not be followed. */
/* Returns 0 or -ENOMEM. */
int rvt_tandem_damage_begin(struct rvt_tandem_verifier *v);
/* Whether the group's step depends on a register that is doubtful; before it is applied. */
bool rvt_tandem_damage_hides(const struct rvt_tandem_verifier *v,
			     const struct rvt_tandem_group *group);
/* Such a step agreed: registers that it shows whole are no longer doubtful. */
void rvt_tandem_damage_confirm(struct rvt_tandem_verifier *v,
			       const struct rvt_tandem_group *group);
/* It did not: what it read is what the register was. */
void rvt_tandem_damage_learn(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group);
/* What the group tells is no longer doubtful. */
void rvt_tandem_damage_clear(struct rvt_tandem_verifier *v, const struct rvt_tandem_group *group);

#endif
