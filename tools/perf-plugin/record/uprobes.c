// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Copies code that runs in place of probed instructions. The kernel copies the instruction into a
 * slot of a page of the process, [uprobes], with an ebreak behind it; probed functions return to
 * the first slot. What a slot had before cannot be read. But if all probes are on one instruction,
 * or on some that are equally long and continue with the next one, all slots look the same to a
 * decoder.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rvtrace/insn.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/code.h"
#include "record/record.h"

#define SLOT_BYTES 8		/* UPROBE_XOL_SLOT_BYTES of RISC-V */
#define PAGE_BYTES 4096
#define MAX_INSN_BYTES 4

static const uint8_t ebreak[] = { 0x73, 0x00, 0x10, 0x00 };
static const uint8_t c_ebreak[] = { 0x02, 0x90 };

/*
 * Returns whether the instruction gets a slot: the kernel executes jumps, branches and auipc
 * itself.
 */
static bool has_slot(const struct rvt_insn *insn)
{
	return insn->iclass == RVT_INSN_SEQUENTIAL && !(insn->flags & RVT_INSN_F_PCREL);
}

/*
 * Parses "p:GROUP/NAME FILE:0xOFFSET ...", a line of uprobe_events. Returns the length of the
 * instruction in the slot; 0: there is none.
 */
static uint32_t read_probed(const char *line, uint8_t code[MAX_INSN_BYTES])
{
	const char *file = strchr(line, ' '), *colon = file ? strstr(file, ":0x") : NULL;
	struct rvt_insn insn;
	ssize_t len = -1;
	char *path;
	int fd;

	if (!colon)
		return 0;
	path = strndup(file + 1, colon - file - 1);
	fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		len = pread(fd, code, MAX_INSN_BYTES, strtoull(colon + 1, NULL, 16));
		close(fd);
	}
	free(path);
	return len > 0 && !rvt_insn_decode(code, len, 0, &insn) && has_slot(&insn) ?
		insn.len_bytes : 0;
}

void record_copy_uprobes(const struct recorder *rec, struct code_list *list)
{
	const struct rvt_code what = { .kind = RVT_CODE_UPROBES, .name = "[uprobes]" };
	char *text = !rec->options.tracefs ? NULL :
		     read_text("%s/uprobe_events", rec->options.tracefs);
	char *rest = text, *line;
	uint8_t page[PAGE_BYTES] = { 0 }, code[MAX_INSN_BYTES], slot[MAX_INSN_BYTES];
	uint32_t len = 0;
	bool alike = true;

	while ((line = strsep(&rest, "\n"))) {
		uint32_t bytes = read_probed(line, code);

		alike &= !len || !bytes || bytes == len;
		if (!bytes)
			continue;
		len = bytes;
		memcpy(slot, code, len);
	}
	if (!text || !*text) {
		free(text);
		return;
	}
	free(text);
	if (!alike)
		cmd_warning("probes are on instructions of 2 and of 4 bytes: each time that one is "
			    "reached, the copy of its\n  instruction, which runs in its place, "
			    "cannot be decoded");
	memcpy(page, c_ebreak, sizeof(c_ebreak));
	for (size_t at = SLOT_BYTES; alike && len && at < PAGE_BYTES; at += SLOT_BYTES) {
		memcpy(page + at, slot, len);
		memcpy(page + at + len, ebreak, SLOT_BYTES - len < sizeof(ebreak) ?
		       SLOT_BYTES - len : sizeof(ebreak));
	}
	code_list_add(list, &what, 0, page, alike && len ? sizeof(page) : SLOT_BYTES);
}
