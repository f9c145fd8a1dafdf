// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/text.h"
#include "gdb/target.h"
#include "image/image.h"
#include "util/array.h"

/* Maximum number of frames that a debugger gets. */
#define MAX_FRAMES 1024
/* Distance of frames if call frame information does not tell it. */
#define FRAME_BYTES 4096
#define PAGE_BYTES 4096

struct slot {
	uint64_t addr, value;
};

/* A frame. All but .pc and .at are the same throughout the function's call. */
struct frame {
	uint64_t pc;		/* where it continues */
	uint64_t at;		/* .pc, or the call before it */
	uint64_t cfa;
	struct frame_layout layout;
	bool known;		/* .layout is known */
	bool needs_fp;		/* the debugger must find .fp in s0 to unwind */
	uint64_t fp;
};

struct target {
	struct view *view;
	struct places *places;
	struct timeline *timeline;
	bool rv32, no_stack;
	struct stacks *stacks;
	struct files *files;
	size_t thread;
	uint64_t number;
	bool laid_out;		/* what follows is for .thread and .number */
	struct frame *frames;	/* the innermost first */
	size_t n_frames;
	struct slot *slots;	/* of the synthetic stack */
	size_t n_slots;
	struct { bool known; uint64_t value; } registers[TARGET_REGISTERS];
};

void target_destroy(struct target *target)
{
	if (!target)
		return;
	stacks_destroy(target->stacks);
	files_destroy(target->files);
	free(target->frames);
	free(target->slots);
	free(target);
}

void target_seek(struct target *target, size_t thread, uint64_t number)
{
	if (target->thread != thread || target->number != number)
		target->laid_out = false;
	target->thread = thread;
	target->number = number;
}

static struct rvt_space *space_of(struct target *target)
{
	return timeline_space(target->timeline, target->thread, target->number);
}

/*
 * Returns the address space at the end of the recording, which usually has all files that the
 * program ever mapped. So debuggers need not be told about new ones.
 */
static struct rvt_space *last_space(struct target *target)
{
	return timeline_space(target->timeline, target->thread, UINT64_MAX);
}

/* Returns the file that has @addr, and the address in it; NULL: none. */
static struct file *file_at(struct target *target, struct rvt_space *space, uint64_t addr,
			    uint64_t *vaddr)
{
	const struct place *place = places_find(target->places, space, addr);

	*vaddr = place->vaddr;
	return place->path ? files_get(target->files, place->path) : NULL;
}

/* ---- frames ---- */

static bool find_layout(struct target *target, struct rvt_space *space, struct frame *frame)
{
	uint64_t vaddr;
	struct file *file = file_at(target, space, frame->at, &vaddr);

	return file && file_frame(file, vaddr, &frame->layout);
}

static int find_pc(struct target *target, uint64_t *pc)
{
	const struct timeline_thread *thread = timeline_thread(target->timeline, target->thread);
	struct timeline_insn insn;
	int err = timeline_insn(target->timeline, target->thread, target->number, &insn);

	if (!err)
		*pc = insn.pc;
	if (err == -ENOENT && thread->next_pc) {
		*pc = thread->next_pc;
		return 0;
	}
	return err;
}

/* Finds the innermost frames, up to where callers are not known. */
static int find_frames(struct target *target, uint64_t pc)
{
	struct rvt_callstack *stack;
	struct rvt_space *space;
	int err = stacks_at(target->stacks, target->thread, target->number, &stack);
	const struct rvt_frame *call;

	target->n_frames = 0;
	if (err)
		return err;
	space = space_of(target);
	for (size_t i = 0; target->n_frames < MAX_FRAMES; i++) {
		struct frame *frame = &target->frames[target->n_frames++];

		*frame = (struct frame){ .pc = pc, .at = i ? pc - 1 : pc };
		frame->known = find_layout(target, space, frame);
		call = rvt_callstack_frame(stack, i);
		if (!call || !frame->known || call->cut || call->trap || call->signal ||
		    !call->back)
			break;
		pc = call->back;
	}
	return 0;
}

static uint64_t below(uint64_t cfa, const struct register_rule *rule)
{
	uint64_t size = rule->offset > 0 ? rule->offset : 0;

	return cfa - FRAME_BYTES - (size & -(uint64_t)16);
}

/*
 * Lays out the frames. The address of each depends only on its callers, so that it stays the same
 * while the function runs: debuggers identify a frame by it.
 */
static void lay_out(struct target *target)
{
	uint64_t cfa = target->rv32 ? TARGET_STACK_32 : TARGET_STACK;

	for (size_t i = target->n_frames; i--; ) {
		struct frame *frame = &target->frames[i], *caller = i + 1 < target->n_frames ?
			frame + 1 : NULL;
		const struct register_rule *rule = &frame->layout.cfa;

		frame->cfa = cfa;
		if (frame->known && rule->kind == FRAME_FROM_FP) {
			frame->needs_fp = true;
			frame->fp = cfa - rule->offset;
		} else if (frame->known && frame->layout.fp.kind == FRAME_SAME && caller) {
			/* the function has the caller's value, in case a caller needs it */
			frame->needs_fp = caller->needs_fp;
			frame->fp = caller->fp;
		}
		if (frame->known && rule->kind == FRAME_FROM_SP)
			cfa -= rule->offset;
		else
			cfa = below(cfa, rule);
	}
	target->registers[TARGET_SP].known = target->frames[0].known;
	target->registers[TARGET_SP].value = cfa;
	target->registers[TARGET_FP].known = target->frames[0].needs_fp;
	target->registers[TARGET_FP].value = target->frames[0].fp;
}

static void put_slot(struct target *target, const struct frame *frame,
		     const struct register_rule *rule, uint64_t value)
{
	if (rule->kind == FRAME_SAVED && !array_grow(&target->slots, target->n_slots))
		target->slots[target->n_slots++] = (struct slot){ frame->cfa + rule->offset,
								  value };
}

static void fill_slots(struct target *target)
{
	target->n_slots = 0;
	for (size_t i = 0; i + 1 < target->n_frames; i++) {
		const struct frame *frame = &target->frames[i], *caller = frame + 1;

		put_slot(target, frame, &frame->layout.ra, caller->pc);
		if (caller->needs_fp)
			put_slot(target, frame, &frame->layout.fp, caller->fp);
	}
	if (target->n_frames > 1 && target->frames[0].layout.ra.kind == FRAME_SAME) {
		target->registers[TARGET_RA].known = true;
		target->registers[TARGET_RA].value = target->frames[1].pc;
	}
}

static void look(struct target *target)
{
	uint64_t pc;

	if (target->laid_out)
		return;
	target->laid_out = true;
	target->n_frames = target->n_slots = 0;
	memset(target->registers, 0, sizeof(target->registers));
	if (find_pc(target, &pc))
		return;
	target->registers[TARGET_PC].known = true;
	target->registers[TARGET_PC].value = pc;
	if (target->no_stack || find_frames(target, pc))
		return;
	lay_out(target);
	fill_slots(target);
}

bool target_register(struct target *target, unsigned int number, uint64_t *value)
{
	if (number == TARGET_PC && !target->laid_out)
		return !find_pc(target, value);
	look(target);
	if (number >= TARGET_REGISTERS || !target->registers[number].known)
		return false;
	*value = target->registers[number].value;
	return true;
}

void target_put_stack(struct target *target, FILE *out)
{
	struct rvt_callstack *stack;
	struct rvt_space *space;
	uint64_t pc;

	if (find_pc(target, &pc) ||
	    stacks_at(target->stacks, target->thread, target->number, &stack))
		return;
	space = space_of(target);
	for (size_t i = 0; i < MAX_FRAMES; i++) {
		const struct place *place = places_find(target->places, space, pc);
		const struct rvt_frame *call = rvt_callstack_frame(stack, i);

		fprintf(out, "#%-3zu 0x%016" PRIx64 " ", i, pc);
		put_visible(out, place->symbol ? place->symbol : "[unknown]");
		fprintf(out, "+0x%" PRIx64 " (", place->offset);
		put_visible(out, place->dso);
		fprintf(out, ")%s\n", !call ? "" : call->cut ? ", and its callers are not known" :
			call->signal ? ", a signal handler, which interrupted" :
			call->trap ? ", a trap, which interrupted" : "");
		if (!call || call->cut)
			break;
		pc = call->back ? call->back : call->from;
	}
}

/* ---- memory ---- */

static size_t read_slot(const struct target *target, uint64_t addr, uint8_t *bytes, size_t len)
{
	size_t width = target->rv32 ? 4 : 8;

	for (size_t i = 0; i < target->n_slots; i++) {
		const struct slot *slot = &target->slots[i];
		uint64_t at = addr - slot->addr;

		if (at >= width)
			continue;
		if (len > width - at)
			len = width - at;
		for (size_t n = 0; n < len; n++)
			bytes[n] = slot->value >> 8 * (at + n);
		return len;
	}
	return 0;
}

/*
 * Reads from a file. A recording only has mappings of code; other segments are found by the file's
 * mapping beside them.
 */
static size_t read_file(struct target *target, struct rvt_space *space, uint64_t addr,
			uint8_t *bytes, size_t len)
{
	const struct rvt_mapping *mapping = space ? rvt_space_next(space, addr) : NULL;
	const struct rvt_mapping *before = NULL, *sides[2];

	/* files are contiguous: their code is before @addr, or behind it */
	for (const struct rvt_mapping *m = space ? rvt_space_next(space, 0) : NULL;
	     m && m->last < addr;
	     m = rvt_space_next(space, m->last + 1))
		before = m;
	sides[0] = before;
	sides[1] = mapping;
	for (size_t i = 0; i < 2; i++) {
		uint64_t vaddr, n;
		struct file *file;

		if (!sides[i] || !sides[i]->object)
			continue;
		file = file_at(target, space, sides[i]->start, &vaddr);
		if (!file)
			continue;
		n = file_read(file, addr - sides[i]->start + vaddr, bytes, len);
		if (n)
			return n;
	}
	return 0;
}

static size_t read_chunk(struct target *target, struct rvt_space *space, uint64_t addr,
			 uint8_t *bytes, size_t len)
{
	const uint8_t *code;
	size_t n = read_slot(target, addr, bytes, len);

	if (n || !space)
		return n;
	n = rvt_space_find(space, addr, &code);
	if (n) {
		n = n < len ? n : len;
		memcpy(bytes, code, n);
		return n;
	}
	return read_file(target, space, addr, bytes, len);
}

size_t target_read(struct target *target, uint64_t addr, uint8_t *bytes, size_t len)
{
	struct rvt_space *space, *last;
	size_t done = 0;

	look(target);
	space = space_of(target);
	last = last_space(target);
	while (done < len) {
		size_t n = read_chunk(target, space, addr + done, bytes + done, len - done);

		if (!n)
			n = read_chunk(target, last, addr + done, bytes + done, len - done);
		if (!n)
			break;
		done += n;
	}
	return done;
}

/* ---- files ---- */

/* A mapped file, with its first mapping, which usually is the only one. */
struct module {
	const char *path;
	struct file *file;
	uint64_t bias, start;
};

/*
 * Finds the next file that starts at *@addr or above, and moves *@addr. Returns false if there is
 * none.
 */
static bool next_module(struct target *target, struct rvt_space *space, uint64_t *addr,
			struct module *module)
{
	const struct rvt_mapping *mapping;

	while (space && (mapping = rvt_space_next(space, *addr))) {
		const struct place *place;

		*addr = mapping->last + 1;
		if (!*addr)
			return false;
		if (!mapping->object || mapping->name[0] == '[')
			continue;
		place = places_find(target->places, space, mapping->start);
		if (!place->path)
			continue;
		*module = (struct module){ .path = place->path,
					   .file = files_get(target->files, place->path),
					   .bias = mapping->start - place->vaddr,
					   .start = mapping->start };
		if (module->file && module->file->elf)
			return true;
	}
	return false;
}

static bool has_interpreter(const struct module *module)
{
	GElf_Phdr phdr;

	return file_phdr(module->file, PT_INTERP, &phdr);
}

/*
 * Finds the program among the files: it has an interpreter, or has the lowest address. libc.so.6
 * has one, too, but a higher address.
 */
static bool find_program(struct target *target, struct module *program)
{
	struct rvt_space *space = last_space(target);
	struct module module;
	bool found = false;
	uint64_t addr = 0;

	while (next_module(target, space, &addr, &module)) {
		if (!found)
			*program = module;
		found = true;
		if (has_interpreter(&module)) {
			*program = module;
			break;
		}
	}
	return found;
}

struct target *target_create(struct view *view, struct places *places, struct timeline *timeline,
			     size_t thread, bool no_stack)
{
	struct target *target = calloc(1, sizeof(*target));
	struct module program;

	if (!target)
		return NULL;
	target->view = view;
	target->places = places;
	target->timeline = timeline;
	target->thread = thread;
	target->no_stack = no_stack;
	target->files = files_create();
	target->stacks = stacks_create(timeline, rvt_session_symbols(view_session(view)));
	target->frames = calloc(MAX_FRAMES, sizeof(*target->frames));
	if (!target->files || !target->stacks || !target->frames) {
		target_destroy(target);
		return NULL;
	}
	target->rv32 = find_program(target, &program) &&
		program.file->ehdr.e_ident[EI_CLASS] == ELFCLASS32;
	return target;
}

bool target_is_rv32(const struct target *target)
{
	return target->rv32;
}

static const char *recorded_name(struct target *target, const char *path)
{
	return rvt_session_dso_name(view_session(target->view), path);
}

const char *target_program(struct target *target)
{
	struct module program;

	return find_program(target, &program) ? program.path : NULL;
}

const char *target_file(struct target *target, const char *name)
{
	struct rvt_space *space = last_space(target);
	struct module module;
	uint64_t addr = 0;

	while (next_module(target, space, &addr, &module))
		if (!strcmp(name, recorded_name(target, module.path)))
			return module.path;
	return NULL;
}

uint64_t target_abi_note(struct target *target, const char *path)
{
	struct file *file = files_get(target->files, path);

	return file ? file_abi_note(file) : 0;
}

void target_put_program(struct target *target, FILE *out)
{
	const char *path = target_program(target);

	if (path)
		fputs(recorded_name(target, path), out);
}

static void put_word(const struct target *target, FILE *out, uint64_t value)
{
	for (size_t i = 0; i < (target->rv32 ? 4 : 8); i++)
		putc(value >> 8 * i & 0xff, out);
}

static void put_aux(const struct target *target, FILE *out, uint64_t type, uint64_t value)
{
	put_word(target, out, type);
	put_word(target, out, value);
}

/* Finds where the program headers are in memory. */
static bool find_phdrs(const struct module *module, uint64_t *addr)
{
	GElf_Phdr phdr;

	for (size_t i = 0; i < module->file->n_phdrs; i++) {
		uint64_t offset = module->file->ehdr.e_phoff;

		if (!gelf_getphdr(module->file->elf, i, &phdr) || phdr.p_type != PT_LOAD ||
		    offset < phdr.p_offset || offset - phdr.p_offset >= phdr.p_filesz)
			continue;
		*addr = phdr.p_vaddr + (offset - phdr.p_offset) + module->bias;
		return true;
	}
	return false;
}

static bool is_interpreter_of(const struct module *module, const char *name)
{
	const char *base = strrchr(module->path, '/'), *wanted = strrchr(name, '/');

	return !strcmp(base ? base + 1 : module->path, wanted ? wanted + 1 : name);
}

/* Finds the bias of the dynamic loader. */
static bool find_loader(struct target *target, const struct module *program, uint64_t *bias)
{
	struct rvt_space *space = last_space(target);
	char name[256] = "";
	struct module module;
	uint64_t addr = 0;
	GElf_Phdr phdr;

	if (!file_phdr(program->file, PT_INTERP, &phdr) ||
	    !file_read(program->file, phdr.p_vaddr, name, sizeof(name) - 1))
		return false;
	while (next_module(target, space, &addr, &module)) {
		if (!is_interpreter_of(&module, name))
			continue;
		*bias = module.bias;
		return true;
	}
	return false;
}

void target_put_auxv(struct target *target, FILE *out)
{
	struct rvt_space *space = last_space(target);
	struct module program;
	uint64_t value;

	if (find_program(target, &program)) {
		if (find_phdrs(&program, &value)) {
			put_aux(target, out, AT_PHDR, value);
			put_aux(target, out, AT_PHENT, program.file->ehdr.e_phentsize);
			put_aux(target, out, AT_PHNUM, program.file->n_phdrs);
		}
		put_aux(target, out, AT_ENTRY, program.file->ehdr.e_entry + program.bias);
		if (find_loader(target, &program, &value))
			put_aux(target, out, AT_BASE, value);
	}
	for (const struct rvt_mapping *m = space ? rvt_space_next(space, 0) : NULL; m;
	     m = m->last + 1 ? rvt_space_next(space, m->last + 1) : NULL)
		if (!strcmp(m->name, "[vdso]") && m->object)
			put_aux(target, out, AT_SYSINFO_EHDR, m->map_start);
	put_aux(target, out, AT_PAGESZ, PAGE_BYTES);
	put_aux(target, out, AT_NULL, 0);
}

static void put_xml(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		default: putc((unsigned char)*text < ' ' ? '?' : *text, out);
		}
	}
}

static uint64_t start_of(const struct module *module)
{
	GElf_Phdr phdr;

	return module->bias + (file_phdr(module->file, PT_LOAD, &phdr) ? phdr.p_vaddr : 0);
}

bool target_start(struct target *target, uint64_t *start)
{
	struct module program;

	if (!find_program(target, &program))
		return false;
	*start = start_of(&program);
	return true;
}

static void put_library(struct target *target, const struct module *module, bool svr4, FILE *out)
{
	GElf_Phdr phdr;

	fputs("<library name=\"", out);
	put_xml(out, recorded_name(target, module->path));
	/* addresses of the file stand for the loader's structures, which are not known */
	if (svr4)
		fprintf(out, "\" lm=\"0x%" PRIx64 "\" l_addr=\"0x%" PRIx64 "\" l_ld=\"0x%" PRIx64
			"\"/>", module->start, module->bias,
			file_phdr(module->file, PT_DYNAMIC, &phdr) ?
			module->bias + phdr.p_vaddr : 0);
	else
		fprintf(out, "\"><segment address=\"0x%" PRIx64 "\"/></library>",
			start_of(module));
}

void target_put_libraries(struct target *target, bool svr4, FILE *out)
{
	struct rvt_space *space = last_space(target);
	struct module program, module;
	bool known = find_program(target, &program);
	uint64_t addr = 0;

	fprintf(out, "<library-list%s version=\"1.0\">", svr4 ? "-svr4" : "");
	while (next_module(target, space, &addr, &module))
		if (!known || module.start != program.start)
			put_library(target, &module, svr4, out);
	fprintf(out, "</library-list%s>", svr4 ? "-svr4" : "");
}
