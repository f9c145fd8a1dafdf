// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-recording: a recording for tests of the command that need no guest. Writes OUT.program, the
 * code of a random program, and OUT, an N-Trace recording of a task COMM that runs it: STEPS
 * instructions on each of two cpus, for two milliseconds. The task has mapped PATH from the offset
 * PGOFF on, which should have the same bytes there. sifive: in that dialect, with marks;
 * shift=BYTES: the program lies so much higher; build-id=HEX: of PATH; pieces=N: the steps in N
 * pieces of trace; kernel: the program is PATH, a kernel, of whose code the recording has a copy,
 * and the symbols _start (4096 bytes before it) and begin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "../unit/session-fixture.h"

#define PID 10
#define MS (1000000 / TICK_NS)	/* in ticks */

/* What follows PATH and STEPS. */
struct options {
	bool sifive, kernel;
	uint64_t shift;
	const char *build_id;
	unsigned int pieces;
};

static void put_mapping(struct fixture *f, const char *path, uint64_t pgoff, uint64_t shift)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
		uint64_t addr, len, pgoff, inode[3];
		uint32_t prot, flags;
	} head = { { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0 }, PID, PID, HART_BASE + shift,
		   HART_BYTES, pgoff, { 0 }, PROT_READ | PROT_EXEC, MAP_PRIVATE };
	const struct trailer trailer = { PID, PID, f->ticks * TICK_NS + 1, 0, 0, SIDE_ID };

	put_record(f, &head.header, sizeof(head), path, &trailer);
}

static int write_program(const struct fixture *f, const char *name)
{
	char path[4096];
	FILE *out;
	int err;

	snprintf(path, sizeof(path), "%s.program", name);
	out = fopen(path, "w");
	if (!out)
		return -1;
	err = fwrite(hart_code(f->harts[0]), 1, HART_BYTES, out) != HART_BYTES;
	return fclose(out) || err ? -1 : 0;
}

static bool parse_options(struct options *options, char **words)
{
	*options = (struct options){ .pieces = 1 };
	for (; *words; words++) {
		if (!strcmp(*words, "sifive"))
			options->sifive = true;
		else if (!strcmp(*words, "kernel"))
			options->kernel = true;
		else if (!strncmp(*words, "shift=", 6))
			options->shift = strtoull(*words + 6, NULL, 0);
		else if (!strncmp(*words, "build-id=", 9))
			options->build_id = *words + 9;
		else if (!strncmp(*words, "pieces=", 7))
			options->pieces = strtoul(*words + 7, NULL, 0);
		else
			return false;
	}
	return options->pieces;
}

static int put_build_id(struct fixture *f, const char *path, const char *hex)
{
	uint8_t id[20];
	size_t len = 0;

	while (len < sizeof(id) && sscanf(hex + 2 * len, "%2hhx", &id[len]) == 1)
		len++;
	return rvt_perfdata_add_build_id(f->writer, path, id, len, PERF_RECORD_MISC_USER);
}

static int put_feature(struct fixture *f, unsigned int bit, void *blob, size_t len)
{
	int err = rvt_perfdata_add_feature(f->writer, bit, blob, len);

	free(blob);
	return err;
}

static int put_kernel(struct fixture *f, const char *name, uint64_t shift)
{
	const struct rvt_code code = {
		.addr = HART_BASE + shift, .len = HART_BYTES, .kind = RVT_CODE_KERNEL,
		.name = name, .bytes = hart_code(f->harts[0]),
	};
	char symbols[80];
	size_t len;
	void *blob;

	snprintf(symbols, sizeof(symbols), "%llx T _start\n%llx T begin\n",
		 HART_BASE + shift - 4096ull, HART_BASE + shift + 0ull);
	if (rvt_code_pack(&code, 1, &blob, &len) ||
	    put_feature(f, RVT_FEAT_RVTRACE_CODE, blob, len) ||
	    rvt_text_pack(symbols, strlen(symbols), &blob, &len))
		return -1;
	return put_feature(f, RVT_FEAT_RVTRACE_KALLSYMS, blob, len);
}

int main(int argc, char **argv)
{
	struct options options;
	struct fixture *f;
	void *state;
	size_t steps;

	if (argc < 6 || !parse_options(&options, argv + 6)) {
		fputs("usage: rvt-recording OUT PATH PGOFF COMM STEPS [sifive] [shift=BYTES]"
		      " [build-id=HEX] [pieces=N] [kernel]\n", stderr);
		return 2;
	}
	steps = strtoul(argv[5], NULL, 0);
	session_setup(&state);
	f = state;
	f->sifive = options.sifive;
	begin_recording(f, true, true);
	put_comm(f, PID, f->ticks * TICK_NS, false, argv[4]);
	if (!options.kernel)
		put_mapping(f, argv[2], strtoull(argv[3], NULL, 0), options.shift);
	f->ticks += 2;
	for (unsigned int i = 0; i < CPUS * options.pieces; i++) {
		f->cpus[i % CPUS].shift = options.shift;
		run_steps(f, i % CPUS, PID, 0, steps / options.pieces);
		f->ticks += MS;
		put_aux(f, i % CPUS, PID, 0);
	}
	if ((options.kernel && put_kernel(f, argv[2], options.shift)) ||
	    (options.build_id && put_build_id(f, argv[2], options.build_id)) ||
	    rvt_perfdata_finish(f->writer) || rename(f->data, argv[1]) ||
	    write_program(f, argv[1])) {
		perror(argv[1]);
		return 2;
	}
	f->writer = NULL;
	session_teardown(&state);
	return 0;
}
