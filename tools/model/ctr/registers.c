/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Registers of the emulated hart, by QEMU's names. All harts are alike, so one set of handles is
 * enough.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ctr.h"

static struct qemu_plugin_register *handles[CTR_REGS];

/* QEMU calls x8 fp, as debuggers do. */
static const char *const names[CTR_REGS] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1",
	"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
	"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
	[REG_PC] = "pc", [REG_PRIV] = "priv", [REG_MSTATUS] = "mstatus", [REG_STVEC] = "stvec",
	[REG_SEPC] = "sepc", [REG_SCAUSE] = "scause", [REG_STVAL] = "stval", [REG_MEPC] = "mepc",
	[REG_MCAUSE] = "mcause", [REG_SCTRSTATUS] = "sctrstatus",
};

static struct qemu_plugin_register *find(const GArray *list, const char *name)
{
	const qemu_plugin_reg_descriptor *desc = (const void *)list->data;

	for (unsigned int i = 0; i < list->len; i++)
		if (!strcmp(desc[i].name, name))
			return desc[i].handle;
	return NULL;
}

void registers_init(void)
{
	char name[16];
	GArray *list;

	if (handles[REG_PC])
		return;
	list = qemu_plugin_get_registers();
	for (unsigned int i = 1; i < CTR_REGS; i++) {
		snprintf(name, sizeof(name), "mhpmevent%u", i - REG_MHPMEVENT);
		handles[i] = find(list, i < REG_MHPMEVENT ? names[i] : name);
		if (!handles[i] && i < REG_SCTRSTATUS) {
			fprintf(stderr, "rvtrace-ctr: this QEMU does not let plugins read %s\n",
				names[i]);
			exit(1);
		}
	}
	g_array_free(list, 1);
}

bool reg_exists(unsigned int reg)
{
	return handles[reg];
}

static GByteArray *buffer(unsigned int len)
{
	static _Thread_local GByteArray *buf;

	if (!buf)
		buf = g_byte_array_new();
	return g_byte_array_set_size(buf, len);
}

uint64_t reg_get(unsigned int reg)
{
	GByteArray *buf = buffer(0);
	uint64_t value = 0;

	if (reg && qemu_plugin_read_register(handles[reg], buf))
		memcpy(&value, buf->data, buf->len < 8 ? buf->len : 8);
	return value;
}

void reg_set(unsigned int reg, uint64_t value)
{
	GByteArray *buf = buffer(sizeof(value));

	memcpy(buf->data, &value, sizeof(value));
	if (reg)
		qemu_plugin_write_register(handles[reg], buf);
}

uint8_t previous_privilege(uint8_t prv)
{
	uint64_t status = reg_get(REG_MSTATUS);

	return prv == 3 ? status >> 11 & 3 : status >> 8 & 1;
}
