// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A recording for another machine: as it is, with what it refers to behind it, and a table of our
 * sections that has that instead of the references.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <rvtrace/perfdata.h>
#include "file/file.h"
#include "reader.h"

/* All code, packed; *@blob is NULL when there is none. */
static int pack_code(struct rvt_perfdata *file, void **blob, size_t *len)
{
	struct rvt_code_store *store = NULL;
	unsigned int missing;
	size_t n;
	const struct rvt_code *code;
	int err = rvt_perfdata_all_code(file, &store, &missing);

	*blob = NULL;
	*len = 0;
	if (!err && missing)
		err = -ENOENT;
	code = rvt_code_list(store, &n);
	for (size_t i = 0; i < n && !err; i++)
		if (rvt_code_need(store, code[i].bytes, code[i].len) < code[i].len)
			err = -EBADMSG;
	if (!err && n)
		err = rvt_code_pack(code, n, blob, len);
	rvt_code_close(store);
	return err;
}

static int pack_symbols(const struct rvt_perfdata *file, void **blob, size_t *len)
{
	size_t text_len;
	char *text;
	int err = rvt_perfdata_kallsyms(file, &text, &text_len);

	*blob = NULL;
	*len = 0;
	if (err)
		return err == -ENOENT ? 0 : err;
	err = rvt_text_pack(text, text_len, blob, len);
	free(text);
	return err;
}

/*
 * The sections that @file has, but for what is replaced; code and symbols are one behind the other.
 */
static int write_rest(const struct rvt_perfdata *file, int fd, const void *code, size_t code_len,
		      const void *symbols, size_t symbols_len)
{
	struct {
		uint64_t magic;
		struct perfdata_own own[3];
	} table = { PERFDATA_OWN_MAGIC, {
		{ RVT_FEAT_RVTRACE_META, file->features[RVT_FEAT_RVTRACE_META] },
		{ RVT_FEAT_RVTRACE_CODE, { file->size, code_len } },
		{ RVT_FEAT_RVTRACE_KALLSYMS, { file->size + code_len, symbols_len } },
	} };
	struct perfdata_header header = file->header;
	int err = rvt_file_write(fd, code, code_len);

	if (!err)
		err = rvt_file_write(fd, symbols, symbols_len);
	if (!err)
		err = rvt_file_write(fd, &table, sizeof(table));
	header.event_types = (struct perfdata_section){ file->size + code_len + symbols_len,
							sizeof(table) };
	if (!err && lseek(fd, -(off_t)(header.event_types.offset + sizeof(table)), SEEK_CUR) < 0)
		err = -errno;
	if (!err)
		err = rvt_file_write(fd, &header, sizeof(header));
	if (!err && lseek(fd, 0, SEEK_END) < 0)
		err = -errno;
	return err;
}

int rvt_perfdata_archive(struct rvt_perfdata *file, int fd)
{
	void *code, *symbols = NULL;
	size_t code_len, symbols_len = 0;
	int err = pack_code(file, &code, &code_len);

	if (!err)
		err = pack_symbols(file, &symbols, &symbols_len);
	if (!err)
		err = rvt_file_write(fd, file->bytes, file->size);
	/* of one without references nothing is missing */
	if (!err && file->features[RVT_FEAT_RVTRACE_SHARED].size)
		err = write_rest(file, fd, code, code_len, symbols, symbols_len);
	free(code);
	free(symbols);
	return err;
}
