// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include "common/srcline.h"
#include "util/debugpath.h"

#define SLOTS 16384

struct module {
	struct module *next;
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *module;	/* NULL: no ELF file */
	GElf_Addr bias;
};

struct slot {
	const struct module *module;
	uint64_t vaddr;
	const char *file;	/* NULL: no line */
	int line;
};

struct srclines {
	struct module *modules;
	char *vmlinux, *debug_path;
	Dwfl_Callbacks callbacks;
	struct slot slots[SLOTS];
};

struct srclines *srclines_create(const char *symfs, const char *vmlinux)
{
	struct srclines *srclines = calloc(1, sizeof(*srclines));

	if (!srclines)
		return NULL;
	srclines->vmlinux = vmlinux ? strdup(vmlinux) : NULL;
	srclines->debug_path = debug_path(symfs);
	srclines->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &srclines->debug_path,
	};
	return srclines;
}

void srclines_destroy(struct srclines *srclines)
{
	while (srclines && srclines->modules) {
		struct module *module = srclines->modules;

		srclines->modules = module->next;
		if (module->dwfl)
			dwfl_end(module->dwfl);
		free(module->path);
		free(module);
	}
	if (srclines) {
		free(srclines->vmlinux);
		free(srclines->debug_path);
	}
	free(srclines);
}

static void open_module(struct srclines *srclines, struct module *module)
{
	module->dwfl = dwfl_begin(&srclines->callbacks);
	if (!module->dwfl)
		return;
	dwfl_report_begin(module->dwfl);
	module->module = dwfl_report_offline(module->dwfl, module->path, module->path, -1);
	dwfl_report_end(module->dwfl, NULL, NULL);
	if (module->module && !dwfl_module_getelf(module->module, &module->bias))
		module->module = NULL;
}

static struct module *get_module(struct srclines *srclines, const char *path)
{
	struct module *module = srclines->modules;

	while (module && strcmp(module->path, path))
		module = module->next;
	if (module)
		return module;
	module = calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	module->path = strdup(path);
	if (!module->path) {
		free(module);
		return NULL;
	}
	open_module(srclines, module);
	module->next = srclines->modules;
	srclines->modules = module;
	return module;
}

bool srclines_find(struct srclines *srclines, const struct place *place, const char **file,
		   int *line)
{
	const char *path = place->path;
	struct module *module;
	struct slot *slot;

	/* addresses of the kernel are those of its file: the recording's kernel is not moved */
	if (!path && !strcmp(place->dso, "[kernel.kallsyms]"))
		path = srclines->vmlinux;
	module = path ? get_module(srclines, path) : NULL;
	if (!module || !module->module)
		return false;
	slot = &srclines->slots[(place->vaddr >> 1 ^ (uintptr_t)module >> 4) % SLOTS];
	if (slot->module != module || slot->vaddr != place->vaddr) {
		Dwfl_Line *found = dwfl_module_getsrc(module->module, place->vaddr + module->bias);

		*slot = (struct slot){ .module = module, .vaddr = place->vaddr };
		if (found)
			slot->file = dwfl_lineinfo(found, NULL, &slot->line, NULL, NULL, NULL);
	}
	*file = slot->file;
	*line = slot->line;
	return slot->file;
}

Dwfl_Module *srclines_module(struct srclines *srclines, const char *path, uint64_t *bias)
{
	struct module *module = get_module(srclines, path);

	if (!module)
		return NULL;
	*bias = module->bias;
	return module->module;
}
