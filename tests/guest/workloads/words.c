// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A program for profile-guided optimisation: counts the words of a text that it makes itself. As in
 * many real programs the source has first what happens seldom, and the common case last. The
 * argument is how many times. Prints what it counted, which is the same however the program was
 * optimised.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 30000
#define SLOTS 1024

struct word {
	char text[24];
	unsigned int count;
};

static struct word words[SLOTS];
static char text[TEXT_BYTES];
static unsigned int n_words, n_numbers, n_lines, n_strange;

static uint32_t random_number(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

static void make_text(void)
{
	for (size_t i = 0; i < TEXT_BYTES; i++) {
		uint32_t r = random_number() % 1000;

		if (r < 1)
			text[i] = 1;
		else if (r < 5)
			text[i] = '\n';
		else if (r < 10)
			text[i] = '0' + r;
		else if (r < 200)
			text[i] = ' ';
		else
			text[i] = 'a' + r % 7;
	}
}

enum kind { STRANGE, LINE, NUMBER, QUOTE, BLANK, UPPER, LETTER };

/* From the rarest to the most common. */
static enum kind classify(unsigned char c)
{
	if (c == '"' || c == '\'' || c == '`')
		return QUOTE;
	if (c < ' ' && c != '\n' && c != '\t') {
		fprintf(stderr, "%s", "");
		return STRANGE;
	}
	if (c >= 0x7f) {
		fprintf(stderr, "%s", "");
		return STRANGE;
	}
	if (c == '\n')
		return LINE;
	if (c >= '0' && c <= '9')
		return NUMBER;
	if (c >= 'A' && c <= 'Z')
		return UPPER;
	if (c == ' ' || c == '\t')
		return BLANK;
	return LETTER;
}

static void give_up(const char *why)
{
	fprintf(stderr, "words: %s\n", why);
	exit(1);
}

static struct word *look_up(const char *start, size_t len)
{
	uint32_t hash = 5381;

	if (len >= sizeof(words[0].text))
		len = sizeof(words[0].text) - 1;
	for (size_t i = 0; i < len; i++)
		hash = hash * 33 + (unsigned char)start[i];
	for (unsigned int tries = 0; ; tries++) {
		struct word *word = &words[(hash + tries) % SLOTS];

		if (tries >= SLOTS)
			give_up("the table is full");
		if (!word->count) {
			memcpy(word->text, start, len);
			return word;
		}
		if (!strncmp(word->text, start, len) && !word->text[len])
			return word;
	}
}

static void end_word(const char *start, const char *end)
{
	if (end == start)
		return;
	/* what is long is counted by its first letters */
	look_up(start, end - start > 3 ? 3 : end - start)->count++;
	n_words++;
}

static void count_words(void)
{
	const char *start = text, *p;

	for (p = text; p < text + TEXT_BYTES; p++) {
		enum kind kind = classify(*p);

		if (kind == LETTER)
			continue;
		if (kind == UPPER) {
			n_strange += *p == 'X';
			continue;
		}
		end_word(start, p);
		start = p + 1;
		if (kind == STRANGE)
			n_strange++;
		else if (kind == NUMBER)
			n_numbers++;
		else if (kind == LINE)
			n_lines++;
	}
	end_word(start, p);
}

int main(int argc, char **argv)
{
	unsigned long sum = 0;
	int times = argc > 1 ? atoi(argv[1]) : 1;

	make_text();
	for (int i = 0; i < times; i++)
		count_words();
	for (size_t i = 0; i < SLOTS; i++)
		sum += (unsigned long)words[i].count * words[i].count;
	return printf("%u words, %u numbers, %u lines, %u strange, sum %lu\n", n_words, n_numbers,
		      n_lines, n_strange, sum) < 0;
}
