// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Explains why there is no PMU, and what to do. */
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "common/chips.h"
#include "common/cmd.h"
#include "record/missing.h"
#include "record/record.h"

#define COMPONENT "riscv,trace-component"

/* What the driver binds to: rvtrace_of_match in rvtrace-platform.c. */
static const char *const compatibles[] = {
	COMPONENT, "riscv,trace-encoder", "riscv,trace-funnel", "riscv,trace-atbbridge",
	"sifive,trace-encoder-v0", "sifive,trace-funnel-v0",
};

static bool found_component;

/* `compatible` is a list of strings, each with its terminating zero. */
bool record_is_component(const char *path)
{
	char text[512] = { 0 };
	bool found = false;
	FILE *in;
	size_t n;

	in = fopen(path, "r");
	if (!in)
		return false;
	n = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	for (size_t i = 0; i < sizeof(compatibles) / sizeof(*compatibles); i++)
		found |= memmem(text, n, compatibles[i], strlen(compatibles[i]) + 1) != NULL;
	return found;
}

static int look_for_component(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	if (type == FTW_F && !strcmp(path + where->base, "compatible"))
		found_component = record_is_component(path);
	return found_component;
}

static bool is_riscv(void)
{
	struct utsname uts;

	if (uname(&uts) || !strncmp(uts.machine, "riscv", strlen("riscv")))
		return true;
	cmd_error(0, "this is a %s, not a RISC-V machine: it has neither trace encoders "
		  "(" RECORD_PMU "//) nor Control Transfer\n  Records (" RECORD_CTR_PMU
		  "//). Record on the RISC-V machine, then copy the recording here: report, "
		  "script, stat\n  and the others read it on any machine", uts.machine);
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
		  "devicetree, and firmware that lets the kernel use it.\n  A kernel whose own "
		  "PMU has branch stacks keeps them for that: perf record -b");
}

/* Returns whether the property of a cpu node has the word "ssctr", with or without a version. */
static bool promises_ctr(const char *path)
{
	char text[4096];
	FILE *in = fopen(path, "r");
	bool found = false;
	size_t n;

	if (!in)
		return false;
	n = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	text[n] = 0;
	/* a list of strings, or one string with extensions behind underscores */
	for (size_t i = 0; i < n && !found; i++)
		found = (!i || !text[i - 1] || text[i - 1] == '_') &&
			!strncasecmp(text + i, "ssctr", strlen("ssctr"));
	return found;
}

/* Returns whether a cpu node of the devicetree below @sysfs has it. */
static bool harts_have_ctr(const char *sysfs)
{
	static const char *const properties[] = { "rvtrace,ctr-version", "riscv,isa-extensions",
						  "riscv,isa" };
	bool found = false;

	for (size_t i = 0; i < sizeof(properties) / sizeof(*properties) && !found; i++) {
		char *pattern;
		glob_t nodes;

		if (asprintf(&pattern, "%s/firmware/devicetree/base/cpus/cpu@*/%s", sysfs,
			     properties[i]) < 0)
			return false;
		if (!glob(pattern, 0, NULL, &nodes)) {
			for (size_t k = 0; k < nodes.gl_pathc && !found; k++)
				found = !i || promises_ctr(nodes.gl_pathv[k]);
			globfree(&nodes);
		}
		free(pattern);
	}
	return found;
}

void record_tell_unused_ctr(const char *sysfs)
{
	if (harts_have_ctr(sysfs))
		cmd_warning("the harts have Control Transfer Records (Ssctr in the devicetree), "
			    "but there is no PMU '" RECORD_CTR_PMU "':\n  load its driver "
			    "(modprobe riscv_ctr). If the kernel log says that no hart lets the "
			    "kernel use them, firmware has to\n  set the state enables, which the "
			    "kernel cannot: bits 54 (CTR; 55 in draft 0.1.4) and 60 (CSRIND) of "
			    "mstateen0");
}
