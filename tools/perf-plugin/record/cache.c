// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/array.h"
#include "record/cache.h"

struct cached {
	char *path;
	uint64_t bytes;
	struct timespec used;
};

struct cached_list {
	struct cached *files;
	size_t n;
};

void cache_touch(const char *path)
{
	utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

static void add_file(struct cached_list *list, const char *path)
{
	struct stat st;

	if (lstat(path, &st) || !S_ISREG(st.st_mode) || array_grow(&list->files, list->n))
		return;
	list->files[list->n] = (struct cached){ strdup(path), st.st_size, st.st_mtim };
	list->n += !!list->files[list->n].path;
}

/*
 * Lists the files in @folder, or with @of_folders in its folders, one for each build id. Skips
 * names that begin with a point: these files are incomplete.
 */
static void list_folder(struct cached_list *list, const char *folder, bool of_folders)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char *path;

	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			continue;
		if (of_folders)
			list_folder(list, path, false);
		else
			add_file(list, path);
		free(path);
	}
	if (dir)
		closedir(dir);
}

static int compare_used(const void *a, const void *b)
{
	const struct timespec *x = &((const struct cached *)a)->used;
	const struct timespec *y = &((const struct cached *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Removes a file, and its folder if it was the last one there. */
static bool remove_file(char *path)
{
	bool gone = !unlink(path);

	*strrchr(path, '/') = 0;
	rmdir(path);
	return gone;
}

unsigned int cache_prune(const char *folder, uint64_t most, int64_t now)
{
	struct cached_list list = { 0 };
	unsigned int removed = 0;
	uint64_t bytes = 0;

	list_folder(&list, folder, true);
	if (list.n)
		qsort(list.files, list.n, sizeof(*list.files), compare_used);
	for (size_t i = 0; i < list.n; i++)
		bytes += list.files[i].bytes;
	for (size_t i = 0; i < list.n; i++) {
		const struct cached *file = &list.files[i];

		if (bytes > most && file->used.tv_sec < now && remove_file(file->path)) {
			bytes -= file->bytes;
			removed++;
		}
		free(file->path);
	}
	free(list.files);
	return removed;
}
