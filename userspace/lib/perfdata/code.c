// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code carried in a feature section: a sequence of entry_head, name and bytes, each of the latter
 * two padded to 8 bytes, cut into zstd frames of one length (the last may be shorter). Little of a
 * kernel's code is run, and to unpack all of it would take longer than to decode a short recording:
 * so a frame is unpacked when somebody needs what is in it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>
#include <rvtrace/perfdata.h>
#include "file/file.h"
#include "util/array.h"
#include "util/reserve.h"
#include "packed.h"

/*
 * Of what is packed, in one frame. Smaller ones pack worse, larger ones bring more unneeded code.
 */
#define FRAME_BYTES (16ul << 10)
/* Of zstd: 7 % more than at level 1, unpacked in two thirds of the time, as literals are plain. */
#define LEVEL (-1)

struct entry_head {
	uint64_t addr, len;
	uint32_t kind;
	uint32_t name_len;	/* with its terminating zero */
};

enum frame_state { FRAME_PACKED, FRAME_UNPACKED, FRAME_DAMAGED };

struct frame {
	/* of what it unpacks to, in bytes from the beginning of all */
	uint64_t first, len;
	const uint8_t *packed;
	size_t packed_len;
	_Atomic uint8_t state;		/* enum frame_state; FRAME_UNPACKED is set last */
};

struct rvt_code_store {
	struct rvt_code *code;
	size_t n_code;
	struct frame *frames;		/* one behind the other, none empty */
	size_t n_frames;
	uint8_t *plain;			/* .len bytes, real where they are unpacked; NULL: none */
	uint64_t len;
	pthread_mutex_t lock;		/* of unpacking: of .unpacking, and who sets .state */
	ZSTD_DCtx *unpacking;
	/* of the last .n_files of .code, whose names are malloc'd */
	struct rvt_mapped_file **files;
	size_t n_files;
};

/* ---- packing ---- */

/* With a check sum: a bit that is wrong would be other code. NULL: no memory. */
static ZSTD_CCtx *packer(void)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();

	if (ctx) {
		ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
	}
	return ctx;
}

/* Frames of @len bytes at @plain go to @blob, which has @room bytes. Returns 0 or -ENOMEM. */
static int pack_frames(ZSTD_CCtx *ctx, const uint8_t *plain, size_t len, char *blob, size_t room,
		       size_t *packed)
{
	size_t pos = 0;

	for (size_t from = 0; from < len; from += FRAME_BYTES) {
		size_t some = len - from < FRAME_BYTES ? len - from : FRAME_BYTES;
		size_t got = ZSTD_compress2(ctx, blob + pos, room - pos, plain + from, some);

		if (ZSTD_isError(got))
			return -ENOMEM;
		pos += got;
	}
	*packed = pos;
	return 0;
}

static int pack(const uint8_t *plain, size_t len, void **blob, size_t *packed)
{
	size_t room = (len / FRAME_BYTES + 1) * ZSTD_compressBound(FRAME_BYTES);
	ZSTD_CCtx *ctx = packer();
	int err = -ENOMEM;

	*blob = malloc(room);
	if (ctx && *blob)
		err = pack_frames(ctx, plain, len, *blob, room, packed);
	if (err)
		free(*blob);
	ZSTD_freeCCtx(ctx);
	return err;
}

int rvt_code_pack(const struct rvt_code *code, size_t n, void **blob, size_t *len)
{
	size_t total = 0, pos = 0;
	uint8_t *plain;
	int err;

	for (size_t i = 0; i < n; i++)
		total += sizeof(struct entry_head) + rvt_pad(strlen(code[i].name) + 1) +
			rvt_pad(code[i].len);
	plain = calloc(1, total + 1);
	if (!plain)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct entry_head head = { code[i].addr, code[i].len, code[i].kind,
						 strlen(code[i].name) + 1 };

		memcpy(plain + pos, &head, sizeof(head));
		pos += sizeof(head);
		memcpy(plain + pos, code[i].name, head.name_len);
		pos += rvt_pad(head.name_len);
		memcpy(plain + pos, code[i].bytes, head.len);
		pos += rvt_pad(head.len);
	}
	err = pack(plain, total, blob, len);
	free(plain);
	return err;
}

/* ---- unpacking ---- */

static int add_frame(struct rvt_code_store *store, const uint8_t *packed, size_t packed_len)
{
	unsigned long long len = ZSTD_getFrameContentSize(packed, packed_len);

	if (len == ZSTD_CONTENTSIZE_ERROR || len == ZSTD_CONTENTSIZE_UNKNOWN ||
	    len > RVT_MAX_UNPACKED - store->len)
		return -EBADMSG;
	if (!len)
		return 0;
	/* A size that is wrong would move all that is behind it: only the last frame is shorter. */
	if (store->n_frames && (store->len % store->frames[0].len || len > store->frames[0].len))
		return -EBADMSG;
	if (array_grow(&store->frames, store->n_frames))
		return -ENOMEM;
	store->frames[store->n_frames++] = (struct frame){
		.first = store->len, .len = len, .packed = packed, .packed_len = packed_len,
	};
	store->len += len;
	return 0;
}

static int find_frames(struct rvt_code_store *store, const uint8_t *blob, size_t len)
{
	size_t pos = 0;
	int err = 0;

	while (pos < len && !err) {
		size_t packed = ZSTD_findFrameCompressedSize(blob + pos, len - pos);

		if (ZSTD_isError(packed))
			return -EBADMSG;
		err = add_frame(store, blob + pos, packed);
		pos += packed;
	}
	return err;
}

/* Where all of it would be. What is small there must not become a huge page, which is cleared. */
static int reserve_plain(struct rvt_code_store *store)
{
	const uint64_t frame = store->n_frames ? store->frames[0].len : 0;
	void *p;

	if (!store->len)
		return 0;
	p = reserve(store->len);
	if (!p)
		return -ENOMEM;
	madvise(p, store->len, frame < RVT_HUGE_PAGE ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	store->plain = p;
	return 0;
}

/* The frame with byte @pos of all: they are of one length. */
static struct frame *frame_at(const struct rvt_code_store *store, uint64_t pos)
{
	return &store->frames[pos / store->frames[0].len];
}

static bool unpack(struct rvt_code_store *store, struct frame *frame)
{
	enum frame_state state = atomic_load_explicit(&frame->state, memory_order_acquire);

	if (state != FRAME_PACKED)
		return state == FRAME_UNPACKED;
	pthread_mutex_lock(&store->lock);
	state = frame->state;
	if (state == FRAME_PACKED) {
		state = ZSTD_decompressDCtx(store->unpacking, store->plain + frame->first,
					    frame->len, frame->packed,
					    frame->packed_len) == frame->len ?
			FRAME_UNPACKED : FRAME_DAMAGED;
		atomic_store_explicit(&frame->state, state, memory_order_release);
	}
	pthread_mutex_unlock(&store->lock);
	return state == FRAME_UNPACKED;
}

/* How many of the @len bytes at @pos there are, which lie within all. */
static uint64_t need(struct rvt_code_store *store, uint64_t pos, uint64_t len)
{
	struct frame *frame = len ? frame_at(store, pos) : NULL;
	uint64_t got = 0;

	while (got < len && unpack(store, frame)) {
		got = frame->first + frame->len - pos;
		frame++;
	}
	return got < len ? got : len;
}

size_t rvt_code_need(void *store, const uint8_t *from, size_t len)
{
	struct rvt_code_store *s = store;

	/* what is in a file of its own is all there */
	if (!s->plain || from < s->plain || from >= s->plain + s->len)
		return len;
	return need(s, from - s->plain, len);
}

/* Sets *@code to the entry at *@pos, which goes on to the next one. */
static int read_entry(struct rvt_code_store *store, uint64_t *pos, struct rvt_code *code)
{
	struct entry_head head;
	uint64_t left, name;

	if (need(store, *pos, sizeof(head)) < sizeof(head))
		return -EBADMSG;
	memcpy(&head, store->plain + *pos, sizeof(head));
	name = *pos + sizeof(head);
	left = store->len - name;
	if (!head.name_len || rvt_pad(head.name_len) > left || head.len > left ||
	    rvt_pad(head.len) > left - rvt_pad(head.name_len) ||
	    need(store, name, head.name_len) < head.name_len ||
	    store->plain[name + head.name_len - 1])
		return -EBADMSG;
	*code = (struct rvt_code){
		head.addr, head.len, head.kind, (const char *)store->plain + name,
		store->plain + name + rvt_pad(head.name_len),
	};
	*pos = name + rvt_pad(head.name_len) + rvt_pad(head.len);
	return 0;
}

static int find_code(struct rvt_code_store *store)
{
	uint64_t pos = 0;
	int err = 0;

	while (store->len - pos >= sizeof(struct entry_head) && !err) {
		if (array_grow(&store->code, store->n_code))
			return -ENOMEM;
		err = read_entry(store, &pos, &store->code[store->n_code]);
		store->n_code += !err;
	}
	return err;
}

int rvt_code_open(const void *blob, size_t len, struct rvt_code_store **store)
{
	struct rvt_code_store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	s->unpacking = ZSTD_createDCtx();
	err = s->unpacking ? find_frames(s, blob, len) : -ENOMEM;
	if (!err)
		err = reserve_plain(s);
	if (!err)
		err = find_code(s);
	if (err) {
		rvt_code_close(s);
		return err;
	}
	*store = s;
	return 0;
}

int rvt_code_add(struct rvt_code_store *store, const struct rvt_code *code,
		 struct rvt_mapped_file *mapped)
{
	if (array_grow(&store->code, store->n_code) || array_grow(&store->files, store->n_files))
		return -ENOMEM;
	store->code[store->n_code++] = *code;
	store->files[store->n_files++] = mapped;
	return 0;
}

const struct rvt_code *rvt_code_list(const struct rvt_code_store *store, size_t *n)
{
	*n = store ? store->n_code : 0;
	return store ? store->code : NULL;
}

void rvt_code_close(struct rvt_code_store *store)
{
	if (!store)
		return;
	if (store->plain)
		munmap(store->plain, store->len);
	for (size_t i = 0; i < store->n_files; i++) {
		free((char *)store->code[store->n_code - 1 - i].name);
		rvt_file_unmap(store->files[i]);
	}
	free(store->files);
	pthread_mutex_destroy(&store->lock);
	ZSTD_freeDCtx(store->unpacking);
	free(store->frames);
	free(store->code);
	free(store);
}
