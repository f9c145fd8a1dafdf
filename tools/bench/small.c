// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * small: a program of some 4 KiB that runs hot, as embedded ones do, for rvt-modes and `record
 * small`: checksum, sort, sieve, table of words, matrix, interpreter. Its data differs from round
 * to round, so that branches which depend on data do, too.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 1024
#define SORTED 24
#define SIEVED 1000
#define WORDS 256
#define SIDE 12

static uint32_t state = 1;

static uint32_t number(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static uint32_t crc_table[256];

static void make_crc_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
		crc_table[i] = crc;
	}
}

static __attribute__((noinline)) uint32_t checksum(const uint8_t *bytes, size_t n)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < n; i++)
		crc = crc >> 8 ^ crc_table[(crc ^ bytes[i]) & 255];
	return ~crc;
}

static __attribute__((noinline)) void sort(uint32_t *numbers, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t moved = numbers[i];
		size_t k = i;

		for (; k && numbers[k - 1] > moved; k--)
			numbers[k] = numbers[k - 1];
		numbers[k] = moved;
	}
}

static __attribute__((noinline)) unsigned int primes(void)
{
	static uint8_t composite[SIEVED];
	unsigned int found = 0;

	for (unsigned int i = 0; i < SIEVED; i++)
		composite[i] = 0;
	for (unsigned int i = 2; i < SIEVED; i++) {
		if (composite[i])
			continue;
		found++;
		for (unsigned int k = 2 * i; k < SIEVED; k += i)
			composite[k] = 1;
	}
	return found;
}

static __attribute__((noinline)) unsigned int count_word(uint32_t word)
{
	static struct { uint32_t word; unsigned int times; } words[WORDS];
	size_t slot = word * 2654435761u >> 24;

	while (words[slot].times && words[slot].word != word)
		slot = (slot + 1) % WORDS;
	words[slot].word = word;
	return ++words[slot].times;
}

static __attribute__((noinline)) void multiply(const uint32_t a[SIDE][SIDE],
					       const uint32_t b[SIDE][SIDE],
					       uint32_t out[SIDE][SIDE])
{
	for (size_t i = 0; i < SIDE; i++)
		for (size_t k = 0; k < SIDE; k++) {
			uint32_t sum = 0;

			for (size_t j = 0; j < SIDE; j++)
				sum += a[i][j] * b[j][k];
			out[i][k] = sum;
		}
}

/* A stack machine: adds the numbers up to one, by what it does again and again. */
static __attribute__((noinline)) uint32_t interpret(uint32_t last)
{
	enum { PUSH, LOAD, STORE, ADD, LESS, JUMP_IF, END };
	static const uint8_t code[] = {
		LOAD, 0, LOAD, 1, ADD, STORE, 0, LOAD, 1, PUSH, 1, ADD, STORE, 1,
		LOAD, 1, LOAD, 2, LESS, JUMP_IF, 0, END,
	};
	uint32_t stack[8], *top = stack, values[3] = { 0, 1, last };

	for (size_t pc = 0;;) {
		switch (code[pc++]) {
		case PUSH: *top++ = code[pc++]; break;
		case LOAD: *top++ = values[code[pc++]]; break;
		case STORE: values[code[pc++]] = *--top; break;
		case ADD: top--; top[-1] += *top; break;
		case LESS: top--; top[-1] = top[-1] < *top; break;
		case JUMP_IF: pc = *--top ? code[pc] : pc + 1; break;
		case END: return values[0];
		}
	}
}

int main(int argc, char **argv)
{
	static uint8_t block[BLOCK];
	static uint32_t a[SIDE][SIDE], b[SIDE][SIDE], out[SIDE][SIDE];
	uint32_t numbers[SORTED], sum = 0;

	make_crc_table();
	for (long round = argc > 1 ? atol(argv[1]) : 1; round > 0; round--) {
		for (size_t i = 0; i < SORTED; i++)
			numbers[i] = number();
		sort(numbers, SORTED);
		for (size_t i = 0; i < SIDE; i++)
			a[i][round % SIDE] = b[round % SIDE][i] = numbers[i];
		multiply(a, b, out);
		for (size_t i = 0; i < SORTED; i++)
			sum += count_word(numbers[i] % (WORDS / 2));
		block[round % BLOCK] = sum;
		sum ^= checksum(block, BLOCK) ^ out[round % SIDE][0];
		sum += primes() + interpret(30);
	}
	printf("%08x\n", sum);
	return 0;
}
