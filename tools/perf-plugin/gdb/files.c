// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gdb/files.h"

/* numbers of registers in DWARF */
enum { REG_RA = 1, REG_SP = 2, REG_FP = 8 };

struct files {
	void *by_path;		/* tsearch tree of struct file */
};

struct files *files_create(void)
{
	elf_version(EV_CURRENT);
	return calloc(1, sizeof(struct files));
}

static void close_file(void *data)
{
	struct file *file = data;

	elf_end(file->elf);
	close(file->fd);
	free((char *)file->path);
	free(file);
}

void files_destroy(struct files *files)
{
	if (!files)
		return;
	tdestroy(files->by_path, close_file);
	free(files);
}

static int compare_paths(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static struct file *open_file(const char *path)
{
	struct file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->path = strdup(path);
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!file->path || file->fd < 0) {
		if (file->fd >= 0)
			close(file->fd);
		free((char *)file->path);
		free(file);
		return NULL;
	}
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf || !gelf_getehdr(file->elf, &file->ehdr) ||
	    elf_getphdrnum(file->elf, &file->n_phdrs)) {
		elf_end(file->elf);
		file->elf = NULL;
		file->n_phdrs = 0;
	}
	if (file->elf)
		file->cfi = dwarf_getcfi_elf(file->elf);
	return file;
}

struct file *files_get(struct files *files, const char *path)
{
	struct file key = { .path = path }, **found = tfind(&key, &files->by_path, compare_paths);
	struct file *file = found ? *found : open_file(path);

	if (!file || found)
		return file;
	if (tsearch(file, &files->by_path, compare_paths))
		return file;
	close_file(file);
	return NULL;
}

bool file_phdr(struct file *file, uint32_t type, GElf_Phdr *phdr)
{
	for (size_t i = 0; i < file->n_phdrs; i++)
		if (gelf_getphdr(file->elf, i, phdr) && phdr->p_type == type)
			return true;
	return false;
}

size_t file_read(struct file *file, uint64_t vaddr, void *bytes, size_t len)
{
	GElf_Phdr phdr;
	ssize_t n;

	for (size_t i = 0; i < file->n_phdrs; i++) {
		if (!gelf_getphdr(file->elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    phdr.p_flags & PF_W || vaddr < phdr.p_vaddr ||
		    vaddr - phdr.p_vaddr >= phdr.p_filesz)
			continue;
		vaddr -= phdr.p_vaddr;
		if (len > phdr.p_filesz - vaddr)
			len = phdr.p_filesz - vaddr;
		n = pread(file->fd, bytes, len, phdr.p_offset + vaddr);
		return n > 0 ? n : 0;
	}
	return 0;
}

/* Finds the ABI note in a section of notes. Returns false if it has none. */
static bool find_abi_note(Elf_Scn *section, size_t *at)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t next, name, text;
	GElf_Nhdr note;

	for (*at = 0; data && (next = gelf_getnote(data, *at, &note, &name, &text)); *at = next)
		if (note.n_type == NT_GNU_ABI_TAG && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp((char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			return true;
	return false;
}

uint64_t file_abi_note(struct file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	size_t at;

	while (file->elf && (section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_type == SHT_NOTE &&
		    find_abi_note(section, &at))
			return shdr.sh_offset + at + offsetof(GElf_Nhdr, n_type);
	return 0;
}

/* ---- frames ---- */

static struct register_rule frame_address(Dwarf_Frame *frame)
{
	struct register_rule rule = { .kind = FRAME_UNKNOWN };
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || n != 1)
		return rule;
	if (ops->atom == DW_OP_bregx && (ops->number == REG_SP || ops->number == REG_FP)) {
		rule.kind = ops->number == REG_SP ? FRAME_FROM_SP : FRAME_FROM_FP;
		rule.offset = ops->number2;
	} else if (ops->atom == DW_OP_breg0 + REG_SP || ops->atom == DW_OP_breg0 + REG_FP) {
		rule.kind = ops->atom == DW_OP_breg0 + REG_SP ? FRAME_FROM_SP : FRAME_FROM_FP;
		rule.offset = ops->number;
	}
	return rule;
}

static struct register_rule frame_register(Dwarf_Frame *frame, int number)
{
	struct register_rule rule = { .kind = FRAME_UNKNOWN };
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, number, memory, &ops, &n))
		return rule;
	if (!n) {
		/* "undefined" sets ops, to no operations; "same value" sets it to NULL */
		rule.kind = ops ? FRAME_UNKNOWN : FRAME_SAME;
		return rule;
	}
	/* only takes a register that is saved at an offset from the frame's address */
	if (ops[0].atom != DW_OP_call_frame_cfa || n > 2)
		return rule;
	if (n == 2 && ops[1].atom != DW_OP_plus_uconst)
		return rule;
	rule.kind = FRAME_SAVED;
	rule.offset = n == 2 ? (int64_t)ops[1].number : 0;
	return rule;
}

bool file_frame(struct file *file, uint64_t vaddr, struct frame_layout *layout)
{
	Dwarf_Frame *frame;

	if (!file->cfi || dwarf_cfi_addrframe(file->cfi, vaddr, &frame))
		return false;
	layout->cfa = frame_address(frame);
	layout->ra = frame_register(frame, REG_RA);
	layout->fp = frame_register(frame, REG_FP);
	free(frame);
	return layout->cfa.kind != FRAME_UNKNOWN;
}
