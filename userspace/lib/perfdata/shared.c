// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Code and symbols that are not in the recording, but in files that it refers to (shared.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rvtrace/perfdata.h>
#include "file/file.h"
#include "util/array.h"
#include "packed.h"
#include "reader.h"
#include "shared.h"

#define MAX_ADDRESS_DIGITS 16

char *rvt_shared_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *folder = NULL;
	int n = -1;

	if (cache && *cache == '/')
		n = asprintf(&folder, "%s/" RVT_SHARED_FOLDER, cache);
	else if (home && *home == '/')
		n = asprintf(&folder, "%s/.cache/" RVT_SHARED_FOLDER, home);
	return n < 0 ? NULL : folder;
}

/* ---- the files ---- */

struct shared_ref {
	struct rvt_shared_ref ref;
	const char *path;
	const uint8_t *changes;
};

/* What an entry of the section says. False: it is damaged. */
static bool read_ref(struct rvt_code_store *refs, const struct rvt_code *code,
		     struct shared_ref *shared)
{
	struct rvt_shared_ref *ref = &shared->ref;

	if (rvt_code_need(refs, code->bytes, code->len) < code->len || code->len < sizeof(*ref))
		return false;
	memcpy(ref, code->bytes, sizeof(*ref));
	shared->path = (const char *)code->bytes + sizeof(*ref);
	shared->changes = (const uint8_t *)shared->path + ref->path_len;
	return ref->path_len &&
		(uint64_t)ref->path_len + ref->changes_len <= code->len - sizeof(*ref) &&
		!shared->path[ref->path_len - 1] && shared->path[0] == '/' &&
		!strstr(shared->path, "/../") && ref->len <= RVT_MAX_UNPACKED;
}

/* The last two names of @path: BUILD-ID/ID. */
static const char *short_path(const char *path)
{
	const char *name = strrchr(path, '/');

	while (name && name > path && name[-1] != '/')
		name--;
	return name ? name : path;
}

/* NULL: it is not that file. */
static struct rvt_mapped_file *map(const char *path, uint64_t magic,
				   const struct rvt_shared_ref *ref, struct rvt_shared_head *head)
{
	struct rvt_mapped_file *mapped = NULL;
	struct stat st;
	int fd = rvt_file_open(path, 0, &st);

	if (fd < 0)
		return NULL;
	if (pread(fd, head, sizeof(*head), 0) == sizeof(*head) && head->magic == magic &&
	    head->id == ref->id && head->len == ref->len &&
	    (uint64_t)st.st_size == sizeof(*head) + head->len &&
	    rvt_file_map(fd, st.st_size, path, &mapped))
		mapped = NULL;
	close(fd);
	return mapped;
}

/* In the reader's cache, else where it was made. NULL: nowhere. */
static struct rvt_mapped_file *find(const struct shared_ref *shared, uint64_t magic,
				    struct rvt_shared_head *head)
{
	char *folder = rvt_shared_folder(), *path = NULL;
	struct rvt_mapped_file *mapped = NULL;

	if (folder && asprintf(&path, "%s/%s", folder, short_path(shared->path)) >= 0) {
		mapped = map(path, magic, &shared->ref, head);
		free(path);
	}
	free(folder);
	return mapped ? mapped : map(shared->path, magic, &shared->ref, head);
}

static bool change(struct rvt_mapped_file *mapped, const struct shared_ref *shared)
{
	const uint8_t *pos = shared->changes, *end = pos + shared->ref.changes_len;
	struct rvt_shared_change change;

	if (pos == end)
		return true;
	if (mprotect(mapped->bytes, mapped->len, PROT_READ | PROT_WRITE))
		return false;
	for (; (size_t)(end - pos) >= sizeof(change); pos += sizeof(change) + change.len) {
		memcpy(&change, pos, sizeof(change));
		if (change.len > (size_t)(end - pos) - sizeof(change) ||
		    change.from > shared->ref.len || change.len > shared->ref.len - change.from)
			return false;
		memcpy(mapped->bytes + sizeof(struct rvt_shared_head) + change.from,
		       pos + sizeof(change), change.len);
	}
	return pos == end;
}

/* ---- what is missing ---- */

static void warn(struct rvt_perfdata *file, const struct shared_ref *shared, unsigned int missing)
{
	char *folder = rvt_shared_folder();
	const char *name = short_path(shared->path);

	rvt_perfdata_warn(file, "%s: the kernel's code or symbols (%u of them) are not in the "
			  "recording, which refers to %s,\n  and that is neither there nor in %s: "
			  "copy the folder %.*s from the\n  machine that recorded, or run perf "
			  "rvtrace archive there, or record with --embed",
			  file->path, missing, shared->path,
			  folder ? folder : "a cache (neither XDG_CACHE_HOME nor HOME is set)",
			  (int)(name - shared->path), shared->path);
	free(folder);
}

static int open_refs(const struct rvt_perfdata *file, struct rvt_code_store **refs)
{
	const void *blob;
	size_t len;

	*refs = NULL;
	if (rvt_perfdata_feature(file, RVT_FEAT_RVTRACE_SHARED, &blob, &len))
		return 0;
	return rvt_code_open(blob, len, refs);
}

/* ---- code ---- */

static int add_code(struct rvt_code_store *store, const struct rvt_code *entry,
		    const struct shared_ref *shared, struct rvt_mapped_file *mapped)
{
	struct rvt_code code = *entry;
	int err;

	code.bytes = mapped->bytes + sizeof(struct rvt_shared_head);
	code.len = shared->ref.len;
	code.name = strdup(entry->name);
	err = code.name ? rvt_code_add(store, &code, mapped) : -ENOMEM;
	if (err) {
		free((char *)code.name);
		rvt_file_unmap(mapped);
	}
	return err;
}

static int add_shared(struct rvt_perfdata *file, struct rvt_code_store *store,
		      struct rvt_code_store *refs, unsigned int *missing)
{
	struct shared_ref shared, first = { 0 };
	struct rvt_shared_head head;
	size_t n;
	const struct rvt_code *code = rvt_code_list(refs, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const uint64_t magic = code[i].kind == RVT_CODE_SYMBOLS ? RVT_SHARED_SYMBOLS :
			RVT_SHARED_CODE;
		struct rvt_mapped_file *mapped;

		if (!read_ref(refs, &code[i], &shared))
			return -EBADMSG;
		mapped = find(&shared, magic, &head);
		if (!mapped) {
			if (!(*missing)++)
				first = shared;
		} else if (magic == RVT_SHARED_SYMBOLS) {
			rvt_file_unmap(mapped);	/* rvt_perfdata_kallsyms() reads them */
		} else if (!change(mapped, &shared)) {
			rvt_file_unmap(mapped);
			return -EBADMSG;
		} else {
			err = add_code(store, &code[i], &shared, mapped);
		}
	}
	if (*missing)
		warn(file, &first, *missing);
	return err;
}

int rvt_perfdata_all_code(struct rvt_perfdata *file, struct rvt_code_store **store,
			  unsigned int *missing)
{
	struct rvt_code_store *refs, *code = NULL;
	const void *blob;
	size_t len;
	int err = open_refs(file, &refs);

	*missing = 0;
	if (err)
		return err;
	if (rvt_perfdata_feature(file, RVT_FEAT_RVTRACE_CODE, &blob, &len))
		len = 0;
	if (len || refs)
		err = rvt_code_open(blob, len, &code);
	if (!err && refs)
		err = add_shared(file, code, refs, missing);
	rvt_code_close(refs);
	if (err)
		rvt_code_close(code);
	else
		*store = code;
	return err;
}

int rvt_perfdata_code(struct rvt_perfdata *file, struct rvt_code_store **store)
{
	unsigned int missing;

	return rvt_perfdata_all_code(file, store, &missing);
}

/* ---- symbols ---- */

/* Lines of kallsyms, the addresses of which are @by more. */
static void move_lines(char *text, uint64_t by)
{
	for (char *line = text; by && line && *line; line = strchr(line, '\n')) {
		char digits[MAX_ADDRESS_DIGITS + 1];
		size_t n;

		line += *line == '\n';
		n = strspn(line, "0123456789abcdef");
		/* absolute ones are no addresses */
		if (!n || n > MAX_ADDRESS_DIGITS || !strncmp(line + n, " A ", 3))
			continue;
		snprintf(digits, sizeof(digits), "%0*" PRIx64, (int)n,
			 (uint64_t)strtoull(line, NULL, 16) + by);
		memcpy(line, digits, n);
	}
}

static int unpack_shared(const struct shared_ref *shared, uint64_t addr, char **text, size_t *len)
{
	struct rvt_shared_head head;
	struct rvt_mapped_file *mapped = find(shared, RVT_SHARED_SYMBOLS, &head);
	int err;

	if (!mapped)
		return -ENOENT;
	err = rvt_text_unpack(mapped->bytes + sizeof(head), head.len, text, len);
	rvt_file_unmap(mapped);
	if (!err)
		move_lines(*text, addr - head.addr);
	return err;
}

/* The lines of the kernel itself, if they are in a file of their own. -ENOENT: they are not. */
static int shared_kallsyms(const struct rvt_perfdata *file, char **text, size_t *len)
{
	struct rvt_code_store *refs;
	struct shared_ref shared;
	size_t n;
	int err = open_refs(file, &refs);
	const struct rvt_code *code = err ? NULL : rvt_code_list(refs, &n);

	for (size_t i = 0; code && i < n; i++)
		if (code[i].kind == RVT_CODE_SYMBOLS && read_ref(refs, &code[i], &shared)) {
			err = unpack_shared(&shared, code[i].addr, text, len);
			rvt_code_close(refs);
			return err;
		}
	rvt_code_close(refs);
	return err ? err : -ENOENT;
}

int rvt_perfdata_kallsyms(const struct rvt_perfdata *file, char **text, size_t *len)
{
	char *more = NULL;
	size_t more_len = 0, room;
	const void *blob;
	int shared = shared_kallsyms(file, text, len), own = -ENOENT;

	if (!rvt_perfdata_feature(file, RVT_FEAT_RVTRACE_KALLSYMS, &blob, &more_len))
		own = rvt_text_unpack(blob, more_len, &more, &more_len);
	if (shared) {
		*text = more;
		*len = more_len;
		return own;
	}
	room = *len;
	if (!own && array_reserve(text, &room, *len, more_len + 1))
		own = -ENOMEM;
	if (!own) {
		memcpy(*text + *len, more, more_len + 1);
		*len += more_len;
	}
	free(more);
	return 0;
}
