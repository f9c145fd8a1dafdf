// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-recording: a recording for tests of the command that need no guest. Writes OUT.program, the
 * code of a random program, and OUT, an N-Trace recording of a task COMM that runs it: STEPS
 * instructions on each of two cpus, for two milliseconds. The task has mapped PATH from the offset
 * PGOFF on, which should have the same bytes there. sifive: in that dialect, with marks.
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

static void put_mapping(struct fixture *f, const char *path, uint64_t pgoff)
{
	struct {
		struct perf_event_header header;
		int32_t pid, tid;
		uint64_t addr, len, pgoff, inode[3];
		uint32_t prot, flags;
	} head = { { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, 0 }, PID, PID, HART_BASE, HART_BYTES,
		   pgoff, { 0 }, PROT_READ | PROT_EXEC, MAP_PRIVATE };
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

int main(int argc, char **argv)
{
	struct fixture *f;
	void *state;
	size_t steps;

	if (argc != 6 && !(argc == 7 && !strcmp(argv[6], "sifive"))) {
		fputs("usage: rvt-recording OUT PATH PGOFF COMM STEPS [sifive]\n", stderr);
		return 2;
	}
	steps = strtoul(argv[5], NULL, 0);
	session_setup(&state);
	f = state;
	f->sifive = argc == 7;
	begin_recording(f, true, true);
	put_comm(f, PID, f->ticks * TICK_NS, false, argv[4]);
	put_mapping(f, argv[2], strtoull(argv[3], NULL, 0));
	f->ticks += 2;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		run_steps(f, cpu, PID, 0, steps);
		f->ticks += MS;
		put_aux(f, cpu, PID, 0);
	}
	if (rvt_perfdata_finish(f->writer) || rename(f->data, argv[1]) ||
	    write_program(f, argv[1])) {
		perror(argv[1]);
		return 2;
	}
	f->writer = NULL;
	session_teardown(&state);
	return 0;
}
