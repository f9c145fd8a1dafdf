/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * ELF files of the recorded program, beside its code: what is read only in memory, where its
 * program headers are, and how frames of its functions are laid out (libelf, libdw).
 */
#ifndef PERF_RVTRACE_GDB_FILES_H
#define PERF_RVTRACE_GDB_FILES_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct files;

struct file {
	const char *path;
	int fd;
	Elf *elf;		/* NULL: it is none */
	GElf_Ehdr ehdr;
	size_t n_phdrs;
	Dwarf_CFI *cfi;		/* NULL: the file has none */
};

struct files *files_create(void);
/* @files may be NULL. */
void files_destroy(struct files *files);
/* Opened once, and open until the end. NULL: it cannot be opened, or out of memory. */
struct file *files_get(struct files *files, const char *path);
/*
 * file_read - up to @len bytes at address @vaddr (p_vaddr) of a segment that is not writable.
 * Returns how many; 0: there is no such segment there.
 */
size_t file_read(struct file *file, uint64_t vaddr, void *bytes, size_t len);
/* The first program header of @type. False: there is none. */
bool file_phdr(struct file *file, uint32_t type, GElf_Phdr *phdr);

/*
 * The note that says for which system the file was built (.note.ABI-tag): where in the file its
 * type is, FILE_NOTE_TYPE bytes. 0: there is none.
 */
#define FILE_NOTE_TYPE 4
uint64_t file_abi_note(struct file *file);

/* How a frame's address, or a register's value in the caller, is found (DWARF: register rule). */
enum frame_rule {
	FRAME_UNKNOWN,
	FRAME_SAME,		/* a register: as the caller left it */
	FRAME_SAVED,		/* a register: in memory at the frame's address + .offset */
	FRAME_FROM_SP, FRAME_FROM_FP,	/* the frame's address: sp or s0 + .offset */
};

struct register_rule {
	enum frame_rule kind;
	int64_t offset;
};

/*
 * As the file's call frame information has it. The frame's address is sp before the function's
 * call.
 */
struct frame_layout {
	struct register_rule cfa, ra, fp;
};

/* False: the file says nothing of the function at @vaddr. */
bool file_frame(struct file *file, uint64_t vaddr, struct frame_layout *layout);

#endif
