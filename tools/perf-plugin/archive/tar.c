// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "archive/tar.h"
#include "file/file.h"

#define BLOCK 512

struct tar_block {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
	char magic[8], user[32], group[32], major[8], minor[8], prefix[155], unused[12];
};

_Static_assert(sizeof(struct tar_block) == BLOCK, "a block of tar has 512 bytes");

int tar_pad(int fd, uint64_t size)
{
	static const char zeros[BLOCK];

	return rvt_file_write(fd, zeros, -size % BLOCK);
}

int tar_end(int fd)
{
	static const char zeros[2 * BLOCK];

	return rvt_file_write(fd, zeros, sizeof(zeros));
}

/* Writes the last octal digits of @value, and a zero. */
static void put_octal(char *field, size_t len, uint64_t value)
{
	for (size_t i = len - 1; i--; value >>= 3)
		field[i] = '0' + (value & 7);
}

static int write_block(int fd, char type, const char *name, const struct stat *st)
{
	struct tar_block block = { .type = type, .magic = "ustar" };
	const unsigned char *bytes = (const unsigned char *)&block;
	unsigned int sum = 0;

	memcpy(block.magic + sizeof("ustar"), "00", 2);
	memcpy(block.name, name, strnlen(name, sizeof(block.name)));
	put_octal(block.mode, sizeof(block.mode), st->st_mode & 0777);
	put_octal(block.uid, sizeof(block.uid), 0);
	put_octal(block.gid, sizeof(block.gid), 0);
	put_octal(block.mtime, sizeof(block.mtime), st->st_mtime > 0 ? st->st_mtime : 0);
	put_octal(block.size, sizeof(block.size), st->st_size);
	memset(block.sum, ' ', sizeof(block.sum));
	for (size_t i = 0; i < sizeof(block); i++)
		sum += bytes[i];
	put_octal(block.sum, sizeof(block.sum) - 1, sum);
	return rvt_file_write(fd, &block, sizeof(block));
}

/*
 * Writes "LEN KEY=VALUE\n", where LEN includes itself. Returns its length; with @text NULL nothing
 * is written.
 */
static size_t put_record(char *text, size_t room, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, len = rest + 1;

	while (len != rest + (size_t)snprintf(NULL, 0, "%zu", len))
		len++;
	if (text)
		snprintf(text, room, "%zu %s=%s\n", len, key, value);
	return len;
}

int tar_header(int fd, const char *name, const struct stat *st)
{
	struct stat extended = { .st_mode = 0600, .st_mtime = st->st_mtime };
	char size[24], *text;
	size_t path_len, len;
	int err;

	/* long names and large sizes do not fit into the fields of a block */
	snprintf(size, sizeof(size), "%lld", (long long)st->st_size);
	path_len = put_record(NULL, 0, "path", name);
	len = path_len + put_record(NULL, 0, "size", size);
	text = malloc(len + 1);
	if (!text)
		return -ENOMEM;
	put_record(text, len + 1, "path", name);
	put_record(text + path_len, len + 1 - path_len, "size", size);
	extended.st_size = len;
	err = write_block(fd, 'x', "extended", &extended);
	if (!err)
		err = rvt_file_write(fd, text, len);
	free(text);
	if (!err)
		err = tar_pad(fd, len);
	return err ? err : write_block(fd, '0', name, st);
}
