// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Writes records of the trace, and the page tables that it begins with. */
#include <errno.h>
#include <string.h>
#include "producer.h"

#define PTES 512u

int output_open(struct output *out, const char *path)
{
	out->failed = false;
	out->file = fopen(path, "wbe");
	if (!out->file)
		return -errno;
	setvbuf(out->file, NULL, _IOFBF, 1 << 20);
	return 0;
}

int output_close(struct output *out)
{
	if (fclose(out->file))
		out->failed = true;
	out->file = NULL;
	return out->failed ? -EIO : 0;
}

void put(struct output *out, const struct rvt_tandem_record *record)
{
	uint8_t bytes[RVT_TANDEM_MAX_RECORD];
	int n = rvt_tandem_encode(&out->params, record, bytes);

	if (n < 0 || fwrite(bytes, 1, n, out->file) != (size_t)n)
		out->failed = true;
}

void put_op(struct output *out, unsigned int op)
{
	put(out, &(struct rvt_tandem_record){ .op = op });
}

void put_state(struct output *out, unsigned int id, uint64_t value)
{
	put(out, &(struct rvt_tandem_record){
		.op = RVT_TANDEM_STATE, .state_id = id, .value = value,
	});
}

void put_register(struct output *out, unsigned int reg, uint64_t value)
{
	put(out, &(struct rvt_tandem_record){
		.op = RVT_TANDEM_REG_FULL, .reg = reg, .value = value,
	});
}

void put_store(struct output *out, uint64_t addr, unsigned int size, uint64_t value)
{
	put(out, &(struct rvt_tandem_record){
		.op = RVT_TANDEM_MEM_REQ, .mem_op = RVT_TANDEM_STORE, .mem_size = size,
		.addr = addr, .value = value,
	});
}

/* Writes one page of entries, and the pages to which entries of higher levels point. */
static void put_table(struct output *out, uint64_t addr, unsigned int level)
{
	uint64_t entries[PTES];
	GByteArray *bytes = g_byte_array_new();
	unsigned int i;

	if (qemu_plugin_read_memory_hwaddr(addr, bytes, sizeof(entries)))
		memset(entries, 0, sizeof(entries));
	else
		memcpy(entries, bytes->data, sizeof(entries));
	g_byte_array_free(bytes, 1);
	put_op(out, RVT_TANDEM_BEGIN_GROUP);
	put_op(out, RVT_TANDEM_STATE_INIT);
	for (i = 0; i < PTES; i++)
		put_store(out, addr + 8 * i, 3, entries[i]);
	put_op(out, RVT_TANDEM_END_GROUP);
	/* valid, and none of R, W, X: a pointer */
	for (i = 0; level && i < PTES; i++)
		if ((entries[i] & 0xf) == 1)
			put_table(out, (entries[i] >> 10 & 0xfffffffffff) << 12, level - 1);
}

void put_page_tables(struct output *out, uint64_t satp)
{
	unsigned int mode = satp >> 60;

	/* Sv39 has three levels, Sv48 four, Sv57 five */
	if (mode >= 8 && mode <= 10)
		put_table(out, (satp & 0xfffffffffff) << 12, mode - 6);
}
