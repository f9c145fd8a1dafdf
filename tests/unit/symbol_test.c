// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/symbol.h>

static const char kallsyms[] =
	"ffffffff80000000 T _start\n"
	"ffffffff80002000 T _stext\n"
	"ffffffff80002000 T _text\n"
	"ffffffff80002000 t do_one_initcall\n"
	"ffffffff80002100 t helper\n"
	"ffffffff80002100 T visible_name\n"
	"ffffffff80002180 t $x\n"
	"ffffffff80002190 d some_data\n"
	"ffffffff80002200 W weak_one\n"
	"ffffffff02000000 t init_module\t[mod]\n"
	"ffffffff02000040 t work\t[mod]\n"
	"ffffffff02000080 T work\t[other]\n";

static int setup(void **state)
{
	struct rvt_symbols *symbols;

	assert_int_equal(rvt_symbols_create(NULL, &symbols), 0);
	*state = symbols;
	return 0;
}

static int teardown(void **state)
{
	rvt_symbols_destroy(*state);
	return 0;
}

/* A function of this program, as its file's .eh_frame has it: mapped as the file says. */
static void extent_of_function(void **state)
{
	struct rvt_location location = { .path = "/proc/self/exe" };
	uint64_t addr, offset, size, start, end;

	assert_true(rvt_symbols_lookup(*state, location.path, "main", &addr, &offset, &size));
	location.file_offset = offset + 3;
	assert_true(rvt_symbols_extent(*state, &location, addr + 3, &start, &end));
	assert_int_equal(start, addr);
	assert_int_equal(end, addr + size);
	/* C has no exceptions */
	assert_int_equal(rvt_symbols_landing_pad(*state, &location, addr + 3), 0);
}

static void check_kernel(struct rvt_symbols *symbols, uint64_t addr, const char *name,
			 uint64_t offset)
{
	const struct rvt_location location = { .path = "[kernel.kallsyms]" };
	struct rvt_symbol symbol;

	assert_true(rvt_symbols_find(symbols, &location, addr, &symbol));
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.offset, offset);
}

static void kernel_symbols(void **state)
{
	const struct rvt_location module = { .path = "[mod]" };
	const struct rvt_location kernel = { .path = "[kernel.kallsyms]" };
	uint64_t addr, offset, size;
	struct rvt_symbol symbol;
	struct rvt_named named;

	assert_int_equal(rvt_symbols_add_kallsyms(*state, kallsyms, strlen(kallsyms)), 0);
	/* several names: global before local, then few underscores */
	check_kernel(*state, 0xffffffff80002004, "_stext", 4);
	check_kernel(*state, 0xffffffff80002100, "visible_name", 0);
	/* $x is no function, and data is no code: both lie in what precedes them */
	check_kernel(*state, 0xffffffff80002190, "visible_name", 0x90);
	check_kernel(*state, 0xffffffff80002210, "weak_one", 0x10);
	assert_true(rvt_symbols_find(*state, &module, 0xffffffff02000044, &symbol));
	assert_string_equal(symbol.name, "work");
	assert_false(rvt_symbols_find(*state, &kernel, 0x1000, &symbol));
	assert_true(rvt_symbols_lookup(*state, "[kernel.kallsyms]", "work", &addr, &offset, &size));
	assert_int_equal(addr, 0xffffffff02000040);
	assert_false(rvt_symbols_lookup(*state, "[kernel.kallsyms]", "none", &addr, &offset,
					&size));
	/* the second of that name */
	assert_true(rvt_symbols_nth(*state, "[kernel.kallsyms]", "work", 0, &named));
	assert_false(named.global);
	assert_true(rvt_symbols_nth(*state, "[kernel.kallsyms]", "work", 1, &named));
	assert_true(named.global);
	assert_int_equal(named.addr, 0xffffffff02000080);
	assert_false(rvt_symbols_nth(*state, "[kernel.kallsyms]", "work", 2, &named));
}

/* Names of any length, in any order of addresses, in text that ends amid a line. */
static void odd_kallsyms(void **state)
{
	static char text[100000], name[40001];
	size_t len = 0;

	memset(name, 'n', sizeof(name) - 1);
	len += sprintf(text, "ffffffff80005000 t last\nffffffff80001000 t %s\n", name);
	len += sprintf(text + len, "FFFFFFFF80003000 T upper\nffffffff8000300g t no_number\n");
	len += sprintf(text + len, "ffffffff80002000 t between\nffffffff80003000 t other\n"
		       "ffffffff80004");
	assert_int_equal(rvt_symbols_add_kallsyms(*state, text, len), 0);
	check_kernel(*state, 0xffffffff80001fff, name, 0xfff);
	check_kernel(*state, 0xffffffff80002000, "between", 0);
	check_kernel(*state, 0xffffffff80004800, "upper", 0x1800);
	check_kernel(*state, 0xffffffff80005000, "last", 0);
}

/* A recording's copy: how often it was unpacked, and whether it can be. */
struct copy {
	int reads, err;
};

static int read_copy(void *ctx, char **text, size_t *len)
{
	struct copy *copy = ctx;

	copy->reads++;
	*text = strdup(kallsyms);
	*len = strlen(kallsyms);
	return copy->err;
}

static void kernel_symbols_when_needed(void **state)
{
	struct rvt_location file = { .path = "/nonexistent/file", .file_offset = 16 };
	struct copy copy = { 0 };
	struct rvt_symbol symbol;

	rvt_symbols_read_kallsyms(*state, read_copy, &copy);
	assert_false(rvt_symbols_find(*state, &file, 16, &symbol));
	assert_int_equal(copy.reads, 0);
	check_kernel(*state, 0xffffffff80002004, "_stext", 4);
	check_kernel(*state, 0xffffffff80002100, "visible_name", 0);
	assert_int_equal(copy.reads, 1);
}

static void kernel_symbols_unreadable(void **state)
{
	const struct rvt_location kernel = { .path = "[kernel.kallsyms]" };
	struct copy copy = { .err = -EBADMSG };
	uint64_t addr, offset, size;
	struct rvt_symbol symbol;

	rvt_symbols_read_kallsyms(*state, read_copy, &copy);
	assert_false(rvt_symbols_lookup(*state, kernel.path, "work", &addr, &offset, &size));
	assert_false(rvt_symbols_find(*state, &kernel, 0xffffffff80002004, &symbol));
	assert_int_equal(copy.reads, 1);
}

__attribute__((noinline)) int a_function_to_find(int x)
{
	return x * 3 + getpid();
}

__attribute__((weak, alias("a_function_to_find"))) int another_name(int x);

/* Where this program has @addr, by the kernel. */
static void locate_self(const void *addr, struct rvt_location *location, char *path, size_t room)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uint64_t start, end, offset, wanted = (uintptr_t)addr;
	char line[4096];

	assert_non_null(maps);
	location->path = NULL;
	while (!location->path && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end,
			   &offset) != 3 ||
		    wanted < start || wanted >= end || !strchr(line, '/'))
			continue;
		snprintf(path, room, "%.*s", (int)strcspn(strchr(line, '/'), "\n"), strchr(line,
											   '/'));
		*location = (struct rvt_location){ .path = path, .map_start = start,
						   .file_offset = wanted - start + offset };
	}
	fclose(maps);
	assert_non_null(location->path);
}

extern const char __executable_start[];

static void own_symbols(void **state)
{
	const uint8_t *function = (const uint8_t *)a_function_to_find;
	uint64_t addr, offset, size, vaddr;
	struct rvt_bases bases;
	struct rvt_location location;
	struct rvt_symbol symbol;
	struct rvt_named named;
	char path[4096];

	locate_self(function + 1, &location, path, sizeof(path));
	assert_true(rvt_symbols_find(*state, &location, (uintptr_t)function + 1, &symbol));
	assert_string_equal(symbol.name, "a_function_to_find");
	assert_int_equal(symbol.offset, 1);
	assert_in_range(symbol.size, 2, 4096);
	assert_true(rvt_symbols_lookup(*state, path, "a_function_to_find", &addr, &offset, &size));
	assert_int_equal(offset, location.file_offset - 1);
	assert_int_equal(size, symbol.size);
	/* by its other name, too, which the file has once in each of two tables */
	assert_true(rvt_symbols_nth(*state, path, "another_name", 0, &named));
	assert_int_equal(named.offset, offset);
	assert_int_equal(named.size, size);
	assert_false(rvt_symbols_nth(*state, path, "another_name", 1, &named));
	assert_true(rvt_symbols_address(*state, &location, &vaddr, &bases));
	assert_int_equal(vaddr, addr + 1);
	assert_true(bases.text <= vaddr);
	/* the linker says where the first segment is */
	assert_int_equal(vaddr - bases.load, function + 1 - (const uint8_t *)__executable_start);
}

/* What a test of a stripped copy of this program has. */
struct stripped {
	char dir[64], file[96];
	struct rvt_location location;	/* of a_function_to_find() + 1 */
	uint64_t vaddr;			/* of a_function_to_find(), in the file */
};

/* Runs a shell command with $dir and $self set; false: it failed, or a program of it is missing. */
static bool shell(const struct stripped *stripped, const char *command)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(len > 0);
	path[len] = 0;
	setenv("self", path, 1);
	setenv("dir", stripped->dir, 1);
	return !system(command);
}

/* The file is $dir/program. */
static void begin_stripped(struct stripped *stripped, struct rvt_symbols *symbols,
			   const char *command)
{
	const uint8_t *function = (const uint8_t *)a_function_to_find;
	uint64_t offset, size;
	char path[4096];

	strcpy(stripped->dir, "/tmp/rvtrace-symbol-XXXXXX");
	assert_non_null(mkdtemp(stripped->dir));
	if (!shell(stripped, command)) {
		shell(stripped, "rm -r \"$dir\"");
		skip();
	}
	locate_self(function + 1, &stripped->location, path, sizeof(path));
	assert_true(rvt_symbols_lookup(symbols, path, "a_function_to_find", &stripped->vaddr,
				       &offset, &size));
	snprintf(stripped->file, sizeof(stripped->file), "%s/program", stripped->dir);
	stripped->location.path = stripped->file;
}

static void end_stripped(struct stripped *stripped)
{
	assert_true(shell(stripped, "rm -r \"$dir\""));
}

/* Nobody names it: .eh_frame says where it begins. */
static void stripped_file(void **state)
{
	struct stripped stripped;
	struct rvt_symbol symbol;
	const char *name;
	char wanted[64];

	begin_stripped(&stripped, *state, "strip -o \"$dir/program\" \"$self\" 2>&1");
	snprintf(wanted, sizeof(wanted), "program+0x%" PRIx64, stripped.vaddr);
	assert_true(rvt_symbols_find(*state, &stripped.location, 0, &symbol));
	assert_string_equal(symbol.name, wanted);
	assert_int_equal(symbol.offset, 1);
	assert_in_range(symbol.size, 2, 4096);
	/* one name for all of it */
	name = symbol.name;
	stripped.location.file_offset++;
	assert_true(rvt_symbols_find(*state, &stripped.location, 0, &symbol));
	assert_ptr_equal(symbol.name, name);
	/* its head is no function */
	stripped.location.file_offset = 0;
	assert_false(rvt_symbols_find(*state, &stripped.location, 0, &symbol));
	end_stripped(&stripped);
}

static void check_debug_file(struct rvt_symbols *symbols, const struct stripped *stripped,
			     bool found)
{
	struct rvt_symbol symbol;

	assert_true(rvt_symbols_find(symbols, &stripped->location, 0, &symbol));
	assert_int_equal(!strcmp(symbol.name, "a_function_to_find"), found);
}

/* .gnu_debuglink names a file beside the program; another one of that name is refused. */
static void debug_link(void **state)
{
	struct rvt_symbols *others;
	struct stripped stripped;

	begin_stripped(&stripped, *state, "cd \"$dir\" && { "
		       "objcopy --only-keep-debug \"$self\" program.debug && "
		       "strip -R .note.gnu.build-id -o program \"$self\" && "
		       "objcopy --add-gnu-debuglink=program.debug program; } 2>&1");
	check_debug_file(*state, &stripped, true);
	assert_true(shell(&stripped, "cp \"$dir/program\" \"$dir/program.debug\""));
	assert_int_equal(rvt_symbols_create(NULL, &others), 0);
	check_debug_file(others, &stripped, false);
	rvt_symbols_destroy(others);
	end_stripped(&stripped);
}

/* A server that has the debug file; it is asked only if the user names it. */
static void debuginfod_server(void **state)
{
	struct rvt_symbols *others;
	struct stripped stripped;
	char url[96];

	begin_stripped(&stripped, *state, "cd \"$dir\" && { ldconfig -p | grep -q libdebuginfod && "
		       "id=$(readelf -n \"$self\" | sed -n 's/.*Build ID: //p') && [ \"$id\" ] && "
		       "mkdir -p server/buildid/$id && "
		       "objcopy --only-keep-debug \"$self\" server/buildid/$id/debuginfo && "
		       "strip -o program \"$self\"; } 2>&1");
	unsetenv("DEBUGINFOD_URLS");
	check_debug_file(*state, &stripped, false);
	snprintf(url, sizeof(url), "file://%s/server", stripped.dir);
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", stripped.dir, 1);
	assert_int_equal(rvt_symbols_create(NULL, &others), 0);
	check_debug_file(others, &stripped, true);
	rvt_symbols_destroy(others);
	unsetenv("DEBUGINFOD_URLS");
	end_stripped(&stripped);
}

static void vdso_image(void **state)
{
	const struct rvt_location location = { .path = "[vdso]", .file_offset = 0 };
	struct rvt_symbol symbol;
	const Elf64_Ehdr *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	uint64_t addr, offset, size;

	if (!vdso)
		skip();
	assert_int_equal(rvt_symbols_add_image(*state, "[vdso]", vdso,
					       vdso->e_shoff + vdso->e_shnum * vdso->e_shentsize),
					       	0);
	assert_true(rvt_symbols_lookup(*state, "[vdso]", "__vdso_clock_gettime", &addr, &offset,
				       &size) ||
		    rvt_symbols_lookup(*state, "[vdso]", "clock_gettime", &addr, &offset, &size));
	/* the ELF header is no function */
	assert_false(rvt_symbols_find(*state, &location, 0, &symbol));
}

static void no_symbols(void **state)
{
	struct rvt_location location = { .path = "/nonexistent/file", .file_offset = 16 };
	struct rvt_symbol symbol;
	struct rvt_bases bases;
	uint64_t vaddr;

	assert_false(rvt_symbols_find(*state, &location, 16, &symbol));
	assert_false(rvt_symbols_address(*state, &location, &vaddr, &bases));
	location.path = "/proc/self/maps";
	assert_false(rvt_symbols_find(*state, &location, 16, &symbol));
	location.path = NULL;
	assert_false(rvt_symbols_find(*state, &location, 16, &symbol));
	location.path = "[kernel.kallsyms]";
	assert_false(rvt_symbols_find(*state, &location, 16, &symbol));
	assert_int_equal(rvt_symbols_add_image(*state, "[vdso]", "no ELF", 6), -ENOEXEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kernel_symbols, setup, teardown),
		cmocka_unit_test_setup_teardown(extent_of_function, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_kallsyms, setup, teardown),
		cmocka_unit_test_setup_teardown(kernel_symbols_when_needed, setup, teardown),
		cmocka_unit_test_setup_teardown(kernel_symbols_unreadable, setup, teardown),
		cmocka_unit_test_setup_teardown(own_symbols, setup, teardown),
		cmocka_unit_test_setup_teardown(stripped_file, setup, teardown),
		cmocka_unit_test_setup_teardown(debug_link, setup, teardown),
		cmocka_unit_test_setup_teardown(debuginfod_server, setup, teardown),
		cmocka_unit_test_setup_teardown(vdso_image, setup, teardown),
		cmocka_unit_test_setup_teardown(no_symbols, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
