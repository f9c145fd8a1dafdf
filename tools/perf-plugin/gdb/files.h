/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reads ELF files of the recorded program, which have what its code lacks: memory that is only
 * read, the program headers' place, and the layout of its functions' frames (libelf, libdw).
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
	Elf *elf;		/* NULL: not an ELF file */
	GElf_Ehdr ehdr;
	size_t n_phdrs;
	Dwarf_CFI *cfi;		/* NULL: the file has none */
};

struct files *files_create(void);
/* @files may be NULL. */
void files_destroy(struct files *files);
/* Finds a file, or opens it until the end. NULL: it cannot be opened, or memory is out. */
struct file *files_get(struct files *files, const char *path);
/*
 * file_read - reads up to @len bytes at address @vaddr (p_vaddr) of a segment that is not writable.
 * Returns how many; 0: there is no such segment.
 */
size_t file_read(struct file *file, uint64_t vaddr, void *bytes, size_t len);
/* Finds the first program header of @type. Returns false if there is none. */
bool file_phdr(struct file *file, uint32_t type, GElf_Phdr *phdr);

/*
 * Finds the note that says for which system the file was built (.note.ABI-tag). Returns where in
 * the file its type is, FILE_NOTE_TYPE bytes; 0: there is none.
 */
#define FILE_NOTE_TYPE 4
uint64_t file_abi_note(struct file *file);

/* How to find a frame's address, or a register's value in the caller (DWARF: register rule). */
enum frame_rule {
	FRAME_UNKNOWN,
	FRAME_SAME,		/* a register: has the caller's value */
	FRAME_SAVED,		/* a register: at the frame's address + .offset */
	FRAME_FROM_SP, FRAME_FROM_FP,	/* the frame's address: sp or s0, plus .offset */
};

struct register_rule {
	enum frame_rule kind;
	int64_t offset;
};

/*
 * A frame by the file's call frame information. The frame's address is sp before the function's
 * call.
 */
struct frame_layout {
	struct register_rule cfa, ra, fp;
};

/* Finds the layout of the function at @vaddr. Returns false if the file does not have it. */
bool file_frame(struct file *file, uint64_t vaddr, struct frame_layout *layout);

#endif
