// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include <rvtrace/switches.h>
#include "../tools/coresight-formatter.h"
#include "util/array.h"
#include "session-fixture.h"

#define PROGRAM_SEED 1000

static void push(struct steps *steps, int32_t tid, uint64_t pc)
{
	assert_int_equal(array_grow(&steps->at, steps->n), 0);
	steps->at[steps->n++] = (struct step){ tid, pc };
}

/* ---- making ---- */

static struct fixture *clock_of;

static uint64_t now(void *ctx)
{
	(void)ctx;
	return clock_of->ticks++;
}

static int emit(void *ctx, const uint8_t *bytes, size_t len)
{
	struct cpu *from = ctx, *cpu = from->sink;

	assert_int_equal(array_reserve(&cpu->bytes, &cpu->room, cpu->len, len), 0);
	assert_int_equal(array_reserve(&cpu->ids, &cpu->ids_room, cpu->len, len), 0);
	memcpy(cpu->bytes + cpu->len, bytes, len);
	memset(cpu->ids + cpu->len, from->id, len);
	cpu->len += len;
	return 0;
}

void put_record(struct fixture *f, struct perf_event_header *head, size_t len, const char *name,
		const struct trailer *trailer)
{
	uint64_t record[64] = { 0 };
	size_t name_len = name ? (strlen(name) + 8) & ~7ul : 0;

	head->size = len + name_len + sizeof(*trailer);
	memcpy(record, head, len);
	if (name)
		strcpy((char *)record + len, name);
	memcpy((char *)record + len + name_len, trailer, sizeof(*trailer));
	assert_int_equal(rvt_perfdata_write(f->writer, record, head->size), 0);
}

void put_comm(struct fixture *f, int32_t pid, uint64_t time, bool exec, const char *comm)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
	} head = { { PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, 0 }, pid, pid };
	const struct trailer trailer = { pid, pid, time, 0, 0, SIDE_ID };

	put_record(f, &head.header, sizeof(head), comm, &trailer);
}

void put_mmap(struct fixture *f, int32_t pid, uint64_t time, const char *path)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
		uint64_t addr, len, pgoff, inode[3];
		uint32_t prot, flags;
	} head = { { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0 }, pid, pid, HART_BASE, HART_BYTES,
		   0, { 0 }, PROT_READ | PROT_EXEC, MAP_PRIVATE };
	const struct trailer trailer = { pid, pid, time, 0, 0, SIDE_ID };

	put_record(f, &head.header, sizeof(head), path, &trailer);
}

void put_life(struct fixture *f, uint32_t type, int32_t pid, int32_t parent, uint64_t time)
{
	struct {
		struct perf_event_header header;
		int32_t pid, ppid, tid, ptid;
		uint64_t time;
	} head = { { type, 0, 0 }, pid, parent, pid, parent, time };
	const struct trailer trailer = { parent, parent, time, 0, 0, SIDE_ID };

	put_record(f, &head.header, sizeof(head), NULL, &trailer);
}

void put_start(struct fixture *f, int cpu, int32_t pid, uint64_t time)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
	} head = { { PERF_RECORD_ITRACE_START, 0, 0 }, pid, pid };
	const struct trailer trailer = { pid, pid, time, cpu, 0, TRACE_ID };

	put_record(f, &head.header, sizeof(head), NULL, &trailer);
}

static void put_switch_record(struct fixture *f, int cpu, int32_t pid, uint64_t time, uint16_t misc)
{
	struct perf_event_header head = { PERF_RECORD_SWITCH, misc, 0 };
	const struct trailer trailer = { pid, pid, time, cpu, 0, SIDE_ID };

	put_record(f, &head, sizeof(head), NULL, &trailer);
}

void put_switch(struct fixture *f, int cpu, int32_t pid, uint64_t time)
{
	put_switch_record(f, cpu, pid, time, 0);
}

void put_switch_out(struct fixture *f, int cpu, int32_t pid, uint64_t time)
{
	put_switch_record(f, cpu, pid, time, PERF_RECORD_MISC_SWITCH_OUT);
}

/* As the recorder's BPF program writes it; @lie: bytes of raw data that are not there. */
void put_switch_sample(struct fixture *f, int cpu, int32_t prev, int32_t next, uint64_t time,
		       unsigned short flags, uint32_t lie)
{
	struct {
		struct perf_event_header header;
		uint64_t id;
		int32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint32_t raw_len;
		struct rvt_switch raw;
	} sample = { { PERF_RECORD_SAMPLE, 0, sizeof(sample) }, SWITCH_ID, prev, prev, time, cpu, 0,
		     sizeof(sample.raw) + lie, { prev, prev, next, next, 0, flags } };

	assert_int_equal(rvt_perfdata_write(f->writer, &sample, sizeof(sample)), 0);
}

/* As `record -z` writes it: in pieces. */
static void put_packed(struct fixture *f, struct cpu *cpu, struct rvt_record_auxtrace chunk)
{
	for (size_t at = 0, n; at < cpu->len; at += n) {
		size_t room = 0, len;
		void *blob = NULL;

		n = cpu->len - at < 1000 ? cpu->len - at : 1000;
		assert_int_equal(rvt_aux_pack(cpu->bytes + at, n, 1, &blob, &room, &len), 0);
		assert_int_equal(len % 8, 0);
		chunk.offset = cpu->aux_offset + at - (at ? f->misplaced : 0);
		chunk.unpacked = n;
		chunk.size = len;
		assert_int_equal(rvt_perfdata_write(f->writer, &chunk, sizeof(chunk)), 0);
		assert_int_equal(rvt_perfdata_write(f->writer, blob, len), 0);
		free(blob);
	}
	cpu->aux_offset += cpu->len;
	cpu->len = 0;
}

void put_buffers(struct fixture *f)
{
	for (int i = 0; i < CPUS; i++) {
		const struct rvt_record_auxtrace none = {
			.header = { RVT_RECORD_AUXTRACE, 0, sizeof(none) }, .idx = i, .tid = -1,
			.cpu = i };

		assert_int_equal(rvt_perfdata_write(f->writer, &none, sizeof(none)), 0);
	}
}

static void put_bytes(struct fixture *f, int n, int32_t pid, uint64_t flags)
{
	struct cpu *cpu = &f->cpus[n];
	struct {
		struct perf_event_header header;
		uint64_t offset, size, flags;
	} aux = { { PERF_RECORD_AUX, 0, 0 }, cpu->aux_offset, cpu->len + f->claimed, flags };
	struct rvt_record_auxtrace chunk = {
		.header = { RVT_RECORD_AUXTRACE, 0, sizeof(chunk) }, .size = (cpu->len + 7) & ~7ul,
		.offset = cpu->aux_offset, .idx = n, .tid = -1, .cpu = n };
	const struct trailer trailer = { pid, pid, f->ticks * TICK_NS, n, 0, TRACE_ID };
	static const uint8_t zeros[8];

	put_record(f, &aux.header, sizeof(aux), NULL, &trailer);
	if (f->packed) {
		put_packed(f, cpu, chunk);
		return;
	}
	assert_int_equal(rvt_perfdata_write(f->writer, &chunk, sizeof(chunk)), 0);
	if (cpu->len)
		assert_int_equal(rvt_perfdata_write(f->writer, cpu->bytes, cpu->len), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, zeros, chunk.size - cpu->len), 0);
	cpu->aux_offset += cpu->len;
	cpu->len = 0;
}

void put_frames(struct fixture *f, int n)
{
	struct formatter formatter = { .id = -1 };
	struct cpu *cpu = &f->cpus[n];

	if (!f->framed || !cpu->len || cpu->in_frames)
		return;
	formatter_write(&formatter, cpu->ids, cpu->bytes, cpu->len, NULL);
	free(cpu->bytes);
	cpu->bytes = formatter.out;
	cpu->len = formatter.len;
	cpu->room = formatter.room;
	cpu->in_frames = true;
}

void put_aux(struct fixture *f, int n, int32_t pid, uint64_t flags)
{
	struct cpu *cpu = &f->cpus[n];

	put_frames(f, n);
	cpu->in_frames = false;
	put_bytes(f, n, pid, flags);
}

void put_sample(struct fixture *f, int n, int32_t pid, size_t zeroes, const uint8_t *bytes,
		size_t len)
{
	static const uint8_t padding[8192];
	struct {
		struct perf_event_header header;
		uint64_t id, ip;
		int32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t period;
		uint32_t raw_len, raw;
		uint64_t aux_len;
	} head = { { PERF_RECORD_SAMPLE, 0, 0 }, SAMPLE_ID, 0, pid, pid, f->ticks * TICK_NS, n, 0,
		   1, 4, 0, zeroes + len };

	head.header.size = sizeof(head) + zeroes + len;
	assert_int_equal(head.header.size % 8, 0);
	assert_true(zeroes <= sizeof(padding) && head.header.size == sizeof(head) + zeroes + len);
	assert_int_equal(rvt_perfdata_write(f->writer, &head, sizeof(head)), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, padding, zeroes), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, bytes, len), 0);
}

void put_hw_id(struct fixture *f, int n, uint64_t hw_id)
{
	struct {
		struct perf_event_header header;
		uint64_t hw_id;
	} head = { { PERF_RECORD_AUX_OUTPUT_HW_ID, 0, 0 }, hw_id };
	const struct trailer trailer = { STRANGER, STRANGER, f->ticks * TICK_NS, n, 0, TRACE_ID };

	put_record(f, &head.header, sizeof(head), NULL, &trailer);
}

void put_thread(struct fixture *f, int n, int32_t tid)
{
	put_hw_id(f, n, (uint64_t)tid << 32 | n);
}

/* A word to stimulus register 4. */
#define MARK_IDTAG 16
#define MARK_DATA 0xcafe
#define RUNS_TO_MARK 200

static void retire(void *ctx, const struct rvt_retire *run)
{
	struct cpu *cpu = ctx;
	struct rvt_retire moved = *run;

	moved.first_pc += cpu->shift;
	moved.last_pc += cpu->shift;
	if (cpu->etrace)
		rvt_etrace_encoder_retire(cpu->etrace, &moved);
	else
		rvt_ntrace_encoder_retire(cpu->encoder, &moved);
	if (!cpu->to_mark || --cpu->to_mark)
		return;
	rvt_ntrace_encoder_data(cpu->encoder, MARK_IDTAG, MARK_DATA);
	cpu->to_mark = RUNS_TO_MARK;
}

static void trap(void *ctx, const struct rvt_trap *event)
{
	struct cpu *cpu = ctx;
	struct rvt_trap moved = *event;

	moved.epc += cpu->shift;
	moved.handler += cpu->shift;
	if (cpu->etrace)
		rvt_etrace_encoder_trap(cpu->etrace, &moved);
	else
		rvt_ntrace_encoder_trap(cpu->encoder, &moved);
}

static void start_tracing(const struct fixture *f, struct cpu *cpu, int32_t pid)
{
	if (cpu->etrace) {
		if (f->context)
			rvt_etrace_encoder_context(cpu->etrace, pid);
		rvt_etrace_encoder_start(cpu->etrace);
		return;
	}
	if (f->context)
		rvt_ntrace_encoder_context(cpu->encoder, false, pid);
	rvt_ntrace_encoder_start(cpu->encoder, RVT_NTRACE_SYNC_TRACE_ENABLE);
}

static void stop_tracing(struct cpu *cpu, uint64_t pc)
{
	if (cpu->etrace)
		rvt_etrace_encoder_stop(cpu->etrace, true);
	else
		rvt_ntrace_encoder_stop(cpu->encoder, RVT_NTRACE_EV_TRACE_DISABLED,
					pc + cpu->shift);
}

/*
 * Where the trace of @pid begins, if @first is what it does first: a trap tells E-Trace nothing of
 * where it was, only where it leads to; and in N-Trace Ownership comes behind it, for the encoder
 * does not know the privilege before the first instruction.
 */
static void expect_start(const struct fixture *f, struct cpu *cpu, int32_t pid,
			 const struct hart_truth *first)
{
	bool untold = f->timed && f->context && !f->etrace && first->type == HART_TRAP;

	while (f->etrace && first->type == HART_TRAP)
		first++;
	push(&cpu->starts, untold ? -1 : pid, first->pc);
}

/* All that @hart did as @pid on cpu @n since its step @from is in the trace. */
static void expect(struct fixture *f, int n, int32_t pid, const struct hart *hart, size_t from)
{
	struct cpu *cpu = &f->cpus[n];
	size_t to;
	const struct hart_truth *truth = hart_truth(hart, &to);

	expect_start(f, cpu, pid, &truth[from]);
	for (size_t i = from; i < to; i++)
		if (truth[i].type == HART_INSN)
			push(&cpu->expected, pid, truth[i].pc);
}

/* @pid runs @program on @cpu for so many steps, traced. */
void run_steps(struct fixture *f, int n, int32_t pid, int program, size_t steps)
{
	struct cpu *cpu = &f->cpus[n];
	const struct hart_sink sink = { cpu, retire, trap };
	size_t before;

	hart_truth(f->harts[program], &before);
	start_tracing(f, cpu, pid);
	hart_run(f->harts[program], &sink, steps);
	stop_tracing(cpu, hart_pc(f->harts[program]));
	expect(f, n, pid, f->harts[program], before);
	f->ticks += 10;
}

void run_other(struct fixture *f, int n, int32_t tid,
	       uint64_t (*run)(void *ctx, const struct hart_sink *sink), void *ctx)
{
	struct cpu *cpu = &f->cpus[n];
	const struct hart_sink sink = { cpu, retire, trap };

	start_tracing(f, cpu, tid);
	stop_tracing(cpu, run(ctx, &sink));
	f->ticks += 10;
}

static void retire_guest(void *ctx, const struct rvt_retire *run)
{
	const struct hart_sink *sink = ctx;
	struct rvt_retire copy = *run;

	copy.prv = copy.v = 1;
	sink->retire(sink->ctx, &copy);
}

static void trap_guest(void *ctx, const struct rvt_trap *trap)
{
	const struct hart_sink *sink = ctx;
	struct rvt_trap copy = *trap;

	copy.prv = copy.v = 1;
	sink->trap(sink->ctx, &copy);
}

void run_guest(struct hart *hart, const struct hart_sink *sink, size_t steps)
{
	const struct hart_sink of_guest = { (void *)sink, retire_guest, trap_guest };

	hart_run(hart, &of_guest, steps);
}

void run_program(struct fixture *f, int n, int32_t pid, int program)
{
	run_steps(f, n, pid, program, STEPS);
}

/* Harts of one program: each comes to where another was, the hart of @sink first. */
void run_together(struct fixture *f, int sink, const int32_t pids[CPUS], int program, size_t steps,
		  size_t turn)
{
	struct hart *harts[CPUS];

	for (int n = 0; n < CPUS; n++) {
		harts[n] = hart_create(PROGRAM_SEED + program, false);
		assert_non_null(harts[n]);
		f->cpus[n].sink = &f->cpus[sink];
		start_tracing(f, &f->cpus[n], pids[n]);
	}
	for (size_t i = 0; i < CPUS * steps / turn; i++) {
		int n = (sink + i) % CPUS;

		hart_run(harts[n], &(struct hart_sink){ &f->cpus[n], retire, trap }, turn);
	}
	for (int n = 0; n < CPUS; n++) {
		stop_tracing(&f->cpus[n], hart_pc(harts[n]));
		expect(f, n, pids[n], harts[n], 0);
		hart_destroy(harts[n]);
	}
	f->ticks += 10;
}

static void create_ntrace(struct fixture *f, int n)
{
	const struct rvt_ntrace_encoder_config config = {
		.dialect = f->sifive ? RVT_DIALECT_NTRACE_SIFIVE :
			   f->ctte ? RVT_DIALECT_NTRACE_CTTE : RVT_DIALECT_NTRACE_1_0,
		.mode = RVT_MODE_HTM, .xlen = 64,
		.options = f->sifive || f->repeats ? RVT_OPT_REPEATED_HISTORY :
			   f->ctte ? RVT_OPT_BRANCH_PREDICTION | RVT_OPT_JUMP_TARGET_CACHE : 0,
		.configuration = f->ctte,
		.src_bits = f->src_bits, .src = f->src_bits ? n : 0,
		.context = f->context,
		.timestamp = f->timed ? RVT_TIMESTAMP_DELTA : RVT_TIMESTAMP_NONE,
		.sync_mode = 3, .sync_max = f->repeats ? 10 : 4, .icnt_bits = 22, .hist_bits = 32,
		.hrepeat_bits = 18, .emit = emit, .now = f->timed ? now : NULL,
		.ctx = &f->cpus[n] };

	assert_int_equal(rvt_ntrace_encoder_create(&config, &f->cpus[n].encoder), 0);
	f->cpus[n].to_mark = f->sifive ? RUNS_TO_MARK : 0;
	snprintf(f->encoder, sizeof(f->encoder),
		 "protocol = ntrace\ndialect = %s\nmode = htm\nsrc_bits = %u\ntimestamp = %s\n%s",
		 f->sifive ? "sifive" : f->ctte ? "ctte" : "1.0", config.src_bits,
		 f->timed ? "delta" : "none", f->repeats ? "options = repeated_history\n" : "");
}

static void create_etrace(struct fixture *f, int n)
{
	struct rvt_params params;
	const struct rvt_etrace_encoder_config config = {
		.params = &params, .src = f->src_bits ? n : 0,
		.context = f->context, .sync_mode = 3, .sync_max = 4,
		.emit = emit, .now = f->timed ? now : NULL, .ctx = &f->cpus[n] };
	char *text;

	rvt_params_init(&params, RVT_PROTOCOL_ETRACE, RVT_DIALECT_ETRACE_2_0);
	params.iaddress_width_p = 64;
	params.privilege_width_p = f->guests ? 3 : params.privilege_width_p;
	params.srcid_bits = f->src_bits;
	params.nocontext_p = !f->context;
	params.context_width_p = 32;
	params.notime_p = !f->timed;
	params.time_width_p = 64;
	params.ecause_width_p = 6;
	params.f0s_width_p = 1;
	assert_int_equal(rvt_etrace_encoder_create(&config, &f->cpus[n].etrace), 0);
	assert_int_equal(rvt_params_print(&params, &text), 0);
	assert_true(strlen(text) < sizeof(f->encoder));
	strcpy(f->encoder, text);
	free(text);
}

void begin_recording(struct fixture *f, bool timed, bool context)
{
	struct perf_event_attr attr = { .type = PMU_TYPE, .sample_id_all = 1,
					.sample_type = SAMPLE_TYPE }, side = attr;
	const struct rvt_record_time_conv conv = {
		.header = { RVT_RECORD_TIME_CONV, 0, sizeof(conv) }, .time_shift = 10,
		.time_mult = TICK_NS << 10, .cap_user_time_zero = 1 };
	const uint64_t trace_id = TRACE_ID, side_id = SIDE_ID, switch_id = SWITCH_ID;
	const uint64_t sample_id = SAMPLE_ID;
	char meta[4096] = "rvtrace 1\npmu_type = 77\n", framing[64] = "";

	sprintf(meta + strlen(meta), "target = %s\n%s", f->by_task ? "task" : "system",
		context ? "" : "context = none\n");
	f->timed = timed;
	f->context = context;
	f->ticks = 1000;
	clock_of = f;
	for (int i = 0; i < CPUS; i++) {
		f->cpus[i].sink = &f->cpus[i];
		f->cpus[i].id = FRAME_ID + i;
		sprintf(meta + strlen(meta), "\n[encoder %d]\ncpu = %d\nsrc = %d\n", i, i,
			f->src_bits ? i : 0);
		if (f->framed)
			sprintf(framing, "framing = coresight\natid = %d\n", FRAME_ID + i);
		if (f->etrace)
			create_etrace(f, i);
		else
			create_ntrace(f, i);
		strcat(meta, f->encoder);
		strcat(meta, framing);
	}
	assert_int_equal(rvt_perfdata_create(f->data, &f->writer), 0);
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "rvtrace//", &trace_id, 1), 0);
	side.type = attr.type = PERF_TYPE_SOFTWARE;
	/* as the recorder: perf script -F ip wants it of software events */
	side.config = PERF_COUNT_SW_DUMMY;
	side.sample_type |= PERF_SAMPLE_IP;
	assert_int_equal(rvt_perfdata_add_event(f->writer, &side, "dummy:u", &side_id, 1), 0);
	attr.sample_type |= PERF_SAMPLE_RAW;
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, RVT_SWITCH_EVENT, &switch_id, 1),
			 0);
	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_AUX;
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "cpu-clock", &sample_id, 1), 0);
	assert_int_equal(rvt_perfdata_begin(f->writer, meta), 0);
	if (timed)
		assert_int_equal(rvt_perfdata_write(f->writer, &conv, sizeof(conv)), 0);
}

/* ---- recordings of others ---- */

const struct foreign_info upstream_info = {
	{ RVT_RECORD_AUXTRACE_INFO, 0, 24 }, 10, 0, { PMU_TYPE }
};

/* for each cpu: number, count of parameters, format, context, inhibit, bits, id */
const struct foreign_info spacemit_info = {
	{ RVT_RECORD_AUXTRACE_INFO, 0, sizeof(struct foreign_info) }, 10, 0,
	{ (uint64_t)PMU_TYPE << 32 | CPUS, 0, 7, 1, 1, 1, 0, 0, 1, 7, 1, 1, 1, 0, 0 }
};

void begin_foreign(struct fixture *f, const struct foreign_info *info, bool timed, bool context)
{
	const struct rvt_record_time_conv conv = {
		.header = { RVT_RECORD_TIME_CONV, 0, sizeof(conv) }, .time_shift = 10,
		.time_mult = TICK_NS << 10, .cap_user_time_zero = 1 };
	struct perf_event_attr attr = { .type = PMU_TYPE, .sample_id_all = 1,
					.sample_type = SAMPLE_TYPE };
	const uint64_t trace_id = TRACE_ID, side_id = SIDE_ID;

	begin_recording(f, timed, context);
	rvt_perfdata_abandon(f->writer);
	assert_int_equal(rvt_perfdata_create(f->data, &f->writer), 0);
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "rvtrace//", &trace_id, 1), 0);
	attr.type = PERF_TYPE_SOFTWARE;
	assert_int_equal(rvt_perfdata_add_event(f->writer, &attr, "dummy:u", &side_id, 1), 0);
	assert_int_equal(rvt_perfdata_begin(f->writer, NULL), 0);
	assert_int_equal(rvt_perfdata_write(f->writer, info, info->header.size), 0);
	if (timed)
		assert_int_equal(rvt_perfdata_write(f->writer, &conv, sizeof(conv)), 0);
}

void run_foreign(struct fixture *f)
{
	put_mmap(f, 10, 0, f->programs[0]);
	put_mmap(f, 20, 0, f->programs[1]);
	run_program(f, 0, 10, 0);
	put_aux(f, 0, 10, 0);
	run_program(f, 1, 20, 1);
	put_aux(f, 1, 20, 0);
	run_program(f, 0, 20, 1);
	put_aux(f, 0, 20, 0);
}

/* ---- reading ---- */

static int found_runs(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *runs, size_t n)
{
	struct fixture *f = ctx;

	assert_in_range(hart->cpu, 0, CPUS - 1);
	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first)
				push(&f->cpus[hart->cpu].found, hart->task ? hart->task->tid : -1,
				     pc);
			pc += 2 * runs[i].block->halfwords[j];
		}
	}
	return 0;
}

static int found_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct fixture *f = ctx;

	if (event->type == RVT_EVENT_LOST)
		f->cpus[hart->cpu].lost++;
	else if (event->type == RVT_EVENT_START)
		push(&f->cpus[hart->cpu].found_starts, hart->task ? hart->task->tid : -1,
		     event->pc);
	return 0;
}

/* ---- counting: in one go or in small slices, the same sums ---- */

static uint64_t hash(int cpu, int tid, uint64_t pc)
{
	uint64_t x = (pc ^ (uint64_t)tid << 40) * 0x9e3779b97f4a7c15ull + cpu + 1;

	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 29;
}

int sum_run(void *ctx, struct rvt_hart_flow *hart, const struct rvt_run *run, uint64_t times)
{
	struct sums *sums = ctx;
	uint64_t pc = run->block->pc;

	for (uint32_t i = 0; i < run->first + run->count; i++) {
		if (i >= run->first)
			sums->insns += times *
				hash(hart->cpu, hart->task ? hart->task->tid : -1, pc);
		pc += 2 * run->block->halfwords[i];
	}
	sums->insns_n += times * run->count;
	return 0;
}

static int sum_edge(void *ctx, struct rvt_hart_flow *hart, uint64_t from, uint64_t to,
		    enum rvt_insn_class iclass, int64_t times)
{
	((struct sums *)ctx)->edges += (uint64_t)times * hash(hart->cpu, iclass, from * 3 + to);
	return 0;
}

static int sum_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	struct sums *sums = ctx;

	(void)hart;
	sums->lost += event->type == RVT_EVENT_LOST;
	sums->traps += event->type == RVT_EVENT_TRAP;
	return 0;
}

static int sum_aux(void *ctx, unsigned int buffer, const struct rvt_aux *aux)
{
	((struct sums *)ctx)->aux += hash(buffer, aux->flags, aux->offset + aux->size);
	return 0;
}

static void forget(void *ctx)
{
	*(struct sums *)ctx = (struct sums){ .resets = ((struct sums *)ctx)->resets + 1 };
}

/* Sums of the session, and of each thread. */
struct parts {
	struct sums all;	/* first: the session's context */
	struct sums part[4];
	unsigned int n;
};

static void *open_part(void *ctx)
{
	struct parts *parts = ctx;

	assert_true(parts->n < sizeof(parts->part) / sizeof(*parts->part));
	return &parts->part[parts->n++];
}

static int sum_wanted_event(void *ctx, struct rvt_hart_flow *hart, const struct rvt_event *event)
{
	assert_true(event->type == RVT_EVENT_LOST || event->type == RVT_EVENT_TRAP);
	return sum_event(ctx, hart, event);
}

static void forget_parts(void *ctx)
{
	struct parts *parts = ctx;

	forget(&parts->all);
	memset(parts->part, 0, sizeof(parts->part));
}

static struct sums add_parts(const struct parts *parts)
{
	struct sums sums = parts->all;

	for (unsigned int i = 0; i < parts->n; i++) {
		const struct sums *part = &parts->part[i];

		sums.insns += part->insns;
		sums.insns_n += part->insns_n;
		sums.edges += part->edges;
		sums.lost += part->lost;
		sums.traps += part->traps;
		sums.aux += part->aux;
	}
	return sums;
}

/* @apart: each thread counts by itself, and gets the events that it asks for. */
static void count_session(const struct fixture *f, unsigned int jobs, bool apart,
			  struct sums *sums, struct rvt_session_totals *stats)
{
	struct parts parts = { .n = 0 };
	const struct rvt_session_options options = {
		.size = sizeof(options),
		.params = f->params, .count = true, .count_threads = true, .jobs = jobs,
		.slice_bytes = 150,
	};
	const struct rvt_session_sink sink = {
		.size = sizeof(sink),
		.ctx = &parts, .count_run = sum_run, .count_edge = sum_edge,
		.event = apart ? sum_wanted_event : sum_event,
		.events = apart ? 1u << RVT_EVENT_LOST | 1u << RVT_EVENT_TRAP : 0,
		.aux = sum_aux, .reset = forget_parts,
	};
	const struct rvt_session_slices slices = { .ctx = &parts, .open = open_part };
	struct rvt_session *session;
	char *error;

	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_run_slices(session, &sink, apart ? &slices : NULL), 0);
	*sums = add_parts(&parts);
	rvt_session_totals(session, stats);
	rvt_session_close(session);
}

static void check_counts(struct fixture *f)
{
	struct rvt_session_totals stats, more_stats;
	uint64_t insns = 0, lost = 0, n = 0;
	struct sums one, more;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		const struct steps *found = &f->cpus[cpu].found;

		for (size_t i = 0; i < found->n; i++)
			insns += hash(cpu, found->at[i].tid, found->at[i].pc);
		n += found->n;
		lost += f->cpus[cpu].lost;
	}
	count_session(f, 1, false, &one, &stats);
	assert_int_equal(one.insns_n, n);
	assert_int_equal(one.insns, insns);
	assert_int_equal(one.lost, lost);
	for (unsigned int jobs = 2; jobs <= 4; jobs++) {
		count_session(f, jobs, jobs != 3, &more, &more_stats);
		f->resets += one.resets = more.resets;
		assert_memory_equal(&more, &one, sizeof(one));
		stats.stream.bytes = more_stats.stream.bytes;
		stats.stream.idle_bytes = more_stats.stream.idle_bytes;
		assert_memory_equal(&more_stats, &stats, sizeof(stats));
	}
}

/* ---- live: from what the recorder would hand over while it records ---- */

void write_head(struct rvt_perfdata *file, const char *path)
{
	struct rvt_perfdata_writer *writer;
	struct rvt_perfdata_record record;
	const void *meta = NULL;
	uint64_t pos = 0;
	size_t len;
	char *text;

	assert_int_equal(rvt_perfdata_create(path, &writer), 0);
	for (size_t i = 0; i < rvt_perfdata_n_events(file); i++) {
		const struct rvt_perfdata_event *event = rvt_perfdata_event(file, i);

		assert_int_equal(rvt_perfdata_add_event(writer, &event->attr, event->name,
							event->ids, event->n_ids), 0);
	}
	text = rvt_perfdata_feature(file, RVT_FEAT_RVTRACE_META, &meta, &len) ? NULL :
		strndup(meta, len);
	assert_int_equal(rvt_perfdata_begin(writer, text), 0);
	free(text);
	while (rvt_perfdata_next(file, &pos, &record) > 0)
		if (record.type > RVT_RECORD_FINISHED_ROUND && record.type != RVT_RECORD_AUXTRACE)
			assert_int_equal(rvt_perfdata_write(writer, record.header,
							    record.header->size), 0);
	for (int i = 0; i < CPUS; i++) {
		const struct rvt_record_auxtrace none = {
			.header = { RVT_RECORD_AUXTRACE, 0, sizeof(none) }, .idx = i, .tid = -1,
			.cpu = i };

		assert_int_equal(rvt_perfdata_write(writer, &none, sizeof(none)), 0);
	}
	assert_int_equal(rvt_perfdata_finish(writer), 0);
}

/* @per_round records between two rounds. */
static void feed_all(struct rvt_session *session, struct rvt_perfdata *file, unsigned int per_round)
{
	const struct perf_event_header round = { RVT_RECORD_FINISHED_ROUND, 0, sizeof(round) };
	struct rvt_perfdata_record record;
	unsigned int n = 0;
	uint64_t pos = 0;

	while (rvt_perfdata_next(file, &pos, &record) > 0) {
		size_t len = record.header->size + record.aux_len;

		if (record.type > RVT_RECORD_FINISHED_ROUND && record.type != RVT_RECORD_AUXTRACE)
			continue;
		assert_int_equal(rvt_session_feed(session, record.header, len), 0);
		if (++n % per_round == 0)
			assert_int_equal(rvt_session_feed(session, &round, sizeof(round)), 0);
	}
}

static void run_live(const struct fixture *f, const char *head, unsigned int per_round,
		     const struct rvt_session_options *options, const struct rvt_session_sink *sink)
{
	struct rvt_perfdata *file;
	struct rvt_session *session = NULL;
	char *error;

	if (rvt_perfdata_open(f->data, &file, &error) ||
	    (write_head(file, head), rvt_session_open(head, options, &session, &error)))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_begin(session, sink), 0);
	feed_all(session, file, per_round);
	assert_int_equal(rvt_session_end(session), 0);
	rvt_session_close(session);
	rvt_perfdata_close(file);
}

/* Run by run; as @options say. */
static void check_live_runs(struct fixture *f, const char *head, unsigned int per_round,
			    const struct rvt_session_options *options)
{
	struct fixture *again = calloc(1, sizeof(*again));
	const struct rvt_session_sink sink = { .size = sizeof(sink), .ctx = again,
					       .runs = found_runs, .event = found_event };

	assert_non_null(again);
	run_live(f, head, per_round, options, &sink);
	for (int i = 0; i < CPUS; i++) {
		const struct cpu *a = &f->cpus[i], *b = &again->cpus[i];

		assert_int_equal(a->found.n, b->found.n);
		for (size_t k = 0; k < a->found.n; k++) {
			assert_int_equal(a->found.at[k].tid, b->found.at[k].tid);
			assert_int_equal(a->found.at[k].pc, b->found.at[k].pc);
		}
		assert_int_equal(a->lost, b->lost);
		assert_int_equal(a->found_starts.n, b->found_starts.n);
		free(b->found.at);
		free(b->found_starts.at);
	}
	free(again);
}

static void check_live(struct fixture *f)
{
	const struct rvt_session_options options = { .size = sizeof(options), .params = f->params };
	const struct rvt_session_options counting = { .size = sizeof(counting),
						      .params = f->params, .count = true,
						      .count_threads = true };
	struct rvt_session_options forgetting = options, forgetting_counts = counting;
	char head[] = "/tmp/rvtrace-head-XXXXXX";
	struct rvt_session_totals stats;
	struct sums one, live;

	forgetting.code_bytes = forgetting_counts.code_bytes = 1;
	close(mkstemp(head));
	count_session(f, 1, false, &one, &stats);
	for (unsigned int per_round = 1; per_round < 20; per_round += 6) {
		const struct rvt_session_sink sums = {
			.size = sizeof(sums),
			.ctx = &live, .count_run = sum_run, .count_edge = sum_edge,
			.event = sum_event, .aux = sum_aux, .reset = forget };

		check_live_runs(f, head, per_round, &options);
		/* Nothing that is known of code outlives a round. */
		check_live_runs(f, head, per_round, &forgetting);
		live = (struct sums){ .insns = 0 };
		run_live(f, head, per_round, &counting, &sums);
		assert_memory_equal(&live, &one, sizeof(one));
		live = (struct sums){ .insns = 0 };
		run_live(f, head, per_round, &forgetting_counts, &sums);
		assert_memory_equal(&live, &one, sizeof(one));
	}
	unlink(head);
}

uint64_t feed_from(struct rvt_session *session, struct rvt_perfdata *file, uint64_t from,
		   uint64_t to)
{
	const struct perf_event_header round = { RVT_RECORD_FINISHED_ROUND, 0, sizeof(round) };
	struct rvt_perfdata_record record;

	while (from < to && rvt_perfdata_next(file, &from, &record) > 0) {
		if (record.type > RVT_RECORD_FINISHED_ROUND && record.type != RVT_RECORD_AUXTRACE)
			continue;
		assert_int_equal(rvt_session_feed(session, record.header,
						  record.header->size + record.aux_len), 0);
		if (record.type == RVT_RECORD_AUXTRACE)
			assert_int_equal(rvt_session_feed(session, &round, sizeof(round)), 0);
	}
	return from;
}

void read_stored(struct fixture *f, bool by_cpu, struct rvt_session_totals *stats)
{
	const struct rvt_session_options options = { .size = sizeof(options),
						     .by_cpu = by_cpu, .params = f->params };
	const struct rvt_session_sink sink = { .size = sizeof(sink),
					       .ctx = f, .runs = found_runs, .event = found_event };
	struct rvt_session *session;
	char *error;

	assert_int_equal(rvt_perfdata_finish(f->writer), 0);
	f->writer = NULL;
	if (rvt_session_open(f->data, &options, &session, &error))
		fail_msg("%s", error);
	assert_int_equal(rvt_session_run(session, &sink), 0);
	rvt_session_totals(session, stats);
	rvt_session_close(session);
	check_counts(f);
}

void read_back(struct fixture *f, bool by_cpu, struct rvt_session_totals *stats)
{
	read_stored(f, by_cpu, stats);
	if (!f->overwritten)
		check_live(f);
}

static void compare(const struct steps *expected, const struct steps *found, const char *what)
{
	for (size_t i = 0; i < expected->n && i < found->n; i++)
		if (expected->at[i].pc != found->at[i].pc ||
		    expected->at[i].tid != found->at[i].tid)
			fail_msg("%s %zu: tid %d pc %#lx, not tid %d pc %#lx", what, i,
				 found->at[i].tid, (long)found->at[i].pc,
				 expected->at[i].tid, (long)expected->at[i].pc);
	assert_int_equal(found->n, expected->n);
}

void check_steps(const struct cpu *cpu)
{
	compare(&cpu->expected, &cpu->found, "instruction");
}

void check_starts(const struct cpu *cpu)
{
	compare(&cpu->starts, &cpu->found_starts, "start");
}

void check_equal(const struct cpu *cpu)
{
	check_steps(cpu);
	assert_int_equal(cpu->lost, 0);
}

static void make_name(char *name, const char *template)
{
	int fd;

	strcpy(name, template);
	fd = mkstemp(name);
	assert_true(fd >= 0);
	close(fd);
}

int session_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	make_name(f->data, "/tmp/rvtrace-session-XXXXXX");
	for (int i = 0; i < PROGRAMS; i++) {
		FILE *out;

		make_name(f->programs[i], "/tmp/rvtrace-program-XXXXXX");
		f->harts[i] = hart_create(PROGRAM_SEED + i, false);
		assert_non_null(f->harts[i]);
		out = fopen(f->programs[i], "w");
		assert_non_null(out);
		assert_int_equal(fwrite(hart_code(f->harts[i]), 1, HART_BYTES, out), HART_BYTES);
		fclose(out);
	}
	*state = f;
	return 0;
}

int session_teardown(void **state)
{
	struct fixture *f = *state;

	rvt_perfdata_abandon(f->writer);
	unlink(f->data);
	for (int i = 0; i < PROGRAMS; i++) {
		unlink(f->programs[i]);
		hart_destroy(f->harts[i]);
	}
	for (int i = 0; i < CPUS; i++) {
		rvt_ntrace_encoder_destroy(f->cpus[i].encoder);
		rvt_etrace_encoder_destroy(f->cpus[i].etrace);
		free(f->cpus[i].bytes);
		free(f->cpus[i].ids);
		free(f->cpus[i].expected.at);
		free(f->cpus[i].found.at);
		free(f->cpus[i].starts.at);
		free(f->cpus[i].found_starts.at);
	}
	free(f);
	return 0;
}
