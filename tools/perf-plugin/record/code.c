// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Copies code that is in no file: the kernel and its modules as they are in memory (with jump
 * labels and alternatives patched), and the vdso. Without --embed, code that recordings share is in
 * files of the cache, to which the recording refers (shared.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "util/array.h"
#include "common/cmd.h"
#include "common/text.h"
#include "record/code.h"
#include "record/record.h"
#include "record/shared.h"
#include "record/symbols.h"

#define BPF_REGION (128u << 20)		/* below the kernel */
#define MAX_BPF_MEMORY (16u << 20)	/* at most, to look for code in */

/* Returns the length of the kernel's code by /proc/iomem; 0 when that hides it. */
static uint64_t code_bytes(void)
{
	char *text = read_text("/proc/iomem"), *name = text ? strstr(text, ": Kernel code") : NULL;
	uint64_t start = 0, end = 0;

	while (name && name > text && name[-1] != '\n')
		name--;
	if (name && sscanf(name, " %" SCNx64 "-%" SCNx64, &start, &end) != 2)
		end = 0;
	free(text);
	return end ? end + 1 - start : 0;
}

bool kernel_text(uint64_t *start, uint64_t *end)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	uint64_t len = code_bytes(), addr;
	char line[512], name[256];

	*start = *end = 0;
	/* to read all of it takes long; with the length known the first lines are enough */
	while (in && !(*start && *end) && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) != 2)
			continue;
		if (!*start && (!strcmp(name, "_text") || !strcmp(name, "_stext"))) {
			*start = addr;
			*end = len ? addr + len : 0;
		}
		if (!strcmp(name, "_etext"))
			*end = addr;
	}
	if (in)
		fclose(in);
	return *start && *end > *start;
}

/* Copies [@addr, @addr + @len) from /proc/kcore, as far as it can be read. */
static int copy_range(struct code_list *list, int fd, Elf *elf, uint64_t addr, uint64_t len,
		      const struct rvt_code *what)
{
	size_t n_phdrs = 0;
	uint64_t got = 0;
	uint8_t *bytes;
	int err;

	elf_getphdrnum(elf, &n_phdrs);
	bytes = malloc(len + 1);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < n_phdrs && !got; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    addr < phdr.p_vaddr || addr - phdr.p_vaddr >= phdr.p_memsz)
			continue;
		while (got < len) {
			ssize_t n = pread(fd, bytes + got, len - got,
					  phdr.p_offset + (addr - phdr.p_vaddr) + got);

			if (n <= 0)
				break;
			got += n;
		}
	}
	err = got ? code_list_add(list, what, addr, bytes, got) : -ENXIO;
	free(bytes);
	return err;
}

struct module {
	char name[64];
	uint64_t addr, len;
};

static int compare_modules(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int copy_modules(struct code_list *list, int fd, Elf *elf)
{
	char *text = read_text("/proc/modules"), *rest = text, *line;
	struct module *modules = NULL;
	size_t n = 0;
	int err = 0;

	while ((line = strsep(&rest, "\n"))) {
		if (array_grow(&modules, n))
			break;
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, modules[n].name,
			   &modules[n].len, &modules[n].addr) == 3 && modules[n].addr)
			n++;
	}
	free(text);
	if (n)
		qsort(modules, n, sizeof(*modules), compare_modules);
	for (size_t i = 0; i < n && err != -ENOMEM; i++) {
		char name[70];
		const struct rvt_code what = { .kind = RVT_CODE_MODULE, .name = name };

		/*
		 * the size includes data that lies elsewhere: must not reach into the next module
		 */
		if (i + 1 < n && modules[i].len > modules[i + 1].addr - modules[i].addr)
			modules[i].len = modules[i + 1].addr - modules[i].addr;
		snprintf(name, sizeof(name), "[%s]", modules[i].name);
		err = copy_range(list, fd, elf, modules[i].addr, modules[i].len, &what);
	}
	free(modules);
	return err == -ENOMEM ? err : 0;
}

/*
 * Copies a page, by BPF if possible: /proc/kcore has the pages of RISC-V's vmalloc area, but at
 * offsets that cannot be read.
 */
static int copy_page(const struct recorder *rec, struct code_list *list, int fd, Elf *elf,
		     uint64_t addr)
{
	const struct rvt_code what = { .kind = RVT_CODE_BPF, .name = "[kernel.made]" };
	uint8_t bytes[RVT_KERNEL_PAGE];

	addr -= addr % RVT_KERNEL_PAGE;
	if (record_watch_read(rec, addr, bytes))
		return code_list_add(list, &what, addr, bytes, sizeof(bytes));
	return copy_range(list, fd, elf, addr, RVT_KERNEL_PAGE, &what);
}

/* Parts of the names of what the kernel makes while it runs, or of the "modules" that have it. */
static const char *const made[] = { "[__builtin__", "bpf_trampoline_", "bpf_dispatcher_" };

static bool is_made(const char *line)
{
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		if (strstr(line, made[i]))
			return true;
	return false;
}

/*
 * Copies what the kernel makes while it runs: copies of probed instructions, trampolines of the
 * tracer and of BPF. They have names in brackets, as modules have, but are in no list. Each is
 * shorter than a page. Symbols of the kernel itself, without brackets, come first.
 */
static int copy_made(const struct recorder *rec, struct code_list *list, int fd, Elf *elf,
		     const char *kallsyms)
{
	const char *next = kallsyms ? symbols_of_others(kallsyms) : NULL;
	int err = 0;

	while (next && *next && err != -ENOMEM) {
		size_t len = strcspn(next, "\n");
		char line[256], name[128];
		uint64_t addr;

		snprintf(line, sizeof(line), "%.*s", (int)len, next);
		next += len + (next[len] == '\n');
		if (!is_made(line) || !strchr(line, '[') ||
		    sscanf(line, "%" SCNx64 " %*c %127s", &addr, name) != 2)
			continue;
		err = copy_page(rec, list, fd, elf, addr);
		if (err != -ENOMEM && !strncmp(name, "bpf_", 4))
			err = copy_page(rec, list, fd, elf, addr + RVT_KERNEL_PAGE);
	}
	return err == -ENOMEM ? err : 0;
}

/* Returns whether a page has no code, and need not be copied. */
static bool is_zero(const uint8_t *bytes, size_t len)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, len - 1);
}

/*
 * Copies classic BPF programs (seccomp, socket filters), which are in no list. If compiled, they
 * are in memory below the kernel, which /proc/vmallocinfo lists as "0xSTART-0xEND BYTES
 * execmem_alloc+...", with a guard page at the end.
 */
static int copy_bpf_memory(const struct recorder *rec, struct code_list *list)
{
	const struct rvt_code what = { .kind = RVT_CODE_BPF, .name = "[bpf]" };
	uint64_t kernel, kernel_end, start, end, left = MAX_BPF_MEMORY;
	char *text = read_text("/proc/vmallocinfo"), *rest = text, *line;
	uint8_t bytes[RVT_KERNEL_PAGE];
	int err = 0;

	if (!kernel_text(&kernel, &kernel_end))
		kernel = 0;
	while (!err && (line = strsep(&rest, "\n"))) {
		if (sscanf(line, "0x%" SCNx64 "-0x%" SCNx64, &start, &end) != 2 ||
		    start >= kernel || kernel - start > BPF_REGION ||
		    !(strstr(line, " execmem") || strstr(line, " bpf_jit")))
			continue;
		for (; start + RVT_KERNEL_PAGE < end && left && !err; start += sizeof(bytes)) {
			left -= sizeof(bytes);
			if (record_watch_read(rec, start, bytes) && !is_zero(bytes, sizeof(bytes)))
				err = code_list_add(list, &what, start, bytes, sizeof(bytes));
		}
	}
	free(text);
	return err;
}

static int copy_kernel(const struct recorder *rec, struct code_list *list, const char *kallsyms)
{
	const struct rvt_code what = { .kind = RVT_CODE_KERNEL, .name = "[kernel.kallsyms]" };
	uint64_t start, end;
	int fd, err = -ENOEXEC;
	bool known = kernel_text(&start, &end);
	Elf *elf;

	fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		cmd_warning("kernel code cannot be copied (/proc/kcore: %s): to decode kernel "
			    "flow, give perf rvtrace script\n  --vmlinux or --kcore, or record as "
			    "root",
			    strerror(errno));
		return err;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && known)
		err = copy_range(list, fd, elf, start, end - start, &what);
	if (!err)
		err = copy_made(rec, list, fd, elf, kallsyms);
	if (!err)
		err = copy_modules(list, fd, elf);
	if (err)
		cmd_warning("kernel code cannot be copied from /proc/kcore: kernel flow needs "
			    "--vmlinux to be decoded%s", known ? "" : " (kernel.kptr_restrict "
			    "hides the "
			    "addresses in /proc/kallsyms)");
	elf_end(elf);
	close(fd);
	return err;
}

/* Copies our own vdso: all processes of this architecture have the same bytes. */
static void copy_vdso(struct code_list *list)
{
	const struct rvt_code what = { .kind = RVT_CODE_VDSO, .name = "[vdso]" };
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	char *maps = read_text("/proc/self/maps"), *rest = maps, *line;

	while (vdso && (line = strsep(&rest, "\n"))) {
		uint64_t start, end;

		if (strstr(line, "[vdso]") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    start == (uintptr_t)vdso)
			code_list_add(list, &what, 0, vdso, end - start);
	}
	free(maps);
}

static void add_kallsyms(struct recorder *rec, const char *text)
{
	size_t len;
	void *blob;

	/* kernel.kptr_restrict hides the addresses as zeroes */
	if (text && strtoull(text, NULL, 16) && !rvt_text_pack(text, strlen(text), &blob, &len)) {
		rvt_perfdata_add_feature(rec->writer, RVT_FEAT_RVTRACE_KALLSYMS, blob, len);
		free(blob);
	}
}

static void add_packed(struct recorder *rec, unsigned int feature, const struct code_list *list)
{
	size_t len;
	void *blob;

	if (!list->n || rvt_code_pack(list->code, list->n, &blob, &len))
		return;
	rvt_perfdata_add_feature(rec->writer, feature, blob, len);
	free(blob);
}

/* Moves code that recordings share from @list to @shared. */
static void share_code(struct shared_list *shared, struct code_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct rvt_code *code = &list->code[i];

		if ((code->kind == RVT_CODE_KERNEL || code->kind == RVT_CODE_MODULE) &&
		    shared_add_code(shared, code))
			code_list_free(code);
		else
			list->code[n++] = *code;
	}
	list->n = n;
}

static void open_shared(struct recorder *rec, struct shared_list *shared)
{
	int err = rec->options.embed ? 0 : shared_open(shared);

	if (err)
		cmd_info("the recording has a copy of the kernel's code: "
			 "${XDG_CACHE_HOME:-~/.cache}/rvtrace cannot be used: %s", strerror(-err));
	if (err)
		shared_close(shared);
}

static void add_kernel(struct recorder *rec, struct code_list *list, struct shared_list *shared)
{
	char *kallsyms;

	/* these first, as programs come and go */
	copy_bpf_memory(rec, list);
	record_copy_bpf(list);
	kallsyms = record_symbols(rec, shared);
	copy_kernel(rec, list, kallsyms);
	add_kallsyms(rec, kallsyms);
	free(kallsyms);
	share_code(shared, list);
}

void record_add_code(struct recorder *rec)
{
	struct shared_list shared = { 0 };
	struct code_list list = { 0 };

	copy_vdso(&list);
	record_copy_uprobes(rec, &list);
	if (!rec->trace_attr.exclude_kernel && !rec->options.no_code) {
		open_shared(rec, &shared);
		add_kernel(rec, &list, &shared);
	}
	add_packed(rec, RVT_FEAT_RVTRACE_CODE, &list);
	add_packed(rec, RVT_FEAT_RVTRACE_SHARED, &shared.refs);
	code_list_clear(&list);
	shared_close(&shared);
}
