/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Reader of the ground-truth file; the format is in rvtrace/truth.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <rvtrace/truth.h>
#include "util/array.h"

/* More instructions than any translation block has. */
#define TRUTH_BLOCK_MAX (1u << 16)

struct truth_block {
	uint64_t pc;
	uint32_t n;
	uint8_t *halfwords;
};

struct rvt_truth_reader {
	FILE *file;
	ZSTD_DCtx *zstd;
	uint8_t *in, *out;
	size_t in_len, in_pos, in_size;
	size_t out_len, out_pos, out_size;
	bool whole_frame;	/* the last frame read is complete */
	bool ended;
	struct truth_block *blocks;
	uint64_t n_blocks;
};

/* Decompresses more. Returns 1, 0 at the end of the file, -EBADMSG. */
static int truth_fill(struct rvt_truth_reader *r)
{
	ZSTD_outBuffer out = { r->out, r->out_size, 0 };

	while (!out.pos) {
		ZSTD_inBuffer in = { r->in, r->in_len, r->in_pos };
		size_t ret;

		if (in.pos == in.size) {
			in.size = fread(r->in, 1, r->in_size, r->file);
			in.pos = 0;
			r->in_len = in.size;
			r->in_pos = 0;
			if (!in.size)
				return r->whole_frame ? 0 : -EBADMSG;
		}
		ret = ZSTD_decompressStream(r->zstd, &out, &in);
		if (ZSTD_isError(ret))
			return -EBADMSG;
		r->whole_frame = !ret;
		r->in_pos = in.pos;
	}
	r->out_len = out.pos;
	r->out_pos = 0;
	return 1;
}

/* Returns a byte, or -1 at the end, or -EBADMSG. */
static int get(struct rvt_truth_reader *r)
{
	if (r->out_pos == r->out_len) {
		int ret = truth_fill(r);

		if (ret <= 0)
			return ret ? ret : -1;
	}
	return r->out[r->out_pos++];
}

static int get_leb(struct rvt_truth_reader *r, uint64_t *v)
{
	unsigned int shift = 0;
	int byte;

	*v = 0;
	do {
		byte = get(r);
		if (byte < 0 || shift > 63)
			return -EBADMSG;
		*v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return 0;
}

/* Reads @n numbers into the variables given. */
static int get_lebs(struct rvt_truth_reader *r, unsigned int n, uint64_t *v)
{
	int ret = 0;

	for (unsigned int i = 0; i < n && !ret; i++)
		ret = get_leb(r, &v[i]);
	return ret;
}

static int truth_header(struct rvt_truth_reader *r, unsigned int *hart)
{
	static const char magic[] = "RVTTRUTH";
	uint64_t v[2];

	for (unsigned int i = 0; i < 8; i++)
		if (get(r) != magic[i])
			return -EBADMSG;
	if (get_lebs(r, 2, v) || v[0] != 1)
		return -EBADMSG;
	if (hart)
		*hart = (unsigned int)v[1];
	return 0;
}

int rvt_truth_open(const char *path, struct rvt_truth_reader **reader, unsigned int *hart)
{
	struct rvt_truth_reader *r = calloc(1, sizeof(*r));
	int ret = -ENOMEM;

	if (!r)
		return -ENOMEM;
	r->in_size = ZSTD_DStreamInSize();
	r->out_size = ZSTD_DStreamOutSize();
	r->in = malloc(r->in_size);
	r->out = malloc(r->out_size);
	r->zstd = ZSTD_createDCtx();
	if (!r->in || !r->out || !r->zstd)
		goto err_out;
	r->file = fopen(path, "rb");
	if (!r->file) {
		ret = -errno;
		goto err_out;
	}
	ret = truth_header(r, hart);
	if (ret)
		goto err_out;
	*reader = r;
	return 0;

err_out:
	rvt_truth_reader_close(r);
	return ret;
}

static int read_block(struct rvt_truth_reader *r)
{
	struct truth_block *b;
	uint64_t v[2];

	if (get_lebs(r, 2, v) || !v[1] || v[1] > TRUTH_BLOCK_MAX)
		return -EBADMSG;
	if (array_grow(&r->blocks, r->n_blocks))
		return -ENOMEM;
	b = &r->blocks[r->n_blocks];
	b->pc = v[0];
	b->n = (uint32_t)v[1];
	b->halfwords = malloc(b->n);
	if (!b->halfwords)
		return -ENOMEM;
	r->n_blocks++;
	for (uint32_t i = 0; i < b->n; i++) {
		int byte = get(r);

		if (byte < 1 || byte > 12)
			return -EBADMSG;
		b->halfwords[i] = (uint8_t)byte;
	}
	return 0;
}

static int read_run(struct rvt_truth_reader *r, bool whole, struct rvt_truth_record *rec)
{
	uint64_t v[3] = { 0 };
	const struct truth_block *b;

	if (get_lebs(r, whole ? 1 : 3, v) || v[0] >= r->n_blocks)
		return -EBADMSG;
	b = &r->blocks[v[0]];
	if (whole)
		v[2] = b->n;
	if (!v[2] || v[1] > b->n || v[2] > b->n - v[1])
		return -EBADMSG;
	rec->type = RVT_TRUTH_INSNS;
	rec->pc = b->pc;
	for (uint64_t i = 0; i < v[1]; i++)
		rec->pc += 2 * b->halfwords[i];
	rec->halfwords = b->halfwords + v[1];
	rec->count = (uint32_t)v[2];
	return 1;
}

static int read_state(struct rvt_truth_reader *r, struct rvt_truth_record *rec)
{
	uint64_t v[4];

	if (get_lebs(r, 4, v) || v[0] > 7)
		return -EBADMSG;
	rec->type = RVT_TRUTH_STATE;
	rec->prv = v[0] & 3;
	rec->v = v[0] >> 2;
	rec->scontext = v[2];
	rec->hcontext = v[3];
	return 1;
}

static int read_trap(struct rvt_truth_reader *r, struct rvt_truth_record *rec)
{
	uint64_t v[5];

	if (get_lebs(r, 5, v))
		return -EBADMSG;
	rec->type = RVT_TRUTH_TRAP;
	rec->interrupt = v[0];
	rec->cause = v[1];
	rec->epc = v[2];
	rec->tval = v[3];
	rec->handler = v[4];
	return 1;
}

static int read_moment(struct rvt_truth_reader *r, enum rvt_truth_type type,
		       struct rvt_truth_record *rec)
{
	uint64_t v[3] = { 0 };

	if (get_lebs(r, type == RVT_TRUTH_ON ? 2 : 3, v))
		return -EBADMSG;
	rec->type = type;
	rec->sequence = v[0];
	rec->time = v[1];
	rec->reason = v[2];
	return 1;
}

int rvt_truth_next(struct rvt_truth_reader *r, struct rvt_truth_record *rec)
{
	for (;;) {
		int ret, tag;

		if (r->ended)
			return 0;
		tag = get(r);
		switch (tag) {
		case 'B':
			ret = read_block(r);
			if (ret)
				return ret;
			continue;
		case 'r':
			return read_run(r, true, rec);
		case 'p':
			return read_run(r, false, rec);
		case 's':
			return read_state(r, rec);
		case 't':
			return read_trap(r, rec);
		case '+':
			return read_moment(r, RVT_TRUTH_ON, rec);
		case '-':
			return read_moment(r, RVT_TRUTH_OFF, rec);
		case 'l':
			rec->type = RVT_TRUTH_LOST;
			return 1;
		case 'f':
			rec->type = RVT_TRUTH_FOUND;
			return 1;
		case 'e':
			r->ended = true;
			return 0;
		default:
			return -EBADMSG;
		}
	}
}

void rvt_truth_reader_close(struct rvt_truth_reader *r)
{
	if (!r)
		return;
	for (uint64_t i = 0; i < r->n_blocks; i++)
		free(r->blocks[i].halfwords);
	free(r->blocks);
	free(r->in);
	free(r->out);
	ZSTD_freeDCtx(r->zstd);
	if (r->file)
		fclose(r->file);
	free(r);
}
