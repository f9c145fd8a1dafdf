/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Instruments a block when QEMU translates it, and makes it known. */
#include <string.h>
#include "model.h"

/* QEMU ends a block at a page or at 512 instructions. */
#define BLOCK_MAX 1024

static qemu_plugin_u64 attention, at;

/*
 * Returns whether a device may answer this access. Then QEMU leaves the block at it, without
 * notice. Linux accesses devices by readl(), writel() and the like, which are loads and stores
 * without an offset. Programs do not, unless one has mapped registers and needs them to work
 * (user-io=on).
 */
static bool may_be_io(const struct insn_class *c, uint8_t prv)
{
	return (c->load || c->store) && (prv == 3 || ((prv || model.args.user_io) && c->direct));
}

/*
 * Keeps the cursor up to date. @marked: the instruction before has written it. Returns whether this
 * one does.
 */
static bool mark(struct qemu_plugin_insn *insn, const struct insn_class *c, uint64_t index,
		 uint8_t prv, bool marked)
{
	if (!c->plain || may_be_io(c, prv)) {
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
			insn, QEMU_PLUGIN_INLINE_STORE_U64, at, index);
		return true;
	}
	if (marked)
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
			insn, QEMU_PLUGIN_INLINE_STORE_U64, at, CURSOR_THROUGH);
	return false;
}

#define WFI 0x10500073

static void instrument(struct qemu_plugin_insn *insn, const struct insn_class *c, uint32_t word,
		       uint64_t pc, uint8_t prv)
{
	if (model.args.idle_loss && word == WFI && prv == 3)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, regs_hart_sleeps,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (c->store && may_be_io(c, prv))
		qemu_plugin_register_vcpu_mem_cb(insn, regs_stored, QEMU_PLUGIN_CB_R_REGS,
						 QEMU_PLUGIN_MEM_W, NULL);
	if (c->load && c->word && may_be_io(c, prv))
		qemu_plugin_register_vcpu_mem_cb(insn, regs_loaded, QEMU_PLUGIN_CB_R_REGS,
						 QEMU_PLUGIN_MEM_R, NULL);
	if (c->csr >= 0)
		csr_instrument(insn, c, pc);
}

void translate_block(struct qemu_plugin_tb *tb, void *userdata)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	uint8_t code[4 * BLOCK_MAX];
	struct {
		struct block b;
		uint8_t halfwords[BLOCK_MAX];
	} key;
	struct block *b;
	bool marked = false;

	(void)userdata;
	if (!n || n > BLOCK_MAX)
		return;
	memset(&key.b, 0, sizeof(key.b));
	key.b.n = (uint32_t)n;
	key.b.code = code;
	cpu_mode(&key.b.prv, &key.b.v);
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);
		uint32_t word = 0;

		if (!i)
			key.b.pc = pc;
		qemu_plugin_insn_data(insn, &word, sizeof(word));
		key.b.upper_rd = key.b.last.upper_rd;
		itype_classify(word, model.args.zcm, &key.b.last);
		memcpy(code + key.b.bytes, &word, 2 * key.b.last.halfwords);
		key.b.bytes += 2 * key.b.last.halfwords;
		key.b.halfwords[i] = key.b.last.halfwords;
		marked = mark(insn, &key.b.last, i, key.b.prv, marked);
		instrument(insn, &key.b.last, word, pc, key.b.prv);
		coherence_instrument(insn, word);
		memory_instrument(insn, word);
		if (data_enabled())
			data_instrument(insn, i + 1 < n ? qemu_plugin_tb_get_insn(tb, i + 1) : NULL,
					&key.b.last, word, i);
	}
	b = block_intern(&key.b);
	qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, hart_block, QEMU_PLUGIN_CB_R_REGS,
						  QEMU_PLUGIN_COND_NE, attention, 0, b);
}

void translate_init(void)
{
	model.cursors = qemu_plugin_scoreboard_new(sizeof(struct cursor));
	attention = (qemu_plugin_u64){ model.cursors, offsetof(struct cursor, attention) };
	at = (qemu_plugin_u64){ model.cursors, offsetof(struct cursor, at) };
}
