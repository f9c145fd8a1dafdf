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

void push_step(struct steps *steps, int32_t tid, uint64_t pc)
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
	push_step(&cpu->starts, untold ? -1 : pid, first->pc);
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
			push_step(&cpu->expected, pid, truth[i].pc);
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

/* ---- setting up ---- */

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
