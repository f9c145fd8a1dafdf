// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Whole ELF files: executables, shared objects, core files (/proc/kcore), relocatable files.
 */
#include <errno.h>
#include <gelf.h>
#include <unistd.h>
#include "image/image.h"

/* /proc/kcore is no regular file to mmap(): its segments are read when needed. */
static int map_range(struct rvt_space *space, int fd, struct rvt_object *file, uint64_t addr,
		     uint64_t len, uint64_t offset, const char *name)
{
	struct rvt_object *object;
	int ret;

	if (!len)
		return 0;
	if (file) {
		if (offset >= file->len || len > file->len - offset)
			return -ENOEXEC;
		return rvt_space_map(space, addr, len, file, offset, name);
	}
	ret = rvt_image_window_object(space->image, fd, offset, len, name, &object);
	return ret ? ret : rvt_space_map(space, addr, len, object, 0, name);
}

static int map_segments(struct rvt_space *space, Elf *elf, int fd, struct rvt_object *file,
			uint64_t bias, const char *name)
{
	size_t n;
	int mapped = 0;

	if (elf_getphdrnum(elf, &n))
		return -ENOEXEC;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr phdr;
		int ret;

		if (!gelf_getphdr(elf, i, &phdr))
			return -ENOEXEC;
		if (phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X) || !phdr.p_filesz)
			continue;
		ret = map_range(space, fd, file, phdr.p_vaddr + bias, phdr.p_filesz,
				phdr.p_offset, name);
		if (ret)
			return ret;
		mapped++;
	}
	return mapped ? 0 : -ENOEXEC;
}

/* A relocatable file has no addresses: its code sections follow each other from @bias on. */
static int map_sections(struct rvt_space *space, Elf *elf, int fd, struct rvt_object *file,
			uint64_t bias, const char *name)
{
	uint64_t addr = bias;
	Elf_Scn *scn = NULL;
	int mapped = 0;

	while ((scn = elf_nextscn(elf, scn))) {
		const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
		GElf_Shdr shdr;
		int ret;

		if (!gelf_getshdr(scn, &shdr))
			return -ENOEXEC;
		if (shdr.sh_type != SHT_PROGBITS || (shdr.sh_flags & code) != code || !shdr.sh_size)
			continue;
		if (shdr.sh_addralign > 1)
			addr = (addr + shdr.sh_addralign - 1) / shdr.sh_addralign *
			       shdr.sh_addralign;
		ret = map_range(space, fd, file, addr, shdr.sh_size, shdr.sh_offset, name);
		if (ret)
			return ret;
		addr += shdr.sh_size;
		mapped++;
	}
	return mapped ? 0 : -ENOEXEC;
}

int rvt_space_map_elf(struct rvt_space *space, const char *path, uint64_t bias)
{
	const char *name = rvt_image_name(space->image, path);
	struct rvt_object *file = NULL;
	struct stat st;
	GElf_Ehdr ehdr;
	int fd, ret;
	Elf *elf;

	if (!name)
		return -ENOMEM;
	ret = rvt_image_file(space->image, path, NULL, 0, &file);
	/* -EINVAL: no regular file, or of size 0, as kcore may be */
	if (ret && ret != -EINVAL)
		return ret;
	fd = rvt_file_open(path, 0, &st);
	if (fd < 0)
		return fd == -EINVAL ? -ENOEXEC : fd;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) ||
	    ehdr.e_machine != EM_RISCV)
		ret = -ENOEXEC;
	else if (ehdr.e_type == ET_REL)
		ret = map_sections(space, elf, fd, file, bias, name);
	else
		ret = map_segments(space, elf, fd, file, bias, name);
	elf_end(elf);
	close(fd);
	return ret;
}
