// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stddef.h>
#include <string.h>
#include "common/perf-options.h"

#define SCRIPT_BESIDE \
	"perf script --no-itrace shows what is recorded beside the trace, with this option, too"
#define REPORT_SAMPLES \
	"here every instruction is counted; perf rvtrace inject --itrace=... makes samples, " \
	"which perf report reads"
#define RECORD_ADDS \
	"sample an event beside the trace with -e; perf rvtrace inject --itrace=GL gives its " \
	"samples call chains and branches"

static const struct {
	const char *command;
	const char *words;	/* with a space behind each */
	const char *hint;
} hints[] = {
	{ "script", "--show-mmap-events --show-task-events --show-switch-events "
	  "--show-namespace-events --show-lost-events --show-round-events --show-bpf-events "
	  "--show-cgroup-events --show-text-poke-events --header --header-only -I --show-info ",
	  SCRIPT_BESIDE },
	{ "script", "-D --dump-raw-trace ",
	  "perf rvtrace dump prints the messages of the trace, and perf script --no-itrace -D the "
	  "records beside it" },
	{ "script", "--xed ", "--insn-trace=disasm prints assembler text" },
	{ "script", "-G --hide-call-graph ",
	  "call chains are printed by --itrace with g, and by nothing else" },
	{ "script", "-s --script -g --gen-script --dlfilter --list-dlfilters ",
	  "perf's scripts and filters read what perf rvtrace inject writes" },
	{ "report", "--itrace -F --fields -b --branch-stack ", REPORT_SAMPLES },
	{ "report", "--branch-history ",
	  "perf rvtrace inject --itrace=i1000il16g makes samples that perf report "
	  "--branch-history reads" },
	{ "report", "--children ", "report -g has counts with all that was called, too: Total" },
	{ "report", "-T --threads ", "-s pid,tid,sym counts by thread" },
	{ "report", "--tui --gtk ",
	  "the output is text for a pager, or a page (--html); perf rvtrace inject makes samples "
	  "that perf report shows in its browser" },
	{ "report", "--header --header-only -I --show-info ", "perf report --no-itrace shows it" },
	{ "inject", "-b --build-ids --buildid-all --known-build-ids ",
	  "build ids are copied without being asked for" },
	{ "inject", "-j --jit ",
	  "code of JIT compilers is found in the recording's jitdump files without being asked "
	  "for" },
	{ "record", "-g --call-graph -b --branch-any -j --branch-filter --aux-sample ",
	  RECORD_ADDS },
	{ "record", "--kcore ",
	  "the kernel's code is recorded without being asked for, as far as the user may see it" },
	{ "record", "--switch-events --bpf-event --namespaces -T --timestamp -P --sample-cpu "
	  "--buildid-mmap ",
	  "this is recorded without being asked for" },
};

const char *perf_option_hint(const char *command, const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++) {
		const char *option = hints[i].words;

		if (strcmp(hints[i].command, command))
			continue;
		for (; *option; option += strcspn(option, " ") + 1)
			if (!strncmp(option, word, len) && option[len] == ' ')
				return hints[i].hint;
	}
	return NULL;
}
