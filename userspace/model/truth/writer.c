/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Writer of the ground-truth file; the format is in rvtrace/truth.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <rvtrace/truth.h>
#include "util/array.h"

/* Records gather here and go to the compressor when there are this many bytes. */
#define TRUTH_CHUNK (64 * 1024)
/* An upper limit of one record without a block's instructions: tag and five LEB128 numbers. */
#define TRUTH_RECORD_MAX (1 + 6 * 10)

struct rvt_truth_writer {
	FILE *file;
	ZSTD_CCtx *zstd;
	uint8_t *pending;
	size_t len, room;
	size_t mark;		/* where a LOST record would go */
	bool holding;		/* what is after the mark stays here */
	uint64_t blocks;
	void *out;
	size_t out_size;
};

static int truth_room(struct rvt_truth_writer *w, size_t n)
{
	return array_reserve(&w->pending, &w->room, w->len, n);
}

static void put(struct rvt_truth_writer *w, uint8_t byte)
{
	w->pending[w->len++] = byte;
}

static void put_leb(struct rvt_truth_writer *w, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put(w, (uint8_t)v | 0x80);
	put(w, (uint8_t)v);
}

static int truth_compress(struct rvt_truth_writer *w, size_t len, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { w->pending, len, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { w->out, w->out_size, 0 };

		left = ZSTD_compressStream2(w->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return -EIO;
		if (fwrite(w->out, 1, out.pos, w->file) != out.pos)
			return -EIO;
	} while (in.pos < in.size || (how == ZSTD_e_end && left));
	memmove(w->pending, w->pending + len, w->len - len);
	w->len -= len;
	w->mark = 0;
	return 0;
}

static int truth_drain(struct rvt_truth_writer *w)
{
	size_t ready = w->holding ? w->mark : w->len;

	return ready < TRUTH_CHUNK ? 0 : truth_compress(w, ready, ZSTD_e_continue);
}

int rvt_truth_create(const char *path, unsigned int hart, struct rvt_truth_writer **writer)
{
	struct rvt_truth_writer *w = calloc(1, sizeof(*w));
	int ret = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->room = 2 * TRUTH_CHUNK;
	w->pending = malloc(w->room);
	w->out_size = ZSTD_CStreamOutSize();
	w->out = malloc(w->out_size);
	w->zstd = ZSTD_createCCtx();
	if (!w->pending || !w->out || !w->zstd)
		goto err_out;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, 1);
	w->file = fopen(path, "wb");
	if (!w->file) {
		ret = -errno;
		goto err_out;
	}
	put(w, 'R');
	memcpy(w->pending + w->len, "VTTRUTH", 7);
	w->len += 7;
	put_leb(w, 1);
	put_leb(w, hart);
	*writer = w;
	return 0;

err_out:
	ZSTD_freeCCtx(w->zstd);
	free(w->pending);
	free(w->out);
	free(w);
	return ret;
}

int64_t rvt_truth_block(struct rvt_truth_writer *w, uint64_t pc, const uint8_t *halfwords,
			uint32_t n)
{
	int ret;

	if (!n)
		return -EINVAL;
	ret = truth_room(w, TRUTH_RECORD_MAX + n);
	if (ret)
		return ret;
	put(w, 'B');
	put_leb(w, pc);
	put_leb(w, n);
	memcpy(w->pending + w->len, halfwords, n);
	w->len += n;
	ret = truth_drain(w);
	return ret ? ret : (int64_t)w->blocks++;
}

int rvt_truth_run(struct rvt_truth_writer *w, uint64_t id)
{
	int ret = truth_room(w, TRUTH_RECORD_MAX);

	if (ret)
		return ret;
	if (id >= w->blocks)
		return -EINVAL;
	put(w, 'r');
	put_leb(w, id);
	return truth_drain(w);
}

int rvt_truth_part(struct rvt_truth_writer *w, uint64_t id, uint32_t first, uint32_t count)
{
	int ret = truth_room(w, TRUTH_RECORD_MAX);

	if (ret)
		return ret;
	if (id >= w->blocks || !count)
		return -EINVAL;
	put(w, 'p');
	put_leb(w, id);
	put_leb(w, first);
	put_leb(w, count);
	return truth_drain(w);
}

/* A LOST record goes to the mark, before what is being held. */
static void put_lost(struct rvt_truth_writer *w)
{
	size_t at = w->holding ? w->mark : w->len;

	memmove(w->pending + at + 1, w->pending + at, w->len - at);
	w->pending[at] = 'l';
	w->len++;
	w->holding = false;
}

static void put_moment(struct rvt_truth_writer *w, uint8_t tag, const struct rvt_truth_record *r)
{
	put(w, tag);
	put_leb(w, r->sequence);
	put_leb(w, r->time);
	if (r->type == RVT_TRUTH_OFF)
		put_leb(w, r->reason);
	/* Nothing after ON was passed on yet. */
	w->mark = w->len;
	w->holding = r->type == RVT_TRUTH_ON;
}

int rvt_truth_write(struct rvt_truth_writer *w, const struct rvt_truth_record *r)
{
	int ret = truth_room(w, TRUTH_RECORD_MAX);

	if (ret)
		return ret;
	switch (r->type) {
	case RVT_TRUTH_STATE:
		put(w, 's');
		put_leb(w, r->prv | r->v << 2);
		put_leb(w, 0);
		put_leb(w, r->scontext);
		put_leb(w, r->hcontext);
		break;
	case RVT_TRUTH_TRAP:
		put(w, 't');
		put_leb(w, r->interrupt);
		put_leb(w, r->cause);
		put_leb(w, r->epc);
		put_leb(w, r->tval);
		put_leb(w, r->handler);
		break;
	case RVT_TRUTH_ON:
		put_moment(w, '+', r);
		break;
	case RVT_TRUTH_OFF:
		put_moment(w, '-', r);
		break;
	case RVT_TRUTH_LOST:
		put_lost(w);
		break;
	case RVT_TRUTH_FOUND:
		put(w, 'f');
		break;
	default:
		return -EINVAL;
	}
	return truth_drain(w);
}

int rvt_truth_mark(struct rvt_truth_writer *w)
{
	w->mark = w->len;
	w->holding = true;
	return truth_drain(w);
}

int rvt_truth_flush(struct rvt_truth_writer *w)
{
	int ret = truth_compress(w, w->len, ZSTD_e_end);

	w->holding = false;
	if (!ret && fflush(w->file))
		ret = -EIO;
	return ret;
}

int rvt_truth_close(struct rvt_truth_writer *w)
{
	int ret;

	if (!w)
		return 0;
	ret = truth_room(w, 1);
	if (!ret) {
		put(w, 'e');
		ret = rvt_truth_flush(w);
	}
	if (fclose(w->file) && !ret)
		ret = -EIO;
	ZSTD_freeCCtx(w->zstd);
	free(w->pending);
	free(w->out);
	free(w);
	return ret;
}
