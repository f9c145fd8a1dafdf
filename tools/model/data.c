/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Data trace: what loads and stores did, as QEMU tells when they are done, to the encoder and, as a
 * line each, to a file beside the truth. It is told while the hart is traced, ahead of the
 * instruction, which is accounted for with its block. Atomic operations are left out: QEMU tells of
 * some in two pieces.
 */
#include <inttypes.h>
#include <stdio.h>
#include "model.h"

#define OPCODE_AMO 0x2f

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

/* "KIND BYTES ADDRESS VALUE", as `perf rvtrace decode --print data` has it. */
static void tell(const struct hart *h, const struct rvt_access *access)
{
	char path[4096];

	if (!model.args.truth_dir)
		return;
	if (!files[h->id]) {
		snprintf(path, sizeof(path), "%s/accesses.%u", model.args.truth_dir, h->id);
		files[h->id] = fopen(path, "w");
	}
	if (files[h->id])
		fprintf(files[h->id], "%s %u %" PRIx64 " %" PRIx64 "\n",
			access->kind == RVT_ACCESS_STORE ? "store" : "load", access->bytes,
			access->address, access->value);
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	struct hart *h = &harts[vcpu];
	struct rvt_access access = {
		.size = sizeof(access),
		.address = vaddr, .address_valid = true, .value_valid = true,
		.kind = qemu_plugin_mem_is_store(info) ? RVT_ACCESS_STORE : RVT_ACCESS_LOAD,
	};

	(void)userdata;
	/* only its own hart starts tracing; so nothing is missed */
	if (!__atomic_load_n(&h->started, __ATOMIC_RELAXED))
		return;
	access.bytes = value_of(qemu_plugin_mem_get_value(info), &access.value);
	if (!access.bytes)
		return;
	pthread_mutex_lock(&h->lock);
	can_wait = true;
	if (h->started && encoder_access(h->encoder, &access))
		tell(h, &access);
	can_wait = false;
	pthread_mutex_unlock(&h->lock);
}

void data_instrument(struct qemu_plugin_insn *insn, uint32_t word)
{
	if ((word & 0x7f) != OPCODE_AMO)
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
}

void data_exit(void)
{
	for (unsigned int i = 0; i < MODEL_MAX_HARTS; i++)
		if (files[i] && fclose(files[i]))
			fprintf(stderr, "rvtrace-model: cannot write what was accessed\n");
}
