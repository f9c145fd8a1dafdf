// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code objects, open files and names: what an image has for all its spaces.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <elfutils/libdwelf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "image/image.h"
#include "util/reserve.h"

/* So much of what is lent is asked for at a time: no block is longer. */
#define LENT_CHUNK 4096
#define WINDOW_BITS 16
#define WINDOW (1ull << WINDOW_BITS)
/* No object is longer, so that offsets never overflow. */
#define MAX_OBJECT (1ull << 46)

enum { WINDOW_UNKNOWN, WINDOW_READ, WINDOW_UNREADABLE };

struct rvt_file {
	char *path;
	int error;			/* what opening it gave */
	struct rvt_object *object;
	size_t build_id_len;
	uint8_t build_id[64];
};

static void object_destroy(struct rvt_object *object)
{
	if (object->mapped)
		rvt_file_unmap(object->mapped);
	else if (object->reserved)
		munmap(object->bytes, object->len);
	else if (!object->lent)
		free(object->bytes);
	if (object->fd >= 0)
		close(object->fd);
	if (object->window_read)
		munmap(object->window_read, (object->len >> WINDOW_BITS) + 1);
	pthread_mutex_destroy(&object->lock);
	free(object->name);
	free(object);
}

static void file_destroy(void *p)
{
	struct rvt_file *file = p;

	free(file->path);
	free(file);
}

void rvt_image_close_files(struct rvt_image *image)
{
	struct rvt_object *object;

	while ((object = image->objects)) {
		image->objects = object->next;
		object_destroy(object);
	}
	tdestroy(image->files, file_destroy);
	tdestroy(image->names, free);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *rvt_image_name(struct rvt_image *image, const char *name)
{
	char **found = tfind(name, &image->names, compare_names), *copy;

	if (found)
		return *found;
	copy = strdup(name);
	if (copy && !tsearch(copy, &image->names, compare_names)) {
		free(copy);
		copy = NULL;
	}
	return copy;
}

/* ---- objects ---- */

static struct rvt_object *object_create(struct rvt_image *image, const char *name)
{
	struct rvt_object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->fd = -1;
	pthread_mutex_init(&object->lock, NULL);
	object->name = strdup(name);
	if (!object->name) {
		object_destroy(object);
		return NULL;
	}
	object->next = image->objects;
	image->objects = object;
	return object;
}

/* So many of the objects made last are looked at for the same bytes. */
#define RECENT_OBJECTS 64

/* What is mapped again and again, like the vdso, is one object. NULL: it is another one. */
static struct rvt_object *find_copy(const struct rvt_image *image, const void *bytes, size_t len,
				    uint64_t file_offset, const char *name)
{
	struct rvt_object *o = image->objects;

	for (unsigned int n = 0; o && n < RECENT_OBJECTS; n++, o = o->next)
		if (o->fd < 0 && !o->mapped && !o->lent && !o->reserved && o->len == len &&
		    o->file_offset == file_offset && !strcmp(o->name, name) &&
		    !memcmp(o->bytes, bytes, len))
			return o;
	return NULL;
}

int rvt_image_copy_object(struct rvt_image *image, const void *bytes, size_t len,
			  uint64_t file_offset, const char *name, struct rvt_object **object)
{
	uint8_t *copy;

	*object = find_copy(image, bytes, len, file_offset, name);
	if (*object)
		return 0;
	copy = malloc(len);
	if (!copy)
		return -ENOMEM;
	*object = object_create(image, name);
	if (!*object) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, bytes, len);
	(*object)->bytes = copy;
	(*object)->len = len;
	(*object)->file_offset = file_offset;
	return 0;
}

static struct rvt_object *find_lent(const struct rvt_image *image, const struct rvt_lent *lent,
				    const char *name)
{
	struct rvt_object *o = image->objects;

	while (o && !(o->lent && o->bytes == lent->bytes && o->len == lent->len &&
		      o->need == lent->need && o->need_ctx == lent->ctx && !strcmp(o->name, name)))
		o = o->next;
	return o;
}

int rvt_image_lent_object(struct rvt_image *image, const struct rvt_lent *lent, const char *name,
			  struct rvt_object **object)
{
	*object = find_lent(image, lent, name);
	if (*object)
		return 0;
	*object = object_create(image, name);
	if (!*object)
		return -ENOMEM;
	(*object)->bytes = (uint8_t *)lent->bytes;
	(*object)->len = lent->len;
	(*object)->lent = true;
	(*object)->need = lent->need;
	(*object)->need_ctx = lent->ctx;
	return 0;
}

int rvt_image_window_object(struct rvt_image *image, int fd, uint64_t offset, uint64_t len,
			    const char *name, struct rvt_object **object)
{
	struct rvt_object *o;

	if (!len || len > MAX_OBJECT)
		return -EINVAL;
	o = object_create(image, name);
	if (!o)
		return -ENOMEM;
	/* From here on the image owns it; what could not be had stays unreadable. */
	o->file_offset = offset;
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	o->len = len;
	o->bytes = reserve(len);
	o->reserved = o->bytes;
	o->window_read = reserve((len >> WINDOW_BITS) + 1);
	if (o->fd < 0 || !o->bytes || !o->window_read) {
		o->len = 0;
		return -ENOMEM;
	}
	*object = o;
	return 0;
}

static bool read_window(struct rvt_object *object, uint64_t window)
{
	uint64_t from = window << WINDOW_BITS, done = 0;
	uint64_t len = object->len - from < WINDOW ? object->len - from : WINDOW;

	while (done < len) {
		ssize_t n = pread(object->fd, object->bytes + from + done, len - done,
				  object->file_offset + from + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += n;
	}
	return true;
}

uint64_t rvt_object_bytes(struct rvt_object *object, uint64_t offset, const uint8_t **bytes)
{
	uint64_t window = offset >> WINDOW_BITS, end = offset;

	if (offset >= object->len)
		return 0;
	*bytes = object->bytes + offset;
	if (object->need)
		return object->need(object->need_ctx, *bytes, object->len - offset < LENT_CHUNK ?
				    object->len - offset : LENT_CHUNK);
	if (object->fd < 0)
		return object->len - offset;
	/* This window and the next: at least one of them whole, unless the object ends. */
	pthread_mutex_lock(&object->lock);
	for (uint64_t i = window; i <= window + 1 && i << WINDOW_BITS < object->len; i++) {
		if (object->window_read[i] == WINDOW_UNKNOWN)
			object->window_read[i] = read_window(object, i) ? WINDOW_READ :
									   WINDOW_UNREADABLE;
		if (object->window_read[i] != WINDOW_READ)
			break;
		end = (i + 1) << WINDOW_BITS;
	}
	pthread_mutex_unlock(&object->lock);
	return (end < object->len ? end : object->len) - offset;
}

/* ---- files ---- */

static int compare_files(const void *a, const void *b)
{
	const struct rvt_file *fa = a, *fb = b;

	return strcmp(fa->path, fb->path);
}

static void read_build_id(struct rvt_file *file, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const void *id;
	ssize_t len = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;

	if (len > 0 && (size_t)len <= sizeof(file->build_id)) {
		memcpy(file->build_id, id, len);
		file->build_id_len = len;
	}
	elf_end(elf);
}

/* 1: it is in memory; 0: it cannot be, or -ENOMEM. */
static int file_map(struct rvt_image *image, struct rvt_file *file, int fd, uint64_t len)
{
	struct rvt_mapped_file *mapped;
	struct rvt_object *object;

	if (len > MAX_OBJECT || rvt_file_map(fd, len, file->path, &mapped))
		return 0;
	object = object_create(image, file->path);
	if (!object) {
		rvt_file_unmap(mapped);
		return -ENOMEM;
	}
	object->bytes = mapped->bytes;
	object->len = len;
	object->mapped = mapped;
	file->object = object;
	return 1;
}

static int file_open(struct rvt_image *image, struct rvt_file *file)
{
	struct stat st;
	int fd = rvt_file_open(file->path, 0, &st), ret;

	if (fd < 0)
		return fd == -ENOTDIR ? -ENOENT : fd;
	if (!st.st_size) {
		close(fd);
		return -EINVAL;
	}
	read_build_id(file, fd);
	ret = file_map(image, file, fd, st.st_size);
	if (!ret)
		ret = rvt_image_window_object(image, fd, 0, st.st_size, file->path, &file->object);
	close(fd);
	return ret < 0 ? ret : 0;
}

static struct rvt_file *file_get(struct rvt_image *image, const char *path)
{
	struct rvt_file key = { .path = (char *)path };
	struct rvt_file **found = tfind(&key, &image->files, compare_files), *file;

	if (found)
		return *found;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = strdup(path);
	if (!file->path || !tsearch(file, &image->files, compare_files)) {
		file_destroy(file);
		return NULL;
	}
	file->error = file_open(image, file);
	return file;
}

int rvt_image_file(struct rvt_image *image, const char *path, const uint8_t *build_id,
		   size_t build_id_len, struct rvt_object **object)
{
	struct rvt_file *file = file_get(image, path);

	if (!file)
		return -ENOMEM;
	if (file->error)
		return file->error;
	if (build_id && build_id_len &&
	    (file->build_id_len != build_id_len || memcmp(file->build_id, build_id, build_id_len)))
		return -ESTALE;
	*object = file->object;
	return 0;
}
