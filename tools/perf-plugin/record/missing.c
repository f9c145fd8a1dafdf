// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* There is no PMU: why, and what to do. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "common/chips.h"
#include "common/cmd.h"
#include "record/record.h"

#define COMPONENT "riscv,trace-component"

static bool found_component;

/* `compatible` is a list of strings, each with its terminating zero. */
static int look_for_component(const char *path, const struct stat *st, int type, struct FTW *where)
{
	const char *name = path + where->base;
	char text[512] = { 0 };
	FILE *in;
	size_t n;

	(void)st;
	if (type != FTW_F || strcmp(name, "compatible"))
		return 0;
	in = fopen(path, "r");
	if (!in)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	found_component = memmem(text, n, COMPONENT, sizeof(COMPONENT)) != NULL;
	return found_component;
}

static bool is_riscv(void)
{
	struct utsname uts;

	if (uname(&uts) || !strncmp(uts.machine, "riscv", strlen("riscv")))
		return true;
	cmd_error(0, "this is a %s, not a RISC-V machine: it has neither trace encoders (" RECORD_PMU
		  "//) nor Control Transfer\n  Records (" RECORD_CTR_PMU "//). Record on the RISC-V "
		  "machine, then copy the recording here: report, script, stat\n  and the others "
		  "read it on any machine", uts.machine);
	return false;
}

void record_hint_at_dump(const char *sysfs)
{
	char *chip = chips_of_machine(sysfs);

	if (chip)
		cmd_error(0, "its chip is known, though ('%s'): a dump that another tool takes of "
			  "its trace buffer is decoded by\n  perf rvtrace decode --chip %s --image "
			  "ELF DUMP (see Documentation/chips.rst)", chip, chip);
	free(chip);
}

void record_explain_missing_pmu(void)
{
	if (!is_riscv())
		return;
	nftw("/sys/firmware/devicetree/base", look_for_component, 8, FTW_PHYS);
	if (!found_component) {
		cmd_error(0, "this machine has no trace hardware that Linux knows of: its "
			  "devicetree has no node compatible with\n  \"" COMPONENT "\", and there "
			  "is no PMU '" RECORD_PMU "'. If the chip has trace encoders, its "
			  "devicetree must describe them");
		record_hint_at_dump("/sys");
	} else if (access("/sys/bus/rvtrace", F_OK)) {
		cmd_error(0, "the driver is not loaded: modprobe rvtrace (or insmod rvtrace.ko)");
	} else {
		cmd_error(0, "the driver is loaded but offers no PMU '" RECORD_PMU "': no encoder "
			  "has a way to a sink, or it is of a version\n  that the driver does not "
			  "know. The kernel log (dmesg | grep rvtrace) says which component it is "
			  "and what is wrong");
	}
}

void record_explain_missing_ctr(void)
{
	if (!is_riscv())
		return;
	cmd_error(0, "there is no PMU '" RECORD_CTR_PMU "': load its driver (modprobe riscv_ctr). "
		  "If it does not load,\n  the kernel log says why: the harts need Ssctr in the "
		  "devicetree, and firmware that lets the kernel use it");
}
