// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include "util/debugpath.h"
#include "debugfile.h"

int rvt_debug_file_open(const char *path, const char *roots)
{
	char *search = debug_path(roots), *found = NULL;
	const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &search,
	};
	Dwfl *dwfl = search && path[0] != '[' ? dwfl_begin(&callbacks) : NULL;
	Dwfl_Module *module = NULL;
	Elf *elf = NULL;
	GElf_Addr bias;
	GElf_Word crc = 0;
	const char *link;
	int fd = -1;

	if (dwfl) {
		dwfl_report_begin(dwfl);
		module = dwfl_report_offline(dwfl, path, path, -1);
		dwfl_report_end(dwfl, NULL, NULL);
		elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	}
	if (elf) {
		link = dwelf_elf_gnu_debuglink(elf, &crc);
		fd = dwfl_standard_find_debuginfo(module, NULL, NULL, 0, path, link, crc, &found);
	}
	free(found);
	dwfl_end(dwfl);
	free(search);
	return fd;
}
