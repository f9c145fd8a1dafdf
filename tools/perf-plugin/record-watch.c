// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Kernel code that comes, changes or goes while it is traced, by BPF programs (kernel-code.bpf.c)
 * that write it into the recording. Where BPF cannot be used there is only what the kernel has at
 * the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "record.h"

#ifdef HAVE_LIBBPF
#include "bpf-load.h"

#define MAX_LINKS 8
#define TRACER_BYTES 8

struct watcher {
	struct bpf_object *object;
	struct bpf_link *links[MAX_LINKS];
	size_t n_links;
};

static void prepare_attr(struct recorder *rec)
{
	struct perf_event_attr *attr = &rec->code.attr;

	rec->code.name = RVT_KERNEL_CODE_EVENT;
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_BPF_OUTPUT;
	attr->sample_type = RECORD_SAMPLE_TYPE | PERF_SAMPLE_RAW;
	attr->sample_id_all = 1;
	attr->sample_period = 1;
	attr->watermark = 1;
	attr->wakeup_watermark = rec->trace_attr.wakeup_watermark;
}

/* What happens on a cpu goes into its ring. */
static int give_events(struct recorder *rec, int map)
{
	int err = 0;

	for (unsigned int n = 0; n < rec->n_rings && !err; n++) {
		uint32_t cpu = rec->rings[n].cpu;

		err = record_open_extra(rec, n, -1, &rec->code);
		if (!err)
			err = bpf_map_update_elem(map, &cpu, &rec->fds[rec->n_fds - 1].fd, BPF_ANY);
	}
	return err;
}

/*
 * Some kernels allow no probe where the function tracer works (6.12), but behind the room that it
 * has at the begin of a function.
 */
static struct bpf_link *attach_behind_tracer(struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_kprobe_opts, options, .offset = TRACER_BYTES);
	const char *name = strchr(bpf_program__section_name(program), '/');

	if (bpf_program__type(program) != BPF_PROG_TYPE_KPROBE || !name)
		return NULL;
	return bpf_program__attach_kprobe_opts(program, name + 1, &options);
}

/* A kernel that has not one of the functions has the others. */
static void attach(struct watcher *watcher)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, watcher->object) {
		struct bpf_link *link = bpf_program__attach(program);

		if (!link)
			link = attach_behind_tracer(program);
		if (link && watcher->n_links < MAX_LINKS)
			watcher->links[watcher->n_links++] = link;
	}
}

int record_watch_open(struct recorder *rec)
{
	struct watcher *watcher;
	int err;

	if (geteuid() || rec->ctr || rec->options.no_code || rec->options.per_thread ||
	    rec->trace_attr.exclude_kernel)
		return 0;
	watcher = calloc(1, sizeof(*watcher));
	if (!watcher)
		return -ENOMEM;
	rec->watcher = watcher;
	watcher->object = bpf_load_kernel_code();
	if (!watcher->object)
		return 0;
	prepare_attr(rec);
	err = give_events(rec, bpf_object__find_map_fd_by_name(watcher->object, "events"));
	if (!err)
		attach(watcher);
	return err;
}

bool record_watch_read(const struct recorder *rec, uint64_t addr, uint8_t bytes[RVT_KERNEL_PAGE])
{
	const struct bpf_object *object = rec->watcher ? rec->watcher->object : NULL;
	struct bpf_program *program = object ?
		bpf_object__find_program_by_name(object, "read_page") : NULL;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &addr, .ctx_size_in = sizeof(addr));
	const uint32_t zero = 0;

	return program && !bpf_prog_test_run_opts(bpf_program__fd(program), &options) &&
		!options.retval && !bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(object,
											"page"),
							&zero, bytes);
}

void record_watch_close(struct recorder *rec)
{
	struct watcher *watcher = rec->watcher;

	if (!watcher)
		return;
	for (size_t i = 0; i < watcher->n_links; i++)
		bpf_link__destroy(watcher->links[i]);
	bpf_object__close(watcher->object);
	free(watcher);
	rec->watcher = NULL;
}
#else
bool record_watch_read(const struct recorder *rec, uint64_t addr, uint8_t bytes[RVT_KERNEL_PAGE])
{
	(void)rec, (void)addr, (void)bytes;
	return false;
}

int record_watch_open(struct recorder *rec)
{
	(void)rec;
	return 0;
}

void record_watch_close(struct recorder *rec)
{
	(void)rec;
}
#endif
