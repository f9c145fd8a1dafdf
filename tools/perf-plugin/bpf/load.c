// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#ifdef HAVE_LIBBPF
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "bpf/load.h"

/* What the compiler made of FILE.bpf.c, between NAME_begin and NAME_end; Makefile says where. */
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

const char *bpf_refusal(int err)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "the kernel has no BTF, /sys/kernel/btf/vmlinux";
	if (err == -EPERM || err == -EACCES)
		return "that needs root, or CAP_BPF and CAP_PERFMON";
	return strerror(-err);
}
#endif
