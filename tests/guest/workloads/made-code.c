// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * made-code PLUGIN WAY...: runs code that is in no file. A piece of code is a loop of so many
 * rounds, and one that follows at the same address has other instructions. The ways:
 *	toggled		anonymous memory, written while it cannot be executed, three times
 *	flushed		writable and executable; the system call says each time that it was written
 *	fenced		writable and executable, written once; only the hart is told
 *	memfd		a file in memory, mapped; and again after it was written
 *	loaded		PLUGIN by way of a file in memory, by the dynamic linker
 *	deleted		a copy of PLUGIN, whose file is gone before its function is called
 *	patched		a function of this program, which writes its own text
 *	forked		a child runs what its parent has made
 *	replaced	this program becomes itself anew, with the way toggled, while a file in
 *			memory is mapped; so does a child, which runs that before
 *	huge		anonymous memory of 2 MiB in huge pages
 *	retext		2 MiB of this program's text, which go into huge pages where they are
 *	hugetlb		memory of the pool of huge pages, without a file
 *	hugefile	a file of the file system for huge pages, in /tmp/huge
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 200
#define RWX (PROT_READ | PROT_WRITE | PROT_EXEC)
#define HUGE_BYTES (2ul << 20)

#define ADDI_A0_M1 0xfff50513u	/* addi a0, a0, -1 */
#define NOP 0x00000013u
#define BNEZ_A0 0x00051063u	/* bnez a0, +0 */
#define RET 0x00008067u

static const char *plugin_path;

/* bnez a0 by @back bytes backwards. */
static uint32_t bnez(unsigned int back)
{
	uint32_t d = -back;

	return BNEZ_A0 | (d >> 12 & 1) << 31 | (d >> 5 & 0x3f) << 25 | (d >> 1 & 0xf) << 8 |
		(d >> 11 & 1) << 7;
}

/* A loop that has @n instructions more than it needs. */
static void write_code(uint32_t *at, unsigned int n)
{
	*at++ = ADDI_A0_M1;
	for (unsigned int i = 0; i < n; i++)
		*at++ = NOP;
	*at++ = bnez(4 * (n + 1));
	*at = RET;
}

static void run(const void *code)
{
	void (*function)(unsigned long) = (void (*)(unsigned long))code;

	function(ROUNDS);
}

/* Through this hart's fence, not by the kernel. */
static void fence(void)
{
	__asm__ volatile("fence.i" ::: "memory");
}

static void *map(int prot, int flags, int fd)
{
	void *p = mmap(NULL, 8192, prot, flags, fd, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

static void flush(void *begin, void *end)
{
	if (syscall(SYS_riscv_flush_icache, begin, end, 0)) {
		perror("riscv_flush_icache");
		exit(1);
	}
}

static void toggled(void)
{
	char *p = map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (unsigned int n = 1; n <= 3; n++) {
		mprotect(p, 8192, PROT_READ | PROT_WRITE);
		write_code((uint32_t *)(p + 64), n);
		/* over the edge of a page; it does not change, the first one does */
		write_code((uint32_t *)(p + 4096 - 8), 9);
		mprotect(p, 8192, PROT_READ | PROT_EXEC);
		fence();
		run(p + 64);
		run(p + 4096 - 8);
	}
	munmap(p, 8192);
}

static void flushed(void)
{
	char *p = map(RWX, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	for (unsigned int n = 1; n <= 3; n++) {
		write_code((uint32_t *)(p + 128), 2 * n);
		flush(p + 128, p + 128 + 64);
		run(p + 128);
	}
}

static void fenced(void)
{
	char *p = map(RWX, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	write_code((uint32_t *)(p + 256), 5);
	fence();
	run(p + 256);
}

static int memory_file(void)
{
	int fd = memfd_create("made", 0);

	if (fd < 0) {
		perror("memfd_create");
		exit(1);
	}
	return fd;
}

static void memfd(void)
{
	int fd = memory_file();
	uint32_t code[16];
	char *p;

	for (unsigned int n = 3; n <= 7; n += 4) {
		write_code(code, n);
		if (pwrite(fd, code, sizeof(code), 512) != sizeof(code) || ftruncate(fd, 8192))
			exit(1);
		p = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
		fence();
		run(p + 512);
		munmap(p, 8192);
	}
	close(fd);
}

static void call_plugin(const char *path, const char *gone)
{
	void *object = dlopen(path, RTLD_NOW);
	void (*function)(void) = object ? (void (*)(void))dlsym(object, "plugin_function") : NULL;

	if (!function) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	if (gone)
		unlink(gone);
	for (int n = 0; n < ROUNDS; n++)
		function();
}

static void copy_plugin(int to)
{
	int from = open(plugin_path, O_RDONLY);

	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(from);
}

static void loaded(void)
{
	int fd = memory_file();
	char path[64];

	copy_plugin(fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	call_plugin(path, NULL);
}

static void deleted(void)
{
	const char *path = "/tmp/made-code-plugin.so";
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	copy_plugin(fd);
	close(fd);
	call_plugin(path, path);
}

/* A page of its own, with nothing else in it: it is not executable for a while. */
void own(unsigned long n);
__asm__(
	".pushsection .text\n"
	"	.balign 4096\n"
	"	.globl own\n"
	"	.type own, @function\n"
	"own:	ret\n"
	"	.balign 4096\n"
	"	.popsection\n");

static void patched(void)
{
	own(1);
	for (unsigned int n = 1; n <= 2; n++) {
		mprotect((void *)own, 4096, PROT_READ | PROT_WRITE);
		write_code((uint32_t *)own, n);
		mprotect((void *)own, 4096, PROT_READ | PROT_EXEC);
		fence();
		run((void *)own);
	}
}

static void forked(void)
{
	char *p = map(RWX, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	pid_t child;

	write_code((uint32_t *)p, 11);
	flush(p, p + 64);
	child = fork();
	if (!child) {
		run(p);
		write_code((uint32_t *)p, 12);
		flush(p, p + 64);
		run(p);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	run(p);
}

static void replace(void)
{
	execl("/proc/self/exe", "made-code", plugin_path, "toggled", NULL);
	perror("execl");
	_exit(1);
}

static void replaced(void)
{
	int fd = memory_file();
	uint32_t code[32];
	pid_t child;
	char *p;

	write_code(code, 19);
	if (pwrite(fd, code, sizeof(code), 1024) != sizeof(code) || ftruncate(fd, 8192))
		exit(1);
	p = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
	fence();
	run(p + 1024);
	child = fork();
	if (!child) {
		run(p + 1024);
		replace();
	}
	waitpid(child, NULL, 0);
	run(p + 1024);
	replace();
}

static void huge(void)
{
	char *p = mmap(NULL, 2 * HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	char *aligned = (char *)(((uintptr_t)p + HUGE_BYTES - 1) & -HUGE_BYTES);

	madvise(aligned, HUGE_BYTES, MADV_HUGEPAGE);
	write_code((uint32_t *)(aligned + 8192), 13);
	mprotect(aligned, HUGE_BYTES, PROT_READ | PROT_EXEC);
	fence();
	run(aligned + 8192);
}

/* All of it is code, so that no page is zero; what runs is in the middle. */
extern char huge_text[];
void huge_loop(unsigned long n);
__asm__(
	".pushsection .text.huge, \"ax\"\n"
	"	.balign 0x200000\n"
	"	.globl huge_text, huge_loop\n"
	"huge_text:\n"
	"	.fill 0x40000, 4, 0x13\n"
	"	.type huge_loop, @function\n"
	"huge_loop:\n"
	"	addi a0, a0, -1\n"
	"	bnez a0, huge_loop\n"
	"	ret\n"
	"	.balign 0x200000\n"
	"	.popsection\n");

/* As iodlr does, and what took it over. */
static void retext(void)
{
	char *text = huge_text;
	char *copy = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	huge_loop(ROUNDS);
	memcpy(copy, text, HUGE_BYTES);
	if (mmap(text, HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) != text) {
		perror("mmap");
		exit(1);
	}
	madvise(text, HUGE_BYTES, MADV_HUGEPAGE);
	memcpy(text, copy, HUGE_BYTES);
	munmap(copy, HUGE_BYTES);
	mprotect(text, HUGE_BYTES, PROT_READ | PROT_EXEC);
	fence();
	huge_loop(ROUNDS);
}

static void write_huge(char *p, unsigned int n)
{
	if (p == MAP_FAILED) {
		perror("mmap of huge pages");
		exit(1);
	}
	write_code((uint32_t *)(p + 4096), n);
}

static void hugetlb(void)
{
	char *p = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	write_huge(p, 15);
	mprotect(p, HUGE_BYTES, PROT_READ | PROT_EXEC);
	fence();
	run(p + 4096);
}

static void hugefile(void)
{
	int fd = open("/tmp/huge/text", O_RDWR | O_CREAT, 0755);
	char *p;

	if (fd < 0 || ftruncate(fd, HUGE_BYTES)) {
		perror("/tmp/huge/text");
		exit(1);
	}
	p = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	write_huge(p, 17);
	munmap(p, HUGE_BYTES);
	p = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	close(fd);
	fence();
	run(p + 4096);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "toggled", toggled }, { "flushed", flushed }, { "fenced", fenced }, { "memfd", memfd },
	{ "loaded", loaded }, { "deleted", deleted }, { "patched", patched }, { "forked", forked },
	{ "replaced", replaced }, { "huge", huge }, { "retext", retext }, { "hugetlb", hugetlb },
	{ "hugefile", hugefile },
};

int main(int argc, char **argv)
{
	plugin_path = argv[1];
	for (int i = 2; i < argc; i++)
		for (size_t n = 0; n < sizeof(ways) / sizeof(*ways); n++)
			if (!strcmp(argv[i], ways[n].name))
				ways[n].run();
	return 0;
}
