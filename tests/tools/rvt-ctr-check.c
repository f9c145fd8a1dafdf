// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-ctr-check - are the records of each sample what the specification makes of what was executed?
 *
 * usage: rvt-ctr-check [--draft] [--no-types] [--stacks] [--harts FILE] [--min SAMPLES]
 *	LOG-DIRECTORY RECORDING
 *
 * Reads what the model saw each hart execute (tools/model/ctr/log.h), classifies every instruction
 * with the library, keeps records by the specification on its own, and compares each sample with
 * them: the records at the moment of the interrupt that the sample was taken by, in order, by type,
 * source and target; its ip with that interrupt's epc; with the draft also whether it was
 * mispredicted (tools/model/ctr/draft.c says when). --no-types: the hart records none. --stacks:
 * samples have branch stacks (perf record -b), with types of perf and the sample's cpu. --harts:
 * line N names the hart of cpu N, 0 first; firmware starts Linux on any. Prints how many entries of
 * each type there were.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/ctr.h>
#include <rvtrace/insn.h>
#include <rvtrace/perfdata.h>
#include <rvtrace/session.h>
#include "../../tools/model/ctr/log.h"
#include "session/access.h"
#include "util/array.h"

#define HARTS 8
#define MAX_DEPTH 256
#define MAX_STACK 127
/* What is one word of a sample */
#define ONE_WORD (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
	PERF_SAMPLE_PERIOD)
#define SHOWN 5

/* Bits of the control register in 1.0; where the draft has others, from_draft() moves them. */
enum {
	U = 0, S = 1, RASEMU = 7, STE = 8, BPFRZ = 11, LCOFIFRZ = 12, EXCINH = 33, INTRINH = 34,
	TRETINH = 35, NTBREN = 36, TKBRINH = 37, JUMPS = 40,
};

struct record {
	uint64_t source, target;
	uint8_t type;
	bool valid, mispredicted;
};

struct sim {
	uint64_t control, raw_control;	/* in the layout of 1.0; as written */
	unsigned int depth, index, select;
	bool frozen;
	struct record array[MAX_DEPTH];	/* by physical index */
	/* at the last interrupt */
	uint64_t epc;
	struct record before[MAX_DEPTH];	/* youngest first */
	unsigned int n_before, own;	/* records since, with that of the interrupt */
	/* the youngest is the interrupt itself, leaving what is recorded */
	bool own_external;
};

struct sample {
	struct rvt_ctr_sample head;
	struct rvt_ctr_entry *entries;
};

static bool draft, no_types, stacks;
static unsigned int hart_of_cpu[HARTS];
static struct {
	struct sample *list;
	size_t n, next;
} samples[HARTS];
static uint64_t type_counts[RVT_CTR_TYPES];
static uint64_t matched, full, shown;

/* ---- records by the specification ---- */

static bool bit(const struct sim *sim, unsigned int n)
{
	return sim->control >> n & 1;
}

static bool enabled(const struct sim *sim, uint8_t prv)
{
	return (prv == 0 && bit(sim, U)) || (prv == 1 && bit(sim, S));
}

static void push(struct sim *sim, uint8_t type, uint64_t source, uint64_t target)
{
	sim->array[sim->index] = (struct record){ source, target, type, true, false };
	sim->index = (sim->index + 1) % sim->depth;
	sim->own++;
}

static void pop(struct sim *sim)
{
	sim->index = (sim->index + sim->depth - 1) % sim->depth;
	sim->array[sim->index].valid = false;
}

/*
 * Valid records, youngest first; the first invalid one ends them unless RAS emulation left holes.
 */
static unsigned int collect(const struct sim *sim, struct record *list)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < sim->depth; i++) {
		const struct record *r =
			&sim->array[(sim->index + 2 * sim->depth - 1 - i) % sim->depth];

		if (r->valid)
			list[n++] = *r;
		else if (!bit(sim, RASEMU))
			break;
	}
	return n;
}

static bool inhibited(const struct sim *sim, uint8_t type)
{
	switch (type) {
	case RVT_CTR_EXCEPTION: return bit(sim, EXCINH);
	case RVT_CTR_INTERRUPT: return bit(sim, INTRINH);
	case RVT_CTR_TRAP_RETURN: return bit(sim, TRETINH);
	case RVT_CTR_NOT_TAKEN: return !bit(sim, NTBREN);
	case RVT_CTR_TAKEN: return bit(sim, TKBRINH);
	default: return bit(sim, JUMPS + type - RVT_CTR_IND_CALL);
	}
}

static uint8_t type_of(const struct ctr_log *log, bool *mispredicted)
{
	static const uint8_t types[RVT_INSN_CLASSES] = {
		[RVT_INSN_BRANCH] = RVT_CTR_TAKEN, [RVT_INSN_CALL] = RVT_CTR_CALL,
		[RVT_INSN_JUMP] = RVT_CTR_JUMP, [RVT_INSN_JUMP_LINKED] = RVT_CTR_OTHER,
		[RVT_INSN_IND_CALL] = RVT_CTR_IND_CALL, [RVT_INSN_IND_JUMP] = RVT_CTR_IND_JUMP,
		[RVT_INSN_IND_JUMP_LINKED] = RVT_CTR_IND_OTHER, [RVT_INSN_COROUTINE] = RVT_CTR_SWAP,
		[RVT_INSN_RETURN] = RVT_CTR_RETURN, [RVT_INSN_TRAP_RETURN] = RVT_CTR_TRAP_RETURN,
	};
	struct rvt_insn insn;

	if (rvt_insn_decode((const uint8_t *)&log->insn, sizeof(log->insn), 0, &insn))
		return RVT_CTR_UNKNOWN;
	if (insn.iclass == RVT_INSN_BRANCH && log->next == log->pc + insn.len_bytes &&
	    insn.offset != insn.len_bytes) {
		*mispredicted = insn.offset < 0;
		return RVT_CTR_NOT_TAKEN;
	}
	*mispredicted = insn.iclass == RVT_INSN_BRANCH && insn.offset > 0;
	return types[insn.iclass];
}

static void transfer(struct sim *sim, const struct ctr_log *log)
{
	bool mispredicted = false;
	uint8_t type = type_of(log, &mispredicted);
	unsigned int index = sim->index;

	if (!type || sim->frozen || !enabled(sim, log->prv))
		return;
	if (!bit(sim, RASEMU)) {
		if (!inhibited(sim, type)) {
			push(sim, type, log->pc, enabled(sim, log->to_prv) ? log->next : 0);
			sim->array[index].mispredicted = draft && mispredicted;
		}
		return;
	}
	if (type == RVT_CTR_RETURN || type == RVT_CTR_SWAP)
		pop(sim);
	if (rvt_ctr_is_call(type))
		push(sim, type, log->pc, log->next);
}

static void trap(struct sim *sim, const struct ctr_log *log)
{
	bool interrupt = log->kind == CTR_LOG_INTERRUPT;
	uint8_t type = interrupt ? RVT_CTR_INTERRUPT : RVT_CTR_EXCEPTION;
	unsigned int cause = log->insn & 0xff;

	if (interrupt && log->to_prv == 1) {
		sim->epc = log->pc;
		sim->n_before = collect(sim, sim->before);
		sim->own = 0;
		sim->own_external = false;
	}
	if ((interrupt && cause == 13 && bit(sim, LCOFIFRZ)) ||
	    (!interrupt && cause == 3 && bit(sim, BPFRZ))) {
		sim->frozen = true;
		return;
	}
	if (sim->frozen || bit(sim, RASEMU))
		return;
	if (enabled(sim, log->to_prv)) {
		if (!inhibited(sim, type))
			push(sim, type, enabled(sim, log->prv) ? log->pc : 0, log->next);
	} else if (enabled(sim, log->prv) && log->to_prv == 1 && bit(sim, STE)) {
		push(sim, type, log->pc, 0);
		sim->own_external = interrupt;
	}
}

/* ---- registers ---- */

static uint64_t from_draft(uint64_t raw)
{
	uint64_t control = raw & 0xff3e00001800ull;

	control |= (raw >> 2 & 1) << U | (raw >> 1 & 1) << S | (raw >> 10 & 1) << RASEMU;
	if (raw >> 9 & raw >> 38 & 1)
		control |= 1ull << STE;
	return control;
}

static void clear(struct sim *sim)
{
	memset(sim->array, 0, sizeof(sim->array));
	sim->index = 0;
}

static uint64_t operate(const struct ctr_log *log, uint64_t old)
{
	unsigned int funct3 = log->insn >> 12 & 3;

	return funct3 == 1 ? log->next : funct3 == 2 ? old | log->next : old & ~log->next;
}

static void write_csr(struct sim *sim, const struct ctr_log *log)
{
	uint64_t frozen = draft ? 1ull << 15 : 1ull << 31;

	switch (log->insn >> 20) {
	case 0x14e:
		sim->control = operate(log, sim->control);
		break;
	case 0x181:
		sim->raw_control = operate(log, sim->raw_control);
		sim->control = from_draft(sim->raw_control);
		sim->depth = 16 * ((sim->raw_control >> 16 & 15) + 1);
		if (sim->raw_control >> 7 & 1) {
			clear(sim);
			sim->frozen = false;
			sim->raw_control &= ~(1ull << 7);
		}
		break;
	case 0x14f: case 0x183:
		if ((log->insn >> 12 & 3) == 1)
			sim->index = (log->next & 255) % sim->depth;
		sim->frozen = operate(log, sim->frozen ? frozen : 0) & frozen;
		break;
	case 0x15f:
		sim->depth = 16u << (log->next & 7);
		sim->index %= sim->depth;
		break;
	}
}

/* @field: 1 source, 2 target, 3 data of the entry that siselect names. */
static void write_entry(struct sim *sim, unsigned int field, uint64_t value)
{
	unsigned int n = sim->select - 0x200;
	struct record *r;

	if (n >= sim->depth)
		return;
	r = &sim->array[(sim->index + 2 * sim->depth - 1 - n) % sim->depth];
	if (field == 1) {
		r->source = value & ~1ull;
		r->valid = value & 1;
	} else if (field == 2) {
		r->target = value & ~1ull;
		r->mispredicted = value & 1;
	} else {
		r->type = no_types ? 0 : value & 15;
	}
}

static void access_entry(struct sim *sim, const struct ctr_log *log)
{
	unsigned int csr = log->insn >> 20;

	if ((log->insn >> 12 & 3) != 1)
		return;		/* csrr */
	if (csr == 0x150)
		sim->select = log->next;
	else
		write_entry(sim, csr - 0x150, log->next);
}

/* ---- comparison ---- */

/* The driver has interrupts recorded to find its own entries, and leaves them out by itself. */
static unsigned int leave_out_interrupts(struct record *list, unsigned int n)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++)
		if (list[i].type != RVT_CTR_INTERRUPT)
			list[kept++] = list[i];
	return kept;
}

/* As perf has it, for the kernel tells no more of it. */
static uint8_t perf_type(uint8_t type)
{
	static const uint8_t types[RVT_CTR_TYPES] = {
		[RVT_CTR_EXCEPTION] = PERF_BR_SYSCALL, [RVT_CTR_INTERRUPT] = PERF_BR_IRQ,
		[RVT_CTR_TRAP_RETURN] = PERF_BR_ERET, [RVT_CTR_TAKEN] = PERF_BR_COND,
		[RVT_CTR_IND_CALL] = PERF_BR_IND_CALL, [RVT_CTR_CALL] = PERF_BR_CALL,
		[RVT_CTR_IND_JUMP] = PERF_BR_IND, [RVT_CTR_JUMP] = PERF_BR_UNCOND,
		[RVT_CTR_SWAP] = PERF_BR_IND, [RVT_CTR_RETURN] = PERF_BR_RET,
		[RVT_CTR_IND_OTHER] = PERF_BR_IND, [RVT_CTR_OTHER] = PERF_BR_UNCOND,
	};

	return types[type];
}

static const char *type_name(uint8_t type)
{
	static const char * const names[RVT_CTR_TYPES] = {
		[PERF_BR_COND] = "COND", [PERF_BR_UNCOND] = "UNCOND", [PERF_BR_IND] = "IND",
		[PERF_BR_CALL] = "CALL", [PERF_BR_IND_CALL] = "IND_CALL", [PERF_BR_RET] = "RET",
		[PERF_BR_SYSCALL] = "SYSCALL", [PERF_BR_ERET] = "ERET", [PERF_BR_IRQ] = "IRQ",
	};

	if (!stacks)
		return rvt_ctr_type_name(type);
	return names[type] ? names[type] : "unknown";
}

static bool same_type(uint8_t sampled, uint8_t type)
{
	return sampled == (no_types ? 0 : stacks ? perf_type(type) : type);
}

static bool same_entries(const struct sample *sample, const struct record *list, unsigned int n)
{
	for (unsigned int i = 0; i < sample->head.n; i++) {
		const struct rvt_ctr_entry *entry = &sample->entries[i];

		if (i >= n || !same_type(entry->type, list[i].type) ||
		    entry->mispredicted != list[i].mispredicted ||
		    entry->source != list[i].source || entry->target != list[i].target)
			return false;
	}
	return true;
}

/* The records when the handler read them: those before the interrupt, and what came with it. */
static const char *compare(const struct sim *sim, const struct sample *sample)
{
	const struct rvt_ctr_sample *head = &sample->head;
	bool strip = bit(sim, S) && !bit(sim, LCOFIFRZ);
	struct record now[MAX_DEPTH], before[MAX_DEPTH];
	unsigned int n = collect(sim, now), n_before = sim->n_before, expected;

	memcpy(before, sim->before, sizeof(before));
	if (head->skipped <= n && head->control >> INTRINH & 1) {
		n = head->skipped + leave_out_interrupts(now + head->skipped, n - head->skipped);
		n_before = leave_out_interrupts(before, n_before);
	}
	if (head->ip != sim->epc)
		return "the ip is not that of the interrupt";
	if (head->depth != sim->depth && !stacks)
		return "the depth is another one";
	if (head->skipped > n || !same_entries(sample, now + head->skipped, n - head->skipped))
		return "the entries are not those of the hart";
	expected = n - head->skipped;
	if (head->n != (expected < head->limit ? expected : head->limit))
		return "entries are missing";
	if (head->flags & 2)
		return head->n ? "displaced, and yet there are entries" : NULL;
	if (sim->own_external)
		return head->n && !sample->entries[0].target &&
		       sample->entries[0].source == sim->epc ? NULL :
		       "the interrupt itself is not the first entry";
	if (!same_entries(sample, before, n_before))
		return "the entries are not those before the interrupt";
	if (strip && !bit(sim, RASEMU) && head->skipped != sim->own)
		return "the handler's own entries were not left out exactly";
	return NULL;
}

static void show(const struct sim *sim, const struct sample *sample, const char *why)
{
	struct record now[MAX_DEPTH];
	unsigned int n = collect(sim, now);

	if (shown++ >= SHOWN)
		return;
	printf("sample at %" PRIu64 ": %s\n"
	       "  ip %" PRIx64 " epc %" PRIx64 " depth %u/%u own %u skipped %u\n",
	       sample->head.time, why, sample->head.ip, sim->epc, sample->head.depth, sim->depth,
	       sim->own, sample->head.skipped);
	for (unsigned int i = 0; i < 12; i++) {
		const struct rvt_ctr_entry *entry = i < sample->head.n ? &sample->entries[i] : NULL;

		if (entry)
			printf("  %2u %-14s %" PRIx64 " %" PRIx64, i,
			       rvt_ctr_type_name(entry->type), entry->source, entry->target);
		if (i < n)
			printf("   hart %-14s %" PRIx64 " %" PRIx64, rvt_ctr_type_name(now[i].type),
			       now[i].source, now[i].target);
		if (i < sim->n_before)
			printf("   before %-14s %" PRIx64 " %" PRIx64,
			       rvt_ctr_type_name(sim->before[i].type),
			       sim->before[i].source, sim->before[i].target);
		putchar('\n');
	}
}

/* The handler begins to read: that is the next sample, or one that was not handed over. */
static void look(struct sim *sim, unsigned int cpu, const char **why)
{
	struct sample *sample = &samples[cpu].list[samples[cpu].next];

	if (samples[cpu].next == samples[cpu].n)
		return;
	*why = compare(sim, sample);
	if (*why) {
		if (sample->head.ip == sim->epc)
			show(sim, sample, *why);
		return;
	}
	samples[cpu].next++;
	matched++;
	full += sample->head.n == sample->head.limit;
	for (unsigned int i = 0; i < sample->head.n; i++)
		type_counts[sample->entries[i].type]++;
}

static int check_hart(const char *dir, unsigned int cpu)
{
	static struct ctr_log buffer[4096];
	struct sim *sim = calloc(1, sizeof(*sim));
	const char *why = "it was never read on this cpu";
	char path[4096];
	size_t n;
	FILE *in;

	snprintf(path, sizeof(path), "%s/ctr.%u", dir, hart_of_cpu[cpu]);
	in = fopen(path, "r");
	if (!in || !sim) {
		free(sim);
		if (!samples[cpu].n)
			return 0;
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -ENOENT;
	}
	sim->depth = 16;
	while ((n = fread(buffer, sizeof(*buffer), sizeof(buffer) / sizeof(*buffer), in))) {
		for (size_t i = 0; i < n; i++) {
			const struct ctr_log *log = &buffer[i];

			if (log->kind == CTR_LOG_INSN)
				transfer(sim, log);
			else if (log->kind == CTR_LOG_INTERRUPT || log->kind == CTR_LOG_EXCEPTION)
				trap(sim, log);
			else if (log->kind == CTR_LOG_CLEAR)
				clear(sim);
			else if (log->insn >> 20 >= 0x150 && log->insn >> 20 <= 0x153)
				access_entry(sim, log);
			else
				write_csr(sim, log);
			if (log->kind == CTR_LOG_CSR && log->insn >> 20 == 0x150 &&
			    log->next == 0x200 && sim->frozen)
				look(sim, cpu, &why);
		}
	}
	fclose(in);
	free(sim);
	if (samples[cpu].next < samples[cpu].n)
		printf("cpu %u: sample %zu of %zu and those after it match nothing: %s\n", cpu,
		       samples[cpu].next + 1, samples[cpu].n, why);
	return samples[cpu].next < samples[cpu].n ? -EBADMSG : 0;
}

/* ---- the recording ---- */

static int keep_sample(void *ctx, const struct rvt_ctr_sample *sample, const struct rvt_task *task)
{
	struct sample *kept;

	(void)ctx;
	(void)task;
	if (sample->cpu < 0 || sample->cpu >= HARTS)
		return -EBADMSG;
	if (array_grow(&samples[sample->cpu].list, samples[sample->cpu].n))
		return -ENOMEM;
	kept = &samples[sample->cpu].list[samples[sample->cpu].n++];
	kept->head = *sample;
	kept->entries = calloc(sample->n + 1, sizeof(*kept->entries));
	for (unsigned int i = 0; kept->entries && i < sample->n; i++)
		rvt_ctr_get(sample, i, &kept->entries[i]);
	return kept->entries ? 0 : -ENOMEM;
}

static int read_recording(const char *path)
{
	const struct rvt_session_options options = { .size = sizeof(options) };
	const struct rvt_session_ctr_sink sink = { .size = sizeof(sink), .sample = keep_sample };
	struct rvt_session *session;
	char *error;
	int err = rvt_session_open(path, &options, &session, &error);

	if (err) {
		fprintf(stderr, "%s\n", error ? error : "out of memory");
		return err;
	}
	err = rvt_session_is_ctr(session) ? rvt_session_run_ctr(session, &sink) : -EINVAL;
	rvt_session_close(session);
	return err;
}

/*
 * Of a sample with a branch stack and nothing of no fixed size before it. The kernel cuts stacks to
 * kernel.perf_event_max_stack entries where the event does not say how many.
 */
static int keep_stack(const struct rvt_perfdata_record *record)
{
	const struct perf_event_attr *attr = &record->event->attr;
	const uint64_t *words = (const uint64_t *)(record->header + 1);
	size_t n = record->body_len / sizeof(*words), at = 0;
	struct sample *kept;
	uint64_t entries, ip;

	if (!record->cpu_valid || record->cpu < 0 || record->cpu >= HARTS ||
	    attr->sample_type & (PERF_SAMPLE_READ | PERF_SAMPLE_RAW))
		return -EBADMSG;
	at = __builtin_popcountll(attr->sample_type & ONE_WORD);
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN && at < n)
		at += 1 + (words[at] < n ? words[at] : n);
	if (at >= n)
		return -EBADMSG;
	entries = words[at++];
	at += !!(attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX);
	if (entries > MAX_DEPTH || at + 3 * entries > n)
		return -EBADMSG;
	ip = words[!!(attr->sample_type & PERF_SAMPLE_IDENTIFIER)];
	kept = samples[record->cpu].list + samples[record->cpu].n;
	/* perf record sometimes writes twice what it has read from a cpu's buffer. */
	if (samples[record->cpu].n && kept[-1].head.time >= record->time)
		return 0;
	if (array_grow(&samples[record->cpu].list, samples[record->cpu].n))
		return -ENOMEM;
	kept = &samples[record->cpu].list[samples[record->cpu].n++];
	kept->head = (struct rvt_ctr_sample){
		.ip = ip,
		.time = record->time, .n = entries,
		.limit = attr->sample_max_stack ? attr->sample_max_stack : MAX_STACK };
	kept->entries = calloc(entries + 1, sizeof(*kept->entries));
	for (uint64_t i = 0; kept->entries && i < entries; i++, at += 3) {
		const struct perf_branch_entry *branch = (const void *)&words[at];

		kept->entries[i] = (struct rvt_ctr_entry){ .source = branch->from,
			.target = branch->to, .type = branch->type,
			.mispredicted = branch->mispred };
	}
	return kept->entries ? 0 : -ENOMEM;
}

static int read_stacks(const char *path)
{
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	uint64_t pos = 0;
	char *error;
	int err = rvt_perfdata_open(path, &file, &error);

	if (err) {
		fprintf(stderr, "%s\n", error ? error : "out of memory");
		return err;
	}
	while (!err && rvt_perfdata_next(file, &pos, &record) > 0)
		if (record.type == PERF_RECORD_SAMPLE && record.event &&
		    record.event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			err = keep_stack(&record);
	rvt_perfdata_close(file);
	return err;
}

static int read_harts(const char *path)
{
	FILE *in = fopen(path, "r");
	unsigned int cpu = 0;

	if (!in)
		return fprintf(stderr, "%s: %s\n", path, strerror(errno)), -ENOENT;
	while (cpu < HARTS && fscanf(in, "%u", &hart_of_cpu[cpu]) == 1)
		cpu++;
	fclose(in);
	return cpu ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "draft", no_argument, NULL, 'd' }, { "no-types", no_argument, NULL, 't' },
		{ "harts", required_argument, NULL, 'h' }, { "min", required_argument, NULL, 'm' },
		{ "stacks", no_argument, NULL, 's' }, { 0 } };
	uint64_t min = 1;
	int c, err = 0;

	for (unsigned int cpu = 0; cpu < HARTS; cpu++)
		hart_of_cpu[cpu] = cpu;
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		if (c == 'd')
			draft = true;
		else if (c == 't')
			no_types = true;
		else if (c == 's')
			stacks = true;
		else if (c == 'h' && read_harts(optarg))
			return 2;
		else if (c == 'h')
			continue;
		else if (c == 'm')
			min = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (argc - optind != 2 ||
	    (stacks ? read_stacks : read_recording)(argv[optind + 1]))
		return 2;
	for (unsigned int cpu = 0; cpu < HARTS; cpu++)
		if (check_hart(argv[optind], cpu))
			err = 1;
	printf("samples %" PRIu64 " full %" PRIu64 "\n", matched, full);
	for (unsigned int type = 0; type < RVT_CTR_TYPES; type++)
		if (type_counts[type])
			printf("type %s %" PRIu64 "\n", type_name(type), type_counts[type]);
	if (matched < min)
		printf("only %" PRIu64 " samples, of at least %" PRIu64 "\n", matched, min);
	return err || matched < min;
}
