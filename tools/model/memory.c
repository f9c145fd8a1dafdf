/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What sinks write to memory. With late-data=on it gets there later than their registers say: the
 * last LATE_WRITES of all sinks stay on their way until a hart that has read a register of the
 * trace hardware after them executes a fence that orders this read before reads of memory. So a
 * driver that looks at Empty or trRamWP, and reads memory without such a fence, sees what was there
 * before.
 */
#include <string.h>
#include "model.h"

#define LATE_WRITES 64
#define MAX_WRITE 64	/* bytes */

/* fence, with device input (I) before and reads of memory (R) behind */
#define FENCE_MATCH 0x0820000f
#define FENCE_MASK 0xf820707f

struct write {
	const struct component *from;
	uint64_t addr;
	uint32_t len;
	uint8_t bytes[MAX_WRITE];
};

static struct write late[LATE_WRITES];
/* Numbers of writes. Those from @landed to @issued are on their way. */
static uint64_t issued, landed;
/* What is before this number, the hart's next fence lets land. */
static uint64_t before[MODEL_MAX_HARTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void write_now(const struct component *c, uint64_t addr, const uint8_t *bytes, uint32_t len)
{
	memcpy(model.ram + (addr - model.args.ram_base), bytes, len);
	coherence_sink_wrote(c, addr, len);
}

static void land_up_to(uint64_t end)
{
	for (; landed < end; landed++) {
		const struct write *w = &late[landed % LATE_WRITES];

		write_now(w->from, w->addr, w->bytes, w->len);
	}
}

void memory_write(const struct component *c, uint64_t addr, const uint8_t *bytes, uint32_t len)
{
	struct write *w;

	if (!model.args.late_data) {
		write_now(c, addr, bytes, len);
		return;
	}
	pthread_mutex_lock(&lock);
	if (issued - landed == LATE_WRITES)
		land_up_to(landed + 1);
	w = &late[issued++ % LATE_WRITES];
	*w = (struct write){ .from = c, .addr = addr, .len = len };
	memcpy(w->bytes, bytes, len);
	pthread_mutex_unlock(&lock);
}

void memory_register_was_read(unsigned int vcpu)
{
	if (!model.args.late_data)
		return;
	pthread_mutex_lock(&lock);
	before[vcpu] = issued;
	pthread_mutex_unlock(&lock);
}

static void on_fence(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	pthread_mutex_lock(&lock);
	land_up_to(before[vcpu]);
	pthread_mutex_unlock(&lock);
}

void memory_instrument(struct qemu_plugin_insn *insn, uint32_t word)
{
	if (model.args.late_data && (word & FENCE_MASK) == FENCE_MATCH)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fence, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
}
