/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data trace: tells the encoder what a hart accesses, and writes each access as a line into a file
 * beside the truth. This happens while the hart is traced, and before the instruction itself, which
 * is accounted for with its block.
 *
 * QEMU reports loads and stores, with their values, when they are done; for an atomic operation
 * what it read and wrote. It does not report whether a store-conditional stored, nor CSR accesses:
 * for these, the model notes before the instruction what is known, and takes the rest from register
 * rd when the hart continues behind it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "model.h"

#define OPCODE_AMO 0x2f

/* funct5 of atomic instructions. */
enum { AMO_ADD, AMO_SWAP, AMO_LR, AMO_SC, AMO_XOR, AMO_CAS, AMO_OR = 8, AMO_AND = 12,
       AMO_MIN = 16, AMO_MAX = 20, AMO_MINU = 24, AMO_MAXU = 28 };

static FILE *files[MODEL_MAX_HARTS];

bool data_enabled(void)
{
	return model.etrace.data_width_p;
}

/* Returns the number of bytes; 0: more than an encoder takes. */
static uint8_t value_of(qemu_plugin_mem_value value, uint64_t *number)
{
	switch (value.type) {
	case QEMU_PLUGIN_MEM_VALUE_U8:
		*number = value.data.u8;
		return 1;
	case QEMU_PLUGIN_MEM_VALUE_U16:
		*number = value.data.u16;
		return 2;
	case QEMU_PLUGIN_MEM_VALUE_U32:
		*number = value.data.u32;
		return 4;
	case QEMU_PLUGIN_MEM_VALUE_U64:
		*number = value.data.u64;
		return 8;
	default:
		return 0;
	}
}

static FILE *file_of(const struct hart *h)
{
	char path[4096];

	if (!files[h->id]) {
		snprintf(path, sizeof(path), "%s/accesses.%u", model.args.truth_dir, h->id);
		files[h->id] = fopen(path, "w");
	}
	return files[h->id];
}

static void put_number(FILE *file, bool valid, uint64_t number)
{
	if (valid)
		fprintf(file, " %" PRIx64, number);
	else
		fputs(" -", file);
}

/*
 * Writes "KIND BYTES ADDRESS VALUE [OPERATION OPERAND]", as `perf rvtrace decode --print data`
 * does.
 */
static void tell(const struct hart *h, const struct rvt_access *access)
{
	FILE *file = model.args.truth_dir ? file_of(h) : NULL;

	if (!file)
		return;
	fprintf(file, "%s %u %" PRIx64, rvt_access_kind_name(access->kind), access->bytes,
		access->address);
	put_number(file, access->value_valid, access->value);
	if (access->operation != RVT_ACCESS_PLAIN) {
		fprintf(file, " %s", rvt_access_operation_name(access->operation));
		put_number(file, access->operand_valid, access->operand);
	}
	fputc('\n', file);
}

/* Tells an access. The caller holds the hart's lock. */
static void send(struct hart *h, const struct rvt_access *access)
{
	can_wait = true;
	if (h->started && encoder_access(h->encoder, access))
		tell(h, access);
	can_wait = false;
}

/* Returns whether the hart is traced. Only the hart itself starts tracing, so nothing is missed. */
static bool is_traced(const struct hart *h)
{
	return __atomic_load_n(&h->started, __ATOMIC_RELAXED);
}

static void lock_and_send(struct hart *h, const struct rvt_access *access)
{
	pthread_mutex_lock(&h->lock);
	send(h, access);
	pthread_mutex_unlock(&h->lock);
}

static uint64_t low_bytes(uint64_t value, unsigned int bytes)
{
	return bytes >= 8 ? value : value & ((1ull << 8 * bytes) - 1);
}

/* ---- loads and stores ---- */

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	struct hart *h = &harts[vcpu];
	struct rvt_access access = {
		.size = sizeof(access),
		.address = vaddr, .address_valid = true, .value_valid = true,
		.kind = qemu_plugin_mem_is_store(info) ? RVT_ACCESS_STORE : RVT_ACCESS_LOAD,
	};

	(void)userdata;
	if (!is_traced(h))
		return;
	access.bytes = value_of(qemu_plugin_mem_get_value(info), &access.value);
	if (access.bytes)
		lock_and_send(h, &access);
}

/* ---- the instruction that a call-back is for ---- */

static void *insn_to_pointer(uint32_t word, size_t index)
{
	return (void *)(uintptr_t)((uint64_t)index << 32 | word);
}

static uint32_t word_of(const void *userdata)
{
	return (uint32_t)(uintptr_t)userdata;
}

static uint32_t index_of(const void *userdata)
{
	return (uint32_t)((uint64_t)(uintptr_t)userdata >> 32);
}

static unsigned int rd_of(uint32_t word)
{
	return word >> 7 & 31;
}

static unsigned int rs1_of(uint32_t word)
{
	return word >> 15 & 31;
}

static unsigned int rs2_of(uint32_t word)
{
	return word >> 20 & 31;
}

/* ---- atomic operations ---- */

static enum rvt_access_operation operation_of(uint32_t word)
{
	switch (word >> 27) {
	case AMO_ADD:
		return RVT_ACCESS_ADD;
	case AMO_XOR:
		return RVT_ACCESS_XOR;
	case AMO_OR:
		return RVT_ACCESS_OR;
	case AMO_AND:
		return RVT_ACCESS_AND;
	case AMO_MIN: case AMO_MINU:
		return RVT_ACCESS_MIN;
	case AMO_MAX: case AMO_MAXU:
		return RVT_ACCESS_MAX;
	default:
		return RVT_ACCESS_SWAP;
	}
}

/* Tells an atomic operation. QEMU has read memory, but not written register rd yet. */
static void on_atomic(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	const uint32_t word = word_of(userdata);
	struct hart *h = &harts[vcpu];
	struct rvt_access access = {
		.size = sizeof(access), .kind = RVT_ACCESS_ATOMIC, .operation = operation_of(word),
		.address = vaddr, .address_valid = true, .value_valid = true, .operand_valid = true,
	};

	if (!is_traced(h))
		return;
	access.bytes = value_of(qemu_plugin_mem_get_value(info), &access.value);
	if (!access.bytes)
		return;
	access.operand = low_bytes(cpu_x(rs2_of(word)), access.bytes);
	if (word >> 27 == AMO_CAS && low_bytes(cpu_x(rd_of(word)), access.bytes) != access.value) {
		access.operation = RVT_ACCESS_CAS_FAILURE;
		access.value_valid = false;
	}
	lock_and_send(h, &access);
}

/* ---- accesses that are only known behind the instruction ---- */

/* Completes an access and tells it. The caller holds the hart's lock. */
static void settle(struct hart *h)
{
	struct rvt_access access = h->unsettled.access;
	const uint64_t outcome = cpu_x(h->unsettled.rd);

	h->unsettled.access.size = 0;
	if (access.kind == RVT_ACCESS_CSR && h->unsettled.rd) {
		access.value = outcome;
	} else if (access.kind == RVT_ACCESS_STORE && outcome) {
		access.kind = RVT_ACCESS_ATOMIC;
		access.operation = RVT_ACCESS_SC_FAILURE;
		access.value_valid = false;
	}
	send(h, &access);
}

void data_settle(struct hart *h, uint64_t pc)
{
	/* there it trapped, or is executed again */
	if (pc == h->unsettled.pc)
		h->unsettled.access.size = 0;
	if (h->unsettled.access.size)
		settle(h);
}

static void on_behind(unsigned int vcpu, void *userdata)
{
	struct hart *h = &harts[vcpu];

	(void)userdata;
	/* only its own hart writes it */
	if (!h->unsettled.access.size)
		return;
	pthread_mutex_lock(&h->lock);
	settle(h);
	pthread_mutex_unlock(&h->lock);
}

static void wait_for(struct hart *h, const struct rvt_access *access, const void *userdata)
{
	pthread_mutex_lock(&h->lock);
	if (h->started && h->block) {
		h->unsettled.access = *access;
		h->unsettled.rd = (uint8_t)rd_of(word_of(userdata));
		h->unsettled.pc = block_pc(h->block, index_of(userdata));
	}
	pthread_mutex_unlock(&h->lock);
}

/* Notes a store-conditional. Without a register for the outcome, it stays unknown. */
static void before_conditional(unsigned int vcpu, void *userdata)
{
	const uint32_t word = word_of(userdata);
	struct hart *h = &harts[vcpu];
	struct rvt_access access = {
		.size = sizeof(access), .kind = RVT_ACCESS_STORE, .address_valid = true,
		.value_valid = true, .bytes = (uint8_t)(1u << (word >> 12 & 3)),
	};

	if (!is_traced(h) || !rd_of(word))
		return;
	access.address = cpu_x(rs1_of(word));
	access.value = low_bytes(cpu_x(rs2_of(word)), access.bytes);
	wait_for(h, &access, userdata);
}

/* ---- CSRs ---- */

static struct rvt_access csr_access(unsigned int number, unsigned int funct3, uint64_t operand)
{
	return (struct rvt_access){
		.size = sizeof(struct rvt_access), .kind = RVT_ACCESS_CSR, .bytes = 8,
		.operation = RVT_ACCESS_CSR_WRITE + (funct3 & 3) - 1,
		.address = number, .address_valid = true, .value_valid = true,
		/* not of read-only CSRs */
		.operand_valid = number >> 10 != 3, .operand = operand,
	};
}

/*
 * Notes a CSR access. A value that does not go into a register is read as a debugger does. If the
 * model does not know the CSR by name, the value and the access stay unknown.
 */
static void before_csr(unsigned int vcpu, void *userdata)
{
	const uint32_t word = word_of(userdata);
	const unsigned int funct3 = word >> 12 & 7, rs1 = rs1_of(word);
	struct hart *h = &harts[vcpu];
	struct rvt_access access;

	if (!is_traced(h))
		return;
	access = csr_access(word >> 20, funct3, funct3 & 4 ? rs1 : cpu_x(rs1));
	if (rd_of(word) || cpu_csr(word >> 20, &access.value))
		wait_for(h, &access, userdata);
}

void data_csr(struct hart *h, const struct insn_class *c, uint64_t value, uint64_t operand)
{
	struct rvt_access access = csr_access((unsigned int)c->csr, c->funct3, operand);

	if (!data_enabled() || !is_traced(h))
		return;
	access.value = value;
	lock_and_send(h, &access);
}

/* ---- translation ---- */

static void settle_behind(struct qemu_plugin_insn *insn, struct qemu_plugin_insn *after,
			  qemu_plugin_vcpu_udata_cb_t before, void *userdata)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, before, QEMU_PLUGIN_CB_R_REGS, userdata);
	/* at the end of the block, hart_block() does it */
	if (after)
		qemu_plugin_register_vcpu_insn_exec_cb(after, on_behind, QEMU_PLUGIN_CB_R_REGS,
						       NULL);
}

void data_instrument(struct qemu_plugin_insn *insn, struct qemu_plugin_insn *after,
		     const struct insn_class *c, uint32_t word, size_t index)
{
	void *userdata = insn_to_pointer(word, index);
	const bool atomic = (word & 0x7f) == OPCODE_AMO;

	if (c->csr >= 0 && !csr_is_modelled(c->csr))
		settle_behind(insn, after, before_csr, userdata);
	else if (atomic && word >> 27 == AMO_SC)
		settle_behind(insn, after, before_conditional, userdata);
	else if (atomic && word >> 27 != AMO_LR)
		/* QEMU may report the write as well */
		qemu_plugin_register_vcpu_mem_cb(insn, on_atomic, QEMU_PLUGIN_CB_R_REGS,
						 QEMU_PLUGIN_MEM_R, userdata);
	else
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
}

void data_exit(void)
{
	for (unsigned int i = 0; i < MODEL_MAX_HARTS; i++)
		if (files[i] && fclose(files[i]))
			fprintf(stderr, "rvtrace-model: cannot write what was accessed\n");
}
