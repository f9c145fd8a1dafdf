// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/kernel-code.h>
#include <rvtrace/sideband.h>
#include <rvtrace/switches.h>
#include <rvtrace/user-code.h>
#include "sideband/threads.h"

#define ADDR 0x10000
#define LEN 0x1000

struct fixture {
	struct rvt_sideband *sideband;
	struct rvt_image *image;
	struct rvt_cursor *cursor;
	bool maps;		/* what add_copy() adds is mapped next */
	char old[32], new[32];	/* two files with different bytes */
};

static void make_file(char *path, const char *template, int byte)
{
	uint8_t bytes[LEN];
	int fd;

	strcpy(path, template);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	memset(bytes, byte, sizeof(bytes));
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
}

static int setup(void **state)
{
	const struct rvt_sideband_options options = { .size = sizeof(options) };
	struct fixture *f = calloc(1, sizeof(*f));

	make_file(f->old, "/tmp/rvtrace-old-XXXXXX", 0xaa);
	make_file(f->new, "/tmp/rvtrace-new-XXXXXX", 0xbb);
	assert_int_equal(rvt_sideband_create(&options, &f->sideband), 0);
	assert_int_equal(rvt_image_create(&f->image), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->old);
	unlink(f->new);
	rvt_cursor_destroy(f->cursor);
	rvt_image_destroy(f->image);
	rvt_sideband_destroy(f->sideband);
	free(f);
	return 0;
}

/* Adds a record of @type with @words and then @name as its body. */
static void add(struct fixture *f, uint32_t type, uint16_t misc, uint64_t time, int32_t cpu,
		const uint32_t *words, size_t n_words, const char *name)
{
	uint64_t buffer[64] = { 0 };
	struct perf_event_header *header = (void *)buffer;
	struct rvt_perfdata_record record = { .type = type, .misc = misc, .header = header,
		.time_valid = true, .time = time, .cpu_valid = cpu >= 0, .cpu = cpu,
		.tid_valid = true };
	size_t len = 4 * n_words + (name ? strlen(name) + 1 : 0);

	memcpy(header + 1, words, 4 * n_words);
	if (name)
		strcpy((char *)(header + 1) + 4 * n_words, name);
	header->size = sizeof(*header) + len;
	record.body_len = len;
	if (type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE) {
		record.pid = words[0];
		record.tid = words[1];
		memcpy(header + 1, words + 2, 4 * (n_words - 2));
		record.body_len = 4 * (n_words - 2);
	}
	assert_int_equal(rvt_sideband_add(f->sideband, &record), 0);
}

static void add_comm(struct fixture *f, uint64_t time, uint32_t pid, uint32_t tid, bool exec,
		     const char *comm)
{
	add(f, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, time, -1,
	    (uint32_t[]){ pid, tid }, 2, comm);
}

static void add_fork(struct fixture *f, uint64_t time, uint32_t pid, uint32_t tid, uint32_t ppid,
		     uint32_t ptid)
{
	add(f, PERF_RECORD_FORK, 0, time, -1, (uint32_t[]){ pid, ppid, tid, ptid, 0, 0 }, 6, NULL);
}

static void add_mmap(struct fixture *f, uint64_t time, uint32_t pid, uint32_t prot,
		     const char *path)
{
	const uint32_t words[] = { pid, pid, ADDR, 0, LEN, 0, 0, 0, 0, 0, 0, 0, 0, 0, prot, 0 };

	add(f, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, time, -1, words, 16, path);
}

static void start(struct fixture *f)
{
	struct rvt_space *kernel;

	assert_int_equal(rvt_sideband_sort(f->sideband), 0);
	assert_int_equal(rvt_sideband_kernel(f->sideband, f->image, &kernel), 0);
	assert_int_equal(rvt_cursor_create(f->sideband, f->image, kernel, &f->cursor), 0);
}

static const struct rvt_task *task_at(struct fixture *f, uint64_t time, int32_t tid)
{
	const struct rvt_task *task;

	assert_true(rvt_cursor_seek(f->cursor, time) >= 0);
	task = rvt_cursor_task(f->cursor, tid);
	assert_non_null(task);
	assert_int_equal(task->tid, tid);
	return task;
}

/* The byte that @task has at ADDR; 0 when there is none. */
static int byte_of(const struct rvt_task *task)
{
	const uint8_t *bytes;

	return rvt_space_find(task->space, ADDR, &bytes) ? *bytes : 0;
}

static void exec_replaces_mappings(void **state)
{
	struct fixture *f = *state;

	/* out of order in the file, as two cpus' rings are */
	add_mmap(f, 200, 10, PROT_READ | PROT_EXEC, f->new);
	add_comm(f, 150, 10, 10, true, "after");
	add_mmap(f, 50, 10, PROT_READ | PROT_EXEC, f->old);
	add_comm(f, 0, 10, 10, false, "before");
	start(f);
	assert_string_equal(task_at(f, 10, 10)->comm, "before");
	assert_int_equal(byte_of(task_at(f, 49, 10)), 0);
	assert_int_equal(byte_of(task_at(f, 50, 10)), 0xaa);
	assert_int_equal(byte_of(task_at(f, 150, 10)), 0);
	assert_string_equal(task_at(f, 150, 10)->comm, "after");
	assert_int_equal(byte_of(task_at(f, 1000, 10)), 0xbb);
	assert_int_equal(task_at(f, 1000, 10)->pid, 10);
}

static void fork_copies_threads_share(void **state)
{
	struct fixture *f = *state;

	add_comm(f, 0, 10, 10, false, "parent");
	add_mmap(f, 0, 10, PROT_EXEC, f->old);
	add_fork(f, 100, 10, 11, 10, 10);	/* a thread */
	add_fork(f, 110, 20, 20, 10, 11);	/* a process, forked by the thread */
	add_mmap(f, 120, 10, PROT_EXEC, f->new);	/* seen by 10 and 11 only */
	start(f);
	assert_int_equal(task_at(f, 105, 20)->pid, -1);
	assert_int_equal(byte_of(task_at(f, 115, 20)), 0xaa);
	assert_int_equal(task_at(f, 115, 20)->pid, 20);
	assert_string_equal(task_at(f, 115, 20)->comm, "parent");
	assert_int_equal(task_at(f, 125, 11)->pid, 10);
	assert_int_equal(byte_of(task_at(f, 125, 11)), 0xbb);
	assert_int_equal(byte_of(task_at(f, 125, 10)), 0xbb);
	assert_int_equal(byte_of(task_at(f, 125, 20)), 0xaa);
	assert_ptr_equal(task_at(f, 125, 10)->space, task_at(f, 125, 11)->space);
}

/* Threads are known by what they or their parents are seen to do. */
static void processes_with_threads(void **state)
{
	struct fixture *f = *state;
	struct rvt_threaded threaded;

	add_comm(f, 10, 50, 50, false, "alone");
	add_comm(f, 20, 40, 41, false, "named");
	add_fork(f, 100, 30, 31, 30, 30);
	add_fork(f, 110, 60, 60, 20, 21);	/* a process, forked by a thread */
	add_fork(f, 120, 30, 32, 30, 30);
	assert_int_equal(rvt_sideband_threaded(f->sideband, &threaded), 0);
	for (int pid = 0; pid < 100; pid++)
		assert_int_equal(rvt_threaded_has(&threaded, pid),
				 pid == 20 || pid == 30 || pid == 40);
	free(threaded.pids);
}

/* The id 20 is first a process of its own, later a thread of 10, later a process again. */
static void reused_ids(void **state)
{
	struct fixture *f = *state;

	add_comm(f, 0, 10, 10, false, "ten");
	add_mmap(f, 0, 10, PROT_EXEC, f->old);
	add_comm(f, 0, 20, 20, false, "twenty");
	add_mmap(f, 0, 20, PROT_EXEC, f->new);
	add_fork(f, 100, 10, 20, 10, 10);
	add_fork(f, 200, 20, 20, 1, 1);
	start(f);
	assert_int_equal(byte_of(task_at(f, 50, 20)), 0xbb);
	assert_int_equal(task_at(f, 100, 20)->pid, 10);
	assert_int_equal(byte_of(task_at(f, 100, 20)), 0xaa);
	assert_int_equal(task_at(f, 200, 20)->pid, 20);
	assert_int_equal(byte_of(task_at(f, 200, 20)), 0);
}

static void who_runs(void **state)
{
	struct fixture *f = *state;

	/* in: 10 on cpu 1; cpu-wide out of 10, 11 comes; task-wide out of 11 */
	add(f, PERF_RECORD_SWITCH, 0, 100, 1, (uint32_t[]){ 10, 10 }, 2, NULL);
	add(f, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, 200, 1,
	    (uint32_t[]){ 10, 10, 11, 11 }, 4, NULL);
	add(f, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 300, 1, (uint32_t[]){ 11, 11 }, 2,
	    NULL);
	start(f);
	assert_int_equal(rvt_cursor_running(f->cursor, 1), -1);
	assert_int_equal(rvt_cursor_seek(f->cursor, 100), 1);
	assert_int_equal(rvt_cursor_running(f->cursor, 1), 10);
	assert_int_equal(rvt_cursor_running(f->cursor, 0), -1);
	assert_int_equal(rvt_cursor_running(f->cursor, 7), -1);
	assert_int_equal(rvt_cursor_seek(f->cursor, 150), 0);
	rvt_cursor_seek(f->cursor, 200);
	assert_int_equal(rvt_cursor_running(f->cursor, 1), 11);
	rvt_cursor_seek(f->cursor, 300);
	assert_int_equal(rvt_cursor_running(f->cursor, 1), -1);
}

static void add_switch_sample(struct fixture *f, uint64_t time, const struct rvt_switch *body,
			      size_t len, int expected)
{
	static const struct rvt_perfdata_event event = { .name = RVT_SWITCH_EVENT };
	const struct rvt_perfdata_record record = { .type = PERF_RECORD_SAMPLE, .event = &event,
		.time_valid = true, .time = time, .cpu_valid = true, .cpu = 1,
		.raw = (const void *)body, .raw_len = len };

	assert_int_equal(rvt_sideband_add(f->sideband, &record), expected);
}

/*
 * A switch that the recorder's BPF program tells names who comes; of one that is damaged nothing is
 * believed.
 */
static void who_runs_by_bpf(void **state)
{
	static const struct rvt_switch good = { 10, 10, 11, 12, 2, 0 },
		idle = { 11, 12, 0, 0, 2, 0 },
		last = { 11, 12, 13, 14, 0, RVT_SWITCH_LAST }, negative = { 10, 10, 11, -12, 0, 0 },
		unknown = { 10, 10, 11, 12, 0, 0x40 };
	static const struct {
		const struct rvt_switch *body;
		size_t len;
		int32_t running;
	} cases[] = {
		{ &good, sizeof(good) + 4, 12 }, { &good, sizeof(good) - 1, -1 },
		{ &idle, sizeof(idle), 0 }, { &negative, sizeof(negative), -1 },
		{ &good, sizeof(good), 12 }, { &last, sizeof(last), -1 },
		{ &good, sizeof(good), 12 },
		{ &unknown, sizeof(unknown), -1 }, { &good, sizeof(good), 12 }, { NULL, 0, -1 },
	};
	const size_t n = sizeof(cases) / sizeof(*cases);
	struct fixture *f = *state;

	for (size_t i = 0; i < n; i++)
		add_switch_sample(f, 100 * (i + 1), cases[i].body, cases[i].len,
				  cases[i].running == -1 && cases[i].body != &last ? -EBADMSG : 0);
	start(f);
	for (size_t i = 0; i < n; i++) {
		rvt_cursor_seek(f->cursor, 100 * (i + 1));
		assert_int_equal(rvt_cursor_running(f->cursor, 1), cases[i].running);
	}
	assert_int_equal(rvt_cursor_task(f->cursor, 12)->pid, 11);
	assert_int_equal(rvt_cursor_task(f->cursor, 14)->pid, 13);
}

/* Where trace begins, who runs is known before any switch. */
static void who_runs_at_the_start(void **state)
{
	struct fixture *f = *state;

	add(f, PERF_RECORD_ITRACE_START, 0, 100, 1, (uint32_t[]){ 10, 11 }, 2, NULL);
	add(f, PERF_RECORD_ITRACE_START, 0, 110, 0, (uint32_t[]){ -1, -1 }, 2, NULL);
	start(f);
	assert_int_equal(rvt_cursor_seek(f->cursor, 200), 1);
	assert_int_equal(rvt_cursor_running(f->cursor, 1), 11);
	assert_int_equal(rvt_cursor_task(f->cursor, 11)->pid, 10);
	assert_int_equal(rvt_cursor_running(f->cursor, 0), -1);
}

/*
 * An exec that ends what ran before, and one with which the recording begins: there the task may
 * have been scheduled before, but it ran nothing.
 */
static void exec_at_the_start(void **state)
{
	struct fixture *f = *state;

	add_comm(f, 50, 10, 10, false, "shell");
	add_comm(f, 200, 10, 10, true, "program");
	add(f, PERF_RECORD_ITRACE_START, 0, 100, 1, (uint32_t[]){ 20, 20 }, 2, NULL);
	add(f, PERF_RECORD_SWITCH, 0, 110, 1, (uint32_t[]){ 20, 20 }, 2, NULL);
	add(f, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 120, 1, (uint32_t[]){ 20, 20 }, 2,
	    NULL);
	add_comm(f, 200, 20, 20, true, "program");
	start(f);
	assert_int_equal(rvt_cursor_next_exec(f->cursor, 10, 0, 300), 200);
	assert_int_equal(rvt_cursor_next_exec(f->cursor, 10, 0, 199), UINT64_MAX);
	assert_int_equal(rvt_cursor_next_exec(f->cursor, 20, 0, 300), UINT64_MAX);
}

static void what_is_missing(void **state)
{
	struct fixture *f = *state;
	struct rvt_location location;

	add_mmap(f, 0, 10, PROT_EXEC, "/nonexistent/program");
	add_mmap(f, 1, 10, PROT_EXEC, "/nonexistent/program");
	add_mmap(f, 2, 11, PROT_EXEC, "//anon");
	add_mmap(f, 3, 12, PROT_READ, "/nonexistent/data");
	start(f);
	assert_int_equal(byte_of(task_at(f, 100, 10)), 0);
	assert_non_null(rvt_cursor_missing(f->cursor, 0));
	assert_string_equal(rvt_cursor_missing(f->cursor, 0)->path, "/nonexistent/program");
	assert_int_equal(rvt_cursor_missing(f->cursor, 0)->error, -ENOENT);
	assert_null(rvt_cursor_missing(f->cursor, 1));
	assert_int_equal(rvt_space_locate(task_at(f, 100, 11)->space, ADDR, &location), 0);
	assert_string_equal(location.path, "//anon");
	assert_false(location.readable);
}

/* Bodies that end too early are no sideband; nothing is read beyond them. */
static void short_records(void **state)
{
	struct fixture *f = *state;

	add(f, PERF_RECORD_COMM, 0, 1, -1, (uint32_t[]){ 10 }, 1, NULL);
	add(f, PERF_RECORD_FORK, 0, 1, -1, (uint32_t[]){ 10, 1 }, 2, NULL);
	add(f, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 1, -1, (uint32_t[]){ 10, 1 }, 2, NULL);
	add(f, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, 1, -1, (uint32_t[]){ 10, 1 }, 2, NULL);
	start(f);
	assert_int_equal(rvt_cursor_seek(f->cursor, 10), 0);
}

/* The code is that of the end; at each time it is what it was then, also when time goes back. */
static void poked_code(void **state)
{
	static const uint8_t end_code[8] = { 1, 2, 3, 4, 0x13, 0, 0, 0 };
	static const struct {
		uint64_t addr;
		uint16_t old_len, new_len;
		uint8_t bytes[8];
	} pokes[2] = {
		{ ADDR + 4, 4, 4, { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 } },
		{ ADDR + 4, 4, 4, { 0x55, 0x66, 0x77, 0x88, 0x13, 0, 0, 0 } },
	};
	struct fixture *f = *state;
	struct rvt_cursor *late;
	struct rvt_space *kernel;
	const uint8_t *bytes;

	for (int i = 0; i < 2; i++) {
		uint64_t buffer[8];
		struct perf_event_header *header = (void *)buffer;
		const struct rvt_perfdata_record record = { .type = PERF_RECORD_TEXT_POKE,
			.header = header, .time_valid = true, .time = 100 + 100 * i,
			.body_len = 20 };

		memcpy(header + 1, &pokes[i], 20);
		assert_int_equal(rvt_sideband_add(f->sideband, &record), 0);
	}
	assert_int_equal(rvt_sideband_sort(f->sideband), 0);
	assert_int_equal(rvt_space_create(f->image, NULL, &kernel), 0);
	assert_int_equal(rvt_space_map_bytes(kernel, ADDR, end_code, 8, "[kernel.kallsyms]"), 0);
	assert_int_equal(rvt_sideband_rewind(f->sideband, kernel), 0);
	assert_int_equal(rvt_cursor_create(f->sideband, f->image, kernel, &f->cursor), 0);
	assert_true(rvt_space_find(kernel, ADDR + 4, &bytes) >= 4);
	assert_int_equal(*bytes, 0x11);
	assert_true(rvt_cursor_seek(f->cursor, 150) > 0);
	assert_true(rvt_space_find(kernel, ADDR + 4, &bytes) >= 4);
	assert_int_equal(*bytes, 0x55);
	assert_true(rvt_cursor_seek(f->cursor, 250) > 0);
	assert_true(rvt_space_find(kernel, ADDR + 4, &bytes) >= 4);
	assert_int_equal(*bytes, 0x13);
	/* what is beside it was never touched */
	assert_true(rvt_space_find(kernel, ADDR, &bytes) >= 4);
	assert_int_equal(bytes[3], 4);
	/* a second buffer begins at the beginning */
	assert_int_equal(rvt_cursor_create(f->sideband, f->image, kernel, &late), 0);
	assert_true(rvt_space_find(kernel, ADDR + 4, &bytes) >= 4);
	assert_int_equal(*bytes, 0x11);
	rvt_cursor_destroy(late);
}

/* A sample as the recorder's BPF programs write it; @lie: bytes that it has less than it says. */
static void add_code(struct fixture *f, uint64_t time, enum rvt_kernel_code_kind kind,
		     const char *module, const char *function, const char *bytes, uint32_t len,
		     uint32_t lie)
{
	static const struct rvt_perfdata_event event = { .name = RVT_KERNEL_CODE_EVENT };
	struct rvt_kernel_code code = { .kind = kind, .len = len,
		.addr = kind == RVT_KERNEL_CODE_CHANGES ? ADDR + 4 : ADDR };
	uint32_t n_bytes = bytes ? strlen(bytes) : 0;
	uint8_t raw[512];
	const struct rvt_perfdata_record record = { .type = PERF_RECORD_SAMPLE, .event = &event,
		.time_valid = true, .time = time, .raw = raw,
		.raw_len = sizeof(code) + n_bytes - lie };

	strcpy(code.module, module);
	strcpy(code.function, function);
	memcpy(raw, &code, sizeof(code));
	memcpy(raw + sizeof(code), bytes ? bytes : "", n_bytes);
	assert_int_equal(rvt_sideband_add(f->sideband, &record), lie ? -EBADMSG : 0);
}

/* What is mapped at @addr: the four bytes, and under which name. NULL: nothing. */
static void is_mapped(struct rvt_space *kernel, uint64_t addr, const char *expected,
		      const char *name)
{
	struct rvt_location location = { 0 };
	const uint8_t *bytes;

	if (!expected) {
		assert_int_equal(rvt_space_find(kernel, addr, &bytes), 0);
		return;
	}
	assert_true(rvt_space_find(kernel, addr, &bytes) >= 4);
	assert_memory_equal(bytes, expected, 4);
	assert_int_equal(rvt_space_locate(kernel, addr, &location), 0);
	assert_string_equal(location.path, name);
	assert_int_equal(location.file_offset, addr - ADDR);	/* from the start of the function */
}

/*
 * Modules: the end of the first is not told, the second lies where it was; nothing is left at the
 * end.
 */
static void code_comes_and_goes(void **state)
{
	struct fixture *f = *state;
	struct rvt_cursor *other;
	struct rvt_space *kernel;

	add_code(f, 100, RVT_KERNEL_CODE_COMES, "one", "", "AAAAaaaa", 8, 0);
	add_code(f, 150, RVT_KERNEL_CODE_FUNCTION, "one", "f", NULL, 8, 0);
	add_code(f, 200, RVT_KERNEL_CODE_CHANGES, "", "", "aaaaXXXX", 4, 0);
	add_code(f, 250, RVT_KERNEL_CODE_CHANGES, "", "", "XXXXYYYY", 4, 1);	/* ignored */
	add_code(f, 300, RVT_KERNEL_CODE_COMES, "two", "", "BBBBbbbb", 8, 0);
	add_code(f, 400, RVT_KERNEL_CODE_GOES, "two", "", "BBBBbbbb", 8, 0);
	assert_int_equal(rvt_sideband_sort(f->sideband), 0);
	assert_int_equal(rvt_space_create(f->image, NULL, &kernel), 0);
	assert_int_equal(rvt_sideband_rewind(f->sideband, kernel), 0);
	assert_int_equal(rvt_cursor_create(f->sideband, f->image, kernel, &f->cursor), 0);
	is_mapped(kernel, ADDR, NULL, NULL);
	assert_true(rvt_cursor_seek(f->cursor, 120) > 0);
	is_mapped(kernel, ADDR, "AAAA", "[one]");
	is_mapped(kernel, ADDR + 4, "aaaa", "[one]");
	assert_true(rvt_cursor_seek(f->cursor, 160) > 0);
	is_mapped(kernel, ADDR + 4, "aaaa", "[one]f");
	/* what changes does so at the very time that it is told with */
	assert_int_equal(rvt_cursor_seek(f->cursor, 199), 0);
	is_mapped(kernel, ADDR + 4, "aaaa", "[one]f");
	assert_true(rvt_cursor_seek(f->cursor, 200) > 0);
	is_mapped(kernel, ADDR + 4, "XXXX", "[one]f");
	assert_int_equal(rvt_cursor_seek(f->cursor, 260), 0);
	is_mapped(kernel, ADDR + 4, "XXXX", "[one]f");
	/* another buffer is further on, and this one needs its own time again */
	assert_int_equal(rvt_cursor_create(f->sideband, f->image, kernel, &other), 0);
	is_mapped(kernel, ADDR, NULL, NULL);
	assert_true(rvt_cursor_seek(other, 350) > 0);
	is_mapped(kernel, ADDR + 4, "bbbb", "[two]");
	assert_true(rvt_cursor_seek(f->cursor, 270) > 0);
	is_mapped(kernel, ADDR, "AAAA", "[one]f");
	is_mapped(kernel, ADDR + 4, "XXXX", "[one]f");
	assert_true(rvt_cursor_seek(other, 450) > 0);
	is_mapped(kernel, ADDR, NULL, NULL);
	is_mapped(kernel, ADDR + 4, NULL, NULL);
	rvt_cursor_destroy(other);
}

/* Code that replaces other code at its address; the times are those of CLOCK_MONOTONIC. */
/* A sample of code of process 10 as the recorder writes it; @lie: bytes less than it says. */
static void add_copy(struct fixture *f, uint64_t time, enum rvt_user_code_kind kind, int pid,
		     uint64_t addr, int byte, uint32_t len, uint32_t lie)
{
	static const struct rvt_perfdata_event event = { .name = RVT_USER_CODE_EVENT };
	const struct rvt_user_code code = { .kind = kind, .len = len, .addr = addr, .pid = pid,
					    .flags = f->maps ? RVT_USER_CODE_MAPS : 0 };
	uint32_t n_bytes = kind == RVT_USER_CODE_SAME ? 0 : len;
	uint8_t raw[sizeof(code) + 2 * RVT_USER_CODE_MAX];
	const struct rvt_perfdata_record record = { .type = PERF_RECORD_SAMPLE, .event = &event,
		.time_valid = true, .time = time, .raw = raw,
		.raw_len = sizeof(code) + n_bytes - lie };

	memcpy(raw, &code, sizeof(code));
	memset(raw + sizeof(code), byte, n_bytes);
	assert_int_equal(rvt_sideband_add(f->sideband, &record),
			 lie || !len || len > RVT_USER_CODE_MAX ? -EBADMSG : 0);
}

/* What process @tid has at @addr at @time: the byte, -1: it is known and not readable. */
static int byte_at(struct fixture *f, uint64_t time, int32_t tid, uint64_t addr)
{
	struct rvt_space *space = task_at(f, time, tid)->space;
	struct rvt_location location;
	const uint8_t *bytes;

	assert_int_equal(rvt_space_locate(space, addr, &location), 0);
	assert_int_equal(location.readable, rvt_space_find(space, addr, &bytes) > 0);
	/* it keeps its name and its place */
	assert_string_equal(location.path, "//anon");
	assert_int_equal(location.map_start, ADDR);
	assert_int_equal(location.file_offset, addr - ADDR);
	return location.readable ? *bytes : -1;
}

/* Memory is written, executed, written again; what did not change is told without bytes. */
static void copied_code(void **state)
{
	struct fixture *f = *state;

	add_comm(f, 0, 10, 10, false, "jit");
	add_copy(f, 50, RVT_USER_CODE_COMES, 10, ADDR, 0x10, LEN, 0);	/* of before */
	f->maps = true;
	add_copy(f, 60, RVT_USER_CODE_COMES, 10, ADDR, 0x11, LEN, 0);	/* of what is mapped next */
	f->maps = false;
	add_mmap(f, 100, 10, PROT_EXEC, "//anon");
	add_copy(f, 120, RVT_USER_CODE_COMES, 10, ADDR + 8, 0x22, 16, 0);
	add_copy(f, 125, RVT_USER_CODE_COMES, 10, ADDR, 0x33, 16, 4);	/* damaged */
	add_copy(f, 125, RVT_USER_CODE_COMES, 10, ADDR, 0x33, 0, 0);
	add_copy(f, 125, RVT_USER_CODE_COMES, 10, ADDR, 0x33, LEN + 1, 0);
	add_copy(f, 125, RVT_USER_CODE_COMES, 11, ADDR, 0x33, 16, 0);	/* another process */
	add_mmap(f, 130, 10, PROT_EXEC, "//anon");
	add_copy(f, 140, RVT_USER_CODE_SAME, 10, ADDR, 0, LEN, 0);
	add_copy(f, 150, RVT_USER_CODE_SAME, 10, ADDR + LEN, 0, LEN, 0);	/* of nothing */
	start(f);
	assert_int_equal(byte_at(f, 100, 10, ADDR), -1);
	assert_int_equal(byte_at(f, 110, 10, ADDR), 0x11);
	assert_int_equal(byte_at(f, 110, 10, ADDR + LEN - 1), 0x11);
	assert_int_equal(byte_at(f, 120, 10, ADDR + 7), 0x11);
	assert_int_equal(byte_at(f, 120, 10, ADDR + 8), 0x22);
	assert_int_equal(byte_at(f, 120, 10, ADDR + 23), 0x22);
	assert_int_equal(byte_at(f, 120, 10, ADDR + 24), 0x11);
	assert_int_equal(byte_at(f, 135, 10, ADDR), -1);
	assert_int_equal(byte_at(f, 150, 10, ADDR + 8), 0x11);
}

/*
 * What could not be copied when it was mapped is told at its end: it holds from the last mapping
 * on, or from the fork of who did not map it, and what came meanwhile holds from then on.
 */
static void code_that_stayed(void **state)
{
	struct fixture *f = *state;

	add_comm(f, 0, 10, 10, false, "jit");
	add_copy(f, 500, RVT_USER_CODE_STAYED, 10, ADDR, 0x44, LEN, 0);
	add_copy(f, 510, RVT_USER_CODE_STAYED, 20, ADDR, 0x55, LEN, 0);
	add_mmap(f, 100, 10, PROT_EXEC, "//anon");
	add_mmap(f, 200, 10, PROT_EXEC, "//anon");
	add_copy(f, 300, RVT_USER_CODE_COMES, 10, ADDR, 0x66, 16, 0);
	add_fork(f, 400, 20, 20, 10, 10);
	start(f);
	assert_int_equal(byte_at(f, 150, 10, ADDR), -1);
	assert_int_equal(byte_at(f, 250, 10, ADDR), 0x44);
	assert_int_equal(byte_at(f, 300, 10, ADDR), 0x66);
	assert_int_equal(byte_at(f, 300, 10, ADDR + 16), 0x44);
	assert_int_equal(byte_at(f, 450, 20, ADDR), 0x55);
	assert_int_equal(byte_at(f, 600, 10, ADDR), 0x66);
}

static void jitted_code(void **state)
{
	const struct {
		uint32_t magic, version, size, machine, reserved, pid;
		uint64_t time, flags;
	} header = { 0x4a695444, 1, 40, 243, 0, 10, 0, 0 };
	const struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, addr, len, index;
		char name[4];
		uint8_t code[4];
	} loads[3] = {
		{ 0, 64, 1100, 10, 10, ADDR, ADDR, 4, 0, "one", { 0x13, 0x05, 0x15, 0 } },
		{ 0, 64, 1200, 10, 10, ADDR, ADDR, 4, 1, "two", { 0x67, 0x80, 0, 0 } },
		/* longer than what is left of the file */
		{ 0, 64, 1250, 10, 10, ADDR, ADDR, 400, 1, "bad", { 0 } },
	};
	const int64_t offset = -1000;
	struct fixture *f = *state;
	struct rvt_location location;
	char dir[] = "/tmp/rvtrace-jit-XXXXXX", path[64];
	FILE *out;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/jit-10.dump", dir);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(&header, sizeof(header), 1, out), 1);
	assert_int_equal(fwrite(loads, sizeof(*loads), 3, out), 3);
	fclose(out);
	add_comm(f, 0, 10, 10, false, "jit");
	add(f, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 50, -1,
	    (uint32_t[]){ 10, 10, 0x90000, 0, LEN, 0, 0, 0, 0, 0, 0, 0, 0, 0, PROT_EXEC, 0 }, 16,
	    path);
	rvt_sideband_set_clock(f->sideband, NULL, &offset);
	start(f);
	unlink(path);
	rmdir(dir);
	assert_int_equal(byte_of(task_at(f, 99, 10)), 0);
	assert_int_equal(byte_of(task_at(f, 100, 10)), 0x13);
	assert_int_equal(byte_of(task_at(f, 1000, 10)), 0x67);
	assert_int_equal(rvt_space_locate(task_at(f, 1000, 10)->space, ADDR, &location), 0);
	assert_string_equal(location.path, "[jit]two");
}

/* What a recording names is no file, but a FIFO that nobody writes to: nothing waits for it. */
static void jitdump_is_fifo(void **state)
{
	struct fixture *f = *state;
	char dir[] = "/tmp/rvtrace-jit-XXXXXX", path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/jit-10.dump", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	add_comm(f, 0, 10, 10, false, "jit");
	add(f, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 50, -1,
	    (uint32_t[]){ 10, 10, 0x90000, 0, LEN, 0, 0, 0, 0, 0, 0, 0, 0, 0, PROT_EXEC, 0 }, 16,
	    path);
	alarm(20);
	start(f);
	alarm(0);
	unlink(path);
	rmdir(dir);
	assert_int_equal(byte_of(task_at(f, 100, 10)), 0);
}

/* The recorder names the command before its exec; that is no life before it. */
static void named_before_exec(void **state)
{
	struct fixture *f = *state;

	add_comm(f, 0, 10, 10, false, "perf-exec");
	add_comm(f, 100, 10, 10, true, "program");
	add_comm(f, 0, 20, 20, false, "shell");
	add_mmap(f, 0, 20, PROT_EXEC, f->old);
	add_comm(f, 200, 20, 20, true, "other");
	start(f);
	assert_string_equal(task_at(f, 0, 10)->comm, "perf-exec");
	assert_int_equal(task_at(f, 0, 10)->pid, 10);
	assert_true(rvt_cursor_next_exec(f->cursor, 10, 1, 1000) == UINT64_MAX);
	assert_int_equal(rvt_cursor_next_exec(f->cursor, 20, 0, 1000), 200);
}

/* A program that executes another one: that counts where it was, whatever was executed before. */
static void exec_of_exec(void **state)
{
	struct fixture *f = *state;

	add_comm(f, 0, 10, 10, false, "perf-exec");
	add_comm(f, 100, 10, 10, true, "taskset");
	add_mmap(f, 110, 10, PROT_EXEC, f->old);
	add(f, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 200, 0, (uint32_t[]){ 10, 10 }, 2,
	    "program");
	start(f);
	assert_int_equal(rvt_cursor_next_exec(f->cursor, 10, 0, 1000), 200);
	assert_int_equal(rvt_cursor_next_exec(f->cursor, 10, 1, 1000), UINT64_MAX);
	assert_int_equal(rvt_cursor_next_exec(f->cursor, 10, 0, 199), UINT64_MAX);
}

static void add_exit(struct fixture *f, uint64_t time, uint32_t pid, uint32_t tid)
{
	add(f, PERF_RECORD_EXIT, 0, time, -1, (uint32_t[]){ pid, 1, tid, 1, 0, 0 }, 6, NULL);
}

/* A second behind its end a task is forgotten, but not the one in use; its number is another's. */
static void ended_tasks(void **state)
{
	const uint64_t second = 1000000000;
	struct fixture *f = *state;
	const struct rvt_task *used;
	const uint8_t *bytes;

	for (uint32_t pid = 10; pid <= 11; pid++) {
		add_comm(f, 0, pid, pid, false, "parent");
		add_mmap(f, 0, pid, PROT_EXEC, f->old);
	}
	add_fork(f, 100, 10, 12, 10, 10);
	add_exit(f, 200, 10, 10);
	add_exit(f, 300, 11, 11);
	add_comm(f, second / 2, 99, 99, false, "early");
	add_comm(f, second + 400, 99, 99, false, "late");
	add_fork(f, second + 500, 10, 10, 99, 99);
	add_exit(f, second + 600, 10, 12);
	add_exit(f, second + 600, 10, 10);
	add_comm(f, 2 * second + 700, 99, 99, false, "later");
	start(f);
	rvt_cursor_forget_ended(f->cursor);
	assert_string_equal(task_at(f, second - 1, 10)->comm, "parent");
	used = task_at(f, second - 1, 11);
	assert_true(rvt_cursor_replaces(f->cursor, used, second + 400));
	/* 10 goes; its process stays for the sake of 12, and so does 11, which is in use */
	assert_true(rvt_cursor_seek(f->cursor, second + 450) > 0);
	assert_int_equal(used->tid, 11);
	assert_true(rvt_space_find(used->space, ADDR, &bytes) > 0);
	assert_string_equal(task_at(f, second + 450, 10)->comm, ":10");
	assert_string_equal(task_at(f, second + 450, 12)->comm, "parent");
	assert_true(rvt_space_find(task_at(f, second + 450, 12)->space, ADDR, &bytes) > 0);
	/* a new thread of it */
	assert_string_equal(task_at(f, second + 550, 10)->comm, "late");
	assert_string_equal(task_at(f, second + 550, 99)->comm, "late");
	/* with the last thread its code goes */
	assert_true(rvt_cursor_seek(f->cursor, 2 * second + 700) > 0);
	assert_string_equal(task_at(f, 2 * second + 700, 12)->comm, ":12");
	assert_true(!rvt_space_find(task_at(f, 2 * second + 700, 12)->space, ADDR, &bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ended_tasks, setup, teardown),
		cmocka_unit_test_setup_teardown(exec_replaces_mappings, setup, teardown),
		cmocka_unit_test_setup_teardown(fork_copies_threads_share, setup, teardown),
		cmocka_unit_test_setup_teardown(processes_with_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(reused_ids, setup, teardown),
		cmocka_unit_test_setup_teardown(who_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(who_runs_by_bpf, setup, teardown),
		cmocka_unit_test_setup_teardown(who_runs_at_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(exec_at_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(short_records, setup, teardown),
		cmocka_unit_test_setup_teardown(poked_code, setup, teardown),
		cmocka_unit_test_setup_teardown(code_comes_and_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(copied_code, setup, teardown),
		cmocka_unit_test_setup_teardown(code_that_stayed, setup, teardown),
		cmocka_unit_test_setup_teardown(jitted_code, setup, teardown),
		cmocka_unit_test_setup_teardown(jitdump_is_fifo, setup, teardown),
		cmocka_unit_test_setup_teardown(named_before_exec, setup, teardown),
		cmocka_unit_test_setup_teardown(exec_of_exec, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
