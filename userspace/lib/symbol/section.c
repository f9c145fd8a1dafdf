// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>
#include "table.h"

Elf_Scn *rvt_table_find_section(Elf *elf, unsigned int type, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, shdr) || shdr->sh_type != type)
			continue;
		if (!name || !strcmp(elf_strptr(elf, names, shdr->sh_name) ?: "", name))
			return scn;
	}
	return NULL;
}
