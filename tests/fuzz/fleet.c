// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Two files of a fleet's spool: read, added in either order, written, and read again, which comes
 * to the same. Or what rank 0 tells the others there is to do.
 *
 * The input: the length of the first file (4 bytes), and both; UNITS in place of the length: the
 * rest is for units_unpack().
 */
#include "common/cmd.h"
#include "fleet/sums.h"
#include "fleet/units.h"
#include "fuzz.h"

#define UNITS 0xffffffff
#define MAX_UNITS 8

/* What of sums is the same however they were added up. */
struct totals {
	uint64_t insns, branches, entered, gaps, ran, counted;
};

struct text {
	char *bytes;
	size_t len;
};

/* Damaged files are what comes all the time: nobody wants to know. */
int cmd_error(int status, const char *format, ...)
{
	(void)format;
	return status;
}

void cmd_warning(const char *format, ...)
{
	(void)format;
}

static FILE *open_bytes(const struct input *file)
{
	FILE *in = fmemopen((void *)file->bytes, file->len, "r");

	if (!in)
		exit(1);
	return in;
}

static bool add(struct sums *sums, const struct input *file)
{
	FILE *in = file->len ? open_bytes(file) : NULL;
	bool added = in && !sums_read(sums, in, "a file");

	if (in)
		fclose(in);
	return added;
}

static bool read_files(struct sums *sums, const struct input *a, const struct input *b)
{
	if (sums_number(sums, MAX_UNITS))
		exit(1);
	return add(sums, a) && (!b->len || add(sums, b));
}

static struct text write_sums(struct sums *sums)
{
	struct text text;
	FILE *out = open_memstream(&text.bytes, &text.len);

	if (!out || sums_write(sums, out) || fclose(out))
		exit(1);
	return text;
}

static struct totals add_up(const struct sums *sums)
{
	struct totals totals = { .insns = 0 };

	for (size_t i = 0; i < sums->n_rows; i++) {
		totals.insns += sums->rows[i]->insns;
		totals.branches += sums->rows[i]->branches;
		totals.entered += sums->rows[i]->entered;
	}
	for (size_t i = 0; i < sums->n_recordings; i++) {
		totals.ran += sums->recordings[i]->insns;
		totals.gaps += sums->recordings[i]->gaps;
	}
	for (size_t i = 0; i < sums->counters.n; i++)
		totals.counted += sums->counters.list[i]->count;
	return totals;
}

/* Names are made visible when they are written, and may be the same then: once. */
static void write_again(struct sums *sums, const struct text *text)
{
	const struct input file = { (const uint8_t *)text->bytes, text->len }, none = { NULL, 0 };
	const struct totals totals = add_up(sums);
	struct sums again = { .rows = NULL }, third = { .rows = NULL };
	struct text second, last;
	struct totals totals_again;

	if (!read_files(&again, &file, &none))
		broken("what was written cannot be read");
	totals_again = add_up(&again);
	if (memcmp(&totals, &totals_again, sizeof(totals)))
		broken("what was written comes to something else");
	second = write_sums(&again);
	if (!read_files(&third, &(struct input){ (uint8_t *)second.bytes, second.len }, &none))
		broken("what was written again cannot be read");
	last = write_sums(&third);
	if (second.len != last.len || memcmp(second.bytes, last.bytes, last.len))
		broken("what was written again is not the same");
	free(second.bytes);
	free(last.bytes);
	sums_free(&again);
	sums_free(&third);
}

static void look_at_spool(const struct input *file)
{
	const char *path = fuzz_write("spool", file->bytes, file->len);
	struct sums sums = { .rows = NULL };
	FILE *in = sums_are_whole(path) ? fopen(path, "r") : NULL;

	if (!in)
		return;
	sums_read_recordings(&sums, in);
	fclose(in);
	sums_free(&sums);
}

static void read_units(const struct input *in)
{
	uint8_t *copy = malloc(in->len + !in->len);	/* reading beyond it is noticed */
	struct units units = { .list = NULL }, again = { .list = NULL };
	char *bytes = NULL, *bytes_again = NULL;
	size_t len = 0, len_again = 0;

	memcpy(copy, in->bytes, in->len);
	if (!units_unpack(&units, (char *)copy, in->len)) {
		if (units_pack(&units, &bytes, &len) || units_unpack(&again, bytes, len) ||
		    units_pack(&again, &bytes_again, &len_again))
			broken("what was packed cannot be unpacked");
		if (len != len_again || memcmp(bytes, bytes_again, len))
			broken("packed again it is another");
	}
	units_free(&units);
	units_free(&again);
	free(bytes);
	free(bytes_again);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sums sums = { .rows = NULL }, other = { .rows = NULL };
	struct input in = { data, size }, first = { NULL, 0 };
	uint64_t len = take_number(&in, 4);
	struct text text, other_text;

	if (len == UNITS) {
		read_units(&in);
		return 0;
	}
	first.len = len < in.len ? len : in.len;
	first.bytes = take(&in, first.len);
	look_at_spool(&first);
	if (read_files(&sums, &first, &in)) {
		text = write_sums(&sums);
		write_again(&sums, &text);
		if (in.len && read_files(&other, &in, &first)) {
			other_text = write_sums(&other);
			if (text.len != other_text.len ||
			    memcmp(text.bytes, other_text.bytes, text.len))
				broken("in another order it is not the same");
			free(other_text.bytes);
		}
		free(text.bytes);
	}
	sums_free(&sums);
	sums_free(&other);
	return 0;
}
