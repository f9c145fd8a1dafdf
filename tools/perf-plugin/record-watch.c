// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Kernel code that comes, changes or goes while it is traced, by BPF programs (kernel-code.bpf.c)
 * that write it into the recording. Where BPF cannot be used there is only what the kernel has at
 * the end.
 */
#include <string.h>
#include <unistd.h>
#include "record.h"

#ifdef HAVE_LIBBPF
#include "bpf-load.h"

#define TRACER_BYTES 8

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
static void attach(struct bpf_output *code)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, code->object) {
		struct bpf_link *link = bpf_program__attach(program);

		bpf_output_add_link(code, link ? link : attach_behind_tracer(program));
	}
}

int record_watch_open(struct recorder *rec)
{
	int err;

	if (geteuid() || rec->ctr || rec->options.no_code || rec->options.per_thread ||
	    rec->trace_attr.exclude_kernel)
		return 0;
	rec->code.object = bpf_load_kernel_code();
	if (!rec->code.object)
		return 0;
	err = bpf_output_open(rec, &rec->code, RVT_KERNEL_CODE_EVENT);
	if (!err)
		attach(&rec->code);
	return err;
}

bool record_watch_read(const struct recorder *rec, uint64_t addr, uint8_t bytes[RVT_KERNEL_PAGE])
{
	const struct bpf_object *object = rec->code.object;
	struct bpf_program *program = object ?
		bpf_object__find_program_by_name(object, "read_page") : NULL;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &addr, .ctx_size_in = sizeof(addr));
	const uint32_t zero = 0;

	return program && !bpf_prog_test_run_opts(bpf_program__fd(program), &options) &&
		!options.retval && !bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(object,
											"page"),
							&zero, bytes);
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
#endif
