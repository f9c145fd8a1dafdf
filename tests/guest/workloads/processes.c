// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Everything that happens to processes, in one program; each case calls a function of its own a
 * number of times that the test knows. Arguments: two shared objects (see plugin.c).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

#define COUNTED(name) \
	static __attribute__((noipa)) void name(void) { sink++; }

COUNTED(in_child)
COUNTED(in_thread)
COUNTED(in_first_life)
COUNTED(in_second_life)
COUNTED(as_nobody)
COUNTED(in_namespace)
COUNTED(on_other_hart)

/* In the vdso. */
static void read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
}

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void repeat(void (*function)(void), int n)
{
	while (n--)
		function();
}

static void finish(pid_t pid)
{
	int status;

	check(waitpid(pid, &status, 0) == pid && !status, "child");
}

/* Forks without exec; the child has a name of its own. */
static pid_t run(const char *name, void (*function)(void), int n)
{
	pid_t pid = fork();

	check(pid >= 0, "fork");
	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	repeat(function, n);
	_exit(0);
}

static void *thread(void *name)
{
	pthread_setname_np(pthread_self(), name);
	repeat(in_thread, 31);
	return NULL;
}

/* The same number for two processes, one after the other. */
static void reuse_number(void)
{
	pid_t first = run("first", in_first_life, 41), second;

	finish(first);
	for (int attempt = 0; attempt < 20; attempt++) {
		FILE *out = fopen("/proc/sys/kernel/ns_last_pid", "w");

		check(out && fprintf(out, "%d", first - 1) > 0 && !fclose(out), "ns_last_pid");
		second = run("second", in_second_life, 43);
		finish(second);
		if (second == first)
			return;
	}
	puts("the number was not reused");
	exit(1);
}

static void other_user(void)
{
	check(!setresuid(65534, 65534, 65534), "setresuid");
	as_nobody();
}

static void other_namespace(void)
{
	check(!unshare(CLONE_NEWPID), "unshare");
	finish(run("inner", in_namespace, 53));
}

static void migrate(void)
{
	for (int cpu = 0; cpu < 2; cpu++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		check(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
		repeat(on_other_hart, 29);
	}
}

/* Two objects of one size: the second is mapped where the first was. */
static void load(const char *path, int n, uintptr_t *where)
{
	void *object = dlopen(path, RTLD_NOW);
	void (*function)(void);
	Dl_info info;

	check(object != NULL, "dlopen");
	function = (void (*)(void))dlsym(object, "plugin_function");
	check(function != NULL && dladdr((void *)function, &info), "dlsym");
	repeat(function, n);
	*where = (uintptr_t)info.dli_fbase;
	dlclose(object);
}

/* ---- just in time ---- */

static int dump = -1;

/* The name is that of perf's agent for Java. */
static int arch_timestamp(void)
{
	return getenv("JITDUMP_USE_ARCH_TIMESTAMP") != NULL;
}

static uint64_t dump_time(void)
{
	struct timespec now;
	uint64_t ticks;

	if (arch_timestamp()) {
		__asm__ volatile("rdtime %0" : "=r"(ticks));
		return ticks;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void put(const void *bytes, size_t len)
{
	check(write(dump, bytes, len) == (ssize_t)len, "jitdump");
}

/* As the jitdump specification has it. */
static void begin_dump(void)
{
	const struct {
		uint32_t magic, version, size, machine, reserved, pid;
		uint64_t time, flags;
	} header = { 0x4a695444, 1, 40, 243, 0, getpid(), dump_time(), arch_timestamp() };
	char path[64];

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	dump = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
	check(dump >= 0, path);
	put(&header, sizeof(header));
	/* how profilers get to know of the file */
	check(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) != MAP_FAILED,
	      "marker");
}

static void dump_code(const char *name, const void *code, size_t len)
{
	static uint64_t index;
	const struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, addr, len, index;
	} record = { 0, 56 + strlen(name) + 1 + len, dump_time(), getpid(), gettid(),
		(uintptr_t)code, (uintptr_t)code, len, index++ };

	put(&record, sizeof(record));
	put(name, strlen(name) + 1);
	put(code, len);
}

/* Two functions, the second written over the first: addi a0, a0, N; then branches or none; ret. */
static void just_in_time(void)
{
	static const uint32_t first[] = { 0x00150513, 0x00008067 };
	static const uint32_t second[] = { 0x00000463, 0x00000013, 0x00250513, 0x00008067 };
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(code != MAP_FAILED, "mmap");
	begin_dump();
	memcpy(code, first, sizeof(first));
	__builtin___clear_cache(code, (char *)code + sizeof(first));
	dump_code("jit_first", code, sizeof(first));
	for (int i = 0; i < 61; i++)
		sink += ((unsigned long (*)(unsigned long))code)(i);
	memcpy(code, second, sizeof(second));
	__builtin___clear_cache(code, (char *)code + sizeof(second));
	dump_code("jit_second", code, sizeof(second));
	for (int i = 0; i < 67; i++)
		sink += ((unsigned long (*)(unsigned long))code)(i);
	close(dump);
}

/* ---- a BPF program, as a filter of a socket ---- */

static void filter(int n)
{
	/* r0 = 64; if r0 != 0 goto +1; r0 = 1; exit */
	static const uint64_t code[] = { 0x40000000b7, 0x0000000000010055, 0x1000000b7, 0x95 };
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)code, .insn_cnt = 4, .license = (uintptr_t)"GPL",
		.prog_name = "counted" };
	int fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)), pair[2];
	char byte;

	check(fd >= 0, "BPF_PROG_LOAD");
	check(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "socketpair");
	check(!setsockopt(pair[1], SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof(fd)), "SO_ATTACH_BPF");
	for (int i = 0; i < n; i++)
		check(write(pair[0], "x", 1) == 1 && read(pair[1], &byte, 1) == 1, "socket");
	/*
	 * the program stays loaded as long as somebody has it: the recorder copies its code at the
	 * end
	 */
	if (fork() == 0) {
		prctl(PR_SET_NAME, "keeper");
		sleep(100);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	uintptr_t where[2];
	pthread_t threads[2];

	check(argc == 3, "arguments");
	finish(run("forked", in_child, 37));
	finish(run("timed", read_clock, 83));
	for (int i = 0; i < 2; i++)
		check(!pthread_create(&threads[i], NULL, thread, i ? "thread-b" : "thread-a"),
		      "thread");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	reuse_number();
	finish(run("nobody", other_user, 1));
	migrate();
	load(argv[1], 71, &where[0]);
	load(argv[2], 73, &where[1]);
	printf("plugins %s\n", where[0] == where[1] ? "same" : "differ");
	just_in_time();
	filter(79);
	other_namespace();
	return 0;
}
