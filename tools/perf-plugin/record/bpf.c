// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Copies the code of BPF programs. It is in no file: the kernel shows what its JIT made. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "record/code.h"
#include "record/record.h"

#define MAX_CODE (16u << 20)

/*
 * Zeroes all of @attr, as the kernel wants zeroes in what a command does not use; `= { 0 }` need
 * not reach that far.
 */
static void clear(union bpf_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int get_info(int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr;

	clear(&attr);
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (uintptr_t)info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) ? -errno : 0;
}

/*
 * Copies the functions of a program, whose code is in a row, each with the address where it was
 * loaded.
 */
static void add_program(struct code_list *list, int fd)
{
	const struct rvt_code what = { .kind = RVT_CODE_BPF, .name = "[bpf]" };
	struct bpf_prog_info sizes = { 0 }, info = { 0 };
	uint64_t *addrs;
	uint32_t *lens, n, done = 0;
	uint8_t *code;

	if (get_info(fd, &sizes) || !sizes.jited_prog_len || sizes.jited_prog_len > MAX_CODE)
		return;
	n = sizes.nr_jited_func_lens < sizes.nr_jited_ksyms ? sizes.nr_jited_func_lens :
		sizes.nr_jited_ksyms;
	code = malloc(sizes.jited_prog_len);
	addrs = calloc(n + 1, sizeof(*addrs));
	lens = calloc(n + 1, sizeof(*lens));
	if (code && addrs && lens) {
		info.jited_prog_insns = (uintptr_t)code;
		info.jited_prog_len = sizes.jited_prog_len;
		info.jited_ksyms = (uintptr_t)addrs;
		info.jited_func_lens = (uintptr_t)lens;
		info.nr_jited_ksyms = info.nr_jited_func_lens = n;
		/* the kernel hides addresses as zero */
		if (!get_info(fd, &info) && info.jited_prog_insns)
			for (uint32_t i = 0; i < n && addrs[i] &&
			     lens[i] <= sizes.jited_prog_len - done; done += lens[i++])
				if (code_list_add(list, &what, addrs[i], code + done, lens[i]))
					break;
	}
	free(code);
	free(addrs);
	free(lens);
}

void record_copy_bpf(struct code_list *list)
{
	union bpf_attr attr;
	uint32_t id = 0;
	int fd;

	for (;;) {
		clear(&attr);
		attr.start_id = id;
		if (bpf(BPF_PROG_GET_NEXT_ID, &attr))
			return;
		id = attr.next_id;
		clear(&attr);
		attr.prog_id = id;
		fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
		if (fd >= 0) {
			add_program(list, fd);
			close(fd);
		}
	}
}
