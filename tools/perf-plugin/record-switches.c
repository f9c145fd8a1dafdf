// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Who tells which thread runs on a cpu. What the trace itself says (Ownership, context packets)
 * comes first; perf's sideband has the switches of traced tasks, or of all on traced cpus. For
 * whole cpus a BPF program (switches.bpf.c) needs less room, and can leave out those of tasks that
 * nobody asked for.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rvtrace/switches.h>
#include "cmd.h"
#include "record.h"

static bool trace_tells(const struct recorder *rec)
{
	return record_term(rec, "context") || record_term(rec, "hcontext");
}

/* "command" or numbers of processes: switches of others are not told. */
static bool are_chosen(const char *switches)
{
	return switches && strcmp(switches, "perf") && strcmp(switches, "bpf");
}

static int check_option(const struct recorder *rec)
{
	const char *switches = rec->options.switches;

	if (!switches || !strcmp(switches, "perf"))
		return 0;
	if (rec->ctr || rec->target != TARGET_SYSTEM)
		return cmd_error(-EINVAL, "--switches=%s is for the trace of whole cpus (-a, -C); "
				 "of a command, -p or -t, perf tells those switches only",
				 switches);
	if (!strcmp(switches, "command") && !rec->command_pid)
		return cmd_error(-EINVAL, "--switches=command: there is no command");
	return 0;
}

#ifdef HAVE_LIBBPF
#include "bpf-load.h"

static int mark(int map, pid_t pid)
{
	const uint64_t not_seen = 0;
	int err;

	if (kill(pid, 0) && errno != EPERM)
		return cmd_error(-errno, "--switches: process %d does not exist", pid);
	pid = thread_group(pid);
	err = bpf_map_update_elem(map, &pid, &not_seen, BPF_ANY);
	return err ? cmd_error(err, "--switches: process %d cannot be marked: %s", pid,
			       strerror(-err)) : 0;
}

static int mark_chosen(const struct recorder *rec)
{
	int map = bpf_object__find_map_fd_by_name(rec->switches.object, "chosen");
	const char *list = rec->options.switches;
	int err = 0;

	if (!strcmp(list, "command"))
		return mark(map, rec->command_pid);
	while (!err && *list) {
		char *end;
		long pid = strtol(list, &end, 10);

		if (end == list || pid <= 0 || (*end && *end != ','))
			return cmd_error(-EINVAL, "--switches: '%s' is not perf, bpf, command, or "
					 "numbers of processes", list);
		err = mark(map, pid);
		list = *end ? end + 1 : end;
	}
	return err;
}

static bool is_wanted(const struct bpf_program *program, bool chosen)
{
	return strncmp(bpf_program__name(program), "chosen_", strlen("chosen_")) ? !chosen : chosen;
}

/*
 * Programs are loaded and run from now on; they write nothing until there are events to write to.
 */
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

static const char *reason(int err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel has no BTF, /sys/kernel/btf/vmlinux";
	if (err == -EPERM || err == -EACCES)
		return "that needs root, or CAP_BPF and CAP_PERFMON";
	return strerror(-err);
}

static int start_or_explain(struct recorder *rec)
{
	bool chosen = are_chosen(rec->options.switches);
	const char *why = NULL;
	int err = 0;

	if (record_in_first_pid_namespace())
		err = start(&rec->switches, chosen);
	else
		why = "BPF has other numbers of threads than this container";
	if (err)
		why = reason(err);
	if (!why)
		return chosen ? mark_chosen(rec) : 0;
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
		cmd_warning("no BPF program tells the context switches: this was built without "
			    "libbpf or clang.\n  perf's are recorded instead%s",
			    are_chosen(rec->options.switches) ? ", those of all processes" : "");
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
	const char *switches = rec->options.switches;
	int err = check_option(rec);

	if (err || (switches && !strcmp(switches, "perf")))
		return err;
	if (!switches && (rec->ctr || rec->target != TARGET_SYSTEM || trace_tells(rec)))
		return 0;
	return start_or_explain(rec);
}
