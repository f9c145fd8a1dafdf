// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reads the hart's registers, by their addresses in the debug specification. */
#include <errno.h>
#include <string.h>
#include "producer.h"

static struct qemu_plugin_register *handles[RVT_TANDEM_REGS], *pc, *privilege;
static GByteArray *buffer;

int registers_init(void)
{
	GArray *list;
	const qemu_plugin_reg_descriptor *desc;
	unsigned int i;
	int reg;

	if (pc)
		return 0;
	buffer = g_byte_array_new();
	list = qemu_plugin_get_registers();
	desc = (const void *)list->data;
	for (i = 0; i < list->len; i++) {
		/* debuggers call x8 fp */
		reg = !strcmp(desc[i].name, "fp") ? RVT_TANDEM_GPR + 8 :
			rvt_tandem_reg_find(desc[i].name);
		if (!strcmp(desc[i].name, "pc"))
			pc = desc[i].handle;
		else if (!strcmp(desc[i].name, "priv"))
			privilege = desc[i].handle;
		else if (reg > 0 && reg != RVT_TANDEM_GPR)
			handles[reg] = desc[i].handle;
	}
	g_array_free(list, 1);
	if (!pc || !privilege || !handles[RVT_TANDEM_GPR + 8] || !handles[0x300]) {
		fprintf(stderr,
			"rvtrace-tandem: this QEMU does not let plugins read all registers\n");
		return -ENOTSUP;
	}
	return 0;
}

static uint64_t read_handle(struct qemu_plugin_register *handle)
{
	uint64_t value = 0;

	g_byte_array_set_size(buffer, 0);
	if (qemu_plugin_read_register(handle, buffer))
		memcpy(&value, buffer->data, buffer->len < 8 ? buffer->len : 8);
	return value;
}

bool register_exists(unsigned int reg)
{
	return handles[reg];
}

uint64_t register_now(unsigned int reg)
{
	return handles[reg] ? read_handle(handles[reg]) : 0;
}

uint64_t register_pc(void)
{
	return read_handle(pc);
}

uint64_t register_privilege(void)
{
	return read_handle(privilege) & 3;
}
