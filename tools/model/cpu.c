/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reads registers of the emulated hart, by QEMU's names. All harts are alike, so one set of handles
 * is enough.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

/* QEMU calls x8 fp, as debuggers do. */
static const char *const x_names[32] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3",
	"a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
	"t3", "t4", "t5", "t6",
};

static struct qemu_plugin_register *x[32], *pc, *priv, *timer, *timer_delta;
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

/* CSRs that software may write without reading them. */
static struct {
	const char *name;
	uint16_t number;
	struct qemu_plugin_register *handle;
} other_csrs[] = {
	{ "fflags", 0x001, NULL }, { "frm", 0x002, NULL }, { "fcsr", 0x003, NULL },
	{ "vstart", 0x008, NULL }, { "vxsat", 0x009, NULL }, { "vxrm", 0x00a, NULL },
	{ "vcsr", 0x00f, NULL },
	{ "sstatus", 0x100, NULL }, { "sie", 0x104, NULL }, { "stvec", 0x105, NULL },
	{ "scounteren", 0x106, NULL }, { "senvcfg", 0x10a, NULL }, { "sscratch", 0x140, NULL },
	{ "sepc", 0x141, NULL }, { "scause", 0x142, NULL }, { "stval", 0x143, NULL },
	{ "sip", 0x144, NULL }, { "stimecmp", 0x14d, NULL }, { "satp", 0x180, NULL },
	{ "mstatus", 0x300, NULL }, { "medeleg", 0x302, NULL }, { "mideleg", 0x303, NULL },
	{ "mie", 0x304, NULL }, { "mtvec", 0x305, NULL }, { "mcounteren", 0x306, NULL },
	{ "menvcfg", 0x30a, NULL }, { "mcountinhibit", 0x320, NULL }, { "mscratch", 0x340, NULL },
	{ "mepc", 0x341, NULL }, { "mcause", 0x342, NULL }, { "mtval", 0x343, NULL },
	{ "mip", 0x344, NULL }, { "pmpcfg0", 0x3a0, NULL }, { "pmpaddr0", 0x3b0, NULL },
};

#define N_OTHER_CSRS (sizeof(other_csrs) / sizeof(*other_csrs))

static bool look_up(const GArray *list, const char *name, struct qemu_plugin_register **handle)
{
	const qemu_plugin_reg_descriptor *desc = (const void *)list->data;

	for (unsigned int i = 0; i < list->len; i++) {
		if (!strcmp(desc[i].name, name)) {
			*handle = desc[i].handle;
			return true;
		}
	}
	return false;
}

static void find(const GArray *list, const char *name, struct qemu_plugin_register **handle)
{
	if (look_up(list, name, handle))
		return;
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
	/* harts without such a CSR do not write it */
	for (size_t i = 0; i < N_OTHER_CSRS; i++)
		look_up(list, other_csrs[i].name, &other_csrs[i].handle);
	/* harts without the hypervisor extension have no htimedelta, and never V=1 */
	look_up(list, "htimedelta", &timer_delta);
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

/* Returns the mode as a debugger sees it: V above the two bits of the privilege. */
void cpu_mode(uint8_t *prv, uint8_t *v)
{
	uint64_t mode = get(priv);

	*prv = mode & 3;
	*v = mode >> 2 & 1;
}

/* Returns the machine's time, the encoder's clock: a guest's time CSR has an offset. */
uint64_t cpu_time(void)
{
	uint64_t time = get(timer);
	uint8_t prv, v;

	if (!timer_delta)
		return time;
	cpu_mode(&prv, &v);
	return v ? time - get(timer_delta) : time;
}

void cpu_trap_csrs(unsigned int prv, struct trap_csrs *csrs)
{
	csrs->cause = get(prv == 3 ? m_trap.cause : s_trap.cause);
	csrs->epc = get(prv == 3 ? m_trap.epc : s_trap.epc);
	csrs->tval = get(prv == 3 ? m_trap.tval : s_trap.tval);
}

bool cpu_csr(unsigned int number, uint64_t *value)
{
	for (size_t i = 0; i < N_OTHER_CSRS; i++) {
		if (other_csrs[i].number != number || !other_csrs[i].handle)
			continue;
		*value = get(other_csrs[i].handle);
		return true;
	}
	return false;
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
