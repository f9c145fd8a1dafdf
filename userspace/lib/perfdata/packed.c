// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Symbols and AUX data, compressed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>
#include <rvtrace/perfdata.h>
#include "util/array.h"
#include "packed.h"

#define FAST_LEVEL 1
/* Lists of symbols become a fifth of their size: what is so much smaller is none. */
#define MAX_TEXT_RATIO 100
#define SMALL_TEXT (1u << 20)

int rvt_text_pack(const void *text, size_t text_len, void **blob, size_t *len)
{
	size_t room = ZSTD_compressBound(text_len), n;

	*blob = malloc(room);
	if (!*blob)
		return -ENOMEM;
	n = ZSTD_compress(*blob, room, text, text_len, FAST_LEVEL);
	if (ZSTD_isError(n)) {
		free(*blob);
		return -ENOMEM;
	}
	*len = n;
	return 0;
}

/*
 * Memory for free(). What is large gets huge pages: the page faults of the small ones would take as
 * long as unpacking.
 */
static void *allocate(size_t size)
{
	void *p;

	if (size < RVT_HUGE_PAGE)
		return malloc(size);
	if (posix_memalign(&p, RVT_HUGE_PAGE, size))
		return NULL;
	madvise(p, size, MADV_HUGEPAGE);
	return p;
}

int rvt_text_unpack(const void *blob, size_t len, char **text, size_t *text_len)
{
	unsigned long long size = ZSTD_getFrameContentSize(blob, len);
	size_t n;

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    size > RVT_MAX_UNPACKED || size > SMALL_TEXT + (uint64_t)len * MAX_TEXT_RATIO)
		return -EBADMSG;
	*text = allocate(size + 1);
	if (!*text)
		return -ENOMEM;
	n = ZSTD_decompress(*text, size, blob, len);
	if (ZSTD_isError(n)) {
		free(*text);
		return -EBADMSG;
	}
	(*text)[n] = 0;
	*text_len = n;
	return 0;
}

/* ---- AUX data ---- */

int rvt_aux_pack(const void *bytes, size_t n, int level, void **blob, size_t *room, size_t *len)
{
	size_t needed = rvt_pad(ZSTD_compressBound(n)), packed;

	if (array_reserve(blob, room, 0, needed))
		return -ENOMEM;
	packed = ZSTD_compress(*blob, *room, bytes, n, level);
	if (ZSTD_isError(packed))
		return -ENOMEM;
	*len = rvt_pad(packed);
	memset((char *)*blob + packed, 0, *len - packed);
	return 0;
}

int rvt_aux_unpack(const void *blob, size_t len, void *bytes, size_t unpacked)
{
	size_t packed = ZSTD_findFrameCompressedSize(blob, len);

	if (ZSTD_isError(packed) || ZSTD_decompress(bytes, unpacked, blob, packed) != unpacked)
		return -EBADMSG;
	return 0;
}
