// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decoder parameters as numbers, as recordings by perf have them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "keys.h"
#include "params/params.h"
#include "util/array.h"

/* 4 bits of a list: an option's number + 2, 1 for "-", 0 behind the last */
#define WORD_ITEM_BITS 4
#define WORD_ITEMS (64 / WORD_ITEM_BITS)

static const struct key *find_word(uint64_t number)
{
	for (size_t i = 0; i < rvt_params_n_keys; i++)
		if (number == rvt_params_keys[i].word ||
		    (rvt_params_keys[i].type == KEY_VECTORS && number > rvt_params_keys[i].word &&
		     number < rvt_params_keys[i].word + RVT_MAX_CAUSES))
			return &rvt_params_keys[i];
	return NULL;
}

static uint64_t word_value(const uint64_t *words, size_t n, uint64_t number)
{
	for (size_t i = 0; i < n; i++)
		if (words[2 * i] == number)
			return words[2 * i + 1];
	return 0;
}

/* Names of the same value: any of them, for the text is read with a protocol that has one. */
static const char *name_of(const struct key *key, uint64_t value, unsigned int protocol)
{
	for (const struct name *n = key->names; n->name; n++)
		if (n->value == value && n->protocols & 1u << protocol)
			return n->name;
	return "?";
}

static void print_word_list(FILE *f, const struct key *key, const uint64_t *value,
			    unsigned int protocol)
{
	const char *sep = "";

	for (unsigned int i = 0; i < RVT_MAX_IOPTIONS; i++) {
		uint64_t item = value[i / WORD_ITEMS] >> (i % WORD_ITEMS * WORD_ITEM_BITS) &
				((1u << WORD_ITEM_BITS) - 1);

		if (!item)
			return;
		fprintf(f, "%s%s", sep, item == 1 ? "-" :
			name_of(key, 1ull << (item - 2), protocol));
		sep = ", ";
	}
}

/* @words: all of them, for a list goes on in another */
static void print_word(FILE *f, const struct key *key, const uint64_t *word, const uint64_t *words,
		       size_t n, unsigned int protocol)
{
	const uint64_t list[] = { word[1], word_value(words, n, word[0] + RVT_WORD_MORE) };

	fprintf(f, "%s", key->name);
	if (key->type == KEY_VECTORS)
		fprintf(f, "%u", (unsigned int)(word[0] - key->word));
	fputs(" = ", f);
	switch (key->type) {
	case KEY_NAME:
		fputs(name_of(key, word[1], protocol), f);
		break;
	case KEY_SET:
		rvt_params_print_set(f, key, word[1], protocol);
		break;
	case KEY_IOPTIONS:
		print_word_list(f, key, list, protocol);
		break;
	default:
		fprintf(f, "0x%llx", (unsigned long long)word[1]);
		break;
	}
	fputc('\n', f);
}

int rvt_params_words_print(const uint64_t *words, size_t n, FILE *f)
{
	unsigned int protocol = word_value(words, n, rvt_params_keys[0].word);

	if (protocol != RVT_PROTOCOL_NTRACE && protocol != RVT_PROTOCOL_ETRACE)
		return -ENOTSUP;
	for (size_t i = 0; i < n; i++) {
		const struct key *key = find_word(words[2 * i]);

		if (key)
			print_word(f, key, &words[2 * i], words, n, protocol);
		else if (!(key = find_word(words[2 * i] - RVT_WORD_MORE)) ||
			 key->type != KEY_IOPTIONS)
			return -ENOTSUP;
	}
	return 0;
}

struct word_list {
	uint64_t *words;
	size_t n, room;		/* pairs */
	bool failed;
};

static void add_word(struct word_list *list, uint64_t number, uint64_t value)
{
	if (array_reserve(&list->words, &list->room, 2 * list->n, 2)) {
		list->failed = true;
		return;
	}
	list->words[2 * list->n] = number;
	list->words[2 * list->n + 1] = value;
	list->n++;
}

static void add_word_list(struct word_list *list, const struct key *key,
			  const unsigned int *items)
{
	uint64_t value[2] = { 0 };

	for (unsigned int i = 0; i < items[-1]; i++) {
		uint64_t item = items[i] ? (uint64_t)__builtin_ctz(items[i]) + 2 : 1;

		value[i / WORD_ITEMS] |= item << (i % WORD_ITEMS * WORD_ITEM_BITS);
	}
	add_word(list, key->word, value[0]);
	if (value[1])
		add_word(list, key->word + RVT_WORD_MORE, value[1]);
}

static void add_word_vectors(struct word_list *list, const struct key *key,
			     const struct rvt_trap_vectors *v)
{
	bool interrupt = key->offset == FIELD(vectors.interrupt);
	uint64_t valid = interrupt ? v->interrupt_valid : v->exception_valid;

	for (unsigned int i = 0; i < RVT_MAX_CAUSES; i++)
		if (valid >> i & 1)
			add_word(list, key->word + i, (interrupt ? v->interrupt : v->exception)[i]);
}

/* What has names: some bits follow from other parameters. */
static void add_word_set(struct word_list *list, const struct key *key, unsigned int value,
			 unsigned int protocol)
{
	unsigned int named = 0;

	for (const struct name *n = key->names; n->name; n++)
		if (n->protocols & 1u << protocol)
			named |= n->value;
	add_word(list, key->word, value & named);
}

static void add_key(struct word_list *list, const struct key *key, const struct rvt_params *params)
{
	const void *field = (const char *)params + key->offset;

	switch (key->type) {
	case KEY_SET:
		add_word_set(list, key, *(const unsigned int *)field, params->protocol);
		break;
	case KEY_IOPTIONS:
		add_word_list(list, key, field);
		break;
	case KEY_VECTORS:
		add_word_vectors(list, key, &params->vectors);
		break;
	case KEY_VECTOR:
		if (params->vectors.base_valid)
			add_word(list, key->word, params->vectors.base);
		break;
	case KEY_ADDRESS:
		add_word(list, key->word, *(const uint64_t *)field);
		break;
	default:
		add_word(list, key->word, *(const unsigned int *)field);
		break;
	}
}

int rvt_params_words(const struct rvt_params *params, uint64_t **words, size_t *n)
{
	struct word_list list = { 0 };
	struct rvt_params room;

	params = rvt_params_whole(params, &room);
	if (!params)
		return -EINVAL;
	for (size_t i = 0; i < rvt_params_n_keys; i++)
		if (rvt_params_keys[i].protocols & 1u << params->protocol)
			add_key(&list, &rvt_params_keys[i], params);
	if (list.failed) {
		free(list.words);
		return -ENOMEM;
	}
	*words = list.words;
	*n = list.n;
	return 0;
}
