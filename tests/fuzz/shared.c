// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code and symbols that a recording refers to: the two files, and the entries of the recording's
 * section as they are before they are packed. The recording's archive has what the recording has.
 *
 * An input is: length (4 bytes) and content of the file of code, of the file of symbols; length (2)
 * of the reference to the first; the rest is the reference to the second.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <rvtrace/perfdata.h>
#include "fuzz.h"
#include "perfdata/shared.h"

#define FOLDER RVT_SHARED_FOLDER "/id/"
#define ADDR 0xffffffff80000000u

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return setenv("XDG_CACHE_HOME", fuzz_dir(), 1);
}

/* Bytes with their length, of @n bytes, in front; what there is when that are fewer. */
static struct input take_piece(struct input *in, size_t n)
{
	uint64_t len = take_number(in, n);
	struct input piece = { .len = len < in->len ? len : in->len };

	piece.bytes = take(in, piece.len);
	return piece;
}

static const char *write_recording(const struct rvt_code refs[2])
{
	const struct perf_event_attr attr = { .size = sizeof(attr) };
	const char *path = fuzz_write("perf.data", "", 0);
	struct rvt_perfdata_writer *writer;
	void *blob;
	size_t len;

	if (rvt_perfdata_create(path, &writer) ||
	    rvt_perfdata_add_event(writer, &attr, "rvtrace//", NULL, 0) ||
	    rvt_perfdata_begin(writer, "rvtrace 1\n") || rvt_code_pack(refs, 2, &blob, &len) ||
	    rvt_perfdata_add_feature(writer, RVT_FEAT_RVTRACE_SHARED, blob, len) ||
	    rvt_perfdata_finish(writer))
		broken("%s was not written", path);
	free(blob);
	return path;
}

static struct rvt_perfdata *open_file(const char *path)
{
	struct rvt_perfdata *file;
	char *error;

	if (rvt_perfdata_open(path, &file, &error))
		broken("%s", error);
	return file;
}

/* What can be read of an entry. */
static size_t read_code(struct rvt_code_store *store, const struct rvt_code *code)
{
	volatile uint8_t sum = 0;
	size_t len = rvt_code_need(store, code->bytes, code->len);

	for (size_t i = 0; i < len; i++)
		sum += code->bytes[i];
	return len;
}

static void compare_code(struct rvt_code_store *store, struct rvt_code_store *archived)
{
	size_t n, n_archived;
	const struct rvt_code *a = rvt_code_list(store, &n);
	const struct rvt_code *b = rvt_code_list(archived, &n_archived);

	if (n != n_archived)
		broken("%zu pieces of code, the archive has %zu", n, n_archived);
	for (size_t i = 0; i < n; i++)
		if (read_code(store, &a[i]) != a[i].len || read_code(archived, &b[i]) != a[i].len ||
		    a[i].len != b[i].len || a[i].addr != b[i].addr ||
		    memcmp(a[i].bytes, b[i].bytes, a[i].len))
			broken("piece %zu of the code differs in the archive", i);
}

/* @text: what the recording has. */
static void read_archive(struct rvt_perfdata *file, struct rvt_code_store *store, const char *text)
{
	const char *path = fuzz_write("archive", "", 0);
	int fd = open(path, O_RDWR | O_CLOEXEC), err = rvt_perfdata_archive(file, fd);
	struct rvt_code_store *code = NULL;
	struct rvt_perfdata *archive;
	char *again = NULL;
	size_t len;

	close(fd);
	if (err)
		return;
	archive = open_file(path);
	if (rvt_perfdata_code(archive, &code))
		broken("the code of an archive cannot be read");
	compare_code(store, code);
	rvt_perfdata_kallsyms(archive, &again, &len);
	if (!text != !again || (text && strcmp(text, again)))
		broken("the symbols of an archive are others");
	free(again);
	rvt_code_close(code);
	rvt_perfdata_close(archive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct input code_file = take_piece(&in, 4), symbols = take_piece(&in, 4);
	struct input first = take_piece(&in, 2);
	const struct rvt_code refs[2] = {
		{ ADDR, first.len, RVT_CODE_KERNEL, "[kernel.kallsyms]", first.bytes },
		{ ADDR, in.len, RVT_CODE_SYMBOLS, "kallsyms", in.bytes },
	};
	struct rvt_code_store *store = NULL;
	struct rvt_perfdata *file;
	char *text = NULL;
	size_t len;

	fuzz_write(FOLDER "code", code_file.bytes, code_file.len);
	fuzz_write(FOLDER "symbols", symbols.bytes, symbols.len);
	file = open_file(write_recording(refs));
	if (!rvt_perfdata_code(file, &store)) {
		rvt_perfdata_kallsyms(file, &text, &len);
		read_archive(file, store, text);
	}
	free(text);
	rvt_code_close(store);
	rvt_perfdata_close(file);
	return 0;
}
