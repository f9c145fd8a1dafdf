// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code and symbols in files that recordings share: found in the reader's cache or where they were
 * made, changed as the recording says, told of when they are missing, and archived.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/perfdata.h>
#include "perfdata/shared.h"

#define LEN 10001u
#define ADDR 0xffffffff80000000u
#define MOVED 0x1200000u

static const char own_symbols[] = "ffffffff80000000 T _text\n0000000000001000 A absolute\n"
				  "ffffffff80000abc t second\n";
static const char moved_symbols[] = "ffffffff81200000 T _text\n0000000000001000 A absolute\n"
				    "ffffffff81200abc t second\n";
static const char others[] = "ffffffff02000000 t init\t[module]\n";

struct fixture {
	char dir[64], code_path[256], symbols_path[256], recording[128];
	uint8_t bytes[LEN];
};

static void write_file(const char *path, const void *head, size_t head_len, const void *bytes,
		       size_t len)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(head, 1, head_len, out), head_len);
	assert_int_equal(fwrite(bytes, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
}

static void add_ref(struct rvt_code *code, uint8_t *room, const char *path, uint64_t id,
		    uint64_t len, const void *changes, size_t changes_len)
{
	const struct rvt_shared_ref ref = { id, len, strlen(path) + 1, changes_len };

	memcpy(room, &ref, sizeof(ref));
	memcpy(room + sizeof(ref), path, ref.path_len);
	if (changes_len)
		memcpy(room + sizeof(ref) + ref.path_len, changes, changes_len);
	code->bytes = room;
	code->len = sizeof(ref) + ref.path_len + changes_len;
}

/* @bad: a change behind the end of the code. */
static void make_recording(struct fixture *f, size_t symbols_len, bool bad)
{
	struct rvt_code refs[2] = {
		{ .addr = ADDR, .kind = RVT_CODE_KERNEL, .name = "[kernel.kallsyms]" },
		{ .addr = ADDR + MOVED, .kind = RVT_CODE_SYMBOLS, .name = "kallsyms" },
	};
	const struct {
		struct rvt_shared_change first;
		uint8_t bytes[4];
		struct rvt_shared_change last;
		uint8_t byte[1];
	} __attribute__((packed)) changes = { { 100, 4 }, "\1\2\3\4", { LEN - !bad, 1 }, "\5" };
	const struct perf_event_attr attr = { .size = sizeof(attr) };
	struct rvt_perfdata_writer *writer;
	uint8_t rooms[2][512];
	void *blob;
	size_t len;

	add_ref(&refs[0], rooms[0], f->code_path, 7, LEN, &changes, sizeof(changes));
	add_ref(&refs[1], rooms[1], f->symbols_path, 8, symbols_len, NULL, 0);
	assert_int_equal(rvt_perfdata_create(f->recording, &writer), 0);
	assert_int_equal(rvt_perfdata_add_event(writer, &attr, "rvtrace//", NULL, 0), 0);
	assert_int_equal(rvt_perfdata_begin(writer, "rvtrace 1\n"), 0);
	assert_int_equal(rvt_code_pack(refs, 2, &blob, &len), 0);
	assert_int_equal(rvt_perfdata_add_feature(writer, RVT_FEAT_RVTRACE_SHARED, blob, len), 0);
	free(blob);
	assert_int_equal(rvt_text_pack(others, strlen(others), &blob, &len), 0);
	assert_int_equal(rvt_perfdata_add_feature(writer, RVT_FEAT_RVTRACE_KALLSYMS, blob, len), 0);
	free(blob);
	assert_int_equal(rvt_perfdata_finish(writer), 0);
}

static void make(struct fixture *f, bool bad)
{
	struct rvt_shared_head head = { RVT_SHARED_CODE, 7, LEN, ADDR, "id", 2, 0 };
	void *blob;
	size_t len;

	for (size_t i = 0; i < LEN; i++)
		f->bytes[i] = i * 7 + i / 256;
	write_file(f->code_path, &head, sizeof(head), f->bytes, LEN);
	assert_int_equal(rvt_text_pack(own_symbols, strlen(own_symbols), &blob, &len), 0);
	head = (struct rvt_shared_head){ RVT_SHARED_SYMBOLS, 8, len, ADDR, "id", 2, 0 };
	write_file(f->symbols_path, &head, sizeof(head), blob, len);
	free(blob);
	make_recording(f, len, bad);
	memcpy(f->bytes + 100, "\1\2\3\4", 4);
	f->bytes[LEN - 1] = 5;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[128];

	assert_non_null(f);
	strcpy(f->dir, "/tmp/shared_test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(path, sizeof(path), "%s/made", f->dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/made/6964", f->dir);
	mkdir(path, 0700);
	snprintf(f->code_path, sizeof(f->code_path), "%s/code", path);
	snprintf(f->symbols_path, sizeof(f->symbols_path), "%s/symbols", path);
	snprintf(f->recording, sizeof(f->recording), "%s/perf.data", f->dir);
	snprintf(path, sizeof(path), "%s/cache", f->dir);
	setenv("XDG_CACHE_HOME", path, 1);
	make(f, false);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static struct rvt_perfdata *open_recording(const char *path)
{
	struct rvt_perfdata *file;
	char *error;

	assert_int_equal(rvt_perfdata_open(path, &file, &error), 0);
	return file;
}

static void check_all(const struct fixture *f, const char *path)
{
	struct rvt_perfdata *file = open_recording(path);
	struct rvt_code_store *store = NULL;
	const struct rvt_code *code;
	size_t n, len;
	char *text;

	assert_int_equal(rvt_perfdata_code(file, &store), 0);
	code = rvt_code_list(store, &n);
	assert_int_equal(n, 1);
	assert_int_equal(code->addr, ADDR);
	assert_int_equal(code->len, LEN);
	assert_int_equal(code->kind, RVT_CODE_KERNEL);
	assert_string_equal(code->name, "[kernel.kallsyms]");
	assert_int_equal(rvt_code_need(store, code->bytes + 50, LEN - 50), LEN - 50);
	assert_memory_equal(code->bytes, f->bytes, LEN);
	rvt_code_close(store);
	assert_int_equal(rvt_perfdata_kallsyms(file, &text, &len), 0);
	assert_int_equal(len, strlen(moved_symbols) + strlen(others));
	assert_memory_equal(text, moved_symbols, strlen(moved_symbols));
	assert_string_equal(text + strlen(moved_symbols), others);
	free(text);
	assert_null(rvt_perfdata_warning(file));
	rvt_perfdata_close(file);
}

static void test_where_it_was_made(void **state)
{
	const struct fixture *f = *state;

	check_all(f, f->recording);
}

static void move_to_cache(const struct fixture *f)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "mkdir -p %s/cache/rvtrace && mv %s/made %s/cache/rvtrace/kernel", f->dir, f->dir,
		 f->dir);
	assert_int_equal(system(command), 0);
}

static void test_in_the_cache(void **state)
{
	const struct fixture *f = *state;

	move_to_cache(f);
	check_all(f, f->recording);
}

/* A file of the same name and length that is not the one that is meant counts as missing. */
static void test_missing(void **state)
{
	const struct fixture *f = *state;
	struct rvt_shared_head head = { RVT_SHARED_CODE, 77, LEN, ADDR, "id", 2, 0 };
	struct rvt_perfdata *file = open_recording(f->recording);
	struct rvt_code_store *store = NULL;
	size_t n, len;
	char *text;

	write_file(f->code_path, &head, sizeof(head), f->bytes, LEN);
	assert_int_equal(unlink(f->symbols_path), 0);
	assert_int_equal(rvt_perfdata_code(file, &store), 0);
	rvt_code_list(store, &n);
	assert_int_equal(n, 0);
	rvt_code_close(store);
	assert_non_null(rvt_perfdata_warning(file));
	assert_non_null(strstr(rvt_perfdata_warning(file), f->code_path));
	assert_non_null(strstr(rvt_perfdata_warning(file), "perf rvtrace archive"));
	assert_int_equal(rvt_perfdata_kallsyms(file, &text, &len), 0);
	assert_string_equal(text, others);
	free(text);
	rvt_perfdata_close(file);
}

static void test_changes_outside(void **state)
{
	struct fixture *f = *state;
	struct rvt_code_store *store = NULL;
	struct rvt_perfdata *file;

	make(f, true);
	file = open_recording(f->recording);
	assert_int_equal(rvt_perfdata_code(file, &store), -EBADMSG);
	rvt_perfdata_close(file);
}

static void test_archive(void **state)
{
	const struct fixture *f = *state;
	struct rvt_perfdata *file = open_recording(f->recording);
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/archive", f->dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(rvt_perfdata_archive(file, fd), 0);
	close(fd);
	assert_int_equal(unlink(f->code_path), 0);
	check_all(f, path);
	assert_int_equal(rvt_perfdata_archive(file, -1), -ENOENT);
	rvt_perfdata_close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_where_it_was_made, setup, teardown),
		cmocka_unit_test_setup_teardown(test_in_the_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes_outside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_archive, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
