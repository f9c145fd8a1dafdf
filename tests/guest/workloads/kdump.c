// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * kdump IMAGE INITRD CMDLINE: lays out a kernel that starts when this one panics, in the memory
 * that "crashkernel=" keeps for it: Image, initramfs, devicetree, and the ELF header of
 * /proc/vmcore.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/kexec.h>

#define ARCH_RISCV (EM_RISCV << 16)
#define PAGE 4096ul
#define IMAGE_ALIGN (2ul << 20)
#define IMAGE_SIZE_AT 16	/* in the head of an Image: its size in memory */
#define FDT_ROOM 4096
#define MAX_RANGES 64

enum { FDT_BEGIN_NODE = 1, FDT_END_NODE, FDT_PROP, FDT_NOP, FDT_END = 9 };
/* Words of its header */
enum { FDT_TOTAL = 1, FDT_STRUCT, FDT_STRINGS, FDT_RESERVED, FDT_STRINGS_SIZE = 8, FDT_STRUCT_SIZE,
       FDT_WORDS };

struct range {
	uint64_t from, to;
};

struct bytes {
	uint8_t *data;
	size_t len;
};

static void fail(const char *what)
{
	fprintf(stderr, "kdump: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct bytes read_file(const char *path)
{
	struct bytes file = { NULL, 0 };
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		file.data = realloc(file.data, file.len + (1 << 20));
		n = read(fd, file.data + file.len, 1 << 20);
		file.len += n > 0 ? n : 0;
	}
	if (n < 0)
		fail(path);
	close(fd);
	return file;
}

/* Ranges of /proc/iomem that are called so */
static int find_ranges(const char *name, struct range *ranges)
{
	FILE *in = fopen("/proc/iomem", "r");
	char line[256];
	int n = 0, at;

	if (!in)
		fail("/proc/iomem");
	while (n < MAX_RANGES && fgets(line, sizeof(line), in)) {
		struct range *range = &ranges[n];

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, " %" SCNx64 "-%" SCNx64 " : %n", &range->from, &range->to,
			   &at) == 2 && !strcmp(line + at, name)) {
			range->to++;
			n++;
		}
	}
	fclose(in);
	return n;
}

/* ---- the ELF header of what /proc/vmcore will have ---- */

static void add_note(Elf64_Ehdr *ehdr, const char *path)
{
	Elf64_Phdr *phdr = (Elf64_Phdr *)(ehdr + 1) + ehdr->e_phnum;
	FILE *in = fopen(path, "r");
	uint64_t addr, size = 0;

	if (!in || fscanf(in, "%" SCNx64, &addr) != 1)
		fail(path);
	/* The notes of a CPU have their size in a file of its own. */
	if (fscanf(in, "%" SCNx64, &size) != 1)
		size = PAGE / 8;
	fclose(in);
	*phdr = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = addr, .p_paddr = addr,
			      .p_filesz = size, .p_memsz = size };
	ehdr->e_phnum++;
}

static void add_memory(Elf64_Ehdr *ehdr, uint64_t from, uint64_t to)
{
	Elf64_Phdr *phdr = (Elf64_Phdr *)(ehdr + 1) + ehdr->e_phnum;

	if (from >= to)
		return;
	*phdr = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X, .p_offset = from,
			      .p_paddr = from, .p_filesz = to - from, .p_memsz = to - from };
	ehdr->e_phnum++;
}

static struct bytes make_core(const struct range *own)
{
	struct bytes core = { calloc(1, PAGE), PAGE };
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)core.data;
	struct range ram[MAX_RANGES];
	char path[64];
	int n = find_ranges("System RAM", ram);

	*ehdr = (Elf64_Ehdr){ .e_type = ET_CORE, .e_machine = EM_RISCV, .e_version = EV_CURRENT,
			      .e_phoff = sizeof(*ehdr), .e_ehsize = sizeof(*ehdr),
			      .e_phentsize = sizeof(Elf64_Phdr) };
	memcpy(ehdr->e_ident, ELFMAG, SELFMAG);
	ehdr->e_ident[EI_CLASS] = ELFCLASS64;
	ehdr->e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr->e_ident[EI_VERSION] = EV_CURRENT;
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/crash_notes", cpu);
		add_note(ehdr, path);
	}
	add_note(ehdr, "/sys/kernel/vmcoreinfo");
	for (int i = 0; i < n; i++) {
		if (ram[i].to <= own->from || ram[i].from >= own->to) {
			add_memory(ehdr, ram[i].from, ram[i].to);
			continue;
		}
		add_memory(ehdr, ram[i].from, own->from);
		add_memory(ehdr, own->to, ram[i].to);
	}
	return core;
}

/* ---- the devicetree ---- */

struct property {
	const char *name;
	const void *data;
	uint32_t len;
};

static void put(struct bytes *out, const void *data, size_t len)
{
	memcpy(out->data + out->len, data, len);
	out->len += len;
	while (out->len % 4)
		out->data[out->len++] = 0;
}

static void put_word(struct bytes *out, uint32_t word)
{
	word = htobe32(word);
	put(out, &word, sizeof(word));
}

static uint32_t get_word(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return be32toh(word);
}

static bool is_one_of(const char *name, const struct property *properties)
{
	for (; properties->name; properties++)
		if (!strcmp(name, properties->name))
			return true;
	return false;
}

/* A copy of the structure in which /chosen has these properties instead of those so called */
static void copy_nodes(const struct bytes *fdt, const struct property *properties,
		       uint32_t names_at, struct bytes *out)
{
	const uint32_t *head = (const uint32_t *)fdt->data;
	const uint8_t *at = fdt->data + be32toh(head[FDT_STRUCT]), *from;
	const char *strings = (const char *)fdt->data + be32toh(head[FDT_STRINGS]);
	unsigned int depth = 0;
	bool chosen = false;
	uint32_t token;

	do {
		from = at;
		token = get_word(at);
		at += 4;
		if (token == FDT_BEGIN_NODE) {
			chosen = depth++ == 1 && !strcmp((const char *)at, "chosen");
			at += (strlen((const char *)at) + 4) & ~3ul;
		} else if (token == FDT_END_NODE) {
			depth--;
			chosen = false;
		} else if (token == FDT_PROP) {
			at += 8 + ((get_word(at) + 3) & ~3u);
			if (chosen && is_one_of(strings + get_word(from + 8), properties))
				continue;
		}
		put(out, from, at - from);
		if (token != FDT_BEGIN_NODE || !chosen)
			continue;
		for (const struct property *p = properties; p->name; p++) {
			put_word(out, FDT_PROP);
			put_word(out, p->len);
			put_word(out, names_at);
			put(out, p->data, p->len);
			names_at += strlen(p->name) + 1;
		}
	} while (token != FDT_END);
}

static struct bytes change_fdt(const struct bytes *fdt, const struct property *properties)
{
	const uint32_t *old = (const uint32_t *)fdt->data;
	struct bytes out = { calloc(1, fdt->len + FDT_ROOM), FDT_WORDS * 4 };
	uint32_t *head = (uint32_t *)out.data, begin, strings_len = be32toh(old[FDT_STRINGS_SIZE]);
	const uint8_t *reserved = fdt->data + be32toh(old[FDT_RESERVED]);

	memcpy(head, old, FDT_WORDS * 4);
	head[FDT_RESERVED] = htobe32(out.len);
	for (uint64_t entry[2] = { 1, 1 }; entry[1]; reserved += sizeof(entry)) {
		memcpy(entry, reserved, sizeof(entry));
		put(&out, entry, sizeof(entry));
	}
	begin = out.len;
	head[FDT_STRUCT] = htobe32(begin);
	copy_nodes(fdt, properties, strings_len, &out);
	head[FDT_STRUCT_SIZE] = htobe32(out.len - begin);
	begin = out.len;
	head[FDT_STRINGS] = htobe32(begin);
	memcpy(out.data + out.len, fdt->data + be32toh(old[FDT_STRINGS]), strings_len);
	out.len += strings_len;
	for (const struct property *p = properties; p->name; p++) {
		strcpy((char *)out.data + out.len, p->name);
		out.len += strlen(p->name) + 1;
	}
	head[FDT_STRINGS_SIZE] = htobe32(out.len - begin);
	head[FDT_TOTAL] = htobe32(out.len);
	return out;
}

/* ---- the kernel ---- */

/* Segment number @*n, at the next place for it */
static uint64_t place(struct kexec_segment *segments, unsigned int *n, uint64_t *next,
		      const struct bytes *content, size_t room, uint64_t align)
{
	uint64_t at = (*next + align - 1) & -align;

	room = (room > content->len ? room : content->len) + PAGE - 1;
	room &= -PAGE;
	segments[(*n)++] = (struct kexec_segment){ content->data, content->len, (void *)at, room };
	*next = at + room;
	return at;
}

int main(int argc, char **argv)
{
	struct bytes image, initrd, core, old, fdt;
	uint64_t next, entry, at, room, numbers[6];
	struct kexec_segment segments[4];
	struct range own[MAX_RANGES];
	unsigned int n = 0;

	if (argc != 4 || find_ranges("Crash kernel", own) != 1) {
		fprintf(stderr, "usage: kdump IMAGE INITRD CMDLINE (boot with crashkernel=)\n");
		return 1;
	}
	image = read_file(argv[1]);
	initrd = read_file(argv[2]);
	old = read_file("/sys/firmware/fdt");
	core = make_core(&own[0]);
	next = own[0].from;
	memcpy(&room, image.data + IMAGE_SIZE_AT, sizeof(room));
	entry = place(segments, &n, &next, &image, le64toh(room), IMAGE_ALIGN);
	at = place(segments, &n, &next, &core, 0, PAGE);
	numbers[0] = htobe64(at);
	numbers[1] = htobe64(core.len);
	numbers[2] = htobe64(own[0].from);
	numbers[3] = htobe64(own[0].to - own[0].from);
	at = place(segments, &n, &next, &initrd, 0, IMAGE_ALIGN);
	numbers[4] = htobe64(at);
	numbers[5] = htobe64(at + initrd.len);
	fdt = change_fdt(&old, (const struct property[]){
		{ "linux,elfcorehdr", &numbers[0], 16 },
		{ "linux,usable-memory-range", &numbers[2], 16 },
		{ "linux,initrd-start", &numbers[4], 8 },
		{ "linux,initrd-end", &numbers[5], 8 },
		{ "bootargs", argv[3], strlen(argv[3]) + 1 },
		{ NULL, NULL, 0 } });
	place(segments, &n, &next, &fdt, 0, IMAGE_ALIGN);
	if (next > own[0].to) {
		fprintf(stderr, "kdump: %" PRIu64 " bytes are too few\n",
			own[0].to - own[0].from);
		return 1;
	}
	if (syscall(SYS_kexec_load, entry, n, segments, KEXEC_ON_CRASH | ARCH_RISCV))
		fail("kexec_load");
	return 0;
}
