// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Triggers on calls that take long, which a BPF program measures (calls.bpf.c). */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include "common/cmd.h"
#include "record/record.h"

#ifdef HAVE_LIBBPF
#include "bpf/load.h"

static int set_limit(struct bpf_object *object, uint64_t ns)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata");

	return map ? bpf_map__set_initial_value(map, &ns, sizeof(ns)) : -ENOENT;
}

static int attach(const struct bpf_object *object, const char *name, int event)
{
	const struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	if (!program)
		return -ENOENT;
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(program)) ? -errno : 0;
}

int trigger_measure(struct trigger *trigger, int entry, int ends)
{
	int err;

	trigger->over = bpf_open_calls();
	err = trigger->over ? set_limit(trigger->over, trigger->over_ns) : -errno;
	if (!err)
		err = bpf_object__load(trigger->over);
	if (!err)
		err = attach(trigger->over, "call_begins", entry);
	if (!err)
		err = attach(trigger->over, "call_ends", ends);
	return err ? cmd_error(err, "--trigger '%s': no BPF program can measure the calls: %s",
			       trigger->spec, bpf_refusal(err)) : 0;
}

void trigger_stop_measuring(struct trigger *trigger)
{
	bpf_object__close(trigger->over);
	trigger->over = NULL;
}
#else
int trigger_measure(struct trigger *trigger, int entry, int ends)
{
	(void)entry, (void)ends;
	return cmd_error(-ENOTSUP, "--trigger '%s': over= needs BPF, and " RECORD_WITHOUT_BPF,
			 trigger->spec);
}

void trigger_stop_measuring(struct trigger *trigger)
{
	(void)trigger;
}
#endif
