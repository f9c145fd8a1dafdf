// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-older FROM TO [KEY]...: the recording FROM as an earlier version of perf-rvtrace wrote it.
 * Our own sections are features of perf's table (struct perfdata_own says why they no longer are),
 * and lines of the metadata that begin with a KEY, which the earlier version does not know, are
 * comments.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perfdata/format.h"

#define MAX_SECTIONS RVT_FEAT_BITS

struct recording {
	uint8_t *bytes;
	size_t len;
	struct perfdata_header *header;
};

static void __attribute__((noreturn)) fail(const char *path, const char *why)
{
	fprintf(stderr, "rvt-older: %s: %s\n", path, why);
	exit(1);
}

static struct recording read_recording(const char *path)
{
	FILE *in = fopen(path, "rb");
	struct recording recording = { 0 };
	long size;

	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) < (long)sizeof(*recording.header))
		fail(path, "no recording");
	rewind(in);
	recording.len = size;
	recording.bytes = malloc(recording.len);
	if (!recording.bytes || fread(recording.bytes, recording.len, 1, in) != 1)
		fail(path, "cannot be read");
	fclose(in);
	recording.header = (struct perfdata_header *)recording.bytes;
	return recording;
}

/* "\nKEY = " of @section becomes "\n#EY = ". */
static void hide_key(struct recording *recording, const struct perfdata_section *section,
		     const char *key)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "\n%s = ", key);
	uint8_t *at = recording->bytes + section->offset, *end = at + section->size;

	while ((at = memmem(at, end - at, line, len)))
		at[1] = '#';
}

/* Our own sections, by their bits. Returns how many. */
static size_t list_own(const struct recording *recording, struct perfdata_own *own)
{
	const struct perfdata_section *table = &recording->header->event_types;
	size_t n = table->size / sizeof(*own);

	if (table->offset > recording->len || table->size > recording->len - table->offset ||
	    n > MAX_SECTIONS)
		return 0;
	memcpy(own, recording->bytes + table->offset + sizeof(uint64_t), n * sizeof(*own));
	return n;
}

/* The table of features behind the data gets @n more: what lies behind moves. */
static void write_older(struct recording *recording, const struct perfdata_own *own, size_t n,
			FILE *out)
{
	struct perfdata_header header = *recording->header;
	uint64_t table = header.data.offset + header.data.size, moved = n * sizeof(own->section);
	struct perfdata_section sections[2 * MAX_SECTIONS];
	size_t n_features = 0;

	for (unsigned int bit = 0; bit < RVT_FEAT_BITS; bit++)
		n_features += header.features[bit / 64] >> bit % 64 & 1;
	memcpy(sections, recording->bytes + table, n_features * sizeof(*sections));
	for (size_t i = 0; i < n; i++) {
		sections[n_features + i] = own[i].section;
		header.features[own[i].bit / 64] |= UINT64_C(1) << own[i].bit % 64;
	}
	for (size_t i = 0; i < n_features + n; i++)
		sections[i].offset += sections[i].offset >= table ? moved : 0;
	header.event_types = (struct perfdata_section){ 0, 0 };
	fwrite(&header, sizeof(header), 1, out);
	fwrite(recording->bytes + sizeof(header), table - sizeof(header), 1, out);
	fwrite(sections, sizeof(*sections), n_features + n, out);
	table += n_features * sizeof(*sections);
	fwrite(recording->bytes + table, recording->len - table, 1, out);
}

int main(int argc, char **argv)
{
	struct perfdata_own own[MAX_SECTIONS];
	struct recording recording;
	size_t n;
	FILE *out;

	if (argc < 3) {
		fputs("usage: rvt-older FROM TO [KEY]...\n", stderr);
		return 2;
	}
	recording = read_recording(argv[1]);
	n = list_own(&recording, own);
	if (!n || own[0].bit != RVT_FEAT_RVTRACE_META)
		fail(argv[1], "it has no sections of ours, or not in a table of their own");
	for (int i = 3; i < argc; i++)
		hide_key(&recording, &own[0].section, argv[i]);
	out = fopen(argv[2], "wb");
	if (!out)
		fail(argv[2], "cannot be written");
	write_older(&recording, own, n, out);
	if (fclose(out))
		fail(argv[2], "cannot be written");
	free(recording.bytes);
	return 0;
}
