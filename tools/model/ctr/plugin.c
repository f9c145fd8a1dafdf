/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "ctr.h"
#include "../number.h"

/* U and S in sctrctl; S and U in the draft's sctrcontrol. */
#define MODES_1_0 0x3u

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv);

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- retired instructions ---- */

/*
 * Retires the pending instruction. @next was executed next, or would have been, with privilege
 * @prv.
 */
static void retire(struct hart *h, uint64_t next, uint8_t prv)
{
	const struct watched *w = h->pending;

	if (!w)
		return;
	h->pending = NULL;
	log_put(h, &(struct ctr_log){ .kind = CTR_LOG_INSN, .pc = h->pending_pc, .next = next,
				      .insn = w->word, .prv = h->pending_prv, .to_prv = prv });
	if (args.draft)
		draft_transfer(h, &w->c, h->pending_pc, next, h->pending_prv, prv);
}

static void block_begins(unsigned int vcpu, void *userdata)
{
	struct hart *h = &harts[vcpu];
	uint8_t prv = (uint8_t)reg_get(REG_PRIV) & 3;

	h->base = reg_get(REG_PC);
	retire(h, h->base, prv);
	h->prv = prv;
	h->insns += (uintptr_t)userdata;
	/* the counter only overflows while that freezes the records */
	if (args.overflow && h->control >> 12 & 1 && h->insns >= h->next_overflow)
		attention_of(vcpu)->due = 1;
}

static void transfer_executes(unsigned int vcpu, void *userdata)
{
	const struct watched *w = userdata;
	struct hart *h = &harts[vcpu];

	h->pending = w;
	h->pending_pc = h->base + w->offset;
	h->pending_prv = h->prv;
}

static void discontinuity(unsigned int vcpu, enum qemu_plugin_discon_type type, uint64_t from_pc,
			  uint64_t to_pc, void *userdata)
{
	struct hart *h = &harts[vcpu];
	bool interrupt = type == QEMU_PLUGIN_DISCON_INTERRUPT;
	uint64_t epc, cause;
	uint8_t prv;

	(void)userdata;
	if (type == QEMU_PLUGIN_DISCON_HOSTCALL || !attention_of(vcpu)->on)
		return;
	prv = (uint8_t)reg_get(REG_PRIV) & 3;
	epc = reg_get(prv == 3 ? REG_MEPC : REG_SEPC);
	cause = reg_get(prv == 3 ? REG_MCAUSE : REG_SCAUSE);
	if (!interrupt && h->pending && from_pc == h->pending_pc)
		h->pending = NULL;	/* it was this one that trapped */
	/* an xRET changed the privilege before the trap at its target */
	retire(h, from_pc, h->pending && h->pending->c.itype == RVT_ITYPE_TRAP_RETURN ?
	       previous_privilege(prv) : h->prv);
	log_put(h, &(struct ctr_log){ .kind = interrupt ? CTR_LOG_INTERRUPT : CTR_LOG_EXCEPTION,
				      .pc = epc, .next = to_pc, .insn = (uint32_t)cause,
				      .prv = previous_privilege(prv), .to_prv = prv });
	if (args.draft)
		draft_trap(h, epc, to_pc, cause & ~(1ull << 63), interrupt,
			   previous_privilege(prv), prv);
	h->prv = prv;
}

/* ---- CSR instructions ---- */

static void watch_csr(unsigned int vcpu, void *userdata)
{
	const struct watched *w = userdata;
	struct hart *h = &harts[vcpu];
	uint64_t operand = w->c.funct3 & 4 ? w->c.rs1 : reg_get(w->c.rs1), old = h->control;

	if (w->word == SCTRCLR_WORD) {
		log_put(h, &(struct ctr_log){ .kind = CTR_LOG_CLEAR });
		return;
	}
	log_put(h, &(struct ctr_log){ .kind = CTR_LOG_CSR, .next = operand, .insn = w->word });
	if (w->c.csr != CSR_SCTRCTL)
		return;
	if ((w->c.funct3 & 3) == 1)
		control_written(vcpu, operand, MODES_1_0);
	else if (w->c.rs1)
		control_written(vcpu, (w->c.funct3 & 3) == 2 ? old | operand : old & ~operand,
				MODES_1_0);
}

static void execute_csr(unsigned int vcpu, void *userdata)
{
	const struct watched *w = userdata;

	if (!(reg_get(REG_PRIV) & 3))
		return;		/* an illegal instruction there: QEMU's trap is right */
	draft_csr(vcpu, w);
	qemu_plugin_set_pc(w->pc + 4);
}

/* ---- translation ---- */

static bool is_watched_csr(const struct watched *w)
{
	return w->word == SCTRCLR_WORD || w->c.csr == CSR_SCTRCTL || w->c.csr == CSR_SCTRSTATUS ||
		w->c.csr == CSR_SCTRDEPTH || w->c.csr == CSR_SISELECT ||
		/* of entries, only writes */
		(w->c.csr >= CSR_SIREG && w->c.csr <= CSR_SIREG3 && (w->c.funct3 & 3) == 1);
}

/* Copies @w. The copy lives as long as QEMU's translations, which are freed without notice. */
static struct watched *keep(const struct watched *w)
{
	struct watched *copy = malloc(sizeof(*copy));

	if (!copy)
		abort();
	*copy = *w;
	return copy;
}

static void translated(struct qemu_plugin_tb *tb, void *userdata)
{
	const qemu_plugin_u64 on = { attentions, offsetof(struct attention, on) };
	const qemu_plugin_u64 due = { attentions, offsetof(struct attention, due) };
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct watched w = { 0 };

	(void)userdata;
	if (!n)
		return;
	qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, block_begins, QEMU_PLUGIN_CB_R_REGS,
						  QEMU_PLUGIN_COND_NE, on, 0, (void *)(uintptr_t)n);
	if (args.overflow)
		qemu_plugin_register_vcpu_insn_exec_cond_cb(qemu_plugin_tb_get_insn(tb, 0),
							    lcofi_due, QEMU_PLUGIN_CB_RW_REGS_PC,
							    QEMU_PLUGIN_COND_NE, due, 0, NULL);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		w.word = 0;
		qemu_plugin_insn_data(insn, &w.word, sizeof(w.word));
		itype_classify(w.word, false, &w.c);
		w.pc = qemu_plugin_insn_vaddr(insn);
		if (args.draft && w.c.csr >= 0 && draft_has_csr(w.c.csr))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, execute_csr,
							       QEMU_PLUGIN_CB_RW_REGS_PC, keep(&w));
		else if (!args.draft && is_watched_csr(&w))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, watch_csr,
							       QEMU_PLUGIN_CB_R_REGS, keep(&w));
		else if (w.c.itype != RVT_ITYPE_NONE)
			qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, transfer_executes,
								    QEMU_PLUGIN_CB_NO_REGS,
								    QEMU_PLUGIN_COND_NE, on, 0,
								    keep(&w));
		w.offset += 2 * w.c.halfwords;
	}
}

/* ---- beginning and end ---- */

static void vcpu_init(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	pthread_mutex_lock(&init_lock);
	registers_init();
	log_open(vcpu);
	pthread_mutex_unlock(&init_lock);
}

static void machine_exit(void *userdata)
{
	(void)userdata;
	log_close();
}

static int parse(const char *text)
{
	const char *value = strchr(text, '=');
	uint64_t number;

	if (!value++)
		return -EINVAL;
	if (!strncmp(text, "log=", 4))
		args.log_dir = value;
	else if (!strncmp(text, "draft=", 6))
		args.draft = !strcmp(value, "on");
	else if (!strncmp(text, "overflow=", 9))
		return model_number(value, UINT64_MAX, &args.overflow);
	else if (!strncmp(text, "max-depth=", 10) && !model_number(value, UINT32_MAX, &number))
		args.max_depth = (uint32_t)number;
	else if (!strncmp(text, "options=", 8) && !model_number(value, UINT64_MAX, &number))
		args.options = number & DRAFT_OPTIONS;
	else if (!strncmp(text, "types=", 6))
		args.types = !strcmp(value, "on");
	else
		return -EINVAL;
	return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	if (!info->system_emulation || strcmp(info->target_name, "riscv64") ||
	    info->system.smp_vcpus > CTR_MAX_HARTS) {
		fprintf(stderr, "rvtrace-ctr: made for qemu-system-riscv64 with at most %u harts\n",
			CTR_MAX_HARTS);
		return -EINVAL;
	}
	for (int i = 0; i < argc; i++) {
		if (parse(argv[i])) {
			fprintf(stderr, "rvtrace-ctr: '%s' is no argument, or no value of it; "
				"there are log draft overflow max-depth options types\n", argv[i]);
			return -EINVAL;
		}
	}
	attentions = qemu_plugin_scoreboard_new(sizeof(struct attention));
	qemu_plugin_register_vcpu_init_cb(id, vcpu_init, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated, NULL);
	qemu_plugin_register_vcpu_discon_cb(id, QEMU_PLUGIN_DISCON_ALL, discontinuity, NULL);
	qemu_plugin_register_atexit_cb(id, machine_exit, NULL);
	return 0;
}
