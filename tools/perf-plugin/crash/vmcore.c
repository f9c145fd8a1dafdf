// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Reads a dump of a machine's memory: an ELF core file whose segments have physical addresses, like
 * those of /proc/vmcore in a kdump kernel, makedumpfile -E, and emulators.
 */
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "crash/crash.h"
#include "file/file.h"

/* Page tables: modes of satp, and bits of an entry. */
#define SATP_MODE_SHIFT 60
#define SATP_SV39 8
#define SATP_SV57 10
#define PPN_BITS 44
#define PTE_VALID 0x1
#define PTE_READ 0x2
#define PTE_EXECUTE 0x8
#define PTE_PPN_SHIFT 10
#define LEVEL_BITS 9
#define PAGE_SHIFT 12
#define TOP_LEVELS 5

/* How many pages of code are joined at most. The kernel's code is contiguous, and smaller. */
#define CODE_PAGES 16384

/* VMCOREINFO is at most so far behind the ELF note's beginning in the kernel's page. */
#define NOTE_HEAD 24
#define INFO_BEGIN "OSRELEASE="
#define INFO_MAX (4 * VMCORE_PAGE)

struct segment {
	uint64_t addr, len, offset;
};

struct vmcore {
	struct rvt_mapped_file *file;
	struct segment *segments;
	size_t n_segments;
	uint64_t satp;
	char *info;		/* VMCOREINFO, malloc'd; NULL: none */
};

/* ---- the file ---- */

static int add_segment(struct vmcore *core, const GElf_Phdr *phdr)
{
	struct segment *more;
	uint64_t len = phdr->p_filesz;

	if (phdr->p_offset >= core->file->len)
		return 0;
	/* the dump may be truncated */
	if (len > core->file->len - phdr->p_offset)
		len = core->file->len - phdr->p_offset;
	more = reallocarray(core->segments, core->n_segments + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	core->segments = more;
	more[core->n_segments++] = (struct segment){ phdr->p_paddr, len, phdr->p_offset };
	return 0;
}

/* Reads VMCOREINFO from the notes. */
static int read_notes(struct vmcore *core, Elf *elf, const GElf_Phdr *phdr)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, phdr->p_offset, phdr->p_filesz,
					      phdr->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t at = 0, next, name, desc;
	GElf_Nhdr note;

	while (data && !core->info && (next = gelf_getnote(data, at, &note, &name, &desc))) {
		const char *bytes = data->d_buf;

		at = next;
		if (note.n_namesz != sizeof("VMCOREINFO") ||
		    memcmp(bytes + name, "VMCOREINFO", sizeof("VMCOREINFO")))
			continue;
		core->info = strndup(bytes + desc, note.n_descsz);
		if (!core->info)
			return -ENOMEM;
	}
	return 0;
}

static int read_headers(struct vmcore *core, Elf *elf, const char *path)
{
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;
	size_t n;
	int err = 0;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) || ehdr.e_type != ET_CORE ||
	    ehdr.e_machine != EM_RISCV || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf_getphdrnum(elf, &n))
		return cmd_error(-EINVAL, "%s: no ELF core file of a 64-bit RISC-V machine.\n"
				 "  What makedumpfile compressed is none: use its option -E, or "
				 "/proc/vmcore as it is", path);
	for (size_t i = 0; i < n && !err; i++) {
		if (!gelf_getphdr(elf, i, &phdr))
			continue;
		if (phdr.p_type == PT_LOAD)
			err = add_segment(core, &phdr);
		else if (phdr.p_type == PT_NOTE)
			err = read_notes(core, elf, &phdr);
	}
	if (err)
		return cmd_error(err, "%s: %s", path, strerror(-err));
	return core->n_segments ? 0 : cmd_error(-EINVAL, "%s: it has no memory", path);
}

static int open_core(struct vmcore *core, const char *path)
{
	struct stat st;
	int fd = rvt_file_open(path, 0, &st), err;
	Elf *elf;

	if (fd < 0)
		return cmd_error(fd, "%s: %s", path,
				 fd == -EINVAL ? "not a regular file" : strerror(-fd));
	err = rvt_file_map(fd, st.st_size, path, &core->file);
	if (err) {
		close(fd);
		return cmd_error(err, "%s: %s", path, strerror(-err));
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	err = read_headers(core, elf, path);
	elf_end(elf);
	close(fd);
	return err;
}

/* Looks for VMCOREINFO in a page of the kernel, as emulators seldom write the note. */
static bool look_for_info(void *ctx, uint64_t addr, const uint8_t *page)
{
	struct vmcore *core = ctx;
	const size_t len = strlen(INFO_BEGIN);

	for (size_t at = 0; at <= NOTE_HEAD; at += NOTE_HEAD) {
		const char *text = (const char *)page + at;
		size_t room;

		/* the format string of printf() is in memory, too */
		if (memcmp(text, INFO_BEGIN, len) || text[len] == '%' ||
		    !vmcore_physical(core, addr, &room))
			continue;
		core->info = strndup(text, room < INFO_MAX ? room - at : INFO_MAX);
		return true;
	}
	return false;
}

struct vmcore *vmcore_open(const char *path)
{
	struct vmcore *core = calloc(1, sizeof(*core));

	if (!core) {
		cmd_error(0, "out of memory");
		return NULL;
	}
	if (open_core(core, path)) {
		vmcore_close(core);
		return NULL;
	}
	if (!core->info)
		vmcore_pages(core, look_for_info, core);
	return core;
}

void vmcore_close(struct vmcore *core)
{
	if (!core)
		return;
	rvt_file_unmap(core->file);
	free(core->segments);
	free(core->info);
	free(core);
}

/* ---- physical memory ---- */

const uint8_t *vmcore_physical(const struct vmcore *core, uint64_t addr, size_t *len)
{
	for (size_t i = 0; i < core->n_segments; i++) {
		const struct segment *segment = &core->segments[i];

		if (addr < segment->addr || addr - segment->addr >= segment->len)
			continue;
		*len = segment->len - (addr - segment->addr);
		return core->file->bytes + segment->offset + (addr - segment->addr);
	}
	return NULL;
}

bool vmcore_pages(const struct vmcore *core,
		  bool (*use)(void *ctx, uint64_t addr, const uint8_t *page), void *ctx)
{
	for (size_t i = 0; i < core->n_segments; i++) {
		const struct segment *segment = &core->segments[i];
		uint64_t at = -segment->addr % VMCORE_PAGE;

		for (; at < segment->len && segment->len - at >= VMCORE_PAGE; at += VMCORE_PAGE)
			if (use(ctx, segment->addr + at,
				core->file->bytes + segment->offset + at))
				return true;
	}
	return false;
}

/* ---- VMCOREINFO ---- */

bool vmcore_text(const struct vmcore *core, const char *key, char *text, size_t size)
{
	const char *line = core->info;
	size_t len = strlen(key), n;

	while (line && *line) {
		if (!strncmp(line, key, len) && line[len] == '=') {
			n = strcspn(line + len + 1, "\n");
			if (n >= size)
				return false;
			memcpy(text, line + len + 1, n);
			text[n] = 0;
			return true;
		}
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return false;
}

bool vmcore_number(const struct vmcore *core, const char *key, int base, uint64_t *value)
{
	char text[32], *end;

	if (!vmcore_text(core, key, text, sizeof(text)))
		return false;
	errno = 0;
	*value = strtoull(text, &end, base);
	return !errno && end != text && !*end;
}

/* ---- virtual memory ---- */

void vmcore_set_satp(struct vmcore *core, uint64_t satp)
{
	core->satp = satp;
}

static bool read_entry(const struct vmcore *core, uint64_t addr, uint64_t *entry)
{
	size_t len;
	const uint8_t *bytes = vmcore_physical(core, addr, &len);

	if (!bytes || len < sizeof(*entry))
		return false;
	memcpy(entry, bytes, sizeof(*entry));
	return true;
}

/* Translates @addr to the physical address of its page. */
static bool translate(const struct vmcore *core, uint64_t addr, uint64_t *physical, bool *code)
{
	const uint64_t ppn_mask = (1ULL << PPN_BITS) - 1, index_mask = (1 << LEVEL_BITS) - 1;
	unsigned int mode = core->satp >> SATP_MODE_SHIFT;
	uint64_t table = (core->satp & ppn_mask) << PAGE_SHIFT, entry, offset;
	int levels = mode - SATP_SV39 + 3;

	if (mode < SATP_SV39 || mode > SATP_SV57)
		return false;
	for (int level = levels - 1; level >= 0; level--) {
		unsigned int shift = PAGE_SHIFT + LEVEL_BITS * level;

		table += (addr >> shift & index_mask) * sizeof(entry);
		if (!read_entry(core, table, &entry) || !(entry & PTE_VALID))
			return false;
		table = (entry >> PTE_PPN_SHIFT & ppn_mask) << PAGE_SHIFT;
		if (!(entry & (PTE_READ | PTE_EXECUTE)))
			continue;
		offset = addr & ((1ULL << shift) - 1) & ~(uint64_t)(VMCORE_PAGE - 1);
		*physical = (table & ~((1ULL << shift) - 1)) + offset;
		*code = entry & PTE_EXECUTE;
		return true;
	}
	return false;
}

const uint8_t *vmcore_page(const struct vmcore *core, uint64_t addr, bool *code)
{
	const uint8_t *page;
	uint64_t physical;
	size_t len;

	if (!translate(core, addr, &physical, code))
		return NULL;
	page = vmcore_physical(core, physical, &len);
	return page && len >= VMCORE_PAGE ? page : NULL;
}

bool vmcore_read(const struct vmcore *core, uint64_t addr, void *bytes, size_t len)
{
	uint8_t *to = bytes;

	while (len) {
		size_t at = addr % VMCORE_PAGE, n = VMCORE_PAGE - at;
		const uint8_t *page;
		bool code;

		page = vmcore_page(core, addr, &code);
		if (!page)
			return false;
		if (n > len)
			n = len;
		memcpy(to, page + at, n);
		to += n;
		addr += n;
		len -= n;
	}
	return true;
}

/* ---- code ---- */

static const uint8_t *code_page(const struct vmcore *core, uint64_t addr)
{
	bool code;
	const uint8_t *page = vmcore_page(core, addr, &code);

	return page && code ? page : NULL;
}

/* Copies pages that are not contiguous in memory. */
static const uint8_t *copy_pages(struct crash_code *code, uint64_t from, size_t n)
{
	void **more = reallocarray(code->copies, code->n_copies + 1, sizeof(*more));
	uint8_t *copy = malloc(n * VMCORE_PAGE);

	if (more)
		code->copies = more;
	if (!more || !copy) {
		free(copy);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		memcpy(copy + i * VMCORE_PAGE, code_page(code->core, from + i * VMCORE_PAGE),
		       VMCORE_PAGE);
	more[code->n_copies++] = copy;
	return copy;
}

/* Finds all executable pages around @addr, as an instruction may cross their boundaries. */
bool crash_code_fetch(void *ctx, uint64_t addr, struct rvt_fetched *fetched)
{
	struct crash_code *code = ctx;
	uint64_t from = addr & ~(uint64_t)(VMCORE_PAGE - 1), to = from;
	const uint8_t *first = code_page(code->core, from), *page;
	bool contiguous = true;
	size_t n;

	if (!first)
		return false;
	for (n = 0; n < CODE_PAGES && (page = code_page(code->core, from - VMCORE_PAGE)); n++) {
		contiguous &= page == first - VMCORE_PAGE;
		first = page;
		from -= VMCORE_PAGE;
	}
	for (n = 0; n < CODE_PAGES && (page = code_page(code->core, to)); n++) {
		contiguous &= page == first + (to - from);
		to += VMCORE_PAGE;
	}
	if (!contiguous)
		first = copy_pages(code, from, (to - from) / VMCORE_PAGE);
	*fetched = (struct rvt_fetched){ .addr = from, .len = to - from, .bytes = first,
					 .name = "[kernel]" };
	return first;
}

void crash_code_free(struct crash_code *code)
{
	for (size_t i = 0; i < code->n_copies; i++)
		free(code->copies[i]);
	free(code->copies);
}
