// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * .eh_frame (Linux Standard Base Core 5.0, 10.6; its entries by libdw) and .gcc_except_table, the
 * language-specific data that GCC and LLVM write for C++ and others ("Itanium C++ ABI: Exception
 * Handling", 7.3; there is no other document).
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include "eh.h"
#include "table.h"
#include "util/array.h"

struct eh {
	struct eh_function *functions;	/* by .start */
	size_t n, room;
	uint8_t *tables;	/* .gcc_except_table */
	uint64_t tables_at;
	size_t tables_len;
};

/* Bytes, and where they are in memory. */
struct bytes {
	const uint8_t *at, *end;
	uint64_t vaddr;		/* of .at */
	bool bad;		/* they ended too early, or say what is not known here */
};

static uint64_t take(struct bytes *bytes, unsigned int n)
{
	uint64_t value = 0;

	if ((size_t)(bytes->end - bytes->at) < n) {
		bytes->bad = true;
		return 0;
	}
	for (unsigned int i = 0; i < n; i++)
		value |= (uint64_t)bytes->at[i] << 8 * i;
	bytes->at += n;
	bytes->vaddr += n;
	return value;
}

static uint64_t take_leb(struct bytes *bytes, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = take(bytes, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !bytes->bad);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= -1ULL << shift;
	return value;
}

/* A pointer in one of the encodings DW_EH_PE_*. */
static uint64_t take_pointer(struct bytes *bytes, uint8_t encoding)
{
	uint64_t base = (encoding & 0x70) == DW_EH_PE_pcrel ? bytes->vaddr : 0, value;

	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = take(bytes, 8);
		break;
	case DW_EH_PE_udata2:
		value = take(bytes, 2);
		break;
	case DW_EH_PE_udata4:
		value = take(bytes, 4);
		break;
	case DW_EH_PE_sdata2:
		value = (int16_t)take(bytes, 2);
		break;
	case DW_EH_PE_sdata4:
		value = (int32_t)take(bytes, 4);
		break;
	case DW_EH_PE_uleb128:
	case DW_EH_PE_sleb128:
		value = take_leb(bytes, (encoding & 0x0f) == DW_EH_PE_sleb128);
		break;
	default:
		bytes->bad = true;
		return 0;
	}
	/* the others need a base that is not used on RISC-V */
	bytes->bad |= encoding & 0x60 || encoding & DW_EH_PE_indirect;
	return value ? base + value : 0;
}

/* ---- .eh_frame ---- */

struct encodings {
	uint8_t pointer, lsda;
};

/* False: the augmentation is not known. */
static bool read_cie(const Dwarf_CIE *cie, struct encodings *encodings)
{
	struct bytes data = { .at = cie->augmentation_data,
			      .end = cie->augmentation_data + cie->augmentation_data_size };
	uint8_t personality;

	*encodings = (struct encodings){ DW_EH_PE_absptr, DW_EH_PE_omit };
	if (!*cie->augmentation)
		return true;
	if (*cie->augmentation != 'z')
		return false;
	for (const char *letter = cie->augmentation + 1; *letter; letter++) {
		switch (*letter) {
		case 'R':
			encodings->pointer = take(&data, 1);
			break;
		case 'L':
			encodings->lsda = take(&data, 1);
			break;
		case 'P':
			personality = take(&data, 1);
			take_pointer(&data, personality & 0x0f);
			break;
		case 'S':
		case 'B':
			break;
		default:
			return false;
		}
	}
	return !data.bad;
}

static void add_fde(struct eh *eh, const Dwarf_FDE *fde, const struct encodings *encodings,
		    const Elf_Data *section, uint64_t section_at)
{
	struct bytes data = { .at = fde->start, .end = fde->end,
			      .vaddr = section_at + (fde->start - (uint8_t *)section->d_buf) };
	struct eh_function function = { 0 };
	uint64_t len;

	function.start = take_pointer(&data, encodings->pointer);
	function.end = function.start + take_pointer(&data, encodings->pointer & 0x0f);
	len = take_leb(&data, false);
	function.lsda = len && !data.bad ? take_pointer(&data, encodings->lsda) : 0;
	if (data.bad || !function.start || function.end <= function.start ||
	    array_reserve(&eh->functions, &eh->room, eh->n, 1))
		return;
	eh->functions[eh->n++] = function;
}

static int compare_functions(const void *a, const void *b)
{
	const struct eh_function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void read_frames(struct eh *eh, Elf *elf, Elf_Data *section, uint64_t section_at)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	struct encodings encodings = { 0 };
	Dwarf_Off at = 0, next, cie_at = -1;
	bool usable = false;
	Dwarf_CFI_Entry entry;

	for (; dwarf_next_cfi(ident, section, true, at, &next, &entry) != 1; at = next) {
		if (next == at || next == (Dwarf_Off)-1)
			break;
		if (dwarf_cfi_cie_p(&entry)) {
			usable = read_cie(&entry.cie, &encodings);
			cie_at = at;
		} else if (entry.fde.CIE_pointer != cie_at) {
			Dwarf_Off behind;
			Dwarf_CFI_Entry cie;

			cie_at = entry.fde.CIE_pointer;
			usable = !dwarf_next_cfi(ident, section, true, cie_at, &behind, &cie) &&
				dwarf_cfi_cie_p(&cie) && read_cie(&cie.cie, &encodings);
		}
		if (!dwarf_cfi_cie_p(&entry) && usable)
			add_fde(eh, &entry.fde, &encodings, section, section_at);
	}
	qsort(eh->functions, eh->n, sizeof(*eh->functions), compare_functions);
}

struct eh *rvt_eh_read(Elf *elf)
{
	struct eh *eh = calloc(1, sizeof(*eh));
	GElf_Shdr shdr;
	Elf_Scn *scn = rvt_table_find_section(elf, SHT_PROGBITS, ".eh_frame", &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	if (!eh || !data || !data->d_buf) {
		free(eh);
		return NULL;
	}
	read_frames(eh, elf, data, shdr.sh_addr);
	scn = rvt_table_find_section(elf, SHT_PROGBITS, ".gcc_except_table", &shdr);
	data = scn ? elf_getdata(scn, NULL) : NULL;
	eh->tables = data && data->d_buf ? malloc(data->d_size) : NULL;
	if (eh->tables) {
		memcpy(eh->tables, data->d_buf, data->d_size);
		eh->tables_at = shdr.sh_addr;
		eh->tables_len = data->d_size;
	}
	return eh;
}

void rvt_eh_free(struct eh *eh)
{
	if (!eh)
		return;
	free(eh->functions);
	free(eh->tables);
	free(eh);
}

struct eh_function *rvt_eh_find(const struct eh *eh, uint64_t vaddr)
{
	struct eh_function *found = array_floor(eh->functions, eh->n, start, vaddr);

	return found && vaddr < found->end ? found : NULL;
}

/* ---- .gcc_except_table ---- */

/* The calls of a function of which the table tells where exceptions go on. */
struct call_sites {
	struct bytes bytes;
	uint8_t encoding;
	uint64_t function, pads_at;
};

struct call_site {
	uint64_t start, len;
	uint64_t pad;		/* 0: exceptions leave the function */
};

/* False: none are known of the function that has @vaddr. */
static bool begin_call_sites(const struct eh *eh, uint64_t vaddr, struct call_sites *sites)
{
	const struct eh_function *function = rvt_eh_find(eh, vaddr);
	struct bytes *bytes = &sites->bytes;
	uint64_t len;
	uint8_t encoding;

	if (!function || function->lsda < eh->tables_at ||
	    function->lsda - eh->tables_at >= eh->tables_len)
		return false;
	*bytes = (struct bytes){ .at = eh->tables + (function->lsda - eh->tables_at),
				 .end = eh->tables + eh->tables_len, .vaddr = function->lsda };
	encoding = take(bytes, 1);
	sites->function = function->start;
	sites->pads_at = encoding == DW_EH_PE_omit ? function->start :
		take_pointer(bytes, encoding);
	if (take(bytes, 1) != DW_EH_PE_omit)
		take_leb(bytes, false);
	sites->encoding = take(bytes, 1);
	len = take_leb(bytes, false);
	if (bytes->bad || len > (size_t)(bytes->end - bytes->at))
		return false;
	bytes->end = bytes->at + len;
	return true;
}

static bool next_call_site(struct call_sites *sites, struct call_site *site)
{
	struct bytes *bytes = &sites->bytes;

	if (bytes->at >= bytes->end)
		return false;
	site->start = sites->function + take_pointer(bytes, sites->encoding);
	site->len = take_pointer(bytes, sites->encoding);
	site->pad = take_pointer(bytes, sites->encoding);
	site->pad = site->pad ? sites->pads_at + site->pad : 0;
	take_leb(bytes, false);
	return !bytes->bad;
}

uint64_t rvt_eh_landing_pad(const struct eh *eh, uint64_t vaddr)
{
	struct call_sites sites;
	struct call_site site;

	if (!begin_call_sites(eh, vaddr, &sites))
		return 0;
	while (next_call_site(&sites, &site))
		if (vaddr >= site.start && vaddr - site.start < site.len)
			return site.pad;
	return 0;
}

bool rvt_eh_is_landing_pad(const struct eh *eh, uint64_t vaddr)
{
	struct call_sites sites;
	struct call_site site;

	if (!begin_call_sites(eh, vaddr, &sites))
		return false;
	while (next_call_site(&sites, &site))
		if (site.pad == vaddr)
			return true;
	return false;
}
