// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names of registers in the address space of the RISC-V Debug Specification. */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <rvtrace/tandem.h>

static const char *const gprs[32] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
	"a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
	"t5", "t6",
};

static const char *const fprs[32] = {
	"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2",
	"fa3", "fa4", "fa5", "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9",
	"fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
};

/* Numbered rows of CSRs: name + (number - base + first). */
static const struct {
	uint16_t base, count;
	uint8_t first;
	const char *name, *suffix;
} csr_rows[] = {
	{ 0x323, 29, 3, "mhpmevent", "" }, { 0x723, 29, 3, "mhpmevent", "h" },
	{ 0x3a0, 16, 0, "pmpcfg", "" }, { 0x3b0, 64, 0, "pmpaddr", "" },
	{ 0xb03, 29, 3, "mhpmcounter", "" }, { 0xb83, 29, 3, "mhpmcounter", "h" },
	{ 0xc03, 29, 3, "hpmcounter", "" }, { 0xc83, 29, 3, "hpmcounter", "h" },
};

/* Ascending, for the search. */
static const struct csr_name {
	uint16_t csr;
	const char *name;
} csr_names[] = {
	{ 0x000, "ustatus" }, { 0x001, "fflags" }, { 0x002, "frm" }, { 0x003, "fcsr" },
	{ 0x004, "uie" }, { 0x005, "utvec" }, { 0x008, "vstart" }, { 0x009, "vxsat" },
	{ 0x00a, "vxrm" }, { 0x00f, "vcsr" }, { 0x011, "ssp" }, { 0x015, "seed" },
	{ 0x017, "jvt" }, { 0x040, "uscratch" }, { 0x041, "uepc" }, { 0x042, "ucause" },
	{ 0x043, "utval" }, { 0x044, "uip" }, { 0x100, "sstatus" }, { 0x102, "sedeleg" },
	{ 0x103, "sideleg" }, { 0x104, "sie" }, { 0x105, "stvec" }, { 0x106, "scounteren" },
	{ 0x10a, "senvcfg" }, { 0x10c, "sstateen0" }, { 0x10d, "sstateen1" },
	{ 0x10e, "sstateen2" }, { 0x10f, "sstateen3" }, { 0x120, "scountinhibit" },
	{ 0x140, "sscratch" }, { 0x141, "sepc" }, { 0x142, "scause" }, { 0x143, "stval" },
	{ 0x144, "sip" }, { 0x14d, "stimecmp" }, { 0x14e, "sctrctl" }, { 0x14f, "sctrstatus" },
	{ 0x150, "siselect" }, { 0x151, "sireg" }, { 0x15c, "stopei" }, { 0x15d, "stimecmph" },
	{ 0x15f, "sctrdepth" }, { 0x180, "satp" }, { 0x200, "vsstatus" }, { 0x204, "vsie" },
	{ 0x205, "vstvec" }, { 0x240, "vsscratch" }, { 0x241, "vsepc" }, { 0x242, "vscause" },
	{ 0x243, "vstval" }, { 0x244, "vsip" }, { 0x24d, "vstimecmp" }, { 0x280, "vsatp" },
	{ 0x300, "mstatus" }, { 0x301, "misa" }, { 0x302, "medeleg" }, { 0x303, "mideleg" },
	{ 0x304, "mie" }, { 0x305, "mtvec" }, { 0x306, "mcounteren" }, { 0x308, "mvien" },
	{ 0x30a, "menvcfg" }, { 0x30c, "mstateen0" }, { 0x30d, "mstateen1" },
	{ 0x30e, "mstateen2" }, { 0x30f, "mstateen3" }, { 0x310, "mstatush" },
	{ 0x31a, "menvcfgh" }, { 0x320, "mcountinhibit" }, { 0x340, "mscratch" },
	{ 0x341, "mepc" }, { 0x342, "mcause" }, { 0x343, "mtval" }, { 0x344, "mip" },
	{ 0x34a, "mtinst" }, { 0x34b, "mtval2" }, { 0x34e, "mctrctl" }, { 0x350, "miselect" },
	{ 0x351, "mireg" }, { 0x35c, "mtopei" }, { 0x5a8, "scontext" }, { 0x600, "hstatus" },
	{ 0x602, "hedeleg" }, { 0x603, "hideleg" }, { 0x604, "hie" }, { 0x605, "htimedelta" },
	{ 0x606, "hcounteren" }, { 0x607, "hgeie" }, { 0x608, "hvien" }, { 0x60a, "henvcfg" },
	{ 0x60c, "hstateen0" }, { 0x615, "htimedeltah" }, { 0x643, "htval" }, { 0x644, "hip" },
	{ 0x645, "hvip" }, { 0x64a, "htinst" }, { 0x680, "hgatp" }, { 0x6a8, "hcontext" },
	{ 0x740, "mnscratch" }, { 0x741, "mnepc" }, { 0x742, "mncause" }, { 0x744, "mnstatus" },
	{ 0x747, "mseccfg" }, { 0x757, "mseccfgh" }, { 0x7a0, "tselect" }, { 0x7a1, "tdata1" },
	{ 0x7a2, "tdata2" }, { 0x7a3, "tdata3" }, { 0x7a4, "tinfo" }, { 0x7a5, "tcontrol" },
	{ 0x7a8, "mcontext" }, { 0x7aa, "mscontext" }, { 0x7b0, "dcsr" }, { 0x7b1, "dpc" },
	{ 0x7b2, "dscratch0" }, { 0x7b3, "dscratch1" }, { 0xb00, "mcycle" },
	{ 0xb02, "minstret" }, { 0xb80, "mcycleh" }, { 0xb82, "minstreth" }, { 0xc00, "cycle" },
	{ 0xc01, "time" }, { 0xc02, "instret" }, { 0xc20, "vl" }, { 0xc21, "vtype" },
	{ 0xc22, "vlenb" }, { 0xc80, "cycleh" }, { 0xc81, "timeh" }, { 0xc82, "instreth" },
	{ 0xda0, "scountovf" }, { 0xdb0, "stopi" }, { 0xe12, "hgeip" }, { 0xf11, "mvendorid" },
	{ 0xf12, "marchid" }, { 0xf13, "mimpid" }, { 0xf14, "mhartid" }, { 0xf15, "mconfigptr" },
	{ 0xfb0, "mtopi" },
};

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static int compare(const void *key, const void *entry)
{
	return (int)*(const unsigned int *)key - ((const struct csr_name *)entry)->csr;
}

const char *rvt_tandem_reg_name(unsigned int reg, char *buf)
{
	const struct csr_name *found;
	size_t i;

	if (reg >= RVT_TANDEM_GPR && reg < RVT_TANDEM_FPR)
		return gprs[reg - RVT_TANDEM_GPR];
	if (reg >= RVT_TANDEM_FPR && reg < RVT_TANDEM_REGS)
		return fprs[reg - RVT_TANDEM_FPR];
	found = bsearch(&reg, csr_names, LEN(csr_names), sizeof(csr_names[0]), compare);
	if (found)
		return found->name;
	for (i = 0; i < LEN(csr_rows); i++)
		if (reg >= csr_rows[i].base && reg - csr_rows[i].base < csr_rows[i].count) {
			snprintf(buf, 16, "%s%u%s", csr_rows[i].name,
				 (reg - csr_rows[i].base + csr_rows[i].first) & 0xff,
				 csr_rows[i].suffix);
			return buf;
		}
	snprintf(buf, 16, "0x%04x", reg & 0xffff);
	return buf;
}

int rvt_tandem_reg_find(const char *name)
{
	unsigned long value;
	unsigned int reg;
	char buf[16], *end;

	value = strtoul(name, &end, 0);
	if (end != name && !*end)
		return value < RVT_TANDEM_REGS ? (int)value : -EINVAL;
	for (reg = 0; reg < RVT_TANDEM_REGS; reg++)
		if (!strcmp(name, rvt_tandem_reg_name(reg, buf)))
			return reg;
	return -EINVAL;
}

bool rvt_tandem_reg_unobserved(unsigned int reg)
{
	/* cycle, time, instret, hpmcounters and their upper halves; machine views */
	if ((reg >= 0xc00 && reg < 0xc20) || (reg >= 0xc80 && reg < 0xca0) ||
	    (reg >= 0xb00 && reg < 0xb20) || (reg >= 0xb80 && reg < 0xba0))
		return true;
	switch (reg) {
	case 0x015: /* seed */
	case 0x044: /* uip */
	case 0x144: /* sip */
	case 0x244: /* vsip */
	case 0x344: /* mip */
	case 0x644: /* hip */
	case 0xe12: /* hgeip */
	case 0xda0: /* scountovf */
	case 0xdb0: /* stopi */
	case 0xeb0: /* vstopi */
	case 0xfb0: /* mtopi */
	case 0x15c: /* stopei */
	case 0x35c: /* mtopei */
		return true;
	default:
		return false;
	}
}
