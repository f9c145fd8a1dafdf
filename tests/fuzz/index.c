// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * An index beside a recording: a file, or (first byte 1) what is packed in it, which no fuzzer
 * could write with its check sum. What was read and packed again is read as the same.
 */
#include "fuzz.h"
#include "session/index-state.h"
#include "session/stations.h"

static void *pack(const struct rvt_index *index, size_t *len)
{
	void *bytes;

	if (rvt_index_pack(index, &bytes, len))
		exit(1);
	return bytes;
}

static int pass(void *ctx, uint64_t key, struct words *words)
{
	(void)ctx, (void)key, (void)words;
	return 0;
}

/* What is kept at stations may be anything, which is noticed when it is read. */
static bool read_stations(const struct rvt_index *index)
{
	struct rvt_station_reader *reader = rvt_station_reader_create(index);
	int err = 0;

	if (!reader)
		exit(1);
	for (size_t i = 0; i < index->n_stations && !err; i++) {
		err = rvt_station_reader_seek(reader, i);
		if (!err)
			err = rvt_station_reader_walk(reader, 0, UINT64_MAX, pass, NULL);
	}
	rvt_station_reader_destroy(reader);
	return !err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rvt_index *index, *again;
	size_t len, second_len;
	void *bytes, *second;
	bool payload = size && data[0] == 1;

	if (payload ? rvt_index_read(data + 1, size - 1, NULL, &index) :
		      rvt_index_parse(data, size, NULL, &index))
		return 0;
	if (!read_stations(index)) {
		rvt_index_free(index);
		return 0;
	}
	bytes = pack(index, &len);
	if (rvt_index_parse(bytes, len, NULL, &again))
		broken("what was packed is refused");
	if (rvt_index_n_segments(index) != rvt_index_n_segments(again))
		broken("segments are missing");
	if (!read_stations(again))
		broken("stations are damaged");
	second = pack(again, &second_len);
	if (len != second_len || memcmp(bytes, second, len))
		broken("packed again it is another");
	free(bytes);
	free(second);
	rvt_index_free(index);
	rvt_index_free(again);
	return 0;
}
