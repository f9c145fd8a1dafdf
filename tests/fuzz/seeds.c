// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * fuzz-seeds SEEDS FILES: inputs for fuzzing, from what the unit tests make: see make-seeds. FILES
 * gets the programs that recordings name.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <zstd.h>
#include <rvtrace/ctr.h>
#include <rvtrace/tandem.h>
#include "model/etrace/assemble.h"
#include "model/ntrace/assemble.h"
#include "../unit/random-recording.h"
#include "../unit/trace-files.h"
#include "perfdata/shared.h"
#include "session/index.h"
#include "session/stations.h"

#define RECORDINGS 12
#define CTR_META "rvtrace 1\npmu_type = 77\nevent = riscv_ctr//u\n\n[ctr]\n"

static const char *seeds, *files;

static int assemble_ntrace(struct rvt_params *params, const char *line, uint8_t *bytes, size_t size,
			   char *error, size_t error_size)
{
	return rvt_ntrace_assemble(params, line, bytes, size, error, error_size);
}

static int assemble_etrace(struct rvt_params *params, const char *line, uint8_t *bytes, size_t size,
			   char *error, size_t error_size)
{
	return rvt_etrace_assemble(params, line, bytes, size, error, error_size);
}

static void write_seed(const char *name, const void *bytes, size_t len)
{
	char path[300];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", seeds, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
}

static void traces(void **state)
{
	static const struct trace_files ntrace = {
		.directory = "tests/ntrace", .suffix = ".nta", .protocol = RVT_PROTOCOL_NTRACE,
		.dialect = RVT_DIALECT_NTRACE_1_0, .assemble = assemble_ntrace,
	}, etrace = {
		.directory = "tests/etrace", .suffix = ".eta", .protocol = RVT_PROTOCOL_ETRACE,
		.dialect = RVT_DIALECT_ETRACE_2_0, .assemble = assemble_etrace,
	};
	char directory[300];

	(void)state;
	snprintf(directory, sizeof(directory), "%s/ntrace", seeds);
	write_trace_seeds(&ntrace, directory);
	snprintf(directory, sizeof(directory), "%s/etrace", seeds);
	write_trace_seeds(&etrace, directory);
}

/* ---- frames ---- */

#define FRAME 16
#define FRAME_DATA 14		/* behind the id */
#define ATID 1

/* A CoreSight frame of bytes of one id; what there are too few of are idle bytes of N-Trace. */
static void put_frame(FILE *out, const uint8_t *bytes, size_t len)
{
	uint8_t frame[FRAME] = { ATID << 1 | 1 };

	for (size_t i = 1; i <= FRAME_DATA; i++) {
		uint8_t byte = i - 1 < len ? bytes[i - 1] : 0xff;

		frame[i] = i % 2 ? byte : byte & ~1;
		/* the lowest bit of an even byte says what it is */
		frame[FRAME - 1] |= i % 2 ? 0 : (byte & 1) << i / 2;
	}
	fwrite(frame, sizeof(frame), 1, out);
}

/* Behind the code of a seed of a trace. */
static const uint8_t *trace_of(const uint8_t *at)
{
	for (uint8_t n = *at++; n; n--)
		at += 9 + at[8];
	return at;
}

/* The trace of N-Trace in @path becomes one in frames. */
static void frame_seed(const char *path)
{
	static uint8_t bytes[1 << 20];
	FILE *in = fopen(path, "r"), *out;
	const uint8_t *code, *trace, *end;
	char *framed, name[300];
	size_t len;

	assert_non_null(in);
	end = bytes + fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	code = memchr(bytes, 0, end - bytes);
	assert_non_null(code);
	trace = trace_of(code + 1);
	out = open_memstream(&framed, &len);
	assert_non_null(out);
	fwrite(bytes, 1, code - bytes, out);
	fprintf(out, "\nframing = coresight\natid = %d\n%c", ATID, 0);
	fwrite(code + 1, 1, trace - code - 1, out);
	for (; trace < end; trace += FRAME_DATA < end - trace ? FRAME_DATA : end - trace)
		put_frame(out, trace, end - trace);
	assert_int_equal(fclose(out), 0);
	snprintf(name, sizeof(name), "coresight/%s", strrchr(path, '/') + 1);
	write_seed(name, framed, len);
	free(framed);
}

static void frames(void **state)
{
	char pattern[300];
	glob_t found;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/ntrace/*", seeds);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		frame_seed(found.gl_pathv[i]);
	globfree(&found);
}

/* The programs get names that are always the same, and go to FILES. */
static void name_programs(struct fixture *f)
{
	for (int i = 0; i < PROGRAMS; i++) {
		char path[300];

		snprintf(path, sizeof(path), "%s/program-%d", files, i);
		assert_int_equal(unlink(f->programs[i]), 0);
		snprintf(f->programs[i], sizeof(f->programs[i]), "/program-%d", i);
		FILE *out = fopen(path, "w");
		assert_non_null(out);
		assert_int_equal(fwrite(hart_code(f->harts[i]), 1, HART_BYTES, out), HART_BYTES);
		fclose(out);
	}
}

/* Ends the recording, which becomes the seed @name. */
static void keep_recording(struct rvt_perfdata_writer *writer, const char *path, const char *name)
{
	static char bytes[1 << 22];
	char to[40];
	size_t len;
	FILE *in;

	assert_int_equal(rvt_perfdata_finish(writer), 0);
	in = fopen(path, "r");
	assert_non_null(in);
	len = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	snprintf(to, sizeof(to), "recording/%s", name);
	write_seed(to, bytes, len);
}

static int save_some(void *ctx, int (*keep)(void *keep_ctx, uint64_t key,
					    const struct words *words), void *keep_ctx)
{
	uint64_t *stations = ctx;
	int err = 0;

	(*stations)++;
	for (uint64_t key = 0; key < 4 && !err; key++) {
		uint64_t two[] = { key, *stations >> key };
		const struct words words = { .at = two, .n = 2 };

		err = keep(keep_ctx, key << 8, &words);
	}
	return err;
}

static void save_hart(void *ctx, const struct rvt_hart_flow *hart, struct words *words)
{
	(void)ctx;
	words_put(words, hart->cpu);
}

static void keep_stations(struct rvt_session *session, struct rvt_index *index)
{
	uint64_t stations = 0;
	const struct rvt_station_ops ops = { .ctx = &stations, .save = save_some,
					     .save_hart = save_hart };
	const struct rvt_session_sink sink = { .size = sizeof(sink) };
	struct rvt_station_span told = { .latest = 1 };

	assert_int_equal(rvt_stations_make(session, index, &sink, &ops, &told), 0);
	assert_true(rvt_stations_n(index) > 1);
}

/* Its index, as a file and as what is packed in that. */
static void keep_index(const char *data, const char *name)
{
	static char unpacked[1 << 20] = { 1 };
	const struct rvt_session_options options = {
		.size = sizeof(options), .symfs = files, .clock = true, .accesses = true,
		.slice_bytes = 300 };
	struct rvt_session *session;
	struct rvt_index *index;
	char *error, to[64];
	void *bytes;
	size_t len;

	if (rvt_session_open(data, &options, &session, &error))
		fail_msg("%s", error);
	if (!rvt_index_make(session, NULL, NULL, &index)) {
		keep_stations(session, index);
		assert_int_equal(rvt_index_pack(index, &bytes, &len), 0);
		snprintf(to, sizeof(to), "index/%s", name);
		write_seed(to, bytes, len);
		len = ZSTD_decompress(unpacked + 1, sizeof(unpacked) - 1, (char *)bytes + 8,
				      len - 8);
		assert_false(ZSTD_isError(len));
		snprintf(to, sizeof(to), "index/%s.unpacked", name);
		write_seed(to, unpacked, len + 1);
		free(bytes);
		rvt_index_free(index);
	}
	rvt_session_close(session);
}

static void recordings(void **state)
{
	(void)state;
	for (unsigned int seed = 0; seed <= RECORDINGS; seed++) {
		struct fixture *f;
		char name[16];
		void *made;

		assert_int_equal(session_setup(&made), 0);
		f = made;
		name_programs(f);
		if (seed) {
			random_recording(f, seed, false);
		} else {
			begin_foreign(f, &spacemit_info, false, true);
			run_foreign(f);
		}
		snprintf(name, sizeof(name), "%u", seed);
		keep_recording(f->writer, f->data, name);
		f->writer = NULL;
		if (seed)
			keep_index(f->data, name);
		assert_int_equal(session_teardown(&made), 0);
	}
}

static void put_number(FILE *out, uint32_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fputc(value >> 8 * i & 0xff, out);
}

/* A file of code or symbols, with its length in front. */
static void put_shared(FILE *out, uint64_t magic, uint64_t id, const void *bytes, size_t len)
{
	const struct rvt_shared_head head = { magic, id, len, 0xffffffff80000000, "id", 2, 0 };

	put_number(out, sizeof(head) + len, 4);
	fwrite(&head, sizeof(head), 1, out);
	fwrite(bytes, len, 1, out);
}

static void put_ref(FILE *out, uint64_t id, uint64_t len, const char *path, size_t changes_len)
{
	const struct rvt_shared_ref ref = { id, len, strlen(path) + 1, changes_len };

	fwrite(&ref, sizeof(ref), 1, out);
	fwrite(path, ref.path_len, 1, out);
}

/* Eight instructions, one of which stands otherwise in memory, and two symbols. */
static void shared(void **state)
{
	static const char symbols[] = "ffffffff80000000 T start\nffffffff80000010 t end\n";
	static const char code_path[] = "/id/code", symbols_path[] = "/id/symbols";
	const uint32_t code[8] = { 0x13, 0x13, 0x13, 0x13, 0x13, 0x13, 0x13, 0x8067 }, nop = 0x13;
	const struct rvt_shared_change change = { 4, sizeof(nop) };
	size_t len, packed_len, changes_len = sizeof(change) + sizeof(nop);
	void *packed;
	char *bytes;
	FILE *out = open_memstream(&bytes, &len);

	(void)state;
	assert_non_null(out);
	assert_int_equal(rvt_text_pack(symbols, strlen(symbols), &packed, &packed_len), 0);
	put_shared(out, RVT_SHARED_CODE, 1, code, sizeof(code));
	put_shared(out, RVT_SHARED_SYMBOLS, 2, packed, packed_len);
	put_number(out, sizeof(struct rvt_shared_ref) + sizeof(code_path) + changes_len, 2);
	put_ref(out, 1, sizeof(code), code_path, changes_len);
	fwrite(&change, sizeof(change), 1, out);
	fwrite(&nop, sizeof(nop), 1, out);
	put_ref(out, 2, packed_len, symbols_path, 0);
	assert_int_equal(fclose(out), 0);
	write_seed("shared/both", bytes, len);
	free(bytes);
	free(packed);
}

/* Samples of Control Transfer Records. Returns how many bytes. */
static size_t put_samples(uint8_t *bytes, size_t room)
{
	size_t len = 0;

	for (unsigned int i = 0; i < 4; i++) {
		struct rvt_ctr_entry entries[16] = { 0 };
		const struct rvt_ctr_sample sample = { .time = i, .ip = 0x1000, .pid = 1, .tid = 1,
						       .depth = 16, .n = 4 * i };
		long put;

		for (unsigned int k = 0; k < sample.n; k++)
			entries[k] = (struct rvt_ctr_entry){ .source = 0x1000 + 4 * k,
							     .target = 0x2000,
							     .type = k, .cycles_valid = k & 1,
							     .cycles = 100 * k };
		put = rvt_ctr_put(&sample, entries, bytes + len, room - len);
		assert_true(put > 0);
		len += put;
	}
	return len;
}

static void ctr(void **state)
{
	const struct perf_event_attr attr = { .type = PMU_TYPE, .sample_id_all = 1 };
	const uint64_t id = 5;
	struct rvt_record_auxtrace chunk = {
		.header = { RVT_RECORD_AUXTRACE, 0, sizeof(chunk) }, .tid = -1 };
	char path[] = "/tmp/rvtrace-ctr-XXXXXX";
	struct rvt_perfdata_writer *writer;
	uint8_t bytes[8192] = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	chunk.size = (put_samples(bytes, sizeof(bytes)) + 7) & ~7ul;
	write_seed("ctr/samples", bytes, chunk.size);
	assert_int_equal(rvt_perfdata_create(path, &writer), 0);
	assert_int_equal(rvt_perfdata_add_event(writer, &attr, "riscv_ctr//u", &id, 1), 0);
	assert_int_equal(rvt_perfdata_begin(writer, CTR_META), 0);
	assert_int_equal(rvt_perfdata_write(writer, &chunk, sizeof(chunk)), 0);
	assert_int_equal(rvt_perfdata_write(writer, bytes, chunk.size), 0);
	keep_recording(writer, path, "ctr");
	unlink(path);
}

static void tandem_trace(void **state)
{
	static const struct rvt_tandem_record records[] = {
		{ .op = RVT_TANDEM_STATE, .state_id = RVT_TANDEM_PC, .value = 0x80000000 },
		{ .op = RVT_TANDEM_BEGIN_GROUP },
		{ .op = RVT_TANDEM_INSN32, .value = 0x00150513 },
		{ .op = RVT_TANDEM_REG_FULL, .reg = RVT_TANDEM_GPR + 10, .value = 1 },
		{ .op = RVT_TANDEM_MEM_REQ, .mem_op = RVT_TANDEM_STORE, .mem_size = 3,
		  .addr = 0x80001000, .value = 42 },
		{ .op = RVT_TANDEM_INC_PC },
		{ .op = RVT_TANDEM_END_GROUP },
	};
	uint8_t bytes[sizeof(records) / sizeof(*records) * RVT_TANDEM_MAX_RECORD + 1] = { 0 };
	struct rvt_tandem_params params;
	size_t len = 1;		/* behind the byte that chooses XLEN */

	(void)state;
	rvt_tandem_params_init(&params, 64);
	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
		int n = rvt_tandem_encode(&params, &records[i], bytes + len);

		assert_true(n > 0);
		len += n;
	}
	write_seed("tandem/group", bytes, len);
}

/* perf's jitdump-specification.txt: a header, two functions, one of which moves. */
static void jitdump(void **state)
{
	static const char name[] = "function";
	const struct {
		uint32_t magic, version, size, mach, reserved, pid;
		uint64_t timestamp, flags;
	} head = { 0x4a695444, 1, sizeof(head), 243, 0, 1, 0, 0 };
	struct {
		uint32_t id, total_size;
		uint64_t timestamp;
		uint32_t pid, tid;
		uint64_t vma, addr, size, index;
	} load = { .total_size = sizeof(load) + sizeof(name) + 8, .pid = 1, .tid = 1, .size = 8 };
	struct {
		uint32_t id, total_size;
		uint64_t timestamp;
		uint32_t pid, tid;
		uint64_t vma, from, to, size, index;
	} move = { .id = 1, .total_size = sizeof(move), .pid = 1, .tid = 1, .from = 0x2000,
		   .to = 0x4000, .size = 8 };
	char *bytes;
	size_t len;
	FILE *out = open_memstream(&bytes, &len);

	(void)state;
	assert_non_null(out);
	fwrite(&head, sizeof(head), 1, out);
	for (load.addr = 0x1000; load.addr <= 0x2000; load.addr += 0x1000) {
		fwrite(&load, sizeof(load), 1, out);
		fwrite(name, sizeof(name), 1, out);
		fwrite("\x13\0\0\0\x67\x80\0\0", 8, 1, out);
	}
	fwrite(&move, sizeof(move), 1, out);
	assert_int_equal(fclose(out), 0);
	write_seed("jitdump/functions", bytes, len);
	free(bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traces), cmocka_unit_test(frames), cmocka_unit_test(recordings),
		cmocka_unit_test(ctr), cmocka_unit_test(tandem_trace), cmocka_unit_test(shared),
		cmocka_unit_test(jitdump),
	};

	if (argc != 3) {
		fputs("usage: fuzz-seeds SEEDS FILES\n", stderr);
		return 2;
	}
	seeds = argv[1];
	files = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
