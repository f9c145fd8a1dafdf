// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* BPF programs that write into the recording, through an event on each cpu. */
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/bpf-output.h"
#include "record/record.h"
#include "record/tasks.h"

#ifdef HAVE_LIBBPF
#include "bpf/load.h"

#define TRACER_BYTES 8

bool bpf_is_compiled(void)
{
	char *text = read_text("/proc/sys/net/core/bpf_jit_enable");
	bool does = text && atoi(text);

	free(text);
	return does;
}

static void prepare_attr(const struct recorder *rec, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_BPF_OUTPUT;
	attr->sample_type = RECORD_SAMPLE_TYPE | PERF_SAMPLE_RAW;
	attr->sample_id_all = 1;
	attr->sample_period = 1;
	attr->watermark = 1;
	attr->wakeup_watermark = rec->trace_attr.wakeup_watermark;
}

int bpf_output_open(struct recorder *rec, struct bpf_output *output, const char *name)
{
	int map = bpf_object__find_map_fd_by_name(output->object, "events"), err = 0;

	output->event.name = name;
	prepare_attr(rec, &output->event.attr);
	for (unsigned int n = 0; n < rec->n_rings && !err; n++) {
		uint32_t cpu = rec->rings[n].cpu;

		err = record_open_extra(rec, n, -1, &output->event);
		if (err)
			break;
		rec->fds[rec->n_fds - 1].bpf = true;
		err = bpf_map_update_elem(map, &cpu, &rec->fds[rec->n_fds - 1].fd, BPF_ANY);
	}
	return err;
}

int bpf_output_choose(const struct bpf_output *output, const pid_t *tids, size_t n)
{
	int map = bpf_object__find_map_fd_by_name(output->object, "chosen"), err = 0;
	const uint64_t not_seen = 0;

	for (size_t i = 0; i < n && !err; i++) {
		pid_t pid = thread_group(tids[i]);

		err = bpf_map_update_elem(map, &pid, &not_seen, BPF_ANY);
		if (err)
			cmd_error(err, "process %d cannot be chosen for BPF: %s", pid,
				  strerror(-err));
	}
	return err;
}

void bpf_output_add_link(struct bpf_output *output, struct bpf_link *link)
{
	if (link && output->n_links < BPF_OUTPUT_LINKS)
		output->links[output->n_links++] = link;
}

/*
 * Attaches a kprobe behind the room that the function tracer has at the beginning of a function:
 * some kernels (6.12) allow none within it.
 */
static struct bpf_link *attach_behind_tracer(struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_kprobe_opts, options, .offset = TRACER_BYTES);
	const char *name = strchr(bpf_program__section_name(program), '/');

	if (bpf_program__type(program) != BPF_PROG_TYPE_KPROBE || !name)
		return NULL;
	return bpf_program__attach_kprobe_opts(program, name + 1, &options);
}

void bpf_output_attach(struct bpf_output *output)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, output->object) {
		struct bpf_link *link;

		/* skips iterators, which run when the recorder asks for their data */
		if (!bpf_program__autoload(program) ||
		    bpf_program__expected_attach_type(program) == BPF_TRACE_ITER)
			continue;
		link = bpf_program__attach(program);
		bpf_output_add_link(output, link ? link : attach_behind_tracer(program));
	}
}

void bpf_output_close(struct bpf_output *output)
{
	while (output->n_links)
		bpf_link__destroy(output->links[--output->n_links]);
	bpf_object__close(output->object);
	output->object = NULL;
	free(output->event.ids);
	output->event.ids = NULL;
	output->event.n_ids = 0;
}
#else
void bpf_output_close(struct bpf_output *output)
{
	(void)output;
}
#endif
