// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Images: mappings as mmap() makes them, files, ELF files, build ids.
 */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "image/image.h"

struct fixture {
	struct rvt_image *image;
	struct rvt_space *space;
};

static void set_up(struct fixture *f)
{
	assert_int_equal(rvt_image_create(&f->image), 0);
	assert_int_equal(rvt_space_create(f->image, NULL, &f->space), 0);
}

static void map(struct rvt_space *space, uint64_t addr, const char *bytes)
{
	assert_int_equal(rvt_space_map_bytes(space, addr, bytes, strlen(bytes), bytes), 0);
}

/* What rvt_space_find() gives at @addr is @text, or nothing when that is "". */
static void check(struct rvt_space *space, uint64_t addr, const char *text)
{
	const uint8_t *bytes;

	assert_int_equal(rvt_space_find(space, addr, &bytes), strlen(text));
	if (*text)
		assert_memory_equal(bytes, text, strlen(text));
}

static void test_replace(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	check(f.space, 100, "");
	map(f.space, 100, "abcdefghij");
	check(f.space, 99, "");
	check(f.space, 100, "abcdefghij");
	check(f.space, 109, "j");
	check(f.space, 110, "");
	map(f.space, 103, "XYZ");	/* inside */
	check(f.space, 100, "abc");
	check(f.space, 104, "YZ");
	check(f.space, 106, "ghij");
	map(f.space, 98, "0123");	/* over the start */
	check(f.space, 99, "123");
	check(f.space, 102, "c");
	map(f.space, 105, "======");	/* over the end, and what is between */
	check(f.space, 103, "XY");
	check(f.space, 105, "======");
	map(f.space, 90, "####################################");	/* over all */
	check(f.space, 105, "#####################");
	rvt_space_unmap(f.space, 100, 10);
	check(f.space, 90, "##########");
	check(f.space, 105, "");
	check(f.space, 110, "################");
	rvt_space_clear(f.space);
	check(f.space, 90, "");
	rvt_image_destroy(f.image);
}

static void test_top_of_memory(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	map(f.space, UINT64_MAX - 3, "abcd");
	check(f.space, UINT64_MAX, "d");
	map(f.space, UINT64_MAX - 1, "XYZ");	/* cut at the top */
	check(f.space, UINT64_MAX - 3, "ab");
	check(f.space, UINT64_MAX - 1, "XY");
	check(f.space, 0, "");
	rvt_space_unmap(f.space, UINT64_MAX, 5);
	check(f.space, UINT64_MAX - 1, "X");
	rvt_image_destroy(f.image);
}

static void test_parent_and_clone(void **state)
{
	struct rvt_space *user, *child;
	struct fixture f;
	uint64_t before;

	(void)state;
	set_up(&f);
	assert_int_equal(rvt_space_create(f.image, f.space, &user), 0);
	map(f.space, 1000, "kernel");
	map(user, 100, "user");
	check(user, 1000, "kernel");
	check(user, 100, "user");
	check(f.space, 100, "");
	assert_int_equal(rvt_space_clone(user, &child), 0);
	map(child, 100, "ch");
	check(child, 100, "ch");
	check(child, 102, "er");
	check(user, 100, "user");
	check(child, 1000, "kernel");
	assert_ptr_equal(rvt_space_holder(child, 1003), f.space);
	assert_ptr_equal(rvt_space_holder(child, 103), child);
	assert_ptr_equal(rvt_space_holder(child, 104), f.space);	/* nowhere */
	map(child, 1002, "N");
	assert_ptr_equal(rvt_space_holder(child, 1002), child);
	assert_ptr_equal(rvt_space_holder(child, 1003), f.space);
	before = rvt_space_generation(user);
	map(f.space, 2000, "module");
	assert_true(rvt_space_generation(user) != before);
	before = rvt_space_generation(user);
	rvt_space_clear(child);
	assert_true(rvt_space_generation(user) == before);
	rvt_image_destroy(f.image);
}

/* Bytes that stay their owner's: nobody copies, changes or frees them. */
static void test_lent(void **state)
{
	static const char code[] = "0123456789";
	const struct rvt_lent lent = { (const uint8_t *)code, 10, NULL, NULL };
	const uint8_t *bytes;
	struct fixture f;

	(void)state;
	set_up(&f);
	assert_int_equal(rvt_space_map_lent(f.space, 100, &lent, "kernel"), 0);
	assert_int_equal(rvt_space_find(f.space, 103, &bytes), 7);
	assert_ptr_equal(bytes, code + 3);
	map(f.space, 104, "xy");
	check(f.space, 100, "0123");
	check(f.space, 104, "xy");
	check(f.space, 106, "6789");
	assert_string_equal(code, "0123456789");
	/* the same bytes as a copy are another object */
	assert_int_equal(rvt_space_map_bytes(f.space, 200, code, 10, "kernel"), 0);
	assert_int_equal(rvt_space_find(f.space, 200, &bytes), 10);
	assert_ptr_not_equal(bytes, code);
	rvt_image_destroy(f.image);
}

#define HALF 10000

/* The first half of lent bytes can be had. */
static size_t need_half(void *ctx, const uint8_t *from, size_t len)
{
	const uint8_t *bytes = ctx;
	size_t left = from < bytes + HALF ? bytes + HALF - from : 0;

	return len < left ? len : left;
}

/* Lent bytes are asked for a piece at a time; what cannot be had ends there. */
static void test_lent_in_pieces(void **state)
{
	static uint8_t code[2 * HALF];
	const struct rvt_lent lent = { code, sizeof(code), need_half, code };
	const uint8_t *bytes;
	struct fixture f;

	(void)state;
	set_up(&f);
	assert_int_equal(rvt_space_map_lent(f.space, 100, &lent, "kernel"), 0);
	for (unsigned int at = 0; at < sizeof(code); at += 10) {
		const size_t left = at < HALF ? HALF - at : 0;

		assert_int_equal(rvt_space_find(f.space, 100 + at, &bytes),
				 left < 4096 ? left : 4096);
		if (left)
			assert_ptr_equal(bytes, code + at);
	}
	rvt_image_destroy(f.image);
}

#define MODEL_BYTES 4096

/* Changes @space and @model, what is where in it, in the same way. */
static void change_randomly(struct rvt_space *space, uint8_t *model, uint64_t seed, int i)
{
	unsigned int addr = (seed >> 33) % (MODEL_BYTES - 64), len = 1 + (seed >> 50) % 63;
	char bytes[64];

	memset(bytes, 1 + i % 255, sizeof(bytes));
	if (i % 4 == 3) {
		rvt_space_unmap(space, addr, len);
		memset(model + addr, 0, len);
	} else {
		assert_int_equal(rvt_space_map_bytes(space, addr, bytes, len, "x"), 0);
		memset(model + addr, bytes[0], len);
	}
}

static void check_model(struct rvt_space *space, const uint8_t *model)
{
	for (unsigned int addr = 0; addr < MODEL_BYTES; addr++) {
		const uint8_t *found;
		size_t n = rvt_space_find(space, addr, &found);

		assert_int_equal(n != 0, model[addr] != 0);
		assert_true(n <= 64);
		assert_true(!n || !memcmp(found, model + addr, n));
	}
}

static uint64_t next_random(uint64_t seed)
{
	return seed * 6364136223846793005u + 1442695040888963407u;
}

/* Many mappings in random order against an array of what is where. */
static void test_random(void **state)
{
	static uint8_t model[MODEL_BYTES];
	uint64_t seed = 1;
	struct fixture f;

	(void)state;
	set_up(&f);
	memset(model, 0, sizeof(model));
	for (int i = 0; i < 3000; i++) {
		seed = next_random(seed);
		change_randomly(f.space, model, seed, i);
		if (i % 50 == 0)
			check_model(f.space, model);
	}
	rvt_image_destroy(f.image);
}

/* Spaces that are cloned, changed and cleared in random order: none sees what another does. */
static void test_random_clones(void **state)
{
	enum { SPACES = 6 };
	static uint8_t models[SPACES][MODEL_BYTES];
	struct rvt_space *spaces[SPACES];
	uint64_t seed = 2;
	struct fixture f;

	(void)state;
	set_up(&f);
	memset(models, 0, sizeof(models));
	spaces[0] = f.space;
	for (int i = 1; i < SPACES; i++)
		assert_int_equal(rvt_space_create(f.image, NULL, &spaces[i]), 0);
	for (int i = 0; i < 6000; i++) {
		unsigned int which, other;

		seed = next_random(seed);
		which = (seed >> 40) % SPACES;
		other = (seed >> 45) % SPACES;
		if (i % 20 == 0 && which != other) {
			/* as a fork does; the space that was there before stays as it was */
			assert_int_equal(rvt_space_clone(spaces[which], &spaces[other]), 0);
			memcpy(models[other], models[which], MODEL_BYTES);
		} else if (i % 500 == 1) {
			rvt_space_clear(spaces[which]);
			memset(models[which], 0, MODEL_BYTES);
		} else {
			change_randomly(spaces[which], models[which], seed, i);
		}
		for (int j = 0; i % 100 == 0 && j < SPACES; j++)
			check_model(spaces[j], models[j]);
	}
	rvt_image_destroy(f.image);
}

/* ---- files ---- */

static const uint8_t build_id[20] = "0123456789abcdefghi";

struct elf_image {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr[4];
	struct {
		Elf64_Nhdr nhdr;
		char name[4];
		uint8_t id[20];
	} note;
	uint8_t code[64], data[64], more[32];
};

/* Two executable segments, one of data, and a build id. */
static void make_elf(struct elf_image *e, uint16_t machine)
{
	memset(e, 0, sizeof(*e));
	memcpy(e->ehdr.e_ident, ELFMAG, SELFMAG);
	e->ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	e->ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	e->ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	e->ehdr.e_type = ET_EXEC;
	e->ehdr.e_machine = machine;
	e->ehdr.e_version = EV_CURRENT;
	e->ehdr.e_ehsize = sizeof(e->ehdr);
	e->ehdr.e_phoff = offsetof(struct elf_image, phdr);
	e->ehdr.e_phentsize = sizeof(e->phdr[0]);
	e->ehdr.e_phnum = 4;
	e->phdr[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000,
				   .p_offset = offsetof(struct elf_image, code),
				   .p_filesz = sizeof(e->code), .p_memsz = 0x1000, .p_align = 1 };
	e->phdr[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 0x3000,
				   .p_offset = offsetof(struct elf_image, data),
				   .p_filesz = sizeof(e->data), .p_memsz = 0x1000, .p_align = 1 };
	e->phdr[2] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = 0x5000,
				   .p_offset = offsetof(struct elf_image, more),
				   .p_filesz = sizeof(e->more), .p_memsz = sizeof(e->more),
				   .p_align = 1 };
	e->phdr[3] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_flags = PF_R,
				   .p_offset = offsetof(struct elf_image, note),
				   .p_filesz = sizeof(e->note), .p_memsz = sizeof(e->note),
				   .p_align = 4 };
	e->note.nhdr = (Elf64_Nhdr){ 4, sizeof(build_id), NT_GNU_BUILD_ID };
	memcpy(e->note.name, "GNU", 4);
	memcpy(e->note.id, build_id, sizeof(build_id));
	memset(e->code, 'c', sizeof(e->code));
	memset(e->data, 'd', sizeof(e->data));
	memset(e->more, 'm', sizeof(e->more));
}

static void write_file(char path[], const void *bytes, size_t len)
{
	int fd;

	strcpy(path, "/tmp/rvt-image-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static void test_elf(void **state)
{
	struct rvt_location loc;
	const uint8_t *bytes;
	struct elf_image e;
	struct fixture f;
	char path[32];

	(void)state;
	set_up(&f);
	make_elf(&e, EM_RISCV);
	write_file(path, &e, sizeof(e));
	assert_int_equal(rvt_space_map_elf(f.space, path, 0x10000), 0);
	assert_int_equal(rvt_space_find(f.space, 0x11000, &bytes), 64);
	assert_int_equal(bytes[0], 'c');
	assert_int_equal(rvt_space_find(f.space, 0x15010, &bytes), 16);
	assert_int_equal(bytes[0], 'm');
	assert_int_equal(rvt_space_find(f.space, 0x13000, &bytes), 0);	/* data is no code */
	assert_int_equal(rvt_space_find(f.space, 0x1000, &bytes), 0);
	assert_int_equal(rvt_space_locate(f.space, 0x11004, &loc), 0);
	assert_string_equal(loc.path, path);
	assert_int_equal(loc.file_offset, offsetof(struct elf_image, code) + 4);
	assert_int_equal(loc.map_start, 0x11000);
	assert_true(loc.readable);
	unlink(path);
	rvt_image_destroy(f.image);
}

static void test_elf_errors(void **state)
{
	struct elf_image e;
	struct fixture f;
	char path[32];

	(void)state;
	set_up(&f);
	assert_int_equal(rvt_space_map_elf(f.space, "/nonexistent/x", 0), -ENOENT);
	assert_int_equal(rvt_space_map_elf(f.space, "/", 0), -ENOEXEC);
	make_elf(&e, EM_X86_64);
	write_file(path, &e, sizeof(e));
	assert_int_equal(rvt_space_map_elf(f.space, path, 0), -ENOEXEC);
	unlink(path);
	make_elf(&e, EM_RISCV);
	e.phdr[0].p_filesz = 1 << 20;	/* longer than the file */
	write_file(path, &e, sizeof(e));
	assert_int_equal(rvt_space_map_elf(f.space, path, 0), -ENOEXEC);
	unlink(path);
	make_elf(&e, EM_RISCV);
	e.phdr[0].p_flags = e.phdr[2].p_flags = PF_R;
	write_file(path, &e, sizeof(e));
	assert_int_equal(rvt_space_map_elf(f.space, path, 0), -ENOEXEC);
	unlink(path);
	write_file(path, "text", 4);
	assert_int_equal(rvt_space_map_elf(f.space, path, 0), -ENOEXEC);
	unlink(path);
	rvt_image_destroy(f.image);
}

static void test_map_file(void **state)
{
	struct rvt_location loc;
	const uint8_t *bytes;
	struct elf_image e;
	struct fixture f;
	char path[32];

	(void)state;
	set_up(&f);
	make_elf(&e, EM_RISCV);
	write_file(path, &e, sizeof(e));
	assert_int_equal(rvt_space_map_file(f.space, 0x1000, 32, offsetof(struct elf_image, code),
					    path, build_id, sizeof(build_id)), 0);
	assert_int_equal(rvt_space_find(f.space, 0x1008, &bytes), 24);
	assert_int_equal(bytes[0], 'c');
	/* beyond the end of the file: known, not readable */
	assert_int_equal(rvt_space_map_file(f.space, 0x2000, 0x1000, sizeof(e) - 8, path, NULL, 0),
			 0);
	assert_int_equal(rvt_space_find(f.space, 0x2000, &bytes), 8);
	assert_int_equal(rvt_space_find(f.space, 0x2008, &bytes), 0);
	assert_int_equal(rvt_space_locate(f.space, 0x2008, &loc), 0);
	assert_false(loc.readable);
	/* another file now */
	assert_int_equal(rvt_space_map_file(f.space, 0x1000, 32, 0, path,
					    (const uint8_t *)"another build id....", 20), -ESTALE);
	assert_int_equal(rvt_space_find(f.space, 0x1008, &bytes), 0);
	assert_int_equal(rvt_space_locate(f.space, 0x1008, &loc), 0);
	assert_string_equal(loc.path, path);
	assert_int_equal(loc.file_offset, 8);
	unlink(path);
	/* it is open: what happens to its name does not matter */
	assert_int_equal(rvt_space_map_file(f.space, 0x3000, 32, 0, path, NULL, 0), 0);
	assert_int_equal(rvt_space_map_file(f.space, 0x4000, 32, 0, "/nonexistent/x", NULL, 0),
			 -ENOENT);
	assert_int_equal(rvt_space_locate(f.space, 0x4000, &loc), 0);
	assert_string_equal(loc.path, "/nonexistent/x");
	assert_int_equal(rvt_space_map_file(f.space, 0x4000, 32, 0, "/dev/null", NULL, 0), -EINVAL);
	assert_int_equal(rvt_space_locate(f.space, 0x9000, &loc), -ENOENT);
	rvt_image_destroy(f.image);
}

/* ---- code on demand ---- */

struct fetches {
	char code[11];
	unsigned int asked;
};

/* 10 bytes from 100 on. */
static bool fetch(void *ctx, uint64_t addr, struct rvt_fetched *code)
{
	struct fetches *fetches = ctx;

	fetches->asked++;
	*code = (struct rvt_fetched){ 100, strlen(fetches->code), fetches->code, "fetched" };
	return addr < 200;	/* also where it has none: that is not believed */
}

static void test_fetch(void **state)
{
	struct fetches fetches = { "abcdefghij", 0 };
	struct rvt_location location;
	struct rvt_space *other;
	const uint8_t *first, *bytes;
	struct fixture f;
	uint64_t generation;

	(void)state;
	set_up(&f);
	rvt_space_set_fetch(f.space, fetch, &fetches);
	assert_int_equal(rvt_space_create(f.image, f.space, &other), 0);
	map(f.space, 107, "XY");
	map(f.space, 98, "<<<");
	generation = rvt_space_generation(f.space);
	check(f.space, 99, "<<");
	assert_int_equal(fetches.asked, 0);
	/* between mappings that are there already, and by way of a child */
	check(other, 103, "defg");
	check(f.space, 101, "bcdefg");
	check(f.space, 107, "XY");
	assert_int_equal(fetches.asked, 1);
	check(f.space, 109, "j");
	check(f.space, 110, "");
	check(f.space, 250, "");
	assert_int_equal(fetches.asked, 4);
	assert_int_equal(rvt_space_locate(f.space, 103, &location), 0);
	assert_string_equal(location.path, "fetched");
	/* what is fetched was always there; the same bytes are one object */
	assert_true(generation == rvt_space_generation(f.space));
	rvt_space_set_fetch(other, fetch, &fetches);
	assert_int_equal(rvt_space_find(f.space, 103, &first), 4);
	assert_int_equal(rvt_space_find(other, 103, &bytes), 7);
	assert_ptr_equal(first, bytes);
	assert_ptr_equal(rvt_space_mapping(f.space, 103)->object,
			 rvt_space_mapping(other, 103)->object);
	/* to be asked again, it must forget */
	rvt_space_unmap(f.space, 102, 2);
	assert_true(generation != rvt_space_generation(f.space));
	check(f.space, 101, "b");
	check(f.space, 103, "d");
	check(f.space, 102, "cd");
	rvt_space_set_fetch(f.space, NULL, NULL);
	rvt_space_clear(f.space);
	check(f.space, 103, "");
	rvt_image_destroy(f.image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replace),
		cmocka_unit_test(test_top_of_memory),
		cmocka_unit_test(test_parent_and_clone),
		cmocka_unit_test(test_lent),
		cmocka_unit_test(test_lent_in_pieces),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_clones),
		cmocka_unit_test(test_elf),
		cmocka_unit_test(test_elf_errors),
		cmocka_unit_test(test_map_file),
		cmocka_unit_test(test_fetch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
