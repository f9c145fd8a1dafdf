// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * rvt-extract RECORDING TRACE PARAMS: what other decoders take: the bytes that the encoder sent,
 * and its parameters as `perf-rvtrace decode` reads them. The recording has one AUX buffer, not
 * compressed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rvtrace/perfdata.h>

/* The first encoder's section of the metadata, without what only recordings have. */
static int write_params(struct rvt_perfdata *file, FILE *out)
{
	const void *meta;
	char *text, *rest, *line;
	bool in_section = false;
	size_t len;

	if (rvt_perfdata_feature(file, RVT_FEAT_RVTRACE_META, &meta, &len))
		return -1;
	text = rest = strndup(meta, len);
	if (!text)
		return -1;
	while ((line = strsep(&rest, "\n"))) {
		if (line[0] == '[' && in_section)
			break;
		if (in_section && strncmp(line, "cpu ", 4) && strncmp(line, "src ", 4) &&
		    strncmp(line, "timestamp_frequency ", 20))
			fprintf(out, "%s\n", line);
		in_section |= !strncmp(line, "[encoder", 8);
	}
	free(text);
	return in_section ? 0 : -1;
}

static int write_trace(struct rvt_perfdata *file, FILE *out)
{
	struct rvt_perfdata_record record;
	uint32_t idx = UINT32_MAX;
	uint64_t pos = 0;
	int ret;

	while ((ret = rvt_perfdata_next(file, &pos, &record)) > 0) {
		const struct rvt_record_auxtrace *aux = (const void *)record.header;

		if (record.type != RVT_RECORD_AUXTRACE || !record.aux_len)
			continue;
		if ((idx != UINT32_MAX && aux->idx != idx) || aux->unpacked)
			return -1;
		idx = aux->idx;
		if (fwrite(record.aux, 1, record.aux_len, out) != record.aux_len)
			return -1;
	}
	return ret;
}

int main(int argc, char **argv)
{
	struct rvt_perfdata *file;
	char *error = NULL;
	FILE *trace, *params;
	int failed;

	if (argc != 4) {
		fputs("usage: rvt-extract RECORDING TRACE PARAMS\n", stderr);
		return 2;
	}
	if (rvt_perfdata_open(argv[1], &file, &error)) {
		fprintf(stderr, "rvt-extract: %s\n", error ? error : argv[1]);
		free(error);
		return 1;
	}
	trace = fopen(argv[2], "w");
	params = fopen(argv[3], "w");
	failed = !trace || !params || write_params(file, params) || write_trace(file, trace);
	failed |= trace && fclose(trace);
	failed |= params && fclose(params);
	if (failed)
		fprintf(stderr, "rvt-extract: %s: not one buffer of plain trace, or %s or %s "
			"cannot be written\n", argv[1], argv[2], argv[3]);
	rvt_perfdata_close(file);
	return failed;
}
