/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sinks whose writes caches do not see (coherent=off). The emulator has no caches, so memory is
 * always right; the model reports what a cache would have made wrong:
 *
 * - a hart reads a line that a sink has written, and none has invalidated it since: it would have
 *   read what its cache has;
 * - a sink writes a line that a hart has written, and none has cleaned it since: what the hart
 *   wrote would come over the trace, at any time.
 *
 * Harts are coherent with each other, and with other devices. What a mapping says of caches is not
 * looked at.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

/* Bytes of a cache block, as QEMU's harts have them by default */
#define LINE 64

#define LINE_STALE 1	/* a sink has written it, and no hart has invalidated it */
#define LINE_DIRTY 2	/* a hart has written it, and none has cleaned it */

/* Cache-block management (Zicbom) */
#define CBO_MATCH 0x200f
#define CBO_MASK 0x7fff
enum { CBO_INVAL, CBO_CLEAN, CBO_FLUSH };

static _Atomic uint8_t *lines;
/* The lines as sinks left them: another device may write to the same memory later. */
static uint8_t *written;
static _Atomic(const struct component *) writer;

int coherence_init(void)
{
	if (model.args.coherent)
		return 0;
	lines = calloc(model.args.ram_size / LINE, sizeof(*lines));
	written = calloc(1, model.args.ram_size);
	if (lines && written)
		return 0;
	fprintf(stderr, "rvtrace-model: no memory for the state of %" PRIu64 " cache blocks\n",
		model.args.ram_size / LINE);
	return -1;
}

void coherence_sink_wrote(const struct component *c, uint64_t addr, uint32_t len)
{
	uint64_t first = (addr - model.args.ram_base) / LINE;
	uint64_t last = (addr + len - 1 - model.args.ram_base) / LINE;

	if (!lines)
		return;
	writer = c;
	for (uint64_t i = first; i <= last; i++) {
		memcpy(written + i * LINE, model.ram + i * LINE, LINE);
		if (atomic_exchange(&lines[i], LINE_STALE) & LINE_DIRTY)
			violation(c, "writes block 0x%" PRIx64 ", which is dirty in a cache",
				  model.args.ram_base + i * LINE);
	}
}

/* A hart reads line @i, which a sink wrote. */
static void read_stale(unsigned int vcpu, uint64_t i)
{
	atomic_fetch_and(&lines[i], (uint8_t)~LINE_STALE);
	if (!memcmp(written + i * LINE, model.ram + i * LINE, LINE))
		violation(writer,
			  "hart %u reads block 0x%" PRIx64 ", which caches have as it was before",
			  vcpu, model.args.ram_base + i * LINE);
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	struct qemu_plugin_hwaddr *hw = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t at;

	(void)userdata;
	if (!hw || qemu_plugin_hwaddr_is_io(hw))
		return;
	at = qemu_plugin_hwaddr_phys_addr(hw) - model.args.ram_base;
	if (at >= model.args.ram_size)
		return;
	if (qemu_plugin_mem_is_store(info))
		lines[at / LINE] = LINE_DIRTY;
	else if (lines[at / LINE] & LINE_STALE)
		read_stale(vcpu, at / LINE);
}

static void on_cbo(unsigned int vcpu, void *userdata)
{
	uint32_t word = (uint32_t)(uintptr_t)userdata;
	uint64_t at;

	(void)vcpu;
	if (!qemu_plugin_translate_vaddr(cpu_x(word >> 15 & 31), &at))
		return;
	at -= model.args.ram_base;
	if (at >= model.args.ram_size)
		return;
	if (word >> 20 == CBO_CLEAN)
		atomic_fetch_and(&lines[at / LINE], (uint8_t)~LINE_DIRTY);
	else
		lines[at / LINE] = 0;
}

void coherence_instrument(struct qemu_plugin_insn *insn, uint32_t word)
{
	if (!lines)
		return;
	if ((word & CBO_MASK) == CBO_MATCH && word >> 20 <= CBO_FLUSH)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_cbo, QEMU_PLUGIN_CB_R_REGS,
						       (void *)(uintptr_t)word);
	else
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
}
