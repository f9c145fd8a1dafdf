// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * attached READY: code in anonymous memory and in a memfd, made long before somebody traces this;
 * then READY is made, and both run until somebody ends the program.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* addi a0, a0, -1; bnez a0, -4; ret */
static const uint32_t loop[] = { 0xfff50513, 0xfe051ee3, 0x00008067 };

int main(int argc, char **argv)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *anonymous = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
	int fd = memfd_create("attached", MFD_CLOEXEC);
	void *file;

	if (argc != 2 || anonymous == MAP_FAILED || fd < 0)
		return 1;
	memcpy(anonymous, loop, sizeof(loop));
	if (mprotect(anonymous, page, PROT_READ | PROT_EXEC) ||
	    write(fd, loop, sizeof(loop)) != sizeof(loop) || ftruncate(fd, page))
		return 1;
	file = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED || creat(argv[1], 0600) < 0)
		return 1;
	__builtin___clear_cache(anonymous, anonymous + sizeof(loop));
	for (;;) {
		((void (*)(long))(void *)anonymous)(1000);
		((void (*)(long))file)(1000);
		usleep(1000);
	}
}
