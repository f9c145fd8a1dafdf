// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-grow: recordings for tests of how time and memory grow. `rvt-grow KIND N OUT` writes a
 * recording with about N of what KIND says, and else little; `rvt-grow` alone lists kinds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/ctr.h>
#include "../unit/session-fixture.h"

#define PID 10
#define MANY_PIDS 1000		/* the first of many processes */
#define FIRST_ID 100
#define PAGE 4096
#define SAMPLED 512		/* bytes of trace in a sample */
#define IDLE 0xff		/* a byte of N-Trace without a message */

#define META "rvtrace 1\npmu_type = 77\ntarget = system\n"
#define ENCODER "\n[encoder %zu]\ncpu = %zu\nsrc = 0\nprotocol = ntrace\nmode = htm\nsrc_bits = 0\n"

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "rvt-grow: %s\n", strerror(-err));
	exit(2);
}

static const char *out_name;

/* The file OUT.@suffix, empty. */
static FILE *create(const char *suffix)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s.%s", out_name, suffix);
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		exit(2);
	}
	return out;
}

/* ---- recordings without flow ---- */

static const struct perf_event_attr attr = {
	.type = PMU_TYPE, .sample_id_all = 1, .sample_type = SAMPLE_TYPE,
};

static void begin(struct fixture *f, const char *meta)
{
	check(rvt_perfdata_begin(f->writer, meta));
}

static void add_trace_event(struct fixture *f)
{
	const uint64_t id = TRACE_ID;

	check(rvt_perfdata_add_event(f->writer, &attr, "rvtrace//", &id, 1));
}

/* Metadata with @n encoders. */
static void begin_encoders(struct fixture *f, size_t n)
{
	char *meta = malloc(strlen(META) + n * 200), *at = meta + sprintf(meta, "%s", META);

	for (size_t i = 0; i < n; i++)
		at += sprintf(at, ENCODER, i, i);
	begin(f, meta);
	free(meta);
}

/* @len bytes of trace of a cpu's buffer. @packed: of .unpacked bytes. */
static void put_chunk(struct fixture *f, int cpu, uint64_t offset, const void *bytes, size_t len,
		      uint32_t unpacked)
{
	const struct rvt_record_auxtrace chunk = {
		.header = { RVT_RECORD_AUXTRACE, 0, sizeof(chunk) }, .size = len,
		.offset = offset, .idx = cpu, .tid = -1, .cpu = cpu, .unpacked = unpacked };

	check(rvt_perfdata_write(f->writer, &chunk, sizeof(chunk)));
	check(rvt_perfdata_write(f->writer, bytes, len));
}

static void put_aux_record(struct fixture *f, int cpu, uint64_t offset, uint64_t len,
			   uint64_t flags)
{
	struct {
		struct perf_event_header header;
		uint64_t offset, size, flags;
	} aux = { { PERF_RECORD_AUX, 0, 0 }, offset, len, flags };
	const struct trailer trailer = { PID, PID, 1000 + offset, cpu, 0, TRACE_ID };

	put_record(f, &aux.header, sizeof(aux), NULL, &trailer);
}

static void put_idle(struct fixture *f, int cpu, uint64_t offset, size_t len)
{
	static uint8_t idle[PAGE];

	memset(idle, IDLE, sizeof(idle));
	for (size_t done = 0, n; done < len; done += n) {
		n = len - done < sizeof(idle) ? len - done : sizeof(idle);
		put_aux_record(f, cpu, offset + done, n, 0);
		put_chunk(f, cpu, offset + done, idle, n, 0);
	}
}

static void attrs(struct fixture *f, size_t n)
{
	add_trace_event(f);
	for (uint64_t i = 0, id; i < n; i++) {
		id = FIRST_ID + i;
		check(rvt_perfdata_add_event(f->writer, &attr, "dummy:u", &id, 1));
	}
	begin_encoders(f, 1);
	put_idle(f, 0, 0, 64);
}

static void ids(struct fixture *f, size_t n)
{
	uint64_t *all = malloc(n * sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = FIRST_ID + i * 7919 % n;
	add_trace_event(f);
	check(rvt_perfdata_add_event(f->writer, &attr, "dummy:u", all, n));
	free(all);
	begin_encoders(f, 1);
	put_idle(f, 0, 0, 64);
}

static void buffers(struct fixture *f, size_t n)
{
	add_trace_event(f);
	begin_encoders(f, 1);
	for (size_t i = 0; i < n; i++)
		put_idle(f, i, 0, 8);
}

static void encoders(struct fixture *f, size_t n)
{
	add_trace_event(f);
	begin_encoders(f, n);
	for (size_t i = 0; i < n; i++)
		put_idle(f, i, 0, 8);
}

static void aux_records(struct fixture *f, size_t n)
{
	add_trace_event(f);
	begin_encoders(f, 1);
	for (size_t i = 0; i < n; i++)
		put_idle(f, 0, 8 * i, 8);
}

/* Records that say where they end, over chunks of which most are gone. */
static void overwritten(struct fixture *f, size_t n)
{
	const uint64_t idle = UINT64_MAX;

	add_trace_event(f);
	begin_encoders(f, 1);
	for (size_t i = 1; i <= n; i++) {
		put_aux_record(f, 0, 8 * i, 16, PERF_AUX_FLAG_OVERWRITE);
		put_chunk(f, 0, 8 * (i - 1), &idle, 8, 0);
	}
}

static void idle(struct fixture *f, size_t n)
{
	add_trace_event(f);
	begin_encoders(f, 1);
	put_idle(f, 0, 0, 256 * n);
}

/* CoreSight frames of many ids, of which one in 16 has one that no source may have. */
static void frames(struct fixture *f, size_t n)
{
	static const char meta[] = META "\n[encoder 0]\ncpu = 0\nsrc = 0\nprotocol = ntrace\n"
		"mode = htm\nframing = coresight\n";
	uint8_t bytes[16 * 16];

	add_trace_event(f);
	begin(f, meta);
	for (size_t i = 0; i < n; i++) {
		memset(bytes, 0, sizeof(bytes));
		for (unsigned int k = 0; k < 16; k++)
			bytes[16 * k] = (1 + (16 * i + k) % 100) << 1 | 1;
		bytes[2] = 0xe1;
		put_aux_record(f, 0, i * sizeof(bytes), sizeof(bytes), 0);
		put_chunk(f, 0, i * sizeof(bytes), bytes, sizeof(bytes), 0);
	}
}

static void zstd(struct fixture *f, size_t n)
{
	size_t room = 0, len;
	uint8_t bytes[PAGE];
	void *blob = NULL;

	add_trace_event(f);
	begin_encoders(f, 1);
	memset(bytes, IDLE, sizeof(bytes));
	for (size_t i = 0; i < n; i++) {
		check(rvt_aux_pack(bytes, sizeof(bytes), 1, &blob, &room, &len));
		put_aux_record(f, 0, i * sizeof(bytes), sizeof(bytes), 0);
		put_chunk(f, 0, i * sizeof(bytes), blob, len, sizeof(bytes));
	}
	free(blob);
}

/* Ids of hardware, of events that the file does not have. */
static void named(struct fixture *f, size_t n)
{
	add_trace_event(f);
	begin_encoders(f, 1);
	for (size_t i = 0; i < n; i++) {
		struct {
			struct perf_event_header header;
			uint64_t hw_id;
		} head = { { PERF_RECORD_AUX_OUTPUT_HW_ID, 0, 0 }, i };
		const struct trailer trailer = { PID, PID, 1, 0, 0, FIRST_ID + i };

		put_record(f, &head.header, sizeof(head), NULL, &trailer);
	}
	put_idle(f, 0, 0, 64);
}

static void damage(struct fixture *f, size_t n)
{
	static const uint8_t none[32];

	add_trace_event(f);
	begin_encoders(f, 1);
	for (size_t i = 0; i < n; i++) {
		put_idle(f, 0, 8 * i, 8);
		check(rvt_perfdata_write(f->writer, none, sizeof(none)));
	}
}

static void ctr(struct fixture *f, size_t n)
{
	const struct rvt_ctr_entry entry = { .source = 16, .target = 32, .type = RVT_CTR_JUMP };
	uint8_t bytes[256];

	add_trace_event(f);
	begin(f, META "event = riscv_ctr//u\n\n[ctr]\n");
	for (size_t i = 0, offset = 0; i < n; i++) {
		const struct rvt_ctr_sample sample = { .time = 1000 + i, .pid = PID, .tid = PID,
						       .depth = 16, .n = 1 };
		long len = rvt_ctr_put(&sample, &entry, bytes, sizeof(bytes));

		put_chunk(f, 0, offset, bytes, len, 0);
		offset += len;
	}
}

/* OUT.kallsyms, for --kallsyms */
static void kallsyms(struct fixture *f, size_t n)
{
	FILE *out = create("kallsyms");

	add_trace_event(f);
	begin_encoders(f, 1);
	put_idle(f, 0, 0, 64);
	/* half of them at one address each with the next, none in order */
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%016zx t function_%zu\n",
			0xffffffff80000000 + i / 2 * 7919 % n * 16, i);
	fclose(out);
}

/* ---- sideband of programs that run ---- */

static void put_fork(struct fixture *f, int32_t parent, int32_t pid, uint64_t time)
{
	struct {
		struct perf_event_header header;
		int32_t pid, ppid, tid, ptid;
		uint64_t time;
	} head = { { PERF_RECORD_FORK, 0, 0 }, pid, parent, pid, parent, time };
	const struct trailer trailer = { pid, pid, time, 0, 0, SIDE_ID };

	put_record(f, &head.header, sizeof(head), NULL, &trailer);
}

static void put_mapping(struct fixture *f, int32_t pid, uint64_t addr, const char *path,
			uint64_t time)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
		uint64_t addr, len, pgoff, inode[3];
		uint32_t prot, flags;
	} head = { { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0 }, pid, pid, addr, PAGE, PAGE,
		   { 0 }, PROT_READ | PROT_EXEC, MAP_PRIVATE };
	const struct trailer trailer = { pid, pid, time, 0, 0, SIDE_ID };

	put_record(f, &head.header, sizeof(head), path, &trailer);
}

/* A program runs when all of it has happened, so that all of it is looked at. */
static void run(struct fixture *f)
{
	put_comm(f, PID, f->ticks * TICK_NS, true, "prog");
	put_mmap(f, PID, f->ticks * TICK_NS + 1, f->programs[0]);
	f->ticks += 10;
	run_steps(f, 0, PID, 0, 1000);
	f->ticks += 1000;
	put_aux(f, 0, PID, 0);
}

/* One process with n mappings has n children, each of which maps something. */
static void forks(struct fixture *f, size_t n)
{
	uint64_t time = f->ticks * TICK_NS - 3 * n;

	for (size_t i = 0; i < n; i++)
		put_mapping(f, MANY_PIDS - 1, 2 * PAGE * (i + 1), "//anon", time++);
	for (size_t i = 0; i < n; i++) {
		put_fork(f, MANY_PIDS - 1, MANY_PIDS + i, time++);
		put_mapping(f, MANY_PIDS + i, 2 * PAGE * (i + 1) + PAGE, "//anon", time++);
	}
	run(f);
}

/* Files that are not there, with build ids. */
static void mappings(struct fixture *f, size_t n)
{
	static const uint8_t id[20] = "a build id";
	uint64_t time = f->ticks * TICK_NS - n;
	char path[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/nonexistent/%zu", i);
		put_mapping(f, MANY_PIDS + i % 7, PAGE * (i * 7919 % n + 1), path, time++);
		check(rvt_perfdata_add_build_id(f->writer, path, id, sizeof(id),
						PERF_RECORD_MISC_USER));
	}
	run(f);
}

static void threads(struct fixture *f, size_t n)
{
	uint64_t time = f->ticks * TICK_NS - n;
	char name[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "thread-%zu", i);
		put_comm(f, MANY_PIDS + i, time++, false, name);
	}
	run(f);
}

/* Trace in many pieces, each of another task, among many switches. */
static void switches(struct fixture *f, size_t n)
{
	put_comm(f, PID, f->ticks * TICK_NS, true, "prog");
	put_mmap(f, PID, f->ticks * TICK_NS + 1, f->programs[0]);
	f->ticks += 10;
	for (size_t i = 0; i < n; i++) {
		put_switch(f, 0, MANY_PIDS + i, f->ticks * TICK_NS);
		f->ticks++;
		put_switch(f, 0, PID, f->ticks * TICK_NS);
		f->ticks++;
		if (i % 10)
			continue;
		run_steps(f, 0, PID, 0, 20);
		f->ticks++;
		put_aux(f, 0, PID, 0);
	}
}

/* Samples with the end of the trace so far, of which the one before has a part, too. */
static void aux_samples(struct fixture *f, size_t n)
{
	struct cpu *cpu = &f->cpus[0];

	put_comm(f, PID, f->ticks * TICK_NS, true, "prog");
	put_mmap(f, PID, f->ticks * TICK_NS + 1, f->programs[0]);
	f->ticks += 10;
	for (size_t i = 0; i < n; i++) {
		size_t len;

		if (i % 4 == 0)
			run_steps(f, 0, PID, 0, 8);
		f->ticks++;
		len = cpu->len < SAMPLED ? cpu->len : SAMPLED;
		put_sample(f, 0, PID, SAMPLED - len, cpu->bytes + cpu->len - len, len);
	}
}

/* Two harts whose messages share a sink, and damage in it. */
static void shared(struct fixture *f, size_t n)
{
	static const int32_t pids[CPUS] = { PID, PID };
	struct cpu *sink = &f->cpus[0];

	put_comm(f, PID, f->ticks * TICK_NS, true, "prog");
	put_mmap(f, PID, f->ticks * TICK_NS + 1, f->programs[0]);
	f->ticks += 10;
	for (size_t i = 0; i < n; i++) {
		run_together(f, 0, pids, 0, 20, 5);
		sink->bytes[sink->len - 1 - i * 7919 % (sink->len / 2)] ^= 1 << i % 8;
		if (i % 10 == 9 || i == n - 1)
			put_aux(f, 0, PID, 0);
	}
}

/* A jitdump with n pieces of code, each of which moves. OUT.jit/jit-10.dump, below --symfs. */
static void write_jitdump(size_t n)
{
	const struct {
		uint32_t magic, version, total_size, elf_mach, reserved, pid;
		uint64_t timestamp, flags;
	} header = { 0x4a695444, 1, 40, 243, 0, PID, 0, 0 };
	FILE *out = create("jit/jit-10.dump");

	fwrite(&header, sizeof(header), 1, out);
	for (uint64_t i = 0; i < n; i++) {
		const struct {
			uint32_t id, size;
			uint64_t time;
			uint32_t pid, tid;
			uint64_t vma, addr, code, index;
			char name[8], bytes[8];
		} load = { 0, sizeof(load), i, PID, PID, 64 * i, 64 * (i + 1), 8, i, "jitted", "" };

		fwrite(&load, sizeof(load), 1, out);
	}
	for (uint64_t i = 0; i < n; i++) {
		const struct {
			uint32_t id, size;
			uint64_t time;
			uint32_t pid, tid;
			uint64_t vma, from, to, code, index;
		} move = { 1, sizeof(move), n + i, PID, PID, 0, 64 * (i + 1), 64 * (n + i + 1), 8,
			   i };

		fwrite(&move, sizeof(move), 1, out);
	}
	fclose(out);
}

static void moves(struct fixture *f, size_t n)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.jit", out_name);
	mkdir(path, 0700);
	write_jitdump(n);
	put_mapping(f, PID, 1 << 20, "/jit-10.dump", f->ticks * TICK_NS - 1);
	run(f);
}

/*
 * A program with so many symbols, some hundreds of them at each address. OUT.s is to be assembled
 * and linked to HART_BASE, as the file /program.
 */
static void symbols(struct fixture *f, size_t n)
{
	FILE *out = create("s");

	fprintf(out, ".text\nbegin: .incbin \"%s\"\n", f->programs[0]);
	for (size_t i = 0; i < n; i++)
		fprintf(out, ".globl f%zu\n.type f%zu, @function\n.set f%zu, begin + %zu\n", i, i,
			i, i % 16 * (HART_BYTES / 16));
	fclose(out);
	put_comm(f, PID, f->ticks * TICK_NS, true, "prog");
	put_mapping(f, PID, HART_BASE, "/program", f->ticks * TICK_NS + 1);
	f->ticks += 10;
	run_steps(f, 0, PID, 0, 1000);
	f->ticks += 1000;
	put_aux(f, 0, PID, 0);
}

static const struct kind {
	const char *name;
	void (*make)(struct fixture *f, size_t n);
	bool runs;	/* it adds to a recording of a program that runs */
} kinds[] = {
	{ "attrs", attrs, false }, { "ids", ids, false }, { "buffers", buffers, false },
	{ "encoders", encoders, false }, { "aux", aux_records, false },
	{ "overwritten", overwritten, false }, { "idle", idle, false }, { "frames", frames, false },
	{ "zstd", zstd, false }, { "named", named, false }, { "damage", damage, false },
	{ "ctr", ctr, false },
	{ "kallsyms", kallsyms, false }, { "forks", forks, true }, { "mappings", mappings, true },
	{ "threads", threads, true }, { "switches", switches, true }, { "moves", moves, true },
	{ "symbols", symbols, true }, { "samples", aux_samples, true },
	{ "shared", shared, true },
};

int main(int argc, char **argv)
{
	const struct kind *kind = kinds, *end = kinds + sizeof(kinds) / sizeof(*kinds);
	struct fixture *f;
	void *state;
	size_t n;

	if (argc != 4) {
		for (; kind < end; kind++)
			puts(kind->name);
		return argc == 1 ? 0 : 2;
	}
	while (kind < end && strcmp(kind->name, argv[1]))
		kind++;
	n = strtoul(argv[2], NULL, 0);
	if (kind == end || !n) {
		fputs("usage: rvt-grow KIND N OUT\n", stderr);
		return 2;
	}
	out_name = argv[3];
	session_setup(&state);
	f = state;
	f->src_bits = kind->make == shared ? 8 : 0;
	begin_recording(f, true, true);
	f->ticks += 100 * n;
	if (!kind->runs) {
		rvt_perfdata_abandon(f->writer);
		check(rvt_perfdata_create(f->data, &f->writer));
	}
	kind->make(f, n);
	check(rvt_perfdata_finish(f->writer));
	f->writer = NULL;
	if (rename(f->data, out_name)) {
		perror(out_name);
		return 2;
	}
	/* the programs stay: the recording names them */
	return 0;
}
