// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * classic ROUNDS [FIFO]: has a classic BPF filter of system calls and one of a socket, and uses
 * both so many times; with FIFO only when somebody writes into it.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

int main(int argc, char **argv)
{
	/* a branch for each: all calls are allowed */
	static struct sock_filter calls[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 100000, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 50, 1, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	static struct sock_filter bytes[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'x', 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 64),
		BPF_STMT(BPF_RET | BPF_K, 32),
	};
	const struct sock_fprog of_calls = { sizeof(calls) / sizeof(*calls), calls };
	const struct sock_fprog of_bytes = { sizeof(bytes) / sizeof(*bytes), bytes };
	int pair[2];
	char byte;

	check(argc >= 2, "arguments");
	check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
	check(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &of_calls), "PR_SET_SECCOMP");
	check(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "socketpair");
	check(!setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_FILTER, &of_bytes, sizeof(of_bytes)),
	      "SO_ATTACH_FILTER");
	if (argc == 3)
		check(read(open(argv[2], O_RDONLY), &byte, 1) == 1, argv[2]);
	for (int i = atoi(argv[1]); i; i--) {
		getppid();
		check(write(pair[0], i & 1 ? "x" : "y", 1) == 1 && read(pair[1], &byte, 1) == 1,
		      "socket");
	}
	return 0;
}
