// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <rvtrace/ctr.h>
#include "../../../include/uapi/linux/rvtrace.h"

#define MAX_ENTRIES 256
#define VALID 1u
#define MISPREDICTED 1u
#define TYPE_MASK 0xfu
#define CCV (1u << 15)
#define CCM_SHIFT 16
#define CCM_BITS 12
#define CCM_MASK ((1u << CCM_BITS) - 1)
#define CCE_SHIFT 28
#define CCE_MASK 0xfu
/* Of struct perf_branch_entry, and of perf's tools since they know it: the branch was not taken. */
#define BRANCH_NOT_TAKEN_BIT 33
#define BRANCH_CYCLES_MAX 0xffffu

static const struct {
	const char *name;
	uint8_t perf;		/* PERF_BR_* */
} types[RVT_CTR_TYPES] = {
	[RVT_CTR_EXCEPTION] = { "exception", PERF_BR_UNKNOWN },
	[RVT_CTR_INTERRUPT] = { "interrupt", PERF_BR_IRQ },
	[RVT_CTR_TRAP_RETURN] = { "trap-return", PERF_BR_ERET },
	[RVT_CTR_NOT_TAKEN] = { "not-taken", PERF_BR_COND },
	[RVT_CTR_TAKEN] = { "taken", PERF_BR_COND },
	[RVT_CTR_IND_CALL] = { "indirect-call", PERF_BR_IND_CALL },
	[RVT_CTR_CALL] = { "call", PERF_BR_CALL },
	[RVT_CTR_IND_JUMP] = { "indirect-jump", PERF_BR_IND },
	[RVT_CTR_JUMP] = { "jump", PERF_BR_UNCOND },
	[RVT_CTR_SWAP] = { "swap", PERF_BR_IND },
	[RVT_CTR_RETURN] = { "return", PERF_BR_RET },
	[RVT_CTR_IND_OTHER] = { "other-indirect", PERF_BR_IND },
	[RVT_CTR_OTHER] = { "other-jump", PERF_BR_UNCOND },
};

const char *rvt_ctr_type_name(unsigned int type)
{
	return type < RVT_CTR_TYPES && types[type].name ? types[type].name : "unknown";
}

bool rvt_ctr_is_call(unsigned int type)
{
	return type == RVT_CTR_CALL || type == RVT_CTR_IND_CALL || type == RVT_CTR_SWAP;
}

bool rvt_ctr_cycles(uint64_t data, uint32_t *cycles)
{
	uint32_t mantissa = data >> CCM_SHIFT & CCM_MASK, exponent = data >> CCE_SHIFT & CCE_MASK;

	*cycles = 0;
	if (!(data & CCV))
		return false;
	*cycles = exponent ? ((1u << CCM_BITS) + mantissa) << (exponent - 1) : mantissa;
	return true;
}

uint64_t rvt_ctr_count(uint32_t cycles, unsigned int exponent_bits)
{
	uint32_t exponent = 0, largest = (1u << exponent_bits) - 1;

	if (cycles >> CCM_BITS) {
		exponent = 32 - (uint32_t)__builtin_clz(cycles) - CCM_BITS;
		if (exponent > largest)
			return CCV | (uint64_t)CCM_MASK << CCM_SHIFT |
			       (uint64_t)largest << CCE_SHIFT;
		cycles >>= exponent - 1;
	}
	return CCV | (uint64_t)(cycles & CCM_MASK) << CCM_SHIFT | (uint64_t)exponent << CCE_SHIFT;
}

static bool is_sound(const struct rvtrace_ctr_sample *head, size_t left)
{
	return head->magic == RVTRACE_CTR_MAGIC && head->version &&
		head->header_bytes >= sizeof(*head) && !(head->header_bytes & 7) &&
		head->entry_bytes >= sizeof(struct rvtrace_ctr_entry) && !(head->entry_bytes & 7) &&
		head->nr <= MAX_ENTRIES && head->bytes <= left &&
		head->bytes <= RVT_CTR_MAX_BYTES &&
		head->bytes == head->header_bytes + (uint32_t)head->nr * head->entry_bytes;
}

/* Is there an intact sample? */
static bool read_head(const uint8_t *bytes, size_t len, size_t pos, struct rvtrace_ctr_sample *head)
{
	if (len - pos < sizeof(*head))
		return false;
	memcpy(head, bytes + pos, sizeof(*head));
	return is_sound(head, len - pos);
}

int rvt_ctr_next(const void *bytes, size_t len, size_t *pos, struct rvt_ctr_sample *sample)
{
	struct rvtrace_ctr_sample head;

	if (*pos >= len)
		return 0;
	if (!read_head(bytes, len, *pos, &head)) {
		do
			*pos += 8;
		while (*pos < len && !read_head(bytes, len, *pos, &head));
		if (*pos > len)
			*pos = len;
		return -EBADMSG;
	}
	*sample = (struct rvt_ctr_sample){
		.time = head.time, .ip = head.ip, .period = head.period,
		.trigger_type = head.trigger_type, .trigger_config = head.trigger_config,
		.flags = head.flags, .control = head.control, .pid = (int32_t)head.pid,
		.tid = (int32_t)head.tid, .cpu = (int32_t)head.cpu, .privilege = head.privilege,
		.layout = head.layout, .depth = head.depth, .write_index = head.write_index,
		.skipped = head.skipped, .limit = head.limit, .n = head.nr,
		.entries = (const uint8_t *)bytes + *pos + head.header_bytes,
		.entry_bytes = head.entry_bytes,
	};
	*pos += head.bytes;
	return 1;
}

int rvt_ctr_get(const struct rvt_ctr_sample *sample, unsigned int n, struct rvt_ctr_entry *entry)
{
	struct rvtrace_ctr_entry raw;

	if (n >= sample->n)
		return -ERANGE;
	memcpy(&raw, sample->entries + n * sample->entry_bytes, sizeof(raw));
	entry->source = raw.source & ~(uint64_t)VALID;
	entry->target = raw.target & ~(uint64_t)MISPREDICTED;
	entry->mispredicted = raw.target & MISPREDICTED;
	entry->type = raw.data & TYPE_MASK;
	entry->cycles_valid = rvt_ctr_cycles(raw.data, &entry->cycles);
	return 0;
}

long rvt_ctr_put(const struct rvt_ctr_sample *sample, const struct rvt_ctr_entry *entries,
		 void *buffer, size_t room)
{
	struct rvtrace_ctr_sample head = {
		.magic = RVTRACE_CTR_MAGIC, .version = RVTRACE_CTR_VERSION,
		.header_bytes = sizeof(head), .entry_bytes = sizeof(struct rvtrace_ctr_entry),
		.nr = (uint16_t)sample->n, .time = sample->time, .ip = sample->ip,
		.period = sample->period, .trigger_config = sample->trigger_config,
		.trigger_type = sample->trigger_type, .flags = sample->flags,
		.control = sample->control, .pid = (uint32_t)sample->pid,
		.tid = (uint32_t)sample->tid, .cpu = (uint32_t)sample->cpu,
		.privilege = sample->privilege, .layout = sample->layout, .depth = sample->depth,
		.write_index = sample->write_index, .skipped = sample->skipped,
		.limit = sample->limit,
	};
	uint8_t *out = buffer;

	if (sample->n > MAX_ENTRIES)
		return -ERANGE;
	head.bytes = (uint32_t)(sizeof(head) + sample->n * sizeof(struct rvtrace_ctr_entry));
	if (head.bytes > room)
		return -ENOSPC;
	memcpy(out, &head, sizeof(head));
	out += sizeof(head);
	for (unsigned int i = 0; i < sample->n; i++, out += sizeof(struct rvtrace_ctr_entry)) {
		const struct rvt_ctr_entry *entry = &entries[i];
		const struct rvtrace_ctr_entry raw = {
			.source = entry->source | VALID,
			.target = entry->target | (entry->mispredicted ? MISPREDICTED : 0),
			.data = entry->type |
				(entry->cycles_valid ? rvt_ctr_count(entry->cycles, 4) : 0),
		};

		memcpy(out, &raw, sizeof(raw));
	}
	return (long)head.bytes;
}

void rvt_ctr_branch(const struct rvt_ctr_entry *entry, bool ecall, struct perf_branch_entry *branch)
{
	uint64_t at = entry->source ? entry->source : entry->target, not_taken;

	*branch = (struct perf_branch_entry){
		.from = entry->source, .to = entry->target,
		.mispred = entry->mispredicted, .predicted = !entry->mispredicted,
		.cycles = entry->cycles < BRANCH_CYCLES_MAX ? entry->cycles : BRANCH_CYCLES_MAX,
		.type = ecall && entry->type == RVT_CTR_EXCEPTION ? PERF_BR_SYSCALL :
			types[entry->type & TYPE_MASK].perf,
		.priv = (int64_t)at < 0 ? PERF_BR_PRIV_KERNEL : PERF_BR_PRIV_USER,
	};
	if (entry->type != RVT_CTR_NOT_TAKEN)
		return;
	/* <linux/perf_event.h> has no name for it yet; flags are the third word. */
	memcpy(&not_taken, (char *)branch + 2 * sizeof(uint64_t), sizeof(not_taken));
	not_taken |= 1ull << BRANCH_NOT_TAKEN_BIT;
	memcpy((char *)branch + 2 * sizeof(uint64_t), &not_taken, sizeof(not_taken));
}
