// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Chooses what reports which thread runs on a cpu. The trace itself (Ownership, context packets)
 * has priority. perf's sideband has the switches of traced tasks, or of all on traced cpus. For
 * whole cpus a BPF program (switches.bpf.c) needs less room, and can leave out tasks that were not
 * asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/switches.h>
#include "common/cmd.h"
#include "record/bpf-output.h"
#include "record/record.h"

static bool trace_tells(const struct recorder *rec)
{
	return record_term(rec, "context") || record_term(rec, "hcontext");
}

/* Returns whether switches of other tasks are left out. */
static bool are_chosen(const struct recorder *rec)
{
	return rec->options.switches >= SWITCHES_COMMAND;
}

#ifdef HAVE_LIBBPF
#include "bpf/load.h"

static int mark_chosen(const struct recorder *rec)
{
	const struct number_list *pids = &rec->options.switch_pids;

	if (rec->options.switches == SWITCHES_COMMAND)
		return bpf_output_choose(&rec->switches, &rec->command_pid, 1);
	return bpf_output_choose(&rec->switches, pids->numbers, pids->n);
}

static bool is_wanted(const struct bpf_program *program, bool chosen)
{
	return strncmp(bpf_program__name(program), "chosen_", strlen("chosen_")) ? !chosen : chosen;
}

/* Loads and starts the programs. They write nothing before there are events to write to. */
static int start(struct bpf_output *output, bool chosen)
{
	struct bpf_program *program;
	int err;

	output->object = bpf_open_switches();
	if (!output->object)
		return -errno;
	bpf_object__for_each_program(program, output->object)
		bpf_program__set_autoload(program, is_wanted(program, chosen));
	err = bpf_object__load(output->object);
	bpf_object__for_each_program(program, output->object) {
		struct bpf_link *link;

		if (err || !bpf_program__autoload(program))
			continue;
		link = bpf_program__attach(program);
		err = link ? 0 : -errno;
		bpf_output_add_link(output, link);
	}
	return err;
}

static int start_or_explain(struct recorder *rec)
{
	bool chosen = are_chosen(rec);
	const char *why = NULL;
	int err = 0;

	if (record_in_first_pid_namespace())
		err = start(&rec->switches, chosen);
	else
		why = RECORD_IN_CONTAINER;
	if (err)
		why = bpf_refusal(err);
	if (!why) {
		cmd_info("context switches are told by a BPF program");
		return chosen ? mark_chosen(rec) : 0;
	}
	bpf_output_close(&rec->switches);
	if (!rec->options.quiet)
		cmd_warning("no BPF program tells the context switches: %s.\n  perf's are recorded "
			    "instead%s", why, chosen ? ", those of all processes" : "");
	return 0;
}

int record_open_switches(struct recorder *rec)
{
	return rec->switches.object ? bpf_output_open(rec, &rec->switches, RVT_SWITCH_EVENT) : 0;
}
#else
static int start_or_explain(struct recorder *rec)
{
	if (rec->options.switches && !rec->options.quiet)
		cmd_warning("no BPF program tells the context switches: " RECORD_WITHOUT_BPF
			    ".\n  perf's are recorded instead%s",
			    are_chosen(rec) ? ", those of all processes" : "");
	return 0;
}

int record_open_switches(struct recorder *rec)
{
	(void)rec;
	return 0;
}
#endif

int record_choose_switches(struct recorder *rec)
{
	if (rec->options.switches >= SWITCHES_BPF)
		return start_or_explain(rec);
	if (rec->options.switches == SWITCHES_PERF || rec->ctr || rec->target != TARGET_SYSTEM)
		cmd_info("context switches are told by perf");
	else if (trace_tells(rec))
		cmd_info("the trace tells who runs");
	else
		return start_or_explain(rec);
	return 0;
}
