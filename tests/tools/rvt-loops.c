// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-loops: the truth of a hart whose program is long loops, and a decoded flow of it with gaps,
 * for the test of rvt-truth-diff. `rvt-loops DIR LOOPS ROUNDS [WRONG]` writes DIR/truth.0 and
 * prints the flow; each loop makes ROUNDS rounds. Of each second loop the first half is missing.
 * WRONG is what the flow does that the truth does not: pc, privilege, thread, more or fewer rounds.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/truth.h>

#define PROLOGUE 0x1000
#define LOOP 0x2000
#define EPILOGUE(i) (0x100000 + 0x100 * (i))
#define INSNS 3
#define TID(i) (100 + (i) / 2 % 3)

static const uint8_t halfwords[INSNS] = { 2, 1, 2 };
static const char *wrong = "";

static void check(int64_t ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "rvt-loops: %s\n", strerror((int)-ret));
	exit(2);
}

/* The flow of one block. */
static void print_block(uint64_t pc, unsigned int tid)
{
	for (unsigned int i = 0; i < INSNS; i++) {
		printf("0 %u U %" PRIx64 "\n", tid, pc);
		pc += 2 * halfwords[i];
	}
}

/* The third loop is where the flow is wrong: one that it has in whole. */
static void print_loop(unsigned int loop, uint64_t rounds)
{
	bool here = loop == 2;
	uint64_t from = loop % 2 ? rounds / 2 : 0;

	if (here && !strcmp(wrong, "more"))
		rounds++;
	if (here && !strcmp(wrong, "fewer"))
		rounds--;
	if (from)
		puts("# gap");
	for (uint64_t i = from; i < rounds; i++)
		print_block(LOOP, TID(loop) + (here && i == rounds - 1 &&
					       !strcmp(wrong, "thread")));
	if (here && !strcmp(wrong, "privilege"))
		printf("0 %u S %x\n", TID(loop), EPILOGUE(loop));
	else
		print_block(EPILOGUE(loop) + (here && !strcmp(wrong, "pc")), TID(loop));
}

int main(int argc, char **argv)
{
	struct rvt_truth_record state = { .type = RVT_TRUTH_STATE };
	const struct rvt_truth_record on = { .type = RVT_TRUTH_ON };
	const struct rvt_truth_record off = { .type = RVT_TRUTH_OFF };
	struct rvt_truth_writer *writer;
	uint64_t loops, rounds;
	int64_t prologue, loop;
	char path[4096];

	if (argc < 4 || argc > 5) {
		fputs("usage: rvt-loops DIR LOOPS ROUNDS [WRONG]\n", stderr);
		return 2;
	}
	loops = strtoull(argv[2], NULL, 10);
	rounds = strtoull(argv[3], NULL, 10);
	if (argc > 4)
		wrong = argv[4];
	snprintf(path, sizeof(path), "%s/truth.0", argv[1]);
	check(rvt_truth_create(path, 0, &writer));
	prologue = rvt_truth_block(writer, PROLOGUE, halfwords, INSNS);
	loop = rvt_truth_block(writer, LOOP, halfwords, INSNS);
	check(prologue);
	check(loop);
	check(rvt_truth_write(writer, &on));
	for (unsigned int i = 0; i < loops; i++) {
		int64_t epilogue = rvt_truth_block(writer, EPILOGUE(i), halfwords, INSNS);

		check(epilogue);
		state.scontext = TID(i);
		check(rvt_truth_write(writer, &state));
		check(rvt_truth_run(writer, (uint64_t)prologue));
		for (uint64_t k = 0; k < rounds; k++)
			check(rvt_truth_run(writer, (uint64_t)loop));
		check(rvt_truth_run(writer, (uint64_t)epilogue));
	}
	check(rvt_truth_write(writer, &off));
	check(rvt_truth_close(writer));
	for (unsigned int i = 0; i < loops; i++) {
		print_block(PROLOGUE, TID(i));
		print_loop(i, rounds);
	}
	return 0;
}
