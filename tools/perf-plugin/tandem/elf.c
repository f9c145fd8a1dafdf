// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf-rvtrace tandem from-elf`: writes an ELF file as a trace that loads memory. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "tandem/tandem.h"

/* One group loads so many bytes of memory. */
#define GROUP_BYTES 4096u
/* To load more is a mistake, or malice; the trace is more than twice as large. */
#define MAX_LOAD (UINT64_C(256) << 20)

struct writer {
	struct rvt_tandem_params params;
	FILE *out;
	int error;
	uint64_t loaded;	/* bytes */
};

static void put(struct writer *w, const struct rvt_tandem_record *record)
{
	uint8_t bytes[RVT_TANDEM_MAX_RECORD];
	int n = rvt_tandem_encode(&w->params, record, bytes);

	if (n < 0)
		w->error = n;
	else if (fwrite(bytes, 1, n, w->out) != (size_t)n)
		w->error = -EIO;
}

static void put_op(struct writer *w, unsigned int op)
{
	put(w, &(struct rvt_tandem_record){ .op = op });
}

static void begin_init(struct writer *w)
{
	put_op(w, RVT_TANDEM_BEGIN_GROUP);
	put_op(w, RVT_TANDEM_STATE_INIT);
}

/* Writes one naturally aligned store of at most 8 bytes; returns how many. @bytes NULL: zeroes. */
static size_t put_store(struct writer *w, uint64_t addr, const uint8_t *bytes, size_t len)
{
	struct rvt_tandem_record record = {
		.op = RVT_TANDEM_MEM_REQ, .mem_op = RVT_TANDEM_STORE, .mem_size = 3, .addr = addr,
	};
	size_t n;

	while (addr & ((1u << record.mem_size) - 1) || (1u << record.mem_size) > len)
		record.mem_size--;
	n = 1u << record.mem_size;
	while (bytes && n--)
		record.value = record.value << 8 | bytes[n];
	put(w, &record);
	put(w, &(struct rvt_tandem_record){
		.op = RVT_TANDEM_MEM_RSP, .mem_op = RVT_TANDEM_STORE, .mem_size = record.mem_size,
	});
	return 1u << record.mem_size;
}

static void put_bytes(struct writer *w, uint64_t addr, const uint8_t *bytes, uint64_t len)
{
	uint64_t done = 0, group_end, n;

	while (done < len && !w->error) {
		group_end = done + GROUP_BYTES - (addr + done) % GROUP_BYTES;
		if (group_end > len)
			group_end = len;
		begin_init(w);
		for (; done < group_end; done += n)
			n = put_store(w, addr + done, bytes ? bytes + done : NULL,
				      group_end - done);
		put_op(w, RVT_TANDEM_END_GROUP);
	}
}

static int put_segment(struct writer *w, Elf *elf, const GElf_Phdr *phdr, bool virtual)
{
	uint64_t addr = virtual ? phdr->p_vaddr : phdr->p_paddr;
	unsigned int bits = w->params.mlen;
	Elf_Data *data;

	if (phdr->p_memsz < phdr->p_filesz || addr + phdr->p_memsz < addr ||
	    (bits < 64 && (addr + phdr->p_memsz) >> bits))
		return cmd_error(-EINVAL, "a segment does not fit into the address space");
	if (phdr->p_memsz > MAX_LOAD - w->loaded)
		return cmd_error(-EINVAL, "there is more than 256 MiB to load");
	w->loaded += phdr->p_memsz;
	data = elf_getdata_rawchunk(elf, phdr->p_offset, phdr->p_filesz, ELF_T_BYTE);
	if (phdr->p_filesz && (!data || data->d_size != phdr->p_filesz))
		return cmd_error(-EINVAL, "a segment lies outside of the file");
	if (phdr->p_filesz)
		put_bytes(w, addr, data->d_buf, phdr->p_filesz);
	put_bytes(w, addr + phdr->p_filesz, NULL, phdr->p_memsz - phdr->p_filesz);
	return w->error;
}

static int put_elf(struct writer *w, Elf *elf, bool virtual, enum rvt_tandem_text text)
{
	GElf_Ehdr ehdr;
	GElf_Phdr phdr;
	size_t i, n, segments = 0;
	int ret;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr) || elf_getphdrnum(elf, &n))
		return cmd_error(-EINVAL, "not an ELF file");
	if (ehdr.e_machine != EM_RISCV)
		return cmd_error(-EINVAL, "not a RISC-V ELF file");
	rvt_tandem_params_init(&w->params, gelf_getclass(elf) == ELFCLASS32 ? 32 : 64);
	w->params.text = text;
	/* reset must not be in a group with state initialization */
	put_op(w, RVT_TANDEM_BEGIN_GROUP);
	put_op(w, RVT_TANDEM_RESET);
	put_op(w, RVT_TANDEM_END_GROUP);
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &phdr))
			return cmd_error(-EINVAL, "damaged program headers");
		if (phdr.p_type != PT_LOAD)
			continue;
		ret = put_segment(w, elf, &phdr, virtual);
		if (ret)
			return ret;
		segments++;
	}
	if (!segments)
		return cmd_error(-EINVAL, "no segment to load: not a linked program");
	begin_init(w);
	put(w, &(struct rvt_tandem_record){
		.op = RVT_TANDEM_STATE, .state_id = RVT_TANDEM_PC, .value = ehdr.e_entry,
	});
	put_op(w, RVT_TANDEM_END_GROUP);
	return w->error;
}

static int convert(const char *path, const char *output, bool virtual,
		   enum rvt_tandem_text text)
{
	struct writer w = { 0 };
	Elf *elf = NULL;
	int fd, ret = -EINVAL;

	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cmd_error(1, "%s: %s", path, strerror(errno));
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	w.out = strcmp(output, "-") ? fopen(output, "wbe") : stdout;
	if (!w.out)
		cmd_error(1, "%s: %s", output, strerror(errno));
	else if (!elf)
		cmd_error(1, "%s: %s", path, elf_errmsg(-1));
	else
		ret = put_elf(&w, elf, virtual, text);
	if (ret == -EIO)
		cmd_error(1, "%s: cannot be written", output);
	if (w.out && fflush(w.out) && !ret)
		ret = cmd_error(-EIO, "%s: %s", output, strerror(errno));
	if (w.out && w.out != stdout)
		fclose(w.out);
	/* half a trace would look like a whole one */
	if (ret && w.out && w.out != stdout)
		unlink(output);
	elf_end(elf);
	close(fd);
	return ret ? 1 : 0;
}

static int usage(void)
{
	fputs("usage: perf rvtrace tandem from-elf [OPTIONS] ELF\n\n"
	      "  -o, --output FILE  where to write the trace (standard output)\n"
	      "  -t, --text TEXT    whose bytes to write: chapter-2 or appendix-c (chapter-2)\n"
	      "  -v, --virtual      load at virtual instead of physical addresses\n\n"
	      "XLEN, and with it MLEN, is that of the ELF file.\n", stdout);
	return 0;
}

int tandem_from_elf(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' }, { "virtual", no_argument, NULL, 'v' },
		{ "text", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' }, { 0 }
	};
	const char *output = "-", *elf;
	enum rvt_tandem_text text = RVT_TANDEM_CHAPTER_2;
	bool virtual = false;
	int option;

	while ((option = getopt_long(argc, argv, "o:t:vh", options, NULL)) != -1) {
		if (option == 'h')
			return usage();
		if (option == '?')
			return cmd_try_help(2);
		if (option == 'o')
			output = optarg;
		else if (option == 'v')
			virtual = true;
		else if (!strcmp(optarg, "appendix-c"))
			text = RVT_TANDEM_APPENDIX_C;
		else if (strcmp(optarg, "chapter-2"))
			return cmd_error(2, "--text: '%s' is neither chapter-2 nor appendix-c",
					 optarg);
	}
	elf = cmd_one_file(argc, argv, "an ELF file");
	return !elf ? 2 : convert(elf, output, virtual, text);
}
