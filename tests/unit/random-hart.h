/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A random program and a hart that runs it, for tests: what an encoder would be told, and the truth
 * that a decoder must find. It knows every instruction because it made it: it shares nothing with
 * the library's classifier or flow engine.
 */
#ifndef TESTS_RANDOM_HART_H
#define TESTS_RANDOM_HART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rvtrace/retire.h>

#define HART_BASE 0x80001000ull
#define HART_BYTES 4096
#define HART_MAX_TRUTH (1 << 17)

enum hart_record { HART_INSN, HART_TRAP };

/* What happened, in order: an instruction retired at .pc, or a trap with .pc as EPC. */
struct hart_truth {
	enum hart_record type;
	bool interrupt;
	uint64_t pc, target;
};

/* Where retirement is reported. */
struct hart_sink {
	void *ctx;
	void (*retire)(void *ctx, const struct rvt_retire *run);
	void (*trap)(void *ctx, const struct rvt_trap *trap);
};

struct hart;

struct hart *hart_create(uint64_t seed, bool rv32);
void hart_destroy(struct hart *hart);
/* The program, which lies at HART_BASE. */
const uint8_t *hart_code(const struct hart *hart);
/* Runs @steps instructions or traps. */
void hart_run(struct hart *hart, const struct hart_sink *sink, size_t steps);
uint64_t hart_pc(const struct hart *hart);
uint32_t hart_random(struct hart *hart, uint32_t n);
/* All that happened so far. */
const struct hart_truth *hart_truth(const struct hart *hart, size_t *n);

#endif
