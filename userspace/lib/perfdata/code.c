// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code and symbols carried in feature sections. A section is one zstd frame; that of code holds a
 * sequence of entry_head, name and bytes, each of the latter two padded to 8 bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>
#include <rvtrace/perfdata.h>
#include "array.h"

#define FAST_LEVEL 1
#define HUGE_PAGE (2ul << 20)
/* What a section may unpack to: protects from a frame that lies about its size. */
#define MAX_UNPACKED (2ULL << 30)

struct entry_head {
	uint64_t addr, len;
	uint32_t kind;
	uint32_t name_len;	/* with its terminating zero */
};

static uint64_t pad(uint64_t len)
{
	return (len + 7) & ~7ULL;
}

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

	if (size < HUGE_PAGE)
		return malloc(size);
	if (posix_memalign(&p, HUGE_PAGE, size))
		return NULL;
	madvise(p, size, MADV_HUGEPAGE);
	return p;
}

int rvt_text_unpack(const void *blob, size_t len, char **text, size_t *text_len)
{
	unsigned long long size = ZSTD_getFrameContentSize(blob, len);
	size_t n;

	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    size > MAX_UNPACKED)
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

int rvt_code_pack(const struct rvt_code *code, size_t n, void **blob, size_t *len)
{
	size_t total = 0, pos = 0;
	uint8_t *plain;
	int err;

	for (size_t i = 0; i < n; i++)
		total += sizeof(struct entry_head) + pad(strlen(code[i].name) + 1) +
			pad(code[i].len);
	plain = calloc(1, total + 1);
	if (!plain)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct entry_head head = { code[i].addr, code[i].len, code[i].kind,
						 strlen(code[i].name) + 1 };

		memcpy(plain + pos, &head, sizeof(head));
		pos += sizeof(head);
		memcpy(plain + pos, code[i].name, head.name_len);
		pos += pad(head.name_len);
		memcpy(plain + pos, code[i].bytes, head.len);
		pos += pad(head.len);
	}
	err = rvt_text_pack(plain, total, blob, len);
	free(plain);
	return err;
}

int rvt_code_unpack(const void *blob, size_t len, struct rvt_code **result, size_t *n,
		    void **buffer)
{
	struct rvt_code *code = NULL;
	size_t total, pos = 0;
	char *plain;
	int err;

	*n = 0;
	err = rvt_text_unpack(blob, len, &plain, &total);
	if (err)
		return err;
	while (total - pos >= sizeof(struct entry_head)) {
		struct entry_head head;
		const char *name = plain + pos + sizeof(head);

		memcpy(&head, plain + pos, sizeof(head));
		pos += sizeof(head);
		err = -EBADMSG;
		if (pad(head.name_len) > total - pos || !head.name_len || name[head.name_len - 1] ||
		    head.len > total || pad(head.len) > total - pos - pad(head.name_len))
			goto fail;
		err = array_grow(&code, *n);
		if (err)
			goto fail;
		pos += pad(head.name_len);
		code[(*n)++] = (struct rvt_code){ head.addr, head.len, head.kind, name,
						  (const uint8_t *)plain + pos };
		pos += pad(head.len);
	}
	*result = code;
	*buffer = plain;
	return 0;
fail:
	free(code);
	free(plain);
	return err;
}

/* ---- AUX data ---- */

int rvt_aux_pack(const void *bytes, size_t n, int level, void **blob, size_t *room, size_t *len)
{
	size_t needed = pad(ZSTD_compressBound(n)), packed;

	if (array_reserve(blob, room, 0, needed))
		return -ENOMEM;
	packed = ZSTD_compress(*blob, *room, bytes, n, level);
	if (ZSTD_isError(packed))
		return -ENOMEM;
	*len = pad(packed);
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
