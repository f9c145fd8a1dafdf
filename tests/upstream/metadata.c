// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What perf keeps of an encoder's parameters is what the library knows: each key with each of its
 * values goes from text to the words of a recording and back, by perf and by the library, and means
 * the same. Keys and values
 * come from the library's own messages, so what it learns is tested from then on.
 *
 * Built with the file of the series that has the metadata (tests/upstream.t).
 */
#include <stdlib.h>
#include "params/params.h"
#include "rvtrace.h"

bool dump_trace;
static int failed, tried;

/* Words of a comma separated list, each for @visit. Changes @list. */
static void for_each(char *list, void (*visit)(void *ctx, const char *word), void *ctx)
{
	char *word;

	while ((word = strsep(&list, ",")))
		visit(ctx, strim(word));
}

/* How the library writes what it reads in @text; NULL: it refuses it. */
static char *print(const char *text)
{
	struct rvt_params params = { .size = sizeof(params) };
	char *error = NULL, *printed = NULL;

	if (!rvt_params_parse(&params, "text", text, strlen(text), &error) &&
	    rvt_params_print(&params, &printed))
		exit(2);
	free(error);
	return printed;
}

/*
 * What follows "valid WHAT: " in the library's message about the last line of @text; freed by the
 * caller.
 */
static char *valid(const char *text, const char *what)
{
	struct rvt_params params = { .size = sizeof(params) };
	char *error = NULL, *at;

	if (!rvt_params_parse(&params, "text", text, strlen(text), &error) || !error) {
		fprintf(stderr, "# the library takes \"%s\"\n", text);
		exit(2);
	}
	at = strstr(error, what);
	if (!at) {
		fprintf(stderr, "# no \"%s\" in \"%s\"\n", what, error);
		exit(2);
	}
	at = strdup(at + strlen(what));
	free(error);
	return at;
}

/* As perf prints the words of a recording, or as the library does */
static char *print_words(const struct rvtrace_params *params, bool by_library)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!params->words)
		;
	else if (by_library)
		rvt_params_words_print(params->words + 1, params->words[0], out);
	else
		rvtrace_params__print(params->words, out);
	fclose(out);
	return text;
}

/* @text by the library's words as perf prints them */
static char *print_library_words(const char *text)
{
	struct rvt_params params = { .size = sizeof(params) };
	struct rvtrace_params all = {};
	char *error = NULL, *printed;
	uint64_t *words;
	size_t n;

	if (rvt_params_parse(&params, "text", text, strlen(text), &error) ||
	    rvt_params_words(&params, &words, &n))
		exit(2);
	all.nr_words = 1 + 2 * n;
	all.words = calloc(all.nr_words, sizeof(u64));
	all.words[0] = n;
	memcpy(all.words + 1, words, 2 * n * sizeof(u64));
	printed = print_words(&all, false);
	free(all.words);
	free(words);
	return printed;
}

static void compare_with(const char *before, const char *text, char *back, const char *by)
{
	char *after = print(back);

	if (!before || !after || strcmp(before, after)) {
		failed++;
		fprintf(stderr, "# differs%s: \"%s\" became \"%s\"\n", by, text, back);
	}
	free(after);
	free(back);
}

/* The library's @text, and what it is after the way through a recording */
static void compare(const char *text)
{
	struct rvtrace_params params = {};
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	char *before = print(text);

	tried++;
	if (rvtrace_params__parse(&params, in, "text"))
		failed++;
	fclose(in);
	compare_with(before, text, print_words(&params, false), "");
	compare_with(before, text, print_words(&params, true), " in the library");
	compare_with(before, text, print_library_words(text), " from the library");
	free(params.words);
	free(before);
}

struct key {
	const char *protocol, *name;
};

static void try_value(void *ctx, const char *value)
{
	const struct key *key = ctx;
	char text[2048], low[32], *printed;
	const char *dots = strstr(value, "..");

	if (dots) {
		snprintf(low, sizeof(low), "%.*s", (int)(dots - value), value);
		try_value(ctx, low);
		value = dots + 2;
	}
	snprintf(text, sizeof(text), "protocol = %s\n%s = %s\n", key->protocol, key->name, value);
	/* What only one dialect has. */
	printed = print(text);
	if (!printed)
		snprintf(text, sizeof(text), "protocol = %s\ndialect = ctte\n%s = %s\n",
			 key->protocol, key->name, value);
	free(printed);
	compare(text);
}

static void try_key(void *ctx, const char *name)
{
	struct key key = { .protocol = ctx, .name = name };
	char text[1024], list[1024] = "", room[64], *values, *all, *together;
	size_t len = strlen(name);

	/* "trap_vector.exception.N" */
	if (len > 2 && !strcmp(name + len - 2, ".N")) {
		snprintf(room, sizeof(room), "%.*s63", (int)len - 1, name);
		key.name = room;
	}
	snprintf(text, sizeof(text), "protocol = %s\n%s = ?\n", key.protocol, key.name);
	values = valid(text, "valid values: ");
	if (strstarts(values, "an address")) {
		try_value(&key, "0x123456789abcdef0");
		try_value(&key, "0");
		free(values);
		return;
	}
	all = strdup(values);
	for_each(values, try_value, &key);
	/* A set or a list takes them all at once, a list as often as there is room. */
	snprintf(text, sizeof(text), "protocol = %s\n%s = %s", key.protocol, key.name, all);
	together = print(text);
	if (together)
		try_value(&key, all);
	for (int i = 0; together && strstr(all, "-") && i < RVT_MAX_IOPTIONS / 4; i++)
		strcat(list, "-, implicit_return, sequential_jump, -, ");
	if (*list) {
		list[strlen(list) - 2] = 0;
		try_value(&key, list);
	}
	free(together);
	free(all);
	free(values);
}

int main(void)
{
	static char *const protocols[] = { "ntrace", "etrace" };
	char text[64], *keys;

	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
		snprintf(text, sizeof(text), "protocol = %s\nnone_such = 1\n", protocols[i]);
		keys = valid(text, "valid keys: ");
		for_each(keys, try_key, protocols[i]);
		free(keys);
	}
	printf("%d values tried\n", tried);
	return failed || tried < 100;
}
