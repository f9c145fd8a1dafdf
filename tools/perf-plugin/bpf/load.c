// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#ifdef HAVE_LIBBPF
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "util/array.h"
#include "bpf/kernel-types.h"
#include "bpf/load.h"

#define ITERATOR_READ (64u << 10)

/* The object file of FILE.bpf.c, between NAME_begin and NAME_end; Makefile says where. */
#define OBJECT(name, file) \
	__asm__(".section .rodata\n" \
		".balign 8\n" \
		#name "_begin:\n" \
		".incbin \"" BPF_DIR "/" file ".bpf.o\"\n" \
		#name "_end:\n" \
		".previous\n"); \
	extern const char name##_begin[], name##_end[]

OBJECT(rvtrace_snapshot, "snapshot");
OBJECT(rvtrace_code, "kernel-code");
OBJECT(rvtrace_switches, "switches");
OBJECT(rvtrace_user, "user-code");
OBJECT(rvtrace_calls, "calls");

static int be_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static struct bpf_object *open_object(const char *name, const char *begin, const char *end)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = name);

	libbpf_set_print(be_quiet);
	options.btf_custom_path = bpf_kernel_types();
	return bpf_object__open_mem(begin, end - begin, &options);
}

struct bpf_object *bpf_open_snapshot(void)
{
	return open_object("rvtrace_snapshot", rvtrace_snapshot_begin, rvtrace_snapshot_end);
}

struct bpf_object *bpf_open_kernel_code(void)
{
	return open_object("rvtrace_code", rvtrace_code_begin, rvtrace_code_end);
}

struct bpf_object *bpf_open_switches(void)
{
	return open_object("rvtrace_switches", rvtrace_switches_begin, rvtrace_switches_end);
}

struct bpf_object *bpf_open_user_code(void)
{
	return open_object("rvtrace_user", rvtrace_user_begin, rvtrace_user_end);
}

struct bpf_object *bpf_open_calls(void)
{
	return open_object("rvtrace_calls", rvtrace_calls_begin, rvtrace_calls_end);
}

int bpf_read_iterator(const struct bpf_object *object, const char *name, char **bytes, size_t *len)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	struct bpf_link *link = program ? bpf_program__attach_iter(program, NULL) : NULL;
	size_t room = 0;
	ssize_t got = -1;
	int fd;

	*bytes = NULL;
	*len = 0;
	if (!link)
		return -ENOTSUP;
	fd = bpf_iter_create(bpf_link__fd(link));
	while (fd >= 0) {
		if (array_reserve(bytes, &room, *len, ITERATOR_READ + 1))
			break;
		got = read(fd, *bytes + *len, room - *len - 1);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		*len += got;
	}
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	if (!got)
		(*bytes)[*len] = 0;
	return got ? -ENOTSUP : 0;
}

const char *bpf_refusal(int err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel has no BTF, /sys/kernel/btf/vmlinux";
	if (err == -EPERM || err == -EACCES)
		return "that needs root, or CAP_BPF and CAP_PERFMON";
	return strerror(-err);
}
#endif
