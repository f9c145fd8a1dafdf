// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/text.h"
#include "common/times.h"
#include "util/array.h"

/* ---- reading ---- */

static bool take_seconds(const char **text, uint64_t *ns)
{
	double seconds;

	if (read_decimal(text, &seconds) || seconds > INT64_MAX / 1e9)
		return false;
	*ns = seconds * 1e9 + 0.5;
	return true;
}

static bool parse_seconds(const char *text, struct time_range *range)
{
	*range = (struct time_range){ 0, UINT64_MAX };
	if (*text && *text != ',' && !take_seconds(&text, &range->from))
		return false;
	if (*text == ',' && *++text && !take_seconds(&text, &range->to))
		return false;
	return !*text && range->to >= range->from;
}

static bool take_percent(const char **text, double *percent)
{
	if (read_decimal(text, percent) || **text != '%')
		return false;
	++*text;
	return true;
}

/* The bounds of a part, in percent. */
static bool parse_bounds(const char *text, double *from, double *to)
{
	double size, number = 1;

	if (!take_percent(&text, &size))
		return false;
	if (*text == '-') {
		text++;
		*from = size;
		return take_percent(&text, to) && !*text;
	}
	if (*text == '/') {
		text++;
		if (read_decimal(&text, &number))
			return false;
	}
	*from = size * (number - 1);
	*to = size * number;
	return !*text;
}

static bool parse_part(const char *text, const struct time_range *recording,
		       struct time_range *range)
{
	double from, to, span = recording->to - recording->from;

	if (!parse_bounds(text, &from, &to) || !(from >= 0 && from <= 100 && to >= from))
		return false;
	range->from = recording->from + from / 100 * span;
	range->to = recording->from + (to < 100 ? to : 100) / 100 * span;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct time_range *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Puts ranges into order, and makes one of those that touch. */
static void join(struct times *times)
{
	size_t n = 0;

	if (!times->n)
		return;
	qsort(times->ranges, times->n, sizeof(*times->ranges), compare);
	for (size_t i = 0; i < times->n; i++) {
		struct time_range *last = n ? &times->ranges[n - 1] : NULL;

		if (!last || (times->ranges[i].from > last->to &&
			      times->ranges[i].from - last->to > 1))
			times->ranges[n++] = times->ranges[i];
		else if (times->ranges[i].to > last->to)
			last->to = times->ranges[i].to;
	}
	times->n = n;
}

bool times_are_parts(const char *text)
{
	return strchr(text, '%');
}

static int add(struct times *times, const char *text, const struct time_range *recording)
{
	struct time_range range;

	if (!(recording ? parse_part(text, recording, &range) : parse_seconds(text, &range)))
		return -EINVAL;
	if (array_grow(&times->ranges, times->n))
		return -ENOMEM;
	times->ranges[times->n++] = range;
	return 0;
}

static int add_all(struct times *times, char *text, const struct time_range *recording)
{
	char *word, *part;
	int err = 0;

	while (!err && (word = strsep(&text, " "))) {
		if (!*word)
			continue;
		if (!recording)
			err = add(times, word, recording);
		while (recording && !err && (part = strsep(&word, ",")))
			err = add(times, part, recording);
	}
	return err;
}

int times_parse(struct times *times, const char *text, const struct time_range *recording)
{
	char *copy = strdup(text);
	int err = copy ? add_all(times, copy, recording) : -ENOMEM;

	free(copy);
	join(times);
	return err;
}

void times_free(struct times *times)
{
	free(times->ranges);
	*times = (struct times){ 0 };
}

/* ---- asking ---- */

bool times_have_any(const struct times *times, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < times->n; i++)
		if (from <= times->ranges[i].to && to >= times->ranges[i].from)
			return true;
	return !times->n;
}

bool times_have_all(const struct times *times, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < times->n; i++)
		if (from >= times->ranges[i].from && to <= times->ranges[i].to)
			return true;
	return !times->n;
}

struct time_range times_span(const struct times *times)
{
	if (!times->n)
		return (struct time_range){ 0, UINT64_MAX };
	return (struct time_range){ times->ranges[0].from, times->ranges[times->n - 1].to };
}
