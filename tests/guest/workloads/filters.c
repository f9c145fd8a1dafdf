// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Two BPF programs, one after the other: each is loaded, runs as the filter of a socket as often as
 * its argument says, and is removed.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RETURN_64 0x40000000b7, 0x95	/* r0 = 64; exit */

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void filter(const char *name, const uint64_t *code, int len, int n)
{
	union bpf_attr attr;
	int fd, pair[2];
	char byte;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = len;
	attr.license = (uintptr_t)"GPL";
	strcpy(attr.prog_name, name);
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	check(fd >= 0, "BPF_PROG_LOAD");
	check(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "socketpair");
	check(!setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof(fd)), "SO_ATTACH_BPF");
	close(fd);
	for (int i = 0; i < n; i++)
		check(write(pair[0], "x", 1) == 1 && read(pair[1], &byte, 1) == 1, "socket");
	close(pair[0]);
	close(pair[1]);
}

int main(int argc, char **argv)
{
	static const uint64_t first[] = { RETURN_64 };
	/* r1 = 1; if r1 == 0 goto +0 */
	static const uint64_t second[] = { 0x1000001b7, 0x0115, RETURN_64 };

	check(argc == 3, "arguments");
	filter("gone_first", first, 2, atoi(argv[1]));
	filter("gone_second", second, 4, atoi(argv[2]));
	return 0;
}
