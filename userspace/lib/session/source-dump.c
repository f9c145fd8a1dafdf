// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Sessions of bare dumps: the memory of a board's sink, the capture of a probe. One buffer has all
 * of the dump, its code comes from files, and nobody says who runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "file/file.h"
#include "util/array.h"
#include "util/sized.h"
#include "state.h"

struct dump {
	char *path;
	struct rvt_mapped_file *mapped;
	uint8_t *bytes;		/* of it; NULL: the dump is empty */
	size_t len;
	struct rvt_dump_image *images;
	size_t n_images;
};

/* ---- code ---- */

static int map_raw(struct rvt_space *space, const struct rvt_dump_image *image)
{
	struct stat st;

	if (stat(image->path, &st))
		return -errno;
	return rvt_space_map_file(space, image->address, st.st_size, 0, image->path, NULL, 0);
}

static int map_image(struct rvt_space *space, const struct rvt_dump_image *image)
{
	return image->raw ? map_raw(space, image) :
			    rvt_space_map_elf(space, image->path, image->address);
}

/* *@failed, which may be NULL: the image that made it fail. */
static int map_images(const struct dump *dump, struct rvt_image *image, struct rvt_space **space,
		      const struct rvt_dump_image **failed)
{
	int err = rvt_space_create(image, NULL, space);

	for (size_t i = 0; i < dump->n_images && !err; i++) {
		err = map_image(*space, &dump->images[i]);
		if (err && failed)
			*failed = &dump->images[i];
	}
	return err;
}

static int dump_kernel(struct rvt_session *session, struct rvt_image *image,
		       struct rvt_space **kernel)
{
	return map_images(session->dump, image, kernel, NULL);
}

static int load_images(struct rvt_session *session, char **error)
{
	const struct rvt_dump_image *failed = NULL;
	int err = map_images(session->dump, session->decode.image, &session->decode.kernel,
			     &failed);
	const char *path = failed ? failed->path : NULL;

	if (!err) {
		path = session->options.guest_vmlinux;
		err = rvt_session_open_guest(session, &session->decode);
	}
	if (!err || !path || err == -ENOMEM)
		return err;
	return rvt_session_fail(error, err, "%s: %s", path, err == -ENOEXEC ?
				"not a RISC-V ELF file with code in it" : strerror(-err));
}

/* ---- bytes ---- */

static void dump_release(struct rvt_session *session, const void *bytes, size_t len)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), begin = (uintptr_t)bytes & -page;

	(void)session;
	madvise((void *)begin, (uintptr_t)bytes + len - begin, MADV_DONTNEED);
}

static void dump_close(struct rvt_session *session)
{
	struct dump *dump = session->dump;

	if (!dump)
		return;
	rvt_file_unmap(dump->mapped);
	for (size_t i = 0; i < dump->n_images; i++)
		free((char *)dump->images[i].path);
	free(dump->images);
	free(dump->path);
	free(dump);
}

static const struct session_source dump_source = {
	.kernel = dump_kernel,
	.release = dump_release,
	.close = dump_close,
};

static int map_dump(struct dump *dump, int fd, const struct stat *st, char **error)
{
	int err;

	if (fd < 0)
		return rvt_session_fail(error, fd, "%s: %s", dump->path, fd == -EINVAL ?
					"not a regular file" : strerror(-fd));
	err = rvt_file_map(fd, st->st_size, dump->path, &dump->mapped);
	if (err)
		return rvt_session_fail(error, err, "%s: %s", dump->path, strerror(-err));
	dump->bytes = dump->mapped->bytes;
	dump->len = dump->mapped->len;
	return 0;
}

static int add_chunk(struct buffer *buffer, uint64_t offset, const uint8_t *bytes, size_t len)
{
	if (!len)
		return 0;
	if (array_grow(&buffer->chunks, buffer->n_chunks))
		return -ENOMEM;
	buffer->chunks[buffer->n_chunks++] = (struct chunk){
		.offset = offset, .len = len, .bytes = bytes };
	return 0;
}

/* Offsets in the buffer count from the oldest byte. */
static int add_buffer(struct rvt_session *session, uint64_t oldest, char **error)
{
	const struct dump *dump = session->dump;
	const struct rvt_record_auxtrace any = { .cpu = -1, .tid = -1 };
	const struct rvt_aux all = { .size = dump->len, .cpu = -1, .pid = -1, .tid = -1 };
	struct buffer *buffer;
	int err;

	if (oldest > dump->len)
		return rvt_session_fail(error, -EINVAL,
					"%s: it has only %zu bytes: the oldest cannot be at %llu",
					dump->path, dump->len, (unsigned long long)oldest);
	buffer = rvt_session_add_buffer(session, &any);
	if (!buffer)
		return -ENOMEM;
	err = add_chunk(buffer, 0, dump->bytes + oldest, dump->len - oldest);
	if (!err)
		err = add_chunk(buffer, dump->len - oldest, dump->bytes, oldest);
	return err ? err : rvt_buffer_add_record(buffer, &all);
}

static int open_bytes(struct rvt_session *session, uint64_t oldest, char **error)
{
	struct stat st;
	int fd = rvt_file_open(session->dump->path, 0, &st);
	int err = map_dump(session->dump, fd, &st, error);

	if (fd >= 0)
		close(fd);
	return err ? err : add_buffer(session, oldest, error);
}

/* ---- parameters, and the sources that have them ---- */

static struct rvt_flow *count_source(void *ctx, unsigned int source)
{
	unsigned int *n = ctx;

	*n += source < RVT_MAX_SOURCES;
	return NULL;
}

/* Whether there is a decoder for them. */
static int check_params(const struct rvt_params *params, const char *name, char **error)
{
	unsigned int n = 0;
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = &n, .flow = count_source };
	struct rvt_stream *stream;
	int err = rvt_stream_create(params, &ops, &stream);

	if (err == -EINVAL)
		return rvt_session_fail(error, err, "%s: these parameters fit no decoder", name);
	rvt_stream_destroy(stream);
	return err;
}

static int take_params(struct rvt_session *session, const struct rvt_session_dump *from,
		       char **error)
{
	const char *name = session->options.params;
	struct encoder encoder = { .cpu = -1 };
	int err;

	if (!from->params && !name)
		return rvt_session_fail(error, -EINVAL, "%s: a bare dump does not say what it is: "
					"it needs the parameters of its encoder", from->path);
	err = from->params ? 0 : rvt_session_read_params(session, error);
	if (!err && from->params) {
		err = sized_copy(&encoder.params, sizeof(encoder.params), from->params);
		if (err)
			return rvt_session_fail(error, err,
						"struct rvt_params does not say its size");
		err = rvt_session_add_encoder(session, &encoder);
	}
	return err ? err : check_params(&session->encoders[0].params, name ?: from->path, error);
}

/* ---- all of it ---- */

static int copy_images(struct dump *dump, const struct rvt_session_dump *from, char **error)
{
	dump->images = calloc(from->n_images + 1, sizeof(*dump->images));
	if (!dump->images)
		return -ENOMEM;
	for (; dump->n_images < from->n_images; dump->n_images++) {
		struct rvt_dump_image *image = &dump->images[dump->n_images];

		/* An array has the caller's size of an element. */
		if (sized_copy(image, sizeof(*image), (const char *)from->images +
			       dump->n_images * from->images->size))
			return rvt_session_fail(error, -EINVAL,
						"struct rvt_dump_image does not say its size");
		image->path = strdup(image->path);
		if (!image->path)
			return -ENOMEM;
	}
	return 0;
}

static int take_dump(struct rvt_session *session, const struct rvt_session_dump *from,
		     char **error)
{
	struct dump *dump = session->dump = calloc(1, sizeof(*dump));

	if (!dump)
		return -ENOMEM;
	dump->path = strdup(from->path);
	session->only_source = from->only_source ? (int64_t)from->source : -1;
	/* one buffer, and nobody knows a thread by what a context holds */
	session->options.by_cpu = true;
	session->by_source = session->every_loss = session->foreign_ids = true;
	return dump->path ? copy_images(dump, from, error) : -ENOMEM;
}

int rvt_session_open_dump(const struct rvt_session_dump *from,
			  const struct rvt_session_options *options, struct rvt_session **result,
			  char **error)
{
	struct rvt_session_dump dump;
	struct rvt_session *session;
	int err = rvt_session_create(&dump_source, options, &session, error);

	if (err)
		return err;
	err = sized_copy(&dump, sizeof(dump), from);
	if (err)
		return rvt_session_give_up(session, err, "struct rvt_session_dump", error);
	err = take_dump(session, &dump, error);
	if (!err)
		err = take_params(session, &dump, error);
	if (!err)
		err = rvt_session_create_sideband(session);
	if (!err)
		err = rvt_sideband_sort(session->sideband);
	if (!err)
		err = rvt_image_create(&session->decode.image);
	if (!err)
		err = load_images(session, error);
	if (!err)
		err = rvt_symbols_create(session->options.symfs, &session->symbols);
	if (!err)
		err = open_bytes(session, dump.oldest, error);
	if (err)
		return rvt_session_give_up(session, err, dump.path, error);
	*result = session;
	return 0;
}

int rvt_session_count_sources(const struct rvt_session *session, unsigned int *n)
{
	const struct rvt_stream_ops ops = { .size = sizeof(ops), .ctx = n, .flow = count_source };
	const struct rvt_params *params = &session->encoders[0].params;
	const struct buffer *buffer = &session->buffers[0];
	struct rvt_stream *stream;
	int err;

	*n = 0;
	if (!session->by_source)
		return -EINVAL;
	if (rvt_stream_n_sources(params) == 1) {
		*n = 1;
		return 0;
	}
	err = rvt_stream_create(params, &ops, &stream);
	if (err)
		return err;
	for (size_t i = 0; i < buffer->n_chunks && !err; i++)
		err = rvt_stream_feed(stream, buffer->chunks[i].bytes, buffer->chunks[i].len,
				      buffer->chunks[i].offset);
	if (!err)
		err = rvt_stream_finish(stream);
	rvt_stream_destroy(stream);
	return err;
}
