// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * accesses ROUNDS [COMMAND...]: each round does every atomic operation of 4 and 8 bytes,
 * conditional stores that store and that do not, and reads and writes of CSRs, with values that
 * change from round to round; meanwhile a second thread does the same to the same memory. What came
 * of it, as the program sees it in its registers, goes to the file "seen", for the first rounds: a
 * line each, as the emulator's. Then the program becomes COMMAND.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEN_MAX 400

struct seen {
	const char *kind, *operation;
	unsigned int bytes;
	uint64_t address, value, operand;
};

struct thread {
	uint64_t state;
	struct seen *seen;
	size_t n_seen;
};

static uint32_t words[8];
static uint64_t doubles[8];
static unsigned long rounds;

static uint64_t next(struct thread *t)
{
	t->state = t->state * 6364136223846793005u + 1442695040888963407u;
	/* few bits and many, of either sign */
	return (uint64_t)((int64_t)t->state >> (t->state & 63));
}

static void see(struct thread *t, const struct seen *seen)
{
	if (t->n_seen < SEEN_MAX)
		t->seen[t->n_seen++] = *seen;
}

static uint64_t low(uint64_t value, unsigned int bytes)
{
	return bytes == 8 ? value : (uint32_t)value;
}

static void see_memory(struct thread *t, const char *kind, const char *operation,
		       const volatile void *at, unsigned int bytes, uint64_t value,
		       uint64_t operand)
{
	see(t, &(struct seen){ kind, operation, bytes, (uintptr_t)at, low(value, bytes),
			       low(operand, bytes) });
}

#define AMO(name, called, width, at, operand_) do { \
	uint64_t operand = (operand_), old; \
	asm volatile(#name "." #width " %0, %2, %1" \
		     : "=r"(old), "+A"(*(at)) : "r"(operand) : "memory"); \
	see_memory(t, "atomic", called, (at), sizeof(*(at)), old, operand); \
} while (0)

/* The old value is not wanted. */
#define AMO_ONLY(name, width, at, operand) \
	asm volatile(#name "." #width " zero, %1, %0" : "+A"(*(at)) : "r"(operand) : "memory")

#define ALL_AMOS(width, at) do { \
	AMO(amoswap, "swap", width, (at), next(t)); \
	AMO(amoadd, "add", width, (at) + 1, next(t)); \
	AMO(amoand, "and", width, (at) + 2, next(t) | 0xff); \
	AMO(amoor, "or", width, (at) + 2, next(t)); \
	AMO(amoxor, "xor", width, (at) + 3, next(t)); \
	AMO(amomax, "max", width, (at) + 4, next(t)); \
	AMO(amomin, "min", width, (at) + 4, next(t)); \
	AMO(amomaxu, "max", width, (at) + 5, next(t)); \
	AMO(amominu, "min", width, (at) + 5, next(t)); \
	AMO_ONLY(amoadd, width, (at) + 1, next(t)); \
	AMO_ONLY(amoswap, width, (at), next(t)); \
} while (0)

static void see_conditional(struct thread *t, const volatile void *at, unsigned int bytes,
			    uint64_t value, bool failed)
{
	if (failed)
		see_memory(t, "atomic", "sc-failure", at, bytes, 0, 0);
	else
		see_memory(t, "store", NULL, at, bytes, value, 0);
}

/* The second store follows no load and never stores. */
#define CONDITIONAL(width, at, value_) do { \
	uint64_t value = (value_), loaded, failed, never; \
	asm volatile("lr." #width " %0, %3\n\t" \
		     "sc." #width " %1, %4, %3\n\t" \
		     "sc." #width " %2, %4, %3" \
		     : "=&r"(loaded), "=&r"(failed), "=&r"(never), "+A"(*(at)) \
		     : "r"(value) : "memory"); \
	see_memory(t, "load", NULL, (at), sizeof(*(at)), loaded, 0); \
	see_conditional(t, (at), sizeof(*(at)), value, failed); \
	see_conditional(t, (at), sizeof(*(at)), value, never); \
} while (0)

#define CSR(insn, called, name, number, kind, operand_) do { \
	uint64_t operand = (operand_), old; \
	asm volatile(#insn " %0, " #name ", %1" : "=r"(old) : kind(operand)); \
	see(t, &(struct seen){ "csr", called, 8, number, old, operand }); \
} while (0)

static void registers(struct thread *t)
{
	CSR(csrrw, "write", fflags, 1, "r", next(t) & 31);
	CSR(csrrs, "set", fcsr, 3, "r", next(t) & 31);
	CSR(csrrc, "clear", fflags, 1, "r", next(t) & 21);
	CSR(csrrwi, "write", frm, 2, "i", 2);
	asm volatile("csrwi frm, 0");
	CSR(csrrsi, "set", fflags, 1, "i", 8);
	CSR(csrrci, "clear", fflags, 1, "i", 1);
	asm volatile("csrw fflags, %0" :: "r"(next(t) & 31));
	CSR(csrrsi, "set", time, 0xc01, "i", 0);
}

static void *work(void *ctx)
{
	struct thread *t = ctx;

	for (unsigned long i = 0; i < rounds; i++) {
		ALL_AMOS(w, words);
		ALL_AMOS(d, doubles);
		CONDITIONAL(w, words + 6, next(t));
		CONDITIONAL(d, doubles + 6, next(t));
		registers(t);
	}
	return NULL;
}

static void print(FILE *file, const struct seen *seen)
{
	const bool valueless = seen->operation && !strcmp(seen->operation, "sc-failure");
	/* of which no operand is told */
	const bool read_only = !strcmp(seen->kind, "csr") && seen->address >> 10 == 3;

	fprintf(file, "%s %u %" PRIx64, seen->kind, seen->bytes, seen->address);
	if (valueless)
		fputs(" -", file);
	else
		fprintf(file, " %" PRIx64, seen->value);
	if (seen->operation && (valueless || read_only))
		fprintf(file, " %s -", seen->operation);
	else if (seen->operation)
		fprintf(file, " %s %" PRIx64, seen->operation, seen->operand);
	fputc('\n', file);
}

int main(int argc, char **argv)
{
	struct thread threads[2] = { { .state = 1 }, { .state = 2 } };
	FILE *file = fopen("seen", "w");
	pthread_t second;

	rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 100;
	for (unsigned int i = 0; i < 2; i++)
		threads[i].seen = malloc(SEEN_MAX * sizeof(struct seen));
	if (!file || !threads[0].seen || !threads[1].seen ||
	    pthread_create(&second, NULL, work, &threads[1]))
		return 1;
	work(&threads[0]);
	pthread_join(second, NULL);
	for (unsigned int i = 0; i < 2; i++)
		for (size_t j = 0; j < threads[i].n_seen; j++)
			print(file, &threads[i].seen[j]);
	if (fclose(file) || argc <= 2)
		return 1;
	execvp(argv[2], argv + 2);
	return 1;
}
