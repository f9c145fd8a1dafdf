// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "file/file.h"
#include "perfdata/shared.h"
#include "util/array.h"
#include "common/cmd.h"
#include "record/cache.h"
#include "record/notes.h"
#include "record/shared.h"

#define MAX_CHANGED 4		/* a file fits if less than one byte in so many differs */
#define MAX_FILES 8		/* of one build id, as code that was moved differs */
#define BLOCK 256		/* bytes that are compared at once */
#define WORD 8
#define PRIVATE_FOLDER 0700	/* only the owner may read the kernel's code */
#define PRIVATE_FILE 0400

static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		int failed;

		if (slash)
			*slash = 0;
		failed = mkdir(path, PRIVATE_FOLDER) && errno != EEXIST ? -errno : 0;
		if (slash)
			*slash = '/';
		if (failed || !slash)
			return failed;
	}
}

int shared_open(struct shared_list *shared)
{
	int err;

	shared->began = time(NULL);
	shared->folder = rvt_shared_folder();
	if (!shared->folder)
		return -ENOENT;
	err = make_folders(shared->folder);
	if (!err && access(shared->folder, R_OK | W_OK | X_OK))
		err = -errno;
	return err;
}

/* Prunes the cache, after recordings that made files. */
static void prune(const struct shared_list *shared)
{
	unsigned int n = cache_prune(shared->folder, CACHE_BYTES, shared->began);

	if (n)
		cmd_warning("%s has more than %llu MiB: %u files were removed that no recording "
			    "used for long.\n  Recordings that refer to them have no kernel code "
			    "any more: perf rvtrace archive keeps it", shared->folder,
			    CACHE_BYTES >> 20, n);
}

void shared_close(struct shared_list *shared)
{
	if (shared->made)
		prune(shared);
	code_list_clear(&shared->refs);
	free(shared->folder);
	shared->folder = NULL;
}

/* ---- what a recording says ---- */

struct changes {
	uint8_t *bytes;
	size_t len, room, max;
};

static int refer(struct shared_list *shared, const struct rvt_code *what,
		 const struct rvt_shared_head *head, const char *path,
		 const struct changes *changes)
{
	const size_t path_len = strlen(path) + 1, changes_len = changes ? changes->len : 0;
	const struct rvt_shared_ref ref = { head->id, head->len, path_len, changes_len };
	size_t len = sizeof(ref) + path_len + changes_len;
	uint8_t *bytes = malloc(len);
	int err;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &ref, sizeof(ref));
	memcpy(bytes + sizeof(ref), path, path_len);
	if (changes_len)
		memcpy(bytes + sizeof(ref) + path_len, changes->bytes, changes_len);
	err = code_list_add(&shared->refs, what, what->addr, bytes, len);
	free(bytes);
	cache_touch(path);
	return err;
}

/* ---- files of a build id ---- */

/*
 * Makes the folder of @build_id if necessary, and returns its path, malloc'd; NULL: it cannot be
 * made.
 */
static char *folder_of(const struct shared_list *shared, const uint8_t *build_id, size_t n)
{
	char hex[2 * NOTES_ID_BYTES + 1] = "", *path;

	for (size_t i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", build_id[i]);
	if (asprintf(&path, "%s/%s", shared->folder, hex) < 0)
		return NULL;
	if (!mkdir(path, PRIVATE_FOLDER) || errno == EEXIST)
		return path;
	free(path);
	return NULL;
}

struct content {
	const struct rvt_code *what;
	const void *bytes;
	uint64_t magic, len;
};

/* Makes a file, under another name until it is complete. @path has room for its path. */
static bool make_file(const char *folder, struct rvt_shared_head *head,
		      const struct content *content, char *path, size_t room)
{
	struct iovec vectors[] = { { head, sizeof(*head) },
				   { (void *)content->bytes, content->len } };
	const ssize_t len = sizeof(*head) + content->len;
	char *temporary;
	bool made;
	int fd;

	head->magic = content->magic;
	head->len = content->len;
	head->addr = content->what->addr;
	if (getrandom(&head->id, sizeof(head->id), 0) != sizeof(head->id) ||
	    asprintf(&temporary, "%s/.%016" PRIx64, folder, head->id) < 0)
		return false;
	snprintf(path, room, "%s/%016" PRIx64, folder, head->id);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PRIVATE_FILE);
	made = fd >= 0 && writev(fd, vectors, 2) == len;
	if (fd >= 0) {
		made &= !close(fd);
		made = made && !rename(temporary, path);
		if (!made)
			unlink(temporary);
	}
	free(temporary);
	return made;
}

/* Maps a file. NULL: it is not of this length and kind. */
static struct rvt_mapped_file *map_file(const char *path, uint64_t magic, uint64_t len,
					struct rvt_shared_head *head)
{
	struct rvt_mapped_file *mapped = NULL;
	struct stat st;
	int fd = rvt_file_open(path, O_NOFOLLOW, &st);

	if (fd < 0)
		return NULL;
	if (read(fd, head, sizeof(*head)) == sizeof(*head) && head->magic == magic &&
	    (uint64_t)st.st_size == sizeof(*head) + head->len && (!len || head->len == len) &&
	    rvt_file_map(fd, st.st_size, path, &mapped))
		mapped = NULL;
	close(fd);
	return mapped;
}

/* Adds a change, to the last one if that ends at @from. */
static int add_change(struct changes *changes, size_t *last, uint32_t from, const uint8_t *bytes,
		      size_t len)
{
	struct rvt_shared_change change = { from, 0 };

	if (changes->len > changes->max ||
	    array_reserve(&changes->bytes, &changes->room, changes->len, sizeof(change) + len))
		return -ENOSPC;
	if (changes->len)
		memcpy(&change, changes->bytes + *last, sizeof(change));
	if (!changes->len || change.from + change.len != from) {
		*last = changes->len;
		change = (struct rvt_shared_change){ from, 0 };
		changes->len += sizeof(change);
	}
	change.len += len;
	memcpy(changes->bytes + *last, &change, sizeof(change));
	memcpy(changes->bytes + changes->len, bytes, len);
	changes->len += len;
	return 0;
}

/* Finds the changes that make the @len bytes at @then those at @now. */
static int compare(struct changes *changes, const uint8_t *now, const uint8_t *then, size_t len)
{
	size_t last = 0;
	int err = 0;

	changes->len = 0;
	for (size_t block = 0; block < len && !err; block += BLOCK) {
		size_t end = len - block < BLOCK ? len : block + BLOCK;

		if (!memcmp(now + block, then + block, end - block))
			continue;
		for (size_t at = block; at < end && !err; at += WORD) {
			size_t some = end - at < WORD ? end - at : WORD;

			if (memcmp(now + at, then + at, some))
				err = add_change(changes, &last, at, now + at, some);
		}
	}
	return err;
}

static bool refer_if_same(struct shared_list *shared, const struct rvt_code *code, const char *path)
{
	struct changes changes = { .max = code->len / MAX_CHANGED };
	struct rvt_shared_head head;
	struct rvt_mapped_file *mapped = map_file(path, RVT_SHARED_CODE, code->len, &head);
	bool same = mapped &&
		!compare(&changes, code->bytes, mapped->bytes + sizeof(head), code->len) &&
		!refer(shared, code, &head, path, &changes);

	rvt_file_unmap(mapped);
	free(changes.bytes);
	return same;
}

/* Calls @take for each file in @folder, until it takes one. Sets *@n to the number of calls. */
static bool take_any(struct shared_list *shared, const struct rvt_code *code, const char *folder,
		     bool (*take)(struct shared_list *shared, const struct rvt_code *code,
				  const char *path), unsigned int *n)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool taken = false;
	char *path;

	*n = 0;
	while (dir && !taken && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			continue;
		++*n;
		taken = take(shared, code, path);
		free(path);
	}
	if (dir)
		closedir(dir);
	return taken;
}

static size_t build_id_of(const struct rvt_code *code, uint8_t id[NOTES_ID_BYTES])
{
	char path[160], name[80];

	if (code->kind != RVT_CODE_MODULE)
		return notes_build_id(NOTES_OF_KERNEL, id);
	/* .name is "[name]" */
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(code->name + 1, "]"), code->name + 1);
	snprintf(path, sizeof(path), NOTES_OF_MODULE, name);
	return notes_build_id(path, id);
}

/*
 * Refers to a file of the build id that @take takes, or makes a new one of @content (NULL: does
 * not). Returns whether there is one.
 */
static bool share(struct shared_list *shared, const struct rvt_code *code,
		  bool (*take)(struct shared_list *shared, const struct rvt_code *code,
			       const char *path), const struct content *content)
{
	struct rvt_shared_head head = { 0 };
	char *folder, path[PATH_MAX];
	unsigned int n;
	bool shares;

	head.build_id_len = build_id_of(code, head.build_id);
	if (!shared->folder || !head.build_id_len)
		return false;
	folder = folder_of(shared, head.build_id, head.build_id_len);
	if (!folder)
		return false;
	shares = take_any(shared, code, folder, take, &n);
	if (!shares && content && n < MAX_FILES &&
	    make_file(folder, &head, content, path, sizeof(path))) {
		shared->made = true;
		shares = !refer(shared, code, &head, path, NULL);
	}
	free(folder);
	return shares;
}

bool shared_add_code(struct shared_list *shared, const struct rvt_code *code)
{
	const struct content content = { code, code->bytes, RVT_SHARED_CODE, code->len };

	return code->len && code->len <= UINT32_MAX &&
		share(shared, code, refer_if_same, &content);
}

/* ---- symbols ---- */

static bool refer_to_symbols(struct shared_list *shared, const struct rvt_code *what,
			     const char *path)
{
	struct rvt_shared_head head;
	struct rvt_mapped_file *mapped = map_file(path, RVT_SHARED_SYMBOLS, 0, &head);
	bool are = mapped && !refer(shared, what, &head, path, NULL);

	rvt_file_unmap(mapped);
	return are;
}

bool shared_find_symbols(struct shared_list *shared, uint64_t addr)
{
	const struct rvt_code what = { .addr = addr, .kind = RVT_CODE_SYMBOLS, .name = "kallsyms" };

	return share(shared, &what, refer_to_symbols, NULL);
}

bool shared_add_symbols(struct shared_list *shared, uint64_t addr, const char *text, size_t len)
{
	const struct rvt_code what = { .addr = addr, .kind = RVT_CODE_SYMBOLS, .name = "kallsyms" };
	struct content content = { .what = &what, .magic = RVT_SHARED_SYMBOLS };
	size_t packed;
	void *blob;
	bool shares;

	if (rvt_text_pack(text, len, &blob, &packed))
		return false;
	content.bytes = blob;
	content.len = packed;
	shares = share(shared, &what, refer_to_symbols, &content);
	free(blob);
	return shares;
}
