/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Registers of the emulated hart, by QEMU's names for them. All harts are alike, so one set of
 * handles does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

/* QEMU follows the debugger's habit and calls x8 fp. */
static const char *const x_names[32] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3",
	"a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
	"t3", "t4", "t5", "t6",
};

static struct qemu_plugin_register *x[32], *pc, *priv, *timer;
static struct {
	struct qemu_plugin_register *cause, *epc, *tval;
} s_trap, m_trap;

static const struct {
	const char *name;
	struct qemu_plugin_register **handle;
} csrs[] = {
	{ "pc", &pc }, { "priv", &priv }, { "time", &timer },
	{ "scause", &s_trap.cause }, { "sepc", &s_trap.epc }, { "stval", &s_trap.tval },
	{ "mcause", &m_trap.cause }, { "mepc", &m_trap.epc }, { "mtval", &m_trap.tval },
};

static void find(const GArray *list, const char *name, struct qemu_plugin_register **handle)
{
	const qemu_plugin_reg_descriptor *desc = (const void *)list->data;

	for (unsigned int i = 0; i < list->len; i++) {
		if (!strcmp(desc[i].name, name)) {
			*handle = desc[i].handle;
			return;
		}
	}
	fprintf(stderr, "rvtrace-model: this QEMU does not let plugins read register %s\n", name);
	exit(1);
}

void cpu_init(void)
{
	GArray *list;

	if (priv)
		return;
	list = qemu_plugin_get_registers();
	for (unsigned int i = 1; i < 32; i++)
		find(list, x_names[i], &x[i]);
	for (size_t i = 0; i < sizeof(csrs) / sizeof(*csrs); i++)
		find(list, csrs[i].name, csrs[i].handle);
	g_array_free(list, 1);
}

static GByteArray *buffer(void)
{
	static _Thread_local GByteArray *buf;

	if (!buf)
		buf = g_byte_array_new();
	g_byte_array_set_size(buf, 0);
	return buf;
}

static uint64_t get(struct qemu_plugin_register *handle)
{
	GByteArray *buf = buffer();
	uint64_t value = 0;

	if (qemu_plugin_read_register(handle, buf))
		memcpy(&value, buf->data, buf->len < 8 ? buf->len : 8);
	return value;
}

uint64_t cpu_pc(void)
{
	return get(pc);
}

uint64_t cpu_priv(void)
{
	return get(priv) & 3;
}

uint64_t cpu_time(void)
{
	return get(timer);
}

void cpu_trap_csrs(unsigned int prv, struct trap_csrs *csrs)
{
	csrs->cause = get(prv == 3 ? m_trap.cause : s_trap.cause);
	csrs->epc = get(prv == 3 ? m_trap.epc : s_trap.epc);
	csrs->tval = get(prv == 3 ? m_trap.tval : s_trap.tval);
}

uint64_t cpu_x(unsigned int reg)
{
	return reg ? get(x[reg]) : 0;
}

void cpu_set_x(unsigned int reg, uint64_t value)
{
	GByteArray *buf;

	if (!reg)
		return;
	buf = g_byte_array_set_size(buffer(), sizeof(value));
	memcpy(buf->data, &value, sizeof(value));
	qemu_plugin_write_register(x[reg], buf);
}
