// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-grammar FILE BYTES: what a grammar makes of a sequence of 64-bit names, for ./grammar. Prints
 * how many names there are, how many of them differ, the rules and symbols of the grammar, names
 * over symbols, and the names as numbers of 4 bytes that zstd compressed by its levels 3 and 19, in
 * percent of BYTES; then the seconds of a processor that the grammar took.
 *
 * The grammar is that of Nevill-Manning and Witten, "Identifying hierarchical structure in
 * sequences" (1997), called Sequitur: no two neighbours occur twice, and each rule is used twice.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

/* What a symbol is: a name's number, or these and that of a rule. */
#define RULE (1u << 30)		/* the rule is used */
#define GUARD (1u << 31)	/* between the last symbol of the rule and its first one */
#define DELETED UINT32_MAX	/* in .digrams */

struct symbol {
	uint32_t value, prev, next;
};

struct rule {
	uint32_t guard, uses;
};

static struct {
	struct symbol *symbols;		/* the first is none */
	uint32_t n_symbols, free;
	struct rule *rules;
	uint32_t n_rules, free_rule;
	uint32_t *digrams, mask;	/* by two neighbours: where the first of them is; 0: free */
} g;

static void *get(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (memory)
		return memory;
	fputs("rvt-grammar: out of memory\n", stderr);
	exit(1);
}

static struct symbol *at(uint32_t s)
{
	return &g.symbols[s];
}

static bool is_guard(uint32_t s)
{
	return at(s)->value & GUARD;
}

static uint32_t make_symbol(uint32_t value)
{
	uint32_t s = g.free;

	if (s)
		g.free = at(s)->next;
	else
		s = ++g.n_symbols;
	*at(s) = (struct symbol){ .value = value };
	if (!(value & GUARD) && value & RULE)
		g.rules[value & ~RULE].uses++;
	return s;
}

static void free_symbol(uint32_t s)
{
	at(s)->next = g.free;
	g.free = s;
}

/* ---- neighbours ---- */

static uint32_t *find_digram(uint32_t s)
{
	const uint64_t a = at(s)->value, b = at(at(s)->next)->value;
	uint64_t slot = (a << 32 | b) * 0x9e3779b97f4a7c15ull >> 20;
	uint32_t *deleted = NULL, *found;

	for (;; slot++) {
		found = &g.digrams[slot & g.mask];
		if (!*found)
			return deleted ? deleted : found;
		if (*found == DELETED)
			deleted = deleted ? deleted : found;
		else if (at(*found)->value == a && at(at(*found)->next)->value == b)
			return found;
	}
}

static void forget_digram(uint32_t s)
{
	uint32_t *found;

	if (is_guard(s) || is_guard(at(s)->next))
		return;
	found = find_digram(s);
	if (*found == s)
		*found = DELETED;
}

/* Of three that are equal only one pair is known: the other one takes its place. */
static void know_triple(uint32_t s, uint32_t known)
{
	const struct symbol *symbol = at(s);

	if (symbol->prev && symbol->next && at(symbol->prev)->value == symbol->value &&
	    at(symbol->next)->value == symbol->value)
		*find_digram(known) = known;
}

static void join(uint32_t left, uint32_t right)
{
	if (at(left)->next) {
		forget_digram(left);
		know_triple(right, right);
		know_triple(left, at(left)->prev);
	}
	at(left)->next = right;
	at(right)->prev = left;
}

static void insert_after(uint32_t s, uint32_t inserted)
{
	join(inserted, at(s)->next);
	join(s, inserted);
}

static void remove_symbol(uint32_t s)
{
	const uint32_t value = at(s)->value;

	join(at(s)->prev, at(s)->next);
	forget_digram(s);
	if (value & RULE)
		g.rules[value & ~RULE].uses--;
	free_symbol(s);
}

/* ---- rules ---- */

static uint32_t make_rule(void)
{
	uint32_t r = g.free_rule, guard;

	if (r)
		g.free_rule = g.rules[r].guard;
	else
		r = g.n_rules++;
	g.rules[r] = (struct rule){ .guard = guard = make_symbol(GUARD | r) };
	at(guard)->next = at(guard)->prev = guard;
	return r;
}

/* The rule that is used once only, at @s, takes the place of that. */
static void expand(uint32_t s)
{
	const uint32_t r = at(s)->value & ~RULE, guard = g.rules[r].guard;
	const uint32_t left = at(s)->prev, right = at(s)->next;
	const uint32_t first = at(guard)->next, last = at(guard)->prev;

	forget_digram(left);
	forget_digram(s);
	free_symbol(s);
	free_symbol(guard);
	g.rules[r] = (struct rule){ .guard = g.free_rule };
	g.free_rule = r;
	at(left)->next = first;
	at(first)->prev = left;
	at(last)->next = right;
	at(right)->prev = last;
	if (!is_guard(right))
		*find_digram(last) = last;
	if (!is_guard(left))
		*find_digram(left) = left;
}

static bool check(uint32_t s);

/* @s and what follows it become a use of rule @r. */
static void substitute(uint32_t s, uint32_t r)
{
	const uint32_t before = at(s)->prev;

	remove_symbol(at(before)->next);
	remove_symbol(at(before)->next);
	insert_after(before, make_symbol(RULE | r));
	if (!check(before))
		check(at(before)->next);
}

/* @s and @other begin equal pairs. */
static void match(uint32_t s, uint32_t other)
{
	const uint32_t a = at(s)->value, b = at(at(s)->next)->value;
	uint32_t r, first;

	if (is_guard(at(other)->prev) && is_guard(at(at(other)->next)->next)) {
		r = at(at(other)->prev)->value & ~GUARD;
		substitute(s, r);
	} else {
		r = make_rule();
		insert_after(g.rules[r].guard, make_symbol(a));
		insert_after(at(g.rules[r].guard)->next, make_symbol(b));
		substitute(other, r);
		substitute(s, r);
		first = at(g.rules[r].guard)->next;
		*find_digram(first) = first;
	}
	first = at(g.rules[r].guard)->next;
	if (at(first)->value & RULE && g.rules[at(first)->value & ~RULE].uses == 1)
		expand(first);
}

/* Returns whether the pair that begins with @s was known, and is now a use of a rule. */
static bool check(uint32_t s)
{
	uint32_t *found;

	if (is_guard(s) || is_guard(at(s)->next))
		return false;
	found = find_digram(s);
	if (!*found || *found == DELETED) {
		*found = s;
		return false;
	}
	if (*found != s && at(*found)->next != s && at(s)->next != *found)
		match(s, *found);
	return true;
}

/* ---- results ---- */

/* Returns how many of @numbers the rule is, or stops: the grammar must be the sequence again. */
static size_t compare(uint32_t r, const uint32_t *numbers, size_t left)
{
	const uint32_t guard = g.rules[r].guard;
	size_t n = 0;

	for (uint32_t s = at(guard)->next; s != guard; s = at(s)->next) {
		const uint32_t value = at(s)->value;

		if (value & RULE) {
			n += compare(value & ~RULE, numbers + n, left - n);
		} else if (n < left && numbers[n] == value) {
			n++;
		} else {
			fputs("rvt-grammar: the grammar is another sequence\n", stderr);
			exit(1);
		}
	}
	return n;
}

/* Each name gets a number; returns how many there are. */
static uint32_t number_names(const uint64_t *names, size_t n, uint32_t *numbers)
{
	size_t room = 1;
	uint64_t *known;
	uint32_t *known_numbers, differ = 0;

	while (room < 2 * n + 2)
		room *= 2;
	known = get(room, sizeof(*known));
	known_numbers = get(room, sizeof(*known_numbers));
	for (size_t i = 0; i < n; i++) {
		const uint64_t name = names[i] ? names[i] : 1;
		size_t slot = name * 0x9e3779b97f4a7c15ull >> 20;

		while (known[slot & (room - 1)] && known[slot & (room - 1)] != name)
			slot++;
		if (!known[slot & (room - 1)]) {
			known[slot & (room - 1)] = name;
			known_numbers[slot & (room - 1)] = differ++;
		}
		numbers[i] = known_numbers[slot & (room - 1)];
	}
	free(known);
	free(known_numbers);
	return differ;
}

static double compressed(const uint32_t *numbers, size_t n, int level, double bytes)
{
	const size_t room = ZSTD_compressBound(n * sizeof(*numbers));
	void *out = get(room, 1);
	size_t len = ZSTD_compress(out, room, numbers, n * sizeof(*numbers), level);

	free(out);
	return 100 * len / bytes;
}

static uint64_t *read_names(const char *path, size_t *n)
{
	FILE *file = fopen(path, "r");
	uint64_t *names;
	long len;

	if (!file || fseek(file, 0, SEEK_END) || (len = ftell(file)) < 0 ||
	    fseek(file, 0, SEEK_SET)) {
		perror(path);
		exit(1);
	}
	*n = len / sizeof(*names);
	names = get(*n + 1, sizeof(*names));
	if (*n >= RULE || fread(names, sizeof(*names), *n, file) != *n) {
		fprintf(stderr, "rvt-grammar: %s cannot be read, or is too long\n", path);
		exit(1);
	}
	fclose(file);
	return names;
}

int main(int argc, char **argv)
{
	uint32_t *numbers, differ, n_rules = 0;
	size_t n, n_symbols = 0, table = 1;
	uint64_t *names;
	clock_t took;

	if (argc != 3) {
		fputs("usage: rvt-grammar FILE BYTES\n", stderr);
		return 2;
	}
	names = read_names(argv[1], &n);
	numbers = get(n + 1, sizeof(*numbers));
	differ = number_names(names, n, numbers);
	free(names);
	/* deleted ones need room, too */
	while (table < 4 * n + 4)
		table *= 2;
	g.digrams = get(table, sizeof(*g.digrams));
	g.mask = table - 1;
	g.symbols = get(3 * n + 16, sizeof(*g.symbols));
	g.rules = get(n + 16, sizeof(*g.rules));
	took = clock();
	make_rule();
	for (size_t i = 0; i < n; i++) {
		const uint32_t guard = g.rules[0].guard;

		insert_after(at(guard)->prev, make_symbol(numbers[i]));
		check(at(at(guard)->prev)->prev);
	}
	took = clock() - took;
	if (compare(0, numbers, n) != n) {
		fputs("rvt-grammar: the grammar is a shorter sequence\n", stderr);
		return 1;
	}
	for (uint32_t r = 0; r < g.n_rules; r++) {
		const uint32_t guard = g.rules[r].guard;

		if (r && !g.rules[r].uses)
			continue;
		n_rules++;
		for (uint32_t s = at(guard)->next; s != guard; s = at(s)->next)
			n_symbols++;
	}
	printf("%zu %" PRIu32 " %" PRIu32 " %zu %.1f", n, differ, n_rules, n_symbols,
	       n / (double)n_symbols);
	printf(" %.1f%% %.1f%% %.1f\n", compressed(numbers, n, 3, atof(argv[2])),
	       compressed(numbers, n, 19, atof(argv[2])), took / (double)CLOCKS_PER_SEC);
	free(numbers);
	return 0;
}
